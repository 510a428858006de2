//! What an instruction does to the properties.

use super::{Access, Entry, Lanes, Mask, State, tests_lanes};
use crate::flow::each_written;
use crate::isa::{Effect, Form, Op};
use crate::program::{Function, Inst, Reg};
use crate::types::{Shape, Width};

pub(super) struct Transfer<'f> {
    f: &'f Function,
    width: Width,
    /// The bits of constant registers.
    known: Vec<Option<u64>>,
    continues: bool,
}

impl<'f> Transfer<'f> {
    pub fn new(f: &'f Function, width: Width) -> Self {
        let mut known = vec![None; f.regs.len()];
        f.consts.iter().for_each(|&(r, bits)| known[r.index()] = Some(bits));
        let continues = f.code.iter().any(|i| matches!(i.op, Op::MaskContinue | Op::MaskContinueIf));
        Transfer { f, width, known, continues }
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
        for (r, all, active) in results {
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

    fn scalar(&self, of: &[Lanes], inst: &Inst, r: Reg) -> Lanes {
        let pure = matches!(inst.op.info().effect, Effect::Pure) && inst.dst == r;
        let zeros = if pure { self.pure(of, inst).zeros } else { 0 };
        Lanes { stride: Some(0), zeros }
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
        let (a, b) = (arg(0), arg(1));
        let same = inst.src.iter().filter(|r| !r.is_none()).all(|&r| self.lanes(of, r).is_uniform());
        let bits = 8 * inst.ty.size() as u32;
        let whole = inst.ty.is_int();
        let lanes = |stride: Option<i64>, zeros: u8| Lanes { stride: stride.map(|s| wrapped(s, bits)), zeros };
        let both = |f: fn(i64, i64) -> i64| a.stride.zip(b.stride).map(|(x, y)| f(x, y));
        let found = match inst.op {
            Op::Mov | Op::Assign => a,
            Op::Iota => Lanes { stride: Some(1), zeros: 63 },
            Op::Add | Op::PAdd if whole => lanes(both(i64::wrapping_add), a.zeros.min(b.zeros)),
            Op::Sub if whole => lanes(both(i64::wrapping_sub), a.zeros.min(b.zeros)),
            Op::Neg if whole => lanes(a.stride.map(i64::wrapping_neg), a.zeros),
            Op::Mul if whole => self.product(inst, a, b, bits),
            Op::Shl if whole => match self.constant(inst.src[1]) {
                Some(count) => {
                    let count = (count % bits as u64) as u32;
                    lanes(a.stride.map(|s| s << count), (a.zeros as u32 + count).min(63) as u8)
                }
                None => Lanes::VARYING,
            },
            Op::Convert | Op::Bitcast if whole && inst.from.is_int() && inst.ty.size() <= inst.from.size() => {
                lanes(a.stride, a.zeros)
            }
            Op::Convert if whole && inst.from.is_int() && same => Lanes { stride: Some(0), zeros: a.zeros },
            Op::Select if arg(0).is_uniform() => b.join(arg(2)),
            Op::Shuffle | Op::Extract if a.is_uniform() => a,
            _ => Lanes::VARYING,
        };
        let elementwise = !matches!(inst.op.info().form, Form::Special | Form::Reduce)
            || matches!(inst.op, Op::Select | Op::Convert | Op::Bitcast | Op::PAdd);
        if found.stride.is_none() && same && elementwise { Lanes::UNIFORM } else { found }
    }

    fn product(&self, inst: &Inst, a: Lanes, b: Lanes, bits: u32) -> Lanes {
        let zeros = (a.zeros + b.zeros).min(63);
        let by = |x: Lanes, factor: Option<u64>| Some(x.stride?.wrapping_mul(factor? as i64));
        let both_uniform = (a.is_uniform() && b.is_uniform()).then_some(0);
        let stride =
            both_uniform.or_else(|| by(a, self.constant(inst.src[1]))).or_else(|| by(b, self.constant(inst.src[0])));
        Lanes { stride: stride.map(|s| wrapped(s, bits)), zeros: if stride.is_some() { zeros } else { 0 } }
    }

    fn constant(&self, r: Reg) -> Option<u64> {
        if r.is_none() { None } else { self.known[r.index()] }
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
            Some(s) if s == size => Access::Consecutive { aligned: !inst.src[1].is_none() && index.zeros >= lanes },
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

/// A number of so many bits, as a number with a sign.
fn wrapped(x: i64, bits: u32) -> i64 {
    x << (64 - bits) >> (64 - bits)
}
