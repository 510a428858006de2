//! From a region to something that runs, stage by stage.

use super::{Loaded, Target, emit, lower, moves, slots};
use crate::backend::{BackendStage, CompileError, Executable, stage};
use crate::ir::Region;
use regalloc2::{Algorithm, Ctx, RegallocOptions};
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// The register allocator's memory, kept from region to region.
    static ALLOCATOR: RefCell<Ctx> = RefCell::default();
}

/// Translates, compiles and loads a region.
pub fn compile<T: Target>(target: &T, region: &Arc<Region>) -> Result<Box<dyn Executable>, CompileError> {
    let (code, held) = stage(BackendStage::Selection, || lower::lower(target, region))?;
    let options =
        RegallocOptions { verbose_log: false, validate_ssa: cfg!(debug_assertions), algorithm: Algorithm::Ion };
    // Taken, so that none is left in disorder should the allocator panic.
    let mut allocator = ALLOCATOR.take();
    stage(BackendStage::RegisterAllocation, || {
        let output = regalloc2::run_with_ctx(&code, T::registers(), &options, &mut allocator);
        output.map_err(|e| CompileError::RegisterAllocation(format!("{e:?}")))?;
        moves::tidy(&code, &mut allocator.output, |inst| code.is_move(inst));
        slots::arrange(&code, &mut allocator.output);
        Ok(())
    })?;
    let emitted = stage(BackendStage::Emission, || emit::emit(target, &code, &allocator.output))?;
    ALLOCATOR.set(allocator);
    stage(BackendStage::Loading, || target.load(Loaded { emitted, held }))
}
