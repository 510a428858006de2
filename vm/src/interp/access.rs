//! Address computation and checks of loads and stores.
//!
//! A memory operation first finds the host address of every active lane's element and checks it (`resolve`), and only
//! then reads or writes: a trap comes before any effect (X2). The common shapes are fast: one region for all lanes is
//! looked up once, offsets are computed and compared in vector code, and consecutive addresses become one range.
//!
//! Offsets are sums in `i64` that cannot wrap: an index is cut to ±2⁴⁰ first (then it is out of bounds whatever the
//! displacement, which the verifier keeps below 2³⁹), and scales above 2²² take a path in `i128`.

use super::code::{Step, flags};
use super::elementwise::map1;
use super::lanes::{BLOCK, bits_of, block_mask, get, lane, lanes_of, load, operand};
use super::locations::Reached;
use super::thread::Thread;
use crate::memory::{offset_of, region_of};
use crate::sem::Bool;
use crate::trap::{Access, TrapDetail, TrapKind};
use crate::types::Ty;

/// Greatest scale for which offsets are computed in `i64`.
pub(crate) const MAX_NARROW_SCALE: u32 = 1 << 22;

/// Indices beyond this are out of bounds whatever is added.
const INDEX_LIMIT: i64 = 1 << 40;

/// The type of a varying index.
pub(crate) trait Index {
    /// Block `i` as `i64` lanes, cut to ±[`INDEX_LIMIT`].
    ///
    /// # Safety
    /// `at` is a varying register of the index's type with more than `i` blocks.
    unsafe fn block(at: *const u8, i: usize) -> [i64; BLOCK];

    /// If the indices of the active lanes go up by one from lane to lane: the index of the lowest one, cut likewise.
    ///
    /// # Safety
    /// `at` is a varying register of the index's type with so many blocks, and the mask is one of its lanes, not empty.
    unsafe fn run_start(at: *const u8, blocks: usize, mask: u64) -> Option<i64>;
}

macro_rules! index {
    ($($t:ident => $cut:expr;)*) => { $(
        impl Index for $t {
            #[inline(always)]
            unsafe fn block(at: *const u8, i: usize) -> [i64; BLOCK] {
                let cut: fn($t) -> i64 = $cut;
                // SAFETY: the caller's promise.
                map1(unsafe { load::<$t>(at, i) }, cut)
            }

            #[inline(always)]
            unsafe fn run_start(at: *const u8, blocks: usize, mask: u64) -> Option<i64> {
                let (lowest, highest) = (mask.trailing_zeros() as usize, 63 - mask.leading_zeros() as usize);
                // SAFETY: the caller's promise.
                let (first, last) = unsafe { (lane::<$t>(at, lowest), lane::<$t>(at, highest)) };
                let start = first.wrapping_sub(lowest as $t);
                let mut run = 0u64;
                for i in 0..blocks {
                    // SAFETY: the caller's promise.
                    let block = unsafe { load::<$t>(at, i) };
                    let mut equal = [Bool::new(false); BLOCK];
                    for l in 0..BLOCK {
                        equal[l] = Bool::new(block[l] == start.wrapping_add((i * BLOCK + l) as $t));
                    }
                    run |= (bits_of(equal) as u64) << (i * BLOCK);
                }
                let cut: fn($t) -> i64 = $cut;
                // A run that wraps around ends below its start.
                (!run & mask == 0 && last >= first).then(|| cut(first))
            }
        }
    )* };
}
index! {
    i32 => |x| x as i64;
    u32 => |x| x as i64;
    i64 => |x| x.clamp(-INDEX_LIMIT, INDEX_LIMIT);
    u64 => |x| x.min(INDEX_LIMIT as u64) as i64;
}

/// The element type that an instruction's flags carry (the index's).
pub(crate) fn flag_ty(step: &Step) -> Ty {
    Ty::ALL[(step.flags >> flags::TY_SHIFT) as usize]
}

/// One index of any type; `l` is the lane of a varying one.
///
/// # Safety
/// Source `b` of the step is an index register of the type its flags say.
unsafe fn exact_index(t: &Thread, s: &Step, l: usize) -> i128 {
    if !s.has(flags::INDEXED) {
        return 0;
    }
    let at = t.reg(s.b);
    let l = if s.has(flags::B_VARYING) { l } else { 0 };
    // SAFETY: the caller's promise; a uniform register is read as lane 0.
    unsafe {
        match flag_ty(s) {
            Ty::I32 => lane::<i32>(at, l) as i128,
            Ty::U32 => lane::<u32>(at, l) as i128,
            Ty::I64 => lane::<i64>(at, l) as i128,
            _ => lane::<u64>(at, l) as i128,
        }
    }
}

/// The offset of lane `l` from its base pointer's region, exactly.
///
/// # Safety
/// The contract of handlers, for a step with a memory operand.
pub(crate) unsafe fn exact_offset(t: &Thread, s: &Step, l: usize, lane_size: usize) -> i128 {
    // SAFETY: the caller's promise.
    let index = unsafe { exact_index(t, s, l) };
    // SAFETY: as above.
    let base = unsafe { base_pointer(t, s, l) };
    let part = index * s.aux as i128 + s.imm as i128 + (l * lane_size) as i128;
    offset_of(base) as i128 + part
}

/// The base pointer of lane `l`.
///
/// # Safety
/// Source `a` of the step is a `u64` register of the shape its flags say.
pub(crate) unsafe fn base_pointer(t: &Thread, s: &Step, l: usize) -> u64 {
    let l = if s.has(flags::A_VARYING) { l } else { 0 };
    // SAFETY: the caller's promise.
    unsafe { lane::<u64>(t.reg(s.a), l) }
}

/// Traps for the lowest active lane whose access is not allowed.
///
/// # Safety
/// The contract of handlers, for a step with a memory operand.
#[cold]
#[inline(never)]
pub(crate) unsafe fn fault(t: &mut Thread, step: *const Step, what: Accessed) -> *const Step {
    let Accessed { size, lane_size, access } = what;
    for l in lanes_of(t.mask) {
        // SAFETY: the caller's promise.
        let (base, offset) = unsafe { (base_pointer(t, &*step, l), exact_offset(t, &*step, l, lane_size)) };
        let (_, len) = t.memory.region(base, access);
        if offset < 0 || offset + size as i128 > len as i128 {
            let (kind, detail) = t.memory.fault(base, offset, size as u64, access);
            // SAFETY: the caller's promise.
            let index = unsafe { (*step).has(flags::INDEXED).then(|| (exact_index(t, &*step, l), (*step).aux as u64)) };
            let detail = t.in_source_terms(step, &Reached { base, offset, index }, detail);
            // SAFETY: `step` is valid.
            let varying = unsafe { (*step).has(flags::A_VARYING) || (*step).has(flags::B_VARYING) };
            let lane = (varying || lane_size != 0).then_some(l);
            return t.raise(step, kind, lane, detail);
        }
    }
    // Not reached: a check failed for one of the active lanes.
    t.raise(step, TrapKind::BadPointer, None, TrapDetail::None)
}

/// Host address of the one element that a step with uniform base and index accesses.
///
/// # Safety
/// The contract of handlers, for a step with a memory operand whose base and index are uniform.
#[inline(always)]
pub(crate) unsafe fn resolve_uniform(t: &Thread, s: &Step, size: usize, access: Access) -> Option<*mut u8> {
    // SAFETY: the caller's promise.
    let base = unsafe { get::<u64>(t.reg(s.a)) };
    let (start, len) = t.memory.region(base, access);
    // SAFETY: as above.
    let offset = unsafe { uniform_offset(t, s) }.saturating_add(offset_of(base));
    let fits = offset >= 0 && len >= size as u64 && offset as u64 <= len - size as u64;
    // SAFETY: the offset lies within the region.
    fits.then(|| unsafe { start.add(offset as usize) })
}

/// Index, scale and displacement of a uniform operand; beyond ±2⁴⁰ not exact, but as far out of bounds.
///
/// # Safety
/// The contract of handlers, for a step with a memory operand whose index is uniform.
#[inline(always)]
unsafe fn uniform_offset(t: &Thread, s: &Step) -> i64 {
    if !s.has(flags::INDEXED) {
        return s.imm;
    }
    // SAFETY: the caller's promise.
    unsafe { uniform_index(t, s) }.saturating_mul(s.aux as i64).saturating_add(s.imm)
}

/// A uniform index, cut to ±[`INDEX_LIMIT`].
///
/// # Safety
/// Source `b` of the step is a uniform index register of the type its flags say.
#[inline(always)]
unsafe fn uniform_index(t: &Thread, s: &Step) -> i64 {
    let at = t.reg(s.b);
    // SAFETY: the caller's promise.
    unsafe {
        match flag_ty(s) {
            Ty::I32 => get::<i32>(at) as i64,
            Ty::U32 => get::<u32>(at) as i64,
            Ty::I64 => get::<i64>(at).clamp(-INDEX_LIMIT, INDEX_LIMIT),
            _ => get::<u64>(at).min(INDEX_LIMIT as u64) as i64,
        }
    }
}

/// What `resolve` found.
pub(crate) enum Lanes {
    /// Lane *l* is at this address plus *l* elements; the flag tells whether that holds (and is allowed) for inactive
    /// lanes too.
    Consecutive(*mut u8, bool),
    /// Lane *l* is at `Thread::addresses[l]`, if it is active.
    Scattered,
    /// An active lane's access is not allowed.
    Fault,
}

/// Elements of all lanes from a uniform address: the lanes of one varying value in memory.
///
/// # Safety
/// As for [`resolve_uniform`].
#[inline(always)]
pub(crate) unsafe fn resolve_lanes(t: &Thread, s: &Step, size: usize, access: Access) -> Lanes {
    // SAFETY: the caller's promise.
    let base = unsafe { get::<u64>(t.reg(s.a)) };
    let (start, len) = t.memory.region(base, access);
    // SAFETY: as above.
    let first = unsafe { uniform_offset(t, s) }.saturating_add(offset_of(base));
    consecutive(t, start, len, first, size)
}

/// Checks the range that lanes access which lie one after another, lane 0 at offset `first`.
#[inline(always)]
fn consecutive(t: &Thread, start: *mut u8, len: u64, first: i64, size: usize) -> Lanes {
    let end_of = |lanes: usize| first.saturating_add((lanes * size) as i64);
    let at = start.wrapping_offset(first as isize);
    if first >= 0 && end_of(t.lanes) as u64 <= len {
        return Lanes::Consecutive(at, true);
    }
    let lowest = t.mask.trailing_zeros() as usize;
    let beyond = 64 - t.mask.leading_zeros() as usize;
    if end_of(lowest) >= 0 && end_of(beyond) as u64 <= len && len != 0 {
        return Lanes::Consecutive(at, false);
    }
    Lanes::Fault
}

/// A memory operand's access: bytes of an element, and the distance of lanes that `load.lane` and `store.lane` add.
#[derive(Clone, Copy)]
pub(crate) struct Accessed {
    pub size: usize,
    pub lane_size: usize,
    pub access: Access,
}

/// Addresses of all active lanes from a uniform base and a varying index.
///
/// # Safety
/// The contract of handlers, for a step whose base is uniform and whose index is varying and of type `I`.
#[inline(always)]
unsafe fn indexed<I: Index>(t: &mut Thread, s: &Step, what: Accessed) -> Lanes {
    let Accessed { size, lane_size, access } = what;
    // SAFETY: the contract of handlers.
    unsafe {
        if s.has(flags::WIDE) {
            return wide(t, s, what);
        }
        let base = get::<u64>(t.reg(s.a));
        let (start, len) = t.memory.region(base, access);
        let fixed = offset_of(base) + s.imm;
        let index = t.reg(s.b);
        let scale = s.aux as i64;
        let dense = scale as usize == size && lane_size == 0;
        if let Some(first) = dense.then(|| I::run_start(index, s.blocks(), t.mask)).flatten() {
            let lowest = t.mask.trailing_zeros() as i64;
            return consecutive(t, start, len, (first - lowest) * scale + fixed, size);
        }
        if len < size as u64 {
            return Lanes::Fault;
        }
        let limit = len - size as u64;
        let mut bad = 0u64;
        for i in 0..s.blocks() {
            let mut offsets = map1(I::block(index, i), |x| x * scale + fixed);
            for l in 0..BLOCK {
                offsets[l] += ((i * BLOCK + l) * lane_size) as i64;
            }
            bad |= (beyond(&offsets, limit) as u64) << (i * BLOCK);
            for l in 0..BLOCK {
                t.addresses[i * BLOCK + l] = (start as usize).wrapping_add(offsets[l] as usize);
            }
        }
        if bad & t.mask != 0 { Lanes::Fault } else { Lanes::Scattered }
    }
}

/// The lanes whose offset is negative or above the limit, as bits.
#[inline(always)]
fn beyond(offsets: &[i64; BLOCK], limit: u64) -> u16 {
    let mut flags = [Bool::new(false); BLOCK];
    for l in 0..BLOCK {
        flags[l] = Bool::new(offsets[l] as u64 > limit);
    }
    bits_of(flags)
}

/// [`indexed`], compiled for the baseline.
///
/// # Safety
/// As for [`indexed`].
#[inline(never)]
pub(crate) unsafe fn indexed_baseline<I: Index>(t: &mut Thread, s: &Step, what: Accessed) -> Lanes {
    // SAFETY: passed on.
    unsafe { indexed::<I>(t, s, what) }
}

/// [`indexed`], compiled for AVX2.
///
/// # Safety
/// As for [`indexed`], on a CPU that has it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
#[inline(never)]
pub(crate) unsafe fn indexed_avx2<I: Index>(t: &mut Thread, s: &Step, what: Accessed) -> Lanes {
    // SAFETY: passed on.
    unsafe { indexed::<I>(t, s, what) }
}

/// Addresses of all active lanes from varying bases, lane by lane.
///
/// # Safety
/// The contract of handlers, for a step with a memory operand.
#[inline(never)]
pub(crate) unsafe fn general(t: &mut Thread, s: &Step, what: Accessed) -> Lanes {
    if s.has(flags::WIDE) {
        // SAFETY: passed on.
        return unsafe { wide(t, s, what) };
    }
    let Accessed { size, lane_size, access } = what;
    // SAFETY: the contract of handlers.
    unsafe {
        let mut known = (u32::MAX, std::ptr::null_mut::<u8>(), 0u64);
        for i in 0..s.blocks() {
            let index = index_block(t, s, i);
            let bases = operand::<u64>(t.reg(s.a), i, s.has(flags::A_VARYING));
            for l in lanes_of(block_mask(t.mask, i) as u64) {
                let at = i * BLOCK + l;
                let offset = offset_of(bases[l]) + index[l] * s.aux as i64 + s.imm + (at * lane_size) as i64;
                let number = region_of(bases[l]);
                if number != known.0 {
                    let (start, len) = t.memory.region(bases[l], access);
                    known = (number, start, len);
                }
                if offset < 0 || offset as u64 + size as u64 > known.2 {
                    return Lanes::Fault;
                }
                t.addresses[at] = known.1 as usize + offset as usize;
            }
        }
    }
    Lanes::Scattered
}

/// Block `i` of an index of any type and shape, or zeros if there is none.
///
/// # Safety
/// Source `b` of the step is an index register of the type its flags say, or absent.
unsafe fn index_block(t: &Thread, s: &Step, i: usize) -> [i64; BLOCK] {
    let at = t.reg(s.b);
    // SAFETY: the caller's promise.
    unsafe {
        if !s.has(flags::INDEXED) {
            return [0; BLOCK];
        }
        if !s.has(flags::B_VARYING) {
            return [uniform_index(t, s); BLOCK];
        }
        match flag_ty(s) {
            Ty::I32 => i32::block(at, i),
            Ty::U32 => u32::block(at, i),
            Ty::I64 => i64::block(at, i),
            _ => u64::block(at, i),
        }
    }
}

/// Addresses of all active lanes where scales are too large for 64 bits.
///
/// # Safety
/// The contract of handlers, for a step with a memory operand.
#[cold]
#[inline(never)]
unsafe fn wide(t: &mut Thread, s: &Step, what: Accessed) -> Lanes {
    for l in lanes_of(t.mask) {
        // SAFETY: the caller's promise.
        let (base, offset) = unsafe { (base_pointer(t, s, l), exact_offset(t, s, l, what.lane_size)) };
        let (start, len) = t.memory.region(base, what.access);
        if offset < 0 || offset + what.size as i128 > len as i128 {
            return Lanes::Fault;
        }
        t.addresses[l] = start as usize + offset as usize;
    }
    Lanes::Scattered
}
