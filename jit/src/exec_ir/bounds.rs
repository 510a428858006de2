//! Which indices of a memory operand lie within a region: `IndexLow` and `IndexSpan`, in exact arithmetic.

use crate::ir::SPARE_INDICES;
use spmdvm_vm::sem::OFFSET_BITS;
use spmdvm_vm::types::Ty;

/// The signed offset of a pointer.
fn offset_of(pointer: u64) -> i64 {
    const SHIFT: u32 = 64 - OFFSET_BITS;
    ((pointer << SHIFT) as i64) >> SHIFT
}

/// Least and greatest index of a type.
fn range(ty: Ty) -> (i128, i128) {
    match ty {
        Ty::I32 => (i32::MIN as i128, i32::MAX as i128),
        Ty::U32 => (0, u32::MAX as i128),
        Ty::I64 => (i64::MIN as i128, i64::MAX as i128),
        _ => (0, u64::MAX as i128),
    }
}

fn low(pointer: u64, scale: u32, disp: i64, ty: Ty) -> i128 {
    let (least, greatest) = range(ty);
    let start = offset_of(pointer) as i128 + disp as i128;
    // The quotient rounded up.
    let first = -(start.div_euclid(scale as i128));
    first.clamp(least, greatest)
}

/// See [`Kind::IndexLow`](crate::ir::Kind::IndexLow). The index as bits of its type in a word.
pub(crate) fn index_low(pointer: u64, scale: u32, disp: i64, ty: Ty) -> u64 {
    low(pointer, scale, disp, ty) as u64 & (u64::MAX >> (64 - 8 * ty.size()))
}

/// See [`Kind::IndexSpan`](crate::ir::Kind::IndexSpan).
pub(crate) fn index_span(pointer: u64, len: u64, scale: u32, disp: i64, need: u32, ty: Ty) -> u64 {
    let low = low(pointer, scale, disp, ty);
    let start = offset_of(pointer) as i128 + disp as i128;
    let most = range(ty).1 - i128::from(SPARE_INDICES);
    let last = (len as i128 - need as i128 - start).div_euclid(scale as i128).min(most);
    // `low` may have been cut to the greatest index, where the offset can still be negative.
    if start + low * (scale as i128) < 0 || last < low {
        return 0;
    }
    let most = u64::MAX >> (64 - 8 * ty.size());
    (last - low + 1).min(most as i128) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, index by index, over a window of indices.
    fn check(pointer: u64, len: u64, scale: u32, disp: i64, need: u32) {
        let low = index_low(pointer, scale, disp, Ty::I32) as i32;
        let span = index_span(pointer, len, scale, disp, need, Ty::I32) as u32;
        for index in -100i32..100 {
            let at = offset_of(pointer) as i128 + disp as i128 + index as i128 * scale as i128;
            let inside = at >= 0 && at + need as i128 <= len as i128;
            let accepted = (index.wrapping_sub(low) as u32) < span;
            assert_eq!(accepted, inside, "{pointer:#x} len {len} *{scale}{disp:+} need {need}: {index}");
        }
    }

    #[test]
    fn spans_accept_exactly_the_indices_in_bounds() {
        for offset in [0i64, 4, 7, -12] {
            let pointer = 3 << OFFSET_BITS | offset as u64 & ((1 << OFFSET_BITS) - 1);
            for len in [0, 1, 4, 63, 64] {
                for (scale, need) in [(1, 1), (4, 4), (4, 64), (12, 8)] {
                    for disp in [0, -8, 5] {
                        check(pointer, len, scale, disp, need);
                    }
                }
            }
        }
    }

    #[test]
    fn ends_of_the_type_are_respected() {
        let far = 1 << (OFFSET_BITS - 1); // the poison offset, far below zero
        assert_eq!(index_low(far, 1, 0, Ty::I32), i32::MAX as u64);
        assert_eq!(index_span(far, 100, 1, 0, 1, Ty::I32), 0);
        assert_eq!(index_low(0, 4, 8, Ty::U32), 0);
        assert_eq!(index_low(0, 4, 8, Ty::I32) as i32, -2);
        assert_eq!(index_span(0, u64::MAX >> 8, 1, 0, 1, Ty::I32), (1 << 31) - SPARE_INDICES as u64);
    }
}
