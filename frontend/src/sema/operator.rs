//! Arithmetic, comparisons and logic.

use super::expr::Operand;
use super::table::Checker;
use crate::ast::{self, BinaryOp, UnaryOp};
use crate::diag::{Code, Diagnostic};
use crate::hir::{Cast, Expr, ExprKind, Shape, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::{Op, Ty};

/// Types from the least to the most general: of two operands the later one decides, as in ISPC. There are no integer
/// promotions: `int8 + int8` is `int8`.
const GENERALITY: [Ty; 12] =
    [Ty::Bool, Ty::I8, Ty::U8, Ty::I16, Ty::U16, Ty::I32, Ty::U32, Ty::F16, Ty::F32, Ty::I64, Ty::U64, Ty::F64];

/// The more general of two element types.
pub(super) fn more_general(a: Ty, b: Ty) -> Ty {
    let rank = |ty: Ty| GENERALITY.iter().position(|&other| other == ty);
    if rank(a) >= rank(b) { a } else { b }
}

impl<'a> Checker<'a, '_> {
    /// A binary operation. Long chains of the same nesting (`a + b + c + …`) are walked, not recursed into.
    pub(super) fn binary(&mut self, expr: &'a ast::Expr<'a>) -> Expr {
        let mut chain = Vec::new();
        let mut first = expr;
        while let ast::ExprKind::Binary { op, lhs, rhs, .. } = first.kind {
            chain.push((op, rhs, first.span));
            first = lhs;
            if chain.len() > MAX_CHAIN {
                self.error_at(Code::NestingTooDeep, expr.span, "this expression has too many operators");
                return Expr::error(expr.span);
            }
        }
        // What follows is as deep as the chain is long, which counts against the limit of nesting.
        let weight = chain.len() as u32 / 4;
        self.depth += weight;
        let value = self.binary_chain(first, chain);
        self.depth -= weight;
        value
    }

    fn binary_chain(&mut self, first: &'a ast::Expr<'a>, mut chain: Vec<Link<'a>>) -> Expr {
        let mut lhs = self.operand(first);
        while let Some((op, rhs, span)) = chain.pop() {
            let value = match op {
                BinaryOp::Comma => {
                    let (first, last) = (self.value_of(lhs), self.value(rhs));
                    let ty = last.ty;
                    Expr { kind: ExprKind::Comma(Box::new(first), Box::new(last)), ty, span }
                }
                _ => {
                    let mut rhs = self.operand(rhs);
                    match self.overloaded_binary(op.as_str(), &mut lhs, &mut rhs, span) {
                        Some(value) => {
                            lhs = value;
                            continue;
                        }
                        None => {
                            let (lhs, rhs) = (self.value_of(lhs), self.value_of(rhs));
                            self.binary_values(op, lhs, rhs, span)
                        }
                    }
                }
            };
            lhs = Operand::Value(value);
        }
        self.value_of(lhs)
    }

    /// An operation on two values.
    pub(super) fn binary_values(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        if lhs.ty == TypeTable::ERROR || rhs.ty == TypeTable::ERROR {
            return Expr::error(span);
        }
        let is_pointer = |checker: &Self, expr: &Expr| matches!(checker.kind(expr.ty), TypeKind::Pointer { .. });
        let pointers = is_pointer(self, &lhs) || is_pointer(self, &rhs);
        match op {
            BinaryOp::And | BinaryOp::Or => self.logical(op == BinaryOp::Or, lhs, rhs, span),
            BinaryOp::Add | BinaryOp::Sub if pointers => self.pointer_arithmetic(op, lhs, rhs, span),
            BinaryOp::Shl | BinaryOp::Shr => self.shift(op, lhs, rhs, span),
            _ if op.is_comparison() => self.comparison(op, lhs, rhs, span),
            _ => self.arithmetic(op, lhs, rhs, span),
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let bits_only = matches!(op, BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor);
        for operand in [&lhs, &rhs] {
            let element = self.table.types.element_ty(operand.ty).filter(|_| self.is_arithmetic(operand.ty));
            let fits = match element {
                None => false,
                Some(ty) if bits_only => !ty.is_float(),
                Some(ty) => ty != Ty::Bool && !(op == BinaryOp::Rem && ty.is_float()),
            };
            if !fits {
                return self.bad_operand(op.as_str(), operand, span);
            }
        }
        let Some(mut ty) = self.common_type(&lhs, &rhs, &format!("the operands of `{}`", op.as_str()), span) else {
            return Expr::error(span);
        };
        let of_enum = match *self.kind(ty) {
            TypeKind::Enum(_, shape) => Some(std::mem::replace(&mut ty, self.scalar(Ty::U32, shape))),
            _ => None,
        };
        self.warn_fraction_lost(&lhs, &rhs, ty);
        let lhs = self.convert(lhs, ty, "this operand");
        let rhs = self.convert(rhs, ty, "this operand");
        let element = self.table.types.element_ty(ty).unwrap_or(Ty::I32);
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) && element.is_int() && rhs.constant_bits() == Some(0) {
            let warning = Diagnostic::new(Code::ConstantDivisionByZero, rhs.span, "division by zero");
            self.warn(warning.at("this is 0"));
        }
        if op == BinaryOp::Div
            && let Some(value) = self.by_inverse_root(&lhs, &rhs, ty, span)
        {
            return value;
        }
        let value = self.fold_binary(arithmetic_op(op, element), lhs, rhs, ty, span);
        match of_enum {
            // As in ISPC: flags of an enum together are of that enum again.
            Some(of_enum) => self.fold_cast(Cast::Reinterpret, value, of_enum),
            None => value,
        }
    }

    /// Numbers, bools, enums and short vectors of them.
    fn is_arithmetic(&self, ty: TypeId) -> bool {
        match *self.kind(ty) {
            TypeKind::Scalar(..) | TypeKind::Enum(..) => true,
            TypeKind::Vector(elem, _) => self.is_arithmetic(elem),
            _ => false,
        }
    }

    fn bad_operand(&mut self, op: &str, operand: &Expr, span: Span) -> Expr {
        self.bad_operand_of("", op, "a, b", operand, span)
    }

    /// Likewise for a kind of operators whose parameters, were they defined, would have these names.
    fn bad_operand_of(&mut self, kind: &str, op: &str, params: &str, operand: &Expr, span: Span) -> Expr {
        let ty = self.show(operand.ty);
        let message = format!("{kind}`{op}` is not defined for `{ty}`");
        let error = Diagnostic::new(Code::BadOperand, operand.span, message).at(format!("this is `{ty}`"));
        let help = match *self.kind(operand.ty) {
            TypeKind::Scalar(Ty::Bool, _) => Some("count with `(int)…`, or use `&&`, `||`, `!`".to_string()),
            TypeKind::Scalar(ty, _) if ty.is_float() && op == "%" => Some("for floats write `fmod(a, b)`".to_string()),
            TypeKind::Scalar(ty, _) if ty.is_float() && matches!(op, "&" | "|" | "^" | "~" | "<<" | ">>") => {
                Some("for the bits of a float write `intbits(x)`".to_string())
            }
            TypeKind::Struct(id, _) => {
                let name = self.table.types.struct_def(id).name;
                let params: Vec<String> = params.split(", ").map(|param| format!("{name} {param}")).collect();
                Some(format!("define it: `{name} operator{op}({}) {{ … }}`", params.join(", ")))
            }
            _ => None,
        };
        self.error(match help {
            Some(help) => error.help(help),
            None => error,
        });
        Expr::error(span)
    }

    fn shift(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        for operand in [&lhs, &rhs] {
            let integer = self.table.types.element_ty(operand.ty).is_some_and(|ty| !ty.is_float());
            if !integer || !self.is_arithmetic(operand.ty) {
                return self.bad_operand(op.as_str(), operand, span);
            }
        }
        let mut ty = self.strip_const(lhs.ty);
        match *self.kind(ty) {
            TypeKind::Scalar(Ty::Bool, shape) => ty = self.scalar(Ty::I32, shape),
            TypeKind::Enum(_, shape) => ty = self.scalar(Ty::U32, shape),
            _ => {}
        }
        if self.is_varying(rhs.ty) {
            ty = self.as_varying(ty);
        }
        if let TypeKind::Vector(_, len) = *self.kind(rhs.ty)
            && self.scalar_ty(ty).is_some()
        {
            ty = self.vector_of(ty, len);
        }
        let lhs = self.convert(lhs, ty, "this operand");
        let rhs = self.convert(rhs, ty, "the shift count");
        self.fold_binary(if op == BinaryOp::Shl { Op::Shl } else { Op::Shr }, lhs, rhs, ty, span)
    }

    fn comparison(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        for operand in [&lhs, &rhs] {
            if !self.is_arithmetic(operand.ty) && !matches!(self.kind(operand.ty), TypeKind::Pointer { .. }) {
                return self.bad_operand(op.as_str(), operand, span);
            }
        }
        let what = format!("the operands of `{}`", op.as_str());
        let Some(ty) = self.common_type(&lhs, &rhs, &what, span) else { return Expr::error(span) };
        self.warn_fraction_lost(&lhs, &rhs, ty);
        self.warn_comparison(op, &lhs, &rhs, ty, span);
        let lhs = self.convert(lhs, ty, "this operand");
        let rhs = self.convert(rhs, ty, "this operand");
        let result = self.bool_like(ty);
        let op = match op {
            BinaryOp::Lt => Op::Lt,
            BinaryOp::Gt => Op::Gt,
            BinaryOp::Le => Op::Le,
            BinaryOp::Ge => Op::Ge,
            BinaryOp::Eq => Op::Eq,
            _ => Op::Ne,
        };
        self.fold_binary(op, lhs, rhs, result, span)
    }

    /// Bools of the shape and number of components of a type.
    pub(super) fn bool_like(&mut self, ty: TypeId) -> TypeId {
        let shape = self.shape(ty);
        let scalar = self.scalar(Ty::Bool, shape);
        match *self.kind(ty) {
            TypeKind::Vector(_, len) => self.vector_of(scalar, len),
            _ => scalar,
        }
    }

    fn logical(&mut self, is_or: bool, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let vector = |checker: &Self, expr: &Expr| matches!(checker.kind(expr.ty), TypeKind::Vector(..));
        if vector(self, &lhs) || vector(self, &rhs) {
            return self.logical_vectors(is_or, lhs, rhs, span);
        }
        let (lhs, rhs) = (self.condition(lhs), self.condition(rhs));
        if lhs.ty == TypeTable::ERROR || rhs.ty == TypeTable::ERROR {
            return Expr::error(span);
        }
        let varying = self.is_varying(lhs.ty) || self.is_varying(rhs.ty);
        let ty = self.scalar(Ty::Bool, if varying { Shape::Varying } else { Shape::Uniform });
        let (lhs, rhs) = (self.convert(lhs, ty, "this operand"), self.convert(rhs, ty, "this operand"));
        match lhs.constant_bits() {
            Some(bits) if (bits != 0) == is_or => Expr { span, ..lhs },
            Some(_) => Expr { span, ..rhs },
            None => Expr { kind: ExprKind::Logical { is_or, lhs: Box::new(lhs), rhs: Box::new(rhs) }, ty, span },
        }
    }

    /// On short vectors both sides are evaluated and combined componentwise.
    fn logical_vectors(&mut self, is_or: bool, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let Some(common) = self.common_type(&lhs, &rhs, "the operands of a logical operator", span) else {
            return Expr::error(span);
        };
        let ty = self.bool_like(common);
        let (lhs, rhs) = (self.convert(lhs, ty, "this operand"), self.convert(rhs, ty, "this operand"));
        self.fold_binary(if is_or { Op::Or } else { Op::And }, lhs, rhs, ty, span)
    }

    fn pointer_arithmetic(&mut self, op: BinaryOp, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let is_pointer = |checker: &Self, expr: &Expr| matches!(checker.kind(expr.ty), TypeKind::Pointer { .. });
        match (is_pointer(self, &lhs), is_pointer(self, &rhs)) {
            (true, true) if op == BinaryOp::Sub => self.pointer_difference(lhs, rhs, span),
            (true, true) => {
                self.error_at(Code::BadOperand, span, "two pointers cannot be added");
                Expr::error(span)
            }
            (true, false) => self.pointer_offset(lhs, rhs, op == BinaryOp::Sub, span),
            (false, true) if op == BinaryOp::Add => self.pointer_offset(rhs, lhs, false, span),
            _ => self.bad_operand(op.as_str(), &rhs, span),
        }
    }

    fn pointer_difference(&mut self, lhs: Expr, rhs: Expr, span: Span) -> Expr {
        let Some(ty) = self.common_type(&lhs, &rhs, "the operands of `-`", span) else { return Expr::error(span) };
        if !self.check_pointee(&lhs) {
            return Expr::error(span);
        }
        let (lhs, rhs) = (self.convert(lhs, ty, "this operand"), self.convert(rhs, ty, "this operand"));
        let shape = self.shape(ty);
        let ty = self.scalar(Ty::I64, shape);
        Expr { kind: ExprKind::PointerDifference(Box::new(lhs), Box::new(rhs)), ty, span }
    }

    fn pointer_offset(&mut self, pointer: Expr, index: Expr, subtract: bool, span: Span) -> Expr {
        let Some(index) = self.offset_index(&pointer, index) else { return Expr::error(span) };
        let mut ty = self.strip_const(pointer.ty);
        if self.is_varying(index.ty) {
            ty = self.as_varying(ty);
        }
        let pointer = self.convert(pointer, ty, "the pointer");
        let kind = ExprKind::PointerOffset { pointer: Box::new(pointer), index: Box::new(index), subtract };
        Expr { kind, ty, span }
    }

    /// The index of pointer arithmetic, checked with its pointer.
    pub(super) fn offset_index(&mut self, pointer: &Expr, index: Expr) -> Option<Expr> {
        if !self.check_pointee(pointer) || index.ty == TypeTable::ERROR {
            return None;
        }
        match *self.kind(index.ty) {
            TypeKind::Scalar(Ty::I32 | Ty::U32 | Ty::I64 | Ty::U64, _) => Some(index),
            TypeKind::Scalar(ty, shape) if !ty.is_float() => {
                let wide = self.scalar(Ty::I32, shape);
                Some(self.convert(index, wide, "the offset"))
            }
            TypeKind::Enum(_, shape) => {
                let wide = self.scalar(Ty::U32, shape);
                Some(self.convert(index, wide, "the offset"))
            }
            TypeKind::Scalar(_, shape) => {
                let warning =
                    Diagnostic::new(Code::FractionOfOffset, index.span, "the fraction of this offset is lost");
                self.warn(warning.at(format!("this is `{}`", self.show(index.ty))).help("cast it to an integer"));
                let wide = self.scalar(Ty::I64, shape);
                Some(self.convert(index, wide, "the offset"))
            }
            _ => {
                let message = format!("an integer can be added to a pointer, not `{}`", self.show(index.ty));
                self.error_at(Code::BadOperand, index.span, message);
                None
            }
        }
    }

    /// Whether a pointer's pointee has a size to step by.
    fn check_pointee(&mut self, pointer: &Expr) -> bool {
        let TypeKind::Pointer { pointee, .. } = *self.kind(pointer.ty) else { return false };
        match *self.kind(pointee) {
            TypeKind::Void | TypeKind::Function(_) => {
                let message = format!("`{}` cannot be stepped: what it points to has no size", self.show(pointer.ty));
                let error = Diagnostic::new(Code::BadOperand, pointer.span, message);
                self.error(error.help("cast it to `int8 *` to count bytes"));
                false
            }
            TypeKind::Struct(id, _) => self.check_struct_complete(id, pointer.span),
            _ => true,
        }
    }

    /// The type both operands are converted to; reported if there is none.
    pub(super) fn common_type(&mut self, lhs: &Expr, rhs: &Expr, what: &str, span: Span) -> Option<TypeId> {
        if lhs.ty == TypeTable::ERROR || rhs.ty == TypeTable::ERROR {
            return None;
        }
        let pointer = |checker: &Self, expr: &Expr| matches!(checker.kind(expr.ty), TypeKind::Pointer { .. });
        let mixed = pointer(self, lhs) != pointer(self, rhs);
        let found = if mixed && pointer(self, lhs) && self.is_null(rhs) {
            Some(lhs.ty)
        } else if mixed && pointer(self, rhs) && self.is_null(lhs) {
            Some(rhs.ty)
        } else if pointer(self, lhs) && pointer(self, rhs) && self.is_null(lhs) != self.is_null(rhs) {
            // NULL is a `void *` only for want of another type.
            let ty = if self.is_null(rhs) { lhs.ty } else { rhs.ty };
            let is_varying = self.is_varying(lhs.ty) || self.is_varying(rhs.ty);
            Some(if is_varying { self.as_varying(ty) } else { ty })
        } else {
            self.more_general_type(lhs.ty, rhs.ty)
        };
        if found.is_none() {
            let (left, right) = (self.show(lhs.ty), self.show(rhs.ty));
            let message = format!("{what} have types that do not go together");
            let error = Diagnostic::new(Code::TypeMismatch, span, message);
            let error =
                error.label(lhs.span, format!("this is `{left}`")).label(rhs.span, format!("this is `{right}`"));
            self.error(error);
        }
        found
    }

    /// The more general of two types, varying if either is.
    pub(super) fn more_general_type(&mut self, a: TypeId, b: TypeId) -> Option<TypeId> {
        use TypeKind as K;
        let (mut a, mut b) = (self.strip_const(a), self.strip_const(b));
        if self.is_varying(a) || self.is_varying(b) {
            (a, b) = (self.as_varying(a), self.as_varying(b));
        }
        if a == b {
            return Some(a);
        }
        match (self.kind(a).clone(), self.kind(b).clone()) {
            (K::Scalar(x, shape), K::Scalar(y, _)) => Some(self.scalar(more_general(x, y), shape)),
            (K::Enum(..), K::Enum(_, shape)) => Some(self.scalar(Ty::U32, shape)),
            (K::Enum(..), K::Scalar(..)) => Some(b),
            (K::Scalar(..), K::Enum(..)) => Some(a),
            (K::Vector(x, n), K::Vector(y, m)) if n == m => {
                let elem = self.more_general_type(x, y)?;
                Some(self.vector_of(elem, n))
            }
            (K::Vector(x, n), K::Scalar(..) | K::Enum(..)) => {
                let elem = self.more_general_type(x, b)?;
                Some(self.vector_of(elem, n))
            }
            (K::Scalar(..) | K::Enum(..), K::Vector(y, n)) => {
                let elem = self.more_general_type(a, y)?;
                Some(self.vector_of(elem, n))
            }
            (K::Pointer { pointee: x, shape }, K::Pointer { pointee: y, .. }) => self.common_pointer(x, y, shape),
            _ => None,
        }
    }

    fn common_pointer(&mut self, x: TypeId, y: TypeId, shape: Shape) -> Option<TypeId> {
        let (plain_x, plain_y) = (self.strip_const(x), self.strip_const(y));
        let is_void = |checker: &Self, ty: TypeId| matches!(checker.kind(ty), TypeKind::Void);
        let pointee = if plain_x == plain_y {
            if self.is_const(x) { x } else { y }
        } else if is_void(self, plain_x) || is_void(self, plain_y) {
            let is_const = self.is_const(x) || self.is_const(y);
            if is_const { self.make_const(TypeTable::VOID) } else { TypeTable::VOID }
        } else {
            return None;
        };
        Some(self.pointer_to(pointee, shape))
    }

    /// `+x`, `-x`, `~x`, `!x`.
    pub(super) fn arithmetic_unary(&mut self, op: UnaryOp, operand: &'a ast::Expr<'a>, span: Span) -> Operand<'a> {
        let mut operand = self.operand(operand);
        if let Some(call) = self.overloaded_unary(op.as_str(), &mut operand, span) {
            return call;
        }
        let value = self.value_of(operand);
        if value.ty == TypeTable::ERROR {
            return Operand::Value(Expr::error(span));
        }
        if self.rounded.contains(&value.span) {
            self.note_rounded(span);
        }
        Operand::Value(match op {
            UnaryOp::Not => self.not(value, span),
            // As in ISPC it means nothing, whatever it stands before.
            UnaryOp::Plus => Expr { span, ..value },
            _ => self.number_unary(op, value, span),
        })
    }

    fn not(&mut self, value: Expr, span: Span) -> Expr {
        let value = match *self.kind(value.ty) {
            TypeKind::Vector(..) => {
                let ty = self.bool_like(value.ty);
                self.convert(value, ty, "this operand")
            }
            _ => self.condition(value),
        };
        let ty = value.ty;
        self.fold_unary(Op::Not, value, ty, span)
    }

    fn number_unary(&mut self, op: UnaryOp, value: Expr, span: Span) -> Expr {
        let element = self.table.types.element_ty(value.ty).filter(|_| self.is_arithmetic(value.ty));
        let fits = element.is_some_and(|ty| match op {
            UnaryOp::BitNot => !ty.is_float(),
            _ => ty != Ty::Bool,
        });
        if !fits {
            return self.bad_operand_of("unary ", op.as_str(), "a", &value, span);
        }
        let value = match *self.kind(value.ty) {
            TypeKind::Enum(_, shape) => {
                let plain = self.scalar(Ty::U32, shape);
                self.convert(value, plain, "this operand")
            }
            _ => value,
        };
        let ty = value.ty;
        match op {
            UnaryOp::Neg => self.fold_unary(Op::Neg, value, ty, span),
            _ => self.fold_unary(Op::Not, value, ty, span),
        }
    }
}

/// An operator of a chain, its right operand, and the span up to there.
type Link<'a> = (BinaryOp, &'a ast::Expr<'a>, Span);

/// The most operators in a row.
const MAX_CHAIN: usize = 1000;

/// The operation of the table for an operator on elements of a type.
pub(super) fn arithmetic_op(op: BinaryOp, element: Ty) -> Op {
    match op {
        BinaryOp::Add => Op::Add,
        BinaryOp::Sub => Op::Sub,
        BinaryOp::Mul => Op::Mul,
        BinaryOp::Div if element.is_float() => Op::FDiv,
        BinaryOp::Div => Op::IDiv,
        BinaryOp::Rem if element.is_float() => Op::FRem,
        BinaryOp::Rem => Op::IRem,
        BinaryOp::BitAnd => Op::And,
        BinaryOp::BitOr => Op::Or,
        BinaryOp::BitXor => Op::Xor,
        BinaryOp::Shl => Op::Shl,
        _ => Op::Shr,
    }
}
