//! Shows what it takes to compile the regions of the examples: their size, and the times to record and optimise each, to
//! compile baseline code of it (where one is made) and to compile it well, alone on the thread. What a program waits for is the first
//! two, or where there is no baseline code the first and the last.
//!
//! ```text
//! regions [EXAMPLE …] [--rounds N] [--engine clif|x86]
//! ```
//!
//! Without an engine, the one that `auto` stands for.

use spmdvm::jit::backend::Backend;
use spmdvm::jit::engine::VersionReport;
use spmdvm::{Engine, JitSettings, Module, Options, Value};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

fn main() -> ExitCode {
    let (mut only, mut rounds, mut engine) = (Vec::new(), 9, Engine::Auto);
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        match word.as_str() {
            "--rounds" => rounds = words.next().and_then(|n| n.parse().ok()).unwrap_or(rounds),
            "--engine" => engine = words.next().and_then(|name| name.parse().ok()).unwrap_or(engine),
            _ => only.push(word),
        }
    }
    match show(&only, rounds, engine) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// An example: its name, and a call that makes its loops hot.
type Example = (&'static str, fn(&Module) -> Result<(), String>);

const EXAMPLES: &[Example] = &[
    ("mandelbrot", |m| {
        let mut counts = vec![0i32; 128 * 64];
        let corners = [-2.8f32, -1.15, 1.8, 1.15].map(Value::from);
        let size = [128i32, 64, 256].map(Value::from);
        call(m, "mandelbrot", [&corners[..], &size, &[Value::slice_mut(&mut counts)]].concat())
    }),
    ("noise", |m| {
        let mut image = vec![0f32; 256 * 64];
        let args = vec![256i32.into(), 64i32.into(), 4f32.into(), 5i32.into(), Value::slice_mut(&mut image)];
        call(m, "turbulence", args)
    }),
    ("ao", |m| {
        let mut image = vec![0f32; 64 * 48];
        call(m, "ao", vec![64i32.into(), 48i32.into(), 32i32.into(), Value::slice_mut(&mut image)])
    }),
    ("black_scholes", |m| {
        let data = [100f32, 95., 0.5, 0.05, 0.3].map(|x| vec![x; 4096]);
        let mut price = vec![0f32; 4096];
        let mut args = vec![4096i32.into()];
        args.extend(data.iter().map(|x| Value::slice(x)));
        args.push(Value::slice_mut(&mut price));
        call(m, "black_scholes_arrays", args)
    }),
    ("nbody", |m| {
        let (mut position, mut velocity) = (numbers(3 * 256), vec![0f32; 3 * 256]);
        let mass = vec![1f32; 256];
        let args = vec![
            256i32.into(),
            0.01f32.into(),
            0.05f32.into(),
            Value::slice(&mass),
            Value::slice_mut(&mut position),
            Value::slice_mut(&mut velocity),
        ];
        call(m, "nbody_step", args)?;
        let args =
            vec![256i32.into(), 0.05f32.into(), Value::slice(&mass), Value::slice(&position), Value::slice(&velocity)];
        call(m, "energy", args)
    }),
    ("stencil", |m| {
        let (mut a, mut b) = (numbers(128 * 128), numbers(128 * 128));
        let size = [128i32, 128, 10].map(Value::from);
        call(m, "heat", [&size[..], &[0.2f32.into(), Value::slice_mut(&mut a), Value::slice_mut(&mut b)]].concat())
    }),
    ("spmv", |m| {
        let starts: Vec<i32> = (0..=20_000).map(|row| row * 7 + row % 5).collect();
        let entries = 20_000 * 7 + 5;
        let columns: Vec<i32> = (0..entries).map(|k| k * 31 % 20_000).collect();
        let (values, x, mut y) = (numbers(entries as usize), numbers(20_000), vec![0f32; 20_000]);
        let args = vec![
            20_000i32.into(),
            Value::slice(&starts),
            Value::slice(&columns),
            Value::slice(&values),
            Value::slice(&x),
            Value::slice_mut(&mut y),
        ];
        call(m, "spmv", args)
    }),
    ("bitonic_sort", |m| {
        let mut data = numbers(32_768);
        call(m, "bitonic_sort", vec![32_768i32.into(), Value::slice_mut(&mut data)])
    }),
    ("saxpy", |m| {
        let (x, mut y) = (numbers(100_000), numbers(100_000));
        call(m, "saxpy", vec![100_000i32.into(), 2.5f32.into(), Value::slice(&x), Value::slice_mut(&mut y)])
    }),
    ("reduction", |m| {
        let (data, mut ends) = (numbers(100_000), [0f32; 2]);
        call(m, "sum", vec![100_000i32.into(), Value::slice(&data)])?;
        call(m, "extrema", vec![100_000i32.into(), Value::slice(&data), Value::slice_mut(&mut ends)])
    }),
];

fn call(module: &Module, name: &str, args: Vec<Value<'_>>) -> Result<(), String> {
    module.call(name, &args).map(drop).map_err(|e| e.to_string())
}

/// Some numbers between 0 and 1.
fn numbers(n: usize) -> Vec<f32> {
    (0..n as u64).map(|i| (i * 2_654_435_761 % 1000) as f32 / 1000.0).collect()
}

fn show(only: &[String], rounds: usize, engine: Engine) -> Result<(), String> {
    println!(
        "{:36}{:>6}{:>7}{:>6}{:>14}{:>12}{:>12}{:>9}",
        "loop", "insts", "blocks", "exits", "record + opt", "baseline", "optimised", "bytes"
    );
    let (mut first, mut optimised) = (Vec::new(), Vec::new());
    for (name, run) in EXAMPLES.iter().filter(|(name, _)| only.is_empty() || only.iter().any(|o| o == name)) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.ispc"));
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{name}: {e}"))?;
        let jit = JitSettings { background: false, ..JitSettings::default() };
        let options = Options { jit, engine, ..Options::default() };
        let module = Module::compile(&format!("{name}.ispc"), &text, &options);
        let module = module.map_err(|_| format!("{name} has errors"))?;
        module.check_engine().map_err(|e| e.to_string())?;
        let backend = spmdvm::jit::backend(module.engine_name()).map_err(|e| e.to_string())?;
        run(&module)?;
        for found in module.jit().map(|jit| jit.report()).unwrap_or_default() {
            let f = &module.program().functions[found.at.0.0 as usize].name;
            for version in &found.versions {
                let times = line(&format!("{name} {f}:{}", found.at.1), version, &*backend, rounds)?;
                first.push(times.first);
                optimised.push(times.optimised);
            }
        }
    }
    sum_up("until there is code to enter", &mut first);
    sum_up("compiled well", &mut optimised);
    Ok(())
}

fn sum_up(what: &str, times: &mut [f64]) {
    times.sort_by(f64::total_cmp);
    if let (Some(median), Some(largest)) = (times.get(times.len() / 2), times.last()) {
        println!("{} regions, {what}: median {median:.2} ms, largest {largest:.2} ms", times.len());
    }
}

/// Milliseconds that a region takes.
struct Times {
    /// To record and optimise it, and to compile the first code of it.
    first: f64,
    /// To compile it well.
    optimised: f64,
}

/// Prints what a region takes.
fn line(name: &str, version: &VersionReport, backend: &dyn Backend, rounds: usize) -> Result<Times, String> {
    let region = &version.region;
    let optimised = median(rounds, || backend.compile(Arc::clone(region)).map(drop).map_err(|why| why.to_string()))?;
    let has_baseline = backend.compile_baseline(region).is_some();
    let baseline = median(rounds, || {
        drop(backend.compile_baseline(region));
        Ok(())
    })?;
    let before = version.before.as_secs_f64() * 1e3;
    let insts: usize = region.blocks.iter().map(|b| b.insts.len()).sum();
    let (blocks, exits) = (region.blocks.len(), region.exits.len());
    let shown = if has_baseline { format!("{baseline:9.2} ms") } else { "-".into() };
    println!(
        "{name:36}{insts:6}{blocks:7}{exits:6}{before:11.2} ms{shown:>12}{optimised:9.2} ms{:9}",
        version.code_bytes
    );
    Ok(Times { first: before + if has_baseline { baseline } else { optimised }, optimised })
}

/// The median time of something, in milliseconds.
fn median(rounds: usize, mut work: impl FnMut() -> Result<(), String>) -> Result<f64, String> {
    let mut times = Vec::new();
    for _ in 0..rounds {
        let start = Instant::now();
        work()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}
