//! `spmdvm doctor`: what runs here, and why not the rest.

use crate::Failure;
use spmdvm::{Engine, JitSettings, Module, Options, Value};
use std::time::Instant;

/// A loop that every engine with a JIT compiles.
const PROGRAM: &str =
    "export void f(uniform float x[], uniform int n) { foreach (i = 0 ... n) x[i] = sqrt(x[i]) + i; }";
/// Its elements.
const N: usize = 1000;

/// Tries every engine; fails if one that should run does not.
pub fn doctor(options: &Options) -> Result<(), Failure> {
    println!("spmdvm {} on {} {}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH, std::env::consts::OS);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("cores        {cores}; tasks run on {} threads", options.task_threads());
    println!("vectors      {}", vectors());
    let expected = run(options, Engine::Interp)?;
    let mut wrong = Vec::new();
    for &engine in Engine::ALL.iter().filter(|&&engine| engine != Engine::Auto) {
        let said = match spmdvm::tools::available(engine.name()) {
            Err(why) if engine != Engine::Interp => format!("not here: {why}"),
            _ => match run(options, engine) {
                Ok((result, time)) if result == expected.0 => {
                    format!("runs here ({time:.1} ms to compile and run a loop)")
                }
                Ok(_) => {
                    wrong.push(engine.name());
                    "gives other results than the reference interpreter".into()
                }
                Err(failure) => {
                    wrong.push(engine.name());
                    failure.message()
                }
            },
        };
        println!("{:<12} {said}", engine.name());
    }
    let module = compile(options, Engine::Auto)?;
    println!("auto         means {}", module.engine_name());
    match wrong.as_slice() {
        [] => Ok(()),
        names => Err(Failure::Program(format!("something is wrong with {}; please report it\n", names.join(", ")))),
    }
}

fn compile(options: &Options, engine: Engine) -> Result<Module, Failure> {
    let options = Options { engine, jit: JitSettings::eager(), ..options.clone() };
    Module::compile("doctor.ispc", PROGRAM, &options).map_err(|error| Failure::Program(error.render(false)))
}

/// What the loop gives, and how many milliseconds it takes.
fn run(options: &Options, engine: Engine) -> Result<(Vec<u32>, f64), Failure> {
    let mut x: Vec<f32> = (0..N).map(|i| i as f32).collect();
    let start = Instant::now();
    let module = compile(options, engine)?;
    let called = module.call("f", &[Value::slice_mut(&mut x), (N as i32).into()]);
    called.map_err(|error| Failure::Program(format!("does not run: {error}\n")))?;
    Ok((x.iter().map(|x| x.to_bits()).collect(), start.elapsed().as_secs_f64() * 1e3))
}

#[cfg(target_arch = "x86_64")]
fn vectors() -> String {
    let known = [
        ("SSE4.1", is_x86_feature_detected!("sse4.1")),
        ("AVX2", is_x86_feature_detected!("avx2")),
        ("FMA", is_x86_feature_detected!("fma")),
        ("F16C", is_x86_feature_detected!("f16c")),
        ("AVX-512", is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl")),
    ];
    let with: Vec<&str> = known.iter().filter(|(_, here)| *here).map(|(name, _)| *name).collect();
    let without: Vec<&str> = known.iter().filter(|(_, here)| !*here).map(|(name, _)| *name).collect();
    let lacks = if without.is_empty() { String::new() } else { format!("; not {}", without.join(", ")) };
    format!("{}{lacks}", with.join(", "))
}

#[cfg(not(target_arch = "x86_64"))]
fn vectors() -> String {
    "128 bits".into()
}
