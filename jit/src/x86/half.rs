//! `float16`: computed as `float`, which rounds twice without harm for what one operation gives (see `vm::sem`), and rounded back.

use super::inst::{Arg, Cond, Size};
use super::level::Level;
use super::select::{Select, imm8};
use super::values::{form_of, sized};
use crate::ir::{Inst, Value};
use crate::lowering::Comparison;
use iced_x86::Code;
use regalloc2::{RegClass, VReg};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Returns whether one operation on `float16` is one on `float`, rounded.
fn is_by_float(op: Op) -> bool {
    use Op::*;
    matches!(op, Add | Sub | Mul | FDiv | Min | Max | Sqrt | Floor | Ceil | Trunc | RoundEven)
}

impl<L: Level> Select<'_, L> {
    /// The vectors of an operation on `float16`, if it has code.
    pub(super) fn half_pieces(&mut self, op: Op, args: &[Value]) -> Option<Vec<VReg>> {
        if !is_by_float(op) {
            return None;
        }
        let n = self.lanes_in_piece(4);
        let form = form_of(n * 4);
        let mut chunks = Vec::new();
        for first in (0..self.lanes).step_by(n) {
            let operands: Vec<Arg> = args.iter().map(|&v| Arg::Use(self.float_chunk(v, first, n), form)).collect();
            let x = self.float_vector(op, Ty::F32, form, &operands)?;
            chunks.push(self.rounded_to_half(x, n));
        }
        Some(self.joined(chunks, n * 2))
    }

    /// A value in another type, of which one is `float16`, if there is code for that.
    pub(super) fn convert_half_pieces(&mut self, v: Value, from: Ty, to: Ty) -> Option<Vec<VReg>> {
        if from == Ty::F16 {
            let n = self.lanes_in_piece(to.size().max(4));
            let mut chunks = Vec::new();
            for first in (0..self.lanes).step_by(n) {
                let x = self.float_chunk(v, first, n);
                chunks.push(self.convert_chunk(x, n, Ty::F32, to)?);
            }
            return Some(self.joined(chunks, n * to.size()));
        }
        let n = self.lanes_in_piece(from.size().max(4));
        let mut chunks = Vec::new();
        for first in (0..self.lanes).step_by(n) {
            let x = self.chunk(v, from.size(), first, n);
            chunks.push(self.half_chunk(x, n, from)?);
        }
        Some(self.joined(chunks, n * 2))
    }

    /// `n` lanes at the bottom of a vector as `float16`, if there is code for that. A `double` would be rounded twice.
    fn half_chunk(&mut self, x: VReg, n: usize, from: Ty) -> Option<VReg> {
        if from == Ty::F64 {
            return None;
        }
        // Integers that no `float` has are beyond what `float16` has anyway.
        let x = self.convert_chunk(x, n, from, Ty::F32)?;
        Some(self.rounded_to_half(x, n))
    }

    /// `n` lanes of a `float16` from `first` on, as `float`.
    pub(super) fn float_chunk(&mut self, v: Value, first: usize, n: usize) -> VReg {
        let x = self.chunk(v, 2, first, n);
        self.float_of_half(x, n)
    }

    fn float_of_half(&mut self, x: VReg, n: usize) -> VReg {
        self.between(Code::EVEX_Vcvtph2ps_xmm_k1z_xmmm64, x, n * 2, n * 4, n * 4)
    }

    fn rounded_to_half(&mut self, x: VReg, n: usize) -> VReg {
        let form = form_of(n * 4);
        let code = sized(Code::EVEX_Vcvtps2ph_xmmm64_k1z_xmm_imm8, form);
        // To nearest, ties to even.
        self.vector(code, if form == Size::Z { Size::Y } else { Size::X }, &[Arg::Use(x, form), imm8(0)])
    }

    /// The mask of a comparison of `float16`.
    pub(super) fn compare_halves(&mut self, op: Comparison, args: &[Value]) -> VReg {
        let n = self.lanes_in_piece(4);
        let form = form_of(n * 4);
        let parts = (0..self.lanes).step_by(n).map(|first| {
            let [a, b] = [0, 1].map(|i| Arg::Use(self.float_chunk(args[i], first, n), form));
            self.compare_piece(op, Ty::F32, a, b)
        });
        let parts = parts.collect();
        self.join_masks(parts, 4)
    }

    /// The mask of the lanes of a `float16` that are not 0.
    pub(super) fn half_is_not_zero(&mut self, v: Value) -> VReg {
        let n = self.lanes_in_piece(4);
        let form = form_of(n * 4);
        let parts = (0..self.lanes).step_by(n).map(|first| {
            let x = Arg::Use(self.float_chunk(v, first, n), form);
            let zero = self.zero();
            self.compare_piece(Comparison::Ne, Ty::F32, x, Arg::Use(zero, form))
        });
        let parts = parts.collect();
        self.join_masks(parts, 4)
    }

    /// The bits of a vector of `float16`, whose NaNs are the canonical one.
    pub(super) fn canonical_halves(&mut self, form: Size, x: VReg) -> VReg {
        let magnitude = self.constant_arg(0x7fff_7fff, 4);
        let and = sized(Code::EVEX_Vpandd_xmm_k1z_xmm_xmmm128b32, form);
        let magnitude = self.vector(and, form, &[Arg::Use(x, form), magnitude]);
        let infinity = self.constant_vector(0x7c00, 2);
        // Without the sign both are positive, and AVX2 compares with signs only.
        let greater = imm8(6);
        let args = [Arg::Use(magnitude, form), Arg::Use(infinity, form), greater];
        let code = sized(Code::EVEX_Vpcmpw_kr_k1_xmm_xmmm128_imm8, form);
        let is_nan = self.def(code, Self::MASKS, &args);
        let nan = self.constant_vector(0x7e00, 2);
        self.blend(Ty::U16, form, is_nan, nan, x)
    }

    /// A uniform `float16` as `float`.
    pub(super) fn float_of_half_scalar(&mut self, v: Value) -> VReg {
        let bits = self.scalar(v);
        let x = self.vector(Code::EVEX_Vmovd_xmm_rm32, Size::X, &[Arg::Use(bits, Size::G32)]);
        self.float_of_half(x, 4)
    }

    /// A uniform `float` as `float16`.
    pub(super) fn half_of_float_scalar(&mut self, x: VReg) -> VReg {
        let x = self.rounded_to_half(x, 4);
        self.def(Code::EVEX_Vmovd_rm32_xmm, (RegClass::Int, Size::G32), &[Arg::Use(x, Size::X)])
    }

    /// The bits of a uniform `float16`, those of the canonical NaN if it is one.
    pub(super) fn canonical_half_scalar(&mut self, v: Value) -> VReg {
        let x = self.scalar(v);
        let [magnitude, infinity, nan] = [0x7fff, 0x7c00, 0x7e00].map(|bits| self.imm(bits));
        let magnitude = self.gpr_binary(Code::And_rm32_r32, Size::G32, magnitude, x);
        self.compare(Size::G32, magnitude, infinity);
        self.choose(Cond::ABOVE, nan, x)
    }

    /// An operation on uniform `float16`, if it has code.
    pub(super) fn half_scalar(&mut self, inst: &Inst, op: Op) -> Option<VReg> {
        if !is_by_float(op) && !matches!(op, Op::Neg | Op::Abs) {
            return None;
        }
        let args: Vec<Arg> = inst.args.iter().map(|&v| Arg::Use(self.float_of_half_scalar(v), Size::X)).collect();
        let x = self.float_vector(op, Ty::F32, Size::X, &args)?;
        Some(self.half_of_float_scalar(x))
    }
}
