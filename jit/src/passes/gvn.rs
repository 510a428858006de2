//! Computes equal pure instructions once.
//!
//! Rules: two instructions are equal if kind and arguments are (arguments of commutative operations in either order), and
//! the first one's block dominates the second's. Loads are not pure. Blocks are visited in reverse postorder with one table;
//! an entry counts where its block dominates. What holds for a while only ([`Quiet`]) counts in the same quiet loop, or in its block
//! as long as no memory of a frame begins or ends, and none is freed.

use super::licm::Loops;
use super::{Lasting, Quiet, identity, replace};
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region, Type, Value};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// What makes two instructions equal: kind, arguments and the type of the result. Pure instructions have at most three.
type Expression = (Kind, [Option<Value>; 3], Type);

/// A value that an expression is known to have where its block dominates, and the one found before it.
struct Known {
    block: BlockId,
    /// Of its block, the stretch between instructions that make or end memory.
    stretch: usize,
    value: Value,
    before: Option<usize>,
}

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let mut to = identity(region);
    let mut known: Vec<Known> = Vec::new();
    let mut table: HashMap<Expression, usize, BuildHasherDefault<Mix>> = HashMap::default();
    let lasting = Lasting::new(region, &dominators);
    let quiet = if lasting.all() { Quiet::default() } else { Quiet::new(region, &Loops::new(region, &dominators)) };
    for &b in dominators.order() {
        let mut stretch = 0;
        let mut insts = std::mem::take(&mut region.blocks[b.index()].insts);
        insts.retain_mut(|inst| {
            inst.args.iter_mut().for_each(|v| *v = to[v.index()]);
            stretch += region.makes_or_ends_memory(inst.kind) as usize;
            let stable = lasting.is_stable(inst);
            let Some(result) = inst.result.filter(|_| inst.kind.is_pure() && inst.args.len() <= 3) else { return true };
            let last = table.entry((inst.kind, ordered(inst), region.types[result.index()])).or_insert(usize::MAX);
            let chain = std::iter::successors(known.get(*last), |k| k.before.map(|i| &known[i]));
            let holds = |k: &Known| {
                let here = k.block == b && k.stretch == stretch;
                stable || here || quiet.around(b).is_some_and(|l| quiet.around(k.block) == Some(l))
            };
            let found = chain.into_iter().find(|k| dominators.dominates(k.block, b) && holds(k)).map(|k| k.value);
            match found {
                Some(v) => {
                    to[result.index()] = v;
                    false
                }
                None => {
                    known.push(Known {
                        block: b,
                        stretch,
                        value: result,
                        before: (*last != usize::MAX).then_some(*last),
                    });
                    *last = known.len() - 1;
                    true
                }
            }
        });
        region.blocks[b.index()].insts = insts;
    }
    replace(region, &to);
}

/// The arguments, those of commutative operations sorted.
fn ordered(inst: &Inst) -> [Option<Value>; 3] {
    let mut args = [None; 3];
    args.iter_mut().zip(&inst.args).for_each(|(to, &v)| *to = Some(v));
    if let Kind::Op { op, .. } = inst.kind
        && op.info().commutative
    {
        args[..2].sort();
    }
    args
}

/// A hash of few small numbers that nobody chooses to collide: regions are made by the recorder, and there are bounds on them.
#[derive(Default)]
struct Mix(u64);

impl Mix {
    fn add(&mut self, x: u64) {
        self.0 = (self.0.rotate_left(5) ^ x).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&b| self.add(b as u64));
    }

    fn write_u32(&mut self, x: u32) {
        self.add(x as u64);
    }

    fn write_u64(&mut self, x: u64) {
        self.add(x);
    }

    fn write_usize(&mut self, x: usize) {
        self.add(x as u64);
    }
}
