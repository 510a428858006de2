//! Calls that native code makes, and comes back from or not: what becomes of the thread's frames meanwhile.

use super::{Context, Pause, PreparedProgram, ResumeFrame, read_masks};
use crate::interp::code::PreparedFunction;
use crate::interp::control;
use crate::interp::thread::{Frame, Thread};
use crate::isa::Op;
use crate::memory::region_of;
use crate::program::FuncId;

/// The frame that native code was entered with, while a function that it calls executes; see [`Pause::begin_call`].
pub struct Caller {
    function: *const PreparedFunction,
    base: *mut u8,
    floor: usize,
    region: u32,
    /// Frames around it.
    frames: usize,
    /// Frames above it that are hidden.
    hidden: usize,
}

/// A call that names its function, as native code makes it: what is the same each time.
pub struct DirectCall {
    /// The function that calls, and the function that is called.
    function: FuncId,
    callee: FuncId,
    /// The instruction that calls.
    pc: u32,
    /// Where their frames lie from the base of the entered one.
    from: usize,
    to: usize,
    /// Frames between the entered one and the one that is called.
    hidden: usize,
}

impl PreparedProgram {
    /// The call at which an exit with these frames stands, if that names its function.
    pub fn direct_call(&self, frames: &[ResumeFrame]) -> Option<DirectCall> {
        let (frame, hidden) = (frames.last()?, frames.len() - 1);
        let (function, pc) = (frame.function, frame.pc);
        let inst = self.0.program.functions[function.0 as usize].code.get(pc as usize);
        let callee = FuncId(inst.filter(|inst| inst.op == Op::Call)?.aux);
        let from = frame.at as usize;
        let to = from + usize::try_from(self.frame_bytes(function)?).ok()?;
        Some(DirectCall { function, callee, pc, from, to, hidden })
    }
}

impl Pause<'_> {
    /// Native code that was entered makes a call, in these lanes: does what the handler would, with arguments that are in the
    /// callee's frame already. The frames between that and the entered one are hidden until [`end_call`](Self::end_call) or
    /// [`abandon_call`](Self::abandon_call). Gives `None` if it cannot be made: the interpreter will find the reason.
    ///
    /// # Safety
    /// The context is that of the code, whose frames are there but for what is in their registers; there is room for them and for the
    /// callee's arguments; and the memory of all frames has been entered.
    #[inline(always)]
    pub unsafe fn call(&mut self, call: &DirectCall, mask: u64, context: &mut Context) -> Option<Caller> {
        let t = &mut *self.thread;
        let (function, base, floor, region) = (t.function, t.base, t.floor, t.region);
        let callee: *const PreparedFunction = t.code.function(call.callee);
        let to = base.wrapping_add(call.to);
        // SAFETY: it belongs to the thread's code, which nothing replaces meanwhile.
        let f = unsafe { &*callee };
        let fits = t.stack.left(to) >= f.frame_bytes && t.frames.len() + t.hidden + call.hidden < t.max_depth;
        if !fits || !t.charge_at_once(f.fuel) {
            context.ticks = t.ticks;
            return None;
        }
        if self.passed_over != 0 {
            t.memory.pass_over_frames(std::mem::take(&mut self.passed_over));
        }
        t.masks.truncate(floor);
        let region_called = match f.memory_bytes {
            0 => 0,
            // SAFETY: there is room for the frame.
            _ => match unsafe { enter_memory(t, f, to) } {
                Some(region) => region,
                None => {
                    t.refund(f.fuel);
                    (context.ticks, context.passed_over) = (t.ticks, 0);
                    return None;
                }
            },
        };
        // SAFETY: both functions belong to the thread's code; there is room for the frame.
        unsafe {
            control::write_constants(f, to);
            // What regions are hidden is known to who abandons the call.
            let (calling, at): (*const PreparedFunction, u32) = match call.hidden {
                0 => (function, region),
                _ => (t.code.function(call.function), 0),
            };
            let step = (*calling).steps.as_ptr().add(call.pc as usize);
            let base = base.wrapping_add(call.from);
            t.frames.push(Frame { function: calling, step, base, mask, floor, region: at });
        }
        t.hidden += call.hidden;
        t.masks.reserve(f.mask_depth);
        (t.base, t.function, t.region, t.mask) = (to, callee, region_called, mask);
        self.next = f.steps.as_ptr();
        Some(Caller { function, base, floor, region, hidden: call.hidden, frames: t.frames.len() - 1 })
    }

    /// Native code that was entered, and has written its state, makes a call by the interpreter's handler: puts the interpreter at that,
    /// which stands in the last of `frames`; `masks` is what [`write_masks`](Self::write_masks) would write for that one. The frames
    /// before it are hidden, as by a [`call`](Self::call).
    ///
    /// # Safety
    /// As for [`resume`](Self::resume); and the memory of all frames has been entered.
    #[inline(always)]
    pub unsafe fn begin_call(&mut self, frames: &[ResumeFrame], masks: &[u64]) -> Caller {
        let t = &mut *self.thread;
        if self.passed_over != 0 {
            t.memory.pass_over_frames(std::mem::take(&mut self.passed_over));
        }
        let (function, base, floor, region) = (t.function, t.base, t.floor, t.region);
        let hidden = frames.len().saturating_sub(1);
        t.masks.truncate(t.floor);
        t.mask = masks[0];
        t.hidden += hidden;
        if let Some(frame) = frames.last() {
            if hidden != 0 {
                t.base = base.wrapping_add(frame.at as usize);
                t.function = t.code.function(frame.function);
                t.region = region_of(masks[1]);
                // Arguments may be among them.
                // SAFETY: it belongs to the thread's code; the caller's promise: there is room for the frame.
                unsafe { control::write_constants(&*t.function, t.base) };
            }
            // SAFETY: the function belongs to the thread's code; and the caller's promise about `pc`.
            self.next = unsafe { (*t.function).steps.as_ptr().add(frame.pc as usize) };
        }
        Caller { function, base, floor, region, hidden, frames: t.frames.len() }
    }

    /// Returns whether the call has returned.
    #[inline]
    pub fn has_returned(&self, caller: &Caller) -> bool {
        self.thread.frames.len() <= caller.frames
    }

    /// The call has returned, and native code goes on with the frame that it was entered with.
    #[inline(always)]
    pub fn end_call(&mut self, caller: &Caller, context: &mut Context) {
        let t = &mut *self.thread;
        t.hidden -= caller.hidden;
        (t.function, t.base, t.floor, t.region) = (caller.function, caller.base, caller.floor, caller.region);
        (context.passed_over, context.ticks) = (0, t.ticks);
        context.regions = t.memory.directory();
        context.thread = t;
    }

    /// The call does not come back to the native code, wherever it has led (that may be behind the call), and the code has been left by the
    /// exit that stands at it: its frames are the interpreter's from now on. `words` is what [`write_masks`](Self::write_masks) would
    /// write, for each of them. What was called later has been abandoned before.
    ///
    /// # Safety
    /// The frames are those of the exit, none of them has ended, and `call` is what was made there, if that was it.
    #[cold]
    pub unsafe fn abandon_call(
        &mut self,
        caller: &Caller,
        call: Option<&DirectCall>,
        frames: &[ResumeFrame],
        words: &[u64],
    ) {
        let t = &mut *self.thread;
        t.hidden -= caller.hidden;
        if let Some(call) = call.filter(|_| t.frames.len() <= caller.frames) {
            // What the exit has written is what was there before the call.
            let [from, to] = [call.from, call.to].map(|at| caller.base.wrapping_add(at));
            // SAFETY: the callee has returned just now, and its frame has not been used since.
            unsafe {
                control::copy_results(t.code.function(call.function), call.pc, from, t.code.function(call.callee), to)
            };
        }
        let (mut masks, mut hidden, mut rest) = (Vec::new(), Vec::new(), words);
        let (mut last_floor, mut last_region) = (caller.floor, caller.region);
        for (i, frame) in frames.iter().enumerate() {
            let base = caller.base.wrapping_add(frame.at as usize);
            let (function, region): (*const PreparedFunction, u32) = match i {
                0 => (caller.function, caller.region),
                _ => (t.code.function(frame.function), region_of(rest[1])),
            };
            (last_floor, last_region) = (caller.floor + masks.len(), region);
            let mask = rest[0];
            rest = read_masks(rest, &frame.entries, |entry| masks.push(entry));
            // SAFETY: the function belongs to the thread's code; the caller's promise: there was room for the frame, and it is there.
            unsafe {
                if i != 0 {
                    control::write_constants(&*function, base);
                }
                let step = (*function).steps.as_ptr().add(frame.pc as usize);
                hidden.push(Frame { function, step, base, mask, floor: last_floor, region });
            }
        }
        // The last one stands where it did, in the frames or executing.
        hidden.pop();
        let more = masks.len();
        t.masks.splice(caller.floor..caller.floor, masks);
        match t.frames.get_mut(caller.frames..) {
            Some([last, called @ ..]) => {
                (last.floor, last.region) = (last_floor, last_region);
                called.iter_mut().for_each(|frame| frame.floor += more);
                t.floor += more;
            }
            _ => (t.floor, t.region) = (last_floor, last_region),
        }
        t.frames.splice(caller.frames..caller.frames, hidden);
    }

    /// [`steps`](Self::steps), while native code is in the midst of a call. It holds addresses, so if an instruction traps, or the
    /// thread would have to wait, nothing has happened, and the result is `false`: the interpreter is to do it once native code
    /// has left.
    #[inline]
    pub fn steps_within(&mut self, instructions: u32) -> bool {
        if self.has_ended() {
            return false;
        }
        let before = std::mem::replace(&mut self.thread.stepping, true);
        self.thread.in_native = true;
        let depth = self.thread.frames.len();
        let mut all = true;
        for _ in 0..instructions {
            let step = self.next;
            // SAFETY: the next step of the executing function, as in `run_steps`: until the call returns there is one.
            self.next = unsafe { ((*step).handler)(self.thread, step) };
            if self.next.is_null() {
                (self.next, self.thread.trap, all) = (step, None, false);
            }
            if !all || self.thread.frames.len() != depth {
                break;
            }
        }
        self.thread.in_native = false;
        self.thread.stepping = before;
        all
    }
}

/// Enters the memory of a frame of a function at `base`, zeroed; gives its region, or `None` if there can be no more or the run must end.
///
/// # Safety
/// There is room for the frame.
#[cold]
unsafe fn enter_memory(t: &mut Thread, f: &PreparedFunction, base: *mut u8) -> Option<u32> {
    t.in_native = true;
    // SAFETY: the caller's promise.
    let entered = unsafe { control::enter_memory(t, f, base) };
    t.in_native = false;
    entered.ok()
}
