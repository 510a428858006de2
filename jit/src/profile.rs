//! What was seen of a program while it was interpreted: the ground on which dynamic variants are chosen.
//!
//! The interpreter keeps no profile as it goes. When a loop has become hot, it runs a few thousand instructions under
//! observation ([`Watcher`]): how often each instruction executes, how lanes were active at the ends of rounds, how the
//! addresses of active lanes lie, and whether what they load is the same in all of them.

use foldhash::HashMap;
use spmdvm_vm::isa::Op;
use spmdvm_vm::memory::region_of;
use spmdvm_vm::observe::{Observer, View};
use spmdvm_vm::program::{FuncId, Inst, Reg};
use spmdvm_vm::types::{Shape, Ty};

/// A program point: an instruction of a function.
pub type ProgramPoint = (FuncId, u32);

/// What was seen of one instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// How often it executed.
    pub times: u32,
    /// Of an access whose address may vary: how often all active lanes had one address.
    pub one_address: u32,
    /// How often the addresses were those of consecutive elements.
    pub consecutive: u32,
    /// How often they had some constant distance other than these.
    pub strided: u32,
    /// The last such distance, in units of the index.
    pub stride: i64,
    /// How often their pointers led to several memory regions.
    pub apart: u32,
    /// Of a load for every lane: how often all active lanes got the same.
    pub one_value: u32,
    /// Of a branch, or where lanes drop out of a loop or function: how often it went straight on, with all lanes.
    pub straight: u32,
    /// Of a jump back: how often one lane was active.
    pub one_lane: u32,
    /// The same of the first instruction of a function, and of one behind a call.
    pub alone: u32,
}

/// What is left of what was seen before, after each look: one of so many.
const FADES: u32 = 4;

/// What was seen of a program.
#[derive(Clone, Debug, Default)]
pub struct Profile(HashMap<ProgramPoint, Seen>);

impl Profile {
    /// What was seen of an instruction, if it executed under observation at all.
    pub fn of(&self, place: ProgramPoint) -> Option<&Seen> {
        self.0.get(&place)
    }

    /// All that was seen.
    pub fn iter(&self) -> impl Iterator<Item = (&ProgramPoint, &Seen)> {
        self.0.iter()
    }

    /// Forgets what was seen of an instruction for what is seen now.
    pub fn replace(&mut self, place: ProgramPoint, seen: Seen) {
        self.0.insert(place, seen);
    }

    /// Forgets that an instruction was seen at all. Returns whether it was.
    pub fn forget(&mut self, place: ProgramPoint) -> bool {
        self.0.remove(&place).is_some()
    }

    /// Adds what is seen now, and forgets most of what was seen of the same instructions before.
    pub fn fade_into(&mut self, now: &Profile) {
        for (place, seen) in now.iter() {
            let before = self.0.get(place).copied().unwrap_or_default();
            let sum = |of: fn(&Seen) -> u32| of(&before) / FADES + of(seen);
            let faded = Seen {
                times: sum(|s| s.times),
                one_address: sum(|s| s.one_address),
                consecutive: sum(|s| s.consecutive),
                strided: sum(|s| s.strided),
                stride: if seen.strided != 0 { seen.stride } else { before.stride },
                apart: sum(|s| s.apart),
                one_value: sum(|s| s.one_value),
                straight: sum(|s| s.straight),
                one_lane: sum(|s| s.one_lane),
                alone: sum(|s| s.alone),
            };
            self.0.insert(*place, faded);
        }
    }

    /// Adds what was seen at another time.
    pub fn add(&mut self, other: Profile) {
        for (place, seen) in other.0 {
            let sum = self.0.entry(place).or_default();
            sum.times = sum.times.saturating_add(seen.times);
            sum.one_address = sum.one_address.saturating_add(seen.one_address);
            sum.consecutive = sum.consecutive.saturating_add(seen.consecutive);
            sum.strided = sum.strided.saturating_add(seen.strided);
            sum.stride = if seen.strided != 0 { seen.stride } else { sum.stride };
            sum.apart = sum.apart.saturating_add(seen.apart);
            sum.one_value = sum.one_value.saturating_add(seen.one_value);
            sum.straight = sum.straight.saturating_add(seen.straight);
            sum.one_lane = sum.one_lane.saturating_add(seen.one_lane);
            sum.alone = sum.alone.saturating_add(seen.alone);
        }
    }
}

/// Adds what it sees to a profile.
pub struct Watcher<'a>(pub &'a mut Profile);

impl Observer for Watcher<'_> {
    fn before(&mut self, view: &View<'_>) {
        let seen = self.0.0.entry((view.function_id(), view.pc())).or_default();
        seen.times += 1;
        let one_lane = (view.mask().count_ones() == 1) as u32;
        let is_behind = |pc: u32| matches!(view.function().code[pc as usize].op, Op::Call | Op::CallInd);
        if view.pc().checked_sub(1).is_none_or(is_behind) {
            seen.alone += one_lane;
        }
        match view.inst().op {
            Op::Load | Op::Store => addresses(view, seen),
            Op::LoopBack => seen.one_lane += one_lane,
            _ => seen.straight += goes_straight_on(view) as u32,
        }
    }

    fn after(&mut self, view: &View<'_>) {
        let inst = view.inst();
        if matches!(inst.op, Op::Load | Op::LoadLane)
            && is_varying(view, inst.dst)
            && let Some(seen) = self.0.0.get_mut(&(view.function_id(), view.pc()))
        {
            let mut values = active(view).map(|lane| view.lane(inst.dst, lane));
            let first = values.next();
            seen.one_value += values.all(|v| Some(v) == first) as u32;
        }
    }
}

/// Returns whether the instruction is a branch that does not jump, or one by which lanes may drop out and none does.
fn goes_straight_on(view: &View<'_>) -> bool {
    let inst = view.inst();
    let holds = |lane: usize| view.lane(inst.src[0], lane) != 0;
    match inst.op {
        Op::BrTrue => !holds(0),
        Op::BrFalse => holds(0),
        Op::LoopTest => active(view).all(holds),
        Op::MaskBreakIf | Op::MaskContinueIf | Op::MaskReturnIf => !active(view).any(holds),
        _ => false,
    }
}

/// Notes how the addresses of the active lanes lie.
fn addresses(view: &View<'_>, seen: &mut Seen) {
    let inst = view.inst();
    if !is_varying(view, inst.src[0]) && !is_varying(view, inst.src[1]) {
        return;
    }
    let signed = |index: u64| if inst.from == Ty::I32 { index as i32 as i64 } else { index as i64 };
    let in_lane = |reg: Reg, lane: usize| if reg.is_none() { 0 } else { view.lane(reg, lane) };
    let base = |lane: usize| in_lane(inst.src[0], lane);
    let mut lanes = active(view);
    let (Some(a), Some(b)) = (lanes.next(), lanes.next()) else { return };
    if is_varying(view, inst.src[0]) && active(view).any(|lane| region_of(base(lane)) != region_of(base(a))) {
        seen.apart += 1;
        return;
    }
    let index = |lane: usize| signed(in_lane(inst.src[1], lane));
    let offset = |lane: usize| (base(lane) as i64).wrapping_add(index(lane).wrapping_mul(scale(inst)));
    let first = offset(a);
    let stride = offset(b).wrapping_sub(first) / (b - a) as i64;
    let expected = |lane: usize| first.wrapping_add(stride.wrapping_mul((lane - a) as i64));
    if offset(b) != expected(b) || !lanes.all(|lane| offset(lane) == expected(lane)) {
        return;
    }
    match stride {
        0 => seen.one_address += 1,
        s if s == inst.ty.size() as i64 => seen.consecutive += 1,
        s => {
            seen.strided += 1;
            seen.stride = s / scale(inst);
        }
    }
}

fn scale(inst: &Inst) -> i64 {
    if inst.src[1].is_none() { 1 } else { inst.aux.max(1) as i64 }
}

fn is_varying(view: &View<'_>, reg: Reg) -> bool {
    !reg.is_none() && view.function().reg(reg).shape == Shape::Varying
}

/// The active lanes.
fn active(view: &View<'_>) -> impl Iterator<Item = usize> {
    let mask = view.mask();
    (0..view.lanes()).filter(move |lane| mask >> lane & 1 != 0)
}
