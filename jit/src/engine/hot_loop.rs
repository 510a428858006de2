//! A loop (or function, or rest of one), its versions, and what holds at its head.

use super::contest::{Contest, Measured};
use super::version::Version;
use crate::abort::Abort;
use crate::record::{EntryFacts, MaskFact};
use spmdvm_vm::interp::native::Pause;
use spmdvm_vm::program::FuncId;
use std::sync::Arc;
use std::time::Duration;

/// A loop and its compiled versions.
#[derive(Default)]
pub(super) struct Loop {
    /// Those with more facts come first.
    pub versions: Vec<Arc<Version>>,
    /// Why it is interpreted for now. Versions that it has then are kept, to be tried again.
    pub aborted: Option<Abort>,
    /// The instruction that is the reason, if it is one.
    pub aborted_at: Option<(FuncId, u32)>,
    /// How long it is interpreted.
    pub rest: Rest,
    /// The function, and the instruction at the loop's head; known once the loop is hot.
    pub at: Option<(FuncId, u32)>,
    /// What begins there.
    pub begins: Begins,
    /// The process in which a version is being compiled. A forked child has no thread that does it.
    pub pending: Option<u32>,
    /// Whether the interpreter has run it under observation.
    pub observed: bool,
    /// How often it was observed for a moment while it was being compiled.
    pub looks: u32,
    /// How often a version was recompiled.
    pub recompiles: u32,
    /// Why no more versions are made for now, although those that there are may be entered.
    pub refused: Option<Abort>,
    /// How often another version was wanted since, and how often one could not be made.
    wanted: u32,
    refusals: u32,
    /// How many versions for constant arguments have been made.
    pub specialised: u32,
    /// The facts of those that are being made, and the process that does it. Others are entered meanwhile.
    making: Vec<(u32, EntryFacts)>,
    /// Whether its regions may be larger than at first, as they have often led on to others.
    pub large: bool,
    /// How often a version was recompiled because somebody saw that others suit what the program does now, less how
    /// often nobody did.
    pub second_looks: u32,
    /// How often somebody has looked, and how long that took.
    pub looks_again: u32,
    pub look_time: Duration,
    /// Two versions that run in turn.
    pub contest: Option<Contest>,
    /// Whether one is being made that is to.
    pub makes_contest: Option<u32>,
    /// What variants have been found to cost.
    pub measured: Vec<Measured>,
}

/// What begins at a head.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Begins {
    /// A loop.
    #[default]
    Loop,
    /// A function.
    Function,
    /// The rest of a function, where another region was left: behind a call or a loop, or where it was cut.
    Rest,
}

impl Begins {
    /// Its name, as statistics have it.
    pub fn name(self) -> &'static str {
        match self {
            Begins::Loop => "loop",
            Begins::Function => "function",
            Begins::Rest => "rest",
        }
    }
}

/// How long a loop stays with the interpreter before it is tried again: no verdict is for ever, because the next call
/// may be larger. Every verdict that is confirmed doubles the time, so trying takes less and less of it.
#[derive(Default)]
pub(super) struct Rest {
    /// Verdicts so far.
    verdicts: u32,
    /// Whether it has begun: the countdown counts it.
    begun: bool,
}

/// Rounds that a loop is interpreted after a verdict on how its code was entered and left. To try it again takes as
/// long as some hundred of them.
const REST: u32 = 1 << 14;

/// Most such rounds.
const LONGEST_REST: u32 = 1 << 20;

/// Rounds after which a loop is compiled again that could not be compiled; four times as many each time.
const REST_WITHOUT_CODE: u32 = 1 << 22;

/// Rounds until a loop that cannot be compiled at all is asked about again.
pub(super) const NEVER: u32 = u32::MAX;

/// How often another version must be wanted before one is made again after that was refused; four times as often each
/// time.
const REFUSED: u32 = 1 << 12;

impl Loop {
    /// Returns whether a version is being compiled.
    pub fn is_pending(&self) -> bool {
        self.pending.is_some_and(|process| process == std::process::id())
    }

    /// The versions that may be entered.
    pub fn enterable(&self) -> &[Arc<Version>] {
        if self.aborted.is_none() { &self.versions } else { &[] }
    }

    /// Takes what was made of an order. If nothing could be made, the loop keeps the versions it has.
    pub fn deliver(&mut self, made: Result<Version, Abort>, replaces: Option<&Arc<Version>>) -> Option<Arc<Version>> {
        let version = match made {
            // It was given up meanwhile.
            _ if self.aborted.is_some() => return None,
            Ok(version) => {
                version.look_later(self.second_looks, Duration::ZERO);
                Arc::new(version)
            }
            Err(why) if self.versions.is_empty() => {
                self.give_up(why);
                return None;
            }
            Err(why) => {
                self.refused = Some(why);
                (self.wanted, self.refusals) = (0, self.refusals + 1);
                return None;
            }
        };
        self.large |= version.is_large;
        let place = replaces.map(|old| self.versions.iter().position(|v| Arc::ptr_eq(v, old)));
        if self.contest.as_ref().is_some_and(|contest| replaces.is_some_and(|old| Arc::ptr_eq(old, &contest.with))) {
            self.contest = None;
        }
        match place {
            Some(Some(at)) => self.versions[at] = Arc::clone(&version),
            // Another has taken its place meanwhile.
            Some(None) => return None,
            None if version.facts.is_special() => {
                let is_before = |other: &Arc<Version>| version.facts.speciality() >= other.facts.speciality();
                let at = self.versions.iter().position(is_before).unwrap_or(self.versions.len());
                self.versions.insert(at, Arc::clone(&version));
            }
            None => self.versions.push(Arc::clone(&version)),
        }
        Some(version)
    }

    /// Returns whether a version is one of those that there are.
    pub fn has(&self, version: &Arc<Version>) -> bool {
        self.versions.iter().any(|v| Arc::ptr_eq(v, version))
    }

    /// Two versions run in turn from now on, if the first is still there.
    pub fn begin_contest(&mut self, contest: Contest) {
        if self.aborted.is_none() && self.has(&contest.with) {
            contest.with.contend(true);
            self.contest = Some(contest);
        }
    }

    /// Ends a contest of another version than this one that nobody comes to, so that this one can have its own.
    pub fn end_idle_contest(&mut self, version: &Arc<Version>) {
        let is_idle = |contest: &mut Contest| !Arc::ptr_eq(&contest.with, version) && contest.is_idle();
        if let Some(contest) = self.contest.take_if(is_idle) {
            contest.with.contend(false);
        }
    }

    /// A version on trial is to be made anew: ends its contest. Gives the other one.
    pub fn end_trial(&mut self, version: &Arc<Version>) -> Option<Arc<Version>> {
        let is_on_trial = |contest: &mut Contest| contest.on_trial && Arc::ptr_eq(&contest.with, version);
        let contest = self.contest.take_if(is_on_trial)?;
        contest.with.contend(false);
        Some(contest.without)
    }

    /// What has come of that. Gives what was dropped.
    pub fn end_contest(&mut self, measured: Measured) -> Option<Contest> {
        let contest = self.contest.take()?;
        contest.with.note_measured(&contest.what);
        contest.with.contend(false);
        contest.without.inherit_measured(&contest.with);
        self.measured.retain(|known| known.variant != measured.variant || known.places != measured.places);
        let dropped = measured.dropped;
        self.measured.push(measured);
        if let Some(at) = self.versions.iter().position(|v| dropped && Arc::ptr_eq(v, &contest.with)) {
            self.versions[at] = Arc::clone(&contest.without);
        }
        dropped.then_some(contest)
    }

    /// The loop is interpreted for some time.
    pub fn give_up(&mut self, why: Abort) {
        self.contest = None;
        self.aborted = Some(why);
        self.rest = Rest { verdicts: self.rest.verdicts.saturating_add(1), begun: false };
    }

    /// Of a loop that was given up: how many rounds more it is interpreted, unless it has been for long enough.
    pub fn rests(&mut self) -> Option<u32> {
        let why = self.aborted.as_ref()?;
        if matches!(why, Abort::Defect(_)) {
            return Some(NEVER);
        }
        let doubled = self.rest.verdicts.saturating_sub(1).min(16);
        let rounds = match self.versions.is_empty() {
            false => (REST << doubled).min(LONGEST_REST),
            true => REST_WITHOUT_CODE << (2 * doubled).min(8),
        };
        (!std::mem::replace(&mut self.rest.begun, true)).then_some(rounds)
    }

    /// Tries a loop again that was given up.
    pub fn wake(&mut self) {
        (self.aborted, self.aborted_at) = (None, None);
        // What could not be compiled is recorded by what the program does now.
        self.observed &= !self.versions.is_empty();
        self.versions.iter().for_each(|version| version.try_again());
    }

    /// Another version is wanted. Returns whether none are made for now.
    pub fn refuses(&mut self) -> bool {
        if self.refused.is_some() {
            self.wanted = self.wanted.saturating_add(1);
            if self.wanted >= REFUSED << (2 * self.refusals.saturating_sub(1)).min(18) {
                self.refused = None;
            }
        }
        self.refused.is_some()
    }

    /// Returns whether there is a version for these facts, or one is being made.
    pub fn has_version_for(&self, facts: &EntryFacts) -> bool {
        self.is_making(facts) || self.versions.iter().any(|v| v.facts == *facts)
    }

    /// Returns whether there is a version for one lane.
    pub fn has_version_for_one_lane(&self) -> bool {
        self.versions.iter().any(|version| version.facts.mask == MaskFact::One)
    }

    /// Returns whether a version for these facts is being made while others are entered.
    pub fn is_making(&self, facts: &EntryFacts) -> bool {
        let own = std::process::id();
        self.making.iter().any(|(process, f)| *process == own && f == facts)
    }

    /// One is being made.
    pub fn begin_making(&mut self, facts: &EntryFacts) {
        self.making.push((std::process::id(), facts.clone()));
    }

    /// It is made, or could not be.
    pub fn end_making(&mut self, facts: &EntryFacts) {
        self.making.retain(|(_, f)| f != facts);
    }

    /// A version for constants that has not been entered since this was asked last, to be replaced by one for others.
    pub fn outdated(&self, facts: &EntryFacts) -> Option<Arc<Version>> {
        let is_like = |version: &Version| version.facts.speciality() == facts.speciality();
        self.versions.iter().rfind(|version| is_like(version) && version.is_idle()).cloned()
    }
}

/// What holds at a loop's head right now.
pub(super) struct Holding<'a> {
    pause: &'a Pause<'a>,
    masks: &'a [u64],
    full: u64,
}

impl<'a> Holding<'a> {
    /// `masks` are those that the pause has written.
    pub fn new(pause: &'a Pause<'a>, masks: &'a [u64]) -> Holding<'a> {
        Holding { pause, masks, full: pause.full_mask() }
    }

    /// The version that may be entered, of some.
    #[inline(always)]
    #[expect(clippy::manual_find, reason = "`find` is not inlined, and takes as long as what it does")]
    pub fn choose<'v>(&self, versions: &'v [Arc<Version>]) -> Option<&'v Arc<Version>> {
        for version in versions {
            if self.suits(version) {
                return Some(version);
            }
        }
        None
    }

    /// Returns whether a version may be entered. Notes if it is only its constants that other values are found in the place of.
    #[inline(always)]
    fn suits(&self, version: &Version) -> bool {
        for &(at, bits) in &version.masks {
            if self.masks.get(at as usize) != Some(&bits) {
                return false;
            }
        }
        for &at in &version.one_lane_words {
            if !self.has_one_lane() || self.masks.get(at as usize) != self.masks.first() {
                return false;
            }
        }
        version.has_constants(|slot| Some(self.pause.uniform(slot))) == Some(true)
    }

    /// Returns whether one lane is active.
    #[inline(always)]
    fn has_one_lane(&self) -> bool {
        self.masks[0].is_power_of_two()
    }

    /// Returns whether one lane is active, and no others come back.
    pub fn is_alone(&self) -> bool {
        let stays = |mask| mask == 0 || mask == self.masks[0];
        self.has_one_lane() && self.pause.entries().all(|(_, restore, other)| stays(restore) && stays(other))
    }

    /// The facts to compile for: what holds, or nothing.
    pub fn observe(&self, nothing: bool) -> EntryFacts {
        let of = |mask| if nothing { MaskFact::Unknown } else { MaskFact::of(mask, self.full) };
        let entries = self.pause.entries().map(|(kind, restore, other)| (kind, of(restore), of(other))).collect();
        EntryFacts { mask: of(self.masks[0]), entries, constants: Vec::new() }
    }

    /// The facts to compile for one lane for; none if several are active, or others are to come back.
    pub fn observe_one_lane(&self) -> Option<EntryFacts> {
        let of = |mask| if mask == 0 { MaskFact::Empty } else { MaskFact::One };
        let entries = || self.pause.entries().map(|(kind, restore, other)| (kind, of(restore), of(other))).collect();
        self.is_alone().then(|| EntryFacts { mask: MaskFact::One, entries: entries(), constants: Vec::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Constant;
    use spmdvm_vm::interp::native::RegisterSlot;
    use spmdvm_vm::program::Reg;
    use spmdvm_vm::types::{Shape, Ty};

    const PLACE: RegisterSlot = RegisterSlot { at: 0, shape: Shape::Uniform, ty: Ty::I32 };

    /// What is made in the background is asked for again meanwhile.
    #[test]
    fn a_version_for_the_same_constants_is_not_made_twice_at_a_time() {
        let facts = |bits| EntryFacts {
            mask: MaskFact::Full,
            entries: Vec::new(),
            constants: vec![Constant { reg: Reg(1), place: PLACE, bits }],
        };
        let mut found = Loop::default();
        assert!(!found.has_version_for(&facts(3)));
        found.begin_making(&facts(3));
        assert_eq!([3, 4].map(|bits| found.has_version_for(&facts(bits))), [true, false]);
        found.end_making(&facts(4));
        assert!(found.has_version_for(&facts(3)));
        found.end_making(&facts(3));
        assert!(!found.has_version_for(&facts(3)));
    }
}
