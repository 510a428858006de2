//! Arms of an `if` that are similar: the same operations in the same order, on other operands.
//!
//! Executed one after the other under their masks they become one arm on selected operands ([`crate::passes::fuse`]), which takes
//! about as long as either of them. So they are not branched around, however long they are, if gangs go both ways now and
//! then. Where nearly all gangs go the same way, a branch is cheaper still: it needs no `select`.

use super::Recorder;
use super::state::State;
use crate::passes::fuse;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Function, Inst, Reg};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Most instructions of an arm.
const MAX_LENGTH: u32 = 64;

/// An `if` with an else part, by its instructions.
struct Arms {
    branch: u32,
    first: Range<u32>,
    second: Range<u32>,
}

impl Arms {
    /// Of the `if` to which a `mask.if` or `mask.else` belongs.
    fn of(f: &Function, pc: u32) -> Option<Arms> {
        let inst = |at: u32| f.code.get(at as usize);
        let begins = |&at: &u32| inst(at).is_some_and(|i| i.op == Op::MaskIf && i.aux == pc);
        let branch = if inst(pc)?.op == Op::MaskElse { (0..pc).rev().find(begins)? } else { pc };
        let middle = inst(branch).filter(|i| i.op == Op::MaskIf)?.aux;
        let end = inst(middle).filter(|i| i.op == Op::MaskElse)?.aux;
        let joins = inst(end)?.op == Op::MaskEndif;
        joins.then_some(Arms { branch, first: branch + 1..middle, second: middle + 1..end })
    }

    /// The instructions of both arms side by side, if they are as many.
    fn pairs<'f>(&self, f: &'f Function) -> Option<impl Iterator<Item = (&'f Inst, &'f Inst)> + use<'f>> {
        let (first, second) = (self.first.clone(), self.second.clone());
        let inst = |at: u32| &f.code[at as usize];
        let alike = first.len() == second.len() && (1..=MAX_LENGTH as usize).contains(&first.len());
        alike.then(|| first.zip(second).map(move |(a, b)| (inst(a), inst(b))))
    }
}

impl Recorder<'_> {
    /// Is the state at one of two similar arms that are both to be executed whatever lanes are active?
    pub(super) fn is_at_similar_arms(&mut self, state: &State) -> bool {
        let (function, pc) = self.place(state);
        let f = self.function(function);
        let Some(arms) = Arms::of(f, pc) else { return false };
        let both = [arms.first.start, arms.second.start].map(|at| (function, at));
        self.advice.goes_both_ways((function, arms.branch), both)
            && pays(f, &arms)
            && [&arms.first, &arms.second].into_iter().all(|arm| self.is_pure(function, arm))
    }

    /// Does an arm nothing that could be told if no lane were active, and stores nothing?
    fn is_pure(&mut self, function: FuncId, arm: &Range<u32>) -> bool {
        let f = self.function(function);
        arm.clone().all(|at| f.code[at as usize].op != Op::StoreLane && self.heeds_mask(function, at, arm.end))
    }
}

/// Are the arms the same operations, and do they take longer than to select the operands that differ?
fn pays(f: &Function, arms: &Arms) -> bool {
    let Some(pairs) = arms.pairs(f) else { return false };
    // What stands in the second arm for a result of the first.
    let mut stands_for: HashMap<Reg, Reg> = HashMap::new();
    let mut selected: HashSet<(Reg, Reg)> = HashSet::new();
    let mut saved = 0;
    for (a, b) in pairs {
        if (a.op, a.ty, a.from) != (b.op, b.ty, b.from) {
            return false;
        }
        if !matches!(a.op, Op::Load | Op::LoadLane | Op::Mov | Op::Assign) {
            saved += fuse::cost(a.op, a.ty, a.from);
        }
        let operands = a.src.into_iter().zip(b.src).filter(|(x, _)| !x.is_none());
        selected.extend(operands.filter(|(x, y)| stands_for.get(x).unwrap_or(x) != y));
        stands_for.insert(a.dst, b.dst);
    }
    saved > selected.iter().map(|(x, _)| fuse::selecting(f.reg(*x).ty)).sum()
}
