//! Operations across lanes.

use super::fused::element_in_frame;
use super::inst::{Arg, Base, Mem, Size};
use super::level::Level;
use super::select::{Select, class_of, imm8};
use super::values::{form_of, sized};
use crate::backend::Rules;
use crate::ir::{Inst, Value};
use crate::lowering::step_of;
use iced_x86::{Code, OpKind};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

impl<L: Level> Select<'_, L> {
    /// One of `iota`, `shuffle`, `extract`, `insert`; `false` if it has no code.
    pub(super) fn lanes_op(&mut self, inst: &Inst, op: Op, ty: Ty) -> bool {
        if !self.has_rule(Rules::Lanes, op) {
            return false;
        }
        match op {
            Op::Iota => {
                let pieces = (0..self.n_pieces(4)).map(|i| self.iota(i)).collect();
                self.set_pieces(inst, pieces);
                true
            }
            Op::Extract => {
                let x = match element_in_frame(&self.values, inst) {
                    Some(at) => self.element_in_memory(ty, Mem::at(Base::Frame, at as i32), inst.args[1]),
                    None => self.extract(ty, inst.args[0], inst.args[1]),
                };
                self.set(inst, x);
                true
            }
            Op::Shuffle => self.shuffle(inst, ty),
            Op::Insert => self.insert(inst, ty),
            _ => false,
        }
    }

    /// Piece `i` of the numbers of lanes.
    fn iota(&mut self, i: usize) -> VReg {
        let n = L::VECTOR_BYTES / 4;
        let lanes: Vec<u64> = (0..n).map(|l| (n * i + l) as u64).collect();
        self.vector_of_constants(4, &lanes)
    }

    /// A vector of a constant for each lane.
    fn vector_of_constants(&mut self, size: usize, lanes: &[u64]) -> VReg {
        let mut bytes = [0; 64];
        for (to, bits) in bytes.chunks_exact_mut(size).zip(lanes) {
            to.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
        let at = self.code.constant(&bytes);
        self.load_vector(self.form(size), Mem::at(Base::Pool, at))
    }

    /// A value that is a constant in each lane.
    pub(super) fn constants(&mut self, inst: &Inst) -> bool {
        let Some((v, lanes)) = inst.result.and_then(|v| Some((v, self.values.constant_vector(v)?))) else {
            return false;
        };
        let size = self.region.ty(v).ty.size();
        let pieces =
            lanes.chunks(self.lanes_in_piece(size)).map(|lanes| self.vector_of_constants(size, lanes)).collect();
        self.set_pieces(inst, pieces);
        true
    }

    /// A uniform lane number, modulo the lanes.
    fn lane_number(&mut self, index: Value) -> VReg {
        let index = self.gpr(index);
        let most = Arg::Imm(OpKind::Immediate8to32, self.lanes as i64 - 1);
        self.gpr_over(Code::And_rm32_imm8, Size::G32, index, most)
    }

    fn extract(&mut self, ty: Ty, v: Value, index: Value) -> VReg {
        let size = ty.size();
        if ty == Ty::Bool {
            let mask = self.mask(v);
            let (bits, lane) = (self.bits_of_mask(mask), self.lane_number(index));
            let word = (RegClass::Int, Size::G64);
            let bit =
                self.def(Code::VEX_Shrx_r64_rm64_r64, word, &[Arg::Use(bits, Size::G64), Arg::Use(lane, Size::G64)]);
            return self.gpr_over(Code::And_rm32_imm8, Size::G32, bit, Arg::Imm(OpKind::Immediate8to32, 1));
        }
        match self.values.constant(index).map(|at| at as usize % self.lanes) {
            Some(0) if class_of(ty) == RegClass::Float => return self.piece(v, size, 0),
            Some(lane) if class_of(ty) == RegClass::Int && lane < 16 / size => return self.low_element(v, size, lane),
            Some(lane) if size >= 4 => return self.rotated(ty, v, lane),
            None if L::HAS_MASKS && size >= 4 && self.n_pieces(size) == 1 && self.fills_vector(size) => {
                return self.moved_first(ty, v, index);
            }
            _ => {}
        }
        self.code.needs_scratch(self.lanes * size + L::VECTOR_BYTES);
        self.store_whole(v, Mem::at(Base::Scratch, 0));
        self.element_in_memory(ty, Mem::at(Base::Scratch, 0), index)
    }

    /// An element of 4 or 8 bytes, moved to the first place of its vector. Of a vector that has just been stored, an element is long in
    /// coming: of 512 bits some twenty cycles, on Intel's processors.
    fn moved_first(&mut self, ty: Ty, v: Value, index: Value) -> VReg {
        let (x, lane) = (self.piece(v, ty.size(), 0), self.gpr(index));
        let numbers = self.vector(Code::EVEX_Vmovd_xmm_rm32, Size::X, &[Arg::Use(lane, Size::G32)]);
        let moved = self.permuted(x, numbers, ty.size());
        self.first_element(ty, moved)
    }

    /// The element of a lane, of which the first lies at a place in memory.
    fn element_in_memory(&mut self, ty: Ty, first: Mem, index: Value) -> VReg {
        let size = ty.size();
        let from = match self.values.constant(index) {
            Some(at) => first.plus((at as usize % self.lanes * size) as i32),
            None => {
                let lane = self.lane_number(index);
                Mem { index: Some(lane), scale: size as u8, ..first }
            }
        };
        self.load_scalar(ty, from)
    }

    /// An element of 4 or 8 bytes, by way of the vector in which it is the first.
    fn rotated(&mut self, ty: Ty, v: Value, lane: usize) -> VReg {
        let (size, n, form) = (ty.size(), self.lanes_in_piece(ty.size()), self.form(ty.size()));
        let piece = self.piece(v, size, lane / n);
        if !L::HAS_MASKS {
            let first = self.part(piece, form, lane % n * size, size);
            return self.first_element(ty, first);
        }
        let x = Arg::Use(piece, form);
        let code = match size {
            4 => Code::EVEX_Valignd_xmm_k1z_xmm_xmmm128b32_imm8,
            _ => Code::EVEX_Valignq_xmm_k1z_xmm_xmmm128b64_imm8,
        };
        let first = match lane % n {
            0 => piece,
            at => self.vector(sized(code, form), form, &[x, x, imm8(at as u8)]),
        };
        self.first_element(ty, first)
    }

    /// The first element of a vector. Above an integer of fewer than 4 bytes there may be anything.
    pub(super) fn first_element(&mut self, ty: Ty, x: VReg) -> VReg {
        match (class_of(ty), ty.size()) {
            (RegClass::Float, _) => x,
            (_, 1..=4) => self.def(Code::EVEX_Vmovd_rm32_xmm, (RegClass::Int, Size::G32), &[Arg::Use(x, Size::X)]),
            _ => self.def(Code::EVEX_Vmovq_rm64_xmm, (RegClass::Int, Size::G64), &[Arg::Use(x, Size::X)]),
        }
    }

    /// An integer of the first 16 bytes.
    fn low_element(&mut self, v: Value, size: usize, lane: usize) -> VReg {
        let x = Arg::Use(self.piece(v, size, 0), Size::X);
        let (code, form) = match (size, lane) {
            (4, 0) => (Code::EVEX_Vmovd_rm32_xmm, Size::G32),
            (8, 0) => (Code::EVEX_Vmovq_rm64_xmm, Size::G64),
            (1, _) => (Code::EVEX_Vpextrb_r32m8_xmm_imm8, Size::G32),
            (2, _) => (Code::EVEX_Vpextrw_r32_xmm_imm8, Size::G32),
            (4, _) => (Code::EVEX_Vpextrd_rm32_xmm_imm8, Size::G32),
            _ => (Code::EVEX_Vpextrq_rm64_xmm_imm8, Size::G64),
        };
        let args = [x, imm8(lane as u8)];
        let n = if lane == 0 && size >= 4 { 1 } else { 2 };
        self.def(code, (RegClass::Int, form), &args[..n])
    }

    fn insert(&mut self, inst: &Inst, ty: Ty) -> bool {
        if ty == Ty::Bool {
            self.insert_bit(inst);
            return true;
        }
        let pieces = self.inserted(inst, ty);
        self.set_pieces(inst, pieces);
        true
    }

    /// An element put into a mask.
    fn insert_bit(&mut self, inst: &Inst) {
        let mask = self.mask(inst.args[0]);
        let (bits, lane, one) = (self.bits_of_mask(mask), self.lane_number(inst.args[1]), self.imm(1));
        let new = self.gpr(inst.args[2]);
        let [hole, new] = [one, new].map(|x| {
            let args = [Arg::Use(x, Size::G64), Arg::Use(lane, Size::G64)];
            self.def(Code::VEX_Shlx_r64_rm64_r64, (RegClass::Int, Size::G64), &args)
        });
        let args = [Arg::Use(hole, Size::G64), Arg::Use(bits, Size::G64)];
        let rest = self.def(Code::VEX_Andn_r64_r64_rm64, (RegClass::Int, Size::G64), &args);
        let bits = self.gpr_binary(Code::Or_rm64_r64, Size::G64, rest, new);
        let mask = self.mask_of_bits(bits);
        self.set(inst, mask);
    }

    /// An element put into vectors.
    pub(super) fn inserted(&mut self, inst: &Inst, ty: Ty) -> Vec<VReg> {
        let size = ty.size();
        let lane = self.lane_number(inst.args[1]);
        let one = self.imm(1);
        let word = (RegClass::Int, Size::G64);
        let bit = self.def(Code::VEX_Shlx_r64_rm64_r64, word, &[Arg::Use(one, Size::G64), Arg::Use(lane, Size::G64)]);
        let chosen = self.mask_of_bits(bit);
        let new = match self.values.constant(inst.args[2]) {
            Some(bits) => self.constant_vector(bits, size),
            None => {
                let x = self.scalar(inst.args[2]);
                self.broadcast(x, ty)
            }
        };
        let form = self.form(size);
        let pieces = (0..self.n_pieces(size)).map(|i| {
            let (x, part) = (self.piece(inst.args[0], size, i), self.mask_part(chosen, size, i));
            self.blend(ty, form, part, new, x)
        });
        pieces.collect()
    }

    /// A reduction by halving: lane *i* takes in lane *i* + *h*.
    pub(super) fn reduce(&mut self, inst: &Inst, op: Op, ty: Ty) -> bool {
        let size = ty.size();
        let Some(step) = step_of(op).filter(|_| self.has_rule(Rules::Lanes, op)) else { return false };
        if matches!(ty, Ty::Bool | Ty::F16) {
            return false;
        }
        let mut pieces: Vec<VReg> = (0..self.n_pieces(size)).map(|i| self.piece(inst.args[0], size, i)).collect();
        let mut bytes = self.lanes * size;
        while bytes > size {
            bytes /= 2;
            if bytes >= L::VECTOR_BYTES {
                let upper = pieces.split_off(pieces.len() / 2);
                for (a, b) in pieces.iter_mut().zip(upper) {
                    let Some(both) = self.combine_vectors(step, ty, L::WHOLE, *a, b) else { return false };
                    *a = both;
                }
                continue;
            }
            let (x, form) = (pieces[0], form_of(bytes));
            let upper = self.upper_half(x, bytes);
            let Some(both) = self.combine_vectors(step, ty, form, x, upper) else { return false };
            pieces[0] = both;
        }
        let made = self.first_element(ty, pieces[0]);
        self.set(inst, made);
        true
    }

    fn combine_vectors(&mut self, op: Op, ty: Ty, form: Size, a: VReg, b: VReg) -> Option<VReg> {
        let args = [Arg::Use(a, form), Arg::Use(b, form)];
        if ty.is_float() { self.float_vector(op, ty, form, &args) } else { self.int_vector(op, ty, form, &args) }
    }

    /// What lies from a byte on, at the bottom; there are as many bytes after it.
    fn upper_half(&mut self, x: VReg, at: usize) -> VReg {
        let to = self.code.vector();
        let (code, to_form, form, imm) = match at {
            32 => (Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8, Size::Y, Size::Z, 1),
            16 => (Code::EVEX_Vextracti32x4_xmmm128_k1z_ymm_imm8, Size::X, Size::Y, 1),
            _ => (sized(Code::EVEX_Vpsrldq_xmm_xmmm128_imm8, Size::X), Size::X, Size::X, at as u8),
        };
        self.plain(code, &[Arg::Def(to, to_form), Arg::Use(x, form), imm8(imm)]);
        to
    }
}
