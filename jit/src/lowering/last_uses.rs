//! Whether anything asks for a value behind an instruction. Where nothing does, the instruction may overwrite it.

use super::Values;
use crate::ir::{BlockId, End, Region, Value};

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
        let region = values.region;
        let mut begins = vec![0; region.types.len() + 1];
        each_use(values, |v, _| begins[v.index()] += 1);
        let mut sum = 0;
        for begin in &mut begins {
            sum += std::mem::replace(begin, sum);
        }
        let mut uses = vec![(BlockId(0), 0); sum];
        let mut next = begins.clone();
        each_use(values, |v, at| {
            uses[next[v.index()]] = at;
            next[v.index()] += 1;
        });
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

fn each_use(values: &Values<'_>, mut visit: impl FnMut(Value, (BlockId, usize))) {
    let region: &Region = values.region;
    for &id in values.dominators.order() {
        let block = region.block(id);
        for (i, inst) in block.insts.iter().enumerate() {
            let in_snapshot = inst.kind.exit().into_iter().flat_map(|exit| region.exits[exit.index()].values());
            inst.args.iter().copied().chain(in_snapshot).for_each(|v| visit(v, (id, i)));
        }
        let at_end = (id, block.insts.len());
        block.end.edges().flat_map(|edge| &edge.args).for_each(|&v| visit(v, at_end));
        match block.end {
            End::Exit(exit) => region.exits[exit.index()].values().for_each(|v| visit(v, at_end)),
            End::Branch { cond, .. } => visit(cond, at_end),
            End::Jump(_) => {}
        }
    }
}
