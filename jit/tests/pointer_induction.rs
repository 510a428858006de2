//! The pass that counts how far loops have advanced a pointer.

mod harness;

use harness::by_hand::*;
use harness::passing::run_pass;
use spmdvm_jit::ir::{Builder, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;

/// A loop that hands `N` pointers from round to round: they begin as `begin` says, and go on as `next` says, which may leave the head
/// for other blocks. Gives the region behind the pass.
fn walked<const N: usize>(
    begin: impl FnOnce(&mut Builder, [Value; 2]) -> [Value; N],
    next: impl FnOnce(&mut Builder, [Value; 2], [Value; N]) -> [Value; N],
) -> Region {
    let host = host(8);
    let mut b = Builder::new(host.width, host.function, 1);
    let given = [0, 1].map(|i| b.inst(Kind::EntryReg { at: host.places(U64)[i].at }, &[], U64));
    let begin = begin(&mut b, given);
    let (head, after) = (b.block(), b.block());
    let params = begin.map(|_| b.param(head, U64));
    b.jump(head, &begin);
    b.switch_to(head);
    let mut again = None;
    for &pointer in &params {
        let length = b.region_len(pointer, false);
        let at = b.host_address(pointer, 4);
        b.effect(Kind::Store { ty: Ty::U64 }, &[at, length]);
        again =
            Some(b.inst(Kind::Op { op: Op::Lt, ty: Ty::U64, from: Ty::U64 }, &[length, at], Type::uniform(Ty::Bool)));
    }
    let new = next(&mut b, given, params);
    b.branch(again.unwrap(), (head, &new), (after, &[]));
    b.switch_to(after);
    leave_plainly(&mut b, &host);
    let mut region = b.region;
    run_pass("pointer_induction", &mut region);
    run_pass("dead", &mut region);
    region
}

fn add(b: &mut Builder, p: Value, bytes: i64) -> Value {
    let bytes = b.constant(Ty::I64, bytes as u64);
    b.op(Op::PAdd, Ty::U64, &[p, bytes])
}

/// How many values of a type blocks are handed.
fn handed(region: &Region, ty: Ty) -> usize {
    let params = region.blocks.iter().flat_map(|block| &block.params);
    params.filter(|&&param| region.ty(param) == Type::uniform(ty)).count()
}

/// Distances and pointers that blocks are handed.
fn counts(region: &Region) -> (usize, usize) {
    (handed(region, Ty::I64), handed(region, Ty::U64))
}

#[test]
fn a_pointer_that_is_advanced_becomes_a_distance() {
    for step in [4, -4, 1 << 16, -(1 << 16)] {
        let region = walked(|_, [p, _]| [p], |b, _, [x]| [add(b, x, step)]);
        assert_eq!(counts(&region), (1, 0), "{region}");
    }
}

#[test]
fn pointers_that_are_advanced_alike_share_their_distance() {
    let region = walked(|_, [p, q]| [p, q], |b, _, [x, y]| [add(b, x, 8), add(b, y, 8)]);
    assert_eq!(counts(&region), (1, 0), "{region}");
    let region = walked(|_, [p, q]| [p, q], |b, _, [x, y]| [add(b, x, 8), add(b, y, 4)]);
    assert_eq!(counts(&region), (2, 0), "{region}");
}

#[test]
fn steps_depend_on_the_way() {
    let steps = |first: i64, second: i64| {
        walked(
            |_, [p, _]| [p],
            |b, _, [x]| {
                let null = b.constant(Ty::U64, 0);
                let test =
                    b.inst(Kind::Op { op: Op::Eq, ty: Ty::U64, from: Ty::U64 }, &[x, null], Type::uniform(Ty::Bool));
                let [near, far, join] = [(); 3].map(|()| b.block());
                let joined = b.param(join, U64);
                b.branch(test, (near, &[]), (far, &[]));
                for (block, step) in [(near, first), (far, second)] {
                    b.switch_to(block);
                    let new = add(b, x, step);
                    b.jump(join, &[new]);
                }
                b.switch_to(join);
                [joined]
            },
        )
    };
    assert_eq!(counts(&steps(8, 12)), (2, 0));
    assert_eq!(counts(&steps(0, 12)), (2, 0));
    // Beyond the limit, and back: the pointer stays poison, while a sum of both steps would not be.
    assert_eq!(counts(&steps(8, -8)), (0, 2));
}

#[test]
fn what_is_not_advanced_by_constants_of_one_sign_stays_a_pointer() {
    // By too much; there and back; by what is not known; as another pointer.
    let too_far = walked(|_, [p, _]| [p], |b, _, [x]| [add(b, x, (1 << 16) + 1)]);
    let to_and_fro = walked(
        |_, [p, _]| [p],
        |b, _, [x]| {
            let there = add(b, x, 12);
            [add(b, there, -8)]
        },
    );
    let unknown = walked(
        |_, [p, _]| [p],
        |b, _, [x]| {
            let bits = b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::I64, from: Ty::U64 }, &[x], Type::uniform(Ty::I64));
            [b.op(Op::PAdd, Ty::U64, &[x, bits])]
        },
    );
    let others = walked(|_, [p, q]| [p, q], |b, _, [x, y]| [add(b, y, 4), add(b, x, 4)]);
    for (region, pointers) in [(too_far, 1), (to_and_fro, 1), (unknown, 1), (others, 2)] {
        assert_eq!(counts(&region), (0, pointers), "{region}");
    }
}

#[test]
fn a_pointer_may_go_back_to_where_it_began() {
    let next = |b: &mut Builder, [p, _]: [Value; 2], [x, _]: [Value; 2]| [add(b, x, 4), add(b, p, 4)];
    let region = walked(|_, [p, _]| [p, p], next);
    assert_eq!(counts(&region), (2, 0), "{region}");
}
