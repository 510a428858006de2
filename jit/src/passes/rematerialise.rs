//! Computes anew before a call what nothing else needs but snapshots (rematerialisation).
//!
//! A back end has exits compute what only they ask for (`lowering/exit_only.rs`), so sums of pointers that the interpreter might read
//! cost nothing where no exit is taken. The snapshot of an [indirect call](Kind::CallIndirect) is written each time, though, and what it
//! names would be computed where it stands, calls or not. So each such call gets a copy of such instructions.
//!
//! Rules: operations on uniform values alone, for vectors that are operands would take more room; an operand that only snapshots need is
//! copied too. Where that would be more than [`MOST`], the call names what it did.

use crate::ir::{End, Inst, Kind, Region, Value};
use foldhash::{HashMap, HashMapExt};

/// Most copies for one call.
const MOST: usize = 48;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let is_call = |inst: &Inst| matches!(inst.kind, Kind::CallIndirect { .. });
    if !region.blocks.iter().flat_map(|b| &b.insts).any(is_call) {
        return;
    }
    let left = left_to_snapshots(region);
    for b in 0..region.blocks.len() {
        if !region.blocks[b].insts.iter().any(is_call) {
            continue;
        }
        let insts = std::mem::take(&mut region.blocks[b].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            if let Kind::CallIndirect { exit } = inst.kind {
                let mut copies = Copies { left: &left, of: HashMap::new(), insts: Vec::new() };
                let mut snapshot = region.exits[exit.index()].clone();
                snapshot.values_mut().for_each(|v| *v = copies.of(region, *v));
                if copies.insts.len() <= MOST {
                    region.exits[exit.index()] = snapshot;
                    kept.extend(copies.insts);
                }
            }
            kept.push(inst);
        }
        region.blocks[b].insts = kept;
    }
}

/// The instructions that nothing but snapshots needs, directly or by way of others of their kind, by their results.
fn left_to_snapshots(region: &Region) -> HashMap<Value, Inst> {
    let insts = || region.blocks.iter().flat_map(|b| &b.insts);
    let mut pure: HashMap<Value, &Inst> = HashMap::new();
    let mut work: Vec<Value> = Vec::new();
    for inst in insts() {
        match inst.result.filter(|_| inst.kind.is_pure()) {
            Some(v) => _ = pure.insert(v, inst),
            None => work.extend(&inst.args),
        }
    }
    for block in &region.blocks {
        work.extend(block.end.edges().flat_map(|edge| &edge.args));
        match block.end {
            End::Branch { cond, .. } => work.push(cond),
            End::Exit(exit) => work.extend(region.exits[exit.index()].values()),
            End::Jump(_) => {}
        }
    }
    while let Some(v) = work.pop() {
        work.extend(pure.remove(&v).into_iter().flat_map(|inst| &inst.args));
    }
    let is_uniform = |inst: &Inst| inst.args.iter().chain(&inst.result).all(|&v| !region.ty(v).is_varying());
    let copied = pure.into_iter().filter(|(_, inst)| matches!(inst.kind, Kind::Op { .. }) && is_uniform(inst));
    copied.map(|(v, inst)| (v, inst.clone())).collect()
}

/// What is computed before a call.
struct Copies<'a> {
    left: &'a HashMap<Value, Inst>,
    /// What stands for each value.
    of: HashMap<Value, Value>,
    insts: Vec<Inst>,
}

impl Copies<'_> {
    /// The value that stands for another in the snapshot.
    fn of(&mut self, region: &mut Region, v: Value) -> Value {
        let Some(inst) = self.left.get(&v).filter(|_| self.insts.len() <= MOST) else { return v };
        if let Some(&copy) = self.of.get(&v) {
            return copy;
        }
        let args = inst.args.iter().map(|&arg| self.of(region, arg)).collect();
        let copy = region.new_value(region.ty(v));
        self.insts.push(Inst { kind: inst.kind, args, result: Some(copy) });
        self.of.insert(v, copy);
        copy
    }
}
