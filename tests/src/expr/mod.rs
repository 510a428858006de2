//! The expression language of expectations: C's operators over exact integers and `f64`.
//!
//! `parse` reads text into an [`Expr`]; `eval` computes it in a [`Scope`] that knows the names. Integers are exact
//! (`i128`) and wrap only where they are compared with an element of some type, or where a conversion such as `i32(…)`
//! is written. So an expectation says what is meant, and does not repeat the machine's arithmetic.

mod eval;
mod functions;
mod parse;

pub use eval::{Scope, eval};
pub use parse::{Parser, parse};

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer or a truth value (0 or 1).
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A text, for expected prints.
    Text(String),
}

impl Value {
    /// Returns whether it is true, as a condition.
    pub fn truth(&self) -> bool {
        match self {
            Value::Int(v) => *v != 0,
            Value::Float(v) => *v != 0.0,
            Value::Text(t) => !t.is_empty(),
        }
    }

    /// As a number with a fraction.
    pub fn as_f64(&self) -> Result<f64, String> {
        match self {
            Value::Int(v) => Ok(*v as f64),
            Value::Float(v) => Ok(*v),
            Value::Text(t) => Err(format!("\"{t}\" is no number")),
        }
    }

    /// As an integer; a float is an error.
    pub fn as_int(&self) -> Result<i128, String> {
        match self {
            Value::Int(v) => Ok(*v),
            other => Err(format!("{other} is no integer")),
        }
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Int(v) => v.fmt(f),
            Value::Float(v) => write!(f, "{v:?}"),
            Value::Text(t) => f.write_str(t),
        }
    }
}

/// A unary operator.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Unary {
    Neg,
    Not,
    Complement,
}

/// A binary operator.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Binary {
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A number or text.
    Literal(Value),
    /// A name.
    Name(String),
    /// `NAME[index]`, or `NAME[index].path` for an element of struct type.
    Element(String, Box<Expr>, String),
    /// An operator and its operand.
    Unary(Unary, Box<Expr>),
    /// An operator and its operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `c ? a : b`; only the chosen side is evaluated.
    Choose(Box<Expr>, Box<Expr>, Box<Expr>),
    /// A call of a built-in function.
    Call(String, Vec<Expr>),
    /// `sum(k, lo, hi, e)` and its like: `e` for every `k` in `lo .. hi`.
    Fold(String, String, Box<[Expr; 3]>),
}
