//! Random programs of the bytecode on every back end against the interpreter: traps with their whole call stack, prints,
//! memory and fuel must be the same, NaNs equal, whether loops are compiled at once, when hot, or left at random.
//!
//! `SPMDVM_SEEDS=1000..2000` chooses other seeds. A failure names its seed and shows the program.

use spmdvm_generate::{Options, arguments, elements, generate, mask};
use spmdvm_jit::abort::Abort;
use spmdvm_jit::{Jit, Settings, prepare};
use spmdvm_vm::asm::{Style, assemble, disassemble};
use spmdvm_vm::program::GlobalId;
use spmdvm_vm::{Arg, Limits, Machine, PreparedProgram, VerifiedProgram, Width, verify};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Seeds of an ordinary run.
const SEEDS: Range<u64> = 0..400;

/// Calls on one machine, so that compiled loops are entered again.
const CALLS: u64 = 3;

/// What can be seen of the calls of a program.
#[derive(Debug, PartialEq)]
struct Outcome {
    traps: Vec<Option<String>>,
    printed: String,
    globals: Vec<Vec<u64>>,
    fuel_used: Vec<u64>,
}

fn run(prepared: PreparedProgram, seed: u64, fuel: Option<u64>) -> Outcome {
    let program = Arc::new(prepared.program().clone());
    let main = program.function("main").unwrap();
    let mut machine = Machine::new(prepared, Limits { fuel, stack: 1 << 20, ..Limits::default() }).unwrap();
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&printed);
    machine.set_output(move |text| sink.lock().unwrap().push_str(text));
    let (mut traps, mut fuel_used) = (Vec::new(), Vec::new());
    for call in 0..CALLS {
        let words = arguments(seed + call, program.width);
        let args: Vec<Arg<'_>> = words.iter().map(|w| Arg::Words(w)).collect();
        let came = machine.call(main, &args, mask(seed + call, program.width));
        traps.push(came.err().map(|trap| format!("{trap:?}")));
        fuel_used.push(machine.fuel_used());
    }
    let globals = program.globals.iter().enumerate().map(|(i, g)| {
        let mut bytes = vec![0; g.size as usize];
        assert!(machine.memory().read_bytes(machine.global(GlobalId(i as u32)), &mut bytes));
        elements(&g.name, &bytes)
    });
    let globals = globals.collect();
    let printed = std::mem::take(&mut *printed.lock().unwrap());
    Outcome { traps, printed, globals, fuel_used }
}

fn program(seed: u64) -> VerifiedProgram {
    let width = Width::ALL[(seed / 5) as usize % Width::ALL.len()];
    let budget = 15 + (seed % 5) as u32 * 20;
    let options = Options { width, budget, trapping: !seed.is_multiple_of(2), printing: seed.is_multiple_of(4) };
    verify(generate(seed, &options)).unwrap()
}

/// How each back end compiles loops; over many programs every one does in every way. On this thread, so that it is the
/// same in each run.
fn modes(seed: u64) -> [(&'static str, Settings); 8] {
    let [eager, variants] = [Settings::eager(), Settings::eager_in_every_variant()];
    let stress = |settings: &Settings| Settings { stress: Some(seed), ..settings.clone() };
    let small = (seed % 7) as u32;
    // Everything that takes time to happen, soon.
    let soon =
        Settings { hot: small, trial: 3, hot_exit: 1, same_arguments: 2, background: false, ..Settings::default() };
    let observed = Settings { observe: 40 * small + 1, ..soon.clone() };
    let mut modes = [
        ("stress", stress(&eager)),
        ("every variant", variants.clone()),
        ("hot", Settings { observe: 0, calls: small, ..soon }),
        ("eager", eager),
        ("observed", observed),
        ("stress in every variant", stress(&variants)),
        ("links", Settings::eager_with_links(seed)),
        ("links in every variant, under stress", stress(&Settings { calls: 0, links: Some(seed), ..variants })),
    ];
    modes.rotate_left((seed / 35) as usize % 8);
    modes
}

/// What was compiled and how it was left, over all programs.
#[derive(Default)]
struct Seen {
    entries: u64,
    left: std::collections::HashMap<String, u64>,
}

impl Seen {
    fn add(&mut self, jit: &Jit) {
        let loops = jit.report();
        for why in loops.iter().flat_map(|l| [&l.aborted, &l.refused]).flatten() {
            // Interpreted, such loops do what they ought to, but back ends are to have code for whatever is recorded.
            assert!(!matches!(why, Abort::Backend(_) | Abort::Defect(_)), "{why}");
        }
        for version in loops.into_iter().flat_map(|l| l.versions) {
            self.entries += version.entries;
            for (exit, n) in version.exits {
                *self.left.entry(version.region.exits[exit.index()].reason.to_string()).or_default() += n;
            }
        }
    }
}

fn compare(program: &VerifiedProgram, seed: u64, fuel: Option<u64>, seen: &mut Seen) -> Outcome {
    let wanted = run(program.clone().into(), seed, fuel);
    for (engine, (mode, settings)) in ["clif", "ir", "x86"].into_iter().zip(modes(seed)) {
        let Ok((prepared, jit)) = prepare(program, engine, settings) else { continue };
        let given = run(prepared, seed, fuel);
        if given != wanted {
            let differ = wanted.globals.iter().zip(&given.globals).position(|(a, b)| a != b);
            let global = differ.map_or("none", |i| &program.globals[i].name);
            let text = disassemble(program, Style::Human);
            let [given, wanted] = [given, wanted].map(|o| (o.traps, o.printed, o.fuel_used));
            panic!(
                "seed {seed}, fuel {fuel:?}, width {}, `{engine}`, {mode}: global that differs: {global}\n\
                     came     {given:?}\nexpected {wanted:?}\n{text}",
                program.width
            );
        }
        seen.add(&jit);
    }
    wanted
}

fn seeds() -> Range<u64> {
    let chosen = std::env::var("SPMDVM_SEEDS").ok();
    let parsed = chosen.and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    parsed.unwrap_or(SEEDS)
}

#[test]
fn every_back_end_agrees_with_the_interpreter() {
    let mut seen = Seen::default();
    let mut trapped = 0;
    for seed in seeds() {
        trapped += compare(&program(seed), seed, None, &mut seen).traps.iter().any(Option::is_some) as u64;
    }
    let n = seeds().count() as u64;
    println!(
        "{n} programs, of which {trapped} trapped; regions entered {} times and left by {:?}",
        seen.entries, seen.left
    );
    assert!(seen.entries > 2 * n && seen.left.len() > 5, "{:?}", seen.left);
}

#[test]
fn fuel_runs_out_at_the_same_instruction() {
    let (mut seen, mut stopped) = (Seen::default(), 0);
    for seed in seeds().step_by(10) {
        let program = program(seed);
        for fuel in [1, 2, 5, 17, 40] {
            let traps = compare(&program, seed, Some(fuel), &mut seen).traps;
            stopped += traps.iter().flatten().any(|t| t.contains("OutOfFuel")) as u32;
        }
    }
    assert!(stopped > 5, "fuel ran out only {stopped} times");
}

/// One lane goes round; where it does not take an arm, the end of that arm is reached without a lane.
const WITHOUT_LANES: &str = ".width 4
func main() -> (u3) {
  const u0:i32 = 0
  const u1:i32 = 1
  const u2:i32 = 9
  const u11:u64 = 0
  var u3:u64, u4:i32, u5:u64, v6:bool, v7:i32, v8:bool, v9:bool, v10:i32
  u3 = mov.u64 u11
  u4 = mov.i32 u0
  v7 = iota
  v10 = iota
  loop.begin
L1:
  v8 = lt.i32 v7, u0
  mask.if v8, L2
  v10 = assign.i32 u4
L2:
  v6 = mask.get
  mask.else L3
  u5 = packmask v6
  u3 = add.u64 u3, u5
L3:
  mask.endif L4
  u4 = add.i32 u4, u1
  v10 = mov.i32 u4
  v9 = lt.i32 v10, u2
  loop.test v9, L4
  loop.back L1
L4:
  loop.end L5
L5:
  ret
}
";

#[test]
fn no_lane_is_active_behind_an_arm_that_the_only_one_does_not_take() {
    let program = verify(assemble(WITHOUT_LANES).unwrap()).unwrap();
    let compiled = ["ir", "clif", "x86"].into_iter().filter_map(|engine| {
        let (prepared, jit) = prepare(&program, engine, Settings::eager_in_every_variant()).ok()?;
        Some((prepared, Some(jit)))
    });
    for (prepared, jit) in std::iter::once((program.clone().into(), None)).chain(compiled) {
        let main = prepared.program().function("main").unwrap();
        let mut machine = Machine::new(prepared, Limits::default()).unwrap();
        for _ in 0..4 {
            assert_eq!(machine.call(main, &[], 0b100).unwrap().word(0, 0), 0);
        }
        let entered = jit.iter().flat_map(|jit| jit.report()).flat_map(|l| l.versions).map(|v| v.entries).sum::<u64>();
        assert!(jit.is_none() || entered > 0);
    }
}

/// A call whose result nobody reads, in a register of which the value from before lives on in another.
const DEAD_RESULT: &str = ".width 4
func g(v0:i32, u1:i32) -> (v2) {
  const u3:i32 = 0
  const u5:i32 = 3
  const u7:i32 = 1
  var v2:i32, u4:bool, v6:i32, v8:i32, u9:i32, v10:i32
  v2 = mov.i32 u3
  u4 = le.i32 u1, u3
  br.false u4, L6
  v6 = mul.i32 v0, u5
  v2 = assign.i32 v6
  jmp L11
L6:
  v8 = add.i32 v0, u7
  u9 = sub.i32 u1, u7
  v10 = call g(v8, u9)
  v2 = assign.i32 v10
L11:
  ret
}
func main(u0:i32) -> (u9) {
  const u2:i32 = 0
  const u3:i32 = 1
  const u4:i32 = 6
  var u5:i32, v6:i32, v7:i32, v8:i32, v10:i32, u9:i32, u1:bool
  v10 = iota
  v6 = add.i32 v10, u4
  v8 = mov.i32 u2
  u5 = mov.i32 u2
  jmp L9
L4:
  v7 = mov.i32 v6
  v6 = call g(v7, u4)
  v6 = mov.i32 v7
  v8 = add.i32 v8, v6
  u5 = add.i32 u5, u3
L9:
  u1 = lt.i32 u5, u0
  br.true u1, L4
  v8 = add.i32 v8, v6
  u9 = reduce.add.i32 v8
  ret
}
";

#[test]
fn calls_write_results_that_nobody_reads() {
    let program = verify(assemble(DEAD_RESULT).unwrap()).unwrap();
    let call = |prepared: PreparedProgram| {
        let main = prepared.program().function("main").unwrap();
        let mut machine = Machine::new(prepared, Limits::default()).unwrap();
        [(); 3].map(|()| machine.call(main, &[Arg::Word(70)], 0b1111).unwrap().word(0, 0))
    };
    let expected = call(program.clone().into());
    for engine in ["ir", "clif", "x86"] {
        for seed in 0..40 {
            let Ok((prepared, _)) = prepare(&program, engine, Settings::eager_with_links(seed)) else { continue };
            assert_eq!(call(prepared), expected, "{engine}, seed {seed}");
        }
    }
}
