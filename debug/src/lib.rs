//! The debugger: a run of a program that can be looked at, at any of its instructions, forwards and backwards.
//!
//! ```text
//! vm::Stepping ─► Recording ─► Session ─► Console ─► a terminal, a script, the shell
//!  (executes,     (positions,   (motions,    (commands
//!   snapshots)     checkpoints)  stops, data) and text)
//! ```
//!
//! [`recording`] sets a run to any of its positions, from the [`checkpoints`] that are kept. [`session`] is what front ends ask:
//! [`motion`]s, [`stops`], and what can be seen, as plain data: [`lines`] (of what a program was translated from, if there is a
//! [`translation`]), [`masks`], [`variables`] (where they are
//! [`assigned`], with the [`layout`] of values in memory), [`writes`] to memory. [`expr`] computes what users ask about
//! variables, [`why`] tells where values come from. [`console`] makes commands and texts of all that.

pub mod assigned;
pub mod checkpoints;
pub mod console;
pub mod expr;
pub mod layout;
pub mod lines;
pub mod masks;
pub mod motion;
pub mod recording;
pub mod session;
pub mod stops;
pub mod translation;
pub mod variables;
pub mod why;
pub mod writes;

pub use checkpoints::Limits;
pub use console::{Answer, Console};
pub use recording::{Failure, Recording, Signals};
pub use session::{Arrival, Session, Settings, State, open};
pub use translation::Translation;
