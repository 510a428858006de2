//! Locks, atomics and threads, as all that several threads share uses them: the standard library's, or those of the
//! model checker `shuttle`, by which tests run such code in thousands of orders (feature `shuttle`, `tests/model.rs`).

#[cfg(not(feature = "shuttle"))]
pub(crate) use std::{
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread, thread_local,
};

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::{
    sync::{Condvar, Mutex, MutexGuard, atomic},
    thread, thread_local,
};

/// Whether the code is run by the model checker: then nothing may outlast an execution, and the clock does not count.
pub(crate) const MODELLED: bool = cfg!(feature = "shuttle");
