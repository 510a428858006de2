//! Recording atomic operations: those of the machine on each element, if it has them and elements are aligned; the others are
//! executed by the interpreter's handler.
//!
//! Lanes take turns in their order, so those that share an element see each other's. All of their elements are checked first: an
//! operation that traps has no effect.

use super::Recorder;
use super::memory::Operand;
use super::state::{Mask, State};
use crate::ir::{Address, Kind, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::Inst;
use spmdvm_vm::types::Ty;

/// Most lanes whose turns are recorded one after another, where it is known which they are.
const MOST_IN_A_ROW: u32 = 16;

/// The elements that an operation is about.
struct Elements {
    /// The host address of index 0.
    host: Value,
    /// The index of each lane, and the bytes between two; without, all share one element.
    index: Option<(Value, u32)>,
    /// Whether those of all active lanes may be changed, a uniform bool.
    ok: Value,
}

impl Recorder<'_> {
    /// Records an atomic operation.
    pub(super) fn atomic(&mut self, state: &mut State, inst: &Inst) {
        let regs: Vec<_> = inst.src.into_iter().filter(|r| !r.is_none()).collect();
        let args: Vec<Value> = regs.iter().map(|&r| self.read(state, r)).collect();
        let takes_turns = regs.iter().any(|&r| self.is_varying(state, r));
        // Addresses that vary in the memory of frames are not known to the passes that keep it in registers.
        let may_be = Kind::has_atomic(inst.op, bits_of(inst.op, inst.ty)) && !(takes_turns && state.one.is_some());
        let elements = may_be.then(|| self.elements(state, inst.ty, args[0])).flatten();
        let Some(elements) = elements else { return self.interpret(state, inst) };
        let frame = &*state;
        let ty = if takes_turns { Type::varying(inst.ty) } else { Type::uniform(inst.ty) };
        let fast = |r: &mut Self| match takes_turns {
            true => r.in_turns(frame.mask(), inst, &elements, &args[1..]),
            false => r.atomic_on(inst, elements.host, &args[1..]),
        };
        let v = self.either_value(elements.ok, ty, fast, |r| r.handled(frame, inst).unwrap_or(elements.host));
        self.write(state, inst.dst, v);
    }

    /// The elements at some pointers, if they lie in one region.
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
        let mut ok = self.in_bounds(&at, size, true);
        let host = self.host(&at);
        let index = at.index.map(|index| (index, at.address.scale));
        if let Some((index, scale)) = index {
            if scale % size != 0 {
                let [scale, low, zero] = [scale, size - 1, 0].map(|bits| self.constant(Ty::I64, u64::from(bits)));
                let index = self.convert(index, Ty::I64);
                let offset = self.plain(Op::Mul, Ty::I64, &[index, scale]);
                let low = self.plain(Op::And, Ty::I64, &[offset, low]);
                let is_aligned = self.plain(Op::Eq, Ty::I64, &[low, zero]);
                ok = self.plain(Op::And, Ty::Bool, &[ok, is_aligned]);
            }
            let bad = self.and_not(state.mask(), Mask::Any(ok));
            ok = self.none(bad);
        }
        let [low, zero] = [u64::from(size) - 1, 0].map(|bits| self.constant(Ty::U64, bits));
        let low = self.plain(Op::And, Ty::U64, &[host, low]);
        let is_aligned = self.plain(Op::Eq, Ty::U64, &[low, zero]);
        for holds in [Some(is_aligned), same].into_iter().flatten() {
            ok = self.plain(Op::And, Ty::Bool, &[ok, holds]);
        }
        Some(Elements { host, index, ok })
    }

    /// The operation on the elements of the active lanes, one after another. Gives what was there; 0 in the other lanes.
    fn in_turns(&mut self, mask: Mask, inst: &Inst, elements: &Elements, operands: &[Value]) -> Value {
        let zero = self.constant(inst.ty, 0);
        let none = self.varying_value(zero);
        let lanes = match mask {
            Mask::Full => Some(self.program.width.lanes() as u32),
            Mask::First(n) => Some(n),
            _ => None,
        };
        if let Some(lanes) = lanes.filter(|&n| n <= MOST_IN_A_ROW) {
            return (0..lanes).fold(none, |found, lane| {
                let lane = self.constant(Ty::I32, lane.into());
                self.turn(lane, found, inst, elements, operands)
            });
        }
        let all = self.bits(mask);
        let (head, done) = (self.b.block(), self.b.block());
        let [left, found] = [Type::uniform(Ty::U64), Type::varying(inst.ty)].map(|ty| self.b.param(head, ty));
        let result = self.b.param(done, Type::varying(inst.ty));
        self.b.jump(head, &[all, none]);
        self.b.switch_to(head);
        let lane = self.lowest_lane(left);
        let found = self.turn(lane, found, inst, elements, operands);
        let [zero, one] = [0, 1].map(|bits| self.constant(Ty::U64, bits));
        let less = self.plain(Op::Sub, Ty::U64, &[left, one]);
        let left = self.plain(Op::And, Ty::U64, &[left, less]);
        let is_over = self.plain(Op::Eq, Ty::U64, &[left, zero]);
        self.b.branch(is_over, (done, &[found]), (head, &[left, found]));
        self.b.switch_to(done);
        result
    }

    /// A lane's turn, whose result takes its place among those found.
    fn turn(&mut self, lane: Value, found: Value, inst: &Inst, elements: &Elements, operands: &[Value]) -> Value {
        let host = match elements.index {
            None => elements.host,
            Some((index, scale)) => {
                let index = self.element(index, lane);
                let index = self.convert(index, Ty::U64);
                let scale = self.constant(Ty::U64, scale.into());
                let offset = self.plain(Op::Mul, Ty::U64, &[index, scale]);
                self.plain(Op::Add, Ty::U64, &[elements.host, offset])
            }
        };
        let operands: Vec<Value> = operands.iter().map(|&v| self.element(v, lane)).collect();
        let before = self.atomic_on(inst, host, &operands);
        let insert = Kind::Op { op: Op::Insert, ty: inst.ty, from: inst.ty };
        self.emit(insert, &[found, lane, before], Type::varying(inst.ty))
    }

    /// What a value is in a lane.
    fn element(&mut self, v: Value, lane: Value) -> Value {
        let Type { ty, .. } = self.ty(v);
        if !self.ty(v).is_varying() {
            return v;
        }
        self.emit(Kind::Op { op: Op::Extract, ty, from: ty }, &[v, lane], Type::uniform(ty))
    }

    /// The operation on one element. Floats are exchanged as the bits that they are.
    fn atomic_on(&mut self, inst: &Inst, host: Value, operands: &[Value]) -> Value {
        let bits = bits_of(inst.op, inst.ty);
        let mut args = vec![host];
        args.extend(
            operands.iter().map(|&v| if bits == inst.ty { v } else { self.op(Op::Bitcast, bits, inst.ty, &[v]) }),
        );
        let before = self.emit(Kind::Atomic { op: inst.op, ty: bits }, &args, Type::uniform(bits));
        if bits == inst.ty { before } else { self.op(Op::Bitcast, inst.ty, bits, &[before]) }
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
