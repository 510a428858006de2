//! What the recorder is told: which variants to make where.

use crate::profile::{Profile, ProgramPoint, Seen};
use crate::settings::{Settings, Variant, Variants};
use crate::stress;
use std::collections::{HashMap, HashSet};

/// Ground for choosing variants: what has been seen, what did not pay, what was left out and is wanted after all.
#[derive(Clone, Debug)]
pub struct Advice {
    /// What was seen while interpreting.
    pub profile: Profile,
    /// Variants that failed more often than they paid.
    pub dropped: HashSet<(Variant, ProgramPoint)>,
    /// Variants that took more time than they saved.
    lost: HashMap<(Variant, ProgramPoint), Loss>,
    /// How often that has been found out.
    losses: u32,
    /// The same, of each, whether or not it is chosen again by now.
    losses_of: HashMap<(Variant, ProgramPoint), u32>,
    /// What was seen lately, of each look less than of those after it.
    lately: Profile,
    /// Ways that were left out and have been taken since, by the instruction at which they begin.
    pub wanted: HashSet<ProgramPoint>,
    /// Whether regions may be larger than they are at first.
    pub large: bool,
    variants: Variants,
    every: bool,
    /// The seed by which calls are linked and regions cut at random, if they are.
    links: Option<u64>,
}

/// That a variant took more time than it saved.
#[derive(Clone, Copy, Debug)]
struct Loss {
    /// How often what it is for was seen then.
    share: f32,
    /// Losses that had been found out by then, with this one.
    number: u32,
    /// How many times it must be seen much more or less often before it is chosen again.
    patience: u32,
}

/// The access pattern: how the addresses of the active lanes lie, as a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessPattern {
    /// All the same.
    One,
    /// Consecutive elements.
    Consecutive,
    /// So far apart, in units of the index.
    Strided(i64),
}

/// What to find out whether an arm can be skipped costs, in simple instructions.
const TEST: u32 = 2;

/// What a branch costs that was predicted wrongly, likewise.
const MISPREDICTED: u32 = 20;

/// The cost of an arm, likewise, beyond which it is skipped where it can be: how often that is may change.
const SHORT: u32 = 16;

/// How often a branch is executed before a way that was never taken counts as one that never will be.
const ENOUGH: u32 = 16;

/// Rounds of an inner loop in each round of the outer one that are many.
const LONG: u32 = 12;

/// Instructions seen that are too few to go by.
const FEW: u32 = 4;

/// How much more or less often what a variant is for must be seen to choose it again where it took more time than it
/// saved.
const MOVED: f32 = 0.5;

/// How many times as often that must be so for each time that it has lost again: what lanes do may change with every look.
const AGAIN: u32 = 4;

/// Most times.
const MOST_PATIENCE: u32 = 1024;

impl Advice {
    /// With these settings, and nothing seen yet.
    pub fn new(settings: &Settings) -> Advice {
        let (variants, every) = (settings.variants, settings.every_variant);
        Advice {
            profile: Profile::default(),
            dropped: HashSet::new(),
            lost: HashMap::new(),
            losses: 0,
            losses_of: HashMap::new(),
            lately: Profile::default(),
            wanted: HashSet::new(),
            large: false,
            variants,
            every,
            links: settings.links,
        }
    }

    /// Makes no more variants of a kind.
    pub fn forbid(&mut self, variant: Variant) {
        self.variants.switch(variant, false);
    }

    /// Returns whether a call is a link, whatever its callee's size.
    pub fn links(&self, call: ProgramPoint) -> bool {
        self.links.is_some_and(|seed| stress::is_chosen(seed, call, 2))
    }

    /// Returns whether a region ends at a call that is a link, rather than that it makes the call.
    pub fn leaves(&self, call: ProgramPoint) -> bool {
        self.links.is_some_and(|seed| stress::is_chosen(seed.rotate_left(32), call, 2))
    }

    /// Returns whether a region ends at a label, whatever its size.
    pub fn cuts(&self, label: ProgramPoint) -> bool {
        self.links.is_some_and(|seed| stress::is_chosen(!seed, label, 6))
    }

    /// Returns whether a variant may be made at a place.
    pub fn allows(&self, variant: Variant, at: ProgramPoint) -> bool {
        let at = (variant, at);
        self.variants.has(variant) && !self.dropped.contains(&at) && !self.lost.contains_key(&at)
    }

    /// Returns whether a variant is one of those that are made at all.
    pub fn has(&self, variant: Variant) -> bool {
        self.variants.has(variant)
    }

    /// Returns whether a pointer that is loaded there is expected to be the same in all rounds of a loop.
    pub fn expects_same_pointer(&self, at: ProgramPoint) -> bool {
        self.allows(Variant::SamePointer, at) && !self.wanted.contains(&at)
    }

    /// Returns whether it is seen often enough that it should be made there.
    fn chooses(&self, variant: Variant, at: ProgramPoint, part: impl Fn(&Seen) -> (u32, u32)) -> bool {
        let often = |seen: &Seen| {
            let (times, of) = part(seen);
            of >= FEW && times >= of - of / 4
        };
        self.allows(variant, at) && (self.every || self.profile.of(at).is_some_and(often))
    }

    /// Access patterns that are worth a test, the most frequent first.
    pub fn access_pattern(&self, at: ProgramPoint) -> Option<AccessPattern> {
        if self.every {
            return Some(
                [AccessPattern::Consecutive, AccessPattern::One, AccessPattern::Strided(2)][at.1 as usize % 3],
            );
        }
        if self.chooses(Variant::Consecutive, at, |s| (s.consecutive, s.times)) {
            return Some(AccessPattern::Consecutive);
        }
        if self.chooses(Variant::Uniform, at, |s| (s.one_address, s.times)) {
            return Some(AccessPattern::One);
        }
        let stride = self.profile.of(at).map_or(2, |seen| seen.stride);
        let strided = stride.unsigned_abs() <= 1 << 12 && self.chooses(Variant::Strided, at, |s| (s.strided, s.times));
        strided.then_some(AccessPattern::Strided(stride))
    }

    /// Returns whether the pointers of an access lead to several memory regions often enough (in a quarter of its
    /// executions) to look up each lane's.
    pub fn leads_apart(&self, at: ProgramPoint) -> bool {
        let often = |seen: &Seen| seen.apart > 0 && seen.apart >= seen.times / 4;
        self.every && at.1.is_multiple_of(2) || self.profile.of(at).is_some_and(often)
    }

    /// Returns whether the few instructions of an arm, from one on, are better executed under a mask than skipped when no lane is active.
    /// Skipping saves their cost in executions without lanes; it costs the test, and as often as the rarer way is taken, about a
    /// misprediction.
    pub fn executes_always(&self, arm: ProgramPoint, branch: ProgramPoint, cost: u32) -> bool {
        if !self.allows(Variant::SkipInactive, branch) {
            return true;
        }
        let Some(of) = self.profile.of(branch).map(|seen| seen.times) else { return false };
        let taken = self.profile.of(arm).map_or(0, |seen| seen.times.min(of));
        let (taken, skipped) = (u64::from(taken), u64::from(of) - u64::from(taken));
        let testing = u64::from(of) * u64::from(TEST) + taken.min(skipped) * u64::from(MISPREDICTED);
        cost <= SHORT && of >= 4 * FEW && skipped * u64::from(cost) <= testing
    }

    /// Returns whether an arm, from one instruction on, has been skipped more often than entered.
    pub fn enters_rarely(&self, arm: ProgramPoint, branch: ProgramPoint) -> bool {
        if self.every {
            return branch.1.is_multiple_of(2);
        }
        let Some(of) = self.profile.of(branch).map(|seen| seen.times) else { return false };
        of >= FEW && self.profile.of(arm).map_or(0, |seen| seen.times) < of / 2
    }

    /// Returns whether there are lanes for each of two arms often enough (in a quarter of the executions of their branch) to execute both.
    pub fn goes_both_ways(&self, branch: ProgramPoint, arms: [ProgramPoint; 2]) -> bool {
        let Some(times) = self.profile.of(branch).map(|seen| seen.times) else { return self.every };
        let often = |arm| self.profile.of(arm).is_some_and(|seen| seen.times >= times / 4);
        self.every || times >= FEW && arms.into_iter().all(often)
    }

    /// Returns whether a load for every lane gives the same to all of them as a rule.
    pub fn one_value(&self, at: ProgramPoint) -> bool {
        self.chooses(Variant::Uniform, at, |s| (s.one_value, s.times))
    }

    /// Returns whether a loop goes round with one lane often enough (in every eighth round) for code of its own.
    pub fn one_lane(&self, back: ProgramPoint) -> bool {
        let often = |seen: &Seen| is_eighth(seen.one_lane, seen.times);
        self.allows(Variant::OneLane, back) && (self.every || self.profile.of(back).is_some_and(often))
    }

    /// Returns whether a function, or what follows a call, has been seen to begin with one lane often enough (every eighth time)
    /// for code of its own.
    pub fn begins_alone(&self, head: ProgramPoint, seen: &Profile) -> bool {
        let often = |seen: &Seen| is_eighth(seen.alone, seen.times);
        self.allows(Variant::OneLane, head) && (self.every || seen.of(head).is_some_and(often))
    }

    /// Compares what the program does now with what the advice goes by. Where a variant would suit that was dropped, or
    /// was not chosen because something else was seen at first, what was seen then is forgotten, but not where what was chosen
    /// suits most of the time: what is seen now may be a rare moment. Returns whether there is such a place.
    pub fn think_again(&mut self, now: &Profile, suiting: &HashSet<ProgramPoint>) -> bool {
        self.lately.fade_into(now);
        let lost = self.lost.len();
        let moved =
            |variant, at, then: f32| share(&self.lately, variant, at).is_some_and(|s| (s - then).abs() >= MOVED);
        let mut again = Vec::new();
        self.lost.retain(|&(variant, at), loss| {
            loss.patience -= (now.of(at).is_some() && moved(variant, at, loss.share)) as u32;
            let stays = loss.patience > 0;
            again.extend((!stays).then_some((variant, at)));
            stays
        });
        let mut changed = self.lost.len() < lost;
        for (variant, at) in again {
            self.profile.replace(at, self.lately.of(at).copied().unwrap_or_default());
            if variant == Variant::SkipInactive {
                // How often lanes change their way is not seen, but measured once it is made.
                self.profile.replace((at.0, at.1 + 1), Seen::default());
            }
        }
        let (profile, lost) = (self.lately.clone(), self.lost.clone());
        let (dropped, wanted, lately) = (HashSet::new(), HashSet::new(), Profile::default());
        let losses_of = HashMap::new();
        let fresh = Advice { profile, dropped, lost, losses_of, lately, wanted, every: false, ..*self };
        let seen_now = now.iter().filter_map(|(&at, _)| Some((at, fresh.profile.of(at)?)));
        for (at, seen) in seen_now.filter(|(at, seen)| seen.times >= 2 * FEW && !suiting.contains(at)) {
            let better = fresh.choices(at).into_iter().filter(|choice| !self.choices(at).contains(choice));
            let better: Vec<Variant> = better.collect();
            if !better.is_empty() {
                self.profile.replace(at, *seen);
                self.dropped.retain(|(variant, place)| *place != at || !better.contains(variant));
                changed = true;
            }
        }
        changed
    }

    /// Where instructions are seen often now, forgets what was seen of them before.
    pub fn begin_anew(&mut self, now: &Profile) {
        for (&at, seen) in now.iter().filter(|(_, seen)| seen.times >= ENOUGH) {
            self.profile.replace(at, *seen);
        }
    }

    /// Arms that are entered behind these instructions have been skipped for long, each time, and are so now: they may be left out,
    /// whatever was seen before. Returns whether there is one that was not.
    pub fn forget_arms(&mut self, branches: &[ProgramPoint], now: &Profile) -> bool {
        let mut changed = false;
        for &(function, pc) in branches {
            let arm = (function, pc + 1);
            let branched = self.profile.of((function, pc)).is_some_and(|seen| seen.times >= ENOUGH);
            if branched && now.of(arm).is_none() && self.allows(Variant::Prune, arm) {
                changed |= self.profile.forget(arm) | self.wanted.remove(&arm);
            }
        }
        changed
    }

    /// A variant took more time at some places than it saved: it is chosen there again when that is no longer what
    /// lanes do.
    pub fn lose(&mut self, variant: Variant, places: &[ProgramPoint]) {
        let seen = |at| share(&self.lately, variant, at).or_else(|| share(&self.profile, variant, at));
        let number = self.losses + 1;
        let shares: Vec<f32> = places.iter().map(|&at| seen(at).unwrap_or(0.0)).collect();
        for (&at, share) in places.iter().zip(shares) {
            let before = self.losses_of.entry((variant, at)).or_default();
            let patience = AGAIN.saturating_pow(*before).min(MOST_PATIENCE);
            *before += 1;
            self.lost.insert((variant, at), Loss { share, number, patience });
        }
        self.losses = number;
    }

    /// How often it has been found out that variants took more time than they saved.
    pub fn losses(&self) -> u32 {
        self.losses
    }

    /// Returns whether one of some variants has lost, and still does, since there were so many losses.
    pub fn has_lost_since(&self, losses: u32, mut variants: impl Iterator<Item = (Variant, ProgramPoint)>) -> bool {
        losses < self.losses && variants.any(|at| self.lost.get(&at).is_some_and(|loss| loss.number > losses))
    }

    /// The variants that are chosen at a place by what lanes do there.
    fn choices(&self, at: ProgramPoint) -> Vec<Variant> {
        let pattern = self.access_pattern(at).map(|pattern| match pattern {
            AccessPattern::One => Variant::Uniform,
            AccessPattern::Consecutive => Variant::Consecutive,
            AccessPattern::Strided(_) => Variant::Strided,
        });
        let one_value = self.one_value(at).then_some(Variant::Uniform);
        pattern.into_iter().chain(one_value).chain(self.one_lane(at).then_some(Variant::OneLane)).collect()
    }

    /// Returns whether a loop within another goes round often each time.
    pub fn is_long(&self, inner: ProgramPoint, outer: ProgramPoint) -> bool {
        let rounds = |head| self.profile.of(head).map_or(0, |seen| seen.times);
        rounds(inner) >= LONG * rounds(outer).max(1)
    }

    /// Returns whether the way that begins at an instruction was never taken, although the branch to it was executed often. Others may
    /// lead to the same place: so often as this it was `taken` from there.
    pub fn is_never(&self, way: ProgramPoint, branch: ProgramPoint, taken: fn(&Seen) -> u32) -> bool {
        let Some(seen) = self.profile.of(branch).filter(|seen| seen.times >= ENOUGH) else { return false };
        let is_unseen = taken(seen) == 0 || self.profile.of(way).is_none();
        is_unseen && self.allows(Variant::Prune, way) && !self.wanted.contains(&way)
    }
}

/// Returns whether something was seen in an eighth of so many executions, which are not too few to go by.
fn is_eighth(times: u32, of: u32) -> bool {
    of >= FEW && times > 0 && times >= of / 8
}

/// In which share of the executions of an instruction what a variant is for was seen, if that can be seen.
fn share(profile: &Profile, variant: Variant, at: ProgramPoint) -> Option<f32> {
    let seen = profile.of(at).filter(|seen| seen.times >= 2 * FEW)?;
    let times = match variant {
        Variant::SkipInactive => {
            let arm = profile.of((at.0, at.1 + 1)).map_or(0, |arm| arm.times);
            seen.times.saturating_sub(arm)
        }
        Variant::Uniform => seen.one_address.max(seen.one_value),
        Variant::Consecutive => seen.consecutive,
        Variant::Strided => seen.strided,
        Variant::OneLane => seen.one_lane,
        Variant::AllActive | Variant::Aligned | Variant::SamePointer | Variant::Constant | Variant::Prune => {
            return None;
        }
    };
    Some(times as f32 / seen.times as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm_vm::program::FuncId;

    const AT: ProgramPoint = (FuncId(0), 7);

    fn seen(consecutive: u32) -> Profile {
        let mut profile = Profile::default();
        profile.replace(AT, Seen { times: 100, consecutive, ..Seen::default() });
        profile
    }

    fn strided() -> Profile {
        let mut profile = Profile::default();
        profile.replace(AT, Seen { times: 100, strided: 100, stride: 3, ..Seen::default() });
        profile
    }

    #[test]
    fn what_lanes_do_now_decides() {
        let mut advice = Advice::new(&Settings::default());
        advice.profile = seen(0);
        assert!(!advice.think_again(&seen(0), &HashSet::new()));
        assert_eq!(advice.access_pattern(AT), None);
        assert!(advice.think_again(&seen(100), &HashSet::new()));
        assert_eq!(advice.access_pattern(AT), Some(AccessPattern::Consecutive));
        assert!(!advice.think_again(&seen(100), &HashSet::new()));
        for _ in 0..3 {
            assert!(!advice.think_again(&strided(), &HashSet::from([AT])));
            assert_eq!(advice.access_pattern(AT), Some(AccessPattern::Consecutive), "it suits");
        }
        assert!(advice.think_again(&strided(), &HashSet::new()));
        assert_eq!(advice.access_pattern(AT), Some(AccessPattern::Strided(3)));
    }

    #[test]
    fn what_has_lost_stays_lost_until_lanes_do_something_else() {
        let mut advice = Advice::new(&Settings::default());
        advice.profile = seen(100);
        advice.lose(Variant::Consecutive, &[AT]);
        for _ in 0..3 {
            assert!(!advice.think_again(&seen(100), &HashSet::new()));
            assert_eq!(advice.access_pattern(AT), None);
        }
        assert!(advice.think_again(&seen(0), &HashSet::new()));
        assert_eq!(advice.access_pattern(AT), None);
        assert!(advice.think_again(&seen(100), &HashSet::new()));
        assert_eq!(advice.access_pattern(AT), Some(AccessPattern::Consecutive));
    }

    /// What changes with every look would have it come and go.
    #[test]
    fn what_has_lost_again_stays_lost_for_longer() {
        let mut advice = Advice::new(&Settings::default());
        advice.profile = seen(100);
        for looks in [1, 4, 16] {
            advice.lose(Variant::Consecutive, &[AT]);
            for _ in 1..looks {
                assert!(!advice.think_again(&seen(0), &HashSet::new()));
                assert!(!advice.allows(Variant::Consecutive, AT));
            }
            assert!(advice.think_again(&seen(0), &HashSet::new()));
            assert!(advice.allows(Variant::Consecutive, AT));
            // Until it is seen as often as before.
            for _ in 0..6 {
                advice.think_again(&seen(100), &HashSet::from([AT]));
            }
        }
    }

    #[test]
    fn what_is_skipped_now_is_skipped_although_it_has_lost() {
        let arm = (AT.0, AT.1 + 1);
        let seen = |taken| {
            let mut profile = Profile::default();
            profile.replace(AT, Seen { times: 100, ..Seen::default() });
            profile.replace(arm, Seen { times: taken, ..Seen::default() });
            profile
        };
        let mut advice = Advice::new(&Settings::default());
        advice.profile = seen(5);
        assert!(!advice.executes_always(arm, AT, SHORT));
        advice.think_again(&seen(100), &HashSet::new());
        advice.lose(Variant::SkipInactive, &[AT]);
        assert!(!advice.think_again(&seen(100), &HashSet::new()));
        assert!(advice.executes_always(arm, AT, SHORT));
        assert!(advice.think_again(&seen(20), &HashSet::new()));
        assert!(!advice.executes_always(arm, AT, SHORT));
    }
}
