//! Integer expressions. Where overflow is to be avoided, signed sums and products that might overflow are calculated unsigned.

use super::Feature;
use super::scope::Sharing;
use super::types::{Range, bits, greatest, least, name, unsigned};
use super::writer::{Expr, Writer};
use spmdvm::Ty;

impl Writer {
    /// An integer expression.
    pub fn int(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        if depth == 0 {
            return self.int_leaf(ty, varying);
        }
        match self.rng.draw(22) {
            0..=6 => self.sum(ty, varying, depth),
            7..=9 => self.bitwise(ty, varying, depth),
            10 | 11 => self.shift(ty, varying, depth),
            12 | 13 => self.quotient(ty, varying, depth),
            14 => self.int_choice(ty, varying, depth),
            15 => self.int_function(ty, varying, depth),
            16 | 17 => self.converted(ty, varying, depth),
            18 => self.load(ty, varying).unwrap_or_else(|| self.int_leaf(ty, varying)),
            19 => self.call(ty, varying, depth).unwrap_or_else(|| self.sum(ty, varying, depth)),
            20 => self.of_gang(ty, varying, depth).unwrap_or_else(|| self.sum(ty, varying, depth)),
            _ => self.negated(ty, varying, depth),
        }
    }

    fn int_leaf(&mut self, ty: Ty, varying: bool) -> Expr {
        let choice = self.rng.draw(10);
        if choice >= 3
            && let Some(v) = self.variable(|v| v.ty == ty && (varying || !v.varying))
        {
            return Expr { text: v.text, ty, varying: v.varying, range: v.range };
        }
        if choice == 2
            && varying
            && let Some(own) = self.place.own.clone()
        {
            return self.cast_index(&own, ty);
        }
        if choice == 1
            && let Some(e) = self.enumerator(ty)
        {
            return e;
        }
        if choice >= 3
            && let Some(v) = self.variable(|v| v.ty.is_int() && (varying || !v.varying))
        {
            let from = Expr { text: v.text, ty: v.ty, varying: v.varying, range: v.range };
            return self.cast(from, ty);
        }
        let value = self.number(ty);
        self.constant(ty, value)
    }

    fn enumerator(&mut self, ty: Ty) -> Option<Expr> {
        if self.enums.is_empty() {
            return None;
        }
        let enums = self.enums.clone();
        let names = self.rng.pick(&enums);
        let text = format!("({})((int){})", name(ty), self.rng.pick(&names));
        Some(Expr { text, ty, varying: false, range: Range::Int(0, 127) })
    }

    /// The lane's number.
    pub fn lane_number(&mut self, ty: Ty) -> Expr {
        self.cast_index("programIndex", ty)
    }

    fn cast_index(&mut self, own: &str, ty: Ty) -> Expr {
        let text = if ty == Ty::I32 { own.to_owned() } else { format!("({}){own}", name(ty)) };
        Expr { text, ty, varying: true, range: Range::Int(0, 63) }
    }

    /// A number that a type has: often a small one, sometimes at the edge.
    fn number(&mut self, ty: Ty) -> i128 {
        let low = least(ty);
        let small = self.rng.draw(20) as i128 - if low < 0 { 6 } else { 0 };
        match self.rng.draw(12) {
            0 => greatest(ty),
            1 => low,
            2 => 1 << self.rng.draw(u64::from(bits(ty)) - 1),
            3 => greatest(ty) - self.rng.draw(3) as i128,
            4 => (self.rng.bits() as i128 & (greatest(ty) >> 1)) + i128::from(low < 0) * -3,
            _ => small,
        }
    }

    /// A sum, difference or product.
    fn sum(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let (a, b) = (self.int(ty, varying, depth - 1), self.int(ty, varying, depth - 1));
        let op = self.rng.pick(&["+", "+", "-", "*"]);
        self.arithmetic(op, a, b)
    }

    /// A sum, difference or product of two expressions of one type.
    pub fn arithmetic(&mut self, op: &str, a: Expr, b: Expr) -> Expr {
        let (ty, varying) = (a.ty, a.varying || b.varying);
        let ((al, ah), (bl, bh)) = (a.range.bounds(), b.range.bounds());
        let (low, high) = match op {
            "+" => (al + bl, ah + bh),
            "-" => (al - bh, ah - bl),
            _ => {
                let products = [al, ah].map(|x| [bl, bh].map(|y| x.saturating_mul(y)));
                let all = products.as_flattened();
                (all.iter().copied().min().unwrap_or(0), all.iter().copied().max().unwrap_or(0))
            }
        };
        let plain = format!("({} {op} {})", a.text, b.text);
        if low >= least(ty) && high <= greatest(ty) {
            return Expr { text: plain, ty, varying, range: Range::Int(low, high) };
        }
        let range = Range::of(ty, true);
        if !ty.is_signed() || self.open() {
            return Expr { text: plain, ty, varying, range };
        }
        let u = name(unsigned(ty));
        Expr { text: format!("({})(({u}){} {op} ({u}){})", name(ty), a.text, b.text), ty, varying, range }.wrapped()
    }

    fn negated(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let a = self.int(ty, varying, depth - 1);
        let (low, high) = a.range.bounds();
        if self.rng.one_in(2) {
            let range = if ty.is_signed() { Range::Int(-high - 1, -low - 1) } else { Range::of(ty, true) };
            return Expr { text: format!("(~{})", a.text), range, ..a };
        }
        let zero = self.constant(ty, 0);
        match ty.is_signed() && low > least(ty) {
            true => Expr { text: format!("(-{})", a.text), range: Range::Int(-high, -low), ..a },
            false => self.arithmetic("-", zero, a),
        }
    }

    fn bitwise(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let (a, b) = (self.int(ty, varying, depth - 1), self.int(ty, varying, depth - 1));
        let op = self.rng.pick(&["&", "|", "^"]);
        let range = match (op, a.range.bounds(), b.range.bounds()) {
            ("&", (0.., high), (0.., other)) => Range::Int(0, high.min(other)),
            ("&", (0.., high), _) | ("&", _, (0.., high)) => Range::Int(0, high),
            (_, (0.., high), (0.., other)) => {
                Range::Int(0, (high.max(other) as u128 + 1).next_power_of_two() as i128 - 1)
            }
            _ => Range::of(ty, true),
        };
        Expr { text: format!("({} {op} {})", a.text, b.text), ty, varying: a.varying || b.varying, range }
    }

    /// An expression and-ed with a constant: from 0 to the constant.
    pub fn below(&mut self, e: Expr, mask: i128) -> Expr {
        let (low, high) = e.range.bounds();
        if low >= 0 && high <= mask {
            return e;
        }
        let mask_text = self.constant(e.ty, mask).text;
        Expr { text: format!("({} & {mask_text})", e.text), range: Range::Int(0, mask), ..e }
    }

    fn shift(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let (a, count) = (self.int(ty, varying, depth - 1), self.int(ty, varying, 0));
        let wild = self.open() && self.rng.one_in(3);
        let count = if wild { count } else { self.below(count, i128::from(bits(ty)) - 1) };
        let varying = a.varying || count.varying;
        let full = Range::of(ty, true);
        if self.rng.one_in(2) {
            let range = if a.range.bounds().0 >= 0 { Range::Int(0, a.range.bounds().1) } else { full };
            return Expr { text: format!("({} >> {})", a.text, count.text), ty, varying, range };
        }
        if !ty.is_signed() || self.open() {
            return Expr { text: format!("({} << {})", a.text, count.text), ty, varying, range: full };
        }
        let u = name(unsigned(ty));
        let text = format!("({})(({u}){} << ({u}){})", name(ty), a.text, count.text);
        Expr { text, ty, varying, range: full }.wrapped()
    }

    /// A quotient or remainder. The divisor is not zero, nor −1.
    fn quotient(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let (a, b) = (self.int(ty, varying, depth - 1), self.int(ty, varying, 0));
        let op = self.rng.pick(&["/", "%"]);
        let wild = self.has(Feature::Traps) && self.rng.one_in(12);
        let divisor = match self.rng.draw(3) {
            _ if wild => self.below(b, 7),
            0 => {
                let divisor = 1 + self.rng.draw(12) as i128;
                self.constant(ty, divisor)
            }
            1 if !ty.is_signed() || self.open() => {
                Expr { text: format!("({} | {})", b.text, self.constant(ty, 1).text), ..b }
            }
            _ => {
                let (b, one) = (self.below(b, 15), self.constant(ty, 1));
                self.arithmetic("+", b, one)
            }
        };
        let (low, high) = a.range.bounds();
        let range = match op {
            _ if low >= 0 && !wild => Range::Int(0, high),
            _ => Range::of(ty, true),
        };
        Expr { text: format!("({} {op} {})", a.text, divisor.text), ty, varying: a.varying || divisor.varying, range }
    }

    fn int_choice(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let (a, b) = self.in_arm(|w| (w.int(ty, varying, depth - 1), w.int(ty, varying, depth - 1)));
        self.choice(varying, a, b)
    }

    /// One or the other of two expressions of one type.
    pub fn choice(&mut self, varying: bool, a: Expr, b: Expr) -> Expr {
        let (condition, parts) = self.condition(varying, 0);
        let range = union(a.range, b.range);
        let text = match self.rng.one_in(4) {
            true if parts && a.varying && b.varying => format!("select({condition}, {}, {})", a.text, b.text),
            _ => format!("({condition} ? {} : {})", a.text, b.text),
        };
        Expr { text, ty: a.ty, varying: parts || a.varying || b.varying, range }
    }

    fn int_function(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let a = self.int(ty, varying, depth - 1);
        let at_least = |low: i128| a.range.bounds().0 > low;
        match self.rng.draw(4) {
            0 if bits(ty) >= 32 => {
                let signed = if bits(ty) == 32 { "int" } else { "int64" };
                let text = format!("popcnt(({signed}){})", a.text);
                let count = Expr { text, ty: Ty::I32, varying: a.varying, range: Range::Int(0, bits(ty).into()) };
                self.cast(count, ty)
            }
            1 if bits(ty) >= 32 => {
                let function = self.rng.pick(&["count_leading_zeros", "count_trailing_zeros"]);
                let text = format!("(({}){function}({} | {}))", name(ty), a.text, self.constant(ty, 1).text);
                Expr { text, ty, varying: a.varying, range: Range::Int(0, bits(ty).into()) }
            }
            2 if ty.is_signed() && bits(ty) >= 32 && at_least(least(ty)) => {
                let high = a.range.magnitude().min(greatest(ty) as f64) as i128;
                Expr { text: format!("abs({})", a.text), range: Range::Int(0, high.min(greatest(ty))), ..a }
            }
            _ => {
                let b = self.int(ty, varying, 0);
                let (function, range) = (self.rng.pick(&["min", "max"]), union(a.range, b.range));
                let text = format!("{function}({}, {})", a.text, b.text);
                Expr { text, ty, varying: a.varying || b.varying, range }
            }
        }
    }

    /// A conversion from another type.
    fn converted(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let from = self.any_type();
        if from.is_float() {
            let value = self.float(from, varying, depth - 1);
            return self.truncated(value, ty);
        }
        if self.rng.one_in(6) {
            let (condition, parts) = self.condition(varying, 0);
            return Expr { text: format!("(({}){condition})", name(ty)), ty, varying: parts, range: Range::Int(0, 1) };
        }
        let value = self.int(from, varying, depth - 1);
        self.cast(value, ty)
    }

    /// An integer as one of another type: what does not fit wraps.
    pub fn cast(&mut self, e: Expr, ty: Ty) -> Expr {
        if e.ty == ty {
            return e;
        }
        let (low, high) = e.range.bounds();
        let range = if low >= least(ty) && high <= greatest(ty) { e.range } else { Range::of(ty, true) };
        Expr { text: format!("(({}){})", name(ty), e.text), ty, varying: e.varying, range }
    }

    /// A float as an integer, brought into its range before unless any conversion will do.
    fn truncated(&mut self, e: Expr, ty: Ty) -> Expr {
        let target = name(ty);
        let (greatest, least) = (greatest(ty), least(ty));
        let fits = e.range.magnitude() < greatest as f64 * 0.99 && (least < 0 || e.range.magnitude() < 1.0);
        let range =
            if fits { Range::Int(e.range.bounds().0.max(least), e.range.bounds().1) } else { Range::of(ty, true) };
        if fits || self.open() {
            return Expr { text: format!("(({target}){})", e.text), ty, varying: e.varying, range };
        }
        let high = (greatest.min(1000)).min(if ty == Ty::I8 { 100 } else { 1000 });
        let low = if least < 0 { -high } else { 0 };
        let (low_text, high_text) =
            (super::types::float_literal(e.ty, low as f64), super::types::float_literal(e.ty, high as f64));
        let text = format!("(({target})clamp({}, {low_text}, {high_text}))", e.text);
        Expr { text, ty, varying: e.varying, range: Range::Int(low, high) }
    }

    /// An element of an array, a member of a struct in one.
    pub fn load(&mut self, ty: Ty, varying: bool) -> Option<Expr> {
        let array =
            self.array(|a| a.ty == ty && a.sharing != Sharing::Counter && (varying || a.sharing != Sharing::PerLane))?;
        let (index, parts) = self.read_index(&array, varying)?;
        let text = format!("{}[{index}]{}", array.name, array.member);
        Some(Expr { text, ty, varying: parts || array.sharing == Sharing::PerLane, range: self.range_of(ty) })
    }

    /// A call of a function without effects.
    pub fn call(&mut self, ty: Ty, varying: bool, depth: u32) -> Option<Expr> {
        let fitting: Vec<usize> = (0..self.functions.len())
            .filter(|&at| {
                let f = &self.functions[at];
                f.ty == ty && (varying || !f.varying && !f.crev) && self.affords(f.cost)
            })
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let at = self.rng.pick(&fitting);
        let function = self.functions[at].clone();
        self.spend(function.cost);
        let mut parts = function.varying || function.crev;
        let mut arguments = Vec::new();
        for param in &function.params {
            let argument = self.value(param.ty, param.varying && varying || function.crev, depth - 1);
            parts |= argument.varying;
            arguments.push(argument.text);
        }
        let crev = if function.crev { "crev " } else { "" };
        let text = format!("({crev}{}({}))", function.name, arguments.join(", "));
        Some(Expr { text, ty, varying: parts, range: function.range })
    }
}

impl Expr {
    /// In parentheses.
    fn wrapped(self) -> Expr {
        Expr { text: format!("({})", self.text), ..self }
    }
}

/// What is in one of two ranges.
pub(super) fn union(a: Range, b: Range) -> Range {
    match (a, b) {
        (Range::Float(x), Range::Float(y)) => Range::Float(x.max(y)),
        (a, b) => Range::Int(a.bounds().0.min(b.bounds().0), a.bounds().1.max(b.bounds().1)),
    }
}
