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
//! - Addresses are sums of values and constants, modulo 2⁶⁴; that of a load, of parameters and of what the loop does not
//!   compute. The load is *carried* if a round accesses, whole and as the same type, the address that the load has in the
//!   next round; and if no store behind that access, or before the load in its own round, may touch these bytes. Stores
//!   to the same terms and another constant do not, if they are far enough away.
//! - Nothing may leave the loop before the load: in the first round it comes earlier than it did, so it must be one that
//!   would have come. What is loaded lies in bounds, as the checks of it lie before the loop.
//! - A bool in memory is any byte that is not 0, so bools that are stored are loaded.

use super::defs::Defs;
use super::{identity, replace};
use crate::ir::{Block, BlockId, Edge, End, Inst, Kind, Region, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// Most values that a loop hands on so.
const MOST_CARRIED: usize = 4;

/// How deep addresses are looked into.
const DEPTH: usize = 12;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let mut carried = Vec::new();
    for b in (0..region.blocks.len() as u32).map(BlockId) {
        let Some(entered) = entry(region, b).filter(|_| is_simple(region.block(b))) else { continue };
        let defs = Defs::of(region);
        let found = Loop::new(region, &defs, b).carried();
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

/// An address: values times factors, and a constant.
#[derive(Clone, PartialEq, Eq, Default)]
struct Sum {
    terms: Vec<(Value, u64)>,
    constant: u64,
}

impl Sum {
    fn add(&mut self, v: Value, factor: u64) {
        match self.terms.iter_mut().find(|(term, _)| *term == v) {
            Some((_, all)) => *all = all.wrapping_add(factor),
            None => self.terms.push((v, factor)),
        }
    }

    fn sorted(mut self) -> Sum {
        self.terms.sort_unstable();
        self
    }
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

/// A store of a round; `None` if it may touch anything.
struct Written {
    at: usize,
    to: Option<(Sum, u64)>,
}

/// A loop of one block.
struct Loop<'a> {
    region: &'a Region,
    defs: &'a Defs,
    block: &'a Block,
    /// What the back edge brings, by parameter.
    next: HashMap<Value, Value>,
}

impl<'a> Loop<'a> {
    fn new(region: &'a Region, defs: &'a Defs, b: BlockId) -> Self {
        let block = region.block(b);
        let back = block.end.edges().find(|edge| edge.to == b);
        let args = back.iter().flat_map(|edge| edge.args.iter().copied());
        Loop { region, defs, block, next: block.params.iter().copied().zip(args).collect() }
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
            let is_inside = |&(v, _): &(Value, u64)| self.block.insts.iter().any(|inst| inst.result == Some(v));
            if there == load.address || load.address.terms.iter().any(is_inside) || carried.len() == MOST_CARRIED {
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
                let to = inst.kind.bytes_at_address(self.region.width).map(|bytes| (address(), bytes));
                written.push(Written { at, to });
            }
        }
        (accesses, written)
    }

    /// An address as a sum.
    fn sum(&self, address: Value) -> Sum {
        let mut sum = Sum::default();
        self.add_to(&mut sum, address, 1, DEPTH);
        sum.sorted()
    }

    /// The sum with what it is in the round after this one.
    fn next_round(&self, sum: &Sum) -> Sum {
        let mut next = Sum { terms: Vec::new(), constant: sum.constant };
        for &(v, factor) in &sum.terms {
            match self.next.get(&v) {
                Some(&then) => self.add_to(&mut next, then, factor, DEPTH),
                None => next.add(v, factor),
            }
        }
        next.sorted()
    }

    fn add_to(&self, sum: &mut Sum, v: Value, factor: u64, depth: usize) {
        if let Some(bits) = self.defs.known(v) {
            sum.constant = sum.constant.wrapping_add(factor.wrapping_mul(bits));
            return;
        }
        let wide = |ty: Ty| ty.is_int() && ty.size() == 8;
        let def = self.defs.get(v).filter(|_| depth > 0);
        let Some((def, Kind::Op { op, ty, from })) = def.map(|def| (def, def.kind)) else { return sum.add(v, factor) };
        if !wide(ty) || !wide(from) || self.region.ty(v).is_varying() {
            return sum.add(v, factor);
        }
        let known = |i: usize| self.defs.known(def.arg(i));
        match op {
            Op::Add => (0..2).for_each(|i| self.add_to(sum, def.arg(i), factor, depth - 1)),
            Op::Sub => {
                self.add_to(sum, def.arg(0), factor, depth - 1);
                self.add_to(sum, def.arg(1), factor.wrapping_neg(), depth - 1);
            }
            Op::Shl if known(1).is_some() => {
                let by = known(1).unwrap_or(0) as u32 % 64;
                self.add_to(sum, def.arg(0), factor << by, depth - 1);
            }
            Op::Mul if known(1).is_some() => {
                self.add_to(sum, def.arg(0), factor.wrapping_mul(known(1).unwrap_or(1)), depth - 1);
            }
            Op::Bitcast => self.add_to(sum, def.arg(0), factor, depth - 1),
            _ => sum.add(v, factor),
        }
    }
}

/// Returns whether a store touches none of so many bytes at an address.
fn apart(store: &Written, at: &Sum, bytes: u64) -> bool {
    let Some((to, written)) = store.to.as_ref().filter(|(to, _)| to.terms == at.terms) else { return false };
    let distance = to.constant.wrapping_sub(at.constant);
    distance >= bytes && distance.wrapping_neg() >= *written
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
