//! Calls that native code makes and comes back from.
//!
//! A call that a region does not hold may be an instruction ([`Kind::Call`](crate::ir::Kind::Call)): the region puts the arguments in
//! the callee's frame, and the regions of the callee are entered from here, one after another, until the call has returned. Then
//! the region that has called goes on where it stands, on the machine's stack, with its values where they were: what would be a region of
//! its own behind each call, and one for every function inlined around it, is none.
//!
//! Most calls are *fast calls*: the lanes and the arguments decide which version of the callee is entered, nobody is to look at anything,
//! and it leaves at its return. What it enters is found once for several of them ([`AtHand::ready`]). Of such a call the thread is told
//! nothing. The context becomes that of the callee, and then that of the caller again ([`Context::begin_fast_call`]). Before anything asks
//! the thread about its frames, that is a call that is not fast, or an exit that leads elsewhere, the calls that are being made are *shown*
//! to it, the first one first, and are calls like others from then on.
//!
//! What called need not come back: whenever there is no native code to go on with, or the interpreter is to do something, all that have
//! called are left at once, the last one first. Each leaves by the exit that stands at its call, which writes its state below that of
//! what it has called. Then all is in the frames, the mask stack and the thread, and what called first goes on from there as if it
//! had been led there. Until then only memory that others see is up to date, and what is below a call on the thread's stack of frames
//! is read by nobody. (A call of a function that is not known writes its state first, for it may be the interpreter's handler that
//! makes it.) Where the machine's stack is deep, a call is a link: the region is left before it.
//!
//! Meanwhile regions hold addresses of the host. What would have the thread wait, or let go of memory, is left to the interpreter
//! ([`Pause::steps_within`]).

use super::Jit;
use super::follow::{Entered, Then};
use super::head::{AtHand, Left, lanes_of};
use super::landing::{Landing, Leads};
use super::version::Version;
use crate::ir::ExitId;
use spmdvm_vm::interp::native::{Caller, Context, DirectCall, FastCall, Pause, RegisterSlot};
use std::sync::Arc;
use std::time::Instant;

/// Most bytes of the machine's stack that calls within calls take.
const STACK: usize = 256 << 10;

/// Bytes of it that are left to what is called last: a region, whose frame may be as large, and what that calls.
const LEFT: usize = 384 << 10;

/// The bytes that calls within calls take where nobody knows how large the stack is.
const UNKNOWN: usize = 32 << 10;

/// Mask words that there must be for what is called.
const LEAST_WORDS: usize = 160;

/// Most entries of a version that calls find at once, before somebody looks whether another suits better.
const MOST_READY: u64 = 256;

/// Who makes the calls of a version that is entered.
pub(super) struct Calls<'a> {
    pub jit: &'a Jit,
    pub at_hand: &'a mut AtHand,
}

/// A run of native code that makes calls.
pub(super) struct Calling<'a> {
    jit: &'a Jit,
    version: &'a Version,
    at_hand: *mut AtHand,
    /// The pause that was entered; its lifetime is longer than this one's.
    pause: *mut Pause<'static>,
    words: *mut [u64],
    /// Whether the entry is measured, so that the time of calls must be.
    measures: bool,
    /// Frames that there are when its code runs, those included of which the thread is not told.
    depth: usize,
    /// The fast call that it is, if it is one.
    fast: Option<Fast<'a>>,
    done: Done,
}

/// A fast call that is being made.
struct Fast<'a> {
    /// Who makes it.
    by: *mut Calling<'a>,
    call: &'a DirectCall,
    mask: u64,
    made: FastCall,
    /// What the thread keeps of it, since it has been told.
    shown: Option<Caller>,
}

/// What has come of its calls.
#[derive(Default)]
pub(super) struct Done {
    /// Fuel that was counted in what was called.
    pub elsewhere: i64,
    /// Nanoseconds spent there, if that was measured, and calls by which that was so.
    pub nanos: u64,
    pub measured: u64,
    /// Where a call has led that did not come back, and who made it, to be abandoned once the code has been left.
    pub leads: Leads,
    pub caller: Option<Caller>,
}

/// A call that has been made, of which the thread has been told.
struct Made {
    caller: Caller,
    /// Where it has led so far; an error if those that have called are to be left.
    leads: Result<Leads, Leads>,
    /// Fuel that the thread had used before.
    before: i64,
    start: Option<Instant>,
}

/// What came of an attempt to make a fast call.
enum Attempt {
    Returned,
    /// It has left elsewhere, and is a call like others by now.
    Left(Made),
    /// Nothing has happened.
    Refused,
}

impl<'a> Calling<'a> {
    /// The version is about to be entered from a pause, with these words.
    pub fn new(
        version: &'a Version,
        calls: Calls<'a>,
        pause: &mut Pause<'_>,
        words: *mut [u64],
        measures: bool,
    ) -> Calling<'a> {
        let Calls { jit, at_hand } = calls;
        let depth = pause.depth();
        let pause = std::ptr::from_mut(pause).cast();
        Calling { jit, version, at_hand, pause, words, measures, depth, fast: None, done: Done::default() }
    }

    /// Makes the calls of the code that runs on a context.
    pub fn provide(&mut self, context: &mut Context) {
        context.caller = std::ptr::from_mut(self).cast();
        context.call = Some(call);
    }

    /// The run is over.
    pub fn done(self) -> Done {
        self.done
    }

    /// Makes a call, in these lanes, as a fast call.
    ///
    /// # Safety
    /// As for [`call`], at an exit with this landing.
    #[inline(always)]
    unsafe fn call_fast(&mut self, context: &mut Context, landing: &'a Landing, mask: u64) -> Attempt {
        if self.measures {
            return Attempt::Refused;
        }
        // SAFETY: the caller's promise; where the function is known only now, the code has written the state of the exit.
        let (call, mask) = unsafe {
            match (&landing.direct, &landing.indirect) {
                (Some(call), _) => (call, mask),
                (None, Some(call)) => match call.target(context) {
                    Some(call) => (call, *self.words.cast::<u64>().add(landing.last_words)),
                    None => return Attempt::Refused,
                },
                (None, None) => return Attempt::Refused,
            }
        };
        // SAFETY: see `call`.
        let at_hand = unsafe { &mut *self.at_hand };
        // SAFETY: the code stands at this call.
        let argument = |slot| unsafe { context.argument(call, slot) };
        let ready = at_hand.ready(landing.number, mask, argument);
        let Some(entered) = ready.or_else(|| find_callee(at_hand, landing, call, mask, argument)) else {
            return Attempt::Refused;
        };
        // SAFETY: what is at hand holds the version until no call is being made.
        let version = unsafe { &*entered };
        let words = self.words_of_callee(landing);
        if context.held_back() != 0 || !version.may_be_called(words.len(), context.ticks) {
            return Attempt::Refused;
        }
        let depth = self.depth + call.frames();
        let to = words.cast::<u64>();
        // SAFETY: the code stands at this call, and has entered the memory of all frames; there is room for words and counters. Who asks
        // the thread about its frames shows the call first.
        let made = unsafe { context.begin_fast_call(call, mask, depth, version.room(), to, version.counters()) };
        let Some(made) = made else { return Attempt::Refused };
        version.begin();
        let before = context.fuel_used();
        let leave_at = before.saturating_add(version.rounds_until_look() as i64);
        let leave_at = std::mem::replace(&mut context.leave_at, leave_at);
        let by = std::ptr::from_mut(self);
        let fast = Some(Fast { by, call, mask, made, shown: None });
        let Calling { jit, at_hand, pause, .. } = *self;
        let done = Done::default();
        let mut called = Calling { jit, version, at_hand, pause, words, measures: false, depth, fast, done };
        context.caller = std::ptr::from_mut(&mut called).cast();
        // SAFETY: the version was made for this function, and suits these lanes; there is room.
        let exit = unsafe { version.code.best().run(context) };
        let left_by = version.landing(exit.0);
        self.version.note_call(landing);
        let not_used = left_by.fuel + context.held_back();
        let here = (context.fuel_used() - not_used - before - called.done.elsewhere).max(0) as u64;
        match &called.fast {
            Some(Fast { made, shown: None, .. }) if left_by.returns && !version.is_due_after(left_by, here) => {
                context.ticks += left_by.fuel;
                context.put_back();
                version.count(Some(left_by), here, &jit.native_instructions);
                // SAFETY: the code has left at the return of its function.
                unsafe { context.end_fast_call(call, made) };
                context.leave_at = leave_at;
                self.go_on(context, before - call.fuel());
                Attempt::Returned
            }
            // SAFETY: the code has been left by this exit.
            _ => Attempt::Left(unsafe { called.leave_fast_call(context, exit, before, leave_at) }),
        }
    }

    /// The words that are there for a function that is called where the code would leave by this landing.
    #[inline(always)]
    fn words_of_callee(&self, landing: &Landing) -> *mut [u64] {
        let (words, n) = (self.words.cast::<u64>().wrapping_add(landing.words), self.words.len());
        std::ptr::slice_from_raw_parts_mut(words, n.saturating_sub(landing.words))
    }

    /// A fast call has been left elsewhere than at its return, or something is to be done: makes it a call like others. It had been
    /// begun when the thread had used so much fuel. The context becomes that of the code that has made the call.
    ///
    /// # Safety
    /// The code has been left by this exit.
    #[cold]
    unsafe fn leave_fast_call(mut self, context: &mut Context, exit: ExitId, before: i64, leave_at: i64) -> Made {
        // SAFETY: see `call`; nothing of this run uses it any more.
        let (pause, words) = unsafe { (&mut *self.pause, &*self.words) };
        // SAFETY: see `call`.
        unsafe { self.show() };
        let Calling { jit, version, at_hand, fast, done, .. } = self;
        let Some(Fast { call, made, shown: Some(caller), .. }) = fast else {
            unreachable!("a fast call has been made and shown");
        };
        // SAFETY: the pause has been told of the call, and stands where that was entered, or where it has led.
        let run = unsafe { version.leave(pause, context, words, exit, before, done) };
        // The pause has seen to them.
        context.passed_over = 0;
        context.restore(&made);
        context.leave_at = leave_at;
        let (change, leads) = version.conclude(&run, None, false, &jit.settings, &jit.native_instructions);
        // SAFETY: see `call`.
        let at_hand = unsafe { &mut *at_hand };
        let then = match change {
            None => Then::On(leads),
            Some(change) => Entered::Change(change, leads).of(|| at_hand.held(version).cloned()),
        };
        Made { caller, leads: jit.led_on(then, at_hand), before: before - call.fuel(), start: None }
    }

    /// Tells the thread of the fast calls that are being made.
    ///
    /// # Safety
    /// As for [`call`].
    #[cold]
    unsafe fn show(&mut self) {
        let Some(fast) = self.fast.as_mut().filter(|fast| fast.shown.is_none()) else { return };
        // SAFETY: who has made the call is there until it is over, and so is the pause.
        unsafe {
            (*fast.by).show();
            (*self.at_hand).shown += 1;
            fast.shown = Some((*self.pause).show_call(fast.call, fast.mask, &fast.made));
        }
    }

    /// A call has come back, which began when the thread had used so much fuel.
    #[inline(always)]
    fn go_on(&mut self, context: &mut Context, before: i64) {
        let now = context.fuel_used();
        let used = now - before;
        self.done.elsewhere += used;
        // What was called does not count as rounds of who has called.
        context.leave_at = context.leave_at.saturating_add(used);
        let left = (context.leave_at - now).max(0);
        context.hold_back((context.ticks - left).max(0));
    }

    /// Makes a call that is no fast call, or goes on with one that has become a call like others.
    ///
    /// # Safety
    /// As for [`call`], at an exit with this landing.
    #[inline(never)]
    unsafe fn call_slowly(&mut self, context: &mut Context, landing: &Landing, mask: u64, made: Option<Made>) -> bool {
        // SAFETY: see `call`. The words are those of the context, which the code does not use during a call.
        let (pause, at_hand, words) = unsafe { (&mut *self.pause, &mut *self.at_hand, &mut *self.words) };
        let (own, words) = words.split_at_mut(landing.words);
        let made = match made {
            Some(made) => made,
            // SAFETY: likewise.
            None => match unsafe { self.make_call(pause, context, landing, mask, own) } {
                Some(made) => made,
                None => return false,
            },
        };
        let Made { caller, leads, before, start } = made;
        let leads = leads.map_or_else(Some, |leads| self.jit.run_callee(pause, at_hand, words, &caller, leads));
        if let Some(start) = start {
            self.done.nanos += start.elapsed().as_nanos() as u64;
            self.done.measured += 1;
        }
        if let Some(leads) = leads {
            self.done.elsewhere += pause.fuel_used() - before;
            (self.done.leads, self.done.caller) = (leads, Some(caller));
            context.has_led = true;
            return false;
        }
        pause.end_call(&caller, context);
        self.go_on(context, before);
        true
    }

    /// Makes a call of which the thread is told at once. Gives `None` if the interpreter is to do it.
    ///
    /// # Safety
    /// As for [`call`], at an exit with this landing.
    #[inline(always)]
    unsafe fn make_call(
        &mut self,
        pause: &mut Pause<'_>,
        context: &mut Context,
        landing: &Landing,
        mask: u64,
        words: &[u64],
    ) -> Option<Made> {
        // SAFETY: see `call`.
        unsafe {
            (*self.at_hand).shown = 1;
            self.show();
        }
        let start = self.measures.then(Instant::now);
        context.put_back();
        pause.leave(context);
        let before = pause.fuel_used();
        let (caller, leads) = match &landing.direct {
            // SAFETY: the code has put the arguments there; its version has room for that, and names no frames to be entered.
            Some(call) => match unsafe { pause.call(call, mask, context) } {
                Some(caller) => (caller, Leads::On),
                None => return None,
            },
            // SAFETY: the code has written the state of the exit.
            None => (unsafe { pause.begin_call(&landing.frames, &words[landing.last_words..]) }, Leads::Through),
        };
        self.version.note_call(landing);
        Some(Made { caller, leads: Ok(leads), before, start })
    }
}

/// The version that a fast call enters in these lanes, with these arguments; it is held from now on. Where the call is made again and
/// again, that is ready for those that follow, until somebody is to look at what it enters.
#[inline(never)]
fn find_callee(
    at_hand: &mut AtHand,
    landing: &Landing,
    call: &DirectCall,
    mask: u64,
    argument: impl Fn(RegisterSlot) -> Option<u64>,
) -> Option<*const Version> {
    let is_again = landing.number != 0 && at_hand.is_found_again(landing.number, mask);
    let place = at_hand.find(call.first())?;
    let held = place.held;
    let (before, version) = place.called(mask, argument)?;
    let entered = Arc::as_ptr(version);
    let unseen = version.entries_unseen(if is_again { MOST_READY } else { 1 });
    if unseen == 0 {
        return None;
    }
    let lanes = if unseen > 1 { lanes_of(before, version, mask) } else { None };
    let is_held = held.contains(&entered.addr());
    if lanes.is_some() || !is_held {
        let version = Arc::clone(version);
        if let Some(lanes) = lanes {
            at_hand.make_ready(landing.number, mask, lanes, version.begun() + unseen, &version);
        }
        if !is_held {
            at_hand.hold(call.first(), version);
        }
    }
    Some(entered)
}

/// See [`CallNatively`](spmdvm_vm::interp::native::CallNatively).
///
/// # Safety
/// As for that; the code was entered with the context of a [`Calling`] that is still there.
unsafe fn call(context: &mut Context, exit: u32, mask: u64) -> bool {
    // SAFETY: whoever has entered the code has put it there; nothing uses it while the code runs, nor what it points to: those are used
    // by none that waits for a call.
    let calling = unsafe { &mut *context.caller.cast::<Calling<'_>>() };
    let here = std::ptr::from_ref(&calling).addr();
    let landing = calling.version.landing(exit);
    debug_assert_eq!(landing.fuel, 0, "no fuel is counted in advance across a call");
    // SAFETY: likewise.
    let is_deep = Some(here) < unsafe { (*calling.at_hand).deepest };
    if is_deep || calling.words.len() < landing.words + LEAST_WORDS || !calling.jit.may_call() {
        return false;
    }
    // SAFETY: the caller's promise.
    unsafe {
        match calling.call_fast(context, landing, mask) {
            Attempt::Returned => true,
            Attempt::Left(made) => calling.call_slowly(context, landing, mask, Some(made)),
            Attempt::Refused => calling.call_slowly(context, landing, mask, None),
        }
    }
}

impl Jit {
    /// Returns whether calls are made now; under stress not all are.
    fn may_call(&self) -> bool {
        self.settings.links.is_none() || self.is_lucky()
    }

    /// Enters regions until the call has returned at which the interpreter stands, or [has been made](Leads::On). If that does not go on:
    /// where it has led.
    fn run_callee(
        &self,
        pause: &mut Pause<'_>,
        at_hand: &mut AtHand,
        words: &mut [u64],
        caller: &Caller,
        mut leads: Leads,
    ) -> Option<Leads> {
        loop {
            match leads {
                // Those that have called are left first.
                Leads::Nowhere | Leads::Past => return Some(leads),
                Leads::Through if !pause.steps_within(1) => return Some(Leads::Nowhere),
                Leads::Through | Leads::On | Leads::Behind => {}
            }
            if pause.has_returned(caller) {
                return None;
            }
            leads = Leads::On;
            let Some(place) = at_hand.find(pause.place()) else {
                match self.fetch(pause, at_hand) {
                    true => continue,
                    false => return Some(leads),
                }
            };
            if place.before != 0 {
                if !pause.steps_within(place.before) {
                    return Some(Leads::Nowhere);
                }
                continue;
            }
            if pause.mask() == 0 {
                return Some(leads);
            }
            if !place.head.is_due() {
                return Some(Leads::Nowhere);
            }
            let then = self.enter_at_hand(pause, at_hand, words);
            leads = match self.led_on(then, at_hand) {
                Ok(leads) => leads,
                Err(leads) => return Some(leads),
            };
        }
    }

    /// Where an entry has led in the midst of a call; an error if those that have called are to be left.
    fn led_on(&self, then: Then, at_hand: &mut AtHand) -> Result<Leads, Leads> {
        match then {
            // Something is to be done first.
            Then::On(to) if at_hand.left.is_some() => Err(to),
            Then::On(to) => Ok(to),
            Then::Change(change, version, leads) => {
                if let Some(head) = self.heads.find(version.at()) {
                    at_hand.left = Some(Left { head: Arc::clone(head), version, change, leads });
                }
                Err(leads)
            }
            Then::LookAgain(_) | Then::Ask | Then::TooDeep => Err(Leads::On),
        }
    }
}

/// How far down the stack of this thread may be where calls are made, if nothing has called so far.
pub(super) fn deepest() -> usize {
    let here = 0u8;
    let room = stacker::remaining_stack().map_or(UNKNOWN, |left| left.saturating_sub(LEFT).min(STACK));
    std::ptr::from_ref(&here).addr().saturating_sub(room)
}
