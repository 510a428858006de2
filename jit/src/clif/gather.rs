//! Gathers by indices of 32 bits.
//!
//! The indices go through memory: to load one from there is cheaper than to move it out of a vector, and the address
//! then needs no vectors of 64 bits. Inactive lanes take the index of the first active one, which may be read; where no lane is
//! active, all read the function's own memory. What inactive lanes have read is cleared in the end.

use super::plan::Grain;
use super::translate::Translator;
use crate::ir::{BlockId, Inst, Value};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types};
use spmdvm_vm::types::Ty;

/// Indices in memory that every lane may read at.
#[derive(Clone, Copy)]
pub(super) struct Indices {
    /// Where they were made, of which value, under which mask.
    of: (BlockId, Value, Value),
    /// Is a lane active? `None`: all are.
    any: Option<clif::Value>,
}

/// Can an address be made of a base and an index by an instruction's own addition?
pub(super) fn fits(index: Ty, scale: u32) -> bool {
    index.size() == 4 && matches!(scale, 1 | 2 | 4 | 8)
}

impl Translator<'_> {
    /// Translates a gather whose index [`fits`].
    pub(super) fn gather_indexed(&mut self, inst: &Inst, ty: Ty, index: Ty, scale: u32, result: Value) {
        let mask = inst.args[2];
        let slot = self.index_slot();
        let indices = self.indices(inst.args[1], mask, slot);
        let base = self.scalar(inst.args[0]);
        let base = match indices.any {
            None => base,
            Some(any) => {
                let own = self.own_memory(false);
                let own = self.b.ins().stack_addr(types::I64, own, 0);
                self.b.ins().select(any, base, own)
            }
        };
        // Floats as integers: these go from memory to a lane in fewer steps.
        let element = match ty {
            Ty::Bool => Ty::U8,
            Ty::F32 => Ty::I32,
            ty => ty,
        };
        let lanes = self.lanes;
        self.take_result(result, |t, of, i| {
            let n = 16 / ty.size();
            let x = t.gathered(element, i * n..((i + 1) * n).min(lanes), |t, l| {
                let at = t.b.ins().stack_addr(types::I64, slot, 4 * l as i32);
                let flags = MemFlagsData::trusted();
                let x =
                    if index.is_signed() { t.b.ins().sload32(flags, at, 0) } else { t.b.ins().uload32(flags, at, 0) };
                let x = t.b.ins().ishl_imm_u(x, scale.trailing_zeros() as i64);
                (t.b.ins().iadd(base, x), 0)
            });
            if indices.any.is_none() {
                return t.as_type(x, of);
            }
            let mask = t.mask(mask, Grain::of(ty.size()), i);
            let kind = t.b.func.dfg.value_type(mask);
            let x = t.as_type(x, kind);
            let x = t.b.ins().band(x, mask);
            t.as_type(x, of)
        });
    }

    fn index_slot(&mut self) -> StackSlot {
        let bytes = 16 * self.plan.pieces(4) as u32;
        *self.index_slot.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
        })
    }

    /// Writes the indices of a gather to memory, unless those of the last one, which are there, are the same.
    fn indices(&mut self, index: Value, mask: Value, slot: StackSlot) -> Indices {
        let of = (self.block, index, mask);
        if let Some(there) = self.indices.filter(|there| there.of == of) {
            return there;
        }
        let pieces: Vec<_> = (0..self.plan.pieces(4)).map(|i| self.piece(index, i)).collect();
        let all = self.known_bits(mask) == Some(self.region.width.full_mask());
        self.store_indices(slot, &pieces);
        let any = (!all).then(|| self.replace_inactive(mask, slot, &pieces));
        let made = Indices { of, any };
        self.indices = Some(made);
        made
    }

    fn store_indices(&mut self, slot: StackSlot, pieces: &[clif::Value]) {
        for (i, &x) in pieces.iter().enumerate() {
            self.stack_store(x, slot, 16 * i);
        }
    }

    /// Gives inactive lanes the index of the first active one, or 0 if there is none; and says whether there is one.
    fn replace_inactive(&mut self, mask: Value, slot: StackSlot, pieces: &[clif::Value]) -> clif::Value {
        let bits = self.mask_bits(mask);
        let any = self.b.ins().icmp_imm_s(IntCC::NotEqual, bits, 0);
        let first = self.b.ins().ctz(bits);
        let first = self.b.ins().band_imm_u(first, self.lanes as i64 - 1);
        let at = self.b.ins().ishl_imm_u(first, 2);
        let memory = self.b.ins().stack_addr(types::I64, slot, 0);
        let at = self.b.ins().iadd(memory, at);
        let first = self.b.ins().load(types::I32, MemFlagsData::trusted(), at, 0);
        let zero = self.b.ins().iconst(types::I32, 0);
        let first = self.b.ins().select(any, first, zero);
        let first = self.b.ins().splat(types::I32X4, first);
        let safe: Vec<_> = pieces
            .iter()
            .enumerate()
            .map(|(i, &x)| {
                let mask = self.mask(mask, Grain::of(4), i);
                self.blend(mask, x, first)
            })
            .collect();
        self.store_indices(slot, &safe);
        any
    }
}
