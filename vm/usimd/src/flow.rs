//! The control-flow graph of a program, its dominators and post-dominators.
//!
//! Programs are small, so both relations are kept as sets of instructions, found by the textbook iteration: a node's
//! dominators are itself and what dominates all its predecessors. The exit is a node of its own behind every `stop`. A
//! loop that cannot end is taken to end at its backward jumps, so that "on every path to the end" says something there.

use super::program::{Inst, Pc, Program};
use std::collections::VecDeque;

/// Control flow of a program, with dominance.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Successors of each instruction; the exit has the number of instructions.
    successors: Vec<Vec<Pc>>,
    dominators: Sets,
    post_dominators: Sets,
    reachable: Vec<bool>,
}

impl Flow {
    pub(super) fn of(program: &Program) -> Flow {
        let mut successors: Vec<Vec<Pc>> = (0..program.code.len()).map(|pc| successors(program, pc)).collect();
        successors.push(Vec::new());
        let exit = program.code.len();
        end_endless_loops(&mut successors, exit);
        let predecessors = reversed(&successors);
        let reachable = reached(&successors, 0);
        let dominators = dominators(&predecessors, &order(&successors, 0), 0);
        let post_dominators = dominators_of_reverse(&successors, &predecessors, exit);
        Flow { successors, dominators, post_dominators, reachable }
    }

    /// The exit: what `stop` goes to.
    pub fn exit(&self) -> Pc {
        self.successors.len() - 1
    }

    /// What may be executed after an instruction.
    pub fn successors(&self, pc: Pc) -> &[Pc] {
        &self.successors[pc]
    }

    /// Returns whether it may be executed at all.
    pub fn is_reachable(&self, pc: Pc) -> bool {
        self.reachable[pc]
    }

    /// Returns whether every path from the beginning to `b` crosses `a`.
    pub fn dominates(&self, a: Pc, b: Pc) -> bool {
        self.dominators.contains(b, a)
    }

    /// Returns whether every path from `b` to the end crosses `a`.
    pub fn post_dominates(&self, a: Pc, b: Pc) -> bool {
        self.post_dominators.contains(b, a)
    }

    /// Returns whether `a` dominates `b`, and `b` post-dominates `a` (definition 3.4).
    pub fn control_equivalent(&self, a: Pc, b: Pc) -> bool {
        self.dominates(a, b) && self.post_dominates(b, a)
    }

    /// A shortest path from `from` to `to`, both included, that does not cross `avoid`.
    pub fn path_avoiding(&self, from: Pc, to: Pc, avoid: Option<Pc>) -> Option<Vec<Pc>> {
        let mut came_from: Vec<Option<Pc>> = vec![None; self.successors.len()];
        let mut queue = VecDeque::from([from]);
        let mut seen = vec![false; self.successors.len()];
        seen[from] = true;
        while let Some(pc) = queue.pop_front() {
            if pc == to {
                let mut path: Vec<Pc> = std::iter::successors(Some(to), |&pc| came_from[pc]).collect();
                path.reverse();
                return Some(path);
            }
            for &next in &self.successors[pc] {
                if !seen[next] && Some(next) != avoid {
                    seen[next] = true;
                    came_from[next] = Some(pc);
                    queue.push_back(next);
                }
            }
        }
        None
    }
}

fn successors(program: &Program, pc: Pc) -> Vec<Pc> {
    match program.code[pc] {
        Inst::Stop => vec![program.code.len()],
        Inst::Jmp(l) => vec![l],
        Inst::Bz(_, l) | Inst::JmpMask(_, l) if l == pc + 1 => vec![l],
        Inst::Bz(_, l) | Inst::JmpMask(_, l) => vec![pc + 1, l],
        _ => vec![pc + 1],
    }
}

/// Gives nodes that cannot reach the exit an edge to it, where they jump back.
fn end_endless_loops(successors: &mut [Vec<Pc>], exit: Pc) {
    let ends = reached(&reversed(successors), exit);
    for (pc, next) in successors.iter_mut().enumerate().filter(|(pc, _)| !ends[*pc]) {
        if next.iter().any(|&to| to <= pc) {
            next.push(exit);
        }
    }
}

fn reversed(successors: &[Vec<Pc>]) -> Vec<Vec<Pc>> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (pc, next) in successors.iter().enumerate() {
        next.iter().for_each(|&to| predecessors[to].push(pc));
    }
    predecessors
}

fn reached(successors: &[Vec<Pc>], from: Pc) -> Vec<bool> {
    let mut seen = vec![false; successors.len()];
    order(successors, from).into_iter().for_each(|pc| seen[pc] = true);
    seen
}

/// What can be reached, in reverse postorder: a node comes before its successors, but for loops.
fn order(successors: &[Vec<Pc>], from: Pc) -> Vec<Pc> {
    let mut seen = vec![false; successors.len()];
    let mut postorder = Vec::new();
    let mut stack = vec![(from, 0)];
    seen[from] = true;
    while let Some((pc, next)) = stack.pop() {
        match successors[pc].get(next) {
            None => postorder.push(pc),
            Some(&to) => {
                stack.push((pc, next + 1));
                if !seen[to] {
                    seen[to] = true;
                    stack.push((to, 0));
                }
            }
        }
    }
    postorder.reverse();
    postorder
}

fn dominators_of_reverse(successors: &[Vec<Pc>], predecessors: &[Vec<Pc>], exit: Pc) -> Sets {
    dominators(successors, &order(predecessors, exit), exit)
}

/// For each node the set of its dominators. Nodes that cannot be reached are dominated by all.
fn dominators(predecessors: &[Vec<Pc>], order: &[Pc], root: Pc) -> Sets {
    let mut sets = Sets::full(predecessors.len());
    sets.make_only(root);
    let mut changed = true;
    while changed {
        changed = false;
        for &pc in order.iter().filter(|&&pc| pc != root) {
            changed |= sets.meet(pc, &predecessors[pc]);
        }
    }
    sets
}

/// One set of nodes for each node, as bits.
#[derive(Clone, Debug)]
struct Sets {
    words: usize,
    bits: Vec<u64>,
}

impl Sets {
    fn full(nodes: usize) -> Sets {
        let words = nodes.div_ceil(64);
        Sets { words, bits: vec![u64::MAX; words * nodes] }
    }

    fn row(&self, of: Pc) -> std::ops::Range<usize> {
        of * self.words..(of + 1) * self.words
    }

    fn contains(&self, of: Pc, node: Pc) -> bool {
        self.bits[of * self.words + node / 64] >> (node % 64) & 1 == 1
    }

    fn make_only(&mut self, node: Pc) {
        let row = self.row(node);
        self.bits[row.clone()].fill(0);
        self.bits[row.start + node / 64] |= 1 << (node % 64);
    }

    /// Makes the set of a node itself and what is in the sets of all of `others`. Returns whether it has changed.
    fn meet(&mut self, node: Pc, others: &[Pc]) -> bool {
        let mut changed = false;
        for word in 0..self.words {
            let mut met = others.iter().fold(u64::MAX, |met, &other| met & self.bits[other * self.words + word]);
            if word == node / 64 {
                met |= 1 << (node % 64);
            }
            let old = std::mem::replace(&mut self.bits[node * self.words + word], met);
            changed |= old != met;
        }
        changed
    }
}
