//! Every operation of every type and shape, at every width: native code against the scalar meanings.

mod harness;

use harness::cases::{self, Case};
use harness::values::Rng;
use harness::{BankRegister, Host, exit, hand_on};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::clif::{Clif, Options};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{BlockId, Builder, End, EntryMask, Kind, Type, Value, verify};
use spmdvm_vm::types::{Shape, Ty, Width};
use std::collections::HashMap;
use std::sync::Arc;

/// Puts cases into as few regions as the registers for their results allow, and runs each on several inputs.
fn check(cases: &[Case], width: Width, native: &dyn Backend, runs: usize) {
    let mut host = Host::new(width);
    let mut rest: Vec<&Case> = cases.iter().collect();
    let mut rng = Rng(width.lanes() as u64);
    while !rest.is_empty() {
        let mut taken: HashMap<(Ty, Shape), usize> = HashMap::new();
        let (now, later): (Vec<_>, Vec<_>) = rest.into_iter().partition(|case| {
            let n = taken.entry((case.result.ty, case.result.shape)).or_insert(0);
            *n += 1;
            *n <= harness::BANK
        });
        region(&mut host, &now, native, &mut rng, runs, false);
        // Those across lanes have other ways for registers of the frame.
        let lanes: Vec<&Case> = now.iter().filter(|case| case.is_across_lanes()).copied().collect();
        if !lanes.is_empty() {
            region(&mut host, &lanes, native, &mut rng, runs, true);
        }
        rest = later;
    }
}

/// Runs the cases in one region, on registers of the frame or on what was `handed_on`.
fn region(host: &mut Host, cases: &[&Case], native: &dyn Backend, rng: &mut Rng, runs: usize, handed_on: bool) {
    let mut b = Builder::new(host.width, host.function, 1);
    let mut entries: HashMap<(Ty, Shape, usize), Value> = HashMap::new();
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let mut results: Vec<(BankRegister, Value)> = Vec::new();
    let mut taken: HashMap<(Ty, Shape), usize> = HashMap::new();
    for case in cases {
        let mut args = Vec::new();
        for (i, &ty) in case.args.iter().enumerate() {
            args.push(match case.constant {
                Some((at, bits)) if at == i => b.constant(ty.ty, bits),
                _ => *entries.entry((ty.ty, ty.shape, i)).or_insert_with(|| {
                    let (at, here) = (host.places(ty)[i].at, b.current());
                    b.switch_to(BlockId(0));
                    let v = b.inst(Kind::EntryReg { at }, &[], ty);
                    b.switch_to(here);
                    v
                }),
            });
        }
        let args = if handed_on { hand_on(&mut b, &args) } else { args };
        let v = b.inst(case.kind, &args, case.result);
        let v = if handed_on { hand_on(&mut b, &[v])[0] } else { v };
        let n = taken.entry((case.result.ty, case.result.shape)).or_insert(0);
        results.push((host.places(case.result)[*n], v));
        *n += 1;
    }
    let state = exit(host, mask, results, vec![]);
    let out = b.exit(state);
    b.end(End::Exit(out));
    verify(&b.region).unwrap();
    let region = Arc::new(b.region);
    let codes: Vec<Arc<dyn Executable>> =
        [&Ir as &dyn Backend, native].iter().map(|be| Arc::from(be.compile(region.clone()).unwrap())).collect();
    for _ in 0..runs {
        let mut input = host.zeros();
        input.words[0] = rng.word();
        for (place, words) in host.bank.iter().zip(&mut input.registers) {
            words.iter_mut().for_each(|w| *w = rng.value(place.ty.ty));
        }
        host.agree_codes(&region, &codes, &input);
    }
}

fn everything(options: Options, widths: &[u32]) {
    every_operation(&Clif::with(options).unwrap(), widths);
}

fn every_operation(native: &dyn Backend, widths: &[u32]) {
    for &lanes in widths {
        let width = Width::new(lanes).unwrap();
        let runs = (128 / lanes as usize).max(4);
        for cases in [cases::elementwise(), cases::by_constants(), cases::lanes()] {
            check(&cases, width, native, runs);
        }
    }
}

#[test]
fn narrow_gangs() {
    everything(Options::default(), &[1, 2, 4, 8]);
}

#[test]
fn wide_gangs() {
    everything(Options::default(), &[16, 32, 64]);
}

#[test]
fn wide_vectors() {
    for x86 in harness::each_x86() {
        every_operation(&*x86, &[1, 2, 4, 8, 16, 32, 64]);
    }
}

#[test]
fn optimised() {
    everything(Options { optimise: true, ..Options::default() }, &[16]);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn old_processors() {
    let names = ["has_avx512f", "has_avx512vl", "has_avx512dq", "has_avx512bitalg", "has_avx512vbmi", "has_fma"];
    everything(Options { without: names.to_vec(), ..Options::default() }, &[2, 16]);
    let more = ["has_avx2", "has_avx", "has_bmi1", "has_bmi2", "has_lzcnt", "has_popcnt"];
    everything(Options { without: [&names[..], &more].concat(), ..Options::default() }, &[4]);
}
