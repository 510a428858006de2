//! Random programs on the interpreter and on the oracle: every instruction reached, every register written, every print,
//! all memory and every trap must be the same. NaNs are equal to each other.
//!
//! `SPMDVM_SEEDS=1000..2000` chooses other seeds; a failure names its seed and the first instruction that differs.

mod oracle;

use oracle::{Event, Oracle, comparable, comparable_bits};
use spmdvm_generate::{NOT_GENERATED, Options, arguments, elements, generate, mask};
use spmdvm_vm::asm::{Style, disassemble};
use spmdvm_vm::observe::{Observer, View};
use spmdvm_vm::program::{FuncId, GlobalId};
use spmdvm_vm::{Arg, Limits, Machine, OPS, Program, Trap, Ty, VerifiedProgram, Width, sem, verify};
use std::sync::{Arc, Mutex};

/// Seeds of an ordinary run.
const SEEDS: std::ops::Range<u64> = 0..400;

/// Makes the NaNs of a type one.
fn canonical(ty: Ty, word: u64) -> u64 {
    sem::bitcast(ty, word)
}

/// Records what the interpreter does.
struct Recorder {
    events: Arc<Mutex<Vec<Event>>>,
}

impl Observer for Recorder {
    fn before(&mut self, view: &View<'_>) {
        let event = Event::At(view.function_id().0, view.pc(), view.mask(), view.mask_depth());
        self.events.lock().unwrap().push(event);
    }

    fn after(&mut self, view: &View<'_>) {
        let inst = view.inst();
        if !inst.dst.is_none() && comparable(inst.op) {
            let value = view.register(inst.dst);
            let words = value.words.iter().map(|&w| comparable_bits(inst.op, w)).collect();
            self.events.lock().unwrap().push(Event::Wrote(value.ty, words));
        }
    }
}

/// The end of a run: the trap (kind, lane, function, instruction), events, globals, fuel used.
struct Outcome {
    trap: Option<(&'static str, Option<usize>, u32, usize)>,
    events: Vec<Event>,
    globals: Vec<Vec<u8>>,
    fuel_used: u64,
}

fn interpret(program: &VerifiedProgram, main: FuncId, seed: u64, fuel: Option<u64>) -> Outcome {
    let events = Arc::new(Mutex::new(Vec::new()));
    let mut machine = Machine::new(program.clone(), Limits { fuel, stack: 1 << 20, ..Limits::default() }).unwrap();
    let printed = Arc::clone(&events);
    machine.set_output(move |text| printed.lock().unwrap().push(Event::Printed(text.into())));
    let words = arguments(seed, program.width);
    let args: Vec<Arg<'_>> = words.iter().map(|w| Arg::Words(w)).collect();
    let mut recorder = Recorder { events: Arc::clone(&events) };
    let result = machine.call_observed(main, &args, mask(seed, program.width), &mut recorder).map(drop);
    let place = |t: Trap| {
        let (function, pc) = (t.function().map_or(0, |f| f.0), t.pc().unwrap_or(0) as usize);
        (t.kind.name(), t.lane.map(|l| l as usize), function, pc)
    };
    let globals = program.globals.iter().enumerate().map(|(i, g)| {
        let mut bytes = vec![0; g.size as usize];
        assert!(machine.memory().read_bytes(machine.global(GlobalId(i as u32)), &mut bytes));
        bytes
    });
    let globals = globals.collect();
    let fuel_used = machine.fuel_used();
    let events = std::mem::take(&mut *events.lock().unwrap());
    Outcome { trap: result.err().map(place), events, globals, fuel_used }
}

fn judge(program: &Program, main: FuncId, seed: u64, fuel: Option<u64>) -> Outcome {
    let mut oracle = Oracle::new(program, fuel.unwrap_or(u64::MAX));
    let bits = mask(seed, program.width);
    let mask = (0..program.width.lanes()).map(|l| bits >> l & 1 != 0).collect();
    let result = oracle.call(main, arguments(seed, program.width).into(), mask);
    let globals = (0..program.globals.len()).map(|i| oracle.global(GlobalId(i as u32)).to_vec()).collect();
    let trap = result.err().map(|t| (t.kind.name(), t.lane, t.function, t.pc));
    Outcome { trap, events: oracle.events, globals, fuel_used: oracle.fuel_used }
}

fn same(a: &Event, b: &Event) -> bool {
    match (a, b) {
        (Event::Wrote(t, a), Event::Wrote(u, b)) => {
            t == u && a.len() == b.len() && a.iter().zip(b).all(|(&a, &b)| canonical(*t, a) == canonical(*t, b))
        }
        _ => a == b,
    }
}

/// Runs a program on both and panics with the first difference.
fn compare(program: &VerifiedProgram, seed: u64, fuel: Option<u64>) -> Outcome {
    let main = program.function("main").unwrap();
    let (given, wanted) = (interpret(program, main, seed, fuel), judge(program, main, seed, fuel));
    let differs = given.events.iter().zip(&wanted.events).position(|(a, b)| !same(a, b));
    let shorter = given.events.len().min(wanted.events.len());
    let differs = differs.or((given.events.len() != wanted.events.len()).then_some(shorter));
    if let Some(at) = differs {
        let place = wanted.events[..(at + 1).min(wanted.events.len())].iter().rev().find_map(|e| match e {
            Event::At(f, pc, ..) => Some((*f as usize, *pc as usize)),
            _ => None,
        });
        let (f, pc) = place.unwrap_or((0, 0));
        panic!(
            "seed {seed}, width {}: event {at} differs at instruction {pc} of `{}`: {:?}\ninterpreter: {:?}\noracle: {:?}\n{}",
            program.width,
            program.functions[f].name,
            program.functions[f].code[pc],
            given.events.get(at),
            wanted.events.get(at),
            disassemble(program, Style::Human)
        );
    }
    assert_eq!(given.trap, wanted.trap, "seed {seed}: traps differ");
    assert_eq!(given.fuel_used, wanted.fuel_used, "seed {seed}: fuel differs");
    for (i, g) in program.globals.iter().enumerate() {
        let (a, b) = (elements(&g.name, &given.globals[i]), elements(&g.name, &wanted.globals[i]));
        assert_eq!(a, b, "seed {seed}: global `{}` differs", g.name);
    }
    given
}

fn seeds() -> std::ops::Range<u64> {
    let chosen = std::env::var("SPMDVM_SEEDS").ok();
    let parsed = chosen.and_then(|text| {
        let (from, to) = text.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    parsed.unwrap_or(SEEDS)
}

fn program(seed: u64) -> VerifiedProgram {
    let width = Width::ALL[seed as usize % Width::ALL.len()];
    let budget = 20 + (seed % 5) as u32 * 60;
    let options = Options { width, budget, trapping: seed % 2 == 1, printing: seed % 4 < 3 };
    verify(generate(seed, &options)).unwrap()
}

#[test]
fn the_interpreter_agrees_with_the_oracle() {
    let (mut trapped, mut finished) = (0, 0);
    let mut executed = vec![false; OPS.len()];
    for seed in seeds() {
        let program = program(seed);
        let outcome = compare(&program, seed, None);
        *if outcome.trap.is_some() { &mut trapped } else { &mut finished } += 1;
        for event in outcome.events {
            if let Event::At(f, pc, ..) = event {
                executed[program.functions[f as usize].code[pc as usize].op as usize] = true;
            }
        }
    }
    let expected = OPS.iter().filter(|row| !NOT_GENERATED.contains(&row.op));
    let missing: Vec<&str> = expected.filter(|row| !executed[row.op as usize]).map(|row| row.name).collect();
    assert!(missing.is_empty() || seeds() != SEEDS, "never executed: {missing:?}");
    assert!(finished > trapped, "{trapped} of {} programs trap: too many to learn from", trapped + finished);
}

#[test]
fn fuel_runs_out_at_the_same_instruction() {
    let mut stopped = 0;
    for seed in seeds().take(60) {
        let program = program(seed);
        for fuel in [0, 1, 2, 5, 17, 40] {
            stopped += compare(&program, seed, Some(fuel)).trap.is_some_and(|t| t.0 == "out_of_fuel") as u32;
        }
    }
    assert!(stopped > 20, "fuel ran out only {stopped} times");
}
