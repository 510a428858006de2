//! The passes: what they make of small regions, and that no region can be told from what they make of it.

mod harness;

use harness::generate::Generator;
use harness::trees::trees;
use harness::values::Rng;
use harness::{Host, Outcome, exit};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, End, Kind, Region, Type, Value, verify};
use spmdvm_jit::passes::{self, PASSES};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};
use std::sync::Arc;

/// Gives every exit a name of its own: passes renumber them.
fn name_exits(region: &mut Region) {
    for (i, exit) in region.exits.iter_mut().enumerate() {
        exit.why = Box::leak(format!("x{i}").into_boxed_str());
    }
}

/// The number that an exit had.
fn numbered(region: &Region, mut outcome: Outcome) -> Outcome {
    outcome.exit = region.exits[outcome.exit as usize].why[1..].parse().unwrap();
    outcome
}

fn check(region: &Region, after: &str, seed: u64) {
    verify(region).unwrap_or_else(|e| panic!("seed {seed}, after {after}: {e}\n{region}"));
}

fn random(host: &Host, seed: u64) -> Region {
    Generator::new(host, seed).run()
}

/// Runs regions before and after some passes.
fn compare(width: u32, seeds: std::ops::Range<u64>, make: fn(&Host, u64) -> Region, apply: impl Fn(&mut Region, u64)) {
    let mut host = Host::new(Width::new(width).unwrap());
    for seed in seeds {
        let mut before = make(&host, seed);
        name_exits(&mut before);
        let mut after = before.clone();
        apply(&mut after, seed);
        let [old, new]: [Arc<dyn Executable>; 2] =
            [&before, &after].map(|r| Arc::from(Ir.compile(Arc::new(r.clone())).unwrap()));
        let mut rng = Rng(!seed);
        for round in 0..4 {
            let input = host.random_input(&mut rng, round == 3);
            let want = numbered(&before, host.run(old.clone(), &input));
            let have = numbered(&after, host.run(new.clone(), &input));
            host.same(&after, seed as usize, &want, &have);
        }
    }
}

/// Numbers of regions; more of them if the environment says so.
fn seeds(first: u64, n: u64) -> std::ops::Range<u64> {
    let n = std::env::var("SPMDVM_RANDOM_REGIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(n);
    first..first + n
}

/// The passes, each once.
fn each_pass() -> Vec<passes::Pass> {
    let mut seen = std::collections::HashSet::new();
    PASSES.iter().copied().filter(|p| seen.insert(p.0)).collect()
}

#[test]
fn no_pass_changes_what_a_region_does() {
    for (i, (name, pass)) in each_pass().into_iter().enumerate() {
        for lanes in [4, 16] {
            let seeds = seeds(i as u64 * 1000 + lanes as u64 * 100_000, 40);
            compare(lanes, seeds, random, |region, seed| {
                pass(region);
                check(region, name, seed);
            });
        }
    }
}

fn all_passes(region: &mut Region, seed: u64) {
    for (name, pass) in PASSES {
        pass(region);
        check(region, name, seed);
    }
}

#[test]
fn all_passes_together_change_nothing_either() {
    for lanes in [1, 8, 64] {
        compare(lanes, seeds(lanes as u64 * 10_000_000, 40), random, all_passes);
    }
}

#[test]
fn simplified_expressions_have_the_same_value() {
    for lanes in [1, 4, 16] {
        compare(lanes, seeds(lanes as u64 * 10_000_000, 60), trees, all_passes);
    }
}

/// What passes make of a region that computes something of registers `x y` (varying `i32`), `u` (uniform `i32`), `m n` (masks) and `p` (pointer to
/// an array of `i32`) and leaves it in registers: the instructions, but for what is read at entry, and the registers.
fn simplified(passes: &[&str], compute: impl FnOnce(&mut Builder, [Value; 6]) -> Vec<Value>) -> String {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let v = Type::varying(Ty::I32);
    let mut reg = |ty, i: usize| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty);
    let inputs = [reg(v, 0), reg(v, 1), reg(Type::uniform(Ty::I32), 0), reg(Type::MASK, 0), reg(Type::MASK, 1)];
    let p = b.constant(Ty::U64, host.pointer(Ty::I32));
    let [x, y, u, m, n] = inputs;
    let results = compute(&mut b, [x, y, u, m, n, p]);
    let places = results.iter().enumerate().map(|(i, &v)| (host.places(b.region.ty(v))[i], v)).collect();
    let out = b.exit(exit(&host, m, places, vec![]));
    b.end(End::Exit(out));
    let mut region = b.region;
    verify(&region).unwrap();
    for name in passes {
        let pass = PASSES.iter().find(|p| p.0 == *name).unwrap_or_else(|| panic!("no pass {name}"));
        pass.1(&mut region);
        check(&region, name, 0);
    }
    let text = region.to_string();
    let own = |l: &&str| l.starts_with("  ") && !l.contains("entry.") && !l.contains("const 0x1000");
    let lines = text.lines().take_while(|l| !l.starts_with("x0")).filter(own);
    let mut lines: Vec<&str> = lines.map(str::trim).collect();
    let state = text.lines().last().and_then(|l| l.split_once(';')).map_or("", |l| l.1.trim());
    lines.push(state);
    lines.join("\n")
}

#[track_caller]
fn folds(compute: impl FnOnce(&mut Builder, [Value; 6]) -> Vec<Value>, want: &str) {
    let have = simplified(&["fold", "gvn", "dead"], compute);
    let want = want.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(have, want, "\n{have}");
}

const I32: Ty = Ty::I32;

fn i32_(b: &mut Builder, x: i32) -> Value {
    b.constant(I32, x as u32 as u64)
}

#[test]
fn sums_of_constants_are_joined() {
    folds(
        |b, [x, ..]| {
            let (one, three) = (i32_(b, 1), i32_(b, 3));
            let s = b.op(Op::Add, I32, &[x, three]);
            let s = b.op(Op::Sub, I32, &[s, one]);
            vec![b.op(Op::Add, I32, &[one, s])]
        },
        "%7: i32 = const 0x3
         %8: v.i32 = add.i32 %0, %7
         exit x0
         r28=%8",
    );
}

#[test]
fn splats_are_seen_through() {
    folds(
        |b, [x, _, u, ..]| {
            let two = i32_(b, 2);
            let (two, u) =
                (b.inst(Kind::Splat, &[two], Type::varying(I32)), b.inst(Kind::Splat, &[u], Type::varying(I32)));
            let all_equal = b.op(Op::Mul, I32, &[two, u]);
            vec![b.op(Op::Xor, I32, &[all_equal, x])]
        },
        "%12: i32 = const 0x1
         %11: i32 = shl.i32 %2, %12
         %10: v.i32 = xor.i32 %11, %0
         exit x0
         r28=%10",
    );
}

#[test]
fn conversions_forth_and_back_disappear() {
    folds(
        |b, [x, _, u, ..]| {
            let convert = |b: &mut Builder, v: Value, from, ty| {
                let shape = b.region.ty(v).shape;
                b.inst(Kind::Op { op: Op::Convert, ty, from }, &[v], Type { shape, ty })
            };
            let wide = convert(b, x, I32, Ty::I64);
            let back = convert(b, wide, Ty::I64, I32);
            let short = convert(b, u, I32, Ty::I16);
            let float = convert(b, short, Ty::I16, Ty::I64);
            vec![back, convert(b, float, Ty::I64, Ty::F32)]
        },
        "%8: i16 = cvt.i16.i32 %2
         %10: f32 = cvt.f32.i16 %8
         exit x0
         r81=%10",
    );
}

#[test]
fn nested_selects_lose_the_arm_that_the_outer_mask_rules_out() {
    folds(
        |b, [x, y, _, m, n, _]| {
            let zero = i32_(b, 0);
            let both = b.op(Op::And, Ty::Bool, &[m, n]);
            let inner = b.op(Op::Select, I32, &[m, x, zero]);
            let other = b.op(Op::Not, Ty::Bool, &[m]);
            let outside = b.op(Op::Select, I32, &[other, inner, y]);
            vec![b.op(Op::Select, I32, &[both, inner, y]), outside]
        },
        "%6: i32 = const 0x0
         %7: v.bool = and.bool %3, %4
         %10: v.i32 = select.i32 %3, %1, %6
         %11: v.i32 = select.i32 %7, %0, %1
         exit x0
         r28=%11 r29=%10",
    );
}

#[test]
fn masks_obey_the_laws_of_sets() {
    folds(
        |b, [_, _, _, m, n, _]| {
            let not_n = b.op(Op::Not, Ty::Bool, &[n]);
            let (with, without) = (b.op(Op::And, Ty::Bool, &[m, n]), b.op(Op::And, Ty::Bool, &[m, not_n]));
            let nowhere = b.op(Op::And, Ty::Bool, &[with, not_n]);
            vec![b.op(Op::Or, Ty::Bool, &[with, without]), nowhere, b.op(Op::Or, Ty::Bool, &[with, n])]
        },
        "%12: bool = const 0x0
         %9: v.bool = splat %12
         exit x0
         r5=%9 r6=%4",
    );
}

#[test]
fn branches_and_guards_on_constants_are_decided() {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let m = b.inst(Kind::EntryReg { at: host.places(Type::MASK)[0].at }, &[], Type::MASK);
    let (yes, no) = (b.constant(Ty::Bool, 1), b.constant(Ty::Bool, 0));
    let (a, c) = (b.block(), b.block());
    let exits: Vec<_> = (0..3).map(|_| b.exit(exit(&host, m, vec![], vec![]))).collect();
    b.effect(Kind::Guard { exit: exits[0] }, &[yes]);
    b.branch(no, (a, &[]), (c, &[]));
    b.switch_to(a);
    b.end(End::Exit(exits[1]));
    b.switch_to(c);
    b.effect(Kind::Guard { exit: exits[2] }, &[no]);
    b.effect(Kind::Count(0), &[]);
    b.end(End::Exit(exits[1]));
    let mut region = b.region;
    all_passes(&mut region, 0);
    assert_eq!(region.blocks.len(), 1, "{region}");
    assert_eq!(region.blocks[0].insts.len(), 1, "{region}");
    assert_eq!(region.exits.len(), 1, "{region}");
}
