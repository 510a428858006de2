//! What the back end of wide vectors keeps out of loops: counters in memory, what only exits ask for, and what nobody reads.

mod harness;

use harness::by_hand::*;
use harness::crowd::{Crowd, crowded_exit};
use harness::values::Rng;
use harness::{BankRegister, COUNTERS, Host, exit};
use spmdvm_jit::Backend;
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{BlockId, Builder, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

/// A loop's head, and the number of its rounds so far.
struct Loop {
    head: BlockId,
    round: Value,
}

impl Loop {
    /// Begins one that hands values on.
    fn begin(b: &mut Builder, carried: &[Value]) -> (Loop, Vec<Value>) {
        let (head, zero) = (b.block(), b.constant(Ty::I32, 0));
        let all: Vec<Value> = carried.iter().copied().chain([zero]).collect();
        b.jump(head, &all);
        let params = carried.iter().map(|&v| b.param(head, b.region.ty(v))).collect();
        let round = b.param(head, Type::uniform(Ty::I32));
        b.switch_to(head);
        (Loop { head, round }, params)
    }

    /// Goes round so many times, and on.
    fn end(self, b: &mut Builder, carried: &[Value], rounds: u64) {
        let (next, done, one) = (b.block(), b.block(), b.constant(Ty::I32, 1));
        let most = b.constant(Ty::I32, rounds);
        let round = b.op(Op::Add, Ty::I32, &[self.round, one]);
        let more = b.op(Op::Lt, Ty::I32, &[round, most]);
        b.branch(more, (next, &[]), (done, &[]));
        b.switch_to(next);
        let all: Vec<Value> = carried.iter().copied().chain([round]).collect();
        b.jump(self.head, &all);
        b.switch_to(done);
    }
}

/// What the code of cold blocks, behind all others, leads back to is no loop: it stands where it stood.
#[test]
fn a_way_around_moves_nothing() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let mut b = Builder::new(host.width, host.function, 1);
    let (mask, ty) = (execution_mask(&mut b), Type::uniform(Ty::I32));
    let [x, y] = [0, 1].map(|i| entry(&mut b, host.places(ty)[i]));
    let [usual, around, join, most, rest] = [(); 5].map(|()| b.block());
    let result = b.param(join, ty);
    let less = b.op(Op::Lt, Ty::I32, &[x, y]);
    b.branch(less, (usual, &[]), (around, &[]));
    b.switch_to(usual);
    let sum = b.op(Op::Add, Ty::I32, &[x, y]);
    b.jump(join, &[sum]);
    b.switch_to(around);
    let bits = b.op(Op::Or, Ty::I32, &[x, y]);
    b.jump(join, &[bits]);
    b.region.blocks[around.index()].cold = true;
    b.switch_to(join);
    let product = b.op(Op::Mul, Ty::I32, &[result, result]);
    let is_small = b.op(Op::Lt, Ty::I32, &[product, y]);
    b.branch(is_small, (most, &[]), (rest, &[]));
    for (block, value) in [(most, product), (rest, result)] {
        b.switch_to(block);
        leave(&mut b, &host, mask, vec![(host.places(ty)[2], value)]);
    }
    let text = listing(&x86, finished(b));
    let place = |of: &str| text.lines().position(|line| line.contains(of)).expect(of);
    assert!(place(" imul ") < place(" or "), "{text}");
}

/// More counters than there are in a register, in loops that ask for fuel, call the runtime and are left early; some in the entry
/// block.
#[test]
fn counters_are_added_up_wherever_they_are() {
    if harness::x86().is_none() {
        return;
    }
    for (n, lanes) in [1, 3, 16, COUNTERS as u32].into_iter().flat_map(|n| [4, 16].map(|lanes| (n, lanes))) {
        let mut host = host(lanes);
        let mut b = Builder::new(host.width, host.function, 1);
        let mask = execution_mask(&mut b);
        let half = entry(&mut b, host.places(Type::varying(Ty::F16))[0]);
        b.effect(Kind::Count(0), &[]);
        // The runtime multiplies and adds halves.
        let twice = b.op(Op::Fma, Ty::F16, &[half, half, half]);
        b.effect(Kind::Count(n - 1), &[]);
        let (outer, _) = Loop::begin(&mut b, &[]);
        b.effect(Kind::Count(n / 2), &[]);
        let (inner, params) = Loop::begin(&mut b, &[twice]);
        let sum = b.op(Op::Fma, Ty::F16, &[params[0], half, half]);
        let polled = b.exit(exit(&host, mask, vec![(host.places(Type::varying(Ty::F16))[1], sum)], vec![]));
        (0..n).for_each(|i| b.effect(Kind::Count(i), &[]));
        b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
        (0..n).step_by(3).for_each(|i| b.effect(Kind::Count(i), &[]));
        inner.end(&mut b, &[sum], 700);
        outer.end(&mut b, &[], 3);
        b.effect(Kind::Count(n - 1), &[]);
        leave(&mut b, &host, mask, vec![]);
        let region = finished(b);
        agree(&mut host, &region, lanes as u64, 12);
    }
}

/// Masks that only exits ask for are made there, of one other or of two, of such and of others, whichever way round.
#[test]
fn exits_make_masks_that_only_they_ask_for() {
    let mut rng = Rng(7);
    for lanes in [4, 8, 16, 32, 64] {
        let mut host = host(lanes);
        for op in [Op::And, Op::Or, Op::Xor, Op::Lt, Op::Gt, Op::Eq] {
            for ways in 0..16 {
                let [not_first, not_second, swapped, deepest] = [0, 1, 2, 3].map(|bit| ways >> bit & 1 == 1);
                let region = masks_at_exits(&host, op, [not_first, not_second, swapped], deepest);
                // The loop is left by its poll.
                let input = host.random_input(&mut rng, true);
                host.agree_everywhere(&region, &input);
            }
        }
    }
}

/// A loop that nothing but exits has for another mask than two comparisons give.
fn masks_at_exits(host: &Host, op: Op, [not_first, not_second, swapped]: [bool; 3], deepest: bool) -> Arc<Region> {
    let ty = Type::varying(Ty::I32);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let [x, y] = [0, 1].map(|i| entry(&mut b, host.places(ty)[i]));
    let (rounds, params) = Loop::begin(&mut b, &[x]);
    let less = b.op(Op::Lt, Ty::I32, &[params[0], y]);
    let more = b.op(Op::Gt, Ty::I32, &[params[0], x]);
    let select = Kind::Op { op: Op::Select, ty: Ty::I32, from: Ty::I32 };
    let chosen = b.inst(select, &[less, y, params[0]], ty);
    let chosen = b.inst(select, &[more, chosen, x], ty);
    let next = b.op(Op::Add, Ty::I32, &[chosen, params[0]]);
    let opposite = |b: &mut Builder, mask: Value, is: bool| if is { b.op(Op::Not, Ty::Bool, &[mask]) } else { mask };
    let (first, second) = (opposite(&mut b, less, not_first), opposite(&mut b, more, not_second));
    let [first, second] = if swapped { [second, first] } else { [first, second] };
    let both = b.op(op, Ty::Bool, &[first, second]);
    let neither = b.op(Op::Not, Ty::Bool, &[both]);
    let deeper = b.op(op, Ty::Bool, &if swapped { [neither, first] } else { [first, neither] });
    // That is none that an exit can make in one word.
    let all = if deepest { b.op(Op::And, Ty::Bool, &[deeper, neither]) } else { both };
    let polled = exit(host, all, vec![(host.places(ty)[1], next)], vec![(both, first, None), (deeper, neither, None)]);
    let polled = b.exit(polled);
    b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
    rounds.end(&mut b, &[next], 40);
    leave(&mut b, host, mask, vec![(host.places(ty)[0], x)]);
    finished(b)
}

/// The mask of an `else`, and what waits for it, cost its loop nothing.
#[test]
fn masks_that_only_exits_ask_for_are_not_in_the_loop() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let text = listing(&x86, masks_at_exits(&host(16), Op::And, [true, false, false], false));
    assert_eq!(count(&rounds_of(&text), &["knot", "kand", "kor", "kxor"]), 0, "{text}");
}

/// The lines of a listing from where the first jump back leads to.
fn rounds_of(text: &str) -> String {
    let address = |word: &str| u64::from_str_radix(word.trim_end_matches('h'), 16).ok();
    let at = |line: &str| line.split_whitespace().next().and_then(address);
    let lines: Vec<&str> = text.lines().collect();
    let back = lines.iter().enumerate().find_map(|(i, line)| {
        let mut words = line.split_whitespace().skip(1);
        let to = words.next().filter(|word| word.starts_with('j')).and(words.next()).and_then(address)?;
        (Some(to) < at(line)).then_some((i, to))
    });
    let (end, to) = back.expect("there is a loop");
    lines[..=end].iter().filter(|line| at(line) >= Some(to)).fold(String::new(), |all, line| all + line + "\n")
}

/// What a loop computes with is in registers, however much its exits write: that is in memory.
#[test]
fn what_only_exits_read_takes_no_registers_of_a_loop() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let places = [Ty::I64, Ty::U64, Ty::U32, Ty::I32].map(|ty| host.places(Type::uniform(ty)));
    let written: Vec<(BankRegister, Value)> = places.iter().flatten().map(|&p| (p, entry(&mut b, p))).collect();
    assert!(written.len() >= 8, "they would all find registers");
    let [x, y, z] = [0, 1, 2].map(|i| entry(&mut b, host.places(Type::uniform(Ty::I16))[i % 2]));
    let [x, y, z] = [x, y, z]
        .map(|v| b.inst(Kind::Op { op: Op::Convert, ty: Ty::I32, from: Ty::I16 }, &[v], Type::uniform(Ty::I32)));
    let (rounds, mut sums) = Loop::begin(&mut b, &[x, y, z]);
    let polled = b.exit(exit(&host, mask, written, vec![]));
    for i in 0..sums.len() {
        b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
        let (arm, join) = (b.block(), b.block());
        let less = b.op(Op::Lt, Ty::I32, &[sums[i], rounds.round]);
        b.branch(less, (arm, &[]), (join, &[sums[i]]));
        b.switch_to(arm);
        b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
        let sum = b.op(Op::Add, Ty::I32, &[sums[i], [x, y, z][i]]);
        b.jump(join, &[sum]);
        b.switch_to(join);
        sums[i] = b.param(join, Type::uniform(Ty::I32));
    }
    let [first, second, third] = [0, 1, 2].map(|i| sums[i]);
    rounds.end(&mut b, &sums, 1000);
    let sum = b.op(Op::Add, Ty::I32, &[first, second]);
    let sum = b.op(Op::Add, Ty::I32, &[sum, third]);
    leave(&mut b, &host, mask, vec![(host.places(Type::uniform(Ty::I32))[0], sum)]);
    let text = listing(&x86, finished(b));
    assert_eq!(count(&rounds_of(&text), &["[rsp"]), 0, "{text}");
}

/// Of values in several vectors, only those vectors are computed that something reads.
#[test]
fn pieces_that_nobody_reads_are_not_computed() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for (stored, leaves_with_it, pieces) in
        [(0xffff, false, 1), (0xffff_0000, false, 1), (0xff_ff00, false, 2), (0xffff, true, 2)]
    {
        let mut host = host(32);
        let mut b = Builder::new(host.width, host.function, 1);
        let mask = execution_mask(&mut b);
        let of_sums = host.places(Type::varying(Ty::I32));
        let [x, y] = [0, 1].map(|i| entry(&mut b, of_sums[i]));
        // What one round hands to the next is a parameter, and read by the next.
        let (rounds, sums) = Loop::begin(&mut b, &[x]);
        let sum = b.op(Op::Add, Ty::I32, &[sums[0], y]);
        rounds.end(&mut b, &[sum], 10);
        let bits = b.constant(Ty::U64, stored);
        let half = b.inst(Kind::MaskFromBits, &[bits], Type::MASK);
        let at = address(&mut b, host.pointer(Ty::I32));
        b.effect(Kind::StoreMasked { ty: Ty::I32 }, &[at, sum, half]);
        let registers = if leaves_with_it { vec![(of_sums[0], sum)] } else { vec![] };
        leave(&mut b, &host, mask, registers);
        let region = finished(b);
        let text = listing(&x86, region.clone());
        assert_eq!(count(&rounds_of(&text), &["vpaddd"]), pieces, "{stored:x}: {text}");
        agree(&mut host, &region, 5, 10);
    }
}

/// Threads that run a region at the same time would contend for counters in memory.
#[test]
fn a_loop_counts_in_a_register() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let (rounds, _) = Loop::begin(&mut b, &[]);
    let polled = b.exit(exit(&host, mask, vec![], vec![]));
    b.effect(Kind::Count(0), &[]);
    b.effect(Kind::Count(1), &[]);
    b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
    rounds.end(&mut b, &[], 10);
    leave_plainly(&mut b, &host);
    let text = listing(&x86, finished(b));
    // What the poll leaves by counts once more.
    let (rounds, after) = text.split_once("ret").expect("the region is left");
    assert_eq!([rounds, after].map(|text| count(text, &["vpaddd ymm30"])), [1, 1], "{text}");
    assert_eq!(count(&text, &["inc qword"]), 0, "{text}");
}

/// Vectors of 256 bits are copied as such, and counted beside: operations on 512 bits would slow the loop down.
#[test]
fn loops_on_half_vectors_have_no_whole_ones() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(8);
    let f = host.places(Type::varying(Ty::F32));
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let [x, y] = [0, 1].map(|i| entry(&mut b, f[i]));
    let (rounds, params) = Loop::begin(&mut b, &[x]);
    let polled = b.exit(exit(&host, mask, vec![(f[0], params[0])], vec![]));
    b.effect(Kind::Count(0), &[]);
    b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
    // Both products are added to `x`, which is read again: two of the three take copies.
    let first = b.op(Op::Fma, Ty::F32, &[y, y, params[0]]);
    let second = b.op(Op::Fma, Ty::F32, &[first, y, params[0]]);
    let next = b.op(Op::Fma, Ty::F32, &[first, second, params[0]]);
    rounds.end(&mut b, &[next], 10);
    leave(&mut b, &host, mask, vec![(f[1], y)]);
    let text = listing(&x86, finished(b));
    assert!(count(&text, &["vmovaps ymm"]) > 0, "{text}");
    assert_eq!(count(&text, &["zmm"]), 0, "{text}");
}

/// A lane that goes on alone: elements of several vectors, in the loop's registers, are put into their vectors by exits.
fn lonely(host: &Host, ty: Ty, crowded: bool) -> Arc<Region> {
    let (varying, uniform) = (host.places(Type::varying(ty)), host.places(Type::uniform(ty)));
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let [v, w] = [0, 1].map(|i| entry(&mut b, varying[i]));
    let x = entry(&mut b, uniform[0]);
    let numbers = host.places(Type::uniform(Ty::I32));
    let [lane, other] = [0, 1].map(|i| entry(&mut b, numbers[i]));
    let crowds = crowded.then(|| {
        let mut make = |ty: Type, op, n| Crowd::new(&mut b, host.places(ty)[0], op, n);
        [
            make(Type::uniform(Ty::I32), Op::Sub, 14),
            make(Type::uniform(Ty::F32), Op::Min, 36),
            make(Type::MASK, Op::Xor, 9),
        ]
    });
    let condition = entry_condition(&mut b, host);
    let (rounds, params) = Loop::begin(&mut b, &[x]);
    let one = b.constant(ty, if ty.is_float() { 0 } else { 1 });
    let next = b.op(Op::Add, ty, &[params[0], one]);
    let insert = |b: &mut Builder, v: Value, lane: Value, x: Value| {
        b.inst(Kind::Op { op: Op::Insert, ty, from: ty }, &[v, lane, x], Type::varying(ty))
    };
    let first = insert(&mut b, v, lane, params[0]);
    let second = insert(&mut b, w, lane, next);
    let both = insert(&mut b, first, other, next);
    let regs: Vec<(BankRegister, Value)> =
        [first, second, both].into_iter().enumerate().map(|(i, v)| (varying[i], v)).collect();
    let polled = b.exit(exit(host, mask, regs, vec![]));
    b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
    let failed = b.exit(exit(host, mask, vec![(varying[3], both)], vec![]));
    b.effect(Kind::Guard { exit: failed }, &[condition]);
    let crowds = crowds.map(|crowds| {
        let out = crowded_exit(&mut b, host, &crowds, 0);
        b.effect(Kind::Guard { exit: out }, &[condition]);
        crowds.map(|c| c.mixed(&mut b))
    });
    rounds.end(&mut b, &[next], 9);
    // The loop is over: here they may be made.
    let sum = if ty.is_float() { second } else { b.op(Op::Xor, ty, &[first, both]) };
    let mut regs = vec![(varying[0], first), (varying[1], sum), (varying[2], second), (varying[3], both)];
    for crowd in crowds.iter().flatten() {
        let folded = crowd.folded(&mut b);
        regs.extend(host.places(crowd.type_of(&b)).into_iter().zip(folded));
    }
    leave(&mut b, host, mask, regs);
    finished(b)
}

/// A condition that holds for some inputs.
fn entry_condition(b: &mut Builder, host: &Host) -> Value {
    let (x, limit) = (entry(b, host.places(Type::uniform(Ty::I32))[2]), b.constant(Ty::I32, 1 << 20));
    b.op(Op::Lt, Ty::I32, &[x, limit])
}

#[test]
fn exits_put_elements_into_their_lanes() {
    if harness::x86().is_none() {
        return;
    }
    for lanes in WIDTHS {
        let mut host = host(lanes);
        for ty in Ty::ALL.into_iter().filter(|ty| !matches!(ty, Ty::Bool | Ty::F16)) {
            for crowded in [false, true] {
                let region = lonely(&host, ty, crowded);
                agree(&mut host, &region, lanes as u64, 8);
            }
        }
    }
}

#[test]
fn what_only_exits_ask_for_is_not_made_in_a_loop() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    for (ty, blend) in [(Ty::F32, "vblendmps"), (Ty::I32, "vpblendmd")] {
        let text = listing(&x86, lonely(&host, ty, false));
        // What is made behind the loop is the last exit's, and that of an operation of integers.
        let made = if ty == Ty::I32 { 2 } else { 0 };
        assert!(count(&text, &[blend, "vblend", "vpblend"]) <= made, "{text}");
    }
}

/// A loop of whose sums of pointers, products and smaller integers only exits ask for.
fn left_to_exits(host: &Host) -> Arc<Region> {
    let [u64s, bytes, floats] = [Ty::U64, Ty::U8, Ty::F32].map(|ty| host.places(Type::uniform(ty)));
    let [v64s, v32s, vfloats] = [Ty::U64, Ty::I32, Ty::F32].map(|ty| host.places(Type::varying(ty)));
    let sum = |b: &mut Builder, p: Value, by: Value| {
        let ty = if [p, by].iter().any(|&v| b.region.ty(v).is_varying()) { Type::varying(Ty::U64) } else { U64 };
        b.inst(Kind::Op { op: Op::PAdd, ty: Ty::U64, from: Ty::U64 }, &[p, by], ty)
    };
    let cast = |b: &mut Builder, v: Value, from: Ty, ty: Ty| {
        let to = Type { ty, ..b.region.ty(v) };
        b.inst(Kind::Op { op: Op::Convert, ty, from }, &[v], to)
    };
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let (p, ps, x, v) =
        (entry(&mut b, u64s[0]), entry(&mut b, v64s[0]), entry(&mut b, floats[0]), entry(&mut b, v32s[0]));
    let condition = entry_condition(&mut b, host);
    let (rounds, _) = Loop::begin(&mut b, &[]);
    let three = b.constant(Ty::I64, 3);
    let far = cast(&mut b, rounds.round, Ty::I32, Ty::I64);
    let by = b.op(Op::Shl, Ty::I64, &[far, three]);
    let first = sum(&mut b, p, by);
    let second = sum(&mut b, first, far);
    let all = sum(&mut b, ps, by);
    let product = b.op(Op::Mul, Ty::I32, &[v, rounds.round]);
    let (small, float) = (cast(&mut b, by, Ty::I64, Ty::U8), cast(&mut b, rounds.round, Ty::I32, Ty::F32));
    let float = b.op(Op::FDiv, Ty::F32, &[float, x]);
    let regs = vec![
        (u64s[1], second),
        (v64s[1], all),
        (v64s[2], second),
        (v32s[1], product),
        (bytes[1], small),
        (floats[1], float),
        (vfloats[1], float),
    ];
    let polled = b.exit(exit(host, mask, regs.clone(), vec![]));
    b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
    let failed = b.exit(exit(host, mask, vec![(u64s[2], first), (v64s[3], first)], vec![]));
    b.effect(Kind::Guard { exit: failed }, &[condition]);
    rounds.end(&mut b, &[], 40);
    leave(&mut b, host, mask, vec![]);
    finished(b)
}

#[test]
fn exits_compute_what_only_they_ask_for() {
    if harness::x86().is_none() {
        return;
    }
    for lanes in WIDTHS {
        let mut host = host(lanes);
        let region = left_to_exits(&host);
        agree(&mut host, &region, lanes as u64, 24);
    }
}

#[test]
fn what_exits_compute_is_not_computed_in_a_loop() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let text = listing(&x86, left_to_exits(&host(16)));
    assert_eq!(count(&text, &["cmov", "vpsraq", "vpmulld", "vcvtsi2ss", "vdivss"]), 0, "{text}");
}

/// Which indices lie in a region: of pointers to everywhere in it, before it and behind it, and of the poisoned one.
#[test]
fn indices_in_bounds_are_those_of_the_definition() {
    if harness::x86().is_none() {
        return;
    }
    let mut host = host(4);
    let words = host.places(U64);
    let offsets = [0u64, 4, 7, 1000, 1 << 33, (1 << 39) - 1, 1 << 39, (1 << 40) - 12, (1 << 40) - (1 << 34)];
    let lens = [0u64, 1, 4, 63, 64, 4096, (1 << 31) + 5, 1 << 35];
    for (ty, scale) in
        [Ty::I32, Ty::U32, Ty::I64, Ty::U64].into_iter().flat_map(|ty| [1, 4, 8, 12, 64].map(|s| (ty, s)))
    {
        for (disp, need) in [(0, 1), (-8, 4), (5, 64), (1 << 36, 184), (-(1 << 36), 1 << 20)] {
            let mut b = Builder::new(host.width, host.function, 1);
            let mask = execution_mask(&mut b);
            let [pointer, len] = [0, 1].map(|i| entry(&mut b, words[i]));
            let low = b.inst(Kind::IndexLow { scale, disp, ty }, &[pointer], Type::uniform(ty));
            let unsigned = if ty.size() == 4 { Ty::U32 } else { Ty::U64 };
            let span = b.inst(Kind::IndexSpan { scale, disp, need, ty }, &[pointer, len], Type::uniform(unsigned));
            // Those that need more, by elements and by something else.
            let more = [need + scale, need + 3 * scale, need + 1].map(|need| {
                let kind = Kind::IndexSpan { scale, disp, need, ty };
                b.inst(kind, &[pointer, len], Type::uniform(unsigned))
            });
            let low_at = host.places(Type::uniform(ty))[2];
            let others = host.places(Type::uniform(unsigned)).into_iter().skip(3).zip([span].into_iter().chain(more));
            leave(&mut b, &host, mask, [(low_at, low)].into_iter().chain(others).collect());
            let region = finished(b);
            let codes =
                [&Ir as &dyn Backend, &*harness::x86().unwrap()].map(|b| Arc::from(b.compile(region.clone()).unwrap()));
            for (offset, len) in offsets.into_iter().flat_map(|offset| lens.map(|len| (offset, len))) {
                let mut input = host.random_input(&mut Rng(1), false);
                input.registers[words[0].reg.index()] = vec![3 << 40 | offset];
                input.registers[words[1].reg.index()] = vec![len];
                host.agree_codes(&region, &codes, &input);
            }
        }
    }
}

/// A cycle that is entered in two places is no loop: what is moved to other registers before one of them is not there in the other.
#[test]
fn a_cycle_with_two_ways_in_is_no_loop() {
    let mut host = host(16);
    let mut b = Builder::new(host.width, host.function, 1);
    let (mask, word) = (execution_mask(&mut b), Type::uniform(Ty::I32));
    let [x, y] = [0, 1].map(|i| entry(&mut b, host.places(word)[i]));
    let crowd = Crowd::new(&mut b, host.places(U64)[0], Op::Xor, 30);
    let [left, right, head, next, middle, back, done] = [(); 7].map(|()| b.block());
    let (round, k, total) = (b.param(head, word), b.param(middle, word), b.param(middle, U64));
    let result = b.param(done, U64);
    let less = b.op(Op::Lt, Ty::I32, &[x, y]);
    b.branch(less, (left, &[]), (right, &[]));
    let (zero, nothing, one, most) =
        (b.constant(Ty::I32, 0), b.constant(Ty::U64, 0), b.constant(Ty::I32, 1), b.constant(Ty::I32, 9));
    b.switch_to(left);
    b.jump(head, &[zero]);
    b.switch_to(right);
    b.jump(middle, &[one, nothing]);
    b.switch_to(head);
    let folded = crowd.folded(&mut b)[0];
    let goes_on = b.op(Op::Lt, Ty::I32, &[round, most]);
    b.branch(goes_on, (next, &[]), (done, &[folded]));
    b.switch_to(next);
    b.jump(middle, &[round, folded]);
    b.switch_to(middle);
    let mixed = crowd.mixed(&mut b).folded(&mut b)[0];
    let sum = b.op(Op::Add, Ty::U64, &[total, mixed]);
    let more = b.op(Op::Add, Ty::I32, &[k, one]);
    let again = b.op(Op::Lt, Ty::I32, &[more, most]);
    b.branch(again, (back, &[]), (done, &[sum]));
    b.switch_to(back);
    b.jump(head, &[more]);
    b.switch_to(done);
    leave(&mut b, &host, mask, vec![(host.places(U64)[1], result)]);
    agree(&mut host, &finished(b), 1, 20);
}
