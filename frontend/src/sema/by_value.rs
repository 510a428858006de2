//! Exported functions with structs or short vectors by value.
//!
//! Hosts hold such values in memory. So for an export `f` with any of them there is a function `f$host`, which takes
//! references in their place (to the array of its components for a short vector), and for such a result a last
//! parameter, a reference to where it goes. It calls `f` and is what hosts call.

use super::table::{Checker, DeclId};
use crate::hir::{
    self, Callee, Expr, ExprKind, FuncId, Local, LocalId, Place, PlaceBase, Projection, Shape, Stmt, StmtKind, TypeId,
    TypeKind, TypeTable,
};
use crate::source::Span;
use crate::symbol::Symbol;
use spmdvm_vm::Ty;

/// What is appended to the function's name.
pub const SUFFIX: &str = "$host";

impl<'a> Checker<'a, '_> {
    /// Returns whether hosts pass values of a type through memory.
    pub(super) fn is_in_memory(&self, ty: TypeId) -> bool {
        matches!(*self.kind(ty), TypeKind::Struct(..) | TypeKind::Vector(..)) && self.shape(ty) == Shape::Uniform
    }

    /// The reference that stands for a value in memory; other types as they are.
    pub(super) fn passed_type(&mut self, ty: TypeId, is_result: bool) -> TypeId {
        if !self.is_in_memory(ty) {
            return ty;
        }
        let target = match *self.kind(ty) {
            TypeKind::Vector(elem, len) => {
                let elem = if is_result { elem } else { self.constant_type(elem) };
                self.table.types.intern(TypeKind::Array(elem, Some(u64::from(len))), false)
            }
            _ if is_result => ty,
            _ => self.constant_type(ty),
        };
        self.table.types.intern(TypeKind::Reference(target), false)
    }

    fn constant_type(&mut self, ty: TypeId) -> TypeId {
        let kind = self.kind(ty).clone();
        self.table.types.intern(kind, true)
    }

    /// Adds the function that hosts call instead of this one.
    pub(super) fn pass_in_memory(&mut self, id: DeclId, params: &[TypeId], result: Option<TypeId>) -> FuncId {
        let callee = self.function_id(id);
        let decl = self.decl(id).clone();
        let span = decl.ast.head_span;
        let mut locals = Vec::new();
        let mut add = |name: Symbol, ty| {
            locals.push(Local { name, ty, needs_memory: false, is_assigned: false, outlives_block: false, span });
            LocalId(locals.len() as u32 - 1)
        };
        let mut ids = Vec::new();
        for (param, &ty) in decl.ast.params.iter().zip(params) {
            ids.push(add(param.name.map_or(Symbol::intern(""), |name| name.name), ty));
        }
        let target = result.map(|ty| (add(Symbol::intern("result"), ty), ty));
        let temporary = target.map(|_| add(Symbol::intern(""), decl.result));
        let args = ids.iter().zip(params).zip(&decl.params).map(|((&id, &ty), &value)| self.taken(id, ty, value, span));
        let call = ExprKind::Call(Callee::Function(callee), args.collect());
        let call = Expr { kind: call, ty: decl.result, span };
        let mut body = Vec::new();
        match (target, temporary) {
            (Some(target), Some(temporary)) => {
                body.push(Stmt { kind: StmtKind::Declare { local: temporary, init: Some(call) }, span });
                body.extend(self.given(target, temporary, decl.result, span));
            }
            _ if decl.result == TypeTable::VOID => body.push(Stmt { kind: StmtKind::Expr(call), span }),
            _ => body.push(Stmt { kind: StmtKind::Return(Some(call)), span }),
        }
        let original = &self.functions[callee.0 as usize];
        let (name, flags) = (original.name, original.flags);
        let mangled = self.unique_name(&format!("{}{SUFFIX}", self.functions[callee.0 as usize].mangled));
        ids.extend(target.map(|(id, _)| id));
        self.functions.push(hir::Function {
            name,
            mangled,
            params: ids,
            result: if target.is_some() { TypeTable::VOID } else { decl.result },
            locals,
            body: Some(body),
            flags,
            n_labels: 0,
            head_span: span,
            span: decl.ast.span,
        });
        FuncId(self.functions.len() as u32 - 1)
    }

    /// The value of a parameter of type `value`, which `local` is or refers to.
    fn taken(&self, local: LocalId, ty: TypeId, value: TypeId, span: Span) -> Expr {
        let own = Place { base: PlaceBase::Local(local), projections: Vec::new(), ty, varying_address: false, span };
        let own = Expr { kind: ExprKind::Load(own), ty, span };
        let TypeKind::Reference(target) = *self.kind(ty) else { return own };
        if !self.is_in_memory(value) {
            return own;
        }
        match *self.kind(value) {
            TypeKind::Vector(elem, len) => {
                let component = |i| {
                    let place = self.element_of(PlaceBase::Deref(Box::new(own.clone())), elem, i, len, span);
                    Expr { kind: ExprKind::Load(place), ty: elem, span }
                };
                Expr { kind: ExprKind::Aggregate((0..len).map(component).collect()), ty: value, span }
            }
            _ => {
                let base = PlaceBase::Deref(Box::new(own));
                let place = Place { base, projections: Vec::new(), ty: target, varying_address: false, span };
                Expr { kind: ExprKind::Load(place), ty: value, span }
            }
        }
    }

    /// Writes the result, which a variable holds, to where the host wants it.
    fn given(&self, target: (LocalId, TypeId), held: LocalId, ty: TypeId, span: Span) -> Vec<Stmt> {
        let (local, reference) = target;
        let own = |ty, base| Place { base, projections: Vec::new(), ty, varying_address: false, span };
        let load = Expr { kind: ExprKind::Load(own(reference, PlaceBase::Local(local))), ty: reference, span };
        let base = PlaceBase::Deref(Box::new(load));
        let assign = |place, value, ty| {
            let kind = ExprKind::Assign(Box::new(place), Box::new(value));
            Stmt { kind: StmtKind::Expr(Expr { kind, ty, span }), span }
        };
        match *self.kind(ty) {
            TypeKind::Vector(elem, len) => {
                let one = |i| {
                    let from = self.element_of(PlaceBase::Local(held), elem, i, len, span);
                    let value = Expr { kind: ExprKind::Load(from), ty: elem, span };
                    assign(self.element_of(base.clone(), elem, i, len, span), value, elem)
                };
                (0..len).map(one).collect()
            }
            _ => {
                let value = Expr { kind: ExprKind::Load(own(ty, PlaceBase::Local(held))), ty, span };
                vec![assign(own(ty, base), value, ty)]
            }
        }
    }

    fn element_of(&self, base: PlaceBase, elem: TypeId, i: u32, len: u32, span: Span) -> Place {
        let index = Box::new(Expr::constant(u64::from(i), self.table.types.uniform(Ty::I32), span));
        let step = Projection::Index { index, ty: elem, len: Some(u64::from(len)) };
        Place { base, projections: vec![step], ty: elem, varying_address: false, span }
    }
}
