//! The virtual machine: what a program is, what it means, and the reference interpreter that runs it.
//!
//! In the order data passes them: [`types`] (elements, shapes, widths), [`isa`] (the operation table), [`program`]
//! (functions and what surrounds them), [`flow`] (control flow and register uses), [`properties`] (what is known of lanes
//! before a run), [`builder`] (how compilers make them), [`sem`] (the meaning of every scalar operation), [`verify`] (what
//! makes a program safe to run), [`link`] (one program from several), [`memory`] (the sandbox), [`interp`] (the interpreter:
//! [`Machine`]), [`trap`] (how runs fail), [`print`] and [`observe`] (what they show). Beside them [`asm`] and [`binary`]
//! are the forms programs are kept in (`vm/generate` makes random ones, for tests). This crate knows nothing of the
//! source language.

#![recursion_limit = "256"]

mod accesses;
mod activity;
pub mod asm;
pub mod binary;
pub mod builder;
pub mod check;
pub mod dominance;
#[cfg(feature = "planted-faults")]
pub mod faults;
pub mod flow;
pub mod interp;
pub mod isa;
pub mod link;
pub mod memory;
pub mod observe;
pub mod print;
pub mod program;
pub mod properties;
pub mod sem;
pub mod stop;
mod sync;
pub mod trap;
pub mod types;
pub mod verify;

pub use accesses::{Accessed, MemoryLocation};
pub use activity::{Activity, Stretch};
pub use builder::{FunctionBuilder, Label};
pub use interp::EntryKind;
pub use interp::{
    Arg, HostCall, HostCallee, HostResult, HostTable, LaneValues, Limits, MAX_THREADS, Machine, PreparedProgram,
    Results, Snapshot, Stepping, Watch,
};
pub use isa::{OPS, Op};
pub use link::{LinkError, Object, link};
pub use memory::{Globals, Memory, Pointee, RegionName};
pub use observe::{MaskLevel, Observer, View};
pub use program::{FuncId, Function, GlobalId, Inst, Program, Reg, Span};
pub use trap::{HostError, TRAPS, Trap, TrapDetail, TrapFrame, TrapKind};
pub use types::{Shape, Ty, Width};
pub use verify::{VerifiedProgram, VerifyError, verify};
