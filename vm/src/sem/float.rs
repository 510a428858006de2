//! Float operations that need care to round only once.

use half::f16;

/// The exact value of an `f16`. Written without branches, so that loops over lanes become vector code.
#[inline(always)]
pub fn f32_from_f16(x: f16) -> f32 {
    /// 2¹¹², the quotient of the exponent biases.
    const REBIAS: f32 = f32::from_bits((127 + 112) << 23);
    let magnitude = (x.to_bits() & 0x7fff) as u32;
    // Exponent and fraction in their places for `f32`; the product is exact, for subnormal numbers too.
    let finite = (f32::from_bits(magnitude << 13) * REBIAS).to_bits();
    let special = if magnitude >= 0x7c00 { 0x7f80_0000 } else { 0 };
    let sign = ((x.to_bits() & 0x8000) as u32) << 16;
    f32::from_bits(finite | special | sign)
}

/// Rounds an `f32` to the nearest `f16`, ties to even. Written without branches, so that loops over lanes become vector
/// code: all three ways are computed, then one is chosen.
#[inline(always)]
pub fn f16_from_f32(x: f32) -> f16 {
    /// The smallest magnitudes that round to infinity and that are normal.
    const OVERFLOW: u32 = 0x477f_f000;
    const NORMAL: u32 = 0x3880_0000;
    let magnitude = x.to_bits() & 0x7fff_ffff;
    // Normal: add just under half of the last place kept (with the last bit, to break ties), change the exponent's bias.
    let rounded = magnitude.wrapping_add(0xfff + (magnitude >> 13 & 1));
    let normal = rounded.wrapping_sub(112 << 23) >> 13;
    // Subnormal: one half has 2⁻²⁴ as its last place, as subnormal `f16` do, so the addition rounds as it should.
    let subnormal = (f32::from_bits(magnitude) + 0.5).to_bits().wrapping_sub(0.5f32.to_bits());
    let finite = if magnitude < NORMAL { subnormal } else { normal };
    let special = if magnitude > 0x7f80_0000 { 0x7e00 } else { 0x7c00 };
    let bits = if magnitude >= OVERFLOW { special } else { finite };
    f16::from_bits(bits as u16 | (x.to_bits() >> 16) as u16 & 0x8000)
}

/// Rounds an `f64` to `f16` once (never through a second rounding in `f32`).
pub fn f16_from_f64(x: f64) -> f16 {
    f16_from_f32(f32_round_to_odd(x))
}

/// Rounds to `f32` "to odd": an inexact result gets an odd last bit, so a later rounding to at most 22 bits is as if done
/// directly (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd", 2008).
fn f32_round_to_odd(x: f64) -> f32 {
    let near = x as f32;
    if near as f64 == x || !near.is_finite() || x.is_nan() {
        return near;
    }
    // Truncate toward zero, then set the last bit.
    let truncated = if (near as f64).abs() > x.abs() { f32::from_bits(near.to_bits() - 1) } else { near };
    f32::from_bits(truncated.to_bits() | 1)
}

/// `a * b + c` on `f16` with one rounding: the product is exact in `f64`, the sum is rounded to odd.
pub fn fma_f16(a: f16, b: f16, c: f16) -> f16 {
    let p = a.to_f64() * b.to_f64();
    let c = c.to_f64();
    let sum = p + c;
    if !sum.is_finite() {
        return f16_from_f64(sum);
    }
    // TwoSum (Knuth): the exact error of the addition.
    let bb = sum - p;
    let err = (p - (sum - bb)) + (c - bb);
    let odd = if err == 0.0 || sum.to_bits() & 1 == 1 {
        sum
    } else if (err > 0.0) == (sum > 0.0) {
        f64::from_bits(sum.to_bits() + 1)
    } else {
        f64::from_bits(sum.to_bits() - 1)
    };
    f16_from_f64(odd)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn f16_conversions_agree_with_the_half_crate() {
        for bits in 0..=u16::MAX {
            let h = f16::from_bits(bits);
            let wide = f32_from_f16(h);
            assert!(wide == h.to_f32() || (wide.is_nan() && h.is_nan()), "{bits:#x}");
            assert_eq!(wide.is_sign_negative(), h.is_sign_negative());
            // The value itself, its neighbours in f32, and the points around the middle to the next f16.
            let around = [0, 1, 0xfff, 0x1000, 0x1001, 0x1fff, 0xffff_ffff];
            for x in around.map(|d| f32::from_bits(wide.to_bits().wrapping_add(d))) {
                let (got, expected) = (f16_from_f32(x), f16::from_f32(x));
                assert!(got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()), "{x:e}");
            }
        }
        for i in 0..1u32 << 18 {
            let x = f32::from_bits(i.wrapping_mul(0x9e37_79b9));
            let (got, expected) = (f16_from_f32(x), f16::from_f32(x));
            assert!(got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()), "{x:e}");
        }
    }

    #[test]
    fn f64_to_f16_rounds_once() {
        // Just above the midpoint of 1 and the next f16: through f32 it would tie to even and give 1.
        let x = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(f16_from_f64(x).to_bits(), 0x3c01);
        assert_eq!(f16_from_f64(1.0 + 2f64.powi(-11)).to_bits(), 0x3c00);
        assert_eq!(f16_from_f64(65520.0), f16::INFINITY);
        assert_eq!(f16_from_f64(65519.999), f16::MAX);
        assert_eq!(f16_from_f64(1e300), f16::INFINITY);
        assert_eq!(f16_from_f64(-1e-300).to_bits(), 0x8000);
    }

    #[test]
    fn f16_fma_rounds_once() {
        let h = f16::from_f32;
        assert_eq!(fma_f16(h(2.0), h(3.0), h(1.0)), h(7.0));
        // A tie broken by an addend 70 binary places below.
        let tiny = f16::from_bits(1);
        let big = fma_f16(h(1.0 + 1.0 / 1024.0), h(32.0 + 1.0 / 32.0), tiny);
        let exact = (1.0 + 1.0 / 1024.0) * (32.0 + 1.0 / 32.0) + 2f64.powi(-24);
        assert_eq!(big, f16_from_f64(exact));
    }
}
