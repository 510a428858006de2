//! Faults of the interpreter: another instruction, or another step, in the place of the right one.
//!
//! What a JIT records is the program, so it is not affected where it does not leave an instruction to the interpreter.

use super::code::Step;
use super::masks::target;
use super::thread::Thread;
use crate::faults::{Fault, Turns, planted};
use crate::isa::Op;
use crate::program::{Function, Inst};
use crate::types::Ty;

/// What a fault does.
#[derive(Clone, Copy)]
pub enum Act {
    /// Another instruction for one that it concerns.
    Inst(fn(&Inst) -> Option<Inst>),
    /// Spoils the step of an instruction that it concerns.
    Step(Concerns, Spoil),
}

type Concerns = fn(&Inst) -> bool;
type Spoil = fn(Spoiled<'_>);

/// A step to be spoilt.
pub struct Spoiled<'a>(&'a mut Step);

macro_rules! faults {
    ($($name:literal, $what:literal, $act:expr;)*) => {
        /// The faults.
        pub static TABLE: &[Fault<Act>] = &[$(Fault { name: $name, part: "interpreter", what: $what, act: $act }),*];
    };
}

faults! {
    "interp-less-or-equal", "`lt` of integers is `le`", Act::Inst(|i| (i.op == Op::Lt && i.ty.is_int()).then(|| with_op(i, Op::Le)));
    "interp-compare-sign", "integers are compared without their sign", Act::Inst(|i| when(is_order(i.op), || unsigned(i)));
    "interp-min-operands", "`min` and `max` of floats take their operands in the other order (NaN, −0)", Act::Inst(|i| {
        (matches!(i.op, Op::Min | Op::Max) && i.ty.is_float()).then(|| with_sources(i, [1, 0, 2]))
    });
    "interp-shift-sign", "`shr` does not shift in the sign", Act::Inst(|i| when(i.op == Op::Shr, || unsigned(i)));
    "interp-select-arms", "`select` takes the other operand", Act::Inst(|i| (i.op == Op::Select).then(|| with_sources(i, [0, 2, 1])));
    "interp-assign-all", "`assign` writes inactive lanes too", Act::Inst(|i| (i.op == Op::Assign).then(|| with_op(i, Op::Mov)));
    "interp-load-element", "loads with an index read the next element", Act::Inst(|i| {
        (i.op == Op::Load && !i.src[1].is_none()).then(|| Inst { imm: i.imm.wrapping_add(i.ty.size() as i64), ..*i })
    });
    "interp-store-element", "stores with an index write the next element", Act::Inst(|i| {
        (i.op == Op::Store && !i.src[1].is_none()).then(|| Inst { imm: i.imm.wrapping_add(i.ty.size() as i64), ..*i })
    });
    "interp-floor-rounding", "`floor` rounds toward zero", Act::Inst(|i| (i.op == Op::Floor).then(|| with_op(i, Op::Trunc)));
    "interp-nearest-rounding", "`round_even` rounds down", Act::Inst(|i| (i.op == Op::RoundEven).then(|| with_op(i, Op::Floor)));
    "interp-widen-sign", "small integers are extended without their sign", Act::Inst(|i| {
        when(i.op == Op::Convert && matches!(i.from, Ty::I8 | Ty::I16), || unsigned_from(i))
    });
    "interp-unsigned-to-float", "unsigned integers become floats as if they had a sign", Act::Inst(|i| {
        (i.op == Op::Convert && i.ty.is_float() && i.from == Ty::U32).then(|| Inst { from: Ty::I32, ..*i })
    });
    "interp-float-to-unsigned", "floats become `u32` as if that were `i32`", Act::Inst(|i| {
        (i.op == Op::Convert && i.ty == Ty::U32 && i.from.is_float()).then(|| Inst { ty: Ty::I32, ..*i })
    });
    "interp-remainder-sign", "`irem` is that of unsigned integers", Act::Inst(|i| when(i.op == Op::IRem, || unsigned(i)));
    "interp-quotient-sign", "`idiv` is that of unsigned integers", Act::Inst(|i| when(i.op == Op::IDiv, || unsigned(i)));
    "interp-leading-zeros", "`clz` counts from the other end", Act::Inst(|i| (i.op == Op::Clz).then(|| with_op(i, Op::Ctz)));
    "interp-atomic-add", "`atomic.add` is `atomic.or`", Act::Inst(|i| (i.op == Op::AtomicAdd && i.ty.is_int()).then(|| with_op(i, Op::AtomicOr)));
    "interp-atomic-min-sign", "`atomic.min` and `atomic.max` compare without the sign", Act::Inst(|i| {
        when(matches!(i.op, Op::AtomicMin | Op::AtomicMax), || Some(Inst { ty: without_sign(i.ty)?, ..*i }))
    });
    "interp-reduce-min-sign", "`reduce.min` and `reduce.max` compare without the sign", Act::Inst(|i| {
        when(matches!(i.op, Op::ReduceMin | Op::ReduceMax), || unsigned(i))
    });
    "interp-reduce-neutral", "each inactive lane counts 1 in `reduce.add`", Act::Step(|i| i.op == Op::ReduceAdd && i.ty.is_int(), |s| s.0.imm = 1);
    "interp-continue", "lanes that continue leave the loop", Act::Inst(|i| match i.op {
        Op::MaskContinue => Some(with_op(i, Op::MaskBreak)),
        Op::MaskContinueIf => Some(with_op(i, Op::MaskBreakIf)),
        _ => None,
    });
    "interp-return", "lanes that return leave the innermost loop only", Act::Inst(|i| match i.op {
        Op::MaskReturn => Some(with_op(i, Op::MaskBreak)),
        Op::MaskReturnIf => Some(with_op(i, Op::MaskBreakIf)),
        _ => None,
    });
    "interp-vote", "`any` asks whether all do", Act::Inst(|i| (i.op == Op::Any).then(|| with_op(i, Op::All)));
    "interp-each-mask", "`foreach_active` runs its body in all lanes", Act::Inst(|i| (i.op == Op::EachLane).then(|| with_op(i, Op::EachAll)));
    "interp-pack-mask", "`packmask` gives the execution mask", Act::Inst(|i| {
        (i.op == Op::PackMask).then(|| Inst { src: [crate::Reg::NONE; 3], ..with_op(i, Op::MaskBits) })
    });
    "interp-shuffle", "`shuffle` leaves each lane its own value", Act::Inst(|i| {
        (i.op == Op::Shuffle).then(|| Inst { src: [i.src[0], crate::Reg::NONE, crate::Reg::NONE], ..with_op(i, Op::Mov) })
    });
    "interp-last-block", "sums and differences leave out the last sixteen lanes of wide gangs", Act::Step(
        |i| matches!(i.op, Op::Add | Op::Sub),
        |s| if s.0.blocks > 1 { s.0.blocks -= 1 },
    );
    "interp-continued-lanes", "lanes that continued do not come back", Act::Step(|i| i.op == Op::LoopNext, |s| s.0.handler = next_without_continued);
    "interp-restore", "`mask.endif` does not bring back the lanes of the other arm", Act::Step(|i| i.op == Op::MaskEndif, |s| s.0.handler = endif_without_restoring);
    "interp-fall-through", "lanes do not fall through into the next case", Act::Step(|i| i.op == Op::SwitchCase, |s| s.0.handler = case_without_fall_through);
}

/// The instruction that stands for one of a function.
pub(super) fn instead(f: &Function, pc: usize) -> Inst {
    let inst = f.code[pc];
    let Some(Fault { act: Act::Inst(act), .. }) = planted(TABLE) else { return inst };
    act(&inst).filter(|_| is_turn(f, pc, |i| act(i).is_some())).unwrap_or(inst)
}

/// Spoils the step of an instruction.
pub(super) fn spoil(f: &Function, pc: usize, step: &mut Step) {
    if let Some(Fault { act: Act::Step(concerns, spoil), .. }) = planted(TABLE)
        && concerns(&f.code[pc])
        && is_turn(f, pc, concerns)
    {
        spoil(Spoiled(step));
    }
}

/// Whether the fault acts at an instruction that it concerns. It does so whenever the function is prepared.
fn is_turn(f: &Function, pc: usize, concerns: impl Fn(&Inst) -> bool) -> bool {
    f.code[..pc].iter().filter(|i| concerns(i)).count().is_multiple_of(2) && Turns::default().next()
}

fn is_order(op: Op) -> bool {
    matches!(op, Op::Lt | Op::Le | Op::Gt | Op::Ge)
}

fn when(concerned: bool, other: impl FnOnce() -> Option<Inst>) -> Option<Inst> {
    concerned.then(other).flatten()
}

fn with_op(inst: &Inst, op: Op) -> Inst {
    Inst { op, ..*inst }
}

fn with_sources(inst: &Inst, order: [usize; 3]) -> Inst {
    Inst { src: order.map(|i| inst.src[i]), ..*inst }
}

/// The instruction on unsigned integers, if it is one on signed ones.
fn unsigned(inst: &Inst) -> Option<Inst> {
    let ty = without_sign(inst.ty)?;
    let from = if inst.from == inst.ty { ty } else { inst.from };
    Some(Inst { ty, from, ..*inst })
}

/// The conversion from unsigned integers, if it is one from signed ones.
fn unsigned_from(inst: &Inst) -> Option<Inst> {
    Some(Inst { from: without_sign(inst.from)?, ..*inst })
}

fn without_sign(ty: Ty) -> Option<Ty> {
    match ty {
        Ty::I8 => Some(Ty::U8),
        Ty::I16 => Some(Ty::U16),
        Ty::I32 => Some(Ty::U32),
        Ty::I64 => Some(Ty::U64),
        _ => None,
    }
}

/// `loop.next`
unsafe fn next_without_continued(t: &mut Thread, step: *const Step) -> *const Step {
    if let Some(top) = t.masks.last_mut() {
        top.other = 0;
    }
    // SAFETY: the contract of handlers.
    unsafe { jump_if_empty(t, step) }
}

/// `mask.endif`
unsafe fn endif_without_restoring(t: &mut Thread, step: *const Step) -> *const Step {
    t.masks.pop();
    // SAFETY: the contract of handlers.
    unsafe { jump_if_empty(t, step) }
}

/// `switch.case`
unsafe fn case_without_fall_through(t: &mut Thread, step: *const Step) -> *const Step {
    // SAFETY: the contract of handlers: source `a` is a varying bool register.
    let chosen = unsafe { super::lanes::mask_of(t.reg((*step).a), (*step).blocks()) } & t.full;
    if let Some(top) = t.masks.last_mut() {
        t.mask = top.other & chosen;
        top.other &= !chosen;
    }
    // SAFETY: as above.
    unsafe { jump_if_empty(t, step) }
}

/// Falls through if a lane is active, else jumps.
///
/// # Safety
/// `step` is a step with a label and not the last one.
unsafe fn jump_if_empty(t: &Thread, step: *const Step) -> *const Step {
    // SAFETY: the caller's promise.
    unsafe { if t.mask == 0 { target(step) } else { step.add(1) } }
}
