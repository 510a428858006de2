//! What the static properties of the bytecode ([`spmdvm_vm::properties`]) say of an access: a stride that is proved needs no
//! test, and no profile to be expected.
//!
//! The proof is about the index in its own type: active lane *l* holds `first + l * stride`, wrapping around. That no lane
//! does wrap is what the checks of bounds at both ends say, as for strides that are tested ([`super::access_pattern`]). It is about the
//! register in the interpreter, which a value of the region stands for: so it holds wherever recording began, and however the
//! value came about.
//!
//! Other strides are proved under assumptions about what registers hold ([`Assumption`]). Whether these are so is a test of few scalars,
//! after which recording goes on in two ways, as with facts about masks: what has been tested of registers of a frame is part of the key of
//! its blocks, until they are written. What the index is in the first lane is computed for that lane alone. So where the assumptions
//! are right no lane's address is computed, nor what only addresses are computed from, divisions among it.

use super::Recorder;
use super::memory::Operand;
use super::state::{Frame, Mask, State};
use crate::advice::AccessPattern;
use crate::ir::{End, Kind, Outcome, Value};
use crate::settings::Variant;
use foldhash::{HashMap, HashMapExt};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::Reg;
use spmdvm_vm::properties::{Assumed, Assumption, Lanes};
use spmdvm_vm::types::Ty;

/// How many operations lead from an index to what it is computed from, at most.
const MAX_STEPS: usize = 24;

impl Recorder<'_> {
    /// The stride of the index of the access at hand: in every run, or as has been tested on the way to it.
    pub(super) fn proved_stride(&mut self, state: &State, at: &Operand) -> Option<i64> {
        let frame = state.top();
        let (f, width) = (self.function(frame.function), self.program.width);
        // An index may also have been made from pointers.
        let index = f.code[frame.pc as usize].src[1];
        let own = (!index.is_none()).then(|| frame.regs[index.index()]).flatten();
        if own.is_none() || own != at.index {
            return None;
        }
        let always = self.analysis(frame.function).properties(f, width).index(frame.pc).stride;
        let tested = || self.assumed_lanes(state).filter(|lanes| lanes.given & !frame.holds == 0)?.stride;
        always.or_else(tested)
    }

    /// Returns whether it is only so by what has been tested.
    pub(super) fn is_proved_by_tests(&mut self, state: &State, at: &Operand) -> bool {
        let frame = state.top();
        let (f, width) = (self.function(frame.function), self.program.width);
        let always = self.analysis(frame.function).properties(f, width).index(frame.pc).stride;
        always.is_none() && self.proved_stride(state, at).is_some()
    }

    /// What is known of the index of the access at hand under assumptions, if something is that is not known without.
    fn assumed_lanes(&mut self, state: &State) -> Option<Lanes> {
        let frame = state.top();
        let (f, width) = (self.function(frame.function), self.program.width);
        let analysis = self.analysis(frame.function);
        if !self.advice.has(Variant::Aligned) || analysis.properties(f, width).index(frame.pc).stride.is_some() {
            return None;
        }
        let lanes = analysis.assuming(f, width)?.index(frame.pc);
        lanes.stride.map(|_| lanes)
    }

    /// Tests what the access at hand would be known by, if it has not been tested since the registers were written that it is about.
    /// Recording goes on for where it is so; where it is not, the access is recorded apart, and all that follows it until one of
    /// the registers is written: there is one test for all accesses, and none in later rounds of a loop that does not change them.
    pub(super) fn test_assumptions(&mut self, state: &mut State) {
        // Of no lane nothing can be tested.
        if state.one.is_some() || Self::has_lanes(state.mask()) != Some(true) {
            return;
        }
        let Some(lanes) = self.assumed_lanes(state) else { return };
        let frame = state.top();
        let missing = Lanes { given: lanes.given & !frame.holds, ..lanes };
        if missing.given == 0 || lanes.given & frame.fails != 0 {
            return;
        }
        // A test of the indices themselves is one code for all, and cheap where it is made once and no quotients are saved.
        let place = self.place(state);
        let (f, width) = (self.function(frame.function), self.program.width);
        let analysis = self.analysis(frame.function);
        let Some(assuming) = analysis.assuming(f, width) else { return };
        let divides = assuming.given(lanes).any(|assumption| assumption.what == Assumed::NotNegative);
        let serves = |pc: usize| {
            let other = assuming.index(pc as u32);
            other.stride.is_some() && other.given != 0 && other.given & !lanes.given == 0
        };
        let pays =
            divides || self.advice.access_pattern(place).is_none() || (frame.pc as usize + 1..f.code.len()).any(serves);
        if !pays || !self.advice.allows(Variant::Aligned, place) {
            return;
        }
        let found: Option<Vec<(Assumption, Value)>> =
            assuming.given(missing).map(|a| Some((a, frame.regs[a.reg.index()]?))).collect();
        let Some(found) = found else { return };
        let mut holds = self.constant(Ty::Bool, 1);
        for (assumption, v) in found {
            let first = self.lane_zero(state, v, assumption.stride);
            let is_so = self.is_so(first, assumption.what);
            holds = self.both(holds, is_so);
        }
        let (yes, no) = self.branch_apart(holds);
        self.b.region.blocks[no.index()].cold = true;
        self.b.switch_to(no);
        self.count(Variant::Aligned, place, Outcome::Missed);
        let mut there = state.clone();
        there.top_mut().fails |= lanes.given;
        let edge = self.edge(&there);
        self.b.end(End::Jump(edge));
        self.b.switch_to(yes);
        self.count(Variant::Aligned, place, Outcome::Hit);
        state.top_mut().holds |= lanes.given;
    }

    /// Forgets what has been tested of a register that is written.
    pub(super) fn forget_tests(&mut self, state: &mut State, reg: Reg) {
        let frame = state.top();
        if frame.holds | frame.fails == 0 {
            return;
        }
        let (f, width) = (self.function(frame.function), self.program.width);
        let about = self.analysis(frame.function).assuming(f, width).map_or(0, |assuming| assuming.about(reg));
        let frame = state.top_mut();
        (frame.holds, frame.fails) = (frame.holds & !about, frame.fails & !about);
    }

    /// What is left of what has been tested at a label: what is about registers that are read again.
    pub(super) fn tests_to_keep(&mut self, frame: &Frame) -> (u32, u32) {
        if frame.holds | frame.fails == 0 || !self.analysis(frame.function).is_label(frame.pc) {
            return (frame.holds, frame.fails);
        }
        let (f, width) = (self.function(frame.function), self.program.width);
        let analysis = self.analysis(frame.function);
        let is_live = |reg: Reg| analysis.is_live(frame.pc, reg);
        let kept = analysis.assuming(f, width).map_or(0, |assuming| assuming.about_any(is_live));
        (frame.holds & kept, frame.fails & kept)
    }

    fn both(&mut self, a: Value, b: Value) -> Value {
        match self.known(a) {
            Some(1) => b,
            _ => self.plain(Op::And, Ty::Bool, &[a, b]),
        }
    }

    /// Whether a number is as assumed.
    fn is_so(&mut self, v: Value, what: Assumed) -> Value {
        let ty = self.ty(v).ty;
        let lanes = self.program.width.lanes() as u64;
        let masked = |r: &mut Self, mask: u64| {
            let mask = r.constant(ty, mask);
            r.plain(Op::And, ty, &[v, mask])
        };
        let (a, op, b) = match what {
            Assumed::Low(low) => (masked(self, lanes - 1), Op::Eq, low),
            Assumed::Count => (masked(self, 8 * ty.size() as u64 - 1), Op::Ge, lanes.trailing_zeros().into()),
            Assumed::NotNegative => (v, Op::Ge, 0),
        };
        let b = self.constant(ty, b);
        self.plain(op, ty, &[a, b])
    }

    /// What lane 0 holds, or would hold if it were active, of lanes that are known to have this stride.
    pub(super) fn lane_zero(&mut self, state: &State, v: Value, stride: i64) -> Value {
        let lane = match state.mask() {
            Mask::Full => self.constant(Ty::I32, 0),
            mask => {
                let bits = self.bits(mask);
                self.lowest_lane(bits)
            }
        };
        let held = self.in_lane(state, v, lane, &mut HashMap::new(), MAX_STEPS);
        if stride == 0 || self.known(lane) == Some(0) {
            return held;
        }
        let ty = self.ty(held).ty;
        let (lane, stride) = (self.convert(lane, ty), self.constant(ty, stride as u64));
        let before = self.plain(Op::Mul, ty, &[lane, stride]);
        self.plain(Op::Sub, ty, &[held, before])
    }

    /// What an active lane holds, computed for it alone if it is computed from integers.
    fn in_lane(
        &mut self,
        state: &State,
        v: Value,
        lane: Value,
        done: &mut HashMap<Value, Value>,
        steps: usize,
    ) -> Value {
        if !self.ty(v).is_varying() {
            return v;
        }
        if let Some(&known) = done.get(&v) {
            return known;
        }
        let found = self.operation_in_lane(state, v, lane, done, steps).unwrap_or_else(|| self.element(v, lane));
        done.insert(v, found);
        found
    }

    fn operation_in_lane(
        &mut self,
        state: &State,
        v: Value,
        lane: Value,
        done: &mut HashMap<Value, Value>,
        steps: usize,
    ) -> Option<Value> {
        let steps = steps.checked_sub(1)?;
        let inst = self.definition(v)?;
        let (kind, args) = (inst.kind, inst.args.to_vec());
        let Kind::Op { op, ty, from } = kind else {
            return (kind == Kind::Splat).then(|| args[0]);
        };
        let is_computed = match op {
            Op::Iota => return Some(self.convert(lane, ty)),
            // What is 0 where no lane was active.
            Op::Select if state.mask().value() == Some(args[0]) => {
                return Some(self.in_lane(state, args[1], lane, done, steps));
            }
            Op::Add | Op::Sub | Op::Mul | Op::Neg | Op::Not | Op::And | Op::Or | Op::Xor | Op::Shl | Op::Shr => true,
            Op::Convert | Op::Bitcast => from.is_int(),
            // That it is not 0 was found out before these quotients.
            Op::IDiv | Op::IRem => !self.ty(args[1]).is_varying(),
            _ => false,
        };
        if !is_computed || !ty.is_int() {
            return None;
        }
        let args: Vec<Value> = args.iter().map(|&x| self.in_lane(state, x, lane, done, steps)).collect();
        Some(self.op(op, ty, from, &args))
    }

    /// The access pattern that follows from that.
    pub(super) fn proved_pattern(&mut self, state: &State, at: &Operand) -> Option<AccessPattern> {
        let stride = self.proved_stride(state, at)?;
        let pattern = match stride.checked_mul(at.address.scale as i64)? {
            0 => AccessPattern::One,
            bytes if bytes == at.ty.size() as i64 => AccessPattern::Consecutive,
            _ => AccessPattern::Strided(stride),
        };
        let variant = Recorder::variant_of(pattern);
        if self.is_proved_by_tests(state, at) {
            // Where they fail, others may have been dropped.
            return self.advice.has(variant).then_some(pattern);
        }
        self.advice.allows(variant, self.place(state)).then_some(pattern)
    }
}
