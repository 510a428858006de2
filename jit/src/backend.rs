//! What runs regions: the trait that all back ends implement, and why one refuses.

use crate::ir::{ExitId, Kind, Region};
use spmdvm_vm::interp::native::Context;
use spmdvm_vm::isa::Op;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Makes regions executable. Nothing above it knows of machine types, vector lengths or how masks are held.
pub trait Backend: Send + Sync {
    /// Its name, as `--engine` takes it.
    fn name(&self) -> &'static str;

    /// Compiles a verified region.
    fn compile(&self, region: Arc<Region>) -> Result<Box<dyn Executable>, CompileError>;

    /// Compiles a region in less time, to code that is slower, if there is a way to and the region is so large that it pays.
    fn compile_baseline(&self, _region: &Arc<Region>) -> Option<Box<dyn Executable>> {
        None
    }
}

/// A region, ready to run. Its memory is freed with it.
pub trait Executable: Send + Sync {
    /// Runs the region and tells by which exit it was left. [`Context::words`] then holds the masks of the exit's frames (for
    /// each its execution mask, then `restore`, `other`, and `visiting` or 0 of every entry), and the registers that the exit
    /// names have been written to the frames.
    ///
    /// # Safety
    /// The context comes from a pause at the region's head (function and instruction), with as many mask entries as the
    /// region was made for; there is room for its frames; `words` and `counters` have room for what the region writes.
    unsafe fn run(&self, context: &mut Context) -> ExitId;

    /// Has runs of baseline code end at their next poll: there is better code now.
    fn retire(&self) {}

    /// Bytes of machine code.
    fn code_bytes(&self) -> usize {
        0
    }

    /// The machine code as text, if there is any and it can be shown.
    fn listing(&self) -> Option<String> {
        None
    }
}

/// A rule of selection: which instructions a native back end makes of an operation. Without it the runtime executes the operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Of which rules it is one.
    pub rules: Rules,
    /// Which.
    pub op: Op,
}

/// Rules of selection for the same form of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// Operations on uniform values.
    Scalar,
    /// Operations on vectors, lane by lane.
    Vector,
    /// Operations that make masks.
    Mask,
    /// Operations across lanes.
    Lanes,
}

impl Rules {
    /// All.
    pub const ALL: [Rules; 4] = [Rules::Scalar, Rules::Vector, Rules::Mask, Rules::Lanes];
}

/// Why a region has not been compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// An instruction that has no meaning in a region.
    Unsupported(Kind),
    /// Something is larger than a limit.
    TooLarge(Limit),
    /// The register allocator has found no registers.
    RegisterAllocation(String),
    /// The encoder does not know an instruction.
    Encoding(String),
    /// Cranelift has refused.
    Cranelift(String),
    /// There is no memory for the code.
    NoMemory(String),
    /// A stage has panicked: a defect, but the loop can be interpreted.
    Panicked(BackendStage),
}

impl CompileError {
    /// Returns whether the back end is wrong, rather than the region too large or memory short.
    pub fn is_defect(&self) -> bool {
        match self {
            CompileError::TooLarge(_) | CompileError::NoMemory(_) => false,
            CompileError::Unsupported(_)
            | CompileError::RegisterAllocation(_)
            | CompileError::Encoding(_)
            | CompileError::Cranelift(_)
            | CompileError::Panicked(_) => true,
        }
    }
}

/// What a region can have too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Bytes of the interpreter's frames.
    Frames,
    /// Bytes of its frame on the machine's stack.
    StackFrame,
    /// Bytes of code.
    Code,
}

/// A stage of compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendStage {
    /// Translation to instructions of the back end.
    Selection,
    /// The choice of registers.
    RegisterAllocation,
    /// From instructions to bytes.
    Emission,
    /// All that Cranelift does.
    Cranelift,
    /// Into memory that can be executed.
    Loading,
}

/// Does a stage of compiling; a panic ends no more than the compilation.
pub(crate) fn stage<T>(stage: BackendStage, work: impl FnOnce() -> Result<T, CompileError>) -> Result<T, CompileError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(CompileError::Panicked(stage)))
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CompileError::Unsupported(kind) => write!(f, "`{kind}` cannot stand in a region"),
            CompileError::TooLarge(limit) => limit.fmt(f),
            CompileError::RegisterAllocation(why) => write!(f, "the allocation of registers has failed: {why}"),
            CompileError::Encoding(what) => write!(f, "the encoder cannot write {what}"),
            CompileError::Cranelift(why) => write!(f, "Cranelift has failed: {why}"),
            CompileError::NoMemory(why) => write!(f, "no memory for code: {why}"),
            CompileError::Panicked(stage) => write!(f, "internal error, please report it: {stage} panicked"),
        }
    }
}

impl std::error::Error for CompileError {}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Limit::Frames => "its frames are larger than 2 GiB",
            Limit::StackFrame => "its frame on the machine's stack would be too large",
            Limit::Code => "the code is too large",
        })
    }
}

impl fmt::Display for BackendStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BackendStage::Selection => "the selection of instructions",
            BackendStage::RegisterAllocation => "the allocation of registers",
            BackendStage::Emission => "the emission of code",
            BackendStage::Cranelift => "Cranelift",
            BackendStage::Loading => "loading",
        })
    }
}

/// Why there is no code for this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The processor, or the platform, lacks something.
    Needs(&'static str),
    /// Cranelift does not know how to make code for it.
    Cranelift(String),
    /// What all code needs cannot be compiled.
    Stubs(CompileError),
}

impl fmt::Display for Unavailable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unavailable::Needs(what) => write!(f, "it needs {what}"),
            Unavailable::Cranelift(why) => f.write_str(why),
            Unavailable::Stubs(why) => why.fmt(f),
        }
    }
}

impl std::error::Error for Unavailable {}
