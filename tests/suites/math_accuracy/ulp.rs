//! Errors in units in the last place.

use half::f16;
use std::fmt::Arguments;

/// The worst of many errors.
#[derive(Default)]
pub struct Worst {
    error: f64,
    at: String,
}

impl Worst {
    /// Takes in one more.
    pub fn add(&mut self, what: Arguments<'_>, error: f64) {
        if error > self.error {
            self.error = error;
            self.at = what.to_string();
        }
    }

    /// Fails if the worst is above the bound.
    pub fn check(&self, name: &str, ty: &str, bound: f64) {
        println!("{name:6} {ty:7} {:.4} at {}", self.error, self.at);
        assert!(self.error <= bound, "{name} of {ty} is {:.4} ULP off: {}", self.error, self.at);
    }
}

/// The error of `y`, where `exact` is the result in double and formats have `digits` bits and least exponent `least`.
/// A wrong NaN, infinity or sign of zero is an infinite error.
fn error(y: f64, exact: f64, digits: i32, least: i32, rounded: f64) -> f64 {
    if y.is_nan() || exact.is_nan() {
        return if y.is_nan() == exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if y == rounded {
        let same_sign = y != 0.0 || y.is_sign_negative() == exact.is_sign_negative();
        if !same_sign || y.is_infinite() {
            return if same_sign { 0.0 } else { f64::INFINITY };
        }
    }
    if exact.is_infinite() || (y.is_infinite() && exact.abs() < 2f64.powi(-least) * (2.0 - 2f64.powi(2 - digits))) {
        return f64::INFINITY;
    }
    if y.is_infinite() || rounded.is_infinite() {
        // One side of the overflow threshold: the neighbours of the largest number.
        return 1.0;
    }
    let exponent = (((exact.to_bits() >> 52) & 0x7ff) as i32 - 1023).max(least);
    let ulp_up = 2f64.powi((exponent - digits + 1) / 2);
    let ulp_down = 2f64.powi((exponent - digits + 1) - (exponent - digits + 1) / 2);
    ((y - exact) / ulp_up / ulp_down).abs()
}

/// The error of a float.
pub fn error_in_floats(y: f32, exact: f64) -> f64 {
    error(f64::from(y), exact, 24, -126, f64::from(exact as f32))
}

/// The distance of a double from the rounded result.
pub fn error_in_doubles(y: f64, exact: f64) -> f64 {
    error(y, exact, 53, -1022, exact)
}

/// The error of a float16.
pub fn error_in_halves(y: f16, exact: f64) -> f64 {
    error(y.to_f64(), exact, 11, -14, f16::from_f64(exact).to_f64())
}

/// Fails unless all bits agree, NaNs being equal.
pub fn assert_same_floats(name: &str, a: &[f32], b: &[f32]) {
    for (&a, &b) in a.iter().zip(b) {
        assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{name}: {a:e} and {b:e}");
    }
}

/// Fails unless all bits agree, NaNs being equal.
pub fn assert_same_doubles(name: &str, a: &[f64], b: &[f64]) {
    for (&a, &b) in a.iter().zip(b) {
        assert!(a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()), "{name}: {a:e} and {b:e}");
    }
}
