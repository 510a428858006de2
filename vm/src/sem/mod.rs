//! The meaning of every scalar operation, once.
//!
//! The interpreter's vector loops, constant folding and the tests of back ends all call these functions. `scalar` holds
//! the traits that group the element types, `float`, `divide` and `convert` the functions that are more than one line, `eval` the
//! dispatcher from an operation of the table to its meaning on raw bits.

mod convert;
mod divide;
mod eval;
mod float;
mod scalar;

pub use convert::{Convert, bitcast, convert};
pub use eval::{eval, reduce_neutral};
pub use float::{f16_from_f64, fma_f16};
pub use half::f16;
pub use scalar::{Arith, Bits, Bool, Float, Int, Scalar};
#[doc(hidden)]
pub use std::primitive::{f32, f64, i8, i16, i32, i64, u8, u16, u32, u64};

/// Sum; integers wrap.
#[inline(always)]
pub fn add<T: Arith>(a: T, b: T) -> T {
    a.add(b)
}

/// Difference; integers wrap.
#[inline(always)]
pub fn sub<T: Arith>(a: T, b: T) -> T {
    a.sub(b)
}

/// Product; integers wrap.
#[inline(always)]
pub fn mul<T: Arith>(a: T, b: T) -> T {
    a.mul(b)
}

/// Negation; integers wrap, floats flip the sign bit.
#[inline(always)]
pub fn neg<T: Arith>(a: T) -> T {
    a.neg()
}

/// Absolute value; `abs(INT_MIN)` wraps to itself, unsigned integers are unchanged.
#[inline(always)]
pub fn abs<T: Arith>(a: T) -> T {
    a.abs()
}

/// `a < b ? a : b`.
#[inline(always)]
pub fn min<T: Scalar>(a: T, b: T) -> T {
    if a.less(b) { a } else { b }
}

/// `a > b ? a : b`.
#[inline(always)]
pub fn max<T: Scalar>(a: T, b: T) -> T {
    if b.less(a) { a } else { b }
}

/// Bitwise (boolean) and.
#[inline(always)]
pub fn and<T: Bits>(a: T, b: T) -> T {
    a.and(b)
}

/// Bitwise (boolean) or.
#[inline(always)]
pub fn or<T: Bits>(a: T, b: T) -> T {
    a.or(b)
}

/// Bitwise (boolean) exclusive or.
#[inline(always)]
pub fn xor<T: Bits>(a: T, b: T) -> T {
    a.xor(b)
}

/// Bitwise complement; logical not for booleans.
#[inline(always)]
pub fn not<T: Bits>(a: T) -> T {
    a.not()
}

/// Shift left by `b` modulo the bit width.
#[inline(always)]
pub fn shl<T: Int>(a: T, b: T) -> T {
    a.shl(b)
}

/// Shift right by `b` modulo the bit width; arithmetic for signed types.
#[inline(always)]
pub fn shr<T: Int>(a: T, b: T) -> T {
    a.shr(b)
}

/// High half of the double-width product.
#[inline(always)]
pub fn mulhi<T: Int>(a: T, b: T) -> T {
    a.mulhi(b)
}

/// Integer quotient, toward zero; `INT_MIN / -1` wraps. A zero divisor gives 0 here; the instruction traps before.
#[inline(always)]
pub fn idiv<T: Int>(a: T, b: T) -> T {
    a.div(b)
}

/// Integer remainder with the sign of the dividend; `INT_MIN % -1` is 0. A zero divisor gives 0 here.
#[inline(always)]
pub fn irem<T: Int>(a: T, b: T) -> T {
    a.rem(b)
}

/// Number of set bits.
#[inline(always)]
pub fn popcnt<T: Int>(a: T) -> T {
    a.popcnt()
}

/// Leading zero bits; the bit width for 0.
#[inline(always)]
pub fn clz<T: Int>(a: T) -> T {
    a.clz()
}

/// Trailing zero bits; the bit width for 0.
#[inline(always)]
pub fn ctz<T: Int>(a: T) -> T {
    a.ctz()
}

/// IEEE quotient.
#[inline(always)]
pub fn fdiv<T: Float>(a: T, b: T) -> T {
    a.div(b)
}

/// C `fmod`: the exact remainder with the sign of the dividend.
///
/// A NaN that comes of numbers has that sign too, for [`sign`] to see. It is a signalling one: no arithmetic gives such a
/// NaN or passes it on as such, so the sign is the same on every engine.
#[inline(always)]
pub fn frem<T: Float>(a: T, b: T) -> T {
    let remainder = a.rem(b);
    if remainder.is_nan() && !a.is_nan() && !b.is_nan() {
        let signalling = T::CANONICAL_NAN.to_word() ^ T::QUIET_BIT | T::QUIET_BIT >> 1;
        return T::from_word(signalling | a.to_word() & sign_bit::<T>());
    }
    remainder
}

/// Zero with the sign of `a`; a quiet NaN counts as positive.
#[inline(always)]
pub fn sign<T: Float>(a: T) -> T {
    let bits = a.to_word();
    let has_sign = !a.is_nan() || bits & T::QUIET_BIT == 0;
    T::from_word(if has_sign { bits & sign_bit::<T>() } else { 0 })
}

fn sign_bit<T: Float>() -> u64 {
    1 << (8 * T::TY.size() - 1)
}

/// Correctly rounded square root.
#[inline(always)]
pub fn sqrt<T: Float>(a: T) -> T {
    a.sqrt()
}

/// Largest integer not above.
#[inline(always)]
pub fn floor<T: Float>(a: T) -> T {
    a.floor()
}

/// Smallest integer not below.
#[inline(always)]
pub fn ceil<T: Float>(a: T) -> T {
    a.ceil()
}

/// Integer part, toward zero.
#[inline(always)]
pub fn trunc<T: Float>(a: T) -> T {
    a.trunc()
}

/// Nearest integer, ties to even.
#[inline(always)]
pub fn round_even<T: Float>(a: T) -> T {
    a.round_even()
}

/// `a * b + c` with one rounding.
#[inline(always)]
pub fn fma<T: Float>(a: T, b: T, c: T) -> T {
    a.fma(b, c)
}

/// Equal; NaN equals nothing.
#[inline(always)]
pub fn eq<T: Scalar>(a: T, b: T) -> bool {
    a == b
}

/// Not equal; true if either is NaN.
#[inline(always)]
pub fn ne<T: Scalar>(a: T, b: T) -> bool {
    a != b
}

/// Less than (`false < true`).
#[inline(always)]
pub fn lt<T: Scalar>(a: T, b: T) -> bool {
    a.less(b)
}

/// Less than or equal.
#[inline(always)]
pub fn le<T: Scalar>(a: T, b: T) -> bool {
    a.less_equal(b)
}

/// Greater than.
#[inline(always)]
pub fn gt<T: Scalar>(a: T, b: T) -> bool {
    b.less(a)
}

/// Greater than or equal.
#[inline(always)]
pub fn ge<T: Scalar>(a: T, b: T) -> bool {
    b.less_equal(a)
}

/// `c ? a : b`.
#[inline(always)]
pub fn select<T: Scalar>(c: Bool, a: T, b: T) -> T {
    if c.get() { a } else { b }
}

/// Number of low bits of a pointer that hold the offset; the rest is the region number.
pub const OFFSET_BITS: u32 = 40;

/// Pointer plus signed byte offset: the region stays, and an offset outside ±2³⁹ becomes the poison offset −2³⁹.
#[inline(always)]
pub fn padd(p: u64, delta: i64) -> u64 {
    const SHIFT: u32 = 64 - OFFSET_BITS;
    const POISON: i64 = -(1 << (OFFSET_BITS - 1));
    let offset = ((p << SHIFT) as i64) >> SHIFT;
    let sum = offset.saturating_add(delta);
    let fits = offset != POISON && (sum << SHIFT) >> SHIFT == sum;
    let offset = if fits { sum } else { POISON };
    (p >> OFFSET_BITS << OFFSET_BITS) | (offset as u64 & ((1 << OFFSET_BITS) - 1))
}
