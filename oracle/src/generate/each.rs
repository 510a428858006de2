//! `foreach` and its family.

use super::Feature;
use super::scope::{Context, Mask, Returns, Sharing, Variable};
use super::types::{Range, name};
use super::writer::Writer;
use spmdvm::Ty;

impl Writer {
    /// A `foreach`, where all lanes are active.
    pub fn foreach(&mut self) {
        let around = self.place.lanes_have_turns && !self.place.in_each && !self.place.all_on;
        if around && self.sees_gang() && self.has(Feature::Nested) && self.open() && self.affords(40) {
            return self.nested();
        }
        let possible = self.place.mask == Mask::Full && !self.place.in_foreach && self.affords(16);
        if !possible {
            return if self.varies() { self.branch() } else { self.assign() };
        }
        let place = self.turns();
        let (head, own, indices) = self.ranges();
        let place = Context { own: Some(own), lanes_have_turns: true, ..place };
        self.block(&head, place, "}", |w| {
            let from = w.variables.len();
            for (index, most) in indices {
                w.index(index, most);
            }
            w.some_statements(6);
            w.store();
            w.fold_lanes(from);
        });
    }

    /// The place of the body of a `foreach`.
    fn turns(&mut self) -> Context {
        let leaves = self.has(Feature::Leaving) && self.rng.one_in(2);
        let base = match leaves || !self.sees_gang() {
            true => Context { continues: leaves, ..self.place.diverged() },
            false => Context { mask: Mask::Some, continues: false, ..self.place.inner() },
        };
        // They end further turns of the lane, whose number depends on the width.
        let ends = self.open() && self.sees_gang();
        let breaks = leaves && ends;
        let returns = if ends { base.returns } else { Returns::Not };
        Context { in_foreach: true, breaks, returns, ..base }.times(16)
    }

    /// The head of a `foreach`, what is each lane's own in it, and the indices with their greatest values.
    fn ranges(&mut self) -> (String, String, Vec<(String, i128)>) {
        let x = self.name("i");
        if !self.has(Feature::Tiles) || self.rng.draw(3) > 0 {
            let (low, bound) = (self.rng.pick(&[0, 0, 0, 5]), self.rng.pick(&["n", "n", "64", "37"]));
            return (format!("foreach ({x} = {low} ... {bound}) {{"), x.clone(), vec![(x, 63)]);
        }
        let (y, keyword) = (self.name("i"), self.rng.pick(&["foreach", "foreach_tiled"]));
        let (rows, columns) = (1 + self.rng.draw(4), 1 + self.rng.draw(16));
        let head = format!("{keyword} ({y} = 0 ... {rows}, {x} = 0 ... {columns}) {{");
        (head, format!("({y} * 16 + {x})"), vec![(y, 3), (x, 15)])
    }

    fn index(&mut self, text: String, most: i128) {
        let (level, range) = (self.place.level, Range::Int(0, most));
        let variable = Variable {
            text,
            ty: Ty::I32,
            varying: true,
            range,
            assignable: false,
            full: false,
            level,
            addressable: false,
        };
        self.variables.push(variable);
    }

    /// A `foreach` in a `foreach`: once for each lane, to which all around is uniform.
    fn nested(&mut self) {
        let index = self.name("i");
        let place = Context {
            mask: Mask::Divergent,
            level: self.place.level + 1,
            breaks: true,
            continues: true,
            returns: Returns::Not,
            in_each: true,
            all_on: false,
            own: Some(index.clone()),
            ..self.place.inner()
        };
        let outer = (self.variables.clone(), self.arrays.clone(), self.records.clone(), self.vectors.clone());
        // Varying globals stay what they are.
        self.variables.retain(|v| v.text.chars().all(char::is_alphanumeric) && !(v.varying && v.text.starts_with('g')));
        for variable in &mut self.variables {
            (variable.varying, variable.assignable, variable.addressable) = (false, false, false);
        }
        self.arrays.retain(|a| a.sharing != Sharing::PerLane && a.name.chars().all(char::is_alphanumeric));
        self.records.clear();
        self.vectors.clear();
        let bound = self.rng.pick(&[3, 9, 20]);
        self.block(&format!("foreach ({index} = 0 ... {bound}) {{"), place.times(8), "}", |w| {
            w.index(index, 19);
            w.declare();
            w.some_statements(3);
            w.store();
        });
        (self.variables, self.arrays, self.records, self.vectors) = outer;
    }

    /// The place of a part that only some lanes are in, one after another.
    fn one_by_one(&mut self, turns: u64) -> Context {
        // `continue` in these crashes ISPC's compiler in some places.
        let leaves = self.has(Feature::Leaving) && self.open() && self.rng.one_in(2);
        let base = match leaves || !self.sees_gang() {
            true => Context { continues: leaves, ..self.place.diverged() },
            false => Context { mask: Mask::Some, continues: false, ..self.place.inner() },
        };
        Context {
            breaks: leaves && self.open() && self.sees_gang(),
            returns: Returns::Not,
            in_each: true,
            in_foreach: true,
            ..base
        }
        .times(turns)
    }

    /// A `foreach_active`.
    pub fn foreach_active(&mut self) {
        if self.place.in_each || !self.affords(16) || !self.varies() || self.place.all_on {
            return self.branch();
        }
        let lane = self.name("lane");
        let place = Context { in_active: !self.open(), ..self.one_by_one(8) };
        let told = self.sees_gang() && self.has(Feature::Wide);
        self.block(&format!("foreach_active ({lane}) {{"), place, "}", |w| {
            if told {
                w.constant_here(lane, Ty::I64, Range::Int(0, 63));
            }
            w.some_statements(3);
        });
    }

    /// A `foreach_unique`.
    pub fn foreach_unique(&mut self) {
        if self.place.in_each || !self.affords(16) || !self.varies() || self.place.all_on {
            return self.branch();
        }
        let ty = self.rng.pick(&[Ty::I32, Ty::U32, Ty::I32]);
        let of = self.int(ty, true, 1);
        let of = self.below(of, 3);
        let of_text = if of.varying { of.text } else { format!("((varying {}){})", name(ty), of.text) };
        let (value, place) = (self.name("q"), self.one_by_one(4));
        self.block(&format!("foreach_unique ({value} in {of_text}) {{"), place, "}", |w| {
            w.constant_here(value, ty, Range::Int(0, 3));
            w.some_statements(3);
        });
    }

    /// Makes a uniform constant visible.
    pub fn constant_here(&mut self, text: String, ty: Ty, range: Range) {
        let level = self.place.level;
        self.variables.push(Variable {
            text,
            ty,
            varying: false,
            range,
            assignable: false,
            full: true,
            level,
            addressable: false,
        });
    }
}
