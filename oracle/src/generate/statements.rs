//! Statements: which there are, how often each is chosen, and the simple ones.

use super::Feature;
use super::scope::{Mask, Returns};
use super::types::{Range, name};
use super::writer::{Expr, Writer, as_varying_bool};
use spmdvm::Ty;

/// Blocks within blocks.
const MOST_DEPTH: u32 = 6;

/// A kind of statement.
struct StatementKind {
    /// How often it is chosen, against the others.
    weight: u32,
    /// What programs must be allowed to have.
    feature: Option<Feature>,
    /// Whether it contains statements.
    nests: bool,
    /// Writes one. Where it cannot stand it writes another.
    write: fn(&mut Writer),
}

const fn always(weight: u32, nests: bool, write: fn(&mut Writer)) -> StatementKind {
    StatementKind { weight, feature: None, nests, write }
}

const fn with(feature: Feature, weight: u32, nests: bool, write: fn(&mut Writer)) -> StatementKind {
    StatementKind { weight, feature: Some(feature), nests, write }
}

const FORMS: &[StatementKind] = &[
    always(14, false, Writer::assign),
    always(8, false, Writer::store),
    always(6, false, Writer::declare),
    always(8, true, Writer::branch),
    always(6, true, Writer::foreach),
    with(Feature::Loops, 8, true, Writer::repeat),
    with(Feature::Leaving, 6, false, Writer::leave),
    with(Feature::Switch, 3, true, Writer::switch),
    with(Feature::Goto, 2, true, Writer::jump),
    with(Feature::Structs, 4, false, Writer::record),
    with(Feature::Pointers, 4, false, Writer::point),
    with(Feature::Pointers, 3, true, Writer::walk),
    with(Feature::Tables, 4, false, Writer::tables),
    with(Feature::Vectors, 3, false, Writer::short_vector),
    with(Feature::LocalArrays, 2, false, Writer::local_array),
    with(Feature::Calls, 4, false, Writer::call_procedure),
    with(Feature::Packed, 2, false, Writer::packed),
    with(Feature::Gathers, 2, false, Writer::scatter_alike),
    with(Feature::Atomics, 3, false, Writer::atomic),
    with(Feature::Tasks, 3, false, Writer::launch),
    with(Feature::ForeachActive, 2, true, Writer::foreach_active),
    with(Feature::ForeachUnique, 2, true, Writer::foreach_unique),
    with(Feature::Unmasked, 2, true, Writer::unmasked),
    with(Feature::Heap, 1, true, Writer::heap),
    with(Feature::Prints, 1, false, Writer::print),
    with(Feature::Traps, 3, false, Writer::risk),
];

impl Writer {
    /// At least one statement, and at most so many.
    pub fn some_statements(&mut self, most: u64) {
        for _ in 0..1 + self.rng.draw(most) {
            if self.left > 0 {
                self.statement();
            }
        }
    }

    /// A statement, with what is in it.
    pub fn statement(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.spend(1);
        let deep = self.place.depth >= MOST_DEPTH || self.left == 0;
        let features = self.config.features;
        let chance = |form: &StatementKind| {
            let allowed = form.feature.is_none_or(|feature| features.has(feature)) && !(deep && form.nests);
            if allowed { form.weight } else { 0 }
        };
        let at = self.rng.weighted(FORMS.iter().map(chance));
        (FORMS[at].write)(self);
    }

    /// Whether there are varying values here whose changes may be seen.
    pub fn varies(&self) -> bool {
        self.sees_gang() || self.place.own.is_some() || self.place.mask == Mask::Divergent
    }

    /// A new variable.
    pub fn declare(&mut self) {
        let ty = self.any_type();
        let varying = self.varies() && self.rng.draw(4) > 0;
        self.declare_as(ty, varying);
    }

    /// A new variable of a type.
    pub fn declare_as(&mut self, ty: Ty, varying: bool) {
        let variable = self.name(if varying { "v" } else { "u" });
        let value = self.value(ty, varying, 2);
        let shape = if varying { "" } else { "uniform " };
        self.line(&format!("{shape}{} {variable} = {};", name(ty), value.text));
        self.push_variable(variable, ty, varying, true);
    }

    /// An assignment to a variable.
    pub fn assign(&mut self) {
        let level = self.place.level;
        match self.variable(|v| v.assignable && (v.varying || v.level == level)) {
            Some(v) => self.assign_to(&v.text, v.ty, v.varying),
            None => self.declare(),
        }
    }

    /// An assignment to a place of a type.
    pub fn assign_to(&mut self, place: &str, ty: Ty, varying: bool) {
        let depth = 1 + self.rng.draw(2) as u32;
        let choice = self.rng.draw(8);
        if choice < 4 {
            let value = self.value(ty, varying, depth);
            return self.line(&format!("{place} = {};", value.text));
        }
        if ty.is_float() {
            let (old, value) = (self.old(place, ty, varying), self.value(ty, varying, depth));
            let op = self.rng.pick(&["+", "-", "*"]);
            if self.open() {
                return self.line(&format!("{place} {op}= {};", value.text));
            }
            let new = self.float_operation(op, old, value);
            let new = self.tamed(new);
            return self.line(&format!("{place} = {};", new.text));
        }
        match choice {
            4 if !ty.is_signed() || self.open() => {
                let step = self.rng.pick(&["++", "--"]);
                let text = if self.rng.one_in(2) { format!("{step}({place});") } else { format!("({place}){step};") };
                self.line(&text);
            }
            5 | 6 if !ty.is_signed() || self.open() => {
                let value = self.int(ty, varying, depth);
                let op = self.rng.pick(&["+", "-", "*"]);
                self.line(&format!("{place} {op}= {};", value.text));
            }
            _ => {
                let value = self.int(ty, varying, depth);
                let op = self.rng.pick(&["^", "|", "&", "^"]);
                self.line(&format!("{place} {op}= {};", value.text));
            }
        }
    }

    fn old(&self, place: &str, ty: Ty, varying: bool) -> Expr {
        Expr { text: place.to_owned(), ty, varying, range: self.range_of(ty) }
    }

    /// A conditional `break`, `continue` or `return`.
    pub fn leave(&mut self) {
        let uniform = self.place.mask == Mask::Full && !self.open();
        let varying = !uniform && self.varies();
        let condition = match self.open() || !varying {
            true => self.condition(varying, 1).0,
            // Conditions of several parts, or the same in all lanes, crash ISPC's compiler here.
            false => as_varying_bool(&self.condition(true, 0)),
        };
        let mut ways = Vec::new();
        if self.place.breaks {
            ways.push("break".to_owned());
        }
        if self.place.continues && !self.place.in_active {
            ways.push("continue".to_owned());
        }
        match self.place.returns {
            Returns::Together if self.open() || uniform && self.place.depth > 2 && self.rng.one_in(4) => {
                ways.push("return".to_owned());
            }
            Returns::Nothing => ways.push("return".to_owned()),
            Returns::Value(ty) => ways.push(format!("return {}", self.value(ty, true, 1).text)),
            _ => {}
        }
        if ways.is_empty() {
            return self.assign();
        }
        let way = self.rng.pick(&ways);
        self.line(&format!("if ({condition}) {way};"));
    }

    /// What may trap.
    pub fn risk(&mut self) {
        let value = self.int(Ty::I32, true, 0);
        match self.rng.draw(3) {
            0 => self.line(&format!("assert({} != 77);", value.text)),
            1 => {
                let divisor = self.int(Ty::I32, true, 0);
                let level = self.place.level;
                let target = self.variable(|v| v.ty == Ty::I32 && v.assignable && v.varying && v.level <= level);
                match target {
                    Some(v) => self.line(&format!("{} = {} / ({} & 3);", v.text, value.text, divisor.text)),
                    None => self.assign(),
                }
            }
            _ => match self.target(|a| a.ty == Ty::I32 && a.member.is_empty()) {
                Some((_, array, true)) => {
                    self.line(&format!("{}[({}) & 127] = {};", array.name, value.text, value.text));
                }
                _ => self.assign(),
            },
        }
    }

    /// Adds a value to the checksum: to what is kept of the gang as a whole.
    pub fn fold_uniform(&mut self, ty: Ty, text: &str) {
        if self.may_change(1) && !self.place.in_foreach {
            let bits = bits_of(ty, text);
            self.line(&format!("state[0] = (state[0] ^ {bits}) * 1099511628211;"));
        }
    }

    /// Adds all visible varying values, and the uniform ones that were declared here, to the checksum: each lane to its own part.
    pub fn fold_lanes(&mut self, from: usize) {
        let Some(own) = self.place.own.clone() else { return };
        let variables: Vec<(String, Ty)> =
            self.variables[from..].iter().filter(|v| v.assignable).map(|v| (v.text.clone(), v.ty)).collect();
        if variables.is_empty() {
            return;
        }
        let hash = self.name("h");
        self.line(&format!("unsigned int64 {hash} = state[{own}];"));
        for (text, ty) in variables {
            self.line(&format!("{hash} = ({hash} ^ {}) * 1099511628211;", bits_of(ty, &text)));
        }
        self.line(&format!("state[{own}] = {hash};"));
    }
}

/// The bits of a number, as an `unsigned int64`.
pub(super) fn bits_of(ty: Ty, text: &str) -> String {
    match ty {
        Ty::F16 => format!("(unsigned int64)(unsigned int16)intbits({text})"),
        Ty::F32 => format!("(unsigned int64)(unsigned int)intbits({text})"),
        Ty::F64 => format!("(unsigned int64)intbits({text})"),
        _ => format!("(unsigned int64)({text})"),
    }
}

/// The range of a counter.
pub(super) fn counting(turns: i128) -> Range {
    Range::Int(0, turns)
}
