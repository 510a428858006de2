//! A call that is executed as far as the host asks, looked at in between, and set back to where it was.
//!
//! Tasks run at their launch, in the order of their indices, on the thread of the host that steps. So a call is a stack of
//! *levels*: the thread of the call, and above each thread that waits the one of the task it waits for. Threads keep
//! their level, so that addresses in their stacks mean the same when a [`Snapshot`] is restored.
//!
//! Between two steps nothing else of the machine runs, so all of its state is what levels, memory and fuel hold. What a
//! run takes in from outside (the clock, functions of the host) is the only thing that can differ when it is repeated:
//! [`Stepping::run`] stops behind such an instruction, for its caller to make a snapshot.

use super::code::{PreparedFunction, Step};
use super::fpenv::DefaultEnvironment;
use super::group::{Group, Launching, Next, Task};
use super::launch::Launched;
use super::machine::Machine;
use super::masks::MaskEntry;
use super::stack::Refused;
use super::thread::{Frame, Thread};
use super::value::Arg;
use crate::memory::{MemoryImage, Pages};
use crate::observe::View;
use crate::program::FuncId;
use crate::trap::{Trap, TrapDetail, TrapKind};
use std::sync::Arc;

/// A call that is executed step by step. Time limits do not count, and nothing interrupts it; fuel counts as ever.
///
/// What the call has done by the time this is dropped stays done.
pub struct Stepping<'m> {
    machine: &'m mut Machine,
    function: FuncId,
    /// The thread of the call, that of the task it waits for, and so on. Those behind `top` are not in use.
    #[allow(clippy::vec_box, reason = "threads come from boxes and go back into them")]
    levels: Vec<Box<Thread>>,
    top: usize,
    /// What is executed next by the topmost thread.
    step: *const Step,
    position: u64,
    /// How the call has ended.
    end: Option<Result<(), Trap>>,
}

/// A call at some position, to go back to.
pub struct Snapshot {
    position: u64,
    step: *const Step,
    levels: Vec<LevelImage>,
    memory: MemoryImage,
    fuel: u64,
}

/// A thread at some position.
struct LevelImage {
    registers: Pages,
    base: *mut u8,
    mask: u64,
    function: *const PreparedFunction,
    masks: Box<[MaskEntry]>,
    floor: usize,
    region: u32,
    frames: Box<[Frame]>,
    resume: *const Step,
    /// What it waits for.
    launched: Option<LaunchImage>,
}

/// A launch whose tasks are being executed.
struct LaunchImage {
    function: *const PreparedFunction,
    counts: [u32; 3],
    args: Box<[u8]>,
    /// The task that executes.
    task: u64,
    depth: usize,
    step: *const Step,
}

impl Snapshot {
    /// Number of instructions that had been executed.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Calls a function with every piece of memory that the snapshot holds: what it is known by (snapshots share pieces),
    /// and its size in bytes. It answers whether the piece was new to it.
    pub fn pieces(&self, visit: &mut impl FnMut(usize, usize) -> bool) {
        for level in &self.levels {
            let fixed = size_of_val(&*level.masks) + size_of_val(&*level.frames) + size_of::<LevelImage>();
            visit(std::ptr::from_ref(level) as usize, fixed + level.launched.as_ref().map_or(0, |of| of.args.len()));
            level.registers.pieces(visit);
        }
        self.memory.pieces(visit);
    }

    /// Bytes of memory that making it had to look at.
    pub fn extent(&self) -> u64 {
        self.memory.extent()
    }
}

impl Machine {
    /// Begins a call, to be executed step by step; arguments as for [`call`](Self::call).
    ///
    /// # Panics
    /// As [`call`](Self::call).
    pub fn begin(&mut self, function: FuncId, args: &[Arg<'_>], mask: u64) -> Result<Stepping<'_>, Trap> {
        let equipped = self.thread.equip();
        equipped.map_err(|Refused(bytes)| Trap::new(TrapKind::OutOfMemory, TrapDetail::Refused(bytes)))?;
        let begun = self.enter_call(function, args, mask, false);
        // Time does not count.
        self.thread.polls.deadline = None;
        let fresh = Thread::new(Arc::clone(&self.shared));
        let mut thread = Box::new(std::mem::replace(&mut self.thread, fresh));
        thread.observed = true;
        let step = thread.resume;
        thread.enter_memory_accesses();
        let mut stepping =
            Stepping { machine: self, function, levels: vec![thread], top: 0, step, position: 0, end: None };
        // Dropping it puts everything back.
        if !begun? {
            stepping.end = Some(Ok(()));
        }
        Ok(stepping)
    }
}

impl Stepping<'_> {
    /// Number of instructions executed so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// How the call has ended, if it has. Where it trapped, the view is at the instruction that did, which has done nothing.
    pub fn end(&self) -> Option<&Result<(), Trap>> {
        self.end.as_ref()
    }

    /// The results, once the call has returned.
    pub fn results(&self) -> Option<super::Results<'_>> {
        matches!(self.end, Some(Ok(()))).then(|| self.machine.last_results(self.function))
    }

    /// The machine's program and memory.
    pub fn machine(&self) -> &Machine {
        self.machine
    }

    /// The instruction that is executed next; `None` once the call has returned.
    pub fn view(&self) -> Option<View<'_>> {
        if matches!(self.end, Some(Ok(()))) {
            return None;
        }
        Some(view_at(&self.levels[self.top], self.step))
    }

    /// Executes up to so many instructions; stops where the call ends, and behind an instruction that takes in something
    /// from outside. Returns whether it has stopped behind one.
    pub fn run(&mut self, instructions: u64) -> bool {
        let _environment = DefaultEnvironment::enter();
        let until = self.position.saturating_add(instructions);
        while self.position < until && self.end.is_none() {
            if self.run_level(until) {
                return true;
            }
        }
        false
    }

    /// As [`run`](Self::run), and asks at each instruction that is to be executed whether to go on.
    pub fn run_while(&mut self, instructions: u64, mut goes_on: impl FnMut(&View<'_>, u64) -> bool) -> bool {
        let _environment = DefaultEnvironment::enter();
        for _ in 0..instructions {
            if self.end.is_some() || !goes_on(&view_at(&self.levels[self.top], self.step), self.position) {
                return false;
            }
            if self.run_level(self.position + 1) {
                return true;
            }
        }
        false
    }

    /// Executes instructions of the topmost thread until this position, or until another thread is the topmost one. Returns
    /// whether it has stopped behind something from outside.
    fn run_level(&mut self, until: u64) -> bool {
        let thread = &mut *self.levels[self.top];
        while self.position < until {
            // SAFETY: as in `run_steps`: it is a step of the function that executes.
            let next = unsafe { ((*self.step).handler)(thread, self.step) };
            if next.is_null() {
                self.pause();
                return false;
            }
            self.step = next;
            self.position += 1;
            if thread.took_in {
                thread.took_in = false;
                return true;
            }
        }
        false
    }

    /// The topmost thread has executed a step that has no next one.
    fn pause(&mut self) {
        let thread = &mut *self.levels[self.top];
        thread.took_in = false;
        if let Some(trap) = thread.trap.take() {
            return self.trapped(*trap);
        }
        self.position += 1;
        if thread.waits_for.is_some() {
            thread.release_fuel();
            return self.start_task();
        }
        if self.top == 0 {
            return self.returned();
        }
        thread.release_fuel();
        let task = thread.task.take();
        thread.reset();
        self.top -= 1;
        if let Some(Task { group, index }) = task {
            // Nobody is parked in a group here.
            drop(group.finish(index, None));
        }
        self.start_task();
    }

    /// Starts the next task that the topmost thread waits for; if there is none, that thread goes on.
    fn start_task(&mut self) {
        let Some(group) = self.levels[self.top].waits_for.clone() else { return };
        let Next::Task(index) = group.take() else {
            let thread = &mut *self.levels[self.top];
            thread.waits_for = None;
            self.step = thread.settle_group(&group);
            return;
        };
        let failed = match self.level(self.top + 1) {
            Err(Refused(bytes)) => Some(Trap::new(TrapKind::OutOfMemory, TrapDetail::Refused(bytes))),
            Ok(thread) => {
                thread.start_task(Task { group, index });
                let trap = thread.trap.take();
                trap.map(|trap| *trap)
            }
        };
        if let Some(trap) = failed {
            // The task has no frame to be looked at: its launch has.
            if let Some(launched) = self.levels[self.top].launched.last() {
                self.step = launched.step;
            }
            return self.trapped(trap);
        }
        self.top += 1;
        let thread = &mut *self.levels[self.top];
        self.step = thread.resume;
        // It begins, which counts as a call.
        // SAFETY: it points into the code that the thread holds.
        let fuel = unsafe { (*thread.function).fuel };
        if !thread.charge(self.step, fuel)
            && let Some(trap) = thread.trap.take()
        {
            self.trapped(*trap);
        }
    }

    /// A thread for a level, with stacks.
    fn level(&mut self, level: usize) -> Result<&mut Thread, Refused> {
        if level == self.levels.len() {
            let mut thread = self.machine.shared.idle_thread()?;
            thread.observed = true;
            self.levels.push(thread);
        }
        Ok(&mut self.levels[level])
    }

    fn trapped(&mut self, mut trap: Trap) {
        let below = if trap.stack.is_empty() { self.top + 1 } else { self.top };
        for thread in self.levels[..below].iter().rev() {
            if let Some(launched) = thread.launched.last() {
                trap.stack.extend(thread.call_stack(launched.depth, launched.step));
            }
        }
        self.end = Some(Err(trap));
    }

    fn returned(&mut self) {
        let thread = &mut *self.levels[0];
        thread.release_fuel();
        self.machine.keep_results(self.function, thread.stack.start());
        self.end = Some(Ok(()));
    }

    /// What is needed to come back here; shares with an earlier snapshot what is the same. `None` if the call has ended.
    pub fn snapshot(&mut self, previous: Option<&Snapshot>) -> Option<Snapshot> {
        if self.end.is_some() {
            return None;
        }
        self.levels[self.top].release_fuel();
        let known = |at: usize| previous.and_then(|previous| Some(&previous.levels.get(at)?.registers));
        let above = |at: usize| self.levels[..=self.top].get(at).map(|thread| &**thread);
        let levels = self.levels[..=self.top].iter().enumerate();
        let levels = levels.map(|(at, thread)| LevelImage::of(thread, above(at + 1), known(at)));
        Some(Snapshot {
            position: self.position,
            step: self.step,
            levels: levels.collect(),
            memory: self.machine.memory().image(previous.map(|previous| &previous.memory)),
            fuel: self.machine.shared.fuel.left(),
        })
    }

    /// Goes back (or on) to a snapshot of this call. Traps if the host has no memory for it; then the call is where it was.
    ///
    /// # Panics
    /// May panic if the snapshot is another call's.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Result<(), Trap> {
        // SAFETY: frame memory lies in the stacks of levels, which keep them; arrays and globals stay while the call
        // lasts; nothing else runs.
        unsafe { self.machine.memory().restore(&snapshot.memory)? };
        for thread in &mut self.levels {
            thread.release_fuel();
            (thread.task, thread.trap, thread.waits_for, thread.took_in) = (None, None, None, false);
            thread.launched.clear();
        }
        self.machine.shared.fuel.start(snapshot.fuel);
        let mut task = None;
        for (thread, image) in self.levels.iter_mut().zip(&snapshot.levels) {
            thread.task = task;
            // SAFETY: it is the thread that the image was made of, and has the stack it had.
            unsafe { image.put(thread) };
            task = image.launched.as_ref().map(|launched| launched.put(thread));
        }
        (self.top, self.step) = (snapshot.levels.len() - 1, snapshot.step);
        (self.position, self.end) = (snapshot.position, None);
        Ok(())
    }
}

impl Drop for Stepping<'_> {
    fn drop(&mut self) {
        let mut levels = self.levels.drain(..).map(|mut thread| {
            thread.release_fuel();
            thread.leave_memory_accesses();
            thread.reset();
            (thread.task, thread.trap, thread.observed, thread.took_in) = (None, None, false, false);
            thread
        });
        if let Some(mut first) = levels.next() {
            first.strip();
            self.machine.thread = *first;
        }
        levels.for_each(|thread| self.machine.shared.keep(thread));
        self.machine.shared.release_stacks();
    }
}

/// A look at a thread that is to execute a step.
fn view_at(thread: &Thread, step: *const Step) -> View<'_> {
    // SAFETY: `function` is the function that executes.
    let executing: &PreparedFunction = unsafe { &*thread.function };
    View { thread, function: executing.id, pc: executing.pc(step) }
}

impl LevelImage {
    fn of(thread: &Thread, above: Option<&Thread>, previous: Option<&Pages>) -> LevelImage {
        // SAFETY: `function` is the function that executes.
        let registers = unsafe { (*thread.function).memory_at };
        let start = thread.stack.start();
        let len = thread.base as usize - start as usize + registers;
        let launched = thread.launched.last().zip(above.and_then(|above| above.task.as_ref()));
        LevelImage {
            // SAFETY: frames up to the executing one lie in the stack, one behind the other.
            registers: unsafe { Pages::copy(start, len, previous) },
            base: thread.base,
            mask: thread.mask,
            function: thread.function,
            masks: thread.masks.as_slice().into(),
            floor: thread.floor,
            region: thread.region,
            frames: thread.frames.as_slice().into(),
            resume: thread.resume,
            launched: launched.map(|(launched, task)| LaunchImage {
                function: launched.group.function,
                counts: launched.group.counts,
                args: launched.group.args.clone(),
                task: task.index,
                depth: launched.depth,
                step: launched.step,
            }),
        }
    }

    /// Makes a thread what it was.
    ///
    /// # Safety
    /// The thread has the stack it had then.
    unsafe fn put(&self, thread: &mut Thread) {
        // SAFETY: the caller's promise.
        unsafe { self.registers.put(thread.stack.start()) };
        (thread.base, thread.mask, thread.function) = (self.base, self.mask, self.function);
        (thread.floor, thread.region, thread.resume) = (self.floor, self.region, self.resume);
        thread.masks.clear();
        thread.masks.extend_from_slice(&self.masks);
        // SAFETY: `function` points into the code that the thread holds.
        thread.masks.reserve(unsafe { (*self.function).mask_depth });
        thread.frames.clear();
        thread.frames.extend_from_slice(&self.frames);
    }
}

impl LaunchImage {
    /// Makes the group that a thread waits for; gives the task of it that executes.
    fn put(&self, thread: &mut Thread) -> Task {
        let total = self.counts.into_iter().fold(1u64, |n, count| n.saturating_mul(count as u64));
        let launching = Launching { function: self.function, counts: self.counts, total, args: self.args.clone() };
        // Its depth is that of the launch, where the thread is.
        let group = Arc::new(Group::resumed(launching, thread, self.task));
        thread.launched.push(Launched { group: Arc::clone(&group), depth: self.depth, step: self.step });
        thread.waits_for = Some(Arc::clone(&group));
        Task { group, index: self.task }
    }
}
