//! The condition of a merged check.

use super::Group;
use super::check::{Check, Index, Memory};
use crate::ir::{Kind, Type, Value, unsigned};
use crate::passes::make::Maker;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Makes the condition that all checks of a group hold.
pub(super) fn condition(m: &mut Maker<'_>, group: &Group) -> Value {
    let Index { ty, value, mask } = group.index;
    let least = group.parts.iter().map(|(_, c)| c.k).min().unwrap_or(0);
    let (low, span) = match &group.parts[..] {
        [(memory, check)] => one_range(m, ty, *memory, *check),
        parts => common_range(m, ty, parts, least),
    };
    let index = match value {
        Some(x) if least != 0 => m.with(Op::Add, ty, x, least as u64),
        Some(x) => x,
        None => m.constant(ty, least as u64),
    };
    let distance = m.op(Op::Sub, ty, &[index, low]);
    let distance = m.cast(Op::Bitcast, distance, unsigned(ty));
    let holds = m.op(Op::Lt, unsigned(ty), &[distance, span]);
    if !m.region.ty(holds).is_varying() {
        return holds;
    }
    let mut bad = m.op(Op::Not, Ty::Bool, &[holds]);
    if let Some(mask) = mask {
        bad = m.op(Op::And, Ty::Bool, &[mask, bad]);
    }
    let some = m.inst(Kind::AnyLane, &[bad], Type::BOOL);
    m.op(Op::Not, Ty::Bool, &[some])
}

/// The least index in bounds at the check's near end, and how many there are of which the far end is in bounds too.
fn one_range(m: &mut Maker<'_>, ty: Ty, memory: Memory, check: Check) -> (Value, Value) {
    let (low, span) = bounds(m, ty, memory, check);
    (low, less(m, unsigned(ty), span, check.far - check.k))
}

/// The least value of `x + least` for which all parts are in bounds, and how many there are.
fn common_range(m: &mut Maker<'_>, ty: Ty, parts: &[(Memory, Check)], least: i64) -> (Value, Value) {
    let mut range: Option<(Value, Value)> = None;
    for &(memory, check) in parts {
        let (first, span) = bounds(m, ty, memory, check);
        let span = m.cast(Op::Bitcast, span, ty);
        let end = m.op(Op::Add, ty, &[first, span]);
        let (first, end) = (less(m, ty, first, check.k - least), less(m, ty, end, check.far - least));
        range = Some(match range {
            None => (first, end),
            Some((low, high)) => (m.op(Op::Max, ty, &[low, first]), m.op(Op::Min, ty, &[high, end])),
        });
    }
    let (low, end) = range.expect("a group has parts");
    let end = m.op(Op::Max, ty, &[end, low]);
    let count = m.op(Op::Sub, ty, &[end, low]);
    (low, m.cast(Op::Bitcast, count, unsigned(ty)))
}

/// The least index in bounds at a check's near end, and how many there are.
fn bounds(m: &mut Maker<'_>, ty: Ty, memory: Memory, check: Check) -> (Value, Value) {
    let Memory { pointer, scale } = memory;
    let (disp, need) = (check.low, (check.high - check.low) as u32);
    let length = m.region_len(pointer, check.write);
    let low = m.inst(Kind::IndexLow { scale, disp, ty }, &[pointer], Type::uniform(ty));
    let span = Kind::IndexSpan { scale, disp, need, ty };
    (low, m.inst(span, &[pointer, length], Type::uniform(unsigned(ty))))
}

/// `x - by`, or the type's minimum if that is less.
fn less(m: &mut Maker<'_>, ty: Ty, x: Value, by: i64) -> Value {
    if by == 0 {
        return x;
    }
    let minimum = if ty.is_signed() { 1u64 << (8 * ty.size() - 1) } else { 0 };
    let x = m.with(Op::Max, ty, x, minimum.wrapping_add(by as u64));
    m.with(Op::Sub, ty, x, by as u64)
}
