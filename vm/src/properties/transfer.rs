//! What an instruction does to the properties.

use super::assumptions::Assumptions;
use super::lanes::Arithmetic;
use super::{Access, Assumed, Assumption, Entry, Lanes, Mask, State, tests_lanes};
use crate::flow::each_written;
use crate::isa::{Effect, Form, Op};
use crate::program::{Function, Inst, Reg};
use crate::types::{Shape, Width};

pub(super) struct Transfer<'f> {
    f: &'f Function,
    width: Width,
    assumptions: Option<Assumptions>,
    continues: bool,
}

impl<'f> Transfer<'f> {
    pub fn new(f: &'f Function, width: Width) -> Self {
        let continues = f.code.iter().any(|i| matches!(i.op, Op::MaskContinue | Op::MaskContinueIf));
        Transfer { f, width, assumptions: None, continues }
    }

    /// With all that may be assumed, if there is something.
    pub fn assuming(f: &'f Function, width: Width) -> Option<Self> {
        let assumptions = Some(Assumptions::of(f, width)?);
        Some(Transfer { assumptions, ..Transfer::new(f, width) })
    }

    /// With what has been assumed.
    pub fn with(f: &'f Function, width: Width, known: &[Assumption]) -> Self {
        let assumptions = (!known.is_empty()).then(|| Assumptions::with(known));
        Transfer { assumptions, ..Transfer::new(f, width) }
    }

    pub fn into_assumptions(self) -> Vec<Assumption> {
        self.assumptions.map_or_else(Vec::new, Assumptions::into_inner)
    }

    /// What holds where the function is entered.
    pub fn entry(&self) -> State {
        let mut state = State::entry(self.f);
        for of in [&mut state.all, &mut state.active] {
            of.iter_mut().enumerate().for_each(|(i, lanes)| *lanes = self.with_assumption(Reg(i as u32), *lanes));
        }
        state
    }

    fn with_assumption(&self, r: Reg, lanes: Lanes) -> Lanes {
        let is_free = self.f.reg(r).shape == Shape::Uniform && self.f.constant_bits(r).is_none();
        match &self.assumptions {
            Some(assumptions) if is_free => assumptions.assume(r, lanes, self.width),
            _ => lanes,
        }
    }

    pub fn lanes(&self, of: &[Lanes], r: Reg) -> Lanes {
        if r.is_none() { Lanes::UNIFORM } else { of[r.index()] }
    }

    /// Makes what holds before an instruction what holds after it, on one of its ways.
    pub fn step(&self, state: &mut State, at: usize, jumps: bool) {
        let inst = &self.f.code[at];
        let parts = self.parts_lanes(state, inst);
        let mut results = Vec::new();
        each_written(self.f, inst, jumps, |r| {
            let (all, active) = match self.f.reg(r).shape {
                Shape::Uniform => (self.scalar(&state.all, inst, r), self.scalar(&state.active, inst, r)),
                Shape::Varying => self.varying(state, inst, r),
            };
            results.push((r, all, active));
        });
        let gone = self.forgotten(results.iter().map(|result| result.0));
        if gone != 0 {
            self.forget(state, gone);
        }
        for (r, all, active) in results {
            let [all, active] = [all, active].map(|lanes| self.with_assumption(r, self.without(r, lanes, gone)));
            state.all[r.index()] = all;
            // What holds for all lanes holds for those that are active.
            state.active[r.index()] = if active.stride.is_none() { all } else { active };
            state.stack.iter_mut().for_each(|entry| entry.written[r.index()] = true);
        }
        self.masks(state, inst, parts);
        // On this way no lane is active.
        let empty = match inst.op {
            Op::Jmp | Op::BrTrue | Op::BrFalse => false,
            Op::LoopBack => !jumps,
            _ => jumps,
        };
        if empty {
            narrow(state);
        }
    }

    /// The assumptions about registers that are written.
    fn forgotten(&self, written: impl Iterator<Item = Reg>) -> u32 {
        let Some(assumptions) = &self.assumptions else { return 0 };
        written.fold(0, |bits, r| bits | assumptions.about(r))
    }

    /// Forgets what followed from assumptions.
    fn forget(&self, state: &mut State, gone: u32) {
        let stacked = state.stack.iter_mut().map(|entry| &mut entry.active);
        for of in [&mut state.all, &mut state.active].into_iter().chain(stacked) {
            of.iter_mut().enumerate().for_each(|(i, lanes)| *lanes = self.without(Reg(i as u32), *lanes, gone));
        }
    }

    /// What is known of a register unless it follows from assumptions.
    fn without(&self, r: Reg, lanes: Lanes, gone: u32) -> Lanes {
        match self.f.reg(r).shape {
            _ if lanes.given & gone == 0 => lanes,
            Shape::Uniform => Lanes::UNIFORM,
            Shape::Varying => Lanes::VARYING,
        }
    }

    fn scalar(&self, of: &[Lanes], inst: &Inst, r: Reg) -> Lanes {
        let pure = matches!(inst.op.info().effect, Effect::Pure) && inst.dst == r && inst.ty.is_int();
        let known = if pure { self.pure(of, inst) } else { Lanes::UNIFORM };
        // That a register is the same in all lanes by its shape depends on nothing.
        if known.bits == 0 { Lanes::UNIFORM } else { Lanes { stride: Some(0), ..known } }
    }

    /// A varying result: for all lanes, and for the active ones.
    fn varying(&self, before: &State, inst: &Inst, r: Reg) -> (Lanes, Lanes) {
        if inst.dst != r {
            return (Lanes::VARYING, Lanes::VARYING);
        }
        let full = before.mask == Mask::All;
        let only_active = |active: Lanes| (if full { active } else { Lanes::VARYING }, active);
        match inst.op {
            Op::Assign => only_active(self.lanes(&before.active, inst.src[0])),
            Op::Load => {
                only_active(if self.access(before, inst) == Access::Uniform { Lanes::UNIFORM } else { Lanes::VARYING })
            }
            Op::IDiv | Op::IRem => only_active(self.pure(&before.active, inst)),
            _ if matches!(inst.op.info().effect, Effect::Pure) => {
                (self.pure(&before.all, inst), self.pure(&before.active, inst))
            }
            _ => (Lanes::VARYING, Lanes::VARYING),
        }
    }

    /// An instruction whose lanes depend on the lanes of its operands.
    fn pure(&self, of: &[Lanes], inst: &Inst) -> Lanes {
        let arg = |i: usize| self.lanes(of, inst.src[i]);
        let args = [arg(0), arg(1), arg(2)];
        let of_all = args.iter().fold(0, |given, x| given | x.given);
        let same = args.iter().all(|x| x.is_uniform());
        let whole = inst.ty.is_int();
        let found = if whole { self.integers(inst, args) } else { None };
        let [a, b, c] = args;
        let found = found.unwrap_or(match inst.op {
            Op::Mov | Op::Assign => a,
            Op::Select if a.is_uniform() => b.join(c),
            Op::Shuffle | Op::Extract if a.is_uniform() => a,
            _ => Lanes::VARYING,
        });
        let elementwise = !matches!(inst.op.info().form, Form::Special | Form::Reduce)
            || matches!(inst.op, Op::Select | Op::Convert | Op::Bitcast | Op::PAdd);
        let found = if found.stride.is_none() && same && elementwise { Lanes::UNIFORM } else { found };
        if found.stride.is_some() { found.given(of_all) } else { found }
    }

    /// An operation on integers.
    fn integers(&self, inst: &Inst, [mut a, mut b, _]: [Lanes; 3]) -> Option<Lanes> {
        let (bits, signed) = (8 * inst.ty.size() as u32, inst.ty.is_signed());
        let by = Arithmetic { bits, signed, width: self.width };
        let divides = matches!(inst.op, Op::IDiv | Op::IRem);
        if divides && (a.is_uniform() || !b.is_uniform()) {
            return None;
        }
        if divides || matches!(inst.op, Op::And | Op::Or | Op::Xor | Op::Shr) {
            [a, b] = [(0, a), (1, b)].map(|(i, x)| self.in_a_block(inst.src[i], x));
        }
        if divides {
            a = self.not_negative(inst.src[0], a, by)?;
        }
        let count = b.known(bits).map(|count| (count % u64::from(bits)) as u32);
        let found = match inst.op {
            Op::Iota => Lanes::numbers(bits),
            Op::Add => by.sum(a, b),
            // Far outside of its region a pointer is none that its bits would tell.
            Op::PAdd => by.sum(a, b).with_low(0, 0),
            Op::Sub => by.difference(a, b),
            Op::Neg => by.difference(Lanes::constant(0, bits), a),
            Op::Not => by.difference(Lanes::constant(u64::MAX, bits), a),
            Op::Mul => by.product(a, b),
            Op::Shl => match count {
                Some(count) => by.product(a, Lanes::constant(1 << count, bits)),
                None => self.shifted_far(inst, a, bits),
            },
            Op::Shr => match count {
                Some(count) => by.shifted_right(a, count),
                None => self.shifted_away(inst, by, a, b),
            },
            Op::And => by.and(a, b),
            Op::Or => by.bitwise(a, b, |x, y| x | y),
            Op::Xor => by.bitwise(a, b, |x, y| x ^ y),
            Op::IDiv => by.quotient(a, b),
            Op::IRem => by.remainder(a, b),
            Op::Convert | Op::Bitcast if inst.from.is_int() => by.converted(a, 8 * inst.from.size() as u32),
            _ => return None,
        };
        let given = found.given | a.given | b.given;
        Some(if found.stride.is_some() { Lanes { given, ..found } } else { Lanes::VARYING })
    }

    /// Consecutive lanes that are assumed to begin at a multiple of the gang's width, if it is not known where they begin.
    fn in_a_block(&self, reg: Reg, a: Lanes) -> Lanes {
        let needs = a.is_consecutive() && a.bits < self.width.lanes().trailing_zeros() as u8;
        let assumed = || self.assumed(reg, a, Assumed::Low(0), a.assumed_low(0, self.width)?);
        if needs { assumed().unwrap_or(a) } else { a }
    }

    /// Lanes that are known, or assumed, not to be negative. If lane 0 is not, none is that does not differ in its sign.
    fn not_negative(&self, reg: Reg, a: Lanes, by: Arithmetic) -> Option<Lanes> {
        if by.is_not_negative(a) { Some(a) } else { self.assumed(reg, a, Assumed::NotNegative, a) }
    }

    /// What follows if something is assumed of a register in which `a` is known of the lanes; `None` if nothing is to be assumed.
    fn assumed(&self, reg: Reg, a: Lanes, what: Assumed, then: Lanes) -> Option<Lanes> {
        let bit = self.assumptions.as_ref()?.bit(Assumption { reg, stride: a.stride?, what })?;
        Some(then.given(bit))
    }

    /// A number that is the same in all lanes shifted to the left, at least as far as makes it a multiple of the gang's width.
    fn shifted_far(&self, inst: &Inst, a: Lanes, bits: u32) -> Lanes {
        let far = || {
            let zeros = u32::from(a.zeros()) + self.width.lanes().trailing_zeros();
            self.assumed(inst.src[1], Lanes::UNIFORM, Assumed::Count, Lanes::UNIFORM.with_low(0, zeros.min(bits)))
        };
        let same = a.is_uniform() && !inst.src[1].is_none() && self.f.reg(inst.src[1]).shape == Shape::Uniform;
        if same { far().unwrap_or(Lanes::UNIFORM) } else { Lanes::VARYING }
    }

    /// Lanes shifted to the right, at least by as many bits as number the lanes of a gang.
    fn shifted_away(&self, inst: &Inst, by: Arithmetic, a: Lanes, count: Lanes) -> Lanes {
        let differs = !a.is_uniform() && by.differs_below(a, self.width.lanes().trailing_zeros());
        let shape = self.f.reg(inst.src[1]).shape;
        if !differs || !count.is_uniform() || shape != Shape::Uniform {
            return Lanes::VARYING;
        }
        self.assumed(inst.src[1], Lanes::UNIFORM, Assumed::Count, Lanes::UNIFORM).unwrap_or(Lanes::VARYING)
    }

    /// How the addresses of an access lie.
    pub fn access(&self, state: &State, inst: &Inst) -> Access {
        let size = inst.ty.size() as i64;
        let (base, index) = (self.lanes(&state.active, inst.src[0]), self.lanes(&state.active, inst.src[1]));
        let by_lane = matches!(inst.op, Op::LoadLane | Op::StoreLane);
        let step = |base: i64, index: i64| {
            base.checked_add(index.checked_mul(inst.aux as i64)?)?.checked_add(by_lane as i64 * size)
        };
        let lanes = self.width.lanes().trailing_zeros() as u8;
        match base.stride.zip(index.stride).and_then(|(b, i)| step(b, i)) {
            Some(0) => Access::Uniform,
            Some(s) if s == size => Access::Consecutive { aligned: !inst.src[1].is_none() && index.zeros() >= lanes },
            Some(s) => Access::Strided(s),
            None => Access::Varying,
        }
    }

    /// Returns whether the instruction can make lanes part.
    pub fn parts_lanes(&self, state: &State, inst: &Inst) -> bool {
        tests_lanes(inst) && !self.lanes(&state.active, inst.src[0]).is_uniform()
            || matches!(inst.op, Op::EachLane | Op::EachUnique)
    }

    fn masks(&self, state: &mut State, inst: &Inst, parts: bool) {
        match inst.op {
            Op::MaskIf | Op::LoopBegin | Op::SwitchBegin | Op::Everywhere | Op::EachBegin => {
                let (active, written) = (state.active.clone(), vec![false; self.f.regs.len()]);
                state.stack.push(Entry { kind: inst.op, mask: state.mask, parted: parts, active, written });
                if inst.op == Op::Everywhere {
                    self.all_on(state);
                } else if parts {
                    narrow(state);
                }
            }
            Op::LoopTest if parts => narrow(state),
            Op::MaskElse | Op::SwitchCase => {
                let parted = state.stack.last().is_none_or(|e| e.parted);
                self.come_back(state);
                if parted || inst.op == Op::SwitchCase {
                    narrow(state);
                }
            }
            Op::LoopNext if self.continues => {
                self.come_back(state);
                narrow(state);
            }
            Op::MaskEndif | Op::LoopEnd | Op::SwitchEnd | Op::EverywhereEnd | Op::EachEnd => {
                self.come_back(state);
                state.stack.pop();
            }
            Op::EachLane | Op::EachUnique => {
                self.come_back(state);
                state.mask = Mask::Sequential;
            }
            Op::EachAll => self.all_on(state),
            Op::MaskBreak | Op::MaskBreakIf => {
                self.leave(state, parts, &[Op::LoopBegin, Op::SwitchBegin, Op::EachBegin])
            }
            Op::MaskContinue | Op::MaskContinueIf => self.leave(state, parts, &[Op::LoopBegin, Op::EachBegin]),
            Op::MaskReturn | Op::MaskReturnIf => self.leave(state, parts, &[]),
            _ => {}
        }
    }

    /// All lanes are on: what holds for all of them is what is known.
    fn all_on(&self, state: &mut State) {
        state.active = state.all.clone();
        state.mask = Mask::All;
    }

    /// The lanes of the top entry are on again: of registers written since then only what holds for all lanes is known.
    fn come_back(&self, state: &mut State) {
        let Some(top) = state.stack.last() else { return };
        for (r, &written) in top.written.iter().enumerate() {
            state.active[r] = if written { state.all[r] } else { top.active[r] };
        }
        state.mask = top.mask;
    }

    /// Lanes leave to an entry of some kinds: those above lose them (and all, if there is none).
    fn leave(&self, state: &mut State, parts: bool, targets: &[Op]) {
        for entry in state.stack.iter_mut().rev() {
            if targets.contains(&entry.kind) {
                break;
            }
            entry.mask = entry.mask.join(Mask::Some);
        }
        if parts {
            narrow(state);
        }
    }
}

fn narrow(state: &mut State) {
    state.mask = state.mask.join(Mask::Some);
}
