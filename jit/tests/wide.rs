//! What the back end of wide vectors could get wrong without random regions noticing: at the ends of memory, with more values than
//! registers, and in what its code looks like.

mod harness;

use harness::by_hand::*;
use harness::crowd::{Crowd, crowded_exit};
use harness::values::Rng;
use harness::{Host, exit, hand_on};
use spmdvm_jit::Backend;
use spmdvm_jit::backend::Executable;
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Address, Builder, Cell, End, EntryMask, Kind, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};
use std::sync::Arc;

/// What a region leaves in the memory of the entered frame, which it finds full of a byte.
fn frame_memory(host: &mut Host, code: Arc<dyn Executable>, fill: u8) -> Vec<u8> {
    let function = host.function;
    host.paused(move |pause| {
        let at = pause.prepared().frame_memory(function) as usize;
        let (mut words, mut counters) = ([0; harness::WORDS], [0; 8]);
        let mut context = pause.enter(&mut words, counters.as_mut_ptr());
        // SAFETY: the function's frames have 64 bytes of memory, which nothing else refers to.
        let memory = || unsafe { std::slice::from_raw_parts_mut(context.memory_base.add(at), 64) };
        memory().fill(fill);
        let before = memory().to_vec();
        assert_eq!(before, [fill; 64]);
        // SAFETY: a region for this program's loop.
        unsafe { code.run(&mut context) };
        // SAFETY: as above.
        let after = unsafe { std::slice::from_raw_parts(context.memory_base.add(at), 64) }.to_vec();
        pause.leave(&context);
        after
    })
}

/// A cell lies among others, whatever the number of its bytes.
/// A lane whose number is known is taken out of its vector without going by way of memory.
#[test]
fn known_lanes_are_taken_out_in_registers() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for (ty, lane, taken) in
        [(Ty::F32, 2, "valignd"), (Ty::F32, 9, "valignd"), (Ty::F64, 11, "valignq"), (Ty::I32, 7, "valignd")]
    {
        let host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let (mask, lanes) = (execution_mask(&mut b), entry(&mut b, host.places(Type::varying(ty))[0]));
        let lanes = hand_on(&mut b, &[lanes])[0];
        let at = b.constant(Ty::I32, lane);
        let extract = Kind::Op { op: Op::Extract, ty, from: ty };
        let element = b.inst(extract, &[lanes, at], Type::uniform(ty));
        leave(&mut b, &host, mask, vec![(host.places(Type::uniform(ty))[1], element)]);
        let text = listing(&x86, finished(b));
        let stores = count(&text, &["vmovups [rsp"]);
        assert_eq!((count(&text, &[taken]), stores), (1, 0), "{text}");
    }
}

/// One element is read of what a register of the frame holds, and one is written: no vector.
#[test]
fn elements_of_registers_of_the_frame_are_accessed_in_place() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for ty in [Ty::I8, Ty::I32, Ty::F32, Ty::F64] {
        let host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let (varying, uniform) = (host.places(Type::varying(ty))[0], host.places(Type::uniform(ty)));
        let (mask, lanes, x) = (execution_mask(&mut b), entry(&mut b, varying), entry(&mut b, uniform[0]));
        let at = entry(&mut b, host.places(Type::uniform(Ty::I32))[2]);
        let across = |op| Kind::Op { op, ty, from: ty };
        let element = b.inst(across(Op::Extract), &[lanes, at], Type::uniform(ty));
        let changed = b.inst(across(Op::Insert), &[lanes, at, x], Type::varying(ty));
        leave(&mut b, &host, mask, vec![(uniform[1], element), (varying, changed)]);
        let text = listing(&x86, finished(b));
        assert_eq!(count(&text, &["vmovups", "vmovdqu", "vmovdqa"]), 0, "{text}");
    }
}

#[test]
fn exits_write_no_more_of_a_cell_than_its_lanes() {
    let Some(x86) = harness::x86() else { return };
    for lanes in [1, 2, 4, 8] {
        let mut host = host(lanes);
        let function = host.function;
        let memory_at = host.paused(move |pause| pause.prepared().frame_memory(function));
        let types = Ty::ALL.into_iter().filter(|ty| ty.size() * lanes as usize <= 32);
        for (ty, what) in types.flat_map(|ty| (0..3).map(move |what| (ty, what))) {
            let mut b = Builder::new(host.width, host.function, 1);
            let mask = execution_mask(&mut b);
            let varying = Type::varying(ty);
            let v = match what {
                0 => entry(&mut b, host.places(varying)[0]),
                1 => {
                    let u = entry(&mut b, host.places(Type::uniform(ty))[0]);
                    b.inst(Kind::Splat, &[u], varying)
                }
                _ => {
                    let c = b.constant(ty, 1);
                    b.inst(Kind::Splat, &[c], varying)
                }
            };
            let mut state = exit(&host, mask, vec![], vec![]);
            state.cells.push((Cell { function, at: memory_at + 8, ty: varying }, v));
            let out = b.exit(state);
            b.end(End::Exit(out));
            let region = finished(b);
            let [want, have] = [&Ir as &dyn Backend, &*x86]
                .map(|backend| frame_memory(&mut host, Arc::from(backend.compile(region.clone()).unwrap()), 0xaa));
            assert_eq!(want, have, "{lanes} lanes of {ty}:\n{region}");
        }
    }
}

/// Distances that an operand can hold, to which others are added for pieces and lanes.
#[test]
fn far_displacements_do_not_wrap() {
    let Some(x86) = harness::x86() else { return };
    for (lanes, far) in WIDTHS.into_iter().flat_map(|lanes| [i32::MAX, i32::MIN, 1 << 30].map(|far| (lanes, far))) {
        let mut host = host(lanes);
        let f64s = Type::varying(Ty::F64);
        let mut b = Builder::new(host.width, host.function, 1);
        let mask = execution_mask(&mut b);
        let x = entry(&mut b, host.places(f64s)[0]);
        let at = address(&mut b, host.pointer(Ty::F64));
        let (there, back) = (b.constant(Ty::U64, far as i64 as u64), b.constant(Ty::U64, -(far as i64) as u64));
        let at = b.op(Op::Add, Ty::U64, &[at, back]);
        // Twice, so that one distance is added to another.
        let half = b.constant(Ty::U64, 64);
        let at = b.op(Op::Add, Ty::U64, &[at, half]);
        let at = b.op(Op::Add, Ty::U64, &[at, there]);
        let y = b.inst(Kind::LoadLanes { ty: Ty::F64 }, &[at], f64s);
        let z = b.inst(Kind::LoadStrided { ty: Ty::F64, stride: 8 }, &[at], f64s);
        b.effect(Kind::StoreLanes { ty: Ty::F64 }, &[at, x]);
        b.effect(Kind::StoreMasked { ty: Ty::F64 }, &[at, z, mask]);
        b.effect(Kind::Clear { bytes: 700 }, &[at]);
        let places = host.places(f64s);
        leave(&mut b, &host, mask, vec![(places[1], y), (places[2], z)]);
        let input = host.random_input(&mut Rng(lanes as u64), false);
        host.agree(&finished(b), &[&Ir, &*x86], &input);
    }
}

/// Values of all classes are live across a loop with guards, fuel, and calls of the runtime.
#[test]
fn values_outlive_a_loop_when_registers_do_not_suffice() {
    if harness::x86().is_none() {
        return;
    }
    for lanes in WIDTHS {
        let mut host = host(lanes);
        let mut b = Builder::new(host.width, host.function, 1);
        let make = |b: &mut Builder, ty: Type, op, n| Crowd::new(b, host.places(ty)[0], op, n);
        let crowds = [
            make(&mut b, Type::varying(Ty::I32), Op::Sub, 36),
            make(&mut b, Type::varying(Ty::F64), Op::Max, 6),
            make(&mut b, Type::varying(Ty::U8), Op::Xor, 6),
            make(&mut b, Type::MASK, Op::Xor, 11),
            make(&mut b, Type::uniform(Ty::I32), Op::Sub, 14),
            make(&mut b, Type::uniform(Ty::F32), Op::Min, 8),
            make(&mut b, Type::BOOL, Op::Xor, 1),
        ];
        let half = entry(&mut b, host.places(Type::varying(Ty::F16))[0]);
        let pointer = b.constant(Ty::U64, host.pointer(Ty::I32));
        let (zero, one, most) = (b.constant(Ty::I32, 0), b.constant(Ty::I32, 1), b.constant(Ty::I32, 5));
        let (head, next, done) = (b.block(), b.block(), b.block());
        let handed = |crowds: &[Crowd], k: Value, half: Value| -> Vec<Value> {
            crowds.iter().flat_map(|c| c.values.iter().copied()).chain([k, half]).collect()
        };
        b.jump(head, &handed(&crowds, zero, half));
        let crowds = crowds.each_ref().map(|c| c.params(&mut b, head));
        let k = b.param(head, Type::uniform(Ty::I32));
        let half = b.param(head, Type::varying(Ty::F16));
        b.switch_to(head);
        let polled = crowded_exit(&mut b, &host, &crowds[..6], 0);
        b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
        let crowds = crowds.each_ref().map(|c| c.mixed(&mut b));
        // The runtime adds halves, and checks what is stored.
        let twice = b.op(Op::Add, Ty::F16, &[half, half]);
        let failed = crowded_exit(&mut b, &host, &crowds[..6], 2);
        let address = Address { index: Some(Ty::I32), scale: 4, disp: 0, by_lane: true };
        let store = Kind::StoreAny { ty: Ty::I32, address, exit: failed };
        b.effect(store, &[pointer, k, crowds[0].values[9], crowds[3].values[5]]);
        // Flags that are set while everything else is in registers.
        let guarded = crowded_exit(&mut b, &host, &crowds[..6], 1);
        let unlikely = b.constant(Ty::I32, 12345);
        let usual = b.op(Op::Ne, Ty::I32, &[crowds[4].values[7], unlikely]);
        b.effect(Kind::Guard { exit: guarded }, &[usual]);
        let k = b.op(Op::Add, Ty::I32, &[k, one]);
        let more = b.op(Op::Lt, Ty::I32, &[k, most]);
        b.branch(more, (next, &[]), (done, &[]));
        b.switch_to(next);
        let any = b.inst(Kind::AnyLane, &[crowds[3].values[10]], Type::BOOL);
        let any = b.op(Op::Or, Ty::Bool, &[any, crowds[6].values[0]]);
        let guarded = crowded_exit(&mut b, &host, &crowds[..6], 0);
        b.effect(Kind::Guard { exit: guarded }, &[any]);
        b.jump(head, &handed(&crowds, k, twice));
        b.switch_to(done);
        let mut regs = vec![(host.places(Type::varying(Ty::F16))[1], twice)];
        for crowd in &crowds {
            let folded = crowd.folded(&mut b);
            regs.extend(host.places(crowd.type_of(&b)).into_iter().zip(folded));
        }
        leave(&mut b, &host, crowds[3].values[8], regs);
        let region = finished(b);
        agree(&mut host, &region, lanes as u64, 40);
    }
}

/// Registers that vary may hold what varies, what does not, and constants; all of them from wherever they are.
#[test]
fn exits_write_values_of_every_form() {
    if harness::x86().is_none() {
        return;
    }
    for lanes in WIDTHS {
        for crowded in [false, true] {
            let mut host = host(lanes);
            let mut b = Builder::new(host.width, host.function, 1);
            let mask = execution_mask(&mut b);
            let other = b.inst(Kind::EntryMask(EntryMask::Other(0)), &[], Type::MASK);
            let i32s = host.places(Type::varying(Ty::I32))[0];
            // So many that what comes before is spilled.
            let mut regs = Vec::new();
            for ty in Ty::ALL {
                let (v, u) = (host.places(Type::varying(ty)), host.places(Type::uniform(ty)));
                let (x, y) = (entry(&mut b, v[1]), entry(&mut b, u[1]));
                let edge = if ty == Ty::Bool { 1 } else { 0x8123_4567_89ab_cdef & (u64::MAX >> (64 - 8 * ty.size())) };
                let c = b.constant(ty, edge);
                let splat = b.inst(Kind::Splat, &[c], v[0].ty);
                regs.extend([(v[0], x), (v[1], y), (v[2], c), (v[3], splat), (u[0], y), (u[2], c)]);
            }
            regs.sort_by_key(|(place, _)| place.at);
            let crowd = crowded.then(|| Crowd::new(&mut b, i32s, Op::Sub, 40).mixed(&mut b));
            let condition = entry(&mut b, host.places(Type::BOOL)[0]);
            let bits = b.constant(Ty::U64, 0xdead_beef_8000_0001);
            let constant = b.inst(Kind::MaskFromBits, &[bits], Type::MASK);
            let lane = entry(&mut b, host.places(Type::uniform(Ty::I32))[3]);
            let least = b.constant(Ty::I32, 0x8000_0000);
            let entries = vec![(other, constant, Some(lane)), (constant, mask, None), (mask, other, Some(least))];
            let state = exit(&host, mask, regs, entries);
            let out = b.exit(state);
            b.effect(Kind::Tick { units: 1, exit: out }, &[]);
            b.effect(Kind::Guard { exit: out }, &[condition]);
            let folded = crowd.map(|crowd| crowd.folded(&mut b)).unwrap_or_default();
            let places = host.places(i32s.ty).into_iter().zip(folded).collect();
            leave(&mut b, &host, other, places);
            let region = finished(b);
            agree(&mut host, &region, lanes as u64, 10);
        }
    }
}

/// Some lanes, one, none, all.
fn some_masks(width: Width) -> [u64; 6] {
    let full = width.full_mask();
    [0, 1, full & !1, 0x8421_1248_a5a5_0f09 & full, full ^ full >> 1, full]
}

/// Active lanes have elements up to the last byte that there is, two and two the same; inactive ones have anything.
#[test]
fn gathers_and_scatters_touch_nothing_of_inactive_lanes() {
    if harness::x86().is_none() {
        return;
    }
    let mut page = edge_of_memory();
    let start = page.as_ptr() as u64;
    for lanes in [1, 2, 4, 8, 16, 64] {
        let mut host = host(lanes);
        let types = [Ty::Bool, Ty::I16, Ty::F32, Ty::F64];
        for (ty, index) in types.into_iter().flat_map(|ty| [Ty::I32, Ty::U32, Ty::I64, Ty::U64].map(|i| (ty, i))) {
            let (size, places, indices) =
                (ty.size() as u64, host.places(Type::varying(ty)), host.places(Type::varying(index))[0]);
            for scale in [size as u32, if index.size() == 4 { 3 } else { 16 }] {
                // From the end downwards, or as far up as the last element.
                let below = if index.is_signed() { start + PAGE as u64 } else { start };
                let valid = |l: u64| {
                    let n = l / 2 + if index.is_signed() { size.div_ceil(scale as u64) } else { 0 };
                    if index.is_signed() { n.wrapping_neg() } else { (PAGE as u64 - size) / scale as u64 - n }
                };
                let least_signed = [0, 1 << (8 * index.size() - 1), 77, u64::MAX >> 1];
                let wild = |l: u64| if index.is_signed() { least_signed[l as usize % 4] } else { u64::MAX - 3 * l };
                let mut b = Builder::new(host.width, host.function, 1);
                let mask = execution_mask(&mut b);
                let at = entry(&mut b, indices);
                let old = entry(&mut b, places[0]);
                let base = b.constant(Ty::U64, below);
                let gather = |clears| Kind::Gather { ty, index, scale, clears };
                let x = b.inst(gather(true), &[base, at, mask], places[0].ty);
                let dont_care = b.inst(gather(false), &[base, at, mask], places[0].ty);
                let seen = b.inst(Kind::Op { op: Op::Select, ty, from: ty }, &[mask, dont_care, old], places[0].ty);
                b.effect(Kind::Scatter { ty, index, scale }, &[base, at, old, mask]);
                let y = b.inst(gather(true), &[base, at, mask], places[0].ty);
                leave(&mut b, &host, mask, vec![(places[1], x), (places[2], y), (places[3], seen)]);
                let mut rng = Rng(scale as u64);
                let inputs = some_masks(host.width).map(|active| {
                    let mut input = host.random_input(&mut rng, false);
                    input.words[0] = active;
                    let lane = |l: u64| if active >> l & 1 != 0 { valid(l) } else { wild(l) };
                    input.registers[indices.reg.index()] =
                        (0..lanes as u64).map(|l| lane(l) & (u64::MAX >> (64 - 8 * index.size()))).collect();
                    input
                });
                agree_on_page(&mut host, &mut page, &finished(b), &inputs);
            }
        }
    }
}

/// Whole gangs at the end of memory, and parts of one that go on behind it.
#[test]
fn lanes_in_a_row_end_where_memory_does() {
    if harness::x86().is_none() {
        return;
    }
    let mut page = edge_of_memory();
    let end = page.as_ptr() as u64 + PAGE as u64;
    for lanes in WIDTHS {
        let mut host = host(lanes);
        for ty in Ty::ALL {
            let (bytes, places) = (lanes as u64 * ty.size() as u64, host.places(Type::varying(ty)));
            let uniform = host.places(Type::uniform(ty))[0];
            for active in 0..lanes.min(5) as u64 {
                let mut b = Builder::new(host.width, host.function, 1);
                let mask = execution_mask(&mut b);
                let old = entry(&mut b, places[0]);
                let last = b.constant(Ty::U64, end - bytes);
                let x = b.inst(Kind::LoadLanes { ty }, &[last], places[0].ty);
                let stride = ty.size() as i32;
                let y = b.inst(Kind::LoadStrided { ty, stride }, &[last], places[0].ty);
                // Downwards from the last element.
                let first = b.constant(Ty::U64, end - ty.size() as u64);
                let z = b.inst(Kind::LoadStrided { ty, stride: -stride }, &[first], places[0].ty);
                let u = b.inst(Kind::Load { ty }, &[first], uniform.ty);
                let masked = b.constant(Ty::U64, end - active * ty.size() as u64);
                b.effect(Kind::StoreMasked { ty }, &[masked, old, mask]);
                let before = b.constant(Ty::U64, end - 2 * bytes);
                b.effect(Kind::StoreStrided { ty, stride }, &[before, old]);
                let whole = b.constant(Ty::U64, end - 3 * bytes);
                b.effect(Kind::StoreLanes { ty }, &[whole, z]);
                let cleared = b.constant(Ty::U64, end - 4 * bytes);
                b.effect(Kind::Clear { bytes: bytes as u32 }, &[cleared]);
                leave(&mut b, &host, mask, vec![(places[1], x), (places[2], y), (places[3], z), (uniform, u)]);
                let mut rng = Rng(active);
                let inputs = [0, 0x2d, u64::MAX].map(|some| {
                    let mut input = host.random_input(&mut rng, false);
                    input.words[0] = some & ((1 << active) - 1);
                    input
                });
                agree_on_page(&mut host, &mut page, &finished(b), &inputs);
            }
        }
    }
}

/// As many elements as there are active lanes, the last of them at the end of memory.
#[test]
fn packed_lanes_end_where_memory_does() {
    if harness::x86().is_none() {
        return;
    }
    let mut page = edge_of_memory();
    let end = page.as_ptr() as u64 + PAGE as u64;
    for (lanes, ty) in WIDTHS.into_iter().flat_map(|lanes| Ty::ALL.map(|ty| (lanes, ty))) {
        let mut host = host(lanes);
        let places = host.places(Type::varying(ty));
        for active in some_masks(host.width) {
            let mut b = Builder::new(host.width, host.function, 1);
            let mask = execution_mask(&mut b);
            let old = entry(&mut b, places[0]);
            let at = b.constant(Ty::U64, end - active.count_ones() as u64 * ty.size() as u64);
            let x = b.inst(Kind::LoadPacked { ty }, &[at, mask], places[0].ty);
            b.effect(Kind::StorePacked { ty }, &[at, old, mask]);
            let y = b.inst(Kind::LoadPacked { ty }, &[at, mask], places[0].ty);
            leave(&mut b, &host, mask, vec![(places[1], x), (places[2], y)]);
            let mut input = host.random_input(&mut Rng(active), false);
            input.words[0] = active;
            agree_on_page(&mut host, &mut page, &finished(b), &[input]);
        }
    }
}

/// Elements a small distance apart: neither before the first nor behind the last is anything read.
#[test]
fn rows_of_elements_end_where_memory_does() {
    if harness::x86().is_none() {
        return;
    }
    let mut page = edge_of_memory();
    let end = page.as_ptr() as u64 + PAGE as u64;
    for (lanes, ty) in WIDTHS.into_iter().flat_map(|lanes| Ty::ALL.map(|ty| (lanes, ty))) {
        let mut host = host(lanes);
        let (size, places) = (ty.size() as u64, host.places(Type::varying(ty)));
        for steps in [[1, 2, 3], [4, 5, 7], [8, 9, 20]] {
            let mut b = Builder::new(host.width, host.function, 1);
            let mask = execution_mask(&mut b);
            let mut regs = Vec::new();
            for (step, &place) in steps.into_iter().zip(&places) {
                let last = b.constant(Ty::U64, end - size);
                let first = b.constant(Ty::U64, end - size - step * size * (lanes as u64 - 1));
                let stride = (step * size) as i32;
                let up = b.inst(Kind::LoadStrided { ty, stride }, &[first], place.ty);
                let down = b.inst(Kind::LoadStrided { ty, stride: -stride }, &[last], place.ty);
                let differ =
                    if ty.is_float() { b.op(Op::Sub, ty, &[up, down]) } else { b.op(Op::Xor, ty, &[up, down]) };
                // Both ways in one register, twice in others.
                regs.push((place, if step % 2 == 0 { up } else { down }));
                if step == steps[2] {
                    regs.push((places[3], differ));
                }
            }
            leave(&mut b, &host, mask, regs);
            let input = host.random_input(&mut Rng(lanes as u64), false);
            agree_on_page(&mut host, &mut page, &finished(b), &[input]);
        }
    }
}

/// Which members of records of so many elements are accessed, in which order.
fn members_of_records(n: u64) -> Vec<Vec<u64>> {
    let mut chosen = vec![(0..n).collect(), (0..n).rev().collect(), vec![0, n - 1], vec![n - 1, n / 2], vec![n - 1]];
    chosen.push((0..n).map(|i| (i * (n - 1) + 1) % n).collect());
    chosen.push((0..n).filter(|i| i % 3 != 1).collect());
    chosen
}

/// Members of records, which are loaded and stored together: neither before the first nor behind the last is anything touched, and
/// nothing between those that are stored.
#[test]
fn records_end_where_memory_does() {
    if harness::x86().is_none() {
        return;
    }
    let mut page = edge_of_memory();
    let end = page.as_ptr() as u64 + PAGE as u64;
    for (lanes, ty) in WIDTHS.into_iter().flat_map(|lanes| Ty::ALL.map(|ty| (lanes, ty))) {
        let mut host = host(lanes);
        let (size, places) = (ty.size() as u64, host.places(Type::varying(ty)));
        let base_at = host.places(Type::uniform(Ty::U64))[0];
        for (n, down) in [2, 3, 4, 5, 8].into_iter().flat_map(|n| [(n, false), (n, true)]) {
            for members in members_of_records(n) {
                let mut b = Builder::new(host.width, host.function, 1);
                let mask = execution_mask(&mut b);
                let base = entry(&mut b, base_at);
                let record = n * size;
                let stride = if down { -(record as i32) } else { record as i32 };
                let first = if down { record * (lanes as u64 - 1) } else { 0 };
                let address = |b: &mut Builder, member: u64| {
                    let by = b.constant(Ty::U64, first + member * size);
                    b.op(Op::Add, Ty::U64, &[base, by])
                };
                let load = |b: &mut Builder, member: &u64| {
                    let at = address(b, *member);
                    b.inst(Kind::LoadStrided { ty, stride }, &[at], places[0].ty)
                };
                let loaded: Vec<Value> = members.iter().map(|member| load(&mut b, member)).collect();
                // Each becomes another member, twice: what is loaded in between is what has been stored.
                for by in 1..3 {
                    for (i, member) in members.iter().enumerate() {
                        let at = address(&mut b, *member);
                        b.effect(Kind::StoreStrided { ty, stride }, &[at, loaded[(i + by) % loaded.len()]]);
                    }
                    if by == 1 {
                        let again = load(&mut b, &members[0]);
                        b.effect(Kind::StoreStrided { ty, stride }, &[base, again]);
                    }
                }
                let last = loaded[loaded.len() - 1];
                leave(&mut b, &host, mask, vec![(places[1], loaded[0]), (places[2], last)]);
                let mut input = host.random_input(&mut Rng(n), false);
                let most = members.iter().max().unwrap() + 1;
                // For lanes that go down, the store in between is to before the first record.
                input.registers[base_at.reg.index()] = vec![end - record * (lanes as u64 - 1) - most * size];
                agree_on_page(&mut host, &mut page, &finished(b), &[input]);
            }
        }
    }
}

/// What a select keeps of a result, whether masks vary or not, and wherever what was there before comes from.
#[test]
fn results_are_blended_with_what_was_there_before() {
    if harness::x86().is_none() {
        return;
    }
    use Op::{Add, And, FDiv, Fma, Max, Min, Mul, Or, Shl, Shr, Sqrt, Sub, Xor};
    let floats = [Add, Sub, Mul, FDiv, Min, Max, Sqrt, Fma].map(|op| (op, [Ty::F32, Ty::F64]));
    let ints = [Add, Sub, Mul, Min, Max, And, Or, Xor, Shl, Shr].map(|op| (op, [Ty::I32, Ty::U64]));
    let ops: Vec<(Op, Ty)> = floats.into_iter().chain(ints).flat_map(|(op, tys)| tys.map(|ty| (op, ty))).collect();
    for lanes in [2, 16] {
        let mut host = host(lanes);
        for &(op, ty) in &ops {
            let places = host.places(Type::varying(ty));
            for form in 0..6 {
                let mut b = Builder::new(host.width, host.function, 1);
                let mask = execution_mask(&mut b);
                let condition = entry(&mut b, host.places(if form == 0 { Type::BOOL } else { Type::MASK })[0]);
                let [x, y, z] = [0, 1, 2].map(|i| entry(&mut b, places[i]));
                let y = if form == 1 { b.constant(ty, 3) } else { y };
                let before = if form == 2 { x } else { z };
                let args = &[x, y, before][..match op {
                    Op::Sqrt => 1,
                    Op::Fma => 3,
                    _ => 2,
                }];
                let made = b.op(op, ty, args);
                let select = Kind::Op { op: Op::Select, ty, from: ty };
                // Also a mask or a value that is not there yet, or the other way round.
                let condition = if form == 3 { b.op(Op::Xor, Ty::Bool, &[condition, mask]) } else { condition };
                let before = if form == 4 { b.op(op, ty, &[z, x, x][..args.len()]) } else { before };
                let arms = if form == 5 { [before, made] } else { [made, before] };
                let kept = b.inst(select, &[condition, arms[0], arms[1]], places[0].ty);
                let again = b.inst(select, &[mask, kept, x], places[0].ty);
                leave(&mut b, &host, mask, vec![(places[0], kept), (places[3], again)]);
                let region = finished(b);
                agree(&mut host, &region, form, 4);
            }
        }
    }
}
