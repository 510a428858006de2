//! The mask stack: structured divergent control (`docs/internals/bytecode.md`).

use super::code::Step;
use super::elementwise::{Kernel, map1};
use super::lanes::{BLOCK, bits_of, get, load, mask_of, put};
use super::native;
use super::thread::Thread;
use crate::sem::{self, Scalar};
use std::marker::PhantomData;
use std::ptr::null;

pub use crate::verify::EntryKind;

/// An entry of the mask stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MaskEntry {
    pub kind: EntryKind,
    /// For an Each entry whose body runs with all lanes on: the lane being visited plus one.
    pub visiting: u8,
    /// The mask to come back to.
    pub restore: u64,
    /// Lanes that wait: for the else part, the next iteration, their case, their turn.
    pub other: u64,
}

impl MaskEntry {
    fn new(kind: EntryKind, restore: u64, other: u64) -> MaskEntry {
        MaskEntry { kind, visiting: 0, restore, other }
    }

    /// The lane that `each.all` is visiting.
    pub fn visited_lane(&self) -> Option<u32> {
        (self.visiting as u32).checked_sub(1)
    }
}

/// The step that `step` jumps to.
///
/// # Safety
/// `step` is a step with a label.
#[inline(always)]
pub(crate) unsafe fn target(step: *const Step) -> *const Step {
    // SAFETY: the verifier proved that labels lie within the function's code, and `imm` is the distance.
    unsafe { step.offset((*step).imm as isize) }
}

/// Falls through if a lane is active, else jumps.
///
/// # Safety
/// `step` is a step with a label and not the last one.
#[inline(always)]
unsafe fn jump_if_empty(t: &Thread, step: *const Step) -> *const Step {
    // SAFETY: the caller's promise.
    unsafe { if t.mask == 0 { target(step) } else { step.add(1) } }
}

/// Active lanes where the step's condition holds.
///
/// # Safety
/// Source `a` of the step is a varying bool register.
#[inline(always)]
unsafe fn condition(t: &Thread, step: *const Step) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { mask_of(t.reg((*step).a), (*step).blocks()) & t.full }
}

/// Where lanes leave to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leave {
    Break,
    Continue,
    Return,
}

/// Takes lanes out of the execution mask and of the entries up to their target.
#[inline(always)]
fn leave(t: &mut Thread, lanes: u64, how: Leave) {
    t.mask &= !lanes;
    let mut lanes = lanes;
    for entry in t.masks[t.floor..].iter_mut().rev() {
        match (entry.kind, how) {
            (EntryKind::Loop, Leave::Break) | (EntryKind::Switch, Leave::Break) => return,
            (EntryKind::Loop, Leave::Continue) => {
                entry.other |= lanes;
                return;
            }
            (EntryKind::Each, Leave::Break) => {
                if lanes != 0 {
                    entry.other = 0;
                }
                return;
            }
            (EntryKind::Each, Leave::Continue) => return,
            _ => {}
        }
        // Lanes that were off outside an Every (or the all-lanes turn of an Each) cannot leave anything outside.
        if matches!(entry.kind, EntryKind::Every | EntryKind::Each) {
            lanes &= entry.restore;
        }
        entry.restore &= !lanes;
        entry.other &= !lanes;
    }
}

macro_rules! mask_steps {
    ($( $(#[$doc:meta])* $Name:ident($t:ident, $step:ident) $body:block )*) => { $(
        $(#[$doc])*
        pub(crate) struct $Name;
        impl Kernel for $Name {
            #[inline(always)]
            unsafe fn run($t: &mut Thread, $step: *const Step) -> *const Step {
                // SAFETY: the contract of handlers; the steps below read the operands their signatures have.
                unsafe { $body }
            }
        }
    )* };
}

mask_steps! {
    /// `mask.if`
    MaskIf(t, step) {
        let c = condition(t, step);
        t.masks.push(MaskEntry::new(EntryKind::If, t.mask, t.mask & !c));
        t.mask &= c;
        jump_if_empty(t, step)
    }
    /// `mask.else`
    MaskElse(t, step) {
        let Some(top) = t.masks.last_mut() else { return null() };
        t.mask = std::mem::take(&mut top.other);
        jump_if_empty(t, step)
    }
    /// `mask.endif`, `loop.end`, `switch.end`, `everywhere.end`, `each.end`
    Pop(t, step) {
        let Some(top) = t.masks.pop() else { return null() };
        t.mask = top.restore;
        jump_if_empty(t, step)
    }
    /// `loop.begin`
    LoopBegin(t, step) {
        t.masks.push(MaskEntry::new(EntryKind::Loop, t.mask, 0));
        step.add(1)
    }
    /// `loop.test`
    LoopTest(t, step) {
        t.mask &= condition(t, step);
        jump_if_empty(t, step)
    }
    /// `loop.next`
    LoopNext(t, step) {
        let Some(top) = t.masks.last_mut() else { return null() };
        t.mask |= std::mem::take(&mut top.other);
        jump_if_empty(t, step)
    }
    /// `switch.begin`
    SwitchBegin(t, step) {
        t.masks.push(MaskEntry::new(EntryKind::Switch, t.mask, t.mask));
        t.mask = 0;
        target(step)
    }
    /// `switch.case`
    SwitchCase(t, step) {
        let c = condition(t, step);
        let Some(top) = t.masks.last_mut() else { return null() };
        t.mask |= top.other & c;
        top.other &= !c;
        jump_if_empty(t, step)
    }
    /// `mask.break`
    Break(t, step) {
        leave(t, t.mask, Leave::Break);
        target(step)
    }
    /// `mask.break.if`
    BreakIf(t, step) {
        leave(t, t.mask & condition(t, step), Leave::Break);
        jump_if_empty(t, step)
    }
    /// `mask.continue`
    Continue(t, step) {
        leave(t, t.mask, Leave::Continue);
        target(step)
    }
    /// `mask.continue.if`
    ContinueIf(t, step) {
        leave(t, t.mask & condition(t, step), Leave::Continue);
        jump_if_empty(t, step)
    }
    /// `mask.return`
    Return(t, step) {
        leave(t, t.mask, Leave::Return);
        target(step)
    }
    /// `mask.return.if`
    ReturnIf(t, step) {
        leave(t, t.mask & condition(t, step), Leave::Return);
        jump_if_empty(t, step)
    }
    /// `everywhere`
    Everywhere(t, step) {
        t.masks.push(MaskEntry::new(EntryKind::Every, t.mask, 0));
        t.mask = t.full;
        step.add(1)
    }
    /// `each.begin`
    EachBegin(t, step) {
        t.masks.push(MaskEntry::new(EntryKind::Each, t.mask, t.mask));
        step.add(1)
    }
    /// `each.lane`
    EachLane(t, step) {
        let Some(lane) = next_turn(t) else { return target(step) };
        if !t.tick(step) {
            return null();
        }
        take_turn(t, 1 << lane, 0);
        t.mask = 1 << lane;
        put(t.reg((*step).d), lane as i32);
        step.add(1)
    }
    /// `each.all`
    EachAll(t, step) {
        let Some(lane) = next_turn(t) else { return target(step) };
        if !t.tick(step) {
            return null();
        }
        take_turn(t, 1 << lane, lane as u8 + 1);
        t.mask = t.full;
        put(t.reg((*step).d), lane as i32);
        step.add(1)
    }
}

/// The lowest lane that waits for its turn in the Each entry on top.
#[inline(always)]
fn next_turn(t: &mut Thread) -> Option<u32> {
    let waiting = t.masks.last()?.other;
    if waiting == 0 {
        t.mask = 0;
        return None;
    }
    Some(waiting.trailing_zeros())
}

#[inline(always)]
fn take_turn(t: &mut Thread, lanes: u64, visiting: u8) {
    if let Some(top) = t.masks.last_mut() {
        top.other &= !lanes;
        top.visiting = visiting;
    }
}

/// `each.unique` on values of type `T`.
pub(crate) struct EachUnique<T>(PhantomData<T>);

impl<T: Scalar> Kernel for EachUnique<T> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers.
        unsafe {
            let Some(lowest) = next_turn(t) else { return target(step) };
            if !t.tick(step) {
                return null();
            }
            let v = t.reg((*step).a);
            let value: T = super::lanes::lane(v, lowest as usize);
            let mut equal = 1u64 << lowest;
            for i in 0..(*step).blocks() {
                let block = map1(load::<T>(v, i), |x| sem::Bool::new(sem::eq(x, value)));
                equal |= (bits_of(block) as u64) << (i * BLOCK);
            }
            let lanes = equal & t.masks.last().map_or(0, |top| top.other);
            take_turn(t, lanes, 0);
            t.mask = lanes;
            put(t.reg((*step).d), value);
            step.add(1)
        }
    }
}

/// The next round of a loop: counts fuel and, in a `TRACED` program, the loop's rounds.
///
/// # Safety
/// `step` is a step with a label, in a traced program one whose `d` is a site.
#[inline(always)]
unsafe fn next_round<const TRACED: bool>(t: &mut Thread, step: *const Step) -> *const Step {
    if !t.tick(step) {
        return null();
    }
    // SAFETY: the caller's promise.
    unsafe {
        let head = target(step);
        if TRACED { native::count(t, head, (*step).d) } else { head }
    }
}

/// `loop.back`
pub(crate) struct LoopBack<const TRACED: bool>;
/// `jmp` forward.
pub(crate) struct Jump;
/// `jmp` backward.
pub(crate) struct JumpBack<const TRACED: bool>;
/// `br.true` and `br.false` (`WHEN`), forward.
pub(crate) struct Branch<const WHEN: bool>;
/// `br.true` and `br.false` (`WHEN`), backward.
pub(crate) struct BranchBack<const WHEN: bool, const TRACED: bool>;

impl<const TRACED: bool> Kernel for LoopBack<TRACED> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers.
        unsafe { if t.mask == 0 { step.add(1) } else { next_round::<TRACED>(t, step) } }
    }
}

impl Kernel for Jump {
    #[inline(always)]
    unsafe fn run(_: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers.
        unsafe { target(step) }
    }
}

impl<const TRACED: bool> Kernel for JumpBack<TRACED> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers.
        unsafe { next_round::<TRACED>(t, step) }
    }
}

impl<const WHEN: bool> Kernel for Branch<WHEN> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; source `a` is a uniform bool.
        unsafe { if get::<sem::Bool>(t.reg((*step).a)).get() == WHEN { target(step) } else { step.add(1) } }
    }
}

impl<const WHEN: bool, const TRACED: bool> Kernel for BranchBack<WHEN, TRACED> {
    #[inline(always)]
    unsafe fn run(t: &mut Thread, step: *const Step) -> *const Step {
        // SAFETY: the contract of handlers; source `a` is a uniform bool.
        unsafe {
            if get::<sem::Bool>(t.reg((*step).a)).get() == WHEN { next_round::<TRACED>(t, step) } else { step.add(1) }
        }
    }
}
