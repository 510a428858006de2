//! Calls executed step by step: the same as calls at once, wherever they are set back.

use spmdvm_generate::{Options, arguments, generate, mask};
use spmdvm_vm::builder::FunctionBuilder;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Global, Inst, LAUNCH_COUNTS, List, Program, Reg};
use spmdvm_vm::trap::{Trap, TrapKind};
use spmdvm_vm::types::{Shape, Ty, Width};
use spmdvm_vm::verify::verify;
use spmdvm_vm::{Arg, Limits, Machine, Snapshot, Stepping};
use std::sync::{Arc, Mutex};

/// Random numbers (xorshift*; Marsaglia, 2003, and Vigna, 2016).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % n
    }
}

/// What can be relied on at a position: where it is, masks, what the next instruction reads, and the globals.
fn state(stepping: &Stepping<'_>) -> String {
    let globals = globals(stepping.machine());
    let Some(view) = stepping.view() else { return format!("{:?} {globals:x}", stepping.end()) };
    let read: Vec<_> = view.inst().src.into_iter().filter(|r| !r.is_none()).map(|r| view.register(r)).collect();
    let at = (view.function_id(), view.pc(), view.depth(), view.mask(), view.task());
    format!("{at:?} {:?} {read:?} {globals:x} {:?}", view.mask_stack(), stepping.end())
}

/// A hash of the bytes of all globals and of what is left to be allocated.
fn globals(machine: &Machine) -> u64 {
    let mut hash = machine.memory().available();
    for index in 0..machine.program().globals.len() {
        let mut bytes = vec![0; machine.program().globals[index].size as usize];
        machine.memory().read_bytes(machine.global(spmdvm_vm::GlobalId(index as u32)), &mut bytes);
        hash = bytes.iter().fold(hash, |hash, &b| (hash ^ b as u64).wrapping_mul(0x100_0000_01b3));
    }
    hash
}

/// Executes a call to its end, with the state at every position.
fn states(stepping: &mut Stepping<'_>) -> Vec<String> {
    let mut all = vec![state(stepping)];
    while stepping.end().is_none() {
        stepping.run(1);
        // A trap comes where the instruction has done nothing.
        all.truncate(stepping.position() as usize);
        all.push(state(stepping));
    }
    all
}

/// Goes to random positions through snapshots at others, and compares.
fn hop(stepping: &mut Stepping<'_>, first: Snapshot, seed: u64) -> usize {
    let expected = states(stepping);
    let last = expected.len() as u64 - 1;
    let mut random = Random::new(seed);
    let mut snapshots = vec![first];
    for _ in 0..12 {
        let to = random.below(last + 1);
        let from = snapshots.iter().filter(|snapshot| snapshot.position() <= to).max_by_key(|s| s.position());
        let from = from.expect("the one at the start");
        stepping.restore(from).unwrap();
        while stepping.position() < to {
            stepping.run(to - stepping.position());
        }
        if to < last {
            assert_eq!(state(stepping), expected[to as usize], "position {to} of {last}");
        }
        let nearest = stepping.snapshot(Some(from));
        snapshots.extend(nearest);
    }
    let from = random.below(snapshots.len() as u64) as usize;
    stepping.restore(&snapshots[from]).unwrap();
    stepping.run(u64::MAX);
    assert_eq!(state(stepping), expected[last as usize]);
    expected.len()
}

#[test]
fn random_programs_are_the_same_wherever_they_are_set_back() {
    let (mut positions, mut traps) = (0, 0);
    for seed in 0..60 {
        let width = Width::ALL[seed as usize % Width::ALL.len()];
        let options = Options { width, trapping: seed % 2 == 0, budget: 80, ..Options::default() };
        let program = generate(seed, &options);
        // Clocks give what they like.
        if program.functions.iter().any(|f| f.code.iter().any(|inst| inst.op == Op::Clock)) {
            continue;
        }
        let main = program.function("main").unwrap();
        let args = arguments(seed, width);
        let args: Vec<Arg<'_>> = args.iter().map(|words| Arg::Words(words)).collect();
        let limits = Limits { fuel: Some(if seed % 3 == 0 { 30 } else { 3000 }), ..Limits::default() };
        let verified = verify(program).unwrap();
        let mut whole = Machine::new(verified.clone(), limits).unwrap();
        whole.set_output(|_| ());
        let ended: Result<(), Trap> = whole.call(main, &args, mask(seed, width)).map(drop);
        let mut machine = Machine::new(verified, limits).unwrap();
        machine.set_output(|_| ());
        let mut stepping = machine.begin(main, &args, mask(seed, width)).unwrap();
        let start = stepping.snapshot(None).unwrap();
        positions += hop(&mut stepping, start, seed);
        assert_eq!(stepping.end(), Some(&ended), "seed {seed}");
        assert_eq!(globals(stepping.machine()), globals(&whole), "seed {seed}");
        traps += ended.is_err() as usize;
        drop(stepping);
        // The machine is as good as ever.
        let again = whole.call(main, &args, mask(seed, width)).map(drop);
        assert_eq!(machine.call(main, &args, mask(seed, width)).map(drop), again);
    }
    assert!(positions > 5_000 && traps > 3, "{positions} positions, {traps} traps");
}

/// `inner(i)` adds to a global; `outer` launches three of them; the function launches two of these.
fn nested_tasks(trapping: bool) -> Program {
    let call = |b: &mut FunctionBuilder, function: u32, args: &[Reg]| {
        let list: List = b.list(args);
        b.push(Inst { aux: function, args: list, ..Inst::new(Op::Launch, Ty::Bool) });
    };
    let mut inner = FunctionBuilder::new("inner");
    inner.set_task();
    let params: Vec<Reg> = (0..6).map(|i| inner.param(Shape::Uniform, Ty::I32, &format!("t{i}"))).collect();
    let x = inner.param(Shape::Uniform, Ty::I32, "x");
    let address = inner.reg(Shape::Uniform, Ty::U64);
    inner.push(Inst { dst: address, ..Inst::new(Op::GlobalAddr, Ty::U64) });
    let ten = inner.constant(Ty::I32, 10);
    let old = inner.reg(Shape::Uniform, Ty::I32);
    inner.push(Inst { dst: old, src: [address, Reg::NONE, Reg::NONE], ..Inst::new(Op::Load, Ty::I32) });
    let scaled = inner.binary(Op::Mul, Ty::I32, old, ten);
    let mut sum = inner.binary(Op::Add, Ty::I32, scaled, params[0]);
    sum = inner.binary(Op::Add, Ty::I32, sum, x);
    if trapping {
        let two = inner.constant(Ty::I32, 2);
        let rest = inner.binary(Op::Sub, Ty::I32, two, params[0]);
        sum = inner.binary(Op::IDiv, Ty::I32, sum, rest);
    }
    inner.push(Inst { src: [address, Reg::NONE, sum], ..Inst::new(Op::Store, Ty::I32) });
    inner.ret();
    let mut outer = FunctionBuilder::new("outer");
    outer.set_task();
    let params: Vec<Reg> = (0..6).map(|i| outer.param(Shape::Uniform, Ty::I32, &format!("t{i}"))).collect();
    let [one, three] = [1, 3].map(|n| outer.constant(Ty::I32, n));
    call(&mut outer, 0, &[three, one, one, params[0]]);
    outer.ret();
    let mut main = FunctionBuilder::new("main");
    let [one, two] = [1, 2].map(|n| main.constant(Ty::I32, n));
    call(&mut main, 1, &[two, one, one]);
    main.ret();
    let functions = vec![inner.finish(), outer.finish(), main.finish()];
    let global =
        Global { name: "g".into(), size: 4, init: Vec::new(), constant: false, relocations: Vec::new(), host: None };
    Program { functions, globals: vec![global], ..Program::default() }
}

#[test]
fn tasks_within_tasks_are_levels() {
    assert_eq!(LAUNCH_COUNTS, 3);
    for trapping in [false, true] {
        let verified = verify(nested_tasks(trapping)).unwrap();
        let mut whole = Machine::new(verified.clone(), Limits::default()).unwrap();
        let ended = whole.call(FuncId(2), &[], 1).map(drop);
        let mut machine = Machine::new(verified, Limits::default()).unwrap();
        let mut stepping = machine.begin(FuncId(2), &[], 1).unwrap();
        let start = stepping.snapshot(None).unwrap();
        let n = hop(&mut stepping, start, 5);
        assert!(n > 20, "{n}");
        assert_eq!(stepping.end(), Some(&ended));
        assert_eq!(globals(stepping.machine()), globals(&whole));
        if let Err(trap) = &ended {
            assert_eq!((trap.kind, trap.stack.len()), (TrapKind::DivisionByZero, 3));
            assert_eq!(stepping.view().unwrap().inst().op, Op::IDiv);
        }
    }
}

#[test]
fn a_clock_is_told_of() {
    let mut b = FunctionBuilder::new("f");
    let t = b.reg(Shape::Uniform, Ty::U64);
    b.push(Inst { dst: t, ..Inst::new(Op::Clock, Ty::U64) });
    b.result(t);
    b.ret();
    let program = Program { functions: vec![b.finish()], ..Program::default() };
    let mut machine = Machine::new(verify(program).unwrap(), Limits::default()).unwrap();
    let mut stepping = machine.begin(FuncId(0), &[], 1).unwrap();
    assert!(stepping.run(10));
    assert_eq!(stepping.position(), 1);
    let behind = stepping.snapshot(None).unwrap();
    let read = stepping.view().unwrap().register(t);
    assert!(!stepping.run(10));
    stepping.restore(&behind).unwrap();
    assert_eq!(stepping.view().unwrap().register(t), read);
    stepping.run(10);
    assert_eq!(stepping.results().unwrap().word(0, 0), read.words[0]);
}

#[test]
fn nothing_executes_under_an_empty_mask_and_prints_come_once_per_execution() {
    let program = generate(1, &Options::default());
    let main = program.function("main").unwrap();
    let args = arguments(1, program.width);
    let args: Vec<Arg<'_>> = args.iter().map(|words| Arg::Words(words)).collect();
    let mut machine = Machine::new(verify(program).unwrap(), Limits::default()).unwrap();
    let printed = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&printed);
    machine.set_output(move |text| sink.lock().unwrap().push_str(text));
    let stepping = machine.begin(main, &args, 0).unwrap();
    assert!(matches!(stepping.end(), Some(Ok(()))) && stepping.view().is_none());
    drop(stepping);
    machine.call(main, &args, !0).map(drop).unwrap();
    let once = std::mem::take(&mut *printed.lock().unwrap());
    let mut stepping = machine.begin(main, &args, !0).unwrap();
    stepping.run(u64::MAX);
    assert_eq!(*printed.lock().unwrap(), once);
}
