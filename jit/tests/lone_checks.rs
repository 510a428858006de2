//! Checks of bounds of pointers that are checked for one constant index.

mod harness;

use harness::Host;
use harness::by_hand::*;
use harness::passing::run_pass;
use harness::values::Rng;
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Kind, Region, SPARE_INDICES, Type, Value};
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
    assert_eq!(spans([4, 4], Some(0), false), 2, "by elements, up to the end of 64 bits");
    assert_eq!(spans([1, 4], None, false), 2, "an index that varies might wrap");
}

/// The check of an index of 32 bits in a register, or of one that is known, and of some of its neighbours.
fn region_of_32(host: &Host, ty: Ty, [scale, need]: [u32; 2], disp: i64, index: Option<u32>, more: u64) -> Region {
    let words = host.places(U64);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let [pointer, len] = [0, 1].map(|i| entry(&mut b, words[i]));
    let index = match index {
        Some(bits) => b.constant(ty, bits.into()),
        None => entry(&mut b, host.places(Type::uniform(ty))[0]),
    };
    let low = b.inst(Kind::IndexLow { scale, disp, ty }, &[pointer], Type::uniform(ty));
    let span = b.inst(Kind::IndexSpan { scale, disp, need, ty }, &[pointer, len], Type::uniform(Ty::U32));
    let distance = b.op(Op::Sub, ty, &[index, low]);
    let distance = match ty {
        Ty::U32 => distance,
        _ => b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::U32, from: ty }, &[distance], Type::uniform(Ty::U32)),
    };
    let span = match more {
        0 => span,
        _ => {
            let more = b.constant(Ty::U32, more);
            let many = b.op(Op::Max, Ty::U32, &[span, more]);
            b.op(Op::Sub, Ty::U32, &[many, more])
        }
    };
    let ok = b.op(Op::Lt, Ty::U32, &[distance, span]);
    leave(&mut b, host, mask, vec![(host.places(Type::BOOL)[1], ok)]);
    b.region
}

/// By elements of structures, before and behind the pointer, of one or several. An index that is above all that a span has is left out
/// where only the bytes of its element are asked for: there it may be in bounds.
#[test]
fn they_say_what_they_said_of_32_bits() {
    let mut host = host(4);
    let words = host.places(U64);
    let offsets = [0u64, 4, 1000, 1 << 33, (1 << 39) - 1, 1 << 39, (1 << 40) - 12, (1 << 40) - (1 << 34)];
    let lens = [0u64, 1, 4, 63, 64, 4096, (1 << 31) + 5, (1 << 34) + 7, 1 << 38];
    let spare = SPARE_INDICES as u32;
    for ty in [Ty::I32, Ty::U32] {
        let ends = [i32::MAX as u32, u32::MAX].map(|end| [end, end - 1, end - spare - 1, end - spare, end - spare + 1]);
        let indices: Vec<u32> = [0, 1, 2, 15, 16, 1 << 20].into_iter().chain(ends.into_iter().flatten()).collect();
        let most = if ty == Ty::I32 { i32::MAX as u32 } else { u32::MAX } - spare;
        for ([scale, need], disp, more) in [
            ([4, 4], 0, 0),
            ([12, 4], 8, 0),
            ([1, 1], 0, 0),
            ([4, 64], 0, 0),
            ([4, 4], 12, 0),
            ([4, 4], -8, 0),
            ([4, 4], 0, 3),
            ([1 << 22, 184], 1 << 36, 1),
            ([12, 8], -(1 << 36), 2),
        ] {
            let is_within = disp >= 0 && disp + i64::from(need) <= i64::from(scale) && more == 0;
            let mut of_known = indices.clone();
            of_known.truncate(if is_within { 6 } else { usize::MAX });
            for index in std::iter::once(None).chain(of_known.into_iter().map(Some)) {
                let before = Arc::new(region_of_32(&host, ty, [scale, need], disp, index, more));
                let after = made(Region::clone(&before));
                // Known to be above all, it is left as it was.
                let is_above = index
                    .is_some_and(|index| index > most - more as u32 && (ty == Ty::U32 || index <= i32::MAX as u32));
                assert_eq!(spans(&after), if is_above { 2 } else { 0 }, "{after}");
                let mut codes: Vec<Arc<dyn Executable>> = Vec::new();
                codes.push(Arc::from(Ir.compile(before).unwrap()));
                codes.push(Arc::from(Ir.compile(after.clone()).unwrap()));
                codes.extend(harness::x86().map(|x86| Arc::from(x86.compile(after.clone()).unwrap())));
                let of_entry = if index.is_none() { indices.clone() } else { vec![0] };
                for index in
                    of_entry.into_iter().filter(|&i| !is_within || i <= most || ty == Ty::I32 && i > i32::MAX as u32)
                {
                    for (offset, len) in offsets.into_iter().flat_map(|offset| lens.map(|len| (offset, len))) {
                        let mut input = host.random_input(&mut Rng(1), false);
                        input.registers[words[0].reg.index()] = vec![3 << 40 | offset];
                        input.registers[words[1].reg.index()] = vec![len];
                        input.registers[host.places(Type::uniform(ty))[0].reg.index()] = vec![index.into()];
                        host.agree_codes(&after, &codes, &input);
                    }
                }
            }
        }
    }
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
