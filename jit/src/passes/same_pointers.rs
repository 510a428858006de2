//! Pointers that are loaded in every round of a loop, and are the same in all of them as a rule.
//!
//! Programs keep the pointers to their arrays in structs and tables. Such a pointer is loaded anew in every round: what the round
//! stores might have changed it. But it hardly ever has, and all that is asked about its memory (a call each time, and the bounds that
//! follow from it) would be found out before the loop if it were known. So it is loaded there, too; the round compares the two, and goes
//! on with the one from before the loop. The recorder says where this may be done ([`Kind::LoadedPointer`]).
//!
//! # Rules
//!
//! - What the address is computed from, and whether it is in bounds, does not change in the loop; an address that is out of bounds is
//!   not loaded from: before the loop, nobody has asked for it. It is the outermost such loop.
//! - The loop makes no calls and stores no pointers, as far as types tell: it would leave by the exit again and again. Where one
//!   does so nevertheless, the recorder is told ([`ExitReason::OtherPointer`](crate::ir::ExitReason::OtherPointer)).
//! - The pointer is used as one: integers of its type are left alone.
//!
//! Of pointers that lead to pointers, the second is loaded before the loop by the first one's value there.

use super::licm::{Loops, definitions};
use super::{Quiet, identity, replace};
use crate::dominance::Dominators;
use crate::ir::{BlockId, ExitId, Inst, Kind, Region, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// How many instructions lead from what does not change to an address, at most.
const DEPTH: usize = 12;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let is_asked = |inst: &Inst| matches!(inst.kind, Kind::LoadedPointer { .. });
    if !region.blocks.iter().flat_map(|b| &b.insts).any(is_asked) {
        return;
    }
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    let quiet = if region.may_end_memory() { Some(Quiet::new(region, &loops)) } else { None };
    let (home, used, busy) = (definitions(region), used_as_pointers(region), busy_loops(region, &loops));
    let mut pass = SamePointers { region, dominators: &dominators, loops: &loops, quiet, home, before: HashMap::new() };
    for &b in dominators.order() {
        for at in 0..pass.region.block(b).insts.len() {
            let inst = &pass.region.block(b).insts[at];
            if let (true, Some(result)) = (is_asked(inst), inst.result) {
                let (args, cold) = (inst.args.clone(), pass.region.block(b).cold);
                let may = used[result.index()] && !cold;
                let before = if may { pass.load_before_loop(b, args[0], args[1], &busy) } else { None };
                pass.before.insert(result, before.unwrap_or(args[2]));
            }
        }
    }
    pass.compare();
}

/// By value: whether it is used as a pointer.
fn used_as_pointers(region: &Region) -> Vec<bool> {
    let mut used = vec![false; region.types.len()];
    for inst in region.blocks.iter().flat_map(|b| &b.insts) {
        let is_user = match inst.kind {
            Kind::Op { op, .. } => op == Op::PAdd,
            Kind::RegionBase | Kind::RegionLen { .. } | Kind::HostAddress { .. } | Kind::IndexLow { .. } => true,
            _ => false,
        };
        if is_user {
            used[inst.args[0].index()] = true;
        }
    }
    used
}

/// By loop: whether its rounds may well change pointers in memory.
fn busy_loops(region: &Region, loops: &Loops) -> Vec<bool> {
    let changes_pointers = |inst: &Inst| {
        inst.kind.is_call()
            || matches!(
                inst.kind,
                Kind::Interpret { .. }
                    | Kind::Atomic { ty: Ty::U64, .. }
                    | Kind::Store { ty: Ty::U64 }
                    | Kind::StoreAny { ty: Ty::U64, .. }
            )
    };
    let mut busy = vec![false; loops.count()];
    for (i, _) in region.blocks.iter().enumerate().filter(|(_, b)| b.insts.iter().any(changes_pointers)) {
        loops.around(BlockId(i as u32)).for_each(|l| busy[l] = true);
    }
    busy
}

struct SamePointers<'a> {
    region: &'a mut Region,
    dominators: &'a Dominators,
    loops: &'a Loops,
    /// If memory may end within the region.
    quiet: Option<Quiet>,
    home: Vec<BlockId>,
    /// By the result of [`Kind::LoadedPointer`]: what stands for it.
    before: HashMap<Value, Value>,
}

impl SamePointers<'_> {
    /// Loads what lies at an address of block `b` before the outermost loop that does not change it.
    fn load_before_loop(&mut self, b: BlockId, ok: Value, host: Value, busy: &[bool]) -> Option<Value> {
        let loops = self.loops;
        let fits = |l: &usize| !busy[*l] && [ok, host].iter().all(|&v| self.is_settled(v, *l, DEPTH));
        let l = loops.around(b).take_while(fits).last()?;
        let to = self.dominators.parent(loops.header(l));
        let mut made = HashMap::new();
        let ok = self.compute(ok, l, to, &mut made)?;
        let host = self.compute(host, l, to, &mut made)?;
        let ty = Type::uniform(Ty::U64);
        let zeros = self.add(to, Kind::Zeros, vec![], ty);
        let select = Kind::Op { op: Op::Select, ty: Ty::U64, from: Ty::U64 };
        let host = self.add(to, select, vec![ok, host, zeros], ty);
        Some(self.add(to, Kind::Load { ty: Ty::U64 }, vec![host], ty))
    }

    fn definition(&self, v: Value) -> Option<&Inst> {
        self.region.block(self.home[v.index()]).insts.iter().find(|inst| inst.result == Some(v))
    }

    /// What stands for a value.
    fn current(&self, v: Value) -> Value {
        self.before.get(&v).copied().unwrap_or(v)
    }

    /// Returns whether a value can be computed before a loop, and its rounds do not change it.
    fn is_settled(&self, v: Value, l: usize, depth: usize) -> bool {
        let v = self.current(v);
        if !self.loops.contains(l, self.home[v.index()]) {
            return true;
        }
        let Some(inst) = self.definition(v).filter(|_| depth > 0) else { return false };
        let holds = match inst.kind {
            Kind::Op { op: Op::IDiv | Op::IRem, .. } | Kind::LoadedPointer { .. } => false,
            Kind::RegionBase | Kind::RegionLen { .. } | Kind::HostAddress { .. } => {
                self.quiet.as_ref().is_none_or(|quiet| quiet.is_quiet(l))
            }
            kind => kind.is_pure(),
        };
        holds && inst.args.iter().all(|&arg| self.is_settled(arg, l, depth - 1))
    }

    /// Computes such a value at the end of a block before the loop.
    fn compute(&mut self, v: Value, l: usize, to: BlockId, made: &mut HashMap<Value, Value>) -> Option<Value> {
        let v = self.current(v);
        if !self.loops.contains(l, self.home[v.index()]) {
            return Some(v);
        }
        if let Some(&there) = made.get(&v) {
            return Some(there);
        }
        let inst = self.definition(v)?.clone();
        let args = inst.args.iter().map(|&arg| self.compute(arg, l, to, made)).collect::<Option<Vec<_>>>()?;
        let new = self.add(to, inst.kind, args, self.region.ty(v));
        made.insert(v, new);
        Some(new)
    }

    fn add(&mut self, to: BlockId, kind: Kind, args: Vec<Value>, ty: Type) -> Value {
        let v = self.region.new_value(ty);
        self.region.blocks[to.index()].insts.push(Inst { kind, args, result: Some(v) });
        self.home.push(to);
        v
    }

    /// Compares what is loaded with what was, where it was loaded before.
    fn compare(self) {
        let SamePointers { region, before, .. } = self;
        let same = |region: &mut Region, exit: ExitId, loaded: Value, before: Value| {
            let equal = region.new_value(Type::BOOL);
            let kind = Kind::Op { op: Op::Eq, ty: Ty::U64, from: Ty::U64 };
            [
                Inst { kind, args: vec![loaded, before], result: Some(equal) },
                Inst { kind: Kind::Guard { exit }, args: vec![equal], result: None },
            ]
        };
        for b in 0..region.blocks.len() {
            let insts = std::mem::take(&mut region.blocks[b].insts);
            let mut new = Vec::with_capacity(insts.len());
            for inst in insts {
                let Kind::LoadedPointer { exit } = inst.kind else {
                    new.push(inst);
                    continue;
                };
                let (loaded, before) = (inst.args[2], inst.result.and_then(|v| before.get(&v).copied()));
                if let Some(before) = before.filter(|&before| before != loaded) {
                    new.extend(same(region, exit, loaded, before));
                }
            }
            region.blocks[b].insts = new;
        }
        let mut to = identity(region);
        before.iter().for_each(|(&v, &stands)| to[v.index()] = stands);
        replace(region, &to);
    }
}
