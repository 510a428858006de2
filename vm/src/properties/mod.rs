//! Static SIMD properties: what is known of lanes before a program runs.
//!
//! For each register at each instruction: whether it is the same in all lanes or goes up by one or by a constant from lane
//! to lane, and which low bits of lane 0 are known ([`Lanes`]). For each instruction: whether all lanes are active ([`Mask`]),
//! whether it is done lane after lane, and what the access pattern of its addresses is ([`Access`]). For each loop: whether
//! lanes can part in it ([`LoopInfo`]).
//!
//! # The analysis
//!
//! Forward data flow over a verified function; parameters may hold anything. A property of a register is known for two sets of lanes:
//! for *all* of them, and for those *active* at the instruction. An `assign` or a load settles the active lanes only. When
//! lanes come back (the end of an `if` or a loop, its else part, the next case), a register that was not written
//! since its construct began has the property it had then; of others only what holds for all lanes is left.
//!
//! Strides are numbers modulo 2ⁿ for types of n bits: sums, differences, products with constants and narrower types of them are exact,
//! so `a + b*i` keeps its stride even if some lane wraps around. A wider type does not: an `i32` that wraps between two
//! lanes is not consecutive as an `i64`. So conversions to wider types keep only what is uniform.
//!
//! Where lanes are known to differ in low bits only, as those of an index that is a multiple of the gang's width in lane 0, `&`, `|`,
//! `^`, shifts to the right, and quotients and remainders by multiples of powers of two can be told of them bit by bit.
//!
//! Where ways meet, the strides must agree. Going around a loop can only lose properties, so this ends.
//!
//! # Under assumptions
//!
//! Often that depends on what a run brings: `i % step` goes up by one from lane to lane if `step` is a multiple of the gang's width.
//! [`Properties::assuming`] tells what holds if such things hold ([`Assumption`]), each of them about what a register holds: what
//! was concluded from it is forgotten once the register is written. So whoever tests the registers at an instruction has proved what is
//! said of it.

mod assumptions;
mod lanes;
mod transfer;

pub use assumptions::{Assumed, Assumption};
pub use lanes::Lanes;

use crate::flow::{Edge, edges};
use crate::isa::Op;
use crate::program::{Function, Inst, Reg};
use crate::types::{Shape, Width};
use transfer::Transfer;

/// What is known of the execution mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// All lanes are active.
    All,
    /// Those that were when the function was entered.
    Entry,
    /// Some of them: the instruction is guarded.
    Some,
    /// One lane, or the lanes of one value, after the other: the instruction is executed sequentially.
    Sequential,
}

impl Mask {
    fn join(self, other: Mask) -> Mask {
        match (self, other) {
            _ if self == other => self,
            (Mask::Sequential, _) | (_, Mask::Sequential) => Mask::Sequential,
            _ => Mask::Some,
        }
    }
}

/// How the addresses of the active lanes of a load or store lie, if no index wraps around and no pointer leaves its region's
/// range (where it becomes one that traps).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// One address for all.
    Uniform,
    /// One element after another.
    Consecutive {
        /// Whether the index (or address) of lane 0 is known to be a multiple of the gang's width.
        aligned: bool,
    },
    /// At a constant distance, in bytes.
    Strided(i64),
    /// Anywhere.
    Varying,
}

/// A loop of the bytecode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopInfo {
    /// Its first instruction: the target of a jump back.
    pub head: u32,
    /// Its last jump back.
    pub back: u32,
    /// Whether some lanes can leave it, or skip a part of it, while others go on.
    pub divergent: bool,
}

/// The properties of a function.
#[derive(Clone, Debug)]
pub struct Properties {
    masks: Vec<Option<Mask>>,
    accesses: Vec<Option<Access>>,
    indices: Vec<Lanes>,
    loops: Vec<LoopInfo>,
    at_labels: Vec<Option<State>>,
    assumptions: Vec<Assumption>,
    /// Whether there is a sum with pointers, or offsets, that may differ from lane to lane.
    pointers_differ: bool,
}

/// What holds before an instruction.
#[derive(Clone, Debug, PartialEq)]
struct State {
    all: Vec<Lanes>,
    active: Vec<Lanes>,
    mask: Mask,
    stack: Vec<Entry>,
}

/// An entry of the mask stack.
#[derive(Clone, Debug, PartialEq)]
struct Entry {
    kind: Op,
    mask: Mask,
    /// Whether the condition of an `if` let only some lanes pass.
    parted: bool,
    /// What held for the lanes that were active then.
    active: Vec<Lanes>,
    written: Vec<bool>,
}

impl State {
    fn entry(f: &Function) -> State {
        let of = |decl: &crate::program::RegDecl| match decl.shape {
            Shape::Uniform => Lanes::UNIFORM,
            Shape::Varying => Lanes::VARYING,
        };
        let mut all: Vec<Lanes> = f.regs.iter().map(of).collect();
        for &(r, bits) in f.consts.iter().filter(|(r, _)| f.reg(*r).ty.is_int()) {
            all[r.index()] = Lanes::constant(bits, 8 * f.reg(r).ty.size() as u32);
        }
        State { active: all.clone(), all, mask: Mask::Entry, stack: Vec::new() }
    }

    /// Takes in what holds on another way; returns whether anything got lost.
    fn meet(&mut self, other: &State) -> bool {
        let before = self.clone();
        let join = |a: &mut Vec<Lanes>, b: &[Lanes]| a.iter_mut().zip(b).for_each(|(a, b)| *a = a.join(*b));
        join(&mut self.all, &other.all);
        join(&mut self.active, &other.active);
        self.mask = self.mask.join(other.mask);
        for (a, b) in self.stack.iter_mut().zip(&other.stack) {
            join(&mut a.active, &b.active);
            a.mask = a.mask.join(b.mask);
            a.parted |= b.parted;
            a.written.iter_mut().zip(&b.written).for_each(|(a, b)| *a |= b);
        }
        *self != before
    }
}

impl Properties {
    /// Analyses a verified function.
    pub fn new(f: &Function, width: Width) -> Properties {
        Properties::by(f, Transfer::new(f, width))
    }

    /// What holds besides if something is so that a run must bring. `None` if there is nothing to assume.
    pub fn assuming(f: &Function, width: Width) -> Option<Properties> {
        let transfer = Transfer::assuming(f, width)?;
        Some(Properties::by(f, transfer))
    }

    fn by(f: &Function, transfer: Transfer<'_>) -> Properties {
        let mut at_labels: Vec<Option<State>> = vec![None; f.code.len()];
        let mut leads = vec![false; f.code.len()];
        (0..f.code.len()).flat_map(|at| edges(&f.code, at)).filter(|e| e.jumps).for_each(|e| leads[e.to] = true);
        at_labels[0] = Some(transfer.entry());
        let mut work = vec![0];
        while let Some(start) = work.pop() {
            let Some(mut state) = at_labels[start].clone() else { continue };
            let mut at = start;
            // To the end of the block.
            loop {
                let ways: Vec<Edge> = edges(&f.code, at).collect();
                for edge in ways.iter().filter(|e| e.jumps || leads[e.to]) {
                    let mut after = state.clone();
                    transfer.step(&mut after, at, edge.jumps);
                    let lost = match &mut at_labels[edge.to] {
                        Some(known) => known.meet(&after),
                        none => {
                            *none = Some(after);
                            true
                        }
                    };
                    if lost && !work.contains(&edge.to) {
                        work.push(edge.to);
                    }
                }
                let Some(next) = ways.iter().find(|e| !e.jumps && !leads[e.to]) else { break };
                transfer.step(&mut state, at, false);
                at = next.to;
            }
        }
        let n = f.code.len();
        let mut found = Properties {
            masks: vec![None; n],
            accesses: vec![None; n],
            indices: vec![Lanes::VARYING; n],
            loops: Vec::new(),
            at_labels,
            assumptions: Vec::new(),
            pointers_differ: false,
        };
        found.tabulate(f, &transfer);
        found.assumptions = transfer.into_assumptions();
        found
    }

    fn tabulate(&mut self, f: &Function, transfer: &Transfer<'_>) {
        let mut parts = vec![false; f.code.len()];
        for start in 0..f.code.len() {
            let Some(mut state) = self.at_labels[start].clone() else { continue };
            for (at, inst) in f.code.iter().enumerate().skip(start) {
                if at > start && self.at_labels[at].is_some() {
                    break;
                }
                self.masks[at] = Some(state.mask);
                parts[at] = transfer.parts_lanes(&state, inst);
                let differs = || inst.src.iter().any(|&r| !transfer.lanes(&state.all, r).is_uniform());
                self.pointers_differ |= inst.op == Op::PAdd && differs();
                if matches!(inst.op, Op::Load | Op::LoadLane | Op::Store | Op::StoreLane) {
                    self.accesses[at] = Some(transfer.access(&state, inst));
                    self.indices[at] = transfer.lanes(&state.active, inst.src[1]);
                }
                if !crate::flow::falls_through(inst.op) {
                    break;
                }
                transfer.step(&mut state, at, false);
            }
        }
        for (at, inst) in f.code.iter().enumerate() {
            let back = inst.op.info().sig.has_label() && inst.aux as usize <= at && self.masks[at].is_some();
            if !back {
                continue;
            }
            let divergent = parts[inst.aux as usize..=at].contains(&true);
            match self.loops.iter_mut().find(|l| l.head == inst.aux) {
                Some(known) => (known.back, known.divergent) = (at as u32, divergent),
                None => self.loops.push(LoopInfo { head: inst.aux, back: at as u32, divergent }),
            }
        }
    }

    /// What is known of the mask at an instruction; `None` if it is never reached.
    pub fn mask(&self, at: u32) -> Option<Mask> {
        self.masks[at as usize]
    }

    /// How the addresses of a load or store lie; `None` of other instructions, and of those never reached.
    pub fn access(&self, at: u32) -> Option<Access> {
        self.accesses[at as usize]
    }

    /// Whether each register is known to hold the same in all lanes, active or not, before an instruction. Empty if that is never
    /// reached, or pointers may differ from lane to lane: of those a difference says nothing once one is far outside of its region.
    pub fn same_in_all_lanes(&self, f: &Function, width: Width, at: u32) -> Vec<bool> {
        let at = at as usize;
        if self.pointers_differ {
            return Vec::new();
        }
        let Some(start) = (0..=at).rev().find(|&label| self.at_labels[label].is_some()) else { return Vec::new() };
        let Some(mut state) = self.at_labels[start].clone() else { return Vec::new() };
        let transfer = Transfer::new(f, width);
        for step in start..at {
            if !crate::flow::falls_through(f.code[step].op) {
                return Vec::new();
            }
            transfer.step(&mut state, step, false);
        }
        state.all.iter().map(|lanes| lanes.is_uniform() && lanes.given == 0).collect()
    }

    /// The index of a load or store, as far as active lanes go.
    pub fn index(&self, at: u32) -> Lanes {
        self.indices[at as usize]
    }

    /// What must be so for what is said of lanes.
    pub fn given(&self, lanes: Lanes) -> impl Iterator<Item = Assumption> {
        self.assumptions.iter().enumerate().filter(move |(i, _)| lanes.given >> i & 1 != 0).map(|(_, a)| *a)
    }

    /// The assumptions about a register, by their bits in [`Lanes::given`].
    pub fn about(&self, reg: Reg) -> u32 {
        self.about_any(|r| r == reg)
    }

    /// Those about certain registers.
    pub fn about_any(&self, is_meant: impl Fn(Reg) -> bool) -> u32 {
        self.assumptions.iter().enumerate().filter(|(_, a)| is_meant(a.reg)).fold(0, |bits, (i, _)| bits | 1 << i)
    }

    /// The loops, by where they end.
    pub fn loops(&self) -> &[LoopInfo] {
        &self.loops
    }

    /// What is known of a register before an instruction, in its active lanes; `None` if it is never reached.
    pub fn lanes(&self, f: &Function, width: Width, r: Reg, at: u32) -> Option<Lanes> {
        self.masks[at as usize]?;
        let start = (0..=at as usize).rev().find(|&i| self.at_labels[i].is_some())?;
        let transfer = Transfer::with(f, width, &self.assumptions);
        let mut state = self.at_labels[start].clone()?;
        for i in start..at as usize {
            transfer.step(&mut state, i, false);
        }
        Some(transfer.lanes(&state.active, r))
    }
}

/// Returns whether an instruction makes lanes part by a condition.
fn tests_lanes(inst: &Inst) -> bool {
    matches!(
        inst.op,
        Op::MaskIf | Op::LoopTest | Op::MaskBreakIf | Op::MaskContinueIf | Op::MaskReturnIf | Op::SwitchCase
    )
}

#[cfg(test)]
mod tests;
