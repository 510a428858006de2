//! Loops that visit the lanes of a mask, one after another.

mod harness;

use harness::by_hand::*;
use harness::passing::run_pass;
use harness::values::Rng;
use harness::{Host, exit};
use spmdvm_jit::Backend;
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

const WORD: Type = U64;

fn mask_op(b: &mut Builder, op: Op, args: &[Value]) -> Value {
    b.inst(Kind::Op { op, ty: Ty::Bool, from: Ty::Bool }, args, Type::MASK)
}

/// Visits lanes as `foreach_active` does: a loop's head with the mask of the lane that was visited last and of those
/// that wait. Each turn takes so many rounds of a loop with the same head. The wrong loop takes out another lane, or asks for something
/// else; or the lanes that wait come to be others in such a round.
fn visiting(host: &Host, rounds: u64, wrong: Option<u32>) -> Region {
    visiting_by(host, rounds, wrong, false)
}

/// The same; where turns `meet` in a block within that hands on the lanes that wait: what comes first, and every other one.
fn visiting_by(host: &Host, rounds: u64, wrong: Option<u32>, meet: bool) -> Region {
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let all = entry(&mut b, host.places(Type::MASK)[0]);
    let start = b.constant(Ty::U64, 0);
    let one = b.constant(Ty::U64, 1);
    let none = b.inst(Kind::MaskFromBits, &[start], Type::MASK);
    let [head, turn, done, round, look] = [(); 5].map(|()| b.block());
    let [own, waiting] = [(); 2].map(|()| b.param(head, Type::MASK));
    let [sum, left] = [(); 2].map(|()| b.param(head, WORD));
    let rounds = b.constant(Ty::U64, rounds);
    let inner = meet.then(|| b.block());
    match inner {
        Some(inner) => b.jump(inner, &[none, all, start]),
        None => b.jump(head, &[none, all, start, start]),
    };
    b.switch_to(head);
    let leaves = |b: &mut Builder, own: Value, waiting: Value, sum: Value| {
        b.exit(exit(host, own, vec![(host.places(WORD)[0], sum)], vec![(mask, waiting, None)]))
    };
    let polled = leaves(&mut b, own, waiting, sum);
    b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
    let goes_on = b.op(Op::Ne, Ty::U64, &[left, start]);
    b.branch(goes_on, (round, &[]), (look, &[]));
    b.switch_to(round);
    let less = b.op(Op::Sub, Ty::U64, &[left, one]);
    let other = b.op(Op::Add, Ty::U64, &[sum, left]);
    let waiting_then = if wrong == Some(2) { mask_op(&mut b, Op::Xor, &[waiting, own]) } else { waiting };
    b.jump(head, &[own, waiting_then, other, less]);
    b.switch_to(look);
    let some = b.inst(Kind::AnyLane, &[waiting], Type::BOOL);
    b.branch(some, (turn, &[]), (done, &[]));
    b.switch_to(turn);
    let bits = b.inst(Kind::MaskBits, &[waiting], WORD);
    let lane = b.op(Op::Ctz, Ty::U64, &[bits]);
    let bit = b.op(Op::Shl, Ty::U64, &[one, lane]);
    let next = b.inst(Kind::MaskFromBits, &[bit], Type::MASK);
    let others = mask_op(&mut b, Op::Not, &[if wrong == Some(0) { own } else { next }]);
    let rest = mask_op(&mut b, Op::And, &[waiting, others]);
    let rest = if wrong == Some(1) { mask_op(&mut b, Op::Xor, &[rest, waiting]) } else { rest };
    let three = b.constant(Ty::U64, 3);
    let more = b.op(Op::Mul, Ty::U64, &[sum, three]);
    let more = b.op(Op::Add, Ty::U64, &[more, lane]);
    let polled = leaves(&mut b, next, rest, more);
    b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
    match inner {
        Some(inner) => {
            let odd = b.op(Op::And, Ty::U64, &[lane, one]);
            let odd = b.op(Op::Ne, Ty::U64, &[odd, start]);
            b.branch(odd, (inner, &[next, rest, more]), (head, &[next, rest, more, rounds]));
        }
        None => b.jump(head, &[next, rest, more, rounds]),
    };
    b.switch_to(done);
    leave(&mut b, host, mask, vec![(host.places(WORD)[0], sum)]);
    if let Some(inner) = inner {
        b.switch_to(inner);
        let [own, waiting] = [(); 2].map(|()| b.param(inner, Type::MASK));
        let sum = b.param(inner, WORD);
        let polled = leaves(&mut b, own, waiting, sum);
        b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
        b.jump(head, &[own, waiting, sum, start]);
    }
    b.region
}

fn masks_handed_on(region: &Region) -> usize {
    region.blocks.iter().flat_map(|block| &block.params).filter(|&&p| region.ty(p) == Type::MASK).count()
}

#[test]
fn lanes_are_visited_in_their_order_and_exits_know_which() {
    for lanes in WIDTHS {
        let mut host = host(lanes);
        for (rounds, meet) in [(0, false), (2, false), (0, true)] {
            let before = Arc::new(visiting_by(&host, rounds, None, meet));
            let mut after = Region::clone(&before);
            run_pass("mask_words", &mut after);
            run_pass("dead", &mut after);
            assert_eq!(masks_handed_on(&after), 0, "{after}");
            let after = Arc::new(after);
            let mut codes =
                vec![Arc::from(Ir.compile(before.clone()).unwrap()), Arc::from(Ir.compile(after.clone()).unwrap())];
            for region in [before, after.clone()] {
                codes.extend(harness::x86().map(|x86| Arc::from(x86.compile(region).unwrap())));
            }
            let mut rng = Rng(lanes.into());
            for run in 0..40 {
                // Some run out of fuel on the way.
                let input = host.random_input(&mut rng, run % 2 == 1);
                host.agree_codes(&after, &codes, &input);
            }
        }
    }
}

#[test]
fn other_masks_stay_masks() {
    let host = host(16);
    for (wrong, left) in [(0, 2), (1, 1), (2, 2)] {
        let mut region = visiting(&host, 2, Some(wrong));
        run_pass("mask_words", &mut region);
        assert_eq!(masks_handed_on(&region), left, "{wrong}: {region}");
    }
}

#[test]
fn no_mask_is_moved_for_a_turn() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let mut region = visiting(&host(16), 0, None);
    run_pass("mask_words", &mut region);
    run_pass("dead", &mut region);
    let text = listing(&x86, Arc::new(region));
    assert_eq!(count(&text, &["kand", "kortest", "kandn"]), 0, "{text}");
}
