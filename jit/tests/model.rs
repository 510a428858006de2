//! Compiling while programs run, in thousands of orders: the model checker switches between two threads that run a
//! program and those that compile its loops, at every lock of a loop and of what has been learnt. Results are right in
//! each order, and when all is done the room that code takes is that of the code there is.
//!
//! `make model-check` runs it (feature `shuttle`, without which this is empty); `SPMDVM_ORDERS` says how many orders
//! are tried.
#![cfg(feature = "shuttle")]

use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, Runner};
use spmdvm_jit::{Settings, prepare};
use spmdvm_vm::program::Inst;
use spmdvm_vm::{
    Arg, FuncId, FunctionBuilder, Limits, Machine, Op, PreparedProgram, Program, Reg, Shape, Ty, VerifiedProgram,
    verify,
};

fn orders() -> usize {
    std::env::var("SPMDVM_ORDERS").ok().and_then(|n| n.parse().ok()).unwrap_or(300)
}

/// `f(n, d)`: the sum of `i / d` for `i` below `n`, and of `i` where it is 7.
fn program() -> VerifiedProgram {
    let mut b = FunctionBuilder::new("f");
    let n = b.param(Shape::Uniform, Ty::I32, "n");
    let d = b.param(Shape::Uniform, Ty::I32, "d");
    let (zero, one, seven) = (b.constant(Ty::I32, 0), b.constant(Ty::I32, 1), b.constant(Ty::I32, 7));
    let (i, s) = (b.reg(Shape::Uniform, Ty::I32), b.reg(Shape::Uniform, Ty::I32));
    b.mov(i, zero);
    b.mov(s, zero);
    let [head, skip] = [(); 2].map(|()| b.label());
    b.bind(head);
    let q = b.binary(Op::IDiv, Ty::I32, i, d);
    let add = |b: &mut FunctionBuilder, to: Reg, x: Reg| {
        b.push(Inst { dst: to, src: [to, x, Reg::NONE], ..Inst::new(Op::Add, Ty::I32) });
    };
    add(&mut b, s, q);
    let other = b.binary(Op::Ne, Ty::I32, i, seven);
    b.control(Op::BrTrue, Some(other), skip);
    add(&mut b, s, i);
    b.bind(skip);
    add(&mut b, i, one);
    let more = b.binary(Op::Lt, Ty::I32, i, n);
    b.control(Op::BrTrue, Some(more), head);
    b.result(s);
    b.ret();
    verify(Program { functions: vec![b.finish()], ..Program::default() }).unwrap_or_else(|e| panic!("{e:#?}"))
}

fn expected(n: u64, d: u64) -> u64 {
    (0..n.max(1)).map(|i| i / d + if i == 7 { i } else { 0 }).sum()
}

fn run(prepared: PreparedProgram, calls: &[(u64, u64)]) {
    let mut machine = Machine::new(prepared, Limits { stack: 1 << 16, ..Limits::default() }).expect("a machine");
    for &(n, d) in calls {
        let result = machine.call(FuncId(0), &[Arg::Word(n), Arg::Word(d)], 1).expect("no trap").word(0, 0);
        assert_eq!(result, expected(n, d), "f({n}, {d})");
    }
}

/// Two threads run these calls while loops are compiled.
fn check(engine: &'static str, settings: Settings, calls: &'static [(u64, u64)]) {
    let program = program();
    let test = move || {
        let (prepared, jit) = prepare(&program, engine, settings.clone()).expect("an engine");
        let other = prepared.clone();
        let other = shuttle::thread::spawn(move || run(other, calls));
        run(prepared, calls);
        other.join().expect("no panic");
        if jit.report().iter().all(|l| !l.pending) {
            let code: usize = jit.report().iter().flat_map(|l| &l.versions).map(|v| v.code_bytes).sum();
            assert!(jit.code_bytes() >= code, "{} of {code}", jit.code_bytes());
        }
        let limit = settings.versions as usize + settings.recompiles as usize + 1;
        assert!(jit.report().iter().all(|l| l.versions.len() <= limit), "{:?}", jit.report());
    };
    // Compilers need more of a stack than the checker's threads have.
    let mut config = Config::new();
    config.stack_size = 4 << 20;
    Runner::new(RandomScheduler::new(orders()), config.clone()).run(test.clone());
    Runner::new(PctScheduler::new(3, orders()), config).run(test);
}

const CALLS: &[(u64, u64)] = &[(5, 3), (5, 3), (12, 3), (3, 2), (12, 2), (12, 2), (12, 2), (12, 2), (3, 5), (9, 5)];

#[test]
fn loops_are_compiled_made_anew_and_given_up_while_they_run() {
    let settings = Settings { hot: 1, observe: 24, trial: 3, hot_exit: 1, same_arguments: 2, ..Settings::default() };
    check("ir", settings, CALLS);
}

#[test]
fn baseline_code_and_the_optimised_code_behind_it() {
    let settings = Settings { hot: 1, observe: 0, trial: 50, same_arguments: 3, ..Settings::default() };
    check("clif", settings, CALLS);
}

#[test]
fn code_without_room() {
    let settings = Settings { hot: 1, observe: 0, trial: 3, code_limit: 600, ..Settings::default() };
    check("clif", settings, CALLS);
}
