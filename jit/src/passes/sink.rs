//! Moves what only rarely executed blocks need into these blocks, and copies it there if several need it.
//!
//! A variant's test decides between a fast way and a slow one, which is cold. What the recorder computed before the
//! test for the slow way only (the indices of a gather whose addresses turned out to lie in a row, as a rule) is
//! computed there instead. So is behind a loop what its rounds only compute for what follows it.
//!
//! Snapshots of guards, polls and other instructions that may leave do not count: a back end has their exits compute
//! what nothing else asks for (`lowering/exit_only.rs`). So if only such snapshots need a value but for rarely executed
//! blocks, these get copies of the instruction.
//!
//! Rules: a pure instruction moves to the start of a block that is cold or in fewer loops than its own if all of its
//! uses are in that block, snapshots and what the block hands on included. It is copied to the start of at most
//! [`MOST_COPIES`] such blocks if all of its other uses are snapshots of instructions, or instructions that are used by
//! such snapshots only. Its block dominates those of its uses, so its arguments are there. Facts about memory of frames
//! that the region makes stay where they are: the frame may be gone. An instruction of two varying arguments stays too,
//! for both would have to be kept in its place, but for sums of pointers, which take long; so do constants and splats,
//! which back ends make where they are needed, and what is read at entry, which is read there. The last instruction of
//! a block comes first, so that chains move together.

use super::licm::{Loops, definitions};
use super::{has_frames, is_stable};
use crate::dominance::Dominators;
use crate::ir::{BlockId, End, ExitId, Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;

/// Most blocks that an instruction is copied to.
const MOST_COPIES: usize = 4;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    if loops.count() == 0 && !region.blocks.iter().any(|block| block.cold) {
        return;
    }
    let depths: Vec<usize> = (0..region.blocks.len() as u32).map(|b| loops.around(BlockId(b)).count()).collect();
    let (home, frames) = (definitions(region), has_frames(region));
    let mut users = Users::of(region);
    for &b in dominators.order().iter().rev() {
        if region.block(b).cold {
            continue;
        }
        let mut kept = Vec::new();
        for inst in std::mem::take(&mut region.blocks[b.index()].insts).into_iter().rev() {
            let movable = may_move(region, &inst) && is_stable(frames, &inst, |v| home[v.index()]);
            let is_rarer = |to: BlockId| region.block(to).cold || depths[to.index()] < depths[b.index()];
            match users.of_result(&inst).to(is_rarer).filter(|_| movable) {
                Some(to) => {
                    if !move_or_copy(region, &mut users, b, &inst, &to) {
                        kept.push(inst);
                    }
                }
                None => kept.push(inst),
            }
        }
        kept.reverse();
        region.blocks[b.index()].insts = kept;
    }
}

fn may_move(region: &Region, inst: &Inst) -> bool {
    let made_anew = matches!(
        inst.kind,
        Kind::Const(_) | Kind::Splat | Kind::EntryReg { .. } | Kind::EntryMask(_) | Kind::EntryVisiting(_)
    );
    let varying = inst.args.iter().filter(|&&arg| region.ty(arg).is_varying()).count();
    let is_sum = matches!(inst.kind, Kind::Op { op: Op::PAdd, .. });
    inst.kind.is_pure() && !made_anew && (varying <= 1 || is_sum)
}

/// Has the blocks that need an instruction of block `b` execute it. Returns whether `b` need not any more.
fn move_or_copy(region: &mut Region, users: &mut Users, b: BlockId, inst: &Inst, to: &Target) -> bool {
    let Some(v) = inst.result else { return false };
    let moves = !to.left_to_exits && to.blocks.len() == 1;
    for &block in &to.blocks {
        let mut new = inst.clone();
        if !moves {
            let copy = region.new_value(region.ty(v));
            new.result = Some(copy);
            replace_in(region, block, v, copy);
        }
        new.args.iter().for_each(|&arg| users.0[arg.index()].push(Use { block, by: By::Other }));
        region.blocks[block.index()].insts.insert(0, new);
    }
    let still = to.left_to_exits.then_some(Use { block: b, by: By::Exit });
    inst.args.iter().for_each(|&arg| users.instead(arg, b, still));
    !to.left_to_exits
}

/// Has a block use another value. Exits that it might share with others become its own.
fn replace_in(region: &mut Region, block: BlockId, v: Value, new: Value) {
    let Region { blocks, exits, .. } = region;
    let replace = |old: &mut Value| {
        if *old == v {
            *old = new;
        }
    };
    let in_exit = |id: &mut ExitId| {
        if exits[id.index()].values().any(|used| used == v) {
            let mut own = exits[id.index()].clone();
            own.values_mut().for_each(replace);
            exits.push(own);
            *id = ExitId(exits.len() as u32 - 1);
        }
    };
    let block = &mut blocks[block.index()];
    block.insts.iter_mut().flat_map(|inst| &mut inst.args).for_each(replace);
    block.end.edges_mut().flat_map(|edge| &mut edge.args).for_each(replace);
    let ends_by = match &mut block.end {
        End::Exit(exit) => Some(exit),
        End::Branch { cond, .. } => {
            replace(cond);
            None
        }
        End::Jump(_) => None,
    };
    block.insts.iter_mut().filter_map(|inst| inst.kind.exit_mut()).chain(ends_by).for_each(in_exit);
}

/// What uses a value.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// The snapshot of an instruction.
    Exit,
    Other,
}

/// A use of a value.
#[derive(Clone, Copy, PartialEq)]
struct Use {
    block: BlockId,
    by: By,
}

/// The uses of one value.
struct Uses<'a>(&'a [Use]);

/// Who is to execute an instruction.
struct Target {
    /// Blocks that are executed less often.
    blocks: Vec<BlockId>,
    /// Whether exits need it besides.
    left_to_exits: bool,
}

impl Uses<'_> {
    /// Who is to execute the instruction, if not its block.
    fn to(&self, is_rarer: impl Fn(BlockId) -> bool) -> Option<Target> {
        let (mut blocks, mut left_to_exits) = (Vec::new(), false);
        for used in self.0 {
            match used.by {
                _ if is_rarer(used.block) => blocks.push(used.block),
                By::Exit => left_to_exits = true,
                By::Other => return None,
            }
        }
        blocks.sort_unstable();
        blocks.dedup();
        let some = left_to_exits || !blocks.is_empty();
        (some && blocks.len() <= MOST_COPIES).then_some(Target { blocks, left_to_exits })
    }
}

/// The uses of each value.
struct Users(Vec<Vec<Use>>);

impl Users {
    fn of(region: &Region) -> Users {
        let mut users = Users(vec![Vec::new(); region.types.len()]);
        for block in (0..region.blocks.len() as u32).map(BlockId) {
            let mut note = |v: Value, by| users.0[v.index()].push(Use { block, by });
            let b = region.block(block);
            for inst in &b.insts {
                inst.args.iter().for_each(|&arg| note(arg, By::Other));
                let exit = inst.kind.exit().map(|exit| &region.exits[exit.index()]);
                exit.into_iter().flat_map(|exit| exit.values()).for_each(|v| note(v, By::Exit));
            }
            b.end.edges().flat_map(|edge| &edge.args).for_each(|&arg| note(arg, By::Other));
            match b.end {
                End::Branch { cond, .. } => note(cond, By::Other),
                End::Exit(exit) => region.exits[exit.index()].values().for_each(|v| note(v, By::Other)),
                End::Jump(_) => {}
            }
        }
        users
    }

    /// The uses of what an instruction computes.
    fn of_result(&self, inst: &Inst) -> Uses<'_> {
        Uses(inst.result.map_or(&[], |v| &self.0[v.index()]))
    }

    /// An instruction of a block does not use a value any more, or otherwise.
    fn instead(&mut self, v: Value, block: BlockId, used: Option<Use>) {
        let uses = &mut self.0[v.index()];
        if let Some(at) = uses.iter().position(|&u| u == Use { block, by: By::Other }) {
            uses.swap_remove(at);
        }
        uses.extend(used);
    }
}
