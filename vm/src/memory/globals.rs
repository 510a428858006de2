//! The memory of a program's globals. All machines of a module share it, and hosts look into it.

use super::block::{ALIGN, Block};
use super::{MAX_REGION_LEN, raw, refused};
use crate::program::{Global, GlobalId, Program};
use crate::trap::Trap;

/// The globals of a program in memory of their own. `extern` ones are not among them.
///
/// Programs, and hosts that were given an address, access it only by raw reads and writes.
pub struct Globals {
    block: Block,
    /// By global: its first byte in the block, and its size; `None` for those that the host supplies.
    places: Vec<Option<(usize, usize)>>,
}

impl Globals {
    /// The globals with their initial values. Traps `out_of_memory` if there is no memory for them.
    pub fn new(program: &Program) -> Result<Globals, Trap> {
        let own = program.globals.iter().filter(|global| !global.is_extern());
        let bytes = own.fold(0u64, |sum, global| sum.saturating_add(global.size));
        Globals::lay_out(program).ok_or_else(|| refused(bytes))
    }

    fn lay_out(program: &Program) -> Option<Globals> {
        let mut places = Vec::with_capacity(program.globals.len());
        let mut total = 0usize;
        for global in &program.globals {
            if global.is_extern() {
                places.push(None);
                continue;
            }
            let size = usize::try_from(global.size).ok().filter(|_| global.size < MAX_REGION_LEN)?;
            places.push(Some((total, size)));
            total = total.checked_add(size.checked_next_multiple_of(ALIGN)?)?;
        }
        let globals = Globals { block: Block::new(total)?, places };
        for (index, global) in program.globals.iter().enumerate() {
            globals.initialise(GlobalId(index as u32), global);
        }
        Some(globals)
    }

    fn initialise(&self, id: GlobalId, global: &Global) {
        let Some((base, size)) = self.place(id) else { return };
        let init = &global.init[..global.init.len().min(size)];
        // SAFETY: `init` is not longer than the global; the block is fresh memory, so they do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(init.as_ptr(), base, init.len()) };
        for &(offset, target) in &global.relocations {
            if offset.checked_add(8).is_some_and(|end| end <= size as u64) {
                // SAFETY: the eight bytes at `offset` are within the global.
                unsafe { raw::write(base.add(offset as usize), target.address()) };
            }
        }
    }

    /// Host address and size in bytes of a global; `None` if the host supplies it, or there is none.
    pub fn place(&self, id: GlobalId) -> Option<(*mut u8, usize)> {
        let (at, size) = (*self.places.get(id.0 as usize)?)?;
        // SAFETY: `at + size` is within the block by construction.
        Some((unsafe { self.block.start.as_ptr().add(at) }, size))
    }

    /// Size in bytes of all of them.
    pub fn bytes(&self) -> u64 {
        self.block.len as u64
    }
}
