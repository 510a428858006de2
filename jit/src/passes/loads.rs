//! Loads once what a block loads several times.
//!
//! Rules: within a block, two plain loads of one kind and by the same operands give the same, if nothing stands between them that may
//! write to memory: a store, an effect of another kind. A load that follows a store by the same address, of the same type and in all
//! lanes, gives what was stored. (A bool in memory is any byte that is not 0, so bools are loaded.)
//!
//! Other threads may write meanwhile, at polls too. What a program may see then it still may: the second load as early as the first.
//! Who waits for what another thread writes does so in a loop, whose next round loads anew.

use super::{gvn, identity, replace};
use crate::ir::{Inst, Kind, Region, Value};
use spmdvm_vm::types::Ty;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let mut to = identity(region);
    // What is in memory: how it would be loaded, and its value.
    let mut known: Vec<(Kind, Vec<Value>, Value)> = Vec::new();
    for b in 0..region.blocks.len() {
        known.clear();
        let mut insts = std::mem::take(&mut region.blocks[b].insts);
        insts.retain_mut(|inst| {
            inst.args.iter_mut().for_each(|v| *v = to[v.index()]);
            if inst.kind.is_plain_load() {
                let found = known.iter().find(|(kind, args, _)| *kind == inst.kind && *args == inst.args);
                let loaded = inst.result.map(|result| (result, region.types[result.index()]));
                let Some((result, ty)) = loaded else { return true };
                return match found.filter(|(.., v)| region.types[v.index()] == ty) {
                    Some((.., v)) => {
                        to[result.index()] = *v;
                        false
                    }
                    None => {
                        known.push((inst.kind, inst.args.clone(), result));
                        true
                    }
                };
            }
            let waits = matches!(inst.kind, Kind::Guard { .. } | Kind::Tick { .. } | Kind::Ticks { .. });
            let keeps = inst.kind.is_pure() || inst.kind.only_counts() || waits;
            if !keeps {
                known.clear();
                known.extend(stored(inst));
            }
            true
        });
        region.blocks[b].insts = insts;
    }
    if to.iter().enumerate().any(|(i, v)| v.index() != i) {
        replace(region, &to);
        // What is computed from the same load twice is the same now.
        gvn::run(region);
    }
}

/// What memory holds after a store.
fn stored(inst: &Inst) -> Option<(Kind, Vec<Value>, Value)> {
    let (kind, ty) = match inst.kind {
        Kind::Store { ty } => (Kind::Load { ty }, ty),
        Kind::StoreLanes { ty } => (Kind::LoadLanes { ty }, ty),
        _ => return None,
    };
    (ty != Ty::Bool).then(|| (kind, vec![inst.args[0]], inst.args[1]))
}
