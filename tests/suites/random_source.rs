//! Random programs of the source language give the same bits at every width and on every engine.
//!
//! `SPMDVM_PROGRAMS=N` runs N programs instead of the usual number; `SPMDVM_SEED=S` begins at another seed.

use spmdvm::{Engine, JitSettings, Module, Options, Value, Width};
use spmdvm_tests::number;
use spmdvm_tests::program::random_program;
use spmdvm_tests::subject::engines;

/// Elements of the outputs: more than one gang at the widest, and no multiple of any width but 1.
const N: usize = 77;

/// The outputs, as bits with all NaNs alike.
fn run(text: &str, options: &Options) -> Result<Vec<u32>, String> {
    let module = Module::compile("random.ispc", text, options).map_err(|e| e.to_string())?;
    let (mut ints, mut floats) = (vec![0i32; N], vec![0f32; N]);
    let args = [Value::slice_mut(&mut ints), Value::slice_mut(&mut floats), (N as i32).into()];
    module.call("f", &args).map_err(|e| e.to_string())?;
    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    Ok(ints.iter().map(|&x| x as u32).chain(floats.iter().map(|&x| bits(x))).collect())
}

/// Every second program is compiled in every dynamic variant.
fn settings(seed: u64) -> JitSettings {
    if seed.is_multiple_of(2) { JitSettings::eager() } else { JitSettings::eager_in_every_variant() }
}

#[test]
fn every_width_and_engine_agrees() {
    let first = number("SPMDVM_SEED", 1);
    let mut distinct = std::collections::HashSet::new();
    for seed in first..first + number("SPMDVM_PROGRAMS", 60) {
        let text = random_program(seed);
        let mut expected = None;
        for (i, width) in Width::ALL.into_iter().enumerate() {
            // The reference engine runs every program at every width, each JIT at every third: compiling takes time.
            let here = (seed as usize + i).is_multiple_of(3);
            for &engine in engines().iter().filter(|&&e| e == Engine::Interp || here) {
                let options = Options { width, engine, jit: settings(seed), ..Options::default() };
                let came = run(&text, &options).unwrap_or_else(|e| panic!("seed {seed}, width {width}: {e}\n{text}"));
                let expected = expected.get_or_insert_with(|| came.clone());
                assert_eq!(&came, expected, "seed {seed}, width {width}, engine {engine}\n{text}");
            }
        }
        distinct.extend(expected);
    }
    assert!(distinct.len() > 20, "the programs compute different things");
}
