//! Blocks of host memory that machines own.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Alignment of regions that the machine allocates, in bytes. More than 16 would make the host's allocator fill large
/// blocks with zeros itself instead of getting them so from the system.
pub(super) const ALIGN: usize = 16;

/// A zeroed block of host memory, aligned to [`ALIGN`].
pub(super) struct Block {
    pub start: NonNull<u8>,
    pub len: usize,
}

// SAFETY: a block is plain memory, owned by whoever holds it and accessed only by raw reads and writes.
unsafe impl Send for Block {}
// SAFETY: as above.
unsafe impl Sync for Block {}

impl Block {
    fn layout(len: usize) -> Option<Layout> {
        Layout::from_size_align(len.max(1), ALIGN).ok()
    }

    pub fn new(len: usize) -> Option<Block> {
        // SAFETY: the layout has a size of at least 1.
        let start = NonNull::new(unsafe { alloc_zeroed(Self::layout(len)?) })?;
        Some(Block { start, len })
    }

    /// Gives up ownership.
    pub fn leak(self) -> *mut u8 {
        let start = self.start.as_ptr();
        std::mem::forget(self);
        start
    }

    /// Takes back what [`leak`](Self::leak) gave up.
    ///
    /// # Safety
    /// `start` and `len` are those of a leaked block that has not been taken back.
    pub unsafe fn reclaim(start: *mut u8, len: usize) -> Option<Block> {
        Some(Block { start: NonNull::new(start)?, len })
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.len) {
            // SAFETY: `start` came from `alloc_zeroed` with this very layout.
            unsafe { dealloc(self.start.as_ptr(), layout) }
        }
    }
}
