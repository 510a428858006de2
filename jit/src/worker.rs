//! The thread that compiles while programs run.
//!
//! One per process, started at the first job, never joined: it holds no resource that must be put back, and what it has not
//! finished when the process ends nobody needs. A forked child has no such thread, so it starts one of its own.

use std::process;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread;

/// What the thread does.
pub type Job = Box<dyn FnOnce() + Send>;

/// The process that started the thread, and where its jobs go.
type Worker = (u32, Sender<Job>);

static WORKER: Mutex<Option<Worker>> = Mutex::new(None);

/// Runs a job later; at once, on this thread, if there can be no other.
pub fn run(job: Job) {
    let Some(mut worker) = lock() else { return job() };
    if worker.as_ref().is_none_or(|(process, _)| *process != process::id()) {
        *worker = start();
    }
    let left = match &*worker {
        Some((_, jobs)) => jobs.send(job).err().map(|e| e.0),
        None => Some(job),
    };
    drop(worker);
    if let Some(job) = left {
        job();
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
    let (jobs, queue) = channel::<Job>();
    let work = move || queue.into_iter().for_each(|job| job());
    thread::Builder::new().name("spmdvm-jit".into()).spawn(work).ok()?;
    Some((process::id(), jobs))
}
