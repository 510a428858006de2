//! Calls, recursion, limits, printing, observers, and what a machine is after a trap.

use super::*;
use crate::isa::Op;
use crate::observe::{Observer, View};
use crate::program::{ArgFormat, ArgKind, Inst, List, Piece, Reg, Span};
use crate::trap::TrapKind;
use crate::types::Shape::{Uniform, Varying};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

fn call_inst(b: &mut FunctionBuilder, function: u32, args: &[Reg], rets: &[Reg]) -> Inst {
    let (args, rets) = (b.list(args), b.list(rets));
    Inst { aux: function, args, rets, ..Inst::new(Op::Call, Ty::Bool) }
}

/// `fact(n) = n < 2 ? 1 : n * fact(n - 1)`, per lane, with the recursion under a mask.
fn factorial(width: Width) -> Program {
    build(width, |b| {
        let n = b.param(Varying, Ty::I64, "n");
        let r = b.reg(Varying, Ty::I64);
        let one = b.constant(Ty::I64, 1);
        let two = b.constant(Ty::I64, 2);
        b.mov(r, one);
        let more = b.binary(Op::Ge, Ty::I64, n, two);
        let (endif, done) = (b.label(), b.label());
        b.control(Op::MaskIf, Some(more), endif);
        let less = b.binary(Op::Sub, Ty::I64, n, one);
        let f = b.reg(Varying, Ty::I64);
        let inst = call_inst(b, 0, &[less], &[f]);
        b.push(inst);
        let product = b.binary(Op::Mul, Ty::I64, n, f);
        b.assign(r, product);
        b.bind(endif);
        b.control(Op::MaskEndif, None, done);
        b.bind(done);
        b.result(r);
        b.ret();
    })
}

#[test]
fn recursion_under_masks() {
    for width in Width::ALL {
        let mut m = machine(factorial(width));
        let n: Vec<u64> = (0..width.lanes() as u64).map(|l| l % 15).collect();
        let out = call(&mut m, &[Arg::Words(&n)], !0).unwrap();
        let expected: Vec<u64> = n.iter().map(|&n| (1..=n).product()).collect();
        assert_eq!(out[0].words, expected);
    }
}

#[test]
fn endless_recursion_traps_and_leaves_the_machine_usable() {
    let n = [Arg::Words(&[1 << 40, 1])];
    for limits in [Limits { depth: 100, ..Limits::default() }, Limits { stack: 10_000, ..Limits::default() }] {
        let mut m = machine_for(factorial(Width::DEFAULT), Isa::detect(), limits);
        let trap = call(&mut m, &n, 0b11).unwrap_err();
        assert_eq!(trap.kind, TrapKind::StackOverflow);
        assert!(trap.stack.len() > 10 && trap.stack.iter().all(|f| f.name == "f"));
        assert_eq!(call(&mut m, &[Arg::Word(5)], 0b11).unwrap()[0].words[..2], [120, 120]);
    }
    let mut m = machine_for(factorial(Width::DEFAULT), Isa::detect(), Limits { stack: 16, ..Limits::default() });
    assert_eq!(call(&mut m, &n, 0b11).unwrap_err().kind, TrapKind::StackOverflow);
}

/// A function that loops for ever.
fn endless() -> Program {
    build(Width::DEFAULT, |b| {
        let top = b.label();
        b.bind(top);
        b.control(Op::Jmp, None, top);
    })
}

#[test]
fn fuel_counts_back_edges_and_calls() {
    let limits = Limits { fuel: Some(5000), ..Limits::default() };
    let mut m = machine_for(endless(), Isa::detect(), limits);
    assert_eq!(call(&mut m, &[], 1).unwrap_err().kind, TrapKind::OutOfFuel);
    assert_eq!(m.fuel_used(), 5000);
    let mut m = machine_for(factorial(Width::DEFAULT), Isa::detect(), Limits { fuel: Some(4), ..Limits::default() });
    assert!(call(&mut m, &[Arg::Word(5)], 1).is_ok());
    assert_eq!(m.fuel_used(), 4);
    assert_eq!(call(&mut m, &[Arg::Word(6)], 1).unwrap_err().kind, TrapKind::OutOfFuel);
}

#[test]
fn endless_loops_can_be_stopped() {
    let mut m = machine_for(endless(), Isa::detect(), Limits::default());
    m.set_limits(None, Some(Duration::from_millis(5)));
    assert_eq!(call(&mut m, &[], 1).unwrap_err().kind, TrapKind::Timeout);
    m.set_limits(None, None);
    let flag = Arc::new(AtomicBool::new(false));
    m.set_interrupt(Arc::clone(&flag));
    let stopper = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(5));
        flag.store(true, Ordering::Relaxed);
    });
    assert_eq!(call(&mut m, &[], 1).unwrap_err().kind, TrapKind::Interrupted);
    stopper.join().unwrap();
}

#[test]
fn indirect_calls_check_the_function() {
    let mut caller = FunctionBuilder::new("caller");
    let value = caller.param(Uniform, Ty::U64, "function");
    let x = caller.param(Varying, Ty::I32, "x");
    let r = caller.reg(Varying, Ty::I32);
    let (args, rets) = (caller.list(&[x]), caller.list(&[r]));
    caller.push(Inst { src: [value, Reg::NONE, Reg::NONE], args, rets, ..Inst::new(Op::CallInd, Ty::Bool) });
    caller.result(r);
    caller.ret();
    let mut good = FunctionBuilder::new("good");
    let x = good.param(Varying, Ty::I32, "x");
    let y = good.binary(Op::Add, Ty::I32, x, x);
    good.result(y);
    good.ret();
    let mut other = FunctionBuilder::new("other");
    other.param(Uniform, Ty::I32, "x");
    other.ret();
    let mut m = machine(program(Width::DEFAULT, vec![caller.finish(), good.finish(), other.finish()]));
    assert_eq!(call(&mut m, &[Arg::Word(2), Arg::Word(21)], 1).unwrap()[0].words[0], 42);
    for bad in [0, 3, 4, u64::MAX] {
        let trap = call(&mut m, &[Arg::Word(bad), Arg::Word(21)], 1).unwrap_err();
        assert_eq!(trap.kind, TrapKind::BadFunction);
    }
}

#[test]
fn frame_memory_is_fresh_zero_and_gone_afterwards() {
    let mut leaf = FunctionBuilder::new("leaf");
    let at = leaf.frame_slot(8, 8) as i64;
    let p = leaf.reg(Uniform, Ty::U64);
    leaf.push(Inst { dst: p, imm: at, ..Inst::new(Op::FrameAddr, Ty::U64) });
    let before = leaf.elementwise(Op::Load, Ty::I64, Ty::I64, &[p]);
    let seven = leaf.constant(Ty::I64, 7);
    leaf.push(Inst { src: [p, Reg::NONE, seven], ..Inst::new(Op::Store, Ty::I64) });
    leaf.result(before);
    leaf.result(p);
    leaf.ret();
    let mut main = FunctionBuilder::new("main");
    let dangling = main.param(Uniform, Ty::Bool, "dangling");
    let (value, p) = (main.reg(Uniform, Ty::I64), main.reg(Uniform, Ty::U64));
    for _ in 0..2 {
        let inst = call_inst(&mut main, 1, &[], &[value, p]);
        main.push(inst);
    }
    let end = main.label();
    main.control(Op::BrFalse, Some(dangling), end);
    main.elementwise(Op::Load, Ty::I64, Ty::I64, &[p]);
    main.bind(end);
    main.result(value);
    main.ret();
    let mut m = machine(program(Width::DEFAULT, vec![main.finish(), leaf.finish()]));
    assert_eq!(call(&mut m, &[Arg::Word(0)], 1).unwrap()[0].words, [0]);
    assert_eq!(call(&mut m, &[Arg::Word(1)], 1).unwrap_err().kind, TrapKind::BadPointer);
}

#[test]
fn an_empty_mask_executes_nothing() {
    let mut m = machine(factorial(Width::DEFAULT));
    assert_eq!(call(&mut m, &[Arg::Word(5)], 0).unwrap()[0].words, [0; 16]);
}

#[test]
fn traps_know_the_calls_and_the_lanes_being_visited() {
    let mut inner = FunctionBuilder::new("inner");
    inner.set_span(Span { file: 0, lo: 3, hi: 4 });
    inner.push(Inst::new(Op::Abort, Ty::Bool));
    inner.ret();
    let mut outer = FunctionBuilder::new("outer");
    let (end, done) = (outer.label(), outer.label());
    outer.plain(Op::EachBegin);
    let lane = outer.reg(Uniform, Ty::I32);
    outer.control(Op::EachAll, None, end);
    outer.amend_last(|inst| (inst.dst, inst.ty, inst.from) = (lane, Ty::I32, Ty::I32));
    let inst = call_inst(&mut outer, 1, &[], &[]);
    outer.push(inst);
    outer.bind(end);
    outer.control(Op::EachEnd, None, done);
    outer.bind(done);
    outer.ret();
    let p = program(Width::DEFAULT, vec![outer.finish(), inner.finish()]);
    let mut m = machine(Program { messages: vec!["enough".into()], ..p });
    let trap = call(&mut m, &[], 0b1010).unwrap_err();
    assert_eq!((trap.kind, trap.pc(), trap.span().lo), (TrapKind::Abort, Some(0), 3));
    assert_eq!(trap.stack[1].name, "outer");
    assert_eq!((&trap.stack[0].each_lanes[..], &trap.stack[1].each_lanes[..]), (&[][..], &[1][..]));
    assert_eq!(trap.to_string(), "program aborted: enough in `inner`");
}

#[test]
fn print_shows_lanes_and_text() {
    let format = |kind| ArgFormat {
        kind,
        conversion: None,
        width: None,
        precision: None,
        zero: false,
        left: false,
        plus: false,
    };
    let mut p = build(Width::new(4).unwrap(), |b| {
        let x = b.param(Varying, Ty::F32, "x");
        let n = b.param(Uniform, Ty::I32, "n");
        let c = b.param(Varying, Ty::Bool, "c");
        let text = b.reg(Uniform, Ty::U64);
        b.push(Inst { dst: text, ..Inst::new(Op::GlobalAddr, Ty::U64) });
        let args: List = b.list(&[text, x, n, c]);
        b.push(Inst { args, ..Inst::new(Op::Print, Ty::Bool) });
        b.ret();
    });
    let value = || Piece::Arg(format(ArgKind::Value));
    let text = |s: &str| Piece::Text(s.into());
    p.formats =
        vec![vec![Piece::Arg(format(ArgKind::Text)), text(": "), value(), text(" "), value(), text(" "), value()]];
    p.globals = vec![Global { init: b"lanes\0".to_vec(), constant: true, ..global("s", 6) }];
    let mut m = machine(p);
    let out = Arc::new(Mutex::new(String::new()));
    let sink = Arc::clone(&out);
    m.set_output(move |text| sink.lock().unwrap().push_str(text));
    let x: Vec<u64> = [0.5f32, 1.0, -2.0, f32::NAN].iter().map(|x| x.to_bits() as u64).collect();
    call(&mut m, &[Arg::Words(&x), Arg::Word(u64::MAX), Arg::Words(&[1, 0, 1, 0])], 0b1011).unwrap();
    let expected = "lanes: [0.500000,1.000000,((-2.000000)),nan] -1 [true,false,_________,false]";
    assert_eq!(*out.lock().unwrap(), expected);
}

#[test]
fn assertions_name_the_lowest_failing_lane() {
    let p = build(Width::DEFAULT, |b| {
        let c = b.param(Varying, Ty::Bool, "c");
        b.push(Inst { src: [c, Reg::NONE, Reg::NONE], ..Inst::new(Op::Assert, Ty::Bool) });
        b.ret();
    });
    let mut m = machine(Program { messages: vec!["x > 0".into()], ..p });
    assert!(call(&mut m, &[Arg::Words(&[1, 0, 0, 1])], 0b1001).is_ok());
    let trap = call(&mut m, &[Arg::Words(&[1, 0, 0, 1])], 0b1101).unwrap_err();
    assert_eq!((trap.kind, trap.lane), (TrapKind::Assertion, Some(2)));
    assert_eq!(trap.to_string(), "assertion failed: x > 0 (lane 2) in `f`");
}

#[derive(Default)]
struct Watch {
    before: Vec<(String, u64)>,
    values: Vec<Vec<u64>>,
}

impl Observer for Watch {
    fn before(&mut self, view: &View<'_>) {
        self.before.push((view.inst().op.info().name.into(), view.mask()));
    }

    fn after(&mut self, view: &View<'_>) {
        if !view.inst().dst.is_none() {
            self.values.push(view.register(view.inst().dst).words);
        }
    }
}

#[test]
fn observers_see_every_instruction() {
    let mut m = machine(factorial(Width::new(2).unwrap()));
    let mut watch = Watch::default();
    let out = m.call_observed(FuncId(0), &[Arg::Words(&[1, 2])], 0b11, &mut watch).unwrap();
    assert_eq!(out.lanes(0).words, [1, 2]);
    let calls = watch.before.iter().filter(|(name, mask)| name == "call" && *mask == 0b10).count();
    assert_eq!(calls, 1);
    assert_eq!(watch.values[0], [1, 1]);
    assert_eq!(watch.before.iter().filter(|(name, _)| name == "ret").count(), 2);
}

#[test]
fn arguments_come_as_words_or_bytes() {
    let p = build(Width::new(4).unwrap(), |b| {
        let x = b.param(Varying, Ty::I16, "x");
        let c = b.param(Varying, Ty::Bool, "c");
        b.result(x);
        b.result(c);
        b.ret();
    });
    let mut m = machine(p);
    let bytes: Vec<u8> = [1i16, -2, 3].iter().flat_map(|x| x.to_ne_bytes()).collect();
    let out = m.call(FuncId(0), &[Arg::Bytes(&bytes), Arg::Bytes(&[7, 0, 1, 1, 1, 1])], !0).unwrap();
    assert_eq!(out.lanes(0).words, [1, 0xfffe, 3, 0]);
    assert_eq!(out.lanes(1).words, [1, 0, 1, 1]);
    assert_eq!(out.bytes(1), [1, 0, 1, 1]);
}
