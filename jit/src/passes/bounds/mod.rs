//! Checks of bounds that others imply disappear; checks by one index are merged, also those of different arrays.
//!
//! The recorder checks every access for itself: `index - low <u span`, where both bounds depend on the pointer alone
//! ([`Kind::IndexLow`], [`Kind::IndexSpan`]), as the condition of a guard; of a gather or scatter, `not any (mask and not …)`.
//! A stencil checks `i`, `i - 1` and `i + 1`, an update checks for reading and for writing, a structure its every field, and
//! a loop over several arrays each of them.
//!
//! # What a check says
//!
//! A check by the index `x + k` (with a constant `k`) of the bytes `[low, high)` at `pointer + index * scale` holds if and
//! only if those bytes lie in the region and the index is not above the type's maximum less [`SPARE_INDICES`](crate::ir::SPARE_INDICES). So
//! it says `start + low + (x + k) * scale ≥ 0` and `start + high + (x + k) * scale ≤ length`, and both are monotone in `k`,
//! `low` and `high`. `x + k` may wrap around, but if it is in bounds for the least `k` of several checks that are at most
//! as many apart, then no other of them does.
//!
//! # Rules
//!
//! *Implied.* A check is dropped if on every way to it another with no greater `k` and `low` has held, and another (or the
//! same) with no smaller `high + k * scale` (of lanes, whose first index is checked, or of the element beside), of the same
//! pointer, scale and index, `k`s at most so many apart; if it is for writing, one of that pointer for writing. A region's length does
//! not change while it exists. What is known of pointers to memory of frames that the region itself may make counts in
//! [quiet](super::Quiet) loops: that memory ends.
//!
//! *Merged.* Several checks in a block by one index, none of which is parted from the next by an effect but strided
//! stores, become one, at the place of the first. Two of one pointer become the check from the least `k` and `low` to
//! the greatest, if that is as strong as both and not stronger: one of them has both the least `k` and the least `low`,
//! one both the greatest `k` and the greatest `high`. Checks that remain apart (of different pointers, as a rule)
//! become one range of `x + k₀`, for the least `k₀` of all: from the greatest of their lower ends to the least of their
//! upper ends. That range is computed from the pointers alone, so this is done only where a loop does not change them,
//! and [`licm`](super::licm) takes it out.
//!
//! If the merged check fails, the region is left by the exit of the first one: the interpreter then does its
//! instruction and those that follow, and traps where it would have. Nothing between the first and the last check has
//! an effect (loads have none) but strided stores, which have not been done then. Those are mostly stores to the
//! members of records, and back ends do them together if nothing is tested between them.
//!
//! *No wrapping.* A lower end moved by `k - k₀` is cut at the type's minimum, which no index is below. An upper end is at
//! most the maximum less all but one of these, so a sum of lower end and span does not wrap; an index below it can be moved up by
//! as many.

mod check;
mod range;

use super::defs::Defs;
use super::licm::{Loops, definitions};
use super::make::Maker;
use super::{Lasting, Quiet};
use crate::dominance::{Dominators, Step};
use crate::ir::{BlockId, Inst, Kind, Region, Value};
use check::{Check, Index, Memory, is_near, parse};
use std::collections::HashMap;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let dominators = Dominators::new(region);
    let defs = Defs::of(region);
    let (home, lasting) = (definitions(region), Lasting::new(region, &dominators));
    let loops = Loops::new(region, &dominators);
    let quiet = if lasting.all() { Quiet::default() } else { Quiet::new(region, &loops) };
    let mut pass = Bounds { region, defs, home, loops, quiet, lasting, held: HashMap::new(), trail: Vec::new() };
    let mut marks = Vec::new();
    for step in dominators.tour() {
        match step {
            Step::Enter(b) => {
                marks.push(pass.trail.len());
                pass.block(b);
            }
            Step::Leave => pass.forget(marks.pop().unwrap_or(0)),
        }
    }
}

/// Checks that become one.
struct Group {
    index: Index,
    /// Where their guards stand in the block.
    guards: Vec<usize>,
    /// What they say together.
    parts: Vec<(Memory, Check)>,
    /// Whether the loop around leaves the bounds of the first part alone. Others are taken in only if it does of them too.
    lasting: bool,
}

struct Bounds<'a> {
    region: &'a mut Region,
    defs: Defs,
    home: Vec<BlockId>,
    loops: Loops,
    quiet: Quiet,
    lasting: Lasting,
    /// The checks that have held on every way to where the tour is.
    held: HashMap<Held, Vec<Check>>,
    /// Keys of checks in the order in which they were noted.
    trail: Vec<Held>,
}

/// What a check that has held is about, and the quiet loop that it holds in, if not everywhere.
type Held = (Memory, Index, Option<usize>);

impl Bounds<'_> {
    fn forget(&mut self, mark: usize) {
        for key in self.trail.drain(mark..) {
            self.held.get_mut(&key).map(Vec::pop);
        }
    }

    fn block(&mut self, b: BlockId) {
        let insts = std::mem::take(&mut self.region.blocks[b.index()].insts);
        let mut drop = vec![false; insts.len()];
        let groups = self.groups(b, &insts, &mut drop);
        let mut conditions: Vec<(usize, Vec<Inst>, Value)> = Vec::new();
        for group in groups.iter().filter(|g| g.guards.len() > 1) {
            let mut made = Vec::new();
            let condition = range::condition(&mut Maker { region: self.region, to: &mut made }, group);
            conditions.push((group.guards[0], made, condition));
            group.guards[1..].iter().for_each(|&at| drop[at] = true);
        }
        conditions.sort_by_key(|c| c.0);
        let mut conditions = conditions.into_iter().peekable();
        let mut done = Vec::with_capacity(insts.len());
        for (at, mut inst) in insts.into_iter().enumerate() {
            if let Some((_, made, condition)) = conditions.next_if(|c| c.0 == at) {
                done.extend(made);
                inst.args[0] = condition;
            }
            if !drop[at] {
                done.push(inst);
            }
        }
        self.region.blocks[b.index()].insts = done;
    }

    /// The checks of a block, those that can be merged together; marks those that are implied.
    fn groups(&mut self, b: BlockId, insts: &[Inst], drop: &mut [bool]) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        let mut open = 0;
        for (at, inst) in insts.iter().enumerate() {
            if separates(inst.kind) {
                open = groups.len();
            }
            let Kind::Guard { .. } = inst.kind else { continue };
            let Some((memory, index, check)) = parse(self.region, &self.defs, inst.args[0]) else { continue };
            let everywhere = self.lasting.has(memory.pointer);
            let within = self.quiet.around(b).filter(|_| !everywhere);
            let stable = everywhere || within.is_some();
            if stable && self.has_held((memory, index, within), check) {
                drop[at] = true;
                continue;
            }
            let lasting = stable && self.is_invariant(b, memory.pointer);
            if !groups[open..].iter_mut().any(|group| group.take(at, memory, index, check, lasting)) {
                groups.push(Group { index, guards: vec![at], parts: vec![(memory, check)], lasting });
            }
            if stable {
                self.held.entry((memory, index, within)).or_default().push(check);
                self.trail.push((memory, index, within));
            }
        }
        groups
    }

    fn has_held(&self, (memory, index, within): Held, check: Check) -> bool {
        let by =
            |index| self.held.get(&(memory, index, within)).is_some_and(|held| check.is_implied(held, memory.scale));
        by(index) || by(Index { mask: None, ..index })
    }

    /// Returns whether the block is in a loop that does not change a value.
    fn is_invariant(&self, b: BlockId, v: Value) -> bool {
        self.loops.of(b).is_some_and(|l| !self.loops.contains(l, self.home[v.index()]))
    }
}

impl Group {
    /// Takes in a check, if it can be merged; `lasting` says whether the loop around leaves its bounds alone.
    fn take(&mut self, at: usize, memory: Memory, index: Index, check: Check, lasting: bool) -> bool {
        let near = |&(_, c): &(Memory, Check)| is_near(c.k.min(check.k), c.far.max(check.far));
        if self.index != index || !self.parts.iter().all(near) {
            return false;
        }
        let joint =
            self.parts.iter_mut().find_map(|(m, c)| (*m == memory).then(|| c.and(check).map(|joint| *c = joint))?);
        if joint.is_none() {
            if !lasting || !self.lasting {
                return false;
            }
            self.parts.push((memory, check));
        }
        self.guards.push(at);
        true
    }
}

/// Returns whether no check may be moved up across the instruction.
fn separates(kind: Kind) -> bool {
    !kind.is_pure() && !kind.is_plain_load() && !matches!(kind, Kind::Guard { .. } | Kind::StoreStrided { .. })
}
