//! How types look to hosts and to debuggers: in memory, without the language's names for them.

use super::{Shape, TypeId, TypeKind, TypeTable};
use spmdvm_vm::program::HostType;

/// How many parts the description of a type may have.
const MAX_HOST_PARTS: u32 = 10_000;

impl TypeTable {
    /// The layout of a type in memory shared with hosts.
    /// Lanes are the innermost array. `None` if it is a function, or has too many parts.
    pub fn host_type(&self, ty: TypeId, lanes: usize) -> Option<HostType> {
        self.host_part(ty, lanes, &mut { MAX_HOST_PARTS })
    }

    fn host_part(&self, ty: TypeId, lanes: usize, budget: &mut u32) -> Option<HostType> {
        *budget = budget.checked_sub(1)?;
        let plain = match *self.kind(ty) {
            TypeKind::Void => return Some(HostType::Byte),
            TypeKind::Scalar(scalar, _) => HostType::Scalar(scalar),
            TypeKind::Enum(id, _) => HostType::Enum(self.enum_def(id).name.as_str().to_string()),
            TypeKind::Pointer { .. } | TypeKind::Reference(_) => HostType::Pointer,
            TypeKind::Array(elem, len) => {
                return Some(HostType::Array(Box::new(self.host_part(elem, lanes, budget)?), len.unwrap_or(0)));
            }
            TypeKind::Vector(elem, _) => {
                // With the padding that such a vector has.
                let elem_type = self.host_part(elem, lanes, budget)?;
                let size = self.size(ty, lanes);
                let count = size / elem_type.size().max(1);
                return Some(HostType::Array(Box::new(elem_type), count));
            }
            TypeKind::Struct(id, shape) => {
                let def = self.struct_def(id);
                if def.is_opaque {
                    return Some(HostType::Byte);
                }
                let (layout, offsets) = self.struct_layout(id, shape, lanes);
                let mut fields = Vec::with_capacity(def.fields.len());
                for (index, field) in def.fields.iter().enumerate() {
                    let ty = self.field_type(id, shape, index);
                    let name = field.name.as_str().to_string();
                    fields.push((name, offsets[index], self.host_part(ty, lanes, budget)?));
                }
                return Some(HostType::Struct { name: def.name.as_str().to_string(), size: layout.size, fields });
            }
            TypeKind::Error | TypeKind::Function(_) => return None,
        };
        Some(match self.shape(ty) {
            Shape::Uniform => plain,
            Shape::Varying => HostType::Array(Box::new(plain), lanes as u64),
            Shape::Soa(n) => HostType::Array(Box::new(plain), u64::from(n)),
        })
    }

    /// What the source calls the scalars of a variable, in the order of [`leaves`](Self::leaves): `p.x`, `v[2]`. Nothing has a name
    /// in a variable without one.
    pub fn leaf_names(&self, variable: &str, ty: TypeId) -> Vec<String> {
        let mut names = Vec::new();
        self.collect_names(variable, ty, &mut names);
        names
    }

    fn collect_names(&self, name: &str, ty: TypeId, names: &mut Vec<String>) {
        let member = |part: String| if name.is_empty() { String::new() } else { format!("{name}{part}") };
        match *self.kind(ty) {
            TypeKind::Struct(id, shape) => {
                for (index, field) in self.struct_def(id).fields.iter().enumerate() {
                    let name = member(format!(".{}", field.name.as_str()));
                    self.collect_names(&name, self.field_type(id, shape, index), names);
                }
            }
            TypeKind::Array(elem, len) => {
                (0..len.unwrap_or(0)).for_each(|i| self.collect_names(&member(format!("[{i}]")), elem, names));
            }
            TypeKind::Vector(elem, len) => {
                (0..len).for_each(|i| self.collect_names(&member(format!("[{i}]")), elem, names));
            }
            TypeKind::Void => {}
            _ => names.push(name.to_owned()),
        }
    }
}
