//! `__op_NAME(…)`: the library's way to the operation table.
//!
//! `NAME` is the operation's name with `_` for `.`. Its type follows from the arguments; operations whose arguments do not
//! say it (`cvt`, `bitcast`, `load`, `atomic.*` …) have it as suffix: `__op_bitcast_u32(x)`, `__op_load_f32(p)`. Memory
//! operations take a base and no index.

use super::table::Checker;
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Cast, Expr, ExprKind, Shape, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::isa::{Effect, ElemTy, Extra, OPS, OperandShape, Slot};
use spmdvm_vm::{Op, Ty};

impl<'a> Checker<'a, '_> {
    /// A use of an operation of the table.
    pub(super) fn table_operation(&mut self, name: ast::Ident, call: &'a ast::Call<'a>, span: Span) -> Expr {
        if !self.in_prelude() {
            let message = format!("`{}` is for the library alone", name.name);
            self.error_at(Code::BadOperation, name.span, message);
            return Expr::error(span);
        }
        let Some((op, suffix)) = find_operation(name.name.as_str()) else {
            self.error_at(Code::BadOperation, name.span, format!("there is no operation `{}`", name.name));
            return Expr::error(span);
        };
        let args: Vec<Expr> = call.args.iter().map(|arg| self.value(arg)).collect();
        if args.iter().any(|arg| arg.ty == TypeTable::ERROR) {
            return Expr::error(span);
        }
        let info = op.info();
        let allowed = !matches!(info.effect, Effect::Control | Effect::Call)
            && !matches!(info.sig.extra, Extra::Print | Extra::Host | Extra::Global | Extra::Frame | Extra::Func)
            && !matches!(op, Op::Assign);
        let slots: Vec<Slot> = info.sig.src.iter().copied().filter(|slot| !slot.optional).collect();
        if !allowed || slots.len() != args.len() {
            let message = format!("`{}` takes {} arguments, not {}", info.name, slots.len(), args.len());
            self.error_at(Code::BadOperation, span, message);
            return Expr::error(span);
        }
        let own = suffix.or_else(|| self.inferred(&slots, &args, ElemTy::Own));
        let from = self.inferred(&slots, &args, ElemTy::From);
        // An operation of no type has `bool` in its place, one of a single type that type.
        let only = || info.types.iter().next().filter(|_| info.types.iter().count() == 1);
        let Some(ty) = own.or_else(only).or(info.types.is_empty().then_some(Ty::Bool)) else {
            let message = format!("`{}` needs a type as suffix, or numbers as arguments", name.name);
            self.error_at(Code::BadOperation, span, message);
            return Expr::error(span);
        };
        if !info.types.is_empty() && !info.types.contains(ty) {
            self.error_at(Code::BadOperation, span, format!("`{}` is not defined for `{ty}`", info.name));
            return Expr::error(span);
        }
        let from = from.unwrap_or(ty);
        let Some(args) = self.operation_args(&slots, args, ty, from) else { return Expr::error(span) };
        let result = self.operation_result(op, &slots, &args, ty, from);
        Expr { kind: ExprKind::Op { op, ty, from, args }, ty: result, span }
    }

    /// The type that the arguments in slots of a kind have in common.
    fn inferred(&self, slots: &[Slot], args: &[Expr], kind: ElemTy) -> Option<Ty> {
        let types = slots.iter().zip(args).filter(|(slot, _)| slot.ty == kind);
        types.filter_map(|(_, arg)| self.scalar_ty(arg.ty)).reduce(super::operator::more_general)
    }

    fn operation_args(&mut self, slots: &[Slot], args: Vec<Expr>, ty: Ty, from: Ty) -> Option<Vec<Expr>> {
        let mut converted = Vec::with_capacity(args.len());
        for (slot, arg) in slots.iter().zip(args) {
            let wanted = slot.ty.resolve(ty, from);
            let shape = match (slot.shape, self.is_varying(arg.ty)) {
                (OperandShape::Uniform, _) => Shape::Uniform,
                (OperandShape::Varying, _) | (_, true) => Shape::Varying,
                _ => Shape::Uniform,
            };
            let target = self.scalar(wanted, shape);
            let arg = match *self.kind(arg.ty) {
                TypeKind::Pointer { shape, .. } if wanted == Ty::U64 => {
                    let bits = self.scalar(Ty::U64, shape);
                    self.fold_cast(Cast::Reinterpret, arg, bits)
                }
                _ => arg,
            };
            let arg = self.convert(arg, target, &format!("the operand `{}`", slot.name));
            if arg.ty == TypeTable::ERROR || matches!(arg.kind, ExprKind::Error) {
                return None;
            }
            converted.push(arg);
        }
        Some(converted)
    }

    fn operation_result(&mut self, op: Op, slots: &[Slot], args: &[Expr], ty: Ty, from: Ty) -> TypeId {
        let Some(dst) = op.info().sig.dst else { return TypeTable::VOID };
        let varying = slots.iter().zip(args).any(|(slot, arg)| {
            matches!(slot.shape, OperandShape::Elementwise | OperandShape::Either) && self.is_varying(arg.ty)
        });
        let shape = match dst.shape {
            OperandShape::Uniform => Shape::Uniform,
            OperandShape::Varying => Shape::Varying,
            _ if varying => Shape::Varying,
            _ => Shape::Uniform,
        };
        self.scalar(dst.ty.resolve(ty, from), shape)
    }

    /// The message of an `__op_abort("…")` statement.
    pub(super) fn abort_message(&mut self, expr: &'a ast::Expr<'a>) -> Option<String> {
        let ast::ExprKind::Call(call) = expr.kind else { return None };
        let ast::ExprKind::Name { name, .. } = call.callee.kind else { return None };
        if name.name.as_str() != "__op_abort" || !self.in_prelude() {
            return None;
        }
        match call.args {
            [ast::Expr { kind: ast::ExprKind::String(text), .. }] => Some((*text).to_string()),
            [] => Some("abort".to_string()),
            _ => {
                let error = Diagnostic::new(Code::BadOperation, expr.span, "`__op_abort` takes a string literal");
                self.error(error);
                Some(String::new())
            }
        }
    }
}

/// The operation a name stands for, and the type its suffix gives.
fn find_operation(name: &str) -> Option<(Op, Option<Ty>)> {
    let rest = name.strip_prefix("__op_")?;
    let find = |text: &str| OPS.iter().find(|row| same_name(row.name, text)).map(|row| row.op);
    if let Some(op) = find(rest) {
        return Some((op, None));
    }
    let (stem, suffix) = rest.rsplit_once('_')?;
    Some((find(stem)?, Some(Ty::from_name(suffix)?)))
}

/// Whether `text` is the name with `_` for `.`.
fn same_name(name: &str, text: &str) -> bool {
    name.len() == text.len() && name.bytes().zip(text.bytes()).all(|(a, b)| a == b || (a == b'.' && b == b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_operations() {
        assert_eq!(find_operation("__op_add"), Some((Op::Add, None)));
        assert_eq!(find_operation("__op_reduce_add"), Some((Op::ReduceAdd, None)));
        assert_eq!(find_operation("__op_round_even"), Some((Op::RoundEven, None)));
        assert_eq!(find_operation("__op_bitcast_u32"), Some((Op::Bitcast, Some(Ty::U32))));
        assert_eq!(find_operation("__op_nothing"), None);
    }
}
