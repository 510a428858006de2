//! Types as data that outlive the program: for tools that show values.

use super::{Shape, TypeId, TypeKind, TypeTable};
use spmdvm_vm::Ty;

/// A type, with where everything lies in a value of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TypeInfo {
    /// As the user would write it.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// What it is.
    pub kind: InfoKind,
}

/// The kinds of types. What has a shape has that many values, one after another: one, or one per lane, or those of a block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InfoKind {
    /// No value.
    Void,
    /// A number or bool.
    Scalar(Ty, Shape),
    /// An enumeration, held as `u32`: its enumerators.
    Enum(Vec<(String, u32)>, Shape),
    /// A pointer: what it points to, as written, and the size of that.
    Pointer(String, u64, Shape),
    /// A pointer to a function.
    Function(Shape),
    /// An array: its elements, of which there are so many.
    Array(Box<TypeInfo>, u64),
    /// A short vector: its components, of which there are so many.
    Vector(Box<TypeInfo>, u64),
    /// A struct: its members, with their offsets.
    Struct(Vec<(String, u64, TypeInfo)>),
}

impl TypeInfo {
    /// The member of this name.
    pub fn member(&self, name: &str) -> Option<&TypeInfo> {
        match &self.kind {
            InfoKind::Struct(members) => members.iter().find(|member| member.0 == name).map(|member| &member.2),
            _ => None,
        }
    }
}

impl TypeTable {
    /// A type as data, for gangs of so many lanes.
    pub fn describe(&self, id: TypeId, lanes: usize) -> TypeInfo {
        let kind = match self.kind(id) {
            TypeKind::Error | TypeKind::Void | TypeKind::Function(_) => InfoKind::Void,
            TypeKind::Scalar(ty, shape) => InfoKind::Scalar(*ty, *shape),
            TypeKind::Enum(id, shape) => {
                let enumerators = self.enum_def(*id).enumerators.iter();
                InfoKind::Enum(enumerators.map(|(name, value)| (name.to_string(), *value)).collect(), *shape)
            }
            TypeKind::Pointer { pointee, shape } => match self.kind(*pointee) {
                TypeKind::Function(_) => InfoKind::Function(*shape),
                _ => InfoKind::Pointer(self.display(*pointee), self.size(*pointee, lanes), *shape),
            },
            TypeKind::Reference(target) => {
                InfoKind::Pointer(self.display(*target), self.size(*target, lanes), Shape::Uniform)
            }
            TypeKind::Array(elem, len) => InfoKind::Array(Box::new(self.describe(*elem, lanes)), len.unwrap_or(0)),
            TypeKind::Vector(elem, len) => InfoKind::Vector(Box::new(self.describe(*elem, lanes)), u64::from(*len)),
            TypeKind::Struct(id, shape) => {
                let member = |field: usize| {
                    let ty = self.field_type(*id, *shape, field);
                    let name = self.struct_def(*id).fields[field].name.to_string();
                    (name, self.field_offset(*id, *shape, field, lanes), self.describe(ty, lanes))
                };
                InfoKind::Struct((0..self.struct_def(*id).fields.len()).map(member).collect())
            }
        };
        TypeInfo { name: self.display(id), size: self.size(id, lanes), kind }
    }

    /// The declaration of a variable of a type; `None` for types that have no name a program could write.
    pub fn declaration(&self, id: TypeId, name: &str) -> Option<String> {
        let constant = if self[id].is_const { "const " } else { "" };
        let prefix = |shape: Shape| format!("{constant}{}", shape.prefix());
        let nameable = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        match self.kind(id) {
            TypeKind::Error | TypeKind::Void | TypeKind::Function(_) => None,
            TypeKind::Scalar(..) => Some(format!("{} {name}", self.display(id))),
            TypeKind::Vector(..) => Some(format!("{} {name}", self.display(id))),
            TypeKind::Enum(def, shape) => {
                let tag = self.enum_def(*def).name.as_str();
                nameable(tag).then(|| format!("{}enum {tag} {name}", prefix(*shape)))
            }
            TypeKind::Struct(def, shape) => {
                let tag = self.struct_def(*def).name.as_str();
                nameable(tag).then(|| format!("{}struct {tag} {name}", prefix(*shape)))
            }
            TypeKind::Array(elem, len) => {
                let len = len.map_or(String::new(), |len| len.to_string());
                self.declaration(*elem, &format!("{name}[{len}]"))
            }
            TypeKind::Reference(target) => self.declaration(*target, &format!("(&{name})")),
            TypeKind::Pointer { pointee, shape } => {
                let star = format!("*{}{constant}{name}", shape.prefix());
                match self.kind(*pointee) {
                    TypeKind::Function(function) => {
                        let params: Option<Vec<String>> =
                            function.params.iter().map(|&param| self.declaration(param, "")).collect();
                        let result = match self.kind(function.result) {
                            TypeKind::Void => "void".to_owned(),
                            _ => self.declaration(function.result, "")?,
                        };
                        Some(format!("{} ({star})({})", result.trim_end(), params?.join(", ")))
                    }
                    TypeKind::Void => Some(format!("{} {star}", self.display(*pointee))),
                    TypeKind::Array(..) => self.declaration(*pointee, &format!("({star})")),
                    _ => self.declaration(*pointee, &star),
                }
            }
        }
    }
}
