//! How tasks scale: the same work on one thread and on several; and what a task costs.

use divan::Bencher;
use divan::counter::ItemsCount;
use spmdvm::{Module, Options, Value};

fn main() {
    divan::main();
}

const MANDELBROT: &str = include_str!("../../examples/mandelbrot_tasks.ispc");
const EMPTY: &str = "task void nothing() {} export void f(uniform int n) { launch[n] nothing(); }
    export void one_by_one(uniform int n) { for (uniform int i = 0; i < n; ++i) { launch nothing(); sync; } }";

fn module(text: &str, threads: usize) -> Module {
    let options = Options { threads: Some(threads), ..Options::default() };
    Module::compile("bench.ispc", text, &options).expect("it compiles")
}

/// A picture in 64 tasks; items are pixels.
#[divan::bench(args = [1, 2, 4])]
fn mandelbrot(bencher: Bencher, threads: usize) {
    let module = module(MANDELBROT, threads);
    let (width, height) = (512, 256);
    let mut counts = vec![0i32; width * height];
    bencher.counter(ItemsCount::new(width * height)).bench_local(|| {
        let corners = [-2.8f32, -1.15, 1.8, 1.15].map(Value::from);
        let sizes = [width as i32, height as i32, 256, 4].map(Value::from);
        let args: Vec<Value> = corners.into_iter().chain(sizes).chain([Value::slice_mut(&mut counts)]).collect();
        module.call("mandelbrot_tasks", &args).expect("it runs")
    });
}

/// Tasks that do nothing, in one launch; items are tasks.
#[divan::bench(args = [1, 2])]
fn empty_tasks(bencher: Bencher, threads: usize) {
    let module = module(EMPTY, threads);
    bencher.counter(ItemsCount::new(10_000usize)).bench_local(|| module.call("f", &[10_000.into()]).expect("it runs"));
}

/// A launch and a `sync`, again and again; items are launches.
#[divan::bench(args = [1, 2])]
fn launch_and_sync(bencher: Bencher, threads: usize) {
    let module = module(EMPTY, threads);
    bencher
        .counter(ItemsCount::new(1000usize))
        .bench_local(|| module.call("one_by_one", &[1000.into()]).expect("it runs"));
}
