//! Recording packed loads and stores.
//!
//! `packed_store_active` and its like access an array by how many of the active lanes lie below each lane: so these take
//! consecutive elements, as many as there are active lanes. All of them are in bounds if the first is and the rest of the
//! array from there on has room for as many, where the lanes would have to be checked one by one. Almost always there is room
//! for a whole vector, which is one comparison, and in a loop the same as that of accesses of whole vectors; only where there
//! is not, the active lanes are counted. Who computes the index in another way than the library does has an ordinary scatter.

use super::Recorder;
use super::memory::Operand;
use super::state::{Mask, State};
use crate::ir::{Address, Inst, Kind, Type, Value, unsigned};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

impl Recorder<'_> {
    /// Records a load, if it is a packed one.
    pub(super) fn load_packed(&mut self, state: &State, at: &Operand) -> Option<Value> {
        let lanes = self.packed_lanes(state, at)?;
        if state.mask() == Mask::Full {
            return Some(self.load_lanes(state, &in_a_row(at)));
        }
        let (ty, mask) = (Type::varying(at.ty), self.mask_value(state.mask()));
        let fast = |r: &mut Self| {
            let host = r.host(at);
            r.emit(Kind::LoadPacked { ty: at.ty }, &[host, mask], ty)
        };
        let fits = self.vector_in_bounds(at, false);
        Some(self.either_value(fits, ty, fast, |r| {
            let ok = r.packed_in_bounds(at, lanes, false);
            r.either_value(ok, ty, fast, |r| r.load_any(state, at, true))
        }))
    }

    /// Records a store, if it is a packed one.
    pub(super) fn store_packed(&mut self, state: &State, at: &Operand, value: Value) -> bool {
        let Some(lanes) = self.packed_lanes(state, at) else { return false };
        if state.mask() == Mask::Full {
            self.store_lanes(state, &in_a_row(at), value);
            return true;
        }
        let (value, mask) = (self.varying_value(value), self.mask_value(state.mask()));
        let fast = |r: &mut Self| {
            let host = r.host(at);
            r.effect(Kind::StorePacked { ty: at.ty }, &[host, value, mask]);
        };
        let fits = self.vector_in_bounds(at, true);
        self.either(fits, fast, |r| {
            let ok = r.packed_in_bounds(at, lanes, true);
            r.either(ok, fast, |r| r.store_any(state, at, value));
        });
        true
    }

    /// Of an access whose index is how many active lanes lie below each lane: the bits of the active lanes.
    fn packed_lanes(&mut self, state: &State, at: &Operand) -> Option<Value> {
        if at.address.index != Some(Ty::I32) || at.address.scale as usize != at.ty.size() {
            return None;
        }
        let bits = self.counted_below(at.index?)?;
        let of = self.definition(bits).filter(|inst| matches!(inst.kind, Kind::MaskBits))?.args[0];
        let mask = self.mask_value(state.mask());
        self.is_same_mask(of, mask).then_some(bits)
    }

    /// The uniform word of which a value is, in each lane, the number of bits that are set below the lane's: `__lanes_below`
    /// of the library (`packed.ispc`).
    fn counted_below(&mut self, v: Value) -> Option<Value> {
        let numbers = self.lane_numbers();
        let is = |inst: &&Inst, op: Op, ty: Ty, from: Ty| inst.kind == Kind::Op { op, ty, from };
        let word = |v: Value, op: Op| self.definition(v).filter(|inst| is(inst, op, Ty::U64, Ty::U64));
        let count = self.definition(v).filter(|inst| is(inst, Op::Convert, Ty::I32, Ty::U64))?;
        let lanes_below = word(word(count.args[0], Op::Popcnt)?.args[0], Op::And)?;
        let [bits, below] = lanes_below.args[..] else { return None };
        let below = word(below, Op::Sub).filter(|inst| self.known(inst.args[1]) == Some(1))?;
        let bit = word(below.args[0], Op::Shl).filter(|inst| self.known(inst.args[0]) == Some(1))?;
        let lane = self.definition(bit.args[1]).filter(|inst| is(inst, Op::Convert, Ty::U64, Ty::I32))?;
        (lane.args[0] == numbers && !self.ty(bits).is_varying()).then_some(bits)
    }

    fn is_same_mask(&self, a: Value, b: Value) -> bool {
        let both = |v: Value| self.definition(v).filter(|inst| matches!(inst.kind, Kind::Op { op: Op::And, .. }));
        a == b || both(a).zip(both(b)).is_some_and(|(a, b)| a.args == b.args)
    }

    /// Whether a whole vector of elements is in bounds from the first on.
    fn vector_in_bounds(&mut self, at: &Operand, write: bool) -> Value {
        let need = (at.ty.size() * self.program.width.lanes()) as u32;
        self.in_bounds(&in_a_row(at), need, write)
    }

    /// Whether as many elements as there are active lanes, at least one, are in bounds from the first on.
    fn packed_in_bounds(&mut self, at: &Operand, lanes: Value, write: bool) -> Value {
        let (low, span) = self.bounds(at, at.ty.size() as u32, write);
        let (ty, zero) = (unsigned(Ty::I32), self.constant(Ty::I32, 0));
        let first = self.plain(Op::Sub, Ty::I32, &[zero, low]);
        let first = self.op(Op::Bitcast, ty, Ty::I32, &[first]);
        let begins = self.plain(Op::Lt, ty, &[first, span]);
        let rest = self.plain(Op::Sub, ty, &[span, first]);
        let count = self.plain(Op::Popcnt, Ty::U64, &[lanes]);
        let count = self.convert(count, ty);
        let ends = self.plain(Op::Le, ty, &[count, rest]);
        self.plain(Op::And, Ty::Bool, &[begins, ends])
    }
}

/// The same access where all lanes are active.
fn in_a_row(at: &Operand) -> Operand {
    Operand { index: None, address: Address { index: None, by_lane: true, ..at.address }, ..*at }
}
