//! How large the functions of a program are with all that they call: the ground on which calls are inlined or linked.

use crate::profile::ProgramPoint;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Program};

/// Instructions of each function with those of its callees, once for each call.
pub(crate) struct Weights(Vec<u32>);

impl Weights {
    /// Weighs all functions of a program.
    pub fn new(program: &Program) -> Weights {
        let mut known = vec![None; program.functions.len()];
        (0..known.len()).for_each(|id| weigh(program, id, &mut known));
        Weights(known.into_iter().map(|weight| weight.unwrap_or(0)).collect())
    }

    /// The weight of a function; calls of it within itself weigh nothing.
    pub fn of(&self, function: FuncId) -> u32 {
        self.0[function.0 as usize]
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
}
