//! The numbers by which to multiply instead of dividing.
//!
//! T. Granlund and P. L. Montgomery, "Division by Invariant Integers using Multiplication" (PLDI 1994); H. S. Warren,
//! "Hacker's Delight", chapter 10. Everything is computed in 128 bits, for types of `n` bits.

/// How to divide unsigned numbers: `q = mulhi(x >> before, factor) >> after`, or, if `add`,
/// `t = mulhi(x, factor); q = (((x - t) >> 1) + t) >> (after - 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unsigned {
    pub before: u32,
    pub factor: u64,
    pub after: u32,
    pub add: bool,
}

/// For a divisor that is neither 0 nor a power of two.
pub(super) fn unsigned(n: u32, d: u64) -> Unsigned {
    let d = d as u128;
    // The least power of two that is not below the divisor.
    let l = 128 - (d - 1).leading_zeros();
    let exact = |before: u32, after: u32| {
        let d = d >> before;
        let power = 1u128 << n << after;
        let factor = power.div_ceil(d);
        // The factor is too large by at most 2^(after + before) / d of one: less than what any numerator shows.
        let excess = factor * d - power;
        let fits = factor < 1 << n && excess <= 1 << after << before;
        fits.then_some(Unsigned { before, factor: factor as u64, after, add: false })
    };
    let trailing = d.trailing_zeros();
    // Powers up to 2¹²⁷ can be had.
    let shift = |before: u32| (0..=(l - before).min(127 - n)).find_map(|after| exact(before, after));
    shift(0).or_else(|| if trailing > 0 { shift(trailing) } else { None }).unwrap_or_else(|| {
        let factor = (1u128 << n) * ((1 << l) - d) / d + 1;
        Unsigned { before: 0, factor: factor as u64, after: l, add: true }
    })
}

/// How to divide signed numbers by a positive one: `t = mulhi(x, factor); if add { t += x }; q = (t >> after) - (x >> n-1)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Signed {
    /// The bits of a signed number.
    pub factor: u64,
    pub after: u32,
    pub add: bool,
}

/// For the absolute value of a divisor, neither 0 nor a power of two.
pub(super) fn signed(n: u32, d: u64) -> Signed {
    let d = d as u128;
    let half = n - 1;
    // The least shift for which the factor is exact enough for all numerators of n - 1 bits.
    let after = (0..n).find(|&after| {
        let power = 1u128 << n << after;
        power.div_ceil(d) * d - power <= 1 << (after + 1)
    });
    let after = after.unwrap_or(half);
    let factor = (1u128 << n << after).div_ceil(d);
    let mask = u64::MAX >> (64 - n);
    Signed { factor: factor as u64 & mask, after, add: factor >> half != 0 }
}
