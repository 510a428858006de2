//! What native code calls.

use super::{BASE_AT, Checked, General};
use crate::exec_ir::meaning::{read_element, write_element};
use spmdvm_vm::interp::native::{Context, Operand};
use spmdvm_vm::program::FuncId;
use std::sync::atomic::{AtomicBool, Ordering};

/// A function that native code calls, by address.
pub(crate) type Address = i64;

/// What native code calls: with the context, and up to three words. It gives a word, or 32 bits of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// Executes an instruction by its meaning. Takes the instruction and the scratch memory. Gives 0 if it leaves by its exit.
    General,
    /// A checked load. Takes the access and the scratch memory. Gives 0 if it must leave.
    Load,
    /// A checked store; likewise.
    Store,
    /// Asks for fuel. Takes what tells a baseline version to end, or 0, and how much. Gives 0 if the run must end.
    Poll,
    /// Executes an instruction by the interpreter's handler. Takes the function and the instruction, the frame's offset, a mask. Gives 0 if
    /// it traps.
    Interpret,
    /// Enters the memory of a frame. Takes the function, the frame's offset, and where to put the pointer. Gives 0 if it cannot.
    OpenFrame,
    /// Ends it. Takes the pointer.
    CloseFrame,
    /// Makes the call at which an exit stands, whose state has been written. Takes the exit. Gives 0 if the region is to be left.
    Call,
}

impl Callee {
    /// All, each at the place of its number.
    pub const ALL: [Callee; 8] = [
        Callee::General,
        Callee::Load,
        Callee::Store,
        Callee::Poll,
        Callee::Interpret,
        Callee::OpenFrame,
        Callee::CloseFrame,
        Callee::Call,
    ];

    /// Calls it, for code that is interpreted.
    ///
    /// # Safety
    /// The words are what the code that was compiled for the context would hand over.
    pub unsafe fn call(self, context: *mut Context, words: [u64; 3]) -> u64 {
        let [a, b, c] = words;
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Callee::General => general(context, a as *const General, b as *mut u8).into(),
                Callee::Load => load(context, a as *const Checked, b as *mut u8).into(),
                Callee::Store => store(context, a as *const Checked, b as *mut u8).into(),
                Callee::Poll => poll(context, a as *const AtomicBool, b).into(),
                Callee::Interpret => interpret(context, a, b, c).into(),
                Callee::OpenFrame => open_frame(context, a, b, c as *mut u64).into(),
                Callee::CloseFrame => close_frame(context, a).into(),
                Callee::Call => call(context, a, b).into(),
            }
        }
    }

    /// Where it is, as code calls it: by the platform's convention.
    pub fn address(self) -> i64 {
        let function = match self {
            Callee::General => general as *const (),
            Callee::Load => load as *const (),
            Callee::Store => store as *const (),
            Callee::Poll => poll as *const (),
            Callee::Interpret => interpret as *const (),
            Callee::OpenFrame => open_frame as *const (),
            Callee::CloseFrame => close_frame as *const (),
            Callee::Call => call as *const (),
        };
        function as Address
    }
}

/// Enters the memory of a frame of a function, at an offset from the entered one, and leaves the pointer at `pointer`. Gives 0 if
/// there can be no more regions.
///
/// # Safety
/// The frame has room, and `pointer` too.
unsafe extern "C" fn open_frame(context: *mut Context, function: u64, at: u64, pointer: *mut u64) -> u32 {
    // SAFETY: the caller's promise.
    let (context, pointer) = unsafe { (&mut *context, &mut *pointer) };
    // SAFETY: likewise.
    *pointer = unsafe { context.open_frame(FuncId(function as u32), at as u32) };
    // The interpreter, which does the call, counts its unit of fuel again.
    context.ticks += (*pointer == 0) as i64;
    (*pointer != 0) as u32
}

/// Ends the memory of a frame.
///
/// # Safety
/// The context is the one that native code was entered with.
unsafe extern "C" fn close_frame(context: *mut Context, pointer: u64) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (*context).close_frame(pointer) };
    1
}

/// Makes the call at which an exit stands, in the lanes of a mask if it is of a known function. Gives 0 if the region is to be left by
/// the exit.
///
/// # Safety
/// As for [`CallNatively`](spmdvm_vm::interp::native::CallNatively); the context is the one that the code was entered with.
pub(crate) unsafe extern "C" fn call(context: *mut Context, exit: u64, mask: u64) -> u32 {
    // SAFETY: the caller's promise.
    let context = unsafe { &mut *context };
    // SAFETY: likewise.
    context.call.is_some_and(|call| unsafe { call(context, exit as u32, mask) }).into()
}

/// Executes an instruction (function above, instruction below) by the interpreter's handler. Gives 0 if it traps.
///
/// # Safety
/// Called by native code that was compiled for this instruction; else as [`Context::interpret`].
unsafe extern "C" fn interpret(context: *mut Context, what: u64, at: u64, mask: u64) -> u32 {
    // SAFETY: the caller's promise.
    unsafe { (*context).interpret(FuncId((what >> 32) as u32), what as u32, at as u32, mask) as u32 }
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
        // Most have only uniform operands (they ask about memory), and clearing room for lanes would be half their time.
        if general.is_uniform {
            execute::<1>(context, general, scratch)
        } else {
            execute::<64>(context, general, scratch)
        }
    }
}

/// [`general`], for operands and a result of at most `N` lanes.
///
/// # Safety
/// As for [`general`].
unsafe fn execute<const N: usize>(context: *mut Context, general: &General, scratch: *mut u8) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let mut words = [[0u64; N]; 4];
        for ((operand, ty), words) in general.operands.iter().zip(&general.meaning.args).zip(&mut words) {
            for (lane, word) in words.iter_mut().enumerate().take(operand.lanes) {
                *word = read_element(ty.ty, scratch.add(operand.at + lane * ty.ty.size()));
            }
        }
        let mut args: [&[u64]; 4] = [&[]; 4];
        for ((arg, words), operand) in args.iter_mut().zip(&words).zip(&general.operands) {
            *arg = &words[..operand.lanes];
        }
        let mut out = [0; N];
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

/// The operand of a checked access, and its mask.
///
/// # Safety
/// `scratch` holds what the access says.
unsafe fn operand(checked: &Checked, scratch: *mut u8) -> (Operand, u64) {
    // SAFETY: the caller's promise.
    unsafe {
        let address = &checked.address;
        let operand = Operand {
            ty: checked.ty,
            base: scratch.add(BASE_AT).cast(),
            varying_base: checked.varying_base,
            index_ty: address.index,
            index: scratch.add(checked.index_at),
            varying_index: checked.varying_index,
            scale: address.scale,
            disp: address.disp,
            by_lane: address.by_lane,
        };
        (operand, scratch.cast::<u64>().read())
    }
}

/// A checked load. Gives 0 if it must leave by its exit.
///
/// # Safety
/// Called by native code that was compiled for this access: `scratch` holds its operands and has room for the elements.
unsafe extern "C" fn load(context: *mut Context, checked: *const Checked, scratch: *mut u8) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let checked = &*checked;
        let (operand, mask) = operand(checked, scratch);
        let elements = scratch.add(checked.elements_at);
        if !(*context).load(&operand, mask, elements) {
            return 0;
        }
        if !checked.varying_value {
            // What any active lane has read: they all have the same address.
            let first = mask.trailing_zeros() as usize % checked.width.lanes();
            write_element(checked.ty, elements, read_element(checked.ty, elements.add(first * checked.ty.size())));
        }
        1
    }
}

/// A checked store. Gives 0 if it must leave by its exit.
///
/// # Safety
/// As for [`load`].
unsafe extern "C" fn store(context: *mut Context, checked: *const Checked, scratch: *mut u8) -> u32 {
    // SAFETY: the caller's promise.
    unsafe {
        let checked = &*checked;
        let (operand, mask) = operand(checked, scratch);
        (*context).store(&operand, mask, scratch.add(checked.elements_at), checked.varying_value) as u32
    }
}

/// The slice does not hold so much fuel; see [`Context::poll`]. Gives 0 if the run must end, or baseline code is to.
///
/// # Safety
/// The context is the one that native code was entered with; `retired` is null or lives as long as the code.
unsafe extern "C" fn poll(context: *mut Context, retired: *const AtomicBool, units: u64) -> u32 {
    // SAFETY: the caller's promise.
    let (context, retired) = unsafe { (&mut *context, retired.as_ref()) };
    if retired.is_some_and(|retired| retired.load(Ordering::Relaxed)) {
        // As after a poll that has failed: the interpreter takes the next slice.
        context.ticks = 0;
        return 0;
    }
    context.poll(units) as u32
}
