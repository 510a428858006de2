//! Leaving a region: registers go to the frames, masks to the words.

use super::meaning::{bits_of, write_element};
use crate::ir::{ExitId, Region, Type, Value};
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
                // SAFETY: the caller's promise: the register lies in a frame, or the cell in memory.
                unsafe { write_register(to, ty, value(v), region.width.lanes()) };
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

/// Writes a value to a register of a type, which may vary although the value does not.
///
/// # Safety
/// The register has as many lanes.
pub(super) unsafe fn write_register(to: *mut u8, ty: Type, value: &[u64], lanes: usize) {
    for lane in 0..if ty.is_varying() { lanes } else { 1 } {
        let to = to.wrapping_add(lane * ty.ty.size());
        // SAFETY: the caller's promise.
        unsafe { write_element(ty.ty, to, value[lane % value.len()]) };
    }
}
