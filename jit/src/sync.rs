//! Locks, atomics and threads, as what several threads share of loops and their code uses them: the standard library's,
//! or those of the model checker `shuttle`, by which tests run such code in thousands of orders (feature `shuttle`,
//! `tests/model.rs`).

#[cfg(not(feature = "shuttle"))]
pub(crate) use std::{
    sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread,
};

#[cfg(feature = "shuttle")]
pub(crate) use shuttle::{
    sync::{Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, atomic},
    thread,
};

/// Whether the code is run by the model checker: then nothing may outlast an execution.
pub(crate) const MODELLED: bool = cfg!(feature = "shuttle");
