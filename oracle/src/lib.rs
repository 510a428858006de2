//! The oracle: what an SPMD program means, and where another back end departs from it.
//!
//! A [`TestCase`] is a program and one call of it. It comes from [`generate`] or from a file; [`compare`] runs it on our engines
//! and on another back end, each of which gives an [`Outcome`], and says where these differ; [`reduce`] makes a program that
//! shows a difference small, by edits of its syntax tree ([`tree`]); [`trace`] records what a run does, instruction by instruction.
//! `spmdvm gen`, `compare`, `reduce`, `trace` and `fuzz` are thin commands over this crate (`docs/oracle.md`).

pub mod compare;
pub mod generate;
pub mod number;
pub mod outcome;
pub mod reduce;
pub mod testcase;
pub mod trace;
pub mod tree;

pub use outcome::{End, Outcome};
pub use testcase::{Argument, Call, TestCase};
