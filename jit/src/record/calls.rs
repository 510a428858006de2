//! Calls are recorded through: the callee's code becomes part of the region; or they are links (`cuts`). Of a function that calls itself
//! as much is inlined as its weight allows for, and then its base case.

use super::state::{Frame, Mask, State};
use super::step::Next;
use super::{MAX_CALLS, MAX_FRAME_BYTES, Recorder};
use crate::abort::Abort;
use crate::ir::{CallSite, End, ExitReason, Kind, Type, Value};
use crate::weights::BaseCase;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Inst, Reg};
use spmdvm_vm::types::Ty;
use std::collections::BTreeMap;

impl Recorder<'_> {
    pub(super) fn call(&mut self, state: &mut State, inst: &Inst) -> Result<Next, Abort> {
        let callee = FuncId(inst.aux);
        if state.frames.len() > MAX_CALLS || !self.inlines(state, callee) {
            return Ok(self.linked_call(state, inst));
        }
        let own = state.frames_of(callee);
        if own > self.deepest(callee) {
            let base_case = self.whole.weights.base_case(callee).filter(|_| self.plan.deepest != 0);
            return match base_case {
                Some(base_case) => self.call_unless(state, inst, base_case),
                None => Ok(self.linked_call(state, inst)),
            };
        }
        self.has_recursed |= own != 0;
        self.tick(state);
        self.enter(state, inst)?;
        Ok(Next::Moved)
    }

    /// How deep a function is inlined into itself.
    fn deepest(&self, function: FuncId) -> usize {
        self.whole.weights.recursion(function).min(self.plan.deepest)
    }

    /// Beyond the depth to which a function is inlined into itself its base case is: to make a call takes longer than what many of them
    /// do. Which way the callee goes is found out before.
    fn call_unless(&mut self, state: &mut State, inst: &Inst, base_case: BaseCase) -> Result<Next, Abort> {
        self.has_recursed = true;
        let mut within = state.clone();
        self.enter(&mut within, inst)?;
        let code = &self.function(FuncId(inst.aux)).code;
        let (before, branch) = (&code[..base_case.branch as usize], &code[base_case.branch as usize]);
        for inst in before {
            self.instruction(&mut within, inst)?;
            within.top_mut().pc += 1;
        }
        let condition = self.read(&within, branch.src[0]);
        let (is_base, is_other) = self.branch_apart(condition);
        let (is_base, is_other) =
            if base_case.jumps == (branch.op == Op::BrTrue) { (is_base, is_other) } else { (is_other, is_base) };
        self.b.switch_to(is_other);
        let mut there = state.clone();
        if let Next::Here = self.linked_call(&mut there, inst) {
            there.top_mut().pc += 1;
            self.go_on_together(&there);
        }
        self.b.switch_to(is_base);
        self.tick(state);
        within.top_mut().pc = if base_case.jumps { branch.aux } else { base_case.branch + 1 };
        *state = within;
        Ok(Next::Moved)
    }

    /// Ends the block: what follows is recorded once for all that comes here.
    fn go_on_together(&mut self, state: &State) -> Next {
        let edge = self.edge(state);
        self.b.end(End::Jump(edge));
        Next::Ended
    }

    /// Enters the frame of a function that is inlined.
    fn enter(&mut self, state: &mut State, inst: &Inst) -> Result<(), Abort> {
        let callee = FuncId(inst.aux);
        let f = self.function(callee);
        let caller = state.top();
        let own = self.prepared.frame_bytes(caller.function).ok_or(Abort::TooDeep)?;
        let bytes = self.prepared.frame_bytes(callee).ok_or(Abort::TooDeep)?;
        let at = caller.at as u64 + own;
        let region = &mut self.b.region;
        region.frame_bytes = region.frame_bytes.max(at + bytes);
        region.depth = region.depth.max(state.frames.len());
        let at = u32::try_from(at).ok().filter(|_| region.frame_bytes <= MAX_FRAME_BYTES).ok_or(Abort::TooDeep)?;
        let mut regs = vec![None; f.regs.len()];
        let mut behind = BTreeMap::new();
        let args = self.function(state.top().function).list(inst.args);
        for (param, &arg) in args.iter().enumerate() {
            let (value, others) = self.argument_alone(state, callee, Reg(param as u32), arg);
            regs[param] = Some(value);
            behind.extend(others.map(|others| (Reg(param as u32), others)));
            let depth = state.frames.len() as u32;
            if state.speculated.contains(&(depth - 1, arg)) {
                state.speculated.insert((depth, Reg(param as u32)));
            }
        }
        for &(r, bits) in f.consts.iter() {
            regs[r.index()] = Some(self.constant(f.reg(r).ty, bits));
        }
        let mask = state.mask();
        let memory = (f.frame_size != 0).then(|| {
            let exit = self.exit(state, ExitReason::NoRegion);
            self.note_private(callee, at);
            self.emit(Kind::FrameOpen { function: callee, at, exit }, &[], Type::uniform(Ty::U64))
        });
        let entries = Vec::new();
        let frame = Frame { function: callee, pc: 0, at, regs, mask, behind, holds: 0, fails: 0, memory, entries };
        state.frames.push(frame);
        Ok(())
    }

    /// A call of a function that is known only when it is called, unless the region knows it.
    pub(super) fn call_indirect(&mut self, state: &mut State, inst: &Inst) -> Result<Next, Abort> {
        let value = self.read(state, inst.src[0]);
        let callee = self.known(value).and_then(|value| self.prepared.callee(self.place(state), value));
        match callee {
            Some(callee) => self.call(state, &Inst { op: Op::Call, aux: callee.0, ..*inst }),
            None => Ok(self.linked_call(state, inst)),
        }
    }

    /// A call of a function that has regions of its own: made from within the region, unless that is full.
    pub(super) fn linked_call(&mut self, state: &mut State, inst: &Inst) -> Next {
        if self.is_full() || self.advice.leaves(self.place(state)) {
            return self.leave(state, ExitReason::LinkedCall);
        }
        let exit = self.exit(state, ExitReason::LinkedCall);
        let (function, at) = (state.top().function, state.top().at);
        let f = self.function(function);
        match self.call_site(state, inst) {
            Some(site) => {
                let args = (0..).zip(f.list(inst.args)).map(|(param, &arg)| self.passed(state, inst, Reg(param), arg));
                let mut args: Vec<Value> = args.collect();
                args.push(self.mask_value(state.mask()));
                self.effect(Kind::Call { site, exit }, &args);
            }
            // Those that are no constants are in the snapshot. But what the callee gets to know is no longer known to the region alone.
            None => {
                let args: Vec<Value> = f.list(inst.args).iter().filter_map(|r| state.top().regs[r.index()]).collect();
                self.b.region.unknown_calls_free = self.whole.frees.contains(&true);
                self.effect(Kind::CallIndirect { exit }, &args);
            }
        }
        // The call writes all of its results, whether or not somebody reads them.
        for &reg in f.list(inst.rets) {
            let place = self.prepared.register(function, reg);
            let ty = Type { shape: place.shape, ty: place.ty };
            let v = self.emit(Kind::Returned { at: at + place.at }, &[], ty);
            self.write(state, reg, v);
        }
        // A call is executed by at least one lane.
        if let Mask::Any(v) = state.mask() {
            state.set_mask(Mask::Some(v));
        }
        Next::Here
    }

    /// What a register holds in all lanes, as the parameter of a function that the region does not hold. Where one lane is active, and
    /// nobody sees the others, those may hold the same.
    fn passed(&mut self, state: &State, call: &Inst, param: Reg, arg: Reg) -> Value {
        if state.one.is_some() && self.whole.unseen(self.program).has(FuncId(call.aux), param) {
            return self.read(state, arg);
        }
        match self.whole(state, state.frames.len() - 1, arg) {
            Some(v) => v,
            None => self.held(state, arg).0,
        }
    }

    /// Where the arguments of a call are put, if it names its function. There is to be room for the frame of that.
    fn call_site(&mut self, state: &State, inst: &Inst) -> Option<u32> {
        if inst.op != Op::Call {
            return None;
        }
        let (callee, caller) = (FuncId(inst.aux), state.top());
        let at = caller.at as u64 + self.prepared.frame_bytes(caller.function)?;
        let end = at + self.prepared.frame_bytes(callee)?;
        let at = u32::try_from(at).ok().filter(|_| end <= MAX_FRAME_BYTES)?;
        let params = (0..self.function(callee).n_params).map(|param| {
            let place = self.prepared.register(callee, Reg(param));
            (place.at, Type { shape: place.shape, ty: place.ty })
        });
        let site = CallSite { callee, at, params: params.collect(), frees: self.whole.frees[callee.0 as usize] };
        let region = &mut self.b.region;
        region.frame_bytes = region.frame_bytes.max(end);
        region.call_sites.push(site);
        Some(region.call_sites.len() as u32 - 1)
    }

    pub(super) fn ret(&mut self, state: &mut State) -> Result<Next, Abort> {
        if state.frames.len() == 1 {
            return Ok(self.leave(state, ExitReason::Return));
        }
        let function = state.top().function;
        let is_base_case = state.frames_of(function) > self.deepest(function) + 1;
        // The lanes that the caller has active may be more.
        if state.one.is_some_and(|one| one.frame + 1 == state.frames.len()) {
            self.leave_one_lane(state);
        }
        let results = &self.function(state.top().function).results;
        let depth = state.frames.len() as u32;
        let speculated: Vec<bool> = results.iter().map(|&r| state.speculated.contains(&(depth - 1, r))).collect();
        let values: Vec<_> = results.iter().map(|&r| self.held(state, r)).collect();
        state.speculated.retain(|at| at.0 + 1 < depth);
        if let Some(memory) = state.frames.pop().and_then(|frame| frame.memory) {
            self.effect(Kind::FrameClose, &[memory]);
        }
        // Pointers into a frame that has ended are pointers like others.
        let depth = state.frames.len();
        self.addresses.retain(|_, place| place.of < depth);
        let caller = state.top();
        let f = self.function(caller.function);
        let call = f.code[caller.pc as usize];
        for ((&to, (v, behind)), speculated) in f.list(call.rets).iter().zip(values).zip(speculated) {
            self.reads_speculated = speculated;
            self.write(state, to, v);
            state.top_mut().behind.extend(behind.map(|behind| (to, behind)));
        }
        // A call is executed by at least one lane.
        if let Mask::Any(v) = state.mask() {
            state.set_mask(Mask::Some(v));
        }
        state.top_mut().pc += 1;
        Ok(if is_base_case { self.go_on_together(state) } else { Next::Moved })
    }
}
