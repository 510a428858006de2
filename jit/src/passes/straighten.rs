//! Straightening: joins a block with the only block that jumps to it.
//!
//! Rules: the first block ends in a jump, the second has no other edge to it; its parameters are replaced by what the edge
//! brings. Emptied blocks are dropped by the next run of [`params`](super::params).

use super::{identity, replace};
use crate::ir::{BlockId, End, ExitId, Region, Value};

/// Runs the pass.
pub fn run(region: &mut Region) {
    let mut ways = vec![0u32; region.blocks.len()];
    for edge in region.blocks.iter().flat_map(|b| b.end.edges()) {
        ways[edge.to.index()] += 1;
    }
    let mut to = identity(region);
    let mut gone = vec![false; region.blocks.len()];
    for b in 0..region.blocks.len() {
        if gone[b] {
            continue;
        }
        while let Some(next) = only_successor(region, b, &ways) {
            join(region, b, next, &mut to);
            gone[next.index()] = true;
        }
    }
    for i in 0..to.len() {
        let mut v = Value(i as u32);
        while to[v.index()] != v {
            v = to[v.index()];
        }
        to[i] = v;
    }
    replace(region, &to);
}

fn only_successor(region: &Region, block: usize, ways: &[u32]) -> Option<BlockId> {
    match &region.blocks[block].end {
        End::Jump(edge) if edge.to.index() != block && ways[edge.to.index()] == 1 => Some(edge.to),
        _ => None,
    }
}

fn join(region: &mut Region, block: usize, next: BlockId, to: &mut [Value]) {
    let taken = std::mem::replace(&mut region.blocks[next.index()].end, End::Exit(ExitId(0)));
    let insts = std::mem::take(&mut region.blocks[next.index()].insts);
    let params = std::mem::take(&mut region.blocks[next.index()].params);
    let before = std::mem::replace(&mut region.blocks[block].end, taken);
    if let End::Jump(edge) = before {
        for (param, arg) in params.into_iter().zip(edge.args) {
            to[param.index()] = arg;
        }
    }
    region.blocks[block].insts.extend(insts);
}
