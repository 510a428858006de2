//! Tests of a program that decide checks of bounds, too: `if (k < m) a[k]`.
//!
//! Where nothing is known of `k` (the index of a histogram, a hash), a round of a loop compares it twice: with the program's limit and
//! with the array's. Neither limit changes in the loop, so the program's test is made with the smaller of the two:
//!
//! ```text
//! branch k <u m ─ yes ─► guard, access        branch k <u least ─ yes ─────────────────────────► access
//!       └── no ─► …                     to          └─ no ─► branch k <u m ─ yes ─► guard ──────────┘
//!                                                              └── no ─► …
//! ```
//!
//! A guard says `k + p <u span`, where `p`, the elements before the pointer, is what the least index is below 0. If `p ≤u span`, it
//! holds for all `k <u span - p`, and nothing wraps around. So `least` is `min(m, span - p)`; if `p` is greater, it is 0, and all `k`
//! go the old way, as those do that are beyond `least`. A number of 32 bits that the program compares in 64, while its array is asked for
//! 32, is compared in 32, below 2³¹: those are the same in both.
//!
//! Rules: the branch compares unsigned integers, or what are their bits; the block for the smaller ones has no other way to it and
//! begins with the guard, behind pure instructions at most, of which its snapshot needs none. `m`, the least index and the span come
//! from before a loop around the branch. The guard stays in front of everything that it was in front of, and is asked wherever it is not
//! known to hold.

use super::defs::{Def, Defs};
use super::licm::{Loops, definitions};
use super::make::Maker;
use crate::dominance::Dominators;
use crate::ir::{Block, BlockId, Edge, End, Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let is_guard = |inst: &Inst| matches!(inst.kind, Kind::Guard { .. });
    if !region.blocks.iter().any(|block| block.insts.iter().any(is_guard)) {
        return;
    }
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    if loops.count() == 0 {
        return;
    }
    let (defs, home) = (Defs::of(region), definitions(region));
    let mut ways_to = vec![0; region.blocks.len()];
    for &b in dominators.order() {
        region.block(b).end.edges().for_each(|edge| ways_to[edge.to.index()] += 1);
    }
    let mut known = HashMap::new();
    for &b in dominators.order().iter().filter(|&&b| loops.of(b).is_some()) {
        let Some(test) = Test::of(region, &defs, b).filter(|test| ways_to[test.inside.index()] == 1) else { continue };
        let found = [Some(test), test.of_32_bits(&defs)].into_iter().flatten().find_map(|test| {
            let guards = Guards::of(region, &defs, &home, &test)?;
            Some((test, guards))
        });
        let Some((test, guards)) = found else { continue };
        let limits = guards.bounds.iter().flat_map(|bound| [Some(bound.span), bound.low]).flatten().chain([test.limit]);
        let is_fixed = |l: usize| limits.clone().all(|v| !loops.contains(l, home[v.index()]));
        if let Some(l) = loops.around(b).take_while(|&l| is_fixed(l)).last() {
            let in_front = dominators.parent(loops.header(l));
            // (One number that many tests compare with stays in a register.)
            let same = (in_front, test.limit, test.ty, guards.bounds.clone());
            let least = *known.entry(same).or_insert_with(|| least(region, in_front, &test, &guards));
            split(region, b, &test, guards, least);
        }
    }
}

/// The test at the end of a block.
#[derive(Clone, Copy)]
struct Test {
    /// The number that is compared, and its limit.
    index: Value,
    limit: Value,
    /// As what the number is compared. The limit may have more bits.
    ty: Ty,
    /// Where those below the limit go.
    inside: BlockId,
    /// Whether that is where the condition holds.
    holds: bool,
}

impl Test {
    fn of(region: &Region, defs: &Defs, b: BlockId) -> Option<Test> {
        let block = region.block(b);
        let End::Branch { cond, then, other } = &block.end else { return None };
        let compared = defs.get(*cond)?;
        let Kind::Op { op, ty: ty @ (Ty::U32 | Ty::U64), .. } = compared.kind else { return None };
        let (index, limit, holds) = match op {
            Op::Lt => (compared.arg(0), compared.arg(1), true),
            Op::Gt => (compared.arg(1), compared.arg(0), true),
            Op::Ge => (compared.arg(0), compared.arg(1), false),
            Op::Le => (compared.arg(1), compared.arg(0), false),
            _ => return None,
        };
        let inside = if holds { then } else { other };
        let is_plain = !block.cold && then.to != other.to && inside.args.is_empty();
        is_plain.then_some(Test { index, limit, ty, inside: inside.to, holds })
    }

    /// The test of a number of 32 bits that is compared in 64.
    fn of_32_bits(self, defs: &Defs) -> Option<Test> {
        let index = bits(defs, self.index);
        let has_32 = matches!(index.narrow, Some(Ty::I32 | Ty::U32)) && self.ty == Ty::U64;
        has_32.then_some(Test { index: index.of, ty: Ty::U32, ..self })
    }
}

/// A check of bounds: `index - low <u span`.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Bound {
    low: Option<Value>,
    span: Value,
}

/// The guards that a block begins with, of the number that is compared in front of it.
struct Guards {
    bounds: Vec<Bound>,
    /// They, and what they are computed from in the block, in order.
    insts: Vec<Inst>,
}

impl Guards {
    fn of(region: &Region, defs: &Defs, home: &[BlockId], test: &Test) -> Option<Guards> {
        let insts = &region.block(test.inside).insts;
        let is_inside = |v: Value| home[v.index()] == test.inside;
        let mut found = Guards { bounds: Vec::new(), insts: Vec::new() };
        let mut needed = Vec::new();
        let mut end = 0;
        for (at, inst) in insts.iter().enumerate() {
            let Kind::Guard { exit } = inst.kind else {
                if inst.kind.is_pure() {
                    continue;
                }
                break;
            };
            let is_free = !region.exits[exit.index()].values().any(is_inside);
            let Some(bound) = bound(defs, inst.args[0], test).filter(|_| is_free) else { break };
            found.bounds.push(bound);
            needed.push(inst.args[0]);
            end = at + 1;
        }
        for inst in insts[..end].iter().rev() {
            let is_guard = matches!(inst.kind, Kind::Guard { .. });
            if is_guard || inst.result.is_some_and(|v| needed.contains(&v)) {
                needed.extend(inst.args.iter().copied().filter(|&v| is_inside(v)));
                found.insts.push(inst.clone());
            }
        }
        found.insts.reverse();
        (!found.bounds.is_empty()).then_some(found)
    }
}

/// What a condition says of the number that a test compares, if it is a check of bounds.
fn bound(defs: &Defs, condition: Value, test: &Test) -> Option<Bound> {
    let less = defs.as_op(condition, Op::Lt)?;
    let Kind::Op { ty, .. } = less.kind else { return None };
    let (index, distance, span) = (bits(defs, test.index), stripped(defs, less.arg(0)), less.arg(1));
    let low = match defs.as_op(distance, Op::Sub) {
        _ if bits(defs, distance) == index => None,
        Some(difference) if bits(defs, difference.arg(0)) == index => Some(difference.arg(1)),
        _ => return None,
    };
    (ty == test.ty).then_some(Bound { low, span })
}

/// What a number has its bits from.
#[derive(Clone, Copy, PartialEq)]
struct Bits {
    of: Value,
    /// The type of that, if it has fewer bits: what is converted to a signed and to an unsigned integer is the same.
    narrow: Option<Ty>,
}

fn bits(defs: &Defs, v: Value) -> Bits {
    let v = stripped(defs, v);
    match defs.get(v).map(|def| (def, def.kind)) {
        Some((def, Kind::Op { op: Op::Convert, ty, from }))
            if ty.is_int() && from.is_int() && from.size() < ty.size() =>
        {
            Bits { of: def.arg(0), narrow: Some(from) }
        }
        _ => Bits { of: v, narrow: None },
    }
}

/// A number without what leaves its bits as they are.
fn stripped(defs: &Defs, mut v: Value) -> Value {
    let is_same = |def: &Def| match def.kind {
        Kind::Op { op: Op::Convert | Op::Bitcast, ty, from } => {
            ty.is_int() && from.is_int() && ty.size() == from.size()
        }
        _ => false,
    };
    while let Some(def) = defs.get(v).filter(is_same) {
        v = def.arg(0);
    }
    v
}

/// Computes, at the end of a block, below what a number is inside.
fn least(region: &mut Region, to: BlockId, test: &Test, guards: &Guards) -> Value {
    let mut insts = std::mem::take(&mut region.blocks[to.index()].insts);
    let mut m = Maker { region, to: &mut insts };
    let ty = test.ty;
    let mut least = test.limit;
    if m.region.ty(least).ty != ty {
        least = m.with(Op::Min, Ty::U64, least, 1 << 31);
        least = m.cast(Op::Convert, least, ty);
    }
    for bound in &guards.bounds {
        let mut room = bound.span;
        if let Some(low) = bound.low {
            let (zero, low) = (m.constant(ty, 0), m.cast(Op::Bitcast, low, ty));
            let before = m.op(Op::Sub, ty, &[zero, low]);
            let is_near = m.op(Op::Le, ty, &[before, room]);
            let rest = m.op(Op::Sub, ty, &[room, before]);
            room = m.op(Op::Select, ty, &[is_near, rest, zero]);
        }
        least = m.op(Op::Min, ty, &[least, room]);
    }
    region.blocks[to.index()].insts = insts;
    least
}

/// Makes the test with the least limit, and the old one, with the guards behind it, for what is beyond.
fn split(region: &mut Region, b: BlockId, test: &Test, guards: Guards, least: Value) {
    let is_moved = |inst: &Inst| guards.insts.contains(inst) && matches!(inst.kind, Kind::Guard { .. });
    region.blocks[test.inside.index()].insts.retain(|inst| !is_moved(inst));
    let to_inside = || Edge { to: test.inside, args: Vec::new() };
    let cold = |insts, end| Block { params: Vec::new(), insts, end, cold: true };
    let mut copies = HashMap::new();
    let mut insts = guards.insts;
    for inst in &mut insts {
        inst.args.iter_mut().for_each(|v| *v = copies.get(v).copied().unwrap_or(*v));
        inst.result = inst.result.map(|v| {
            let copy = region.new_value(region.ty(v));
            copies.insert(v, copy);
            copy
        });
    }
    let guarded = BlockId(region.blocks.len() as u32);
    region.blocks.push(cold(insts, End::Jump(to_inside())));
    let again = BlockId(region.blocks.len() as u32);
    let mut end = region.block(b).end.clone();
    if let End::Branch { then, other, .. } = &mut end {
        (if test.holds { then } else { other }).to = guarded;
    }
    region.blocks.push(cold(Vec::new(), end));
    let mut insts = std::mem::take(&mut region.blocks[b.index()].insts);
    let mut m = Maker { region, to: &mut insts };
    let index = m.cast(Op::Bitcast, test.index, test.ty);
    let cond = m.op(Op::Lt, test.ty, &[index, least]);
    let block = &mut region.blocks[b.index()];
    block.insts = insts;
    block.end = End::Branch { cond, then: to_inside(), other: Edge { to: again, args: Vec::new() } };
}
