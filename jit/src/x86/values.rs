//! Values in the form in which an instruction wants them, and the little instructions for that.

use super::inst::{Arg, Base, Cond, Form, Inst as Machine, Mem};
use super::select::{Place, Select, class_of, imm8};
use crate::ir::{Inst, Value};
use iced_x86::{Code, OpKind, Register};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::types::Ty;

/// The instruction for vectors of 128, 256 or 512 bits, by the one for 128: the encoder numbers them in this order.
pub(super) fn sized(code: Code, form: Form) -> Code {
    let step = match form {
        Form::Y => 1,
        Form::Z => 2,
        _ => 0,
    };
    Code::try_from(code as usize + step).expect("there is one for each size")
}

/// The form of vectors of so many bytes.
pub(super) fn form_of(bytes: usize) -> Form {
    match bytes {
        0..=16 => Form::X,
        17..=32 => Form::Y,
        _ => Form::Z,
    }
}

/// Bytes of a vector.
pub(super) fn bytes_of(form: Form) -> usize {
    match form {
        Form::Y => 32,
        Form::Z => 64,
        _ => 16,
    }
}

impl Select<'_> {
    /// How many vectors lanes of so many bytes fill.
    pub fn n_pieces(&self, size: usize) -> usize {
        (self.lanes * size).div_ceil(64)
    }

    /// The form of these vectors.
    pub fn form(&self, size: usize) -> Form {
        form_of(self.lanes * size)
    }

    /// How many lanes each of them has.
    pub fn lanes_in_piece(&self, size: usize) -> usize {
        self.lanes.min(64 / size)
    }

    /// `code to, args…`
    pub fn def(&mut self, code: Code, (class, form): (RegClass, Form), args: &[Arg]) -> VReg {
        let r = self.flow.reg(class);
        self.plain(code, &[&[Arg::Def(r, form)], args].concat());
        r
    }

    /// A vector from an instruction.
    pub fn vector(&mut self, code: Code, form: Form, args: &[Arg]) -> VReg {
        self.def(code, (RegClass::Float, form), args)
    }

    /// A vector from an instruction under a mask; lanes that are not in it become 0.
    pub fn vector_masked(&mut self, code: Code, form: Form, args: &[Arg], mask: VReg) -> VReg {
        let r = self.flow.vector();
        self.plain_masked(code, &[&[Arg::Def(r, form)], args].concat(), mask, true);
        r
    }

    /// A number in a general register.
    pub fn imm(&mut self, bits: u64) -> VReg {
        let to = (RegClass::Int, Form::G64);
        match (u32::try_from(bits), i32::try_from(bits as i64)) {
            (Ok(small), _) => {
                let small = Arg::Imm(OpKind::Immediate32, small as i64);
                self.def(Code::Mov_r32_imm32, (RegClass::Int, Form::G32), &[small])
            }
            (_, Ok(signed)) => self.def(Code::Mov_rm64_imm32, to, &[Arg::Imm(OpKind::Immediate32to64, signed as i64)]),
            _ => self.def(Code::Mov_r64_imm64, to, &[Arg::Imm(OpKind::Immediate64, bits as i64)]),
        }
    }

    /// What a register that is not allocated holds now.
    pub fn copy_of(&mut self, fixed: Register) -> VReg {
        self.def(Code::Mov_r64_rm64, (RegClass::Int, Form::G64), &[Arg::Fixed(fixed)])
    }

    pub fn load_64(&mut self, mem: Mem) -> VReg {
        self.def(Code::Mov_r64_rm64, (RegClass::Int, Form::G64), &[Arg::Mem(mem)])
    }

    pub fn store_64(&mut self, mem: Mem, x: VReg) {
        self.plain(Code::Mov_rm64_r64, &[Arg::Mem(mem), Arg::Use(x, Form::G64)]);
    }

    /// The address of memory.
    pub fn address_of(&mut self, mem: Mem) -> VReg {
        self.def(Code::Lea_r64_m, (RegClass::Int, Form::G64), &[Arg::Mem(mem)])
    }

    /// An instruction of general registers that overwrites its first operand.
    pub fn gpr_binary(&mut self, code: Code, form: Form, a: VReg, b: VReg) -> VReg {
        self.gpr_over(code, form, a, Arg::Use(b, form))
    }

    /// Likewise, with any second operand.
    pub fn gpr_over(&mut self, code: Code, form: Form, a: VReg, b: Arg) -> VReg {
        let to = self.flow.gpr();
        self.plain(code, &[Arg::Tied { from: a, to, form }, b]);
        to
    }

    /// Sets flags by the comparison of two integers.
    pub fn compare(&mut self, form: Form, a: VReg, b: VReg) {
        let code = if form == Form::G64 { Code::Cmp_rm64_r64 } else { Code::Cmp_rm32_r32 };
        self.plain(code, &[Arg::Use(a, form), Arg::Use(b, form)]);
    }

    /// Sets flags by a bool.
    pub fn test(&mut self, x: VReg) {
        let x = Arg::Use(x, Form::G32);
        self.plain(Code::Test_rm32_r32, &[x, x]);
    }

    /// `a` if the flags say so, else `b`.
    pub fn choose(&mut self, cond: Cond, a: VReg, b: VReg) -> VReg {
        let code = Code::try_from(Code::Cmovo_r64_rm64 as usize + 3 * cond.0 as usize).expect("one for each condition");
        self.gpr_binary(code, Form::G64, b, a)
    }

    /// The flags as a bool.
    pub fn bool_of(&mut self, cond: Cond) -> VReg {
        let code = Code::try_from(Code::Seto_rm8 as usize + cond.0 as usize).expect("one for each condition");
        let byte = self.def(code, (RegClass::Int, Form::G8), &[]);
        self.def(Code::Movzx_r32_rm8, (RegClass::Int, Form::G32), &[Arg::Use(byte, Form::G8)])
    }

    /// A uniform value that is in a general register.
    pub fn gpr(&mut self, v: Value) -> VReg {
        match (self.constant_of(v), &self.places[v.index()]) {
            (Some(bits), _) => self.imm(bits),
            (_, &Place::One(r)) => r,
            _ => unreachable!("{v:?} has not been computed"),
        }
    }

    /// A uniform value in a register of its class.
    pub fn scalar(&mut self, v: Value) -> VReg {
        let ty = self.region.ty(v).ty;
        match self.constant_of(v) {
            Some(bits) if class_of(ty) == RegClass::Float => {
                let mem = self.pool_of(bits, ty.size(), false);
                let code = if ty == Ty::F32 { Code::EVEX_Vmovss_xmm_k1z_m32 } else { Code::EVEX_Vmovsd_xmm_k1z_m64 };
                self.vector(code, Form::X, &[Arg::Mem(mem)])
            }
            _ => self.gpr(v),
        }
    }

    /// A constant's place in memory.
    pub fn pool_of(&mut self, bits: u64, size: usize, broadcast: bool) -> Mem {
        let at = self.flow.constant(&bits.to_le_bytes()[..size]);
        Mem { broadcast, ..Mem::at(Base::Pool, at) }
    }

    /// Piece `i` of a value of elements of so many bytes that is no mask.
    pub fn piece(&mut self, v: Value, size: usize, i: usize) -> VReg {
        if let Some(bits) = self.constant_lanes(v) {
            return self.constant_vector(bits, size);
        }
        if !self.region.ty(v).is_varying() {
            return self.splats[v.index()].unwrap_or_else(|| unreachable!("{v:?} is not in a vector"));
        }
        match &self.places[v.index()] {
            Place::Pieces(pieces) => pieces[i],
            Place::Nowhere if self.needs.is_late(v) => self.late_pieces(v)[i],
            _ => unreachable!("{v:?} has not been computed"),
        }
    }

    /// The same constant in all lanes.
    pub fn constant_vector(&mut self, bits: u64, size: usize) -> VReg {
        if bits == 0 {
            return self.zero();
        }
        let mem = self.pool_of(bits, size, false);
        self.vector(broadcast(size, Form::Z), Form::Z, &[Arg::Mem(mem)])
    }

    /// A vector of zeros.
    pub fn zero(&mut self) -> VReg {
        // The allocator gives the same register to both, whatever it holds.
        let r = self.flow.vector();
        self.flow.push(Machine::Zero(r));
        r
    }

    /// Piece `i` as an operand: a constant of 4 or 8 bytes is one in memory.
    pub fn piece_arg(&mut self, v: Value, size: usize, i: usize) -> Arg {
        match self.constant_lanes(v) {
            Some(bits) if size >= 4 && bits != 0 => Arg::Mem(self.pool_of(bits, size, true)),
            _ => Arg::Use(self.piece(v, size, i), self.form(size)),
        }
    }

    /// A constant of 4 or 8 bytes as an operand.
    pub fn constant_arg(&mut self, bits: u64, size: usize) -> Arg {
        Arg::Mem(self.pool_of(bits, size, true))
    }

    /// Makes the vector of a uniform value, if it is needed.
    pub fn splat_if_needed(&mut self, v: Value) {
        if self.needs.is_needed_as_vector(v) && self.constant_of(v).is_none() {
            let ty = self.region.ty(v).ty;
            let x = self.scalar(v);
            let r = self.broadcast(x, ty);
            self.splats[v.index()] = Some(r);
        }
    }

    /// A uniform value's register in all lanes of 512 bits.
    pub fn broadcast(&mut self, x: VReg, ty: Ty) -> VReg {
        let (code, form) = match (class_of(ty), ty.size()) {
            (RegClass::Float, size) => (broadcast(size, Form::Z), Form::X),
            (_, 1) => (Code::EVEX_Vpbroadcastb_zmm_k1z_r32, Form::G32),
            (_, 2) => (Code::EVEX_Vpbroadcastw_zmm_k1z_r32, Form::G32),
            (_, 4) => (Code::EVEX_Vpbroadcastd_zmm_k1z_r32, Form::G32),
            _ => (Code::EVEX_Vpbroadcastq_zmm_k1z_r64, Form::G64),
        };
        self.vector(code, Form::Z, &[Arg::Use(x, form)])
    }

    pub fn splat(&mut self, inst: &Inst) {
        let Some(result) = inst.result else { return };
        let ty = self.region.ty(result).ty;
        if ty == Ty::Bool {
            if self.constant_of(inst.args[0]).is_none() {
                let mask = self.mask_of_bool(inst.args[0]);
                self.set(inst, mask);
            }
        } else if self.constant_of(inst.args[0]).is_none() {
            let x = self.piece(inst.args[0], ty.size(), 0);
            self.set_pieces(inst, vec![x; self.n_pieces(ty.size())]);
        }
    }

    /// Loads a value from where it lies as in a frame: lane after lane, with room for whole vectors.
    pub fn load_result(&mut self, inst: &Inst, from: Mem) {
        let Some(v) = inst.result else { return };
        let ty = self.region.ty(v);
        let size = ty.ty.size();
        if !ty.is_varying() {
            let x = self.load_scalar(ty.ty, from);
            return self.set(inst, x);
        }
        if ty.ty == Ty::Bool {
            let bytes = self.load_vector(self.form(1), from);
            let mask = self.mask_of_bytes(bytes);
            return self.set(inst, mask);
        }
        let form = self.form(size);
        let pieces = (0..self.n_pieces(size)).map(|i| self.load_vector(form, from.plus((64 * i) as i32))).collect();
        self.set_pieces(inst, pieces);
    }

    pub fn load_vector(&mut self, form: Form, from: Mem) -> VReg {
        self.vector(sized(Code::EVEX_Vmovups_xmm_k1z_xmmm128, form), form, &[Arg::Mem(from)])
    }

    pub fn store_vector(&mut self, form: Form, to: Mem, x: VReg) {
        let code = sized(Code::EVEX_Vmovups_xmmm128_k1z_xmm, form);
        self.plain(code, &[Arg::Mem(to), Arg::Use(x, form)]);
    }

    /// Loads a uniform value; any byte but 0 is a true bool.
    pub fn load_scalar(&mut self, ty: Ty, from: Mem) -> VReg {
        let gpr = |form| (RegClass::Int, form);
        let mem = Arg::Mem(from);
        match ty {
            Ty::F32 => self.vector(Code::EVEX_Vmovss_xmm_k1z_m32, Form::X, &[mem]),
            Ty::F64 => self.vector(Code::EVEX_Vmovsd_xmm_k1z_m64, Form::X, &[mem]),
            Ty::Bool => {
                let zero = Arg::Imm(OpKind::Immediate8, 0);
                self.plain(Code::Cmp_rm8_imm8, &[mem, zero]);
                self.bool_of(Cond::NOT_EQUAL)
            }
            _ => match ty.size() {
                1 => self.def(Code::Movzx_r32_rm8, gpr(Form::G32), &[mem]),
                2 => self.def(Code::Movzx_r32_rm16, gpr(Form::G32), &[mem]),
                4 => self.def(Code::Mov_r32_rm32, gpr(Form::G32), &[mem]),
                _ => self.load_64(from),
            },
        }
    }

    /// Stores a uniform value.
    pub fn store_scalar(&mut self, ty: Ty, to: Mem, x: VReg) {
        let (code, form) = match (ty, ty.size()) {
            (Ty::F32, _) => (Code::EVEX_Vmovss_m32_k1_xmm, Form::X),
            (Ty::F64, _) => (Code::EVEX_Vmovsd_m64_k1_xmm, Form::X),
            (_, 1) => (Code::Mov_rm8_r8, Form::G8),
            (_, 2) => (Code::Mov_rm16_r16, Form::G16),
            (_, 4) => (Code::Mov_rm32_r32, Form::G32),
            _ => (Code::Mov_rm64_r64, Form::G64),
        };
        self.plain(code, &[Arg::Mem(to), Arg::Use(x, form)]);
    }

    /// Stores a value as it lies in a frame: lane after lane, in whole vectors.
    pub fn store_whole(&mut self, v: Value, to: Mem) {
        let ty = self.region.ty(v);
        if !ty.is_varying() {
            let x = self.scalar(v);
            return self.store_scalar(ty.ty, to, x);
        }
        if ty.ty == Ty::Bool {
            let bytes = self.bytes_of_mask(v);
            return self.store_vector(self.form(1), to, bytes);
        }
        let size = ty.ty.size();
        for i in 0..self.n_pieces(size) {
            let x = self.piece(v, size, i);
            self.store_vector(self.form(size), to.plus((64 * i) as i32), x);
        }
    }

    /// Shifts or permutes by a number of 8 bits.
    pub fn vector_imm(&mut self, code: Code, form: Form, x: VReg, imm: u8) -> VReg {
        let r = self.flow.vector();
        self.plain(code, &[Arg::Def(r, form), Arg::Use(x, form), imm8(imm)]);
        r
    }
}

/// The instruction that puts an element of so many bytes, at the bottom of a vector or in memory, in all lanes.
pub(super) fn broadcast(size: usize, form: Form) -> Code {
    match size {
        1 => sized(Code::EVEX_Vpbroadcastb_xmm_k1z_xmmm8, form),
        2 => sized(Code::EVEX_Vpbroadcastw_xmm_k1z_xmmm16, form),
        4 => sized(Code::EVEX_Vbroadcastss_xmm_k1z_xmmm32, form),
        _ => sized(Code::EVEX_Vpbroadcastq_xmm_k1z_xmmm64, form),
    }
}
