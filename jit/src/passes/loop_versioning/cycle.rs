//! The cycles of blocks that may be copied.

use super::super::defs::Defs;
use super::MAX_INSTS;
use crate::dominance::Dominators;
use crate::ir::{BlockId, End, Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Most blocks of a cycle.
const MAX_BLOCKS: usize = 48;

/// A cycle of blocks from a head to a latch, with one branch besides those to the slow ways of accesses that are not in bounds.
pub(super) struct Cycle {
    pub blocks: Vec<BlockId>,
    /// The conditions of branches to slow ways, by which they are not taken.
    pub checks: Vec<Value>,
    /// The condition of the branch, and what it is when the cycle goes on.
    pub condition: (Value, bool),
}

impl Cycle {
    pub fn find(region: &Region, defs: &Defs, dominators: &Dominators, head: BlockId, latch: BlockId) -> Option<Cycle> {
        let mut cycle = Cycle { blocks: Vec::new(), checks: Vec::new(), condition: (Value(0), true) };
        let insts = |b: BlockId| &region.block(b).insts;
        let found = cycle.follow(region, defs, dominators, head, (head, latch), false);
        let simple = |inst: &Inst| inst.kind.is_plain() || matches!(inst.kind, Kind::Tick { .. });
        let all = || cycle.blocks.iter().flat_map(|&b| insts(b));
        let is_guarded = || all().any(|inst| matches!(inst.kind, Kind::Guard { .. }));
        let fits =
            found && all().count() <= MAX_INSTS && all().all(simple) && (cycle.checks.is_empty() || is_guarded());
        fits.then_some(cycle)
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

/// Returns whether a condition is a check of bounds.
fn is_check(defs: &Defs, cond: Value) -> bool {
    let less = defs.as_op(cond, Op::Lt);
    less.is_some_and(|less| matches!(less.kind, Kind::Op { ty: Ty::U32 | Ty::U64, .. }))
}
