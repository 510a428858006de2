//! Recording jumps and the mask stack (`docs/internals/bytecode.md`).

use super::Recorder;
use super::state::{Entry, Mask, State};
use super::step::Next;
use crate::abort::{Abort, Defect};
use crate::ir::{Edge, End, ExitReason, Kind, Outcome, Type, Value};
use crate::profile::{ProgramPoint, Seen};
use crate::settings::Variant;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::Inst;
use spmdvm_vm::types::Ty;
use spmdvm_vm::verify::EntryKind;

/// Where lanes leave to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leave {
    Break,
    Continue,
    Return,
}

impl Recorder<'_> {
    /// The lanes that wait for the else part are the active ones from here on.
    pub(super) fn mask_else(&mut self, state: &mut State, inst: &Inst) -> Result<Next, Abort> {
        let Some(top) = state.top_mut().entries.last_mut() else {
            return Err(Abort::Defect(Defect::NoMaskEntry(inst.op)));
        };
        let waiting = std::mem::replace(&mut top.other, Mask::Empty);
        Ok(self.go_into(state, waiting, inst))
    }

    /// The end of what an entry of the mask stack is for.
    pub(super) fn pop(&mut self, state: &mut State, inst: &Inst) -> Result<Next, Abort> {
        let Some(top) = state.top_mut().entries.pop() else {
            return Err(Abort::Defect(Defect::NoMaskEntry(inst.op)));
        };
        Ok(self.go_on_with(state, top.restore, inst))
    }

    pub(super) fn switch_begin(&mut self, state: &mut State, inst: &Inst) -> Next {
        let mask = state.mask();
        push(state, EntryKind::Switch, mask, mask);
        state.set_mask(Mask::Empty);
        self.go(state, inst.aux)
    }

    /// Goes on at a label without counting.
    pub(super) fn go(&mut self, state: &mut State, label: u32) -> Next {
        state.top_mut().pc = label;
        Next::Moved
    }

    /// An edge to another position of the executing frame.
    fn edge_to(&mut self, state: &State, pc: u32) -> Edge {
        self.edge_taken(state, pc, |seen| seen.times)
    }

    /// The same; so often it was taken of the times that the instruction was seen.
    fn edge_taken(&mut self, state: &State, pc: u32, taken: fn(&Seen) -> u32) -> Edge {
        let mut there = state.clone();
        there.top_mut().pc = pc;
        if self.is_never(state, &there, taken) { self.side_exit(&there) } else { self.edge(&there) }
    }

    /// Returns whether a way in the loop is one that has never been taken.
    fn is_never(&self, state: &State, there: &State, taken: fn(&Seen) -> u32) -> bool {
        !self.left_loop(there) && self.advice.is_never(self.place(there), self.place(state), taken)
    }

    /// An edge to where the interpreter goes on.
    fn side_exit(&mut self, there: &State) -> Edge {
        let (here, out) = (self.b.current(), self.b.block());
        self.b.region.blocks[out.index()].cold = true;
        self.b.switch_to(out);
        self.leave(there, ExitReason::NeverTaken);
        self.b.switch_to(here);
        Edge { to: out, args: Vec::new() }
    }

    /// The same with another execution mask.
    pub(super) fn edge_with(&mut self, state: &State, pc: u32, mask: Mask) -> Edge {
        let mut there = state.clone();
        there.set_mask(mask);
        self.edge_to(&there, pc)
    }

    fn end_branch(&mut self, cond: Value, then: Edge, other: Edge) -> Next {
        self.b.end(End::Branch { cond, then, other });
        Next::Ended
    }

    /// A block of its own for what happens on one way out of a branch; recording goes on in it.
    pub(super) fn branch_apart(&mut self, cond: Value) -> (crate::ir::BlockId, crate::ir::BlockId) {
        let (yes, no) = (self.b.block(), self.b.block());
        self.b.branch(cond, (yes, &[]), (no, &[]));
        (yes, no)
    }

    /// Takes an edge, with what is counted there, unless a condition holds; recording goes on where it does.
    fn leave_unless(&mut self, cond: Value, edge: Edge, counted: &[(Variant, Outcome)], place: ProgramPoint) {
        let (on, out) = self.branch_apart(cond);
        self.b.switch_to(out);
        for &(variant, outcome) in counted {
            self.count(variant, place, outcome);
        }
        self.b.end(End::Jump(edge));
        self.b.switch_to(on);
    }

    pub(super) fn jump(&mut self, state: &mut State, inst: &Inst) -> Next {
        if inst.aux <= state.top().pc {
            self.tick(state);
        }
        self.go(state, inst.aux)
    }

    pub(super) fn branch(&mut self, state: &mut State, inst: &Inst) -> Next {
        let condition = self.read(state, inst.src[0]);
        let backward = inst.aux <= state.top().pc;
        let jumps_when = inst.op == Op::BrTrue;
        if let Some(bits) = self.known(condition) {
            return if (bits != 0) == jumps_when { self.jump(state, inst) } else { Next::Here };
        }
        let (yes, no) = self.branch_apart(condition);
        let (taken, on) = if jumps_when { (yes, no) } else { (no, yes) };
        self.b.switch_to(taken);
        if backward {
            self.tick(state);
        }
        let edge = self.edge_taken(state, inst.aux, |seen| seen.times.saturating_sub(seen.straight));
        self.b.end(End::Jump(edge));
        self.b.switch_to(on);
        let mut there = state.clone();
        there.top_mut().pc += 1;
        // That a loop ended may not have been seen: every long one does, and goes on behind its jump back.
        if !backward && self.is_never(state, &there, |seen| seen.straight) {
            self.b.region.blocks[on.index()].cold = true;
            return self.leave(&there, ExitReason::NeverTaken);
        }
        Next::Here
    }

    /// Goes on with an execution mask, or jumps if it is empty.
    fn go_on_with(&mut self, state: &mut State, mask: Mask, inst: &Inst) -> Next {
        self.go_on(state, mask, inst, false)
    }

    /// The same into code that is skipped without lanes: how often it is, is counted.
    fn go_into(&mut self, state: &mut State, mask: Mask, inst: &Inst) -> Next {
        self.go_on(state, mask, inst, true)
    }

    fn go_on(&mut self, state: &mut State, mask: Mask, inst: &Inst, counts: bool) -> Next {
        self.settle(state, mask);
        let before = state.mask();
        state.set_mask(mask);
        match mask {
            Mask::Full | Mask::First(_) | Mask::Some(_) | Mask::One(_) => Next::Here,
            Mask::Empty => self.go(state, inst.aux),
            Mask::Any(_) if self.executes_always(state, inst.aux) => Next::Here,
            Mask::Any(v) => {
                let some = self.emit(Kind::AnyLane, &[v], Type::BOOL);
                let on = state.top().pc + 1;
                let mut then = self.edge_with(state, on, Mask::Some(v));
                let mut other = self.edge_past(state, before, inst);
                if counts {
                    let place = self.place(state);
                    then = self.counting(Variant::SkipInactive, place, Outcome::Missed, then);
                    other = self.counting(Variant::SkipInactive, place, Outcome::Hit, other);
                }
                self.end_branch(some, then, other)
            }
        }
    }

    /// The edge past what no lane executes, of those that were active before. If they have come to an `if`, all of them wait for its
    /// else part.
    fn edge_past(&mut self, state: &State, before: Mask, inst: &Inst) -> Edge {
        let mut past = state.clone();
        if inst.op == Op::MaskIf {
            set_other(&mut past, before);
        }
        self.edge_with(&past, inst.aux, Mask::Empty)
    }

    /// An edge on which is counted how a variant does.
    fn counting(&mut self, variant: Variant, place: ProgramPoint, outcome: Outcome, edge: Edge) -> Edge {
        let (here, apart) = (self.b.current(), self.b.block());
        self.b.switch_to(apart);
        self.count(variant, place, outcome);
        self.b.end(End::Jump(edge));
        self.b.switch_to(here);
        Edge { to: apart, args: Vec::new() }
    }

    /// Before another mask: the mode of one lane ends if that may have others.
    fn settle(&mut self, state: &mut State, mask: Mask) {
        if !matches!(mask, Mask::One(_) | Mask::Empty) {
            self.leave_one_lane(state);
        }
    }

    pub(super) fn mask_if(&mut self, state: &mut State, inst: &Inst) -> Next {
        let condition = self.read(state, inst.src[0]);
        let mask = state.mask();
        push(state, EntryKind::If, mask, Mask::Empty);
        if !self.ty(condition).is_varying() {
            return self.uniform_if(state, inst, condition, mask);
        }
        let c = self.lanes_of(condition);
        let waiting = self.and_not(mask, c);
        let active = self.and(mask, c);
        let may_be_whole = mask == Mask::Full && !matches!(c, Mask::First(_)) && !self.executes_always(state, inst.aux);
        let rarely = may_be_whole && self.enters_rarely(state);
        let (place, here) = (self.place(state), state.top().pc + 1);
        if rarely {
            // That is found out by one test.
            let some_enter = self.any(active);
            let past = self.edge_past(state, mask, inst);
            let counted = [(Variant::AllActive, Outcome::Missed), (Variant::SkipInactive, Outcome::Hit)];
            self.leave_unless(some_enter, past, &counted, place);
        }
        if may_be_whole {
            // All lanes take the same way more often than not: then nothing is masked.
            let some_wait = self.any(waiting);
            let all = self.edge_to(state, here);
            self.leave_unless(some_wait, all, &[(Variant::AllActive, Outcome::Hit)], place);
            self.count(Variant::AllActive, place, Outcome::Missed);
        }
        set_other(state, waiting);
        if !rarely {
            return self.go_into(state, active, inst);
        }
        self.count(Variant::SkipInactive, place, Outcome::Missed);
        let some = Mask::Some(self.mask_value(active));
        let edge = self.edge_with(state, here, some);
        self.b.end(End::Jump(edge));
        Next::Ended
    }

    /// Returns whether as a rule no lane enters the arm of the `if` at which a state is.
    fn enters_rarely(&self, state: &State) -> bool {
        let (function, pc) = self.place(state);
        self.advice.enters_rarely((function, pc + 1), (function, pc))
    }

    /// A condition that is the same in all lanes: they stay together.
    fn uniform_if(&mut self, state: &mut State, inst: &Inst, condition: Value, mask: Mask) -> Next {
        match self.known(condition) {
            Some(0) => {
                set_other(state, mask);
                state.set_mask(Mask::Empty);
                self.go(state, inst.aux)
            }
            Some(_) => Next::Here,
            None => {
                let here = state.top().pc + 1;
                let then = self.edge_to(state, here);
                set_other(state, mask);
                let other = self.edge_with(state, inst.aux, Mask::Empty);
                self.end_branch(condition, then, other)
            }
        }
    }

    /// `loop.test` (lanes where the condition fails drop out; `how` is `None`) and the conditional ways to leave.
    pub(super) fn lanes_drop_out(&mut self, state: &mut State, inst: &Inst, how: Option<Leave>) -> Next {
        let condition = self.read(state, inst.src[0]);
        let mask = state.mask();
        let here = state.top().pc + 1;
        if !self.ty(condition).is_varying() {
            return self.all_or_none_drop_out(state, inst, condition, how);
        }
        let c = self.lanes_of(condition);
        let leaving = if how.is_some() { self.and(mask, c) } else { self.and_not(mask, c) };
        let sure = Self::has_lanes(leaving) == Some(true);
        if !sure && (mask == Mask::Full || how.is_some_and(|how| !self.is_cheap(state, how))) {
            // The first divergence: until then nothing is masked.
            let some_leave = self.any(leaving);
            let all_stay = self.edge_taken(state, here, |seen| seen.straight);
            let place = self.place(state);
            self.leave_unless(some_leave, all_stay, &[], place);
            if mask == Mask::Full {
                self.count(Variant::AllActive, place, Outcome::Missed);
            }
        }
        let staying = if how.is_some() { self.and_not(mask, c) } else { self.and(mask, c) };
        if let Some(how) = how {
            self.take_out(state, leaving, how);
        }
        self.go_on_with(state, staying, inst)
    }

    /// Returns whether leaving so touches at most one entry of the mask stack.
    fn is_cheap(&self, state: &State, how: Leave) -> bool {
        matches!(
            (state.top().entries.last().map(|e| e.kind), how),
            (Some(EntryKind::Loop | EntryKind::Switch), Leave::Break) | (Some(EntryKind::Loop), Leave::Continue)
        )
    }

    fn all_or_none_drop_out(&mut self, state: &mut State, inst: &Inst, condition: Value, how: Option<Leave>) -> Next {
        let leave_when = how.is_some();
        let here = state.top().pc + 1;
        let gone = |recorder: &mut Self, state: &mut State| {
            let mask = state.mask();
            if let Some(how) = how {
                recorder.take_out(state, mask, how);
            }
            state.set_mask(Mask::Empty);
        };
        if let Some(bits) = self.known(condition) {
            if (bits != 0) != leave_when {
                return Next::Here;
            }
            gone(self, state);
            return self.go(state, inst.aux);
        }
        let stay = self.edge_to(state, here);
        let (yes, no) = self.branch_apart(condition);
        let (leaving, staying) = if leave_when { (yes, no) } else { (no, yes) };
        self.b.switch_to(staying);
        self.b.end(End::Jump(stay));
        self.b.switch_to(leaving);
        gone(self, state);
        let edge = self.edge_to(state, inst.aux);
        self.b.end(End::Jump(edge));
        Next::Ended
    }

    pub(super) fn loop_next(&mut self, state: &mut State, inst: &Inst) -> Next {
        let back = match state.top_mut().entries.last_mut() {
            Some(top) => std::mem::replace(&mut top.other, Mask::Empty),
            None => Mask::Empty,
        };
        if back == Mask::Empty {
            let mask = state.mask();
            return self.go_on_with(state, mask, inst);
        }
        let mask = self.or(state.mask(), back);
        let (Mask::Some(v) | Mask::Any(v)) = mask else { return self.go_on_with(state, mask, inst) };
        self.settle(state, mask);
        // The lanes may be together again.
        let missing = self.not(mask);
        let some_miss = self.any(missing);
        let here = state.top().pc + 1;
        let together = self.edge_with(state, here, Mask::Full);
        let place = self.place(state);
        self.leave_unless(some_miss, together, &[], place);
        let mask = if matches!(mask, Mask::Some(_)) { Mask::Some(v) } else { Mask::Any(v) };
        self.go_on_with(state, mask, inst)
    }

    pub(super) fn loop_back(&mut self, state: &mut State, inst: &Inst) -> Next {
        match Self::has_lanes(state.mask()) {
            Some(false) => Next::Here,
            Some(true) => self.go_round(state, inst),
            None => {
                let v = self.mask_value(state.mask());
                let some = self.emit(Kind::AnyLane, &[v], Type::BOOL);
                let here = state.top().pc + 1;
                let done = self.edge_with(state, here, Mask::Empty);
                let place = self.place(state);
                self.leave_unless(some, done, &[], place);
                state.set_mask(Mask::Some(v));
                self.go_round(state, inst)
            }
        }
    }

    pub(super) fn switch_case(&mut self, state: &mut State, inst: &Inst) -> Next {
        let condition = self.read(state, inst.src[0]);
        let c = self.mask_of(condition);
        let waiting = state.top().entries.last().map_or(Mask::Empty, |top| top.other);
        let joining = self.and(waiting, c);
        let rest = self.and_not(waiting, c);
        set_other(state, rest);
        let mask = self.or(state.mask(), joining);
        self.go_into(state, mask, inst)
    }

    pub(super) fn all_leave(&mut self, state: &mut State, inst: &Inst, how: Leave) -> Next {
        let mask = state.mask();
        self.take_out(state, mask, how);
        state.set_mask(Mask::Empty);
        self.go(state, inst.aux)
    }

    /// Takes lanes out of the entries up to their target (but not out of the execution mask).
    fn take_out(&mut self, state: &mut State, lanes: Mask, how: Leave) {
        let mut lanes = lanes;
        for i in (0..state.top().entries.len()).rev() {
            let mut entry = state.top().entries[i];
            match (entry.kind, how) {
                (EntryKind::Loop | EntryKind::Switch, Leave::Break) | (EntryKind::Each, Leave::Continue) => return,
                (EntryKind::Loop, Leave::Continue) => {
                    entry.other = self.or(entry.other, lanes);
                    state.top_mut().entries[i] = entry;
                    return;
                }
                (EntryKind::Each, Leave::Break) => {
                    entry.other = self.none_if_some(lanes, entry.other);
                    state.top_mut().entries[i] = entry;
                    return;
                }
                _ => {}
            }
            // Lanes that were off outside an Every (or the all-lanes turn of an Each) cannot leave anything outside.
            if matches!(entry.kind, EntryKind::Every | EntryKind::Each) {
                lanes = self.and(lanes, entry.restore);
            }
            entry.restore = self.and_not(entry.restore, lanes);
            entry.other = self.and_not(entry.other, lanes);
            state.top_mut().entries[i] = entry;
        }
    }

    /// No lanes if some of `lanes` are active, else `mask`.
    fn none_if_some(&mut self, lanes: Mask, mask: Mask) -> Mask {
        match (Self::has_lanes(lanes), mask) {
            (Some(true), _) | (_, Mask::Empty) => Mask::Empty,
            (Some(false), _) => mask,
            (None, _) => {
                let some = self.any(lanes);
                let (none, mask) = (self.mask_value(Mask::Empty), self.mask_value(mask));
                Mask::Any(self.plain(Op::Select, Ty::Bool, &[some, none, mask]))
            }
        }
    }
}

pub(super) fn push(state: &mut State, kind: EntryKind, restore: Mask, other: Mask) {
    state.top_mut().entries.push(Entry { kind, restore, other, visiting: None });
}

fn set_other(state: &mut State, other: Mask) {
    if let Some(top) = state.top_mut().entries.last_mut() {
        top.other = other;
    }
}
