//! What the machine is: a description of it for `vcode`.

use super::X86;
use super::assembler::Asm;
use super::bounds::{Least, Of, Spans};
use super::gather::Gathered;
use super::inst::{Arg, Cond, Plain, Size};
use super::interleaved::Groups;
use super::level::Level;
use super::select::{Select, class_of, select};
use super::values::{broadcast, form_of};
use crate::backend::{CompileError, Executable, Limit};
use crate::ir::{Inst, Value};
use crate::vcode::{Forms, Frame, Loaded, Mem, Target, VCode};
use foldhash::HashMap;
use iced_x86::{Code, OpKind};
use regalloc2::{MachineEnv, PRegSet, RegClass, VReg};
use spmdvm_vm::types::Ty;

/// What is at hand in a block.
#[derive(Default)]
pub struct Local {
    /// Parts of masks, by the mask's register and the first lane.
    pub(super) parts: HashMap<(VReg, usize), VReg>,
    /// The masks that a mask was joined from, by its register, the first lane and the number of lanes.
    pub(super) joined: HashMap<(VReg, usize, usize), VReg>,
    /// Numbers of elements that permutations take, by their place in the pool and how many bytes they are.
    pub(super) choices: HashMap<(i32, usize), VReg>,
    /// Those that are at hand in every block.
    pub(super) lasting_choices: HashMap<(i32, usize), VReg>,
    /// What gathers have read.
    pub(super) gathered: Gathered,
    /// Integers in 64 bits, by the value and whether it has a sign.
    pub(super) wide: HashMap<(Value, bool), VReg>,
    /// Of least indices: their negative. It is made where they are, so it is at hand wherever they are.
    pub(super) negatives: HashMap<Value, VReg>,
    /// Least indices, and the displaced offsets that they are made from.
    pub(super) least: HashMap<Of, Least>,
    /// How many indices are in bounds.
    pub(super) spans: Spans,
    /// Strided accesses that are done together.
    pub(super) groups: Groups,
}

impl<L: Level> Target for X86<L> {
    type Inst = Plain;
    type Cond = Cond;
    type Assembler<'a> = Asm<'a, L>;
    type Local = Local;

    const FORMS: Forms = L::FORMS;
    const VECTOR_BYTES: usize = L::VECTOR_BYTES;
    const OWN_BYTES: i32 = super::env::OWN_BYTES;
    const MASK: RegClass = L::MASK;
    const MOVES_HALVES: bool = L::VECTOR_BYTES == 64;
    const COUNTERS: usize = L::COUNTERS;

    fn registers() -> &'static MachineEnv {
        &L::environment().machine
    }

    fn clobbers() -> PRegSet {
        L::environment().lost
    }

    fn spill_slots(class: RegClass) -> usize {
        if class == RegClass::Float { L::VECTOR_BYTES / 8 } else { 1 }
    }

    fn class_of(ty: Ty) -> RegClass {
        class_of(ty)
    }

    fn inverted(cond: Cond) -> Cond {
        cond.inverted()
    }

    fn begin_block(local: &mut Local) {
        let lasting_choices = std::mem::take(&mut local.lasting_choices);
        let negatives = std::mem::take(&mut local.negatives);
        *local = Local { lasting_choices, negatives, ..Local::default() };
    }

    fn select(s: &mut Select<'_, L>, inst: &Inst) -> bool {
        select(s, inst)
    }

    fn flags(s: &mut Select<'_, L>, inst: &Inst) -> Option<Cond> {
        s.flags_of(inst)
    }

    fn test(s: &mut Select<'_, L>, x: VReg) -> Cond {
        s.compare_imm(Size::G32, x, 0);
        Cond::NOT_EQUAL
    }

    fn imm(s: &mut Select<'_, L>, bits: u64) -> VReg {
        let to = (RegClass::Int, Size::G64);
        match (u32::try_from(bits), i32::try_from(bits as i64)) {
            (Ok(small), _) => {
                let small = Arg::Imm(OpKind::Immediate32, small as i64);
                s.def(Code::Mov_r32_imm32, (RegClass::Int, Size::G32), &[small])
            }
            (_, Ok(signed)) => s.def(Code::Mov_rm64_imm32, to, &[Arg::Imm(OpKind::Immediate32to64, signed as i64)]),
            _ => s.def(Code::Mov_r64_imm64, to, &[Arg::Imm(OpKind::Immediate64, bits as i64)]),
        }
    }

    fn address_of(s: &mut Select<'_, L>, mem: Mem) -> VReg {
        s.sum(Size::G64, mem)
    }

    fn load_scalar(s: &mut Select<'_, L>, ty: Ty, from: Mem) -> VReg {
        s.load_scalar(ty, from)
    }

    fn store_scalar(s: &mut Select<'_, L>, ty: Ty, to: Mem, x: VReg) {
        s.store_scalar(ty, to, x);
    }

    fn load_vector(s: &mut Select<'_, L>, bytes: usize, from: Mem) -> VReg {
        s.load_vector(form_of(bytes), from)
    }

    fn store_vector(s: &mut Select<'_, L>, bytes: usize, to: Mem, x: VReg) {
        s.store_vector(form_of(bytes), to, x);
    }

    fn broadcast(s: &mut Select<'_, L>, x: VReg, ty: Ty) -> VReg {
        s.broadcast(x, ty)
    }

    fn first_of(s: &mut Select<'_, L>, x: VReg, ty: Ty) -> VReg {
        s.first_element(ty, x)
    }

    fn broadcast_from(s: &mut Select<'_, L>, from: Mem, size: usize, bytes: usize) -> VReg {
        // While instructions of 512 bits are under way, some processors execute fewer others at a time.
        s.vector(broadcast(size, form_of(bytes)), form_of(bytes), &[Arg::Mem(from)])
    }

    fn mask_of_constant(s: &mut Select<'_, L>, bits: u64) -> VReg {
        s.mask_of_constant(bits)
    }

    fn mask_of_bool(s: &mut Select<'_, L>, x: VReg) -> VReg {
        s.mask_of_bool(x)
    }

    fn mask_of_bits(s: &mut Select<'_, L>, bits: VReg) -> VReg {
        s.mask_of_bits(bits)
    }

    fn bits_of_mask(s: &mut Select<'_, L>, mask: VReg) -> VReg {
        s.bits_of_mask(mask)
    }

    fn mask_of_bytes(s: &mut Select<'_, L>, bytes: Vec<VReg>) -> VReg {
        s.mask_of_bytes(bytes)
    }

    fn bytes_of_mask(s: &mut Select<'_, L>, mask: VReg) -> Vec<VReg> {
        s.bytes_of_mask(mask)
    }

    fn insert(s: &mut Select<'_, L>, inst: &Inst) -> Vec<VReg> {
        s.inserted(inst, s.region.ty(inst.args[0]).ty)
    }

    fn improve(code: &mut VCode<X86<L>>) {
        L::improve(code);
    }

    #[cfg(feature = "planted-faults")]
    fn spoil(code: &mut VCode<X86<L>>) {
        super::faults::spoil(code);
    }

    fn assembler<'a>(&'a self, code: &'a VCode<X86<L>>, frame: Frame, entry: usize) -> Asm<'a, L> {
        Asm::new(&code.counters, &self.stubs, frame, entry)
    }

    fn patch(bytes: &mut [u8], jump: usize, to: usize) -> Result<(), CompileError> {
        let distance = to as i64 - (jump as i64 + 4);
        let distance = i32::try_from(distance).map_err(|_| CompileError::TooLarge(Limit::Code))?;
        bytes[jump..jump + 4].copy_from_slice(&distance.to_le_bytes());
        Ok(())
    }

    fn load(&self, code: Loaded) -> Result<Box<dyn Executable>, CompileError> {
        Ok(Box::new(super::code::Code::new(code, &self.stubs)?))
    }
}
