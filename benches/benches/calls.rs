//! What a call of an exported function costs beyond its work.

use divan::Bencher;
use spmdvm::{Module, Options, Value};

fn main() {
    divan::main();
}

/// Four arguments and no work.
#[divan::bench]
fn four_arguments(bencher: Bencher) {
    let text = "export void f(uniform float a[], const uniform float b[], uniform int n, uniform float k) { }";
    let module = Module::compile("bench.ispc", text, &Options::default()).expect("it compiles");
    let (mut a, b) = ([0f32; 16], [0f32; 16]);
    bencher.bench_local(|| {
        let args = [Value::slice_mut(&mut a), Value::slice(&b), 16i32.into(), 1f32.into()];
        module.call("f", &args).expect("it runs")
    });
}
