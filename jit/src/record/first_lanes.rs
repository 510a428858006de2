//! Recording accesses to consecutive elements by the first lanes, whose number is a constant: a `foreach` over three elements has them.
//!
//! All of these elements are accessed, so they are in bounds or the access fails: one range of just them, and no slow way. A few
//! elements of a frame's memory at a known place are accessed one by one, which makes them cells for
//! [`mem2reg`](crate::passes::mem2reg).
//!
//! The front end computes such a mask before the loops around, where a region need not begin. So what such registers hold is known of
//! the function ([`Lanes`]), and computed at the region's entry.

use super::Recorder;
use super::memory::Operand;
use super::state::{Mask, State};
use crate::analysis::Lanes;
use crate::ir::{ExitReason, Kind, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Reg};
use spmdvm_vm::types::{Shape, Ty};

/// Most elements that are accessed one by one.
const MOST_CELLS: u32 = 4;

impl Recorder<'_> {
    /// How many lanes from the first on are active, and no others, if that is known.
    pub(super) fn first_lanes(&self, state: &State) -> Option<u32> {
        if let Mask::First(n) = state.mask() { Some(n) } else { None }
    }

    /// The lanes below a number, as a mask.
    pub(super) fn lanes_below(&mut self, n: u32) -> Value {
        let (numbers, bound) = (self.lane_numbers(), self.constant(Ty::I32, n.into()));
        let below = Kind::Op { op: Op::Lt, ty: Ty::I32, from: Ty::I32 };
        let mask = self.shared(below, &[numbers, bound], Type::MASK);
        self.below.insert(mask, n);
        mask
    }

    /// What a register holds whenever it is read, if it is the number of each lane, or whether that is below a constant.
    pub(super) fn lanes_in(&mut self, function: FuncId, r: Reg) -> Option<Value> {
        // Few registers are varying numbers or masks, and every instruction reads some.
        let decl = self.function(function).reg(r);
        if decl.shape == Shape::Uniform || !matches!(decl.ty, Ty::I32 | Ty::Bool) {
            return None;
        }
        match self.analysis(function).lanes(r)? {
            Lanes::Numbers => Some(self.lane_numbers()),
            Lanes::Below(n) => Some(self.lanes_below(n)),
        }
    }

    /// The lanes for which a varying condition holds.
    pub(super) fn lanes_of(&self, condition: Value) -> Mask {
        let n = self.below.get(&condition).filter(|n| (1..self.program.width.lanes() as u32).contains(n));
        n.map_or(Mask::Any(condition), |&n| Mask::First(n))
    }

    pub(super) fn load_first_lanes(&mut self, state: &State, at: &Operand, lanes: u32) -> Value {
        let ty = Type::varying(at.ty);
        let ok = self.in_bounds(at, at.ty.size() as u32 * lanes, false);
        self.guard(state, ok, ExitReason::Load);
        let Some(cells) = self.cells(at, lanes) else {
            let (host, mask) = (self.host_at(at), self.mask_value(state.mask()));
            return self.emit(Kind::LoadPacked { ty: at.ty }, &[host, mask], ty);
        };
        let zero = self.constant(at.ty, 0);
        let mut all = self.varying_value(zero);
        for (lane, cell) in cells.into_iter().enumerate() {
            let x = self.emit(Kind::Load { ty: at.ty }, &[cell], Type::uniform(at.ty));
            let lane = self.constant(Ty::I32, lane as u64);
            all = self.emit(Kind::Op { op: Op::Insert, ty: at.ty, from: at.ty }, &[all, lane, x], ty);
        }
        all
    }

    pub(super) fn store_first_lanes(&mut self, state: &State, at: &Operand, value: Value, lanes: u32) {
        let ok = self.in_bounds(at, at.ty.size() as u32 * lanes, true);
        self.guard(state, ok, ExitReason::Store);
        let Some(cells) = self.cells(at, lanes) else {
            let (host, mask) = (self.host_at(at), self.mask_value(state.mask()));
            let value = self.varying_value(value);
            return self.effect(Kind::StoreMasked { ty: at.ty }, &[host, value, mask]);
        };
        for (lane, cell) in cells.into_iter().enumerate() {
            let mut x = value;
            if self.ty(value).is_varying() {
                let lane = self.constant(Ty::I32, lane as u64);
                let extract = Kind::Op { op: Op::Extract, ty: at.ty, from: at.ty };
                x = self.emit(extract, &[value, lane], Type::uniform(at.ty));
            }
            self.effect(Kind::Store { ty: at.ty }, &[cell, x]);
        }
    }

    /// The host addresses of a few elements at a known place in the memory of a frame.
    fn cells(&mut self, at: &Operand, lanes: u32) -> Option<Vec<Value>> {
        if lanes > MOST_CELLS || at.ty == Ty::Bool {
            return None;
        }
        let (index, _, scale) = self.index(at);
        let size = at.ty.size() as i64;
        (0..lanes as i64).map(|lane| self.known_host(at, index, scale, lane * size)).collect()
    }
}
