//! Expressions: the dispatch, literals, and values of places.

use super::convert::zero;
use super::table::{Checker, DeclId, TemplateId};
use crate::ast::{self, BinaryOp, FloatLiteral, IntLiteral, UnaryOp};
use crate::diag::{Code, Diagnostic};
use crate::hir::{self, Expr, ExprKind, Linkage, Place, PlaceBase, Shape, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::sem::eval;
use spmdvm_vm::{Op, Ty};
use std::sync::Arc;

/// What an expression is, before it is known what is wanted of it.
#[derive(Clone, Debug)]
pub(super) enum Operand<'a> {
    /// A value.
    Value(Expr),
    /// A place.
    Place(Place),
    /// A place whose value is known.
    Constant(Expr, Place),
    /// Functions of one name, of which one is meant.
    Functions {
        /// The name.
        name: ast::Ident,
        /// The functions.
        decls: Arc<Vec<DeclId>>,
        /// The templates.
        templates: Arc<Vec<TemplateId>>,
        /// Template arguments, where written.
        args: Option<&'a [ast::TemplateArg<'a>]>,
    },
}

/// How deep expressions and statements may be nested.
const MAX_DEPTH: u32 = 600;

impl<'a> Checker<'a, '_> {
    /// An expression. Guards against nesting that would exhaust the stack.
    pub(super) fn operand(&mut self, expr: &'a ast::Expr<'a>) -> Operand<'a> {
        if self.diags.poll() {
            return Operand::Value(Expr::error(expr.span));
        }
        if self.depth >= MAX_DEPTH {
            self.error_at(Code::NestingTooDeep, expr.span, "this is nested too deep");
            return Operand::Value(Expr::error(expr.span));
        }
        self.depth += 1;
        let operand = self.operand_kind(expr);
        self.depth -= 1;
        operand
    }

    fn operand_kind(&mut self, expr: &'a ast::Expr<'a>) -> Operand<'a> {
        let span = expr.span;
        let value = match expr.kind {
            ast::ExprKind::Int { value, ty } => self.int_literal(value, ty, span),
            ast::ExprKind::Float { value, ty, rounded } => {
                if rounded {
                    self.note_rounded(span);
                }
                self.float_literal(value, ty, span)
            }
            ast::ExprKind::Bool(value) => Expr::constant(u64::from(value), self.table.types.uniform(Ty::Bool), span),
            ast::ExprKind::Null => {
                let ty = self.pointer_to(TypeTable::VOID, Shape::Uniform);
                Expr::constant(0, ty, span)
            }
            ast::ExprKind::String(text) => self.string(text, span),
            ast::ExprKind::Name { name, template_args } => return self.name(name, template_args),
            ast::ExprKind::Unary { op, operand } => return self.unary(op, operand, span),
            ast::ExprKind::Binary { .. } => self.binary(expr),
            ast::ExprKind::Assign { op, op_span, target, value } => {
                return self.assign(op, op_span, target, value, span);
            }
            ast::ExprKind::Conditional { condition, then, otherwise } => {
                self.conditional(condition, then, otherwise, span)
            }
            ast::ExprKind::Cast { ty, operand } => return self.cast(ty, operand, span),
            ast::ExprKind::SizeofType(ty) => {
                let resolved = self.resolve(ty, Shape::Varying);
                self.size_of(resolved, ty.span, span)
            }
            ast::ExprKind::SizeofExpr(operand) => {
                let ty = self.type_of(operand);
                self.size_of(ty, operand.span, span)
            }
            ast::ExprKind::Alloca(size) => self.alloca(size, span),
            ast::ExprKind::Call(call) => return self.call(call, span),
            ast::ExprKind::Crev(call) => self.crev(call, span),
            ast::ExprKind::Launch { counts, call } => self.launch(counts, call, span),
            ast::ExprKind::Intrinsic { name, .. } => self.intrinsic(name, span),
            ast::ExprKind::Index { base, index } => return self.index(base, index, span),
            ast::ExprKind::Member { base, member, arrow } => return self.member(base, member, arrow, span),
            ast::ExprKind::New { variability, ty, count, init } => self.new_expr(variability, ty, count, init, span),
            ast::ExprKind::Aggregate(_) => {
                let error = Diagnostic::new(Code::BadInitializer, span, "`{…}` can only initialise something");
                self.error(error.help("declare a variable with this initialiser and use that"));
                Expr::error(span)
            }
            ast::ExprKind::Error => Expr::error(span),
        };
        Operand::Value(value)
    }

    /// The value of an expression.
    pub(super) fn value(&mut self, expr: &'a ast::Expr<'a>) -> Expr {
        let operand = self.operand(expr);
        self.value_of(operand)
    }

    /// The value of an operand: places are read, arrays become pointers, single functions their addresses.
    pub(super) fn value_of(&mut self, operand: Operand<'a>) -> Expr {
        match operand {
            Operand::Value(value) | Operand::Constant(value, _) => value,
            Operand::Place(place) => self.load(place),
            Operand::Functions { name, decls, templates, args } => {
                if let ([decl], [], None) = (decls.as_slice(), templates.as_slice(), args) {
                    return self.function_address(*decl, name.span);
                }
                if let (Some(args), [template]) = (args, templates.as_slice()) {
                    return match self.instantiate_written(*template, args, name.span) {
                        Some(decl) => self.function_address(decl, name.span),
                        None => Expr::error(name.span),
                    };
                }
                let message = format!("several functions are named `{}`", name.name);
                let error = Diagnostic::new(Code::AmbiguousCall, name.span, message).at("which one is meant?");
                self.error(error.help("assign it to a function pointer of the type meant first"));
                Expr::error(name.span)
            }
        }
    }

    /// The value of an expression where a certain type is wanted: of several functions the one of that type is chosen.
    pub(super) fn value_for(&mut self, expr: &'a ast::Expr<'a>, wanted: TypeId) -> Expr {
        let operand = self.operand(expr);
        self.value_of_for(operand, wanted)
    }

    /// Likewise of an operand.
    pub(super) fn value_of_for(&mut self, operand: Operand<'a>, wanted: TypeId) -> Expr {
        if let Operand::Functions { name, decls, templates, args: None } = &operand
            && (decls.len() > 1 || !templates.is_empty())
            && let TypeKind::Pointer { pointee, .. } = *self.kind(wanted)
            && let TypeKind::Function(_) = self.kind(pointee)
        {
            for &decl in decls.clone().iter() {
                if self.function_type(decl) == pointee {
                    return self.function_address(decl, name.span);
                }
            }
            for &template in templates.clone().iter() {
                if let Some(decl) = self.deduce_for_type(template, pointee, name.span) {
                    return self.function_address(decl, name.span);
                }
            }
            let message = format!("no function `{}` has the type `{}`", name.name, self.show(wanted));
            self.error_at(Code::NoMatchingFunction, name.span, message);
            return Expr::error(name.span);
        }
        self.value_of(operand)
    }

    /// The type of an expression that is not evaluated.
    pub(super) fn type_of(&mut self, expr: &'a ast::Expr<'a>) -> TypeId {
        match self.operand(expr) {
            Operand::Place(place) | Operand::Constant(_, place) => place.ty,
            other => self.value_of(other).ty,
        }
    }

    /// Reads a place.
    pub(super) fn load(&mut self, place: Place) -> Expr {
        let span = place.span;
        if place.ty == TypeTable::ERROR {
            return Expr::error(span);
        }
        match *self.kind(place.ty) {
            TypeKind::Array(elem, _) => {
                let shape = if place.varying_address { Shape::Varying } else { Shape::Uniform };
                let ty = self.pointer_to(elem, shape);
                return self.address_of(place, ty);
            }
            TypeKind::Function(_) => {
                if let PlaceBase::Deref(pointer) = place.base {
                    return *pointer;
                }
                return Expr::error(span);
            }
            TypeKind::Void => {
                let error = Diagnostic::new(Code::NotAPointer, span, "a `void` pointer cannot be read through");
                self.error(error.help("cast it to a pointer to the type that lies there"));
                return Expr::error(span);
            }
            _ => {}
        }
        if let TypeKind::Struct(id, _) = *self.kind(place.ty)
            && !self.check_struct_complete(id, span)
        {
            return Expr::error(span);
        }
        let ty = self.value_type(&place);
        match place.base {
            PlaceBase::Value(value) if place.projections.is_empty() => *value,
            _ => Expr { kind: ExprKind::Load(place), ty, span },
        }
    }

    /// The type of the value that a place gives.
    pub(super) fn value_type(&mut self, place: &Place) -> TypeId {
        let ty = self.strip_const(place.ty);
        match self.shape(ty) {
            _ if place.varying_address => self.as_varying(ty),
            Shape::Soa(_) => self.as_uniform(ty),
            _ => ty,
        }
    }

    /// The address of a place, with this pointer or reference type.
    pub(super) fn address_of(&mut self, place: Place, ty: TypeId) -> Expr {
        self.mark_memory(&place);
        let span = place.span;
        Expr { kind: ExprKind::AddressOf(place), ty, span }
    }

    /// Notes that a place's variable must live in memory.
    pub(super) fn mark_memory(&mut self, place: &Place) {
        if let PlaceBase::Local(id) = place.base {
            self.local(id).needs_memory = true;
            self.local(id).is_assigned = true;
            if let Some(capture) = self.capture_of(id) {
                capture.written = true;
            }
        }
    }

    /// A place for a value that has none.
    pub(super) fn temporary(&mut self, value: Expr) -> Place {
        let (ty, span) = (value.ty, value.span);
        let place = Place {
            base: PlaceBase::Value(Box::new(value)),
            projections: Vec::new(),
            ty,
            varying_address: false,
            span,
        };
        self.deref_result(place)
    }

    /// A call that gives a reference is the place it refers to.
    fn deref_result(&mut self, place: Place) -> Place {
        let TypeKind::Reference(target) = *self.kind(place.ty) else { return place };
        let PlaceBase::Value(value) = place.base else { return place };
        Place { base: PlaceBase::Deref(value), ty: target, ..place }
    }

    fn int_literal(&mut self, value: u64, ty: IntLiteral, span: Span) -> Expr {
        let ty = match ty {
            IntLiteral::Int8 => Ty::I8,
            IntLiteral::Int32 => Ty::I32,
            IntLiteral::UInt32 => Ty::U32,
            IntLiteral::Int64 => Ty::I64,
            IntLiteral::UInt64 => Ty::U64,
        };
        let bits = super::constant::from_integer(ty, i128::from(value));
        Expr::constant(bits, self.table.types.uniform(ty), span)
    }

    fn float_literal(&mut self, value: f64, ty: FloatLiteral, span: Span) -> Expr {
        let ty = match ty {
            FloatLiteral::Float16 => Ty::F16,
            FloatLiteral::Float => Ty::F32,
            FloatLiteral::Double => Ty::F64,
        };
        let bits = match ty {
            Ty::F64 => value.to_bits(),
            _ => eval(Op::Convert, ty, Ty::F64, [value.to_bits(), 0, 0]).unwrap_or(0),
        };
        Expr::constant(bits, self.table.types.uniform(ty), span)
    }

    /// A string: the address of a constant, NUL-terminated array of `int8`.
    pub(super) fn string(&mut self, text: &str, span: Span) -> Expr {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        let byte = self.table.types.uniform(Ty::I8);
        let byte = self.make_const(byte);
        let array = self.table.types.intern(TypeKind::Array(byte, Some(bytes.len() as u64)), false);
        let id = match self.strings.get(&bytes) {
            Some(&id) => id,
            None => {
                let global = hir::Global {
                    name: format!("string.{}", self.strings.len()),
                    ty: array,
                    size: bytes.len() as u64,
                    init: bytes.clone(),
                    relocations: Vec::new(),
                    constant: true,
                    linkage: Linkage::Internal,
                    layout: None,
                    span,
                };
                let id = self.push_global(global);
                self.strings.insert(bytes, id);
                id
            }
        };
        let place =
            Place { base: PlaceBase::Global(id), projections: Vec::new(), ty: array, varying_address: false, span };
        let ty = self.pointer_to(byte, Shape::Uniform);
        Expr { kind: ExprKind::AddressOf(place), ty, span }
    }

    fn conditional(
        &mut self,
        condition: &'a ast::Expr<'a>,
        then: &'a ast::Expr<'a>,
        otherwise: &'a ast::Expr<'a>,
        span: Span,
    ) -> Expr {
        let condition = self.value(condition);
        let (then, otherwise) = (self.value(then), self.value(otherwise));
        if [&condition, &then, &otherwise].iter().any(|expr| expr.ty == TypeTable::ERROR) {
            return Expr::error(span);
        }
        let (condition, len) = match *self.kind(condition.ty) {
            TypeKind::Vector(elem, len) => {
                let shape = self.shape(elem);
                let bool_ty = self.scalar(Ty::Bool, shape);
                let vector = self.vector_of(bool_ty, len);
                (self.convert(condition, vector, "a condition"), Some(len))
            }
            _ => (self.condition(condition), None),
        };
        if condition.ty == TypeTable::ERROR {
            return Expr::error(span);
        }
        let Some(mut ty) = self.common_type(&then, &otherwise, "the two sides of `?:`", span) else {
            return Expr::error(span);
        };
        if self.is_varying(condition.ty) {
            ty = self.as_varying(ty);
        }
        if let Some(len) = len
            && self.scalar_ty(ty).is_some()
        {
            ty = self.vector_of(ty, len);
        }
        let then = self.convert(then, ty, "this side of `?:`");
        let otherwise = self.convert(otherwise, ty, "this side of `?:`");
        let condition = match len {
            Some(_) if self.is_varying(ty) && !self.is_varying(condition.ty) => {
                let varying = self.as_varying(condition.ty);
                self.convert(condition, varying, "a condition")
            }
            _ => condition,
        };
        match condition.constant_bits() {
            Some(0) => Expr { span, ..otherwise },
            Some(_) => Expr { span, ..then },
            None => {
                let kind = ExprKind::Conditional {
                    condition: Box::new(condition),
                    then: Box::new(then),
                    otherwise: Box::new(otherwise),
                };
                Expr { kind, ty, span }
            }
        }
    }

    fn cast(&mut self, ty: &'a ast::TypeExpr<'a>, operand: &'a ast::Expr<'a>, span: Span) -> Operand<'a> {
        let to = self.resolve_unbound(ty);
        if let TypeKind::Reference(target) = *self.kind(to) {
            return self.cast_to_reference(operand, target, span);
        }
        let value = self.value_for(operand, to);
        Operand::Value(self.cast_to(value, to, span))
    }

    /// `(T &)x`: the place `x`, seen as a `T`. What is no place, or would have to change its shape, is cast as a value.
    fn cast_to_reference(&mut self, operand: &'a ast::Expr<'a>, target: TypeId, span: Span) -> Operand<'a> {
        let operand = self.operand(operand);
        if let Operand::Place(place) = &operand {
            let shape = if self.is_varying(place.ty) { Shape::Varying } else { Shape::Uniform };
            let target = self.bind(target, shape);
            if self.strip_const(place.ty) == self.strip_const(target) {
                let is_const =
                    matches!(place.base, PlaceBase::Local(_) | PlaceBase::Global(_)) && self.is_const(place.ty);
                return match is_const {
                    // A variable that is `const` stays so: its value is taken for granted.
                    true => operand,
                    false => Operand::Place(Place { ty: target, span, ..place.clone() }),
                };
            }
            if self.is_addressable(place) && !place.varying_address && self.shape(place.ty) == self.shape(target) {
                return Operand::Place(self.seen_as(place.clone(), target, span));
            }
        }
        let value = self.value_of(operand);
        Operand::Value(self.cast_to(value, target, span))
    }

    /// A place as one of another type at the same address.
    fn seen_as(&mut self, place: Place, target: TypeId, span: Span) -> Place {
        let (from, to) = (self.pointer_to(place.ty, Shape::Uniform), self.pointer_to(target, Shape::Uniform));
        let address = super::convert::cast(hir::Cast::Reinterpret, self.address_of(place, from), to);
        Place {
            base: PlaceBase::Deref(Box::new(address)),
            projections: Vec::new(),
            ty: target,
            varying_address: false,
            span,
        }
    }

    fn size_of(&mut self, ty: TypeId, place: Span, span: Span) -> Expr {
        if ty != TypeTable::ERROR {
            self.check_complete(ty, place, "the operand of `sizeof`");
        }
        let ty = match *self.kind(ty) {
            TypeKind::Reference(target) => target,
            _ => ty,
        };
        let size = self.table.types.size(ty, self.lanes());
        Expr::constant(size, self.table.types.uniform(Ty::U64), span)
    }

    fn alloca(&mut self, size: &'a ast::Expr<'a>, span: Span) -> Expr {
        let size = self.value(size);
        let int64 = self.table.types.uniform(Ty::I64);
        let size = self.convert(size, int64, "the size");
        let ty = self.pointer_to(TypeTable::VOID, Shape::Uniform);
        Expr { kind: ExprKind::Alloca(Box::new(size)), ty, span }
    }

    fn intrinsic(&mut self, name: &str, span: Span) -> Expr {
        let message = format!("there is no intrinsic `{name}`");
        let error = Diagnostic::new(Code::UnknownIntrinsic, span, message);
        self.error(error.help("LLVM intrinsics belong to one machine; use the library's functions"));
        Expr::error(span)
    }

    fn new_expr(
        &mut self,
        variability: Option<ast::Variability>,
        ty: &'a ast::TypeExpr<'a>,
        count: Option<&'a ast::Expr<'a>>,
        init: Option<&'a [&'a ast::Expr<'a>]>,
        span: Span,
    ) -> Expr {
        let is_uniform = variability == Some(ast::Variability::Uniform);
        let elem = self.resolve(ty, Shape::Uniform);
        if elem == TypeTable::ERROR || !self.check_complete(elem, ty.span, "what is allocated") {
            return Expr::error(span);
        }
        let shape = if is_uniform { Shape::Uniform } else { Shape::Varying };
        let count = count.map(|count| {
            let count = self.value(count);
            let int64 = self.scalar(Ty::I64, shape);
            Box::new(self.convert(count, int64, "the number of elements"))
        });
        let init = init.filter(|init| !init.is_empty()).map(|init| {
            // What a lane writes to its own allocation is that lane's value.
            let value_ty = if is_uniform { elem } else { self.as_varying(elem) };
            Box::new(self.init_new(value_ty, init, span))
        });
        let ty = self.pointer_to(elem, shape);
        Expr { kind: ExprKind::New { elem, count, init }, ty, span }
    }

    /// An expression statement's operand: places are not read.
    pub(super) fn effect(&mut self, expr: &'a ast::Expr<'a>) -> Expr {
        match self.operand(expr) {
            Operand::Value(value) => value,
            Operand::Place(place) => match place.base {
                PlaceBase::Deref(reference) if place.projections.is_empty() && is_effect(&reference) => *reference,
                _ => self.load(place),
            },
            other => self.value_of(other),
        }
    }

    /// The operands of unary `+`, `-`, `~` and `!` and the rest.
    fn unary(&mut self, op: UnaryOp, operand: &'a ast::Expr<'a>, span: Span) -> Operand<'a> {
        match op {
            UnaryOp::AddressOf => Operand::Value(self.address(operand, span)),
            UnaryOp::Deref => self.deref(operand, span),
            UnaryOp::PreInc => self.inc_dec(operand, false, false, span),
            UnaryOp::PreDec => self.inc_dec(operand, true, false, span),
            UnaryOp::PostInc => self.inc_dec(operand, false, true, span),
            UnaryOp::PostDec => self.inc_dec(operand, true, true, span),
            UnaryOp::Plus | UnaryOp::Neg | UnaryOp::BitNot | UnaryOp::Not => self.arithmetic_unary(op, operand, span),
        }
    }

    /// Zero of a type as a value: a constant where it can be one.
    pub(super) fn zero_of(&mut self, ty: TypeId, span: Span) -> Expr {
        match self.scalar_ty(ty) {
            Some(_) if !matches!(self.kind(ty), TypeKind::Reference(_)) => self.constant_of(0, ty, span),
            _ => zero(ty, span),
        }
    }

    /// Whether an operator is the comma.
    pub(super) fn is_comma(expr: &ast::Expr<'a>) -> bool {
        matches!(expr.kind, ast::ExprKind::Binary { op: BinaryOp::Comma, .. })
    }
}

/// Whether evaluating it does something.
pub(super) fn is_effect(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Call(..)
        | ExprKind::Crev(..)
        | ExprKind::Launch { .. }
        | ExprKind::Assign(..)
        | ExprKind::CompoundAssign { .. }
        | ExprKind::PointerAssign { .. }
        | ExprKind::IncDec { .. }
        | ExprKind::New { .. }
        | ExprKind::Op { .. }
        | ExprKind::Error => true,
        ExprKind::Cast(_, operand) => is_effect(operand),
        ExprKind::Comma(_, last) => is_effect(last) || matches!(last.kind, ExprKind::Zero),
        ExprKind::Logical { rhs, .. } => is_effect(rhs),
        ExprKind::Conditional { then, otherwise, .. } => is_effect(then) || is_effect(otherwise),
        ExprKind::Load(place) => match &place.base {
            PlaceBase::Deref(value) | PlaceBase::Value(value) => is_effect(value),
            _ => false,
        },
        _ => false,
    }
}
