//! The Rust types behind the element types, and the traits that group them as the operation table does.

use super::{divide, float};
use crate::types::Ty;
use half::f16;

/// A boolean element: one byte that is 0 or 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Bool(u8);

impl Bool {
    /// The element for a Rust `bool`.
    #[inline(always)]
    pub const fn new(b: bool) -> Bool {
        Bool(b as u8)
    }

    /// Its truth value.
    #[inline(always)]
    pub const fn get(self) -> bool {
        self.0 != 0
    }
}

/// Every element type.
pub trait Scalar: Copy + PartialEq + Default + Send + Sync + 'static {
    /// Which element type it is.
    const TY: Ty;
    /// The value in the low bits of a word; the rest is 0. NaNs keep their payload.
    fn to_word(self) -> u64;
    /// The value held in the low bits of a word.
    fn from_word(bits: u64) -> Self;
    /// `self < other`, false for NaN.
    fn less(self, other: Self) -> bool;
    /// `self <= other`, false for NaN.
    fn less_equal(self, other: Self) -> bool;
}

/// Integers and booleans.
#[allow(missing_docs)]
pub trait Bits: Scalar {
    fn and(self, o: Self) -> Self;
    fn or(self, o: Self) -> Self;
    fn xor(self, o: Self) -> Self;
    fn not(self) -> Self;
}

/// Integers and floats.
#[allow(missing_docs)]
pub trait Arith: Scalar {
    const ONE: Self;
    const LOWEST: Self;
    const HIGHEST: Self;
    /// The neutral element of addition (−0 for floats).
    const ADD_NEUTRAL: Self;
    fn add(self, o: Self) -> Self;
    fn sub(self, o: Self) -> Self;
    fn mul(self, o: Self) -> Self;
    fn neg(self) -> Self;
    fn abs(self) -> Self;
}

/// Integers.
#[allow(missing_docs)]
pub trait Int: Arith + Bits {
    fn div(self, o: Self) -> Self;
    fn rem(self, o: Self) -> Self;
    fn shl(self, o: Self) -> Self;
    fn shr(self, o: Self) -> Self;
    fn mulhi(self, o: Self) -> Self;
    fn popcnt(self) -> Self;
    fn clz(self) -> Self;
    fn ctz(self) -> Self;
}

/// Floats.
#[allow(missing_docs)]
pub trait Float: Arith {
    /// The NaN whose bits are seen wherever NaN bits become visible.
    const CANONICAL_NAN: Self;
    /// The bit that distinguishes quiet NaNs from signalling ones.
    const QUIET_BIT: u64;
    fn div(self, o: Self) -> Self;
    fn rem(self, o: Self) -> Self;
    fn sqrt(self) -> Self;
    fn floor(self) -> Self;
    fn ceil(self) -> Self;
    fn trunc(self) -> Self;
    fn round_even(self) -> Self;
    fn fma(self, b: Self, c: Self) -> Self;
    fn is_nan(self) -> bool;
}

impl Scalar for Bool {
    const TY: Ty = Ty::Bool;
    #[inline(always)]
    fn to_word(self) -> u64 {
        self.0 as u64
    }
    #[inline(always)]
    fn from_word(bits: u64) -> Self {
        Bool((bits as u8 != 0) as u8)
    }
    #[inline(always)]
    fn less(self, o: Self) -> bool {
        self.0 < o.0
    }
    #[inline(always)]
    fn less_equal(self, o: Self) -> bool {
        self.0 <= o.0
    }
}

impl Bits for Bool {
    #[inline(always)]
    fn and(self, o: Self) -> Self {
        Bool(self.0 & o.0)
    }
    #[inline(always)]
    fn or(self, o: Self) -> Self {
        Bool(self.0 | o.0)
    }
    #[inline(always)]
    fn xor(self, o: Self) -> Self {
        Bool(self.0 ^ o.0)
    }
    #[inline(always)]
    fn not(self) -> Self {
        Bool(self.0 ^ 1)
    }
}

macro_rules! int {
    ($t:ident, $wide:ident, $unsigned:ident, $ty:expr, $abs:expr, $div:expr) => {
        impl Scalar for $t {
            const TY: Ty = $ty;
            #[inline(always)]
            fn to_word(self) -> u64 {
                self as $unsigned as u64
            }
            #[inline(always)]
            fn from_word(bits: u64) -> Self {
                bits as $t
            }
            #[inline(always)]
            fn less(self, o: Self) -> bool {
                self < o
            }
            #[inline(always)]
            fn less_equal(self, o: Self) -> bool {
                self <= o
            }
        }
        impl Bits for $t {
            #[inline(always)]
            fn and(self, o: Self) -> Self {
                self & o
            }
            #[inline(always)]
            fn or(self, o: Self) -> Self {
                self | o
            }
            #[inline(always)]
            fn xor(self, o: Self) -> Self {
                self ^ o
            }
            #[inline(always)]
            fn not(self) -> Self {
                !self
            }
        }
        impl Arith for $t {
            const ONE: Self = 1;
            const LOWEST: Self = $t::MIN;
            const HIGHEST: Self = $t::MAX;
            const ADD_NEUTRAL: Self = 0;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                self.wrapping_add(o)
            }
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                self.wrapping_sub(o)
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                self.wrapping_mul(o)
            }
            #[inline(always)]
            fn neg(self) -> Self {
                self.wrapping_neg()
            }
            #[inline(always)]
            fn abs(self) -> Self {
                let abs: fn($t) -> $t = $abs;
                abs(self)
            }
        }
        impl Int for $t {
            #[inline(always)]
            fn div(self, o: Self) -> Self {
                let div: fn($t, $t) -> $t = $div;
                div(self, o)
            }
            #[inline(always)]
            fn rem(self, o: Self) -> Self {
                // The quotient for a zero divisor is 0, and so shall be the remainder.
                self.wrapping_sub(self.div(o).wrapping_mul(o)) & ((o != 0) as $t).wrapping_neg()
            }
            #[inline(always)]
            fn shl(self, o: Self) -> Self {
                self.wrapping_shl(o as u32)
            }
            #[inline(always)]
            fn shr(self, o: Self) -> Self {
                self.wrapping_shr(o as u32)
            }
            #[inline(always)]
            fn mulhi(self, o: Self) -> Self {
                ((self as $wide * o as $wide) >> $t::BITS) as $t
            }
            #[inline(always)]
            fn popcnt(self) -> Self {
                self.count_ones() as $t
            }
            #[inline(always)]
            fn clz(self) -> Self {
                self.leading_zeros() as $t
            }
            #[inline(always)]
            fn ctz(self) -> Self {
                self.trailing_zeros() as $t
            }
        }
    };
}

int!(i8, i16, u8, Ty::I8, |x| x.wrapping_abs(), |a, b| divide::i32(a as i32, b as i32) as i8);
int!(i16, i32, u16, Ty::I16, |x| x.wrapping_abs(), |a, b| divide::i32(a as i32, b as i32) as i16);
int!(i32, i64, u32, Ty::I32, |x| x.wrapping_abs(), divide::i32);
int!(i64, i128, u64, Ty::I64, |x| x.wrapping_abs(), |a, b| if b == 0 { 0 } else { a.wrapping_div(b) });
int!(u8, u16, u8, Ty::U8, |x| x, |a, b| divide::i32(a as i32, b as i32) as u8);
int!(u16, u32, u16, Ty::U16, |x| x, |a, b| divide::i32(a as i32, b as i32) as u16);
int!(u32, u64, u32, Ty::U32, |x| x, divide::u32);
int!(u64, u128, u64, Ty::U64, |x| x, |a, b| a.checked_div(b).unwrap_or(0));

macro_rules! float {
    ($t:ident, $ty:expr, $value:expr) => {
        impl Scalar for $t {
            const TY: Ty = $ty;
            #[inline(always)]
            fn to_word(self) -> u64 {
                $t::to_bits(self) as u64
            }
            #[inline(always)]
            fn from_word(bits: u64) -> Self {
                $t::from_bits(bits as _)
            }
            #[inline(always)]
            fn less(self, o: Self) -> bool {
                $value(self) < $value(o)
            }
            #[inline(always)]
            fn less_equal(self, o: Self) -> bool {
                $value(self) <= $value(o)
            }
        }
    };
}

macro_rules! native_float {
    ($t:ident, $ty:expr) => {
        float!($t, $ty, std::convert::identity);
        impl Arith for $t {
            const ONE: Self = 1.0;
            const LOWEST: Self = $t::NEG_INFINITY;
            const HIGHEST: Self = $t::INFINITY;
            const ADD_NEUTRAL: Self = -0.0;
            #[inline(always)]
            fn add(self, o: Self) -> Self {
                self + o
            }
            #[inline(always)]
            fn sub(self, o: Self) -> Self {
                self - o
            }
            #[inline(always)]
            fn mul(self, o: Self) -> Self {
                self * o
            }
            #[inline(always)]
            fn neg(self) -> Self {
                -self
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $t::abs(self)
            }
        }
        impl Float for $t {
            const CANONICAL_NAN: Self = $t::NAN;
            const QUIET_BIT: u64 = 1 << ($t::MANTISSA_DIGITS - 2);
            #[inline(always)]
            fn div(self, o: Self) -> Self {
                self / o
            }
            #[inline(always)]
            fn rem(self, o: Self) -> Self {
                self % o
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $t::sqrt(self)
            }
            #[inline(always)]
            fn floor(self) -> Self {
                $t::floor(self)
            }
            #[inline(always)]
            fn ceil(self) -> Self {
                $t::ceil(self)
            }
            #[inline(always)]
            fn trunc(self) -> Self {
                $t::trunc(self)
            }
            #[inline(always)]
            fn round_even(self) -> Self {
                $t::round_ties_even(self)
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                self != self
            }
        }
    };
}

native_float!(f32, Ty::F32);
native_float!(f64, Ty::F64);
float!(f16, Ty::F16, wide);

use float::f32_from_f16 as wide;

/// Rounds an `f32` computation back. One operation on `f16` operands in `f32` rounds once more without harm: 24 bits are
/// at least twice 11 plus two, the condition under which double rounding is innocuous for + − × ÷ √
/// (Figueroa, "When is double rounding innocuous?", 1995).
#[inline(always)]
fn via_f32(x: f32) -> f16 {
    float::f16_from_f32(x)
}

impl Arith for f16 {
    const ONE: Self = f16::ONE;
    const LOWEST: Self = f16::NEG_INFINITY;
    const HIGHEST: Self = f16::INFINITY;
    const ADD_NEUTRAL: Self = f16::NEG_ZERO;
    #[inline(always)]
    fn add(self, o: Self) -> Self {
        via_f32(wide(self) + wide(o))
    }
    #[inline(always)]
    fn sub(self, o: Self) -> Self {
        via_f32(wide(self) - wide(o))
    }
    #[inline(always)]
    fn mul(self, o: Self) -> Self {
        via_f32(wide(self) * wide(o))
    }
    #[inline(always)]
    fn neg(self) -> Self {
        f16::from_bits(self.to_bits() ^ 0x8000)
    }
    #[inline(always)]
    fn abs(self) -> Self {
        f16::from_bits(self.to_bits() & 0x7fff)
    }
}

impl Float for f16 {
    const CANONICAL_NAN: Self = f16::NAN;
    const QUIET_BIT: u64 = 1 << (f16::MANTISSA_DIGITS - 2);
    #[inline(always)]
    fn div(self, o: Self) -> Self {
        via_f32(wide(self) / wide(o))
    }
    #[inline(always)]
    fn rem(self, o: Self) -> Self {
        via_f32(wide(self) % wide(o))
    }
    #[inline(always)]
    fn sqrt(self) -> Self {
        via_f32(wide(self).sqrt())
    }
    #[inline(always)]
    fn floor(self) -> Self {
        via_f32(wide(self).floor())
    }
    #[inline(always)]
    fn ceil(self) -> Self {
        via_f32(wide(self).ceil())
    }
    #[inline(always)]
    fn trunc(self) -> Self {
        via_f32(wide(self).trunc())
    }
    #[inline(always)]
    fn round_even(self) -> Self {
        via_f32(wide(self).round_ties_even())
    }
    #[inline(always)]
    fn fma(self, b: Self, c: Self) -> Self {
        float::fma_f16(self, b, c)
    }
    #[inline(always)]
    fn is_nan(self) -> bool {
        f16::is_nan(self)
    }
}
