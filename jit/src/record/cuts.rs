//! Where a region ends because more would be too much: calls that are links, cuts, returns.
//!
//! A region holds what is reached from its head, with the calls inlined, as long as that is not too large. Beyond, calls of heavy
//! functions become *links*: the region ends before the call, which leads to a region of the callee's own. If that does not
//! suffice, loops that go round often within the region become links too, and then what has not been recorded when the region
//! is full is *cut* off: every way there ends with a snapshot, and a region of its own begins at the place. What was seen most
//! often is recorded first. If that is too much between two places for a cut, all calls but those of light functions are links.
//! All of these are exits like others, which any interpreter could go on from; it is the engine that knows how to go on with
//! native code.

use super::state::{Mask, State};
use super::{Recorder, Work};
use crate::ir::ExitReason;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;

/// Most instructions of a region.
pub(super) const MAX_INSTS: usize = 3000;

/// Most blocks.
pub(super) const MAX_BLOCKS: usize = 600;

/// Functions that are inlined wherever that can be: to link them takes about as long as to execute them.
pub(crate) const LIGHT: u32 = 60;

/// Instructions of a loop around the head, beyond which a region that begins within it ends at its head.
const SMALL_LOOP: usize = 48;

/// How many times as much regions may hold that have often led on to others.
const LARGE: usize = 6;

/// Functions from this weight on are linked rather than that loops are not unrolled: what they do takes much longer than a link.
const HEAVY: u32 = 300;

/// Most instructions of the bytecode that an unrolled loop becomes, with what it calls, and with the loops around it that are
/// unrolled too: at first, then if that is too much. The smallest gain most for what they take.
const UNROLLED: [u32; 3] = [256, 64, 0];

/// All that can be.
const ALL: Plan =
    Plan { heaviest: u32::MAX, deepest: usize::MAX, parts_loops: false, cuts: false, unrolled: UNROLLED[0] };

/// How much is inlined, from all to what is light. Copies of a function within itself go first: one that has all its loops and calls
/// is left once for each call, those that are divided several times.
const STAGES: [Plan; 8] = [
    ALL,
    Plan { deepest: 1, ..ALL },
    Plan { deepest: 0, ..ALL },
    Plan { deepest: 0, heaviest: 1000, ..ALL },
    Plan { deepest: 0, heaviest: HEAVY, ..ALL },
    Plan { deepest: 0, heaviest: HEAVY, parts_loops: true, ..ALL },
    Plan { deepest: 0, heaviest: HEAVY, parts_loops: true, cuts: true, ..ALL },
    Plan { deepest: 0, heaviest: LIGHT, parts_loops: true, cuts: true, ..ALL },
];

/// What a region leaves to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    /// Calls of functions up to this weight are inlined.
    pub heaviest: u32,
    /// How deep functions are inlined into themselves, if that is less than their weight allows for.
    pub deepest: usize,
    /// Whether loops within it that go round often are left to their own regions.
    parts_loops: bool,
    /// Whether what is too much is cut off.
    pub cuts: bool,
    /// Most instructions that an unrolled loop becomes.
    pub unrolled: u32,
}

impl Plan {
    /// All that goes into one region of so many instructions at most, of something that has as many when calls up to a weight are
    /// inlined.
    pub fn first(most: usize, size: impl Fn(u32) -> u32) -> Plan {
        let fits = |plan: &&Plan| plan.cuts || (size(plan.heaviest) as usize) < 2 * most;
        STAGES.iter().find(fits).copied().unwrap_or(STAGES[STAGES.len() - 1])
    }

    /// Returns whether something is left to other regions because there would be too much in this.
    pub fn divides(self) -> bool {
        self != STAGES[0]
    }

    /// What to try if that is too much, which unrolled loops, or functions inlined into themselves, may have made so.
    pub fn next(self, has_unrolled: bool, has_recursed: bool) -> Option<Plan> {
        if has_unrolled && self.heaviest <= HEAVY {
            let less = UNROLLED.into_iter().find(|most| *most < self.unrolled)?;
            return Some(Plan { unrolled: less, ..self });
        }
        let plan = Plan { unrolled: UNROLLED[0], ..self };
        let at = STAGES.iter().position(|stage| *stage == plan)?;
        let is_less = |stage: &&Plan| has_recursed || **stage != Plan { deepest: stage.deepest, ..plan };
        STAGES[at + 1..].iter().find(is_less).copied()
    }
}

impl Recorder<'_> {
    /// The block to be recorded next. Where some will be cut off, those that have been seen most often come first, and of these the one
    /// that has waited longest: it is near the head.
    pub(super) fn next_work(&mut self) -> Option<Work> {
        if !self.plan.cuts {
            return self.work.pop_back();
        }
        let seen = |work: &Work| {
            let place = (work.state.top().function, work.state.top().pc);
            self.advice.profile.of(place).map_or(0, |seen| seen.times)
        };
        let most = (0..self.work.len()).rev().max_by_key(|&i| seen(&self.work[i]))?;
        self.work.remove(most)
    }

    /// Returns whether the region has as much as it may have.
    pub(super) fn is_full(&self) -> bool {
        self.is_larger_than(1, 1)
    }

    fn is_larger_than(&self, insts: usize, blocks: usize) -> bool {
        let times = if self.advice.large { LARGE } else { 1 };
        self.insts > times * insts * MAX_INSTS || self.b.region.blocks.len() > times * blocks * MAX_BLOCKS
    }

    /// The plan to begin with.
    pub(super) fn first_plan(&self) -> Plan {
        let size = |heaviest| self.whole.weights.inlined(self.program, self.head, &self.inside, heaviest);
        Plan::first(if self.advice.large { LARGE * MAX_INSTS } else { MAX_INSTS }, size)
    }

    /// Returns whether it has become larger than any plan allows for.
    pub(super) fn is_beyond(&self) -> bool {
        self.is_full() && (!self.plan.cuts || self.is_larger_than(2, 3))
    }

    /// Instructions of the entered frame's function that may belong to the region: of a loop its body; from elsewhere on, the
    /// rest of the function.
    pub(super) fn find_extent(&mut self) {
        let (function, pc) = self.head;
        let analysis = self.analysis(function);
        let heads: Vec<u32> = analysis.heads().collect();
        if heads.contains(&pc) {
            self.inside = analysis.loop_body(pc);
            return;
        }
        self.inside = vec![true; self.function(function).code.len()];
        for head in heads {
            let body = analysis.loop_body(head);
            let size = body.iter().filter(|inside| **inside).count();
            if body[pc as usize] && size > SMALL_LOOP {
                self.around.push(head);
            }
        }
    }

    /// Returns whether a call of a function, where a state stands, is part of the region.
    pub(super) fn inlines(&self, state: &State, callee: FuncId) -> bool {
        let weight = self.whole.weights.of(callee);
        let at_random = self.advice.links(self.place(state));
        !at_random && (weight <= self.plan.heaviest || self.plan.heaviest == u32::MAX)
    }

    /// Returns why the region ends where a block is about to begin, if it does.
    pub(super) fn parts(&mut self, state: &State) -> Option<ExitReason> {
        let place @ (function, pc) = self.place(state);
        let outermost = state.frames.len() == 1;
        if outermost && pc == self.head.1 {
            return None;
        }
        if outermost && self.around.contains(&pc) {
            return Some(ExitReason::Cut);
        }
        // Where a region begins, a lane is active.
        if !matches!(state.mask(), Mask::Full | Mask::First(_) | Mask::Some(_) | Mask::One(_))
            || state.entering.is_some()
        {
            return None;
        }
        let cut = self.plan.cuts && self.is_full()
            || self.is_cut(state)
            || self.advice.cuts(place)
            || self.plan.parts_loops && self.advice.is_long(place, self.head) && self.analysis(function).is_head(pc);
        cut.then_some(ExitReason::Cut)
    }
}

/// Returns whether the interpreter does an instruction between two regions: it leads from one frame to another.
pub(crate) fn leads_on(op: Op) -> bool {
    matches!(op, Op::Call | Op::CallInd | Op::Ret)
}

/// Returns whether the interpreter does an instruction between two regions, where it was left to it: because regions hold addresses of
/// memory that may be gone behind it, or because the thread may have to wait, or run tasks.
pub(crate) fn parts_regions(op: Op) -> bool {
    matches!(op, Op::Free | Op::HostCall | Op::Launch | Op::LaunchInd | Op::Sync)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heavy_functions_are_linked_before_loops_are_no_longer_unrolled() {
        let first = Plan::first(MAX_INSTS, |_| 10);
        assert!(!first.divides());
        let plans: Vec<Plan> = std::iter::successors(Some(first), |plan| plan.next(plan.unrolled != 0, true)).collect();
        let unrolled: Vec<u32> = plans.iter().map(|plan| plan.unrolled).collect();
        let heaviest: Vec<u32> = plans.iter().map(|plan| plan.heaviest).collect();
        assert_eq!(unrolled, [vec![UNROLLED[0]; 4], UNROLLED.repeat(STAGES.len() - 4)].concat());
        assert_eq!(heaviest[2..7], [u32::MAX, 1000, HEAVY, HEAVY, HEAVY]);
        assert!(plans[1..].iter().all(|plan| plan.divides()));
        // Where nothing was unrolled, or inlined into itself, there is nothing to take back.
        assert_eq!([true, false].map(|recursed| first.next(false, recursed)), [Some(STAGES[1]), Some(STAGES[3])]);
    }

    #[test]
    fn a_first_plan_leaves_out_what_is_far_too_large() {
        let size = |heaviest| if heaviest > 300 { 2 * MAX_INSTS as u32 } else { 100 };
        assert_eq!(Plan::first(MAX_INSTS, size), STAGES[4]);
        assert_eq!(Plan::first(LARGE * MAX_INSTS, size), STAGES[0]);
    }
}
