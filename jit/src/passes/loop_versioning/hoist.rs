//! Loads from addresses that no round changes: the copy loads before its first round, if what it writes lies elsewhere.
//!
//! Memory to which different pointers lead is hardly ever the same, and a program that writes by one what it reads by another has
//! no way to say so. Whether it is the same is asked once, in the block `range`: all bytes that a store writes, from the first
//! round to the last (none of its indices wraps around, as the copy's addresses do not), against all bytes from the first to the
//! last that are loaded from where one pointer leads. What is loaded by a pointer that is stored by, too, stays where it is: it is
//! likely to be overwritten, and the loop with the checks would run for that.
//!
//! Pointers that are compared with what was loaded before the loop ([`same_pointers`](super::super::same_pointers)) are loaded and
//! compared once: nothing else in the copy asks what they are.
//!
//! Nothing but polls may leave the copy, and its fuel is counted in advance. So no guard that stays is what a load waits for, and
//! there is no poll at which another task may write.

use super::progress::Progress;
use super::{Changes, Counted, DEPTH};
use crate::ir::{Inst, Kind, Type, Value};
use crate::passes::make::Maker;
use spmdvm_vm::isa::Op;
use spmdvm_vm::types::Ty;
use std::collections::HashMap;

/// Most loads that leave a loop.
const MOST_LOADS: usize = 16;

/// Most comparisons of what is loaded with what is stored.
const MOST_COMPARISONS: usize = 16;

/// Where memory is accessed.
struct Access {
    /// The pointer that leads there.
    pointer: Value,
    /// The first byte in the copy's first round.
    first: Value,
    /// By how much that changes in a round.
    step: i64,
    /// How many bytes.
    bytes: u64,
}

/// A pointer that is loaded in every round and expected to be the same as before the loop.
pub(super) struct Expected {
    /// Whether it is.
    pub condition: Value,
    /// The load in the round.
    pub load: Inst,
    /// The load before the loop, from an address that may always be loaded from.
    before: (Value, Value),
}

/// The loads that leave a loop.
#[derive(Default)]
pub(super) struct Hoisted {
    loads: Vec<Inst>,
    /// What has been loaded before, by the result of the load.
    known: HashMap<Value, Value>,
}

impl Hoisted {
    /// Finds them, and makes the conditions under which they may leave.
    pub fn find(
        of: &mut Counted<'_>,
        expected: &[Expected],
        progress: &Progress,
        (rounds, changes): (Value, &mut Changes),
        to: &mut Vec<Inst>,
    ) -> (Hoisted, Vec<Value>) {
        let none = (Hoisted::default(), Vec::new());
        let Some(stores) = of.stores(progress, to) else { return none };
        let mut loads = of.settled_loads();
        let is_expected = |load: &Inst| expected.iter().any(|e| e.load.result == load.result);
        // Two pointers that are loaded may well be the same.
        let differ = |a: Value, b: Value| a != b && !(of.is_loaded(a) && of.is_loaded(b));
        loads.retain(|(load, access)| is_expected(load) || stores.iter().all(|s| differ(s.pointer, access.pointer)));
        loads.sort_by_key(|(load, _)| !is_expected(load));
        loads.truncate(MOST_LOADS);
        let mut pointers: Vec<Value> = loads.iter().map(|(_, access)| access.pointer).collect();
        pointers.sort_unstable();
        pointers.dedup();
        if loads.is_empty() || pointers.len() * stores.len() > MOST_COMPARISONS {
            return none;
        }
        let mut m = Maker { region: of.region, to };
        let written: Vec<_> = stores.iter().map(|store| store.extent(&mut m, Some((rounds, &mut *changes)))).collect();
        let mut conditions = Vec::new();
        for pointer in pointers {
            let from = loads.iter().map(|(_, access)| access).filter(|access| access.pointer == pointer);
            let read = from.map(|access| access.extent(&mut m, None)).collect::<Vec<_>>();
            let Some(read) = read
                .into_iter()
                .reduce(|a, b| (m.op(Op::Min, Ty::U64, &[a.0, b.0]), m.op(Op::Max, Ty::U64, &[a.1, b.1])))
            else {
                continue;
            };
            for &(begin, end) in &written {
                let below = m.op(Op::Le, Ty::U64, &[end, read.0]);
                let above = m.op(Op::Le, Ty::U64, &[read.1, begin]);
                conditions.push(m.op(Op::Or, Ty::Bool, &[below, above]));
            }
        }
        for Expected { before: (address, pointer), .. } in expected {
            let now = m.inst(Kind::Load { ty: Ty::U64 }, &[*address], Type::uniform(Ty::U64));
            conditions.push(m.op(Op::Eq, Ty::U64, &[now, *pointer]));
        }
        let known = expected.iter().filter_map(|e| Some((e.load.result?, e.before.1))).collect();
        (Hoisted { loads: loads.into_iter().map(|(inst, _)| inst).collect(), known }, conditions)
    }

    /// Loads; gives what stands for the loop's results, by these. What operations on vectors take is made a vector.
    pub fn load(&self, of: &mut Counted<'_>, progress: &mut Progress, to: &mut Vec<Inst>) -> HashMap<Value, Value> {
        let mut loaded = self.known.clone();
        for load in &self.loads {
            let Some(result) = load.result.filter(|v| !self.known.contains_key(v)) else { continue };
            let ty = of.region.ty(result);
            let new = Maker { region: of.region, to }.inst(load.kind, &load.args, ty);
            loaded.insert(result, new);
            if !ty.is_varying() && of.spread_operands().any(|v| v == result) {
                let all = Maker { region: of.region, to }.inst(Kind::Splat, &[new], Type::varying(ty.ty));
                progress.spread_as(result, all);
            }
        }
        loaded
    }

    /// Returns whether an instruction is one of these loads.
    pub fn contains(&self, inst: &Inst) -> bool {
        inst.kind.is_plain_load() && self.loads.iter().any(|load| load.result == inst.result)
    }
}

impl Access {
    /// Where the first byte of all rounds is, and where the last one ends.
    fn extent(&self, m: &mut Maker<'_>, rounds: Option<(Value, &mut Changes)>) -> (Value, Value) {
        let (mut begin, mut last) = (self.first, self.first);
        if let Some((rounds, changes)) = rounds.filter(|_| self.step != 0) {
            let change = changes.of(m, rounds, self.step);
            let then = m.op(Op::Add, Ty::U64, &[self.first, change]);
            *(if self.step > 0 { &mut last } else { &mut begin }) = then;
        }
        (begin, m.with(Op::Add, Ty::U64, last, self.bytes))
    }
}

impl Counted<'_> {
    /// The loads from addresses that no round changes. Those of a mask's lanes and of gathers are not among them.
    fn settled_loads(&self) -> Vec<(Inst, Access)> {
        let mut found: Vec<(Inst, Access)> = Vec::new();
        for inst in self.insts() {
            let whole = matches!(inst.kind, Kind::Load { .. } | Kind::LoadLanes { .. } | Kind::LoadStrided { .. });
            let address = inst.args.first().filter(|&&a| whole && !self.is_inside(a));
            let access = address.and_then(|&first| {
                Some(Access {
                    pointer: self.pointer(first)?,
                    first,
                    step: 0,
                    bytes: inst.kind.bytes_at_address(self.region.width)?,
                })
            });
            found.extend(access.map(|access| (inst.clone(), access)));
        }
        found
    }

    /// All stores; nothing if it is not known where one of them writes.
    fn stores(&mut self, progress: &Progress, to: &mut Vec<Inst>) -> Option<Vec<Access>> {
        let stores: Vec<Inst> = self.insts().filter(|inst| inst.kind.is_plain_store()).cloned().collect();
        let mut found = Vec::new();
        for inst in stores {
            let bytes = inst.kind.bytes_at_address(self.region.width)?;
            let address = self.source(inst.args[0]);
            let pointer = self.pointer(address)?;
            let (first, step) = match self.is_inside(address) {
                true => progress.first_of(&mut Maker { region: self.region, to }, address)?,
                false => (address, 0),
            };
            found.push(Access { pointer, first, step, bytes });
        }
        Some(found)
    }

    /// The pointers that guards compare with what was loaded from the same place before the loop.
    pub(super) fn expected_pointers(&self) -> Vec<Expected> {
        let load_at =
            |v: Value| self.defs.get(v).filter(|def| def.kind == Kind::Load { ty: Ty::U64 }).map(|def| def.arg(0));
        let guards = self.insts().filter(|inst| matches!(inst.kind, Kind::Guard { .. }));
        let expected = guards.filter_map(|guard| {
            let condition = guard.args[0];
            let equal = self.defs.as_op(condition, Op::Eq)?;
            let (now, pointer) = (equal.arg(0), equal.arg(1));
            let (host, address) = (load_at(now)?, load_at(pointer)?);
            let select = self.defs.as_op(address, Op::Select);
            let same_place = address == host || select.is_some_and(|select| select.arg(1) == host);
            let settled = ![host, pointer, address].iter().any(|&v| self.is_inside(v)) && self.is_inside(now);
            let load = self.insts().find(|inst| inst.result == Some(now)).filter(|_| same_place && settled)?.clone();
            Some(Expected { condition, load, before: (address, pointer) })
        });
        expected.collect()
    }

    /// Returns whether a pointer is one that was loaded before the loop.
    fn is_loaded(&self, pointer: Value) -> bool {
        self.defs.get(pointer).is_some_and(|def| matches!(def.kind, Kind::Load { .. }))
    }

    /// The pointer whose memory an address lies in, if it is one that the region got or has loaded before the loop.
    fn pointer(&self, address: Value) -> Option<Value> {
        let mut v = address;
        for _ in 0..DEPTH {
            v = self.source(v);
            let Some(def) = self.defs.get(v) else { return Some(v) };
            v = match def.kind {
                Kind::HostAddress { .. } | Kind::RegionBase => def.arg(0),
                Kind::Op { op: Op::PAdd | Op::Add | Op::Sub | Op::Convert | Op::Bitcast, .. } => def.arg(0),
                Kind::EntryReg { .. } | Kind::Const(_) | Kind::FrameHost { .. } | Kind::FrameAddress => return Some(v),
                Kind::Load { .. } if !self.is_inside(v) => return Some(v),
                _ => return None,
            };
        }
        None
    }
}
