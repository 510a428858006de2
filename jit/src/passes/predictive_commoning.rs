//! Predictive commoning: what a round of a loop has loaded or stored, the next one does not load again.
//!
//! `row[k] = f(row[k], row[k - 1])` loads as `row[k - 1]` what the round before has just stored, and waits until the
//! store can hand it on; in `a[k] = f(a[k], a[k + 1])`, the first load gives what the second one gave a round before.
//! Such a value is handed from round to round as a parameter, and the first one is loaded before the loop.
//!
//! Rules:
//!
//! - The loop is a block that goes back to itself, and is entered by one edge. All that it does is pure, or a plain load
//!   or store, or counts, or is a guard. No poll is in it: what another task writes meanwhile is seen where it would be.
//! - Addresses are sums ([`sums`](super::sums)); that of a load, of parameters and of what the loop does not compute. The
//!   load is *carried* if a round accesses, whole and as the same type, the address that the load has in the next round; and
//!   if no store behind that access, or before the load in its own round, may touch these bytes. Stores to the same terms
//!   and another constant do not, if they are far enough away.
//! - Nothing may leave the loop before the load: in the first round it comes earlier than it did, so it must be one that
//!   would have come. What is loaded lies in bounds, as the checks of it lie before the loop.
//! - A bool in memory is any byte that is not 0, so bools that are stored are loaded.

use super::defs::Defs;
use super::sums::{Sum, Sums};
use super::{identity, mem2reg, replace};
use crate::ir::{Block, BlockId, Edge, End, Inst, Kind, Region, Value};
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// Most values that a loop hands on so.
const MOST_CARRIED: usize = 4;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let mut carried = Vec::new();
    // Loads that are carried change no frames.
    let mut frames_are_private = None;
    for b in (0..region.blocks.len() as u32).map(BlockId) {
        let Some(entered) = entry(region, b).filter(|_| is_simple(region.block(b))) else { continue };
        let defs = Defs::of(region);
        let frames_are_private = *frames_are_private.get_or_insert_with(|| mem2reg::frames_are_private(region));
        let found = Loop::new(region, &defs, b, frames_are_private).carried();
        if !found.is_empty() {
            carried.extend(carry(region, b, entered, &found));
        }
    }
    if !carried.is_empty() {
        let mut to = identity(region);
        carried.into_iter().for_each(|(load, param)| to[load.index()] = param);
        replace(region, &to);
    }
}

/// The block that a loop of one block is entered from, if there is one.
fn entry(region: &Region, b: BlockId) -> Option<BlockId> {
    let block = region.block(b);
    let back = block.end.edges().filter(|edge| edge.to == b).count();
    if back != 1 || !block.insts.iter().any(|inst| inst.kind.is_plain_load()) {
        return None;
    }
    let leads = |from: &BlockId| region.block(*from).end.edges().filter(|edge| edge.to == b).count();
    let mut before = (0..region.blocks.len() as u32).map(BlockId).filter(|from| *from != b && leads(from) != 0);
    let from = before.next().filter(|from| leads(from) == 1)?;
    before.next().is_none().then_some(from)
}

/// Returns whether a round does nothing but what this pass knows.
fn is_simple(block: &Block) -> bool {
    block.insts.iter().all(|inst| inst.kind.is_plain())
}

/// A plain access of a round whose address is a sum.
struct Access {
    /// Where it stands in the block.
    at: usize,
    /// As what it loads or would load.
    load: Kind,
    /// What it loads or stores.
    value: Value,
    address: Sum,
}

/// A store of a round: where, and how many bytes, if that is known.
struct Written {
    at: usize,
    to: (Sum, Option<u64>),
}

/// A loop of one block.
struct Loop<'a> {
    region: &'a Region,
    defs: &'a Defs,
    block: &'a Block,
    frames_are_private: bool,
    /// What the back edge brings, by parameter.
    next: HashMap<Value, Value>,
}

impl<'a> Loop<'a> {
    fn new(region: &'a Region, defs: &'a Defs, b: BlockId, frames_are_private: bool) -> Self {
        let block = region.block(b);
        let back = block.end.edges().find(|edge| edge.to == b);
        let args = back.iter().flat_map(|edge| edge.args.iter().copied());
        Loop { region, defs, block, frames_are_private, next: block.params.iter().copied().zip(args).collect() }
    }

    /// The loads that are carried, each with what a round hands on for the next one's.
    fn carried(&self) -> Vec<(Value, Value)> {
        let (accesses, written) = self.accesses();
        let leaves = |inst: &Inst| inst.kind.exit().is_some();
        let first_exit = self.block.insts.iter().position(leaves).unwrap_or(usize::MAX);
        let mut carried = Vec::new();
        let loads = accesses.iter().filter(|load| self.block.insts[load.at].kind.is_plain_load());
        for load in loads.filter(|load| load.at < first_exit) {
            let Some(bytes) = load.load.bytes_at_address(self.region.width) else { continue };
            let there = self.next_round(&load.address);
            let ty = self.region.ty(load.value);
            let same =
                |from: &&Access| from.load == load.load && from.address == there && self.region.ty(from.value) == ty;
            let keeps = |from: &&Access| {
                written.iter().all(|store| {
                    let later = store.at <= from.at || apart(store, &there, bytes);
                    let earlier = store.at >= load.at || apart(store, &load.address, bytes);
                    later && earlier
                })
            };
            // What changes nothing from round to round leaves loops elsewhere.
            let is_inside = |v: Value| self.block.insts.iter().any(|inst| inst.result == Some(v));
            let computes = load.address.values().any(is_inside);
            if there == load.address || computes || carried.len() == MOST_CARRIED {
                continue;
            }
            if let Some(from) = accesses.iter().rev().filter(same).find(keeps) {
                carried.push((load.value, from.value));
            }
        }
        carried
    }

    /// What a round loads and stores, in its order.
    fn accesses(&self) -> (Vec<Access>, Vec<Written>) {
        let (mut accesses, mut written) = (Vec::new(), Vec::new());
        for (at, inst) in self.block.insts.iter().enumerate() {
            let address = || self.sum(inst.args[0]);
            let access = match inst.kind {
                kind @ (Kind::Load { .. } | Kind::LoadLanes { .. } | Kind::LoadStrided { .. }) => {
                    inst.result.map(|value| (kind, value))
                }
                Kind::Store { ty } if ty != Ty::Bool => Some((Kind::Load { ty }, inst.args[1])),
                Kind::StoreLanes { ty } if ty != Ty::Bool => Some((Kind::LoadLanes { ty }, inst.args[1])),
                _ => None,
            };
            if let Some((load, value)) = access {
                accesses.push(Access { at, load, value, address: address() });
            }
            if inst.kind.is_plain_store() {
                let to = (address(), inst.kind.bytes_at_address(self.region.width));
                written.push(Written { at, to });
            }
        }
        (accesses, written)
    }

    /// An address as a sum, in which what the round computes of pointers stands for itself.
    fn sum(&self, address: Value) -> Sum {
        self.sums().of(address)
    }

    fn sums(&self) -> Sums<'_> {
        Sums {
            region: self.region,
            defs: self.defs,
            within: Some(self.block),
            frames_are_private: self.frames_are_private,
        }
    }

    /// The sum with what it is in the round after this one.
    fn next_round(&self, sum: &Sum) -> Sum {
        let then = |v| self.next.get(&v).copied();
        self.sums().with(sum, then)
    }
}

/// Returns whether a store touches none of so many bytes at an address.
fn apart(store: &Written, at: &Sum, bytes: u64) -> bool {
    store.to.0.is_apart(store.to.1, at, Some(bytes))
}

/// Hands what is carried from round to round: of each load, what is handed on for the next one. Gives what stands for it.
fn carry(region: &mut Region, b: BlockId, entered: BlockId, found: &[(Value, Value)]) -> Vec<(Value, Value)> {
    let before = BlockId(region.blocks.len() as u32);
    let into = Edge { to: before, args: Vec::new() };
    let edge = region.blocks[entered.index()].end.edges_mut().find(|edge| edge.to == b);
    let Some(mut edge) = edge.map(|edge| std::mem::replace(edge, into)) else { return Vec::new() };
    let mut block = region.block(b).clone();
    let mut first =
        First { made: block.params.iter().copied().zip(edge.args.iter().copied()).collect(), insts: Vec::new() };
    let mut params = Vec::new();
    for &(load, from) in found {
        edge.args.push(first.value(region, &block, load));
        let param = region.new_value(region.ty(load));
        block.params.push(param);
        block.end.edges_mut().filter(|edge| edge.to == b).for_each(|edge| edge.args.push(from));
        params.push((load, param));
    }
    block.insts.retain(|inst| !found.iter().any(|&(load, _)| inst.result == Some(load)));
    region.blocks[b.index()] = block;
    region.blocks.push(Block { params: Vec::new(), insts: first.insts, end: End::Jump(edge), cold: false });
    params
}

/// What the first round computes, before it.
struct First {
    /// By the value in the loop.
    made: HashMap<Value, Value>,
    insts: Vec<Inst>,
}

impl First {
    /// A value of the block in the first round: an address, or what is loaded from there.
    fn value(&mut self, region: &mut Region, block: &Block, v: Value) -> Value {
        if let Some(&made) = self.made.get(&v) {
            return made;
        }
        let Some(inst) = block.insts.iter().find(|inst| inst.result == Some(v)) else { return v };
        let args = inst.args.iter().map(|&arg| self.value(region, block, arg)).collect();
        let new = region.new_value(region.ty(v));
        self.insts.push(Inst { kind: inst.kind, args, result: Some(new) });
        self.made.insert(v, new);
        new
    }
}
