//! Global variables: declared, declared again, and initialised.

use super::table::{Checker, Entity, GlobalDecl, GlobalDeclId};
use crate::ast::{self, Storage};
use crate::diag::{Code, Diagnostic};
use crate::hir::{self, Expr, Linkage, Shape, TypeId, TypeKind, TypeTable};
use crate::symbol::Symbol;

impl<'a> Checker<'a, '_> {
    /// A global variable.
    pub(super) fn declare_global(&mut self, variable: &ast::Variable<'a>) {
        if variable.flags.export {
            let error = Diagnostic::new(Code::BadExport, variable.name.span, "variables cannot be exported");
            self.error(error.help("hosts see all global variables that are not `static`"));
        }
        let ty = self.resolve(variable.ty, Shape::Varying);
        let ty = self.complete_from_init(ty, variable.init);
        if variable.flags.at_prompt {
            return self.declare_at_prompt(variable, ty);
        }
        let known = self.table.names.contains_key(&variable.name.name);
        if self.declare_global_of_type(variable, ty).is_none() && !known {
            self.declare_value(variable.name, Entity::Constant(Expr::error(variable.name.span)));
        }
    }

    /// A global variable, or one declared again; `None` (reported) if it is wrong.
    pub(super) fn declare_global_of_type(&mut self, variable: &ast::Variable<'a>, ty: TypeId) -> Option<GlobalDeclId> {
        let is_extern = matches!(variable.storage, Storage::Extern | Storage::ExternC) && variable.init.is_none();
        let is_open_array = is_extern && matches!(self.kind(ty), TypeKind::Array(_, None));
        if ty == TypeTable::ERROR || (!is_open_array && !self.check_complete(ty, variable.name.span, "a variable")) {
            if let Some(init) = variable.init {
                self.initializer(init, TypeTable::ERROR);
            }
            return None;
        }
        if let TypeKind::Reference(_) = self.kind(ty) {
            let error = Diagnostic::new(Code::BadReference, variable.name.span, "a global cannot be a reference");
            self.error(error.help("use a pointer"));
            return None;
        }
        let linkage = match variable.storage {
            _ if self.base.is_none() => Linkage::Internal,
            _ if is_extern => Linkage::Extern,
            Storage::Static => Linkage::File,
            _ => Linkage::Shared,
        };
        let id = match self.known_entity(variable.name.name) {
            Some(Entity::Global(known)) => self.declare_global_again(known, variable, ty, linkage)?,
            Some(_) => {
                // Reports what the name is already.
                self.declare_file_value(variable.name, Entity::Constant(Expr::error(variable.name.span)));
                return None;
            }
            None => self.declare_new_global(variable.name, ty, linkage),
        };
        self.define_global(id, variable, ty);
        Some(id)
    }

    /// What a name stands for that has been declared in the file, or as `extern` in any function of it.
    fn known_entity(&self, name: Symbol) -> Option<Entity> {
        let in_functions = || self.local_externs.get(&name).map(|&id| Entity::Global(id));
        self.table.names.get(&name).cloned().or_else(in_functions)
    }

    fn declare_new_global(&mut self, name: ast::Ident, ty: TypeId, linkage: Linkage) -> GlobalDeclId {
        let id = self.add_global_variable(name, name.name.as_str().to_string(), ty, linkage);
        match self.body.decl {
            Some(_) => drop(self.local_externs.insert(name.name, id)),
            None => self.declare_file_value(name, Entity::Global(id)),
        }
        id
    }

    /// Another declaration of a global: of the same type, or one of the two leaves the length of an array open.
    fn declare_global_again(
        &mut self,
        known: GlobalDeclId,
        variable: &ast::Variable<'a>,
        ty: TypeId,
        linkage: Linkage,
    ) -> Option<GlobalDeclId> {
        let old = self.global_decl(known).global.clone();
        let completes = self.completes(old.ty, ty);
        if old.ty != ty && !completes && !self.completes(ty, old.ty) {
            let message = format!(
                "`{}` is declared as `{}` here, but as `{}` before",
                variable.name.name,
                self.show(ty),
                self.show(old.ty)
            );
            let error = Diagnostic::new(Code::Redefinition, variable.name.span, message);
            self.error(error.label(old.span, "first declared here"));
            return None;
        }
        if variable.init.is_some() && self.global_decl(known).is_initialised {
            let message = format!("`{}` is initialised twice", variable.name.name);
            let error = Diagnostic::new(Code::Redefinition, variable.name.span, message);
            self.error(error.label(old.span, "first initialised here"));
            return None;
        }
        let size = self.table.types.size(ty, self.lanes());
        self.change_global(known, |global| {
            if completes {
                (global.ty, global.size) = (ty, size);
            }
            if global.linkage == Linkage::Extern || linkage == Linkage::File {
                global.linkage = linkage;
            }
        });
        Some(known)
    }

    /// Returns whether `new` is the array type `old` with its open length filled in.
    fn completes(&self, old: TypeId, new: TypeId) -> bool {
        match (self.kind(old), self.kind(new)) {
            (TypeKind::Array(a, None), TypeKind::Array(b, Some(_))) => a == b,
            _ => false,
        }
    }

    /// Changes a global of the program, in both places where it is kept.
    pub(super) fn change_global(&mut self, id: GlobalDeclId, change: impl FnOnce(&mut hir::Global)) {
        let module_id = self.global_id(id);
        let global = &mut self.globals[module_id.0 as usize];
        change(global);
        let global = global.clone();
        if let Some(decl) = self.global_decl_mut(id) {
            decl.global = global;
        }
    }

    /// Adds a global of the program: its module global exists at once, so that images can point to it.
    pub(super) fn add_global_variable(
        &mut self,
        name: ast::Ident,
        unique: String,
        ty: TypeId,
        linkage: Linkage,
    ) -> GlobalDeclId {
        let global = hir::Global {
            name: unique,
            ty,
            size: self.table.types.size(ty, self.lanes()),
            init: Vec::new(),
            relocations: Vec::new(),
            constant: self.is_const(ty),
            linkage,
            layout: None,
            span: name.span,
        };
        let id = self.add_global(GlobalDecl { global: global.clone(), value: None, is_initialised: false });
        let module_id = self.push_global(global);
        self.global_ids.insert(id, module_id);
        id
    }

    /// Gives a global its initial image.
    pub(super) fn define_global(&mut self, id: GlobalDeclId, variable: &ast::Variable<'a>, ty: TypeId) {
        let Some(init) = variable.init else { return };
        let value = self.initializer(init, ty);
        let Some(image) = self.image(&value, ty) else { return };
        self.change_global(id, |global| {
            global.init = image.bytes;
            global.relocations = image.relocations;
        });
        let known = if self.is_const(ty) && self.scalar_ty(ty).is_some() { self.known_value(&value, ty) } else { None };
        if let Some(decl) = self.global_decl_mut(id) {
            decl.value = known;
            decl.is_initialised = true;
        }
    }

    /// The value of a constant variable, if it can stand for the variable wherever that is read.
    pub(super) fn known_value(&mut self, value: &Expr, ty: TypeId) -> Option<Expr> {
        let plain = self.strip_const(ty);
        if matches!(self.kind(plain), TypeKind::Pointer { .. } | TypeKind::Reference(_)) {
            return None;
        }
        if value.constant_bits().is_some() {
            return Some(value.clone());
        }
        if self.is_varying(plain) {
            return None;
        }
        let bits = self.evaluate(value, 0)?;
        Some(Expr::constant(bits, plain, value.span))
    }
}
