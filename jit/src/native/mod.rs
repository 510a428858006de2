//! What native code of every back end calls, and how its operands lie in memory for that.
//!
//! Instructions without machine code of their own, and memory accesses whose checks are not worth being inlined, are executed by
//! [`runtime`]: operands lie one after another in *scratch memory* of the caller, as [`General`] and [`Checked`] say, and so
//! will the result.

mod activity;
mod checked;
mod gathers;
mod general;
pub(crate) mod runtime;

pub(crate) use activity::Activity;
pub(crate) use checked::{BASE_AT, Checked};
pub(crate) use gathers::{fits, least_index};
pub(crate) use general::General;

use crate::ir::{Edge, ExitId, Kind, Region};
use spmdvm_vm::isa::Op;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Something that code refers to by its address.
pub(crate) type Held = Arc<dyn std::any::Any + Send + Sync>;

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

/// The operation that a reduction applies.
pub(crate) fn step_of(op: Op) -> Op {
    match op {
        Op::ReduceAdd => Op::Add,
        Op::ReduceMul => Op::Mul,
        Op::ReduceMin => Op::Min,
        Op::ReduceMax => Op::Max,
        Op::ReduceAnd => Op::And,
        Op::ReduceOr => Op::Or,
        _ => Op::Xor,
    }
}
