//! Tasks in thousands of orders: the model checker runs launches, waits, traps, fuel and memory of tasks with their
//! threads switched at every lock and every access to what they share, and each order must end as one thread does.
//!
//! `make model-check` runs it (feature `shuttle`, without which this is empty). `SPMDVM_ORDERS` says how many orders
//! are tried of each program. Orders that only weak memory allows are not among them.
#![cfg(feature = "shuttle")]

use spmdvm_vm::program::{FuncId, Global, GlobalId, Inst, LAUNCH_COUNTS, TASK_PARAMS};
use spmdvm_vm::{
    Function, FunctionBuilder, Limits, Machine, Op, PreparedProgram, Program, Reg, Shape, Ty, Width, verify,
};

/// How many orders of each program are tried at random, and as many again with few changes of threads.
fn orders() -> usize {
    std::env::var("SPMDVM_ORDERS").ok().and_then(|n| n.parse().ok()).unwrap_or(1000)
}

const NONE: Reg = Reg::NONE;

fn task(name: &str, body: impl FnOnce(&mut FunctionBuilder, Reg)) -> Function {
    let mut b = FunctionBuilder::new(name);
    let index = b.param(Shape::Uniform, Ty::I32, "");
    for _ in 1..TASK_PARAMS {
        b.param(Shape::Uniform, Ty::I32, "");
    }
    b.set_task();
    body(&mut b, index);
    b.ret();
    b.finish()
}

/// Adds one to the global.
fn count(b: &mut FunctionBuilder) {
    let at = b.reg(Shape::Uniform, Ty::U64);
    b.push(Inst { dst: at, ..Inst::new(Op::GlobalAddr, Ty::U64) });
    let one = b.constant(Ty::I32, 1);
    let old = b.reg(Shape::Uniform, Ty::I32);
    b.push(Inst { dst: old, src: [at, one, NONE], ..Inst::new(Op::AtomicAdd, Ty::I32) });
}

fn launch(b: &mut FunctionBuilder, n: u64, function: u32) {
    let (n, one) = (b.constant(Ty::I32, n), b.constant(Ty::I32, 1));
    let mut counts = [one; LAUNCH_COUNTS];
    counts[0] = n;
    let args = b.list(&counts);
    b.push(Inst { args, aux: function, ..Inst::new(Op::Launch, Ty::Bool) });
}

/// Traps in the task of this index.
fn fail_in(b: &mut FunctionBuilder, index: Reg, failing: u64) {
    let failing = b.constant(Ty::I32, failing);
    let ok = b.binary(Op::Ne, Ty::I32, index, failing);
    b.push(Inst { src: [ok, NONE, NONE], ..Inst::new(Op::Assert, Ty::Bool) });
}

fn allocate_and_free(b: &mut FunctionBuilder) {
    let bytes = b.constant(Ty::I64, 24);
    for _ in 0..3 {
        let p = b.reg(Shape::Uniform, Ty::U64);
        b.push(Inst { dst: p, src: [bytes, NONE, NONE], ..Inst::new(Op::Alloc, Ty::U64) });
        let one = b.constant(Ty::I32, 1);
        b.push(Inst { src: [p, NONE, one], from: Ty::I32, ..Inst::new(Op::Store, Ty::I32) });
        b.push(Inst { src: [p, NONE, NONE], ..Inst::new(Op::Free, Ty::Bool) });
    }
}

/// A program whose first function launches tasks of the second, and the others.
fn program(main: impl FnOnce(&mut FunctionBuilder), tasks: Vec<Function>) -> PreparedProgram {
    let mut b = FunctionBuilder::new("main");
    main(&mut b);
    b.ret();
    let functions = std::iter::once(b.finish()).chain(tasks).collect();
    let global =
        Global { name: "g".into(), size: 8, init: Vec::new(), constant: false, relocations: Vec::new(), host: None };
    let messages = vec!["failed".into()];
    let program = Program {
        width: Width::new(4).expect("a width"),
        functions,
        globals: vec![global],
        messages,
        ..Program::default()
    };
    verify(program).unwrap_or_else(|errors| panic!("{errors:#?}")).into()
}

/// How two calls end: traps, and the global.
fn run(program: &PreparedProgram, fuel: Option<u64>, threads: usize) -> Vec<(Option<String>, Option<u32>)> {
    let limits = Limits { fuel, threads, stack: 1 << 16, ..Limits::default() };
    let mut machine = Machine::new(program.clone(), limits).expect("a machine");
    (0..2)
        .map(|_| {
            let trap = machine.call(FuncId(0), &[], u64::MAX).err().map(|trap| trap.to_string());
            let mut g = [0; 4];
            assert!(machine.memory().read_bytes(machine.global(GlobalId(0)), &mut g));
            // What tasks behind one that fails have done depends on the order.
            let g = trap.is_none().then(|| u32::from_le_bytes(g));
            (trap, g)
        })
        .collect()
}

/// Every order ends as one thread does.
fn check(program: PreparedProgram, fuel: Option<u64>) {
    let expected = std::sync::OnceLock::new();
    let expected: &'static _ = Box::leak(Box::new(expected));
    let test = move || {
        let one = || run(&program, fuel, 1);
        let wanted = expected.get_or_init(one);
        assert_eq!(run(&program, fuel, 3), *wanted);
    };
    shuttle::check_random(test.clone(), orders());
    shuttle::check_pct(test, orders(), 3);
}

#[test]
fn tasks_are_done_when_they_have_been_waited_for() {
    let leaf = task("leaf", |b, _| count(b));
    check(program(|b| launch(b, 4, 1), vec![leaf]), None);
}

#[test]
fn several_launches_at_once_and_within_each_other() {
    let node = task("node", |b, _| {
        launch(b, 2, 2);
        count(b);
    });
    let leaf = task("leaf", |b, _| count(b));
    let main = |b: &mut FunctionBuilder| {
        launch(b, 3, 1);
        launch(b, 2, 2);
        b.plain(Op::Sync);
        launch(b, 1, 1);
    };
    check(program(main, vec![node, leaf]), None);
}

#[test]
fn the_failure_with_the_lowest_index_counts() {
    let leaf = task("leaf", |b, index| {
        count(b);
        fail_in(b, index, 2);
        fail_in(b, index, 3);
    });
    check(program(|b| launch(b, 5, 1), vec![leaf]), None);
}

#[test]
fn failures_within_launches_of_tasks() {
    let node = task("node", |b, index| {
        launch(b, 2, 2);
        fail_in(b, index, 1);
    });
    let leaf = task("leaf", |b, index| {
        allocate_and_free(b);
        fail_in(b, index, 1);
    });
    check(program(|b| launch(b, 3, 1), vec![node, leaf]), None);
}

#[test]
fn fuel_is_one_budget() {
    let leaf = task("leaf", |b, _| count(b));
    // Five tasks, a unit each.
    for fuel in [4, 5] {
        let leaf = leaf.clone();
        let program = program(|b| launch(b, 5, 1), vec![leaf]);
        let test = move || {
            let ends = run(&program, Some(fuel), 3);
            assert_eq!(ends[0].0.is_none(), fuel == 5, "{ends:?}");
        };
        shuttle::check_random(test.clone(), orders());
        shuttle::check_pct(test, orders(), 3);
    }
}

#[test]
fn memory_is_freed_while_others_look() {
    let leaf = task("leaf", |b, _| {
        allocate_and_free(b);
        count(b);
    });
    check(program(|b| launch(b, 3, 1), vec![leaf]), None);
}
