//! Gathers that need not clear inactive lanes: which, and that nobody can tell.

mod harness;

use harness::masked::masked;
use harness::passing::{check, compare, run_pass, seeds, simplified};
use spmdvm_jit::backend::{Backend, Executable};
use spmdvm_jit::exec_ir::Ir;
use spmdvm_jit::ir::{Builder, Kind, Type, Value};
use spmdvm_vm::Op;
use spmdvm_vm::types::{Ty, Width};
use std::cell::Cell;
use std::sync::Arc;

/// Computes something of a gathered value and of registers `x y m n`; gives what is left in registers.
type Compute = fn(&mut Builder, Value, [Value; 4]) -> Vec<Value>;

const VECTOR: Type = Type::varying(Ty::I32);

/// What the pass makes of a gather under `m` by an index, and of what is computed of it.
fn after(compute: impl FnOnce(&mut Builder, Value, [Value; 4]) -> Vec<Value>) -> String {
    simplified(&["dont_care"], |b, [x, y, _, m, n, p]| {
        let gather = Kind::Gather { ty: Ty::I32, index: Ty::I32, scale: 4, clears: true };
        let v = b.inst(gather, &[p, x, m], VECTOR);
        compute(b, v, [x, y, m, n])
    })
}

fn select(b: &mut Builder, mask: Value, new: Value, old: Value) -> Value {
    b.inst(Kind::Op { op: Op::Select, ty: Ty::I32, from: Ty::I32 }, &[mask, new, old], VECTOR)
}

#[test]
fn what_ends_in_a_select_by_the_same_mask_is_dont_care() {
    let text = after(|b, v, [x, y, m, _]| {
        let sum = b.op(Op::Add, Ty::I32, &[v, y]);
        let twice = b.op(Op::Mul, Ty::I32, &[sum, sum]);
        vec![select(b, m, twice, x)]
    });
    assert!(text.contains("gather.dont_care"), "{text}");
    assert_eq!(text.matches("select").count(), 1, "{text}");
}

#[test]
fn a_snapshot_gets_zeros() {
    let text = after(|b, v, [x, _, m, _]| vec![v, select(b, m, v, x)]);
    assert!(text.contains("gather.dont_care"), "{text}");
    assert_eq!(text.matches("select").count(), 2, "{text}");
}

#[test]
fn other_uses_see_all_lanes() {
    let seen: [Compute; 6] = [
        // By another mask, as what inactive lanes get, by no mask at all.
        |b, v, [x, _, _, n]| vec![select(b, n, v, x)],
        |b, v, [x, _, m, _]| vec![select(b, m, x, v)],
        |b, v, [_, y, _, _]| vec![b.op(Op::Add, Ty::I32, &[v, y])],
        // By one of two uses.
        |b, v, [x, y, m, _]| vec![select(b, m, v, x), b.op(Op::Add, Ty::I32, &[v, y])],
        // What is computed of it is in the snapshot, too.
        |b, v, [x, y, m, _]| {
            let sum = b.op(Op::Add, Ty::I32, &[v, y]);
            vec![sum, select(b, m, sum, x)]
        },
        // By all lanes.
        |b, v, [x, y, m, _]| {
            let less = b.op(Op::Lt, Ty::I32, &[v, y]);
            let any = b.inst(Kind::AnyLane, &[less], Type::BOOL);
            let any = b.inst(Kind::Op { op: Op::Convert, ty: Ty::I32, from: Ty::Bool }, &[any], Type::uniform(Ty::I32));
            vec![any, select(b, m, v, x)]
        },
    ];
    for (i, compute) in seen.into_iter().enumerate() {
        let text = after(compute);
        assert!(text.contains("gather.i32"), "{i}: {text}");
    }
}

#[test]
fn nobody_can_tell() {
    let dont_care = Cell::new(0);
    for lanes in [2, 4, 16, 32] {
        compare(lanes, seeds(lanes as u64 * 1_000_000, 60), masked, |region, seed| {
            run_pass("dont_care", region);
            check(region, "dont_care", seed);
            dont_care.set(dont_care.get() + region.to_string().matches("gather.dont_care").count());
        });
    }
    assert!(dont_care.get() > 50, "{} gathers", dont_care.get());
}

#[test]
fn native_code_agrees() {
    let natives = harness::natives();
    for lanes in [1, 4, 8, 32] {
        let mut host = harness::Host::new(Width::new(lanes).unwrap());
        for seed in seeds(lanes as u64 * 2_000_000, 25) {
            let before = masked(&host, seed);
            let mut after = before.clone();
            run_pass("dont_care", &mut after);
            let mut codes: Vec<Arc<dyn Executable>> = vec![
                Arc::from(Ir.compile(Arc::new(before.clone())).unwrap()),
                Arc::from(Ir.compile(Arc::new(after.clone())).unwrap()),
            ];
            let compiled = natives.iter().map(|native| native.compile(Arc::new(after.clone())).unwrap());
            codes.extend(compiled.map(Arc::from));
            let mut rng = harness::values::Rng(!seed);
            for _ in 0..4 {
                let input = host.random_input(&mut rng, false);
                host.agree_codes(&after, &codes, &input);
            }
        }
    }
}
