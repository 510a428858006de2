//! Leaving a region: registers go to the frames, masks to the words.

use super::meaning::{bits_of, write_element};
use crate::ir::{ExitId, Region, Value};
use spmdvm_vm::interp::native::{Context, ENTRY_WORDS};

/// Writes the state that an exit describes.
///
/// # Safety
/// The frames have the registers and the memory that the exit names, and [`Context::words`] room for its masks.
pub(super) unsafe fn write<'a>(region: &Region, exit: ExitId, context: &Context, value: impl Fn(Value) -> &'a [u64]) {
    let mut words = Vec::new();
    for frame in &region.exits[exit.index()].frames {
        for reg in &frame.regs {
            let held = value(reg.value);
            let lanes = if reg.ty.is_varying() { region.width.lanes() } else { 1 };
            for lane in 0..lanes {
                let at = frame.at as usize + reg.at as usize + lane * reg.ty.ty.size();
                // SAFETY: the caller's promise: the register lies in the frame and has this lane.
                unsafe { write_element(reg.ty.ty, context.base.add(at), held[lane % held.len()]) };
            }
        }
        words.push(bits_of(value(frame.mask)));
        words.push(frame.memory.map_or(0, |v| value(v)[0]));
        for entry in &frame.entries {
            let visiting = entry.visiting.map_or(0, |v| value(v)[0]);
            let entry: [u64; ENTRY_WORDS] = [bits_of(value(entry.restore)), bits_of(value(entry.other)), visiting];
            words.extend(entry);
        }
    }
    for &(cell, v) in &region.exits[exit.index()].cells {
        let lanes = if cell.ty.is_varying() { region.width.lanes() } else { 1 };
        for (lane, &word) in value(v).iter().enumerate().take(lanes) {
            let at = context.memory_base.wrapping_add(cell.at as usize + lane * cell.ty.ty.size());
            // SAFETY: the caller's promise: the cell lies in the memory of a frame that there is.
            unsafe { write_element(cell.ty.ty, at, word) };
        }
    }
    for (i, &word) in words.iter().enumerate() {
        // SAFETY: the caller's promise.
        unsafe { context.words.add(i).write(word) };
    }
}
