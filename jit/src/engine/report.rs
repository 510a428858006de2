//! What a JIT tells of its loops.

use super::version::Version;
use super::{Begins, Jit, Measured};
use crate::abort::Abort;
use crate::ir::{Counter, ExitId, Region};
use spmdvm_vm::program::FuncId;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// What a JIT did with a loop.
#[derive(Clone, Debug)]
pub struct LoopReport {
    /// The function, and the instruction at the loop's head.
    pub at: (FuncId, u32),
    /// What begins there, for it need not be a loop.
    pub begins: Begins,
    /// Its compiled versions.
    pub versions: Vec<VersionReport>,
    /// Why it is not compiled, if it is not.
    pub aborted: Option<Abort>,
    /// The instruction that is the reason, if it is one.
    pub aborted_at: Option<(FuncId, u32)>,
    /// Why no more versions of it are made, if that is so.
    pub refused: Option<Abort>,
    /// Whether a version is being compiled.
    pub pending: bool,
    /// How often a version was recompiled, with what had been learnt from it.
    pub recompiles: u32,
    /// How often somebody has looked whether its versions still suit what the program does.
    pub looks: u32,
    /// How long that took, about.
    pub look_time: Duration,
    /// What its variants have been found to cost.
    pub measured: Vec<Measured>,
}

/// A compiled version of a loop.
#[derive(Clone, Debug)]
pub struct VersionReport {
    /// The optimised region.
    pub region: Arc<Region>,
    /// Time of recording and compiling: until it could be entered, and of compiling it well after that.
    pub time: Duration,
    /// Time until it could be entered: of recording and optimising, and of compiling the first code.
    pub first_time: Duration,
    /// Time of recording and optimising alone.
    pub before: Duration,
    /// Whether its code is baseline code, which better code is to take the place of.
    pub is_baseline: bool,
    /// Time spent in its code, about: measured in the first entries, then in one of 64.
    pub run_time: Duration,
    /// The region as recorded, before the passes, if [`Settings::keep_recorded`](crate::Settings::keep_recorded).
    pub recorded: Option<String>,
    /// Bytes of machine code, of baseline code and of what took its place.
    pub code_bytes: usize,
    /// How often it was entered.
    pub entries: u64,
    /// Units of fuel counted in its code: about the rounds.
    pub rounds: u64,
    /// How often it was left by each exit.
    pub exits: Vec<(ExitId, u64)>,
    /// What its variants did.
    pub counters: Vec<CounterReport>,
    /// The registers that are constants in it: how many.
    pub constants: usize,
    version: Handle,
}

/// The version that a report is about.
#[derive(Clone)]
struct Handle(Arc<Version>);

impl fmt::Debug for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl VersionReport {
    /// The machine code as text, if it can be shown. Takes as long as compiling, the first time.
    pub fn listing(&self) -> Option<String> {
        self.version.0.code.best().listing()
    }
}

/// How often something happened in a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterReport {
    /// What.
    pub counter: Counter,
    /// How often.
    pub times: u64,
}

impl Jit {
    /// Bytes of machine code that the program has now.
    pub fn code_bytes(&self) -> usize {
        self.cache.used()
    }

    /// What was done with every loop that was hot.
    pub fn report(&self) -> Vec<LoopReport> {
        let heads = self.heads.each();
        let read = heads.iter().map(|head| head.read());
        read.filter_map(|l| {
            let versions = l.versions.iter().map(|v| v.report()).collect();
            Some(LoopReport {
                at: l.at?,
                begins: l.begins,
                versions,
                aborted: l.aborted.clone(),
                aborted_at: l.aborted_at,
                refused: l.refused.clone(),
                pending: l.is_pending(),
                recompiles: l.recompiles,
                looks: l.looks_again,
                look_time: l.look_time,
                measured: l.measured.clone(),
            })
        })
        .collect()
    }
}

impl Version {
    fn report(self: &Arc<Version>) -> VersionReport {
        let exits = self.exits.iter().enumerate();
        let code = self.code.told();
        VersionReport {
            region: Arc::clone(&self.region),
            time: code.time,
            first_time: code.first_time,
            before: self.before,
            is_baseline: code.is_baseline,
            run_time: self.clock.time(),
            recorded: self.recorded.clone(),
            code_bytes: code.bytes,
            entries: self.entries.load(Ordering::Relaxed),
            rounds: self.rounds(),
            exits: exits.map(|(i, l)| (ExitId(i as u32), l.taken.load(Ordering::Relaxed))).collect(),
            counters: self.counted(),
            constants: self.facts.constants.len(),
            version: Handle(Arc::clone(self)),
        }
    }
}
