//! A loop, its versions, and what holds at its head.

use super::version::Version;
use crate::abort::Abort;
use crate::record::{EntryFacts, MaskFact};
use spmdvm_vm::interp::native::{ENTRY_WORDS, FRAME_WORDS, Pause};
use spmdvm_vm::program::FuncId;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A loop and its compiled versions.
#[derive(Default)]
pub(super) struct Loop {
    /// Those with more facts come first.
    pub versions: Vec<Arc<Version>>,
    pub aborted: Option<Abort>,
    /// The instruction that is the reason, if it is one.
    pub aborted_at: Option<(FuncId, u32)>,
    /// The function, and the instruction at the loop's head; known once the loop is hot.
    pub at: Option<(FuncId, u32)>,
    /// The process in which a version is being compiled. A forked child has no thread that does it.
    pub pending: Option<u32>,
    /// Has the interpreter run it under observation?
    pub observed: bool,
    /// How often it was observed for a moment while it was being compiled.
    pub looks: u32,
    /// How often a version was made anew.
    pub remakes: u32,
    /// Why no more versions are made, although those that there are may be entered.
    pub refused: Option<Abort>,
    /// How many versions for constant arguments have been made.
    pub specialised: u32,
}

impl Loop {
    /// Is a version being compiled?
    pub fn is_pending(&self) -> bool {
        self.pending.is_some_and(|process| process == std::process::id())
    }

    /// The version that may be entered.
    pub fn version(&self, held: &Holding<'_>) -> Option<Arc<Version>> {
        self.versions.iter().find(|v| held.suits(v)).cloned()
    }

    /// Takes what was made of an order. If nothing could be made, the loop keeps the versions it has.
    pub fn deliver(&mut self, made: Result<Version, Abort>, replaces: Option<&Arc<Version>>) -> Option<Arc<Version>> {
        let version = match made {
            // It was given up meanwhile.
            _ if self.aborted.is_some() => return None,
            Ok(version) => Arc::new(version),
            Err(why) if self.versions.is_empty() => {
                self.give_up(why);
                return None;
            }
            Err(why) => {
                self.refused = Some(why);
                return None;
            }
        };
        let place = replaces.and_then(|old| self.versions.iter().position(|v| Arc::ptr_eq(v, old)));
        match place {
            Some(at) => self.versions[at] = Arc::clone(&version),
            None if version.facts.is_special() => self.versions.insert(0, Arc::clone(&version)),
            None => self.versions.push(Arc::clone(&version)),
        }
        Some(version)
    }

    /// The loop is interpreted from now on.
    pub fn give_up(&mut self, why: Abort) {
        self.versions.clear();
        self.aborted = Some(why);
    }
}

/// What holds at a loop's head right now.
pub(super) struct Holding<'a> {
    pause: &'a Pause<'a>,
    masks: &'a [u64],
    full: u64,
}

impl<'a> Holding<'a> {
    /// `masks` are those that the pause has written.
    pub fn new(pause: &'a Pause<'a>, masks: &'a [u64]) -> Holding<'a> {
        Holding { pause, masks, full: pause.program().width.full_mask() }
    }

    /// May a version be entered? Notes if it is only its constants that other values are found in the place of.
    fn suits(&self, version: &Version) -> bool {
        let facts = &version.facts;
        if !self.masks_satisfy(facts) {
            return false;
        }
        let same = facts.constants.iter().all(|c| self.pause.uniform(c.place) == c.bits);
        if !same {
            version.other_constants.fetch_add(1, Ordering::Relaxed);
        }
        same
    }

    fn masks_satisfy(&self, facts: &EntryFacts) -> bool {
        let entries = self.masks[FRAME_WORDS..].chunks_exact(ENTRY_WORDS);
        facts.mask.holds(self.masks[0], self.full)
            && facts.entries.iter().zip(entries).all(|(f, e)| f.1.holds(e[0], self.full) && f.2.holds(e[1], self.full))
    }

    /// The facts to compile for: what holds, or nothing.
    pub fn observe(&self, nothing: bool) -> EntryFacts {
        let of = |mask| if nothing { MaskFact::Unknown } else { MaskFact::of(mask, self.full) };
        let entries = self.pause.entries().map(|(kind, restore, other)| (kind, of(restore), of(other))).collect();
        EntryFacts { mask: of(self.masks[0]), entries, constants: Vec::new() }
    }
}
