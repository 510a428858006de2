//! Code that finds out, in 64 bits, how many rounds are left and what lies in range in all of them.

use super::super::make::Maker;
use crate::ir::Value;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// How the loop counts.
pub(super) struct Counter {
    pub value: Value,
    pub limit: Value,
    pub ty: Ty,
    /// The comparison of value and limit that holds while the loop goes on.
    pub op: Op,
    pub step: i64,
}

/// Returns whether a step is so small that 2³² of them can be counted in 64 bits.
pub(super) fn small(step: i64) -> bool {
    step.unsigned_abs() < 1 << 29
}

impl Counter {
    /// Returns whether the round in which the counter has a value is a whole one.
    pub fn goes_on(&self, m: &mut Maker<'_>, value: Value, limit: Value) -> Value {
        m.op(self.op, self.ty, &[value, limit])
    }

    /// Of a whole round in which the counter has a value: how many whole ones follow, in 64 bits; and whether that is sound.
    pub fn rounds_after(&self, m: &mut Maker<'_>, value: Value, limit: Value) -> (Value, Value) {
        let ty = self.ty;
        let (near, far) = if self.step > 0 { (value, limit) } else { (limit, value) };
        let distance = m.op(Op::Sub, ty, &[far, near]);
        let distance = m.cast(Op::Bitcast, distance, if ty.size() == 4 { Ty::U32 } else { Ty::U64 });
        let mut distance = m.cast(Op::Convert, distance, Ty::U64);
        if matches!(self.op, Op::Lt | Op::Gt) {
            distance = m.with(Op::Add, Ty::U64, distance, u64::MAX);
        }
        let rounds = m.with(Op::Shr, Ty::U64, distance, self.step.unsigned_abs().trailing_zeros() as u64);
        let few = m.with(Op::Lt, Ty::U64, rounds, 1 << 32);
        // The counter must not step over the end of its type.
        let bits = 8 * ty.size() as u32;
        let most = if ty.is_signed() { u64::MAX >> (65 - bits) } else { u64::MAX >> (64 - bits) };
        let sound = if self.step > 0 {
            m.with(Op::Le, ty, limit, most.wrapping_sub(self.step as u64))
        } else {
            let least = if ty.is_signed() { !most } else { 0 };
            m.with(Op::Ge, ty, limit, least.wrapping_sub(self.step as u64))
        };
        (m.op(Op::And, Ty::Bool, &[few, sound]), rounds)
    }
}

/// By how much what changes by a step changes in some rounds: a product of 64 bits for each step.
#[derive(Default)]
pub(super) struct Changes(Vec<(i64, Value)>);

impl Changes {
    /// The change, made if it is the first for its step.
    pub fn of(&mut self, m: &mut Maker<'_>, rounds: Value, step: i64) -> Value {
        let known = self.0.iter().find(|c| c.0 == step).map(|c| c.1);
        known.unwrap_or_else(|| {
            let change = m.with(Op::Mul, Ty::U64, rounds, step as u64);
            self.0.push((step, change));
            change
        })
    }
}

/// Distances below the same span that change alike.
pub(super) struct Range {
    span: Value,
    step: i64,
    largest: Value,
    smallest: Value,
}

impl Range {
    /// Adds a distance to those of its span and step.
    pub fn add(ranges: &mut Vec<Range>, m: &mut Maker<'_>, distance: Value, span: Value, step: i64) {
        let ty = m.region.ty(distance).ty;
        let alike = |r: &&mut Range| r.span == span && r.step == step && m.region.ty(r.largest).ty == ty;
        match ranges.iter_mut().find(alike) {
            Some(range) => {
                range.largest = m.op(Op::Max, ty, &[range.largest, distance]);
                if step < 0 {
                    range.smallest = m.op(Op::Min, ty, &[range.smallest, distance]);
                }
            }
            None => ranges.push(Range { span, step, largest: distance, smallest: distance }),
        }
    }

    /// Returns whether all are below the span now, and when they have changed so many times.
    pub fn holds(&self, m: &mut Maker<'_>, (rounds, changes): (Value, &mut Changes)) -> Value {
        let wide = m.region.ty(self.largest).ty.size() == 8;
        let mut span = m.cast(Op::Convert, self.span, Ty::U64);
        if wide {
            span = m.with(Op::Min, Ty::U64, span, 1 << 62);
        }
        let largest = m.cast(Op::Convert, self.largest, Ty::U64);
        let now = m.op(Op::Lt, Ty::U64, &[largest, span]);
        if self.step == 0 {
            return now;
        }
        // The first to leave the range: by its end, or by its beginning, where it wraps around.
        let first = if self.step > 0 { largest } else { m.cast(Op::Convert, self.smallest, Ty::U64) };
        let change = changes.of(m, rounds, self.step);
        let last = m.op(Op::Add, Ty::U64, &[first, change]);
        let then = m.op(Op::Lt, Ty::U64, &[last, span]);
        m.op(Op::And, Ty::Bool, &[now, then])
    }
}
