//! Leaving the region: registers go to the frames, masks to the words.

use super::translate::Translator;
use crate::ir::{ExitId, RegState};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::interp::native::{Context, ENTRY_WORDS};
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
        let base = self.b.ins().load(types::I64, flags, self.context, offset_of!(Context, base) as i32);
        let words = self.b.ins().load(types::I64, flags, self.context, offset_of!(Context, words) as i32);
        let mut at = 0;
        for frame in &region.exits[exit.index()].frames {
            for reg in &frame.regs {
                self.store_register(base, frame.at, reg);
            }
            let bits = self.mask_bits(frame.mask);
            self.b.ins().store(flags, bits, words, at);
            for (i, entry) in frame.entries.iter().enumerate() {
                let at = at + 8 * (1 + ENTRY_WORDS * i) as i32;
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
            at += 8 * (1 + ENTRY_WORDS * frame.entries.len()) as i32;
        }
        let number = self.b.ins().iconst(types::I32, exit.0 as i64);
        self.b.ins().return_(&[number]);
    }

    fn store_register(&mut self, base: clif::Value, frame_at: u32, reg: &RegState) {
        let flags = MemFlagsData::trusted();
        let at = (frame_at + reg.at) as i32;
        if !reg.ty.is_varying() {
            let x = self.scalar(reg.value);
            self.b.ins().store(flags, x, base, at);
            return;
        }
        // Whole vectors: a register has room for 16 lanes at least.
        for i in 0..self.plan.pieces(reg.ty.ty.size()) {
            let x = if reg.ty.ty == Ty::Bool { self.bool_bytes(reg.value, i) } else { self.piece(reg.value, i) };
            self.b.ins().store(flags, x, base, at + 16 * i as i32);
        }
    }
}
