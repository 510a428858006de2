//! Gathers by indices of 32 bits.
//!
//! The indices go through memory: to load one from there is cheaper than to move it out of a vector, and the address
//! then needs no vectors of 64 bits. Inactive lanes take an index that may be read if any may: the least of the region, where it
//! is at hand, or else that of the first active lane. Where no lane is active, nothing is read. What inactive lanes have read is
//! cleared in the end.

use super::lanes::Assembly;
use super::plan::{Definition, Grain};
use super::translate::Translator;
use crate::ir::{BlockId, Edge, End, Inst, Kind, Value};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, types};
use spmdvm_vm::types::Ty;

/// Most gathers that are translated together: each needs a register for its base.
const MOST: usize = 3;

/// A gather.
#[derive(Clone, Copy)]
struct Gather {
    ty: Ty,
    base: Value,
    /// The index, and its type.
    at: Value,
    index: Ty,
    scale: u32,
    result: Value,
}

impl Gather {
    /// An instruction, if it is a gather whose index fits.
    fn of(inst: &Inst, result: Value) -> Option<Gather> {
        let Kind::Gather { ty, index, scale } = inst.kind else { return None };
        fits(index, scale).then(|| Gather { ty, base: inst.args[0], at: inst.args[1], index, scale, result })
    }
}

/// Indices in memory that every lane may read at.
#[derive(Clone)]
pub(super) struct Indices {
    /// Where they were made, of which value, under which mask.
    of: (BlockId, Value, Value),
    /// The indices of which inactive lanes take the greatest.
    least: Vec<Value>,
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
    /// Translates a gather whose index [`fits`], together with those after it that have the same.
    pub(super) fn gather_indexed(&mut self, inst: &Inst, result: Value) {
        let Some(first) = Gather::of(inst, result) else { return };
        if first.ty != Ty::Bool && self.made(self.plan.piece_slot(result, 0)).is_some() {
            return;
        }
        let (mask, slot) = (inst.args[2], self.index_slot());
        let group = self.like(inst, first);
        let least: Option<Vec<Value>> = group.iter().map(|g| self.least_index(g)).collect();
        let indices = self.indices(&first, mask, least.unwrap_or_default(), slot);
        let bases: Vec<_> = group.iter().map(|g| self.scalar(g.base)).collect();
        let any = match indices.active {
            Active::All | Active::Some => bases[0],
            Active::Perhaps(any) => any,
        };
        let made = self.computed_if(any, |t| {
            let mut vectors: Vec<_> = group.iter().map(|g| Assembly::new(g.ty, t.lanes)).collect();
            for l in 0..t.lanes {
                let index = t.index_in_memory(slot, first.index, l);
                for ((g, &base), vector) in group.iter().zip(&bases).zip(&mut vectors) {
                    let x = t.b.ins().ishl_imm_u(index, g.scale.trailing_zeros() as i64);
                    let address = t.b.ins().iadd(base, x);
                    vector.add(t, l, address, 0);
                }
            }
            vectors.into_iter().flat_map(|v| v.finish(t)).collect()
        });
        let mut made = made.into_iter();
        for g in group {
            let pieces: Vec<_> = made.by_ref().take(self.plan.pieces(g.ty.size())).collect();
            self.take_result(g.result, |t, of, i| match indices.active {
                Active::All => pieces[i],
                _ => t.cleared(pieces[i], of, mask, i),
            });
        }
    }

    /// A gather, and those that follow it with the same index and mask, with nothing but pure instructions between.
    fn like(&self, inst: &Inst, first: Gather) -> Vec<Gather> {
        let mut group = vec![first];
        let Definition::Inst(block, at) = self.plan.definition(first.result) else { return group };
        let is_before = |v: Value| !matches!(self.plan.definition(v), Definition::Inst(b, i) if b == block && i > at);
        for next in &self.region.block(block).insts[at + 1..] {
            let gather = next.result.and_then(|v| Gather::of(next, v));
            match gather.filter(|_| next.args[1..] == inst.args[1..]) {
                Some(g) if g.index == first.index && g.ty != Ty::Bool && is_before(g.base) && group.len() < MOST => {
                    if self.plan.is_used(g.result) && first.ty != Ty::Bool {
                        group.push(g);
                    }
                }
                _ if next.kind.is_pure() || gather.is_some() => {}
                _ => break,
            }
        }
        group
    }

    /// A piece of what a gather has read, with zeros in inactive lanes.
    fn cleared(&mut self, x: clif::Value, ty: clif::Type, mask: Value, i: usize) -> clif::Value {
        let mask = self.mask(mask, Grain::of(ty.lane_bits() as usize / 8), i);
        let kind = self.b.func.dfg.value_type(mask);
        let x = self.as_type(x, kind);
        let x = self.b.ins().band(x, mask);
        self.as_type(x, ty)
    }

    fn index_in_memory(&mut self, slot: StackSlot, index: Ty, lane: usize) -> clif::Value {
        let at = self.b.ins().stack_addr(types::I64, slot, 4 * lane as i32);
        let flags = MemFlagsData::trusted();
        if index.is_signed() { self.b.ins().sload32(flags, at, 0) } else { self.b.ins().uload32(flags, at, 0) }
    }

    fn index_slot(&mut self) -> StackSlot {
        let bytes = 16 * self.plan.pieces(4) as u32;
        *self.index_slot.get_or_insert_with(|| {
            self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4))
        })
    }

    /// The least index in bounds for a gather, if it is at hand: where there is an index in bounds at all, this one is.
    fn least_index(&self, g: &Gather) -> Option<Value> {
        let address = self.definition_of(g.base)?;
        let Kind::HostAddress { disp } = address.kind else { return None };
        let least = Kind::IndexLow { scale: g.scale, disp, ty: g.index };
        let home = match self.plan.definition(g.base) {
            Definition::Inst(block, _) => self.region.block(block),
            _ => return None,
        };
        // Both depend on the pointer alone, so they have been moved to the same block.
        let least = home.insts.iter().find(|inst| inst.kind == least && inst.args == address.args)?.result?;
        (self.homes.is_on_stack(least) || self.made(self.plan.scalar_slot(least)).is_some()).then_some(least)
    }

    /// Is a lane of a mask active whenever a block is entered, because it was asked for? `assumed` is taken to be so.
    fn is_some(&self, mask: Value, at: BlockId, assumed: &mut Vec<Value>) -> bool {
        if assumed.contains(&mask) {
            return true;
        }
        let mut block = at;
        while block != BlockId(0) {
            let parent = self.plan.dominators.parent(block);
            let end = &self.region.block(parent).end;
            if self.plan.ways_into(block) == 1 && end.edges().any(|e| e.to == block && self.asks_for(end, e, mask)) {
                return true;
            }
            block = parent;
        }
        let Definition::Param(home) = self.plan.definition(mask) else { return false };
        let Some(i) = self.region.block(home).params.iter().position(|&p| p == mask) else { return false };
        // If it was so at every earlier entry of the block, and every way to it keeps it so, then it is so at this one.
        assumed.push(mask);
        self.plan.dominators.order().iter().all(|&from| {
            let end = &self.region.block(from).end;
            let mut into = end.edges().filter(|e| e.to == home);
            into.all(|e| self.asks_for(end, e, e.args[i]) || self.is_some(e.args[i], from, assumed))
        })
    }

    /// Is an edge taken only if a lane of a mask is active?
    fn asks_for(&self, end: &End, edge: &Edge, mask: Value) -> bool {
        let End::Branch { cond, then, other } = end else { return false };
        let asked = |inst: &Inst| inst.kind == Kind::AnyLane && inst.args[0] == mask;
        then == edge && then.to != other.to && self.definition_of(*cond).is_some_and(asked)
    }

    /// Writes the indices of a gather to memory, unless those of the last one, which are there, are the same.
    fn indices(&mut self, g: &Gather, mask: Value, least: Vec<Value>, slot: StackSlot) -> Indices {
        let there = self.indices.take();
        if let Some(there) = there.filter(|i| i.of == (self.block, g.at, mask) && i.least == least) {
            return self.indices.insert(there).clone();
        }
        let pieces: Vec<_> = (0..self.plan.pieces(4)).map(|i| self.piece(g.at, i)).collect();
        let active = self.active(mask);
        if let Active::All = active {
            self.store_indices(slot, &pieces);
        } else {
            let readable = self.greatest(g.index, &least).unwrap_or_else(|| {
                self.store_indices(slot, &pieces);
                self.first_active(mask, slot)
            });
            self.store_readable(mask, slot, &pieces, readable);
        }
        self.indices.insert(Indices { of: (self.block, g.at, mask), least, active }).clone()
    }

    /// The greatest of some scalars. Of the least indices of several gathers it is in bounds for all, if any index is.
    fn greatest(&mut self, ty: Ty, values: &[Value]) -> Option<clif::Value> {
        let mut all: Vec<_> = values.iter().map(|&v| self.scalar(v)).collect();
        all.dedup();
        all.into_iter().reduce(|a, b| if ty.is_signed() { self.b.ins().smax(a, b) } else { self.b.ins().umax(a, b) })
    }

    fn active(&mut self, mask: Value) -> Active {
        if self.known_bits(mask) == Some(self.region.width.full_mask()) {
            Active::All
        } else if self.is_some(mask, self.block, &mut Vec::new()) {
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
