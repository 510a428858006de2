//! Loads once what is loaded several times on one way.
//!
//! Rules: within a block, and one that only it leads to, two plain loads of one kind and by the same operands give the same,
//! if nothing stands between them that may write there: a store, but for one that is certainly elsewhere
//! ([`sums`](super::sums)), or an effect of another kind. A load that follows a store by the same address, of the same type
//! and in all lanes, gives what was stored. (A bool in memory is any byte that is not 0, so bools are loaded.)
//!
//! Other threads may write meanwhile, at polls too. What a program may see then it still may: the second load as early as the first.
//! Who waits for what another thread writes does so in a loop, whose next round loads anew.

use super::defs::Defs;
use super::sums::{Sum, Sums};
use super::{gvn, identity, mem2reg, replace};
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region, Value};
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// What is in memory.
#[derive(Clone)]
struct Known {
    /// How it would be loaded.
    load: Kind,
    args: Vec<Value>,
    value: Value,
    /// Where it lies, and how many bytes of it, if that is known.
    place: (Sum, Option<u64>),
}

/// Runs the pass.
pub fn run(region: &mut Region) {
    let mut to = identity(region);
    let defs = Defs::of(region);
    let before = only_ways(region);
    let frames_are_private = mem2reg::frames_are_private(region);
    let order = Dominators::new(region).order().to_vec();
    let mut at_end: HashMap<BlockId, Vec<Known>> = HashMap::new();
    for b in order {
        let mut known = before[b.index()].and_then(|before| at_end.get(&before).cloned()).unwrap_or_default();
        let mut insts = std::mem::take(&mut region.blocks[b.index()].insts);
        insts.retain_mut(|inst| {
            inst.args.iter_mut().for_each(|v| *v = to[v.index()]);
            let place = || {
                let sums = Sums { region, defs: &defs, within: None, frames_are_private };
                (sums.of(inst.args[0]), inst.kind.bytes_at_address(region.width))
            };
            if inst.kind.is_plain_load() {
                let Some(result) = inst.result else { return true };
                let ty = region.ty(result);
                let same = |of: &&Known| of.load == inst.kind && of.args == inst.args && region.ty(of.value) == ty;
                if let Some(found) = known.iter().find(same) {
                    to[result.index()] = found.value;
                    return false;
                }
                known.push(Known { load: inst.kind, args: inst.args.clone(), value: result, place: place() });
            } else if inst.kind.is_plain_store() {
                let place = place();
                known.retain(|of| of.place.0.is_apart(of.place.1, &place.0, place.1));
                known.extend(stored(inst).map(|(load, value)| Known { load, args: vec![inst.args[0]], value, place }));
            } else if !keeps_memory(inst.kind) {
                known.clear();
            }
            true
        });
        region.blocks[b.index()].insts = insts;
        if region.block(b).end.edges().any(|edge| before[edge.to.index()] == Some(b)) {
            at_end.insert(b, known);
        }
    }
    if to.iter().enumerate().any(|(i, v)| v.index() != i) {
        replace(region, &to);
        // What is computed from the same load twice is the same now.
        gvn::run(region);
    }
}

/// By block: the one that leads there, if only one does, by one way.
fn only_ways(region: &Region) -> Vec<Option<BlockId>> {
    let mut ways: Vec<Vec<BlockId>> = vec![Vec::new(); region.blocks.len()];
    for (from, block) in (0..).map(BlockId).zip(&region.blocks) {
        block.end.edges().for_each(|edge| ways[edge.to.index()].push(from));
    }
    ways.iter().map(|from| if let [from] = from[..] { Some(from) } else { None }).collect()
}

/// Returns whether an instruction, which is no plain access, writes nothing.
fn keeps_memory(kind: Kind) -> bool {
    let waits = matches!(kind, Kind::Guard { .. } | Kind::Tick { .. } | Kind::Ticks { .. });
    kind.is_pure() || kind.only_counts() || waits
}

/// What a load by the address of a store gives after it.
fn stored(inst: &Inst) -> Option<(Kind, Value)> {
    let (load, ty) = match inst.kind {
        Kind::Store { ty } => (Kind::Load { ty }, ty),
        Kind::StoreLanes { ty } => (Kind::LoadLanes { ty }, ty),
        _ => return None,
    };
    (ty != Ty::Bool).then(|| (load, inst.args[1]))
}
