//! Recording copies and fills of few bytes: what they mean, as loads and stores.
//!
//! The handlers take some 25 ns whatever they move. Where the pointers are uniform and the length is a constant, a
//! range is checked as an element of that size would be, and moved in *pieces*. All are loaded before the first is
//! stored, as ranges may overlap. They are integers, so that all bits are kept.

use super::Recorder;
use super::memory::Operand;
use super::state::{FramePlace, State};
use crate::ir::{Address, End, ExitReason, Kind, Type, Value};
use spmdvm_vm::interp::native::{is_moved_for_free, units_of};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{Function, Inst};
use spmdvm_vm::types::{Shape, Ty};

/// Longest copy that is taken apart, in bytes: more do not fit into registers.
const MAX_COPIED: u64 = 256;

/// Longest fill that is.
const MAX_FILLED: u64 = 512;

/// Most of the largest pieces that there may be in one.
const MAX_PIECES: u64 = 16;

/// A part of a range that is loaded or stored at once: where it begins in the range, and as what.
type Piece = (u64, Type);

/// Returns whether a copy or fill is taken apart, for gangs of four lanes or more.
pub(crate) fn is_taken_apart(f: &Function, inst: &Inst) -> bool {
    let most = if inst.op == Op::MemCopy { MAX_COPIED } else { MAX_FILLED };
    let is_uniform = inst.src.iter().all(|&r| f.reg(r).shape == Shape::Uniform);
    is_uniform && f.constant_bits(inst.src[2]).is_some_and(|bytes| bytes <= most)
}

/// Most bytes of a frame that are zeroed without a call.
const MAX_CLEARED: u64 = 4096;

impl Recorder<'_> {
    /// `mem.copy`
    pub(super) fn copy(&mut self, state: &mut State, inst: &Inst) {
        let [to, from, bytes] = inst.src.map(|r| self.read(state, r));
        let Some(pieces) = self.pieces(state, inst, bytes, MAX_COPIED) else { return self.interpret(state, inst) };
        let Some(&(last, ty)) = pieces.last() else { return };
        let need = last as u32 + self.bytes_of(ty);
        let (to, from) = (self.range(to), self.range(from));
        // The interpreter finds out which of the two it is.
        if !(self.check_range(state, inst.op, &from, need, false) && self.check_range(state, inst.op, &to, need, true))
        {
            return self.interpret(state, inst);
        }
        let mut moved = Vec::with_capacity(pieces.len());
        for &(disp, ty) in &pieces {
            let host = self.piece(&from, disp);
            let kind = if ty.is_varying() { Kind::LoadLanes { ty: ty.ty } } else { Kind::Load { ty: ty.ty } };
            moved.push(self.emit(kind, &[host], ty));
        }
        for (piece, value) in pieces.into_iter().zip(moved) {
            self.store_piece(&to, piece, value);
        }
    }

    /// `mem.set`: bytes of a frame are zeroed at once, others in pieces.
    pub(super) fn fill(&mut self, state: &mut State, inst: &Inst) {
        let [to, value, bytes] = inst.src.map(|r| self.read(state, r));
        if let Some((place, bytes)) = self.zeroed(to, value, bytes)
            && self.moves_once(state, inst)
            && Self::has_lanes(state.mask()) == Some(true)
        {
            self.tick_units(state, units_of(bytes));
            let host = self.frame_host(&place, 0);
            return self.effect(Kind::Clear { bytes: bytes as u32 }, &[host]);
        }
        let Some(pieces) = self.pieces(state, inst, bytes, MAX_FILLED) else { return self.interpret(state, inst) };
        let Some(&(last, ty)) = pieces.last() else { return };
        let need = last as u32 + self.bytes_of(ty);
        let to = self.range(to);
        if !self.check_range(state, inst.op, &to, need, true) {
            return self.interpret(state, inst);
        }
        let value = self.convert(value, Ty::U64);
        let (low, all) = (self.constant(Ty::U64, 0xff), self.constant(Ty::U64, 0x0101_0101_0101_0101));
        let byte = self.plain(Op::And, Ty::U64, &[value, low]);
        let word = self.plain(Op::Mul, Ty::U64, &[byte, all]);
        for piece in pieces {
            let value = self.convert(word, piece.1.ty);
            self.store_piece(&to, piece, value);
        }
    }

    /// Counts fuel before an instruction that costs some units: all of them, or, where a poll may be due in between,
    /// none, and the interpreter executes it.
    fn tick_units(&mut self, state: &State, units: u64) {
        if units <= 1 {
            (0..units).for_each(|_| self.tick(state));
            return;
        }
        let u64_ = Type::uniform(Ty::U64);
        let (none, once) = (self.constant(Ty::U64, 0), self.constant(Ty::U64, 1));
        let counted = self.emit(Kind::Ticks { each: units as u32 }, &[once], u64_);
        let counted = self.plain(Op::Ne, Ty::U64, &[counted, none]);
        let exit = self.exit(state, ExitReason::Poll);
        let (on, out) = self.branch_apart(counted);
        self.b.switch_to(out);
        self.b.end(End::Exit(exit));
        self.b.switch_to(on);
    }

    /// The bytes that a fill zeroes, if they lie in the memory of a frame.
    fn zeroed(&self, to: Value, value: Value, bytes: Value) -> Option<(FramePlace, u64)> {
        let (place, bytes) = self.address(to).zip(self.known(bytes))?;
        let size = self.function(place.function).frame_size;
        let end = place.offset.checked_add_unsigned(bytes)?;
        let is_inside = place.offset >= 0 && end <= size as i64;
        let is_zero = self.known(value).is_some_and(|v| v as u8 == 0);
        (is_inside && is_zero && bytes <= MAX_CLEARED).then_some((place, bytes))
    }

    /// Returns whether bytes are moved once: operands in varying registers stand for a move for each lane, whose bytes cost fuel together.
    fn moves_once(&self, state: &State, inst: &Inst) -> bool {
        inst.src.iter().all(|&r| !self.is_varying(state, r))
    }

    /// The pieces of so many bytes, the largest first; `None` if the interpreter's handler is to move them.
    fn pieces(&self, state: &State, inst: &Inst, bytes: Value, most: u64) -> Option<Vec<Piece>> {
        let bytes = self.known(bytes)?;
        (self.moves_once(state, inst) && bytes <= most && is_moved_for_free(bytes)).then_some(())?;
        let tys = [Ty::U64, Ty::U32, Ty::U16, Ty::U8];
        let mut types = [tys.map(Type::varying), tys.map(Type::uniform)].concat();
        types.retain(|ty| !ty.is_varying() || self.bytes_of(*ty) > 8);
        types.sort_by_key(|&ty| std::cmp::Reverse(self.bytes_of(ty)));
        (bytes <= MAX_PIECES * self.bytes_of(types[0]) as u64).then_some(())?;
        let (mut pieces, mut at) = (Vec::new(), 0);
        while at < bytes {
            let ty = *types.iter().find(|&&ty| self.bytes_of(ty) as u64 <= bytes - at)?;
            pieces.push((at, ty));
            at += self.bytes_of(ty) as u64;
        }
        Some(pieces)
    }

    fn bytes_of(&self, ty: Type) -> u32 {
        let lanes = if ty.is_varying() { self.program.width.lanes() } else { 1 };
        (ty.ty.size() * lanes) as u32
    }

    /// The range that a pointer leads to, as an operand. A sum with an address in a frame is that address and an index.
    fn range(&self, pointer: Value) -> Operand {
        let sum = self.frame_sums.get(&pointer).filter(|(base, _)| self.address(*base).is_some());
        let (base, index) = sum.map_or((pointer, None), |&(base, offset)| (base, Some(offset)));
        let address = Address { index: index.map(|_| Ty::I64), scale: 1, disp: 0, by_lane: false };
        Operand { base, index, address, ty: Ty::U8, unit: 1 }
    }

    /// Leaves if not so many bytes of a range may be accessed; `false` if they never may.
    fn check_range(&mut self, state: &State, op: Op, at: &Operand, need: u32, write: bool) -> bool {
        let ok = self.in_bounds(at, need, write);
        if self.known(ok) == Some(0) {
            return false;
        }
        self.guard(state, ok, ExitReason::Operation(op));
        true
    }

    /// The host address of a piece. At a constant place in a frame it may be a cell.
    fn piece(&mut self, at: &Operand, disp: u64) -> Value {
        if at.index.is_none() && self.address(at.base).is_some() {
            return self.host_at(&Operand { address: Address { disp: disp as i64, ..at.address }, ..*at });
        }
        let host = self.host_at(at);
        if disp == 0 {
            return host;
        }
        let disp = self.constant(Ty::U64, disp);
        self.plain(Op::Add, Ty::U64, &[host, disp])
    }

    fn store_piece(&mut self, at: &Operand, (disp, ty): Piece, value: Value) {
        let host = self.piece(at, disp);
        if ty.is_varying() {
            let value = self.varying_value(value);
            self.effect(Kind::StoreLanes { ty: ty.ty }, &[host, value]);
        } else {
            self.effect(Kind::Store { ty: ty.ty }, &[host, value]);
        }
    }
}
