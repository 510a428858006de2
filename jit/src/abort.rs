//! Why a loop is not compiled.

use crate::backend::CompileError;
use crate::ir::ExitReason;
use spmdvm_vm::isa::Op;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A reason for which a loop stays with the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Abort {
    /// The region grew beyond its bounds.
    TooLarge,
    /// The facts about its registers did not settle.
    Unsettled,
    /// Its frames cannot fit any stack.
    TooDeep,
    /// The first instruction is one that only the interpreter does.
    NothingToCompile,
    /// The code was left for the interpreter most of the time, for this reason.
    LeavesTooOften(ExitReason),
    /// Entering the code takes longer than what little it does each time.
    TooShort,
    /// The machine code of the program would need more than these bytes.
    CodeCacheFull(usize),
    /// The back end cannot compile it.
    Backend(CompileError),
    /// The compiler is wrong: the loop is interpreted, so results are right.
    Defect(Defect),
}

/// A stage of compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stage {
    /// From bytecode to a region.
    Record,
    /// What makes regions better.
    Passes,
    /// From a region to code.
    BackEnd,
}

/// How the compiler is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Defect {
    /// It panicked.
    Panicked(Stage),
    /// An operation on the mask stack was recorded where the stack has no such entry. Verified programs have none.
    NoMaskEntry(Op),
    /// A region breaks an invariant of the IR.
    InvalidRegion {
        /// The pass behind which it does, or `record`.
        after: &'static str,
        /// Which invariant, and the region as text.
        why: String,
    },
}

impl Stage {
    /// Does a part of this stage. A defect of the compiler is not to end the process: whoever panics has failed, no more.
    pub(crate) fn run<R>(self, part: impl FnOnce() -> Result<R, Abort>) -> Result<R, Abort> {
        catch_unwind(AssertUnwindSafe(part)).unwrap_or(Err(Abort::Defect(Defect::Panicked(self))))
    }
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abort::TooLarge => f.write_str("the loop with all that it calls is too large"),
            Abort::Unsettled => f.write_str("which of its values are uniform did not settle"),
            Abort::TooDeep => f.write_str("its calls need more stack than there can be"),
            Abort::NothingToCompile => f.write_str("it begins with an operation that only the interpreter does"),
            Abort::LeavesTooOften(reason) => write!(f, "it leaves compiled code in most rounds: {reason}"),
            Abort::TooShort => f.write_str("it goes round too few times at once to be worth entering compiled code"),
            Abort::CodeCacheFull(limit) => {
                write!(f, "there is no room for its machine code: a program may have {limit} bytes of it")
            }
            Abort::Backend(why) => write!(f, "the back end cannot compile it: {why}"),
            Abort::Defect(defect) => write!(f, "internal error, please report it: {defect}"),
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Record => "the recorder",
            Stage::Passes => "a pass",
            Stage::BackEnd => "the back end",
        })
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Defect::Panicked(stage) => write!(f, "{stage} panicked"),
            Defect::NoMaskEntry(op) => write!(f, "`{}` without its entry of the mask stack", op.info().name),
            Defect::InvalidRegion { after, why } => write!(f, "after {after}: {why}"),
        }
    }
}
