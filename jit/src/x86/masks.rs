//! Masks: one register each, bit *i* for lane *i*, and 0 beyond the lanes. It is a mask register, or a general one where there are none.

use super::inst::{Arg, Base, Cond, Mem, Size};
use super::level::Level;
use super::select::{Select, imm8};
use super::values::sized;
use crate::backend::Rules;
use crate::ir::{Inst, Value};
use crate::lowering::{Comparison, Logic};
use iced_x86::{Code, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

impl<L: Level> Select<'_, L> {
    /// What masks are in, and the form of operands that are masks.
    pub(super) const MASKS: (RegClass, Size) = (L::MASK, Size::K);

    /// A mask that is known.
    pub(super) fn mask_of_constant(&mut self, bits: u64) -> VReg {
        let x = self.imm(bits);
        self.word_as_mask(x)
    }

    /// A word with nothing beyond the lanes as a mask.
    pub(super) fn word_as_mask(&mut self, bits: VReg) -> VReg {
        match L::HAS_MASKS {
            true => self.def(Code::VEX_Kmovq_kr_r64, Self::MASKS, &[Arg::Use(bits, Size::G64)]),
            false => bits,
        }
    }

    /// A word of bits as a mask.
    pub(super) fn mask_of_bits(&mut self, bits: VReg) -> VReg {
        // Each but the last cuts off what is above.
        let (code, narrow, form) = match self.lanes {
            64 if !L::HAS_MASKS => return bits,
            64 => (Code::VEX_Kmovq_kr_r64, Code::INVALID, Size::G64),
            32 => (Code::VEX_Kmovd_kr_r32, Code::Mov_r32_rm32, Size::G32),
            16 => (Code::VEX_Kmovw_kr_r32, Code::Movzx_r32_rm16, Size::G16),
            8 => (Code::VEX_Kmovb_kr_r32, Code::Movzx_r32_rm8, Size::G8),
            _ => {
                let full = Arg::Imm(OpKind::Immediate8to32, self.region.width.full_mask() as i64);
                let cut = self.gpr_over(Code::And_rm32_imm8, Size::G32, bits, full);
                return match L::HAS_MASKS {
                    true => self.def(Code::VEX_Kmovd_kr_r32, Self::MASKS, &[Arg::Use(cut, Size::G32)]),
                    false => cut,
                };
            }
        };
        match L::HAS_MASKS {
            true => self.def(code, Self::MASKS, &[Arg::Use(bits, form.max(Size::G32))]),
            false => self.def(narrow, (RegClass::Int, Size::G32), &[Arg::Use(bits, form)]),
        }
    }

    /// A uniform bool in all lanes.
    pub(super) fn mask_of_bool(&mut self, x: VReg) -> VReg {
        let to = self.code.gpr();
        self.plain(Code::Neg_rm64, &[Arg::Tied { from: x, to, form: Size::G64 }]);
        self.mask_of_bits(to)
    }

    pub(super) fn bits_of_mask(&mut self, mask: VReg) -> VReg {
        match L::HAS_MASKS {
            true => self.def(Code::VEX_Kmovq_r64_kr, (RegClass::Int, Size::G64), &[Arg::Use(mask, Size::K)]),
            false => mask,
        }
    }

    /// The lanes of a mask that belong to piece `i` of elements of so many bytes.
    pub(super) fn mask_part(&mut self, mask: VReg, size: usize, i: usize) -> VReg {
        let lanes = self.lanes_in_piece(size);
        let joined = self.local.joined.get(&(mask, i * lanes, lanes)).copied();
        joined.unwrap_or_else(|| self.lanes_of_mask(mask, i * lanes))
    }

    /// The lanes of a mask from one on.
    pub(super) fn lanes_of_mask(&mut self, mask: VReg, first: usize) -> VReg {
        if first == 0 {
            return mask;
        }
        if let Some(&part) = self.local.parts.get(&(mask, first)) {
            return part;
        }
        let shift = Arg::Imm(OpKind::Immediate8, first as i64);
        let part = match L::HAS_MASKS {
            true => self.def(Code::VEX_Kshiftrq_kr_kr_imm8, Self::MASKS, &[Arg::Use(mask, Size::K), shift]),
            false => self.gpr_over(Code::Shr_rm64_imm8, Size::G64, mask, shift),
        };
        self.local.parts.insert((mask, first), part);
        part
    }

    /// The masks of pieces as one.
    pub(super) fn join_masks(&mut self, mut parts: Vec<VReg>, size: usize) -> VReg {
        let each = self.lanes_in_piece(size);
        let (pieces, mut lanes) = (parts.clone(), each);
        while parts.len() > 1 {
            let pairs: Vec<[VReg; 2]> = parts.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
            parts = pairs.into_iter().map(|pair| self.join_two_masks(pair, lanes)).collect();
            lanes *= 2;
        }
        if pieces.len() > 1 {
            // Whoever takes it apart again need not wait for it.
            let of_piece = pieces.into_iter().enumerate().map(|(i, piece)| ((parts[0], i * each, each), piece));
            self.local.joined.extend(of_piece);
        }
        parts[0]
    }

    /// Two masks of so many lanes as one.
    fn join_two_masks(&mut self, [low, high]: [VReg; 2], lanes: usize) -> VReg {
        if !L::HAS_MASKS {
            let high = self.gpr_over(Code::Shl_rm64_imm8, Size::G64, high, imm8(lanes as u8));
            return self.gpr_binary(Code::Or_rm64_r64, Size::G64, high, low);
        }
        let code = match lanes {
            8 => Code::VEX_Kunpckbw_kr_kr_kr,
            16 => Code::VEX_Kunpckwd_kr_kr_kr,
            _ => Code::VEX_Kunpckdq_kr_kr_kr,
        };
        self.def(code, Self::MASKS, &[high, low].map(|r| Arg::Use(r, Size::K)))
    }

    /// Sets flags; gives those by which a mask has a lane.
    pub(super) fn any_lane(&mut self, mask: VReg) -> Cond {
        if L::HAS_MASKS {
            self.plain(self.test_of_mask(), &[Arg::Use(mask, Size::K), Arg::Use(mask, Size::K)]);
        } else {
            self.compare_imm(Size::G64, mask, 0);
        }
        Cond::NOT_EQUAL
    }

    /// Sets flags; gives those by which a mask has not all lanes, of which there are at least 8.
    pub(super) fn missing_lane(&mut self, mask: VReg) -> Cond {
        if !L::HAS_MASKS {
            let (form, full) = match self.lanes {
                64 => (Size::G64, -1),
                lanes => (Size::G32, ((1i64 << lanes) - 1) as i32),
            };
            self.compare_imm(form, mask, full);
            return Cond::NOT_EQUAL;
        }
        let k = Arg::Use(mask, Size::K);
        self.plain(self.test_of_mask(), &[k, k]);
        // There is a carry if all bits are set.
        Cond::ABOVE_OR_EQUAL
    }

    /// The instruction that asks a mask register whether it has any lane, and whether it has all, if these are at least 8.
    fn test_of_mask(&self) -> Code {
        match self.lanes {
            8 => Code::VEX_Kortestb_kr_kr,
            16 => Code::VEX_Kortestw_kr_kr,
            32 => Code::VEX_Kortestd_kr_kr,
            _ => Code::VEX_Kortestq_kr_kr,
        }
    }

    /// A mask from an instruction that gives one bit for each element of a vector; lanes beyond the gang's become 0.
    pub(super) fn mask_from(&mut self, code: Code, size: usize, args: &[Arg]) -> VReg {
        let r = self.code.mask();
        let all = [&[Arg::Def(r, Size::K)], args].concat();
        if !self.fills_vector(size) {
            let lanes = self.mask_of_constant(self.region.width.full_mask());
            self.plain_masked(code, &all, lanes, false);
        } else {
            self.plain(code, &all);
        }
        r
    }

    /// The mask of the bytes that are not 0, of as many vectors as the lanes fill.
    pub(super) fn mask_of_bytes(&mut self, bytes: Vec<VReg>) -> VReg {
        let form = self.form(1);
        let of_piece = |x: VReg| {
            let x = Arg::Use(x, form);
            self.mask_from(sized(Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128, form), 1, &[x, x])
        };
        let parts = bytes.into_iter().map(of_piece).collect();
        self.join_masks(parts, 1)
    }

    /// A mask as bytes 0 or 1.
    pub(super) fn bytes_of_mask(&mut self, mask: VReg) -> Vec<VReg> {
        let ones = self.ones();
        let form = self.form(1);
        let mem = Arg::Mem(Mem::at(Base::Pool, ones));
        let n = self.n_pieces(1);
        let of_piece = |i| {
            let part = self.mask_part(mask, 1, i);
            self.vector_masked(sized(Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128, form), form, &[mem], part)
        };
        (0..n).map(of_piece).collect()
    }

    /// An operation that makes a mask; `false` if it has no code.
    pub(super) fn mask_op(&mut self, inst: &Inst, op: Op, ty: Ty, from: Ty) -> bool {
        if !self.has_rule(Rules::Mask, op) {
            return false;
        }
        let args = &inst.args;
        let made = match op {
            Op::Mov | Op::Bitcast => self.mask(args[0]),
            Op::Convert if from == Ty::Bool => self.mask(args[0]),
            Op::Convert if from == Ty::F16 => self.half_is_not_zero(args[0]),
            Op::Convert => self.is_not_zero(args[0], from),
            Op::Shuffle | Op::Insert => return false,
            Op::Select => self.select_masks(args),
            Op::Not => {
                let x = self.mask(args[0]);
                self.not(x)
            }
            _ if ty == Ty::Bool => {
                let Some(logic) = Logic::of(op) else { return false };
                let (a, b) = (self.mask(args[0]), self.mask(args[1]));
                self.combine(logic, a, b)
            }
            _ => match Comparison::of(op) {
                Some(op) if ty == Ty::F16 => self.compare_halves(op, args),
                Some(op) => self.compare_pieces(op, ty, args),
                None => return false,
            },
        };
        self.set(inst, made);
        true
    }

    /// The lanes of both masks.
    pub(super) fn both_masks(&mut self, a: VReg, b: VReg) -> VReg {
        self.k([Code::VEX_Kandq_kr_kr_kr, Code::And_rm64_r64], a, b)
    }

    /// The lanes of the second mask that are not in the first.
    pub(super) fn only_second(&mut self, a: VReg, b: VReg) -> VReg {
        match L::HAS_MASKS {
            true => self.k([Code::VEX_Kandnq_kr_kr_kr, Code::INVALID], a, b),
            false => {
                let args = [a, b].map(|r| Arg::Use(r, Size::G64));
                self.def(Code::VEX_Andn_r64_r64_rm64, (RegClass::Int, Size::G64), &args)
            }
        }
    }

    fn k(&mut self, [of_masks, of_words]: [Code; 2], a: VReg, b: VReg) -> VReg {
        match L::HAS_MASKS {
            true => self.def(of_masks, Self::MASKS, &[Arg::Use(a, Size::K), Arg::Use(b, Size::K)]),
            false => self.gpr_binary(of_words, Size::G64, a, b),
        }
    }

    fn not(&mut self, x: VReg) -> VReg {
        if !L::HAS_MASKS {
            let (code, form) = match self.lanes {
                64 => (Code::Not_rm64, Size::G64),
                32 => (Code::Not_rm32, Size::G32),
                _ => {
                    let full = Arg::Imm(OpKind::Immediate32, self.region.width.full_mask() as i64);
                    return self.gpr_over(Code::Xor_rm32_imm32, Size::G32, x, full);
                }
            };
            let to = self.code.gpr();
            self.plain(code, &[Arg::Tied { from: x, to, form }]);
            return to;
        }
        let code = match self.lanes {
            64 => Code::VEX_Knotq_kr_kr,
            32 => Code::VEX_Knotd_kr_kr,
            16 => Code::VEX_Knotw_kr_kr,
            8 => Code::VEX_Knotb_kr_kr,
            _ => {
                let full = self.mask_of_constant(self.region.width.full_mask());
                return self.only_second(x, full);
            }
        };
        self.def(code, Self::MASKS, &[Arg::Use(x, Size::K)])
    }

    /// A binary operation on bools.
    fn combine(&mut self, op: Logic, a: VReg, b: VReg) -> VReg {
        match op {
            Logic::And => self.both_masks(a, b),
            Logic::Or => self.k([Code::VEX_Korq_kr_kr_kr, Code::Or_rm64_r64], a, b),
            Logic::Xor => self.k([Code::VEX_Kxorq_kr_kr_kr, Code::Xor_rm64_r64], a, b),
            Logic::OnlySecond => self.only_second(a, b),
            Logic::OnlyFirst => self.only_second(b, a),
            Logic::Implied => {
                let x = self.only_second(b, a);
                self.not(x)
            }
            Logic::Implies => {
                let x = self.only_second(a, b);
                self.not(x)
            }
            Logic::Same => {
                let x = self.k([Code::VEX_Kxorq_kr_kr_kr, Code::Xor_rm64_r64], a, b);
                self.not(x)
            }
        }
    }

    fn select_masks(&mut self, args: &[Value]) -> VReg {
        let [c, a, b] = [0, 1, 2].map(|i| self.mask(args[i]));
        let (yes, no) = (self.both_masks(c, a), self.only_second(c, b));
        self.k([Code::VEX_Korq_kr_kr_kr, Code::Or_rm64_r64], yes, no)
    }

    pub(super) fn is_not_zero(&mut self, v: Value, ty: Ty) -> VReg {
        let (size, form) = (ty.size(), self.form(ty.size()));
        let parts = (0..self.n_pieces(size)).map(|i| {
            let x = self.piece(v, size, i);
            if ty.is_float() {
                let zero = self.zero();
                return self.compare_piece(Comparison::Ne, ty, Arg::Use(x, form), Arg::Use(zero, form));
            }
            let code = match size {
                1 => Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128,
                2 => Code::EVEX_Vptestmw_kr_k1_xmm_xmmm128,
                4 => Code::EVEX_Vptestmd_kr_k1_xmm_xmmm128b32,
                _ => Code::EVEX_Vptestmq_kr_k1_xmm_xmmm128b64,
            };
            let x = Arg::Use(x, form);
            self.mask_from(sized(code, form), size, &[x, x])
        });
        let parts = parts.collect();
        self.join_masks(parts, size)
    }

    fn compare_pieces(&mut self, op: Comparison, ty: Ty, args: &[Value]) -> VReg {
        let (size, form) = (ty.size(), self.form(ty.size()));
        // What is constant comes second, from memory.
        let (op, a, b) = match self.values.constant_lanes(args[0]).is_some() {
            true => (op.mirrored(), args[1], args[0]),
            false => (op, args[0], args[1]),
        };
        let parts = (0..self.n_pieces(size)).map(|i| {
            let (x, y) = (Arg::Use(self.piece(a, size, i), form), self.piece_arg(b, size, i));
            self.compare_piece(op, ty, x, y)
        });
        let parts = parts.collect();
        self.join_masks(parts, size)
    }

    /// The mask of a comparison of two vectors.
    pub(super) fn compare_piece(&mut self, op: Comparison, ty: Ty, a: Arg, b: Arg) -> VReg {
        let (code, predicate) = comparison(op, ty, true);
        let form = self.form(ty.size());
        self.mask_from(sized(code, form), ty.size(), &[a, b, imm8(predicate)])
    }

    /// The mask of the lanes of a float vector that are numbers, or of those that are not.
    pub(super) fn ordered(&mut self, ty: Ty, form: Size, x: VReg, wanted: bool) -> VReg {
        let code = if ty == Ty::F32 {
            Code::EVEX_Vcmpps_kr_k1_xmm_xmmm128b32_imm8
        } else {
            Code::EVEX_Vcmppd_kr_k1_xmm_xmmm128b64_imm8
        };
        let predicate = imm8(if wanted { 7 } else { 3 });
        self.mask_from(sized(code, form), ty.size(), &[Arg::Use(x, form), Arg::Use(x, form), predicate])
    }
}

/// The instruction for vectors of 128 bits that compares elements of a type, and the number of the comparison, or of its negation.
pub(super) fn comparison(op: Comparison, ty: Ty, holds: bool) -> (Code, u8) {
    let (code, predicate) = match (ty, ty.size()) {
        (Ty::F32, _) => (Code::EVEX_Vcmpps_kr_k1_xmm_xmmm128b32_imm8, float_predicate(op)),
        (Ty::F64, _) => (Code::EVEX_Vcmppd_kr_k1_xmm_xmmm128b64_imm8, float_predicate(op)),
        (_, 1) if ty.is_signed() => (Code::EVEX_Vpcmpb_kr_k1_xmm_xmmm128_imm8, int_predicate(op)),
        (_, 1) => (Code::EVEX_Vpcmpub_kr_k1_xmm_xmmm128_imm8, int_predicate(op)),
        (_, 2) if ty.is_signed() => (Code::EVEX_Vpcmpw_kr_k1_xmm_xmmm128_imm8, int_predicate(op)),
        (_, 2) => (Code::EVEX_Vpcmpuw_kr_k1_xmm_xmmm128_imm8, int_predicate(op)),
        (_, 4) if ty.is_signed() => (Code::EVEX_Vpcmpd_kr_k1_xmm_xmmm128b32_imm8, int_predicate(op)),
        (_, 4) => (Code::EVEX_Vpcmpud_kr_k1_xmm_xmmm128b32_imm8, int_predicate(op)),
        _ if ty.is_signed() => (Code::EVEX_Vpcmpq_kr_k1_xmm_xmmm128b64_imm8, int_predicate(op)),
        _ => (Code::EVEX_Vpcmpuq_kr_k1_xmm_xmmm128b64_imm8, int_predicate(op)),
    };
    // Of integers and of floats, NaNs included.
    (code, if holds { predicate } else { predicate ^ 4 })
}

fn float_predicate(op: Comparison) -> u8 {
    match op {
        Comparison::Eq => 0x00,
        Comparison::Ne => 0x04,
        Comparison::Lt => 0x11,
        Comparison::Le => 0x12,
        Comparison::Gt => 0x1e,
        Comparison::Ge => 0x1d,
    }
}

fn int_predicate(op: Comparison) -> u8 {
    match op {
        Comparison::Eq => 0,
        Comparison::Lt => 1,
        Comparison::Le => 2,
        Comparison::Ne => 4,
        Comparison::Ge => 5,
        Comparison::Gt => 6,
    }
}

/// The condition of flags by which a comparison of integers holds.
pub(super) fn int_condition(op: Comparison, signed: bool) -> Cond {
    match (op, signed) {
        (Comparison::Eq, _) => Cond::EQUAL,
        (Comparison::Ne, _) => Cond::NOT_EQUAL,
        (Comparison::Lt, true) => Cond::LESS,
        (Comparison::Le, true) => Cond::LESS_OR_EQUAL,
        (Comparison::Gt, true) => Cond::GREATER,
        (Comparison::Ge, true) => Cond::GREATER_OR_EQUAL,
        (Comparison::Lt, false) => Cond::BELOW,
        (Comparison::Le, false) => Cond::BELOW_OR_EQUAL,
        (Comparison::Gt, false) => Cond::ABOVE,
        (Comparison::Ge, false) => Cond::ABOVE_OR_EQUAL,
    }
}
