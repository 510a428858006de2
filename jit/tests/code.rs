//! What the machine code of a region looks like: the promises that results cannot show.

#![cfg(target_arch = "x86_64")]

mod harness;

use harness::{Host, exit, kernels};
use spmdvm_jit::Backend;
use spmdvm_jit::clif::Clif;
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Region, Type, Value, verify};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};
use std::sync::Arc;

fn listing(region: Region) -> String {
    verify(&region).unwrap();
    let clif = Clif::new().unwrap();
    clif.compile(Arc::new(region)).unwrap().listing().expect("there is a listing")
}

/// A region that reads registers of some types, computes, and writes the results back.
fn region(host: &Host, inputs: &[Type], compute: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>) -> Region {
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let reads: Vec<Value> = inputs
        .iter()
        .enumerate()
        .map(|(i, &ty)| b.inst(Kind::EntryReg { at: host.places(ty)[i % harness::BANK].at }, &[], ty))
        .collect();
    let results = compute(&mut b, &reads);
    let places =
        results.iter().enumerate().map(|(i, &v)| (host.places(b.region.ty(v))[i % harness::BANK], v)).collect();
    let out = b.exit(exit(host, mask, places, vec![]));
    b.end(End::Exit(out));
    b.region
}

fn host() -> Host {
    Host::new(Width::DEFAULT)
}

/// Instructions whose names contain one of these.
fn count(listing: &str, names: &[&str]) -> usize {
    let mnemonic = |line: &str| line.split_whitespace().next().unwrap_or_default().to_owned();
    listing.lines().map(mnemonic).filter(|m| names.iter().any(|n| m.contains(n))).count()
}

/// Lines with a vector of four floats as operand: packed instructions.
fn packed(listing: &str) -> usize {
    count(
        listing,
        &["mulps", "addps", "subps", "divps", "paddd", "psubd", "pmulld", "pbroadcast", "shufps", "movups", "movdqu"],
    )
}

#[test]
fn uniform_values_are_computed_by_scalar_instructions() {
    let host = host();
    let text = listing(region(&host, &[Type::uniform(Ty::F32), Type::uniform(Ty::I32)], |b, v| {
        let x = b.op(Op::Mul, Ty::F32, &[v[0], v[0]]);
        let x = b.op(Op::Add, Ty::F32, &[x, v[0]]);
        let i = b.op(Op::Mul, Ty::I32, &[v[1], v[1]]);
        let i = b.op(Op::Add, Ty::I32, &[i, v[1]]);
        vec![x, i]
    }));
    assert_eq!(packed(&text), 0, "{text}");
    assert_eq!(count(&text, &["mulss"]), 1, "{text}");
}

#[test]
fn regions_of_memory_are_looked_up_without_calls() {
    let (host, word) = (host(), Type::uniform(Ty::U64));
    let text = listing(region(&host, &[word], |b, v| vec![b.region_len(v[0], true), b.host_address(v[0], 8)]));
    assert_eq!(count(&text, &["call"]), 0, "{text}");
}

#[test]
fn hot_operations_call_nothing() {
    let host = host();
    for ty in [Ty::F32, Ty::I32, Ty::U32, Ty::F64, Ty::I64] {
        let v = Type::varying(ty);
        let text = listing(region(&host, &[v, v], |b, x| {
            let float = ty.is_float();
            let mut ops = vec![Op::Add, Op::Sub, Op::Mul, Op::Min, Op::Max];
            ops.extend(if float { vec![Op::FDiv] } else { vec![Op::IDiv, Op::IRem, Op::Shl, Op::Shr, Op::And] });
            let mut a = x[0];
            for op in ops {
                a = b.op(op, ty, &[a, x[1]]);
            }
            let less = b.op(Op::Lt, ty, &[a, x[1]]);
            let a = b.op(Op::Select, ty, &[less, a, x[1]]);
            let to = if ty == Ty::F32 { Ty::I32 } else { Ty::F32 };
            let c = b.inst(Kind::Op { op: Op::Convert, ty: to, from: ty }, &[a], Type::varying(to));
            let bits = if float && ty.size() == 4 { Ty::I32 } else { ty };
            let d = b.inst(Kind::Op { op: Op::Bitcast, ty: bits, from: ty }, &[a], Type::varying(bits));
            vec![a, c, d]
        }));
        assert_eq!(count(&text, &["call"]), 0, "{ty}: {text}");
    }
}

#[test]
fn sixteen_floats_are_four_vectors() {
    let host = host();
    let v = Type::varying(Ty::F32);
    let text = listing(region(&host, &[v, v], |b, x| {
        let p = b.op(Op::Mul, Ty::F32, &[x[0], x[1]]);
        vec![b.op(Op::Add, Ty::F32, &[p, x[1]])]
    }));
    assert_eq!((count(&text, &["mulps"]), count(&text, &["addps"])), (4, 4), "{text}");
}

#[test]
fn masks_of_floats_stay_as_wide_as_floats() {
    let host = host();
    let v = Type::varying(Ty::F32);
    let text = listing(region(&host, &[v, v], |b, x| {
        let a = b.op(Op::Lt, Ty::F32, &[x[0], x[1]]);
        let c = b.op(Op::Gt, Ty::F32, &[x[0], x[0]]);
        let both = b.op(Op::And, Ty::Bool, &[a, c]);
        vec![b.op(Op::Select, Ty::F32, &[both, x[0], x[1]])]
    }));
    assert_eq!(count(&text, &["pack", "pmovsx", "pmovmsk", "unpck"]), 0, "{text}");
}

#[test]
fn consecutive_lanes_are_loaded_and_stored_as_vectors() {
    let host = host();
    let text = listing(region(&host, &[Type::uniform(Ty::U64)], |b, x| {
        let y = b.inst(Kind::LoadLanes { ty: Ty::F32 }, &[x[0]], Type::varying(Ty::F32));
        b.effect(Kind::StoreLanes { ty: Ty::F32 }, &[x[0], y]);
        vec![]
    }));
    assert_eq!(count(&text, &["pinsr", "insertps", "pextr", "extractps", "call"]), 0, "{text}");
    assert!(count(&text, &["movups", "movdqu"]) >= 8, "{text}");
}

#[test]
fn lanes_are_counted_without_blending() {
    let host = host();
    let text = listing(region(&host, &[Type::varying(Ty::I32), Type::MASK], |b, v| {
        let one = b.constant(Ty::I32, 1);
        let more = b.op(Op::Add, Ty::I32, &[v[0], one]);
        let select = Kind::Op { op: Op::Select, ty: Ty::I32, from: Ty::I32 };
        vec![b.inst(select, &[v[1], more, v[0]], Type::varying(Ty::I32))]
    }));
    assert_eq!((count(&text, &["psubd"]), count(&text, &["blend", "paddd"])), (4, 0), "{text}");
}

/// A loop of one block that multiplies an array by so many constants; gives how often they are loaded in it.
fn constants_in_loop(n: u64) -> usize {
    let host = host();
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let pointer = b.inst(Kind::EntryReg { at: host.places(Type::uniform(Ty::U64))[0].at }, &[], Type::uniform(Ty::U64));
    let [zero, step, end] = [0, 64, 640].map(|x| b.constant(Ty::U64, x));
    let round = b.block();
    b.jump(round, &[zero]);
    b.switch_to(round);
    let at = b.param(round, Type::uniform(Ty::U64));
    let at_pointer = b.op(Op::Add, Ty::U64, &[pointer, at]);
    let mut x = b.inst(Kind::LoadLanes { ty: Ty::F32 }, &[at_pointer], Type::varying(Ty::F32));
    for i in 0..n {
        let factor = b.constant(Ty::F32, (1.5 + i as f32).to_bits() as u64);
        x = b.op(Op::Mul, Ty::F32, &[x, factor]);
    }
    b.effect(Kind::StoreLanes { ty: Ty::F32 }, &[at_pointer, x]);
    let next = b.op(Op::Add, Ty::U64, &[at, step]);
    let more = b.op(Op::Ne, Ty::U64, &[next, end]);
    let done = b.block();
    b.branch(more, (round, &[next]), (done, &[]));
    b.switch_to(done);
    let out = b.exit(exit(&host, mask, vec![], vec![]));
    b.end(End::Exit(out));
    let text = listing(b.region);
    let blocks: Vec<&str> = text.split("\nblock").collect();
    let body = blocks.iter().find(|block| block.contains("mulps")).expect("the loop multiplies");
    count(body, &["movabs"])
}

#[test]
fn a_streaming_loop_loads_its_constants_before_it() {
    assert_eq!(constants_in_loop(3), 0);
    // There are not enough registers for these.
    assert!(constants_in_loop(12) > 0);
}

/// Nothing in the loop of mandelbrot that the source does not ask for: no spills around the poll, no masks in the body that
/// runs with all lanes, no calls but those of polls.
#[test]
fn the_loop_of_mandelbrot_is_lean() {
    let host = host();
    let text = listing(kernels::mandelbrot(&host));
    assert_eq!(count(&text, &["call"]), 2, "one for each poll:\n{text}");
    assert_eq!(count(&text, &["fmadd"]), if fma() { 8 } else { 0 }, "{text}");
    assert_eq!(count(&text, &["blend"]), 0, "rounds are counted by the masks:\n{text}");
    assert_eq!(count(&text, &["psubd"]), 8, "four at the change of bodies, four under the mask:\n{text}");
    assert_eq!(count(&text, &["pack"]), 6, "masks become bits only at the two exits under a mask:\n{text}");
}

fn fma() -> bool {
    std::arch::is_x86_feature_detected!("fma")
}

/// Mappings of the process that are both writable and executable, and bytes that are executable without a file.
#[cfg(target_os = "linux")]
fn executable_memory() -> (usize, usize) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let rights = |line: &str| line.split_whitespace().nth(1).unwrap_or_default().to_owned();
    let both = maps.lines().filter(|l| rights(l).starts_with("rwx")).count();
    let anonymous = |l: &&str| rights(l).starts_with("r-x") && l.split_whitespace().count() == 5;
    let bytes = |line: &str| {
        let (from, to) = line.split_whitespace().next().unwrap().split_once('-').unwrap();
        usize::from_str_radix(to, 16).unwrap() - usize::from_str_radix(from, 16).unwrap()
    };
    (both, maps.lines().filter(anonymous).map(bytes).sum())
}

#[cfg(target_os = "linux")]
#[test]
fn code_is_never_writable_and_goes_with_its_region() {
    let host = host();
    let clif = Clif::new().unwrap();
    let region = Arc::new(kernels::mandelbrot(&host));
    let keep = |n: usize| (0..n).map(|_| clif.compile(region.clone()).unwrap()).collect::<Vec<_>>();
    let codes = keep(40);
    let (both, with) = executable_memory();
    drop(codes);
    let (_, without) = executable_memory();
    assert_eq!(both, 0);
    // Other tests compile meanwhile, but not that much.
    assert!(without + 20 * 4096 <= with, "{with} bytes with the code, {without} without");
}
