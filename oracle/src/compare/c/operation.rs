//! Operations of the table that the library asks for by name, those that look at all lanes included.

use super::body::Body;
use super::expr::{as_held, converted, named};
use super::layout;
use super::unit::{Made, refuse};
use spmdvm::Ty;
use spmdvm::frontend::hir::Expr;
use spmdvm::vm::Op;
use spmdvm::vm::isa::Form;

impl<'m> Body<'_, 'm> {
    /// An operation of one lane, or of the gang with one result.
    pub fn operation(&mut self, op: Op, ty: Ty, from: Ty, args: &'m [Expr], expr: &'m Expr) -> Made<String> {
        if self.in_lanes && looks_around(op) {
            return refuse(format!("lanes see each other (`{}`)", op.info().name), expr.span);
        }
        if !self.in_lanes && (looks_around(op) || args.iter().any(|arg| self.is_varying(arg.ty))) {
            return self.of_all_lanes(op, ty, args, expr);
        }
        let mut values = Vec::new();
        for (i, arg) in args.iter().enumerate() {
            // Where memory is, is an address, though it is handed over as a number.
            let is_address = op.info().name.starts_with("atomic.") && i == 0
                || matches!((op, i), (Op::MemCopy, 0 | 1) | (Op::MemSet, 0));
            let arg = if is_address { as_held(arg) } else { arg };
            let (c_type, value) = (self.c_type(arg.ty, arg.span)?, self.value(arg)?);
            values.push(self.temp(&c_type, value));
        }
        self.of_values(op, ty, from, &values, expr)
    }

    /// An operation on values of one lane.
    pub fn of_values(&mut self, op: Op, ty: Ty, from: Ty, a: &[String], expr: &Expr) -> Made<String> {
        let c_type = self.c_type(expr.ty, expr.span)?;
        let text = match op {
            _ if !matches!(op.info().form, Form::Special | Form::Reduce) => named(op, ty, a),
            Op::Mov => a[0].clone(),
            Op::Select => format!("{} ? {} : {}", a[0], a[1], a[2]),
            Op::Convert => converted(ty, from, &a[0]),
            Op::Bitcast => format!("{}_of_word(word_of_{}({}))", layout::scalar(ty), layout::scalar(from), a[0]),
            Op::Iota if self.in_lanes => "number_of(lane)".to_owned(),
            Op::PAdd => format!("{} + (u64){}", a[0], a[1]),
            Op::MemCopy | Op::MemSet => return self.of_memory(op, a, expr),
            Op::Fence => return Ok(String::new()),
            _ if op.info().name.starts_with("atomic.") => return self.atomic(op, ty, a, expr),
            _ => return refuse(format!("the operation `{}`", op.info().name), expr.span),
        };
        Ok(self.temp(&c_type, text))
    }

    fn of_memory(&mut self, op: Op, a: &[String], expr: &Expr) -> Made<String> {
        let (line, set) = (self.unit.line(expr.span), op == Op::MemSet);
        let name = if set { "set_bytes" } else { "copy_bytes" };
        self.line(format!("{name}({}, {}, {}, {}, {line});", a[0], a[1], a[2], self.in_lanes));
        Ok(String::new())
    }

    fn atomic(&mut self, op: Op, ty: Ty, a: &[String], expr: &Expr) -> Made<String> {
        let (c_type, line) = (layout::scalar(ty), self.unit.line(expr.span));
        // Sums wrap, so that they come out the same in any order; the others have one outcome too.
        let kind = match op {
            Op::AtomicAdd | Op::AtomicSub if ty.is_int() => 1,
            Op::AtomicAnd => 2,
            Op::AtomicOr => 3,
            Op::AtomicXor => 4,
            Op::AtomicMin if ty.is_int() => 5,
            Op::AtomicMax if ty.is_int() => 6,
            _ => 0,
        };
        if self.in_lanes {
            self.line(format!("before_atomic((void *){}, sizeof({c_type}), {kind}, {line});", a[0]));
        }
        let old = format!("t{}", self.number());
        self.line(format!("{c_type} {old}; memcpy(&{old}, (void *){}, sizeof {old});", a[0]));
        let new = match op {
            Op::AtomicSwap => a[1].clone(),
            Op::AtomicCas => format!("word_of_{c_type}({old}) == word_of_{c_type}({}) ? {} : {old}", a[1], a[2]),
            _ => format!("{}_{c_type}({old}, {})", op.info().name.trim_start_matches("atomic."), a[1]),
        };
        let new = self.temp(c_type, new);
        self.line(format!("memcpy((void *){}, &{new}, sizeof {new});", a[0]));
        let result = self.c_type(expr.ty, expr.span)?;
        Ok(if result == "void" { String::new() } else { self.temp(&result, old) })
    }

    /// An operation with varying operands, or on the mask, with one result: all lanes are on.
    fn of_all_lanes(&mut self, op: Op, ty: Ty, args: &'m [Expr], expr: &'m Expr) -> Made<String> {
        let lanes = self.unit.lanes();
        let mut a = Vec::new();
        for arg in args {
            a.push(self.lane_wise(arg)?);
        }
        let c_type = self.c_type(expr.ty, expr.span)?;
        let each = format!("for (int lane = 0; lane < {lanes}; lane++)");
        match op {
            _ if op.info().form == Form::Reduce => {
                let (element, step) = (layout::scalar(ty), op.info().name.trim_start_matches("reduce."));
                let tree = self.lanes_temp(element);
                self.line(format!("{each} {tree}[lane] = {};", a[0]));
                self.line(format!("for (int half = {lanes} / 2; half > 0; half /= 2) for (int i = 0; i < half; i++)"));
                self.line(format!("    {tree}[i] = {step}_{element}({tree}[i], {tree}[i + half]);"));
                Ok(self.temp(&c_type, format!("{tree}[0]")))
            }
            Op::Any | Op::All | Op::PackMask => {
                let (start, step) = match op {
                    Op::Any => ("0", "|= "),
                    Op::All => ("1", "&= 0 != "),
                    _ => ("0", "|= (u64)1 << lane & 0 - (u64)"),
                };
                let found = self.temp(&c_type, start);
                self.line(format!("{each} {found} {step}{};", a[0]));
                Ok(found)
            }
            Op::MaskBits => Ok(self.temp(&c_type, format!("~(u64)0 >> {}", 64 - lanes))),
            Op::Extract if !self.is_varying(args[1].ty) => {
                let from = self.lanes_temp(layout::scalar(ty));
                self.line(format!("{each} {from}[lane] = {};", a[0]));
                Ok(self.temp(&c_type, format!("{from}[(u32){} % {lanes}]", a[1])))
            }
            _ => refuse(format!("the operation `{}`", op.info().name), expr.span),
        }
    }

    /// An operation with a varying result, in gang code: what names it in a loop over lanes.
    pub fn varying_operation(&mut self, op: Op, ty: Ty, from: Ty, args: &'m [Expr], expr: &'m Expr) -> Made<String> {
        let mut a = Vec::new();
        for arg in args {
            a.push(self.lane_wise(arg)?);
        }
        let (c_type, lanes) = (self.c_type(expr.ty, expr.span)?, self.unit.lanes());
        let result = self.lanes_temp(&c_type);
        let each = format!("for (int lane = 0; lane < {lanes}; lane++)");
        match op {
            Op::Shuffle | Op::Extract => {
                let values = self.lanes_temp(&c_type);
                self.line(format!("{each} {values}[lane] = {};", a[0]));
                self.line(format!("{each} {result}[lane] = {values}[(u32){} % {lanes}];", a[1]));
            }
            Op::Insert => {
                self.line(format!("{each} {result}[lane] = lane == (u32){} % {lanes} ? {} : {};", a[1], a[2], a[0]));
            }
            Op::MaskGet => self.line(format!("{each} {result}[lane] = 1;")),
            _ if looks_around(op) => return refuse(format!("the operation `{}`", op.info().name), expr.span),
            _ => {
                self.in_each_lane(|this| {
                    let value = this.of_values(op, ty, from, &a, expr)?;
                    this.line(format!("{result}[lane] = {value};"));
                    Ok(())
                })?;
            }
        }
        Ok(result)
    }
}

/// Whether an operation looks at lanes other than its own, or at the mask.
fn looks_around(op: Op) -> bool {
    use Op::*;
    op.info().form == Form::Reduce
        || matches!(op, Shuffle | Extract | Insert | MaskGet | MaskBits | PackMask | Any | All)
}
