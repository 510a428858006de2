//! The pass that asks about memory where a loop begins: which pointer is asked about. And which pointers are known to lead to one region.

mod harness;

use harness::by_hand::*;
use harness::exit;
use harness::passing::{becomes, run_pass};
use spmdvm_jit::ir::{Builder, End, Kind, Region, Type, Value, verify};
use spmdvm_jit::passes::{gvn, licm, pointers};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;

const BOOL: Type = Type::uniform(Ty::Bool);

/// A loop that asks about the pointer that `asked` makes of `[p, q, o, x]`: two pointers from before the loop, an offset, and a
/// parameter of the loop that begins as `p` and goes on as what `next` makes of these. Gives what the pass makes of it.
fn in_a_loop(
    next: impl FnOnce(&mut Builder, [Value; 4]) -> Value,
    asked: impl FnOnce(&mut Builder, [Value; 4]) -> Value,
) -> (Region, [Value; 4], Value) {
    let host = host(8);
    let mut b = Builder::new(host.width, host.function, 1);
    let [p, q] = [0, 1].map(|i| b.inst(Kind::EntryReg { at: host.places(U64)[i].at }, &[], U64));
    let o = b.constant(Ty::I64, 12);
    let (head, after) = (b.block(), b.block());
    let x = b.param(head, U64);
    b.jump(head, &[p]);
    b.switch_to(head);
    let values = [p, q, o, x];
    let pointer = asked(&mut b, values);
    let again = ask(&mut b, pointer, true);
    let new = next(&mut b, values);
    b.branch(again, (head, &[new]), (after, &[]));
    b.switch_to(after);
    leave_plainly(&mut b, &host);
    let region = passed(b, &[pointers::run]);
    (region, values, pointer)
}

/// Asks about a pointer's memory; gives something to go on by.
fn ask(b: &mut Builder, pointer: Value, write: bool) -> Value {
    let length = b.region_len(pointer, write);
    let at = b.host_address(pointer, 4);
    b.effect(Kind::Store { ty: Ty::U64 }, &[at, length]);
    b.inst(Kind::Op { op: Op::Lt, ty: Ty::U64, from: Ty::U64 }, &[length, at], BOOL)
}

/// Memory of a frame that begins and ends.
fn make_frame(b: &mut Builder, host: &harness::Host) {
    let bits = b.constant(Ty::U64, 1);
    let mask = b.inst(Kind::MaskFromBits, &[bits], Type::MASK);
    let exit = b.exit(harness::exit(host, mask, vec![], vec![]));
    let frame = b.inst(Kind::FrameOpen { function: host.function, at: 4096, exit }, &[], U64);
    b.effect(Kind::FrameClose, &[frame]);
}

fn sum(b: &mut Builder, p: Value, o: Value) -> Value {
    b.op(Op::PAdd, Ty::U64, &[p, o])
}

/// The pointers whose regions' lengths are asked for, and those whose host addresses are.
fn asked(region: &Region) -> (Vec<Value>, Vec<Value>) {
    let of = |is: fn(Kind) -> bool| {
        let insts = region.blocks.iter().flat_map(|block| &block.insts);
        insts.filter(|inst| is(inst.kind)).map(|inst| inst.args[0]).collect()
    };
    (of(|kind| matches!(kind, Kind::RegionLen { write: true })), of(|kind| matches!(kind, Kind::HostAddress { .. })))
}

#[test]
fn sums_lead_to_the_pointer_they_begin_with() {
    let far = |b: &mut Builder, [p, _, o, x]: [Value; 4]| {
        let changes = b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::I64, from: Ty::U64 }, &[x], Type::uniform(Ty::I64));
        let q = sum(b, p, changes);
        sum(b, q, o)
    };
    let (region, [p, ..], _) = in_a_loop(|b, [_, _, o, x]| sum(b, x, o), far);
    assert_eq!(asked(&region), (vec![p], vec![p]), "{region}");
}

#[test]
fn what_goes_round_a_loop_leads_to_what_enters_it() {
    let (region, [p, ..], _) = in_a_loop(|b, [_, _, o, x]| sum(b, x, o), |_, [.., x]| x);
    assert_eq!(asked(&region), (vec![p], vec![p]), "{region}");
}

#[test]
fn what_several_arrays_can_bring_stays() {
    let (region, _, pointer) = in_a_loop(|b, [_, q, o, _]| sum(b, q, o), |_, [.., x]| x);
    assert_eq!(asked(&region), (vec![pointer], vec![pointer]), "{region}");
}

#[test]
fn what_does_not_change_stays() {
    let (region, _, pointer) = in_a_loop(|_, [.., x]| x, |_, [p, ..]| p);
    assert_eq!(asked(&region), (vec![pointer], vec![pointer]), "{region}");
}

/// The memory of a frame ends, and another region may have its number: what is asked about pointers from within holds no longer than
/// that.
#[test]
fn where_memory_ends_pointers_from_before_are_asked() {
    let host = host(8);
    for frames in [false, true] {
        let mut b = Builder::new(host.width, host.function, 1);
        let p = b.inst(Kind::EntryReg { at: host.places(U64)[0].at }, &[], U64);
        let o = b.constant(Ty::I64, 12);
        let [begin, head, after] = [(); 3].map(|()| b.block());
        b.jump(begin, &[]);
        b.switch_to(begin);
        let pointer = sum(&mut b, p, o);
        if frames {
            make_frame(&mut b, &host);
        }
        b.jump(head, &[]);
        b.switch_to(head);
        let again = ask(&mut b, pointer, true);
        b.branch(again, (head, &[]), (after, &[]));
        b.switch_to(after);
        leave_plainly(&mut b, &host);
        let region = passed(b, &[pointers::run]);
        let root = if frames { p } else { pointer };
        assert_eq!(asked(&region), (vec![root], vec![root]), "{region}");
    }
}

/// What is asked about a pointer from within leaves a loop in which no memory of a frame begins or ends, and no other.
#[test]
fn facts_leave_quiet_loops() {
    let host = host(8);
    for inside in [false, true] {
        let mut b = Builder::new(host.width, host.function, 1);
        let p = b.inst(Kind::EntryReg { at: host.places(U64)[0].at }, &[], U64);
        let o = b.constant(Ty::I64, 12);
        let [outer, inner, latch, after] = [(); 4].map(|()| b.block());
        let q = b.param(outer, U64);
        b.jump(outer, &[p]);
        b.switch_to(outer);
        if !inside {
            make_frame(&mut b, &host);
        }
        b.jump(inner, &[]);
        b.switch_to(inner);
        ask(&mut b, q, false);
        if inside {
            make_frame(&mut b, &host);
        }
        let again = ask(&mut b, q, false);
        b.branch(again, (inner, &[]), (latch, &[]));
        b.switch_to(latch);
        let next = sum(&mut b, q, o);
        b.branch(again, (outer, &[next]), (after, &[]));
        b.switch_to(after);
        leave_plainly(&mut b, &host);
        let region = passed(b, &[licm::run, gvn::run]);
        let asked_in = |block: usize| {
            let is_asked = |kind: Kind| matches!(kind, Kind::RegionLen { .. } | Kind::HostAddress { .. });
            region.blocks[block].insts.iter().filter(|inst| is_asked(inst.kind)).count()
        };
        let [outer, inner] = [outer, inner].map(|block| asked_in(block.index()));
        assert_eq!((outer, inner), if inside { (0, 4) } else { (2, 0) }, "{region}");
    }
}

#[test]
fn sums_from_one_pointer_lead_to_its_region() {
    becomes(
        &["fold", "gvn", "fold", "dead"],
        |b, [x, _, u, ..]| {
            let u = b.inst(Kind::Op { op: Op::Convert, ty: Ty::U64, from: Ty::I32 }, &[u], Type::uniform(Ty::U64));
            let d = b.inst(Kind::Op { op: Op::Convert, ty: Ty::I64, from: Ty::I32 }, &[x], Type::varying(Ty::I64));
            let one = b.constant(Ty::I32, 1);
            let sum = |b: &mut Builder, p, d| {
                b.inst(Kind::Op { op: Op::PAdd, ty: Ty::U64, from: Ty::U64 }, &[p, d], Type::varying(Ty::U64))
            };
            let once = sum(b, u, d);
            let twice = sum(b, once, d);
            let first =
                b.inst(Kind::Op { op: Op::Extract, ty: Ty::U64, from: Ty::U64 }, &[twice, one], Type::uniform(Ty::U64));
            let bits = b.constant(Ty::U64, 40);
            let regions = [twice, first].map(|p| b.op(Op::Shr, Ty::U64, &[p, bits]));
            vec![b.op(Op::Ne, Ty::U64, &regions), regions[0]]
        },
        "%12: u64 = const 0x28
         %18: bool = const 0x0
         %6: u64 = cvt.u64.i32 %2
         %16: u64 = shr.u64 %6, %12
         %13: v.u64 = splat %16
         %15: v.bool = splat %18
         exit x0
         r4=%15 r69=%13",
    );
}

/// Two blocks that lead to each other, both entered from outside: none of them brings the value by itself.
#[test]
fn parameters_of_a_loop_with_two_entries_disappear() {
    let host = host(16);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = b.inst(Kind::EntryReg { at: host.places(Type::MASK)[0].at }, &[], Type::MASK);
    let ints = host.places(Type::uniform(Ty::I32));
    let [x, n, one] = [0, 1, 2].map(|i| b.inst(Kind::EntryReg { at: ints[i].at }, &[], Type::uniform(Ty::I32)));
    let [first, second, end] = [(); 3].map(|()| b.block());
    let [[x1, i1], [x2, i2]] = [first, second].map(|block| [0, 1].map(|_| b.param(block, Type::uniform(Ty::I32))));
    let x3 = b.param(end, Type::uniform(Ty::I32));
    let starts = b.op(Op::Lt, Ty::I32, &[n, one]);
    b.branch(starts, (first, &[x, n]), (second, &[x, one]));
    b.switch_to(first);
    let less = b.op(Op::Lt, Ty::I32, &[i1, n]);
    b.branch(less, (second, &[x1, i1]), (end, &[x1]));
    b.switch_to(second);
    let next = b.op(Op::Add, Ty::I32, &[i2, one]);
    b.jump(first, &[x2, next]);
    b.switch_to(end);
    let out = b.exit(exit(&host, mask, vec![(ints[0], x3)], vec![]));
    b.end(End::Exit(out));
    let mut region = b.region;
    verify(&region).unwrap();
    run_pass("params", &mut region);
    verify(&region).unwrap();
    let params = |region: &Region| region.blocks.iter().map(|block| block.params.len()).collect::<Vec<_>>();
    assert_eq!(params(&region), [0, 1, 1, 0], "{region}");
}

/// An offset is none that memory which has begun since gives, whatever it is.
#[test]
fn a_sum_leads_to_memory_that_lasts_wherever_its_offset_comes_from() {
    let host = host(8);
    let mut b = Builder::new(host.width, host.function, 1);
    let p = b.inst(Kind::EntryReg { at: host.places(U64)[0].at }, &[], U64);
    make_frame(&mut b, &host);
    let next = b.block();
    let offset = b.param(next, Type::uniform(Ty::I64));
    let twelve = b.constant(Ty::I64, 12);
    b.jump(next, &[twelve]);
    b.switch_to(next);
    let q = sum(&mut b, p, offset);
    ask(&mut b, q, true);
    make_frame(&mut b, &host);
    ask(&mut b, q, true);
    leave_plainly(&mut b, &host);
    let region = passed(b, &[gvn::run]);
    assert_eq!(asked(&region), (vec![q], vec![q]), "{region}");
}
