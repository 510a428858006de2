//! How much time is spent in native code, by samples.
//!
//! Reading the clock twice takes some 50 ns, as much as a short entry. So the first entries of a version are measured,
//! in case there are no more, and then one of 64, which stands for all 64, or of fewer where entries are long: about a
//! nanosecond for each short entry, and half a hundredth of the time of long ones. The calls that a measured entry makes are
//! measured, too, and made in a slower way: where it makes many, fewer are measured.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Entries that are all measured.
const FIRST: u64 = 16;

/// Of the others, one of so many, if they are short; and if they may make calls.
const EVERY: u64 = 64;
const EVERY_OF_CALLS: u64 = 1024;

/// Nanoseconds that it takes to measure an entry, and what each of its calls takes longer then.
const COST: u64 = 50;
const COST_OF_CALL: u64 = 250;

/// How many times as long entries are to take altogether.
const LONG: u64 = 200;

/// Time spent in a version's code, about.
#[derive(Debug)]
pub(super) struct Clock {
    /// Entries that are all measured, and of how many of the others one is, if they are short.
    first: u64,
    every: u64,
    nanos: AtomicU64,
    /// Of how many entries one is measured, less one.
    skipped: AtomicU64,
}

/// An entry that is being measured.
pub(super) struct Measure {
    start: Instant,
    /// For how many it stands.
    weight: u64,
}

/// Returns whether an entry is the one of so many more that is measured. Not at equal distances: where a function calls itself, what is
/// entered then may be much the same each time.
#[inline(always)]
fn is_turn(entry: u64, skipped: u64) -> bool {
    entry.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & skipped == 0
}

impl Clock {
    /// That of a version, which may make calls. Under stress it is soon called as if it had been for long.
    pub fn new(calls: bool, stress: bool) -> Clock {
        let every = if calls { EVERY_OF_CALLS } else { EVERY };
        let first = if stress { 1 } else { FIRST };
        Clock { first, every, nanos: AtomicU64::new(0), skipped: AtomicU64::new(0) }
    }

    /// Begins to measure an entry, if it is the turn of this one: the number of those before it.
    #[inline(always)]
    pub fn begin(&self, entry: u64) -> Option<Measure> {
        let skipped = self.skipped(entry);
        is_turn(entry, skipped).then(|| Measure { start: Instant::now(), weight: skipped + 1 })
    }

    /// Returns whether it is the turn of an entry to be measured.
    #[inline(always)]
    pub fn is_turn(&self, entry: u64) -> bool {
        is_turn(entry, self.skipped(entry))
    }

    #[inline(always)]
    fn skipped(&self, entry: u64) -> u64 {
        if entry < self.first { 0 } else { self.skipped.load(Ordering::Relaxed) }
    }

    /// The entry is over, which has made so many calls, and spent so many nanoseconds in what it has called.
    pub fn end(&self, measure: &Measure, elsewhere: u64, calls: u64) {
        let took = measure.start.elapsed().as_nanos() as u64;
        self.nanos.fetch_add(took.saturating_sub(elsewhere) * measure.weight, Ordering::Relaxed);
        self.space(took, calls);
    }

    /// Measures entries that take so long, with all of their calls, as often as is worth it.
    fn space(&self, took: u64, calls: u64) {
        let cost = COST + COST_OF_CALL * calls;
        let every = (cost * LONG / took.max(1)).clamp(1, self.every).next_power_of_two();
        self.skipped.store(every - 1, Ordering::Relaxed);
    }

    /// The time.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.nanos())
    }

    /// The same in nanoseconds.
    pub fn nanos(&self) -> u64 {
        self.nanos.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_for_the_entries_around_them() {
        let clock = Clock::new(false, false);
        let nap = Duration::from_millis(1);
        let measures = |entry, elsewhere| {
            let measure = clock.begin(entry);
            std::thread::sleep(nap);
            measure.inspect(|measure| clock.end(measure, elsewhere, 0)).is_some()
        };
        (0..2).for_each(|entry| _ = measures(entry, 0));
        assert!(clock.time() >= 2 * nap);
        clock.space(100, 0);
        let before = clock.time();
        let (turns, others): (Vec<u64>, Vec<u64>) = (64..640).partition(|&entry| is_turn(entry, EVERY - 1));
        assert!((4..=16).contains(&turns.len()));
        assert!(!measures(others[0], 0));
        assert_eq!(clock.time(), before);
        assert!(measures(turns[0], 0));
        assert!(clock.time() >= before + 64 * nap);
        let (before, other) = (clock.time(), Clock::new(false, false));
        other.end(&Measure { start: Instant::now(), weight: 1 }, u64::MAX, 0);
        assert_eq!((clock.time(), other.time()), (before, Duration::ZERO));
    }

    #[test]
    fn long_entries_are_all_measured() {
        let each = |clock: &Clock, took, calls| {
            clock.space(took, calls);
            let turns = (64..6464).filter(|&entry| is_turn(entry, clock.skipped.load(Ordering::Relaxed)));
            (turns.count() + 50) / 100
        };
        let clock = Clock::new(false, false);
        assert_eq!([20, 200, 2_000, 20_000, 2_000_000].map(|took| each(&clock, took, 0)), [1, 1, 8, 64, 64]);
        let clock = Clock::new(true, false);
        let with_calls = [(200_000, 0), (200_000, 10), (200_000, 100), (2_000, 1), (200, 1)];
        assert_eq!(with_calls.map(|(took, calls)| each(&clock, took, calls)), [64, 32, 2, 2, 0]);
    }
}
