//! Masks: pieces of lanes that are 0 or −1, in a lane width.

use super::demand::mask_type;
use super::plan::{LaneWidth, MaskRule};
use super::translate::Translator;
use crate::ir::{Inst, Kind, Value};
use crate::lowering::{Comparison, Logic};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Returns whether a comparison of integers takes fewer instructions than its opposite, and inverting that.
fn is_cheaper(op: Comparison, ty: Ty) -> bool {
    match op {
        Comparison::Eq => true,
        Comparison::Lt | Comparison::Gt => ty.is_signed(),
        Comparison::Le | Comparison::Ge => !ty.is_signed(),
        Comparison::Ne => false,
    }
}

impl<'a> Translator<'a> {
    /// Piece `i` of the mask that an instruction makes by a rule, in the mask's own lane width.
    pub(super) fn mask_inst(&mut self, rule: MaskRule, inst: &Inst, lane_width: LaneWidth, i: usize) -> clif::Value {
        let args = &inst.args;
        match rule {
            MaskRule::FromBits => {
                let bits = self.scalar(args[0]);
                self.mask_of_bits(bits, lane_width, i)
            }
            // It was read when the region was entered.
            MaskRule::Entry => {
                let bits = self.mask_bits(inst.result.expect("it has a result"));
                self.mask_of_bits(bits, lane_width, i)
            }
            MaskRule::Insert => self.insert_mask(args, lane_width, i),
            MaskRule::Select => {
                let [c, a, b] = [0, 1, 2].map(|k| self.mask(args[k], lane_width, i));
                self.blend(c, a, b)
            }
            MaskRule::NotZero(from) => {
                let x = self.piece(args[0], i);
                self.is_not_zero(from, x)
            }
            MaskRule::Compare(op, ty) => self.compare_piece(op, ty, args, i),
            MaskRule::Logic(Logic::And) if self.negation(args[1]).is_some() => {
                self.and_not(args[0], args[1], lane_width, i)
            }
            MaskRule::Logic(Logic::And) if self.negation(args[0]).is_some() => {
                self.and_not(args[1], args[0], lane_width, i)
            }
            MaskRule::Logic(op) => {
                let (a, b) = (self.mask(args[0], lane_width, i), self.mask(args[1], lane_width, i));
                self.combine(op, a, b)
            }
            MaskRule::Not => match self.opposite(args[0], lane_width, i) {
                Some((op, ty, args)) => self.compare_piece(op, ty, args, i),
                None => {
                    let x = self.mask(args[0], lane_width, i);
                    self.b.ins().bnot(x)
                }
            },
            MaskRule::Same => self.mask(args[0], lane_width, i),
        }
    }

    /// Piece `i` of `a` and the negation `b`, in one instruction.
    fn and_not(&mut self, a: Value, b: Value, lane_width: LaneWidth, i: usize) -> clif::Value {
        let negated = self.negation(b).expect("a negation");
        if let Some((op, ty, args)) = self.opposite(negated, lane_width, i)
            && is_cheaper(op, ty)
        {
            let (a, b) = (self.mask(a, lane_width, i), self.compare_piece(op, ty, args, i));
            return self.b.ins().band(a, b);
        }
        let (a, b) = (self.mask(a, lane_width, i), self.mask(negated, lane_width, i));
        self.b.ins().band_not(a, b)
    }

    /// The comparison of integers that is true where a mask is not, if the mask is a comparison in this block that nobody has
    /// asked for yet.
    fn opposite(&self, v: Value, lane_width: LaneWidth, i: usize) -> Option<(Comparison, Ty, &'a [Value])> {
        let inst = self.values.inst_in(self.block, v)?;
        let Kind::Op { op, ty, .. } = inst.kind else { return None };
        let op = Comparison::of(op)?.negated();
        let integers = !ty.is_float() && ty != Ty::Bool && self.region.ty(v).is_varying();
        let is_free =
            lane_width == self.plan.lane_width(v) && self.made(self.plan.mask_slot(v, lane_width, i)).is_none();
        (integers && is_free).then_some((op, ty, &inst.args[..]))
    }

    /// A binary operation on bools, on masks of one lane width.
    fn combine(&mut self, op: Logic, a: clif::Value, b: clif::Value) -> clif::Value {
        match op {
            Logic::And => self.b.ins().band(a, b),
            Logic::Or => self.b.ins().bor(a, b),
            Logic::Xor => self.b.ins().bxor(a, b),
            Logic::OnlySecond => self.b.ins().band_not(b, a),
            Logic::OnlyFirst => self.b.ins().band_not(a, b),
            Logic::Implied => self.b.ins().bor_not(b, a),
            Logic::Implies => self.b.ins().bor_not(a, b),
            Logic::Same => {
                let differ = self.b.ins().bxor(a, b);
                self.b.ins().bnot(differ)
            }
        }
    }

    /// A byte, 0 or 1: whether a mask is true in some lane.
    pub(super) fn any_lane(&mut self, v: Value) -> clif::Value {
        let (any, lane_width) = self.differing_bits(v).unwrap_or_else(|| self.lanes_together(v));
        let any = self.without_padding(any, lane_width);
        self.b.ins().vany_true(any)
    }

    /// The pieces of a mask taken together: true where some piece is.
    fn lanes_together(&mut self, v: Value) -> (clif::Value, LaneWidth) {
        // Some lane of a negation is true if the lanes of what it negates, taken together, are not.
        let negated = self.negation(v);
        let v = negated.unwrap_or(v);
        let lane_width = self.plan.lane_width(v);
        let n = self.plan.pieces(lane_width.bytes());
        let mut any = self.mask(v, lane_width, 0);
        for i in 1..n {
            let next = self.mask(v, lane_width, i);
            any = if negated.is_some() { self.b.ins().band(any, next) } else { self.b.ins().bor(any, next) };
        }
        if negated.is_some() {
            any = self.b.ins().bnot(any);
        }
        (any, lane_width)
    }

    /// What is beyond the lanes of a narrow gang becomes 0.
    fn without_padding(&mut self, x: clif::Value, lane_width: LaneWidth) -> clif::Value {
        let filled = self.lanes * lane_width.bytes();
        if filled >= 16 {
            return x;
        }
        let lanes = self.vector_of(mask_type(lane_width), std::array::from_fn(|at| if at < filled { 0xff } else { 0 }));
        self.b.ins().band(x, lanes)
    }

    /// Of a mask that is a comparison of integers by `!=`, perhaps within another mask: all bits in which they differ, together.
    /// That takes fewer instructions than to compare them.
    fn differing_bits(&mut self, v: Value) -> Option<(clif::Value, LaneWidth)> {
        let inst = self.values.inst_in(self.block, v)?;
        let (mask, differ) = match inst.kind {
            Kind::Op { op: Op::And, ty: Ty::Bool, .. } => {
                (Some(inst.args[0]), self.values.inst_in(self.block, inst.args[1])?)
            }
            _ => (None, inst),
        };
        let Kind::Op { op: Op::Ne, ty, .. } = differ.kind else { return None };
        if !ty.is_int() || !self.region.ty(v).is_varying() {
            return None;
        }
        let (a, b, lane_width) = (differ.args[0], differ.args[1], LaneWidth::of(ty.size()));
        let mut all = None;
        for i in 0..self.plan.pieces(ty.size()) {
            let (a, b) = (self.piece(a, i), self.piece(b, i));
            let mut bits = self.b.ins().bxor(a, b);
            if let Some(mask) = mask {
                let mask = self.mask(mask, lane_width, i);
                bits = self.b.ins().band(bits, mask);
            }
            all = Some(all.map_or(bits, |so_far| self.b.ins().bor(so_far, bits)));
        }
        Some((all?, lane_width))
    }

    /// The condition of a guard, and whether it is to be taken for its opposite.
    pub(super) fn guarded(&mut self, condition: Value) -> (clif::Value, bool) {
        match self.some_is_beyond(condition) {
            Some(beyond) => (beyond, true),
            None => self.condition(condition),
        }
    }

    /// For a guard `not any (mask and not (x <u limit))`: whether the greatest `x` is beyond the limit. So pieces are compared with each
    /// other, and only once with the limit. Inactive lanes count as 0; that is beyond a limit of 0, but then active lanes are too,
    /// and without any it does no harm to leave.
    fn some_is_beyond(&mut self, condition: Value) -> Option<clif::Value> {
        let any =
            self.values.inst_in(self.block, self.negation(condition)?).filter(|inst| inst.kind == Kind::AnyLane)?.args
                [0];
        let (mask, below) = match self.negation(any) {
            Some(below) => (None, below),
            None => {
                let and = self
                    .values
                    .inst_in(self.block, any)
                    .filter(|inst| matches!(inst.kind, Kind::Op { op: Op::And, .. }))?;
                let (a, b) = (and.args[0], and.args[1]);
                self.negation(b).map(|b| (Some(a), b)).or_else(|| self.negation(a).map(|a| (Some(b), a)))?
            }
        };
        let less = self.values.inst_in(self.block, below)?;
        let Kind::Op { op: Op::Lt, ty: ty @ (Ty::U8 | Ty::U16 | Ty::U32), .. } = less.kind else { return None };
        let (x, limit, n) = (less.args[0], less.args[1], self.plan.pieces(ty.size()));
        // One vector is compared as it is; and where there are several, none has lanes beyond those of the gang.
        if n < 2 || self.region.ty(limit).is_varying() || !self.region.ty(x).is_varying() {
            return None;
        }
        let mut active = Vec::with_capacity(n);
        let mut greatest = None;
        for i in 0..n {
            let x = self.piece(x, i);
            let x = match mask {
                Some(mask) => {
                    let mask = self.mask(mask, LaneWidth::of(ty.size()), i);
                    self.b.ins().band(x, mask)
                }
                None => x,
            };
            active.push(x);
            greatest = Some(greatest.map_or(x, |so_far| self.b.ins().umax(so_far, x)));
        }
        self.note_check(x, mask, active);
        let limit = self.piece(limit, 0);
        let beyond = self.b.ins().icmp(IntCC::UnsignedGreaterThanOrEqual, greatest?, limit);
        Some(self.b.ins().vany_true(beyond))
    }

    /// A uniform bool in every lane.
    pub(super) fn splat_mask(&mut self, v: Value, lane_width: LaneWidth) -> clif::Value {
        let ty = mask_type(lane_width);
        if let Some(bits) = self.values.constant(v) {
            return self.constant_vector(ty, if bits as u8 != 0 { u64::MAX } else { 0 });
        }
        let bit = self.scalar(v);
        let lane = ty.lane_type();
        let wide = if lane == types::I8 { bit } else { self.b.ins().uextend(lane, bit) };
        let all = self.b.ins().ineg(wide);
        self.b.ins().splat(ty, all)
    }

    /// Piece `i` of a mask, from another lane width.
    pub(super) fn in_lane_width(&mut self, v: Value, from: LaneWidth, to: LaneWidth, i: usize) -> clif::Value {
        if from == to {
            return self.mask(v, from, i);
        }
        if from < to {
            let half = LaneWidth(to.0 - 1);
            let x = self.in_lane_width(v, from, half, i / 2);
            return if i.is_multiple_of(2) { self.b.ins().swiden_low(x) } else { self.b.ins().swiden_high(x) };
        }
        let double = LaneWidth(to.0 + 1);
        let low = self.in_lane_width(v, from, double, 2 * i);
        let has_high = 2 * i + 1 < self.plan.pieces(double.bytes());
        let high = if has_high { self.in_lane_width(v, from, double, 2 * i + 1) } else { low };
        self.narrow_mask(low, high)
    }

    /// Two pieces of a mask as one of half the lane width.
    pub(super) fn narrow_mask(&mut self, low: clif::Value, high: clif::Value) -> clif::Value {
        if self.b.func.dfg.value_type(low) == types::I64X2 {
            return self.even_halves(low, high);
        }
        self.b.ins().snarrow(low, high)
    }

    /// The low 32 bits of each 64-bit lane of two vectors.
    pub(super) fn even_halves(&mut self, low: clif::Value, high: clif::Value) -> clif::Value {
        let (low, high) = (self.as_type(low, types::I8X16), self.as_type(high, types::I8X16));
        let picks = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
        let x = self.shuffled(low, high, picks);
        self.as_type(x, types::I32X4)
    }

    /// Bytes chosen from two vectors.
    pub(super) fn shuffled(&mut self, a: clif::Value, b: clif::Value, picks: [u8; 16]) -> clif::Value {
        let picks = self.b.func.dfg.immediates.push(picks.as_slice().into());
        self.b.ins().shuffle(a, b, picks)
    }

    /// The same bits as another vector type.
    pub(super) fn as_type(&mut self, x: clif::Value, ty: clif::Type) -> clif::Value {
        if self.b.func.dfg.value_type(x) == ty {
            return x;
        }
        self.b.ins().bitcast(ty, MemFlagsData::new().with_endianness(clif::Endianness::Little), x)
    }

    /// A mask as bits of a 64-bit word, without padding lanes.
    pub(super) fn mask_bits(&mut self, v: Value) -> clif::Value {
        if let Some(bits) = self.values.mask_bits(v) {
            return self.b.ins().iconst(types::I64, bits as i64);
        }
        let slot = self.plan.bits_slot(v);
        if let Some(bits) = self.made(slot) {
            return bits;
        }
        let bits = self.collect_bits(v);
        self.record(slot, bits);
        bits
    }

    fn collect_bits(&mut self, v: Value) -> clif::Value {
        let bytes: Vec<_> = (0..self.plan.pieces(1)).map(|i| self.mask(v, LaneWidth::BYTE, i)).collect();
        self.bits_of_bytes(&bytes)
    }

    /// The pieces of a mask of bytes as bits of a word, without padding lanes.
    pub(super) fn bits_of_bytes(&mut self, pieces: &[clif::Value]) -> clif::Value {
        let mut word = None;
        for (i, &bytes) in pieces.iter().enumerate() {
            let bits = self.b.ins().vhigh_bits(types::I32, bytes);
            let bits = self.b.ins().uextend(types::I64, bits);
            word = Some(match word {
                None => bits,
                Some(low) => {
                    let high = self.b.ins().ishl_imm_u(bits, 16 * i as i64);
                    self.b.ins().bor(low, high)
                }
            });
        }
        let word = word.expect("every mask has a piece");
        if self.lanes < 16 { self.b.ins().band_imm_u(word, (1 << self.lanes) - 1) } else { word }
    }

    /// Bits of a 64-bit word as piece `i` of a mask.
    pub(super) fn mask_of_bits(&mut self, bits: clif::Value, lane_width: LaneWidth, i: usize) -> clif::Value {
        let ty = mask_type(lane_width);
        let lanes = ty.lane_count() as usize;
        let first = lanes * i;
        let bits = if first == 0 { bits } else { self.b.ins().ushr_imm_u(bits, first as i64) };
        if lane_width == LaneWidth::BYTE {
            return self.byte_mask_of_bits(bits);
        }
        let lane = ty.lane_type();
        let word = if lane == types::I64 { bits } else { self.b.ins().ireduce(lane, bits) };
        let word = self.b.ins().splat(ty, word);
        let mut select = [0; 16];
        for l in 0..lanes {
            select[l * lane_width.bytes()] = (1u16 << l) as u8;
        }
        let select = self.vector_of(ty, select);
        let chosen = self.b.ins().band(word, select);
        self.b.ins().icmp(IntCC::Equal, chosen, select)
    }

    /// The low 16 bits of a word as a mask of bytes.
    fn byte_mask_of_bits(&mut self, bits: clif::Value) -> clif::Value {
        let half = self.b.ins().ireduce(types::I16, bits);
        let halves = self.b.ins().splat(types::I16X8, half);
        let bytes = self.as_type(halves, types::I8X16);
        // Bytes 0 to 7 look at the low byte, 8 to 15 at the high one.
        let picks = std::array::from_fn(|l| (l / 8) as u8);
        let spread = self.shuffled(bytes, bytes, picks);
        let select = self.vector_of(types::I8X16, std::array::from_fn(|l| 1 << (l % 8)));
        let chosen = self.b.ins().band(spread, select);
        self.b.ins().icmp(IntCC::Equal, chosen, select)
    }
}
