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
    /// Of a jump back: how often one lane was active.
    pub one_lane: u32,
}

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
            sum.one_lane = sum.one_lane.saturating_add(seen.one_lane);
        }
    }
}

/// Adds what it sees to a profile.
pub struct Watcher<'a>(pub &'a mut Profile);

impl Observer for Watcher<'_> {
    fn before(&mut self, view: &View<'_>) {
        let seen = self.0.0.entry((view.function_id(), view.pc())).or_default();
        seen.times += 1;
        match view.inst().op {
            Op::Load | Op::Store => addresses(view, seen),
            Op::LoopBack => seen.one_lane += (view.mask().count_ones() == 1) as u32,
            _ => {}
        }
    }

    fn after(&mut self, view: &View<'_>) {
        let inst = view.inst();
        if matches!(inst.op, Op::Load | Op::LoadLane)
            && is_varying(view, inst.dst)
            && let Some(seen) = self.0.0.get_mut(&(view.function_id(), view.pc()))
        {
            let mut values = active(view, inst.dst);
            let first = values.next();
            seen.one_value += values.all(|v| Some(v.1) == first.map(|f| f.1)) as u32;
        }
    }
}

/// Notes how the addresses of the active lanes lie.
fn addresses(view: &View<'_>, seen: &mut Seen) {
    let inst = view.inst();
    if !is_varying(view, inst.src[0]) && !is_varying(view, inst.src[1]) {
        return;
    }
    let signed = |index: u64| if inst.from == Ty::I32 { index as i32 as i64 } else { index as i64 };
    let lanes = active(view, inst.src[1]).zip(active(view, inst.src[0]));
    let lanes: Vec<_> = lanes.map(|((l, index), (_, base))| (l as i64, signed(index), base as i64)).collect();
    let &[a, b, ref rest @ ..] = &lanes[..] else { return };
    if lanes.iter().any(|x| region_of(x.2 as u64) != region_of(a.2 as u64)) {
        seen.apart += 1;
        return;
    }
    let offset = |(_, index, base): (i64, i64, i64)| base.wrapping_add(index.wrapping_mul(scale(inst)));
    let stride = offset(b).wrapping_sub(offset(a)) / (b.0 - a.0);
    let expected = |lane: i64| offset(a).wrapping_add(stride.wrapping_mul(lane - a.0));
    if offset(b) != expected(b.0) || !rest.iter().all(|&x| offset(x) == expected(x.0)) {
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

/// The active lanes and what they hold in a register (nothing counts as 0), as words.
fn active(view: &View<'_>, reg: Reg) -> impl Iterator<Item = (usize, u64)> {
    let (mask, n) = (view.mask(), view.lanes());
    let words = if reg.is_none() { vec![0] } else { view.register(reg).words };
    let words: Vec<u64> = (0..n).map(|l| words[l.min(words.len() - 1)]).collect();
    (0..n).filter(move |l| mask >> l & 1 != 0).map(move |l| (l, words[l]))
}
