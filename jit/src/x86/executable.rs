//! Memory for code: never writable and executable at once, freed when it is dropped.

use crate::backend::CompileError;
use memmap2::{Mmap, MmapMut};

/// Bytes that can be executed.
pub(super) struct Memory {
    map: Mmap,
    len: usize,
}

impl Memory {
    /// A copy of bytes, ready to be executed.
    pub fn new(bytes: &[u8]) -> Result<Memory, CompileError> {
        let no_memory = |e: std::io::Error| CompileError::NoMemory(e.to_string());
        let mut map = MmapMut::map_anon(bytes.len().max(1)).map_err(no_memory)?;
        map[..bytes.len()].copy_from_slice(bytes);
        Ok(Memory { map: map.make_exec().map_err(no_memory)?, len: bytes.len() })
    }

    /// The address of a byte.
    pub fn address(&self, at: usize) -> *const u8 {
        self.bytes()[at..].as_ptr()
    }

    pub fn bytes(&self) -> &[u8] {
        &self.map[..self.len]
    }
}
