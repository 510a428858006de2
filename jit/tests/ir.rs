//! Regions written by hand, on every back end.

mod harness;

use harness::checks::within;
use harness::{Host, exit};
use spmdvm_jit::Variant;
use spmdvm_jit::ir::{Builder, Counter, End, EntryMask, Kind, Outcome, Type, verify};
use spmdvm_vm::types::{Ty, Width};
use spmdvm_vm::{FuncId, Op};
use std::sync::Arc;

/// Inactive lanes have indices at which nothing may be read, and of the arrays nothing before their start.
#[test]
fn inactive_lanes_of_gathers_read_nothing_out_of_bounds() {
    for lanes in [2, 8, 16] {
        let mut host = Host::new(Width::new(lanes).unwrap());
        let arrays = [(Ty::F32, 0, 0), (Ty::F64, 0, 0), (Ty::I16, 6, -3)];
        for ((ty, at, first), checked) in arrays.into_iter().flat_map(|array| [(array, false), (array, true)]) {
            let (indices, results) = (host.places(Type::varying(Ty::I32))[0], host.places(Type::varying(ty)));
            let mut b = Builder::new(host.width, host.function, 1);
            let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
            let index = b.inst(Kind::EntryReg { at: indices.at }, &[], indices.ty);
            let pointer = b.constant(Ty::U64, host.pointer(ty) + at);
            let scale = ty.size() as u32;
            let low = Kind::IndexLow { scale, disp: 0, ty: Ty::I32 };
            let low = b.inst(low, &[pointer], Type::uniform(Ty::I32));
            let base = b.host_address(pointer, 0);
            let (some, none) = (b.block(), b.block());
            let any = b.inst(Kind::AnyLane, &[mask], Type::BOOL);
            // By the least index, and by another, of which it is not known that a lane is active.
            let gather = Kind::Gather { ty, index: Ty::I32, scale, clears: true };
            let x = b.inst(gather, &[base, index, mask], Type::varying(ty));
            b.branch(any, (some, &[]), (none, &[]));
            b.switch_to(some);
            if checked {
                // Then what has been checked is what is counted with.
                let len = b.region_len(pointer, false);
                let span = Kind::IndexSpan { scale, disp: 0, need: scale, ty: Ty::I32 };
                let span = b.inst(span, &[pointer, len], Type::uniform(Ty::U32));
                let ok = within(&mut b, index, low, span, Some(mask));
                let out = b.exit(exit(&host, mask, vec![], vec![]));
                b.effect(Kind::Guard { exit: out }, &[ok]);
            }
            let y = b.inst(gather, &[base, index, mask], Type::varying(ty));
            let place = host.places(Type::uniform(Ty::I32))[0];
            let out = b.exit(exit(&host, mask, vec![(results[0], x), (results[1], y), (place, low)], vec![]));
            b.end(End::Exit(out));
            b.switch_to(none);
            let out = b.exit(exit(&host, mask, vec![(results[0], x)], vec![]));
            b.end(End::Exit(out));
            verify(&b.region).unwrap();
            let region = Arc::new(b.region);
            for active in [0u64, 1, 2, (1 << lanes) - 2] {
                let mut input = host.zeros();
                input.words = vec![active, 0];
                let array = Ty::ALL.iter().position(|&t| t == ty).unwrap();
                input.arrays[array].iter_mut().enumerate().for_each(|(i, x)| *x = i as u64 + 1);
                let index =
                    |l: u64| if active >> l & 1 != 0 { first + l as i32 } else { [i32::MIN, i32::MAX][l as usize % 2] };
                input.registers[indices.reg.index()] = (0..lanes as u64).map(|l| index(l) as u32 as u64).collect();
                let outcome = host.agree_everywhere(&region, &input);
                let want: Vec<u64> = (0..lanes as u64).map(|l| if active >> l & 1 != 0 { l + 1 } else { 0 }).collect();
                assert_eq!(outcome.registers[results[0].reg.index()], want, "{region}");
            }
        }
    }
}

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
    b.effect(Kind::Tick { units: 1, exit: interrupted }, &[]);
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
    let outcome = host.agree_everywhere(&region, &input);
    assert_eq!(outcome.exit, end.0);
    // Lane l takes 20/l - 1 steps, rounded up; lane 7 began beyond the limit.
    assert_eq!(outcome.registers[sum.reg.index()], [0, 20, 20, 21, 20, 20, 24, 100]);
    assert_eq!(outcome.registers[rounds.reg.index()], [19]);
    assert_eq!(outcome.words[..5], [0, 0, 2, 0x77, 5]);
    assert_eq!((outcome.counters[1], outcome.ticks), (19, 1000 - 19));

    // The slice ends after three rounds, and the poll ends the run.
    input.ticks = 3;
    input.interrupted = true;
    let outcome = host.agree_everywhere(&region, &input);
    assert_eq!((outcome.exit, outcome.ticks), (interrupted.0, 0));
    assert_eq!(outcome.registers[rounds.reg.index()], [3]);
    assert_eq!(outcome.registers[sum.reg.index()], [0, 4, 8, 12, 16, 20, 24, 100]);
    assert_eq!(outcome.words[..5], [0x1e, 0, 0x7e, 0x77, 5]);
}

/// It is given up: nothing would be done natively.
#[test]
fn a_region_leaves_at_once_where_its_first_instruction_is_the_interpreters() {
    let host = Host::new(Width::new(8).unwrap());
    let leaves = |head: u32, deep: bool, counts: bool| {
        let mut b = Builder::new(host.width, host.function, head);
        let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
        let mut out = exit(&host, mask, vec![], vec![]);
        if deep {
            out.frames.push(out.frames[0].clone());
        }
        let out = b.exit(out);
        let behind = b.block();
        if counts {
            b.jump(behind, &[]);
            b.switch_to(behind);
        }
        b.end(End::Exit(out));
        b.region.leaves_at_once()
    };
    assert!(leaves(1, false, false));
    // It has come to another instruction, to a function that it has called, or to another block.
    assert!(!leaves(2, false, false));
    assert!(!leaves(1, true, false));
    assert!(!leaves(1, false, true));
}
