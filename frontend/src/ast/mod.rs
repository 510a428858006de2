//! The syntax tree.
//!
//! All nodes live in an arena and are plain shared references, so a tree can be copied into threads and kept for the
//! life of the process (the prelude's is `&'static`). The tree says what the user wrote, with three simplifications that
//! spare every reader work:
//! - Declarators are turned inside out: each declared name comes with its whole type as a [`TypeExpr`].
//! - Definitions of structs and enums that stand inside another declaration (`struct S { … } x;`) are hoisted in front
//!   of it as items or statements of their own; the type that remains refers to them by name. A struct without a name
//!   is given one that no program can write.
//! - A declaration that declares things of different nature (`int a, f(int);`) becomes several items.
//!
//! Where a syntax error was reported, `Error` nodes stand in the tree: they mean "already reported, say nothing".

mod dump;
mod expr;
mod item;
mod stmt;
mod types;
mod visit;

pub use dump::dump;
pub use expr::*;
pub use item::*;
pub use stmt::*;
pub use types::*;
pub use visit::{Node, Role};

use crate::source::Span;
use crate::symbol::Symbol;

/// A name where it stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    /// The name.
    pub name: Symbol,
    /// Where it stands.
    pub span: Span,
}

/// One `__attribute__((name))` or `__attribute__((name(argument)))`; `__declspec(name)` is the same.
#[derive(Clone, Copy, Debug)]
pub struct Attribute<'a> {
    /// The attribute's name.
    pub name: Ident,
    /// Its argument.
    pub argument: Option<AttributeArgument<'a>>,
    /// The whole attribute.
    pub span: Span,
}

/// The argument of an [`Attribute`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttributeArgument<'a> {
    /// An integer, as in `aligned(16)`.
    Int(u64),
    /// A string, as in `deprecated("why")`.
    Str(&'a str),
}
