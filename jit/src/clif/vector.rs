//! Elementwise operations on pieces: 128-bit vectors in, a 128-bit vector out.

use super::demand::{lane_type, mask_type};
use super::plan::LaneWidth;
use super::translate::Translator;
use crate::backend::Rules;
use crate::ir::{Inst, Kind, Value};
use crate::lowering::{BitCount, Comparison, Division, Extreme, Shift};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;

/// A comparison of integers, as Cranelift calls it.
pub(super) fn int_condition(op: Comparison, signed: bool) -> IntCC {
    match (op, signed) {
        (Comparison::Eq, _) => IntCC::Equal,
        (Comparison::Ne, _) => IntCC::NotEqual,
        (Comparison::Lt, true) => IntCC::SignedLessThan,
        (Comparison::Le, true) => IntCC::SignedLessThanOrEqual,
        (Comparison::Gt, true) => IntCC::SignedGreaterThan,
        (Comparison::Ge, true) => IntCC::SignedGreaterThanOrEqual,
        (Comparison::Lt, false) => IntCC::UnsignedLessThan,
        (Comparison::Le, false) => IntCC::UnsignedLessThanOrEqual,
        (Comparison::Gt, false) => IntCC::UnsignedGreaterThan,
        (Comparison::Ge, false) => IntCC::UnsignedGreaterThanOrEqual,
    }
}

/// A comparison of floats, as Cranelift calls it.
pub(super) fn float_condition(op: Comparison) -> FloatCC {
    match op {
        Comparison::Eq => FloatCC::Equal,
        Comparison::Ne => FloatCC::NotEqual,
        Comparison::Lt => FloatCC::LessThan,
        Comparison::Le => FloatCC::LessThanOrEqual,
        Comparison::Gt => FloatCC::GreaterThan,
        Comparison::Ge => FloatCC::GreaterThanOrEqual,
    }
}

impl Translator<'_> {
    /// Piece `i` of an elementwise operation that does not make a mask, if it has code.
    pub(super) fn lanes_op(&mut self, inst: &Inst, op: Op, ty: Ty, from: Ty, i: usize) -> Option<clif::Value> {
        if !self.has_rule(Rules::Vector, op) {
            return None;
        }
        let args = &inst.args;
        match op {
            Op::Mov => return Some(self.piece(args[0], i)),
            Op::Select => return Some(self.select_piece(args, ty, i)),
            Op::Convert => return self.convert_piece(args[0], from, ty, i),
            Op::Bitcast => return self.bitcast_piece(args[0], from, ty, i),
            Op::Shl => return Some(self.shift_piece(Shift::Shl, ty, args, i)),
            Op::Shr => return Some(self.shift_piece(Shift::Shr, ty, args, i)),
            Op::IDiv => return Some(self.divide_piece(Division::IDiv, ty, args, i)),
            Op::IRem => return Some(self.divide_piece(Division::IRem, ty, args, i)),
            Op::Fma if !self.features.fma || ty == Ty::F16 => return None,
            Op::PAdd => return Some(self.pointer_sum_piece(args, i)),
            Op::FRem | Op::Sign => return None,
            _ if ty == Ty::F16 && !matches!(op, Op::Neg | Op::Abs) => return self.halves_op(op, args, i),
            _ => {}
        }
        if op == Op::Fma {
            return Some(self.fma_piece(args, i));
        }
        let a = self.piece(args[0], i);
        match args.len() {
            1 => self.unary_lanes(op, ty, a),
            2 => {
                let b = self.piece(args[1], i);
                self.binary_lanes(op, ty, a, b)
            }
            _ => None,
        }
    }

    /// Piece `i` of `a * b + c`. The instruction overwrites its first operand, which had better not be a splat: that is needed
    /// again for the next piece. What comes from memory should come last, to be an operand: a constant, or else `c`.
    fn fma_piece(&mut self, args: &[Value], i: usize) -> clif::Value {
        let (a, b) = if self.is_spread(args[0]) { (args[1], args[0]) } else { (args[0], args[1]) };
        let a = self.piece(a, i);
        let (b, c) = if self.is_constant(b) {
            let c = self.piece(args[2], i);
            (self.piece(b, i), c)
        } else {
            let b = self.piece(b, i);
            (b, self.piece(args[2], i))
        };
        self.b.ins().fma(a, b, c)
    }

    /// Returns whether a value is the same in all lanes, so that its pieces are one vector.
    pub(super) fn is_spread(&self, v: Value) -> bool {
        let splat = |inst: &Inst| inst.kind == Kind::Splat;
        !self.region.ty(v).is_varying() || self.values.inst(v).is_some_and(splat)
    }

    pub(super) fn unary_lanes(&mut self, op: Op, ty: Ty, a: clif::Value) -> Option<clif::Value> {
        let signs = |t: &mut Self, bits| t.constant_vector(types::I16X8, bits);
        let count = |t: &mut Self, op| t.lane_by_lane(ty, &[a], |t, x| t.bit_count(op, x[0]));
        Some(match (op, ty) {
            (Op::Neg, Ty::F16) => {
                let sign = signs(self, 0x8000);
                self.b.ins().bxor(a, sign)
            }
            (Op::Abs, Ty::F16) => {
                let rest = signs(self, 0x7fff);
                self.b.ins().band(a, rest)
            }
            (Op::Neg, _) if ty.is_float() => self.b.ins().fneg(a),
            (Op::Abs, _) if ty.is_float() => self.b.ins().fabs(a),
            (Op::Neg, _) => self.b.ins().ineg(a),
            (Op::Abs, _) if ty.is_signed() => self.b.ins().iabs(a),
            (Op::Abs, _) => a,
            (Op::Not, _) => self.b.ins().bnot(a),
            (Op::Sqrt, _) => self.b.ins().sqrt(a),
            (Op::Floor, _) => self.b.ins().floor(a),
            (Op::Ceil, _) => self.b.ins().ceil(a),
            (Op::Trunc, _) => self.b.ins().trunc(a),
            (Op::RoundEven, _) => self.b.ins().nearest(a),
            (Op::Popcnt, Ty::I8 | Ty::U8) => self.b.ins().popcnt(a),
            (Op::Popcnt, _) => count(self, BitCount::Popcnt),
            (Op::Clz, _) => count(self, BitCount::Clz),
            (Op::Ctz, _) => count(self, BitCount::Ctz),
            _ => return None,
        })
    }

    /// A binary operation without regard to what its operands are; `None` if it has no code.
    pub(super) fn binary_lanes(&mut self, op: Op, ty: Ty, a: clif::Value, b: clif::Value) -> Option<clif::Value> {
        if !self.has_rule(Rules::Vector, op) {
            return None;
        }
        let float = ty.is_float();
        Some(match op {
            Op::Add if float => self.b.ins().fadd(a, b),
            Op::Sub if float => self.b.ins().fsub(a, b),
            Op::Mul if float => self.b.ins().fmul(a, b),
            Op::FDiv => self.b.ins().fdiv(a, b),
            Op::Add => self.b.ins().iadd(a, b),
            Op::Sub => self.b.ins().isub(a, b),
            Op::Mul => self.multiply(ty, a, b),
            Op::MulHi => self.high_product(ty, a, b),
            Op::And => self.b.ins().band(a, b),
            Op::Or => self.b.ins().bor(a, b),
            Op::Xor => self.b.ins().bxor(a, b),
            Op::Min => self.extreme(Extreme::Min, ty, a, b),
            Op::Max => self.extreme(Extreme::Max, ty, a, b),
            _ => return None,
        })
    }

    /// `a < b ? a : b`, or `a > b ? a : b`.
    fn extreme(&mut self, op: Extreme, ty: Ty, a: clif::Value, b: clif::Value) -> clif::Value {
        let min = op == Extreme::Min;
        if ty.is_float() {
            // Written so that Cranelift finds the instruction which means just this, NaNs and zeros included.
            let less = if min {
                self.compare_floats(FloatCC::LessThan, a, b)
            } else {
                self.compare_floats(FloatCC::LessThan, b, a)
            };
            let less = self.as_type(less, lane_type(ty));
            return self.b.ins().bitselect(less, a, b);
        }
        if ty.size() == 8 {
            let (x, y) = if min { (a, b) } else { (b, a) };
            let less = if ty.is_signed() { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
            let less = self.b.ins().icmp(less, x, y);
            return self.blend(less, a, b);
        }
        match (min, ty.is_signed()) {
            (true, true) => self.b.ins().smin(a, b),
            (true, false) => self.b.ins().umin(a, b),
            (false, true) => self.b.ins().smax(a, b),
            (false, false) => self.b.ins().umax(a, b),
        }
    }

    pub(super) fn compare_floats(&mut self, condition: FloatCC, a: clif::Value, b: clif::Value) -> clif::Value {
        self.b.ins().fcmp(condition, a, b)
    }

    /// The low halves of products.
    pub(super) fn multiply(&mut self, ty: Ty, a: clif::Value, b: clif::Value) -> clif::Value {
        if ty.size() != 1 {
            return self.b.ins().imul(a, b);
        }
        // There is no product of bytes: two of 16 bits, cut.
        let (low, high) = self.wide_products(false, a, b);
        let cut = self.constant_vector(types::I16X8, 0xff);
        let (low, high) = (self.b.ins().band(low, cut), self.b.ins().band(high, cut));
        self.b.ins().unarrow(low, high)
    }

    /// The products of the low and of the high lanes, in twice the size.
    fn wide_products(&mut self, signed: bool, a: clif::Value, b: clif::Value) -> (clif::Value, clif::Value) {
        let (al, bl) = (self.widened(signed, false, a), self.widened(signed, false, b));
        let low = self.b.ins().imul(al, bl);
        let (ah, bh) = (self.widened(signed, true, a), self.widened(signed, true, b));
        (low, self.b.ins().imul(ah, bh))
    }

    /// The low or the high lanes in twice the size.
    pub(super) fn widened(&mut self, signed: bool, high: bool, x: clif::Value) -> clif::Value {
        match (signed, high) {
            (true, false) => self.b.ins().swiden_low(x),
            (true, true) => self.b.ins().swiden_high(x),
            (false, false) => self.b.ins().uwiden_low(x),
            (false, true) => self.b.ins().uwiden_high(x),
        }
    }

    fn high_product(&mut self, ty: Ty, a: clif::Value, b: clif::Value) -> clif::Value {
        let signed = ty.is_signed();
        if ty.size() == 8 {
            return self.lane_by_lane(ty, &[a, b], |t, x| {
                if signed { t.b.ins().smulhi(x[0], x[1]) } else { t.b.ins().umulhi(x[0], x[1]) }
            });
        }
        let (low, high) = self.wide_products(signed, a, b);
        if ty.size() == 4 {
            let (low, high) = (self.as_type(low, types::I8X16), self.as_type(high, types::I8X16));
            let picks = [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31];
            let x = self.shuffled(low, high, picks);
            return self.as_type(x, types::I32X4);
        }
        let bits = 8 * ty.size() as i64;
        if signed {
            let (low, high) = (self.b.ins().sshr_imm_u(low, bits), self.b.ins().sshr_imm_u(high, bits));
            self.b.ins().snarrow(low, high)
        } else {
            let (low, high) = (self.b.ins().ushr_imm_u(low, bits), self.b.ins().ushr_imm_u(high, bits));
            self.b.ins().unarrow(low, high)
        }
    }

    fn select_piece(&mut self, args: &[Value], ty: Ty, i: usize) -> clif::Value {
        if let Some(op) = self.counts_active_lanes(args, ty) {
            // A mask is −1 in active lanes: what is taken from a number there counts it up.
            let (x, mask) = (self.piece(args[2], i), self.mask(args[0], LaneWidth::of(ty.size()), i));
            let mask = self.as_type(mask, lane_type(ty));
            return if op == Op::Add { self.b.ins().isub(x, mask) } else { self.b.ins().iadd(x, mask) };
        }
        let (a, b) = (self.piece(args[1], i), self.piece(args[2], i));
        let mask = self.mask(args[0], LaneWidth::of(ty.size()), i);
        self.blend(mask, a, b)
    }

    /// Tells whether a `select` counts a number up or down by one where its mask holds, and which of them.
    fn counts_active_lanes(&self, args: &[Value], ty: Ty) -> Option<Op> {
        let step = self.values.inst(args[1])?;
        let Kind::Op { op: op @ (Op::Add | Op::Sub), ty: counted, .. } = step.kind else { return None };
        let is_one = |v| self.values.constant_lanes(v) == Some(1);
        let (a, b) = (step.args[0], step.args[1]);
        let by_one = a == args[2] && is_one(b) || op == Op::Add && b == args[2] && is_one(a);
        (by_one && counted == ty && ty.is_int()).then_some(op)
    }

    /// Lanes of `a` where the mask (of their lane width) is true, else of `b`.
    pub(super) fn blend(&mut self, mask: clif::Value, a: clif::Value, b: clif::Value) -> clif::Value {
        let ty = self.b.func.dfg.value_type(a);
        if !self.features.blend {
            let mask = self.as_type(mask, ty);
            return self.b.ins().bitselect(mask, a, b);
        }
        let by = match ty.lane_bits() {
            32 => types::I32X4,
            64 => types::I64X2,
            _ => types::I8X16,
        };
        let (mask, a, b) = (self.as_type(mask, by), self.as_type(a, by), self.as_type(b, by));
        let x = self.b.ins().blendv(mask, a, b);
        self.as_type(x, ty)
    }

    /// A shift; counts are taken modulo the bit width.
    fn shift_piece(&mut self, op: Shift, ty: Ty, args: &[Value], i: usize) -> clif::Value {
        let x = self.piece(args[0], i);
        if !self.region.ty(args[1]).is_varying() {
            let count = self.scalar(args[1]);
            return self.shift(op, ty, x, count);
        }
        // No vector instruction takes a count for each lane.
        let counts = self.piece(args[1], i);
        if ty.size() == 8 {
            return self.lane_by_lane(ty, &[x, counts], |t, x| t.shift(op, ty, x[0], x[1]));
        }
        // For every bit of the count, shift by its weight where it is set: with more lanes that is less.
        let bits = 8 * ty.size() as i64;
        let mut x = x;
        for k in 0..bits.trailing_zeros() as i64 {
            let weight = self.b.ins().iconst(types::I32, 1 << k);
            let shifted = self.shift(op, ty, x, weight);
            let at_top = self.b.ins().ishl_imm_u(counts, bits - 1 - k);
            x = self.blend_by_sign(at_top, shifted, x);
        }
        x
    }

    fn shift(&mut self, op: Shift, ty: Ty, x: clif::Value, count: clif::Value) -> clif::Value {
        match op {
            Shift::Shl => self.b.ins().ishl(x, count),
            Shift::Shr if ty.is_signed() => self.b.ins().sshr(x, count),
            Shift::Shr => self.b.ins().ushr(x, count),
        }
    }

    /// Lanes of `a` where the top bit of `c` is set, else of `b`.
    fn blend_by_sign(&mut self, c: clif::Value, a: clif::Value, b: clif::Value) -> clif::Value {
        let ty = self.b.func.dfg.value_type(c);
        if self.features.blend && ty != types::I16X8 {
            return self.b.ins().blendv(c, a, b);
        }
        let zero = self.constant_vector(ty, 0);
        let mask = self.b.ins().icmp(IntCC::SignedLessThan, c, zero);
        self.blend(mask, a, b)
    }

    /// Piece `i` of pointers plus offsets, within their regions; see `vm::sem::padd`.
    fn pointer_sum_piece(&mut self, args: &[Value], i: usize) -> clif::Value {
        let (p, offset) = (self.piece(args[0], i), self.piece(args[1], i));
        let above = self.b.ins().iconst(types::I32, 64 - OFFSET_BITS as i64);
        let cut = |t: &mut Self, x| {
            let upper = t.b.ins().ishl(x, above);
            t.b.ins().sshr(upper, above)
        };
        let old = cut(self, p);
        // A sum that overflows 64 bits does not fit either: one operand has 40 bits.
        let sum = self.b.ins().iadd(old, offset);
        let kept = cut(self, sum);
        let poison = self.constant_vector(types::I64X2, 1u64.wrapping_neg() << (OFFSET_BITS - 1));
        let fits = self.b.ins().icmp(IntCC::Equal, kept, sum);
        let new = self.blend(fits, sum, poison);
        let was = self.b.ins().icmp(IntCC::Equal, old, poison);
        let new = self.blend(was, poison, new);
        let bits = self.constant_vector(types::I64X2, (1 << OFFSET_BITS) - 1);
        let (new, region) = (self.b.ins().band(new, bits), self.b.ins().band_not(p, bits));
        self.b.ins().bor(region, new)
    }

    /// The bits of a value as another type of the same size; a NaN becomes the canonical one.
    fn bitcast_piece(&mut self, v: Value, from: Ty, ty: Ty, i: usize) -> Option<clif::Value> {
        if from == Ty::Bool {
            return None;
        }
        let x = self.piece(v, i);
        if from == Ty::F16 {
            return Some(self.canonical_halves(x));
        }
        let x = if from.is_float() { self.canonical(from, x) } else { x };
        Some(self.as_type(x, lane_type(ty)))
    }

    fn canonical(&mut self, ty: Ty, x: clif::Value) -> clif::Value {
        let nan = if ty == Ty::F32 { f32::NAN.to_bits() as u64 } else { f64::NAN.to_bits() };
        let nan = self.constant_vector(lane_type(ty), nan);
        let is_nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
        self.blend(is_nan, nan, x)
    }

    /// Applies a scalar function to each lane of some pieces.
    pub(super) fn lane_by_lane(
        &mut self,
        ty: Ty,
        pieces: &[clif::Value],
        f: impl Fn(&mut Self, &[clif::Value]) -> clif::Value,
    ) -> clif::Value {
        let to = lane_type(ty);
        let lanes = (self.b.func.dfg.value_type(pieces[0]).lane_count() as usize).min(self.lanes);
        let mut result = None;
        for l in 0..lanes {
            let x: Vec<_> = pieces.iter().map(|&p| self.b.ins().extractlane(p, l as u8)).collect();
            let x = f(self, &x);
            result = Some(match result {
                None if to.lane_bits() >= 32 => self.b.ins().scalar_to_vector(to, x),
                None => {
                    let zero = self.constant_vector(to, 0);
                    self.b.ins().insertlane(zero, x, 0)
                }
                Some(so_far) => self.b.ins().insertlane(so_far, x, l as u8),
            });
        }
        result.expect("a gang has a lane")
    }

    /// A count of bits.
    pub(super) fn bit_count(&mut self, op: BitCount, x: clif::Value) -> clif::Value {
        match op {
            BitCount::Popcnt => self.b.ins().popcnt(x),
            BitCount::Clz => self.b.ins().clz(x),
            BitCount::Ctz => self.b.ins().ctz(x),
        }
    }

    /// Piece `i` of the mask that a comparison makes.
    pub(super) fn compare_piece(&mut self, op: Comparison, ty: Ty, args: &[Value], i: usize) -> clif::Value {
        let (a, b) = (self.piece(args[0], i), self.piece(args[1], i));
        if ty.is_float() {
            return self.compare_floats(float_condition(op), a, b);
        }
        self.b.ins().icmp(int_condition(op, ty.is_signed()), a, b)
    }

    /// Where a piece differs from 0, as a mask of its lane width.
    pub(super) fn is_not_zero(&mut self, ty: Ty, x: clif::Value) -> clif::Value {
        let zero = self.constant_vector(lane_type(ty), 0);
        if ty.is_float() {
            return self.compare_floats(FloatCC::NotEqual, x, zero);
        }
        debug_assert_eq!(lane_type(ty), mask_type(LaneWidth::of(ty.size())));
        self.b.ins().icmp(IntCC::NotEqual, x, zero)
    }
}
