//! What the back end of wide vectors could get wrong without random regions noticing: at the ends of memory, with more values than
//! registers, and in what its code looks like.

mod harness;

use harness::{Host, Place, exit};
use spmdvm_jit::Backend;
use spmdvm_jit::backend::Executable;
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Cell, End, EntryMask, Kind, Region, Type, Value, verify};
use spmdvm_jit::x86::X86;
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};
use std::sync::Arc;

const WIDTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];
const U64: Type = Type::uniform(Ty::U64);

fn host(lanes: u32) -> Host {
    Host::new(Width::new(lanes).unwrap())
}

fn entry(b: &mut Builder, place: Place) -> Value {
    b.inst(Kind::EntryReg { at: place.at }, &[], place.ty)
}

fn execution_mask(b: &mut Builder) -> Value {
    b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK)
}

fn address(b: &mut Builder, pointer: u64) -> Value {
    let pointer = b.constant(Ty::U64, pointer);
    b.inst(Kind::HostAddress { disp: 0 }, &[pointer], U64)
}

fn leave(b: &mut Builder, host: &Host, mask: Value, regs: Vec<(Place, Value)>) {
    let out = b.exit(exit(host, mask, regs, vec![]));
    b.end(End::Exit(out));
}

fn finished(b: Builder) -> Arc<Region> {
    verify(&b.region).unwrap();
    Arc::new(b.region)
}

fn listing(x86: &X86, region: Arc<Region>) -> String {
    x86.compile(region).unwrap().listing().expect("there is a listing")
}

/// Lines with one of these.
fn count(listing: &str, texts: &[&str]) -> usize {
    listing.lines().filter(|line| texts.iter().any(|text| line.contains(text))).count()
}

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
            let [want, have] = [&Ir as &dyn Backend, &x86]
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
        let input = host.random_input(&mut harness::values::Rng(lanes as u64), false);
        host.agree(&finished(b), &[&Ir, &x86], &input);
    }
}

/// Checks see what active lanes have read. An inactive lane that takes their place must take what has been checked: read once
/// more, it may be something else by now, as another thread may write there.
#[test]
fn nothing_is_read_again_to_be_followed() {
    let Some(x86) = harness::x86() else { return };
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
