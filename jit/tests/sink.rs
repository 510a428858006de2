//! What only cold blocks need is computed there.

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
