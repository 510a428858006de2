//! Assignments, increments and references.

use super::expr::Operand;
use super::operator::arithmetic_op;
use super::table::Checker;
use crate::ast::{self, BinaryOp};
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, ExprKind, Place, PlaceBase, Projection, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::Ty;

impl<'a> Checker<'a, '_> {
    /// `target = value`, `target op= value`.
    pub(super) fn assign(
        &mut self,
        op: Option<BinaryOp>,
        op_span: Span,
        target: &'a ast::Expr<'a>,
        value: &'a ast::Expr<'a>,
        span: Span,
    ) -> Operand<'a> {
        let mut target_operand = self.operand(target);
        let wanted = match &target_operand {
            Operand::Place(place) | Operand::Constant(_, place) => place.ty,
            _ => TypeTable::ERROR,
        };
        let mut value_operand = self.operand(value);
        let name = match op {
            Some(op) => format!("{}=", op.as_str()),
            None => "=".to_string(),
        };
        if let Some(call) = self.overloaded_binary(&name, &mut target_operand, &mut value_operand, span) {
            return call;
        }
        let value = self.value_of_for(value_operand, wanted);
        let Some(place) = self.assignable(target_operand, target.span) else {
            return Operand::Value(Expr::error(span));
        };
        Operand::Value(match op {
            None => self.assign_value(place, value, span),
            Some(op) => self.compound(place, op, op_span, value, span),
        })
    }

    /// The place of an operand that is assigned to; reported if it is none or constant.
    pub(super) fn assignable(&mut self, operand: Operand<'a>, span: Span) -> Option<Place> {
        let place = match operand {
            Operand::Place(place) | Operand::Constant(_, place) => place,
            Operand::Value(Expr { ty: TypeTable::ERROR, .. }) => return None,
            Operand::Value(_) => {
                self.error_at(Code::NotAssignable, span, "this is a value, not a variable, and cannot be assigned to");
                return None;
            }
            Operand::Functions { name, .. } => {
                let message = format!("`{}` is a function and cannot be assigned to", name.name);
                self.error_at(Code::NotAssignable, span, message);
                return None;
            }
        };
        if place.ty == TypeTable::ERROR {
            return None;
        }
        if let PlaceBase::Value(_) = place.base {
            self.error_at(
                Code::NotAssignable,
                span,
                "this is part of a value, not of a variable, and cannot be assigned to",
            );
            return None;
        }
        if self.has_repeated_components(&place) {
            self.error_at(Code::NotAssignable, span, "a component is named twice, so this cannot be assigned to");
            return None;
        }
        if matches!(self.kind(place.ty), TypeKind::Void) {
            let error = Diagnostic::new(Code::NotAPointer, span, "a `void` pointer cannot be written through");
            self.error(error.help("cast it to a pointer to the type that lies there"));
            return None;
        }
        if matches!(self.kind(place.ty), TypeKind::Array(..)) {
            let error = Diagnostic::new(Code::NotAssignable, span, "an array cannot be assigned as a whole");
            self.error(error.help("assign its elements in a loop, or use `memcpy`"));
            return None;
        }
        if self.is_const(place.ty) {
            self.report_const(&place, span);
            return None;
        }
        if let PlaceBase::Local(id) = place.base {
            self.local(id).is_assigned = true;
            if let Some(capture) = self.capture_of(id) {
                capture.written = true;
            }
        }
        Some(place)
    }

    fn has_repeated_components(&self, place: &Place) -> bool {
        let Some(Projection::Swizzle { components, .. }) = place.projections.last() else { return false };
        components.iter().enumerate().any(|(index, component)| components[..index].contains(component))
    }

    fn report_const(&mut self, place: &Place, span: Span) {
        let (what, declared) = match place.base {
            PlaceBase::Local(id) => {
                let frozen = self.info(id).frozen;
                let local = self.local(id);
                (
                    frozen.map_or_else(
                        || format!("`{}` is `const`", local.name),
                        |why| format!("`{}` {why}", local.name),
                    ),
                    Some(local.span),
                )
            }
            PlaceBase::Global(id) => {
                let global = &self.globals[id.0 as usize];
                (format!("`{}` is `const`", global.name), Some(global.span))
            }
            _ => ("what lies here is `const`".to_string(), None),
        };
        let mut error = Diagnostic::new(Code::AssignToConst, span, format!("{what} and cannot be assigned to"));
        if let Some(declared) = declared.filter(|&declared| declared != span) {
            error = error.label(declared, "declared here");
        }
        self.error(error);
    }

    /// A plain assignment.
    pub(super) fn assign_value(&mut self, place: Place, value: Expr, span: Span) -> Expr {
        let ty = self.value_type(&place);
        if self.report_nested_varying(&place, &value, ty) {
            return Expr::error(span);
        }
        let value = self.convert(value, ty, "the assigned value");
        if value.ty == TypeTable::ERROR {
            return Expr::error(span);
        }
        Expr { kind: ExprKind::Assign(Box::new(place), Box::new(value)), ty, span }
    }

    /// Whether a varying value is assigned to an outer lane's variable in a nested `foreach`; reported.
    fn report_nested_varying(&mut self, place: &Place, value: &Expr, ty: TypeId) -> bool {
        let PlaceBase::Local(id) = place.base else { return false };
        if !self.is_varying(value.ty) || self.is_varying(ty) || self.capture_of(id).is_none() {
            return false;
        }
        let local = self.local(id);
        let (name, declared) = (local.name, local.span);
        let message =
            format!("a varying value is assigned to `{name}`, which is one value of the outer loop's lane here");
        let error = Diagnostic::new(Code::VaryingInNestedForeach, value.span, message)
            .at("differs between the lanes of the inner `foreach`")
            .label(declared, "declared outside the nested `foreach`");
        self.error(error.help("combine the inner lanes first: `reduce_add(…)`, `reduce_min(…)`, `reduce_max(…)`"));
        true
    }

    fn compound(&mut self, place: Place, op: BinaryOp, op_span: Span, value: Expr, span: Span) -> Expr {
        let ty = self.value_type(&place);
        if value.ty == TypeTable::ERROR {
            return Expr::error(span);
        }
        if let TypeKind::Pointer { .. } = self.kind(ty) {
            return self.pointer_compound(place, op, value, span);
        }
        let name = format!("{}=", op.as_str());
        let bits_only =
            matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor | BinaryOp::Shl | BinaryOp::Shr);
        let element = self.table.types.element_ty(ty);
        let fits = element.is_some_and(|ty| match (bits_only, ty) {
            (true, ty) => !ty.is_float(),
            (false, ty) => !(op == BinaryOp::Rem && ty.is_float()),
        });
        if !fits || (bits_only && self.table.types.element_ty(value.ty).is_some_and(Ty::is_float)) {
            let culprit = if fits { &value } else { &Expr { ty, ..Expr::error(place.span) } };
            let message = format!("`{name}` is not defined for `{}`", self.show(culprit.ty));
            let mut error = Diagnostic::new(Code::BadOperand, culprit.span, message);
            if op == BinaryOp::Rem {
                error = error.help("for floats write `x = fmod(x, y)`");
            }
            self.error(error.label(op_span, "").at(""));
            return Expr::error(span);
        }
        if self.report_nested_varying(&place, &value, ty) {
            return Expr::error(span);
        }
        self.warn_lossy(&value, ty, &name);
        let rhs_ty = ty_of_rhs(self, ty);
        let value = self.convert(value, rhs_ty, &format!("the right side of `{name}`"));
        // Bools are calculated with as integers.
        let calculation = match *self.kind(ty) {
            TypeKind::Scalar(Ty::Bool, shape) if !bits_only => self.scalar(Ty::I32, shape),
            _ => value.ty,
        };
        let element = self.table.types.element_ty(calculation).or(element);
        let rhs = self.convert(value, calculation, "this operand");
        if let ExprKind::Error = rhs.kind {
            return Expr::error(span);
        }
        let op = arithmetic_op(op, element.unwrap_or(Ty::I32));
        Expr { kind: ExprKind::CompoundAssign { place: Box::new(place), op, rhs: Box::new(rhs) }, ty, span }
    }

    fn warn_lossy(&mut self, value: &Expr, ty: TypeId, name: &str) {
        let elements = (self.table.types.element_ty(value.ty), self.table.types.element_ty(ty));
        if let (Some(from), Some(to)) = elements
            && from.is_float()
            && to.is_int()
            && value.constant_bits().is_none_or(|_| self.loses_fraction(value))
        {
            let message = format!("the right side of `{name}` is converted to `{}` first", self.show(ty));
            let warning = Diagnostic::new(Code::LossyAssignment, value.span, message);
            self.warn(warning.help("write `x = x … y` to calculate in floating point"));
        }
    }

    fn loses_fraction(&self, value: &Expr) -> bool {
        let Some(bits) = value.constant_bits() else { return true };
        match self.scalar_ty(value.ty) {
            Some(Ty::F32) => f32::from_bits(bits as u32).fract() != 0.0,
            Some(Ty::F64) => f64::from_bits(bits).fract() != 0.0,
            _ => true,
        }
    }

    fn pointer_compound(&mut self, place: Place, op: BinaryOp, value: Expr, span: Span) -> Expr {
        let ty = self.value_type(&place);
        if !matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            let message = format!("`{}=` is not defined for pointers", op.as_str());
            self.error_at(Code::BadOperand, span, message);
            return Expr::error(span);
        }
        let pointer = Expr { ty, ..Expr::error(place.span) };
        let Some(index) = self.offset_index(&pointer, value) else { return Expr::error(span) };
        if self.is_varying(index.ty) && !self.is_varying(ty) {
            let wanted = self.as_uniform(index.ty);
            self.convert(index, wanted, "the offset of a uniform pointer");
            return Expr::error(span);
        }
        let subtract = op == BinaryOp::Sub;
        let kind = ExprKind::PointerAssign { place: Box::new(place), index: Box::new(index), subtract };
        Expr { kind, ty, span }
    }

    /// `++` and `--`.
    pub(super) fn inc_dec(
        &mut self,
        operand: &'a ast::Expr<'a>,
        decrement: bool,
        postfix: bool,
        span: Span,
    ) -> Operand<'a> {
        let mut target = self.operand(operand);
        let name = if decrement { "--" } else { "++" };
        if let Some(call) = self.overloaded_inc_dec(name, &mut target, postfix, span) {
            return call;
        }
        let Some(place) = self.assignable(target, operand.span) else { return Operand::Value(Expr::error(span)) };
        let ty = self.value_type(&place);
        let fits = match *self.kind(ty) {
            TypeKind::Scalar(ty, _) => ty != Ty::Bool,
            TypeKind::Enum(..) => true,
            TypeKind::Vector(elem, _) => self.scalar_ty(elem).is_some_and(|ty| ty != Ty::Bool),
            TypeKind::Pointer { .. } => {
                let pointer = Expr { ty, ..Expr::error(operand.span) };
                let one = Expr::constant(1, self.table.types.uniform(Ty::I32), span);
                if self.offset_index(&pointer, one).is_none() {
                    return Operand::Value(Expr::error(span));
                }
                true
            }
            _ => false,
        };
        if !fits {
            let message = format!("`{name}` is not defined for `{}`", self.show(ty));
            self.error_at(Code::BadOperand, operand.span, message);
            return Operand::Value(Expr::error(span));
        }
        let kind = ExprKind::IncDec { place: Box::new(place), decrement, postfix };
        Operand::Value(Expr { kind, ty, span })
    }

    /// Binds a reference of type `reference` to an operand. A `const` reference may be bound to a value, which is kept in
    /// a variable of its own.
    pub(super) fn bind_reference(&mut self, operand: Operand<'a>, reference: TypeId, span: Span, what: &str) -> Expr {
        let TypeKind::Reference(target) = *self.kind(reference) else { return Expr::error(span) };
        let place = match operand {
            Operand::Place(place) | Operand::Constant(_, place) if self.is_addressable(&place) => place,
            other => {
                let value = self.value_of(other);
                return self.bind_to_copy(value, target, reference, span, what);
            }
        };
        if place.ty == TypeTable::ERROR || target == TypeTable::ERROR {
            return Expr::error(span);
        }
        let (plain, wanted) = (self.strip_const(place.ty), self.strip_const(target));
        let same = plain == wanted || self.fits_array_reference(plain, wanted);
        if !same {
            if self.is_const(target) {
                let value = self.load(place);
                return self.bind_to_copy(value, target, reference, span, what);
            }
            let message = format!("{what} must be a `{}`, not a `{}`", self.show(wanted), self.show(plain));
            let error = Diagnostic::new(Code::BadReference, span, message).at("cannot be referred to as that type");
            self.error(error.help("a reference needs exactly its type; copy the value to a variable of that type"));
            return Expr::error(span);
        }
        if place.varying_address {
            let message = format!("{what} cannot refer to different addresses in different lanes");
            let error = Diagnostic::new(Code::BadReference, span, message).at("each lane has its own address here");
            self.error(error.help("use a varying pointer instead of a reference"));
            return Expr::error(span);
        }
        if self.is_const(place.ty) && !self.is_const(target) {
            let message = format!("{what} could change what is `const`");
            let error = Diagnostic::new(Code::AssignToConst, span, message);
            self.error(error.help("declare the reference `const`"));
            return Expr::error(span);
        }
        self.address_of(place, reference)
    }

    fn fits_array_reference(&self, from: TypeId, to: TypeId) -> bool {
        match (self.kind(from), self.kind(to)) {
            (TypeKind::Array(a, _), TypeKind::Array(b, None)) => a == b,
            _ => false,
        }
    }

    fn bind_to_copy(&mut self, value: Expr, target: TypeId, reference: TypeId, span: Span, what: &str) -> Expr {
        if value.ty == TypeTable::ERROR {
            return value;
        }
        let plain = self.strip_const(target);
        if !self.is_const(target) {
            if value.ty != plain {
                let message = format!("{what} must be a variable of type `{}`, not a value", self.show(plain));
                let error = Diagnostic::new(Code::BadReference, span, message);
                self.error(
                    error.at(format!("this is a `{}`", self.show(value.ty))).help("store it in a variable first"),
                );
                return Expr::error(span);
            }
            let message = format!("{what} is a value, not a variable: what is written to the reference is lost");
            let warning = Diagnostic::new(Code::ReferenceToValue, span, message);
            if !matches!(self.kind(plain), TypeKind::Struct(..)) {
                self.warn(warning.help("store it in a variable first, or declare the reference `const`"));
            }
        }
        let value = self.convert(value, plain, what);
        let local = self.new_local(crate::symbol::Symbol::intern(""), plain, span);
        self.body.temporaries.push(local);
        let place = self.local_place(local, span);
        let assign = Expr { kind: ExprKind::Assign(Box::new(place.clone()), Box::new(value)), ty: plain, span };
        let address = self.address_of(place, reference);
        Expr { kind: ExprKind::Comma(Box::new(assign), Box::new(address)), ty: reference, span }
    }
}

/// The type the right side of a compound assignment to a type is converted to.
fn ty_of_rhs(checker: &mut Checker<'_, '_>, ty: TypeId) -> TypeId {
    match *checker.kind(ty) {
        TypeKind::Enum(_, shape) => checker.scalar(Ty::U32, shape),
        _ => ty,
    }
}
