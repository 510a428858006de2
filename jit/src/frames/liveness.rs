//! Which bytes of a root may be read from an instruction on, before they are written again.
//!
//! Backward data flow, per byte. A store under a mask settles only its lanes, so it hides a later read from what is before it
//! only if the read's lanes are among the store's. That is so as long as no lanes have come back in between. So a byte that
//! may be read carries the least depth of the mask stack between here and the read: a store at depth *d* hides the read if the
//! mask stack has not been lower since. An else part, the next turn of a loop and the next case bring lanes back without a pop and
//! count as one less; `everywhere` and `each.all` bring lanes that were never active and count as less than any.
//!
//! A read of one value per lane takes of each active lane just its own bytes. What a masked store of the same lanes has written
//! covers it; any other read of bytes of inactive lanes it does not cover. So such bytes carry the layout of the read too.

use super::addresses::Addresses;
use super::{PointsTo, Root};
use crate::analysis::mask_depths;
use spmdvm_vm::flow::{edges, predecessors};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Function, Inst, Reg};
use spmdvm_vm::types::Shape;
use std::ops::Range;
use std::sync::Arc;

/// A depth below all others: lanes that were not active before.
const BELOW: i16 = -1;

/// A byte's part in a vector of one value per lane: the vector's offset and the size of its elements.
type Layout = (i64, usize);

/// How a byte may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    /// The least depth of the mask stack until then.
    depth: i16,
    /// If by lanes: as part of which vector.
    lanes: Option<Layout>,
}

/// Bytes in a row that may be read in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    bytes: Range<i64>,
    read: Read,
}

/// Of each byte below a limit whether and how it may be read: runs, ascending, as few as can be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bytes {
    runs: Vec<Run>,
    limit: i64,
}

/// By instruction.
pub(super) struct Live(Vec<Arc<Bytes>>);

/// What an instruction does to a root.
#[derive(Clone, Debug, Default)]
struct Effect {
    reads: Vec<(Range<i64>, Read)>,
    /// Bytes it writes, of the active lanes only if they are those of a layout.
    writes: Option<(Range<i64>, Option<Layout>)>,
}

/// The question: what is read of a root in a function.
pub(super) struct Reads<'a> {
    pub f: &'a Function,
    pub lanes: usize,
    pub root: Root,
    pub addresses: &'a Addresses,
    /// So many bytes are told apart.
    pub limit: usize,
}

impl Live {
    /// What may be read when the function goes on with an instruction.
    pub fn at(&self, pc: u32) -> &Arc<Bytes> {
        &self.0[pc as usize]
    }
}

impl Read {
    /// A byte that may be read in either way.
    fn or(self, other: Read) -> Read {
        let lanes = if self.lanes == other.lanes { self.lanes } else { None };
        Read { depth: self.depth.min(other.depth), lanes }
    }
}

impl Bytes {
    fn none(limit: usize) -> Bytes {
        Bytes { runs: Vec::new(), limit: limit as i64 }
    }

    /// The bytes that may be read, as ranges.
    pub fn ranges(&self) -> Vec<Range<i64>> {
        let mut ranges: Vec<Range<i64>> = Vec::new();
        for run in &self.runs {
            match ranges.last_mut() {
                Some(last) if last.end == run.bytes.start => last.end = run.bytes.end,
                _ => ranges.push(run.bytes.clone()),
            }
        }
        ranges
    }

    /// Appends a run behind all others.
    fn push(&mut self, bytes: Range<i64>, read: Option<Read>) {
        let Some(read) = read.filter(|_| bytes.start < bytes.end) else { return };
        match self.runs.last_mut() {
            Some(last) if last.bytes.end == bytes.start && last.read == read => last.bytes.end = bytes.end,
            _ => self.runs.push(Run { bytes, read }),
        }
    }

    /// Changes how the bytes of a range may be read.
    fn change(&mut self, range: &Range<i64>, to: impl Fn(Option<Read>) -> Option<Read>) {
        let runs = std::mem::take(&mut self.runs);
        let (before, rest) = runs.split_at(runs.partition_point(|run| run.bytes.end <= range.start));
        let (inside, after) = rest.split_at(rest.partition_point(|run| run.bytes.start < range.end));
        self.runs.reserve(runs.len() + 2);
        self.runs.extend_from_slice(before);
        let mut done = range.start;
        for Run { bytes, read } in inside {
            self.push(bytes.start..range.start.min(bytes.end), Some(*read));
            let (from, end) = (bytes.start.max(range.start), bytes.end.min(range.end));
            self.push(done..from, to(None));
            self.push(from..end, to(Some(*read)));
            done = end;
        }
        self.push(done..range.end, to(None));
        if let Some(Run { bytes, read }) = inside.last() {
            self.push(range.end.max(bytes.start)..bytes.end, Some(*read));
        }
        for Run { bytes, read } in after {
            self.push(bytes.clone(), Some(*read));
        }
    }

    /// Adds a read of a range; one that is not within the bytes told apart may be of any of them.
    fn add_range(&mut self, range: &Range<i64>, read: Read) {
        let add = |read: Read| move |old: Option<Read>| Some(old.map_or(read, |old| old.or(read)));
        if range.start < 0 || range.end > self.limit {
            self.change(&(0..self.limit), add(Read { lanes: None, ..read }));
        } else {
            self.change(range, add(read));
        }
    }

    fn join(&mut self, other: &Bytes) {
        for run in &other.runs {
            self.add_range(&run.bytes, run.read);
        }
    }

    /// Lanes may come back at this depth.
    fn lower(&mut self, depth: i16) {
        for Run { bytes, read } in std::mem::take(&mut self.runs) {
            self.push(bytes, Some(Read { depth: read.depth.min(depth), ..read }));
        }
    }

    fn is_above(&self, depth: i16) -> bool {
        self.runs.iter().any(|run| run.read.depth > depth)
    }

    /// Takes away the reads that a write at a depth covers.
    fn cover(&mut self, range: &Range<i64>, layout: Option<Layout>, depth: i16) {
        let range = range.start.clamp(0, self.limit)..range.end.clamp(0, self.limit);
        let covered = |read: &Read| read.depth >= depth && (layout.is_none() || read.lanes == layout);
        self.change(&range, |old| old.filter(|read| !covered(read)));
    }
}

impl Reads<'_> {
    /// Finds what may be read at every instruction, given what callees read through their parameters.
    pub fn find(&self, callee: impl Fn(FuncId, u32) -> Option<Arc<Bytes>>) -> Live {
        let code = &self.f.code;
        let depth = mask_depths(self.f);
        let before = predecessors(code);
        let effects: Vec<Effect> =
            code.iter().enumerate().map(|(at, inst)| self.effect(inst, depth[at], &callee)).collect();
        let nothing = Arc::new(Bytes::none(self.limit));
        let mut live: Vec<Arc<Bytes>> = code.iter().map(|_| Arc::clone(&nothing)).collect();
        let mut queued = vec![true; code.len()];
        let mut work: Vec<usize> = (0..code.len()).collect();
        while let Some(at) = work.pop() {
            queued[at] = false;
            let now = self.step(at, &live, &effects[at], depth[at]);
            if now != live[at] {
                live[at] = now;
                let before = before[at].iter().map(|&p| p as usize);
                work.extend(before.filter(|&p| !std::mem::replace(&mut queued[p], true)));
            }
        }
        Live(live)
    }

    fn step(&self, at: usize, live: &[Arc<Bytes>], effect: &Effect, depth: i16) -> Arc<Bytes> {
        let mut now: Option<Arc<Bytes>> = None;
        for edge in edges(&self.f.code, at) {
            let next = &live[edge.to];
            match &mut now {
                None => now = Some(Arc::clone(next)),
                Some(now) if Arc::ptr_eq(now, next) => {}
                Some(now) => Arc::make_mut(now).join(next),
            }
        }
        let mut now = now.unwrap_or_else(|| Arc::new(Bytes::none(self.limit)));
        let least = least_depth(self.f.code[at].op, depth);
        if now.is_above(least) {
            Arc::make_mut(&mut now).lower(least);
        }
        if let Some((range, layout)) = &effect.writes {
            Arc::make_mut(&mut now).cover(range, *layout, depth);
        }
        for (range, read) in &effect.reads {
            Arc::make_mut(&mut now).add_range(range, *read);
        }
        now
    }

    fn effect(&self, inst: &Inst, depth: i16, callee: &impl Fn(FuncId, u32) -> Option<Arc<Bytes>>) -> Effect {
        let everything = 0..self.limit as i64;
        let whole = Read { depth, lanes: None };
        let mut effect = Effect::default();
        match inst.op {
            Op::Load | Op::LoadLane => match self.operand(inst) {
                Some(Some((range, layout))) => effect.reads.push((range, Read { depth, lanes: layout })),
                Some(None) => effect.reads.push((everything, whole)),
                None => {}
            },
            Op::Store | Op::StoreLane => {
                let uniform = self.f.reg(inst.src[0]).shape == Shape::Uniform;
                effect.writes = self.operand(inst).flatten().filter(|_| uniform);
            }
            Op::MemSet => {
                effect.writes = self.moved(inst, inst.src[0]).map(|range| (range, None));
            }
            Op::MemCopy => {
                if self.offset(inst.src[1]).is_some() {
                    effect.reads.push((self.moved(inst, inst.src[1]).unwrap_or(everything), whole));
                }
                effect.writes = self.moved(inst, inst.src[0]).map(|range| (range, None));
            }
            Op::Call => {
                for (i, &arg) in self.f.list(inst.args).iter().enumerate() {
                    let (Some(to), Some(read)) = (self.offset(arg), callee(FuncId(inst.aux), i as u32)) else {
                        continue;
                    };
                    self.reads_of_call(&mut effect, to, &read, depth);
                }
            }
            _ => {}
        }
        effect
    }

    /// What a callee reads through an argument.
    fn reads_of_call(&self, effect: &mut Effect, to: Option<i64>, read: &Bytes, depth: i16) {
        for Run { bytes, read } in &read.runs {
            let depth = if read.depth < 0 { BELOW } else { depth };
            match to {
                Some(offset) => {
                    let lanes = read.lanes.map(|(from, size)| (from + offset, size));
                    effect.reads.push((bytes.start + offset..bytes.end + offset, Read { depth, lanes }));
                }
                None => effect.reads.push((0..self.limit as i64, Read { depth, lanes: None })),
            }
        }
    }

    /// If the register may hold an address in the root: its offset, if that is known.
    fn offset(&self, r: Reg) -> Option<Option<i64>> {
        match self.addresses.points_to(r) {
            PointsTo::At(root, offset) if root == self.root => Some(Some(offset)),
            PointsTo::In(root) if root == self.root => Some(None),
            _ => None,
        }
    }

    /// If an access may be of the root: its bytes and their layout, if they are known.
    #[allow(clippy::option_option)]
    fn operand(&self, inst: &Inst) -> Option<Option<(Range<i64>, Option<Layout>)>> {
        let offset = self.offset(inst.src[0])?;
        let by_lane = matches!(inst.op, Op::LoadLane | Op::StoreLane);
        let known = offset.filter(|_| inst.src[1].is_none()).and_then(|o| o.checked_add(inst.imm));
        Some(known.map(|from| {
            let size = inst.ty.size();
            let bytes = if by_lane { size * self.lanes } else { size };
            (from..from.saturating_add(bytes as i64), by_lane.then_some((from, size)))
        }))
    }

    /// The bytes from a pointer on that a `mem.set` or `mem.copy` is about, if they are known.
    fn moved(&self, inst: &Inst, pointer: Reg) -> Option<Range<i64>> {
        let from = self.offset(pointer)??;
        let bytes = self.f.constant_bits(inst.src[2]).and_then(|bytes| i64::try_from(bytes).ok())?;
        let uniform = inst.src.iter().all(|&r| self.f.reg(r).shape == Shape::Uniform);
        uniform.then(|| from..from.saturating_add(bytes))
    }
}

/// The least depth whose lanes may be active after an operation that begins at a depth.
fn least_depth(op: Op, depth: i16) -> i16 {
    match op {
        Op::MaskElse | Op::LoopNext | Op::SwitchCase | Op::EachLane | Op::EachUnique => depth - 1,
        Op::Everywhere | Op::EachAll => BELOW,
        _ => depth,
    }
}
