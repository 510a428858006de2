//! How often loops go round and functions are called, counted down until a tracer is asked.

use crate::program::FuncId;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The countdown of a loop or function, by the instruction at its head.
pub(crate) struct HotCount {
    countdown: AtomicU32,
    pub at: (FuncId, u32),
    /// What the countdown began with.
    begun: AtomicU32,
    /// What had been counted before.
    before: AtomicU64,
}

impl HotCount {
    /// Counts down from a number.
    pub fn new(at: (FuncId, u32), first: u32) -> HotCount {
        HotCount { countdown: AtomicU32::new(first), at, begun: AtomicU32::new(first), before: AtomicU64::new(0) }
    }

    /// Counts down anew. (Of threads that count at the same time, some rounds may be lost: they are not worth more.)
    #[inline]
    pub fn restart(&self, rounds: u32) {
        let counted = self.counted();
        self.countdown.store(rounds, Ordering::Relaxed);
        self.begun.store(rounds, Ordering::Relaxed);
        self.before.store(counted, Ordering::Relaxed);
    }

    /// How often the interpreter has come there.
    #[inline]
    pub fn counted(&self) -> u64 {
        // One by one: of an array of references, one load of both waited until their stores were done.
        let begun = self.begun.load(Ordering::Relaxed);
        let left = self.countdown.load(Ordering::Relaxed);
        self.before.load(Ordering::Relaxed) + begun.saturating_sub(left) as u64
    }

    /// Counts a round or call. Returns whether there was one left before the tracer is asked.
    #[inline(always)]
    pub fn count(&self) -> bool {
        let left = self.countdown.load(Ordering::Relaxed);
        if left != 0 {
            self.countdown.store(left - 1, Ordering::Relaxed);
        }
        left != 0
    }

    /// Counts a call about which nobody is asked.
    pub fn note(&self) {
        self.before.fetch_add(1, Ordering::Relaxed);
    }
}
