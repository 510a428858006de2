//! Types as written.

use super::{Attribute, Expr, FunctionFlags, Ident, Param};
use crate::source::Span;

/// A type as written, qualifiers included.
#[derive(Clone, Copy, Debug)]
pub struct TypeExpr<'a> {
    /// What it is.
    pub kind: TypeKind<'a>,
    /// The qualifiers of this level: for `float * uniform p`, `uniform` stands at the pointer, not at the `float`.
    pub quals: Quals<'a>,
    /// Where it stands; for types that a declarator builds around a name this may cover the name.
    pub span: Span,
}

/// Qualifiers of one level of a type.
#[derive(Clone, Copy, Debug, Default)]
pub struct Quals<'a> {
    /// `const`.
    pub is_const: bool,
    /// `uniform` or `varying`; `None` when neither is written ("unbound").
    pub variability: Option<Variability>,
    /// Where `uniform` or `varying` stands.
    pub variability_span: Option<Span>,
    /// The width of `soa<width>`.
    pub soa: Option<&'a Expr<'a>>,
    /// `signed` or `unsigned` before a named or polymorphic type. (Before a basic type the parser has applied it.)
    pub sign: Option<Sign>,
}

/// Whether a value is the same in all lanes or has one value per lane.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Variability {
    /// One value for the whole gang.
    Uniform,
    /// One value per lane.
    Varying,
}

/// `signed` or `unsigned`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Sign {
    /// `signed`.
    Signed,
    /// `unsigned`.
    Unsigned,
}

/// The kinds of types.
#[derive(Clone, Copy, Debug)]
pub enum TypeKind<'a> {
    /// A built-in type.
    Basic(Basic),
    /// A typedef, struct, enum or template type parameter, by name.
    Named {
        /// The name.
        name: Ident,
        /// `struct` or `enum`, where it was written before the name: then only such a type is meant, and a variable of
        /// that name does not hide it.
        tag: Option<Tag>,
    },
    /// `integer`, `floating` or `number`, perhaps with `$k`: one type of that class, the same for all uses with the same
    /// class and `k` in one function.
    Polymorphic {
        /// The class of types.
        class: TypeClass,
        /// The `k` of `$k`.
        quantifier: Option<u32>,
    },
    /// A short vector `element<len>`.
    Vector {
        /// The element type. Variability and `const` stand both here and at the vector.
        element: &'a TypeExpr<'a>,
        /// The number of elements, a constant expression.
        len: &'a Expr<'a>,
    },
    /// A pointer.
    Pointer(&'a TypeExpr<'a>),
    /// A reference.
    Reference(&'a TypeExpr<'a>),
    /// An array; `len` is `None` for `[]`.
    Array {
        /// The element type.
        element: &'a TypeExpr<'a>,
        /// The length, a constant expression.
        len: Option<&'a Expr<'a>>,
    },
    /// A function.
    Function(&'a FunctionType<'a>),
    /// Stands for a type that could not be parsed; reported already.
    Error,
}

/// The built-in types.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum Basic {
    Void,
    Bool,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float16,
    Float,
    Double,
}

/// The keyword before a type's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tag {
    /// `struct`.
    Struct,
    /// `enum`.
    Enum,
}

/// The classes of types that numeric polymorphism ranges over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypeClass {
    /// `integer`: all integer types.
    Integer,
    /// `floating`: all floating-point types.
    Floating,
    /// `number`: both.
    Number,
}

/// The type of a function, as in a function pointer or a typedef.
#[derive(Clone, Copy, Debug)]
pub struct FunctionType<'a> {
    /// The type of the result.
    pub result: &'a TypeExpr<'a>,
    /// The parameters; `(void)` is none.
    pub params: &'a [Param<'a>],
    /// The flags that are part of a function pointer's declaration: `task`, `unmasked`, `extern "C"`, conventions.
    pub flags: FunctionFlags,
}

/// The definition of a struct.
#[derive(Clone, Copy, Debug)]
pub struct StructDef<'a> {
    /// The name; for a struct without one, a name that no program can write.
    pub name: Ident,
    /// The members; `None` for a mere declaration (`struct S;`).
    pub members: Option<&'a [Member<'a>]>,
    /// The attributes (`packed`, `aligned` …).
    pub attributes: &'a [Attribute<'a>],
    /// The whole definition.
    pub span: Span,
}

/// A member of a struct.
#[derive(Clone, Copy, Debug)]
pub struct Member<'a> {
    /// The name.
    pub name: Ident,
    /// The type.
    pub ty: &'a TypeExpr<'a>,
    /// The width of a bit field (which the language does not have; sema says so).
    pub bits: Option<&'a Expr<'a>>,
    /// Type and name.
    pub span: Span,
}

/// The definition of an enum.
#[derive(Clone, Copy, Debug)]
pub struct EnumDef<'a> {
    /// The name; for an enum without one, a name that no program can write.
    pub name: Ident,
    /// The enumerators; `None` for a mere declaration (`enum E;`).
    pub enumerators: Option<&'a [Enumerator<'a>]>,
    /// The whole definition.
    pub span: Span,
}

/// One enumerator.
#[derive(Clone, Copy, Debug)]
pub struct Enumerator<'a> {
    /// The name.
    pub name: Ident,
    /// The value, where written.
    pub value: Option<&'a Expr<'a>>,
}
