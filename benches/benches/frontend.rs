//! Front-end speed in lines per second, and the time of a small compilation.

use divan::Bencher;
use divan::counter::ItemsCount;
use spmdvm::{Module, Options};
use spmdvm_benches::typical_program;

fn main() {
    divan::main();
}

/// Whole compilations; items are source lines.
#[divan::bench(args = [6, 60, 600])]
fn compile(bencher: Bencher, functions: usize) {
    let text = typical_program(functions);
    let lines = text.lines().count();
    bencher
        .counter(ItemsCount::new(lines))
        .bench(|| Module::compile("bench.ispc", &text, &Options::default()).expect("it compiles"));
}

/// A program that uses much of the mathematical library.
#[divan::bench]
fn compile_math(bencher: Bencher) {
    let text = "export void f(uniform float a[], uniform int n) {
        foreach (i = 0 ... n) a[i] = sin(a[i]) + exp(a[i]) * pow(a[i], 1.5f) + atan2(a[i], 2.f) + log(a[i]);
    }";
    bencher.bench(|| Module::compile("bench.ispc", text, &Options::default()).expect("it compiles"));
}
