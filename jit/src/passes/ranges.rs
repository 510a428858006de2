//! Ranges of integers: the most that one can be of which it is known that it is not negative.

use crate::ir::Kind;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// All bits of so many bytes.
pub(super) fn all(size: usize) -> u64 {
    u64::MAX >> (64 - 8 * size)
}

/// The most that a value of a type can be, if the type has no sign.
pub(super) fn most_of_type(ty: Ty) -> Option<u64> {
    match ty {
        Ty::Bool => Some(1),
        _ if ty.is_int() && !ty.is_signed() => Some(all(ty.size())),
        _ => None,
    }
}

/// The most that an instruction gives in any lane, if that is never negative: by what is known of its arguments, that is the most that each
/// can be, and the bits of those that are constants.
pub(super) fn most(
    kind: Kind,
    ty: Ty,
    of: impl Fn(usize) -> Option<u64>,
    known: impl Fn(usize) -> Option<u64>,
) -> Option<u64> {
    if !ty.is_int() {
        return most_of_type(ty);
    }
    let bits = 8 * ty.size() as u64;
    let greatest = if ty.is_signed() { all(ty.size()) >> 1 } else { all(ty.size()) };
    let ones = |x: u64| if x == 0 { 0 } else { u64::MAX >> x.leading_zeros() };
    let divisor = |i: usize| known(i).filter(|c| (1..=greatest).contains(c));
    let found = match kind {
        Kind::Const(bits) => Some(bits & all(ty.size())),
        Kind::Splat => of(0),
        Kind::Op { op, from, .. } => match op {
            Op::Convert | Op::Bitcast if from.is_int() || op == Op::Convert && from == Ty::Bool => of(0),
            Op::Add => of(0).zip(of(1)).and_then(|(a, b)| a.checked_add(b)),
            Op::Mul => of(0).zip(of(1)).and_then(|(a, b)| a.checked_mul(b)),
            Op::IDiv => of(0).zip(divisor(1)).map(|(a, c)| a / c),
            Op::IRem => of(0).zip(divisor(1)).map(|(a, c)| a.min(c - 1)),
            Op::And => [of(0), of(1)].into_iter().flatten().min(),
            Op::Or | Op::Xor => of(0).zip(of(1)).map(|(a, b)| ones(a | b)),
            Op::Shr => of(0).zip(known(1)).map(|(a, n)| a >> (n % bits)),
            Op::Shl => of(0).zip(known(1)).and_then(|(a, n)| a.checked_mul(1 << (n % bits))),
            Op::Min => of(0).zip(of(1)).map(|(a, b)| a.min(b)),
            Op::Max => of(0).zip(of(1)).map(|(a, b)| a.max(b)),
            Op::Select => of(1).zip(of(2)).map(|(a, b)| a.max(b)),
            Op::Extract | Op::Shuffle => of(0),
            Op::Popcnt | Op::Clz | Op::Ctz => Some(bits),
            _ => None,
        },
        _ => None,
    };
    found.filter(|&x| x <= greatest).or(most_of_type(ty))
}
