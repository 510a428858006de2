//! Templates and polymorphic functions: deduction of their parameters, and their instances.
//!
//! A polymorphic function (`floating f(floating x)`) is a template whose parameters are its polymorphic types. Instances
//! are made when first needed and checked like other functions.
//!
//! Deduction follows ISPC. For `T t` the type of the argument, variability included; for `uniform T` and `varying T` the
//! other variability is assumed for `T` itself, since the qualifier was written to change it. Where arguments deduce
//! both a uniform type and its varying counterpart, `T` is varying.

use super::operator::more_general;
use super::overload::{Argument, ArgumentValue};
use super::table::{Bindings, Checker, DeclId, TemplateId};
use crate::ast::{self, TemplateArg, TemplateParamKind, TypeClass, TypeExpr, Variability};
use crate::diag::{Code, Diagnostic};
use crate::hir::{Expr, Shape, TypeId, TypeKind, TypeTable};
use crate::source::Span;
use crate::symbol::Symbol;
use spmdvm_vm::Ty;
use std::sync::Arc;

impl<'a> Checker<'a, '_> {
    /// The instance of a template that fits a call, if its parameters can be deduced. Nothing is reported otherwise.
    pub(super) fn deduce(
        &mut self,
        id: TemplateId,
        written: Option<&'a [TemplateArg<'a>]>,
        args: &[Argument<'a>],
        span: Span,
    ) -> Option<DeclId> {
        self.quietly(|checker| checker.try_deduce(id, written, args, span))
    }

    /// Keeps what is reported only if something is found.
    fn quietly<R>(&mut self, action: impl FnOnce(&mut Self) -> Option<R>) -> Option<R> {
        let during = self.diags.fork();
        let before = std::mem::replace(self.diags, during);
        let result = action(self);
        let during = std::mem::replace(self.diags, before);
        if result.is_some() {
            during.into_vec().into_iter().for_each(|diagnostic| self.diags.emit(diagnostic));
        }
        result
    }

    /// The instance of a template that has a function type.
    pub(super) fn deduce_for_type(&mut self, id: TemplateId, function: TypeId, span: Span) -> Option<DeclId> {
        let TypeKind::Function(wanted) = self.kind(function).clone() else { return None };
        let params = self.template(id).function.params;
        if params.len() != wanted.params.len() {
            return None;
        }
        self.quietly(|checker| {
            let mut found = Bindings::default();
            let fits =
                params.iter().zip(&wanted.params).all(|(param, &ty)| checker.deduce_type(id, param.ty, ty, &mut found));
            if !fits {
                return None;
            }
            checker.fill_defaults(id, &mut found)?;
            let decl = checker.instance_of(id, found, span)?;
            (checker.function_type(decl) == function).then_some(decl)
        })
    }

    fn try_deduce(
        &mut self,
        id: TemplateId,
        written: Option<&'a [TemplateArg<'a>]>,
        args: &[Argument<'a>],
        span: Span,
    ) -> Option<DeclId> {
        let template = self.template(id);
        let params = template.function.params;
        let enough = args.len() <= params.len() && params[args.len()..].iter().all(|param| param.default.is_some());
        if !enough {
            return None;
        }
        let mut found = match written {
            Some(written) => self.written_bindings(id, written, None)?,
            None => Bindings::default(),
        };
        for (param, arg) in params.iter().zip(args) {
            if !self.deduce_argument(id, param.ty, arg, &mut found) {
                return None;
            }
        }
        self.fill_defaults(id, &mut found)?;
        self.instance_of(id, found, span)
    }

    fn deduce_argument(
        &mut self,
        id: TemplateId,
        written: &TypeExpr<'a>,
        arg: &Argument<'a>,
        found: &mut Bindings,
    ) -> bool {
        let ty = match (&arg.value, written.kind) {
            (ArgumentValue::Aggregate(_), _) => return true,
            // NULL fits any pointer, so it says nothing.
            (ArgumentValue::Value(value), ast::TypeKind::Pointer(_)) if self.is_null(value) => return true,
            (ArgumentValue::Place(place, _), ast::TypeKind::Reference(_)) => place.ty,
            _ => self.strip_const(arg.ty),
        };
        self.deduce_type(id, written, ty, found)
    }

    /// Matches a type as written with one that is given, noting what template parameters stand for.
    fn deduce_type(&mut self, id: TemplateId, written: &TypeExpr<'a>, given: TypeId, found: &mut Bindings) -> bool {
        match written.kind {
            ast::TypeKind::Named { name, .. } if self.is_type_param(id, name.name) => {
                self.deduce_param(name.name, written, given, found)
            }
            ast::TypeKind::Polymorphic { class, quantifier } => self.deduce_class(class, quantifier, given, found),
            ast::TypeKind::Reference(target) => self.deduce_type(id, target, given, found),
            ast::TypeKind::Pointer(inner) => match *self.kind(given) {
                TypeKind::Pointer { pointee, .. } => self.deduce_type(id, inner, pointee, found),
                _ => !self.mentions_params(id, inner),
            },
            ast::TypeKind::Array { element, .. } => match *self.kind(given) {
                TypeKind::Pointer { pointee, .. } => self.deduce_type(id, element, pointee, found),
                TypeKind::Array(elem, _) => self.deduce_type(id, element, elem, found),
                _ => !self.mentions_params(id, element),
            },
            ast::TypeKind::Vector { element, len } => match *self.kind(given) {
                TypeKind::Vector(elem, n) => {
                    self.deduce_length(id, len, n, found) && self.deduce_type(id, element, elem, found)
                }
                _ => !self.mentions_params(id, written),
            },
            ast::TypeKind::Function(function) => match self.kind(given).clone() {
                TypeKind::Function(given) => {
                    given.params.len() == function.params.len()
                        && self.deduce_type(id, function.result, given.result, found)
                        && (function.params.iter().zip(given.params))
                            .all(|(param, ty)| self.deduce_type(id, param.ty, ty, found))
                }
                _ => true,
            },
            _ => true,
        }
    }

    fn is_type_param(&self, id: TemplateId, name: Symbol) -> bool {
        let is_type = |param: &ast::TemplateParam<'_>| matches!(param.kind, TemplateParamKind::Type { .. });
        self.template(id).params.iter().any(|param| param.name.name == name && is_type(param))
    }

    /// Whether a written type depends on the template's parameters.
    fn mentions_params(&self, id: TemplateId, written: &TypeExpr<'a>) -> bool {
        match written.kind {
            ast::TypeKind::Named { name, .. } => self.is_type_param(id, name.name),
            ast::TypeKind::Polymorphic { .. } => true,
            ast::TypeKind::Pointer(inner)
            | ast::TypeKind::Reference(inner)
            | ast::TypeKind::Array { element: inner, .. }
            | ast::TypeKind::Vector { element: inner, .. } => self.mentions_params(id, inner),
            ast::TypeKind::Function(function) => {
                self.mentions_params(id, function.result)
                    || function.params.iter().any(|param| self.mentions_params(id, param.ty))
            }
            _ => false,
        }
    }

    fn deduce_param(&mut self, name: Symbol, written: &TypeExpr<'a>, given: TypeId, found: &mut Bindings) -> bool {
        if found.types.iter().take(found.n_written).any(|(param, _)| *param == name) {
            return true;
        }
        let given = if written.quals.is_const { self.strip_const(given) } else { given };
        let ty = match written.quals.variability {
            Some(Variability::Uniform) if self.is_varying(given) => return false,
            Some(Variability::Uniform) => self.as_varying(given),
            Some(Variability::Varying) => self.as_uniform(given),
            None => given,
        };
        let Some(index) = found.types.iter().position(|(param, _)| *param == name) else {
            found.types.push((name, ty));
            return true;
        };
        let known = &mut found.types[index];
        if known.1 == ty {
            return true;
        }
        let varying = (self.as_varying(known.1), self.as_varying(ty));
        if varying.0 != varying.1 {
            return false;
        }
        known.1 = varying.0;
        true
    }

    fn deduce_length(&mut self, id: TemplateId, len: &'a ast::Expr<'a>, n: u32, found: &mut Bindings) -> bool {
        let ast::ExprKind::Name { name, .. } = len.kind else { return true };
        let is_value = |param: &&ast::TemplateParam<'_>| matches!(param.kind, TemplateParamKind::Value { .. });
        let template = self.template(id);
        let Some(param) = template.params.iter().filter(is_value).find(|param| param.name.name == name.name) else {
            return true;
        };
        if let Some((_, known)) = found.values.iter().find(|(known, _)| *known == param.name.name) {
            return known.constant_bits() == Some(u64::from(n));
        }
        let value = Expr::constant(u64::from(n), self.table.types.uniform(Ty::I32), len.span);
        found.values.push((param.name.name, value));
        true
    }

    /// The type of a polymorphic parameter: the argument's, if it is of the class; of several arguments the most general.
    fn deduce_class(&mut self, class: TypeClass, quantifier: Option<u32>, given: TypeId, found: &mut Bindings) -> bool {
        let element = match *self.kind(given) {
            TypeKind::Enum(..) => Some(Ty::U32),
            TypeKind::Scalar(ty, _) => Some(ty),
            _ => None,
        };
        let Some(ty) = element.and_then(|ty| class_member(class, ty)) else { return false };
        match found.classes.iter_mut().find(|(key, _)| *key == (class, quantifier)) {
            Some((_, known)) => *known = more_general(*known, ty),
            None => found.classes.push(((class, quantifier), ty)),
        }
        true
    }

    /// What written template arguments stand for; `report` says where to complain, if at all.
    fn written_bindings(
        &mut self,
        id: TemplateId,
        written: &'a [TemplateArg<'a>],
        report: Option<Span>,
    ) -> Option<Bindings> {
        let template = self.template(id);
        if written.len() > template.params.len() {
            if let Some(span) = report {
                let message = format!("{} template arguments for {} parameters", written.len(), template.params.len());
                self.error_at(Code::BadTemplateUse, span, message);
            }
            return None;
        }
        let mut found = Bindings::default();
        for (param, arg) in template.params.iter().zip(written) {
            match (param.kind, arg) {
                (TemplateParamKind::Type { .. }, TemplateArg::Type(ty)) => {
                    let ty = self.resolve(ty, Shape::Varying);
                    found.types.push((param.name.name, ty));
                }
                (TemplateParamKind::Type { .. }, TemplateArg::Value(value)) => {
                    let ty = self.type_argument(value)?;
                    found.types.push((param.name.name, ty));
                }
                (TemplateParamKind::Value { ty, .. }, TemplateArg::Value(value)) => {
                    let value = self.value_argument(ty, value)?;
                    found.values.push((param.name.name, value));
                }
                (TemplateParamKind::Value { .. }, TemplateArg::Type(ty)) => {
                    if report.is_some() {
                        let message = format!("`{}` must be a constant, not a type", param.name.name);
                        self.error_at(Code::BadTemplateUse, ty.span, message);
                    }
                    return None;
                }
            }
        }
        found.n_written = found.types.len();
        Some(found)
    }

    /// A template argument that was parsed as a value but is a type: a lone name.
    fn type_argument(&mut self, value: &'a ast::Expr<'a>) -> Option<TypeId> {
        if let ast::ExprKind::Name { name, template_args: None } = value.kind
            && let Some(ty) = self.type_named(name.name)
        {
            return Some(self.bind(ty, Shape::Varying));
        }
        self.error_at(Code::BadTemplateUse, value.span, "a type is needed here");
        None
    }

    fn value_argument(&mut self, ty: &'a TypeExpr<'a>, value: &'a ast::Expr<'a>) -> Option<Expr> {
        let ty = self.resolve(ty, Shape::Uniform);
        let ty = self.strip_const(ty);
        let given = self.value(value);
        let given = match (self.kind(ty), self.kind(given.ty)) {
            (TypeKind::Enum(..), TypeKind::Scalar(..)) => self.cast_to(given, ty, value.span),
            _ => self.convert(given, ty, "a template argument"),
        };
        match self.evaluate(&given, 0) {
            Some(bits) => Some(Expr::constant(bits, ty, value.span)),
            None => {
                if given.ty != TypeTable::ERROR {
                    self.error_at(Code::NotConstant, value.span, "a template argument must be known at compile time");
                }
                None
            }
        }
    }

    /// Adds default arguments; `None` if a parameter remains open.
    fn fill_defaults(&mut self, id: TemplateId, found: &mut Bindings) -> Option<()> {
        let template = self.template(id);
        for param in template.params {
            let name = param.name.name;
            match param.kind {
                TemplateParamKind::Type { default } => {
                    if found.types.iter().any(|(known, _)| *known == name) {
                        continue;
                    }
                    let default = default?;
                    let bindings = Some(Arc::new(found.clone()));
                    let ty = self
                        .with_bindings(bindings, template.prelude, |checker| checker.resolve(default, Shape::Varying));
                    found.types.push((name, ty));
                }
                TemplateParamKind::Value { ty, default } => {
                    if found.values.iter().any(|(known, _)| *known == name) {
                        continue;
                    }
                    let default = default?;
                    let bindings = Some(Arc::new(found.clone()));
                    let value =
                        self.with_bindings(bindings, template.prelude, |checker| checker.value_argument(ty, default))?;
                    found.values.push((name, value));
                }
            }
        }
        Some(())
    }

    /// The instance that written arguments alone name; reported if they do not.
    pub(super) fn instantiate_written(
        &mut self,
        id: TemplateId,
        written: &'a [TemplateArg<'a>],
        span: Span,
    ) -> Option<DeclId> {
        let mut found = self.written_bindings(id, written, Some(span))?;
        if self.fill_defaults(id, &mut found).is_none() {
            self.error_at(Code::BadTemplateUse, span, "some template arguments are missing here");
            return None;
        }
        self.instance_of(id, found, span)
    }

    /// The instance of a template with these arguments.
    pub(super) fn instance_of(&mut self, id: TemplateId, found: Bindings, span: Span) -> Option<DeclId> {
        let key = (id, self.bindings_key(id, &found));
        if let Some(decl) = self.instance(&key) {
            return Some(decl);
        }
        // A template that instantiates itself with ever new arguments must end.
        let limit = self.diags.limits().instances;
        if self.instances_made >= limit || self.diags.poll() {
            self.too_many_instances = self.too_many_instances.or(Some(span));
            return None;
        }
        self.instances_made += 1;
        let template = self.template(id);
        let decl = self.make_instance(template.function, found, template.prelude);
        self.table.instances.insert(key, decl);
        Some(decl)
    }

    /// Declares a function with template parameters replaced.
    pub(super) fn make_instance(&mut self, function: &'a ast::Function<'a>, found: Bindings, prelude: bool) -> DeclId {
        let bindings = Some(Arc::new(found));
        let mut decl = self.with_bindings(bindings.clone(), prelude, |checker| checker.function_decl(function));
        decl.bindings = bindings;
        decl.prelude = prelude;
        self.add_decl(decl)
    }

    /// Tells instances of a template apart.
    fn bindings_key(&self, id: TemplateId, found: &Bindings) -> String {
        let mut key = String::new();
        for param in self.template(id).params {
            let name = param.name.name;
            if let Some((_, ty)) = found.types.iter().find(|(known, _)| *known == name) {
                key.push_str(&format!("{ty:?},"));
            }
            if let Some((_, value)) = found.values.iter().find(|(known, _)| *known == name) {
                key.push_str(&format!("{:?},", value.constant_bits()));
            }
        }
        for (class, ty) in &found.classes {
            key.push_str(&format!("{class:?}={ty},"));
        }
        key
    }

    /// `template <> f<…>(…) { … }`: an instance that is given.
    pub(super) fn declare_specialization(&mut self, instance: &'a ast::TemplateInstance<'a>) {
        let Some((template, found)) = self.instance_target(instance) else { return };
        let key = (template, self.bindings_key(template, &found));
        let is_prelude = self.base.is_none();
        if let Some(known) = self.instance(&key) {
            let (ast, span) = (self.decl(known).ast, instance.function.head_span);
            let is_forward = ast.body.is_none() && self.decl(known).bindings.is_none();
            match self.decl_mut(known) {
                Some(decl) if is_forward => decl.ast = instance.function,
                _ => {
                    let message =
                        format!("`{}` is specialised twice for these arguments, or after it was used", ast.name.name);
                    let error = Diagnostic::new(Code::Redefinition, span, message);
                    self.error(error.label(ast.head_span, "first here"));
                }
            }
            return;
        }
        let mut decl = self.function_decl(instance.function);
        decl.prelude = is_prelude;
        let decl = self.add_decl(decl);
        self.table.instances.insert(key, decl);
    }

    /// `template f<…>(…);`: an instance that is asked for.
    pub(super) fn declare_instantiation(&mut self, instance: &'a ast::TemplateInstance<'a>) {
        let Some((template, found)) = self.instance_target(instance) else { return };
        if let Some(decl) = self.instance_of(template, found, instance.function.head_span) {
            self.explicit_instances.push(decl);
        }
    }

    /// The template and arguments an explicit instance is of.
    fn instance_target(&mut self, instance: &'a ast::TemplateInstance<'a>) -> Option<(TemplateId, Bindings)> {
        let name = instance.function.name;
        let span = instance.function.head_span;
        let templates = match self.lookup(name.name) {
            Some(super::table::Entity::Functions(_, templates)) => templates,
            _ => Arc::default(),
        };
        let shape = self.function_decl(instance.function);
        for &id in templates.iter() {
            let template = self.template(id);
            if template.function.params.len() != instance.function.params.len() {
                continue;
            }
            let mut found = match instance.args {
                Some(written) => match self.written_bindings(id, written, None) {
                    Some(found) => found,
                    None => continue,
                },
                None => Bindings::default(),
            };
            let deduced = (template.function.params.iter().zip(&shape.params))
                .all(|(param, &ty)| self.deduce_type(id, param.ty, ty, &mut found));
            if deduced && self.fill_defaults(id, &mut found).is_some() && self.same_signature(id, &found, &shape) {
                return Some((id, found));
            }
        }
        let message = format!("no template `{}` has an instance like this", name.name);
        let mut error = Diagnostic::new(Code::BadTemplateUse, span, message);
        if let Some(&first) = templates.first() {
            error = error.label(self.template(first).function.head_span, "the template");
        }
        self.error(error);
        None
    }

    fn same_signature(&mut self, id: TemplateId, found: &Bindings, shape: &super::table::FunctionDecl<'a>) -> bool {
        let template = self.template(id);
        let bindings = Some(Arc::new(found.clone()));
        let decl = self.with_bindings(bindings, template.prelude, |checker| checker.function_decl(template.function));
        decl.params == shape.params
    }

    /// Does something with a template's parameters standing for what `bindings` says, and no local names in sight.
    pub(super) fn with_bindings<R>(
        &mut self,
        bindings: Option<Arc<Bindings>>,
        prelude: bool,
        action: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let names = std::mem::take(&mut self.body.names);
        let types = std::mem::take(&mut self.body.types);
        let start = std::mem::replace(&mut self.body.scope_start, 0);
        let old_bindings = std::mem::replace(&mut self.body.bindings, bindings);
        let old_prelude = std::mem::replace(&mut self.body.prelude, prelude);
        let result = action(self);
        self.body.names = names;
        self.body.types = types;
        self.body.scope_start = start;
        self.body.bindings = old_bindings;
        self.body.prelude = old_prelude;
        result
    }

    /// Does something where `decl` is declared: for its default arguments.
    pub(super) fn at_file_scope<R>(&mut self, decl: DeclId, action: impl FnOnce(&mut Self) -> R) -> R {
        let (bindings, prelude) = (self.decl(decl).bindings.clone(), self.decl(decl).prelude);
        self.with_bindings(bindings, prelude, action)
    }

    /// All instances of an exported polymorphic function: hosts choose by the types of their arrays.
    pub(super) fn all_class_instances(&mut self, id: TemplateId) -> Vec<DeclId> {
        let template = self.template(id);
        let mut keys: Vec<(TypeClass, Option<u32>)> = Vec::new();
        for param in template.function.params {
            collect_classes(param.ty, &mut keys);
        }
        let mut all = vec![Bindings::default()];
        for key in keys {
            let members: Vec<Ty> = Ty::ALL.into_iter().filter(|&ty| class_member(key.0, ty) == Some(ty)).collect();
            all = all
                .into_iter()
                .flat_map(|found| {
                    members.iter().map(move |&ty| {
                        let mut found = found.clone();
                        found.classes.push((key, ty));
                        found
                    })
                })
                .collect();
            if all.len() > 200 {
                let message = "this exported function has too many polymorphic types to be compiled for all of them";
                self.error_at(Code::BadPolymorphism, template.function.head_span, message);
                return Vec::new();
            }
        }
        let span = template.function.head_span;
        all.into_iter().filter_map(|found| self.instance_of(id, found, span)).collect()
    }
}

/// The type of a class that stands for an argument of type `ty`; an integer where a float is needed becomes `float`.
fn class_member(class: TypeClass, ty: Ty) -> Option<Ty> {
    match class {
        TypeClass::Integer => ty.is_int().then_some(ty),
        TypeClass::Floating if ty.is_float() => Some(ty),
        TypeClass::Floating => ty.is_int().then_some(Ty::F32),
        TypeClass::Number => (ty != Ty::Bool).then_some(ty),
    }
}

/// The polymorphic types in a written type.
pub(super) fn collect_classes(written: &TypeExpr<'_>, keys: &mut Vec<(TypeClass, Option<u32>)>) {
    match written.kind {
        ast::TypeKind::Polymorphic { class, quantifier } if !keys.contains(&(class, quantifier)) => {
            keys.push((class, quantifier));
        }
        ast::TypeKind::Pointer(inner)
        | ast::TypeKind::Reference(inner)
        | ast::TypeKind::Array { element: inner, .. }
        | ast::TypeKind::Vector { element: inner, .. } => collect_classes(inner, keys),
        _ => {}
    }
}
