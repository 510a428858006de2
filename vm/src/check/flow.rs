//! How poison goes through instructions, and which uses of it show.

use super::finding::{Finding, FindingKind, Related, lanes_text, list_text, numbers, site};
use super::shadow::{Origin, OriginId, Shadow};
use super::{Checker, frame_at};
use crate::interp::MAX_LANES;
use crate::isa::{Form, Op};
use crate::observe::View;
use crate::program::{Inst, Reg};
use crate::types::{Shape, Ty};

impl Checker {
    /// What an instruction other than calls and accesses does.
    pub(super) fn flow(&mut self, view: &View<'_>, inst: &Inst) {
        let mask = view.mask();
        let [a, b, c] = inst.src;
        match inst.op {
            Op::Assign => {
                let shadow = self.shadow(a).blend(self.shadow(inst.dst), mask);
                self.set(inst.dst, shadow);
            }
            Op::Select => self.select(view, inst),
            Op::And | Op::Or if inst.ty == Ty::Bool => self.junction(view, inst),
            Op::IDiv | Op::IRem => {
                self.use_register(view, b, mask, "as a divisor");
                let operands = self.shadow(a).join(self.shadow(b), mask);
                self.set_masked(view, inst.dst, operands);
            }
            Op::Shuffle => self.shuffle(view, inst),
            Op::Extract => self.extract(view, inst),
            Op::Insert => self.insert(view, inst),
            Op::MaskGet => self.set(inst.dst, Shadow { fills_inactive: true, ..Shadow::CLEAN }),
            Op::PackMask | Op::Any | Op::All => self.reduce(inst, mask),
            _ if inst.op.info().form == Form::Reduce => self.reduce(inst, mask),
            Op::MemCopy => self.copy(view, inst),
            Op::MemSet => self.fill(view, inst),
            Op::Alloc => {
                self.use_register(view, a, mask, "as a size");
                self.set(inst.dst, Shadow::CLEAN);
            }
            Op::Free => self.free(view, inst),
            Op::Print => {
                let args = view.function().list(inst.args).to_vec();
                args.iter().for_each(|&r| self.use_register(view, r, mask, "in a print"));
            }
            Op::HostCall => {
                let function = view.function();
                function.list(inst.args).iter().for_each(|&r| self.use_register(view, r, mask, "by the host"));
                function.list(inst.rets).iter().for_each(|&r| self.set_masked(view, r, Shadow::CLEAN));
            }
            Op::Assert => self.use_register(view, a, mask, "in an assertion"),
            Op::BrTrue | Op::BrFalse => {
                self.use_register(view, a, mask, "in a condition");
                self.branch_on(view, a);
            }
            Op::MaskIf | Op::LoopTest | Op::MaskBreakIf | Op::MaskContinueIf | Op::MaskReturnIf => {
                self.use_register(view, a, mask, "in a condition");
            }
            Op::SwitchCase => self.use_register(view, a, view.waiting(), "in a condition"),
            Op::EachUnique => {
                self.use_register(view, a, view.waiting(), "as the value of `foreach_unique`");
                self.set(inst.dst, Shadow::CLEAN);
            }
            op if is_atomic(op) => self.atomic(view, inst),
            _ if inst.dst.is_none() => {}
            _ => {
                let mut shadow = Shadow::CLEAN;
                for r in [a, b, c].into_iter().filter(|r| !r.is_none()) {
                    shadow = shadow.join(self.shadow(r), mask);
                }
                self.set(inst.dst, shadow);
            }
        }
    }

    /// The whole gang goes where a register says.
    pub(super) fn branch_on(&mut self, view: &View<'_>, r: Reg) {
        let race = self.shadow(r).race;
        let Origin::Race(read) = &self.origins[race.0 as usize] else { return };
        let (read, stack) = (read.to_vec(), self.stack(view));
        let (ty, value) = (view.function().reg(r).ty, view.lane(r, 0));
        let kind = FindingKind::RacyBranch;
        self.found.report(view, kind, || Finding {
            kind,
            message: "where all lanes go depends on memory for which tasks race".into(),
            lanes: Vec::new(),
            values: vec![value],
            ty,
            stack,
            related: Some(Related { message: "it was read here".into(), stack: read }),
            times: 1,
        });
    }

    /// Sets the result of an instruction that gives zero in lanes that are not active.
    pub(super) fn set_masked(&mut self, view: &View<'_>, dst: Reg, mut shadow: Shadow) {
        let off = view.thread.full & !view.mask();
        if view.function().reg(dst).shape == Shape::Varying && off != 0 {
            let masked = self.masked(view);
            shadow.poison = shadow.poison & view.mask() | off;
            if shadow.poison & view.mask() == 0 {
                shadow.origin = masked;
            }
            // What a program fills for inactive lanes, it fills behind this.
            shadow.fills_inactive = false;
        }
        self.set(dst, shadow);
    }

    fn select(&mut self, view: &View<'_>, inst: &Inst) {
        let [c, a, b] = inst.src.map(|r| self.shadow(r));
        let mask = view.mask();
        if (a.poison | b.poison | c.poison) == 0 {
            let fills_inactive = a.fills_inactive | b.fills_inactive | c.fills_inactive;
            let race = a.race.or(b.race).or(c.race);
            return self.set(inst.dst, Shadow { fills_inactive, race, ..Shadow::CLEAN });
        }
        let chosen = view.bools(inst.src[0]);
        let mut shadow = a.blend(b, chosen);
        if shadow.poison & mask != 0 {
            shadow.origin = if a.poison & chosen & mask != 0 { a.origin } else { b.origin };
        }
        shadow = c.join(shadow, mask);
        shadow.fills_inactive |= b.fills_inactive | a.fills_inactive;
        self.set(inst.dst, shadow);
    }

    /// `and` and `or` of bools: an operand that decides alone makes the other one irrelevant.
    fn junction(&mut self, view: &View<'_>, inst: &Inst) {
        let [a, b] = [inst.src[0], inst.src[1]];
        let (x, y) = (self.shadow(a), self.shadow(b));
        let mut shadow = x.join(y, view.mask());
        if shadow.poison != 0 {
            let decides = |r: Reg| if inst.op == Op::And { !view.bools(r) } else { view.bools(r) };
            shadow.poison &= !(decides(a) & !x.poison) & !(decides(b) & !y.poison);
        }
        self.set(inst.dst, shadow);
    }

    /// One value of all active lanes.
    fn reduce(&mut self, inst: &Inst, mask: u64) {
        let v = self.shadow(inst.src[0]);
        let poison = if v.poison & mask != 0 { u64::MAX } else { 0 };
        self.set(inst.dst, Shadow { poison, fills_inactive: false, ..v });
    }

    fn shuffle(&mut self, view: &View<'_>, inst: &Inst) {
        let mask = view.mask();
        self.use_register(view, inst.src[1], mask, "as the number of a lane");
        let v = self.shadow(inst.src[0]);
        if v.poison == 0 && mask == view.thread.full {
            return self.set(inst.dst, v);
        }
        let mut sources = [0; MAX_LANES];
        view.integers(inst.src[1], &mut sources);
        let source = |l: usize| sources[l].rem_euclid(view.lanes() as i64) as usize;
        let gather = |bits: u64| (0..view.lanes()).fold(0, |sum, l| sum | (bits >> source(l) & 1) << l);
        let from_inactive = if v.fills_inactive { 0 } else { gather(!mask) & mask };
        let mut shadow = Shadow { poison: gather(v.poison), ..v };
        if from_inactive != 0 {
            let readers = numbers(from_inactive);
            let read: Vec<u64> = readers.iter().map(|&l| source(l as usize) as u64).collect();
            shadow.poison |= from_inactive;
            shadow.origin = self.lane_read(view, readers, read);
        }
        self.set(inst.dst, shadow);
    }

    fn extract(&mut self, view: &View<'_>, inst: &Inst) {
        self.use_register(view, inst.src[1], view.mask(), "as the number of a lane");
        let v = self.shadow(inst.src[0]);
        let mut index = [0; MAX_LANES];
        view.integers(inst.src[1], &mut index);
        let lane = index[0].rem_euclid(view.lanes() as i64) as usize;
        let mut shadow = Shadow { poison: if v.poison >> lane & 1 == 1 { u64::MAX } else { 0 }, ..v };
        if view.mask() >> lane & 1 == 0 && !v.fills_inactive {
            let readers = numbers(view.mask());
            let read = vec![lane as u64; readers.len()];
            let origin = self.lane_read(view, readers, read);
            shadow = Shadow { poison: u64::MAX, origin, fills_inactive: false, race: v.race };
        }
        self.set(inst.dst, shadow);
    }

    fn insert(&mut self, view: &View<'_>, inst: &Inst) {
        self.use_register(view, inst.src[1], view.mask(), "as the number of a lane");
        let mut index = [0; MAX_LANES];
        view.integers(inst.src[1], &mut index);
        let lane = 1 << index[0].rem_euclid(view.lanes() as i64);
        let shadow = self.shadow(inst.src[2]).blend(self.shadow(inst.src[0]), lane);
        self.set(inst.dst, shadow);
    }

    /// A read of lanes that are not active: the origin of what it gives. It becomes a finding when that is used.
    fn lane_read(&mut self, view: &View<'_>, readers: Vec<u32>, read: Vec<u64>) -> OriginId {
        let site = site(view);
        if let Some(&at) = self.lane_read_ids.get(&site) {
            let waiting = &mut self.lane_reads[at];
            (waiting.1.lanes, waiting.1.values) = (readers, read);
            return OriginId(waiting.0 as u32);
        }
        let at = self.lane_reads.len();
        let origin = self.new_origin(Origin::LaneRead(at));
        let finding = Finding {
            kind: FindingKind::InactiveLane,
            message: String::new(),
            lanes: readers,
            values: read,
            ty: Ty::I32,
            stack: self.stack(view),
            related: None,
            times: 1,
        };
        self.lane_read_ids.insert(site, at);
        self.lane_reads.push((origin.0 as u64, finding));
        origin
    }

    /// A use that shows: if one of these lanes of the register is poisoned, that is a finding.
    #[inline]
    pub(super) fn use_register(&mut self, view: &View<'_>, r: Reg, lanes: u64, how: &str) {
        let shadow = self.shadow(r);
        let poisoned = shadow.poison & lanes;
        if poisoned != 0 {
            let varying = view.function().reg(r).shape == Shape::Varying;
            let lanes = if varying { numbers(poisoned & view.thread.full) } else { Vec::new() };
            let values = match lanes[..] {
                [] => vec![view.lane(r, 0)],
                _ => lanes.iter().map(|&l| view.lane(r, l as usize)).collect(),
            };
            self.report_use(view, shadow.origin, how, Used { lanes, values, ty: view.function().reg(r).ty });
        }
    }

    /// Reports a use of poison.
    pub(super) fn report_use(&mut self, view: &View<'_>, origin: OriginId, how: &str, used: Used) {
        let stack = self.stack(view);
        let program = view.program();
        let Used { lanes, values, ty } = used;
        let who = if lanes.is_empty() { String::new() } else { format!(" ({})", lanes_text(&lanes)) };
        match &self.origins[origin.0 as usize] {
            Origin::Variable(name) => self.found.report(view, FindingKind::Uninitialised, || {
                let message = format!("`{name}` is used {how} before anything was stored in it{who}");
                Finding { kind: FindingKind::Uninitialised, message, lanes, values, ty, stack, related: None, times: 1 }
            }),
            Origin::Allocation(place) => self.found.report(view, FindingKind::Uninitialised, || {
                let message = format!("allocated memory is used {how} before anything was stored in it{who}");
                let related = Some(Related { message: "it was allocated here".into(), stack: place.to_vec() });
                Finding { kind: FindingKind::Uninitialised, message, lanes, values, ty, stack, related, times: 1 }
            }),
            Origin::Masked(function, pc) => self.found.report(view, FindingKind::StaleLane, || {
                let message =
                    format!("a value is used {how} that was made while the lane was not active, so it is zero{who}");
                let made = vec![frame_at(program, *function, *pc, None)];
                let related = Some(Related { message: "it was made here".into(), stack: made });
                Finding { kind: FindingKind::StaleLane, message, lanes, values, ty, stack, related, times: 1 }
            }),
            // It is no poison.
            Origin::Race(_) => {}
            Origin::LaneRead(at) => {
                let Some((_, finding)) = self.lane_reads.get(*at) else { return };
                if !self.found.checks.has(FindingKind::InactiveLane) {
                    return;
                }
                let related = Some(Related { message: format!("the value is used {how} here"), stack });
                self.found.add(FindingKind::InactiveLane, origin.0 as u64, || {
                    let mut finding = Finding { related, ..finding.clone() };
                    keep_lanes(&mut finding, &lanes);
                    let mut read = finding.values.clone();
                    read.dedup();
                    let (verb, are) = (
                        if finding.lanes.len() == 1 { "reads" } else { "read" },
                        if read.len() == 1 { "is" } else { "are" },
                    );
                    let lanes_read = if read.len() == 1 { "lane" } else { "lanes" };
                    let who = lanes_text(&finding.lanes);
                    finding.message = format!("{who} {verb} {lanes_read} {}, which {are} not active", list_text(&read));
                    finding
                });
            }
        }
    }
}

/// Of a read of inactive lanes: only the readers that used what they read, if these are the lanes that read.
fn keep_lanes(finding: &mut Finding, used: &[u32]) {
    let kept: Vec<(u32, u64)> =
        finding.lanes.iter().copied().zip(finding.values.iter().copied()).filter(|(l, _)| used.contains(l)).collect();
    if !kept.is_empty() {
        (finding.lanes, finding.values) = kept.into_iter().unzip();
    }
}

/// The lanes in which poison is used, with what they hold.
pub(super) struct Used {
    pub lanes: Vec<u32>,
    pub values: Vec<u64>,
    pub ty: Ty,
}

/// Returns whether the operation reads and writes memory at once.
pub(super) fn is_atomic(op: Op) -> bool {
    (Op::AtomicAdd as u8..=Op::AtomicCas as u8).contains(&(op as u8))
}
