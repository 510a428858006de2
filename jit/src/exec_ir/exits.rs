//! Leaving a region: registers go to the frames, masks to the words.

use super::meaning::{bits_of, write_element};
use crate::ir::{ExitId, Region, Value};
use crate::lowering::{Area, ExitValue, exit_writes};
use spmdvm_vm::interp::native::Context;

/// Writes the state that an exit describes.
///
/// # Safety
/// The frames have the registers and the memory that the exit names, and [`Context::words`] room for its masks.
pub(super) unsafe fn write<'a>(region: &Region, exit: ExitId, context: &Context, value: impl Fn(Value) -> &'a [u64]) {
    for write in exit_writes(region, exit) {
        let base = match write.area {
            Area::Frame => context.base,
            Area::Words => context.words.cast(),
            Area::Memory => context.memory_base,
        };
        let to = base.wrapping_add(write.at as usize);
        let word = match write.what {
            ExitValue::Value(ty, v) => {
                let held = value(v);
                let lanes = if ty.is_varying() { region.width.lanes() } else { 1 };
                for lane in 0..lanes {
                    let to = to.wrapping_add(lane * ty.ty.size());
                    // SAFETY: the caller's promise: the register lies in a frame, or the cell in memory, and has this lane.
                    unsafe { write_element(ty.ty, to, held[lane % held.len()]) };
                }
                continue;
            }
            ExitValue::MaskBits(v) => bits_of(value(v)),
            ExitValue::Word(v) => value(v)[0],
            ExitValue::Zero => 0,
        };
        // SAFETY: the caller's promise.
        unsafe { to.cast::<u64>().write_unaligned(word) };
    }
}
