//! Handlers that move values between registers and lanes: moves, selections, conversions, shuffles, votes and addresses.
//!
//! Moves do not look at types, only at sizes: [`Bits`] elements stand for all types of a size.

use super::code::{Handler, Step, flags};
use super::elementwise::{Family, Isa, Kernel, Shapes, by_shapes, handler, map1, map2, plain};
use super::lanes::{BLOCK, blend, block_mask, bools_of, get, lane, load, mask_of, operand, put, set_lane, store};
use super::thread::Thread;
use crate::dispatch_type;
use crate::sem::{self, Bool, Convert, Float, Scalar};
use crate::types::{Shape, Ty};
use std::marker::PhantomData;

/// Broadcast, or copy of all lanes.
struct Mov<T, const AV: bool, const DV: bool>(PhantomData<T>);

impl<T: Scalar, const AV: bool, const DV: bool> Kernel for Mov<T, AV, DV> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `AV` and `DV` are the shapes of source and destination.
        unsafe {
            let s = &*step;
            let (d, a) = (t.reg(s.d), t.reg(s.a));
            if !DV {
                put(d, get::<T>(a));
            } else {
                for i in 0..s.blocks() {
                    store(d, i, operand::<T>(a, i, AV));
                }
            }
            step.add(1)
        }
    }
}

/// Masked assignment.
struct Assign<T, const AV: bool>(PhantomData<T>);

impl<T: Scalar, const AV: bool> Kernel for Assign<T, AV> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `AV` is the shape of the source, the destination is varying.
        unsafe {
            let s = &*step;
            let (d, a) = (t.reg(s.d), t.reg(s.a));
            if t.mask == t.full {
                for i in 0..s.blocks() {
                    store(d, i, operand::<T>(a, i, AV));
                }
            } else {
                for i in 0..s.blocks() {
                    store(d, i, blend(block_mask(t.mask, i), operand::<T>(a, i, AV), load(d, i)));
                }
            }
            step.add(1)
        }
    }
}

struct Select<T, S>(PhantomData<(T, S)>);

impl<T: Scalar, S: Shapes> Kernel for Select<T, S> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `S` tells the shapes of the sources, the destination is varying.
        unsafe {
            let s = &*step;
            let (d, c, a, b) = (t.reg(s.d), t.reg(s.a), t.reg(s.b), t.reg(s.c));
            for i in 0..s.blocks() {
                let c = operand::<Bool>(c, i, S::varying(s, flags::A_VARYING));
                let x = operand::<T>(a, i, S::varying(s, flags::B_VARYING));
                let y = operand::<T>(b, i, S::varying(s, flags::C_VARYING));
                let mut r = y;
                for l in 0..BLOCK {
                    r[l] = sem::select(c[l], x[l], y[l]);
                }
                store(d, i, r);
            }
            step.add(1)
        }
    }
}

struct SelectUniform<T>(PhantomData<T>);

impl<T: Scalar> Kernel for SelectUniform<T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; sources and destination are uniform.
        unsafe {
            let s = &*step;
            put(t.reg(s.d), sem::select::<T>(get(t.reg(s.a)), get(t.reg(s.b)), get(t.reg(s.c))));
            step.add(1)
        }
    }
}

struct SelectFamily<T>(PhantomData<T>);

impl<T: Scalar> Family for SelectFamily<T> {
    type With<S: Shapes> = Select<T, S>;
    const SOURCES: usize = 3;
    const HOT: bool = T::TY.size() >= 4;
}

struct ConvertStep<S, D>(PhantomData<(S, D)>);

impl<S: Scalar, D: Convert<S>> Kernel for ConvertStep<S, D> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; source and destination are varying.
        unsafe {
            let s = &*step;
            let (d, a) = (t.reg(s.d), t.reg(s.a));
            for i in 0..s.blocks() {
                store(d, i, map1(load::<S>(a, i), D::convert));
            }
            step.add(1)
        }
    }
}

struct ConvertUniform<S, D>(PhantomData<(S, D)>);

impl<S: Scalar, D: Convert<S>> Kernel for ConvertUniform<S, D> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; source and destination are uniform.
        unsafe {
            let s = &*step;
            put(t.reg(s.d), D::convert(get::<S>(t.reg(s.a))));
            step.add(1)
        }
    }
}

/// Bit cast from a float type: a copy that makes NaNs canonical. Casts from other types are moves.
struct FromFloat<T, const AV: bool>(PhantomData<T>);

impl<T: Float, const AV: bool> Kernel for FromFloat<T, AV> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let canonical = |x: T| if x.is_nan() { T::CANONICAL_NAN } else { x };
        // SAFETY: the contract of handlers; `AV` is the shape of source and destination.
        unsafe {
            let s = &*step;
            let (d, a) = (t.reg(s.d), t.reg(s.a));
            if !AV {
                put(d, canonical(get(a)));
            } else {
                for i in 0..s.blocks() {
                    store(d, i, map1(load(a, i), canonical));
                }
            }
            step.add(1)
        }
    }
}

/// `padd`.
pub(super) struct PAdd<S>(PhantomData<S>);

impl<S: Shapes> Kernel for PAdd<S> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `S` tells the shapes of the sources, the destination is varying.
        unsafe {
            let s = &*step;
            let (d, a, b) = (t.reg(s.d), t.reg(s.a), t.reg(s.b));
            for i in 0..s.blocks() {
                let p = operand::<u64>(a, i, S::varying(s, flags::A_VARYING));
                let offset = operand::<u64>(b, i, S::varying(s, flags::B_VARYING));
                store(d, i, map2(p, offset, |p, x| sem::padd(p, x as i64)));
            }
            step.add(1)
        }
    }
}

pub(super) struct PAddFamily;

impl Family for PAddFamily {
    type With<S: Shapes> = PAdd<S>;
    const SOURCES: usize = 2;
    const HOT: bool = true;
}

pub(super) struct Shuffle<T>(PhantomData<T>);

impl<T: Scalar> Kernel for Shuffle<T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; both sources are varying. Indices are reduced to lanes.
        unsafe {
            let s = &*step;
            let (d, v, index) = (t.reg(s.d), t.reg(s.a), t.reg(s.b));
            let mut source = [[T::default(); BLOCK]; super::lanes::MAX_LANES / BLOCK];
            for (i, block) in source.iter_mut().enumerate().take(s.blocks()) {
                *block = load(v, i);
            }
            let source = source.as_flattened();
            let wrap = (t.lanes - 1) & (super::lanes::MAX_LANES - 1);
            for i in 0..s.blocks() {
                store(d, i, map1(load::<i32>(index, i), |x| source[x as usize & wrap]));
            }
            step.add(1)
        }
    }
}

macro_rules! steps {
    ($( $(#[$doc:meta])* $Name:ident $(<$T:ident>)? ($t:ident, $step:ident, $s:ident) $body:block )*) => { $(
        $(#[$doc])*
        pub(super) struct $Name $(<$T>(PhantomData<$T>))?;
        steps!(@impl $Name $(<$T>)? ($t, $step, $s) $body);
    )* };
    (@impl $Name:ident ($t:ident, $step:ident, $s:ident) $body:block) => {
        impl Kernel for $Name {
            #[inline(always)]
            unsafe fn run($t: &mut Thread, $step: *const Step) -> *const Step {
                // SAFETY: the contract of handlers; operands have the types and shapes of the row's signature.
                unsafe { let $s = &*$step; $body; $step.add(1) }
            }
        }
    };
    (@impl $Name:ident <$T:ident> ($t:ident, $step:ident, $s:ident) $body:block) => {
        impl<$T: Scalar> Kernel for $Name<$T> {
            #[inline(always)]
            unsafe fn run($t: &mut Thread, $step: *const Step) -> *const Step {
                // SAFETY: the contract of handlers; operands have the types and shapes of the row's signature.
                unsafe { let $s = &*$step; $body; $step.add(1) }
            }
        }
    };
}

steps! {
    /// `iota`
    Iota(t, step, s) {
        for i in 0..s.blocks() {
            store(t.reg(s.d), i, std::array::from_fn::<i32, BLOCK, _>(|l| (i * BLOCK + l) as i32));
        }
    }
    /// `extract`
    Extract<T>(t, step, s) {
        let index = get::<i32>(t.reg(s.b)) as usize & (t.lanes - 1);
        put(t.reg(s.d), lane::<T>(t.reg(s.a), index));
    }
    /// `insert`
    Insert<T>(t, step, s) {
        let index = get::<i32>(t.reg(s.b)) as usize & (t.lanes - 1);
        let value: T = get(t.reg(s.c));
        for i in 0..s.blocks() {
            store(t.reg(s.d), i, load::<T>(t.reg(s.a), i));
        }
        set_lane(t.reg(s.d), index, value);
    }
    /// `mask.get`
    MaskGet(t, step, s) {
        for i in 0..s.blocks() {
            store(t.reg(s.d), i, bools_of(block_mask(t.mask, i)));
        }
    }
    /// `mask.bits`
    MaskBits(t, step, s) {
        put(t.reg(s.d), t.mask);
    }
    /// `packmask`
    PackMask(t, step, s) {
        put(t.reg(s.d), mask_of(t.reg(s.a), s.blocks()) & t.mask);
    }
    /// `any`
    Any(t, step, s) {
        put(t.reg(s.d), Bool::new(mask_of(t.reg(s.a), s.blocks()) & t.mask != 0));
    }
    /// `all`
    All(t, step, s) {
        put(t.reg(s.d), Bool::new(!mask_of(t.reg(s.a), s.blocks()) & t.mask == 0));
    }
    /// `global.addr`, `func.addr`: the value is known when the code is prepared.
    Immediate(t, step, s) {
        put(t.reg(s.d), s.imm as u64);
    }
    /// `padd` of uniform operands
    PAddUniform(t, step, s) {
        put(t.reg(s.d), sem::padd(get(t.reg(s.a)), get(t.reg(s.b))));
    }
    /// `frame.addr`
    FrameAddr(t, step, s) {
        put(t.reg(s.d), sem::padd(crate::memory::region_start(t.region), s.imm));
    }
}

/// Runs an expression with `$T` bound to the unsigned integer of a type's size.
macro_rules! by_size {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty.size() {
            1 => { type $T = u8; $e }
            2 => { type $T = u16; $e }
            4 => { type $T = u32; $e }
            _ => { type $T = u64; $e }
        }
    };
}
pub(super) use by_size;

pub(super) fn mov<T: Scalar>(from: Shape, to: Shape, isa: Isa) -> Handler {
    match (from, to) {
        (Shape::Varying, _) => handler::<Mov<T, true, true>>(isa),
        (Shape::Uniform, Shape::Varying) => handler::<Mov<T, false, true>>(isa),
        (Shape::Uniform, Shape::Uniform) => plain::<Mov<T, false, false>>(),
    }
}

pub(super) fn assign<T: Scalar>(from: Shape, isa: Isa) -> Handler {
    match from {
        Shape::Varying => handler::<Assign<T, true>>(isa),
        Shape::Uniform => handler::<Assign<T, false>>(isa),
    }
}

pub(super) fn select<T: Scalar>(shapes: &[Shape; 3], isa: Isa) -> Handler {
    by_shapes::<SelectFamily<T>>(shapes, isa).unwrap_or(plain::<SelectUniform<T>>())
}

pub(super) fn convert<S: Scalar, D: Convert<S>>(shape: Shape, isa: Isa) -> Handler {
    match shape {
        Shape::Varying => handler::<ConvertStep<S, D>>(isa),
        Shape::Uniform => plain::<ConvertUniform<S, D>>(),
    }
}

pub(super) fn bitcast(from: Ty, shape: Shape, isa: Isa) -> Handler {
    let canonical = dispatch_type!(FLOAT, from, T => match shape {
        Shape::Varying => handler::<FromFloat<T, true>>(isa),
        Shape::Uniform => plain::<FromFloat<T, false>>(),
    });
    canonical.unwrap_or_else(|| by_size!(from, T => mov::<T>(shape, shape, isa)))
}

/// Flags for the shapes of the sources.
pub(crate) fn shape_flags(shapes: &[Shape; 3]) -> u16 {
    let varying = |i: usize, flag: u16| if shapes[i] == Shape::Varying { flag } else { 0 };
    varying(0, flags::A_VARYING) | varying(1, flags::B_VARYING) | varying(2, flags::C_VARYING)
}
