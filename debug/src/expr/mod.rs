//! Expressions over the variables of a program, for what is printed and for conditions.
//!
//! `parse` makes a tree of a text, `eval` its value at a position: one value, or one per lane. The operators are those of the
//! language; each is done by the VM's own operation. They call no functions and change nothing.

mod eval;
mod parse;

pub use eval::{Scope, Value, eval, number, read};
pub use parse::parse;

use spmdvm::vm::Op;

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// An integer.
    Int(u64),
    /// A number with a point or an exponent.
    Float(f64),
    /// `true` or `false`.
    Bool(bool),
    /// A variable, `programIndex` or `programCount`.
    Name(String),
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `s.f`, or `s->f`.
    Field(Box<Expr>, String),
    /// `*p`.
    Deref(Box<Expr>),
    /// An operator with one operand.
    Unary(Unary, Box<Expr>),
    /// An operator with two.
    Binary(Binary, Box<Expr>, Box<Expr>),
}

/// Operators with one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `-x`
    Neg,
    /// `!x`
    Not,
    /// `~x`
    Complement,
}

/// Operators with two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `&&`
    AndAlso,
    /// `||`
    OrElse,
    /// Those of numbers that the VM has an operation for, integers and floats alike.
    Number(Op),
    /// `/` and `%`, which are other operations for integers than for floats.
    Divide(Op, Op),
    /// `&`, `|`, `^`, `<<`, `>>`: of integers only.
    Bits(Op),
    /// Comparisons.
    Compare(Op),
}

/// The operators with two operands: how they are written, how tightly they bind, and what they are. Longer ones come before
/// those that they begin with.
const BINARY: &[(&str, u8, Binary)] = &[
    ("||", 1, Binary::OrElse),
    ("&&", 2, Binary::AndAlso),
    ("==", 6, Binary::Compare(Op::Eq)),
    ("!=", 6, Binary::Compare(Op::Ne)),
    ("<=", 7, Binary::Compare(Op::Le)),
    (">=", 7, Binary::Compare(Op::Ge)),
    ("<<", 8, Binary::Bits(Op::Shl)),
    (">>", 8, Binary::Bits(Op::Shr)),
    ("<", 7, Binary::Compare(Op::Lt)),
    (">", 7, Binary::Compare(Op::Gt)),
    ("|", 3, Binary::Bits(Op::Or)),
    ("^", 4, Binary::Bits(Op::Xor)),
    ("&", 5, Binary::Bits(Op::And)),
    ("+", 9, Binary::Number(Op::Add)),
    ("-", 9, Binary::Number(Op::Sub)),
    ("*", 10, Binary::Number(Op::Mul)),
    ("/", 10, Binary::Divide(Op::IDiv, Op::FDiv)),
    ("%", 10, Binary::Divide(Op::IRem, Op::FRem)),
];
