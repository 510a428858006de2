//! Checked memory operations on pointers of the sandbox: one call each, on operands in the scratch memory.

use super::translate::Translator;
use crate::ir::{Address, Inst, Kind};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use spmdvm_vm::types::{Ty, Width};
use std::sync::Arc;

/// A `LoadAny` or `StoreAny` as `runtime` executes it. Native code knows its address.
pub(super) struct Checked {
    /// The element type.
    pub ty: Ty,
    pub address: Address,
    pub varying_base: bool,
    pub varying_index: bool,
    /// Is there one value per lane?
    pub varying_value: bool,
    pub width: Width,
    /// Where the index and the elements lie in the scratch memory; the mask (a word) is at its start, the base at 16.
    pub index_at: usize,
    pub elements_at: usize,
}

/// Offset of the base.
pub(super) const BASE_AT: usize = 16;

impl Translator<'_> {
    /// Translates a checked load or store; gives the value that is 0 if it leaves by its exit.
    pub(super) fn checked(&mut self, inst: &Inst) -> clif::Value {
        let region = self.region;
        let (ty, address, value) = match inst.kind {
            Kind::LoadAny { ty, address, .. } => (ty, address, None),
            Kind::StoreAny { ty, address, .. } => (ty, address, Some(inst.args[inst.args.len() - 2])),
            _ => unreachable!("no checked access"),
        };
        let index = address.index.map(|_| inst.args[1]);
        let varying = |v: crate::ir::Value| region.ty(v).is_varying();
        let bytes = |size: usize| (self.lanes * size).next_multiple_of(16);
        let index_at = BASE_AT + bytes(8);
        let elements_at = index_at + bytes(8);
        let checked = Arc::new(Checked {
            ty,
            address,
            varying_base: varying(inst.args[0]),
            varying_index: index.is_some_and(varying),
            varying_value: value.or(inst.result).is_some_and(varying),
            width: region.width,
            index_at,
            elements_at,
        });
        // `Context::load` fills all lanes, whatever the shape of the result.
        let scratch = self.scratch(elements_at + bytes(ty.size()));
        // All operands are made before the first is stored: making one may need the scratch memory itself.
        let mask = self.mask_bits(inst.args[inst.args.len() - 1]);
        let mut stored = vec![(0, vec![mask]), (BASE_AT, self.in_memory(inst.args[0]))];
        stored.extend(index.map(|v| (index_at, self.in_memory(v))));
        stored.extend(value.map(|v| (elements_at, self.in_memory(v))));
        let memory = self.b.ins().stack_addr(types::I64, scratch, 0);
        let flags = MemFlagsData::trusted();
        for (at, pieces) in stored {
            for (i, piece) in pieces.into_iter().enumerate() {
                self.b.ins().store(flags, piece, memory, (at + 16 * i) as i32);
            }
        }
        let what = self.b.ins().iconst(types::I64, Arc::as_ptr(&checked) as i64);
        self.held.push(checked);
        let stub = if value.is_some() { self.stubs.store } else { self.stubs.load };
        let args = [self.context, what, memory];
        let done = self.call(stub, &args);
        if let Some(result) = inst.result {
            self.take_result(result, |t, of, i| t.b.ins().load(of, flags, memory, (elements_at + 16 * i) as i32));
        }
        done
    }
}
