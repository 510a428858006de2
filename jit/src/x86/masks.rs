//! Masks: one register each, bit *i* for lane *i*, and 0 beyond the lanes.

use super::inst::{Arg, Base, Cond, Mem, Size};
use super::select::{Select, imm8};
use super::values::sized;
use crate::backend::Rules;
use crate::ir::{Inst, Value};
use crate::lowering::{Comparison, Logic};
use iced_x86::{Code, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

pub(super) const MASK: (RegClass, Size) = (RegClass::Vector, Size::K);

impl Select<'_> {
    /// A mask that is known.
    pub(super) fn mask_of_constant(&mut self, bits: u64) -> VReg {
        let x = self.imm(bits);
        self.def(Code::VEX_Kmovq_kr_r64, MASK, &[Arg::Use(x, Size::G64)])
    }

    /// A word of bits as a mask.
    pub(super) fn mask_of_bits(&mut self, bits: VReg) -> VReg {
        // Each but the last cuts off what is above.
        let (code, form) = match self.lanes {
            64 => (Code::VEX_Kmovq_kr_r64, Size::G64),
            32 => (Code::VEX_Kmovd_kr_r32, Size::G32),
            16 => (Code::VEX_Kmovw_kr_r32, Size::G32),
            8 => (Code::VEX_Kmovb_kr_r32, Size::G32),
            _ => {
                let full = Arg::Imm(OpKind::Immediate8to32, self.region.width.full_mask() as i64);
                let cut = self.gpr_over(Code::And_rm32_imm8, Size::G32, bits, full);
                return self.def(Code::VEX_Kmovd_kr_r32, MASK, &[Arg::Use(cut, Size::G32)]);
            }
        };
        self.def(code, MASK, &[Arg::Use(bits, form)])
    }

    /// A uniform bool in all lanes.
    pub(super) fn mask_of_bool(&mut self, x: VReg) -> VReg {
        let to = self.code.gpr();
        self.plain(Code::Neg_rm64, &[Arg::Tied { from: x, to, form: Size::G64 }]);
        self.mask_of_bits(to)
    }

    pub(super) fn bits_of_mask(&mut self, mask: VReg) -> VReg {
        self.def(Code::VEX_Kmovq_r64_kr, (RegClass::Int, Size::G64), &[Arg::Use(mask, Size::K)])
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
        let part = self.def(Code::VEX_Kshiftrq_kr_kr_imm8, MASK, &[Arg::Use(mask, Size::K), shift]);
        self.local.parts.insert((mask, first), part);
        part
    }

    /// The masks of pieces as one.
    pub(super) fn join_masks(&mut self, mut parts: Vec<VReg>, size: usize) -> VReg {
        let each = self.lanes_in_piece(size);
        let (pieces, mut lanes) = (parts.clone(), each);
        while parts.len() > 1 {
            let code = match lanes {
                8 => Code::VEX_Kunpckbw_kr_kr_kr,
                16 => Code::VEX_Kunpckwd_kr_kr_kr,
                _ => Code::VEX_Kunpckdq_kr_kr_kr,
            };
            let pairs = parts.chunks(2).map(|pair| [pair[1], pair[0]].map(|r| Arg::Use(r, Size::K)));
            let pairs: Vec<_> = pairs.collect();
            parts = pairs.iter().map(|pair| self.def(code, MASK, pair)).collect();
            lanes *= 2;
        }
        if pieces.len() > 1 {
            // Whoever takes it apart again need not wait for it.
            let of_piece = pieces.into_iter().enumerate().map(|(i, piece)| ((parts[0], i * each, each), piece));
            self.local.joined.extend(of_piece);
        }
        parts[0]
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

    /// The mask of the bytes that are not 0.
    pub(super) fn mask_of_bytes(&mut self, bytes: VReg) -> VReg {
        let form = self.form(1);
        let x = Arg::Use(bytes, form);
        self.mask_from(sized(Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128, form), 1, &[x, x])
    }

    /// A mask as bytes 0 or 1.
    pub(super) fn bytes_of_mask(&mut self, mask: VReg) -> VReg {
        let ones = self.ones();
        let form = self.form(1);
        let mem = Mem::at(Base::Pool, ones);
        self.vector_masked(sized(Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128, form), form, &[Arg::Mem(mem)], mask)
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

    fn k(&mut self, code: Code, a: VReg, b: VReg) -> VReg {
        self.def(code, MASK, &[Arg::Use(a, Size::K), Arg::Use(b, Size::K)])
    }

    fn not(&mut self, x: VReg) -> VReg {
        let code = match self.lanes {
            64 => Code::VEX_Knotq_kr_kr,
            32 => Code::VEX_Knotd_kr_kr,
            16 => Code::VEX_Knotw_kr_kr,
            8 => Code::VEX_Knotb_kr_kr,
            _ => {
                let full = self.mask_of_constant(self.region.width.full_mask());
                return self.k(Code::VEX_Kandnq_kr_kr_kr, x, full);
            }
        };
        self.def(code, MASK, &[Arg::Use(x, Size::K)])
    }

    /// A binary operation on bools.
    fn combine(&mut self, op: Logic, a: VReg, b: VReg) -> VReg {
        match op {
            Logic::And => self.k(Code::VEX_Kandq_kr_kr_kr, a, b),
            Logic::Or => self.k(Code::VEX_Korq_kr_kr_kr, a, b),
            Logic::Xor => self.k(Code::VEX_Kxorq_kr_kr_kr, a, b),
            // It inverts the first.
            Logic::OnlySecond => self.k(Code::VEX_Kandnq_kr_kr_kr, a, b),
            Logic::OnlyFirst => self.k(Code::VEX_Kandnq_kr_kr_kr, b, a),
            Logic::Implied => {
                let x = self.k(Code::VEX_Kandnq_kr_kr_kr, b, a);
                self.not(x)
            }
            Logic::Implies => {
                let x = self.k(Code::VEX_Kandnq_kr_kr_kr, a, b);
                self.not(x)
            }
            Logic::Same => {
                let x = self.k(Code::VEX_Kxorq_kr_kr_kr, a, b);
                self.not(x)
            }
        }
    }

    fn select_masks(&mut self, args: &[Value]) -> VReg {
        let [c, a, b] = [0, 1, 2].map(|i| self.mask(args[i]));
        let (yes, no) = (self.k(Code::VEX_Kandq_kr_kr_kr, c, a), self.k(Code::VEX_Kandnq_kr_kr_kr, c, b));
        self.k(Code::VEX_Korq_kr_kr_kr, yes, no)
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
