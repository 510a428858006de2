//! Checked memory operations on pointers of the sandbox.

use crate::backend::CompileError;
use crate::ir::{Address, Inst, Kind, Region, Value};
use spmdvm_vm::types::{Ty, Width};

/// A `LoadAny` or `StoreAny` as the runtime executes it. Native code knows its address.
pub(crate) struct Checked {
    /// The element type.
    pub ty: Ty,
    pub address: Address,
    pub varying_base: bool,
    pub varying_index: bool,
    /// Whether there is one value per lane.
    pub varying_value: bool,
    pub width: Width,
    /// Where the index and the elements lie in the scratch memory; the mask (a word) is at its start, the base at 16.
    pub index_at: usize,
    pub elements_at: usize,
}

/// Offset of the base.
pub(crate) const BASE_AT: usize = 16;

impl Checked {
    /// An access of a region: how it lies in memory, its index, and what it stores.
    pub fn of(region: &Region, inst: &Inst) -> Result<(Checked, Option<Value>, Option<Value>), CompileError> {
        let (ty, address, value) = match inst.kind {
            Kind::LoadAny { ty, address, .. } => (ty, address, None),
            Kind::StoreAny { ty, address, .. } => (ty, address, Some(inst.args[inst.args.len() - 2])),
            _ => return Err(CompileError::Unsupported(inst.kind)),
        };
        let index = address.index.map(|_| inst.args[1]);
        let varying = |v: Value| region.ty(v).is_varying();
        let bytes = (region.width.lanes() * 8).next_multiple_of(16);
        let index_at = BASE_AT + bytes;
        let checked = Checked {
            ty,
            address,
            varying_base: varying(inst.args[0]),
            varying_index: index.is_some_and(varying),
            varying_value: value.or(inst.result).is_some_and(varying),
            width: region.width,
            index_at,
            elements_at: index_at + bytes,
        };
        Ok((checked, index, value))
    }

    /// Bytes of scratch memory that the access needs. The runtime fills all lanes, whatever the shape of the result.
    pub fn bytes(&self) -> usize {
        self.elements_at + (self.width.lanes() * self.ty.size()).next_multiple_of(16)
    }
}
