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
}
