//! Guards, branches and masks that an earlier guard or branch has decided.
//!
//! What a branch was taken on, and what a guard has let pass, is known in all blocks that only this way leads to. The recorder
//! knows some of it (its facts about masks), but not what instructions have in common: a condition tested twice, an index
//! that was compared with the same limit before, a vote on a mask of which a part was found to have lanes.
//!
//! # What is learnt
//!
//! From a uniform condition that is true: both parts of an `and`; that a negated condition is false; of `any m`, that `m` has
//! a lane. From one that is false: both parts of an `or`; that a negated condition is true; of `any m`, that `m` is empty:
//! then so are both parts of an `or`, and a negated mask has all lanes. A mask with a lane has one in both parts of an `and`;
//! of one with all lanes both parts have all. A comparison of two values leaves only some of the ways in which they can be
//! ordered: less, equal, greater, or (floats) none of these.
//!
//! # Rules
//!
//! A guard of what is known to be true is dropped; a branch on what is known is a jump. Elsewhere a known bool is replaced by
//! a constant, a mask known to be full or empty by a constant mask, so that [`fold`](super::fold) can go on from there; in
//! snapshots of exits that have one place, too.
//!
//! The pass is a tour of the dominator tree. A block with one edge to it learns from that edge; what was learnt in a block is
//! forgotten when the tour leaves the blocks that it dominates.
//!
//! Joining the guards of several accesses to one of the conjunction is not done: a comparison and a branch are one operation
//! of the processor, and joining two takes more than it saves. Where it pays, for checks of bounds, [`bounds`](super::bounds)
//! joins the ranges instead.

use super::defs::Defs;
use crate::dominance::{Dominators, Step};
use crate::ir::{BlockId, End, ExitId, Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// How deep conditions are looked into.
const DEPTH: usize = 4;

/// How many comparisons are looked at, the latest first.
const MAX_COMPARISONS: usize = 32;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let defs = Defs::of(region);
    let entered = only_ways(region);
    let known = vec![Fact::Nothing; region.types.len()];
    let exits_of_one = exits_of_one(region);
    let mut pass =
        Guards { region, defs, exits_of_one, known, trail: Vec::new(), comparisons: Vec::new(), constants: [None; 4] };
    let mut marks = Vec::new();
    for step in dominators.tour() {
        match step {
            Step::Enter(b) => {
                marks.push((pass.trail.len(), pass.comparisons.len()));
                if let Some((condition, truth)) = entered[b.index()] {
                    pass.learn(condition, truth, DEPTH);
                }
                pass.block(b);
            }
            Step::Leave => {
                let (facts, comparisons) = marks.pop().unwrap_or((0, 0));
                pass.trail.drain(facts..).rev().for_each(|(v, before)| pass.known[v.index()] = before);
                pass.comparisons.truncate(comparisons);
            }
        }
    }
    pass.finish();
}

/// For blocks with one edge to them, from a branch: its condition, and what it is on that edge.
pub(super) fn only_ways(region: &Region) -> Vec<Option<(Value, bool)>> {
    let mut ways = vec![0; region.blocks.len()];
    let mut found = vec![None; region.blocks.len()];
    for block in &region.blocks {
        block.end.edges().for_each(|edge| ways[edge.to.index()] += 1);
        if let End::Branch { cond, then, other } = &block.end {
            found[then.to.index()] = Some((*cond, true));
            found[other.to.index()] = Some((*cond, false));
        }
    }
    found.iter().zip(ways).map(|(&way, n)| way.filter(|_| n == 1)).collect()
}

/// By exit: whether only one instruction or block leaves by it.
fn exits_of_one(region: &Region) -> Vec<bool> {
    let mut ways = vec![0; region.exits.len()];
    for block in &region.blocks {
        let insts = block.insts.iter().filter_map(|inst| inst.kind.exit());
        let end = if let End::Exit(exit) = block.end { Some(exit) } else { None };
        insts.chain(end).for_each(|exit| ways[exit.index()] += 1);
    }
    ways.iter().map(|&n| n == 1).collect()
}

/// What is known of a bool. Of a uniform one `All` is true and `Empty` false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fact {
    Nothing,
    /// It has a lane.
    Some,
    /// It has all lanes.
    All,
    /// It has no lane.
    Empty,
}

/// How two values can be ordered: bits for less, equal, greater, and neither.
type Orders = u8;

const ANY_ORDER: Orders = 15;

/// The orders in which a comparison is true.
fn orders(op: Op) -> Option<Orders> {
    Some(match op {
        Op::Lt => 1,
        Op::Eq => 2,
        Op::Gt => 4,
        Op::Le => 1 | 2,
        Op::Ge => 2 | 4,
        Op::Ne => 1 | 4 | 8,
        _ => return None,
    })
}

/// The orders of the same values, exchanged.
fn exchanged(orders: Orders) -> Orders {
    orders & (2 | 8) | (orders & 1) << 2 | orders >> 2 & 1
}

struct Comparison {
    ty: Ty,
    values: (Value, Value),
    orders: Orders,
}

struct Guards<'a> {
    region: &'a mut Region,
    defs: Defs,
    exits_of_one: Vec<bool>,
    known: Vec<Fact>,
    /// Values of which something was learnt, and what was known before.
    trail: Vec<(Value, Fact)>,
    comparisons: Vec<Comparison>,
    /// The constants false and true, and the masks of no and of all lanes.
    constants: [Option<Value>; 4],
}

impl Guards<'_> {
    fn block(&mut self, b: BlockId) {
        let mut insts = std::mem::take(&mut self.region.blocks[b.index()].insts);
        insts.retain_mut(|inst| {
            if let Kind::Guard { .. } = inst.kind {
                let condition = inst.args[0];
                if self.fact(condition, DEPTH) == Fact::All {
                    return false;
                }
                self.exit(inst.kind.exit());
                self.learn(condition, true, DEPTH);
                return true;
            }
            self.exit(inst.kind.exit());
            for i in 0..inst.args.len() {
                inst.args[i] = self.decided(inst.args[i]);
            }
            true
        });
        self.region.blocks[b.index()].insts = insts;
        self.end(b);
    }

    /// Puts what is known into the snapshot of an exit.
    fn exit(&mut self, exit: Option<ExitId>) {
        let Some(exit) = exit.filter(|exit| self.exits_of_one[exit.index()]) else { return };
        let known = |v: Value| matches!(self.known[v.index()], Fact::All | Fact::Empty);
        if !self.region.exits[exit.index()].values().any(known) {
            return;
        }
        let mut snapshot = self.region.exits[exit.index()].clone();
        snapshot.values_mut().for_each(|v| *v = self.decided(*v));
        self.region.exits[exit.index()] = snapshot;
    }

    fn end(&mut self, b: BlockId) {
        if let End::Exit(exit) = self.region.blocks[b.index()].end {
            return self.exit(Some(exit));
        }
        let End::Branch { cond, then, other } = &self.region.blocks[b.index()].end else { return };
        let taken = match self.fact(*cond, DEPTH) {
            Fact::All => then.clone(),
            Fact::Empty => other.clone(),
            _ => return,
        };
        self.region.blocks[b.index()].end = End::Jump(taken);
    }

    /// A value, or the constant that it is known to be.
    fn decided(&mut self, v: Value) -> Value {
        let ty = self.region.ty(v);
        if ty.ty != Ty::Bool {
            return v;
        }
        match self.known[v.index()] {
            Fact::All => self.constant(ty, true),
            Fact::Empty => self.constant(ty, false),
            _ => v,
        }
    }

    fn constant(&mut self, ty: Type, truth: bool) -> Value {
        let slot = truth as usize + 2 * ty.is_varying() as usize;
        if let Some(v) = self.constants[slot] {
            return v;
        }
        if ty.is_varying() {
            self.constant(Type::BOOL, truth);
        }
        self.known.push(Fact::Nothing);
        let v = self.region.new_value(ty);
        self.constants[slot] = Some(v);
        v
    }

    /// Puts the constants at the start of the entry block.
    fn finish(self) {
        let entry = &mut self.region.blocks[0].insts;
        for truth in [0, 1] {
            if let Some(v) = self.constants[2 + truth] {
                let args = self.constants[truth].into_iter().collect();
                entry.insert(0, Inst { kind: Kind::Splat, args, result: Some(v) });
            }
        }
        for truth in [0, 1] {
            if let Some(v) = self.constants[truth] {
                entry.insert(0, Inst { kind: Kind::Const(truth as u64), args: Vec::new(), result: Some(v) });
            }
        }
    }

    fn note(&mut self, v: Value, fact: Fact) {
        let before = std::mem::replace(&mut self.known[v.index()], fact);
        self.trail.push((v, before));
    }

    /// Notes that a uniform condition is true, or false, and what follows.
    fn learn(&mut self, v: Value, truth: bool, depth: usize) {
        if matches!(self.known[v.index()], Fact::All | Fact::Empty) {
            return;
        }
        self.note(v, if truth { Fact::All } else { Fact::Empty });
        let Some(def) = self.defs.get(v).filter(|_| depth > 0) else { return };
        match (def.kind, truth) {
            (Kind::AnyLane, true) => self.learn_mask(def.arg(0), Fact::Some, depth - 1),
            (Kind::AnyLane, false) => self.learn_mask(def.arg(0), Fact::Empty, depth - 1),
            (Kind::Op { op: Op::Not, .. }, _) => self.learn(def.arg(0), !truth, depth - 1),
            (Kind::Op { op: Op::And, .. }, true) | (Kind::Op { op: Op::Or, .. }, false) => {
                self.learn(def.arg(0), truth, depth - 1);
                self.learn(def.arg(1), truth, depth - 1);
            }
            (Kind::Op { op, ty, .. }, _) => {
                if let Some(possible) = orders(op) {
                    let orders = if truth { possible } else { ANY_ORDER & !possible };
                    self.comparisons.push(Comparison { ty, values: (def.arg(0), def.arg(1)), orders });
                }
            }
            _ => {}
        }
    }

    /// Notes something of a mask, and what follows.
    fn learn_mask(&mut self, m: Value, fact: Fact, depth: usize) {
        if self.known[m.index()] != Fact::Nothing && fact == Fact::Some {
            return;
        }
        self.note(m, fact);
        let Some(def) = self.defs.get(m).filter(|_| depth > 0) else { return };
        let parts = [def.arg(0), def.arg(1)];
        match (def.op(), fact) {
            (Some(Op::Or), Fact::Empty) | (Some(Op::And), Fact::Some | Fact::All) => {
                parts.into_iter().for_each(|part| self.learn_part(part, fact, depth - 1));
            }
            (Some(Op::Not), Fact::Empty) => self.learn_part(parts[0], Fact::All, depth - 1),
            (Some(Op::Not), Fact::All) => self.learn_part(parts[0], Fact::Empty, depth - 1),
            _ => {}
        }
    }

    /// Part of a mask may be a uniform bool, the same in all lanes.
    fn learn_part(&mut self, part: Value, fact: Fact, depth: usize) {
        if self.region.ty(part).is_varying() {
            self.learn_mask(part, fact, depth);
        } else {
            self.learn(part, fact != Fact::Empty, depth);
        }
    }

    /// What is known of a bool.
    fn fact(&self, v: Value, depth: usize) -> Fact {
        let known = self.known[v.index()];
        let Some(def) = self.defs.get(v).filter(|_| depth > 0 && !matches!(known, Fact::All | Fact::Empty)) else {
            return known;
        };
        let of = |i: usize| self.fact(def.arg(i), depth - 1);
        let derived = match def.kind {
            Kind::Const(bits) => {
                if bits != 0 {
                    Fact::All
                } else {
                    Fact::Empty
                }
            }
            Kind::Splat => of(0),
            Kind::AnyLane => match of(0) {
                Fact::Some => Fact::All,
                fact => fact,
            },
            Kind::Op { ty, .. } if ty != Ty::Bool => self.compared(def.op(), ty, (def.arg(0), def.arg(1))),
            Kind::Op { op: Op::Not, .. } => match of(0) {
                Fact::All => Fact::Empty,
                Fact::Empty => Fact::All,
                _ => Fact::Nothing,
            },
            Kind::Op { op: Op::And, .. } => match (of(0), of(1)) {
                (Fact::Empty, _) | (_, Fact::Empty) => Fact::Empty,
                (Fact::All, fact) | (fact, Fact::All) => fact,
                _ => Fact::Nothing,
            },
            Kind::Op { op: Op::Or, .. } => match (of(0), of(1)) {
                (Fact::All, _) | (_, Fact::All) => Fact::All,
                (Fact::Empty, fact) | (fact, Fact::Empty) => fact,
                (Fact::Some, _) | (_, Fact::Some) => Fact::Some,
                _ => Fact::Nothing,
            },
            _ => Fact::Nothing,
        };
        if derived == Fact::Nothing { known } else { derived }
    }

    /// What earlier comparisons of the same values say of one.
    fn compared(&self, op: Option<Op>, ty: Ty, (a, b): (Value, Value)) -> Fact {
        let Some(wanted) = op.and_then(orders) else { return Fact::Nothing };
        let mut possible = ANY_ORDER;
        for c in self.comparisons.iter().rev().take(MAX_COMPARISONS).filter(|c| c.ty == ty) {
            if c.values == (a, b) {
                possible &= c.orders;
            } else if c.values == (b, a) {
                possible &= exchanged(c.orders);
            }
        }
        // Integers are ordered.
        let possible = if ty.is_float() { possible } else { possible & !8 };
        match possible {
            p if p & !wanted == 0 => Fact::All,
            p if p & wanted == 0 => Fact::Empty,
            _ => Fact::Nothing,
        }
    }
}
