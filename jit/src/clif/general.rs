//! Instructions without code of their own: operands go to the stack, `runtime` executes their meaning, the result comes
//! back.

use super::demand::lane_type;
use super::plan::Grain;
use super::translate::Translator;
use crate::exec_ir::meaning::Meaning;
use crate::ir::Inst;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::types::Ty;
use std::sync::Arc;

/// An instruction as `runtime` executes it. Native code knows its address.
pub(super) struct General {
    pub meaning: Meaning,
    pub operands: Vec<Operand>,
    /// Offset of the result in the scratch memory.
    pub result_at: usize,
    /// Are operands and result uniform?
    pub is_uniform: bool,
}

/// An operand in the scratch memory.
pub(super) struct Operand {
    /// Byte offset.
    pub at: usize,
    /// Number of elements.
    pub lanes: usize,
}

/// Bytes that a varying value of elements of this size takes in memory: whole vectors.
fn bytes(lanes: usize, size: usize) -> usize {
    (lanes * size).next_multiple_of(16)
}

impl Translator<'_> {
    /// Translates an instruction to a call. Gives the value that is 0 if it leaves by its exit; the pieces of its result are
    /// recorded.
    pub(super) fn general(&mut self, inst: &Inst) -> clif::Value {
        let meaning = Meaning::of(self.region, inst).expect("checked before translation");
        let mut at = 0;
        let mut operands = Vec::with_capacity(inst.args.len());
        for ty in &meaning.args {
            let lanes = if ty.is_varying() { self.lanes } else { 1 };
            operands.push(Operand { at, lanes });
            at += bytes(lanes, ty.ty.size());
        }
        let result_size = meaning.result.map_or(0, |ty| bytes(meaning.result_lanes(), ty.ty.size()));
        let scratch = self.scratch(at + result_size);
        // All operands are made before the first is stored: making one may need the scratch memory itself.
        let stored: Vec<_> = inst.args.iter().map(|&a| self.in_memory(a)).collect();
        let flags = MemFlagsData::trusted();
        for (pieces, operand) in stored.iter().zip(&operands) {
            for (i, &piece) in pieces.iter().enumerate() {
                self.stack_store(piece, scratch, operand.at + 16 * i);
            }
        }
        let is_uniform = meaning.args.iter().chain(&meaning.result).all(|ty| !ty.is_varying());
        let general = Arc::new(General { meaning, operands, result_at: at, is_uniform });
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
        let mask = self.mask(v, Grain::BYTE, i);
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
                self.record(self.plan.mask_slot(v, Grain::BYTE, i), mask);
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
