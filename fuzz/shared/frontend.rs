//! What fuzzing checks of the front end: whatever the text, nothing panics, and what compiles is a verified program.

use spmdvm_frontend::bumpalo::Bump;
use spmdvm_frontend::diag::{Code, Diagnostics, render_all};
use spmdvm_frontend::source::SourceMap;
use spmdvm_frontend::{CompileOptions, Input, compile, parse_text};

/// Longer texts only take longer.
const MAX_TEXT: usize = 1 << 14;

/// Any text: preprocessed, lexed and parsed, and its messages drawn.
pub fn fuzz_parser(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(MAX_TEXT)]);
    let (mut sources, arena, mut diagnostics) = (SourceMap::new(), Bump::new(), Diagnostics::new());
    parse_text("input", &text, &mut sources, &arena, &mut diagnostics);
    render_all(&diagnostics, &sources, false);
}

/// Any text: compiled, without the compiler finding a mistake of its own.
pub fn fuzz_compile(data: &[u8]) {
    let text = String::from_utf8_lossy(&data[..data.len().min(MAX_TEXT)]);
    let compilation = compile(Input::Text { name: "input", text: &text }, &CompileOptions::default());
    let internal = compilation.diagnostics.iter().find(|d| d.code == Code::InternalError);
    assert!(internal.is_none(), "{internal:?}\n{text}");
    assert!(compilation.program.is_some() || !compilation.diagnostics.is_empty());
}
