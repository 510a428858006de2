//! Places: members, elements, what pointers point to; and addresses.

use super::expr::Operand;
use super::suggest::nearest;
use super::table::Checker;
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, ExprKind, Place, PlaceBase, Projection, Shape, StructId, TypeId, TypeKind, TypeTable};
use crate::source::Span;

impl<'a> Checker<'a, '_> {
    /// A place for an operand: its own, or one that holds its value.
    pub(super) fn any_place(&mut self, operand: Operand<'a>) -> Place {
        match operand {
            Operand::Place(place) | Operand::Constant(_, place) => place,
            other => {
                let value = self.value_of(other);
                self.temporary(value)
            }
        }
    }

    /// `base[index]`.
    pub(super) fn index(&mut self, base: &'a ast::Expr<'a>, index: &'a ast::Expr<'a>, span: Span) -> Operand<'a> {
        let base = self.operand(base);
        let place = self.any_place(base);
        let index = self.value(index);
        if place.ty == TypeTable::ERROR || index.ty == TypeTable::ERROR {
            return Operand::Value(Expr::error(span));
        }
        // `2[a]` is `a[2]` as in C.
        let index_is_pointer = matches!(self.kind(index.ty), TypeKind::Pointer { .. });
        let (place, index) = if index_is_pointer && self.is_integer(place.ty) {
            let number = self.load(place);
            (self.temporary(index), number)
        } else {
            (place, index)
        };
        let Some(index) = self.index_value(index) else { return Operand::Value(Expr::error(span)) };
        match *self.kind(place.ty) {
            TypeKind::Array(elem, len) => Operand::Place(self.element(place, index, elem, len, span)),
            TypeKind::Vector(elem, len) => {
                let elem = if self.is_const(place.ty) { self.make_const(elem) } else { elem };
                Operand::Place(self.element(place, index, elem, Some(u64::from(len)), span))
            }
            TypeKind::Pointer { pointee, .. } => {
                let pointer = self.load(place);
                match self.pointed_to(pointer, span) {
                    Some(place) => Operand::Place(self.element(place, index, pointee, None, span)),
                    None => Operand::Value(Expr::error(span)),
                }
            }
            _ => {
                let message = format!("`{}` cannot be indexed", self.show(place.ty));
                self.error(Diagnostic::new(Code::NotIndexable, place.span, message));
                Operand::Value(Expr::error(span))
            }
        }
    }

    fn is_integer(&self, ty: TypeId) -> bool {
        match *self.kind(ty) {
            TypeKind::Scalar(ty, _) => ty.is_int(),
            TypeKind::Enum(..) => true,
            _ => false,
        }
    }

    /// An index: an integer; enums and bools become one.
    fn index_value(&mut self, index: Expr) -> Option<Expr> {
        match *self.kind(index.ty) {
            TypeKind::Error => None,
            TypeKind::Scalar(ty, _) if ty.is_int() => Some(index),
            // As in ISPC a number of any type will do.
            TypeKind::Enum(_, shape) | TypeKind::Scalar(_, shape) => {
                let ty = self.scalar(spmdvm_vm::Ty::I32, shape);
                Some(self.convert(index, ty, "an index"))
            }
            _ => {
                let message = format!("an index must be an integer, not `{}`", self.show(index.ty));
                self.error_at(Code::NotIndexable, index.span, message);
                None
            }
        }
    }

    /// An element of an array, vector or pointed-to sequence. `place` is the sequence.
    fn element(&mut self, mut place: Place, index: Expr, elem: TypeId, len: Option<u64>, span: Span) -> Place {
        self.warn_index(&index, len, span);
        place.varying_address |= self.is_varying(index.ty);
        let is_static = index.constant_bits().is_some() && len.is_some();
        if !is_static && let PlaceBase::Local(id) = place.base {
            self.local(id).needs_memory = true;
        }
        let index = Box::new(index);
        let is_instance = matches!(self.shape(elem), Shape::Soa(_))
            && matches!(self.kind(elem), TypeKind::Struct(..))
            && !self.is_inside_soa(&place);
        place.projections.push(if is_instance {
            Projection::Instance { index, ty: elem }
        } else {
            Projection::Index { index, ty: elem, len }
        });
        place.ty = elem;
        place.span = span;
        self.through_reference(place)
    }

    /// Whether a place is a part of a `soa` instance already, whose number is known from the way there.
    fn is_inside_soa(&self, place: &Place) -> bool {
        let through_instance = place.projections.iter().any(|p| matches!(p, Projection::Instance { .. }));
        let through_member = place.projections.iter().any(|p| matches!(p, Projection::Field { .. }));
        through_instance || (through_member && matches!(place.base, PlaceBase::Deref(_)) && self.base_is_soa(place))
    }

    fn base_is_soa(&self, place: &Place) -> bool {
        let PlaceBase::Deref(pointer) = &place.base else { return false };
        match *self.kind(pointer.ty) {
            TypeKind::Pointer { pointee, .. } | TypeKind::Reference(pointee) => {
                matches!(self.shape(pointee), Shape::Soa(_))
            }
            _ => false,
        }
    }

    fn warn_index(&mut self, index: &Expr, len: Option<u64>, span: Span) {
        let (Some(bits), Some(len), Some(ty)) = (index.constant_bits(), len, self.scalar_ty(index.ty)) else { return };
        let value = super::constant::to_integer(ty, bits);
        if len > 0 && !(0..i128::from(len)).contains(&value) {
            let message = format!("index {value} is out of bounds: there are {len} elements");
            self.warn(Diagnostic::new(Code::ConstantOutOfRange, span, message));
        }
    }

    /// What a pointer points to.
    pub(super) fn pointed_to(&mut self, pointer: Expr, span: Span) -> Option<Place> {
        match *self.kind(pointer.ty) {
            TypeKind::Pointer { pointee, shape } => {
                let varying_address = shape == Shape::Varying;
                let base = PlaceBase::Deref(Box::new(pointer));
                let place = Place { base, projections: Vec::new(), ty: pointee, varying_address, span };
                Some(self.through_reference(place))
            }
            TypeKind::Error => None,
            _ => {
                let message = format!("`{}` is no pointer", self.show(pointer.ty));
                let mut error = Diagnostic::new(Code::NotAPointer, pointer.span, message);
                if self.sources.before(span).ends_with('*') {
                    error = error.help("`**` is no operator; write `pow(x, y)`");
                }
                self.error(error);
                None
            }
        }
    }

    /// `*pointer`.
    pub(super) fn deref(&mut self, pointer: &'a ast::Expr<'a>, span: Span) -> Operand<'a> {
        let operand = self.operand(pointer);
        if let Operand::Functions { .. } = operand {
            return operand;
        }
        let pointer = self.value_of(operand);
        match self.pointed_to(pointer, span) {
            Some(place) => Operand::Place(place),
            None => Operand::Value(Expr::error(span)),
        }
    }

    /// `&place`.
    pub(super) fn address(&mut self, operand: &'a ast::Expr<'a>, span: Span) -> Expr {
        match self.operand(operand) {
            Operand::Place(place) | Operand::Constant(_, place) => {
                if !self.is_addressable(&place) {
                    let message = "this has no address";
                    let error = Diagnostic::new(Code::NotAssignable, place.span, message);
                    self.error(error.help("store it in a variable first"));
                    return Expr::error(span);
                }
                if place.ty == TypeTable::ERROR {
                    return Expr::error(span);
                }
                if place.projections.is_empty()
                    && let PlaceBase::Deref(pointer) = &place.base
                    && let TypeKind::Pointer { .. } = self.kind(pointer.ty)
                {
                    return Expr { span, ..(**pointer).clone() };
                }
                let shape = if place.varying_address { Shape::Varying } else { Shape::Uniform };
                let ty = self.pointer_to(place.ty, shape);
                self.address_of(Place { span, ..place }, ty)
            }
            functions @ Operand::Functions { .. } => self.value_of(functions),
            Operand::Value(value) => {
                if value.ty != TypeTable::ERROR {
                    let error = Diagnostic::new(Code::NotAssignable, value.span, "this is a value and has no address");
                    self.error(error.help("store it in a variable and take that one's address"));
                }
                Expr::error(span)
            }
        }
    }

    /// Whether a place can be pointed to: no temporary, no swizzle of several components.
    pub(super) fn is_addressable(&self, place: &Place) -> bool {
        let several = |projection: &Projection| matches!(projection, Projection::Swizzle { components, .. } if components.len() > 1);
        !matches!(place.base, PlaceBase::Value(_)) && !place.projections.iter().any(several)
    }

    /// `base.member`, `base->member`.
    pub(super) fn member(
        &mut self,
        base: &'a ast::Expr<'a>,
        member: ast::Ident,
        arrow: bool,
        span: Span,
    ) -> Operand<'a> {
        let base_span = base.span;
        let operand = self.operand(base);
        let mut place = self.any_place(operand);
        if place.ty == TypeTable::ERROR {
            return Operand::Value(Expr::error(span));
        }
        let is_pointer = matches!(self.kind(place.ty), TypeKind::Pointer { .. });
        if is_pointer != arrow {
            self.report_arrow(&place, arrow, base_span.after().to(member.span));
        }
        if is_pointer {
            let pointer = self.load(place);
            match self.pointed_to(pointer, base_span) {
                Some(target) => place = target,
                None => return Operand::Value(Expr::error(span)),
            }
        }
        place.span = span;
        match *self.kind(place.ty) {
            TypeKind::Struct(id, shape) => self.field(place, id, shape, member),
            TypeKind::Vector(elem, len) => self.swizzle(place, elem, len, member),
            TypeKind::Error => Operand::Value(Expr::error(span)),
            _ => {
                let message = format!("`{}` has no members", self.show(place.ty));
                self.error(Diagnostic::new(Code::NoSuchMember, member.span, message));
                Operand::Value(Expr::error(span))
            }
        }
    }

    fn report_arrow(&mut self, place: &Place, arrow: bool, span: Span) {
        let ty = self.show(place.ty);
        let (message, help) = if arrow {
            (format!("`->` needs a pointer, not `{ty}`"), "write `.`")
        } else {
            (format!("`.` needs a struct or short vector, not the pointer `{ty}`"), "write `->`")
        };
        let is_aggregate = matches!(self.kind(place.ty), TypeKind::Struct(..) | TypeKind::Vector(..));
        let error = Diagnostic::new(Code::NotAPointer, span, message);
        self.error(if arrow && !is_aggregate { error } else { error.help(help) });
    }

    fn field(&mut self, mut place: Place, id: StructId, shape: Shape, member: ast::Ident) -> Operand<'a> {
        let Some(&index) = self.table.field_indices.get(&(id, member.name)) else {
            return self.no_such_field(id, member, place.span);
        };
        let mut ty = self.table.types.field_type(id, shape, index as usize);
        if self.is_const(place.ty) {
            ty = self.make_const(ty);
        }
        place.projections.push(Projection::Field { field: index, ty });
        place.ty = ty;
        Operand::Place(self.through_reference(place))
    }

    fn no_such_field(&mut self, id: StructId, member: ast::Ident, span: Span) -> Operand<'a> {
        if self.check_struct_complete(id, span) {
            let def = self.table.types.struct_def(id);
            let candidates = if self.diags.is_silent_at(member.span) { &[] } else { def.fields.as_slice() };
            let near = nearest(member.name, candidates.iter().map(|field| field.name));
            let (name, place) = (def.name, def.span);
            let message = format!("`{name}` has no member `{}`", member.name);
            let mut error = Diagnostic::new(Code::NoSuchMember, member.span, message).label(place, "declared here");
            if let Some(near) = near {
                error = error.help(format!("did you mean `{near}`?"));
            }
            self.error(error);
        }
        Operand::Value(Expr::error(span))
    }

    /// Components by name: `xyzw` or `rgba`.
    fn swizzle(&mut self, mut place: Place, elem: TypeId, len: u32, member: ast::Ident) -> Operand<'a> {
        let text = member.name.as_str();
        let components: Option<Vec<u8>> = ["xyzw", "rgba", "uv"].iter().find_map(|names| {
            text.chars().map(|c| names.find(c).map(|index| index as u8)).collect::<Option<Vec<u8>>>()
        });
        let Some(components) = components.filter(|list| list.len() <= 16) else {
            let message = format!("`{}` has no component `{text}`", self.show(place.ty));
            let error = Diagnostic::new(Code::NoSuchMember, member.span, message);
            self.error(error.help("components are `x y z w` or `r g b a`, or several: `.xy`; others by index: `v[4]`"));
            return Operand::Value(Expr::error(place.span));
        };
        if components.iter().any(|&component| u32::from(component) >= len) {
            let message = format!("`{}` has no component `{text}`: there are {len}", self.show(place.ty));
            self.error(Diagnostic::new(Code::NoSuchMember, member.span, message));
            return Operand::Value(Expr::error(place.span));
        }
        let is_const = self.is_const(place.ty);
        let mut ty = if components.len() == 1 { elem } else { self.vector_of(elem, components.len() as u32) };
        if is_const {
            ty = self.make_const(ty);
        }
        if let PlaceBase::Value(value) = &place.base
            && place.projections.is_empty()
        {
            let kind = ExprKind::Swizzle(value.clone(), components);
            return Operand::Value(Expr { kind, ty: self.strip_const(ty), span: place.span });
        }
        place.projections.push(Projection::Swizzle { components, ty });
        place.ty = ty;
        Operand::Place(place)
    }
}
