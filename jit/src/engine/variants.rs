//! What is told of the variants of a version: how often each suited, and how often its test failed.
//!
//! Variants that are chosen again in every round count for themselves, in the code. Those that hold for a version as a whole
//! are known by how it is entered and left, so that they cost nothing:
//!
//! | variant | place | suited | failed |
//! |---|---|---|---|
//! | `all_active` | the loop's head | entries | counted where lanes part |
//! | `one_lane` | the head of a function or the rest of one | entries | counted at loops only |
//! | `constant` | the loop's head | entries | times that only other constants kept the version from being entered |
//! | `same_pointer` | the load of a pointer | entries in which it was the same as before the loop | entries that another one ended |
//! | `prune` | where a way begins that was left out | entries that were not left by it | entries that were |

use super::report::CounterReport;
use super::version::Version;
use crate::ir::{Counter, ExitReason, Outcome};
use crate::profile::ProgramPoint;
use crate::record::MaskFact;
use crate::settings::Variant;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

impl Version {
    /// How every variant of the version does, and what else is counted.
    pub(super) fn counted(&self) -> Vec<CounterReport> {
        let own = self.region.counters.iter().zip(&self.counters);
        let mut all: Vec<CounterReport> =
            own.map(|(&counter, n)| CounterReport { counter, times: n.load(Relaxed) }).collect();
        for (variant, place, outcome, times) in self.known_by_entries() {
            add(&mut all, Counter::Variant { variant, place, outcome }, times);
        }
        all
    }

    /// How the variants of the version as a whole do.
    fn known_by_entries(&self) -> Vec<(Variant, ProgramPoint, Outcome, u64)> {
        let (head, entries) = (self.at(), self.entries.load(Relaxed));
        let mut known = Vec::new();
        if self.facts.mask == MaskFact::Full {
            known.push((Variant::AllActive, head, Outcome::Hit, entries));
        }
        if self.facts.mask == MaskFact::One {
            known.push((Variant::OneLane, head, Outcome::Hit, entries));
        }
        if !self.facts.constants.is_empty() {
            known.push((Variant::Constant, head, Outcome::Hit, entries));
            known.push((Variant::Constant, head, Outcome::Missed, self.other_constants.load(Relaxed)));
        }
        for ((variant, way), taken) in self.left_out() {
            known.push((variant, way, Outcome::Hit, entries.saturating_sub(taken)));
            known.push((variant, way, Outcome::Missed, taken));
        }
        known
    }

    /// The ways that were left out, and how often they were taken nevertheless.
    fn left_out(&self) -> BTreeMap<(Variant, ProgramPoint), u64> {
        let mut ways = BTreeMap::new();
        for (exit, landing) in self.region.exits.iter().zip(&self.exits).filter(|(_, landing)| landing.pruned) {
            let variant = if exit.reason == ExitReason::OtherPointer { Variant::SamePointer } else { Variant::Prune };
            if let Some(frame) = exit.frames.last() {
                *ways.entry((variant, (frame.function, frame.pc))).or_default() += landing.taken.load(Relaxed);
            }
        }
        ways
    }
}

fn add(all: &mut Vec<CounterReport>, counter: Counter, times: u64) {
    match all.iter_mut().find(|c| c.counter == counter) {
        Some(found) => found.times += times,
        None => all.push(CounterReport { counter, times }),
    }
}
