//! Integer division that vectorises: no CPU of today divides vectors of integers, but all divide vectors of doubles.
//!
//! For operands of at most 32 bits the truncated quotient in `f64` is exact. If a/b is no integer, it is at least 1/b away
//! from one, and rounding to 53 bits moves it by less than a/b · 2⁻⁵², which is smaller.

/// Quotient toward zero; `MIN / -1` wraps to `MIN`, a zero divisor gives 0.
///
/// Without branches: the compiler would put the division behind them and not vectorise.
#[inline(always)]
pub(super) fn i32(a: i32, b: i32) -> i32 {
    let (is_zero, is_minus_one) = ((b == 0) as i32, (b == -1) as i32);
    // Both special divisors become 1; then the result is negated or cleared.
    let divisor = b + is_zero + 2 * is_minus_one;
    // SAFETY: the divisor is not 0, so this is no NaN; the quotient is not larger than `a`, and not `-MIN`.
    let quotient = unsafe { (a as f64 / divisor as f64).to_int_unchecked::<i32>() };
    (quotient ^ -is_minus_one).wrapping_add(is_minus_one) & (is_zero - 1)
}

/// Quotient; a zero divisor gives 0.
#[inline(always)]
pub(super) fn u32(a: u32, b: u32) -> u32 {
    let is_zero = (b == 0) as u32;
    // SAFETY: as above.
    let quotient = unsafe { (a as f64 / (b + is_zero) as f64).to_int_unchecked::<u32>() };
    quotient & is_zero.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    #[test]
    fn quotients_are_exact() {
        let mut edges = Vec::new();
        for k in 0..32 {
            let power = 1u32 << k;
            edges.extend([power, power.wrapping_sub(1), power.wrapping_add(1), power.wrapping_neg(), !power]);
        }
        edges.extend((1..400u32).map(|i| i.wrapping_mul(0x9e37_79b9)));
        for &a in &edges {
            for &b in &edges {
                // Also a multiple of b and its neighbours, where rounding could go wrong.
                for a in [a, a.wrapping_mul(b), a.wrapping_mul(b).wrapping_sub(1)] {
                    assert_eq!(super::u32(a, b), a.checked_div(b).unwrap_or(0), "{a} / {b}");
                    let (a, b) = (a as i32, b as i32);
                    let expected = if b == 0 { 0 } else { a.wrapping_div(b) };
                    assert_eq!(super::i32(a, b), expected, "{a} / {b}");
                }
            }
        }
    }
}
