//! Warnings about numbers that are not what they seem: constants of single precision that become doubles, and comparisons
//! whose outcome the types decide.

use super::constant::to_integer;
use super::table::Checker;
use crate::ast::BinaryOp;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Cast, Expr, ExprKind, PlaceBase, TypeId};
use crate::source::Span;
use spmdvm_vm::sem::eval;
use spmdvm_vm::{Op, Ty};

impl<'a> Checker<'a, '_> {
    /// Notes that what stands here is a `float` constant without suffix that differs from the number written.
    pub(super) fn note_rounded(&mut self, span: Span) {
        if !self.in_prelude() {
            self.rounded.insert(span);
        }
    }

    /// Warns if such a constant becomes a `double`.
    pub(super) fn warn_rounded(&mut self, expr: &Expr, to: TypeId) {
        let becomes_double = self.table.types.element_ty(to) == Some(Ty::F64);
        if !becomes_double || expr.constant_bits().is_none() || !self.rounded.contains(&expr.span) {
            return;
        }
        let text = self.sources.text(expr.span);
        let message = format!("`{text}` is a `float`, rounded to single precision before it becomes a `double`");
        let is_number = text.ends_with(|c: char| c.is_ascii_digit() || c == '.');
        let warning = Diagnostic::new(Code::FloatAsDouble, expr.span, message);
        self.warn(match is_number {
            true => warning.help(format!("write `{text}d` for a `double`; if the `float` is meant, `{text}f`")),
            false => warning.help("give the number the suffix `d`; if the `float` is meant, `f`"),
        });
    }

    /// Warns if an operand with a fraction becomes an integer, because the other one has 64 bits.
    pub(super) fn warn_fraction_lost(&mut self, lhs: &Expr, rhs: &Expr, common: TypeId) {
        let element = |checker: &Self, ty: TypeId| checker.table.types.element_ty(ty);
        if !element(self, common).is_some_and(Ty::is_int) {
            return;
        }
        let is_float = |e: &&Expr| element(self, e.ty).is_some_and(Ty::is_float);
        if let Some(operand) = [lhs, rhs].into_iter().find(is_float).filter(|e| !self.is_whole(e)) {
            let (from, to) = (self.show(operand.ty), self.show(common));
            let message = format!("this `{from}` becomes `{to}`, which has no fractions, before anything is computed");
            let warning = Diagnostic::new(Code::FractionLost, operand.span, message);
            self.warn(
                warning.help("cast the integer to `float` or `double`; a cast of this operand says that it is meant"),
            );
        }
    }

    /// Returns whether a number is a constant without a fraction.
    fn is_whole(&self, expr: &Expr) -> bool {
        let (Some(bits), Some(ty)) = (expr.constant_bits(), self.table.types.element_ty(expr.ty)) else { return false };
        let double = if ty == Ty::F64 { Some(bits) } else { eval(Op::Convert, Ty::F64, ty, [bits, 0, 0]) };
        double.is_some_and(|bits| f64::from_bits(bits).fract() == 0.0)
    }

    /// Warns of a comparison whose operands, which become `common`, do not compare as one would think.
    pub(super) fn warn_comparison(&mut self, op: BinaryOp, lhs: &Expr, rhs: &Expr, common: TypeId, span: Span) {
        let (Some(left), Some(right)) = (self.scalar_ty(lhs.ty), self.scalar_ty(rhs.ty)) else { return };
        if self.in_prelude() || lhs.constant_bits().is_some() && rhs.constant_bits().is_some() {
            return;
        }
        let outcome = match (lhs.constant_bits(), rhs.constant_bits()) {
            (None, Some(bits)) => decided(op, left, right, bits),
            (Some(bits), None) => decided(mirrored(op), right, left, bits),
            _ => None,
        };
        if let Some(outcome) = outcome {
            let variable = if rhs.constant_bits().is_some() { lhs } else { rhs };
            let message = format!("this is always {outcome}: no `{}` can make it otherwise", self.show(variable.ty));
            self.warn(Diagnostic::new(Code::DecidedComparison, span, message));
        } else if self.is_varying(lhs.ty) != self.is_varying(rhs.ty) {
            let common = self.scalar_ty(common).filter(|ty| ty.is_int() && !ty.is_signed());
            let signed = |ty: Ty| ty.is_int() && ty.is_signed();
            let operand = if signed(left) { lhs } else { rhs };
            if common.is_some() && signed(left) != signed(right) && self.may_be_negative(operand) {
                self.warn_sign(operand, common.unwrap_or(Ty::U32));
            }
        }
    }

    fn warn_sign(&mut self, operand: &Expr, common: Ty) {
        let side = if self.is_varying(operand.ty) { "varying" } else { "uniform" };
        let common = crate::hir::scalar_name(common);
        let message =
            format!("the {side} side is signed, the other unsigned: compared as `{common}`, where below zero is huge");
        let warning = Diagnostic::new(Code::SignLost, operand.span, message).at(format!("`{}`", self.show(operand.ty)));
        self.warn(warning.help("give both the same type; a cast says that this is meant"));
    }

    /// Whether an integer can be below zero, as far as is seen from the expression.
    fn may_be_negative(&self, expr: &Expr) -> bool {
        let ty = self.scalar_ty(expr.ty).unwrap_or(Ty::I32);
        if !ty.is_int() || !ty.is_signed() {
            return false;
        }
        if let Some(bits) = expr.constant_bits() {
            return to_integer(ty, bits) < 0;
        }
        match &expr.kind {
            ExprKind::Zero | ExprKind::ProgramIndex | ExprKind::Task(_) => false,
            ExprKind::Cast(Cast::Convert | Cast::Broadcast | Cast::Reinterpret, operand) => {
                let narrower = self.scalar_ty(operand.ty).is_some_and(|from| from.size() < ty.size() || from == ty);
                !narrower || self.may_be_negative(operand)
            }
            ExprKind::Binary(Op::And, lhs, rhs) => self.may_be_negative(lhs) && self.may_be_negative(rhs),
            ExprKind::Binary(Op::Add | Op::Mul | Op::IDiv | Op::Or | Op::Max, lhs, rhs) => {
                self.may_be_negative(lhs) || self.may_be_negative(rhs)
            }
            ExprKind::Binary(Op::Shr | Op::IRem, lhs, _) => self.may_be_negative(lhs),
            // The variables of `foreach` mostly count from zero.
            ExprKind::Load(place) => match place.base {
                PlaceBase::Local(id) if place.projections.is_empty() => !self.is_loop_variable(id),
                _ => true,
            },
            _ => true,
        }
    }
}

/// The same comparison with its sides exchanged.
fn mirrored(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Lt => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Lt,
        BinaryOp::Le => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Le,
        other => other,
    }
}

/// What comparing any value of a type with this constant of another type gives, if that is always the same.
fn decided(op: BinaryOp, ty: Ty, constant_ty: Ty, bits: u64) -> Option<bool> {
    let equality = match op {
        BinaryOp::Eq => Some(false),
        BinaryOp::Ne => Some(true),
        _ => None,
    };
    if ty == Ty::F32 && constant_ty == Ty::F64 {
        let narrow = eval(Op::Convert, Ty::F32, Ty::F64, [bits, 0, 0])?;
        let wide = eval(Op::Convert, Ty::F64, Ty::F32, [narrow, 0, 0])?;
        return equality.filter(|_| wide != bits);
    }
    // Where the constant itself would change its sign the outcome is another matter.
    if !ty.is_int() || !constant_ty.is_int() {
        return None;
    }
    let value = to_integer(constant_ty, bits);
    // A signed value that is compared as an unsigned one of at least its size may be any of that type.
    let as_unsigned = ty.is_signed() && !constant_ty.is_signed() && constant_ty.size() >= ty.size();
    let width = if as_unsigned { constant_ty.size() } else { ty.size() } as u32 * 8;
    let (least, most) = match ty.is_signed() && !as_unsigned {
        true => (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1),
        false => (0, (1i128 << width) - 1),
    };
    if value < 0 && !ty.is_signed() && ty.size() >= constant_ty.size() {
        return None;
    }
    match op {
        BinaryOp::Eq | BinaryOp::Ne => equality.filter(|_| value < least || value > most),
        BinaryOp::Lt if value <= least => Some(false),
        BinaryOp::Lt if value > most => Some(true),
        BinaryOp::Le if value < least => Some(false),
        BinaryOp::Le if value >= most => Some(true),
        BinaryOp::Gt if value >= most => Some(false),
        BinaryOp::Gt if value < least => Some(true),
        BinaryOp::Ge if value <= least => Some(true),
        BinaryOp::Ge if value > most => Some(false),
        _ => None,
    }
}
