//! The fuel of a call, shared by all of its threads.
//!
//! A thread takes a slice, counts it down by itself, and comes back for the next. Whether a call runs out of fuel does not
//! depend on how it is spread over threads: who finds nothing left waits until the others have spent, or given back, what
//! they took, and only then there is none.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Most that a thread takes at once: back-edges and calls between two polls of the clock and the interruption flag.
const SLICE: u64 = 8192;

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
}

impl Fuel {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call begins with so much.
    pub fn start(&self, total: u64) {
        *self.state() = State { left: total, holders: 0 };
    }

    /// What nobody has taken.
    pub fn left(&self) -> u64 {
        self.state().left
    }

    /// Takes a slice, for a thread that holds none, if there is fuel that nobody holds.
    pub fn take_at_once(&self) -> Option<u64> {
        Self::slice(&mut self.state())
    }

    fn slice(state: &mut State) -> Option<u64> {
        let slice = state.left.min(SLICE);
        state.left -= slice;
        state.holders += usize::from(slice != 0);
        (slice != 0).then_some(slice)
    }

    /// Takes a slice, for a thread that holds none; `None` if there is no fuel. `wait` is called before the thread has to
    /// wait for the others.
    pub fn take(&self, wait: impl FnOnce()) -> Option<u64> {
        let mut state = self.state();
        if state.left == 0 && state.holders != 0 {
            drop(state);
            wait();
            let waits = |state: &mut State| state.left == 0 && state.holders != 0;
            state = self.changed.wait_while(self.state(), waits).unwrap_or_else(PoisonError::into_inner);
        }
        Self::slice(&mut state)
    }

    /// Gives back what is left of a slice.
    pub fn give_back(&self, rest: u64) {
        let mut state = self.state();
        state.left += rest;
        state.holders -= 1;
        // Only who found nothing waits.
        if rest == state.left {
            drop(state);
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_add_up() {
        let fuel = Fuel::default();
        fuel.start(SLICE + 5);
        assert_eq!(fuel.take(|| ()), Some(SLICE));
        fuel.give_back(3);
        assert_eq!(fuel.take(|| ()), Some(8));
        fuel.give_back(0);
        assert_eq!(fuel.take(|| unreachable!("nobody holds any")), None);
    }

    #[test]
    fn who_finds_nothing_waits_for_what_others_hold() {
        let fuel = Fuel::default();
        fuel.start(10);
        assert_eq!(fuel.take(|| ()), Some(10));
        let (taken, waits) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| fuel.take(|| taken.send(()).expect("received below")));
            waits.recv().expect("sent by the other thread");
            fuel.give_back(4);
            assert_eq!(other.join().expect("no panic"), Some(4));
        });
        assert_eq!(fuel.left(), 0);
    }
}
