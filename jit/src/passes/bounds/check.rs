//! What a check of bounds says, and how one is recognised.

use super::super::defs::{Def, Defs};
use crate::ir::{Kind, Region, SPARE_INDICES, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Most bytes that a merged check covers at one index.
const MAX_NEED: i64 = 1 << 28;

/// The memory that checks are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Memory {
    pub pointer: Value,
    pub scale: u32,
}

/// The index that checks are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Index {
    pub ty: Ty,
    /// Without its constant part; `None` if it is a constant.
    pub value: Option<Value>,
    /// The lanes that are checked, if not all.
    pub mask: Option<Value>,
}

/// What a check says: of the indices from `k` to `far` away, the bytes from `low` to `high` are in bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Check {
    pub k: i64,
    pub far: i64,
    pub low: i64,
    pub high: i64,
    pub write: bool,
}

impl Check {
    /// Returns whether it is implied by others of its memory, whose indices are so many bytes apart, and its index.
    pub fn is_implied(self, held: &[Check], scale: u32) -> bool {
        let end = |c: &Check| i128::from(c.far) * i128::from(scale) + i128::from(c.high);
        let below = |c: &&Check| c.k <= self.k && c.low <= self.low;
        let above = |c: &&Check| end(c) >= end(&self);
        let writable = !self.write || held.iter().any(|c| c.write);
        let near = |l: &Check, h: &Check| is_near(l.k.min(h.far), l.k.max(h.far).max(self.far));
        writable && held.iter().filter(below).any(|l| held.iter().filter(above).any(|h| near(l, h)))
    }

    /// The check that is as strong as both, if there is one.
    pub fn and(self, other: Check) -> Option<Check> {
        let (k, far) = (self.k.min(other.k), self.far.max(other.far));
        let (low, high) = (self.low.min(other.low), self.high.max(other.high));
        let either = |f: &dyn Fn(&Check) -> bool| f(&self) || f(&other);
        let exact = either(&|c| (c.k, c.low) == (k, low)) && either(&|c| (c.far, c.high) == (far, high));
        let short = high.checked_sub(low).is_some_and(|need| need <= MAX_NEED);
        let write = self.write || other.write;
        (exact && short && is_near(k, far)).then_some(Check { k, far, low, high, write })
    }
}

/// Returns whether two constants are so near that indices in bounds do not wrap around between them.
pub(super) fn is_near(k: i64, far: i64) -> bool {
    far.checked_sub(k).is_some_and(|reach| reach <= SPARE_INDICES)
}

/// The check that a guard's condition is, if it is one.
pub(super) fn parse(region: &Region, defs: &Defs, condition: Value) -> Option<(Memory, Index, Check)> {
    let Some(not) = defs.as_op(condition, Op::Not) else { return comparison(defs, condition, None) };
    let any = defs.get(not.arg(0)).filter(|d| matches!(d.kind, Kind::AnyLane))?;
    let (mask, in_bounds) = bad_lanes(defs, any.arg(0))?;
    let varies = |v| region.ty(v).is_varying();
    comparison(defs, in_bounds, mask).filter(|(_, index, _)| index.value.is_some_and(varies))
}

/// Of the lanes that are out of bounds: the mask, if there is one, and the condition that is false in them.
fn bad_lanes(defs: &Defs, bad: Value) -> Option<(Option<Value>, Value)> {
    if let Some(not) = defs.as_op(bad, Op::Not) {
        return Some((None, not.arg(0)));
    }
    let and = defs.as_op(bad, Op::And)?;
    let pair = |mask, denied| defs.as_op(denied, Op::Not).map(|not: Def| (Some(mask), not.arg(0)));
    pair(and.arg(0), and.arg(1)).or_else(|| pair(and.arg(1), and.arg(0)))
}

/// `index - low <u span`.
fn comparison(defs: &Defs, condition: Value, mask: Option<Value>) -> Option<(Memory, Index, Check)> {
    let less = defs.as_op(condition, Op::Lt)?;
    let span = defs.get(less.arg(1))?;
    let Kind::IndexSpan { scale, disp, need, ty } = span.kind else { return None };
    let pointer = span.arg(0);
    let length = defs.get(span.arg(1))?;
    let Kind::RegionLen { write } = length.kind else { return None };
    let distance = defs.as_op(less.arg(0), Op::Bitcast).map_or(less.arg(0), |d| d.arg(0));
    let distance = defs.as_op(distance, Op::Sub)?;
    let Kind::Op { ty: subtracted, .. } = distance.kind else { return None };
    let least = defs.get(distance.arg(1))?;
    let same = least.kind == Kind::IndexLow { scale, disp, ty } && least.arg(0) == pointer && length.arg(0) == pointer;
    if !same || subtracted != ty {
        return None;
    }
    let (value, k) = parts(defs, distance.arg(0), ty);
    let check = Check { k, far: k, low: disp, high: disp.checked_add(need as i64)?, write };
    Some((Memory { pointer, scale }, Index { ty, value, mask }, check))
}

/// An index as a value plus a constant.
fn parts(defs: &Defs, index: Value, ty: Ty) -> (Option<Value>, i64) {
    let signed = |bits: u64| if ty.size() == 4 { bits as i32 as i64 } else { bits as i64 };
    if let Some(bits) = defs.known(index) {
        return (None, signed(bits));
    }
    let sum = defs.as_op(index, Op::Add);
    match sum.and_then(|sum| Some((sum.arg(0), defs.known(sum.arg(1))?))) {
        Some((value, bits)) => (Some(value), signed(bits)),
        None => (Some(index), 0),
    }
}
