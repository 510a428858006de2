//! What is asked about the memory regions of pointers that vary: every back end against the meaning.

mod harness;

use harness::by_hand::*;
use harness::values::Rng;
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::clif::{Clif, Options};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Inst, Kind, Type, Value, verify};
use spmdvm_jit::passes::pointers;
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

const POINTERS: Type = Type::varying(Ty::U64);

/// A pointer into an array, or next to it; to nothing; or to a region that never was.
fn pointer(rng: &mut Rng, arrays: &[u64]) -> u64 {
    match rng.below(6) {
        0 => 0,
        1 => rng.word(),
        _ => rng.pick(arrays).wrapping_add(rng.below(64) as u64).wrapping_sub(8),
    }
}

#[test]
fn each_lane_has_its_own_region() {
    for lanes in WIDTHS {
        let mut host = host(lanes);
        let places = host.places(POINTERS);
        let mut b = Builder::new(host.width, host.function, 1);
        let mask = execution_mask(&mut b);
        let pointers = entry(&mut b, places[0]);
        let writable = b.region_len(pointers, true);
        let readable = b.region_len(pointers, false);
        let base = b.region_base(pointers);
        let sums = vec![(places[1], writable), (places[2], readable), (places[3], base)];
        leave(&mut b, &host, mask, sums);
        let region = finished(b);
        let clif = Clif::with(Options::default()).unwrap();
        let x86s: Vec<_> = harness::each_x86().collect();
        let natives = x86s.iter().map(|x86| &**x86).chain([&clif as &dyn Backend]);
        let all = [&Ir as &dyn Backend].into_iter().chain(natives);
        let codes: Vec<Arc<dyn Executable>> =
            all.map(|backend| Arc::from(backend.compile(region.clone()).unwrap())).collect();
        let mut rng = Rng(u64::from(lanes));
        let at = host.bank.iter().position(|place| *place == places[0]).unwrap();
        for _ in 0..20 {
            let mut input = host.random_input(&mut rng, false);
            let arrays = host.pointers.clone();
            input.registers[at].iter_mut().for_each(|word| *word = pointer(&mut rng, &arrays));
            host.agree_codes(&region, &codes, &input);
        }
        // Native code asks nobody.
        for intels in [false, true] {
            let Some(x86) = harness::x86_for_listings() else { continue };
            let x86 = x86.tuned_as_intels(intels);
            assert_eq!(count(&listing(&x86, region.clone()), &["call"]), 0, "{region}");
        }
    }
}

/// A region in which pointers that vary and those of others are not of one shape is none.
#[test]
fn what_is_asked_has_the_shape_of_the_pointer() {
    let host = host(8);
    let asks = |ask: fn(&mut Builder, Value, Value) -> Value| {
        let mut b = Builder::new(host.width, host.function, 1);
        let (one, many) = (entry(&mut b, host.places(U64)[0]), entry(&mut b, host.places(POINTERS)[0]));
        ask(&mut b, one, many);
        leave_plainly(&mut b, &host);
        verify(&b.region).is_ok()
    };
    assert!(asks(|b, _, many| b.inst(Kind::RegionLen { write: false }, &[many], POINTERS)));
    assert!(!asks(|b, one, _| b.inst(Kind::RegionLen { write: false }, &[one], POINTERS)));
    assert!(!asks(|b, _, many| b.inst(Kind::RegionLen { write: false }, &[many], U64)));
    assert!(!asks(|b, one, many| b.inst(Kind::RegionLen { write: true }, &[many, one], POINTERS)));
    assert!(!asks(|b, one, many| b.inst(Kind::RegionBase, &[one, many], U64)));
}

/// In a loop, the regions of sums are those of the pointers that they are sums from; but not if these are of another
/// shape.
#[test]
fn sums_are_asked_about_what_they_come_from() {
    for varies in [false, true] {
        let host = host(8);
        let mut b = Builder::new(host.width, host.function, 1);
        let from = entry(&mut b, host.places(if varies { POINTERS } else { U64 })[0]);
        let distances = entry(&mut b, host.places(Type::varying(Ty::I64))[0]);
        let (head, after) = (b.block(), b.block());
        b.jump(head, &[]);
        b.switch_to(head);
        let changes = b.op(Op::Add, Ty::I64, &[distances, distances]);
        let sum = b.op(Op::PAdd, Ty::U64, &[from, changes]);
        let (len, base) = (b.region_len(sum, false), b.region_base(sum));
        let differ = b.op(Op::Ne, Ty::U64, &[len, base]);
        let again = b.inst(Kind::AnyLane, &[differ], Type::BOOL);
        b.branch(again, (head, &[]), (after, &[]));
        b.switch_to(after);
        leave_plainly(&mut b, &host);
        let region = passed(b, &[pointers::run]);
        let asked: Vec<Value> = region.blocks[head.index()].insts.iter().filter_map(asked_about).collect();
        let wanted = if varies { from } else { sum };
        assert!(!asked.is_empty() && asked.iter().all(|&v| v == wanted), "{region}");
    }
}

fn asked_about(inst: &Inst) -> Option<Value> {
    matches!(inst.kind, Kind::RegionLen { .. } | Kind::RegionBase).then(|| inst.args[0])
}
