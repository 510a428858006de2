//! Copies of memory in pages, of which successive copies share those that have not changed.

use super::raw::copy_bytes;
use std::sync::{Arc, LazyLock};

/// Bytes of a page.
pub(crate) const PAGE: usize = 4096;

/// What pages hold that nothing was ever stored in: so they cost nothing.
static ZERO: LazyLock<Arc<[u8]>> = LazyLock::new(|| Arc::from([0; PAGE].as_slice()));

/// A copy of a range of memory. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pages {
    pages: Arc<[Arc<[u8]>]>,
}

impl Pages {
    /// A copy of `len` bytes. Pages that are the same in `previous` are shared with it.
    ///
    /// # Safety
    /// The bytes at `start` are valid for reads.
    pub unsafe fn copy(start: *const u8, len: usize, previous: Option<&Pages>) -> Pages {
        let known = previous.map_or(&[][..], |previous| &previous.pages);
        let mut buffer = [0; PAGE];
        // While every page is the same as before, there is nothing to be kept.
        let mut pages: Option<Vec<Arc<[u8]>>> = None;
        for (index, at) in (0..len).step_by(PAGE).enumerate() {
            let n = PAGE.min(len - at);
            // SAFETY: the caller's promise; `n` is at most the buffer's length.
            unsafe { copy_bytes(buffer.as_mut_ptr(), start.wrapping_add(at), n) };
            let same = known.get(index).filter(|page| ***page == buffer[..n]);
            if let (Some(_), None) = (same, &pages) {
                continue;
            }
            let pages = pages.get_or_insert_with(|| known[..index].to_vec());
            pages.push(match same {
                Some(page) => Arc::clone(page),
                None if **ZERO == buffer[..n] => Arc::clone(&ZERO),
                None => Arc::from(&buffer[..n]),
            });
        }
        let count = len.div_ceil(PAGE);
        match (pages, previous) {
            (Some(pages), _) => Pages { pages: pages.into() },
            (None, Some(previous)) if previous.pages.len() == count => previous.clone(),
            (None, _) => Pages { pages: known[..count].into() },
        }
    }

    /// Writes the bytes back to where they were copied from, or elsewhere.
    ///
    /// # Safety
    /// As many bytes as were copied are valid for writes at `start`.
    pub unsafe fn put(&self, start: *mut u8) {
        let mut at = start;
        for page in self.pages.iter() {
            // SAFETY: the caller's promise.
            unsafe { copy_bytes(at, page.as_ptr(), page.len()) };
            at = at.wrapping_add(page.len());
        }
    }

    /// Calls a function with every piece of memory that this copy holds: what it is known by, and its size in bytes.
    pub fn pieces(&self, visit: &mut impl FnMut(usize, usize) -> bool) {
        let list = size_of::<Arc<[u8]>>() * self.pages.len();
        // A list that has been counted has only pages that have been.
        if list > 0 && visit(self.pages.as_ptr() as usize, list) {
            for page in self.pages.iter().filter(|page| !Arc::ptr_eq(page, &ZERO)) {
                visit(page.as_ptr() as usize, page.len());
            }
        }
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn copy(bytes: &[u8], previous: Option<&Pages>) -> Pages {
        // SAFETY: a slice.
        unsafe { Pages::copy(bytes.as_ptr(), bytes.len(), previous) }
    }

    fn bytes(of: &[&Pages]) -> usize {
        let (mut seen, mut sum) = (HashSet::new(), 0);
        for pages in of {
            pages.pieces(&mut |at, n| {
                let new = seen.insert(at);
                sum += if new { n } else { 0 };
                new
            });
        }
        sum
    }

    #[test]
    fn copies_share_what_has_not_changed() {
        let mut memory: Vec<u8> = (0..3 * PAGE + 100).map(|i| (i / 7) as u8 | 1).collect();
        let first = copy(&memory, None);
        let same = copy(&memory, Some(&first));
        assert_eq!(bytes(&[&first, &same]), bytes(&[&first]));
        let before = memory.clone();
        memory[PAGE + 3] ^= 2;
        let second = copy(&memory, Some(&same));
        let list = 4 * size_of::<Arc<[u8]>>();
        assert_eq!(bytes(&[&first, &second]), bytes(&[&first]) + PAGE + list);
        let mut into = vec![0; memory.len()];
        // SAFETY: as long as what was copied.
        unsafe { second.put(into.as_mut_ptr()) };
        assert_eq!(into, memory);
        // SAFETY: likewise.
        unsafe { first.put(into.as_mut_ptr()) };
        assert_eq!(into, before);
    }

    #[test]
    fn lengths_may_differ_and_zero_costs_nothing() {
        let long = vec![0; 4 * PAGE];
        let zeros = copy(&long, None);
        assert!(bytes(&[&zeros]) < PAGE);
        let short = copy(&long[..PAGE + 1], Some(&zeros));
        let longer = copy(&long, Some(&short));
        let mut into = vec![1; 4 * PAGE];
        // SAFETY: as long as what was copied.
        unsafe { short.put(into.as_mut_ptr()) };
        assert_eq!(into.iter().filter(|&&b| b == 0).count(), PAGE + 1);
        // SAFETY: likewise.
        unsafe { longer.put(into.as_mut_ptr()) };
        assert_eq!(into, long);
        assert_eq!(bytes(&[&copy(&[], Some(&long_ones()))]), 0);
    }

    fn long_ones() -> Pages {
        copy(&vec![1; 2 * PAGE], None)
    }
}
