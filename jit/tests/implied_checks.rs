//! The pass that has tests of programs decide checks of bounds.

mod harness;

use harness::by_hand::*;
use harness::passing::{compare, run_pass};
use harness::values::Rng;
use harness::{Host, exit};
use spmdvm_jit::ir::{Builder, Kind, Region, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::Ty;

/// How the check is written, and what it is about.
struct Shape {
    ty: Ty,
    op: Op,
    /// Whether the index is signed, as those of arrays are.
    signed: bool,
    /// Whether an index of 32 bits is compared in 64.
    wide: bool,
    /// Whether an index of 64 bits is one of 32, which is converted for each use.
    narrow: bool,
    x: [u64; 2],
    limit: u64,
    low: Option<u64>,
    span: u64,
    /// How often a round compares.
    tests: u64,
}

/// Numbers near to the ends of the type, its middle and 0.
fn number(rng: &mut Rng, ty: Ty) -> u64 {
    let most = if ty == Ty::U32 { u64::from(u32::MAX) } else { u64::MAX };
    let near = rng.below(7) as u64;
    rng.pick(&[near, near, near + 4, most - near, most / 2 + near - 3])
}

impl Shape {
    fn of(seed: u64) -> Shape {
        let mut rng = Rng(seed);
        let ty = rng.pick(&[Ty::U32, Ty::U64]);
        let op = rng.pick(&[Op::Lt, Op::Gt, Op::Ge, Op::Le]);
        let (signed, wide) = (rng.chance(50), ty == Ty::U32 && rng.chance(50));
        let narrow = ty == Ty::U64 && rng.chance(50);
        let low = rng.chance(75).then(|| number(&mut rng, ty).wrapping_neg());
        let [a, b, span] = [(); 3].map(|()| number(&mut rng, ty));
        let of_limit = if wide && rng.chance(50) { Ty::U64 } else { ty };
        let limit = number(&mut rng, of_limit);
        Shape { ty, op, signed, wide, narrow, x: [a, b], limit, low, span, tests: 1 + seed % 2 }
    }
}

/// A loop of some rounds in which numbers are compared with a limit, and then have to be in bounds.
fn looping(host: &Host, shape: &Shape) -> Region {
    let (ty, op) = (shape.ty, shape.op);
    let element = match (shape.signed, ty) {
        (false, ty) => ty,
        (true, Ty::U32) => Ty::I32,
        (true, _) => Ty::I64,
    };
    let place = host.places(Type::uniform(ty))[0];
    let mut b = Builder::new(host.width, host.function, 1);
    let mask = execution_mask(&mut b);
    let cut = |bits: u64| if ty == Ty::U32 { u64::from(bits as u32) } else { bits };
    let [first, step, span, three, one] =
        [shape.x[0], shape.x[1], shape.span, 3, 1].map(|bits| b.constant(ty, cut(bits)));
    let wide = if shape.wide { Ty::U64 } else { ty };
    let limit = b.constant(wide, shape.limit);
    let rounds = b.constant(ty, 6);
    let low = shape.low.map(|low| b.constant(element, cut(low)));
    let [head, after] = [(); 2].map(|()| b.block());
    let [i, first_sum] = [(); 2].map(|()| b.param(head, Type::uniform(ty)));
    b.jump(head, &[one, one]);
    b.switch_to(head);
    let steps = b.op(Op::Mul, ty, &[i, step]);
    let as_type = |b: &mut Builder, v: Value, from: Ty, to: Ty| match from == to {
        true => v,
        false => b.inst(Kind::Op { op: Op::Bitcast, ty: to, from }, &[v], Type::uniform(to)),
    };
    let convert = |b: &mut Builder, v: Value, from: Ty, to: Ty| {
        b.inst(Kind::Op { op: Op::Convert, ty: to, from }, &[v], Type::uniform(to))
    };
    let mut sum = first_sum;
    for test in 0..shape.tests {
        let more = b.constant(ty, test);
        let number = b.op(Op::Add, ty, &[first, steps]);
        let number = b.op(Op::Add, ty, &[number, more]);
        let few = if shape.narrow { convert(&mut b, number, ty, Ty::I32) } else { number };
        let x = match shape.narrow {
            true => convert(&mut b, few, Ty::I32, element),
            false => as_type(&mut b, number, ty, element),
        };
        let compared = match shape.wide {
            _ if shape.narrow => convert(&mut b, few, Ty::I32, ty),
            true => b.inst(Kind::Op { op: Op::Convert, ty: wide, from: element }, &[x], Type::uniform(wide)),
            false => as_type(&mut b, x, element, ty),
        };
        let args = if matches!(op, Op::Lt | Op::Ge) { [compared, limit] } else { [limit, compared] };
        let cond = b.op(op, wide, &args);
        let [inside, outside, join] = [(); 3].map(|()| b.block());
        match op {
            Op::Lt | Op::Gt => b.branch(cond, (inside, &[]), (outside, &[])),
            _ => b.branch(cond, (outside, &[]), (inside, &[])),
        }
        b.switch_to(inside);
        let distance = low.map_or(x, |low| b.op(Op::Sub, element, &[x, low]));
        let distance = as_type(&mut b, distance, element, ty);
        let ok = b.op(Op::Lt, ty, &[distance, span]);
        let out = b.exit(exit(host, mask, vec![(place, sum)], vec![]));
        b.effect(Kind::Guard { exit: out }, &[ok]);
        let found = b.op(Op::Add, ty, &[sum, distance]);
        b.jump(join, &[found]);
        b.switch_to(outside);
        let found = b.op(Op::Mul, ty, &[sum, three]);
        b.jump(join, &[found]);
        sum = b.param(join, Type::uniform(ty));
        b.switch_to(join);
    }
    let next = b.op(Op::Add, ty, &[i, one]);
    let again = b.op(Op::Lt, ty, &[next, rounds]);
    b.branch(again, (head, &[next, sum]), (after, &[]));
    b.switch_to(after);
    leave(&mut b, host, mask, vec![(place, sum)]);
    b.region
}

fn cold_blocks(region: &Region) -> usize {
    region.blocks.iter().filter(|block| block.cold).count()
}

#[test]
fn regions_do_what_they_did() {
    for width in [1, 8] {
        compare(
            width,
            0..1200,
            |host, seed| looping(host, &Shape::of(seed)),
            |region, seed| {
                run_pass("implied_checks", region);
                assert_eq!(cold_blocks(region), 2 + 2 * (seed as usize % 2), "seed {seed}: {region}");
            },
        );
    }
}

#[test]
fn tests_with_one_limit_have_one_least_index() {
    let computed = |tests| {
        let mut region = looping(&host(8), &Shape { tests, low: Some(2), wide: false, ..Shape::of(0) });
        run_pass("implied_checks", &mut region);
        assert_eq!(cold_blocks(&region), 2 * tests as usize, "{region}");
        let insts = region.blocks.iter().flat_map(|block| &block.insts);
        insts.filter(|inst| matches!(inst.kind, Kind::Op { op: Op::Min, .. })).count()
    };
    assert_eq!([1, 2, 5].map(computed), [1; 3]);
}

#[test]
fn tests_that_say_nothing_of_the_check_stay() {
    let host = host(8);
    let shape = |ty| Shape {
        ty,
        op: Op::Lt,
        signed: true,
        wide: false,
        narrow: false,
        x: [0, 1],
        limit: 10,
        low: Some(0),
        span: 10,
        tests: 1,
    };
    let left = |change: &dyn Fn(&mut Region)| {
        let mut region = looping(&host, &shape(Ty::U64));
        change(&mut region);
        let before = region.to_string();
        run_pass("implied_checks", &mut region);
        region.to_string() == before
    };
    let replace = |region: &mut Region, block: usize, wanted: Op, new: Op| {
        for inst in &mut region.blocks[block].insts {
            if let Kind::Op { op, .. } = &mut inst.kind
                && *op == wanted
            {
                *op = new;
            }
        }
    };
    assert!(!left(&|_| {}));
    assert!(left(&|region| replace(region, 1, Op::Lt, Op::Ne)), "another comparison");
    assert!(left(&|region| replace(region, 3, Op::Sub, Op::Xor)), "no distance");
    assert!(left(&|region| region.blocks[1].cold = true), "nobody comes there");
    let count_in_span = |region: &mut Region| {
        let count = region.blocks[1].params[0];
        let compared = region.blocks[3].insts.iter_mut().find(|inst| matches!(inst.kind, Kind::Op { op: Op::Lt, .. }));
        compared.unwrap().args[1] = count;
    };
    assert!(left(&count_in_span), "a span that changes");
}
