//! The natural loops of the bytecode, and those of them that count: what the bytecode says about how often they go round.
//!
//! The header of a natural loop dominates it: of a loop that is entered at the test at its end (as the front end makes them) that
//! is the test, and not the instruction to which it jumps back.

use spmdvm_vm::dominance::Dominators;
use spmdvm_vm::flow::{each_written, edges, predecessors};
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::program::{Function, Inst, Reg};
use spmdvm_vm::sem;
use spmdvm_vm::types::Shape;

/// A loop that ends when a uniform counter, to which each round adds the same once, has reached a bound.
pub(crate) struct CountedLoop {
    /// Its header.
    pub header: u32,
    /// Its instructions, ascending.
    pub body: Vec<u32>,
    /// The counter.
    pub counter: Reg,
    /// What the counter is compared with, which the loop does not write.
    pub bound: Reg,
    /// The addition.
    step: Inst,
    /// What is added.
    by: u64,
    /// The comparison.
    test: Inst,
    /// What the comparison gives where the loop goes on.
    goes_on: bool,
}

impl CountedLoop {
    /// Returns whether an instruction is in the loop.
    pub fn contains(&self, pc: u32) -> bool {
        self.body.binary_search(&pc).is_ok()
    }

    /// How many rounds are left, at most so many, if counter and bound hold these bits where they are compared.
    pub fn rounds(&self, counter: u64, bound: u64, most: u32) -> Option<u32> {
        let mut counter = counter;
        for rounds in 0..=most {
            let operand = |r: Reg| if r == self.counter { counter } else { bound };
            let [a, b, _] = self.test.src;
            let holds = sem::eval(self.test.op, self.test.ty, self.test.ty, [operand(a), operand(b), 0])?;
            if (holds != 0) != self.goes_on {
                return Some(rounds);
            }
            counter = sem::eval(self.step.op, self.step.ty, self.step.ty, [counter, self.by, 0])?;
        }
        None
    }
}

/// A natural loop.
pub(crate) struct NaturalLoop {
    /// The instruction that dominates it.
    pub header: u32,
    /// Its instructions, ascending.
    pub body: Vec<u32>,
}

/// The natural loops of a function, those with one header taken together; the outer ones first.
pub(crate) fn natural_loops(code: &[Inst]) -> Vec<NaturalLoop> {
    let (before, order) = (predecessors(code), reverse_postorder(code));
    let mut is_reached = vec![false; code.len()];
    order.iter().for_each(|&at| is_reached[at] = true);
    let successors: Vec<Vec<u32>> =
        (0..code.len()).map(|at| edges(code, at).map(|edge| edge.to as u32).collect()).collect();
    let dominators = Dominators::new(code.len(), &successors);
    let dominates = |above: usize, at: usize| above == at || dominators.strictly_dominates(above, at);
    let mut loops: Vec<NaturalLoop> = Vec::new();
    // By instruction: the loop that it has been found in last, by header.
    let mut found_in = vec![usize::MAX; code.len()];
    for &header in &order {
        let is_back = |p: &usize| is_reached[*p] && dominates(header, *p);
        let mut work: Vec<usize> = before[header].iter().map(|&p| p as usize).filter(is_back).collect();
        if work.is_empty() {
            continue;
        }
        let mut body = vec![header as u32];
        found_in[header] = header;
        while let Some(at) = work.pop() {
            if is_reached[at] && std::mem::replace(&mut found_in[at], header) != header {
                body.push(at as u32);
                work.extend(before[at].iter().map(|&p| p as usize));
            }
        }
        body.sort_unstable();
        loops.push(NaturalLoop { header: header as u32, body });
    }
    loops.sort_by_key(|l| std::cmp::Reverse(l.body.len()));
    loops
}

/// The instructions that can be reached, each before those that follow it but for ways back.
fn reverse_postorder(code: &[Inst]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut seen = vec![false; code.len()];
    let next = |at: usize| edges(code, at).map(|edge| edge.to).collect::<Vec<_>>();
    let mut open = Vec::new();
    if !code.is_empty() {
        seen[0] = true;
        open.push((0, next(0)));
    }
    while let Some((at, rest)) = open.last_mut() {
        match rest.pop() {
            Some(to) if !std::mem::replace(&mut seen[to], true) => open.push((to, next(to))),
            Some(_) => {}
            None => {
                order.push(*at);
                open.pop();
            }
        }
    }
    order.reverse();
    order
}

/// The counted loops of a function, the outer ones first.
pub(crate) fn counted_loops(f: &Function) -> Vec<CountedLoop> {
    natural_loops(&f.code).into_iter().filter_map(|l| counted_loop(f, l)).collect()
}

fn counted_loop(f: &Function, NaturalLoop { header, body }: NaturalLoop) -> Option<CountedLoop> {
    let within = || body.iter().map(|&at| at as usize);
    let contains = |at: usize| body.binary_search(&(at as u32)).is_ok();
    let writes = |reg: Reg| {
        within().filter(move |&at| {
            let mut writes = false;
            each_written(f, &f.code[at], false, |r| writes |= r == reg);
            writes
        })
    };
    let only = |reg: Reg| {
        let mut all = writes(reg);
        let first = all.next()?;
        all.next().is_none().then(|| f.code[first])
    };
    // Of several ways out any will do.
    within().filter(|&at| matches!(f.code[at].op, Op::BrTrue | Op::BrFalse)).find_map(|at| {
        let branch = &f.code[at];
        let leaves = |jumps: bool| edges(&f.code, at).any(|edge| edge.jumps == jumps && !contains(edge.to));
        let jumps_when = branch.op == Op::BrTrue;
        let goes_on = match (leaves(true), leaves(false)) {
            (true, false) => !jumps_when,
            (false, true) => jumps_when,
            _ => return None,
        };
        let test = only(branch.src[0])?;
        let is_uniform = |r: Reg| !r.is_none() && f.reg(r).shape == Shape::Uniform;
        let [a, b, _] = test.src;
        if test.op.info().form != Form::Compare || !test.ty.is_int() || !is_uniform(a) || !is_uniform(b) || a == b {
            return None;
        }
        [(a, b), (b, a)].into_iter().find_map(|(counter, bound)| {
            let step = only(counter)?;
            let by = match step.op {
                Op::Add if step.src[0] == counter => step.src[1],
                Op::Add if step.src[1] == counter => step.src[0],
                Op::Sub if step.src[0] == counter => step.src[1],
                _ => return None,
            };
            let by = f.constant_bits(by)?;
            let found = writes(bound).next().is_none() && step.ty == test.ty;
            let body = || body.clone();
            found.then(|| CountedLoop { header, body: body(), counter, bound, step, by, test, goes_on })
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm_vm::asm::assemble;

    /// The counted loops of a function of one loop, with these instructions in it.
    fn rounds(step: &str, test: &str, from: i32, bound: i32) -> Vec<Option<u32>> {
        let text = format!(
            ".width 4
func f(u0:i32, u1:i32) -> (u0) {{
  const u2:i32 = 1
  var u3:bool
L0:
  {step}
  {test}
  br.true u3, L0
  ret
}}
"
        );
        let program = assemble(&text).unwrap_or_else(|e| panic!("{e:?}"));
        let f = &program.functions[0];
        let found = counted_loops(f);
        found.iter().map(|l| l.rounds(from as u32 as u64, bound as u32 as u64, 16)).collect()
    }

    #[test]
    fn rounds_are_counted_as_the_loop_would() {
        let (up, down) = ("u0 = add.i32 u0, u2", "u0 = sub.i32 u0, u2");
        assert_eq!(rounds(up, "u3 = lt.i32 u0, u1", 0, 4), [Some(4)]);
        assert_eq!(rounds(up, "u3 = gt.i32 u1, u0", 2, 4), [Some(2)]);
        assert_eq!(rounds(up, "u3 = le.i32 u0, u1", 0, 4), [Some(5)]);
        assert_eq!(rounds(down, "u3 = ne.i32 u0, u1", 3, 0), [Some(3)]);
        assert_eq!(rounds(up, "u3 = lt.i32 u0, u1", 4, 4), [Some(0)]);
        assert_eq!(rounds(up, "u3 = lt.i32 u0, u1", 0, 17), [None]);
        assert_eq!(rounds(up, "u3 = lt.i32 u0, u1", i32::MAX, i32::MAX), [Some(0)]);
        assert_eq!(rounds(up, "u3 = le.i32 u0, u1", i32::MAX, i32::MAX), [None]);
    }

    #[test]
    fn a_loop_that_changes_its_bound_does_not_count() {
        assert_eq!(rounds("u0 = add.i32 u0, u2\n  u1 = add.i32 u1, u2", "u3 = lt.i32 u0, u1", 0, 4), []);
        assert_eq!(rounds("u0 = add.i32 u0, u1", "u3 = lt.i32 u0, u2", 0, 4), []);
        assert_eq!(rounds("u0 = add.i32 u0, u2\n  u0 = add.i32 u0, u2", "u3 = lt.i32 u0, u1", 0, 4), []);
    }
}
