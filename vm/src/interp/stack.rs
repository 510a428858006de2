//! The blocks of memory that frames are carved from.
//!
//! A thread has them only while it runs: in between they belong to nobody, and the next call of any machine of the
//! process takes them. So how many programs are loaded does not matter for how much address space is reserved.

use super::thread::FRAME_ALIGN;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::{NonNull, without_provenance_mut};
use std::sync::{Mutex, TryLockError};

/// A block for frames. It is zeroed once, so no read of a register reads uninitialised memory.
pub(crate) struct Stack {
    block: Option<(NonNull<u8>, Layout)>,
    start: *mut u8,
    bytes: usize,
}

// SAFETY: plain memory, owned by the stack.
unsafe impl Send for Stack {}

/// Stacks that nobody uses.
static IDLE: Mutex<Vec<Stack>> = Mutex::new(Vec::new());

/// Most stacks that are kept in case somebody needs one.
const MAX_IDLE: usize = 8;

/// The host has refused so many bytes.
pub(crate) struct Refused(pub u64);

impl Stack {
    /// No stack: no frame fits.
    pub const fn none() -> Stack {
        Stack { block: None, start: without_provenance_mut(FRAME_ALIGN), bytes: 0 }
    }

    /// A stack of so many bytes, for a thread that begins to run.
    pub fn take(bytes: usize) -> Result<Stack, Refused> {
        let kept = with_idle(|idle| {
            let at = idle.iter().rposition(|stack| stack.bytes == bytes)?;
            Some(idle.swap_remove(at))
        });
        if let Some(stack) = kept.flatten() {
            return Ok(stack);
        }
        let refused = match Stack::new(bytes) {
            Ok(stack) => return Ok(stack),
            Err(refused) => refused,
        };
        // Those that nobody uses may be what is missing.
        with_idle(std::mem::take).filter(|idle| !idle.is_empty()).ok_or(refused).map(drop)?;
        Stack::new(bytes)
    }

    /// Takes back the stack of a thread that has ended.
    pub fn give_back(self) {
        if self.block.is_some() {
            let more = with_idle(|idle| if idle.len() < MAX_IDLE { idle.push(self) } else { drop(self) });
            // The lock was taken: then it has been dropped.
            let _ = more;
        }
    }

    fn new(bytes: usize) -> Result<Stack, Refused> {
        // Asking for the alignment would make the allocator fill the block itself: this way pages are zero on first use.
        let size = bytes.saturating_add(FRAME_ALIGN);
        let refused = || Refused(size as u64);
        let layout = Layout::from_size_align(size, 16).map_err(|_| refused())?;
        // SAFETY: the size is not 0.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(refused)?;
        let padding = block.as_ptr().align_offset(FRAME_ALIGN);
        Ok(Stack { block: Some((block, layout)), start: block.as_ptr().wrapping_add(padding), bytes })
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

/// Does something with the idle stacks, unless another thread is at it: the child of a `fork` may have been made in
/// that very moment, and nobody would let go of them.
fn with_idle<T>(work: impl FnOnce(&mut Vec<Stack>) -> T) -> Option<T> {
    match IDLE.try_lock() {
        Ok(mut idle) => Some(work(&mut idle)),
        Err(TryLockError::Poisoned(idle)) => Some(work(&mut idle.into_inner())),
        Err(TryLockError::WouldBlock) => None,
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        if let Some((block, layout)) = self.block {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(block.as_ptr(), layout) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_host_refuses_is_told() {
        let Err(Refused(bytes)) = Stack::take(usize::MAX / 4) else { panic!("no host has so much") };
        assert!(bytes >= u64::MAX / 4);
        assert_eq!(Stack::none().left(Stack::none().start()), 0);
    }

    #[test]
    fn stacks_are_used_again() {
        // A size of its own: other tests run meanwhile.
        let size = 12_345 * FRAME_ALIGN;
        let stack = Stack::take(size).ok().expect("memory for it");
        let start = stack.start();
        stack.give_back();
        let again = with_idle(|idle| idle.iter().any(|stack| stack.start == start));
        assert!(again != Some(false) || with_idle(|idle| idle.len()) == Some(MAX_IDLE));
    }
}
