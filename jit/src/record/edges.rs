//! Blocks and the edges to them.
//!
//! A block is known by its [`Key`]: where the frames stand and what is known of masks. Its parameters are the live registers of
//! all frames, but for those that hold the same throughout the region, addresses in frames or functions, and the masks. The first way to
//! a block decides about the shape of each parameter; a later one that brings more has that noted, and the recording is done
//! again.

use super::state::{Behind, Fixed, Key, Mask, Parameter, Slot, State, Target};
use super::{Recorder, Work};
use crate::ir::{Edge, Type, Value};
use spmdvm_vm::program::Reg;
use spmdvm_vm::types::{Shape, Ty};
use std::collections::BTreeMap;

impl Recorder<'_> {
    /// The edge to the block of a state, which is made (and recorded later) if there is none yet.
    pub(super) fn edge(&mut self, state: &State) -> Edge {
        if let Some(state) = self.forgetting(state) {
            return self.edge(&state);
        }
        if self.is_at_turn(state) && state.mask() != Mask::Full {
            // One head for all turns, whatever lanes the last one has left active.
            let mut state = state.clone();
            state.set_mask(Mask::Full);
            return self.edge(&state);
        }
        let unrolled = self.unrolled(state);
        if unrolled != state.unrolled {
            return self.edge_of(&State { unrolled, ..state.clone() });
        }
        self.edge_of(state)
    }

    fn edge_of(&mut self, state: &State) -> Edge {
        let key = state.key();
        if !self.targets.contains_key(&key) {
            self.add_target(&key, state);
        }
        let (block, slots, known) = {
            let target = &self.targets[&key];
            (target.block, target.slots.clone(), target.known.clone())
        };
        for (slot, fixed) in known {
            let value = state.frames[slot.frame].regs[slot.reg.index()];
            if value.and_then(|v| self.fixed(v)) != Some(fixed) {
                self.note(&key, slot);
            }
        }
        let mut args = Vec::with_capacity(slots.len());
        for parameter in &slots {
            self.argument(state, &key, parameter, &mut args);
        }
        args.extend(state.mask_values());
        Edge { to: block, args }
    }

    /// What a value is, if that is known and worth to be known in other blocks: from where an access is made, or what is called.
    fn fixed(&self, v: Value) -> Option<Fixed> {
        let is_function = |bits: &u64| (1..=self.program.functions.len() as u64).contains(bits);
        let function = || self.known(v).filter(|bits| self.ty(v) == Type::uniform(Ty::U64) && is_function(bits));
        self.address(v).map(Fixed::Place).or_else(|| function().map(Fixed::Function))
    }

    /// Without the speculated-uniform registers that nothing reads any more, and what was tested of such registers, if there is any.
    fn forgetting(&mut self, state: &State) -> Option<State> {
        let tests = self.tests_to_keep(state.top());
        if tests != (state.top().holds, state.top().fails) {
            let mut state = state.clone();
            (state.top_mut().holds, state.top_mut().fails) = tests;
            return Some(state);
        }
        let dead = |r: &mut Self, &(frame, reg): &(u32, Reg)| {
            let last = frame as usize + 1 == state.frames.len();
            !r.live_registers(&state.frames[frame as usize], last).contains(&reg)
        };
        let gone: Vec<_> = state.speculated.iter().filter(|at| dead(self, at)).copied().collect();
        (!gone.is_empty()).then(|| {
            let mut state = state.clone();
            state.speculated.retain(|at| !gone.contains(at));
            state
        })
    }

    /// The values that a way to a block brings for a register.
    fn argument(&mut self, state: &State, key: &Key, parameter: &Parameter, args: &mut Vec<Value>) {
        let Parameter { slot, ty, parted } = parameter;
        let frame = &state.frames[slot.frame];
        let value = frame.regs[slot.reg.index()].unwrap_or_else(|| self.constant(ty.ty, 0));
        let behind = frame.behind.get(&slot.reg);
        let varies = self.b.region.ty(value).is_varying();
        if let (true, Some(one)) = (*parted, state.one) {
            let others = self.others(state, slot.frame, slot.reg, value, one);
            args.extend([self.element(value, one.lane), others]);
            return;
        }
        let more = behind.is_some() || (varies && !ty.is_varying());
        if more {
            self.note(key, slot.clone());
        }
        args.push(match ty.is_varying() {
            true => self.varying_value(value),
            false if more => self.constant(ty.ty, 0),
            false => value,
        });
    }

    /// Notes that less is known of a parameter than was assumed.
    fn note(&mut self, key: &Key, slot: Slot) {
        self.varying.entry(key.clone()).or_default().insert(slot);
        self.again = true;
    }

    fn add_target(&mut self, key: &Key, state: &State) {
        let block = self.b.block();
        let mut inner = state.clone();
        let mut slots = Vec::new();
        let mut known = Vec::new();
        let noted = self.varying.get(key).cloned().unwrap_or_default();
        for (i, frame) in state.frames.iter().enumerate() {
            let live = self.live_registers(frame, i + 1 == state.frames.len());
            let mut regs = vec![None; frame.regs.len()];
            let mut others_behind = BTreeMap::new();
            for reg in live {
                let Some(value) = frame.regs[reg.index()] else { continue };
                let slot = Slot { frame: i, reg };
                if self.is_constant(i, frame.function, reg) || state.keeps(i, reg) {
                    regs[reg.index()] = Some(value);
                    continue;
                }
                let noted = noted.contains(&slot);
                let behind = frame.behind.contains_key(&reg);
                if let Some(fixed) = self.fixed(value)
                    && !noted
                    && !behind
                {
                    known.push((slot, fixed));
                    continue;
                }
                let elem = self.b.region.ty(value).ty;
                let declared = self.function(frame.function).reg(reg).shape;
                let varies = declared == Shape::Varying && (noted || self.b.region.ty(value).is_varying());
                let parted = behind || (noted && varies && state.one.is_some_and(|one| i >= one.frame));
                let ty = if varies && !parted { Type::varying(elem) } else { Type::uniform(elem) };
                regs[reg.index()] = Some(self.b.param(block, ty));
                if parted {
                    let others = self.b.param(block, Type::varying(elem));
                    others_behind.insert(reg, Behind::Vector(others));
                }
                slots.push(Parameter { slot, ty, parted });
            }
            inner.frames[i].regs = regs;
            inner.frames[i].behind = others_behind;
        }
        let mut masks = state.mask_values();
        for v in &mut masks {
            let ty = self.b.region.ty(*v);
            *v = self.b.param(block, ty);
        }
        inner.set_mask_values(&masks);
        let here = self.b.current();
        let outside = std::mem::take(&mut self.addresses);
        self.b.switch_to(block);
        for &(ref slot, fixed) in &known {
            let value = match fixed {
                Fixed::Place(place) => self.frame_address(&inner, place.of, place.offset),
                Fixed::Function(bits) => self.constant(Ty::U64, bits),
            };
            inner.frames[slot.frame].regs[slot.reg.index()] = Some(value);
        }
        self.b.switch_to(here);
        let addresses = std::mem::replace(&mut self.addresses, outside);
        self.targets.insert(key.clone(), Target { block, slots, known });
        self.work.push_back(Work { state: inner, block, addresses });
    }
}
