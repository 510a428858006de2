//! Rules for conversions.

use super::{Folder, Rewrite};
use crate::ir::{Kind, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem;
use spmdvm_vm::types::Ty;

/// Returns whether every number of an integer type has the same value in another.
fn keeps_value(from: Ty, to: Ty) -> bool {
    let whole = |ty: Ty| ty.is_int() || ty == Ty::Bool;
    let wider = to.size() > from.size() || from == Ty::Bool;
    whole(from) && to.is_int() && wider && (to.is_signed() || !from.is_signed())
}

impl Folder<'_> {
    /// A conversion, or the bits of a value as another type.
    pub(super) fn convert(&mut self, op: Op, ty: Ty, from: Ty, a: Value) -> Option<Rewrite> {
        // The bits of a NaN become those of the canonical one, so of floats they are not a copy.
        if ty == from && !(op == Op::Bitcast && ty.is_float()) {
            return Some(Rewrite::Value(a));
        }
        if op == Op::Bitcast && from.is_float() && !ty.is_signed() {
            return Some(self.bits_as_signed(ty, from, a));
        }
        let inner = self.defs.get(a)?;
        if let (Kind::Reduce { op: Op::ReduceAdd, ty: Ty::I64 | Ty::U64 }, Op::Convert) = (inner.kind, op) {
            return self.low_sum(ty, inner.arg(0));
        }
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

    /// The bits of a float: those of a number, or what it has been made of.
    pub(super) fn raw_bits(&mut self, ty: Ty, from: Ty, args: &[Value]) -> Option<Rewrite> {
        let number = self.defs.known(args[0]).filter(|&bits| sem::eval(Op::Eq, from, from, [bits, bits, 0]) == Some(1));
        if number.is_some() {
            return self.of_constants(Op::Bitcast, ty, from, args);
        }
        let made = self.op(args[0], Op::Bitcast)?;
        match made.kind {
            Kind::Op { from: first, .. } if first == ty => Some(Rewrite::Value(made.arg(0))),
            Kind::Op { from: first, .. } if first.is_int() => {
                Some(Rewrite::Inst(Kind::Op { op: Op::Bitcast, ty, from: first }, vec![made.arg(0)]))
            }
            _ => None,
        }
    }

    /// The bits of a float as an unsigned number: those as a signed one, which are the same value wherever both are asked for. To make
    /// a NaN canonical takes instructions.
    fn bits_as_signed(&mut self, ty: Ty, from: Ty, a: Value) -> Rewrite {
        let signed = match ty.size() {
            2 => Ty::I16,
            4 => Ty::I32,
            _ => Ty::I64,
        };
        let to = Type { ty: signed, ..self.ty(a) };
        let bits = self.emit(Kind::Op { op: Op::Bitcast, ty: signed, from }, vec![a], to);
        Rewrite::Inst(Kind::Op { op: Op::Bitcast, ty, from: signed }, vec![bits])
    }

    /// The low 32 bits of a sum over the lanes of longer integers that were made of these: of `reduce_add(int)`, which gives 64.
    fn low_sum(&mut self, ty: Ty, lanes: Value) -> Option<Rewrite> {
        let extended = self.op(lanes, Op::Convert)?;
        let x = extended.arg(0);
        let Type { ty: first, .. } = self.ty(x);
        let is_short = |ty: Ty| ty.is_int() && ty.size() == 4;
        if !is_short(first) || !is_short(ty) || !self.ty(x).is_varying() {
            return None;
        }
        let sum = self.emit(Kind::Reduce { op: Op::ReduceAdd, ty: first }, vec![x], Type::uniform(first));
        Some(Rewrite::Inst(Kind::Op { op: Op::Bitcast, ty, from: first }, vec![sum]))
    }
}
