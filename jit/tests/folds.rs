//! Folding: what becomes of expressions that can be computed at once, or in less.

mod harness;

use harness::passing::{I32, becomes, cast, i32_, simplified};
use spmdvm_jit::ir::{Builder, Kind, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;

#[track_caller]
fn folds(compute: impl FnOnce(&mut Builder, [Value; 6]) -> Vec<Value>, want: &str) {
    becomes(&["fold", "gvn", "dead"], compute, want);
}

/// The bits of a value as another type.
fn bits(b: &mut Builder, v: Value, from: Ty, ty: Ty) -> Value {
    b.inst(Kind::Op { op: Op::Bitcast, ty, from }, &[v], Type::varying(ty))
}

#[test]
fn sums_of_constants_are_joined() {
    folds(
        |b, [x, ..]| {
            let (one, three) = (i32_(b, 1), i32_(b, 3));
            let s = b.op(Op::Add, I32, &[x, three]);
            let s = b.op(Op::Sub, I32, &[s, one]);
            vec![b.op(Op::Add, I32, &[one, s])]
        },
        "%7: i32 = const 0x3
         %8: v.i32 = add.i32 %0, %7
         exit x0
         r28=%8",
    );
}

#[test]
fn splats_are_seen_through() {
    folds(
        |b, [x, _, u, ..]| {
            let two = i32_(b, 2);
            let (two, u) =
                (b.inst(Kind::Splat, &[two], Type::varying(I32)), b.inst(Kind::Splat, &[u], Type::varying(I32)));
            let all_equal = b.op(Op::Mul, I32, &[two, u]);
            vec![b.op(Op::Xor, I32, &[all_equal, x])]
        },
        "%12: i32 = const 0x1
         %11: i32 = shl.i32 %2, %12
         %10: v.i32 = xor.i32 %11, %0
         exit x0
         r28=%10",
    );
}

#[test]
fn low_bits_of_a_sum_over_lanes_are_the_sum_of_low_bits() {
    folds(
        |b, [x, y, ..]| {
            let y = bits(b, y, I32, Ty::U32);
            let (x, y) = (cast(b, x, I32, Ty::I64), cast(b, y, Ty::U32, Ty::U64));
            let [x, y] = [(x, Ty::I64), (y, Ty::U64)].map(|(x, ty)| {
                let sum = b.inst(Kind::Reduce { op: Op::ReduceAdd, ty }, &[x], Type::uniform(ty));
                b.inst(Kind::Op { op: Op::Convert, ty: I32, from: ty }, &[sum], Type::uniform(I32))
            });
            vec![x, y]
        },
        "%6: v.u32 = bitcast.u32.i32 %1
         %13: i32 = reduce.add.i32 %0
         %14: u32 = reduce.add.u32 %6
         %12: i32 = bitcast.i32.u32 %14
         exit x0
         r24=%13 r25=%12",
    );
}

#[test]
fn a_lane_of_the_lane_numbers_is_its_own_number() {
    let (ops, u) = (|op| Kind::Op { op, ty: I32, from: I32 }, Type::uniform(I32));
    folds(
        |b, [_, _, unknown, ..]| {
            let lanes = b.inst(ops(Op::Iota), &[], Type::varying(I32));
            let (two, far) = (i32_(b, 2), i32_(b, 64));
            [two, far, unknown].into_iter().map(|lane| b.inst(ops(Op::Extract), &[lanes, lane], u)).collect()
        },
        "%7: i32 = const 0x2
         %12: i32 = const 0xf
         %15: i32 = const 0x0
         %16: i32 = and.i32 %2, %12
         exit x0
         r24=%7 r25=%15 r26=%16",
    );
}

#[test]
fn a_lane_of_a_sum_with_the_lane_numbers_is_a_sum() {
    let (ops, u) = (|op| Kind::Op { op, ty: I32, from: I32 }, Type::uniform(I32));
    folds(
        |b, [x, _, first, ..]| {
            let lanes = b.inst(ops(Op::Iota), &[], Type::varying(I32));
            let (zero, two) = (i32_(b, 0), i32_(b, 2));
            let row = b.op(Op::Add, I32, &[first, lanes]);
            let back = b.op(Op::Sub, I32, &[first, lanes]);
            let other = b.op(Op::Add, I32, &[x, lanes]);
            let of = [(row, zero), (back, two), (other, zero)];
            let mut of = of.map(|(v, lane)| b.inst(ops(Op::Extract), &[v, lane], u)).to_vec();
            // So that lanes follow one another is known.
            let again = b.op(Op::Add, I32, &[lanes, of[0]]);
            of.push(b.op(Op::Ne, I32, &[row, again]));
            of
        },
        "%7: i32 = const 0x0
         %20: i32 = const 0xfffffffe
         %6: v.i32 = iota.i32
         %9: v.i32 = add.i32 %2, %6
         %11: v.i32 = add.i32 %0, %6
         %13: i32 = add.i32 %2, %20
         %14: i32 = extract.i32 %11, %7
         %16: v.bool = ne.i32 %9, %9
         exit x0
         r25=%13 r26=%14 r7=%16",
    );
}

#[test]
fn conversions_forth_and_back_disappear() {
    folds(
        |b, [x, _, u, ..]| {
            let convert = |b: &mut Builder, v: Value, from, ty| {
                let shape = b.region.ty(v).shape;
                b.inst(Kind::Op { op: Op::Convert, ty, from }, &[v], Type { shape, ty })
            };
            let wide = convert(b, x, I32, Ty::I64);
            let back = convert(b, wide, Ty::I64, I32);
            let short = convert(b, u, I32, Ty::I16);
            let float = convert(b, short, Ty::I16, Ty::I64);
            vec![back, convert(b, float, Ty::I64, Ty::F32)]
        },
        "%8: i16 = cvt.i16.i32 %2
         %10: f32 = cvt.f32.i16 %8
         exit x0
         r81=%10",
    );
}

#[test]
fn magnitudes_do_not_depend_on_signs() {
    folds(
        |b, [x, y, ..]| {
            let minus = b.op(Op::Neg, I32, &[x]);
            let float = bits(b, y, I32, Ty::F32);
            let (same, less) = (b.op(Op::Abs, Ty::F32, &[float]), b.op(Op::Neg, Ty::F32, &[float]));
            let more = b.op(Op::Neg, Ty::F32, &[less]);
            let again = b.op(Op::Abs, Ty::F32, &[less]);
            vec![b.op(Op::Abs, I32, &[minus]), b.op(Op::Sub, Ty::F32, &[same, again]), more]
        },
        "%7: v.f32 = bitcast.f32.i32 %1
         %8: v.f32 = abs.f32 %7
         %12: v.i32 = abs.i32 %0
         %13: v.f32 = sub.f32 %8, %8
         exit x0
         r28=%12 r85=%13 r86=%7",
    );
}

#[test]
fn the_bits_of_a_float_are_made_once_whatever_their_type() {
    folds(
        |b, [x, ..]| {
            let float = bits(b, x, I32, Ty::F32);
            let root = b.op(Op::Sqrt, Ty::F32, &[float]);
            let (unsigned, signed) = (bits(b, root, Ty::F32, Ty::U32), bits(b, root, Ty::F32, I32));
            vec![b.op(Op::Popcnt, Ty::U32, &[unsigned]), b.op(Op::Abs, I32, &[signed])]
        },
        "%6: v.f32 = bitcast.f32.i32 %0
         %7: v.f32 = sqrt.f32 %6
         %12: v.i32 = bitcast.i32.f32 %7
         %8: v.u32 = bitcast.u32.i32 %12
         %10: v.u32 = popcnt.u32 %8
         %11: v.i32 = abs.i32 %12
         exit x0
         r60=%10 r29=%11",
    );
}

#[test]
fn quotients_by_powers_of_two_are_products() {
    folds(
        |b, [x, ..]| {
            let float = bits(b, x, I32, Ty::F32);
            let mut by = |divisor: f32| {
                let divisor = b.constant(Ty::F32, u64::from(divisor.to_bits()));
                b.op(Op::FDiv, Ty::F32, &[float, divisor])
            };
            // The reciprocal of the last one is no normal number.
            vec![by(-4.0), by(3.0), by(f32::from_bits(254 << 23))]
        },
        "%13: f32 = const 0xbe800000
         %9: f32 = const 0x40400000
         %11: f32 = const 0x7f000000
         %6: v.f32 = bitcast.f32.i32 %0
         %8: v.f32 = mul.f32 %6, %13
         %10: v.f32 = fdiv.f32 %6, %9
         %12: v.f32 = fdiv.f32 %6, %11
         exit x0
         r84=%8 r85=%10 r86=%12",
    );
}

#[test]
fn nested_selects_lose_the_arm_that_the_outer_mask_rules_out() {
    folds(
        |b, [x, y, _, m, n, _]| {
            let zero = i32_(b, 0);
            let both = b.op(Op::And, Ty::Bool, &[m, n]);
            let inner = b.op(Op::Select, I32, &[m, x, zero]);
            let other = b.op(Op::Not, Ty::Bool, &[m]);
            let outside = b.op(Op::Select, I32, &[other, inner, y]);
            vec![b.op(Op::Select, I32, &[both, inner, y]), outside]
        },
        "%6: i32 = const 0x0
         %7: v.bool = and.bool %3, %4
         %10: v.i32 = select.i32 %3, %1, %6
         %11: v.i32 = select.i32 %7, %0, %1
         exit x0
         r28=%11 r29=%10",
    );
}

/// What is chosen of two values by a comparison of two.
fn choice(b: &mut Builder, op: Op, ty: Ty, compared: [Value; 2], chosen: [Value; 2]) -> Value {
    let test = b.op(op, ty, &compared);
    b.op(Op::Select, ty, &[test, chosen[0], chosen[1]])
}

#[test]
fn choices_between_what_is_compared_are_extremes() {
    folds(
        |b, [x, y, ..]| {
            let (f, g) = (cast(b, x, I32, Ty::F32), cast(b, y, I32, Ty::F32));
            let less = choice(b, Op::Lt, Ty::F32, [f, g], [f, g]);
            let greater = choice(b, Op::Lt, Ty::F32, [g, f], [f, g]);
            let other = choice(b, Op::Gt, Ty::F32, [f, g], [g, f]);
            let parts = [less, greater, other];
            let at_least = choice(b, Op::Ge, I32, [x, y], [x, y]);
            let sum = parts.into_iter().reduce(|a, c| b.op(Op::Sub, Ty::F32, &[a, c])).unwrap();
            vec![sum, at_least]
        },
        "%6: v.f32 = cvt.f32.i32 %0
         %7: v.f32 = cvt.f32.i32 %1
         %9: v.f32 = min.f32 %6, %7
         %11: v.f32 = max.f32 %6, %7
         %13: v.f32 = min.f32 %7, %6
         %15: v.i32 = max.i32 %0, %1
         %16: v.f32 = sub.f32 %9, %11
         %17: v.f32 = sub.f32 %16, %13
         exit x0
         r84=%17 r29=%15",
    );
}

#[test]
fn choices_that_ask_something_else_stay() {
    folds(
        |b, [x, y, u, ..]| {
            let (f, g) = (cast(b, x, I32, Ty::F32), cast(b, y, I32, Ty::F32));
            // Of -0 and 0 this is the first, and the minimum the second.
            let at_most = choice(b, Op::Le, Ty::F32, [f, g], [f, g]);
            let of_others = choice(b, Op::Lt, I32, [x, y], [x, u]);
            let equal = choice(b, Op::Ne, I32, [x, y], [x, y]);
            vec![at_most, of_others, equal]
        },
        "%6: v.f32 = cvt.f32.i32 %0
         %7: v.f32 = cvt.f32.i32 %1
         %8: v.bool = le.f32 %6, %7
         %9: v.f32 = select.f32 %8, %6, %7
         %10: v.bool = lt.i32 %0, %1
         %11: v.i32 = select.i32 %10, %0, %2
         %12: v.bool = ne.i32 %0, %1
         %13: v.i32 = select.i32 %12, %0, %1
         exit x0
         r84=%9 r29=%11 r30=%13",
    );
}

#[test]
fn masks_obey_the_laws_of_sets() {
    folds(
        |b, [_, _, _, m, n, _]| {
            let not_n = b.op(Op::Not, Ty::Bool, &[n]);
            let (with, without) = (b.op(Op::And, Ty::Bool, &[m, n]), b.op(Op::And, Ty::Bool, &[m, not_n]));
            let nowhere = b.op(Op::And, Ty::Bool, &[with, not_n]);
            vec![b.op(Op::Or, Ty::Bool, &[with, without]), nowhere, b.op(Op::Or, Ty::Bool, &[with, n])]
        },
        "%12: bool = const 0x0
         %9: v.bool = splat %12
         exit x0
         r5=%9 r6=%4",
    );
}

#[test]
fn comparisons_of_the_same_operands_decide_one_another() {
    folds(
        |b, [x, y, ..]| {
            let (f, g) = (cast(b, x, I32, Ty::F32), cast(b, y, I32, Ty::F32));
            let less = b.op(Op::Lt, Ty::F32, &[f, g]);
            let others = b.op(Op::Not, Ty::Bool, &[less]);
            let greater = b.op(Op::Lt, Ty::F32, &[g, f]);
            let equal = b.op(Op::Eq, Ty::F32, &[f, g]);
            vec![
                // Greater is not less, and less is one way to be different.
                b.op(Op::And, Ty::Bool, &[others, greater]),
                b.op(Op::And, Ty::Bool, &[less, equal]),
                b.op(Op::And, Ty::Bool, &[others, equal]),
            ]
        },
        "%15: bool = const 0x0
         %6: v.f32 = cvt.f32.i32 %0
         %7: v.f32 = cvt.f32.i32 %1
         %10: v.bool = lt.f32 %7, %6
         %11: v.bool = eq.f32 %6, %7
         %13: v.bool = splat %15
         exit x0
         r4=%10 r5=%13 r6=%11",
    );
}

/// What has been cut to a range is not compared with what lies outside of it, as numbers with signs are not unless they have none.
#[test]
fn ranges_decide_comparisons() {
    let cut = |b: &mut Builder, x| {
        let (fifteen, four) = (i32_(b, 15), i32_(b, 4));
        let low = b.op(Op::And, I32, &[x, fifteen]);
        // At most 15 * 4 + 4.
        let scaled = b.op(Op::Mul, I32, &[low, four]);
        (low, b.op(Op::Add, I32, &[scaled, four]))
    };
    let all = |op: Op, limit: i32| {
        move |b: &mut Builder, [x, ..]: [Value; 6]| {
            let (_, sum) = cut(b, x);
            let limit = i32_(b, limit);
            let compared = b.op(op, I32, &[sum, limit]);
            vec![compared]
        }
    };
    let decided = |bits: u32| format!("%14: bool = const 0x{bits:x}\n%12: v.bool = splat %14\nexit x0\nr4=%12");
    for (op, limit, want) in [
        (Op::Lt, 65, 1),
        (Op::Le, 64, 1),
        (Op::Gt, 64, 0),
        (Op::Ge, 65, 0),
        (Op::Eq, 65, 0),
        (Op::Ne, 65, 1),
        (Op::Lt, 0, 0),
        (Op::Ge, 0, 1),
        (Op::Ge, -1, 1),
        (Op::Le, -1, 0),
        (Op::Eq, -1, 0),
    ] {
        folds(all(op, limit), &decided(want));
    }
    // Each end of the range may be.
    for (op, limit) in [(Op::Lt, 64), (Op::Le, 63), (Op::Eq, 64), (Op::Gt, 0), (Op::Ne, 0)] {
        let text = simplified(&["fold", "gvn", "dead"], all(op, limit));
        assert!(text.contains(op.info().name), "{op:?} {limit}: {text}");
    }
    // A remainder has the sign of what is divided.
    let remainder = |b: &mut Builder, [x, ..]: [Value; 6]| {
        let (three, seven) = (i32_(b, 3), i32_(b, 7));
        let (low, _) = cut(b, x);
        let [of_any, of_low] = [x, low].map(|x| b.op(Op::IRem, I32, &[x, three]));
        vec![b.op(Op::Lt, I32, &[of_any, seven]), b.op(Op::Gt, I32, &[of_low, seven])]
    };
    let text = simplified(&["fold", "gvn", "dead"], remainder);
    assert!(text.contains("lt.i32") && !text.contains("gt.i32"), "{text}");
}

#[test]
fn neutral_elements_of_floats_are_left_out_where_arithmetic_asks() {
    let float = |b: &mut Builder, x: f32| b.constant(Ty::F32, u64::from(x.to_bits()));
    folds(
        |b, [x, y, ..]| {
            let [x, y] = [x, y].map(|v| bits(b, v, I32, Ty::F32));
            let [zero, minus_zero, one] = [0.0, -0.0, 1.0].map(|x| float(b, x));
            let same = b.op(Op::Sub, Ty::F32, &[x, zero]);
            let same = b.op(Op::Mul, Ty::F32, &[one, same]);
            let same = b.op(Op::Add, Ty::F32, &[same, minus_zero]);
            vec![b.op(Op::Fma, Ty::F32, &[same, same, y]), b.op(Op::Lt, Ty::F32, &[y, same])]
        },
        "%6: v.f32 = bitcast.f32.i32 %0
         %7: v.f32 = bitcast.f32.i32 %1
         %14: v.f32 = fma.f32 %6, %6, %7
         %15: v.bool = lt.f32 %7, %6
         exit x0
         r84=%14 r5=%15",
    );
    // Of zeros the sum is another one, and the difference has another sign; and the sign of a NaN would be seen.
    let stay = |compute: fn(&mut Builder, Value, Value) -> Value, what: &str| {
        let text = simplified(&["fold", "dead"], |b, [x, ..]| {
            let (x, zero) = (bits(b, x, I32, Ty::F32), float(b, 0.0));
            let v = compute(b, x, zero);
            vec![v]
        });
        assert!(text.contains(what), "{text}");
    };
    stay(
        |b, x, zero| {
            let sum = b.op(Op::Add, Ty::F32, &[x, zero]);
            b.op(Op::Mul, Ty::F32, &[sum, x])
        },
        "add.f32",
    );
    stay(
        |b, x, zero| {
            let difference = b.op(Op::Sub, Ty::F32, &[zero, x]);
            b.op(Op::Mul, Ty::F32, &[difference, x])
        },
        "sub.f32",
    );
    stay(
        |b, x, zero| {
            let same = b.op(Op::Sub, Ty::F32, &[x, zero]);
            b.op(Op::Sign, Ty::F32, &[same])
        },
        "sub.f32",
    );
}
