//! What bounds are made of: the indices that lie in a memory region.

use super::translate::Translator;
use crate::ir::{SPARE_INDICES, Value};
use crate::lowering::ends;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, types};
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;

impl Translator<'_> {
    /// The signed offset of a pointer, displaced.
    pub(super) fn displaced_offset(&mut self, pointer: Value, disp: i64) -> clif::Value {
        let pointer = self.scalar(pointer);
        let above = 64 - OFFSET_BITS as i64;
        let offset = self.b.ins().ishl_imm_u(pointer, above);
        let offset = self.b.ins().sshr_imm_u(offset, above);
        if disp == 0 { offset } else { self.b.ins().iadd_imm_s(offset, disp) }
    }

    /// See [`Kind::IndexLow`](crate::ir::Kind::IndexLow): in the type's bits.
    pub(super) fn index_low(&mut self, start: clif::Value, scale: u32, ty: Ty) -> clif::Value {
        let low = self.least_index(start, scale, ty);
        self.in_bits_of(low, ty)
    }

    /// The quotient rounded up, with its sign changed, within the type, in 64 bits.
    fn least_index(&mut self, start: clif::Value, scale: u32, ty: Ty) -> clif::Value {
        let x = self.quotient(start, scale);
        let x = self.b.ins().ineg(x);
        let (least, greatest) = ends(ty);
        let x = if least == i64::MIN { x } else { self.larger(IntCC::SignedGreaterThan, x, least) };
        if greatest == i64::MAX { x } else { self.larger(IntCC::SignedLessThan, x, greatest) }
    }

    /// See [`Kind::IndexSpan`](crate::ir::Kind::IndexSpan). A least index that was cut to the type's greatest is above all that count.
    pub(super) fn index_span(
        &mut self,
        [pointer, len]: [Value; 2],
        scale: u32,
        disp: i64,
        need: u32,
        ty: Ty,
    ) -> clif::Value {
        if (scale, ty) == (1, Ty::I64) {
            // The least one is where the region begins, and no end of the type is near.
            let len = self.scalar(len);
            let n = self.b.ins().iadd_imm_s(len, 1 - need as i64);
            return self.larger(IntCC::SignedGreaterThan, n, 0);
        }
        let start = self.displaced_offset(pointer, disp);
        let low = self.least_index(start, scale, ty);
        let len = self.scalar(len);
        let last = self.b.ins().iadd_imm_s(len, -(need as i64));
        let last = self.b.ins().isub(last, start);
        let last = self.quotient(last, scale);
        let last = self.larger(IntCC::SignedLessThan, last, ends(ty).1 - SPARE_INDICES);
        let n = self.b.ins().isub(last, low);
        let n = self.b.ins().iadd_imm_s(n, 1);
        let n = self.larger(IntCC::SignedGreaterThan, n, 0);
        self.in_bits_of(n, ty)
    }

    /// The quotient by a constant, rounded down.
    fn quotient(&mut self, x: clif::Value, scale: u32) -> clif::Value {
        if scale.is_power_of_two() {
            let by = scale.trailing_zeros();
            return if by == 0 { x } else { self.b.ins().sshr_imm_u(x, by as i64) };
        }
        let by = self.b.ins().iconst(types::I64, scale as i64);
        let quotient = self.b.ins().sdiv(x, by);
        // The machine rounds towards 0: where something negative is left, one too many.
        let product = self.b.ins().imul(quotient, by);
        let left = self.b.ins().isub(x, product);
        let less = self.b.ins().sshr_imm_u(left, 63);
        self.b.ins().iadd(quotient, less)
    }

    /// Of an integer of 64 bits and a number the one for which a condition holds.
    fn larger(&mut self, condition: IntCC, x: clif::Value, n: i64) -> clif::Value {
        let n = self.b.ins().iconst(types::I64, n);
        let holds = self.b.ins().icmp(condition, x, n);
        self.b.ins().select(holds, x, n)
    }

    fn in_bits_of(&mut self, x: clif::Value, ty: Ty) -> clif::Value {
        if ty.size() == 4 { self.b.ins().ireduce(types::I32, x) } else { x }
    }
}
