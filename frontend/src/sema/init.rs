//! Initialisers.

use super::expr::Operand;
use super::table::Checker;
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, ExprKind, Place, Shape, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::Ty;

impl<'a> Checker<'a, '_> {
    /// The initial value of something of type `ty`.
    pub(super) fn initializer(&mut self, init: &'a ast::Expr<'a>, ty: TypeId) -> Expr {
        let plain = self.strip_const(ty);
        if let ast::ExprKind::Aggregate(items) = init.kind {
            return self.aggregate(items, plain, init.span);
        }
        match *self.kind(plain) {
            TypeKind::Reference(_) => {
                let operand = self.operand(init);
                self.bind_reference(operand, ty, init.span, "what this reference is bound to")
            }
            TypeKind::Array(elem, len) => self.array_from_value(init, elem, len, plain),
            _ => {
                let value = self.value_for(init, plain);
                self.convert(value, plain, "the initial value")
            }
        }
    }

    fn array_from_value(&mut self, init: &'a ast::Expr<'a>, elem: TypeId, len: Option<u64>, ty: TypeId) -> Expr {
        if let (ast::ExprKind::String(text), TypeKind::Scalar(Ty::I8 | Ty::U8, Shape::Uniform)) =
            (init.kind, self.kind(elem).clone())
        {
            return self.array_from_string(text, elem, len, ty, init.span);
        }
        let operand = self.operand(init);
        if let Operand::Place(place) = &operand
            && let TypeKind::Array(..) = self.kind(place.ty)
            && self.strip_const(place.ty) == ty
        {
            let Operand::Place(place) = operand else { return Expr::error(init.span) };
            return self.whole_array(place, ty);
        }
        let value = self.value_of(operand);
        if value.ty != TypeTable::ERROR {
            let message = format!("an array is initialised with `{{…}}`, not with `{}`", self.show(value.ty));
            let error = Diagnostic::new(Code::BadInitializer, init.span, message);
            self.error(error.help("write the elements in braces: `{a, b, c}`"));
        }
        Expr { ty, ..Expr::error(init.span) }
    }

    fn whole_array(&mut self, place: Place, ty: TypeId) -> Expr {
        self.mark_memory(&place);
        let span = place.span;
        Expr { kind: ExprKind::Load(place), ty, span }
    }

    fn array_from_string(&mut self, text: &str, elem: TypeId, len: Option<u64>, ty: TypeId, span: Span) -> Expr {
        let bytes = text.as_bytes();
        if len.is_some_and(|len| (bytes.len() as u64) > len) {
            let message = format!("the string has {} bytes, the array {}", bytes.len(), len.unwrap_or(0));
            self.error_at(Code::BadInitializer, span, message);
            return Expr { ty, ..Expr::error(span) };
        }
        let items = bytes.iter().map(|&byte| Expr::constant(u64::from(byte), elem, span)).collect();
        Expr { kind: ExprKind::Aggregate(items), ty, span }
    }

    /// `{…}` for a type.
    fn aggregate(&mut self, items: &'a [&'a ast::Expr<'a>], ty: TypeId, span: Span) -> Expr {
        match *self.kind(ty) {
            TypeKind::Error => {
                for item in items.iter().filter(|item| !matches!(item.kind, ast::ExprKind::Aggregate(_))) {
                    self.value(item);
                }
                Expr::error(span)
            }
            TypeKind::Array(elem, len) => {
                if len.is_some_and(|len| items.len() as u64 > len) {
                    return self.too_many(items, len.unwrap_or(0), ty, span);
                }
                let values = items.iter().map(|item| self.initializer(item, elem)).collect();
                Expr { kind: ExprKind::Aggregate(values), ty, span }
            }
            TypeKind::Vector(elem, len) => {
                if items.len() as u64 > u64::from(len) {
                    return self.too_many(items, u64::from(len), ty, span);
                }
                let mut values: Vec<Expr> = items.iter().map(|item| self.initializer(item, elem)).collect();
                while values.len() < len as usize {
                    let filler = self.zero_of(elem, span);
                    values.push(filler);
                }
                Expr { kind: ExprKind::Aggregate(values), ty, span }
            }
            TypeKind::Struct(id, shape) => {
                if !self.check_struct_complete(id, span) {
                    return Expr { ty, ..Expr::error(span) };
                }
                let n_fields = self.table.types.struct_def(id).fields.len();
                if items.len() > n_fields {
                    return self.too_many(items, n_fields as u64, ty, span);
                }
                let mut values = Vec::with_capacity(n_fields);
                for field in 0..n_fields {
                    let field_ty = self.table.types.field_type(id, shape, field);
                    values.push(match items.get(field) {
                        Some(item) => self.initializer(item, field_ty),
                        None => {
                            let plain = self.strip_const(field_ty);
                            self.zero_of(plain, span)
                        }
                    });
                }
                Expr { kind: ExprKind::Aggregate(values), ty, span }
            }
            TypeKind::Reference(_) => {
                let error = Diagnostic::new(Code::BadInitializer, span, "a reference is not initialised with `{…}`");
                self.error(error.help("write the variable it shall refer to"));
                Expr::error(span)
            }
            _ => self.scalar_aggregate(items, ty, span),
        }
    }

    /// `{value}` for a scalar, or for a varying one a value for each lane.
    fn scalar_aggregate(&mut self, items: &'a [&'a ast::Expr<'a>], ty: TypeId, span: Span) -> Expr {
        match items {
            [] => self.zero_of(ty, span),
            [item] => self.initializer(item, ty),
            _ if matches!(self.shape(ty), Shape::Soa(n) if items.len() == n as usize) => {
                let uniform = self.as_uniform(ty);
                let values = items.iter().map(|item| self.initializer(item, uniform)).collect();
                Expr { kind: ExprKind::Aggregate(values), ty, span }
            }
            _ if self.is_varying(ty) && items.len() == self.lanes() => {
                let uniform = self.as_uniform(ty);
                let values = items.iter().map(|item| self.initializer(item, uniform)).collect();
                Expr { kind: ExprKind::Lanes(values), ty, span }
            }
            _ => {
                let message = if self.is_varying(ty) {
                    format!(
                        "{} values for a varying variable: give one, or one per lane ({} here)",
                        items.len(),
                        self.lanes()
                    )
                } else {
                    format!("{} values for one `{}`", items.len(), self.show(ty))
                };
                self.error_at(Code::BadInitializer, span, message);
                Expr { ty, ..Expr::error(span) }
            }
        }
    }

    fn too_many(&mut self, items: &[&'a ast::Expr<'a>], limit: u64, ty: TypeId, span: Span) -> Expr {
        let first = items.get(limit as usize).map_or(span, |item| item.span);
        let message = format!("{} values for `{}`, which has {limit}", items.len(), self.show(ty));
        self.error(Diagnostic::new(Code::BadInitializer, first, message).at("the first one too many"));
        Expr { ty, ..Expr::error(span) }
    }

    /// The values in the parentheses of `new`.
    pub(super) fn init_new(&mut self, ty: TypeId, init: &'a [&'a ast::Expr<'a>], span: Span) -> Expr {
        let plain = self.strip_const(ty);
        let TypeKind::Struct(id, _) = *self.kind(plain) else {
            return match init {
                [single] if !matches!(self.kind(plain), TypeKind::Array(..)) => self.initializer(single, plain),
                _ => self.aggregate(init, plain, span),
            };
        };
        if let [single] = init
            && !matches!(single.kind, ast::ExprKind::Aggregate(_))
        {
            let value = self.value(single);
            if value.ty == TypeTable::ERROR {
                return value;
            }
            if matches!(*self.kind(value.ty), TypeKind::Struct(other, _) if other == id) {
                return self.convert(value, plain, "the initial value");
            }
            return self.first_member(value, id, plain, span);
        }
        self.aggregate(init, plain, span)
    }

    fn first_member(&mut self, value: Expr, id: crate::hir::StructId, ty: TypeId, span: Span) -> Expr {
        let shape = self.shape(ty);
        let n_fields = self.table.types.struct_def(id).fields.len();
        let mut values = Vec::with_capacity(n_fields);
        for field in 0..n_fields {
            let field_ty = self.table.types.field_type(id, shape, field);
            let plain = self.strip_const(field_ty);
            values.push(if field == 0 {
                self.convert(value.clone(), plain, "the initial value")
            } else {
                self.zero_of(plain, span)
            });
        }
        Expr { kind: ExprKind::Aggregate(values), ty, span }
    }

    /// The type of a variable whose array lengths are left to its initialiser.
    pub(super) fn complete_from_init(&mut self, ty: TypeId, init: Option<&'a ast::Expr<'a>>) -> TypeId {
        let (TypeKind::Array(elem, len), Some(init)) = (self.kind(ty).clone(), init) else { return ty };
        match init.kind {
            ast::ExprKind::Aggregate(items) => {
                // Inner lengths that are left open are those of the longest initialiser.
                let inner: Vec<TypeId> = items.iter().map(|item| self.complete_from_init(elem, Some(item))).collect();
                let inner = inner.into_iter().max_by_key(|&ty| self.length(ty)).unwrap_or(elem);
                let len = len.filter(|&len| len > 0).unwrap_or(items.len() as u64);
                self.table.types.intern(TypeKind::Array(inner, Some(len)), false)
            }
            ast::ExprKind::String(text) if len.is_none_or(|len| len == 0) => {
                let len = Some(text.len() as u64 + 1);
                self.table.types.intern(TypeKind::Array(elem, len), false)
            }
            _ => ty,
        }
    }

    fn length(&self, ty: TypeId) -> u64 {
        match *self.kind(ty) {
            TypeKind::Array(_, len) => len.unwrap_or(0),
            _ => 0,
        }
    }
}
