//! Special values as in Annex F of the C standard, for float and double alike.

use super::machine::Library;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// A function, its argument, its result.
const UNARY: &[(&str, f64, f64)] = &[
    ("exp", 0.0, 1.0),
    ("exp", -INF, 0.0),
    ("exp", INF, INF),
    ("exp", NAN, NAN),
    ("exp2", 10.0, 1024.0),
    ("exp2", -3.0, 0.125),
    ("exp2", -INF, 0.0),
    ("expm1", -0.0, -0.0),
    ("expm1", -INF, -1.0),
    ("expm1", INF, INF),
    ("log", 0.0, -INF),
    ("log", -0.0, -INF),
    ("log", 1.0, 0.0),
    ("log", -1.0, NAN),
    ("log", INF, INF),
    ("log2", 8.0, 3.0),
    ("log2", 0.0, -INF),
    ("log10", 1000.0, 3.0),
    ("log10", -INF, NAN),
    ("log1p", -0.0, -0.0),
    ("log1p", -1.0, -INF),
    ("log1p", -2.0, NAN),
    ("log1p", INF, INF),
    ("sin", -0.0, -0.0),
    ("sin", INF, NAN),
    ("cos", 0.0, 1.0),
    ("cos", -INF, NAN),
    ("tan", -0.0, -0.0),
    ("tan", INF, NAN),
    ("asin", -0.0, -0.0),
    ("asin", 1.0, FRAC_PI_2),
    ("asin", 1.5, NAN),
    ("acos", 1.0, 0.0),
    ("acos", -1.0, PI),
    ("acos", -1.5, NAN),
    ("atan", -0.0, -0.0),
    ("atan", -INF, -FRAC_PI_2),
    ("sinh", -0.0, -0.0),
    ("sinh", -INF, -INF),
    ("cosh", -INF, INF),
    ("tanh", -0.0, -0.0),
    ("tanh", -INF, -1.0),
    ("asinh", -0.0, -0.0),
    ("asinh", -INF, -INF),
    ("acosh", 1.0, 0.0),
    ("acosh", 0.5, NAN),
    ("atanh", 1.0, INF),
    ("atanh", -1.0, -INF),
    ("atanh", 2.0, NAN),
    ("erf", -0.0, -0.0),
    ("erf", INF, 1.0),
    ("erfc", INF, 0.0),
    ("erfc", -INF, 2.0),
    ("cbrt", -0.0, -0.0),
    ("cbrt", -27.0, -3.0),
    ("cbrt", -INF, -INF),
    ("sqrt", -0.0, -0.0),
    ("sqrt", -1.0, NAN),
    ("rsqrt", 0.0, INF),
    ("rsqrt", INF, 0.0),
    ("rsqrt", -1.0, NAN),
    ("rcp", -0.0, -INF),
    ("rcp", -INF, -0.0),
];

/// A function, its arguments, its result.
const BINARY: &[(&str, f64, f64, f64)] = &[
    ("pow", NAN, 0.0, 1.0),
    ("pow", 1.0, NAN, 1.0),
    ("pow", NAN, 1.0, NAN),
    ("pow", 2.0, NAN, NAN),
    ("pow", -2.0, 3.0, -8.0),
    ("pow", -2.0, 4.0, 16.0),
    ("pow", -8.0, 1.0 / 3.0, NAN),
    ("pow", 0.0, -1.0, INF),
    ("pow", -0.0, -1.0, -INF),
    ("pow", -0.0, -2.0, INF),
    ("pow", -0.0, 3.0, -0.0),
    ("pow", -0.0, 0.5, 0.0),
    ("pow", -1.0, INF, 1.0),
    ("pow", -1.0, -INF, 1.0),
    ("pow", 0.5, INF, 0.0),
    ("pow", 0.5, -INF, INF),
    ("pow", -3.0, INF, INF),
    ("pow", INF, -0.5, 0.0),
    ("pow", -INF, 3.0, -INF),
    ("pow", -INF, 2.0, INF),
    ("pow", -INF, -3.0, -0.0),
    ("pow", 10.0, 3.0, 1000.0),
    ("atan2", 0.0, 1.0, 0.0),
    ("atan2", -0.0, 1.0, -0.0),
    ("atan2", 0.0, -0.0, PI),
    ("atan2", -0.0, -0.0, -PI),
    ("atan2", 0.0, 0.0, 0.0),
    ("atan2", -1.0, 0.0, -FRAC_PI_2),
    ("atan2", INF, INF, FRAC_PI_4),
    ("atan2", INF, -INF, 3.0 * FRAC_PI_4),
    ("atan2", -INF, 5.0, -FRAC_PI_2),
    ("atan2", 1.0, -INF, PI),
    ("atan2", 1.0, INF, 0.0),
    ("atan2", NAN, 1.0, NAN),
    ("hypot", INF, NAN, INF),
    ("hypot", NAN, -INF, INF),
    ("hypot", NAN, 1.0, NAN),
    ("hypot", -3.0, 4.0, 5.0),
    ("hypot", -0.0, 0.0, 0.0),
    ("fmod", 7.0, 3.0, 1.0),
    ("fmod", -7.0, 3.0, -1.0),
    ("fmod", -0.0, 3.0, -0.0),
    ("fmod", INF, 3.0, NAN),
    ("fmod", 3.0, 0.0, NAN),
    ("fmod", 3.0, INF, 3.0),
];

/// Checks the tables in both types.
pub fn check(library: &Library) {
    for &(name, x, expected) in UNARY {
        let found = library.unary(name, &[x])[0];
        assert!(same(found, expected), "{name}({x}) is {found}, not {expected}");
        let found = library.unary(name, &[x as f32])[0];
        assert!(same(f64::from(found), f64::from(expected as f32)), "{name}({x}f) is {found}, not {expected}");
    }
    for &(name, x, y, expected) in BINARY {
        let found = library.binary(name, &[x], &[y])[0];
        assert!(same(found, expected), "{name}({x}, {y}) is {found}, not {expected}");
        let found = library.binary(name, &[x as f32], &[y as f32])[0];
        assert!(same(f64::from(found), f64::from(expected as f32)), "{name}({x}f, {y}f) is {found}, not {expected}");
    }
}

fn same(a: f64, b: f64) -> bool {
    (a.is_nan() && b.is_nan()) || a.to_bits() == b.to_bits()
}
