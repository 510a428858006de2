//! Copies of a whole memory, and going back to them: regions with their numbers and their bytes.

use super::block::Block;
use super::pages::Pages;
use super::table::{Region, TableImage};
use super::{Memory, refused};
use crate::sync::atomic::Ordering;
use crate::trap::{RegionKind, Trap};

/// What a memory was at some moment. Where programs cannot write, nothing is copied.
pub(crate) struct MemoryImage {
    table: TableImage,
    regions: Vec<RegionImage>,
    used: u64,
}

struct RegionImage {
    number: u32,
    region: Region,
    bytes: Option<Pages>,
}

impl MemoryImage {
    /// Calls a function with every piece of memory that the copy holds, as [`Pages::pieces`] does.
    pub fn pieces(&self, visit: &mut impl FnMut(usize, usize) -> bool) {
        let fixed = self.regions.len() * size_of::<RegionImage>() + self.table.bytes();
        visit(std::ptr::from_ref(self) as usize, fixed);
        self.regions.iter().filter_map(|region| region.bytes.as_ref()).for_each(|pages| pages.pieces(visit));
    }

    /// Bytes that programs could write when it was made: as much had to be looked at.
    pub fn extent(&self) -> u64 {
        self.regions.iter().filter(|of| of.bytes.is_some()).map(|of| of.region.len).sum()
    }
}

impl Memory {
    /// A copy of all that programs can write, which shares with the previous one what is the same. Nothing else accesses
    /// this memory now.
    pub(crate) fn image(&self, previous: Option<&MemoryImage>) -> MemoryImage {
        let before = previous.map_or(&[][..], |previous| &previous.regions);
        let copy = |(number, region): (u32, Region)| {
            let known = before.binary_search_by_key(&number, |of| of.number).ok();
            let known = known.and_then(|at| before[at].bytes.as_ref());
            // SAFETY: the bytes of a live region are valid for reads.
            let bytes = region.writable.then(|| unsafe { Pages::copy(region.base, region.len as usize, known) });
            RegionImage { number, region, bytes }
        };
        let regions = self.table.live_numbers().map(copy).collect();
        MemoryImage { table: self.table.image(), regions, used: self.used.load(Ordering::Relaxed) }
    }

    /// Goes back to a copy of this memory. Traps `out_of_memory`, and then is unchanged, if the host has none for what has
    /// been freed since.
    ///
    /// # Safety
    /// The memory of frames that were live when the copy was made is still there (or again) and is not used for anything
    /// else. Host arrays and globals are those of then. Nothing else accesses this memory now.
    pub(crate) unsafe fn restore(&self, image: &MemoryImage) -> Result<(), Trap> {
        let is_heap = |region: &Region| region.kind == RegionKind::Heap;
        let live: Vec<(u32, Region)> = self.table.live_numbers().filter(|(_, region)| is_heap(region)).collect();
        let find = |number: u32, len: u64| {
            let at = live.binary_search_by_key(&number, |&(number, _)| number).ok()?;
            (live[at].1.len == len).then_some(live[at].1.base)
        };
        let mut made = Vec::new();
        let mut regions = Vec::with_capacity(image.regions.len());
        for of in &image.regions {
            let mut region = of.region;
            if is_heap(&region) {
                region.base = match find(of.number, region.len) {
                    Some(base) => base,
                    None => {
                        made.push(Block::new(region.len as usize).ok_or_else(|| refused(region.len))?);
                        made[made.len() - 1].start.as_ptr()
                    }
                };
            }
            regions.push((of.number, region));
        }
        for block in made {
            block.leak();
        }
        let kept = |number: u32, len: u64| {
            let at = regions.binary_search_by_key(&number, |&(number, _)| number);
            at.is_ok_and(|at| is_heap(&regions[at].1) && regions[at].1.len == len)
        };
        for &(_, region) in live.iter().filter(|(number, region)| !kept(*number, region.len)) {
            // SAFETY: a live heap region is a leaked block of this length, and the table forgets it below.
            drop(unsafe { Block::reclaim(region.base, region.len as usize) });
        }
        self.table.restore(&image.table, &regions);
        for (of, &(_, region)) in image.regions.iter().zip(&regions) {
            if let Some(bytes) = &of.bytes {
                // SAFETY: the region is live again, and as long as the copy.
                unsafe { bytes.put(region.base) };
            }
        }
        self.used.store(image.used, Ordering::Relaxed);
        Ok(())
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use super::*;
    use crate::memory::{Globals, RegionName, region_of};
    use crate::program::Program;
    use std::sync::Arc;

    fn memory() -> Memory {
        let program = Program::default();
        let globals = Arc::new(Globals::new(&program).unwrap());
        Memory::new(&program, globals, 1 << 20).unwrap()
    }

    fn byte(memory: &Memory, pointer: u64) -> Option<u8> {
        let mut into = [0];
        memory.read_bytes(pointer, &mut into).then_some(into[0])
    }

    #[test]
    fn regions_come_back_under_their_numbers() {
        let memory = memory();
        let mut host = [1u8; 40];
        // SAFETY: the array outlives the memory.
        let array = unsafe { memory.map_host(host.as_mut_ptr(), 40, true, RegionName::NONE) }.unwrap();
        let [a, b] = [100, 200].map(|bytes| memory.allocate(bytes).unwrap());
        memory.write_bytes(a, &[5]);
        let available = memory.available();
        let image = memory.image(None);
        memory.write_bytes(a, &[6]);
        memory.write_bytes(b, &[7]);
        memory.write_bytes(array, &[8]);
        assert!(memory.free(a));
        let c = memory.allocate(300).unwrap();
        // SAFETY: there are no frames; the array is still there.
        unsafe { memory.restore(&image) }.unwrap();
        assert_eq!([a, b, c, array].map(|at| byte(&memory, at)), [Some(5), Some(0), None, Some(1)]);
        assert_eq!(memory.available(), available);
        // Numbers are handed out as they were.
        assert_eq!(memory.allocate(300).unwrap(), c);
        assert!(memory.free(a));
    }

    #[test]
    fn chunks_of_the_table_come_back() {
        let memory = memory();
        let first = memory.allocate(8).unwrap();
        let image = memory.image(None);
        let mut last = 0;
        for _ in 0..10_000 {
            last = memory.allocate(8).unwrap();
            memory.free(last);
        }
        memory.free(first);
        for _ in 0..2 {
            // SAFETY: there are neither frames nor arrays.
            unsafe { memory.restore(&image) }.unwrap();
            assert_eq!(byte(&memory, first), Some(0));
            for _ in 0..9_999 {
                memory.free(memory.allocate(8).unwrap());
            }
            assert_eq!(region_of(memory.allocate(8).unwrap()), region_of(last));
            assert!(memory.free(first));
        }
    }
}
