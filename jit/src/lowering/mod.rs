//! What every back end needs, once: what it asks about the values of a region, and what its code calls.
//!
//! | module | what |
//! |---|---|
//! | `values` | definitions, constants, masks that are known, and lanes that are known to be active |
//! | `layout` | the order of blocks |
//! | `demand` | who demands what, in which form |
//! | `exit_only`, `exit_masks` | what exits compute when they are taken, and how they make masks |
//! | `last_uses` | whether anything asks for a value behind an instruction |
//! | `snapshot` | what an exit writes and where; where a region finds what it is given |
//! | `ops` | operations of one kind, so that rules of selection are exhaustive |
//! | `bounds` | indices in bounds, in words |
//! | `gathers` | gathers that are translated together |
//! | `general`, `checked` | how operands lie in memory for the runtime |
//! | `runtime` | what code calls |
//!
//! Instructions without machine code of their own, and memory accesses whose checks are not worth being inlined, are executed by
//! [`runtime`]: operands lie one after another in *scratch memory* of the caller, as [`General`] and [`Checked`] say, and so
//! will the result.

mod bounds;
mod checked;
mod demand;
mod exit_masks;
mod exit_only;
mod gathers;
mod general;
mod last_uses;
mod layout;
mod ops;
pub(crate) mod runtime;
mod snapshot;
mod values;

pub(crate) use bounds::{ends, has_code};
pub(crate) use checked::{BASE_AT, Checked};
pub use demand::Forms;
pub(crate) use demand::{AddressSum, Demand};
pub(crate) use exit_masks::{MaskStep, mask_steps};
pub(crate) use gathers::{Gather, fits};
pub(crate) use general::General;
pub(crate) use last_uses::LastUses;
pub(crate) use layout::Layout;
pub use ops::Logic;
pub(crate) use ops::{BitCount, Bitwise, Comparison, Division, Extreme, Shift, step_of};
pub use snapshot::Area;
pub(crate) use snapshot::{ExitValue, ExitWrite, exit_writes, mask_word, visiting_word};
pub(crate) use values::{Definition, Values, is_index_arithmetic};

use crate::ir::{Edge, ExitId, Kind, Region};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Something that code refers to by its address.
pub type Held = Arc<dyn std::any::Any + Send + Sync>;

/// Says that runs of baseline code are to end at their next poll.
pub(crate) type Retired = Arc<AtomicBool>;

/// Returns whether this is a bounds check that a build for benchmarks goes without.
pub(crate) fn is_left_out(region: &Region, exit: ExitId) -> bool {
    cfg!(feature = "unchecked-for-benchmarks") && region.exits[exit.index()].reason.is_bounds()
}

/// Likewise, of an edge: whether it leads to the slow way of an access.
pub(crate) fn leads_to_slow_way(region: &Region, edge: &Edge) -> bool {
    let first = region.block(edge.to).insts.iter().find(|inst| !inst.kind.is_pure());
    first.is_some_and(|inst| match inst.kind {
        Kind::LoadAny { exit, .. } | Kind::StoreAny { exit, .. } => is_left_out(region, exit),
        _ => false,
    })
}
