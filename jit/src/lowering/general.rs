//! Instructions that the runtime executes by their meaning.

use crate::backend::CompileError;
use crate::exec_ir::meaning::Meaning;
use crate::ir::{Inst, Region};

/// An instruction as the runtime executes it. Native code knows its address.
pub(crate) struct General {
    pub meaning: Meaning,
    pub operands: Vec<Operand>,
    /// Offset of the result in the scratch memory.
    pub result_at: usize,
    /// Bytes of scratch memory that it needs.
    pub bytes: usize,
    /// Whether operands and result are uniform.
    pub is_uniform: bool,
}

/// An operand in the scratch memory.
pub(crate) struct Operand {
    /// Byte offset.
    pub at: usize,
    /// Number of elements.
    pub lanes: usize,
}

impl General {
    /// An instruction of a region, which has been found to have a meaning.
    pub fn of(region: &Region, inst: &Inst) -> Result<General, CompileError> {
        let meaning = Meaning::of(region, inst)?;
        let mut at = 0;
        let mut operands = Vec::with_capacity(inst.args.len());
        for ty in &meaning.args {
            let lanes = if ty.is_varying() { region.width.lanes() } else { 1 };
            operands.push(Operand { at, lanes });
            at += bytes(lanes, ty.ty.size());
        }
        let is_uniform = meaning.args.iter().chain(&meaning.result).all(|ty| !ty.is_varying());
        let mut general = General { meaning, operands, result_at: at, bytes: at, is_uniform };
        general.bytes += general.result_bytes();
        Ok(general)
    }

    /// Bytes of the result in the scratch memory.
    pub fn result_bytes(&self) -> usize {
        self.meaning.result.map_or(0, |ty| bytes(self.meaning.result_lanes(), ty.ty.size()))
    }
}

/// Bytes of elements in the scratch memory: whole vectors, so that they are written and read as such.
fn bytes(lanes: usize, size: usize) -> usize {
    (lanes * size).next_multiple_of(16)
}
