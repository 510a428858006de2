//! What is accessed by a pointer to an element of an array is accessed by the element's number.
//!
//! A function that takes a struct by reference gets `&a[i]`, the pointer `a + i * size`, and accesses members at constant places from it.
//! Such an access is checked, and its host address found, for a pointer that is another one in each round. As a check of `i` it
//! is one that [`bounds`](super::bounds) merges with others, and [`loop_versioning`](super::loop_versioning) takes out of the loop.
//!
//! A sum of a pointer and an offset is exact, or poison (`vm::sem::padd`): an offset of −2³⁹, from which no constant place that is
//! looked at here is in bounds. So the two checks say the same if the one by number never accepts what is poison:
//!
//! - The sum is poison as the offset does not fit. Then the place, which is not before it, is beyond any region, or before it by more
//!   than what is added.
//! - The array's pointer is poison. Elements of up to 128 bytes, counted in 32 bits, are at most 2³⁸ away, places 2³⁰. Offsets that
//!   are no such numbers are taken for numbers of bytes; for these, null stands for an array's pointer that is poison.
//!
//! Packed accesses (`record/packed.rs`) also ask how many elements there are from a place on. Where the place is in bounds
//! that is the same by number, and elsewhere nobody looks at it.
//!
//! A host address is asked only behind a check of the same pointer, which has found that it is not poison. So a pointer is left alone
//! if there is a check of it that is not of a constant place.

use super::Lasting;
use super::defs::Defs;
use super::licm::{Loops, definitions};
use super::make::Maker;
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region, Type, Value, unsigned};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;
use std::collections::{HashMap, HashSet};

/// Greatest elements.
const MAX_SIZE: u64 = 128;

/// Farthest places from an element's beginning.
const MAX_PLACE: i64 = 1 << 30;

/// A pointer into an element.
#[derive(Clone, Copy)]
struct Element {
    array: Value,
    /// Of type `i32`, or as `i64` a number of bytes.
    number: Value,
    size: u32,
    /// From the beginning of the array to that of the element, in bytes.
    offset: Value,
    /// From there on.
    place: i64,
}

/// A check of a constant place.
#[derive(Clone, Copy)]
struct Check {
    /// `Lt`: whether it is in bounds; `Sub`: how many elements there are from there on.
    op: Op,
    pointer: Value,
    scale: u32,
    place: i64,
    need: u32,
    write: bool,
}

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    if loops.count() == 0 {
        return;
    }
    let defs = Defs::of(region);
    let mut elements = find(region, &defs, &loops, &Lasting::new(region, &dominators));
    if elements.is_empty() {
        return;
    }
    let checks = checks(region, &defs, &mut elements);
    for b in 0..region.blocks.len() {
        let insts = std::mem::take(&mut region.blocks[b].insts);
        let mut new = Vec::with_capacity(insts.len());
        for inst in insts {
            let inst = rewrite(&mut Maker { region, to: &mut new }, inst, &elements, &checks);
            new.push(inst);
        }
        region.blocks[b].insts = new;
    }
}

/// The pointers into elements that change in loops that leave the array's pointer alone.
fn find(region: &Region, defs: &Defs, loops: &Loops, lasting: &Lasting) -> HashMap<Value, Element> {
    let home = definitions(region);
    let mut elements = HashMap::new();
    for b in (0..region.blocks.len() as u32).map(BlockId) {
        let Some(l) = loops.of(b) else { continue };
        for inst in &region.block(b).insts {
            let Some((v, element)) = inst.result.and_then(|v| Some((v, element(region, defs, v)?))) else { continue };
            let from = home[element.array.index()];
            // Memory of frames that the region makes may end.
            if !loops.contains(l, from) && lasting.has(element.array) {
                elements.insert(v, element);
            }
        }
    }
    elements
}

fn element(region: &Region, defs: &Defs, pointer: Value) -> Option<Element> {
    let (mut pointer, mut place) = (pointer, 0i64);
    if region.ty(pointer).is_varying() {
        return None;
    }
    let mut sum = defs.as_op(pointer, Op::PAdd)?;
    while let Some(more) = defs.known(sum.arg(1)) {
        place = place.checked_add(more as i64).filter(|_| (0..=MAX_PLACE).contains(&(more as i64)))?;
        pointer = sum.arg(0);
        sum = defs.as_op(pointer, Op::PAdd)?;
    }
    let offset = sum.arg(1);
    let (number, size) = scaled(defs, offset).unwrap_or((offset, 1));
    Some(Element { array: sum.arg(0), number, size, offset, place })
}

/// The number of 32 bits of which an offset is a multiple, and the size of the elements.
fn scaled(defs: &Defs, offset: Value) -> Option<(Value, u32)> {
    let (extended, size) = match (defs.as_op(offset, Op::Mul), defs.as_op(offset, Op::Shl)) {
        (Some(product), _) => (product.arg(0), defs.known(product.arg(1))?),
        (_, Some(shifted)) => (shifted.arg(0), 1u64.checked_shl(u32::try_from(defs.known(shifted.arg(1))?).ok()?)?),
        _ => (offset, 1),
    };
    let convert = defs.get(extended)?;
    let extends = matches!(convert.kind, Kind::Op { op: Op::Convert, ty: Ty::I64, from: Ty::I32 });
    (extends && (1..=MAX_SIZE).contains(&size)).then(|| (convert.arg(0), size as u32))
}

/// The checks of constant places, by the comparison; leaves those pointers out of which others are checked.
fn checks(region: &Region, defs: &Defs, elements: &mut HashMap<Value, Element>) -> HashMap<Value, Check> {
    let insts = || region.blocks.iter().flat_map(|b| &b.insts);
    let mut checks = HashMap::new();
    let mut distances = HashSet::new();
    for inst in insts() {
        if let Some((v, check, distance)) = inst.result.and_then(|v| check(defs, v)).filter(|(_, check, _)| {
            let counts = |e: &&Element| check.scale == e.size && region.ty(e.number).ty == Ty::I32;
            let element = elements.get(&check.pointer).filter(|e| check.op == Op::Lt || counts(e));
            element.and_then(|e| e.place.checked_add(check.place)).is_some_and(|place| (0..=MAX_PLACE).contains(&place))
        }) {
            checks.insert(v, check);
            distances.insert(distance);
        }
    }
    for inst in insts() {
        let is_known = inst.result.is_some_and(|v| checks.contains_key(&v) || distances.contains(&v));
        for def in inst.args.iter().filter(|_| !is_known).filter_map(|&v| defs.get(v)) {
            if let Kind::IndexLow { .. } | Kind::IndexSpan { .. } = def.kind {
                elements.remove(&def.arg(0));
            }
        }
    }
    checks.retain(|_, check| elements.contains_key(&check.pointer));
    checks
}

/// What a comparison `place - low <u span` checks, or what a difference `span - (place - low)` tells, if the place is a
/// constant; with the subtraction in it.
fn check(defs: &Defs, v: Value) -> Option<(Value, Check, Value)> {
    let asks = defs.get(v)?;
    let (op, distance, span) = match asks.kind {
        Kind::Op { op: Op::Lt, .. } => (Op::Lt, asks.arg(0), asks.arg(1)),
        Kind::Op { op: Op::Sub, ty: Ty::U32, .. } => (Op::Sub, asks.arg(1), asks.arg(0)),
        _ => return None,
    };
    let span = defs.get(span)?;
    let Kind::IndexSpan { scale, disp, need, ty } = span.kind else { return None };
    let pointer = span.arg(0);
    let length = defs.get(span.arg(1)).filter(|length| length.arg(0) == pointer)?;
    let Kind::RegionLen { write } = length.kind else { return None };
    let distance = defs.as_op(distance, Op::Bitcast).map_or(distance, |d| d.arg(0));
    let subtraction = defs.as_op(distance, Op::Sub)?;
    let least = defs.get(subtraction.arg(1))?;
    if least.kind != (Kind::IndexLow { scale, disp, ty }) || least.arg(0) != pointer {
        return None;
    }
    let bits = defs.known(subtraction.arg(0))?;
    let index = if ty.size() == 4 { bits as i32 as i64 } else { bits as i64 };
    let place = index.checked_mul(scale as i64)?.checked_add(disp)?;
    Some((v, Check { op, pointer, scale, place, need, write }, distance))
}

fn rewrite(m: &mut Maker<'_>, inst: Inst, elements: &HashMap<Value, Element>, checks: &HashMap<Value, Check>) -> Inst {
    let op = |op, ty| Kind::Op { op, ty, from: ty };
    if let Some((check, element)) =
        inst.result.and_then(|v| checks.get(&v)).and_then(|c| Some((c, elements.get(&c.pointer)?)))
    {
        let (scale, disp) = (element.size, element.place + check.place);
        let ty = m.region.ty(element.number).ty;
        let array = if ty == Ty::I32 { element.array } else { sound(m, element.array) };
        let low = m.inst(Kind::IndexLow { scale, disp, ty }, &[array], Type::uniform(ty));
        let length = m.region_len(array, check.write);
        let span = Kind::IndexSpan { scale, disp, need: check.need, ty };
        let span = m.inst(span, &[array, length], Type::uniform(unsigned(ty)));
        let distance = m.op(Op::Sub, ty, &[element.number, low]);
        let distance = m.cast(Op::Bitcast, distance, unsigned(ty));
        let args = if check.op == Op::Lt { vec![distance, span] } else { vec![span, distance] };
        return Inst { kind: op(check.op, unsigned(ty)), args, result: inst.result };
    }
    match (inst.kind, inst.args.first().and_then(|v| elements.get(v))) {
        (Kind::HostAddress { disp }, Some(element)) => {
            let readable = m.region_len(element.array, false);
            let kind = Kind::HostAddress { disp: disp + element.place };
            let base = m.inst(kind, &[element.array, readable], Type::uniform(Ty::U64));
            let offset = m.cast(Op::Bitcast, element.offset, Ty::U64);
            Inst { kind: op(Op::Add, Ty::U64), args: vec![base, offset], result: inst.result }
        }
        _ => inst,
    }
}

/// The pointer, or null if it is poison.
fn sound(m: &mut Maker<'_>, pointer: Value) -> Value {
    // Of the poison offset the highest bit is the only one.
    let offset = m.with(Op::Shl, Ty::U64, pointer, 64 - u64::from(OFFSET_BITS));
    let poison = m.constant(Ty::U64, 1 << 63);
    let is_poison = m.op(Op::Eq, Ty::U64, &[offset, poison]);
    let null = m.constant(Ty::U64, 0);
    let select = Kind::Op { op: Op::Select, ty: Ty::U64, from: Ty::U64 };
    m.inst(select, &[is_poison, null, pointer], Type::uniform(Ty::U64))
}
