//! Random programs of the source language on every engine, and, where they do not ask for lanes, at every width.
//!
//! Loops are compiled at once, when hot, or left at random: which of these, on which back end and at which width is drawn for
//! each program; over many programs everything meets everything. In the long mode (`SPMDVM_PROGRAMS=N` programs of
//! each kind, from `SPMDVM_SEED=S` on) that is what makes their number, not the time of one, count.

use spmdvm::{Array, Engine, JitSettings, Limits, Module, Options, Run, Value, Width};
use spmdvm_tests::agree::trap_of;
use spmdvm_tests::compiled::{entries, jits};
use spmdvm_tests::data::random;
use spmdvm_tests::number;
use spmdvm_tests::program::random_program;
use spmdvm_tests::wild::{LENGTH, WildProgram, wild_program};
use std::sync::{Arc, Mutex};

/// Elements of the outputs: more than one gang at the widest, and no multiple of any width but 1.
const N: usize = 77;

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let first = number("SPMDVM_SEED", 1);
    first..first + number("SPMDVM_PROGRAMS", usual)
}

/// How a JIT compiles for a seed: on this thread, so that it is the same in each run.
fn settings(seed: u64) -> JitSettings {
    let small = (seed % 9) as u32;
    match random(seed, 1) % 6 {
        0 => JitSettings::eager(),
        1 => JitSettings::eager_in_every_variant(),
        2 => JitSettings { stress: Some(seed), ..JitSettings::eager() },
        3 => JitSettings { stress: Some(seed), ..JitSettings::eager_in_every_variant() },
        4 => JitSettings { background: false, ..JitSettings::default() },
        // Everything that takes time to happen, soon.
        _ => JitSettings {
            hot: small,
            observe: 40 * small,
            trial: 3,
            hot_exit: 1,
            same_arguments: 2,
            background: false,
            ..JitSettings::default()
        },
    }
}

/// The width at which the JITs run a program. Compiling takes the longer the wider.
fn width(seed: u64) -> Width {
    const WIDTHS: [u32; 16] = [1, 1, 2, 2, 4, 4, 4, 4, 4, 4, 8, 8, 8, 16, 32, 64];
    Width::new(WIDTHS[random(seed, 2) as usize % WIDTHS.len()]).expect("a width")
}

/// The same program on every JIT, each in a mode of its own.
fn compiled(module: &Module, seed: u64) -> impl Iterator<Item = (String, Module)> {
    jits().enumerate().map(move |(i, engine)| {
        let jit = settings(seed + i as u64);
        let name = format!("{engine}, {jit:?}");
        let options = Options { engine, jit, ..module.options().clone() };
        (name, Module::from_program(module.verified().clone(), &options))
    })
}

/// The outputs, as bits with all NaNs alike.
fn run(module: &Module) -> Result<Vec<u32>, String> {
    let (mut ints, mut floats) = (vec![0i32; N], vec![0f32; N]);
    let args = [Value::slice_mut(&mut ints), Value::slice_mut(&mut floats), (N as i32).into()];
    module.call("f", &args).map_err(|e| e.to_string())?;
    let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    Ok(ints.iter().map(|&x| x as u32).chain(floats.iter().map(|&x| bits(x))).collect())
}

#[test]
fn every_width_and_engine_agrees() {
    let mut distinct = std::collections::HashSet::new();
    let mut entered = 0;
    for seed in seeds(20) {
        let text = random_program(seed);
        let mut expected = None;
        for lanes in Width::ALL {
            let options = Options { width: lanes, engine: Engine::Interp, ..Options::default() };
            let module = Module::compile("random.ispc", &text, &options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let came = run(&module).unwrap_or_else(|e| panic!("seed {seed}, width {lanes}: {e}\n{text}"));
            let expected: &Vec<u32> = expected.get_or_insert_with(|| came.clone());
            assert_eq!(&came, expected, "seed {seed}, width {lanes}\n{text}");
            if lanes != width(seed) {
                continue;
            }
            for (name, module) in compiled(&module, seed) {
                let came = run(&module).unwrap_or_else(|e| panic!("seed {seed}, width {lanes}, {name}: {e}\n{text}"));
                assert_eq!(&came, expected, "seed {seed}, width {lanes}, {name}\n{text}");
                entered += entries(&module);
            }
        }
        distinct.extend(expected);
    }
    println!("{} programs; compiled code was entered {entered} times", seeds(20).count());
    assert!(distinct.len() > 8, "the programs compute different things");
    assert!(entered > seeds(20).count() as u64);
}

/// What can be seen of a wild program's calls.
#[derive(Debug, PartialEq)]
struct Seen {
    traps: Vec<Option<String>>,
    printed: String,
    /// The arrays, with all NaNs alike.
    ints: Vec<u32>,
    floats: Vec<u32>,
    others: Vec<u64>,
    globals: Vec<i32>,
}

/// Bits of the elements of an array of the program's own type.
fn elements(elem: (&str, usize), bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| chunk.iter().rev().fold(0, |w, &b| w << 8 | b as u64);
    let ty = match elem.0 {
        "float" => spmdvm::Ty::F32,
        "double" => spmdvm::Ty::F64,
        "float16" => spmdvm::Ty::F16,
        _ => spmdvm::Ty::U64,
    };
    bytes.chunks(elem.1).map(|chunk| spmdvm::vm::sem::bitcast(ty, word(chunk))).collect()
}

/// Calls `f` twice, then `peek`.
fn observe(module: &Module, program: &WildProgram, seed: u64) -> Seen {
    let n = LENGTH as usize;
    let fill = |salt: u64| (0..2 * n).map(move |i| (random(seed ^ salt, i as u64) % 100) as i32 - 30);
    let mut ints: Vec<i32> = fill(1).chain(fill(2)).take(3 * n).collect();
    let memory = ints.as_mut_ptr();
    let mut floats: Vec<f32> = fill(3).take(n).map(|x| x as f32 * 0.5).collect();
    let mut others: Vec<u8> = fill(4).take(n).flat_map(|x| (x as i64).to_le_bytes()).take(n * program.elem.1).collect();
    let given = others.iter().rev().copied().collect::<Vec<u8>>();
    let printed = Arc::new(Mutex::new(String::new()));
    let mut traps = Vec::new();
    for _ in 0..2 {
        // SAFETY: both parts lie within the vector, which outlives the call and is not touched meanwhile.
        let part = |from: usize| {
            assert!(from + n <= 3 * n);
            // SAFETY: the part lies within the vector, which outlives the call and is not touched meanwhile.
            Value::Array(unsafe { Array::from_raw(memory.wrapping_add(from).cast(), 4 * n, None, true) })
        };
        let bytes = |start: *const u8, len: usize, writable: bool| {
            // SAFETY: as above.
            Value::Array(unsafe { Array::from_raw(start.cast_mut(), len, None, writable) })
        };
        let args = [
            part(0),
            part(program.alias as usize),
            Value::slice_mut(&mut floats),
            bytes(others.as_mut_ptr(), others.len(), true),
            bytes(given.as_ptr(), given.len(), false),
            program.scalars[0].into(),
            program.scalars[1].into(),
        ];
        let sink = Arc::clone(&printed);
        let run = Run::new(module).mask(program.mask).output(move |text| sink.lock().unwrap().push_str(text));
        traps.push(trap_of(run.call("f", &args)));
    }
    let mut globals = vec![0i32; 18];
    let peeked = module.call("peek", &[Value::slice_mut(&mut globals)]);
    traps.push(peeked.err().map(|e| e.to_string()));
    let float = |x: &f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
    let printed = std::mem::take(&mut *printed.lock().unwrap());
    Seen {
        traps,
        printed,
        ints: ints.iter().map(|&x| x as u32).collect(),
        floats: floats.iter().map(float).collect(),
        others: elements(program.elem, &others),
        globals,
    }
}

#[test]
fn whatever_a_program_does_every_engine_does() {
    let (mut trapped, mut entered) = (0, 0);
    for seed in seeds(60) {
        let program = wild_program(seed);
        let limits = Limits { fuel: Some(program.fuel.unwrap_or(200_000)), ..Limits::default() };
        let options = Options { width: width(seed), engine: Engine::Interp, limits, ..Options::default() };
        let text = &program.text;
        let module = Module::compile("wild.ispc", text, &options);
        let module = module.unwrap_or_else(|e| panic!("seed {seed} does not compile: {e}\n{text}"));
        let expected = observe(&module, &program, seed);
        trapped += expected.traps.iter().any(Option::is_some) as u64;
        for (name, compiled) in compiled(&module, seed) {
            let came = observe(&compiled, &program, seed);
            entered += entries(&compiled);
            assert!(
                came == expected,
                "seed {seed}, width {}, fuel {:?}, {name}\ncame     {came:?}\nexpected {expected:?}\n{text}",
                width(seed),
                program.fuel
            );
        }
    }
    let n = seeds(60).count() as u64;
    println!("{n} programs, of which {trapped} trapped; compiled code was entered {entered} times");
    assert!(entered > n && trapped > n / 20 && trapped < n * 3 / 4, "{trapped} of {n} trapped, {entered} entries");
}
