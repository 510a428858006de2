//! Case files: a program, and what it must do, in comments that begin with `//~`.
//!
//! `read` finds the directives, `run` reads the calls and expectations in them. The format is documented in `README.md`.

mod read;
mod run;

use crate::expr::Expr;
pub use read::read;

/// A case file.
#[derive(Debug, Default)]
pub struct Case {
    /// The program, with its directives (they are comments).
    pub source: String,
    /// The calls to make, in order, on one module.
    pub runs: Vec<Run>,
    /// Diagnostics that must come, each with its line, and no others.
    pub diagnostics: Vec<(usize, String)>,
    /// Where the case is known to fail: an engine, or everywhere; with the reason.
    pub known_fails: Vec<(Option<String>, String)>,
    /// The widths at which the case is meaningful; all if empty.
    pub widths: Vec<u32>,
    /// Whether all output must be the same at every width.
    pub same_bits_at_every_width: bool,
    /// Whether the case is about tasks that run one after another. Else they also run on several threads, with the same outcome.
    pub tasks_in_order: bool,
    /// The floating-point mode, if not the default.
    pub fp: Option<String>,
    /// Macros defined from outside.
    pub defines: Vec<(String, String)>,
    /// Fuel of each call, if not the default.
    pub fuel: Option<u64>,
    /// Bytes of heap memory, if limited.
    pub memory: Option<u64>,
}

/// One call of an exported function.
#[derive(Debug)]
pub struct Run {
    /// The line it stands on.
    pub line: usize,
    /// At which widths: an expression over `W`.
    pub when: Option<Expr>,
    /// The function.
    pub function: String,
    /// Its arguments by name.
    pub args: Vec<(String, Arg)>,
    /// The initial mask: an expression over `lane`.
    pub mask: Option<Expr>,
    /// What must hold afterwards.
    pub expects: Vec<Expect>,
    /// The trap that must come, at the widths where its condition holds.
    pub traps: Vec<(Option<Expr>, TrapExpect)>,
    /// Lines that must be printed, at the widths where their condition holds.
    pub prints: Vec<(Option<Expr>, Vec<PrintPart>)>,
}

/// An argument.
#[derive(Debug)]
pub enum Arg {
    /// A scalar, or an expression over `lane` for a varying parameter.
    Scalar(Expr),
    /// An array.
    Array {
        /// What fills it.
        fill: Fill,
        /// Its number of elements; 64 if absent.
        len: Option<Expr>,
        /// Whether it is passed as read-only memory.
        read_only: bool,
    },
}

/// What fills an array.
#[derive(Debug)]
pub enum Fill {
    /// A value for each `i`.
    Each(Expr),
    /// The values of the first elements, as many as the array is long.
    List(Vec<Expr>),
    /// Seeded random values.
    Random(u64),
    /// The memory of another argument, from one of its elements on.
    Alias(String, Expr),
}

/// An expectation.
#[derive(Debug)]
pub struct Expect {
    /// The array, or `result`.
    pub name: String,
    /// Which element; `None` for a scalar result, `i` for every element.
    pub index: Option<Expr>,
    /// The scalar within the element.
    pub path: String,
    /// The expected value.
    pub value: Expr,
    /// The expectation as written.
    pub text: String,
}

/// An expected trap.
#[derive(Debug)]
pub struct TrapExpect {
    /// Its kind, such as `out_of_bounds`.
    pub kind: String,
    /// The lane it names.
    pub lane: Option<Expr>,
    /// The source line it names.
    pub line: Option<usize>,
    /// Text its message must contain.
    pub message: Option<String>,
}

/// A piece of an expected line of output.
#[derive(Debug)]
pub enum PrintPart {
    /// As it stands.
    Text(String),
    /// `{e}`: a value.
    Value(Expr),
    /// `{[e]}` or `{[e | mask]}`: a list of all lanes, those outside the mask in double parentheses.
    Lanes(Expr, Option<Expr>),
}
