//! What all threads of a machine share.

use super::code::Code;
use super::crew::Crew;
use super::fuel::Fuel;
use super::host::HostTable;
use super::machine::{Limits, MAX_THREADS};
use super::stack::Refused;
use super::thread::Thread;
use crate::memory::Memory;
use crate::sync::Mutex;
use std::any::Any;
use std::sync::{Arc, OnceLock, PoisonError};
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
    pub crew: Crew,
    /// What the host provides, once it has said so; machines that are nested have the same.
    pub hosts: Arc<OnceLock<HostTable>>,
    /// How many machines wait for this one: each called a function of the host that called the program.
    pub nesting: u32,
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
            threads: limits.threads.clamp(1, MAX_THREADS),
            crew: Crew::default(),
            hosts: Arc::default(),
            nesting: 0,
            idle: Mutex::default(),
            panic: Mutex::default(),
        }
    }

    /// Prints a text, undivided.
    pub fn print(&self, text: &str) {
        (self.output.lock().unwrap_or_else(PoisonError::into_inner))(text);
    }

    /// A thread for a task, with stacks, unless the host has no memory for them.
    pub fn idle_thread(self: &Arc<Self>) -> Result<Box<Thread>, Refused> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut thread = idle.unwrap_or_else(|| Box::new(Thread::new(Arc::clone(self))));
        match thread.equip() {
            Ok(()) => Ok(thread),
            Err(refused) => {
                self.keep(thread);
                Err(refused)
            }
        }
    }

    /// A call has ended, and all of its tasks: their stacks are for others. Not earlier: what tasks that race do to the
    /// variables of one that has ended must not reach another machine's.
    pub fn release_stacks(&self) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.iter_mut().for_each(|thread| thread.strip());
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
