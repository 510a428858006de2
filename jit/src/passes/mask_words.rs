//! Masks of lanes that wait for their turns are words.
//!
//! A loop over the active lanes (`foreach_active`) hands a mask from round to round, finds its first lane in the mask's
//! bits, and takes that out. Where masks are in registers of their own, each of these steps moves something between
//! them and general registers. Here the loop hands on the bits: without the lowest one, these are `bits & (bits - 1)`.
//! Snapshots have the mask that they make, which an exit writes as bits (`lowering/values.rs`).
//!
//! Rules: a mask that is a parameter of a block, of which all that instructions ask for is its bits, whether it has a
//! lane, and what remains without its first lane; on some way into the block it is what remains, or a first lane. Others may
//! bring it back as it is (loops within the turn of a lane); on the rest its bits are asked for before. No bits are set beyond the lanes.

use super::defs::Defs;
use super::make::Maker;
use super::{identity, replace};
use crate::ir::{BlockId, Edge, Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

const WORD: Type = Type::uniform(Ty::U64);

/// Runs the pass.
pub fn run(region: &mut Region) {
    let finds_first = |inst: &Inst| matches!(inst.kind, Kind::Op { op: Op::Ctz, .. });
    if !region.blocks.iter().flat_map(|block| &block.insts).any(finds_first) {
        return;
    }
    let mut defs = Defs::of(region);
    for b in (0..region.blocks.len() as u32).map(BlockId) {
        for i in 0..region.block(b).params.len() {
            let mask = region.block(b).params[i];
            if region.ty(mask) == Type::MASK
                && let Some(rests) = rests(region, &defs, b, i)
            {
                as_word(region, &defs, b, i, &rests);
                defs = Defs::of(region);
            }
        }
    }
}

/// The masks without the first lane of a parameter, if there is one on some way into its block and instructions use it
/// for nothing else.
fn rests(region: &Region, defs: &Defs, b: BlockId, i: usize) -> Option<Vec<Value>> {
    let mask = region.block(b).params[i];
    let mut rests = Vec::new();
    for block in &region.blocks {
        for inst in block.insts.iter().filter(|inst| inst.args.contains(&mask)) {
            match (inst.kind, inst.result) {
                (Kind::MaskBits | Kind::AnyLane, _) => {}
                (_, Some(rest)) if is_rest(defs, inst, mask) => rests.push(rest),
                _ => return None,
            }
        }
        // Loops within the turn of a lane may come back to its block, with the lanes that still wait.
        let hands_on = |edge: &Edge| (0..).zip(&edge.args).any(|(at, &arg)| arg == mask && (edge.to, at) != (b, i));
        if block.end.edges().any(hands_on) {
            return None;
        }
    }
    let mut into = region.blocks.iter().flat_map(|block| block.end.edges()).filter(|edge| edge.to == b);
    into.any(|edge| rests.contains(&edge.args[i]) || first_of(defs, edge.args[i]).is_some()).then_some(rests)
}

/// Returns whether an instruction takes the first lane out of a mask.
fn is_rest(defs: &Defs, inst: &Inst, mask: Value) -> bool {
    let Kind::Op { op: Op::And, ty: Ty::Bool, .. } = inst.kind else { return false };
    let other = if inst.args[0] == mask { inst.args[1] } else { inst.args[0] };
    let first = defs.as_op(other, Op::Not).and_then(|not| first_of(defs, not.arg(0)));
    first.is_some_and(|(_, of)| of == mask)
}

/// The bits of a mask that has the first lane of another one only, and that other one.
fn first_of(defs: &Defs, first: Value) -> Option<(Value, Value)> {
    let arg = |v: Value, kind: Kind| defs.get(v).filter(|def| def.kind == kind).map(|def| def.arg(0));
    let bits = arg(first, Kind::MaskFromBits)?;
    let shifted = defs.as_op(bits, Op::Shl)?;
    let place = defs.as_op(shifted.arg(1), Op::Ctz)?;
    let of = arg(place.arg(0), Kind::MaskBits)?;
    (defs.known(shifted.arg(0)) == Some(1)).then_some((bits, of))
}

/// Has a parameter be the bits of the mask that it was.
fn as_word(region: &mut Region, defs: &Defs, b: BlockId, i: usize, rests: &[Value]) {
    let (mask, word) = (region.block(b).params[i], region.new_value(WORD));
    region.blocks[b.index()].params[i] = word;
    let mut replaced: Vec<(Value, Value)> = Vec::new();
    let mut words = HashMap::new();
    for at in 0..region.blocks.len() {
        let insts = std::mem::take(&mut region.blocks[at].insts);
        let mut new = Vec::with_capacity(insts.len());
        let mut m = Maker { region, to: &mut new };
        if at == b.index() {
            m.to.push(Inst { kind: Kind::MaskFromBits, args: vec![word], result: Some(mask) });
        }
        for mut inst in insts {
            match (inst.kind, inst.result) {
                (Kind::MaskBits, Some(bits)) if inst.args[0] == mask => {
                    replaced.push((bits, word));
                    continue;
                }
                (Kind::AnyLane, _) if inst.args[0] == mask => {
                    let none = m.constant(Ty::U64, 0);
                    inst.kind = Kind::Op { op: Op::Ne, ty: Ty::U64, from: Ty::U64 };
                    inst.args = vec![word, none];
                }
                (_, Some(rest)) if rests.contains(&rest) => {
                    let one = m.constant(Ty::U64, 1);
                    let less = m.op(Op::Sub, Ty::U64, &[word, one]);
                    let bits = m.op(Op::And, Ty::U64, &[word, less]);
                    words.insert(rest, bits);
                    inst = Inst { kind: Kind::MaskFromBits, args: vec![bits], result: inst.result };
                }
                _ => {}
            }
            m.to.push(inst);
        }
        region.blocks[at].insts = new;
    }
    words.insert(mask, word);
    hand_on(region, b, i, |mask| words.get(&mask).copied().or_else(|| Some(first_of(defs, mask)?.0)));
    let mut to = identity(region);
    replaced.into_iter().for_each(|(bits, word)| to[bits.index()] = word);
    replace(region, &to);
}

/// Has all ways into a block bring the bits of a mask: those that are known, or what is asked for at the end of the
/// block before.
fn hand_on(region: &mut Region, b: BlockId, i: usize, bits_of: impl Fn(Value) -> Option<Value>) {
    for at in 0..region.blocks.len() {
        let mut end = region.blocks[at].end.clone();
        let mut insts = std::mem::take(&mut region.blocks[at].insts);
        for edge in end.edges_mut().filter(|edge| edge.to == b) {
            let mut m = Maker { region, to: &mut insts };
            let mask = edge.args[i];
            edge.args[i] = bits_of(mask).unwrap_or_else(|| m.inst(Kind::MaskBits, &[mask], WORD));
        }
        region.blocks[at].insts = insts;
        region.blocks[at].end = end;
    }
}
