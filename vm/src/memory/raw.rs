//! Raw reads and writes of region memory: unaligned, and never through references, because hosts may hold the same
//! memory. Every function here asks its caller for a checked range.

use crate::sem::{Bool, Scalar};

/// How an element is held in memory: like in a register, except that any non-zero byte is a true `bool`.
pub(crate) trait RawElem: Scalar {
    /// The element as it is kept in registers.
    #[inline(always)]
    fn normalised(self) -> Self {
        self
    }
}

impl RawElem for Bool {
    #[inline(always)]
    fn normalised(self) -> Self {
        Bool::new(self.get())
    }
}

macro_rules! plain {
    ($($t:ty)*) => { $( impl RawElem for $t {} )* };
}
plain!(i8 i16 i32 i64 u8 u16 u32 u64 half::f16 f32 f64);

/// Reads an element.
///
/// # Safety
/// Its bytes at `at` are valid for reads.
#[inline(always)]
pub(crate) unsafe fn read<T: RawElem>(at: *const u8) -> T {
    // SAFETY: the caller's promise; every bit pattern is a valid element.
    unsafe { at.cast::<T>().read_unaligned() }.normalised()
}

/// Writes an element.
///
/// # Safety
/// Its bytes at `at` are valid for writes.
#[inline(always)]
pub(crate) unsafe fn write<T: RawElem>(at: *mut u8, value: T) {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<T>().write_unaligned(value) }
}

/// Copies bytes; the ranges may overlap.
///
/// # Safety
/// `len` bytes are valid for reads at `from` and for writes at `to`.
#[inline(always)]
pub(crate) unsafe fn copy_bytes(to: *mut u8, from: *const u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy(from, to, len) }
}

/// Fills bytes.
///
/// # Safety
/// `len` bytes are valid for writes at `to`.
#[inline(always)]
pub(crate) unsafe fn fill_bytes(to: *mut u8, value: u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::write_bytes(to, value, len) }
}

/// Reads one byte of text.
///
/// # Safety
/// The byte at `at` is valid for reads.
pub(crate) unsafe fn read_text_byte(at: *const u8) -> u8 {
    // SAFETY: the caller's promise.
    unsafe { at.read() }
}
