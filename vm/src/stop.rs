//! Calling off work that takes long: compiling, verifying, preparing.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Why work was called off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stopped {
    /// Somebody raised the flag.
    Interrupted,
    /// The deadline passed.
    TimedOut,
}

/// Polls between two looks at flag and clock.
const POLLS_PER_LOOK: u32 = 256;

/// Whether work is to go on. Whoever does it polls at each small step (a token, a statement, an instruction); once it is
/// over it stays over, and all that is left is to come back.
///
/// ```
/// use spmdvm_vm::stop::{Stop, Stopped};
/// use std::time::Instant;
/// let stop = Stop::new(None, Some(Instant::now()));
/// while !stop.poll() {}
/// assert_eq!(stop.reason(), Some(Stopped::TimedOut));
/// ```
#[derive(Debug, Default)]
pub struct Stop {
    flag: Option<Arc<AtomicBool>>,
    deadline: Option<Instant>,
    /// Polls until the next look.
    left: Cell<u32>,
    looks: Cell<u64>,
    reason: Cell<Option<Stopped>>,
}

impl Stop {
    /// Work that ends when the flag is raised, or at the deadline.
    pub fn new(flag: Option<Arc<AtomicBool>>, deadline: Option<Instant>) -> Stop {
        Stop { flag, deadline, ..Stop::default() }
    }

    /// Work that nothing ends.
    pub fn never() -> Stop {
        Stop::default()
    }

    /// Whether to stop, asked at every step: it looks at flag and clock now and then.
    #[inline]
    pub fn poll(&self) -> bool {
        let left = self.left.get();
        if left > 0 {
            self.left.set(left - 1);
            return false;
        }
        self.look()
    }

    /// Whether to stop, by flag and clock as they are now.
    #[cold]
    pub fn look(&self) -> bool {
        if self.reason.get().is_some() {
            return true;
        }
        self.looks.set(self.looks.get() + 1);
        if self.flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)) {
            self.reason.set(Some(Stopped::Interrupted));
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            self.reason.set(Some(Stopped::TimedOut));
        } else {
            self.left.set(POLLS_PER_LOOK - 1);
            return false;
        }
        self.left.set(0);
        true
    }

    /// Why it is over, if a poll has said so.
    pub fn reason(&self) -> Option<Stopped> {
        self.reason.get()
    }

    /// Whether a poll has said that it is over.
    pub fn is_over(&self) -> bool {
        self.reason.get().is_some()
    }

    /// How many steps there were, roughly: the same for the same work on every machine.
    pub fn steps(&self) -> u64 {
        self.looks.get() * u64::from(POLLS_PER_LOOK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stays_over() {
        let flag = Arc::new(AtomicBool::new(false));
        let stop = Stop::new(Some(flag.clone()), None);
        assert!((0..1000).all(|_| !stop.poll()) && stop.reason().is_none());
        assert_eq!(stop.steps(), 1024);
        flag.store(true, Ordering::Relaxed);
        assert!((0..POLLS_PER_LOOK).any(|_| stop.poll()));
        flag.store(false, Ordering::Relaxed);
        assert!(stop.poll() && stop.look() && stop.is_over());
        assert_eq!(stop.reason(), Some(Stopped::Interrupted));
    }

    #[test]
    fn never_ends_by_itself() {
        let stop = Stop::never();
        assert!((0..1_000_000).all(|_| !stop.poll()));
    }
}
