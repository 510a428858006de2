//! Regions written by hand, on every back end.

mod harness;

use harness::{Host, exit};
use spmdvm_jit::Variant;
use spmdvm_jit::clif::Clif;
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Counter, End, EntryMask, Kind, Outcome, Type, verify};
use spmdvm_vm::types::{Ty, Width};
use spmdvm_vm::{FuncId, Op};
use std::sync::Arc;

/// A loop that adds `lane` to a sum while the sum is below a limit, with a mask of the lanes that still run.
#[test]
fn a_divergent_loop_runs_and_leaves_its_state() {
    let width = Width::new(8).unwrap();
    let mut host = Host::new(width);
    let sum = host.places(Type::varying(Ty::I32))[0];
    let rounds = host.places(Type::uniform(Ty::I32))[0];
    let mut b = Builder::new(width, host.function, 1);
    let live = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let waiting = b.inst(Kind::EntryMask(EntryMask::Restore(0)), &[], Type::MASK);
    let visiting = b.inst(Kind::EntryVisiting(0), &[], Type::uniform(Ty::I32));
    let start = b.inst(Kind::EntryReg { at: sum.at }, &[], sum.ty);
    let lane = b.inst(Kind::Op { op: Op::Iota, ty: Ty::I32, from: Ty::I32 }, &[], sum.ty);
    let (zero, one, limit) = (b.constant(Ty::I32, 0), b.constant(Ty::I32, 1), b.constant(Ty::I32, 20));
    let (head, body, done) = (b.block(), b.block(), b.block());
    b.jump(head, &[start, zero, live]);
    let (s, k, m) = (b.param(head, sum.ty), b.param(head, Type::uniform(Ty::I32)), b.param(head, Type::MASK));
    b.switch_to(head);
    let below = b.op(Op::Lt, Ty::I32, &[s, limit]);
    let m2 = b.op(Op::And, Ty::Bool, &[m, below]);
    let any = b.inst(Kind::AnyLane, &[m2], Type::BOOL);
    b.branch(any, (body, &[]), (done, &[]));
    b.switch_to(body);
    let state = exit(&host, m2, vec![(sum, s), (rounds, k)], vec![(m, waiting, Some(visiting))]);
    let interrupted = b.exit(state.clone());
    b.effect(Kind::Tick { exit: interrupted }, &[]);
    b.effect(Kind::Count(1), &[]);
    let next = b.op(Op::Add, Ty::I32, &[s, lane]);
    let next = b.op(Op::Select, Ty::I32, &[m2, next, s]);
    let k2 = b.op(Op::Add, Ty::I32, &[k, one]);
    b.jump(head, &[next, k2, m2]);
    b.switch_to(done);
    let end = b.exit(state);
    b.end(End::Exit(end));
    let counter = |outcome| Counter::Variant { variant: Variant::Uniform, place: (FuncId(0), 0), outcome };
    b.region.counters = vec![counter(Outcome::Hit), counter(Outcome::Missed)];
    verify(&b.region).unwrap();
    let region = Arc::new(b.region);

    let mut input = host.zeros();
    input.words = vec![0xfe, 0, 0x77, 0, 5];
    input.registers[sum.reg.index()] = (100..108).map(|x| if x == 107 { 100 } else { x - 100 }).collect();
    let outcome = host.agree(&region, &[&Ir, &Clif::new().unwrap()], &input);
    assert_eq!(outcome.exit, end.0);
    // Lane l takes 20/l - 1 steps, rounded up; lane 7 began beyond the limit.
    assert_eq!(outcome.registers[sum.reg.index()], [0, 20, 20, 21, 20, 20, 24, 100]);
    assert_eq!(outcome.registers[rounds.reg.index()], [19]);
    assert_eq!(outcome.words[..5], [0, 0, 2, 0x77, 5]);
    assert_eq!((outcome.counters[1], outcome.ticks), (19, 1000 - 19));

    // The slice ends after three rounds, and the poll ends the run.
    input.ticks = 3;
    input.interrupted = true;
    let outcome = host.agree(&region, &[&Ir, &Clif::new().unwrap()], &input);
    assert_eq!((outcome.exit, outcome.ticks), (interrupted.0, 0));
    assert_eq!(outcome.registers[rounds.reg.index()], [3]);
    assert_eq!(outcome.registers[sum.reg.index()], [0, 4, 8, 12, 16, 20, 24, 100]);
    assert_eq!(outcome.words[..5], [0x1e, 0, 0x7e, 0x77, 5]);
}
