//! Recording accesses by pointers that vary.
//!
//! A sum of a pointer and an offset stays in the pointer's region (`vm::sem::padd`). So pointers that are sums from one
//! uniform pointer lead to one region, that of this pointer, and an access by them is one by an index: by the distance
//! that was added, where that is known to be small, or else by the offset in the region. Such an access is recorded as
//! that of an array: its bounds leave loops, and its lanes may have a pattern.
//!
//! Others are addresses of one region as a rule: then the region is looked up once, and the lanes' offsets are indices
//! into it. Where the profile says that they lead to several, each lane's is looked up; what is asked about pointers
//! that do not change leaves loops, too.

use super::Recorder;
use super::memory::{MAX_SCALE, Operand};
use super::state::{Mask, State};
use crate::ir::{Address, ExitReason, Kind, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;

/// Farthest that an address may be moved without being looked at as a pointer: half of what offsets reach.
pub(super) const FARTHEST: i64 = 1 << (OFFSET_BITS - 2);

/// Most sums that lead from a pointer to the uniform one.
const MAX_SUMS: usize = 4;

impl Recorder<'_> {
    /// Of an access by pointers that vary and are sums from a uniform one: the same as an access by an index that
    /// varies.
    ///
    /// The offset of a sum that leaves the range of offsets is far outside of every region, and so is what is computed
    /// here: what is added is not negative but for the distances themselves, and too little to lead from one end of the
    /// range to the other.
    pub(super) fn by_distance(&mut self, at: &Operand) -> Option<Operand> {
        if !self.ty(at.base).is_varying() || !self.has_narrow_index(at) {
            return None;
        }
        let (pointer, distances) = self.sums(at.base)?;
        let far = distances.iter().try_fold(0u64, |sum, &d| sum.checked_add(self.most(d)?));
        let (own, disp) = (at.address.index.map(|ty| (ty, at.address.scale as u64)), at.address.disp);
        let added = match own {
            None => Some(0),
            Some((Ty::U32, scale)) => Some(u64::from(u32::MAX) * scale),
            Some(_) => None,
        };
        let lanes = if at.address.by_lane { (at.ty.size() * self.program.width.lanes()) as u64 } else { 0 };
        let is_near = far.zip(added).is_some_and(|(far, added)| far + added + lanes <= FARTHEST as u64);
        if !is_near || !(0..FARTHEST).contains(&disp) {
            let in_frame = self.address(pointer).is_some();
            return (!in_frame).then(|| self.by_offset(at, pointer));
        }
        let (index, ty, scale) = match (&distances[..], at.index) {
            (&[distance], None) if !at.address.by_lane => self.factors(distance),
            _ => {
                let own = self.own_distance(at);
                let all = distances.into_iter().chain(own);
                (all.reduce(|a, b| self.plain(Op::Add, Ty::I64, &[a, b]))?, Ty::I64, 1)
            }
        };
        let address = Address { index: Some(ty), scale, by_lane: false, ..at.address };
        self.ty(index).is_varying().then_some(Operand { base: pointer, index: Some(index), address, ..*at })
    }

    /// Of an access by pointers that vary: whether it is one by an index into the region of the first active lane's
    /// pointer. Gives that access, and a uniform bool.
    pub(super) fn in_one_region(&mut self, state: &State, at: &Operand) -> Option<(Operand, Value)> {
        if !self.ty(at.base).is_varying() || !self.has_narrow_index(at) {
            return None;
        }
        let (_, pointer) = self.first_lane_of(state, at.base);
        let bits = self.constant(Ty::U64, OFFSET_BITS as u64);
        let region = self.plain(Op::Shr, Ty::U64, &[pointer, bits]);
        let regions = self.plain(Op::Shr, Ty::U64, &[at.base, bits]);
        let differ = self.plain(Op::Ne, Ty::U64, &[regions, region]);
        let bad = self.and(state.mask(), Mask::Any(differ));
        let same = self.none(bad);
        Some((self.by_offset(at, pointer), same))
    }

    /// A load by pointers that lead to several regions as a rule: looks up each lane's.
    pub(super) fn gather_apart(&mut self, state: &State, at: &Operand) -> Option<Value> {
        let addresses = self.addresses_apart(state, at, false)?;
        let [nowhere, mask] = [self.constant(Ty::U64, 0), self.mask_value(state.mask())];
        let kind = Kind::Gather { ty: at.ty, index: Ty::U64, scale: 1, clears: true };
        Some(self.emit(kind, &[nowhere, addresses, mask], Type::varying(at.ty)))
    }

    /// A store, likewise. Returns whether it is one.
    pub(super) fn scatter_apart(&mut self, state: &State, at: &Operand, value: Value) -> bool {
        let Some(addresses) = self.addresses_apart(state, at, true) else { return false };
        let value = self.varying_value(value);
        let [nowhere, mask] = [self.constant(Ty::U64, 0), self.mask_value(state.mask())];
        let kind = Kind::Scatter { ty: at.ty, index: Ty::U64, scale: 1 };
        self.effect(kind, &[nowhere, addresses, value, mask]);
        true
    }

    /// The host addresses of the lanes of such an access; leaves if that of an active one is out of bounds. What
    /// depends on the pointers alone is computed first, as a loop may change the index only.
    fn addresses_apart(&mut self, state: &State, at: &Operand, write: bool) -> Option<Value> {
        if !self.ty(at.base).is_varying() || !self.has_narrow_index(at) || !self.advice.leads_apart(self.place(state)) {
            return None;
        }
        self.insts += 2;
        let len = self.b.region_len(at.base, write);
        let base = self.b.region_base(at.base);
        let rest = self.constant(Ty::U64, at.ty.size() as u64 - 1);
        let most = self.plain(Op::Max, Ty::U64, &[len, rest]);
        let span = self.plain(Op::Sub, Ty::U64, &[most, rest]);
        let disp = self.constant(Ty::I64, at.address.disp as u64);
        let offset = self.signed_offset(at.base);
        let mut offset = self.plain(Op::Add, Ty::I64, &[offset, disp]);
        if let Some(own) = self.own_distance(at) {
            offset = self.plain(Op::Add, Ty::I64, &[offset, own]);
        }
        let offset = self.op(Op::Bitcast, Ty::U64, Ty::I64, &[offset]);
        let ok = self.plain(Op::Lt, Ty::U64, &[offset, span]);
        let bad = self.and_not(state.mask(), Mask::Any(ok));
        self.guard_none(state, bad, if write { ExitReason::Store } else { ExitReason::Load });
        Some(self.plain(Op::Add, Ty::U64, &[base, offset]))
    }

    /// The offset of a pointer in its region.
    fn signed_offset(&mut self, pointer: Value) -> Value {
        let rest = self.constant(Ty::I64, 64 - OFFSET_BITS as u64);
        let offset = self.op(Op::Bitcast, Ty::I64, Ty::U64, &[pointer]);
        let offset = self.plain(Op::Shl, Ty::I64, &[offset, rest]);
        self.plain(Op::Shr, Ty::I64, &[offset, rest])
    }

    /// Returns whether the offset that an operand's index makes can be added to that of its pointer without overflow.
    fn has_narrow_index(&self, at: &Operand) -> bool {
        matches!(at.address.index, None | Some(Ty::I32 | Ty::U32)) && at.address.scale <= MAX_SCALE
    }

    /// An access as one by the offsets of its pointers in the region of `pointer`, in which they are.
    fn by_offset(&mut self, at: &Operand, pointer: Value) -> Operand {
        let bits = self.constant(Ty::U64, OFFSET_BITS as u64);
        let region = self.plain(Op::Shr, Ty::U64, &[pointer, bits]);
        let base = self.plain(Op::Shl, Ty::U64, &[region, bits]);
        let mut index = self.signed_offset(at.base);
        if let Some(own) = self.own_distance(at) {
            index = self.plain(Op::Add, Ty::I64, &[index, own]);
        }
        let address = Address { index: Some(Ty::I64), scale: 1, by_lane: false, ..at.address };
        Operand { base, index: Some(index), address, ..*at }
    }

    /// What an operand's own index adds, in bytes, and the lanes' numbers if they count.
    fn own_distance(&mut self, at: &Operand) -> Option<Value> {
        let bytes = |r: &mut Self, times: Value, each: u64| {
            let (times, each) = (r.convert(times, Ty::I64), r.constant(Ty::I64, each));
            r.plain(Op::Mul, Ty::I64, &[times, each])
        };
        let own = at.index.map(|index| bytes(self, index, at.address.scale.into()));
        if !at.address.by_lane {
            return own;
        }
        let lane = self.lane_numbers();
        let lanes = bytes(self, lane, at.ty.size() as u64);
        Some(own.map_or(lanes, |own| self.plain(Op::Add, Ty::I64, &[own, lanes])))
    }

    /// The uniform pointer that pointers are sums from, and what was added to it.
    fn sums(&self, mut pointer: Value) -> Option<(Value, Vec<Value>)> {
        let mut distances = Vec::new();
        while self.ty(pointer).is_varying() && distances.len() < MAX_SUMS {
            let padd = self.definition(pointer).filter(|inst| matches!(inst.kind, Kind::Op { op: Op::PAdd, .. }))?;
            distances.push(padd.args[1]);
            pointer = padd.args[0];
        }
        (!self.ty(pointer).is_varying()).then_some((pointer, distances))
    }

    /// A distance in bytes as an index and what that is multiplied by.
    fn factors(&self, distance: Value) -> (Value, Ty, u32) {
        let (mut v, mut scale) = (distance, 1u64);
        while let Some(inst) = self.definition(v)
            && let Kind::Op { op, ty: Ty::I64, from } = inst.kind
        {
            let by = || inst.args.get(1).and_then(|&by| self.known(by));
            let factor = match op {
                Op::Convert if matches!(from, Ty::I32 | Ty::U32) => return (inst.args[0], from, scale as u32),
                Op::Mul => by(),
                Op::Shl => by().filter(|&by| by < 32).map(|by| 1 << by),
                _ => None,
            };
            let product = factor.and_then(|factor| scale.checked_mul(factor));
            let Some(product) = product.filter(|product| (1..=u64::from(MAX_SCALE)).contains(product)) else { break };
            (v, scale) = (inst.args[0], product);
        }
        (distance, Ty::I64, 1)
    }

    /// How large an `i64` may be in magnitude, if it is made of shorter integers.
    pub(super) fn most(&self, v: Value) -> Option<u64> {
        if let Some(bits) = self.known(v) {
            return Some((bits as i64).unsigned_abs());
        }
        let inst = self.definition(v)?;
        match inst.kind {
            Kind::Op { op: Op::Convert, ty: Ty::I64, from } if from.is_int() && from.size() <= 4 => {
                Some(u32::MAX.into())
            }
            Kind::Op { op: Op::Mul, ty: Ty::I64, .. } => {
                let [a, b] = [inst.args[0], inst.args[1]];
                let (x, by) = if self.known(b).is_some() { (a, b) } else { (b, a) };
                self.most(x)?.checked_mul(self.known(by)?)
            }
            Kind::Op { op: Op::Shl, ty: Ty::I64, .. } => {
                let by = self.known(inst.args[1]).filter(|&by| by < 32)?;
                self.most(inst.args[0])?.checked_mul(1 << by)
            }
            _ => None,
        }
    }
}
