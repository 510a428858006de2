//! The tasks of one launch.
//!
//! Tasks are taken in the order of their indices, of many of them several at a time, by whoever needs one. So when a task
//! fails, all tasks before it have been taken: they run to their end, those behind it are stopped, and the failure with the
//! lowest index is the one that running the tasks one after another would have met. Which it is does not depend on the
//! number of threads.

use super::code::PreparedFunction;
use super::shared::Shared;
use super::thread::{Polls, Thread};
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Condvar, Mutex, MutexGuard};
use crate::trap::Trap;
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

/// The tasks of one launch.
pub(crate) struct Group {
    pub shared: Arc<Shared>,
    pub function: *const PreparedFunction,
    /// Number of tasks in each dimension.
    pub counts: [u32; 3],
    /// The bytes of the argument registers behind the indices and counts, one after another.
    pub args: Box<[u8]>,
    /// The task that launched them, if a task did.
    pub parent: Option<Task>,
    /// How many launches lie around this one.
    pub nesting: u32,
    /// Number of calls around a task, for who counts them across launches.
    pub depth: usize,
    pub polls: Polls,
    /// The number of the launch in the activity of the call, if it has one.
    pub launch: u64,
    /// Whether other threads may take part.
    pub parallel: bool,
    state: Mutex<State>,
    /// Told when the group is done.
    finished: Condvar,
    /// No task from this index on is started or goes on.
    end: AtomicU64,
    done: AtomicBool,
}

// SAFETY: `function` points into `shared.code`, which does not change.
unsafe impl Send for Group {}
// SAFETY: as above; all that changes is atomic or behind a lock.
unsafe impl Sync for Group {}

struct State {
    next: u64,
    running: u64,
    failure: Option<Failure>,
    /// The task that waits for the group.
    waiter: Option<Box<Thread>>,
}

/// Why a group failed: the failing task with the lowest index.
pub(crate) struct Failure {
    pub index: u64,
    pub trap: Box<Trap>,
}

/// A task: one of a group.
#[derive(Clone)]
pub(crate) struct Task {
    pub group: Arc<Group>,
    pub index: u64,
}

impl Task {
    /// Returns whether the task, or one that it belongs to, is to end now because another has failed.
    pub fn is_stopped(&self) -> bool {
        self.index >= self.group.end.load(Ordering::Relaxed) || self.group.is_stopped()
    }
}

/// Of so many tasks that are left a thread takes one at a time: others are to have as many.
const TAKEN_OF: u64 = 64;

/// Most tasks that it takes at a time.
const MOST_TAKEN: u64 = 16;

/// What [`Group::take`] gives.
pub(crate) enum Next {
    /// A task to start.
    Task(u64),
    /// Nothing more to start. If that ended the group, who waited for it can go on.
    Nothing(Option<Box<Thread>>),
}

/// What is given to make a [`Group`].
pub(crate) struct Launching {
    pub function: *const PreparedFunction,
    pub counts: [u32; 3],
    pub total: u64,
    pub args: Box<[u8]>,
}

impl Group {
    /// The tasks that a thread launches.
    pub fn new(launching: Launching, by: &Thread) -> Group {
        let Launching { function, counts, total, args } = launching;
        Group {
            shared: Arc::clone(&by.shared),
            function,
            counts,
            args,
            parent: by.task.clone(),
            nesting: by.nesting() + 1,
            depth: by.depth() + 1,
            polls: by.polls.clone(),
            launch: by.polls.activity.as_ref().map_or(0, |activity| activity.launch(total)),
            parallel: by.parallel,
            state: Mutex::new(State { next: 0, running: 0, failure: None, waiter: None }),
            finished: Condvar::new(),
            end: AtomicU64::new(total),
            done: AtomicBool::new(total == 0),
        }
    }

    /// The tasks that a thread has launched, of which all before this one have ended and this one executes.
    pub fn resumed(launching: Launching, by: &Thread, task: u64) -> Group {
        let group = Group::new(launching, by);
        {
            let mut state = group.state();
            (state.next, state.running) = (task + 1, 1);
        }
        group
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether every task has ended.
    pub fn is_done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    /// Returns whether every task has ended, and none has failed.
    pub fn is_done_well(&self) -> bool {
        self.is_done() && self.state().failure.is_none()
    }

    fn is_stopped(&self) -> bool {
        self.parent.as_ref().is_some_and(Task::is_stopped)
    }

    /// Takes the next task to be started.
    pub fn take(&self) -> Next {
        let mut state = self.state();
        if self.is_stopped() {
            self.end.store(0, Ordering::Relaxed);
        }
        if state.next < self.end.load(Ordering::Relaxed) {
            state.next += 1;
            state.running += 1;
            return Next::Task(state.next - 1);
        }
        Next::Nothing(self.check_done(&mut state))
    }

    /// A task has ended well: takes the next one to be started, of those that its thread has `taken` or of more, of which it takes some
    /// to be run one after another. Without one, the task still counts as running.
    ///
    /// A lock waits until all that the task has stored is in memory, which may take longer than a short task.
    pub fn take_next(&self, taken: &mut Range<u64>) -> Option<u64> {
        let is_left = |index: u64| index < self.end.load(Ordering::Relaxed) && !self.is_stopped();
        if taken.is_empty() {
            let mut state = self.state();
            let left = self.end.load(Ordering::Relaxed).saturating_sub(state.next);
            let next = state.next + (left / TAKEN_OF).clamp(1, MOST_TAKEN).min(left);
            *taken = std::mem::replace(&mut state.next, next)..next;
        }
        // What is not taken now is stopped, as all that follows.
        taken.next().filter(|&index| is_left(index))
    }

    /// A task has ended; gives who waited for the group, if it was the last.
    pub fn finish(&self, index: u64, trap: Option<Box<Trap>>) -> Option<Box<Thread>> {
        let mut state = self.state();
        state.running -= 1;
        if let Some(trap) = trap {
            self.end.fetch_min(index + 1, Ordering::Relaxed);
            if state.failure.as_ref().is_none_or(|failure| index < failure.index) {
                state.failure = Some(Failure { index, trap });
            }
        }
        self.check_done(&mut state)
    }

    fn check_done(&self, state: &mut State) -> Option<Box<Thread>> {
        if state.running != 0 || state.next < self.end.load(Ordering::Relaxed) {
            return None;
        }
        self.done.store(true, Ordering::Release);
        self.finished.notify_all();
        state.waiter.take()
    }

    /// Stops all tasks: what they do is of no interest any more.
    pub fn stop(&self) {
        let mut state = self.state();
        self.end.store(0, Ordering::Relaxed);
        let waiter = self.check_done(&mut state);
        debug_assert!(waiter.is_none(), "who launched a group stops it, and so does not wait for it");
    }

    /// Leaves a task here until the group is done; gives it back if it is.
    pub fn park(&self, thread: Box<Thread>) -> Option<Box<Thread>> {
        let mut state = self.state();
        if self.is_done() {
            return Some(thread);
        }
        state.waiter = Some(thread);
        None
    }

    /// Waits, blocking, until the group is done, but no longer than this. Returns whether it is done. For the thread of
    /// the host that made the call.
    pub fn wait(&self, longest: Duration) -> bool {
        let running = |_: &mut State| !self.is_done();
        let waited = self.finished.wait_timeout_while(self.state(), longest, running);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        self.is_done()
    }

    /// The failure of a group that is done.
    pub fn take_failure(&self) -> Option<Failure> {
        self.state().failure.take()
    }

    /// The three indices of a task.
    pub fn indices(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.counts;
        if let Ok(index) = u32::try_from(index) {
            // Divisions take as long as a short task, those of 64 bits several times as long.
            let row = if index < x { 0 } else { index / x };
            let plane = if row < y { 0 } else { row / y };
            return [index - row * x, row - plane * y, plane];
        }
        let [x, y] = [x, y].map(u64::from);
        [index % x, index / x % y, index / x / y].map(|i| i as u32)
    }
}
