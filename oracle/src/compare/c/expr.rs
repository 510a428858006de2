//! Expressions, one lane's value or one value for the gang at a time.

use super::body::{Body, Mode};
use super::layout;
use super::unit::{Made, refuse};
use spmdvm::Ty;
use spmdvm::frontend::hir::{Callee, Cast, Expr, ExprKind, FuncId, Shape, TaskBuiltin, TypeId, TypeKind};
use spmdvm::vm::Op;

impl<'m> Body<'_, 'm> {
    /// Evaluates an expression: statements that compute it, and what names its value.
    pub fn value(&mut self, expr: &'m Expr) -> Made<String> {
        use ExprKind::*;
        let (span, ty) = (expr.span, expr.ty);
        if !self.in_lanes && self.is_varying(ty) {
            return refuse("a varying value where one for the gang is wanted", span);
        }
        match &expr.kind {
            Error => refuse("what is no expression", span),
            Const(bits) => self.constant(*bits, expr),
            Zero => {
                let c_type = self.c_type(ty, span)?;
                let zero = self.zero_of(&c_type);
                Ok(self.temp(&c_type, zero))
            }
            ProgramIndex => self.lane_number(expr),
            Task(what) => self.task_builtin(*what, expr),
            Load(place) => {
                let at = self.place(place)?;
                self.read(&at)
            }
            AddressOf(place) => self.address_of(place),
            FunctionAddress(_) => refuse("a function as a value", span),
            Cast(cast, operand) => self.cast(*cast, operand, expr),
            Unary(op, operand) => self.elementwise(expr, &[operand], |ty, a| named(*op, ty, a)),
            Binary(op, lhs, rhs) if op.info().form == spmdvm::vm::isa::Form::Compare => {
                // Addresses may be compared, though they are other numbers than elsewhere.
                self.elementwise(expr, &[as_held(lhs), as_held(rhs)], |ty, a| named(*op, ty, a))
            }
            Binary(op, lhs, rhs) => self.elementwise(expr, &[lhs, rhs], |ty, a| named(*op, ty, a)),
            PointerOffset { pointer, index, subtract } => {
                let size = self.step_size(pointer.ty);
                let (pointer, index) = (self.value(pointer)?, self.value(index)?);
                Ok(self.temp("u64", step(&pointer, &index, size, *subtract)))
            }
            PointerDifference(lhs, rhs) => {
                let size = self.step_size(lhs.ty);
                let (lhs, rhs) = (self.value(lhs)?, self.value(rhs)?);
                Ok(self.temp("i64", format!("(i64)({lhs} - {rhs}) / {size}")))
            }
            Logical { is_or, lhs, rhs } => self.logical(*is_or, lhs, rhs),
            Conditional { condition, then, otherwise } => self.conditional(condition, then, otherwise, expr),
            Comma(first, second) => {
                self.effect(first)?;
                self.value(second)
            }
            Assign(place, value) => {
                self.check_assignment(place)?;
                let at = self.place(place)?;
                let value = self.value(value)?;
                let c_type = self.c_type(ty, span)?;
                let value = self.temp(&c_type, value);
                self.write(&at, &value)?;
                Ok(value)
            }
            CompoundAssign { place, op, rhs } => self.compound(place, *op, rhs, expr),
            PointerAssign { place, index, subtract } => {
                let (size, subtract) = (self.step_size(place.ty), *subtract);
                let change = self.change(place, Some(index), |this, old, index| {
                    Ok(this.temp("u64", step(old, index.unwrap_or("0"), size, subtract)))
                });
                Ok(change?.1)
            }
            IncDec { place, decrement, postfix } => self.inc_dec(place, *decrement, *postfix),
            Swizzle(operand, components) => self.swizzle(operand, components),
            FieldValue(operand, field) => self.field_value(operand, *field, expr),
            Aggregate(parts) => self.aggregate(parts, expr),
            Lanes(parts) => self.lanes_value(parts, expr),
            Call(Callee::Function(id), args) => self.call(*id, args, expr),
            Call(Callee::Pointer(_), _) => refuse("a call through a function pointer", span),
            Crev(..) => refuse("`crev`", span),
            Launch { counts, callee, args } => self.launch(counts, callee, args, span),
            Op { op, ty, from, args } => self.operation(*op, *ty, *from, args, expr),
            New { elem, count, init } => self.allocation(*elem, count.as_deref(), init.as_deref(), expr),
            Alloca(bytes) if !self.in_lanes => {
                let bytes = self.value(bytes)?;
                Ok(self.temp("u64", format!("allocate((u64){bytes}, 1)")))
            }
            Alloca(_) => refuse("memory of `alloca` that lanes share", span),
        }
    }

    /// Evaluates for the effects alone.
    pub fn effect(&mut self, expr: &'m Expr) -> Made<()> {
        let ExprKind::Call(Callee::Function(id), _) = &expr.kind else { return self.value(expr).map(drop) };
        let callee = self.module.function(*id);
        if self.in_lanes && callee.flags.prelude && callee.name.as_str().starts_with("atomic_") {
            // Nobody asks for what was there before.
            self.line("relaxed = true;");
            self.value(expr)?;
            self.line("relaxed = false;");
            return Ok(());
        }
        self.value(expr).map(drop)
    }

    fn constant(&mut self, bits: u64, expr: &Expr) -> Made<String> {
        let c_type = self.c_type(expr.ty, expr.span)?;
        Ok(format!("{c_type}_of_word({bits:#x})"))
    }

    fn lane_number(&mut self, expr: &Expr) -> Made<String> {
        if !self.in_lanes {
            return refuse("`programIndex` where one value for the gang is wanted", expr.span);
        }
        // A function for one lane is also called where the lane has no number.
        let lane = if self.mode == Mode::Lane { "lane" } else { self.lane(expr.span)? };
        Ok(self.temp("i32", format!("number_of({lane})")))
    }

    fn task_builtin(&mut self, what: TaskBuiltin, expr: &Expr) -> Made<String> {
        use TaskBuiltin::*;
        let text = match what {
            TaskIndex => "(task.index[0] + task.count[0] * (task.index[1] + task.count[1] * task.index[2]))",
            TaskCount => "(task.count[0] * task.count[1] * task.count[2])",
            TaskIndex0 => "task.index[0]",
            TaskIndex1 => "task.index[1]",
            TaskIndex2 => "task.index[2]",
            TaskCount0 => "task.count[0]",
            TaskCount1 => "task.count[1]",
            TaskCount2 => "task.count[2]",
            ThreadIndex | ThreadCount => return refuse("the number of a thread", expr.span),
        };
        let c_type = self.c_type(expr.ty, expr.span)?;
        Ok(self.temp(&c_type, format!("({c_type}){text}")))
    }

    /// Applies something to each element of the operands; single values among them count for all elements.
    fn elementwise(
        &mut self,
        expr: &'m Expr,
        operands: &[&'m Expr],
        text: impl Fn(Ty, &[String]) -> String,
    ) -> Made<String> {
        let mut values = Vec::new();
        for operand in operands {
            values.push((self.value(operand)?, operand.ty));
        }
        self.each(expr, &values, text)
    }

    /// The same, of values.
    pub fn each(
        &mut self,
        expr: &Expr,
        operands: &[(String, TypeId)],
        text: impl Fn(Ty, &[String]) -> String,
    ) -> Made<String> {
        let c_type = self.c_type(expr.ty, expr.span)?;
        let first = operands.first().and_then(|(_, ty)| layout::elements(self.module, *ty));
        let (Some((ty, n, is_vector)), Some((from, ..))) = (layout::elements(self.module, expr.ty), first) else {
            return refuse("an operation on what is no number", expr.span);
        };
        if !is_vector {
            let values: Vec<String> = operands.iter().map(|(value, _)| value.clone()).collect();
            return Ok(self.temp(&c_type, text(from, &values)));
        }
        let whole = self.temp(&c_type, format!("({c_type}){{{{0}}}}"));
        for i in 0..n {
            let part = |(value, ty): &(String, TypeId)| match layout::elements(self.module, *ty) {
                Some((ty, _, true)) => format!("get_{}(&{value}, {i})", layout::scalar(ty)),
                _ => value.clone(),
            };
            let parts: Vec<String> = operands.iter().map(part).collect();
            self.line(format!("put_{}(&{whole}, {i}, {});", layout::scalar(ty), text(from, &parts)));
        }
        Ok(whole)
    }

    fn cast(&mut self, cast: Cast, operand: &'m Expr, expr: &'m Expr) -> Made<String> {
        let kind = |ty: TypeId| self.module.types.kind(ty);
        let is_pointer = |ty| matches!(kind(ty), TypeKind::Pointer { .. } | TypeKind::Reference(_));
        match cast {
            Cast::Reinterpret if is_pointer(operand.ty) && !is_pointer(expr.ty) => {
                refuse("an address as a number", expr.span)
            }
            Cast::Reinterpret
                if is_pointer(expr.ty) && !is_pointer(operand.ty) && operand.constant_bits() != Some(0) =>
            {
                refuse("a number as an address", expr.span)
            }
            Cast::Reinterpret | Cast::Broadcast => self.value(operand),
            Cast::Convert => {
                let Some((to, ..)) = layout::elements(self.module, expr.ty) else {
                    return refuse("a conversion to what is no number", expr.span);
                };
                self.elementwise(expr, &[operand], |from, a| converted(to, from, &a[0]))
            }
            Cast::Splat => self.elementwise(expr, &[operand], |_, a| a[0].clone()),
        }
    }

    /// The bytes that a pointer steps by.
    fn step_size(&self, pointer: TypeId) -> u64 {
        match *self.module.types.kind(pointer) {
            TypeKind::Pointer { pointee, .. } => layout::size(self.module, pointee).max(1),
            _ => 1,
        }
    }

    /// Does something under a condition.
    pub fn under<T>(&mut self, is_varying: bool, act: impl FnOnce(&mut Self) -> Made<T>) -> Made<T> {
        self.divergence += u32::from(is_varying);
        let made = act(self);
        self.divergence -= u32::from(is_varying);
        made
    }

    fn logical(&mut self, is_or: bool, lhs: &'m Expr, rhs: &'m Expr) -> Made<String> {
        if layout::elements(self.module, lhs.ty).is_none_or(|(.., is_vector)| is_vector) {
            return refuse("`&&` or `||` of short vectors", lhs.span);
        }
        let value = self.value(lhs)?;
        let decided = self.temp("b8", value);
        self.line(format!("if ({}{decided}) {{", if is_or { "!" } else { "" }));
        let value = self.under(self.is_varying(lhs.ty), |this| this.value(rhs))?;
        self.line(format!("{decided} = {value};"));
        self.line("}");
        Ok(decided)
    }

    fn conditional(
        &mut self,
        condition: &'m Expr,
        then: &'m Expr,
        otherwise: &'m Expr,
        expr: &'m Expr,
    ) -> Made<String> {
        if layout::elements(self.module, condition.ty).is_none_or(|(.., is_vector)| is_vector) {
            return self
                .elementwise(expr, &[condition, then, otherwise], |_, a| format!("({} ? {} : {})", a[0], a[1], a[2]));
        }
        let (c_type, is_varying) = (self.c_type(expr.ty, expr.span)?, self.is_varying(condition.ty));
        let condition = self.value(condition)?;
        let is_void = c_type == "void";
        let chosen = format!("t{}", self.number());
        if !is_void {
            self.line(format!("{c_type} {chosen};"));
        }
        for (head, side) in [(format!("if ({condition}) {{"), then), ("} else {".to_owned(), otherwise)] {
            self.line(head);
            let value = self.under(is_varying, |this| this.value(side))?;
            if !is_void {
                self.line(format!("{chosen} = {value};"));
            }
        }
        self.line("}");
        Ok(chosen)
    }

    fn compound(
        &mut self,
        place: &'m spmdvm::frontend::hir::Place,
        op: Op,
        rhs: &'m Expr,
        expr: &'m Expr,
    ) -> Made<String> {
        let ty = place.ty;
        let change = self.change(place, Some(rhs), |this, old, operand| {
            this.combined(op, (ty, old), (rhs.ty, operand.unwrap_or("0")), expr)
        });
        Ok(change?.1)
    }

    /// What a compound assignment writes: the old value with an operand, calculated in the operand's type.
    pub fn combined(&mut self, op: Op, old: (TypeId, &str), operand: (TypeId, &str), expr: &Expr) -> Made<String> {
        let elements = |ty| layout::elements(self.module, ty);
        let (Some((to, ..)), Some((work, ..))) = (elements(old.0), elements(operand.0)) else {
            return refuse("a compound assignment to what is no number", expr.span);
        };
        let operands = [(old.1.to_owned(), old.0), (operand.1.to_owned(), operand.0)];
        self.each(expr, &operands, |from, a| {
            let old = converted(work, from, &a[0]);
            converted(to, work, &named(op, work, &[old, a[1].clone()]))
        })
    }

    fn inc_dec(&mut self, place: &'m spmdvm::frontend::hir::Place, decrement: bool, postfix: bool) -> Made<String> {
        let is_pointer = matches!(self.module.types.kind(place.ty), TypeKind::Pointer { .. });
        let (size, ty, span) = (self.step_size(place.ty), place.ty, place.span);
        let (old, new) = self.change(place, None, |this, old, _| {
            if is_pointer {
                return Ok(this.temp("u64", step(old, "1", size, decrement)));
            }
            let op = if decrement { Op::Sub } else { Op::Add };
            let like = Expr { kind: ExprKind::Zero, ty, span };
            this.each(&like, &[(old.to_owned(), ty)], |ty, a| {
                named(op, ty, &[a[0].clone(), converted(ty, Ty::I32, "1")])
            })
        })?;
        Ok(if postfix { old } else { new })
    }

    fn swizzle(&mut self, operand: &'m Expr, components: &[u8]) -> Made<String> {
        let Some((ty, ..)) = layout::elements(self.module, operand.ty) else {
            return refuse("components of what is no vector", operand.span);
        };
        let (name, value) = (layout::scalar(ty), self.value(operand)?);
        if let [one] = components {
            return Ok(self.temp(name, format!("get_{name}(&{value}, {one})")));
        }
        let size = components.len().next_power_of_two().max(4) as u64 * ty.size() as u64;
        self.unit.block(size);
        let whole = self.temp(&format!("B{size}"), format!("(B{size}){{{{0}}}}"));
        for (i, component) in components.iter().enumerate() {
            self.line(format!("put_{name}(&{whole}, {i}, get_{name}(&{value}, {component}));"));
        }
        Ok(whole)
    }

    fn field_value(&mut self, operand: &'m Expr, field: u32, expr: &'m Expr) -> Made<String> {
        let Some(id) = layout::struct_of(self.module, operand.ty) else {
            return refuse("a member of what is no struct", expr.span);
        };
        let (c_type, offset) = (self.c_type(expr.ty, expr.span)?, layout::offset(self.module, id, field));
        let value = self.value(operand)?;
        let part = format!("t{}", self.number());
        self.line(format!("{c_type} {part}; memcpy(&{part}, (u8 *)&{value} + {offset}, sizeof {part});"));
        Ok(part)
    }

    fn aggregate(&mut self, parts: &'m [Expr], expr: &'m Expr) -> Made<String> {
        let c_type = self.c_type(expr.ty, expr.span)?;
        let whole = self.temp(&c_type, format!("({c_type}){{{{0}}}}"));
        for (i, part) in parts.iter().enumerate() {
            let offset = match *self.module.types.kind(expr.ty) {
                TypeKind::Struct(id, _) => layout::offset(self.module, id, i as u32),
                TypeKind::Array(elem, _) | TypeKind::Vector(elem, _) => layout::size(self.module, elem) * i as u64,
                _ => return refuse("an instance in `soa` memory", expr.span),
            };
            let (part_type, value) = (self.c_type(part.ty, part.span)?, self.value(part)?);
            let value = self.temp(&part_type, value);
            self.line(format!("memcpy((u8 *)&{whole} + {offset}, &{value}, sizeof {value});"));
        }
        Ok(whole)
    }

    fn lanes_value(&mut self, parts: &'m [Expr], expr: &'m Expr) -> Made<String> {
        let c_type = self.c_type(expr.ty, expr.span)?;
        let mut values = Vec::new();
        for part in parts {
            values.push(self.value(part)?);
        }
        let lane = if self.mode == Mode::Lane { "number_of(lane)" } else { self.lane(expr.span)? };
        let all = format!("t{}", self.number());
        self.line(format!("{c_type} {all}[] = {{{}}};", values.join(", ")));
        Ok(self.temp(&c_type, format!("{all}[{lane}]")))
    }

    fn call(&mut self, id: FuncId, args: &'m [Expr], expr: &'m Expr) -> Made<String> {
        if !self.in_lanes {
            return self.gang_call(id, args, expr);
        }
        let name = self.unit.function(id, Mode::Lane, expr.span)?;
        let mut given = vec!["lane".to_owned()];
        for arg in args {
            given.push(self.value(arg)?);
        }
        self.called(&format!("{name}({})", given.join(", ")), expr)
    }

    /// The value of a call.
    pub fn called(&mut self, call: &str, expr: &Expr) -> Made<String> {
        match self.c_type(expr.ty, expr.span)?.as_str() {
            "void" => {
                self.line(format!("{call};"));
                Ok(String::new())
            }
            c_type => Ok(self.temp(c_type, call)),
        }
    }

    fn allocation(
        &mut self,
        elem: TypeId,
        count: Option<&'m Expr>,
        init: Option<&'m Expr>,
        expr: &'m Expr,
    ) -> Made<String> {
        self.c_type(elem, expr.span)?;
        if self.is_varying(elem) {
            return refuse("memory of `new` for varying values", expr.span);
        }
        if self.in_lanes && !self.is_serial && self.module.types.shape(expr.ty) == Shape::Uniform {
            return refuse("memory of `new` that lanes share", expr.span);
        }
        let size = layout::size(self.module, elem);
        let n = count.map(|count| self.value(count)).transpose()?.unwrap_or_else(|| "1".to_owned());
        let init = init.map(|init| Ok((self.value(init)?, self.c_type(init.ty, init.span)?))).transpose()?;
        // A negative count is none.
        let n = self.temp("u64", format!("(i64){n} < 0 ? 0 : (u64){n}"));
        let at = self.temp("u64", format!("allocate({n}, {size})"));
        if let Some((value, c_type)) = init {
            let value = self.temp(&c_type, value);
            self.line(format!("for (u64 i = 0; i < {n}; i++) memcpy((u8 *){at} + i * {size}, &{value}, {size});"));
        }
        Ok(at)
    }
}

/// An operand without conversions that change no bits.
pub fn as_held(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Cast(Cast::Reinterpret, operand) => as_held(operand),
        _ => expr,
    }
}

/// An operation of the table, by its name in C.
pub fn named(op: Op, ty: Ty, operands: &[String]) -> String {
    format!("{}_{}({})", op.info().name, layout::scalar(ty), operands.join(", "))
}

/// A conversion between element types.
pub fn converted(to: Ty, from: Ty, value: &str) -> String {
    let wide = match from {
        Ty::F16 => format!("f64_of_f16({value})"),
        _ => value.to_owned(),
    };
    let name = layout::scalar(to);
    match to {
        _ if to == from => value.to_owned(),
        Ty::Bool => format!("(b8)({wide} != 0)"),
        Ty::F16 => format!("f16_of_f64((f64){value})"),
        _ if to.is_int() && from.is_float() => format!("sat_{name}((f64){wide})"),
        _ => format!("({name}){wide}"),
    }
}

/// An address further on, or back.
fn step(pointer: &str, index: &str, size: u64, subtract: bool) -> String {
    format!("{pointer} {} (u64)(i64){index} * {size}", if subtract { "-" } else { "+" })
}
