//! A program and one call of it.

use spmdvm::Ty;

/// A program with what is needed to run it once.
#[derive(Clone, Debug, PartialEq)]
pub struct TestCase {
    /// What messages call it: the name of its file, or its seed.
    pub name: String,
    /// The source.
    pub text: String,
    /// The call.
    pub call: Call,
}

/// A call of an exported function.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The function.
    pub entry: String,
    /// The arguments, by the names of the parameters, in their order.
    pub arguments: Vec<(String, Argument)>,
    /// Lanes that are active at the start; bits from the width on are ignored.
    pub mask: u64,
}

/// An argument. Elements are words that hold the bits of a value, above them zeros.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A uniform number.
    Scalar(Ty, u64),
    /// A varying number, one word per lane.
    Lanes(Ty, Vec<u64>),
    /// An array of numbers.
    Array(Ty, Vec<u64>),
    /// The memory of an earlier array argument, from one of its elements on.
    Alias {
        /// The parameter that the memory was given to.
        of: String,
        /// The element it begins at.
        from: u64,
    },
    /// No memory.
    Null,
}
