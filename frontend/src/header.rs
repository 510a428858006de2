//! The header for C and C++ hosts that a program with `export`ed functions has: their declarations, and the types in them.
//!
//! Names, guards and the namespace are those that ISPC's headers have, so that one can stand for the other. Definitions come in
//! the order in which C needs them: short vectors, enums, structs (what one contains before it), functions.

use crate::hir::{EnumId, Function, LocalId, Module, Shape, StructId, TypeId, TypeKind, TypeTable};
use spmdvm_vm::Ty;
use std::collections::HashSet;
use std::fmt::Write as _;

/// What C11, C++ and the compilers of both need before anything else.
const PROLOGUE: &str = r#"#pragma once
#include <stdint.h>

#ifndef __cplusplus
#include <stdbool.h>
#endif

#ifndef __ISPC_ALIGN__
#if defined(__cplusplus)
#define __ISPC_ALIGN__(bytes) alignas(bytes)
#elif defined(_MSC_VER)
#define __ISPC_ALIGN__(bytes) __declspec(align(bytes))
#else
#define __ISPC_ALIGN__(bytes) __attribute__((aligned(bytes)))
#endif
#endif
#ifndef __ISPC_ALIGNED_STRUCT__
#define __ISPC_ALIGNED_STRUCT__(bytes) struct __ISPC_ALIGN__(bytes)
#endif

#ifdef __cplusplus
namespace ispc {
#endif
"#;

const BEGIN_FUNCTIONS: &str = r#"
#if defined(__cplusplus) && (!defined(__ISPC_NO_EXTERN_C) || !__ISPC_NO_EXTERN_C)
extern "C" {
#endif
"#;

const EPILOGUE: &str = r#"#if defined(__cplusplus) && (!defined(__ISPC_NO_EXTERN_C) || !__ISPC_NO_EXTERN_C)
} // extern "C"
#endif

#ifdef __cplusplus
} // namespace ispc
#endif
"#;

/// The header of a program; `name` is what its first line calls it.
pub fn header(module: &Module, name: &str) -> String {
    let mut writer = Writer {
        types: &module.types,
        lanes: module.width.lanes(),
        seen: HashSet::new(),
        vectors: String::new(),
        enums: String::new(),
        forward: String::new(),
        structs: String::new(),
    };
    for &ty in &module.exported_types {
        writer.define(ty);
    }
    let exported = |function: &&Function| function.flags.export && !function.flags.prelude && function.body.is_some();
    let exports: Vec<&Function> = module.functions.iter().filter(exported).collect();
    let mut functions = String::new();
    for (index, function) in exports.iter().enumerate() {
        let same = |others: &[&Function]| others.iter().any(|other| other.name == function.name);
        let (is_again, is_first) = (same(&exports[..index]), same(&exports[index + 1..]));
        if !is_again {
            functions += &writer.function(function, !is_first);
        }
    }
    let Writer { vectors, enums, forward, structs, .. } = writer;
    let types = format!("{vectors}{enums}\n{forward}{structs}");
    let first = format!("// {name}: written by `spmdvm header`; changes are lost.");
    format!("{first}\n\n{PROLOGUE}\n{types}{BEGIN_FUNCTIONS}{functions}{EPILOGUE}")
}

/// A type that is defined in a header.
#[derive(PartialEq, Eq, Hash)]
enum Defined {
    Vector(String),
    Enum(EnumId),
    Struct(StructId, Shape),
}

/// Writes declarations, and collects the definitions that they need.
struct Writer<'m> {
    types: &'m TypeTable,
    lanes: usize,
    seen: HashSet<Defined>,
    vectors: String,
    enums: String,
    forward: String,
    structs: String,
}

impl Writer<'_> {
    /// Declares a function. One that shares its name with others has none in C.
    fn function(&mut self, function: &Function, is_only: bool) -> String {
        if function.flags.task {
            return format!("    // The task {} is launched by the program alone.\n", function.name);
        }
        if !is_only {
            return format!("    // {} stands for several functions, which have no name in C.\n", function.name);
        }
        self.define(function.result);
        let mut has_references = false;
        for param in &function.params {
            let ty = function.locals[param.0 as usize].ty;
            has_references |= matches!(self.types.kind(ty), TypeKind::Reference(_));
            self.define(ty);
        }
        if !has_references {
            return format!("    {}\n", self.declaration(function, true));
        }
        let (cpp, c) = (self.declaration(function, true), self.declaration(function, false));
        format!("#ifdef __cplusplus\n    {cpp}\n#else\n    {c}\n#endif\n")
    }

    fn declaration(&self, function: &Function, cpp: bool) -> String {
        let param = |param: &LocalId| {
            let local = &function.locals[param.0 as usize];
            self.declare(local.ty, local.name.as_str(), cpp)
        };
        let params: Vec<String> = function.params.iter().map(param).collect();
        let name = format!("{}({})", function.name, listed(&params));
        format!("extern {};", self.declare(function.result, &name, cpp))
    }

    /// A declaration of `inner`, a declarator, with a type.
    fn declare(&self, ty: TypeId, inner: &str, cpp: bool) -> String {
        let qualifier = if self.types[ty].is_const { "const " } else { "" };
        let (base, shape) = match *self.types.kind(ty) {
            TypeKind::Reference(target) => {
                return self.declare_address(target, if cpp { '&' } else { '*' }, inner, cpp);
            }
            TypeKind::Pointer { pointee, shape } => {
                let inner = format!("{qualifier}{inner}{}", self.per_lane(shape));
                return self.declare_address(pointee, '*', &inner, cpp);
            }
            TypeKind::Array(elem, len) => {
                let len = len.map(|len| len.to_string()).unwrap_or_default();
                return self.declare(elem, &format!("{inner}[{len}]"), cpp);
            }
            TypeKind::Vector(elem, len) if self.types.is_varying(elem) => {
                return self.declare(elem, &format!("{inner}[{len}]"), cpp);
            }
            TypeKind::Function(ref function) => {
                let params: Vec<String> = function.params.iter().map(|&param| self.declare(param, "", cpp)).collect();
                return self.declare(function.result, &format!("{inner}({})", listed(&params)), cpp);
            }
            TypeKind::Error | TypeKind::Void => ("void".to_string(), Shape::Uniform),
            TypeKind::Scalar(scalar, shape) => (scalar_name(scalar).to_string(), shape),
            TypeKind::Enum(id, shape) => (format!("enum {}", self.types.enum_def(id).name), shape),
            TypeKind::Vector(elem, len) => (format!("struct {}", self.vector_name(elem, len)), Shape::Uniform),
            TypeKind::Struct(id, shape) => (format!("struct {}", self.struct_name(id, shape)), Shape::Uniform),
        };
        format!("{qualifier}{base} {inner}{}", self.per_lane(shape)).trim_end().to_string()
    }

    /// A declaration of a pointer or reference to a type.
    fn declare_address(&self, target: TypeId, sign: char, inner: &str, cpp: bool) -> String {
        let is_array_in_c = match *self.types.kind(target) {
            TypeKind::Array(..) | TypeKind::Function(_) => true,
            TypeKind::Struct(..) => false,
            _ => self.types.shape(target) != Shape::Uniform,
        };
        let inner = if is_array_in_c { format!("({sign}{inner})") } else { format!("{sign}{inner}") };
        self.declare(target, &inner, cpp)
    }

    /// The dimension that a shape adds.
    fn per_lane(&self, shape: Shape) -> String {
        match shape {
            Shape::Uniform => String::new(),
            Shape::Varying => format!("[{}]", self.lanes),
            Shape::Soa(n) => format!("[{n}]"),
        }
    }

    fn struct_name(&self, id: StructId, shape: Shape) -> String {
        let name =
            self.types.struct_def(id).name.as_str().replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "_");
        match shape {
            Shape::Uniform => name,
            Shape::Varying => format!("v{}_varying_{name}", self.lanes),
            Shape::Soa(n) => format!("soa{n}_{name}"),
        }
    }

    fn vector_name(&self, elem: TypeId, len: u32) -> String {
        let elem = match *self.types.kind(elem) {
            TypeKind::Scalar(scalar, _) => scalar_name(scalar),
            TypeKind::Enum(id, _) => self.types.enum_def(id).name.as_str(),
            _ => "pointer",
        };
        format!("{elem}{len}")
    }

    /// Writes the definitions that a type needs, unless they are there.
    fn define(&mut self, ty: TypeId) {
        let mut pending = vec![ty];
        while let Some(ty) = pending.pop() {
            self.define_contents(ty, &mut pending);
        }
    }

    /// Likewise, but leaves what is only pointed to for later: it may contain what is being defined.
    fn define_contents(&mut self, ty: TypeId, pending: &mut Vec<TypeId>) {
        match *self.types.kind(ty) {
            TypeKind::Reference(target) | TypeKind::Pointer { pointee: target, .. } => pending.push(target),
            TypeKind::Array(elem, _) => self.define_contents(elem, pending),
            TypeKind::Function(ref function) => pending.extend(function.params.iter().chain([&function.result])),
            TypeKind::Enum(id, _) => self.define_enum(id),
            TypeKind::Vector(elem, len) => {
                self.define_contents(elem, pending);
                if !self.types.is_varying(elem) {
                    self.define_vector(ty, elem, len);
                }
            }
            TypeKind::Struct(id, shape) => self.define_struct(id, shape, pending),
            TypeKind::Error | TypeKind::Void | TypeKind::Scalar(..) => {}
        }
    }

    fn define_enum(&mut self, id: EnumId) {
        let def = self.types.enum_def(id);
        if !self.seen.insert(Defined::Enum(id)) || def.enumerators.is_empty() {
            return;
        }
        let values: Vec<String> =
            def.enumerators.iter().map(|(name, value)| format!("    {name} = {}", *value as i32)).collect();
        let text = format!("enum {} {{\n{}\n}};\n", def.name, values.join(",\n"));
        self.enums += &guarded("ENUM", def.name.as_str(), &text);
    }

    fn define_vector(&mut self, ty: TypeId, elem: TypeId, len: u32) {
        let name = self.vector_name(elem, len);
        if !self.seen.insert(Defined::Vector(name.clone())) {
            return;
        }
        let align = self.types.layout(ty, self.lanes).align;
        let member = match *self.types.kind(elem) {
            TypeKind::Pointer { .. } => format!("void *v[{len}]"),
            _ => self.declare(elem, &format!("v[{len}]"), true),
        };
        let text = format!("__ISPC_ALIGNED_STRUCT__({align}) {name} {{ {member}; }};\n");
        self.vectors += &guarded("VECTOR", &name, &text);
    }

    fn define_struct(&mut self, id: StructId, shape: Shape, pending: &mut Vec<TypeId>) {
        if !self.seen.insert(Defined::Struct(id, shape)) {
            return;
        }
        let (def, name) = (self.types.struct_def(id), self.struct_name(id, shape));
        let _ = writeln!(self.forward, "struct {name};");
        // Hosts have no use for the members of blocks of structs.
        if def.is_opaque || matches!(shape, Shape::Soa(_)) {
            return;
        }
        let mut members = String::new();
        for (index, field) in def.fields.iter().enumerate() {
            let ty = self.types.field_type(id, shape, index);
            self.define_contents(ty, pending);
            let align = match self.types.is_varying(ty) && !matches!(self.types.kind(ty), TypeKind::Struct(..)) {
                true if !def.packed => format!("__ISPC_ALIGN__({}) ", self.types.layout(ty, self.lanes).align),
                _ => String::new(),
            };
            let _ = writeln!(members, "    {align}{};", self.declare(ty, field.name.as_str(), true));
        }
        let head = match def.align {
            Some(align) => format!("__ISPC_ALIGNED_STRUCT__({align}) {name}"),
            None => format!("struct {name}"),
        };
        let text = match def.packed {
            true => format!("#pragma pack(push, 1)\n{head} {{\n{members}}};\n#pragma pack(pop)\n"),
            false => format!("{head} {{\n{members}}};\n"),
        };
        self.structs += &guarded("STRUCT", &name, &text);
    }
}

/// A definition that is skipped where another header has it.
fn guarded(kind: &str, name: &str, text: &str) -> String {
    format!("\n#ifndef __ISPC_{kind}_{name}__\n#define __ISPC_{kind}_{name}__\n{text}#endif\n")
}

/// Parameters of a C function.
fn listed(params: &[String]) -> String {
    if params.is_empty() { "void".into() } else { params.join(", ") }
}

/// The name of a type of numbers in C. Compilers differ in what they call 16-bit floats, so these go by their bits.
fn scalar_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::I8 => "int8_t",
        Ty::I16 => "int16_t",
        Ty::I32 => "int32_t",
        Ty::I64 => "int64_t",
        Ty::U8 => "uint8_t",
        Ty::U16 | Ty::F16 => "uint16_t",
        Ty::U32 => "uint32_t",
        Ty::U64 => "uint64_t",
        Ty::F32 => "float",
        Ty::F64 => "double",
    }
}
