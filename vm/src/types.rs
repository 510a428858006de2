//! Element types, register shapes and gang widths.

use std::fmt;

/// The element type of a register or of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Ty {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Ty {
    /// Every element type, in the order of their encoding.
    pub const ALL: [Ty; 12] =
        [Ty::Bool, Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::U8, Ty::U16, Ty::U32, Ty::U64, Ty::F16, Ty::F32, Ty::F64];

    /// Size of one element in bytes, in registers and in memory.
    pub const fn size(self) -> usize {
        match self {
            Ty::Bool | Ty::I8 | Ty::U8 => 1,
            Ty::I16 | Ty::U16 | Ty::F16 => 2,
            Ty::I32 | Ty::U32 | Ty::F32 => 4,
            Ty::I64 | Ty::U64 | Ty::F64 => 8,
        }
    }

    /// The name used in the text form (`f32`, `bool`, …).
    pub const fn name(self) -> &'static str {
        match self {
            Ty::Bool => "bool",
            Ty::I8 => "i8",
            Ty::I16 => "i16",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::U8 => "u8",
            Ty::U16 => "u16",
            Ty::U32 => "u32",
            Ty::U64 => "u64",
            Ty::F16 => "f16",
            Ty::F32 => "f32",
            Ty::F64 => "f64",
        }
    }

    /// The type with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Ty> {
        Ty::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Returns whether it is one of the eight integer types.
    pub const fn is_int(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64 | Ty::U8 | Ty::U16 | Ty::U32 | Ty::U64)
    }

    /// Returns whether it is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, Ty::F16 | Ty::F32 | Ty::F64)
    }

    /// Returns whether it is a signed integer or a float.
    pub const fn is_signed(self) -> bool {
        matches!(self, Ty::I8 | Ty::I16 | Ty::I32 | Ty::I64) || self.is_float()
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of element types, as the operation table uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeSet(u16);

impl TypeSet {
    /// No type: the operation has none.
    pub const NONE: TypeSet = TypeSet(0);
    /// All twelve.
    pub const SCALAR: TypeSet = TypeSet(0b1111_1111_1111);
    /// Booleans only.
    pub const BOOL: TypeSet = TypeSet(1);
    /// The eight integer types.
    pub const INT: TypeSet = TypeSet(0b0001_1111_1110);
    /// Integers and booleans.
    pub const BITS: TypeSet = TypeSet(0b0001_1111_1111);
    /// The floating-point types.
    pub const FLOAT: TypeSet = TypeSet(0b1110_0000_0000);
    /// Integers and floats.
    pub const ARITH: TypeSet = TypeSet(0b1111_1111_1110);
    /// `i32` only.
    pub const I32: TypeSet = TypeSet(1 << Ty::I32 as u16);
    /// `u64` only.
    pub const U64: TypeSet = TypeSet(1 << Ty::U64 as u16);

    /// Returns whether `ty` is in the set.
    pub const fn contains(self, ty: Ty) -> bool {
        self.0 & (1 << ty as u16) != 0
    }

    /// Returns whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, in encoding order.
    pub fn iter(self) -> impl Iterator<Item = Ty> {
        Ty::ALL.into_iter().filter(move |&t| self.contains(t))
    }
}

/// One value for the gang, or one per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Shape {
    Uniform,
    Varying,
}

/// The number of lanes of a gang: 1, 2, 4, 8, 16, 32 or 64.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Width(u8);

impl Width {
    /// The supported widths.
    pub const ALL: [Width; 7] = [Width(1), Width(2), Width(4), Width(8), Width(16), Width(32), Width(64)];
    /// The default on every machine.
    pub const DEFAULT: Width = Width(16);

    /// The width of `lanes` lanes, if supported.
    pub fn new(lanes: u32) -> Option<Width> {
        Width::ALL.into_iter().find(|w| w.lanes() == lanes as usize)
    }

    /// Number of lanes.
    pub const fn lanes(self) -> usize {
        self.0 as usize
    }

    /// The mask with every lane on; bit *i* is lane *i*.
    pub const fn full_mask(self) -> u64 {
        u64::MAX >> (64 - self.0 as u32)
    }
}

impl Default for Width {
    fn default() -> Self {
        Width::DEFAULT
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
