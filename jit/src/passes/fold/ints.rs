//! Rules for integers.

use super::{Folder, Rewrite, plain};
use crate::ir::{Kind, Value};
use crate::passes::is_comparison;
use crate::passes::ranges::{all, most, most_of_type};
use spmdvm_vm::isa::Op;
use spmdvm_vm::sem::{self, OFFSET_BITS};
use spmdvm_vm::types::Ty;

/// How many instructions the ranges of values are looked for through.
const RANGE_DEPTH: usize = 6;

/// The comparison with its operands exchanged.
pub(crate) fn exchanged(op: Op) -> Option<Op> {
    Some(match op {
        Op::Eq | Op::Ne => op,
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        _ => return None,
    })
}

/// The comparison that holds where this one does not.
pub(crate) fn opposite(op: Op) -> Option<Op> {
    Some(match op {
        Op::Eq => Op::Ne,
        Op::Ne => Op::Eq,
        Op::Lt => Op::Ge,
        Op::Le => Op::Gt,
        Op::Gt => Op::Le,
        Op::Ge => Op::Lt,
        _ => return None,
    })
}

impl Folder<'_> {
    pub(super) fn int(&mut self, op: Op, ty: Ty, args: &[Value]) -> Option<Rewrite> {
        let a = args[0];
        let Some(&b) = args.get(1) else { return self.unary(op, a) };
        if self.known(a).is_some() && self.known(b).is_none() {
            let swapped = if op.info().commutative { Some(op) } else { exchanged(op) };
            if let Some(op) = swapped {
                return Some(plain(op, ty, &[b, a]));
            }
        }
        if a == b {
            return self.with_itself(op, a);
        }
        match self.known(b) {
            Some(c) => self.with_constant(op, ty, a, b, c),
            None => self.int_binary(op, a, b),
        }
    }

    /// One sign after another, of floats too: these operations change no other bit of them.
    pub(super) fn unary(&self, op: Op, a: Value) -> Option<Rewrite> {
        let inner = self.defs.get(a)?;
        match (op, inner.op()?) {
            (Op::Neg, Op::Neg) | (Op::Not, Op::Not) => Some(Rewrite::Value(inner.arg(0))),
            (Op::Abs, Op::Abs) => Some(Rewrite::Value(a)),
            // That of an unsigned integer is not its magnitude.
            (Op::Abs, Op::Neg) if self.ty(a).ty.is_signed() => Some(plain(op, self.ty(a).ty, &[inner.arg(0)])),
            _ => None,
        }
    }

    fn with_itself(&self, op: Op, a: Value) -> Option<Rewrite> {
        Some(match op {
            Op::Sub | Op::Xor | Op::Ne | Op::Lt | Op::Gt => Rewrite::Const(0),
            Op::Eq | Op::Le | Op::Ge => Rewrite::Const(1),
            Op::And | Op::Or | Op::Min | Op::Max => Rewrite::Value(a),
            _ => return None,
        })
    }

    /// Sums and differences that cancel.
    fn int_binary(&self, op: Op, a: Value, b: Value) -> Option<Rewrite> {
        let cancels = match op {
            // (x + b) - b, (b + x) - b
            Op::Sub => {
                let sum = self.op(a, Op::Add)?;
                [(sum.arg(1), sum.arg(0)), (sum.arg(0), sum.arg(1))].into_iter().find(|&(y, _)| y == b)
            }
            // (x - b) + b, b + (x - b)
            Op::Add => [(a, b), (b, a)].into_iter().find_map(|(x, y)| {
                let difference = self.op(x, Op::Sub)?;
                (difference.arg(1) == y).then_some((y, difference.arg(0)))
            }),
            _ => None,
        };
        cancels.map(|(_, x)| Rewrite::Value(x))
    }

    fn with_constant(&mut self, op: Op, ty: Ty, a: Value, b: Value, c: u64) -> Option<Rewrite> {
        let bits = 8 * ty.size() as u64;
        if is_comparison(op)
            && let Some(holds) = self.compared(op, ty, a, c)
        {
            return Some(Rewrite::Const(holds as u64));
        }
        match (op, c) {
            (Op::Add | Op::Sub | Op::Or | Op::Xor, 0) | (Op::Mul | Op::IDiv, 1) => Some(Rewrite::Value(a)),
            (Op::Mul | Op::And, 0) | (Op::IRem, 1) => Some(Rewrite::Const(0)),
            (Op::And, c) if c == all(ty.size()) => Some(Rewrite::Value(a)),
            (Op::Or, c) if c == all(ty.size()) => Some(Rewrite::Const(c)),
            (Op::Xor, c) if c == all(ty.size()) => Some(plain(Op::Not, ty, &[a])),
            (Op::Shl | Op::Shr, c) if c % bits == 0 => Some(Rewrite::Value(a)),
            (Op::Sub, c) => {
                let minus = self.constant(ty, sem::eval(Op::Neg, ty, ty, [c, 0, 0])?);
                Some(plain(Op::Add, ty, &[a, minus]))
            }
            // There is no shift of bytes in vectors.
            (Op::Mul, c) if c.is_power_of_two() && ty.size() > 1 => {
                let count = self.constant(ty, c.trailing_zeros() as u64);
                Some(plain(Op::Shl, ty, &[a, count]))
            }
            (Op::Shr, c) if ty == Ty::U64 && (OFFSET_BITS.into()..bits).contains(&c) => {
                let pointer = self.summed_to(a);
                pointer.map(|p| plain(op, ty, &[p, b])).or_else(|| self.joined(op, ty, a, b))
            }
            _ => self.moved_host(op, a, c).or_else(|| self.joined(op, ty, a, b)),
        }
    }

    /// How a comparison with a constant ends, if the range of what is compared decides that: as for indices of tables that are cut to their
    /// size before.
    fn compared(&self, op: Op, ty: Ty, a: Value, c: u64) -> Option<bool> {
        let most = self.most(a, RANGE_DEPTH)?;
        // Below all that there can be, and above.
        let below = ty.is_signed() && c >> (8 * ty.size() - 1) & 1 != 0;
        let above = !below && c > most;
        match op {
            Op::Lt | Op::Ge if above || below || c == 0 => Some(above == (op == Op::Lt)),
            Op::Le | Op::Gt if above || below || c == most => Some(below == (op == Op::Gt)),
            Op::Eq | Op::Ne if above || below => Some(op == Op::Ne),
            _ => None,
        }
    }

    /// The most that a value can be, if it is known that it is not negative.
    fn most(&self, v: Value, depth: usize) -> Option<u64> {
        let ty = self.ty(v).ty;
        match self.defs.get(v).filter(|_| depth != 0) {
            Some(def) => most(def.kind, ty, |i| self.most(def.arg(i), depth - 1), |i| self.known(def.arg(i))),
            None => most_of_type(ty),
        }
    }

    /// The pointer from which another is a sum, or a lane's pointer if all lanes' are sums from one: they lead to the same region.
    fn summed_to(&self, v: Value) -> Option<Value> {
        let of_lane = self.op(v, Op::Extract);
        let first = of_lane.map_or(v, |extract| extract.arg(0));
        let mut pointer = first;
        while let Some(sum) = self.op(pointer, Op::PAdd) {
            pointer = sum.arg(0);
        }
        let is_known = of_lane.is_none() || !self.ty(pointer).is_varying();
        (pointer != first && is_known).then_some(pointer)
    }

    /// An address in an array of a frame, plus a constant, that is another in the array.
    fn moved_host(&self, op: Op, a: Value, c: u64) -> Option<Rewrite> {
        let Kind::FrameHost { function, at, within: Some((from, to)) } = self.defs.get(a)?.kind else { return None };
        let at = at.wrapping_add(c);
        let host = Kind::FrameHost { function, at, within: Some((from, to)) };
        (op == Op::Add && (from..to).contains(&at)).then(|| Rewrite::Inst(host, Vec::new()))
    }

    /// Two operations with constants, one after the other, that one can do.
    fn joined(&mut self, op: Op, ty: Ty, a: Value, b: Value) -> Option<Rewrite> {
        let inner = self.defs.get(a)?;
        let Kind::Op { op: before, ty: inner_ty, .. } = inner.kind else { return None };
        if inner_ty != ty {
            return None;
        }
        let (first, second) = (self.known(inner.arg(1))?, self.known(b)?);
        let (into, with) = match (before, op) {
            // An addition says on its own whether it gave 0.
            (Op::Add, Op::Eq | Op::Ne) if second != 0 => (op, Op::Sub),
            (Op::Add | Op::Mul | Op::And | Op::Or | Op::Xor, _) if before == op => (op, op),
            (Op::Shl | Op::Shr, _) if before == op => return self.shifted_twice(op, ty, inner.arg(0), first, second),
            _ => return None,
        };
        let joint = match with {
            Op::Sub => sem::eval(Op::Sub, ty, ty, [second, first, 0])?,
            _ => sem::eval(with, ty, ty, [first, second, 0])?,
        };
        let joint = self.constant(ty, joint);
        Some(plain(into, ty, &[inner.arg(0), joint]))
    }

    /// Counts are taken modulo the width, their sum is not.
    fn shifted_twice(&mut self, op: Op, ty: Ty, x: Value, first: u64, second: u64) -> Option<Rewrite> {
        let bits = 8 * ty.size() as u64;
        let count = first % bits + second % bits;
        if count < bits {
            let count = self.constant(ty, count);
            return Some(plain(op, ty, &[x, count]));
        }
        if op == Op::Shr && ty.is_signed() {
            let count = self.constant(ty, bits - 1);
            return Some(plain(op, ty, &[x, count]));
        }
        Some(Rewrite::Const(0))
    }
}
