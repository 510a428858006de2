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
//! Rules: a pure instruction moves to the start of a block that is cold (or behind a cold one) or in fewer loops than its own if all of
//! its uses are in that block or in blocks that it dominates, snapshots and what the block hands on included. It is copied to the start of
//! at most [`MOST_COPIES`] such blocks if all of its other uses are snapshots of instructions, or instructions that are used by
//! such snapshots only. Its block dominates those of its uses, so its arguments are there. Facts about memory of frames
//! that the region makes stay where they are: the frame may be gone. An instruction of two varying arguments stays too,
//! for both would have to be kept in its place, unless one of them moves with it, but for sums of pointers, which take long;
//! so do constants and splats, which back ends make where they are needed, and what is read at entry, which is read there.
//! The last instruction of a block comes first, so that chains move together.

use super::Lasting;
use super::licm::Loops;
use crate::dominance::Dominators;
use crate::ir::{BlockId, End, ExitId, Inst, Kind, Region, Value};
use foldhash::{HashSet, HashSetExt};
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
    let cold = cold_blocks(region, &dominators);
    let lasting = Lasting::new(region, &dominators);
    let mut users = Users::of(region);
    for &b in dominators.order().iter().rev() {
        if cold[b.index()] {
            continue;
        }
        let is_rarer = |to: BlockId| cold[to.index()] || depths[to.index()] < depths[b.index()];
        let is_movable = |inst: &Inst| may_move(inst) && lasting.is_stable(inst);
        let going = Going::of(region, b, &users, &is_rarer, &is_movable);
        let mut kept = Vec::new();
        for inst in std::mem::take(&mut region.blocks[b.index()].insts).into_iter().rev() {
            let to = users.of_result(&inst).to(is_rarer, &dominators);
            match to.filter(|_| going.has(&inst)) {
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

/// The blocks that are cold, and those that are reached through them only.
fn cold_blocks(region: &Region, dominators: &Dominators) -> Vec<bool> {
    let mut cold: Vec<bool> = region.blocks.iter().map(|block| block.cold).collect();
    for &b in dominators.order() {
        cold[b.index()] |= cold[dominators.parent(b).index()];
    }
    cold
}

fn may_move(inst: &Inst) -> bool {
    let made_anew = matches!(
        inst.kind,
        Kind::Const(_) | Kind::Splat | Kind::EntryReg { .. } | Kind::EntryMask(_) | Kind::EntryVisiting(_)
    );
    inst.kind.is_pure() && !made_anew
}

/// The instructions of a block that nothing needs but rarer blocks, snapshots, and others of them.
struct Going(HashSet<Value>);

impl Going {
    fn of(
        region: &Region,
        b: BlockId,
        users: &Users,
        is_rarer: &dyn Fn(BlockId) -> bool,
        is_movable: &dyn Fn(&Inst) -> bool,
    ) -> Going {
        let block = region.block(b);
        let mut stay: HashSet<Value> = HashSet::new();
        loop {
            let mut needed: HashSet<Value> = block.end.edges().flat_map(|edge| &edge.args).copied().collect();
            if let End::Branch { cond, .. } = block.end {
                needed.insert(cond);
            }
            let mut going = Going(HashSet::new());
            for inst in block.insts.iter().rev() {
                let elsewhere = |used: &Use| used.block == b || is_rarer(used.block) || used.by == By::Exit;
                let goes = inst.result.is_some_and(|v| !needed.contains(&v) && !stay.contains(&v))
                    && users.of_result(inst).0.iter().all(elsewhere)
                    && is_movable(inst);
                match inst.result.filter(|_| goes) {
                    Some(v) => {
                        going.0.insert(v);
                    }
                    None => needed.extend(&inst.args),
                }
            }
            // Two arguments would be kept in the place of one result.
            let costs = |inst: &&Inst| {
                let kept = inst.args.iter().filter(|&&arg| region.ty(arg).is_varying() && !going.0.contains(&arg));
                going.has(inst) && kept.count() > 1 && !matches!(inst.kind, Kind::Op { op: Op::PAdd, .. })
            };
            let before = stay.len();
            stay.extend(block.insts.iter().filter(costs).filter_map(|inst| inst.result));
            if stay.len() == before {
                return going;
            }
        }
    }

    fn has(&self, inst: &Inst) -> bool {
        inst.result.is_some_and(|v| self.0.contains(&v))
    }
}

/// Has the blocks that need an instruction of block `b` execute it. Returns whether `b` need not any more.
fn move_or_copy(region: &mut Region, users: &mut Users, b: BlockId, inst: &Inst, to: &Target) -> bool {
    let Some(v) = inst.result else { return false };
    let moves = !to.left_to_exits && to.blocks.len() == 1;
    for (block, within) in &to.blocks {
        let mut new = inst.clone();
        if !moves {
            let copy = region.new_value(region.ty(v));
            new.result = Some(copy);
            within.iter().for_each(|&used_in| replace_in(region, used_in, v, copy));
        }
        new.args.iter().for_each(|&arg| users.0[arg.index()].push(Use { block: *block, by: By::Other }));
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
    /// Blocks that are executed less often, each with those that use its result: itself, and blocks that it dominates.
    blocks: Vec<(BlockId, Vec<BlockId>)>,
    /// Whether exits need it besides.
    left_to_exits: bool,
}

impl Uses<'_> {
    /// Who is to execute the instruction, if not its block.
    fn to(&self, is_rarer: impl Fn(BlockId) -> bool, dominators: &Dominators) -> Option<Target> {
        let (mut used_in, mut left_to_exits) = (Vec::new(), false);
        for used in self.0 {
            match used.by {
                _ if is_rarer(used.block) => used_in.push(used.block),
                By::Exit => left_to_exits = true,
                By::Other => return None,
            }
        }
        used_in.sort_unstable();
        used_in.dedup();
        let is_above = |a: BlockId, b: BlockId| a != b && dominators.dominates(a, b);
        let first = used_in.iter().filter(|&&b| !used_in.iter().any(|&a| is_above(a, b)));
        let within = |a: BlockId| used_in.iter().copied().filter(|&b| a == b || is_above(a, b)).collect();
        let blocks: Vec<(BlockId, Vec<BlockId>)> = first.map(|&a| (a, within(a))).collect();
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
