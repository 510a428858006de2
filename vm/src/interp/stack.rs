//! The blocks of memory that frames are carved from.

use super::thread::FRAME_ALIGN;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// A block for frames. It is zeroed once, so no read of a register reads uninitialised memory.
pub(crate) struct Stack {
    block: NonNull<u8>,
    layout: Layout,
    start: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory, owned by the stack.
unsafe impl Send for Stack {}

impl Stack {
    /// A stack of so many bytes; `None` if the host has not as much.
    pub fn new(bytes: usize) -> Option<Stack> {
        // Asking for the alignment would make the allocator fill the block itself: this way pages are zero on first use.
        let layout = Layout::from_size_align(bytes.checked_add(FRAME_ALIGN)?, 16).ok()?;
        // SAFETY: the size is not 0.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        let padding = block.as_ptr().align_offset(FRAME_ALIGN);
        Some(Stack { block, layout, start: block.as_ptr().wrapping_add(padding), bytes })
    }

    /// Its first byte.
    pub fn start(&self) -> *mut u8 {
        self.start
    }

    /// Bytes from an address in the stack to its end.
    #[inline(always)]
    pub fn left(&self, at: *mut u8) -> usize {
        self.bytes - (at as usize - self.start as usize)
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.block.as_ptr(), self.layout) }
    }
}
