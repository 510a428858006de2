//! Statements.

use super::{EnumDef, Expr, Function, Ident, StructDef, Typedef, Variable};
use crate::source::Span;

/// A statement.
#[derive(Clone, Copy, Debug)]
pub struct Stmt<'a> {
    /// What it is.
    pub kind: StmtKind<'a>,
    /// Where it stands.
    pub span: Span,
}

/// `{ … }`.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The statements.
    pub stmts: &'a [Stmt<'a>],
    /// From brace to brace.
    pub span: Span,
}

/// The kinds of statements. `coherent` marks the forms `cif`, `cfor`, `cwhile`, `cdo`.
#[derive(Clone, Copy, Debug)]
pub enum StmtKind<'a> {
    /// `;`
    Empty,
    /// An expression.
    Expr(&'a Expr<'a>),
    /// The expression at the end of what was typed at a prompt ([`Prompt`](super::Prompt)): its value is shown.
    Show(&'a Expr<'a>),
    /// `{ … }`, a scope of its own.
    Block(&'a Block<'a>),
    /// Declarations of variables, in order; a variable's initialiser sees those before it.
    Variables(&'a [Variable<'a>]),
    /// `typedef`s.
    Typedefs(&'a [Typedef<'a>]),
    /// The definition or declaration of a struct.
    Struct(&'a StructDef<'a>),
    /// The definition or declaration of an enum.
    Enum(&'a EnumDef<'a>),
    /// A function declared inside a function.
    Function(&'a Function<'a>),
    /// `if`, `cif`.
    If {
        /// Whether `cif`.
        coherent: bool,
        /// The condition.
        condition: &'a Expr<'a>,
        /// The statement if it holds.
        then: &'a Stmt<'a>,
        /// The statement if not.
        otherwise: Option<&'a Stmt<'a>>,
    },
    /// `while`, `cwhile`.
    While {
        /// Whether `cwhile`.
        coherent: bool,
        /// The condition.
        condition: &'a Expr<'a>,
        /// The body.
        body: &'a Stmt<'a>,
    },
    /// `do … while`, `cdo … while`.
    DoWhile {
        /// Whether `cdo`.
        coherent: bool,
        /// The body.
        body: &'a Stmt<'a>,
        /// The condition.
        condition: &'a Expr<'a>,
    },
    /// `for`, `cfor`. What `init` declares is visible to the end of the body.
    For {
        /// Whether `cfor`.
        coherent: bool,
        /// `Empty`, `Expr`, or declarations (a `Block` without a scope of its own does not occur: hoisted definitions
        /// stand before the loop).
        init: Option<&'a Stmt<'a>>,
        /// The condition.
        condition: Option<&'a Expr<'a>>,
        /// The step.
        step: Option<&'a Expr<'a>>,
        /// The body.
        body: &'a Stmt<'a>,
    },
    /// `foreach`, `foreach_tiled`.
    Foreach {
        /// Whether `foreach_tiled`.
        tiled: bool,
        /// The dimensions, outermost first.
        dims: &'a [ForeachDim<'a>],
        /// The body.
        body: &'a Stmt<'a>,
    },
    /// `foreach_active (var)`.
    ForeachActive {
        /// The variable that holds the lane.
        var: Ident,
        /// The body.
        body: &'a Stmt<'a>,
    },
    /// `foreach_unique (var in value)`.
    ForeachUnique {
        /// The variable that holds the value, uniform.
        var: Ident,
        /// The varying value.
        value: &'a Expr<'a>,
        /// The body.
        body: &'a Stmt<'a>,
    },
    /// `switch`.
    Switch {
        /// The selector.
        value: &'a Expr<'a>,
        /// The body, mostly a block with `Case` and `Default`.
        body: &'a Stmt<'a>,
    },
    /// `case value: stmt`.
    Case {
        /// A constant expression.
        value: &'a Expr<'a>,
        /// The statement after the colon.
        stmt: &'a Stmt<'a>,
    },
    /// `default: stmt`.
    Default(&'a Stmt<'a>),
    /// `label: stmt`.
    Label {
        /// The label.
        name: Ident,
        /// The statement after the colon.
        stmt: &'a Stmt<'a>,
    },
    /// `goto label;`
    Goto(Ident),
    /// `break;`
    Break,
    /// `continue;`
    Continue,
    /// `return;`, `return value;`
    Return(Option<&'a Expr<'a>>),
    /// `sync;`
    Sync,
    /// `delete pointer;`
    Delete(&'a Expr<'a>),
    /// `print(format, …);`
    Print {
        /// The format: a string, or a value of a string type.
        format: &'a Expr<'a>,
        /// The values.
        args: &'a [&'a Expr<'a>],
    },
    /// `assert(condition);`, `assert(condition, message);`
    Assert {
        /// The condition.
        condition: &'a Expr<'a>,
        /// The message.
        message: Option<&'a Expr<'a>>,
    },
    /// `assume(condition);`
    Assume(&'a Expr<'a>),
    /// `static_assert(condition, "message");`
    StaticAssert {
        /// A constant expression.
        condition: &'a Expr<'a>,
        /// The message.
        message: Option<&'a str>,
    },
    /// `unmasked { … }`; `everywhere { … }` is the same.
    Unmasked(&'a Block<'a>),
    /// `#pragma unroll` or `#pragma nounroll` before a statement.
    Hinted {
        /// The hint.
        hint: LoopHint,
        /// The loop.
        stmt: &'a Stmt<'a>,
    },
    /// Stands for what could not be parsed; reported already.
    Error,
}

/// One dimension of a `foreach`: `var = start ... end`.
#[derive(Clone, Copy, Debug)]
pub struct ForeachDim<'a> {
    /// The varying variable.
    pub var: Ident,
    /// The first value.
    pub start: &'a Expr<'a>,
    /// The value past the last.
    pub end: &'a Expr<'a>,
}

/// A hint from `#pragma`, without effect on meaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LoopHint {
    /// `#pragma unroll`, `#pragma unroll(count)`.
    Unroll(Option<u32>),
    /// `#pragma nounroll`.
    NoUnroll,
}
