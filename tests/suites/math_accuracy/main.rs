//! The mathematical library against a correctly rounded reference: errors in ULP, special values, and equal bits for
//! varying and uniform arguments at every width.
//!
//! Every run takes dense samples; `SPMDVM_LONG=1` takes every float. `docs/math.md` holds the measured errors.

mod fast;
mod functions;
mod machine;
mod samples;
mod special;
mod ulp;

use functions::{BINARY, UNARY};
use machine::Library;
use samples::{doubles, far_powers, floats, pairs};
use spmdvm::{Engine, Module, Options, Value};
use ulp::{Worst, assert_same_floats, error_in_doubles, error_in_floats, error_in_halves};

/// The largest error allowed in float.
const FLOAT_BOUND: f64 = 1.0;
/// The largest distance, in double, from a reference that is itself rounded.
const DOUBLE_BOUND: f64 = 1.0;

#[test]
fn float_functions_of_one_argument() {
    let library = Library::new(16);
    for f in UNARY {
        let mut worst = Worst::default();
        for block in floats() {
            let results = library.unary(f.name, &block);
            for (&x, y) in block.iter().zip(results) {
                worst.add(format_args!("{}({x:e}) = {y:e}", f.name), error_in_floats(y, (f.exact)(f64::from(x))));
            }
        }
        worst.check(f.name, "float", FLOAT_BOUND);
    }
}

#[test]
fn double_functions_of_one_argument() {
    let library = Library::new(16);
    for f in UNARY {
        let mut worst = Worst::default();
        let xs = doubles(f.range);
        for (&x, y) in xs.iter().zip(library.unary(f.name, &xs)) {
            worst.add(format_args!("{}({x:e}) = {y:e}", f.name), error_in_doubles(y, (f.exact)(x)));
        }
        worst.check(f.name, "double", DOUBLE_BOUND);
    }
}

/// Those of which a reduction leaves least.
#[test]
fn angles_nearest_to_multiples_of_a_quarter_turn() {
    let library = Library::new(16);
    let near =
        (1..60_000).chain((60_000..40_000_000).step_by(2_003)).map(|n| f64::from(n) * std::f64::consts::FRAC_PI_2);
    let doubles: Vec<f64> = near.flat_map(|x| [x.next_down(), x, -x.next_up()]).collect();
    let floats: Vec<f32> = doubles.iter().map(|&x| x as f32).collect();
    for f in UNARY.iter().filter(|f| ["sin", "cos", "tan"].contains(&f.name)) {
        let [mut in_floats, mut in_doubles] = [Worst::default(), Worst::default()];
        for (&x, y) in floats.iter().zip(library.unary(f.name, &floats)) {
            in_floats.add(format_args!("{}({x:e}) = {y:e}", f.name), error_in_floats(y, (f.exact)(f64::from(x))));
        }
        for (&x, y) in doubles.iter().zip(library.unary(f.name, &doubles)) {
            in_doubles.add(format_args!("{}({x:e}) = {y:e}", f.name), error_in_doubles(y, (f.exact)(x)));
        }
        in_floats.check(f.name, "float", FLOAT_BOUND);
        in_doubles.check(f.name, "double", DOUBLE_BOUND);
    }
}

#[test]
fn every_float16() {
    let library = Library::new(16);
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    for f in UNARY {
        let mut worst = Worst::default();
        for (&x, y) in bits.iter().zip(library.unary_half(f.name, &bits)) {
            let x = half::f16::from_bits(x);
            let y = half::f16::from_bits(y);
            worst.add(format_args!("{}({x}) = {y}", f.name), error_in_halves(y, (f.exact)(x.to_f64())));
        }
        worst.check(f.name, "float16", 0.51);
    }
}

#[test]
fn functions_of_two_arguments() {
    let library = Library::new(16);
    for f in BINARY {
        let (xs, ys) = pairs(f.positive);
        let mut worst = Worst::default();
        for ((&x, &y), z) in xs.iter().zip(&ys).zip(library.binary(f.name, &xs, &ys)) {
            worst.add(format_args!("{}({x:e}, {y:e}) = {z:e}", f.name), error_in_doubles(z, (f.exact)(x, y)));
        }
        worst.check(f.name, "double", DOUBLE_BOUND);

        let narrow = |v: &[f64]| v.iter().map(|&x| x as f32).collect::<Vec<f32>>();
        let (xs, ys) = (narrow(&xs), narrow(&ys));
        let mut worst = Worst::default();
        for ((&x, &y), z) in xs.iter().zip(&ys).zip(library.binary(f.name, &xs, &ys)) {
            let exact = (f.exact)(f64::from(x), f64::from(y));
            worst.add(format_args!("{}({x:e}, {y:e}) = {z:e}", f.name), error_in_floats(z, exact));
        }
        worst.check(f.name, "float", FLOAT_BOUND);
    }
}

#[test]
fn special_values() {
    special::check(&Library::new(4));
}

#[test]
fn the_same_bits_at_every_width_and_for_uniform_arguments() {
    let reference = Library::new(16);
    let floats: Vec<f32> = floats().next().unwrap().into_iter().step_by(7).take(997).collect();
    for width in [1, 2, 4, 8, 16, 32, 64] {
        let library = Library::new(width);
        for f in UNARY {
            let doubles: Vec<f64> = doubles(f.range).into_iter().step_by(11).take(997).collect();
            let wide = reference.unary(f.name, &floats);
            ulp::assert_same_floats(f.name, &wide, &library.unary(f.name, &floats));
            ulp::assert_same_floats(f.name, &wide, &library.unary_uniform(f.name, &floats));
            let wide = reference.unary(f.name, &doubles);
            ulp::assert_same_doubles(f.name, &wide, &library.unary(f.name, &doubles));
            ulp::assert_same_doubles(f.name, &wide, &library.unary_uniform(f.name, &doubles));
        }
    }
}

/// Of floats all that lie on or next to the middle between two halves, and many others.
#[test]
fn conversions_to_float16_round_to_the_nearest() {
    let middles = (0..0x7c00u16).flat_map(|bits| {
        let [a, b] = [bits, bits + 1].map(|bits| half::f16::from_bits(bits).to_f64());
        // Beyond the largest half the next one would be 2^16.
        let middle = if b.is_finite() { (a + b) / 2.0 } else { (a + 65536.0) / 2.0 } as f32;
        [middle.next_down(), middle, middle.next_up(), -middle]
    });
    let xs: Vec<f32> = middles.chain(floats().flatten()).collect();
    for engine in [Engine::Interp, Engine::Auto] {
        let source = "export void f(const uniform float x[], uniform uint16 y[], uniform int n) {
            foreach (i = 0 ... n) y[i] = intbits((float16)x[i]);
        }";
        let options = Options { engine, ..Options::default() };
        let module = Module::compile("halves.ispc", source, &options).unwrap_or_else(|error| panic!("{error}"));
        let mut ys = vec![0u16; xs.len()];
        let args = [Value::slice(&xs), Value::slice_mut(&mut ys), Value::from(xs.len() as i32)];
        module.call("f", &args).unwrap_or_else(|error| panic!("{error}"));
        for (&x, &y) in xs.iter().zip(&ys) {
            let want = half::f16::from_f32(x);
            let is_same = if x.is_nan() { y == 0x7e00 } else { y == want.to_bits() };
            assert!(is_same, "{engine}: {x:e} is {want} ({:#x}), not {y:#x}", want.to_bits());
        }
    }
}

/// The mode `fast` has no others.
#[test]
fn powers_at_the_ends_of_the_range() {
    let [library, fast] = [Library::new(16), Library::fast(16)];
    let narrow = |v: &[f64]| v.iter().map(|&x| x as f32).collect::<Vec<f32>>();
    let (xs, ys) = far_powers(126.0);
    let (xs, ys, mut worst) = (narrow(&xs), narrow(&ys), Worst::default());
    let zs = library.binary("pow", &xs, &ys);
    assert_same_floats("pow", &zs, &fast.binary("pow", &xs, &ys));
    for ((&x, &y), z) in xs.iter().zip(&ys).zip(zs) {
        worst.add(format_args!("pow({x:e}, {y:e}) = {z:e}"), error_in_floats(z, f64::from(x).powf(f64::from(y))));
    }
    worst.check("pow", "float", FLOAT_BOUND);
    let ((xs, ys), mut worst) = (far_powers(1022.0), Worst::default());
    for ((&x, &y), z) in xs.iter().zip(&ys).zip(library.binary("pow", &xs, &ys)) {
        worst.add(format_args!("pow({x:e}, {y:e}) = {z:e}"), error_in_doubles(z, x.powf(y)));
    }
    worst.check("pow", "double", DOUBLE_BOUND);
}
