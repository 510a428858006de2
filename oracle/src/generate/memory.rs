//! Indices in bounds, and stores of lanes that do not meet.

use super::scope::{Array, Mask, Sharing, Variable};
use super::types::{Range, literal, name};
use super::writer::{Expr, Writer};
use super::{Feature, types};
use spmdvm::Ty;

/// The elements of arrays that lanes share: as many as the widest gang has lanes.
pub(super) const LENGTH: u64 = 64;

impl Writer {
    /// An index to read at, and whether it is varying.
    pub fn read_index(&mut self, array: &Array, varying: bool) -> Option<(String, bool)> {
        let apart =
            array.sharing == Sharing::Shared && (self.place.in_task || self.place.in_foreach && !self.sees_gang());
        let own = self.place.own.clone().filter(|_| varying && array.len == LENGTH);
        if apart {
            return own.map(|own| (own, true));
        }
        if let Some(own) = own
            && self.rng.one_in(2)
        {
            return Some((own, true));
        }
        if let Some(own) = self.place.own.clone().filter(|_| varying && array.len < LENGTH)
            && self.rng.one_in(4)
        {
            return Some((format!("({own} & {})", array.len - 1), true));
        }
        Some(self.any_index(array.len, varying && self.has(Feature::Gathers)))
    }

    /// An index below a power of two.
    pub fn any_index(&mut self, len: u64, varying: bool) -> (String, bool) {
        let ty = if self.has(Feature::Wide) && self.rng.one_in(6) { Ty::I64 } else { Ty::I32 };
        let depth = self.rng.draw(2) as u32;
        let e = self.int(ty, varying, depth);
        if self.has(Feature::Traps) && self.rng.one_in(15) {
            return self.wild_index(e, len);
        }
        if let Range::Int(value, high) = e.range
            && value == high
        {
            return (value.rem_euclid(len as i128).to_string(), false);
        }
        let e = self.below(e, len as i128 - 1);
        (e.text, e.varying)
    }

    /// An index that may be far out of bounds, or just beyond one of the ends.
    fn wild_index(&mut self, e: Expr, len: u64) -> (String, bool) {
        let step = match self.rng.draw(3) {
            0 => return (e.text, e.varying),
            1 => "+ 1",
            _ => "- 1",
        };
        let e = self.below(e, len as i128 - 1);
        (format!("({} {step})", e.text), e.varying)
    }

    /// An index at which no two lanes meet.
    pub fn own_index(&mut self) -> Option<String> {
        let own = self.place.own.clone()?;
        if !self.sees_gang() || self.place.in_task {
            return Some(own);
        }
        if self.has(Feature::Traps) && self.rng.one_in(12) {
            // It leaves the array at one of its ends, sooner or later.
            let far = self.rng.draw(LENGTH);
            let (op, distance) = (self.rng.pick(&["+", "-"]), self.rng.pick(&[1, 1, far]));
            return Some(format!("({own} {op} {distance})"));
        }
        Some(match self.rng.draw(8) {
            0 => format!("({own} ^ {})", self.rng.draw(LENGTH)),
            1 => format!("(({own} + {}) & 63)", self.rng.draw(LENGTH)),
            2 => format!("(({own} * {} + {}) & 63)", 2 * self.rng.draw(8) + 3, self.rng.draw(8)),
            3 => {
                let uniform = self.int(Ty::I32, false, 0);
                let uniform = self.below(uniform, 63);
                format!("({own} ^ {})", uniform.text)
            }
            _ => own,
        })
    }

    /// Whether a uniform place that was declared at a level may be changed here.
    pub fn may_change(&self, level: u32) -> bool {
        level == self.place.level
    }

    /// A place that can be stored to, and whether its values may differ between lanes.
    pub fn target(&mut self, fits: impl Fn(&Array) -> bool) -> Option<(String, Array, bool)> {
        let (level, own) = (self.place.level, self.place.own.is_some());
        let array = self.array(|a| {
            fits(a)
                && match a.sharing {
                    Sharing::PerLane => true,
                    Sharing::Shared => own && a.len == LENGTH || a.level == level,
                    Sharing::Constant | Sharing::Counter => false,
                }
        })?;
        let text = |index: &str| format!("{}[{index}]{}", array.name, array.member);
        if array.sharing == Sharing::PerLane {
            let (index, _) = self.any_index(array.len, true);
            return Some((text(&index), array, true));
        }
        let uniform = self.may_change(array.level) && !self.place.in_task;
        let apart = own && array.len == LENGTH && !(uniform && self.rng.one_in(4));
        match apart.then(|| self.own_index()).flatten() {
            Some(index) => Some((text(&index), array, true)),
            None if uniform => {
                let (index, _) = self.any_index(array.len, false);
                Some((text(&index), array, false))
            }
            None => None,
        }
    }

    /// A store to an array.
    pub fn store(&mut self) {
        let Some((place, array, varying)) = self.target(|_| true) else { return self.assign() };
        self.assign_to(&place, array.ty, varying);
    }

    /// A store of one value to places that may meet: which lane comes last does not matter.
    pub fn scatter_alike(&mut self) {
        let Some(array) = self.array(|a| a.sharing == Sharing::Shared) else { return self.store() };
        if !self.sees_gang() || self.place.in_task {
            return self.store();
        }
        let (index, _) = self.any_index(array.len, true);
        let value = self.value(array.ty, false, 0);
        self.line(&format!("{}[{index}]{} = {};", array.name, array.member, value.text));
    }

    /// A pointer into an array.
    pub fn point(&mut self) {
        match self.rng.draw(3) {
            0 => self.point_to_variable(),
            1 => self.point_apart(),
            _ => self.point_into(),
        }
    }

    /// A uniform pointer into the first half of an array: a shorter array of another name.
    fn point_into(&mut self) {
        let Some(array) = self.pointed_at() else { return self.declare() };
        let from = self.rng.draw(LENGTH / 2);
        let pointer = self.lead_to(&array, from);
        if !self.may_meet(&array) {
            self.show_behind(pointer, array, LENGTH / 2);
        }
    }

    /// An array that uniform pointers may lead into.
    pub fn pointed_at(&mut self) -> Option<Array> {
        self.array(|a| {
            matches!(a.sharing, Sharing::Shared | Sharing::Constant) && a.len == LENGTH && a.member.is_empty()
        })
    }

    /// A uniform pointer to an element of an array: its name.
    pub fn lead_to(&mut self, array: &Array, from: u64) -> String {
        let pointer = self.name("p");
        let constant = if array.sharing == Sharing::Constant { "const " } else { "" };
        let index = if from == 0 { array.name.clone() } else { format!("&{}[{from}]", array.name) };
        self.line(&format!("{constant}uniform {} * uniform {pointer} = {index};", name(array.ty)));
        pointer
    }

    /// Returns whether elements of an array that are apart by their index might meet behind a pointer: in another function, or in a
    /// `foreach`.
    pub fn may_meet(&self, array: &Array) -> bool {
        array.sharing == Sharing::Shared && (!self.sees_gang() || self.place.in_task)
    }

    /// Makes the elements behind a pointer visible, as an array.
    pub fn show_behind(&mut self, pointer: String, array: Array, len: u64) {
        let parted = array.sharing == Sharing::Shared && self.place.mask == Mask::Divergent;
        let level = if parted { u32::MAX } else { array.level };
        self.arrays.push(Array { name: pointer, len, level, ..array });
    }

    /// A varying pointer to an element of each lane's own.
    fn point_apart(&mut self) {
        let array = self.array(|a| a.sharing == Sharing::Shared && a.len == LENGTH && a.member.is_empty());
        let (Some(array), Some(index)) = (array, self.own_index()) else { return self.point_to_variable() };
        let pointer = self.name("p");
        self.line(&format!("uniform {} * {pointer} = &{}[{index}];", name(array.ty), array.name));
        self.push_variable(format!("*{pointer}"), array.ty, true, false);
    }

    /// A pointer to a variable, which has two names from here on.
    fn point_to_variable(&mut self) {
        let level = self.place.level;
        let variable = self.variable(|v| v.addressable && v.assignable && (v.varying || v.level == level));
        let Some(variable) = variable else { return self.declare() };
        let (pointer, shape) = (self.name("p"), if variable.varying { "varying" } else { "uniform" });
        self.line(&format!("{shape} {} * uniform {pointer} = &{};", name(variable.ty), variable.text));
        self.variables.push(Variable { text: format!("*{pointer}"), addressable: false, ..variable });
    }

    /// An array of the function.
    pub fn local_array(&mut self) {
        let (array, ty, len) = (self.name("t"), self.any_type(), self.rng.pick(&[2, 4, 8]));
        let varying = self.varies() && self.rng.draw(3) > 0;
        let values: Vec<String> = (0..len).map(|_| self.small_literal(ty)).collect();
        let shape = if varying { "" } else { "uniform " };
        self.line(&format!("{shape}{} {array}[{len}] = {{ {} }};", name(ty), values.join(", ")));
        self.push_array(array, ty, len, if varying { Sharing::PerLane } else { Sharing::Shared });
    }

    /// A constant that initialises.
    pub fn small_literal(&mut self, ty: Ty) -> String {
        let value = self.rng.draw(50) as i128;
        if ty.is_float() { types::float_literal(ty, value as f64 * 0.5) } else { literal(ty, value) }
    }

    /// Memory of `new`, for some statements.
    pub fn heap(&mut self) {
        let own = self.varies() && self.rng.one_in(2);
        if self.place.mask != Mask::Full && !own {
            return self.local_array();
        }
        let (pointer, counter, ty) = (self.name("p"), self.name("k"), self.any_type());
        let first = self.small_literal(ty);
        // What was allocated is freed.
        let place = super::scope::Context {
            breaks: false,
            continues: false,
            returns: super::scope::Returns::Not,
            label: None,
            ..self.place.inner()
        };
        let ty_name = name(ty);
        if self.rng.one_in(3) {
            let shape = if own { "" } else { "uniform " };
            return self.block("{", place, "}", |w| {
                w.line(&format!("uniform {ty_name} * {shape}{pointer} = {shape}new uniform {ty_name}({first});"));
                w.push_variable(format!("*{pointer}"), ty, own, false);
                w.some_statements(3);
                w.line(&format!("delete {pointer};"));
            });
        }
        if own {
            return self.block("{", place, "}", |w| {
                w.line(&format!("uniform {ty_name} * {pointer} = new uniform {ty_name}[4];"));
                w.line(&format!(
                    "for (uniform int {counter} = 0; {counter} < 4; ++{counter}) {pointer}[{counter}] = {first};"
                ));
                w.push_array(pointer.clone(), ty, 4, Sharing::PerLane);
                w.some_statements(3);
                w.line(&format!("delete[] {pointer};"));
            });
        }
        self.block("{", place, "}", |w| {
            w.line(&format!("uniform {ty_name} * uniform {pointer} = uniform new uniform {ty_name}[8];"));
            w.line(&format!(
                "for (uniform int {counter} = 0; {counter} < 8; ++{counter}) {pointer}[{counter}] = {first};"
            ));
            w.push_array(pointer.clone(), ty, 8, Sharing::Shared);
            w.some_statements(3);
            let sink = w.int(Ty::I32, false, 0);
            let sink = w.below(sink, 7);
            w.fold_uniform(ty, &format!("{pointer}[{}]", sink.text));
            w.line(&format!("delete[] {pointer};"));
        });
    }

    /// Makes an array visible.
    pub fn push_array(&mut self, name: String, ty: Ty, len: u64, sharing: Sharing) {
        let (full, level) = (self.place.mask == Mask::Full, self.place.level);
        self.arrays.push(Array {
            name,
            member: "",
            ty,
            len,
            sharing,
            full: full || sharing != Sharing::PerLane,
            level,
        });
    }

    /// Makes a variable visible that holds anything of its type.
    pub fn push_variable(&mut self, text: String, ty: Ty, varying: bool, addressable: bool) {
        let (full, level, range) = (self.place.mask == Mask::Full, self.place.level, self.range_of(ty));
        self.variables.push(Variable { text, ty, varying, range, assignable: true, full, level, addressable });
    }

    /// An atomic operation, of which no result depends on an order that is open.
    pub fn atomic(&mut self) {
        let global = self.rng.pick(&["global", "local"]);
        let counter = self.array(|a| a.sharing == Sharing::Counter);
        let apart = self.array(|a| {
            a.sharing == Sharing::Shared
                && a.len == LENGTH
                && matches!(a.ty, Ty::I32 | Ty::U32 | Ty::I64 | Ty::U64)
                && a.member.is_empty()
        });
        let (Some(counter), false) = (counter, self.rng.one_in(3) && self.place.own.is_some() && apart.is_some())
        else {
            return match apart {
                Some(array) if self.place.own.is_some() => self.atomic_apart(&array, global),
                _ => self.assign(),
            };
        };
        let varying = self.varies();
        let value = self.int(counter.ty, varying, 1);
        let value = if varying { format!("((varying {}){})", name(counter.ty), value.text) } else { value.text };
        // Only sums: whichever comes first, the last is the same. Tasks need the global form.
        let global = if self.place.in_task { "global" } else { global };
        // ISPC's compiler adds up the differences of lanes wrongly.
        let subtracts = self.rng.one_in(4) && (!varying || self.open());
        let op = if subtracts { "subtract" } else { "add" };
        if !varying && !self.may_change(counter.level) {
            return self.assign();
        }
        let (index, _) = self.any_index(counter.len, varying && self.has(Feature::Gathers));
        self.line(&format!("atomic_{op}_{global}(&{}[{index}], {value});", counter.name));
    }

    /// An atomic operation on an element of each lane's own, whose old value is used.
    fn atomic_apart(&mut self, array: &Array, global: &str) {
        let Some(index) = self.own_index() else { return self.assign() };
        let ty = array.ty;
        let op = self.rng.pick(&["add", "and", "or", "xor", "min", "max", "swap", "compare_exchange"]);
        let place = format!("&{}[{index}]", array.name);
        let mut value = || {
            let value = self.int(ty, true, 1);
            format!("((varying {}){})", name(ty), value.text)
        };
        let mut arguments = value();
        if op == "compare_exchange" {
            arguments = format!("{arguments}, {}", value());
        }
        let call = format!("atomic_{op}_{global}({place}, {arguments})");
        match self.variable(|v| v.assignable && v.varying && v.ty == ty) {
            Some(v) => self.line(&format!("{} = {call};", v.text)),
            None => self.line(&format!("{call};")),
        }
    }
}
