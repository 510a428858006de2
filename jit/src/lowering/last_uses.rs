//! Whether anything asks for a value behind an instruction. Where nothing does, the instruction may overwrite it.

use super::Values;
use crate::ir::{BlockId, Value};

/// Blocks that are looked at behind an instruction; where there are more, something may ask.
const MOST: usize = 64;

/// Where values are asked for, by instructions, ends of blocks and snapshots.
pub(crate) struct LastUses {
    /// By value: where its uses begin.
    begins: Vec<usize>,
    /// The block of each, and the number of the instruction in it, or of instructions.
    uses: Vec<(BlockId, usize)>,
}

impl LastUses {
    pub fn of(values: &Values<'_>) -> LastUses {
        let (region, blocks) = (values.region, values.dominators.order());
        let mut begins = vec![0; region.types.len() + 1];
        blocks.iter().for_each(|&b| region.each_use(b, |v| begins[v.index()] += 1));
        let mut sum = 0;
        for begin in &mut begins {
            sum += std::mem::replace(begin, sum);
        }
        let mut uses = vec![(BlockId(0), 0); sum];
        let mut next = begins.clone();
        for &b in blocks {
            region.each_use_at(b, |v, at| {
                uses[next[v.index()]] = (b, at);
                next[v.index()] += 1;
            });
        }
        LastUses { begins, uses }
    }

    /// Returns whether a value that an instruction of a block takes is not asked for after that.
    pub fn dies(&self, values: &Values<'_>, v: Value, (block, at): (BlockId, usize)) -> bool {
        let uses = &self.uses[self.begins[v.index()]..self.begins[v.index() + 1]];
        let Some(home) = values.definition(v).block() else { return false };
        if uses.iter().any(|&(b, i)| b == block && i > at) {
            return false;
        }
        // Whoever comes to its block again comes to another value.
        let asks = |b: BlockId| b != home && uses.iter().any(|&(other, _)| other == b);
        if !uses.iter().any(|&(b, _)| asks(b)) {
            return true;
        }
        let successors = |b: BlockId| values.region.block(b).end.edges().map(|edge| edge.to);
        let mut todo: Vec<BlockId> = successors(block).collect();
        let mut seen = Vec::new();
        while let Some(b) = todo.pop() {
            if b == home || seen.contains(&b) {
                continue;
            }
            if asks(b) || seen.len() == MOST {
                return false;
            }
            seen.push(b);
            todo.extend(successors(b));
        }
        true
    }
}
