//! Handlers of what is visible outside: printing, assertions, aborts and the clock.

use super::code::{CallSite, RegSlot, Step, flags};
use super::elementwise::Kernel;
use super::fuel::MAX_BYTES_AT_ONCE;
use super::lanes::{get, mask_of, put};
use super::thread::Thread;
use super::value::read_word;
use super::workers;
use crate::memory::{offset_of, read_text_byte};
use crate::print;
use crate::program::{ArgFormat, ArgKind, Piece};
use crate::sem::Bool;
use crate::trap::{Access, Trap, TrapDetail, TrapKind};
use crate::types::Shape;
use std::ptr::null;
use std::sync::Arc;

/// `print`
pub(super) struct Print;

impl Kernel for Print {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers. `aux` is a site whose arguments are the format's.
        unsafe {
            let site: *const CallSite = &(&(*t.function).calls)[(*step).aux as usize];
            let mut text = std::mem::take(&mut t.text);
            text.clear();
            let unset_lanes = std::mem::take(&mut t.unset_lanes);
            let next = match render(t, &*site, &unset_lanes, &mut text) {
                Err((trap, lane)) => t.raise_trap(step, trap, lane),
                Ok(()) if !t.charge_bytes(step, text.len() as u64) => null(),
                Ok(()) => {
                    t.shared.print(&text);
                    step.add(1)
                }
            };
            t.text = text;
            next
        }
    }
}

/// Renders a print; fails if an argument is text that cannot be read.
///
/// # Safety
/// The site's arguments are registers of the executing frame.
unsafe fn render(
    t: &Thread,
    site: &CallSite,
    unset_lanes: &[u64],
    out: &mut String,
) -> Result<(), (Trap, Option<usize>)> {
    let program = Arc::clone(&t.code.program);
    let mut args = site.args.iter().zip(unset_lanes.iter().copied().chain(std::iter::repeat(0)));
    for piece in program.formats.get(site.callee as usize).into_iter().flatten() {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Arg(format) => {
                if let Some((slot, unset)) = args.next() {
                    // SAFETY: the caller's promise.
                    unsafe { argument(t, format, slot, unset, out)? };
                }
            }
        }
    }
    Ok(())
}

/// Appends one argument.
///
/// # Safety
/// `slot` is a register of the executing frame.
unsafe fn argument(
    t: &Thread,
    format: &ArgFormat,
    slot: &RegSlot,
    unset: u64,
    out: &mut String,
) -> Result<(), (Trap, Option<usize>)> {
    let mut failed = None;
    let mut value = |out: &mut String, l: usize| {
        // SAFETY: the caller's promise; `l` is 0 or a lane.
        let bits = unsafe { read_word(t.reg(slot.at), slot.ty, l) };
        match format.kind {
            ArgKind::Value | ArgKind::Pointer => print::scalar(out, format, slot.ty, bits),
            // Text of inactive lanes is not read.
            ArgKind::Text if t.mask >> l & 1 == 0 && slot.shape == Shape::Varying => out.push('_'),
            ArgKind::Text => match read_text(t, bits, MAX_TEXT.saturating_sub(out.len())) {
                Ok(text) => print::text(out, format, &text),
                Err(trap) => {
                    failed.get_or_insert((trap, (slot.shape == Shape::Varying).then_some(l)));
                }
            },
        }
    };
    match slot.shape {
        Shape::Uniform if unset & 1 != 0 => out.push_str(print::UNSET),
        Shape::Uniform => value(out, 0),
        Shape::Varying => print::varying(out, slot.ty, t.lanes, (t.mask, unset), value),
    }
    failed.map_or(Ok(()), Err)
}

/// Most bytes of text in a print: so many are collected and printed without a look at the clock.
const MAX_TEXT: usize = MAX_BYTES_AT_ONCE as usize;

/// The text at an address, up to its NUL, of at most so many bytes.
fn read_text(t: &Thread, pointer: u64, most: usize) -> Result<String, Trap> {
    let fault = |bytes: u64| {
        let (kind, detail) = t.memory.fault(pointer, offset_of(pointer) as i128 + bytes as i128, 1, Access::Read);
        Trap::new(kind, detail)
    };
    let start = t.memory.resolve(pointer, 1, Access::Read).ok_or_else(|| fault(0))?;
    let in_region = t.memory.region(pointer, Access::Read).1 - offset_of(pointer) as u64;
    let mut bytes = Vec::new();
    for at in 0..in_region {
        // SAFETY: `start` is an address in the region, of which so many bytes follow.
        match unsafe { read_text_byte(start.add(at as usize)) } {
            0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            _ if bytes.len() >= most => {
                let message = format!("a print has more than {MAX_TEXT} bytes of text");
                return Err(Trap::new(TrapKind::OutOfMemory, TrapDetail::Message(message)));
            }
            byte => bytes.push(byte),
        }
    }
    Err(fault(in_region))
}

fn message(t: &Thread, step: &Step) -> TrapDetail {
    TrapDetail::Message(t.code.program.messages.get(step.aux as usize).cloned().unwrap_or_default())
}

/// `assert`
pub(super) struct Assert;

impl Kernel for Assert {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; source `a` is a bool register.
        unsafe {
            let s = &*step;
            let at = t.reg(s.a);
            let lane = if s.has(flags::A_VARYING) {
                let failing = !mask_of(at, s.blocks()) & t.mask;
                if failing == 0 {
                    return step.add(1);
                }
                Some(failing.trailing_zeros() as usize)
            } else {
                if get::<Bool>(at).get() {
                    return step.add(1);
                }
                None
            };
            let detail = message(t, s);
            t.raise(step, TrapKind::Assertion, lane, detail)
        }
    }
}

/// `abort`
pub(super) struct Abort;

impl Kernel for Abort {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: `step` is the executing step.
        let detail = message(t, unsafe { &*step });
        t.raise(step, TrapKind::Abort, None, detail)
    }
}

/// `clock`
pub(super) struct Clock;

impl Kernel for Clock {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; the destination is a uniform `u64`.
        unsafe {
            t.took_in = true;
            put(t.reg((*step).d), t.shared.epoch.elapsed().as_nanos() as u64);
            step.add(1)
        }
    }
}

/// `thread.index`
pub(super) struct ThreadIndex;

impl Kernel for ThreadIndex {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; the destination is a uniform `i32`.
        unsafe {
            put(t.reg((*step).d), workers::index() as i32);
            step.add(1)
        }
    }
}

/// `thread.count`
pub(super) struct ThreadCount;

impl Kernel for ThreadCount {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; the destination is a uniform `i32`.
        unsafe {
            put(t.reg((*step).d), t.shared.threads as i32);
            step.add(1)
        }
    }
}

/// `fence`
pub(super) struct Fence;

impl Kernel for Fence {
    unsafe fn run(_: &mut Thread, step: *const Step) -> *const Step {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        // SAFETY: a function's last instruction is a jump or `ret`.
        unsafe { step.add(1) }
    }
}
