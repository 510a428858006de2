//! Loads, stores, bulk operations and atomics: fast paths against a plain model, and traps before effects.

use super::*;
use crate::isa::Op;
use crate::memory::RegionName;
use crate::program::{GlobalId, Inst, Reg, Target};
use crate::trap::{Access, RegionKind, TrapDetail, TrapKind};
use crate::types::Shape::{self, Uniform, Varying};

const LEN: usize = 100;

/// A function `f(base, index, value) → loaded` of one memory operation.
fn access(op: Op, ty: Ty, index_ty: Ty, base: Shape, index: Shape, scale: u32, disp: i64) -> impl Fn(Width) -> Program {
    move |width| {
        build(width, |b| {
            let base = b.param(base, Ty::U64, "base");
            let index = b.param(index, index_ty, "index");
            let value = b.param(Varying, ty, "value");
            let is_load = matches!(op, Op::Load | Op::LoadLane);
            let varying = op == Op::LoadLane || b.join(&[base, index]) == Varying;
            let dst = if is_load { b.reg(if varying { Varying } else { Uniform }, ty) } else { Reg::NONE };
            let src = [base, index, if is_load { Reg::NONE } else { value }];
            b.push(Inst { dst, src, from: index_ty, aux: scale, imm: disp, ..Inst::new(op, ty) });
            if is_load {
                b.result(dst);
            }
            b.ret();
        })
    }
}

/// How indices of the lanes relate.
fn indices(kind: u64, n: usize, random: &mut Random) -> Vec<u64> {
    let start = random.below(LEN as u64 + 20) as i64 - 10;
    let lane = |l: usize, r: &mut Random| match kind {
        0 => start + l as i64,
        1 => start + 3 * l as i64,
        2 => start,
        3 => r.below(LEN as u64) as i64,
        4 => start - l as i64,
        _ => r.next() as i64,
    };
    (0..n).map(|l| lane(l, random) as u64).collect()
}

fn as_index(ty: Ty, word: u64) -> i128 {
    match ty {
        Ty::I32 => word as i32 as i128,
        Ty::U32 => word as u32 as i128,
        Ty::I64 => word as i64 as i128,
        _ => word as i128,
    }
}

/// Runs `f` and a model of it on the same bytes.
#[allow(clippy::too_many_arguments)]
fn compare(
    m: &mut Machine,
    op: Op,
    ty: Ty,
    index_ty: Ty,
    shapes: (Shape, Shape),
    scale: u32,
    disp: i64,
    r: &mut Random,
) {
    let n = m.program().width.lanes();
    let size = ty.size();
    let mut bytes: Vec<u8> = (0..LEN * 4).map(|_| r.next() as u8).collect();
    let mut model = bytes.clone();
    // SAFETY: `bytes` lives until the region is unmapped and is not touched meanwhile.
    let pointer = unsafe { m.map_host(bytes.as_mut_ptr(), bytes.len(), true, RegionName::NONE) }.unwrap();
    let start = 16 + r.below(8);
    let bases: Vec<u64> =
        (0..n as u64).map(|l| pointer + start + if shapes.0 == Varying { l % 3 } else { 0 }).collect();
    let kind = r.below(6);
    let index = indices(kind, n, r);
    let values: Vec<u64> = (0..n).map(|_| r.value(ty)).collect();
    let mask = if r.below(2) == 0 { !0 } else { r.next() };
    let mask = (mask & m.program().width.full_mask()).max(1);
    let is_load = matches!(op, Op::Load | Op::LoadLane);
    let by_lane = matches!(op, Op::LoadLane | Op::StoreLane);
    let place = |l: usize| {
        let base = bases[if shapes.0 == Varying { l } else { 0 }] - pointer;
        let index = as_index(index_ty, index[if shapes.1 == Varying { l } else { 0 }]);
        base as i128 + index * scale as i128 + disp as i128 + if by_lane { (l * size) as i128 } else { 0 }
    };
    let active = (0..n).filter(|l| mask >> l & 1 != 0);
    let failing = active.clone().find(|&l| place(l) < 0 || place(l) + size as i128 > model.len() as i128);
    let mut expected = vec![0u64; n];
    for l in active.filter(|_| failing.is_none()) {
        let at = place(l) as usize;
        let cell = &mut model[at..at + size];
        if is_load {
            let mut word = [0; 8];
            word[..size].copy_from_slice(cell);
            expected[l] = u64::from_le_bytes(word);
            if ty == Ty::Bool {
                expected[l] = (expected[l] != 0) as u64;
            }
        } else {
            cell.copy_from_slice(&values[l].to_le_bytes()[..size]);
        }
    }
    let result = call(m, &[Arg::Words(&bases), Arg::Words(&index), Arg::Words(&values)], mask);
    m.unmap(pointer);
    let what =
        format!("{op:?}.{ty} {index_ty} {shapes:?} scale {scale} disp {disp} kind {kind} mask {mask:b} width {n}");
    match (failing, result) {
        (None, Ok(out)) if is_load && out[0].words.len() == 1 => {
            assert_eq!(out[0].words[0], expected[mask.trailing_zeros() as usize], "{what}");
        }
        (None, Ok(out)) if is_load => assert_eq!(out[0].words, expected, "{what}"),
        (None, Ok(_)) => {}
        (Some(lane), Err(trap)) => {
            assert_eq!(trap.kind, TrapKind::OutOfBounds, "{what}");
            let uniform = shapes == (Uniform, Uniform) && !by_lane;
            assert_eq!(trap.lane, (!uniform).then_some(lane as u32), "{what}");
            let TrapDetail::Access { index, len, .. } = trap.detail else { panic!("{what}") };
            let element = place(lane).div_euclid(size as i128);
            assert_eq!(index as i128, element.clamp(i64::MIN as i128, i64::MAX as i128), "{what}");
            assert_eq!(len, (bytes.len() / size) as u64);
        }
        (failing, result) => panic!("{what}: {failing:?}, but {result:?}"),
    }
    assert_eq!(bytes, model, "{what}");
}

#[test]
fn accesses_do_what_a_loop_over_lanes_does() {
    let mut random = Random::new(7);
    for isa in isas() {
        for width in Width::ALL {
            for op in [Op::Load, Op::Store, Op::LoadLane, Op::StoreLane] {
                for shapes in [(Uniform, Uniform), (Uniform, Varying), (Varying, Uniform), (Varying, Varying)] {
                    for ty in [Ty::Bool, Ty::I8, Ty::F16, Ty::F32, Ty::I64] {
                        for index_ty in [Ty::I32, Ty::U32, Ty::I64, Ty::U64] {
                            let scale = [ty.size() as u32, 4, 1, 1 << 30][random.below(4) as usize];
                            let disp = [0, 4, -8][random.below(3) as usize];
                            let p = access(op, ty, index_ty, shapes.0, shapes.1, scale, disp)(width);
                            let limits = Limits { stack: 1 << 16, ..Limits::default() };
                            let mut m = machine_for(p, isa, limits);
                            for _ in 0..6 {
                                compare(&mut m, op, ty, index_ty, shapes, scale, disp, &mut random);
                            }
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn indices_do_not_wrap_around() {
    let index_types =
        [(Ty::I32, i32::MAX as u64), (Ty::U32, u32::MAX as u64), (Ty::I64, i64::MAX as u64), (Ty::U64, !0)];
    for (index_ty, top) in index_types {
        let p = access(Op::Load, Ty::F32, index_ty, Uniform, Varying, 4, 0)(Width::DEFAULT);
        let mut m = machine(p);
        let mut data = [1f32; 64];
        // SAFETY: `data` outlives the machine.
        let pointer = unsafe { m.map_host(data.as_mut_ptr().cast(), 256, false, RegionName::NONE) }.unwrap();
        // Consecutive in wrapping arithmetic, but not consecutive numbers.
        let index: Vec<u64> = (0..16u64).map(|l| top.wrapping_sub(3).wrapping_add(l)).collect();
        let trap = call(&mut m, &[Arg::Word(pointer), Arg::Words(&index), Arg::Word(0)], !0).unwrap_err();
        assert_eq!((trap.kind, trap.lane), (TrapKind::OutOfBounds, Some(0)), "{index_ty}");
    }
}

#[test]
fn a_scatter_to_one_place_leaves_the_highest_lane() {
    for shapes in [(Uniform, Uniform), (Uniform, Varying), (Varying, Uniform)] {
        let p = access(Op::Store, Ty::I32, Ty::I32, shapes.0, shapes.1, 4, 0)(Width::DEFAULT);
        let mut m = machine(p);
        let mut cell = [0i32];
        // SAFETY: `cell` outlives the machine.
        let pointer = unsafe { m.map_host(cell.as_mut_ptr().cast(), 4, true, RegionName::NONE) }.unwrap();
        let values: Vec<u64> = (100..116).collect();
        call(&mut m, &[Arg::Word(pointer), Arg::Word(0), Arg::Words(&values)], 0b0110_1000).unwrap();
        assert_eq!(cell[0], 106);
    }
}

#[test]
fn every_kind_of_bad_access_says_what_it_is() {
    let load = access(Op::Load, Ty::F32, Ty::I32, Uniform, Varying, 4, 0)(Width::DEFAULT);
    let mut p = access(Op::Store, Ty::F32, Ty::I32, Uniform, Varying, 4, 0)(Width::DEFAULT);
    p.globals = vec![Global { constant: true, ..global("table", 64) }];
    let mut reader = machine(load);
    let mut writer = machine(p);
    let args = |p: u64| [Arg::Word(p), Arg::Words(&[0, 1, 2, 9]), Arg::Word(0)];
    let kind = |m: &mut Machine, p: u64| call(m, &args(p), 0b1111).unwrap_err().kind;
    assert_eq!(kind(&mut reader, 0), TrapKind::NullPointer);
    assert_eq!(kind(&mut reader, 77 << 40), TrapKind::BadPointer);
    let mut data = [0f32; 8];
    let name = reader.memory().name("x");
    // SAFETY: `data` outlives the mapping.
    let pointer = unsafe { reader.map_host(data.as_mut_ptr().cast(), 32, false, name) }.unwrap();
    let trap = call(&mut reader, &args(pointer), 0b1111).unwrap_err();
    let region = RegionKind::Host;
    let detail = TrapDetail::Access {
        access: Access::Read,
        index: 9,
        len: 8,
        elem_size: 4,
        region,
        name: Some("x".into()),
        indices: Box::default(),
    };
    assert_eq!((trap.kind, trap.lane, trap.detail.clone()), (TrapKind::OutOfBounds, Some(3), detail));
    assert_eq!(trap.to_string(), "index out of bounds: read of index 9 of `x`, which has 8 elements (lane 3) in `f`");
    reader.unmap(pointer);
    assert_eq!(kind(&mut reader, pointer), TrapKind::BadPointer);
    let table = writer.global(GlobalId(0));
    assert_eq!(kind(&mut writer, table), TrapKind::ReadOnly);
    assert_eq!(call(&mut writer, &args(table), 1).unwrap_err().to_string().matches("table").count(), 1);
}

#[test]
fn inactive_lanes_touch_nothing() {
    for (isa, width) in isas().flat_map(|isa| Width::ALL.map(|w| (isa, w))) {
        let p = build(width, |b| {
            let pointer = b.param(Varying, Ty::U64, "pointer");
            let divisor = b.param(Varying, Ty::I32, "divisor");
            let fine = b.param(Varying, Ty::Bool, "fine");
            let loaded = b.elementwise(Op::Load, Ty::I32, Ty::I32, &[pointer]);
            b.amend_last(|inst| inst.aux = 1);
            b.push(Inst { src: [pointer, Reg::NONE, divisor], ..Inst::new(Op::Store, Ty::I32) });
            let quotient = b.binary(Op::IDiv, Ty::I32, loaded, divisor);
            b.push(Inst { src: [fine, Reg::NONE, Reg::NONE], ..Inst::new(Op::Assert, Ty::Bool) });
            b.result(loaded);
            b.result(quotient);
            b.ret();
        });
        let p = Program { messages: vec!["fine".into()], ..p };
        let mut m = machine_for(p, isa, Limits { stack: 1 << 16, ..Limits::default() });
        let mut cells = [6i32; 64];
        // SAFETY: `cells` outlives the machine.
        let base = unsafe { m.map_host(cells.as_mut_ptr().cast(), 256, true, RegionName::NONE) }.unwrap();
        let n = width.lanes();
        for lane in 0..n {
            let mut pointers = vec![0; n];
            let mut divisors = vec![0; n];
            let mut fine = vec![0; n];
            (pointers[lane], divisors[lane], fine[lane]) = (base + 4 * lane as u64, 3, 1);
            let args = [Arg::Words(&pointers), Arg::Words(&divisors), Arg::Words(&fine)];
            let out = call(&mut m, &args, 1 << lane).unwrap();
            let expected = |value: u64| (0..n).map(|l| if l == lane { value } else { 0 }).collect::<Vec<_>>();
            assert_eq!((&out[0].words, &out[1].words), (&expected(6), &expected(2)));
        }
        assert_eq!(cells.iter().filter(|&&c| c == 3).count(), n);
    }
}

#[test]
fn heap_memory_is_zero_bounded_and_gone_after_free() {
    let p = build(Width::new(4).unwrap(), |b| {
        let bytes = b.param(Varying, Ty::I64, "bytes");
        let p = b.elementwise(Op::Alloc, Ty::U64, Ty::U64, &[bytes]);
        let loaded = b.elementwise(Op::Load, Ty::I32, Ty::I32, &[p]);
        b.push(Inst { src: [p, Reg::NONE, Reg::NONE], ..Inst::new(Op::Free, Ty::Bool) });
        b.result(loaded);
        b.result(p);
        b.ret();
    });
    let mut m = machine_for(p, Isa::detect(), Limits { memory: 1000, ..Limits::default() });
    let out = call(&mut m, &[Arg::Words(&[4, 5, 6, 7])], 0b1111).unwrap();
    assert_eq!(out[0].words, [0; 4]);
    assert_eq!(m.memory().available(), 1000, "all is freed");
    let trap = call(&mut m, &[Arg::Words(&[4, 3, 4, 4])], 0b1111).unwrap_err();
    assert_eq!((trap.kind, trap.lane), (TrapKind::OutOfBounds, Some(1)));
    let left = m.memory().available();
    for bytes in [[990, 1, 1, 1], [1 << 39, 1, 1, 1], [u64::MAX, 1, 1, 1]] {
        let trap = call(&mut m, &[Arg::Words(&bytes)], 0b1111).unwrap_err();
        assert_eq!((trap.kind, trap.lane), (TrapKind::OutOfMemory, Some(0)));
        assert_eq!(m.memory().available(), left, "a failed allocation keeps nothing");
    }
    let free = build(Width::new(4).unwrap(), |b| {
        let p = b.param(Varying, Ty::U64, "p");
        b.push(Inst { src: [p, Reg::NONE, Reg::NONE], ..Inst::new(Op::Free, Ty::Bool) });
        b.ret();
    });
    let mut m = machine(free);
    let p = m.memory().allocate(8).unwrap();
    let bad = |m: &mut Machine, p: [u64; 4]| call(m, &[Arg::Words(&p)], 0b111).unwrap_err().lane;
    assert_eq!(bad(&mut m, [0, p + 1, 0, 0]), Some(1));
    assert_eq!(bad(&mut m, [p, 0, p, 0]), Some(2), "twice in one instruction");
    call(&mut m, &[Arg::Words(&[p, 0, 0, p])], 0b111).unwrap();
    assert_eq!(bad(&mut m, [p, 0, 0, 0]), Some(0), "twice");
}

#[test]
fn copies_and_fills_check_first_and_may_overlap() {
    let p = build(Width::new(2).unwrap(), |b| {
        let to = b.param(Varying, Ty::U64, "to");
        let from = b.param(Varying, Ty::U64, "from");
        let bytes = b.param(Varying, Ty::I64, "bytes");
        let value = b.param(Uniform, Ty::I32, "value");
        b.push(Inst { src: [to, from, bytes], ..Inst::new(Op::MemCopy, Ty::Bool) });
        b.push(Inst { src: [to, value, bytes], ..Inst::new(Op::MemSet, Ty::Bool) });
        b.ret();
    });
    let mut m = machine(p);
    let mut data: Vec<u8> = (0..16).collect();
    // SAFETY: `data` outlives the machine.
    let p = unsafe { m.map_host(data.as_mut_ptr(), 16, true, RegionName::NONE) }.unwrap();
    let mut run = |to: [u64; 2], from: [u64; 2], bytes: [u64; 2]| {
        let args = [Arg::Words(&to), Arg::Words(&from), Arg::Words(&bytes), Arg::Word(0x1ff)];
        call(&mut m, &args, 0b11).map_err(|t| (t.kind, t.lane)).err()
    };
    assert_eq!(run([p, p], [p, p + 8], [8, 9]), Some((TrapKind::OutOfBounds, Some(1))));
    assert_eq!(run([p, p], [p, p], [8, u64::MAX]), Some((TrapKind::OutOfBounds, Some(1))));
    assert_eq!(run([0, p + 16], [0, 0], [0, 0]), None, "nothing to copy, nothing to check");
    assert_eq!(run([p + 1, p + 8], [p, p + 8], [4, 1]), None);
    assert_eq!(data, [0, 255, 255, 255, 255, 5, 6, 7, 255, 9, 10, 11, 12, 13, 14, 15]);
}

#[test]
fn atomics_go_lane_by_lane() {
    let cell = |op: Op, ty: Ty| {
        build(Width::new(4).unwrap(), |b| {
            let p = b.param(Uniform, Ty::U64, "p");
            let value = b.param(Varying, ty, "value");
            let mut sources = vec![p, value];
            if op == Op::AtomicCas {
                sources.push(b.param(Varying, ty, "new"));
            }
            let before = b.elementwise(op, ty, ty, &sources);
            b.result(before);
            b.ret();
        })
    };
    let cases = [
        (Op::AtomicAdd, [10, 11, 13, 16], 20),
        (Op::AtomicSub, [10, 9, 7, 4], 0),
        (Op::AtomicMin, [10, 1, 1, 1], 1),
        (Op::AtomicMax, [10, 10, 10, 10], 10),
        (Op::AtomicXor, [10, 11, 9, 10], 14),
        (Op::AtomicOr, [10, 11, 11, 11], 15),
        (Op::AtomicAnd, [10, 0, 0, 0], 0),
        (Op::AtomicSwap, [10, 1, 2, 3], 4),
    ];
    for (op, before, after) in cases {
        let mut m = machine(cell(op, Ty::I32));
        let p = m.memory().allocate(4).unwrap();
        m.memory().write_bytes(p, &10i32.to_ne_bytes());
        let out = call(&mut m, &[Arg::Word(p), Arg::Words(&[1, 2, 3, 4])], !0).unwrap();
        let mut bytes = [0; 4];
        assert!(m.memory().read_bytes(p, &mut bytes));
        assert_eq!((&out[0].words[..], i32::from_ne_bytes(bytes)), (&before[..], after), "{op:?}");
    }
    let mut m = machine(cell(Op::AtomicCas, Ty::I64));
    let p = m.memory().allocate(8).unwrap();
    let out = call(&mut m, &[Arg::Word(p), Arg::Words(&[0, 0, 5, 7]), Arg::Words(&[5, 6, 7, 8])], !0).unwrap();
    assert_eq!(out[0].words, [0, 5, 5, 7]);
    assert_eq!(call(&mut m, &[Arg::Word(p + 1), Arg::Word(0), Arg::Word(0)], !0).unwrap_err().lane, Some(0));
}

#[test]
fn globals_have_images_and_pointers() {
    let mut p = build(Width::DEFAULT, |b| {
        let cell = b.reg(Uniform, Ty::U64);
        b.push(Inst { dst: cell, aux: 0, ..Inst::new(Op::GlobalAddr, Ty::U64) });
        let pointer = b.elementwise(Op::Load, Ty::U64, Ty::U64, &[cell]);
        let value = b.elementwise(Op::Load, Ty::I32, Ty::I32, &[pointer]);
        b.result(value);
        b.ret();
    });
    p.globals = vec![
        Global { relocations: vec![(0, Target::Global(GlobalId(1), 4))], ..global("cell", 8) },
        Global { init: [1i32, 2].iter().flat_map(|x| x.to_ne_bytes()).collect(), ..global("data", 8) },
    ];
    let mut m = machine(p);
    assert_eq!(call(&mut m, &[], 1).unwrap()[0].words, [2]);
}
