//! What back ends ask about gathers.

use super::{Definition, Values};
use crate::ir::{Block, Inst, Kind, Value};
use spmdvm_vm::types::Ty;

/// Most gathers that are translated together: each needs a register for its base.
const MOST: usize = 3;

/// A gather whose index fits an address.
#[derive(Clone, Copy)]
pub(crate) struct Gather {
    pub ty: Ty,
    pub base: Value,
    /// The index, and its type.
    pub at: Value,
    pub index: Ty,
    pub scale: u32,
    /// Whether inactive lanes give 0.
    pub clears: bool,
    pub result: Value,
}

impl Gather {
    /// An instruction, if it is a gather whose index [`fits`].
    pub fn of(inst: &Inst) -> Option<Gather> {
        let Kind::Gather { ty, index, scale, clears } = inst.kind else { return None };
        let result = inst.result.filter(|_| fits(index, scale))?;
        Some(Gather { ty, base: inst.args[0], at: inst.args[1], index, scale, clears, result })
    }

    /// The gather `first`, which `inst` is, and those that follow it with the same index and mask, with nothing but pure instructions
    /// between, if they are wanted.
    pub fn group(values: &Values<'_>, inst: &Inst, first: Gather, wanted: impl Fn(&Gather) -> bool) -> Vec<Gather> {
        let mut group = vec![first];
        let Definition::Inst(block, at) = values.definition(first.result) else { return group };
        let is_before = |v: Value| !matches!(values.definition(v), Definition::Inst(b, i) if b == block && i > at);
        for next in &values.region.block(block).insts[at + 1..] {
            let same = Gather::of(next).filter(|g| next.args[1..] == inst.args[1..] && g.index == first.index);
            match same {
                Some(g) if is_before(g.base) && wanted(&g) && group.len() < MOST => group.push(g),
                _ if next.kind.is_pure() || matches!(next.kind, Kind::Gather { .. }) => {}
                _ => break,
            }
        }
        group
    }
}

/// Returns whether an address can be made of a base and an index by an instruction's own addition.
pub(crate) fn fits(index: Ty, scale: u32) -> bool {
    index.size() == 4 && matches!(scale, 1 | 2 | 4 | 8)
}

/// The least index in bounds for a base that a block computes, if it computes that too: where there is an index in bounds at all,
/// this one is.
pub(super) fn least_index(block: &Block, base: Value, scale: u32, index: Ty) -> Option<Value> {
    let address = block.insts.iter().find(|inst| inst.result == Some(base))?;
    let Kind::HostAddress { disp } = address.kind else { return None };
    let least = Kind::IndexLow { scale, disp, ty: index };
    // Both depend on the pointer alone, so they have been moved to the same block.
    block.insts.iter().find(|inst| inst.kind == least && inst.args[0] == address.args[0])?.result
}
