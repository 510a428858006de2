//! What was typed at a prompt ([`ast::Prompt`]): variables that live on, and the value that is shown.

use super::expr::Operand;
use super::table::{Checker, Entity};
use crate::ast::{self, Storage};
use crate::diag::Diagnostics;
use crate::hir::{self, Expr, ExprKind, Linkage, LocalId, Place, PlaceBase, Shape, Shown, Stmt, StmtKind};
use crate::hir::{TypeId, TypeKind, TypeTable};
use crate::source::Span;
use crate::symbol::Symbol;

/// The global that holds the value that is shown.
const SHOWN: &str = "__shown";

impl<'a> Checker<'a, '_> {
    /// The global variable of a declaration at a prompt. A constant gets its value here, all others where they are declared.
    pub(super) fn declare_at_prompt(&mut self, variable: &ast::Variable<'a>, ty: TypeId) {
        let storage = if variable.storage == Storage::Static { Storage::None } else { variable.storage };
        let plain = ast::Variable { init: None, storage, ..*variable };
        let known = self.table.names.contains_key(&variable.name.name);
        let Some(id) = self.declare_global_of_type(&plain, ty) else {
            if !known {
                self.declare_value(variable.name, Entity::Constant(Expr::error(variable.name.span)));
            }
            return;
        };
        if !self.is_const(ty) {
            return;
        }
        match variable.init.is_some_and(|init| self.is_known(init, ty)) {
            true => self.define_global(id, variable, ty),
            false => self.change_global(id, |global| global.constant = false),
        }
    }

    /// Returns whether an initialiser is known at compile time. What is wrong with it is reported where it is computed.
    fn is_known(&mut self, init: &'a ast::Expr<'a>, ty: TypeId) -> bool {
        let silent = self.diags.fork();
        let heard = std::mem::replace(self.diags, silent);
        let value = self.initializer(init, ty);
        let is_known = !self.diags.has_errors() && self.image(&value, ty).is_some();
        let _: Diagnostics = std::mem::replace(self.diags, heard);
        is_known
    }

    /// Gives such a variable its initial value, in all lanes, as a declaration does.
    pub(super) fn initialise_at_prompt(&mut self, variable: &'a ast::Variable<'a>, out: &mut Vec<Stmt>) {
        let Some(init) = variable.init else { return };
        let Some(Entity::Global(id)) = self.table.names.get(&variable.name.name).cloned() else {
            // What is wrong with the declaration was reported.
            return;
        };
        let global = self.global_id(id);
        let (ty, is_constant) = (self.globals[global.0 as usize].ty, self.globals[global.0 as usize].constant);
        if is_constant {
            return;
        }
        let value = self.initializer(init, ty);
        let place = whole(PlaceBase::Global(global), ty, variable.name.span);
        self.store_all_lanes(place, value, out);
    }

    /// The expression at the end: its value goes to a global. Of an array that is its address.
    pub(super) fn show_value(&mut self, expr: &'a ast::Expr<'a>, out: &mut Vec<Stmt>) {
        let operand = self.operand(expr);
        let array = match &operand {
            Operand::Place(place) | Operand::Constant(_, place) if !place.varying_address => Some(place.ty),
            _ => None,
        };
        let array = array.filter(|&ty| matches!(self.kind(ty), TypeKind::Array(_, Some(_))));
        let value = self.value_of(operand);
        if value.ty == TypeTable::ERROR {
            return;
        }
        if value.ty == TypeTable::VOID {
            out.push(Stmt { kind: StmtKind::Expr(value), span: expr.span });
            return;
        }
        let ty = self.strip_const(value.ty);
        let global = hir::Global {
            name: SHOWN.to_owned(),
            ty,
            size: self.table.types.size(ty, self.lanes()),
            init: Vec::new(),
            relocations: Vec::new(),
            constant: false,
            linkage: Linkage::Internal,
            layout: None,
            span: expr.span,
        };
        let global = self.push_global(global);
        self.shown = Some(Shown { global, ty: array.unwrap_or(ty), by_address: array.is_some() });
        self.store_all_lanes(whole(PlaceBase::Global(global), ty, expr.span), value, out);
    }

    /// Computes a value under the mask, and stores all its lanes.
    fn store_all_lanes(&mut self, place: Place, value: Expr, out: &mut Vec<Stmt>) {
        let (ty, span) = (self.strip_const(place.ty), place.span);
        let local = self.new_local(Symbol::intern("__value"), ty, span);
        let temporary = whole(PlaceBase::Local(local), ty, span);
        if let TypeKind::Array(..) = self.kind(ty) {
            self.mark_memory(&temporary);
        }
        let load = Expr { kind: ExprKind::Load(temporary), ty, span };
        let store = Expr { kind: ExprKind::Assign(Box::new(place), Box::new(load)), ty, span };
        out.push(declare(local, value, span));
        let store = Stmt { kind: StmtKind::Expr(store), span };
        // All lanes are on, mostly; then the block costs nothing.
        let is_uniform = self.shape(ty) == Shape::Uniform && !matches!(self.kind(ty), TypeKind::Struct(..));
        out.push(if is_uniform { store } else { Stmt { kind: StmtKind::Unmasked(vec![store]), span } });
    }
}

fn declare(local: LocalId, value: Expr, span: Span) -> Stmt {
    Stmt { kind: StmtKind::Declare { local, init: Some(value) }, span }
}

fn whole(base: PlaceBase, ty: TypeId, span: Span) -> Place {
    Place { base, projections: Vec::new(), ty, varying_address: false, span }
}
