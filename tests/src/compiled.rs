//! Modules and what their JIT has compiled: for tests that look at it.

use crate::subject::engines;
use spmdvm::jit::engine::{LoopReport, VersionReport};
use spmdvm::{Engine, JitSettings, Module, Options, Value};

/// A program on an engine.
pub fn module(engine: Engine, text: &str, jit: JitSettings) -> Module {
    let options = Options { engine, jit, ..Options::default() };
    Module::compile("test.ispc", text, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// The engines that compile.
pub fn jits() -> impl Iterator<Item = Engine> {
    engines().iter().copied().filter(|&engine| engine != Engine::Interp)
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
