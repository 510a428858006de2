//! How large the functions of a program are with all that they call: the ground on which calls are inlined or linked.

use crate::profile::ProgramPoint;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Inst, Program};

/// Instructions of each function with those of its callees, once for each call.
pub(crate) struct Weights {
    weights: Vec<u32>,
    recursion: Vec<usize>,
}

/// How deep a function that calls itself is inlined into itself, at least and at most.
const RECURSION: std::ops::RangeInclusive<usize> = 1..=4;

/// What all copies of a function that is inlined deeper than the least may weigh together: then a link would take as long as a copy.
const COPIES: u32 = 1200;

impl Weights {
    /// Weighs all functions of a program.
    pub fn new(program: &Program) -> Weights {
        let mut known = vec![None; program.functions.len()];
        (0..known.len()).for_each(|id| weigh(program, id, &mut known));
        let weights: Vec<_> = known.into_iter().map(|weight| weight.unwrap_or(0)).collect();
        let recursion = (0..).zip(&weights).map(|(id, &weight)| recursion(program, FuncId(id), weight)).collect();
        Weights { weights, recursion }
    }

    /// The weight of a function; calls of it within itself weigh nothing.
    pub fn of(&self, function: FuncId) -> u32 {
        self.weights[function.0 as usize]
    }

    /// How many calls of a function from within itself are inlined one into another.
    pub fn recursion(&self, function: FuncId) -> usize {
        self.recursion[function.0 as usize]
    }

    /// Instructions of a function from a head on, as far as they are `inside`, with those of the callees that are at most as heavy
    /// as this.
    pub fn inlined(&self, program: &Program, head: ProgramPoint, inside: &[bool], heaviest: u32) -> u32 {
        let code = &program.functions[head.0.0 as usize].code;
        let within = code.iter().zip(inside).filter(|(_, inside)| **inside).map(|(inst, _)| inst);
        let weights = within.map(|inst| match inst.op {
            Op::Call => 1 + Some(self.of(FuncId(inst.aux))).filter(|w| *w <= heaviest).unwrap_or(0),
            _ => 1,
        });
        weights.fold(0, u32::saturating_add)
    }
}

/// Weighs a function; while that goes on, it weighs nothing.
fn weigh(program: &Program, id: usize, known: &mut [Option<u32>]) {
    if known[id].is_some() {
        return;
    }
    known[id] = Some(0);
    let mut weight = 0u32;
    for inst in &program.functions[id].code {
        let callee = inst.aux as usize;
        if inst.op == Op::Call {
            weigh(program, callee, known);
        }
        let of_callee = if inst.op == Op::Call { known[callee].unwrap_or(0) } else { 0 };
        weight = weight.saturating_add(1).saturating_add(of_callee);
    }
    known[id] = Some(weight);
}

/// How often a region holds what is in a loop: for whole gangs, for all lanes of the rest and for some; or in the first round and later.
const IN_LOOPS: u32 = 3;

/// As many calls within one another as keep the weight of all copies small.
fn recursion(program: &Program, id: FuncId, weight: u32) -> usize {
    let code = &program.functions[id.0 as usize].code;
    let is_in_loop = |at: u32| {
        let goes_round = |(pc, inst): (u32, &Inst)| inst.op.info().sig.has_label() && inst.aux <= at && at <= pc;
        (0..).zip(code.iter()).any(goes_round)
    };
    let calls = (0..).zip(code.iter()).filter(|(_, inst)| inst.op == Op::Call && inst.aux == id.0);
    let calls: u32 = calls.map(|(pc, _)| if is_in_loop(pc) { IN_LOOPS } else { 1 }).sum();
    let copies = |depth: usize| (1..=depth as u32).fold(1, |sum: u32, d| sum.saturating_add(calls.saturating_pow(d)));
    let is_small = |depth: &usize| calls != 0 && copies(*depth).saturating_mul(weight) <= COPIES;
    RECURSION.rev().find(is_small).unwrap_or(*RECURSION.start())
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm_vm::asm::assemble;

    #[test]
    fn callees_count_once_for_each_call() {
        let text = ".width 4
func leaf(u0:i32) -> (u0) {
  ret
}
func twice(u0:i32) -> (u1) {
  var u1:i32
  u1 = call leaf(u0)
  u1 = call leaf(u1)
  ret
}
func endless(u0:i32) -> (u1) {
  var u1:i32
  u1 = call endless(u0)
  ret
}
";
        let program = assemble(text).unwrap_or_else(|e| panic!("{e:?}"));
        let weights = Weights::new(&program);
        assert_eq!([0, 1, 2].map(|id| weights.of(FuncId(id))), [1, 5, 2]);
        let inlined = |heaviest| weights.inlined(&program, (FuncId(1), 0), &[true; 3], heaviest);
        assert_eq!([inlined(0), inlined(1)], [3, 5]);
    }

    #[test]
    fn small_functions_are_inlined_deeper_into_themselves() {
        let function = |name: &str, work: usize, calls: usize| {
            let rest = "  u1 = mov.i32 u0\n".repeat(work) + &format!("  u1 = call {name}(u0)\n").repeat(calls);
            format!("func {name}(u0:i32) -> (u1) {{\n  var u1:i32\n{rest}  ret\n}}\n")
        };
        let many = "func many(u0:i32) -> (u1) {
  var u1:i32, u2:bool
L0:
  u1 = call many(u0)
  u2 = lt.i32 u1, u0
  br.true u2, L0
"
        .to_owned()
            + &"  u1 = mov.i32 u0\n".repeat(40)
            + "  ret\n}\n";
        let text =
            [".width 4\n".into(), function("once", 20, 1), function("twice", 20, 2), function("large", 200, 2), many];
        let program = assemble(&text.concat()).unwrap_or_else(|e| panic!("{e:?}"));
        let weights = Weights::new(&program);
        // What is in a loop is there several times.
        assert_eq!([0, 1, 2, 3].map(|id| weights.recursion(FuncId(id))), [4, 4, 1, 2]);
    }
}
