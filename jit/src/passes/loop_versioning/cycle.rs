//! The cycles of blocks that may be copied.

use super::super::defs::Defs;
use super::MAX_INSTS;
use crate::dominance::Dominators;
use crate::ir::{BlockId, End, Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Most blocks of a cycle.
const MAX_BLOCKS: usize = 48;

/// Most blocks behind a branch that are asked whether they lead anywhere but out of the region.
const MAX_LEAVING: usize = 8;

/// A cycle of blocks from a head to a latch, with one branch besides those to the slow ways of accesses that are not in bounds, and
/// those to ways that leave the region.
pub(super) struct Cycle {
    pub blocks: Vec<BlockId>,
    /// The conditions of branches to slow ways, by which they are not taken.
    pub checks: Vec<Value>,
    /// The blocks that end in a branch to a way that leaves the region, the condition, and what it is when the cycle goes on.
    pub leaving: Vec<(BlockId, Value, bool)>,
    /// The condition of the branch, and what it is when the cycle goes on.
    pub condition: (Value, bool),
}

impl Cycle {
    pub fn find(region: &Region, defs: &Defs, dominators: &Dominators, head: BlockId, latch: BlockId) -> Option<Cycle> {
        let mut cycle =
            Cycle { blocks: Vec::new(), checks: Vec::new(), leaving: Vec::new(), condition: (Value(0), true) };
        let insts = |b: BlockId| &region.block(b).insts;
        let found = cycle.follow(region, defs, dominators, head, (head, latch), false);
        let simple = |inst: &Inst| inst.kind.is_plain() || matches!(inst.kind, Kind::Tick { .. });
        let all = || cycle.blocks.iter().flat_map(|&b| insts(b));
        let is_guarded = || all().any(|inst| matches!(inst.kind, Kind::Guard { .. }));
        let fits =
            found && all().count() <= MAX_INSTS && all().all(simple) && (cycle.checks.is_empty() || is_guarded());
        (fits && cycle.may_begin_anew(region)).then_some(cycle)
    }

    /// Returns whether a round that takes a way out has done nothing until then that must not be done twice.
    fn may_begin_anew(&self, region: &Region) -> bool {
        let last = self.leaving.last().and_then(|(b, ..)| self.blocks.iter().position(|block| block == b));
        let before = self.blocks.iter().take(last.map_or(0, |i| i + 1)).flat_map(|&b| &region.block(b).insts);
        before.map(|inst| inst.kind).all(|k| k.is_pure() || k.is_plain_load() || matches!(k, Kind::Guard { .. }))
    }

    /// Goes on from a block to the latch and from there to the head.
    fn follow(
        &mut self,
        region: &Region,
        defs: &Defs,
        dominators: &Dominators,
        at: BlockId,
        (head, latch): (BlockId, BlockId),
        branched: bool,
    ) -> bool {
        // What was made since, for another loop, is not known to the tree.
        let known = dominators.is_reachable(at) && dominators.dominates(head, at);
        if self.blocks.len() == MAX_BLOCKS || region.block(at).cold || !known {
            return false;
        }
        self.blocks.push(at);
        let arrives = |cycle: &mut Cycle, to: BlockId, branched| match at == latch {
            true => to == head && branched,
            false => to != head && cycle.follow(region, defs, dominators, to, (head, latch), branched),
        };
        let found = match &region.block(at).end {
            End::Jump(edge) => arrives(self, edge.to, branched),
            End::Branch { cond, then, other }
                if at != latch && region.block(other.to).cold && is_check(defs, *cond) =>
            {
                self.checks.push(*cond);
                let arrives = arrives(self, then.to, branched);
                if !arrives {
                    self.checks.pop();
                }
                arrives
            }
            End::Branch { cond, then, other }
                if at != latch
                    && !may_count(defs, *cond)
                    && [then, other].iter().any(|e| leaves(region, e.to, head)) =>
            {
                let goes_on = leaves(region, other.to, head);
                self.leaving.push((at, *cond, goes_on));
                let arrives = arrives(self, if goes_on { then.to } else { other.to }, branched);
                if !arrives {
                    self.leaving.pop();
                }
                arrives
            }
            End::Branch { cond, then, other } if !branched && then.to != other.to => {
                let tried = [(then, true), (other, false)].into_iter().find(|(edge, _)| arrives(self, edge.to, true));
                if let Some((_, truth)) = tried {
                    self.condition = (*cond, truth);
                }
                tried.is_some()
            }
            _ => false,
        };
        if !found {
            self.blocks.pop();
        }
        found
    }
}

/// Returns whether a condition may be what ends a counted loop.
fn may_count(defs: &Defs, cond: Value) -> bool {
    let compares = |op| matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge);
    defs.get(cond).is_some_and(|def| matches!(def.kind, Kind::Op { op, ty, .. } if ty.is_int() && compares(op)))
}

/// Returns whether whatever comes to a block leaves the region within a few blocks, and not by way of this head.
fn leaves(region: &Region, to: BlockId, head: BlockId) -> bool {
    let mut blocks = vec![to];
    let mut known = 0;
    while let Some(&b) = blocks.get(known) {
        known += 1;
        for edge in region.block(b).end.edges() {
            // A way that goes back, even to a loop of its own, may go on for long.
            if edge.to == head || blocks[..known].contains(&edge.to) || blocks.len() == MAX_LEAVING {
                return false;
            }
            if !blocks.contains(&edge.to) {
                blocks.push(edge.to);
            }
        }
    }
    true
}

/// Returns whether a condition is a check of bounds.
fn is_check(defs: &Defs, cond: Value) -> bool {
    let less = defs.as_op(cond, Op::Lt);
    less.is_some_and(|less| matches!(less.kind, Kind::Op { ty: Ty::U32 | Ty::U64, .. }))
}
