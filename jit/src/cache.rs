//! The bound on the machine code of a program.
//!
//! Code is freed with the version of a loop that it belongs to, so a program that gives up loops gets their room back.

use crate::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

/// Bytes of machine code that a program has and may have.
#[derive(Debug)]
pub struct CodeCache {
    used: Arc<AtomicUsize>,
    limit: usize,
}

/// Room in a cache that some code takes, as long as this lives.
#[derive(Debug)]
pub struct Room {
    used: Arc<AtomicUsize>,
    bytes: usize,
}

impl Room {
    /// How much.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl CodeCache {
    /// A cache with room for so many bytes.
    pub fn new(limit: usize) -> CodeCache {
        CodeCache { used: Arc::default(), limit }
    }

    /// Bytes in use.
    pub fn used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes that may be in use.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns whether there is no room left for any code.
    pub fn is_full(&self) -> bool {
        self.used() >= self.limit
    }

    /// Takes room; `None` if there is not so much.
    pub fn take(&self, bytes: usize) -> Option<Room> {
        let more = |used: usize| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        let taken = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.is_ok().then(|| Room { used: Arc::clone(&self.used), bytes })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    #[test]
    fn room_is_given_back() {
        let cache = CodeCache::new(100);
        let first = cache.take(60);
        assert!(first.is_some() && cache.take(41).is_none());
        let second = cache.take(40);
        assert!(second.is_some() && cache.is_full());
        drop(first);
        assert_eq!(cache.used(), 40);
    }
}
