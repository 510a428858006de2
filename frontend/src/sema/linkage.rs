//! What a file shares with others: functions and variables that it needs and does not define, and those that it defines.

use super::table::{Checker, DeclId, FunctionDecl};
use crate::diag::{Code, Diagnostic};
use crate::hir::{self, Import, Item, LinkSymbol, Linkage, Shape, TypeId, TypeKind};
use crate::source::Span;
use spmdvm_vm::program::{ExportParam, HostFunction};
use std::collections::BTreeMap;

impl<'a> Checker<'a, '_> {
    /// What is used and not defined. Such functions get bodies that trap.
    pub(super) fn imports(&mut self) -> Vec<Import> {
        let mut missing: Vec<(DeclId, Span)> = Vec::new();
        for (&decl, &span) in &self.first_uses {
            if self.decl(decl).ast.body.is_none() {
                missing.push((decl, span));
            }
        }
        missing.sort_by_key(|(_, span)| (span.file, span.lo));
        let mut imports: Vec<Import> =
            missing.into_iter().filter_map(|(decl, used)| self.import_function(decl, used)).collect();
        for index in 0..self.globals.len() {
            let global = &self.globals[index];
            if self.is_object && global.linkage == Linkage::Extern {
                let symbol = self.global_symbol(index);
                imports.push(Import { symbol, used: None, host: None });
            }
        }
        imports
    }

    fn import_function(&mut self, id: DeclId, used: Span) -> Option<Import> {
        let decl = self.decl(id).clone();
        let name = decl.ast.name.name;
        // No other file can define these.
        if decl.flags.is_static || decl.bindings.is_some() {
            let message = format!("`{name}` is declared but defined nowhere");
            let error = Diagnostic::new(Code::UndefinedFunction, used, message);
            self.error(error.label(decl.ast.head_span, "declared here").help(match decl.flags.is_static {
                true => "what is `static` must be defined in the same file",
                false => "a template must be defined in every file that uses it, as headers do",
            }));
            return None;
        }
        let function = self.function_id(id);
        self.leave_out(id, function, format!("`{name}` is declared but defined nowhere"));
        self.functions[function.0 as usize].flags.is_import = true;
        let link_name = if decl.flags.extern_c { name.as_str().to_string() } else { self.link_name(&decl) };
        let symbol = self.function_symbol(&decl, link_name, function);
        let host = if decl.flags.extern_c && !decl.flags.task { self.host_function(&decl) } else { None };
        Some(Import { symbol, used: Some(used), host })
    }

    /// What a host is given that is called as this function; `None` if it cannot take or give that.
    fn host_function(&self, decl: &FunctionDecl<'a>) -> Option<HostFunction> {
        let param = |(param, &ty): (&crate::ast::Param<'a>, &TypeId)| {
            let name = param.name.map_or_else(String::new, |name| name.name.as_str().to_string());
            Some(ExportParam { name, value: self.host_value(ty)?, default: None })
        };
        let params = decl.ast.params.iter().zip(&decl.params).map(param).collect::<Option<Vec<_>>>()?;
        let is_void = *self.kind(decl.result) == TypeKind::Void;
        let result = if is_void { None } else { Some(self.host_value(decl.result)?) };
        Some(HostFunction { params, result })
    }

    /// What other files can link to: all that is not `static`. Functions that are `inline` and instances of templates
    /// belong to the file, as they are in the headers of every file that needs them.
    pub(super) fn symbols(&mut self) -> Vec<LinkSymbol> {
        let mut symbols = Vec::new();
        let first = self.base.map_or(0, |base| base.functions.len());
        for index in 0..self.table.functions.len() {
            if self.diags.poll() {
                break;
            }
            let decl = self.table.functions[index].clone();
            let flags = decl.flags;
            let own = flags.is_static || flags.inline || decl.bindings.is_some() || decl.prelude;
            if own || decl.ast.body.is_none() {
                continue;
            }
            let function = self.function_id(DeclId((first + index) as u32));
            let name = self.link_name(&decl);
            symbols.push(self.function_symbol(&decl, name, function));
            if flags.export || flags.extern_c {
                symbols.push(self.function_symbol(&decl, decl.ast.name.name.as_str().to_string(), function));
            }
        }
        let shared = |index: &usize| self.globals[*index].linkage == Linkage::Shared;
        symbols.extend((0..self.globals.len()).filter(shared).map(|index| self.global_symbol(index)));
        symbols
    }

    /// The name that tells functions apart in all files: with the types of the parameters.
    fn link_name(&self, decl: &FunctionDecl<'a>) -> String {
        format!("{}({})", decl.ast.name.name, self.parameter_types(decl))
    }

    fn parameter_types(&self, decl: &FunctionDecl<'a>) -> String {
        let params = decl.params.iter().map(|&ty| self.table.types.display(self.without_const(ty)));
        params.collect::<Vec<_>>().join(", ")
    }

    /// The type that a parameter has for callers, to whom it does not matter whether the function changes its copy.
    pub(super) fn without_const(&self, ty: TypeId) -> TypeId {
        self.table.types.find(self.kind(ty), false).unwrap_or(ty)
    }

    fn function_symbol(&self, decl: &FunctionDecl<'a>, name: String, function: hir::FuncId) -> LinkSymbol {
        let task = if decl.flags.task { "task " } else { "" };
        let unmasked = if decl.flags.unmasked { "unmasked " } else { "" };
        let ty = format!("{task}{unmasked}{} ({})", self.show(decl.result), self.parameter_types(decl));
        let types: Vec<TypeId> = decl.params.iter().copied().chain([decl.result]).collect();
        let structs = self.definitions(&types);
        LinkSymbol { name, item: Item::Function(function), ty, structs, span: decl.ast.head_span }
    }

    fn global_symbol(&self, index: usize) -> LinkSymbol {
        let global = &self.globals[index];
        LinkSymbol {
            name: global.name.clone(),
            item: Item::Global(hir::GlobalId(index as u32)),
            ty: self.show(global.ty),
            structs: self.definitions(&[global.ty]),
            span: global.span,
        }
    }

    /// The structs and enumerations that types are made of or point to, as far as they are defined, each with a digest of
    /// its definition.
    fn definitions(&self, types: &[TypeId]) -> Vec<(String, u64)> {
        let mut found = BTreeMap::new();
        let mut todo = types.to_vec();
        while let Some(ty) = todo.pop() {
            match self.kind(ty) {
                TypeKind::Pointer { pointee: inner, .. }
                | TypeKind::Reference(inner)
                | TypeKind::Array(inner, _)
                | TypeKind::Vector(inner, _) => todo.push(*inner),
                TypeKind::Function(function) => todo.extend(function.params.iter().chain([&function.result])),
                &TypeKind::Struct(id, _) => {
                    let def = self.table.types.struct_def(id);
                    if def.is_opaque || found.contains_key(def.name.as_str()) {
                        continue;
                    }
                    let (layout, offsets) = self.table.types.struct_layout(id, Shape::Uniform, self.lanes());
                    let mut text = format!("{} {}", layout.size, layout.align);
                    for (field, offset) in def.fields.iter().zip(offsets) {
                        text += &format!("; {} {} {offset}", self.table.types.display(field.uniform), field.name);
                    }
                    found.insert(def.name.as_str().to_string(), digest(&text));
                    todo.extend(def.fields.iter().map(|field| field.uniform));
                }
                &TypeKind::Enum(id, _) => {
                    let def = self.table.types.enum_def(id);
                    let values = def.enumerators.iter().map(|(name, value)| format!("{name} = {value}; "));
                    found.insert(def.name.as_str().to_string(), digest(&values.collect::<String>()));
                }
                _ => {}
            }
        }
        found.into_iter().collect()
    }
}

/// FNV-1a. It is kept in files, so it must be the same everywhere.
fn digest(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
