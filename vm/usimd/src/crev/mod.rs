//! Section 3.3: a small language with `crev` calls, and its lowering to µ-SIMD.
//!
//! A [`Source`] is a list of functions; the last one is run. A function may call those before it, so nothing recurses
//! and calls can be unfolded, as figure 8 has it. Values are 64-bit integers. The meaning is that of the SPMD language:
//! inactive threads have no effect, uniform variables have one value for the warp, varying ones one for each thread, and
//! declarations and plain calls give all threads a value (so what stands there must not load or divide). `check.rs` says
//! what is wrong with a program, `lower.rs` translates.

mod check;
mod lower;

pub use check::Mistake;
pub use lower::{LaneOrder, lower};

use super::program::BinaryOp;

/// A program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The functions; the last one is run, and has no parameters and no result.
    pub functions: Vec<Function>,
    /// What shared memory holds at the beginning.
    pub shared: Vec<i64>,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<(Shape, String)>,
    /// Its result, if it has one.
    pub result: Option<Shape>,
    /// Its other variables, with what they begin as in all threads.
    pub locals: Vec<(Shape, String, Expr)>,
    /// What it does.
    pub body: Vec<Stmt>,
}

/// One value for the warp, or one for each thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One value for the warp.
    Uniform,
    /// One for each thread.
    Varying,
}

/// A statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stmt {
    /// `v = e`.
    Assign(String, Expr),
    /// `mem[e] = e`.
    Store(Expr, Expr),
    /// `if (e) … else …`; not 0 is true.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `while (e) …`.
    While(Expr, Vec<Stmt>),
    /// `[v =] [crev] f(e, …)`.
    Call(Call),
    /// `everywhere …`: all threads on.
    Everywhere(Vec<Stmt>),
    /// `return [e]`: these threads leave the function.
    Return(Option<Expr>),
}

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Whether it is for each active thread with all threads on, rather than once with the active ones.
    pub crev: bool,
    /// The function.
    pub function: String,
    /// The arguments.
    pub args: Vec<Expr>,
    /// The variable that takes the result. Of `crev`, each active thread takes that of its own call.
    pub to: Option<String>,
}

/// An expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expr {
    /// A number.
    Constant(i64),
    /// The thread's number.
    Tid,
    /// The number of threads.
    Width,
    /// A variable.
    Var(String),
    /// `e ⊕ e`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `mem[e]`.
    Load(Box<Expr>),
}

impl Expr {
    /// `a ⊕ b`.
    pub fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
        Expr::Binary(op, Box::new(a), Box::new(b))
    }

    /// A variable.
    pub fn var(name: &str) -> Expr {
        Expr::Var(name.to_owned())
    }

    /// Returns whether it gives something else in threads that are not active. Loads and divisions do, in the SPMD language.
    pub fn needs_active(&self) -> bool {
        match self {
            Expr::Load(_) | Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..) => true,
            Expr::Binary(_, a, b) => a.needs_active() || b.needs_active(),
            _ => false,
        }
    }

    /// Its shape, given the variables'.
    pub fn shape(&self, of: &impl Fn(&str) -> Shape) -> Shape {
        match self {
            Expr::Constant(_) | Expr::Width => Shape::Uniform,
            Expr::Tid => Shape::Varying,
            Expr::Var(name) => of(name),
            Expr::Load(address) => address.shape(of),
            Expr::Binary(_, a, b) if a.shape(of) == Shape::Uniform => b.shape(of),
            Expr::Binary(..) => Shape::Varying,
        }
    }
}

impl Stmt {
    /// Returns whether threads may leave the function in it.
    pub fn may_return(&self) -> bool {
        match self {
            Stmt::Return(_) => true,
            Stmt::If(_, then, other) => then.iter().chain(other).any(Stmt::may_return),
            Stmt::While(_, body) | Stmt::Everywhere(body) => body.iter().any(Stmt::may_return),
            Stmt::Assign(..) | Stmt::Store(..) | Stmt::Call(_) => false,
        }
    }
}

impl Function {
    /// The shape of one of its variables.
    pub fn shape_of(&self, name: &str) -> Option<Shape> {
        let params = self.params.iter().map(|(shape, name)| (shape, name));
        let locals = self.locals.iter().map(|(shape, name, _)| (shape, name));
        params.chain(locals).find(|(_, n)| *n == name).map(|(shape, _)| *shape)
    }
}

impl Source {
    /// A function by its name.
    pub fn function(&self, name: &str) -> Option<&Function> {
        self.functions.iter().find(|f| f.name == name)
    }
}
