//! Rules for conversions.

use super::{Folder, Rewrite};
use crate::ir::{Kind, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Returns whether every number of an integer type has the same value in another.
fn keeps_value(from: Ty, to: Ty) -> bool {
    let whole = |ty: Ty| ty.is_int() || ty == Ty::Bool;
    let wider = to.size() > from.size() || from == Ty::Bool;
    whole(from) && to.is_int() && wider && (to.is_signed() || !from.is_signed())
}

impl Folder<'_> {
    /// A conversion, or the bits of a value as another type.
    pub(super) fn convert(&self, op: Op, ty: Ty, from: Ty, a: Value) -> Option<Rewrite> {
        // The bits of a NaN become those of the canonical one, so of floats they are not a copy.
        if ty == from && !(op == Op::Bitcast && ty.is_float()) {
            return Some(Rewrite::Value(a));
        }
        let inner = self.defs.get(a)?;
        let Kind::Op { op: before, ty: middle, from: first } = inner.kind else { return None };
        debug_assert!(!matches!(before, Op::Convert | Op::Bitcast) || middle == from);
        let direct = |op| Some(Rewrite::Inst(Kind::Op { op, ty, from: first }, vec![inner.arg(0)]));
        match (before, op) {
            (Op::Bitcast, Op::Bitcast) if [first, from, ty].iter().all(|ty| ty.is_int()) => direct(Op::Bitcast),
            (Op::Convert, Op::Convert) if keeps_value(first, from) => direct(Op::Convert),
            // Low bits of low bits.
            (Op::Convert, Op::Convert)
                if first.is_int() && from.is_int() && ty.is_int() && ty.size() <= from.size() =>
            {
                direct(Op::Convert)
            }
            _ => None,
        }
    }
}
