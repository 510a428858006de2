//! From SPMD source text to a verified bytecode program.
//!
//! What flows: source text ([`source`]) → preprocessor and lexer → parser → syntax tree ([`ast`]) → semantic analysis →
//! bytecode. Names are interned in [`symbol`]; what is wrong is told to [`diag`].

pub mod ast;
pub mod compile;
pub mod diag;
pub mod header;
pub mod hints;
pub mod hir;
pub mod lex;
pub mod limits;
pub mod lower;
pub mod parse;
pub mod predefined;
pub mod prelude;
pub mod preprocess;
pub mod sema;
pub mod source;
pub mod symbol;

pub use bumpalo;
pub use compile::{Compilation, CompileOptions, Input, compile, parse_text};
