//! Leaving the region: registers go to the frames, masks to the words.

use super::translate::Translator;
use crate::ir::{ExitId, Inst, Type, Value};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::interp::native::{Context, ENTRY_WORDS, FRAME_WORDS};
use spmdvm_vm::types::Ty;
use std::mem::offset_of;

impl Translator<'_> {
    /// Leaves by an exit if a value is 0, or if it is not, when it is `negated`.
    pub(super) fn leave_unless(&mut self, (holds, negated): (clif::Value, bool), exit: ExitId) {
        let (go_on, out) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(out);
        let (yes, no) = if negated { (out, go_on) } else { (go_on, out) };
        self.b.ins().brif(holds, yes, &[], no, &[]);
        self.b.switch_to_block(out);
        self.leave_cold(exit);
        self.b.switch_to_block(go_on);
    }

    /// Leaves by an exit, in code that the rest of the block does not go through.
    pub(super) fn leave_cold(&mut self, exit: ExitId) {
        self.trail = Some(Vec::new());
        self.leave(exit);
        for slot in self.trail.take().unwrap_or_default() {
            self.cache[slot] = None;
        }
    }

    /// Leaves by an exit.
    pub(super) fn leave(&mut self, exit: ExitId) {
        let region = self.region;
        let flags = MemFlagsData::trusted();
        self.store_ticks();
        let base = self.frame();
        let words = self.b.ins().load(types::I64, flags, self.context, offset_of!(Context, words) as i32);
        let mut at = 0;
        for frame in &region.exits[exit.index()].frames {
            for reg in &frame.regs {
                self.store_register(base, frame.at + reg.at, reg.ty, reg.value);
            }
            let bits = self.mask_bits(frame.mask);
            self.b.ins().store(flags, bits, words, at);
            let memory = match frame.memory {
                Some(v) => self.scalar(v),
                None => self.b.ins().iconst(types::I64, 0),
            };
            self.b.ins().store(flags, memory, words, at + 8);
            for (i, entry) in frame.entries.iter().enumerate() {
                let at = at + 8 * (FRAME_WORDS + ENTRY_WORDS * i) as i32;
                let (restore, other) = (self.mask_bits(entry.restore), self.mask_bits(entry.other));
                let visiting = match entry.visiting {
                    Some(lane) => {
                        let lane = self.scalar(lane);
                        self.b.ins().uextend(types::I64, lane)
                    }
                    None => self.b.ins().iconst(types::I64, 0),
                };
                for (part, x) in [restore, other, visiting].into_iter().enumerate() {
                    self.b.ins().store(flags, x, words, at + 8 * part as i32);
                }
            }
            at += 8 * (FRAME_WORDS + ENTRY_WORDS * frame.entries.len()) as i32;
        }
        let number = self.b.ins().iconst(types::I32, exit.0 as i64);
        self.b.ins().return_(&[number]);
    }

    /// Stores a value to a register at an offset from the entered frame. A uniform value in a varying register is broadcast.
    pub(super) fn store_register(&mut self, base: clif::Value, at: u32, ty: Type, value: Value) {
        let flags = MemFlagsData::trusted();
        let at = at as i32;
        if !ty.is_varying() {
            let x = self.scalar(value);
            self.b.ins().store(flags, x, base, at);
            return;
        }
        // Whole vectors: a register has room for 16 lanes at least.
        for i in 0..self.plan.pieces(ty.ty.size()) {
            let x = if ty.ty == Ty::Bool { self.bool_bytes(value, i) } else { self.piece(value, i) };
            self.b.ins().store(flags, x, base, at + 16 * i as i32);
        }
    }

    /// Has the interpreter's handler execute an instruction on its registers.
    pub(super) fn interpret(&mut self, inst: &Inst, site: u32, exit: ExitId) {
        let region = self.region;
        let site = &region.sites[site as usize];
        let Some((&mask, operands)) = inst.args.split_last() else { return };
        let flags = MemFlagsData::trusted();
        let base = self.b.ins().load(types::I64, flags, self.context, offset_of!(Context, base) as i32);
        for (&(at, ty), &v) in site.operands.iter().zip(operands) {
            self.store_register(base, site.at + at, ty, v);
        }
        let what = (site.function.0 as i64) << 32 | site.pc as i64;
        let what = self.b.ins().iconst(types::I64, what);
        let at = self.b.ins().iconst(types::I64, site.at as i64);
        let bits = self.mask_bits(mask);
        let args = [self.context, what, at, bits];
        let done = self.call(self.stubs.interpret, &args);
        self.leave_unless((done, false), exit);
        if let (Some(v), Some((at, _))) = (inst.result, site.result) {
            let base = self.b.ins().load(types::I64, flags, self.context, offset_of!(Context, base) as i32);
            let at = (site.at + at) as i32;
            self.take_result(v, |t, ty, i| t.b.ins().load(ty, flags, base, at + 16 * i as i32));
        }
    }
}
