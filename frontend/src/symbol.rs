//! Interned names.
//!
//! A [`Symbol`] is a small number that stands for an identifier's spelling. The table is one per process, because the
//! prelude's syntax tree is parsed once and then shared by all threads together with the trees of user programs.
//! Interned spellings are never freed; only identifiers are interned (literals are not), so the table stays small.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError, RwLock};

/// An interned name. Equal symbols have equal spellings; the order is that of interning, not of the alphabet.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

const SHARD_BITS: u32 = 4;
const SHARDS: usize = 1 << SHARD_BITS;

/// One part of the table, chosen by the spelling's hash, so that threads seldom wait for one another.
#[derive(Default)]
struct Shard {
    /// From spelling to index, written under the lock.
    indices: Mutex<HashMap<&'static str, u32, BuildHasherDefault<NameHasher>>>,
    /// From index to spelling.
    spellings: RwLock<Vec<&'static str>>,
}

fn shards() -> &'static [Shard; SHARDS] {
    static TABLE: OnceLock<[Shard; SHARDS]> = OnceLock::new();
    TABLE.get_or_init(Default::default)
}

impl Symbol {
    /// The symbol of `name`.
    pub fn intern(name: &str) -> Symbol {
        let shard_index = (hash_name(name) >> 60) as u32;
        let shard = &shards()[shard_index as usize];
        let mut indices = shard.indices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&index) = indices.get(name) {
            return Symbol(index << SHARD_BITS | shard_index);
        }
        let spelling: &'static str = Box::leak(name.into());
        let mut spellings = shard.spellings.write().unwrap_or_else(PoisonError::into_inner);
        let index = spellings.len() as u32;
        spellings.push(spelling);
        indices.insert(spelling, index);
        Symbol(index << SHARD_BITS | shard_index)
    }

    /// The number that stands for the name in a token.
    pub(crate) fn index(self) -> u32 {
        self.0
    }

    /// The symbol with this number, which [`Symbol::index`] returned.
    pub(crate) fn from_index(index: u32) -> Symbol {
        Symbol(index)
    }

    /// The spelling.
    pub fn as_str(self) -> &'static str {
        let shard = &shards()[self.0 as usize & (SHARDS - 1)];
        shard.spellings.read().unwrap_or_else(PoisonError::into_inner)[(self.0 >> SHARD_BITS) as usize]
    }
}

impl fmt::Debug for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.as_str())
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<&str> for Symbol {
    fn from(name: &str) -> Symbol {
        Symbol::intern(name)
    }
}

/// A fast hash for short names and symbols; not for keys an adversary may choose to collide in unbounded number, which
/// identifiers of one program are not (their number is bounded by the source limits).
#[derive(Default, Clone, Copy)]
pub struct NameHasher(u64);

const MULTIPLIER: u64 = 0x9E37_79B9_7F4A_7C15;

impl NameHasher {
    #[inline]
    fn mix(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * u128::from(MULTIPLIER);
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ MULTIPLIER;
    }
}

impl Hasher for NameHasher {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            self.mix(u64::from_le_bytes(chunk.try_into().unwrap_or_default()));
        }
        let mut last = [0; 8];
        let rest = chunks.remainder();
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56);
    }

    #[inline]
    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    #[inline]
    fn write_u32(&mut self, word: u32) {
        self.mix(u64::from(word));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// The hash of a name, as [`NameHasher`] computes it.
#[inline]
pub(crate) fn hash_name(name: &str) -> u64 {
    let mut hasher = NameHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
}

/// A map from symbols, with the fast hash.
pub type SymbolMap<T> = HashMap<Symbol, T, BuildHasherDefault<NameHasher>>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_one_symbol() {
        let names: Vec<String> = (0..2000).map(|i| format!("name{i}")).collect();
        let symbols: Vec<Symbol> = names.iter().map(|name| Symbol::intern(name)).collect();
        for (name, symbol) in names.iter().zip(&symbols) {
            assert_eq!(symbol.as_str(), name);
            assert_eq!(Symbol::intern(name), *symbol);
        }
    }

    #[test]
    fn threads_agree() {
        let run = || (0..500).map(|i| Symbol::intern(&format!("shared{i}"))).collect::<Vec<_>>();
        let others: Vec<_> = (0..4).map(|_| std::thread::spawn(run)).collect();
        let mine = run();
        for other in others {
            assert_eq!(other.join().unwrap(), mine);
        }
    }
}
