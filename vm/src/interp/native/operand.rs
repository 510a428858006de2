//! Memory operations on pointers of the sandbox, checked, as native code calls them.

use super::Context;
use crate::interp::lanes::lanes_of;
use crate::memory::{offset_of, region_of};
use crate::trap::Access;
use crate::types::Ty;
use std::mem::MaybeUninit;

/// A memory operand of [`Context::load`] and [`Context::store`]: `base + index * scale + disp`, plus `lane * size` if `by_lane`.
#[derive(Clone, Copy, Debug)]
pub struct Operand {
    /// The element type.
    pub ty: Ty,
    /// Bases: one word, or one per lane.
    pub base: *const u64,
    /// Whether there is one base per lane.
    pub varying_base: bool,
    /// The index's type, if there is one.
    pub index_ty: Option<Ty>,
    /// Indices: one, or one per lane.
    pub index: *const u8,
    /// Whether there is one index per lane.
    pub varying_index: bool,
    /// What the index is multiplied by.
    pub scale: u32,
    /// Displacement.
    pub disp: i64,
    /// Whether lanes lie one after another.
    pub by_lane: bool,
}

impl Operand {
    /// Pointer and offset of a lane; none where the sum has more than 64 bits.
    ///
    /// # Safety
    /// `base` and `index` point to as many values as the flags say.
    #[inline(always)]
    unsafe fn offset(&self, lane: usize) -> Option<(u64, i64)> {
        // SAFETY: the caller's promise.
        let (base, index) = unsafe {
            let base = self.base.add(if self.varying_base { lane } else { 0 }).read();
            let at = if self.varying_index { lane } else { 0 };
            let index = match self.index_ty {
                None => 0,
                Some(Ty::I32) => self.index.cast::<i32>().add(at).read_unaligned().into(),
                Some(Ty::U32) => self.index.cast::<u32>().add(at).read_unaligned().into(),
                Some(Ty::I64) => self.index.cast::<i64>().add(at).read_unaligned(),
                Some(_) => i64::try_from(self.index.cast::<u64>().add(at).read_unaligned()).ok()?,
            };
            (base, index)
        };
        let lanes = if self.by_lane { (lane * self.ty.size()) as i64 } else { 0 };
        let at = index.checked_mul(self.scale.into())?.checked_add(self.disp)?;
        Some((base, at.checked_add(offset_of(base) + lanes)?))
    }
}

impl Context {
    /// Hands out the host address of every active lane's element, lane by lane, until one may not be accessed. Returns whether all may
    /// be.
    ///
    /// # Safety
    /// As for [`Operand`]'s fields.
    #[inline(always)]
    unsafe fn each_address(
        &mut self,
        operand: &Operand,
        mask: u64,
        access: Access,
        mut each: impl FnMut(usize, *mut u8),
    ) -> bool {
        let memory = &self.thread().memory;
        let size = operand.ty.size() as u64;
        // Lanes beside one another often point into one region.
        let (mut number, mut region) = (u32::MAX, (std::ptr::null_mut(), 0));
        for lane in lanes_of(mask) {
            // SAFETY: the caller's promise.
            let Some((base, offset)) = (unsafe { operand.offset(lane) }) else { return false };
            if region_of(base) != number {
                (number, region) = (region_of(base), memory.region(base, access));
            }
            // A negative offset is a huge number.
            let (start, len) = region;
            if len < size || offset as u64 > len - size {
                return false;
            }
            each(lane, start.wrapping_add(offset as usize));
        }
        true
    }

    /// The first active lane, how many there are from it to the last one, and the host address of its element; if lanes lie one after
    /// another, and all elements from the first to the last may be accessed. That is the last gang of a loop over an array.
    ///
    /// # Safety
    /// As for [`Operand`]'s fields.
    #[inline(always)]
    unsafe fn row(&mut self, operand: &Operand, mask: u64, access: Access) -> Option<(usize, usize, *mut u8)> {
        if !operand.by_lane || operand.varying_base || operand.varying_index || mask == 0 {
            return None;
        }
        let (first, last) = (mask.trailing_zeros() as usize, mask.ilog2() as usize);
        let n = last - first + 1;
        // SAFETY: the caller's promise.
        let (base, offset) = unsafe { operand.offset(first) }?;
        let (start, len) = self.thread().memory.region(base, access);
        // A negative offset is a huge number.
        let room = len.checked_sub((n * operand.ty.size()) as u64)?;
        (offset as u64 <= room).then(|| (first, n, start.wrapping_add(offset as usize)))
    }

    /// Loads the elements of the active lanes into `to`, lane after lane (inactive ones give 0); or, if an active lane may
    /// not read, gives `false`, and `to` holds anything.
    ///
    /// # Safety
    /// As for [`Operand`]'s fields; `to` has room for all lanes.
    pub unsafe fn load(&mut self, operand: &Operand, mask: u64, to: *mut u8) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match operand.ty.size() {
                1 => self.load_elements::<1>(operand, mask, to),
                2 => self.load_elements::<2>(operand, mask, to),
                4 => self.load_elements::<4>(operand, mask, to),
                _ => self.load_elements::<8>(operand, mask, to),
            }
        }
    }

    /// [`load`](Self::load), of elements of `SIZE` bytes.
    ///
    /// # Safety
    /// As for that.
    unsafe fn load_elements<const SIZE: usize>(&mut self, operand: &Operand, mask: u64, to: *mut u8) -> bool {
        let lanes = self.thread().lanes;
        let to = to.cast::<[u8; SIZE]>();
        // SAFETY: the caller's promise; addresses have been checked.
        unsafe {
            if mask.count_ones() as usize != lanes {
                std::ptr::write_bytes(to, 0, lanes);
            }
            let copy = |lane, from: *mut u8| to.add(lane).write(from.cast::<[u8; SIZE]>().read());
            match self.row(operand, mask, Access::Read) {
                Some((first, n, from)) if mask.count_ones() as usize == n => {
                    std::ptr::copy_nonoverlapping(from.cast::<[u8; SIZE]>(), to.add(first), n);
                }
                Some((first, _, from)) => {
                    lanes_of(mask).for_each(|lane| copy(lane, from.wrapping_add((lane - first) * SIZE)));
                }
                None if !self.each_address(operand, mask, Access::Read, copy) => return false,
                None => {}
            }
            if operand.ty == Ty::Bool {
                for lane in lanes_of(mask) {
                    let truth = to.add(lane).cast::<u8>();
                    *truth = (*truth != 0) as u8;
                }
            }
        }
        true
    }

    /// Stores the elements of the active lanes, ascending; or, if an active lane may not write, does nothing and gives
    /// `false`. `from` holds one element, or one per lane.
    ///
    /// # Safety
    /// As for [`Operand`]'s fields and `from`.
    pub unsafe fn store(&mut self, operand: &Operand, mask: u64, from: *const u8, varying: bool) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match operand.ty.size() {
                1 => self.store_elements::<1>(operand, mask, from, varying),
                2 => self.store_elements::<2>(operand, mask, from, varying),
                4 => self.store_elements::<4>(operand, mask, from, varying),
                _ => self.store_elements::<8>(operand, mask, from, varying),
            }
        }
    }

    /// [`store`](Self::store), of elements of `SIZE` bytes.
    ///
    /// # Safety
    /// As for that.
    unsafe fn store_elements<const SIZE: usize>(
        &mut self,
        operand: &Operand,
        mask: u64,
        from: *const u8,
        varying: bool,
    ) -> bool {
        let from = from.cast::<[u8; SIZE]>();
        // SAFETY: the caller's promise; all elements that are written may be.
        unsafe {
            if let Some((first, n, to)) = self.row(operand, mask, Access::Write) {
                let to = to.cast::<[u8; SIZE]>();
                if varying && mask.count_ones() as usize == n {
                    std::ptr::copy_nonoverlapping(from.add(first), to, n);
                } else {
                    let element = |lane| from.add(if varying { lane } else { 0 }).read();
                    lanes_of(mask).for_each(|lane| to.add(lane - first).write(element(lane)));
                }
                return true;
            }
        }
        let mut addresses = [const { MaybeUninit::<*mut u8>::uninit() }; 64];
        // SAFETY: the caller's promise; addresses have been checked, and those of active lanes have been written.
        unsafe {
            let note = |lane: usize, to| {
                addresses[lane].write(to);
            };
            if !self.each_address(operand, mask, Access::Write, note) {
                return false;
            }
            for lane in lanes_of(mask) {
                let element = from.add(if varying { lane } else { 0 }).read();
                addresses[lane].assume_init().cast::<[u8; SIZE]>().write(element);
            }
        }
        true
    }
}
