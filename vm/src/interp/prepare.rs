//! From a verified program to prepared code: frame layout, operand offsets, handlers.

use super::bulk::{bulk, bulk_flags};
use super::code::{CallSite, Code, Handler, Place, PreparedFunction, PreparedProgram, Step, flags};
use super::control::control;
use super::effects::effect;
use super::elementwise::{Isa, elementwise};
use super::fuel::fuel_of;
use super::host::host;
use super::lanes::{BLOCK, blocks_for};
use super::memory_ops::{memory_flags, memory_op};
use super::moves::{moves, shape_flags};
use super::native::{Site, Tracer};
use super::thread::{FRAME_ALIGN, Thread};
use crate::isa::{Extra, Form, Op};
use crate::memory::region_start;
use crate::program::{FuncId, Function, Inst, LAUNCH_COUNTS, Program, Reg};
use crate::sem;
use crate::stop::{Stop, Stopped};
use crate::types::{Shape, Ty};
use crate::verify::{VerifiedProgram, stack_change};
use foldhash::HashMap;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

impl From<VerifiedProgram> for PreparedProgram {
    fn from(verified: VerifiedProgram) -> PreparedProgram {
        PreparedProgram::new(&verified)
    }
}

impl From<&PreparedProgram> for PreparedProgram {
    fn from(prepared: &PreparedProgram) -> PreparedProgram {
        prepared.clone()
    }
}

impl PreparedProgram {
    /// Prepares a program; done once, however many machines run it.
    pub fn new(verified: &VerifiedProgram) -> PreparedProgram {
        Self::prepare(verified, Isa::detect(), None, &Stop::never())
    }

    /// Prepares a program, unless that is called off meanwhile.
    pub fn until(verified: &VerifiedProgram, stop: &Stop) -> Result<PreparedProgram, Stopped> {
        let prepared = Self::prepare(verified, Isa::detect(), None, stop);
        stop.reason().map_or(Ok(prepared), Err)
    }

    /// Prepares a program whose hot loops a tracer is asked about, each after so many rounds.
    pub fn traced(verified: &VerifiedProgram, tracer: Arc<dyn Tracer>, rounds: u32) -> PreparedProgram {
        Self::prepare(verified, Isa::detect(), Some((tracer, rounds)), &Stop::never())
    }

    /// [`traced`](Self::traced), unless that is called off meanwhile.
    pub fn traced_until(
        verified: &VerifiedProgram,
        tracer: Arc<dyn Tracer>,
        rounds: u32,
        stop: &Stop,
    ) -> Result<PreparedProgram, Stopped> {
        let prepared = Self::prepare(verified, Isa::detect(), Some((tracer, rounds)), stop);
        stop.reason().map_or(Ok(prepared), Err)
    }

    #[cfg(test)]
    pub(crate) fn for_isa(verified: &VerifiedProgram, isa: Isa) -> PreparedProgram {
        Self::prepare(verified, isa, None, &Stop::never())
    }

    /// If it is called off, the result is not whole and must not be run.
    fn prepare(
        verified: &VerifiedProgram,
        isa: Isa,
        tracer: Option<(Arc<dyn Tracer>, u32)>,
        stop: &Stop,
    ) -> PreparedProgram {
        let program = Arc::clone(verified.program());
        let mut signatures = Signatures::default();
        let mut heads = tracer.as_ref().map(|_| Heads::default());
        let functions = (0..program.functions.len() as u32)
            .map(|i| Preparation::new(&program, FuncId(i), isa).run(&mut signatures, heads.as_mut(), stop))
            .take_while(|_| !stop.is_over())
            .collect();
        let lanes = program.width.lanes();
        let sites = match (&tracer, heads) {
            (Some((tracer, rounds)), Some(heads)) => heads.sites(*rounds, tracer.calls()),
            _ => Box::default(),
        };
        let tracer = tracer.map(|t| t.0);
        PreparedProgram(Arc::new(Code { program, functions, lanes, tracer, sites }))
    }
}

type Signature = (Vec<(Shape, Ty)>, Vec<(Shape, Ty)>);

/// Numbers for signatures, so that an indirect call compares one number.
#[derive(Default)]
struct Signatures(HashMap<Signature, u32>);

impl Signatures {
    fn number(&mut self, params: &[Place], results: &[Place]) -> u32 {
        let kinds = |places: &[Place]| places.iter().map(|p| (p.shape, p.ty)).collect();
        let next = self.0.len() as u32;
        *self.0.entry((kinds(params), kinds(results))).or_insert(next)
    }
}

/// Numbers for the heads of loops, which their back-edges count down together, and of functions, counted by calls.
#[derive(Default)]
struct Heads {
    numbers: HashMap<(FuncId, u32), u32>,
    /// Of each number the place, and whether it is a loop's.
    places: Vec<((FuncId, u32), bool)>,
}

impl Heads {
    fn number(&mut self, at: (FuncId, u32), is_loop: bool) -> u32 {
        let next = self.places.len() as u32;
        let number = *self.numbers.entry(at).or_insert(next);
        if number == next {
            self.places.push((at, false));
        }
        self.places[number as usize].1 |= is_loop;
        number
    }

    /// Their countdowns: after so many rounds of a loop, so many calls of a function.
    fn sites(&self, rounds: u32, calls: u32) -> Box<[Site]> {
        let first = |is_loop| AtomicU32::new(if is_loop { rounds } else { calls });
        self.places.iter().map(|&(at, is_loop)| Site { countdown: first(is_loop), at }).collect()
    }
}

/// The preparation of one function.
struct Preparation<'a> {
    id: FuncId,
    f: &'a Function,
    isa: Isa,
    blocks: usize,
    places: Vec<Place>,
    calls: Vec<CallSite>,
}

impl<'a> Preparation<'a> {
    fn new(program: &'a Program, id: FuncId, isa: Isa) -> Self {
        let f = &program.functions[id.0 as usize];
        let blocks = blocks_for(program.width.lanes());
        Preparation { id, f, isa, blocks, places: Vec::new(), calls: Vec::new() }
    }

    fn run(mut self, signatures: &mut Signatures, mut heads: Option<&mut Heads>, stop: &Stop) -> PreparedFunction {
        let registers_end = self.lay_out();
        let memory_at = registers_end.next_multiple_of(FRAME_ALIGN);
        let frame_bytes = usize::try_from(self.f.frame_size)
            .ok()
            .and_then(|size| memory_at.checked_add(size)?.checked_next_multiple_of(FRAME_ALIGN))
            .unwrap_or(usize::MAX);
        let steps = (0..self.f.code.len())
            .take_while(|_| !stop.poll())
            .map(|pc| self.step(pc, signatures, heads.as_deref_mut()))
            .collect();
        let site = heads.map_or(0, |heads| heads.number((self.id, 0), false));
        let params: Box<[Place]> = self.places[..self.f.n_params as usize].into();
        let results = self.list(&self.f.results);
        let mut results_bytes = 0;
        let apart = |place: &Place| {
            let at = results_bytes;
            results_bytes += place.size;
            Place { at, ..*place }
        };
        let results_apart = results.iter().map(apart).collect();
        PreparedFunction {
            id: self.id,
            steps,
            frame_bytes,
            memory_at,
            memory_bytes: self.f.frame_size,
            fuel: 1 + fuel_of(self.f.frame_size),
            constants: self.f.consts.iter().map(|&(r, bits)| slot_bits(self.f.reg(r).ty, bits)).collect(),
            signature: signatures.number(&params, &results),
            params,
            results,
            results_apart,
            results_bytes: results_bytes as usize,
            places: self.places.into(),
            calls: self.calls.into(),
            site,
            mask_depth: self.f.code.iter().filter(|inst| stack_change(inst.op) > 0).count().min(64),
        }
    }

    /// Gives every register its place and tells where they end: constants first, so that one copy loads them, then other
    /// uniform registers, eight bytes each; then varying ones, whole cache lines first.
    fn lay_out(&mut self) -> usize {
        let place = |decl: &crate::program::RegDecl| Place { at: u32::MAX, size: 8, shape: decl.shape, ty: decl.ty };
        self.places = self.f.regs.iter().map(place).collect();
        let mut at = 0u32;
        let mut put = |place: &mut Place, size: usize| {
            place.at = at;
            place.size = size as u32;
            at += size as u32;
        };
        for &(r, _) in self.f.consts.iter() {
            put(&mut self.places[r.index()], 8);
        }
        for place in self.places.iter_mut().filter(|p| p.shape == Shape::Uniform && p.at == u32::MAX) {
            put(place, 8);
        }
        at = at.next_multiple_of(FRAME_ALIGN as u32);
        let blocks = self.blocks;
        let register_size = |p: &Place| p.ty.size() * BLOCK * blocks;
        let mut varying: Vec<&mut Place> = self.places.iter_mut().filter(|p| p.shape == Shape::Varying).collect();
        varying.sort_by_key(|p| std::cmp::Reverse(register_size(p)));
        for place in varying {
            let size = register_size(place);
            place.at = at;
            place.size = size as u32;
            at += size as u32;
        }
        at as usize
    }

    fn place(&self, r: Reg) -> Place {
        self.places.get(r.index()).copied().unwrap_or(Place { at: 0, size: 8, shape: Shape::Uniform, ty: Ty::U64 })
    }

    fn list(&self, regs: &[Reg]) -> Box<[Place]> {
        regs.iter().map(|&r| self.place(r)).collect()
    }

    fn step(&mut self, pc: usize, signatures: &mut Signatures, heads: Option<&mut Heads>) -> Step {
        #[cfg(not(feature = "planted-faults"))]
        let inst = &self.f.code[pc];
        #[cfg(feature = "planted-faults")]
        let inst = &super::faults::instead(self.f, pc);
        let shapes = inst.src.map(|r| self.place(r).shape);
        let [a, b, c] = inst.src.map(|r| self.place(r).at);
        let mut step = Step {
            handler: self.handler(inst, pc, &shapes, heads.is_some()),
            d: self.place(inst.dst).at,
            a,
            b,
            c,
            aux: inst.aux,
            blocks: self.blocks as u16,
            flags: shape_flags(&shapes) | bulk_flags(inst),
            imm: inst.imm,
        };
        let info = inst.op.info();
        match info.sig.extra {
            Extra::Label => {
                step.imm = inst.aux as i64 - pc as i64;
                if let Some(heads) = heads.filter(|_| is_back_edge(inst, pc)) {
                    step.d = heads.number((self.id, inst.aux), true);
                }
            }
            Extra::Memory => step.flags |= memory_flags(inst),
            extra if extra.has_arguments() => step.aux = self.site(inst, signatures),
            Extra::Global => step.imm = sem::padd(region_start(inst.aux + 1), inst.imm) as i64,
            Extra::Func => step.imm = inst.aux as i64 + 1,
            _ => {}
        }
        if info.form == Form::Reduce {
            step.imm = sem::reduce_neutral(inst.op, inst.ty).unwrap_or(0) as i64;
        }
        #[cfg(feature = "planted-faults")]
        super::faults::spoil(self.f, pc, &mut step);
        step
    }

    fn site(&mut self, inst: &Inst, signatures: &mut Signatures) -> u32 {
        let args = self.list(self.f.list(inst.args));
        let rets = self.list(self.f.list(inst.rets));
        let signature = match inst.op {
            // A task has its indices and all the counts before its arguments.
            Op::Launch | Op::LaunchInd => {
                let (counts, rest) = args.split_at(LAUNCH_COUNTS.min(args.len()));
                signatures.number(&[counts, counts, rest].concat(), &rets)
            }
            _ => signatures.number(&args, &rets),
        };
        self.calls.push(CallSite { callee: inst.aux, args, rets, signature });
        self.calls.len() as u32 - 1
    }

    fn handler(&self, inst: &Inst, pc: usize, shapes: &[Shape; 3], traced: bool) -> Handler {
        let dst = self.place(inst.dst).shape;
        elementwise(inst.op, inst.ty, shapes, self.isa)
            .or_else(|| moves(inst, dst, shapes, self.isa))
            .or_else(|| memory_op(inst, shapes, self.isa))
            .or_else(|| control(inst, inst.aux as usize <= pc, traced))
            .or_else(|| bulk(inst))
            .or_else(|| effect(inst))
            .or_else(|| host(inst))
            .unwrap_or(unsupported)
    }
}

/// An operation that has no handler; a test proves that there is none.
unsafe fn unsupported(t: &mut Thread, step: *const Step) -> *const Step {
    let detail = crate::trap::TrapDetail::Message("this operation is not implemented".into());
    t.raise(step, crate::trap::TrapKind::Abort, None, detail)
}

/// Does the instruction close a loop (and so has no destination)?
fn is_back_edge(inst: &Inst, pc: usize) -> bool {
    match inst.op {
        Op::LoopBack => true,
        Op::Jmp | Op::BrTrue | Op::BrFalse => inst.aux as usize <= pc,
        _ => false,
    }
}

/// A uniform register's eight bytes: the value as its type lies in memory, first.
fn slot_bits(ty: Ty, bits: u64) -> u64 {
    let mut bytes = [0u8; 8];
    match ty.size() {
        1 => bytes[0] = bits as u8,
        2 => bytes[..2].copy_from_slice(&(bits as u16).to_ne_bytes()),
        4 => bytes[..4].copy_from_slice(&(bits as u32).to_ne_bytes()),
        _ => bytes = bits.to_ne_bytes(),
    }
    u64::from_ne_bytes(bytes)
}

const _: () = assert!(flags::BY_LANE < 1 << flags::TY_SHIFT);
