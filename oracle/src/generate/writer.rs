//! The text of a program while it is written, and the choices made for it.

use super::arguments::Input;
use super::scope::{Array, Context, Function, Keeper, Procedure, Record, Struct, Table, Variable, Vector};
use super::types::{Range, literal};
use super::{Config, Dialect, Feature};
use crate::random::Rng;
use spmdvm::Ty;
use std::collections::BTreeSet;

/// An expression.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    /// It can stand anywhere: what is composed is in parentheses.
    pub text: String,
    pub ty: Ty,
    pub varying: bool,
    pub range: Range,
}

/// A program being written.
pub(super) struct Writer {
    pub config: Config,
    pub rng: Rng,
    /// The text so far.
    pub text: String,
    names: u32,
    /// The number types that the program has.
    pub types: Vec<Ty>,
    pub variables: Vec<Variable>,
    pub arrays: Vec<Array>,
    pub records: Vec<Record>,
    pub vectors: Vec<Vector>,
    pub tables: Vec<Table>,
    pub functions: Vec<Function>,
    pub procedures: Vec<Procedure>,
    pub structs: Vec<Struct>,
    /// Enumerators of each enum.
    pub enums: Vec<Vec<String>>,
    pub place: Context,
    /// Statements that may still be written in this function.
    pub left: u32,
    /// The array parameters of the program.
    pub inputs: Vec<Input>,
    /// The task, if the program has one, and the arrays that it is given.
    pub task: Option<(String, String)>,
    /// The function that keeps a pointer to its frame, if the program has one.
    pub keeper: Option<Keeper>,
    /// How many operands around the one being written are executed by a part of the lanes only.
    pub arms: u32,
    /// About how many statements the function executes, so far.
    pub cost: u64,
    /// The functions that keep floats small, by types.
    pub tamers: BTreeSet<(u8, bool)>,
}

/// How much was visible before a block.
pub(super) struct Visible([usize; 5]);

impl Writer {
    /// Nothing yet.
    pub fn new(seed: u64, config: Config, place: Context) -> Writer {
        Writer {
            config,
            rng: Rng::new(seed),
            text: String::new(),
            names: 0,
            types: Vec::new(),
            variables: Vec::new(),
            arrays: Vec::new(),
            records: Vec::new(),
            vectors: Vec::new(),
            tables: Vec::new(),
            functions: Vec::new(),
            procedures: Vec::new(),
            structs: Vec::new(),
            enums: Vec::new(),
            place,
            left: 0,
            inputs: Vec::new(),
            task: None,
            keeper: None,
            arms: 0,
            cost: 0,
            tamers: BTreeSet::new(),
        }
    }

    /// Whether programs may have a feature.
    pub fn has(&self, feature: Feature) -> bool {
        self.config.features.has(feature)
    }

    /// Whether what ISPC leaves open may happen.
    pub fn open(&self) -> bool {
        self.config.dialect == Dialect::Spmdvm && self.has(Feature::Open)
    }

    /// Whether the program may find out how many lanes there are.
    pub fn sees_gang(&self) -> bool {
        !self.has(Feature::WidthIndependent)
    }

    /// A new name.
    pub fn name(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Writes a line.
    pub fn line(&mut self, text: &str) {
        for _ in 0..self.place.depth {
            self.text += "    ";
        }
        self.text += text;
        self.text += "\n";
    }

    /// Writes a block: its head, what it contains at its place, and its tail. What it declares ends with it.
    pub fn block(&mut self, head: &str, place: Context, tail: &str, write: impl FnOnce(&mut Writer)) {
        self.line(head);
        let (outer, visible) = (std::mem::replace(&mut self.place, place), self.visible());
        write(self);
        self.hide(&visible);
        self.place = outer;
        self.line(tail);
    }

    /// What can be seen here.
    pub fn visible(&self) -> Visible {
        Visible([self.variables.len(), self.arrays.len(), self.records.len(), self.vectors.len(), self.tables.len()])
    }

    /// Forgets what was declared since.
    pub fn hide(&mut self, visible: &Visible) {
        self.variables.truncate(visible.0[0]);
        self.arrays.truncate(visible.0[1]);
        self.records.truncate(visible.0[2]);
        self.vectors.truncate(visible.0[3]);
        self.tables.truncate(visible.0[4]);
    }

    /// Whether so many turns are affordable here.
    pub fn affords(&self, turns: u64) -> bool {
        let budget = 300 + 60 * u64::from(self.config.size);
        self.cost + self.place.weight * turns * 2 < budget
    }

    /// Counts a statement, or one that is worth several.
    pub fn spend(&mut self, cost: u64) {
        self.cost += self.place.weight * cost;
    }

    /// The integer types that the program has.
    pub fn int_types(&self) -> Vec<Ty> {
        self.types.iter().copied().filter(|ty| ty.is_int()).collect()
    }

    /// The float types that the program has.
    pub fn float_types(&self) -> Vec<Ty> {
        self.types.iter().copied().filter(|ty| ty.is_float()).collect()
    }

    /// One of the program's types.
    pub fn any_type(&mut self) -> Ty {
        let types = self.types.clone();
        self.rng.pick(&types)
    }

    /// One of the program's integer types.
    pub fn any_int(&mut self) -> Ty {
        let types = self.int_types();
        self.rng.pick(&types)
    }

    /// The range of what variables of a type hold.
    pub fn range_of(&self, ty: Ty) -> Range {
        Range::of(ty, !self.open())
    }

    /// An integer constant.
    pub fn constant(&self, ty: Ty, value: i128) -> Expr {
        Expr { text: literal(ty, value), ty, varying: false, range: Range::Int(value, value) }
    }

    /// An expression of a type; uniform, unless it may be varying.
    pub fn expr(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        if ty.is_float() { self.float(ty, varying, depth) } else { self.int(ty, varying, depth) }
    }

    /// An expression that a variable of its type may hold.
    pub fn value(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let value = self.expr(ty, varying, depth);
        if ty.is_float() { self.tamed(value) } else { value }
    }

    /// One of the variables that fit.
    pub fn variable(&mut self, fits: impl Fn(&Variable) -> bool) -> Option<Variable> {
        let all_on = self.place.all_on;
        let fitting: Vec<usize> = (0..self.variables.len())
            .filter(|&at| {
                fits(&self.variables[at]) && (!all_on || self.variables[at].full || !self.variables[at].varying)
            })
            .collect();
        if fitting.is_empty() {
            return None;
        }
        let at = self.rng.pick(&fitting);
        Some(self.variables[at].clone())
    }

    /// One of the arrays that fit.
    pub fn array(&mut self, fits: impl Fn(&Array) -> bool) -> Option<Array> {
        let all_on = self.place.all_on;
        let fitting: Vec<usize> =
            (0..self.arrays.len()).filter(|&at| fits(&self.arrays[at]) && (!all_on || self.arrays[at].full)).collect();
        if fitting.is_empty() {
            return None;
        }
        let at = self.rng.pick(&fitting);
        Some(self.arrays[at].clone())
    }

    /// A condition: its text, and whether it is varying.
    pub fn condition(&mut self, varying: bool, depth: u32) -> (String, bool) {
        match self.rng.draw(8) {
            0 if depth > 0 => {
                let a = self.condition(varying, depth - 1);
                let b = self.in_arm(|w| w.condition(varying, depth - 1));
                let op = self.rng.pick(&["&&", "||"]);
                (format!("({} {op} {})", a.0, b.0), a.1 || b.1)
            }
            1 if depth > 0 => {
                let inner = self.condition(varying, depth - 1);
                (format!("!{}", inner.0), inner.1)
            }
            2 if self.has(Feature::Reductions) && self.sees_gang() && self.arms == 0 => {
                let inner = self.condition(true, 0);
                (format!("{}({})", self.rng.pick(&["any", "all", "none"]), as_varying_bool(&inner)), false)
            }
            3 | 4 => self.bit_test(varying),
            _ => {
                let ty = self.any_type();
                let (a, b) = (self.no_constant(ty, varying, depth.min(1)), self.expr(ty, varying, 0));
                let op = self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
                (format!("({} {op} {})", a.text, b.text), a.varying || b.varying)
            }
        }
    }

    /// An expression that depends on a variable: conditions that are constants say little, and crash ISPC's compiler.
    fn no_constant(&mut self, ty: Ty, varying: bool, depth: u32) -> Expr {
        let any = self.expr(ty, varying, depth);
        let Some(v) = self.variable(|v| (v.ty == ty || ty.is_int() && v.ty.is_int()) && (varying || !v.varying)) else {
            return any;
        };
        let v = Expr { text: v.text, ty: v.ty, varying: v.varying, range: v.range };
        if ty.is_float() {
            let sum = if depth > 0 { self.float_operation("-", any, v) } else { v };
            return self.tamed(sum);
        }
        let v = self.cast(v, ty);
        if depth > 0 { self.arithmetic("-", any, v) } else { v }
    }

    /// A condition that holds about as often as it does not.
    fn bit_test(&mut self, varying: bool) -> (String, bool) {
        let ty = self.any_int();
        let a = self.no_constant(ty, varying, 0);
        let bit = 1 << self.rng.draw(4);
        let bit = self.constant(ty, bit);
        let zero = self.constant(ty, 0);
        (format!("(({} & {}) {} {})", a.text, bit.text, self.rng.pick(&["==", "!="]), zero.text), a.varying)
    }
}

/// A condition as a varying bool.
pub(super) fn as_varying_bool(condition: &(String, bool)) -> String {
    if condition.1 { condition.0.clone() } else { format!("((varying bool){})", condition.0) }
}
