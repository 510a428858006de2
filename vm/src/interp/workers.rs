//! The threads of the host that run tasks: one pool for the process, shared by all machines.
//!
//! A thread is made when there is a job and no idle thread for it, and ends when there was none for a while. How many
//! run at once for a machine is the machine's affair ([`crew`](super::crew)).

use crate::sync::{MODELLED, thread, thread_local};
use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

/// What a thread of the pool does.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// How long a thread waits for another job.
const LINGER: Duration = Duration::from_secs(5);

struct Pool {
    /// The process that made its threads: after a `fork` the child has none of them.
    process: u32,
    jobs: VecDeque<Job>,
    idle: usize,
    /// How many threads have been made, for their names.
    made: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { process: 0, jobs: VecDeque::new(), idle: 0, made: 0 });

/// Told when there is a job.
static NEWS: Condvar = Condvar::new();

thread_local! {
    static INDEX: Cell<usize> = const { Cell::new(0) };
}

/// The number of the calling thread among those that run tasks for its machine; 0 elsewhere.
pub(crate) fn index() -> usize {
    INDEX.with(Cell::get)
}

/// Gives the calling thread its number.
pub(crate) fn set_index(index: usize) {
    INDEX.with(|own| own.set(index));
}

/// Has a thread of the pool do a job; `false` if the host gives none.
pub(crate) fn run(job: Job) -> bool {
    if MODELLED {
        drop(thread::spawn(job));
        return true;
    }
    let Some(mut pool) = lock_unless_forked() else { return false };
    if pool.process != process::id() {
        let own = Pool { process: process::id(), jobs: VecDeque::new(), idle: 0, made: 0 };
        // Jobs of the parent hold what the parent's threads would have worked on.
        std::mem::forget(std::mem::replace(&mut *pool, own));
    }
    let has_idle = pool.idle > pool.jobs.len();
    pool.jobs.push_back(job);
    if has_idle {
        drop(pool);
        NEWS.notify_one();
        return true;
    }
    let name = format!("spmdvm-task-{}", pool.made);
    let started = std::thread::Builder::new().name(name).spawn(work).is_ok();
    pool.made += usize::from(started);
    if !started {
        pool.jobs.pop_back();
    }
    started
}

/// The lock is held for a moment only, but a child may have been forked in that moment; then it is held for ever.
fn lock_unless_forked() -> Option<MutexGuard<'static, Pool>> {
    for _ in 0..10_000 {
        match POOL.try_lock() {
            Ok(pool) => return Some(pool),
            Err(TryLockError::Poisoned(pool)) => return Some(pool.into_inner()),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

fn work() {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        if let Some(job) = pool.jobs.pop_front() {
            drop(pool);
            // Tasks catch what panics in them; whatever else does is not to take the thread along.
            let _ = catch_unwind(AssertUnwindSafe(job));
            pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        pool.idle += 1;
        let none = |pool: &mut Pool| pool.jobs.is_empty();
        let waited = NEWS.wait_timeout_while(pool, LINGER, none).unwrap_or_else(PoisonError::into_inner);
        pool = waited.0;
        pool.idle -= 1;
        if pool.jobs.is_empty() {
            return;
        }
    }
}
