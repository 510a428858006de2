//! The sandboxed memory of a machine: regions behind region-and-offset pointers (`docs/internals/memory.md`).
//!
//! [`Memory`] owns the heap, shares the [`Globals`], and knows the host arrays and call frames that are mapped at the
//! moment. `table` holds the regions and is read without locks, `raw` and `atomic` are the only reads and writes of
//! region memory in the crate. A memory is shared by reference: everything works through `&self`, so that threads can
//! share one; what one frees while others run waits in `limbo`.

mod atomic;
mod block;
mod globals;
mod image;
mod limbo;
mod pages;
mod raw;
mod table;

pub(crate) use atomic::modify;
pub use globals::Globals;
pub(crate) use image::MemoryImage;
pub(crate) use limbo::Reader;
pub(crate) use pages::Pages;
pub(crate) use raw::{RawElem, copy_bytes, fill_bytes, read, read_text_byte, write};
pub(crate) use table::Region;
pub use table::RegionLookup;

use crate::program::{ArrayShape, GlobalId, Program};
use crate::sem::OFFSET_BITS;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use crate::sync::{Mutex, thread};
use crate::trap::{Access, RegionKind, Trap, TrapDetail, TrapKind};
use block::{ALIGN, Block};
use limbo::Limbo;
use std::sync::Arc;
use table::{RegionTable, RetiredChunk};

/// Largest region in bytes: offsets are signed 40-bit numbers.
pub const MAX_REGION_LEN: u64 = 1 << (OFFSET_BITS - 1);

/// Bytes that may have been freed and wait for other threads, before those who free wait too.
const MAX_LIMBO: u64 = 32 << 20;

/// The pointer to byte 0 of a region.
pub fn region_start(number: u32) -> u64 {
    (number as u64) << OFFSET_BITS
}

/// Host address of `size` bytes at a pointer into a region with this base and length, if they lie in it.
#[inline(always)]
pub(crate) fn place_in((base, len): (*mut u8, u64), pointer: u64, size: u64) -> Option<*mut u8> {
    let offset = offset_of(pointer) as u64;
    // A negative offset is a huge number here. `size` may be huge too, hence no sum.
    let fits = offset <= len && len - offset >= size && len != 0;
    fits.then(|| base.wrapping_add(offset as usize))
}

/// The region number of a pointer.
#[inline(always)]
pub fn region_of(pointer: u64) -> u32 {
    (pointer >> OFFSET_BITS) as u32
}

/// The signed offset of a pointer.
#[inline(always)]
pub fn offset_of(pointer: u64) -> i64 {
    ((pointer << (64 - OFFSET_BITS)) as i64) >> (64 - OFFSET_BITS)
}

/// The name of a region as traps show it; see [`Memory::name`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionName(u32);

impl RegionName {
    /// No name.
    pub const NONE: RegionName = RegionName(0);
}

/// What a pointer points into; see [`Memory::pointee`].
#[derive(Clone, Copy, Debug)]
pub struct Pointee {
    /// The address of the byte that is pointed to.
    pub start: *mut u8,
    /// How many bytes there are from that on.
    pub bytes: u64,
    /// How many lie before it in the same array, variable or allocation.
    pub offset: u64,
    /// Whether they may be written.
    pub writable: bool,
    /// What memory it is.
    pub kind: RegionKind,
    /// The global that it belongs to.
    pub global: Option<GlobalId>,
}

/// The memory that the programs of one machine see.
pub struct Memory {
    n_globals: u32,
    table: RegionTable,
    names: Mutex<Vec<(Arc<str>, ArrayShape)>>,
    globals: Arc<Globals>,
    used: AtomicU64,
    limit: u64,
    /// Whether several threads may be accessing this memory.
    shared: AtomicBool,
    limbo: Limbo<Freed>,
}

/// What waits until no thread can be accessing it.
enum Freed {
    Block(Block),
    Chunk(RetiredChunk),
}

impl Memory {
    /// Memory with the program's globals: global *i* is region *i* + 1. At most `limit` bytes may be allocated, globals
    /// included.
    pub(crate) fn new(program: &Program, globals: Arc<Globals>, limit: u64) -> Result<Memory, Trap> {
        let table = RegionTable::new();
        let memory = Memory {
            n_globals: program.globals.len() as u32,
            table,
            names: Mutex::new(vec![("".into(), ArrayShape::default())]),
            globals,
            used: AtomicU64::new(0),
            limit,
            shared: AtomicBool::new(false),
            limbo: Limbo::new(),
        };
        memory.charge(memory.globals.bytes())?;
        for index in 0..program.globals.len() {
            memory.insert(memory.global_region(program, index)).ok_or_else(|| memory.out_of_memory())?;
        }
        Ok(memory)
    }

    /// The region of a global, as it is until the host supplies one.
    fn global_region(&self, program: &Program, index: usize) -> Region {
        let global = &program.globals[index];
        let name = self.name(&global.name);
        match self.globals.place(GlobalId(index as u32)) {
            Some((base, len)) => {
                Region { base, len: len as u64, writable: !global.constant, kind: RegionKind::Global, name }
            }
            None => {
                let base = std::ptr::dangling_mut();
                Region { base, len: 0, writable: false, kind: RegionKind::Unbound, name }
            }
        }
    }

    /// Lets an `extern` global be this memory of the host (its first byte, and its length in bytes), or nothing.
    ///
    /// # Safety
    /// As for [`map_host`](Self::map_host), until the global is supplied anew; it is writable unless the global is
    /// constant. No thread is accessing this memory.
    pub(crate) unsafe fn supply(&self, program: &Program, id: GlobalId, memory: Option<(*mut u8, usize)>) {
        let global = &program.globals[id.0 as usize];
        debug_assert!(global.is_extern());
        let region = match memory {
            Some((base, len)) => {
                let (writable, name) = (!global.constant, self.name(&global.name));
                Region { base, len: len as u64, writable, kind: RegionKind::Global, name }
            }
            None => self.global_region(program, id.0 as usize),
        };
        self.table.replace(id.0 + 1, region);
    }

    fn insert(&self, region: Region) -> Option<u32> {
        self.table.insert(region, self.is_shared())
    }

    /// Removes a region, if it is live and of this kind.
    fn remove(&self, number: u32, kind: RegionKind) -> Option<Region> {
        let (region, chunk) = self.table.remove(number, kind, self.is_shared())?;
        if let Some(chunk) = chunk {
            self.retire(chunk);
        }
        Some(region)
    }

    fn retire(&self, chunk: RetiredChunk) {
        if self.is_shared() {
            self.limbo.put(Freed::Chunk(chunk), RetiredChunk::BYTES);
        } else {
            self.table.recycle(chunk);
        }
    }

    /// Returns whether several threads may be accessing this memory.
    #[inline(always)]
    pub(crate) fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }

    /// From now on several threads may access this memory, each announced by its [`Reader`].
    pub(crate) fn share(&self) {
        self.shared.store(true, Ordering::Relaxed);
    }

    /// Only the calling thread accesses this memory from now on; what it saw other threads do has happened.
    pub(crate) fn unshare(&self) {
        if self.shared.swap(false, Ordering::Relaxed) {
            self.collect();
        }
    }

    /// A reader for a thread that will access this memory; it is away.
    pub(crate) fn reader(&self) -> Reader {
        self.limbo.reader()
    }

    /// A thread begins to access this memory.
    pub(crate) fn enter(&self, reader: &Reader) {
        self.limbo.enter(reader);
    }

    /// A thread ceases to access this memory for now.
    pub(crate) fn leave(&self, reader: &Reader) {
        self.limbo.leave(reader);
    }

    /// A thread is between two instructions.
    pub(crate) fn quiesce(&self, reader: &Reader) {
        self.limbo.quiesce(reader);
        if self.limbo.bytes() > 0 {
            self.collect();
        }
    }

    /// Returns whether anything waits for threads to be between two instructions.
    pub(crate) fn has_freed(&self) -> bool {
        self.limbo.bytes() > 0
    }

    /// Returns whether who frees so many bytes more must [wait](Self::wait_for_freed).
    pub(crate) fn must_wait_for_freed(&self, more: u64) -> bool {
        self.limbo.bytes().saturating_add(more) > MAX_LIMBO
    }

    /// The thread is between two instructions, and waits as long as too much has been freed that others have not let go of.
    pub(crate) fn wait_for_freed(&self, reader: &Reader) {
        while self.must_wait_for_freed(0) {
            self.quiesce(reader);
            thread::yield_now();
        }
    }

    #[cold]
    fn collect(&self) {
        for freed in self.limbo.collect() {
            match freed {
                Freed::Block(block) => drop(block),
                Freed::Chunk(chunk) => self.table.recycle(chunk),
            }
        }
    }

    /// Registers a name for [`map_host`](Self::map_host); the same text gives the same name.
    pub fn name(&self, text: &str) -> RegionName {
        self.array_name(text, &ArrayShape::default())
    }

    /// Likewise for an array whose elements follow one another so: traps tell its indices.
    pub fn array_name(&self, text: &str, shape: &ArrayShape) -> RegionName {
        let mut names = self.names.lock().unwrap_or_else(|e| e.into_inner());
        let known = names.iter().position(|(name, of)| &**name == text && of == shape);
        let index = known.unwrap_or_else(|| {
            names.push((text.into(), shape.clone()));
            names.len() - 1
        });
        RegionName(index as u32)
    }

    fn name_text(&self, name: RegionName) -> Option<Arc<str>> {
        let names = self.names.lock().unwrap_or_else(|e| e.into_inner());
        names.get(name.0 as usize).map(|(text, _)| text).filter(|text| !text.is_empty()).cloned()
    }

    /// How the elements of a region follow one another, if its name tells.
    pub(crate) fn shape(&self, number: u32) -> Option<ArrayShape> {
        let name = self.table.get(number).describe()?.name;
        let names = self.names.lock().unwrap_or_else(|e| e.into_inner());
        names.get(name.0 as usize).map(|(_, shape)| shape.clone())
    }

    /// Makes host memory accessible as a region and gives the pointer to its first byte.
    ///
    /// # Safety
    /// The `len` bytes at `start` stay valid for reads (and, if `writable`, for writes) until [`unmap`](Self::unmap) or
    /// the end of this memory. Other code may access them meanwhile only as it may access memory that C code works on.
    pub unsafe fn map_host(&self, start: *mut u8, len: usize, writable: bool, name: RegionName) -> Result<u64, Trap> {
        if len as u64 >= MAX_REGION_LEN {
            return Err(self.out_of_memory());
        }
        let region = Region { base: start, len: len as u64, writable, kind: RegionKind::Host, name };
        self.insert(region).map(region_start).ok_or_else(|| self.out_of_memory())
    }

    /// Ends the mapping of a host array. Pointers into it trap from now on.
    pub fn unmap(&self, pointer: u64) {
        self.remove(region_of(pointer), RegionKind::Host);
    }

    /// Maps the memory of a call frame; `None` if no region number is left.
    ///
    /// # Safety
    /// As for [`map_host`](Self::map_host), until [`unmap_frame`](Self::unmap_frame).
    pub(crate) unsafe fn map_frame(&self, base: *mut u8, len: u64) -> Option<u32> {
        self.insert(Region { base, len, writable: true, kind: RegionKind::Frame, name: RegionName::NONE })
    }

    /// Ends the mapping of a call frame.
    pub(crate) fn unmap_frame(&self, number: u32) {
        self.remove(number, RegionKind::Frame);
    }

    /// Returns whether there are numbers for more regions; of threads that share the memory, others may take them.
    #[inline]
    pub(crate) fn has_numbers(&self) -> bool {
        !self.is_shared() || self.table.has_unused_numbers()
    }

    /// Passes over so many numbers of regions, as frames would have taken whose memory nobody had to enter.
    pub(crate) fn pass_over_frames(&self, n: u64) {
        self.table.pass_over(n, self.is_shared(), |chunk| self.retire(chunk));
    }

    /// Uses up the numbers of regions, with empty regions: for tests of what happens at the end of them.
    #[doc(hidden)]
    pub fn use_up_regions(&self) {
        let (base, name) = (std::ptr::NonNull::dangling().as_ptr(), RegionName::NONE);
        self.table.use_up(Region { base, len: 0, writable: false, kind: RegionKind::Host, name });
    }

    /// Number of bytes that can still be allocated.
    pub fn available(&self) -> u64 {
        self.limit.saturating_sub(self.used.load(Ordering::Relaxed))
    }

    fn charge(&self, bytes: u64) -> Result<(), Trap> {
        let add = |used: u64| used.checked_add(bytes).filter(|&sum| sum <= self.limit);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add) {
            Ok(_) => Ok(()),
            Err(_) => Err(self.out_of_memory()),
        }
    }

    /// Allocates zeroed memory and gives the pointer to it.
    pub fn allocate(&self, bytes: u64) -> Result<u64, Trap> {
        if bytes >= MAX_REGION_LEN {
            return Err(self.out_of_memory());
        }
        // Empty allocations cost memory too (their region), so they are charged as one unit of alignment.
        let charged = bytes.max(ALIGN as u64);
        self.charge(charged)?;
        let refund = |trap| {
            self.used.fetch_sub(charged, Ordering::Relaxed);
            trap
        };
        let block = Block::new(bytes as usize).ok_or_else(|| refund(refused(bytes)))?;
        let base = block.start.as_ptr();
        let region = Region { base, len: bytes, writable: true, kind: RegionKind::Heap, name: RegionName::NONE };
        let number = self.insert(region).ok_or_else(|| refund(self.out_of_memory()))?;
        block.leak();
        Ok(region_start(number))
    }

    /// Returns whether this is the start of a live allocation (or null, which may be freed too).
    pub(crate) fn can_free(&self, pointer: u64) -> bool {
        pointer == 0 || (offset_of(pointer) == 0 && self.table.get(region_of(pointer)).kind() == Some(RegionKind::Heap))
    }

    /// Frees an allocation (or null, which does nothing); `false` if it is none, or no more.
    pub fn free(&self, pointer: u64) -> bool {
        if pointer == 0 || offset_of(pointer) != 0 {
            return pointer == 0;
        }
        let Some(region) = self.remove(region_of(pointer), RegionKind::Heap) else { return false };
        let bytes = region.len.max(ALIGN as u64);
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        // SAFETY: heap regions are leaked blocks of this length, and `remove` gives each to one caller.
        let block = unsafe { Block::reclaim(region.base, region.len as usize) };
        if let Some(block) = block.filter(|_| self.is_shared()) {
            self.limbo.put(Freed::Block(block), bytes);
        }
        true
    }

    /// Host address and length in bytes of what may be read (or written) in the region of a pointer; the length is 0 for
    /// a region that is not live.
    #[inline(always)]
    pub(crate) fn region(&self, pointer: u64, access: Access) -> (*mut u8, u64) {
        let entry = self.table.get(region_of(pointer));
        match access {
            Access::Read => entry.readable(),
            Access::Write => entry.writable(),
        }
    }

    /// Where native code finds the directory of regions; see [`RegionLookup`].
    pub(crate) fn directory(&self) -> *const u8 {
        self.table.directory()
    }

    /// What the region of a pointer is; `None` if it is not live.
    pub(crate) fn kind(&self, pointer: u64) -> Option<RegionKind> {
        self.table.get(region_of(pointer)).kind()
    }

    /// What the region of a pointer is, and its name; `None` if it is not live.
    pub(crate) fn describe(&self, pointer: u64) -> Option<(RegionKind, Option<Arc<str>>)> {
        let region = self.table.get(region_of(pointer)).describe()?;
        Some((region.kind, self.name_text(region.name)))
    }

    /// Host address of `size` bytes at `pointer`, if they may be accessed so.
    #[inline(always)]
    pub(crate) fn resolve(&self, pointer: u64, size: u64, access: Access) -> Option<*mut u8> {
        place_in(self.region(pointer, access), pointer, size)
    }

    /// Why an access at byte `offset` of the region of `pointer` cannot be made.
    #[cold]
    pub(crate) fn fault(&self, pointer: u64, offset: i128, size: u64, access: Access) -> (TrapKind, TrapDetail) {
        let number = region_of(pointer);
        let Some(region) = self.table.get(number).describe() else {
            let kind = if number == 0 { TrapKind::NullPointer } else { TrapKind::BadPointer };
            return (kind, TrapDetail::Pointer(pointer));
        };
        let name = self.name_text(region.name);
        if region.kind == RegionKind::Unbound {
            return (TrapKind::UnboundExtern, name.map_or(TrapDetail::None, TrapDetail::Extern));
        }
        let outside = offset < 0 || offset + size as i128 > region.len as i128;
        let kind = if outside { TrapKind::OutOfBounds } else { TrapKind::ReadOnly };
        let elem_size = size.max(1);
        let index = offset.div_euclid(elem_size as i128).clamp(i64::MIN as i128, i64::MAX as i128) as i64;
        let len = region.len / elem_size;
        let indices = Box::default();
        (kind, TrapDetail::Access { access, index, len, elem_size, region: region.kind, name, indices })
    }

    /// The memory of the globals.
    pub fn globals(&self) -> &Arc<Globals> {
        &self.globals
    }

    /// What a pointer points into, if that is live: the host address it stands for, how many bytes follow there, whether they may
    /// be written, and the kind of memory. For functions of the host.
    pub fn pointee(&self, pointer: u64) -> Option<Pointee> {
        let region = self.table.get(region_of(pointer)).describe()?;
        let offset = offset_of(pointer);
        let bytes = u64::try_from(offset).ok().and_then(|offset| region.len.checked_sub(offset))?;
        let start = region.base.wrapping_add(offset as usize);
        let global = (1..=self.n_globals).contains(&region_of(pointer)).then(|| GlobalId(region_of(pointer) - 1));
        Some(Pointee { start, bytes, offset: offset as u64, writable: region.writable, kind: region.kind, global })
    }

    /// Copies bytes out of a region, if they all may be read.
    pub fn read_bytes(&self, pointer: u64, into: &mut [u8]) -> bool {
        let Some(from) = self.resolve(pointer, into.len() as u64, Access::Read) else { return into.is_empty() };
        // SAFETY: `resolve` checked the range; `into` is exclusive Rust memory.
        unsafe { copy_bytes(into.as_mut_ptr(), from, into.len()) };
        true
    }

    /// Copies bytes into a region, if they all may be written.
    pub fn write_bytes(&self, pointer: u64, from: &[u8]) -> bool {
        let Some(to) = self.resolve(pointer, from.len() as u64, Access::Write) else { return from.is_empty() };
        // SAFETY: `resolve` checked the range.
        unsafe { copy_bytes(to, from.as_ptr(), from.len()) };
        true
    }

    #[cold]
    pub(crate) fn out_of_memory(&self) -> Trap {
        Trap::new(TrapKind::OutOfMemory, TrapDetail::Limit(self.limit))
    }
}

/// The host has no more memory, whatever the limit says.
#[cold]
fn refused(bytes: u64) -> Trap {
    Trap::new(TrapKind::OutOfMemory, TrapDetail::Refused(bytes))
}

impl Drop for Memory {
    fn drop(&mut self) {
        for region in self.table.live().filter(|r| r.kind == RegionKind::Heap) {
            // SAFETY: live heap regions are leaked blocks of this length; the table is not used any more.
            drop(unsafe { Block::reclaim(region.base, region.len as usize) });
        }
    }
}
