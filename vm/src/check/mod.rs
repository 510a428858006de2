//! Check mode: an observer of the reference interpreter that finds what is wrong with a run, whether it fails or not.
//!
//! It changes nothing: results and traps are those of a run without it, and prints but for lanes that hold no value.
//! `finding` has the table of what is found, `shadow` what is known of registers and memory beside their values (*poison*),
//! `flow` how instructions pass that on and which uses of it show, `access` checks loads, stores and their like, `races`
//! the order of tasks, `numbers` arithmetic. `docs/internals/interpreter.md` has the rules.

mod access;
mod finding;
mod flow;
mod numbers;
mod races;
mod shadow;

pub use finding::{Checks, Finding, FindingKind, KINDS, KindInfo, Related};

use crate::isa::{Extra, Op};
use crate::observe::{Observer, View};
use crate::program::{FuncId, Inst, Program, Reg};
use crate::trap::TrapFrame;
use crate::types::Ty;
use finding::Findings;
use races::{Races, TaskId};
use shadow::{Memory, Origin, OriginId, Shadow};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Checks one call of the host: give it to [`Machine::call_observed`](crate::Machine::call_observed), then ask for its
/// [`findings`](Self::findings).
///
/// ```
/// use spmdvm_vm::check::{Checker, Checks, FindingKind};
/// use spmdvm_vm::{Arg, FunctionBuilder, Limits, Machine, Op, Program, Shape, Ty, verify};
/// let mut b = FunctionBuilder::new("first");
/// let x = b.param(Shape::Varying, Ty::I32, "x");
/// let zero = b.constant(Ty::I32, 0);
/// let y = b.reg(Shape::Uniform, Ty::I32);
/// b.push(spmdvm_vm::Inst { dst: y, src: [x, zero, spmdvm_vm::Reg::NONE], ..spmdvm_vm::Inst::new(Op::Extract, Ty::I32) });
/// b.result(y);
/// b.ret();
/// let program = Program { functions: vec![b.finish()], ..Program::default() };
/// let f = program.function("first").unwrap();
///
/// let mut machine = Machine::new(verify(program).unwrap(), Limits::default())?;
/// let mut checker = Checker::new(Checks::by_default());
/// machine.call_observed(f, &[Arg::Words(&[1, 2])], 0b10, &mut checker)?;
/// let (findings, _) = checker.findings();
/// assert_eq!(findings[0].kind, FindingKind::InactiveLane);
/// assert_eq!((&findings[0].lanes[..], &findings[0].values[..]), (&[1][..], &[0][..]));
/// # Ok::<(), spmdvm_vm::Trap>(())
/// ```
pub struct Checker {
    found: Findings,
    /// The call of the host, and the tasks within one another that execute; the last one does so now.
    tasks: Vec<Task>,
    memory: Memory,
    races: Races,
    /// Of each byte the read that raced on which it depends.
    raced: Memory,
    /// Reads that raced, by site.
    race_reads: HashMap<u64, OriginId>,
    /// Of each task its function, and its index in its launch; the first is what the host called.
    begun: Vec<(FuncId, Option<u64>)>,
    origins: Vec<Origin>,
    functions: HashMap<FuncId, Known>,
    /// Reads of inactive lanes whose result has not been used yet.
    lane_reads: Vec<(u64, Finding)>,
    lane_read_ids: HashMap<u64, usize>,
    /// Allocations of this call that are live: where they were made, by region.
    allocated: BTreeMap<u32, Arc<[TrapFrame]>>,
    /// Where regions were freed.
    freed: HashMap<u32, Arc<[TrapFrame]>>,
    /// The places of allocations and frees, by site; of allocations with the origin of what they give.
    places: HashMap<u64, (Arc<[TrapFrame]>, OriginId)>,
    /// Shadows of frames that have ended, for the next ones.
    spare: Vec<Vec<Shadow>>,
}

/// The call of the host, or a task.
struct Task {
    id: TaskId,
    frames: Vec<Frame>,
    /// The calls around it, from the one that launched it.
    outside: Vec<TrapFrame>,
}

/// A call.
struct Frame {
    shadows: Vec<Shadow>,
    /// Of the arguments of its last launch.
    launched: Vec<Shadow>,
    /// The calls up to that launch.
    launch: Vec<TrapFrame>,
    /// Tasks it has launched that have ended, and that it has not waited for.
    waiting: Option<TaskId>,
    /// The lanes that were active at first.
    entry_mask: u64,
}

/// What is known of a function.
struct Known {
    /// Registers that stand for variables in which nothing was stored.
    unset: Vec<(Reg, OriginId)>,
    /// By instruction: the origin of what it gives inactive lanes, when it is needed.
    masked: Vec<OriginId>,
}

impl Checker {
    /// A checker that looks for these kinds.
    pub fn new(checks: Checks) -> Checker {
        Checker {
            found: Findings::new(checks),
            tasks: Vec::new(),
            memory: Memory::default(),
            races: Races::default(),
            raced: Memory::default(),
            race_reads: HashMap::new(),
            begun: Vec::new(),
            // The first is no origin.
            origins: vec![Origin::LaneRead(usize::MAX)],
            functions: HashMap::new(),
            lane_reads: Vec::new(),
            lane_read_ids: HashMap::new(),
            allocated: BTreeMap::new(),
            freed: HashMap::new(),
            places: HashMap::new(),
            spare: Vec::new(),
        }
    }

    /// What was found, in that order, and how many findings are not listed because there are so many places. To be asked for
    /// when the call has ended.
    pub fn findings(mut self) -> (Vec<Finding>, u64) {
        if self.found.checks.has(FindingKind::Leak) {
            for stack in std::mem::take(&mut self.allocated).into_values() {
                let site = finding::site_of(&stack);
                self.found.add(FindingKind::Leak, site, || Finding {
                    kind: FindingKind::Leak,
                    message: "memory allocated here was not freed when the call ended".into(),
                    lanes: Vec::new(),
                    values: Vec::new(),
                    ty: Ty::U64,
                    stack: stack.to_vec(),
                    related: None,
                    times: 1,
                });
            }
        }
        (self.found.list, self.found.left_out)
    }

    fn task(&mut self) -> &mut Task {
        self.tasks.last_mut().expect("a call executes")
    }

    fn frame(&mut self) -> &mut Frame {
        self.task().frames.last_mut().expect("a call executes")
    }

    #[inline]
    fn shadow(&self, r: Reg) -> Shadow {
        let frame = self.tasks.last().and_then(|task| task.frames.last());
        frame.map_or(Shadow::CLEAN, |frame| frame.shadows[r.index()])
    }

    #[inline]
    fn set(&mut self, r: Reg, shadow: Shadow) {
        if let Some(frame) = self.tasks.last_mut().and_then(|task| task.frames.last_mut()) {
            frame.shadows[r.index()] = shadow;
        }
    }

    fn new_origin(&mut self, origin: Origin) -> OriginId {
        self.origins.push(origin);
        OriginId(self.origins.len() as u32 - 1)
    }

    /// The origin of what the instruction gives lanes that are not active.
    fn masked(&mut self, view: &View<'_>) -> OriginId {
        let (function, pc) = (view.function_id(), view.pc());
        let next = OriginId(self.origins.len() as u32);
        let Some(known) = self.functions.get_mut(&function) else { return OriginId::NONE };
        let origin = &mut known.masked[pc as usize];
        if *origin == OriginId::NONE {
            *origin = next;
            self.origins.push(Origin::Masked(function, pc));
        }
        known.masked[pc as usize]
    }

    /// The calls, from the instruction to what the host called.
    fn stack(&self, view: &View<'_>) -> Vec<TrapFrame> {
        let mut stack = view.stack();
        stack.extend(self.tasks.last().into_iter().flat_map(|task| task.outside.iter().cloned()));
        stack
    }

    /// The same, kept once for each site, with the origin of what is allocated there.
    fn place(&mut self, view: &View<'_>) -> (Arc<[TrapFrame]>, OriginId) {
        let site = finding::site(view);
        if let Some(known) = self.places.get(&site) {
            return known.clone();
        }
        let stack: Arc<[TrapFrame]> = self.stack(view).into();
        let origin = self.new_origin(Origin::Allocation(Arc::clone(&stack)));
        self.places.insert(site, (Arc::clone(&stack), origin));
        (stack, origin)
    }

    fn shadows_of(&self, regs: &[Reg]) -> Vec<Shadow> {
        regs.iter().map(|&r| self.shadow(r)).collect()
    }

    fn known(&mut self, view: &View<'_>) -> Vec<(Reg, OriginId)> {
        let id = view.function_id();
        if !self.functions.contains_key(&id) {
            let f = view.function();
            let mut unset = Vec::new();
            for &(r, _) in f.consts.iter() {
                if let Some(name) = &f.reg(r).name {
                    unset.push((r, self.new_origin(Origin::Variable(name.clone()))));
                }
            }
            self.functions.insert(id, Known { unset, masked: vec![OriginId::NONE; f.code.len()] });
        }
        self.functions[&id].unset.clone()
    }

    /// The call ends: its results go to its caller, or to the host.
    fn leave(&mut self, view: &View<'_>) {
        let id = self.task().id;
        let mut waiting = self.frame().waiting.take();
        self.races.sync(id, &mut waiting);
        let results = self.shadows_of(&view.function().results);
        if view.thread.region != 0 {
            self.memory.forget(view.thread.region);
            self.raced.forget(view.thread.region);
            self.races.forget(view.thread.region);
        }
        let Some(call) = caller(view) else {
            if self.tasks.len() == 1 {
                let lanes = self.frame().entry_mask;
                let results = view.function().results.clone();
                results.iter().for_each(|&r| self.use_register(view, r, lanes, "as a result"));
                return;
            }
            self.end_task();
            return;
        };
        if let Some(frame) = self.task().frames.pop() {
            self.spare.push(frame.shadows);
        }
        let (function, inst) = call;
        for (&r, shadow) in function.list(inst.rets).iter().zip(results) {
            self.set(r, shadow);
        }
    }

    /// A task in words, with its function as the source has it.
    fn task_name(&self, view: &View<'_>, id: TaskId) -> String {
        let (function, index) = self.begun[id as usize];
        let name = &view.program().functions[function.0 as usize].name;
        let name = name.split(['.', '$']).next().filter(|start| !start.is_empty()).unwrap_or(name);
        match index {
            None => format!("`{name}`"),
            Some(index) => format!("task {index} of `{name}`"),
        }
    }

    fn end_task(&mut self) {
        let Some(task) = self.tasks.pop() else { return };
        self.spare.extend(task.frames.into_iter().map(|frame| frame.shadows));
        let mut waiting = self.frame().waiting.take();
        self.races.end(task.id, &mut waiting);
        self.frame().waiting = waiting;
    }

    /// A use of an argument that tells how many or which calls there are; then they are kept for the functions to come.
    fn launch(&mut self, view: &View<'_>, inst: &Inst) {
        let args = view.function().list(inst.args).to_vec();
        if inst.op == Op::LaunchInd {
            self.use_register(view, inst.src[0], view.mask(), "as a function");
        }
        for &count in args.iter().take(crate::program::LAUNCH_COUNTS) {
            self.use_register(view, count, view.mask(), "as a number of tasks");
            self.branch_on(view, count);
        }
        let stack = self.stack(view);
        let launched = self.shadows_of(&args[crate::program::LAUNCH_COUNTS.min(args.len())..]);
        let frame = self.frame();
        (frame.launched, frame.launch) = (launched, stack);
    }
}

/// The call instruction of the executing call, with its function; `None` for a task and for what the host called.
fn caller<'v>(view: &'v View<'_>) -> Option<(&'v crate::program::Function, &'v Inst)> {
    let frame = view.thread.frames.last()?;
    let (id, pc) = view.thread.waiting_at(frame);
    let function = &view.program().functions[id.0 as usize];
    Some((function, &function.code[pc as usize]))
}

/// A frame of a stack that is known by its instruction alone.
fn frame_at(program: &Program, function: FuncId, pc: u32, task: Option<u64>) -> TrapFrame {
    let f = &program.functions[function.0 as usize];
    let span = f.spans.get(pc as usize).copied().unwrap_or_default();
    TrapFrame { function, name: f.name.clone(), pc, span, task, each_lanes: Vec::new(), unmasked: false }
}

impl Observer for Checker {
    fn entered(&mut self, view: &View<'_>) {
        let f = view.function();
        let unset = self.known(view);
        let mut shadows = self.spare.pop().unwrap_or_default();
        shadows.clear();
        shadows.resize(f.regs.len(), Shadow::CLEAN);
        for (r, origin) in unset {
            shadows[r.index()] = Shadow { poison: u64::MAX, origin, ..Shadow::CLEAN };
        }
        let is_task = view.thread.task.is_some();
        if let Some((function, inst)) = caller(view) {
            for (to, &from) in shadows.iter_mut().zip(function.list(inst.args)) {
                *to = self.shadow(from);
            }
        } else if is_task && !self.tasks.is_empty() {
            let hidden = crate::program::TASK_PARAMS as usize;
            let args = &self.frame().launched;
            shadows[hidden..].iter_mut().zip(args).for_each(|(to, &from)| *to = from);
        }
        let frame = Frame { shadows, launched: Vec::new(), launch: Vec::new(), waiting: None, entry_mask: view.mask() };
        if !view.thread.frames.is_empty() {
            self.task().frames.push(frame);
            return;
        }
        let (id, outside) = match self.tasks.last().and_then(|task| task.frames.last()) {
            Some(launching) if is_task => (self.races.begin(), launching.launch.clone()),
            _ => (0, Vec::new()),
        };
        self.begun.push((view.function_id(), view.thread.task.as_ref().map(|task| task.index)));
        self.tasks.push(Task { id, frames: vec![frame], outside });
    }

    fn before(&mut self, view: &View<'_>) {
        let inst = *view.inst();
        match inst.op {
            Op::Call => {}
            Op::CallInd => {
                self.use_register(view, inst.src[0], view.mask(), "as a function");
                self.branch_on(view, inst.src[0]);
            }
            Op::Launch | Op::LaunchInd => self.launch(view, &inst),
            Op::Sync => {
                let id = self.task().id;
                let mut waiting = self.frame().waiting.take();
                self.races.sync(id, &mut waiting);
            }
            Op::Ret => self.leave(view),
            _ if inst.op.info().sig.extra == Extra::Memory => self.access(view, &inst),
            _ => self.flow(view, &inst),
        }
        if self.looks_at_numbers() {
            self.numbers(view, &inst);
        }
    }

    fn unset_lanes(&mut self, view: &View<'_>) -> Vec<u64> {
        let args = view.function().list(view.inst().args);
        let unset = |r: &Reg| {
            let shadow = self.shadow(*r);
            let origin = &self.origins[shadow.origin.0 as usize];
            if matches!(origin, Origin::Variable(_) | Origin::Allocation(_)) { shadow.poison } else { 0 }
        };
        args.iter().map(unset).collect()
    }

    fn after(&mut self, view: &View<'_>) {
        if view.inst().op == Op::Alloc {
            self.allocated(view);
        }
    }
}
