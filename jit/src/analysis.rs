//! What the recorder asks about a bytecode function: live registers, labels, loops.

use spmdvm_vm::flow::{each_read, each_written, edges, predecessors};
use spmdvm_vm::program::{Function, Reg};
use spmdvm_vm::properties::Properties;
use spmdvm_vm::types::Width;
use std::cell::OnceCell;

/// Facts about a function, computed once.
pub struct Analysis {
    /// Registers that may be read at or after an instruction before they are written again; a bit set per instruction.
    live: Vec<Vec<u64>>,
    /// Is the instruction the target of a jump?
    label: Vec<bool>,
    /// The instructions from which each instruction is reached.
    before: Vec<Vec<u32>>,
    properties: OnceCell<Properties>,
}

impl Analysis {
    /// Analyses a function: backward data flow by a work list.
    pub fn new(f: &Function) -> Analysis {
        let n = f.code.len();
        let words = f.regs.len().div_ceil(64);
        let before = predecessors(&f.code);
        let mut label = vec![false; n];
        for edge in (0..n).flat_map(|at| edges(&f.code, at)) {
            label[edge.to] |= edge.jumps;
        }
        let mut live = vec![vec![0; words]; n];
        let mut work: Vec<usize> = (0..n).collect();
        while let Some(at) = work.pop() {
            let now = live_in(f, at, &live, words);
            if now != live[at] {
                live[at] = now;
                work.extend(before[at].iter().map(|&p| p as usize));
            }
        }
        Analysis { live, label, before, properties: OnceCell::new() }
    }

    /// Registers live at an instruction, ascending. Constant registers are among them.
    pub fn live(&self, at: u32) -> impl Iterator<Item = Reg> + '_ {
        self.live[at as usize].iter().enumerate().flat_map(|(i, &word)| {
            let bits = (0..64).filter(move |b| word & (1 << b) != 0);
            bits.map(move |b| Reg(i as u32 * 64 + b))
        })
    }

    /// Is a register live at an instruction?
    pub fn is_live(&self, at: u32, reg: Reg) -> bool {
        self.live[at as usize][reg.index() / 64] & (1 << (reg.index() % 64)) != 0
    }

    /// What is known of lanes in the function, analysed when it is first asked for.
    pub fn properties(&self, f: &Function, width: Width) -> &Properties {
        self.properties.get_or_init(|| Properties::new(f, width))
    }

    /// Is the instruction the target of a jump?
    pub fn is_label(&self, at: u32) -> bool {
        self.label[at as usize]
    }

    /// The heads of loops: instructions to which a jump leads back.
    pub fn heads(&self) -> impl Iterator<Item = u32> {
        let before = (0..).zip(&self.before);
        before.filter(|(at, before)| before.iter().any(|p| p >= at)).map(|(at, _)| at)
    }

    /// The instructions of the loop with this head: those from which a jump back to the head is reached without passing
    /// through it.
    pub fn loop_body(&self, head: u32) -> Vec<bool> {
        let mut inside = vec![false; self.before.len()];
        inside[head as usize] = true;
        let mut work: Vec<u32> = self.before[head as usize].iter().copied().filter(|&p| p >= head).collect();
        while let Some(at) = work.pop() {
            if !std::mem::replace(&mut inside[at as usize], true) {
                work.extend(&self.before[at as usize]);
            }
        }
        inside
    }
}

fn live_in(f: &Function, at: usize, live: &[Vec<u64>], words: usize) -> Vec<u64> {
    let inst = &f.code[at];
    let mut now = vec![0; words];
    for edge in edges(&f.code, at) {
        let mut after = live[edge.to].clone();
        each_written(f, inst, edge.jumps, |r| after[r.index() / 64] &= !(1 << (r.index() % 64)));
        now.iter_mut().zip(after).for_each(|(a, b)| *a |= b);
    }
    each_read(f, inst, |r| now[r.index() / 64] |= 1 << (r.index() % 64));
    now
}
