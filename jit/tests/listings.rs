//! What the code of the back end of wide vectors looks like: the promises that results cannot show.

mod harness;

use harness::by_hand::*;
use harness::crowd::Crowd;
use spmdvm_jit::Backend;
use spmdvm_jit::ir::{Builder, CallSite, ExitReason, Kind, Type};
use spmdvm_jit::x86::Avx2;
use spmdvm_vm::Op;
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::Ty;

/// Checks see what active lanes have read. An inactive lane that takes their place must take what has been checked: read once
/// more, it may be something else by now, as another thread may write there.
#[test]
fn nothing_is_read_again_to_be_followed() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for active in [false, true] {
        let host = host(16);
        let i32s = Type::varying(Ty::I32);
        let mut b = Builder::new(host.width, host.function, 1);
        let all = b.constant(Ty::Bool, 1);
        let mask = if active { b.inst(Kind::Splat, &[all], Type::MASK) } else { execution_mask(&mut b) };
        let index = entry(&mut b, host.places(i32s)[0]);
        let at = address(&mut b, host.pointer(Ty::I32));
        let gather = Kind::Gather { ty: Ty::I32, index: Ty::I32, scale: 4, clears: true };
        let x = b.inst(gather, &[at, index, mask], i32s);
        let y = b.inst(gather, &[at, x, mask], i32s);
        leave(&mut b, &host, mask, vec![(host.places(i32s)[1], y)]);
        let text = listing(&x86, finished(b));
        assert_eq!(count(&text, &["vpcompressd"]), if active { 0 } else { 2 }, "{text}");
    }
}

/// What is asked about one pointer, and a sum from it, is read from one entry of the table of regions, until that may be gone.
#[test]
fn regions_of_memory_are_looked_up_once_and_without_calls() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for polls in [false, true] {
        let host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let mask = execution_mask(&mut b);
        let [p, eight] = [entry(&mut b, host.places(U64)[0]), b.constant(Ty::I64, 8)];
        let sum = b.inst(Kind::Op { op: Op::PAdd, ty: Ty::U64, from: Ty::U64 }, &[p, eight], U64);
        let len = b.region_len(p, true);
        if polls {
            let out = b.exit(harness::exit(&host, mask, vec![], vec![]));
            b.effect(Kind::Tick { units: 1, exit: out }, &[]);
        }
        let at = b.host_address(sum, 4);
        leave(&mut b, &host, mask, vec![(host.places(U64)[1], len), (host.places(U64)[2], at)]);
        let text = listing(&x86, finished(b));
        assert_eq!(count(&text, &["shr"]), if polls { 6 } else { 4 }, "{text}");
        // A poll is a call.
        assert_eq!(count(&text, &["call"]), polls as usize, "{text}");
    }
}

/// What an addition gave, and what bits were joined to, is compared with 0 by the flags it has set.
#[test]
fn what_sets_flags_is_compared_with_zero_by_them() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for (op, test, ty, want) in [
        (Op::Add, Op::Ne, Ty::U64, "jne"),
        (Op::Sub, Op::Ge, Ty::I64, "jns"),
        (Op::Or, Op::Lt, Ty::I32, "js"),
        // Without a sign nothing is less than 0, and what is greater is no sign.
        (Op::Or, Op::Gt, Ty::I32, "jg"),
    ] {
        let of = Type::uniform(ty);
        let host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let [start, by] = [0, 1].map(|i| entry(&mut b, host.places(of)[i]));
        let [head, done] = [(); 2].map(|()| b.block());
        let round = b.param(head, of);
        b.jump(head, &[start]);
        b.switch_to(head);
        let zero = b.constant(ty, 0);
        let next = b.op(op, ty, &[round, by]);
        let more = b.op(test, ty, &[next, zero]);
        b.branch(more, (head, &[next]), (done, &[]));
        b.switch_to(done);
        leave_plainly(&mut b, &host);
        let text = listing(&x86, finished(b));
        let compares = count(&text, &["cmp"]) + count(&text, &["test"]);
        // The first round's test is the head's repeated.
        let tests = 2 * (want == "jg") as usize;
        assert_eq!((count(&text, &[want]), compares), (1, tests), "{text}");
    }
}

/// What was compared vector by vector is selected vector by vector.
#[test]
fn masks_of_several_vectors_are_not_taken_apart_again() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(32);
    let v = Type::varying(Ty::I32);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let [x, y] = [0, 1].map(|i| entry(&mut b, host.places(v)[i]));
    let less = b.op(Op::Lt, Ty::I32, &[x, y]);
    let sum = b.op(Op::Add, Ty::I32, &[x, y]);
    let chosen = b.op(Op::Select, Ty::I32, &[less, sum, y]);
    let half = b.inst(Kind::Op { op: Op::Convert, ty: Ty::I16, from: Ty::I32 }, &[x], Type::varying(Ty::I16));
    let halves = b.op(Op::Select, Ty::I16, &[less, half, half]);
    leave(&mut b, &host, mask, vec![(host.places(v)[2], chosen), (host.places(Type::varying(Ty::I16))[0], halves)]);
    let text = listing(&x86, finished(b));
    assert_eq!(count(&text, &["kshiftrq"]), 0, "{text}");
}

#[test]
fn a_body_for_all_lanes_is_whole_vectors_without_masks() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let v = Type::varying(Ty::F32);
    let mut b = Builder::new(host.width, host.function, 1);
    let (on, three) = (b.constant(Ty::Bool, 1), b.constant(Ty::F32, 3f32.to_bits() as u64));
    let all = b.inst(Kind::Splat, &[on], Type::MASK);
    let at = b.inst(Kind::EntryReg { at: host.places(U64)[0].at }, &[], U64);
    let x = b.inst(Kind::LoadLanes { ty: Ty::F32 }, &[at], v);
    let y = b.op(Op::Mul, Ty::F32, &[x, three]);
    let y = b.op(Op::Fma, Ty::F32, &[y, x, y]);
    let y = b.op(Op::Sqrt, Ty::F32, &[y]);
    b.effect(Kind::StoreLanes { ty: Ty::F32 }, &[at, y]);
    b.effect(Kind::StoreMasked { ty: Ty::F32 }, &[at, y, all]);
    leave_plainly(&mut b, &host);
    let text = listing(&x86, finished(b));
    assert_eq!(count(&text, &["vmulps zmm", "vsqrtps zmm"]), 2, "{text}");
    assert_eq!(count(&text, &["vfmadd"]), 1, "{text}");
    assert_eq!(count(&text, &["vblend", "xmm", "ymm", "call"]), 0, "{text}");
}

#[test]
fn what_one_operation_loads_is_its_operand() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let v = Type::varying(Ty::F32);
    for (stores, twice) in [(false, false), (true, false), (false, true)] {
        let mut b = Builder::new(host.width, host.function, 1);
        let [from, to] = [0, 1].map(|i| b.inst(Kind::EntryReg { at: host.places(U64)[i].at }, &[], U64));
        let x = b.inst(Kind::LoadLanes { ty: Ty::F32 }, &[from], v);
        let y = entry(&mut b, host.places(v)[0]);
        if stores {
            b.effect(Kind::StoreLanes { ty: Ty::F32 }, &[to, y]);
        }
        let sum = b.op(Op::Add, Ty::F32, &[y, x]);
        let result = if twice { b.op(Op::Mul, Ty::F32, &[sum, x]) } else { sum };
        b.effect(Kind::StoreLanes { ty: Ty::F32 }, &[to, result]);
        leave_plainly(&mut b, &host);
        let text = listing(&x86, finished(b));
        let folded = text.lines().any(|line| line.contains("vaddps") && line.contains('['));
        assert_eq!(folded, !stores && !twice, "{stores} {twice}\n{text}");
    }
}

#[test]
fn what_is_loaded_changed_and_stored_is_changed_where_it_is() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    for ty in [Ty::I32, Ty::U64] {
        for (op, constant) in [(Op::Add, false), (Op::Add, true), (Op::Sub, false), (Op::Xor, true)] {
            let mut b = Builder::new(host.width, host.function, 1);
            let at = b.inst(Kind::EntryReg { at: host.places(U64)[0].at }, &[], U64);
            let by = match constant {
                true => b.constant(ty, 5),
                false => entry(&mut b, host.places(Type::uniform(ty))[0]),
            };
            let x = b.inst(Kind::Load { ty }, &[at], Type::uniform(ty));
            let y = b.op(op, ty, &[x, by]);
            b.effect(Kind::Store { ty }, &[at, y]);
            leave_plainly(&mut b, &host);
            let text = listing(&x86, finished(b));
            let name = format!("{} ", format!("{op:?}").to_lowercase());
            let in_place = text.lines().any(|line| {
                line.split_once(&name)
                    .is_some_and(|(_, operands)| operands.contains("[r") && !operands.starts_with('r'))
            });
            assert!(in_place, "{op:?} {ty}\n{text}");
        }
    }
}

#[test]
fn a_small_stride_is_whole_vectors() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let v = Type::varying(Ty::F32);
    for (stride, loads, permutations) in
        [(4, 1, 0), (-4, 2, 1), (8, 2, 1), (12, 3, 2), (-12, 3, 2), (32, 8, 7), (36, 0, 0)]
    {
        let mut b = Builder::new(host.width, host.function, 1);
        let at = b.inst(Kind::EntryReg { at: host.places(U64)[0].at }, &[], U64);
        let x = b.inst(Kind::LoadStrided { ty: Ty::F32, stride }, &[at], v);
        b.effect(Kind::StoreLanes { ty: Ty::F32 }, &[at, x]);
        leave_plainly(&mut b, &host);
        let text = listing(&x86, finished(b));
        assert_eq!(count(&text, &["vpermt2d"]), permutations, "{text}");
        // One vector alone is permuted with itself.
        let in_place = text.lines().filter(|line| line.contains("vpermt2d") && line.contains("[r")).count();
        let plain = text.lines().filter(|line| line.contains("vmovups zmm") && line.contains(",[r")).count();
        assert_eq!(in_place + plain, loads, "{text}");
        assert_eq!(count(&text, &["vinsertps"]) > 0, loads == 0, "{text}");
    }
}

#[test]
fn members_of_records_in_a_frame_are_whole_vectors_together() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let mut b = Builder::new(host.width, host.function, 1);
    let x = entry(&mut b, host.places(Type::varying(Ty::F32))[0]);
    for member in 0..4 {
        let at = b.inst(Kind::FrameHost { function: host.function, at: 64 + 4 * member, within: None }, &[], U64);
        b.effect(Kind::StoreStrided { ty: Ty::F32, stride: 16 }, &[at, x]);
    }
    leave_plainly(&mut b, &host);
    let text = listing(&x86, finished(b));
    assert_eq!(count(&text, &["vextractps"]), 0, "{text}");
    assert!(count(&text, &["vpermt2d"]) >= 4, "{text}");
}

#[test]
fn members_of_records_are_whole_vectors_together() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let (ty, v) = (Ty::F32, Type::varying(Ty::F32));
    for (n, permutations) in [(2, 2), (3, 6), (4, 8), (8, 24)] {
        let mut b = Builder::new(host.width, host.function, 1);
        let base = b.inst(Kind::EntryReg { at: host.places(U64)[0].at }, &[], U64);
        let at = |b: &mut Builder, member: u64| {
            let by = b.constant(Ty::U64, member * 4);
            b.op(Op::Add, Ty::U64, &[base, by])
        };
        let stride = 4 * n as i32;
        let mut loaded = Vec::new();
        for member in 0..n {
            let at = at(&mut b, member);
            loaded.push(b.inst(Kind::LoadStrided { ty, stride }, &[at], v));
        }
        for member in (0..n).rev() {
            let at = at(&mut b, member);
            let x = b.op(Op::Sqrt, ty, &[loaded[member as usize]]);
            b.effect(Kind::StoreStrided { ty, stride }, &[at, x]);
        }
        leave_plainly(&mut b, &host);
        let text = listing(&x86, finished(b));
        assert_eq!(count(&text, &["vpermt2d"]), 2 * permutations, "{text}");
        let stores = text.lines().filter(|line| line.contains("vmovups [") && line.contains("zmm")).count();
        assert_eq!(stores, n as usize, "{text}");
        assert_eq!(count(&text, &["vinsertps", "vextractps", "{k"]), 0, "{text}");
    }
}

#[test]
fn a_masked_store_is_one_instruction() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for (ty, store) in [(Ty::I16, "vmovdqu16 ["), (Ty::F32, "vmovups ["), (Ty::I32, "vmovups [")] {
        let host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let mask = execution_mask(&mut b);
        let x = entry(&mut b, host.places(Type::varying(ty))[0]);
        let at = b.inst(Kind::EntryReg { at: host.places(U64)[0].at }, &[], U64);
        b.effect(Kind::StoreMasked { ty }, &[at, x, mask]);
        leave_plainly(&mut b, &host);
        let text = listing(&x86, finished(b));
        let masked: Vec<&str> = text.lines().filter(|line| line.contains("{k")).collect();
        assert!(matches!(masked[..], [line] if line.contains(store)), "{text}");
        assert_eq!(count(&text, &["jmp", "call", "vpextr", "vblend"]), 0, "{text}");
    }
}

#[test]
fn uniform_code_has_no_wide_vectors() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let (f, i) = (host.places(Type::uniform(Ty::F32)), host.places(Type::uniform(Ty::I32)));
    let mut b = Builder::new(host.width, host.function, 1);
    let bits = b.constant(Ty::U64, 5);
    let mask = b.inst(Kind::MaskFromBits, &[bits], Type::MASK);
    let (x, n) = (entry(&mut b, f[0]), entry(&mut b, i[0]));
    let x2 = b.op(Op::Mul, Ty::F32, &[x, x]);
    let less = b.op(Op::Lt, Ty::F32, &[x2, x]);
    let n2 = b.op(Op::IDiv, Ty::I32, &[n, n]);
    let n2 = b.inst(Kind::Op { op: Op::Select, ty: Ty::I32, from: Ty::I32 }, &[less, n2, n], i[0].ty);
    leave(&mut b, &host, mask, vec![(f[1], x2), (i[1], n2)]);
    let text = listing(&x86, finished(b));
    assert_eq!(count(&text, &["zmm", "ymm", "{k", "call"]), 0, "{text}");
    assert_eq!(count(&text, &["cmova", "idiv"]), 2, "{text}");
}

/// Where the machine is quick to compress into memory, a packed store is that and nothing else.
#[test]
fn packed_stores_compress_into_memory_where_that_is_quick() {
    for (intels, masks) in [(false, 1), (true, 0)] {
        let Some(x86) = harness::x86_for_listings() else { return };
        let host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let mask = execution_mask(&mut b);
        let x = entry(&mut b, host.places(Type::varying(Ty::F32))[0]);
        let at = address(&mut b, host.pointer(Ty::F32));
        b.effect(Kind::StorePacked { ty: Ty::F32 }, &[at, x, mask]);
        leave(&mut b, &host, mask, vec![]);
        let text = listing(&x86.tuned_as_intels(intels), finished(b));
        assert_eq!([count(&text, &["vpcompressd"]), count(&text, &["pext"])], [1, masks], "{text}");
        assert_eq!(text.lines().any(|line| line.contains("vpcompressd [")), intels, "{text}");
    }
}

/// With AVX2, a loop hands on the vectors of its mask with the mask, if what a round does as a rule asks for them: they are made
/// of its bits in front of the loop only.
#[test]
fn loops_hand_on_the_vectors_of_masks() {
    let Ok(avx2) = Avx2::for_listings() else { return };
    let host = host(16);
    let f32s = Type::varying(Ty::F32);
    let places = host.places(f32s);
    let mut b = Builder::new(host.width, host.function, 1);
    let entered = execution_mask(&mut b);
    let [x, limit] = [0, 1].map(|i| entry(&mut b, places[i]));
    let near = entry(&mut b, host.places(Type::BOOL)[0]);
    let [head, often, seldom, joined, done] = [(); 5].map(|()| b.block());
    let (at_head, mask) = (b.param(head, f32s), b.param(head, Type::MASK));
    let at_join = b.param(joined, f32s);
    b.region.blocks[seldom.index()].cold = true;
    b.jump(head, &[x, entered]);
    b.switch_to(head);
    b.branch(near, (often, &[]), (seldom, &[]));
    let select = Kind::Op { op: Op::Select, ty: Ty::F32, from: Ty::F32 };
    for (block, op) in [(often, Op::Add), (seldom, Op::Mul)] {
        b.switch_to(block);
        let other = b.op(op, Ty::F32, &[at_head, limit]);
        let next = b.inst(select, &[mask, other, at_head], f32s);
        b.jump(joined, &[next]);
    }
    b.switch_to(joined);
    let less = b.op(Op::Lt, Ty::F32, &[at_join, limit]);
    let inner = b.op(Op::And, Ty::Bool, &[mask, less]);
    let squared = b.op(Op::Mul, Ty::F32, &[at_join, at_join]);
    let next = b.inst(select, &[inner, squared, at_join], f32s);
    let more = b.inst(Kind::AnyLane, &[inner], Type::BOOL);
    b.branch(more, (head, &[next, inner]), (done, &[]));
    b.switch_to(done);
    leave(&mut b, &host, entered, vec![(places[2], next)]);
    let text = avx2.compile(finished(b)).unwrap().listing().unwrap();
    // Two vectors in front of the loop, and as many where the other way is taken.
    assert_eq!(count(&text, &["vpcmpeqd"]), 4, "{text}");
}

/// A multiplication and addition overwrites what nothing asks for behind it: a sum that snapshots have had, and the loop hands on. What
/// comes from outside of the loop is asked for in the next round.
#[test]
fn multiplications_overwrite_what_is_not_asked_for_again() {
    for (is_addend, expected) in [(true, "vfmadd231ps"), (false, "vfmadd213ps")] {
        let host = host(8);
        let f32s = Type::varying(Ty::F32);
        let places = host.places(f32s);
        let mut b = Builder::new(host.width, host.function, 1);
        let mask = execution_mask(&mut b);
        let [x, y, start] = [0, 1, 2].map(|i| entry(&mut b, places[i]));
        let goes_on = entry(&mut b, host.places(Type::BOOL)[0]);
        let [head, again, done] = [(); 3].map(|()| b.block());
        let carried = b.param(head, f32s);
        b.jump(head, &[start]);
        b.switch_to(head);
        let out = b.exit(harness::exit(&host, mask, vec![(places[0], carried)], vec![]));
        b.effect(Kind::Guard { exit: out }, &[goes_on]);
        let args = if is_addend { [x, y, carried] } else { [carried, x, y] };
        let next = b.op(Op::Fma, Ty::F32, &args);
        b.branch(goes_on, (again, &[]), (done, &[]));
        b.switch_to(again);
        b.jump(head, &[next]);
        b.switch_to(done);
        leave(&mut b, &host, mask, vec![(places[1], next)]);
        let region = finished(b);
        let avx2 = Avx2::for_listings().ok().map(|x86| x86.compile(region.clone()).unwrap().listing().unwrap());
        let avx512 = harness::x86_for_listings().map(|x86| listing(&x86, region.clone()));
        for text in avx2.into_iter().chain(avx512) {
            assert_eq!(count(&text, &["vfmadd"]), 1, "{text}");
            assert_eq!(count(&text, &[expected]), 1, "{text}");
            assert_eq!(count(&text, &["vmovaps"]), 0, "{text}");
        }
    }
}

/// How many indices are in bounds takes the least one that was computed before it: one division for each end is left.
#[test]
fn the_least_index_is_computed_once() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(8);
    let at = host.places(U64);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let pointer = entry(&mut b, at[0]);
    let length = b.region_len(pointer, false);
    let low = b.inst(Kind::IndexLow { scale: 12, disp: 4, ty: Ty::I64 }, &[pointer], Type::uniform(Ty::I64));
    let low = b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::U64, from: Ty::I64 }, &[low], U64);
    let span = b.inst(Kind::IndexSpan { scale: 12, disp: 4, need: 12, ty: Ty::I64 }, &[pointer, length], U64);
    leave(&mut b, &host, mask, vec![(at[0], low), (at[1], span)]);
    let text = listing(&x86, finished(b));
    assert_eq!(count(&text, &["idiv"]), 2, "{text}");
    assert_eq!(count(&text, &["shl"]), 1, "{text}");
}

/// Which lanes lie below each, and how many they are, is known.
#[test]
fn what_lane_numbers_give_is_loaded() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let mut host = host(16);
    let wide = Type::varying(Ty::U64);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let lanes = b.inst(Kind::Op { op: Op::Iota, ty: Ty::I32, from: Ty::I32 }, &[], Type::varying(Ty::I32));
    let lanes = b.inst(Kind::Op { op: Op::Convert, ty: Ty::U64, from: Ty::I32 }, &[lanes], wide);
    let [one, minus, some] = [1, u64::MAX, 0x5a5a].map(|bits| b.constant(Ty::U64, bits));
    let bit = b.op(Op::Shl, Ty::U64, &[one, lanes]);
    let below = b.op(Op::Add, Ty::U64, &[bit, minus]);
    let among = b.op(Op::And, Ty::U64, &[below, some]);
    let many = b.op(Op::Popcnt, Ty::U64, &[among]);
    let many = b.inst(Kind::Op { op: Op::Convert, ty: Ty::I32, from: Ty::U64 }, &[many], Type::varying(Ty::I32));
    let (at, count_at) = (host.places(wide)[0], host.places(Type::varying(Ty::I32))[0]);
    leave(&mut b, &host, mask, vec![(at, below), (count_at, many)]);
    let region = finished(b);
    let text = listing(&x86, region.clone());
    assert_eq!(count(&text, &["vpsll", "vpop", "vpshufb", "vpadd", "vpmov"]), 0, "{text}");
    agree(&mut host, &region, 1, 1);
}

/// Of a frame of more than a page each page is touched, for the stack's guard page to be met.
#[test]
fn large_frames_meet_the_guard_page() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(64);
    let mut b = Builder::new(host.width, host.function, 1);
    let crowd = Crowd::new(&mut b, host.places(Type::varying(Ty::I32))[0], Op::Sub, 60).mixed(&mut b);
    let mask = execution_mask(&mut b);
    let folded = crowd.folded(&mut b);
    leave(&mut b, &host, mask, host.places(Type::varying(Ty::I32)).into_iter().zip(folded).collect());
    let text = listing(&x86, finished(b));
    assert!(text.contains("or dword ptr [r11-1000h],0"), "{text}");
}

/// What lives across a call that a loop makes now and then is in registers in its rounds: the call saves it.
#[test]
fn calls_save_what_lives_across_them() {
    let Some(x86) = harness::x86_for_listings() else { return };
    let host = host(16);
    let (v, word) = (Type::varying(Ty::I32), Type::uniform(Ty::I32));
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let [x, y] = [0, 1].map(|i| entry(&mut b, host.places(v)[i]));
    let [n, often] = [0, 1].map(|i| entry(&mut b, host.places(word)[i]));
    let [head, calls, next, done] = [(); 4].map(|()| b.block());
    let (round, sum) = (b.param(head, word), b.param(head, v));
    b.jump(head, &[n, x]);
    b.switch_to(head);
    let mixed = b.op(Op::Xor, Ty::I32, &[sum, y]);
    let sum = b.op(Op::Add, Ty::I32, &[mixed, x]);
    let is_due = b.op(Op::Lt, Ty::I32, &[round, often]);
    b.branch(is_due, (calls, &[]), (next, &[]));
    b.switch_to(calls);
    let out = b.exit(harness::exit(&host, mask, vec![], vec![]));
    b.region.exits[out.index()].reason = ExitReason::LinkedCall;
    b.region.call_sites.push(CallSite { callee: FuncId(0), at: host.frame_bytes, params: Vec::new(), frees: false });
    b.effect(Kind::Call { site: 0, exit: out }, &[mask]);
    b.jump(next, &[]);
    b.switch_to(next);
    let one = b.constant(Ty::I32, 1);
    let left = b.op(Op::Sub, Ty::I32, &[round, one]);
    let zero = b.constant(Ty::I32, 0);
    let more = b.op(Op::Gt, Ty::I32, &[left, zero]);
    b.branch(more, (head, &[left, sum]), (done, &[]));
    b.switch_to(done);
    leave(&mut b, &host, mask, vec![(host.places(v)[2], sum)]);
    let text = listing(&x86, finished(b));
    let (before, behind) = text.split_once("  call ").unwrap();
    let loads = |text: &str| text.lines().filter(|line| line.contains("vmovups zmm") && line.contains(",[rsp")).count();
    let saves = before.lines().filter(|line| line.contains("vmovups [rsp") && line.contains(",zmm")).count();
    assert_eq!((loads(before), saves, loads(behind)), (0, 3, 3), "{text}");
}
