//! Indices in bounds, as machine code computes them: in words.

use spmdvm_vm::types::Ty;

/// Displacements below this cannot make an offset wrap.
const FARTHEST: u64 = 1 << 62;

/// Returns whether all can be computed in words.
pub(crate) fn has_code(disp: i64) -> bool {
    disp.unsigned_abs() < FARTHEST
}

/// Least and greatest index of a type, as far as a word has them: no region is as large.
pub(crate) fn ends(ty: Ty) -> (i64, i64) {
    match ty {
        Ty::I32 => (i32::MIN as i64, i32::MAX as i64),
        Ty::U32 => (0, u32::MAX as i64),
        Ty::I64 => (i64::MIN, i64::MAX),
        _ => (0, i64::MAX),
    }
}
