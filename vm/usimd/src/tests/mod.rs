//! Tests of the µ-SIMD machine: the paper's figures, every rule, every error, and the properties of section 3.4.

mod assembler;
mod figure7;
mod properties;
mod rules;
mod well_formed;

use super::{Error, ErrorKind, Outcome, RunOptions, WellFormed, assemble, run};

#[track_caller]
fn program(text: &str) -> WellFormed {
    assemble(text).unwrap_or_else(|errors| panic!("{errors:#?}\n{text}"))
}

/// Runs a program with so many threads.
#[track_caller]
fn runs(text: &str, width: usize) -> Outcome {
    run(&program(text), &RunOptions::with_width(width)).unwrap_or_else(|e| panic!("{e:#?}\n{text}"))
}

/// What shared memory holds in the end.
#[track_caller]
fn leaves(text: &str, width: usize, shared: &[i64]) {
    assert_eq!(runs(text, width).shared, shared, "{text}");
}

/// The error of a run with four threads.
#[track_caller]
fn stops(text: &str, kind: ErrorKind) -> Error {
    let error = *run(&program(text), &RunOptions::with_width(4)).expect_err(text);
    assert_eq!(error.kind, kind, "{error:#?}");
    error
}

/// The only error of a program that is refused.
#[track_caller]
fn refused(text: &str, kind: ErrorKind) -> Error {
    let mut errors = assemble(text).expect_err(text);
    assert_eq!((errors.len(), errors[0].kind), (1, kind), "{errors:#?}");
    errors.remove(0)
}

/// What an error points at.
fn pointed<'t>(error: &Error, text: &'t str) -> &'t str {
    &text[error.span.clone()]
}
