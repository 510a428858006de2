//! The translator of figure 8 and algorithm 5, from the small language to a listing.
//!
//! Calls are unfolded: each has variables of its own, named after the function and the number of the call. A uniform
//! variable holds its value in every thread: what is assigned to it is computed in an `everywhere` block. Without this
//! algorithm 5's plain copy of uniform arguments would read variables that idle threads have never been given.
//! A thread that returns sets a flag; what follows is done by the threads whose flag is not set.

use super::{Call, Expr, Function, Mistake, Shape, Source, Stmt};
use std::collections::HashMap;
use std::fmt::Write as _;

/// The order in which the calls of a `crev` are made: the i-th is that of thread `(i * factor + first) % W`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneOrder {
    /// Without a common divisor with the number of threads, so that every thread has its turn.
    pub factor: i64,
    /// The thread that comes first.
    pub first: i64,
}

impl LaneOrder {
    /// Figure 8's order.
    pub const ASCENDING: LaneOrder = LaneOrder { factor: 1, first: 0 };
}

/// Translates a program. The listing is well-formed (theorem 3.5).
pub fn lower(source: &Source, order: LaneOrder) -> Result<String, Mistake> {
    source.check()?;
    let mut lowerer = Lowerer { source, order, text: String::new(), numbers: 0, bodies: Vec::new() };
    lowerer.shared();
    if let Some(main) = source.functions.last() {
        lowerer.body(main, HashMap::new(), true);
    }
    lowerer.line("stop");
    Ok(lowerer.text)
}

struct Lowerer<'s> {
    source: &'s Source,
    order: LaneOrder,
    text: String,
    /// Names made so far.
    numbers: usize,
    /// The functions whose bodies are being written, innermost last.
    bodies: Vec<Body<'s>>,
}

/// One unfolded call of a function.
struct Body<'s> {
    function: &'s Function,
    names: HashMap<&'s str, String>,
    /// 1 in threads that have returned; only if threads may return early.
    returned: Option<String>,
    /// The result.
    value: Option<String>,
}

impl<'s> Lowerer<'s> {
    fn shared(&mut self) {
        for row in self.source.shared.chunks(16) {
            let cells: Vec<String> = row.iter().map(i64::to_string).collect();
            let _ = writeln!(self.text, ".shared {}", cells.join(" "));
        }
    }

    fn line(&mut self, instruction: impl AsRef<str>) {
        let _ = writeln!(self.text, "    {}", instruction.as_ref());
    }

    fn label(&mut self, label: &str) {
        let _ = writeln!(self.text, "{label}:");
    }

    fn fresh(&mut self, what: &str) -> String {
        self.numbers += 1;
        format!("{what}_{}", self.numbers)
    }

    fn everywhere(&mut self, inside: impl FnOnce(&mut Self)) {
        self.line("everywhere");
        inside(self);
        self.line("end_everywhere");
    }

    /// A function's body; gives where its result is. All threads get what its variables begin as, also those that are
    /// not active; in r-functions all are.
    fn body(&mut self, function: &'s Function, mut names: HashMap<&'s str, String>, all_on: bool) -> Option<String> {
        for (_, name, _) in &function.locals {
            names.insert(name, self.fresh(&format!("{}_{name}", function.name)));
        }
        let (last, before) = function.body.split_last().map_or((None, &[][..]), |(last, before)| (Some(last), before));
        let early = before.iter().any(Stmt::may_return)
            || last.is_some_and(|last| !matches!(last, Stmt::Return(_)) && last.may_return());
        let returned = early.then(|| self.fresh(&format!("{}_returned", function.name)));
        let value = function.result.map(|_| self.fresh(&format!("{}_value", function.name)));
        self.bodies.push(Body { function, names, returned: returned.clone(), value: value.clone() });
        let nothing = returned.is_none() && value.is_none() && function.locals.is_empty();
        match all_on || nothing {
            true => self.declare(function, returned, value.clone()),
            false => self.everywhere(|this| this.declare(function, returned, value.clone())),
        }
        self.block(&function.body);
        self.bodies.pop();
        value
    }

    fn declare(&mut self, function: &'s Function, returned: Option<String>, value: Option<String>) {
        for (_, name, init) in &function.locals {
            self.assign_here(name, init);
        }
        for flag in returned.into_iter().chain(value) {
            self.line(format!("{flag} = 0"));
        }
    }

    fn this(&self) -> &Body<'s> {
        self.bodies.last().expect("statements stand in a function")
    }

    fn name(&self, variable: &str) -> String {
        self.this().names[variable].clone()
    }

    fn shape(&self, e: &Expr) -> Shape {
        let function = self.this().function;
        e.shape(&|name| function.shape_of(name).unwrap_or(Shape::Varying))
    }

    fn block(&mut self, stmts: &'s [Stmt]) {
        for (i, stmt) in stmts.iter().enumerate() {
            self.stmt(stmt);
            let rest = &stmts[i + 1..];
            let returned = self.this().returned.clone().filter(|_| stmt.may_return() && !rest.is_empty());
            if let Some(returned) = returned {
                let (stays, end) = (self.fresh("stays"), self.fresh("End"));
                self.line(format!("{stays} = {returned} == 0"));
                self.line(format!("bz {stays}, {end}"));
                self.block(rest);
                self.meet(&end);
                return;
            }
        }
    }

    fn meet(&mut self, label: &str) {
        self.label(label);
        self.line("sync");
    }

    fn stmt(&mut self, stmt: &'s Stmt) {
        match stmt {
            Stmt::Assign(name, e) => match self.this().function.shape_of(name) {
                Some(Shape::Uniform) => self.everywhere(|this| this.assign_here(name, e)),
                _ => self.assign_here(name, e),
            },
            Stmt::Store(address, value) => {
                let (address, value) = (self.operand(address), self.operand(value));
                self.line(format!("↑{address} = {value}"));
            }
            Stmt::If(e, then, other) => self.if_(e, then, other),
            Stmt::While(e, body) => self.while_(e, body),
            Stmt::Everywhere(body) => self.everywhere(|this| this.block(body)),
            Stmt::Call(call) => self.call(call),
            Stmt::Return(value) => self.return_(value.as_ref()),
        }
    }

    fn if_(&mut self, e: &Expr, then: &'s [Stmt], other: &'s [Stmt]) {
        let (otherwise, end) = (self.fresh("Else"), self.fresh("End"));
        let condition = self.operand(e);
        self.line(format!("bz {condition}, {otherwise}"));
        self.block(then);
        self.line(format!("jmp {end}"));
        self.label(&otherwise);
        self.block(other);
        self.meet(&end);
    }

    fn while_(&mut self, e: &Expr, body: &'s [Stmt]) {
        let (head, end) = (self.fresh("Loop"), self.fresh("End"));
        self.label(&head);
        let returned = self.this().returned.clone().filter(|_| body.iter().any(Stmt::may_return));
        let condition = match returned {
            Some(returned) => self.condition_of_those_who_stay(e, &returned),
            None => self.operand(e),
        };
        self.line(format!("bz {condition}, {end}"));
        self.block(body);
        self.line(format!("jmp {head}"));
        self.meet(&end);
    }

    /// Threads that have returned do not look at the condition any more: it is false in them.
    fn condition_of_those_who_stay(&mut self, e: &Expr, returned: &str) -> String {
        let [goes_on, stays, skip] = ["goes_on", "stays", "Skip"].map(|what| self.fresh(what));
        self.line(format!("{goes_on} = 0"));
        self.line(format!("{stays} = {returned} == 0"));
        self.line(format!("bz {stays}, {skip}"));
        self.assign_to(&goes_on, e);
        self.meet(&skip);
        goes_on
    }

    fn return_(&mut self, value: Option<&Expr>) {
        if let (Some(e), Some(to)) = (value, self.this().value.clone()) {
            match self.this().function.result {
                Some(Shape::Uniform) => self.everywhere(|this| this.assign_to(&to, e)),
                _ => self.assign_to(&to, e),
            }
        }
        if let Some(returned) = self.this().returned.clone() {
            self.line(format!("{returned} = 1"));
        }
    }

    fn call(&mut self, call: &'s Call) {
        let Some(callee) = self.source.function(&call.function) else { return };
        let args: Vec<String> = call.args.iter().map(|arg| self.argument(arg, call.crev)).collect();
        let result = match call.crev {
            true => self.crev(callee, &args, call),
            false => self.plain_call(callee, &args),
        };
        let (Some(to), Some(result)) = (&call.to, result) else { return };
        let name = self.name(to);
        match self.this().function.shape_of(to) {
            Some(Shape::Uniform) => self.everywhere(|this| this.line(format!("{name} = {result}"))),
            _ => self.line(format!("{name} = {result}")),
        }
    }

    /// A variable that holds an argument: a uniform one in all threads, and so are those of plain calls.
    fn argument(&mut self, e: &Expr, crev: bool) -> String {
        let name = self.fresh("arg");
        match crev && self.shape(e) == Shape::Varying {
            true => self.assign_to(&name, e),
            false => self.everywhere(|this| this.assign_to(&name, e)),
        }
        name
    }

    fn plain_call(&mut self, callee: &'s Function, args: &[String]) -> Option<String> {
        let names = self.parameters(callee);
        if !args.is_empty() {
            self.everywhere(|this| {
                for ((_, param), arg) in callee.params.iter().zip(args) {
                    this.line(format!("{} = {arg}", names[param.as_str()]));
                }
            });
        }
        self.unfold(callee, names, false)
    }

    fn unfold(&mut self, callee: &'s Function, names: HashMap<&'s str, String>, all_on: bool) -> Option<String> {
        self.line(format!("enter {}", callee.name));
        let result = self.body(callee, names, all_on);
        self.line("leave");
        result
    }

    fn parameters(&mut self, callee: &'s Function) -> HashMap<&'s str, String> {
        let name = |this: &mut Self, param: &str| this.fresh(&format!("{}_{param}", callee.name));
        callee.params.iter().map(|(_, param)| (param.as_str(), name(self, param))).collect()
    }

    /// Figure 8. Each active thread's result is in the variable it gives.
    fn crev(&mut self, callee: &'s Function, args: &[String], call: &Call) -> Option<String> {
        let [i, more, loop_, call_label, next] = ["i", "more", "Loop", "Call", "Next"].map(|what| self.fresh(what));
        let results = call.to.as_ref().map(|_| self.fresh("results"));
        self.everywhere(|this| {
            this.line(format!("{i} = 0"));
            this.label(&loop_);
            let lane = this.lane(&i);
            this.line(format!("jmp_mask {lane}, {call_label}"));
            this.line(format!("jmp {next}"));
            this.label(&call_label);
            let names = this.parameters(callee);
            this.extract(callee, call, args, &names, &lane);
            let value = this.unfold(callee, names, true);
            if let (Some(results), Some(value)) = (&results, value) {
                this.keep_result(results, &value, &lane);
            }
            this.label(&next);
            this.line(format!("{i} = {i} + 1"));
            this.line(format!("{more} = {i} == W"));
            this.line(format!("bz {more}, {loop_}"));
        });
        results
    }

    /// The thread whose turn it is.
    fn lane(&mut self, i: &str) -> String {
        if self.order == LaneOrder::ASCENDING {
            return i.to_owned();
        }
        let (lane, LaneOrder { factor, first }) = (self.fresh("lane"), self.order);
        self.line(format!("{lane} = ({i} * {factor} + {first}) % W"));
        lane
    }

    /// Algorithm 5: uniform arguments are copied, of varying ones all threads get that of the thread whose turn it is.
    fn extract(&mut self, callee: &Function, call: &Call, args: &[String], names: &HashMap<&str, String>, lane: &str) {
        for (((_, param), arg), e) in callee.params.iter().zip(args).zip(&call.args) {
            let param = &names[param.as_str()];
            match self.shape(e) {
                Shape::Uniform => self.line(format!("{param} = {arg}")),
                Shape::Varying => self.line(format!("{param} = shfl({arg}, {lane})")),
            }
        }
    }

    /// The thread whose turn it is keeps its result.
    fn keep_result(&mut self, results: &str, value: &str, lane: &str) {
        let (own, skip) = (self.fresh("own"), self.fresh("Skip"));
        self.line(format!("{own} = tid == {lane}"));
        self.line(format!("bz {own}, {skip}"));
        self.line(format!("{results} = {value}"));
        self.meet(&skip);
    }

    fn assign_here(&mut self, variable: &str, e: &Expr) {
        let name = self.name(variable);
        self.assign_to(&name, e);
    }

    fn assign_to(&mut self, name: &str, e: &Expr) {
        let value = match e {
            Expr::Load(address) => format!("↓{}", self.operand(address)),
            _ => self.expression(e),
        };
        self.line(format!("{name} = {value}"));
    }

    /// An expression as an operand: what is more than a variable or a number goes into a variable first.
    fn operand(&mut self, e: &Expr) -> String {
        match e {
            Expr::Binary(..) | Expr::Load(_) => {
                let name = self.fresh("t");
                self.assign_to(&name, e);
                name
            }
            simple => self.expression(simple),
        }
    }

    fn expression(&mut self, e: &Expr) -> String {
        match e {
            Expr::Constant(c) => c.to_string(),
            Expr::Tid => "tid".into(),
            Expr::Width => "W".into(),
            Expr::Var(name) => self.name(name),
            Expr::Load(_) => self.operand(e),
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.expression(a), self.expression(b));
                format!("({a} {op} {b})")
            }
        }
    }
}
