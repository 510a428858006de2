//! Handlers of `load`, `store`, `load.lane` and `store.lane`.

#[cfg(target_arch = "x86_64")]
use super::access::indexed_avx2;
use super::access::{
    Accessed, Index, Lanes, MAX_NARROW_SCALE, fault, general, indexed_baseline, resolve_lanes, resolve_uniform,
};
use super::code::{Step, flags};
use super::elementwise::{Kernel, map1};
use super::lanes::{BLOCK, MAX_LANES, blend, block_mask, lane, lanes_of, load, put, set_lane, store};
use super::thread::Thread;
use crate::isa::Op;
use crate::memory::{RawElem, copy_bytes, read, write};
use crate::program::Inst;
use crate::trap::Access;
use crate::types::Ty;
use std::marker::PhantomData;

/// How a step finds the addresses of its lanes.
trait Addressing {
    /// Host addresses of the active lanes.
    ///
    /// # Safety
    /// The contract of handlers, for a step with a memory operand of the shape this addressing stands for.
    unsafe fn resolve(t: &mut Thread, s: &Step, what: Accessed) -> Lanes;
}

/// Base uniform, index varying of type `I`; `BEST` on the best instruction set.
pub(super) struct Indexed<I, const BEST: bool>(PhantomData<I>);
/// Base varying.
pub(super) struct General;
/// Base and index uniform, lanes one after another.
pub(super) struct Row;

impl<I: Index, const BEST: bool> Addressing for Indexed<I, BEST> {
    #[inline(always)]
    unsafe fn resolve(t: &mut Thread, s: &Step, what: Accessed) -> Lanes {
        // SAFETY: passed on; `BEST` handlers are chosen only for a CPU that runs them.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if BEST {
                return indexed_avx2::<I>(t, s, what);
            }
            indexed_baseline::<I>(t, s, what)
        }
    }
}

impl Addressing for General {
    #[inline(always)]
    unsafe fn resolve(t: &mut Thread, s: &Step, what: Accessed) -> Lanes {
        // SAFETY: passed on.
        unsafe { general(t, s, what) }
    }
}

impl Addressing for Row {
    #[inline(always)]
    unsafe fn resolve(t: &mut Thread, s: &Step, what: Accessed) -> Lanes {
        // SAFETY: passed on.
        unsafe { resolve_lanes(t, s, what.size, what.access) }
    }
}

/// What a step accesses in elements of `size` bytes.
#[inline(always)]
fn accessed(s: &Step, size: usize, access: Access) -> Accessed {
    Accessed { size, lane_size: if s.has(flags::BY_LANE) { size } else { 0 }, access }
}

/// Copies the elements of a whole gang between a register and memory.
///
/// # Safety
/// The bytes of `t.lanes` elements are valid at both places.
#[inline(always)]
unsafe fn copy_gang<T>(t: &Thread, to: *mut u8, from: *const u8) {
    // SAFETY: the caller's promise. A constant size becomes a few vector moves.
    unsafe {
        if t.lanes == BLOCK {
            copy_bytes(to, from, BLOCK * size_of::<T>());
        } else {
            copy_bytes(to, from, t.lanes * size_of::<T>());
        }
    }
}

pub(super) struct Load<T, A>(PhantomData<(T, A)>);

impl<T: RawElem, A: Addressing> Kernel for Load<T, A> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let size = size_of::<T>();
        // SAFETY: the contract of handlers; `resolve` checked what is read, and the destination is varying.
        unsafe {
            let s = &*step;
            let d = t.reg(s.d);
            let what = accessed(s, size, Access::Read);
            match A::resolve(t, s, what) {
                Lanes::Fault => return fault(t, step, what),
                Lanes::Consecutive(at, true) => {
                    copy_gang::<T>(t, d, at);
                    finish_load::<T>(t, s, d);
                }
                Lanes::Consecutive(at, false) => {
                    clear::<T>(s, d);
                    for l in lanes_of(t.mask) {
                        set_lane(d, l, read::<T>(at.wrapping_add(l * size)));
                    }
                }
                Lanes::Scattered if t.mask == t.full && t.lanes >= BLOCK => {
                    for i in 0..s.blocks() {
                        for l in i * BLOCK..(i + 1) * BLOCK {
                            set_lane(d, l, read::<T>(t.addresses[l % MAX_LANES] as *const u8));
                        }
                    }
                }
                Lanes::Scattered => {
                    clear::<T>(s, d);
                    for l in lanes_of(t.mask) {
                        set_lane(d, l, read::<T>(t.addresses[l] as *const u8));
                    }
                }
            }
            step.add(1)
        }
    }
}

/// Makes inactive lanes 0 and elements as registers hold them.
///
/// # Safety
/// `d` is a varying register of type `T`.
#[inline(always)]
unsafe fn finish_load<T: RawElem>(t: &Thread, s: &Step, d: *mut u8) {
    if t.mask != t.full || T::TY == Ty::Bool {
        for i in 0..s.blocks() {
            // SAFETY: the caller's promise.
            unsafe {
                let block = map1(load::<T>(d, i), T::normalised);
                store(d, i, blend(block_mask(t.mask, i), block, [T::default(); BLOCK]));
            }
        }
    }
}

/// Makes all lanes 0.
///
/// # Safety
/// `d` is a varying register of type `T`.
#[inline(always)]
unsafe fn clear<T: RawElem>(s: &Step, d: *mut u8) {
    for i in 0..s.blocks() {
        // SAFETY: the caller's promise.
        unsafe { store(d, i, [T::default(); BLOCK]) };
    }
}

/// `load` with uniform address.
pub(super) struct LoadUniform<T>(PhantomData<T>);

impl<T: RawElem> Kernel for LoadUniform<T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let size = size_of::<T>();
        // SAFETY: the contract of handlers; base, index and destination are uniform.
        unsafe {
            let Some(at) = resolve_uniform(t, &*step, size, Access::Read) else {
                return fault(t, step, accessed(&*step, size, Access::Read));
            };
            put(t.reg((*step).d), read::<T>(at));
            step.add(1)
        }
    }
}

pub(super) struct Store<T, A>(PhantomData<(T, A)>);

impl<T: RawElem, A: Addressing> Kernel for Store<T, A> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let size = size_of::<T>();
        // SAFETY: the contract of handlers; `resolve` checked what is written. A uniform value is read as lane 0.
        unsafe {
            let s = &*step;
            let c = t.reg(s.c);
            let varying = s.has(flags::C_VARYING);
            let value = |l: usize| lane::<T>(c, if varying { l } else { 0 });
            let what = accessed(s, size, Access::Write);
            match A::resolve(t, s, what) {
                Lanes::Fault => return fault(t, step, what),
                Lanes::Consecutive(at, true) if varying && t.mask == t.full => copy_gang::<T>(t, at, c),
                Lanes::Consecutive(at, _) => {
                    for l in lanes_of(t.mask) {
                        write(at.wrapping_add(l * size), value(l));
                    }
                }
                Lanes::Scattered => {
                    for l in lanes_of(t.mask) {
                        write(t.addresses[l] as *mut u8, value(l));
                    }
                }
            }
            step.add(1)
        }
    }
}

/// `store` with uniform address; of a varying value the highest active lane's stays.
pub(super) struct StoreUniform<T>(PhantomData<T>);

impl<T: RawElem> Kernel for StoreUniform<T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let size = size_of::<T>();
        // SAFETY: the contract of handlers; base and index are uniform.
        unsafe {
            let s = &*step;
            let Some(at) = resolve_uniform(t, s, size, Access::Write) else {
                return fault(t, step, accessed(s, size, Access::Write));
            };
            let highest = 63 - (t.mask | 1).leading_zeros() as usize;
            write(at, lane::<T>(t.reg(s.c), if s.has(flags::C_VARYING) { highest } else { 0 }));
            step.add(1)
        }
    }
}

/// Runs an expression with `$T` bound to the storage type of an element type.
macro_rules! by_storage {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            Ty::Bool => { type $T = Bool; $e }
            ty => match ty.size() {
                1 => { type $T = u8; $e }
                2 => { type $T = u16; $e }
                4 => { type $T = u32; $e }
                _ => { type $T = u64; $e }
            },
        }
    };
}
pub(super) use by_storage;

/// Runs an expression with `$A` bound to the addressing of a memory operand.
macro_rules! by_addressing {
    ($inst:expr, $shapes:expr, $isa:expr, $A:ident => $e:expr) => {
        match ($shapes[0], $shapes[1], $inst.from, $isa == Isa::BEST) {
            (Shape::Varying, ..) => {
                type $A = General;
                $e
            }
            (_, Shape::Uniform, ..) => {
                type $A = Row;
                $e
            }
            (.., Ty::I32, true) => {
                type $A = Indexed<i32, true>;
                $e
            }
            (.., Ty::I32, false) => {
                type $A = Indexed<i32, false>;
                $e
            }
            (.., Ty::U32, true) => {
                type $A = Indexed<u32, true>;
                $e
            }
            (.., Ty::U32, false) => {
                type $A = Indexed<u32, false>;
                $e
            }
            (.., Ty::I64, true) => {
                type $A = Indexed<i64, true>;
                $e
            }
            (.., Ty::I64, false) => {
                type $A = Indexed<i64, false>;
                $e
            }
            (.., true) => {
                type $A = Indexed<u64, true>;
                $e
            }
            (.., false) => {
                type $A = Indexed<u64, false>;
                $e
            }
        }
    };
}
pub(super) use by_addressing;

/// The flags of a memory operand.
pub(crate) fn memory_flags(inst: &Inst) -> u16 {
    let mut bits = (inst.from as u16) << flags::TY_SHIFT;
    if !inst.src[1].is_none() {
        bits |= flags::INDEXED;
    }
    if inst.aux > MAX_NARROW_SCALE {
        bits |= flags::WIDE;
    }
    if matches!(inst.op, Op::LoadLane | Op::StoreLane) {
        bits |= flags::BY_LANE;
    }
    bits
}
