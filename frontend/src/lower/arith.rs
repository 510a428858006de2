//! Elementwise operations: folding of constants, simple identities, and lane-linear values.
//!
//! A *lane-linear* value is a uniform one plus the lane's index. Sums of it and uniform values are linear again; the uniform
//! part is computed beside the varying value (and removed if nobody asks for it), so that memory accesses with such an
//! index become contiguous ones. An index that overflows 32 bits within one gang does not wrap then.

use super::FpMode;
use super::function::{FunctionLowerer, Linear};
use crate::hir::Expr;
use crate::source::Span;
use spmdvm_vm::program::Reg;
use spmdvm_vm::{Op, Shape, Ty, sem};

impl<'m> FunctionLowerer<'_, 'm> {
    /// An elementwise operation with two operands of type `ty`.
    pub fn binary(&mut self, op: Op, ty: Ty, a: Reg, b: Reg) -> Reg {
        if let Some(folded) = self.fold(op, ty, ty, &[a, b]) {
            return folded;
        }
        if let Some(same) = self.identity(op, ty, a, b) {
            return same;
        }
        if let Some(product) = self.by_reciprocal(op, ty, a, b) {
            return product;
        }
        let base = self.linear_base(op, ty, a, b);
        let result = self.b.binary(op, ty, a, b);
        if let Some(base) = base {
            self.linear.insert(result, Linear { base });
        }
        result
    }

    /// An elementwise operation with one operand.
    pub fn unary(&mut self, op: Op, ty: Ty, a: Reg) -> Reg {
        match self.fold(op, ty, ty, &[a]) {
            Some(folded) => folded,
            None => self.b.unary(op, ty, a),
        }
    }

    /// A conversion as a cast does it.
    pub fn convert(&mut self, ty: Ty, from: Ty, a: Reg) -> Reg {
        if ty == from {
            return a;
        }
        if let Some(folded) = self.fold(Op::Convert, ty, from, &[a]) {
            return folded;
        }
        let wide = |ty: Ty| matches!(ty, Ty::I32 | Ty::I64 | Ty::U32 | Ty::U64);
        let base = match self.linear.get(&a).copied() {
            Some(linear) if wide(ty) && wide(from) && ty.size() >= from.size() => {
                Some(self.convert(ty, from, linear.base))
            }
            _ => None,
        };
        let result = self.b.elementwise(Op::Convert, ty, from, &[a]);
        if let Some(base) = base {
            self.linear.insert(result, Linear { base });
        }
        result
    }

    /// `c ? a : b`, lane by lane.
    pub fn select(&mut self, ty: Ty, c: Reg, a: Reg, b: Reg) -> Reg {
        match self.constant_bits(c) {
            Some(0) => b,
            Some(_) => a,
            None if a == b => a,
            None => self.b.elementwise(Op::Select, ty, ty, &[c, a, b]),
        }
    }

    /// `a * b + c` with one rounding.
    pub fn fma(&mut self, ty: Ty, a: Reg, b: Reg, c: Reg) -> Reg {
        match self.fold(Op::Fma, ty, ty, &[a, b, c]) {
            Some(folded) => folded,
            None => self.b.elementwise(Op::Fma, ty, ty, &[a, b, c]),
        }
    }

    /// The constant that an operation on constants gives; a division by zero is left to trap.
    fn fold(&mut self, op: Op, ty: Ty, from: Ty, operands: &[Reg]) -> Option<Reg> {
        let mut bits = [0; 3];
        for (slot, &r) in bits.iter_mut().zip(operands) {
            *slot = self.constant_bits(r)?;
        }
        if matches!(op, Op::IDiv | Op::IRem) && bits[1] == 0 {
            return None;
        }
        let result = sem::eval(op, ty, from, bits)?;
        Some(self.constant(op.info().result_ty(ty)?, result))
    }

    /// The operand that an operation with a neutral constant gives unchanged.
    fn identity(&self, op: Op, ty: Ty, a: Reg, b: Reg) -> Option<Reg> {
        if !ty.is_int() {
            return None;
        }
        let is = |r: Reg, bits: u64| self.constant_bits(r) == Some(bits);
        match op {
            Op::Add | Op::Or | Op::Xor if is(a, 0) => Some(b),
            Op::Add | Op::Sub | Op::Or | Op::Xor | Op::Shl | Op::Shr if is(b, 0) => Some(a),
            Op::Mul if is(a, 1) => Some(b),
            Op::Mul if is(b, 1) => Some(a),
            _ => None,
        }
    }

    /// In the mode `fast` the quotient of a varying value and a uniform one is the product with its reciprocal, which loops
    /// compute once.
    fn by_reciprocal(&mut self, op: Op, ty: Ty, a: Reg, b: Reg) -> Option<Reg> {
        let is_fast = self.body.fp == FpMode::Fast && op == Op::FDiv;
        if !is_fast || !self.is_varying(a) || self.is_varying(b) {
            return None;
        }
        let one = self.constant(Ty::F64, 1f64.to_bits());
        let one = self.convert(ty, Ty::F64, one);
        let reciprocal = self.binary(Op::FDiv, ty, one, b);
        Some(self.binary(Op::Mul, ty, a, reciprocal))
    }

    /// Lane 0's value of a sum or difference that is lane-linear.
    fn linear_base(&mut self, op: Op, ty: Ty, a: Reg, b: Reg) -> Option<Reg> {
        if !matches!(ty, Ty::I32 | Ty::I64 | Ty::U32 | Ty::U64) {
            return None;
        }
        let base = match (op, self.linear.get(&a).copied(), self.linear.get(&b).copied()) {
            (Op::Add | Op::Sub, Some(linear), None) if !self.is_varying(b) => self.binary(op, ty, linear.base, b),
            (Op::Add, None, Some(linear)) if !self.is_varying(a) => self.binary(op, ty, a, linear.base),
            _ => return None,
        };
        Some(self.stable(base))
    }

    /// The value in a register that nothing else writes.
    pub fn stable(&mut self, r: Reg) -> Reg {
        if !self.variables.contains(&r) {
            return r;
        }
        let (shape, ty) = (self.b.shape(r), self.b.ty(r));
        let copy = self.b.reg(shape, ty);
        self.b.mov(copy, r);
        copy
    }

    /// Lane 0's value of a lane-linear register.
    pub fn lane_base(&self, r: Reg) -> Option<Reg> {
        (self.b.shape(r) == Shape::Varying).then(|| self.linear.get(&r).map(|linear| linear.base))?
    }

    /// A varying value of a uniform one for each lane. Lane 0's stands in for all until theirs are inserted.
    pub fn lane_values(&mut self, parts: &'m [Expr], span: Span) -> Reg {
        let values: Vec<Reg> = self.values(parts).into_iter().flatten().collect();
        self.at(span);
        let mut all = self.in_lanes(values[0]);
        for (lane, &value) in values.iter().enumerate().filter(|&(_, value)| *value != values[0]) {
            let (ty, index) = (self.b.ty(value), self.constant(Ty::I32, lane as u64));
            let dst = self.b.reg(Shape::Varying, ty);
            self.push(Op::Insert, ty, ty, dst, &[all, index, value]);
            all = dst;
        }
        all
    }
}
