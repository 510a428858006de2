//! What back ends ask about gathers.

use crate::ir::{Block, Kind, Value};
use spmdvm_vm::types::Ty;

/// Returns whether an address can be made of a base and an index by an instruction's own addition.
pub(crate) fn fits(index: Ty, scale: u32) -> bool {
    index.size() == 4 && matches!(scale, 1 | 2 | 4 | 8)
}

/// The least index in bounds for a base that a block computes, if it computes that too: where there is an index in bounds at all,
/// this one is.
pub(crate) fn least_index(block: &Block, base: Value, scale: u32, index: Ty) -> Option<Value> {
    let address = block.insts.iter().find(|inst| inst.result == Some(base))?;
    let Kind::HostAddress { disp } = address.kind else { return None };
    let least = Kind::IndexLow { scale, disp, ty: index };
    // Both depend on the pointer alone, so they have been moved to the same block.
    block.insts.iter().find(|inst| inst.kind == least && inst.args == address.args)?.result
}
