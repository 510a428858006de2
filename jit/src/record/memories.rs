//! Recording what lies in the memory of frames.
//!
//! Addresses in it are known as frame and offset ([`FramePlace`]), so accesses need no checks. What is private of it, and what
//! of that may be read after an exit ([`frames`](crate::frames)), is handed to [`mem2reg`](crate::passes::mem2reg).

use super::Recorder;
use super::state::{FramePlace, State};
use crate::frames::{PointsTo, Root};
use crate::ir::{Kind, LiveMemory, PrivateMemory, Type, Value};
use spmdvm_vm::program::{FuncId, Home, Reg};
use spmdvm_vm::types::{Shape, Ty};
use std::ops::Range;

impl Recorder<'_> {
    /// If a register of the entered frame holds the same address in the frame's memory throughout the region: the offset. It has
    /// been written before the head if it may be read from there on.
    pub(super) fn own_offset(&self, function: FuncId, reg: Reg) -> Option<i64> {
        let f = self.function(function);
        if !self.analyses.get(&function)?.is_live(self.head.1, reg) {
            return None;
        }
        match self.whole.frames.as_ref()?.points_to(function, reg) {
            PointsTo::At(Root::Frame, offset) if f.reg(reg).shape == Shape::Uniform => {
                (0..=f.frame_size as i64).contains(&offset).then_some(offset)
            }
            _ => None,
        }
    }

    /// Returns whether a register of the entered frame that may be read from the head on may hold an address in the frame's
    /// memory.
    fn may_lead_to_frame(&self, function: FuncId, reg: Reg) -> bool {
        let Some(frames) = &self.whole.frames else { return false };
        let leads = matches!(frames.points_to(function, reg), PointsTo::At(Root::Frame, _) | PointsTo::In(Root::Frame));
        leads && self.analyses.get(&function).is_none_or(|analysis| analysis.is_live(self.head.1, reg))
    }

    /// Sets the registers of the entered frame that always hold an address in its memory. If another one may hold such an
    /// address, the memory is not private to what the region sees. The entry block is being recorded.
    pub(super) fn own_memory(&mut self, state: &mut State) {
        let function = self.head.0;
        for reg in (0..state.top().regs.len() as u32).map(Reg) {
            match self.own_offset(function, reg) {
                Some(offset) => {
                    let address = self.frame_address(state, 0, offset);
                    state.top_mut().regs[reg.index()] = Some(address);
                }
                None => self.escapes_at_head |= self.may_lead_to_frame(function, reg),
            }
        }
        self.own_addresses = std::mem::take(&mut self.addresses);
    }

    /// Where a value points, if it is known to be an address in the memory of a frame.
    pub(super) fn address(&self, v: Value) -> Option<FramePlace> {
        self.addresses.get(&v).or_else(|| self.own_addresses.get(&v)).copied()
    }

    /// The host address at a displacement from a place.
    pub(super) fn frame_host(&mut self, place: &FramePlace, disp: i64) -> Value {
        self.frame_host_within(place, disp, None)
    }

    /// The same, from which accesses are counted that all lie between two offsets in the frame's memory, if these are known.
    pub(super) fn frame_host_within(&mut self, place: &FramePlace, disp: i64, within: Option<Range<i64>>) -> Value {
        let memory = self.prepared.frame_memory(place.function) + place.at as u64;
        let host = |offset: i64| memory.wrapping_add_signed(offset);
        let at = host(place.offset).wrapping_add_signed(disp);
        let within = within.map(|range| (host(range.start), host(range.end)));
        self.shared(Kind::FrameHost { function: place.function, at, within }, &[], Type::uniform(Ty::U64))
    }

    /// The array of the source that an address in the memory of a frame lies in: its offsets there. What is accessed by an index
    /// from there is expected to stay in it.
    pub(super) fn array_around(&self, place: &FramePlace, disp: i64) -> Option<Range<i64>> {
        let at = place.offset.checked_add(disp)?;
        let size = self.function(place.function).frame_size as i64;
        let home = Home::Frame(place.function);
        let arrays = self.program.variables.iter().filter(|v| v.home == home && !v.shape.extents.is_empty());
        let ranges = arrays.filter_map(|v| {
            let from = i64::try_from(v.offset).ok()?;
            let to = from.checked_add(i64::try_from(v.shape.size()).ok()?)?;
            (from <= at && at < to && to <= size).then_some(from..to)
        });
        ranges.min_by_key(|range| range.end - range.start)
    }

    /// What may be read later of the private memory of the frames of a state.
    pub(super) fn live_memory(&mut self, state: &State) -> Vec<LiveMemory> {
        let Some(frames) = &self.whole.frames else { return Vec::new() };
        let mut live: Vec<(usize, Vec<Range<i64>>)> = Vec::new();
        // Where the parameters of the frame in hand lead to: a frame, and an offset if it is known.
        let mut params: Vec<Option<(usize, Option<i64>)>> = Vec::new();
        for (i, frame) in state.frames.iter().enumerate() {
            let last = i + 1 == state.frames.len();
            let pc = if last { frame.pc } else { frame.pc + 1 };
            if frames.is_private(frame.function) && !(i == 0 && self.escapes_at_head) {
                live.push((i, frames.live(frame.function, pc, Root::Frame)));
            }
            for (param, to) in params.iter().enumerate() {
                let Some((owner, offset)) = *to else { continue };
                let Some((_, bytes)) = live.iter_mut().find(|(of, _)| *of == owner) else { continue };
                let ranges = frames.live(frame.function, pc, Root::Param(param as u32));
                let all = 0..self.function(state.frames[owner].function).frame_size as i64;
                bytes.extend(ranges.into_iter().map(|r| match offset {
                    Some(offset) => r.start + offset..r.end + offset,
                    None => all.clone(),
                }));
            }
            if !last {
                let f = self.function(frame.function);
                let args = f.list(f.code[frame.pc as usize].args);
                let resolve = |&arg: &Reg| match frames.points_to(frame.function, arg) {
                    PointsTo::At(Root::Frame, offset) => Some((i, Some(offset))),
                    PointsTo::In(Root::Frame) => Some((i, None)),
                    PointsTo::At(Root::Param(p), more) => {
                        let (owner, offset) = params.get(p as usize).copied().flatten()?;
                        Some((owner, offset.map(|offset| offset + more)))
                    }
                    PointsTo::In(Root::Param(p)) => Some((params.get(p as usize).copied().flatten()?.0, None)),
                    PointsTo::Unset | PointsTo::Other | PointsTo::Many => None,
                };
                params = args.iter().map(resolve).collect();
            }
        }
        live.into_iter().map(|(i, bytes)| self.live_of(state, i, bytes)).collect()
    }

    fn live_of(&mut self, state: &State, frame: usize, bytes: Vec<Range<i64>>) -> LiveMemory {
        let memory = self.private_memory(state.frames[frame].function, state.frames[frame].at);
        LiveMemory { memory, bytes }
    }

    /// Notes that the memory of a frame that the region makes is private, if it is; no exit need say so of one that has none.
    pub(super) fn note_private(&mut self, function: FuncId, at: u32) {
        if self.whole.frames.as_ref().is_some_and(|frames| frames.is_private(function)) {
            self.private_memory(function, at);
        }
    }

    /// The number of a private memory.
    fn private_memory(&mut self, function: FuncId, at: u32) -> usize {
        let size = self.function(function).frame_size;
        let start = self.prepared.frame_memory(function) + at as u64;
        let private = &mut self.b.region.private;
        let known = private.iter().position(|m| (m.function, m.at) == (function, at));
        known.unwrap_or_else(|| {
            private.push(PrivateMemory { function, at, start, size });
            private.len() - 1
        })
    }
}
