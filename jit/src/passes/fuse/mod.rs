//! Makes one arm of two that compute the same on different operands (branch fusion).
//!
//! The two arms of an `if` are executed one after the other under complementary masks, and a `select` picks for every lane
//! what its arm has given. Where both arms end in the same operation it can be done once, on operands that are selected
//! instead: `select(m, sqrt(a) / b, sqrt(c) / d)` is `sqrt(select(m, a, c)) / select(m, b, d)`, which takes one root and one
//! division instead of two.
//!
//! # What is looked at
//!
//! The *roots*: in a block, all `select`s of varying values by one mask `m`; or by two masks that exclude each other, as arms
//! under the mask of an outer construct leave them: `select(n, b, select(m, a, old))`, which becomes `select(m ∨ n, …, old)`. From
//! each root the two arms are followed from results to operands, as *pairs* of values that stand in the same place. A pair is
//!
//! - *the same* value: nothing is to be done;
//! - *fused*: results of the same operation on the same types; its operands are pairs in turn (those of commutative operations in
//!   the order in which more are the same);
//! - *selected* by the mask: anything else.
//!
//! Within an arm only its own lanes count, so a `select` by its mask on the way (an assignment in the middle of the arm) is
//! looked through.
//!
//! # When it pays
//!
//! Fusing a pair saves an operation and a `select`, and costs the `select`s that its operands need; a pair that occurs again
//! costs nothing. It is fused if that is less ([`cost`]). So a division or a root pays nearly always, an addition only where
//! one operand is the same. An operation is saved only if nothing else needs the results of the arms: pairs of which something
//! outlives the fusion (a snapshot, a store, another arm) are selected, and all is weighed again without them. Everything is in
//! one block, so nothing moves into a loop that has left it.
//!
//! # Rules
//!
//! Only pure elementwise operations are fused: a lane's result depends on that lane's operands alone, so selecting operands
//! gives the same bits as selecting results, NaNs included. In lanes outside both masks operands are whatever the second
//! arm's are, and the result is not used. Not fused are divisions of integers (they have a guard of their own), whatever
//! sees other lanes, and shifts by different counts: a count for all lanes is one instruction, one for each is many.

mod plan;

use super::defs::{Def, Defs};
use super::make::Maker;
use super::{identity, replace};
use crate::ir::{Inst, Kind, Region, Type, Value};
use plan::{Fusion, Pair, Plan, Uses};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::{HashMap, HashSet};

/// Runs the pass.
pub fn run(region: &mut Region) {
    let mut defs = Defs::of(region);
    for block in 0..region.blocks.len() {
        let mut uses = None;
        for arms in masks(region, &defs, block) {
            let roots = roots(region, &defs, block, arms);
            if !roots.iter().any(|root| ends_alike(&defs, root)) {
                continue;
            }
            let known = uses.get_or_insert_with(|| Uses::of(region, block));
            if let Some(chosen) = Plan::best(region, &defs, known, arms, &roots) {
                chosen.carry_out(region, &defs, block, &roots);
                defs = Defs::of(region);
                uses = None;
            }
        }
    }
}

/// Returns whether both arms end in the same operation, or in a `select` that may hide one.
fn ends_alike(defs: &Defs, root: &Root) -> bool {
    let ends = [root.pair.0, root.pair.1].map(|v| defs.get(v).map(|def| def.kind));
    let hidden = |v| defs.as_op(v, Op::Select).is_some();
    ends[0].is_some() && ends[0] == ends[1] || hidden(root.pair.0) || hidden(root.pair.1)
}

/// What an operation on vectors costs; a sum costs 2.
pub(crate) fn cost(op: Op, ty: Ty, from: Ty) -> i32 {
    let wide = ty.size() == 8;
    match op {
        _ if ty == Ty::F16 || from == Ty::F16 => 40,
        Op::FRem => 100,
        Op::FDiv | Op::Sqrt => 20,
        Op::Mul | Op::MulHi if ty.is_int() && (wide || ty.size() == 1) => 12,
        Op::Mul if ty.is_int() => 4,
        Op::MulHi | Op::Popcnt | Op::Clz | Op::Ctz => 16,
        Op::Convert if wide || from.size() == 8 => 8,
        Op::Convert => 4,
        Op::Select => selecting(ty),
        _ => 2,
    }
}

/// What a `select` costs, likewise.
pub(crate) fn selecting(ty: Ty) -> i32 {
    if ty == Ty::Bool { 5 } else { 3 }
}

/// The masks of two arms: lanes of the first, and those of the second if these are not all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Arms {
    first: Value,
    second: Option<Value>,
}

/// A `select` that ends two arms.
struct Root {
    /// Its place in the block.
    at: usize,
    result: Value,
    pair: Pair,
    /// What lanes of neither arm hold, and the inner `select`, which takes it.
    old: Option<(Value, Value)>,
}

/// The masks by which something varying is selected in a block, each once.
fn masks(region: &Region, defs: &Defs, block: usize) -> Vec<Arms> {
    let mut found = Vec::new();
    for inst in &region.blocks[block].insts {
        let Some((mask, _, b)) = selects(region, inst) else { continue };
        let inner = defs.as_op(b, Op::Select).filter(|inner| excludes(defs, inner.arg(0), mask));
        let arms = match inner {
            Some(inner) => Arms { first: inner.arg(0), second: Some(mask) },
            None => Arms { first: mask, second: None },
        };
        if !found.contains(&arms) {
            found.push(arms);
        }
    }
    found
}

/// Mask and operands of a `select` of varying values.
fn selects(region: &Region, inst: &Inst) -> Option<(Value, Value, Value)> {
    let is_select = matches!(inst.kind, Kind::Op { op: Op::Select, .. }) && region.ty(inst.args[0]).is_varying();
    is_select.then(|| (inst.args[0], inst.args[1], inst.args[2]))
}

/// Returns whether two masks are known to have no lane in common: `x ∧ c` and `x ∧ ¬c`.
fn excludes(defs: &Defs, a: Value, b: Value) -> bool {
    let parts = |v| [Some(v), conjunct(defs, v, 0), conjunct(defs, v, 1)].into_iter().flatten();
    parts(a).any(|x| parts(b).any(|y| is_opposite(defs, x, y)))
}

fn is_opposite(defs: &Defs, a: Value, b: Value) -> bool {
    let is_not = |x: Value, y: Value| defs.as_op(x, Op::Not).is_some_and(|not| not.arg(0) == y);
    is_not(a, b) || is_not(b, a)
}

fn conjunct(defs: &Defs, mask: Value, i: usize) -> Option<Value> {
    defs.as_op(mask, Op::And).map(|and| and.arg(i))
}

fn roots(region: &Region, defs: &Defs, block: usize, arms: Arms) -> Vec<Root> {
    let mut roots = Vec::new();
    for (at, inst) in region.blocks[block].insts.iter().enumerate() {
        let (Some((mask, a, b)), Some(result)) = (selects(region, inst), inst.result) else { continue };
        match arms.second {
            None if mask == arms.first => roots.push(Root { at, result, pair: (a, b), old: None }),
            Some(second) if mask == second => {
                let inner = defs.as_op(b, Op::Select).filter(|inner| inner.arg(0) == arms.first);
                let root = |inner: Def| Root { at, result, pair: (inner.arg(1), a), old: Some((inner.arg(2), b)) };
                roots.extend(inner.map(root));
            }
            _ => {}
        }
    }
    roots
}

/// A plan that pays.
struct Chosen {
    arms: Arms,
    fusions: HashMap<Pair, Fusion>,
    /// Values of which nothing is left.
    dying: HashSet<Value>,
    /// The pairs of the roots, with `select`s looked through.
    ends: Vec<Pair>,
}

impl Chosen {
    fn carry_out(&self, region: &mut Region, defs: &Defs, block: usize, roots: &[Root]) {
        let insts = std::mem::take(&mut region.blocks[block].insts);
        let mut done = Vec::with_capacity(insts.len());
        let mut to = identity(region);
        let mut made = HashMap::new();
        let mut ends = roots.iter().zip(&self.ends).peekable();
        for (at, inst) in insts.into_iter().enumerate() {
            let root = ends.next_if(|(root, _)| root.at == at);
            let fused = root.filter(|(_, end)| matches!(self.fusions.get(end), Some(Fusion::Fused { .. })));
            let mut maker = Maker { region, to: &mut done };
            match fused {
                Some((root, &end)) => {
                    let v = self.emit(&mut maker, &mut made, end);
                    to[root.result.index()] = match root.old {
                        Some((old, _)) => {
                            let either = self.either(&mut maker, defs);
                            select(&mut maker, either, v, old)
                        }
                        None => v,
                    };
                }
                None if inst.result.is_some_and(|v| self.dying.contains(&v)) => {}
                None => done.push(inst),
            }
        }
        region.blocks[block].insts = done;
        to.extend((to.len() as u32..region.types.len() as u32).map(Value));
        replace(region, &to);
    }

    /// What a pair is in the lanes of both arms.
    fn emit(&self, maker: &mut Maker<'_>, made: &mut HashMap<Pair, Value>, pair: Pair) -> Value {
        if let Some(&v) = made.get(&pair) {
            return v;
        }
        let v = match self.fusions.get(&pair) {
            None => pair.0,
            Some(Fusion::Selected) => select(maker, self.arms.first, pair.0, pair.1),
            Some(Fusion::Fused { kind, operands, n }) => {
                let args: Vec<Value> = operands[..*n].iter().map(|&operand| self.emit(maker, made, operand)).collect();
                let ty = maker.region.ty(pair.0);
                maker.inst(*kind, &args, ty)
            }
        };
        made.insert(pair, v);
        v
    }

    /// The lanes of both arms, of which each has a mask of its own: `x` if the masks are `x ∧ c` and `x ∧ ¬c`.
    fn either(&self, maker: &mut Maker<'_>, defs: &Defs) -> Value {
        let (first, second) = (self.arms.first, self.arms.second.unwrap_or(self.arms.first));
        let parts = |mask| [(0, 1), (1, 0)].map(|(i, j)| Some((conjunct(defs, mask, i)?, conjunct(defs, mask, j)?)));
        let common = parts(first)
            .into_iter()
            .flatten()
            .find(|&(x, c)| parts(second).into_iter().flatten().any(|(y, d)| x == y && is_opposite(defs, c, d)));
        match common {
            Some((x, _)) => x,
            None => maker.op(Op::Or, Ty::Bool, &[first, second]),
        }
    }
}

fn select(maker: &mut Maker<'_>, mask: Value, a: Value, b: Value) -> Value {
    let ty = maker.region.ty(a).ty;
    maker.inst(Kind::Op { op: Op::Select, ty, from: ty }, &[mask, a, b], Type::varying(ty))
}
