//! From a verified program to prepared code: frame layout, operand offsets, handlers.

use super::bulk::bulk_flags;
use super::code::{CallSite, Code, Handler, PreparedFunction, PreparedProgram, RegSlot, Step, flags};
use super::elementwise::Isa;
use super::fuel::fuel_of;
use super::hot_count::HotCount;
use super::lanes::{BLOCK, blocks_for};
use super::memory_ops::memory_flags;
use super::moves::shape_flags;
use super::native::Tracer;
use super::special::{Setting, handler_of};
use super::thread::{FRAME_ALIGN, Thread};
use crate::isa::{Extra, Form, Op};
use crate::memory::region_start;
use crate::program::{FuncId, Function, Inst, LAUNCH_COUNTS, Reg};
use crate::sem;
use crate::types::{Shape, Ty};
use crate::verify::{VerifiedProgram, stack_change};
use foldhash::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

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
    /// Makes a program ready to run, however many machines run it; its functions are prepared when they are first called.
    pub fn new(verified: &VerifiedProgram) -> PreparedProgram {
        Self::prepare(verified, Isa::detect(), None)
    }

    /// The same with a tracer that is asked about hot loops, each after so many rounds.
    pub fn traced(verified: &VerifiedProgram, tracer: Arc<dyn Tracer>, rounds: u32) -> PreparedProgram {
        Self::prepare(verified, Isa::detect(), Some((tracer, rounds)))
    }

    #[cfg(test)]
    pub(crate) fn for_isa(verified: &VerifiedProgram, isa: Isa) -> PreparedProgram {
        Self::prepare(verified, isa, None)
    }

    fn prepare(verified: &VerifiedProgram, isa: Isa, tracer: Option<(Arc<dyn Tracer>, u32)>) -> PreparedProgram {
        let program = Arc::clone(verified.program());
        let (mut hot_counts, mut first_hot_counts) = (Vec::new(), Vec::new());
        if let Some((tracer, rounds)) = &tracer {
            for (i, f) in program.functions.iter().enumerate() {
                first_hot_counts.push(hot_counts.len() as u32);
                hot_counts.extend(heads(f).into_iter().map(|(pc, is_loop)| {
                    let first = if is_loop { *rounds } else { tracer.calls() };
                    HotCount::new((FuncId(i as u32), pc), first)
                }));
            }
        }
        PreparedProgram(Arc::new(Code {
            functions: program.functions.iter().map(|_| OnceLock::new()).collect(),
            lanes: program.width.lanes(),
            program,
            isa,
            signatures: Mutex::default(),
            tracer: tracer.map(|t| t.0),
            hot_counts: hot_counts.into(),
            first_hot_counts: first_hot_counts.into(),
        }))
    }
}

/// The heads of a function: its beginning, which calls count down, and those of its loops, which their back-edges count down
/// together; in the order of their instructions. With each whether it is a loop's.
fn heads(f: &Function) -> Vec<(u32, bool)> {
    let back_edges = f.code.iter().enumerate().filter(|(pc, inst)| is_back_edge(inst, *pc));
    let mut loops: Vec<u32> = back_edges.map(|(_, inst)| inst.aux).collect();
    loops.sort_unstable();
    loops.dedup();
    let entry = (loops.first() != Some(&0)).then_some((0, false));
    entry.into_iter().chain(loops.into_iter().map(|pc| (pc, true))).collect()
}

type Signature = (Vec<(Shape, Ty)>, Vec<(Shape, Ty)>);

/// Numbers for signatures, so that an indirect call compares one number.
#[derive(Default)]
pub(crate) struct Signatures(HashMap<Signature, u32>);

impl Signatures {
    fn number(&mut self, params: &[RegSlot], results: &[RegSlot]) -> u32 {
        let kinds = |slots: &[RegSlot]| slots.iter().map(|p| (p.shape, p.ty)).collect();
        let next = self.0.len() as u32;
        *self.0.entry((kinds(params), kinds(results))).or_insert(next)
    }
}

/// The preparation of one function.
pub(crate) struct Preparation<'a> {
    code: &'a Code,
    id: FuncId,
    f: &'a Function,
    /// Its heads; none without a tracer.
    heads: Vec<(u32, bool)>,
    blocks: usize,
    slots: Vec<RegSlot>,
    calls: Vec<CallSite>,
}

impl<'a> Preparation<'a> {
    pub fn new(code: &'a Code, id: FuncId) -> Self {
        let f = &code.program.functions[id.0 as usize];
        let heads = code.tracer.as_ref().map(|_| heads(f)).unwrap_or_default();
        Preparation { code, id, f, heads, blocks: blocks_for(code.lanes), slots: Vec::new(), calls: Vec::new() }
    }

    pub fn run(mut self) -> PreparedFunction {
        let registers_end = self.lay_out();
        let memory_at = registers_end.next_multiple_of(FRAME_ALIGN);
        let frame_bytes = usize::try_from(self.f.frame_size)
            .ok()
            .and_then(|size| memory_at.checked_add(size)?.checked_next_multiple_of(FRAME_ALIGN))
            .unwrap_or(usize::MAX);
        let steps = (0..self.f.code.len()).map(|pc| self.step(pc)).collect();
        // The function itself is its first head.
        let hot_count = self.code.first_hot_counts.get(self.id.0 as usize).copied().unwrap_or(0);
        let params: Box<[RegSlot]> = self.slots[..self.f.n_params as usize].into();
        let results = self.list(&self.f.results);
        let mut results_bytes = 0;
        let apart = |slot: &RegSlot| {
            let at = results_bytes;
            results_bytes += slot.size;
            RegSlot { at, ..*slot }
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
            signature: self.signature(&params, &results),
            params,
            results,
            results_apart,
            results_bytes: results_bytes as usize,
            slots: self.slots.into(),
            calls: self.calls.into(),
            hot_count,
            mask_depth: self.f.code.iter().filter(|inst| stack_change(inst.op) > 0).count().min(64),
        }
    }

    /// Gives every register its slot and tells where they end: constants first, so that one copy loads them, then other
    /// uniform registers, eight bytes each; then varying ones, whole cache lines first.
    fn lay_out(&mut self) -> usize {
        let slot = |decl: &crate::program::RegDecl| RegSlot { at: u32::MAX, size: 8, shape: decl.shape, ty: decl.ty };
        self.slots = self.f.regs.iter().map(slot).collect();
        let mut at = 0u32;
        let mut put = |slot: &mut RegSlot, size: usize| {
            slot.at = at;
            slot.size = size as u32;
            at += size as u32;
        };
        for &(r, _) in self.f.consts.iter() {
            put(&mut self.slots[r.index()], 8);
        }
        for slot in self.slots.iter_mut().filter(|p| p.shape == Shape::Uniform && p.at == u32::MAX) {
            put(slot, 8);
        }
        at = at.next_multiple_of(FRAME_ALIGN as u32);
        let blocks = self.blocks;
        let register_size = |p: &RegSlot| p.ty.size() * BLOCK * blocks;
        let mut varying: Vec<&mut RegSlot> = self.slots.iter_mut().filter(|p| p.shape == Shape::Varying).collect();
        varying.sort_by_key(|p| std::cmp::Reverse(register_size(p)));
        for slot in varying {
            let size = register_size(slot);
            slot.at = at;
            slot.size = size as u32;
            at += size as u32;
        }
        at as usize
    }

    fn slot(&self, r: Reg) -> RegSlot {
        self.slots.get(r.index()).copied().unwrap_or(RegSlot { at: 0, size: 8, shape: Shape::Uniform, ty: Ty::U64 })
    }

    fn list(&self, regs: &[Reg]) -> Box<[RegSlot]> {
        regs.iter().map(|&r| self.slot(r)).collect()
    }

    fn step(&mut self, pc: usize) -> Step {
        #[cfg(not(feature = "planted-faults"))]
        let inst = &self.f.code[pc];
        #[cfg(feature = "planted-faults")]
        let inst = &super::faults::instead(self.f, pc);
        let shapes = inst.src.map(|r| self.slot(r).shape);
        let [a, b, c] = inst.src.map(|r| self.slot(r).at);
        let mut step = Step {
            handler: self.handler(inst, pc, &shapes),
            d: self.slot(inst.dst).at,
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
                if let Ok(n) = self.heads.binary_search_by_key(&inst.aux, |head| head.0)
                    && is_back_edge(inst, pc)
                {
                    step.d = self.code.first_hot_counts[self.id.0 as usize] + n as u32;
                }
            }
            Extra::Memory => step.flags |= memory_flags(inst),
            extra if extra.has_arguments() => step.aux = self.call_site(inst),
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

    fn call_site(&mut self, inst: &Inst) -> u32 {
        let args = self.list(self.f.list(inst.args));
        let rets = self.list(self.f.list(inst.rets));
        let signature = match inst.op {
            // A task has its indices and all the counts before its arguments.
            Op::Launch | Op::LaunchInd => {
                let (counts, rest) = args.split_at(LAUNCH_COUNTS.min(args.len()));
                self.signature(&[counts, counts, rest].concat(), &rets)
            }
            _ => self.signature(&args, &rets),
        };
        self.calls.push(CallSite { callee: inst.aux, args, rets, signature });
        self.calls.len() as u32 - 1
    }

    fn signature(&self, params: &[RegSlot], results: &[RegSlot]) -> u32 {
        self.code.signatures.lock().unwrap_or_else(PoisonError::into_inner).number(params, results)
    }

    fn handler(&self, inst: &Inst, pc: usize, shapes: &[Shape; 3]) -> Handler {
        let (isa, traced) = (self.code.isa, self.code.tracer.is_some());
        let dst = self.slot(inst.dst).shape;
        let backward = inst.aux as usize <= pc;
        handler_of(inst, &Setting { dst, shapes, isa, backward, traced }).unwrap_or(unsupported)
    }
}

/// An operation on a type that its row does not have; the verifier lets none pass.
unsafe fn unsupported(t: &mut Thread, step: *const Step) -> *const Step {
    let detail = crate::trap::TrapDetail::Message("this operation is not implemented".into());
    t.raise(step, crate::trap::TrapKind::Abort, None, detail)
}

/// Returns whether the instruction closes a loop (and so has no destination).
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
