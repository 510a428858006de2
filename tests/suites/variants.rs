//! Dynamic variants: each is chosen where the profile calls for it, happens (the counters say so, and the region shows the
//! code), can be switched off, and is dropped where it fails. Results are the interpreter's in all of this.

use spmdvm::jit::engine::VersionReport;
use spmdvm::jit::ir::{Block, Counter, End, ExitReason, Inst, Kind, Outcome, Region, Type};
use spmdvm::jit::{Settings, Variant};
use spmdvm::vm::{Op, Ty};
use spmdvm::{Element, Engine, Module, Value};
use spmdvm_tests::compiled::{jits, module, native, versions};
use std::collections::BTreeSet;

const W: usize = 16;

/// What `f(out, from, n)` of a module writes to `out`, which is as long as `from`.
fn mapped<T: Element + Default>(module: &Module, from: &[T]) -> Vec<T> {
    let mut out = vec![T::default(); from.len()];
    let args = [Value::slice_mut(&mut out), Value::slice(from), (from.len() as i32).into()];
    module.call("f", &args).unwrap();
    out
}

fn settings() -> Settings {
    Settings { background: false, trial: u64::MAX, ..Settings::default() }
}

fn without(variant: Variant) -> Settings {
    let mut settings = settings();
    settings.variants.switch(variant, false);
    settings
}

/// How often a variant had an outcome, in all versions of all loops.
fn times(module: &Module, variant: Variant, outcome: Outcome) -> u64 {
    let versions = versions(module);
    let counters = versions.iter().flat_map(|v| &v.counters);
    let is_it =
        |c: &Counter| matches!(c, Counter::Variant { variant: v, outcome: o, .. } if (*v, *o) == (variant, outcome));
    counters.filter(|c| is_it(&c.counter)).map(|c| c.times).sum()
}

/// How often a variant suited and failed at a line, in all versions of all loops.
fn told(module: &Module, variant: Variant, line: usize) -> (u64, u64) {
    let infos = module.loops().into_iter().flat_map(|l| l.versions).flat_map(|v| v.variants);
    let here = infos.filter(|v| v.variant == variant && v.place.line == Some(line));
    here.fold((0, 0), |sum, v| (sum.0 + v.hit, sum.1 + v.missed))
}

fn blocks(region: &Region, test: impl Fn(&Kind) -> bool) -> impl Iterator<Item = &Block> {
    region.blocks.iter().filter(move |b| b.insts.iter().any(|i| test(&i.kind)))
}

fn has(module: &Module, test: impl Fn(&Kind) -> bool) -> bool {
    versions(module).iter().any(|v| blocks(&v.region, &test).next().is_some())
}

const GATHER: &str =
    "export void f(uniform int out[], const uniform int from[], const uniform int at[], uniform int n) {
    foreach (i = 0 ... n) out[i] = from[at[i]];
}";

/// Gathers by these indices; the result is compared with what is to come out.
fn gather(module: &Module, at: &[i32]) {
    let from: Vec<i32> = (0..4000).map(|x| x * 7).collect();
    let mut out = vec![0; at.len()];
    let args = [Value::slice_mut(&mut out), Value::slice(&from), Value::slice(at), (at.len() as i32).into()];
    module.call("f", &args).unwrap();
    assert!(out.iter().zip(at).all(|(&x, &i)| x == i * 7));
}

/// Indices of a lie: all lanes alike, in a row, at a distance, or anywhere.
fn indices(lie: Option<Variant>, n: usize) -> Vec<i32> {
    let index = |i: usize| match lie {
        Some(Variant::Uniform) => i / W,
        Some(Variant::Consecutive) => i + 5,
        Some(_) => 3 * i + 1,
        None => (i * i * 31 + i * 17) % 3989,
    };
    (0..n).map(|i| index(i) as i32).collect()
}

/// Returns whether a vector is loaded from the address that one lane's index gives.
fn loads_a_row_from_a_lane(region: &Region) -> bool {
    let insts = || region.blocks.iter().flat_map(|b| &b.insts);
    let mut of_a_lane = BTreeSet::new();
    // What is computed from it comes later.
    for inst in insts().filter(|inst| !inst.kind.is_plain_load()) {
        let is_one = matches!(inst.kind, Kind::Op { op: Op::Extract, .. });
        if is_one || inst.args.iter().any(|arg| of_a_lane.contains(arg)) {
            of_a_lane.extend(inst.result);
        }
    }
    insts().any(|inst| matches!(inst.kind, Kind::LoadLanes { .. }) && of_a_lane.contains(&inst.args[0]))
}

const LIES: [Variant; 3] = [Variant::Uniform, Variant::Consecutive, Variant::Strided];

#[test]
fn addresses_that_lie_well_get_code_of_their_own() {
    for engine in jits() {
        for lie in LIES {
            let on = module(engine, GATHER, settings());
            let off = module(engine, GATHER, without(lie));
            for _ in 0..8 {
                gather(&on, &indices(Some(lie), 1003));
                gather(&off, &indices(Some(lie), 1003));
            }
            let hits = times(&on, lie, Outcome::Hit);
            assert!(hits > 7 * 62 - 60, "{engine}: {lie} {hits}");
            assert_eq!(times(&off, lie, Outcome::Hit), 0);
            let load = |kind: &Kind| match lie {
                Variant::Uniform => matches!(kind, Kind::Load { .. }),
                Variant::Strided => matches!(kind, Kind::LoadStrided { .. }),
                _ => false,
            };
            if lie == Variant::Consecutive {
                let rows = |m: &Module| versions(m).iter().any(|v| loads_a_row_from_a_lane(&v.region));
                assert!(rows(&on) && !rows(&off), "{engine}: {lie}");
            } else {
                assert!(has(&on, load) && !has(&off, load), "{engine}: {lie}");
            }
        }
    }
}

/// Two fields of records that lie in a row, up or down: results, and how many comparisons of vectors there are in a round.
fn fields(engine: Engine, size: i32, down: bool) -> usize {
    let source = format!(
        "export void f(uniform int out[], const uniform int from[], const uniform int at[], uniform int n) {{
            foreach (i = 0 ... n) {{ int r = at[i]; out[i] = from[r * {size}] - 3 * from[r * {size} + 1]; }}
        }}"
    );
    let module = module(engine, &source, settings());
    let from: Vec<i32> = (0..4000).map(|x| x * x).collect();
    let at: Vec<i32> = (0..1003).map(|i| if down { 1002 - i } else { i }).collect();
    for _ in 0..4 {
        let mut out = vec![0; at.len()];
        let args = [Value::slice_mut(&mut out), Value::slice(&from), Value::slice(&at), (at.len() as i32).into()];
        module.call("f", &args).unwrap();
        let want = |r: i32| from[(r * size) as usize] - 3 * from[(r * size + 1) as usize];
        assert!(out.iter().zip(&at).all(|(&x, &r)| x == want(r)), "{engine}: {size} {down}");
    }
    let strided = |kind: &Kind| matches!(kind, Kind::LoadStrided { .. });
    let (_, missed) = told(&module, Variant::Strided, 2);
    assert!(has(&module, strided) && missed < 10, "{engine}: {size} {down}: {missed}");
    let region = &versions(&module)[0].region;
    let compares = |kind: &Kind| matches!(kind, Kind::Op { op: Op::Ne, .. });
    blocks(region, compares).next().map_or(0, |b| b.insts.iter().filter(|inst| compares(&inst.kind)).count())
}

#[test]
fn fields_of_records_are_tested_once() {
    for engine in jits() {
        for size in 1..=3 {
            for down in [false, true].into_iter().filter(|&down| down || size > 1) {
                assert_eq!(fields(engine, size, down), 1, "{engine}: {size} {down}");
            }
        }
    }
}

#[test]
fn a_variant_that_fails_is_dropped() {
    for engine in jits() {
        let module = module(engine, GATHER, settings());
        for _ in 0..2 {
            gather(&module, &indices(Some(Variant::Consecutive), 1000));
        }
        assert!(times(&module, Variant::Consecutive, Outcome::Hit) > 0);
        for _ in 0..200 {
            gather(&module, &indices(None, 1000));
        }
        assert_eq!(times(&module, Variant::Consecutive, Outcome::Missed), 0, "the version without it has no counter");
        assert!(module.jit().unwrap().report()[0].recompiles > 0);
        gather(&module, &indices(Some(Variant::Consecutive), 1000));
    }
}

/// A step of a Walsh transform.
const PAIRS: &str = "export void f(uniform float x[], uniform int n, uniform int step) {
    foreach (i = 0 ... n) {
        int pair = 2 * step * (i / step) + i % step, match = pair + step;
        float a = x[pair], b = x[match];
        x[pair] = a + b;
        x[match] = a - b;
    }
}";

fn pairs(module: &Module, step: i32) -> Vec<f32> {
    let mut x: Vec<f32> = (0..1024).map(|i| (i * i % 97) as f32).collect();
    module.call("f", &[Value::slice_mut(&mut x), 512.into(), step.into()]).unwrap();
    x
}

/// One test for all accesses: in blocks without gathers and scatters there are vectors, and no division of a vector.
#[test]
fn a_step_that_is_a_multiple_of_the_width_makes_vectors_of_index_arithmetic() {
    let expected: Vec<_> = (0..10).map(|k| pairs(&module(Engine::Interp, PAIRS, settings()), 1 << k)).collect();
    for engine in jits() {
        let (on, off) = (module(engine, PAIRS, settings()), module(engine, PAIRS, without(Variant::Aligned)));
        for _ in 0..3 {
            for (k, expected) in expected.iter().enumerate() {
                assert_eq!(pairs(&on, 1 << k), *expected, "{engine}: {k}");
                assert_eq!(pairs(&off, 1 << k), *expected, "{engine}: {k}");
            }
        }
        let [hit, missed] = [Outcome::Hit, Outcome::Missed].map(|outcome| times(&on, Variant::Aligned, outcome));
        // Once it is wrong it is not asked again in that run of the loop.
        assert!(hit > 3 * 6 * 20 && missed > 4 && missed < 50, "{engine}: {hit} {missed}");
        assert_eq!(times(&off, Variant::Aligned, Outcome::Hit), 0);
        let row = |v: &VersionReport| {
            let loads = |b: &&Block| b.insts.iter().any(|i| matches!(i.kind, Kind::LoadLanes { .. }));
            let scalar = |b: &&Block| {
                !b.insts.iter().any(|i| {
                    matches!(i.kind, Kind::Op { op: Op::MulHi | Op::IDiv, .. })
                        && i.result.is_some_and(|r| v.region.ty(r).is_varying())
                })
            };
            v.region.blocks.iter().filter(|b| !b.cold).filter(loads).any(|b| scalar(&b))
        };
        assert!(versions(&on).iter().any(row), "{engine}");
    }
}

/// A step of a sorting network, and one of its accesses alone; nothing is divided.
const NETWORK: &str = "export void f(uniform int x[], uniform int out[], uniform int n, uniform int step) {
    foreach (i = 0 ... n) {
        int low = ((i & ~(step - 1)) << 1) | (i & (step - 1));
        int a = x[low], b = x[low + step];
        if (a > b) {
            x[low] = b;
            x[low + step] = a;
        }
    }
}";
const ONE_ACCESS: &str = "export void f(uniform int x[], uniform int out[], uniform int n, uniform int step) {
    foreach (i = 0 ... n) {
        int low = ((i & ~(step - 1)) << 1) | (i & (step - 1));
        out[i] = x[low];
    }
}";

/// Whatever the profile has seen: where lanes lie in a row, the indices themselves could be tested, once for each access.
#[test]
fn one_test_for_several_accesses_is_better_than_one_for_each() {
    let steps = [64, 64, 64, 2, 64, 1, 64, 32];
    for engine in jits() {
        for (source, is_better) in [(NETWORK, true), (ONE_ACCESS, false)] {
            let [on, interp] = [engine, Engine::Interp].map(|engine| module(engine, source, settings()));
            for step in steps.repeat(4) {
                let run = |module: &Module| {
                    let mut x: Vec<i32> = (0..1024).map(|i| i * i % 97).collect();
                    let mut out = vec![0; 512];
                    let args = [Value::slice_mut(&mut x), Value::slice_mut(&mut out), 512.into(), step.into()];
                    module.call("f", &args).unwrap();
                    (x, out)
                };
                assert_eq!(run(&on), run(&interp), "{engine}: {step}");
            }
            let aligned = times(&on, Variant::Aligned, Outcome::Hit);
            assert_eq!(aligned > 0, is_better, "{engine}: {aligned}");
            assert!(times(&on, Variant::Consecutive, Outcome::Hit) > 0, "{engine}");
        }
    }
}

const SCATTER: &str = "export void f(uniform int out[], const uniform int at[], uniform int n) {
    foreach (i = 0 ... n) out[at[i]] = i;
}";

#[test]
fn stores_in_a_row_are_vectors() {
    for engine in jits() {
        for lie in [Variant::Consecutive, Variant::Strided] {
            let module = module(engine, SCATTER, settings());
            let at = indices(Some(lie), 1003);
            for _ in 0..4 {
                let mut out = vec![-1; 4000];
                let args = [Value::slice_mut(&mut out), Value::slice(&at), (at.len() as i32).into()];
                module.call("f", &args).unwrap();
                for (i, &x) in out.iter().enumerate() {
                    let expected = at.iter().position(|&a| a as usize == i).map_or(-1, |i| i as i32);
                    assert_eq!(x, expected);
                }
            }
            assert!(times(&module, lie, Outcome::Hit) > 0, "{engine}: {lie}");
        }
    }
}

/// Every gang has one lane that goes on for long.
const LONG: &str = "export void f(uniform float out[], uniform int n, uniform int most) {
    foreach (i = 0 ... n) {
        int steps = (i & 15) == 3 ? most : i & 7;
        float x = i; int k = 0;
        while (k < steps) {
            if (x > 1000) x = x * 0.125f; else x = x * 1.5f + k;
            ++k;
        }
        out[i] = x + k;
    }
}";

fn long(module: &Module) -> Vec<f32> {
    let mut out = vec![0f32; 200];
    module.call("f", &[Value::slice_mut(&mut out), 200.into(), 300.into()]).unwrap();
    out
}

#[test]
fn the_last_lane_of_a_loop_gets_scalar_code() {
    let expected = long(&module(Engine::Interp, LONG, settings()));
    for engine in jits() {
        let (on, off) = (module(engine, LONG, settings()), module(engine, LONG, without(Variant::OneLane)));
        for _ in 0..4 {
            assert_eq!(long(&on), expected);
            assert_eq!(long(&off), expected);
        }
        assert!(times(&on, Variant::OneLane, Outcome::Hit) > 20);
        assert_eq!(times(&off, Variant::OneLane, Outcome::Hit), 0);
        // The computation of the last lane is on scalars, and but for what exits need there is no vector in its blocks.
        let scalar = |m: &Module| {
            versions(m).iter().any(|v| {
                let is_uniform = |i: &Inst| i.result.is_some_and(|r| v.region.ty(r) == Type::uniform(Ty::F32));
                let computes = |i: &Inst| matches!(i.kind, Kind::Op { op: Op::Fma, .. }) && is_uniform(i);
                let puts_back = |i: &Inst| matches!(i.kind, Kind::Op { op: Op::Insert, .. });
                let is_lanes = |i: &Inst| i.result.is_some_and(|r| v.region.ty(r).is_varying());
                let block = v.region.blocks.iter().find(|b| b.insts.iter().any(computes));
                block.is_some_and(|b| b.insts.iter().all(|i| puts_back(i) || !is_lanes(i)))
            })
        };
        assert!(scalar(&on) && !scalar(&off), "{engine}");
    }
}

/// Lanes that recurse to different depths: the deeper calls are of one lane. What that lane computes nobody sees in others, or
/// (`across`) the function reads it there.
fn recursive(across: bool) -> String {
    let turned = if across { "rotate(y, 1)" } else { "y" };
    format!(
        "static int down(int depth, int x) {{
    if (depth <= 0) return x;
    int y = x * 3 + depth;
    int below = down(depth - 1, y);
    if ((y & 1) == 0) below -= down(depth - 4, x);
    return below + {turned};
}}
export void f(uniform int out[], uniform int n, uniform int most) {{
    foreach (i = 0 ... n) out[i] = down((i & 15) == 3 ? most : i & 3, i);
}}"
    )
}

fn recursed(module: &Module) -> Vec<i32> {
    let mut out = vec![0; 100];
    module.call("f", &[Value::slice_mut(&mut out), 100.into(), 16.into()]).unwrap();
    out
}

#[test]
fn calls_of_one_lane_get_scalar_code() {
    for across in [false, true] {
        let source = recursive(across);
        let expected = recursed(&module(Engine::Interp, &source, settings()));
        for engine in jits() {
            let (on, off) = (module(engine, &source, settings()), module(engine, &source, without(Variant::OneLane)));
            for _ in 0..4 {
                assert_eq!(recursed(&on), expected);
                assert_eq!(recursed(&off), expected);
            }
            assert!(times(&on, Variant::OneLane, Outcome::Hit) > 100, "{engine}: {across}");
            assert_eq!(times(&off, Variant::OneLane, Outcome::Hit), 0);
            // What is computed for one lane is on scalars. Where nobody sees the others, nothing else is computed.
            let multiplies = |m: &Module, varying: bool| {
                versions(m).iter().any(|v| {
                    let reads_mask = |i: &Inst| matches!(i.kind, Kind::Op { op: Op::Ctz, .. });
                    let is_for_one = v.region.blocks[0].insts.iter().any(reads_mask);
                    let times_three = |i: &Inst| {
                        let is_product = matches!(i.kind, Kind::Op { op: Op::Mul, .. });
                        is_product && i.result.is_some_and(|r| v.region.ty(r).is_varying() == varying)
                    };
                    is_for_one && v.region.blocks.iter().any(|b| b.insts.iter().any(times_three))
                })
            };
            assert!(multiplies(&on, false) && !multiplies(&off, false), "{engine}: {across}");
            assert_eq!(multiplies(&on, true), across, "{engine}");
        }
    }
}

const SCALED: &str = "export void f(uniform int out[], uniform int n, uniform int by, uniform bool twice) {
    foreach (i = 0 ... n) {
        int x = i / by;
        if (twice) x = x + x;
        out[i] = x;
    }
}";

fn scaled(module: &Module, by: i32) {
    let mut out = vec![0; 100];
    module.call("f", &[Value::slice_mut(&mut out), 100.into(), by.into(), true.into()]).unwrap();
    assert!((0..100).all(|i| out[i as usize] == i / by * 2));
}

#[test]
fn arguments_that_stay_the_same_become_constants() {
    for engine in jits() {
        let (on, off) = (module(engine, SCALED, settings()), module(engine, SCALED, without(Variant::Constant)));
        for _ in 0..150 {
            scaled(&on, 7);
            scaled(&off, 7);
        }
        let special = |m: &Module| versions(m).into_iter().find(|v| v.constants > 0);
        let version = special(&on).expect("a version for these arguments");
        assert!(version.entries > 20);
        assert!(special(&off).is_none());
        assert_eq!(told(&on, Variant::Constant, 2), (version.entries, 0));
        // Other arguments go another way.
        for by in 8..40 {
            scaled(&on, by);
        }
        let (hit, missed) = told(&on, Variant::Constant, 2);
        assert!(hit == version.entries && missed >= 32, "{engine}: {hit} {missed}");
        assert_eq!(times(&off, Variant::Constant, Outcome::Hit), 0);
    }
}

const RARE: &str = "export void f(uniform int out[], const uniform int from[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = from[i];
        if (x < 0) { x = -x; for (uniform int k = 0; k < 3; ++k) x = x * 3 + k; }
        out[i] = x;
    }
}";

#[test]
fn a_loop_keeps_its_code_if_there_is_no_room_for_better() {
    native().for_each(keeps_its_code);
}

fn keeps_its_code(engine: Engine) {
    let reference = module(Engine::Interp, RARE, settings());
    let usual: Vec<i32> = (0..1000).collect();
    let other: Vec<i32> = (0..1000).map(|i| if i % 50 == 7 { -i } else { i }).collect();
    let free = module(engine, RARE, settings());
    for _ in 0..3 {
        mapped(&free, &usual);
    }
    let bytes: usize = versions(&free).iter().map(|v| v.code_bytes).sum();
    // What is there fits, and nothing more.
    let module = module(engine, RARE, Settings { code_limit: bytes + 64, ..settings() });
    for input in [&usual, &other] {
        for _ in 0..30 {
            assert_eq!(mapped(&module, input), mapped(&reference, input));
        }
    }
    let report = module.jit().unwrap().report();
    let refused = report.iter().find(|l| l.refused.is_some()).expect("a loop that was not recompiled");
    assert!(refused.aborted.is_none() && refused.versions[0].entries > 60, "{refused:?}");
    assert!(module.jit_text(spmdvm::Show::default()).contains("not compiled in other ways"));
}

const LONG_ARM: &str = "export void f(uniform int out[], const uniform int from[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = from[i];
        if (x < 0) { x = x * x + 7; x ^= x >> 3; x = x * 5 - 1; x ^= x >> 5; x = x * 3 + i; x ^= x << 2; }
        out[i] = x;
    }
}";

#[test]
fn a_version_that_waits_for_a_better_one_is_not_judged() {
    jits().for_each(is_not_judged);
}

fn is_not_judged(engine: Engine) {
    let reference = module(Engine::Interp, LONG_ARM, settings());
    let usual: Vec<i32> = (0..1000).collect();
    let other: Vec<i32> = (0..1000).map(|i| -i).collect();
    // As if compiling anew took for ever: the way that was left out is taken in every round.
    let module = module(engine, LONG_ARM, Settings { hot_exit: u64::MAX, trial: 150, ..settings() });
    for input in [&usual, &usual, &usual, &other, &other, &other] {
        assert_eq!(mapped(&module, input), mapped(&reference, input));
    }
    let report = module.jit().unwrap().report();
    let outer =
        report.iter().find(|l| l.versions.iter().any(|v| v.entries >= 150)).expect("it is entered all the time");
    assert_eq!(outer.aborted, None);
    // Every entry counts: it was left by the way that had been left out, or it was not.
    let (hit, missed) = told(&module, Variant::Prune, 4);
    assert!(hit > 0 && missed > 150, "{hit} {missed}");
    let prunes = |v: &VersionReport| v.region.exits.iter().any(|e| e.reason == ExitReason::NeverTaken);
    let entries: u64 = versions(&module).iter().filter(|v| prunes(v)).map(|v| v.entries).sum();
    assert_eq!(hit + missed, entries);
    assert!(module.jit_text(spmdvm::Show::default()).contains("variant `prune` at test.ispc:4: hit"));
}

#[test]
fn ways_that_were_never_taken_are_compiled_when_they_are() {
    let reference = module(Engine::Interp, RARE, settings());
    let usual: Vec<i32> = (0..1000).collect();
    let other: Vec<i32> = (0..1000).map(|i| if i % 50 == 7 { -i } else { i }).collect();
    for engine in jits() {
        let module = module(engine, RARE, settings());
        for _ in 0..3 {
            assert_eq!(mapped(&module, &usual), mapped(&reference, &usual));
        }
        let left_out = versions(&module).iter().map(|v| v.region.blocks.len()).max();
        let never =
            |m: &Module| versions(m).iter().any(|v| v.region.exits.iter().any(|e| e.reason == ExitReason::NeverTaken));
        assert!(never(&module), "{engine}");
        let (hit, missed) = told(&module, Variant::Prune, 4);
        assert!(hit > 0 && missed == 0, "{engine}: {hit} {missed}");
        for _ in 0..30 {
            assert_eq!(mapped(&module, &other), mapped(&reference, &other));
        }
        let report = module.jit().unwrap().report();
        assert!(report.iter().any(|l| l.recompiles > 0), "{engine}: {report:?}");
        assert!(versions(&module).iter().map(|v| v.region.blocks.len()).max() > left_out);
    }
}

/// Loops of as many rounds as the first element says.
const AS_LONG: &str = "export void f(uniform int out[], const uniform int from[], uniform int n) {
    uniform int m = from[0];
    for (uniform int j = 0; j + m <= n; j += m) {
        foreach (i = j ... j + m) out[i] = from[i] * 3 + i;
    }
}";

/// A place may be come to by several ways: whole gangs, and those with a part of their lanes, of which there are none.
#[test]
fn gangs_that_there_never_were_are_left_out() {
    let reference = module(Engine::Interp, AS_LONG, settings());
    let input = |m: i32| -> Vec<i32> { std::iter::once(m).chain(1..2000).collect() };
    // Less than a gang, and gangs only, and then both.
    for (usual, other) in [(5, 40), (64, 67)] {
        for engine in jits() {
            let (on, off) = (module(engine, AS_LONG, settings()), module(engine, AS_LONG, without(Variant::Prune)));
            for m in [&on, &off].into_iter().cycle().take(6) {
                assert_eq!(mapped(m, &input(usual)), mapped(&reference, &input(usual)));
            }
            let insts = |m: &Module| {
                let blocks = |v: &VersionReport| v.region.blocks.iter().map(|b| b.insts.len()).sum::<usize>();
                versions(m).iter().map(blocks).max()
            };
            let few = insts(&on);
            assert!(few < insts(&off), "{engine}, {usual}: {few:?} {:?}", insts(&off));
            for _ in 0..30 {
                assert_eq!(mapped(&on, &input(other)), mapped(&reference, &input(other)));
            }
            let report = on.jit().unwrap().report();
            assert!(report.iter().any(|l| l.recompiles > 0), "{engine}, {usual}: {report:?}");
            assert!(insts(&on) > few, "{engine}, {usual}");
        }
    }
}

/// Of long loops the middle is seen, and not the end.
#[test]
fn the_end_of_a_long_loop_is_not_left_out() {
    let text = "export void f(uniform int out[], const uniform int from[], uniform int n) {
        foreach (i = 0 ... n) out[i] = from[i] * 3;
    }";
    let from: Vec<i32> = (0..64_000).collect();
    let expected: Vec<i32> = from.iter().map(|x| x * 3).collect();
    for engine in jits() {
        let module = module(engine, text, settings());
        (0..3).for_each(|_| assert_eq!(mapped(&module, &from), expected));
        let never = |v: &VersionReport| v.region.exits.iter().any(|e| e.reason == ExitReason::NeverTaken);
        assert!(!versions(&module).iter().any(never), "{engine}: {}", module.jit_text(spmdvm::Show::default()));
    }
}

/// Much is computed from what one load for all lanes gives.
const MATERIAL: &str = "export void f(uniform int out[], const uniform int of[], uniform int n) {
    foreach (i = 0 ... n) {
        int m = of[i];
        int a = (m * 7 + 3) ^ (m >> 2);
        out[i] = a * a + m + i;
    }
}";

#[test]
fn what_follows_from_a_value_that_is_the_same_in_all_lanes_is_scalar() {
    let of: Vec<i32> = (0..1003).map(|i| i / 64 * 5).collect();
    let run = |module: &Module| mapped(module, &of);
    let expected = run(&module(Engine::Interp, MATERIAL, settings()));
    for engine in jits() {
        let (on, off) = (module(engine, MATERIAL, settings()), module(engine, MATERIAL, without(Variant::Uniform)));
        for _ in 0..6 {
            assert_eq!(run(&on), expected);
            assert_eq!(run(&off), expected);
        }
        assert!(times(&on, Variant::Uniform, Outcome::Hit) > 100, "{engine}");
        let scalar = |m: &Module| {
            versions(m).iter().any(|v| {
                let insts = v.region.blocks.iter().flat_map(|b| &b.insts);
                let xor = insts.filter(|i| matches!(i.kind, Kind::Op { op: Op::Xor, .. })).filter_map(|i| i.result);
                xor.into_iter().any(|r| v.region.ty(r) == Type::uniform(Ty::I32))
            })
        };
        assert!(scalar(&on) && !scalar(&off), "{engine}");
    }
}

const ARMS: &str = "export void f(uniform float out[], const uniform float from[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = from[i], y = x;
        if (x > 0.5f) y = x * 2 + 1; else y = x * 3 - 1;
        out[i] = y;
    }
}";

#[test]
fn short_arms_that_are_always_executed_are_not_branched_around() {
    let from: Vec<f32> = (0..1003).map(|i| (i * 37 % 100) as f32 / 100.0).collect();
    let run = |module: &Module| mapped(module, &from);
    let expected = run(&module(Engine::Interp, ARMS, settings()));
    for engine in jits() {
        // Without a profile every arm can be skipped; with one, these are found not to be worth it, as without the variant.
        let unknown = module(engine, ARMS, Settings { observe: 0, ..settings() });
        let (mixed, off) = (module(engine, ARMS, settings()), module(engine, ARMS, without(Variant::SkipInactive)));
        let blocks = [&unknown, &mixed, &off].map(|module| {
            for _ in 0..3 {
                assert_eq!(run(module), expected);
            }
            versions(module).iter().map(|v| v.region.blocks.len()).min().expect("a version")
        });
        assert!(blocks[1] < blocks[0] && blocks[2] < blocks[0], "{engine}: {blocks:?}");
    }
}

const LONG_ARMS: &str = "export void f(uniform float out[], const uniform float from[], uniform int n) {
    foreach (i = 0 ... n) {
        float x = from[i], y = x;
        if (x > 0.5f) {
            y = sqrt(x) / (1 + x * x);
            y = y * y + sqrt(y);
        } else
            y = x * 3 - 1;
        out[i] = y;
    }
}";

#[test]
fn what_gangs_do_at_a_branch_is_counted() {
    // Of a hundred gangs sixty take the first arm, thirty the second, ten both.
    let element = |i: usize| match i / W {
        0..60 => 0.75,
        60..90 => 0.25,
        _ => (i % 2) as f32,
    };
    let from: Vec<f32> = (0..100 * W).map(element).collect();
    let run = |module: &Module| mapped(module, &from);
    let expected = run(&module(Engine::Interp, LONG_ARMS, settings()));
    for engine in jits() {
        let module = module(engine, LONG_ARMS, Settings::eager());
        let counts = || {
            let (all, head) = (told(&module, Variant::AllActive, 4), told(&module, Variant::AllActive, 2));
            let (first, second) = (told(&module, Variant::SkipInactive, 4), told(&module, Variant::SkipInactive, 6));
            [all.0, all.1, first.0, first.1, second.0, second.1, head.0]
        };
        assert_eq!(run(&module), expected);
        let before = counts();
        assert_eq!(run(&module), expected);
        let after = counts();
        let came: Vec<u64> = after.iter().zip(before).map(|(a, b)| a - b).collect();
        // Gangs that are all in one arm have asked for none of them.
        assert_eq!(came, [60, 40, 30, 10, 0, 10, 1], "{engine}");
    }
}

/// A pointer is loaded in every round. Where the first number says so, it is changed in every round, too, half by half.
const POINTERS: &str = "struct Arrays {
    const uniform int *uniform from;
    const uniform int *uniform other;
};
noinline void copy(uniform Arrays *uniform arrays, uniform int out[], uniform int n, uniform bool changes) {
    uniform int *uniform words = (uniform int *uniform)arrays;
    for (uniform int i = 0; i < n; i++) {
        out[i] = arrays->from[i];
        for (uniform int k = 0; k < 2; k++) {
            uniform int word = words[k];
            words[k] = changes ? words[k + 2] : word;
            words[k + 2] = changes ? word : words[k + 2];
        }
    }
}
export void f(uniform int out[], const uniform int from[], uniform int n) {
    uniform Arrays arrays = { from, from + 1 };
    copy(&arrays, out, n - 1, from[0] < 0);
}";

#[test]
fn what_is_asked_about_loaded_pointers_is_asked_before_loops() {
    let reference = module(Engine::Interp, POINTERS, settings());
    let usual: Vec<i32> = (0..1000).collect();
    let other: Vec<i32> = (-1..999).collect();
    for engine in jits() {
        let on = module(engine, POINTERS, settings());
        let off = module(engine, POINTERS, without(Variant::SamePointer));
        for module in [&on, &off] {
            (0..20).for_each(|_| assert_eq!(mapped(module, &usual), mapped(&reference, &usual)));
        }
        let (hit, missed) = told(&on, Variant::SamePointer, 8);
        assert!(hit > 0 && missed == 0, "{engine}: {hit} {missed}");
        assert_eq!(told(&off, Variant::SamePointer, 8), (0, 0));
        let expects = |m: &Module| {
            versions(m).iter().any(|v| v.region.exits.iter().any(|e| e.reason == ExitReason::OtherPointer))
        };
        assert!(expects(&on) && !expects(&off), "{engine}");
        // What is left by another pointer often enough is compiled anew, and expects nothing.
        (0..30).for_each(|_| assert_eq!(mapped(&on, &other), mapped(&reference, &other)));
        assert!(on.jit().unwrap().report().iter().any(|l| l.recompiles > 0), "{engine}");
        let (_, missed) = told(&on, Variant::SamePointer, 8);
        (0..30).for_each(|_| assert_eq!(mapped(&on, &other), mapped(&reference, &other)));
        assert_eq!(told(&on, Variant::SamePointer, 8).1, missed, "{engine}");
    }
}

/// An `if` whose first side is too long to be executed without a test, and whose second side is blended unless all lanes take it.
const SIDES: &str = "export void f(uniform int out[], const uniform int from[], uniform int n) {
    foreach (i = 0 ... n) {
        int x = from[i];
        if (x > 1000) {
            for (uniform int k = 0; k < 5; ++k)
                x = x * x + (x >> 3) - k;
        } else {
            x = x * 12345 + (x >> 2);
            out[i] = x;
        }
        out[i] += x;
    }
}";

/// What is counted first behind the first test of lanes, where it finds none.
fn first_way_out(region: &Region) -> Vec<(Variant, Outcome)> {
    let tests = |block: &Block| block.insts.iter().any(|i| i.kind == Kind::AnyLane);
    let other = |block: &Block| match &block.end {
        End::Branch { other, .. } if tests(block) => Some(other.to),
        _ => None,
    };
    let out = region.blocks.iter().find_map(other).expect("a test");
    let counted = |inst: &Inst| match inst.kind {
        Kind::Count(n) => match region.counters[n as usize] {
            Counter::Variant { variant, outcome, .. } => Some((variant, outcome)),
            Counter::Chance => None,
        },
        _ => None,
    };
    region.block(out).insts.iter().filter_map(counted).collect()
}

#[test]
fn what_lanes_do_as_a_rule_is_tested_first() {
    use Outcome::{Hit, Missed};
    for engine in jits() {
        let ways = [0, 5000].map(|base| {
            let module = module(engine, SIDES, settings());
            let from: Vec<i32> = (0..20 * W as i32).map(|i| if i % 97 == 0 { 5000 } else { base + i % 7 }).collect();
            let mut results = Vec::new();
            for _ in 0..100 {
                results = mapped(&module, &from);
            }
            let by_reference = mapped(&self::module(Engine::Interp, SIDES, settings()), &from);
            assert_eq!(results, by_reference, "{engine}");
            let versions = versions(&module);
            let region = &versions.iter().max_by_key(|v| v.entries).expect("compiled").region;
            first_way_out(region)
        });
        let rarely = vec![(Variant::AllActive, Missed), (Variant::SkipInactive, Hit)];
        assert_eq!(ways, [rarely, vec![(Variant::AllActive, Hit)]], "{engine}");
    }
}
