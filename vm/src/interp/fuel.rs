//! The fuel of a call, shared by all of its threads.
//!
//! A thread takes a slice, counts it down by itself, and comes back for the next. Whether a call runs out of fuel does not
//! depend on how it is spread over threads: who finds too little waits until the others have spent, or given back, what
//! they took, and only then there is none.
//!
//! Between two slices a thread looks at the clock and the interruption flag, so how large slices are is how soon a call
//! ends that is to end. Rounds of loops differ by a factor of a million in the time they take; a [`Pace`] learns it.

use crate::sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

/// Most that a thread takes at once to count it down.
pub(crate) const MAX_SLICE: u64 = 8192;

/// Bytes that an instruction may copy, fill, allocate, free or print for a unit of fuel.
const BYTES_PER_UNIT: u64 = 1024;

/// The fuel of an instruction that moves so many bytes, beside what it costs anyway: a unit for every whole KiB.
pub(crate) fn fuel_of(bytes: u64) -> u64 {
    bytes / BYTES_PER_UNIT
}

/// Bytes of the longest instruction that is done without a look at the clock.
pub(crate) const MAX_BYTES_AT_ONCE: u64 = MAX_SLICE * BYTES_PER_UNIT;

/// How large the slices of a thread are: as large as is spent in a millisecond or a few.
pub(crate) struct Pace {
    slice: u64,
    since: Since,
}

/// When a thread has taken its last slice.
enum Since {
    /// It has taken none: short calls do without the clock.
    Never,
    Unknown,
    Known(Instant),
}

impl Pace {
    /// The first slice of a call.
    const FIRST: u64 = 128;
    /// Slices that last less grow.
    const SHORT: Duration = Duration::from_millis(1);
    /// Slices that last more shrink.
    const LONG: Duration = Duration::from_millis(4);

    /// The pace of a call that begins.
    pub fn new() -> Pace {
        Pace { slice: Pace::FIRST, since: Since::Never }
    }

    /// Size of the slice that is taken now.
    pub fn next(&mut self, clock: impl FnOnce() -> Instant) -> u64 {
        self.since = match self.since {
            Since::Never => Since::Unknown,
            Since::Unknown => Since::Known(clock()),
            Since::Known(since) => {
                let now = clock();
                match now.saturating_duration_since(since) {
                    time if time < Pace::SHORT => self.slice = (self.slice * 4).min(MAX_SLICE),
                    time if time > Pace::LONG => self.slice = (self.slice / 4).max(1),
                    _ => {}
                }
                Since::Known(now)
            }
        };
        self.slice
    }
}

/// The fuel of a call.
#[derive(Default)]
pub(crate) struct Fuel {
    state: Mutex<State>,
    /// Told when fuel was given back, or nobody holds any more.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    left: u64,
    /// Threads that hold a slice.
    holders: usize,
    /// Threads that wait for more than is left.
    waiting: usize,
}

impl Fuel {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins with so much.
    pub fn start(&self, total: u64) {
        *self.state() = State { left: total, ..State::default() };
    }

    /// What nobody has taken.
    pub fn left(&self) -> u64 {
        self.state().left
    }

    /// Takes a slice, for a thread that holds none, if so much is left that nobody holds: `units`, or more if the slice
    /// is larger.
    pub fn take_at_once(&self, units: u64, slice: u64) -> Option<u64> {
        Self::slice(&mut self.state(), units, slice)
    }

    fn slice(state: &mut State, units: u64, slice: u64) -> Option<u64> {
        let taken = state.left.min(slice.max(units));
        if taken < units {
            return None;
        }
        state.left -= taken;
        state.holders += 1;
        Some(taken)
    }

    /// Takes a slice, for a thread that holds none: at least `units`. `None` if there is not so much fuel; then there
    /// is none any more. `wait` is called before the thread has to wait for the others.
    pub fn take(&self, units: u64, slice: u64, wait: impl FnOnce()) -> Option<u64> {
        let mut state = self.state();
        if state.left < units && state.holders != 0 {
            drop(state);
            wait();
            state = self.state();
            state.waiting += 1;
            let waits = |state: &mut State| state.left < units && state.holders != 0;
            state = self.changed.wait_while(state, waits).unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        let taken = Self::slice(&mut state, units, slice);
        if taken.is_none() {
            state.left = 0;
        }
        taken
    }

    /// Gives back what is left of a slice.
    pub fn give_back(&self, rest: u64) {
        let mut state = self.state();
        state.left += rest;
        state.holders -= 1;
        if state.waiting != 0 {
            drop(state);
            self.changed.notify_all();
        }
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    #[test]
    fn slices_add_up() {
        let fuel = Fuel::default();
        fuel.start(105);
        assert_eq!(fuel.take(1, 100, || ()), Some(100));
        fuel.give_back(3);
        assert_eq!(fuel.take(1, 100, || ()), Some(8));
        fuel.give_back(0);
        assert_eq!(fuel.take(1, 100, || unreachable!("nobody holds any")), None);
    }

    #[test]
    fn what_costs_more_than_a_slice_is_taken_at_once_or_not_at_all() {
        let fuel = Fuel::default();
        fuel.start(1000);
        assert_eq!(fuel.take(700, 100, || ()), Some(700));
        fuel.give_back(0);
        assert_eq!(fuel.take_at_once(301, 100), None);
        assert_eq!(fuel.left(), 300);
        assert_eq!(fuel.take(301, 100, || unreachable!("nobody holds any")), None);
        assert_eq!(fuel.left(), 0);
    }

    #[test]
    fn who_finds_too_little_waits_for_what_others_hold() {
        for (total, needed) in [(10, 1), (12, 7)] {
            let fuel = Fuel::default();
            fuel.start(total);
            assert_eq!(fuel.take(1, 10, || ()), Some(10));
            let (taken, waits) = std::sync::mpsc::channel();
            std::thread::scope(|scope| {
                let other = scope.spawn(|| fuel.take(needed, 4, || taken.send(()).expect("received below")));
                waits.recv().expect("sent by the other thread");
                fuel.give_back(9);
                assert_eq!(other.join().expect("no panic"), Some(needed.max(4)));
            });
        }
    }

    #[test]
    fn slices_become_smaller_where_they_take_long() {
        let (mut pace, mut now) = (Pace::new(), Instant::now());
        let mut slices = |times: usize, each: Duration| {
            let next = |_| {
                now += each;
                pace.next(|| now)
            };
            (0..times).map(next).last()
        };
        assert_eq!(slices(9, Duration::from_micros(10)), Some(MAX_SLICE));
        assert_eq!(slices(2, Duration::from_millis(100)), Some(MAX_SLICE / 16));
        assert_eq!(slices(20, Duration::from_millis(100)), Some(1));
        assert_eq!(slices(20, Duration::from_micros(10)), Some(MAX_SLICE));
    }
}
