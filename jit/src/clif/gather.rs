//! Gathers by indices of 32 bits.
//!
//! Two indices at a time are moved out of a vector and taken apart there, so that addresses need no vectors of 64 bits. What
//! inactive lanes have read is cleared in the end, if somebody sees it.
//!
//! As a rule a guard has just checked the distances of the indices from the least one, with 0 for inactive lanes: then these are
//! what is counted with, from the address of the least index. Otherwise inactive lanes take an index that may be read if any
//! may: the least of the region, where it is at hand, or else that of the first active lane; and where no lane is active,
//! nothing is read.

use super::lanes::Assembly;
use super::plan::LaneWidth;
use super::translate::Translator;
use crate::ir::{BlockId, Inst, Kind, Value};
use crate::lowering::Gather;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// What a guard has checked: distances from the least index in bounds, which are 0 in inactive lanes. That index may be read if a
/// lane is active. An index is that least one plus its distance, without wrapping, because nothing but checks of bounds
/// subtracts an `IndexLow`, and what is in bounds keeps clear of the type's end.
pub(super) struct Checked {
    block: BlockId,
    index: Value,
    /// The lanes that count, if not all.
    mask: Option<Value>,
    low: Value,
    distances: Vec<clif::Value>,
}

/// Indices that every lane may read at.
#[derive(Clone)]
pub(super) struct Indices {
    /// Where they were made, of which value, under which mask.
    of: (BlockId, Value, Value),
    /// The indices of which inactive lanes take the greatest.
    least: Vec<Value>,
    active: Active,
    pieces: Vec<clif::Value>,
}

/// How many lanes of a gather are active.
#[derive(Clone, Copy)]
enum Active {
    All,
    Some,
    /// At least one if this is not 0.
    Perhaps(clif::Value),
}

impl Translator<'_> {
    /// Translates a gather whose index [`fits`](crate::lowering::fits), together with those after it that have the same.
    pub(super) fn gather_indexed(&mut self, inst: &Inst, result: Value) {
        let Some(first) = Gather::of(inst) else { return };
        if first.ty != Ty::Bool && self.made(self.plan.piece_slot(result, 0)).is_some() {
            return;
        }
        let mask = inst.args[2];
        let wanted = |g: &Gather| first.ty != Ty::Bool && g.ty != Ty::Bool && self.plan.is_used(g.result);
        let group = Gather::group(&self.values, inst, first, wanted);
        let (made, all) = match self.take_checked(&group, mask) {
            Some((distances, low)) => (self.gather_checked(&group, low, &distances), self.values.is_full(mask)),
            None => self.gather_readable(&group, mask),
        };
        let mut made = made.into_iter();
        for g in group {
            let pieces: Vec<_> = made.by_ref().take(self.plan.pieces(g.ty.size())).collect();
            self.take_result(g.result, |t, of, i| match all || !g.clears {
                true => pieces[i],
                false => t.cleared(pieces[i], of, mask, i),
            });
        }
    }

    /// Gathers by distances from an index that have been checked.
    fn gather_checked(&mut self, group: &[Gather], low: Value, distances: &[clif::Value]) -> Vec<clif::Value> {
        let bases: Vec<_> = group.iter().map(|g| self.address_from(g, low)).collect();
        self.computed_if(bases[0], |t| t.read_lanes(group, &bases, distances, Ty::U32))
    }

    /// Gathers where inactive lanes take an index that may be read; also tells whether there are none.
    fn gather_readable(&mut self, group: &[Gather], mask: Value) -> (Vec<clif::Value>, bool) {
        let least =
            group.iter().map(|g| self.values.least_index(g.base, g.scale, g.index).filter(|&v| self.is_at_hand(v)));
        let least: Option<Vec<Value>> = least.collect();
        let indices = self.indices(&group[0], mask, least.unwrap_or_default());
        let bases: Vec<_> = group.iter().map(|g| self.scalar(g.base)).collect();
        let any = match indices.active {
            Active::All | Active::Some => bases[0],
            Active::Perhaps(any) => any,
        };
        let made = self.computed_if(any, |t| t.read_lanes(group, &bases, &indices.pieces, group[0].index));
        (made, matches!(indices.active, Active::All))
    }

    /// The vectors of some gathers, one after another.
    fn read_lanes(
        &mut self,
        group: &[Gather],
        bases: &[clif::Value],
        indices: &[clif::Value],
        ty: Ty,
    ) -> Vec<clif::Value> {
        let mut vectors: Vec<_> = group.iter().map(|g| Assembly::new(g.ty, self.lanes)).collect();
        for l in (0..self.lanes).step_by(2) {
            for (index, l) in self.two_numbers(indices[l / 4], l % 4 / 2, ty).into_iter().zip(l..self.lanes) {
                for ((g, &base), vector) in group.iter().zip(bases).zip(&mut vectors) {
                    let x = self.b.ins().ishl_imm_u(index, g.scale.trailing_zeros() as i64);
                    let address = self.b.ins().iadd(base, x);
                    vector.add(self, l, address, 0);
                }
            }
        }
        vectors.into_iter().flat_map(|v| v.finish(self)).collect()
    }

    /// Notes what a guard has checked, if it is the distance of indices from one of them.
    pub(super) fn note_check(&mut self, distance: Value, mask: Option<Value>, distances: Vec<clif::Value>) {
        let is = |inst: &&Inst, what: Op| matches!(inst.kind, Kind::Op { op, .. } if op == what);
        let cast = self.values.inst(distance).filter(|inst| is(inst, Op::Bitcast));
        let difference = self.values.inst(cast.map_or(distance, |inst| inst.args[0]));
        self.checked = difference.filter(|inst| is(inst, Op::Sub)).and_then(|inst| {
            let (index, low) = (inst.args[0], inst.args[1]);
            let fits = self.region.ty(index).ty.size() == 4 && !self.region.ty(low).is_varying();
            fits.then_some(Checked { block: self.block, index, mask, low, distances })
        });
    }

    /// The distances of the indices of gathers, and what from, if they are known to be in bounds.
    fn take_checked(&self, group: &[Gather], mask: Value) -> Option<(Vec<clif::Value>, Value)> {
        let checked = self.checked.as_ref()?;
        let lanes = checked.mask.map_or_else(|| self.values.is_full(mask), |m| m == mask);
        let here = checked.block == self.block && checked.index == group[0].at && lanes;
        // Then the least index is in bounds as well: that may be read in the others.
        let some = || self.values.is_full(mask) || self.values.is_some(mask, self.block);
        let all = here
            && some()
            && group.iter().all(|g| {
                self.values
                    .least_index(g.base, g.scale, g.index)
                    .is_some_and(|least| self.is_at_least(checked.low, least))
            });
        all.then(|| (checked.distances.clone(), checked.low))
    }

    /// Returns whether a value is the greatest of several, one of which is `least`.
    fn is_at_least(&self, v: Value, least: Value) -> bool {
        let max = |inst: &&Inst| matches!(inst.kind, Kind::Op { op: Op::Max, .. });
        let parts = || self.values.inst(v).filter(max);
        v == least || parts().is_some_and(|inst| inst.args.iter().any(|&part| self.is_at_least(part, least)))
    }

    /// The address of an index.
    fn address_from(&mut self, g: &Gather, index: Value) -> clif::Value {
        let (base, index) = (self.scalar(g.base), self.scalar(index));
        let index = self.wide(g.index, index);
        let offset = self.b.ins().ishl_imm_u(index, g.scale.trailing_zeros() as i64);
        self.b.ins().iadd(base, offset)
    }

    /// A piece of what a gather has read, with zeros in inactive lanes.
    fn cleared(&mut self, x: clif::Value, ty: clif::Type, mask: Value, i: usize) -> clif::Value {
        let mask = self.mask(mask, LaneWidth::of(ty.lane_bits() as usize / 8), i);
        let kind = self.b.func.dfg.value_type(mask);
        let x = self.as_type(x, kind);
        let x = self.b.ins().band(x, mask);
        self.as_type(x, ty)
    }

    /// Two of the four integers of a vector, in 64 bits.
    fn two_numbers(&mut self, x: clif::Value, half: usize, index: Ty) -> [clif::Value; 2] {
        let pair = if half == 0 {
            // By way of a float: the first of a vector is its register.
            let pairs = self.as_type(x, types::F64X2);
            let pair = self.b.ins().extractlane(pairs, 0);
            self.b.ins().bitcast(types::I64, MemFlagsData::new(), pair)
        } else {
            let pairs = self.as_type(x, types::I64X2);
            self.b.ins().extractlane(pairs, 1)
        };
        let low = self.b.ins().ireduce(types::I32, pair);
        let low = self.wide(index, low);
        let shift = if index.is_signed() { InstBuilder::sshr_imm_u } else { InstBuilder::ushr_imm_u };
        [low, shift(self.b.ins(), pair, 32)]
    }

    /// An index of 32 bits in 64.
    fn wide(&mut self, index: Ty, x: clif::Value) -> clif::Value {
        let extend = if index.is_signed() { InstBuilder::sextend } else { InstBuilder::uextend };
        extend(self.b.ins(), types::I64, x)
    }

    /// Returns whether a uniform value is there, so that it need not be computed for something that can do without.
    fn is_at_hand(&self, v: Value) -> bool {
        self.homes.is_on_stack(v) || self.made(self.plan.scalar_slot(v)).is_some()
    }

    /// The indices of a gather: those of the last one, if they are the same.
    fn indices(&mut self, g: &Gather, mask: Value, least: Vec<Value>) -> Indices {
        let there = self.indices.take();
        if let Some(there) = there.filter(|i| i.of == (self.block, g.at, mask) && i.least == least) {
            return self.indices.insert(there).clone();
        }
        let mut pieces: Vec<_> = (0..self.plan.pieces(4)).map(|i| self.piece(g.at, i)).collect();
        let active = self.active(mask);
        if !matches!(active, Active::All) {
            let readable = self.greatest(g.index, &least).unwrap_or_else(|| self.first_active(mask, &pieces));
            let readable = self.b.ins().splat(types::I32X4, readable);
            for (i, x) in pieces.iter_mut().enumerate() {
                let mask = self.mask(mask, LaneWidth::of(4), i);
                *x = self.blend(mask, *x, readable);
            }
        }
        self.indices.insert(Indices { of: (self.block, g.at, mask), least, active, pieces }).clone()
    }

    /// The greatest of some scalars. Of the least indices of several gathers it is in bounds for all, if any index is.
    fn greatest(&mut self, ty: Ty, values: &[Value]) -> Option<clif::Value> {
        let mut all: Vec<_> = values.iter().map(|&v| self.scalar(v)).collect();
        all.dedup();
        all.into_iter().reduce(|a, b| if ty.is_signed() { self.b.ins().smax(a, b) } else { self.b.ins().umax(a, b) })
    }

    fn active(&mut self, mask: Value) -> Active {
        if self.values.is_full(mask) {
            Active::All
        } else if self.values.is_some(mask, self.block) {
            Active::Some
        } else {
            Active::Perhaps(self.any_lane(mask))
        }
    }

    /// The index of the first active lane; if there is none, any.
    fn first_active(&mut self, mask: Value, pieces: &[clif::Value]) -> clif::Value {
        let bits = self.mask_bits(mask);
        let first = self.b.ins().ctz(bits);
        let first = self.b.ins().band_imm_u(first, self.lanes as i64 - 1);
        let at = self.b.ins().ishl_imm_u(first, 2);
        let memory = self.in_scratch(pieces);
        let at = self.b.ins().iadd(memory, at);
        self.b.ins().load(types::I32, MemFlagsData::trusted(), at, 0)
    }
}
