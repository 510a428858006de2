//! Division of integers, and the high halves of products. No processor divides vectors of integers, but all divide vectors of
//! floats. A divisor of 0 gives 0 and never traps.

use super::inst::{Arg, Base, Cond, Mem, Size};
use super::level::Level;
use super::memory::masked_move;
use super::scalar::{int_form, sign_extended};
use super::select::Select;
use super::values::{form_of, sized};
use crate::ir::Value;
use crate::lowering::Division;
use iced_x86::{Code, OpKind, Register};
use regalloc2::VReg;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

impl<L: Level> Select<'_, L> {
    /// Quotients or remainders of 64 bits, lane by lane: no float holds such operands.
    fn divide_lanes(&mut self, op: Division, ty: Ty, args: &[Value]) -> Vec<VReg> {
        let bytes = (self.lanes * 8).max(L::VECTOR_BYTES);
        self.code.needs_scratch(2 * bytes);
        let [a, b] = [0, 1].map(|i| Mem::at(Base::Scratch, (i * bytes) as i32));
        for (i, to) in [a, b].into_iter().enumerate() {
            for piece in 0..self.n_pieces(8) {
                let x = self.piece(args[i], 8, piece);
                self.store_vector(self.form(8), to.plus((L::VECTOR_BYTES * piece) as i32), x);
            }
        }
        let known = self.values.constant_lanes(args[1]).map(|bits| sign_extended(ty, bits));
        for lane in 0..self.lanes as i32 {
            let [x, y] = [a, b].map(|from| self.load_word(from.plus(8 * lane)));
            let result = self.divide_registers(op, ty, [x, y], known);
            self.store_word(a.plus(8 * lane), result);
        }
        (0..self.n_pieces(8)).map(|i| self.load_vector(self.form(8), a.plus((L::VECTOR_BYTES * i) as i32))).collect()
    }

    /// Neither 0 nor, of the least integer, −1 may be divided by: the result is 0 or the negated dividend, by a division by 1.
    pub(super) fn divide_scalars(&mut self, op: Division, ty: Ty, args: &[Value]) -> VReg {
        let (a, b) = (self.extended(args[0], ty), self.extended(args[1], ty));
        let known = self.values.constant(args[1]).map(|bits| sign_extended(ty, bits));
        self.divide_registers(op, ty, [a, b], known)
    }

    /// The same of extended operands, the divisor of which may be known.
    fn divide_registers(&mut self, op: Division, ty: Ty, [a, b]: [VReg; 2], known: Option<i64>) -> VReg {
        let form = int_form(ty);
        let is_wide = form == Size::G64;
        let signed = ty.is_signed();
        let special = [0, -1].map(|n| (n == 0 || signed) && known.is_none_or(|known| known == n));
        let one = self.imm(1);
        let mut divisor = b;
        for (n, _) in [0, -1].into_iter().zip(special).filter(|(_, is)| *is) {
            self.compare_with(form, b, n);
            divisor = self.choose(Cond::EQUAL, one, divisor);
        }
        let high = if signed {
            let code = if is_wide { Code::Sar_rm64_imm8 } else { Code::Sar_rm32_imm8 };
            self.gpr_over(code, form, a, Arg::Imm(OpKind::Immediate8, 8 * if is_wide { 8 } else { 4 } - 1))
        } else {
            self.imm(0)
        };
        let code = match (signed, is_wide) {
            (true, true) => Code::Idiv_rm64,
            (true, false) => Code::Idiv_rm32,
            (false, true) => Code::Div_rm64,
            (false, false) => Code::Div_rm32,
        };
        let (quotient, remainder) = (self.code.gpr(), self.code.gpr());
        self.divide_machine(code, form, [a, high, divisor], quotient, remainder);
        let mut result = if op == Division::IRem { remainder } else { quotient };
        if special[1] && op == Division::IDiv {
            let negative = self.negated(form, a);
            self.compare_with(form, b, -1);
            result = self.choose(Cond::EQUAL, negative, result);
        }
        if special[0] {
            let zero = self.imm(0);
            self.compare_with(form, b, 0);
            result = self.choose(Cond::EQUAL, zero, result);
        }
        result
    }

    fn compare_with(&mut self, form: Size, x: VReg, n: i64) {
        let (code, kind) = match form {
            Size::G64 => (Code::Cmp_rm64_imm8, OpKind::Immediate8to64),
            _ => (Code::Cmp_rm32_imm8, OpKind::Immediate8to32),
        };
        self.plain(code, &[Arg::Use(x, form), Arg::Imm(kind, n)]);
    }

    /// A division of `[low, high, divisor]`.
    pub(super) fn divide_machine(&mut self, code: Code, form: Size, of: [VReg; 3], quotient: VReg, remainder: VReg) {
        let both = |use_, def, register| Arg::Both { use_, def, register };
        let (low, high) = (both(of[0], quotient, Register::RAX), both(of[1], remainder, Register::RDX));
        self.plain(code, &[Arg::Use(of[2], form), low, high]);
    }

    pub(super) fn high_product_scalar(&mut self, ty: Ty, args: &[Value]) -> VReg {
        if ty.size() < 8 {
            // The product fits a register.
            let (a, b) = (self.wide(args[0], ty), self.wide(args[1], ty));
            let product = self.gpr_binary(Code::Imul_r64_rm64, Size::G64, a, b);
            let bits = Arg::Imm(OpKind::Immediate8, 8 * ty.size() as i64);
            return self.gpr_over(Code::Shr_rm64_imm8, Size::G64, product, bits);
        }
        let (a, b) = (self.gpr(args[0]), self.gpr(args[1]));
        let (low, high) = (self.code.gpr(), self.code.gpr());
        let unused = self.imm(0);
        let code = if ty.is_signed() { Code::Imul_rm64 } else { Code::Mul_rm64 };
        self.divide_machine(code, Size::G64, [a, unused, b], low, high);
        high
    }

    /// Quotients or remainders, by way of floats that hold the operands exactly: a quotient is further from the next integer than
    /// its rounding can take it.
    pub(super) fn divide_pieces(&mut self, op: Division, ty: Ty, args: &[Value]) -> Option<Vec<VReg>> {
        let size = ty.size();
        if size == 8 {
            return Some(self.divide_lanes(op, ty, args));
        }
        let n = self.lanes_in_piece(if size == 4 { 8 } else { 4 });
        let (exact, whole) = match ty {
            Ty::U32 => (Ty::F64, Ty::U32),
            Ty::I32 => (Ty::F64, Ty::I32),
            _ => (Ty::F32, Ty::I32),
        };
        let mut chunks = Vec::new();
        for first in (0..self.lanes).step_by(n) {
            let [a, b] = [0, 1].map(|i| self.chunk(args[i], size, first, n));
            let (x, y) = (self.convert_chunk(a, n, ty, exact)?, self.convert_chunk(b, n, ty, exact)?);
            let form = form_of(n * exact.size());
            let q = self.float_vector(Op::FDiv, exact, form, &[Arg::Use(x, form), Arg::Use(y, form)])?;
            // In range, but for the least by −1, which becomes the least.
            let code = match (exact, whole) {
                (Ty::F64, Ty::U32) => Code::EVEX_Vcvttpd2udq_xmm_k1z_xmmm128b64,
                (Ty::F64, _) => Code::EVEX_Vcvttpd2dq_xmm_k1z_xmmm128b64,
                _ => Code::EVEX_Vcvttps2dq_xmm_k1z_xmmm128b32,
            };
            let q = self.between(code, q, n * exact.size(), n * 4, n * exact.size());
            chunks.push(self.resized(q, n, Ty::I32, size));
        }
        let quotients = self.joined(chunks, n * size);
        let form = self.form(size);
        // By 0 both are 0.
        let sound = match self.values.constant_lanes(args[1]) {
            Some(bits) if bits != 0 => None,
            _ => Some(self.is_not_zero(args[1], ty)),
        };
        let keep = |s: &mut Self, x, i| match sound {
            None => x,
            Some(mask) => {
                let part = s.mask_part(mask, size, i);
                s.vector_masked(sized(masked_move(size), form), form, &[Arg::Use(x, form)], part)
            }
        };
        let mut results = Vec::new();
        for (i, q) in quotients.into_iter().enumerate() {
            if op == Division::IDiv {
                results.push(keep(self, q, i));
                continue;
            }
            let (a, b) = (self.piece(args[0], size, i), self.piece(args[1], size, i));
            let product = self.int_vector(Op::Mul, ty, form, &[Arg::Use(q, form), Arg::Use(b, form)])?;
            let rest = self.int_vector(Op::Sub, ty, form, &[Arg::Use(a, form), Arg::Use(product, form)])?;
            results.push(keep(self, rest, i));
        }
        Some(results)
    }
}
