//! The reference interpreter.
//!
//! [`PreparedProgram`] is a verified program made ready: `prepare` lays out the frames of functions and turns every
//! instruction into a `Step` (`code`) with the address of its handler. [`Machine`] runs it: `thread` is the state of a
//! run, and the loop in `machine` does nothing but call handlers. These are, by what the operation does:
//!
//! | module | operations |
//! |---|---|
//! | `elementwise` | rows with a scalar meaning, and reductions; generated from the table |
//! | `special` | which handler a special operation has, of those below |
//! | `moves` | moves, selections, conversions, lanes, votes, addresses |
//! | `memory_ops`, on `access` | loads and stores |
//! | `bulk`, on `pieces` | copies, fills, allocations, atomic operations |
//! | `masks`, `control` | the mask stack, jumps; calls |
//! | `launch` | launching tasks and waiting for them |
//! | `effects` | printing, assertions, the clock |
//! | `native`, on `hot_count` | the seam to a JIT: hot loops, and the state that native code works on |
//!
//! Tasks (`docs/internals/interpreter.md`) are `Thread`s too: `group` is what one launch made, `runner` runs its tasks and
//! those they launch in turn, `crew` are the threads that do for a machine, `workers` all threads of the host that do,
//! `shared` and `fuel` what all threads of a machine share. `stepping` executes a call as far as the host asks, and sets it back.
//!
//! # Why it is safe
//!
//! Handlers are `unsafe`: they trust the offsets in their step. The verifier proves what they trust (types, shapes,
//! register and label ranges, definite assignment), `prepare` translates nothing else, and only the loop in `machine`
//! calls them. Memory of programs is reached only through `vm::memory`, after a check.

// Loops over the lanes of a block are written with an index: so they read alike, whether one array or four take part.
#![allow(clippy::needless_range_loop)]

mod access;
mod bulk;
mod code;
mod control;
mod crew;
mod effects;
mod elementwise;
#[cfg(feature = "planted-faults")]
pub mod faults;
mod fpenv;
mod fuel;
mod group;
mod host;
mod hot_count;
pub(crate) mod lanes;
mod launch;
pub(crate) mod locations;
mod machine;
mod masks;
mod memory_ops;
mod moves;
pub mod native;
mod pieces;
mod prepare;
mod runner;
mod shared;
mod special;
mod stack;
mod stepping;
mod thread;
pub(crate) mod value;
mod workers;

#[cfg(test)]
mod tests;

pub use code::PreparedProgram;
pub(crate) use code::Step;
pub use host::{HostCall, HostCallee, HostResult, HostTable};
pub(crate) use lanes::MAX_LANES;
pub use machine::{Limits, MAX_THREADS, Machine, Results};
pub use masks::EntryKind;
pub(crate) use masks::MaskEntry;
pub use stepping::{Snapshot, Stepping};
pub(crate) use thread::Thread;
pub use thread::Watch;
pub use value::{Arg, LaneValues};
