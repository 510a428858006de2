//! What can be wrong with a program: when it is assembled, in its shape, or as it runs.

use std::fmt;
use std::ops::Range;

/// The kinds of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The text is no µ-SIMD program.
    Syntax,
    /// A jump to a label that stands nowhere.
    UnknownLabel,
    /// A label that stands twice.
    DuplicateLabel,
    /// A program for another number of threads.
    Width,
    /// The program is not well-formed (definition 3.4).
    IllFormed,
    /// A thread uses a variable that has no value in it.
    UndefinedValue,
    /// A thread reads or writes shared memory that is not there.
    Address,
    /// A thread divides by zero.
    DivisionByZero,
    /// Threads disagree where the instruction needs one value.
    Disagreement,
    /// Threads still wait for a `sync` where all must have met.
    Unsynchronised,
    /// The fuel is used up.
    OutOfFuel,
}

impl ErrorKind {
    /// Its name, as messages show it.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::Syntax => "syntax",
            ErrorKind::UnknownLabel => "unknown_label",
            ErrorKind::DuplicateLabel => "duplicate_label",
            ErrorKind::Width => "width",
            ErrorKind::IllFormed => "ill_formed",
            ErrorKind::UndefinedValue => "undefined_value",
            ErrorKind::Address => "address",
            ErrorKind::DivisionByZero => "division_by_zero",
            ErrorKind::Disagreement => "disagreement",
            ErrorKind::Unsynchronised => "unsynchronised",
            ErrorKind::OutOfFuel => "out_of_fuel",
        }
    }
}

/// An error, with the places in the program's text that explain it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What kind of error.
    pub kind: ErrorKind,
    /// What is wrong, in a sentence.
    pub message: String,
    /// Where: bytes of the program's text.
    pub span: Range<usize>,
    /// What is wrong there, in few words.
    pub label: String,
    /// Other places that matter, each with what it has to do with it.
    pub places: Vec<(Range<usize>, String)>,
    /// What to know or to do besides.
    pub notes: Vec<String>,
}

impl Error {
    pub(super) fn new(kind: ErrorKind, span: Range<usize>, message: impl Into<String>) -> Error {
        let (message, label) = (message.into(), String::new());
        Error { kind, message, span, label, places: Vec::new(), notes: Vec::new() }
    }

    pub(super) fn label(mut self, label: impl Into<String>) -> Error {
        self.label = label.into();
        self
    }

    pub(super) fn place(mut self, span: Range<usize>, text: impl Into<String>) -> Error {
        self.places.push((span, text.into()));
        self
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Error {
        self.notes.push(note.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
