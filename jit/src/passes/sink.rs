//! Moves what only one cold block needs into that block.
//!
//! A variant's test decides between a fast way and a slow one, which is cold. What the recorder computed before the test for the slow
//! way only (the indices of a gather whose addresses turned out to lie in a row, as a rule) is computed there instead.
//!
//! Rules: a pure instruction moves to the start of a cold block if all of its uses are in that block, snapshots and what the block hands
//! on included. Its block dominates the cold one, so its arguments are there. Facts about memory of frames that the region
//! makes stay where they are: the frame may be gone. An instruction of two varying arguments stays too, for both would have to
//! be kept in its place; so do constants and splats, which back ends make where they are needed, and what is read at entry, which
//! is read there. The last instruction of a block comes first, so that chains move together.

use super::licm::definitions;
use super::{has_frames, is_stable};
use crate::ir::{BlockId, Inst, Kind, Region, Value};

/// Runs the pass.
pub fn run(region: &mut Region) {
    if !region.blocks.iter().any(|block| block.cold) {
        return;
    }
    let (home, frames) = (definitions(region), has_frames(region));
    let mut users = Users::of(region);
    for b in (0..region.blocks.len()).rev() {
        if region.blocks[b].cold {
            continue;
        }
        let mut kept = Vec::new();
        for inst in std::mem::take(&mut region.blocks[b].insts).into_iter().rev() {
            let to = users.only(&inst).filter(|to| region.block(*to).cold);
            match to.filter(|_| may_move(region, &inst) && is_stable(frames, &inst, |v| home[v.index()])) {
                Some(to) => {
                    inst.args.iter().for_each(|&arg| users.moved(arg, BlockId(b as u32), to));
                    region.blocks[to.index()].insts.insert(0, inst);
                }
                None => kept.push(inst),
            }
        }
        kept.reverse();
        region.blocks[b].insts = kept;
    }
}

fn may_move(region: &Region, inst: &Inst) -> bool {
    let made_anew = matches!(
        inst.kind,
        Kind::Const(_) | Kind::Splat | Kind::EntryReg { .. } | Kind::EntryMask(_) | Kind::EntryVisiting(_)
    );
    let varying = inst.args.iter().filter(|&&arg| region.ty(arg).is_varying()).count();
    inst.kind.is_pure() && !made_anew && varying <= 1
}

/// The blocks in which each value is used, once for each use.
struct Users(Vec<Vec<BlockId>>);

impl Users {
    fn of(region: &Region) -> Users {
        let mut users = Users(vec![Vec::new(); region.types.len()]);
        for b in (0..region.blocks.len() as u32).map(BlockId) {
            region.each_use(b, |v| users.0[v.index()].push(b));
        }
        users
    }

    /// The only block that uses what an instruction computes.
    fn only(&self, inst: &Inst) -> Option<BlockId> {
        let (first, rest) = self.0[inst.result?.index()].split_first()?;
        rest.iter().all(|b| b == first).then_some(*first)
    }

    /// A use has moved to another block.
    fn moved(&mut self, v: Value, from: BlockId, to: BlockId) {
        let uses = &mut self.0[v.index()];
        if let Some(at) = uses.iter().position(|&b| b == from) {
            uses[at] = to;
        }
    }
}
