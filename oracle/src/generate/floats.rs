//! Float expressions: operations whose result IEEE 754 prescribes. Unless anything goes, magnitudes stay so small that
//! nothing overflows, so there are no infinities and NaNs.

use super::Feature;
use super::types::{Range, ceiling, float_literal, limit, name};
use super::writer::{Expr, Writer};
use spmdvm::Ty;

impl Writer {
    /// A float expression.
    pub fn float(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        if depth == 0 {
            return self.float_leaf(ty, varying);
        }
        let e = match self.rng.draw(18) {
            0..=6 => self.float_arithmetic(ty, varying, depth),
            7 => self.float_quotient(ty, varying, depth),
            8 | 9 => self.float_function(ty, varying, depth),
            10 => self.extreme(ty, varying, depth),
            11 => {
                let (a, b) = self.in_arm(|w| (w.float(ty, varying, depth - 1), w.float(ty, varying, 0)));
                self.choice(varying, a, b)
            }
            12 => self.converted_int(ty, varying, depth),
            13 => self.converted_float(ty, varying, depth),
            14 => self.load(ty, varying).unwrap_or_else(|| self.float_leaf(ty, varying)),
            15 => self.call(ty, varying, depth).unwrap_or_else(|| self.float_arithmetic(ty, varying, depth)),
            16 => self.of_gang(ty, varying, depth).unwrap_or_else(|| self.float_arithmetic(ty, varying, depth)),
            _ if self.has(Feature::Math) => self.transcendental(ty, varying, depth),
            _ => self.float_function(ty, varying, depth),
        };
        if e.range.magnitude() > ceiling(ty) { self.tamed(e) } else { e }
    }

    fn float_leaf(&mut self, ty: Ty, varying: bool) -> Expr {
        if self.open()
            && self.rng.one_in(4)
            && let Some(e) = self.unusual_float(ty, varying)
        {
            return e;
        }
        if self.rng.draw(5) > 0
            && let Some(v) = self.variable(|v| v.ty == ty && (varying || !v.varying))
        {
            return Expr { text: v.text, ty, varying: v.varying, range: v.range };
        }
        if self.rng.one_in(2)
            && let Some(v) = self.variable(|v| v.ty.is_int() && (varying || !v.varying))
        {
            let from = Expr { text: v.text, ty: v.ty, varying: v.varying, range: v.range };
            return self.of_integer(from, ty);
        }
        let value = self.rng.pick(&[0.0, 0.5, 1.0, -1.0, 2.5, 0.75, -3.25, 10.0, 100.0, 0.1, 1.5, 7.0]);
        Expr { text: float_literal(ty, value), ty, varying: false, range: Range::Float(f64::abs(value)) }
    }

    /// A float that operations treat in a way of their own, or an element, which may be one.
    fn unusual_float(&mut self, ty: Ty, varying: bool) -> Option<Expr> {
        if self.rng.one_in(2) {
            return self.load(ty, varying);
        }
        let negative_zero = format!("(-{})", float_literal(ty, 0.0));
        let not_a_number = format!("({0} / {0})", float_literal(ty, 0.0));
        let text = self.rng.pick(&[negative_zero, float_literal(ty, 0.0), not_a_number]);
        Some(Expr { text, ty, varying: false, range: Range::Float(f64::INFINITY) })
    }

    /// A float that variables may hold: itself if it is small, else something small.
    pub fn tamed(&mut self, e: Expr) -> Expr {
        if self.open() || e.range.magnitude() <= limit(e.ty) {
            return e;
        }
        self.tamers.insert((e.ty as u8, e.varying));
        Expr { text: format!("tame({})", e.text), range: Range::Float(limit(e.ty)), ..e }
    }

    /// The functions that keep floats small.
    pub fn tamer(ty: Ty, varying: bool) -> String {
        let (shape, ty_name) = (if varying { "" } else { "uniform " }, name(ty));
        let (low, high) = (float_literal(ty, -limit(ty)), float_literal(ty, limit(ty)));
        let other = float_literal(ty, 1.5);
        format!(
            "static inline {shape}{ty_name} tame({shape}{ty_name} x) {{ return x > {low} && x < {high} ? x : {other}; }}\n"
        )
    }

    fn float_arithmetic(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let (a, b) = (self.float(ty, varying, depth - 1), self.float(ty, varying, depth - 1));
        let op = self.rng.pick(&["+", "-", "*"]);
        self.float_operation(op, a, b)
    }

    /// A sum, difference or product of two floats of one type.
    pub fn float_operation(&mut self, op: &str, a: Expr, b: Expr) -> Expr {
        let (x, y) = (a.range.magnitude(), b.range.magnitude());
        let most = match op {
            "*" => x * y,
            _ => x + y,
        };
        let range = Range::Float(if most.is_nan() { f64::INFINITY } else { most * 1.001 });
        Expr { text: format!("({} {op} {})", a.text, b.text), varying: a.varying || b.varying, range, ty: a.ty }
    }

    /// A quotient whose divisor is at least one.
    fn float_quotient(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let (a, b) = (self.float(ty, varying, depth - 1), self.float(ty, varying, 0));
        let varying = a.varying || b.varying;
        if self.open() {
            return Expr {
                text: format!("({} / {})", a.text, b.text),
                varying,
                ty,
                range: Range::Float(f64::INFINITY),
            };
        }
        let divisor = format!("(abs({}) + {})", b.text, float_literal(ty, 1.0));
        Expr { text: format!("({} / {divisor})", a.text), varying, ..a }
    }

    fn float_function(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let a = self.float(ty, varying, depth - 1);
        let most = a.range.magnitude();
        match self.rng.draw(5 + self.open() as u64) {
            0 => {
                let text = if self.open() { format!("sqrt({})", a.text) } else { format!("sqrt(abs({}))", a.text) };
                Expr { text, range: Range::Float(most.max(1.0)), ..a }
            }
            1 => Expr { text: format!("floor({})", a.text), range: Range::Float(most + 1.0), ..a },
            2 => Expr { text: format!("ceil({})", a.text), range: Range::Float(most + 1.0), ..a },
            3 => Expr { text: format!("abs({})", a.text), ..a },
            5 => Expr { text: format!("round({})", a.text), range: Range::Float(most + 1.0), ..a },
            _ => Expr { text: format!("(-{})", a.text), ..a },
        }
    }

    /// A minimum or maximum, in which no zero is negative.
    fn extreme(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let (a, b) = (self.float(ty, varying, depth - 1), self.float(ty, varying, 0));
        let (function, zero) = (self.rng.pick(&["min", "max"]), float_literal(ty, 0.0));
        let range = Range::Float(a.range.magnitude().max(b.range.magnitude()));
        let text = match self.open() {
            true => format!("{function}({}, {})", a.text, b.text),
            false => format!("{function}({} + {zero}, {} + {zero})", a.text, b.text),
        };
        Expr { text, ty, varying: a.varying || b.varying, range }
    }

    fn converted_int(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let from = self.any_int();
        let value = self.int(from, varying, depth - 1);
        self.of_integer(value, ty)
    }

    pub fn of_integer(&mut self, value: Expr, ty: Ty) -> Expr {
        // A `float16` is made of what it represents exactly: otherwise some machines round twice.
        let value = if ty == Ty::F16 && !self.open() { self.below(value, 127) } else { value };
        let range = Range::Float(value.range.magnitude() * 1.001);
        Expr { text: format!("(({}){})", name(ty), value.text), ty, varying: value.varying, range }
    }

    fn converted_float(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let types = self.float_types();
        let from = self.rng.pick(&types);
        let value = self.float(from, varying, depth - 1);
        let (from, open) = (value.ty, self.open());
        let text = match (from, ty) {
            _ if from == ty => return value,
            _ if open => format!("(({}){})", name(ty), value.text),
            // Rounding a double in two steps gives other bits.
            (Ty::F64, Ty::F16) => return self.float_leaf(ty, varying),
            (_, Ty::F16) => {
                let text = format!("((float16)clamp({}, -1000.0f, 1000.0f))", value.text);
                return Expr { text, ty, varying: value.varying, range: Range::Float(limit(ty)) };
            }
            (Ty::F64, _) => {
                let value = self.tamed(value);
                return Expr { text: format!("((float){})", value.text), ty, ..value };
            }
            _ => format!("(({}){})", name(ty), value.text),
        };
        Expr { text, ty, ..value }
    }

    fn transcendental(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let a = self.float(ty, varying, depth - 1);
        let open = Range::Float(f64::INFINITY);
        if ty == Ty::F16 {
            return a;
        }
        if self.open() {
            let function = self.rng.pick(&["sin", "cos", "tan", "exp", "log", "atan", "asin"]);
            return Expr { text: format!("{function}({})", a.text), range: open, ..a };
        }
        let (one, ten) = (float_literal(ty, 1.0), float_literal(ty, 10.0));
        let (text, most) = match self.rng.draw(4) {
            0 => (format!("sin({})", a.text), 1.01),
            1 => (format!("cos({})", a.text), 1.01),
            2 => (format!("exp(min({}, {ten}))", a.text), 1e5),
            _ => (format!("log(abs({}) + {one})", a.text), 1e3),
        };
        Expr { text, range: Range::Float(most), ..a }
    }
}
