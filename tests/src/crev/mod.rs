//! Random programs with `crev` calls, run twice: translated to µ-SIMD, and as SPMD source by an engine.
//!
//! [`generate`] makes programs of the small language of [`spmdvm::usimd::crev`], [`spmd_source`] writes them in the SPMD
//! language, [`compare`] runs both forms and compares shared memory, [`shrink`] makes a program that fails smaller.

mod generate;
mod shrink;
mod spmd;

pub use generate::{Generated, generate};
pub use shrink::shrink;
pub use spmd::spmd_source;

use spmdvm::usimd::crev::{LaneOrder, Source, lower};
use spmdvm::usimd::{Outcome, RunOptions, assemble, run};
use spmdvm::{Engine, Limits, Module, Options, Value, Width};

/// How the two forms of a program can differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// One of them does not compile or does not end; which, and why.
    Stops(String),
    /// They leave different memory: the first address, the cell µ-SIMD leaves and the cell the engine leaves.
    Differ(usize, i64, i64),
}

/// Runs both forms. Gives what the µ-SIMD machine has counted.
pub fn compare(source: &Source, width: Width, engine: Engine) -> Result<Outcome, Failure> {
    let outcome = run_usimd(source, width).map_err(Failure::Stops)?;
    let memory = run_spmd(source, width, engine).map_err(Failure::Stops)?;
    let mut pairs = outcome.shared.iter().zip(&memory).enumerate();
    match pairs.find(|(_, (a, b))| a != b) {
        Some((address, (a, b))) => Err(Failure::Differ(address, *a, *b)),
        None => Ok(outcome),
    }
}

fn run_usimd(source: &Source, width: Width) -> Result<Outcome, String> {
    let text = lower(source, LaneOrder::ASCENDING).map_err(|e| e.to_string())?;
    let program = assemble(&text).map_err(|errors| format!("µ-SIMD: {errors:?}\n{text}"))?;
    run(&program, &RunOptions::with_width(width.lanes())).map_err(|e| format!("µ-SIMD: {e:?}\n{text}"))
}

fn run_spmd(source: &Source, width: Width, engine: Engine) -> Result<Vec<i64>, String> {
    let limits = Limits { fuel: Some(10_000_000), ..Limits::default() };
    let options = Options { width, engine, limits, ..Options::default() };
    let module = Module::compile("random.ispc", &spmd_source(source), &options).map_err(|e| e.to_string())?;
    let mut memory = source.shared.clone();
    module.call("start", &[Value::slice_mut(&mut memory)]).map_err(|e| e.to_string())?;
    Ok(memory)
}
