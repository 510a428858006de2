//! Why a loop is not compiled.

use crate::backend::CompileError;
use std::fmt;

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
    /// The code was left for the interpreter most of the time, at an instruction of this kind.
    LeavesTooOften(&'static str),
    /// Entering the code takes longer than what little it does each time.
    TooShort,
    /// The machine code of the program would need more than these bytes.
    CodeCacheFull(usize),
    /// The back end cannot compile it.
    Backend(CompileError),
    /// A pass made a region that breaks an invariant. A defect: the loop is interpreted, so results are right.
    Invalid(String),
}

impl fmt::Display for Abort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Abort::TooLarge => f.write_str("the loop with all that it calls is too large"),
            Abort::Unsettled => f.write_str("which of its values are uniform did not settle"),
            Abort::TooDeep => f.write_str("its calls need more stack than there can be"),
            Abort::NothingToCompile => f.write_str("it begins with an operation that only the interpreter does"),
            Abort::LeavesTooOften(what) => write!(f, "it leaves compiled code in most rounds: {what}"),
            Abort::TooShort => f.write_str("it goes round too few times at once to be worth entering compiled code"),
            Abort::CodeCacheFull(limit) => {
                write!(f, "there is no room for its machine code: a program may have {limit} bytes of it")
            }
            Abort::Backend(why) => write!(f, "the back end cannot compile it: {why}"),
            Abort::Invalid(why) => write!(f, "internal error, please report it: {why}"),
        }
    }
}
