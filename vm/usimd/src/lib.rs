//! µ-SIMD: the paper's small machine for re-vectorised calls, as an executable semantics.
//!
//! Rubens Moreira, Caroline Collange, Fernando Pereira, "Function Call Re-Vectorization", PPoPP 2017, give a `crev` call
//! its meaning by a machine of threads that run in lock-step (figures 1–5) and a translation into its instructions
//! (figure 8, algorithm 5). Here both are made to run. They share nothing with the bytecode and its interpreter, so that
//! each can check the other. `docs/usimd.md` tells how to use it and where we had to depart from the printed rules.
//!
//! In the order data passes them: [`assemble`] reads a listing (`assemble.rs`, tokens in `lex.rs`) into a [`Program`];
//! `flow.rs` finds its dominators, by which `well_formed.rs` checks definition 3.4; `state.rs` holds the machine's septuple
//! with its sets of threads (`threads.rs`); `control.rs` has the rules of figure 4, `data.rs` those of figure 5, one
//! function per rule; `machine.rs` picks the rule of each step and counts; `trace.rs` makes figure 7 of it. [`crev`] is the
//! translation: a small language and its lowering.
//!
//! ```
//! use spmdvm_usimd::{RunOptions, assemble, run};
//! let program = assemble(".zeros 4\n v = 10 * tid\n ↑tid = v\n stop").unwrap();
//! assert_eq!(run(&program, &RunOptions::with_width(4)).unwrap().shared, [0, 10, 20, 30]);
//! ```

mod assemble;
mod control;
pub mod crev;
mod data;
mod error;
mod flow;
mod lex;
mod machine;
mod program;
mod state;
mod threads;
mod trace;
mod well_formed;

#[cfg(test)]
mod tests;

pub use control::{Rule, Step};
pub use error::{Error, ErrorKind};
pub use flow::Flow;
pub use machine::{Outcome, RunOptions, Statistics, run, run_observed};
pub use program::{BinaryOp, Data, Expr, Inst, Operand, Pc, Program, Var};
pub use state::{Bank, Cell, Context, State, SyncEntry};
pub use threads::Threads;
pub use trace::{Entry, Row, Trace, trace};
pub use well_formed::WellFormed;

/// Reads a listing and checks that it is well-formed.
pub fn assemble(text: &str) -> Result<WellFormed, Vec<Error>> {
    WellFormed::check(assemble::assemble(text)?)
}
