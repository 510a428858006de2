//! For tools that show a program, rather than run it: its words and lines, its bytecode, what an observer sees, and the tables
//! of what can go wrong. The command line and the Python module are made of this and the rest of the facade.

/// The function that an input of the prompt becomes.
pub use spmdvm_frontend::ast::PROMPT_FUNCTION;
/// The stages of the front end as text, and the library, compiled before it is needed.
pub use spmdvm_frontend::compile::Stage;
/// Diagnostics as text, and the name that was meant.
pub use spmdvm_frontend::diag::{closest, render_list};
/// The words of a source.
pub use spmdvm_frontend::lex::{KEYWORDS, Lexer, Texts, TokenKind, WordCache};
/// The library: its files, and its documentation.
pub use spmdvm_frontend::prelude::{FILES, docs};
/// Files, and places in them.
pub use spmdvm_frontend::source::{FileId, SourceMap, Span};
/// Whether an engine runs here, or why not.
pub use spmdvm_jit::available;
/// What a pointer to memory of the host leads to.
pub use spmdvm_vm::Pointee;
/// What is seen of a run while it executes; a place in the source of a program of the bytecode.
pub use spmdvm_vm::{
    Accessed,
    observe::{Observer, View},
    program::Span as CodeSpan,
};
/// A call that is executed step by step, and what it gives.
pub use spmdvm_vm::{LaneValues, Stepping};
/// Programs of the bytecode as text and as bytes.
pub use spmdvm_vm::{Program, VerifiedProgram, asm, binary, verify};
/// What can go wrong in a run, as tables, and what a trap tells.
pub use spmdvm_vm::{
    TrapFrame,
    check::KINDS,
    trap::{TRAPS, TrapDetail},
};
