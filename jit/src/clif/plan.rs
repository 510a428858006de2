//! What is known of a region before it is translated.

use crate::backend::{Rule, Rules};
use crate::ir::{Inst, Kind, Region, Value};
use crate::lowering::{Comparison, Logic, Values};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::ops::Range;

/// Bytes of a lane of a mask, as a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LaneWidth(pub u8);

impl LaneWidth {
    pub const BYTE: LaneWidth = LaneWidth(0);

    /// The lane width of lanes of this many bytes.
    pub fn of(size: usize) -> LaneWidth {
        LaneWidth(size.trailing_zeros() as u8)
    }

    /// Bytes of a lane.
    pub fn bytes(self) -> usize {
        1 << self.0
    }
}

/// Facts about the values of a region.
pub(super) struct Plan {
    /// The lane width in which a mask is computed.
    lane_widths: Vec<LaneWidth>,
    /// Whether the value is used at all.
    used: Vec<bool>,
    /// Whether it is used in another block than its own.
    leaves_block: Vec<bool>,
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
    /// The rule of selection that a test does without.
    without: Option<Rule>,
}

impl Plan {
    pub fn new(values: &Values<'_>, without: Option<Rule>) -> Plan {
        let region = values.region;
        let n = region.types.len();
        let mut plan = Plan {
            lane_widths: vec![LaneWidth::of(4); n],
            used: vec![false; n],
            leaves_block: vec![false; n],
            depth: vec![0; n],
            slots: Vec::with_capacity(n),
            lanes: region.width.lanes(),
            masks: region.types.iter().map(|t| t.ty == Ty::Bool).collect(),
            varying: region.types.iter().map(|t| t.is_varying()).collect(),
            sizes: region.types.iter().map(|t| t.ty.size() as u8).collect(),
            n_slots: 0,
            without,
        };
        plan.find_depths(values);
        plan.find_uses(values);
        plan.choose_lane_widths(values);
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
            (true, true) => self.pieces(self.lane_width(v).bytes()),
            (true, false) => self.pieces(self.sizes[v.index()] as usize),
        }
    }

    /// The cache entries of a value.
    pub fn slots(&self, v: Value) -> Range<usize> {
        let end = self.slots.get(v.index() + 1).map_or(self.n_slots, |&at| at as usize);
        self.slots[v.index()] as usize..end
    }

    pub fn lane_width(&self, v: Value) -> LaneWidth {
        self.lane_widths[v.index()]
    }

    pub fn is_used(&self, v: Value) -> bool {
        self.used[v.index()]
    }

    /// Returns whether the value must be there at the end of its block.
    pub fn leaves_block(&self, v: Value) -> bool {
        self.leaves_block[v.index()]
    }

    /// Returns whether the chain of instructions that wait is so long that it should be cut here.
    pub fn is_deep(&self, v: Value) -> bool {
        self.depth[v.index()] % 48 == 47
    }

    fn find_depths(&mut self, values: &Values<'_>) {
        for &id in values.dominators.order() {
            for inst in values.region.block(id).insts.iter().filter(|inst| inst.kind.is_pure()) {
                let Some(result) = inst.result else { continue };
                let depth = |&a: &Value| values.inst_in(id, a).map_or(0, |_| self.depth[a.index()] + 1);
                self.depth[result.index()] = inst.args.iter().map(depth).max().unwrap_or(0);
            }
        }
    }

    fn find_uses(&mut self, values: &Values<'_>) {
        for &id in values.dominators.order() {
            values.region.each_use(id, |v| {
                self.used[v.index()] = true;
                let home = values.definition(v).block();
                self.leaves_block[v.index()] |= home.is_some_and(|home| home != id);
            });
        }
    }

    /// Masks are computed in the lane width of what makes them; those that any lane width would do for, in the one most in use.
    fn choose_lane_widths(&mut self, values: &Values<'_>) {
        let region = values.region;
        let common = common_lane_width(region);
        for v in 0..region.types.len() {
            self.lane_widths[v] = common;
        }
        for &id in values.dominators.order() {
            for inst in &region.block(id).insts {
                if let Some(result) = inst.result
                    && self.masks[result.index()]
                {
                    self.lane_widths[result.index()] = self.lane_width_of(region, inst, common);
                }
            }
        }
    }

    fn lane_width_of(&self, region: &Region, inst: &Inst, common: LaneWidth) -> LaneWidth {
        let of_masks = || {
            let masks = inst.args.iter().filter(|a| self.masks[a.index()] && self.varying[a.index()]);
            let mut lane_widths = masks.map(|a| self.lane_widths[a.index()]);
            let first = lane_widths.next().unwrap_or(common);
            if lane_widths.all(|g| g == first) { first } else { common }
        };
        match MaskRule::of(region, inst, self.without) {
            // What comes from memory, or from a call through memory, is in bytes.
            None => LaneWidth::BYTE,
            Some(MaskRule::Compare(_, ty) | MaskRule::NotZero(ty)) => LaneWidth::of(ty.size()),
            Some(MaskRule::Entry | MaskRule::FromBits) => common,
            Some(MaskRule::Same) if inst.kind == Kind::Splat => common,
            Some(MaskRule::Insert | MaskRule::Select | MaskRule::Logic(_) | MaskRule::Not | MaskRule::Same) => {
                of_masks()
            }
        }
    }

    fn lay_out(&mut self) {
        let mut at = 0;
        for v in 0..self.masks.len() {
            self.slots.push(at as u32);
            at += match (self.varying[v], self.masks[v]) {
                // In all lane widths, and as bits.
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

    /// The cache entry of a piece of a mask in a lane width.
    pub fn mask_slot(&self, v: Value, lane_width: LaneWidth, i: usize) -> usize {
        debug_assert!(self.masks[v.index()]);
        let at = self.slots[v.index()] as usize;
        if self.varying[v.index()] {
            at + (0..lane_width.0).map(|g| self.pieces(1 << g)).sum::<usize>() + i
        } else {
            at + 1 + lane_width.0 as usize
        }
    }
}

/// How an instruction makes a mask.
#[derive(Clone, Copy, Debug)]
pub(super) enum MaskRule {
    /// It was given to the region.
    Entry,
    /// Of the bits of a word.
    FromBits,
    Insert,
    Select,
    /// Where a number is not 0.
    NotZero(Ty),
    Compare(Comparison, Ty),
    Logic(Logic),
    Not,
    /// It is its operand.
    Same,
}

impl MaskRule {
    /// The rule for an instruction, if there is one and a test does not do without it.
    pub fn of(region: &Region, inst: &Inst, without: Option<Rule>) -> Option<MaskRule> {
        let (op, ty, from) = match inst.kind {
            Kind::EntryMask(_) => return Some(MaskRule::Entry),
            Kind::MaskFromBits => return Some(MaskRule::FromBits),
            Kind::Splat => return Some(MaskRule::Same),
            Kind::Op { op, ty, from } => (op, ty, from),
            _ => return None,
        };
        let halves = ty == Ty::F16 || inst.args.iter().any(|&a| region.ty(a).ty == Ty::F16);
        let is_removed = |rules| without == Some(Rule { rules, op });
        match op {
            Op::Insert if !is_removed(Rules::Lanes) => Some(MaskRule::Insert),
            _ if halves || is_removed(Rules::Mask) => None,
            Op::Select => Some(MaskRule::Select),
            Op::Convert if from != Ty::Bool => Some(MaskRule::NotZero(from)),
            Op::Convert | Op::Mov => Some(MaskRule::Same),
            Op::Not => Some(MaskRule::Not),
            _ if ty == Ty::Bool => Logic::of(op).map(MaskRule::Logic),
            _ => Comparison::of(op).map(|op| MaskRule::Compare(op, ty)),
        }
    }
}

/// The lane width in which masks meet data most often.
fn common_lane_width(region: &Region) -> LaneWidth {
    let mut votes = [0usize; 4];
    for inst in region.blocks.iter().flat_map(|b| &b.insts) {
        let varying = inst.args.iter().any(|&a| region.ty(a).is_varying());
        if let Kind::Op { op: Op::Select | Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, ty, .. } = inst.kind
            && varying
            && ty != Ty::Bool
        {
            votes[LaneWidth::of(ty.size()).0 as usize] += 1;
        }
    }
    // In a tie 32 bits win: fewer vectors than 64, and no conversion for what is most frequent.
    let order = [2, 3, 1, 0];
    let best = order.into_iter().max_by_key(|&g| (votes[g], std::cmp::Reverse(order.iter().position(|&x| x == g))));
    LaneWidth(best.unwrap_or(2) as u8)
}
