//! Handlers of what is visible outside: printing, assertions, aborts and the clock.

use super::code::{CallSite, Handler, Place, Step, flags};
use super::elementwise::{Kernel, plain};
use super::lanes::{get, mask_of, put};
use super::thread::Thread;
use super::value::read_word;
use super::workers::worker_index;
use crate::isa::Op;
use crate::memory::read_text_byte;
use crate::print;
use crate::program::{ArgFormat, ArgKind, Inst, Piece};
use crate::sem::{self, Bool};
use crate::trap::{Access, Trap, TrapDetail, TrapKind};
use crate::types::Shape;
use std::sync::Arc;

/// `print`
struct Print;

impl Kernel for Print {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers. `aux` is a site whose arguments are the format's.
        unsafe {
            let site: *const CallSite = &(&(*t.function).calls)[(*step).aux as usize];
            let mut text = std::mem::take(&mut t.text);
            text.clear();
            let done = render(t, &*site, &mut text);
            if done.is_ok() {
                t.shared.print(&text);
            }
            t.text = text;
            match done {
                Ok(()) => step.add(1),
                Err((trap, lane)) => t.raise_trap(step, trap, lane),
            }
        }
    }
}

/// Renders a print; fails if an argument is text that cannot be read.
///
/// # Safety
/// The site's arguments are registers of the executing frame.
unsafe fn render(t: &Thread, site: &CallSite, out: &mut String) -> Result<(), (Trap, Option<usize>)> {
    let program = Arc::clone(&t.code.program);
    let mut args = site.args.iter();
    for piece in program.formats.get(site.callee as usize).into_iter().flatten() {
        match piece {
            Piece::Text(text) => out.push_str(text),
            Piece::Arg(format) => {
                if let Some(place) = args.next() {
                    // SAFETY: the caller's promise.
                    unsafe { argument(t, format, place, out)? };
                }
            }
        }
    }
    Ok(())
}

/// Appends one argument.
///
/// # Safety
/// `place` is a register of the executing frame.
unsafe fn argument(
    t: &Thread,
    format: &ArgFormat,
    place: &Place,
    out: &mut String,
) -> Result<(), (Trap, Option<usize>)> {
    let mut failed = None;
    let mut value = |out: &mut String, l: usize| {
        // SAFETY: the caller's promise; `l` is 0 or a lane.
        let bits = unsafe { read_word(t.reg(place.at), place.ty, l) };
        match format.kind {
            ArgKind::Value | ArgKind::Pointer => print::scalar(out, format, place.ty, bits),
            // Text of inactive lanes is not read.
            ArgKind::Text if t.mask >> l & 1 == 0 && place.shape == Shape::Varying => out.push('_'),
            ArgKind::Text => match read_text(t, bits) {
                Ok(text) => print::text(out, format, &text),
                Err(trap) => {
                    failed.get_or_insert((trap, (place.shape == Shape::Varying).then_some(l)));
                }
            },
        }
    };
    match place.shape {
        Shape::Uniform => value(out, 0),
        Shape::Varying => print::varying(out, place.ty, t.lanes, t.mask, value),
    }
    failed.map_or(Ok(()), Err)
}

/// The text at an address, up to its NUL.
fn read_text(t: &Thread, pointer: u64) -> Result<String, Trap> {
    let mut bytes = Vec::new();
    let mut at = pointer;
    loop {
        let Some(byte) = t.memory.resolve(at, 1, Access::Read) else {
            let (kind, detail) = t.memory.fault(at, crate::memory::offset_of(at) as i128, 1, Access::Read);
            return Err(Trap::new(kind, detail));
        };
        // SAFETY: `resolve` checked the byte.
        match unsafe { read_text_byte(byte) } {
            0 => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
            byte => bytes.push(byte),
        }
        at = sem::padd(at, 1);
    }
}

fn message(t: &Thread, step: &Step) -> TrapDetail {
    TrapDetail::Message(t.code.program.messages.get(step.aux as usize).cloned().unwrap_or_default())
}

/// `assert`
struct Assert;

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
struct Abort;

impl Kernel for Abort {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: `step` is the executing step.
        let detail = message(t, unsafe { &*step });
        t.raise(step, TrapKind::Abort, None, detail)
    }
}

/// `clock`
struct Clock;

impl Kernel for Clock {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; the destination is a uniform `u64`.
        unsafe {
            put(t.reg((*step).d), t.shared.epoch.elapsed().as_nanos() as u64);
            step.add(1)
        }
    }
}

/// `thread.index`
struct ThreadIndex;

impl Kernel for ThreadIndex {
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; the destination is a uniform `i32`.
        unsafe {
            put(t.reg((*step).d), worker_index() as i32);
            step.add(1)
        }
    }
}

/// `thread.count`
struct ThreadCount;

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
struct Fence;

impl Kernel for Fence {
    unsafe fn run(_: &mut Thread, step: *const Step) -> *const Step {
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        // SAFETY: a function's last instruction is a jump or `ret`.
        unsafe { step.add(1) }
    }
}

/// The handler of an effect; `None` for other operations.
pub(crate) fn effect(inst: &Inst) -> Option<Handler> {
    Some(match inst.op {
        Op::Print => plain::<Print>(),
        Op::Assert => plain::<Assert>(),
        Op::Abort => plain::<Abort>(),
        Op::Clock => plain::<Clock>(),
        Op::ThreadIndex => plain::<ThreadIndex>(),
        Op::ThreadCount => plain::<ThreadCount>(),
        Op::Fence => plain::<Fence>(),
        _ => return None,
    })
}
