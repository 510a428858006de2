//! Types, interned.

use super::{EnumDef, EnumId, Layout, StructDef, StructId};
use crate::symbol::Symbol;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use spmdvm_vm::Ty;

/// A type of a [`TypeTable`]. Equal ids are equal types. The default is the error type.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct TypeId(pub(super) u32);

/// How many values there are. Unbound variability does not occur in the HIR.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// One value for the gang.
    Uniform,
    /// One value per lane.
    Varying,
    /// `soa<n>`: memory in blocks of *n* values (a power of two). Only of memory: what is read from it is uniform or
    /// varying, as the address is. See [`layout`](super::layout) for addresses of such memory.
    Soa(u32),
}

/// A type.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Type {
    /// What it is.
    pub kind: TypeKind,
    /// Whether assignment is forbidden. Lowering need not look.
    pub is_const: bool,
}

/// The kinds of types.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TypeKind {
    /// Stands for a type that could not be made out; reported already. Does not occur in a module without errors.
    Error,
    /// No value.
    Void,
    /// A number or bool.
    Scalar(Ty, Shape),
    /// An enumeration, held as `u32`.
    Enum(EnumId, Shape),
    /// A pointer, held as `u64`; to a function: a function value, held as `u64`.
    Pointer {
        /// What it points to.
        pointee: TypeId,
        /// The shape of the pointer itself.
        shape: Shape,
    },
    /// A reference: a uniform pointer to the type, never null.
    Reference(TypeId),
    /// An array; `None`: of unknown length. Its shape is its element's.
    Array(TypeId, Option<u64>),
    /// A short vector of so many scalars (of kind `Scalar`, `Enum` or `Pointer`); its shape is its element's.
    Vector(TypeId, u32),
    /// A struct; the shape decides those of its members that were declared without one.
    Struct(StructId, Shape),
    /// A function; occurs only behind a pointer.
    Function(FunctionType),
}

/// The type of a function.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FunctionType {
    /// The result.
    pub result: TypeId,
    /// The parameters.
    pub params: Vec<TypeId>,
    /// Whether it is launched, not called.
    pub task: bool,
    /// Whether it runs with all lanes on.
    pub unmasked: bool,
}

/// All types of a module, with its structs and enums.
#[derive(Clone, Debug)]
pub struct TypeTable {
    types: Vec<Type>,
    ids: HashMap<Type, TypeId>,
    /// How deep each type is nested.
    depths: Vec<u32>,
    /// How deep the members of each struct are nested, once it is defined.
    struct_depths: HashMap<StructId, u32>,
    /// Structs with `soa` instances in them.
    with_instances: HashSet<StructId>,
    /// Layouts of structs, by struct, shape and number of lanes.
    pub(super) layouts: HashMap<(StructId, Shape, usize), (Layout, Vec<u64>)>,
    /// Structs by id.
    pub structs: Vec<StructDef>,
    /// Enums by id.
    pub enums: Vec<EnumDef>,
}

impl Default for TypeTable {
    fn default() -> TypeTable {
        TypeTable::new()
    }
}

impl std::ops::Index<TypeId> for TypeTable {
    type Output = Type;

    fn index(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }
}

impl TypeTable {
    /// The id of the error type.
    pub const ERROR: TypeId = TypeId(0);
    /// The id of `void`.
    pub const VOID: TypeId = TypeId(1);
    /// The first of the twelve uniform scalar types, in the order of [`Ty::ALL`]; the varying ones follow.
    const SCALARS: u32 = 2;

    /// A table with `void` and the scalar types.
    pub fn new() -> TypeTable {
        let mut table = TypeTable {
            types: Vec::new(),
            ids: HashMap::new(),
            depths: Vec::new(),
            struct_depths: HashMap::new(),
            with_instances: HashSet::new(),
            layouts: HashMap::new(),
            structs: Vec::new(),
            enums: Vec::new(),
        };
        table.intern(TypeKind::Error, false);
        table.intern(TypeKind::Void, false);
        for shape in [Shape::Uniform, Shape::Varying] {
            for ty in Ty::ALL {
                table.intern(TypeKind::Scalar(ty, shape), false);
            }
        }
        table
    }

    /// The id of a type.
    pub fn intern(&mut self, kind: TypeKind, is_const: bool) -> TypeId {
        let ty = Type { kind, is_const };
        if let Some(&id) = self.ids.get(&ty) {
            return id;
        }
        let id = TypeId(self.types.len() as u32);
        let depth = self.depth_of(&ty.kind);
        self.depths.push(depth);
        self.types.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    /// The id of a type that has been interned.
    pub fn find(&self, kind: &TypeKind, is_const: bool) -> Option<TypeId> {
        self.ids.get(&Type { kind: kind.clone(), is_const }).copied()
    }

    /// How deep a type is nested: what is done to types may recurse so deep.
    pub fn depth(&self, id: TypeId) -> u32 {
        match self.kind(id) {
            TypeKind::Struct(id, _) => self.struct_depths.get(id).copied().unwrap_or(0),
            _ => self.depths[id.0 as usize],
        }
    }

    /// Notes what is asked of a struct as a whole, when its members are known.
    pub fn note_members(&mut self, id: StructId) {
        let members: Vec<TypeId> = self.struct_def(id).fields.iter().map(|field| field.uniform).collect();
        let depth = members.iter().map(|&ty| self.depth(ty)).max().unwrap_or(0) + 1;
        self.struct_depths.insert(id, depth);
        if members.iter().any(|&ty| self.has_instances(ty)) {
            self.with_instances.insert(id);
        }
    }

    fn depth_of(&self, kind: &TypeKind) -> u32 {
        match kind {
            TypeKind::Pointer { pointee: inner, .. }
            | TypeKind::Reference(inner)
            | TypeKind::Array(inner, _)
            | TypeKind::Vector(inner, _) => self.depth(*inner) + 1,
            TypeKind::Function(function) => {
                let parts = function.params.iter().chain([&function.result]);
                parts.map(|&ty| self.depth(ty)).max().unwrap_or(0) + 1
            }
            _ => 0,
        }
    }

    /// The scalar type of element `ty` and a uniform or varying shape.
    pub fn scalar(&mut self, ty: Ty, shape: Shape) -> TypeId {
        match shape {
            Shape::Uniform => self.uniform(ty),
            Shape::Varying => self.varying(ty),
            Shape::Soa(_) => self.intern(TypeKind::Scalar(ty, shape), false),
        }
    }

    /// The uniform scalar type.
    pub fn uniform(&self, ty: Ty) -> TypeId {
        TypeId(Self::SCALARS + ty as u32)
    }

    /// The varying scalar type.
    pub fn varying(&self, ty: Ty) -> TypeId {
        TypeId(Self::SCALARS + Ty::ALL.len() as u32 + ty as u32)
    }

    /// What a type is.
    pub fn kind(&self, id: TypeId) -> &TypeKind {
        &self[id].kind
    }

    /// The struct with this id.
    pub fn struct_def(&self, id: StructId) -> &StructDef {
        &self.structs[id.0 as usize]
    }

    /// The enum with this id.
    pub fn enum_def(&self, id: EnumId) -> &EnumDef {
        &self.enums[id.0 as usize]
    }

    /// The shape of values of a type. References and functions are uniform, as `void` is.
    pub fn shape(&self, id: TypeId) -> Shape {
        match *self.kind(id) {
            TypeKind::Scalar(_, shape)
            | TypeKind::Enum(_, shape)
            | TypeKind::Struct(_, shape)
            | TypeKind::Pointer { shape, .. } => shape,
            TypeKind::Array(elem, _) | TypeKind::Vector(elem, _) => self.shape(elem),
            TypeKind::Error | TypeKind::Void | TypeKind::Reference(_) | TypeKind::Function(_) => Shape::Uniform,
        }
    }

    /// Whether it has one value per lane.
    pub fn is_varying(&self, id: TypeId) -> bool {
        self.shape(id) == Shape::Varying
    }

    /// Whether there is a `soa` instance in it. Such a variable lives in memory: registers would hold one element of it.
    pub fn has_instances(&self, id: TypeId) -> bool {
        match *self.kind(id) {
            _ if matches!(self.shape(id), Shape::Soa(_)) => true,
            TypeKind::Array(elem, _) | TypeKind::Vector(elem, _) => self.has_instances(elem),
            TypeKind::Struct(id, _) => self.with_instances.contains(&id),
            _ => false,
        }
    }

    /// The element type of the one register that holds a value of this type; `None` for what takes several or none.
    pub fn register_ty(&self, id: TypeId) -> Option<Ty> {
        match self.kind(id) {
            TypeKind::Scalar(ty, _) => Some(*ty),
            TypeKind::Enum(..) => Some(Ty::U32),
            TypeKind::Pointer { .. } | TypeKind::Reference(_) => Some(Ty::U64),
            _ => None,
        }
    }

    /// The element type of an elementwise operation on this type: of the scalar itself or the vector's elements.
    pub fn element_ty(&self, id: TypeId) -> Option<Ty> {
        match self.kind(id) {
            TypeKind::Vector(elem, _) => self.register_ty(*elem),
            _ => self.register_ty(id),
        }
    }

    /// The type of a member of a struct instance with this shape.
    pub fn field_type(&self, id: StructId, shape: Shape, field: usize) -> TypeId {
        let field = &self.struct_def(id).fields[field];
        match shape {
            Shape::Uniform => field.uniform,
            Shape::Varying => field.varying,
            Shape::Soa(width) => field.soa.iter().find(|(w, _)| *w == width).map_or(Self::ERROR, |(_, ty)| *ty),
        }
    }

    /// A type as the user would write it.
    pub fn display(&self, id: TypeId) -> String {
        let ty = &self[id];
        let const_prefix = if ty.is_const { "const " } else { "" };
        match &ty.kind {
            TypeKind::Error => "<error>".into(),
            TypeKind::Void => format!("{const_prefix}void"),
            TypeKind::Scalar(scalar, shape) => format!("{const_prefix}{}{}", shape.prefix(), scalar_name(*scalar)),
            TypeKind::Enum(id, shape) => {
                format!("{const_prefix}{}enum {}", shape.prefix(), self.enum_def(*id).name)
            }
            TypeKind::Struct(id, shape) => {
                format!("{const_prefix}{}{}", shape.prefix(), self.struct_def(*id).name)
            }
            TypeKind::Pointer { pointee, shape } => {
                let suffix = if ty.is_const { " const" } else { "" };
                if let TypeKind::Function(function) = self.kind(*pointee) {
                    let (result, params) = (self.display(function.result), self.display_list(&function.params));
                    let task = if function.task { "task " } else { "" };
                    return format!("{task}{result} (*{}{suffix})({params})", shape.prefix().trim_end());
                }
                format!("{} * {}{suffix}", self.display(*pointee), shape.prefix().trim_end())
            }
            TypeKind::Reference(target) => format!("{} &", self.display(*target)),
            TypeKind::Array(..) => self.display_array(id),
            TypeKind::Vector(elem, len) => format!("{const_prefix}{}<{len}>", self.display(*elem)),
            TypeKind::Function(function) => {
                format!("{}({})", self.display(function.result), self.display_list(&function.params))
            }
        }
    }

    /// Types separated by commas.
    pub fn display_list(&self, ids: &[TypeId]) -> String {
        ids.iter().map(|&id| self.display(id)).collect::<Vec<_>>().join(", ")
    }

    fn display_array(&self, mut id: TypeId) -> String {
        let mut dims = String::new();
        while let TypeKind::Array(elem, len) = *self.kind(id) {
            match len {
                Some(len) => dims.push_str(&format!("[{len}]")),
                None => dims.push_str("[]"),
            }
            id = elem;
        }
        format!("{}{dims}", self.display(id))
    }
}

impl Shape {
    /// The qualifier in front of a type's name, with a blank.
    pub fn prefix(self) -> String {
        match self {
            Shape::Uniform => "uniform ".into(),
            Shape::Varying => "varying ".into(),
            Shape::Soa(width) => format!("soa<{width}> "),
        }
    }
}

/// The name of a scalar type in the language.
pub fn scalar_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::I8 => "int8",
        Ty::I16 => "int16",
        Ty::I32 => "int32",
        Ty::I64 => "int64",
        Ty::U8 => "uint8",
        Ty::U16 => "uint16",
        Ty::U32 => "uint32",
        Ty::U64 => "uint64",
        Ty::F16 => "float16",
        Ty::F32 => "float",
        Ty::F64 => "double",
    }
}

/// A member of a struct.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name.
    pub name: Symbol,
    /// Its type in a uniform instance.
    pub uniform: TypeId,
    /// Its type in a varying instance.
    pub varying: TypeId,
    /// Its type in the `soa<width>` instances that the module uses.
    pub soa: Vec<(u32, TypeId)>,
}
