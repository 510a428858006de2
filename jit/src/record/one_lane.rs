//! Scalar code for the only lane that is left.
//!
//! While a state is in this mode (`State::one`), its execution mask is [`Mask::One`], and instructions are recorded on scalars:
//! what a varying register holds in the lane. What it holds in the other lanes must not be lost, for snapshots and for when
//! lanes come back. A register of the frames since the mode was entered is therefore one of these:
//!
//! - *unchanged*: its value is varying, as it was; the lane's scalar is extracted where it is read;
//! - *the same in all lanes*: its value is uniform, as elsewhere;
//! - *parted*: its value is the lane's scalar, and [`Behind`] says what is in the other lanes: mostly the vector that was
//!   there when the mode was entered, so that nothing but the scalar changes in a loop.
//!
//! Conditions are scalars, so lanes never part. The mode ends where the mask becomes another one than this lane's or none (as
//! entries of the mask stack from before are popped), and at instructions across lanes: there parted registers become vectors
//! again. So the mode costs nothing but a test in each round of the loops that the profile chooses.
//!
//! Regions that begin with a function, or where a call has returned, have versions that begin in this mode ([`MaskFact::One`]):
//! where lanes part as they recurse, most calls are of one lane.
//!
//! [`MaskFact::One`]: super::MaskFact::One

use super::Recorder;
use super::state::{Behind, Made, Mask, One, State};
use super::step::Next;
use crate::ir::{Edge, End, Kind, Outcome, Value};
use crate::settings::Variant;
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::program::{FuncId, Inst, Reg};
use spmdvm_vm::types::Ty;
use std::rc::Rc;

impl Recorder<'_> {
    /// A loop goes round with some lane active: with a way of its own for one lane, if that is worth it.
    pub(super) fn go_round(&mut self, state: &mut State, inst: &Inst) -> Next {
        self.tick(state);
        let place = self.place(state);
        if let (mask @ Mask::Some(_), None, true) = (state.mask(), state.one, self.advice.one_lane(place)) {
            let bits = self.bits(mask);
            let (zero, one) = (self.constant(Ty::U64, 0), self.constant(Ty::U64, 1));
            let less = self.plain(Op::Sub, Ty::U64, &[bits, one]);
            let rest = self.plain(Op::And, Ty::U64, &[bits, less]);
            let single = self.plain(Op::Eq, Ty::U64, &[rest, zero]);
            let (alone, several) = self.branch_apart(single);
            self.b.switch_to(alone);
            self.count(Variant::OneLane, place, Outcome::Hit);
            let lane = self.lowest_lane(bits);
            let mut scalar = state.clone();
            scalar.entering = Some(lane);
            scalar.top_mut().pc = inst.aux;
            let edge = self.edge(&scalar);
            self.b.end(End::Jump(edge));
            self.b.switch_to(several);
            self.count(Variant::OneLane, place, Outcome::Missed);
        }
        state.top_mut().pc = inst.aux;
        Next::Moved
    }

    /// The state at an entry for one lane is in the mode.
    pub(super) fn begin_with_one_lane(&mut self, state: &mut State) {
        let bits = self.bits(state.mask());
        let lane = self.lowest_lane(bits);
        state.one = Some(One { lane, frame: 0, alone_from: 0 });
    }

    /// Returns whether a register of a frame needs to be right in the one lane only.
    fn is_alone(&self, state: &State, frame: usize, reg: Reg) -> bool {
        let function = state.frames[frame].function;
        state.one.is_some_and(|one| frame >= one.alone_from) && self.whole.unseen(self.program).has(function, reg)
    }

    /// What is behind a register of the executing frame, if nobody sees it; 0.
    fn behind_alone(&mut self, state: &State, reg: Reg) -> Option<Behind> {
        let frame = state.frames.len() - 1;
        let ty = self.function(state.top().function).reg(reg).ty;
        self.is_alone(state, frame, reg).then(|| self.zeros(ty))
    }

    /// An argument as the parameter of a function that is called in the mode.
    pub(super) fn argument_alone(
        &mut self,
        state: &State,
        callee: FuncId,
        param: Reg,
        arg: Reg,
    ) -> (Value, Option<Behind>) {
        let (value, behind) = self.held(state, arg);
        let Some(one) = state.one.filter(|_| self.whole.unseen(self.program).has(callee, param)) else {
            return (value, behind);
        };
        if behind.is_none() && !self.ty(value).is_varying() {
            return (value, None);
        }
        let zeros = self.zeros(self.ty(value).ty);
        (if behind.is_none() { self.element(value, one.lane) } else { value }, Some(zeros))
    }

    /// What the other lanes of a register hold, that is handed on to a block as parted.
    pub(super) fn others(&mut self, state: &State, frame: usize, reg: Reg, value: Value, one: One) -> Value {
        let behind = state.frames[frame].behind.get(&reg).cloned();
        match behind {
            _ if self.is_alone(state, frame, reg) => {
                let zeros = self.zeros(self.ty(value).ty);
                self.behind_value(one, &zeros)
            }
            Some(behind) => self.behind_value(one, &behind),
            None => self.varying_value(value),
        }
    }

    /// Begins the mode, if the state is about to; gives the edge to the code in it.
    pub(super) fn enter_one_lane(&mut self, state: &mut State) -> Option<Edge> {
        let lane = state.entering.take()?;
        let frame = state.frames.len() - 1;
        state.one = Some(One { lane, frame, alone_from: frame + 1 });
        let lanes = self.mask_value(state.mask());
        state.set_mask(Mask::One(lanes));
        Some(self.edge(state))
    }

    /// Ends the mode: parted registers become vectors.
    pub(super) fn leave_one_lane(&mut self, state: &mut State) {
        let Some(one) = state.one else { return };
        for i in one.frame..state.frames.len() {
            let behind = std::mem::take(&mut state.frames[i].behind);
            for (reg, behind) in behind {
                let Some(scalar) = state.frames[i].regs[reg.index()] else { continue };
                let vector = self.put_back(one, scalar, &behind);
                state.frames[i].regs[reg.index()] = Some(vector);
            }
        }
        state.one = None;
        state.masks_mut().for_each(|mask| {
            if let Mask::One(v) = *mask {
                *mask = Mask::Some(v);
            }
        });
    }

    /// What a register of a frame holds in all lanes.
    pub(super) fn whole(&mut self, state: &State, frame: usize, reg: Reg) -> Option<Value> {
        let value = state.frames[frame].regs[reg.index()]?;
        match (state.one, state.frames[frame].behind.get(&reg)) {
            (Some(one), Some(behind)) => Some(self.put_back(one, value, &behind.clone())),
            _ => Some(value),
        }
    }

    /// The scalar in its lane, and what is behind it in the others.
    fn put_back(&mut self, one: One, scalar: Value, behind: &Behind) -> Value {
        let vector = self.behind_value(one, behind);
        let ty = self.ty(vector);
        let insert = Kind::Op { op: Op::Insert, ty: ty.ty, from: ty.ty };
        self.emit(insert, &[vector, one.lane, scalar], ty)
    }

    /// A vector that is right in all lanes but the one.
    pub(super) fn behind_value(&mut self, one: One, behind: &Behind) -> Value {
        let made = match behind {
            Behind::Vector(v) => return *v,
            Behind::Made(made) => made,
        };
        let here = self.b.current();
        if let Some((block, v)) = made.value.get()
            && block == here
        {
            return v;
        }
        let args: Vec<Value> = made
            .args
            .iter()
            .map(|(value, behind)| match behind {
                Some(behind) => self.put_back(one, *value, behind),
                None => *value,
            })
            .collect();
        let v = self.op(made.op, made.ty, made.from, &args);
        let v = self.varying_value(v);
        made.value.set(Some((here, v)));
        v
    }

    /// A register's value with what is behind it, if it is parted.
    pub(super) fn held(&mut self, state: &State, reg: Reg) -> (Value, Option<Behind>) {
        let behind = state.top().behind.get(&reg).cloned();
        let value = match state.top().regs[reg.index()] {
            Some(v) => v,
            // Lane numbers, and what is known of them, are in no register before something reads them.
            None => match self.lanes_in(state.top().function, reg) {
                Some(lanes) => lanes,
                None => self.read(state, reg),
            },
        };
        (value, behind)
    }

    /// Records an instruction on scalars, if it is one for that; the mode has ended if it is not.
    pub(super) fn scalar_instruction(&mut self, state: &mut State, inst: &Inst) -> Option<Next> {
        // The mode ends at the latest where the frame that it was entered in returns.
        let One { lane, .. } = state.one?;
        let writes_lanes = !inst.dst.is_none() && self.is_varying(state, inst.dst);
        let plain = matches!(inst.op.info().form, Form::Unary | Form::Binary | Form::Ternary | Form::Compare)
            || matches!(inst.op, Op::Mov | Op::Select | Op::Convert | Op::Bitcast | Op::PAdd);
        match inst.op {
            _ if plain && writes_lanes => self.scalar_pure(state, inst),
            Op::Assign => self.scalar_assign(state, inst),
            Op::IDiv | Op::IRem if writes_lanes => self.scalar_division(state, inst),
            Op::Load | Op::LoadLane if writes_lanes => self.scalar_load(state, inst),
            Op::Store | Op::StoreLane => self.scalar_store(state, inst),
            Op::Iota => {
                let all = self.lane_numbers();
                self.write_parted(state, inst.dst, lane, Behind::Vector(all));
            }
            Op::MaskGet => {
                let none = self.mask_value(Mask::Empty);
                // Where jumps arrive that are taken without lanes, the lane is not active either.
                let is_active = self.constant(Ty::Bool, (state.mask() != Mask::Empty) as u64);
                self.write_parted(state, inst.dst, is_active, Behind::Vector(none));
            }
            Op::Any | Op::All if !inst.src[0].is_none() => {
                let v = self.read(state, inst.src[0]);
                self.write(state, inst.dst, v);
            }
            _ if self.stays_scalar(state, inst) => return None,
            _ => self.leave_one_lane(state),
        }
        if state.one.is_none() { None } else { Some(Next::Here) }
    }

    /// Returns whether an instruction may be recorded as ever in this mode: it sees no lanes, or conditions and masks only.
    fn stays_scalar(&self, state: &State, inst: &Inst) -> bool {
        let control = matches!(
            inst.op,
            Op::Jmp
                | Op::BrTrue
                | Op::BrFalse
                | Op::MaskIf
                | Op::MaskElse
                | Op::MaskEndif
                | Op::LoopBegin
                | Op::LoopTest
                | Op::LoopNext
                | Op::LoopBack
                | Op::LoopEnd
                | Op::MaskBreak
                | Op::MaskContinue
                | Op::MaskReturn
                | Op::MaskBreakIf
                | Op::MaskContinueIf
                | Op::MaskReturnIf
                | Op::Assert
                | Op::Call
                | Op::Ret
                | Op::GlobalAddr
                | Op::FuncAddr
                | Op::FrameAddr
        );
        let is_uniform = |r: Reg| r.is_none() || !self.is_varying(state, r);
        let uniform = is_uniform(inst.dst) && inst.src.into_iter().all(is_uniform) && inst.args.len == 0;
        let simple = !matches!(inst.op.info().form, Form::Special | Form::Reduce) || matches!(inst.op, Op::Load);
        control || uniform && (simple || matches!(inst.op, Op::Mov | Op::Select | Op::Convert | Op::Bitcast | Op::PAdd))
    }

    /// Writes the lane of a register of which other lanes hold something else.
    pub(super) fn write_parted(&mut self, state: &mut State, reg: Reg, scalar: Value, behind: Behind) {
        self.write(state, reg, scalar);
        state.top_mut().behind.insert(reg, behind);
    }

    fn scalar_pure(&mut self, state: &mut State, inst: &Inst) {
        let operands: Vec<Reg> = inst.src.into_iter().filter(|r| !r.is_none()).collect();
        let args: Vec<Value> = operands.iter().map(|&r| self.read(state, r)).collect();
        let own: Vec<_> = operands.iter().map(|&r| self.held(state, r)).collect();
        let v = self.op(inst.op, inst.ty, inst.from, &args);
        let same = own.iter().all(|(value, behind)| behind.is_none() && !self.ty(*value).is_varying());
        if same {
            return self.write(state, inst.dst, v);
        }
        let made = Made { op: inst.op, ty: inst.ty, from: inst.from, args: own, value: Default::default() };
        let behind = self.behind_alone(state, inst.dst).unwrap_or(Behind::Made(Rc::new(made)));
        self.write_parted(state, inst.dst, v, behind);
    }

    fn scalar_assign(&mut self, state: &mut State, inst: &Inst) {
        let new = self.read(state, inst.src[0]);
        let behind = match self.held(state, inst.dst) {
            (_, Some(behind)) => behind,
            (old, None) => Behind::Vector(self.varying_value(old)),
        };
        self.write_parted(state, inst.dst, new, behind);
    }

    /// Zeros in all lanes: what loads and divisions give where no lane is active.
    fn zeros(&mut self, ty: Ty) -> Behind {
        let zero = self.constant(ty, 0);
        Behind::Vector(self.varying_value(zero))
    }

    fn scalar_division(&mut self, state: &mut State, inst: &Inst) {
        let (a, b) = (self.read(state, inst.src[0]), self.read(state, inst.src[1]));
        let v = self.quotient(state, inst, a, b);
        let zeros = self.zeros(inst.ty);
        self.write_parted(state, inst.dst, v, zeros);
    }

    fn scalar_load(&mut self, state: &mut State, inst: &Inst) {
        let at = self.operand(state, inst);
        let v = match self.at_lane(state, &at) {
            Some(at) => self.load_one(state, &at),
            None => return self.leave_one_lane(state),
        };
        let zeros = self.zeros(inst.ty);
        self.write_parted(state, inst.dst, v, zeros);
    }

    fn scalar_store(&mut self, state: &mut State, inst: &Inst) {
        let at = self.operand(state, inst);
        let value = self.read(state, inst.src[2]);
        match self.at_lane(state, &at) {
            Some(at) => self.store_one(state, &at, value),
            None => self.leave_one_lane(state),
        }
    }

    /// The element that the lane accesses, as an operand that is checked by its index.
    fn at_lane(&mut self, state: &State, at: &super::memory::Operand) -> Option<super::memory::Operand> {
        let lane = state.one?.lane;
        if at.index.is_some() && !(1..=super::memory::MAX_SCALE).contains(&at.address.scale) {
            return None;
        }
        let mut at = *at;
        if !at.address.by_lane {
            return Some(at);
        }
        // The lane's element lies at the lane's number, behind what the operand says.
        at.address.by_lane = false;
        let lane = self.convert(lane, Ty::I64);
        let size = self.constant(Ty::I64, at.ty.size() as u64);
        let offset = self.plain(Op::Mul, Ty::I64, &[lane, size]);
        if let Some(index) = at.index {
            let index = self.convert(index, Ty::I64);
            // A product of more than 2³¹ by the greatest scale still fits.
            if !matches!(at.address.index, Some(Ty::I32 | Ty::U32)) {
                return None;
            }
            let scale = self.constant(Ty::I64, at.address.scale as u64);
            let first = self.plain(Op::Mul, Ty::I64, &[index, scale]);
            let sum = self.plain(Op::Add, Ty::I64, &[first, offset]);
            at.index = Some(sum);
        } else {
            at.index = Some(offset);
        }
        at.address.index = Some(Ty::I64);
        at.address.scale = 1;
        Some(at)
    }
}
