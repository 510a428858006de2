//! Conversions: which there are, and making them explicit.

use super::table::Checker;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Cast, Expr, ExprKind, Shape, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::Ty;

/// Why a conversion is impossible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mismatch {
    /// It would make one value of many.
    VaryingToUniform,
    /// The types have nothing to do with one another.
    Incompatible,
    /// A cast could do it.
    NeedsCast,
}

/// The steps of a conversion, innermost first.
type Steps = Vec<(Cast, TypeId)>;

impl<'a> Checker<'a, '_> {
    /// Converts implicitly, or reports why not; `what` says what the value is for ("an argument", "the result").
    pub(super) fn convert(&mut self, expr: Expr, to: TypeId, what: &str) -> Expr {
        let to = self.strip_const(to);
        if expr.ty == to || expr.ty == TypeTable::ERROR || to == TypeTable::ERROR {
            return expr;
        }
        if self.is_null(&expr) && matches!(self.kind(to), TypeKind::Pointer { .. }) {
            return self.null_of(to, expr.span);
        }
        match self.steps(expr.ty, to) {
            Ok(steps) => {
                self.warn_discarded_const(&expr, to);
                self.warn_out_of_range(&expr, to);
                self.warn_rounded(&expr, to);
                self.apply(expr, steps)
            }
            Err(why) => {
                self.report_mismatch(&expr, to, why, what);
                Expr { ty: to, ..Expr::error(expr.span) }
            }
        }
    }

    /// Whether an implicit conversion exists (beside null pointers, which depend on the value).
    pub(super) fn can_convert(&mut self, from: TypeId, to: TypeId) -> Result<(), Mismatch> {
        let (from, to) = (self.strip_const(from), self.strip_const(to));
        if from == to { Ok(()) } else { self.steps(from, to).map(|_| ()) }
    }

    /// A constant zero: what may become a null pointer.
    pub(super) fn is_null(&self, expr: &Expr) -> bool {
        let is_integer = match self.kind(expr.ty) {
            TypeKind::Scalar(ty, _) => ty.is_int() || *ty == Ty::Bool,
            TypeKind::Pointer { .. } => true,
            _ => false,
        };
        is_integer && expr.constant_bits() == Some(0)
    }

    fn null_of(&mut self, to: TypeId, span: Span) -> Expr {
        let uniform = self.as_uniform(to);
        let null = Expr::constant(0, uniform, span);
        if uniform == to { null } else { cast(Cast::Broadcast, null, to) }
    }

    /// Applies the steps, folding constants.
    pub(super) fn apply(&mut self, mut expr: Expr, steps: Steps) -> Expr {
        for (kind, ty) in steps {
            expr = self.fold_cast(kind, expr, ty);
        }
        expr
    }

    /// The steps of an implicit conversion; neither type is `const` at its top, and they differ.
    fn steps(&mut self, from: TypeId, to: TypeId) -> Result<Steps, Mismatch> {
        use TypeKind as K;
        let (source, target) = (self.kind(from).clone(), self.kind(to).clone());
        let mut steps = Vec::new();
        match (&source, &target) {
            (K::Error, _) | (_, K::Error) => {}
            (K::Scalar(..) | K::Enum(..), K::Scalar(ty, shape)) => {
                self.scalar_steps(from, *ty, *shape, to, &mut steps)?;
            }
            (K::Enum(a, from_shape), K::Enum(b, to_shape)) => {
                if a != b {
                    return Err(Mismatch::NeedsCast);
                }
                broadcast_step(*from_shape, *to_shape, to, &mut steps)?;
            }
            (K::Scalar(ty, from_shape), K::Enum(..)) => {
                let integer = ty.is_int() && !lost_shape(*from_shape, self.shape(to));
                return Err(if integer { Mismatch::NeedsCast } else { self.shape_or(from, to) });
            }
            (K::Pointer { shape, .. }, K::Scalar(Ty::Bool, to_shape)) => {
                let condition = self.scalar(Ty::Bool, *shape);
                steps.push((Cast::Convert, condition));
                broadcast_step(*shape, *to_shape, to, &mut steps)?;
            }
            (K::Pointer { pointee: a, shape: from_shape }, K::Pointer { pointee: b, shape: to_shape }) => {
                if lost_shape(*from_shape, *to_shape) {
                    return Err(Mismatch::VaryingToUniform);
                }
                self.check_pointees(*a, *b)?;
                let same_shape = self.pointer_to(*b, *from_shape);
                if same_shape != from {
                    steps.push((Cast::Reinterpret, same_shape));
                }
                broadcast_step(*from_shape, *to_shape, to, &mut steps)?;
            }
            (K::Pointer { .. }, K::Scalar(ty, _)) if ty.is_int() => return Err(Mismatch::NeedsCast),
            (K::Scalar(ty, _), K::Pointer { .. }) if ty.is_int() => return Err(Mismatch::NeedsCast),
            (K::Vector(a, n), K::Vector(b, m)) => {
                if n != m {
                    return Err(Mismatch::Incompatible);
                }
                self.vector_steps(*a, *b, *n, to, &mut steps)?;
            }
            (K::Scalar(..) | K::Enum(..) | K::Pointer { .. }, K::Vector(elem, _)) => {
                let elem = self.strip_const(*elem);
                if elem != from {
                    steps = self.steps(from, elem)?;
                }
                steps.push((Cast::Splat, to));
            }
            (K::Struct(a, from_shape), K::Struct(b, to_shape)) => {
                if a != b {
                    return Err(Mismatch::Incompatible);
                }
                broadcast_step(*from_shape, *to_shape, to, &mut steps)?;
            }
            _ => return Err(Mismatch::Incompatible),
        }
        Ok(steps)
    }

    /// Scalar to scalar: first the element type, then the shape, so that a uniform value is converted once.
    fn scalar_steps(
        &mut self,
        from: TypeId,
        ty: Ty,
        shape: Shape,
        to: TypeId,
        steps: &mut Steps,
    ) -> Result<(), Mismatch> {
        let from_shape = self.shape(from);
        let mut from_ty = self.table.types.register_ty(from).unwrap_or(ty);
        if let TypeKind::Enum(..) = self.kind(from) {
            from_ty = Ty::U32;
            let plain = self.scalar(Ty::U32, from_shape);
            steps.push((Cast::Reinterpret, plain));
        }
        if from_ty != ty {
            let converted = self.scalar(ty, from_shape);
            steps.push((Cast::Convert, converted));
        }
        broadcast_step(from_shape, shape, to, steps)
    }

    fn vector_steps(
        &mut self,
        from: TypeId,
        to_elem: TypeId,
        len: u32,
        to: TypeId,
        steps: &mut Steps,
    ) -> Result<(), Mismatch> {
        let (from, to_elem) = (self.strip_const(from), self.strip_const(to_elem));
        if from == to_elem {
            return Ok(());
        }
        for (kind, ty) in self.steps(from, to_elem)? {
            let vector = self.vector_of(ty, len);
            steps.push((kind, vector));
        }
        if let Some(last) = steps.last_mut() {
            last.1 = to;
        }
        Ok(())
    }

    fn check_pointees(&mut self, from: TypeId, to: TypeId) -> Result<(), Mismatch> {
        let (from, to) = (self.strip_const(from), self.strip_const(to));
        let fits = from == to
            || matches!(self.kind(to), TypeKind::Void)
            || matches!(self.kind(from), TypeKind::Error)
            || matches!(self.kind(to), TypeKind::Error)
            || self.same_arrays(from, to);
        if fits { Ok(()) } else { Err(Mismatch::NeedsCast) }
    }

    /// Arrays of one element type, one of which has no length.
    fn same_arrays(&self, from: TypeId, to: TypeId) -> bool {
        match (self.kind(from), self.kind(to)) {
            (TypeKind::Array(a, n), TypeKind::Array(b, m)) => {
                (n.is_none() || m.is_none() || n == m) && (a == b || self.same_arrays(*a, *b))
            }
            _ => false,
        }
    }

    fn shape_or(&self, from: TypeId, to: TypeId) -> Mismatch {
        if lost_shape(self.shape(from), self.shape(to)) { Mismatch::VaryingToUniform } else { Mismatch::Incompatible }
    }

    fn warn_discarded_const(&mut self, expr: &Expr, to: TypeId) {
        let (TypeKind::Pointer { pointee: from, .. }, TypeKind::Pointer { pointee: to_pointee, .. }) =
            (self.kind(expr.ty), self.kind(to))
        else {
            return;
        };
        if self.is_const(*from) && !self.is_const(*to_pointee) {
            let message =
                format!("`{}` becomes `{}`: what is `const` can be written", self.show(expr.ty), self.show(to));
            self.warn(Diagnostic::new(Code::DiscardsConst, expr.span, message));
        }
    }

    fn warn_out_of_range(&mut self, expr: &Expr, to: TypeId) {
        let ExprKind::Const(bits) = expr.kind else { return };
        let (Some(from_ty), Some(to_ty)) = (self.table.types.register_ty(expr.ty), self.table.types.element_ty(to))
        else {
            return;
        };
        if !from_ty.is_int() || !to_ty.is_int() {
            return;
        }
        let value = super::constant::to_integer(from_ty, bits);
        let bits = to_ty.size() as u32 * 8;
        // Either reading of the bits is taken as meant: `uint8 x = -1`, `int32 x = 0xffffffff`.
        let range = -(1i128 << (bits - 1))..(1i128 << bits);
        if !range.contains(&value) {
            let message = format!("{value} does not fit into `{}`", self.show(to));
            self.warn(Diagnostic::new(Code::ConstantOutOfRange, expr.span, message));
        }
    }

    /// Says that a value cannot become what is needed, and what could be done.
    pub(super) fn report_mismatch(&mut self, expr: &Expr, to: TypeId, why: Mismatch, what: &str) {
        let (from_name, to_name) = (self.show(expr.ty), self.show(to));
        let error = match why {
            Mismatch::VaryingToUniform => {
                let message = format!("{what} must be uniform, but this is varying");
                let error = Diagnostic::new(Code::VaryingToUniform, expr.span, message)
                    .at(format!("this is `{from_name}`, but `{to_name}` is needed"));
                error.help(self.uniform_advice(expr.ty))
            }
            Mismatch::NeedsCast => {
                let message = format!("{what} must be `{to_name}`, not `{from_name}`");
                Diagnostic::new(Code::TypeMismatch, expr.span, message)
                    .at(format!("this is `{from_name}`"))
                    .help(format!("if this is meant, cast it: `({to_name})…`"))
            }
            Mismatch::Incompatible => {
                let message = format!("{what} must be `{to_name}`, not `{from_name}`");
                Diagnostic::new(Code::TypeMismatch, expr.span, message).at(format!("this is `{from_name}`"))
            }
        };
        self.error(error);
    }

    /// How to make one value of many, for values of this type.
    pub(super) fn uniform_advice(&self, ty: TypeId) -> &'static str {
        match self.kind(ty) {
            TypeKind::Scalar(Ty::Bool, _) => "declare the target `varying`, or ask `any(…)` or `all(…)`",
            TypeKind::Scalar(..) => {
                "declare the target `varying`, or combine the lanes: `reduce_add(…)`, `reduce_max(…)`, or take one: `extract(…, lane)`"
            }
            _ => "declare the target `varying`",
        }
    }

    /// Converts to bool for a condition; any shape.
    pub(super) fn condition(&mut self, expr: Expr) -> Expr {
        match *self.kind(expr.ty) {
            TypeKind::Error => expr,
            TypeKind::Scalar(_, shape) | TypeKind::Enum(_, shape) | TypeKind::Pointer { shape, .. } => {
                let ty = self.scalar(Ty::Bool, shape);
                self.convert(expr, ty, "a condition")
            }
            _ => {
                let message = format!("a condition must be a number, bool or pointer, not `{}`", self.show(expr.ty));
                let mut error = Diagnostic::new(Code::TypeMismatch, expr.span, message);
                if let TypeKind::Vector(..) = self.kind(expr.ty) {
                    error = error.help("ask for the components one by one: `v.x && v.y`");
                }
                self.error(error);
                Expr::error(expr.span)
            }
        }
    }

    /// An explicit cast. What is unbound in the target takes the operand's shape.
    pub(super) fn cast_to(&mut self, expr: Expr, to: TypeId, span: Span) -> Expr {
        if expr.ty == TypeTable::ERROR || to == TypeTable::ERROR {
            return Expr::error(span);
        }
        let shape = match self.shape(expr.ty) {
            Shape::Varying => Shape::Varying,
            _ => Shape::Uniform,
        };
        let to = self.bind(to, shape);
        let to = self.strip_const(to);
        if expr.ty == to {
            return Expr { span, ..expr };
        }
        if let TypeKind::Void = self.kind(to) {
            return Expr { kind: ExprKind::Comma(Box::new(expr), Box::new(zero(TypeTable::VOID, span))), ty: to, span };
        }
        let outcome = self.cast_steps(&expr, to);
        match outcome {
            Ok(steps) => {
                let cast = self.apply(expr, steps);
                Expr { span, ..cast }
            }
            Err(Mismatch::VaryingToUniform) => {
                self.report_mismatch(&expr, to, Mismatch::VaryingToUniform, "the operand of this cast");
                Expr { ty: to, ..Expr::error(span) }
            }
            Err(_) => {
                let message = format!("`{}` cannot be cast to `{}`", self.show(expr.ty), self.show(to));
                self.error(Diagnostic::new(Code::BadCast, span, message));
                Expr { ty: to, ..Expr::error(span) }
            }
        }
    }

    fn cast_steps(&mut self, expr: &Expr, to: TypeId) -> Result<Steps, Mismatch> {
        use TypeKind as K;
        let from = expr.ty;
        let (from_shape, to_shape) = (self.shape(from), self.shape(to));
        if lost_shape(from_shape, to_shape) {
            return Err(Mismatch::VaryingToUniform);
        }
        if let Ok(steps) = self.steps(from, to) {
            return Ok(steps);
        }
        let mut steps = Vec::new();
        match (self.kind(from).clone(), self.kind(to).clone()) {
            (K::Pointer { .. }, K::Pointer { pointee, .. }) => {
                let same_shape = self.pointer_to(pointee, from_shape);
                steps.push((Cast::Reinterpret, same_shape));
            }
            (K::Pointer { .. }, K::Scalar(ty, _)) if ty.is_int() => {
                let bits = self.scalar(Ty::U64, from_shape);
                steps.push((Cast::Reinterpret, bits));
                if ty != Ty::U64 {
                    let converted = self.scalar(ty, from_shape);
                    steps.push((Cast::Convert, converted));
                }
            }
            (K::Scalar(ty, _), K::Pointer { pointee, .. }) if ty.is_int() => {
                if ty != Ty::U64 {
                    let bits = self.scalar(Ty::U64, from_shape);
                    steps.push((Cast::Convert, bits));
                }
                let pointer = self.pointer_to(pointee, from_shape);
                steps.push((Cast::Reinterpret, pointer));
            }
            (K::Scalar(..) | K::Enum(..), K::Enum(id, _)) => {
                let bits = self.scalar(Ty::U32, from_shape);
                if from != bits {
                    steps = self.steps(from, bits)?;
                }
                let uniform = self.table.types.intern(K::Enum(id, from_shape), false);
                steps.push((Cast::Reinterpret, uniform));
            }
            (K::Vector(a, n), K::Vector(b, m)) if n == m => {
                let element = Expr { ty: a, ..Expr::error(expr.span) };
                for (kind, ty) in self.cast_steps(&element, b)? {
                    let vector = self.vector_of(ty, n);
                    steps.push((kind, vector));
                }
                return Ok(steps);
            }
            _ => return Err(Mismatch::Incompatible),
        }
        broadcast_step(from_shape, to_shape, to, &mut steps)?;
        Ok(steps)
    }
}

/// Whether the shapes would make one value of many.
pub(super) fn lost_shape(from: Shape, to: Shape) -> bool {
    from == Shape::Varying && to == Shape::Uniform
}

fn broadcast_step(from: Shape, to: Shape, ty: TypeId, steps: &mut Steps) -> Result<(), Mismatch> {
    if lost_shape(from, to) {
        return Err(Mismatch::VaryingToUniform);
    }
    if from != to {
        steps.push((Cast::Broadcast, ty));
    }
    Ok(())
}

/// A conversion node.
pub(super) fn cast(kind: Cast, operand: Expr, ty: TypeId) -> Expr {
    let span = operand.span;
    Expr { kind: ExprKind::Cast(kind, Box::new(operand)), ty, span }
}

/// Zero of any type.
pub(super) fn zero(ty: TypeId, span: Span) -> Expr {
    Expr { kind: ExprKind::Zero, ty, span }
}
