//! Checks of bounds that others imply disappear; checks of one array by one index are merged.
//!
//! The recorder checks every access for itself: `index - low <u span`, where both bounds depend on the pointer alone
//! ([`Kind::IndexLow`], [`Kind::IndexSpan`]), as the condition of a guard; of a gather or scatter, `not any (mask and not …)`.
//! A stencil checks `i`, `i - 1` and `i + 1`, an update checks for reading and for writing, a structure its every field.
//!
//! # What a check says
//!
//! A check by the index `x + k` (with a constant `k`) of the bytes `[low, high)` at `pointer + index * scale` holds if and
//! only if those bytes lie in the region and the index is not above the type's maximum less 63 (see [`Kind::IndexSpan`]). So
//! it says `start + low + (x + k) * scale ≥ 0` and `start + high + (x + k) * scale ≤ length`, and both are monotone in `k`,
//! `low` and `high`. `x + k` may wrap around, but if it is in bounds for the least `k` of several checks that are at most 63
//! apart, then no other of them does, because of those 63.
//!
//! # Rules
//!
//! *Implied.* A check is dropped if on every way to it another with no greater `k` and `low` has held, and another (or the
//! same) with no smaller `k` and `high`, of the same pointer, scale and index, `k`s at most 63 apart; if it is for writing, one
//! of that pointer for writing. A region's length does not change while it exists. Pointers to memory of frames that the
//! region itself makes are left alone: it ends.
//!
//! *Merged.* Several checks in a block, none of which is parted from the next by an effect, become one, at the place of the
//! first: of the bytes from the least `low` to the greatest `high`, at the least `k`, with a span that is smaller by how far
//! the greatest `k` is away. The single check is as strong as all of them, not stronger, if one of them has both the least
//! `k` and the least `low`, and one both the greatest `k` and the greatest `high`; otherwise they are not merged.
//!
//! If the merged check fails, the region is left by the exit of the first one: the interpreter then does its instruction and
//! those that follow, and traps where it would have. Nothing between the first and the last check has an effect (loads
//! have none), so nothing is done twice.

use super::defs::{Def, Defs};
use super::has_frames;
use super::licm::definitions;
use crate::dominance::{Dominators, Step};
use crate::exec_ir::meaning::normalised;
use crate::ir::{BlockId, Inst, Kind, Region, Type, Value, unsigned};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// How far an index in bounds may be moved without wrapping around.
const REACH: i64 = 63;

/// Most bytes that a merged check covers at one index.
const MAX_NEED: i64 = 1 << 20;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let steps = Dominators::new(region).tour();
    let home = definitions(region);
    let frames = has_frames(region);
    let mut defs = Defs::none(region);
    region.blocks.iter().flat_map(|b| &b.insts).for_each(|inst| defs.note(inst));
    let mut pass = Bounds { region, defs, home, frames, held: HashMap::new(), trail: Vec::new() };
    let mut marks = Vec::new();
    for step in steps {
        match step {
            Step::Enter(b) => {
                marks.push(pass.trail.len());
                pass.block(b);
            }
            Step::Leave => pass.forget(marks.pop().unwrap_or(0)),
        }
    }
}

/// What checks have in common that can be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Place {
    pointer: Value,
    scale: u32,
    ty: Ty,
    /// The index without its constant part; `None` if it is a constant.
    index: Option<Value>,
    /// The lanes that are checked, if not all.
    mask: Option<Value>,
}

/// What a check says of its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Check {
    k: i64,
    low: i64,
    high: i64,
    write: bool,
}

/// Checks that become one.
struct Group {
    place: Place,
    /// Where their guards stand in the block.
    guards: Vec<usize>,
    checks: Vec<Check>,
}

struct Bounds<'a> {
    region: &'a mut Region,
    defs: Defs,
    home: Vec<BlockId>,
    frames: bool,
    /// The checks that have held on every way to where the tour is.
    held: HashMap<Place, Vec<Check>>,
    /// Places of checks in the order in which they were noted.
    trail: Vec<Place>,
}

impl Bounds<'_> {
    fn forget(&mut self, mark: usize) {
        for place in self.trail.drain(mark..) {
            self.held.get_mut(&place).map(Vec::pop);
        }
    }

    fn block(&mut self, b: BlockId) {
        let mut insts = std::mem::take(&mut self.region.blocks[b.index()].insts);
        let mut drop = vec![false; insts.len()];
        let mut groups: Vec<Group> = Vec::new();
        let mut open = 0;
        for (at, inst) in insts.iter().enumerate() {
            if separates(inst.kind) {
                open = groups.len();
            }
            let Kind::Guard { .. } = inst.kind else { continue };
            let Some((place, check)) = self.parse(inst.args[0]) else { continue };
            let stable = self.is_stable(place);
            let holds = |place| self.held.get(&place).is_some_and(|held| is_implied(held, check));
            if stable && (holds(place) || holds(Place { mask: None, ..place })) {
                drop[at] = true;
                continue;
            }
            match groups[open..].iter_mut().find(|g| g.place == place && merged(&g.checks, check).is_some()) {
                Some(group) => {
                    group.guards.push(at);
                    group.checks.push(check);
                }
                None => groups.push(Group { place, guards: vec![at], checks: vec![check] }),
            }
            if stable {
                self.held.entry(place).or_default().push(check);
                self.trail.push(place);
            }
        }
        let mut before: Vec<(usize, Vec<Inst>)> = Vec::new();
        for group in groups.iter().filter(|g| g.guards.len() > 1) {
            let mut made = Vec::new();
            let Some(check) = exact(&group.checks) else { continue };
            let condition = self.make(group, check, &mut made);
            insts[group.guards[0]].args[0] = condition;
            group.guards[1..].iter().for_each(|&at| drop[at] = true);
            before.push((group.guards[0], made));
        }
        before.sort_by_key(|b| b.0);
        let mut before = before.into_iter().peekable();
        let mut done = Vec::with_capacity(insts.len());
        for (at, inst) in insts.into_iter().enumerate() {
            if let Some((_, made)) = before.next_if(|b| b.0 == at) {
                done.extend(made);
            }
            if !drop[at] {
                done.push(inst);
            }
        }
        self.region.blocks[b.index()].insts = done;
    }

    /// Does what is known of the pointer's region hold as long as the compiled region runs?
    fn is_stable(&self, place: Place) -> bool {
        !self.frames || self.home[place.pointer.index()] == BlockId(0)
    }

    /// The check that a guard's condition is, if it is one.
    fn parse(&self, condition: Value) -> Option<(Place, Check)> {
        if let Some(not) = self.defs.as_op(condition, Op::Not) {
            let any = self.defs.get(not.arg(0)).filter(|d| matches!(d.kind, Kind::AnyLane))?;
            let (mask, in_bounds) = self.bad_lanes(any.arg(0))?;
            let varies = |x| self.region.ty(x).is_varying();
            return self.comparison(in_bounds, mask).filter(|(place, _)| place.index.is_some_and(varies));
        }
        self.comparison(condition, None)
    }

    /// Of the lanes that are out of bounds: the mask, if there is one, and the condition that is false in them.
    fn bad_lanes(&self, bad: Value) -> Option<(Option<Value>, Value)> {
        if let Some(not) = self.defs.as_op(bad, Op::Not) {
            return Some((None, not.arg(0)));
        }
        let and = self.defs.as_op(bad, Op::And)?;
        let pair = |mask, denied| self.defs.as_op(denied, Op::Not).map(|not: Def| (Some(mask), not.arg(0)));
        pair(and.arg(0), and.arg(1)).or_else(|| pair(and.arg(1), and.arg(0)))
    }

    /// `index - low <u span`.
    fn comparison(&self, condition: Value, mask: Option<Value>) -> Option<(Place, Check)> {
        let less = self.defs.as_op(condition, Op::Lt)?;
        let span = self.defs.get(less.arg(1))?;
        let Kind::IndexSpan { scale, disp, need, ty } = span.kind else { return None };
        let pointer = span.arg(0);
        let length = self.defs.get(span.arg(1))?;
        let Kind::RegionLen { write } = length.kind else { return None };
        let distance = less.arg(0);
        let distance = self.defs.as_op(distance, Op::Bitcast).map_or(distance, |d| d.arg(0));
        let distance = self.defs.as_op(distance, Op::Sub)?;
        let low = self.defs.get(distance.arg(1))?;
        let same = low.kind == Kind::IndexLow { scale, disp, ty } && low.arg(0) == pointer && length.arg(0) == pointer;
        let Kind::Op { ty: subtracted, .. } = distance.kind else { return None };
        if !same || subtracted != ty {
            return None;
        }
        let (index, k) = self.parts(distance.arg(0), ty);
        let place = Place { pointer, scale, ty, index, mask };
        Some((place, Check { k, low: disp, high: disp.checked_add(need as i64)?, write }))
    }

    /// An index as a value plus a constant.
    fn parts(&self, index: Value, ty: Ty) -> (Option<Value>, i64) {
        let signed = |bits: u64| if ty.size() == 4 { bits as i32 as i64 } else { bits as i64 };
        if let Some(bits) = self.defs.known(index) {
            return (None, signed(bits));
        }
        match self.defs.as_op(index, Op::Add) {
            Some(add) => match self.defs.known(add.arg(1)) {
                Some(bits) => (Some(add.arg(0)), signed(bits)),
                None => (Some(index), 0),
            },
            None => (Some(index), 0),
        }
    }

    /// Makes the condition of a merged check.
    fn make(&mut self, group: &Group, check: Check, to: &mut Vec<Inst>) -> Value {
        let Place { pointer, scale, ty, index, mask } = group.place;
        let reach = group.checks.iter().map(|c| c.k).max().unwrap_or(check.k) - check.k;
        let (disp, need) = (check.low, (check.high - check.low) as u32);
        let (number, count) = (Type::uniform(ty), Type::uniform(unsigned(ty)));
        let length = self.push(to, Kind::RegionLen { write: check.write }, &[pointer], Type::uniform(Ty::U64));
        let low = self.push(to, Kind::IndexLow { scale, disp, ty }, &[pointer], number);
        let mut span = self.push(to, Kind::IndexSpan { scale, disp, need, ty }, &[pointer, length], count);
        if reach > 0 {
            let far = self.push(to, Kind::Const(reach as u64), &[], count);
            let at_least = self.op(to, Op::Max, count.ty, &[span, far], count.ty);
            span = self.op(to, Op::Sub, count.ty, &[at_least, far], count.ty);
        }
        let k = self.push(to, Kind::Const(normalised(ty, check.k as u64)), &[], number);
        let index = match index {
            Some(x) if check.k != 0 => self.op(to, Op::Add, ty, &[x, k], ty),
            Some(x) => x,
            None => k,
        };
        let mut distance = self.op(to, Op::Sub, ty, &[index, low], ty);
        if unsigned(ty) != ty {
            let kind = Kind::Op { op: Op::Bitcast, ty: unsigned(ty), from: ty };
            let shape = self.region.ty(distance).shape;
            distance = self.push(to, kind, &[distance], Type { shape, ty: unsigned(ty) });
        }
        let holds = self.op(to, Op::Lt, unsigned(ty), &[distance, span], Ty::Bool);
        if !self.region.ty(holds).is_varying() {
            return holds;
        }
        let mut bad = self.op(to, Op::Not, Ty::Bool, &[holds], Ty::Bool);
        if let Some(mask) = mask {
            bad = self.op(to, Op::And, Ty::Bool, &[mask, bad], Ty::Bool);
        }
        let some = self.push(to, Kind::AnyLane, &[bad], Type::BOOL);
        self.op(to, Op::Not, Ty::Bool, &[some], Ty::Bool)
    }

    fn op(&mut self, to: &mut Vec<Inst>, op: Op, ty: Ty, args: &[Value], result: Ty) -> Value {
        let varying = args.iter().any(|&a| self.region.ty(a).is_varying());
        let result = if varying { Type::varying(result) } else { Type::uniform(result) };
        self.push(to, Kind::Op { op, ty, from: ty }, args, result)
    }

    fn push(&mut self, to: &mut Vec<Inst>, kind: Kind, args: &[Value], ty: Type) -> Value {
        self.region.types.push(ty);
        let v = Value(self.region.types.len() as u32 - 1);
        to.push(Inst { kind, args: args.to_vec(), result: Some(v) });
        v
    }
}

/// May no check be moved across the instruction?
fn separates(kind: Kind) -> bool {
    !kind.is_pure() && !kind.is_plain_load() && !matches!(kind, Kind::Guard { .. })
}

/// Is a check implied by others of its place?
fn is_implied(held: &[Check], check: Check) -> bool {
    let below = |c: &&Check| c.k <= check.k && c.low <= check.low;
    let above = |c: &&Check| c.k >= check.k && c.high >= check.high;
    let writable = !check.write || held.iter().any(|c| c.write);
    writable && held.iter().filter(below).any(|l| held.iter().filter(above).any(|h| is_near(l.k, h.k)))
}

fn is_near(k: i64, far: i64) -> bool {
    far.checked_sub(k).is_some_and(|reach| reach <= REACH)
}

/// The check that is as strong as all of some, if there is one.
fn exact(checks: &[Check]) -> Option<Check> {
    let (k, far) = (checks.iter().map(|c| c.k).min()?, checks.iter().map(|c| c.k).max()?);
    let (low, high) = (checks.iter().map(|c| c.low).min()?, checks.iter().map(|c| c.high).max()?);
    let ends = checks.iter().any(|c| (c.k, c.low) == (k, low)) && checks.iter().any(|c| (c.k, c.high) == (far, high));
    let write = checks.iter().any(|c| c.write);
    let short = high.checked_sub(low).is_some_and(|need| need <= MAX_NEED);
    (ends && short && is_near(k, far)).then_some(Check { k, low, high, write })
}

/// The same with one more.
fn merged(checks: &[Check], more: Check) -> Option<Check> {
    exact(&[checks, &[more]].concat())
}
