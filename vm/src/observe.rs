//! Watching a program run, instruction by instruction: what traces, profilers and interactive tools are made of.
//!
//! [`Machine::call_observed`](crate::Machine::call_observed) runs a separate loop, so a machine without an observer pays
//! nothing for this.

use crate::interp::{LaneValues, Thread, value};
use crate::program::{FuncId, Function, Inst, Program, Reg, Span};

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

    /// The value a register holds. What a register holds before it is written is not specified.
    pub fn register(&self, reg: Reg) -> LaneValues {
        let prepared = &self.thread.code.functions[self.function.0 as usize];
        // SAFETY: the frame at `base` is one of this function, whose registers lie at these places.
        unsafe { value::read_lanes(self.thread.base, &prepared.place(reg), self.thread.lanes) }
    }
}
