//! Pointers in memory: tables and structs of pointers to arrays, which are loaded at each access, and change.

use super::Feature;
use super::memory::LENGTH;
use super::scope::{Array, Keeper, Mask, Sharing, Table};
use super::types::{Range, name};
use super::writer::{Expr, Writer};
use spmdvm::Ty;

/// The pointers in a table.
const ROWS: u64 = 2;

impl Writer {
    /// A new table, another pointer in one, or a pointer to an array of a function that keeps it in a table.
    pub fn tables(&mut self) {
        match self.rng.draw(4) {
            0 => self.change_table(),
            1 => self.call_keeper(),
            _ => self.declare_table(),
        }
    }

    /// The function that keeps a pointer to its frame.
    pub fn declare_keeper(&mut self) {
        if !self.has(Feature::Tables) || self.rng.draw(3) > 0 {
            return;
        }
        // One that it can be given an array of.
        let (keeper, kept, ty) = (self.name("keep"), self.name("kept"), self.inputs[0].ty);
        let (spelled, storage) = (name(ty), self.rng.pick(&["inline", "noinline", ""]));
        let values: Vec<String> = (0..4).map(|_| self.small_literal(ty)).collect();
        self.line(&format!("static uniform {spelled} * uniform {kept}[2];"));
        let params = format!("uniform {spelled} * uniform other, uniform int k, uniform {spelled} &seen");
        self.line(&format!("static {storage} uniform {spelled} * uniform {keeper}({params}) {{"));
        self.line(&format!("    uniform {spelled} own[4] = {{ {} }};", values.join(", ")));
        self.line(&format!("    {kept}[0] = other;\n    {kept}[1] = own;"));
        self.line(&format!("    uniform {spelled} * uniform found = {kept}[k & 1];"));
        self.line("    seen = found[k & 3];\n    own[k & 3] = found[0];");
        self.line(&format!("    seen = {kept}[1][k & 3];"));
        // What is found may be the frame, which ends here.
        if !self.has(Feature::Traps) {
            self.line(&format!("    {kept}[1] = other;\n    found = {kept}[k & 1];"));
        }
        self.line("    return found;\n}");
        let after = self.name("after");
        self.line(&format!(
            "static noinline uniform {spelled} {after}(uniform {spelled} * uniform other, uniform int k) {{"
        ));
        self.line(&format!("    uniform {spelled} seen = {};", values[0]));
        self.line(&format!("    uniform {spelled} * uniform found = {keeper}(other, k, seen);"));
        self.line(
            "    for (uniform int i = 0; i < (k & 7); ++i)\n        if (found[i & 3] != seen) seen = found[k & 3];",
        );
        self.line("    return found[k & 3];\n}");
        self.keeper = Some(Keeper { name: keeper, after, ty });
    }

    /// A call of that function: what it gives is an array from here on.
    pub fn call_keeper(&mut self) {
        let whole = self.place.mask == Mask::Full && !self.place.in_foreach && !self.place.in_task;
        let Some(keeper) = self.keeper.clone().filter(|_| whole && self.may_change(1)) else {
            return self.declare_table();
        };
        let ty = keeper.ty;
        let fits = self.may_be_led_to();
        let Some(array) = self.array(|a| fits(a) && a.ty == ty && a.len >= 4) else { return self.change_table() };
        let (pointer, seen, k) = (self.name("p"), self.name("u"), self.int(Ty::I32, false, 1));
        let (spelled, value, of) = (name(ty), self.small_literal(ty), array.name);
        self.line(&format!("uniform {spelled} {seen} = {value};"));
        self.push_variable(seen.clone(), ty, false, false);
        if self.rng.one_in(2) && self.affords(20) {
            self.spend(20);
            // The frame is found in the last call at most: what traps, if it may, ends the program.
            let (turns, odd) = (2 + self.rng.draw(5), self.rng.draw(2));
            if self.rng.one_in(2) {
                let counter = self.name("k");
                self.line(&format!("for (uniform int {counter} = 0; {counter} < {turns}; ++{counter})"));
                let last = format!("2 * {counter} + (int)({counter} == {}) * {odd}", turns - 1);
                return self.line(&format!("    {seen} = {}({of}, (({}) & 254) + {last});", keeper.after, k.text));
            }
            for turn in 0..turns {
                let at = 2 * turn + if turn == turns - 1 { odd } else { 0 };
                self.line(&format!("{seen} = {}({of}, (({}) & 254) + {at});", keeper.after, k.text));
            }
            return;
        }
        self.line(&format!("uniform {spelled} * uniform {pointer} = {}({of}, {}, {seen});", keeper.name, k.text));
        self.push_array(pointer, ty, 4, Sharing::Shared);
    }

    /// The arrays to which pointers in memory may lead here.
    fn may_be_led_to(&self) -> impl Fn(&Array) -> bool + Copy + use<> {
        let level = self.place.level;
        move |a| a.sharing == Sharing::Shared && a.member.is_empty() && a.level == level
    }

    /// A table of pointers to arrays of one type. What one of its rows leads to is an array from here on.
    fn declare_table(&mut self) {
        let fits = self.may_be_led_to();
        let Some(first) = self.array(fits) else { return self.local_array() };
        let (table, ty) = (self.name("rows"), first.ty);
        // Whole arrays are accessed by lanes at places of their own; of others lanes might meet in the same element.
        let whole = first.len == LENGTH;
        let apart = !self.sees_gang() || self.place.in_task || self.place.in_foreach;
        if !whole && (apart || self.place.mask != Mask::Full) {
            return self.local_array();
        }
        self.line(&format!("uniform {} * uniform {table}[{ROWS}];", name(ty)));
        self.line(&format!("{table}[0] = {};", first.name));
        let len = first.len;
        for row in 1..ROWS {
            let others = |a: &Array| fits(a) && a.ty == ty && a.len >= len;
            let other = self.array(|a| others(a) && a.name != first.name).or_else(|| self.array(others));
            let other = other.unwrap_or_else(|| first.clone());
            let at = self.part_of(&other, len);
            self.line(&format!("{table}[{row}] = {at};"));
        }
        let row = self.row();
        self.push_array(format!("{table}[{row}]"), ty, len, Sharing::Shared);
        self.tables.push(Table { name: table, ty, len, level: self.place.level });
    }

    /// Where an array of so many elements begins in another.
    fn part_of(&mut self, array: &Array, len: u64) -> String {
        if array.len == len || len == LENGTH {
            return array.name.clone();
        }
        format!("&{}[{}]", array.name, self.rng.draw(array.len - len + 1))
    }

    /// Which row is accessed: one by a variable, so that it may be another one later.
    fn row(&mut self) -> String {
        let counts = |ty: Ty| matches!(ty, Ty::I32 | Ty::U32);
        match self.variable(|v| !v.varying && counts(v.ty) && v.addressable) {
            Some(v) if !self.rng.one_in(4) => {
                let e = Expr { text: v.text, ty: v.ty, varying: false, range: v.range };
                let e = self.cast(e, Ty::I32);
                self.below(Expr { range: Range::of(Ty::I32, false), ..e }, ROWS as i128 - 1).text
            }
            _ => self.rng.draw(ROWS).to_string(),
        }
    }

    /// Another pointer in a table, or two that change places.
    fn change_table(&mut self) {
        let level = self.place.level;
        let fitting: Vec<Table> = self.tables.iter().filter(|t| t.level == level).cloned().collect();
        if fitting.is_empty() || self.place.in_task {
            return self.declare_table();
        }
        let table = self.rng.pick(&fitting);
        let fits = self.may_be_led_to();
        let (row, name_of) = (self.row(), &table.name);
        let array = self.array(|a| fits(a) && a.ty == table.ty && a.len >= table.len);
        match array.filter(|_| self.rng.draw(3) > 0) {
            Some(array) => {
                let at = self.part_of(&array, table.len);
                self.line(&format!("{name_of}[{row}] = {at};"));
            }
            None => {
                let (pointer, ty) = (self.name("p"), name(table.ty));
                self.line(&format!("uniform {ty} * uniform {pointer} = {name_of}[0];"));
                self.line(&format!("{name_of}[0] = {name_of}[1];\n{name_of}[1] = {pointer};"));
            }
        }
    }
}
