//! The state of a running program: registers, mask stack, call frames, and what bounds it.
//!
//! One thread runs one call of the host at a time, or one task. The registers of frames are carved from one block; the frame
//! that executes lies at `base`. No VM call needs the host's stack (native code waits on it for calls, but can be left at any of them),
//! so a thread can be set aside and go on elsewhere.

use super::code::{Code, PreparedFunction, Step};
use super::fuel::{MAX_SLICE, Pace};
use super::group::{Group, Task};
use super::launch::Launched;
use super::masks::{EntryKind, MaskEntry};
use super::native::Kept;
use super::shared::Shared;
use super::stack::{Refused, Stack};
use crate::activity::Activity;
use crate::memory::{Memory, Reader};
use crate::program::FuncId;
use crate::trap::{Trap, TrapDetail, TrapFrame, TrapKind};
use std::cell::Cell;
use std::ops::Range;
use std::ptr::null;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Alignment of frames.
pub(crate) const FRAME_ALIGN: usize = 64;

/// A caller that waits for its callee.
#[derive(Clone, Copy)]
pub(crate) struct Frame {
    pub function: *const PreparedFunction,
    /// The call instruction.
    pub step: *const Step,
    pub base: *mut u8,
    pub mask: u64,
    /// Height of the mask stack where its entries begin.
    pub floor: usize,
    /// Region of its frame memory, or 0.
    pub region: u32,
}

/// What hosts have called before each look at the flag that interrupts.
pub type Watch = Arc<dyn Fn() + Send + Sync>;

/// What stops a run from outside. Looked at between two slices of fuel.
#[derive(Clone)]
pub(crate) struct Polls {
    pub deadline: Option<Instant>,
    pub interrupt: Arc<AtomicBool>,
    /// Called before each look.
    pub watch: Option<Watch>,
    /// What is told of what happens, if the host wants to know.
    pub activity: Option<Arc<Activity>>,
}

/// The state of a run.
pub(crate) struct Thread {
    /// The executing frame.
    pub base: *mut u8,
    /// Active lanes.
    pub mask: u64,
    /// All lanes.
    pub full: u64,
    pub lanes: usize,
    /// Fuel left in the current slice.
    pub ticks: i64,
    /// What is kept from native code of the slice, while that runs.
    pub held_back: i64,
    /// All fuel that it has taken and not given back, `ticks` included.
    taken: i64,
    /// Of what it has used, what the activity was told.
    told: Cell<i64>,
    pace: Pace,
    /// Whether native code runs, which may hold addresses of memory.
    pub in_native: bool,
    pub function: *const PreparedFunction,
    pub masks: Vec<MaskEntry>,
    pub floor: usize,
    pub region: u32,
    pub frames: Vec<Frame>,
    /// How many more there are, of which only native code knows that waits for a call.
    pub hidden: usize,
    pub max_depth: usize,
    /// Registers of frames.
    pub stack: Stack,
    /// Memory of frames, laid out as if it followed their registers. It lies apart, so that what a racing task does to it
    /// never reaches a register.
    frame_memory: Stack,
    pub memory: Arc<Memory>,
    pub code: Arc<Code>,
    pub shared: Arc<Shared>,
    pub polls: Polls,
    /// Whether a slice of fuel, of which `ticks` are left, is taken from the call's.
    pub holds_fuel: bool,
    pub trap: Option<Box<Trap>>,
    /// The task it runs; `None` for the call itself.
    pub task: Option<Task>,
    /// Tasks of the same group that it has taken, to run them next.
    pub taken_tasks: Range<u64>,
    /// Whether its tasks run on other threads of the host.
    pub parallel: bool,
    /// Whether every instruction is to be seen, so that none may run as native code.
    pub observed: bool,
    /// Whether an instruction has taken in something from outside, which it would not get again. For who repeats runs.
    pub took_in: bool,
    /// Whether the tracer has single instructions executed.
    pub stepping: bool,
    pub kept: Kept,
    /// What it has launched and not yet waited for, in order.
    pub launched: Vec<Launched>,
    /// When it pauses: for which tasks, and where it goes on.
    pub waits_for: Option<Arc<Group>>,
    pub resume: *const Step,
    /// Whether `trap` is one of a task it launched.
    pub failed_in_task: bool,
    /// What announces its accesses to memory, while the memory is shared.
    pub reader: Reader,
    /// Scratch of the memory operations: the host address each lane accesses.
    pub addresses: [usize; super::lanes::MAX_LANES],
    /// By argument of the next print the lanes that hold no value, if an observer knows.
    pub unset_lanes: Vec<u64>,
    /// Text that `print` builds.
    pub text: String,
}

// SAFETY: the raw pointers point into the stacks and `code`, which the thread owns or shares immutably.
unsafe impl Send for Thread {}

impl Thread {
    /// A thread of a machine, without stacks.
    pub fn new(shared: Arc<Shared>) -> Thread {
        let (stack, frame_memory) = (Stack::none(), Stack::none());
        Thread {
            base: stack.start(),
            mask: 0,
            full: shared.code.program.width.full_mask(),
            lanes: shared.code.lanes,
            ticks: 0,
            held_back: 0,
            taken: 0,
            told: Cell::new(0),
            pace: Pace::new(),
            in_native: false,
            function: null(),
            masks: Vec::new(),
            floor: 0,
            region: 0,
            frames: Vec::new(),
            hidden: 0,
            max_depth: shared.max_depth,
            stack,
            frame_memory,
            memory: Arc::clone(&shared.memory),
            code: Arc::clone(&shared.code),
            polls: Polls { deadline: None, interrupt: Arc::default(), watch: None, activity: None },
            holds_fuel: false,
            trap: None,
            task: None,
            taken_tasks: 0..0,
            parallel: false,
            observed: false,
            took_in: false,
            stepping: false,
            kept: Kept::default(),
            launched: Vec::new(),
            waits_for: None,
            resume: null(),
            failed_in_task: false,
            reader: shared.memory.reader(),
            addresses: [0; super::lanes::MAX_LANES],
            unset_lanes: Vec::new(),
            text: String::new(),
            shared,
        }
    }

    /// Gets stacks, before it runs.
    pub fn equip(&mut self) -> Result<(), Refused> {
        let bytes = self.shared.stack_bytes;
        if self.stack.bytes() == 0 {
            self.stack = Stack::take(bytes)?;
            self.base = self.stack.start();
        }
        if self.frame_memory.bytes() == 0 {
            self.frame_memory = Stack::take(bytes)?;
        }
        Ok(())
    }

    /// Gives up its stacks. It does not run, and neither does a task that may know the addresses of its variables.
    pub fn strip(&mut self) {
        std::mem::replace(&mut self.stack, Stack::none()).give_back();
        std::mem::replace(&mut self.frame_memory, Stack::none()).give_back();
        self.base = self.stack.start();
    }

    /// How many launches lie around it.
    pub fn nesting(&self) -> u32 {
        self.task.as_ref().map_or(0, |task| task.group.nesting)
    }

    /// Number of calls around the one that executes, launches included.
    pub fn depth(&self) -> usize {
        self.frames.len() + self.task.as_ref().map_or(0, |task| task.group.depth)
    }

    /// The address of a register.
    #[inline(always)]
    pub fn reg(&self, offset: u32) -> *mut u8 {
        // SAFETY: offsets come from prepared code and lie within the frame, which lies within the stack.
        unsafe { self.base.add(offset as usize) }
    }

    /// Counts one unit of fuel; `false` if the run must end (the trap is set).
    #[inline(always)]
    pub fn tick(&mut self, step: *const Step) -> bool {
        self.charge(step, 1)
    }

    /// Counts the fuel of an instruction, before it has any effect; `false` if it is not to be done: the run must end
    /// (the trap is set) or, while native code runs, the interpreter is to do it.
    #[inline(always)]
    pub fn charge(&mut self, step: *const Step, units: u64) -> bool {
        self.ticks -= units as i64;
        self.ticks >= 0 || self.refill(step, units)
    }

    /// Takes back the fuel of an instruction that has done nothing.
    pub fn refund(&mut self, units: u64) {
        self.ticks += units as i64;
    }

    /// Takes back the fuel of an instruction that traps, if native code runs: the interpreter does it again.
    pub fn give_back_in_native(&mut self, units: u64) {
        if self.in_native {
            self.refund(units);
        }
    }

    /// The slice does not hold so much: polls, and takes one that does.
    #[cold]
    fn refill(&mut self, step: *const Step, units: u64) -> bool {
        self.ticks += units as i64;
        if self.in_native {
            return self.charge_at_once(units);
        }
        self.release_fuel();
        let end = match self.must_end() {
            None if self.take_fuel(units) => {
                self.ticks -= units as i64;
                return true;
            }
            None => TrapKind::OutOfFuel,
            Some(end) => end,
        };
        self.raise(step, end, None, TrapDetail::None);
        false
    }

    /// Counts fuel as [`charge`](Self::charge) does, while native code runs: `false` if the interpreter is to do it.
    #[inline]
    pub fn charge_at_once(&mut self, units: u64) -> bool {
        let enough = self.ticks >= units as i64 || units <= MAX_SLICE && self.refill_at_once(units);
        if enough {
            self.ticks -= units as i64;
        }
        enough
    }

    /// Why the run must end now, if it must.
    pub fn must_end(&self) -> Option<TrapKind> {
        self.tell_rounds();
        if let Some(watch) = &self.polls.watch {
            watch();
        }
        let stopped = self.task.as_ref().is_some_and(Task::is_stopped);
        if stopped || self.polls.interrupt.load(Ordering::Relaxed) {
            return Some(TrapKind::Interrupted);
        }
        self.polls.deadline.filter(|&end| Instant::now() >= end).map(|_| TrapKind::Timeout)
    }

    /// Tells this activity from now on, if it is one, what it does.
    pub fn follow(&mut self, activity: Option<Arc<Activity>>) {
        self.told.set(self.fuel_used());
        self.polls.activity = activity;
    }

    /// Tells the activity, if there is one, what fuel has been used since it was told last.
    pub fn tell_rounds(&self) {
        if let Some(activity) = &self.polls.activity {
            let used = self.fuel_used();
            activity.add_rounds(u64::try_from(used - self.told.replace(used)).unwrap_or(0));
        }
    }

    /// Takes a slice of fuel, between two instructions; `false` if there is not so much.
    fn take_fuel(&mut self, units: u64) -> bool {
        let slice = self.pace.next(Instant::now);
        let taken = if self.memory.is_shared() {
            // Others may wait for this thread to let go of memory, while it waits for their fuel.
            let taken = self.shared.fuel.take(units, slice, || self.memory.leave(&self.reader));
            self.memory.enter(&self.reader);
            self.memory.quiesce(&self.reader);
            taken
        } else {
            self.shared.fuel.take(units, slice, || ())
        };
        self.hold(taken)
    }

    fn hold(&mut self, slice: Option<u64>) -> bool {
        self.holds_fuel = slice.is_some();
        self.ticks = slice.unwrap_or(0) as i64;
        self.taken += self.ticks;
        self.holds_fuel
    }

    /// The slice does not hold so much while native code runs, which may hold addresses: polls and takes one that does,
    /// unless the run must end, or the thread would have to wait, or others wait for it to let go of memory, or there is more in the
    /// slice, [held back](Self::held_back). Then gives `false`; what is to be done is found out by [`charge`](Self::charge), once native
    /// code has left.
    pub fn refill_at_once(&mut self, units: u64) -> bool {
        if self.held_back != 0 {
            return false;
        }
        self.release_fuel();
        let waited_for = self.memory.is_shared() && self.memory.has_freed();
        if waited_for || self.must_end().is_some() {
            return false;
        }
        let slice = self.pace.next(Instant::now);
        let taken = self.shared.fuel.take_at_once(units, slice);
        self.hold(taken)
    }

    /// Gives back the fuel it has taken and not used.
    pub fn release_fuel(&mut self) {
        if std::mem::take(&mut self.holds_fuel) {
            self.taken -= self.ticks;
            self.shared.fuel.give_back(self.ticks as u64);
        }
        self.ticks = 0;
    }

    /// Fuel that it has taken and not given back.
    #[inline]
    pub fn taken(&self) -> i64 {
        self.taken
    }

    /// Fuel that it has used.
    #[inline]
    pub fn fuel_used(&self) -> i64 {
        self.taken - self.ticks
    }

    /// Begins to access memory that it may share with other threads.
    pub fn enter_memory_accesses(&self) {
        if self.memory.is_shared() {
            self.memory.enter(&self.reader);
        }
    }

    /// Ceases to access memory, for now or for good.
    pub fn leave_memory_accesses(&self) {
        self.memory.leave(&self.reader);
    }

    /// What the memory of the frame at `base` is told by offsets from: the same place in the block of memories.
    #[inline(always)]
    pub fn memory_base(&self, base: *mut u8) -> *mut u8 {
        self.frame_memory.start().wrapping_add(base as usize - self.stack.start() as usize)
    }

    /// Ends the run with a trap at a step, and gives the null step.
    #[cold]
    pub fn raise(&mut self, step: *const Step, kind: TrapKind, lane: Option<usize>, detail: TrapDetail) -> *const Step {
        let stack = self.call_stack(self.frames.len(), step);
        self.trap = Some(Box::new(Trap { kind, lane: lane.map(|l| l as u32), detail, stack }));
        null()
    }

    /// Ends the run with a trap that came from elsewhere, adding where it happened.
    #[cold]
    pub fn raise_trap(&mut self, step: *const Step, trap: Trap, lane: Option<usize>) -> *const Step {
        self.raise(step, trap.kind, lane, trap.detail)
    }

    /// The calls that are active at a step of the call with `depth` calls around it, innermost first.
    pub fn call_stack(&self, depth: usize, step: *const Step) -> Vec<TrapFrame> {
        let mut stack = Vec::with_capacity(depth + 1);
        let mut top = self.masks.len();
        let executing = (self.function, step, self.floor);
        let waiting = self.frames.iter().rev().map(|f| (f.function, f.step, f.floor));
        // Calls within the one that is asked for have ended, as far as the trap is concerned.
        for (i, (function, at, floor)) in std::iter::once(executing).chain(waiting).enumerate() {
            let call_depth = self.frames.len() - i;
            if call_depth <= depth {
                let at = if call_depth == depth { step } else { at };
                let entries = self.masks.get(floor..top).unwrap_or_default();
                let task = self.task.as_ref().filter(|_| call_depth == 0).map(|task| task.index);
                stack.push(self.trap_frame(function, at, entries, task));
            }
            top = floor;
        }
        stack
    }

    fn trap_frame(
        &self,
        function: *const PreparedFunction,
        step: *const Step,
        entries: &[MaskEntry],
        task: Option<u64>,
    ) -> TrapFrame {
        // SAFETY: frames point to functions of `self.code`.
        let prepared = unsafe { &*function };
        let pc = prepared.pc(step);
        let function = &self.code.program.functions[prepared.id.0 as usize];
        let span = function.spans.get(pc as usize).copied().unwrap_or_default();
        let each_lanes = entries.iter().filter_map(MaskEntry::visited_lane).collect();
        let first = entries.iter().find(|e| e.kind == EntryKind::Every || e.visited_lane().is_some());
        let unmasked = first.is_some_and(|e| e.kind == EntryKind::Every);
        TrapFrame { function: prepared.id, name: function.name.clone(), pc, span, task, each_lanes, unmasked }
    }

    /// The function of a caller that waits, and its call instruction.
    pub fn waiting_at(&self, frame: &Frame) -> (FuncId, u32) {
        // SAFETY: frames point to functions of `self.code`.
        let function = unsafe { &*frame.function };
        (function.id, function.pc(frame.step))
    }

    /// The executing function, if this is its first step: it has just been entered, when a step has changed the number of
    /// calls.
    pub fn entered(&self, step: *const Step) -> Option<FuncId> {
        // SAFETY: while a step is to be executed, `function` is the function that executes.
        let function = unsafe { (!step.is_null()).then(|| &*self.function) }?;
        (step == function.steps.as_ptr()).then_some(function.id)
    }

    /// The function that the thread begins with at this step, rather than goes on.
    pub fn begins_at(&self, step: *const Step) -> Option<FuncId> {
        // What a thread goes on with, it has done something before: a launch, which is not waited for at a first step.
        if self.frames.is_empty() { self.entered(step) } else { None }
    }

    /// Gives up what others may wait for: fuel that it has not used, and addresses of memory.
    pub fn let_go(&mut self) {
        self.release_fuel();
        self.leave_memory_accesses();
    }

    /// Back to the state between two calls of the host, or two tasks, whatever happened.
    pub fn reset(&mut self) {
        self.end_frames();
        self.pace = Pace::new();
        self.kept.forget();
    }

    /// The same, but that it goes on with its pace.
    pub fn end_frames(&mut self) {
        // Plain loops: a short task takes no longer than some iterators.
        for i in 0..self.frames.len() {
            if self.frames[i].region != 0 {
                self.memory.unmap_frame(self.frames[i].region);
            }
        }
        self.frames.clear();
        if self.region != 0 {
            self.memory.unmap_frame(self.region);
            self.region = 0;
        }
        self.masks.clear();
        self.floor = 0;
        self.base = self.stack.start();
        self.mask = 0;
        self.hidden = 0;
        (self.failed_in_task, self.in_native, self.stepping) = (false, false, false);
        self.launched.clear();
        (self.waits_for, self.resume) = (None, null());
    }
}
