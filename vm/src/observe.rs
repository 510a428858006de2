//! Watching a program run, instruction by instruction: what traces, profilers and interactive tools are made of.
//!
//! [`Machine::call_observed`](crate::Machine::call_observed) runs a separate loop, so a machine without an observer pays
//! nothing for this.

use crate::interp::{EntryKind, LaneValues, MAX_LANES, MaskEntry, Step, Thread, lanes, value};
use crate::memory::{Memory, region_start};
use crate::program::{FuncId, Function, Inst, Program, Reg, Span};
use crate::trap::TrapFrame;
use crate::types::{Shape, Ty};

/// Is told about every instruction.
pub trait Observer {
    /// An instruction is about to execute.
    fn before(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// An instruction has executed. Not told of calls and returns (whose registers belong to another frame) and of
    /// instructions that trapped.
    fn after(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// A function has been entered: called, launched as a task, or called by the host. The view is at its first
    /// instruction, and its parameters are there.
    fn entered(&mut self, view: &View<'_>) {
        let _ = view;
    }

    /// A print is about to execute: by argument the lanes (of a uniform argument lane 0) that hold no value, and print as
    /// `((_))`. Arguments without an entry have values in all lanes.
    fn unset_lanes(&mut self, view: &View<'_>) -> Vec<u64> {
        let _ = view;
        Vec::new()
    }
}

/// An entry of the mask stack; see `docs/internals/bytecode.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskLevel {
    /// What pushed it.
    pub kind: EntryKind,
    /// The mask to come back to.
    pub restore: u64,
    /// Lanes that wait: for the else part, the next round, their case, their turn.
    pub waiting: u64,
    /// The lane whose turn it is, if all lanes are on for it.
    pub visiting: Option<u32>,
}

/// A look at a running machine, at one instruction.
pub struct View<'a> {
    pub(crate) thread: &'a Thread,
    pub(crate) function: FuncId,
    pub(crate) pc: u32,
}

impl View<'_> {
    /// The function that executes.
    pub fn function_id(&self) -> FuncId {
        self.function
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.thread.code.program
    }

    /// The line of the source, from 1.
    pub fn line(&self) -> Option<usize> {
        self.program().line_col(self.span()).map(|(_, line, _)| line)
    }

    /// The function that executes.
    pub fn function(&self) -> &Function {
        &self.thread.code.program.functions[self.function.0 as usize]
    }

    /// Index of the instruction.
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// The instruction.
    pub fn inst(&self) -> &Inst {
        &self.function().code[self.pc as usize]
    }

    /// Its source.
    pub fn span(&self) -> Span {
        self.function().spans.get(self.pc as usize).copied().unwrap_or_default()
    }

    /// The execution mask; bit *i* is lane *i*.
    pub fn mask(&self) -> u64 {
        self.thread.mask
    }

    /// Number of lanes.
    pub fn lanes(&self) -> usize {
        self.thread.lanes
    }

    /// Number of calls (and launches) around this one.
    pub fn depth(&self) -> usize {
        self.thread.depth()
    }

    /// Number of entries on the mask stack of this call.
    pub fn mask_depth(&self) -> usize {
        self.thread.masks.len() - self.thread.floor
    }

    /// The entries of the mask stack of this call, the innermost last.
    pub fn mask_stack(&self) -> Vec<MaskLevel> {
        let level = |entry: &MaskEntry| {
            let (kind, restore, waiting) = (entry.kind, entry.restore, entry.other);
            MaskLevel { kind, restore, waiting, visiting: entry.visited_lane() }
        };
        self.thread.masks[self.thread.floor..].iter().map(level).collect()
    }

    /// The mask that this function was called with; `None` if it was called by the host, or launched.
    pub fn entry_mask(&self) -> Option<u64> {
        self.thread.frames.last().map(|frame| frame.mask)
    }

    /// The memory of the machine.
    pub fn memory(&self) -> &Memory {
        &self.thread.memory
    }

    /// The pointer to the memory of this call; `None` if it has none.
    pub fn frame(&self) -> Option<u64> {
        (self.thread.region != 0).then(|| region_start(self.thread.region))
    }

    /// The index of the task in its launch, if the executing function is one: launched, rather than called.
    pub fn task(&self) -> Option<u64> {
        self.thread.task.as_ref().filter(|_| self.thread.frames.is_empty()).map(|task| task.index)
    }

    /// The value a register holds. What a register holds before it is written is not specified.
    pub fn register(&self, reg: Reg) -> LaneValues {
        let prepared = self.thread.code.function(self.function);
        // SAFETY: the frame at `base` is one of this function, whose registers lie at these places.
        unsafe { value::read_lanes(self.thread.base, &prepared.slot(reg), self.thread.lanes) }
    }

    /// The value a register of the caller holds; `None` if the host called, or it is a task.
    pub fn caller_register(&self, reg: Reg) -> Option<LaneValues> {
        let frame = self.thread.frames.last()?;
        // SAFETY: frames point to functions of the thread's code, whose registers lie at these places.
        Some(unsafe { value::read_lanes(frame.base, &(*frame.function).slot(reg), self.thread.lanes) })
    }

    /// One lane of a register, or the value of a uniform one, as a word; see [`register`](Self::register).
    pub fn lane(&self, reg: Reg, lane: usize) -> u64 {
        let prepared = self.thread.code.function(self.function);
        let slot = prepared.slot(reg);
        let lane = if slot.shape == Shape::Uniform { 0 } else { lane };
        assert!(lane < self.thread.lanes, "lane {lane} of {}", self.thread.lanes);
        // SAFETY: as in `register`; the lane is one of the register's.
        unsafe { value::read_word(self.thread.base.add(slot.at as usize), slot.ty, lane) }
    }

    /// Lanes of an integer register, extended by their sign if they have one; what is above `i64::MAX` is that.
    pub(crate) fn integers(&self, reg: Reg, into: &mut [i64; MAX_LANES]) {
        let prepared = self.thread.code.function(self.function);
        let slot = prepared.slot(reg);
        let n = if slot.shape == Shape::Uniform { 1 } else { self.thread.lanes };
        let at = self.thread.base.wrapping_add(slot.at as usize).cast_const();
        macro_rules! read {
            ($T:ty) => {
                // SAFETY: as in `register`; lanes below `n` are the register's, and `n` is at most `MAX_LANES`.
                (0..n).for_each(|l| into[l] = i64::try_from(unsafe { lanes::lane::<$T>(at, l) }).unwrap_or(i64::MAX))
            };
        }
        match slot.ty {
            Ty::I8 => read!(i8),
            Ty::I16 => read!(i16),
            Ty::I32 => read!(i32),
            Ty::I64 => read!(i64),
            Ty::Bool | Ty::U8 => read!(u8),
            Ty::U16 => read!(u16),
            Ty::U32 => read!(u32),
            _ => read!(u64),
        }
        if n == 1 {
            let first = into[0];
            into[..self.thread.lanes].fill(first);
        }
    }

    /// The lanes in which a bool register is true; all or none of a uniform one.
    pub(crate) fn bools(&self, reg: Reg) -> u64 {
        if self.function().reg(reg).shape == Shape::Uniform {
            return if self.lane(reg, 0) != 0 { u64::MAX } else { 0 };
        }
        let mut lanes = [0; MAX_LANES];
        self.integers(reg, &mut lanes);
        (0..self.thread.lanes).fold(0, |mask, l| mask | ((lanes[l] != 0) as u64) << l)
    }

    /// The calls that are active, innermost first, up to the task if it is one.
    pub fn stack(&self) -> Vec<TrapFrame> {
        self.thread.call_stack(self.thread.frames.len(), self.step())
    }

    /// The lanes that wait in the topmost entry of the mask stack: for their case, or their turn.
    pub(crate) fn waiting(&self) -> u64 {
        self.thread.masks[self.thread.floor..].last().map_or(0, |entry| entry.other)
    }

    /// The lanes that were active outside the outermost `everywhere` of this call; all of them if there is none.
    pub(crate) fn active_outside_unmasked(&self) -> u64 {
        let entries = &self.thread.masks[self.thread.floor..];
        entries.iter().find(|entry| entry.kind == EntryKind::Every).map_or(u64::MAX, |entry| entry.restore)
    }

    /// The calls around the executing one, innermost first, up to the task if it is one: functions and call instructions.
    pub(crate) fn callers(&self) -> Box<[(FuncId, u32)]> {
        self.thread.frames.iter().rev().map(|frame| self.thread.waiting_at(frame)).collect()
    }

    /// The prepared instruction.
    pub(crate) fn step(&self) -> *const Step {
        &self.thread.code.function(self.function).steps[self.pc as usize]
    }
}
