//! Counts fuel once for what follows without a branch: rounds that were unrolled, and calls that were inlined.
//!
//! Each unit of fuel is a test, and an exit that keeps what the interpreter would need there. Where a block counts
//! several, the first place counts them all, if the slice, or the next one, holds as many; if not, it leaves with none
//! counted, and the interpreter finds out how far the run gets. An exit between the first place and the last gives back
//! what was counted for places behind it ([`Exit::fuel`]), so for all that can tell fuel is counted at the same
//! instructions.
//!
//! Rules: nothing that looks at the fuel comes between, nor what makes or ends memory: its time with respect to polls
//! stays.
//!
//! [`Exit::fuel`]: crate::ir::Exit::fuel

use crate::ir::{ExitId, Inst, Kind, Region};

/// Most units that are counted at once: fewer than the smallest slice holds, and than fit the instruction of a machine.
const MOST: u32 = 64;

/// Runs the pass.
pub fn run(region: &mut Region) {
    for b in 0..region.blocks.len() {
        let mut insts = std::mem::take(&mut region.blocks[b].insts);
        for places in groups(&insts) {
            merge(region, &mut insts, &places);
        }
        insts.retain(|inst| !matches!(inst.kind, Kind::Tick { units: 0, .. }));
        region.blocks[b].insts = insts;
    }
}

/// The places of a block that can count together, where these are more than one.
fn groups(insts: &[Inst]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![Vec::new()];
    for (i, inst) in insts.iter().enumerate() {
        let is_place = matches!(inst.kind, Kind::Tick { units: 1, .. });
        let group = groups.last_mut().filter(|group| is_place && group.len() < MOST as usize);
        match group {
            Some(group) => group.push(i),
            None if is_place => groups.push(vec![i]),
            None if is_apart(inst.kind) => groups.push(Vec::new()),
            None => {}
        }
    }
    groups.retain(|places| places.len() > 1);
    groups
}

/// Returns whether an instruction looks at the fuel, or may end or make memory.
fn is_apart(kind: Kind) -> bool {
    kind.may_end_regions() || matches!(kind, Kind::Ticks { .. })
}

/// Has the first of some places count for all.
fn merge(region: &mut Region, insts: &mut [Inst], places: &[usize]) {
    let all = places.len() as u32;
    let mut left = all;
    for inst in &mut insts[places[0]..=places[places.len() - 1]] {
        if let Kind::Tick { exit, .. } = inst.kind {
            inst.kind = Kind::Tick { exit, units: if left == all { all } else { 0 } };
            left -= 1;
        } else if let Some(exit) = inst.kind.exit_mut() {
            *exit = giving_back(region, *exit, left);
        }
    }
}

/// An exit that gives back so many units more.
fn giving_back(region: &mut Region, exit: ExitId, units: u32) -> ExitId {
    let mut new = region.exits[exit.index()].clone();
    new.fuel += units;
    region.exits.push(new);
    ExitId(region.exits.len() as u32 - 1)
}
