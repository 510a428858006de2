//! Operations of one kind, as types of their own: a rule of selection that takes one is exhaustive, and what is none of them is not its
//! business.

use spmdvm_vm::isa::Op;

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// The smaller or the larger of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extreme {
    Min,
    Max,
}

/// Bits by bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bitwise {
    And,
    Or,
    Xor,
}

/// Shifts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shift {
    Shl,
    Shr,
}

/// Division of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    IDiv,
    IRem,
}

/// Counts of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BitCount {
    Popcnt,
    Clz,
    Ctz,
}

impl Comparison {
    /// The comparison that an operation is, if it is one.
    pub fn of(op: Op) -> Option<Comparison> {
        Some(match op {
            Op::Eq => Comparison::Eq,
            Op::Ne => Comparison::Ne,
            Op::Lt => Comparison::Lt,
            Op::Le => Comparison::Le,
            Op::Gt => Comparison::Gt,
            Op::Ge => Comparison::Ge,
            _ => return None,
        })
    }

    /// The comparison that holds for exchanged operands.
    pub fn mirrored(self) -> Comparison {
        match self {
            Comparison::Eq => Comparison::Eq,
            Comparison::Ne => Comparison::Ne,
            Comparison::Lt => Comparison::Gt,
            Comparison::Le => Comparison::Ge,
            Comparison::Gt => Comparison::Lt,
            Comparison::Ge => Comparison::Le,
        }
    }

    /// The comparison of integers that holds where this one does not.
    pub fn negated(self) -> Comparison {
        match self {
            Comparison::Eq => Comparison::Ne,
            Comparison::Ne => Comparison::Eq,
            Comparison::Lt => Comparison::Ge,
            Comparison::Le => Comparison::Gt,
            Comparison::Gt => Comparison::Le,
            Comparison::Ge => Comparison::Lt,
        }
    }
}

/// What two bools become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Logic {
    /// Both.
    And,
    /// One, or both.
    Or,
    /// One, but not both.
    Xor,
    /// Neither or both.
    Same,
    /// Not the first, but the second.
    OnlySecond,
    /// Not the second, but the first.
    OnlyFirst,
    /// Not the first, or the second.
    Implied,
    /// Not the second, or the first.
    Implies,
}

impl Logic {
    /// What an operation does to bools, of which `false` is the smaller one.
    pub fn of(op: Op) -> Option<Logic> {
        Some(match op {
            Op::And | Op::Min => Logic::And,
            Op::Or | Op::Max => Logic::Or,
            Op::Xor | Op::Ne => Logic::Xor,
            Op::Eq => Logic::Same,
            Op::Lt => Logic::OnlySecond,
            Op::Gt => Logic::OnlyFirst,
            Op::Le => Logic::Implied,
            Op::Ge => Logic::Implies,
            _ => return None,
        })
    }
}

/// The operation that a reduction applies.
pub(crate) fn step_of(op: Op) -> Option<Op> {
    Some(match op {
        Op::ReduceAdd => Op::Add,
        Op::ReduceMul => Op::Mul,
        Op::ReduceMin => Op::Min,
        Op::ReduceMax => Op::Max,
        Op::ReduceAnd => Op::And,
        Op::ReduceOr => Op::Or,
        Op::ReduceXor => Op::Xor,
        _ => return None,
    })
}
