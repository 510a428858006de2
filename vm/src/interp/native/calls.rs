//! Calls that native code makes, and comes back from or not: what becomes of the thread's frames meanwhile.

use super::{Context, Pause, PreparedProgram, RegisterSlot, ResumeFrame, Room, by_itself, read_masks, uniform};
use crate::interp::code::{Code, PreparedFunction, RegSlot};
use crate::interp::control;
use crate::interp::thread::{Frame, Thread};
use crate::memory::{region_of, region_start};
use crate::program::FuncId;
use std::sync::OnceLock;

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

/// A fast call that is being made, see [`Context::begin_fast_call`]: what the context is to have again.
pub struct FastCall {
    base: *mut u8,
    memory_base: *mut u8,
    words: *mut u64,
    frame_address: u64,
    counters: *mut u64,
    caller: *mut (),
    /// The region of the callee's memory, or 0.
    region: u32,
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
    /// Bytes of the callee's frame, and the fuel of the call.
    bytes: usize,
    fuel: i64,
    /// Whether the callee's frame has memory.
    has_memory: bool,
    /// The callee's first step, in the program that this is a call of.
    first: usize,
    /// Where arguments are that native code does not put into the callee's frame, each with where they go.
    arguments: Box<[(RegSlot, RegSlot)]>,
    /// Where results go, each with where the callee leaves it.
    results: Box<[(RegSlot, RegSlot)]>,
}

/// A call of a function that is known only when it is made, as native code makes it.
pub struct IndirectCall {
    function: FuncId,
    pc: u32,
    from: usize,
    hidden: usize,
    /// Where the function's value lies from the base of the entered frame.
    value_at: usize,
    /// The functions that have been called first, by their values.
    targets: [OnceLock<(u64, DirectCall)>; TARGETS],
}

/// How many functions are known that have been called at a place.
const TARGETS: usize = 4;

impl DirectCall {
    /// The [place](Pause::place) of the callee's first instruction.
    #[inline]
    pub fn first(&self) -> usize {
        self.first
    }

    /// Fuel of the call.
    #[inline]
    pub fn fuel(&self) -> i64 {
        self.fuel
    }

    /// How many frames there are more during the call.
    #[inline]
    pub fn frames(&self) -> usize {
        self.hidden + 1
    }
}

impl PreparedProgram {
    /// The function that an indirect call calls if the value is this; `None` if it would trap.
    pub fn callee(&self, (function, pc): (FuncId, u32), value: u64) -> Option<FuncId> {
        let callee = self.0.function_of_value(value)?;
        callee.fits(self.0.function(function).call_site(pc)).then_some(callee.id)
    }

    /// The call at which an exit with these frames stands, of a function that is known.
    pub fn direct_call(&self, frames: &[ResumeFrame], callee: FuncId) -> Option<DirectCall> {
        let (frame, hidden) = (frames.last()?, frames.len() - 1);
        let call = DirectCall::new(&self.0, (frame.function, frame.pc), callee, frame.at as usize, hidden)?;
        Some(DirectCall { arguments: Box::default(), ..call })
    }

    /// The same, of a function that is known only when it is called.
    pub fn indirect_call(&self, frames: &[ResumeFrame]) -> Option<IndirectCall> {
        let (frame, hidden) = (frames.last()?, frames.len() - 1);
        let &ResumeFrame { function, pc, at, .. } = frame;
        let (from, value) = (at as usize, self.0.function(function).steps[pc as usize].a);
        let targets = [const { OnceLock::new() }; TARGETS];
        Some(IndirectCall { function, pc, from, hidden, value_at: from + value as usize, targets })
    }
}

impl DirectCall {
    /// A call at an instruction of a function, whose frame lies so far from the base of the entered one; `None` if no stack can hold
    /// the frames.
    fn new(
        code: &Code,
        (function, pc): (FuncId, u32),
        callee: FuncId,
        from: usize,
        hidden: usize,
    ) -> Option<DirectCall> {
        let [calling, called] = [function, callee].map(|function| code.function(function));
        let site = calling.call_site(pc);
        let both = |a: &[RegSlot], b: &[RegSlot]| a.iter().copied().zip(b.iter().copied()).collect();
        Some(DirectCall {
            function,
            callee,
            pc,
            from,
            to: from.checked_add(calling.frame_bytes)?,
            hidden,
            bytes: called.frame_bytes,
            fuel: called.fuel as i64,
            has_memory: called.memory_bytes != 0,
            first: called.steps.as_ptr().addr(),
            arguments: both(&site.args, &called.params),
            results: both(&site.rets, &called.results),
        })
    }
}

impl IndirectCall {
    /// The call of the function whose value there is now; `None` if that is none, or many others have been called here.
    ///
    /// # Safety
    /// The context is that of the code that makes the call, which has written its state.
    #[inline]
    pub unsafe fn target(&self, context: &mut Context) -> Option<&DirectCall> {
        let base = context.base;
        // SAFETY: the functions belong to the thread's code, which nothing replaces meanwhile; the caller's promise: the frame is there.
        let value = unsafe {
            // The value may be one of them, and arguments too.
            let function: *const PreparedFunction = context.thread().code.function(self.function);
            control::write_constants(&*function, base.wrapping_add(self.from));
            base.wrapping_add(self.value_at).cast::<u64>().read()
        };
        for target in &self.targets {
            match target.get() {
                Some((known, call)) if *known == value => return Some(call),
                Some(_) => {}
                None => return self.add(target, value, &context.thread().code),
            }
        }
        None
    }

    #[cold]
    fn add<'a>(&self, free: &'a OnceLock<(u64, DirectCall)>, value: u64, code: &Code) -> Option<&'a DirectCall> {
        let callee = code.function_of_value(value)?;
        if !callee.fits(code.function(self.function).call_site(self.pc)) {
            return None;
        }
        let call = DirectCall::new(code, (self.function, self.pc), callee.id, self.from, self.hidden)?;
        let (known, call) = free.get_or_init(|| (value, call));
        // Another thread may have called another function first.
        (*known == value).then_some(call)
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
        let to = t.base.wrapping_add(call.to);
        let callee: *const PreparedFunction = t.code.function(call.callee);
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
        // SAFETY: the caller's promise.
        Some(unsafe { self.push_call(call, mask, region_called) })
    }

    /// Has the thread execute the callee of a call, whose memory is that region.
    ///
    /// # Safety
    /// As for [`call`](Self::call); there is room for the callee's frame.
    #[inline(always)]
    unsafe fn push_call(&mut self, call: &DirectCall, mask: u64, region_called: u32) -> Caller {
        let t = &mut *self.thread;
        let (function, base, floor, region) = (t.function, t.base, t.floor, t.region);
        let callee: *const PreparedFunction = t.code.function(call.callee);
        let to = base.wrapping_add(call.to);
        t.masks.truncate(floor);
        // SAFETY: both functions belong to the thread's code; there is room for the frame.
        let f = unsafe {
            let f = &*callee;
            control::write_constants(f, to);
            // What regions are hidden is known to who abandons the call.
            let (calling, at): (*const PreparedFunction, u32) = match call.hidden {
                0 => (function, region),
                _ => (t.code.function(call.function), 0),
            };
            let step = (*calling).steps.as_ptr().add(call.pc as usize);
            let base = base.wrapping_add(call.from);
            t.frames.push(Frame { function: calling, step, base, mask, floor, region: at });
            f
        };
        t.hidden += call.hidden;
        t.masks.reserve(f.mask_depth);
        (t.base, t.function, t.region, t.mask) = (to, callee, region_called, mask);
        self.next = f.steps.as_ptr();
        Caller { function, base, floor, region, hidden: call.hidden, frames: t.frames.len() - 1 }
    }

    /// A fast call cannot be one any longer: tells the thread of it, as if it had been made by [`call`](Self::call). All fast calls around
    /// it have become such before.
    ///
    /// # Safety
    /// The call has been [begun](Context::begin_fast_call) on the context, in these lanes, and neither has ended.
    #[cold]
    pub unsafe fn show_call(&mut self, call: &DirectCall, mask: u64, fast: &FastCall) -> Caller {
        debug_assert_eq!(self.thread.base, fast.base, "calls are shown in the order in which they were made");
        // SAFETY: the caller's promise.
        unsafe { self.push_call(call, mask, fast.region) }
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

impl Context {
    /// Native code makes a call of other native code, of which the thread is not told: the context becomes that of the callee, whose
    /// arguments are in its frame. Gives `None`, and nothing has happened, where there may be no room for the callee's frame and what its
    /// code needs, with so many frames around it; or where the slice does not hold the fuel.
    ///
    /// # Safety
    /// The context is that of code that stands at the call and has entered the memory of all its frames; there are so many words and
    /// counters for the code that is called, which returns to this or is [shown](Pause::show_call) before anything asks the thread about
    /// its frames.
    #[inline(always)]
    pub unsafe fn begin_fast_call(
        &mut self,
        call: &DirectCall,
        mask: u64,
        depth: usize,
        room: &Room,
        words: *mut u64,
        counters: *mut u64,
    ) -> Option<FastCall> {
        let to = self.base.wrapping_add(call.to);
        let ticks = self.ticks;
        let t = self.thread();
        let fits = t.stack.left(to) >= call.bytes && room.is_there(t, to, depth);
        if !fits || ticks < call.fuel {
            return None;
        }
        let mut region = 0;
        if call.has_memory {
            self.pass_over();
            let t = self.thread();
            let callee: *const PreparedFunction = t.code.function(call.callee);
            // SAFETY: it belongs to the thread's code, which nothing replaces meanwhile; there is room for the frame.
            region = unsafe { enter_memory(t, &*callee, to)? };
        }
        let Context { base, memory_base, frame_address, caller, .. } = *self;
        let fast =
            FastCall { base, memory_base, words: self.words, frame_address, counters: self.counters, caller, region };
        self.ticks = ticks - call.fuel;
        for (argument, param) in &call.arguments {
            // SAFETY: both frames lie in the stack, and the registers are of one type.
            unsafe { control::copy(to, param, base.wrapping_add(call.from), argument) };
        }
        self.base = to;
        self.memory_base = memory_base.wrapping_add(call.to);
        (self.words, self.counters) = (words, counters);
        self.frame_address = if region == 0 { 0 } else { region_start(region) };
        // SAFETY: there is room for what a frame without entries takes.
        unsafe {
            *words = mask;
            *words.add(1) = self.frame_address;
        }
        Some(fast)
    }

    /// What the callee of a call gets in a uniform register, if that is in its frame before the call is begun.
    ///
    /// # Safety
    /// The context is that of code that stands at the call, and the register one of the callee's parameters.
    #[inline(always)]
    pub unsafe fn argument(&self, call: &DirectCall, slot: RegisterSlot) -> Option<u64> {
        // SAFETY: the caller's promise; the code has put its arguments into the frame, and has room for them.
        call.arguments.is_empty().then(|| unsafe { uniform(self.base.wrapping_add(call.to), slot) })
    }

    /// The code that was called has left at the return of its function: the call is over, and the context that of the code that has
    /// made it.
    ///
    /// # Safety
    /// The call has been begun on this context, and has not been shown.
    #[inline(always)]
    pub unsafe fn end_fast_call(&mut self, call: &DirectCall, fast: &FastCall) {
        if fast.region != 0 {
            self.thread().memory.unmap_frame(fast.region);
        }
        let (from, to) = (self.base, fast.base.wrapping_add(call.from));
        for (place, result) in &call.results {
            // SAFETY: both frames lie in the stack, and the registers are of one type.
            unsafe { control::copy(to, place, from, result) };
        }
        self.restore(fast);
    }

    /// The context is that of the code again that has made a call.
    #[inline(always)]
    pub fn restore(&mut self, fast: &FastCall) {
        self.base = by_itself(&fast.base);
        self.memory_base = by_itself(&fast.memory_base);
        self.words = by_itself(&fast.words);
        self.frame_address = by_itself(&fast.frame_address);
        self.counters = by_itself(&fast.counters);
        self.caller = by_itself(&fast.caller);
    }

    /// Fuel that the thread has used, with what native code has counted.
    #[inline(always)]
    pub fn fuel_used(&mut self) -> i64 {
        let ticks = self.ticks;
        self.thread().taken() - ticks
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
