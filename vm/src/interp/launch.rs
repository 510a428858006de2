//! Handlers of `launch` and `sync`, and what a thread knows of the tasks it has launched.

use super::code::{CallSite, PreparedFunction, Step};
use super::crew;
use super::elementwise::Kernel;
use super::group::{Failure, Group, Launching};
use super::lanes::get;
use super::thread::Thread;
use crate::program::{FuncId, LAUNCH_COUNTS};
use crate::trap::{TrapDetail, TrapKind};
use std::ptr::null;
use std::sync::Arc;

/// How deep launches may nest.
const MAX_NESTING: u32 = 256;

/// How many groups of tasks a thread may have launched without waiting for them.
const MAX_LAUNCHED: usize = 1024;

/// A group of tasks that a call has launched and not yet waited for.
pub(crate) struct Launched {
    pub group: Arc<Group>,
    /// Number of calls around the one that launched it.
    pub depth: usize,
    /// The launch.
    pub step: *const Step,
}

/// Launches a group of tasks.
///
/// # Safety
/// The contract of handlers; the task's parameters are what the site passes.
unsafe fn launch(t: &mut Thread, step: *const Step, site: &CallSite, function: *const PreparedFunction) -> *const Step {
    // SAFETY: the first arguments are uniform `i32`; the step is not the function's last.
    let (counts, next) = unsafe {
        let count = |i: usize| get::<i32>(t.reg(site.args[i].at)).max(0) as u32;
        ([count(0), count(1), count(2)], step.add(1))
    };
    let total = counts.into_iter().fold(1u64, |n, count| n.saturating_mul(count as u64));
    if total == 0 {
        return next;
    }
    if t.in_native && !t.may_launch_in_native() {
        return null();
    }
    if t.nesting() >= MAX_NESTING {
        return t.raise(step, TrapKind::StackOverflow, None, TrapDetail::Limit(MAX_NESTING as u64));
    }
    // SAFETY: the arguments are registers of the executing frame.
    let args = unsafe { copy_args(t, site) };
    let group = Arc::new(Group::new(Launching { function, counts, total, args }, t));
    t.launched.push(Launched { group: Arc::clone(&group), depth: t.frames.len(), step });
    if !t.parallel {
        return t.wait_for(group, next);
    }
    if !t.memory.is_shared() {
        t.memory.share();
        t.memory.enter(&t.reader);
    }
    crew::offer(&t.shared, &group, total.min(t.shared.threads as u64) as usize);
    if t.launched.len() > MAX_LAUNCHED {
        let first = Arc::clone(&t.launched[0].group);
        return t.wait_for(first, next);
    }
    next
}

/// The bytes of the arguments behind the counts.
///
/// # Safety
/// The arguments are registers of the executing frame.
unsafe fn copy_args(t: &Thread, site: &CallSite) -> Box<[u8]> {
    let mut bytes = Vec::new();
    for place in &site.args[LAUNCH_COUNTS..] {
        // SAFETY: the caller's promise; registers are initialised memory.
        bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(t.reg(place.at), place.size as usize) });
    }
    bytes.into()
}

/// `launch`
pub(crate) struct Launch;

impl Kernel for Launch {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers. `aux` is a call site of the function; the verifier matched signatures.
        unsafe {
            let site: *const CallSite = &(&(*t.function).calls)[(*step).aux as usize];
            let function: *const PreparedFunction = t.code.function(FuncId((*site).callee));
            launch(t, step, &*site, function)
        }
    }
}

/// `launch.ind`
pub(crate) struct LaunchIndirect;

impl Kernel for LaunchIndirect {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; signature and kind are compared here.
        unsafe {
            let site: *const CallSite = &(&(*t.function).calls)[(*step).aux as usize];
            let value = get::<u64>(t.reg((*step).a));
            let index = usize::try_from(value.wrapping_sub(1)).unwrap_or(usize::MAX);
            let is_task = t.code.program.functions.get(index).is_some_and(|f| f.is_task);
            let task = t.code.function_at(index).filter(|f| is_task && f.signature == (*site).signature);
            match task.map(|f| f as *const PreparedFunction) {
                Some(function) => launch(t, step, &*site, function),
                None => t.raise(step, TrapKind::BadFunction, None, TrapDetail::Pointer(value)),
            }
        }
    }
}

/// `sync`
pub(crate) struct Sync;

impl Kernel for Sync {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let settled = if t.in_native { t.settle_in_native() } else { t.settle(step) };
        // SAFETY: a function's last instruction is a jump or `ret`.
        if settled { unsafe { step.add(1) } } else { null() }
    }
}

impl Thread {
    /// Pauses until a group is done, to go on at a step.
    fn wait_for(&mut self, group: Arc<Group>, resume: *const Step) -> *const Step {
        (self.waits_for, self.resume) = (Some(group), resume);
        null()
    }

    /// Returns whether a launch neither runs tasks, nor waits, nor is the first, behind which other threads access the memory:
    /// else native code leaves it to the interpreter.
    fn may_launch_in_native(&self) -> bool {
        self.parallel && self.memory.is_shared() && self.launched.len() < MAX_LAUNCHED
    }

    /// [`settle`](Self::settle), for native code: nothing has happened if the thread would pause or trap.
    fn settle_in_native(&mut self) -> bool {
        let depth = self.frames.len();
        let has_to_stop = || self.task.as_ref().is_some_and(|task| task.is_stopped());
        let own = |launched: &&Launched| launched.depth == depth;
        let mut groups = self.launched.iter().filter(own).peekable();
        if groups.peek().is_some() && (has_to_stop() || !groups.all(|launched| launched.group.is_done_well())) {
            return false;
        }
        self.launched.retain(|launched| launched.depth != depth);
        true
    }

    /// Returns whether the executing call has launched tasks that it has not waited for.
    #[inline]
    pub fn has_to_wait(&self) -> bool {
        !self.launched.is_empty() && self.launched.iter().any(|launched| launched.depth == self.frames.len())
    }

    /// Returns whether all tasks are done that the executing call has launched. If not, the thread pauses, to execute `step` again later;
    /// if one has failed, it traps.
    pub fn settle(&mut self, step: *const Step) -> bool {
        let depth = self.frames.len();
        while let Some(first) = self.launched.iter().position(|launched| launched.depth == depth) {
            let group = Arc::clone(&self.launched[first].group);
            self.resume = step;
            if !group.is_done() {
                self.waits_for = Some(group);
                return false;
            }
            if self.settle_group(&group).is_null() {
                return false;
            }
        }
        true
    }

    /// Takes note that a group is done: the step to go on at, or null if the group has failed and the thread traps.
    pub fn settle_group(&mut self, group: &Arc<Group>) -> *const Step {
        let at = self.launched.iter().position(|launched| Arc::ptr_eq(&launched.group, group));
        if let Some(launched) = at.map(|at| self.launched.remove(at))
            && let Some(failure) = launched.group.take_failure()
        {
            self.raise_failure(&launched, failure);
            return null();
        }
        // Tasks that were stopped because of another failure have not done their work.
        if self.task.as_ref().is_some_and(|task| task.is_stopped()) {
            let step = self.resume;
            return self.raise(step, TrapKind::Interrupted, None, TrapDetail::None);
        }
        self.resume
    }

    /// After a trap: waits for the tasks that are still running. If one of them fails too, the trap is what would have
    /// come first, had the tasks run at their launch.
    pub fn unwind(&mut self) -> Option<Arc<Group>> {
        while let Some(first) = self.launched.first() {
            if !first.group.is_done() {
                return Some(Arc::clone(&first.group));
            }
            let launched = self.launched.remove(0);
            if let Some(failure) = launched.group.take_failure().filter(|_| !self.failed_in_task) {
                self.raise_failure(&launched, failure);
            }
        }
        None
    }

    /// Traps with the failure of a task, as if it had come at its launch; what was launched later is stopped.
    fn raise_failure(&mut self, launched: &Launched, failure: Failure) {
        let Failure { mut trap, .. } = failure;
        trap.stack.extend(self.call_stack(launched.depth, launched.step));
        self.trap = Some(trap);
        self.failed_in_task = true;
        self.launched.iter().for_each(|later| later.group.stop());
    }
}
