//! Blends by the instruction that makes what is blended.

use super::X86;
use super::inst::Arg;
use super::level::Level;
use super::select::Select;
use crate::ir::{Inst, Kind, Value};
use crate::lowering::Definition;
use crate::vcode::{Inst as Machine, Location};
use regalloc2::VReg;
use spmdvm_vm::isa::Op;

impl<L: Level> Select<'_, L> {
    /// If all that becomes of a result is to be blended, `select(mask, result, before)`, the instruction that has made it does that
    /// itself: it writes the lanes of the mask only, in the place of what was there before.
    pub(super) fn merge(&mut self, inst: &Inst) {
        let Some(v) = inst.result.filter(|&v| can_merge(inst.kind) && self.demand.is_used_once(v)) else { return };
        let Definition::Inst(block, at) = self.values.definition(v) else { return };
        let later = &self.region.block(block).insts[at + 1..];
        let blend = later.iter().find(|next| next.args.contains(&v));
        let Some((blend, result)) = blend.and_then(|blend| Some((blend, blend.result?))) else { return };
        let is_select = matches!(blend.kind, Kind::Op { op: Op::Select, .. }) && blend.args[1] == v;
        // A condition for all lanes is in no mask.
        let is_select = is_select && self.region.ty(blend.args[0]).is_varying();
        if !is_select || blend.args[2] == v || !self.demand.is_demanded(result) {
            return;
        }
        // With AVX2, a blend by a mask that is known is made by itself, of what has been made.
        if !L::HAS_MASKS && self.values.mask_bits(blend.args[0]).is_some() {
            return;
        }
        let place = |v: Value| &self.locations[v.index()];
        let (Location::One(mask), Location::Pieces(before), Location::Pieces(pieces)) =
            (place(blend.args[0]).clone(), place(blend.args[2]).clone(), place(v).clone())
        else {
            return;
        };
        let ([before], [made]) = (&before[..], &pieces[..]) else { return };
        if self.code.insts.last().is_none_or(|last| !makes(last, *made, *before)) {
            return;
        }
        let Some(Machine::Plain(mut plain)) = self.code.pop() else { return };
        let (to, form) = (self.code.vector(), self.form(self.region.ty(v).ty.size()));
        plain.args[0] = Some(Arg::Tied { from: *before, to, form });
        plain.mask = Some(mask);
        self.code.push(Machine::Plain(plain));
        self.locations[result.index()] = Location::Pieces(vec![to]);
        self.locations[v.index()] = Location::Nowhere;
    }
}

/// Returns whether the last machine instruction of an operation is one that can write some lanes only.
fn can_merge(kind: Kind) -> bool {
    use Op::{Add, And, FDiv, Fma, Max, Min, Mul, Or, Shl, Shr, Sqrt, Sub, Xor};
    let Kind::Op { op, ty, .. } = kind else { return false };
    // Bits of smaller lanes are combined in lanes of 32 bits.
    ty.size() >= 4 && matches!(op, Add | Sub | Mul | FDiv | Min | Max | Fma | Sqrt | And | Or | Xor | Shl | Shr)
}

/// Returns whether an instruction makes a vector, of nothing that it overwrites but `before`.
fn makes<L: Level>(inst: &Machine<X86<L>>, made: VReg, before: VReg) -> bool {
    let Machine::Plain(plain) = inst else { return false };
    plain.mask.is_none()
        && match plain.args[0] {
            Some(Arg::Def(to, _)) => to == made,
            Some(Arg::Tied { from, to, .. }) => to == made && from == before,
            _ => false,
        }
}
