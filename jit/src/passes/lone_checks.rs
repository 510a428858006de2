//! Checks of bounds by pointers that are checked for one index only take fewer instructions.
//!
//! A check is `index - low <u span`: both bounds depend on the pointer alone, so they leave loops that do not change
//! it, and serve many indices. Of a pointer that a round loads or computes, and accesses in one place, or outside of loops,
//! both bounds would be computed for one comparison. Here the check becomes what it says: with `at = offset + disp +
//! index*scale` and the access's bytes `need`, neither `at` nor `length - need - at` is negative, which is one question about
//! the sign of `at | length - need - at`. A host address that the block asks for then is the region's beginning plus the same
//! offset. If the neighbours up to `index + n` are to be in bounds as well (`span - n`), `need` is `n*scale` more.
//!
//! Rules: the index is uniform, and has 32 bits or is a constant. Offsets have 40 bits, lengths and `index*scale` fewer than
//! 62, and so has all that is constant, so nothing wraps. A span has no index above the type's maximum less
//! [`SPARE_INDICES`]. Where only bytes of the element `index` are asked for that makes no difference, for such an index is
//! in bounds if they are; else others have been counted from it, and `most - index` is the third that must not be negative.
//! Both bounds stand in the block of the comparison, and nothing else uses them. Runs after the passes that look for checks.

use super::defs::{Def, Defs};
use super::make::Maker;
use crate::ir::{Inst, Kind, Region, SPARE_INDICES, Type, Value, unsigned};
use crate::lowering::ends;
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;
use std::collections::{HashMap, HashSet};

/// Distances below this cannot make an offset wrap.
const FARTHEST: i64 = 1 << 61;

/// Greatest distance of elements whose number is not known.
const LARGEST: i64 = 1 << 24;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let is_span = |inst: &Inst| matches!(inst.kind, Kind::IndexSpan { .. });
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
            let check = Check::of(region, &defs, &inst).filter(|check| {
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
    index: Index,
    /// From the pointer to what is accessed at index 0.
    disp: i64,
    need: i64,
    /// The greatest index, if that is to be looked at.
    most: Option<i64>,
}

/// The index that is checked.
enum Index {
    /// Bytes between elements, and the number of one.
    Of(i64, Value),
    /// None that is not counted in the displacement.
    Constant,
}

impl Check {
    /// The check that a comparison is.
    fn of(region: &Region, defs: &Defs, inst: &Inst) -> Option<Check> {
        let Kind::Op { op: Op::Lt, ty: compared, .. } = inst.kind else { return None };
        if region.ty(inst.result?).is_varying() {
            return None;
        }
        let (span, more) = less(defs, inst.args[1]);
        let bounds = defs.get(span)?;
        let Kind::IndexSpan { scale, disp, need, ty: ty @ (Ty::I32 | Ty::U32 | Ty::I64) } = bounds.kind else {
            return None;
        };
        let distance = match ty == compared {
            true => inst.args[0],
            false => defs.as_op(inst.args[0], Op::Bitcast)?.arg(0),
        };
        let distance: Def = defs.as_op(distance, Op::Sub).filter(|_| unsigned(ty) == compared)?;
        let (index, low) = (distance.arg(0), distance.arg(1));
        let least = defs.get(low).filter(|least| least.arg(0) == bounds.arg(0))?;
        if least.kind != (Kind::IndexLow { scale, disp, ty }) {
            return None;
        }
        let scale = i64::from(scale);
        let need = i64::from(need).checked_add(scale.checked_mul(more)?).filter(|&need| need < FARTHEST)?;
        let is_near = |distance: i64| distance.unsigned_abs() < FARTHEST as u64;
        let is_within = disp >= 0 && disp.checked_add(need).is_some_and(|end| end <= scale);
        let most = ends(ty).1 - SPARE_INDICES - more;
        let (index, disp, most) = match defs.known(index) {
            Some(bits) => {
                let index = if ty == Ty::I32 { i64::from(bits as i32) } else { bits as i64 };
                // Of more than 32 bits nobody asks, and what is counted from an index near their end is not known here.
                let is_certain = if ty.size() == 4 { is_within || index <= most } else { (scale, more) == (1, 0) };
                let disp = disp.checked_add(index.checked_mul(scale)?).filter(|&at| is_near(at) && is_near(disp))?;
                (Index::Constant, is_certain.then_some(disp)?, None)
            }
            None if ty.size() == 4 && scale <= LARGEST => (Index::Of(scale, index), disp, (!is_within).then_some(most)),
            None => return None,
        };
        let check = Check { pointer: bounds.arg(0), len: bounds.arg(1), low, span, index, disp, need, most };
        is_near(disp).then_some(check)
    }

    /// What is compared instead.
    fn made(&self, m: &mut Maker<'_>, inst: Inst, offsets: &mut HashMap<Value, Value>) -> Inst {
        let offset = *offsets.entry(self.pointer).or_insert_with(|| offset_of(m, self.pointer));
        let mut at = if self.disp == 0 { offset } else { m.with(Op::Add, Ty::I64, offset, self.disp as u64) };
        let mut index = None;
        if let Index::Of(scale, value) = self.index {
            let wide = m.cast(Op::Convert, value, Ty::I64);
            let bytes = m.with(Op::Mul, Ty::I64, wide, scale as u64);
            at = m.op(Op::Add, Ty::I64, &[at, bytes]);
            index = Some(wide);
        }
        let len = m.cast(Op::Bitcast, self.len, Ty::I64);
        let last = m.with(Op::Sub, Ty::I64, len, self.need as u64);
        let left = m.op(Op::Sub, Ty::I64, &[last, at]);
        let mut all = m.op(Op::Or, Ty::I64, &[at, left]);
        if let (Some(index), Some(most)) = (index, self.most) {
            let most = m.constant(Ty::I64, most as u64);
            let below = m.op(Op::Sub, Ty::I64, &[most, index]);
            all = m.op(Op::Or, Ty::I64, &[all, below]);
        }
        let zero = m.constant(Ty::I64, 0);
        Inst { kind: Kind::Op { op: Op::Ge, ty: Ty::I64, from: Ty::I64 }, args: vec![all, zero], ..inst }
    }
}

/// The span of which a value is the rest when the last indices are left out, and how many of them. What has none left has
/// none to begin with.
fn less(defs: &Defs, v: Value) -> (Value, i64) {
    let rest = || {
        let rest = defs.as_op(v, Op::Sub)?;
        let (many, n) = (defs.as_op(rest.arg(0), Op::Max)?, defs.known(rest.arg(1))?);
        (defs.known(many.arg(1)) == Some(n)).then_some((many.arg(0), i64::try_from(n).ok()?))
    };
    rest().unwrap_or((v, 0))
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
