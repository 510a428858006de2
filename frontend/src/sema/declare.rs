//! Declarations at file scope.

use super::UNBOUND;
use super::table::{Checker, DeclId, Entity, FunctionDecl, TemplateDecl};
use super::template::collect_classes;
use crate::ast::{self, ItemKind};
use crate::diag::{Code, Diagnostic};
use crate::hir::{EnumDef, EnumId, Expr, Field, Shape, StructDef, StructId, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use crate::symbol::Symbol;
use spmdvm_vm::Ty;
use std::sync::Arc;

impl<'a> Checker<'a, '_> {
    /// Declares all of a file, in order.
    pub(super) fn declare_unit(&mut self, unit: &ast::TranslationUnit<'a>) {
        for item in unit.items {
            if self.diags.poll() {
                return;
            }
            self.declare_item(item);
        }
    }

    fn declare_item(&mut self, item: &ast::Item<'a>) {
        match item.kind {
            ItemKind::Function(function) => self.declare_function(function),
            ItemKind::Variables(variables) => {
                for variable in variables {
                    self.declare_global(variable);
                }
            }
            ItemKind::Typedefs(typedefs) => {
                for typedef in typedefs {
                    self.declare_typedef(typedef);
                }
            }
            ItemKind::Struct(def) => self.declare_struct(def),
            ItemKind::Enum(def) => self.declare_enum(def),
            ItemKind::Template(template) => self.declare_template(template.params, template.function),
            ItemKind::Specialization(instance) => self.declare_specialization(instance),
            ItemKind::Instantiation(instance) => self.declare_instantiation(instance),
            ItemKind::ExportTypes(types) => {
                for ty in types {
                    let ty = self.resolve(ty, Shape::Uniform);
                    self.exported_types.push(ty);
                }
            }
            ItemKind::StaticAssert { condition, message } => self.static_assert(condition, message, item.span),
        }
    }

    /// `static_assert`.
    pub(super) fn static_assert(&mut self, condition: &'a ast::Expr<'a>, message: Option<&str>, span: Span) {
        if let Some(0) = self.constant_integer(condition, "the condition of `static_assert`") {
            let text = message.map_or_else(|| "the static assertion does not hold".to_string(), str::to_string);
            let error = Diagnostic::new(Code::StaticAssertFailed, span, text);
            self.error(error.label(condition.span, "this is false"));
        }
    }

    /// A typedef, in the scope that is open.
    pub(super) fn declare_typedef(&mut self, typedef: &ast::Typedef<'a>) {
        let ty = self.resolve_unbound(typedef.ty);
        if let TypeKind::Struct(id, _) = *self.kind(ty) {
            // A struct without a name is called as the first typedef of it.
            let def = &mut self.table.types.structs[id.0 as usize];
            if def.name.as_str().starts_with('<') {
                def.name = typedef.name.name;
            }
        }
        self.declare_type(typedef.name, ty, typedef.name.span);
    }

    fn declare_type(&mut self, name: ast::Ident, ty: TypeId, span: Span) {
        if self.body.decl.is_some() {
            self.body.types.push(name.name, ty);
            return;
        }
        if let Some(&known) = self.table.type_names.get(&name.name)
            && known != ty
            && known != TypeTable::ERROR
            && ty != TypeTable::ERROR
        {
            let message = format!("the type `{}` is declared again with another meaning", name.name);
            self.error_at(Code::Redefinition, span, message);
        }
        self.table.type_names.insert(name.name, ty);
    }

    /// The type that a tag names in the innermost scope, if there is one.
    fn type_here(&self, name: Symbol) -> Option<TypeId> {
        if self.body.decl.is_some() {
            return self.body.types.get(name).copied();
        }
        self.table.type_names.get(&name).copied()
    }

    /// A struct's definition or declaration.
    pub(super) fn declare_struct(&mut self, def: &ast::StructDef<'a>) {
        let known = self.type_here(def.name.name).and_then(|ty| match *self.kind(ty) {
            TypeKind::Struct(id, UNBOUND) if self.table.types.struct_def(id).name == def.name.name => Some(id),
            _ => None,
        });
        let id = match known {
            Some(id) => id,
            // `struct T;` where `T` is another name of a struct says nothing new.
            None if def.members.is_none() && self.names_struct(def.name.name) => return,
            None => self.new_struct(def.name),
        };
        self.table.only_named.remove(&id);
        let Some(members) = def.members else { return };
        if !self.table.types.struct_def(id).is_opaque {
            let first = self.table.types.struct_def(id).span;
            let message = format!("`struct {}` is defined twice", def.name.name);
            let error = Diagnostic::new(Code::Redefinition, def.name.span, message).label(first, "first defined here");
            self.error(error);
            return;
        }
        self.define_struct(id, def, members);
    }

    /// Returns whether the innermost scope has a struct of this name, perhaps by a typedef.
    fn names_struct(&self, name: Symbol) -> bool {
        self.type_here(name).is_some_and(|ty| matches!(self.kind(ty), TypeKind::Struct(..)))
    }

    /// A struct that is declared and not yet defined.
    pub(super) fn new_struct(&mut self, name: ast::Ident) -> StructId {
        let id = StructId(self.table.types.structs.len() as u32);
        self.table.types.structs.push(StructDef {
            name: name.name,
            fields: Vec::new(),
            is_opaque: true,
            align: None,
            packed: false,
            span: name.span,
        });
        let ty = self.table.types.intern(TypeKind::Struct(id, UNBOUND), false);
        self.declare_type(name, ty, name.span);
        id
    }

    fn define_struct(&mut self, id: StructId, def: &ast::StructDef<'a>, members: &'a [ast::Member<'a>]) {
        let mut fields = Vec::with_capacity(members.len());
        let mut raw = Vec::with_capacity(members.len());
        for member in members {
            if self.diags.poll() {
                return;
            }
            let Some((field, ty)) = self.declare_member(member, id) else { continue };
            self.table.field_indices.insert((id, field.name), fields.len() as u32);
            fields.push(field);
            raw.push(ty);
        }
        let aligned = def.attributes.iter().find(|attribute| attribute.name.name.as_str() == "aligned");
        let align = aligned.and_then(|attribute| match attribute.argument {
            Some(ast::AttributeArgument::Int(align)) if align.is_power_of_two() && align <= 4096 => Some(align),
            _ => {
                self.error_at(Code::BadType, attribute.span, "an alignment is a power of two up to 4096");
                None
            }
        });
        let packed = def.attributes.iter().any(|attribute| attribute.name.name.as_str() == "packed");
        let entry = &mut self.table.types.structs[id.0 as usize];
        entry.fields = fields;
        entry.is_opaque = false;
        entry.align = align;
        entry.packed = packed;
        entry.span = def.name.span;
        if raw.iter().any(|&ty| !self.is_unbound(ty)) {
            self.table.bound_structs.insert(id);
        }
        self.table.raw_fields.insert(id, raw);
        self.table.types.note_members(id);
        let lanes = self.lanes();
        for shape in [Shape::Uniform, Shape::Varying] {
            self.table.types.remember_layout(id, shape, lanes);
        }
    }

    fn declare_member(&mut self, member: &'a ast::Member<'a>, of: StructId) -> Option<(Field, TypeId)> {
        if let Some(bits) = member.bits {
            let error = Diagnostic::new(Code::BadType, bits.span, "there are no bit fields");
            self.error(error.help("use a whole integer, and masks and shifts"));
        }
        if self.table.field_indices.contains_key(&(of, member.name.name)) {
            let message = format!("the member `{}` is declared twice", member.name.name);
            self.error_at(Code::Redefinition, member.name.span, message);
            return None;
        }
        let ty = self.resolve_unbound(member.ty);
        let ty = match *self.kind(ty) {
            // An array without a length at the end takes no room.
            TypeKind::Array(elem, None) => self.table.types.intern(TypeKind::Array(elem, Some(0)), false),
            _ => ty,
        };
        if ty != TypeTable::ERROR && !self.check_complete(ty, member.ty.span, "a member") {
            return None;
        }
        let (uniform, varying) = (self.bind(ty, Shape::Uniform), self.bind(ty, Shape::Varying));
        Some((Field { name: member.name.name, uniform, varying, soa: Vec::new() }, ty))
    }

    /// An enum's definition or declaration.
    pub(super) fn declare_enum(&mut self, def: &ast::EnumDef<'a>) {
        let known = self.type_here(def.name.name).and_then(|ty| match *self.kind(ty) {
            TypeKind::Enum(id, UNBOUND) => Some(id),
            _ => None,
        });
        let Some(enumerators) = def.enumerators else {
            if known.is_none() {
                self.new_enum(def);
            }
            return;
        };
        let id = match known {
            Some(id) if self.table.types.enum_def(id).enumerators.is_empty() => id,
            Some(id) => {
                let first = self.table.types.enum_def(id).span;
                let message = format!("`enum {}` is defined twice", def.name.name);
                let error =
                    Diagnostic::new(Code::Redefinition, def.name.span, message).label(first, "first defined here");
                self.error(error);
                return;
            }
            None => self.new_enum(def),
        };
        let ty = self.table.types.intern(TypeKind::Enum(id, Shape::Uniform), false);
        let mut next: i128 = 0;
        for enumerator in enumerators {
            if let Some(value) = enumerator.value {
                next = self.constant_integer(value, "an enumerator's value").unwrap_or(next);
            }
            let bits = super::constant::from_integer(Ty::U32, next);
            let range = -(1i128 << 31)..(1i128 << 32);
            if !range.contains(&next) {
                let message = format!("the enumerator's value {next} does not fit into 32 bits");
                self.error_at(Code::BadInitializer, enumerator.name.span, message);
            }
            let constant = Expr::constant(bits, ty, enumerator.name.span);
            self.declare_value(enumerator.name, Entity::Constant(constant));
            self.table.types.enums[id.0 as usize].enumerators.push((enumerator.name.name, bits as u32));
            next += 1;
        }
    }

    fn new_enum(&mut self, def: &ast::EnumDef<'a>) -> EnumId {
        let id = EnumId(self.table.types.enums.len() as u32);
        let (name, span) = (def.name.name, def.name.span);
        self.table.types.enums.push(EnumDef { name, enumerators: Vec::new(), span });
        let ty = self.table.types.intern(TypeKind::Enum(id, UNBOUND), false);
        self.declare_type(def.name, ty, span);
        id
    }

    /// A name of a value in the scope that is open.
    pub(super) fn declare_value(&mut self, name: ast::Ident, entity: Entity) {
        match self.body.decl {
            Some(_) => self.declare_name(name, entity),
            None => self.declare_file_value(name, entity),
        }
    }

    /// A name of a value in the file.
    pub(super) fn declare_file_value(&mut self, name: ast::Ident, entity: Entity) {
        if let Some(known) = self.table.names.get(&name.name) {
            let first = self.entity_span(known);
            let message = format!("`{}` is declared again with another meaning", name.name);
            let mut error = Diagnostic::new(Code::Redefinition, name.span, message).at("declared again here");
            if let Some(first) = first {
                error = error.label(first, "first declared here");
            }
            self.error(error);
            return;
        }
        self.table.names.insert(name.name, entity);
    }

    fn entity_span(&self, entity: &Entity) -> Option<Span> {
        match entity {
            Entity::Local(..) => None,
            Entity::Global(id) => Some(self.global_decl(*id).global.span),
            Entity::Constant(value) => Some(value.span),
            Entity::Functions(decls, templates) => match (decls.first(), templates.first()) {
                (Some(decl), _) => Some(self.decl(*decl).ast.head_span),
                (None, Some(template)) => Some(self.template(*template).function.head_span),
                (None, None) => None,
            },
        }
    }

    /// A function's declaration or definition.
    pub(super) fn declare_function(&mut self, function: &'a ast::Function<'a>) {
        let mut classes = Vec::new();
        for param in function.params {
            collect_classes(param.ty, &mut classes);
        }
        if !classes.is_empty() {
            self.declare_template(&[], function);
            return;
        }
        self.check_flags(function);
        let mut decl = self.function_decl(function);
        decl.prelude = self.base.is_none();
        self.check_operator(function, &decl);
        let name = function.name.name;
        let known = match self.table.names.get(&name) {
            Some(Entity::Functions(..)) => self.table.signatures.get(&(name, decl.params.clone())).copied(),
            Some(other) => {
                let first = self.entity_span(other);
                let message = format!("`{name}` is declared again with another meaning");
                let mut error = Diagnostic::new(Code::Redefinition, function.name.span, message);
                if let Some(first) = first {
                    error = error.label(first, "first declared here");
                }
                self.error(error);
                return;
            }
            None => None,
        };
        match known {
            Some(known) => self.declare_again(known, decl),
            None => {
                let signature = (name, decl.params.clone());
                let id = self.add_decl(decl);
                self.table.signatures.insert(signature, id);
                let none = || Entity::Functions(Arc::default(), Arc::default());
                if let Entity::Functions(decls, _) = self.table.names.entry(name).or_insert_with(none) {
                    Arc::make_mut(decls).push(id);
                }
            }
        }
    }

    fn declare_again(&mut self, known: DeclId, new: FunctionDecl<'a>) {
        let old = self.decl(known).clone();
        let span = new.ast.head_span;
        if old.result != new.result {
            let message = format!(
                "`{}` is declared to give `{}` here, but `{}` before",
                new.ast.name.name,
                self.show(new.result),
                self.show(old.result)
            );
            let error = Diagnostic::new(Code::Redefinition, span, message);
            self.error(error.label(old.ast.head_span, "declared differently here"));
            return;
        }
        if old.ast.body.is_some() && new.ast.body.is_some() {
            let message = format!("`{}` is defined twice", self.signature(known));
            let error = Diagnostic::new(Code::Redefinition, span, message).at("defined again here");
            self.error(error.label(old.ast.head_span, "first defined here"));
            return;
        }
        let Some(decl) = self.decl_mut(known) else { return };
        if new.ast.body.is_some() {
            decl.ast = new.ast;
        }
        for (old, new) in decl.defaults.iter_mut().zip(&new.defaults) {
            *old = new.or(*old);
        }
        let (a, b) = (old.flags, new.flags);
        decl.flags = ast::FunctionFlags {
            at_prompt: false,
            export: a.export || b.export,
            is_static: a.is_static || b.is_static,
            is_extern: a.is_extern && b.is_extern,
            extern_c: a.extern_c || b.extern_c,
            inline: a.inline || b.inline,
            noinline: a.noinline || b.noinline,
            task: a.task || b.task,
            unmasked: a.unmasked || b.unmasked,
            calling_convention: a.calling_convention || b.calling_convention,
        };
    }

    /// A function's declaration with its types resolved.
    pub(super) fn function_decl(&mut self, function: &'a ast::Function<'a>) -> FunctionDecl<'a> {
        let result = self.resolve(function.result, Shape::Varying);
        let result = self.check_result(result, function);
        let mut params = Vec::with_capacity(function.params.len());
        for param in function.params {
            let ty = self.resolve_param(param.ty);
            let fits = ty == TypeTable::ERROR
                || (function.body.is_none() && self.is_opaque_struct(ty))
                || self.check_complete(ty, param.ty.span, "a parameter");
            params.push(if fits { ty } else { TypeTable::ERROR });
        }
        self.check_defaults(function);
        let deprecated = function.attributes.iter().find(|attribute| attribute.name.name.as_str() == "deprecated");
        FunctionDecl {
            ast: function,
            params,
            defaults: function.params.iter().map(|param| param.default).collect(),
            result,
            flags: function.flags,
            bindings: None,
            prelude: false,
            deprecated: deprecated.map(|attribute| match attribute.argument {
                Some(ast::AttributeArgument::Str(text)) => text.to_string(),
                _ => String::new(),
            }),
        }
    }

    fn check_result(&mut self, result: TypeId, function: &'a ast::Function<'a>) -> TypeId {
        let what = match *self.kind(result) {
            TypeKind::Array(..) => "an array",
            TypeKind::Function(_) => "a function",
            // A function that is only declared here may be called where the struct is defined.
            TypeKind::Struct(id, _) if function.body.is_some() => {
                return if self.check_struct_complete(id, function.result.span) { result } else { TypeTable::ERROR };
            }
            _ => return self.strip_const(result),
        };
        let message = format!("a function cannot give {what}");
        let error = Diagnostic::new(Code::BadFunction, function.result.span, message);
        self.error(error.help("give a pointer, or a struct that contains it"));
        TypeTable::ERROR
    }

    fn is_opaque_struct(&self, ty: TypeId) -> bool {
        matches!(*self.kind(ty), TypeKind::Struct(id, _) if self.table.types.struct_def(id).is_opaque)
    }

    fn check_defaults(&mut self, function: &'a ast::Function<'a>) {
        let mut seen = false;
        for param in function.params {
            if param.default.is_none() && seen {
                let message = "a parameter after one with a default needs a default too";
                self.error_at(Code::BadFunction, param.span, message);
                return;
            }
            seen |= param.default.is_some();
        }
    }

    fn check_flags(&mut self, function: &'a ast::Function<'a>) {
        let flags = function.flags;
        let contradiction = [
            (flags.inline && flags.noinline, "a function cannot be both `inline` and `noinline`"),
            (flags.export && flags.is_extern, "a function cannot be both `export` and `extern`"),
            (flags.task && flags.export && flags.unmasked, "an exported task cannot be `unmasked`"),
        ];
        for (holds, message) in contradiction {
            if holds {
                self.error_at(Code::BadFunction, function.head_span, message);
            }
        }
        let is_void = matches!(function.result.kind, ast::TypeKind::Basic(ast::Basic::Void));
        if flags.task && !is_void && !matches!(function.result.kind, ast::TypeKind::Error) {
            let error = Diagnostic::new(Code::BadTask, function.result.span, "a task cannot give a value");
            self.error(error.help("declare it `task void` and write the result through a pointer"));
        }
    }

    fn check_operator(&mut self, function: &'a ast::Function<'a>, decl: &FunctionDecl<'a>) {
        if function.operator.is_none() || self.base.is_none() {
            return;
        }
        let has_struct = decl.params.iter().any(|&param| match *self.kind(param) {
            TypeKind::Reference(target) => matches!(self.kind(target), TypeKind::Struct(..) | TypeKind::Error),
            TypeKind::Struct(..) | TypeKind::Error => true,
            _ => false,
        });
        if !has_struct {
            let message = "an overloaded operator needs a parameter of struct type";
            self.error_at(Code::BadOperatorOverload, function.head_span, message);
        } else if !(1..=2).contains(&decl.params.len()) {
            let message = format!("an operator has one or two parameters, not {}", decl.params.len());
            self.error_at(Code::BadOperatorOverload, function.head_span, message);
        }
    }

    fn declare_template(&mut self, params: &'a [ast::TemplateParam<'a>], function: &'a ast::Function<'a>) {
        self.check_flags(function);
        if !params.is_empty() && (function.flags.export || function.flags.task || function.flags.extern_c) {
            let message = "a template cannot be `export`, `task` or `extern \"C\"`";
            self.error_at(Code::BadTemplateUse, function.head_span, message);
        }
        let name = function.name.name;
        if let Some(Entity::Functions(_, templates)) = self.table.names.get(&name) {
            // A definition after a declaration takes its place.
            let same = templates.iter().copied().find(|&id| {
                let known = self.template(id);
                known.function.body.is_none() && self.same_template(known, params, function)
            });
            if let Some(same) = same {
                let base = self.base.map_or(0, |base| base.templates.len());
                if let Some(known) = (same.0 as usize).checked_sub(base).and_then(|i| self.table.templates.get_mut(i)) {
                    known.function = function;
                    known.params = params;
                    return;
                }
            }
        }
        let prelude = self.base.is_none();
        let id = self.add_template(TemplateDecl { params, function, prelude });
        match self.table.names.entry(name).or_insert_with(|| Entity::Functions(Arc::default(), Arc::default())) {
            Entity::Functions(_, templates) => Arc::make_mut(templates).push(id),
            _ => {
                let message = format!("`{name}` is declared again with another meaning");
                self.error_at(Code::Redefinition, function.name.span, message);
                return;
            }
        }
        // Of polymorphic functions, which have no parameters of their own, instances are exported.
        if function.flags.export && params.is_empty() && function.body.is_some() {
            self.exported_templates.push(id);
        }
    }

    fn same_template(
        &self,
        known: TemplateDecl<'a>,
        params: &[ast::TemplateParam<'a>],
        function: &ast::Function<'a>,
    ) -> bool {
        let text = |span: Span| self.sources.text(span).split_whitespace().collect::<String>();
        known.params.len() == params.len()
            && known.function.params.len() == function.params.len()
            && (known.function.params.iter().zip(function.params)).all(|(a, b)| text(a.ty.span) == text(b.ty.span))
    }
}
