//! When somebody looks whether a version still suits what the program does.

use super::{Special, Version};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Nanoseconds of running after which somebody looks whether the variants still suit what the program does, and how
/// many times as long as the last look has taken at least. Each time that this has changed a version, twice as long,
/// until one has changed nothing.
const LOOK_TIME: u64 = 25_000_000;
const LOOK_SHARE: u64 = 120;

/// How many times as long as it took to compile, as far as it is compiled by then: it may be compiled anew.
const LOOK_COMPILE_SHARE: u64 = 4;

/// Where time does not count, or is not known yet: instructions of the bytecode. In compiled code they take some 20 to
/// 60 ms.
const LOOK_EVERY: u64 = 1 << 24;

/// Rounds after which that is done at least, and at most.
pub(super) const LOOK_AGAIN: [u64; 2] = [1 << 12, 1 << 22];

impl Version {
    /// Returns whether it has run for so long that somebody is to look if what it was made for still happens.
    pub fn is_due(&self) -> bool {
        self.rounds() >= self.look_at.load(Ordering::Relaxed)
    }

    /// Somebody looks at it after some rounds more, which are twice as many for each time that this has changed
    /// something. Where time counts, when it has run for long beside the last look, which has taken so long.
    pub fn look_later(&self, changes: u32, took: Duration) {
        let now = self.rounds();
        if let Some(seed) = self.stress {
            // So that leaving in the midst of entries is put to use.
            let by_chance = (seed ^ now).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58;
            return self.look_at.store(now + 1 + by_chance, Ordering::Relaxed);
        }
        let changes = changes.min(20);
        let instructions = self.size.map_or(1, |size| size.times(1)).max(1);
        let [least, most] = LOOK_AGAIN;
        let rounds = (LOOK_EVERY / instructions).clamp(least, most) << changes;
        let nanos = self.clock.nanos();
        let rounds = if self.is_timed {
            let looking = took.as_nanos() as u64 * LOOK_SHARE;
            let compiling = self.code.told().time.as_nanos() as u64 * LOOK_COMPILE_SHARE;
            let period = LOOK_TIME.max(looking).max(compiling) << changes;
            self.look_time.store(nanos + period, Ordering::Relaxed);
            self.rounds_in(period).unwrap_or(rounds >> 4)
        } else {
            rounds
        };
        self.looked_at.iter().zip([nanos, now]).for_each(|(then, now)| then.store(now, Ordering::Relaxed));
        self.look_every.store(rounds, Ordering::Relaxed);
        self.look_at.store(now.saturating_add(rounds), Ordering::Relaxed);
    }

    /// Somebody looks at it soon, and then has that made: what it goes by may have been seen of other constants.
    pub fn look_for(&self, special: Special) {
        *self.special.lock().unwrap_or_else(PoisonError::into_inner) = Some(special);
        self.look_at.store(0, Ordering::Relaxed);
    }

    /// What is to be made now that somebody looks at it.
    pub fn take_special(&self) -> Option<Special> {
        self.special.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns whether rounds have taken far less time than was expected, so that it is too soon to look; then that is
    /// done later.
    pub fn is_too_soon(&self) -> bool {
        let left = self.look_time.load(Ordering::Relaxed).saturating_sub(self.clock.nanos());
        let rounds = (self.is_timed && left > LOOK_TIME / 2).then(|| self.rounds_in(left)).flatten();
        if let Some(rounds) = rounds {
            self.look_at.store(self.rounds() + rounds, Ordering::Relaxed);
        }
        rounds.is_some()
    }

    /// How many rounds take so many nanoseconds, by what they have taken since somebody looked last, if that is known.
    fn rounds_in(&self, nanos: u64) -> Option<u64> {
        let [nanos_then, rounds_then] = self.looked_at.each_ref().map(|n| n.load(Ordering::Relaxed));
        let [took, rounds] =
            [self.clock.nanos() - nanos_then, self.rounds().saturating_sub(rounds_then)].map(|n| n as f64);
        // Not the same part each time of what the program repeats.
        let by_chance = 0.8 + (rounds as u64 % 61) as f64 / 150.0;
        let so_many = nanos as f64 * by_chance * rounds / took;
        (took > 0.0 && rounds > 0.0).then(|| (so_many as u64).clamp(LOOK_AGAIN[0] >> 4, 1 << 40))
    }

    /// Nanoseconds that a round has taken on average, if that is known.
    pub(super) fn round_time(&self) -> Option<f64> {
        let (nanos, rounds) = (self.clock.nanos() as f64, self.rounds() as f64);
        (nanos > 0.0 && rounds > 0.0).then(|| nanos / rounds)
    }
}
