//! Structured control: every mask operation, against a model that runs each lane on its own, at every width.

use super::*;
use crate::isa::Op;
use crate::program::Reg;
use crate::types::Shape::{Uniform, Varying};

/// Runs a program with one varying `i32` parameter and one varying `i32` result on all widths and some masks, and compares
/// with what a lane should give (`None`: its result is the parameter, as for inactive lanes).
fn check(body: impl Fn(&mut FunctionBuilder, Reg, Reg), expected: impl Fn(i32) -> i32) {
    for width in Width::ALL {
        let p = build(width, |b| {
            let x = b.param(Varying, Ty::I32, "x");
            let r = b.reg(Varying, Ty::I32);
            let minus = b.constant(Ty::I32, u32::MAX as u64);
            b.mov(r, minus);
            body(b, x, r);
            b.result(r);
            b.ret();
        });
        let mut m = machine(p);
        let mut random = Random::new(5);
        for _ in 0..10 {
            let x: Vec<u64> = (0..width.lanes()).map(|_| random.below(8)).collect();
            let mask = (random.next() & width.full_mask()).max(1);
            let out = call(&mut m, &[Arg::Words(&x)], mask).unwrap();
            for l in 0..width.lanes() {
                let value = if mask >> l & 1 != 0 { expected(x[l] as i32) } else { -1 };
                assert_eq!(out[0].words[l] as i32, value, "width {width} lane {l} x {} mask {mask:b}", x[l]);
            }
        }
    }
}

fn constant(b: &mut FunctionBuilder, value: i32) -> Reg {
    b.constant(Ty::I32, value as u32 as u64)
}

fn less(b: &mut FunctionBuilder, x: Reg, value: i32) -> Reg {
    let k = constant(b, value);
    b.binary(Op::Lt, Ty::I32, x, k)
}

fn equal(b: &mut FunctionBuilder, x: Reg, value: i32) -> Reg {
    let k = constant(b, value);
    b.binary(Op::Eq, Ty::I32, x, k)
}

fn add(b: &mut FunctionBuilder, r: Reg, value: i32) {
    let k = constant(b, value);
    let sum = b.binary(Op::Add, Ty::I32, r, k);
    b.assign(r, sum);
}

fn set(b: &mut FunctionBuilder, r: Reg, value: i32) {
    let k = constant(b, value);
    b.assign(r, k);
}

#[test]
fn if_else() {
    check(
        |b, x, r| {
            let c = less(b, x, 3);
            let (other, end, done) = (b.label(), b.label(), b.label());
            b.control(Op::MaskIf, Some(c), other);
            set(b, r, 10);
            b.bind(other);
            b.control(Op::MaskElse, None, end);
            set(b, r, 20);
            b.bind(end);
            b.control(Op::MaskEndif, None, done);
            add(b, r, 1);
            b.bind(done);
        },
        |x| if x < 3 { 11 } else { 21 },
    );
}

/// `for (i = 0; i < 6; i++) { if (x == 2) break; if (i == x) continue; r += 1; if (r == 4 && x == 5) return; } r += 100;`
#[test]
fn loop_with_break_continue_and_return() {
    let lane = |x: i32| {
        let mut r = 0;
        for i in 0..6 {
            if x == 2 {
                break;
            }
            if i == x {
                continue;
            }
            r += 1;
            if r == 4 && x == 5 {
                return r;
            }
        }
        r + 100
    };
    check(
        |b, x, r| {
            set(b, r, 0);
            let i = b.reg(Varying, Ty::I32);
            let zero = constant(b, 0);
            b.mov(i, zero);
            let (top, next, end, done) = (b.label(), b.label(), b.label(), b.label());
            b.plain(Op::LoopBegin);
            b.bind(top);
            let more = less(b, i, 6);
            b.control(Op::LoopTest, Some(more), end);
            let two = equal(b, x, 2);
            b.control(Op::MaskBreakIf, Some(two), next);
            let same = b.binary(Op::Eq, Ty::I32, i, x);
            let endif = b.label();
            b.control(Op::MaskIf, Some(same), endif);
            b.control(Op::MaskContinue, None, endif);
            b.bind(endif);
            b.control(Op::MaskEndif, None, next);
            add(b, r, 1);
            let four = equal(b, r, 4);
            let five = equal(b, x, 5);
            let both = b.binary(Op::And, Ty::Bool, four, five);
            b.control(Op::MaskReturnIf, Some(both), next);
            b.bind(next);
            b.control(Op::LoopNext, None, end);
            add(b, i, 1);
            b.control(Op::LoopBack, None, top);
            b.bind(end);
            b.control(Op::LoopEnd, None, done);
            add(b, r, 100);
            b.bind(done);
        },
        lane,
    );
}

/// `switch (x) { case 1: r = 10; case 2: r += 1; break; default: r = 50; case 3: r += 2; }`
#[test]
fn switch_with_fall_through_and_default() {
    let lane = |x: i32| {
        let mut r = -1;
        if x == 1 {
            r = 10;
        }
        if x == 1 || x == 2 {
            return r + 1;
        }
        if x != 3 {
            r = 50;
        }
        r + 2
    };
    check(
        |b, x, r| {
            let (is1, is2, is3) = (equal(b, x, 1), equal(b, x, 2), equal(b, x, 3));
            let any = b.binary(Op::Or, Ty::Bool, is1, is2);
            let any = b.binary(Op::Or, Ty::Bool, any, is3);
            let none = b.unary(Op::Not, Ty::Bool, any);
            let (c1, c2, cd, c3, end, done) = (b.label(), b.label(), b.label(), b.label(), b.label(), b.label());
            b.control(Op::SwitchBegin, None, c1);
            b.bind(c1);
            b.control(Op::SwitchCase, Some(is1), c2);
            set(b, r, 10);
            b.bind(c2);
            b.control(Op::SwitchCase, Some(is2), cd);
            add(b, r, 1);
            b.control(Op::MaskBreak, None, cd);
            b.bind(cd);
            b.control(Op::SwitchCase, Some(none), c3);
            set(b, r, 50);
            b.bind(c3);
            b.control(Op::SwitchCase, Some(is3), end);
            add(b, r, 2);
            b.bind(end);
            b.control(Op::SwitchEnd, None, done);
            b.bind(done);
        },
        lane,
    );
}

#[test]
fn everywhere_reaches_inactive_lanes_but_only_active_ones_leave() {
    for width in Width::ALL {
        let p = build(width, |b| {
            let x = b.param(Varying, Ty::I32, "x");
            let r = b.reg(Varying, Ty::I32);
            let zero = constant(b, 0);
            b.mov(r, zero);
            let c = less(b, x, 4);
            let (endif, inner, done) = (b.label(), b.label(), b.label());
            b.control(Op::MaskIf, Some(c), endif);
            b.plain(Op::Everywhere);
            add(b, r, 1);
            // All lanes try to return; only those of the `if` can.
            b.control(Op::MaskReturn, None, inner);
            b.bind(inner);
            b.control(Op::EverywhereEnd, None, endif);
            b.bind(endif);
            b.control(Op::MaskEndif, None, done);
            add(b, r, 10);
            b.bind(done);
            b.result(r);
            b.ret();
        });
        let mut m = machine(p);
        let mut random = Random::new(6);
        for _ in 0..10 {
            let x: Vec<u64> = (0..width.lanes()).map(|_| random.below(8)).collect();
            let mask = (random.next() & width.full_mask()).max(1);
            let out = call(&mut m, &[Arg::Words(&x)], mask).unwrap();
            let entered = (0..width.lanes()).any(|l| mask >> l & 1 != 0 && x[l] < 4);
            for l in 0..width.lanes() {
                let active = mask >> l & 1 != 0;
                let left = active && x[l] < 4;
                let expected = entered as u64 + if active && !left { 10 } else { 0 };
                assert_eq!(out[0].words[l], expected, "width {width} lane {l}");
            }
        }
    }
}

/// Counts turns and remembers their order: `r = turn` for each lane visited.
fn each(op: Op, body: impl Fn(&mut FunctionBuilder, Reg, Reg) -> Option<Reg>) -> Program {
    build(Width::DEFAULT, |b| {
        let x = b.param(Varying, Ty::I32, "x");
        let r = b.reg(Varying, Ty::I32);
        let n = b.reg(Uniform, Ty::I32);
        let zero = constant(b, 0);
        let one = constant(b, 1);
        b.mov(r, zero);
        b.mov(n, zero);
        let (top, end, done) = (b.label(), b.label(), b.label());
        b.plain(Op::EachBegin);
        b.bind(top);
        let dst = b.reg(Uniform, Ty::I32);
        let source = if op == Op::EachUnique { x } else { Reg::NONE };
        b.control(op, (!source.is_none()).then_some(source), end);
        b.amend_last(|inst| (inst.dst, inst.ty, inst.from) = (dst, Ty::I32, Ty::I32));
        let next = b.binary(Op::Add, Ty::I32, n, one);
        b.mov(n, next);
        b.assign(r, n);
        let back = b.label();
        if let Some(c) = body(b, x, dst) {
            b.control(Op::MaskBreakIf, Some(c), back);
        }
        b.bind(back);
        b.control(Op::Jmp, None, top);
        b.bind(end);
        b.control(Op::EachEnd, None, done);
        b.bind(done);
        b.result(r);
        b.ret();
    })
}

#[test]
fn each_lane_goes_up_and_break_ends_it() {
    let mut m = machine(each(Op::EachLane, |_, _, _| None));
    let out = call(&mut m, &[Arg::Word(0)], 0b1101).unwrap();
    assert_eq!(&out[0].words[..5], &[1, 0, 2, 3, 0]);
    assert_eq!(m.fuel_used(), 6, "a turn counts, and so does the jump back");
    let mut m = machine(each(Op::EachLane, |b, x, _| Some(equal(b, x, 7))));
    let out = call(&mut m, &[Arg::Words(&[0, 7, 0])], 0b111).unwrap();
    assert_eq!(&out[0].words[..4], &[1, 2, 0, 0]);
}

#[test]
fn each_unique_groups_equal_values() {
    let mut m = machine(each(Op::EachUnique, |_, _, _| None));
    let out = call(&mut m, &[Arg::Words(&[5, 3, 5, 3, 9, 5])], 0b10_1111).unwrap();
    assert_eq!(&out[0].words[..6], &[1, 2, 1, 2, 0, 1]);
}

#[test]
fn each_all_turns_every_lane_on() {
    let mut m = machine(each(Op::EachAll, |_, _, _| None));
    let out = call(&mut m, &[Arg::Word(0)], 0b101).unwrap();
    assert!(out[0].words.iter().all(|&w| w == 2));
}
