//! From region to region: what happens at a head, and where a region leads.
//!
//! A region that ends at a call that is a link, at a return, where it was cut, or at the end of its loop leads to a head, at
//! which another begins ([`Leads`]). The state is in the frames by then, so the way there is short: if the instruction is a call
//! or return, the interpreter's handler executes it, with its traps and fuel; then the version whose facts hold is entered. The
//! interpreter goes on, as it could anywhere, where there is none.

use super::calls::{Calls, deepest};
use super::head::{AtHand, Enterable, Head, Left};
use super::hot_loop::{Holding, NEVER};
use super::landing::Leads;
use super::version::{Change, Version};
use super::{Answer, Jit, WORDS};
use crate::record::{LIGHT, leads_on, parts_regions};
use crate::stress;
use spmdvm_vm::interp::native::{ENTRY_WORDS, FRAME_WORDS, Kept, Pause, Tracer};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Heads that a thread has come to, from which on it pays to keep at hand what may be entered. Under stress it always does.
const OFTEN: u32 = 32;

/// Of so many links one is not followed, under stress.
const BROKEN: u64 = 8;

/// What came of coming to a head: after how many rounds to ask again, and where native code has led.
pub(super) struct Visit {
    pub rounds: u32,
    pub leads: Leads,
}

impl Visit {
    pub(super) fn interpret(rounds: u32) -> Visit {
        Visit { rounds, leads: Leads::Nowhere }
    }
}

/// What is to be done at a head once what may be entered there was looked through.
pub(super) enum Then {
    /// A version was entered, and has led there.
    On(Leads),
    /// The same, and something follows from it for the version.
    Change(Box<Change>, Arc<Version>, Leads),
    /// The version that would be entered is to be looked at first.
    LookAgain(Arc<Version>),
    /// There is none that may be entered.
    Ask,
    /// There are more mask entries than native code is handed.
    TooDeep,
}

/// What came of entering a version.
pub(super) enum Entered {
    On(Leads),
    Change(Box<Change>, Leads),
    /// It is to be looked at first.
    Due,
}

impl Entered {
    /// The same, of a version.
    #[inline(always)]
    pub(super) fn of(self, version: impl FnOnce() -> Option<Arc<Version>>) -> Then {
        match self {
            Entered::On(leads) => Then::On(leads),
            Entered::Change(change, leads) => match version() {
                Some(version) => Then::Change(change, version, leads),
                None => Then::On(leads),
            },
            Entered::Due => version().map_or(Then::Ask, Then::LookAgain),
        }
    }
}

/// Where [`Jit::hurry`] has come to.
enum Hurried {
    /// The interpreter goes on.
    Over,
    /// A place that is not at hand. A call or return before it has been done.
    Elsewhere,
    /// A head at which something else is to be done.
    Stopped(Arc<Head>, Then),
    /// Something follows from the entry of a version that was called.
    Left(Box<Left>),
}

impl Tracer for Jit {
    fn at_head(&self, pause: &mut Pause<'_>) -> u32 {
        let heads = self.heads.counted(|| pause.prepared(), self.settings.hot);
        let Some(head) = heads.get(pause.hot_count()) else { return NEVER };
        let mut words = std::mem::take(&mut pause.kept().words);
        if words.is_empty() {
            words = vec![0; WORDS].into_boxed_slice();
        }
        let mut at_hand = self.at_hand(pause.kept()).filter(|at_hand| !at_hand.is_full());
        let Visit { rounds, leads } = self.visit(pause, head, &mut at_hand, &mut words, false);
        // Nothing follows on a task that is over.
        if leads != Leads::Nowhere && !pause.has_ended() {
            self.follow(pause, leads, &mut at_hand, &mut words);
        }
        pause.kept().words = words;
        pause.kept().what = at_hand.map(|at_hand| at_hand as Box<dyn Any + Send>);
        rounds
    }

    fn calls(&self) -> u32 {
        self.settings.calls
    }
}

// The way from region to region is inlined, and holds nothing that is seldom done: it is gone some ten million times a second.
impl Jit {
    /// What a thread keeps at hand, if it has come to heads often enough.
    #[inline]
    fn at_hand(&self, kept: &mut Kept) -> Option<Box<AtHand>> {
        let mut found: Option<Box<AtHand>> = match kept.what.take() {
            Some(what) => what.downcast().ok(),
            None => {
                kept.asked = kept.asked.saturating_add(1);
                let is_often = kept.asked >= OFTEN || self.settings.links.is_some();
                is_often.then(AtHand::new)
            }
        };
        if let Some(at_hand) = &mut found {
            // Another thread of the host may have kept it.
            at_hand.deepest = None;
        }
        found
    }

    /// Does what there is to do at a head.
    #[inline]
    fn visit(
        &self,
        pause: &mut Pause<'_>,
        head: &Arc<Head>,
        at_hand: &mut Option<Box<AtHand>>,
        words: &mut [u64],
        linked: bool,
    ) -> Visit {
        let place = pause.place();
        if at_hand.is_none() && head.begins_at_once() && head.enterable().iter().any(|version| version.calls) {
            // Without it the first call would be a link, and all that is around it would be gone on with by regions of its own.
            *at_hand = Some(AtHand::new());
        }
        let then = match at_hand {
            Some(at_hand) if head.begins_at_once() => {
                if at_hand.find(place).is_none() {
                    at_hand.keep(place, head, 0);
                }
                self.enter_at_hand(pause, at_hand, words)
            }
            _ => match self.choose(pause, &head.enterable(), words) {
                Ok(version) => self.enter(pause, version, words),
                Err(then) => then,
            },
        };
        if let Some(left) = at_hand.as_mut().and_then(|at_hand| at_hand.left.take()) {
            return self.leave(pause, left);
        }
        self.settle(pause, head, then, at_hand, words, linked)
    }

    /// Enters a version that may be entered where the interpreter stands, a place that is at hand.
    #[inline(always)]
    pub(super) fn enter_at_hand(&self, pause: &mut Pause<'_>, at_hand: &mut AtHand, words: &mut [u64]) -> Then {
        let at = pause.place();
        let Some(place) = at_hand.find(at) else { return Then::Ask };
        let held = place.held;
        let version = match self.choose(pause, place.enterable(), words) {
            Ok(version) if version.calls => version,
            Ok(version) => return self.enter(pause, version, words),
            Err(then) => return then,
        };
        // What may be entered can be others by the time that a call comes back.
        let calls = Arc::as_ptr(version);
        if !held.contains(&calls.addr()) {
            let version = Arc::clone(version);
            at_hand.hold(at, version);
        }
        at_hand.deepest.get_or_insert_with(deepest);
        // SAFETY: what is at hand holds the version until no call is being made.
        let version = unsafe { &*calls };
        let entered = self.enter_version(pause, version, words, Some(at_hand));
        // One that is compared is due at every entry.
        if matches!(entered, Entered::Due)
            && let Some(leads) = self.enter_compared(pause, version, words, at_hand)
        {
            return Then::On(leads);
        }
        entered.of(|| at_hand.held(calls).cloned())
    }

    /// Enters the one that runs in a version's place, if that is entered within a timed entry of itself.
    #[cold]
    fn enter_compared(
        &self,
        pause: &mut Pause<'_>,
        version: &Version,
        words: &mut [u64],
        at_hand: &mut AtHand,
    ) -> Option<Leads> {
        let [with, runner] = at_hand.compared.as_ref()?;
        if !std::ptr::eq(&**with, version) {
            return None;
        }
        let runner = Arc::clone(runner);
        let calls = Calls { jit: self, at_hand };
        let (_, leads) =
            runner.enter(pause, words, &self.settings, &self.native_instructions, Some(u64::MAX >> 1), Some(calls));
        Some(leads)
    }

    /// The version to enter, of those that may be, if what it was made for holds.
    #[inline(always)]
    fn choose<'v>(
        &self,
        pause: &Pause<'_>,
        enterable: &'v Enterable,
        words: &mut [u64],
    ) -> Result<&'v Arc<Version>, Then> {
        if FRAME_WORDS + pause.entries().count() * ENTRY_WORDS > words.len() {
            return Err(Then::TooDeep);
        }
        pause.write_masks(words);
        let held = Holding::new(pause, words);
        match held.choose(enterable) {
            Some(version) if version.asks_for_one_lane() && held.is_alone() => Err(Then::Ask),
            Some(version) => Ok(version),
            None => Err(Then::Ask),
        }
    }

    /// Runs a version, unless somebody is to look at it first.
    #[inline(always)]
    fn enter(&self, pause: &mut Pause<'_>, version: &Arc<Version>, words: &mut [u64]) -> Then {
        self.enter_version(pause, version, words, None).of(|| Some(Arc::clone(version)))
    }

    /// The same; what is at hand is there for its calls.
    #[inline(always)]
    fn enter_version(
        &self,
        pause: &mut Pause<'_>,
        version: &Version,
        words: &mut [u64],
        at_hand: Option<&mut AtHand>,
    ) -> Entered {
        if version.is_due() {
            return Entered::Due;
        }
        let calls = at_hand.map(|at_hand| Calls { jit: self, at_hand });
        let (change, leads) = version.enter(pause, words, &self.settings, &self.native_instructions, None, calls);
        match change {
            None => Entered::On(leads),
            Some(change) => Entered::Change(change, leads),
        }
    }

    /// Does what follows from the entry of a version that was called.
    #[cold]
    pub(super) fn leave(&self, pause: &mut Pause<'_>, left: Left) -> Visit {
        let Left { head, version, change, leads } = left;
        let visit = self.change(pause, &head, &version, *change, leads);
        head.wait(visit.rounds);
        Visit { rounds: 0, ..visit }
    }

    /// Does what else there is to do at a head: changes its versions, has one made, or leaves it to the interpreter.
    #[inline]
    fn settle(
        &self,
        pause: &mut Pause<'_>,
        head: &Arc<Head>,
        then: Then,
        at_hand: &mut Option<Box<AtHand>>,
        words: &mut [u64],
        linked: bool,
    ) -> Visit {
        let keeps = match &then {
            Then::On(_) => true,
            Then::LookAgain(version) => version.contends(),
            _ => false,
        };
        if !keeps {
            // What is no longer wanted is to be freed.
            *at_hand = None;
        }
        match then {
            Then::On(leads) => Visit { rounds: 0, leads },
            Then::Change(change, version, leads) => self.change(pause, head, &version, *change, leads),
            Then::LookAgain(version) if version.contends() => self.contend(pause, head, &version, at_hand, words),
            Then::LookAgain(version) => {
                self.look_again(pause, head, &version);
                Visit::interpret(0)
            }
            Then::Ask => self.ask(pause, head, at_hand, words, linked),
            Then::TooDeep => Visit::interpret(NEVER),
        }
    }

    /// Nothing may be entered at a head so far.
    #[cold]
    fn ask(
        &self,
        pause: &mut Pause<'_>,
        head: &Arc<Head>,
        at_hand: &mut Option<Box<AtHand>>,
        words: &mut [u64],
        linked: bool,
    ) -> Visit {
        match self.answer(pause, head, &Holding::new(pause, words), linked) {
            Answer::Enter(version) => {
                let then = self.enter(pause, &version, words);
                self.settle(pause, head, then, at_hand, words, linked)
            }
            Answer::Interpret(rounds) => Visit::interpret(rounds),
            Answer::Observe => Visit::interpret(self.observe(pause, head.at)),
            Answer::Look => Visit::interpret(self.look(pause)),
        }
    }

    /// Goes on from where a region has led, for as long as there is native code.
    #[inline(never)]
    fn follow(&self, pause: &mut Pause<'_>, mut leads: Leads, at_hand: &mut Option<Box<AtHand>>, words: &mut [u64]) {
        loop {
            let hurried = match at_hand {
                Some(at_hand) => self.hurry(pause, &mut leads, at_hand, words),
                None => Hurried::Elsewhere,
            };
            let visit = match hurried {
                Hurried::Over => return,
                Hurried::Left(left) => self.leave(pause, *left),
                Hurried::Stopped(head, then) => {
                    let visit = self.settle(pause, &head, then, at_hand, words, true);
                    head.wait(visit.rounds);
                    visit
                }
                Hurried::Elsewhere => {
                    let Some(head) = self.next_head(pause, leads) else { return };
                    if !head.is_due() {
                        return;
                    }
                    if at_hand.is_none() {
                        *at_hand = self.at_hand(pause.kept());
                    }
                    let visit = self.visit(pause, head, at_hand, words, true);
                    head.wait(visit.rounds);
                    visit
                }
            };
            leads = visit.leads;
        }
    }

    /// Does the same as [`follow`](Self::follow) for as long as regions lead to places that are at hand, and there is
    /// nothing to do but to enter the next one.
    #[inline(always)]
    fn hurry(&self, pause: &mut Pause<'_>, leads: &mut Leads, at_hand: &mut AtHand, words: &mut [u64]) -> Hurried {
        loop {
            match *leads {
                Leads::Nowhere => return Hurried::Over,
                Leads::Through | Leads::Past => {
                    pause.step();
                    *leads = Leads::On;
                }
                Leads::On | Leads::Behind => {}
            }
            let Some(place) = at_hand.find(pause.place()) else {
                match self.settings.links.is_none() && self.fetch(pause, at_hand) {
                    true => continue,
                    false => return Hurried::Elsewhere,
                }
            };
            if place.before != 0 {
                pause.steps(place.before);
                continue;
            }
            if pause.mask() == 0 {
                return Hurried::Elsewhere;
            }
            if !place.head.is_due() {
                return Hurried::Over;
            }
            let at = place.head.at;
            match self.enter_at_hand(pause, at_hand, words) {
                Then::On(to) => *leads = to,
                then => {
                    let Some(head) = self.heads.find(at) else { return Hurried::Over };
                    return Hurried::Stopped(Arc::clone(head), then);
                }
            }
            if let Some(left) = at_hand.left.take() {
                return Hurried::Left(Box::new(left));
            }
        }
    }

    /// Keeps at hand the place where the interpreter stands, if regions have led there before.
    #[cold]
    pub(super) fn fetch(&self, pause: &Pause<'_>, at_hand: &mut AtHand) -> bool {
        let Some(inst) = pause.inst().filter(|inst| !parts_regions(inst.op)) else { return false };
        let (at, is_linked) = ((pause.function(), pause.pc()), self.is_linked(inst.op, inst.aux));
        let head = match self.heads.find(at) {
            None if is_linked => self.heads.find_or_add(at, pause.program(), self.settings.hot),
            known => known,
        };
        let Some(head) = head else { return false };
        at_hand.keep(pause.place(), head, if is_linked { 1 } else { head.tail });
        true
    }

    /// The head to which a region has led, once the interpreter has done the calls and returns before it.
    #[inline]
    fn next_head(&self, pause: &mut Pause<'_>, leads: Leads) -> Option<&Arc<Head>> {
        match leads {
            Leads::Nowhere => return None,
            Leads::On | Leads::Behind => {}
            // That is what it was left for, however light the callee is.
            Leads::Through | Leads::Past => pause.step(),
        }
        if pause.has_ended() {
            return None;
        }
        match self.heads.find((pause.function(), pause.pc())) {
            Some(head) if head.begins_at_once() && pause.mask() != 0 && self.settings.links.is_none() => Some(head),
            _ => self.find_head(pause, leads),
        }
    }

    /// The same, where regions have not led before.
    #[cold]
    fn find_head(&self, pause: &mut Pause<'_>, leads: Leads) -> Option<&Arc<Head>> {
        if self.settings.links.is_some() && !self.is_lucky() {
            return None;
        }
        loop {
            while pause.inst().is_some_and(|inst| self.is_linked(inst.op, inst.aux) || parts_regions(inst.op)) {
                pause.step();
            }
            // A region begins with an active lane.
            if pause.has_ended() || pause.mask() == 0 {
                return None;
            }
            let hot = if leads == Leads::Behind { self.settings.calls } else { self.settings.hot };
            let head = self.heads.find_or_add((pause.function(), pause.pc()), pause.program(), hot)?;
            if head.tail == 0 {
                return Some(head);
            }
            pause.steps(head.tail);
        }
    }

    /// Returns whether an instruction is one that regions leave to the interpreter on the way to another.
    fn is_linked(&self, op: Op, callee: u32) -> bool {
        let is_light = || self.whole.get().is_some_and(|whole| whole.weights.of(FuncId(callee)) <= LIGHT);
        leads_on(op) && !(op == Op::Call && is_light())
    }

    /// Returns whether a link is followed, under stress.
    pub(super) fn is_lucky(&self) -> bool {
        let before = self.followed.fetch_add(1, Ordering::Relaxed);
        !stress::is_chosen(before, (FuncId(0), 0), BROKEN)
    }

    /// Does what follows from an entry of a version.
    #[cold]
    fn change(
        &self,
        pause: &mut Pause<'_>,
        head: &Arc<Head>,
        version: &Arc<Version>,
        change: Change,
        leads: Leads,
    ) -> Visit {
        let rounds = match change {
            Change::GiveUp(why, at) => {
                let mut found = head.write();
                found.aborted_at = at;
                found.give_up(why);
                found.rests().unwrap_or(0)
            }
            Change::Recompile => return Visit::interpret(self.recompile(pause, head, version)),
            Change::LookAgain => {
                self.look_again(pause, head, version);
                return Visit::interpret(0);
            }
            Change::Enlarge => {
                self.enlarge(pause, head, version);
                0
            }
            Change::Improve => {
                self.improve_later(version);
                0
            }
            Change::Specialise(special) => {
                let observes = self.settings.observe != 0 && self.settings.stress.is_none();
                // Somebody looks where it polls.
                let looks = observes && !version.contends() && version.exits.iter().any(|landing| landing.polls);
                if let Some(mut found) = head.try_write().filter(|found| !found.has_version_for(&special.facts)) {
                    match looks {
                        true => version.look_for(special),
                        false => self.specialise(pause, head, &mut found, special),
                    }
                }
                0
            }
        };
        Visit { rounds, leads }
    }
}
