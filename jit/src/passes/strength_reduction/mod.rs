//! Strength reduction: divisions by constants become multiplications and shifts; so do those by a divisor that a loop does
//! not change.
//!
//! No processor divides vectors of integers: the back end divides doubles, two lanes at a time, and 64-bit integers one by
//! one; a scalar division takes as long as ten other instructions. The high half of a product ([`Op::MulHi`]) with a suitable
//! factor gives the same quotient.
//!
//! # Rules
//!
//! *Powers of two.* Unsigned: a shift, and for the remainder the low bits. Signed: a shift rounds down, so 2ᵏ − 1 is added to
//! negative numbers first.
//!
//! *Other constants*, of all integer types: [`magic`] finds the factor. A negative divisor negates the quotient. −1 and the
//! least number of the type are powers of two here (wrapping makes them right: `MIN / -1` is `MIN`). Vectors of bytes are divided in
//! 16 bits.
//!
//! *Invariant divisors*, of 32 bits, in loops: the factor is computed by scalar code where the divisor is known, once for each
//! time that the loop is entered (one division of 64 bits, a few other instructions), by the general form that
//! suits every divisor but 0. For 0 the factor of 1 is taken: the guard before the division is still there, so nothing uses
//! it.
//!
//! *Remainders* are `x - q * d`; a quotient of the same numbers is shared with it by [`gvn`](super::gvn).
//!
//! A division is pure here (its guard is another instruction), so it may be replaced where it stands; the code of
//! an invariant divisor's factor stands at the end of the block that defines the divisor.

mod invariant;
mod magic;

use super::defs::Defs;
use super::licm::{Loops, definitions};
use super::make::Maker;
use crate::dominance::Dominators;
use crate::ir::{BlockId, Inst, Kind, Region, Type, Value, unsigned};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let divides = |inst: &Inst| matches!(inst.kind, Kind::Op { op: Op::IDiv | Op::IRem, .. });
    if !region.blocks.iter().flat_map(|b| &b.insts).any(divides) {
        return;
    }
    let dominators = Dominators::new(region);
    let defs = Defs::of(region);
    let mut invariants = invariant::Invariants::new(Loops::new(region, &dominators), definitions(region));
    for &b in dominators.order() {
        if !region.block(b).insts.iter().any(divides) {
            continue;
        }
        let insts = std::mem::take(&mut region.blocks[b.index()].insts);
        let mut done = Vec::with_capacity(insts.len());
        for inst in insts {
            match replacement(region, &defs, &mut invariants, b, &inst, &mut done) {
                Some(v) => done.push(Inst { kind: renamed(region, v), args: vec![v], result: inst.result }),
                None => done.push(inst),
            }
        }
        region.blocks[b.index()].insts = done;
    }
    invariants.place(region);
}

/// An instruction that gives a value another name.
fn renamed(region: &Region, v: Value) -> Kind {
    let ty = region.ty(v).ty;
    Kind::Op { op: Op::Mov, ty, from: ty }
}

/// Makes what stands for a division, if something does.
fn replacement(
    region: &mut Region,
    defs: &Defs,
    invariants: &mut invariant::Invariants,
    b: BlockId,
    inst: &Inst,
    done: &mut Vec<Inst>,
) -> Option<Value> {
    let Kind::Op { op: op @ (Op::IDiv | Op::IRem), ty, .. } = inst.kind else { return None };
    let (x, d) = (inst.args[0], inst.args[1]);
    if region.ty(inst.result?).shape != region.ty(x).shape {
        // One number divided by many.
        return None;
    }
    let known = defs.known(d);
    let factors = match known {
        Some(0) => return None,
        Some(_) => None,
        None => Some(invariants.factors(region, b, d)?),
    };
    let mut m = Maker { region, to: done };
    let quotient = match (known, factors) {
        (Some(c), _) if is_of_many_bytes(m.region.ty(x)) && !c.is_power_of_two() => {
            return Some(in_words(&mut m, op, ty, x, c));
        }
        (Some(c), _) => by_constant(&mut m, ty, x, c),
        (None, Some(factors)) => factors.quotient(&mut m, ty, x),
        (None, None) => return None,
    };
    if op == Op::IDiv {
        return Some(quotient);
    }
    if let Some(c) = known.filter(|c| c.is_power_of_two() && !ty.is_signed()) {
        return Some(m.with(Op::And, ty, x, c - 1));
    }
    Some(remainder(&mut m, ty, x, quotient, d))
}

fn remainder(m: &mut Maker<'_>, ty: Ty, x: Value, quotient: Value, d: Value) -> Value {
    let product = m.op(Op::Mul, ty, &[quotient, d]);
    m.op(Op::Sub, ty, &[x, product])
}

fn is_of_many_bytes(ty: Type) -> bool {
    ty.is_varying() && ty.ty.size() == 1
}

/// Bytes divided by a constant, in 16 bits: no machine has high halves of products of vectors of bytes.
fn in_words(m: &mut Maker<'_>, op: Op, ty: Ty, x: Value, c: u64) -> Value {
    let signed = ty.is_signed();
    let (words, c) = if signed { (Ty::I16, i64::from(c as i8) as u64) } else { (Ty::U16, c) };
    let x = m.cast(Op::Convert, x, words);
    let quotient = match signed {
        true => signed_by_constant(m, words, x, c),
        // Of a number below 2⁸ the product with the next number above 2¹⁶ / c is too large by less than 2¹⁶ / c.
        false => m.with(Op::MulHi, words, x, (1u64 << 16).div_ceil(c)),
    };
    let result = match op {
        Op::IDiv => quotient,
        _ => {
            let d = m.constant(words, c);
            remainder(m, words, x, quotient, d)
        }
    };
    m.cast(Op::Convert, result, ty)
}

/// The quotient by a constant that is not 0.
fn by_constant(m: &mut Maker<'_>, ty: Ty, x: Value, c: u64) -> Value {
    if ty.is_signed() { signed_by_constant(m, ty, x, c) } else { unsigned_by_constant(m, ty, x, c) }
}

fn unsigned_by_constant(m: &mut Maker<'_>, ty: Ty, x: Value, c: u64) -> Value {
    if c.is_power_of_two() {
        return m.with(Op::Shr, ty, x, c.trailing_zeros() as u64);
    }
    let magic = magic::unsigned(8 * ty.size() as u32, c);
    if magic.add {
        let t = m.with(Op::MulHi, ty, x, magic.factor);
        let rest = m.op(Op::Sub, ty, &[x, t]);
        let rest = m.with(Op::Shr, ty, rest, 1);
        let sum = m.op(Op::Add, ty, &[rest, t]);
        return m.with(Op::Shr, ty, sum, magic.after as u64 - 1);
    }
    let x = if magic.before > 0 { m.with(Op::Shr, ty, x, magic.before as u64) } else { x };
    let t = m.with(Op::MulHi, ty, x, magic.factor);
    if magic.after > 0 { m.with(Op::Shr, ty, t, magic.after as u64) } else { t }
}

fn signed_by_constant(m: &mut Maker<'_>, ty: Ty, x: Value, c: u64) -> Value {
    let n = 8 * ty.size() as u32;
    let number = (c << (64 - n)) as i64 >> (64 - n);
    let size = number.unsigned_abs();
    let quotient = if size == 1 {
        x
    } else if size.is_power_of_two() {
        signed_by_power(m, ty, x, size.trailing_zeros())
    } else {
        let magic = magic::signed(n, size);
        let mut t = m.with(Op::MulHi, ty, x, magic.factor);
        if magic.add {
            t = m.op(Op::Add, ty, &[t, x]);
        }
        if magic.after > 0 {
            t = m.with(Op::Shr, ty, t, magic.after as u64);
        }
        let sign = m.with(Op::Shr, ty, x, n as u64 - 1);
        m.op(Op::Sub, ty, &[t, sign])
    };
    if number < 0 { m.op(Op::Neg, ty, &[quotient]) } else { quotient }
}

/// The quotient by 2ᵏ, for k of at least 1.
fn signed_by_power(m: &mut Maker<'_>, ty: Ty, x: Value, k: u32) -> Value {
    let n = 8 * ty.size() as u64;
    let whole = unsigned(ty);
    let sign = m.with(Op::Shr, ty, x, n - 1);
    let sign = m.cast(Op::Bitcast, sign, whole);
    let bias = m.with(Op::Shr, whole, sign, n - k as u64);
    let bias = m.cast(Op::Bitcast, bias, ty);
    let sum = m.op(Op::Add, ty, &[x, bias]);
    m.with(Op::Shr, ty, sum, k as u64)
}

#[cfg(test)]
mod tests;
