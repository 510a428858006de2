//! Checks of bounds of pointers that are checked for one constant index.

mod harness;

use harness::Host;
use harness::by_hand::*;
use harness::passing::run_pass;
use harness::values::Rng;
use spmdvm_jit::Backend;
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

const I64: Ty = Ty::I64;

/// What a check by a constant or some other index says, and the lower bound, if something else asks for it, too.
fn region(host: &Host, [scale, need]: [u32; 2], disp: i64, index: Option<u64>, shared: bool) -> Region {
    let words = host.places(U64);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let [pointer, len] = [0, 1].map(|i| entry(&mut b, words[i]));
    let index = match index {
        Some(bits) => b.constant(I64, bits),
        None => entry(&mut b, host.places(Type::uniform(I64))[0]),
    };
    let low = b.inst(Kind::IndexLow { scale, disp, ty: I64 }, &[pointer], Type::uniform(I64));
    let span = b.inst(Kind::IndexSpan { scale, disp, need, ty: I64 }, &[pointer, len], U64);
    let distance = b.op(Op::Sub, I64, &[index, low]);
    let bits = b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::U64, from: I64 }, &[distance], U64);
    let ok = b.op(Op::Lt, Ty::U64, &[bits, span]);
    let mut regs = vec![(host.places(Type::BOOL)[1], ok)];
    regs.extend(shared.then_some((host.places(Type::uniform(I64))[1], low)));
    leave(&mut b, host, mask, regs);
    b.region
}

fn made(mut region: Region) -> Arc<Region> {
    run_pass("lone_checks", &mut region);
    run_pass("dead", &mut region);
    Arc::new(region)
}

fn spans(region: &Region) -> usize {
    let is_span = |kind: Kind| matches!(kind, Kind::IndexSpan { .. } | Kind::IndexLow { .. });
    region.blocks.iter().flat_map(|block| &block.insts).filter(|inst| is_span(inst.kind)).count()
}

/// Pointers to everywhere in regions, before and behind them, and the poisoned one; indices at the ends of their type.
#[test]
fn they_say_what_they_said() {
    let mut host = host(4);
    let words = host.places(U64);
    let offsets = [0u64, 4, 7, 1000, 1 << 33, (1 << 39) - 1, 1 << 39, (1 << 40) - 12, (1 << 40) - (1 << 34)];
    let lens = [0u64, 1, 4, 63, 64, 4096, (1 << 31) + 5, 1 << 38];
    let indices =
        [0, 60, 1 << 20, 1 << 39, 1 << 60, 1 << 63].map(|at: u64| [at, at.wrapping_neg(), at.wrapping_sub(3)]);
    let mut lone = 0;
    for (disp, need) in [(0, 1), (-8, 4), (5, 64), (1 << 36, 184), (-(1 << 36), 1 << 20), (1 << 60, 4), (-(1 << 60), 4)]
    {
        for index in indices.into_iter().flatten() {
            let before = Arc::new(region(&host, [1, need], disp, Some(index), false));
            let after = made(Region::clone(&before));
            lone += (spans(&after) == 0) as usize;
            let mut codes = vec![Arc::from(Ir.compile(before).unwrap()), Arc::from(Ir.compile(after.clone()).unwrap())];
            codes.extend(harness::x86().map(|x86| Arc::from(x86.compile(after.clone()).unwrap())));
            for (offset, len) in offsets.into_iter().flat_map(|offset| lens.map(|len| (offset, len))) {
                let mut input = host.random_input(&mut Rng(1), false);
                input.registers[words[0].reg.index()] = vec![3 << 40 | offset];
                input.registers[words[1].reg.index()] = vec![len];
                host.agree_codes(&after, &codes, &input);
            }
        }
    }
    assert!(lone > 80, "{lone}");
}

#[test]
fn bounds_for_several_indices_stay() {
    let host = host(4);
    let spans = |shape, index, shared| spans(&made(region(&host, shape, 0, index, shared)));
    assert_eq!(spans([1, 4], Some(0), false), 0);
    assert_eq!(spans([1, 4], Some(0), true), 2, "what something else needs");
    assert_eq!(spans([4, 4], Some(0), false), 2, "by elements");
    assert_eq!(spans([1, 4], None, false), 2, "an index that varies might wrap");
}

/// The host address is counted from the region's beginning, by the same offset.
#[test]
fn an_address_takes_the_offset() {
    let host = host(4);
    let mut b = Builder::new(host.width, host.function, 1);
    let pointer = entry(&mut b, host.places(U64)[0]);
    let zero = b.constant(I64, 0);
    let len = b.region_len(pointer, false);
    let low = b.inst(Kind::IndexLow { scale: 1, disp: 8, ty: I64 }, &[pointer], Type::uniform(I64));
    let span = b.inst(Kind::IndexSpan { scale: 1, disp: 8, need: 4, ty: I64 }, &[pointer, len], U64);
    let distance = b.op(Op::Sub, I64, &[zero, low]);
    let bits = b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::U64, from: I64 }, &[distance], U64);
    let ok = b.op(Op::Lt, Ty::U64, &[bits, span]);
    let mask = execution_mask(&mut b);
    let exit = b.exit(harness::exit(&host, mask, vec![], vec![]));
    b.effect(Kind::Guard { exit }, &[ok]);
    let host_address = b.inst(Kind::HostAddress { disp: 8 }, &[pointer, len], U64);
    let x: Value = b.inst(Kind::Load { ty: Ty::I32 }, &[host_address], Type::uniform(Ty::I32));
    leave(&mut b, &host, mask, vec![(host.places(Type::uniform(Ty::I32))[0], x)]);
    let after = made(b.region);
    let kinds: Vec<Kind> = after.blocks[0].insts.iter().map(|inst| inst.kind).collect();
    assert!(kinds.contains(&Kind::RegionBase), "{after}");
    assert!(!kinds.iter().any(|kind| matches!(kind, Kind::HostAddress { .. })), "{after}");
}
