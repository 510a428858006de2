//! Instructions with the simplifications that recording itself calls for: constants, shared values, masks.

use super::Recorder;
use super::state::Mask;
use crate::exec_ir::meaning::normalised;
use crate::ir::{BlockId, Kind, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem;
use spmdvm_vm::types::Ty;

impl Recorder<'_> {
    /// An instruction in the current block.
    pub(super) fn emit(&mut self, kind: Kind, args: &[Value], ty: Type) -> Value {
        self.insts += 1;
        self.b.inst(kind, args, ty)
    }

    /// An instruction without a result.
    pub(super) fn effect(&mut self, kind: Kind, args: &[Value]) {
        self.insts += 1;
        self.b.effect(kind, args);
    }

    /// An instruction that depends on nothing but constants: made once, in the entry block.
    pub(super) fn shared(&mut self, kind: Kind, args: &[Value], ty: Type) -> Value {
        if let Some(&v) = self.shared.get(&(kind, args.to_vec())) {
            return v;
        }
        let here = self.b.current();
        self.b.switch_to(BlockId(0));
        let v = self.b.inst(kind, args, ty);
        self.b.switch_to(here);
        self.shared.insert((kind, args.to_vec()), v);
        v
    }

    /// A constant; of the bits those count that its type has.
    pub(super) fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        let bits = normalised(ty, bits);
        if let Some(&v) = self.constants.get(&(ty, bits)) {
            return v;
        }
        let here = self.b.current();
        self.b.switch_to(BlockId(0));
        let v = self.b.constant(ty, bits);
        self.b.switch_to(here);
        self.constants.insert((ty, bits), v);
        self.known.insert(v, bits);
        v
    }

    /// The bits of a value that is a constant.
    pub(super) fn known(&self, v: Value) -> Option<u64> {
        self.known.get(&v).copied()
    }

    /// The type of a value.
    pub(super) fn ty(&self, v: Value) -> Type {
        self.b.region.ty(v)
    }

    /// The same value, one per lane.
    pub(super) fn varying_value(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        if ty.is_varying() {
            return v;
        }
        let ty = Type::varying(ty.ty);
        if self.known(v).is_some() { self.shared(Kind::Splat, &[v], ty) } else { self.emit(Kind::Splat, &[v], ty) }
    }

    /// An elementwise operation of the table.
    pub(super) fn op(&mut self, op: Op, ty: Ty, from: Ty, args: &[Value]) -> Value {
        let consts: Option<Vec<u64>> = args.iter().map(|&a| self.known(a)).collect();
        let elem = op.info().sig.dst.map_or(ty, |slot| slot.ty.resolve(ty, from));
        if let Some(c) = consts
            && !args.is_empty()
        {
            let word = |i: usize| c.get(i).copied().unwrap_or(0);
            if let Some(bits) = sem::eval(op, ty, from, [word(0), word(1), word(2)]) {
                return self.constant(elem, bits);
            }
        }
        let varying = args.iter().any(|&a| self.ty(a).is_varying());
        let result = if varying { Type::varying(elem) } else { Type::uniform(elem) };
        self.emit(Kind::Op { op, ty, from }, args, result)
    }

    /// An operation on one type.
    pub(super) fn plain(&mut self, op: Op, ty: Ty, args: &[Value]) -> Value {
        self.op(op, ty, ty, args)
    }

    /// A conversion.
    pub(super) fn convert(&mut self, v: Value, to: Ty) -> Value {
        let from = self.ty(v).ty;
        if from == to { v } else { self.op(Op::Convert, to, from, &[v]) }
    }

    /// The value of a mask.
    pub(super) fn mask_value(&mut self, mask: Mask) -> Value {
        let bit = match mask {
            Mask::Some(v) | Mask::Any(v) | Mask::One(v) => return v,
            Mask::First(n) => return self.lanes_below(n),
            Mask::Full => 1,
            Mask::Empty => 0,
        };
        let bit = self.constant(Ty::Bool, bit);
        self.shared(Kind::Splat, &[bit], Type::MASK)
    }

    /// The lanes for which a condition (uniform or not) holds, as a mask.
    pub(super) fn mask_of(&mut self, condition: Value) -> Mask {
        match self.known(condition) {
            Some(0) => Mask::Empty,
            Some(_) => Mask::Full,
            None => {
                let condition = self.varying_value(condition);
                self.lanes_of(condition)
            }
        }
    }

    pub(super) fn and(&mut self, a: Mask, b: Mask) -> Mask {
        match (a, b) {
            (Mask::Empty, _) | (_, Mask::Empty) => Mask::Empty,
            (Mask::Full, m) | (m, Mask::Full) => m,
            (Mask::One(_), Mask::One(_)) => a,
            (Mask::First(m), Mask::First(n)) => Mask::First(m.min(n)),
            _ if a.value() == b.value() => a,
            _ => {
                let (x, y) = (self.mask_value(a), self.mask_value(b));
                Mask::Any(self.emit(bool_op(Op::And), &[x, y], Type::MASK))
            }
        }
    }

    pub(super) fn or(&mut self, a: Mask, b: Mask) -> Mask {
        match (a, b) {
            (Mask::Full, _) | (_, Mask::Full) => Mask::Full,
            (Mask::Empty, m) | (m, Mask::Empty) => m,
            (Mask::One(_), Mask::One(_)) => a,
            (Mask::First(m), Mask::First(n)) => Mask::First(m.max(n)),
            _ if a.value() == b.value() => a,
            _ => {
                let (x, y) = (self.mask_value(a), self.mask_value(b));
                let v = self.emit(bool_op(Op::Or), &[x, y], Type::MASK);
                if matches!((a, b), (Mask::Any(_), Mask::Any(_))) { Mask::Any(v) } else { Mask::Some(v) }
            }
        }
    }

    pub(super) fn not(&mut self, a: Mask) -> Mask {
        match a {
            Mask::Full => Mask::Empty,
            Mask::Empty => Mask::Full,
            Mask::First(n) => {
                let below = self.lanes_below(n);
                Mask::Some(self.emit(bool_op(Op::Not), &[below], Type::MASK))
            }
            Mask::Some(v) | Mask::Any(v) | Mask::One(v) => Mask::Any(self.emit(bool_op(Op::Not), &[v], Type::MASK)),
        }
    }

    pub(super) fn and_not(&mut self, a: Mask, b: Mask) -> Mask {
        match (a, b) {
            (_, Mask::Full) | (Mask::Empty, _) | (Mask::One(_), Mask::One(_)) => Mask::Empty,
            (_, Mask::Empty) => a,
            (Mask::First(m), Mask::First(n)) if m <= n => Mask::Empty,
            _ => {
                let b = self.not(b);
                self.and(a, b)
            }
        }
    }

    /// Whether some lane is active. `None`: to be found out by testing the value.
    pub(super) fn has_lanes(mask: Mask) -> Option<bool> {
        match mask {
            Mask::Full | Mask::First(_) | Mask::Some(_) | Mask::One(_) => Some(true),
            Mask::Empty => Some(false),
            Mask::Any(_) => None,
        }
    }

    /// Is some lane active, as a uniform bool.
    pub(super) fn any(&mut self, mask: Mask) -> Value {
        match Self::has_lanes(mask) {
            Some(known) => self.constant(Ty::Bool, known as u64),
            None => {
                let v = self.mask_value(mask);
                self.emit(Kind::AnyLane, &[v], Type::BOOL)
            }
        }
    }

    /// Is no lane active, as a uniform bool.
    pub(super) fn none(&mut self, mask: Mask) -> Value {
        let some = self.any(mask);
        self.plain(Op::Not, Ty::Bool, &[some])
    }

    /// A mask as the bits of a word.
    pub(super) fn bits(&mut self, mask: Mask) -> Value {
        let mask = self.mask_value(mask);
        self.emit(Kind::MaskBits, &[mask], Type::uniform(Ty::U64))
    }

    /// The number of the lowest lane among the bits of a mask.
    pub(super) fn lowest_lane(&mut self, bits: Value) -> Value {
        let lane = self.plain(Op::Ctz, Ty::U64, &[bits]);
        self.convert(lane, Ty::I32)
    }

    /// What a value is in a lane.
    pub(super) fn element(&mut self, v: Value, lane: Value) -> Value {
        let of = self.ty(v);
        if !of.is_varying() {
            return v;
        }
        let extract = Kind::Op { op: Op::Extract, ty: of.ty, from: of.ty };
        self.emit(extract, &[v, lane], Type::uniform(of.ty))
    }

    /// The lanes' numbers.
    pub(super) fn lane_numbers(&mut self) -> Value {
        let iota = Kind::Op { op: Op::Iota, ty: Ty::I32, from: Ty::I32 };
        self.shared(iota, &[], Type::varying(Ty::I32))
    }

    /// `a` in the lanes of the mask, else `b`.
    pub(super) fn select(&mut self, mask: Mask, a: Value, b: Value) -> Value {
        match mask {
            Mask::Full => a,
            Mask::Empty => b,
            _ if a == b => a,
            mask => {
                let m = self.mask_value(mask);
                let elem = self.ty(a).ty;
                self.emit(Kind::Op { op: Op::Select, ty: elem, from: elem }, &[m, a, b], Type::varying(elem))
            }
        }
    }
}

fn bool_op(op: Op) -> Kind {
    Kind::Op { op, ty: Ty::Bool, from: Ty::Bool }
}
