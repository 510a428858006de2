//! Runs kernels on demand, for `benches/bounds.py`, which compares builds with and without bounds checks.
//!
//! Writes a line for each kernel, its name and whether it is bound by memory (`streaming`) or not (`computing`), then an empty
//! line. Then for each line read from standard input, the number of a kernel, runs that once and writes the nanoseconds and a sum of its
//! results.

use spmdvm::{Module, Options, Value};
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

/// A kernel with its data.
struct Kernel {
    name: &'static str,
    kind: &'static str,
    /// Runs it once; gives some of its results.
    run: Box<dyn FnMut() -> f64>,
}

fn main() {
    let mut kernels = kernels();
    let mut out = std::io::stdout().lock();
    for kernel in &kernels {
        writeln!(out, "{} {}", kernel.name, kernel.kind).expect("standard output can be written");
    }
    writeln!(out).expect("standard output can be written");
    out.flush().expect("standard output can be written");
    for line in std::io::stdin().lock().lines() {
        let Ok(at) = line.expect("standard input can be read").trim().parse::<usize>() else { return };
        let start = Instant::now();
        let result = (kernels[at].run)();
        writeln!(out, "{} {result}", start.elapsed().as_nanos()).expect("standard output can be written");
        out.flush().expect("standard output can be written");
    }
}

/// An example, compiled.
fn example(name: &str) -> Module {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.ispc"));
    let text = std::fs::read_to_string(&path).expect("the examples are there");
    let options = Options::default();
    Module::compile(name, &text, &options).expect("the examples have no errors")
}

/// Some numbers between 0 and 1.
fn numbers(n: usize) -> Vec<f32> {
    (0..n as u64).map(|i| (i * 2_654_435_761 % 1000) as f32 / 1000.0).collect()
}

fn call(module: &Module, name: &str, args: &[Value<'_>]) -> f64 {
    match module.call(name, args) {
        Ok(Some(Value::Scalar { bits, .. })) => f32::from_bits(bits as u32) as f64,
        Ok(_) => 0.0,
        Err(e) => panic!("{name}: {e}"),
    }
}

fn kernels() -> Vec<Kernel> {
    vec![mandelbrot(), black_scholes(), nbody(), ao(), saxpy(), sum(), stencil(), spmv()]
}

fn mandelbrot() -> Kernel {
    let (module, mut counts) = (example("mandelbrot"), vec![0i32; 512 * 256]);
    let run = Box::new(move || {
        let corners = [-2.8f32, -1.15, 1.8, 1.15].map(Value::from);
        let size = [512i32, 256, 256].map(Value::from);
        call(&module, "mandelbrot", &[&corners[..], &size, &[Value::slice_mut(&mut counts)]].concat());
        counts.iter().map(|&n| n as f64).sum()
    });
    Kernel { name: "mandelbrot", kind: "computing", run }
}

fn black_scholes() -> Kernel {
    const N: usize = 100_000;
    let module = example("black_scholes");
    let data = [100f32, 95., 0.5, 0.05, 0.3].map(|x| numbers(N).iter().map(|y| x * (1.0 + y)).collect::<Vec<f32>>());
    let mut price = vec![0f32; N];
    let run = Box::new(move || {
        let mut args = vec![(N as i32).into()];
        args.extend(data.iter().map(|x| Value::slice(x)));
        args.push(Value::slice_mut(&mut price));
        call(&module, "black_scholes_arrays", &args);
        price.iter().map(|&x| x as f64).sum()
    });
    Kernel { name: "black_scholes", kind: "computing", run }
}

fn nbody() -> Kernel {
    const N: usize = 512;
    let (module, position, mass) = (example("nbody"), numbers(3 * N), numbers(N));
    let run = Box::new(move || {
        let (mut position, mut velocity) = (position.clone(), vec![0f32; 3 * N]);
        let args = [
            (N as i32).into(),
            0.01f32.into(),
            0.05f32.into(),
            Value::slice(&mass),
            Value::slice_mut(&mut position),
            Value::slice_mut(&mut velocity),
        ];
        call(&module, "nbody_step", &args);
        velocity.iter().map(|&x| x as f64).sum()
    });
    Kernel { name: "nbody", kind: "computing", run }
}

fn ao() -> Kernel {
    let (module, mut image) = (example("ao"), vec![0f32; 128 * 96]);
    let run = Box::new(move || {
        call(&module, "ao", &[128i32.into(), 96i32.into(), 32i32.into(), Value::slice_mut(&mut image)]);
        image.iter().map(|&x| x as f64).sum()
    });
    Kernel { name: "ao", kind: "computing", run }
}

fn saxpy() -> Kernel {
    const N: usize = 1_000_000;
    let (module, x, mut y) = (example("saxpy"), numbers(N), numbers(N));
    let run = Box::new(move || {
        call(&module, "saxpy", &[(N as i32).into(), 2.5e-3f32.into(), Value::slice(&x), Value::slice_mut(&mut y)]);
        y[N / 2] as f64
    });
    Kernel { name: "saxpy", kind: "streaming", run }
}

fn sum() -> Kernel {
    const N: usize = 1_000_000;
    let (module, data) = (example("reduction"), numbers(N));
    let run = Box::new(move || call(&module, "sum", &[(N as i32).into(), Value::slice(&data)]));
    Kernel { name: "sum", kind: "streaming", run }
}

fn stencil() -> Kernel {
    let (module, mut a, mut b) = (example("stencil"), numbers(512 * 512), numbers(512 * 512));
    let run = Box::new(move || {
        let size = [512i32, 512, 10].map(Value::from);
        let arrays = [0.2f32.into(), Value::slice_mut(&mut a), Value::slice_mut(&mut b)];
        call(&module, "heat", &[&size[..], &arrays].concat());
        a[1000] as f64
    });
    Kernel { name: "stencil", kind: "streaming", run }
}

fn spmv() -> Kernel {
    const ROWS: i32 = 100_000;
    let module = example("spmv");
    let starts: Vec<i32> = (0..=ROWS).map(|row| row * 7 + row % 5).collect();
    let entries = ROWS * 7 + 5;
    let columns: Vec<i32> = (0..entries as i64).map(|k| (k * 2_654_435_761 % ROWS as i64) as i32).collect();
    let (values, x, mut y) = (numbers(entries as usize), numbers(ROWS as usize), vec![0f32; ROWS as usize]);
    let run = Box::new(move || {
        let args = [
            ROWS.into(),
            Value::slice(&starts),
            Value::slice(&columns),
            Value::slice(&values),
            Value::slice(&x),
            Value::slice_mut(&mut y),
        ];
        call(&module, "spmv", &args);
        y.iter().map(|&x| x as f64).sum()
    });
    Kernel { name: "spmv", kind: "streaming", run }
}
