//! Instructions without code of their own: operands go to the stack, `runtime` executes their meaning, the result comes
//! back.

use super::demand::lane_type;
use super::plan::LaneWidth;
use super::translate::Translator;
use crate::ir::Inst;
use crate::lowering::General;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::types::Ty;
use std::sync::Arc;

impl Translator<'_> {
    /// Translates an instruction to a call. Gives the value that is 0 if it leaves by its exit; the pieces of its result are
    /// recorded.
    pub(super) fn general(&mut self, inst: &Inst) -> clif::Value {
        let general = General::of(self.region, inst).expect("checked before translation");
        let scratch = self.scratch(general.bytes);
        let at = general.result_at;
        // All operands are made before the first is stored: making one may need the scratch memory itself.
        let stored: Vec<_> = inst.args.iter().map(|&a| self.in_memory(a)).collect();
        let flags = MemFlagsData::trusted();
        for (pieces, operand) in stored.iter().zip(&general.operands) {
            for (i, &piece) in pieces.iter().enumerate() {
                self.stack_store(piece, scratch, operand.at + 16 * i);
            }
        }
        let general = Arc::new(general);
        let what = Arc::as_ptr(&general) as i64;
        self.held.push(general);
        let what = self.b.ins().iconst(types::I64, what);
        let memory = self.b.ins().stack_addr(types::I64, scratch, 0);
        let args = [self.context, what, memory];
        let call = self.call(self.stubs.general, &args);
        if let Some(result) = inst.result {
            self.take_result(result, |t, ty, i| t.b.ins().load(ty, flags, memory, (at + 16 * i) as i32));
        }
        call
    }

    /// The pieces of a value as they lie in memory: a bool is a byte 0 or 1.
    pub(super) fn in_memory(&mut self, v: crate::ir::Value) -> Vec<clif::Value> {
        let ty = self.region.ty(v);
        if !ty.is_varying() {
            return vec![self.scalar(v)];
        }
        let n = self.plan.pieces(ty.ty.size());
        (0..n).map(|i| if ty.ty == Ty::Bool { self.bool_bytes(v, i) } else { self.piece(v, i) }).collect()
    }

    /// Piece `i` of a mask as bytes 0 or 1.
    pub(super) fn bool_bytes(&mut self, v: crate::ir::Value, i: usize) -> clif::Value {
        let mask = self.mask(v, LaneWidth::BYTE, i);
        self.zero_or_one(mask)
    }

    /// A piece of a mask, as bytes, as bytes 0 or 1.
    pub(super) fn zero_or_one(&mut self, mask: clif::Value) -> clif::Value {
        let ones = self.constant_vector(types::I8X16, 1);
        self.b.ins().band(mask, ones)
    }

    /// Records the pieces of a value as they lie in memory, each from `load`.
    pub(super) fn take_result(
        &mut self,
        v: crate::ir::Value,
        load: impl Fn(&mut Self, clif::Type, usize) -> clif::Value,
    ) {
        let ty = self.region.ty(v);
        if !ty.is_varying() {
            let x = load(self, super::demand::scalar_type(ty.ty), 0);
            self.record(self.plan.scalar_slot(v), x);
            return;
        }
        for i in 0..self.plan.pieces(ty.ty.size()) {
            if ty.ty == Ty::Bool {
                let bytes = load(self, types::I8X16, i);
                let mask = self.truth(bytes);
                self.record(self.plan.mask_slot(v, LaneWidth::BYTE, i), mask);
            } else {
                let x = load(self, lane_type(ty.ty), i);
                self.record(self.plan.piece_slot(v, i), x);
            }
        }
    }

    /// The mask of the bytes that are not 0.
    pub(super) fn truth(&mut self, bytes: clif::Value) -> clif::Value {
        let zero = self.constant_vector(types::I8X16, 0);
        self.b.ins().icmp(clif::condcodes::IntCC::NotEqual, bytes, zero)
    }
}
