//! Arithmetic that gives something other than one may expect: looked for on request only.

use super::Checker;
use super::finding::{Finding, FindingKind, lanes_text, numbers};
use crate::interp::lanes::lanes_of;
use crate::isa::{Form, Op};
use crate::observe::View;
use crate::program::{Inst, Reg};
use crate::sem::eval;
use crate::types::{Shape, Ty};

/// The kinds that this is about.
const KINDS: [FindingKind; 4] =
    [FindingKind::Overflow, FindingKind::LossyConversion, FindingKind::Nan, FindingKind::Shift];

impl Checker {
    pub(super) fn looks_at_numbers(&self) -> bool {
        KINDS.into_iter().any(|kind| self.found.checks.has(kind))
    }

    /// Looks at what an instruction that is about to execute will compute.
    pub(super) fn numbers(&mut self, view: &View<'_>, inst: &Inst) {
        let kind = match inst.op {
            Op::Add | Op::Sub | Op::Mul | Op::Neg | Op::Abs if inst.ty.is_int() => FindingKind::Overflow,
            Op::Convert if inst.ty.is_int() && inst.from != Ty::Bool => FindingKind::LossyConversion,
            Op::Shl | Op::Shr => FindingKind::Shift,
            _ if computes_float(inst) => FindingKind::Nan,
            _ => return,
        };
        if !self.found.checks.has(kind) || kind == FindingKind::Overflow && !inst.ty.is_signed() {
            return;
        }
        let varying = view.function().reg(inst.dst).shape == Shape::Varying;
        let mask = view.mask();
        let lanes = if varying { mask } else { mask & mask.wrapping_neg() };
        let operands = |l: usize| inst.src.map(|r: Reg| if r.is_none() { 0 } else { view.lane(r, l) });
        let bad = lanes_of(lanes).filter(|&l| is_bad(kind, inst, operands(l))).fold(0u64, |mask, l| mask | 1 << l);
        if bad == 0 {
            return;
        }
        let stack = self.stack(view);
        self.found.report(view, kind, || {
            let (shown, ty) =
                if kind == FindingKind::Shift { (1, inst.ty) } else { (0, view.function().reg(inst.src[0]).ty) };
            let values = lanes_of(bad).map(|l| view.lane(inst.src[shown], l)).collect();
            let lanes = if varying { numbers(bad) } else { Vec::new() };
            let who = if lanes.is_empty() { String::new() } else { format!(" ({})", lanes_text(&lanes)) };
            let name = inst.op.info().name;
            let message = match kind {
                FindingKind::Overflow => format!("`{name}` of {} wraps{who}", inst.ty),
                FindingKind::LossyConversion => {
                    format!("a conversion from {} to {} changes the value{who}", inst.from, inst.ty)
                }
                FindingKind::Shift => format!("the count of a shift is not below the width of {}{who}", inst.ty),
                _ => format!("`{name}` of {} gives NaN, and no operand is NaN{who}", inst.ty),
            };
            Finding { kind, message, lanes, values, ty, stack, related: None, times: 1 }
        });
    }
}

fn computes_float(inst: &Inst) -> bool {
    inst.ty.is_float() && matches!(inst.op.info().form, Form::Unary | Form::Binary | Form::Ternary)
}

fn is_bad(kind: FindingKind, inst: &Inst, [a, b, c]: [u64; 3]) -> bool {
    match kind {
        FindingKind::Overflow => {
            let (x, y) = (integer(inst.ty, a), integer(inst.ty, b));
            let exact = match inst.op {
                Op::Add => x + y,
                Op::Sub => x - y,
                Op::Mul => x * y,
                Op::Neg => -x,
                _ => x.abs(),
            };
            integer(inst.ty, exact as u64) != exact
        }
        FindingKind::LossyConversion => {
            let converted = eval(inst.op, inst.ty, inst.from, [a, b, c]).map(|word| integer(inst.ty, word));
            match inst.from.is_float() {
                true => converted.is_none_or(|to| float(inst.from, a).trunc() != to as f64),
                false => converted != Some(integer(inst.from, a)),
            }
        }
        FindingKind::Shift => {
            let count = integer(inst.ty, b);
            count < 0 || count >= inst.ty.size() as i128 * 8
        }
        _ => {
            let n = match inst.op.info().form {
                Form::Unary => 1,
                Form::Binary => 2,
                _ => 3,
            };
            let result = eval(inst.op, inst.ty, inst.from, [a, b, c]);
            result.is_some_and(|word| float(inst.ty, word).is_nan())
                && [a, b, c][..n].iter().all(|&word| !float(inst.ty, word).is_nan())
        }
    }
}

/// An integer of a type from its bits.
fn integer(ty: Ty, word: u64) -> i128 {
    let unused = 64 - 8 * ty.size() as u32;
    if ty.is_signed() { ((word << unused) as i64 >> unused) as i128 } else { (word << unused >> unused) as i128 }
}

/// A float of a type from its bits.
fn float(ty: Ty, word: u64) -> f64 {
    let bits = eval(Op::Convert, Ty::F64, ty, [word, 0, 0]);
    bits.map_or(f64::NAN, f64::from_bits)
}
