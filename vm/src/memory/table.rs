//! The table of regions: numbers handed out once each, looked up without locks.
//!
//! A region number is not used again before all 2²⁴ have been used once, so a pointer to memory that is gone traps. The
//! table is cut into chunks that exist only while one of their regions does: a program that makes a million calls with
//! frame memory does not fill a million entries.
//!
//! # Concurrency
//!
//! Entries and the chunk directory are atomics. An entry is published by its lengths, stored last with `Release`; a reader
//! loads the length first with `Acquire`, so it never sees a length with an older base. The other way round, an older
//! length with a newer base, would be as bad; so as long as threads share the table no entry is used again: a chunk that is
//! empty for good leaves the directory, and whoever removed its last region must keep it ([`RetiredChunk`]) until no reader
//! can be looking at it. Only then it is [recycled](RegionTable::recycle) under other numbers.
//!
//! Whoever changes the table tells whether it is `shared`. While it is not, counters are plain loads and stores: atomic
//! read-modify-write operations would be most of what a frame with memory costs.
//!
//! # Layout
//!
//! Native code looks regions up by itself, as [`RegionTable::get`] does ([`RegionLookup`]). So the directory stays where it is as
//! long as the table lives, every place of it leads to a chunk (to that of the dead where no region is live), and the order of
//! fields is fixed. There is nothing else to check: a region number has no more bits than the table has entries, and what is not
//! live has length 0.

use super::RegionName;
use crate::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64};
use crate::sync::{MODELLED, Mutex};
use crate::trap::RegionKind;
#[cfg(not(feature = "shuttle"))]
use std::alloc::{Layout, alloc_zeroed, handle_alloc_error};
use std::mem::offset_of;
use std::sync::PoisonError;

const CHUNK_BITS: u32 = if MODELLED { 2 } else { 11 };
const CHUNK_LEN: u32 = 1 << CHUNK_BITS;
const N_REGIONS: u32 = if MODELLED { 64 } else { 1 << (64 - crate::sem::OFFSET_BITS) };
const N_CHUNKS: u32 = N_REGIONS / CHUNK_LEN;

/// A chunk and a position in it, as one word.
fn pack(chunk: u32, position: u32) -> u64 {
    (chunk as u64) << 32 | position as u64
}

fn chunk_of(open: u64) -> u32 {
    (open >> 32) as u32
}

fn position(open: u64) -> u32 {
    open as u32
}

/// A region to be entered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Region {
    /// Host address of byte 0.
    pub base: *mut u8,
    /// Length in bytes.
    pub len: u64,
    /// Whether programs may write to it.
    pub writable: bool,
    /// What it is.
    pub kind: RegionKind,
    /// Its name.
    pub name: RegionName,
}

/// A slot of the table; all zero if there is no such region.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Entry {
    base: AtomicPtr<u8>,
    read_len: AtomicU64,
    write_len: AtomicU64,
    /// 0: not live; else the kind plus one; `TAKEN` while it changes hands.
    kind: AtomicU32,
    name: AtomicU32,
}

/// The `kind` of an entry that is neither live nor free.
const TAKEN: u32 = u32::MAX;

impl Entry {
    /// No region.
    #[cfg(not(feature = "shuttle"))]
    const fn new() -> Entry {
        Entry {
            base: AtomicPtr::new(std::ptr::null_mut()),
            read_len: AtomicU64::new(0),
            write_len: AtomicU64::new(0),
            kind: AtomicU32::new(0),
            name: AtomicU32::new(0),
        }
    }

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
            5 => Some(RegionKind::Unbound),
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
        self.name.store(region.name.0, Relaxed);
        self.base.store(region.base, Relaxed);
        self.kind.store(kind_code(region.kind), Relaxed);
        self.write_len.store(if region.writable { region.len } else { 0 }, Release);
        self.read_len.store(region.len, Release);
    }

    fn clear(&self) {
        self.read_len.store(0, Relaxed);
        self.write_len.store(0, Relaxed);
        self.kind.store(0, Release);
    }
}

fn kind_code(kind: RegionKind) -> u32 {
    match kind {
        RegionKind::Host => 1,
        RegionKind::Global => 2,
        RegionKind::Frame => 3,
        RegionKind::Heap => 4,
        RegionKind::Unbound => 5,
    }
}

#[repr(C)]
struct Chunk {
    entries: [Entry; CHUNK_LEN as usize],
    /// Numbers that were not handed out yet, or are live. At 0 the chunk is empty for good.
    left: AtomicU32,
}

/// How native code finds what [`RegionTable::get`] finds: the directory holds a pointer for the bits of a region number from
/// [`CHUNK_BITS`](Self::CHUNK_BITS) on, to entries for the bits below.
pub struct RegionLookup;

impl RegionLookup {
    /// Bits of a region number that tell the entry of a chunk.
    pub const CHUNK_BITS: u32 = CHUNK_BITS;
    /// Binary logarithm of the size of an entry.
    pub const ENTRY_BITS: u32 = size_of::<Entry>().trailing_zeros();
    /// Where an entry has the host address of byte 0.
    pub const BASE_AT: usize = offset_of!(Entry, base);
    /// Where it has the bytes that may be read.
    pub const READ_LEN_AT: usize = offset_of!(Entry, read_len);
    /// Where it has the bytes that may be written.
    pub const WRITE_LEN_AT: usize = offset_of!(Entry, write_len);
}

const _: () = assert!(MODELLED || size_of::<Entry>().is_power_of_two());
const _: () = assert!(offset_of!(Chunk, entries) == 0);

/// The chunk of numbers that have no chunk. Nothing is ever written to it, so all tables have the same.
#[cfg(not(feature = "shuttle"))]
type Dead = &'static Chunk;
#[cfg(feature = "shuttle")]
type Dead = Box<Chunk>;

#[cfg(not(feature = "shuttle"))]
fn dead() -> Dead {
    static DEAD: Chunk = Chunk { entries: [const { Entry::new() }; CHUNK_LEN as usize], left: AtomicU32::new(0) };
    &DEAD
}

#[cfg(feature = "shuttle")]
fn dead() -> Dead {
    Chunk::new()
}

impl Chunk {
    #[cfg(feature = "shuttle")]
    fn new() -> Box<Chunk> {
        Box::new(Chunk { left: AtomicU32::new(0), entries: std::array::from_fn(|_| Entry::default()) })
    }

    #[cfg(not(feature = "shuttle"))]
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

    /// So many of its numbers are not live any more. Returns whether it is empty for good now.
    #[inline(always)]
    fn lose(&self, n: u32, shared: bool) -> bool {
        if shared {
            return self.left.fetch_sub(n, AcqRel) == n;
        }
        let left = self.left.load(Relaxed);
        self.left.store(left - n, Relaxed);
        left == n
    }
}

/// A chunk that has left the directory; others may still be reading it.
pub(super) struct RetiredChunk(Box<Chunk>);

impl RetiredChunk {
    /// Its size in bytes.
    pub const BYTES: u64 = size_of::<Chunk>() as u64;
}

/// Which numbers had been handed out at some moment.
pub(super) struct TableImage {
    open: u64,
    /// The chunks in the directory, and what they had left.
    chunks: Vec<(usize, u32)>,
    gone: Vec<u32>,
    keeps_gone: bool,
}

impl TableImage {
    /// Its size.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.chunks) + size_of_val(&*self.gone)
    }
}

/// The table.
pub(super) struct RegionTable {
    chunks: Box<[AtomicPtr<Chunk>]>,
    /// Stands in the directory where there is no chunk.
    dead: Dead,
    /// The chunk that numbers are handed out from (in the upper half), and the next one in it. The chunk is in the directory
    /// until all of its numbers have been handed out and removed.
    open: AtomicU64,
    /// Chunks to use again. Who opens a chunk holds the lock.
    spare: Mutex<Vec<Box<Chunk>>>,
    /// Once every chunk has a live region: some numbers of regions that are gone. Some may have been handed out again
    /// since.
    gone: Mutex<Vec<u32>>,
    keeps_gone: AtomicBool,
    /// All chunks from this one on are those of the dead, and have always been. Changes under the lock of `spare`.
    beyond: AtomicU32,
    /// Whether it went back to earlier numbers at some time.
    was_restored: AtomicBool,
}

/// What is left of a table, and serves the next one: a directory of the dead, and a chunk, all zero. To make them, and to look
/// through the directory for chunks, takes longer than many a program.
#[cfg(not(feature = "shuttle"))]
struct Remains {
    directory: Box<[AtomicPtr<Chunk>]>,
    chunk: Option<Box<Chunk>>,
}

/// Nobody waits for it: the child of a fork may have been made while a thread that it does not have held the lock.
#[cfg(not(feature = "shuttle"))]
static REMAINS: Mutex<Vec<Remains>> = Mutex::new(Vec::new());

/// Most tables of which anything is kept.
#[cfg(not(feature = "shuttle"))]
const MAX_REMAINS: usize = 4;

/// Most numbers in `gone`.
const MAX_GONE: usize = 1 << 12;

/// Where the numbers of a chunk begin: 0 is no region.
fn first_in(chunk: u32) -> u32 {
    u32::from(chunk == 0)
}

impl RegionTable {
    pub fn new() -> RegionTable {
        let dead = dead();
        let directory = || (0..N_CHUNKS).map(|_| AtomicPtr::new((&raw const *dead).cast_mut())).collect();
        #[cfg(not(feature = "shuttle"))]
        let (chunks, spare) = match REMAINS.try_lock().ok().and_then(|mut remains| remains.pop()) {
            Some(Remains { directory, chunk }) => (directory, chunk.into_iter().collect()),
            None => (directory(), Vec::new()),
        };
        #[cfg(feature = "shuttle")]
        let (chunks, spare) = (directory(), Vec::new());
        // As if the last chunk were used up: the first number opens chunk 0.
        let open = AtomicU64::new(pack(N_CHUNKS - 1, CHUNK_LEN));
        let (spare, gone) = (Mutex::new(spare), Mutex::default());
        let (keeps_gone, beyond, was_restored) = (AtomicBool::new(false), AtomicU32::new(0), AtomicBool::new(false));
        RegionTable { chunks, dead, open, spare, gone, keeps_gone, beyond, was_restored }
    }

    /// Puts another region in the place of a live one. Only while no other thread uses the table.
    pub fn replace(&self, number: u32, region: Region) {
        self.get(number).set(region);
    }

    /// The entry of a region number below 2²⁴; the entry of a region that is not live has length 0.
    #[inline(always)]
    pub fn get(&self, number: u32) -> &Entry {
        &self.chunk_or_dead((number >> CHUNK_BITS) as usize).entries[(number & (CHUNK_LEN - 1)) as usize]
    }

    #[inline(always)]
    fn chunk_or_dead(&self, index: usize) -> &Chunk {
        // SAFETY: a pointer in the directory is that of the dead, or came from `Box::into_raw`. A chunk leaves the directory only
        // in `remove`, whose caller keeps it until no reader can be using it, or the table itself is dropped.
        unsafe { &*self.chunks[index].load(Acquire) }
    }

    fn chunk(&self, index: usize) -> Option<&Chunk> {
        Some(self.chunk_or_dead(index)).filter(|&chunk| !self.is_dead(chunk))
    }

    /// What stands in the directory where there is no chunk.
    fn no_chunk(&self) -> *mut Chunk {
        (&raw const *self.dead).cast_mut()
    }

    fn is_dead(&self, chunk: *const Chunk) -> bool {
        chunk == self.no_chunk().cast_const()
    }

    /// Where native code finds the [directory](RegionLookup); it stays there.
    pub fn directory(&self) -> *const u8 {
        self.chunks.as_ptr().cast()
    }

    /// Enters a region and gives its number; `None` if there is no number left. `shared` tells whether other threads may be
    /// reading the table; then numbers are only taken from empty chunks.
    pub fn insert(&self, region: Region, shared: bool) -> Option<u32> {
        let number = self.take_number(shared)?;
        self.get(number).set(region);
        Some(number)
    }

    /// A number that belongs to the caller. Its chunk is in the directory, and stays while the number is not removed.
    fn take_number(&self, shared: bool) -> Option<u32> {
        let advance = |open| (position(open) < CHUNK_LEN).then(|| open + 1);
        loop {
            match self.advance(shared, advance) {
                Ok(open) => return Some((chunk_of(open) << CHUNK_BITS) + position(open)),
                Err(_) if self.open_chunk() => {}
                Err(_) => return if shared { None } else { self.reuse_number() },
            }
        }
    }

    /// Moves on to what comes after the open number, if `next` has one: the number before; else the number as it is.
    #[inline(always)]
    fn advance(&self, shared: bool, mut next: impl FnMut(u64) -> Option<u64>) -> Result<u64, u64> {
        if shared {
            return self.open.fetch_update(AcqRel, Acquire, next);
        }
        let open = self.open.load(Relaxed);
        let next = next(open).ok_or(open)?;
        self.open.store(next, Relaxed);
        Ok(open)
    }

    /// Returns whether there are numbers that are not those of regions that are gone.
    pub fn has_unused_numbers(&self) -> bool {
        position(self.open.load(Acquire)) < CHUNK_LEN || self.open_chunk()
    }

    /// Passes over so many numbers, as if as many regions had been entered and removed, one after another.
    pub fn pass_over(&self, mut n: u64, shared: bool, mut retire: impl FnMut(RetiredChunk)) {
        while n != 0 {
            if self.keeps_gone.load(Relaxed) {
                // Such numbers may be handed out again, so each of them is taken note of.
                let Some(number) = self.take_number(shared) else { return };
                self.note_gone(number);
                self.let_go(number >> CHUNK_BITS, 1, shared, &mut retire);
                n -= 1;
                continue;
            }
            let room = |open| CHUNK_LEN - position(open);
            let more = |open| n.min(room(open) as u64);
            let advance = |open| (room(open) != 0).then(|| open + more(open));
            match self.advance(shared, advance) {
                Ok(open) => {
                    let taken = more(open);
                    self.let_go(chunk_of(open), taken as u32, shared, &mut retire);
                    n -= taken;
                }
                Err(_) if self.open_chunk() => {}
                // As a number that is handed out again and let go.
                Err(_) => return,
            }
        }
    }

    /// So many numbers of a chunk have no region any more.
    fn let_go(&self, chunk: u32, n: u32, shared: bool, retire: &mut impl FnMut(RetiredChunk)) {
        if self.chunk_or_dead(chunk as usize).lose(n, shared) {
            retire(self.retire(chunk as usize));
        }
    }

    /// Opens the next chunk that is not in the directory, unless someone else just did; `false` if there is none.
    #[cold]
    fn open_chunk(&self) -> bool {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let open = self.open.load(Acquire);
        if position(open) < CHUNK_LEN {
            return true;
        }
        let order = (1..=N_CHUNKS).map(|k| (chunk_of(open) + k) % N_CHUNKS);
        let Some(index) = order.into_iter().find(|&i| self.chunk(i as usize).is_none()) else {
            return false;
        };
        let chunk = spare.pop().unwrap_or_else(Chunk::new);
        chunk.left.store(CHUNK_LEN - first_in(index), Relaxed);
        self.beyond.fetch_max(index + 1, Release);
        self.chunks[index as usize].store(Box::into_raw(chunk), Release);
        self.open.store(pack(index, first_in(index)), Release);
        true
    }

    /// Enters a region once in every chunk that is not open: from then on numbers are only those of regions that are gone.
    pub fn use_up(&self, region: Region) {
        while self.open_chunk() {
            if let Some(number) = self.take_number(true) {
                self.get(number).set(region);
            }
            let used = |open| Some(pack(chunk_of(open), CHUNK_LEN));
            let _ = self.open.fetch_update(AcqRel, Acquire, used);
        }
    }

    /// Once every chunk has a live region: a number of a region that is gone. Only while no other thread uses the table.
    #[cold]
    fn reuse_number(&self) -> Option<u32> {
        self.keeps_gone.store(true, Relaxed);
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        let chunk_of_gone = |number: u32| {
            let chunk = self.chunk((number >> CHUNK_BITS) as usize)?;
            let entry = &chunk.entries[(number & (CHUNK_LEN - 1)) as usize];
            (entry.kind.load(Relaxed) == 0).then_some((number, chunk))
        };
        let mut kept = std::iter::from_fn(|| gone.pop()).find_map(chunk_of_gone);
        if kept.is_none() {
            // Takes a while, so as many as may be needed next are taken note of.
            let all = (1..N_REGIONS).filter(|&number| chunk_of_gone(number).is_some());
            gone.extend(all.take(MAX_GONE));
            gone.reverse();
            kept = gone.pop().and_then(chunk_of_gone);
        }
        let (number, chunk) = kept?;
        chunk.left.fetch_add(1, Relaxed);
        Some(number)
    }

    /// Takes note of a number that can be handed out again.
    #[cold]
    fn note_gone(&self, number: u32) {
        let mut gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner);
        if gone.len() < MAX_GONE {
            gone.push(number);
        }
    }

    /// Removes the region of a number, if it is live and of this kind: what it was, and its chunk if that is empty now.
    /// `shared` is as for [`insert`](Self::insert).
    pub fn remove(&self, number: u32, kind: RegionKind, shared: bool) -> Option<(Region, Option<RetiredChunk>)> {
        let index = (number >> CHUNK_BITS) as usize;
        let chunk = self.chunk(index)?;
        let entry = &chunk.entries[(number & (CHUNK_LEN - 1)) as usize];
        let live = kind_code(kind);
        let is_ours = match shared {
            // Of several threads that remove the same region, one does.
            true => entry.kind.compare_exchange(live, TAKEN, AcqRel, Relaxed).is_ok(),
            false => entry.kind.load(Relaxed) == live,
        };
        if !is_ours {
            return None;
        }
        let (base, len) = entry.readable();
        let writable = entry.write_len.load(Relaxed) != 0;
        let region = Region { base, len, writable, kind, name: RegionName(entry.name.load(Relaxed)) };
        entry.clear();
        if self.keeps_gone.load(Relaxed) {
            self.note_gone(number);
        }
        let empty = chunk.lose(1, shared);
        Some((region, empty.then(|| self.retire(index))))
    }

    /// Takes an empty chunk out of the directory.
    #[cold]
    fn retire(&self, index: usize) -> RetiredChunk {
        let chunk = self.chunks[index].swap(self.no_chunk(), AcqRel);
        // SAFETY: it came from `Box::into_raw`; only the one call that brought `left` to 0 takes it out.
        RetiredChunk(unsafe { Box::from_raw(chunk) })
    }

    /// Makes an empty chunk available again, once no reader can be looking at it.
    pub fn recycle(&self, chunk: RetiredChunk) {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner).push(chunk.0);
    }

    /// All live regions.
    pub fn live(&self) -> impl Iterator<Item = Region> {
        self.live_numbers().map(|(_, region)| region)
    }

    /// All live regions with their numbers, in their order.
    pub fn live_numbers(&self) -> impl Iterator<Item = (u32, Region)> {
        let open = self.open.load(Acquire);
        let chunks = (0..self.beyond.load(Acquire) as usize).filter_map(|i| Some((i as u32, self.chunk(i)?)));
        let entries = chunks.flat_map(move |(i, chunk)| {
            let used = if i == chunk_of(open) { position(open) } else { CHUNK_LEN };
            (i * CHUNK_LEN..).zip(&chunk.entries[..used as usize])
        });
        entries.filter_map(|(number, entry)| Some((number, entry.describe()?)))
    }

    /// Which numbers have been handed out. Only while no other thread uses the table.
    pub fn image(&self) -> TableImage {
        let chunks = (0..self.chunks.len()).filter_map(|i| Some((i, self.chunk(i)?.left.load(Relaxed)))).collect();
        let gone = self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone();
        TableImage { open: self.open.load(Relaxed), chunks, gone, keeps_gone: self.keeps_gone.load(Relaxed) }
    }

    /// Goes back to the numbers of then, with these live regions. Only while no other thread uses the table.
    pub fn restore(&self, image: &TableImage, regions: &[(u32, Region)]) {
        let mut wanted = image.chunks.iter().peekable();
        self.was_restored.store(true, Relaxed);
        for (i, slot) in self.chunks.iter().enumerate() {
            let left = wanted.next_if(|&&(at, _)| at == i).map(|&(_, left)| left);
            match (self.chunk(i), left) {
                (None, None) => {}
                (Some(chunk), None) => {
                    chunk.entries.iter().for_each(Entry::clear);
                    self.recycle(self.retire(i));
                }
                (Some(chunk), Some(left)) => {
                    chunk.entries.iter().for_each(Entry::clear);
                    chunk.left.store(left, Relaxed);
                }
                (None, Some(left)) => {
                    let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    let chunk = spare.unwrap_or_else(Chunk::new);
                    chunk.left.store(left, Relaxed);
                    self.beyond.fetch_max(i as u32 + 1, Release);
                    slot.store(Box::into_raw(chunk), Release);
                }
            }
        }
        regions.iter().for_each(|&(number, region)| self.get(number).set(region));
        self.open.store(image.open, Release);
        self.gone.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&image.gone);
        self.keeps_gone.store(image.keeps_gone, Relaxed);
    }
}

impl Drop for RegionTable {
    fn drop(&mut self) {
        let no_chunk = self.no_chunk();
        let beyond = *self.beyond.get_mut() as usize;
        let mut last = None;
        for slot in &mut self.chunks[..beyond] {
            let chunk = std::mem::replace(slot.get_mut(), no_chunk);
            if chunk != no_chunk {
                // SAFETY: it came from `Box::into_raw` and is owned by the directory, from which it has just been taken.
                last = Some(unsafe { Box::from_raw(chunk) });
            }
        }
        match beyond {
            // What an earlier table left has not been used.
            0 => last = self.spare.get_mut().unwrap_or_else(PoisonError::into_inner).pop(),
            1 => {}
            // There were so many regions that making another chunk does not matter.
            _ => last = None,
        }
        self.leave(last);
    }
}

impl RegionTable {
    /// Leaves the directory, in which there is no chunk any more, to the next table, and the only chunk that there was.
    #[cfg(not(feature = "shuttle"))]
    fn leave(&mut self, mut chunk: Option<Box<Chunk>>) {
        if let Some(chunk) = &mut chunk {
            let open = *self.open.get_mut();
            // Numbers that `restore` took back were used too.
            let used = if *self.was_restored.get_mut() { CHUNK_LEN } else { position(open) };
            chunk.entries[..used as usize].iter_mut().for_each(|entry| *entry = Entry::new());
            *chunk.left.get_mut() = 0;
        }
        let directory = std::mem::take(&mut self.chunks);
        if let Ok(mut remains) = REMAINS.try_lock()
            && remains.len() < MAX_REMAINS
        {
            remains.push(Remains { directory, chunk });
        }
    }

    #[cfg(feature = "shuttle")]
    fn leave(&mut self, _chunk: Option<Box<Chunk>>) {}
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;

    fn region(len: u64) -> Region {
        let base = std::ptr::dangling_mut();
        Region { base, len, writable: true, kind: RegionKind::Heap, name: RegionName::NONE }
    }

    /// Removes a region and recycles its chunk at once: nobody else reads the table.
    fn remove(table: &RegionTable, number: u32) {
        let (_, chunk) = table.remove(number, RegionKind::Heap, true).unwrap();
        chunk.into_iter().for_each(|chunk| table.recycle(chunk));
    }

    fn held(table: &RegionTable) -> usize {
        (0..table.chunks.len()).filter(|&i| table.chunk(i).is_some()).count()
    }

    #[test]
    fn numbers_are_not_used_again_and_chunks_are() {
        let table = RegionTable::new();
        let first = table.insert(region(1), true).unwrap();
        assert_eq!(first, 1);
        for i in 2..10_000 {
            // Now others use it too, now they do not.
            let shared = i % 8 < 4;
            let number = table.insert(region(i as u64), shared).unwrap();
            assert_eq!(number, i);
            assert_eq!(table.get(number).readable().1, i as u64);
            assert!(table.remove(number, RegionKind::Frame, shared).is_none());
            let (_, chunk) = table.remove(number, RegionKind::Heap, shared).unwrap();
            chunk.into_iter().for_each(|chunk| table.recycle(chunk));
            assert_eq!(table.get(number).readable().1, 0);
            assert!(table.remove(number, RegionKind::Heap, shared).is_none());
        }
        assert_eq!(table.get(first).readable().1, 1);
        assert_eq!(table.live().count(), 1);
        assert!(held(&table) <= 2, "{} chunks held", held(&table));
        assert!(table.spare.lock().unwrap().len() <= 1);
    }

    #[test]
    fn tables_leave_no_regions_to_the_next() {
        for used in [0, 1, 5, CHUNK_LEN + 3] {
            let table = RegionTable::new();
            let numbers: Vec<u32> = (0..used).map(|_| table.insert(region(9), true).unwrap()).collect();
            numbers.iter().step_by(2).for_each(|&number| remove(&table, number));
            drop(table);
            // Of tables on other threads there may be remains too.
            for table in (0..=MAX_REMAINS).map(|_| RegionTable::new()).collect::<Vec<_>>() {
                assert_eq!((held(&table), table.live().count()), (0, 0));
                assert_eq!(table.insert(region(1), true), Some(1));
                let entries = |table: &RegionTable| (2..CHUNK_LEN).all(|number| is_clean(table.get(number)));
                assert!(entries(&table), "after {used} regions");
            }
        }
    }

    #[test]
    fn a_table_that_was_restored_leaves_no_regions() {
        let table = RegionTable::new();
        let image = table.image();
        (0..9).for_each(|_| assert!(table.insert(region(9), true).is_some()));
        table.restore(&image, &[]);
        assert_eq!(table.insert(region(9), true), Some(1));
        drop(table);
        for table in (0..=MAX_REMAINS).map(|_| RegionTable::new()).collect::<Vec<_>>() {
            table.insert(region(1), true).unwrap();
            assert!((2..CHUNK_LEN).all(|number| is_clean(table.get(number))));
        }
    }

    /// Returns whether an entry is as in a new table.
    fn is_clean(entry: &Entry) -> bool {
        entry.describe().is_none()
            && entry.base.load(Relaxed).is_null()
            && entry.readable().1 == 0
            && entry.writable().1 == 0
    }

    #[test]
    fn chunks_come_again_after_all_were_used() {
        let table = RegionTable::new();
        let kept = table.insert(region(7), true).unwrap();
        table.open.store(pack(N_CHUNKS - 1, CHUNK_LEN), Relaxed);
        let number = table.insert(region(8), true).unwrap();
        assert_eq!(number >> CHUNK_BITS, 1, "chunk 0 has a live region");
        remove(&table, number);
        assert_eq!(table.get(kept).readable().1, 7);
    }

    #[test]
    fn numbers_come_again_when_no_chunk_is_empty() {
        let table = RegionTable::new();
        let kept = table.insert(region(7), true).unwrap();
        let gone = table.insert(region(8), true).unwrap();
        remove(&table, gone);
        let filler = Box::into_raw(Chunk::new());
        table.chunks[1..].iter().for_each(|slot| slot.store(filler, Relaxed));
        table.open.store(pack(1, CHUNK_LEN), Relaxed);
        assert_eq!(table.insert(region(9), true), None, "entries are not used again while others read");
        let again = table.insert(region(9), false).unwrap();
        assert_eq!((kept, again), (1, 2));
        table.chunks[1..].iter().for_each(|slot| slot.store(table.no_chunk(), Relaxed));
        // SAFETY: made above, and in the table no more.
        drop(unsafe { Box::from_raw(filler) });
    }

    #[test]
    fn many_threads_enter_and_remove() {
        let table = RegionTable::new();
        let numbers: Mutex<Vec<u32>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for i in 0..3 * CHUNK_LEN {
                        let number = table.insert(region(number_len(i)), true).unwrap();
                        assert_eq!(table.get(number).readable().1, number_len(i));
                        if i % 64 == 0 {
                            numbers.lock().unwrap().push(number);
                        } else {
                            let removed = table.remove(number, RegionKind::Heap, true).unwrap();
                            // Kept for good: other threads may be reading it.
                            removed.1.into_iter().for_each(|chunk| std::mem::forget(chunk.0));
                        }
                    }
                });
            }
        });
        let mut numbers = numbers.into_inner().unwrap();
        assert_eq!(table.live().count(), numbers.len());
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(table.live().count(), numbers.len(), "a number was handed out twice");
    }

    fn number_len(i: u32) -> u64 {
        i as u64 + 1
    }
}
