//! Leaving the region: registers go to the frames, masks to the words.

use super::exit_values::Slot;
use super::translate::Translator;
use crate::ir::{ExitId, Inst, Type, Value};
use crate::lowering::{Area, ExitValue};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};

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

    /// Leaves by an exit. What must be computed for it is written here and now; the rest by code that it may share with other
    /// exits.
    pub(super) fn leave(&mut self, exit: ExitId) {
        self.store_ticks();
        // What is ready first: what is computed here is at hand nowhere else, and not stored at its home.
        let values = self.snapshot(exit);
        let ready: Vec<_> = values.iter().map(|&(_, value)| self.materialisation(value)).collect();
        self.store_cells(exit);
        let mut shared = Vec::new();
        for ((place, value), materialisation) in values.into_iter().zip(ready) {
            match materialisation {
                Some(materialisation) => shared.push((place, materialisation)),
                None => {
                    let pieces = self.compute(value);
                    self.write(place, &pieces);
                }
            }
        }
        self.leave_by(exit, shared);
    }

    /// Writes the cells of an exit that have no place.
    fn store_cells(&mut self, exit: ExitId) {
        for &(cell, v) in &self.region.exits[exit.index()].cells {
            if self.cell_place(cell.at, cell.ty).is_none() {
                self.store_cell(cell, v);
            }
        }
    }

    /// Makes the call at which an exit stands, of a function that is known.
    pub(super) fn call_function(&mut self, inst: &Inst, site: u32, exit: ExitId) {
        let region = self.region;
        let site = &region.call_sites[site as usize];
        let Some((&mask, args)) = inst.args.split_last() else { return };
        self.put(site.at, &site.params, args);
        let bits = self.mask_bits(mask);
        let number = self.b.ins().iconst(types::I64, i64::from(exit.0));
        self.store_ticks();
        let done = self.call(self.stubs.call, &[self.context, number, bits]);
        self.load_ticks();
        self.leave_unless((done, false), exit);
    }

    /// Puts values in registers of a frame.
    fn put(&mut self, frame: u32, registers: &[(u32, Type)], values: &[Value]) {
        for (&(at, ty), &v) in registers.iter().zip(values) {
            let pieces = self.compute(ExitValue::Value(ty, v));
            self.write(Slot { area: Area::Frame, at: (frame + at) as i32 }, &pieces);
        }
    }

    /// Makes the call at which an exit stands, of a function that is known only then.
    pub(super) fn call_indirect(&mut self, exit: ExitId) {
        self.store_cells(exit);
        for (place, value) in self.snapshot(exit) {
            let pieces = self.compute(value);
            self.write(place, &pieces);
        }
        self.store_ticks();
        let [number, mask] = [i64::from(exit.0), 0].map(|word| self.b.ins().iconst(types::I64, word));
        let done = self.call(self.stubs.call, &[self.context, number, mask]);
        let (go_on, out) = (self.b.create_block(), self.b.create_block());
        self.b.set_cold_block(out);
        self.b.ins().brif(done, go_on, &[], out, &[]);
        self.b.switch_to_block(out);
        let number = self.b.ins().iconst(types::I32, i64::from(exit.0));
        self.b.ins().return_(&[number]);
        self.b.switch_to_block(go_on);
        self.load_ticks();
    }

    /// Has the interpreter's handler execute an instruction on its registers.
    pub(super) fn interpret(&mut self, inst: &Inst, site: u32, exit: ExitId) {
        let region = self.region;
        let site = &region.handler_calls[site as usize];
        let Some((&mask, operands)) = inst.args.split_last() else { return };
        let flags = MemFlagsData::trusted();
        self.put(site.at, &site.operands, operands);
        let what = (site.function.0 as i64) << 32 | site.pc as i64;
        let what = self.b.ins().iconst(types::I64, what);
        let at = self.b.ins().iconst(types::I64, site.at as i64);
        let bits = self.mask_bits(mask);
        let args = [self.context, what, at, bits];
        // The instruction may count fuel of its own.
        self.store_ticks();
        let done = self.call(self.stubs.interpret, &args);
        self.load_ticks();
        self.leave_unless((done, false), exit);
        if let (Some(v), Some((at, _))) = (inst.result, site.result) {
            let base = self.base(Area::Frame);
            let at = (site.at + at) as i32;
            self.take_result(v, |t, ty, i| t.b.ins().load(ty, flags, base, at + 16 * i as i32));
        }
    }
}
