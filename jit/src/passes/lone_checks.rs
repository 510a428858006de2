//! Checks of bounds by pointers that are checked for one index only take fewer instructions.
//!
//! A check is `index - low <u span`: both bounds depend on the pointer alone, so they leave loops that do not change
//! it, and serve many indices. Of a pointer that a round loads or computes, and accesses in one place, both bounds
//! would be computed for one comparison. Here the check becomes what it says: with `at = offset + index` and the
//! access's bytes `need`, neither `at` nor `length - need - at` is negative, which is one question about the sign of
//! `at | length - need - at`. A host address that the block asks for then is the region's beginning plus the same
//! offset.
//!
//! Rules: an index that is a constant, of 64 bits, and by single bytes, so that the bounds are nowhere near an end of
//! its type: `low` is minus the offset, `span` is `length - need + 1`, or 0 if that is negative. So `index - low` is
//! below `span` as an unsigned number if and only if it is from 0 to `length - need`. Offsets have 40 bits, lengths and
//! all that is constant fewer than 62, so nothing wraps. Both bounds stand in the block of the comparison, and nothing
//! else uses them. Runs after the passes that look for checks.

use super::defs::{Def, Defs};
use super::make::Maker;
use crate::ir::{Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;
use std::collections::{HashMap, HashSet};

/// Distances below this cannot make an offset wrap.
const FARTHEST: u64 = 1 << 61;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let is_span = |inst: &Inst| matches!(inst.kind, Kind::IndexSpan { scale: 1, ty: Ty::I64, .. });
    if !region.blocks.iter().flat_map(|block| &block.insts).any(is_span) {
        return;
    }
    let (defs, uses) = (Defs::of(region), uses(region));
    for b in 0..region.blocks.len() {
        let insts = std::mem::take(&mut region.blocks[b].insts);
        let mut offsets = HashMap::new();
        let mut here = HashSet::new();
        let mut new = Vec::with_capacity(insts.len());
        for inst in insts {
            here.extend(inst.result);
            let check = Check::of(&defs, &inst).filter(|check| {
                let is_lone = |v: Value| here.contains(&v) && uses[v.index()] == 1;
                is_lone(check.low) && is_lone(check.span)
            });
            let mut m = Maker { region, to: &mut new };
            let inst = match (check, inst.kind) {
                (Some(check), _) => check.made(&mut m, inst, &mut offsets),
                (None, Kind::HostAddress { disp }) => host_address(&mut m, inst, disp, &offsets),
                _ => inst,
            };
            new.push(inst);
        }
        region.blocks[b].insts = new;
    }
}

/// By value: how often it is used.
fn uses(region: &Region) -> Vec<u32> {
    let mut uses = vec![0; region.types.len()];
    for b in 0..region.blocks.len() as u32 {
        region.each_use(crate::ir::BlockId(b), |v| uses[v.index()] += 1);
    }
    uses
}

/// A check of bounds.
struct Check {
    pointer: Value,
    len: Value,
    low: Value,
    span: Value,
    /// From the pointer to what is accessed.
    distance: i64,
    need: u32,
}

impl Check {
    /// The check that a comparison is, if it is one by single bytes.
    fn of(defs: &Defs, inst: &Inst) -> Option<Check> {
        let Kind::Op { op: Op::Lt, ty: Ty::U64, .. } = inst.kind else { return None };
        let (distance, span) = (inst.args[0], inst.args[1]);
        let bounds = defs.get(span)?;
        let Kind::IndexSpan { scale: 1, disp, need, ty: Ty::I64 } = bounds.kind else { return None };
        let distance: Def = defs.as_op(distance, Op::Bitcast).and_then(|cast| defs.as_op(cast.arg(0), Op::Sub))?;
        let (index, low) = (defs.known(distance.arg(0))? as i64, distance.arg(1));
        let least = defs.get(low).filter(|least| least.arg(0) == bounds.arg(0))?;
        let is_same = least.kind == Kind::IndexLow { scale: 1, disp, ty: Ty::I64 };
        let near = |distance: i64| distance.unsigned_abs() < FARTHEST;
        let distance = disp.checked_add(index).filter(|&distance| near(disp) && near(distance))?;
        is_same.then_some(Check { pointer: bounds.arg(0), len: bounds.arg(1), low, span, distance, need })
    }

    /// What is compared instead.
    fn made(&self, m: &mut Maker<'_>, inst: Inst, offsets: &mut HashMap<Value, Value>) -> Inst {
        let offset = *offsets.entry(self.pointer).or_insert_with(|| offset_of(m, self.pointer));
        let at = if self.distance == 0 { offset } else { m.with(Op::Add, Ty::I64, offset, self.distance as u64) };
        let len = m.cast(Op::Bitcast, self.len, Ty::I64);
        let last = m.with(Op::Sub, Ty::I64, len, self.need.into());
        let left = m.op(Op::Sub, Ty::I64, &[last, at]);
        let both = m.op(Op::Or, Ty::I64, &[at, left]);
        let zero = m.constant(Ty::I64, 0);
        Inst { kind: Kind::Op { op: Op::Ge, ty: Ty::I64, from: Ty::I64 }, args: vec![both, zero], ..inst }
    }
}

/// The signed offset of a pointer.
fn offset_of(m: &mut Maker<'_>, pointer: Value) -> Value {
    let above = 64 - u64::from(OFFSET_BITS);
    let bits = m.cast(Op::Bitcast, pointer, Ty::I64);
    let upper = m.with(Op::Shl, Ty::I64, bits, above);
    m.with(Op::Shr, Ty::I64, upper, above)
}

/// A host address, from the offset if that has been made.
fn host_address(m: &mut Maker<'_>, inst: Inst, disp: i64, offsets: &HashMap<Value, Value>) -> Inst {
    let Some(&offset) = offsets.get(&inst.args[0]) else { return inst };
    let base = m.inst(Kind::RegionBase, &inst.args, Type::uniform(Ty::U64));
    let offset = m.cast(Op::Bitcast, offset, Ty::U64);
    let base = if disp == 0 { base } else { m.with(Op::Add, Ty::U64, base, disp as u64) };
    Inst { kind: Kind::Op { op: Op::Add, ty: Ty::U64, from: Ty::U64 }, args: vec![base, offset], ..inst }
}
