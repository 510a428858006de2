//! The seam to a tracing JIT: hot loops and functions, and what native code may do to a running thread.
//!
//! A program prepared with a [`Tracer`] counts how often its loops go round and its functions are called. When a countdown
//! reaches zero, the back-edge or call asks the tracer, which may do nothing, start to compile, or run native code *in place of
//! the interpreter*: a [`Pause`] shows it the interpreter's state at the *head* (the loop's, or the function's first
//! instruction), [`Context`] is what native code works on, and [`Pause::resume`] puts the interpreter where native code has left.
//! Whatever native code cannot do, it leaves to the interpreter by resuming it *before* the instruction, so traps, prints and
//! all other rare things happen in one place. The tracer may have the interpreter do just that one instruction
//! ([`Pause::step`]) and go on with native code at the next: so calls and returns lead from one piece of it to another.
//!
//! Programs prepared without a tracer have other handlers for back-edges and calls, and pay nothing.

mod calls;
mod operand;

pub use calls::{Caller, DirectCall, FastCall, IndirectCall};
pub use operand::Operand;

use super::code::{Code, PreparedFunction, PreparedProgram, Step};
use super::control;
use super::fuel::fuel_of;
use super::masks::{EntryKind, MaskEntry};
use super::thread::{Frame, Thread};
use crate::memory::{offset_of, region_of, region_start};
use crate::observe::{Observer, View};
use crate::program::{FuncId, Inst, Program, Reg};
use crate::trap::Access;
use crate::types::{Shape, Ty};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Decides what happens at hot loops and functions. Shared by all threads that run the program.
pub trait Tracer: Send + Sync {
    /// A countdown has reached zero, and the interpreter is about to execute the head of the loop, or the first instruction of
    /// the function. Gives the next countdown: after how many more rounds or calls to be asked again; 0 asks every time.
    fn at_head(&self, pause: &mut Pause<'_>) -> u32;

    /// How often a function is called before the tracer is asked about it.
    fn calls(&self) -> u32 {
        u32::MAX
    }
}

/// The next round of a loop, or the call of a function, begins at `head`: counts it.
///
/// # Safety
/// `head` is the step of the hot count.
#[inline(always)]
pub(crate) unsafe fn count(t: &mut Thread, head: *const Step, hot_count: u32) -> *const Step {
    match t.code.hot_counts[hot_count as usize].count() {
        true => head,
        false => at_head(t, head, hot_count),
    }
}

/// A task of the executing function begins: counts that as a call. Programs without a tracer count nothing.
///
/// # Safety
/// `head` is the function's first step.
pub(crate) unsafe fn count_entry(t: &mut Thread, head: *const Step) -> *const Step {
    if t.code.tracer.is_none() {
        return head;
    }
    // SAFETY: the caller's promise; `Thread::function` belongs to the thread's code.
    unsafe { count(t, head, (*t.function).hot_count) }
}

/// The host has called the executing function: counts that, and asks nobody.
pub(crate) fn note_entry(t: &Thread) {
    // SAFETY: `Thread::function` belongs to the thread's code.
    let hot_count = unsafe { (*t.function).hot_count };
    if let Some(counted) = t.code.hot_counts.get(hot_count as usize) {
        counted.note();
    }
}

#[cold]
#[inline(never)]
fn at_head(t: &mut Thread, head: *const Step, hot_count: u32) -> *const Step {
    if t.observed || t.stepping {
        return head;
    }
    let code: *const Code = &*t.code;
    // SAFETY: the thread holds the code, and nothing replaces `Thread::code` while it runs.
    let code = unsafe { &*code };
    let (Some(tracer), Some(counted)) = (&code.tracer, code.hot_counts.get(hot_count as usize)) else { return head };
    let mut pause = Pause { thread: t, next: head, hot_count, passed_over: 0 };
    let rounds = tracer.at_head(&mut pause);
    counted.restart(rounds);
    pause.next
}

/// What a tracer keeps with a thread of the interpreter until a call, or the tasks that the thread runs one after another, are over.
#[derive(Default)]
pub struct Kept {
    /// How often it was asked for something.
    pub asked: u32,
    /// What that is.
    pub what: Option<Box<dyn Any + Send>>,
    /// Room for words, with anything in it; this stays.
    pub words: Box<[u64]>,
}

impl Kept {
    /// A call, or tasks one after another, are over.
    pub(crate) fn forget(&mut self) {
        (self.asked, self.what) = (0, None);
    }
}

/// The interpreter, stopped at the head of a loop or function; later wherever native code has left.
pub struct Pause<'t> {
    thread: &'t mut Thread,
    next: *const Step,
    hot_count: u32,
    /// Frames without memory of their own that native code has made, see [`Context::passed_over`].
    passed_over: u64,
}

/// What native code needs to be entered.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Bytes of frames, from the base of the entered one.
    pub bytes: u64,
    /// How many calls deep it goes.
    pub depth: usize,
    /// Whether it [passes over](Context::passed_over) numbers of regions.
    pub passes_frames: bool,
}

impl Room {
    /// Returns whether it is there from a frame's base on, around which there are so many frames.
    #[inline(always)]
    fn is_there(&self, t: &Thread, base: *mut u8, depth: usize) -> bool {
        t.stack.left(base) as u64 >= self.bytes
            && depth + self.depth < t.max_depth
            && (!self.passes_frames || t.memory.has_numbers())
    }
}

/// Where a register lies in the frames of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RegisterSlot {
    /// Byte offset from the frame's base.
    pub at: u32,
    /// Its shape.
    pub shape: Shape,
    /// Its element type.
    pub ty: Ty,
}

/// A uniform register of the frame at `base`, its bits zero-extended.
///
/// # Safety
/// The frame lies in the stack, and is one of the register's function.
///
/// # Panics
/// If the register is varying.
#[inline]
unsafe fn uniform(base: *mut u8, slot: RegisterSlot) -> u64 {
    assert_eq!(slot.shape, Shape::Uniform, "a uniform register");
    let at = base.wrapping_add(slot.at as usize);
    // SAFETY: the caller's promise.
    unsafe {
        match slot.ty.size() {
            1 => at.read().into(),
            2 => at.cast::<u16>().read().into(),
            4 => at.cast::<u32>().read().into(),
            _ => at.cast::<u64>().read(),
        }
    }
}

/// A frame that native code leaves to the interpreter.
#[derive(Clone, Debug)]
pub struct ResumeFrame {
    /// Its function.
    pub function: FuncId,
    /// The instruction to execute next; in all frames but the last, the call that waits.
    pub pc: u32,
    /// Byte offset from the base of the frame that was entered.
    pub at: u32,
    /// The kinds of its mask entries, from the bottom.
    pub entries: Box<[EntryKind]>,
    /// If it has memory that native code has not entered: what is to be done for that.
    pub unopened: Option<UnopenedMemory>,
}

/// The memory of a frame that native code has not entered, as it asked for none of its addresses. Who leaves to the interpreter
/// enters it.
#[derive(Clone, Debug, Default)]
pub struct UnopenedMemory {
    /// The bytes of it that are to be zeroed; others native code has written, or nobody reads.
    pub zeroed: Box<[Range<u64>]>,
    /// Registers that hold an offset in it, and are to hold the pointer: where they lie from the base of the frame that was entered,
    /// and whether they vary.
    pub pointers: Box<[(u32, bool)]>,
}

/// Words that a frame takes in [`Context::words`] before its entries: its execution mask, and the pointer to its memory or 0.
pub const FRAME_WORDS: usize = 2;

/// Words that an entry of the mask stack takes in [`Context::words`]: `restore`, `other`, and the lane that an `each.all` is
/// visiting plus one (0 for none).
pub const ENTRY_WORDS: usize = 3;

impl PreparedProgram {
    /// Bytes of a frame of a function; `None` if no stack can hold it.
    pub fn frame_bytes(&self, function: FuncId) -> Option<u64> {
        let bytes = self.0.function(function).frame_bytes;
        (bytes != usize::MAX).then_some(bytes as u64)
    }

    /// Where the memory of a function's frames begins: byte offset from [`Context::memory_base`], if the frame is the
    /// entered one; else the frame's own offset is to be added.
    pub fn frame_memory(&self, function: FuncId) -> u64 {
        self.0.function(function).memory_at as u64
    }

    /// Where a register of a function lies in its frames.
    pub fn register(&self, function: FuncId, reg: Reg) -> RegisterSlot {
        let slot = self.0.function(function).slot(reg);
        RegisterSlot { at: slot.at, shape: slot.shape, ty: slot.ty }
    }

    /// The heads of loops and functions that are counted: function and instruction of each hot count.
    pub fn heads(&self) -> impl Iterator<Item = (FuncId, u32)> + '_ {
        self.0.hot_counts.iter().map(|hot_count| hot_count.at)
    }

    /// How many rounds of each of these loops, and calls of these functions, the interpreter has begun, about. Those at which the
    /// tracer was asked are not counted.
    pub fn interpreted_rounds(&self) -> impl Iterator<Item = ((FuncId, u32), u64)> + '_ {
        self.0.hot_counts.iter().map(|hot_count| (hot_count.at, hot_count.counted()))
    }

    /// Asks the tracer about a hot count again after so many rounds.
    pub fn set_countdown(&self, hot_count: usize, rounds: u32) {
        if let Some(hot_count) = self.0.hot_counts.get(hot_count) {
            hot_count.restart(rounds);
        }
    }
}

// What native code is entered and left by is inlined: it happens some million times a second.
impl Pause<'_> {
    /// What the tracer keeps with the thread.
    #[inline]
    pub fn kept(&mut self) -> &mut Kept {
        &mut self.thread.kept
    }

    /// The program.
    #[inline]
    pub fn program(&self) -> &Program {
        &self.thread.code.program
    }

    #[inline]
    fn executing(&self) -> &PreparedFunction {
        // SAFETY: `Thread::function` belongs to the thread's code.
        unsafe { &*self.thread.function }
    }

    /// The place of the instruction that is executed next: a number of its own while the thread is in this call of the
    /// host or task; 0 if the run has ended.
    #[inline]
    pub fn place(&self) -> usize {
        self.next as usize
    }

    /// The executing function.
    #[inline]
    pub fn function(&self) -> FuncId {
        self.executing().id
    }

    /// The instruction that is executed next.
    #[inline]
    pub fn pc(&self) -> u32 {
        self.executing().pc(self.next)
    }

    /// The prepared program, which outlives the pause.
    pub fn prepared(&self) -> PreparedProgram {
        PreparedProgram(Arc::clone(&self.thread.code))
    }

    /// The number of the loop or function at which the interpreter was stopped: an index into [`PreparedProgram::heads`].
    #[inline]
    pub fn hot_count(&self) -> usize {
        self.hot_count as usize
    }

    /// Returns whether the run has ended, or the thread has to wait for others: nothing more is to be done.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.next.is_null()
    }

    /// The instruction that is executed next; `None` if the run has ended.
    #[inline]
    pub fn inst(&self) -> Option<&Inst> {
        let f = (!self.has_ended()).then(|| self.executing())?;
        self.thread.code.program.functions[f.id.0 as usize].code.get(f.pc(self.next) as usize)
    }

    /// Has the interpreter execute one instruction, whatever that is. The tracer is not asked about anything meanwhile.
    #[inline]
    pub fn step(&mut self) {
        self.steps(1);
    }

    /// The same for so many instructions, or those up to a call or return.
    #[inline]
    pub fn steps(&mut self, instructions: u32) {
        let before = std::mem::replace(&mut self.thread.stepping, true);
        let depth = self.thread.frames.len();
        for _ in 0..instructions {
            if self.has_ended() || self.thread.frames.len() != depth {
                break;
            }
            // SAFETY: the next step of the executing function, as in `run_steps`.
            self.next = unsafe { ((*self.next).handler)(self.thread, self.next) };
        }
        self.thread.stepping = before;
    }

    /// The execution mask.
    #[inline]
    pub fn mask(&self) -> u64 {
        self.thread.mask
    }

    /// The mask of all lanes.
    #[inline]
    pub fn full_mask(&self) -> u64 {
        self.thread.full
    }

    /// The frame's mask entries from the bottom: kind, `restore`, `other`.
    #[inline]
    pub fn entries(&self) -> impl Iterator<Item = (EntryKind, u64, u64)> + '_ {
        self.thread.masks[self.thread.floor..].iter().map(|e| (e.kind, e.restore, e.other))
    }

    /// Returns whether there is room for native code.
    #[inline]
    pub fn has_room(&self, room: &Room) -> bool {
        room.is_there(self.thread, self.thread.base, self.depth())
    }

    /// How many frames there are around the executing one, those included of which only native code knows.
    #[inline]
    pub fn depth(&self) -> usize {
        self.thread.frames.len() + self.thread.hidden
    }

    /// Fuel left in the current slice.
    #[inline]
    pub fn ticks(&self) -> i64 {
        self.thread.ticks
    }

    /// Fuel that the thread has used; a difference of two tells how much was used in between.
    #[inline]
    pub fn fuel_used(&self) -> i64 {
        self.thread.fuel_used()
    }

    /// The masks of the executing frame, as [`Context::words`] has them at entry: [`FRAME_WORDS`], then [`ENTRY_WORDS`] for
    /// every entry.
    #[inline(always)]
    pub fn write_masks(&self, words: &mut [u64]) {
        let t = &self.thread;
        words[0] = t.mask;
        words[1] = if t.region == 0 { 0 } else { region_start(t.region) };
        let entries = &t.masks[t.floor..];
        let to = &mut words[FRAME_WORDS..][..entries.len() * ENTRY_WORDS];
        // Plain loops: of short iterators what is called takes longer than what it does.
        for i in 0..entries.len() {
            let entry = &entries[i];
            to[ENTRY_WORDS * i] = by_itself(&entry.restore);
            to[ENTRY_WORDS * i + 1] = by_itself(&entry.other);
            to[ENTRY_WORDS * i + 2] = entry.visiting as u64;
        }
    }

    /// The bits of a uniform register of the executing frame.
    ///
    /// # Panics
    /// If the register is varying.
    #[inline]
    pub fn uniform(&self, slot: RegisterSlot) -> u64 {
        // SAFETY: the executing frame lies in the stack.
        unsafe { uniform(self.thread.base, slot) }
    }

    /// Executes up to so many instructions under the eyes of an observer, from the head of the loop on. The interpreter goes
    /// on where this has ended.
    pub fn observe(&mut self, instructions: u32, observer: &mut impl Observer) {
        let before = std::mem::replace(&mut self.thread.observed, true);
        for _ in 0..instructions {
            if self.next.is_null() {
                break;
            }
            let (function, pc) = (self.function(), self.pc());
            let depth = self.thread.frames.len();
            observer.before(&View { thread: self.thread, function, pc });
            // SAFETY: the next step of the executing function, as in `run_steps`.
            self.next = unsafe { ((*self.next).handler)(self.thread, self.next) };
            if !self.next.is_null() && self.thread.frames.len() == depth {
                observer.after(&View { thread: self.thread, function, pc });
            }
        }
        self.thread.observed = before;
    }

    /// What native code works on. `words` holds what [`write_masks`](Self::write_masks) writes, and takes the masks of the
    /// frames at the exit; `counters` is memory for statistics. Call [`leave`](Self::leave) with it afterwards.
    #[inline]
    pub fn enter(&mut self, words: &mut [u64], counters: *mut u64) -> Context {
        let t = &mut *self.thread;
        let frame_address = words[1];
        let (base, memory_base, ticks) = (t.base, t.memory_base(t.base), t.ticks);
        let (regions, words) = (t.memory.directory(), words.as_mut_ptr());
        Context {
            base,
            memory_base,
            ticks,
            words,
            frame_address,
            counters,
            regions,
            passed_over: 0,
            leave_at: i64::MAX,
            is_shared: t.memory.is_shared().into(),
            call: None,
            caller: std::ptr::null_mut(),
            has_led: false,
            thread: t,
        }
    }

    /// Takes back what native code has changed.
    #[inline]
    pub fn leave(&mut self, context: &Context) {
        debug_assert_eq!(self.thread.held_back, 0, "fuel is not held back from the interpreter");
        self.thread.ticks = context.ticks;
        self.passed_over = context.passed_over;
    }

    /// Puts the interpreter where native code has left: `frames` outermost first, the first being the executing one, and
    /// `words` what [`write_masks`](Self::write_masks) would write, for each frame.
    ///
    /// # Safety
    /// The frames are what interpreting would have led to: each but the last stands at a call of the next one's function,
    /// the last at an instruction whose live registers have been written, with mask entries of the kinds that the verifier
    /// found there; and there was room for them ([`has_room`](Self::has_room)).
    #[inline]
    pub unsafe fn resume(&mut self, frames: &[ResumeFrame], words: &[u64]) {
        let t = &mut *self.thread;
        t.masks.truncate(t.floor);
        if let [frame] = frames
            && self.passed_over == 0
            && frame.unopened.is_none()
        {
            // Most of the time it is the entered frame that goes on.
            take_masks(t, words, &frame.entries);
            // SAFETY: `Thread::function` belongs to the thread's code; the caller's promise about `pc`.
            self.next = unsafe { (*t.function).steps.as_ptr().add(frame.pc as usize) };
            return;
        }
        // SAFETY: the caller's promise.
        unsafe { self.resume_frames(frames, words) }
    }

    /// The same as [`resume`](Self::resume) and a [`step`](Self::step), if the entered frame is the only one and stands
    /// at a return: then nobody sees its masks. If it has to wait for what it has launched, it still stands there.
    ///
    /// # Safety
    /// As for that.
    #[inline(always)]
    pub unsafe fn resume_at_return(&mut self, frames: &[ResumeFrame], words: &[u64]) {
        // SAFETY: the caller's promise, which is the contract of handlers.
        unsafe {
            if self.passed_over != 0 || self.thread.has_to_wait() {
                self.resume(frames, words);
            }
            if !self.thread.has_to_wait() {
                self.next = control::leave(self.thread);
            }
        }
    }

    /// [`resume`](Self::resume), of several frames, or some that have not been entered.
    ///
    /// # Safety
    /// As for that.
    unsafe fn resume_frames(&mut self, frames: &[ResumeFrame], words: &[u64]) {
        let t = &mut *self.thread;
        let entered = t.base;
        let mut words = words;
        let mut waiting: Option<*const Step> = None;
        if self.passed_over != 0 {
            // Those that are still there take their numbers now.
            let entered_now = frames.iter().filter(|frame| frame.unopened.is_some()).count() as u64;
            t.memory.pass_over_frames(self.passed_over.saturating_sub(entered_now));
            self.passed_over = 0;
        }
        let mut has_regions = true;
        for frame in frames {
            let function: *const PreparedFunction = t.code.function(frame.function);
            // SAFETY: it belongs to the thread's code; and the caller's promise about `pc` and room.
            unsafe {
                if let Some(step) = waiting {
                    let (caller, mask, floor, region) = (t.function, t.mask, t.floor, t.region);
                    t.frames.push(Frame { function: caller, step, base: t.base, mask, floor, region });
                    t.base = entered.add(frame.at as usize);
                    t.function = function;
                    t.floor = t.masks.len();
                    t.region = 0;
                    control::write_constants(&*function, t.base);
                }
                waiting = Some((*function).steps.as_ptr().add(frame.pc as usize));
            }
            if t.base != entered {
                t.region = region_of(words[1]);
            }
            words = take_masks(t, words, &frame.entries);
            if let Some(unopened) = &frame.unopened {
                // SAFETY: the frame lies in the stack; the caller's promise about what is written and what is not.
                has_regions &= unsafe { enter_memory(t, entered, unopened) };
            }
        }
        if let Some(step) = waiting {
            self.next = step;
            if !has_regions {
                let trap = t.memory.out_of_memory();
                self.next = t.raise_trap(step, trap, None);
            }
        }
    }
}

/// Reads a word alone. Two that have just been written one by one must not be read at once: the processor would wait
/// until both are in its cache.
#[inline(always)]
fn by_itself<T: Copy>(word: &T) -> T {
    // SAFETY: a reference can be read from.
    unsafe { std::ptr::read_volatile(word) }
}

/// Takes the masks of the executing frame from words that [`Pause::write_masks`] would write; gives those behind.
#[inline(always)]
fn take_masks<'w>(t: &mut Thread, words: &'w [u64], kinds: &[EntryKind]) -> &'w [u64] {
    t.mask = words[0];
    read_masks(words, kinds, |entry| t.masks.push(entry))
}

/// Reads the mask entries of a frame from such words; gives those behind.
#[inline(always)]
fn read_masks<'w>(words: &'w [u64], kinds: &[EntryKind], mut entry: impl FnMut(MaskEntry)) -> &'w [u64] {
    let mut rest = &words[FRAME_WORDS..];
    for &kind in kinds {
        let (restore, other) = (by_itself(&rest[0]), by_itself(&rest[1]));
        entry(MaskEntry { kind, visiting: rest[2] as u8, restore, other });
        rest = &rest[ENTRY_WORDS..];
    }
    rest
}

/// Enters the memory of the executing frame, for which native code had no need. Gives `false` if there can be no more regions.
///
/// # Safety
/// The frame lies in the stack, and `unopened` tells what is in its memory and where pointers to it lie, from the base `entered`.
unsafe fn enter_memory(t: &mut Thread, entered: *mut u8, unopened: &UnopenedMemory) -> bool {
    // SAFETY: the thread's code is not replaced while it runs; the caller's promise.
    unsafe {
        let (at, bytes) = ((*t.function).memory_at, (*t.function).memory_bytes);
        let memory = t.memory_base(t.base).add(at);
        for zeroed in &unopened.zeroed {
            std::ptr::write_bytes(memory.add(zeroed.start as usize), 0, (zeroed.end - zeroed.start) as usize);
        }
        let Some(number) = t.memory.map_frame(memory, bytes) else { return false };
        t.region = number;
        for &(at, is_varying) in &unopened.pointers {
            let lanes = if is_varying { t.lanes } else { 1 };
            let register = entered.add(at as usize).cast::<u64>();
            for lane in 0..lanes {
                *register.add(lane) |= region_start(number);
            }
        }
    }
    true
}

/// Returns whether an instruction that moves or clears so many bytes counts no fuel for them.
pub fn is_moved_for_free(bytes: u64) -> bool {
    units_of(bytes) == 0
}

/// The fuel that an instruction which moves so many bytes costs for them.
pub fn units_of(bytes: u64) -> u64 {
    fuel_of(bytes)
}

/// Makes the call at which an exit stands. If that is [direct](PreparedProgram::direct_call), its arguments have been put in the callee's
/// frame, and `mask` is the lanes that execute it; else the exit's state has been written as for leaving by it. Gives `true` once the
/// call has returned: its results lie in their registers. If not, native code is to leave by the exit; [`Context::has_led`] then says
/// whether the call has been made, and the interpreter stands elsewhere by now.
///
/// # Safety
/// Called by native code that was entered with the context, with an exit of its own.
pub type CallNatively = unsafe fn(context: &mut Context, exit: u32, mask: u64) -> bool;

/// What native code works on.
#[repr(C)]
pub struct Context {
    /// The base of the entered frame; registers lie at offsets from it.
    pub base: *mut u8,
    /// What the memory of frames lies at offsets from.
    pub memory_base: *mut u8,
    /// Fuel left in the current slice; below 0 a poll is due, see [`Context::poll`].
    pub ticks: i64,
    /// Masks, in and out.
    pub words: *mut u64,
    /// The pointer to the entered frame's memory.
    pub frame_address: u64,
    /// Counters of statistics.
    pub counters: *mut u64,
    /// The directory of regions: see [`RegionLookup`](crate::memory::RegionLookup).
    pub regions: *const u8,
    /// Frames that were made without entering their memory. Each passes over the number that its region would have had, so that
    /// pointers are the same on every engine.
    pub passed_over: u64,
    /// Once the thread has used so much [fuel](Pause::fuel_used), the next poll has the interpreter do the instruction.
    pub leave_at: i64,
    /// 1 if other threads that run the program may be accessing its memory, else 0. That does not change while native code runs.
    pub is_shared: u64,
    /// Who makes calls that native code does not return from to the interpreter; if nobody does, it leaves at them.
    pub call: Option<CallNatively>,
    /// What that one keeps with this run of native code.
    pub caller: *mut (),
    /// A call has not come back: the interpreter stands where that has led, and is not to be put anywhere.
    pub has_led: bool,
    thread: *mut Thread,
}

impl Context {
    fn thread(&mut self) -> &mut Thread {
        // SAFETY: a context is used only between `Pause::enter` and `Pause::leave`, during which the thread lives and
        // nothing else uses it.
        unsafe { &mut *self.thread }
    }

    /// The slice does not hold so many units (`ticks` would fall below 0): takes the next one and counts them. Or, if
    /// the run must end or wait, gives `false`, with none counted; the interpreter will find the reason when it does
    /// the instruction. So it does where [it is time to leave](Self::leave_at).
    pub fn poll(&mut self, units: u64) -> bool {
        let (ticks, leave_at) = (self.ticks.max(0), self.leave_at);
        let t = self.thread();
        t.ticks = ticks;
        if t.fuel_used() >= leave_at {
            self.ticks = ticks;
            return false;
        }
        self.charge(units)
    }

    /// Counts so many units of fuel. If the run must end or wait, gives `false`; the interpreter will find the reason
    /// when it does the instruction.
    fn charge(&mut self, units: u64) -> bool {
        let ticks = self.ticks.max(0);
        let t = self.thread();
        t.ticks = ticks;
        let goes_on = t.charge_at_once(units);
        self.ticks = t.ticks;
        goes_on
    }

    /// Keeps so much of the slice from native code, which leaves where it would need that: no more is taken meanwhile.
    #[inline(always)]
    pub fn hold_back(&mut self, units: i64) {
        self.ticks -= units;
        self.thread().held_back = units;
    }

    /// Puts back into the slice what was held back.
    #[inline(always)]
    pub fn put_back(&mut self) {
        self.ticks += std::mem::take(&mut self.thread().held_back);
    }

    /// Fuel that is held back.
    #[inline(always)]
    pub fn held_back(&mut self) -> i64 {
        self.thread().held_back
    }

    /// Host address of byte 0 of a pointer's region.
    pub fn region_base(&mut self, pointer: u64) -> u64 {
        self.thread().memory.region(pointer, Access::Read).0 as u64
    }

    /// Host address of a pointer plus `disp`, wherever that is.
    pub fn host_address(&mut self, pointer: u64, disp: i64) -> u64 {
        self.region_base(pointer).wrapping_add_signed(offset_of(pointer)).wrapping_add_signed(disp)
    }

    /// Bytes of a pointer's region that may be accessed.
    pub fn region_len(&mut self, pointer: u64, write: bool) -> u64 {
        self.thread().memory.region(pointer, if write { Access::Write } else { Access::Read }).1
    }

    /// Executes one instruction as the interpreter does, on the frame of its function at an offset from the entered one; its
    /// operands lie in their registers there, and so will its result. If it traps, nothing has happened and the result is
    /// `false`: the interpreter is to find out why.
    ///
    /// # Safety
    /// The instruction neither jumps, calls nor returns, its frame has room, and its operands have been written there.
    pub unsafe fn interpret(&mut self, function: FuncId, pc: u32, at: u32, mask: u64) -> bool {
        self.pass_over();
        let (base, ticks) = (self.base, self.ticks.max(0));
        let t = self.thread();
        let saved = (t.base, t.function, t.mask, t.region);
        let prepared: *const PreparedFunction = t.code.function(function);
        (t.ticks, t.in_native) = (ticks, true);
        // SAFETY: the function belongs to the thread's code; the caller's promise is the contract of the handler.
        let next = unsafe {
            t.base = base.add(at as usize);
            t.function = prepared;
            t.mask = mask;
            let step = (*prepared).steps.as_ptr().add(pc as usize);
            ((*step).handler)(t, step)
        };
        (t.base, t.function, t.mask, t.region) = saved;
        t.in_native = false;
        t.trap = None;
        self.ticks = self.thread().ticks;
        !next.is_null()
    }

    /// Enters the memory of a frame of a function, at an offset from the entered one: zeroed, with a pointer of its
    /// own. Its fuel is counted. 0 if the interpreter is to do the call: there can be no more regions, or the run must
    /// end or wait.
    ///
    /// # Safety
    /// The frame has room.
    pub unsafe fn open_frame(&mut self, function: FuncId, at: u32) -> u64 {
        self.pass_over();
        let base = self.base;
        let prepared: *const PreparedFunction = self.thread().code.function(function);
        // SAFETY: it belongs to the thread's code, which nothing replaces while native code runs; the caller's promise.
        let opened = unsafe {
            let (memory_at, bytes) = ((*prepared).memory_at, (*prepared).memory_bytes);
            if !self.charge(fuel_of(bytes)) {
                return 0;
            }
            let t = self.thread();
            let memory = t.memory_base(base).add(at as usize + memory_at);
            std::ptr::write_bytes(memory, 0, bytes as usize);
            (t.memory.map_frame(memory, bytes), fuel_of(bytes))
        };
        match opened {
            (Some(number), _) => region_start(number),
            (None, fuel) => {
                self.ticks += fuel as i64;
                0
            }
        }
    }

    /// Numbers of regions are about to be taken: passes over those of the frames before.
    fn pass_over(&mut self) {
        if self.passed_over != 0 {
            let n = std::mem::take(&mut self.passed_over);
            self.thread().memory.pass_over_frames(n);
        }
    }

    /// Ends the memory of a frame.
    pub fn close_frame(&mut self, pointer: u64) {
        self.thread().memory.unmap_frame(region_of(pointer));
    }
}
