//! Integer quotients and remainders. No processor divides vectors of integers, but all divide vectors of floats:
//! `vm::sem` says why the result is exact. A zero divisor gives 0 and never traps (padding lanes hold anything).

use super::demand::lane_type;
use super::translate::Translator;
use crate::ir::Value;
use crate::lowering::Division;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use spmdvm_vm::types::Ty;

impl Translator<'_> {
    /// Piece `i` of a quotient or remainder.
    pub(super) fn divide_piece(&mut self, op: Division, ty: Ty, args: &[Value], i: usize) -> clif::Value {
        if ty.size() == 8 {
            let (a, b) = (self.piece(args[0], i), self.piece(args[1], i));
            return self.lane_by_lane(ty, &[a, b], |t, x| t.divide_scalars(op, ty, x[0], x[1]));
        }
        let quotient = match ty {
            Ty::I32 => self.quotient_i32(args, i),
            Ty::U32 => self.quotient_u32(args, i),
            _ => self.resize(true, 4, ty.size(), i, &mut |t, i| t.quotient_small(ty, args, i)),
        };
        if op == Division::IDiv {
            return quotient;
        }
        let (a, b) = (self.piece(args[0], i), self.piece(args[1], i));
        let product = self.multiply(ty, quotient, b);
        let rest = self.b.ins().isub(a, product);
        self.unless_zero(args[1], ty, b, rest)
    }

    /// `x`, but 0 where the divisor is.
    fn unless_zero(&mut self, divisor: Value, ty: Ty, b: clif::Value, x: clif::Value) -> clif::Value {
        if self.values.constant(divisor).is_some_and(|d| d != 0) {
            return x;
        }
        let keep = self.is_not_zero(ty, b);
        self.b.ins().band(x, keep)
    }

    /// For operands of 8 and 16 bits, in 32: floats of 24 bits suffice.
    fn quotient_small(&mut self, ty: Ty, args: &[Value], i: usize) -> clif::Value {
        let [a, b] = [args[0], args[1]].map(|v| self.resized(v, ty, 4, i));
        let fa = self.b.ins().fcvt_from_sint(types::F32X4, a);
        let fb = self.b.ins().fcvt_from_sint(types::F32X4, b);
        let q = self.b.ins().fdiv(fa, fb);
        let q = self.b.ins().fcvt_to_sint_sat(types::I32X4, q);
        self.unless_zero(args[1], Ty::I32, b, q)
    }

    fn quotient_i32(&mut self, args: &[Value], i: usize) -> clif::Value {
        let (a, b) = (self.piece(args[0], i), self.piece(args[1], i));
        let known = self.values.constant(args[1]).map(|d| d as i32);
        if known.is_some_and(|d| d != 0 && d != -1) {
            return self.quotient_in_doubles(true, a, b);
        }
        // Both special divisors become 1; then the result is negated or cleared.
        let ty = lane_type(Ty::I32);
        let (zero, minus_one) = (self.constant_vector(ty, 0), self.constant_vector(ty, u64::MAX));
        let is_zero = self.b.ins().icmp(IntCC::Equal, b, zero);
        let is_minus_one = self.b.ins().icmp(IntCC::Equal, b, minus_one);
        let divisor = self.b.ins().isub(b, is_zero);
        let divisor = self.b.ins().isub(divisor, is_minus_one);
        let divisor = self.b.ins().isub(divisor, is_minus_one);
        let q = self.quotient_in_doubles(true, a, divisor);
        let q = self.b.ins().bxor(q, is_minus_one);
        let q = self.b.ins().isub(q, is_minus_one);
        self.b.ins().band_not(q, is_zero)
    }

    fn quotient_u32(&mut self, args: &[Value], i: usize) -> clif::Value {
        let (a, b) = (self.piece(args[0], i), self.piece(args[1], i));
        if self.values.constant(args[1]).is_some_and(|d| d as u32 != 0) {
            return self.quotient_in_doubles(false, a, b);
        }
        let zero = self.constant_vector(lane_type(Ty::U32), 0);
        let is_zero = self.b.ins().icmp(IntCC::Equal, b, zero);
        let divisor = self.b.ins().isub(b, is_zero);
        let q = self.quotient_in_doubles(false, a, divisor);
        self.b.ins().band_not(q, is_zero)
    }

    /// The quotient of two pieces of 32-bit integers, by two divisions of doubles.
    fn quotient_in_doubles(&mut self, signed: bool, a: clif::Value, b: clif::Value) -> clif::Value {
        let [low, high] = [false, true].map(|high| {
            let a = self.double_of(signed, high, a);
            let b = self.double_of(signed, high, b);
            let q = self.b.ins().fdiv(a, b);
            self.int_of_double(signed, q)
        });
        self.low_halves(low, high)
    }

    /// A quotient or remainder of scalars.
    pub(super) fn divide_scalars(&mut self, op: Division, ty: Ty, a: clif::Value, b: clif::Value) -> clif::Value {
        let of = self.b.func.dfg.value_type(a);
        if ty.size() < 4 {
            let wide = |t: &mut Self, x| {
                if ty.is_signed() { t.b.ins().sextend(types::I32, x) } else { t.b.ins().uextend(types::I32, x) }
            };
            let (a, b) = (wide(self, a), wide(self, b));
            let wide = if ty.is_signed() { Ty::I32 } else { Ty::U32 };
            let x = self.divide_scalars(op, wide, a, b);
            return self.b.ins().ireduce(of, x);
        }
        let (zero, one) = (self.b.ins().iconst(of, 0), self.b.ins().iconst(of, 1));
        let is_zero = self.b.ins().icmp(IntCC::Equal, b, zero);
        let divisor = self.b.ins().select(is_zero, one, b);
        if !ty.is_signed() {
            let x = if op == Division::IDiv { self.b.ins().udiv(a, divisor) } else { self.b.ins().urem(a, divisor) };
            return self.b.ins().select(is_zero, zero, x);
        }
        let is_minus_one = self.b.ins().icmp_imm_s(IntCC::Equal, b, -1);
        let divisor = self.b.ins().select(is_minus_one, one, divisor);
        let x = if op == Division::IDiv {
            let q = self.b.ins().sdiv(a, divisor);
            let negated = self.b.ins().ineg(a);
            self.b.ins().select(is_minus_one, negated, q)
        } else {
            self.b.ins().srem(a, divisor)
        };
        self.b.ins().select(is_zero, zero, x)
    }
}
