//! Random programs of the source language on every engine, and, where they do not ask for lanes, at every width.
//!
//! Loops are compiled at once, when hot, or left at random: which of these, on which back end and at which width is drawn for
//! each program; over many programs everything meets everything. In the long mode (`SPMDVM_PROGRAMS=N` programs of
//! each kind, from `SPMDVM_SEED=S` on) that is what makes their number, not the time of one, count.

use spmdvm::{Engine, JitSettings, Limits, Module, Options, Width};
use spmdvm_oracle::compare::{Rules, difference};
use spmdvm_oracle::generate::{Config, Dialect, Feature, generate};
use spmdvm_oracle::run::run;
use spmdvm_oracle::{End, Outcome, TestCase};
use spmdvm_tests::compiled::{entries, jits};
use spmdvm_tests::data::random;
use spmdvm_tests::number;

fn seeds(usual: u64) -> std::ops::Range<u64> {
    let first = number("SPMDVM_SEED", 1);
    first..first + number("SPMDVM_PROGRAMS", usual)
}

/// How a JIT compiles for a seed: on this thread, so that it is the same in each run.
fn settings(seed: u64) -> JitSettings {
    let only_baseline = random(seed, 3).is_multiple_of(2);
    JitSettings { only_baseline, ..mode(seed) }
}

fn mode(seed: u64) -> JitSettings {
    let small = (seed % 9) as u32;
    match random(seed, 1) % 8 {
        0 => JitSettings::eager(),
        1 => JitSettings::eager_in_every_variant(),
        2 => JitSettings { stress: Some(seed), ..JitSettings::eager() },
        3 => JitSettings { stress: Some(seed), ..JitSettings::eager_in_every_variant() },
        4 => JitSettings { background: false, ..JitSettings::default() },
        5 => JitSettings::eager_with_links(seed),
        6 => JitSettings { calls: 0, links: Some(seed), stress: Some(seed), ..JitSettings::eager_in_every_variant() },
        // Everything that takes time to happen, soon.
        _ => JitSettings {
            hot: small,
            calls: small,
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

/// Compares outcomes: the bits that a NaN has in memory are open.
fn same(case: &TestCase, width: Width, expected: &Outcome, came: &Outcome, what: &str) {
    if let Some(found) = difference(&case.call, width.lanes(), expected, came, &Rules::default()) {
        panic!("{what}, width {width}: {found}\n{}", case.text);
    }
}

#[test]
fn every_width_and_engine_agrees() {
    let config = Config::of(Dialect::Spmdvm).sized(20).with(Feature::WidthIndependent).with(Feature::Math);
    let mut distinct = std::collections::HashSet::new();
    let mut entered = 0;
    for seed in seeds(20) {
        let case = generate(seed, &config);
        let text = &case.text;
        let mut expected: Option<Outcome> = None;
        for lanes in Width::ALL {
            let options = Options { width: lanes, engine: Engine::Interp, ..Options::default() };
            let module = Module::compile("random.ispc", text, &options).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let came = run(&case, &module);
            assert_eq!(came.end, End::Returned, "seed {seed}, width {lanes}\n{text}");
            let expected = expected.get_or_insert_with(|| came.clone());
            same(&case, lanes, expected, &came, &format!("seed {seed}"));
            if lanes != width(seed) {
                continue;
            }
            for (name, module) in compiled(&module, seed) {
                same(&case, lanes, expected, &run(&case, &module), &format!("seed {seed}, {name}"));
                entered += entries(&module);
            }
        }
        distinct.extend(expected.map(|outcome| outcome.printed));
    }
    println!("{} programs; compiled code was entered {entered} times", seeds(20).count());
    assert!(distinct.len() > 8, "the programs compute different things");
    assert!(entered > seeds(20).count() as u64);
}

/// The fuel of a seed's calls: for one in four so little that it may run out.
fn fuel(seed: u64) -> u64 {
    if random(seed, 4).is_multiple_of(4) { random(seed, 5) % 300 } else { 200_000 }
}

/// What can be seen of two calls: the second one meets the globals that the first one left.
fn observe(module: &Module, case: &TestCase) -> [Outcome; 2] {
    [run(case, module), run(case, module)]
}

/// Programs that may do anything: they read and write memory that overlaps, at indices that may be out of bounds, divide by what
/// may be zero, ask about lanes, begin with some lanes off, run out of fuel.
#[test]
fn whatever_a_program_does_every_engine_does() {
    let all = Config::of(Dialect::Spmdvm).with(Feature::Traps).with(Feature::Aliases).with(Feature::Mask);
    let config = all.with(Feature::Halves).with(Feature::Math);
    let (mut trapped, mut entered) = (0, 0);
    for seed in seeds(60) {
        let case = generate(!seed, &config.sized(6 + (random(seed, 6) % 14) as u32));
        let limits = Limits { fuel: Some(fuel(seed)), ..Limits::default() };
        let options =
            Options { width: width(seed), engine: Engine::Interp, limits, threads: Some(1), ..Options::default() };
        let text = &case.text;
        let module = Module::compile("wild.ispc", text, &options);
        let module = module.unwrap_or_else(|e| panic!("seed {seed} does not compile: {e}\n{text}"));
        let expected = observe(&module, &case);
        trapped += expected.iter().any(|outcome| outcome.end != End::Returned) as u64;
        for (name, compiled) in compiled(&module, seed) {
            let came = observe(&compiled, &case);
            entered += entries(&compiled);
            for (expected, came) in expected.iter().zip(&came) {
                let what = format!("seed {seed}, fuel {}, {name}", fuel(seed));
                same(&case, width(seed), expected, came, &what);
            }
        }
    }
    let n = seeds(60).count() as u64;
    println!("{n} programs, of which {trapped} trapped; compiled code was entered {entered} times");
    assert!(entered > n && trapped > n / 20 && trapped < n * 3 / 4, "{trapped} of {n} trapped, {entered} entries");
}
