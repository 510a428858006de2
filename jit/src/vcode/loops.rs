//! The innermost loops of a region's instructions, and how many registers live through them.

use super::Target;
use super::code::VCode;
use regalloc2::{Block, Function, RegClass, VReg};

/// A loop that one block leads into.
pub(super) struct Loop {
    /// The block before it.
    pub before: Block,
    /// Its blocks, the one that it leads to first.
    pub blocks: Vec<Block>,
}

/// Finds loops that contain no other and that one edge leads into.
pub(super) fn innermost<T: Target>(code: &VCode<T>) -> Vec<Loop> {
    let ways_back = ways_back(code);
    let mut heads: Vec<Block> = ways_back.iter().map(|&(_, head)| head).collect();
    heads.sort_unstable();
    heads.dedup();
    let found = heads.iter().filter_map(|&head| {
        let mut blocks = vec![head];
        let mut todo: Vec<Block> = ways_back.iter().filter(|way| way.1 == head).map(|way| way.0).collect();
        while let Some(block) = todo.pop() {
            if !blocks.contains(&block) {
                blocks.push(block);
                todo.extend(code.block_preds(block));
            }
        }
        let inner = blocks[1..].iter().any(|b| heads.contains(b));
        let outside =
            |b: &Block| code.block_preds(*b).iter().copied().filter(|p| !blocks.contains(p)).collect::<Vec<_>>();
        // What one can come to beside the head is entered otherwise (and then the entry is among the blocks that lead there).
        let other_ways_in = blocks[1..].iter().any(|b| !outside(b).is_empty() || *b == code.entry_block());
        match outside(&head)[..] {
            [before] if !inner && !other_ways_in => Some(Loop { before, blocks }),
            _ => None,
        }
    });
    found.collect()
}

/// The edges to blocks that are on the way to them.
fn ways_back<T: Target>(code: &VCode<T>) -> Vec<(Block, Block)> {
    let (mut seen, mut on_the_way) = (vec![false; code.num_blocks()], vec![false; code.num_blocks()]);
    let (mut found, mut way) = (Vec::new(), vec![(code.entry_block(), 0)]);
    seen[0] = true;
    on_the_way[0] = true;
    while let Some((block, next)) = way.last_mut() {
        let block = *block;
        let Some(&to) = code.block_succs(block).get(*next) else {
            on_the_way[block.index()] = false;
            way.pop();
            continue;
        };
        *next += 1;
        if on_the_way[to.index()] {
            found.push((block, to));
        } else if !seen[to.index()] {
            seen[to.index()] = true;
            on_the_way[to.index()] = true;
            way.push((to, 0));
        }
    }
    found
}

/// The registers that live where blocks begin: data flow backwards, until nothing changes.
pub(super) struct Liveness {
    /// By block, a bit for each register.
    live: Vec<Vec<u64>>,
    classes: Vec<RegClass>,
}

impl Liveness {
    pub fn of<T: Target>(code: &mut VCode<T>) -> Liveness {
        let words = code.num_vregs().div_ceil(64);
        let mut classes = vec![RegClass::Int; code.num_vregs()];
        let bit = |r: VReg| (r.vreg() / 64, 1u64 << (r.vreg() % 64));
        // What a block reads before it writes it; what it writes.
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for block in 0..code.num_blocks() {
            let (mut read, mut written) = (vec![0u64; words], vec![0u64; words]);
            code.each_operand(Block::new(block), &mut |r, is_read| {
                let (word, mask) = bit(r);
                classes[r.vreg()] = r.class();
                match is_read {
                    true => read[word] |= mask & !written[word],
                    false => written[word] |= mask,
                }
            });
            reads.push(read);
            writes.push(written);
        }
        let mut live = reads.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for block in (0..code.num_blocks()).rev() {
                for &next in code.block_succs(Block::new(block)) {
                    for word in 0..words {
                        let through = live[next.index()][word] & !writes[block][word];
                        changed |= through & !live[block][word] != 0;
                        live[block][word] |= through;
                    }
                }
            }
        }
        Liveness { live, classes }
    }

    /// How many registers of each class live where a block begins.
    pub fn count(&self, block: Block) -> [usize; 3] {
        let mut counts = [0; 3];
        for (r, &class) in self.classes.iter().enumerate() {
            let lives = self.live[block.index()][r / 64] >> (r % 64) & 1;
            counts[class as usize] += lives as usize;
        }
        counts
    }
}
