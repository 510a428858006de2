//! How many instructions of the bytecode run in compiled code, and how many on the interpreter: about.
//!
//! Neither counts instructions: that would cost more than it tells. Both count rounds of loops and calls: the interpreter those
//! that it begins, by head, for that is how loops turn hot; compiled code the units of fuel. Each is taken for as many
//! instructions as a round of the loop has without the loops in it, or the called function without its loops. Of the units of a
//! region those count that its innermost loops count: most are theirs. So where one side does all the share is right, and in
//! between it is as good as rounds of a loop are alike.

use super::Jit;
use super::hot_loop::Begins;
use crate::counted::natural_loops;
use crate::dominance::Dominators;
use crate::ir::{Kind, Region};
use crate::passes::licm::Loops;
use crate::profile::ProgramPoint;
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::PreparedProgram;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Program};
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// How many instructions of the bytecode have been executed, about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Instructions {
    /// In compiled code.
    pub native: u64,
    /// By the interpreter.
    pub interpreted: u64,
}

impl Instructions {
    /// The share of them that was executed in compiled code; 0 if there were none.
    pub fn native_share(self) -> f64 {
        let all = self.native + self.interpreted;
        if all == 0 { 0.0 } else { self.native as f64 / all as f64 }
    }
}

impl std::ops::Add for Instructions {
    type Output = Instructions;

    fn add(self, other: Instructions) -> Instructions {
        Instructions { native: self.native + other.native, interpreted: self.interpreted + other.interpreted }
    }
}

impl Jit {
    /// How many instructions of its program, prepared with it, have been executed so far, about.
    pub fn instructions(&self, prepared: &PreparedProgram) -> Instructions {
        let sizes = self.sizes.of(prepared.program());
        let rounds = prepared.interpreted_rounds().filter(|(_, rounds)| *rounds != 0);
        let interpreted: u64 = rounds.map(|(head, rounds)| rounds.saturating_mul(sizes.round(head))).sum();
        Instructions {
            native: self.native_instructions.load(Ordering::Relaxed),
            interpreted: interpreted + self.observed_instructions.load(Ordering::Relaxed),
        }
    }
}

/// How many instructions of the bytecode an entry of a region stands for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    /// Each unit of fuel.
    per_round: u64,
    /// The entry itself: the round, or the call, that was begun before.
    per_entry: u64,
}

impl Size {
    /// That of a region.
    pub fn of(sizes: &Sizes, program: &Program, region: &Region, begins: Begins) -> Size {
        let sizes = sizes.of(program);
        let per_round = sizes.unit(region);
        let per_entry = match begins {
            Begins::Loop => sizes.round((region.function, region.pc)),
            Begins::Function | Begins::Rest => sizes.straight(region.function),
        };
        Size { per_round, per_entry }
    }

    /// Of an entry with so many units.
    pub fn times(self, units: u64) -> u64 {
        self.per_entry + units.saturating_mul(self.per_round)
    }
}

/// Of a function, by instruction: the header of the innermost loop around it; and how many instructions have each header, or none.
type ByLoop = (Vec<Option<u32>>, HashMap<Option<u32>, u64>);

/// How many instructions the functions of a program and their loops have, each counted when it is first asked about.
#[derive(Default)]
pub(super) struct Sizes {
    functions: OnceLock<Box<[OnceLock<ByLoop>]>>,
}

/// The sizes in a program.
#[derive(Clone, Copy)]
struct SizesIn<'a> {
    program: &'a Program,
    functions: &'a [OnceLock<ByLoop>],
}

impl Sizes {
    fn of<'a>(&'a self, program: &'a Program) -> SizesIn<'a> {
        let functions = self.functions.get_or_init(|| program.functions.iter().map(|_| OnceLock::new()).collect());
        SizesIn { program, functions }
    }
}

impl<'a> SizesIn<'a> {
    fn function(self, id: FuncId) -> &'a ByLoop {
        let f = &self.program.functions[id.0 as usize];
        self.functions[id.0 as usize].get_or_init(|| {
            let mut innermost = vec![None; f.code.len()];
            for l in natural_loops(&f.code) {
                l.body.iter().for_each(|&at| innermost[at as usize] = Some(l.header));
            }
            let mut counts = HashMap::new();
            innermost.iter().for_each(|head| *counts.entry(*head).or_insert(0) += 1);
            (innermost, counts)
        })
    }

    /// Instructions of a round of a loop but for the loops in it, or of a function but for its loops, by its head.
    fn round(self, (function, pc): ProgramPoint) -> u64 {
        let (innermost, counts) = self.function(function);
        counts.get(&innermost[pc as usize]).copied().unwrap_or(1)
    }

    /// Instructions of a function but for its loops.
    fn straight(self, function: FuncId) -> u64 {
        self.function(function).1.get(&None).copied().unwrap_or(1)
    }

    /// What a unit of fuel stands for in a region.
    fn unit(self, region: &Region) -> u64 {
        let dominators = Dominators::new(region);
        let loops = Loops::new(region, &dominators);
        let mut units = Vec::new();
        for &b in dominators.order() {
            for inst in &region.block(b).insts {
                if let Kind::Tick { units: n, exit } = inst.kind
                    && let Some(frame) = region.exits[exit.index()].frames.last()
                {
                    // What is counted together is taken for the same.
                    units.extend((0..n).map(|_| (loops.around(b).count(), (frame.function, frame.pc))));
                }
            }
        }
        let Some(deepest) = units.iter().map(|unit| unit.0).max() else {
            return self.round((region.function, region.pc));
        };
        units.retain(|unit| unit.0 == deepest);
        let sum: u64 = units.iter().map(|&(_, at)| self.counted_at(at)).sum();
        sum / units.len() as u64
    }

    /// What the unit stands for that an instruction counts: a round, or a call.
    fn counted_at(self, (function, pc): ProgramPoint) -> u64 {
        let inst = &self.program.functions[function.0 as usize].code[pc as usize];
        if inst.op == Op::Call {
            return self.straight(FuncId(inst.aux));
        }
        self.round((function, pc))
    }
}
