//! Conversions between element types.

use super::float::{f16_from_f32, f16_from_f64, f32_from_f16};
use super::scalar::{Bool, Float, Scalar};
use crate::types::Ty;
use half::f16;

/// Conversion of `S` to `Self` as a cast does it: integers wrap, floats round to nearest even, float to integer rounds
/// toward zero and saturates (NaN gives 0), to bool tests for non-zero.
pub trait Convert<S: Scalar>: Scalar {
    /// The converted value.
    fn convert(s: S) -> Self;
}

/// See [`Convert`].
#[inline(always)]
pub fn convert<S: Scalar, D: Convert<S>>(s: S) -> D {
    D::convert(s)
}

macro_rules! by_as {
    ($($s:ident)*; $all:tt) => { $( by_as!(@from $s $all); )* };
    (@from $s:ident ($($d:ident)*)) => { $(
        impl Convert<$s> for $d {
            #[inline(always)]
            fn convert(s: $s) -> $d { s as $d }
        }
    )* };
}
by_as!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64; (i8 i16 i32 i64 u8 u16 u32 u64 f32 f64));

macro_rules! with_bool {
    ($($t:ident)*) => { $(
        impl Convert<Bool> for $t {
            #[inline(always)]
            fn convert(s: Bool) -> $t { s.get() as u8 as $t }
        }
        impl Convert<$t> for Bool {
            #[inline(always)]
            fn convert(s: $t) -> Bool { Bool::new(s != 0 as $t) }
        }
    )* };
}
with_bool!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

macro_rules! with_f16 {
    ($($t:ident)*) => { $(
        impl Convert<f16> for $t {
            #[inline(always)]
            fn convert(s: f16) -> $t { f32_from_f16(s) as $t }
        }
    )* };
}
with_f16!(i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

macro_rules! int_to_f16 {
    // Exact in f64 up to 2^53; anything beyond 65520 is infinite in f16 either way.
    ($($t:ident)*) => { $(
        impl Convert<$t> for f16 {
            #[inline(always)]
            fn convert(s: $t) -> f16 { f16_from_f64(s as f64) }
        }
    )* };
}
int_to_f16!(i8 i16 i32 i64 u8 u16 u32 u64 f64);

impl Convert<f32> for f16 {
    #[inline(always)]
    fn convert(s: f32) -> f16 {
        f16_from_f32(s)
    }
}
impl Convert<f16> for f16 {
    #[inline(always)]
    fn convert(s: f16) -> f16 {
        s
    }
}
impl Convert<Bool> for f16 {
    #[inline(always)]
    fn convert(s: Bool) -> f16 {
        if s.get() { f16::ONE } else { f16::ZERO }
    }
}
impl Convert<f16> for Bool {
    #[inline(always)]
    fn convert(s: f16) -> Bool {
        Bool::new(s != f16::ZERO)
    }
}
impl Convert<Bool> for Bool {
    #[inline(always)]
    fn convert(s: Bool) -> Bool {
        s
    }
}

/// Reinterprets the bits of `bits`, a value of type `from`; a float NaN becomes the canonical NaN first (invariant S3).
#[inline(always)]
pub fn bitcast(from: Ty, bits: u64) -> u64 {
    fn canonical<T: Float>(bits: u64) -> u64 {
        if T::from_word(bits).is_nan() { T::CANONICAL_NAN.to_word() } else { bits }
    }
    match from {
        Ty::F16 => canonical::<f16>(bits),
        Ty::F32 => canonical::<f32>(bits),
        Ty::F64 => canonical::<f64>(bits),
        _ => bits,
    }
}
