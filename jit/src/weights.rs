//! How large the functions of a program are with all that they call: the ground on which calls are inlined or linked.

use crate::profile::ProgramPoint;
use spmdvm_vm::flow::edges;
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::program::{FuncId, Function, Inst, Program};

/// Instructions of each function with those of its callees, once for each call.
pub(crate) struct Weights {
    weights: Vec<u32>,
    recursion: Vec<usize>,
    base_cases: Vec<Option<BaseCase>>,
}

/// Where the base case of a recursive function begins: behind a branch, before which the function has no effect and cannot fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BaseCase {
    /// The branch.
    pub branch: u32,
    /// Whether it is where the branch jumps.
    pub jumps: bool,
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
        let recursion: Vec<_> =
            (0..).zip(&weights).map(|(id, &weight)| recursion(program, FuncId(id), weight)).collect();
        let base_cases = (0..).zip(&recursion).map(|(id, &depth)| base_case(program, FuncId(id), depth, &weights));
        let base_cases = base_cases.collect();
        Weights { weights, recursion, base_cases }
    }

    /// The weight of a function; calls of it within itself weigh nothing.
    pub fn of(&self, function: FuncId) -> u32 {
        self.weights[function.0 as usize]
    }

    /// How many calls of a function from within itself are inlined one into another.
    pub fn recursion(&self, function: FuncId) -> usize {
        self.recursion[function.0 as usize]
    }

    /// The base case of a recursive function, if it is so small that it is inlined even where the function is not.
    pub fn base_case(&self, function: FuncId) -> Option<BaseCase> {
        self.base_cases[function.0 as usize]
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
    let calls = own_calls(program, id);
    let copies = |depth: usize| (1..=depth as u32).fold(1, |sum: u32, d| sum.saturating_add(calls.saturating_pow(d)));
    let is_small = |depth: &usize| calls != 0 && copies(*depth).saturating_mul(weight) <= COPIES;
    RECURSION.rev().find(is_small).unwrap_or(*RECURSION.start())
}

/// Calls of a function in itself, as often as a region holds them.
fn own_calls(program: &Program, id: FuncId) -> u32 {
    let code = &program.functions[id.0 as usize].code;
    let is_in_loop = |at: u32| {
        let goes_round = |(pc, inst): (u32, &Inst)| inst.op.info().sig.has_label() && inst.aux <= at && at <= pc;
        (0..).zip(code.iter()).any(goes_round)
    };
    let calls = (0..).zip(code.iter()).filter(|(_, inst)| inst.op == Op::Call && inst.aux == id.0);
    calls.map(|(pc, _)| if is_in_loop(pc) { IN_LOOPS } else { 1 }).sum()
}

/// The base case of a function that calls itself and is inlined so deep into itself, if all copies of it weigh little: of the two ways
/// behind the first branch the one that leads to no such call.
fn base_case(program: &Program, id: FuncId, depth: usize, weights: &[u32]) -> Option<BaseCase> {
    let f = &program.functions[id.0 as usize];
    let calls = own_calls(program, id);
    let branch = f.code.iter().position(|inst| !is_harmless(inst))?;
    if calls == 0 || f.frame_size != 0 || !matches!(f.code[branch].op, Op::BrTrue | Op::BrFalse) {
        return None;
    }
    let back = lead_to(program, |other, _| other == id);
    let weigh = |from: u32| {
        let mut sum = 0u32;
        for pc in reached(&f.code, from) {
            let inst = &f.code[pc];
            let callee = inst.aux as usize;
            let more = match inst.op {
                Op::Call if back[callee] => return None,
                Op::CallInd => return None,
                Op::Call => weights[callee],
                _ => 0,
            };
            sum = sum.saturating_add(1).saturating_add(more);
        }
        Some(sum)
    };
    let ways = [(true, f.code[branch].aux), (false, branch as u32 + 1)].map(|(jumps, to)| (jumps, weigh(to)));
    let (jumps, weight) = match ways {
        [(jumps, Some(weight)), (_, None)] | [(_, None), (jumps, Some(weight))] => (jumps, weight),
        _ => return None,
    };
    let copies = calls.saturating_pow(depth as u32 + 1);
    (copies.saturating_mul(weight) <= COPIES).then_some(BaseCase { branch: branch as u32, jumps })
}

/// Returns whether an instruction has no effect, cannot fail, and goes on to the next one.
fn is_harmless(inst: &Inst) -> bool {
    match inst.op.info().form {
        Form::Unary | Form::Binary | Form::Ternary | Form::Compare => true,
        Form::Checked | Form::Reduce => false,
        Form::Special => {
            matches!(inst.op, Op::Mov | Op::Select | Op::Convert | Op::Bitcast | Op::Iota | Op::PAdd)
        }
    }
}

/// Which functions may free memory, they or what they call.
pub(crate) fn free_memory(program: &Program) -> Vec<bool> {
    lead_to(program, |_, f| f.code.iter().any(|inst| inst.op == Op::Free))
}

/// Which functions are some of a kind, or may lead to a call of one.
fn lead_to(program: &Program, is_one: impl Fn(FuncId, &Function) -> bool) -> Vec<bool> {
    let mut found: Vec<bool> = (0..).zip(&program.functions).map(|(id, f)| is_one(FuncId(id), f)).collect();
    if !found.contains(&true) {
        return found;
    }
    loop {
        let leads = |f: &Function| {
            f.code.iter().any(|inst| inst.op == Op::CallInd || inst.op == Op::Call && found[inst.aux as usize])
        };
        let more: Vec<bool> = program.functions.iter().zip(&found).map(|(f, found)| *found || leads(f)).collect();
        if more == found {
            return found;
        }
        found = more;
    }
}

/// The instructions that may be executed from one on.
fn reached(code: &[Inst], from: u32) -> impl Iterator<Item = usize> {
    let mut reached = vec![false; code.len()];
    let mut next = vec![from as usize];
    while let Some(pc) = next.pop() {
        if !std::mem::replace(&mut reached[pc], true) {
            next.extend(edges(code, pc).map(|edge| edge.to));
        }
    }
    reached.into_iter().enumerate().filter(|(_, reached)| *reached).map(|(pc, _)| pc)
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

    /// What is known of the functions of a program, each of which has a parameter `u0`.
    fn base_cases(functions: &[(&str, &str)]) -> Vec<Option<BaseCase>> {
        let function = |(name, code): &(&str, &str)| {
            format!(
                "func {name}(u0:i32) -> (u1) {{\n  const u3:i32 = 1\n  var u1:i32, u2:bool, u4:i32\n{code}  ret\n}}\n"
            )
        };
        let text: String = functions.iter().map(function).collect();
        let program = assemble(&format!(".width 4\n{text}")).unwrap_or_else(|e| panic!("{e:?}"));
        let weights = Weights::new(&program);
        (0..functions.len() as u32).map(|id| weights.base_case(FuncId(id))).collect()
    }

    #[test]
    fn the_base_case_is_the_way_that_does_not_lead_back() {
        let head = "  u2 = lt.i32 u0, u3\n  u1 = mov.i32 u0\n";
        let to = "  u4 = sub.i32 u0, u3\n  u1 = call f(u4)\n";
        let jumps = format!("{head}  br.true u2, L1\n{to}L1:\n");
        let goes_on = format!("{head}  br.false u2, L1\n  jmp L2\nL1:\n{to}L2:\n");
        let found = |code: &str| base_cases(&[("f", code)])[0];
        assert_eq!(found(&jumps), Some(BaseCase { branch: 2, jumps: true }));
        assert_eq!(found(&goes_on), Some(BaseCase { branch: 2, jumps: false }));
        // Both ways lead back, or none does; or something is done before.
        assert_eq!(found(&format!("{head}  br.true u2, L1\n{to}L1:\n{to}")), None);
        assert_eq!(found(&format!("{head}  br.true u2, L1\n  u1 = add.i32 u1, u3\nL1:\n")), None);
        assert_eq!(found(&format!("  u1 = idiv.i32 u0, u0\n{jumps}")), None);
        assert_eq!(found(&format!("  u1 = call f(u0)\n{jumps}")), None);
    }

    #[test]
    fn a_base_case_is_small_and_leads_back_through_no_other_function() {
        let calls = |of: &str, times: usize| {
            let base = format!("  u1 = call {of}(u0)\n").repeat(times);
            format!("  u2 = lt.i32 u0, u3\n  br.true u2, L1\n  u1 = call f(u0)\n  ret\nL1:\n{base}")
        };
        let small = "  u1 = mov.i32 u0\n";
        let other = |f: &str, g: &str| base_cases(&[("f", f), ("g", g)])[0];
        assert_eq!(other(&calls("g", 1), small), Some(BaseCase { branch: 1, jumps: true }));
        assert_eq!(other(&calls("g", 1), "  u1 = call f(u0)\n"), None);
        assert_eq!(other(&calls("g", COPIES as usize), small), None);
    }
}
