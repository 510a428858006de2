//! What is known of a region before it is translated.

use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::ops::Range;

/// Bytes of a lane of a mask, as a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grain(pub u8);

impl Grain {
    pub const BYTE: Grain = Grain(0);

    /// The grain of lanes of this many bytes.
    pub fn of(size: usize) -> Grain {
        Grain(size.trailing_zeros() as u8)
    }

    /// Bytes of a lane.
    pub fn bytes(self) -> usize {
        1 << self.0
    }
}

/// Where a value is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Definition {
    /// Nowhere that can be reached.
    None,
    /// A parameter of a block.
    Param(BlockId),
    /// An instruction of a block.
    Inst(BlockId, usize),
}

impl Definition {
    /// The block of the definition.
    pub fn block(self) -> Option<BlockId> {
        match self {
            Definition::None => None,
            Definition::Param(block) | Definition::Inst(block, _) => Some(block),
        }
    }
}

/// Facts about the values of a region.
pub(super) struct Plan {
    pub dominators: Dominators,
    definitions: Vec<Definition>,
    /// The grain in which a mask is computed.
    grains: Vec<Grain>,
    /// Whether the value is used at all.
    used: Vec<bool>,
    /// Whether it is used in another block than its own.
    leaves_block: Vec<bool>,
    /// Edges into each block.
    ways_into: Vec<u32>,
    /// Pure instructions of its block that it waits for, one after another.
    depth: Vec<u32>,
    /// Where its cache entries begin.
    slots: Vec<u32>,
    lanes: usize,
    masks: Vec<bool>,
    varying: Vec<bool>,
    /// Bytes of an element.
    sizes: Vec<u8>,
    n_slots: usize,
}

impl Plan {
    pub fn new(region: &Region) -> Plan {
        let n = region.types.len();
        let mut plan = Plan {
            dominators: Dominators::new(region),
            definitions: vec![Definition::None; n],
            grains: vec![Grain::of(4); n],
            used: vec![false; n],
            leaves_block: vec![false; n],
            ways_into: vec![0; region.blocks.len()],
            depth: vec![0; n],
            slots: Vec::with_capacity(n),
            lanes: region.width.lanes(),
            masks: region.types.iter().map(|t| t.ty == Ty::Bool).collect(),
            varying: region.types.iter().map(|t| t.is_varying()).collect(),
            sizes: region.types.iter().map(|t| t.ty.size() as u8).collect(),
            n_slots: 0,
        };
        plan.define(region);
        plan.find_uses(region);
        plan.choose_grains(region);
        plan.lay_out();
        plan
    }

    /// Vectors that the lanes of elements of `size` bytes fill.
    pub fn pieces(&self, size: usize) -> usize {
        (self.lanes * size).div_ceil(16)
    }

    /// Vectors that a value fills in the form in which it passes between blocks; 0 of uniform ones.
    pub fn n_pieces(&self, v: Value) -> usize {
        match (self.varying[v.index()], self.masks[v.index()]) {
            (false, _) => 0,
            (true, true) => self.pieces(self.grain(v).bytes()),
            (true, false) => self.pieces(self.sizes[v.index()] as usize),
        }
    }

    /// The cache entries of a value.
    pub fn slots(&self, v: Value) -> Range<usize> {
        let end = self.slots.get(v.index() + 1).map_or(self.n_slots, |&at| at as usize);
        self.slots[v.index()] as usize..end
    }

    pub fn definition(&self, v: Value) -> Definition {
        self.definitions[v.index()]
    }

    pub fn grain(&self, v: Value) -> Grain {
        self.grains[v.index()]
    }

    pub fn is_used(&self, v: Value) -> bool {
        self.used[v.index()]
    }

    /// Returns whether the value must be there at the end of its block.
    pub fn leaves_block(&self, v: Value) -> bool {
        self.leaves_block[v.index()]
    }

    /// The number of edges that lead to a block.
    pub fn ways_into(&self, block: BlockId) -> u32 {
        self.ways_into[block.index()]
    }

    /// Returns whether the chain of instructions that wait is so long that it should be cut here.
    pub fn is_deep(&self, v: Value) -> bool {
        self.depth[v.index()] % 48 == 47
    }

    fn define(&mut self, region: &Region) {
        for &id in self.dominators.order() {
            let block = region.block(id);
            for &p in &block.params {
                self.definitions[p.index()] = Definition::Param(id);
            }
            for (at, inst) in block.insts.iter().enumerate() {
                let Some(result) = inst.result else { continue };
                self.definitions[result.index()] = Definition::Inst(id, at);
                if inst.kind.is_pure() {
                    let depth = |a: &Value| match self.definitions[a.index()] {
                        Definition::Inst(home, _) if home == id => self.depth[a.index()] + 1,
                        _ => 0,
                    };
                    self.depth[result.index()] = inst.args.iter().map(depth).max().unwrap_or(0);
                }
            }
        }
    }

    fn use_in(&mut self, v: Value, block: BlockId) {
        self.used[v.index()] = true;
        let home = self.definitions[v.index()].block();
        self.leaves_block[v.index()] |= home.is_some_and(|home| home != block);
    }

    fn find_uses(&mut self, region: &Region) {
        for id in self.dominators.order().to_vec() {
            region.each_use(id, |v| self.use_in(v, id));
            region.block(id).end.edges().for_each(|edge| self.ways_into[edge.to.index()] += 1);
        }
    }

    /// Masks are computed in the grain of what makes them; those that any grain would do for, in the one most in use.
    fn choose_grains(&mut self, region: &Region) {
        let common = common_grain(region);
        for v in 0..region.types.len() {
            self.grains[v] = common;
        }
        for id in self.dominators.order().to_vec() {
            for inst in &region.block(id).insts {
                if let Some(result) = inst.result
                    && self.masks[result.index()]
                {
                    self.grains[result.index()] = self.grain_of(region, inst, common);
                }
            }
        }
    }

    fn grain_of(&self, region: &Region, inst: &Inst, common: Grain) -> Grain {
        let of_masks = || {
            let masks = inst.args.iter().filter(|a| self.masks[a.index()] && self.varying[a.index()]);
            let mut grains = masks.map(|a| self.grains[a.index()]);
            let first = grains.next().unwrap_or(common);
            if grains.all(|g| g == first) { first } else { common }
        };
        if !has_mask_code(region, inst) {
            // What comes from memory, or from a call through memory, is in bytes.
            return Grain::BYTE;
        }
        match inst.kind {
            Kind::Op { op: Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, ty, .. } if ty != Ty::Bool => {
                Grain::of(ty.size())
            }
            Kind::Op { op: Op::Convert, from, .. } if from != Ty::Bool => Grain::of(from.size()),
            Kind::Op { ty: Ty::Bool, .. } if region.ty(inst.args[0]).ty == Ty::Bool => of_masks(),
            _ => common,
        }
    }

    fn lay_out(&mut self) {
        let mut at = 0;
        for v in 0..self.masks.len() {
            self.slots.push(at as u32);
            at += match (self.varying[v], self.masks[v]) {
                // In all grains, and as bits.
                (true, true) => (0..4).map(|g| self.pieces(1 << g)).sum::<usize>() + 1,
                (true, false) => self.pieces(8),
                // The scalar, then its splats.
                (false, true) => 1 + 4,
                (false, false) => 1 + 1,
            };
        }
        self.n_slots = at;
    }

    pub fn n_slots(&self) -> usize {
        self.n_slots
    }

    /// The cache entry of a uniform value.
    pub fn scalar_slot(&self, v: Value) -> usize {
        debug_assert!(!self.varying[v.index()]);
        self.slots[v.index()] as usize
    }

    /// The cache entry of a piece of a value that is no mask. A uniform value has one for its splat.
    pub fn piece_slot(&self, v: Value, i: usize) -> usize {
        debug_assert!(!self.masks[v.index()]);
        let at = self.slots[v.index()] as usize;
        if self.varying[v.index()] { at + i } else { at + 1 }
    }

    /// The cache entry of a mask as the bits of a word.
    pub fn bits_slot(&self, v: Value) -> usize {
        debug_assert!(self.masks[v.index()] && self.varying[v.index()]);
        self.slots[v.index()] as usize + (0..4).map(|g| self.pieces(1 << g)).sum::<usize>()
    }

    /// The cache entry of a piece of a mask in a grain.
    pub fn mask_slot(&self, v: Value, grain: Grain, i: usize) -> usize {
        debug_assert!(self.masks[v.index()]);
        let at = self.slots[v.index()] as usize;
        if self.varying[v.index()] {
            at + (0..grain.0).map(|g| self.pieces(1 << g)).sum::<usize>() + i
        } else {
            at + 1 + grain.0 as usize
        }
    }
}

/// Returns whether there is code for an instruction that makes a mask.
pub(super) fn has_mask_code(region: &Region, inst: &Inst) -> bool {
    let halves = |ty: Ty| ty == Ty::F16;
    match inst.kind {
        Kind::EntryMask(_) | Kind::MaskFromBits | Kind::Splat => true,
        Kind::Op { op: Op::Shuffle | Op::Bitcast, .. } => false,
        Kind::Op { op: Op::Insert, .. } => true,
        Kind::Op { op: Op::Convert, from, .. } => !halves(from),
        Kind::Op { ty, .. } => !halves(ty) && inst.args.iter().all(|&a| region.ty(a).ty != Ty::F16),
        _ => false,
    }
}

/// The grain in which masks meet data most often.
fn common_grain(region: &Region) -> Grain {
    let mut votes = [0usize; 4];
    for inst in region.blocks.iter().flat_map(|b| &b.insts) {
        let varying = inst.args.iter().any(|&a| region.ty(a).is_varying());
        if let Kind::Op { op: Op::Select | Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, ty, .. } = inst.kind
            && varying
            && ty != Ty::Bool
        {
            votes[Grain::of(ty.size()).0 as usize] += 1;
        }
    }
    // In a tie 32 bits win: fewer vectors than 64, and no conversion for what is most frequent.
    let order = [2, 3, 1, 0];
    let best = order.into_iter().max_by_key(|&g| (votes[g], std::cmp::Reverse(order.iter().position(|&x| x == g))));
    Grain(best.unwrap_or(2) as u8)
}
