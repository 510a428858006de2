//! Moves pure instructions out of loops whose rounds do not change their arguments.
//!
//! Rules: a division stays behind the guard of its divisor. Any other instruction may move to any block that its arguments'
//! definitions dominate and that dominates its own, since pure instructions have no effect and cannot fail; computing one too
//! often costs time only. It is moved to the end of the block that enters the outermost loop in which it does not change, and
//! only if that block is executed at most as often: a block outside of the loop that dominates it. Cold blocks keep their
//! instructions (what is computed rarely is not to be computed always), and so do splats, which back ends make from scalars
//! more cheaply than they keep them.

use super::{Lasting, Quiet};
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region};
use spmdvm_vm::isa::Op;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let loops = Loops::new(region, &dominators);
    let mut home = definitions(region);
    let lasting = Lasting::new(region, &dominators);
    let quiet = if lasting.all() { Quiet::default() } else { Quiet::new(region, &loops) };
    for &b in dominators.order() {
        if region.block(b).cold || loops.of(b).is_none() {
            continue;
        }
        let insts = std::mem::take(&mut region.blocks[b.index()].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for inst in insts {
            let stable = lasting.is_stable(&inst);
            let may_leave = |l: usize| stable || quiet.is_quiet(l);
            match target(&inst, b, &home, &loops, &dominators, may_leave) {
                Some(to) => {
                    if let Some(v) = inst.result {
                        home[v.index()] = to;
                    }
                    region.blocks[to.index()].insts.push(inst);
                }
                None => kept.push(inst),
            }
        }
        region.blocks[b.index()].insts = kept;
    }
}

/// Where an instruction of block `b` moves to, if it does, out of loops that it may leave.
fn target(
    inst: &Inst,
    b: BlockId,
    home: &[BlockId],
    loops: &Loops,
    dominators: &Dominators,
    may_leave: impl Fn(usize) -> bool,
) -> Option<BlockId> {
    let divides = matches!(inst.kind, Kind::Op { op: Op::IDiv | Op::IRem, .. });
    if !inst.kind.is_pure() || divides || matches!(inst.kind, Kind::Splat) {
        return None;
    }
    let mut best = None;
    let mut inner = loops.of(b);
    while let Some(l) = inner {
        let changes = inst.args.iter().any(|a| loops.contains(l, home[a.index()]));
        if changes || !may_leave(l) {
            break;
        }
        let before = dominators.parent(loops.header(l));
        let available = inst.args.iter().all(|a| dominators.dominates(home[a.index()], before));
        if !available {
            break;
        }
        best = Some(before);
        inner = loops.outer(l);
    }
    best
}

/// The block in which each value is defined.
pub(crate) fn definitions(region: &Region) -> Vec<BlockId> {
    let mut home = vec![BlockId(0); region.types.len()];
    for (i, block) in region.blocks.iter().enumerate() {
        let results = block.insts.iter().filter_map(|inst| inst.result);
        for v in block.params.iter().copied().chain(results) {
            home[v.index()] = BlockId(i as u32);
        }
    }
    home
}

/// The natural loops of a region, those with one header taken together.
pub struct Loops {
    headers: Vec<BlockId>,
    bodies: Vec<Vec<bool>>,
    /// The innermost loop of each block.
    innermost: Vec<Option<usize>>,
    outer: Vec<Option<usize>>,
}

impl Loops {
    /// Finds the loops: quadratic in their number.
    pub fn new(region: &Region, dominators: &Dominators) -> Loops {
        let mut before = vec![Vec::new(); region.blocks.len()];
        for &b in dominators.order() {
            region.block(b).end.edges().for_each(|edge| before[edge.to.index()].push(b));
        }
        let mut loops = Loops {
            headers: Vec::new(),
            bodies: Vec::new(),
            innermost: vec![None; region.blocks.len()],
            outer: Vec::new(),
        };
        for &h in dominators.order() {
            let backs: Vec<BlockId> =
                before[h.index()].iter().copied().filter(|&p| dominators.dominates(h, p)).collect();
            if !backs.is_empty() {
                loops.headers.push(h);
                loops.bodies.push(body(h, backs, &before));
            }
        }
        loops.nest();
        loops
    }

    /// Headers come in reverse postorder, so outer loops come before the loops in them.
    fn nest(&mut self) {
        for l in 0..self.headers.len() {
            self.outer.push(self.innermost[self.headers[l].index()]);
            for (b, _) in self.bodies[l].iter().enumerate().filter(|(_, inside)| **inside) {
                self.innermost[b] = Some(l);
            }
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.headers.len()
    }

    /// The innermost loop of a block.
    pub fn of(&self, block: BlockId) -> Option<usize> {
        self.innermost[block.index()]
    }

    /// The loop around a loop.
    pub fn outer(&self, l: usize) -> Option<usize> {
        self.outer[l]
    }

    /// All loops that a block is in, the innermost first.
    pub fn around(&self, block: BlockId) -> impl Iterator<Item = usize> {
        std::iter::successors(self.of(block), |&l| self.outer(l))
    }

    /// The header of a loop.
    pub fn header(&self, l: usize) -> BlockId {
        self.headers[l]
    }

    /// Returns whether a block is in a loop.
    pub fn contains(&self, l: usize, block: BlockId) -> bool {
        self.bodies[l][block.index()]
    }
}

fn body(header: BlockId, mut work: Vec<BlockId>, before: &[Vec<BlockId>]) -> Vec<bool> {
    let mut inside = vec![false; before.len()];
    inside[header.index()] = true;
    while let Some(b) = work.pop() {
        if !std::mem::replace(&mut inside[b.index()], true) {
            work.extend(&before[b.index()]);
        }
    }
    inside
}
