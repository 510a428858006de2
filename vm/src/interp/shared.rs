//! What all threads of a machine share.

use super::code::Code;
use super::fuel::Fuel;
use super::machine::Limits;
use super::thread::Thread;
use super::workers;
use crate::memory::Memory;
use rayon_core::ThreadPool;
use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Instant;

/// Where `print` goes.
pub(crate) type Sink = Box<dyn FnMut(&str) + Send>;

/// What all threads of a machine share: the one of its calls, and those of tasks.
pub(crate) struct Shared {
    pub code: Arc<Code>,
    pub memory: Arc<Memory>,
    pub fuel: Fuel,
    pub output: Mutex<Sink>,
    /// Where the clock begins.
    pub epoch: Instant,
    pub stack_bytes: usize,
    pub max_depth: usize,
    /// Threads of the host that run tasks; with one, the calling thread does.
    pub threads: usize,
    pool: OnceLock<Option<Arc<ThreadPool>>>,
    /// Threads of finished tasks. Each holds this structure, so whoever owns the machine clears them in the end.
    #[allow(clippy::vec_box, reason = "threads are parked and taken up again in their boxes")]
    pub idle: Mutex<Vec<Box<Thread>>>,
    /// A panic of the host's code in a task, to go on in the calling thread.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Shared {
    pub fn new(code: Arc<Code>, memory: Arc<Memory>, limits: &Limits) -> Shared {
        Shared {
            code,
            memory,
            fuel: Fuel::default(),
            output: Mutex::new(Box::new(|text| print!("{text}"))),
            epoch: Instant::now(),
            stack_bytes: limits.stack,
            max_depth: limits.depth,
            threads: limits.threads.max(1),
            pool: OnceLock::new(),
            idle: Mutex::default(),
            panic: Mutex::default(),
        }
    }

    /// The pool that runs tasks, if there is to be more than one thread (and the host gives them).
    pub fn pool(&self) -> Option<&Arc<ThreadPool>> {
        let start = || (self.threads > 1).then(|| workers::pool(self.threads)).flatten();
        self.pool.get_or_init(start).as_ref()
    }

    /// Prints a text, undivided.
    pub fn print(&self, text: &str) {
        (self.output.lock().unwrap_or_else(PoisonError::into_inner))(text);
    }

    /// A thread for a task; `None` if the host has no memory for its stack.
    pub fn idle_thread(self: &Arc<Self>) -> Option<Box<Thread>> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.or_else(|| Thread::new(Arc::clone(self)).map(Box::new))
    }

    /// Keeps a thread whose task is done.
    pub fn keep(&self, thread: Box<Thread>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
    }

    /// Keeps the first panic.
    pub fn keep_panic(&self, payload: Box<dyn Any + Send>) {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(payload);
    }

    /// The panic that was kept.
    pub fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        self.panic.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
