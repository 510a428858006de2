//! The memory of frames: which of it only the function itself can reach, and what of that may be read later.
//!
//! Local variables whose address is taken (structs handed on by reference, arrays) lie in the memory of their frame. If no
//! address in it ever leaves the function, except to functions that do not let it go either, then no other pointer can
//! lead there: the memory is *private*. Then a region may keep its cells as values ([`mem2reg`](crate::passes::mem2reg)), and
//! at an exit it need write back only what the interpreter may still read.
//!
//! Both are found for the memory of the frame and for what each pointer parameter leads to, of one function at a time
//! ([`Root`]); a call takes over what is known of the callee's parameters. [`addresses`] says where registers point and which roots
//! escape, [`liveness`] which bytes may be read. Both go up from "nothing", over all functions that can be reached by calls, until
//! nothing changes.

mod addresses;
mod liveness;
#[cfg(test)]
mod tests;

use addresses::Addresses;
use liveness::{Live, Reads};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Function, Program, Reg};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The largest memory of a frame that is looked at, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// A piece of memory as one function knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Root {
    /// The memory of its frame.
    Frame,
    /// What a parameter leads to; offsets count from where it points.
    Param(u32),
}

/// What a register points to, whenever it is read (a points-to analysis, insensitive to flow).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PointsTo {
    /// Nothing that is known to be written.
    Unset,
    /// No address in a root.
    Other,
    /// The address at an offset.
    At(Root, i64),
    /// Perhaps some address in a root.
    In(Root),
    /// Perhaps addresses in several roots, all of which have escaped.
    Many,
}

/// What is known of the frames of a program's functions.
pub(crate) struct Frames {
    functions: BTreeMap<FuncId, Facts>,
}

/// What is known of a function.
struct Facts {
    addresses: Addresses,
    /// For each root that does not escape: what may be read from each instruction on.
    live: BTreeMap<Root, Live>,
}

impl Frames {
    /// Analyses all functions of a program; `None` if none of them has memory worth it.
    pub fn new(program: &Program) -> Option<Frames> {
        let reached = callees_first(program);
        let function = |id: FuncId| &program.functions[id.0 as usize];
        let sizes = reached.iter().map(|&id| function(id).frame_size).filter(|&size| (1..=MAX_SIZE).contains(&size));
        let limit = sizes.max()? as usize;
        let mut frames = Frames { functions: BTreeMap::new() };
        for &id in &reached {
            frames.functions.insert(id, Facts { addresses: Addresses::new(function(id)), live: BTreeMap::new() });
        }
        until_settled(&reached, |id| frames.find_addresses(id, function(id)));
        let lanes = program.width.lanes();
        until_settled(&reached, |id| frames.find_reads(id, function(id), lanes, limit));
        Some(frames)
    }

    fn find_addresses(&mut self, id: FuncId, f: &Function) -> bool {
        let mut addresses = std::mem::take(&mut self.facts_mut(id).addresses);
        let changed = addresses.improve(id, f, |callee, param| self.escapes(callee, Root::Param(param)));
        self.facts_mut(id).addresses = addresses;
        changed
    }

    fn find_reads(&mut self, id: FuncId, f: &Function, lanes: usize, limit: usize) -> bool {
        let facts = &self.functions[&id];
        let params = (0..f.n_params).map(Root::Param).filter(|&root| facts.addresses.leads(root));
        let own = (1..=MAX_SIZE).contains(&f.frame_size).then_some(Root::Frame);
        let roots: Vec<Root> = own.into_iter().chain(params).filter(|&r| !facts.addresses.escapes(r)).collect();
        let mut changed = false;
        for root in roots {
            let reads = Reads { f, lanes, root, addresses: &self.functions[&id].addresses, limit };
            let live = reads.find(|callee, param| self.reads_at_entry(callee, param));
            let facts = self.facts_mut(id);
            changed |= facts.live.get(&root).is_none_or(|old| old.at(0) != live.at(0));
            facts.live.insert(root, live);
        }
        changed
    }

    fn facts_mut(&mut self, id: FuncId) -> &mut Facts {
        self.functions.get_mut(&id).unwrap_or_else(|| unreachable!("a function that was not reached"))
    }

    fn escapes(&self, id: FuncId, root: Root) -> bool {
        self.functions.get(&id).is_none_or(|facts| facts.addresses.escapes(root))
    }

    /// What a function may read through a parameter that does not escape; `None` if it does not read by it, as far as is known.
    fn reads_at_entry(&self, id: FuncId, param: u32) -> Option<Arc<liveness::Bytes>> {
        self.functions.get(&id)?.live.get(&Root::Param(param)).map(|live| Arc::clone(live.at(0)))
    }

    /// Returns whether the function's frames have memory, and it is private.
    pub fn is_private(&self, id: FuncId) -> bool {
        self.functions.get(&id).is_some_and(|facts| facts.live.contains_key(&Root::Frame))
    }

    /// What a register of a function points to, whenever it is read.
    pub fn points_to(&self, id: FuncId, reg: Reg) -> PointsTo {
        self.functions.get(&id).map_or(PointsTo::Other, |facts| facts.addresses.points_to(reg))
    }

    /// The bytes of a root that may be read when a function goes on with an instruction.
    pub fn live(&self, id: FuncId, pc: u32, root: Root) -> Vec<Range<i64>> {
        let live = self.functions.get(&id).and_then(|facts| facts.live.get(&root));
        live.map_or_else(Vec::new, |live| live.at(pc).ranges())
    }
}

/// Improves what is known of functions until nothing changes.
fn until_settled(functions: &[FuncId], mut improve: impl FnMut(FuncId) -> bool) {
    let mut changed = true;
    while changed {
        changed = false;
        for &id in functions {
            changed |= improve(id);
        }
    }
}

/// All functions, callees before their callers as far as there is no recursion.
fn callees_first(program: &Program) -> Vec<FuncId> {
    fn visit(program: &Program, id: FuncId, seen: &mut [bool], order: &mut Vec<FuncId>) {
        if std::mem::replace(&mut seen[id.0 as usize], true) {
            return;
        }
        for inst in program.functions[id.0 as usize].code.iter().filter(|inst| inst.op == Op::Call) {
            visit(program, FuncId(inst.aux), seen, order);
        }
        order.push(id);
    }
    let (mut order, mut seen) = (Vec::new(), vec![false; program.functions.len()]);
    (0..program.functions.len() as u32).for_each(|id| visit(program, FuncId(id), &mut seen, &mut order));
    order
}
