//! Range-check elimination by loop versioning: counted loops check their range once; where all rounds that are left are in
//! bounds, they run in a copy without checks.
//!
//! After [`bounds`](super::bounds) and [`licm`](super::licm) a round still compares an index for every group of accesses. In a
//! loop that counts towards a limit, what these comparisons will say in all rounds to come can be computed before any round.
//!
//! ```text
//!                                              │
//!        ┌─ head: checks, body, test ─► latch ─┤            test: one comparison with the limit
//!        │                                     ▼
//!        ├──────────────── no ──── range: all rounds that are left are in bounds
//!        │                                     │ yes
//!        └── no ── copy: body without checks ◄─┘            copy: the round after this one is a whole one too
//!                    └──── yes ────┘
//! ```
//!
//! The copy is entered, and left, between two rounds, or before the first one: it runs the rounds whose test will succeed, and hands
//! the one whose test fails to the loop it was copied from. So nothing but the head's parameters passes between them, whatever ways
//! lead into the loop and out of it. The copy counts one number, its *progress*; what changes by constants is computed from that
//! ([`progress`]). If the rounds are not in bounds, the loop with the checks runs and fails where it must.
//!
//! # Which loops
//!
//! A cycle of blocks with one branch that stays in the region, which compares an integer that changes by a constant power of two in
//! every round with one that does not change. On the cycle there are pure instructions, plain loads and stores, guards, polls and counters:
//! nothing else happens while the copy runs. At least one guard is `d <u span`, where the span does not change and `d` changes by
//! a constant, wrapping around in its type; guards whose condition does not change are asked in `range` too. At most [`MAX_INSTS`]
//! instructions are copied.
//!
//! A branch to a way that leaves the region, a few blocks behind it, is in the copy, too: a round that takes it has done nothing but
//! compute and load until then, and begins anew in the loop with the checks. So is it with `if`s that nobody has taken (variant
//! `prune`).
//!
//! A branch to the slow way of an access under a mask counts as a guard: the copy goes the fast way. A cycle with these and without
//! guards is not copied: it is most likely for a loop's last lanes, which go round once.
//!
//! # Why it is sound
//!
//! What changes by how much is found in wrapping arithmetic, where sums, differences, products with constants and
//! cutting off high bits are exact. Let `d` be the value in the next round, and `q` how many rounds follow that one before the test fails.
//! The range is checked in 64 bits: `d <u span` and `0 ≤ d + q·step < span`, with `q < 2³²` and `|step| < 2²⁹`, so that
//! nothing wraps (a `d` of 64 bits and its span are compared with 2⁶² first). As `d + r·step` lies between these two for all `r`
//! up to `q`, it does not wrap around in its own type either, and every comparison would hold. The limit must be so far from
//! the end of its type that the counter does not step over it.
//!
//! Loads from addresses that do not change leave the copy, if what it writes lies elsewhere: see [`hoist`]. So do guards that compare
//! a pointer that is loaded with what was loaded before the loop ([`same_pointers`](super::same_pointers)).
//!
//! All of this is computed in the block `range` from what the head would be handed and from values outside of the cycle, never from
//! values inside of it: another way to the latch may have left those of an earlier round. Before it stands a block that asks whether the
//! round to come is a whole one: many loops go round no more than once. Fuel is counted by the polls in the copy,
//! and the exits there hold the copy's values.

mod cycle;
mod hoist;
mod progress;
mod range;

use super::defs::{Def, Defs};
use super::licm::{self, definitions};
use super::make::Maker;
use super::{dead, fold, gvn, params, sink};
use crate::dominance::Dominators;
use crate::ir::{Block, BlockId, Edge, End, ExitId, Inst, Kind, Region, Type, Value};
use cycle::Cycle;
use hoist::{Expected, Hoisted};
use progress::Progress;
use range::{Changes, Counter, Range, small};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// Most instructions that are copied.
const MAX_INSTS: usize = 240;

/// Most copies that are made for a region.
const MAX_COPIES: usize = 4;

/// How deep expressions are looked into.
const DEPTH: usize = 12;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let has_guards = |b: &Block| b.insts.iter().any(|inst| matches!(inst.kind, Kind::Guard { .. }));
    if !region.blocks.iter().any(has_guards) {
        return;
    }
    let dominators = Dominators::new(region);
    let defs = Defs::of(region);
    let home = definitions(region);
    let mut copies = 0;
    for &latch in dominators.order() {
        let heads: Vec<BlockId> = region.block(latch).end.edges().map(|edge| edge.to).collect();
        for head in heads {
            if copies == MAX_COPIES || !dominators.dominates(head, latch) {
                continue;
            }
            let Some(cycle) = Cycle::find(region, &defs, &dominators, head, latch) else { continue };
            let loop_ = Counted::new(region, &defs, &home, &dominators, cycle);
            copies += loop_.is_some_and(|l| l.make().is_some()) as usize;
        }
    }
    if copies != 0 {
        // Copies hand on what they have no use for.
        dead::run(region);
        // They count and address alike, and often by one and the same multiple.
        fold::run(region);
        params::run(region);
        gvn::run(region);
        licm::run(region);
        // `gvn` has made one of the copies that cold blocks had.
        sink::run(region);
    }
}

/// How something changes from round to round.
enum Change {
    /// By a constant.
    By(i64),
    /// As the result of a pure instruction does.
    As(Def),
}

/// What the block `range` finds out, and the one before it.
struct RangeTest {
    /// Whether the next round is a whole one, a uniform bool.
    goes_on: Value,
    /// Whether all rounds up to the last whole one may run in the copy, a uniform bool.
    all_in_bounds: Value,
    /// How many follow the next one.
    rounds: Value,
    /// How the copy computes what changes.
    progress: Progress,
    /// What it loads before its first round.
    hoisted: Hoisted,
}

/// What a round counts: units of fuel, and frames that are passed over.
#[derive(Clone, Copy)]
struct InAdvance {
    units: u32,
    frames: u32,
}

/// A block that is not cold.
fn block(params: Vec<Value>, insts: Vec<Inst>, end: End) -> Block {
    Block { params, insts, end, cold: false }
}

/// A loop that may be copied.
struct Counted<'a> {
    region: &'a mut Region,
    defs: &'a Defs,
    home: &'a [BlockId],
    dominators: &'a Dominators,
    cycle: Cycle,
    /// For parameters of blocks of the cycle but the head's: what the cycle brings.
    brought: HashMap<Value, Value>,
    /// What the back edge brings.
    next: Vec<Value>,
    /// What the block `range` has of the head's parameters.
    handed: Vec<Value>,
}

impl<'a> Counted<'a> {
    fn new(
        region: &'a mut Region,
        defs: &'a Defs,
        home: &'a [BlockId],
        dominators: &'a Dominators,
        cycle: Cycle,
    ) -> Option<Self> {
        let edge_to = |from: BlockId, to| region.block(from).end.edges().find(|edge| edge.to == to);
        let mut brought = HashMap::new();
        for pair in cycle.blocks.windows(2) {
            let args = &edge_to(pair[0], pair[1])?.args;
            brought.extend(region.block(pair[1]).params.iter().copied().zip(args.iter().copied()));
        }
        let next = edge_to(*cycle.blocks.last()?, cycle.blocks[0])?.args.clone();
        let params = region.block(cycle.blocks[0]).params.clone();
        let handed = params.into_iter().map(|p| region.new_value(region.ty(p))).collect();
        Some(Counted { region, defs, home, dominators, cycle, brought, next, handed })
    }

    fn head(&self) -> BlockId {
        self.cycle.blocks[0]
    }

    fn latch(&self) -> BlockId {
        self.cycle.blocks[self.cycle.blocks.len() - 1]
    }

    /// The instructions of a round.
    fn insts(&self) -> impl Iterator<Item = &Inst> {
        self.cycle.blocks.iter().flat_map(|&b| &self.region.block(b).insts)
    }

    /// Returns whether a value is made anew in every round.
    fn is_inside(&self, v: Value) -> bool {
        self.home.get(v.index()).is_some_and(|b| self.cycle.blocks.contains(b))
    }

    /// A value without the parameters that hand it on.
    fn source(&self, mut v: Value) -> Value {
        while let Some(&from) = self.brought.get(&v) {
            v = from;
        }
        v
    }

    /// Which parameter of the head a value is.
    fn parameter(&self, v: Value) -> Option<usize> {
        self.region.block(self.head()).params.iter().position(|&p| p == v)
    }

    /// How a value changes from round to round, as far as it can be told without looking into expressions.
    fn change(&self, v: Value, depth: usize) -> Option<Change> {
        let v = self.source(v);
        if !self.is_inside(v) {
            return Some(Change::By(0));
        }
        if let Some(i) = self.parameter(v) {
            return self.parameter_step(v, i).map(Change::By);
        }
        self.defs.get(v).filter(|d| depth > 0 && d.kind.is_pure()).map(Change::As)
    }

    /// By how much an integer changes from round to round, modulo 2⁶⁴ if it has 64 bits, else with a sign.
    fn step(&self, v: Value, depth: usize) -> Option<i64> {
        let def = match self.change(v, depth)? {
            Change::By(step) => return Some(step),
            Change::As(def) => def,
        };
        let of = |i: usize| self.step(def.arg(i), depth - 1);
        let Kind::Op { op, ty, from } = def.kind else { return None };
        let by_constant = |i: usize, x: i64| Some(self.defs.known(def.arg(i))?.wrapping_mul(x as u64) as i64);
        let step = match op {
            Op::Add => of(0)?.wrapping_add(of(1)?),
            Op::Sub => of(0)?.wrapping_sub(of(1)?),
            Op::Neg => of(0)?.wrapping_neg(),
            Op::Mul => by_constant(1, of(0)?)?,
            Op::Shl => of(0)?.checked_shl(self.defs.known(def.arg(1))? as u32 % (8 * ty.size() as u32))?,
            Op::Convert | Op::Bitcast if ty.is_int() && from.is_int() && ty.size() <= from.size() => of(0)?,
            _ => return None,
        };
        let spare = 64 - 8 * ty.size() as u32;
        ty.is_int().then_some(step << spare >> spare)
    }

    /// A parameter that stays what it is, or is itself plus constants.
    fn parameter_step(&self, p: Value, i: usize) -> Option<i64> {
        let mut v = self.source(self.next[i]);
        let mut sum = 0u64;
        for _ in 0..DEPTH {
            if v == p {
                let spare = 64 - 8 * self.region.ty(p).ty.size() as u32;
                return Some((sum << spare) as i64 >> spare);
            }
            let add = self.defs.as_op(v, Op::Add)?;
            sum = sum.wrapping_add(self.defs.known(add.arg(1))?);
            v = self.source(add.arg(0));
        }
        None
    }

    fn counter(&self) -> Option<Counter> {
        let (condition, truth) = self.cycle.condition;
        let def = self.defs.get(self.source(condition))?;
        let Kind::Op { op, ty, .. } = def.kind else { return None };
        let op = if truth { op } else { super::fold::opposite(op)? };
        let (a, b) = (def.arg(0), def.arg(1));
        let (sa, sb) = (self.step(a, DEPTH)?, self.step(b, DEPTH)?);
        let (value, limit, op, step) = match (sa, sb) {
            (s, 0) if s != 0 => (a, b, op, s),
            (0, s) if s != 0 => (b, a, super::fold::exchanged(op)?, s),
            _ => return None,
        };
        let towards = if step > 0 { matches!(op, Op::Lt | Op::Le) } else { matches!(op, Op::Gt | Op::Ge) };
        let sound = ty.is_int() && ty.size() >= 4 && towards && step.unsigned_abs().is_power_of_two() && small(step);
        sound.then_some(Counter { value, limit, ty, op, step })
    }

    /// The conditions under which a round goes on: those of guards, and those by which accesses do not go the slow way.
    fn conditions(&self) -> impl Iterator<Item = Value> + '_ {
        let guards = self.insts().filter(|inst| matches!(inst.kind, Kind::Guard { .. })).map(|inst| inst.args[0]);
        guards.chain(self.cycle.checks.iter().copied())
    }

    /// Those that no round changes: asked once, none of them is in the copy.
    fn settled(&self) -> Vec<Value> {
        let mut settled: Vec<Value> = self.conditions().filter(|&v| !self.is_inside(v)).collect();
        settled.sort_unstable();
        settled.dedup();
        settled
    }

    /// Those that need not be in the copy: the distance, the span, and by how much the distance changes.
    fn ranges(&self) -> Vec<(Value, Value, Value, i64)> {
        let range = |condition: Value| {
            let less = self.defs.as_op(condition, Op::Lt)?;
            let Kind::Op { ty: Ty::U32 | Ty::U64, .. } = less.kind else { return None };
            let (distance, span) = (less.arg(0), less.arg(1));
            let step = self.step(distance, DEPTH).filter(|&s| small(s))?;
            (self.step(span, DEPTH)? == 0).then_some((condition, distance, span, step))
        };
        self.conditions().filter_map(range).collect()
    }

    /// Makes the copy, if the loop is fit for it.
    fn make(mut self) -> Option<()> {
        let expected = self.expected_pointers();
        if !expected.is_empty() && self.make_expecting(&expected).is_some() {
            return Some(());
        }
        self.make_expecting(&[])
    }

    /// Makes the copy without the guards of some pointers that are expected to stay the same.
    fn make_expecting(&mut self, expected: &[Expected]) -> Option<()> {
        let counter = self.counter()?;
        let ranges = self.ranges();
        if ranges.is_empty() || !self.outer_values_reach_the_latch() {
            return None;
        }
        let settled = self.settled();
        let ranged = ranges.iter().map(|r| r.0);
        let checked: Vec<Value> =
            ranged.chain(settled.iter().copied()).chain(expected.iter().map(|e| e.condition)).collect();
        // There is no slow way in the copy.
        if !self.cycle.checks.iter().all(|check| checked.contains(check)) {
            return None;
        }
        let (mut test_insts, mut insts, mut first_insts) = (Vec::new(), Vec::new(), Vec::new());
        let in_advance = self.counts_in_advance(&checked);
        // What else may leave the copy may also stand between a load and what changes the pointer.
        if in_advance.is_none() && !expected.is_empty() {
            return None;
        }
        let loads_leave = in_advance.map(|_| expected);
        let test = self.range_test(&counter, &ranges, loads_leave, (&mut test_insts, &mut insts))?;
        let RangeTest { goes_on, mut all_in_bounds, rounds, mut progress, hoisted } = test;
        // Together first: what no loop around this one changes either leaves it.
        let mut m = Maker { region: self.region, to: &mut insts };
        let settled = settled.into_iter().reduce(|a, b| m.op(Op::And, Ty::Bool, &[a, b]));
        if let Some(hold) = settled {
            all_in_bounds = m.op(Op::And, Ty::Bool, &[all_in_bounds, hold]);
        }
        let some = progress.begin(&mut Maker { region: self.region, to: &mut first_insts }, rounds, in_advance);
        let loaded = hoisted.load(self, &mut progress, &mut first_insts);
        let entries = self.entries();
        let [test, range, enter, copy] = [0, 1, 2, 3].map(|i| BlockId(self.region.blocks.len() as u32 + i));
        let back = Edge { to: self.head(), args: self.handed.clone() };
        let mut args = vec![progress.first];
        args.extend(self.others(&progress).map(|i| self.handed[i]));
        let into_copy = Edge { to: copy, args };
        let [into_range, into_enter] = [range, enter].map(|to| Edge { to, args: Vec::new() });
        let end = End::Branch { cond: goes_on, then: into_range, other: back.clone() };
        self.region.blocks.push(block(self.handed.clone(), test_insts, end));
        let end = End::Branch { cond: all_in_bounds, then: into_enter, other: back.clone() };
        self.region.blocks.push(block(Vec::new(), insts, end));
        let end = match some {
            Some(cond) => End::Branch { cond, then: into_copy, other: back },
            None => End::Jump(into_copy),
        };
        self.region.blocks.push(block(Vec::new(), first_insts, end));
        let kept = |inst: &Inst| match inst.kind {
            Kind::Guard { .. } => !checked.contains(&inst.args[0]),
            Kind::Tick { .. } | Kind::FramePass => in_advance.is_none(),
            _ => !hoisted.contains(inst),
        };
        self.copy(copy, &progress, loaded, kept);
        let head = self.head();
        for block in entries.into_iter().chain([self.latch()]) {
            let edges = self.region.blocks[block.index()].end.edges_mut();
            edges.filter(|edge| edge.to == head).for_each(|edge| edge.to = test);
        }
        Some(())
    }

    /// The blocks that lead into the loop from elsewhere; none if that is not known of all that lead to its head, as a loop with
    /// several ways in would be left.
    fn entries(&self) -> Vec<BlockId> {
        let head = self.head();
        let leads_here = |b: &BlockId| self.region.block(*b).end.edges().any(|edge| edge.to == head);
        let before = (0..self.region.blocks.len() as u32).map(BlockId).filter(leads_here);
        let entry = |b: BlockId| self.dominators.is_reachable(b).then(|| !self.dominators.dominates(head, b));
        let known: Option<Vec<(BlockId, bool)>> = before.map(|b| Some((b, entry(b)?))).collect();
        known.into_iter().flatten().filter(|(_, is_entry)| *is_entry).map(|(b, _)| b).collect()
    }

    /// What a round counts, if it can be counted before the first one: nothing else could leave the copy.
    fn counts_in_advance(&self, checked: &[Value]) -> Option<InAdvance> {
        if !self.cycle.leaving.is_empty() {
            return None;
        }
        let leaving = self.insts().filter(|inst| {
            inst.kind.exit().is_some() && !checked.contains(inst.args.first().unwrap_or(&Value(u32::MAX)))
        });
        let units = leaving.map(|inst| match inst.kind {
            Kind::Tick { units, .. } => Some(units),
            _ => None,
        });
        let units = units.sum::<Option<u32>>().filter(|&units| units != 0)?;
        let frames = self.insts().filter(|inst| matches!(inst.kind, Kind::FramePass)).count() as u32;
        Some(InAdvance { units, frames })
    }

    /// Returns whether all values from outside that the cycle uses hold at the latch, whatever way leads there.
    fn outer_values_reach_the_latch(&self) -> bool {
        let exits = self.insts().filter_map(|inst| inst.kind.exit());
        let in_exits = exits.flat_map(|e| self.region.exits[e.index()].values());
        let used = self.insts().flat_map(|inst| inst.args.iter().copied()).chain(in_exits);
        let handed = self.brought.values().copied().chain(self.next.iter().copied());
        let asked = self.cycle.checks.iter().copied().chain(self.cycle.leaving.iter().map(|&(_, cond, _)| cond));
        let at_latch = |v: Value| self.home.get(v.index()).is_some_and(|&b| self.dominators.dominates(b, self.latch()));
        used.chain(handed).chain(asked).all(|v| self.is_inside(v) || at_latch(v))
    }

    /// The value that something inside the cycle will have in the next round, computed before it.
    fn next_round(&mut self, v: Value, to: &mut Vec<Inst>, made: &mut HashMap<Value, Value>) -> Option<Value> {
        let v = self.source(v);
        if !self.is_inside(v) {
            return Some(v);
        }
        if let Some(i) = self.parameter(v) {
            return Some(self.handed[i]);
        }
        if let Some(&there) = made.get(&v) {
            return Some(there);
        }
        let home = self.home[v.index()];
        let inst = self.region.block(home).insts.iter().find(|inst| inst.result == Some(v))?.clone();
        if !inst.kind.is_pure() || to.len() > MAX_INSTS {
            return None;
        }
        let args = inst.args.iter().map(|&a| self.next_round(a, to, made)).collect::<Option<Vec<_>>>()?;
        let ty = self.region.ty(v);
        let new = Maker { region: self.region, to }.inst(inst.kind, &args, ty);
        made.insert(v, new);
        Some(new)
    }

    /// Makes what the block `range` computes. Loads may leave the loop, among them those of pointers that are expected to stay the same,
    /// only if it is left by nothing but polls, and these are counted in advance.
    fn range_test(
        &mut self,
        counter: &Counter,
        ranges: &[(Value, Value, Value, i64)],
        loads_leave: Option<&[Expected]>,
        (before, to): (&mut Vec<Inst>, &mut Vec<Inst>),
    ) -> Option<RangeTest> {
        let made = &mut HashMap::new();
        let mut changes = Changes::default();
        let value = self.next_round(counter.value, before, made)?;
        let limit = self.next_round(counter.limit, before, made)?;
        let goes_on = counter.goes_on(&mut Maker { region: self.region, to: before }, value, limit);
        let mut sides = Vec::new();
        for &(_, distance, span, step) in ranges {
            sides.push((self.next_round(distance, to, made)?, self.next_round(span, to, made)?, step));
        }
        let mut m = Maker { region: self.region, to };
        let (mut ok, rounds) = counter.rounds_after(&mut m, value, limit);
        let mut merged = Vec::new();
        for (distance, span, step) in sides {
            Range::add(&mut merged, &mut m, distance, span, step);
        }
        for range in merged {
            let holds = range.holds(&mut m, (rounds, &mut changes));
            ok = m.op(Op::And, Ty::Bool, &[ok, holds]);
        }
        let mut progress = Progress::new(counter.step.unsigned_abs());
        let exact = progress.follow(self, (rounds, &mut changes), to, made)?;
        for holds in exact {
            ok = Maker { region: self.region, to }.op(Op::And, Ty::Bool, &[ok, holds]);
        }
        let mut hoisted = Hoisted::default();
        if let Some(expected) = loads_leave {
            let (found, holds) = Hoisted::find(self, expected, &progress, (rounds, &mut changes), to);
            if !expected.iter().all(|e| found.contains(&e.load)) {
                return None;
            }
            hoisted = found;
            for holds in holds {
                ok = Maker { region: self.region, to }.op(Op::And, Ty::Bool, &[ok, holds]);
            }
        }
        Some(RangeTest { goes_on, all_in_bounds: ok, rounds, progress, hoisted })
    }

    /// The parameters of the head that the copy must hand on.
    fn others(&self, progress: &Progress) -> impl Iterator<Item = usize> + use<> {
        let params = self.region.block(self.head()).params.clone();
        let derived: Vec<bool> = params.iter().map(|p| progress.derives(*p)).collect();
        (0..params.len()).filter(move |&i| !derived[i])
    }

    /// Copies what is kept of the cycle into one block, or into several that end where a way leaves the region, with what stands for
    /// values that are known before it.
    fn copy(
        &mut self,
        copy: BlockId,
        progress: &Progress,
        mut to: HashMap<Value, Value>,
        kept: impl Fn(&Inst) -> bool,
    ) {
        let now = self.region.new_value(Type::uniform(Ty::U64));
        let mut params = vec![now];
        for i in self.others(progress) {
            let p = self.region.block(self.head()).params[i];
            let new = self.region.new_value(self.region.ty(p));
            params.push(new);
            to.insert(p, new);
        }
        let mut insts = Vec::new();
        progress.derive(&mut Maker { region: self.region, to: &mut insts }, now, &mut to);
        // A round that is about to leave the region begins anew in the loop with the checks, which does that.
        let anew = self.region.block(self.head()).params.iter().map(|p| to.get(p).copied().unwrap_or(*p)).collect();
        let anew = Edge { to: self.head(), args: anew };
        for b in self.cycle.blocks.clone() {
            for p in self.region.block(b).params.clone() {
                if let Some(from) = self.brought.get(&p) {
                    let new = to.get(from).copied().unwrap_or(*from);
                    to.insert(p, new);
                }
            }
            for mut inst in self.region.block(b).insts.clone() {
                let varies = inst.result.is_some_and(|v| self.region.ty(v).is_varying());
                progress.use_splats(&mut inst, varies);
                let is_derived = inst.result.is_some_and(|v| progress.derives(v));
                if kept(&inst) && !is_derived {
                    self.copy_inst(inst, &mut to, &mut insts);
                }
            }
            if let Some(&(_, cond, truth)) = self.cycle.leaving.iter().find(|&&(at, ..)| at == b) {
                let cond = to.get(&cond).copied().unwrap_or(cond);
                let [left, next] = [1, 2].map(|i| BlockId(self.region.blocks.len() as u32 + i));
                let [on, out] = [next, left].map(|to| Edge { to, args: Vec::new() });
                let (then, other) = if truth { (on, out) } else { (out, on) };
                let (params, insts) = (std::mem::take(&mut params), std::mem::take(&mut insts));
                self.region.blocks.push(block(params, insts, End::Branch { cond, then, other }));
                self.region.blocks.push(Block { cold: true, ..block(Vec::new(), Vec::new(), End::Jump(anew.clone())) });
            }
        }
        let after = |v: Value| to.get(&v).copied().unwrap_or(v);
        let mut args: Vec<Value> = self.next.iter().map(|&v| after(v)).collect();
        let (then, more) = progress.advance(&mut Maker { region: self.region, to: &mut insts }, now);
        let mut again = vec![then];
        again.extend(self.others(progress).map(|i| args[i]));
        for (i, p) in self.region.block(self.head()).params.iter().enumerate() {
            args[i] = progress.last(*p).unwrap_or(args[i]);
        }
        // What only those behind the copy ask for has a place there.
        let behind = BlockId(self.region.blocks.len() as u32 + 1);
        let (then, other) = (Edge { to: copy, args: again }, Edge { to: behind, args: Vec::new() });
        let back = Edge { to: self.head(), args };
        self.region.blocks.push(block(params, insts, End::Branch { cond: more, then, other }));
        self.region.blocks.push(block(Vec::new(), Vec::new(), End::Jump(back)));
    }

    fn copy_inst(&mut self, mut inst: Inst, to: &mut HashMap<Value, Value>, insts: &mut Vec<Inst>) {
        let now = |v: &mut Value| *v = to.get(v).copied().unwrap_or(*v);
        inst.args.iter_mut().for_each(now);
        if let Some(exit) = inst.kind.exit_mut() {
            let mut state = self.region.exits[exit.index()].clone();
            state.values_mut().for_each(now);
            self.region.exits.push(state);
            *exit = ExitId(self.region.exits.len() as u32 - 1);
        }
        if let Some(old) = inst.result {
            let ty = self.region.ty(old);
            let new = self.region.new_value(ty);
            to.insert(old, new);
            inst.result = Some(new);
        }
        insts.push(inst);
    }
}
