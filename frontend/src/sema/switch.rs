//! `switch`.

use super::body::Control;
use super::constant::from_integer;
use super::table::Checker;
use crate::ast::{self, StmtKind as S};
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, StmtKind, SwitchArm, SwitchLabel, TypeKind};
use crate::source::Span;
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::Ty;

impl<'a> Checker<'a, '_> {
    /// `switch (value) body`.
    pub(super) fn switch(&mut self, value: &'a ast::Expr<'a>, body: &'a ast::Stmt<'a>, span: Span) -> StmtKind {
        let value = self.selector(value);
        let varying = self.is_varying(value.ty);
        let ty = self.scalar_ty(value.ty).unwrap_or(Ty::I32);
        let scope = self.enter();
        let arms = self.controlled(Control::Switch, varying, |checker| {
            let mut arms = Arms { ty, list: Vec::new(), seen: HashMap::new() };
            match body.kind {
                S::Block(block) => block.stmts.iter().for_each(|stmt| checker.switch_stmt(stmt, &mut arms)),
                _ => checker.switch_stmt(body, &mut arms),
            }
            arms.list
        });
        self.leave(scope);
        if arms.iter().all(|arm| arm.labels.is_empty()) {
            self.warn(Diagnostic::new(Code::UnreachableCode, span, "a `switch` without `case` does nothing"));
        }
        StmtKind::Switch { value, arms }
    }

    fn selector(&mut self, value: &'a ast::Expr<'a>) -> Expr {
        let value = self.value(value);
        match *self.kind(value.ty) {
            TypeKind::Error => value,
            TypeKind::Scalar(ty, _) if ty.is_int() => value,
            TypeKind::Scalar(_, shape) => {
                let int = self.scalar(Ty::I32, shape);
                self.convert(value, int, "the selector")
            }
            TypeKind::Enum(_, shape) => {
                let plain = self.scalar(Ty::U32, shape);
                self.convert(value, plain, "the selector")
            }
            _ => {
                let message = format!("`switch` needs an integer, not `{}`", self.show(value.ty));
                self.error(Diagnostic::new(Code::BadSwitch, value.span, message).help("use `if` and `else if`"));
                Expr::error(value.span)
            }
        }
    }

    /// A statement inside a `switch`, or inside blocks of it: labels begin an arm.
    fn switch_stmt(&mut self, stmt: &'a ast::Stmt<'a>, arms: &mut Arms) {
        match stmt.kind {
            S::Case { value, stmt: inner } => {
                if let Some(number) = self.constant_integer(value, "the value of `case`") {
                    let bits = from_integer(arms.ty, number);
                    self.add_label(SwitchLabel::Case(bits), value.span, arms);
                } else {
                    arms.list.push(SwitchArm { labels: Vec::new(), body: Vec::new() });
                }
                self.switch_stmt(inner, arms);
            }
            S::Default(inner) => {
                let span = Span { hi: stmt.span.lo + 7, ..stmt.span };
                self.add_label(SwitchLabel::Default, span, arms);
                self.switch_stmt(inner, arms);
            }
            S::Block(block) if block.stmts.iter().any(has_label) => {
                let scope = self.enter();
                block.stmts.iter().for_each(|stmt| self.switch_stmt(stmt, arms));
                self.leave(scope);
            }
            _ => {
                if arms.list.is_empty() {
                    arms.list.push(SwitchArm { labels: Vec::new(), body: Vec::new() });
                    let is_declaration = matches!(stmt.kind, S::Variables(_) | S::Typedefs(_) | S::Empty | S::Error);
                    if !is_declaration {
                        self.warn(Diagnostic::new(
                            Code::UnreachableCode,
                            stmt.span,
                            "this stands before the first `case` and never runs",
                        ));
                    }
                }
                if let Some(arm) = arms.list.last_mut() {
                    let mut body = std::mem::take(&mut arm.body);
                    self.stmt(stmt, &mut body);
                    if let Some(arm) = arms.list.last_mut() {
                        arm.body = body;
                    }
                }
            }
        }
    }

    fn add_label(&mut self, label: SwitchLabel, span: Span, arms: &mut Arms) {
        if let Some(first) = arms.seen.get(&label) {
            let error = Diagnostic::new(Code::BadSwitch, span, "this label stands twice in the `switch`");
            self.error(error.at("again here").label(*first, "first here"));
            return;
        }
        arms.seen.insert(label, span);
        match arms.list.last_mut() {
            Some(arm) if arm.body.is_empty() && !arm.labels.is_empty() => arm.labels.push(label),
            _ => arms.list.push(SwitchArm { labels: vec![label], body: Vec::new() }),
        }
    }
}

/// Returns whether a statement in a `switch` has a label of it, perhaps inside blocks. Then its blocks only limit what names mean.
fn has_label(stmt: &ast::Stmt<'_>) -> bool {
    match stmt.kind {
        S::Case { .. } | S::Default(_) => true,
        S::Block(block) => block.stmts.iter().any(has_label),
        _ => false,
    }
}

/// The arms of a `switch` in the making.
struct Arms {
    ty: Ty,
    list: Vec<SwitchArm>,
    seen: HashMap<SwitchLabel, Span>,
}
