//! Where what is spilled lies in the frame.
//!
//! Machines reach what lies near the stack pointer by short instructions: x86 takes three bytes more for what is 128 bytes away.
//! So slots of one word come first, those before others that most instructions access, of blocks that are not cold; vectors, which take
//! more room and whose places are counted in their size, lie behind them. A slot that nobody accesses any more has no place.

use super::Target;
use super::code::VCode;
use regalloc2::{Allocation, Block, Edit, Function, InstOrEdit, Output, RegClass, SpillSlot};
use std::cmp::Reverse;

/// A slot that is accessed.
#[derive(Clone, Copy)]
struct Used {
    class: RegClass,
    times: u32,
}

/// Moves the slots to where they lie best.
pub(super) fn arrange<T: Target>(code: &VCode<T>, output: &mut Output) {
    let Some(used) = used(code, output) else { return };
    let words = |class| T::spill_slots(class);
    let mut order: Vec<(usize, Used)> =
        used.into_iter().enumerate().filter_map(|(slot, used)| Some((slot, used?))).collect();
    order.sort_by_key(|&(slot, used)| (words(used.class), Reverse(used.times), slot));
    let mut places = vec![None; output.num_spillslots];
    let mut end = 0usize;
    for (slot, Used { class, .. }) in order {
        let at = end.next_multiple_of(words(class));
        places[slot] = Some(SpillSlot::new(at));
        end = at + words(class);
    }
    output.num_spillslots = end;
    let place = |a: Allocation| match a.as_stack() {
        Some(slot) => places[slot.index()].map_or(a, Allocation::stack),
        None => a,
    };
    for (_, Edit::Move { from, to }) in &mut output.edits {
        (*from, *to) = (place(*from), place(*to));
    }
    for a in &mut output.allocs {
        *a = place(*a);
    }
}

/// The slots, as far as they are accessed. `None` if it is not known how large one of them is.
fn used<T: Target>(code: &VCode<T>, output: &Output) -> Option<Vec<Option<Used>>> {
    let mut used: Vec<Option<Used>> = vec![None; output.num_spillslots];
    let mut note = |a: Allocation, class, times| {
        if let Some(slot) = a.as_stack() {
            used[slot.index()].get_or_insert(Used { class, times: 0 }).times += times;
        }
    };
    for block in 0..code.num_blocks() {
        let once = u32::from(!code.cold[block]);
        for step in output.block_insts_and_edits(code, Block::new(block)) {
            match step {
                InstOrEdit::Edit(Edit::Move { from, to }) => {
                    let class = from.as_reg().or(to.as_reg())?.class();
                    note(*from, class, once);
                    note(*to, class, once);
                }
                InstOrEdit::Inst(inst) => {
                    // What exits write is not written here.
                    let once = if code.leaves(inst) { 0 } else { once };
                    for (operand, &a) in code.inst_operands(inst).iter().zip(output.inst_allocs(inst)) {
                        note(a, operand.class(), once);
                    }
                }
            }
        }
    }
    Some(used)
}
