//! Where the exits of a version lead.

use crate::ir::{Exit, ExitReason, FrameState};
use crate::settings::Settings;
use spmdvm_vm::interp::native::{DirectCall, ENTRY_WORDS, FRAME_WORDS, IndirectCall, ResumeFrame, UnopenedMemory};
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers of calls so far.
static CALLS: AtomicU64 = AtomicU64::new(1);

/// Where an exit leads.
pub(super) struct Landing {
    pub frames: Box<[ResumeFrame]>,
    /// The call at which it stands, if its region makes that and it names its function.
    pub direct: Option<DirectCall>,
    /// The number of that call, which no other has; 0 if there is none.
    pub number: u64,
    /// As `direct`, if the function is known only when it is called.
    pub indirect: Option<IndirectCall>,
    /// Mask words that the exit writes; and where those of the last frame begin.
    pub words: usize,
    pub last_words: usize,
    pub taken: AtomicU64,
    /// How often it is taken until somebody is told, and again after so many times more; `u64::MAX` if that does not matter.
    pub told_at: AtomicU64,
    pub told_every: u64,
    /// Units of fuel that were counted in advance.
    pub fuel: i64,
    /// Whether it is how the loop ends, or is left for a moment only.
    pub expected: bool,
    /// Whether it stands for a way that was left out, as it was not expected to be taken.
    pub pruned: bool,
    /// Whether it leads to what was too much for the region.
    pub divides: bool,
    /// Whether it is where the region polls.
    pub polls: bool,
    /// Whether the entered frame is the only one, and stands at its return, which is executed at once.
    pub returns: bool,
    pub leads: Leads,
}

/// What comes after a region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Leads {
    /// The interpreter.
    #[default]
    Nowhere,
    /// Another region.
    On,
    /// Another region, behind the call or return at which the exit stands.
    Through,
    /// Another region, behind an instruction that the interpreter does once all native code has been left: it may wait, or let go of
    /// memory.
    Past,
    /// What follows a loop: another region, if that is worth it.
    Behind,
}

impl Landing {
    /// That of an exit of a region, which may be divided.
    pub fn new(exit: &Exit, is_divided: bool, settings: &Settings) -> Landing {
        let frames = exit.frames.iter().enumerate().map(|(i, f)| ResumeFrame {
            function: f.function,
            pc: f.pc,
            at: f.at,
            entries: f.entries.iter().map(|e| e.kind).collect(),
            unopened: f.unopened.as_ref().map(|zeroed| UnopenedMemory {
                zeroed: zeroed.as_slice().into(),
                pointers: exit.pointers_into(i as u32).collect(),
            }),
        });
        let frames: Box<[ResumeFrame]> = frames.collect();
        let pruned = matches!(exit.reason, ExitReason::NeverTaken | ExitReason::OtherPointer);
        let returns = exit.reason == ExitReason::Return && matches!(&exit.frames[..], [f] if f.unopened.is_none());
        let leads = match exit.reason {
            ExitReason::Return if returns => Leads::On,
            ExitReason::LinkedCall | ExitReason::Return => Leads::Through,
            ExitReason::Cut => Leads::On,
            ExitReason::Operation(_) => Leads::Past,
            ExitReason::LoopEnd => Leads::Behind,
            _ => Leads::Nowhere,
        };
        let expected = pruned || leads != Leads::Nowhere || exit.reason == ExitReason::Poll;
        let divides = is_divided && matches!(exit.reason, ExitReason::LinkedCall | ExitReason::Cut);
        let polls = exit.reason == ExitReason::Poll;
        let told_every = match (pruned, divides) {
            (true, _) => settings.hot_exit,
            (false, true) => settings.hot_links,
            (false, false) if polls => 1,
            (false, false) => u64::MAX,
        };
        let words = |f: &FrameState| FRAME_WORDS + f.entries.len() * ENTRY_WORDS;
        let all: usize = exit.frames.iter().map(words).sum();
        let (taken, told_at) = (AtomicU64::new(0), AtomicU64::new(told_every));
        Landing {
            frames,
            direct: None,
            number: 0,
            indirect: None,
            words: all,
            last_words: all - exit.frames.last().map_or(0, words),
            taken,
            told_at,
            told_every,
            fuel: exit.fuel.into(),
            expected,
            pruned,
            divides,
            polls,
            returns,
            leads,
        }
    }

    /// It stands at a call of a function that is known.
    pub fn calls(&mut self, call: Option<DirectCall>) {
        // One after another, so that those of a version are kept in places of their own.
        self.number = call.as_ref().map_or(0, |_| CALLS.fetch_add(1, Ordering::Relaxed));
        self.direct = call;
    }

    /// It has been taken so often. Returns whether somebody is to be told, as is done every so many times.
    pub fn is_told(&self, taken: u64) -> bool {
        let is_told = taken >= self.told_at.load(Ordering::Relaxed);
        if is_told {
            self.told_at.store((taken / self.told_every + 1).saturating_mul(self.told_every), Ordering::Relaxed);
        }
        is_told
    }
}
