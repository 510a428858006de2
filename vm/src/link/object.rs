//! A program with what linking asks of it again and again.

use crate::isa::Extra;
use crate::program::{FuncId, Function, GlobalId, Inst};
use crate::verify::VerifiedProgram;
use std::ops::Deref;

/// A verified program, ready to be linked.
#[derive(Clone, Debug)]
pub struct Object {
    program: VerifiedProgram,
    functions: Vec<Outline>,
}

/// What linking looks at in a function.
#[derive(Clone, Debug)]
pub(super) struct Outline {
    /// What its instructions refer to, by instruction.
    pub references: Vec<(u32, Reference)>,
    /// A digest of all that does not depend on the object: not of the numbers of what it refers to.
    pub digest: u64,
}

/// What an instruction names by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reference {
    Function(FuncId),
    Global(GlobalId),
    Format(u32),
    Message(u32),
    Import(u32),
}

impl Object {
    /// An object of a program. Its symbols are what others see of it; a program without any was not compiled to be linked.
    pub fn new(program: VerifiedProgram) -> Object {
        let functions = program.functions.iter().map(Outline::of).collect();
        Object { program, functions }
    }

    /// The program.
    pub fn program(&self) -> &VerifiedProgram {
        &self.program
    }

    pub(super) fn outline(&self, function: FuncId) -> &Outline {
        &self.functions[function.0 as usize]
    }
}

impl Outline {
    fn of(f: &Function) -> Outline {
        let references =
            f.code.iter().enumerate().filter_map(|(pc, inst)| Some((pc as u32, reference(inst)?))).collect();
        Outline { references, digest: digest(f) }
    }
}

/// What an instruction names, if it names something by its number.
pub(super) fn reference(inst: &Inst) -> Option<Reference> {
    Some(match inst.op.info().sig.extra {
        Extra::Call | Extra::Launch | Extra::Func => Reference::Function(FuncId(inst.aux)),
        Extra::Global => Reference::Global(GlobalId(inst.aux)),
        Extra::Print => Reference::Format(inst.aux),
        Extra::Message => Reference::Message(inst.aux),
        Extra::Host => Reference::Import(inst.aux),
        Extra::None | Extra::CallInd | Extra::LaunchInd | Extra::Memory | Extra::Frame | Extra::Label => return None,
    })
}

/// A digest of a function; who relies on it compares the functions too.
fn digest(f: &Function) -> u64 {
    let mut digest = Digest(0);
    for n in [f.regs.len(), f.n_params as usize, f.consts.len(), f.code.len()] {
        digest.add(n as u64);
    }
    f.consts.iter().for_each(|&(_, bits)| digest.add(bits));
    for inst in &f.code {
        digest.add(u64::from(inst.op as u8) << 16 | u64::from(inst.ty as u8) << 8 | u64::from(inst.from as u8));
        digest.add(u64::from(inst.dst.0) << 32 | u64::from(inst.src[0].0));
        digest.add(u64::from(inst.src[1].0) << 32 | u64::from(inst.src[2].0));
        digest.add(inst.imm as u64);
    }
    f.spans.iter().step_by(8).for_each(|span| digest.add(u64::from(span.lo) << 32 | u64::from(span.hi)));
    digest.0
}

struct Digest(u64);

impl Digest {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Deref for Object {
    type Target = VerifiedProgram;

    fn deref(&self) -> &VerifiedProgram {
        &self.program
    }
}
