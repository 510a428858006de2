//! Sets of threads: Θ in the rules.

use std::fmt;

/// A set of threads, numbered from 0; at most [`Threads::MAX`] of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Threads(u64);

impl Threads {
    /// Most threads of a warp.
    pub const MAX: usize = 64;
    /// No thread.
    pub const NONE: Threads = Threads(0);

    /// Θall: the threads of a warp of this width.
    pub fn all(width: usize) -> Threads {
        assert!((1..=Threads::MAX).contains(&width), "a warp has 1 to 64 threads");
        Threads(u64::MAX >> (Threads::MAX - width))
    }

    /// These threads.
    pub fn of(threads: impl IntoIterator<Item = usize>) -> Threads {
        Threads(threads.into_iter().fold(0, |set, t| set | 1 << t))
    }

    /// Returns whether this number is one of its threads.
    pub fn contains(self, t: i64) -> bool {
        (0..Threads::MAX as i64).contains(&t) && self.0 >> t & 1 == 1
    }

    /// The threads of either.
    #[must_use]
    pub fn union(self, other: Threads) -> Threads {
        Threads(self.0 | other.0)
    }

    /// The threads of this set that are not in the other.
    #[must_use]
    pub fn without(self, other: Threads) -> Threads {
        Threads(self.0 & !other.0)
    }

    /// Returns whether it is ∅.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Its threads, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..Threads::MAX).filter(move |&t| self.contains(t as i64))
    }
}

impl fmt::Display for Threads {
    /// `{0, 3}`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
