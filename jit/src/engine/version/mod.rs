//! A compiled version of a loop: how it is entered and left, and what is learnt from that.

mod looks;
mod suits;

use self::looks::LOOK_AGAIN;
use super::arguments::Arguments;
use super::calls::{Calling, Calls, Done};
use super::clock::{Clock, Measure};
use super::contest::Without;
use super::hot_loop::Begins;
use super::landing::{Landing, Leads};
use super::share::Size;
use super::tiers::Tiers;
use crate::abort::Abort;
use crate::advice::Advice;
use crate::ir::{Counter, ExitId, Kind, Outcome, Region};
use crate::profile::ProgramPoint;
use crate::record::{Constant, EntryFacts, MaskFact};
use crate::settings::{Settings, Variant};
use spmdvm_vm::PreparedProgram;
use spmdvm_vm::interp::native::{Context, ENTRY_WORDS, FRAME_WORDS, Pause, Room};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Least work of an entry, in instructions of the IR, that makes up for entering: about 60 ns against 2 ns for each that the
/// interpreter would execute.
const WORTHWHILE: u64 = 30;

/// So many rounds of an entry make up for leaving before the loop's end, and for what the interpreter does of that round.
const LONG: u64 = 64;

/// Entries between two looks at the variants' counters; more of them as entries become many, so that a sixteenth of them is new.
const REVIEW: u64 = 64;
const MOST_REVIEW: u64 = 2048;

/// Rounds between two such looks, where entries are long.
const REVIEW_ROUNDS: u64 = 1 << 16;

/// So many rounds take as long as a link at least. What had to be left out of a region for its size need not be elsewhere: loops that
/// are not unrolled, calls that are not inlined.
const ROUNDS_OF_LINK: u64 = 64;

/// Entries after which a version is judged that is tried again.
const SECOND_TRIAL: u64 = 16;

/// Rounds of a version that is more than the least for it to be compiled anew beyond the usual number of times; four
/// times as many each time.
const LONG_RUN: u64 = 1 << 22;

/// How many rounds a version must have had to be compiled anew, after so many times more than usual.
pub(super) fn long(times: u32) -> u64 {
    LONG_RUN << (2 * times).min(40)
}

/// Rounds of a variant that are too few to judge it by.
const FEW: u64 = 200;

/// Where somebody has looked, an eighth of the rounds between two looks is too few, but so many are enough: what suited
/// for long may fail for a moment.
const FEW_PARTS: u64 = 8;
const ENOUGH: u64 = 1 << 18;

/// How often an arm must have been skipped between two looks, and never entered, to be left out.
const ALWAYS: u64 = 1 << 14;

/// How many times as long as compiling it has taken a version runs before another is made without some of its variants,
/// to be compared: if it is made meanwhile, by a thread that has nothing else to do, and if the program waits for it.
const WORTH_MEASURING: u32 = 4;
const WORTH_WAITING: u32 = 50;

/// How many times as long as compiling it has taken a version runs before it is recompiled with more in it, which takes
/// several times as long.
const WORTH_ENLARGING: u32 = 2;

/// Nanoseconds that it takes to go from one region to another, about.
const LINK: u64 = 60;

/// Nanoseconds of an entry that is compared, about.
const COMPARED: f64 = 500e3;

/// How far the share of hits of a variant must have moved to measure again what it costs.
const MOVED: f64 = 0.25;

/// A compiled region and when it may be entered.
pub(super) struct Version {
    pub facts: EntryFacts,
    /// Of these, those about masks: the words of [`Pause::write_masks`] that must be so.
    pub masks: Box<[(u32, u64)]>,
    /// And those that must be the one lane that is active.
    pub one_lane_words: Box<[u32]>,
    /// Whether somebody is to be asked for a version for one lane where it would be entered with one.
    asks: AtomicBool,
    pub region: Arc<Region>,
    pub code: Tiers,
    pub exits: Box<[Landing]>,
    pub counters: Box<[AtomicU64]>,
    /// Those that count how often variants failed, each with the one that counts how often that suited.
    outcomes: Box<[(usize, Option<usize>)]>,
    /// What they were when somebody looked last whether variants suit, if anybody has.
    counted_before: Box<[AtomicU64]>,
    has_been_seen: AtomicBool,
    /// Whether time decides when somebody looks; nanoseconds of running after which that is so, rounds between the last
    /// two looks, and both when somebody looked last.
    is_timed: bool,
    /// Under stress: by which looks come at random.
    stress: Option<u64>,
    look_time: AtomicU64,
    look_every: AtomicU64,
    looked_at: [AtomicU64; 2],
    /// What is to be made once somebody has looked at it.
    special: Mutex<Option<Special>>,
    /// Whether it runs in turn with another.
    contends: AtomicBool,
    /// The variants whose cost has been measured, and how often they suited then.
    measured: Mutex<Vec<(Variant, f64)>>,
    /// Variants that had lost, here or elsewhere, when somebody asked last whether one of its own has.
    losses: AtomicU32,
    /// Entries that have begun; and those that are over.
    begun: AtomicU64,
    pub entries: AtomicU64,
    /// How often it would have been entered but for its constants.
    pub other_constants: AtomicU64,
    /// Units of fuel counted in the code: about the rounds.
    rounds: AtomicU64,
    /// When it is judged next, and what is behind it then.
    trial: Trial,
    /// When somebody looks next at what has been counted.
    due: Due,
    /// Rounds after which it is looked at again.
    look_at: AtomicU64,
    /// Entries when it was last asked whether it [is idle](Version::is_idle).
    entries_seen: AtomicU64,
    words: usize,
    room: Room,
    /// Whether it makes calls.
    pub calls: bool,
    /// Whether it begins with a function, the mask and arguments decide if it may be entered, and none of its instructions asks the
    /// thread about its frames.
    is_simple: bool,
    /// What it begins with.
    pub begins: Begins,
    /// Whether it may be larger than usual.
    pub is_large: bool,
    /// How many instructions of the bytecode an entry stands for.
    pub size: Option<Size>,
    pub clock: Clock,
    /// Time of recording and optimising.
    pub before: Duration,
    /// The region before the passes, as text, if it is to be kept.
    pub recorded: Option<String>,
    arguments: Arguments,
}

/// What follows from an entry, seldom.
pub(super) enum Change {
    /// With the instruction at which it was left most of the time, if that is why.
    GiveUp(Abort, Option<(FuncId, u32)>),
    /// It is baseline code, with nobody to make the optimised code.
    Improve,
    /// The version is to be recompiled.
    Recompile,
    /// The version is to be recompiled with more in it.
    Enlarge,
    /// It has been left for somebody to look whether it still suits.
    LookAgain,
    /// A version with constants is to be made.
    Specialise(Special),
}

/// A version with constants that is wanted.
pub(super) struct Special {
    pub facts: EntryFacts,
    /// The arguments have been the same so many times as long as they have to be.
    pub times: u32,
}

/// Entries and rounds at which somebody looks at what a version has counted: entering it compares two numbers, and no more.
struct Due {
    entries: AtomicU64,
    rounds: AtomicU64,
}

/// The entries that a version is judged by, between two judgements.
#[derive(Default)]
struct Trial {
    /// The number of the entry after which it ends.
    end: AtomicU64,
    /// What had been [counted](Version::counted_for_trial) when it began.
    before: [AtomicU64; 5],
}

/// An entry that is over.
pub(super) struct Run<'a> {
    landing: &'a Landing,
    /// Whether fuel was held back until somebody looks.
    is_held: bool,
    /// Units of fuel that were counted in its own code.
    here: u64,
    /// If a call has not come back: where that has led.
    has_led: Option<Leads>,
}

impl Version {
    pub fn new(
        facts: EntryFacts,
        region: Arc<Region>,
        code: Tiers,
        arguments: Arguments,
        prepared: &PreparedProgram,
        settings: &Settings,
        is_large: bool,
    ) -> Version {
        // Nothing follows from how often one that is not made larger leads to what was left out.
        let landing = |exit| Landing::new(exit, region.is_divided && !is_large, settings);
        let mut exits: Box<[Landing]> = region.exits.iter().map(landing).collect();
        for inst in region.blocks.iter().flat_map(|b| &b.insts) {
            match inst.kind {
                Kind::Call { site, exit } => {
                    let landing = &mut exits[exit.index()];
                    landing.calls(prepared.direct_call(&landing.frames, region.call_sites[site as usize].callee));
                }
                Kind::CallIndirect { exit } => {
                    let landing = &mut exits[exit.index()];
                    landing.indirect = prepared.indirect_call(&landing.frames);
                }
                _ => {}
            }
        }
        let own = FRAME_WORDS + facts.entries.len() * ENTRY_WORDS;
        let words = exits.iter().map(|landing| landing.words).max().unwrap_or(0).max(own);
        let zeros = |n: usize| (0..n).map(|_| AtomicU64::new(0)).collect();
        let [counters, counted_before] = [(); 2].map(|()| zeros(region.counters.len()));
        let outcomes = outcomes(&region.counters);
        let has = |of: fn(Kind) -> bool| region.blocks.iter().flat_map(|b| &b.insts).any(|inst| of(inst.kind));
        let passes_frames = has(|kind| matches!(kind, Kind::FramePass | Kind::FramePasses { .. }));
        let calls = has(Kind::is_call);
        let is_simple = region.pc == 0
            && facts.entries.is_empty()
            && !region.handler_calls.iter().any(|call| matches!(call.op, Op::Launch | Op::LaunchInd | Op::Sync));
        let [begun, entries, other_constants, rounds, entries_seen] = [(); 5].map(|()| AtomicU64::new(0));
        let room = Room { bytes: region.frame_bytes, depth: region.depth, passes_frames };
        let (masks, one_lane_words) = (facts.mask_words(region.width.full_mask()), facts.one_lane_words());
        Version {
            facts,
            masks,
            one_lane_words,
            asks: AtomicBool::new(false),
            region,
            code,
            exits,
            counters,
            outcomes,
            counted_before,
            has_been_seen: AtomicBool::new(false),
            is_timed: settings.measure && settings.background && settings.stress.is_none(),
            stress: settings.stress,
            look_time: AtomicU64::new(0),
            look_every: AtomicU64::new(0),
            looked_at: Default::default(),
            special: Mutex::new(None),
            contends: AtomicBool::new(false),
            measured: Mutex::new(Vec::new()),
            losses: AtomicU32::new(0),
            begun,
            entries,
            other_constants,
            rounds,
            trial: Trial { end: AtomicU64::new(settings.trial), ..Trial::default() },
            due: Due { entries: AtomicU64::new(REVIEW.min(settings.trial)), rounds: AtomicU64::new(REVIEW_ROUNDS) },
            look_at: AtomicU64::new(LOOK_AGAIN[1]),
            entries_seen,
            words,
            room,
            calls,
            is_simple,
            begins: Begins::default(),
            is_large,
            size: None,
            clock: Clock::new(calls, settings.stress.or(settings.links).is_some()),
            before: Duration::ZERO,
            recorded: None,
            arguments,
        }
    }

    /// Where an exit leads.
    pub fn landing(&self, exit: u32) -> &Landing {
        &self.exits[exit as usize]
    }

    /// A call has been made, which might be part of the region if that were larger. What follows from many is seen to when this entry
    /// is over.
    #[inline(always)]
    pub fn note_call(&self, landing: &Landing) {
        if count(&landing.taken, 1) >= landing.told_at.load(Ordering::Relaxed) {
            self.due.entries.store(0, Ordering::Relaxed);
        }
    }

    /// The loop.
    pub fn at(&self) -> (FuncId, u32) {
        (self.region.function, self.region.pc)
    }

    /// Runs the code and puts the interpreter where it ended. `words` has the masks at the loop's head.
    /// Adds the instructions that this has executed to `executed`. Leaves at a poll after `at_most` rounds, or
    /// when somebody is to look at it. Calls are made by `calls`, if that is there.
    ///
    /// That happens some ten million times a second where regions are short: what is seldom to be done is elsewhere.
    #[inline]
    pub fn enter(
        &self,
        pause: &mut Pause<'_>,
        words: &mut [u64],
        settings: &Settings,
        executed: &AtomicU64,
        at_most: Option<u64>,
        calls: Option<Calls<'_>>,
    ) -> (Option<Box<Change>>, Leads) {
        if !pause.has_room(&self.room) {
            return (None, Leads::Nowhere);
        }
        let entry = self.begin();
        let special = self.arguments.look(entry, pause, settings, || self.is_timed.then(|| self.clock.nanos()));
        // Somebody looks at it in the midst of an entry that is long: what it begins with need not be what it does all
        // the time.
        let leave_after = at_most.unwrap_or_else(|| self.rounds_until_look()) as i64;
        // So that there is a poll by then. What is held back counts as used meanwhile.
        let held_back = (pause.ticks() - leave_after).max(0);
        let measure = self.clock.begin(entry);
        let run = if self.words <= words.len() {
            self.run(pause, words, leave_after, held_back, measure, calls)
        } else {
            let mut many = vec![0; self.words];
            many[..words.len()].copy_from_slice(words);
            self.run(pause, &mut many, leave_after, held_back, measure, calls)
        };
        let is_held = run.is_held && at_most.is_none();
        self.conclude(&run, special, is_held, settings, executed)
    }

    /// How many rounds it runs until somebody is to look at it.
    #[inline(always)]
    pub fn rounds_until_look(&self) -> u64 {
        self.look_at.load(Ordering::Relaxed).saturating_sub(self.rounds())
    }

    /// Runs the code, and puts the interpreter where it ended. Leaves at a poll after so many rounds; so much fuel is held back until
    /// then.
    #[inline(always)]
    fn run(
        &self,
        pause: &mut Pause<'_>,
        words: &mut [u64],
        leave_after: i64,
        held_back: i64,
        measure: Option<Measure>,
        mut calls: Option<Calls<'_>>,
    ) -> Run<'_> {
        // The call that it is, and those around it, are no fast calls for its sake.
        let shown = match (&measure, &mut calls) {
            (Some(_), Some(calls)) => std::mem::take(&mut calls.at_hand.shown),
            _ => 0,
        };
        let before = pause.fuel_used();
        let mut context = pause.enter(words, self.counters());
        context.leave_at = before.saturating_add(leave_after);
        context.hold_back(held_back);
        let mut calling = calls.map(|calls| {
            let words = std::ptr::slice_from_raw_parts_mut(context.words, words.len());
            Calling::new(self, calls, pause, words, measure.is_some())
        });
        if let Some(calling) = &mut calling {
            calling.provide(&mut context);
        }
        // SAFETY: the version was made for this loop; its facts hold, so its number of entries is right; there is room.
        let exit = unsafe { self.code.best().run(&mut context) };
        let done = calling.map(Calling::done).unwrap_or_default();
        if let Some(measure) = &measure {
            self.clock.end(measure, self.begun(), done.nanos, done.measured + shown);
            if self.is_timed && self.clock.nanos() >= self.look_time.load(Ordering::Relaxed) {
                self.look_at.store(0, Ordering::Relaxed);
            }
        }
        // SAFETY: the code has left by this exit, and the pause stands where it was entered.
        unsafe { self.leave(pause, &mut context, words, exit, before, done) }
    }

    /// Its code, which had been entered on the context, with these words, when the thread had used so much fuel, has left by an exit: puts
    /// the interpreter where it ended.
    ///
    /// # Safety
    /// The pause stands where the code was entered, or where a call has led that has not come back to it.
    #[inline(always)]
    pub unsafe fn leave(
        &self,
        pause: &mut Pause<'_>,
        context: &mut Context,
        words: &[u64],
        exit: ExitId,
        before: i64,
        done: Done,
    ) -> Run<'_> {
        let Done { elsewhere, leads, caller, .. } = done;
        let (landing, has_led) = (self.landing(exit.0), std::mem::take(&mut context.has_led));
        let is_held = context.held_back() != 0;
        match caller {
            // SAFETY: the exit stands at the call, and what that has called is no longer in the midst of one.
            Some(caller) => unsafe {
                pause.abandon_call(&caller, landing.direct.as_ref(), &landing.frames, words);
            },
            None => {
                context.ticks += landing.fuel;
                context.put_back();
                pause.leave(context);
                // SAFETY: the exit's snapshot is the state that interpreting would have led to.
                unsafe {
                    match landing.returns {
                        true => pause.resume_at_return(&landing.frames, words),
                        false => pause.resume(&landing.frames, words),
                    }
                }
            }
        }
        let here = (pause.fuel_used() - before - elsewhere).max(0) as u64;
        Run { landing, is_held, here, has_led: has_led.then_some(leads) }
    }

    /// An entry is over: counts it. Gives what follows from it, and where it has led.
    #[inline(always)]
    pub fn conclude(
        &self,
        run: &Run<'_>,
        special: Option<Box<(Vec<Constant>, u32)>>,
        is_held: bool,
        settings: &Settings,
        executed: &AtomicU64,
    ) -> (Option<Box<Change>>, Leads) {
        let (landing, leads) = (run.landing, run.has_led.unwrap_or(run.landing.leads));
        let is_due = self.is_due_after(landing, run.here);
        // A call that has been made is counted.
        let counted = self.count(run.has_led.is_none().then_some(landing), run.here, executed);
        if special.is_none() && !is_due {
            return (None, leads);
        }
        self.change(landing, leads, special, counted, is_held, settings)
    }

    /// Returns whether something may follow from an entry that is over and has not been counted, with so many rounds.
    #[inline(always)]
    pub fn is_due_after(&self, landing: &Landing, rounds: u64) -> bool {
        self.entries.load(Ordering::Relaxed) + 1 >= self.due.entries.load(Ordering::Relaxed)
            || self.rounds() + rounds >= self.due.rounds.load(Ordering::Relaxed)
            || landing.taken.load(Ordering::Relaxed) + 1 >= landing.told_at.load(Ordering::Relaxed)
    }

    /// Counts an entry that is over, with so many rounds: gives the entries and rounds until now.
    #[inline(always)]
    pub fn count(&self, landing: Option<&Landing>, rounds: u64, executed: &AtomicU64) -> [u64; 2] {
        count(executed, self.size.map_or(0, |size| size.times(rounds)));
        if let Some(landing) = landing {
            count(&landing.taken, 1);
        }
        [count(&self.entries, 1), count(&self.rounds, rounds)]
    }

    /// What its code counts.
    #[inline(always)]
    pub fn counters(&self) -> *mut u64 {
        self.counters.as_ptr().cast::<u64>().cast_mut()
    }

    /// Returns whether a fast call may enter it, with so many words, while a slice holds so much fuel.
    #[inline(always)]
    pub fn may_be_called(&self, words: usize, ticks: i64) -> bool {
        self.words <= words && ticks <= self.rounds_until_look() as i64
    }

    /// How many entries nobody is to look at before they are made, and at most so many.
    pub fn entries_unseen(&self, most: u64) -> u64 {
        let begun = self.begun();
        self.clock.unmeasured(begun).min(self.arguments.unseen(begun)).min(most)
    }

    /// How many entries have begun.
    #[inline(always)]
    pub fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// Begins an entry. Gives the number of those before it.
    #[inline(always)]
    pub fn begin(&self) -> u64 {
        count(&self.begun, 1) - 1
    }

    /// What its code needs.
    #[inline(always)]
    pub fn room(&self) -> &Room {
        &self.room
    }

    /// What follows from an entry that left by `landing` and has led somewhere, where something may: with that, there have been so many
    /// entries, rounds and ways by that exit. Whether fuel was held back until somebody looks.
    #[cold]
    #[inline(never)]
    fn change(
        &self,
        landing: &Landing,
        leads: Leads,
        special: Option<Box<(Vec<Constant>, u32)>>,
        [entries, rounds]: [u64; 2],
        is_held: bool,
        settings: &Settings,
    ) -> (Option<Box<Change>>, Leads) {
        if let Some(special) = special {
            let (constants, times) = *special;
            let facts = EntryFacts { constants, ..self.facts.clone() };
            return (Some(Box::new(Change::Specialise(Special { facts, times }))), leads);
        }
        let is_told = landing.is_told(landing.taken.load(Ordering::Relaxed));
        if landing.polls && is_held {
            // Several units are counted at once: what was not held back can be too little for them, round after round.
            self.look_at.fetch_min(rounds, Ordering::Relaxed);
        }
        if landing.polls && self.is_due() && !self.contends() {
            return (Some(Box::new(Change::LookAgain)), Leads::Nowhere);
        }
        let [entries_due, rounds_due] = [&self.due.entries, &self.due.rounds].map(|due| due.load(Ordering::Relaxed));
        let is_review = entries >= entries_due || rounds >= rounds_due;
        if is_review {
            self.due.rounds.store(rounds + REVIEW_ROUNDS, Ordering::Relaxed);
            let period = (entries / 16).next_power_of_two().clamp(REVIEW, MOST_REVIEW);
            let next = (entries / period + 1) * period;
            let trial = self.trial.end.load(Ordering::Relaxed);
            self.due.entries.store(if trial > entries { next.min(trial) } else { next }, Ordering::Relaxed);
        }
        if landing.pruned && is_told || is_review && self.fails() {
            return (Some(Box::new(Change::Recompile)), Leads::Nowhere);
        }
        let is_partial = self.region.is_divided && !self.is_large;
        let is_often = |landing: &&Landing| landing.divides && landing.is_told(landing.taken.load(Ordering::Relaxed));
        // All of them, so that each is told once.
        let calls_often = is_review && self.calls && self.exits.iter().filter(is_often).count() != 0;
        let is_long = is_review && is_partial && rounds >= settings.hot_links.saturating_mul(ROUNDS_OF_LINK);
        if landing.divides && is_told || calls_often || is_long {
            return (Some(Box::new(Change::Enlarge)), leads);
        }
        if is_review && self.code.is_forsaken(entries) {
            return (Some(Box::new(Change::Improve)), leads);
        }
        let verdict = self.trial.is_over(entries).then(|| self.judge()).flatten();
        (verdict.map(|(why, at)| Box::new(Change::GiveUp(why, at))), leads)
    }

    /// Gives the reason if it is to be given up: left before its end most of the time and soon, or with too little to do each
    /// time. If not, it is judged again by twice as many entries.
    fn judge(&self) -> Option<(Abort, Option<(FuncId, u32)>)> {
        let now = self.counted_for_trial();
        let before = self.trial.before.each_ref().map(|n| n.load(Ordering::Relaxed));
        let [entries, left, pruned, past, rounds] = std::array::from_fn(|i| now[i].saturating_sub(before[i]));
        self.begin_trial(entries.max(1) * 2);
        if pruned * 4 >= entries {
            // It is recompiled with the ways that it leaves by; that one is to be judged.
            return None;
        }
        if left * 2 >= entries && rounds / LONG < entries {
            let early = self.exits.iter().enumerate().filter(|(_, l)| !l.expected);
            let (_, most) = early.map(|(i, l)| (l.taken.load(Ordering::Relaxed), i)).max()?;
            let exit = &self.region.exits[most];
            return Some((Abort::LeavesTooOften(exit.reason), exit.frames.last().map(|f| (f.function, f.pc))));
        }
        let insts: usize = self.region.blocks.iter().filter(|b| !b.cold).map(|b| b.insts.len()).sum();
        let worthwhile = match self.begins {
            Begins::Loop | Begins::Function if past * 2 < entries => WORTHWHILE,
            // It is a piece of a way that is native before and behind it.
            _ => 0,
        };
        ((rounds / entries.max(1) + 1) * (insts as u64) < worthwhile).then_some((Abort::TooShort, None))
    }

    /// Entries, entries that were left early, by ways that were left out, and for what other regions go on behind, and rounds.
    fn counted_for_trial(&self) -> [u64; 5] {
        let [entries, rounds] = [&self.entries, &self.rounds].map(|n| n.load(Ordering::Relaxed));
        let past = self.taken(|l| l.leads == Leads::Past);
        [entries, self.taken(|l| !l.expected), self.taken(|l| l.pruned), past, rounds]
    }

    /// Is judged by so many entries from now on.
    fn begin_trial(&self, length: u64) {
        let now = self.counted_for_trial();
        let end = now[0].saturating_add(length);
        self.trial.end.store(end, Ordering::Relaxed);
        self.due.entries.fetch_min(end, Ordering::Relaxed);
        self.trial.before.iter().zip(now).for_each(|(before, now)| before.store(now, Ordering::Relaxed));
    }

    /// It was given up, and is entered again to see whether it suits now.
    pub fn try_again(&self) {
        self.begin_trial(SECOND_TRIAL);
    }

    /// Most rounds of an entry whose time is compared with another's.
    pub fn compared_rounds(&self) -> u64 {
        self.round_time().map_or(LOOK_AGAIN[0], |round| (COMPARED / round) as u64).max(LOOK_AGAIN[0] / 16)
    }

    /// Nanoseconds that it has run, about.
    pub fn time(&self) -> u64 {
        self.clock.nanos()
    }

    /// Returns whether it has run for so long that it is worth to compile another to be compared with it, meanwhile or not.
    pub fn has_paid(&self, meanwhile: bool) -> bool {
        let times = if meanwhile { WORTH_MEASURING } else { WORTH_WAITING };
        self.clock.time() >= self.code.told().time * times
    }

    /// Returns whether it, and the ways to what was left out of it, have taken long enough beside compiling it to make it larger.
    pub fn is_worth_enlarging(&self) -> bool {
        let links = LINK.saturating_mul(self.taken(|landing| landing.divides));
        self.clock.time() + Duration::from_nanos(links) >= self.code.told().time * WORTH_ENLARGING
    }

    /// How often it was left by some of its exits.
    fn taken(&self, which: impl Fn(&Landing) -> bool) -> u64 {
        self.exits.iter().filter(|l| which(l)).map(|l| l.taken.load(Ordering::Relaxed)).sum()
    }

    /// Returns whether a version for one lane may be made beside it.
    pub fn may_ask_for_one_lane(&self) -> bool {
        self.facts.mask == MaskFact::Unknown && self.begins != Begins::Loop
    }

    /// A version for one lane is asked for from now on, where this would be entered with one, or no longer.
    pub fn ask_for_one_lane(&self, asks: bool) {
        self.asks.store(asks, Ordering::Relaxed);
    }

    /// Returns whether that is so.
    #[inline]
    pub fn asks_for_one_lane(&self) -> bool {
        self.asks.load(Ordering::Relaxed)
    }

    /// Returns whether it runs in turn with another.
    pub fn contends(&self) -> bool {
        self.contends.load(Ordering::Relaxed)
    }

    /// From now on it runs in turn with another, or no longer.
    pub fn contend(&self, contends: bool) {
        self.contends.store(contends, Ordering::Relaxed);
        if contends {
            self.look_at.store(0, Ordering::Relaxed);
        }
    }

    /// The variants of a kind whose cost is not known, for how often they have suited lately; of several kinds what
    /// fails most.
    pub fn to_measure(&self) -> Option<Without> {
        let mut kinds: Vec<(Without, [u64; 2])> = Vec::new();
        for (i, counter) in self.region.counters.iter().enumerate() {
            let Counter::Variant { variant, place, outcome } = *counter else { continue };
            let at = kinds.iter().position(|(kind, _)| kind.variant == variant).unwrap_or_else(|| {
                kinds.push((Without { variant, places: Vec::new(), share: None }, [0; 2]));
                kinds.len() - 1
            });
            let (kind, times) = &mut kinds[at];
            if !kind.places.contains(&place) {
                kind.places.push(place);
            }
            times[(outcome == Outcome::Missed) as usize] += self.lately(i);
        }
        let measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        let known =
            |variant, share: f64| measured.iter().any(|&(v, then)| v == variant && (then - share).abs() < MOVED);
        kinds
            .into_iter()
            .filter(|(kind, [hit, missed])| Variant::MEASURED.contains(&kind.variant) && hit + missed >= FEW)
            .map(|(kind, [hit, missed])| (hit as f64 / (hit + missed) as f64, kind))
            .filter(|(share, kind)| !known(kind.variant, *share))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(share, kind)| Without { share: Some(share), ..kind })
    }

    /// How often it has been left by ways that were left out.
    pub fn left_by_pruned(&self) -> u64 {
        self.exits.iter().filter(|l| l.pruned).map(|l| l.taken.load(Ordering::Relaxed)).sum()
    }

    /// The variants of a kind whose cost can be measured that another version lacks, if there are any.
    pub fn variants_beyond(&self, other: &Version) -> Option<Without> {
        let of = |version: &Version| {
            let variants = version.region.counters.iter().filter_map(|counter| match *counter {
                Counter::Variant { variant, place, .. } => Some((variant, place)),
                _ => None,
            });
            variants.collect::<BTreeSet<_>>()
        };
        let beyond = &of(self) - &of(other);
        let variant = Variant::MEASURED.into_iter().find(|v| beyond.iter().any(|(variant, _)| variant == v))?;
        let places = beyond.into_iter().filter(|of| of.0 == variant).map(|(_, place)| place).collect();
        Some(Without { variant, places, share: None })
    }

    /// The cost of some variants has been measured.
    pub fn note_measured(&self, what: &Without) {
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        measured.retain(|(variant, _)| *variant != what.variant);
        measured.extend(what.share.map(|share| (what.variant, share)));
    }

    /// What has been measured of another version is known of this one.
    pub fn inherit_measured(&self, other: &Version) {
        let known = other.measured.lock().unwrap_or_else(PoisonError::into_inner).clone();
        *self.measured.lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    /// It has none of the variants that have lost so far, or has them all the same.
    pub fn note_losses(&self, advice: &Advice) {
        self.losses.store(advice.losses(), Ordering::Relaxed);
    }

    /// Returns whether one of its variants has lost in another version since this was asked last, or it was made.
    pub fn has_lost(&self, advice: &Advice) -> bool {
        let since = self.losses.swap(advice.losses(), Ordering::Relaxed);
        let variants = self.region.counters.iter().filter_map(|counter| match *counter {
            Counter::Variant { variant, place, .. } => Some((variant, place)),
            _ => None,
        });
        advice.has_lost_since(since, variants)
    }

    /// Variants are judged by what they do from now on: what they did before this was long ago.
    pub fn begin_to_count(&self) {
        let now = self.counters.iter().map(|n| n.load(Ordering::Relaxed));
        self.counted_before.iter().zip(now).for_each(|(before, n)| before.store(n, Ordering::Relaxed));
        self.has_been_seen.store(true, Ordering::Relaxed);
    }

    /// How many rounds have been executed in its code.
    pub fn rounds(&self) -> u64 {
        self.rounds.load(Ordering::Relaxed)
    }

    /// How often it has been entered.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Returns whether it has not been entered since this was asked last.
    pub fn is_idle(&self) -> bool {
        let entries = self.entries.load(Ordering::Relaxed);
        self.entries_seen.swap(entries, Ordering::Relaxed) == entries
    }

    /// The variants that failed more often than not, lately.
    fn failing(&self) -> impl Iterator<Item = (Variant, (FuncId, u32))> {
        let few = match self.has_been_seen.load(Ordering::Relaxed) {
            true => (self.look_every.load(Ordering::Relaxed) / FEW_PARTS).clamp(FEW, ENOUGH),
            false => FEW,
        };
        self.outcomes.iter().filter_map(move |&(missed, hit)| {
            let Counter::Variant { variant, place, .. } = self.region.counters[missed] else { return None };
            let [missed, hit] = [Some(missed), hit].map(|at| at.map_or(0, |at| self.lately(at)));
            let failing = match variant {
                // Their tests are the branches of the program itself, or of few scalars that loops do not change.
                Variant::AllActive | Variant::SkipInactive | Variant::Aligned => false,
                // A round is tested each time, a hit lasts for many.
                Variant::OneLane => missed / 32 > hit,
                _ => missed > hit,
            };
            (missed >= few && failing).then_some((variant, place))
        })
    }

    /// The instructions at which an arm can be skipped, where it has been each time and often, lately.
    pub fn always_skipped(&self) -> Vec<(FuncId, u32)> {
        let skipped = self.outcomes.iter().filter_map(|&(missed, hit)| match self.region.counters[missed] {
            Counter::Variant { variant: Variant::SkipInactive, place, .. } => {
                let [entered, skipped] = [Some(missed), hit].map(|at| at.map_or(0, |at| self.lately(at)));
                (entered == 0 && skipped >= ALWAYS).then_some(place)
            }
            _ => None,
        });
        skipped.collect()
    }

    /// The instructions at which a variant that was chosen by how lanes lie has suited most of the time, lately. It stays there, however
    /// they lie for a moment.
    pub fn suiting(&self) -> HashSet<ProgramPoint> {
        let suiting = self.outcomes.iter().filter_map(|&(missed, hit)| match self.region.counters[missed] {
            Counter::Variant { variant, place, .. } if Variant::BY_LANES.contains(&variant) => {
                let [missed, hit] = [Some(missed), hit].map(|at| at.map_or(0, |at| self.lately(at)));
                (hit >= FEW && hit > 2 * missed).then_some(place)
            }
            _ => None,
        });
        suiting.collect()
    }

    /// What a counter has counted since somebody looked last.
    fn lately(&self, at: usize) -> u64 {
        let [now, before] = [&self.counters, &self.counted_before].map(|counters| counters[at].load(Ordering::Relaxed));
        now.saturating_sub(before)
    }

    /// Returns whether one does.
    pub fn fails(&self) -> bool {
        self.failing().next().is_some()
    }

    /// Adds to the advice what was learnt from this version.
    pub fn teach(&self, advice: &mut Advice) {
        advice.dropped.extend(self.failing());
        let taken = self.exits.iter().filter(|l| l.pruned && l.taken.load(Ordering::Relaxed) != 0);
        advice.wanted.extend(taken.filter_map(|l| l.frames.last()).map(|f| (f.function, f.pc)));
    }
}

/// Those of some counters that count how often variants failed, each with the one that counts how often that suited.
fn outcomes(counters: &[Counter]) -> Box<[(usize, Option<usize>)]> {
    let places: HashMap<Counter, usize> = counters.iter().enumerate().map(|(at, counter)| (*counter, at)).collect();
    let failed = counters.iter().enumerate().filter_map(|(at, counter)| match *counter {
        Counter::Variant { variant, place, outcome: Outcome::Missed } => {
            let suited = Counter::Variant { variant, place, outcome: Outcome::Hit };
            Some((at, places.get(&suited).copied()))
        }
        _ => None,
    });
    failed.collect()
}

/// Adds to what is counted, and gives the sum. Of threads that count at the same time, some may be lost: to exclude that would take as
/// long as a short region does.
fn count(counted: &AtomicU64, more: u64) -> u64 {
    let sum = counted.load(Ordering::Relaxed).wrapping_add(more);
    counted.store(sum, Ordering::Relaxed);
    sum
}

impl Trial {
    /// Returns whether it has ended with this entry; `true` once.
    fn is_over(&self, entries: u64) -> bool {
        let end = self.end.load(Ordering::Relaxed);
        entries >= end && self.end.compare_exchange(end, u64::MAX, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}
