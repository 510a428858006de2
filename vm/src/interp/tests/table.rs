//! Every row of the table with a scalar meaning, for every type, shape, width and instruction set: each lane of the result
//! is what `sem::eval` says.

use super::*;
use crate::isa::{Form, OPS, Op};
use crate::program::{Inst, Reg};
use crate::sem;
use crate::types::Shape::{self, Uniform, Varying};

/// One instruction to test.
struct Case {
    op: Op,
    ty: Ty,
    from: Ty,
    shapes: Vec<Shape>,
}

impl Case {
    fn source_ty(&self, i: usize) -> Ty {
        self.op.info().sig.src[i].ty.resolve(self.ty, self.from)
    }

    fn function(&self, index: usize) -> Function {
        let mut b = FunctionBuilder::new(format!("f{index}"));
        let mut src = [Reg::NONE; 3];
        for (i, &shape) in self.shapes.iter().enumerate() {
            src[i] = b.param(shape, self.source_ty(i), "");
        }
        let varying = self.shapes.contains(&Varying) && self.op.info().form != Form::Reduce;
        let dst_ty = self.op.info().result_ty(self.ty).unwrap();
        let dst = b.reg(if varying { Varying } else { Uniform }, dst_ty);
        b.push(Inst { dst, src, from: self.from, ..Inst::new(self.op, self.ty) });
        b.result(dst);
        b.ret();
        b.finish()
    }
}

fn all_shapes(n: usize) -> impl Iterator<Item = Vec<Shape>> {
    (0..1 << n).map(move |bits| (0..n).map(|i| if bits >> i & 1 == 0 { Uniform } else { Varying }).collect())
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for row in OPS {
        let elementwise = !matches!(row.form, Form::Special | Form::Reduce) || {
            matches!(row.op, Op::Mov | Op::Select | Op::Convert | Op::Bitcast | Op::PAdd)
        };
        for ty in row.types.iter().filter(|_| elementwise) {
            for from in Ty::ALL {
                let fits = match row.op {
                    Op::Convert => true,
                    Op::Bitcast => from.size() == ty.size() && (ty != Ty::Bool || from == Ty::Bool),
                    _ => from == ty,
                };
                for shapes in all_shapes(row.sig.src.len()).filter(|_| fits) {
                    cases.push(Case { op: row.op, ty, from, shapes });
                }
            }
        }
    }
    cases
}

fn check(case: &Case, width: Width, machine: &mut Machine, index: usize, random: &mut Random) {
    let n = width.lanes();
    let mask = loop {
        let mask = if random.below(4) == 0 { width.full_mask() } else { random.next() & width.full_mask() };
        if mask != 0 {
            break mask;
        }
    };
    let inputs: Vec<Vec<u64>> =
        (0..case.shapes.len()).map(|i| (0..n).map(|_| random.value(case.source_ty(i))).collect()).collect();
    let checked = case.op.info().form == Form::Checked;
    let value = |i: usize, l: usize| {
        let Some(shape) = case.shapes.get(i) else { return 0 };
        inputs[i][if *shape == Varying { l } else { 0 }]
    };
    let args: Vec<Arg<'_>> = inputs.iter().map(|words| Arg::Words(words)).collect();
    let what = format!("{}.{} from {} {:?} width {n}", case.op.info().name, case.ty, case.from, case.shapes);
    let result = machine.call(FuncId(index as u32), &args, mask);
    if checked {
        let failing = (0..n).find(|&l| mask >> l & 1 != 0 && value(1, l) == 0);
        if let Some(lane) = failing {
            let trap = result.err().unwrap_or_else(|| panic!("{what}: no trap"));
            assert_eq!(trap.kind, crate::trap::TrapKind::DivisionByZero, "{what}");
            let uniform = !case.shapes.contains(&Varying);
            assert_eq!(trap.lane, (!uniform).then_some(lane as u32), "{what}");
            return;
        }
    }
    let result = result.unwrap_or_else(|trap| panic!("{what}: {trap}")).lanes(0);
    for (l, &got) in result.words.iter().enumerate() {
        let operands = [value(0, l), value(1, l), value(2, l)];
        let mut expected = sem::eval(case.op, case.ty, case.from, operands).unwrap();
        if checked && result.shape == Varying && mask >> l & 1 == 0 {
            expected = 0;
        }
        assert!(same(result.ty, got, expected), "{what} lane {l} of {operands:x?}: {got:#x}, not {expected:#x}");
    }
}

#[test]
fn every_elementwise_row_means_what_sem_says() {
    let cases = cases();
    let mut random = Random::new(1);
    for isa in isas() {
        for width in Width::ALL {
            let functions = cases.iter().enumerate().map(|(i, c)| c.function(i)).collect();
            let mut machine = machine_for(program(width, functions), isa, Limits::default());
            for (i, case) in cases.iter().enumerate() {
                for _ in 0..4 {
                    check(case, width, &mut machine, i, &mut random);
                }
            }
        }
    }
}

/// The documented tree: lane *i* takes in lane *i* + h, for h from half the width down to 1.
fn reduce(op: Op, ty: Ty, words: &[u64], mask: u64) -> u64 {
    let neutral = sem::reduce_neutral(op, ty).unwrap();
    let mut v: Vec<u64> =
        words.iter().enumerate().map(|(l, &x)| if mask >> l & 1 != 0 { x } else { neutral }).collect();
    while v.len() > 1 {
        let h = v.len() / 2;
        v = (0..h).map(|i| sem::eval(op, ty, ty, [v[i], v[i + h], 0]).unwrap()).collect();
    }
    v[0]
}

#[test]
fn reductions_follow_the_fixed_tree() {
    let mut random = Random::new(2);
    let rows = OPS.iter().filter(|r| r.form == Form::Reduce);
    let cases: Vec<Case> =
        rows.flat_map(|r| r.types.iter().map(|ty| Case { op: r.op, ty, from: ty, shapes: vec![Varying] })).collect();
    for isa in isas() {
        for width in Width::ALL {
            let functions = cases.iter().enumerate().map(|(i, c)| c.function(i)).collect();
            let mut machine = machine_for(program(width, functions), isa, Limits::default());
            for (i, case) in cases.iter().enumerate() {
                for _ in 0..8 {
                    let words: Vec<u64> = (0..width.lanes()).map(|_| random.value(case.ty)).collect();
                    let mask = (random.next() & width.full_mask()).max(1);
                    let result = machine.call(FuncId(i as u32), &[Arg::Words(&words)], mask).unwrap().word(0, 0);
                    let expected = reduce(case.op, case.ty, &words, mask);
                    assert!(same(case.ty, result, expected), "{}.{} width {width}", case.op.info().name, case.ty);
                }
            }
        }
    }
}

#[test]
fn assign_blends_and_mov_does_not() {
    let mut random = Random::new(3);
    for (isa, width) in isas().flat_map(|isa| Width::ALL.map(|w| (isa, w))) {
        for ty in Ty::ALL {
            for shape in [Uniform, Varying] {
                let p = build(width, |b| {
                    let old = b.param(Varying, ty, "old");
                    let new = b.param(shape, ty, "new");
                    let moved = b.reg(Varying, ty);
                    b.mov(moved, new);
                    b.assign(old, new);
                    b.result(old);
                    b.result(moved);
                    b.ret();
                });
                let mut m = machine_for(p, isa, Limits::default());
                let values = |r: &mut Random| (0..width.lanes()).map(|_| r.value(ty)).collect::<Vec<u64>>();
                let (old, new) = (values(&mut random), values(&mut random));
                for mask in [width.full_mask(), 1, (random.next() & width.full_mask()).max(1)] {
                    let out = call(&mut m, &[Arg::Words(&old), Arg::Words(&new)], mask).unwrap();
                    for l in 0..width.lanes() {
                        let source = new[if shape == Uniform { 0 } else { l }];
                        let kept = if mask >> l & 1 != 0 { source } else { old[l] };
                        assert_eq!((out[0].words[l], out[1].words[l]), (kept, source), "{ty} width {width} lane {l}");
                    }
                }
            }
        }
    }
}

#[test]
fn lane_operations_wrap_indices_and_see_inactive_lanes() {
    for (isa, width) in isas().flat_map(|isa| Width::ALL.map(|w| (isa, w))) {
        let n = width.lanes();
        let p = build(width, |b| {
            let v = b.param(Varying, Ty::F32, "v");
            let index = b.param(Varying, Ty::I32, "index");
            let at = b.param(Uniform, Ty::I32, "at");
            let x = b.param(Uniform, Ty::F32, "x");
            let c = b.param(Varying, Ty::Bool, "c");
            let mut lanes = |op: Op, ty: Ty, shape: Shape, out: Ty, src: [Reg; 3]| {
                let dst = b.reg(shape, out);
                b.push(Inst { dst, src, ..Inst::new(op, ty) });
                b.result(dst);
            };
            let none = Reg::NONE;
            lanes(Op::Shuffle, Ty::F32, Varying, Ty::F32, [v, index, none]);
            lanes(Op::Extract, Ty::F32, Uniform, Ty::F32, [v, at, none]);
            lanes(Op::Insert, Ty::F32, Varying, Ty::F32, [v, at, x]);
            lanes(Op::Iota, Ty::I32, Varying, Ty::I32, [none; 3]);
            lanes(Op::MaskGet, Ty::Bool, Varying, Ty::Bool, [none; 3]);
            lanes(Op::MaskBits, Ty::U64, Uniform, Ty::U64, [none; 3]);
            lanes(Op::PackMask, Ty::U64, Uniform, Ty::U64, [c, none, none]);
            lanes(Op::Any, Ty::Bool, Uniform, Ty::Bool, [c, none, none]);
            lanes(Op::All, Ty::Bool, Uniform, Ty::Bool, [c, none, none]);
            b.ret();
        });
        let mut m = machine_for(p, isa, Limits::default());
        let mut random = Random::new(4);
        for _ in 0..20 {
            let v: Vec<u64> = (0..n as u64).map(|l| (l as f32).to_bits() as u64).collect();
            let index: Vec<u64> = (0..n).map(|_| random.value(Ty::I32)).collect();
            let c: Vec<u64> = (0..n).map(|_| random.below(2)).collect();
            let at = random.value(Ty::I32);
            let mask = (random.next() & width.full_mask()).max(1);
            let lane = |i: u64| (i as u32 as i32).rem_euclid(n as i32) as usize;
            let args = [Arg::Words(&v), Arg::Words(&index), Arg::Word(at), Arg::Word(7), Arg::Words(&c)];
            let out = call(&mut m, &args, mask).unwrap();
            let bits = c.iter().enumerate().fold(0, |m, (l, &b)| m | b << l);
            let mut inserted = v.clone();
            inserted[lane(at)] = 7;
            assert_eq!(out[0].words, index.iter().map(|&i| v[lane(i)]).collect::<Vec<_>>());
            assert_eq!(out[1].words, [v[lane(at)]]);
            assert_eq!(out[2].words, inserted);
            assert_eq!(out[3].words, (0..n as u64).collect::<Vec<_>>());
            assert_eq!(out[4].words, (0..n).map(|l| mask >> l & 1).collect::<Vec<_>>());
            assert_eq!((out[5].words[0], out[6].words[0]), (mask, bits & mask));
            assert_eq!((out[7].words[0], out[8].words[0]), ((bits & mask != 0) as u64, (!bits & mask == 0) as u64));
        }
    }
}

#[test]
fn every_operation_has_a_handler_for_every_type_of_its_row() {
    use crate::interp::special::{Setting, handler_of};
    for row in OPS {
        for ty in if row.types.is_empty() { vec![Ty::Bool] } else { row.types.iter().collect() } {
            let inst = Inst::new(row.op, ty);
            let shapes = [Varying; 3];
            let setting = Setting { dst: Varying, shapes: &shapes, isa: Isa::Baseline, backward: false, traced: false };
            assert!(handler_of(&inst, &setting).is_some(), "{}.{ty} has no handler", row.name);
        }
    }
}
