//! What is known at compile time: folding, constant expressions, and the initial images of globals.
//!
//! Every value is computed by `vm::sem`, so that a folded constant and an executed instruction cannot differ.

use super::convert::cast;
use super::table::Checker;
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{
    Cast, Expr, ExprKind, FuncId, Global, GlobalId, Linkage, Place, PlaceBase, Projection, Relocation,
    RelocationTarget, Shape, TypeId, TypeKind, TypeTable,
};
use spmdvm_vm::sem::eval;
use spmdvm_vm::{Op, Ty};

/// The integer that bits of a type stand for (bools: 0 or 1).
pub(super) fn to_integer(ty: Ty, bits: u64) -> i128 {
    match ty {
        Ty::I8 => i128::from(bits as i8),
        Ty::I16 => i128::from(bits as i16),
        Ty::I32 => i128::from(bits as i32),
        Ty::I64 => i128::from(bits as i64),
        _ => i128::from(bits),
    }
}

/// The bits of an integer in a type, wrapped.
pub(super) fn from_integer(ty: Ty, value: i128) -> u64 {
    let bits = ty.size() as u32 * 8;
    value as u64 & (u64::MAX >> (64 - bits))
}

/// An initial image in the making.
#[derive(Default)]
pub(super) struct Image {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The addresses in it.
    pub relocations: Vec<Relocation>,
}

impl Image {
    fn write(&mut self, at: u64, size: usize, bits: u64) {
        let (at, end) = (at as usize, at as usize + size);
        if bits == 0 && end > self.bytes.len() {
            return;
        }
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(&bits.to_le_bytes()[..size]);
    }
}

impl<'a> Checker<'a, '_> {
    /// A conversion node, folded if the operand is constant.
    pub(super) fn fold_cast(&mut self, kind: Cast, operand: Expr, ty: TypeId) -> Expr {
        if let ExprKind::Cast(Cast::Broadcast, inner) = &operand.kind
            && matches!(kind, Cast::Convert | Cast::Reinterpret)
            && matches!(inner.kind, ExprKind::Const(_))
        {
            let (inner, uniform) = ((**inner).clone(), self.as_uniform(ty));
            let folded = self.fold_cast(kind, inner, uniform);
            return cast(Cast::Broadcast, folded, ty);
        }
        if let ExprKind::Const(bits) = operand.kind {
            let types = (self.table.types.register_ty(operand.ty), self.table.types.register_ty(ty));
            match (kind, types) {
                (Cast::Reinterpret, _) => return Expr { ty, ..operand },
                (Cast::Convert, (Some(from), Some(to))) => {
                    if let Some(bits) = eval(Op::Convert, to, from, [bits, 0, 0]) {
                        return Expr::constant(bits, ty, operand.span);
                    }
                }
                _ => {}
            }
        }
        cast(kind, operand, ty)
    }

    /// An elementwise operation of one operand, folded if possible.
    pub(super) fn fold_unary(&mut self, op: Op, operand: Expr, ty: TypeId, span: crate::source::Span) -> Expr {
        if let (Some(bits), Some(scalar)) = (operand.constant_bits(), self.scalar_ty(operand.ty))
            && let Some(bits) = eval(op, scalar, scalar, [bits, 0, 0])
        {
            return self.constant_of(bits, ty, span);
        }
        Expr { kind: ExprKind::Unary(op, Box::new(operand)), ty, span }
    }

    /// An elementwise operation of two operands, folded if possible. A division by the constant zero is not: it traps.
    pub(super) fn fold_binary(&mut self, op: Op, lhs: Expr, rhs: Expr, ty: TypeId, span: crate::source::Span) -> Expr {
        if let (Some(a), Some(b), Some(scalar)) = (lhs.constant_bits(), rhs.constant_bits(), self.scalar_ty(lhs.ty)) {
            let traps = matches!(op, Op::IDiv | Op::IRem) && b == 0;
            if !traps && let Some(bits) = eval(op, scalar, scalar, [a, b, 0]) {
                return self.constant_of(bits, ty, span);
            }
        }
        Expr { kind: ExprKind::Binary(op, Box::new(lhs), Box::new(rhs)), ty, span }
    }

    /// A constant of a scalar type of either shape.
    pub(super) fn constant_of(&mut self, bits: u64, ty: TypeId, span: crate::source::Span) -> Expr {
        if !self.is_varying(ty) {
            return Expr::constant(bits, ty, span);
        }
        let uniform = self.as_uniform(ty);
        cast(Cast::Broadcast, Expr::constant(bits, uniform, span), ty)
    }

    /// The element type of what one register holds.
    pub(super) fn scalar_ty(&self, ty: TypeId) -> Option<Ty> {
        self.table.types.register_ty(ty)
    }

    /// The value of a constant expression of integer, bool or enum type; reported if it is none.
    pub(super) fn constant_integer(&mut self, expr: &'a ast::Expr<'a>, what: &str) -> Option<i128> {
        let value = self.value(expr);
        if let ExprKind::Error = value.kind {
            return None;
        }
        let ty = match *self.kind(value.ty) {
            TypeKind::Scalar(ty, _) if ty.is_int() || ty == Ty::Bool => ty,
            TypeKind::Enum(..) => Ty::U32,
            _ => {
                let message = format!("{what} must be an integer, not `{}`", self.show(value.ty));
                self.error_at(Code::TypeMismatch, expr.span, message);
                return None;
            }
        };
        match self.evaluate(&value, 0) {
            Some(bits) => Some(to_integer(ty, bits)),
            None => {
                let message = format!("{what} must be known at compile time");
                let error = Diagnostic::new(Code::NotConstant, expr.span, message).at("this is not");
                self.error(
                    error.help("use a literal, an enumerator, or a `const` variable initialised with a constant"),
                );
                None
            }
        }
    }

    /// The bits of a scalar in one lane, if known at compile time.
    pub(super) fn evaluate(&self, expr: &Expr, lane: u64) -> Option<u64> {
        match &expr.kind {
            ExprKind::Const(bits) => Some(*bits),
            ExprKind::Zero => Some(0),
            ExprKind::ProgramIndex => Some(lane),
            ExprKind::Cast(Cast::Broadcast, operand) => self.evaluate(operand, 0),
            ExprKind::Cast(Cast::Reinterpret, operand) => self.evaluate(operand, lane),
            ExprKind::Cast(Cast::Convert, operand) => {
                let (from, to) = (self.scalar_ty(operand.ty)?, self.scalar_ty(expr.ty)?);
                eval(Op::Convert, to, from, [self.evaluate(operand, lane)?, 0, 0])
            }
            ExprKind::Unary(op, operand) => {
                let ty = self.scalar_ty(operand.ty)?;
                eval(*op, ty, ty, [self.evaluate(operand, lane)?, 0, 0])
            }
            ExprKind::Binary(op, lhs, rhs) => {
                let ty = self.scalar_ty(lhs.ty)?;
                let (a, b) = (self.evaluate(lhs, lane)?, self.evaluate(rhs, lane)?);
                if matches!(op, Op::IDiv | Op::IRem) && b == 0 { None } else { eval(*op, ty, ty, [a, b, 0]) }
            }
            ExprKind::Logical { is_or, lhs, rhs } => match self.evaluate(lhs, lane)? != 0 {
                decided if decided == *is_or => Some(u64::from(decided)),
                _ => self.evaluate(rhs, lane),
            },
            ExprKind::Conditional { condition, then, otherwise } => match self.evaluate(condition, lane)? {
                0 => self.evaluate(otherwise, lane),
                _ => self.evaluate(then, lane),
            },
            ExprKind::Load(place) => self.read_constant(place, lane),
            ExprKind::Lanes(items) => self.evaluate(items.get(lane as usize)?, 0),
            ExprKind::Aggregate(items) if self.shape(expr.ty) != Shape::Uniform => {
                self.evaluate(items.get(lane as usize)?, 0)
            }
            ExprKind::Swizzle(vector, components) => match components.as_slice() {
                [component] => self.evaluate_component(vector, usize::from(*component), lane),
                _ => None,
            },
            _ => None,
        }
    }

    /// One component of a short vector in one lane.
    fn evaluate_component(&self, expr: &Expr, component: usize, lane: u64) -> Option<u64> {
        let element = |ty: TypeId| self.table.types.element_ty(ty);
        match &expr.kind {
            ExprKind::Zero => Some(0),
            ExprKind::Aggregate(items) => self.evaluate(items.get(component)?, lane),
            ExprKind::Cast(Cast::Splat, operand) => self.evaluate(operand, lane),
            ExprKind::Cast(Cast::Broadcast, operand) => self.evaluate_component(operand, component, 0),
            ExprKind::Cast(Cast::Reinterpret, operand) => self.evaluate_component(operand, component, lane),
            ExprKind::Cast(Cast::Convert, operand) => {
                let value = self.evaluate_component(operand, component, lane)?;
                eval(Op::Convert, element(expr.ty)?, element(operand.ty)?, [value, 0, 0])
            }
            ExprKind::Unary(op, operand) => {
                let ty = element(operand.ty)?;
                eval(*op, ty, ty, [self.evaluate_component(operand, component, lane)?, 0, 0])
            }
            ExprKind::Binary(op, lhs, rhs) => {
                let ty = element(lhs.ty)?;
                let a = self.evaluate_component(lhs, component, lane)?;
                let b = self.evaluate_component(rhs, component, lane)?;
                if matches!(op, Op::IDiv | Op::IRem) && b == 0 { None } else { eval(*op, ty, ty, [a, b, 0]) }
            }
            ExprKind::Swizzle(vector, components) => {
                self.evaluate_component(vector, usize::from(*components.get(component)?), lane)
            }
            ExprKind::Load(place) => {
                let TypeKind::Vector(elem, _) = *self.kind(place.ty) else { return None };
                let mut place = place.clone();
                let offset = self.table.types.component_offset(place.ty, component as u32, self.lanes());
                let base = self.constant_place(&place)?;
                place.ty = elem;
                self.read_image(base.0, base.1 + offset, elem, lane)
            }
            _ => None,
        }
    }

    /// Reads a scalar out of the image of a constant global.
    fn read_constant(&self, place: &Place, lane: u64) -> Option<u64> {
        let (global, offset) = self.constant_place(place)?;
        self.read_image(global, offset, place.ty, lane)
    }

    /// A constant global whose image is known: not one that somebody else defines.
    pub(super) fn known_global(&self, id: GlobalId) -> Option<&Global> {
        self.globals.get(id.0 as usize).filter(|global| global.constant && global.linkage != Linkage::Extern)
    }

    fn read_image(&self, global: GlobalId, offset: u64, ty: TypeId, lane: u64) -> Option<u64> {
        let global = self.known_global(global)?;
        let scalar = self.scalar_ty(ty)?;
        let step = if self.is_varying(ty) { lane } else { 0 };
        let at = (offset + step * scalar.size() as u64) as usize;
        if global.relocations.iter().any(|relocation| relocation.at == at as u64) {
            return None;
        }
        let mut word = [0; 8];
        for (index, byte) in word[..scalar.size()].iter_mut().enumerate() {
            *byte = global.init.get(at + index).copied().unwrap_or(0);
        }
        Some(u64::from_le_bytes(word))
    }

    /// The global and offset of a place that is known at compile time.
    pub(super) fn constant_place(&self, place: &Place) -> Option<(GlobalId, u64)> {
        let PlaceBase::Global(global) = place.base else { return None };
        let mut ty = self.globals.get(global.0 as usize)?.ty;
        let mut offset = 0;
        for projection in &place.projections {
            offset += match projection {
                Projection::Field { field, .. } => {
                    let TypeKind::Struct(id, shape) = *self.kind(ty) else { return None };
                    self.table.types.field_offset(id, shape, *field as usize, self.lanes())
                }
                Projection::Index { index, ty, .. } => {
                    let index_ty = self.scalar_ty(index.ty)?;
                    let index = to_integer(index_ty, self.evaluate(index, 0).filter(|_| !self.is_varying(index.ty))?);
                    let size = self.table.types.size(*ty, self.lanes());
                    u64::try_from(index).ok()?.checked_mul(size)?
                }
                Projection::Swizzle { components, .. } => match components.as_slice() {
                    [component] => self.table.types.component_offset(ty, u32::from(*component), self.lanes()),
                    _ => return None,
                },
                Projection::Instance { .. } => return None,
            };
            ty = projection.ty();
        }
        Some((global, offset))
    }

    /// The initial image of a global of type `ty`; `None` (reported) if the initialiser is not constant.
    pub(super) fn image(&mut self, expr: &Expr, ty: TypeId) -> Option<Image> {
        let mut image = Image::default();
        if self.write_image(expr, ty, 0, &mut image) {
            return Some(image);
        }
        if !matches!(expr.kind, ExprKind::Error) && expr.ty != TypeTable::ERROR {
            let message = "a global's initialiser must be known at compile time";
            let error =
                Diagnostic::new(Code::NotConstant, expr.span, message).at("this is computed when the program runs");
            self.error(
                error.help("use constants, addresses of globals and functions; compute other things in a function"),
            );
        }
        None
    }

    fn write_image(&self, expr: &Expr, ty: TypeId, at: u64, image: &mut Image) -> bool {
        if let ExprKind::Zero = expr.kind {
            return true;
        }
        let lanes = self.lanes();
        match *self.kind(ty) {
            TypeKind::Scalar(..) | TypeKind::Enum(..) | TypeKind::Pointer { .. } => {
                self.write_scalar(expr, ty, at, image)
            }
            TypeKind::Vector(elem, len) => {
                let size = self.table.types.size(elem, lanes);
                (0..u64::from(len)).all(|index| self.write_component(expr, elem, index, at + index * size, image))
            }
            TypeKind::Array(elem, _) => {
                let ExprKind::Aggregate(items) = &expr.kind else { return false };
                let size = self.table.types.size(elem, lanes);
                items
                    .iter()
                    .enumerate()
                    .all(|(index, item)| self.write_image(item, elem, at + index as u64 * size, image))
            }
            TypeKind::Struct(id, shape) => {
                let expr = match &expr.kind {
                    ExprKind::Cast(Cast::Broadcast, inner) => inner,
                    _ => expr,
                };
                let ExprKind::Aggregate(items) = &expr.kind else { return false };
                items.iter().enumerate().all(|(field, item)| {
                    let ty = self.table.types.field_type(id, shape, field);
                    let offset = self.table.types.field_offset(id, shape, field, lanes);
                    self.write_image(item, ty, at + offset, image)
                })
            }
            _ => false,
        }
    }

    fn write_component(&self, expr: &Expr, elem: TypeId, index: u64, at: u64, image: &mut Image) -> bool {
        let Some(scalar) = self.scalar_ty(elem) else { return false };
        (0..self.lane_count(elem)).all(|lane| match self.evaluate_component(expr, index as usize, lane) {
            Some(bits) => {
                image.write(at + lane * scalar.size() as u64, scalar.size(), bits);
                true
            }
            None => false,
        })
    }

    fn lane_count(&self, ty: TypeId) -> u64 {
        match self.shape(ty) {
            Shape::Uniform => 1,
            Shape::Varying => self.lanes() as u64,
            Shape::Soa(n) => u64::from(n),
        }
    }

    fn write_scalar(&self, expr: &Expr, ty: TypeId, at: u64, image: &mut Image) -> bool {
        let Some(scalar) = self.scalar_ty(ty) else { return false };
        if let Some(target) = self.constant_address(expr) {
            for lane in 0..self.lane_count(ty) {
                image.write(at + lane * 8, 8, 0);
                image.relocations.push(Relocation { at: at + lane * 8, target });
            }
            return true;
        }
        (0..self.lane_count(ty)).all(|lane| match self.evaluate(expr, lane) {
            Some(bits) => {
                image.write(at + lane * scalar.size() as u64, scalar.size(), bits);
                true
            }
            None => false,
        })
    }

    /// The address a constant expression stands for.
    fn constant_address(&self, expr: &Expr) -> Option<RelocationTarget> {
        match &expr.kind {
            ExprKind::Cast(Cast::Broadcast | Cast::Reinterpret, operand) => self.constant_address(operand),
            ExprKind::FunctionAddress(id) => Some(RelocationTarget::Function(FuncId(id.0))),
            ExprKind::AddressOf(place) => {
                let (global, offset) = self.constant_place(place)?;
                Some(RelocationTarget::Global(global, offset as i64))
            }
            ExprKind::PointerOffset { pointer, index, subtract } => {
                let RelocationTarget::Global(global, offset) = self.constant_address(pointer)? else { return None };
                let index_ty = self.scalar_ty(index.ty)?;
                let index = to_integer(index_ty, self.evaluate(index, 0)?) as i64;
                let TypeKind::Pointer { pointee, .. } = *self.kind(pointer.ty) else { return None };
                let step = self.table.types.size(pointee, self.lanes()) as i64;
                let bytes = index.checked_mul(step)?;
                let offset = if *subtract { offset.checked_sub(bytes)? } else { offset.checked_add(bytes)? };
                Some(RelocationTarget::Global(global, offset))
            }
            _ => None,
        }
    }
}
