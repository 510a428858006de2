//! What variants cost: a version runs in turn with one that has been made without some of its variants, and the faster
//! one stays.
//!
//! That a variant's test holds does not mean that it pays: what its code saves may be less than its test takes, or
//! what it keeps from being done together. Nothing tells that but time. So where a version has run for long enough to
//! pay for it, another is compiled without the variants of one kind that it has, and entries run one or the other, as
//! chance will have it, until there are enough pairs of times, or several that all say clearly the same. What is compared is
//! the time for a unit of fuel. A version that takes another's place because the program does something else now has to
//! compete with that one, which has been compiled already, from the beginning: it is *on trial*. What it was compiled without, as
//! nobody had seen it yet, is no fault of its variants: pairs in which it is left for that do not count, unless there are many, and
//! the version that is recompiled with it is on trial in its place.

use super::version::Version;
use crate::profile::ProgramPoint;
use crate::settings::Variant;
use std::sync::Arc;

/// Pairs of samples that decide.
const PAIRS: usize = 24;

/// Pairs that decide if in all of them one takes so many times as long as the other.
const CLEAR_PAIRS: usize = 8;
const CLEAR: f64 = 1.25;

/// A sample takes as long as this at least, nanoseconds, or as many entries: to read the clock takes some 30.
const SAMPLE: u64 = 20_000;
const ENTRIES: u32 = 32;

/// Most pairs that do not count.
const FORGIVEN: u32 = 64;

/// How much longer a round must take with a variant than without for it to be dropped.
const LOSS: f64 = 1.02;

/// What a variant of a version has been found to cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The variant.
    pub variant: Variant,
    /// Where it was chosen, all of these places at once.
    pub places: Vec<ProgramPoint>,
    /// Nanoseconds for a round (a unit of fuel) with the variant.
    pub with: f64,
    /// The same without.
    pub without: f64,
    /// Whether it lost, and is no longer chosen there.
    pub dropped: bool,
}

/// Which of the two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The version as it was, with its variants.
    With,
    /// The other one.
    Without,
}

/// Variants that are left out of one of the two.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Without {
    pub variant: Variant,
    pub places: Vec<ProgramPoint>,
    /// How often they suited when this was found out, of all times, if they had been counted.
    pub share: Option<f64>,
}

/// Two versions that run in turn.
pub(super) struct Contest {
    pub with: Arc<Version>,
    pub without: Arc<Version>,
    pub what: Without,
    /// Whether the one with the variants is new.
    pub on_trial: bool,
    times: Times,
    forgiven: u32,
    /// How often they had been entered when somebody asked last.
    entries_seen: u64,
}

/// The times of both.
#[derive(Default)]
struct Times {
    /// Pairs of nanoseconds for a round.
    pairs: Vec<[f64; 2]>,
    /// The pair that is being measured: nanoseconds and rounds of either.
    open: [(u64, u64); 2],
    entries: u32,
    /// Which of them have been measured.
    done: [bool; 2],
    chance: u64,
}

impl Contest {
    pub fn new(with: Arc<Version>, without: Arc<Version>, what: Without, on_trial: bool) -> Contest {
        Contest { with, without, what, on_trial, times: Times::default(), forgiven: 0, entries_seen: 0 }
    }

    /// The version that is to run now.
    pub fn next(&self) -> (Side, Arc<Version>) {
        match self.times.next() {
            Side::With => (Side::With, Arc::clone(&self.with)),
            Side::Without => (Side::Without, Arc::clone(&self.without)),
        }
    }

    /// Returns whether neither has been entered since this was asked last: the program does something else.
    pub fn is_idle(&mut self) -> bool {
        let entries = self.with.entries() + self.without.entries();
        std::mem::replace(&mut self.entries_seen, entries) == entries
    }

    /// The pair that is being measured does not count, if there have not been too many of these. Returns whether it does not.
    pub fn forgive(&mut self) -> bool {
        let forgives = self.forgiven < FORGIVEN;
        self.forgiven += 1;
        if forgives {
            self.times.begin_pair();
        }
        forgives
    }

    /// One of them has run for so many nanoseconds and rounds. Gives what has been found out, once that is so.
    pub fn add(&mut self, side: Side, nanos: u64, rounds: u64) -> Option<Measured> {
        self.times.add(side, nanos, rounds);
        let (with, without, dropped) = self.times.verdict()?;
        let places = self.what.places.clone();
        Some(Measured { variant: self.what.variant, places, with, without, dropped })
    }
}

impl Times {
    fn next(&self) -> Side {
        match self.done {
            [true, false] => Side::Without,
            [false, true] => Side::With,
            // What a program does in turn must not go to the same one each time.
            _ if self.chance.count_ones().is_multiple_of(2) => Side::With,
            _ => Side::Without,
        }
    }

    fn add(&mut self, side: Side, nanos: u64, rounds: u64) {
        // It may be another thread's, which began before the sample ended.
        let at = side as usize;
        if self.done[at] || self.next() != side {
            return;
        }
        self.open[at].0 += nanos;
        self.open[at].1 += rounds;
        self.entries += 1;
        if self.open[at].0 < SAMPLE && self.entries < ENTRIES {
            return;
        }
        (self.done[at], self.entries) = (true, 0);
        if self.done == [true; 2] {
            self.pairs.push(self.open.map(|(nanos, rounds)| nanos as f64 / rounds.max(1) as f64));
            self.begin_pair();
        }
    }

    fn begin_pair(&mut self) {
        (self.open, self.done, self.entries) = Default::default();
        self.chance = self.chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    }

    /// Nanoseconds with and without, and whether it is better without: in the median of pairs, in three quarters of
    /// them, and in all of them together but those that took longest. What costs little most of the time may save much in the rest.
    fn verdict(&self) -> Option<(f64, f64, bool)> {
        let n = self.pairs.len();
        if n < CLEAR_PAIRS {
            return None;
        }
        let sorted = |of: &dyn Fn(&[f64; 2]) -> f64| {
            let mut all: Vec<f64> = self.pairs.iter().map(of).collect();
            all.sort_by(f64::total_cmp);
            all
        };
        let ratios = sorted(&|[with, without]| with / without.max(1e-9));
        let is_clear = ratios[0] > CLEAR || ratios[n - 1] < 1.0 / CLEAR;
        if n < PAIRS && !is_clear {
            return None;
        }
        let mut pairs = self.pairs.clone();
        pairs.sort_by(|a, b| a[0].max(a[1]).total_cmp(&b[0].max(b[1])));
        let [sum_with, sum_without] = [0, 1].map(|i| pairs[..n - n / 8].iter().map(|pair| pair[i]).sum::<f64>());
        let dropped = ratios[n / 2] > LOSS && ratios[n / 4] > 1.0 && sum_with > sum_without;
        let [with, without] = [0, 1].map(|i| sorted(&|pair| pair[i])[n / 2]);
        Some((with, without, dropped))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What comes of it if rounds take so long with and without, the n-th time that either is asked.
    fn contest(nanos: impl Fn(Side, u64) -> u64) -> (f64, f64, bool) {
        let mut times = Times::default();
        let mut asked = [0; 2];
        for _ in 0..PAIRS * 2 * ENTRIES as usize {
            let side = times.next();
            times.add(side, nanos(side, asked[side as usize]) * 100, 100);
            asked[side as usize] += 1;
            if let Some(verdict) = times.verdict() {
                return verdict;
            }
        }
        panic!("there is no verdict after {asked:?} entries");
    }

    #[test]
    fn what_takes_longer_is_dropped() {
        let fixed = |with: u64, without: u64| contest(move |side, _| if side == Side::With { with } else { without });
        assert_eq!(fixed(1100, 1000), (1100.0, 1000.0, true));
        assert_eq!(fixed(1000, 1100), (1000.0, 1100.0, false));
        assert_eq!(fixed(1000, 1000), (1000.0, 1000.0, false));
        assert!(!fixed(1010, 1000).2, "it is not worth it");
        assert_eq!(fixed(11, 10), (11.0, 10.0, true), "many entries make a sample");
    }

    #[test]
    fn what_is_clear_takes_fewer_pairs() {
        let asked = |with: u64, without: u64| {
            let (mut times, mut n) = (Times::default(), 0);
            while times.verdict().is_none() {
                let side = times.next();
                times.add(side, SAMPLE * if side == Side::With { with } else { without }, 100);
                n += 1;
            }
            n / 2
        };
        assert_eq!(asked(10, 10), PAIRS);
        assert_eq!(asked(11, 10), PAIRS);
        assert_eq!(asked(30, 20), CLEAR_PAIRS);
        assert_eq!(asked(20, 30), CLEAR_PAIRS);
    }

    #[test]
    fn interruptions_do_not_count() {
        let disturbed = |with: u64, without: u64| {
            contest(move |side, n| {
                let own = if side == Side::With { with } else { without };
                own + if n % 7 == 3 { 50_000 } else { 0 }
            })
        };
        assert!(disturbed(1100, 1000).2);
        assert!(!disturbed(1000, 1000).2);
        assert!(!disturbed(1000, 1100).2);
    }

    #[test]
    fn what_saves_much_now_and_then_stays() {
        let saving = |now: u64| {
            contest(move |side, n| match (side, n % 5) {
                (Side::With, 2) => now,
                (Side::With, _) => 1050,
                (Side::Without, _) => 1000,
            })
        };
        assert!(!saving(500).2);
        assert!(saving(990).2);
    }

    /// Of a program that does one thing and another in turn, both get as much of either.
    #[test]
    fn neither_is_always_first() {
        let mut times = Times::default();
        let mut firsts = [0; 2];
        for _ in 0..PAIRS {
            firsts[times.next() as usize] += 1;
            for _ in 0..2 {
                times.add(times.next(), SAMPLE, 1);
            }
        }
        assert!(firsts.iter().all(|&n| n >= PAIRS / 4), "{firsts:?}");
    }
}
