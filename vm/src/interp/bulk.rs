//! Handlers of copies, fills, allocations and atomic operations. They go lane by lane: what they do costs more than that.

use super::code::{Step, flags};
use super::elementwise::Kernel;
use super::fuel::fuel_of;
use super::lanes::{lane, lanes_of, set_lane};
use super::thread::Thread;
use crate::isa::Op;
use crate::memory::{MAX_REGION_LEN, RawElem, modify, offset_of, place_in, read, region_of, write};
use crate::program::Inst;
use crate::sem;
use crate::trap::{Access, Trap, TrapDetail, TrapKind};
use std::marker::PhantomData;
use std::ptr::null;

/// Lane `l` of a source that is varying if `flag` is set.
///
/// # Safety
/// `at` is the offset of a register of type `T` of that shape.
#[inline(always)]
unsafe fn source<T: Copy>(t: &Thread, s: &Step, at: u32, flag: u16, l: usize) -> T {
    // SAFETY: a uniform register is read as lane 0.
    unsafe { lane(t.reg(at), if s.has(flag) { l } else { 0 }) }
}

/// The lanes a step works on: all active ones, or just one if all its operands are uniform.
fn work_lanes(t: &Thread, s: &Step) -> u64 {
    let varying = s.has(flags::A_VARYING | flags::B_VARYING | flags::C_VARYING);
    if varying { t.mask } else { t.mask & t.mask.wrapping_neg() }
}

/// The lane a trap names.
fn trap_lane(s: &Step, l: usize) -> Option<usize> {
    s.has(flags::A_VARYING | flags::B_VARYING | flags::C_VARYING).then_some(l)
}

/// Traps because `size` bytes at `pointer` cannot be accessed.
#[cold]
fn raise_access(t: &mut Thread, step: *const Step, l: usize, p: u64, size: u64, access: Access) -> *const Step {
    // A range is told by its first byte outside the region; indices are bytes then.
    let (_, len) = t.memory.region(p, Access::Read);
    let start = offset_of(p) as i128;
    let bad = if start < 0 || start > len as i128 { start } else { (len as i128).min(start + size as i128 - 1) };
    let (kind, detail) = t.memory.fault(p, bad, 1, access);
    // SAFETY: `step` is the executing step.
    let lane = trap_lane(unsafe { &*step }, l);
    t.raise(step, kind, lane, detail)
}

/// `bytes` of a copy or fill as a size; `None` if negative.
fn size_of_range(bytes: i64) -> u64 {
    // A negative size is a huge one: always out of bounds.
    if bytes < 0 { MAX_REGION_LEN } else { bytes as u64 }
}

/// `mem.copy`
pub(super) struct MemCopy;

impl Kernel for MemCopy {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; all ranges are checked before the first byte is copied.
        unsafe {
            let s = &*step;
            let operands = |t: &Thread, l: usize| {
                let (to, from): (u64, u64) =
                    (source(t, s, s.a, flags::A_VARYING, l), source(t, s, s.b, flags::B_VARYING, l));
                (to, from, size_of_range(source(t, s, s.c, flags::C_VARYING, l)))
            };
            let lanes = work_lanes(t, s);
            let mut bytes = 0u64;
            for l in lanes_of(lanes) {
                let (to, from, size) = operands(t, l);
                bytes += size;
                if size != 0 && t.memory.resolve(from, size, Access::Read).is_none() {
                    return raise_access(t, step, l, from, size, Access::Read);
                }
                if size != 0 && t.memory.resolve(to, size, Access::Write).is_none() {
                    return raise_access(t, step, l, to, size, Access::Write);
                }
            }
            if !t.charge_bytes(step, bytes) {
                return null();
            }
            for l in lanes_of(lanes) {
                let (to, from, size) = operands(t, l);
                let to = t.memory.resolve(to, size, Access::Write);
                if let (Some(to), Some(from)) = (to, t.memory.resolve(from, size, Access::Read))
                    && let Err(end) = t.copy_in_pieces(to, from, size as usize)
                {
                    return t.cut(step, end);
                }
            }
            step.add(1)
        }
    }
}

/// `mem.set`
pub(super) struct MemSet;

impl Kernel for MemSet {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; all ranges are checked before the first byte is written.
        unsafe {
            let s = &*step;
            let range = |t: &Thread, l: usize| {
                let to: u64 = source(t, s, s.a, flags::A_VARYING, l);
                (to, size_of_range(source(t, s, s.c, flags::C_VARYING, l)))
            };
            let lanes = work_lanes(t, s);
            let mut bytes = 0u64;
            for l in lanes_of(lanes) {
                let (to, size) = range(t, l);
                bytes += size;
                if size != 0 && t.memory.resolve(to, size, Access::Write).is_none() {
                    return raise_access(t, step, l, to, size, Access::Write);
                }
            }
            if !t.charge_bytes(step, bytes) {
                return null();
            }
            for l in lanes_of(lanes) {
                let (to, size) = range(t, l);
                let value: i32 = source(t, s, s.b, flags::B_VARYING, l);
                if let Some(to) = t.memory.resolve(to, size, Access::Write)
                    && let Err(end) = t.fill_in_pieces(to, value as u8, size as usize)
                {
                    return t.cut(step, end);
                }
            }
            step.add(1)
        }
    }
}

/// `alloc`
pub(super) struct Alloc;

impl Kernel for Alloc {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers.
        unsafe {
            let s = &*step;
            let lanes = work_lanes(t, s);
            let size = |t: &Thread, l: usize| size_of_range(source(t, s, s.a, flags::A_VARYING, l));
            let mut pointers = [0u64; super::lanes::MAX_LANES];
            // What is more than there can be costs nothing.
            let bytes = lanes_of(lanes).map(|l| size(t, l)).sum::<u64>();
            let fuel = if bytes <= t.memory.available() { fuel_of(bytes) } else { 0 };
            if !t.charge(step, fuel) {
                return null();
            }
            for l in lanes_of(lanes) {
                // The host may have to clear what it gives.
                let allocated = t.look().map_err(|end| (Trap::new(end, TrapDetail::None), None));
                let allocate = |()| t.memory.allocate(size(t, l)).map_err(|trap| (trap, trap_lane(s, l)));
                match allocated.and_then(allocate) {
                    Ok(p) => pointers[l] = p,
                    Err((trap, lane)) => {
                        // No effect of its own: give back what earlier lanes got.
                        for p in pointers {
                            t.memory.free(p);
                        }
                        t.refund(fuel);
                        return t.raise_trap(step, trap, lane);
                    }
                }
            }
            let d = t.reg(s.d);
            if s.has(flags::A_VARYING) {
                (0..t.lanes).for_each(|l| set_lane(d, l, pointers[l]));
            } else {
                set_lane(d, 0, pointers[t.mask.trailing_zeros() as usize % pointers.len()]);
            }
            step.add(1)
        }
    }
}

/// `free`
pub(super) struct Free;

impl Kernel for Free {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers.
        unsafe {
            let s = &*step;
            let lanes = work_lanes(t, s);
            let mut seen = [0u64; super::lanes::MAX_LANES];
            let (mut n, mut bytes) = (0, 0);
            for l in lanes_of(lanes) {
                let p: u64 = source(t, s, s.a, flags::A_VARYING, l);
                // Two lanes that free the same allocation free it twice.
                if !t.memory.can_free(p) || (p != 0 && seen[..n].contains(&p)) {
                    return t.raise(step, TrapKind::BadFree, trap_lane(s, l), TrapDetail::Pointer(p));
                }
                seen[n] = p;
                n += 1;
                bytes += t.memory.region(p, Access::Read).1;
            }
            // Native code holds addresses of memory that others may have freed: it cannot wait until all have let go of it.
            if t.in_native && t.memory.is_shared() && t.memory.must_wait_for_freed(bytes) {
                return null();
            }
            if !t.charge_bytes(step, bytes) {
                return null();
            }
            for &p in &seen[..n] {
                // Only a race with another task can make it fail now.
                if !t.memory.free(p) {
                    return t.raise(step, TrapKind::BadFree, None, TrapDetail::Pointer(p));
                }
            }
            if t.memory.is_shared() {
                // A nested machine cannot wait: what it waits for may be the thread that waits for it.
                if t.shared.nesting == 0 && !t.in_native {
                    t.memory.wait_for_freed(&t.reader);
                }
            }
            step.add(1)
        }
    }
}

/// A step of an atomic read-modify-write: the new value from the old one and the operands.
pub(super) trait Modify<T> {
    fn apply(old: T, b: T, c: T) -> T;
}

macro_rules! modify {
    ($($Name:ident: $Bound:ident, $f:expr;)*) => { $(
        pub(super) struct $Name;
        impl<T: sem::$Bound> Modify<T> for $Name {
            #[inline(always)]
            fn apply(old: T, b: T, c: T) -> T {
                let f: fn(T, T, T) -> T = $f;
                f(old, b, c)
            }
        }
    )* };
}
modify! {
    ModifyAdd: Arith, |old, b, _| sem::add(old, b);
    ModifySub: Arith, |old, b, _| sem::sub(old, b);
    ModifyMin: Arith, |old, b, _| sem::min(old, b);
    ModifyMax: Arith, |old, b, _| sem::max(old, b);
    ModifyAnd: Bits, |old, b, _| sem::and(old, b);
    ModifyOr: Bits, |old, b, _| sem::or(old, b);
    ModifyXor: Bits, |old, b, _| sem::xor(old, b);
    ModifySwap: Scalar, |_, b, _| b;
    ModifyCas: Scalar, |old, b, c| if old.to_word() == b.to_word() { c } else { old };
}

/// Puts the addresses of the cells of all lanes into `Thread::addresses`; traps if one may not be written.
///
/// # Safety
/// The contract of handlers, for an atomic operation.
#[inline(never)]
unsafe fn resolve_cells(t: &mut Thread, step: *const Step, lanes: u64, size: u64) -> bool {
    // SAFETY: the caller's promise.
    let s = unsafe { &*step };
    // Most often all lanes have one array: its place is looked up once.
    let (mut number, mut region) = (u32::MAX, (std::ptr::null_mut::<u8>(), 0));
    for l in lanes_of(lanes) {
        // SAFETY: source `a` is a `u64` register.
        let p: u64 = unsafe { source(t, s, s.a, flags::A_VARYING, l) };
        if region_of(p) != number {
            (number, region) = (region_of(p), t.memory.region(p, Access::Write));
        }
        let Some(at) = place_in(region, p, size) else {
            let (kind, detail) = t.memory.fault(p, offset_of(p) as i128, size, Access::Write);
            t.raise(step, kind, trap_lane(s, l), detail);
            return false;
        };
        t.addresses[l] = at as usize;
    }
    true
}

/// An atomic operation. While only one thread runs, a read and a write are enough.
pub(super) struct Atomic<T, M>(PhantomData<(T, M)>);

impl<T: RawElem, M: Modify<T>> Kernel for Atomic<T, M> {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; every address is checked before the first access.
        unsafe {
            let s = &*step;
            let lanes = work_lanes(t, s);
            if !resolve_cells(t, step, lanes, size_of::<T>() as u64) {
                return null();
            }
            let d = t.reg(s.d);
            let is_shared = t.memory.is_shared();
            let mut before = [T::default(); super::lanes::MAX_LANES];
            for l in lanes_of(lanes) {
                let at = t.addresses[l] as *mut u8;
                let b = source(t, s, s.b, flags::B_VARYING, l);
                let c = if s.has(HAS_C) { source(t, s, s.c, flags::C_VARYING, l) } else { b };
                before[l] = if is_shared {
                    modify(at, |old: T| M::apply(old, b, c))
                } else {
                    let old: T = read(at);
                    write(at, M::apply(old, b, c));
                    old
                };
            }
            if s.has(flags::A_VARYING | flags::B_VARYING | flags::C_VARYING) {
                (0..t.lanes).for_each(|l| set_lane(d, l, before[l]));
            } else {
                set_lane(d, 0, before[t.mask.trailing_zeros() as usize % before.len()]);
            }
            step.add(1)
        }
    }
}

/// Flag of atomic operations with a third source.
const HAS_C: u16 = flags::INDEXED;

/// Flags of a bulk or atomic operation besides the shapes.
pub(crate) fn bulk_flags(inst: &Inst) -> u16 {
    if inst.op == Op::AtomicCas { HAS_C } else { 0 }
}
