//! Masks of which some lane is known to be active.

use crate::dominance::Dominators;
use crate::ir::{BlockId, Edge, End, Inst, Kind, Region, Value};

/// What a back end knows of a region, to find that out.
pub(crate) struct Activity<'a, 'r> {
    pub region: &'r Region,
    pub dominators: &'a Dominators,
    /// How many edges lead to a block.
    pub ways_into: &'a dyn Fn(BlockId) -> usize,
    /// The instruction that defines a value.
    pub inst_of: &'a dyn Fn(Value) -> Option<&'r Inst>,
    /// The block that a value is a parameter of.
    pub param_of: &'a dyn Fn(Value) -> Option<BlockId>,
}

impl Activity<'_, '_> {
    /// Returns whether a lane of a mask is active whenever a block is entered, because it was asked for.
    pub fn is_some(&self, mask: Value, at: BlockId) -> bool {
        self.holds(mask, at, &mut Vec::new())
    }

    /// The same; `assumed` is taken to be so.
    fn holds(&self, mask: Value, at: BlockId, assumed: &mut Vec<Value>) -> bool {
        if assumed.contains(&mask) {
            return true;
        }
        let mut block = at;
        while block != BlockId(0) {
            let parent = self.dominators.parent(block);
            let end = &self.region.block(parent).end;
            if (self.ways_into)(block) == 1 && end.edges().any(|e| e.to == block && self.asks_for(end, e, mask)) {
                return true;
            }
            block = parent;
        }
        let Some(home) = (self.param_of)(mask) else { return false };
        let Some(i) = self.region.block(home).params.iter().position(|&p| p == mask) else { return false };
        // If it was so at every earlier entry of the block, and every way to it keeps it so, then it is so at this one.
        assumed.push(mask);
        self.dominators.order().iter().all(|&from| {
            let end = &self.region.block(from).end;
            let mut into = end.edges().filter(|e| e.to == home);
            into.all(|e| self.asks_for(end, e, e.args[i]) || self.holds(e.args[i], from, assumed))
        })
    }

    /// Returns whether an edge is taken only if a lane of a mask is active.
    fn asks_for(&self, end: &End, edge: &Edge, mask: Value) -> bool {
        let End::Branch { cond, then, other } = end else { return false };
        let asked = |inst: &Inst| inst.kind == Kind::AnyLane && inst.args[0] == mask;
        then == edge && then.to != other.to && (self.inst_of)(*cond).is_some_and(asked)
    }
}
