//! What a call has done so far, told while it runs: loop rounds, tasks, and which thread ran which task when.
//!
//! A machine has an [`Activity`] only when its host asks for one ([`Machine::set_activity`](crate::Machine::set_activity)); without it
//! nothing is counted and no clock is read.

use crate::program::FuncId;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

/// Most stretches that are recorded; later ones are counted only.
const MAX_STRETCHES: usize = 1 << 20;

/// Counts what a call does, for its host and all of its threads.
pub struct Activity {
    began: Instant,
    rounds: AtomicU64,
    launches: AtomicU64,
    launched: AtomicU64,
    ended: AtomicU64,
    left_out: AtomicU64,
    stretches: Option<Mutex<Vec<Stretch>>>,
}

/// A time during which one thread ran one task. A task that waits for others is set aside, so it may have several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The number of the launch in this activity, from 0, in the order in which launches happened.
    pub launch: u64,
    /// The function that the task executes.
    pub function: FuncId,
    /// The task's index in its launch.
    pub task: u64,
    /// The thread of the host.
    pub thread: ThreadId,
    /// When it began, since the activity was made.
    pub begin: Duration,
    /// When it ended.
    pub end: Duration,
    /// Whether the task was over then, rather than waiting for tasks that it had launched.
    pub is_last: bool,
}

impl Activity {
    /// Counts from now on; with `records` it also keeps who ran which task when.
    pub fn new(records: bool) -> Activity {
        Activity {
            began: Instant::now(),
            rounds: AtomicU64::new(0),
            launches: AtomicU64::new(0),
            launched: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            left_out: AtomicU64::new(0),
            stretches: records.then(Mutex::default),
        }
    }

    /// Units of fuel that have been used, about: rounds of loops and calls. Threads tell it when they look whether they must end.
    pub fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }

    /// Tasks that have been launched, and those of them that have ended.
    pub fn tasks(&self) -> (u64, u64) {
        // In this order, so that never more have ended than were launched.
        let ended = self.ended.load(Ordering::Acquire);
        (self.launched.load(Ordering::Relaxed), ended)
    }

    /// What was recorded so far, by the time at which it ended, and how much was left out because it was too much.
    pub fn stretches(&self) -> (Vec<Stretch>, u64) {
        let kept = self.stretches.as_ref().map(|list| list.lock().unwrap_or_else(PoisonError::into_inner).clone());
        (kept.unwrap_or_default(), self.left_out.load(Ordering::Relaxed))
    }

    /// The time since it was made.
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    pub(crate) fn add_rounds(&self, more: u64) {
        self.rounds.fetch_add(more, Ordering::Relaxed);
    }

    /// A launch of so many tasks: its number.
    pub(crate) fn launch(&self, tasks: u64) -> u64 {
        self.launched.fetch_add(tasks, Ordering::Relaxed);
        self.launches.fetch_add(1, Ordering::Relaxed)
    }

    /// The calling thread has run a task since `begin`.
    pub(crate) fn ran(&self, launch: u64, function: FuncId, task: u64, begin: Duration, is_last: bool) {
        if is_last {
            self.ended.fetch_add(1, Ordering::Release);
        }
        let Some(stretches) = &self.stretches else { return };
        let end = self.now();
        let mut stretches = stretches.lock().unwrap_or_else(PoisonError::into_inner);
        if stretches.len() < MAX_STRETCHES {
            stretches.push(Stretch { launch, function, task, thread: thread::current().id(), begin, end, is_last });
        } else {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_was_launched_and_is_kept_only_where_that_is_asked_for() {
        for records in [false, true] {
            let activity = Activity::new(records);
            assert_eq!((activity.launch(3), activity.launch(1)), (0, 1));
            activity.add_rounds(5);
            let begin = activity.now();
            activity.ran(0, FuncId(7), 2, begin, false);
            activity.ran(0, FuncId(7), 2, begin, true);
            assert_eq!((activity.tasks(), activity.rounds()), ((4, 1), 5));
            let (stretches, left_out) = activity.stretches();
            let kept: Vec<_> = stretches.iter().map(|s| (s.launch, s.function, s.task, s.is_last)).collect();
            let all = [(0, FuncId(7), 2, false), (0, FuncId(7), 2, true)];
            assert_eq!((kept, left_out), (if records { all.to_vec() } else { Vec::new() }, 0));
            assert!(stretches.iter().all(|s| s.begin == begin && s.end >= begin && s.thread == thread::current().id()));
        }
    }
}
