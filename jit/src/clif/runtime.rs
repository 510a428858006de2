//! What native code calls.

use super::general::General;
use crate::exec_ir::meaning::{read_element, write_element};
use spmdvm_vm::interp::native::Context;

/// A function that native code calls, by address.
pub(super) type Address = i64;

/// Where [`general`] is.
pub(super) fn general_address() -> Address {
    general as *const () as Address
}

/// Where [`poll`] is.
pub(super) fn poll_address() -> Address {
    poll as *const () as Address
}

/// Executes an instruction by its meaning. Operands lie in `scratch` as [`General`] says, lane after lane, and so will the
/// result. Gives 0 if the instruction leaves by its exit.
///
/// # Safety
/// Called by native code that was compiled for this instruction; else as
/// [`Meaning::execute`](crate::exec_ir::meaning::Meaning::execute).
unsafe extern "C" fn general(context: *mut Context, general: *const General, scratch: *mut u8) -> u32 {
    // SAFETY: the caller's promise: `general` lives as long as the code, `scratch` holds what it says.
    unsafe {
        let general = &*general;
        let mut words = [[0u64; 64]; 4];
        for ((operand, ty), words) in general.operands.iter().zip(&general.meaning.args).zip(&mut words) {
            for (lane, word) in words.iter_mut().enumerate().take(operand.lanes) {
                *word = read_element(ty.ty, scratch.add(operand.at + lane * ty.ty.size()));
            }
        }
        let mut args: [&[u64]; 4] = [&[]; 4];
        for ((arg, words), operand) in args.iter_mut().zip(&words).zip(&general.operands) {
            *arg = &words[..operand.lanes];
        }
        let mut out = [0; 64];
        if !general.meaning.execute(&args[..general.operands.len()], &mut out, &mut *context) {
            return 0;
        }
        if let Some(ty) = general.meaning.result {
            for (lane, &word) in out.iter().enumerate().take(general.meaning.result_lanes()) {
                write_element(ty.ty, scratch.add(general.result_at + lane * ty.ty.size()), word);
            }
        }
        1
    }
}

/// The fuel of the slice is used up; see [`Context::poll`]. Gives 0 if the run must end.
///
/// # Safety
/// The context is the one that native code was entered with.
unsafe extern "C" fn poll(context: *mut Context) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (*context).poll() as u32 }
}
