//! The pass that computes scaled indices where memory is accessed.

mod harness;

use harness::by_hand::{U64, entry, execution_mask, leave};
use harness::passing::run_pass;
use harness::{Host, exit};
use spmdvm_jit::ir::{BlockId, Builder, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};

const I64: Ty = Ty::I64;

/// What else a region does with the product of an index and a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Asks {
    /// The snapshot of a guard and a cold block.
    Seldom,
    /// The block of the access itself, for something else.
    There,
    /// A loop, in which the access is.
    Loop,
}

/// Loads an element in a block behind the one that computes its distance, which has so many bits more than the index.
fn region(bits: u64, asks: Asks) -> Region {
    let host = Host::new(Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let u = entry(&mut b, host.places(Type::uniform(Ty::I32))[0]);
    let pointer = entry(&mut b, host.places(U64)[0]);
    let address = b.host_address(pointer, 0);
    let wide = b.inst(Kind::Op { op: Op::Convert, ty: I64, from: Ty::I32 }, &[u], Type::uniform(I64));
    let bits = b.constant(I64, bits);
    let product = b.op(Op::Shl, I64, &[wide, bits]);
    let sum = |b: &mut Builder| b.inst(Kind::Op { op: Op::PAdd, ty: Ty::U64, from: Ty::U64 }, &[pointer, product], U64);
    let held = sum(&mut b);
    let out = b.exit(exit(&host, mask, vec![(host.places(U64)[1], held)], vec![]));
    let condition = b.inst(Kind::AnyLane, &[mask], Type::BOOL);
    b.effect(Kind::Guard { exit: out }, &[condition]);
    let [fast, slow, done] = [(); 3].map(|()| b.block());
    b.branch(condition, (fast, &[]), (slow, &[]));
    b.region.blocks[slow.index()].cold = true;
    b.switch_to(fast);
    let distance = b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::U64, from: I64 }, &[product], U64);
    let at = b.op(Op::Add, Ty::U64, &[address, distance]);
    let x = b.inst(Kind::Load { ty: Ty::I32 }, &[at], Type::uniform(Ty::I32));
    let kept = host.places(Type::uniform(Ty::I32))[1];
    match asks {
        Asks::Loop => {
            let more = b.op(Op::Lt, Ty::I32, &[x, u]);
            b.branch(more, (fast, &[]), (done, &[]));
        }
        Asks::There => {
            let other = b.op(Op::Sub, I64, &[product, wide]);
            let low = b.inst(Kind::Op { op: Op::Convert, ty: Ty::I32, from: I64 }, &[other], Type::uniform(Ty::I32));
            leave(&mut b, &host, mask, vec![(kept, low), (host.places(Type::uniform(Ty::I32))[2], x)]);
        }
        Asks::Seldom => leave(&mut b, &host, mask, vec![(kept, x)]),
    }
    for block in [slow, done] {
        b.switch_to(block);
        let pointer = if block == slow { sum(&mut b) } else { pointer };
        leave(&mut b, &host, mask, vec![(host.places(U64)[1], pointer)]);
    }
    let mut region = b.region;
    for pass in ["gvn", "addresses", "sink", "dead"] {
        run_pass(pass, &mut region);
    }
    region
}

/// How often a block shifts.
fn shifts(region: &Region, block: u32) -> usize {
    let insts = region.block(BlockId(block)).insts.iter();
    insts.filter(|inst| matches!(inst.kind, Kind::Op { op: Op::Shl, .. })).count()
}

/// The distance of what a block loads from, and what that is made of.
fn distance(region: &Region) -> Vec<Op> {
    let insts = || region.blocks.iter().flat_map(|block| &block.insts);
    let made_by = |v: Value| insts().find(|inst| inst.result == Some(v)).unwrap();
    let sum = insts().find(|inst| matches!(inst.kind, Kind::Op { op: Op::Add, .. })).unwrap();
    let mut v = sum.args[1];
    let mut ops = Vec::new();
    while let Kind::Op { op, .. } = made_by(v).kind {
        ops.push(op);
        v = made_by(v).args[0];
    }
    ops
}

#[test]
fn a_product_for_snapshots_and_slow_ways_is_computed_again_for_the_access() {
    let region = region(2, Asks::Seldom);
    // The first one is for the guard's exit only.
    assert_eq!([0, 1, 2].map(|block| shifts(&region, block)), [1, 1, 1], "{region}");
    assert_eq!(distance(&region), [Op::Shl, Op::Convert], "{region}");
}

#[test]
fn what_is_needed_anyway_or_is_no_part_of_an_operand_is_computed_once() {
    for (bits, asks) in [(2, Asks::There), (4, Asks::Seldom), (2, Asks::Loop)] {
        let region = region(bits, asks);
        let found = [0, 1].map(|block| shifts(&region, block));
        assert_eq!(found, [1, 0], "{asks:?}, {bits} bits: {region}");
        assert_eq!(distance(&region), [Op::Bitcast, Op::Shl, Op::Convert], "{region}");
    }
}
