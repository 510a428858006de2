//! Dynamic variants of accesses in which every lane has an address of its own.
//!
//! Where the profile says that the addresses usually lie in a row, at a constant distance, or are all the same, a test of the
//! indices leads to code for just that, and to the gather or scatter if it fails. The index that is expected of each lane is
//! `first + lane * stride` in the wrapping arithmetic of the index's type. The bounds of the lowest one are those of the whole
//! row; that no lane wraps follows from them, too (see [`Kind::IndexSpan`]), but for long rows.
//!
//! Where the first index is a constant and the pointer a sum (`&points[3 * i]` handed to a function), the access is taken for one
//! by what was added to the sum's own pointer ([`Sum`]): the bounds of that do not change in a loop in which the sum does.

use super::Recorder;
use super::memory::Operand;
use super::pointers::FARTHEST;
use super::state::{Mask, State};
use crate::advice::AccessPattern;
use crate::ir::{Address, End, ExitReason, Kind, Outcome, Type, Value};
use crate::settings::Variant;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::Inst;
use spmdvm_vm::types::Ty;

/// Farthest apart that elements of a strided access are, in bytes.
const MAX_STRIDE: i64 = 1 << 16;

/// Indices of so many lanes counted from one in bounds do not wrap.
const MAX_LANES: u64 = 64;

/// Most registers that are known to be the same in all lanes by a test, each with what follows from it.
const MAX_SPECULATED: usize = 3;

/// What the indices of the active lanes are expected to be, and whether they are.
struct Row {
    /// The index of lane 0, were it active.
    first: Value,
    /// The least one: that of lane 0, or of the last lane.
    lowest: Value,
    /// From there to the greatest.
    reach: u64,
    /// A uniform bool.
    holds: Value,
}

/// What lies in a row so that an index does, too: a field of a record is in a row where the number of the record is, so one test does
/// for all fields, and the index itself need not be computed for all lanes.
struct Core {
    index: Value,
    stride: i64,
    /// What leads from it to the index, the last first: operations with something that is the same in all lanes.
    steps: Vec<(Op, Value)>,
}

/// An address as a pointer plus a distance in bytes (a uniform `i64`, at most [`FARTHEST`]) plus a constant (from 0 to that).
///
/// The offset of a sum that leaves the range of offsets (`vm::sem::padd`), or was outside of it before, is far outside of every region.
/// So is what is computed here: nothing that may be added leads back from there, or from one end of the range to the other.
struct Sum {
    pointer: Value,
    distance: Value,
    constant: i64,
}

impl Sum {
    /// An access by the distance.
    fn operand(&self, at: &Operand, disp: i64) -> Operand {
        let address = Address { index: Some(Ty::I64), scale: 1, disp, ..at.address };
        Operand { base: self.pointer, index: Some(self.distance), address, ..*at }
    }
}

impl Recorder<'_> {
    /// The usual access pattern of an access, if there is code for it.
    fn usual_pattern(&mut self, state: &State, at: &Operand) -> Option<(AccessPattern, i64)> {
        let (size, scale) = (at.ty.size() as i64, at.address.scale as i64);
        // What has just been tested counts for more than what was seen.
        let is_tested = self.is_proved_by_tests(state, at);
        let seen = self.advice.access_pattern(self.place(state)).filter(|_| !is_tested);
        // What was seen counts in what the instruction scales its index by.
        let (pattern, unit) = match seen {
            Some(pattern) => (pattern, at.unit as i64),
            None => (self.proved_pattern(state, at)?, scale),
        };
        let bytes = match pattern {
            AccessPattern::One => 0,
            AccessPattern::Consecutive => size,
            AccessPattern::Strided(stride) => stride.checked_mul(unit)?,
        };
        if bytes % scale != 0 {
            return None;
        }
        let stride = bytes / scale;
        (stride.abs() <= MAX_STRIDE / scale).then_some((pattern, stride))
    }

    pub(super) fn variant_of(pattern: AccessPattern) -> Variant {
        match pattern {
            AccessPattern::One => Variant::Uniform,
            AccessPattern::Consecutive => Variant::Consecutive,
            AccessPattern::Strided(_) => Variant::Strided,
        }
    }

    /// A load with an address for every lane, by its usual access pattern.
    pub(super) fn gather_by_pattern(&mut self, state: &State, at: &Operand) -> Value {
        let Some((pattern, stride)) = self.usual_pattern(state, at) else { return self.gather(state, at) };
        let row = self.row(state, at, stride);
        let variant = Recorder::variant_of(pattern);
        let place = self.place(state);
        let one = Operand { index: Some(row.first), ..*at };
        let ty = Type::varying(at.ty);
        let ok = self.row_in_bounds(at, &row, false);
        let fast = |r: &mut Self| {
            let host = r.host_of_row(&one);
            let bytes = stride * at.address.scale as i64;
            let v = match pattern {
                AccessPattern::One => r.emit(Kind::Load { ty: at.ty }, &[host], Type::uniform(at.ty)),
                AccessPattern::Consecutive => r.emit(Kind::LoadLanes { ty: at.ty }, &[host], ty),
                AccessPattern::Strided(_) => r.emit(Kind::LoadStrided { ty: at.ty, stride: bytes as i32 }, &[host], ty),
            };
            let zero = r.constant(at.ty, 0);
            let v = r.select(state.mask(), v, zero);
            r.varying_value(v)
        };
        if self.is_sure(state, at, stride) {
            self.guard(state, ok, ExitReason::Load);
            return fast(self);
        }
        self.either_value(
            ok,
            ty,
            |r| {
                r.count(variant, place, Outcome::Hit);
                fast(r)
            },
            |r| {
                r.count(variant, place, Outcome::Missed);
                r.gather(state, at)
            },
        )
    }

    /// Returns whether all lanes of an access certainly have this stride: if their row is not in bounds, one of them is not.
    fn is_sure(&mut self, state: &State, at: &Operand, stride: i64) -> bool {
        state.mask() == Mask::Full && self.proved_stride(state, at) == Some(stride)
    }

    /// A store with an address for every lane, likewise. Lanes that store to one address do so in their order.
    pub(super) fn scatter_by_pattern(&mut self, state: &State, at: &Operand, value: Value) {
        let full = state.mask() == Mask::Full;
        let pattern = self.usual_pattern(state, at).filter(|(pattern, _)| match pattern {
            AccessPattern::One => false,
            AccessPattern::Consecutive => true,
            AccessPattern::Strided(_) => full,
        });
        let Some((pattern, stride)) = pattern else { return self.scatter(state, at, value) };
        let row = self.row(state, at, stride);
        let variant = Recorder::variant_of(pattern);
        let place = self.place(state);
        let one = Operand { index: Some(row.first), ..*at };
        let value = self.varying_value(value);
        let ok = self.row_in_bounds(at, &row, true);
        let fast = |r: &mut Self| {
            let host = r.host_of_row(&one);
            let bytes = stride * at.address.scale as i64;
            match (pattern, state.mask()) {
                (AccessPattern::Consecutive, Mask::Full) => r.effect(Kind::StoreLanes { ty: at.ty }, &[host, value]),
                (AccessPattern::Consecutive, mask) => {
                    let mask = r.mask_value(mask);
                    r.effect(Kind::StoreMasked { ty: at.ty }, &[host, value, mask]);
                }
                _ => r.effect(Kind::StoreStrided { ty: at.ty, stride: bytes as i32 }, &[host, value]),
            }
        };
        if self.is_sure(state, at, stride) {
            self.guard(state, ok, ExitReason::Store);
            return fast(self);
        }
        self.either(
            ok,
            |r| {
                r.count(variant, place, Outcome::Hit);
                fast(r);
            },
            |r| {
                r.count(variant, place, Outcome::Missed);
                r.scatter(state, at, value);
            },
        );
    }

    /// Where all lanes of a load have one address as a rule: if they do, goes on with what is loaded there as the same in all
    /// lanes, on a way of its own. Recording continues for where they do not; gives whether that is known now.
    pub(super) fn agree_on_address(&mut self, state: &State, inst: &Inst, at: &Operand) -> bool {
        let usual = self.usual_pattern(state, at).is_some_and(|(pattern, _)| pattern == AccessPattern::One);
        if !usual || state.mask() != Mask::Full || state.speculated.len() >= MAX_SPECULATED {
            return false;
        }
        let row = self.row(state, at, 0);
        let ok = self.row_in_bounds(at, &row, false);
        let one = Operand { index: Some(row.first), ..*at };
        self.speculate(state, inst, ok, |r| {
            let host = r.host_at(&one);
            r.emit(Kind::Load { ty: at.ty }, &[host], Type::uniform(at.ty))
        });
        true
    }

    /// The same where what lanes have loaded is equal as a rule, wherever it came from. (Floats that are equal need not have
    /// the same bits.)
    pub(super) fn agree_on_value(&mut self, state: &State, inst: &Inst, v: Value) {
        let place = self.place(state);
        let wanted = self.ty(v).is_varying() && !inst.ty.is_float() && self.advice.one_value(place);
        if !wanted || state.mask() != Mask::Full || state.speculated.len() >= MAX_SPECULATED {
            return;
        }
        let (_, first) = self.first_lane_of(state, v);
        let differ = self.plain(Op::Ne, inst.ty, &[v, first]);
        let ok = self.none(Mask::Any(differ));
        self.speculate(state, inst, ok, |_| first);
    }

    fn speculate(&mut self, state: &State, inst: &Inst, ok: Value, value: impl FnOnce(&mut Self) -> Value) {
        let place = self.place(state);
        let (same, other) = self.branch_apart(ok);
        self.b.switch_to(same);
        self.count(Variant::Uniform, place, Outcome::Hit);
        let value = value(self);
        let mut there = state.clone();
        self.reads_speculated = true;
        self.write(&mut there, inst.dst, value);
        self.reads_speculated = false;
        there.top_mut().pc += 1;
        let edge = self.edge(&there);
        self.b.end(End::Jump(edge));
        self.b.switch_to(other);
        self.count(Variant::Uniform, place, Outcome::Missed);
    }

    /// Compares the indices of the active lanes with a row of this stride.
    fn row(&mut self, state: &State, at: &Operand, stride: i64) -> Row {
        let (index, ty, _) = self.index(at);
        let (first, holds) = if self.proved_stride(state, at) == Some(stride) {
            (self.lane_zero(state, index, stride), self.constant(Ty::Bool, 1))
        } else {
            let core = self.core(index, stride);
            let start = self.before_first(state, core.index, core.stride);
            let first = core.steps.iter().rev().fold(start, |x, &(op, by)| self.plain(op, ty, &[x, by]));
            (first, self.in_a_row(state, core.index, start, core.stride))
        };
        let reach = stride * (self.program.width.lanes() as i64 - 1);
        let lowest = match reach < 0 {
            true => {
                let reach = self.constant(ty, reach as u64);
                self.plain(Op::Add, ty, &[first, reach])
            }
            false => first,
        };
        let reach = reach.unsigned_abs();
        let holds = self.and_no_wrap(holds, lowest, reach);
        Row { first, lowest, reach, holds }
    }

    /// What lane 0 would hold if it were active and its distance from the first active lane as expected.
    fn before_first(&mut self, state: &State, index: Value, stride: i64) -> Value {
        let ty = self.ty(index).ty;
        let (lane, seen) = self.first_lane_of(state, index);
        let stride = self.constant(ty, stride as u64);
        let before = self.convert(lane, ty);
        let before = self.plain(Op::Mul, ty, &[before, stride]);
        self.plain(Op::Sub, ty, &[seen, before])
    }

    /// What an index is computed from.
    fn core(&self, index: Value, stride: i64) -> Core {
        let mut core = Core { index, stride, steps: Vec::new() };
        while let Some(inst) = self.definition(core.index) {
            let Kind::Op { op, ty, .. } = inst.kind else { break };
            let [a, b] = inst.args[..] else { break };
            let (x, by) = if self.ty(a).is_varying() || op == Op::Sub { (a, b) } else { (b, a) };
            if !ty.is_int() || !self.ty(x).is_varying() || self.ty(by).is_varying() {
                break;
            }
            let factor = self.known(by).filter(|&by| (1..=MAX_STRIDE as u64).contains(&by)).map(|by| by as i64);
            match (op, factor) {
                (Op::Add | Op::Sub, _) => {}
                (Op::Mul, Some(factor)) if core.stride % factor == 0 => core.stride /= factor,
                _ => break,
            }
            core.index = x;
            core.steps.push((op, by));
        }
        core
    }

    /// What has computed a value, if it is no parameter.
    pub(super) fn definition(&self, v: Value) -> Option<&crate::ir::Inst> {
        self.b.definition(v)
    }

    /// A uniform bool: whether the active lanes hold `first + lane * stride`.
    fn in_a_row(&mut self, state: &State, index: Value, first: Value, stride: i64) -> Value {
        let ty = self.ty(index).ty;
        let stride = self.constant(ty, stride as u64);
        let lanes = self.lane_numbers();
        let lanes = self.convert(lanes, ty);
        let steps = self.plain(Op::Mul, ty, &[lanes, stride]);
        let expected = self.plain(Op::Add, ty, &[steps, first]);
        let differ = self.plain(Op::Ne, ty, &[index, expected]);
        let bad = self.and(state.mask(), Mask::Any(differ));
        self.none(bad)
    }

    /// In bounds, a row of 64-bit indices cannot wrap (memory is far smaller, and displacements are limited by
    /// `spmdvm_vm::verify`), nor a short one of 32 bits. Others could, in an array of more than 2³¹ elements.
    fn and_no_wrap(&mut self, holds: Value, lowest: Value, reach: u64) -> Value {
        let greatest = match self.ty(lowest).ty {
            Ty::I32 => i32::MAX as u64,
            Ty::U32 => u32::MAX as u64,
            _ => return holds,
        };
        if reach < MAX_LANES {
            return holds;
        }
        let ty = self.ty(lowest).ty;
        let most = self.constant(ty, greatest - reach);
        let exact = self.plain(Op::Le, ty, &[lowest, most]);
        self.plain(Op::And, Ty::Bool, &[holds, exact])
    }

    /// The first active lane, and what it holds.
    pub(super) fn first_lane_of(&mut self, state: &State, v: Value) -> (Value, Value) {
        let elem = self.ty(v).ty;
        let lane = match state.mask() {
            Mask::Full => self.constant(Ty::I32, 0),
            mask => {
                let bits = self.bits(mask);
                self.lowest_lane(bits)
            }
        };
        let is_iota = self.definition(v).is_some_and(|inst| matches!(inst.kind, Kind::Op { op: Op::Iota, .. }));
        if is_iota && state.mask() == Mask::Full {
            return (lane, self.constant(elem, 0));
        }
        (lane, self.element(v, lane))
    }

    /// What a value is in the last active lane.
    pub(super) fn last_active(&mut self, state: &State, v: Value) -> Value {
        let lane = match state.mask() {
            Mask::Full => self.constant(Ty::I32, self.program.width.lanes() as u64 - 1),
            mask => {
                let bits = self.bits(mask);
                let above = self.plain(Op::Clz, Ty::U64, &[bits]);
                let above = self.convert(above, Ty::I32);
                let highest = self.constant(Ty::I32, 63);
                self.plain(Op::Sub, Ty::I32, &[highest, above])
            }
        };
        self.element(v, lane)
    }

    /// Whether the row is what the indices are, and all of it may be accessed.
    fn row_in_bounds(&mut self, at: &Operand, row: &Row, write: bool) -> Value {
        let (_, _, scale) = self.index(at);
        let need = row.reach * scale as u64 + at.ty.size() as u64;
        let lowest = Operand { index: Some(row.lowest), ..*at };
        let ok = match self.sum(&lowest) {
            Some(sum) => {
                let disp = at.address.disp + sum.constant;
                self.in_bounds(&sum.operand(&lowest, disp), need as u32, write)
            }
            None => self.in_bounds(&lowest, need as u32, write),
        };
        self.plain(Op::And, Ty::Bool, &[row.holds, ok])
    }

    /// The host address of the first element of a row.
    fn host_of_row(&mut self, at: &Operand) -> Value {
        let Some(sum) = self.sum(at) else { return self.host_at(at) };
        let host = self.host_at(&sum.operand(at, at.address.disp));
        let constant = self.constant(Ty::U64, sum.constant as u64);
        self.plain(Op::Add, Ty::U64, &[host, constant])
    }

    /// Of an access by a constant index from a sum that is far from wrapping around.
    fn sum(&self, at: &Operand) -> Option<Sum> {
        let bits = self.known(at.index?)?;
        let index = if at.address.index?.size() == 4 { bits as i32 as i64 } else { bits as i64 };
        let constant = index.checked_mul(at.address.scale as i64)?;
        let far = constant.checked_add(at.address.disp)?;
        if !(0..FARTHEST).contains(&constant) || !(0..FARTHEST).contains(&far) {
            return None;
        }
        let padd = self.definition(at.base).filter(|inst| matches!(inst.kind, Kind::Op { op: Op::PAdd, .. }))?;
        let (pointer, distance) = (padd.args[0], padd.args[1]);
        let is_near = self.most(distance)? <= FARTHEST as u64;
        let in_frame = self.address(at.base).or_else(|| self.address(pointer)).is_some();
        (is_near && !in_frame && !self.ty(pointer).is_varying() && !self.ty(distance).is_varying()).then_some(Sum {
            pointer,
            distance,
            constant,
        })
    }
}
