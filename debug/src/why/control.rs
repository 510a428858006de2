//! Which branches decide whether an instruction is executed: control dependence.
//!
//! Post-dominators are computed as in "A Simple, Fast Dominance Algorithm" (Cooper, Harvey, Kennedy, 2001) on the reversed
//! graph, and dependence from them as in "The Program Dependence Graph and Its Use in Optimization" (Ferrante, Ottenstein,
//! Warren, 1987).

use spmdvm::vm::flow::edges;
use spmdvm::vm::{Function, Inst, Op};
use std::collections::HashSet;

/// By instruction: the branches that it depends on directly.
pub struct Control {
    branches: Vec<Vec<u32>>,
    /// By instruction: the one that opened the construct it belongs to, for those that go on with one.
    openers: Vec<Option<u32>>,
}

impl Control {
    /// That of a function.
    pub fn new(function: &Function) -> Control {
        let code = &function.code;
        let n = code.len();
        let successors: Vec<Vec<usize>> = (0..n)
            .map(|at| {
                let next: Vec<usize> = edges(code, at).map(|edge| edge.to).collect();
                // The end is one more node.
                if next.is_empty() { vec![n] } else { next }
            })
            .collect();
        let parent = post_dominators(&successors);
        let mut branches = vec![Vec::new(); n];
        for (at, next) in successors.iter().enumerate().filter(|(_, next)| next.len() > 1) {
            for &to in next {
                let mut node = to;
                while node != parent[at] && node < n {
                    if branches[node].last() != Some(&(at as u32)) {
                        branches[node].push(at as u32);
                    }
                    node = parent[node];
                }
            }
        }
        Control { branches, openers: openers(code) }
    }

    /// The branches on conditions that an instruction depends on. Where one is none (it only skips what no lane is left
    /// for), those that it depends on in turn.
    pub fn of(&self, code: &[Inst], pc: u32) -> Vec<u32> {
        let (mut seen, mut todo, mut found) = (HashSet::new(), vec![pc], Vec::new());
        while let Some(at) = todo.pop() {
            for &branch in &self.branches[at as usize] {
                if !seen.insert(branch) {
                    continue;
                }
                match code[branch as usize].op {
                    Op::MaskElse => found.extend(self.openers[branch as usize]),
                    op if decides(op) => found.push(branch),
                    _ => todo.push(branch),
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether an operation decides by a condition of the source, or by turns.
fn decides(op: Op) -> bool {
    use Op::*;
    matches!(op, MaskIf | LoopTest | SwitchCase | BrTrue | BrFalse | EachLane | EachAll | EachUnique)
}

/// The instructions that opened what `mask.else` goes on with.
fn openers(code: &[Inst]) -> Vec<Option<u32>> {
    let mut open = Vec::new();
    let opener = |(at, inst): (usize, &Inst)| {
        match inst.op {
            Op::MaskIf => open.push(at as u32),
            Op::MaskEndif => drop(open.pop()),
            _ => {}
        }
        (inst.op == Op::MaskElse).then(|| open.last().copied()).flatten()
    };
    code.iter().enumerate().map(opener).collect()
}

/// The immediate post-dominator of each node; the last node is the end. Nodes that never come to the end get it, too.
fn post_dominators(successors: &[Vec<usize>]) -> Vec<usize> {
    let end = successors.len();
    let mut predecessors = vec![Vec::new(); end + 1];
    for (at, next) in successors.iter().enumerate() {
        next.iter().for_each(|&to| predecessors[to].push(at));
    }
    let order = postorder(&predecessors, end);
    let mut number = vec![usize::MAX; end + 1];
    order.iter().enumerate().for_each(|(i, &node)| number[node] = i);
    let mut parent = vec![usize::MAX; end + 1];
    parent[end] = end;
    let mut changes = true;
    while changes {
        changes = false;
        for &node in order.iter().rev().filter(|&&node| node != end) {
            let known = successors[node].iter().copied().filter(|&next| parent[next] != usize::MAX);
            let Some(new) = known.reduce(|a, b| meet(a, b, &parent, &number)) else { continue };
            changes |= parent[node] != new;
            parent[node] = new;
        }
    }
    parent.iter_mut().filter(|parent| **parent == usize::MAX).for_each(|parent| *parent = end);
    parent
}

/// The nearest node above both.
fn meet(mut a: usize, mut b: usize, parent: &[usize], number: &[usize]) -> usize {
    while a != b {
        while number[a] < number[b] {
            a = parent[a];
        }
        while number[b] < number[a] {
            b = parent[b];
        }
    }
    a
}

/// The nodes that are reached from one, each behind those that are reached from it.
fn postorder(next: &[Vec<usize>], from: usize) -> Vec<usize> {
    let (mut order, mut seen, mut stack) = (Vec::new(), vec![false; next.len()], vec![(from, 0)]);
    seen[from] = true;
    while let Some((node, at)) = stack.pop() {
        match next[node].get(at) {
            Some(&to) => {
                stack.push((node, at + 1));
                if !std::mem::replace(&mut seen[to], true) {
                    stack.push((to, 0));
                }
            }
            None => order.push(node),
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By instruction, the operations of the branches it depends on.
    fn decided_by(source: &str) -> Vec<(Op, Vec<Op>)> {
        let module = spmdvm::Module::compile("t.ispc", source, &spmdvm::Options::default()).expect("it is right");
        let export = &module.exports()[0];
        let function = &module.program().functions[export.function.0 as usize];
        let control = Control::new(function);
        let code = &function.code;
        let of = |at: usize| control.of(code, at as u32).iter().map(|&b| code[b as usize].op).collect();
        (0..code.len()).map(|at| (code[at].op, of(at))).collect()
    }

    #[test]
    fn branches_decide_what_is_within_them() {
        let source = "export void f(uniform int a[], uniform int n) {
            int x = programIndex;
            if (x > 3) x = 7; else { for (uniform int i = 0; i < n; i++) x = x * 2; }
            a[programIndex] = x;
        }";
        let all = decided_by(source);
        let of = |op: Op| all.iter().filter(|(found, _)| *found == op).map(|(_, by)| by.clone()).collect::<Vec<_>>();
        assert_eq!(of(Op::Assign), [vec![Op::MaskIf], vec![Op::BrTrue]]);
        assert_eq!(of(Op::StoreLane), [vec![]]);
        // The head of the loop is executed for the first time because of the `else`, and later because of itself.
        assert_eq!(of(Op::BrTrue), [vec![Op::MaskIf, Op::BrTrue]]);
        assert_eq!(of(Op::MaskIf), [vec![]]);
    }

    #[test]
    fn code_behind_a_break_depends_on_the_loop() {
        let source = "export void f(uniform int a[]) {
            int x = programIndex;
            while (x < 100) { if (x == 50) break; x = x * 2; }
            a[programIndex] = x;
        }";
        let all = decided_by(source);
        let assigns: Vec<_> = all.iter().filter(|(op, _)| *op == Op::Assign).map(|(_, by)| by.clone()).collect();
        assert_eq!(assigns, [vec![Op::LoopTest]]);
    }
}
