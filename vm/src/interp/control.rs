//! Handlers of calls and returns.

use super::code::{CallSite, PreparedFunction, RegSlot, Step};
use super::elementwise::Kernel;
use super::lanes::get;
use super::native;
use super::thread::{Frame, Thread};
use crate::program::FuncId;
use crate::trap::{Trap, TrapDetail, TrapKind};
use crate::types::Shape;
use std::ptr::null;

/// Writes the constants of a function to a frame of it.
///
/// # Safety
/// All of the frame lies in the stack.
#[inline(always)]
pub(super) unsafe fn write_constants(f: &PreparedFunction, base: *mut u8) {
    for (i, &bits) in f.constants.iter().enumerate() {
        // Volatile, or the loop becomes a call of what copies bytes, which takes longer than to write the few that there are.
        // SAFETY: the caller's promise: registers of a frame begin with the constants, eight bytes each.
        unsafe { base.cast::<u64>().add(i).write_volatile(bits) };
    }
}

/// Enters a function whose parameters are at `base + PreparedFunction::params` already: constants, memory, mask stack.
/// Gives its first step; or a trap, if there can be no more regions or the run must end.
///
/// # Safety
/// `function` belongs to the thread's code and a frame of it fits at `base` (see [`fits`]).
pub(crate) unsafe fn enter(
    t: &mut Thread,
    function: *const PreparedFunction,
    base: *mut u8,
) -> Result<*const Step, Trap> {
    // SAFETY: the caller's promise: all of the frame lies in the stack.
    unsafe {
        let f = &*function;
        write_constants(f, base);
        t.region = 0;
        if f.memory_bytes != 0 {
            t.region = enter_memory(t, f, base)?;
        }
        t.base = base;
        t.function = function;
        t.floor = t.masks.len();
        t.masks.reserve(f.mask_depth);
        Ok(f.steps.as_ptr())
    }
}

/// Enters the memory of a frame of the function at `base`, zeroed. Gives its region; or a trap, if there can be no more or the run
/// must end.
///
/// # Safety
/// As for [`enter`].
pub(super) unsafe fn enter_memory(t: &mut Thread, f: &PreparedFunction, base: *mut u8) -> Result<u32, Trap> {
    // SAFETY: the caller's promise: all of the frame lies in the stack.
    unsafe {
        let memory = t.memory_base(base).add(f.memory_at);
        let cleared = t.fill_in_pieces(memory, 0, f.memory_bytes as usize);
        cleared.map_err(|end| Trap::new(end, TrapDetail::None))?;
        let region = t.memory.map_frame(memory, f.memory_bytes);
        region.ok_or_else(|| t.memory.out_of_memory())
    }
}

/// Returns whether there is room for a frame of the function at `base`.
pub(crate) fn fits(t: &Thread, function: &PreparedFunction, base: *mut u8) -> bool {
    t.stack.left(base) >= function.frame_bytes && t.frames.len() + t.hidden < t.max_depth
}

/// Copies registers between frames.
///
/// # Safety
/// Both places lie in frames within the stack, have the same shape and type, and the frames do not overlap.
#[inline(always)]
pub(super) unsafe fn copy(to_base: *mut u8, to: &RegSlot, from_base: *const u8, from: &RegSlot) {
    // SAFETY: the caller's promise.
    unsafe {
        let (to, at) = (to_base.add(to.at as usize), from_base.add(from.at as usize));
        if from.shape == Shape::Uniform {
            // Not more than has been written: the processor waits where it reads what several stores have left.
            match from.ty.size() {
                4 => to.cast::<u32>().write(at.cast::<u32>().read()),
                _ => to.cast::<u64>().write(at.cast::<u64>().read()),
            }
            return;
        }
        // To call what copies any number of bytes takes longer than to copy those of a register, as a rule.
        match from.size {
            16 => to.cast::<[u8; 16]>().write(at.cast::<[u8; 16]>().read()),
            32 => to.cast::<[u8; 32]>().write(at.cast::<[u8; 32]>().read()),
            64 => to.cast::<[u8; 64]>().write(at.cast::<[u8; 64]>().read()),
            size => std::ptr::copy_nonoverlapping(at, to, size as usize),
        }
    }
}

/// Copies as many registers as there are, one after another.
///
/// # Safety
/// As for [`copy`], of each pair.
#[inline(always)]
unsafe fn copy_all(to_base: *mut u8, to: &[RegSlot], from_base: *const u8, from: &[RegSlot]) {
    // A plain loop: of short iterators what is called takes longer than what it does.
    let mut i = 0;
    while let (Some(to), Some(from)) = (to.get(i), from.get(i)) {
        // SAFETY: the caller's promise.
        unsafe { copy(to_base, to, from_base, from) };
        i += 1;
    }
}

/// Copies the results of a function that has returned, with its frame at `callee_base`, to where the call at `pc` wants them.
///
/// # Safety
/// The call is of that function, and both frames lie in the stack, which nothing has been done to since.
pub(super) unsafe fn copy_results(
    caller: &PreparedFunction,
    pc: u32,
    base: *mut u8,
    callee: &PreparedFunction,
    callee_base: *const u8,
) {
    let site = caller.call_site(pc);
    // SAFETY: the caller's promise.
    unsafe { copy_all(base, &site.rets, callee_base, &callee.results) };
}

/// Calls `callee` from the call site `site` at `step`.
///
/// # Safety
/// The contract of handlers; the callee's signature is the site's.
#[inline(always)]
unsafe fn call<const TRACED: bool>(
    t: &mut Thread,
    step: *const Step,
    site: &CallSite,
    callee: *const PreparedFunction,
) -> *const Step {
    // SAFETY: it belongs to the thread's code.
    if !t.charge(step, unsafe { (*callee).fuel }) {
        return null();
    }
    // SAFETY: the caller's frame lies in the stack, so its end is at most the stack's; `fits` checks the callee's frame
    // before anything is written. `function` and `callee` belong to the thread's code.
    unsafe {
        let base = t.base.add((*t.function).frame_bytes);
        if !fits(t, &*callee, base) {
            t.give_back_in_native((*callee).fuel);
            let limit = if t.frames.len() + t.hidden < t.max_depth { t.stack.bytes() } else { t.max_depth };
            return t.raise(step, TrapKind::StackOverflow, None, TrapDetail::Limit(limit as u64));
        }
        copy_all(base, &(*callee).params, t.base, &site.args);
        let (function, mask, floor, region) = (t.function, t.mask, t.floor, t.region);
        t.frames.push(Frame { function, step, base: t.base, mask, floor, region });
        match enter(t, callee, base) {
            Ok(first) if TRACED => native::count(t, first, (*callee).hot_count),
            Ok(first) => first,
            Err(trap) => {
                t.give_back_in_native((*callee).fuel);
                t.frames.pop();
                t.region = region;
                t.raise_trap(step, trap, None)
            }
        }
    }
}

/// `call`; in a `TRACED` program calls are counted.
pub(super) struct Call<const TRACED: bool>;

impl<const TRACED: bool> Kernel for Call<TRACED> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers. `aux` is a call site of the function; the verifier matched signatures.
        unsafe {
            let site: *const CallSite = &(&(*t.function).calls)[(*step).aux as usize];
            let callee: *const PreparedFunction = t.code.function(FuncId((*site).callee));
            call::<TRACED>(t, step, &*site, callee)
        }
    }
}

/// `call.ind`
pub(super) struct CallIndirect<const TRACED: bool>;

impl<const TRACED: bool> Kernel for CallIndirect<TRACED> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; the signature is compared here.
        unsafe {
            let site: *const CallSite = &(&(*t.function).calls)[(*step).aux as usize];
            let value = get::<u64>(t.reg((*step).a));
            let callee = t.code.function_of_value(value).filter(|f| f.fits(&*site));
            match callee.map(|f| f as *const PreparedFunction) {
                Some(callee) => call::<TRACED>(t, step, &*site, callee),
                None => t.raise(step, TrapKind::BadFunction, None, TrapDetail::Pointer(value)),
            }
        }
    }
}

/// `ret`
pub(super) struct Ret;

impl Kernel for Ret {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        if !t.launched.is_empty() && (t.in_native && t.has_to_wait() || !t.in_native && !t.settle(step)) {
            return null();
        }
        // SAFETY: the contract of handlers.
        unsafe { leave(t) }
    }
}

/// Ends the executing function, which has nothing to wait for. Gives what the caller does next; null if the host has
/// called it.
///
/// # Safety
/// The contract of handlers, at a return.
#[inline(always)]
pub(super) unsafe fn leave(t: &mut Thread) -> *const Step {
    if t.region != 0 {
        t.memory.unmap_frame(t.region);
        t.region = 0;
    }
    t.masks.truncate(t.floor);
    let Some(frame) = t.frames.pop() else { return null() };
    // SAFETY: the frame's step is a call step of its function, whose results match those of the function that ends;
    // both frames lie in the stack, the callee's above the caller's.
    unsafe {
        let site = &(&(*frame.function).calls)[(*frame.step).aux as usize];
        copy_all(frame.base, &site.rets, t.base, &(*t.function).results);
        t.base = frame.base;
        t.function = frame.function;
        t.mask = frame.mask;
        t.floor = frame.floor;
        t.region = frame.region;
        frame.step.add(1)
    }
}
