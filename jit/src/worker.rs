//! The thread that compiles while programs run.
//!
//! One per process, started at the first job, never joined: it holds no resource that must be put back, and what it has not
//! finished when the process ends nobody needs. A forked child has no such thread, so it starts one of its own.
//!
//! What somebody waits for comes before what only makes something better, and of either what was asked for last: that is what runs
//! now, where other loops may have ended.

use crate::sync::{self, MODELLED};
use std::process;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;

/// What the thread does.
pub type Job = Box<dyn FnOnce() + Send>;

/// How soon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Before all that waits.
    Soon,
    /// When nothing else waits.
    Idle,
}

/// The process that started the thread, and where its jobs go.
type Worker = (u32, Sender<(When, Job)>);

static WORKER: Mutex<Option<Worker>> = Mutex::new(None);

/// Runs a job later, on the thread for that. If there can be none, gives the job back: who holds a lock that the job takes cannot run it
/// there and then.
pub fn run(when: When, job: Job) -> Result<(), Job> {
    if MODELLED {
        drop(sync::thread::spawn(job));
        return Ok(());
    }
    let Some(mut worker) = lock() else { return Err(job) };
    if worker.as_ref().is_none_or(|(process, _)| *process != process::id()) {
        *worker = start();
    }
    match &*worker {
        Some((_, jobs)) => jobs.send((when, job)).map_err(|e| e.0.1),
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

fn work(queue: &Receiver<(When, Job)>) {
    let (mut soon, mut idle) = (Vec::new(), Vec::new());
    let mut take = |first: Option<(When, Job)>| {
        for (when, job) in first.into_iter().chain(queue.try_iter()) {
            if when == When::Soon { soon.push(job) } else { idle.push(job) }
        }
        soon.pop().or_else(|| idle.pop())
    };
    while let Ok(first) = queue.recv() {
        let mut next = take(Some(first));
        while let Some(job) = next {
            job();
            next = take(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As in a child that was forked in the wrong moment, or while a starved thread holds the lock.
    #[test]
    fn jobs_that_cannot_be_handed_over_come_back() {
        let held = lock().expect("nobody holds it for long");
        let (done, ran) = channel();
        let job: Job = Box::new(move || done.send(()).unwrap());
        let left = std::thread::scope(|scope| scope.spawn(|| run(When::Soon, job)).join().unwrap());
        assert!(ran.try_recv().is_err(), "whoever asked may hold a lock that the job takes");
        drop(held);
        left.expect_err("there was no way to hand it over")();
        assert!(ran.try_recv().is_ok());
    }

    #[test]
    fn what_is_waited_for_comes_first_and_the_newest_of_it() {
        let ((jobs, queue), (done, order)) = (channel(), channel());
        let add = |when, name: &'static str| {
            let done = done.clone();
            let job: Job = Box::new(move || done.send(name).unwrap());
            jobs.send((when, job)).unwrap();
        };
        for (when, name) in [(When::Idle, "f"), (When::Soon, "c"), (When::Idle, "e"), (When::Soon, "b")] {
            add(when, name);
        }
        let more = jobs.clone();
        let (late, done) = (done.clone(), done.clone());
        // One that brings another.
        jobs.send((
            When::Soon,
            Box::new(move || {
                done.send("a").unwrap();
                more.send((When::Idle, Box::new(move || late.send("d").unwrap()))).unwrap();
            }),
        ))
        .unwrap();
        drop(jobs);
        work(&queue);
        assert_eq!(order.try_iter().collect::<String>(), "abcdef");
    }
}
