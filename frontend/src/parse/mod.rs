//! The parser.

pub(crate) mod literal;
