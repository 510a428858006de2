//! The oracle: what an SPMD program means, and where another back end departs from it.
//!
//! A [`TestCase`] is a program and one call of it, whose arguments are [`words`]. It comes from [`generate`] or from a file; [`run()`]
//! gives its [`Outcome`] on one of our engines; [`compare`] has it run by several back ends, and says where their outcomes differ;
//! [`reduce`] makes a program that shows a difference small, by edits of its syntax tree ([`tree`]); [`trace`] records what a run does,
//! instruction by instruction. [`json`] is how all of it goes to other programs and comes back.
//! `spmdvm gen`, `compare`, `reduce`, `trace` and `fuzz` are thin commands over this crate (`docs/oracle.md`).

pub mod campaign;
pub mod compare;
pub mod corpus;
pub mod generate;
pub mod json;
pub mod number;
pub mod outcome;
pub mod random;
pub mod reduce;
pub mod run;
pub mod testcase;
pub mod trace;
pub mod tree;
pub mod words;

pub use outcome::{End, Outcome};
pub use run::run;
pub use testcase::{Argument, Call, CaseError, TestCase};
