//! The `foreach` family.

use super::body::Control;
use super::table::Checker;
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, ForeachDim, LocalId, Shape, StmtKind, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::Ty;

impl<'a> Checker<'a, '_> {
    /// `foreach`, `foreach_tiled`.
    pub(super) fn foreach(
        &mut self,
        tiled: bool,
        dims: &'a [ast::ForeachDim<'a>],
        body: &'a ast::Stmt<'a>,
        span: Span,
    ) -> StmtKind {
        let is_nested = self.body.foreach_depth > 0;
        if dims.len() > 8 {
            self.error_at(Code::BadForeachUse, span, "a `foreach` has at most 8 dimensions");
        }
        // The bounds of a nested loop are those of one outer lane, so they are inside already.
        if is_nested {
            self.body.captures.push(Vec::new());
        }
        let scope = self.enter();
        let bounds: Vec<(Expr, Expr)> = dims.iter().map(|dim| (self.bound(dim.start), self.bound(dim.end))).collect();
        let dims = dims.iter().zip(bounds).map(|(dim, bounds)| self.dimension(dim, bounds)).collect();
        let varying_depth = std::mem::replace(&mut self.body.varying_depth, 0);
        self.body.foreach_depth += 1;
        let body = self.controlled(Control::Foreach, true, |checker| checker.body(body));
        self.body.foreach_depth -= 1;
        self.body.varying_depth = varying_depth;
        self.leave(scope);
        let revectorised = if is_nested { self.body.captures.pop() } else { None };
        StmtKind::Foreach { tiled, dims, revectorised, body }
    }

    /// A bound: a uniform integer; floats are converted, as in ISPC.
    fn bound(&mut self, expr: &'a ast::Expr<'a>) -> Expr {
        let value = self.value(expr);
        if value.ty == TypeTable::ERROR {
            return value;
        }
        if self.is_varying(value.ty) {
            let message = "the bounds of `foreach` must be uniform";
            let error = Diagnostic::new(Code::BadForeachUse, value.span, message)
                .at(format!("this is `{}`", self.show(value.ty)));
            self.error(
                error.help("for a bound per lane use `for (int i = start; i < end; ++i)`; else declare it `uniform`"),
            );
            return Expr::error(value.span);
        }
        let ty = match *self.kind(value.ty) {
            TypeKind::Scalar(Ty::I64 | Ty::U64, _) => Ty::I64,
            TypeKind::Scalar(..) | TypeKind::Enum(..) => Ty::I32,
            _ => {
                let message = format!("the bounds of `foreach` must be integers, not `{}`", self.show(value.ty));
                self.error_at(Code::BadForeachUse, value.span, message);
                return Expr::error(value.span);
            }
        };
        let wanted = self.table.types.uniform(ty);
        self.convert(value, wanted, "a bound of `foreach`")
    }

    fn dimension(&mut self, dim: &ast::ForeachDim<'a>, (start, end): (Expr, Expr)) -> ForeachDim {
        let wide = [&start, &end].iter().any(|bound| self.scalar_ty(bound.ty) == Some(Ty::I64));
        let ty = if wide { Ty::I64 } else { Ty::I32 };
        let uniform = self.table.types.uniform(ty);
        let start = self.convert(start, uniform, "a bound of `foreach`");
        let end = self.convert(end, uniform, "a bound of `foreach`");
        let varying = self.table.types.varying(ty);
        let var = self.loop_variable(dim.var, varying, "is the index of `foreach`");
        ForeachDim { var, start, end }
    }

    /// A loop's variable, which must not be assigned.
    fn loop_variable(&mut self, name: ast::Ident, ty: crate::hir::TypeId, why: &'static str) -> LocalId {
        let ty = self.make_const(ty);
        let id = self.declare_local(name, ty);
        self.info(id).frozen = Some(why);
        id
    }

    /// `foreach_active`.
    pub(super) fn foreach_active(&mut self, var: ast::Ident, body: &'a ast::Stmt<'a>) -> StmtKind {
        let scope = self.enter();
        let int64 = self.table.types.uniform(Ty::I64);
        let var = self.loop_variable(var, int64, "is the lane of `foreach_active`");
        let body = self.controlled(Control::Foreach, true, |checker| checker.body(body));
        self.leave(scope);
        StmtKind::ForeachActive { var, body }
    }

    /// `foreach_unique`.
    pub(super) fn foreach_unique(
        &mut self,
        var: ast::Ident,
        value: &'a ast::Expr<'a>,
        body: &'a ast::Stmt<'a>,
    ) -> StmtKind {
        let value = self.value(value);
        let is_scalar = self.scalar_ty(value.ty).is_some() && !matches!(self.kind(value.ty), TypeKind::Reference(_));
        if !is_scalar && value.ty != TypeTable::ERROR {
            let message =
                format!("`foreach_unique` goes over numbers, enums or pointers, not `{}`", self.show(value.ty));
            self.error_at(Code::BadForeachUse, value.span, message);
        } else if self.shape(value.ty) == Shape::Uniform && value.ty != TypeTable::ERROR {
            let message = "`foreach_unique` goes over a varying value, this is uniform";
            let error = Diagnostic::new(Code::BadForeachUse, value.span, message);
            self.error(error.help("use the value itself: it is the same in all lanes"));
        }
        let scope = self.enter();
        let uniform = self.as_uniform(value.ty);
        let var = self.loop_variable(var, uniform, "is the value of `foreach_unique`");
        let body = self.controlled(Control::Foreach, true, |checker| checker.body(body));
        self.leave(scope);
        StmtKind::ForeachUnique { var, value, body }
    }
}
