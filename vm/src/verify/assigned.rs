//! Definite assignment: every register is written on every path before it is read (invariant P2).
//!
//! Most registers are temporaries, written and read in one basic block; a pass over each block settles them. Of the others
//! nearly all are first written in a block that dominates every read. What is left, such as registers written in both arms
//! of a branch, is numbered and analysed in groups of 64, one word per block, so that memory stays linear in the size of the
//! function.

use super::flow::Graph;
use super::limits::MAX_FLOW_WORK;
use super::{Errors, Rule};
use crate::dominance::Dominators;
use crate::flow::{Edge, each_read, each_written, edges, falls_through};
use crate::isa::Op;
use crate::program::{Function, Reg};

const UNNUMBERED: u32 = u32::MAX;

pub(super) fn check(f: &Function, graph: &Graph, errors: &mut Errors) {
    let blocks = Blocks::of(f, graph);
    let returns = f.code.iter().filter(|inst| inst.op == Op::Ret).count();
    if returns.saturating_mul(f.results.len()) > MAX_FLOW_WORK {
        errors.whole(Rule::Limit, "too many returns of too many results");
        return;
    }
    let (number, exposed) = exposed_registers(f, &blocks, errors);
    let groups = exposed.len().div_ceil(64);
    if groups.saturating_mul(f.code.len()) > MAX_FLOW_WORK {
        errors.whole(Rule::Limit, "too much code for the registers that are written on several ways");
        return;
    }
    for group in 0..groups {
        let of_group = |r: Reg| {
            let n = number[r.index()];
            (n != UNNUMBERED && n as usize / 64 == group).then_some(n % 64)
        };
        let mut at_entry = 0u64;
        for r in entry_registers(f) {
            at_entry |= of_group(r).map_or(0, |bit| 1 << bit);
        }
        let assigned = solve(f, &blocks, at_entry, &of_group, errors);
        if errors.is_over() {
            return;
        }
        report(f, &blocks, &assigned, &of_group, errors);
    }
}

/// Registers with a value at entry: parameters and constants.
fn entry_registers(f: &Function) -> impl Iterator<Item = Reg> + '_ {
    (0..f.n_params).map(Reg).chain(f.consts.iter().map(|c| c.0))
}

/// Basic blocks of the reachable code.
struct Blocks {
    /// First instruction of each block, ascending.
    starts: Vec<u32>,
    /// The block that an instruction begins, else `UNNUMBERED`.
    of_start: Vec<u32>,
    reachable: Vec<bool>,
}

impl Blocks {
    fn of(f: &Function, graph: &Graph) -> Blocks {
        let n = f.code.len();
        let reachable: Vec<bool> = (0..n).map(|at| graph.is_reachable(at)).collect();
        let mut leader = vec![false; n];
        for (at, inst) in f.code.iter().enumerate() {
            let ends = inst.op.info().sig.has_label() || !falls_through(inst.op);
            leader[at] |= at == 0;
            if at + 1 < n {
                leader[at + 1] |= ends || !reachable[at];
            }
            for edge in edges(&f.code, at).filter(|e| e.jumps && reachable[at]) {
                leader[edge.to] = true;
            }
        }
        let mut blocks = Blocks { starts: Vec::new(), of_start: vec![UNNUMBERED; n], reachable };
        for at in (0..n).filter(|&at| leader[at] && blocks.reachable[at]) {
            blocks.of_start[at] = blocks.starts.len() as u32;
            blocks.starts.push(at as u32);
        }
        blocks
    }

    /// The blocks that control goes to from each.
    fn successors(&self, f: &Function) -> Vec<Vec<u32>> {
        let of_block = |block| match self.range(block).last() {
            Some(last) => edges(&f.code, last).map(|edge| self.of_start[edge.to]).collect(),
            None => Vec::new(),
        };
        (0..self.starts.len()).map(of_block).collect()
    }

    /// The register that each block finds written by the instruction above it, which may jump elsewhere before it writes.
    fn handed_on(&self, f: &Function, successors: &[Vec<u32>]) -> Vec<Option<Reg>> {
        let mut ways = vec![0u32; self.starts.len()];
        successors.iter().flatten().for_each(|&to| ways[to as usize] += 1);
        let of_block = |block: usize| {
            let above = (self.starts[block] as usize).checked_sub(1).filter(|&at| self.reachable[at])?;
            let inst = &f.code[above];
            let hands_on = ways[block] == 1 && falls_through(inst.op) && !inst.dst.is_none();
            hands_on.then_some(inst.dst)
        };
        (0..self.starts.len()).map(of_block).collect()
    }

    /// Instructions of a block: up to the next leader or unreachable instruction.
    fn range(&self, block: usize) -> std::ops::Range<usize> {
        let start = self.starts[block] as usize;
        let end = self.starts.get(block + 1).map_or(self.of_start.len(), |&s| s as usize);
        let stop = (start..end).find(|&at| !self.reachable[at]).unwrap_or(end);
        start..stop
    }
}

/// Numbers the registers that some block reads before writing them, if the block that writes them first does not dominate it.
fn exposed_registers(f: &Function, blocks: &Blocks, errors: &Errors) -> (Vec<u32>, Vec<Reg>) {
    let successors = blocks.successors(f);
    let handed = blocks.handed_on(f, &successors);
    let dominators = Dominators::new(blocks.starts.len(), &successors);
    let first = first_writers(f, blocks, &handed);
    let mut number = vec![UNNUMBERED; f.regs.len()];
    let mut exposed = Vec::new();
    let mut written_in = vec![UNNUMBERED; f.regs.len()];
    for (block, handed) in handed.iter().enumerate() {
        if errors.is_over() {
            break;
        }
        if let Some(r) = handed {
            written_in[r.index()] = block as u32;
        }
        for at in blocks.range(block) {
            let inst = &f.code[at];
            each_read(f, inst, |r| {
                let i = r.index();
                let is_settled = match first[i] {
                    AT_ENTRY => true,
                    UNNUMBERED => false,
                    writer => dominators.strictly_dominates(writer as usize, block),
                };
                if written_in[i] != block as u32 && !is_settled && number[i] == UNNUMBERED {
                    number[i] = exposed.len() as u32;
                    exposed.push(r);
                }
            });
            each_written(f, inst, false, |r| written_in[r.index()] = block as u32);
        }
    }
    (number, exposed)
}

/// A register with a value at entry.
const AT_ENTRY: u32 = u32::MAX - 1;

/// Of each register the first block, in the order of the code, at whose end it has been written, whichever way is taken.
fn first_writers(f: &Function, blocks: &Blocks, handed: &[Option<Reg>]) -> Vec<u32> {
    let mut first = vec![UNNUMBERED; f.regs.len()];
    entry_registers(f).for_each(|r| first[r.index()] = AT_ENTRY);
    for (block, &handed) in handed.iter().enumerate() {
        let mut note = |r: Reg| {
            let first = &mut first[r.index()];
            *first = if *first == UNNUMBERED { block as u32 } else { *first };
        };
        handed.into_iter().for_each(&mut note);
        for at in blocks.range(block) {
            // A jump comes before the write of its destination.
            let jumps = f.code[at].op.info().sig.has_label();
            each_written(f, &f.code[at], jumps, &mut note);
        }
    }
    first
}

/// The registers of a group that are assigned at the start of each block; all of them where no path has come yet.
fn solve(
    f: &Function,
    blocks: &Blocks,
    at_entry: u64,
    of_group: &impl Fn(Reg) -> Option<u32>,
    errors: &Errors,
) -> Vec<u64> {
    let mut assigned = vec![u64::MAX; blocks.starts.len()];
    let mut queued = vec![true; blocks.starts.len()];
    let mut todo: Vec<u32> = (0..blocks.starts.len() as u32).rev().collect();
    if let Some(first) = assigned.first_mut() {
        *first = at_entry;
    }
    while let Some(block) = todo.pop() {
        if errors.is_over() {
            break;
        }
        queued[block as usize] = false;
        let mut now = assigned[block as usize];
        let range = blocks.range(block as usize);
        let Some(last) = range.clone().last() else { continue };
        for at in range.start..last {
            each_written(f, &f.code[at], false, |r| now |= of_group(r).map_or(0, |b| 1 << b));
        }
        for Edge { to, jumps } in edges(&f.code, last) {
            let mut out = now;
            each_written(f, &f.code[last], jumps, |r| out |= of_group(r).map_or(0, |b| 1 << b));
            let next = blocks.of_start[to] as usize;
            if assigned[next] & !out != 0 {
                assigned[next] &= out;
                if !std::mem::replace(&mut queued[next], true) {
                    todo.push(next as u32);
                }
            }
        }
    }
    assigned
}

fn report(
    f: &Function,
    blocks: &Blocks,
    assigned: &[u64],
    of_group: &impl Fn(Reg) -> Option<u32>,
    errors: &mut Errors,
) {
    for (block, &at_start) in assigned.iter().enumerate() {
        let mut now = at_start;
        for at in blocks.range(block) {
            let inst = &f.code[at];
            each_read(f, inst, |r| {
                if of_group(r).is_some_and(|bit| now & (1 << bit) == 0) {
                    now |= of_group(r).map_or(0, |b| 1 << b);
                    let name = f.reg(r).name.as_ref().map_or(String::new(), |n| format!(" (`{n}`)"));
                    errors.at(at, Rule::Unassigned, format!("r{}{name} may be read before it is written", r.0));
                }
            });
            each_written(f, inst, false, |r| now |= of_group(r).map_or(0, |b| 1 << b));
        }
    }
}
