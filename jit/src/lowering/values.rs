//! What every back end asks about the values of a region: where they are defined, which of them are constants, and of which
//! masks some lane is known to be active.

use super::gathers::least_index;
use super::ops::Comparison;
use crate::dominance::Dominators;
use crate::exec_ir::meaning::normalised;
use crate::ir::{BlockId, Edge, End, Inst, Kind, Region, Value};
use foldhash::{HashMap, HashMapExt};
use smallvec::SmallVec;
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem;
use spmdvm_vm::types::Ty;

/// Where a value is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definition {
    /// Nowhere that can be reached.
    None,
    /// By a parameter of a block, of this number.
    Param(BlockId, usize),
    /// By an instruction of a block.
    Inst(BlockId, usize),
}

impl Definition {
    /// The block of the definition.
    pub fn block(self) -> Option<BlockId> {
        match self {
            Definition::None => None,
            Definition::Param(block, _) | Definition::Inst(block, _) => Some(block),
        }
    }
}

/// The values of a region.
pub struct Values<'r> {
    pub(crate) region: &'r Region,
    pub(crate) dominators: Dominators,
    definitions: Vec<Definition>,
    /// Edges into each block.
    into: Vec<SmallVec<[&'r Edge; 2]>>,
    /// By value: whether it stands in one place of instructions, ends of blocks and snapshots only.
    single: Vec<bool>,
    /// The first address in frames that the entry block computes, and where it lies.
    frame_host: Option<(Value, u64)>,
    /// Registers of the entered frame that calls write, by their offsets: the value that they always write there, if it is one.
    written_by_calls: HashMap<u32, Option<Value>>,
}

impl<'r> Values<'r> {
    pub(crate) fn new(region: &'r Region) -> Values<'r> {
        let dominators = Dominators::new(region);
        let mut definitions = vec![Definition::None; region.types.len()];
        let mut into = vec![SmallVec::new(); region.blocks.len()];
        for &id in dominators.order() {
            let block = region.block(id);
            for (i, p) in block.params.iter().enumerate() {
                definitions[p.index()] = Definition::Param(id, i);
            }
            for (i, inst) in block.insts.iter().enumerate() {
                if let Some(v) = inst.result {
                    definitions[v.index()] = Definition::Inst(id, i);
                }
            }
            block.end.edges().for_each(|edge| into[edge.to.index()].push(edge));
        }
        let frame_host = region.block(BlockId(0)).insts.iter().find_map(|inst| match inst.kind {
            Kind::FrameHost { at, .. } => Some((inst.result?, at)),
            _ => None,
        });
        let mut written_by_calls = HashMap::new();
        for (at, v) in region.written_by_calls() {
            let written = written_by_calls.entry(at).or_insert(v);
            *written = written.filter(|written| Some(*written) == v);
        }
        Values { region, dominators, definitions, into, single: single(region), frame_host, written_by_calls }
    }

    pub(crate) fn definition(&self, v: Value) -> Definition {
        self.definitions[v.index()]
    }

    /// Where in the entered frame the register lies of which a value is what it held at entry, if it holds that until the
    /// region is left.
    pub(crate) fn in_frame(&self, v: Value) -> Option<u32> {
        let Kind::EntryReg { at } = self.inst(v)?.kind else { return None };
        let is_left_alone = self.region.handler_calls.iter().all(|site| site.at != 0)
            && self.written_by_calls.get(&at).is_none_or(|&written| written == Some(v));
        let ty = self.region.ty(v);
        (is_left_alone && ty.is_varying() && ty.ty != Ty::Bool).then_some(at)
    }

    /// The instruction that defines a value, if one does.
    pub(crate) fn inst(&self, v: Value) -> Option<&'r Inst> {
        match self.definition(v) {
            Definition::Inst(block, i) => Some(&self.region.block(block).insts[i]),
            Definition::None | Definition::Param(..) => None,
        }
    }

    /// The instruction that defines a value, if it stands in a block.
    pub(crate) fn inst_in(&self, block: BlockId, v: Value) -> Option<&'r Inst> {
        self.inst(v).filter(|_| self.definition(v).block() == Some(block))
    }

    /// An address in frames that is at hand wherever one is, and where it lies: the first that the entry block computes.
    pub(crate) fn frame_host(&self) -> Option<(Value, u64)> {
        self.frame_host
    }

    /// Returns whether a value stands in one place only.
    pub(crate) fn stands_once(&self, v: Value) -> bool {
        self.single[v.index()]
    }

    /// How many edges lead to a block.
    pub(crate) fn incoming(&self, block: BlockId) -> u32 {
        self.into[block.index()].len() as u32
    }

    /// The constant that a uniform value is.
    pub(crate) fn constant(&self, v: Value) -> Option<u64> {
        match self.inst(v)?.kind {
            Kind::Const(bits) => Some(normalised(self.region.ty(v).ty, bits)),
            _ => None,
        }
    }

    /// The constant that all lanes of a value are.
    pub(crate) fn constant_lanes(&self, v: Value) -> Option<u64> {
        let inst = self.inst(v)?;
        if inst.kind == Kind::Splat { self.constant(inst.args[0]) } else { self.constant(v) }
    }

    /// The constants that the lanes of a value are, if each of them has been put in one by one, or it is index arithmetic on lane
    /// numbers and constants.
    pub(crate) fn constant_vector(&self, v: Value) -> Option<Vec<u64>> {
        self.constant_vector_within(v, DEEPEST_CONSTANT)
    }

    fn constant_vector_within(&self, v: Value, depth: usize) -> Option<Vec<u64>> {
        let ty = self.region.ty(v).ty;
        if let Kind::Op { op, ty, from } = self.inst(v)?.kind
            && is_index_arithmetic(op, ty, from)
        {
            return self.computed_lanes(op, ty, from, &self.inst(v)?.args, depth.checked_sub(1)?);
        }
        let mut lanes: Vec<Option<u64>> = vec![None; self.region.width.lanes()];
        let mut rest = v;
        loop {
            let inst = self.inst(rest)?;
            let Kind::Op { op: Op::Insert, .. } = inst.kind else { break };
            let lane = self.constant(inst.args[1])? as usize % lanes.len();
            lanes[lane] = lanes[lane].or(Some(self.constant(inst.args[2])?));
            rest = inst.args[0];
        }
        let is_iota = ty == Ty::I32 && self.is_iota(rest);
        let below = |l: usize| if is_iota { Some(l as u64) } else { self.constant_lanes(rest) };
        lanes.into_iter().enumerate().map(|(l, bits)| bits.or_else(|| below(l))).collect()
    }

    /// What an operation of constants gives in each lane.
    fn computed_lanes(&self, op: Op, ty: Ty, from: Ty, args: &[Value], depth: usize) -> Option<Vec<u64>> {
        let eval = |a, b| sem::eval(op, ty, from, [a, b, 0]);
        match *args {
            [a] => self.constant_vector_within(a, depth)?.into_iter().map(|a| eval(a, 0)).collect(),
            [a, b] => {
                // What is most often no constant is asked first.
                let b = self.constant_vector_within(b, depth)?;
                let a = self.constant_vector_within(a, depth)?;
                a.into_iter().zip(b).map(|(a, b)| eval(a, b)).collect()
            }
            _ => None,
        }
    }

    /// The bits of a mask, or of a uniform bool in all lanes, that is constant.
    pub(crate) fn mask_bits(&self, v: Value) -> Option<u64> {
        let full = self.region.width.full_mask();
        let inst = self.inst(v)?;
        match inst.kind {
            Kind::Const(_) | Kind::Splat => self.constant_lanes(v).map(|bits| if bits != 0 { full } else { 0 }),
            Kind::MaskFromBits => Some(self.constant(inst.args[0])? & full),
            Kind::Op { op: Op::Lt, ty: Ty::I32, .. } if self.is_iota(inst.args[0]) => {
                let n = self.constant_lanes(inst.args[1])? as i32;
                Some(if n <= 0 { 0 } else { u64::MAX >> (64 - n.min(64)) & full })
            }
            Kind::Op { op, ty: ty @ Ty::I32, from }
                if Comparison::of(op).is_some() && self.region.ty(v).is_varying() =>
            {
                let lanes = self.computed_lanes(op, ty, from, &inst.args, DEEPEST_CONSTANT)?;
                Some(lanes.into_iter().enumerate().fold(0, |bits, (lane, holds)| bits | holds << lane))
            }
            _ => None,
        }
    }

    /// The word that a mask has been made of, if no bits of that are beyond the lanes: the mask's bits.
    pub(crate) fn bits_of_mask(&self, mask: Value) -> Option<Value> {
        let bits = self.inst(mask).filter(|inst| inst.kind == Kind::MaskFromBits)?.args[0];
        self.is_within_lanes(bits, &mut Vec::new()).then_some(bits)
    }

    /// Returns whether no bits of a word are beyond the lanes; those that are `assumed` have none.
    fn is_within_lanes(&self, word: Value, assumed: &mut Vec<Value>) -> bool {
        let beyond = !self.region.width.full_mask();
        if beyond == 0 || assumed.contains(&word) {
            return true;
        }
        if let Some(bits) = self.constant(word) {
            return bits & beyond == 0;
        }
        match self.definition(word) {
            Definition::None => false,
            Definition::Param(block, i) => {
                // If it has none at every earlier entry of the block, and every way to it keeps it so, then it has none at this one.
                let n = assumed.len();
                assumed.push(word);
                let is = self.into[block.index()].iter().all(|edge| self.is_within_lanes(edge.args[i], assumed));
                if !is {
                    assumed.truncate(n);
                }
                is
            }
            Definition::Inst(block, at) => {
                let inst = &self.region.block(block).insts[at];
                match inst.kind {
                    Kind::MaskBits => true,
                    Kind::Op { op: Op::And, .. } => inst.args.iter().any(|&arg| self.is_within_lanes(arg, assumed)),
                    // A bit where there is one: the first. Of none it is the first of all, if that.
                    Kind::Op { op: Op::Shl, .. } if self.constant(inst.args[0]) == Some(1) => {
                        let place = self.inst(inst.args[1]);
                        let of = place.filter(|place| matches!(place.kind, Kind::Op { op: Op::Ctz, .. }));
                        of.is_some_and(|place| self.is_within_lanes(place.args[0], assumed))
                    }
                    _ => false,
                }
            }
        }
    }

    /// Returns whether the lanes in a mask are certainly the first ones.
    pub(crate) fn are_first(&self, mask: Value) -> bool {
        let below = self.inst(mask).filter(|inst| matches!(inst.kind, Kind::Op { op: Op::Lt, .. }));
        below.is_some_and(|below| self.is_iota(below.args[0]) && !self.region.ty(below.args[1]).is_varying())
    }

    fn is_iota(&self, v: Value) -> bool {
        self.inst(v).is_some_and(|inst| matches!(inst.kind, Kind::Op { op: Op::Iota, .. }))
    }

    /// Returns whether all lanes are in a mask.
    pub(crate) fn is_full(&self, mask: Value) -> bool {
        self.mask_bits(mask) == Some(self.region.width.full_mask())
    }

    /// The least index in bounds for a base, if it is computed where the base is.
    pub(crate) fn least_index(&self, base: Value, scale: u32, index: Ty) -> Option<Value> {
        match self.definition(base) {
            Definition::Inst(block, _) => least_index(self.region.block(block), base, scale, index),
            Definition::None | Definition::Param(..) => None,
        }
    }

    /// Returns whether a lane of a mask is active whenever a block is entered, because it was asked for.
    pub(crate) fn is_some(&self, mask: Value, at: BlockId) -> bool {
        self.is_some_if(mask, at, &mut Vec::new())
    }

    /// The same; `assumed` is taken to be so.
    fn is_some_if(&self, mask: Value, at: BlockId, assumed: &mut Vec<Value>) -> bool {
        if assumed.contains(&mask) {
            return true;
        }
        let mut block = at;
        while block != BlockId(0) {
            let parent = self.dominators.parent(block);
            let end = &self.region.block(parent).end;
            if self.incoming(block) == 1 && end.edges().any(|e| e.to == block && self.asks_for(end, e, mask)) {
                return true;
            }
            block = parent;
        }
        let Definition::Param(home, i) = self.definition(mask) else { return false };
        // If it was so at every earlier entry of the block, and every way to it keeps it so, then it is so at this one.
        assumed.push(mask);
        self.dominators.order().iter().all(|&from| {
            let end = &self.region.block(from).end;
            let mut into = end.edges().filter(|e| e.to == home);
            into.all(|e| self.asks_for(end, e, e.args[i]) || self.is_some_if(e.args[i], from, assumed))
        })
    }

    /// Returns whether an edge is taken only if a lane of a mask is active.
    fn asks_for(&self, end: &End, edge: &Edge, mask: Value) -> bool {
        let End::Branch { cond, then, other } = end else { return false };
        let asked = |inst: &Inst| inst.kind == Kind::AnyLane && inst.args[0] == mask;
        then == edge && then.to != other.to && self.inst(*cond).is_some_and(asked)
    }
}

/// How many operations on constants are computed in place of a value.
const DEEPEST_CONSTANT: usize = 6;

/// Returns whether an operation is one that lane numbers, and what stands for the lanes below each, are computed by.
pub(crate) fn is_index_arithmetic(op: Op, ty: Ty, from: Ty) -> bool {
    let is_wide = |ty: Ty| matches!(ty, Ty::I32 | Ty::U32 | Ty::I64 | Ty::U64);
    let is_among =
        matches!(op, Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr | Op::Popcnt)
            || matches!(op, Op::Convert | Op::Bitcast if is_wide(from));
    is_wide(ty) && is_among
}

/// By value: whether it stands in one place of instructions, ends of blocks and snapshots only.
fn single(region: &Region) -> Vec<bool> {
    let mut times = vec![0u32; region.types.len()];
    let mut count = |v: Value| times[v.index()] += 1;
    for block in &region.blocks {
        block.insts.iter().flat_map(|inst| &inst.args).copied().for_each(&mut count);
        block.end.edges().flat_map(|edge| &edge.args).copied().for_each(&mut count);
        if let End::Branch { cond, .. } = block.end {
            count(cond);
        }
    }
    region.exits.iter().flat_map(|exit| exit.values()).for_each(count);
    times.iter().map(|&n| n == 1).collect()
}
