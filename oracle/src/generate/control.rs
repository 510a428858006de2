//! `if`, loops and `switch`.

use super::Feature;
use super::memory::LENGTH;
use super::scope::{Context, Mask, Returns, Variable};
use super::statements::counting;
use super::types::name;
use super::writer::Writer;
use spmdvm::Ty;

/// How often a loop goes around that advances a pointer, how far in a round, and how many elements are behind the pointer: as many as
/// there are left in an array.
const MOST_TURNS: u64 = 5;
const MOST_STEP: u64 = 4;
const BEHIND: u64 = 16;
const _: () = assert!((2 * MOST_TURNS + 1) * MOST_STEP + BEHIND <= LENGTH);

impl Writer {
    /// An `if`.
    pub fn branch(&mut self) {
        let varying = self.varies() && self.rng.draw(4) > 0;
        let (condition, _) = self.condition(varying, 1);
        let place = if varying { self.place.diverged() } else { self.place.inner() };
        let keyword = if varying { self.rng.pick(&["if", "if", "if", "cif"]) } else { "if" };
        self.block(&format!("{keyword} ({condition}) {{"), place.clone(), "}", |w| w.some_statements(4));
        if self.rng.one_in(2) && self.left > 0 {
            self.block("else {", place, "}", |w| w.some_statements(3));
        }
    }

    /// A loop.
    pub fn repeat(&mut self) {
        let turns = 1 + self.rng.draw(5);
        if !self.affords(turns * 3) {
            return self.branch();
        }
        match self.rng.draw(if self.varies() { 6 } else { 2 }) {
            0 | 1 => self.uniform_for(turns),
            2 | 3 => self.varying_for(turns),
            4 => self.open_loop(turns, true),
            _ => self.open_loop(turns, false),
        }
    }

    /// The place of a body that all lanes of now go through together, unless some leave it.
    fn together(&mut self) -> Context {
        let keeps = self.place.mask != Mask::Full && self.rng.one_in(2);
        let leaves = self.has(Feature::Leaving);
        match self.place.mask {
            Mask::Full => {
                // Lanes may leave the loop one by one where that is defined, and then no longer jump together.
                let label = self.place.label.clone().filter(|_| !self.open());
                Context { breaks: leaves, continues: leaves, label, ..self.place.inner() }
            }
            _ if keeps || !leaves => {
                Context { breaks: false, continues: false, returns: Returns::Not, ..self.place.inner() }
            }
            _ => Context { breaks: true, continues: true, ..self.place.diverged() },
        }
    }

    fn uniform_for(&mut self, turns: u64) {
        let counter = self.name("k");
        let place = self.together().times(turns);
        let head = match self.rng.draw(3) {
            0 => format!("for (uniform int {counter} = {turns}; {counter} > 0; --{counter}) {{"),
            1 => {
                let bound = self.int(Ty::I32, false, 1);
                let mask = (turns.next_power_of_two() - 1) as i128;
                let bound = self.below(bound, mask);
                let start = self.name("u");
                self.line(&format!("const uniform int {start} = {};", bound.text));
                format!("for (uniform int {counter} = 0; {counter} < {start}; ++{counter}) {{")
            }
            _ => format!("for (uniform int {counter} = 0; {counter} < {turns}; ++{counter}) {{"),
        };
        self.turns_of(&head, place, "}", Some((counter, false)));
    }

    /// A loop whose number of turns differs from lane to lane.
    fn varying_for(&mut self, turns: u64) {
        let counter = self.name("k");
        let mask = turns.next_power_of_two() as i128 - 1;
        let bound = self.in_arm(|w| {
            let bound = w.int(Ty::I32, true, 1);
            w.below(bound, mask)
        });
        let keyword = self.rng.pick(&["for", "for", "for", "cfor"]);
        let head = match self.rng.one_in(2) {
            true => format!("{keyword} (int {counter} = 0; {counter} < {}; ++{counter}) {{", bound.text),
            false => format!("{keyword} (int {counter} = {}; {counter} > 0; --{counter}) {{", bound.text),
        };
        let place = self.parted().times(turns);
        self.turns_of(&head, place, "}", Some((counter, true)));
    }

    /// A `while` or `do` that ends by a counter at the latest.
    fn open_loop(&mut self, turns: u64, before: bool) {
        let counter = self.name("k");
        let (condition, _) = self.in_arm(|w| w.condition(true, 1));
        self.line(&format!("int {counter} = 0;"));
        let place = self.parted().times(turns);
        let count = format!("++{counter};");
        let (head, tail) = match before {
            true => {
                let keyword = self.rng.pick(&["while", "while", "cwhile"]);
                (format!("{keyword} ({counter} < {turns} && {condition}) {{"), "}".to_owned())
            }
            false => {
                let keyword = self.rng.pick(&["do", "do", "cdo"]);
                (format!("{keyword} {{"), format!("}} while ({counter} < {turns} && {condition});"))
            }
        };
        self.block(&head, place, &tail, |w| {
            w.line(&count);
            w.count(counter.clone(), true);
            w.some_statements(4);
        });
    }

    /// A loop that hands a pointer on from round to round. The elements behind it are an array, each time another one.
    pub fn walk(&mut self) {
        if !self.has(Feature::Loops) {
            return self.point();
        }
        let turns = 1 + self.rng.draw(MOST_TURNS);
        let array = self.pointed_at().filter(|array| self.affords(turns * 3) && !self.may_meet(array));
        let Some(array) = array else { return self.repeat() };
        // In the middle, far enough from both ends for all rounds.
        let from = MOST_TURNS * MOST_STEP + self.rng.draw(MOST_STEP);
        let (pointer, counter) = (self.lead_to(&array, from), self.name("k"));
        let (forwards, step) = (self.rng.draw(3) > 0, 1 + self.rng.draw(MOST_STEP));
        let advance = |step: u64| format!("{pointer} {} {step}", if forwards { "+=" } else { "-=" });
        let place = self.together().times(turns);
        // Where lanes part, uniform variables from outside are not assigned.
        let within = place.level == self.place.level && self.rng.one_in(2);
        let head = match self.rng.draw(2) {
            _ if within => format!("for (uniform int {counter} = 0; {counter} < {turns}; ++{counter}) {{"),
            0 => format!("for (uniform int {counter} = 0; {counter} < {turns}; ++{counter}, {}) {{", advance(step)),
            _ => {
                let far = turns * step;
                let end = self.lead_to(&array, if forwards { from + far } else { from - far });
                let op = self.rng.pick(if forwards { &["<", "!="] } else { &[">", "!="] });
                format!("for (; {pointer} {op} {end}; {}) {{", advance(step))
            }
        };
        self.block(&head, place, "}", |w| {
            if within && w.rng.one_in(3) {
                let (first, op) = (w.name("u"), if forwards { "++" } else { "--" });
                w.line(&format!("uniform {} {first} = *{pointer}{op};", name(array.ty)));
                w.push_variable(first, array.ty, false, true);
                w.show_behind(pointer.clone(), array, BEHIND);
                return w.some_statements(4);
            }
            w.show_behind(pointer.clone(), array, BEHIND);
            w.some_statements(4);
            if within && w.rng.one_in(2) {
                let (condition, _) = w.condition(false, 1);
                let other = 1 + w.rng.draw(MOST_STEP);
                w.line(&format!("if ({condition}) {}; else {};", advance(step), advance(other)));
            } else if within {
                w.line(&format!("{};", advance(step)));
            }
        });
    }

    /// The place of a body that lanes leave one by one.
    fn parted(&self) -> Context {
        let leaves = self.has(Feature::Leaving);
        Context { breaks: leaves, continues: leaves, ..self.place.diverged() }
    }

    fn turns_of(&mut self, head: &str, place: Context, tail: &str, counter: Option<(String, bool)>) {
        self.block(head, place, tail, |w| {
            if let Some((name, varying)) = counter {
                w.count(name, varying);
            }
            w.some_statements(4);
        });
    }

    /// Makes a counter visible, which nobody assigns.
    fn count(&mut self, text: String, varying: bool) {
        let (level, full) = (self.place.level, false);
        let range = counting(8);
        self.variables.push(Variable {
            text,
            ty: Ty::I32,
            varying,
            range,
            assignable: false,
            full,
            level,
            addressable: false,
        });
    }

    /// A `goto` to a label that stands behind this, or a part with a label behind or in front of it.
    pub fn jump(&mut self) {
        let place = &self.place;
        if place.mask != Mask::Full || place.in_foreach || place.all_on || place.in_each {
            return self.branch();
        }
        if let Some(label) = place.label.clone()
            && self.rng.one_in(2)
        {
            let (condition, _) = self.condition(false, 1);
            return self.line(&format!("if ({condition}) goto {label};"));
        }
        let label = self.name("L");
        if self.rng.one_in(3) && self.affords(6) {
            return self.jump_back(&label);
        }
        self.block("{", Context { label: Some(label.clone()), ..self.place.inner() }, "}", |w| {
            let (condition, _) = w.condition(false, 1);
            w.line(&format!("if ({condition}) goto {label};"));
            w.some_statements(4);
        });
        self.line(&format!("{label}: ;"));
    }

    /// A loop made of a jump, which a counter ends.
    fn jump_back(&mut self, label: &str) {
        let (counter, turns) = (self.name("k"), 2 + self.rng.draw(2));
        self.line(&format!("uniform int {counter} = 0;"));
        self.block(&format!("{label}: {{"), self.place.inner().times(turns), "}", |w| w.some_statements(3));
        self.line(&format!("if (++{counter} < {turns}) goto {label};"));
    }

    /// A `switch`.
    pub fn switch(&mut self) {
        let varying = self.varies() && self.rng.draw(3) > 0;
        let place = if varying { self.place.diverged() } else { self.together() };
        let breaks = self.has(Feature::Leaving) && (varying || place.breaks);
        // ISPC has no `continue` in most of them.
        let continues = place.continues && self.place.continues && self.open();
        let place = Context { breaks, continues, ..place };
        let (value, labels) = self.switched(varying);
        self.line(&format!("switch ({value}) {{"));
        let last = labels.len() - 1;
        for (at, label) in labels.iter().enumerate() {
            let inner = Context { depth: place.depth + 1, ..place.clone() };
            let outer = std::mem::replace(&mut self.place, place.clone());
            self.block(&format!("{label} {{"), inner, "}", |w| w.some_statements(2));
            if at == last || self.rng.draw(3) > 0 {
                self.line("break;");
            }
            self.place = outer;
        }
        self.line("}");
    }

    /// The value of a `switch`, and its labels.
    fn switched(&mut self, varying: bool) -> (String, Vec<String>) {
        let value = self.int(Ty::I32, varying, 1);
        let value = self.below(value, 3);
        let mut labels: Vec<String> =
            (0..4).filter(|_| self.rng.draw(3) > 0).map(|case| format!("case {case}:")).collect();
        let at = self.rng.draw(labels.len() as u64 + 1) as usize;
        labels.insert(at, "default:".to_owned());
        if varying && !value.varying {
            return (format!("(varying int){}", value.text), labels);
        }
        (value.text, labels)
    }

    /// Writes what is not executed by all lanes that come by: it does not look at other lanes.
    pub fn in_arm<T>(&mut self, write: impl FnOnce(&mut Writer) -> T) -> T {
        self.arms += 1;
        let written = write(self);
        self.arms -= 1;
        written
    }
}
