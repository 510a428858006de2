//! Calls that native code makes, and comes back from or not: what becomes of the thread's frames meanwhile.

use super::{Context, Pause, ResumeFrame, read_masks};
use crate::interp::code::PreparedFunction;
use crate::interp::control;
use crate::interp::thread::Frame;
use crate::memory::region_of;

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

impl Pause<'_> {
    /// Native code that was entered makes a call: puts the interpreter at that, which stands in the last of `frames`; `masks` is what
    /// [`write_masks`](Self::write_masks) would write for that one. The frames before it are hidden until
    /// [`end_call`](Self::end_call) or [`abandon_call`](Self::abandon_call).
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

    /// The call does not come back to the native code, wherever it has led (that may be behind the call): the frames of the code
    /// are the interpreter's from now on. `words` is what [`write_masks`](Self::write_masks) would write, for each of them. What was
    /// called later has been abandoned before.
    ///
    /// # Safety
    /// The frames are those that [`begin_call`](Self::begin_call) was given, and none of them has ended.
    #[cold]
    pub unsafe fn abandon_call(&mut self, caller: &Caller, frames: &[ResumeFrame], words: &[u64]) {
        let t = &mut *self.thread;
        t.hidden -= caller.hidden;
        let (mut masks, mut hidden, mut rest) = (Vec::new(), Vec::new(), words);
        let mut last_floor = caller.floor;
        for (i, frame) in frames.iter().enumerate() {
            let base = caller.base.wrapping_add(frame.at as usize);
            let (function, region): (*const PreparedFunction, u32) = match i {
                0 => (caller.function, caller.region),
                _ => (t.code.function(frame.function), region_of(rest[1])),
            };
            last_floor = caller.floor + masks.len();
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
                last.floor = last_floor;
                called.iter_mut().for_each(|frame| frame.floor += more);
                t.floor += more;
            }
            _ => t.floor = last_floor,
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
