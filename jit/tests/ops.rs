//! Every operation of every type and shape, at every width: native code against the scalar meanings.

mod harness;

use harness::values::Rng;
use harness::{Host, Place, exit};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::clif::{Clif, Options};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, End, EntryMask, Kind, Type, Value, verify};
use spmdvm_vm::Op;
use spmdvm_vm::isa::{Effect, Form, OPS};
use spmdvm_vm::sem;
use spmdvm_vm::types::{Shape, Ty, Width};
use std::collections::HashMap;
use std::sync::Arc;

/// An instruction to try.
#[derive(Clone, Debug)]
struct Case {
    kind: Kind,
    args: Vec<Type>,
    result: Type,
    /// An argument that is to be a constant, and its bits.
    constant: Option<(usize, u64)>,
}

/// Every combination of shapes of `n` arguments.
fn shapes(n: usize) -> impl Iterator<Item = Vec<Shape>> {
    let shape = |bits: usize, i: usize| if bits >> i & 1 == 0 { Shape::Varying } else { Shape::Uniform };
    (0..1usize << n).map(move |bits| (0..n).map(|i| shape(bits, i)).collect())
}

/// All forms of the elementwise operations.
fn elementwise() -> Vec<Case> {
    let mut cases = Vec::new();
    for row in OPS {
        let special = matches!(row.op, Op::Select | Op::Convert | Op::Bitcast | Op::PAdd | Op::Mov);
        let pure = matches!(row.effect, Effect::Pure) || row.form == Form::Checked;
        if !(pure && row.form != Form::Special || special) {
            continue;
        }
        for ty in row.types.iter() {
            for from in if row.sig.has_from { Ty::ALL.to_vec() } else { vec![ty] } {
                let to_bool = row.op == Op::Bitcast && (ty == Ty::Bool || from == Ty::Bool) && ty != from;
                if sem::eval(row.op, ty, from, [1; 3]).is_none() || to_bool {
                    continue;
                }
                for shapes in shapes(row.sig.src.len()) {
                    let types = row.sig.src.iter().map(|s| s.ty.resolve(ty, from));
                    let args: Vec<Type> = types.zip(&shapes).map(|(ty, &shape)| Type { shape, ty }).collect();
                    let varying = args.iter().any(|a| a.is_varying());
                    let result = row.sig.dst.unwrap().ty.resolve(ty, from);
                    let result = if varying { Type::varying(result) } else { Type::uniform(result) };
                    cases.push(Case { kind: Kind::Op { op: row.op, ty, from }, args, result, constant: None });
                }
            }
        }
    }
    cases
}

/// Shifts by constants, divisions by constants.
fn by_constants() -> Vec<Case> {
    let mut cases = Vec::new();
    for (op, ty) in [Op::Shl, Op::Shr, Op::IDiv, Op::IRem].into_iter().flat_map(|op| ints().map(move |ty| (op, ty))) {
        for bits in [1, 3, 7, 8 * ty.size() as u64 - 1, u64::MAX >> (64 - 8 * ty.size())] {
            let args = vec![Type::varying(ty), Type::uniform(ty)];
            let kind = Kind::Op { op, ty, from: ty };
            cases.push(Case { kind, args, result: Type::varying(ty), constant: Some((1, bits)) });
        }
    }
    cases
}

fn ints() -> impl Iterator<Item = Ty> {
    Ty::ALL.into_iter().filter(|t| t.is_int())
}

/// Operations on lanes, masks and whole gangs.
fn lanes() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |kind, args: &[Type], result| cases.push(Case { kind, args: args.to_vec(), result, constant: None });
    let (index, i32_) = (Type::uniform(Ty::I32), Type::varying(Ty::I32));
    let op = |op, ty| Kind::Op { op, ty, from: ty };
    for ty in Ty::ALL {
        let (u, v) = (Type::uniform(ty), Type::varying(ty));
        add(op(Op::Shuffle, ty), &[v, i32_], v);
        add(op(Op::Extract, ty), &[v, index], u);
        add(op(Op::Insert, ty), &[v, index, u], v);
        add(Kind::Splat, &[u], v);
    }
    for row in OPS.iter().filter(|r| r.form == Form::Reduce) {
        for ty in row.types.iter() {
            add(Kind::Reduce { op: row.op, ty }, &[Type::varying(ty)], Type::uniform(ty));
        }
    }
    add(op(Op::Iota, Ty::I32), &[], i32_);
    add(Kind::MaskBits, &[Type::MASK], Type::uniform(Ty::U64));
    add(Kind::MaskFromBits, &[Type::uniform(Ty::U64)], Type::MASK);
    add(Kind::AnyLane, &[Type::MASK], Type::BOOL);
    for ty in Ty::ALL {
        for at in [0, 1, 5, 30, 63, u32::MAX as u64] {
            let (u, v) = (Type::uniform(ty), Type::varying(ty));
            let extract = Case { kind: op(Op::Extract, ty), args: vec![v, index], result: u, constant: Some((1, at)) };
            let insert = Case { kind: op(Op::Insert, ty), args: vec![v, index, u], result: v, constant: Some((1, at)) };
            cases.extend([extract, insert]);
        }
    }
    cases
}

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
        region(&mut host, &now, native, &mut rng, runs);
        rest = later;
    }
}

fn region(host: &mut Host, cases: &[&Case], native: &dyn Backend, rng: &mut Rng, runs: usize) {
    let mut b = Builder::new(host.width, host.function, 1);
    let mut entries: HashMap<(Ty, Shape, usize), Value> = HashMap::new();
    let mask = b.inst(Kind::EntryMask(EntryMask::Execution), &[], Type::MASK);
    let mut results: Vec<(Place, Value)> = Vec::new();
    let mut taken: HashMap<(Ty, Shape), usize> = HashMap::new();
    for case in cases {
        let mut args = Vec::new();
        for (i, &ty) in case.args.iter().enumerate() {
            args.push(match case.constant {
                Some((at, bits)) if at == i => b.constant(ty.ty, bits),
                _ => *entries.entry((ty.ty, ty.shape, i)).or_insert_with(|| {
                    let at = host.places(ty)[i].at;
                    b.inst(Kind::EntryReg { at }, &[], ty)
                }),
            });
        }
        let v = b.inst(case.kind, &args, case.result);
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
        for cases in [elementwise(), by_constants(), self::lanes()] {
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
    if let Some(x86) = harness::x86() {
        every_operation(&x86, &[1, 2, 4, 8, 16, 32, 64]);
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
