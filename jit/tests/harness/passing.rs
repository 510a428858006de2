//! Regions before and after passes: as text, and by what they do.

use super::values::Rng;
use super::{Host, Outcome, exit};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, End, ExitReason, Kind, Region, Type, Value, verify};
use spmdvm_jit::passes::PASSES;
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};
use std::sync::Arc;

/// Gives every exit a name of its own: passes renumber them.
pub fn name_exits(region: &mut Region) {
    for (i, exit) in region.exits.iter_mut().enumerate() {
        exit.reason = ExitReason::Numbered(i as u32);
    }
}

/// The number that an exit had, and the fuel that is left when what was counted in advance is given back.
pub fn numbered(region: &Region, mut outcome: Outcome) -> Outcome {
    let exit = &region.exits[outcome.exit as usize];
    let ExitReason::Numbered(n) = exit.reason else { panic!("exits have numbers") };
    outcome.exit = n;
    outcome.ticks += i64::from(exit.fuel);
    outcome
}

/// Returns whether a region has been left where the fuel of several places is counted at once, and there was too little:
/// the interpreter finds out how far it gets.
pub fn leaves_early(region: &Region, exit: u32) -> bool {
    let insts = region.blocks.iter().flat_map(|block| &block.insts);
    insts.into_iter().any(|inst| matches!(inst.kind, Kind::Tick { units: 2.., exit: e } if e.0 == exit))
}

pub fn check(region: &Region, after: &str, seed: u64) {
    verify(region).unwrap_or_else(|e| panic!("seed {seed}, after {after}: {e}\n{region}"));
}

/// Runs regions before and after some passes.
pub fn compare(
    width: u32,
    seeds: std::ops::Range<u64>,
    make: fn(&Host, u64) -> Region,
    apply: impl Fn(&mut Region, u64),
) {
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
            let have = host.run(new.clone(), &input);
            if leaves_early(&after, have.exit) {
                continue;
            }
            host.same(&after, seed as usize, &want, &numbered(&after, have));
        }
    }
}

/// Numbers of regions; more of them if the environment says so.
pub fn seeds(first: u64, n: u64) -> std::ops::Range<u64> {
    let n = std::env::var("SPMDVM_RANDOM_REGIONS").ok().and_then(|n| n.parse().ok()).unwrap_or(n);
    first..first + n
}

/// What passes make of a region that computes something of registers `x y` (varying `i32`), `u` (uniform `i32`), `m n`
/// (masks) and `p` (pointer to an array of `i32`) and leaves it in registers: the instructions, but for what is read at
/// entry, and the registers.
pub fn simplified(passes: &[&str], compute: impl FnOnce(&mut Builder, [Value; 6]) -> Vec<Value>) -> String {
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
        run_pass(name, &mut region);
    }
    let text = region.to_string();
    let own = |l: &&str| l.starts_with("  ") && !l.contains("entry.") && !l.contains("const 0x1000");
    let lines = text.lines().take_while(|l| !l.starts_with("x0")).filter(own);
    let mut lines: Vec<&str> = lines.map(str::trim).collect();
    let state = text.lines().last().and_then(|l| l.split_once(';')).map_or("", |l| l.1.trim());
    lines.push(state);
    lines.join("\n")
}

/// [`simplified`] must give this text, whatever its lines are indented by.
#[track_caller]
pub fn becomes(passes: &[&str], compute: impl FnOnce(&mut Builder, [Value; 6]) -> Vec<Value>, want: &str) {
    let have = simplified(passes, compute);
    let want = want.trim().lines().map(str::trim).collect::<Vec<_>>().join("\n");
    assert_eq!(have, want, "\n{have}");
}

pub fn run_pass(name: &str, region: &mut Region) {
    let pass = PASSES.iter().find(|p| p.0 == name).unwrap_or_else(|| panic!("no pass {name}"));
    pass.1(region);
    check(region, name, 0);
}

/// The type of most values.
pub const I32: Ty = Ty::I32;

/// A constant of it.
pub fn i32_(b: &mut Builder, x: i32) -> Value {
    b.constant(I32, x as u32 as u64)
}

/// A value in another type.
pub fn cast(b: &mut Builder, v: Value, from: Ty, ty: Ty) -> Value {
    b.inst(Kind::Op { op: Op::Convert, ty, from }, &[v], Type::varying(ty))
}
