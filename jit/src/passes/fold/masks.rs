//! Rules for masks and for `select`.

use super::ints::{exchanged, opposite};
use super::{Def, Folder, Rewrite, plain};
use crate::ir::{Kind, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// How deep implications are searched for.
const DEPTH: usize = 3;

/// The outcomes of comparing two numbers for which a comparison holds: less, equal, greater, and unordered where one is NaN.
fn outcomes(op: Op) -> Option<u8> {
    const LESS: u8 = 1;
    const EQUAL: u8 = 2;
    const GREATER: u8 = 4;
    const UNORDERED: u8 = 8;
    Some(match op {
        Op::Lt => LESS,
        Op::Le => LESS | EQUAL,
        Op::Gt => GREATER,
        Op::Ge => GREATER | EQUAL,
        Op::Eq => EQUAL,
        Op::Ne => LESS | GREATER | UNORDERED,
        _ => return None,
    })
}

/// The operation of a comparison with its operands in this order, if they are these.
fn in_order(comparison: Def, [a, b]: [Value; 2]) -> Option<Op> {
    match [comparison.arg(0), comparison.arg(1)] {
        operands if operands == [a, b] => comparison.op(),
        operands if operands == [b, a] => exchanged(comparison.op()?),
        _ => None,
    }
}

impl Folder<'_> {
    /// Returns whether one condition holds in every lane in which the other does; `false` if that is not found.
    fn implies(&self, m: Value, c: Value, depth: usize) -> bool {
        if m == c || self.known(c) == Some(1) || self.known(m) == Some(0) {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let inner = |d: super::Def| [d.arg(0), d.arg(1)];
        if let Some(and) = self.op(m, Op::And)
            && inner(and).into_iter().any(|part| self.implies(part, c, depth - 1))
        {
            return true;
        }
        if let Some(or) = self.op(c, Op::Or)
            && inner(or).into_iter().any(|part| self.implies(m, part, depth - 1))
        {
            return true;
        }
        if let Some((of_m, of_c)) = self.outcomes(m, c)
            && of_m & !of_c == 0
        {
            return true;
        }
        self.op(c, Op::Not).is_some_and(|not| self.excludes(m, not.arg(0), depth - 1))
    }

    /// The outcomes for which two comparisons of the same operands hold, if that is what two conditions are.
    fn outcomes(&self, m: Value, c: Value) -> Option<(u8, u8)> {
        let (m, c) = (self.defs.get(m)?, self.defs.get(c)?);
        let (Kind::Op { op, ty, .. }, Kind::Op { ty: other, .. }) = (m.kind, c.kind) else { return None };
        let of_c = outcomes(in_order(c, [m.arg(0), m.arg(1)])?)?;
        (ty == other).then_some((outcomes(op)?, of_c))
    }

    /// Returns whether there is no lane in which both conditions hold.
    fn excludes(&self, m: Value, c: Value, depth: usize) -> bool {
        if self.outcomes(m, c).is_some_and(|(of_m, of_c)| of_m & of_c == 0) {
            return true;
        }
        let denied = |m, c| self.op(m, Op::Not).is_some_and(|not| self.implies(c, not.arg(0), depth));
        if denied(m, c) || denied(c, m) {
            return true;
        }
        let part_excludes = |m, c| {
            self.op(m, Op::And).is_some_and(|and| depth > 0 && (0..2).any(|i| self.excludes(and.arg(i), c, depth - 1)))
        };
        part_excludes(m, c) || part_excludes(c, m)
    }

    /// An operation on bools, in one lane or in all.
    pub(super) fn mask(&mut self, op: Op, args: &[Value]) -> Option<Rewrite> {
        let a = args[0];
        let Some(&b) = args.get(1) else { return self.not(op, a) };
        match op {
            Op::And => self.and(a, b).or_else(|| self.and(b, a)),
            Op::Or => self.or(a, b).or_else(|| self.or(b, a)),
            Op::Xor | Op::Ne => match self.known(b) {
                _ if a == b => Some(Rewrite::Const(0)),
                Some(0) => Some(Rewrite::Value(a)),
                Some(_) => Some(plain(Op::Not, Ty::Bool, &[a])),
                None => None,
            },
            Op::Eq => match self.known(b) {
                _ if a == b => Some(Rewrite::Const(1)),
                Some(0) => Some(plain(Op::Not, Ty::Bool, &[a])),
                Some(_) => Some(Rewrite::Value(a)),
                None => None,
            },
            _ => None,
        }
    }

    fn not(&self, op: Op, a: Value) -> Option<Rewrite> {
        let inner = self.defs.get(a).filter(|_| op == Op::Not)?;
        let Kind::Op { op: before, ty, .. } = inner.kind else { return None };
        match before {
            Op::Not => Some(Rewrite::Value(inner.arg(0))),
            // Of vectors the other comparison is often dearer than to negate this one.
            _ if !self.ty(a).is_varying() && ty.is_int() => {
                opposite(before).map(|op| plain(op, ty, &[inner.arg(0), inner.arg(1)]))
            }
            _ => None,
        }
    }

    fn and(&self, a: Value, b: Value) -> Option<Rewrite> {
        if self.implies(a, b, DEPTH) {
            return Some(Rewrite::Value(a));
        }
        self.excludes(a, b, DEPTH).then_some(Rewrite::Const(0))
    }

    fn or(&self, a: Value, b: Value) -> Option<Rewrite> {
        if self.implies(a, b, DEPTH) {
            return Some(Rewrite::Value(b));
        }
        if self.op(a, Op::Not).is_some_and(|not| self.implies(not.arg(0), b, DEPTH)) {
            return Some(Rewrite::Const(1));
        }
        // (x ∧ y) ∨ (x ∧ ¬y) = x
        let (p, q) = (self.op(a, Op::And)?, self.op(b, Op::And)?);
        let opposed =
            |y, z| [(y, z), (z, y)].into_iter().any(|(y, z)| self.op(z, Op::Not).is_some_and(|n| n.arg(0) == y));
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let common = pairs.into_iter().find(|&(i, j)| p.arg(i) == q.arg(j) && opposed(p.arg(1 - i), q.arg(1 - j)));
        common.map(|(i, _)| Rewrite::Value(p.arg(i)))
    }

    pub(super) fn select(&mut self, ty: Ty, args: &[Value]) -> Option<Rewrite> {
        let [c, a, b] = [args[0], args[1], args[2]];
        match self.known(c) {
            Some(0) => return Some(Rewrite::Value(b)),
            Some(_) => return Some(Rewrite::Value(a)),
            None if a == b || self.same_constant(a, b) => return Some(Rewrite::Value(a)),
            None => {}
        }
        if let Some(not) = self.op(c, Op::Not) {
            return Some(plain(Op::Select, ty, &[not.arg(0), b, a]));
        }
        if let Some(x) = self.chosen(c, a) {
            return Some(plain(Op::Select, ty, &[c, x, b]));
        }
        if let Some(inner) = self.op(b, Op::Select)
            && self.implies(inner.arg(0), c, DEPTH)
        {
            return Some(plain(Op::Select, ty, &[c, a, inner.arg(2)]));
        }
        if let Some(op) = self.extreme(ty, c, a, b) {
            return Some(plain(op, ty, &[a, b]));
        }
        self.zero_already(c, a, b).or_else(|| if ty == Ty::Bool { self.bool_select(c, a, b) } else { None })
    }

    /// `min` or `max` if that is what a choice between two values gives: `min(a, b)` is `a < b ? a : b` by its definition, and
    /// `b > a` is the same question. For floats `<=` is another one: of two zeros it takes the first, not the second.
    fn extreme(&self, ty: Ty, c: Value, a: Value, b: Value) -> Option<Op> {
        let test = self.defs.get(c)?;
        let Kind::Op { ty: compared, .. } = test.kind else { return None };
        if compared != ty || ty == Ty::Bool {
            return None;
        }
        match in_order(test, [a, b])? {
            Op::Lt => Some(Op::Min),
            Op::Gt => Some(Op::Max),
            Op::Le if ty.is_int() => Some(Op::Min),
            Op::Ge if ty.is_int() => Some(Op::Max),
            _ => None,
        }
    }

    fn same_constant(&self, a: Value, b: Value) -> bool {
        self.known(a).is_some_and(|bits| self.known(b) == Some(bits))
    }

    /// What a `select` gives where a condition holds, if that decides it.
    fn chosen(&self, c: Value, v: Value) -> Option<Value> {
        let inner = self.op(v, Op::Select)?;
        if self.implies(c, inner.arg(0), DEPTH) {
            return Some(inner.arg(1));
        }
        self.excludes(c, inner.arg(0), DEPTH).then_some(inner.arg(2))
    }

    /// Inactive lanes of a load are 0 already.
    fn zero_already(&self, c: Value, a: Value, b: Value) -> Option<Rewrite> {
        let load = self.defs.get(a)?;
        let same = match load.kind {
            Kind::Gather { .. } => load.arg(2) == c,
            Kind::LoadPacked { .. } => load.arg(1) == c,
            _ => false,
        };
        (same && self.known(b) == Some(0)).then_some(Rewrite::Value(a))
    }

    fn bool_select(&self, c: Value, a: Value, b: Value) -> Option<Rewrite> {
        Some(match (self.known(a), self.known(b)) {
            (Some(1), Some(0)) => Rewrite::Value(c),
            (Some(0), Some(1)) => plain(Op::Not, Ty::Bool, &[c]),
            (_, Some(0)) => plain(Op::And, Ty::Bool, &[c, a]),
            (Some(1), _) => plain(Op::Or, Ty::Bool, &[c, b]),
            _ if a == c => plain(Op::Or, Ty::Bool, &[c, b]),
            _ if b == c => plain(Op::And, Ty::Bool, &[c, a]),
            _ => return None,
        })
    }

    /// Votes, and masks as bits.
    pub(super) fn vote(&self, kind: Kind, a: Value) -> Option<Rewrite> {
        let lanes = self.region.width.full_mask();
        match (kind, self.known(a)) {
            (Kind::AnyLane, Some(bit)) => Some(Rewrite::Const(bit)),
            (Kind::MaskBits, Some(bit)) => Some(Rewrite::Const(if bit != 0 { lanes } else { 0 })),
            (Kind::MaskFromBits, Some(bits)) if bits & lanes == lanes => Some(Rewrite::Const(1)),
            (Kind::MaskFromBits, Some(bits)) if bits & lanes == 0 => Some(Rewrite::Const(0)),
            (Kind::MaskFromBits, None) => {
                let inner = self.defs.get(a)?;
                matches!(inner.kind, Kind::MaskBits).then(|| Rewrite::Value(inner.arg(0)))
            }
            (Kind::AnyLane, None) => self.same_in_all_lanes(a),
            _ => None,
        }
    }
}
