//! Traces: what a run does, instruction by instruction, as a stream of events (`docs/trace.md`).
//!
//! [`record`] calls a function and makes an [`Event`] of all that happens ([`event`]); events go to a [`Sink`] as they come, so that a
//! trace of any length needs no memory: lines of JSON ([`JsonLines`], in a [`TraceFile`]), a [`Table`], or memory ([`Kept`]).
//! [`Filter`], [`UpTo`] and [`Last`] are sinks that hand on a part of what they get. A [`Reader`] gives the events of a file
//! again, and [`diff()`] finds where two traces first differ.

pub mod diff;
pub mod event;
mod file;
mod filter;
mod lines;
mod reader;
mod recorder;
mod sink;
mod table;

pub use diff::{Difference, diff};
pub use event::{Event, Header};
pub use file::{TraceFile, decompressed, open};
pub use filter::{Filter, Until, UpTo, Wanted, in_source, is_named};
pub use reader::{PlayError, ReadError, ReadErrorKind, Reader};
pub use recorder::{Recorded, record};
pub use sink::{JsonLines, Kept, Last, Sink};
pub use table::{Shown, Table, row};
