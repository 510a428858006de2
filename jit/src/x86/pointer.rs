//! Pointers plus offsets, within their regions; see `vm::sem::padd`. What leaves the range of offsets becomes the poisoned offset,
//! which no offset leaves again.

use super::inst::{Arg, Cond, Size};
use super::level::Level;
use super::select::{Select, imm8};
use super::values::sized;
use crate::ir::{Inst, Kind, Value};
use crate::lowering::Comparison;
use iced_x86::{Code, OpKind};
use regalloc2::VReg;
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;

/// Bits of a word above the offset.
const ABOVE: u8 = 64 - OFFSET_BITS as u8;

/// The offset of a pointer that points nowhere.
const POISON: i64 = -1 << (OFFSET_BITS - 1);

impl<L: Level> Select<'_, L> {
    /// A uniform pointer plus an offset.
    pub(super) fn pointer_sum(&mut self, inst: &Inst) {
        let (p, offset) = (self.gpr(inst.args[0]), self.gpr(inst.args[1]));
        let above = Arg::Imm(OpKind::Immediate8, ABOVE as i64);
        let by_region = Arg::Imm(OpKind::Immediate8, OFFSET_BITS as i64);
        let over = |s: &mut Self, code, x, by| s.gpr_over(code, Size::G64, x, by);
        // Above all other bits, sums of offsets overflow where they do not fit.
        let old = over(self, Code::Shl_rm64_imm8, p, above);
        let added = over(self, Code::Shl_rm64_imm8, offset, above);
        let poison = self.imm((POISON as u64) << ABOVE);
        let sum = self.gpr_binary(Code::Add_rm64_r64, Size::G64, old, added);
        let mut new = self.choose(Cond::OVERFLOW, poison, sum);
        if !self.fits_offset(inst.args[1]) {
            let kept = over(self, Code::Sar_rm64_imm8, added, above);
            self.compare(Size::G64, kept, offset);
            new = self.choose(Cond::NOT_EQUAL, poison, new);
        }
        self.compare(Size::G64, old, poison);
        let new = self.choose(Cond::EQUAL, poison, new);
        let new = over(self, Code::Shr_rm64_imm8, new, above);
        let region = over(self, Code::Shr_rm64_imm8, p, by_region);
        let region = over(self, Code::Shl_rm64_imm8, region, by_region);
        let x = self.gpr_binary(Code::Or_rm64_r64, Size::G64, region, new);
        self.set(inst, x);
    }

    /// Returns whether an `i64` is sure to be in the range of offsets: an integer of at most 32 bits, or a small multiple of one.
    fn fits_offset(&self, v: Value) -> bool {
        let Some(inst) = self.values.inst(v) else { return false };
        let is_multiple_of = |bits: u64| {
            let widened = self.values.inst(inst.args[0]);
            let is_short = |ty: Ty| ty.is_int() && ty.size() <= 4;
            let is_short = widened
                .is_some_and(|w| matches!(w.kind, Kind::Op { op: Op::Convert, ty: Ty::I64, from } if is_short(from)));
            is_short && bits <= u64::from(OFFSET_BITS) - 1 - 32
        };
        let by = |at: usize| inst.args.get(at).and_then(|&by| self.values.constant(by));
        match inst.kind {
            Kind::Const(bits) => (bits as i64) << ABOVE >> ABOVE == bits as i64,
            Kind::Op { op: Op::Convert, ty: Ty::I64, from } => from.is_int() && from.size() <= 4,
            Kind::Op { op: Op::Shl, ty: Ty::I64, .. } => by(1).is_some_and(is_multiple_of),
            Kind::Op { op: Op::Mul, ty: Ty::I64, .. } => {
                by(1).filter(|&by| by != 0).is_some_and(|by| is_multiple_of(u64::from(by.ilog2()) + 1))
            }
            _ => false,
        }
    }

    /// Pointers plus offsets, lane by lane.
    pub(super) fn pointer_sums(&mut self, args: &[Value]) -> Vec<VReg> {
        (0..self.n_pieces(8)).map(|i| self.pointer_sum_piece(args, i)).collect()
    }

    fn pointer_sum_piece(&mut self, args: &[Value], i: usize) -> VReg {
        let form = self.form(8);
        let [p, offset] = [0, 1].map(|at| self.piece(args[at], 8, i));
        let shift = |s: &mut Self, code, x, by| s.vector_imm(sized(code, form), form, x, by);
        let cut = |s: &mut Self, x| {
            let x = shift(s, Code::EVEX_Vpsllq_xmm_k1z_xmmm128b64_imm8, x, ABOVE);
            shift(s, Code::EVEX_Vpsraq_xmm_k1z_xmmm128b64_imm8, x, ABOVE)
        };
        let old = cut(self, p);
        let add = sized(Code::EVEX_Vpaddq_xmm_k1z_xmm_xmmm128b64, form);
        // A sum that overflows 64 bits does not fit either: one operand has 40 bits.
        let sum = self.vector(add, form, &[Arg::Use(old, form), Arg::Use(offset, form)]);
        let kept = cut(self, sum);
        let poison = self.constant_vector(POISON as u64, 8);
        let [kept, whole] = [kept, sum].map(|x| Arg::Use(x, form));
        let left = self.compare_piece(Comparison::Ne, Ty::I64, kept, whole);
        let was = self.compare_piece(Comparison::Eq, Ty::I64, Arg::Use(old, form), Arg::Use(poison, form));
        let new = self.blend(Ty::I64, form, left, poison, sum);
        let new = self.blend(Ty::I64, form, was, poison, new);
        // The region's bits from the pointer, the others from the sum: the third operand of the table chooses.
        let offset_bits = self.constant_vector((1 << OFFSET_BITS) - 1, 8);
        let args = [Arg::Use(new, form), Arg::Use(offset_bits, form), imm8(0xd8)];
        self.over(sized(Code::EVEX_Vpternlogq_xmm_k1z_xmm_xmmm128b64_imm8, form), form, p, &args)
    }
}
