//! Interpreter throughput by class of operation; items are lane operations of the named class.

use divan::Bencher;
use divan::counter::ItemsCount;
use spmdvm::{Engine, Module, Options, Value};

fn main() {
    divan::main();
}

/// Elements of each array.
const N: usize = 1 << 14;
/// Repetitions of the operation per element.
const REPEAT: usize = 64;

fn options() -> Options {
    Options { engine: Engine::Interp, ..Options::default() }
}

/// Runs `REPEAT` times per gang an operation on two varying floats.
fn float_operation(bencher: Bencher, statement: &str) {
    let body = statement.repeat(REPEAT);
    let text = format!(
        "export void f(uniform float a[], const uniform float b[], uniform int n) {{
             foreach (i = 0 ... n) {{ float x = a[i], y = b[i]; {body} a[i] = x; }}
         }}"
    );
    let module = Module::compile("bench.ispc", &text, &options()).expect("it compiles");
    let (mut a, b) = (vec![1.25f32; N], vec![0.75f32; N]);
    bencher.counter(ItemsCount::new(N * REPEAT)).bench_local(|| {
        let args = [Value::slice_mut(&mut a), Value::slice(&b), (N as i32).into()];
        module.call("f", &args).expect("it runs")
    });
}

#[divan::bench]
fn add(bencher: Bencher) {
    float_operation(bencher, "x += y;");
}

#[divan::bench]
fn multiply_add(bencher: Bencher) {
    float_operation(bencher, "x = x * y + y;");
}

#[divan::bench]
fn divide(bencher: Bencher) {
    float_operation(bencher, "x /= y;");
}

#[divan::bench]
fn square_root(bencher: Bencher) {
    float_operation(bencher, "x = sqrt(x);");
}

#[divan::bench]
fn select(bencher: Bencher) {
    float_operation(bencher, "x = x < y ? y : x;");
}

#[divan::bench]
fn divergent_if(bencher: Bencher) {
    float_operation(bencher, "if (x < y) x = y;");
}

/// Streams: two loads, one operation, one store per element.
#[divan::bench]
fn saxpy(bencher: Bencher) {
    let text = "export void f(uniform float a[], const uniform float b[], uniform int n) {
                    foreach (i = 0 ... n) a[i] = 2 * b[i] + a[i];
                }";
    let module = Module::compile("bench.ispc", text, &options()).expect("it compiles");
    let (mut a, b) = (vec![1f32; N], vec![2f32; N]);
    bencher.counter(ItemsCount::new(4 * N)).bench_local(|| {
        let args = [Value::slice_mut(&mut a), Value::slice(&b), (N as i32).into()];
        module.call("f", &args).expect("it runs")
    });
}

/// Gathers from random places.
#[divan::bench]
fn gather(bencher: Bencher) {
    let text = "export void f(uniform float a[], const uniform int index[], uniform int n) {
                    foreach (i = 0 ... n) a[i] += a[index[i]];
                }";
    let module = Module::compile("bench.ispc", text, &options()).expect("it compiles");
    let mut a = vec![1f32; N];
    let index: Vec<i32> = (0..N).map(|i| (i.wrapping_mul(7919) % N) as i32).collect();
    bencher.counter(ItemsCount::new(N)).bench_local(|| {
        let args = [Value::slice_mut(&mut a), Value::slice(&index), (N as i32).into()];
        module.call("f", &args).expect("it runs")
    });
}
