//! What a version is entered with, entry after entry: whether one for these constants pays.

use crate::ir::Region;
use crate::record::{Constant, EntryFacts};
use crate::settings::{Settings, Variant};
use spmdvm_vm::PreparedProgram;
use spmdvm_vm::interp::native::{Pause, RegisterSlot};
use spmdvm_vm::program::Reg;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// So many entries are not looked at, as a power of two, whose arguments change all the time.
const MOST_UNSEEN: u32 = 8;

/// Where entries are long, so many nanoseconds of running with the same arguments are enough, and one of so many of the entries.
const LONG_ENTRIES: u64 = 10_000_000;
const ENOUGH_PART: u32 = 4;

/// Uniform registers that the loop does not change, and how long they have been the same.
pub(super) struct Arguments {
    places: Box<[(Reg, RegisterSlot)]>,
    last: Box<[AtomicU64]>,
    same: AtomicU32,
    /// Nanoseconds that the version had run when they became so.
    since: AtomicU64,
    /// How often they have been others, one time after another; and the entry at which somebody looks next, which is later for that
    /// reason, by the number of those before it.
    others: AtomicU32,
    next: AtomicU64,
}

impl Arguments {
    pub fn new(region: &Region, facts: &EntryFacts, prepared: &PreparedProgram, settings: &Settings) -> Arguments {
        let known = |reg: &Reg| facts.constants.iter().any(|c| c.reg == *reg);
        let is_wanted = settings.variants.has(Variant::Constant);
        let regs = region.arguments.iter().filter(|r| is_wanted && !known(r));
        let places: Box<[_]> = regs.map(|&r| (r, prepared.register(region.function, r))).collect();
        let last = places.iter().map(|_| AtomicU64::new(0)).collect();
        let [same, others] = [(); 2].map(|()| AtomicU32::new(0));
        let [since, next] = [(); 2].map(|()| AtomicU64::new(0));
        Arguments { places, last, same, since, others, next }
    }

    /// Looks whether the arguments are still the same; gives them when they have been for long enough, and for four
    /// times as long, and so on; with how many times as long that is. Where they change all the time, it looks at one entry of a few.
    /// There have been so many entries before this one, and the version has run for so many `nanos`, if time counts.
    #[inline]
    pub fn look(
        &self,
        entry: u64,
        pause: &Pause<'_>,
        settings: &Settings,
        nanos: impl Fn() -> Option<u64>,
    ) -> Option<Box<(Vec<Constant>, u32)>> {
        if self.unseen(entry) != 0 { None } else { self.compare(entry, pause, settings, nanos()) }
    }

    /// How many entries there are from one on until somebody looks.
    #[inline(always)]
    pub fn unseen(&self, entry: u64) -> u64 {
        if self.places.is_empty() { u64::MAX } else { self.next.load(Ordering::Relaxed).saturating_sub(entry) }
    }

    #[inline(never)]
    fn compare(
        &self,
        entry: u64,
        pause: &Pause<'_>,
        settings: &Settings,
        nanos: Option<u64>,
    ) -> Option<Box<(Vec<Constant>, u32)>> {
        let mut same = true;
        for ((_, place), last) in self.places.iter().zip(&self.last) {
            let now = pause.uniform(*place);
            if last.load(Ordering::Relaxed) != now {
                last.store(now, Ordering::Relaxed);
                same = false;
            }
        }
        if !same {
            let others = self.others.load(Ordering::Relaxed);
            self.next.store(entry + (1 << others), Ordering::Relaxed);
            self.others.store((others + 1).min(MOST_UNSEEN), Ordering::Relaxed);
            self.same.store(0, Ordering::Relaxed);
            self.since.store(nanos.unwrap_or(0), Ordering::Relaxed);
            return None;
        }
        let times = self.same.load(Ordering::Relaxed).saturating_add(1);
        self.same.store(times, Ordering::Relaxed);
        self.others.store(0, Ordering::Relaxed);
        let constants = || {
            let values = self.places.iter().zip(&self.last);
            values.map(|(&(reg, place), v)| Constant { reg, place, bits: v.load(Ordering::Relaxed) }).collect()
        };
        let since = self.since.load(Ordering::Relaxed);
        let are_long = |nanos: u64| nanos.saturating_sub(since) >= LONG_ENTRIES;
        if times == settings.same_arguments / ENOUGH_PART && nanos.is_some_and(are_long) {
            return Some(Box::new((constants(), 1)));
        }
        let long = times.checked_div(settings.same_arguments).unwrap_or(0);
        let due = times == long * settings.same_arguments
            && long.is_power_of_two()
            && long.trailing_zeros().is_multiple_of(2);
        due.then(|| Box::new((constants(), long)))
    }
}
