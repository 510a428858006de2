//! The mode `fast`: a division by a square root becomes a product with its reciprocal, which takes neither.

use super::table::Checker;
use crate::hir::{Callee, Cast, Expr, ExprKind, TypeId};
use crate::source::Span;
use crate::symbol::Symbol;
use spmdvm_vm::{Op, Ty};

/// What programs of that mode may need without naming it.
pub const INVERSE_ROOT: &str = "rsqrt";

impl Checker<'_, '_> {
    /// `lhs / sqrt(x)` as `lhs * rsqrt(x)`, or `rsqrt(x)` for 1, if that is what is divided by and the mode is `fast`.
    pub(super) fn by_inverse_root(&mut self, lhs: &Expr, rhs: &Expr, ty: TypeId, span: Span) -> Option<Expr> {
        if !self.is_fast || self.in_prelude() {
            return None;
        }
        let (root, broadcast) = match &rhs.kind {
            ExprKind::Cast(Cast::Broadcast, inner) => (&**inner, true),
            _ => (rhs, false),
        };
        let ExprKind::Call(Callee::Function(id), args) = &root.kind else { return None };
        let function = &self.functions[id.0 as usize];
        if !function.flags.prelude || function.name.as_str() != "sqrt" {
            return None;
        }
        let signature = (Symbol::intern(INVERSE_ROOT), vec![root.ty]);
        let inverse = *self.base?.signatures.get(&signature)?;
        let id = self.used_function(inverse, root.span);
        let mut inverse = Expr { kind: ExprKind::Call(Callee::Function(id), args.clone()), ..root.clone() };
        if broadcast {
            inverse = Expr { kind: ExprKind::Cast(Cast::Broadcast, Box::new(inverse)), ty, span: rhs.span };
        }
        match self.is_one(lhs) {
            true => Some(Expr { span, ..inverse }),
            false => Some(Expr { kind: ExprKind::Binary(Op::Mul, Box::new(lhs.clone()), Box::new(inverse)), ty, span }),
        }
    }

    fn is_one(&self, expr: &Expr) -> bool {
        let one = match self.table.types.element_ty(expr.ty) {
            Some(Ty::F32) => u64::from(1f32.to_bits()),
            Some(Ty::F64) => 1f64.to_bits(),
            _ => return false,
        };
        expr.constant_bits() == Some(one)
    }
}
