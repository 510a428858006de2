//! The machine: what hosts hold to run a program.

use super::code::{PreparedFunction, PreparedProgram, RegSlot, Step};
use super::control::{enter, fits};
use super::fpenv::DefaultEnvironment;
use super::host::HostTable;
use super::native;
use super::runner::{advance, run_steps, wait, work};
use super::shared::Shared;
use super::stack::Refused;
use super::thread::{Thread, Watch};
use super::value::{Arg, LaneValues, read_lanes, read_word, write_arg};
use crate::activity::Activity;
use crate::isa::Op;
use crate::memory::{Globals, Memory, RegionName, region_start};
use crate::observe::{Observer, View};
use crate::program::{FuncId, GlobalId, Program};
use crate::trap::{Trap, TrapDetail, TrapKind};
use crate::types::{Shape, Ty};
use std::panic::resume_unwind;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// What a machine may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Back-edges and calls of one [`Machine::call`], and every whole KiB that an instruction copies, fills, allocates,
    /// frees or prints, or that the local variables of a call take; `None`: no limit.
    pub fuel: Option<u64>,
    /// Time of one [`Machine::call`]; `None`: no limit. Checked at back-edges and calls, and in the middle of long
    /// copies and fills.
    pub timeout: Option<Duration>,
    /// Bytes of globals and allocations.
    pub memory: u64,
    /// Bytes of registers of call frames, and as many of their memory; of each task too. They are reserved while a call
    /// runs.
    pub stack: usize,
    /// Nesting of calls; of each task too.
    pub depth: usize,
    /// Threads of the host that run tasks; more than [`MAX_THREADS`] count as that many. With one, tasks run at their
    /// launch, in the order of their indices. Threads are made when there are tasks for them.
    pub threads: usize,
}

/// Most threads of the host that run tasks of a machine.
pub const MAX_THREADS: usize = 1024;

impl Default for Limits {
    fn default() -> Limits {
        Limits { fuel: None, timeout: None, memory: 4 << 30, stack: 64 << 20, depth: 1 << 16, threads: 1 }
    }
}

/// Runs the functions of one program, on memory of its own.
///
/// A machine keeps its globals and heap between calls. It may be moved between threads; machines of one
/// [`PreparedProgram`] share nothing but code, and their globals if they are made so.
///
/// ```
/// use spmdvm_vm::{Arg, FunctionBuilder, Limits, Machine, Op, Program, Shape, Ty, verify};
/// let mut b = FunctionBuilder::new("double");
/// let x = b.param(Shape::Varying, Ty::I32, "x");
/// let y = b.binary(Op::Add, Ty::I32, x, x);
/// b.result(y);
/// b.ret();
/// let program = Program { functions: vec![b.finish()], ..Program::default() };
/// let f = program.function("double").unwrap();
///
/// let mut machine = Machine::new(verify(program).unwrap(), Limits::default())?;
/// let results = machine.call(f, &[Arg::Words(&[1, 2, 3])], 0b111)?;
/// assert_eq!(results.word(0, 2), 6);
/// # Ok::<(), spmdvm_vm::Trap>(())
/// ```
pub struct Machine {
    prepared: PreparedProgram,
    pub(super) thread: Thread,
    pub(super) shared: Arc<Shared>,
    limits: Limits,
    /// Fuel that the last call began with.
    fuel: u64,
    /// The results of the last call.
    results: Vec<u64>,
}

impl Machine {
    /// A machine for a program ([`VerifiedProgram`](crate::VerifiedProgram) or [`PreparedProgram`]), with its globals
    /// initialised. Traps `out_of_memory` if they are too large. Prints go to standard output.
    pub fn new(program: impl Into<PreparedProgram>, limits: Limits) -> Result<Machine, Trap> {
        let prepared = program.into();
        let globals = Globals::new(prepared.program())?;
        Machine::with_globals(prepared, limits, Arc::new(globals))
    }

    /// A machine that shares its globals, which are those of the same program, with whoever else has them.
    ///
    /// # Panics
    /// May panic later if they are another program's.
    pub fn with_globals(prepared: PreparedProgram, limits: Limits, globals: Arc<Globals>) -> Result<Machine, Trap> {
        let code = Arc::clone(&prepared.0);
        let memory = Arc::new(Memory::new(&code.program, globals, limits.memory)?);
        Ok(Machine::of(prepared, Shared::new(code, memory, &limits), limits))
    }

    pub(super) fn of(prepared: PreparedProgram, shared: Shared, limits: Limits) -> Machine {
        let shared = Arc::new(shared);
        let thread = Thread::new(Arc::clone(&shared));
        Machine { prepared, thread, shared, limits, fuel: 0, results: Vec::new() }
    }

    /// Provides functions of the host, for good: a later call of this changes nothing.
    pub fn set_hosts(&mut self, hosts: HostTable) {
        let _ = self.shared.hosts.set(hosts);
    }

    /// The program.
    pub fn program(&self) -> &Program {
        self.prepared.program()
    }

    /// The prepared program, for more machines of the same program.
    pub fn prepared(&self) -> &PreparedProgram {
        &self.prepared
    }

    /// The machine's memory.
    pub fn memory(&self) -> &Memory {
        &self.thread.memory
    }

    /// The limits.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Changes fuel and time for the calls that follow.
    pub fn set_limits(&mut self, fuel: Option<u64>, timeout: Option<Duration>) {
        self.limits = Limits { fuel, timeout, ..self.limits };
    }

    /// Where prints go. A print is one call with all of its text; tasks take turns.
    pub fn set_output(&mut self, sink: impl FnMut(&str) + Send + 'static) {
        *self.shared.output.lock().unwrap_or_else(PoisonError::into_inner) = Box::new(sink);
    }

    /// Uses this flag to stop a running call: while it is true, the next back-edge or call traps `interrupted` (within
    /// about ten thousand of them). Whoever sets it clears it.
    pub fn set_interrupt(&mut self, flag: Arc<AtomicBool>) {
        self.thread.polls.interrupt = flag;
    }

    /// Calls a function before each look at that flag, on the thread that looks; and every few milliseconds while the
    /// thread of the call waits for tasks. It is for hosts that must keep up what raises the flag.
    pub fn set_watch(&mut self, watch: Option<Watch>) {
        self.thread.polls.watch = watch;
    }

    /// Has calls from now on counted in an activity, tasks and all; or in none, which costs nothing. Calls that functions of the
    /// host make from within are not counted.
    pub fn set_activity(&mut self, activity: Option<Arc<Activity>>) {
        self.thread.follow(activity);
    }

    /// The results of the last call, which was one of this function: if it trapped, what they were by then.
    pub fn last_results(&self, function: FuncId) -> Results<'_> {
        let f = self.prepared.0.function(function);
        assert_eq!(self.results.len(), f.results_bytes.div_ceil(8), "it is the function that was called last");
        Results { slots: &f.results_apart, base: self.results.as_ptr().cast(), lanes: self.thread.lanes }
    }

    /// The flag that stops a running call.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.thread.polls.interrupt)
    }

    /// Fuel that the last call used.
    pub fn fuel_used(&self) -> u64 {
        self.fuel - self.shared.fuel.left()
    }

    /// The pointer to a global.
    pub fn global(&self, id: GlobalId) -> u64 {
        region_start(id.0 + 1)
    }

    /// Lets an `extern` global be this memory of the host (its first byte, and its length in bytes), or nothing.
    ///
    /// # Safety
    /// The contract of [`Memory::map_host`], until the global is supplied anew or the machine is gone.
    ///
    /// # Panics
    /// If there is no such global.
    pub unsafe fn supply(&mut self, id: GlobalId, memory: Option<(*mut u8, usize)>) {
        // SAFETY: the caller's promise; `&mut self` means that no call, and so no task, is running.
        unsafe { self.thread.memory.supply(self.prepared.program(), id, memory) };
    }

    /// Makes host memory accessible to the program and gives the pointer to its first byte; see [`Memory::map_host`] and,
    /// for names in traps, [`Memory::name`].
    ///
    /// # Safety
    /// The contract of [`Memory::map_host`].
    pub unsafe fn map_host(&self, start: *mut u8, len: usize, writable: bool, name: RegionName) -> Result<u64, Trap> {
        // SAFETY: the caller's promise.
        unsafe { self.thread.memory.map_host(start, len, writable, name) }
    }

    /// Ends the mapping of a host array: pointers into it trap from now on.
    pub fn unmap(&self, pointer: u64) {
        self.thread.memory.unmap(pointer);
    }

    /// Calls a function with the lanes of `mask` active. Nothing executes if it is empty, and results are 0.
    ///
    /// After a trap the machine can be used as before; globals, heap and arrays keep what was written to them.
    ///
    /// # Panics
    /// If there is no such function, or there are more or fewer arguments than parameters.
    pub fn call(&mut self, function: FuncId, args: &[Arg<'_>], mask: u64) -> Result<Results<'_>, Trap> {
        let parallel = self.shared.threads > 1;
        self.run(function, args, mask, parallel, run_steps)
    }

    /// [`call`](Self::call) under the eyes of an observer. Tasks run at their launch, in the order of their indices.
    ///
    /// # Panics
    /// As [`call`](Self::call).
    pub fn call_observed(
        &mut self,
        function: FuncId,
        args: &[Arg<'_>],
        mask: u64,
        observer: &mut impl Observer,
    ) -> Result<Results<'_>, Trap> {
        self.run(function, args, mask, false, |thread, first| {
            thread.observed = true;
            if let Some(function) = thread.begins_at(first) {
                observer.entered(&View { thread, function, pc: 0 });
            }
            let mut step = first;
            while !step.is_null() {
                // SAFETY: `Thread::function` is the function that executes.
                let executing: &PreparedFunction = unsafe { &*thread.function };
                let (function, pc, depth) = (executing.id, executing.pc(step), thread.frames.len());
                let view = View { thread, function, pc };
                observer.before(&view);
                if view.inst().op == Op::Print {
                    thread.unset_lanes = observer.unset_lanes(&view);
                }
                // SAFETY: as in `run_steps`.
                step = unsafe { ((*step).handler)(thread, step) };
                if thread.trap.is_some() {
                    continue;
                }
                if thread.frames.len() == depth {
                    observer.after(&View { thread, function, pc });
                } else if let Some(function) = thread.entered(step) {
                    observer.entered(&View { thread, function, pc: 0 });
                }
            }
        })
    }

    fn run(
        &mut self,
        function: FuncId,
        args: &[Arg<'_>],
        mask: u64,
        parallel: bool,
        execute: impl FnMut(&mut Thread, *const Step),
    ) -> Result<Results<'_>, Trap> {
        let equipped = self.thread.equip();
        equipped.map_err(|Refused(bytes)| Trap::new(TrapKind::OutOfMemory, TrapDetail::Refused(bytes)))?;
        let ended = self.run_equipped(function, args, mask, parallel, execute);
        self.thread.strip();
        self.shared.release_stacks();
        if let Some(payload) = self.shared.take_panic() {
            resume_unwind(payload);
        }
        ended?;
        Ok(self.last_results(function))
    }

    /// Runs a function on a thread that has stacks, and takes its results out of its frame.
    fn run_equipped(
        &mut self,
        function: FuncId,
        args: &[Arg<'_>],
        mask: u64,
        parallel: bool,
        mut execute: impl FnMut(&mut Thread, *const Step),
    ) -> Result<(), Trap> {
        if !self.enter_call(function, args, mask, parallel)? {
            return Ok(());
        }
        let t = &mut self.thread;
        let base = t.base;
        run_to_end(t, &mut execute);
        let trap = t.trap.take();
        t.reset();
        self.shared.crew.clear();
        self.keep_results(function, base);
        trap.map_or(Ok(()), |trap| Err(*trap))
    }

    /// Makes a thread that has stacks ready to execute a function, from `Thread::resume` on. Returns whether anything is to be
    /// executed.
    pub(super) fn enter_call(
        &mut self,
        function: FuncId,
        args: &[Arg<'_>],
        mask: u64,
        parallel: bool,
    ) -> Result<bool, Trap> {
        let function: *const PreparedFunction = self.prepared.0.function(function);
        // SAFETY: it belongs to the prepared program, which the machine holds.
        let f = unsafe { &*function };
        assert_eq!(args.len(), f.params.len(), "one argument for every parameter");
        let t = &mut self.thread;
        t.reset();
        let base = t.base;
        if !fits(t, f, base) {
            let limit = TrapDetail::Limit(t.stack.bytes() as u64);
            return Err(Trap::new(TrapKind::StackOverflow, limit));
        }
        t.mask = mask & t.full;
        self.fuel = self.limits.fuel.unwrap_or(u64::MAX);
        self.shared.fuel.start(self.fuel);
        t.polls.deadline = self.limits.timeout.map(|time| Instant::now() + time);
        t.parallel = parallel;
        t.observed = false;
        self.results.clear();
        self.results.resize(f.results_bytes.div_ceil(8), 0);
        if t.mask == 0 {
            return Ok(false);
        }
        for (slot, arg) in f.params.iter().zip(args) {
            // SAFETY: parameters are registers of the frame, which fits.
            unsafe { write_arg(base, slot, t.lanes, arg) };
        }
        // SAFETY: the frame fits at `base`.
        t.resume = unsafe { enter(t, function, base) }?;
        native::note_entry(t);
        Ok(true)
    }

    /// Takes the results of a call out of its frame, the outermost one, which nothing has overwritten.
    pub(super) fn keep_results(&mut self, function: FuncId, base: *const u8) {
        let f = self.prepared.0.function(function);
        let to = self.results.as_mut_ptr().cast::<u8>();
        for (from, apart) in f.results.iter().zip(&f.results_apart) {
            // SAFETY: results are registers of the frame; there is room for all of them.
            unsafe {
                std::ptr::copy_nonoverlapping(base.add(from.at as usize), to.add(apart.at as usize), from.size as usize)
            };
        }
    }
}

/// Runs the thread of a call until it ends, with all tasks that it launches.
fn run_to_end(t: &mut Thread, execute: &mut impl FnMut(&mut Thread, *const Step)) {
    let _environment = DefaultEnvironment::enter();
    // Tasks may be running whose launch waits for the function of the host that calls.
    let is_nested = t.shared.nesting > 0;
    if is_nested {
        t.enter_memory_accesses();
    }
    while let Some(group) = advance(t, execute) {
        t.release_fuel();
        t.leave_memory_accesses();
        if t.parallel {
            wait(t, &group);
        } else {
            work(group, None, execute);
        }
        if !is_nested && t.launched.iter().all(|launched| launched.group.is_done()) {
            t.memory.unshare();
        }
        t.enter_memory_accesses();
    }
    t.release_fuel();
    t.leave_memory_accesses();
    t.tell_rounds();
    // What it launched it has waited for.
    if !is_nested {
        t.memory.unshare();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.shared.idle.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// The results of a call; they last until the next call.
pub struct Results<'m> {
    slots: &'m [RegSlot],
    base: *const u8,
    lanes: usize,
}

impl Results<'_> {
    /// Number of results.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether there is no result.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Element type of result `i`.
    pub fn ty(&self, i: usize) -> Ty {
        self.slots[i].ty
    }

    /// Shape of result `i`.
    pub fn shape(&self, i: usize) -> Shape {
        self.slots[i].shape
    }

    /// One lane of result `i` as a word; of a uniform result, its value.
    ///
    /// # Panics
    /// If there is no such result or lane.
    pub fn word(&self, i: usize, lane: usize) -> u64 {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        let slot = &self.slots[i];
        let lane = if slot.shape == Shape::Uniform { 0 } else { lane };
        // SAFETY: results have been copied to these slots, and nothing overwrites them while `self` borrows the
        // machine.
        unsafe { read_word(self.base.add(slot.at as usize), slot.ty, lane) }
    }

    /// The elements of result `i`, lane after lane, in the byte order of the machine.
    pub fn bytes(&self, i: usize) -> &[u8] {
        let slot = &self.slots[i];
        let n = if slot.shape == Shape::Uniform { 1 } else { self.lanes };
        // SAFETY: as in `word`; the register is at least this large, and its memory is initialised.
        unsafe { std::slice::from_raw_parts(self.base.add(slot.at as usize), n * slot.ty.size()) }
    }

    /// A copy of result `i`.
    pub fn lanes(&self, i: usize) -> LaneValues {
        // SAFETY: as in `word`.
        unsafe { read_lanes(self.base, &self.slots[i], self.lanes) }
    }

    /// Copies of all results.
    pub fn to_vec(&self) -> Vec<LaneValues> {
        (0..self.len()).map(|i| self.lanes(i)).collect()
    }
}
