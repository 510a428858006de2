//! Numbers of 16 bits, which Cranelift has none of: by integers, and by arithmetic on floats.
//!
//! Every half is a float. A float has more than twice the digits of a half and two more, so a sum, difference, product, quotient or root
//! that is rounded to a float and then to a half is the half that the exact one is nearest to (Figueroa, "When is double
//! rounding innocuous?", 1995). The conversions are those of Giesen's `half_to_float_fast5` and `float_to_half_fast3_rtne`, put down anew.

use super::translate::Translator;
use crate::ir::Value;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Exponents of a half, where a float has them, are this much too small.
const REBIAS: u32 = 127 - 15;
/// The canonical NaN.
const NAN: u64 = 0x7e00;

impl Translator<'_> {
    /// Piece `i` of halves as floats.
    pub(super) fn floats_of_halves(&mut self, v: Value, i: usize) -> clif::Value {
        let bits = self.resized(v, Ty::U16, 4, i);
        self.float_of_half(bits)
    }

    /// Piece `i` of floats as halves.
    pub(super) fn halves_of_floats(&mut self, v: Value, i: usize) -> clif::Value {
        self.resize(false, 4, 2, i, &mut |t, i| {
            let x = t.piece(v, i);
            t.half_of_float(x)
        })
    }

    /// Piece `i` of an operation on halves, if it has code.
    pub(super) fn halves_op(&mut self, op: Op, args: &[Value], i: usize) -> Option<clif::Value> {
        let is_rounded_well = matches!(
            op,
            Op::Add
                | Op::Sub
                | Op::Mul
                | Op::FDiv
                | Op::Min
                | Op::Max
                | Op::Sqrt
                | Op::Floor
                | Op::Ceil
                | Op::Trunc
                | Op::RoundEven
        );
        if !is_rounded_well {
            return None;
        }
        let mut has_code = true;
        let result = self.resize(false, 4, 2, i, &mut |t, i| {
            let floats: Vec<_> = args.iter().map(|&v| t.floats_of_halves(v, i)).collect();
            let x = match floats[..] {
                [a] => t.unary_lanes(op, Ty::F32, a),
                [a, b] => t.binary_lanes(op, Ty::F32, a, b),
                _ => None,
            };
            has_code &= x.is_some();
            t.half_of_float(x.unwrap_or(floats[0]))
        });
        has_code.then_some(result)
    }

    /// Halves with NaN as the canonical one.
    pub(super) fn canonical_halves(&mut self, x: clif::Value) -> clif::Value {
        let [rest, infinity, nan] = [0x7fff, 0x7c00, NAN].map(|bits| self.constant_vector(types::I16X8, bits));
        let magnitude = self.b.ins().band(x, rest);
        let is_nan = self.b.ins().icmp(IntCC::SignedGreaterThan, magnitude, infinity);
        self.blend(is_nan, nan, x)
    }

    /// Four halves, as the low bits of integers, as floats. The exponent is put right by a multiplication, which makes subnormal
    /// halves normal floats.
    fn float_of_half(&mut self, bits: clif::Value) -> clif::Value {
        let int = |t: &mut Self, bits: u32| t.constant_vector(types::I32X4, bits.into());
        let [rest, sign] = [0x7fff, 0x8000].map(|bits| int(self, bits));
        let magnitude = self.b.ins().band(bits, rest);
        let sign = self.b.ins().band(bits, sign);
        let sign = self.b.ins().ishl_imm_u(sign, 16);
        let shifted = self.b.ins().ishl_imm_u(magnitude, 13);
        let shifted = self.as_type(shifted, types::F32X4);
        let scale = self.constant_vector(types::F32X4, ((127 + REBIAS) << 23).into());
        let scaled = self.b.ins().fmul(shifted, scale);
        let scaled = self.as_type(scaled, types::I32X4);
        // Infinities and NaN have all bits of the exponent.
        let [finite, exponent] = [0x7bff, 0x7f80_0000].map(|bits| int(self, bits));
        let is_special = self.b.ins().icmp(IntCC::SignedGreaterThan, magnitude, finite);
        let exponent = self.b.ins().band(is_special, exponent);
        let scaled = self.b.ins().bor(scaled, exponent);
        let x = self.b.ins().bor(scaled, sign);
        self.as_type(x, types::F32X4)
    }

    /// Four floats as halves, in the low bits of integers, rounded to the nearest, ties to even.
    fn half_of_float(&mut self, x: clif::Value) -> clif::Value {
        let int = |t: &mut Self, bits: u32| t.constant_vector(types::I32X4, bits.into());
        let bits = self.as_type(x, types::I32X4);
        let rest = int(self, 0x7fff_ffff);
        let magnitude = self.b.ins().band(bits, rest);
        let sign = self.b.ins().bxor(bits, magnitude);
        let sign = self.b.ins().ushr_imm_u(sign, 16);
        // Normal halves: the mantissa is rounded as an integer; what it carries is the exponent's.
        let odd = self.b.ins().ushr_imm_u(magnitude, 13);
        let one = int(self, 1);
        let odd = self.b.ins().band(odd, one);
        let rebias = int(self, 0xfff_u32.wrapping_sub(REBIAS << 23));
        let normal = self.b.ins().iadd(magnitude, rebias);
        let normal = self.b.ins().iadd(normal, odd);
        let normal = self.b.ins().ushr_imm_u(normal, 13);
        // Subnormal ones: a sum with ½ rounds at the right bit.
        let half = 0.5f32.to_bits();
        let small = self.as_type(magnitude, types::F32X4);
        let small = {
            let half = self.constant_vector(types::F32X4, half.into());
            self.b.ins().fadd(small, half)
        };
        let small = self.as_type(small, types::I32X4);
        let half = int(self, half);
        let subnormal = self.b.ins().isub(small, half);
        let least = int(self, (127 - 14) << 23);
        let is_small = self.b.ins().icmp(IntCC::SignedLessThan, magnitude, least);
        let finite = self.blend(is_small, subnormal, normal);
        // Too large, infinite or no number.
        let [nan, infinity] = [NAN as u32, 0x7c00].map(|bits| int(self, bits));
        let [infinite, too_large] = [0x7f80_0000, ((127 + 16) << 23) - 1].map(|bits| int(self, bits));
        let is_nan = self.b.ins().icmp(IntCC::SignedGreaterThan, magnitude, infinite);
        let special = self.blend(is_nan, nan, infinity);
        let is_special = self.b.ins().icmp(IntCC::SignedGreaterThan, magnitude, too_large);
        let x = self.blend(is_special, special, finite);
        self.b.ins().bor(x, sign)
    }
}
