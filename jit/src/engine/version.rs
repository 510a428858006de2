//! A compiled version of a loop: how it is entered and left, and what is learnt from that.

use super::clock::Clock;
use super::tiers::Tiers;
use crate::abort::Abort;
use crate::advice::Advice;
use crate::ir::{Counter, Exit, Outcome, Region, why};
use crate::record::{Constant, EntryFacts};
use crate::settings::{Settings, Variant};
use spmdvm_vm::PreparedProgram;
use spmdvm_vm::interp::native::{ENTRY_WORDS, FRAME_WORDS, Pause, RegisterPlace, ResumeFrame};
use spmdvm_vm::program::{FuncId, Reg};
use spmdvm_vm::verify::EntryKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Rounds of an entry in which there was a poll: so many at most come between two.
const POLL: i64 = 1024;

/// Least work of an entry, in instructions of the IR, that makes up for entering: about 300 ns against 2 ns for each that the
/// interpreter would execute.
const WORTHWHILE: u64 = 150;

/// Entries between two looks at the variants' counters.
const REVIEW: u64 = 64;

/// Rounds of a variant that are too few to judge it by.
const FEW: u64 = 200;

/// A compiled region and when it may be entered.
pub(super) struct Version {
    pub facts: EntryFacts,
    pub region: Arc<Region>,
    pub code: Tiers,
    pub exits: Box<[Landing]>,
    pub counters: Box<[AtomicU64]>,
    pub entries: AtomicU64,
    /// How often it would have been entered but for its constants.
    pub other_constants: AtomicU64,
    /// Units of fuel counted in the code: about the rounds.
    rounds: AtomicU64,
    words: usize,
    pub clock: Clock,
    /// Time of recording and optimising.
    pub before: Duration,
    /// The region before the passes, as text, if it is to be kept.
    pub recorded: Option<String>,
    arguments: Arguments,
}

/// What follows from an entry.
pub(super) enum Change {
    None,
    /// With the instruction at which it was left most of the time, if that is why.
    GiveUp(Abort, Option<(FuncId, u32)>),
    /// It is a draft, with nobody to make the good code.
    Improve,
    /// The version is to be made anew.
    Remake,
    /// A version with these facts is to be made.
    Specialise(EntryFacts),
}

/// Uniform registers that the loop does not change, and how long they have been the same.
pub(super) struct Arguments {
    places: Box<[(Reg, RegisterPlace)]>,
    last: Box<[AtomicU64]>,
    same: AtomicU32,
}

/// Where an exit leads.
pub(super) struct Landing {
    frames: Box<[LandingFrame]>,
    pub taken: AtomicU64,
    /// Is it how the loop ends, or is left for a moment only?
    expected: bool,
    /// Does it stand for a way that was left out?
    pub pruned: bool,
}

struct LandingFrame {
    function: FuncId,
    pc: u32,
    at: u32,
    entries: Box<[EntryKind]>,
}

impl Version {
    pub fn new(facts: EntryFacts, region: Arc<Region>, code: Tiers, arguments: Arguments) -> Version {
        let exits: Box<[Landing]> = region.exits.iter().map(Landing::new).collect();
        let own = FRAME_WORDS + facts.entries.len() * ENTRY_WORDS;
        let words = exits.iter().map(Landing::words).max().unwrap_or(0).max(own);
        let zeros = |n: usize| (0..n).map(|_| AtomicU64::new(0)).collect();
        let counters = zeros(region.counters.len());
        let [entries, other_constants, rounds] = [(); 3].map(|()| AtomicU64::new(0));
        Version {
            facts,
            region,
            code,
            exits,
            counters,
            entries,
            other_constants,
            rounds,
            words,
            clock: Clock::default(),
            before: Duration::ZERO,
            recorded: None,
            arguments,
        }
    }

    /// The loop.
    pub fn at(&self) -> (FuncId, u32) {
        (self.region.function, self.region.pc)
    }

    /// Runs the code and puts the interpreter where it ended. `words` has the masks at the loop's head.
    pub fn enter(&self, pause: &mut Pause<'_>, words: &mut [u64], settings: &Settings) -> Change {
        if !pause.has_room(self.region.frame_bytes, self.region.depth) {
            return Change::None;
        }
        let special = self.arguments.look(pause, settings);
        let mut many = Vec::new();
        let words = if self.words <= words.len() {
            words
        } else {
            many.resize(self.words, 0);
            many[..words.len()].copy_from_slice(words);
            &mut many
        };
        let mut context = pause.enter(words, self.counters.as_ptr().cast::<u64>().cast_mut());
        // After a poll in between there are more again; then the loop is long.
        let before = context.ticks;
        let code = self.code.best();
        // SAFETY: the version was made for this loop; its facts hold, so its number of entries is right; there is room.
        let exit = self.clock.measure(self.entries.load(Ordering::Relaxed), || unsafe { code.run(&mut context) });
        pause.leave(&context);
        let rounds = if before >= context.ticks { before - context.ticks } else { POLL };
        self.rounds.fetch_add(rounds as u64, Ordering::Relaxed);
        let landing = &self.exits[exit.index()];
        // SAFETY: the exit's snapshot is the state that interpreting would have led to.
        unsafe { pause.resume(landing.frames.iter().map(LandingFrame::resume), words) };
        let taken = landing.taken.fetch_add(1, Ordering::Relaxed) + 1;
        let entries = self.entries.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(special) = special {
            return Change::Specialise(EntryFacts { constants: special, ..self.facts.clone() });
        }
        if landing.pruned && taken.is_multiple_of(settings.hot_exit) || entries.is_multiple_of(REVIEW) && self.fails() {
            return Change::Remake;
        }
        if entries.is_multiple_of(REVIEW) && self.code.is_forsaken() {
            return Change::Improve;
        }
        match (entries == settings.trial).then(|| self.judge(settings)).flatten() {
            Some((why, at)) => Change::GiveUp(why, at),
            None => Change::None,
        }
    }

    /// Is it to be given up: left before its end most of the time, or with too little to do each time?
    fn judge(&self, settings: &Settings) -> Option<(Abort, Option<(FuncId, u32)>)> {
        let pruned = self.exits.iter().filter(|l| l.pruned).map(|l| l.taken.load(Ordering::Relaxed));
        if pruned.sum::<u64>() * 4 >= settings.trial {
            // It is made anew with the ways that it leaves by; that one is to be judged.
            return None;
        }
        let early = self.exits.iter().enumerate().filter(|(_, l)| !l.expected);
        let early = early.map(|(i, l)| (l.taken.load(Ordering::Relaxed), i));
        let left: u64 = early.clone().map(|(n, _)| n).sum();
        if left * 2 >= settings.trial {
            let (_, most) = early.max()?;
            let exit = &self.region.exits[most];
            return Some((Abort::LeavesTooOften(exit.why), exit.frames.last().map(|f| (f.function, f.pc))));
        }
        let insts: usize = self.region.blocks.iter().filter(|b| !b.cold).map(|b| b.insts.len()).sum();
        let rounds = self.rounds.load(Ordering::Relaxed) / settings.trial;
        ((rounds + 1) * (insts as u64) < WORTHWHILE).then_some((Abort::TooShort, None))
    }

    /// The variants that failed more often than not.
    fn failing(&self) -> impl Iterator<Item = (Variant, (FuncId, u32))> {
        let counts = self.region.counters.iter().zip(&self.counters);
        counts.filter_map(|(counter, missed)| {
            let Counter::Variant { variant, place, outcome: Outcome::Missed } = *counter else { return None };
            let missed = missed.load(Ordering::Relaxed);
            let hit = self.count(Counter::Variant { variant, place, outcome: Outcome::Hit });
            let failing = match variant {
                // Their tests are the branches of the program itself.
                Variant::AllActive | Variant::SkipInactive => false,
                // A round is tested each time, a hit lasts for many.
                Variant::OneLane => missed / 32 > hit,
                _ => missed > hit,
            };
            (missed >= FEW && failing).then_some((variant, place))
        })
    }

    fn count(&self, counter: Counter) -> u64 {
        let at = self.region.counters.iter().position(|c| *c == counter);
        at.map_or(0, |at| self.counters[at].load(Ordering::Relaxed))
    }

    fn fails(&self) -> bool {
        self.failing().next().is_some()
    }

    /// Adds to the advice what was learnt from this version.
    pub fn teach(&self, advice: &mut Advice) {
        advice.dropped.extend(self.failing());
        let taken = self.exits.iter().filter(|l| l.pruned && l.taken.load(Ordering::Relaxed) != 0);
        advice.wanted.extend(taken.filter_map(|l| l.frames.last()).map(|f| (f.function, f.pc)));
    }
}

impl Arguments {
    pub fn new(region: &Region, facts: &EntryFacts, prepared: &PreparedProgram) -> Arguments {
        let known = |reg: &Reg| facts.constants.iter().any(|c| c.reg == *reg);
        let regs = region.arguments.iter().filter(|r| !known(r));
        let places: Box<[_]> = regs.map(|&r| (r, prepared.register(region.function, r))).collect();
        let last = places.iter().map(|_| AtomicU64::new(0)).collect();
        Arguments { places, last, same: AtomicU32::new(0) }
    }

    /// Looks whether the arguments are still the same; gives them when they have been for long enough.
    fn look(&self, pause: &Pause<'_>, settings: &Settings) -> Option<Vec<Constant>> {
        if self.places.is_empty() || !settings.variants.has(Variant::Constant) {
            return None;
        }
        let mut same = true;
        for ((_, place), last) in self.places.iter().zip(&self.last) {
            let now = pause.uniform(*place);
            same &= last.swap(now, Ordering::Relaxed) == now;
        }
        if !same {
            self.same.store(0, Ordering::Relaxed);
            return None;
        }
        let times = self.same.fetch_add(1, Ordering::Relaxed) + 1;
        let constants = || {
            let values = self.places.iter().zip(&self.last);
            values.map(|(&(reg, place), v)| Constant { reg, place, bits: v.load(Ordering::Relaxed) }).collect()
        };
        (times == settings.same_arguments).then(constants)
    }
}

impl Landing {
    fn new(exit: &Exit) -> Landing {
        let frames = exit.frames.iter().map(|f| LandingFrame {
            function: f.function,
            pc: f.pc,
            at: f.at,
            entries: f.entries.iter().map(|e| e.kind).collect(),
        });
        let pruned = exit.why == why::NEVER_TAKEN;
        let expected = pruned || matches!(exit.why, why::END | why::POLL);
        Landing { frames: frames.collect(), taken: AtomicU64::new(0), expected, pruned }
    }

    /// Mask words that the exit writes.
    fn words(&self) -> usize {
        self.frames.iter().map(|f| FRAME_WORDS + f.entries.len() * ENTRY_WORDS).sum()
    }
}

impl LandingFrame {
    fn resume(&self) -> ResumeFrame<'_> {
        ResumeFrame { function: self.function, pc: self.pc, at: self.at, entries: &self.entries }
    }
}
