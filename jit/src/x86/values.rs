//! Values in the form in which an instruction wants them, and the little instructions for that.

use super::inst::{Arg, Cond, Mem, Size};
use super::level::Level;
use super::select::{Select, class_of, imm8};
use crate::ir::{Inst, Value};
use iced_x86::{Code, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::types::Ty;

/// The instruction for vectors of 128, 256 or 512 bits, by the one for 128: the encoder numbers them in this order.
pub(super) fn sized(code: Code, form: Size) -> Code {
    let step = match form {
        Size::Y => 1,
        Size::Z => 2,
        _ => 0,
    };
    Code::try_from(code as usize + step).expect("there is one for each size")
}

/// The form of vectors of so many bytes.
pub(super) fn form_of(bytes: usize) -> Size {
    match bytes {
        0..=16 => Size::X,
        17..=32 => Size::Y,
        _ => Size::Z,
    }
}

/// The bytes of a vector of a form.
pub(super) fn bytes_of(form: Size) -> usize {
    match form {
        Size::Z => 64,
        Size::Y => 32,
        _ => 16,
    }
}

impl<L: Level> Select<'_, L> {
    /// The form of the vectors that lanes of so many bytes fill.
    pub(super) fn form(&self, size: usize) -> Size {
        form_of((self.lanes * size).min(L::VECTOR_BYTES))
    }

    /// Returns whether lanes of so many bytes fill the smallest vector at least.
    pub(super) fn fills_vector(&self, size: usize) -> bool {
        self.lanes * size >= 16
    }

    /// `code to, args…`
    pub(super) fn def(&mut self, code: Code, (class, form): (RegClass, Size), args: &[Arg]) -> VReg {
        let r = self.code.reg(class);
        self.plain(code, &[&[Arg::Def(r, form)], args].concat());
        r
    }

    /// A vector from an instruction.
    pub(super) fn vector(&mut self, code: Code, form: Size, args: &[Arg]) -> VReg {
        self.def(code, (RegClass::Float, form), args)
    }

    /// A vector from an instruction under a mask; lanes that are not in it become 0.
    pub(super) fn vector_masked(&mut self, code: Code, form: Size, args: &[Arg], mask: VReg) -> VReg {
        let r = self.code.vector();
        self.plain_masked(code, &[&[Arg::Def(r, form)], args].concat(), mask, true);
        r
    }

    /// An instruction of general registers that overwrites its first operand.
    pub(super) fn gpr_binary(&mut self, code: Code, form: Size, a: VReg, b: VReg) -> VReg {
        self.gpr_over(code, form, a, Arg::Use(b, form))
    }

    /// Likewise, with any second operand.
    pub(super) fn gpr_over(&mut self, code: Code, form: Size, a: VReg, b: Arg) -> VReg {
        let to = self.code.gpr();
        self.plain(code, &[Arg::Tied { from: a, to, form }, b]);
        to
    }

    /// Sets flags by the comparison of two integers.
    pub(super) fn compare(&mut self, form: Size, a: VReg, b: VReg) {
        let code = if form == Size::G64 { Code::Cmp_rm64_r64 } else { Code::Cmp_rm32_r32 };
        self.plain(code, &[Arg::Use(a, form), Arg::Use(b, form)]);
    }

    /// Sets flags by the comparison of an integer and a constant.
    pub(super) fn compare_imm(&mut self, form: Size, a: VReg, b: i32) {
        let (code, kind) = match form {
            Size::G64 => (Code::Cmp_rm64_imm32, OpKind::Immediate32to64),
            _ => (Code::Cmp_rm32_imm32, OpKind::Immediate32),
        };
        self.plain(code, &[Arg::Use(a, form), Arg::Imm(kind, b.into())]);
    }

    /// `a` if the flags say so, else `b`.
    pub(super) fn choose(&mut self, cond: Cond, a: VReg, b: VReg) -> VReg {
        let code = Code::try_from(Code::Cmovo_r64_rm64 as usize + 3 * cond.0 as usize).expect("one for each condition");
        self.gpr_binary(code, Size::G64, b, a)
    }

    /// The flags as a bool.
    pub(super) fn bool_of(&mut self, cond: Cond) -> VReg {
        let code = Code::try_from(Code::Seto_rm8 as usize + cond.0 as usize).expect("one for each condition");
        let byte = self.def(code, (RegClass::Int, Size::G8), &[]);
        self.def(Code::Movzx_r32_rm8, (RegClass::Int, Size::G32), &[Arg::Use(byte, Size::G8)])
    }

    /// Piece `i` as an operand: a constant of 4 or 8 bytes is one in memory.
    pub(super) fn piece_arg(&mut self, v: Value, size: usize, i: usize) -> Arg {
        match self.values.constant_lanes(v) {
            Some(bits) if size >= 4 && bits != 0 => Arg::Broadcast(self.pool_of(bits, size)),
            _ => Arg::Use(self.piece(v, size, i), self.form(size)),
        }
    }

    /// A constant of 4 or 8 bytes as an operand.
    pub(super) fn constant_arg(&mut self, bits: u64, size: usize) -> Arg {
        Arg::Broadcast(self.pool_of(bits, size))
    }

    /// A uniform value's register in all lanes of a vector of the size that pieces of its type have.
    pub(super) fn broadcast(&mut self, x: VReg, ty: Ty) -> VReg {
        let to = self.form(ty.size());
        let (code, form) = match (class_of(ty), ty.size()) {
            (RegClass::Float, size) => (broadcast(size, to), Size::X),
            (_, 1) => (sized(Code::EVEX_Vpbroadcastb_xmm_k1z_r32, to), Size::G32),
            (_, 2) => (sized(Code::EVEX_Vpbroadcastw_xmm_k1z_r32, to), Size::G32),
            (_, 4) => (sized(Code::EVEX_Vpbroadcastd_xmm_k1z_r32, to), Size::G32),
            _ => (sized(Code::EVEX_Vpbroadcastq_xmm_k1z_r64, to), Size::G64),
        };
        self.vector(code, to, &[Arg::Use(x, form)])
    }

    pub(super) fn splat(&mut self, inst: &Inst) {
        let Some(result) = inst.result else { return };
        let ty = self.region.ty(result).ty;
        if ty == Ty::Bool {
            if self.values.constant(inst.args[0]).is_none() {
                let mask = self.mask(inst.args[0]);
                self.set(inst, mask);
            }
        } else if self.values.constant(inst.args[0]).is_none() {
            let x = self.piece(inst.args[0], ty.size(), 0);
            self.set_pieces(inst, vec![x; self.n_pieces(ty.size())]);
        }
    }

    pub(super) fn load_vector(&mut self, form: Size, from: Mem) -> VReg {
        self.vector(sized(Code::EVEX_Vmovups_xmm_k1z_xmmm128, form), form, &[Arg::Mem(from)])
    }

    pub(super) fn store_vector(&mut self, form: Size, to: Mem, x: VReg) {
        let code = sized(Code::EVEX_Vmovups_xmmm128_k1z_xmm, form);
        self.plain(code, &[Arg::Mem(to), Arg::Use(x, form)]);
    }

    /// Loads a uniform value; any byte but 0 is a true bool.
    pub(super) fn load_scalar(&mut self, ty: Ty, from: Mem) -> VReg {
        let gpr = |form| (RegClass::Int, form);
        let mem = Arg::Mem(from);
        match ty {
            Ty::F32 => self.vector(Code::EVEX_Vmovss_xmm_k1z_m32, Size::X, &[mem]),
            Ty::F64 => self.vector(Code::EVEX_Vmovsd_xmm_k1z_m64, Size::X, &[mem]),
            Ty::Bool => {
                let zero = Arg::Imm(OpKind::Immediate8, 0);
                self.plain(Code::Cmp_rm8_imm8, &[mem, zero]);
                self.bool_of(Cond::NOT_EQUAL)
            }
            _ => match ty.size() {
                1 => self.def(Code::Movzx_r32_rm8, gpr(Size::G32), &[mem]),
                2 => self.def(Code::Movzx_r32_rm16, gpr(Size::G32), &[mem]),
                4 => self.def(Code::Mov_r32_rm32, gpr(Size::G32), &[mem]),
                _ => self.def(Code::Mov_r64_rm64, gpr(Size::G64), &[mem]),
            },
        }
    }

    /// Stores a uniform value.
    pub(super) fn store_scalar(&mut self, ty: Ty, to: Mem, x: VReg) {
        let (code, form) = match (ty, ty.size()) {
            (Ty::F32, _) => (Code::EVEX_Vmovss_m32_k1_xmm, Size::X),
            (Ty::F64, _) => (Code::EVEX_Vmovsd_m64_k1_xmm, Size::X),
            (_, 1) => (Code::Mov_rm8_r8, Size::G8),
            (_, 2) => (Code::Mov_rm16_r16, Size::G16),
            (_, 4) => (Code::Mov_rm32_r32, Size::G32),
            _ => (Code::Mov_rm64_r64, Size::G64),
        };
        self.plain(code, &[Arg::Mem(to), Arg::Use(x, form)]);
    }

    /// Shifts or permutes by a number of 8 bits.
    pub(super) fn vector_imm(&mut self, code: Code, form: Size, x: VReg, imm: u8) -> VReg {
        let r = self.code.vector();
        self.plain(code, &[Arg::Def(r, form), Arg::Use(x, form), imm8(imm)]);
        r
    }
}

/// The instruction that puts an element of so many bytes, at the bottom of a vector or in memory, in all lanes.
pub(super) fn broadcast(size: usize, form: Size) -> Code {
    match size {
        1 => sized(Code::EVEX_Vpbroadcastb_xmm_k1z_xmmm8, form),
        2 => sized(Code::EVEX_Vpbroadcastw_xmm_k1z_xmmm16, form),
        4 => sized(Code::EVEX_Vbroadcastss_xmm_k1z_xmmm32, form),
        _ => sized(Code::EVEX_Vpbroadcastq_xmm_k1z_xmmm64, form),
    }
}
