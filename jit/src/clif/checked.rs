//! Checked memory operations on pointers of the sandbox: one call each, on operands in the scratch memory.

use super::translate::Translator;
use crate::ir::Inst;
use crate::lowering::{BASE_AT, Checked};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, types};
use std::sync::Arc;

impl Translator<'_> {
    /// Translates a checked load or store; gives the value that is 0 if it leaves by its exit.
    pub(super) fn checked(&mut self, inst: &Inst) -> clif::Value {
        let (checked, index, value) = Checked::of(self.region, inst).expect("a checked access");
        let (index_at, elements_at) = (checked.index_at, checked.elements_at);
        let scratch = self.scratch(checked.bytes());
        let checked = Arc::new(checked);
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
