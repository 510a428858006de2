//! Deferred reclamation: what was freed while several threads run on a memory waits until none of them can be in the
//! middle of an access to it.
//!
//! A thread holds addresses of the host only within one instruction: it looks a region up, checks, accesses. So between
//! two instructions it is *quiescent*, and says so now and then ([`Reader`]). What left the region table at stamp *s* can
//! be reached only by threads that have not been quiescent since, and is given back when every thread has (this is
//! quiescent-state-based reclamation; McKenney and Slingwine, "Read-copy update", 1998).

use crate::sync::Mutex;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use crate::sync::atomic::{AtomicU64, fence};
use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

/// The slot of a thread that does not access memory.
const AWAY: u64 = u64::MAX;

/// A thread that accesses memory, as reclamation sees it: the stamp at which it was last quiescent.
pub(crate) struct Reader(Arc<AtomicU64>);

/// What waits, of type `T`.
pub(super) struct Limbo<T> {
    stamp: AtomicU64,
    readers: Mutex<Vec<Arc<AtomicU64>>>,
    waiting: Mutex<VecDeque<Waiting<T>>>,
    /// Bytes that wait, so that nobody has to take the lock to see whether there are any.
    bytes: AtomicU64,
}

struct Waiting<T> {
    stamp: u64,
    bytes: u64,
    what: T,
}

impl<T> Limbo<T> {
    pub fn new() -> Limbo<T> {
        Limbo {
            stamp: AtomicU64::new(0),
            readers: Mutex::default(),
            waiting: Mutex::new(VecDeque::new()),
            bytes: AtomicU64::new(0),
        }
    }

    /// A reader that is away.
    pub fn reader(&self) -> Reader {
        let slot = Arc::new(AtomicU64::new(AWAY));
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        // Slots whose threads are gone are held by nobody else.
        readers.retain(|other| Arc::strong_count(other) > 1);
        readers.push(Arc::clone(&slot));
        Reader(slot)
    }

    /// The reader begins to access memory.
    pub fn enter(&self, reader: &Reader) {
        reader.0.store(self.stamp.load(Acquire), Release);
        // Either whoever reclaims sees the slot, or this thread sees that the region is gone.
        fence(SeqCst);
    }

    /// The reader holds no address at this moment.
    pub fn quiesce(&self, reader: &Reader) {
        reader.0.store(self.stamp.load(Acquire), Release);
    }

    /// The reader does not access memory until it enters again.
    pub fn leave(&self, reader: &Reader) {
        reader.0.store(AWAY, Release);
    }

    /// Takes something that can no longer be found, but may still be in use.
    pub fn put(&self, what: T, bytes: u64) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let stamp = self.stamp.fetch_add(1, SeqCst) + 1;
        waiting.push_back(Waiting { stamp, bytes, what });
        self.bytes.fetch_add(bytes, Relaxed);
    }

    /// Bytes that wait.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Gives what nobody can be using any more.
    pub fn collect(&self) -> Vec<T> {
        let mut free = Vec::new();
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.is_empty() {
            return free;
        }
        let oldest = self.oldest();
        while waiting.front().is_some_and(|one| one.stamp <= oldest) {
            let one = waiting.pop_front();
            self.bytes.fetch_sub(one.as_ref().map_or(0, |one| one.bytes), Relaxed);
            free.extend(one.map(|one| one.what));
        }
        free
    }

    /// The stamp since which every reader has been quiescent.
    fn oldest(&self) -> u64 {
        let readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        // The counterpart of the fence in `enter`.
        fence(SeqCst);
        readers.iter().map(|slot| slot.load(Acquire)).min().unwrap_or(AWAY)
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    #[test]
    fn waits_for_every_reader() {
        let limbo = Limbo::new();
        let (a, b) = (limbo.reader(), limbo.reader());
        limbo.enter(&a);
        limbo.enter(&b);
        limbo.put("x", 8);
        limbo.quiesce(&a);
        assert!(limbo.collect().is_empty());
        assert_eq!(limbo.bytes(), 8);
        limbo.leave(&b);
        assert_eq!(limbo.collect(), ["x"]);
        assert_eq!(limbo.bytes(), 0);
    }

    #[test]
    fn who_enters_later_is_not_waited_for() {
        let limbo = Limbo::new();
        let (a, b) = (limbo.reader(), limbo.reader());
        limbo.enter(&a);
        limbo.put("x", 1);
        limbo.enter(&b);
        limbo.quiesce(&a);
        limbo.put("y", 1);
        assert_eq!(limbo.collect(), ["x"]);
        drop((a, b));
        let _c = limbo.reader();
        assert_eq!(limbo.collect(), ["y"]);
    }
}
