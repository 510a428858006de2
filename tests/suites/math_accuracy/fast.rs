//! The mode `fast`: what it may be off by, and what it is never off by.

use super::functions::{BINARY, UNARY};
use super::machine::Library;
use super::samples::{doubles, floats, pairs};
use super::ulp::{Worst, assert_same_floats, error_in_doubles, error_in_floats};

/// The largest error allowed. (References in double are themselves rounded.)
const BOUND: f64 = 4.5;

/// Returns whether it is a number that the mode keeps its promises for: one that is not subnormal.
fn is_usual(x: f64, least: f64) -> bool {
    x == 0.0 || x.abs() >= least || x.is_nan()
}

#[test]
fn functions_of_one_argument() {
    let library = Library::fast(16);
    for f in UNARY {
        let (mut worst, least) = (Worst::default(), f64::from(f32::MIN_POSITIVE));
        for block in floats() {
            for (&x, y) in block.iter().zip(library.unary(f.name, &block)) {
                let (x, exact) = (f64::from(x), (f.exact)(f64::from(x)));
                if is_usual(x, least) && is_usual(exact, least) {
                    worst.add(format_args!("{}({x:e}) = {y:e}", f.name), error_in_floats(y, exact));
                }
            }
        }
        worst.check(f.name, "float", BOUND);
        let (mut worst, xs) = (Worst::default(), doubles(f.range));
        for (&x, y) in xs.iter().zip(library.unary(f.name, &xs)) {
            let exact = (f.exact)(x);
            if is_usual(x, f64::MIN_POSITIVE) && is_usual(exact, f64::MIN_POSITIVE) {
                worst.add(format_args!("{}({x:e}) = {y:e}", f.name), error_in_doubles(y, exact));
            }
        }
        worst.check(f.name, "double", BOUND);
    }
}

#[test]
fn functions_of_two_arguments() {
    let library = Library::fast(16);
    for f in BINARY {
        let (xs, ys) = pairs(f.positive);
        let (mut worst, least) = (Worst::default(), f64::MIN_POSITIVE);
        for ((&x, &y), z) in xs.iter().zip(&ys).zip(library.binary(f.name, &xs, &ys)) {
            let exact = (f.exact)(x, y);
            if [x, y, exact].iter().all(|&v| is_usual(v, least)) {
                worst.add(format_args!("{}({x:e}, {y:e}) = {z:e}", f.name), error_in_doubles(z, exact));
            }
        }
        worst.check(f.name, "double", BOUND);
        let narrow = |v: &[f64]| v.iter().map(|&x| x as f32).collect::<Vec<f32>>();
        let (xs, ys) = (narrow(&xs), narrow(&ys));
        let (mut worst, least) = (Worst::default(), f64::from(f32::MIN_POSITIVE));
        for ((&x, &y), z) in xs.iter().zip(&ys).zip(library.binary(f.name, &xs, &ys)) {
            let (x, y) = (f64::from(x), f64::from(y));
            let exact = (f.exact)(x, y);
            if [x, y, exact].iter().all(|&v| is_usual(v, least)) {
                worst.add(format_args!("{}({x:e}, {y:e}) = {z:e}", f.name), error_in_floats(z, exact));
            }
        }
        worst.check(f.name, "float", BOUND);
    }
}

#[test]
fn the_same_bits_at_every_width() {
    let reference = Library::fast(16);
    let floats: Vec<f32> = floats().next().unwrap().into_iter().step_by(7).take(997).collect();
    for library in [1, 4, 8, 64].map(Library::fast) {
        for f in UNARY {
            let wide = reference.unary(f.name, &floats);
            assert_same_floats(f.name, &wide, &library.unary(f.name, &floats));
            assert_same_floats(f.name, &wide, &library.unary_uniform(f.name, &floats));
        }
    }
}

#[test]
fn what_is_no_usual_number_stays_so() {
    let library = Library::fast(4);
    let nothing = f32::NAN;
    let far = [f32::INFINITY, f32::NEG_INFINITY, nothing, 0.0, -0.0, 1e-40, -1.0];
    let log = [f32::INFINITY, nothing, nothing, f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY, nothing];
    for name in ["log", "log2", "log10"] {
        assert_same_floats(name, &library.unary(name, &far), &log);
    }
    assert_same_floats("exp", &library.unary("exp", &far[..3]), &[f32::INFINITY, 0.0, nothing]);
    assert_same_floats("exp2", &library.unary("exp2", &[200.0, -200.0]), &[f32::INFINITY, 0.0]);
    for name in ["sin", "cos", "tan"] {
        assert_same_floats(name, &library.unary(name, &far[..3]), &[nothing; 3]);
    }
    let (x, y) = ([-2.0f32, -8.0, 0.0, 1e-40, -1e-40, nothing], [3.0f32, 1.0 / 3.0, -1.0, 0.5, 3.0, 0.0]);
    let z = [-8.0, nothing, f32::INFINITY, f64::from(1e-40f32).sqrt() as f32, -0.0, 1.0];
    assert_same_floats("pow", &library.binary("pow", &x, &y), &z);
}
