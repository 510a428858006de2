//! What the gang does as one: uniform control, loops of lane code, and what looks at all lanes.

use super::body::{Body, Exit, Exits, Mode};
use super::expr::{converted, named};
use super::layout;
use super::unit::{Made, refuse};
use spmdvm::Ty;
use spmdvm::frontend::hir::{Callee, Cast, Expr, ExprKind, ForeachDim, FuncId, LocalId, Stmt, StmtKind, TypeId, walk};
use spmdvm::frontend::source::Span;
use spmdvm::vm::program::{ArgFormat, ArgKind, Piece};

impl<'m> Body<'_, 'm> {
    /// A function of the gang.
    pub fn gang_function(&mut self, body: &'m [Stmt]) -> Made<()> {
        let function = self.function;
        self.declare("!", "size_t room_before = room_used;".to_owned());
        for &param in &function.params {
            self.settle(param, function.head_span)?;
            if self.is_varying(self.local_type(param)) {
                let lanes = self.unit.lanes();
                self.line(format!("for (int i = 0; i < {lanes}; i++) g{0}[i] = p{0}[i];", param.0));
            } else {
                let name = self.variable(param, function.head_span)?;
                self.line(format!("{name} = p{};", param.0));
            }
        }
        if self.result_is_value() {
            self.stmts(body)?;
        } else {
            // Where lanes part for good, each goes its own way from the start.
            self.either(|this| this.stmts(body), |this| this.lanes_alone(body))?;
        }
        let zero = if self.result_is_value() {
            let c_type = self.c_type(function.result, function.head_span)?;
            self.zero_of(&c_type)
        } else {
            String::new()
        };
        self.line(format!("room_used = room_before; return {zero};"));
        Ok(())
    }

    fn lanes_alone(&mut self, body: &'m [Stmt]) -> Made<()> {
        let label = self.number();
        self.in_each_lane(|this| {
            this.returned = Some(label);
            this.stmts(body)?;
            this.line(format!("L{label}:;"));
            Ok(())
        })
    }

    /// `return` of the whole gang.
    pub fn gang_return(&mut self, value: Option<&'m Expr>) -> Made<()> {
        let Some(value) = value else {
            self.line("room_used = room_before; return;");
            return Ok(());
        };
        if self.is_varying(self.function.result) {
            let result = self.lane_wise(value)?;
            let lanes = self.unit.lanes();
            self.line(format!("for (int lane = 0; lane < {lanes}; lane++) result[lane] = {result};"));
            self.line("room_used = room_before; return;");
        } else {
            let result = self.value(value)?;
            self.line(format!("room_used = room_before; return {result};"));
        }
        Ok(())
    }

    /// A loop over the lanes, one turn of the gang.
    pub fn in_each_lane(&mut self, act: impl FnOnce(&mut Self) -> Made<()>) -> Made<()> {
        let lanes = self.unit.lanes();
        self.line(format!("turn++; for (int lane = 0; lane < {lanes}; lane++) {{ who = lane;"));
        let (divergence, returned) = (std::mem::take(&mut self.divergence), self.returned);
        self.in_lanes = true;
        act(self)?;
        self.in_lanes = false;
        (self.divergence, self.returned) = (divergence, returned);
        self.line("}");
        Ok(())
    }

    /// A statement in gang code.
    pub fn gang_stmt(&mut self, stmt: &'m Stmt) -> Made<()> {
        use StmtKind::*;
        let one_by_one = |this: &mut Self| this.in_each_lane(|this| this.plain(stmt));
        match &stmt.kind {
            Expr(expr) => self.gang_effect(expr),
            Declare { local, init } if self.is_varying(self.local_type(*local)) => {
                self.varying_variable(*local, init.as_ref(), stmt.span)
            }
            If { condition, .. } | Assert { condition, .. } if self.is_varying(condition.ty) => one_by_one(self),
            Loop { condition: Some(condition), .. } if self.is_varying(condition.ty) => one_by_one(self),
            Switch { value, .. } if self.is_varying(value.ty) => one_by_one(self),
            If { .. } | Loop { .. } | Switch { .. } => self.either(|this| this.plain(stmt), one_by_one),
            Delete(pointer) if self.is_varying(pointer.ty) => one_by_one(self),
            Unmasked(body) => self.stmts(body),
            Foreach { revectorised: None, tiled, dims, body } => self.foreach(*tiled, dims, body, stmt.span),
            ForeachActive { var, body } => self.foreach_active(*var, body, stmt.span),
            ForeachUnique { var, value, body } => self.foreach_unique(*var, value, body, stmt.span),
            Print { pieces, args } => self.print(pieces, args, stmt.span),
            _ => self.plain(stmt),
        }
    }

    fn varying_variable(&mut self, local: LocalId, init: Option<&'m Expr>, span: Span) -> Made<()> {
        self.settle(local, span)?;
        let (c_type, lanes) = (self.c_type(self.local_type(local), span)?, self.unit.lanes());
        let value = match init {
            Some(init) => self.lane_wise(init)?,
            None => self.zero_of(&c_type),
        };
        self.line(format!("for (int lane = 0; lane < {lanes}; lane++) g{}[lane] = {value};", local.0));
        Ok(())
    }

    /// Whether lanes take part in an expression.
    fn is_of_lanes(&self, expr: &Expr) -> bool {
        let mut found = self.is_varying(expr.ty);
        walk::operands(expr, &mut |operand| found = found || self.is_of_lanes(operand));
        found
    }

    /// Evaluates an expression for its effects, in gang code.
    pub fn gang_effect(&mut self, expr: &'m Expr) -> Made<()> {
        use ExprKind::*;
        let one_by_one = |this: &mut Self| this.in_each_lane(|this| this.effect(expr));
        if !self.is_of_lanes(expr) {
            return self.effect(expr);
        }
        match &expr.kind {
            Call(Callee::Function(id), args) => {
                self.either(|this| this.gang_call(*id, args, expr).map(drop), one_by_one)
            }
            Assign(place, _) | CompoundAssign { place, .. }
                if !place.varying_address && !self.is_varying(place.ty) && !self.is_varying(expr.ty) =>
            {
                self.effect(expr)
            }
            Cast(_, operand) if self.is_void(expr) => self.gang_effect(operand),
            _ => self.either(one_by_one, |this| this.assignment_apart(expr)),
        }
    }

    fn is_void(&self, expr: &Expr) -> bool {
        layout::c_type(self.module, expr.ty) == "void"
    }

    /// An assignment to a variable of all lanes, of a value that the gang makes together.
    fn assignment_apart(&mut self, expr: &'m Expr) -> Made<()> {
        let (place, value) = match &expr.kind {
            ExprKind::Assign(place, value) | ExprKind::CompoundAssign { place, rhs: value, .. } => (place, value),
            _ => return refuse("an operation of the gang within another one", expr.span),
        };
        if !Self::is_fixed(place) {
            return refuse("an operation of the gang in an assignment to memory", expr.span);
        }
        let made = self.lane_wise(value)?;
        self.in_each_lane(|this| {
            let ExprKind::CompoundAssign { op, rhs, .. } = &expr.kind else {
                let at = this.place(place)?;
                return this.write(&at, &made);
            };
            let at = this.place(place)?;
            let old = this.read(&at)?;
            let new = this.combined(*op, (place.ty, &old), (rhs.ty, &made), expr)?;
            this.write(&at, &new)
        })
    }

    /// What names the value of an expression within loops over lanes, in gang code.
    pub fn lane_wise(&mut self, expr: &'m Expr) -> Made<String> {
        if !self.is_varying(expr.ty) {
            let (c_type, value) = (self.c_type(expr.ty, expr.span)?, self.value(expr)?);
            return Ok(self.temp(&c_type, value));
        }
        let made = self.either(|this| this.computed_by_lanes(expr), |this| this.computed_together(expr))?;
        Ok(format!("{made}[lane]"))
    }

    fn computed_by_lanes(&mut self, expr: &'m Expr) -> Made<String> {
        let c_type = self.c_type(expr.ty, expr.span)?;
        let result = self.lanes_temp(&c_type);
        self.in_each_lane(|this| {
            let value = this.value(expr)?;
            this.line(format!("{result}[lane] = {value};"));
            Ok(())
        })?;
        Ok(result)
    }

    /// The array of values of an expression in which lanes see each other.
    fn computed_together(&mut self, expr: &'m Expr) -> Made<String> {
        use ExprKind::*;
        match &expr.kind {
            Call(Callee::Function(id), args) => self.gang_call(*id, args, expr),
            Op { op, ty, from, args } => self.varying_operation(*op, *ty, *from, args, expr),
            Cast(cast, a) => {
                self.by_lanes(expr, &[a], |this, values| match (cast, layout::elements(this.module, expr.ty)) {
                    (self::Cast::Convert, Some((to, ..))) => {
                        this.each(expr, values, |from, a| converted(to, from, &a[0]))
                    }
                    (self::Cast::Splat, _) => this.each(expr, values, |_, a| a[0].clone()),
                    _ => Ok(values[0].0.clone()),
                })
            }
            Unary(op, a) => {
                self.by_lanes(expr, &[a], |this, values| this.each(expr, values, |ty, a| named(*op, ty, a)))
            }
            Binary(op, a, b) => {
                self.by_lanes(expr, &[a, b], |this, values| this.each(expr, values, |ty, a| named(*op, ty, a)))
            }
            _ => refuse("an operation of the gang within another one", expr.span),
        }
    }

    /// The array of what lane code makes of operands that have been evaluated by the gang, one after the other.
    fn by_lanes(
        &mut self,
        expr: &'m Expr,
        operands: &[&'m Expr],
        combine: impl FnOnce(&mut Self, &[(String, TypeId)]) -> Made<String>,
    ) -> Made<String> {
        let mut values = Vec::new();
        for operand in operands {
            values.push((self.lane_wise(operand)?, operand.ty));
        }
        let c_type = self.c_type(expr.ty, expr.span)?;
        let result = self.lanes_temp(&c_type);
        self.in_each_lane(|this| {
            let value = combine(this, &values)?;
            this.line(format!("{result}[lane] = {value};"));
            Ok(())
        })?;
        Ok(result)
    }

    /// What a call is given: a value for a uniform parameter, an array for a varying one.
    fn given(&mut self, id: FuncId, args: &'m [Expr]) -> Made<Vec<String>> {
        let (callee, lanes) = (self.module.function(id), self.unit.lanes());
        let mut given = Vec::new();
        for (arg, &param) in args.iter().zip(&callee.params) {
            let value = self.lane_wise(arg)?;
            if !self.is_varying(callee.locals[param.0 as usize].ty) {
                given.push(value);
                continue;
            }
            let c_type = self.c_type(arg.ty, arg.span)?;
            let array = self.lanes_temp(&c_type);
            self.line(format!("for (int lane = 0; lane < {lanes}; lane++) {array}[lane] = {value};"));
            given.push(array);
        }
        Ok(given)
    }

    /// A call by the gang: its value, or the array of its values.
    pub fn gang_call(&mut self, id: FuncId, args: &'m [Expr], expr: &'m Expr) -> Made<String> {
        let name = self.unit.function(id, Mode::Gang, expr.span)?;
        let mut given = self.given(id, args)?;
        if !self.is_varying(self.module.function(id).result) {
            return self.called(&format!("{name}({})", given.join(", ")), expr);
        }
        let c_type = self.c_type(expr.ty, expr.span)?;
        let result = self.lanes_temp(&c_type);
        given.insert(0, result.clone());
        self.line(format!("{name}({});", given.join(", ")));
        Ok(result)
    }

    /// `launch`: the tasks run at once, one after another.
    pub fn launch(
        &mut self,
        counts: &'m [Box<Expr>; 3],
        callee: &'m Callee,
        args: &'m [Expr],
        span: Span,
    ) -> Made<String> {
        let Callee::Function(id) = callee else { return refuse("a launch through a function pointer", span) };
        if self.in_lanes {
            return refuse("`launch` in code of single lanes", span);
        }
        let name = self.unit.function(*id, Mode::Gang, span)?;
        let mut n = Vec::new();
        for count in counts {
            let count = self.value(count)?;
            n.push(self.temp("i32", count));
        }
        let given = self.given(*id, args)?;
        let outer = self.temp("struct Task", "task");
        for (dim, i) in [(2, "z"), (1, "y"), (0, "x")] {
            self.line(format!("for (i32 {i} = 0; {i} < {}; {i}++)", n[dim]));
        }
        self.line(format!(
            "{{ task = (struct Task){{{{x, y, z}}, {{{}}}}}; {name}({}); }}",
            n.join(", "),
            given.join(", ")
        ));
        self.line(format!("task = {outer};"));
        Ok(String::new())
    }

    /// `foreach`: iterations one after another, in the order of the gang's turns and their lanes.
    pub fn foreach(&mut self, tiled: bool, dims: &'m [ForeachDim], body: &'m [Stmt], span: Span) -> Made<()> {
        let (lanes, end) = (self.unit.lanes(), self.number());
        let mut bounds = Vec::new();
        for dim in dims {
            let (start, limit) = (self.value(&dim.start)?, self.value(&dim.end)?);
            bounds.push((self.temp("i64", start), self.temp("i64", limit)));
        }
        self.line(format!("{{ bool gone{end}[{lanes}] = {{0}}; (void)gone{end};"));
        if tiled {
            self.line("turn++; who = 0;");
        }
        for (start, limit) in &bounds {
            let i = format!("k{}", start.trim_start_matches('t'));
            self.line(format!("for (i64 {i} = {start}; {i} < {limit}; {i}++)"));
        }
        let Some((start, _)) = bounds.last() else { return Ok(()) };
        let i = format!("k{}", start.trim_start_matches('t'));
        self.line(match tiled {
            // Which lanes and turns they come to depends on the shape of tiles: all count as one turn.
            true => {
                "{ int lane = -1; who = who + 1; if (who >= SHARED - 8) undecided(\"it has too many iterations\", 0);"
                    .into()
            }
            false => format!("{{ int lane = (int)(({i} - {start}) % {lanes}); turn += lane == 0; who = lane;"),
        });
        self.line(if tiled { String::new() } else { format!("if (gone{end}[lane]) continue;") });
        let state = (self.divergence, self.no_lane, self.exits, self.in_lanes);
        (self.divergence, self.in_lanes) = (0, true);
        self.no_lane = tiled.then_some("lanes of a `foreach_tiled`, which cover tiles");
        let exit = |ends_part| Some(Exit { label: end, in_lanes: true, ends_part });
        self.exits = Exits { on_break: exit(true), on_continue: exit(false) };
        for (dim, (start, _)) in dims.iter().zip(&bounds) {
            self.settle(dim.var, span)?;
            let name = self.variable(dim.var, span)?;
            self.line(format!("{name} = k{};", start.trim_start_matches('t')));
        }
        self.stmts(body)?;
        (self.divergence, self.no_lane, self.exits, self.in_lanes) = state;
        self.line(format!("L{end}:;"));
        self.line("} }");
        Ok(())
    }

    /// `foreach_active`, all lanes being on: a turn of the gang for each.
    fn foreach_active(&mut self, var: LocalId, body: &'m [Stmt], span: Span) -> Made<()> {
        let (end, behind) = (self.number(), self.number());
        let outer = self.exits;
        self.in_each_lane(|this| {
            this.line("turn++;");
            this.is_serial = true;
            this.settle(var, span)?;
            let name = this.variable(var, span)?;
            this.line(format!("{name} = lane;"));
            let exit = |label| Some(Exit { label, in_lanes: true, ends_part: false });
            this.exits = Exits { on_break: exit(behind), on_continue: exit(end) };
            this.stmts(body)?;
            this.is_serial = false;
            this.line(format!("L{end}:;"));
            Ok(())
        })?;
        self.exits = outer;
        self.line(format!("L{behind}:;"));
        Ok(())
    }

    /// `foreach_unique`, all lanes being on: a turn of the gang for the lanes that have one value.
    fn foreach_unique(&mut self, var: LocalId, value: &'m Expr, body: &'m [Stmt], span: Span) -> Made<()> {
        let (c_type, lanes, had) = (self.c_type(value.ty, span)?, self.unit.lanes(), self.number());
        let Some((ty, _, false)) = layout::elements(self.module, value.ty) else {
            return refuse("`foreach_unique` of what is no number", span);
        };
        let value = self.lane_wise(value)?;
        let values = self.lanes_temp(&c_type);
        self.line(format!("for (int lane = 0; lane < {lanes}; lane++) {values}[lane] = {value};"));
        self.line(format!("bool had{had}[{lanes}] = {{0}};"));
        self.line(format!("for (int first = 0; first < {lanes}; first++) {{ if (had{had}[first]) continue; turn++;"));
        self.line(format!("for (int lane = first; lane < {lanes}; lane++) {{ who = lane;"));
        let equal = named(spmdvm::vm::Op::Eq, ty, &[format!("{values}[lane]"), format!("{values}[first]")]);
        self.line(format!("if (had{had}[lane] || !(lane == first || {equal})) continue;"));
        self.line(format!("had{had}[lane] = true;"));
        let (divergence, exits) = (std::mem::take(&mut self.divergence), self.exits);
        self.in_lanes = true;
        self.turn_of_this_lane(var, format!("{values}[first]"), body, span)?;
        self.in_lanes = false;
        (self.divergence, self.exits) = (divergence, exits);
        self.line("} }");
        Ok(())
    }

    /// `print`, all lanes being on.
    fn print(&mut self, pieces: &'m [Piece], args: &'m [Expr], span: Span) -> Made<()> {
        let mut values = Vec::new();
        for arg in args {
            values.push((self.lane_wise(arg)?, arg));
        }
        let mut values = values.into_iter();
        for piece in pieces {
            match piece {
                Piece::Text(text) => self.line(format!("fputs({}, stdout);", quoted(text))),
                Piece::Arg(format) => {
                    let Some((value, arg)) = values.next() else { return refuse("`print` with too few values", span) };
                    self.print_value(format, &value, arg)?;
                }
            }
        }
        Ok(())
    }

    fn print_value(&mut self, format: &ArgFormat, value: &str, arg: &Expr) -> Made<()> {
        let is_plain = format.conversion.is_none() && format.width.is_none() && format.precision.is_none();
        let Some((ty, _, false)) = layout::elements(self.module, arg.ty) else {
            return refuse("`print` of what is no number", arg.span);
        };
        if !is_plain || format.plus || format.kind != ArgKind::Value {
            return refuse("`print` in a format of its own", arg.span);
        }
        let show = match ty {
            Ty::Bool => format!("fputs({value} ? \"true\" : \"false\", stdout);"),
            _ if ty.is_float() => format!("print_float({});", converted(Ty::F64, ty, value)),
            _ if ty.is_signed() => format!("printf(\"%\" PRId64, (i64){value});"),
            _ => format!("printf(\"%\" PRIu64, (u64){value});"),
        };
        if !self.is_varying(arg.ty) {
            self.line(show);
            return Ok(());
        }
        let lanes = self.unit.lanes();
        self.line(format!("for (int lane = 0; lane < {lanes}; lane++) {{ putchar(lane ? ',' : '['); {show} }}"));
        self.line("putchar(']');");
        Ok(())
    }
}

/// A text as C writes it.
fn quoted(text: &str) -> String {
    let bytes: String = text.bytes().map(|byte| format!("\\{byte:03o}")).collect();
    format!("\"{bytes}\"")
}
