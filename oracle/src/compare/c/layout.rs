//! Types as one lane has them: a varying value is one value, laid out in memory as a uniform one would be.

use spmdvm::Ty;
use spmdvm::frontend::hir::{Module, Shape, StructId, TypeId, TypeKind};

/// The elements that a short vector has room for at least.
const MIN_VECTOR_ELEMENTS: u64 = 4;

/// The name of an element type in C.
pub fn scalar(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "b8",
        _ => ty.name(),
    }
}

/// The type in C of a value that one lane has. Structs, arrays and short vectors are blocks of bytes.
pub fn c_type(module: &Module, id: TypeId) -> String {
    match module.types.register_ty(id) {
        Some(ty) => scalar(ty).to_owned(),
        None if matches!(module.types.kind(id), TypeKind::Void) => "void".to_owned(),
        None => format!("B{}", size(module, id)),
    }
}

/// The size in bytes of what one lane has.
pub fn size(module: &Module, id: TypeId) -> u64 {
    size_and_align(module, id).0
}

fn size_and_align(module: &Module, id: TypeId) -> (u64, u64) {
    let types = &module.types;
    match *types.kind(id) {
        TypeKind::Struct(id, _) => {
            let (offsets, size, align) = members(module, id);
            debug_assert_eq!(offsets.len(), types.struct_def(id).fields.len());
            (size, align)
        }
        TypeKind::Array(elem, len) => {
            let (size, align) = size_and_align(module, elem);
            (size.saturating_mul(len.unwrap_or(0)), align)
        }
        TypeKind::Vector(elem, len) => {
            let places = u64::from(len).next_power_of_two().max(MIN_VECTOR_ELEMENTS);
            let size = size(module, elem) * places;
            (size, size)
        }
        _ => {
            let size = types.register_ty(id).map_or(0, |ty| ty.size() as u64);
            (size, size.max(1))
        }
    }
}

/// The offset of a member.
pub fn offset(module: &Module, id: StructId, field: u32) -> u64 {
    members(module, id).0.get(field as usize).copied().unwrap_or(0)
}

/// The offsets of the members, the size and the alignment of a struct.
fn members(module: &Module, id: StructId) -> (Vec<u64>, u64, u64) {
    let def = module.types.struct_def(id);
    let mut align = def.align.unwrap_or(1).max(1);
    let (mut end, mut offsets) = (0u64, Vec::new());
    for field in &def.fields {
        let (size, field_align) = size_and_align(module, field.uniform);
        let field_align = if def.packed { 1 } else { field_align };
        end = end.next_multiple_of(field_align);
        offsets.push(end);
        end = end.saturating_add(size);
        align = align.max(field_align);
    }
    if def.fields.is_empty() && !def.is_opaque {
        end = 1;
    }
    (offsets, end.checked_next_multiple_of(align).unwrap_or(u64::MAX), align)
}

/// The struct of a type.
pub fn struct_of(module: &Module, id: TypeId) -> Option<StructId> {
    match *module.types.kind(id) {
        TypeKind::Struct(id, _) => Some(id),
        _ => None,
    }
}

/// What a type is that has no meaning lane by lane, if there is such a one in it.
pub fn obstacle(module: &Module, id: TypeId) -> Option<&'static str> {
    let types = &module.types;
    if types.has_instances(id) {
        return Some("`soa` memory");
    }
    match *types.kind(id) {
        TypeKind::Array(elem, _) | TypeKind::Vector(elem, _) => obstacle(module, elem),
        TypeKind::Struct(id, shape) => types.struct_def(id).fields.iter().find_map(|field| {
            let mixed = types.shape(field.uniform) == Shape::Varying;
            let mixed = mixed.then_some("a struct with members that are varying in every instance");
            let deep = |ty| if struct_of(module, ty) == Some(id) { None } else { obstacle(module, ty) };
            let _ = shape;
            mixed.or_else(|| deep(field.uniform))
        }),
        TypeKind::Error | TypeKind::Function(_) => Some("a value of no type"),
        _ => None,
    }
}

/// The elements of a short vector, or one if it is a single value: their type and number.
pub fn elements(module: &Module, id: TypeId) -> Option<(Ty, u32, bool)> {
    match *module.types.kind(id) {
        TypeKind::Vector(elem, len) => Some((module.types.register_ty(elem)?, len, true)),
        _ => Some((module.types.register_ty(id)?, 1, false)),
    }
}
