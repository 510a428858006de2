//! What is asked of programs of the small language before they are lowered.

use super::{Call, Expr, Function, Shape, Source, Stmt};
use std::fmt;

/// What is wrong with a program, and in which function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// The function.
    pub function: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "in `{}`: {}", self.function, self.message)
    }
}

impl std::error::Error for Mistake {}

impl Source {
    /// Checks names, shapes, and that nothing recurses.
    pub fn check(&self) -> Result<(), Mistake> {
        let mistake = |function: &Function, message| Mistake { function: function.name.clone(), message };
        for (i, function) in self.functions.iter().enumerate() {
            let checker = Checker { function, callable: &self.functions[..i] };
            checker.function().map_err(|message| mistake(function, message))?;
        }
        match self.functions.last() {
            Some(main) if !main.params.is_empty() || main.result.is_some() => {
                Err(mistake(main, "the last function is run: it has no parameters and no result".into()))
            }
            Some(_) => Ok(()),
            None => Err(Mistake { function: String::new(), message: "there is no function".into() }),
        }
    }
}

struct Checker<'s> {
    function: &'s Function,
    callable: &'s [Function],
}

type Checked = Result<(), String>;

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}

impl Checker<'_> {
    fn function(&self) -> Checked {
        let f = self.function;
        let params = f.params.iter().map(|(_, name)| name);
        let names: Vec<&String> = params.chain(f.locals.iter().map(|(_, name, _)| name)).collect();
        for (i, name) in names.iter().enumerate() {
            ensure(!names[..i].contains(name), || format!("`{name}` is declared twice"))?;
        }
        for (shape, name, init) in &f.locals {
            self.fits(*shape, init, name)?;
            ensure(!init.needs_active(), || format!("what `{name}` begins as loads or divides: assign it instead"))?;
        }
        let ends = matches!(f.body.last(), Some(Stmt::Return(Some(_))));
        ensure(f.result.is_none() || ends, || "it has a result, so it must end with `return`".into())?;
        self.block(&f.body, false, true)
    }

    fn block(&self, stmts: &[Stmt], in_everywhere: bool, is_body: bool) -> Checked {
        for (i, stmt) in stmts.iter().enumerate() {
            let is_last = is_body && i + 1 == stmts.len();
            self.stmt(stmt, in_everywhere, is_last)?;
        }
        Ok(())
    }

    fn stmt(&self, stmt: &Stmt, in_everywhere: bool, is_last: bool) -> Checked {
        match stmt {
            Stmt::Assign(name, e) => self.fits(self.shape_of(name)?, e, name),
            Stmt::Store(address, value) => self.expr(address).and(self.expr(value)),
            Stmt::If(e, then, other) => {
                self.expr(e)?;
                self.block(then, in_everywhere, false)?;
                self.block(other, in_everywhere, false)
            }
            Stmt::While(e, body) => {
                self.expr(e)?;
                self.block(body, in_everywhere, false)
            }
            Stmt::Everywhere(body) => self.block(body, true, false),
            Stmt::Call(call) => self.call(call),
            Stmt::Return(value) => {
                ensure(!in_everywhere, || "threads that are not active cannot return".into())?;
                match (value, self.function.result) {
                    (None, None) => Ok(()),
                    (Some(e), Some(shape)) => {
                        let early = || "only at its end can a function return a uniform value".into();
                        ensure(shape == Shape::Varying || is_last, early)?;
                        self.fits(shape, e, "the result")
                    }
                    _ => Err("`return` and the function's result do not agree".into()),
                }
            }
        }
    }

    fn call(&self, call: &Call) -> Checked {
        let name = &call.function;
        let callee = self.callable.iter().find(|f| f.name == *name);
        let callee = callee.ok_or_else(|| format!("no function `{name}` comes before this one"))?;
        ensure(callee.params.len() == call.args.len(), || {
            format!("`{name}` takes {} arguments, not {}", callee.params.len(), call.args.len())
        })?;
        for ((shape, param), arg) in callee.params.iter().zip(&call.args) {
            match call.crev {
                true => self.expr(arg)?,
                false => self.fits(*shape, arg, param)?,
            }
            ensure(call.crev || !arg.needs_active(), || {
                format!("the argument `{param}` of a plain call loads or divides")
            })?;
        }
        let Some(to) = &call.to else { return Ok(()) };
        let result = callee.result.ok_or_else(|| format!("`{name}` has no result"))?;
        let gives = if call.crev { Shape::Varying } else { result };
        let fits = self.shape_of(to)? == Shape::Varying || gives == Shape::Uniform;
        ensure(fits, || format!("`{to}` is uniform and the result varies"))
    }

    fn fits(&self, shape: Shape, e: &Expr, what: &str) -> Checked {
        self.expr(e)?;
        let of = |name: &str| self.function.shape_of(name).unwrap_or(Shape::Varying);
        ensure(shape == Shape::Varying || e.shape(&of) == Shape::Uniform, || {
            format!("`{what}` is uniform and what it gets varies")
        })
    }

    fn expr(&self, e: &Expr) -> Checked {
        match e {
            Expr::Var(name) => self.shape_of(name).map(drop),
            Expr::Load(address) => self.expr(address),
            Expr::Binary(_, a, b) => self.expr(a).and(self.expr(b)),
            Expr::Constant(_) | Expr::Tid | Expr::Width => Ok(()),
        }
    }

    fn shape_of(&self, name: &str) -> Result<Shape, String> {
        self.function.shape_of(name).ok_or_else(|| format!("there is no variable `{name}`"))
    }
}
