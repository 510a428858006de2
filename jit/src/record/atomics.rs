//! Recording atomic operations.
//!
//! Lanes take turns in their order, so those that share an element see each other's. All of their elements are checked first: an
//! operation that traps has no effect. While no other thread runs the program, each turn is a load and a store, as it is in the
//! interpreter; else it is an operation of the machine, if that has it and elements are aligned. What remains is executed by the
//! interpreter's handler.

use super::Recorder;
use super::memory::Operand;
use super::state::{Mask, State};
use crate::ir::{Address, Kind, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::Inst;
use spmdvm_vm::types::Ty;

/// Most lanes whose turns are recorded one after another, where it is known which they are.
const MOST_IN_A_ROW: u32 = 16;

/// An operation on the elements of some lanes.
struct Turns<'a> {
    inst: &'a Inst,
    mask: Mask,
    elements: &'a Elements,
    /// What it is done with.
    operands: &'a [Value],
    /// Whether lanes take turns.
    varies: bool,
    /// Whether an operation of the machine is wanted.
    locked: bool,
}

/// The elements at some pointers.
struct Elements {
    /// The host address of index 0.
    host: Value,
    /// The index of each lane, and the bytes between two; without, all share one element.
    index: Option<(Value, u32)>,
    /// Uniform bools: whether those of all active lanes may be changed, and whether they are aligned.
    inside: Value,
    aligned: Value,
}

impl Recorder<'_> {
    /// Records an atomic operation.
    pub(super) fn atomic(&mut self, state: &mut State, inst: &Inst) {
        let regs: Vec<_> = inst.src.into_iter().filter(|r| !r.is_none()).collect();
        let args: Vec<Value> = regs.iter().map(|&r| self.read(state, r)).collect();
        let varies = regs.iter().any(|&r| self.is_varying(state, r));
        let bits = bits_of(inst.op, inst.ty);
        let may_be = (bits.is_int() || bits.size() >= 4) && !(varies && state.one.is_some());
        let elements = may_be.then(|| self.elements(state, inst.ty, args[0])).flatten();
        let Some(elements) = elements else { return self.interpret(state, inst) };
        let Elements { host, inside, aligned, .. } = elements;
        let frame = &*state;
        let ty = if varies { Type::varying(inst.ty) } else { Type::uniform(inst.ty) };
        let (mask, elements, operands) = (frame.mask(), &elements, &args[1..]);
        let turns = |locked| Turns { inst, mask, elements, operands, varies, locked };
        let handled = |r: &mut Self| r.handled(frame, inst).unwrap_or(host);
        let shared = self.shared(Kind::IsShared, &[], Type::uniform(Ty::U64));
        let zero = self.constant(Ty::U64, 0);
        let is_alone = self.plain(Op::Eq, Ty::U64, &[shared, zero]);
        let alone = self.plain(Op::And, Ty::Bool, &[inside, is_alone]);
        let with_others = |r: &mut Self| {
            if !Kind::has_atomic(inst.op, bits) {
                return handled(r);
            }
            let ok = r.plain(Op::And, Ty::Bool, &[inside, aligned]);
            r.either_value(ok, ty, |r| r.in_turns(&turns(true)), handled)
        };
        let v = self.either_value(alone, ty, |r| r.in_turns(&turns(false)), with_others);
        self.write(state, inst.dst, v);
    }

    /// The elements at pointers that lead to one region; none of the memory of frames, of which passes keep some in registers.
    fn elements(&mut self, state: &State, ty: Ty, pointer: Value) -> Option<Elements> {
        let size = ty.size() as u32;
        let address = Address { index: None, scale: 0, disp: 0, by_lane: false };
        let mut at = Operand { base: pointer, index: None, address, ty, unit: 1 };
        let mut same = None;
        if self.ty(pointer).is_varying() {
            at = match self.by_distance(&at) {
                Some(at) => at,
                None => {
                    let (at, is_one) = self.in_one_region(state, &at)?;
                    same = Some(is_one);
                    at
                }
            };
        }
        if self.address(at.base).is_some() {
            return None;
        }
        let mut inside = self.in_bounds(&at, size, true);
        let host = self.host(&at);
        let mut aligned = self.is_multiple(host, size);
        let index = at.index.map(|index| (index, at.address.scale));
        if let Some((index, scale)) = index {
            let bad = self.and_not(state.mask(), Mask::Any(inside));
            inside = self.none(bad);
            if scale % size != 0 {
                let offset = self.offset(index, scale);
                let whole = self.is_multiple(offset, size);
                let bad = self.and_not(state.mask(), Mask::Any(whole));
                let none = self.none(bad);
                aligned = self.plain(Op::And, Ty::Bool, &[aligned, none]);
            }
        }
        if let Some(same) = same {
            inside = self.plain(Op::And, Ty::Bool, &[inside, same]);
        }
        Some(Elements { host, index, inside, aligned })
    }

    /// Whether words are multiples of a power of two.
    fn is_multiple(&mut self, words: Value, of: u32) -> Value {
        let [low, zero] = [u64::from(of) - 1, 0].map(|bits| self.constant(Ty::U64, bits));
        let low = self.plain(Op::And, Ty::U64, &[words, low]);
        self.plain(Op::Eq, Ty::U64, &[low, zero])
    }

    /// What an index leads away from the host address, in bytes.
    fn offset(&mut self, index: Value, scale: u32) -> Value {
        let index = self.convert(index, Ty::U64);
        let scale = self.constant(Ty::U64, scale.into());
        self.plain(Op::Mul, Ty::U64, &[index, scale])
    }

    /// The operation on the elements of the active lanes, one after another. Gives what was there; 0 in the other lanes.
    fn in_turns(&mut self, turns: &Turns<'_>) -> Value {
        if !turns.varies {
            return self.change(turns, turns.elements.host, turns.operands);
        }
        let ty = turns.inst.ty;
        let zero = self.constant(ty, 0);
        let none = self.varying_value(zero);
        let lanes = match turns.mask {
            Mask::Full => Some(self.program.width.lanes() as u32),
            Mask::First(n) => Some(n),
            _ => None,
        };
        if let Some(lanes) = lanes.filter(|&n| n <= MOST_IN_A_ROW) {
            return (0..lanes).fold(none, |found, lane| {
                let lane = self.constant(Ty::I32, lane.into());
                self.turn(turns, lane, found)
            });
        }
        let all = self.bits(turns.mask);
        let (head, done) = (self.b.block(), self.b.block());
        let [left, found] = [Type::uniform(Ty::U64), Type::varying(ty)].map(|ty| self.b.param(head, ty));
        let result = self.b.param(done, Type::varying(ty));
        self.b.jump(head, &[all, none]);
        self.b.switch_to(head);
        let lane = self.lowest_lane(left);
        let found = self.turn(turns, lane, found);
        let [zero, one] = [0, 1].map(|bits| self.constant(Ty::U64, bits));
        let less = self.plain(Op::Sub, Ty::U64, &[left, one]);
        let left = self.plain(Op::And, Ty::U64, &[left, less]);
        let is_over = self.plain(Op::Eq, Ty::U64, &[left, zero]);
        self.b.branch(is_over, (done, &[found]), (head, &[left, found]));
        self.b.switch_to(done);
        result
    }

    /// A lane's turn, whose result takes its place among those found.
    fn turn(&mut self, turns: &Turns<'_>, lane: Value, found: Value) -> Value {
        let Elements { mut host, index, .. } = *turns.elements;
        if let Some((index, scale)) = index {
            let index = self.element(index, lane);
            let offset = self.offset(index, scale);
            host = self.plain(Op::Add, Ty::U64, &[host, offset]);
        }
        let operands: Vec<Value> = turns.operands.iter().map(|&v| self.element(v, lane)).collect();
        let before = self.change(turns, host, &operands);
        let ty = turns.inst.ty;
        self.emit(Kind::Op { op: Op::Insert, ty, from: ty }, &[found, lane, before], Type::varying(ty))
    }

    /// The operation on one element; gives what was there. Floats are exchanged as the bits that they are.
    fn change(&mut self, turns: &Turns<'_>, host: Value, operands: &[Value]) -> Value {
        let (op, ty) = (turns.inst.op, turns.inst.ty);
        let bits = bits_of(op, ty);
        let as_bits = |r: &mut Self, v| if bits == ty { v } else { r.op(Op::Bitcast, bits, ty, &[v]) };
        let operands: Vec<Value> = operands.iter().map(|&v| as_bits(self, v)).collect();
        let before = if turns.locked {
            let args = [&[host], &operands[..]].concat();
            self.emit(Kind::Atomic { op, ty: bits }, &args, Type::uniform(bits))
        } else {
            let before = self.emit(Kind::Load { ty: bits }, &[host], Type::uniform(bits));
            let after = self.changed(op, bits, before, &operands);
            self.effect(Kind::Store { ty: bits }, &[host, after]);
            before
        };
        if bits == ty { before } else { self.op(Op::Bitcast, ty, bits, &[before]) }
    }

    /// What an operation makes of an element.
    fn changed(&mut self, op: Op, ty: Ty, before: Value, operands: &[Value]) -> Value {
        let by = match op {
            Op::AtomicAdd => Op::Add,
            Op::AtomicSub => Op::Sub,
            Op::AtomicMin => Op::Min,
            Op::AtomicMax => Op::Max,
            Op::AtomicAnd => Op::And,
            Op::AtomicOr => Op::Or,
            Op::AtomicXor => Op::Xor,
            Op::AtomicCas => {
                let is_expected = self.plain(Op::Eq, ty, &[before, operands[0]]);
                return self.plain(Op::Select, ty, &[is_expected, operands[1], before]);
            }
            // It is exchanged.
            _ => return operands[0],
        };
        self.plain(by, ty, &[before, operands[0]])
    }
}

/// The type of the elements that are changed: bits, where they are exchanged.
fn bits_of(op: Op, ty: Ty) -> Ty {
    match (op, ty) {
        (Op::AtomicSwap | Op::AtomicCas, Ty::F32) => Ty::U32,
        (Op::AtomicSwap | Op::AtomicCas, Ty::F64) => Ty::U64,
        _ => ty,
    }
}
