//! Leaving the region, and calling the runtime in it.

use super::inst::{Base, Inst as Machine, Mem, What, Write, WriteBase};
use super::select::{Select, class_of};
use super::values::bytes_of;
use crate::ir::{BlockId, ExitId, Inst, Type, Value};
use crate::native::runtime::Callee;
use crate::native::{BASE_AT, Checked, General};
use regalloc2::RegClass;
use spmdvm_vm::interp::native::ENTRY_WORDS;
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

impl Select<'_> {
    /// What an exit writes.
    pub fn snapshot(&mut self, exit: ExitId) -> Vec<Write> {
        let region = self.region;
        let exit = &region.exits[exit.index()];
        let mut writes = Vec::new();
        for frame in &exit.frames {
            for reg in &frame.regs {
                self.write_value(&mut writes, WriteBase::Frame, (frame.at + reg.at) as i32, reg.ty, reg.value, true);
            }
        }
        let mut at = 0;
        let mut words = |s: &mut Self, word: Option<(Value, bool)>| {
            let mut push = |at, what| writes.push(Write { base: WriteBase::Words, at, what });
            match word {
                None => push(at, What::Imm(0, 8)),
                Some((v, true)) => push(at, s.what_mask(v)),
                Some((v, false)) => match s.constant_of(v) {
                    Some(bits) => push(at, What::Imm(bits, 8)),
                    None => {
                        let size = s.region.ty(v).ty.size();
                        push(at, What::Gpr(s.gpr(v), size));
                        if size == 4 {
                            push(at + 4, What::Imm(0, 4));
                        }
                    }
                },
            }
            at += 8;
        };
        for frame in &exit.frames {
            words(self, Some((frame.mask, true)));
            words(self, frame.memory.map(|v| (v, false)));
            for entry in &frame.entries {
                let entry: [_; ENTRY_WORDS] =
                    [Some((entry.restore, true)), Some((entry.other, true)), entry.visiting.map(|v| (v, false))];
                entry.into_iter().for_each(|word| words(self, word));
            }
        }
        for &(cell, v) in &exit.cells {
            self.write_value(&mut writes, WriteBase::Memory, cell.at as i32, cell.ty, v, false);
        }
        writes
    }

    /// Notes that a value is written as lanes of a type. A register has room for whole vectors, a cell has not.
    fn write_value(&mut self, writes: &mut Vec<Write>, base: WriteBase, at: i32, ty: Type, v: Value, padded: bool) {
        let mut push = |at, what| writes.push(Write { base, at, what });
        let size = ty.ty.size();
        if !ty.is_varying() {
            let what = match self.constant_of(v) {
                Some(bits) => What::Imm(bits, size),
                None if class_of(ty.ty) == RegClass::Float => What::Vector(self.scalar(v), size),
                None => What::Gpr(self.gpr(v), size),
            };
            return push(at, what);
        }
        let (form, n) = (self.form(size), self.n_pieces(size));
        // Of a gang that fills no vector, only so many bytes.
        let bytes = if padded { bytes_of(form) } else { bytes_of(form).min(self.lanes * size) };
        if ty.ty == Ty::Bool {
            let mask = self.mask(v);
            let ones = self.ones();
            return push(at, What::MaskBytes(mask, bytes, ones));
        }
        if let Some(bits) = self.constant_lanes(v) {
            let place = self.flow.constant(&bits.to_le_bytes()[..size]);
            return push(at, What::SplatPool(place, size, bytes, n));
        }
        if !self.region.ty(v).is_varying() {
            let x = self.scalar(v);
            let what = match class_of(ty.ty) {
                RegClass::Float => What::SplatVector(x, size, bytes, n),
                _ => What::SplatGpr(x, size, bytes, n),
            };
            return push(at, what);
        }
        if self.needs.is_late(v)
            && let Some(inst) = self.inst_of(v)
        {
            let (lane, x) = (self.gpr(inst.args[1]), self.scalar(inst.args[2]));
            self.write_value(writes, base, at, ty, inst.args[0], padded);
            writes.push(Write { base, at, what: What::Lane { x, size, lane, of: self.lanes } });
            return;
        }
        for i in 0..n {
            let x = self.piece(v, size, i);
            push(at + 64 * i as i32, What::Vector(x, bytes));
        }
    }

    fn what_mask(&mut self, v: Value) -> What {
        match self.known_bits(v) {
            Some(bits) => What::Imm(bits, 8),
            None => What::MaskBits(self.mask(v)),
        }
    }

    /// Calls the runtime for an instruction that has no code of its own.
    pub fn general(&mut self, inst: &Inst) -> Result<(), String> {
        let general = General::of(self.region, inst)?;
        // Whole vectors of the sizes here.
        let room = general.bytes + 64;
        self.flow.needs_scratch(room);
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
    fn hold<T: Send + Sync + 'static>(&mut self, held: Arc<T>) -> regalloc2::VReg {
        let at = Arc::as_ptr(&held) as u64;
        self.held.push(held);
        self.imm(at)
    }

    /// Calls a function of the runtime with words.
    pub fn call(&mut self, callee: Callee, words: &[regalloc2::VReg]) {
        for (i, &word) in words.iter().enumerate() {
            self.store_64(Mem::at(Base::Words, 8 * i as i32), word);
        }
        // Before its loops a region has few vectors at hand, if any.
        let is_entry = self.block == BlockId(0);
        self.flow.push(if is_entry { Machine::CallLosing(callee) } else { Machine::Call(callee) });
    }

    /// A checked access.
    pub fn checked(&mut self, inst: &Inst, exit: ExitId) -> Result<(), String> {
        let (checked, index, value) = Checked::of(self.region, inst).ok_or("no checked access")?;
        self.flow.needs_scratch(checked.bytes() + 64);
        let mask = self.mask(inst.args[inst.args.len() - 1]);
        let bits = self.bits_of_mask(mask);
        self.store_64(Mem::at(Base::Scratch, 0), bits);
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
    pub fn open_frame(&mut self, inst: &Inst, function: FuncId, at: u32, exit: ExitId) {
        self.flow.needs_scratch(8);
        let pointer = Mem::at(Base::Scratch, 0);
        let words = [self.imm(function.0 as u64), self.imm(at as u64), self.address_of(pointer)];
        self.call(Callee::OpenFrame, &words);
        self.guard_call(exit);
        self.load_result(inst, pointer);
    }

    /// Ends it.
    pub fn close_frame(&mut self, inst: &Inst) {
        let pointer = self.gpr(inst.args[0]);
        self.call(Callee::CloseFrame, &[pointer]);
    }

    /// Has the interpreter's handler execute an instruction on its registers.
    pub fn interpret(&mut self, inst: &Inst, site: u32, exit: ExitId) {
        let region = self.region;
        let site = &region.handler_calls[site as usize];
        let Some((&mask, operands)) = inst.args.split_last() else { return };
        let place = |at: u32| Mem::fixed(super::env::FRAME, (site.at + at) as i32);
        for (&(at, ty), &v) in site.operands.iter().zip(operands) {
            self.store_as(v, ty, place(at));
        }
        let mask = self.mask(mask);
        let bits = self.bits_of_mask(mask);
        let what = self.imm((site.function.0 as u64) << 32 | site.pc as u64);
        let at = self.imm(site.at as u64);
        self.call(Callee::Interpret, &[what, at, bits]);
        self.guard_call(exit);
        if let Some((at, _)) = site.result {
            self.load_result(inst, place(at));
        }
    }

    /// Stores a value as one of a type, which may vary although the value does not.
    fn store_as(&mut self, v: Value, ty: Type, to: Mem) {
        if self.region.ty(v).is_varying() || !ty.is_varying() {
            return self.store_whole(v, to);
        }
        let size = ty.ty.size();
        if ty.ty == Ty::Bool {
            let bytes = self.bytes_of_mask(v);
            return self.store_vector(self.form(1), to, bytes);
        }
        let x = match self.constant_of(v) {
            Some(bits) => self.constant_vector(bits, size),
            None => {
                let x = self.scalar(v);
                self.broadcast(x, ty.ty)
            }
        };
        for i in 0..self.n_pieces(size) {
            self.store_vector(self.form(size), to.plus(64 * i as i32), x);
        }
    }
}
