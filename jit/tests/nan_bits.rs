//! Bits of floats that need not be those of the canonical NaN: which, and that nobody can tell.

mod harness;

use harness::by_hand::{entry, execution_mask, finished, leave};
use harness::passing::{compare, run_pass, seeds, simplified};
use harness::values::Rng;
use harness::{Host, exit};
use spmdvm_jit::ir::{Builder, End, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;
use std::cell::Cell;
use std::sync::Arc;

/// Computes something of a float and of its bits; gives what is left in registers.
type Compute = fn(&mut Builder, Value, Value) -> Vec<Value>;

const F32: Ty = Ty::F32;
const U32: Ty = Ty::U32;

fn cast(b: &mut Builder, v: Value, from: Ty, ty: Ty) -> Value {
    b.inst(Kind::Op { op: Op::Bitcast, ty, from }, &[v], Type::varying(ty))
}

fn number(b: &mut Builder, x: u32) -> Value {
    b.constant(U32, u64::from(x))
}

/// What the pass makes of the bits of a float and of what is computed of both.
fn after(compute: impl FnOnce(&mut Builder, Value, Value) -> Vec<Value>) -> String {
    simplified(&["nan_bits", "dead"], |b, [x, ..]| {
        let x = cast(b, x, Ty::I32, F32);
        let bits = cast(b, x, F32, U32);
        compute(b, x, bits)
    })
}

/// A float whose exponent comes from the bits of another.
fn scale(b: &mut Builder, bits: Value) -> Value {
    let by = number(b, 23);
    let shifted = b.op(Op::Shl, U32, &[bits, by]);
    cast(b, shifted, U32, F32)
}

#[test]
fn what_is_multiplied_with_a_nan_anyway_may_come_from_any() {
    let text = after(|b, x, bits| {
        let scale = scale(b, bits);
        let series = b.op(Op::Fma, F32, &[x, x, x]);
        vec![b.op(Op::Mul, F32, &[series, scale])]
    });
    assert!(text.contains("raw_bits.u32.f32"), "{text}");
    // A sum of two values made of the bits may be anything, until it meets the float.
    let text = after(|b, x, bits| {
        let scale = scale(b, bits);
        let twice = b.op(Op::Add, F32, &[scale, scale]);
        vec![b.op(Op::Sub, F32, &[twice, x])]
    });
    assert!(text.contains("raw_bits.u32.f32"), "{text}");
}

#[test]
fn comparisons_that_are_alike_for_all_nans_may_be_with_any() {
    let compared = |plus: u32, limit: u32, op: Op, signed: bool| {
        after(|b, _, bits| {
            let (plus, limit) = (number(b, plus), number(b, limit));
            let sum = b.op(Op::Add, U32, &[bits, plus]);
            let ty = if signed { Ty::I32 } else { U32 };
            let [sum, limit] = match signed {
                true => [cast(b, sum, U32, ty), b.constant(ty, 5)],
                false => [sum, limit],
            };
            vec![b.op(op, ty, &[sum, limit])]
        })
    };
    // Whether something is no positive normal number.
    let unusual = compared(0x0080_0000u32.wrapping_neg(), 0x7f00_0000, Op::Ge, false);
    assert!(unusual.contains("raw_bits"), "{unusual}");
    for (plus, limit, op, signed) in [
        // Of some NaNs only; where the sum wraps around; one sign as the other; and equality.
        (0, 0x7fc0_0001, Op::Ge, false),
        (0x40_0000, 0x80_0000, Op::Lt, false),
        (0, 5, Op::Lt, true),
        (0, 0xffc0_0000, Op::Eq, false),
    ] {
        let text = compared(plus, limit, op, signed);
        assert!(text.contains("= bitcast.u32.f32"), "{plus:x} {limit:x}: {text}");
    }
}

#[test]
fn who_can_tell_gets_the_canonical_one() {
    let told: [Compute; 5] = [
        |_, _, bits| vec![bits],
        // In a snapshot besides.
        |b, x, bits| {
            let scale = scale(b, bits);
            vec![b.op(Op::Mul, F32, &[x, scale]), scale]
        },
        // Nothing else is NaN.
        |b, _, bits| {
            let scale = scale(b, bits);
            vec![b.op(Op::Mul, F32, &[scale, scale])]
        },
        // The smaller of two numbers may be one, though the other is NaN.
        |b, x, bits| {
            let scale = scale(b, bits);
            vec![b.op(Op::Min, F32, &[x, scale])]
        },
        // A choice by a bit.
        |b, x, bits| {
            let bit = number(b, 1 << 22);
            let set = b.op(Op::And, U32, &[bits, bit]);
            let set = b.op(Op::Gt, U32, &[set, bit]);
            let choice = Kind::Op { op: Op::Select, ty: F32, from: F32 };
            let sum = b.op(Op::Add, F32, &[x, x]);
            vec![b.inst(choice, &[set, sum, x], Type::varying(F32))]
        },
    ];
    for compute in told {
        let text = after(compute);
        assert!(text.contains("= bitcast.u32.f32") && !text.contains("raw_bits"), "{text}");
    }
}

/// Something random that is computed of a float and of its bits.
fn computed(host: &Host, seed: u64) -> Region {
    let mut rng = Rng(seed);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let ints = host.places(Type::varying(Ty::I32));
    let x = entry(&mut b, ints[0]);
    let x = cast(&mut b, x, Ty::I32, F32);
    let bits = cast(&mut b, x, F32, U32);
    let (mut floats, mut words) = (vec![x], vec![bits]);
    for _ in 0..10 {
        match rng.below(4) {
            0 | 1 => {
                let op = rng.pick(&[Op::Add, Op::Sub, Op::Mul, Op::Min]);
                let [v, w] = [(); 2].map(|()| rng.pick(&floats));
                floats.push(b.op(op, F32, &[v, w]));
            }
            2 => {
                let by = number(&mut b, rng.pick(&[1, 9, 23, 0x3f80_0000]));
                let op = rng.pick(&[Op::Shl, Op::Shr, Op::Add, Op::Sub]);
                let v = rng.pick(&words);
                words.push(b.op(op, U32, &[v, by]));
            }
            _ => {
                let v = rng.pick(&words);
                floats.push(cast(&mut b, v, U32, F32));
            }
        }
    }
    let limit = number(&mut b, rng.pick(&[0x7f00_0000, 0x7f80_0000, 0xff80_0000]));
    let v = rng.pick(&words);
    let above = b.op(Op::Ge, U32, &[v, limit]);
    // The last product, as a float.
    let product = b.op(Op::Mul, F32, &[floats[floats.len() - 1], rng.pick(&floats)]);
    let places = [(host.places(Type::varying(F32))[0], product), (host.places(Type::MASK)[1], above)];
    leave(&mut b, host, mask, places.to_vec());
    Arc::unwrap_or_clone(finished(b))
}

#[test]
fn nobody_can_tell() {
    let raw = Cell::new(0);
    for width in [4, 16] {
        compare(width, seeds(u64::from(width) << 32, 400), computed, |region, _| {
            run_pass("nan_bits", region);
            raw.set(raw.get() + region.to_string().contains("raw_bits") as usize);
        });
    }
    assert!(raw.get() > 40, "{}", raw.get());
}

/// What leads to another block is seen there.
#[test]
fn blocks_can_tell_what_they_are_handed() {
    let host = Host::new(spmdvm_vm::types::Width::DEFAULT);
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let x = entry(&mut b, host.places(Type::varying(Ty::I32))[0]);
    let x = cast(&mut b, x, Ty::I32, F32);
    let bits = cast(&mut b, x, F32, U32);
    let scale = scale(&mut b, bits);
    let next = b.block();
    let handed = b.param(next, Type::varying(F32));
    b.jump(next, &[scale]);
    b.switch_to(next);
    let product = b.op(Op::Mul, F32, &[handed, x]);
    let out = b.exit(exit(&host, mask, vec![(host.places(Type::varying(F32))[0], product)], vec![]));
    b.end(End::Exit(out));
    let mut region = b.region;
    run_pass("nan_bits", &mut region);
    assert!(!region.to_string().contains("raw_bits"), "{region}");
}
