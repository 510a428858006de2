//! Loads from addresses that no round changes: the copy loads before its first round, if what it writes lies elsewhere.
//!
//! Memory to which different pointers lead is hardly ever the same, and a program that writes by one what it reads by another has
//! no way to say so. Whether it is the same is asked once, in the block `range`: all bytes that a store writes, from the first
//! round to the last (none of its indices wraps around, as the copy's addresses do not), against all bytes from the first to the
//! last that are loaded from where one pointer leads. What is loaded by a pointer that is stored by, too, stays where it is: it is
//! likely to be overwritten, and the loop with the checks would run for that.
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
const MOST_COMPARISONS: usize = 8;

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

/// The loads that leave a loop.
#[derive(Default)]
pub(super) struct Hoisted {
    loads: Vec<Inst>,
}

impl Hoisted {
    /// Finds them, and makes the condition under which they may leave.
    pub fn find(
        of: &mut Counted<'_>,
        progress: &Progress,
        (rounds, changes): (Value, &mut Changes),
        to: &mut Vec<Inst>,
    ) -> (Hoisted, Option<Value>) {
        let none = (Hoisted::default(), None);
        let Some(stores) = of.stores(progress, to) else { return none };
        let mut loads = of.settled_loads();
        loads.retain(|(_, access)| stores.iter().all(|s| s.pointer != access.pointer));
        loads.truncate(MOST_LOADS);
        let mut pointers: Vec<Value> = loads.iter().map(|(_, access)| access.pointer).collect();
        pointers.sort_unstable();
        pointers.dedup();
        if loads.is_empty() || pointers.len() * stores.len() > MOST_COMPARISONS {
            return none;
        }
        let mut m = Maker { region: of.region, to };
        let written: Vec<_> = stores.iter().map(|store| store.extent(&mut m, Some((rounds, &mut *changes)))).collect();
        let mut condition = None;
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
                let apart = m.op(Op::Or, Ty::Bool, &[below, above]);
                condition = Some(condition.map_or(apart, |all| m.op(Op::And, Ty::Bool, &[all, apart])));
            }
        }
        (Hoisted { loads: loads.into_iter().map(|(inst, _)| inst).collect() }, condition)
    }

    /// Loads; gives what stands for the loop's results, by these. What operations on vectors take is made a vector.
    pub fn load(&self, of: &mut Counted<'_>, progress: &mut Progress, to: &mut Vec<Inst>) -> HashMap<Value, Value> {
        let mut loaded = HashMap::new();
        for load in &self.loads {
            let Some(result) = load.result else { continue };
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

    /// The pointer whose memory an address lies in, if it is one that the region got: two that it loads may well be the same.
    fn pointer(&self, address: Value) -> Option<Value> {
        let mut v = address;
        for _ in 0..DEPTH {
            v = self.source(v);
            let Some(def) = self.defs.get(v) else { return Some(v) };
            v = match def.kind {
                Kind::HostAddress { .. } | Kind::RegionBase => def.arg(0),
                Kind::Op { op: Op::PAdd | Op::Add | Op::Sub | Op::Convert | Op::Bitcast, .. } => def.arg(0),
                Kind::EntryReg { .. } | Kind::Const(_) | Kind::FrameHost { .. } | Kind::FrameAddress => return Some(v),
                _ => return None,
            };
        }
        None
    }
}
