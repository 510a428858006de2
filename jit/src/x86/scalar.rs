//! Operations on uniform values. Of integers below 32 bits the bits above are anything: whoever reads them extends them first.
//! Floats are computed as vectors of which only the first lane counts.

use super::inst::{Arg, Cond, Mem, Plain, Size};
use super::level::Level;
use super::masks::int_condition;
use super::select::{Select, class_of, imm8};
use crate::backend::Rules;
use crate::ir::{Inst, Value};
use crate::lowering::{BitCount, Comparison, Division, Logic, Shift};
use crate::vcode::{Base, Inst as Machine};
use iced_x86::{Code, Mnemonic, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

const WORD: (RegClass, Size) = (RegClass::Int, Size::G64);
const HALF: (RegClass, Size) = (RegClass::Int, Size::G32);

/// The form in which an integer is computed with.
pub(super) fn int_form(ty: Ty) -> Size {
    if ty.size() == 8 { Size::G64 } else { Size::G32 }
}

/// Returns whether an instruction on general registers tells by flags whether its result is 0, and its sign.
fn sets_flags_by_result(code: Code) -> bool {
    matches!(code.mnemonic(), Mnemonic::Add | Mnemonic::Sub | Mnemonic::And | Mnemonic::Or | Mnemonic::Xor)
}

impl<L: Level> Select<'_, L> {
    /// An operation whose operands and result are uniform; `false` if it has no code.
    pub(super) fn scalar_op(&mut self, inst: &Inst, op: Op, ty: Ty, from: Ty) -> bool {
        if !self.has_rule(Rules::Scalar, op) {
            return false;
        }
        let comparison = Comparison::of(op);
        let made = match class_of(ty) {
            _ if op == Op::Convert => self.convert_scalar(inst.args[0], from, ty),
            _ if op == Op::Bitcast => self.bitcast_scalar(inst.args[0], from, ty),
            _ if ty == Ty::F16 && !matches!(op, Op::Mov | Op::Select) && comparison.is_none() => {
                self.half_scalar(inst, op)
            }
            _ if op == Op::Select => self.select_scalar(inst, ty),
            _ if op == Op::Mov => Some(self.scalar(inst.args[0])),
            _ if comparison.is_some() && ty != Ty::Bool => comparison.map(|comparison| {
                let cond = self.compare_scalars(comparison, ty, inst.args[0], inst.args[1]);
                self.bool_of(cond)
            }),
            RegClass::Float => self.float_op(inst, op, ty),
            _ if ty == Ty::Bool => self.bool_op(inst, op),
            _ => self.int_op(inst, op, ty),
        };
        if let Some(made) = made {
            self.set(inst, made);
        }
        made.is_some()
    }

    /// Sets flags; gives those by which the comparison holds.
    pub(super) fn compare_scalars(&mut self, op: Comparison, ty: Ty, a: Value, b: Value) -> Cond {
        if ty.is_float() {
            return self.compare_floats(op, ty, a, b);
        }
        let (op, a, b) = if self.values.constant(a).is_some() { (op.mirrored(), b, a) } else { (op, a, b) };
        let form = int_form(ty);
        let x = self.extended(a, ty);
        let small = self.values.constant(b).map(|bits| sign_extended(ty, bits)).and_then(|n| i32::try_from(n).ok());
        match small {
            Some(0) if let Some(cond) = self.asked_of_flags(op, ty, x, form) => return cond,
            Some(n) => self.compare_imm(form, x, n),
            None => {
                let y = self.extended(b, ty);
                self.compare(form, x, y);
            }
        }
        int_condition(op, ty.is_signed())
    }

    /// The flags by which `x` compares with 0, if the last instruction gives it and sets them.
    fn asked_of_flags(&mut self, op: Comparison, ty: Ty, x: VReg, form: Size) -> Option<Cond> {
        let cond = match op {
            Comparison::Eq | Comparison::Ne => int_condition(op, true),
            // A sum that overflowed has the sign that it has.
            Comparison::Lt if ty.is_signed() => Cond::SIGN,
            Comparison::Ge if ty.is_signed() => Cond::NO_SIGN,
            _ => return None,
        };
        let Some(Machine::Plain(last)) = self.code.insts.last_mut() else { return None };
        match last.args[0] {
            Some(Arg::Tied { to, form: of, .. }) if to == x && of == form && sets_flags_by_result(last.code) => {
                Some(cond)
            }
            // A sum that was made without flags is made with them.
            Some(Arg::Def(to, of)) if to == x && of == form => {
                let Some(Arg::Mem(Mem { base: Base::Reg(from), index: None, disp, .. })) = last.args[1] else {
                    return None;
                };
                let (code, kind) = match last.code {
                    Code::Lea_r64_m => (Code::Add_rm64_imm32, OpKind::Immediate32to64),
                    Code::Lea_r32_m => (Code::Add_rm32_imm32, OpKind::Immediate32),
                    _ => return None,
                };
                **last = Plain::new(code, &[Arg::Tied { from, to, form }, Arg::Imm(kind, disp as i64)]);
                Some(cond)
            }
            _ => None,
        }
    }

    fn compare_floats(&mut self, op: Comparison, ty: Ty, a: Value, b: Value) -> Cond {
        let [x, y] = [a, b].map(|v| if ty == Ty::F16 { self.float_of_half_scalar(v) } else { self.scalar(v) });
        let single = ty != Ty::F64;
        let (x, y) = match op {
            Comparison::Lt | Comparison::Le => (y, x),
            Comparison::Eq | Comparison::Ne | Comparison::Gt | Comparison::Ge => (x, y),
        };
        let (x, y) = (Arg::Use(x, Size::X), Arg::Use(y, Size::X));
        if matches!(op, Comparison::Eq | Comparison::Ne) {
            // The flags of a comparison tell NaNs by one of their own.
            let code = if single {
                Code::EVEX_Vcmpss_kr_k1_xmm_xmmm32_imm8_sae
            } else {
                Code::EVEX_Vcmpsd_kr_k1_xmm_xmmm64_imm8_sae
            };
            let predicate = imm8(if op == Comparison::Eq { 0 } else { 4 });
            let mask = self.def(code, Self::MASKS, &[x, y, predicate]);
            if !L::HAS_MASKS {
                return self.any_lane(mask);
            }
            let mask = Arg::Use(mask, Size::K);
            self.plain(Code::VEX_Kortestb_kr_kr, &[mask, mask]);
            return Cond::NOT_EQUAL;
        }
        let code = if single { Code::EVEX_Vucomiss_xmm_xmmm32_sae } else { Code::EVEX_Vucomisd_xmm_xmmm64_sae };
        self.plain(code, &[x, y]);
        if matches!(op, Comparison::Lt | Comparison::Gt) { Cond::ABOVE } else { Cond::ABOVE_OR_EQUAL }
    }

    /// An integer in 32 bits or, if it has them, 64.
    pub(super) fn extended(&mut self, v: Value, ty: Ty) -> VReg {
        if let Some(bits) = self.values.constant(v) {
            let bits = sign_extended(ty, bits) as u64;
            return self.imm(if ty.size() == 8 { bits } else { bits & 0xffff_ffff });
        }
        let x = self.gpr(v);
        let code = match (ty.size(), ty.is_signed()) {
            (1, true) => Code::Movsx_r32_rm8,
            (1, false) => Code::Movzx_r32_rm8,
            (2, true) => Code::Movsx_r32_rm16,
            (2, false) => Code::Movzx_r32_rm16,
            _ => return x,
        };
        let form = if ty.size() == 1 { Size::G8 } else { Size::G16 };
        self.def(code, HALF, &[Arg::Use(x, form)])
    }

    /// An integer in 64 bits.
    pub(super) fn wide(&mut self, v: Value, ty: Ty) -> VReg {
        if let Some(bits) = self.values.constant(v) {
            return self.imm(sign_extended(ty, bits) as u64);
        }
        if let Some(&wide) = self.local.wide.get(&(v, ty.is_signed())) {
            return wide;
        }
        let x = self.extended(v, ty);
        let wide = self.widened(x, ty);
        self.local.wide.insert((v, ty.is_signed()), wide);
        wide
    }

    /// An integer of 32 bits or more in 64.
    pub(super) fn widened(&mut self, x: VReg, ty: Ty) -> VReg {
        match (ty.size(), ty.is_signed()) {
            (8, _) => x,
            (_, true) => self.def(Code::Movsxd_r64_rm32, WORD, &[Arg::Use(x, Size::G32)]),
            _ => self.def(Code::Mov_r32_rm32, HALF, &[Arg::Use(x, Size::G32)]),
        }
    }

    fn bool_op(&mut self, inst: &Inst, op: Op) -> Option<VReg> {
        let a = self.gpr(inst.args[0]);
        if op == Op::Not {
            return Some(self.flip(a));
        }
        let logic = Logic::of(op)?;
        let b = self.gpr(inst.args[1]);
        let both = |s: &mut Self, code, a, b| s.gpr_binary(code, Size::G32, a, b);
        Some(match logic {
            Logic::And => both(self, Code::And_rm32_r32, a, b),
            Logic::Or => both(self, Code::Or_rm32_r32, a, b),
            Logic::Xor => both(self, Code::Xor_rm32_r32, a, b),
            Logic::Same => {
                let x = both(self, Code::Xor_rm32_r32, a, b);
                self.flip(x)
            }
            Logic::OnlySecond => {
                let a = self.flip(a);
                both(self, Code::And_rm32_r32, a, b)
            }
            Logic::OnlyFirst => {
                let b = self.flip(b);
                both(self, Code::And_rm32_r32, a, b)
            }
            Logic::Implied => {
                let a = self.flip(a);
                both(self, Code::Or_rm32_r32, a, b)
            }
            Logic::Implies => {
                let b = self.flip(b);
                both(self, Code::Or_rm32_r32, a, b)
            }
        })
    }

    fn flip(&mut self, x: VReg) -> VReg {
        self.gpr_over(Code::Xor_rm32_imm8, Size::G32, x, Arg::Imm(OpKind::Immediate8to32, 1))
    }

    fn int_op(&mut self, inst: &Inst, op: Op, ty: Ty) -> Option<VReg> {
        let (args, form) = (&inst.args, int_form(ty));
        let is_wide = form == Size::G64;
        let pick = |wide, narrow| if is_wide { wide } else { narrow };
        let codes = match op {
            Op::Add => {
                Some((pick(Code::Add_rm64_r64, Code::Add_rm32_r32), pick(Code::Add_rm64_imm32, Code::Add_rm32_imm32)))
            }
            Op::Sub => {
                Some((pick(Code::Sub_rm64_r64, Code::Sub_rm32_r32), pick(Code::Sub_rm64_imm32, Code::Sub_rm32_imm32)))
            }
            Op::And => {
                Some((pick(Code::And_rm64_r64, Code::And_rm32_r32), pick(Code::And_rm64_imm32, Code::And_rm32_imm32)))
            }
            Op::Or => {
                Some((pick(Code::Or_rm64_r64, Code::Or_rm32_r32), pick(Code::Or_rm64_imm32, Code::Or_rm32_imm32)))
            }
            Op::Xor => {
                Some((pick(Code::Xor_rm64_r64, Code::Xor_rm32_r32), pick(Code::Xor_rm64_imm32, Code::Xor_rm32_imm32)))
            }
            _ => None,
        };
        if let Some((by_register, by_number)) = codes {
            let commutes = op != Op::Sub;
            let (a, b) = match self.values.constant(args[0]) {
                Some(_) if commutes => (args[1], args[0]),
                _ => (args[0], args[1]),
            };
            let x = self.gpr(a);
            if let Some(&negative) = self.local.negatives.get(&b).filter(|_| op == Op::Sub) {
                return Some(self.sum(form, Mem { index: Some(negative), ..Mem::reg(x, 0) }));
            }
            let small = self.values.constant(b).map(|bits| sign_extended(ty, bits)).and_then(|n| i32::try_from(n).ok());
            // Additions leave alone what is wanted again.
            let adds_beside = op == Op::Add && !self.demand.is_used_once(a);
            return Some(match small {
                Some(n) if adds_beside => self.sum(form, Mem::reg(x, n)),
                Some(n) => {
                    let kind = if is_wide { OpKind::Immediate32to64 } else { OpKind::Immediate32 };
                    self.gpr_over(by_number, form, x, Arg::Imm(kind, n as i64))
                }
                None => {
                    let y = self.gpr(b);
                    if adds_beside && !self.demand.is_used_once(b) {
                        return Some(self.sum(form, Mem { index: Some(y), ..Mem::reg(x, 0) }));
                    }
                    // What is used no more had better be overwritten.
                    let (x, y) = if commutes && self.demand.is_used_once(b) { (y, x) } else { (x, y) };
                    self.gpr_binary(by_register, form, x, y)
                }
            });
        }
        Some(match op {
            Op::Mul => {
                if let Some(by) = self.values.constant(args[1]).filter(|by| by.is_power_of_two()) {
                    let x = self.gpr(args[0]);
                    let count = Arg::Imm(OpKind::Immediate8, by.trailing_zeros() as i64);
                    return Some(self.gpr_over(pick(Code::Shl_rm64_imm8, Code::Shl_rm32_imm8), form, x, count));
                }
                if let Some(by) = self.values.constant(args[1]).filter(|&by| i32::try_from(by as i64).is_ok()) {
                    let code = pick(Code::Imul_r64_rm64_imm32, Code::Imul_r32_rm32_imm32);
                    let kind = if is_wide { OpKind::Immediate32to64 } else { OpKind::Immediate32 };
                    let x = Arg::Use(self.gpr(args[0]), form);
                    return Some(self.def(code, (RegClass::Int, form), &[x, Arg::Imm(kind, by as i64)]));
                }
                let (a, b) = (self.gpr(args[0]), self.gpr(args[1]));
                self.gpr_binary(pick(Code::Imul_r64_rm64, Code::Imul_r32_rm32), form, a, b)
            }
            Op::Neg => {
                let a = self.gpr(args[0]);
                self.negated(form, a)
            }
            Op::Not => {
                let (from, to) = (self.gpr(args[0]), self.code.gpr());
                self.plain(Code::Not_rm64, &[Arg::Tied { from, to, form: Size::G64 }]);
                to
            }
            Op::Abs if !ty.is_signed() => self.gpr(args[0]),
            Op::Abs => {
                let a = self.extended(args[0], ty);
                let negative = self.negated(form, a);
                let zero = self.imm(0);
                self.compare(form, a, zero);
                self.choose(Cond::LESS, negative, a)
            }
            Op::Min => self.extreme_scalar(Comparison::Lt, ty, args),
            Op::Max => self.extreme_scalar(Comparison::Gt, ty, args),
            Op::Shl => self.shift_scalar(Shift::Shl, ty, args),
            Op::Shr => self.shift_scalar(Shift::Shr, ty, args),
            Op::IDiv => self.divide_scalars(Division::IDiv, ty, args),
            Op::IRem => self.divide_scalars(Division::IRem, ty, args),
            Op::MulHi => self.high_product_scalar(ty, args),
            Op::Popcnt => self.bit_count(BitCount::Popcnt, ty, args[0]),
            Op::Clz => self.bit_count(BitCount::Clz, ty, args[0]),
            Op::Ctz => self.bit_count(BitCount::Ctz, ty, args[0]),
            _ => return None,
        })
    }

    /// The sum of registers and a number, which are all kept.
    pub(super) fn sum(&mut self, form: Size, terms: Mem) -> VReg {
        let code = if form == Size::G64 { Code::Lea_r64_m } else { Code::Lea_r32_m };
        self.def(code, (RegClass::Int, form), &[Arg::Mem(terms)])
    }

    /// The operand for which a comparison with the other holds.
    fn extreme_scalar(&mut self, op: Comparison, ty: Ty, args: &[Value]) -> VReg {
        let (a, b) = (self.extended(args[0], ty), self.extended(args[1], ty));
        self.compare(int_form(ty), a, b);
        self.choose(int_condition(op, ty.is_signed()), a, b)
    }

    fn bit_count(&mut self, op: BitCount, ty: Ty, v: Value) -> VReg {
        if ty.size() < 4 {
            return self.count_few_bits(op, ty, v);
        }
        let (a, form) = (self.gpr(v), int_form(ty));
        let code = match (op, form) {
            (BitCount::Popcnt, Size::G64) => Code::Popcnt_r64_rm64,
            (BitCount::Popcnt, _) => Code::Popcnt_r32_rm32,
            (BitCount::Clz, Size::G64) => Code::Lzcnt_r64_rm64,
            (BitCount::Clz, _) => Code::Lzcnt_r32_rm32,
            (BitCount::Ctz, Size::G64) => Code::Tzcnt_r64_rm64,
            (BitCount::Ctz, _) => Code::Tzcnt_r32_rm32,
        };
        self.def(code, (RegClass::Int, form), &[Arg::Use(a, form)])
    }

    /// What counts of bits give of 8 or 16 bits.
    fn count_few_bits(&mut self, op: BitCount, ty: Ty, v: Value) -> VReg {
        let bits = 8 * ty.size() as i64;
        let x = self.extended(v, if bits == 8 { Ty::U8 } else { Ty::U16 });
        let count = |s: &mut Self, code, x| s.def(code, HALF, &[Arg::Use(x, Size::G32)]);
        match op {
            BitCount::Popcnt => count(self, Code::Popcnt_r32_rm32, x),
            BitCount::Clz => {
                let zeros = count(self, Code::Lzcnt_r32_rm32, x);
                self.gpr_over(Code::Sub_rm32_imm32, Size::G32, zeros, Arg::Imm(OpKind::Immediate32, 32 - bits))
            }
            BitCount::Ctz => {
                // The bit above ends the count where there is no other.
                let end = Arg::Imm(OpKind::Immediate32, 1 << bits);
                let x = self.gpr_over(Code::Or_rm32_imm32, Size::G32, x, end);
                count(self, Code::Tzcnt_r32_rm32, x)
            }
        }
    }

    pub(super) fn negated(&mut self, form: Size, from: VReg) -> VReg {
        let code = if form == Size::G64 { Code::Neg_rm64 } else { Code::Neg_rm32 };
        let to = self.code.gpr();
        self.plain(code, &[Arg::Tied { from, to, form }]);
        to
    }

    fn shift_scalar(&mut self, op: Shift, ty: Ty, args: &[Value]) -> VReg {
        let (form, bits) = (int_form(ty), 8 * ty.size() as u64);
        let is_wide = form == Size::G64;
        let x = if op == Shift::Shr { self.extended(args[0], ty) } else { self.gpr(args[0]) };
        if let Some(count) = self.values.constant(args[1]) {
            let code = match (op, ty.is_signed(), is_wide) {
                (Shift::Shl, _, true) => Code::Shl_rm64_imm8,
                (Shift::Shl, _, false) => Code::Shl_rm32_imm8,
                (Shift::Shr, true, true) => Code::Sar_rm64_imm8,
                (Shift::Shr, true, false) => Code::Sar_rm32_imm8,
                (Shift::Shr, false, true) => Code::Shr_rm64_imm8,
                (Shift::Shr, false, false) => Code::Shr_rm32_imm8,
            };
            return self.gpr_over(code, form, x, Arg::Imm(OpKind::Immediate8, (count % bits) as i64));
        }
        let count = self.gpr(args[1]);
        // The machine takes counts modulo 32 or 64.
        let count = match bits {
            32 | 64 => count,
            _ => {
                let most = Arg::Imm(OpKind::Immediate8to32, bits as i64 - 1);
                self.gpr_over(Code::And_rm32_imm8, Size::G32, count, most)
            }
        };
        let code = match (op, ty.is_signed(), is_wide) {
            (Shift::Shl, _, true) => Code::VEX_Shlx_r64_rm64_r64,
            (Shift::Shl, _, false) => Code::VEX_Shlx_r32_rm32_r32,
            (Shift::Shr, true, true) => Code::VEX_Sarx_r64_rm64_r64,
            (Shift::Shr, true, false) => Code::VEX_Sarx_r32_rm32_r32,
            (Shift::Shr, false, true) => Code::VEX_Shrx_r64_rm64_r64,
            (Shift::Shr, false, false) => Code::VEX_Shrx_r32_rm32_r32,
        };
        self.def(code, (RegClass::Int, form), &[Arg::Use(x, form), Arg::Use(count, form)])
    }

    fn select_scalar(&mut self, inst: &Inst, ty: Ty) -> Option<VReg> {
        let args = &inst.args;
        if class_of(ty) == RegClass::Float {
            let (a, b) = (self.scalar(args[1]), self.scalar(args[2]));
            if !L::HAS_MASKS {
                let x = self.gpr(args[0]);
                let all = self.negated(Size::G64, x);
                let all = self.vector(Code::VEX_Vmovq_xmm_rm64, Size::X, &[Arg::Use(all, Size::G64)]);
                let code = match ty {
                    Ty::F32 => Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
                    _ => Code::VEX_Vblendvpd_xmm_xmm_xmmm128_xmm,
                };
                return Some(self.vector(code, Size::X, &[b, a, all].map(|r| Arg::Use(r, Size::X))));
            }
            let mask = self.mask(args[0]);
            return Some(self.blend(ty, Size::X, mask, a, b));
        }
        let (a, b) = (self.gpr(args[1]), self.gpr(args[2]));
        let cond = self.condition(args[0]).ok()?;
        Some(self.choose(cond, a, b))
    }

    fn float_op(&mut self, inst: &Inst, op: Op, ty: Ty) -> Option<VReg> {
        let args: Vec<Arg> = inst.args.iter().map(|&a| Arg::Use(self.scalar(a), Size::X)).collect();
        match scalar_code(op, ty) {
            Some(code) => Some(self.vector(code, Size::X, &args)),
            None => self.float_vector(op, ty, Size::X, &args),
        }
    }

    fn convert_scalar(&mut self, v: Value, from: Ty, ty: Ty) -> Option<VReg> {
        if from != ty && (from == Ty::F16 || ty == Ty::F16) {
            return self.convert_half_scalar(v, from, ty);
        }
        let float = |ty: Ty| (RegClass::Float, if ty == Ty::F32 { 32 } else { 64 });
        Some(match (from, ty) {
            _ if from == ty => self.scalar(v),
            (_, Ty::Bool) if from.is_float() => {
                let x = self.scalar(v);
                self.is_not_zero_scalar(x, from)
            }
            (_, Ty::Bool) => {
                let x = self.extended(v, from);
                self.compare_imm(int_form(from), x, 0);
                self.bool_of(Cond::NOT_EQUAL)
            }
            (Ty::F32, Ty::F64) => {
                let x = self.scalar(v);
                self.vector(Code::EVEX_Vcvtps2pd_xmm_k1z_xmmm64b32, Size::X, &[Arg::Use(x, Size::X)])
            }
            (Ty::F64, Ty::F32) => {
                let x = self.scalar(v);
                self.vector(Code::EVEX_Vcvtpd2ps_xmm_k1z_xmmm128b64, Size::X, &[Arg::Use(x, Size::X)])
            }
            _ if from.is_float() => {
                let x = self.scalar(v);
                self.integer_of_float(x, from, ty)?
            }
            _ if ty.is_float() => {
                if from == Ty::U64 && !L::HAS_MASKS {
                    if ty == Ty::F32 {
                        return None;
                    }
                    let x = self.gpr(v);
                    let x = self.vector(Code::EVEX_Vmovq_xmm_rm64, Size::X, &[Arg::Use(x, Size::G64)]);
                    return Some(self.doubles_of_words(x, Size::X, false));
                }
                // By way of 64 bits, if those are all its values.
                let (unsigned, x) = match from {
                    Ty::U64 => (true, self.gpr(v)),
                    _ => (false, self.wide(v, if from == Ty::Bool { Ty::U32 } else { from })),
                };
                let base = self.zero();
                let code = match (unsigned, float(ty).1) {
                    (false, 32) => Code::EVEX_Vcvtsi2ss_xmm_xmm_rm64_er,
                    (false, _) => Code::EVEX_Vcvtsi2sd_xmm_xmm_rm64_er,
                    (true, 32) => Code::EVEX_Vcvtusi2ss_xmm_xmm_rm64_er,
                    (true, _) => Code::EVEX_Vcvtusi2sd_xmm_xmm_rm64_er,
                };
                self.vector(code, Size::X, &[Arg::Use(base, Size::X), Arg::Use(x, Size::G64)])
            }
            _ if ty.size() <= from.size() => self.gpr(v),
            _ if ty.size() == 8 => self.wide(v, if from == Ty::Bool { Ty::U32 } else { from }),
            (Ty::Bool, _) => self.gpr(v),
            _ => self.extended(v, from),
        })
    }

    fn is_not_zero_scalar(&mut self, x: VReg, ty: Ty) -> VReg {
        let zero = self.zero();
        let code = if ty == Ty::F32 {
            Code::EVEX_Vcmpss_kr_k1_xmm_xmmm32_imm8_sae
        } else {
            Code::EVEX_Vcmpsd_kr_k1_xmm_xmmm64_imm8_sae
        };
        let args = [Arg::Use(x, Size::X), Arg::Use(zero, Size::X), imm8(4)];
        let mask = self.def(code, Self::MASKS, &args);
        match L::HAS_MASKS {
            true => self.def(Code::VEX_Kmovw_r32_kr, HALF, &[Arg::Use(mask, Size::K)]),
            false => mask,
        }
    }

    /// The first lane of a vector of floats as an integer: cut, saturated, and a NaN as 0.
    fn integer_of_float(&mut self, x: VReg, from: Ty, ty: Ty) -> Option<VReg> {
        let n = 16 / from.size().max(ty.size());
        let x = self.convert_chunk(x, n, from, ty)?;
        Some(match ty.size() {
            8 => self.def(Code::EVEX_Vmovq_rm64_xmm, WORD, &[Arg::Use(x, Size::X)]),
            _ => self.def(Code::EVEX_Vmovd_rm32_xmm, HALF, &[Arg::Use(x, Size::X)]),
        })
    }

    /// Conversions from and to `float16`, but for those of `double` to it, which rounding twice would spoil.
    fn convert_half_scalar(&mut self, v: Value, from: Ty, ty: Ty) -> Option<VReg> {
        if from == Ty::F16 {
            let x = self.float_of_half_scalar(v);
            return match ty {
                Ty::F32 => Some(x),
                Ty::F64 => Some(self.vector(Code::EVEX_Vcvtps2pd_xmm_k1z_xmmm64b32, Size::X, &[Arg::Use(x, Size::X)])),
                Ty::Bool => Some(self.is_not_zero_scalar(x, Ty::F32)),
                _ => self.integer_of_float(x, Ty::F32, ty),
            };
        }
        if from == Ty::F64 {
            return None;
        }
        let x = self.convert_scalar(v, from, Ty::F32)?;
        Some(self.half_of_float_scalar(x))
    }

    fn bitcast_scalar(&mut self, v: Value, from: Ty, ty: Ty) -> Option<VReg> {
        if from == Ty::F16 {
            return Some(self.canonical_half_scalar(v));
        }
        let x = self.scalar(v);
        let x = if from.is_float() { self.canonical(from, Size::X, x) } else { x };
        Some(self.moved_bits(x, from, ty))
    }

    /// A scalar of a type as one of another type of its size, in the class of registers that has those.
    pub(super) fn moved_bits(&mut self, x: VReg, from: Ty, ty: Ty) -> VReg {
        match (class_of(from), class_of(ty), ty.size()) {
            (RegClass::Float, RegClass::Int, 4) => self.def(Code::EVEX_Vmovd_rm32_xmm, HALF, &[Arg::Use(x, Size::X)]),
            (RegClass::Float, RegClass::Int, _) => self.def(Code::EVEX_Vmovq_rm64_xmm, WORD, &[Arg::Use(x, Size::X)]),
            (RegClass::Int, RegClass::Float, 4) => {
                self.vector(Code::EVEX_Vmovd_xmm_rm32, Size::X, &[Arg::Use(x, Size::G32)])
            }
            (RegClass::Int, RegClass::Float, _) => {
                self.vector(Code::EVEX_Vmovq_xmm_rm64, Size::X, &[Arg::Use(x, Size::G64)])
            }
            _ => x,
        }
    }
}

/// A constant of a type as a number.
pub(super) fn sign_extended(ty: Ty, bits: u64) -> i64 {
    let unused = 64 - 8 * ty.size() as u32;
    if ty.is_signed() { ((bits << unused) as i64) >> unused } else { bits as i64 }
}

/// The instruction that computes with one float, whose second operand may be in memory.
fn scalar_code(op: Op, ty: Ty) -> Option<Code> {
    let (single, double) = match op {
        Op::Add => (Code::EVEX_Vaddss_xmm_k1z_xmm_xmmm32_er, Code::EVEX_Vaddsd_xmm_k1z_xmm_xmmm64_er),
        Op::Sub => (Code::EVEX_Vsubss_xmm_k1z_xmm_xmmm32_er, Code::EVEX_Vsubsd_xmm_k1z_xmm_xmmm64_er),
        Op::Mul => (Code::EVEX_Vmulss_xmm_k1z_xmm_xmmm32_er, Code::EVEX_Vmulsd_xmm_k1z_xmm_xmmm64_er),
        Op::FDiv => (Code::EVEX_Vdivss_xmm_k1z_xmm_xmmm32_er, Code::EVEX_Vdivsd_xmm_k1z_xmm_xmmm64_er),
        Op::Min => (Code::EVEX_Vminss_xmm_k1z_xmm_xmmm32_sae, Code::EVEX_Vminsd_xmm_k1z_xmm_xmmm64_sae),
        Op::Max => (Code::EVEX_Vmaxss_xmm_k1z_xmm_xmmm32_sae, Code::EVEX_Vmaxsd_xmm_k1z_xmm_xmmm64_sae),
        _ => return None,
    };
    match ty {
        Ty::F32 => Some(single),
        Ty::F64 => Some(double),
        _ => None,
    }
}
