//! Masks that only side exits ask for: how an exit makes them, in the word that it writes.

use super::{Logic, Values};
use crate::ir::{Inst, Kind, Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;

/// A step towards the word of a mask. A mask has nothing beyond the lanes, and so has the word after each step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MaskStep {
    /// It becomes that of a mask.
    Begin(Value),
    /// It becomes what it and a mask make: [`Logic::And`], [`Logic::Or`], [`Logic::Xor`] or [`Logic::OnlyFirst`], the word being the first.
    With(Logic, Value),
    /// It gets the lanes that it has not.
    Flip,
}

/// Returns whether steps can make the result of an instruction, whatever its operands are.
pub(super) fn has_steps(values: &Values<'_>, inst: &Inst) -> bool {
    let is_mask = |&v: &Value| values.region.ty(v) == Type::MASK && values.mask_bits(v).is_none();
    logic_of(inst).is_some() && inst.args.iter().chain(&inst.result).all(is_mask)
}

/// What an instruction makes of two bools; of one, if that is nothing.
fn logic_of(inst: &Inst) -> Option<Option<Logic>> {
    match inst.kind {
        Kind::Op { op: Op::Not, ty: Ty::Bool, .. } => Some(None),
        Kind::Op { op, ty: Ty::Bool, from: Ty::Bool } => match Logic::of(op)? {
            Logic::Same | Logic::Implied | Logic::Implies => None,
            logic => Some(Some(logic)),
        },
        _ => None,
    }
}

/// The steps that make a mask of those that are not left to exits; `None` if that takes more than one word.
pub(crate) fn mask_steps(values: &Values<'_>, is_left: &dyn Fn(Value) -> bool, v: Value) -> Option<Vec<MaskStep>> {
    let Some(inst) = values.inst(v).filter(|_| is_left(v)) else { return Some(vec![MaskStep::Begin(v)]) };
    let a = inst.args[0];
    let Some(logic) = logic_of(inst)? else {
        let mut steps = mask_steps(values, is_left, a)?;
        steps.push(MaskStep::Flip);
        return Some(steps);
    };
    let b = inst.args[1];
    // One is made in the word, the other one is at hand, or lacks but its opposite.
    let at_hand = |v: Value| match values.inst(v).filter(|_| is_left(v)) {
        None => Some((v, false)),
        Some(inst) if logic_of(inst) == Some(None) && !is_left(inst.args[0]) => Some((inst.args[0], true)),
        Some(_) => None,
    };
    let (made, logic, (other, is_opposite)) = match (at_hand(b), at_hand(a)) {
        (Some(b), _) => (a, logic, b),
        (None, Some(a)) => (b, swapped(logic), a),
        (None, None) => return None,
    };
    let mut steps = mask_steps(values, is_left, made)?;
    let (flips_first, logic, flips_last) = match (logic, is_opposite) {
        (Logic::And, false) | (Logic::OnlyFirst, true) => (false, Logic::And, false),
        (Logic::And, true) | (Logic::OnlyFirst, false) => (false, Logic::OnlyFirst, false),
        (Logic::OnlySecond, false) => (true, Logic::And, false),
        (Logic::OnlySecond, true) => (true, Logic::OnlyFirst, false),
        (Logic::Or, false) => (false, Logic::Or, false),
        // Either, unless it is only the other one.
        (Logic::Or, true) => (true, Logic::And, true),
        (_, is_opposite) => (false, Logic::Xor, is_opposite),
    };
    steps.extend(flips_first.then_some(MaskStep::Flip));
    steps.push(MaskStep::With(logic, other));
    steps.extend(flips_last.then_some(MaskStep::Flip));
    Some(steps)
}

/// The same with the operands the other way round.
fn swapped(logic: Logic) -> Logic {
    match logic {
        Logic::OnlyFirst => Logic::OnlySecond,
        Logic::OnlySecond => Logic::OnlyFirst,
        same => same,
    }
}
