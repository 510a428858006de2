//! Accesses to memory: bounds for all lanes, stores that conflict, poison, races; allocating and freeing.

use super::finding::{Finding, FindingKind, Related, lanes_text, list_text, numbers, site};
use super::races::{Access as RaceAccess, How};
use super::shadow::{Origin, OriginId, Shadow};
use super::{Checker, frame_at};
use crate::accesses::{Touched, range_sizes};
use crate::interp::MAX_LANES;
use crate::interp::lanes::lanes_of;
use crate::interp::locations::Reached;
use crate::isa::Op;
use crate::memory::offset_of;
use crate::observe::View;
use crate::program::{Inst, Reg};
use crate::trap::{Access, RegionKind, TrapDetail, TrapFrame, TrapKind};
use crate::types::{Shape, Ty};
use std::sync::Arc;

impl Checker {
    /// A load or store.
    pub(super) fn access(&mut self, view: &View<'_>, inst: &Inst) {
        let mask = view.mask();
        for &r in inst.src[..2].iter().filter(|r| !r.is_none()) {
            self.use_register(view, r, mask, "in an address");
        }
        let touched = Touched::of_operand(view, inst);
        let stores = matches!(inst.op, Op::Store | Op::StoreLane);
        let access = if stores { Access::Write } else { Access::Read };
        if !self.in_bounds(view, &touched, access) {
            return;
        }
        let race = self.note_accesses(view, &touched, if stores { How::Write } else { How::Read }, inst.src[2]);
        if stores {
            self.store(view, inst, &touched);
        } else {
            let loaded = self.loaded(&touched);
            self.set_masked(view, inst.dst, Shadow { race: race.or(loaded.race), ..loaded });
        }
    }

    /// The poison of what is loaded.
    fn loaded(&self, touched: &Touched) -> Shadow {
        let mut shadow = Shadow::CLEAN;
        for l in lanes_of(touched.lanes) {
            let origin = self.memory.origin(touched.region(l), touched.offset[l] as u64, touched.size);
            if origin != OriginId::NONE {
                shadow.origin = origin;
                shadow.poison |= if touched.is_uniform { u64::MAX } else { 1 << l };
            }
            shadow.race = shadow.race.or(self.raced.origin(touched.region(l), touched.offset[l] as u64, touched.size));
        }
        shadow
    }

    fn store(&mut self, view: &View<'_>, inst: &Inst, touched: &Touched) {
        let value = inst.src[2];
        let varies = view.function().reg(value).shape == Shape::Varying;
        self.stores_agree(view, value, varies, touched);
        self.unmasked_store(view, touched);
        let shadow = self.shadow(value);
        // One place takes the value of the highest lane.
        let of = |l: usize| if touched.is_uniform && varies { 63 - view.mask().leading_zeros() as usize } else { l };
        let poisoned: u64 =
            lanes_of(touched.lanes).filter(|&l| shadow.poison >> of(l) & 1 == 1).fold(0, |m, l| m | 1 << l);
        let shows = poisoned != 0
            && lanes_of(poisoned).any(|l| view.thread.memory.kind(touched.base[l] as u64) == Some(RegionKind::Host));
        if shows {
            self.use_register(view, value, lanes_of(poisoned).fold(0, |m, l| m | 1 << of(l)), "in what the host gets");
        }
        for l in lanes_of(touched.lanes) {
            let origin = if poisoned >> l & 1 == 1 && !shows { shadow.origin } else { OriginId::NONE };
            self.memory.set(touched.region(l), touched.offset[l] as u64, touched.size, origin);
            self.raced.set(touched.region(l), touched.offset[l] as u64, touched.size, shadow.race);
        }
    }

    /// Reports lanes that store different values to the same memory.
    fn stores_agree(&mut self, view: &View<'_>, value: Reg, varies: bool, touched: &Touched) {
        // Lanes that store one value agree.
        if !varies {
            return;
        }
        let lanes: Vec<usize> = lanes_of(if touched.is_uniform { view.mask() } else { touched.lanes }).collect();
        let place = |l: usize| if touched.is_uniform { (0, 0) } else { (touched.region(l), touched.offset[l]) };
        let size = touched.size as i64;
        let apart = |&[a, b]: &[usize; 2]| {
            let (a, b) = (place(a), place(b));
            a.0 < b.0 || a.0 == b.0 && a.1 + size <= b.1
        };
        if lanes.windows(2).all(|pair| apart(&[pair[0], pair[1]])) {
            return;
        }
        let mut sorted: Vec<usize> = lanes;
        sorted.sort_by_key(|&l| place(l));
        let mut conflict = 0u64;
        for pair in sorted.windows(2).filter(|pair| !apart(&[pair[0], pair[1]])) {
            let same_place = place(pair[0]) == place(pair[1]);
            if !same_place || view.lane(value, pair[0]) != view.lane(value, pair[1]) {
                conflict |= 1 << pair[0] | 1 << pair[1];
            }
        }
        if conflict == 0 {
            return;
        }
        let stack = self.stack(view);
        self.found.report(view, FindingKind::ConflictingStores, || {
            let lanes = numbers(conflict);
            let values = lanes.iter().map(|&l| view.lane(value, l as usize)).collect();
            let message = format!("{} store different values to one address", lanes_text(&lanes));
            let ty = view.function().reg(value).ty;
            Finding { kind: FindingKind::ConflictingStores, message, lanes, values, ty, stack, related: None, times: 1 }
        });
    }

    /// Reports lanes that were not active outside `unmasked` and store in it.
    fn unmasked_store(&mut self, view: &View<'_>, touched: &Touched) {
        if !self.found.checks.has(FindingKind::UnmaskedStore) || touched.is_uniform {
            return;
        }
        let extra = touched.lanes & !view.active_outside_unmasked();
        let shared =
            lanes_of(extra).any(|l| view.thread.memory.kind(touched.base[l] as u64) != Some(RegionKind::Frame));
        if extra == 0 || !shared {
            return;
        }
        let stack = self.stack(view);
        self.found.report(view, FindingKind::UnmaskedStore, || {
            let lanes = numbers(extra);
            let message = format!("{} store inside `unmasked`, but were not active outside", lanes_text(&lanes));
            let (kind, values) = (FindingKind::UnmaskedStore, Vec::new());
            Finding { kind, message, lanes, values, ty: Ty::U64, stack, related: None, times: 1 }
        });
    }

    /// Returns whether all lanes may access what they access; if not, those that may not are a finding.
    fn in_bounds(&mut self, view: &View<'_>, touched: &Touched, access: Access) -> bool {
        let memory = &view.thread.memory;
        let mut known = (u32::MAX, 0u64);
        let mut bad = 0u64;
        for l in lanes_of(touched.lanes) {
            let number = touched.region(l);
            if number != known.0 {
                known = (number, memory.region(touched.base[l] as u64, access).1);
            }
            let end = touched.offset[l].checked_add(touched.size as i64);
            if touched.offset[l] < 0 || end.is_none_or(|end| end as u64 > known.1) {
                bad |= 1 << l;
            }
        }
        if bad != 0 {
            self.out_of_bounds(view, touched, access, bad);
        }
        bad == 0
    }

    fn out_of_bounds(&mut self, view: &View<'_>, touched: &Touched, access: Access, bad: u64) {
        let fault = |l: usize| {
            let (base, offset) = (touched.base[l] as u64, touched.offset[l] as i128);
            let (kind, detail) = view.thread.memory.fault(base, offset, touched.size, access);
            let index = touched.index.as_ref().map(|(index, scale)| (index[l] as i128, *scale));
            (kind, view.thread.in_source_terms(view.step(), &Reached { base, offset, index }, detail))
        };
        let faults: Vec<(usize, (TrapKind, TrapDetail))> = lanes_of(bad).map(|l| (l, fault(l))).collect();
        let Some((lowest, (first, detail))) = faults.first() else { return };
        let alike: Vec<_> = faults.iter().filter(|(_, (kind, _))| kind == first).collect();
        let lanes = named(touched, alike.iter().fold(0, |mask, (l, _)| mask | 1 << l));
        let who = if lanes.is_empty() { String::new() } else { format!(" ({})", lanes_text(&lanes)) };
        let stack = self.stack(view);
        let region = touched.region(*lowest);
        let (kind, message, values, related) = match first {
            TrapKind::OutOfBounds => {
                let index =
                    |detail: &TrapDetail| if let TrapDetail::Access { index, .. } = detail { *index } else { 0 };
                let values: Vec<i64> = alike.iter().map(|(_, (_, detail))| index(detail)).collect();
                let values = if lanes.is_empty() { values[..1].to_vec() } else { values };
                let message = bounds_message(detail, &values) + &who;
                (FindingKind::OutOfBounds, message, values.iter().map(|&i| i as u64).collect(), None)
            }
            TrapKind::NullPointer => {
                (FindingKind::NullPointer, format!("access through a null pointer{who}"), Vec::new(), None)
            }
            TrapKind::BadPointer => {
                let freed = self
                    .freed
                    .get(&region)
                    .map(|stack| Related { message: "it was freed here".into(), stack: stack.to_vec() });
                let what = if freed.is_some() { "memory that has been freed" } else { "memory that is gone" };
                (FindingKind::UseAfterFree, format!("access to {what}{who}"), Vec::new(), freed)
            }
            // The trap says all there is to say.
            _ => return,
        };
        let ty = Ty::I64;
        self.found.report(view, kind, || Finding { kind, message, lanes, values, ty, stack, related, times: 1 });
    }

    /// Takes note of accesses, and reports those that race with others. A store of what is there already (`value` tells what is
    /// stored, if it is known) makes no difference, so it does not. Gives the origin of what is read, if that races.
    fn note_accesses(&mut self, view: &View<'_>, touched: &Touched, how: How, value: Reg) -> OriginId {
        let kinds = [FindingKind::Race, FindingKind::RacyRead, FindingKind::RacyBranch];
        let looks = kinds.into_iter().any(|kind| self.found.checks.has(kind));
        if !looks || !self.races.are_possible() {
            return OriginId::NONE;
        }
        let task = self.task().id;
        let access = RaceAccess { task, function: view.function_id(), pc: view.pc() };
        let access = self.races.access(access, || view.callers());
        let mut racing = 0u64;
        let mut other = None;
        for l in lanes_of(touched.lanes) {
            let race = self.races.note(touched.region(l), touched.offset[l] as u64, touched.size, how, access);
            if let Some(race) = race.filter(|_| how != How::Write || !is_there(view, touched, l, value)) {
                racing |= 1 << l;
                other = other.or(Some(race));
            }
        }
        let Some((other, other_how, _)) = other else { return OriginId::NONE };
        let stack = self.stack(view);
        let name = |how: How| match how {
            How::Read => "reads",
            How::Write => "writes",
            How::Atomic => "accesses atomically",
        };
        let is_read = matches!((how, other_how), (How::Read, How::Atomic) | (How::Atomic, How::Read));
        let kind = if is_read { FindingKind::RacyRead } else { FindingKind::Race };
        let (own, first) = (self.task_name(view, task), self.task_name(view, other.task));
        let message =
            format!("{own} {} memory that {first} {}, and nothing orders the two", name(how), name(other_how));
        let index = self.begun[other.task as usize].1;
        let calls = self.races.calls(other);
        let mut there = vec![frame_at(view.program(), other.function, other.pc, None)];
        there.extend(calls.iter().map(|&(function, pc)| frame_at(view.program(), function, pc, None)));
        if let Some(outermost) = there.last_mut() {
            outermost.task = index;
        }
        let lanes = named(touched, racing);
        self.found.report(view, kind, || Finding {
            kind,
            message,
            lanes,
            values: Vec::new(),
            ty: Ty::U64,
            stack,
            related: Some(Related { message: "the other access".into(), stack: there }),
            times: 1,
        });
        // What is read beside atomic accesses is often meant to depend on the threads.
        if how == How::Write || is_read { OriginId::NONE } else { self.race_read(view) }
    }

    /// The origin of what a read that races gives.
    fn race_read(&mut self, view: &View<'_>) -> OriginId {
        let site = site(view);
        if let Some(&known) = self.race_reads.get(&site) {
            return known;
        }
        let stack: Arc<[TrapFrame]> = self.stack(view).into();
        let origin = self.new_origin(Origin::Race(stack));
        self.race_reads.insert(site, origin);
        origin
    }

    pub(super) fn atomic(&mut self, view: &View<'_>, inst: &Inst) {
        let mask = view.mask();
        self.use_register(view, inst.src[0], mask, "in an address");
        let touched = Touched::of_atomic(view, inst);
        if !self.in_bounds(view, &touched, Access::Write) {
            return;
        }
        let race = self.note_accesses(view, &touched, How::Atomic, Reg::NONE);
        for &r in inst.src[1..].iter().filter(|r| !r.is_none()) {
            self.use_register(view, r, mask, "in an atomic operation");
        }
        let loaded = self.loaded(&touched);
        self.set_masked(view, inst.dst, Shadow { race: race.or(loaded.race), ..loaded });
        if matches!(inst.op, Op::AtomicSwap) {
            for l in lanes_of(touched.lanes) {
                self.memory.set(touched.region(l), touched.offset[l] as u64, touched.size, OriginId::NONE);
            }
        }
    }

    /// `mem.copy`
    pub(super) fn copy(&mut self, view: &View<'_>, inst: &Inst) {
        self.use_operands(view, inst);
        let (to, from) = (Touched::of_work(view, inst, inst.src[0]), Touched::of_work(view, inst, inst.src[1]));
        let Some(sizes) = self.ranges(view, inst, &[(&to, Access::Write), (&from, Access::Read)]) else { return };
        for l in lanes_of(to.lanes).filter(|&l| sizes[l] != 0) {
            let source = (from.region(l), from.offset[l] as u64);
            self.memory.copy((to.region(l), to.offset[l] as u64), source, sizes[l]);
            self.raced.copy((to.region(l), to.offset[l] as u64), source, sizes[l]);
        }
    }

    /// `mem.set`
    pub(super) fn fill(&mut self, view: &View<'_>, inst: &Inst) {
        let value = self.shadow(inst.src[1]);
        for r in [inst.src[0], inst.src[2]] {
            self.use_register(view, r, view.mask(), "in the place of a fill");
        }
        let to = Touched::of_work(view, inst, inst.src[0]);
        let Some(sizes) = self.ranges(view, inst, &[(&to, Access::Write)]) else { return };
        for l in lanes_of(to.lanes).filter(|&l| sizes[l] != 0) {
            let origin = if value.poison >> l & 1 == 1 { value.origin } else { OriginId::NONE };
            self.memory.set(to.region(l), to.offset[l] as u64, sizes[l], origin);
            self.raced.set(to.region(l), to.offset[l] as u64, sizes[l], value.race);
        }
    }

    fn use_operands(&mut self, view: &View<'_>, inst: &Inst) {
        for &r in inst.src.iter().filter(|r| !r.is_none()) {
            self.use_register(view, r, view.mask(), "in the place of a copy");
        }
    }

    /// The bytes that each lane copies or fills (source 2), if all of them may be accessed.
    fn ranges(&mut self, view: &View<'_>, inst: &Inst, ends: &[(&Touched, Access)]) -> Option<[u64; MAX_LANES]> {
        let sizes = range_sizes(view, inst);
        for &(touched, access) in ends {
            for l in lanes_of(touched.lanes).filter(|&l| sizes[l] != 0) {
                let one = Touched { lanes: 1 << l, size: sizes[l], index: None, ..*touched };
                if !self.range_in_bounds(view, &one, l, access) {
                    return None;
                }
                let how = if access == Access::Write { How::Write } else { How::Read };
                self.note_accesses(view, &one, how, Reg::NONE);
            }
        }
        Some(sizes)
    }

    /// As [`in_bounds`](Self::in_bounds) for a range, of which the first byte outside is told.
    fn range_in_bounds(&mut self, view: &View<'_>, range: &Touched, l: usize, access: Access) -> bool {
        let len = view.thread.memory.region(range.base[l] as u64, access).1;
        let (start, end) = (range.offset[l], range.offset[l].saturating_add(range.size as i64));
        if start >= 0 && end as u64 <= len {
            return true;
        }
        let mut byte = Touched { size: 1, index: None, ..*range };
        if start >= 0 && start as u64 <= len {
            byte.offset[l] = len as i64;
        }
        self.out_of_bounds(view, &byte, access, 1 << l);
        false
    }

    /// `alloc`, when it has been done.
    pub(super) fn allocated(&mut self, view: &View<'_>) {
        let inst = *view.inst();
        let made = Touched::of_work(view, &inst, inst.dst);
        let (place, origin) = self.place(view);
        for l in lanes_of(made.lanes) {
            self.memory.poison_region(made.region(l), origin);
            self.allocated.insert(made.region(l), Arc::clone(&place));
            self.freed.remove(&made.region(l));
        }
        if !made.is_uniform {
            self.set_masked(view, inst.dst, Shadow::CLEAN);
        }
    }

    pub(super) fn free(&mut self, view: &View<'_>, inst: &Inst) {
        self.use_register(view, inst.src[0], view.mask(), "as what is freed");
        let freed = Touched::of_work(view, inst, inst.src[0]);
        let (place, _) = self.place(view);
        let mut twice = 0;
        let mut before: Option<Arc<[TrapFrame]>> = None;
        for l in lanes_of(freed.lanes).filter(|&l| freed.base[l] != 0) {
            let number = freed.region(l);
            match self.freed.get(&number) {
                Some(first) => {
                    twice |= 1 << l;
                    before = before.or_else(|| Some(Arc::clone(first)));
                }
                None => {
                    self.memory.forget(number);
                    self.raced.forget(number);
                    self.races.forget(number);
                    self.allocated.remove(&number);
                    self.freed.insert(number, Arc::clone(&place));
                }
            }
        }
        let Some(first) = before else { return };
        let lanes = named(&freed, twice);
        let who = if lanes.is_empty() { String::new() } else { format!(" ({})", lanes_text(&lanes)) };
        self.found.report(view, FindingKind::UseAfterFree, || Finding {
            kind: FindingKind::UseAfterFree,
            message: format!("memory is freed that has been freed before{who}"),
            lanes,
            values: Vec::new(),
            ty: Ty::U64,
            stack: place.to_vec(),
            related: Some(Related { message: "it was freed here first".into(), stack: first.to_vec() }),
            times: 1,
        });
    }
}

/// Returns whether a lane is about to store what is there already.
fn is_there(view: &View<'_>, touched: &Touched, l: usize, value: Reg) -> bool {
    let varies = !value.is_none() && view.function().reg(value).shape == Shape::Varying;
    if value.is_none() || touched.is_uniform && varies {
        return false;
    }
    let pointer = crate::sem::padd(touched.base[l] as u64, touched.offset[l] - offset_of(touched.base[l] as u64));
    let mut bytes = [0; 8];
    let bytes = &mut bytes[..touched.size as usize];
    view.thread.memory.read_bytes(pointer, bytes) && *bytes == view.lane(value, l).to_ne_bytes()[..bytes.len()]
}

/// What is out of bounds, with the indices of all lanes.
fn bounds_message(detail: &TrapDetail, indices: &[i64]) -> String {
    let TrapDetail::Access { access, len, region, name, .. } = detail else { return "index out of bounds".into() };
    let verb = if *access == Access::Read { "read of" } else { "write to" };
    let what = match (name, region) {
        (Some(name), _) => format!("`{name}`"),
        (None, RegionKind::Host) => "an array".into(),
        (None, RegionKind::Global | RegionKind::Unbound) => "a global variable".into(),
        (None, RegionKind::Frame) => "a local variable".into(),
        (None, RegionKind::Heap) => "an allocation".into(),
    };
    let mut distinct = indices.to_vec();
    distinct.dedup();
    let noun = if distinct.len() == 1 { "index" } else { "indices" };
    let elements = if *len == 1 { "element" } else { "elements" };
    format!("{verb} {noun} {} of {what}, which has {len} {elements}", list_text(&distinct))
}

/// Lanes as findings have them: none for an access that is the same for all.
fn named(touched: &Touched, lanes: u64) -> Vec<u32> {
    if touched.is_uniform { Vec::new() } else { numbers(lanes) }
}
