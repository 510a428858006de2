//! From a hot loop of the bytecode to a region.
//!
//! The recorder executes the bytecode from the loop's head on, with values of the IR in the place of registers ([`State`]).
//! It follows every way that stays in the loop, through calls, and makes one block for each combination of *position* (the
//! chain of calls and the instruction) and *facts about masks* ([`Mask`]: all lanes, none, some). So a loop body that is
//! entered with all lanes active is first recorded without any masking; where lanes may diverge it branches to the same
//! position with other facts, which is the masked body. Leaving the loop, and instructions that only the interpreter does,
//! become exits with a snapshot of the whole state.
//!
//! Whether a varying register holds the same value in all lanes is assumed optimistically when a block is first reached
//! and, if another way to the block brings a varying value, noted ([`Recorder::varying`]) and the recording done again.
//!
//! Facts about masks at the loop's head come from the interpreter's state when recording begins; the engine compares them
//! before each entry ([`EntryFacts`]).

mod access_pattern;
mod arms;
mod atomics;
mod calls;
mod copies;
mod cuts;
mod divergence;
mod each;
mod edges;
mod emit;
mod first_lanes;
mod globals;
mod memories;
mod memory;
mod one_lane;
mod packed;
mod pointers;
mod shape;
mod state;
mod step;
mod unroll;

use crate::abort::Abort;
use crate::advice::Advice;
use crate::analysis::Analysis;
use crate::ir::{
    BlockId, Builder, Counter, End, EntryMask, EntryState, Exit, ExitId, ExitReason, FrameState, Kind, Outcome,
    RegState, Region, Type, Value,
};
use crate::lowering::mask_word;
use crate::profile::ProgramPoint;
use crate::settings::Variant;
use crate::whole::Whole;
pub(crate) use copies::is_taken_apart;
use cuts::Plan;
pub(crate) use cuts::{LIGHT, leads_on, parts_regions};
use foldhash::{HashMap, HashMapExt, HashSet};
use spmdvm_vm::flow::each_written;
use spmdvm_vm::interp::PreparedProgram;
use spmdvm_vm::interp::native::RegisterSlot;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Function, Program, Reg};
use spmdvm_vm::types::{Shape, Ty};
use spmdvm_vm::verify::EntryKind;
use state::{Entry, Frame, FramePlace, Key, Mask, Slot, State, Targets};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Most attempts.
const MAX_ATTEMPTS: usize = 24;
/// Most bytes of all frames: far more than stacks have.
pub(crate) const MAX_FRAME_BYTES: u64 = 1 << 30;

/// Most calls in a chain.
pub(crate) const MAX_CALLS: usize = 12;

/// What is known of a mask at the entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MaskFact {
    /// All lanes.
    Full,
    /// No lane.
    Empty,
    /// The one lane that is active. Of the execution mask: one lane.
    One,
    /// Nothing.
    Unknown,
}

impl MaskFact {
    /// The strongest fact about these lanes, whichever are active.
    pub fn of(mask: u64, full: u64) -> MaskFact {
        match mask {
            0 => MaskFact::Empty,
            m if m == full => MaskFact::Full,
            _ => MaskFact::Unknown,
        }
    }

    /// The lanes for which alone it holds, if it tells so much.
    fn lanes(self, full: u64) -> Option<u64> {
        match self {
            MaskFact::Full => Some(full),
            MaskFact::Empty => Some(0),
            MaskFact::One | MaskFact::Unknown => None,
        }
    }
}

/// What is known of the masks at the loop's head.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct EntryFacts {
    /// The execution mask. If one lane is active, no other comes back: all masks of the entries are of that lane, or empty.
    pub mask: MaskFact,
    /// The entries from the bottom: kind, `restore`, `other`.
    pub entries: Vec<(EntryKind, MaskFact, MaskFact)>,
    /// Uniform registers that hold just these values.
    pub constants: Vec<Constant>,
}

impl EntryFacts {
    /// Returns whether more is assumed than which masks have all lanes or none.
    pub fn is_special(&self) -> bool {
        self.speciality() != (false, false)
    }

    /// What is assumed beyond that, the greater the more it saves: one lane, constants.
    pub fn speciality(&self) -> (bool, bool) {
        (self.mask == MaskFact::One, !self.constants.is_empty())
    }

    /// Every mask and what is known of it.
    fn masks(&self) -> impl Iterator<Item = (EntryMask, MaskFact)> + '_ {
        let entries = (0..).zip(&self.entries);
        let entries = entries.flat_map(|(i, e)| [(EntryMask::Restore(i), e.1), (EntryMask::Other(i), e.2)]);
        [(EntryMask::Execution, self.mask)].into_iter().chain(entries)
    }

    /// What it says of masks: which words must be what, of those that [`Pause::write_masks`] writes.
    ///
    /// [`Pause::write_masks`]: spmdvm_vm::interp::native::Pause::write_masks
    pub(crate) fn mask_words(&self, full: u64) -> Box<[(u32, u64)]> {
        self.masks().filter_map(|(mask, fact)| Some((mask_word(mask) as u32, fact.lanes(full)?))).collect()
    }

    /// Which of these words must be the one lane that is active.
    pub(crate) fn one_lane_words(&self) -> Box<[u32]> {
        let ones = self.masks().filter(|(_, fact)| *fact == MaskFact::One);
        ones.map(|(mask, _)| mask_word(mask) as u32).collect()
    }
}

/// The value of a uniform register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Constant {
    /// The register, of the entered frame.
    pub reg: Reg,
    /// Where it lies.
    pub place: RegisterSlot,
    /// Its value.
    pub bits: u64,
}

/// Records what begins at the instruction `pc` of a function: the loop whose head it is, or the rest of the function.
pub(crate) fn record(
    prepared: &PreparedProgram,
    (function, pc): ProgramPoint,
    facts: &EntryFacts,
    advice: &Advice,
    whole: &Whole,
) -> Result<Region, Abort> {
    let mut varying = Noted::new();
    let mut analyses = HashMap::new();
    let mut plan = None;
    let mut attempts = 0;
    while attempts < MAX_ATTEMPTS {
        let mut recorder = Recorder::new(prepared, (function, pc), advice, whole, plan, &mut varying, &mut analyses)?;
        let result = recorder.run(facts);
        let smaller = recorder.plan.next(recorder.has_unrolled, recorder.has_recursed);
        match result {
            Ok(()) if !recorder.again => {
                recorder.b.region.is_divided = recorder.plan.divides();
                return Ok(recorder.b.region);
            }
            Ok(()) => {
                plan = Some(recorder.plan);
                attempts += 1;
            }
            Err(Abort::TooLarge) if smaller.is_some() => plan = smaller,
            Err(why) => return Err(why),
        }
    }
    Err(Abort::Unsettled)
}

/// Parameters of blocks of which less is known than the first way to their block brings: they are varying although it brings a
/// uniform value, or any pointer although it brings an address in a frame.
type Noted = HashMap<Key, HashSet<Slot>>;

/// A block to be recorded.
struct Work {
    state: State,
    block: BlockId,
    /// What is known of its registers: addresses in frames.
    addresses: HashMap<Value, FramePlace>,
}

/// One attempt at a region.
struct Recorder<'a> {
    prepared: &'a PreparedProgram,
    program: &'a Program,
    advice: &'a Advice,
    whole: &'a Whole,
    plan: Plan,
    /// Registers of the entered frame that are assumed to be constants.
    assumed: Vec<Reg>,
    b: Builder,
    head: (FuncId, u32),
    /// Instructions of the loop, or of the rest of the function, in the entered frame's function.
    inside: Vec<bool>,
    /// Heads of loops around the head.
    around: Vec<u32>,
    targets: Targets,
    work: VecDeque<Work>,
    varying: &'a mut Noted,
    analyses: &'a mut HashMap<FuncId, Arc<Analysis>>,
    /// Whether an assumption was wrong.
    again: bool,
    /// Whether the current instruction has read a register of [`State::speculated`].
    reads_speculated: bool,
    constants: HashMap<(Ty, u64), Value>,
    /// The bits of each.
    known: HashMap<Value, u64>,
    /// Values of the entry block that are made once: `iota`, masks, splats of constants.
    shared: HashMap<(Kind, Vec<Value>), Value>,
    /// Values of the block being recorded that are addresses in the memory of a frame that has not ended.
    addresses: HashMap<Value, FramePlace>,
    /// Values of the entry block that are addresses in the memory of the entered frame.
    own_addresses: HashMap<Value, FramePlace>,
    /// Sums of such an address and an offset that is not known.
    frame_sums: HashMap<Value, (Value, Value)>,
    /// Whether what the entered frame holds at the head may lead to its memory in ways that are not known.
    escapes_at_head: bool,
    /// Whether rounds of loops are recorded one after another somewhere.
    has_unrolled: bool,
    /// Whether a function is inlined into itself somewhere.
    has_recursed: bool,
    /// Masks of the lanes below a number.
    below: HashMap<Value, u32>,
    insts: usize,
}

impl<'a> Recorder<'a> {
    fn new(
        prepared: &'a PreparedProgram,
        (function, pc): (FuncId, u32),
        advice: &'a Advice,
        whole: &'a Whole,
        plan: Option<Plan>,
        varying: &'a mut Noted,
        analyses: &'a mut HashMap<FuncId, Arc<Analysis>>,
    ) -> Result<Recorder<'a>, Abort> {
        let program = prepared.program();
        let mut recorder = Recorder {
            prepared,
            program,
            advice,
            whole,
            plan: plan.unwrap_or(Plan::first(0, |_| 0)),
            assumed: Vec::new(),
            b: Builder::new(program.width, function, pc),
            head: (function, pc),
            inside: Vec::new(),
            around: Vec::new(),
            targets: Targets::new(),
            work: VecDeque::new(),
            varying,
            analyses,
            again: false,
            reads_speculated: false,
            constants: HashMap::new(),
            known: HashMap::new(),
            shared: HashMap::new(),
            addresses: HashMap::new(),
            own_addresses: HashMap::new(),
            frame_sums: HashMap::new(),
            escapes_at_head: false,
            has_unrolled: false,
            has_recursed: false,
            below: HashMap::new(),
            insts: 0,
        };
        recorder.find_extent();
        if plan.is_none() {
            recorder.plan = recorder.first_plan();
        }
        recorder.b.region.arguments = recorder.arguments();
        recorder.b.region.frame_bytes = prepared.frame_bytes(function).ok_or(Abort::TooDeep)?;
        Ok(recorder)
    }

    fn function(&self, id: FuncId) -> &'a Function {
        &self.program.functions[id.0 as usize]
    }

    fn analysis(&mut self, id: FuncId) -> Arc<Analysis> {
        let (program, whole) = (self.program, self.whole);
        Arc::clone(self.analyses.entry(id).or_insert_with(|| whole.analysis(program, id)))
    }

    fn run(&mut self, facts: &EntryFacts) -> Result<(), Abort> {
        let state = self.entry_state(facts);
        let entry = self.b.current();
        let edge = self.edge(&state);
        // Shared values are appended to the entry block while others are recorded, so its end is set last.
        while let Some(Work { state, block, addresses }) = self.next_work() {
            self.addresses = addresses;
            self.b.switch_to(block);
            self.block(state)?;
            if self.is_beyond() {
                return Err(Abort::TooLarge);
            }
        }
        self.b.switch_to(entry);
        self.b.end(End::Jump(edge));
        Ok(())
    }

    /// The state in which the region is entered.
    fn entry_state(&mut self, facts: &EntryFacts) -> State {
        let (function, pc) = self.head;
        let f = self.function(function);
        self.assumed = facts.constants.iter().map(|c| c.reg).collect();
        let mut regs = vec![None; f.regs.len()];
        let assumed = facts.constants.iter().map(|c| (c.reg, c.bits));
        for (r, bits) in f.consts.iter().copied().chain(assumed) {
            regs[r.index()] = Some(self.constant(f.reg(r).ty, bits));
        }
        // Where all lanes are active, the first one's element tells of all.
        let same = match facts.mask {
            MaskFact::Full => {
                let width = self.program.width;
                self.analysis(function).properties(f, width).same_in_all_lanes(f, width, pc)
            }
            _ => Vec::new(),
        };
        for r in self.analysis(function).live(pc) {
            let is_known = self.analysis(function).lanes(r).is_some();
            if regs[r.index()].is_none() && !is_known && !self.holds_address(function, r) {
                let place = self.prepared.register(function, r);
                let is_same = place.ty != Ty::Bool && same.get(r.index()) == Some(&true);
                let shape = if is_same { Shape::Uniform } else { place.shape };
                let v = self.b.inst(Kind::EntryReg { at: place.at }, &[], Type { shape, ty: place.ty });
                regs[r.index()] = Some(v);
            }
        }
        let lanes = self.entry_mask(facts.mask, EntryMask::Execution, None);
        let mask = match lanes {
            Mask::Any(v) => Mask::Some(v),
            known => known,
        };
        let mut entries = Vec::new();
        for (i, &(kind, restore, other)) in facts.entries.iter().enumerate() {
            let i = i as u32;
            let visiting =
                (kind == EntryKind::Each).then(|| self.b.inst(Kind::EntryVisiting(i), &[], Type::uniform(Ty::I32)));
            let restore = self.entry_mask(restore, EntryMask::Restore(i), Some(lanes));
            let other = self.entry_mask(other, EntryMask::Other(i), Some(lanes));
            entries.push(Entry { kind, restore, other, visiting });
        }
        let behind = BTreeMap::new();
        let mut state = State {
            frames: vec![Frame { function, pc, at: 0, regs, mask, behind, holds: 0, fails: 0, memory: None, entries }],
            one: None,
            speculated: BTreeSet::new(),
            unrolled: Vec::new(),
            entering: None,
        };
        self.own_memory(&mut state);
        self.known_addresses(&mut state);
        if facts.mask == MaskFact::One {
            self.begin_with_one_lane(&mut state);
        }
        state
    }

    /// A mask at the entry, where `active` are the active lanes.
    fn entry_mask(&mut self, fact: MaskFact, which: EntryMask, active: Option<Mask>) -> Mask {
        match (fact, active) {
            (MaskFact::Full, _) => Mask::Full,
            (MaskFact::Empty, _) => Mask::Empty,
            (MaskFact::One, Some(active)) => active,
            (MaskFact::One, None) => Mask::One(self.b.inst(Kind::EntryMask(which), &[], Type::MASK)),
            (MaskFact::Unknown, _) => Mask::Any(self.b.inst(Kind::EntryMask(which), &[], Type::MASK)),
        }
    }

    /// An address in the memory of a frame.
    fn frame_address(&mut self, state: &State, of: usize, offset: i64) -> Value {
        let frame = &state.frames[of];
        let place = FramePlace { of, function: frame.function, at: frame.at, offset };
        let base = match frame.memory {
            Some(pointer) => pointer,
            None => self.shared(Kind::FrameAddress, &[], Type::uniform(Ty::U64)),
        };
        let offset_value = self.constant(Ty::I64, offset as u64);
        let args = [base, offset_value];
        let kind = Kind::Op { op: Op::PAdd, ty: Ty::U64, from: Ty::U64 };
        let v = self.emit(kind, &args, Type::uniform(Ty::U64));
        self.addresses.insert(v, place);
        v
    }

    /// The instruction at which a state is.
    fn place(&self, state: &State) -> ProgramPoint {
        (state.top().function, state.top().pc)
    }

    /// Counts how a variant does.
    fn count(&mut self, variant: Variant, place: ProgramPoint, outcome: Outcome) {
        let counter = Counter::Variant { variant, place, outcome };
        let counters = &mut self.b.region.counters;
        let n = counters.iter().position(|c| *c == counter).unwrap_or_else(|| {
            counters.push(counter);
            counters.len() - 1
        });
        self.effect(Kind::Count(n as u32), &[]);
    }

    /// Returns whether a register holds the same throughout the region.
    fn is_constant(&self, frame: usize, function: FuncId, reg: Reg) -> bool {
        self.analyses.get(&function).is_some_and(|found| found.is_constant(reg))
            || (frame == 0 && (self.assumed.contains(&reg) || self.holds_address(function, reg)))
    }

    /// Returns whether a register of the entered frame holds an address throughout the region that is known before: in the frame's
    /// memory, or of a global or function.
    fn holds_address(&self, function: FuncId, reg: Reg) -> bool {
        self.own_offset(function, reg).is_some() || self.known_address(function, reg).is_some()
    }

    /// Uniform registers that come from outside of the loop and decide something in it: divisors, factors, counts of shifts,
    /// conditions, what is handed to calls, and functions that are called.
    fn arguments(&mut self) -> Vec<Reg> {
        let (function, pc) = self.head;
        let f = self.function(function);
        let inside = self.inside.iter().zip(&f.code).filter(|(inside, _)| **inside).map(|(_, inst)| inst);
        let mut decides = vec![false; f.regs.len()];
        let [mut written, mut functions] = [(); 2].map(|()| vec![false; f.regs.len()]);
        for inst in inside {
            each_written(f, inst, false, |r| written[r.index()] = true);
            let deciding: &[Reg] = match inst.op {
                Op::IDiv | Op::IRem | Op::Shl | Op::Shr => &inst.src[1..2],
                Op::Mul if !inst.ty.is_float() => &inst.src[..2],
                Op::BrTrue | Op::BrFalse | Op::MaskIf | Op::Select => &inst.src[..1],
                Op::Call => f.list(inst.args),
                Op::CallInd => {
                    functions[inst.src[0].index()] = true;
                    f.list(inst.args)
                }
                _ => &[],
            };
            deciding.iter().filter(|r| !r.is_none()).for_each(|r| decides[r.index()] = true);
        }
        let is_constant = |r: &Reg| f.constant_bits(*r).is_some();
        let live = self.analysis(function);
        let wanted = |r: &Reg| {
            let decl = f.reg(*r);
            decl.shape == Shape::Uniform
                && (functions[r.index()]
                    || decides[r.index()] && !matches!(decl.ty, Ty::U64 | Ty::F16 | Ty::F32 | Ty::F64))
                && !written[r.index()]
        };
        live.live(pc).filter(wanted).filter(|r| !is_constant(r)).collect()
    }

    /// Registers of a frame that may be read later: in the last frame from its instruction on, in others after their call.
    fn live_registers(&mut self, frame: &Frame, last: bool) -> Vec<Reg> {
        let analysis = self.analysis(frame.function);
        if last {
            return analysis.live(frame.pc).collect();
        }
        let f = self.function(frame.function);
        let results = f.list(f.code[frame.pc as usize].rets);
        analysis.live(frame.pc + 1).filter(|r| !results.contains(r)).collect()
    }

    /// A snapshot of a state, whose last frame stands at the instruction that the interpreter is to do next.
    fn exit(&mut self, state: &State, reason: ExitReason) -> ExitId {
        let n = state.frames.len();
        let mut frames = Vec::with_capacity(n);
        for (i, frame) in state.frames.iter().enumerate() {
            let mut regs = Vec::new();
            for reg in self.live_registers(frame, i + 1 == n) {
                if self.is_constant(i, frame.function, reg) {
                    continue;
                }
                let Some(value) = self.whole(state, i, reg) else { continue };
                let place = self.prepared.register(frame.function, reg);
                regs.push(RegState {
                    reg,
                    at: place.at,
                    ty: Type { shape: place.shape, ty: place.ty },
                    value,
                    into: None,
                });
            }
            let mut entries = Vec::with_capacity(frame.entries.len());
            for e in &frame.entries {
                let (restore, other) = (self.mask_value(e.restore), self.mask_value(e.other));
                entries.push(EntryState { kind: e.kind, restore, other, visiting: e.visiting });
            }
            let mask = self.mask_value(frame.mask);
            let Frame { function, pc, at, memory, .. } = *frame;
            frames.push(FrameState { function, pc, at, regs, mask, memory, unopened: None, entries });
        }
        let live = self.live_memory(state);
        self.b.exit(Exit { frames, cells: Vec::new(), live, reason, fuel: 0 })
    }
}
