//! The virtual machine: what a program is, what it means, and the reference interpreter that runs it.
//!
//! In the order data passes them: [`types`] (elements, shapes, widths), [`isa`] (the operation table), [`program`]
//! (functions and what surrounds them), [`builder`] (how compilers make them), and [`sem`] (the meaning of every scalar
//! operation). This crate knows nothing of the source language.

pub mod asm;
pub mod binary;
pub mod builder;
pub mod generate;
pub mod isa;
pub mod program;
pub mod sem;
pub mod types;
pub mod verify;

pub use builder::{FunctionBuilder, Label};
pub use isa::{OPS, Op};
pub use program::{FuncId, Function, GlobalId, Inst, Program, Reg, Span};
pub use types::{Shape, Ty, Width};
pub use verify::{VerifiedProgram, VerifyError, verify};
