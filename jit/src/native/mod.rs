//! What native code of every back end calls, and how its operands lie in memory for that.
//!
//! Instructions without machine code of their own, and memory accesses whose checks are not worth being inlined, are executed by
//! [`runtime`]: operands lie one after another in *scratch memory* of the caller, as [`General`] and [`Checked`] say, and so
//! will the result.

mod checked;
mod general;
pub(crate) mod runtime;

pub(crate) use checked::{BASE_AT, Checked};
pub(crate) use general::General;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Something that code refers to by its address.
pub(crate) type Held = Arc<dyn std::any::Any + Send + Sync>;

/// Says that runs of a draft are to end at their next poll.
pub(crate) type Retired = Arc<AtomicBool>;
