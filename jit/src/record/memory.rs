//! Recording loads and stores.
//!
//! The common shapes (a uniform base, and a uniform or varying index) are checked in the domain of the index: an index is
//! in bounds when `index - low <u span`, where both bounds depend on the base alone ([`Kind::IndexLow`],
//! [`Kind::IndexSpan`]) and so move out of loops. A whole vector of consecutive elements is one range. An access that is not
//! in bounds goes the slow way ([`Kind::LoadAny`]), which finds out whether an active lane is at fault, and leaves to the
//! interpreter if so.

use super::Recorder;
use super::state::{Mask, State};
use crate::exec_ir::bounds::{index_low, index_span};
use crate::ir::{Address, BlockId, ExitReason, Kind, Type, Value, unsigned};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::Inst;
use spmdvm_vm::types::Ty;
use std::ops::Range;

/// Greatest scale that the fast way takes.
pub(super) const MAX_SCALE: u32 = 1 << 22;

/// Longest frame, and farthest address in it, for which 32 bits count all elements.
const MAX_COUNTED: u64 = 1 << 30;

/// A memory operand.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub base: Value,
    pub index: Option<Value>,
    pub address: Address,
    /// The type of the elements.
    pub ty: Ty,
    /// Bytes that the profile counts distances of lanes in: what the instruction scales its index by.
    pub unit: u32,
}

impl Recorder<'_> {
    pub(super) fn operand(&mut self, state: &State, inst: &Inst) -> Operand {
        let base = self.read(state, inst.src[0]);
        let index = (!inst.src[1].is_none()).then(|| self.read(state, inst.src[1]));
        let by_lane = matches!(inst.op, Op::LoadLane | Op::StoreLane);
        let address = Address { index: index.map(|_| inst.from), scale: inst.aux, disp: inst.imm, by_lane };
        let unit = if index.is_some() { inst.aux.max(1) } else { 1 };
        Operand { base, index, address, ty: inst.ty, unit }
    }

    /// Returns whether it is an operand that can be checked by its index.
    fn is_simple(&self, at: &Operand) -> bool {
        let scale = at.address.scale;
        let index_varies = at.index.is_some_and(|i| self.ty(i).is_varying());
        !self.ty(at.base).is_varying()
            && (at.index.is_none() || (1..=MAX_SCALE).contains(&scale))
            && (!index_varies || !at.address.by_lane || self.counts_lanes(at))
    }

    /// Returns whether the lanes can be counted in the index: it is one of 32 bits, and the scale a multiple of the element.
    fn counts_lanes(&self, at: &Operand) -> bool {
        let size = at.ty.size() as u32;
        matches!(at.address.index, Some(Ty::I32))
            && at.address.scale.is_multiple_of(size)
            && at.address.scale / size <= 1 << 12
    }

    /// The index and its scale; operands without one have index 0.
    pub(super) fn index(&mut self, at: &Operand) -> (Value, Ty, u32) {
        match (at.index, at.address.index) {
            (Some(index), Some(ty)) => (index, ty, at.address.scale),
            _ => (self.constant(Ty::I64, 0), Ty::I64, 1),
        }
    }

    /// Whether `need` bytes at every index (of its own shape) lie in the region.
    pub(super) fn in_bounds(&mut self, at: &Operand, need: u32, write: bool) -> Value {
        let (index, ty, _) = self.index(at);
        let (low, span) = self.bounds(at, need, write);
        let distance = self.plain(Op::Sub, ty, &[index, low]);
        let distance = if unsigned(ty) == ty { distance } else { self.op(Op::Bitcast, unsigned(ty), ty, &[distance]) };
        self.plain(Op::Lt, unsigned(ty), &[distance, span])
    }

    /// The least index in bounds, and how many there are. Of an address in a frame both are known, and an index that is not a
    /// constant is to stay in its array: if it does not, the region is left, and the interpreter finds out whether it may.
    pub(super) fn bounds(&mut self, at: &Operand, need: u32, write: bool) -> (Value, Value) {
        let (_, ty, scale) = self.index(at);
        let disp = at.address.disp;
        if let Some((window, offset)) = self.frame_window(at) {
            let (len, start) = ((window.end - window.start) as u64, offset - window.start + disp);
            let low = index_low(0, scale, start, ty);
            let span = index_span(0, len, scale, start, need, ty);
            return (self.constant(ty, low), self.constant(unsigned(ty), span));
        }
        if let Some((pointer, len)) = self.global_region(at.base, write) {
            let low = index_low(pointer, scale, disp, ty);
            let span = index_span(pointer, len, scale, disp, need, ty);
            return (self.constant(ty, low), self.constant(unsigned(ty), span));
        }
        self.insts += 1;
        let len = self.b.region_len(at.base, write);
        let low = self.emit(Kind::IndexLow { scale, disp, ty }, &[at.base], Type::uniform(ty));
        let span = Kind::IndexSpan { scale, disp, need, ty };
        (low, self.emit(span, &[at.base, len], Type::uniform(unsigned(ty))))
    }

    /// Of an address in a frame: the size of the frame's memory, and the offset.
    fn frame_part(&self, base: Value) -> Option<(u64, i64)> {
        let place = self.address(base)?;
        Some((self.function(place.function).frame_size, place.offset))
    }

    /// Of an operand in the memory of a frame: the offsets between which its accesses are to lie, and that of its base.
    fn frame_window(&self, at: &Operand) -> Option<(Range<i64>, i64)> {
        let (len, offset) = self.frame_part(at.base)?;
        let array = self.array_of(at);
        Some((array.unwrap_or(0..len as i64), offset))
    }

    /// The array in the memory of a frame that an operand with an index that is not known lies in.
    fn array_of(&self, at: &Operand) -> Option<Range<i64>> {
        let place = self.address(at.base)?;
        let index = at.index?;
        if self.known(index).is_some() { None } else { self.array_around(&place, at.address.disp) }
    }

    /// The host address of index 0.
    pub(super) fn host(&mut self, at: &Operand) -> Value {
        let disp = at.address.disp;
        if let Some(place) = self.address(at.base) {
            let within = self.array_of(at);
            return self.frame_host_within(&place, disp, within);
        }
        self.insts += 1;
        self.b.host_address(at.base, disp)
    }

    /// The host address of a uniform index.
    pub(super) fn host_at(&mut self, at: &Operand) -> Value {
        let (index, _, scale) = self.index(at);
        if let Some(host) = self.known_host(at, index, scale, 0) {
            return host;
        }
        let host = self.host(at);
        if self.known(index) == Some(0) {
            return host;
        }
        let index = self.convert(index, Ty::U64);
        let scale = self.constant(Ty::U64, scale as u64);
        let offset = self.plain(Op::Mul, Ty::U64, &[index, scale]);
        self.plain(Op::Add, Ty::U64, &[host, offset])
    }

    /// The host address of an index that is a constant, plus some bytes, if it lies in the memory of a frame:
    /// [`mem2reg`](crate::passes::mem2reg) takes what is there for a cell.
    pub(super) fn known_host(&mut self, at: &Operand, index: Value, scale: u32, plus: i64) -> Option<Value> {
        let place = self.address(at.base)?;
        self.known(index)?;
        let index = self.convert(index, Ty::I64);
        let disp =
            (self.known(index)? as i64).checked_mul(scale as i64)?.checked_add(at.address.disp)?.checked_add(plus)?;
        let inside = 0..self.function(place.function).frame_size as i64;
        inside.contains(&place.offset.checked_add(disp)?).then(|| self.frame_host(&place, disp))
    }

    pub(super) fn load(&mut self, state: &mut State, inst: &Inst) {
        let at = self.operand(state, inst);
        let at = self.by_distance(&at).unwrap_or(at);
        let varying = self.is_varying(state, inst.dst);
        let index_varies = at.index.is_some_and(|i| self.ty(i).is_varying());
        let v = if let Some(v) = self.gather_apart(state, &at) {
            v
        } else if let Some((inside, same)) = self.in_one_region(state, &at) {
            let ty = Type::varying(at.ty);
            self.either_value(same, ty, |r| r.gather(state, &inside), |r| r.load_any(state, &at, true))
        } else if !self.is_simple(&at) {
            self.load_any(state, &at, varying)
        } else if at.address.by_lane && index_varies {
            self.gather_by_lane(state, &at)
        } else if at.address.by_lane {
            self.load_lanes(state, &at)
        } else if index_varies {
            match self.load_packed(state, &at) {
                Some(v) => v,
                None if self.agree_on_address(state, inst, &at) => self.gather(state, &at),
                None => self.gather_by_pattern(state, &at),
            }
        } else {
            let v = self.load_one(state, &at);
            let zero = self.constant(inst.ty, 0);
            if varying { self.select(state.mask(), v, zero) } else { v }
        };
        self.agree_on_value(state, inst, v);
        self.write(state, inst.dst, v);
    }

    /// One element for all lanes.
    pub(super) fn load_one(&mut self, state: &State, at: &Operand) -> Value {
        if let Some(element) = self.constant_element(at) {
            return element;
        }
        let ok = self.in_bounds(at, at.ty.size() as u32, false);
        self.guard(state, ok, ExitReason::Load);
        let host = self.host_at(at);
        let v = self.emit(Kind::Load { ty: at.ty }, &[host], Type::uniform(at.ty));
        self.loaded_pointer(state, at, (ok, host, v)).unwrap_or(v)
    }

    /// A pointer that has been loaded, which may be expected to stay the same ([`same_pointers`](crate::passes::same_pointers)).
    /// Of those in the memory of frames more is known.
    fn loaded_pointer(&mut self, state: &State, at: &Operand, (ok, host, v): (Value, Value, Value)) -> Option<Value> {
        if at.ty != Ty::U64 || self.address(at.base).is_some() || !self.advice.expects_same_pointer(self.place(state)) {
            return None;
        }
        let exit = self.exit(state, ExitReason::OtherPointer);
        Some(self.emit(Kind::LoadedPointer { exit }, &[ok, host, v], Type::uniform(Ty::U64)))
    }

    /// Consecutive elements. If the whole vector is not in bounds, active lanes may be: that is found out one by one.
    pub(super) fn load_lanes(&mut self, state: &State, at: &Operand) -> Value {
        if let Some(lanes) = self.first_lanes(state) {
            return self.load_first_lanes(state, at, lanes);
        }
        let need = (at.ty.size() * self.program.width.lanes()) as u32;
        let ok = self.in_bounds(at, need, false);
        let ty = Type::varying(at.ty);
        let fast = |r: &mut Self| {
            let host = r.host_at(at);
            let all = r.emit(Kind::LoadLanes { ty: at.ty }, &[host], ty);
            let zero = r.constant(at.ty, 0);
            r.select(state.mask(), all, zero)
        };
        if state.mask() != Mask::Full
            && let Some(lanes) = self.lanes_of_array(at)
        {
            return self.either_value(ok, ty, fast, |r| r.gather(state, &lanes));
        }
        if state.mask() == Mask::Full || self.array_of(at).is_some() {
            self.guard(state, ok, ExitReason::Load);
            return fast(self);
        }
        self.either_value(ok, ty, fast, |r| r.load_any(state, at, true))
    }

    /// Consecutive elements as an operand with an index for every lane, if they lie in an array of the frame: active lanes are in bounds at
    /// its end where a vector is not, be it that vectors do not divide it or that rows in it are shorter than they.
    fn lanes_of_array(&mut self, at: &Operand) -> Option<Operand> {
        self.array_of(at)?;
        if !self.counts_lanes(at) {
            return None;
        }
        // Not checked yet, an index can be so large that its elements cannot be counted in 32 bits.
        let (index, _, scale) = self.index(at);
        let size = at.ty.size() as u32;
        let index = self.convert(index, Ty::I64);
        let per_index = self.constant(Ty::I64, (scale / size) as u64);
        let first = self.plain(Op::Mul, Ty::I64, &[index, per_index]);
        let lane = self.lane_numbers();
        let lane = self.convert(lane, Ty::I64);
        let index = Some(self.plain(Op::Add, Ty::I64, &[first, lane]));
        let address = Address { index: Some(Ty::I64), scale: size, by_lane: false, ..at.address };
        Some(Operand { index, address, ..*at })
    }

    pub(super) fn gather(&mut self, state: &State, at: &Operand) -> Value {
        self.check_lanes(state, at, false, ExitReason::Load);
        let host = self.host(at);
        let (index, index_ty, scale) = self.index(at);
        let mask = self.mask_value(state.mask());
        let kind = Kind::Gather { ty: at.ty, index: index_ty, scale, clears: true };
        self.emit(kind, &[host, index, mask], Type::varying(at.ty))
    }

    /// Whether every active lane's whole vector is in bounds.
    fn vectors_in_bounds(&mut self, state: &State, at: &Operand, write: bool) -> Value {
        let need = (at.ty.size() * self.program.width.lanes()) as u32;
        let ok = self.in_bounds(at, need, write);
        let bad = self.and_not(state.mask(), Mask::Any(ok));
        self.none(bad)
    }

    /// Index and lane as one index of elements, of a type in which an index that is in bounds does not wrap: 32 bits only if
    /// the base is known to lie in a frame, for an index can be as large as its pointer is far outside of the array.
    fn lane_index(&mut self, at: &Operand) -> (Value, Ty) {
        let (index, from, scale) = self.index(at);
        let in_frame = self.frame_part(at.base).is_some_and(|(len, offset)| {
            len <= MAX_COUNTED && (0..=MAX_COUNTED as i64).contains(&(offset + at.address.disp))
        });
        let ty = if in_frame { from } else { Ty::I64 };
        let index = self.convert(index, ty);
        let per_index = self.constant(ty, (scale / at.ty.size() as u32) as u64);
        let first = self.plain(Op::Mul, ty, &[index, per_index]);
        let lane = self.lane_numbers();
        let lane = self.convert(lane, ty);
        (self.plain(Op::Add, ty, &[first, lane]), ty)
    }

    /// Each lane's element of a vector of its own choice: an array of varying values, and a varying index.
    fn gather_by_lane(&mut self, state: &State, at: &Operand) -> Value {
        let ok = self.vectors_in_bounds(state, at, false);
        let ty = Type::varying(at.ty);
        let fast = |r: &mut Self| {
            let (index, index_ty) = r.lane_index(at);
            let host = r.host(at);
            let mask = r.mask_value(state.mask());
            let kind = Kind::Gather { ty: at.ty, index: index_ty, scale: at.ty.size() as u32, clears: true };
            r.emit(kind, &[host, index, mask], ty)
        };
        if self.array_of(at).is_some() {
            self.guard(state, ok, ExitReason::Load);
            return fast(self);
        }
        self.either_value(ok, ty, fast, |r| r.load_any(state, at, true))
    }

    /// A value found in one of two ways, by a condition.
    pub(super) fn either_value(
        &mut self,
        ok: Value,
        ty: Type,
        fast: impl FnOnce(&mut Self) -> Value,
        slow: impl FnOnce(&mut Self) -> Value,
    ) -> Value {
        if self.is_true(ok) {
            return fast(self);
        }
        let join = self.b.block();
        let result = self.b.param(join, ty);
        self.two_ways(ok, join, |r| vec![fast(r)], |r| vec![slow(r)]);
        result
    }

    /// Does something in one of two ways, by a condition.
    pub(super) fn either(&mut self, ok: Value, fast: impl FnOnce(&mut Self), slow: impl FnOnce(&mut Self)) {
        if self.is_true(ok) {
            return fast(self);
        }
        let join = self.b.block();
        let fast = |r: &mut Self| {
            fast(r);
            Vec::new()
        };
        let slow = |r: &mut Self| {
            slow(r);
            Vec::new()
        };
        self.two_ways(ok, join, fast, slow);
    }

    fn is_true(&self, condition: Value) -> bool {
        self.known(condition).is_some_and(|bits| bits != 0)
    }

    /// Branches on a condition to two blocks, the second of them cold, that both go on to `join` with the values they find.
    fn two_ways(
        &mut self,
        ok: Value,
        join: BlockId,
        fast: impl FnOnce(&mut Self) -> Vec<Value>,
        slow: impl FnOnce(&mut Self) -> Vec<Value>,
    ) {
        let (yes, no) = (self.b.block(), self.b.block());
        // What is done in one of two ways in a cold block is done in cold ones.
        let cold = self.b.region.block(self.b.current()).cold;
        let blocks = &mut self.b.region.blocks;
        [yes, join].iter().for_each(|b| blocks[b.index()].cold |= cold);
        blocks[no.index()].cold = true;
        self.b.branch(ok, (yes, &[]), (no, &[]));
        self.b.switch_to(yes);
        let found = fast(self);
        self.b.jump(join, &found);
        self.b.switch_to(no);
        let found = slow(self);
        self.b.jump(join, &found);
        self.b.switch_to(join);
    }

    /// Leaves if the element of an active lane is out of bounds.
    fn check_lanes(&mut self, state: &State, at: &Operand, write: bool, reason: ExitReason) {
        let ok = self.in_bounds(at, at.ty.size() as u32, write);
        let bad = self.and_not(state.mask(), Mask::Any(ok));
        self.guard_none(state, bad, reason);
    }

    pub(super) fn load_any(&mut self, state: &State, at: &Operand, varying: bool) -> Value {
        let exit = self.exit(state, ExitReason::Load);
        let kind = Kind::LoadAny { ty: at.ty, address: at.address, exit };
        let args = self.any_args(state, at, None);
        // The result of the operation has the shape of its operands; that of the register may be wider.
        let varies = at.address.by_lane || args[..args.len() - 1].iter().any(|&a| self.ty(a).is_varying());
        let ty = if varies { Type::varying(at.ty) } else { Type::uniform(at.ty) };
        let v = self.emit(kind, &args, ty);
        if varies || !varying {
            return v;
        }
        let zero = self.constant(at.ty, 0);
        self.select(state.mask(), v, zero)
    }

    fn any_args(&mut self, state: &State, at: &Operand, value: Option<Value>) -> Vec<Value> {
        let mask = self.mask_value(state.mask());
        [Some(at.base), at.index, value, Some(mask)].into_iter().flatten().collect()
    }

    pub(super) fn store(&mut self, state: &mut State, inst: &Inst) {
        let at = self.operand(state, inst);
        let at = self.by_distance(&at).unwrap_or(at);
        let value = self.read(state, inst.src[2]);
        let index_varies = at.index.is_some_and(|i| self.ty(i).is_varying());
        // A scatter is one whether or not its lanes are known to be equal.
        let scatters = [inst.src[0], inst.src[1]].iter().any(|&r| !r.is_none() && self.is_varying(state, r));
        let one_value = !self.is_varying(state, inst.src[2]);
        if self.scatter_apart(state, &at, value) {
            // Nothing is left to do.
        } else if let Some((inside, same)) = self.in_one_region(state, &at) {
            let value = self.varying_value(value);
            self.either(same, |r| r.scatter(state, &inside, value), |r| r.store_any(state, &at, value));
        } else if !self.is_simple(&at) {
            self.store_any(state, &at, value);
        } else if at.address.by_lane && index_varies {
            self.scatter_by_lane(state, &at, value);
        } else if at.address.by_lane {
            self.store_lanes(state, &at, value);
        } else if index_varies {
            if !self.store_packed(state, &at, value) {
                self.scatter_by_pattern(state, &at, value);
            }
        } else if !scatters && one_value {
            self.store_one(state, &at, value);
        } else {
            self.store_last(state, &at, value);
        }
    }

    /// A scatter to one address: lanes store there in their order, so what the last active one does is left.
    fn store_last(&mut self, state: &State, at: &Operand, value: Value) {
        let any = self.any(state.mask());
        let store = |r: &mut Self| {
            let last = r.last_active(state, value);
            r.store_one(state, at, last);
        };
        self.either(any, store, |_| {});
    }

    /// One element.
    pub(super) fn store_one(&mut self, state: &State, at: &Operand, value: Value) {
        let ok = self.in_bounds(at, at.ty.size() as u32, true);
        self.guard(state, ok, ExitReason::Store);
        let host = self.host_at(at);
        self.effect(Kind::Store { ty: at.ty }, &[host, value]);
    }

    pub(super) fn store_lanes(&mut self, state: &State, at: &Operand, value: Value) {
        if let Some(lanes) = self.first_lanes(state) {
            return self.store_first_lanes(state, at, value, lanes);
        }
        let need = (at.ty.size() * self.program.width.lanes()) as u32;
        let ok = self.in_bounds(at, need, true);
        let value = self.varying_value(value);
        if state.mask() == Mask::Full {
            self.guard(state, ok, ExitReason::Store);
            let host = self.host_at(at);
            self.effect(Kind::StoreLanes { ty: at.ty }, &[host, value]);
            return;
        }
        let fast = |r: &mut Self| {
            let host = r.host_at(at);
            let mask = r.mask_value(state.mask());
            r.effect(Kind::StoreMasked { ty: at.ty }, &[host, value, mask]);
        };
        if let Some(lanes) = self.lanes_of_array(at) {
            return self.either(ok, fast, |r| r.scatter(state, &lanes, value));
        }
        if self.array_of(at).is_some() {
            self.guard(state, ok, ExitReason::Store);
            return fast(self);
        }
        self.either(ok, fast, |r| r.store_any(state, at, value));
    }

    /// As [`gather_by_lane`](Self::gather_by_lane).
    fn scatter_by_lane(&mut self, state: &State, at: &Operand, value: Value) {
        let ok = self.vectors_in_bounds(state, at, true);
        let value = self.varying_value(value);
        let fast = |r: &mut Self| {
            let (index, index_ty) = r.lane_index(at);
            let host = r.host(at);
            let mask = r.mask_value(state.mask());
            let kind = Kind::Scatter { ty: at.ty, index: index_ty, scale: at.ty.size() as u32 };
            r.effect(kind, &[host, index, value, mask]);
        };
        if self.array_of(at).is_some() {
            self.guard(state, ok, ExitReason::Store);
            return fast(self);
        }
        self.either(ok, fast, |r| r.store_any(state, at, value));
    }

    pub(super) fn scatter(&mut self, state: &State, at: &Operand, value: Value) {
        self.check_lanes(state, at, true, ExitReason::Store);
        let host = self.host(at);
        let (index, index_ty, scale) = self.index(at);
        let value = self.varying_value(value);
        let mask = self.mask_value(state.mask());
        let kind = Kind::Scatter { ty: at.ty, index: index_ty, scale };
        self.effect(kind, &[host, index, value, mask]);
    }

    pub(super) fn store_any(&mut self, state: &State, at: &Operand, value: Value) {
        let exit = self.exit(state, ExitReason::Store);
        let kind = Kind::StoreAny { ty: at.ty, address: at.address, exit };
        let args = self.any_args(state, at, Some(value));
        self.effect(kind, &args);
    }
}
