//! Recording `each.lane`, `each.all` and `each.unique`: loops that visit lanes one after another.
//!
//! Lanes are values as everywhere, so one body serves all turns: the lowest lane that waits is found by counting zeros of the mask's
//! bits, and what is left waits for the next turn.

use super::Recorder;
use super::divergence::push;
use super::state::{Entry, Mask, State};
use super::step::Next;
use crate::abort::{Abort, Defect};
use crate::ir::{End, Kind, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::Inst;
use spmdvm_vm::types::Ty;
use spmdvm_vm::verify::EntryKind;

impl Recorder<'_> {
    pub(super) fn each_begin(&mut self, state: &mut State) {
        let mask = state.mask();
        // That some lane waits is known before the first turn only. Were that turn recorded apart, it would lead into the midst of the
        // others where their ways meet: a cycle with two entries, which no pass takes for a loop.
        let waiting = match mask {
            Mask::Empty | Mask::One(_) => mask,
            _ => Mask::Any(self.mask_value(mask)),
        };
        push(state, EntryKind::Each, mask, waiting);
        if let Some(top) = state.top_mut().entries.last_mut() {
            top.visiting = Some(self.constant(Ty::I32, 0));
        }
    }

    /// Returns whether a turn begins where a state is: then nobody reads which lanes are active.
    pub(super) fn is_at_turn(&self, state: &State) -> bool {
        let top = state.top();
        let inst = self.function(top.function).code.get(top.pc as usize);
        inst.is_some_and(|inst| matches!(inst.op, Op::EachLane | Op::EachAll | Op::EachUnique))
    }

    /// An instruction of the table's form `each`: the next turn, or the end of the loop.
    pub(super) fn each(&mut self, state: &mut State, inst: &Inst) -> Result<Next, Abort> {
        let Some(&Entry { other, .. }) = state.top().entries.last() else {
            return Err(Abort::Defect(Defect::NoMaskEntry(inst.op)));
        };
        match Self::has_lanes(other) {
            Some(false) => {
                state.set_mask(Mask::Empty);
                return Ok(self.go(state, inst.aux));
            }
            Some(true) => {}
            None => {
                let some = self.any(other);
                let done = self.edge_with(state, inst.aux, Mask::Empty);
                let (turn, out) = self.branch_apart(some);
                self.b.switch_to(out);
                self.b.end(End::Jump(done));
                self.b.switch_to(turn);
            }
        }
        self.tick(state);
        self.take_turn(state, inst, other);
        Ok(Next::Here)
    }

    fn take_turn(&mut self, state: &mut State, inst: &Inst, waiting: Mask) {
        let bits = self.bits(waiting);
        let lane = self.plain(Op::Ctz, Ty::U64, &[bits]);
        let one = self.constant(Ty::U64, 1);
        let bit = self.plain(Op::Shl, Ty::U64, &[one, lane]);
        let lane = self.convert(lane, Ty::I32);
        let own = Mask::Some(self.emit(Kind::MaskFromBits, &[bit], Type::MASK));
        let zero = self.constant(Ty::I32, 0);
        let (lanes, mask, visiting, value) = match inst.op {
            Op::EachLane => (own, own, zero, lane),
            Op::EachAll => {
                let one = self.constant(Ty::I32, 1);
                let visiting = self.plain(Op::Add, Ty::I32, &[lane, one]);
                (own, Mask::Full, visiting, lane)
            }
            _ => {
                let v = self.read(state, inst.src[0]);
                let (value, lanes) = self.equal_lanes(v, lane, own, waiting, inst.ty);
                (lanes, lanes, zero, value)
            }
        };
        let rest = self.and_not(waiting, lanes);
        if let Some(top) = state.top_mut().entries.last_mut() {
            top.other = rest;
            top.visiting = Some(visiting);
        }
        state.set_mask(mask);
        self.write(state, inst.dst, value);
    }

    /// The value of a lane, and the waiting lanes that equal it (with the lane itself, even if it is a NaN).
    fn equal_lanes(&mut self, v: Value, lane: Value, own: Mask, waiting: Mask, ty: Ty) -> (Value, Mask) {
        let v = self.varying_value(v);
        let value = self.element(v, lane);
        let equal = self.plain(Op::Eq, ty, &[v, value]);
        let lanes = self.or(Mask::Any(equal), own);
        let lanes = match self.and(lanes, waiting) {
            Mask::Any(v) => Mask::Some(v),
            known => known,
        };
        (value, lanes)
    }
}
