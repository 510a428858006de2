//! The machine code of a version: baseline code at first, where that pays, and optimised code as soon as there is some.
//!
//! Baseline code is compiled in less than half the time, and runs at about half the speed. While it runs already, the thread that compiles
//! makes the optimised code, which then takes its place under the version: exits, counters and all that has been learnt stay. A
//! run of baseline code ends at its next poll; the next round enters the optimised code.

use crate::backend::Executable;
use crate::cache::Room;
use crate::sync::atomic::{AtomicU32, Ordering};
use std::process;
use std::sync::OnceLock;
use std::time::Duration;

/// Machine code, and what it took.
pub(super) struct Made {
    pub code: Box<dyn Executable>,
    pub time: Duration,
    pub room: Room,
}

/// The code of a version.
pub(super) struct Tiers {
    first: Made,
    optimised: OnceLock<Made>,
    /// Of baseline code: the process that makes the optimised code. A forked child has no thread that does it.
    improved_by: Option<AtomicU32>,
    /// How often that has failed.
    failures: AtomicU32,
}

/// What is told of the code of a version.
pub(super) struct Told {
    pub is_baseline: bool,
    /// The time until there was code to enter.
    pub first_time: Duration,
    /// The time of making all code.
    pub time: Duration,
    /// Bytes of all code.
    pub bytes: usize,
}

/// Entries until somebody is asked for the optimised code that nobody makes; 16 times as many after each failure.
const FORSAKEN: u64 = 64;

impl Tiers {
    /// Code that is optimised from the start.
    pub fn optimised(made: Made) -> Tiers {
        Tiers { first: made, optimised: OnceLock::new(), improved_by: None, failures: AtomicU32::new(0) }
    }

    /// Baseline code.
    pub fn baseline(made: Made) -> Tiers {
        Tiers {
            first: made,
            optimised: OnceLock::new(),
            improved_by: Some(AtomicU32::new(0)),
            failures: AtomicU32::new(0),
        }
    }

    /// What is to be run.
    pub fn best(&self) -> &dyn Executable {
        &*self.optimised.get().unwrap_or(&self.first).code
    }

    /// Returns whether there is nothing but baseline code.
    pub fn is_baseline(&self) -> bool {
        self.improved_by.is_some() && self.optimised.get().is_none()
    }

    /// Returns whether it is baseline code with nobody to make the optimised code, and after so many entries it is time to do
    /// something about it.
    pub fn is_forsaken(&self, entries: u64) -> bool {
        let by = self.improved_by.as_ref().filter(|_| self.optimised.get().is_none());
        let wait = FORSAKEN << (4 * self.failures.load(Ordering::Relaxed)).min(56);
        by.is_some_and(|by| by.load(Ordering::Relaxed) != process::id()) && entries.is_multiple_of(wait)
    }

    /// Takes it upon this process to make the optimised code. Returns whether it is this caller who has to.
    pub fn promise(&self) -> bool {
        let me = process::id();
        self.improved_by.as_ref().is_some_and(|by| by.swap(me, Ordering::Relaxed) != me)
    }

    /// The optimised code could not be made: somebody may try again later.
    pub fn fail(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
        if let Some(by) = &self.improved_by {
            by.store(0, Ordering::Relaxed);
        }
    }

    /// The optimised code is there.
    pub fn improve(&self, made: Made) {
        // A second one can only come of a fork, and is no better.
        let _ = self.optimised.set(made);
        self.first.code.retire();
    }

    /// What is told of the code: one moment's truth, whoever improves it meanwhile.
    pub fn told(&self) -> Told {
        let made = [Some(&self.first), self.optimised.get()];
        let made = || made.iter().flatten();
        Told {
            is_baseline: self.improved_by.is_some() && made().count() == 1,
            first_time: self.first.time,
            time: made().map(|made| made.time).sum(),
            bytes: made().map(|made| made.room.bytes()).sum(),
        }
    }
}
