//! Frames whose memory only exits ask for do not enter it: whoever leaves does (allocation sinking, as in LuaJIT).
//!
//! A function that keeps a struct or an array of its own has memory in its frame, with a region in the table of regions and a pointer
//! of its own. Once the accesses are values ([`mem2reg`](super::mem2reg)), or go to host addresses, what is left of the pointer
//! is in snapshots: the interpreter needs it if it goes on in the middle of the function, which is seldom.
//!
//! Rules: the memory is private, so nobody can see the number of its region; the pointer, and sums with it, go nowhere but into
//! snapshots in which the frame still is; and while it is there, nothing takes the number of another region, for that number can be
//! seen. Numbers count the frames before them, so each frame that is not entered still [passes one over](Kind::FramePass). Memory of
//! which something is accessed in place is zeroed where the frame is made; of other memory the exit zeroes what it does not write.

use super::dead;
use crate::ir::{BlockId, Exit, Inst, Kind, PrivateMemory, Region, Type, Value};
use spmdvm_vm::interp::native::is_moved_for_free;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::FuncId;
use spmdvm_vm::types::Ty;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Runs the pass.
pub fn run(region: &mut Region) {
    let mut found = Sunk::find(region);
    if found.frames.is_empty() {
        return;
    }
    // What accesses have left behind uses no pointer.
    dead::run(region);
    found.drop_used(region);
    found.drop_before_numbers(region);
    if !found.frames.is_empty() {
        found.rewrite(region);
    }
}

/// Frames that need not enter their memory, as far as is known.
struct Sunk {
    /// By the pointer that entering gives: the memory.
    frames: HashMap<Value, PrivateMemory>,
    /// Pointers and sums with them, by the frame's own.
    derived: HashMap<Value, Value>,
}

impl Sunk {
    /// All whose memory is private, and cleared for nothing.
    fn find(region: &Region) -> Sunk {
        let of = |function: FuncId, at: u32| region.private.iter().find(|m| (m.function, m.at) == (function, at));
        let mut frames = HashMap::new();
        for inst in region.blocks.iter().flat_map(|b| &b.insts) {
            if let (Kind::FrameOpen { function, at, .. }, Some(v)) = (inst.kind, inst.result)
                && let Some(memory) = of(function, at).filter(|memory| is_moved_for_free(memory.size))
            {
                frames.insert(v, memory.clone());
            }
        }
        let derived = frames.keys().map(|&v| (v, v)).collect();
        Sunk { frames, derived }
    }

    /// Leaves those out whose pointer is used for more than snapshots.
    fn drop_used(&mut self, region: &Region) {
        let insts = || region.blocks.iter().flat_map(|b| &b.insts);
        loop {
            let before = self.derived.len();
            for inst in insts().filter(|inst| is_sum(inst)) {
                if let (Some(&of), Some(v)) = (self.derived.get(&inst.args[0]), inst.result) {
                    self.derived.insert(v, of);
                }
            }
            if self.derived.len() == before {
                break;
            }
        }
        let mut used: Vec<Value> = Vec::new();
        for inst in insts() {
            match inst.kind {
                Kind::FrameClose => {}
                _ => used.extend(inst.args.iter().skip(is_sum(inst) as usize)),
            }
        }
        for block in &region.blocks {
            used.extend(block.end.edges().flat_map(|edge| &edge.args));
            if let crate::ir::End::Branch { cond, .. } = block.end {
                used.push(cond);
            }
        }
        for exit in &region.exits {
            self.note_used(exit, &mut used);
        }
        used.iter().for_each(|v| self.drop(*v));
    }

    /// Notes what a snapshot uses in other ways than as a pointer into a frame that is still there.
    fn note_used(&self, exit: &Exit, used: &mut Vec<Value>) {
        let is_there = |of: Value| exit.frames.iter().any(|f| f.memory == Some(of));
        for frame in &exit.frames {
            let gone = |v: &Value| self.derived.get(v).is_some_and(|&of| !is_there(of));
            used.extend(frame.regs.iter().map(|r| r.value).filter(gone));
            used.extend(frame.entries.iter().flat_map(|e| [Some(e.restore), Some(e.other), e.visiting]).flatten());
            used.push(frame.mask);
            // A sum is not the pointer to the memory.
            used.extend(frame.memory.filter(|v| self.derived.get(v).is_some_and(|of| of != v)));
        }
        used.extend(exit.cells.iter().map(|(_, v)| *v));
    }

    /// Leaves those out that are there while the number of another region is taken.
    fn drop_before_numbers(&mut self, region: &Region) {
        loop {
            let mut there: Vec<Value> = Vec::new();
            for inst in region.blocks.iter().flat_map(|b| &b.insts) {
                let takes = match inst.kind {
                    Kind::FrameOpen { .. } => inst.result.is_some_and(|v| !self.frames.contains_key(&v)),
                    Kind::Interpret { site, .. } => takes_numbers(region, site),
                    kind => kind.is_call(),
                };
                let exit = inst.kind.exit().filter(|_| takes).map(|exit| &region.exits[exit.index()]);
                there.extend(exit.iter().flat_map(|exit| &exit.frames).filter_map(|f| f.memory));
            }
            let before = self.frames.len();
            there.into_iter().for_each(|v| self.drop(v));
            if self.frames.len() == before {
                return;
            }
        }
    }

    fn drop(&mut self, v: Value) {
        if let Some(&of) = self.derived.get(&v) {
            self.frames.remove(&of);
            self.derived.retain(|_, frame| *frame != of);
        }
    }

    fn rewrite(&self, region: &mut Region) {
        let accessed = accessed_in_place(region);
        let is_accessed = |m: &PrivateMemory| {
            let overlaps = |r: &Range<u64>| r.start < m.start + m.size && m.start < r.end;
            accessed.iter().any(|(function, range)| *function == m.function && overlaps(range))
        };
        let lanes = region.width.lanes();
        region.exits.iter_mut().for_each(|exit| self.enter_at(exit, lanes, is_accessed));
        for b in 0..region.blocks.len() {
            let insts = std::mem::take(&mut region.blocks[b].insts);
            let mut kept = Vec::with_capacity(insts.len());
            for inst in insts {
                let opened = inst.result.and_then(|v| self.frames.get(&v));
                match (inst.kind, opened) {
                    (Kind::FrameOpen { .. }, Some(memory)) => {
                        kept.push(Inst { kind: Kind::FramePass, args: Vec::new(), result: None });
                        if is_accessed(memory) {
                            clear(region, memory, &mut kept);
                        }
                    }
                    (Kind::FrameClose, _) if self.frames.contains_key(&inst.args[0]) => {}
                    _ => kept.push(inst),
                }
            }
            region.blocks[b].insts = kept;
        }
        // Sums with pointers become offsets.
        let offsets = self.frames.keys().map(|&v| Inst { kind: Kind::Const(0), args: Vec::new(), result: Some(v) });
        let mut offsets: Vec<Inst> = offsets.collect();
        offsets.sort_by_key(|inst| inst.result);
        region.blocks[BlockId(0).index()].insts.splice(0..0, offsets);
    }

    /// Has an exit enter the memory of the frames that it leaves.
    fn enter_at(&self, exit: &mut Exit, lanes: usize, is_accessed: impl Fn(&PrivateMemory) -> bool) {
        let owners: Vec<Option<Value>> =
            exit.frames.iter().map(|f| f.memory.filter(|v| self.frames.contains_key(v))).collect();
        for frame in &mut exit.frames {
            for reg in &mut frame.regs {
                let of = self.derived.get(&reg.value);
                reg.into =
                    of.and_then(|of| owners.iter().position(|owner| owner.as_ref() == Some(of))).map(|i| i as u32);
            }
        }
        for (frame, owner) in exit.frames.iter_mut().zip(&owners) {
            let Some(memory) = owner.and_then(|v| self.frames.get(&v)) else { continue };
            let cells = exit.cells.iter().filter(|(cell, _)| cell.function == memory.function);
            let bytes = |ty: Type| (ty.ty.size() * if ty.is_varying() { lanes } else { 1 }) as u64;
            let written = cells.map(|(cell, _)| cell.at..cell.at + bytes(cell.ty));
            let zeroed = match is_accessed(memory) {
                // It has been zeroed where the frame was made.
                true => Vec::new(),
                false => gaps(memory.start..memory.start + memory.size, written),
            };
            (frame.memory, frame.unopened) = (None, Some(zeroed));
        }
    }
}

/// Where memory of frames is accessed by host addresses.
fn accessed_in_place(region: &Region) -> Vec<(FuncId, Range<u64>)> {
    let mut used = HashSet::new();
    (0..region.blocks.len() as u32).for_each(|b| region.each_use(BlockId(b), |v| used.extend([v])));
    let insts = region.blocks.iter().flat_map(|b| &b.insts);
    let host = |inst: &Inst| match inst.kind {
        Kind::FrameHost { function, at, within } if inst.result.is_some_and(|v| used.contains(&v)) => {
            Some((function, within.map_or(at..at + 1, |(from, to)| from..to)))
        }
        _ => None,
    };
    insts.filter_map(host).collect()
}

/// What of a range none of the others cover, from its start.
fn gaps(whole: Range<u64>, covered: impl Iterator<Item = Range<u64>>) -> Vec<Range<u64>> {
    let mut covered: Vec<_> = covered.filter(|r| r.start < whole.end && r.end > whole.start).collect();
    covered.sort_by_key(|r| r.start);
    let (mut gaps, mut at) = (Vec::new(), whole.start);
    for range in covered {
        if range.start > at {
            gaps.push(at - whole.start..range.start - whole.start);
        }
        at = at.max(range.end);
    }
    if at < whole.end {
        gaps.push(at - whole.start..whole.end - whole.start);
    }
    gaps
}

/// Zeroes the memory in place.
fn clear(region: &mut Region, memory: &PrivateMemory, to: &mut Vec<Inst>) {
    let host = region.new_value(Type::uniform(Ty::U64));
    let kind = Kind::FrameHost { function: memory.function, at: memory.start, within: None };
    to.push(Inst { kind, args: Vec::new(), result: Some(host) });
    to.push(Inst { kind: Kind::Clear { bytes: memory.size as u32 }, args: vec![host], result: None });
}

fn is_sum(inst: &Inst) -> bool {
    matches!(inst.kind, Kind::Op { op: Op::PAdd, .. } | Kind::Splat)
}

/// Returns whether what the handler of an instruction does may take numbers of regions, or run code of others.
fn takes_numbers(region: &Region, site: u32) -> bool {
    let site = &region.handler_calls[site as usize];
    let is_atomic = (Op::AtomicAdd as u8..=Op::AtomicCas as u8).contains(&(site.op as u8));
    !is_atomic && !matches!(site.op, Op::MemCopy | Op::MemSet | Op::Print | Op::Assert)
}
