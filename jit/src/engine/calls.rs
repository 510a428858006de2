//! Calls that native code makes and comes back from.
//!
//! A call that a region does not hold may be an instruction ([`Kind::Call`](crate::ir::Kind::Call)): the region puts the arguments in
//! the callee's frame, and the regions of the callee are entered from here, one after another, until the call has returned. Then
//! the region that has called goes on where it stands, on the machine's stack, with its values where they were: what would be a region of
//! its own behind each call, and one for every function inlined around it, is none.
//!
//! What called need not come back: whenever there is no native code to go on with, or the interpreter is to do something, all that have
//! called are left at once, the last one first. Each leaves by the exit that stands at its call, which writes its state below that of
//! what it has called. Then all is in the frames, the mask stack and the thread, and what called first goes on from there as if it
//! had been led there. Until then only memory that others see is up to date, and what is below a call on the thread's stack of frames
//! is read by nobody. (A call of a function that is not known writes its state first, for it is the interpreter's handler that makes
//! it.) Where the machine's stack is deep, a call is a link: the region is left before it.
//!
//! Meanwhile regions hold addresses of the host. What would have the thread wait, or let go of memory, is left to the interpreter
//! ([`Pause::steps_within`]).

use super::Jit;
use super::follow::Then;
use super::head::{AtHand, Left};
use super::landing::Leads;
use super::version::Version;
use spmdvm_vm::interp::native::{Caller, Context, Pause};
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
    done: Done,
}

/// What has come of its calls.
#[derive(Default)]
pub(super) struct Done {
    /// Fuel that is held back until somebody looks.
    pub held_back: i64,
    /// Fuel that was counted in what was called.
    pub elsewhere: i64,
    /// Nanoseconds spent there, if that was measured.
    pub nanos: u64,
    /// Where a call has led that did not come back, and who made it, to be abandoned once the code has been left.
    pub leads: Leads,
    pub caller: Option<Caller>,
}

impl<'a> Calling<'a> {
    /// The version is about to be entered from a pause, with these words.
    pub fn new(
        version: &'a Version,
        calls: Calls<'a>,
        pause: &mut Pause<'_>,
        words: *mut [u64],
        held_back: i64,
        measures: bool,
    ) -> Calling<'a> {
        let Calls { jit, at_hand } = calls;
        let pause = std::ptr::from_mut(pause).cast();
        Calling { jit, version, at_hand, pause, words, measures, done: Done { held_back, ..Done::default() } }
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
}

/// See [`CallNatively`](spmdvm_vm::interp::native::CallNatively).
///
/// # Safety
/// As for that; the code was entered with the context of a [`Calling`] that is still there.
unsafe fn call(context: &mut Context, exit: u32, mask: u64) -> bool {
    // SAFETY: `provide` has put it there, and nothing uses it while the code runs.
    let calling = unsafe { &mut *context.caller.cast::<Calling<'_>>() };
    // SAFETY: whoever entered the code has handed these over, and uses none of them before the code has ended. The words are those of
    // the context, which the code does not use during a call.
    let (pause, at_hand, words) = unsafe { (&mut *calling.pause, &mut *calling.at_hand, &mut *calling.words) };
    let here = std::ptr::from_ref(&calling).addr();
    let (jit, landing) = (calling.jit, calling.version.landing(exit));
    let Some((own, words)) = words.split_at_mut_checked(landing.words) else { return false };
    if here < at_hand.deepest || words.len() < LEAST_WORDS || !jit.may_call() {
        return false;
    }
    debug_assert_eq!(landing.fuel, 0, "no fuel is counted in advance across a call");
    let start = calling.measures.then(Instant::now);
    context.ticks += calling.done.held_back;
    pause.leave(context);
    let before = pause.fuel_used();
    let (caller, leads) = match &landing.direct {
        // SAFETY: the code has put the arguments there; its version has room for that, and names no frames to be entered.
        Some(call) => match unsafe { pause.call(call, mask, context) } {
            Some(caller) => (caller, Leads::On),
            None => {
                calling.done.held_back = 0;
                return false;
            }
        },
        // SAFETY: the code has written the state of the exit.
        None => (unsafe { pause.begin_call(&landing.frames, &own[landing.last_words..]) }, Leads::Through),
    };
    calling.version.note_call(landing);
    let leads = jit.run_callee(pause, at_hand, words, &caller, leads);
    let used = pause.fuel_used() - before;
    calling.done.elsewhere += used;
    calling.done.nanos += start.map_or(0, |start| start.elapsed().as_nanos() as u64);
    if let Some(leads) = leads {
        (calling.done.leads, calling.done.caller) = (leads, Some(caller));
        context.has_led = true;
        return false;
    }
    pause.end_call(&caller, context);
    // What was called does not count as rounds of who has called.
    context.leave_at = context.leave_at.saturating_add(used);
    let left = (context.leave_at - pause.fuel_used()).max(0);
    calling.done.held_back = (context.ticks - left).max(0);
    context.ticks -= calling.done.held_back;
    true
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
                Leads::Nowhere => return Some(leads),
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
            match self.enter_at_hand(pause, at_hand, words) {
                // Those that have called are left, for something to be done first.
                Then::On(to) if at_hand.left.is_some() => return Some(to),
                Then::On(to) => leads = to,
                Then::Change(change, version, leads) => {
                    if let Some(head) = self.heads.find(version.at()) {
                        at_hand.left = Some(Left { head: Arc::clone(head), version, change, leads });
                    }
                    return Some(leads);
                }
                Then::LookAgain(_) | Then::Ask | Then::TooDeep => return Some(leads),
            }
        }
    }
}

/// How far down the stack of this thread may be where calls are made, if nothing has called so far.
pub(super) fn deepest() -> usize {
    let here = 0u8;
    let room = stacker::remaining_stack().map_or(UNKNOWN, |left| left.saturating_sub(LEFT).min(STACK));
    std::ptr::from_ref(&here).addr().saturating_sub(room)
}
