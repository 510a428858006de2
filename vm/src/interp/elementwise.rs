//! Handlers of elementwise operations and reductions, generated from the operation table.
//!
//! A [`Kernel`] is the body of a handler. [`handler`] compiles it twice: for the baseline instruction set and, on x86-64,
//! with AVX2, FMA and F16C, chosen at run time. The meaning comes from `vm::sem` in both, and no meaning depends on the
//! instruction set, so both give the same bits.

use super::code::{Handler, Step};
use super::lanes::{BLOCK, MAX_LANES, blend, block_mask, get, load, operand, put, store};
use super::thread::Thread;
use crate::dispatch_type;
use crate::isa::Op;
use crate::sem::{self, Bool, Scalar};
use crate::trap::{TrapDetail, TrapKind};
use crate::types::{Shape, Ty};
use std::marker::PhantomData;

/// The body of a handler.
pub(crate) trait Kernel {
    /// Executes a step.
    ///
    /// # Safety
    /// The contract of [`Handler`].
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step;
}

/// The instruction set handlers are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Isa {
    /// What every CPU of the architecture has.
    Baseline,
    /// x86-64 with AVX2, FMA, F16C, BMI, LZCNT and POPCNT.
    Avx2,
}

impl Isa {
    /// The best this CPU runs.
    pub fn detect() -> Isa {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
            let bits = is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("bmi2");
            let counts = is_x86_feature_detected!("lzcnt") && is_x86_feature_detected!("popcnt");
            if avx2 && bits && counts && is_x86_feature_detected!("f16c") {
                return Isa::Avx2;
            }
        }
        Isa::Baseline
    }
}

unsafe fn baseline<K: Kernel>(t: &mut Thread, step: *const Step) -> *const Step {
    // SAFETY: passed on from the caller.
    unsafe { K::run(t, step) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<K: Kernel>(t: &mut Thread, step: *const Step) -> *const Step {
    // SAFETY: passed on from the caller.
    unsafe { K::run(t, step) }
}

/// The handler of a kernel whose speed depends on the instruction set.
pub(crate) fn handler<K: Kernel>(isa: Isa) -> Handler {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::<K>,
        _ => baseline::<K>,
    }
}

/// The handler of a kernel without vector work.
pub(crate) fn plain<K: Kernel>() -> Handler {
    baseline::<K>
}

/// A meaning with one operand.
pub(crate) trait Unary<T> {
    fn apply(a: T) -> T;
}

/// A meaning with two operands.
pub(crate) trait Binary<T> {
    type Out: Scalar;
    fn apply(a: T, b: T) -> Self::Out;
}

/// A meaning with three operands.
pub(crate) trait Ternary<T> {
    fn apply(a: T, b: T, c: T) -> T;
}

struct UnaryStep<F, T, const AV: bool>(PhantomData<(F, T)>);

impl<T: Scalar, F: Unary<T>, const AV: bool> Kernel for UnaryStep<F, T, AV> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `AV` is the shape of `a` and of the destination.
        unsafe {
            let s = &*step;
            let (d, a) = (t.reg(s.d), t.reg(s.a));
            if !AV {
                put(d, F::apply(get(a)));
            } else {
                for i in 0..s.blocks() {
                    store(d, i, map1(load(a, i), F::apply));
                }
            }
            step.add(1)
        }
    }
}

struct BinaryStep<F, T, const AV: bool, const BV: bool>(PhantomData<(F, T)>);

impl<T: Scalar, F: Binary<T>, const AV: bool, const BV: bool> Kernel for BinaryStep<F, T, AV, BV> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `AV` and `BV` are the shapes of the sources.
        unsafe {
            let s = &*step;
            let (d, a, b) = (t.reg(s.d), t.reg(s.a), t.reg(s.b));
            if !AV && !BV {
                put(d, F::apply(get(a), get(b)));
            } else {
                for i in 0..s.blocks() {
                    let (x, y) = (operand::<T, AV>(a, i), operand::<T, BV>(b, i));
                    store(d, i, map2(x, y, F::apply));
                }
            }
            step.add(1)
        }
    }
}

struct TernaryStep<F, T, const AV: bool, const BV: bool, const CV: bool>(PhantomData<(F, T)>);

impl<T, F, const AV: bool, const BV: bool, const CV: bool> Kernel for TernaryStep<F, T, AV, BV, CV>
where
    T: Scalar,
    F: Ternary<T>,
{
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `AV`, `BV` and `CV` are the shapes of the sources.
        unsafe {
            let s = &*step;
            let (d, a, b, c) = (t.reg(s.d), t.reg(s.a), t.reg(s.b), t.reg(s.c));
            if !AV && !BV && !CV {
                put(d, F::apply(get(a), get(b), get(c)));
            } else {
                for i in 0..s.blocks() {
                    let x = operand::<T, AV>(a, i);
                    let (y, z) = (operand::<T, BV>(b, i), operand::<T, CV>(c, i));
                    let mut r = x;
                    for l in 0..BLOCK {
                        r[l] = F::apply(x[l], y[l], z[l]);
                    }
                    store(d, i, r);
                }
            }
            step.add(1)
        }
    }
}

/// Division and remainder: trap where an active lane's divisor is 0.
struct CheckedStep<F, T, const AV: bool, const BV: bool>(PhantomData<(F, T)>);

impl<T, F, const AV: bool, const BV: bool> Kernel for CheckedStep<F, T, AV, BV>
where
    T: Scalar,
    F: Binary<T, Out = T>,
{
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `AV` and `BV` are the shapes of the sources.
        unsafe {
            let s = &*step;
            let (d, a, b) = (t.reg(s.d), t.reg(s.a), t.reg(s.b));
            let zero = T::default();
            if !BV && get::<T>(b) == zero {
                let lane = AV.then(|| t.mask.trailing_zeros() as usize);
                return t.raise(step, TrapKind::DivisionByZero, lane, TrapDetail::None);
            }
            if BV {
                let is_zero = |x: T| Bool::new(x == zero);
                let mut zeros = 0u64;
                for i in 0..s.blocks() {
                    zeros |= (super::lanes::bits_of(map1(load(b, i), is_zero)) as u64) << (i * BLOCK);
                }
                zeros &= t.mask;
                if zeros != 0 {
                    let lane = Some(zeros.trailing_zeros() as usize);
                    return t.raise(step, TrapKind::DivisionByZero, lane, TrapDetail::None);
                }
            }
            if !AV && !BV {
                put(d, F::apply(get(a), get(b)));
            } else {
                for i in 0..s.blocks() {
                    let (x, y) = (operand::<T, AV>(a, i), operand::<T, BV>(b, i));
                    let r = map2(x, y, F::apply);
                    store(d, i, blend(block_mask(t.mask, i), r, [zero; BLOCK]));
                }
            }
            step.add(1)
        }
    }
}

/// Reductions by halving: lane *i* takes in lane *i* + h, for h from half the width down to 1.
struct ReduceStep<F, T>(PhantomData<(F, T)>);

impl<T: Scalar, F: Binary<T, Out = T>> Kernel for ReduceStep<F, T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers. `imm` holds the neutral element's bits.
        unsafe {
            let s = &*step;
            let a = t.reg(s.a);
            let neutral = [T::from_word(s.imm as u64); BLOCK];
            let mut v = [neutral; MAX_LANES / BLOCK];
            for (i, block) in v.iter_mut().enumerate().take(s.blocks()) {
                *block = blend(block_mask(t.mask, i), load(a, i), neutral);
            }
            let mut blocks = s.blocks();
            while blocks > 1 {
                blocks /= 2;
                for i in 0..blocks {
                    v[i] = map2(v[i], v[i + blocks], F::apply);
                }
            }
            let mut r = v[0];
            for h in [8, 4, 2, 1] {
                if h < t.lanes {
                    for l in 0..h {
                        r[l] = F::apply(r[l], r[l + h]);
                    }
                }
            }
            put(t.reg(s.d), r[0]);
            step.add(1)
        }
    }
}

/// Applies a function to every lane.
#[inline(always)]
pub(crate) fn map1<T: Copy, R: Scalar>(a: [T; BLOCK], f: impl Fn(T) -> R) -> [R; BLOCK] {
    let mut r = [R::default(); BLOCK];
    for l in 0..BLOCK {
        r[l] = f(a[l]);
    }
    r
}

/// Applies a function to every pair of lanes.
#[inline(always)]
pub(crate) fn map2<T: Copy, R: Scalar>(a: [T; BLOCK], b: [T; BLOCK], f: impl Fn(T, T) -> R) -> [R; BLOCK] {
    let mut r = [R::default(); BLOCK];
    for l in 0..BLOCK {
        r[l] = f(a[l], b[l]);
    }
    r
}

fn unary<F: Unary<T>, T: Scalar>(shapes: &[Shape], isa: Isa) -> Handler {
    match shapes[0] {
        Shape::Varying => handler::<UnaryStep<F, T, true>>(isa),
        Shape::Uniform => handler::<UnaryStep<F, T, false>>(isa),
    }
}

fn binary<F: Binary<T>, T: Scalar>(shapes: &[Shape], isa: Isa) -> Handler {
    match (shapes[0], shapes[1]) {
        (Shape::Varying, Shape::Varying) => handler::<BinaryStep<F, T, true, true>>(isa),
        (Shape::Varying, Shape::Uniform) => handler::<BinaryStep<F, T, true, false>>(isa),
        (Shape::Uniform, Shape::Varying) => handler::<BinaryStep<F, T, false, true>>(isa),
        (Shape::Uniform, Shape::Uniform) => plain::<BinaryStep<F, T, false, false>>(),
    }
}

fn checked<F: Binary<T, Out = T>, T: Scalar>(shapes: &[Shape], isa: Isa) -> Handler {
    match (shapes[0], shapes[1]) {
        (Shape::Varying, Shape::Varying) => handler::<CheckedStep<F, T, true, true>>(isa),
        (Shape::Varying, Shape::Uniform) => handler::<CheckedStep<F, T, true, false>>(isa),
        (Shape::Uniform, Shape::Varying) => handler::<CheckedStep<F, T, false, true>>(isa),
        (Shape::Uniform, Shape::Uniform) => plain::<CheckedStep<F, T, false, false>>(),
    }
}

/// Chooses among the eight shapes of a kernel with three sources.
macro_rules! by_three_shapes {
    ($shapes:expr, $isa:expr, $Step:ident < $($param:ty),* >) => {{
        use $crate::types::Shape::{Uniform, Varying};
        match ($shapes[0], $shapes[1], $shapes[2]) {
            (Varying, Varying, Varying) => handler::<$Step<$($param,)* true, true, true>>($isa),
            (Varying, Varying, Uniform) => handler::<$Step<$($param,)* true, true, false>>($isa),
            (Varying, Uniform, Varying) => handler::<$Step<$($param,)* true, false, true>>($isa),
            (Varying, Uniform, Uniform) => handler::<$Step<$($param,)* true, false, false>>($isa),
            (Uniform, Varying, Varying) => handler::<$Step<$($param,)* false, true, true>>($isa),
            (Uniform, Varying, Uniform) => handler::<$Step<$($param,)* false, true, false>>($isa),
            (Uniform, Uniform, Varying) => handler::<$Step<$($param,)* false, false, true>>($isa),
            (Uniform, Uniform, Uniform) => handler::<$Step<$($param,)* false, false, false>>($isa),
        }
    }};
}
pub(crate) use by_three_shapes;

fn ternary<F: Ternary<T>, T: Scalar>(shapes: &[Shape], isa: Isa) -> Handler {
    by_three_shapes!(shapes, isa, TernaryStep<F, T>)
}

/// One type per row of the table, with its meaning.
mod meanings {
    use super::{Binary, Scalar, Ternary, Unary, sem};

    /// Implements the meaning of a row for the trait that its type set stands for.
    macro_rules! meaning {
        ($form:ident $Name:ident ARITH $f:ident) => { meaning!(@ $form $Name $f Arith); };
        ($form:ident $Name:ident INT $f:ident) => { meaning!(@ $form $Name $f Int); };
        ($form:ident $Name:ident BITS $f:ident) => { meaning!(@ $form $Name $f Bits); };
        ($form:ident $Name:ident FLOAT $f:ident) => { meaning!(@ $form $Name $f Float); };
        ($form:ident $Name:ident SCALAR $f:ident) => { meaning!(@ $form $Name $f Scalar); };
        (@ unary $Name:ident $f:ident $Bound:ident) => {
            pub struct $Name;
            impl<T: sem::$Bound> Unary<T> for $Name {
                #[inline(always)]
                fn apply(a: T) -> T { sem::$f(a) }
            }
        };
        (@ ternary $Name:ident $f:ident $Bound:ident) => {
            pub struct $Name;
            impl<T: sem::$Bound> Ternary<T> for $Name {
                #[inline(always)]
                fn apply(a: T, b: T, c: T) -> T { sem::$f(a, b, c) }
            }
        };
        (@ compare $Name:ident $f:ident $Bound:ident) => {
            pub struct $Name;
            impl<T: sem::$Bound> Binary<T> for $Name {
                type Out = sem::Bool;
                #[inline(always)]
                fn apply(a: T, b: T) -> sem::Bool { sem::Bool::new(sem::$f(a, b)) }
            }
        };
        // Binary, checked, reduce.
        (@ $form:ident $Name:ident $f:ident $Bound:ident) => {
            pub struct $Name;
            impl<T: sem::$Bound + Scalar> Binary<T> for $Name {
                type Out = T;
                #[inline(always)]
                fn apply(a: T, b: T) -> T { sem::$f(a, b) }
            }
        };
    }

    macro_rules! define_meanings {
        ($( $Name:ident $text:literal $form:ident ( $($arg:ident),* ) [ $($prop:ident)? ] $doc:literal ; )*) => {
            $( define_meanings!(@ $form $Name $($arg)*); )*
        };
        (@ special $($rest:ident)*) => {};
        (@ $form:ident $Name:ident $types:ident $f:ident) => { meaning!($form $Name $types $f); };
    }
    crate::for_each_op!(define_meanings);
}

macro_rules! define_handlers {
    ($( $Name:ident $text:literal $form:ident ( $($arg:ident),* ) [ $($prop:ident)? ] $doc:literal ; )*) => {
        /// The handler of a regular row for a type and the shapes of its sources; `None` for special rows.
        pub(crate) fn elementwise(op: Op, ty: Ty, shapes: &[Shape; 3], isa: Isa) -> Option<Handler> {
            match op { $( Op::$Name => define_handlers!(@ $form $Name ty shapes isa $($arg)*), )* }
        }
    };
    (@ special $($rest:ident)*) => { None };
    (@ compare $Name:ident $ty:ident $shapes:ident $isa:ident $types:ident $f:ident) => {
        define_handlers!(@ binary $Name $ty $shapes $isa $types $f)
    };
    (@ reduce $Name:ident $ty:ident $shapes:ident $isa:ident $types:ident $f:ident) => {
        dispatch_type!($types, $ty, T => handler::<ReduceStep<meanings::$Name, T>>($isa))
    };
    (@ $form:ident $Name:ident $ty:ident $shapes:ident $isa:ident $types:ident $f:ident) => {
        dispatch_type!($types, $ty, T => $form::<meanings::$Name, T>($shapes, $isa))
    };
}
crate::for_each_op!(define_handlers);
