//! The pass that counts the fuel of several places at the first.

mod harness;

use harness::by_hand::*;
use harness::passing::{name_exits, numbered};
use harness::values::Rng;
use harness::{Host, exit};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::clif::{Clif, Options};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Kind, Region, Type, Value, verify};
use spmdvm_jit::passes::ticks;
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

const BOOL: Type = Type::uniform(Ty::Bool);
const NUMBER: Type = Type::uniform(Ty::I32);

/// What a place does.
#[derive(Clone, Copy)]
enum Place {
    /// Counts a unit of fuel.
    Tick,
    /// Leaves if this bool at entry is false.
    Guard(usize),
    /// Makes a frame with memory and ends it.
    Frame,
}

/// A region that does these things one after another, and adds one to a number before each.
fn region(host: &Host, places: &[Place]) -> Region {
    let mut b = Builder::new(host.width, host.function, 1);
    let mut n = entry(&mut b, host.places(NUMBER)[0]);
    let bools = [0, 1].map(|i| entry(&mut b, host.places(BOOL)[i]));
    let mask = execution_mask(&mut b);
    let one = b.constant(Ty::I32, 1);
    let state = |b: &mut Builder, n: Value| b.exit(exit(host, mask, vec![(host.places(NUMBER)[0], n)], vec![]));
    for place in places {
        n = b.op(Op::Add, Ty::I32, &[n, one]);
        let exit = state(&mut b, n);
        match *place {
            Place::Tick => b.effect(Kind::Tick { units: 1, exit }, &[]),
            Place::Guard(i) => b.effect(Kind::Guard { exit }, &[bools[i]]),
            Place::Frame => {
                let frame = b.inst(Kind::FrameOpen { function: host.function, at: 4096, exit }, &[], U64);
                b.effect(Kind::FrameClose, &[frame]);
            }
        }
    }
    leave(&mut b, host, mask, vec![(host.places(NUMBER)[0], n)]);
    verify(&b.region).unwrap();
    let mut region = b.region;
    name_exits(&mut region);
    region
}

fn merged(before: &Region) -> Region {
    let mut after = before.clone();
    ticks::run(&mut after);
    verify(&after).unwrap_or_else(|e| panic!("{e}\n{after}"));
    after
}

/// The units that the places of a region count.
fn units(region: &Region) -> Vec<u32> {
    let insts = region.blocks.iter().flat_map(|block| &block.insts);
    let count = |kind: Kind| match kind {
        Kind::Tick { units, .. } => Some(units),
        _ => None,
    };
    insts.filter_map(|inst| count(inst.kind)).collect()
}

use Place::{Frame, Guard, Tick};

#[test]
fn places_in_a_row_count_together() {
    let host = host(4);
    let units_of = |places: &[Place]| units(&merged(&region(&host, places)));
    assert_eq!(units_of(&[Tick]), [1]);
    assert_eq!(units_of(&[Tick, Guard(0), Tick, Tick]), [3]);
    assert_eq!(units_of(&[Tick, Tick, Frame, Tick, Guard(1), Tick]), [2, 2], "memory begins and ends");
    assert_eq!(units_of(&[Tick, Frame, Tick]), [1, 1]);
    assert_eq!(units_of(&[Tick; 100]), [64, 36], "no more than a slice holds");
    let again = merged(&merged(&region(&host, &[Tick, Tick])));
    assert_eq!(units(&again), [2], "{again}");
}

/// With fuel enough, all is as it was at every exit, fuel included. With too little, nothing has happened where the
/// first unit is asked for.
#[test]
fn exits_between_give_back_what_lies_behind_them() {
    let mut host = host(4);
    let before = region(&host, &[Guard(0), Tick, Guard(1), Tick, Guard(0), Tick, Tick, Guard(1)]);
    let after = merged(&before);
    assert_eq!(units(&after), [4], "{after}");
    let clif = Clif::with(Options::default()).unwrap();
    let x86s: Vec<_> = harness::each_x86().collect();
    let natives = x86s.iter().map(|x86| &**x86).chain([&clif as &dyn Backend, &Ir]);
    let compile = |backend: &dyn Backend, region: &Region| -> Arc<dyn Executable> {
        Arc::from(backend.compile(Arc::new(region.clone())).unwrap())
    };
    let old = compile(&Ir, &before);
    let new: Vec<_> = natives.map(|backend| compile(backend, &after)).collect();
    let mut rng = Rng(5);
    let at = |host: &Host, i: usize| host.bank.iter().position(|place| *place == host.places(BOOL)[i]).unwrap();
    let mut early = 0;
    for fuel in 0..8 {
        for bools in 0..4u64 {
            // Polls fail.
            let mut input = host.random_input(&mut rng, true);
            input.ticks = fuel;
            for i in 0..2 {
                let place = at(&host, i);
                input.registers[place] = vec![bools >> i & 1];
            }
            let want = numbered(&before, host.run(old.clone(), &input));
            for code in &new {
                let have = numbered(&after, host.run(code.clone(), &input));
                if fuel >= 4 || have.exit != 1 {
                    host.same(&after, 0, &want, &have);
                } else {
                    // Exit 1 is that of the first unit.
                    assert!(want.exit > 0, "{before}");
                    early += 1;
                }
            }
        }
    }
    assert!(early > 0);
}
