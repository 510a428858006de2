//! Computes equal pure instructions once.
//!
//! Rules: two instructions are equal if kind and arguments are (arguments of commutative operations in either order), and
//! the first one's block dominates the second's. Loads are not pure. Blocks are visited in reverse postorder with one table;
//! an entry counts where its block dominates.

use super::licm::definitions;
use super::{has_frames, is_stable, replace};
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region, Type, Value};
use std::collections::HashMap;

/// What makes two instructions equal: kind, arguments and the type of the result.
type Expression = (Kind, Vec<Value>, Type);

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let mut to: Vec<Value> = (0..region.types.len() as u32).map(Value).collect();
    let mut table: HashMap<Expression, Vec<(BlockId, Value)>> = HashMap::new();
    let (home, frames) = (definitions(region), has_frames(region));
    for &b in dominators.order() {
        let mut insts = std::mem::take(&mut region.blocks[b.index()].insts);
        insts.retain_mut(|inst| {
            inst.args.iter_mut().for_each(|v| *v = to[v.index()]);
            let stable = is_stable(frames, inst, |v| home[v.index()]);
            let Some(result) = inst.result.filter(|_| stable) else { return true };
            let known = table.entry((inst.kind, ordered(inst), region.types[result.index()])).or_default();
            let found = known.iter().find(|(home, _)| dominators.dominates(*home, b));
            match found {
                Some(&(_, v)) => {
                    to[result.index()] = v;
                    false
                }
                None => {
                    known.push((b, result));
                    true
                }
            }
        });
        region.blocks[b.index()].insts = insts;
    }
    replace(region, &to);
}

/// The arguments, those of commutative operations sorted.
fn ordered(inst: &Inst) -> Vec<Value> {
    let mut args = inst.args.clone();
    if let Kind::Op { op, .. } = inst.kind
        && op.info().commutative
    {
        args.sort();
    }
    args
}
