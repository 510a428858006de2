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

impl Clock {
    /// Runs code, and measures it if it is the turn of this entry: the number of those before it. Tells whether it was.
    #[inline(always)]
    pub fn measure<T>(&self, entry: u64, run: impl FnOnce() -> T) -> (T, bool) {
        let skipped = if entry < FIRST { 0 } else { self.skipped.load(Ordering::Relaxed) };
        if entry & skipped != 0 {
            return (run(), false);
        }
        let start = Instant::now();
        let result = run();
        self.note(start.elapsed().as_nanos() as u64, skipped + 1);
        (result, true)
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
        (0..2).for_each(|entry| _ = clock.measure(entry, || std::thread::sleep(nap)));
        assert!(clock.time() >= 2 * nap);
        clock.note(100, 1);
        let before = clock.time();
        assert!(!clock.measure(100, || std::thread::sleep(nap)).1);
        assert_eq!(clock.time(), before);
        assert!(clock.measure(128, || std::thread::sleep(nap)).1);
        assert!(clock.time() >= before + 64 * nap);
    }

    #[test]
    fn long_entries_are_all_measured() {
        let clock = Clock::default();
        let each = |took| {
            clock.note(took, 1);
            (64..128).filter(|&entry| entry & clock.skipped.load(Ordering::Relaxed) == 0).count()
        };
        assert_eq!([20, 200, 2_000, 20_000, 2_000_000].map(each), [1, 1, 8, 64, 64]);
    }
}
