//! Atomic read-modify-writes of region memory.
//!
//! Aligned elements are changed with the atomic instructions of the machine. Others (an element of a packed structure, or
//! behind a cast pointer) have none everywhere; they take a lock that all of them share, so they are atomic among
//! themselves, but not against an aligned operation on some of the same bytes. Every operation is sequentially consistent.

use super::raw::{RawElem, read, write};
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Whoever changes an element that is not aligned holds it.
static UNALIGNED: Mutex<()> = Mutex::new(());

/// Replaces the element at `at` by what `change` makes of it, and gives what was there.
///
/// # Safety
/// Its bytes at `at` are valid for reads and writes.
pub(crate) unsafe fn modify<T: RawElem>(at: *mut u8, change: impl Fn(T) -> T) -> T {
    if !at.addr().is_multiple_of(size_of::<T>()) {
        let _guard = UNALIGNED.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the caller's promise.
        unsafe {
            let old = read(at);
            write(at, change(old));
            return old;
        }
    }
    let change = |bits: u64| change(T::from_word(bits).normalised()).to_word();
    macro_rules! by_size {
        ($($size:literal $Atomic:ident $Word:ty;)*) => {
            match size_of::<T>() {
                // SAFETY: the caller's promise; the address is aligned to the size.
                $( $size => unsafe {
                    let cell = $Atomic::from_ptr(at.cast());
                    let update = |bits: $Word| Some(change(bits as u64) as $Word);
                    let old = cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, update);
                    old.unwrap_or_else(|same| same) as u64
                }, )*
                size => unreachable!("no element has {size} bytes"),
            }
        };
    }
    let old = by_size! { 1 AtomicU8 u8; 2 AtomicU16 u16; 4 AtomicU32 u32; 8 AtomicU64 u64; };
    T::from_word(old).normalised()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sem;

    /// Many threads add to one element at a byte offset; none of the additions may be lost.
    fn count(offset: usize) -> u32 {
        let mut cells = [0u64; 2];
        let start = (&raw mut cells).expose_provenance() + offset;
        let n = if cfg!(miri) { 20 } else { 10_000 };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(move || {
                    for _ in 0..n {
                        let at = std::ptr::with_exposed_provenance_mut(start);
                        // SAFETY: within `cells`, which outlives the scope and is not touched meanwhile.
                        unsafe { modify(at, |old: u32| sem::add(old, 1)) };
                    }
                });
            }
        });
        // SAFETY: as above; the threads are done.
        let total: u32 = unsafe { read(std::ptr::with_exposed_provenance(start)) };
        total / n
    }

    #[test]
    fn no_update_is_lost() {
        assert_eq!(count(4), 4);
        assert_eq!(count(3), 4);
    }

    #[test]
    fn every_size() {
        let mut cell = 0x0102_0304_0506_0708u64;
        let at = (&raw mut cell).cast::<u8>();
        // SAFETY: within `cell`.
        unsafe {
            assert_eq!(modify(at, |x: u8| x ^ 0xff), 8);
            assert_eq!(modify(at, |x: u16| x), 0x07f7);
            assert_eq!(modify(at.add(4), |_: f32| 1.5), f32::from_bits(0x0102_0304));
            assert_eq!(modify(at, |_: u64| 7), 0x3fc0_0000_0506_07f7);
        }
        assert_eq!(cell, 7);
    }
}
