//! Values that pass between hosts and programs.

use super::code::RegSlot;
use super::lanes::{MAX_LANES, lane, set_lane};
use crate::dispatch_type;
use crate::sem::Scalar;
use crate::types::{Shape, Ty};

/// An argument of [`Machine::call`](super::Machine::call).
#[derive(Clone, Copy, Debug)]
pub enum Arg<'a> {
    /// A scalar, as the bits in a word. For a varying parameter: the same value in every lane.
    Word(u64),
    /// One word per lane; lanes that are missing are 0. For a uniform parameter: the first.
    Words(&'a [u64]),
    /// Elements of the parameter's type, lane after lane, in the byte order of the machine; lanes that are missing are 0.
    Bytes(&'a [u8]),
}

/// A copy of a register's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneValues {
    /// The element type.
    pub ty: Ty,
    /// One value, or one per lane.
    pub shape: Shape,
    /// The bits of each lane; one word if uniform.
    pub words: Vec<u64>,
}

/// Reads one lane as a word.
///
/// # Safety
/// `at` is a register of this type, with that lane (uniform registers have lane 0).
#[inline]
pub(crate) unsafe fn read_word(at: *const u8, ty: Ty, l: usize) -> u64 {
    // SAFETY: the caller's promise.
    dispatch_type!(SCALAR, ty, T => unsafe { lane::<T>(at, l) }.to_word()).unwrap_or(0)
}

/// Writes one lane from a word.
///
/// # Safety
/// As for [`read_word`].
#[inline]
pub(crate) unsafe fn write_word(at: *mut u8, ty: Ty, l: usize, bits: u64) {
    // SAFETY: the caller's promise.
    dispatch_type!(SCALAR, ty, T => unsafe { set_lane(at, l, T::from_word(bits)) });
}

/// Writes an argument into a parameter's register.
///
/// # Safety
/// `base + slot` is a register of the slot's type and shape, for a gang of `lanes` lanes.
pub(crate) unsafe fn write_arg(base: *mut u8, slot: &RegSlot, lanes: usize, arg: &Arg<'_>) {
    let at = base.wrapping_add(slot.at as usize);
    let n = if slot.shape == Shape::Uniform { 1 } else { lanes };
    let size = slot.ty.size();
    // SAFETY: lanes below `n` are the register's.
    unsafe {
        match *arg {
            Arg::Word(word) => (0..n).for_each(|l| write_word(at, slot.ty, l, word)),
            Arg::Words(words) => {
                (0..n).for_each(|l| write_word(at, slot.ty, l, words.get(l).copied().unwrap_or(0)));
            }
            Arg::Bytes(bytes) => {
                let given = &bytes[..bytes.len().min(n * size)];
                std::ptr::write_bytes(at, 0, n * size);
                std::ptr::copy_nonoverlapping(given.as_ptr(), at, given.len());
                if slot.ty == Ty::Bool {
                    // Any byte but 0 is true.
                    (0..n).for_each(|l| write_word(at, Ty::Bool, l, *at.add(l) as u64));
                }
            }
        }
    }
}

/// The value of a register.
///
/// # Safety
/// `base + slot` is a register of the slot's type and shape, for a gang of `lanes` lanes.
pub(crate) unsafe fn read_lanes(base: *const u8, slot: &RegSlot, lanes: usize) -> LaneValues {
    let n = if slot.shape == Shape::Uniform { 1 } else { lanes.min(MAX_LANES) };
    let at = base.wrapping_add(slot.at as usize);
    // SAFETY: lanes below `n` are the register's.
    let words = (0..n).map(|l| unsafe { read_word(at, slot.ty, l) }).collect();
    LaneValues { ty: slot.ty, shape: slot.shape, words }
}
