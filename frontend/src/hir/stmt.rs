//! Statements.

use super::{Expr, LocalId};
use crate::source::Span;
use spmdvm_vm::program::Piece;

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it is.
    pub kind: StmtKind,
    /// Where it stands.
    pub span: Span,
}

/// A label of a function, for `goto`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LabelId(pub u32);

/// The kinds of statements. Conditions are bools, uniform or varying. `coherent` asks for a branch around code that no lane
/// executes (`cif` and its like), which is never a difference in meaning.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Evaluates and forgets.
    Expr(Expr),
    /// A local variable begins to live. Without initialiser it is zero. The initialiser has the variable's type (arrays:
    /// an `Aggregate` or `Zero`) and writes all lanes.
    Declare {
        /// The variable.
        local: LocalId,
        /// Its initialiser.
        init: Option<Expr>,
    },
    /// Statements in order.
    Block(Vec<Stmt>),
    /// `if`, `cif`.
    If {
        /// Whether `cif`.
        coherent: bool,
        /// The condition.
        condition: Expr,
        /// If it holds.
        then: Vec<Stmt>,
        /// If not.
        otherwise: Vec<Stmt>,
    },
    /// All loops but the `foreach` family.
    Loop {
        /// Which form: it says when the condition is tested.
        form: LoopForm,
        /// Whether `cfor`, `cwhile`, `cdo`.
        coherent: bool,
        /// Before the loop (`for`).
        init: Vec<Stmt>,
        /// The condition; absent: true.
        condition: Option<Expr>,
        /// After each turn, for lanes that `continue` too (`for`).
        step: Option<Expr>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `foreach`, `foreach_tiled`. The body runs with the lanes on whose indices are in range; the enclosing mask is
    /// restored afterwards.
    Foreach {
        /// Whether `foreach_tiled`.
        tiled: bool,
        /// The dimensions, outermost first; the innermost runs over lanes (all do if tiled).
        dims: Vec<ForeachDim>,
        /// `Some` for one that stands inside another `foreach` (lexically): it runs once per active lane of the outer one,
        /// ascending, all lanes on, and the outer lanes' variables are seen as that lane's values.
        revectorised: Option<Vec<Capture>>,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `foreach_active`: the body once per active lane, ascending, only that lane on.
    ForeachActive {
        /// The lane's index: uniform `int64`.
        var: LocalId,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `foreach_unique`: the body once per distinct value, with the lanes on that have it.
    ForeachUnique {
        /// The value: uniform.
        var: LocalId,
        /// The varying value.
        value: Expr,
        /// The body.
        body: Vec<Stmt>,
    },
    /// `switch` on an integer, uniform or varying. Arms fall through to the next.
    Switch {
        /// The selector.
        value: Expr,
        /// The arms in order. Variables declared in one are visible in the following.
        arms: Vec<SwitchArm>,
    },
    /// `break` out of the innermost loop or switch.
    Break,
    /// `continue` of the innermost loop.
    Continue,
    /// `return`, with a value of the result's type unless that is `void`.
    Return(Option<Expr>),
    /// `unmasked { … }`: all lanes on.
    Unmasked(Vec<Stmt>),
    /// A place that `goto` names.
    Label(LabelId),
    /// `goto`, in uniform control flow only.
    Goto(LabelId),
    /// `print`: the pieces' arguments in order, scalars of any shape.
    Print {
        /// The format.
        pieces: Vec<Piece>,
        /// The values.
        args: Vec<Expr>,
    },
    /// `assert`.
    Assert {
        /// The condition.
        condition: Expr,
        /// What is said if it fails.
        message: String,
    },
    /// Traps `abort` (the prelude's `__op_abort`).
    Abort {
        /// What is said.
        message: String,
    },
    /// `assume`: a hint; the condition may be ignored.
    Assume(Expr),
    /// `delete`: a pointer, uniform or varying.
    Delete(Expr),
    /// `sync`: waits for the tasks launched by this function.
    Sync,
}

/// The forms of loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum LoopForm {
    While,
    DoWhile,
    For,
}

/// One dimension of a `foreach`.
#[derive(Clone, Debug)]
pub struct ForeachDim {
    /// The index, varying `int32` (or `int64`).
    pub var: LocalId,
    /// The first value, uniform, of the index's element type.
    pub start: Expr,
    /// The value past the last, likewise.
    pub end: Expr,
}

/// A varying variable of an outer `foreach` and the uniform one that holds the current lane's value inside.
#[derive(Clone, Copy, Debug)]
pub struct Capture {
    /// The outer variable.
    pub outer: LocalId,
    /// The inner one, of the uniform type; set at the start of each outer lane's turn.
    pub inner: LocalId,
    /// Whether the inner one is assigned: its last value goes back to the outer variable's lane after the turn.
    pub written: bool,
}

/// A run of `case` labels with the statements up to the next label.
#[derive(Clone, Debug)]
pub struct SwitchArm {
    /// The labels; none for statements before the first label, which never run (but may declare).
    pub labels: Vec<SwitchLabel>,
    /// The statements.
    pub body: Vec<Stmt>,
}

/// A label of a `switch`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SwitchLabel {
    /// `case`: bits of the selector's type.
    Case(u64),
    /// `default`.
    Default,
}
