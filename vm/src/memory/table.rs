//! The table of regions: numbers handed out once each, looked up without locks.
//!
//! A region number is not used again before all 2²⁴ have been used once, so a pointer to memory that is gone traps. The
//! table is cut into chunks that exist only while one of their regions does: a program that makes a million calls with
//! frame memory does not fill a million entries.
//!
//! # Concurrency
//!
//! Entries and the chunk directory are atomics. An entry is published by its lengths, stored last with `Release`; a reader
//! loads the length first with `Acquire`, so it never sees a length with an older base. What is *not* allowed yet is to
//! remove regions on one thread while another accesses memory: then a chunk could be recycled under the reader.

use super::RegionName;
use crate::trap::RegionKind;
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::ptr::null_mut;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

const CHUNK_BITS: u32 = 11;
const CHUNK_LEN: u32 = 1 << CHUNK_BITS;
const N_REGIONS: u32 = 1 << (64 - crate::sem::OFFSET_BITS);

/// A region to be entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    /// Host address of byte 0.
    pub base: *mut u8,
    /// Length in bytes.
    pub len: u64,
    /// May programs write to it?
    pub writable: bool,
    /// What it is.
    pub kind: RegionKind,
    /// Its name.
    pub name: RegionName,
}

/// A slot of the table; all zero if there is no such region.
#[derive(Default)]
pub(crate) struct Entry {
    base: AtomicPtr<u8>,
    read_len: AtomicU64,
    write_len: AtomicU64,
    /// 0: not live; else the kind plus one.
    kind: AtomicU32,
    name: AtomicU32,
}

/// What numbers without a chunk look like.
static DEAD: Entry = Entry {
    base: AtomicPtr::new(null_mut()),
    read_len: AtomicU64::new(0),
    write_len: AtomicU64::new(0),
    kind: AtomicU32::new(0),
    name: AtomicU32::new(0),
};

impl Entry {
    /// Address and length of what may be read.
    #[inline(always)]
    pub fn readable(&self) -> (*mut u8, u64) {
        let len = self.read_len.load(Acquire);
        (self.base.load(Relaxed), len)
    }

    /// Address and length of what may be written.
    #[inline(always)]
    pub fn writable(&self) -> (*mut u8, u64) {
        let len = self.write_len.load(Acquire);
        (self.base.load(Relaxed), len)
    }

    /// What it is, if it is live.
    pub fn kind(&self) -> Option<RegionKind> {
        match self.kind.load(Relaxed) {
            1 => Some(RegionKind::Host),
            2 => Some(RegionKind::Global),
            3 => Some(RegionKind::Frame),
            4 => Some(RegionKind::Heap),
            _ => None,
        }
    }

    /// The region, if it is live.
    pub fn describe(&self) -> Option<Region> {
        let kind = self.kind()?;
        let (base, len) = self.readable();
        let writable = self.write_len.load(Relaxed) != 0;
        Some(Region { base, len, writable, kind, name: RegionName(self.name.load(Relaxed)) })
    }

    fn set(&self, region: Region) {
        let kind = match region.kind {
            RegionKind::Host => 1,
            RegionKind::Global => 2,
            RegionKind::Frame => 3,
            RegionKind::Heap => 4,
        };
        self.kind.store(kind, Relaxed);
        self.name.store(region.name.0, Relaxed);
        self.base.store(region.base, Relaxed);
        self.write_len.store(if region.writable { region.len } else { 0 }, Release);
        self.read_len.store(region.len, Release);
    }

    fn clear(&self) {
        self.read_len.store(0, Relaxed);
        self.write_len.store(0, Relaxed);
        self.kind.store(0, Release);
    }
}

struct Chunk {
    live: AtomicU32,
    entries: [Entry; CHUNK_LEN as usize],
}

impl Chunk {
    fn new() -> Box<Chunk> {
        let layout = Layout::new::<Chunk>();
        // SAFETY: the layout has a size. All fields are atomics of integers and pointers, for which all bytes zero is a
        // valid value, and a box frees what the global allocator gave with this very layout.
        unsafe {
            let chunk = alloc_zeroed(layout).cast::<Chunk>();
            if chunk.is_null() {
                handle_alloc_error(layout);
            }
            Box::from_raw(chunk)
        }
    }
}

/// The table.
pub(super) struct RegionTable {
    chunks: Box<[AtomicPtr<Chunk>]>,
    /// The next number to hand out; beyond the last one, numbers are searched from `search`.
    next: AtomicU32,
    search: Mutex<u32>,
    /// Chunks to use again.
    spare: Mutex<Vec<Box<Chunk>>>,
}

impl RegionTable {
    pub fn new() -> RegionTable {
        let n = (N_REGIONS / CHUNK_LEN) as usize;
        let chunks = (0..n).map(|_| AtomicPtr::default()).collect();
        RegionTable { chunks, next: AtomicU32::new(1), search: Mutex::new(1), spare: Mutex::new(Vec::new()) }
    }

    /// The entry of a region number below 2²⁴; the entry of a region that is not live has length 0.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &Entry {
        match self.chunk((number >> CHUNK_BITS) as usize) {
            Some(chunk) => &chunk.entries[(number & (CHUNK_LEN - 1)) as usize],
            None => &DEAD,
        }
    }

    #[inline(always)]
    fn chunk(&self, index: usize) -> Option<&Chunk> {
        // SAFETY: a pointer in the directory is null or came from `Box::into_raw`; a chunk leaves the directory only in
        // `remove`, which may not run while others use the table (see the module's note), and is never freed before drop.
        unsafe { self.chunks[index].load(Acquire).as_ref() }
    }

    /// Enters a region and gives its number; `None` if there are 2²⁴ live regions.
    pub fn insert(&self, region: Region) -> Option<u32> {
        let number = self.take_number()?;
        let chunk = self.ensure_chunk((number >> CHUNK_BITS) as usize);
        chunk.live.fetch_add(1, Relaxed);
        chunk.entries[(number & (CHUNK_LEN - 1)) as usize].set(region);
        Some(number)
    }

    fn take_number(&self) -> Option<u32> {
        let advance = |n| if n < N_REGIONS { Some(n + 1) } else { None };
        self.next.fetch_update(Relaxed, Relaxed, advance).ok().or_else(|| self.search_number())
    }

    /// Once all numbers were used: the next one that is not live.
    #[cold]
    fn search_number(&self) -> Option<u32> {
        let mut at = self.search.lock().unwrap_or_else(|e| e.into_inner());
        for _ in 1..N_REGIONS {
            let number = *at;
            *at = if number + 1 == N_REGIONS { 1 } else { number + 1 };
            if self.get(number).kind.load(Acquire) == 0 {
                return Some(number);
            }
        }
        None
    }

    fn ensure_chunk(&self, index: usize) -> &Chunk {
        if let Some(chunk) = self.chunk(index) {
            return chunk;
        }
        let spare = self.spare.lock().unwrap_or_else(|e| e.into_inner()).pop();
        let fresh = Box::into_raw(spare.unwrap_or_else(Chunk::new));
        let slot = &self.chunks[index];
        let winner = match slot.compare_exchange(null_mut(), fresh, Release, Acquire) {
            Ok(_) => fresh,
            Err(other) => {
                // SAFETY: `fresh` came from `Box::into_raw` above and was not published.
                drop(unsafe { Box::from_raw(fresh) });
                other
            }
        };
        // SAFETY: non-null, and published chunks stay valid (see `chunk`).
        unsafe { &*winner }
    }

    /// Removes a live region.
    pub fn remove(&self, number: u32) {
        let index = (number >> CHUNK_BITS) as usize;
        let Some(chunk) = self.chunk(index) else { return };
        chunk.entries[(number & (CHUNK_LEN - 1)) as usize].clear();
        let last = chunk.live.fetch_sub(1, Relaxed) == 1;
        if last && self.cursor() >> CHUNK_BITS != index as u32 {
            self.retire(index);
        }
    }

    fn cursor(&self) -> u32 {
        match self.next.load(Relaxed) {
            N_REGIONS => *self.search.lock().unwrap_or_else(|e| e.into_inner()),
            next => next,
        }
    }

    /// Takes an empty chunk out of the directory.
    #[cold]
    fn retire(&self, index: usize) {
        let chunk = self.chunks[index].swap(null_mut(), Acquire);
        if !chunk.is_null() {
            // SAFETY: it came from `Box::into_raw`, and the swap took the only pointer to it.
            let chunk = unsafe { Box::from_raw(chunk) };
            self.spare.lock().unwrap_or_else(|e| e.into_inner()).push(chunk);
        }
    }

    /// All live regions.
    pub fn live(&self) -> impl Iterator<Item = Region> {
        let chunks = (0..self.chunks.len()).filter_map(|i| self.chunk(i));
        chunks.flat_map(|c| c.entries.iter()).filter_map(Entry::describe)
    }
}

impl Drop for RegionTable {
    fn drop(&mut self) {
        for slot in &mut self.chunks {
            let chunk = *slot.get_mut();
            if !chunk.is_null() {
                // SAFETY: it came from `Box::into_raw` and is owned by the directory.
                drop(unsafe { Box::from_raw(chunk) });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(len: u64) -> Region {
        let base = std::ptr::dangling_mut();
        Region { base, len, writable: true, kind: RegionKind::Heap, name: RegionName::NONE }
    }

    #[test]
    fn numbers_are_not_used_again_and_chunks_are() {
        let table = RegionTable::new();
        let first = table.insert(region(1)).unwrap();
        assert_eq!(first, 1);
        for i in 2..10_000 {
            let number = table.insert(region(i as u64)).unwrap();
            assert_eq!(number, i);
            assert_eq!(table.get(number).readable().1, i as u64);
            table.remove(number);
            assert_eq!(table.get(number).readable().1, 0);
        }
        assert_eq!(table.get(first).readable().1, 1);
        let chunks = table.live().count();
        assert_eq!(chunks, 1);
        let held = table.chunks.iter().filter(|c| !c.load(Relaxed).is_null()).count();
        assert!(held <= 2, "{held} chunks held");
    }

    #[test]
    fn numbers_come_again_after_all_were_used() {
        let table = RegionTable::new();
        let kept = table.insert(region(7)).unwrap();
        table.next.store(N_REGIONS, Relaxed);
        let number = table.insert(region(8)).unwrap();
        assert!(number != kept && number != 0);
        table.remove(number);
        assert_eq!(table.get(kept).readable().1, 7);
    }
}
