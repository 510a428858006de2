//! Where regions begin: heads of loops and functions, which the interpreter counts, and places to which regions lead.

use super::hot_loop::Loop;
use crate::profile::ProgramPoint;
use crate::sync::RwLock;
use spmdvm_vm::PreparedProgram;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

/// A place at which regions may begin, and what has become of it.
pub(super) struct Head {
    pub at: ProgramPoint,
    /// Its hot count, if the interpreter counts how often it comes there.
    pub hot_count: Option<usize>,
    /// How often regions may lead there until it is asked what to do.
    countdown: AtomicU32,
    pub state: RwLock<Loop>,
}

/// All heads of a program.
#[derive(Default)]
pub(super) struct Heads {
    /// Those that the interpreter counts.
    counted: OnceLock<Box<[Arc<Head>]>>,
    /// All of them.
    all: RwLock<HashMap<ProgramPoint, Arc<Head>>>,
}

impl Head {
    fn new(at: ProgramPoint, hot_count: Option<usize>, countdown: u32) -> Arc<Head> {
        Arc::new(Head { at, hot_count, countdown: AtomicU32::new(countdown), state: RwLock::default() })
    }

    /// A region has led here. Returns whether it is to be asked what to do.
    pub fn is_due(&self) -> bool {
        let left = self.countdown.load(Ordering::Relaxed);
        self.countdown.store(left.saturating_sub(1), Ordering::Relaxed);
        left == 0
    }

    /// It is asked again after so many rounds, or as many more ways that lead here.
    pub fn wait(&self, rounds: u32) {
        self.countdown.store(rounds, Ordering::Relaxed);
    }
}

impl Heads {
    /// The heads that the interpreter counts, by hot count. Regions may lead there so often until they are asked about.
    pub fn counted(&self, prepared: impl FnOnce() -> PreparedProgram, hot: u32) -> &[Arc<Head>] {
        if let Some(heads) = self.counted.get() {
            return heads;
        }
        let prepared = prepared();
        // Taken first, and not while the cell is filled: the model checker cannot see who waits for that.
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        let heads = self.counted.get_or_init(|| {
            prepared.heads().enumerate().map(|(hot_count, at)| Head::new(at, Some(hot_count), hot)).collect()
        });
        all.extend(heads.iter().map(|head| (head.at, Arc::clone(head))));
        heads
    }

    /// The head at a place, if there is one; unless another thread is adding one.
    pub fn find(&self, at: ProgramPoint) -> Option<Arc<Head>> {
        super::unless_taken(self.all.try_read())?.get(&at).cloned()
    }

    /// The head at a place, which is made one if it is none. Regions may lead there so often until it is asked about.
    pub fn find_or_add(&self, at: ProgramPoint, hot: u32) -> Option<Arc<Head>> {
        self.find(at).or_else(|| {
            let mut all = super::unless_taken(self.all.try_write())?;
            Some(Arc::clone(all.entry(at).or_insert_with(|| Head::new(at, None, hot))))
        })
    }

    /// Every head, those that the interpreter counts first.
    pub fn each(&self) -> Vec<Arc<Head>> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let mut heads: Vec<_> = all.values().cloned().collect();
        heads.sort_by_key(|head| (head.hot_count.is_none(), head.hot_count, head.at));
        heads
    }
}
