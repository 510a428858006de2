//! Registers as memory: blocks of 16 lanes, masks as bits, and the conversions between bits and `bool` lanes.
//!
//! Loops here have a fixed trip count and no side effects, so that the compiler turns them into vector instructions of
//! whatever function they are inlined into.

use crate::sem::Bool;

/// Lanes of a block.
pub(crate) const BLOCK: usize = 16;

/// Most lanes of a gang.
pub(crate) const MAX_LANES: usize = 64;

/// Blocks that a varying register of `lanes` lanes occupies.
pub(crate) const fn blocks_for(lanes: usize) -> usize {
    lanes.div_ceil(BLOCK)
}

/// Reads a uniform register.
///
/// # Safety
/// `at` is a register of type `T`.
#[inline(always)]
pub(crate) unsafe fn get<T: Copy>(at: *const u8) -> T {
    // SAFETY: registers are aligned to their element and valid for reads.
    unsafe { at.cast::<T>().read() }
}

/// Writes a uniform register.
///
/// # Safety
/// `at` is a register of type `T`.
#[inline(always)]
pub(crate) unsafe fn put<T: Copy>(at: *mut u8, value: T) {
    // SAFETY: registers are aligned to their element and valid for writes.
    unsafe { at.cast::<T>().write(value) }
}

/// Reads block `i` of a varying register.
///
/// # Safety
/// `at` is a varying register of type `T` with more than `i` blocks.
#[inline(always)]
pub(crate) unsafe fn load<T: Copy>(at: *const u8, i: usize) -> [T; BLOCK] {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<[T; BLOCK]>().add(i).read() }
}

/// Writes block `i` of a varying register.
///
/// # Safety
/// `at` is a varying register of type `T` with more than `i` blocks.
#[inline(always)]
pub(crate) unsafe fn store<T: Copy>(at: *mut u8, i: usize, value: [T; BLOCK]) {
    // SAFETY: the caller's promise.
    unsafe { at.cast::<[T; BLOCK]>().add(i).write(value) }
}

/// Block `i` of an operand: of a varying register, or a uniform one in every lane.
///
/// # Safety
/// As for [`load`] if it is varying, else as for [`get`].
#[inline(always)]
pub(crate) unsafe fn operand<T: Copy>(at: *const u8, i: usize, varying: bool) -> [T; BLOCK] {
    // SAFETY: the caller's promise.
    unsafe { if varying { load(at, i) } else { [get(at); BLOCK] } }
}

/// One lane of a varying register.
///
/// # Safety
/// `at` is a varying register of type `T` with more than `lane` lanes.
#[inline(always)]
pub(crate) unsafe fn lane<T: Copy>(at: *const u8, lane: usize) -> T {
    // SAFETY: lanes are consecutive across blocks.
    unsafe { at.cast::<T>().add(lane).read() }
}

/// Sets one lane of a varying register.
///
/// # Safety
/// `at` is a varying register of type `T` with more than `lane` lanes.
#[inline(always)]
pub(crate) unsafe fn set_lane<T: Copy>(at: *mut u8, lane: usize, value: T) {
    // SAFETY: lanes are consecutive across blocks.
    unsafe { at.cast::<T>().add(lane).write(value) }
}

/// The 16 bits of a mask that concern block `i`.
#[inline(always)]
pub(crate) fn block_mask(mask: u64, i: usize) -> u16 {
    (mask >> (i * BLOCK)) as u16
}

/// `a` in the lanes of the mask, `b` in the others.
#[inline(always)]
pub(crate) fn blend<T: Copy>(mask: u16, a: [T; BLOCK], b: [T; BLOCK]) -> [T; BLOCK] {
    let mut r = b;
    for l in 0..BLOCK {
        r[l] = if mask & (1 << l) != 0 { a[l] } else { b[l] };
    }
    r
}

/// The lanes of a block that are true, as bits.
#[inline(always)]
pub(crate) fn bits_of(block: [Bool; BLOCK]) -> u16 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_movemask_epi8, _mm_slli_epi16};
        // SAFETY: both types are 16 bytes without invalid patterns; SSE2 is part of x86-64. A byte is 0 or 1, so after a
        // shift by 7 its top bit is its truth, and bits that cross into the next byte fall below that byte's top bit.
        unsafe { _mm_movemask_epi8(_mm_slli_epi16::<7>(std::mem::transmute::<[Bool; BLOCK], __m128i>(block))) as u16 }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        // The product gathers the low bits of eight bytes in its top byte, lane 0 lowest.
        let half = |i: usize| {
            let word = (0..8).fold(0u64, |w, l| w | (block[i * 8 + l].get() as u64) << (8 * l));
            (word.wrapping_mul(0x0102_0408_1020_4080) >> 56) as u16
        };
        half(0) | half(1) << 8
    }
}

/// The lanes of a bool register that are true, as a mask (with padding lanes).
///
/// # Safety
/// `at` is a varying `bool` register of `blocks` blocks.
#[inline(always)]
pub(crate) unsafe fn mask_of(at: *const u8, blocks: usize) -> u64 {
    let mut mask = 0;
    for i in 0..blocks {
        // SAFETY: the caller's promise.
        mask |= (bits_of(unsafe { load(at, i) }) as u64) << (i * BLOCK);
    }
    mask
}

/// Bits as bool lanes.
#[inline(always)]
pub(crate) fn bools_of(mask: u16) -> [Bool; BLOCK] {
    let mut r = [Bool::new(false); BLOCK];
    for (l, b) in r.iter_mut().enumerate() {
        *b = Bool::new(mask & (1 << l) != 0);
    }
    r
}

/// The lanes of a mask, ascending.
#[inline(always)]
pub(crate) fn lanes_of(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if mask == 0 {
            return None;
        }
        let lane = mask.trailing_zeros() as usize;
        mask &= mask - 1;
        Some(lane)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_and_bools_convert_both_ways() {
        for mask in 0..=u16::MAX {
            assert_eq!(bits_of(bools_of(mask)), mask);
        }
    }

    #[test]
    fn blends_take_lanes_by_mask() {
        let r = blend(0b101, [1u8; BLOCK], [2; BLOCK]);
        assert_eq!(&r[..4], &[1, 2, 1, 2]);
    }
}
