//! Handlers of elementwise operations and reductions, generated from the operation table.
//!
//! A [`Kernel`] is the body of a handler. [`handler`] compiles it twice: for the baseline instruction set and, on x86-64,
//! with AVX2, FMA and F16C, chosen at run time. The meaning comes from `vm::sem` in both, and no meaning depends on the
//! instruction set, so both give the same bits.

use super::code::{Handler, Step, flags};
use super::lanes::{BLOCK, MAX_LANES, bits_of, blend, block_mask, get, load, operand, put, store};
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
    /// The best one handlers are compiled for.
    pub const BEST: Isa = if cfg!(target_arch = "x86_64") { Isa::Avx2 } else { Isa::Baseline };

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

/// How a kernel knows the shapes of its sources.
pub(crate) trait Shapes {
    /// Returns whether the source of this flag is varying.
    fn varying(s: &Step, flag: u16) -> bool;
}

/// Shapes that are compiled in, as flags.
pub(crate) struct Fixed<const FLAGS: u16>;
/// Shapes that the step's flags tell.
pub(crate) struct Dynamic;

impl<const FLAGS: u16> Shapes for Fixed<FLAGS> {
    #[inline(always)]
    fn varying(_: &Step, flag: u16) -> bool {
        FLAGS & flag != 0
    }
}

impl Shapes for Dynamic {
    #[inline(always)]
    fn varying(s: &Step, flag: u16) -> bool {
        s.has(flag)
    }
}

/// A kernel for varying destinations, in all its shapes.
pub(crate) trait Family {
    /// The kernel for given shapes.
    type With<S: Shapes>: Kernel;
    /// Number of sources.
    const SOURCES: usize;
    /// Whether it is worth a handler for every combination of shapes.
    const HOT: bool;
}

/// The handler of a family's member; `None` if all sources are uniform. Shapes are compiled in for hot families on the
/// best instruction set; everything else looks at flags, which takes a few instructions more but a third of the code.
pub(crate) fn by_shapes<K: Family>(shapes: &[Shape; 3], isa: Isa) -> Option<Handler> {
    let varying = super::moves::shape_flags(shapes) & ((1 << K::SOURCES) - 1);
    if varying == 0 {
        return None;
    }
    if const { !K::HOT } {
        return Some(handler::<K::With<Dynamic>>(isa));
    }
    if isa != Isa::BEST {
        return Some(plain::<K::With<Dynamic>>());
    }
    let two = [best::<K::With<Fixed<1>>>, best::<K::With<Fixed<2>>>, best::<K::With<Fixed<3>>>];
    if const { K::SOURCES == 2 } {
        return two.get(varying as usize - 1).map(|choose| choose());
    }
    Some(match varying {
        4 => best::<K::With<Fixed<4>>>(),
        5 => best::<K::With<Fixed<5>>>(),
        6 => best::<K::With<Fixed<6>>>(),
        7 => best::<K::With<Fixed<7>>>(),
        _ => two[varying as usize - 1](),
    })
}

/// The handler of a kernel for [`Isa::BEST`].
fn best<K: Kernel>() -> Handler {
    #[cfg(target_arch = "x86_64")]
    return avx2::<K>;
    #[cfg(not(target_arch = "x86_64"))]
    return baseline::<K>;
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

struct UnaryStep<F, T>(PhantomData<(F, T)>);

impl<T: Scalar, F: Unary<T>> Kernel for UnaryStep<F, T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; source and destination are varying.
        unsafe {
            let s = &*step;
            let (d, a) = (t.reg(s.d), t.reg(s.a));
            for i in 0..s.blocks() {
                store(d, i, map1(load(a, i), F::apply));
            }
            step.add(1)
        }
    }
}

struct UnaryUniform<F, T>(PhantomData<(F, T)>);

impl<T: Scalar, F: Unary<T>> Kernel for UnaryUniform<F, T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; source and destination are uniform.
        unsafe {
            let s = &*step;
            put(t.reg(s.d), F::apply(get(t.reg(s.a))));
            step.add(1)
        }
    }
}

struct BinaryStep<F, T, S>(PhantomData<(F, T, S)>);

impl<T: Scalar, F: Binary<T>, S: Shapes> Kernel for BinaryStep<F, T, S> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `S` tells the shapes of the sources, the destination is varying.
        unsafe {
            let s = &*step;
            let (d, a, b) = (t.reg(s.d), t.reg(s.a), t.reg(s.b));
            let (av, bv) = (S::varying(s, flags::A_VARYING), S::varying(s, flags::B_VARYING));
            for i in 0..s.blocks() {
                store(d, i, map2(operand::<T>(a, i, av), operand::<T>(b, i, bv), F::apply));
            }
            step.add(1)
        }
    }
}

struct BinaryUniform<F, T>(PhantomData<(F, T)>);

impl<T: Scalar, F: Binary<T>> Kernel for BinaryUniform<F, T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; sources and destination are uniform.
        unsafe {
            let s = &*step;
            put(t.reg(s.d), F::apply(get(t.reg(s.a)), get(t.reg(s.b))));
            step.add(1)
        }
    }
}

struct TernaryStep<F, T, S>(PhantomData<(F, T, S)>);

impl<T: Scalar, F: Ternary<T>, S: Shapes> Kernel for TernaryStep<F, T, S> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; `S` tells the shapes of the sources, the destination is varying.
        unsafe {
            let s = &*step;
            let (d, a, b, c) = (t.reg(s.d), t.reg(s.a), t.reg(s.b), t.reg(s.c));
            for i in 0..s.blocks() {
                let x = operand::<T>(a, i, S::varying(s, flags::A_VARYING));
                let y = operand::<T>(b, i, S::varying(s, flags::B_VARYING));
                let z = operand::<T>(c, i, S::varying(s, flags::C_VARYING));
                let mut r = x;
                for l in 0..BLOCK {
                    r[l] = F::apply(x[l], y[l], z[l]);
                }
                store(d, i, r);
            }
            step.add(1)
        }
    }
}

struct TernaryUniform<F, T>(PhantomData<(F, T)>);

impl<T: Scalar, F: Ternary<T>> Kernel for TernaryUniform<F, T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; sources and destination are uniform.
        unsafe {
            let s = &*step;
            put(t.reg(s.d), F::apply(get(t.reg(s.a)), get(t.reg(s.b)), get(t.reg(s.c))));
            step.add(1)
        }
    }
}

/// Division and remainder: trap where an active lane's divisor is 0.
struct CheckedStep<F, T>(PhantomData<(F, T)>);

impl<T: Scalar, F: Binary<T, Out = T>> Kernel for CheckedStep<F, T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        let zero = T::default();
        // SAFETY: the contract of handlers; the flags tell the shapes of the sources, the destination is varying.
        unsafe {
            let s = &*step;
            let (d, a, b) = (t.reg(s.d), t.reg(s.a), t.reg(s.b));
            let (av, bv) = (s.has(flags::A_VARYING), s.has(flags::B_VARYING));
            let mut zeros = 0u64;
            for i in 0..s.blocks() {
                let is_zero = map1(operand::<T>(b, i, bv), |x| Bool::new(x == zero));
                zeros |= (bits_of(is_zero) as u64) << (i * BLOCK);
            }
            zeros &= t.mask;
            if zeros != 0 {
                let lane = Some(zeros.trailing_zeros() as usize);
                return t.raise(step, TrapKind::DivisionByZero, lane, TrapDetail::None);
            }
            for i in 0..s.blocks() {
                let r = map2(operand::<T>(a, i, av), operand::<T>(b, i, bv), F::apply);
                store(d, i, blend(block_mask(t.mask, i), r, [zero; BLOCK]));
            }
            step.add(1)
        }
    }
}

struct CheckedUniform<F, T>(PhantomData<(F, T)>);

impl<T: Scalar, F: Binary<T, Out = T>> Kernel for CheckedUniform<F, T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; sources and destination are uniform.
        unsafe {
            let s = &*step;
            let b = get::<T>(t.reg(s.b));
            if b == T::default() {
                return t.raise(step, TrapKind::DivisionByZero, None, TrapDetail::None);
            }
            put(t.reg(s.d), F::apply(get(t.reg(s.a)), b));
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

fn unary<F: Unary<T>, T: Scalar>(shapes: &[Shape; 3], isa: Isa) -> Handler {
    match shapes[0] {
        Shape::Varying => handler::<UnaryStep<F, T>>(isa),
        Shape::Uniform if const { T::TY.is_float() } => handler::<UnaryUniform<F, T>>(isa),
        Shape::Uniform => plain::<UnaryUniform<F, T>>(),
    }
}

struct BinaryFamily<F, T>(PhantomData<(F, T)>);

impl<F: Binary<T>, T: Scalar> Family for BinaryFamily<F, T> {
    type With<S: Shapes> = BinaryStep<F, T, S>;
    const SOURCES: usize = 2;
    const HOT: bool = T::TY.size() >= 4;
}

fn binary<F: Binary<T>, T: Scalar>(shapes: &[Shape; 3], isa: Isa) -> Handler {
    let uniform = plain::<BinaryUniform<F, T>>();
    by_shapes::<BinaryFamily<F, T>>(shapes, isa).unwrap_or(uniform)
}

struct TernaryFamily<F, T>(PhantomData<(F, T)>);

impl<F: Ternary<T>, T: Scalar> Family for TernaryFamily<F, T> {
    type With<S: Shapes> = TernaryStep<F, T, S>;
    const SOURCES: usize = 3;
    const HOT: bool = T::TY.size() >= 4;
}

fn ternary<F: Ternary<T>, T: Scalar>(shapes: &[Shape; 3], isa: Isa) -> Handler {
    let uniform = handler::<TernaryUniform<F, T>>(isa);
    by_shapes::<TernaryFamily<F, T>>(shapes, isa).unwrap_or(uniform)
}

fn checked<F: Binary<T, Out = T>, T: Scalar>(shapes: &[Shape; 3], isa: Isa) -> Handler {
    match shapes[..2] {
        [Shape::Uniform, Shape::Uniform] => plain::<CheckedUniform<F, T>>(),
        _ => handler::<CheckedStep<F, T>>(isa),
    }
}

fn reduce<F: Binary<T, Out = T>, T: Scalar>(_: &[Shape; 3], isa: Isa) -> Handler {
    handler::<ReduceStep<F, T>>(isa)
}

/// Which type stands for an integer type where the sign makes no difference: so there are fewer handlers.
pub(crate) trait Canonical: Scalar {
    /// The unsigned type of the same size; other types stand for themselves.
    type Unsigned: Scalar;
    /// What stands for `D` in a conversion from this type to `D`.
    type Target<D: Canonical>: Scalar;
}

macro_rules! canonical {
    ($($t:ty => $unsigned:ty),*; $($float:ty)*) => {
        $( impl Canonical for $t {
            type Unsigned = $unsigned;
            type Target<D: Canonical> = D::Unsigned;
        } )*
        $( impl Canonical for $float {
            type Unsigned = $float;
            type Target<D: Canonical> = D;
        } )*
    };
}
canonical!(Bool => Bool, i8 => u8, i16 => u16, i32 => u32, i64 => u64, u8 => u8, u16 => u16, u32 => u32, u64 => u64;
    sem::f16 f32 f64);

/// The type a meaning is compiled for: the unsigned one where the sign makes no difference to the bits.
macro_rules! compiled_for {
    (add $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (sub $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (mul $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (neg $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (and $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (or $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (xor $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (not $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (shl $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (popcnt $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (clz $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (ctz $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (eq $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    (ne $T:ident) => {
        <$T as Canonical>::Unsigned
    };
    ($other:ident $T:ident) => {
        $T
    };
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
    (@ $form:ident $Name:ident $ty:ident $shapes:ident $isa:ident $types:ident $f:ident) => {
        dispatch_type!($types, $ty, T => $form::<meanings::$Name, compiled_for!($f T)>($shapes, $isa))
    };
}
crate::for_each_op!(define_handlers);
