//! Leaving the region, and calling the runtime in it.

use super::Target;
use super::inst::{Base, ExitStub, Inst as Machine, Mem, StubArea, StubValue, StubWrite};
use super::lower::Lower;
use crate::backend::CompileError;
use crate::ir::{ExitId, Inst, Type, Value};
use crate::lowering::runtime::Callee;
use crate::lowering::{Area, BASE_AT, Checked, ExitValue, ExitWrite, General, MaskStep, exit_writes, mask_steps};
use regalloc2::{RegClass, VReg};
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

/// Where the words for the runtime lie from their beginning: four arguments, then its answer.
pub const ANSWER_AT: i32 = 32;

/// A side exit that is being made.
struct Stub {
    computed: Vec<Vec<StubWrite>>,
    /// What is computed.
    values: Vec<Value>,
    writes: Vec<StubWrite>,
}

impl Stub {
    fn push(&mut self, area: StubArea, at: i32, what: StubValue) {
        self.writes.push(StubWrite { area, at, what });
    }
}

/// Returns whether there is something else behind lanes that fill no vector.
fn is_memory(area: StubArea) -> bool {
    area == StubArea::State(Area::Memory)
}

impl<T: Target> Lower<'_, T> {
    /// The code of a side exit.
    pub(super) fn exit_stub(&mut self, exit: ExitId) -> usize {
        let mut all = exit_writes(self.region, exit);
        all.sort_by_key(|write| write.area);
        let mut stub = Stub { computed: Vec::new(), values: Vec::new(), writes: Vec::new() };
        for ExitWrite { area, at, what } in all {
            let (area, at) = (StubArea::State(area), at as i32);
            match what {
                ExitValue::Value(ty, v) => self.write_value(&mut stub, area, at, ty, v),
                ExitValue::MaskBits(v) => match self.values.bits_of_mask(v) {
                    Some(bits) => self.write_value(&mut stub, area, at, Type::uniform(Ty::U64), bits),
                    None => self.write_mask(&mut stub, area, at, v),
                },
                ExitValue::Zero => stub.push(area, at, StubValue::Imm(0, 8)),
                ExitValue::Word(v) => {
                    let ty = self.region.ty(v);
                    self.write_value(&mut stub, area, at, ty, v);
                    if ty.ty.size() == 4 {
                        stub.push(area, at + 4, StubValue::Imm(0, 4));
                    }
                }
            }
        }
        let Stub { computed, writes, .. } = stub;
        let counts = self.pending_counts();
        self.code.exit_stubs.push(ExitStub { exit, computed, writes, counts, in_memory: Vec::new() });
        self.code.exit_stubs.len() - 1
    }

    /// Notes that a value is written as lanes of a type. A register of a frame has room for whole vectors, as scratch
    /// memory has; a cell has not.
    fn write_value(&mut self, stub: &mut Stub, area: StubArea, at: i32, ty: Type, v: Value) {
        let size = ty.ty.size();
        if self.demand.is_left_to_exits(v) {
            return self.write_computed(stub, area, at, ty, v);
        }
        if !ty.is_varying() {
            let what = match self.values.constant(v) {
                Some(bits) => StubValue::Imm(bits, size),
                None if T::class_of(ty.ty) == RegClass::Float => StubValue::Vector(self.scalar(v), size),
                None => StubValue::Gpr(self.gpr(v), size),
            };
            return stub.push(area, at, what);
        }
        let (bytes, n) = (self.written_bytes(area, size), self.n_pieces(size));
        if ty.ty == Ty::Bool {
            let bytes = if is_memory(area) { self.lanes } else { self.lanes.max(16) };
            return stub.push(area, at, self.mask_bytes(v, bytes));
        }
        if let Some(bits) = self.values.constant_lanes(v) {
            let place = self.code.constant(&bits.to_le_bytes()[..size]);
            return stub.push(area, at, StubValue::SplatPool(place, size, bytes, n));
        }
        if !self.region.ty(v).is_varying() {
            let x = self.scalar(v);
            let what = match T::class_of(ty.ty) {
                RegClass::Float => StubValue::SplatVector(x, size, bytes, n),
                RegClass::Int | RegClass::Vector => StubValue::SplatGpr(x, size, bytes, n),
            };
            return stub.push(area, at, what);
        }
        if self.demand.is_late(v)
            && let Some(inst) = self.values.inst(v)
        {
            let (lane, x) = (self.gpr(inst.args[1]), self.scalar(inst.args[2]));
            let is_there = match area {
                StubArea::State(of) => self.demand.written_lane(&self.values, of, at as u64, v).is_some(),
                StubArea::Words | StubArea::Scratch => false,
            };
            if !is_there {
                self.write_value(stub, area, at, ty, inst.args[0]);
            }
            return stub.push(area, at, StubValue::Lane { x, size, lane, of: self.lanes });
        }
        for i in 0..n {
            let x = self.piece(v, size, i);
            stub.push(area, at + (T::VECTOR_BYTES * i) as i32, StubValue::Vector(x, bytes));
        }
    }

    /// Bytes that are written of each vector: of a gang that fills none, only so many if there is no room for more.
    fn written_bytes(&self, area: StubArea, size: usize) -> usize {
        let whole = self.piece_bytes(size);
        if is_memory(area) { whole.min(self.lanes * size) } else { whole }
    }

    /// The same as [`write_value`](Lower::write_value), of a value that the exit computes.
    fn write_computed(&mut self, stub: &mut Stub, area: StubArea, at: i32, ty: Type, v: Value) {
        let from = self.compute(stub, v);
        let size = ty.ty.size();
        if !ty.is_varying() {
            return stub.push(area, at, StubValue::Scratch(from, size));
        }
        let (bytes, n) = (self.written_bytes(area, size), self.n_pieces(size));
        if !self.region.ty(v).is_varying() {
            return stub.push(area, at, StubValue::SplatScratch(from, size, bytes, n));
        }
        for i in 0..n {
            let piece = (T::VECTOR_BYTES * i) as i32;
            stub.push(area, at + piece, StubValue::Scratch(from + piece, bytes));
        }
    }

    /// Has the exit compute a value, once; gives where the scratch memory will have it.
    fn compute(&mut self, stub: &mut Stub, v: Value) -> i32 {
        let inst = self.values.inst(v).unwrap_or_else(|| unreachable!("{v} is no instruction's"));
        let place = self.exit_places[&v];
        if stub.values.contains(&v) {
            return place as i32;
        }
        stub.values.push(v);
        let mut general = General::of(self.region, inst).unwrap_or_else(|e| unreachable!("{v}: {e}"));
        general.result_at = place;
        self.code.needs_scratch(place + general.result_bytes() + T::VECTOR_BYTES);
        // What the operands are computed from goes where they go.
        for &arg in &inst.args {
            if self.demand.is_left_to_exits(arg) {
                self.compute(stub, arg);
            }
        }
        let mut before = Stub { computed: Vec::new(), values: stub.values.clone(), writes: Vec::new() };
        for (&arg, operand) in inst.args.iter().zip(&general.operands) {
            let ty = self.region.ty(arg);
            self.write_value(&mut before, StubArea::Scratch, operand.at as i32, ty, arg);
        }
        let what = self.held_at(Arc::new(general));
        before.push(StubArea::Words, 0, StubValue::Imm(what, 8));
        before.push(StubArea::Words, 8, StubValue::ScratchAddress);
        stub.computed.push(before.writes);
        place as i32
    }

    /// A mask as so many bytes. One that is the same in all lanes need not be in a register.
    fn mask_bytes(&mut self, v: Value, bytes: usize) -> StubValue {
        let each = match self.values.mask_bits(v) {
            Some(0) => 0,
            // What lies beyond the lanes is 0.
            Some(bits) if bits == self.region.width.full_mask() && bytes == self.lanes => 1,
            _ => {
                let (mask, ones) = (self.mask(v), self.ones());
                return StubValue::MaskBytes(mask, bytes, ones);
            }
        };
        let vector = bytes.min(T::VECTOR_BYTES);
        StubValue::SplatPool(self.code.constant(&[each]), 1, vector, bytes / vector)
    }

    /// Notes that a mask is written as a word, made there if nothing else asks for it.
    fn write_mask(&mut self, stub: &mut Stub, area: StubArea, at: i32, v: Value) {
        if let Some(bits) = self.values.mask_bits(v) {
            return stub.push(area, at, StubValue::Imm(bits, 8));
        }
        let steps = mask_steps(&self.values, &|v| self.demand.is_left_to_exits(v), v);
        for step in steps.unwrap_or_else(|| unreachable!("{v} is left to exits, which cannot make it")) {
            let what = match step {
                MaskStep::Begin(v) => StubValue::MaskBits(self.mask(v)),
                MaskStep::With(logic, v) => StubValue::MaskWith(logic, self.mask(v)),
                MaskStep::Flip => StubValue::MaskFlip(self.region.width.full_mask()),
            };
            stub.push(area, at, what);
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
        let at = self.held_at(held);
        self.imm(at)
    }

    /// The address of something that the code keeps alive.
    fn held_at<H: Send + Sync + 'static>(&mut self, held: Arc<H>) -> u64 {
        let at = Arc::as_ptr(&held) as u64;
        self.held.push(held);
        at
    }

    /// Calls a function of the runtime with words.
    fn call(&mut self, callee: Callee, words: &[VReg]) {
        for (i, &word) in words.iter().enumerate() {
            self.store_word(Mem::at(Base::Words, 8 * i as i32), word);
        }
        // What is executed seldom is not to cost registers where it is not.
        let is_cold = self.region.blocks[self.block.index()].cold;
        self.code.push(match callee {
            _ if is_cold => Machine::Call(callee),
            Callee::Call => Machine::CallSaving(callee),
            _ => Machine::CallLosing(callee),
        });
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

    /// Makes the call at which an exit stands, of a function that is known.
    pub(super) fn call_function(&mut self, inst: &Inst, site: u32, exit: ExitId) {
        let region = self.region;
        let site = &region.call_sites[site as usize];
        let Some((&mask, args)) = inst.args.split_last() else { return };
        self.put(site.at, &site.params, args);
        let mask = self.mask(mask);
        let bits = T::bits_of_mask(self, mask);
        let number = self.imm(exit.0.into());
        self.call(Callee::Call, &[number, bits]);
        self.guard_call(exit);
    }

    /// Puts values in registers of a frame.
    fn put(&mut self, frame: u32, registers: &[(u32, Type)], values: &[Value]) {
        for (&(at, ty), &v) in registers.iter().zip(values) {
            self.store_as(v, ty, Mem::at(Base::Frame, (frame + at) as i32));
        }
    }

    /// Makes the call at which an exit stands, of a function that is known only then.
    pub(super) fn call_indirect(&mut self, exit: ExitId) {
        let stub = self.exit_stub(exit);
        self.code.push(Machine::Write(stub));
        let [number, mask] = [exit.0.into(), 0].map(|word| self.imm(word));
        self.call(Callee::Call, &[number, mask]);
        self.code.push(Machine::GuardWritten(exit));
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
        self.put(site.at, &site.operands, operands);
        let mask = self.mask(mask);
        let bits = T::bits_of_mask(self, mask);
        let what = self.imm((site.function.0 as u64) << 32 | site.pc as u64);
        let at = self.imm(site.at as u64);
        self.call(Callee::Interpret, &[what, at, bits]);
        self.guard_call(exit);
        if let Some((at, _)) = site.result {
            self.load_result(inst, Mem::at(Base::Frame, (site.at + at) as i32));
        }
    }
}
