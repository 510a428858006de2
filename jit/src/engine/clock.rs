//! How much time is spent in native code, by samples.
//!
//! Reading the clock twice takes some 50 ns, as much as a short entry. So the first entries of a version are measured, in case
//! there are no more, and then every 64th, which stands for all 64: about a nanosecond for each entry.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Entries that are all measured.
const FIRST: u64 = 16;

/// Of the others, one of so many.
const EVERY: u64 = 64;

/// Time spent in a version's code, about.
#[derive(Debug, Default)]
pub(super) struct Clock {
    nanos: AtomicU64,
}

impl Clock {
    /// Runs code, and measures it if it is the turn of this entry: the number of those before it.
    pub fn measure<T>(&self, entry: u64, run: impl FnOnce() -> T) -> T {
        let weight = if entry < FIRST { 1 } else { EVERY };
        if !entry.is_multiple_of(weight) {
            return run();
        }
        let start = Instant::now();
        let result = run();
        self.nanos.fetch_add(start.elapsed().as_nanos() as u64 * weight, Ordering::Relaxed);
        result
    }

    /// The time.
    pub fn time(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_stand_for_the_entries_around_them() {
        let clock = Clock::default();
        let nap = Duration::from_millis(1);
        (0..2).for_each(|entry| clock.measure(entry, || std::thread::sleep(nap)));
        assert!(clock.time() >= 2 * nap);
        let before = clock.time();
        clock.measure(100, || std::thread::sleep(nap));
        assert_eq!(clock.time(), before);
        clock.measure(128, || std::thread::sleep(nap));
        assert!(clock.time() >= before + 64 * nap);
    }
}
