//! Recording one instruction after another.

use super::Recorder;
use super::divergence::{Leave, push};
use super::state::{Mask, State};
use crate::abort::Abort;
use crate::analysis::address;
use crate::ir::{End, ExitReason, HandlerCall, Kind, Type, Value};
use spmdvm_vm::isa::{Form, Op, Special};
use spmdvm_vm::program::{Inst, Reg};
use spmdvm_vm::sem;
use spmdvm_vm::types::{Shape, Ty};
use spmdvm_vm::verify::EntryKind;

/// What follows an instruction.
pub(super) enum Next {
    /// The next instruction.
    Here,
    /// The instruction at the state's position, which has been set.
    Moved,
    /// Nothing: the block has been ended.
    Ended,
}

impl Recorder<'_> {
    /// Records from a state on until the block ends.
    pub(super) fn block(&mut self, mut state: State) -> Result<(), Abort> {
        if let Some(edge) = self.enter_one_lane(&mut state) {
            self.b.end(End::Jump(edge));
            return Ok(());
        }
        let mut first = true;
        loop {
            if !first && self.begins_block(&state) {
                let edge = self.edge(&state);
                self.b.end(End::Jump(edge));
                return Ok(());
            }
            if self.left_loop(&state) {
                self.leave(&state, ExitReason::LoopEnd);
                return Ok(());
            }
            if (first || self.is_cut(&state))
                && let Some(reason) = self.parts(&state)
            {
                self.leave(&state, reason);
                return Ok(());
            }
            first = false;
            let frame = state.top();
            let inst = self.function(frame.function).code[frame.pc as usize];
            match self.instruction(&mut state, &inst)? {
                Next::Here => state.top_mut().pc += 1,
                Next::Moved => {}
                Next::Ended => return Ok(()),
            }
        }
    }

    fn begins_block(&mut self, state: &State) -> bool {
        let (function, pc) = (state.top().function, state.top().pc);
        self.analysis(function).is_label(pc)
    }

    /// Returns whether a function that is too large for one region is cut here.
    pub(super) fn is_cut(&mut self, state: &State) -> bool {
        let (function, pc) = (state.top().function, state.top().pc);
        self.plan.cuts && self.analysis(function).is_cut(self.function(function), pc)
    }

    /// Returns whether the entered frame has left the loop.
    pub(super) fn left_loop(&self, state: &State) -> bool {
        state.frames.len() == 1 && !self.inside[state.top().pc as usize]
    }

    /// Ends the block: the interpreter goes on at the state's position.
    pub(super) fn leave(&mut self, state: &State, reason: ExitReason) -> Next {
        let exit = self.exit(state, reason);
        self.b.end(End::Exit(exit));
        Next::Ended
    }

    pub(super) fn instruction(&mut self, state: &mut State, inst: &Inst) -> Result<Next, Abort> {
        self.reads_speculated = false;
        if let Some(next) = self.scalar_instruction(state, inst) {
            return Ok(next);
        }
        match inst.op.info().form {
            Form::Unary | Form::Binary | Form::Ternary | Form::Compare => self.elementwise(state, inst),
            Form::Checked => self.division(state, inst),
            Form::Reduce => self.reduction(state, inst),
            Form::Special => {
                return match inst.op.special() {
                    Some(op) => self.special(state, inst, op),
                    None => Ok(self.leave(state, ExitReason::Operation(inst.op))),
                };
            }
        }
        Ok(Next::Here)
    }

    /// Records a special operation. The match is exhaustive: a new one is executed by the interpreter's handler
    /// ([`Self::interpret`]), left to the interpreter, or recorded.
    fn special(&mut self, state: &mut State, inst: &Inst, op: Special) -> Result<Next, Abort> {
        match op {
            Special::Mov => {
                let v = self.read(state, inst.src[0]);
                self.write(state, inst.dst, v);
            }
            Special::Assign => self.assign(state, inst),
            Special::Select => self.select_op(state, inst),
            Special::Convert | Special::Bitcast => self.elementwise(state, inst),
            Special::Iota | Special::Shuffle | Special::Extract | Special::Insert => self.lanes(state, inst),
            Special::MaskGet | Special::MaskBits | Special::PackMask | Special::Any | Special::All => {
                self.votes(state, inst)
            }
            Special::GlobalAddr | Special::FuncAddr => {
                let bits = address(inst).unwrap_or_else(|| unreachable!("both give an address"));
                let v = self.constant(Ty::U64, bits);
                self.write(state, inst.dst, v);
            }
            Special::FrameAddr => {
                let v = self.frame_address(state, state.frames.len() - 1, inst.imm);
                self.write(state, inst.dst, v);
            }
            Special::PAdd => self.pointer_sum(state, inst),
            Special::MemSet => self.fill(state, inst),
            Special::MemCopy => self.copy(state, inst),
            Special::AtomicAdd
            | Special::AtomicSub
            | Special::AtomicMin
            | Special::AtomicMax
            | Special::AtomicAnd
            | Special::AtomicOr
            | Special::AtomicXor
            | Special::AtomicSwap
            | Special::AtomicCas => self.atomic(state, inst),
            Special::Alloc
            | Special::Free
            | Special::Print
            | Special::Clock
            | Special::Fence
            | Special::ThreadIndex
            | Special::ThreadCount => self.interpret(state, inst),
            Special::Load | Special::LoadLane => {
                self.test_assumptions(state);
                self.load(state, inst);
            }
            Special::Store | Special::StoreLane => {
                self.test_assumptions(state);
                self.store(state, inst);
            }
            Special::Assert => self.assert(state, inst),
            Special::Call => return self.call(state, inst),
            Special::Ret => return self.ret(state),
            Special::Jmp => return Ok(self.jump(state, inst)),
            Special::BrTrue | Special::BrFalse => return Ok(self.branch(state, inst)),
            Special::CallInd => return self.call_indirect(state, inst),
            Special::EachLane | Special::EachAll | Special::EachUnique => return self.each(state, inst),
            Special::LoopBack => return Ok(self.loop_back(state, inst)),
            Special::MaskIf => return Ok(self.mask_if(state, inst)),
            Special::MaskElse => return self.mask_else(state, inst),
            Special::MaskEndif | Special::LoopEnd | Special::SwitchEnd | Special::EverywhereEnd | Special::EachEnd => {
                return self.pop(state, inst);
            }
            Special::LoopBegin => {
                let mask = state.mask();
                push(state, EntryKind::Loop, mask, Mask::Empty);
            }
            Special::LoopTest => return Ok(self.lanes_drop_out(state, inst, None)),
            Special::LoopNext => return Ok(self.loop_next(state, inst)),
            Special::SwitchBegin => return Ok(self.switch_begin(state, inst)),
            Special::SwitchCase => return Ok(self.switch_case(state, inst)),
            Special::MaskBreak => return Ok(self.all_leave(state, inst, Leave::Break)),
            Special::MaskContinue => return Ok(self.all_leave(state, inst, Leave::Continue)),
            Special::MaskReturn => return Ok(self.all_leave(state, inst, Leave::Return)),
            Special::MaskBreakIf => return Ok(self.lanes_drop_out(state, inst, Some(Leave::Break))),
            Special::MaskContinueIf => return Ok(self.lanes_drop_out(state, inst, Some(Leave::Continue))),
            Special::MaskReturnIf => return Ok(self.lanes_drop_out(state, inst, Some(Leave::Return))),
            Special::Everywhere => {
                let mask = state.mask();
                push(state, EntryKind::Every, mask, Mask::Empty);
                state.set_mask(Mask::Full);
            }
            Special::EachBegin => self.each_begin(state),
            // Whose tasks they are is told by how many frames there are: not by those of which only the region knows.
            Special::Launch | Special::LaunchInd | Special::Sync if state.frames.len() == 1 => {
                self.interpret(state, inst);
            }
            Special::Abort | Special::HostCall | Special::Launch | Special::LaunchInd | Special::Sync => {
                return Ok(self.leave(state, ExitReason::Operation(inst.op)));
            }
        }
        Ok(Next::Here)
    }

    /// The value of a register.
    pub(super) fn read(&mut self, state: &State, reg: Reg) -> Value {
        let frame = state.top();
        self.reads_speculated |= state.speculated.contains(&(state.frames.len() as u32 - 1, reg));
        match self.lanes_in(frame.function, reg).or(frame.regs[reg.index()]) {
            Some(v) => match state.one {
                Some(one) => self.element(v, one.lane),
                None => v,
            },
            // The verifier proves that registers are written before they are read; constants are loaded on first use.
            None => {
                let f = self.function(frame.function);
                let bits = f.constant_bits(reg).unwrap_or(0);
                self.constant(f.reg(reg).ty, bits)
            }
        }
    }

    /// Writes a register. A uniform value in a varying register stands for all its lanes.
    pub(super) fn write(&mut self, state: &mut State, reg: Reg, value: Value) {
        self.forget_tests(state, reg);
        state.top_mut().regs[reg.index()] = Some(value);
        state.top_mut().behind.remove(&reg);
        let at = (state.frames.len() as u32 - 1, reg);
        let speculates = self.reads_speculated && !self.ty(value).is_varying() && self.is_varying(state, reg);
        if speculates {
            state.speculated.insert(at);
        } else {
            state.speculated.remove(&at);
        }
    }

    /// Returns whether a register is declared varying.
    pub(super) fn is_varying(&self, state: &State, reg: Reg) -> bool {
        self.function(state.top().function).reg(reg).shape == Shape::Varying
    }

    fn operands(&mut self, state: &State, inst: &Inst) -> Vec<Value> {
        inst.src.into_iter().filter(|r| !r.is_none()).map(|r| self.read(state, r)).collect()
    }

    fn elementwise(&mut self, state: &mut State, inst: &Inst) {
        let args = self.operands(state, inst);
        let v = self.op(inst.op, inst.ty, inst.from, &args);
        self.write(state, inst.dst, v);
    }

    /// A pointer plus an offset; an address in a frame stays one.
    fn pointer_sum(&mut self, state: &mut State, inst: &Inst) {
        let args = self.operands(state, inst);
        let known = self.address(args[0]).zip(self.known(args[1]));
        let v = match known {
            Some((place, more)) => match place.offset.checked_add(more as i64).filter(|o| o.unsigned_abs() < 1 << 30) {
                Some(sum) => self.frame_address(state, place.of, sum),
                None => self.plain(Op::PAdd, Ty::U64, &args),
            },
            None => {
                let v = self.plain(Op::PAdd, Ty::U64, &args);
                if self.address(args[0]).is_some() && self.ty(v) == Type::uniform(Ty::U64) {
                    self.frame_sums.insert(v, (args[0], args[1]));
                }
                v
            }
        };
        self.write(state, inst.dst, v);
    }

    /// Has the interpreter's handler execute the instruction, without leaving the region.
    pub(super) fn interpret(&mut self, state: &mut State, inst: &Inst) {
        if let Some(v) = self.handled(state, inst) {
            self.write(state, inst.dst, v);
        }
    }

    /// The result of an instruction that the interpreter's handler executes, if it has one.
    pub(super) fn handled(&mut self, state: &State, inst: &Inst) -> Option<Value> {
        let frame = state.top();
        let f = self.function(frame.function);
        let (function, pc, at) = (frame.function, frame.pc, frame.at);
        let exit = self.exit(state, ExitReason::Operation(inst.op));
        let own = inst.src.into_iter().filter(|r| !r.is_none());
        let listed = if inst.args.len == 0 { &[][..] } else { f.list(inst.args) };
        let regs: Vec<Reg> = own.chain(listed.iter().copied()).collect();
        let place = |reg| {
            let place = self.prepared.register(function, reg);
            (place.at, Type { shape: place.shape, ty: place.ty })
        };
        let operands = regs.iter().map(|&r| place(r)).collect();
        let result = (!inst.dst.is_none()).then(|| place(inst.dst));
        self.b.region.handler_calls.push(HandlerCall { op: inst.op, function, pc, at, operands, result });
        let site = self.b.region.handler_calls.len() as u32 - 1;
        let mut args: Vec<Value> = regs.iter().map(|&r| self.read(state, r)).collect();
        args.push(self.mask_value(state.mask()));
        let kind = Kind::Interpret { site, exit };
        match result {
            Some((_, ty)) => Some(self.emit(kind, &args, ty)),
            None => {
                self.effect(kind, &args);
                None
            }
        }
    }

    fn select_op(&mut self, state: &mut State, inst: &Inst) {
        let args = self.operands(state, inst);
        let v = match self.known(args[0]) {
            Some(bit) => args[if bit != 0 { 1 } else { 2 }],
            None => self.plain(Op::Select, inst.ty, &args),
        };
        self.write(state, inst.dst, v);
    }

    fn assign(&mut self, state: &mut State, inst: &Inst) {
        let new = self.read(state, inst.src[0]);
        let old = self.read(state, inst.dst);
        let v = self.select(state.mask(), new, old);
        self.write(state, inst.dst, v);
    }

    /// Quotients and remainders: a zero divisor in an active lane is left to the interpreter, others are not divided by.
    fn division(&mut self, state: &mut State, inst: &Inst) {
        let (a, b) = (self.read(state, inst.src[0]), self.read(state, inst.src[1]));
        let mut v = self.quotient(state, inst, a, b);
        if self.is_varying(state, inst.dst) {
            let zero = self.constant(inst.ty, 0);
            v = self.select(state.mask(), v, zero);
        }
        self.write(state, inst.dst, v);
    }

    /// A quotient or remainder, right in active lanes.
    pub(super) fn quotient(&mut self, state: &State, inst: &Inst, a: Value, mut b: Value) -> Value {
        let zero = self.constant(inst.ty, 0);
        if self.known(b).is_none_or(|bits| bits == 0) {
            let is_zero = self.plain(Op::Eq, inst.ty, &[b, zero]);
            if self.ty(b).is_varying() {
                let bad = self.and(state.mask(), Mask::Any(is_zero));
                self.guard_none(state, bad, ExitReason::ZeroDivisor { varying: true });
                if state.mask() != Mask::Full {
                    let one = self.constant(inst.ty, 1);
                    b = self.select(state.mask(), b, one);
                }
            } else {
                let ok = self.plain(Op::Not, Ty::Bool, &[is_zero]);
                self.guard(state, ok, ExitReason::ZeroDivisor { varying: false });
            }
        }
        self.plain(inst.op, inst.ty, &[a, b])
    }

    fn reduction(&mut self, state: &mut State, inst: &Inst) {
        let v = self.read(state, inst.src[0]);
        let neutral = sem::reduce_neutral(inst.op, inst.ty).unwrap_or(0);
        let neutral = self.constant(inst.ty, neutral);
        let v = self.select(state.mask(), v, neutral);
        let v = self.varying_value(v);
        let r = self.emit(Kind::Reduce { op: inst.op, ty: inst.ty }, &[v], Type::uniform(inst.ty));
        self.write(state, inst.dst, r);
    }

    fn lanes(&mut self, state: &mut State, inst: &Inst) {
        let kind = Kind::Op { op: inst.op, ty: inst.ty, from: inst.ty };
        let args = self.operands(state, inst);
        let v = match inst.op {
            Op::Iota => self.lane_numbers(),
            // Every lane holds the same.
            Op::Shuffle | Op::Extract if !self.ty(args[0]).is_varying() => args[0],
            Op::Shuffle if !self.ty(args[1]).is_varying() => {
                let extract = Kind::Op { op: Op::Extract, ty: inst.ty, from: inst.ty };
                self.emit(extract, &args, Type::uniform(inst.ty))
            }
            Op::Extract => self.emit(kind, &args, Type::uniform(inst.ty)),
            Op::Insert => {
                let v = self.varying_value(args[0]);
                self.emit(kind, &[v, args[1], args[2]], Type::varying(inst.ty))
            }
            _ => self.emit(kind, &args, Type::varying(inst.ty)),
        };
        self.write(state, inst.dst, v);
    }

    fn votes(&mut self, state: &mut State, inst: &Inst) {
        let mask = state.mask();
        let operand = (!inst.src[0].is_none()).then(|| self.read(state, inst.src[0]));
        let lanes = match operand {
            Some(v) => self.mask_of(v),
            None => Mask::Full,
        };
        let v = match inst.op {
            Op::MaskGet => match mask {
                Mask::Full => self.constant(Ty::Bool, 1),
                Mask::Empty => self.constant(Ty::Bool, 0),
                mask => self.mask_value(mask),
            },
            Op::Any => {
                let active = self.and(mask, lanes);
                self.any(active)
            }
            Op::All => {
                let failing = self.and_not(mask, lanes);
                self.none(failing)
            }
            _ => {
                let active = self.and(mask, lanes);
                self.bits(active)
            }
        };
        self.write(state, inst.dst, v);
    }

    fn assert(&mut self, state: &mut State, inst: &Inst) {
        let condition = self.read(state, inst.src[0]);
        if self.ty(condition).is_varying() {
            let failing = self.and_not(state.mask(), Mask::Any(condition));
            self.guard_none(state, failing, ExitReason::Assertion);
        } else {
            self.guard(state, condition, ExitReason::Assertion);
        }
    }

    /// Leaves to the interpreter, before the current instruction, if the condition is false.
    pub(super) fn guard(&mut self, state: &State, condition: Value, reason: ExitReason) {
        if self.known(condition).is_none_or(|bits| bits == 0) {
            let exit = self.exit(state, reason);
            self.effect(Kind::Guard { exit }, &[condition]);
        }
    }

    /// Leaves to the interpreter, before the current instruction, if the mask has a lane.
    pub(super) fn guard_none(&mut self, state: &State, mask: Mask, reason: ExitReason) {
        if mask != Mask::Empty {
            let none = self.none(mask);
            self.guard(state, none, reason);
        }
    }

    /// Counts one unit of fuel, as the current instruction does.
    pub(super) fn tick(&mut self, state: &State) {
        let exit = self.exit(state, ExitReason::Poll);
        self.effect(Kind::Tick { units: 1, exit }, &[]);
    }
}
