//! What only cold blocks need, or those behind a loop, is computed there.

mod harness;

use harness::passing::run_pass;
use harness::{Host, exit};
use spmdvm_jit::ir::{BlockId, Builder, End, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};

const I32: Ty = Ty::I32;

/// A branch to a hot and a cold block. `compute` gets `x y u` (varying, varying, uniform) and gives what the exits of the hot and of
/// the cold block hold.
fn region(compute: impl FnOnce(&mut Builder, [Value; 3]) -> [Vec<Value>; 2]) -> Region {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let mut register = |ty, i: usize| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty);
    let v = Type::varying(I32);
    let args = [register(v, 0), register(v, 1), register(Type::uniform(I32), 0)];
    let m = register(Type::MASK, 0);
    let held = compute(&mut b, args);
    let any = b.inst(Kind::AnyLane, &[m], Type::BOOL);
    let [hot, cold] = [(); 2].map(|()| b.block());
    b.branch(any, (hot, &[]), (cold, &[]));
    b.region.blocks[cold.index()].cold = true;
    for (block, held) in [hot, cold].into_iter().zip(held) {
        b.switch_to(block);
        let places = held.iter().enumerate().map(|(i, &x)| (host.places(b.region.ty(x))[i], x)).collect();
        let out = b.exit(exit(&host, m, places, vec![]));
        b.end(End::Exit(out));
    }
    let mut region = b.region;
    run_pass("sink", &mut region);
    region
}

fn operations(region: &Region, block: u32) -> Vec<Op> {
    let ops = region.block(BlockId(block)).insts.iter().filter_map(|inst| match inst.kind {
        Kind::Op { op, .. } => Some(op),
        _ => None,
    });
    ops.collect()
}

#[test]
fn chains_move_to_the_cold_block_in_their_order() {
    let region = region(|b, [x, _, u]| {
        let product = b.op(Op::Mul, I32, &[x, u]);
        let sum = b.op(Op::Add, I32, &[product, u]);
        [vec![x], vec![sum, product]]
    });
    assert_eq!(operations(&region, 0), [], "{region}");
    assert_eq!(operations(&region, 2), [Op::Mul, Op::Add], "{region}");
}

#[test]
fn what_hot_blocks_need_stays() {
    let region = region(|b, [x, _, u]| {
        let product = b.op(Op::Mul, I32, &[x, u]);
        let sum = b.op(Op::Add, I32, &[product, u]);
        [vec![product], vec![sum]]
    });
    assert_eq!(operations(&region, 0), [Op::Mul], "{region}");
    assert_eq!(operations(&region, 2), [Op::Add], "{region}");
}

#[test]
fn what_two_vectors_would_have_to_be_kept_for_stays() {
    let region = region(|b, [x, y, _]| {
        let sum = b.op(Op::Add, I32, &[x, y]);
        [vec![], vec![sum]]
    });
    assert_eq!(operations(&region, 0), [Op::Add], "{region}");
}

/// A loop, left by a guard and at its end, behind which two blocks leave. `compute` gets `x y u` in the loop and gives
/// what the exits of the guard and of the blocks hold.
fn looping(compute: impl FnOnce(&mut Builder, [Value; 3]) -> [Vec<Value>; 3]) -> Region {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let mut register = |ty, i: usize| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty);
    let (v, u) = (Type::varying(I32), Type::uniform(I32));
    let [x, y] = [0, 1].map(|i| register(v, i));
    let (mask, start, condition) = (register(Type::MASK, 0), register(u, 0), register(Type::BOOL, 0));
    let [head, behind, one, other] = [(); 4].map(|()| b.block());
    let round = b.param(head, u);
    b.jump(head, &[start]);
    b.switch_to(head);
    let exit_of = |b: &mut Builder, held: &[Value]| {
        let places = held.iter().enumerate().map(|(i, &x)| (host.places(b.region.ty(x))[i], x)).collect();
        b.exit(exit(&host, mask, places, vec![]))
    };
    let [guard, first, second] = compute(&mut b, [x, y, round]);
    let guard = exit_of(&mut b, &guard);
    b.effect(Kind::Guard { exit: guard }, &[condition]);
    let next = b.op(Op::Add, I32, &[round, round]);
    let more = b.op(Op::Lt, I32, &[next, round]);
    b.branch(more, (head, &[next]), (behind, &[]));
    b.switch_to(behind);
    b.branch(condition, (one, &[]), (other, &[]));
    for (block, held) in [(one, first), (other, second)] {
        b.switch_to(block);
        let out = exit_of(&mut b, &held);
        b.end(End::Exit(out));
    }
    let mut region = b.region;
    run_pass("sink", &mut region);
    region
}

#[test]
fn what_is_needed_behind_a_loop_is_computed_there() {
    let region = looping(|b, [x, _, u]| {
        let product = b.op(Op::Mul, I32, &[x, u]);
        let more = b.op(Op::Xor, I32, &[product, u]);
        [vec![], vec![more], vec![]]
    });
    assert_eq!(operations(&region, 1), [Op::Add, Op::Lt], "{region}");
    assert_eq!(operations(&region, 3), [Op::Mul, Op::Xor], "{region}");
}

#[test]
fn several_blocks_get_copies_beside_those_that_exits_compute() {
    let region = looping(|b, [x, _, u]| {
        let product = b.op(Op::Mul, I32, &[x, u]);
        let more = b.op(Op::Xor, I32, &[product, u]);
        [vec![more], vec![more], vec![product, more]]
    });
    assert_eq!(operations(&region, 1), [Op::Mul, Op::Xor, Op::Add, Op::Lt], "{region}");
    assert_eq!(operations(&region, 3), [Op::Mul, Op::Xor], "{region}");
    // Of what two exits share, each gets its own.
    assert_eq!(operations(&region, 4), [Op::Mul, Op::Xor], "{region}");
    let own = |block: u32, at: usize| region.block(BlockId(block)).insts[at].result.unwrap();
    let held = |block: u32| match region.block(BlockId(block)).end {
        End::Exit(exit) => region.exits[exit.index()].values().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    assert!(held(3).contains(&own(3, 1)) && held(4).contains(&own(4, 0)) && held(4).contains(&own(4, 1)), "{region}");
}

#[test]
fn what_its_loop_needs_stays_there() {
    let region = looping(|b, [x, _, u]| {
        let product = b.op(Op::Mul, I32, &[u, u]);
        let sum = b.op(Op::Add, I32, &[x, product]);
        let any = b.op(Op::Xor, I32, &[product, u]);
        let exit = b.exit(exit(&Host::new(Width::DEFAULT), Value(2), vec![], vec![]));
        let is = b.op(Op::Eq, I32, &[any, u]);
        b.effect(Kind::Guard { exit }, &[is]);
        [vec![product], vec![sum, product], vec![]]
    });
    assert_eq!(operations(&region, 1), [Op::Mul, Op::Xor, Op::Eq, Op::Add, Op::Lt], "{region}");
    assert_eq!(operations(&region, 3), [Op::Add], "{region}");
}

/// What a loop computes with bytes as `int`s, and a block behind it hands on, is converted in that block.
#[test]
fn what_blocks_behind_a_loop_hand_on_is_narrow_in_it() {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let mut register = |ty, i: usize| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty);
    let (v, u) = (Type::varying(I32), Type::uniform(I32));
    let [x, y] = [0, 1].map(|i| register(v, i));
    let (mask, start) = (register(Type::MASK, 0), register(u, 0));
    let [head, behind, last] = [(); 3].map(|()| b.block());
    let round = b.param(head, u);
    b.jump(head, &[start]);
    b.switch_to(head);
    let mut cast = |v, from, ty| b.inst(Kind::Op { op: Op::Convert, ty, from }, &[v], Type::varying(ty));
    let [x, y] = [x, y].map(|v| cast(v, I32, Ty::U8));
    let [x, y] = [x, y].map(|v| cast(v, Ty::U8, I32));
    let low = b.op(Op::Min, I32, &[x, y]);
    let high = b.op(Op::Max, I32, &[low, y]);
    let next = b.op(Op::Add, I32, &[round, round]);
    let more = b.op(Op::Lt, I32, &[next, round]);
    b.branch(more, (head, &[next]), (behind, &[]));
    b.switch_to(behind);
    let [p, q] = [0, 1].map(|_| b.param(last, v));
    b.jump(last, &[high, x]);
    b.switch_to(last);
    let places = [p, q].into_iter().enumerate().map(|(i, x)| (host.places(v)[i], x)).collect();
    let out = b.exit(exit(&host, mask, places, vec![]));
    b.end(End::Exit(out));
    let mut region = b.region;
    run_pass("narrow", &mut region);
    let sizes = |block: usize| -> Vec<usize> {
        let results = region.blocks[block].insts.iter().filter_map(|inst| inst.result);
        results.map(|v| region.ty(v)).filter(|ty| ty.is_varying()).map(|ty| ty.ty.size()).collect()
    };
    assert!(sizes(1).iter().all(|&size| size == 1), "{region}");
    assert_eq!(sizes(2), [4, 4], "{region}");
}
