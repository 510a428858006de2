//! How much time is spent in native code, by samples.
//!
//! Reading the clock twice takes some 50 ns, as much as a short entry. So the first entries of a version are measured,
//! in case there are no more, and then one of 64, which stands for all 64, or of fewer where entries are long: about a
//! nanosecond for each short entry, and half a hundredth of the time of long ones. The calls that a measured entry makes are
//! measured, too, and made in a slower way, as are those around it, and itself if it is called: then it is one of 1024. It is the entry
//! whose turn it is, whoever makes it: an entry that makes many calls is not measured for one of those.

use crate::stress::mix;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Entries that are all measured.
const FIRST: u64 = 16;

/// Of the others, one of so many, if they are short; and if they make calls, or are called.
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
    /// The entry that is measured next, by the number of those before it; and for how many those stand that have been measured.
    next: AtomicU64,
    counted: AtomicU64,
}

/// An entry that is being measured.
pub(super) struct Measure {
    start: Instant,
    /// For how many it stands.
    weight: u64,
}

/// How many entries there are after one until one of so many is measured. Not always as many: where a function calls itself, what is
/// entered then may be much the same each time.
fn distance(entry: u64, every: u64) -> u64 {
    (mix(entry) >> 32) % (2 * every - 1)
}

impl Clock {
    /// That of a version, which may make calls. Under stress it is soon called as if it had been for long.
    pub fn new(calls: bool, stress: bool) -> Clock {
        let every = if calls { EVERY_OF_CALLS } else { EVERY };
        let first = if stress { 1 } else { FIRST };
        let [nanos, next, counted] = [(); 3].map(|()| AtomicU64::new(0));
        Clock { first, every, nanos, next, counted }
    }

    /// Begins to measure an entry, if it is the turn of this one: the number of those before it.
    #[inline(always)]
    pub fn begin(&self, entry: u64) -> Option<Measure> {
        (self.unmeasured(entry) == 0).then(|| {
            // What it calls may enter the same.
            self.space(entry, self.every);
            let weight = (entry + 1).saturating_sub(self.counted.swap(entry + 1, Ordering::Relaxed));
            Measure { start: Instant::now(), weight }
        })
    }

    /// How many entries there are from one on until one is measured.
    #[inline(always)]
    pub fn unmeasured(&self, entry: u64) -> u64 {
        self.next.load(Ordering::Relaxed).saturating_sub(entry)
    }

    /// The entry is over, which has spent so many nanoseconds in what it has called. To measure it took what so many calls take longer when
    /// they are measured, itself among them if native code has called it. What it has called may have entered the same: so many have
    /// begun.
    pub fn end(&self, measure: &Measure, begun: u64, elsewhere: u64, calls: u64) {
        let took = (measure.start.elapsed().as_nanos() as u64).saturating_sub(elsewhere);
        self.nanos.fetch_add(took * measure.weight, Ordering::Relaxed);
        self.space(begun.saturating_sub(1), self.every_of(took, calls));
    }

    /// Of how many entries that take so long it is worth to measure one.
    fn every_of(&self, took: u64, calls: u64) -> u64 {
        let cost = COST + COST_OF_CALL * calls;
        let most = if calls == 0 { self.every } else { EVERY_OF_CALLS };
        (cost * LONG / took.max(1)).clamp(1, most)
    }

    /// Measures one of so many from now on.
    fn space(&self, entry: u64, every: u64) {
        let skipped = if entry + 1 < self.first { 0 } else { distance(entry, every) };
        self.next.store(entry + 1 + skipped, Ordering::Relaxed);
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
        let measures = |entry| {
            let measure = clock.begin(entry);
            std::thread::sleep(nap);
            measure.inspect(|measure| clock.end(measure, entry + 1, 0, 0)).is_some()
        };
        (0..2).for_each(|entry| _ = measures(entry));
        assert!(clock.time() >= 2 * nap);
        // Two more have been measured by then, and these are short.
        clock.counted.store(640, Ordering::Relaxed);
        clock.space(639, EVERY);
        let before = clock.time();
        let turn = clock.next.load(Ordering::Relaxed);
        assert!(turn > 640 && !measures(640));
        assert_eq!(clock.time(), before);
        assert_eq!(clock.unmeasured(640), turn - 640);
        assert!(measures(turn));
        assert!(clock.time() >= before + nap * (turn - 639) as u32);
        let (before, other) = (clock.time(), Clock::new(false, false));
        other.end(&Measure { start: Instant::now(), weight: 1 }, 0, u64::MAX, 0);
        assert_eq!((clock.time(), other.time()), (before, Duration::ZERO));
    }

    #[test]
    fn long_entries_are_all_measured() {
        let each = |calls, took, made| {
            let clock = Clock::new(calls, false);
            let (mut entry, mut measured) = (64, 0);
            while entry < 64_064 {
                clock.space(entry, clock.every_of(took, made));
                entry = clock.next.load(Ordering::Relaxed);
                measured += 1;
            }
            (measured + 500) / 1000
        };
        assert_eq!([20, 200, 2_000, 20_000, 2_000_000].map(|took| each(false, took, 0)), [1, 1, 13, 64, 64]);
        let with_calls = [(200_000, 0), (200_000, 10), (200_000, 100), (2_000, 1), (200, 1)];
        assert_eq!(with_calls.map(|(took, made)| each(true, took, made)), [64, 32, 3, 2, 0]);
    }

    #[test]
    fn what_an_entry_has_called_counts_before_the_next_one_is_measured() {
        let clock = Clock::new(true, true);
        // Each entry enters the same 500 times, one after another.
        let (mut measured, mut again, mut last) = (0, 0, false);
        for first in (0..50_000_000).step_by(501) {
            let measure = clock.begin(first);
            (first + 1..=first + 500).step_by(20).for_each(|entry| _ = clock.begin(entry));
            let is_measured = measure.is_some();
            measured += is_measured as u32;
            again += (is_measured && last) as u32;
            last = is_measured;
            if let Some(measure) = measure {
                clock.end(&measure, first + 501, 0, 1_000_000);
            }
        }
        assert!(measured > 100 && again < measured / 20, "{again} of {measured}");
    }

    #[test]
    fn an_entry_that_makes_many_calls_is_measured_no_more_often_than_others() {
        let clock = Clock::new(true, false);
        let measures = |entry| clock.begin(entry).inspect(|measure| clock.end(measure, entry + 1, 0, 1)).is_some();
        // One of 100 looks at all times whether it is its turn, the others only when it can be that of one of them.
        let [mut of_one, mut of_others] = [0_u32; 2];
        let mut until = 0;
        for entry in 0..10_000_000 {
            if entry % 100 == 0 {
                of_one += measures(entry) as u32;
            } else if entry >= until {
                of_others += measures(entry) as u32;
                until = entry + 1 + clock.unmeasured(entry + 1);
            }
        }
        assert!(of_others > 5_000 && of_one < of_others / 50, "{of_one} and {of_others}");
    }
}
