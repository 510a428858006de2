//! Masks of lanes that wait for their turns are words.
//!
//! A loop over the active lanes (`foreach_active`) hands a mask from round to round, finds its first lane in the mask's
//! bits, and takes that out. Where masks are in registers of their own, each of these steps moves something between
//! them and general registers. Here the loop hands on the bits: without the lowest one, these are `bits & (bits - 1)`.
//! Snapshots have the mask that they make, which an exit writes as bits (`lowering/values.rs`).
//!
//! Rules: a mask that is a parameter of a block, of which all that instructions ask for is its bits, whether it has a
//! lane, and what remains without its first lane; on some way into the block it is what remains, or made from bits: those of a first
//! lane, or of what remains of a word. Others may bring it back as it is (loops within the turn of a lane); on the rest its bits are asked
//! for before. No bits are set beyond the lanes.

use super::defs::{Def, Defs};
use super::make::Maker;
use super::{identity, replace};
use crate::ir::{BlockId, Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::{HashMap, HashSet};

const WORD: Type = Type::uniform(Ty::U64);

/// Runs the pass.
pub fn run(region: &mut Region) {
    let finds_first = |inst: &Inst| matches!(inst.kind, Kind::Op { op: Op::Ctz, .. });
    if !region.blocks.iter().flat_map(|block| &block.insts).any(finds_first) {
        return;
    }
    let mut words = Words::default();
    // What asks for the bits of a mask that it is brought is no longer in that one's way, and what remains of it is made from bits.
    loop {
        let defs = Defs::of(region);
        let found = waiting(region, &defs, &words);
        if found.is_empty() {
            break;
        }
        as_words(region, &defs, &found, &mut words);
    }
}

/// Words that have no bits beyond the lanes: parameters that were masks.
#[derive(Default)]
struct Words(HashSet<Value>);

/// A parameter of a block that is to be a word.
struct Waiting {
    block: BlockId,
    /// Which one it is.
    place: usize,
    mask: Value,
    /// The masks without its first lane.
    rests: Vec<Value>,
}

/// What reads and brings a mask that is a parameter.
#[derive(Default)]
struct Use<'a> {
    readers: Vec<&'a Inst>,
    /// The parameters that it is handed on to.
    handed_on: Vec<(BlockId, usize)>,
    brought: Vec<Value>,
}

/// The parameters that may be words.
fn waiting(region: &Region, defs: &Defs, words: &Words) -> Vec<Waiting> {
    let params = || {
        (0..)
            .map(BlockId)
            .zip(&region.blocks)
            .flat_map(|(b, block)| (0..).zip(&block.params).map(move |(i, &v)| (b, i, v)))
    };
    let masks = || params().filter(|&(.., v)| region.ty(v) == Type::MASK);
    let mut uses: HashMap<Value, Use<'_>> = masks().map(|(.., v)| (v, Use::default())).collect();
    for block in &region.blocks {
        for inst in &block.insts {
            for arg in &inst.args {
                uses.entry(*arg).and_modify(|of| of.readers.push(inst));
            }
        }
        for edge in block.end.edges() {
            for (at, (arg, param)) in edge.args.iter().zip(&region.block(edge.to).params).enumerate() {
                uses.entry(*arg).and_modify(|of| of.handed_on.push((edge.to, at)));
                uses.entry(*param).and_modify(|of| of.brought.push(*arg));
            }
        }
    }
    let found = masks().filter_map(|(block, place, mask)| {
        let rests = rests(defs, words, (block, place), mask, uses.get(&mask)?)?;
        Some(Waiting { block, place, mask, rests })
    });
    found.collect()
}

/// The masks without the first lane of a parameter, if there is one on some way into its block and instructions use it
/// for nothing else.
fn rests(defs: &Defs, words: &Words, own: (BlockId, usize), mask: Value, of: &Use<'_>) -> Option<Vec<Value>> {
    let mut rests = Vec::new();
    for inst in &of.readers {
        match (inst.kind, inst.result) {
            (Kind::MaskBits | Kind::AnyLane, _) => {}
            (_, Some(rest)) if is_rest(defs, inst, mask) => rests.push(rest),
            _ => return None,
        }
    }
    // Loops within the turn of a lane may come back to its block, with the lanes that still wait.
    let stays = of.handed_on.iter().all(|&to| to == own);
    let comes_round = of.brought.iter().any(|&arg| rests.contains(&arg) || words.bits_of(defs, arg).is_some());
    (stays && comes_round).then_some(rests)
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
    Some((bits, arg(first_place(defs, bits)?.arg(0), Kind::MaskBits)?))
}

/// What counts the zeros below the only bit of a word, if that is the first one of another.
fn first_place(defs: &Defs, bits: Value) -> Option<Def> {
    let shifted = defs.as_op(bits, Op::Shl)?;
    defs.as_op(shifted.arg(1), Op::Ctz).filter(|_| defs.known(shifted.arg(0)) == Some(1))
}

impl Words {
    /// The bits that a mask is made from, if they are those of a first lane or of what remains of a word.
    fn bits_of(&self, defs: &Defs, mask: Value) -> Option<Value> {
        let bits = defs.get(mask).filter(|def| def.kind == Kind::MaskFromBits)?.arg(0);
        let is_word = |v: Value| self.0.contains(&v);
        let is_first =
            || first_of(defs, mask).is_some() || first_place(defs, bits).is_some_and(|place| is_word(place.arg(0)));
        let remain = || defs.as_op(bits, Op::And).is_some_and(|and| is_word(and.arg(0)) || is_word(and.arg(1)));
        (is_word(bits) || is_first() || remain()).then_some(bits)
    }
}

/// Has parameters be the bits of the masks that they were.
fn as_words(region: &mut Region, defs: &Defs, found: &[Waiting], made: &mut Words) {
    let mut words = HashMap::new();
    let mut of_rests = HashMap::new();
    for waiting in found {
        let word = region.new_value(WORD);
        region.blocks[waiting.block.index()].params[waiting.place] = word;
        words.insert(waiting.mask, word);
        of_rests.extend(waiting.rests.iter().map(|&rest| (rest, word)));
    }
    let mut known = words.clone();
    let mut replaced: Vec<(Value, Value)> = Vec::new();
    for at in 0..region.blocks.len() {
        let insts = std::mem::take(&mut region.blocks[at].insts);
        let mut new = Vec::with_capacity(insts.len());
        let mut m = Maker { region, to: &mut new };
        for waiting in found.iter().filter(|waiting| waiting.block.index() == at) {
            let word = words[&waiting.mask];
            m.to.push(Inst { kind: Kind::MaskFromBits, args: vec![word], result: Some(waiting.mask) });
        }
        for mut inst in insts {
            let word = inst.args.first().and_then(|arg| words.get(arg)).copied();
            match (inst.kind, inst.result) {
                (Kind::MaskBits, Some(bits)) if let Some(word) = word => {
                    replaced.push((bits, word));
                    continue;
                }
                (Kind::AnyLane, _) if let Some(word) = word => {
                    let none = m.constant(Ty::U64, 0);
                    inst.kind = Kind::Op { op: Op::Ne, ty: Ty::U64, from: Ty::U64 };
                    inst.args = vec![word, none];
                }
                (_, Some(rest)) if let Some(&word) = of_rests.get(&rest) => {
                    let one = m.constant(Ty::U64, 1);
                    let less = m.op(Op::Sub, Ty::U64, &[word, one]);
                    let bits = m.op(Op::And, Ty::U64, &[word, less]);
                    known.insert(rest, bits);
                    inst = Inst { kind: Kind::MaskFromBits, args: vec![bits], result: inst.result };
                }
                _ => {}
            }
            m.to.push(inst);
        }
        region.blocks[at].insts = new;
    }
    hand_on(region, found, |mask| known.get(&mask).copied().or_else(|| made.bits_of(defs, mask)));
    made.0.extend(words.values());
    let mut to = identity(region);
    replaced.into_iter().for_each(|(bits, word)| to[bits.index()] = word);
    replace(region, &to);
}

/// Has all ways into the blocks bring the bits of masks: those that are known, or what is asked for at the end of the
/// block before.
fn hand_on(region: &mut Region, found: &[Waiting], bits_of: impl Fn(Value) -> Option<Value>) {
    let mut places: HashMap<BlockId, Vec<usize>> = HashMap::new();
    found.iter().for_each(|waiting| places.entry(waiting.block).or_default().push(waiting.place));
    for at in 0..region.blocks.len() {
        if !region.blocks[at].end.edges().any(|edge| places.contains_key(&edge.to)) {
            continue;
        }
        let mut end = region.blocks[at].end.clone();
        let mut insts = std::mem::take(&mut region.blocks[at].insts);
        for edge in end.edges_mut() {
            for &place in places.get(&edge.to).into_iter().flatten() {
                let mut m = Maker { region, to: &mut insts };
                let mask = edge.args[place];
                edge.args[place] = bits_of(mask).unwrap_or_else(|| m.inst(Kind::MaskBits, &[mask], WORD));
            }
        }
        region.blocks[at].insts = insts;
        region.blocks[at].end = end;
    }
}
