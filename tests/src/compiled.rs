//! Modules and what their JIT has compiled: for tests that look at it.

use crate::subject::engines;
use spmdvm::jit::engine::{LoopReport, VersionReport};
use spmdvm::{Engine, JitSettings, Module, Options, Show, Value};
use std::time::{Duration, Instant};

/// A program on an engine.
pub fn module(engine: Engine, text: &str, jit: JitSettings) -> Module {
    let options = Options { engine, jit, ..Options::default() };
    Module::compile("test.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// The number that the program's function `f` gives.
pub fn number(module: &Module, args: &[Value<'_>]) -> i32 {
    match module.call("f", args).unwrap() {
        Some(Value::Scalar { bits, .. }) => bits as i32,
        other => panic!("{other:?} is no number"),
    }
}

/// The engines with a JIT that run here.
pub fn jits() -> impl Iterator<Item = Engine> {
    engines().iter().copied().filter(|&engine| engine != Engine::Interp)
}

/// Those of them that make machine code.
pub fn native() -> impl Iterator<Item = Engine> + Clone {
    engines().iter().copied().filter(|engine| !matches!(engine, Engine::Interp | Engine::Ir))
}

/// What was done with the loops of a module that were hot.
pub fn loops(module: &Module) -> Vec<LoopReport> {
    module.jit().expect("a JIT").report()
}

/// The compiled versions of all of them.
pub fn versions(module: &Module) -> Vec<VersionReport> {
    loops(module).into_iter().flat_map(|l| l.versions).collect()
}

/// How often compiled code was entered.
pub fn entries(module: &Module) -> u64 {
    versions(module).iter().map(|v| v.entries).sum()
}

/// Makes calls, numbered, until compiled code is entered. While the thread that compiles is at it, it is waited for, however
/// many others have asked before.
pub fn until_entered(module: &Module, call: impl Fn(i32)) {
    // So many rounds without code, with nothing being compiled, are a defect.
    for round in 0..1000 {
        call(round);
        if entries(module) > 0 {
            return;
        }
        until_nothing_is_compiled(module);
    }
    panic!("nothing was compiled: {}", module.jit_text(Show::default()));
}

/// Waits while the thread that compiles has something to make that the module needs.
fn until_nothing_is_compiled(module: &Module) {
    // Long enough for the slowest machine; it is waited for only if the test fails.
    let late = Instant::now() + Duration::from_secs(600);
    while loops(module).iter().any(|l| l.pending) {
        assert!(Instant::now() < late, "nothing has come of it: {}", module.jit_text(Show::default()));
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A loop for [`run_saxpy`].
pub const SAXPY: &str = "export void f(uniform float a, const uniform float x[], uniform float y[], uniform int n) {
    foreach (i = 0 ... n) y[i] = a * x[i] + y[i];
}";

/// Calls `f` of a module as [`SAXPY`] has it, on arrays of a length.
pub fn run_saxpy(module: &Module, n: usize) {
    let (x, mut y) = (vec![1.5f32; n], vec![2.0f32; n]);
    let args = [2.0f32.into(), Value::slice(&x), Value::slice_mut(&mut y), (n as i32).into()];
    module.call("f", &args).unwrap();
    assert!(y.iter().all(|&y| y == 5.0));
}
