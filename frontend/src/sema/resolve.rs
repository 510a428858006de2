//! Types as written → types of the table; and how types change shape.

use super::UNBOUND;
use super::table::Checker;
use crate::ast::{self, Basic, Sign, TypeClass, TypeExpr, Variability};
use crate::diag::{Code, Diagnostic};
use crate::hir::{FunctionType, Shape, StructId, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use spmdvm_vm::Ty;

/// No array or vector is longer, so that sizes never overflow.
const MAX_LENGTH: u64 = 1 << 32;

/// How deep types may be nested.
const MAX_DEPTH: u32 = 100;

impl<'a> Checker<'a, '_> {
    /// The type written, bound to `default` where no variability is written.
    pub(super) fn resolve(&mut self, written: &TypeExpr<'a>, default: Shape) -> TypeId {
        let ty = self.resolve_unbound(written);
        self.bind(ty, default)
    }

    /// The type of a parameter: arrays are pointers to their elements, functions pointers to themselves.
    pub(super) fn resolve_param(&mut self, written: &TypeExpr<'a>) -> TypeId {
        let ty = self.resolve(written, Shape::Varying);
        self.param_type(ty)
    }

    /// What a parameter of this type becomes.
    pub(super) fn param_type(&mut self, ty: TypeId) -> TypeId {
        match *self.table.types.kind(ty) {
            TypeKind::Array(elem, _) => self.pointer_to(elem, Shape::Uniform),
            TypeKind::Function(_) => self.pointer_to(ty, Shape::Uniform),
            _ => ty,
        }
    }

    /// The type written, perhaps unbound.
    pub(super) fn resolve_unbound(&mut self, written: &TypeExpr<'a>) -> TypeId {
        let base = self.resolve_kind(written);
        let mut ty = match written.quals.sign {
            Some(sign) => self.with_sign(base, sign, written.span),
            None => base,
        };
        if let Some(variability) = written.quals.variability {
            ty = self.reshape(ty, variability_shape(variability));
        }
        if let Some(width) = written.quals.soa {
            ty = self.resolve_soa(ty, width, written.span);
        }
        if written.quals.is_const {
            ty = self.make_const(ty);
        }
        if self.table.types.depth(ty) > MAX_DEPTH {
            self.error_at(Code::NestingTooDeep, written.span, "this type is nested too deep");
            return TypeTable::ERROR;
        }
        ty
    }

    fn resolve_kind(&mut self, written: &TypeExpr<'a>) -> TypeId {
        match written.kind {
            ast::TypeKind::Basic(Basic::Void) => TypeTable::VOID,
            ast::TypeKind::Basic(basic) => self.scalar(basic_ty(basic), UNBOUND),
            ast::TypeKind::Named { name, tag: Some(ast::Tag::Struct) } => self.resolve_struct(name),
            ast::TypeKind::Named { name, .. } => self.resolve_name(name),
            ast::TypeKind::Polymorphic { class, quantifier } => self.resolve_class(class, quantifier, written.span),
            ast::TypeKind::Vector { element, len } => self.resolve_vector(element, len, written.span),
            ast::TypeKind::Pointer(pointee) => {
                let pointee = self.resolve(pointee, Shape::Uniform);
                if let TypeKind::Reference(_) = self.table.types.kind(pointee) {
                    self.error_at(Code::BadType, written.span, "there are no pointers to references");
                    return TypeTable::ERROR;
                }
                self.pointer_to(pointee, UNBOUND)
            }
            ast::TypeKind::Reference(target) => {
                let target = self.resolve_unbound(target);
                if let TypeKind::Reference(_) = self.table.types.kind(target) {
                    self.error_at(Code::BadType, written.span, "there are no references to references");
                    return TypeTable::ERROR;
                }
                self.table.types.intern(TypeKind::Reference(target), false)
            }
            ast::TypeKind::Array { element, len } => self.resolve_array(element, len, written.span),
            ast::TypeKind::Function(function) => self.resolve_function(function),
            ast::TypeKind::Error => TypeTable::ERROR,
        }
    }

    fn resolve_name(&mut self, name: ast::Ident) -> TypeId {
        if let Some(ty) = self.type_named(name.name) {
            return ty;
        }
        let mut error = Diagnostic::new(Code::UnknownType, name.span, format!("there is no type `{}`", name.name))
            .at("not declared");
        if !self.diags.is_silent_at(name.span)
            && let Some(near) = self.nearest_type(name.name)
        {
            error = error.help(format!("did you mean `{near}`?"));
        }
        self.error(error);
        TypeTable::ERROR
    }

    /// `struct name`: where no such type is known, this declares it.
    fn resolve_struct(&mut self, name: ast::Ident) -> TypeId {
        match self.type_named(name.name) {
            Some(ty) => ty,
            None => {
                let id = self.new_struct(name);
                self.table.only_named.insert(id);
                self.table.types.intern(TypeKind::Struct(id, UNBOUND), false)
            }
        }
    }

    /// The type of that name in sight.
    pub(super) fn type_named(&self, name: crate::symbol::Symbol) -> Option<TypeId> {
        if let Some(&ty) = self.body.types.get(name) {
            return Some(ty);
        }
        if let Some(bindings) = &self.body.bindings
            && let Some((_, ty)) = bindings.types.iter().find(|(known, _)| *known == name)
        {
            return Some(*ty);
        }
        self.file_type(name)
    }

    fn resolve_class(&mut self, class: TypeClass, quantifier: Option<u32>, span: Span) -> TypeId {
        let bound = self.body.bindings.as_ref().and_then(|bindings| {
            bindings.classes.iter().find(|(key, _)| *key == (class, quantifier)).map(|(_, ty)| *ty)
        });
        match bound {
            Some(ty) => self.scalar(ty, UNBOUND),
            None => {
                let message = "a polymorphic type must occur among the function's parameters too";
                self.error_at(Code::BadPolymorphism, span, message);
                TypeTable::ERROR
            }
        }
    }

    fn resolve_vector(&mut self, element: &TypeExpr<'a>, len: &'a ast::Expr<'a>, span: Span) -> TypeId {
        let elem = self.resolve_unbound(element);
        let Some(len) = self.constant_length(len, "a short vector's length") else { return TypeTable::ERROR };
        let is_element = matches!(
            self.table.types.kind(elem),
            TypeKind::Scalar(..) | TypeKind::Enum(..) | TypeKind::Pointer { .. } | TypeKind::Error
        );
        if !is_element {
            let message = format!("there are no short vectors of `{}`", self.show(elem));
            self.error(Diagnostic::new(Code::BadType, span, message).help("use an array"));
            return TypeTable::ERROR;
        }
        if len == 0 || len > 256 {
            self.error_at(Code::BadArrayLength, span, "a short vector has 1 to 256 elements");
            return TypeTable::ERROR;
        }
        self.vector_of(elem, len as u32)
    }

    fn resolve_array(&mut self, element: &TypeExpr<'a>, len: Option<&'a ast::Expr<'a>>, span: Span) -> TypeId {
        let elem = self.resolve_unbound(element);
        let what = match self.table.types.kind(elem) {
            TypeKind::Void => Some("void"),
            TypeKind::Function(_) => Some("functions"),
            TypeKind::Reference(_) => Some("references"),
            _ => None,
        };
        if let Some(what) = what {
            self.error_at(Code::BadType, span, format!("there are no arrays of {what}"));
            return TypeTable::ERROR;
        }
        let len = match len {
            None => None,
            Some(len) => match self.constant_length(len, "an array's length") {
                Some(len) => Some(len),
                None => return TypeTable::ERROR,
            },
        };
        self.table.types.intern(TypeKind::Array(elem, len), false)
    }

    /// A length: a constant, not negative, not too large.
    fn constant_length(&mut self, len: &'a ast::Expr<'a>, what: &str) -> Option<u64> {
        let value = self.constant_integer(len, what)?;
        if (0..=MAX_LENGTH as i128).contains(&value) {
            return Some(value as u64);
        }
        self.error_at(Code::BadArrayLength, len.span, format!("{what} cannot be {value}"));
        None
    }

    fn resolve_function(&mut self, function: &'a ast::FunctionType<'a>) -> TypeId {
        let result = self.resolve(function.result, Shape::Varying);
        let params = function.params.iter().map(|param| self.resolve_param(param.ty)).collect();
        let (task, unmasked) = (function.flags.task, function.flags.unmasked);
        self.table.types.intern(TypeKind::Function(FunctionType { result, params, task, unmasked }), false)
    }

    fn resolve_soa(&mut self, ty: TypeId, width: &'a ast::Expr<'a>, span: Span) -> TypeId {
        let Some(n) = self.constant_integer(width, "the width of `soa`") else { return TypeTable::ERROR };
        if !(1..=1 << 16).contains(&n) || n.count_ones() != 1 {
            let message = format!("the width of `soa` must be a power of two, not {n}");
            self.error_at(Code::BadSoa, width.span, message);
            return TypeTable::ERROR;
        }
        self.check_soa_element(ty, span);
        let ty = self.reshape(ty, Shape::Soa(n as u32));
        self.ensure_soa(ty, n as u32);
        ty
    }

    fn check_soa_element(&mut self, ty: TypeId, span: Span) {
        let mut inner = ty;
        while let TypeKind::Array(elem, _) = *self.table.types.kind(inner) {
            inner = elem;
        }
        let TypeKind::Struct(id, _) = *self.table.types.kind(inner) else {
            if inner != TypeTable::ERROR {
                let message = format!("`soa` is for structs, not for `{}`", self.show(ty));
                self.error_at(Code::BadSoa, span, message);
            }
            return;
        };
        let raw = self.table.raw_fields.get(&id).cloned().unwrap_or_default();
        for (index, field) in raw.into_iter().enumerate() {
            if !self.is_unbound(field) {
                let def = self.table.types.struct_def(id);
                let (name, place, member) = (def.name, def.span, def.fields[index].name);
                let message =
                    format!("`{name}` cannot be laid out as `soa`: its member `{member}` has its own variability");
                self.error(Diagnostic::new(Code::BadSoa, span, message).label(place, "declared here"));
                return;
            }
        }
    }

    /// Whether all of a type is unbound, as members of `soa` structs must be.
    pub(super) fn is_unbound(&self, ty: TypeId) -> bool {
        match *self.table.types.kind(ty) {
            TypeKind::Array(elem, _) | TypeKind::Vector(elem, _) => self.is_unbound(elem),
            TypeKind::Struct(id, shape) => shape == UNBOUND && !self.table.bound_structs.contains(&id),
            TypeKind::Reference(_) => false,
            _ => self.table.types.shape(ty) == UNBOUND || ty == TypeTable::ERROR,
        }
    }

    /// Computes the member types of a struct's `soa<n>` instances.
    fn ensure_soa(&mut self, ty: TypeId, n: u32) {
        match *self.table.types.kind(ty) {
            TypeKind::Array(elem, _) => self.ensure_soa(elem, n),
            TypeKind::Struct(id, _) => {
                let known = self.table.types.struct_def(id).fields.iter().any(|f| f.soa.iter().any(|(w, _)| *w == n));
                if known {
                    return;
                }
                for (index, raw) in self.table.raw_fields.get(&id).cloned().unwrap_or_default().into_iter().enumerate()
                {
                    let member = self.bind(raw, Shape::Soa(n));
                    self.table.types.structs[id.0 as usize].fields[index].soa.push((n, member));
                    self.ensure_soa(member, n);
                }
                let lanes = self.lanes();
                self.table.types.remember_layout(id, Shape::Soa(n), lanes);
            }
            _ => {}
        }
    }

    fn with_sign(&mut self, ty: TypeId, sign: Sign, span: Span) -> TypeId {
        let TypeKind::Scalar(scalar, shape) = *self.table.types.kind(ty) else {
            if ty != TypeTable::ERROR {
                let message = format!("`{}` cannot be signed or unsigned", self.show(ty));
                self.error_at(Code::BadType, span, message);
            }
            return ty;
        };
        let unsigned = match scalar {
            Ty::I8 | Ty::U8 => (Ty::I8, Ty::U8),
            Ty::I16 | Ty::U16 => (Ty::I16, Ty::U16),
            Ty::I32 | Ty::U32 => (Ty::I32, Ty::U32),
            Ty::I64 | Ty::U64 => (Ty::I64, Ty::U64),
            _ => {
                let message = format!("`{}` cannot be signed or unsigned", self.show(ty));
                self.error_at(Code::BadType, span, message);
                return ty;
            }
        };
        self.scalar(if sign == Sign::Signed { unsigned.0 } else { unsigned.1 }, shape)
    }

    /// A scalar type of any shape, unbound too.
    pub(super) fn scalar(&mut self, ty: Ty, shape: Shape) -> TypeId {
        self.table.types.scalar(ty, shape)
    }

    /// A pointer type.
    pub(super) fn pointer_to(&mut self, pointee: TypeId, shape: Shape) -> TypeId {
        self.table.types.intern(TypeKind::Pointer { pointee, shape }, false)
    }

    /// A short vector type.
    pub(super) fn vector_of(&mut self, elem: TypeId, len: u32) -> TypeId {
        let elem = self.strip_const(elem);
        self.table.types.intern(TypeKind::Vector(elem, len), false)
    }

    /// Binds what is unbound in a type (not behind pointers, where all is bound).
    pub(super) fn bind(&mut self, ty: TypeId, shape: Shape) -> TypeId {
        self.map_shape(ty, &|old| if old == UNBOUND { shape } else { old })
    }

    /// The type with another shape, whatever it had: of the value itself, not of what it points to.
    pub(super) fn reshape(&mut self, ty: TypeId, shape: Shape) -> TypeId {
        self.map_shape(ty, &|_| shape)
    }

    /// The varying type of the same kind.
    pub(super) fn as_varying(&mut self, ty: TypeId) -> TypeId {
        self.reshape(ty, Shape::Varying)
    }

    /// The uniform type of the same kind.
    pub(super) fn as_uniform(&mut self, ty: TypeId) -> TypeId {
        self.reshape(ty, Shape::Uniform)
    }

    fn map_shape(&mut self, ty: TypeId, change: &dyn Fn(Shape) -> Shape) -> TypeId {
        let is_const = self.table.types[ty].is_const;
        let kind = match *self.table.types.kind(ty) {
            TypeKind::Scalar(scalar, shape) => TypeKind::Scalar(scalar, change(shape)),
            TypeKind::Enum(id, shape) => TypeKind::Enum(id, change(shape)),
            TypeKind::Struct(id, shape) => TypeKind::Struct(id, change(shape)),
            TypeKind::Pointer { pointee, shape } => TypeKind::Pointer { pointee, shape: change(shape) },
            TypeKind::Array(elem, len) => TypeKind::Array(self.map_shape(elem, change), len),
            TypeKind::Vector(elem, len) => TypeKind::Vector(self.map_shape(elem, change), len),
            TypeKind::Reference(target) => TypeKind::Reference(self.map_shape(target, change)),
            TypeKind::Error | TypeKind::Void | TypeKind::Function(_) => return ty,
        };
        self.table.types.intern(kind, is_const)
    }

    /// The type, `const`: of an array its elements.
    pub(super) fn make_const(&mut self, ty: TypeId) -> TypeId {
        match *self.table.types.kind(ty) {
            TypeKind::Array(elem, len) => {
                let elem = self.make_const(elem);
                self.table.types.intern(TypeKind::Array(elem, len), false)
            }
            TypeKind::Error | TypeKind::Function(_) | TypeKind::Reference(_) => ty,
            ref kind => {
                let kind = kind.clone();
                self.table.types.intern(kind, true)
            }
        }
    }

    /// The type without its outermost `const`.
    pub(super) fn strip_const(&mut self, ty: TypeId) -> TypeId {
        if let TypeKind::Array(elem, len) = *self.table.types.kind(ty) {
            let elem = self.strip_const(elem);
            return self.table.types.intern(TypeKind::Array(elem, len), false);
        }
        if !self.table.types[ty].is_const {
            return ty;
        }
        let kind = self.table.types.kind(ty).clone();
        self.table.types.intern(kind, false)
    }

    /// Whether what has this type must not be assigned.
    pub(super) fn is_const(&self, ty: TypeId) -> bool {
        match *self.table.types.kind(ty) {
            TypeKind::Array(elem, _) => self.is_const(elem),
            _ => self.table.types[ty].is_const,
        }
    }

    /// What a type is.
    pub(super) fn kind(&self, ty: TypeId) -> &TypeKind {
        self.table.types.kind(ty)
    }

    /// The shape of a type.
    pub(super) fn shape(&self, ty: TypeId) -> Shape {
        self.table.types.shape(ty)
    }

    /// Whether values of the type differ between lanes.
    pub(super) fn is_varying(&self, ty: TypeId) -> bool {
        self.table.types.is_varying(ty)
    }

    /// The type as shown in messages.
    pub(super) fn show(&self, ty: TypeId) -> String {
        self.table.types.display(ty)
    }

    /// Reports if the type has no size, or contains something that has none.
    pub(super) fn check_complete(&mut self, ty: TypeId, span: Span, what: &str) -> bool {
        match *self.kind(ty) {
            TypeKind::Void => {
                self.error_at(Code::BadType, span, format!("{what} cannot be of type `void`"));
                false
            }
            TypeKind::Function(_) => {
                self.error_at(Code::BadType, span, format!("{what} cannot be a function"));
                false
            }
            TypeKind::Array(_, None) => {
                let error = Diagnostic::new(Code::IncompleteType, span, format!("{what} needs an array length"));
                self.error(error.help("write the length, or give an initialiser `{…}` that has one"));
                false
            }
            TypeKind::Array(elem, _) => self.check_complete(elem, span, what),
            TypeKind::Struct(id, _) => self.check_struct_complete(id, span),
            _ => true,
        }
    }

    /// Reports if a struct is only declared.
    pub(super) fn check_struct_complete(&mut self, id: StructId, span: Span) -> bool {
        let def = self.table.types.struct_def(id);
        if !def.is_opaque {
            return true;
        }
        let (name, place) = (def.name, def.span);
        let only_named = self.table.only_named.contains(&id);
        let what = if only_named { "named" } else { "declared" };
        let message = format!("`struct {name}` is {what} but not defined, so its size is not known");
        let error = Diagnostic::new(Code::IncompleteType, span, message);
        self.error(match only_named {
            true => match self.nearest_type(name).filter(|_| !self.diags.is_silent_at(span)) {
                Some(near) => error.label(place, "named here").help(format!("did you mean `{near}`?")),
                None => error.label(place, "named here").help("define it in front"),
            },
            false => error.label(place, "declared here"),
        });
        false
    }
}

/// The shape a qualifier asks for.
pub(super) fn variability_shape(variability: Variability) -> Shape {
    match variability {
        Variability::Uniform => Shape::Uniform,
        Variability::Varying => Shape::Varying,
    }
}

/// The element type of a built-in type; `void` has none and is handled before.
pub(super) fn basic_ty(basic: Basic) -> Ty {
    match basic {
        Basic::Void | Basic::Bool => Ty::Bool,
        Basic::Int8 => Ty::I8,
        Basic::Int16 => Ty::I16,
        Basic::Int32 => Ty::I32,
        Basic::Int64 => Ty::I64,
        Basic::UInt8 => Ty::U8,
        Basic::UInt16 => Ty::U16,
        Basic::UInt32 => Ty::U32,
        Basic::UInt64 => Ty::U64,
        Basic::Float16 => Ty::F16,
        Basic::Float => Ty::F32,
        Basic::Double => Ty::F64,
    }
}
