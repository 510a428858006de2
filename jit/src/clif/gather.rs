//! Gathers by indices of 32 bits.
//!
//! The indices go through memory: to load one from there is cheaper than to move it out of a vector, and the address
//! then needs no vectors of 64 bits. Inactive lanes take an index that may be read if any may: the least of the region, where it
//! is at hand, or else that of the first active lane. Where no lane is active, nothing is read. What inactive lanes have read is
//! cleared in the end.

use super::plan::{Definition, Grain};
use super::translate::Translator;
use crate::ir::{BlockId, End, Inst, Kind, Value};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types};
use spmdvm_vm::types::Ty;

/// Indices in memory that every lane may read at.
#[derive(Clone, Copy)]
pub(super) struct Indices {
    /// Where they were made, of which value, under which mask, and the index that inactive lanes take.
    of: (BlockId, Value, Value, Option<Value>),
    active: Active,
}

/// How many lanes of a gather are active?
#[derive(Clone, Copy)]
enum Active {
    All,
    Some,
    /// At least one if this is not 0.
    Perhaps(clif::Value),
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
        let least = self.least_index(inst.args[0], index, scale);
        let indices = self.indices(inst.args[1], mask, least, slot);
        let base = self.scalar(inst.args[0]);
        let any = match indices.active {
            Active::All | Active::Some => base,
            Active::Perhaps(any) => any,
        };
        let pieces = self.computed_if(any, |t| {
            t.gathered(ty, |t, l| {
                let at = t.b.ins().stack_addr(types::I64, slot, 4 * l as i32);
                let flags = MemFlagsData::trusted();
                let x =
                    if index.is_signed() { t.b.ins().sload32(flags, at, 0) } else { t.b.ins().uload32(flags, at, 0) };
                let x = t.b.ins().ishl_imm_u(x, scale.trailing_zeros() as i64);
                (t.b.ins().iadd(base, x), 0)
            })
        });
        self.take_result(result, |t, of, i| {
            if let Active::All = indices.active {
                return pieces[i];
            }
            let mask = t.mask(mask, Grain::of(ty.size()), i);
            let kind = t.b.func.dfg.value_type(mask);
            let x = t.as_type(pieces[i], kind);
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

    /// The least index in bounds for a base, if it is at hand: where there is an index in bounds at all, this one is.
    fn least_index(&self, base: Value, index: Ty, scale: u32) -> Option<Value> {
        let address = self.definition_of(base)?;
        let Kind::HostAddress { disp } = address.kind else { return None };
        let least = Kind::IndexLow { scale, disp, ty: index };
        let home = match self.plan.definition(base) {
            Definition::Inst(block, _) => self.region.block(block),
            _ => return None,
        };
        // Both depend on the pointer alone, so they have been moved to the same block.
        let least = home.insts.iter().find(|inst| inst.kind == least && inst.args == address.args)?.result?;
        (self.homes.is_on_stack(least) || self.made(self.plan.scalar_slot(least)).is_some()).then_some(least)
    }

    /// Has the block been entered because a lane of a mask was active?
    fn is_some(&self, mask: Value) -> bool {
        let mut block = self.block;
        while block != BlockId(0) {
            let parent = self.plan.dominators.parent(block);
            if let End::Branch { cond, then, other } = &self.region.block(parent).end
                && then.to == block
                && other.to != block
                && self.plan.ways_into(block) == 1
                && self.definition_of(*cond).is_some_and(|c| c.kind == Kind::AnyLane && c.args[0] == mask)
            {
                return true;
            }
            block = parent;
        }
        false
    }

    /// Writes the indices of a gather to memory, unless those of the last one, which are there, are the same.
    fn indices(&mut self, index: Value, mask: Value, least: Option<Value>, slot: StackSlot) -> Indices {
        let of = (self.block, index, mask, least);
        if let Some(there) = self.indices.filter(|there| there.of == of) {
            return there;
        }
        let pieces: Vec<_> = (0..self.plan.pieces(4)).map(|i| self.piece(index, i)).collect();
        let active = self.active(mask);
        match (active, least) {
            (Active::All, _) => self.store_indices(slot, &pieces),
            (_, Some(least)) => {
                let least = self.scalar(least);
                self.store_readable(mask, slot, &pieces, least);
            }
            (_, None) => {
                self.store_indices(slot, &pieces);
                let first = self.first_active(mask, slot);
                self.store_readable(mask, slot, &pieces, first);
            }
        }
        let made = Indices { of, active };
        self.indices = Some(made);
        made
    }

    fn active(&mut self, mask: Value) -> Active {
        if self.known_bits(mask) == Some(self.region.width.full_mask()) {
            Active::All
        } else if self.is_some(mask) {
            Active::Some
        } else {
            Active::Perhaps(self.any_lane(mask))
        }
    }

    fn store_indices(&mut self, slot: StackSlot, pieces: &[clif::Value]) {
        for (i, &x) in pieces.iter().enumerate() {
            self.stack_store(x, slot, 16 * i);
        }
    }

    /// The index of the first active lane, of those in memory; if there is none, any.
    fn first_active(&mut self, mask: Value, slot: StackSlot) -> clif::Value {
        let bits = self.mask_bits(mask);
        let first = self.b.ins().ctz(bits);
        let first = self.b.ins().band_imm_u(first, self.lanes as i64 - 1);
        let at = self.b.ins().ishl_imm_u(first, 2);
        let memory = self.b.ins().stack_addr(types::I64, slot, 0);
        let at = self.b.ins().iadd(memory, at);
        self.b.ins().load(types::I32, MemFlagsData::trusted(), at, 0)
    }

    /// Writes indices to memory; inactive lanes take one that may be read.
    fn store_readable(&mut self, mask: Value, slot: StackSlot, pieces: &[clif::Value], readable: clif::Value) {
        let readable = self.b.ins().splat(types::I32X4, readable);
        for (i, &x) in pieces.iter().enumerate() {
            let mask = self.mask(mask, Grain::of(4), i);
            let safe = self.blend(mask, x, readable);
            self.stack_store(safe, slot, 16 * i);
        }
    }
}
