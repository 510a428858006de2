//! Operations of the IR that the machine does together (`x86/fused.rs`): what instruction they become, and that it does the same.

mod harness;

use harness::by_hand::*;
use harness::values::Rng;
use spmdvm_jit::Backend;
use spmdvm_jit::backend::{Rule, Rules};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Kind, Region, Type, Value};
use spmdvm_jit::x86::{Avx2, Avx512};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;
use std::sync::Arc;

/// What is computed of two values that vary, a mask and a uniform value.
type Compute = fn(&mut Builder, Ty, [Value; 4]) -> Value;

struct Case {
    ty: Ty,
    compute: Compute,
    /// The instruction that does it, and those that do not stand beside it.
    want: &'static str,
    without: &'static [&'static str],
}

fn constant(b: &mut Builder, ty: Ty, bits: u64) -> Value {
    b.constant(ty, bits)
}

fn rotated(b: &mut Builder, ty: Ty, x: Value, by: u64, back: u64) -> Value {
    let (by, back) = (constant(b, ty, by), constant(b, ty, back));
    let (left, right) = (b.op(Op::Shl, ty, &[x, by]), b.op(Op::Shr, ty, &[x, back]));
    b.op(Op::Or, ty, &[right, left])
}

/// The bytes of a value, the lowest of which becomes the highest.
fn swapped(b: &mut Builder, ty: Ty, x: Value) -> Value {
    let bits = 8 * ty.size() as u64;
    let bytes = (0..bits).step_by(8).map(|from| {
        let to = bits - 8 - from;
        let (op, far) = if to > from { (Op::Shl, to - from) } else { (Op::Shr, from - to) };
        let (far, mask) = (constant(b, ty, far), constant(b, ty, 0xff << to));
        let byte = b.op(op, ty, &[x, far]);
        b.op(Op::And, ty, &[byte, mask])
    });
    let bytes: Vec<Value> = bytes.collect();
    bytes.into_iter().reduce(|all, byte| b.op(Op::Or, ty, &[byte, all])).expect("there are bytes")
}

fn tested(b: &mut Builder, ty: Ty, op: Op, [x, y, ..]: [Value; 4]) -> Value {
    let (and, zero) = (b.op(Op::And, ty, &[x, y]), constant(b, ty, 0));
    b.op(op, ty, &[and, zero])
}

fn masked(b: &mut Builder, ty: Ty, op: Op, [x, y, m, _]: [Value; 4]) -> Value {
    let zero = constant(b, ty, 0);
    let y = b.op(Op::Select, ty, &[m, y, zero]);
    b.op(op, ty, &[x, y])
}

/// Elements of two values, by numbers of which a bit chooses between them.
fn permuted(b: &mut Builder, ty: Ty, [x, y]: [Value; 2], numbers: Value, bit: u64) -> Value {
    let (bit, zero) = (constant(b, Ty::I32, bit), constant(b, Ty::I32, 0));
    let bit = b.op(Op::And, Ty::I32, &[numbers, bit]);
    let is_first = b.op(Op::Eq, Ty::I32, &[bit, zero]);
    let [x, y] = [x, y].map(|v| b.op(Op::Shuffle, ty, &[v, numbers]));
    b.op(Op::Select, ty, &[is_first, x, y])
}

fn numbers_of(b: &mut Builder, op: Op, from: Ty, v: Value) -> Value {
    b.inst(Kind::Op { op, ty: Ty::I32, from }, &[v], Type::varying(Ty::I32))
}

/// A value whose lanes hold three times their number, but for those below `from`, which hold that of `v`.
fn put_in(b: &mut Builder, ty: Ty, v: Value, from: u64) -> Value {
    let lanes = b.region.width.lanes() as u64;
    (from..lanes).fold(v, |v, lane| {
        let (at, bits) = (constant(b, Ty::I32, lane), constant(b, ty, 3 * lane));
        b.op(Op::Insert, ty, &[v, at, bits])
    })
}

const CASES: &[Case] = &[
    Case {
        ty: Ty::U32,
        compute: |b, ty, [x, ..]| rotated(b, ty, x, 7, 25),
        want: "vprold",
        without: &["vpslld", "vpsrld"],
    },
    Case { ty: Ty::U64, compute: |b, ty, [x, ..]| rotated(b, ty, x, 1, 63), want: "vprolq", without: &["vpsllq"] },
    // Neither do bits go round that are lost, nor those of a sign.
    Case { ty: Ty::U32, compute: |b, ty, [x, ..]| rotated(b, ty, x, 7, 24), want: "vpslld", without: &["vprold"] },
    Case { ty: Ty::I32, compute: |b, ty, [x, ..]| rotated(b, ty, x, 7, 25), want: "vpsrad", without: &["vprold"] },
    // Nor bytes that are in two places, but for one of them.
    Case { ty: Ty::U32, compute: |b, ty, [x, ..]| rotated(b, ty, x, 8, 16), want: "vpslld", without: &["vpshufb"] },
    Case { ty: Ty::I32, compute: |b, ty, [x, ..]| rotated(b, ty, x, 24, 8), want: "vpsrad", without: &["vpshufb"] },
    Case {
        ty: Ty::U16,
        compute: |b, ty, [x, ..]| swapped(b, ty, x),
        want: "vpshufb",
        without: &["vpsl", "vpsr", "vpand", "vpor"],
    },
    Case {
        ty: Ty::I32,
        compute: |b, ty, [x, ..]| swapped(b, ty, x),
        want: "vpshufb",
        without: &["vpsl", "vpsr", "vpand", "vpor"],
    },
    Case {
        ty: Ty::U64,
        compute: |b, ty, [x, ..]| swapped(b, ty, x),
        want: "vpshufb",
        without: &["vpsl", "vpsr", "vpand", "vpor"],
    },
    // The halves of the halves, and then the halves.
    Case {
        ty: Ty::U32,
        compute: |b, ty, [x, ..]| {
            let (low, high) = (constant(b, ty, 0x00ff_00ff), constant(b, ty, 0xff00_ff00));
            let by = constant(b, ty, 8);
            let (low, high) = (b.op(Op::And, ty, &[x, low]), b.op(Op::And, ty, &[x, high]));
            let (low, high) = (b.op(Op::Shl, ty, &[low, by]), b.op(Op::Shr, ty, &[high, by]));
            let halves = b.op(Op::Add, ty, &[low, high]);
            rotated(b, ty, halves, 16, 16)
        },
        want: "vpshufb",
        without: &["vpand", "vpor", "vpsrld"],
    },
    // What is left of it is moved.
    Case {
        ty: Ty::U64,
        compute: |b, ty, [x, ..]| {
            let (three, by) = (constant(b, ty, 0xff_ffff), constant(b, ty, 40));
            let (three, high) = (b.op(Op::And, ty, &[x, three]), b.op(Op::Shr, ty, &[x, by]));
            let three = b.op(Op::Shl, ty, &[three, by]);
            b.op(Op::Xor, ty, &[three, high])
        },
        want: "vpshufb",
        without: &["vpand", "vpxor", "vpsrlq"],
    },
    Case { ty: Ty::U8, compute: |b, ty, v| tested(b, ty, Op::Ne, v), want: "vptestmb", without: &["vpand", "vpcmp"] },
    Case { ty: Ty::I16, compute: |b, ty, v| tested(b, ty, Op::Eq, v), want: "vptestnmw", without: &["vpand", "vpcmp"] },
    Case { ty: Ty::I32, compute: |b, ty, v| tested(b, ty, Op::Ne, v), want: "vptestmd", without: &["vpand", "vpcmp"] },
    Case { ty: Ty::U64, compute: |b, ty, v| tested(b, ty, Op::Eq, v), want: "vptestnmq", without: &["vpand", "vpcmp"] },
    Case {
        ty: Ty::F32,
        compute: |b, ty, [x, y, m, _]| {
            let less = b.op(Op::Lt, ty, &[x, y]);
            b.op(Op::And, Ty::Bool, &[less, m])
        },
        want: "vcmp",
        without: &["kand"],
    },
    Case {
        ty: Ty::F64,
        compute: |b, ty, [x, y, m, _]| {
            let less = b.op(Op::Le, ty, &[x, y]);
            let not = b.op(Op::Not, Ty::Bool, &[less]);
            b.op(Op::And, Ty::Bool, &[m, not])
        },
        want: "vcmp",
        without: &["kand", "knot"],
    },
    Case {
        ty: Ty::I16,
        compute: |b, ty, [x, y, ..]| {
            let more = b.op(Op::Gt, ty, &[x, y]);
            b.op(Op::Not, Ty::Bool, &[more])
        },
        want: "vpcmp",
        without: &["knot"],
    },
    Case {
        ty: Ty::I32,
        compute: |b, ty, [x, y, m, _]| {
            let less = b.op(Op::Lt, ty, &[x, y]);
            let left = b.op(Op::Not, Ty::Bool, &[m]);
            let both = b.op(Op::Or, Ty::Bool, &[less, left]);
            let rest = b.op(Op::And, Ty::Bool, &[both, left]);
            b.op(Op::Xor, Ty::Bool, &[less, rest])
        },
        want: "kandn",
        without: &[],
    },
    Case {
        ty: Ty::I32,
        compute: |b, ty, v| masked(b, ty, Op::Xor, v),
        want: "vpxord zmm",
        without: &["vpblend", "vblend", "{z}"],
    },
    Case { ty: Ty::U64, compute: |b, ty, v| masked(b, ty, Op::Add, v), want: "vpaddq", without: &["vblend", "{z}"] },
    Case { ty: Ty::I64, compute: |b, ty, v| masked(b, ty, Op::Sub, v), want: "vpsubq", without: &["vblend", "{z}"] },
    Case { ty: Ty::U32, compute: |b, ty, v| masked(b, ty, Op::Or, v), want: "vpord", without: &["vblend", "{z}"] },
    Case {
        ty: Ty::I32,
        compute: |b, ty, [x, y, m, _]| {
            let zero = constant(b, ty, 0);
            let y = b.op(Op::Select, ty, &[m, y, zero]);
            b.op(Op::Sub, ty, &[y, x])
        },
        // 0 is no difference's first operand that changes nothing.
        want: "vpsubd",
        without: &["vpsubd zmm0{"],
    },
    Case {
        ty: Ty::F32,
        compute: |b, ty, [x, y, _, u]| {
            let minus = b.op(Op::Neg, ty, &[x]);
            b.op(Op::Fma, ty, &[minus, y, u])
        },
        want: "vfnmadd",
        without: &["vpxord"],
    },
    Case {
        ty: Ty::F64,
        compute: |b, ty, [x, y, _, u]| {
            let minus = b.op(Op::Neg, ty, &[y]);
            b.op(Op::Fma, ty, &[x, u, minus])
        },
        want: "vfmsub",
        without: &["vpxorq"],
    },
    Case {
        ty: Ty::F32,
        compute: |b, ty, [x, y, _, u]| {
            let [x, y] = [x, y].map(|v| b.op(Op::Neg, ty, &[v]));
            b.op(Op::Fma, ty, &[u, x, y])
        },
        want: "vfnmsub",
        without: &["vpxord"],
    },
    Case {
        ty: Ty::F32,
        compute: |b, ty, [x, y, ..]| {
            let [minus, other] = [x, y].map(|v| b.op(Op::Neg, ty, &[v]));
            b.op(Op::Fma, ty, &[minus, other, x])
        },
        want: "vfmadd",
        without: &["vfn", "vpxord"],
    },
    Case {
        ty: Ty::I32,
        compute: |b, ty, [x, y, ..]| permuted(b, ty, [x, y], x, 16),
        want: "vpermt2d",
        without: &["vpand", "vptest", "vpermd", "vpblend"],
    },
    Case {
        ty: Ty::F32,
        compute: |b, ty, [x, y, ..]| {
            let numbers = numbers_of(b, Op::Bitcast, ty, y);
            permuted(b, ty, [y, x], numbers, 16)
        },
        want: "vpermi2d",
        without: &["vpand", "vptest", "vpermd"],
    },
    Case {
        ty: Ty::U64,
        compute: |b, ty, [x, y, ..]| {
            let numbers = numbers_of(b, Op::Convert, ty, y);
            permuted(b, ty, [x, y], numbers, 8)
        },
        want: "vpermi2q",
        without: &["vpand", "vptest", "vpermq", "vpblend"],
    },
    // Another bit chooses.
    Case {
        ty: Ty::I32,
        compute: |b, ty, [x, y, ..]| permuted(b, ty, [x, y], x, 8),
        want: "vptestnmd",
        without: &["vpermt2d", "vpermi2d"],
    },
    Case {
        ty: Ty::I32,
        compute: |b, ty, [x, ..]| {
            let all = put_in(b, ty, x, 0);
            b.op(Op::Add, ty, &[all, x])
        },
        want: "vpaddd",
        without: &["vpblend", "vpbroadcastd"],
    },
    // The first lane is no constant.
    Case {
        ty: Ty::F32,
        compute: |b, ty, [x, ..]| {
            let some = put_in(b, ty, x, 15);
            b.op(Op::Add, ty, &[some, x])
        },
        want: "vblendmps",
        without: &[],
    },
];

/// Operations on bits, of leaves that stand once each, or more often.
fn tree(b: &mut Builder, ty: Ty, leaves: &[Value], rng: &mut Rng, depth: u32) -> Value {
    if depth == 0 || rng.below(6) == 0 {
        return leaves[rng.below(leaves.len())];
    }
    let mut part = || tree(b, ty, leaves, rng, depth - 1);
    let (x, y) = (part(), part());
    match rng.below(4) {
        0 => b.op(Op::Not, ty, &[x]),
        n => b.op([Op::And, Op::Or, Op::Xor][n - 1], ty, &[x, y]),
    }
}

/// Whatever is computed of bits is the same where several operations are one.
#[test]
fn operations_on_bits_are_ternary_logic() {
    let mut fewer = 0;
    for seed in 0..60 {
        let ty = [Ty::I32, Ty::U64, Ty::U8, Ty::I16][seed as usize % 4];
        let mut host = host(WIDTHS[seed as usize % WIDTHS.len()]);
        let mut rng = Rng(seed);
        let mut b = Builder::new(host.width, host.function, 1);
        let v = host.places(Type::varying(ty));
        let (x, y, mask) = (entry(&mut b, v[0]), entry(&mut b, v[1]), execution_mask(&mut b));
        let (sum, two) = (b.op(Op::Add, ty, &[x, y]), b.op(Op::Sub, ty, &[x, y]));
        let bits = constant(&mut b, ty, 0x5a5a_3c0f_1234_9669 & (u64::MAX >> (64 - 8 * ty.size())));
        let result = tree(&mut b, ty, &[x, y, sum, two, bits], &mut rng, 5);
        let other = tree(&mut b, ty, &[x, sum, result], &mut rng, 3);
        leave(&mut b, &host, mask, vec![(v[1], result), (v[2], other)]);
        let region = finished(b);
        if let Some(x86) = harness::x86_for_listings() {
            fewer += count(&listing(&x86, region.clone()), &["vpternlog"]);
        }
        agree(&mut host, &region, seed, 4);
    }
    assert!(fewer == 0 || fewer > 100, "{fewer}");
}

/// A chain of them takes one instruction for each two, and those of three values one for all; but none is done twice because two others
/// ask for it, and there is no move for the sake of one.
#[test]
fn chains_of_operations_on_bits_are_short() {
    let Some(x86) = harness::x86_for_listings() else { return };
    type Compute<'a> = &'a dyn Fn(&mut Builder, Ty, Value, Value, Value) -> Vec<Value>;
    let counts = |compute: Compute| {
        let (host, ty) = (host(16), Ty::I32);
        let mut b = Builder::new(host.width, host.function, 1);
        let v = host.places(Type::varying(ty));
        let (x, y, mask) = (entry(&mut b, v[0]), entry(&mut b, v[1]), execution_mask(&mut b));
        let [x, y, z] = [(x, y), (y, x), (x, x)].map(|(x, y)| b.op(Op::Mul, ty, &[x, y]));
        let results = compute(&mut b, ty, x, y, z);
        leave(&mut b, &host, mask, v[1..].iter().copied().zip(results).collect());
        let text = listing(&x86, finished(b));
        [&["vpternlog"][..], &["vpand", "vpor", "vpxor"]].map(|names| count(&text, names))
    };
    // Each bit of x, chosen by another constant.
    let chain = counts(&|b, ty, x, y, _| {
        let sum = (0..8).fold(y, |sum, i| {
            let bits = constant(b, ty, 0x1111 << i | i);
            let chosen = b.op(Op::And, ty, &[x, bits]);
            b.op(Op::Xor, ty, &[sum, chosen])
        });
        vec![sum]
    });
    assert_eq!(chain, [8, 0]);
    // Where x says so y, elsewhere z.
    let chosen = counts(&|b, ty, x, y, z| {
        let [not, first] = [b.op(Op::Not, ty, &[x]), b.op(Op::And, ty, &[x, y])];
        let second = b.op(Op::And, ty, &[not, z]);
        vec![b.op(Op::Or, ty, &[first, second])]
    });
    assert_eq!(chosen, [1, 0]);
    let most = counts(&|b, ty, x, y, z| {
        let pairs = [(x, y), (x, z), (y, z)].map(|(x, y)| b.op(Op::And, ty, &[x, y]));
        let some = b.op(Op::Xor, ty, &[pairs[0], pairs[1]]);
        let all = [y, z].into_iter().fold(x, |all, v| b.op(Op::Add, ty, &[all, v]));
        vec![b.op(Op::Xor, ty, &[some, pairs[2]]), all]
    });
    assert_eq!(most, [1, 0]);
    let asked_for_twice = counts(&|b, ty, x, y, z| {
        let both = b.op(Op::And, ty, &[x, y]);
        vec![b.op(Op::Xor, ty, &[both, z]), b.op(Op::Or, ty, &[both, z])]
    });
    assert_eq!(asked_for_twice, [0, 3]);
    let still_needed = counts(&|b, ty, x, y, z| {
        let both = b.op(Op::And, ty, &[x, y]);
        let all = [y, z].into_iter().fold(x, |all, v| b.op(Op::Add, ty, &[all, v]));
        vec![b.op(Op::Xor, ty, &[both, z]), all]
    });
    assert_eq!(still_needed, [0, 2]);
}

/// A region that computes it of registers.
fn region(host: &harness::Host, case: &Case) -> Arc<Region> {
    let mut b = Builder::new(host.width, host.function, 1);
    let (v, u) = (Type::varying(case.ty), Type::uniform(case.ty));
    let (x, y) = (entry(&mut b, host.places(v)[0]), entry(&mut b, host.places(v)[1]));
    let (m, u) = (entry(&mut b, host.places(Type::MASK)[0]), entry(&mut b, host.places(u)[0]));
    let result = (case.compute)(&mut b, case.ty, [x, y, m, u]);
    let place = host.places(b.region.ty(result))[0];
    let mask = execution_mask(&mut b);
    leave(&mut b, host, mask, vec![(place, result)]);
    finished(b)
}

#[test]
fn what_the_machine_does_together_is_one_instruction() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for (i, case) in CASES.iter().enumerate() {
        // As many lanes as fill a vector.
        let text = listing(&x86, region(&host(if case.ty.size() == 8 { 8 } else { 16 }), case));
        assert_eq!(count(&text, &[case.want]), 1, "case {i}:\n{text}");
        assert_eq!(count(&text, case.without), 0, "case {i}:\n{text}");
    }
}

#[test]
fn and_does_the_same() {
    for lanes in WIDTHS {
        let mut host = host(lanes);
        for (i, case) in CASES.iter().enumerate() {
            let region = region(&host, case);
            agree(&mut host, &region, i as u64, 6);
        }
    }
}

/// Whether a lane is missing from a mask is one test, but for the smallest gangs.
#[test]
fn lanes_that_are_missing_are_asked_for_at_once() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for lanes in WIDTHS {
        let mut host = host(lanes);
        let mut b = Builder::new(host.width, host.function, 1);
        let m = entry(&mut b, host.places(Type::MASK)[0]);
        let mask = execution_mask(&mut b);
        let missing = b.op(Op::Not, Ty::Bool, &[m]);
        let some = b.inst(Kind::AnyLane, &[missing], Type::BOOL);
        let out = b.exit(harness::exit(&host, mask, vec![], vec![]));
        b.effect(Kind::Guard { exit: out }, &[some]);
        b.effect(Kind::Count(1), &[]);
        leave(&mut b, &host, mask, vec![(host.places(Type::BOOL)[0], some)]);
        let region = finished(b);
        let text = listing(&x86, region.clone());
        assert_eq!(count(&text, &["knot", "kandn"]) == 0, lanes >= 8, "{text}");
        agree(&mut host, &region, lanes.into(), 12);
    }
}

/// A uniform float that vectors are computed with is loaded to all lanes at once.
#[test]
fn uniform_floats_are_loaded_to_all_lanes() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for lanes in WIDTHS {
        let mut host = host(lanes);
        let mut b = Builder::new(host.width, host.function, 1);
        let v = Type::varying(Ty::F32);
        let (x, mask) = (entry(&mut b, host.places(v)[0]), execution_mask(&mut b));
        let at = address(&mut b, host.pointer(Ty::F32));
        let u = b.inst(Kind::Load { ty: Ty::F32 }, &[at], Type::uniform(Ty::F32));
        let (sum, twice) = (b.op(Op::Add, Ty::F32, &[x, u]), b.op(Op::Add, Ty::F32, &[u, u]));
        leave(&mut b, &host, mask, vec![(host.places(v)[1], sum), (host.places(Type::uniform(Ty::F32))[0], twice)]);
        let region = finished(b);
        let text = listing(&x86, region.clone());
        assert_eq!(count(&text, &["vbroadcastss"]), 1, "{text}");
        agree(&mut host, &region, lanes.into(), 3);
    }
}

/// So is a uniform integer, if nothing takes it as a scalar; what the runtime does with it takes it out of the vector.
#[test]
fn uniform_integers_are_loaded_to_all_lanes() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for (lanes, ty) in WIDTHS.into_iter().flat_map(|lanes| [Ty::I32, Ty::U64].map(|ty| (lanes, ty))) {
        let mut host = host(lanes);
        let mut b = Builder::new(host.width, host.function, 1);
        let v = Type::varying(ty);
        let (x, mask) = (entry(&mut b, host.places(v)[0]), execution_mask(&mut b));
        let at = address(&mut b, host.pointer(ty));
        let u = b.inst(Kind::Load { ty }, &[at], Type::uniform(ty));
        let sum = b.op(Op::Add, ty, &[x, u]);
        leave(&mut b, &host, mask, vec![(host.places(v)[1], sum)]);
        let region = finished(b);
        let text = listing(&x86, region.clone());
        let spread: Vec<_> = text.lines().filter(|line| line.contains("broadcast") || line.contains("{1to")).collect();
        assert!(!spread.is_empty() && spread.iter().all(|line| line.contains('[')), "{text}");
        agree(&mut host, &region, lanes.into(), 3);
        let rule = Rule { rules: Rules::Vector, op: Op::Add };
        let without: [Option<Box<dyn Backend>>; 2] = [
            Avx512::new().ok().map(|x86| Box::new(x86.without(rule)) as _),
            Avx2::new().ok().map(|x86| Box::new(x86.without(rule)) as _),
        ];
        for x86 in without.into_iter().flatten() {
            let input = host.random_input(&mut Rng(lanes.into()), false);
            host.agree(&region, &[&Ir, &*x86], &input);
        }
    }
}

/// What only a cold block takes as a vector is made one there.
#[test]
fn vectors_for_cold_blocks_are_made_there() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for lanes in WIDTHS {
        for in_both in [false, true] {
            let mut host = host(lanes);
            let mut b = Builder::new(host.width, host.function, 1);
            let v = Type::varying(Ty::I32);
            let (x, u) = (entry(&mut b, host.places(v)[0]), entry(&mut b, host.places(Type::uniform(Ty::I32))[0]));
            let mask = execution_mask(&mut b);
            let any = b.inst(Kind::AnyLane, &[mask], Type::BOOL);
            let [hot, cold] = [(); 2].map(|()| b.block());
            b.branch(any, (hot, &[]), (cold, &[]));
            b.region.blocks[cold.index()].cold = true;
            for block in [hot, cold] {
                b.switch_to(block);
                let sum = if block == cold || in_both { b.op(Op::Add, Ty::I32, &[x, u]) } else { x };
                leave(&mut b, &host, mask, vec![(host.places(v)[1], sum)]);
            }
            let region = finished(b);
            let text = listing(&x86, region.clone());
            let test = text.find("kortest").or(text.find("test "));
            let made: Vec<_> = text.match_indices("vpbroadcastd").map(|(at, _)| Some(at) < test).collect();
            assert!(!made.is_empty() && made.iter().all(|&before| before == in_both), "{text}");
            agree(&mut host, &region, lanes.into(), 6);
        }
    }
}

/// Whether all lanes are in a mask, and then whether any is, takes one test where masks have registers, and the same ways are taken.
#[test]
fn a_mask_that_has_been_tested_is_not_tested_again() {
    let Some(x86) = harness::x86_for_listings() else { return };
    for lanes in WIDTHS {
        for waits_first in [false, true] {
            let mut host = host(lanes);
            let mut b = Builder::new(host.width, host.function, 1);
            let v = Type::varying(Ty::I32);
            let (x, all) = (entry(&mut b, host.places(v)[0]), execution_mask(&mut b));
            let limit = entry(&mut b, host.places(Type::uniform(Ty::I32))[1]);
            let mask = b.op(Op::Lt, Ty::I32, &[x, limit]);
            for i in 0..2 {
                let of_others = (i == 0) == waits_first;
                let test = if of_others { b.op(Op::Not, Ty::Bool, &[mask]) } else { mask };
                let any = b.inst(Kind::AnyLane, &[test], Type::BOOL);
                let [on, out] = [(); 2].map(|()| b.block());
                b.branch(any, (on, &[]), (out, &[]));
                b.switch_to(out);
                let way = b.constant(Ty::I32, i);
                leave(&mut b, &host, all, vec![(host.places(Type::uniform(Ty::I32))[0], way)]);
                b.switch_to(on);
            }
            let way = b.constant(Ty::I32, 2);
            leave(&mut b, &host, all, vec![(host.places(Type::uniform(Ty::I32))[0], way)]);
            let region = finished(b);
            let text = listing(&x86, region.clone());
            let tests = text.matches("kortest").count();
            if tests != 0 {
                assert_eq!(tests, if lanes < 8 { 2 } else { 1 }, "{lanes}: {text}");
            }
            agree(&mut host, &region, lanes.into(), 6);
        }
    }
}

/// The code with AVX2, if listings can be made.
fn listing_with_avx2(region: &Arc<Region>) -> Option<String> {
    let avx2 = Avx2::for_listings().ok()?;
    avx2.compile(region.clone()).unwrap().listing()
}

/// How long it takes to compute a value does not hide that its bytes change their places.
#[test]
fn bytes_of_long_computations_are_shuffled() {
    let orders: [fn(&mut Builder, Ty, Value) -> Value; 2] = [|b, ty, x| rotated(b, ty, x, 16, 16), swapped];
    for (case, order) in orders.into_iter().enumerate() {
        let ty = Ty::U32;
        let mut host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let v = host.places(Type::varying(ty));
        let (x, y, mask) = (entry(&mut b, v[0]), entry(&mut b, v[1]), execution_mask(&mut b));
        let (x, _) = (0..24).fold((x, y), |(x, y), _| {
            let x = b.op(Op::Add, ty, &[x, y]);
            (x, b.op(Op::Xor, ty, &[y, x]))
        });
        let ordered = order(&mut b, ty, x);
        leave(&mut b, &host, mask, vec![(v[2], ordered)]);
        let region = finished(b);
        let with_avx512 = harness::x86_for_listings().map(|x86| listing(&x86, region.clone()));
        for text in with_avx512.into_iter().chain(listing_with_avx2(&region)) {
            assert_eq!(count(&text, &["vpsl", "vpsr", "vpand", "vpor"]), 0, "{text}");
            assert_ne!(count(&text, &["vpshufb", "vprold"]), 0, "case {case}: {text}");
        }
        agree(&mut host, &region, 3, 4);
    }
}

/// With AVX2, elements by numbers that are computed of constants, and selected by masks that are constant, take no memory and no mask.
#[test]
fn shuffles_and_blends_that_are_known_are_permutations() {
    let lanes = |b: &mut Builder| {
        let iota = Kind::Op { op: Op::Iota, ty: Ty::I32, from: Ty::I32 };
        b.inst(iota, &[], Type::varying(Ty::I32))
    };
    let lane_numbers = |b: &mut Builder, op, n| {
        let (lanes, n) = (lanes(b), constant(b, Ty::I32, n));
        b.op(op, Ty::I32, &[lanes, n])
    };
    for ty in [Ty::F32, Ty::I32, Ty::F64, Ty::U64] {
        let mut host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let v = Type::varying(ty);
        let (x, mask) = (entry(&mut b, host.places(v)[0]), execution_mask(&mut b));
        let mut sum = x;
        for (op, n) in [(Op::Xor, 1), (Op::Sub, 1), (Op::Add, 8), (Op::Xor, 15), (Op::Shr, 1), (Op::Mul, 3)] {
            let numbers = lane_numbers(&mut b, op, n);
            let found = b.op(Op::Shuffle, ty, &[x, numbers]);
            sum = b.op(Op::Add, ty, &[sum, found]);
        }
        let three = constant(&mut b, Ty::I32, 3);
        let lanes = lanes(&mut b);
        let is_above = b.op(Op::Ge, Ty::I32, &[lanes, three]);
        let chosen = b.op(Op::Select, ty, &[is_above, sum, x]);
        leave(&mut b, &host, mask, vec![(host.places(v)[1], chosen)]);
        let region = finished(b);
        if let Some(text) = listing_with_avx2(&region) {
            assert_eq!(count(&text, &["vpextr", "vmovhpd", "vmovmsk", "vpcmp", "vblendv"]), 0, "{ty:?}:\n{text}");
            assert_eq!(count(&text, &["vperm", "vblendps"]).min(4), 4, "{ty:?}:\n{text}");
        }
        agree(&mut host, &region, 5, 4);
    }
}

/// With AVX2, a mask that a loop hands on becomes a vector before the loop, and what is cut out of it is made of vectors.
#[test]
fn masks_of_loops_stay_in_vectors() {
    let mut host = host(16);
    let mut b = Builder::new(host.width, host.function, 1);
    let v = Type::varying(Ty::I32);
    let (x, limit) = (entry(&mut b, host.places(v)[0]), entry(&mut b, host.places(v)[1]));
    // So that it ends soon.
    let most = constant(&mut b, Ty::I32, 63);
    let [x, limit] = [x, limit].map(|v| b.op(Op::And, Ty::I32, &[v, most]));
    let (all, mask) = (entry(&mut b, host.places(Type::MASK)[0]), execution_mask(&mut b));
    let [head, done] = [(); 2].map(|()| b.block());
    let (inside, value) = (b.param(head, Type::MASK), b.param(head, v));
    b.jump(head, &[all, x]);
    b.switch_to(head);
    let polled = b.exit(harness::exit(&host, inside, vec![(host.places(v)[0], value)], vec![]));
    b.effect(Kind::Tick { units: 1, exit: polled }, &[]);
    let (one, zero) = (constant(&mut b, Ty::I32, 1), constant(&mut b, Ty::I32, 0));
    let bit = b.op(Op::And, Ty::I32, &[value, one]);
    let is_even = b.op(Op::Eq, Ty::I32, &[bit, zero]);
    let even = b.op(Op::And, Ty::Bool, &[inside, is_even]);
    let half = b.op(Op::Shr, Ty::I32, &[value, one]);
    let value = b.op(Op::Select, Ty::I32, &[even, half, value]);
    let less = b.op(Op::Sub, Ty::I32, &[value, one]);
    let value = b.op(Op::Select, Ty::I32, &[inside, less, value]);
    let goes_on = b.op(Op::Gt, Ty::I32, &[value, limit]);
    let inside = b.op(Op::And, Ty::Bool, &[inside, goes_on]);
    let some = b.inst(Kind::AnyLane, &[inside], Type::BOOL);
    b.branch(some, (head, &[inside, value]), (done, &[]));
    b.switch_to(done);
    leave(&mut b, &host, mask, vec![(host.places(v)[0], value)]);
    let region = finished(b);
    if let Some(text) = listing_with_avx2(&region) {
        // The vectors of both halves of the lanes come from the bytes that the mask was.
        assert_eq!((count(&text, &["vmovd "]), count(&text, &["vpmovsxbd"])), (0, 2), "{text}");
    }
    agree(&mut host, &region, 7, 12);
}

/// With AVX2, a mask that is known is a vector in memory.
#[test]
fn masks_that_are_known_are_vectors_in_memory() {
    for bits in [0x0000, 0x1234, 0x00ff] {
        let mut host = host(16);
        let mut b = Builder::new(host.width, host.function, 1);
        let v = Type::varying(Ty::I32);
        let (x, limit) = (entry(&mut b, host.places(v)[0]), entry(&mut b, host.places(v)[1]));
        let mask = execution_mask(&mut b);
        let is_above = b.op(Op::Gt, Ty::I32, &[x, limit]);
        let bits = constant(&mut b, Ty::U64, bits);
        let some = b.inst(Kind::MaskFromBits, &[bits], Type::MASK);
        let both = b.op(Op::And, Ty::Bool, &[is_above, some]);
        let chosen = b.op(Op::Select, Ty::I32, &[both, limit, x]);
        leave(&mut b, &host, mask, vec![(host.places(v)[1], chosen)]);
        let region = finished(b);
        if let Some(text) = listing_with_avx2(&region) {
            assert_eq!(count(&text, &["vmovd ", "vmovmsk", "vpbroadcast"]), 0, "{text}");
            assert_eq!(count(&text, &["vpand"]).min(2), 2, "{text}");
        }
        agree(&mut host, &region, 5, 4);
    }
}
