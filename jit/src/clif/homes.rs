//! Which values live in memory between blocks.
//!
//! A varying value fills several vector registers, of which there are sixteen. Where more are live from block to block than
//! fit, the register allocator spends most of the compilation on splitting and spilling them, and moves them around even in
//! loops that do not use them. So a value may have a *home* in memory, from which every block that uses it loads it:
//!
//! - what a region is given in a register that it never writes stays in that register's place in the frame;
//! - where far too many values are live, the others that pass between blocks are stored on the stack as they are made.

use super::plan::Plan;
use super::translate::Translator;
use crate::ir::{BlockId, Kind, Region, Type, Value};
use crate::lowering::{Area, Definition, Values};
use cranelift_codegen::ir::{self as clif, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use spmdvm_vm::types::Ty;
use std::ops::Range;

/// Vectors live at the start of a block from which on values are given homes on the stack.
const CROWDED: usize = 48;

/// Uniform values, computed when a region is entered, live at the start of a block from which on they are given homes. (In
/// registers beside what a loop changes they would be swapped with memory in every round, each round waiting for the last.)
const CROWDED_SCALARS: usize = 8;

/// Where a value lives between blocks, if not in registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Home {
    /// At an offset in the entered frame.
    Frame(u32),
    /// At an offset in the stack slot of homes.
    Stack(u32),
}

impl Home {
    /// The home of piece `i`.
    pub fn piece(self, i: usize) -> Home {
        match self {
            Home::Frame(at) => Home::Frame(at + 16 * i as u32),
            Home::Stack(at) => Home::Stack(at + 16 * i as u32),
        }
    }
}

/// The homes of a region's values.
pub(super) struct Homes {
    of: Vec<Option<Home>>,
    /// Bytes of the stack slot.
    pub bytes: u32,
}

impl Homes {
    pub fn new(values: &Values<'_>, plan: &Plan) -> Homes {
        let region = values.region;
        let mut homes = Homes { of: vec![None; region.types.len()], bytes: 0 };
        homes.leave_in_frame(region);
        let liveness = Liveness::new(region, values.dominators.order());
        if homes.is_crowded(values, &liveness, CROWDED, |v| plan.n_pieces(v)) {
            homes.move_vectors(values, plan);
        }
        let is_invariant = |v| !region.ty(v).is_varying() && is_of_entry(values, v);
        if homes.is_crowded(values, &liveness, CROWDED_SCALARS, |v| is_invariant(v) as usize) {
            homes.move_scalars(values, plan);
        }
        homes
    }

    pub fn of(&self, v: Value) -> Option<Home> {
        self.of[v.index()]
    }

    /// Returns whether it passes between blocks on the stack.
    pub fn is_on_stack(&self, v: Value) -> bool {
        matches!(self.of(v), Some(Home::Stack(_)))
    }

    fn leave_in_frame(&mut self, region: &Region) {
        let written = written(region);
        for inst in region.blocks.iter().flat_map(|b| &b.insts) {
            if let (Kind::EntryReg { at }, Some(v)) = (inst.kind, inst.result) {
                let ty = region.ty(v);
                let bytes = extent(region, at, ty);
                let is_kept = written.iter().all(|w| w.end <= bytes.start || bytes.end <= w.start);
                if ty.is_varying() && ty.ty != Ty::Bool && is_kept {
                    self.of[v.index()] = Some(Home::Frame(at));
                }
            }
        }
    }

    /// Returns whether the values live at the start of some block need more registers than `most`.
    fn is_crowded(
        &self,
        of: &Values<'_>,
        liveness: &Liveness,
        most: usize,
        registers: impl Fn(Value) -> usize,
    ) -> bool {
        let needs = |v: Value| if self.of(v).is_none() { registers(v) } else { 0 };
        of.dominators.order().iter().any(|&id| liveness.at(id).map(needs).sum::<usize>() > most)
    }

    /// Gives homes to what is computed once when the region is entered.
    fn move_scalars(&mut self, values: &Values<'_>, plan: &Plan) {
        let region = values.region;
        for v in (0..region.types.len() as u32).map(Value) {
            if !region.ty(v).is_varying() && is_of_entry(values, v) && plan.leaves_block(v) {
                self.of[v.index()] = Some(Home::Stack(self.bytes));
                self.bytes += 8;
            }
        }
    }

    fn move_vectors(&mut self, values: &Values<'_>, plan: &Plan) {
        let region = values.region;
        for v in (0..region.types.len() as u32).map(Value) {
            let passes = match values.definition(v) {
                Definition::None => false,
                Definition::Param(..) => true,
                Definition::Inst(block, at) => {
                    // Masks of the entry are bits, and what is made of a constant is made where it is used.
                    let kind = region.block(block).insts[at].kind;
                    plan.leaves_block(v) && !matches!(kind, Kind::EntryMask(_) | Kind::Splat | Kind::MaskFromBits)
                }
            };
            if passes && self.of(v).is_none() && plan.n_pieces(v) > 0 {
                self.of[v.index()] = Some(Home::Stack(self.bytes));
                self.bytes += 16 * plan.n_pieces(v) as u32;
            }
        }
    }
}

/// Returns whether a value is computed in the entry of a region, and no constant.
fn is_of_entry(values: &Values<'_>, v: Value) -> bool {
    values.inst_in(BlockId(0), v).is_some_and(|inst| !matches!(inst.kind, Kind::Const(_)))
}

/// The bytes of the entered frame and those above it that the region writes.
fn written(region: &Region) -> Vec<Range<u32>> {
    let frames = region.exits.iter().flat_map(|e| &e.frames);
    let registers = frames.flat_map(|f| f.regs.iter().map(move |r| extent(region, f.at + r.at, r.ty)));
    let sites = region.handler_calls.iter().flat_map(|site| {
        site.operands.iter().chain(&site.result).map(move |&(at, ty)| extent(region, site.at + at, ty))
    });
    let insts = region.blocks.iter().flat_map(|b| &b.insts);
    let returned = insts.filter_map(|inst| match (inst.kind, inst.result) {
        (Kind::Returned { at }, Some(v)) => Some(extent(region, at, region.ty(v))),
        _ => None,
    });
    let mut all: Vec<_> = registers.chain(sites).chain(returned).collect();
    all.sort_by_key(|r| (r.start, r.end));
    all.dedup();
    all
}

/// The bytes of a register: of one that varies whole vectors are read and written.
fn extent(region: &Region, at: u32, ty: Type) -> Range<u32> {
    let size = ty.ty.size() as u32;
    at..at + if ty.is_varying() { (region.width.lanes() as u32 * size).next_multiple_of(16) } else { size }
}

/// Values live at the start of each block, as sets of bits.
struct Liveness {
    words: usize,
    live: Vec<u64>,
}

impl Liveness {
    fn new(region: &Region, order: &[BlockId]) -> Liveness {
        let words = region.types.len().div_ceil(64);
        let mut uses = vec![0u64; words * region.blocks.len()];
        let mut defined = vec![0u64; words * region.blocks.len()];
        for &id in order {
            let row = id.index() * words..(id.index() + 1) * words;
            find(region, id, &mut uses[row.clone()], &mut defined[row]);
        }
        let mut live = uses;
        loop {
            let mut changed = false;
            for &id in order.iter().rev() {
                for edge in region.block(id).end.edges() {
                    for w in 0..words {
                        let more = live[edge.to.index() * words + w] & !defined[id.index() * words + w];
                        let word = &mut live[id.index() * words + w];
                        changed |= *word | more != *word;
                        *word |= more;
                    }
                }
            }
            if !changed {
                return Liveness { words, live };
            }
        }
    }

    fn at(&self, block: BlockId) -> impl Iterator<Item = Value> + '_ {
        let row = &self.live[block.index() * self.words..][..self.words];
        let bits =
            |(w, &word): (usize, &u64)| (0..64).filter(move |b| word >> b & 1 != 0).map(move |b| w as u32 * 64 + b);
        row.iter().enumerate().flat_map(bits).map(Value)
    }
}

/// Finds what a block uses before it defines it, and what it defines.
fn find(region: &Region, id: BlockId, uses: &mut [u64], defined: &mut [u64]) {
    let block = region.block(id);
    let bit = |v: Value| (v.index() / 64, 1u64 << (v.index() % 64));
    block.params.iter().chain(block.insts.iter().filter_map(|i| i.result.as_ref())).for_each(|&v| {
        let (word, bit) = bit(v);
        defined[word] |= bit;
    });
    region.each_use(id, |v| {
        let (word, bit) = bit(v);
        uses[word] |= bit & !defined[word];
    });
}

impl Translator<'_> {
    pub(super) fn make_homes(&mut self) {
        for v in (0..self.region.types.len() as u32).map(Value) {
            let Some(home) = self.homes.of(v) else { continue };
            self.local[self.plan.slots(v)].fill(true);
            if let Home::Stack(at) = home {
                for i in 0..self.plan.n_pieces(v).max(1) {
                    let slot = self.home_slot(v, i);
                    self.kept[slot] = Some(at + 16 * i as u32);
                }
            }
        }
        if self.homes.bytes > 0 {
            let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, self.homes.bytes, 4);
            self.stack = Some(self.b.create_sized_stack_slot(slot));
        }
    }

    /// Puts a value into the cache, and where it lives if it has just been made.
    pub(super) fn record(&mut self, slot: usize, value: clif::Value) {
        self.remember(slot, value);
        if let (Some(at), None) = (self.kept[slot], &self.trail) {
            self.store_home(value, at);
        }
    }

    /// Loads piece `i` of a value, in the form in which it passes between blocks, from its home.
    pub(super) fn load_home(&mut self, v: Value, i: usize) -> Option<clif::Value> {
        let home = self.homes.of(v)?;
        if matches!(home, Home::Stack(_)) && self.values.inst_in(self.block, v).is_some() {
            return None;
        }
        let x = self.read_home(home.piece(i), self.piece_type(v));
        self.remember(self.home_slot(v, i), x);
        Some(x)
    }

    /// Loads what lies at a home.
    pub(super) fn read_home(&mut self, home: Home, ty: clif::Type) -> clif::Value {
        let flags = MemFlagsData::trusted();
        match home {
            Home::Frame(at) => {
                let base = self.base(Area::Frame);
                self.b.ins().load(ty, flags, base, at as i32)
            }
            Home::Stack(at) => {
                let slot = self.stack.expect("there are homes on the stack");
                let address = self.b.ins().stack_addr(types::I64, slot, at as i32);
                self.b.ins().load(ty, flags, address, 0)
            }
        }
    }

    pub(super) fn store_home(&mut self, x: clif::Value, at: u32) {
        let slot = self.stack.expect("there are homes on the stack");
        let address = self.b.ins().stack_addr(types::I64, slot, at as i32);
        self.b.ins().store(MemFlagsData::trusted(), x, address, 0);
    }
}
