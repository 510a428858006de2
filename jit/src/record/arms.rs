//! Arms of an `if` that are executed whether or not a lane is active in them: short ones that nearly always have some, and those that
//! are *similar*, the same operations in the same order, on other operands.
//!
//! Similar arms executed one after the other under their masks they become one arm on selected operands
//! ([`crate::passes::fuse`]), which takes about as long as either of them. So they are not branched around, however long they
//! are, if gangs go both ways now and then. Where nearly all gangs go the same way, a branch is cheaper still: it needs no
//! `select`.

use super::Recorder;
use super::state::State;
use crate::passes::fuse;
use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::program::{FuncId, Function, Inst, Reg};
use spmdvm_vm::types::Shape;
use std::ops::Range;

/// Most instructions that are executed even if no lane is active.
const LINEAR: u32 = 24;

/// Most instructions of a similar arm.
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
    /// Returns whether the instructions from here to a label are to be executed even if no lane is active.
    pub(super) fn executes_always(&mut self, state: &State, label: u32) -> bool {
        let (function, pc) = self.place(state);
        let length = label.saturating_sub(pc + 1);
        if self.is_at_similar_arms(state) {
            return true;
        }
        if !(1..=LINEAR).contains(&length) {
            return false;
        }
        let cost = cost(&self.function(function).code[pc as usize + 1..label as usize]);
        self.advice.executes_always((function, pc + 1), (function, pc), cost) && self.is_linear(function, pc + 1..label)
    }

    /// Returns whether instructions heed the mask one after another. Among them may be whole `if`s, and at the end all lanes may leave to
    /// what follows.
    fn is_linear(&mut self, function: FuncId, arm: Range<u32>) -> bool {
        let f = self.function(function);
        let label = arm.end;
        let mut open = 0;
        for at in arm {
            let inst = &f.code[at as usize];
            let inside = at < inst.aux && inst.aux <= label;
            let heeds = match inst.op {
                Op::MaskIf => {
                    open += 1;
                    inside && inst.aux < label && !self.analysis(function).is_label(at)
                }
                // Whoever jumps to these has come from their `if`.
                Op::MaskElse => inside && open > 0,
                Op::MaskEndif => {
                    open -= 1;
                    inside && open >= 0
                }
                Op::MaskBreak => at + 1 == label && inst.aux == label && open == 0,
                _ => self.heeds_mask(function, at, label),
            };
            if !heeds {
                return false;
            }
        }
        open == 0
    }

    /// Returns whether an instruction does nothing that can be told, up to a label, if no lane is active. Loads and stores for every lane
    /// are masked; others may turn out to have one address, which is accessed or not.
    fn heeds_mask(&mut self, function: FuncId, at: u32, label: u32) -> bool {
        let f = self.function(function);
        let inst = &f.code[at as usize];
        let pure = matches!(inst.op.info().form, Form::Unary | Form::Binary | Form::Ternary | Form::Compare)
            || matches!(inst.op, Op::Mov | Op::Select | Op::Convert | Op::Bitcast | Op::Iota | Op::Assign);
        let analysis = self.analysis(function);
        match inst.op {
            Op::LoadLane | Op::StoreLane => !analysis.is_label(at),
            _ if pure => {
                let temporary = f.reg(inst.dst).shape == Shape::Varying || !analysis.is_live(label, inst.dst);
                temporary && !analysis.is_label(at)
            }
            _ => false,
        }
    }

    /// Returns whether the state is at one of two similar arms that are both to be executed whatever lanes are active.
    fn is_at_similar_arms(&mut self, state: &State) -> bool {
        let (function, pc) = self.place(state);
        let f = self.function(function);
        let Some(arms) = Arms::of(f, pc) else { return false };
        let both = [arms.first.start, arms.second.start].map(|at| (function, at));
        self.advice.goes_both_ways((function, arms.branch), both)
            && pays(f, &arms)
            && [&arms.first, &arms.second].into_iter().all(|arm| self.is_pure(function, arm))
    }

    /// Returns whether an arm does nothing that could be told if no lane were active, and stores nothing.
    fn is_pure(&mut self, function: FuncId, arm: &Range<u32>) -> bool {
        let f = self.function(function);
        arm.clone().all(|at| f.code[at as usize].op != Op::StoreLane && self.heeds_mask(function, at, arm.end))
    }
}

/// What instructions cost, in simple ones.
fn cost(code: &[Inst]) -> u32 {
    code.iter().map(|inst| fuse::cost(inst.op, inst.ty, inst.from).unsigned_abs().div_ceil(2)).sum()
}

/// Returns whether the arms are the same operations, and take longer than to select the operands that differ.
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
