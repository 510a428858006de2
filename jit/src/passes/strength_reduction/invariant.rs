//! Divisors that a loop does not change: their factors are computed before it.

use crate::ir::{BlockId, Inst, Region, Value};
use crate::passes::licm::Loops;
use crate::passes::make::Maker;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Values by which to divide by an unknown divisor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Factors {
    factor: Value,
    /// Unsigned: 0 for the divisor 1, else 1.
    first: Value,
    after: Value,
    /// Signed: 0, or −1 for a negative divisor.
    sign: Value,
}

/// The factors of all divisors that have been asked for.
pub(super) struct Invariants {
    loops: Loops,
    home: Vec<BlockId>,
    made: Vec<(Value, Factors)>,
    /// For blocks, the instructions that go to their end.
    before: Vec<(BlockId, Vec<Inst>)>,
}

impl Invariants {
    pub fn new(loops: Loops, home: Vec<BlockId>) -> Invariants {
        Invariants { loops, home, made: Vec::new(), before: Vec::new() }
    }

    /// The factors of a divisor for a division in a block, if that is in a loop and the divisor is not.
    pub fn factors(&mut self, region: &mut Region, b: BlockId, d: Value) -> Option<Factors> {
        let ty = region.ty(d);
        let home = *self.home.get(d.index())?;
        let inner = self.loops.of(b)?;
        if ty.is_varying() || ty.ty.size() != 4 || self.loops.contains(inner, home) || region.block(b).cold {
            return None;
        }
        if let Some(&(_, factors)) = self.made.iter().find(|(v, _)| *v == d) {
            return Some(factors);
        }
        let mut insts = Vec::new();
        let mut m = Maker { region, to: &mut insts };
        let factors = Factors::make(&mut m, ty.ty, d);
        self.made.push((d, factors));
        self.before.push((home, insts));
        Some(factors)
    }

    /// Puts the instructions at the end of the blocks that define the divisors.
    pub fn place(self, region: &mut Region) {
        for (b, insts) in self.before {
            region.blocks[b.index()].insts.extend(insts);
        }
    }
}

/// For divisors from 1: with `l` the logarithm of the divisor, rounded up, the factor is `2³² (2ˡ - d) / d + 1`.
fn unsigned(m: &mut Maker<'_>, d: Value) -> Factors {
    let (zero, one) = (m.constant(Ty::U32, 0), m.constant(Ty::U32, 1));
    let d = m.op(Op::Max, Ty::U32, &[d, one]);
    let before = m.op(Op::Sub, Ty::U32, &[d, one]);
    let zeros = m.op(Op::Clz, Ty::U32, &[before]);
    let all = m.constant(Ty::U32, 32);
    let l = m.op(Op::Sub, Ty::U32, &[all, zeros]);
    let (wide, l64) = (m.cast(Op::Convert, d, Ty::U64), m.cast(Op::Convert, l, Ty::U64));
    let one64 = m.constant(Ty::U64, 1);
    let power = m.op(Op::Shl, Ty::U64, &[one64, l64]);
    let excess = m.op(Op::Sub, Ty::U64, &[power, wide]);
    let excess = m.with(Op::Shl, Ty::U64, excess, 32);
    let quotient = m.op(Op::IDiv, Ty::U64, &[excess, wide]);
    let factor = m.op(Op::Add, Ty::U64, &[quotient, one64]);
    let factor = m.cast(Op::Convert, factor, Ty::U32);
    let first = m.op(Op::Min, Ty::U32, &[l, one]);
    let after = m.op(Op::Max, Ty::U32, &[l, one]);
    let after = m.op(Op::Sub, Ty::U32, &[after, one]);
    Factors { factor, first, after, sign: zero }
}

/// For divisors but 0: with `l` the logarithm of the absolute divisor, rounded up, at least 1, the factor is
/// `2³²⁺ˡ⁻¹ / |d| + 1 - 2³²`.
fn signed(m: &mut Maker<'_>, d: Value) -> Factors {
    let sign = m.with(Op::Shr, Ty::I32, d, 31);
    let size = m.op(Op::Abs, Ty::I32, &[d]);
    let size = m.cast(Op::Bitcast, size, Ty::U32);
    let one = m.constant(Ty::U32, 1);
    let size = m.op(Op::Max, Ty::U32, &[size, one]);
    let before = m.op(Op::Sub, Ty::U32, &[size, one]);
    let zeros = m.op(Op::Clz, Ty::U32, &[before]);
    let all = m.constant(Ty::U32, 32);
    let l = m.op(Op::Sub, Ty::U32, &[all, zeros]);
    let l = m.op(Op::Max, Ty::U32, &[l, one]);
    let after = m.op(Op::Sub, Ty::U32, &[l, one]);
    let (wide, shift) = (m.cast(Op::Convert, size, Ty::U64), m.cast(Op::Convert, after, Ty::U64));
    let power = m.constant(Ty::U64, 1 << 32);
    let power = m.op(Op::Shl, Ty::U64, &[power, shift]);
    let quotient = m.op(Op::IDiv, Ty::U64, &[power, wide]);
    let factor = m.with(Op::Add, Ty::U64, quotient, 1);
    let factor = m.cast(Op::Convert, factor, Ty::I32);
    let after = m.cast(Op::Bitcast, after, Ty::I32);
    Factors { factor, first: after, after, sign }
}

impl Factors {
    /// Makes the factors of a divisor.
    pub fn make(m: &mut Maker<'_>, ty: Ty, d: Value) -> Factors {
        if ty.is_signed() { signed(m, d) } else { unsigned(m, d) }
    }

    /// The quotient.
    pub fn quotient(self, m: &mut Maker<'_>, ty: Ty, x: Value) -> Value {
        let t = m.op(Op::MulHi, ty, &[x, self.factor]);
        if ty.is_signed() {
            let sum = m.op(Op::Add, ty, &[x, t]);
            let quotient = m.op(Op::Shr, ty, &[sum, self.after]);
            let negative = m.with(Op::Shr, ty, x, 31);
            let quotient = m.op(Op::Sub, ty, &[quotient, negative]);
            let quotient = m.op(Op::Xor, ty, &[quotient, self.sign]);
            return m.op(Op::Sub, ty, &[quotient, self.sign]);
        }
        let rest = m.op(Op::Sub, ty, &[x, t]);
        let rest = m.op(Op::Shr, ty, &[rest, self.first]);
        let sum = m.op(Op::Add, ty, &[t, rest]);
        m.op(Op::Shr, ty, &[sum, self.after])
    }
}
