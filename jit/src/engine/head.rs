//! Where regions begin: heads of loops and functions, which the interpreter counts, and places to which regions lead.
//!
//! Regions lead to heads some million times a second, so the way there takes no lock and counts no references: a head is found in a table
//! by its place, and what may be entered there is a list of its own, which whoever changes the loop writes anew.

use super::hot_loop::Loop;
use super::version::Version;
use crate::profile::ProgramPoint;
use crate::record::leads_on;
use crate::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use arc_swap::{ArcSwap, Cache, Guard};
use spmdvm_vm::PreparedProgram;
use spmdvm_vm::program::Program;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, PoisonError};

/// Versions of a loop that may be entered, those with more facts first.
pub(super) type Enterable = Vec<Arc<Version>>;

/// A place at which regions may begin, and what has become of it.
pub(super) struct Head {
    pub at: ProgramPoint,
    /// Its hot count, if the interpreter counts how often it comes there.
    pub hot_count: Option<usize>,
    /// Whether a call or return stands there, which is executed before native code goes on.
    pub is_way: bool,
    /// How often regions may lead there until it is asked what to do.
    countdown: AtomicU32,
    state: RwLock<Loop>,
    /// What `state` says of it.
    enterable: ArcSwap<Enterable>,
}

/// How many heads are at hand.
const AT_HAND: usize = 64;

/// What may be entered at the heads that a thread has come to just now: to look whether that has changed takes less than to take hold
/// of it again.
pub(super) struct AtHand(Box<[Option<Kept>]>);

type Kept = Cache<Enterables, Arc<Enterable>>;

/// What may be entered at a head, and changes.
struct Enterables(Arc<Head>);

impl Deref for Enterables {
    type Target = ArcSwap<Enterable>;

    fn deref(&self) -> &ArcSwap<Enterable> {
        &self.0.enterable
    }
}

/// All heads of a program.
#[derive(Default)]
pub(super) struct Heads(OnceLock<Table>);

/// Heads by their place.
struct Table {
    /// Those that the interpreter counts.
    counted: Box<[Arc<Head>]>,
    /// By function, and by instruction; for functions that have heads.
    functions: Box<[OnceLock<Places>]>,
}

type Places = Box<[OnceLock<Arc<Head>>]>;

impl Head {
    fn new(at: ProgramPoint, hot_count: Option<usize>, program: &Program, countdown: u32) -> Arc<Head> {
        let inst = program.functions[at.0.0 as usize].code.get(at.1 as usize);
        let is_way = inst.is_some_and(|inst| leads_on(inst.op));
        let (countdown, state) = (AtomicU32::new(countdown), RwLock::default());
        Arc::new(Head { at, hot_count, is_way, countdown, state, enterable: ArcSwap::default() })
    }

    /// A region has led here. Returns whether it is to be asked what to do.
    pub fn is_due(&self) -> bool {
        let left = self.countdown.load(Ordering::Relaxed);
        if left != 0 {
            self.countdown.store(left - 1, Ordering::Relaxed);
        }
        left == 0
    }

    /// It is asked again after so many rounds, or as many more ways that lead here.
    pub fn wait(&self, rounds: u32) {
        if rounds != 0 || self.countdown.load(Ordering::Relaxed) != 0 {
            self.countdown.store(rounds, Ordering::Relaxed);
        }
    }

    /// The versions that may be entered; they stay while the guard does.
    pub fn enterable(&self) -> Guard<Arc<Enterable>> {
        self.enterable.load()
    }

    /// Where it stands among those at hand.
    fn slot(&self) -> usize {
        let (function, pc) = (self.at.0.0, self.at.1);
        (function.wrapping_mul(29) ^ pc) as usize % AT_HAND
    }

    /// What is known of it.
    pub fn read(&self) -> RwLockReadGuard<'_, Loop> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of it, to be changed.
    pub fn write(&self) -> Changing<'_> {
        Changing { head: self, state: self.state.write().unwrap_or_else(PoisonError::into_inner) }
    }

    /// The same, unless another thread is at it.
    pub fn try_write(&self) -> Option<Changing<'_>> {
        Some(Changing { head: self, state: super::unless_taken(self.state.try_write())? })
    }
}

/// What is known of a head while it changes; afterwards the head has the versions that may be entered then.
pub(super) struct Changing<'a> {
    head: &'a Head,
    state: RwLockWriteGuard<'a, Loop>,
}

impl Deref for Changing<'_> {
    type Target = Loop;

    fn deref(&self) -> &Loop {
        &self.state
    }
}

impl DerefMut for Changing<'_> {
    fn deref_mut(&mut self) -> &mut Loop {
        &mut self.state
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let now = self.state.enterable();
        let before = self.head.enterable.load();
        let is_same = before.len() == now.len() && before.iter().zip(now).all(|(a, b)| Arc::ptr_eq(a, b));
        drop(before);
        if !is_same {
            self.head.enterable.store(Arc::new(now.to_vec()));
        }
    }
}

impl AtHand {
    /// None so far.
    pub fn new() -> AtHand {
        AtHand((0..AT_HAND).map(|_| None).collect())
    }

    /// The versions that may be entered at a head.
    #[inline]
    pub fn enterable(&mut self, head: &Arc<Head>) -> &Arc<Enterable> {
        let slot = &mut self.0[head.slot()];
        if !slot.as_ref().is_some_and(|kept| std::ptr::eq(kept.arc_swap(), &head.enterable)) {
            *slot = None;
        }
        slot.get_or_insert_with(|| Cache::new(Enterables(Arc::clone(head)))).load()
    }
}

impl Heads {
    /// The heads that the interpreter counts, by hot count. Regions may lead there so often until they are asked about.
    pub fn counted(&self, prepared: impl FnOnce() -> PreparedProgram, hot: u32) -> &[Arc<Head>] {
        let table = self.0.get_or_init(|| {
            let prepared = prepared();
            let program = prepared.program();
            let counted = prepared.heads().enumerate();
            let counted = counted.map(|(hot_count, at)| Head::new(at, Some(hot_count), program, hot)).collect();
            let table = Table { counted, functions: program.functions.iter().map(|_| OnceLock::new()).collect() };
            for head in &table.counted {
                table.find_or_add(head.at, program, || Arc::clone(head));
            }
            table
        });
        &table.counted
    }

    /// The head at a place, if it is one.
    #[inline]
    pub fn find(&self, (function, pc): ProgramPoint) -> Option<&Arc<Head>> {
        self.0.get()?.functions.get(function.0 as usize)?.get()?.get(pc as usize)?.get()
    }

    /// The head at a place of a program, which is made one if it is none. Regions may lead there so often until it is asked about.
    pub fn find_or_add(&self, at: ProgramPoint, program: &Program, hot: u32) -> Option<&Arc<Head>> {
        self.0.get()?.find_or_add(at, program, || Head::new(at, None, program, hot))
    }

    /// Every head, those that the interpreter counts first.
    pub fn each(&self) -> Vec<Arc<Head>> {
        let table = self.0.get();
        let places = table.iter().flat_map(|table| &table.functions).filter_map(|function| function.get());
        let mut heads: Vec<_> = places.flatten().filter_map(|place| place.get()).cloned().collect();
        heads.sort_by_key(|head| (head.hot_count.is_none(), head.hot_count, head.at));
        heads
    }
}

impl Table {
    fn find_or_add(
        &self,
        (function, pc): ProgramPoint,
        program: &Program,
        new: impl FnOnce() -> Arc<Head>,
    ) -> Option<&Arc<Head>> {
        let function = function.0 as usize;
        let places = self
            .functions
            .get(function)?
            .get_or_init(|| program.functions[function].code.iter().map(|_| OnceLock::new()).collect());
        Some(places.get(pc as usize)?.get_or_init(new))
    }
}
