//! The thread that compiles while programs run.
//!
//! One per process, started at the first job, never joined: it holds no resource that must be put back, and what it has not
//! finished when the process ends nobody needs. A forked child has no such thread, so it starts one of its own.
//!
//! What somebody waits for comes before what only makes something better, and of either what has been needed most of the time that it
//! waits. That is at first what was asked for last, which runs now, where other loops may have ended. Of the rest, what is hot in
//! truth is soon before the many places that were come to for a while only, until what they belong to was compiled.

use crate::sync::{self, MODELLED};
use std::process;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;
use std::time::Instant;

/// What the thread does.
pub type Job = Box<dyn FnOnce() + Send>;

/// How much a job has been needed up to now, counted from any moment: nanoseconds that were spent in what it takes the place of.
pub type Need = Box<dyn Fn() -> u64 + Send>;

/// Nanoseconds that the interpreter spends, about, between two times that a head is asked about. A job counts as needed for so long
/// when it begins to wait.
pub const ASKED: u64 = 25_000;

/// How soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before all that waits.
    Soon,
    /// When nothing else waits.
    Idle,
}

/// The process that started the thread, and where its jobs go.
type Worker = (u32, Sender<Waiting>);

/// A job that waits.
struct Waiting {
    when: When,
    since: Instant,
    /// How much it has been needed up to now, and had been by then.
    need: Need,
    before: u64,
    job: Job,
}

impl Waiting {
    fn new(when: When, need: Need, job: Job) -> Waiting {
        Waiting { when, since: Instant::now(), before: need(), need, job }
    }

    /// What part of the time that it waits it has been needed.
    fn urgency(&self, now: Instant) -> f64 {
        let needed = (self.need)().saturating_sub(self.before) + ASKED;
        needed as f64 / now.saturating_duration_since(self.since).as_nanos().max(1) as f64
    }
}

static WORKER: Mutex<Option<Worker>> = Mutex::new(None);

/// Runs a job later, on the thread for that. If there can be none, gives the job back: who holds a lock that the job takes cannot run it
/// there and then.
pub fn run(when: When, need: Need, job: Job) -> Result<(), Job> {
    if MODELLED {
        drop(sync::thread::spawn(job));
        return Ok(());
    }
    let Some(mut worker) = lock() else { return Err(job) };
    if worker.as_ref().is_none_or(|(process, _)| *process != process::id()) {
        *worker = start();
    }
    match &*worker {
        Some((_, jobs)) => jobs.send(Waiting::new(when, need, job)).map_err(|e| e.0.job),
        None => Err(job),
    }
}

/// The lock is held for a moment only, but a child may have been forked in that moment; then it is held for ever.
fn lock() -> Option<MutexGuard<'static, Option<Worker>>> {
    for _ in 0..10_000 {
        match WORKER.try_lock() {
            Ok(worker) => return Some(worker),
            Err(TryLockError::Poisoned(worker)) => return Some(worker.into_inner()),
            Err(TryLockError::WouldBlock) => thread::yield_now(),
        }
    }
    None
}

fn start() -> Option<Worker> {
    let (jobs, queue) = channel();
    thread::Builder::new().name("spmdvm-jit".into()).spawn(move || work(&queue)).ok()?;
    Some((process::id(), jobs))
}

fn work(queue: &Receiver<Waiting>) {
    let mut waiting = Vec::new();
    while let Ok(first) = queue.recv() {
        waiting.push(first);
        while !waiting.is_empty() {
            waiting.extend(queue.try_iter());
            let next = waiting.swap_remove(most_urgent(&waiting));
            (next.job)();
        }
    }
}

/// Which of those that wait, of which there are some, is to be done first.
fn most_urgent(waiting: &[Waiting]) -> usize {
    let now = Instant::now();
    let mut best = (0, false, 0.0);
    for (i, other) in waiting.iter().enumerate() {
        let (soon, urgency) = (other.when == When::Soon, other.urgency(now));
        if (soon, urgency) > (best.1, best.2) {
            best = (i, soon, urgency);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// As in a child that was forked in the wrong moment, or while a starved thread holds the lock.
    #[test]
    fn jobs_that_cannot_be_handed_over_come_back() {
        let held = lock().expect("nobody holds it for long");
        let (done, ran) = channel();
        let job: Job = Box::new(move || done.send(()).unwrap());
        let left = std::thread::scope(|scope| scope.spawn(|| run(When::Soon, Box::new(|| 0), job)).join().unwrap());
        assert!(ran.try_recv().is_err(), "whoever asked may hold a lock that the job takes");
        drop(held);
        left.expect_err("there was no way to hand it over")();
        assert!(ran.try_recv().is_ok());
    }

    /// A job that waits, and says its name.
    fn waits(when: When, need: Need, name: &'static str, done: &Sender<&'static str>) -> Waiting {
        let done = done.clone();
        Waiting::new(when, need, Box::new(move || done.send(name).unwrap()))
    }

    #[test]
    fn what_is_waited_for_comes_first_and_the_newest_of_it() {
        let ((jobs, queue), (done, order)) = (channel(), channel());
        for (when, name) in [(When::Idle, "f"), (When::Soon, "c"), (When::Idle, "e"), (When::Soon, "b")] {
            jobs.send(waits(when, Box::new(|| 0), name, &done)).unwrap();
        }
        let more = jobs.clone();
        let late = done.clone();
        // One that brings another.
        let job = move || {
            late.send("a").unwrap();
            more.send(waits(When::Idle, Box::new(|| 0), "d", &late)).unwrap();
        };
        jobs.send(Waiting::new(When::Soon, Box::new(|| 0), Box::new(job))).unwrap();
        drop(jobs);
        work(&queue);
        assert_eq!(order.try_iter().collect::<String>(), "abcdef");
    }

    #[test]
    fn what_is_needed_most_of_the_time_comes_before_what_is_newer() {
        let ((jobs, queue), (done, order)) = (channel(), channel());
        let asked = Arc::new(AtomicU64::new(ASKED));
        let need = |times: u64| -> Need {
            let asked = Arc::clone(&asked);
            Box::new(move || times * asked.load(Ordering::Relaxed))
        };
        for (times, name) in [(1_000_000_000, "b"), (0, "c"), (2_000_000_000, "a")] {
            jobs.send(waits(When::Soon, need(times), name, &done)).unwrap();
        }
        // What came before it began to wait does not count.
        asked.fetch_add(ASKED, Ordering::Relaxed);
        jobs.send(waits(When::Idle, need(u64::MAX / (4 * ASKED)), "d", &done)).unwrap();
        drop(jobs);
        work(&queue);
        assert_eq!(order.try_iter().collect::<String>(), "abcd");
    }
}
