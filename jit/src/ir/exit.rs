//! Snapshots: what an exit hands back to the interpreter.

use super::{Type, Value};
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{FuncId, Reg};
use std::fmt;
use std::ops::Range;

/// A register of a frame and the value it holds at an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegState {
    /// The register.
    pub reg: Reg,
    /// Byte offset from the frame's base.
    pub at: u32,
    /// Its type; a uniform value in a varying register is broadcast.
    pub ty: Type,
    /// The value.
    pub value: Value,
    /// If it is an offset in memory that is [to be entered](FrameState::unopened), and the register is to hold the pointer: whose, by
    /// index into [`Exit::frames`].
    pub into: Option<u32>,
}

/// What pushed a mask entry.
pub use spmdvm_vm::interp::EntryKind;

/// An entry of a frame's mask stack at an exit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryState {
    /// What pushed it.
    pub kind: EntryKind,
    /// The mask to come back to.
    pub restore: Value,
    /// Lanes that wait.
    pub other: Value,
    /// Of an `each.all` entry: the lane being visited plus one (uniform `i32`).
    pub visiting: Option<Value>,
}

/// A frame of the interpreter at an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameState {
    /// Its function.
    pub function: FuncId,
    /// Where it stands: the instruction to execute next; in all frames but the last, the call that waits.
    pub pc: u32,
    /// Byte offset of the frame from the base of the entered frame.
    pub at: u32,
    /// Registers that were changed in the region and may be read later.
    pub regs: Vec<RegState>,
    /// Its execution mask.
    pub mask: Value,
    /// The pointer to its memory, if it has some and the region has made it.
    pub memory: Option<Value>,
    /// If it has memory that the region has not entered: who leaves enters it, with these bytes zeroed. The exit's cells, and what the
    /// region has stored, stay.
    pub unopened: Option<Vec<Range<u64>>>,
    /// Its part of the mask stack, from the bottom.
    pub entries: Vec<EntryState>,
}

/// Why a region is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExitReason {
    /// The loop has ended.
    LoopEnd,
    /// A call of a function that has regions of its own.
    LinkedCall,
    /// The entered function ends.
    Return,
    /// What follows is in another region.
    Cut,
    /// The run must end or wait, or another thread needs something.
    Poll,
    /// A way that was never taken before, and left out.
    NeverTaken,
    /// A pointer is not the one that has been loaded before.
    OtherPointer,
    /// A load may be out of bounds.
    Load,
    /// A store may be out of bounds.
    Store,
    /// A divisor is zero: some active lane's, if there is one per lane.
    ZeroDivisor {
        /// Whether there is one per lane.
        varying: bool,
    },
    /// An assertion fails.
    Assertion,
    /// The memory of a frame cannot be entered: there can be no more memory regions.
    NoRegion,
    /// An operation that only the interpreter does, or whose handler traps.
    Operation(Op),
    /// In regions that are made by hand: which exit it is.
    Numbered(u32),
}

impl ExitReason {
    /// Returns whether a check of bounds has failed.
    pub fn is_bounds(self) -> bool {
        matches!(self, ExitReason::Load | ExitReason::Store)
    }
}

impl fmt::Display for ExitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExitReason::LoopEnd => "end of loop",
            ExitReason::LinkedCall => "a call that is linked",
            ExitReason::Return => "return",
            ExitReason::Cut => "it goes on in another region",
            ExitReason::Poll => "poll",
            ExitReason::NeverTaken => "a way that was never taken before",
            ExitReason::OtherPointer => "another pointer than before",
            ExitReason::Load => "a load is out of bounds",
            ExitReason::Store => "a store is out of bounds",
            ExitReason::ZeroDivisor { varying: true } => "a divisor is zero",
            ExitReason::ZeroDivisor { varying: false } => "the divisor is zero",
            ExitReason::Assertion => "an assertion fails",
            ExitReason::NoRegion => "no more memory regions",
            ExitReason::Operation(op) => op.info().name,
            ExitReason::Numbered(n) => return write!(f, "exit {n}"),
        })
    }
}

/// The memory of a frame that no address outside of the region leads to, except for frames that the region knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrivateMemory {
    /// The frame's function.
    pub function: FuncId,
    /// Byte offset of the frame from the base of the entered one; 0 for the entered one itself.
    pub at: u32,
    /// Where it begins, as [`Kind::FrameHost`] tells.
    pub start: u64,
    /// Its size in bytes.
    pub size: u64,
}

/// Bytes of private memory that may be read after an exit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveMemory {
    /// Which memory, by index into [`Region::private`].
    pub memory: usize,
    /// The bytes.
    pub bytes: Vec<Range<i64>>,
}

/// A cell of private memory that is kept as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cell {
    /// The frame's function.
    pub function: FuncId,
    /// Where it lies, as [`Kind::FrameHost`] tells.
    pub at: u64,
    /// One scalar, or one after another for all lanes.
    pub ty: Type,
}

/// A snapshot: the state of the interpreter where a region is left. Frame 0 is the entered one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The frames, outermost first.
    pub frames: Vec<FrameState>,
    /// What is to be written to cells of memory.
    pub cells: Vec<(Cell, Value)>,
    /// Until cells are promoted: what may be read later of the private memory of its frames.
    pub live: Vec<LiveMemory>,
    /// Why it is there.
    pub reason: ExitReason,
    /// Units of fuel that have been counted in advance, for what comes behind the exit: whoever executed the region adds
    /// them again.
    pub fuel: u32,
}

impl Exit {
    /// All values that the snapshot needs.
    pub fn values(&self) -> impl Iterator<Item = Value> {
        let in_frames = self.frames.iter().flat_map(|f| {
            let regs = f.regs.iter().map(|r| r.value);
            let entries = f.entries.iter().flat_map(|e| [Some(e.restore), Some(e.other), e.visiting]).flatten();
            regs.chain([f.mask]).chain(f.memory).chain(entries)
        });
        in_frames.chain(self.cells.iter().map(|(_, v)| *v))
    }

    /// Those of them that registers and cells are to hold.
    pub fn whole_values(&self) -> impl Iterator<Item = Value> {
        let regs = self.frames.iter().flat_map(|f| &f.regs).map(|r| r.value);
        regs.chain(self.cells.iter().map(|(_, v)| *v))
    }

    /// The registers that are to hold pointers to memory which the frame of a number has [to be entered](FrameState::unopened): where
    /// they lie from the base of the entered frame, and whether they vary.
    pub fn pointers_into(&self, frame: u32) -> impl Iterator<Item = (u32, bool)> {
        let regs = self.frames.iter().flat_map(|f| f.regs.iter().map(move |r| (f.at, r)));
        regs.filter(move |(_, r)| r.into == Some(frame)).map(|(at, r)| (at + r.at, r.ty.is_varying()))
    }

    /// All values, to be changed.
    pub fn values_mut(&mut self) -> impl Iterator<Item = &mut Value> {
        let in_frames = self.frames.iter_mut().flat_map(|f| {
            let regs = f.regs.iter_mut().map(|r| &mut r.value);
            let entries = f
                .entries
                .iter_mut()
                .flat_map(|e| [Some(&mut e.restore), Some(&mut e.other), e.visiting.as_mut()].into_iter().flatten());
            regs.chain([&mut f.mask]).chain(&mut f.memory).chain(entries)
        });
        in_frames.chain(self.cells.iter_mut().map(|(_, v)| v))
    }
}
