//! Regions that check the bounds of accesses as the recorder does.

use super::values::Rng;
use super::{Host, exit};
use spmdvm_jit::ir::{BlockId, Builder, End, EntryMask, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Shape, Ty};

/// A region that checks accesses to an array as the recorder does, by indices that differ by constants, in lanes or for all;
/// effects lie between some of them.
pub fn checks(host: &Host, seed: u64) -> Region {
    let mut rng = Rng(seed);
    let mut b = Builder::new(host.width, host.function, 1);
    let ty = rng.pick(&[Ty::I32, Ty::U32, Ty::I64, Ty::U64]);
    let count = if ty.size() == 4 { Ty::U32 } else { Ty::U64 };
    let shape = rng.pick(&[Shape::Uniform, Shape::Varying]);
    let read = |b: &mut Builder, ty: Type| b.inst(Kind::EntryReg { at: host.places(ty)[0].at }, &[], ty);
    let x = read(&mut b, Type { shape, ty });
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let number = Type::uniform(ty);
    let elems = [Ty::I32, Ty::F64, Ty::I16];
    let offset = |rng: &mut Rng, elem: Ty| rng.below(3) as u64 * elem.size() as u64;
    let pointers = elems.map(|elem| b.constant(Ty::U64, host.pointer(elem) + offset(&mut rng, elem)));
    let factor = 1 + rng.below(3) as u32;
    let one_array = rng.chance(40);
    let (head, rounds) = (b.block(), rng.below(3) as u64);
    let zero = b.constant(Ty::I32, 0);
    b.jump(head, &[x, zero]);
    b.switch_to(head);
    let (x, round) = (b.param(head, Type { shape, ty }), b.param(head, Type::uniform(Ty::I32)));
    let masked = rng.chance(50);
    for i in 0..2 + rng.below(6) {
        if rng.chance(20) {
            b.effect(Kind::Count(i as u32), &[]);
        }
        let which = if one_array { 0 } else { rng.below(3) };
        let (elem, pointer) = (elems[which], pointers[which]);
        let scale = elem.size() as u32 * factor;
        let disp = if rng.chance(60) { 0 } else { elem.size() as i64 * (rng.below(5) as i64 - 2) };
        let need = elem.size() as u32 * (1 + rng.below(3) as u32);
        let k = if rng.chance(90) { rng.below(7) as i64 - 3 } else { rng.below(200) as i64 - 100 };
        let k = b.constant(ty, k as u64);
        let index = if rng.chance(10) { k } else { b.op(Op::Add, ty, &[x, k]) };
        let len = b.region_len(pointer, rng.chance(30));
        let low = b.inst(Kind::IndexLow { scale, disp, ty }, &[pointer], number);
        let span = b.inst(Kind::IndexSpan { scale, disp, need, ty }, &[pointer, len], Type::uniform(count));
        let ok = within(&mut b, index, low, span, masked.then_some(mask));
        let out = b.exit(exit(host, mask, vec![], vec![]));
        b.effect(Kind::Guard { exit: out }, &[ok]);
    }
    let (one, one_i32, most) = (b.constant(ty, 1), b.constant(Ty::I32, 1), b.constant(Ty::I32, rounds));
    let (next, round) = (b.op(Op::Add, ty, &[x, one]), b.op(Op::Add, Ty::I32, &[round, one_i32]));
    let more = b.op(Op::Lt, Ty::I32, &[round, most]);
    let done = b.block();
    b.branch(more, (head, &[next, round]), (done, &[]));
    b.switch_to(done);
    let out = b.exit(exit(host, mask, vec![], vec![]));
    b.end(End::Exit(out));
    b.region
}

/// Whether an index is at least `low` and less than `span` beyond, in all lanes of a mask. Computed as the recorder does it.
pub fn within(b: &mut Builder, index: Value, low: Value, span: Value, mask: Option<Value>) -> Value {
    let (from, count) = (b.region.ty(index).ty, b.region.ty(span).ty);
    let mut distance = b.op(Op::Sub, from, &[index, low]);
    if count != from {
        let shape = b.region.ty(distance).shape;
        distance = b.inst(Kind::Op { op: Op::Bitcast, ty: count, from }, &[distance], Type { shape, ty: count });
    }
    let ok = b.op(Op::Lt, count, &[distance, span]);
    if !b.region.ty(ok).is_varying() {
        return ok;
    }
    let bad = b.op(Op::Not, Ty::Bool, &[ok]);
    let bad = mask.map_or(bad, |mask| b.op(Op::And, Ty::Bool, &[mask, bad]));
    let some = b.inst(Kind::AnyLane, &[bad], Type::BOOL);
    b.op(Op::Not, Ty::Bool, &[some])
}

/// A loop that counts up or down to a limit and accesses an array by what it counts, as the recorder makes them: the test
/// before the accesses or after them, indices of 32 or 64 bits, entered at its start or in the middle; with guards that no round
/// changes, slow ways of accesses, polls for fuel, and an element by another pointer that a round may overwrite.
pub fn counted(host: &Host, seed: u64) -> Region {
    let mut rng = Rng(seed);
    let mut b = Builder::new(host.width, host.function, 1);
    let (counter, ty) = (rng.pick(&[Ty::I32, Ty::U32, Ty::I64, Ty::U64]), rng.pick(&[Ty::I32, Ty::U32, Ty::I64]));
    let count = if ty.size() == 4 { Ty::U32 } else { Ty::U64 };
    let ty = if counter.size() < ty.size() { if ty.is_signed() { Ty::I32 } else { Ty::U32 } } else { ty };
    let count = if ty.size() == 4 { Ty::U32 } else { count };
    let read = |b: &mut Builder, ty: Type, i: usize| b.inst(Kind::EntryReg { at: host.places(ty)[i].at }, &[], ty);
    let (start, limit) = (read(&mut b, Type::uniform(counter), 0), read(&mut b, Type::uniform(counter), 1));
    let place = host.places(Type::uniform(counter))[0];
    let base = read(&mut b, Type::uniform(ty), 2);
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let elem = rng.pick(&[Ty::I16, Ty::I32, Ty::F64]);
    let pointer = b.constant(Ty::U64, host.pointer(elem));
    let scale = elem.size() as u32;
    let len = b.region_len(pointer, true);
    let low = b.inst(Kind::IndexLow { scale, disp: 0, ty }, &[pointer], Type::uniform(ty));
    let span = Kind::IndexSpan { scale, disp: 0, need: scale, ty };
    let span = b.inst(span, &[pointer, len], Type::uniform(count));
    let memory = b.host_address(pointer, 0);
    let element = rng.chance(50).then(|| {
        let pointer = b.constant(Ty::U64, host.pointer(elem) + (elem.size() * (1 + rng.below(30))) as u64);
        b.host_address(pointer, 0)
    });
    let up = rng.chance(70);
    let size = [1i64, 2, 4, 3][rng.below(4)];
    let step = b.constant(counter, if up { size } else { -size } as u64);
    let compare = match (up, rng.chance(50)) {
        (true, true) => Op::Lt,
        (true, false) => Op::Le,
        (false, true) => Op::Gt,
        (false, false) => Op::Ge,
    };
    let (head, body, rest, done) = (b.block(), b.block(), b.block(), b.block());
    let test_first = rng.chance(50);
    let i = b.param(head, Type::uniform(counter));
    // What else changes by constants, or in another way, or not at all.
    let (i16_, floats) = (Type::uniform(Ty::I16), Type::varying(Ty::F32));
    let (other, sum, kept) = (b.param(head, i16_), b.param(head, floats), b.param(head, Type::uniform(Ty::I64)));
    let by = b.constant(Ty::I16, [1u64, 4, 65535, 12][rng.below(4)]);
    let scale_of_sum = read(&mut b, Type::uniform(Ty::F32), 0);
    let others = [read(&mut b, i16_, 0), read(&mut b, floats, 0), read(&mut b, Type::uniform(Ty::I64), 2)];
    // No round changes it.
    let settled = rng.chance(40).then(|| b.op(Op::Ge, counter, &[limit, step]));
    b.jump(head, &[&[start], &others[..]].concat());
    b.switch_to(head);
    let places = [i16_, floats, Type::uniform(Ty::I64)].map(|ty| host.places(ty)[0]);
    let state = |i: Value| [(place, i), (places[0], other), (places[1], sum), (places[2], kept)];
    let leave = |b: &mut Builder, i: Value| {
        // The counter may be in the place of what is kept.
        let at = if places[2] == place { 3 } else { 4 };
        b.exit(exit(host, mask, state(i)[..at].to_vec(), vec![]))
    };
    let branch = |b: &mut Builder, i: Value, on: BlockId, swapped: bool, inverted: bool| {
        let op = match (inverted, compare) {
            (false, op) => op,
            (true, Op::Lt) => Op::Ge,
            (true, Op::Le) => Op::Gt,
            (true, Op::Gt) => Op::Le,
            (true, _) => Op::Lt,
        };
        let swap = |op| match op {
            Op::Lt => Op::Gt,
            Op::Gt => Op::Lt,
            Op::Le => Op::Ge,
            _ => Op::Le,
        };
        let more = if swapped { b.op(swap(op), counter, &[limit, i]) } else { b.op(op, counter, &[i, limit]) };
        let (then, other) = if inverted { (done, on) } else { (on, done) };
        b.branch(more, (then, &[]), (other, &[]));
    };
    let (swapped, inverted) = (rng.chance(30), rng.chance(30));
    if test_first {
        branch(&mut b, i, body, swapped, inverted);
    } else {
        b.jump(body, &[]);
    }
    b.switch_to(body);
    // Ways that leave the region, before a round has done anything, and behind that.
    let mut ways = Rng(seed ^ 0x5bd1_e995);
    let way_out = |b: &mut Builder, ways: &mut Rng| {
        let [low, one] = [31, ways.below(32) as u64].map(|x| b.constant(Ty::I16, x));
        let low = b.op(Op::And, Ty::I16, &[other, low]);
        let goes = ways.chance(50);
        let cond = b.op(if goes { Op::Eq } else { Op::Ne }, Ty::I16, &[low, one]);
        let (left, on, [first, second]) = (b.block(), b.block(), [0; 2].map(|_| b.block()));
        let (then, other) = if goes { (left, on) } else { (on, left) };
        b.branch(cond, (then, &[]), (other, &[]));
        b.switch_to(left);
        b.effect(Kind::Count(2), &[]);
        let fork = b.op(Op::Eq, Ty::F32, &[scale_of_sum, scale_of_sum]);
        b.branch(fork, (first, &[]), (second, &[]));
        for block in [first, second] {
            b.switch_to(block);
            let out = leave(b, i);
            b.end(End::Exit(out));
        }
        b.switch_to(on);
    };
    if ways.chance(20) {
        way_out(&mut b, &mut ways);
    }
    let out = leave(&mut b, i);
    b.effect(Kind::Tick { units: 1, exit: out }, &[]);
    if ways.chance(5) {
        way_out(&mut b, &mut ways);
    }
    for _ in 0..rng.below(5).saturating_sub(2) {
        b.effect(Kind::FramePass, &[]);
    }
    let factor = b.constant(counter, [1u64, 1, 2, u64::MAX][rng.below(4)]);
    let scaled = b.op(Op::Mul, counter, &[i, factor]);
    let index = match (counter == ty, counter.size() == ty.size()) {
        (true, _) => scaled,
        (_, true) => b.inst(Kind::Op { op: Op::Bitcast, ty, from: counter }, &[scaled], Type::uniform(ty)),
        _ => b.inst(Kind::Op { op: Op::Convert, ty, from: counter }, &[scaled], Type::uniform(ty)),
    };
    let index = b.op(Op::Add, ty, &[index, base]);
    for k in [0, 1, -3i64].into_iter().take(1 + rng.below(3)) {
        let k = b.constant(ty, k as u64);
        let index = b.op(Op::Add, ty, &[index, k]);
        let ok = within(&mut b, index, low, span, None);
        let out = leave(&mut b, i);
        if let Some(settled) = settled {
            b.effect(Kind::Guard { exit: out }, &[settled]);
        }
        if rng.chance(30) {
            b.effect(Kind::Tick { units: 1, exit: out }, &[]);
        }
        // What is out of bounds leaves the region, or goes a slow way.
        let join = rng.chance(30).then(|| {
            let [fast, slow, join] = [0; 3].map(|_| b.block());
            b.region.blocks[slow.index()].cold = true;
            b.branch(ok, (fast, &[]), (slow, &[]));
            b.switch_to(slow);
            b.effect(Kind::Count(2), &[]);
            b.jump(join, &[]);
            b.switch_to(fast);
            join
        });
        if join.is_none() {
            b.effect(Kind::Guard { exit: out }, &[ok]);
        }
        let index = if ty.size() == 8 {
            b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::U64, from: ty }, &[index], Type::uniform(Ty::U64))
        } else {
            b.inst(Kind::Op { op: Op::Convert, ty: Ty::U64, from: ty }, &[index], Type::uniform(Ty::U64))
        };
        let bytes = b.constant(Ty::U64, scale as u64);
        let offset = b.op(Op::Mul, Ty::U64, &[index, bytes]);
        let at = b.op(Op::Add, Ty::U64, &[memory, offset]);
        let old = b.inst(Kind::Load { ty: elem }, &[at], Type::uniform(elem));
        let mut new = b.op(if elem.is_float() { Op::Neg } else { Op::Not }, elem, &[old]);
        if let Some(element) = element {
            let element = b.inst(Kind::Load { ty: elem }, &[element], Type::uniform(elem));
            new = b.op(Op::Sub, elem, &[new, element]);
        }
        b.effect(Kind::Store { ty: elem }, &[at, new]);
        if let Some(join) = join {
            b.jump(join, &[]);
            b.switch_to(join);
        }
    }
    b.effect(Kind::Count(1), &[]);
    let next = b.op(Op::Add, counter, &[i, step]);
    let next_sum = b.op(Op::Fma, Ty::F32, &[scale_of_sum, sum, scale_of_sum]);
    let next_others = [b.op(Op::Add, Ty::I16, &[other, by]), next_sum, kept];
    if test_first {
        b.jump(rest, &[]);
    } else {
        branch(&mut b, next, rest, swapped, inverted);
    }
    b.switch_to(rest);
    b.jump(head, &[&[next], &next_others[..]].concat());
    b.switch_to(done);
    let out = leave(&mut b, if test_first { i } else { next });
    b.end(End::Exit(out));
    b.region
}
