//! Don't-care lanes: gathers give zeros in inactive lanes; where nobody sees those lanes, they need not.
//!
//! In a body under a mask `m` a gather under `m` feeds arithmetic, and in the end `select m, new, old` keeps what is new in active
//! lanes only. What the other lanes held on the way is lost, so to clear them is in vain: one instruction for every vector that
//! is gathered, in loops that are bound by the number of their instructions.
//!
//! # Rules
//!
//! The inactive lanes of a value are *don't-care* under a mask `m` if each of its uses by an instruction, all in its own block, is one of
//!
//! - `select m, value, other`, as what active lanes get;
//! - `and m, value`, if it is a mask itself;
//! - the index, or what is stored, of a gather, scatter or masked store under `m`;
//! - a pure operation that computes each lane of its result from that lane of its operands, if the result's inactive lanes are
//!   don't-care as well, and no snapshot has that. Divisions of integers are no such operations, for they may not see all operands.
//!
//! A gather under `m` whose inactive lanes are don't-care no longer clears them: what is in them is not specified from here on.
//! Snapshots that have the gathered value get `select m, value, 0` instead: a pure instruction, so back ends make it in the
//! exit. Masks are told by their names: a smaller mask would do as well, but is not looked for.
//!
//! Runs last but for [`dead`](super::dead): no other pass has to know that lanes may hold anything.

use super::licm::definitions;
use super::make::Maker;
use crate::ir::{BlockId, Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// Who sees the inactive lanes of a value, as far as its uses have been looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// There has been no use yet.
    Unused,
    /// Nobody sees those that are not in a mask.
    Within(Value),
    /// Perhaps somebody.
    Perhaps,
}

impl Seen {
    fn and(self, other: Seen) -> Seen {
        match (self, other) {
            (Seen::Unused, x) | (x, Seen::Unused) => x,
            (a, b) if a == b => a,
            _ => Seen::Perhaps,
        }
    }
}

/// Runs the pass.
pub fn run(region: &mut Region) {
    if !region.blocks.iter().flat_map(|b| &b.insts).any(|inst| gathered(inst).is_some()) {
        return;
    }
    let mut lanes = Lanes::of(region);
    for b in 0..region.blocks.len() {
        let insts = std::mem::take(&mut region.blocks[b].insts);
        lanes.look_at(&insts);
        let mut kept = Vec::with_capacity(insts.len());
        for mut inst in insts {
            let found = gathered(&inst).filter(|&(v, _, mask)| lanes.seen[v.index()] == Seen::Within(mask));
            if let Kind::Gather { clears, .. } = &mut inst.kind {
                *clears = found.is_none();
            }
            kept.push(inst);
            if let Some((v, ty, mask)) = found.filter(|f| lanes.in_snapshots[f.0.index()]) {
                let mut m = Maker { region, to: &mut kept };
                let zero = m.constant(ty, 0);
                let select = Kind::Op { op: Op::Select, ty, from: ty };
                lanes.cleared.insert(v, m.inst(select, &[mask, v, zero], Type::varying(ty)));
            }
        }
        region.blocks[b].insts = kept;
    }
    for v in region.exits.iter_mut().flat_map(|exit| exit.values_mut()) {
        *v = lanes.cleared.get(v).copied().unwrap_or(*v);
    }
}

/// What a gather gives, its type, and its mask.
fn gathered(inst: &Inst) -> Option<(Value, Ty, Value)> {
    let Kind::Gather { ty, .. } = inst.kind else { return None };
    inst.result.filter(|_| ty != Ty::Bool).map(|v| (v, ty, inst.args[2]))
}

/// What is known of the inactive lanes of all values.
struct Lanes {
    seen: Vec<Seen>,
    in_snapshots: Vec<bool>,
    varying: Vec<bool>,
    /// What gathers give, and what snapshots get in its place.
    cleared: HashMap<Value, Value>,
}

impl Lanes {
    /// What leaves its block is seen.
    fn of(region: &Region) -> Lanes {
        let home = definitions(region);
        let mut lanes = Lanes {
            seen: vec![Seen::Unused; region.types.len()],
            in_snapshots: vec![false; region.types.len()],
            varying: region.types.iter().map(|ty| ty.is_varying()).collect(),
            cleared: HashMap::new(),
        };
        region.exits.iter().flat_map(|exit| exit.values()).for_each(|v| lanes.in_snapshots[v.index()] = true);
        for (b, block) in region.blocks.iter().enumerate() {
            let used = block.insts.iter().flat_map(|inst| &inst.args);
            let leaving = used.filter(|v| home[v.index()] != BlockId(b as u32));
            let handed = block.end.edges().flat_map(|edge| &edge.args);
            leaving.chain(handed).for_each(|v| lanes.seen[v.index()] = Seen::Perhaps);
        }
        lanes
    }

    /// Looks at the uses in a block, the last first.
    fn look_at(&mut self, insts: &[Inst]) {
        for inst in insts.iter().rev() {
            let of_result = inst.result.map_or(Seen::Perhaps, |v| match self.in_snapshots[v.index()] {
                true => Seen::Perhaps,
                false => self.seen[v.index()],
            });
            for (i, &v) in inst.args.iter().enumerate() {
                self.seen[v.index()] = self.seen[v.index()].and(self.by(inst, i, of_result));
            }
        }
    }

    /// How an instruction sees the inactive lanes of an argument.
    fn by(&self, inst: &Inst, i: usize, of_result: Seen) -> Seen {
        let within = |mask: usize| match self.varying[inst.args[mask].index()] {
            true => Seen::Within(inst.args[mask]),
            false => Seen::Perhaps,
        };
        match (inst.kind, i) {
            (Kind::Op { op: Op::Select, .. }, 1) => within(0),
            (Kind::Op { op: Op::And, ty: Ty::Bool, .. }, _) => within(1 - i),
            (Kind::Gather { .. }, 1) => within(2),
            (Kind::Scatter { .. }, 1 | 2) => within(3),
            (Kind::StoreMasked { .. } | Kind::StorePacked { .. }, 1) => within(2),
            (Kind::Op { op, .. }, _) if is_by_lane(op) => of_result,
            _ => Seen::Perhaps,
        }
    }
}

/// Returns whether an operation computes each lane from that lane of its operands, whatever they are.
pub(super) fn is_by_lane(op: Op) -> bool {
    let by_form = matches!(op.info().form, Form::Unary | Form::Binary | Form::Ternary | Form::Compare);
    by_form || matches!(op, Op::Select | Op::Convert | Op::Bitcast)
}
