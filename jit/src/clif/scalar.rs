//! Operations on uniform values: scalars, in the registers of scalars.

use super::demand::scalar_type;
use super::translate::Translator;
use super::vector::{float_condition, int_condition};
use crate::backend::Rules;
use crate::ir::Value;
use crate::lowering::{BitCount, Comparison, Division};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;

impl Translator<'_> {
    /// Translates an elementwise operation on uniform values, if it has code.
    pub(super) fn scalar_op(&mut self, op: Op, ty: Ty, from: Ty, args: &[Value]) -> Option<clif::Value> {
        if !self.has_rule(Rules::Scalar, op) {
            return None;
        }
        let f16 = |t: Ty| t == Ty::F16;
        match op {
            Op::Mov => return Some(self.scalar(args[0])),
            Op::Select => {
                let (a, b) = (self.scalar(args[1]), self.scalar(args[2]));
                let c = self.scalar(args[0]);
                return Some(self.b.ins().select(c, a, b));
            }
            Op::Convert if f16(ty) || f16(from) => return None,
            Op::Convert => {
                let x = self.scalar(args[0]);
                return Some(self.convert_scalar(x, from, ty));
            }
            Op::Bitcast if f16(from) => return None,
            Op::Bitcast => {
                let x = self.scalar(args[0]);
                return Some(self.bitcast_scalar(x, from, ty));
            }
            Op::PAdd => {
                let (p, offset) = (self.scalar(args[0]), self.scalar(args[1]));
                return Some(self.pointer_sum(p, offset));
            }
            Op::FRem => return None,
            Op::Fma if !self.features.fma => return None,
            _ if f16(ty) => return None,
            _ => {}
        }
        let a = self.scalar(args[0]);
        if let (Op::Mul, false, Some(by)) = (op, ty.is_float(), args.get(1).and_then(|&b| self.values.constant(b)))
            && by.is_power_of_two()
        {
            // What an address can take in.
            return Some(self.b.ins().ishl_imm_u(a, by.trailing_zeros() as i64));
        }
        match args.len() {
            1 => self.scalar_unary(op, ty, a),
            2 => {
                let b = self.scalar(args[1]);
                self.scalar_binary(op, ty, a, b)
            }
            3 if op == Op::Fma => {
                let (b, c) = (self.scalar(args[1]), self.scalar(args[2]));
                Some(self.b.ins().fma(a, b, c))
            }
            _ => None,
        }
    }

    fn scalar_unary(&mut self, op: Op, ty: Ty, a: clif::Value) -> Option<clif::Value> {
        Some(match op {
            Op::Neg if ty.is_float() => self.b.ins().fneg(a),
            Op::Abs if ty.is_float() => self.b.ins().fabs(a),
            Op::Neg => self.b.ins().ineg(a),
            Op::Abs if ty.is_signed() => self.b.ins().iabs(a),
            Op::Abs => a,
            Op::Not if ty == Ty::Bool => self.b.ins().bxor_imm_u(a, 1),
            Op::Not => self.b.ins().bnot(a),
            Op::Sqrt => self.b.ins().sqrt(a),
            Op::Floor => self.b.ins().floor(a),
            Op::Ceil => self.b.ins().ceil(a),
            Op::Trunc => self.b.ins().trunc(a),
            Op::RoundEven => self.b.ins().nearest(a),
            Op::Popcnt => self.bit_count(BitCount::Popcnt, a),
            Op::Clz => self.bit_count(BitCount::Clz, a),
            Op::Ctz => self.bit_count(BitCount::Ctz, a),
            _ => return None,
        })
    }

    fn scalar_binary(&mut self, op: Op, ty: Ty, a: clif::Value, b: clif::Value) -> Option<clif::Value> {
        let (float, signed) = (ty.is_float(), ty.is_signed());
        Some(match op {
            Op::Add if float => self.b.ins().fadd(a, b),
            Op::Sub if float => self.b.ins().fsub(a, b),
            Op::Mul if float => self.b.ins().fmul(a, b),
            Op::FDiv => self.b.ins().fdiv(a, b),
            Op::Add => self.b.ins().iadd(a, b),
            Op::Sub => self.b.ins().isub(a, b),
            Op::Mul => self.b.ins().imul(a, b),
            Op::MulHi if signed => self.b.ins().smulhi(a, b),
            Op::MulHi => self.b.ins().umulhi(a, b),
            Op::IDiv => self.divide_scalars(Division::IDiv, ty, a, b),
            Op::IRem => self.divide_scalars(Division::IRem, ty, a, b),
            Op::And => self.b.ins().band(a, b),
            Op::Or => self.b.ins().bor(a, b),
            Op::Xor => self.b.ins().bxor(a, b),
            Op::Shl => self.b.ins().ishl(a, b),
            Op::Shr if signed => self.b.ins().sshr(a, b),
            Op::Shr => self.b.ins().ushr(a, b),
            Op::Min => {
                let less = self.scalar_less(ty, a, b);
                self.b.ins().select(less, a, b)
            }
            Op::Max => {
                let less = self.scalar_less(ty, b, a);
                self.b.ins().select(less, a, b)
            }
            _ if float => {
                let condition = float_condition(Comparison::of(op)?);
                self.b.ins().fcmp(condition, a, b)
            }
            _ => {
                let condition = int_condition(Comparison::of(op)?, signed);
                self.b.ins().icmp(condition, a, b)
            }
        })
    }

    fn scalar_less(&mut self, ty: Ty, a: clif::Value, b: clif::Value) -> clif::Value {
        if ty.is_float() {
            return self.b.ins().fcmp(FloatCC::LessThan, a, b);
        }
        let less = if ty.is_signed() { IntCC::SignedLessThan } else { IntCC::UnsignedLessThan };
        self.b.ins().icmp(less, a, b)
    }

    fn convert_scalar(&mut self, x: clif::Value, from: Ty, ty: Ty) -> clif::Value {
        let to = scalar_type(ty);
        match (from, ty) {
            _ if from == ty => x,
            (_, Ty::Bool) if from == Ty::F32 => {
                let zero = self.b.ins().f32const(0.0);
                self.b.ins().fcmp(FloatCC::NotEqual, x, zero)
            }
            (_, Ty::Bool) if from == Ty::F64 => {
                let zero = self.b.ins().f64const(0.0);
                self.b.ins().fcmp(FloatCC::NotEqual, x, zero)
            }
            (_, Ty::Bool) => self.b.ins().icmp_imm_s(IntCC::NotEqual, x, 0),
            (Ty::F32, Ty::F64) => self.b.ins().fpromote(to, x),
            (Ty::F64, Ty::F32) => self.b.ins().fdemote(to, x),
            _ if from.is_float() => self.scalar_to_small_int(ty, x),
            _ if ty.is_float() => self.scalar_from_int(from.is_signed(), to, x),
            _ if from.size() == ty.size() => x,
            _ if from.size() > ty.size() => self.b.ins().ireduce(to, x),
            _ if from.is_signed() => self.b.ins().sextend(to, x),
            _ => self.b.ins().uextend(to, x),
        }
    }

    /// An integer as a float.
    pub(super) fn scalar_from_int(&mut self, signed: bool, to: clif::Type, x: clif::Value) -> clif::Value {
        let x = match (self.b.func.dfg.value_type(x).bits() < 32, signed) {
            (false, _) => x,
            (true, true) => self.b.ins().sextend(types::I32, x),
            (true, false) => self.b.ins().uextend(types::I32, x),
        };
        if signed { self.b.ins().fcvt_from_sint(to, x) } else { self.b.ins().fcvt_from_uint(to, x) }
    }

    /// A float as an integer of 32 or 64 bits, saturated.
    pub(super) fn scalar_to_int(&mut self, signed: bool, to: clif::Type, x: clif::Value) -> clif::Value {
        if signed { self.b.ins().fcvt_to_sint_sat(to, x) } else { self.b.ins().fcvt_to_uint_sat(to, x) }
    }

    fn scalar_to_small_int(&mut self, ty: Ty, x: clif::Value) -> clif::Value {
        let (to, bits) = (scalar_type(ty), 8 * ty.size() as u32);
        if bits >= 32 {
            return self.scalar_to_int(ty.is_signed(), to, x);
        }
        let (least, most) =
            if ty.is_signed() { (-1i64 << (bits - 1), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) };
        let x = self.scalar_to_int(true, types::I32, x);
        let (least, most) = (self.b.ins().iconst(types::I32, least), self.b.ins().iconst(types::I32, most));
        let x = self.b.ins().smax(x, least);
        let x = self.b.ins().smin(x, most);
        self.b.ins().ireduce(to, x)
    }

    fn bitcast_scalar(&mut self, x: clif::Value, from: Ty, ty: Ty) -> clif::Value {
        let nan = match from {
            Ty::F32 => Some(self.b.ins().f32const(f32::NAN)),
            Ty::F64 => Some(self.b.ins().f64const(f64::NAN)),
            _ => None,
        };
        let x = match nan {
            Some(nan) => {
                let is_nan = self.b.ins().fcmp(FloatCC::Unordered, x, x);
                self.b.ins().select(is_nan, nan, x)
            }
            None => x,
        };
        self.moved_bits(x, ty)
    }

    /// A scalar as one of another type of its size.
    pub(super) fn moved_bits(&mut self, x: clif::Value, ty: Ty) -> clif::Value {
        let to = scalar_type(ty);
        if self.b.func.dfg.value_type(x) == to { x } else { self.b.ins().bitcast(to, MemFlagsData::new(), x) }
    }

    /// A pointer plus an offset, within its region; see `vm::sem::padd`.
    fn pointer_sum(&mut self, p: clif::Value, offset: clif::Value) -> clif::Value {
        let shift = 64 - OFFSET_BITS as i64;
        let poison = -1i64 << (OFFSET_BITS - 1);
        let cut = |t: &mut Self, x| {
            let x = t.b.ins().ishl_imm_u(x, shift);
            t.b.ins().sshr_imm_u(x, shift)
        };
        let old = cut(self, p);
        // A sum that overflows 64 bits does not fit either: one operand has 40 bits.
        let sum = self.b.ins().iadd(old, offset);
        let kept = cut(self, sum);
        let fits = self.b.ins().icmp(IntCC::Equal, kept, sum);
        let sound = self.b.ins().icmp_imm_s(IntCC::NotEqual, old, poison);
        let fits = self.b.ins().band(fits, sound);
        let poison = self.b.ins().iconst(types::I64, poison);
        let new = self.b.ins().select(fits, sum, poison);
        let new = self.b.ins().band_imm_u(new, (1i64 << OFFSET_BITS) - 1);
        let region = self.b.ins().ushr_imm_u(p, OFFSET_BITS as i64);
        let region = self.b.ins().ishl_imm_u(region, OFFSET_BITS as i64);
        self.b.ins().bor(region, new)
    }
}
