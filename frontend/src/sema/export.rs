//! What hosts may call, and how it looks to them.

use super::table::{Checker, DeclId};
use crate::ast;
use crate::diag::{Code, Diagnostic};
use crate::hir::{Export, Linkage, Shape, TypeId, TypeKind, TypeTable};
use spmdvm_vm::Ty;
use spmdvm_vm::program::{ExportParam, HostValue};

impl<'a> Checker<'a, '_> {
    /// The exports of the program, in the order of their definitions.
    pub(super) fn exports(&mut self) -> Vec<Export> {
        let first = self.base.map_or(0, |base| base.functions.len());
        let mut exports = Vec::new();
        for index in 0..self.table.functions.len() {
            if self.diags.poll() {
                break;
            }
            let decl = &self.table.functions[index];
            if decl.flags.export && decl.ast.body.is_some() && !decl.prelude {
                let export = self.export(DeclId((first + index) as u32));
                exports.extend(export);
            }
        }
        exports
    }

    fn export(&mut self, id: DeclId) -> Option<Export> {
        let decl = self.decl(id).clone();
        // Instances of polymorphic functions are compiled when they are called, under their own names.
        let by_value = decl.bindings.is_none();
        let mut passed = Vec::with_capacity(decl.params.len());
        let mut params = Vec::with_capacity(decl.params.len());
        for (index, (param, &ty)) in decl.ast.params.iter().zip(&decl.params).enumerate() {
            let ty = if by_value { self.passed_type(ty, false) } else { ty };
            passed.push(ty);
            let value = self.host_value(ty);
            let Some(value) = value else {
                if ty != TypeTable::ERROR {
                    let message = format!("hosts cannot pass a `{}`", self.show(ty));
                    let error = Diagnostic::new(Code::BadExport, param.span, message);
                    let help = "pass arrays as `uniform T a[]`; structs, short vectors and pointers must be uniform";
                    self.error(error.help(help));
                }
                return None;
            };
            let default = decl.defaults[index].and_then(|default| {
                let value = self.at_file_scope(id, |checker| checker.initializer(default, ty));
                value.constant_bits()
            });
            let name = param.name.map_or_else(String::new, |name| name.name.as_str().to_string());
            params.push(ExportParam { name, value, default });
        }
        self.warn_varying_arrays(decl.ast.params);
        let target = by_value && self.is_in_memory(decl.result);
        let target = if target { Some(self.passed_type(decl.result, true)) } else { None };
        let result = match target.unwrap_or(decl.result) {
            TypeTable::VOID | TypeTable::ERROR => None,
            ty => match if target.is_some() { self.host_value(ty) } else { self.host_result(ty) } {
                Some(value) => Some(value),
                None => {
                    let message = format!("hosts cannot take a `{}`", self.show(ty));
                    let error = Diagnostic::new(Code::BadExport, decl.ast.result.span, message);
                    self.error(error.help("write the result to memory that the host passes"));
                    return None;
                }
            },
        };
        let is_direct = target.is_none() && passed == decl.params;
        let function = if is_direct { self.function_id(id) } else { self.pass_in_memory(id, &passed, target) };
        let declaration = self.sources.text(decl.ast.head_span).split_whitespace().collect::<Vec<_>>().join(" ");
        Some(Export {
            function,
            name: decl.ast.name.name.as_str().to_string(),
            params,
            result,
            doc: self.sources.doc_comment(decl.ast.span),
            declaration,
        })
    }

    /// Warns of arrays whose elements are varying because nothing is written.
    fn warn_varying_arrays(&mut self, params: &'a [ast::Param<'a>]) {
        for param in params {
            let ast::TypeKind::Array { element, .. } = param.ty.kind else { continue };
            let is_plain = matches!(element.kind, ast::TypeKind::Basic(_)) && element.quals.variability.is_none();
            if is_plain && let Some(name) = param.name {
                let text = self.sources.text(element.span);
                let message = format!("each element of `{}` is a gang of values, one per lane", name.name);
                let warning = Diagnostic::new(Code::ExportedVaryingArray, param.span, message);
                self.warn(
                    warning.help(format!("write `uniform {text} {}[]` for an array of single values", name.name)),
                );
            }
        }
    }

    /// Gives the globals that hosts see their layouts. A type that is too complicated for them stays the program's own.
    pub(super) fn lay_out_globals(&mut self) {
        for index in 0..self.globals.len() {
            let global = &self.globals[index];
            let (ty, linkage, span) = (global.ty, global.linkage, global.span);
            if linkage == Linkage::Internal {
                continue;
            }
            let layout = self.table.types.host_type(ty, self.lanes());
            if layout.is_none() && linkage == Linkage::Extern {
                let message = format!("hosts cannot supply a `{}`", self.show(ty));
                self.error_at(Code::BadExport, span, message);
            }
            self.globals[index].layout = layout;
        }
    }

    pub(super) fn host_value(&self, ty: TypeId) -> Option<HostValue> {
        match *self.kind(ty) {
            TypeKind::Scalar(scalar, shape) => scalar_value(scalar, shape),
            TypeKind::Enum(_, shape) => scalar_value(Ty::U32, shape),
            TypeKind::Pointer { pointee, shape: Shape::Uniform } => self.host_array(pointee, false),
            TypeKind::Reference(target) => self.host_array(target, true),
            _ => None,
        }
    }

    fn host_result(&self, ty: TypeId) -> Option<HostValue> {
        match *self.kind(ty) {
            TypeKind::Scalar(scalar, shape) => scalar_value(scalar, shape),
            TypeKind::Enum(_, shape) => scalar_value(Ty::U32, shape),
            TypeKind::Pointer { pointee, shape: Shape::Uniform } => self.host_array(pointee, false),
            TypeKind::Reference(target) => self.host_array(target, false),
            _ => None,
        }
    }

    fn host_array(&self, elem: TypeId, reference: bool) -> Option<HostValue> {
        let writable = !self.is_const(elem);
        let elem = self.table.types.host_type(elem, self.lanes())?;
        Some(HostValue::Array { elem, writable, reference })
    }
}

fn scalar_value(ty: Ty, shape: Shape) -> Option<HostValue> {
    match shape {
        Shape::Uniform => Some(HostValue::Uniform(ty)),
        Shape::Varying => Some(HostValue::Varying(ty)),
        Shape::Soa(_) => None,
    }
}
