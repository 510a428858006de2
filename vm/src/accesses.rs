//! What an instruction is about to access in memory: for check mode, traces and interactive tools.

use crate::interp::MAX_LANES;
use crate::interp::lanes::lanes_of;
use crate::isa::{Extra, Op};
use crate::memory::{MAX_REGION_LEN, offset_of, region_of};
use crate::observe::View;
use crate::program::{Inst, Reg};
use crate::trap::{Access, RegionKind};
use crate::types::Shape;
use std::sync::Arc;

/// An access that an instruction is about to make; see [`View::accesses`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// The lane it is made for; `None`: it is one access, the same for all lanes.
    pub lane: Option<u32>,
    /// Read or written (or both, by an atomic operation).
    pub access: Access,
    /// A pointer into the memory that is meant.
    pub base: u64,
    /// The first byte, counted from the start of that memory. It may lie outside; then the instruction traps.
    pub offset: i64,
    /// Number of bytes.
    pub bytes: u64,
}

/// A place in memory as the source has it; see [`View::place`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLocation {
    /// What memory it is.
    pub kind: RegionKind,
    /// The array or variable, if it has a name: a parameter, a global or a local variable.
    pub name: Option<Arc<str>>,
    /// The byte, counted from the start of that array or variable; without a name, from the start of the memory.
    pub offset: i64,
    /// The element of the array, one index per dimension; empty where it is not known to be an array.
    pub indices: Vec<i64>,
}

impl View<'_> {
    /// What the instruction is about to access: the elements of the active lanes, in ascending order, or one. A copy reads and
    /// writes; what is allocated is not known before it is, and freeing accesses nothing.
    ///
    /// To be asked in [`Observer::before`](crate::Observer::before): afterwards the registers may have changed.
    pub fn accesses(&self) -> Vec<Accessed> {
        let inst = self.inst();
        match inst.op {
            Op::MemCopy => self.ranges(&[(inst.src[0], Access::Write), (inst.src[1], Access::Read)]),
            Op::MemSet => self.ranges(&[(inst.src[0], Access::Write)]),
            Op::Store | Op::StoreLane => Touched::of_operand(self, inst).accesses(Access::Write),
            _ if inst.op.info().sig.extra == Extra::Memory => Touched::of_operand(self, inst).accesses(Access::Read),
            op if is_atomic(op) => Touched::of_atomic(self, inst).accesses(Access::Write),
            _ => Vec::new(),
        }
    }

    /// The accesses of a copy or fill.
    fn ranges(&self, ends: &[(Reg, Access)]) -> Vec<Accessed> {
        let sizes = range_sizes(self, self.inst());
        let of_end = |&(pointers, access): &(Reg, Access)| {
            let touched = Touched::of_work(self, self.inst(), pointers);
            let of_lane = |l: usize| Accessed { bytes: sizes[l], ..touched.accessed(l, access) };
            lanes_of(touched.lanes).map(of_lane).filter(|accessed| accessed.bytes > 0).collect::<Vec<_>>()
        };
        ends.iter().flat_map(of_end).collect()
    }

    /// Where an access leads, as the source calls it; `None` if the memory is not live.
    pub fn place(&self, accessed: &Accessed) -> Option<MemoryLocation> {
        self.thread.place(accessed.base, accessed.offset)
    }

    /// The address in the host's memory of an access to an array of the host or a global; `None` for other memory, and where it does
    /// not lie within.
    pub fn host_address(&self, accessed: &Accessed) -> Option<usize> {
        let (kind, _) = self.thread.memory.describe(accessed.base)?;
        let (start, len) = self.thread.memory.region(accessed.base, Access::Read);
        let end = accessed.offset.checked_add_unsigned(accessed.bytes)?;
        let within = accessed.offset >= 0 && end as u64 <= len;
        let is_known = matches!(kind, RegionKind::Host | RegionKind::Global);
        (is_known && within).then_some(start as usize + accessed.offset as usize)
    }

    /// The bytes of an access as they are now; returns whether they may be read. `into` must not be longer than the access.
    pub fn read_accessed(&self, accessed: &Accessed, into: &mut [u8]) -> bool {
        let (_, len) = self.thread.memory.region(accessed.base, Access::Read);
        let end = accessed.offset.checked_add(into.len() as i64);
        let fits = accessed.offset >= 0 && end.is_some_and(|end| end as u64 <= len);
        let steps = accessed.offset.wrapping_sub(offset_of(accessed.base));
        fits && self.thread.memory.read_bytes(crate::sem::padd(accessed.base, steps), into)
    }
}

fn is_atomic(op: Op) -> bool {
    use Op::*;
    matches!(
        op,
        AtomicAdd | AtomicSub | AtomicMin | AtomicMax | AtomicAnd | AtomicOr | AtomicXor | AtomicSwap | AtomicCas
    )
}

/// The bytes that each lane copies or fills (source 2).
pub(crate) fn range_sizes(view: &View<'_>, inst: &Inst) -> [u64; MAX_LANES] {
    let mut given = [0; MAX_LANES];
    view.integers(inst.src[2], &mut given);
    given.map(|n| u64::try_from(n).unwrap_or(MAX_REGION_LEN))
}

/// What an instruction accesses: an element of each active lane, or one.
pub(crate) struct Touched {
    /// Whether it is one access, the same for all lanes.
    pub is_uniform: bool,
    pub lanes: u64,
    pub base: [i64; MAX_LANES],
    pub offset: [i64; MAX_LANES],
    /// The part of the offset that the index makes up, for messages.
    pub index: Option<([i64; MAX_LANES], u64)>,
    pub size: u64,
}

impl Touched {
    /// The memory operand of a load or store.
    pub fn of_operand(view: &View<'_>, inst: &Inst) -> Touched {
        let varies = |r: Reg| !r.is_none() && view.function().reg(r).shape == Shape::Varying;
        let by_lane = matches!(inst.op, Op::LoadLane | Op::StoreLane);
        let is_uniform = !by_lane && !varies(inst.src[0]) && !varies(inst.src[1]);
        let size = inst.ty.size() as i64;
        let mut touched = Touched::at(view, inst.src[0], is_uniform, size as u64);
        let mut index = [0; MAX_LANES];
        if !inst.src[1].is_none() {
            view.integers(inst.src[1], &mut index);
        }
        for l in lanes_of(touched.lanes) {
            let part = index[l].saturating_mul(inst.aux as i64).saturating_add(inst.imm);
            let lane = if by_lane { l as i64 * size } else { 0 };
            touched.offset[l] = touched.offset[l].saturating_add(part).saturating_add(lane);
        }
        touched.index = (!inst.src[1].is_none()).then_some((index, inst.aux as u64));
        touched
    }

    /// What an atomic operation accesses.
    pub fn of_atomic(view: &View<'_>, inst: &Inst) -> Touched {
        Touched { size: inst.ty.size() as u64, ..Touched::of_work(view, inst, inst.src[0]) }
    }

    /// The lanes that a copy, fill, allocation or free works on, which is one if all operands are uniform.
    pub fn of_work(view: &View<'_>, inst: &Inst, pointers: Reg) -> Touched {
        let varies = inst.src.iter().any(|&r| !r.is_none() && view.function().reg(r).shape == Shape::Varying);
        Touched::at(view, pointers, !varies, 0)
    }

    /// What pointers in a register lead to.
    fn at(view: &View<'_>, pointers: Reg, is_uniform: bool, size: u64) -> Touched {
        let mask = view.mask();
        let lanes = if is_uniform { mask & mask.wrapping_neg() } else { mask };
        let mut base = [0; MAX_LANES];
        for l in lanes_of(lanes) {
            base[l] = view.lane(pointers, l) as i64;
        }
        let offset = base.map(|pointer| offset_of(pointer as u64));
        Touched { is_uniform, lanes, base, offset, index: None, size }
    }

    /// The region of a lane's access.
    pub fn region(&self, l: usize) -> u32 {
        region_of(self.base[l] as u64)
    }

    fn accesses(&self, access: Access) -> Vec<Accessed> {
        lanes_of(self.lanes).map(|l| self.accessed(l, access)).collect()
    }

    fn accessed(&self, l: usize, access: Access) -> Accessed {
        let lane = (!self.is_uniform).then_some(l as u32);
        Accessed { lane, access, base: self.base[l] as u64, offset: self.offset[l], bytes: self.size }
    }
}
