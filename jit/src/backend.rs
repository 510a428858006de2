//! What runs regions: the trait that all back ends implement.

use crate::ir::{ExitId, Region};
use spmdvm_vm::interp::native::Context;
use std::sync::Arc;

/// Makes regions executable. Nothing above it knows of machine types, vector lengths or how masks are held.
pub trait Backend: Send + Sync {
    /// Its name, as `--engine` takes it.
    fn name(&self) -> &'static str;

    /// Compiles a verified region; the error says what the back end cannot do.
    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, String>;

    /// Compiles a region in less time, to code that is slower, if there is a way to and the region is so large that it pays.
    fn compile_baseline(&self, _region: &Arc<Region>) -> Option<Box<dyn Executable>> {
        None
    }
}

/// A region, ready to run. Its memory is freed with it.
pub trait Executable: Send + Sync {
    /// Runs the region and tells by which exit it was left. [`Context::words`] then holds the masks of the exit's frames (for
    /// each its execution mask, then `restore`, `other`, and `visiting` or 0 of every entry), and the registers that the exit
    /// names have been written to the frames.
    ///
    /// # Safety
    /// The context comes from a pause at the region's head (function and instruction), with as many mask entries as the
    /// region was made for; there is room for its frames; `words` and `counters` have room for what the region writes.
    unsafe fn run(&self, context: &mut Context) -> ExitId;

    /// Has runs of baseline code end at their next poll: there is better code now.
    fn retire(&self) {}

    /// Bytes of machine code.
    fn code_bytes(&self) -> usize {
        0
    }

    /// The machine code as text, if there is any and it can be shown.
    fn listing(&self) -> Option<String> {
        None
    }
}
