//! How much time is spent in native code, by samples.
//!
//! Reading the clock twice takes some 50 ns, as much as a short entry. So the first entries of a version are measured,
//! in case there are no more, and then one of 64, which stands for all 64, or of fewer where entries are long: about a
//! nanosecond for each short entry, and half a hundredth of the time of long ones.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Entries that are all measured.
const FIRST: u64 = 16;

/// Of the others, one of so many, if they are short.
const EVERY: u64 = 64;

/// Nanoseconds of an entry that are long beside reading the clock.
const LONG: u64 = 10_000;

/// Time spent in a version's code, about.
#[derive(Debug, Default)]
pub(super) struct Clock {
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
    /// Begins to measure an entry, if it is the turn of this one: the number of those before it.
    #[inline(always)]
    pub fn begin(&self, entry: u64) -> Option<Measure> {
        let skipped = if entry < FIRST { 0 } else { self.skipped.load(Ordering::Relaxed) };
        is_turn(entry, skipped).then(|| Measure { start: Instant::now(), weight: skipped + 1 })
    }

    /// The entry is over, in which so many nanoseconds were spent in the code of others.
    pub fn end(&self, measure: &Measure, elsewhere: u64) {
        let took = measure.start.elapsed().as_nanos() as u64;
        self.note(took.saturating_sub(elsewhere), measure.weight);
    }

    /// An entry that stands for so many has taken so long.
    fn note(&self, took: u64, weight: u64) {
        self.nanos.fetch_add(took * weight, Ordering::Relaxed);
        let every = (LONG / took.max(1)).clamp(1, EVERY).next_power_of_two();
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
        let clock = Clock::default();
        let nap = Duration::from_millis(1);
        let measures = |entry, elsewhere| {
            let measure = clock.begin(entry);
            std::thread::sleep(nap);
            measure.inspect(|measure| clock.end(measure, elsewhere)).is_some()
        };
        (0..2).for_each(|entry| _ = measures(entry, 0));
        assert!(clock.time() >= 2 * nap);
        clock.note(100, 1);
        let before = clock.time();
        let (turns, others): (Vec<u64>, Vec<u64>) = (64..640).partition(|&entry| is_turn(entry, EVERY - 1));
        assert!((4..=16).contains(&turns.len()));
        assert!(!measures(others[0], 0));
        assert_eq!(clock.time(), before);
        assert!(measures(turns[0], 0));
        assert!(clock.time() >= before + 64 * nap);
        let (before, other) = (clock.time(), Clock::default());
        other.end(&Measure { start: Instant::now(), weight: 1 }, u64::MAX);
        assert_eq!((clock.time(), other.time()), (before, Duration::ZERO));
    }

    #[test]
    fn long_entries_are_all_measured() {
        let clock = Clock::default();
        let each = |took| {
            clock.note(took, 1);
            let turns = (64..6464).filter(|&entry| is_turn(entry, clock.skipped.load(Ordering::Relaxed)));
            (turns.count() + 50) / 100
        };
        assert_eq!([20, 200, 2_000, 20_000, 2_000_000].map(each), [1, 1, 8, 64, 64]);
    }
}
