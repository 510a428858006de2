//! Handlers of `load`, `store`, `load.lane` and `store.lane`.

use super::access::{
    Index, Lanes, MAX_NARROW_SCALE, fault, resolve_general, resolve_indexed, resolve_lanes, resolve_uniform,
};
use super::code::{Handler, Step, flags};
use super::elementwise::{Isa, Kernel, handler, plain};
use super::lanes::{BLOCK, blend, block_mask, get, lane, lanes_of, put, set_lane, store};
use super::thread::Thread;
use crate::isa::Op;
use crate::memory::{RawElem, copy_bytes, read, write};
use crate::program::Inst;
use crate::sem::Bool;
use crate::trap::Access;
use crate::types::{Shape, Ty};
use std::marker::PhantomData;

/// How a step finds the addresses of its lanes.
trait Addressing {
    /// Host addresses of the active lanes.
    ///
    /// # Safety
    /// The contract of handlers, for a step with a memory operand of the shape this addressing stands for.
    unsafe fn resolve(t: &mut Thread, step: *const Step, size: usize, access: Access) -> Lanes;

    /// `LANE` as a factor: the size of an element if lanes lie one after another, else 0.
    fn lane_size(size: usize) -> usize;
}

/// Base uniform, index varying of type `I`.
struct Indexed<I, const LANE: bool>(PhantomData<I>);
/// Base varying.
struct General<const LANE: bool>;
/// Base and index uniform, lanes one after another.
struct Row;

impl<I: Index, const LANE: bool> Addressing for Indexed<I, LANE> {
    #[inline(always)]
    unsafe fn resolve(t: &mut Thread, step: *const Step, size: usize, access: Access) -> Lanes {
        // SAFETY: passed on.
        unsafe { resolve_indexed::<I>(t, step, size, Self::lane_size(size), access) }
    }

    #[inline(always)]
    fn lane_size(size: usize) -> usize {
        if LANE { size } else { 0 }
    }
}

impl<const LANE: bool> Addressing for General<LANE> {
    #[inline(always)]
    unsafe fn resolve(t: &mut Thread, step: *const Step, size: usize, access: Access) -> Lanes {
        // SAFETY: passed on.
        unsafe { resolve_general(t, &*step, size, Self::lane_size(size), access) }
    }

    #[inline(always)]
    fn lane_size(size: usize) -> usize {
        if LANE { size } else { 0 }
    }
}

impl Addressing for Row {
    #[inline(always)]
    unsafe fn resolve(t: &mut Thread, step: *const Step, size: usize, access: Access) -> Lanes {
        // SAFETY: passed on.
        unsafe { resolve_lanes(t, &*step, size, access) }
    }

    #[inline(always)]
    fn lane_size(size: usize) -> usize {
        size
    }
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

struct Load<T, A>(PhantomData<(T, A)>);

impl<T: RawElem, A: Addressing> Kernel for Load<T, A> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let size = size_of::<T>();
        // SAFETY: the contract of handlers; `resolve` checked what is read, and the destination is varying.
        unsafe {
            let s = &*step;
            let d = t.reg(s.d);
            match A::resolve(t, step, size, Access::Read) {
                Lanes::Fault => return fault(t, step, size, A::lane_size(size), Access::Read),
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
                        let at: [usize; BLOCK] = std::array::from_fn(|l| t.addresses[i * BLOCK + l]);
                        store(d, i, at.map(|a| read::<T>(a as *const u8)));
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
                let block = super::lanes::load::<T>(d, i).map(T::normalised);
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
struct LoadUniform<T>(PhantomData<T>);

impl<T: RawElem> Kernel for LoadUniform<T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let size = size_of::<T>();
        // SAFETY: the contract of handlers; base, index and destination are uniform.
        unsafe {
            let Some(at) = resolve_uniform(t, &*step, size, Access::Read) else {
                return fault(t, step, size, 0, Access::Read);
            };
            put(t.reg((*step).d), read::<T>(at));
            step.add(1)
        }
    }
}

struct Store<T, A, const CV: bool>(PhantomData<(T, A)>);

impl<T: RawElem, A: Addressing, const CV: bool> Kernel for Store<T, A, CV> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let size = size_of::<T>();
        // SAFETY: the contract of handlers; `resolve` checked what is written, `CV` is the shape of the value.
        unsafe {
            let s = &*step;
            let c = t.reg(s.c);
            let value = |l: usize| if CV { lane::<T>(c, l) } else { get::<T>(c) };
            match A::resolve(t, step, size, Access::Write) {
                Lanes::Fault => return fault(t, step, size, A::lane_size(size), Access::Write),
                Lanes::Consecutive(at, true) if CV && t.mask == t.full => copy_gang::<T>(t, at, c),
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
struct StoreUniform<T, const CV: bool>(PhantomData<T>);

impl<T: RawElem, const CV: bool> Kernel for StoreUniform<T, CV> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let size = size_of::<T>();
        // SAFETY: the contract of handlers; base and index are uniform, `CV` is the shape of the value.
        unsafe {
            let s = &*step;
            let Some(at) = resolve_uniform(t, s, size, Access::Write) else {
                return fault(t, step, size, 0, Access::Write);
            };
            let highest = 63 - (t.mask | 1).leading_zeros() as usize;
            write(at, lane::<T>(t.reg(s.c), if CV { highest } else { 0 }));
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

/// Runs an expression with `$A` bound to the addressing of a memory operand.
macro_rules! by_addressing {
    ($inst:expr, $shapes:expr, $LANE:literal, $A:ident => $e:expr) => {
        match ($shapes[0], $shapes[1], $inst.from) {
            (Shape::Varying, _, _) => {
                type $A = General<$LANE>;
                $e
            }
            (_, Shape::Varying, Ty::I32) => {
                type $A = Indexed<i32, $LANE>;
                $e
            }
            (_, Shape::Varying, Ty::U32) => {
                type $A = Indexed<u32, $LANE>;
                $e
            }
            (_, Shape::Varying, Ty::I64) => {
                type $A = Indexed<i64, $LANE>;
                $e
            }
            (_, Shape::Varying, _) => {
                type $A = Indexed<u64, $LANE>;
                $e
            }
            (_, Shape::Uniform, _) => {
                type $A = Row;
                $e
            }
        }
    };
}

fn store_handler<T: RawElem, A: Addressing>(value: Shape, isa: Isa) -> Handler {
    match value {
        Shape::Varying => handler::<Store<T, A, true>>(isa),
        Shape::Uniform => handler::<Store<T, A, false>>(isa),
    }
}

fn store_uniform<T: RawElem>(value: Shape) -> Handler {
    match value {
        Shape::Varying => plain::<StoreUniform<T, true>>(),
        Shape::Uniform => plain::<StoreUniform<T, false>>(),
    }
}

/// The handler of a load or store; `None` for other operations.
pub(crate) fn memory_op(inst: &Inst, shapes: &[Shape; 3], isa: Isa) -> Option<Handler> {
    let uniform = shapes[0] == Shape::Uniform && shapes[1] == Shape::Uniform;
    Some(match inst.op {
        Op::Load if uniform => by_storage!(inst.ty, T => plain::<LoadUniform<T>>()),
        Op::Store if uniform => by_storage!(inst.ty, T => store_uniform::<T>(shapes[2])),
        Op::Load => by_storage!(inst.ty, T => by_addressing!(inst, shapes, false, A => handler::<Load<T, A>>(isa))),
        Op::LoadLane => by_storage!(inst.ty, T => by_addressing!(inst, shapes, true, A => handler::<Load<T, A>>(isa))),
        Op::Store => by_storage!(inst.ty, T =>
            by_addressing!(inst, shapes, false, A => store_handler::<T, A>(shapes[2], isa))),
        Op::StoreLane => by_storage!(inst.ty, T =>
            by_addressing!(inst, shapes, true, A => store_handler::<T, A>(shapes[2], isa))),
        _ => return None,
    })
}

/// The flags of a memory operand.
pub(crate) fn memory_flags(inst: &Inst) -> u16 {
    let mut bits = (inst.from as u16) << flags::TY_SHIFT;
    if !inst.src[1].is_none() {
        bits |= flags::INDEXED;
    }
    if inst.aux > MAX_NARROW_SCALE {
        bits |= flags::WIDE;
    }
    bits
}
