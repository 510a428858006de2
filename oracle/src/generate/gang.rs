//! What looks at other lanes. Lanes' values are read only where all lanes are active; reductions look at active lanes.

use super::Feature;
use super::scope::{Mask, Sharing};
use super::types::{Range, name};
use super::writer::{Expr, Writer, as_varying_bool};
use spmdvm::Ty;

impl Writer {
    /// An expression that looks at other lanes.
    pub fn of_gang(&mut self, ty: Ty, varying: bool, depth: u32) -> Option<Expr> {
        if !self.sees_gang() || self.arms > 0 {
            return None;
        }
        let all = self.place.mask == Mask::Full || self.open();
        match self.rng.draw(2) {
            0 if self.has(Feature::Lanes) && all => Some(self.of_lane(ty, varying, depth)),
            _ if self.has(Feature::Reductions) && ty.is_int() => self.reduction(ty, varying, depth),
            _ => None,
        }
    }

    /// A varying expression.
    fn lanes_of(&mut self, ty: Ty, depth: u32) -> String {
        let e = if self.has(Feature::Lanes) && self.rng.one_in(6) {
            self.of_lane_number(ty)
        } else {
            self.expr(ty, true, depth.min(1))
        };
        if e.varying { e.text } else { format!("((varying {}){})", name(ty), e.text) }
    }

    /// What follows from the lane's number and a value of the gang: compilers know it without having it in a register.
    fn of_lane_number(&mut self, ty: Ty) -> Expr {
        let number = self.lane_number(if ty.is_float() { Ty::I32 } else { ty });
        let op = self.rng.pick(&["+", "-", "*", "*"]);
        if ty.is_float() {
            let (number, other) = (self.of_integer(number, ty), self.float(ty, false, 0));
            return self.float_operation(op, number, other);
        }
        let other = self.int(ty, false, 0);
        match self.rng.draw(6) {
            0 => number,
            1 => self.arithmetic("-", other, number),
            _ => self.arithmetic(op, number, other),
        }
    }

    /// Values of other lanes.
    fn of_lane(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let e = if self.rng.one_in(3) { self.of_lane_number(ty) } else { self.expr(ty, true, depth - 1) };
        let (range, x) = (e.range, if e.varying { e.text } else { format!("((varying {}){})", name(ty), e.text) });
        let lane = self.rng.draw(64);
        if !varying {
            // A number of a lane is below the width, which is at least one.
            let text = format!("extract({x}, {lane} % programCount)");
            return Expr { text, ty, varying: false, range };
        }
        let text = match self.rng.draw(5) {
            0 => format!("rotate({x}, {})", self.rng.draw(9) as i64 - 4),
            1 => format!("broadcast({x}, {lane} % programCount)"),
            2 => {
                let place = self.int(Ty::I32, true, 0);
                let place = self.below(place, 63);
                format!("shuffle({x}, (varying int)({} & (programCount - 1)))", place.text)
            }
            3 => {
                let value = self.value(ty, false, 0);
                format!("insert({x}, {lane} % programCount, {})", value.text)
            }
            _ => format!("shift({x}, {})", self.rng.draw(5) as i64 - 2),
        };
        let value = self.range_of(ty);
        Expr { text, ty, varying: true, range: super::integers::union(range, value) }
    }

    /// A reduction, a vote or a scan of integers: their order does not matter.
    fn reduction(&mut self, ty: Ty, varying: bool, depth: u32) -> Option<Expr> {
        let full = Range::of(ty, true);
        let whole = matches!(ty, Ty::U32 | Ty::U64) || self.open() && matches!(ty, Ty::I32 | Ty::I64);
        let uniform = |text: String, range: Range| Some(Expr { text, ty, varying: false, range });
        match self.rng.draw(5) {
            0 => {
                let x = self.condition(true, 0);
                let text = format!("(({})popcnt({}))", name(ty), as_varying_bool(&x));
                uniform(text, Range::Int(0, 64))
            }
            1 if whole => {
                let x = self.lanes_of(ty, depth - 1);
                uniform(format!("(({})reduce_add({x}))", name(ty)), full)
            }
            2 if varying && matches!(ty, Ty::U32 | Ty::U64) => {
                let x = self.lanes_of(ty, depth - 1);
                let scan = self.rng.pick(&["exclusive_scan_add", "exclusive_scan_or", "exclusive_scan_and"]);
                Some(Expr { text: format!("{scan}({x})"), ty, varying: true, range: full })
            }
            3 if self.has(Feature::Lanes) && !self.place.all_on && ty == Ty::U64 => {
                uniform(self.rng.pick(&["lanemask()", "packmask((varying bool)true)"]).to_owned(), full)
            }
            _ if matches!(ty, Ty::I32 | Ty::U32 | Ty::I64 | Ty::U64) && self.sure_of_lanes() => {
                let x = self.lanes_of(ty, depth - 1);
                uniform(format!("{}({x})", self.rng.pick(&["reduce_min", "reduce_max"])), full)
            }
            _ => None,
        }
    }

    /// Whether at least one lane is active, so that there is a least value.
    fn sure_of_lanes(&self) -> bool {
        self.place.mask != Mask::Divergent || self.open()
    }

    /// A packed store or load of the active lanes.
    pub fn packed(&mut self) {
        let ty = self.rng.pick(&[Ty::I32, Ty::U32]);
        let array = self.array(|a| {
            a.ty == ty && a.sharing == Sharing::Shared && a.len == super::memory::LENGTH && a.member.is_empty()
        });
        let Some(array) = array.filter(|_| self.sees_gang() && !self.place.in_task) else { return self.store() };
        let start = format!("&{}[0]", array.name);
        if self.rng.one_in(2)
            && let Some(v) = self.variable(|v| v.ty == ty && v.varying && v.addressable && v.assignable)
        {
            return self.line(&format!("packed_load_active({start}, &{});", v.text));
        }
        let value = self.lanes_of(ty, 1);
        self.line(&format!("packed_store_active({start}, {value});"));
    }

    /// Some statements with all lanes on.
    pub fn unmasked(&mut self) {
        if !self.sees_gang() || self.place.mask == Mask::Divergent && !self.open() || self.place.in_task {
            return self.branch();
        }
        let place = super::scope::Context {
            mask: Mask::Full,
            level: self.place.level + 1,
            all_on: true,
            own: Some("programIndex".to_owned()),
            breaks: false,
            continues: false,
            returns: super::scope::Returns::Not,
            in_foreach: true,
            ..self.place.inner()
        };
        self.block("unmasked {", place, "}", |w| w.some_statements(3));
    }

    /// Prints integers.
    pub fn print(&mut self) {
        if self.place.mask != Mask::Full || self.place.in_task || !self.sees_gang() && self.place.in_foreach {
            return self.assign();
        }
        let (a, b) = (self.int(Ty::I32, self.sees_gang(), 1), self.any_int());
        let b = self.int(b, false, 1);
        self.line(&format!("print(\"% %\\n\", {}, {});", a.text, b.text));
    }
}
