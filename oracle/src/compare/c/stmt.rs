//! Statements, in lane code and in gang code.

use super::body::{Body, Exit, Exits, Home, Mode};
use super::unit::{Made, refuse};
use spmdvm::frontend::hir::{Expr, LocalId, LoopForm, Stmt, StmtKind, SwitchArm, SwitchLabel, walk};
use spmdvm::frontend::source::Span;

/// A loop but those of the `foreach` family.
struct Loop<'m> {
    form: LoopForm,
    init: &'m [Stmt],
    condition: Option<&'m Expr>,
    step: Option<&'m Expr>,
    body: &'m [Stmt],
}

impl<'m> Body<'_, 'm> {
    /// Statements in order.
    pub fn stmts(&mut self, stmts: &'m [Stmt]) -> Made<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &'m Stmt) -> Made<()> {
        if self.in_lanes { self.plain(stmt) } else { self.gang_stmt(stmt) }
    }

    /// A statement whose conditions are those of the code that it stands in.
    pub fn plain(&mut self, stmt: &'m Stmt) -> Made<()> {
        use StmtKind::*;
        let span = stmt.span;
        match &stmt.kind {
            Expr(expr) => self.effect(expr),
            Declare { local, init } => {
                let home = self.settle(*local, span)?;
                let (name, c_type) = (self.variable(*local, span)?, self.c_type(self.local_type(*local), span)?);
                debug_assert!(home != Home::Lanes);
                let value = match init {
                    Some(init) => self.value(init)?,
                    None => self.zero_of(&c_type),
                };
                self.line(format!("{name} = {value};"));
                Ok(())
            }
            Block(body) => self.stmts(body),
            If { condition, then, otherwise, .. } => {
                let is_varying = self.is_varying(condition.ty);
                let condition = self.value(condition)?;
                self.line(format!("if ({condition}) {{"));
                self.under(is_varying, |this| this.stmts(then))?;
                self.line("} else {");
                self.under(is_varying, |this| this.stmts(otherwise))?;
                self.line("}");
                Ok(())
            }
            Loop { form, init, condition, step, body, .. } => {
                let parts = self::Loop { form: *form, init, condition: condition.as_ref(), step: step.as_ref(), body };
                self.a_loop(&parts)
            }
            Switch { value, arms } => self.switch(value, arms),
            Break => self.leave(self.exits.on_break, "break", span),
            Continue => self.leave(self.exits.on_continue, "continue", span),
            Return(value) => self.return_of(value.as_ref(), span),
            Label(label) | Goto(label) if self.in_lanes != (self.mode == Mode::Lane) => {
                let _ = label;
                refuse("`goto`", span)
            }
            Label(label) => {
                self.line(format!("user{}:;", label.0));
                Ok(())
            }
            Goto(label) => {
                self.line(format!("goto user{};", label.0));
                Ok(())
            }
            Assert { condition, .. } => {
                let condition = self.value(condition)?;
                self.line(format!("if (!{condition}) trap(\"assertion\");"));
                Ok(())
            }
            Abort { .. } => {
                self.line("trap(\"abort\");");
                Ok(())
            }
            Assume(_) => Ok(()),
            // What was there is not used again, so that no two lanes get the same memory.
            Delete(pointer) => self.value(pointer).map(drop),
            Sync => Ok(()),
            Print { .. } => refuse("`print` by single lanes", span),
            Unmasked(_) => refuse("`unmasked`", span),
            Foreach { .. } => refuse("`foreach` in code of single lanes", span),
            ForeachActive { var, body } => {
                let number = format!("number_of({})", self.lane(span)?);
                self.turn_of_this_lane(*var, number, body, span)
            }
            ForeachUnique { var, value, body } => {
                let value = self.value(value)?;
                self.turn_of_this_lane(*var, value, body, span)
            }
        }
    }

    fn a_loop(&mut self, parts: &Loop<'m>) -> Made<()> {
        let by_lanes = |c: Option<&Expr>| c.is_some_and(|c| self.is_varying(c.ty));
        let (breaks, continues) = self.parting(parts.body);
        let is_divergent = by_lanes(parts.condition) || breaks;
        self.under(is_divergent, |this| {
            this.stmts(parts.init)?;
            let (behind, turn_end) = (this.number(), this.number());
            this.line("for (;;) {");
            if parts.form != LoopForm::DoWhile {
                this.leave_unless(parts.condition, behind)?;
            }
            let exit = |label| Some(Exit { label, in_lanes: this.in_lanes, ends_part: false });
            let inner = Exits { on_break: exit(behind), on_continue: exit(turn_end) };
            let outer = std::mem::replace(&mut this.exits, inner);
            this.under(continues, |this| this.stmts(parts.body))?;
            this.exits = outer;
            this.line(format!("L{turn_end}:;"));
            if let Some(step) = parts.step {
                this.step(step)?;
            }
            if parts.form == LoopForm::DoWhile {
                this.leave_unless(parts.condition, behind)?;
            }
            this.line("}");
            this.line(format!("L{behind}:;"));
            Ok(())
        })
    }

    /// `foreach_active`, `foreach_unique` in lane code: the lane has its turn, with a value for the variable, when it comes by.
    pub fn turn_of_this_lane(&mut self, var: LocalId, value: String, body: &'m [Stmt], span: Span) -> Made<()> {
        if self.parting_under(body, true).0 {
            return refuse("`break` of a loop over lanes", span);
        }
        let end = self.number();
        let exit = Some(Exit { label: end, in_lanes: true, ends_part: false });
        let outer = std::mem::replace(&mut self.exits, Exits { on_break: None, on_continue: exit });
        self.under(true, |this| {
            this.settle(var, span)?;
            let name = this.variable(var, span)?;
            this.line(format!("{name} = {value};"));
            this.stmts(body)
        })?;
        self.exits = outer;
        self.line(format!("L{end}:;"));
        Ok(())
    }

    fn step(&mut self, step: &'m Expr) -> Made<()> {
        if self.in_lanes { self.effect(step) } else { self.gang_effect(step) }
    }

    fn leave_unless(&mut self, condition: Option<&'m Expr>, label: u32) -> Made<()> {
        let Some(condition) = condition else { return Ok(()) };
        let condition = self.value(condition)?;
        self.line(format!("if (!{condition}) goto L{label};"));
        Ok(())
    }

    /// Whether some lanes alone may do a `break`, or a `continue`, that concerns what the statements stand in.
    fn parting(&self, stmts: &[Stmt]) -> (bool, bool) {
        self.parting_under(stmts, false)
    }

    fn parting_under(&self, stmts: &[Stmt], is_under: bool) -> (bool, bool) {
        let mut found = (false, false);
        for stmt in stmts {
            let condition = match &stmt.kind {
                StmtKind::Break => {
                    found.0 |= is_under;
                    continue;
                }
                StmtKind::Continue => {
                    found.1 |= is_under;
                    continue;
                }
                StmtKind::If { condition, .. } => Some(condition),
                StmtKind::Switch { value, .. } => Some(value),
                // What is in there concerns the inner loop.
                StmtKind::Block(_) => None,
                _ => continue,
            };
            let is_under = is_under || condition.is_some_and(|c| self.is_varying(c.ty));
            let is_switch = matches!(stmt.kind, StmtKind::Switch { .. });
            walk::stmt_blocks(stmt, &mut |block| {
                let inner = self.parting_under(block, is_under);
                found.0 |= inner.0 && !is_switch;
                found.1 |= inner.1;
            });
        }
        found
    }

    fn switch(&mut self, value: &'m Expr, arms: &'m [SwitchArm]) -> Made<()> {
        let is_varying = self.is_varying(value.ty);
        let c_type = self.c_type(value.ty, value.span)?;
        let value = self.value(value)?;
        let value = self.temp(&c_type, value);
        let (first, behind) = (self.next_numbers(arms.len()), self.number());
        let mut default = behind;
        for (i, label) in arms.iter().enumerate().flat_map(|(i, arm)| arm.labels.iter().map(move |l| (i, l))) {
            match label {
                SwitchLabel::Case(bits) => {
                    let case = first + i as u32;
                    self.line(format!("if ({value} == {c_type}_of_word({bits:#x})) goto L{case};"));
                }
                SwitchLabel::Default => default = first + i as u32,
            }
        }
        self.line(format!("goto L{default};"));
        let leaves = arms.iter().any(|arm| self.parting(&arm.body).0);
        let exit = Some(Exit { label: behind, in_lanes: self.in_lanes, ends_part: false });
        let outer = self.exits;
        self.exits.on_break = exit;
        self.under(is_varying || leaves, |this| {
            for (i, arm) in arms.iter().enumerate() {
                this.line(format!("L{}:;", first + i as u32));
                this.stmts(&arm.body)?;
            }
            Ok(())
        })?;
        self.exits = outer;
        self.line(format!("L{behind}:;"));
        Ok(())
    }

    /// So many fresh numbers in a row; gives the first.
    fn next_numbers(&mut self, n: usize) -> u32 {
        let first = self.number();
        self.skip_numbers(n);
        first
    }

    fn leave(&mut self, exit: Option<Exit>, what: &str, span: Span) -> Made<()> {
        let Some(exit) = exit.filter(|exit| exit.in_lanes == self.in_lanes) else {
            return refuse(format!("`{what}` of single lanes out of a loop of the gang"), span);
        };
        if exit.ends_part {
            let lane = self.lane(span)?;
            self.line(format!("gone{}[{lane}] = true;", exit.label));
        }
        self.line(format!("goto L{};", exit.label));
        Ok(())
    }

    fn return_of(&mut self, value: Option<&'m Expr>, span: Span) -> Made<()> {
        let is_varying = self.is_varying(self.function.result);
        if self.in_lanes && value.is_some() && !is_varying && self.divergence > 0 && !self.is_serial {
            return refuse("a uniform result of lanes that return at different times", span);
        }
        match (self.mode, self.in_lanes, self.returned) {
            (Mode::Lane, ..) => {
                let value = value.map(|value| self.value(value)).transpose()?.unwrap_or_default();
                self.line(format!("return {value};"));
            }
            (Mode::Gang, true, Some(label)) => {
                if let Some(value) = value {
                    let (value, lane) = (self.value(value)?, self.lane(span)?);
                    self.line(format!("result[{lane}] = {value};"));
                }
                self.line(format!("goto L{label};"));
            }
            (Mode::Gang, true, None) => return refuse("`return` of single lanes", span),
            (Mode::Gang, false, _) => self.gang_return(value)?,
        }
        Ok(())
    }
}
