//! Float operations that need care to round only once.

use half::f16;

/// Rounds an `f64` to `f16` once (never through a second rounding in `f32`).
pub fn f16_from_f64(x: f64) -> f16 {
    f16::from_f32(f32_round_to_odd(x))
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
