//! Leaving the region, and calling the runtime in it.

use super::Target;
use super::inst::{Base, Inst as Machine, Mem, StubValue, StubWrite};
use super::lower::Lower;
use crate::backend::CompileError;
use crate::ir::{ExitId, Inst, Type, Value};
use crate::lowering::runtime::Callee;
use crate::lowering::{Area, BASE_AT, Checked, ExitValue, ExitWrite, General, exit_writes};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

/// Where the words for the runtime lie from their beginning: four arguments, then its answer.
pub const ANSWER_AT: i32 = 32;

impl<T: Target> Lower<'_, T> {
    /// What an exit writes.
    pub(super) fn snapshot(&mut self, exit: ExitId) -> Vec<StubWrite> {
        let mut all = exit_writes(self.region, exit);
        all.sort_by_key(|write| write.area);
        let mut writes = Vec::new();
        for ExitWrite { area, at, what } in all {
            let at = at as i32;
            let mut push = |at, what| writes.push(StubWrite { area, at, what });
            match what {
                ExitValue::Value(ty, v) => self.write_value(&mut writes, area, at, ty, v),
                ExitValue::MaskBits(v) => push(at, self.mask_value(v)),
                ExitValue::Zero => push(at, StubValue::Imm(0, 8)),
                ExitValue::Word(v) => match self.values.constant(v) {
                    Some(bits) => push(at, StubValue::Imm(bits, 8)),
                    None => {
                        let size = self.region.ty(v).ty.size();
                        push(at, StubValue::Gpr(self.gpr(v), size));
                        if size == 4 {
                            push(at + 4, StubValue::Imm(0, 4));
                        }
                    }
                },
            }
        }
        writes
    }

    /// Notes that a value is written as lanes of a type. A register of a frame has room for whole vectors, a cell has not.
    fn write_value(&mut self, writes: &mut Vec<StubWrite>, area: Area, at: i32, ty: Type, v: Value) {
        let mut push = |at, what| writes.push(StubWrite { area, at, what });
        let size = ty.ty.size();
        if !ty.is_varying() {
            let what = match self.values.constant(v) {
                Some(bits) => StubValue::Imm(bits, size),
                None if T::class_of(ty.ty) == RegClass::Float => StubValue::Vector(self.scalar(v), size),
                None => StubValue::Gpr(self.gpr(v), size),
            };
            return push(at, what);
        }
        let (whole, n) = (self.piece_bytes(size), self.n_pieces(size));
        // Of a gang that fills no vector, only so many bytes.
        let bytes = if area == Area::Frame { whole } else { whole.min(self.lanes * size) };
        if ty.ty == Ty::Bool {
            let mask = self.mask(v);
            let ones = self.ones();
            let bytes = if area == Area::Frame { self.lanes.max(16) } else { self.lanes };
            return push(at, StubValue::MaskBytes(mask, bytes, ones));
        }
        if let Some(bits) = self.values.constant_lanes(v) {
            let place = self.code.constant(&bits.to_le_bytes()[..size]);
            return push(at, StubValue::SplatPool(place, size, bytes, n));
        }
        if !self.region.ty(v).is_varying() {
            let x = self.scalar(v);
            let what = match T::class_of(ty.ty) {
                RegClass::Float => StubValue::SplatVector(x, size, bytes, n),
                RegClass::Int | RegClass::Vector => StubValue::SplatGpr(x, size, bytes, n),
            };
            return push(at, what);
        }
        if self.demand.is_late(v)
            && let Some(inst) = self.values.inst(v)
        {
            let (lane, x) = (self.gpr(inst.args[1]), self.scalar(inst.args[2]));
            self.write_value(writes, area, at, ty, inst.args[0]);
            writes.push(StubWrite { area, at, what: StubValue::Lane { x, size, lane, of: self.lanes } });
            return;
        }
        for i in 0..n {
            let x = self.piece(v, size, i);
            push(at + (T::VECTOR_BYTES * i) as i32, StubValue::Vector(x, bytes));
        }
    }

    fn mask_value(&mut self, v: Value) -> StubValue {
        match self.values.mask_bits(v) {
            Some(bits) => StubValue::Imm(bits, 8),
            None => StubValue::MaskBits(self.mask(v)),
        }
    }

    /// Calls the runtime for an instruction that the target has no code for.
    pub fn general(&mut self, inst: &Inst) -> Result<(), CompileError> {
        let general = General::of(self.region, inst)?;
        // Whole vectors of the sizes here.
        let room = general.bytes + T::VECTOR_BYTES;
        self.code.needs_scratch(room);
        for (&v, operand) in inst.args.iter().zip(&general.operands) {
            self.store_whole(v, Mem::at(Base::Scratch, operand.at as i32));
        }
        let result_at = general.result_at;
        let what = self.hold(Arc::new(general));
        let scratch = self.address_of(Mem::at(Base::Scratch, 0));
        self.call(Callee::General, &[what, scratch]);
        self.load_result(inst, Mem::at(Base::Scratch, result_at as i32));
        Ok(())
    }

    /// A register with the address of something that the code keeps alive.
    fn hold<H: Send + Sync + 'static>(&mut self, held: Arc<H>) -> VReg {
        let at = Arc::as_ptr(&held) as u64;
        self.held.push(held);
        self.imm(at)
    }

    /// Calls a function of the runtime with words.
    fn call(&mut self, callee: Callee, words: &[VReg]) {
        for (i, &word) in words.iter().enumerate() {
            self.store_word(Mem::at(Base::Words, 8 * i as i32), word);
        }
        // What is executed seldom is not to cost registers where it is not.
        let is_cold = self.region.blocks[self.block.index()].cold;
        self.code.push(if is_cold { Machine::Call(callee) } else { Machine::CallLosing(callee) });
    }

    /// A checked access.
    pub(super) fn checked(&mut self, inst: &Inst, exit: ExitId) -> Result<(), CompileError> {
        let (checked, index, value) = Checked::of(self.region, inst)?;
        self.code.needs_scratch(checked.bytes() + T::VECTOR_BYTES);
        let mask = self.mask(inst.args[inst.args.len() - 1]);
        let bits = T::bits_of_mask(self, mask);
        self.store_word(Mem::at(Base::Scratch, 0), bits);
        self.store_whole(inst.args[0], Mem::at(Base::Scratch, BASE_AT as i32));
        if let Some(index) = index {
            self.store_whole(index, Mem::at(Base::Scratch, checked.index_at as i32));
        }
        if let Some(value) = value {
            self.store_whole(value, Mem::at(Base::Scratch, checked.elements_at as i32));
        }
        let elements = Mem::at(Base::Scratch, checked.elements_at as i32);
        let what = self.hold(Arc::new(checked));
        let scratch = self.address_of(Mem::at(Base::Scratch, 0));
        self.call(if value.is_some() { Callee::Store } else { Callee::Load }, &[what, scratch]);
        // The result is there only if the instruction has not left, but nothing of an exit can name it.
        self.guard_call(exit);
        self.load_result(inst, elements);
        Ok(())
    }

    /// Enters the memory of a frame.
    pub(super) fn open_frame(&mut self, inst: &Inst, function: FuncId, at: u32, exit: ExitId) {
        self.code.needs_scratch(8);
        let pointer = Mem::at(Base::Scratch, 0);
        let words = [self.imm(function.0 as u64), self.imm(at as u64), self.address_of(pointer)];
        self.call(Callee::OpenFrame, &words);
        self.guard_call(exit);
        self.load_result(inst, pointer);
    }

    /// Ends it.
    pub(super) fn close_frame(&mut self, inst: &Inst) {
        let pointer = self.gpr(inst.args[0]);
        self.call(Callee::CloseFrame, &[pointer]);
    }

    /// Has the interpreter's handler execute an instruction on its registers.
    pub(super) fn interpret(&mut self, inst: &Inst, site: u32, exit: ExitId) {
        let region = self.region;
        let site = &region.handler_calls[site as usize];
        let Some((&mask, operands)) = inst.args.split_last() else { return };
        let place = |at: u32| Mem::at(Base::Frame, (site.at + at) as i32);
        for (&(at, ty), &v) in site.operands.iter().zip(operands) {
            self.store_as(v, ty, place(at));
        }
        let mask = self.mask(mask);
        let bits = T::bits_of_mask(self, mask);
        let what = self.imm((site.function.0 as u64) << 32 | site.pc as u64);
        let at = self.imm(site.at as u64);
        self.call(Callee::Interpret, &[what, at, bits]);
        self.guard_call(exit);
        if let Some((at, _)) = site.result {
            self.load_result(inst, place(at));
        }
    }
}
