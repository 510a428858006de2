//! The order in which blocks are written: a loop's stand together, and where a way out of the loop branches off, the way on comes first.

use crate::dominance::{Dominators, reverse_postorder};
use crate::ir::{BlockId, Kind, Region};
use crate::passes::licm::Loops;
use std::cmp::Reverse;

/// Where blocks stand.
pub(crate) struct Layout {
    /// Reachable blocks, each before its successors but for ways back.
    pub order: Vec<BlockId>,
    /// By block: how many loops it is in.
    pub depths: Vec<usize>,
}

impl Layout {
    pub fn new(region: &Region, dominators: &Dominators) -> Layout {
        let any = dominators.order();
        let mut position = vec![0; region.blocks.len()];
        any.iter().enumerate().for_each(|(at, id)| position[id.index()] = at);
        let loops = Loops::new(region, dominators);
        let depths: Vec<usize> = (0..region.blocks.len() as u32).map(|b| loops.around(BlockId(b)).count()).collect();
        let steps = steps_back(region, any, &position);
        // What is visited last comes first.
        let successor = |id: BlockId, i: usize| {
            let mut all: Vec<BlockId> = region.block(id).end.edges().map(|edge| edge.to).collect();
            all.sort_by_key(|to| (depths[to.index()], Reverse(steps[to.index()])));
            all.get(i).copied()
        };
        let order = reverse_postorder(region.blocks.len(), successor);
        Layout { order, depths }
    }

    /// The counters that are counted most often, so many: those of the innermost loops. In their order.
    pub fn counters(&self, region: &Region, most: usize) -> Vec<u32> {
        let mut found: Vec<(usize, u32)> = Vec::new();
        for id in self.order.iter().filter(|&&id| id != BlockId(0)) {
            for inst in &region.block(*id).insts {
                if let Kind::Count(n) = inst.kind {
                    found.push((self.depths[id.index()], n));
                }
            }
        }
        found.sort_by_key(|&(depth, n)| (Reverse(depth), n));
        let mut counters = Vec::new();
        for (_, n) in found {
            if counters.len() < most && !counters.contains(&n) {
                counters.push(n);
            }
        }
        counters.sort_unstable();
        counters
    }
}

/// How many blocks are between each and the next way back to a loop's head.
fn steps_back(region: &Region, order: &[BlockId], position: &[usize]) -> Vec<usize> {
    let mut steps = vec![usize::MAX; region.blocks.len()];
    for (at, &id) in order.iter().enumerate().rev() {
        let to = |to: BlockId| if position[to.index()] <= at { 0 } else { steps[to.index()].saturating_add(1) };
        steps[id.index()] = region.block(id).end.edges().map(|edge| to(edge.to)).min().unwrap_or(usize::MAX);
    }
    steps
}
