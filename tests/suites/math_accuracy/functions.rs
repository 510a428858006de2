//! The functions under test, each with a double form that is correctly rounded or nearly so.
//!
//! For two arguments that is the host's, as the reference crate fails at some extreme ones; and its `sinh(-0)` is set right.

/// A function of one argument.
pub struct Unary {
    /// Its name in the library.
    pub name: &'static str,
    /// The reference.
    pub exact: fn(f64) -> f64,
    /// Where its double form is sampled densely.
    pub range: (f64, f64),
}

/// A function of two arguments.
pub struct Binary {
    /// Its name in the library.
    pub name: &'static str,
    /// The reference.
    pub exact: fn(f64, f64) -> f64,
    /// Whether most samples have a positive first argument.
    pub positive: bool,
}

const fn unary(name: &'static str, exact: fn(f64) -> f64, low: f64, high: f64) -> Unary {
    Unary { name, exact, range: (low, high) }
}

/// All functions of one argument.
pub const UNARY: &[Unary] = &[
    unary("exp", pxfm::f_exp, -750.0, 712.0),
    unary("exp2", pxfm::f_exp2, -1080.0, 1026.0),
    unary("expm1", pxfm::f_expm1, -40.0, 712.0),
    unary("log", pxfm::f_log, 0.0, 10.0),
    unary("log2", pxfm::f_log2, 0.0, 10.0),
    unary("log10", pxfm::f_log10, 0.0, 10.0),
    unary("log1p", pxfm::f_log1p, -1.0, 10.0),
    unary("sin", pxfm::f_sin, -100.0, 100.0),
    unary("cos", pxfm::f_cos, -100.0, 100.0),
    unary("tan", pxfm::f_tan, -100.0, 100.0),
    unary("asin", pxfm::f_asin, -1.0, 1.0),
    unary("acos", pxfm::f_acos, -1.0, 1.0),
    unary("atan", pxfm::f_atan, -10.0, 10.0),
    unary("sinh", |x| if x == 0.0 { x } else { pxfm::f_sinh(x) }, -712.0, 712.0),
    unary("cosh", pxfm::f_cosh, -712.0, 712.0),
    unary("tanh", pxfm::f_tanh, -23.0, 23.0),
    unary("asinh", pxfm::f_asinh, -10.0, 10.0),
    unary("acosh", pxfm::f_acosh, 1.0, 10.0),
    unary("atanh", pxfm::f_atanh, -1.0, 1.0),
    unary("erf", pxfm::f_erf, -6.5, 6.5),
    unary("erfc", pxfm::f_erfc, -6.0, 27.5),
    unary("cbrt", pxfm::f_cbrt, -10.0, 10.0),
    unary("sqrt", f64::sqrt, 0.0, 10.0),
    unary("rsqrt", pxfm::f_rsqrt, 0.0, 10.0),
    unary("rcp", |x| 1.0 / x, -10.0, 10.0),
];

/// All functions of two arguments.
pub const BINARY: &[Binary] = &[
    Binary { name: "pow", exact: f64::powf, positive: true },
    Binary { name: "atan2", exact: f64::atan2, positive: false },
    Binary { name: "hypot", exact: f64::hypot, positive: false },
    Binary { name: "fmod", exact: |x, y| x % y, positive: false },
];
