//! Fusion of similar arms: what is made of small regions, and that random ones do the same.

mod harness;

use harness::Host;
use harness::arms::arms;
use harness::passing::{becomes, check, compare, run_pass, seeds, simplified};
use spmdvm_jit::ir::{Builder, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};

const I32: Ty = Ty::I32;

#[track_caller]
fn fuses(compute: impl FnOnce(&mut Builder, [Value; 6]) -> Vec<Value>, want: &str) {
    becomes(&["gvn", "dead", "fuse", "dead"], compute, want);
}

#[track_caller]
fn stays(compute: impl Fn(&mut Builder, [Value; 6]) -> Vec<Value>) {
    let have = simplified(&["gvn", "dead", "fuse", "dead"], &compute);
    assert_eq!(have, simplified(&["gvn", "dead"], &compute), "\n{have}");
}

fn select(b: &mut Builder, mask: Value, x: Value, y: Value) -> Value {
    b.op(Op::Select, b.region.ty(x).ty, &[mask, x, y])
}

fn as_float(b: &mut Builder, v: Value) -> Value {
    let shape = b.region.ty(v).shape;
    b.inst(Kind::Op { op: Op::Bitcast, ty: Ty::F32, from: I32 }, &[v], Type { shape, ty: Ty::F32 })
}

#[test]
fn an_operation_with_one_other_operand_is_done_once() {
    fuses(
        |b, [x, y, u, m, ..]| {
            let (first, second) = (b.op(Op::Add, I32, &[x, u]), b.op(Op::Add, I32, &[u, y]));
            vec![select(b, m, first, second)]
        },
        "%9: v.i32 = select.i32 %3, %0, %1
         %10: v.i32 = add.i32 %9, %2
         exit x0
         r28=%10",
    );
}

#[test]
fn a_division_pays_for_two_selected_operands_and_an_addition_does_not() {
    fuses(
        |b, [x, y, _, m, ..]| {
            let (x, y) = (as_float(b, x), as_float(b, y));
            let (first, second) = (b.op(Op::FDiv, Ty::F32, &[x, y]), b.op(Op::FDiv, Ty::F32, &[y, x]));
            vec![select(b, m, first, second)]
        },
        "%6: v.f32 = bitcast.f32.i32 %0
         %7: v.f32 = bitcast.f32.i32 %1
         %11: v.f32 = select.f32 %3, %6, %7
         %12: v.f32 = select.f32 %3, %7, %6
         %13: v.f32 = fdiv.f32 %11, %12
         exit x0
         r84=%13",
    );
    stays(|b, [x, y, u, m, ..]| {
        let (first, second) = (b.op(Op::Sub, I32, &[x, u]), b.op(Op::Sub, I32, &[y, x]));
        vec![select(b, m, first, second)]
    });
}

#[test]
fn assignments_within_the_arms_are_looked_through() {
    // if (m) { v = √x; v = v / y; } else { v = √y; v = v / y; }
    let text = simplified(&["fold", "gvn", "dead", "fuse", "dead"], |b, [x, y, _, m, ..]| {
        let (x, y) = (as_float(b, x), as_float(b, y));
        let other = b.op(Op::Not, Ty::Bool, &[m]);
        let mut v = x;
        for (mask, from) in [(m, x), (other, y)] {
            let root = b.op(Op::Sqrt, Ty::F32, &[from]);
            v = select(b, mask, root, v);
            let quotient = b.op(Op::FDiv, Ty::F32, &[v, y]);
            v = select(b, mask, quotient, v);
        }
        vec![v]
    });
    let count = |what: &str| text.matches(what).count();
    assert_eq!((count("sqrt"), count("fdiv"), count("select")), (1, 1, 1), "{text}");
}

#[test]
fn arms_under_an_outer_mask_keep_what_the_other_lanes_hold() {
    let text = simplified(&["fold", "gvn", "dead", "fuse", "dead"], |b, [x, y, _, m, n, _]| {
        let (x, y) = (as_float(b, x), as_float(b, y));
        let other = b.op(Op::Not, Ty::Bool, &[m]);
        let (first, second) = (b.op(Op::And, Ty::Bool, &[n, m]), b.op(Op::And, Ty::Bool, &[n, other]));
        let (p, q) = (b.op(Op::Sqrt, Ty::F32, &[x]), b.op(Op::Sqrt, Ty::F32, &[y]));
        let inner = select(b, first, p, x);
        vec![select(b, second, q, inner)]
    });
    assert_eq!(text.matches("sqrt").count(), 1, "{text}");
    assert!(text.contains("select.f32 %4,"), "in the lanes of the outer mask: {text}");
}

#[test]
fn what_something_else_needs_is_not_fused() {
    stays(|b, [x, y, _, m, ..]| {
        let (x, y) = (as_float(b, x), as_float(b, y));
        let (p, q) = (b.op(Op::Sqrt, Ty::F32, &[x]), b.op(Op::Sqrt, Ty::F32, &[y]));
        vec![select(b, m, p, q), p]
    });
    // Both roots need what they share: they are fused together.
    let text = simplified(&["gvn", "dead", "fuse", "dead"], |b, [x, y, _, m, ..]| {
        let (x, y) = (as_float(b, x), as_float(b, y));
        let (p, q) = (b.op(Op::Sqrt, Ty::F32, &[x]), b.op(Op::Sqrt, Ty::F32, &[y]));
        let (r, s) = (b.op(Op::Mul, Ty::F32, &[p, p]), b.op(Op::Mul, Ty::F32, &[q, q]));
        vec![select(b, m, p, q), select(b, m, r, s)]
    });
    assert_eq!((text.matches("sqrt").count(), text.matches("mul").count()), (1, 1), "{text}");
}

#[test]
fn what_sees_other_lanes_may_trap_or_shifts_by_different_counts_is_not_fused() {
    for op in [Op::Shl, Op::Shr] {
        stays(move |b, [x, y, _, m, ..]| {
            let (two, three) = (b.constant(I32, 2), b.constant(I32, 3));
            let (first, second) = (b.op(op, I32, &[x, two]), b.op(op, I32, &[y, three]));
            vec![select(b, m, first, second)]
        });
    }
    for op in [Op::IDiv, Op::IRem] {
        stays(move |b, [x, y, _, m, ..]| {
            let seven = b.constant(I32, 7);
            let (first, second) = (b.op(op, I32, &[x, seven]), b.op(op, I32, &[y, seven]));
            vec![select(b, m, first, second)]
        });
    }
    stays(|b, [x, y, u, m, ..]| {
        let shuffle = Kind::Op { op: Op::Shuffle, ty: I32, from: I32 };
        let index = b.inst(Kind::Splat, &[u], Type::varying(I32));
        let first = b.inst(shuffle, &[x, index], Type::varying(I32));
        let second = b.inst(shuffle, &[y, index], Type::varying(I32));
        vec![select(b, m, first, second)]
    });
}

#[test]
fn random_arms_do_the_same_when_they_are_fused() {
    for lanes in [1, 4, 16] {
        compare(lanes, seeds(lanes as u64 * 1_000_000, 250), arms, |region, seed| {
            for name in ["fold", "gvn", "dead", "fuse", "dead"] {
                run_pass(name, region);
                check(region, name, seed);
            }
        });
    }
}

fn operations(region: &Region) -> usize {
    let dear = |kind: &Kind| matches!(kind, Kind::Op { op: Op::FDiv | Op::Sqrt, .. });
    region.blocks.iter().flat_map(|b| &b.insts).filter(|i| dear(&i.kind)).count()
}

#[test]
fn random_arms_lose_many_of_their_dear_operations() {
    let host = Host::new(Width::DEFAULT);
    let (mut before, mut after) = (0, 0);
    for seed in seeds(0, 300) {
        let mut region = arms(&host, seed);
        ["fold", "gvn", "dead"].iter().for_each(|name| run_pass(name, &mut region));
        before += operations(&region);
        ["fuse", "dead"].iter().for_each(|name| run_pass(name, &mut region));
        after += operations(&region);
    }
    assert!(before > 100 && after * 6 < before * 5, "{before} divisions and roots, {after} are left");
}
