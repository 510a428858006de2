//! Whatever the input: no panic, no hang, no overflow of the stack, and messages that can be drawn.

use bumpalo::Bump;
use proptest::prelude::*;
use spmdvm_frontend::ast;
use spmdvm_frontend::compile::with_stack;
use spmdvm_frontend::diag::{Diagnostics, render_all};
use spmdvm_frontend::parse::{ParseOptions, parse};
use spmdvm_frontend::preprocess::{FileLoader, PreprocessOptions};
use spmdvm_frontend::source::SourceMap;
use spmdvm_frontend::{CompileOptions, Input, compile};

/// Parses a text and draws what is wrong with it; the number of errors.
fn survive(text: &str) -> usize {
    let mut sources = SourceMap::new();
    let main = sources.add("input", text);
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::new();
    let headers = [("h.isph", "#pragma once\nstruct FromHeader { int x; };\n"), ("self", "#include <self>\n")];
    let loader = FileLoader::new(None, &[], &headers);
    let preprocess = PreprocessOptions { defines: &[], loader: &loader, main_path: None };
    let options = ParseOptions { preprocess, type_names: &[], template_names: &[], prompt: None };
    let unit = parse(&mut sources, main, &options, &arena, &mut diagnostics);
    ast::dump(unit);
    render_all(&diagnostics, &sources, true);
    diagnostics.error_count()
}

/// Words that programs are made of.
const WORDS: &[&str] = &[
    "int",
    "float",
    "uniform",
    "varying",
    "const",
    "struct",
    "S",
    "enum",
    "typedef",
    "T",
    "export",
    "task",
    "static",
    "void",
    "unsigned",
    "soa",
    "template",
    "typename",
    "operator",
    "x",
    "y",
    "f",
    "if",
    "else",
    "cif",
    "for",
    "while",
    "do",
    "foreach",
    "foreach_unique",
    "in",
    "switch",
    "case",
    "default",
    "break",
    "return",
    "goto",
    "launch",
    "sync",
    "print",
    "assert",
    "new",
    "delete",
    "sizeof",
    "crev",
    "unmasked",
    "NULL",
    "true",
    "1",
    "2.5f",
    "0x1p3",
    "\"s\"",
    "'c'",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ">>",
    ";",
    ",",
    ":",
    "?",
    ".",
    "...",
    "->",
    "=",
    "==",
    "+",
    "-",
    "*",
    "&",
    "!",
    "++",
    "+=",
    "number",
    "$0",
    "__attribute__",
    "extern",
    "\"C\"",
    "@llvm.x",
    "\n",
    "\n#define M(a) a a\n",
    "M",
    "\n#if ",
    "\n#else\n",
    "\n#endif\n",
    "\n#include <h.isph>\n",
    "\n#include <self>\n",
    "\n#pragma unroll\n",
    "##",
    "#",
    "\\\n",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "µ",
];

const PROGRAM: &str = include_str!("good/statements.ispc");

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_text(text in any::<String>()) {
        survive(&text);
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        survive(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn random_words(words in prop::collection::vec(prop::sample::select(WORDS), 0..120)) {
        survive(&words.join(" "));
    }

    #[test]
    fn random_words_in_a_function(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        survive(&format!("struct S {{ int a; }};\nvoid f(int x) {{ {} }}\nint y;", words.join(" ")));
    }

    #[test]
    fn damaged_programs(from in 0..PROGRAM.len(), len in 0..40usize, word in prop::sample::select(WORDS)) {
        let boundary = |at: usize| (0..=at.min(PROGRAM.len())).rev().find(|&at| PROGRAM.is_char_boundary(at)).unwrap_or(0);
        let (from, to) = (boundary(from), boundary(from + len));
        survive(&format!("{}{word}{}", &PROGRAM[..from], &PROGRAM[to..]));
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let openers = [
        ("int x = ", "("),
        ("int x = ", "-"),
        ("int x = ", "a[("),
        ("int x = ", "f("),
        ("int x = ", "1?"),
        ("int x = ", "a?b:"),
        ("int x = ", "a="),
        ("int x = ", "sizeof "),
        ("int x = ", "(int)"),
        ("int x = ", "{"),
        ("int x = ", "new int[("),
        ("int x = ", "launch[("),
        ("int x = ", "crev f("),
        ("int x = ", "f<("),
        ("int x = ", "a.b->c[1]++ ."),
        ("", "struct { "),
        ("", "struct S { int a["),
        ("void ", "(*"),
        ("void f", "(void (*f)"),
        ("int ", "*"),
        ("int x", "[1]"),
        ("", "float<"),
        ("", "template <"),
        ("", "template <typename T> "),
        ("", "extern \"C\" { "),
        ("", "enum { A = ("),
        ("void f() ", "{ "),
        ("void f() { ", "if (x) "),
        ("void f() { ", "if (x) ; else "),
        ("void f() { ", "case 1: "),
        ("void f() { ", "for (;;) "),
        ("void f() { ", "foreach (i = 0 ... 1) "),
        ("void f() { ", "do "),
        ("void f() { ", "l: "),
        ("void f() { ", "unmasked { "),
        ("void f() { ", "\n#pragma unroll\n"),
        ("void f() { ", "switch (x) case 1: "),
        ("", "__attribute__((a("),
        ("", "#if 1\n"),
        ("", "#if ("),
        ("", "operator"),
    ];
    for (start, opener) in openers {
        let errors = survive(&format!("{start}{}", opener.repeat(20_000)));
        assert!(errors > 0, "{start}{opener}");
    }
}

#[test]
fn many_errors_take_no_time() {
    for piece in ["foo bar; ", "x y z ", "void f() { fooo x; retrn 3; forech (x) { } }\n", "#x\n", "@ ", "{ ) "] {
        let start = std::time::Instant::now();
        assert!(survive(&piece.repeat(20_000)) > 0);
        assert!(start.elapsed().as_secs() < 60, "{piece}");
    }
}

#[test]
fn many_errors_in_one_macro_take_no_time() {
    let doubling: String = (0..15).map(|i| format!("#define M{i} M{} M{}\n", i + 1, i + 1)).collect();
    for (last, around) in
        [("Unknown y;", ("", "")), ("unknwon(y);", ("void f() { ", " }")), ("retrun 3;", ("void f() { ", " }"))]
    {
        let start = std::time::Instant::now();
        let text = format!("{doubling}#define M15 {last}\n{}M0{}\n", around.0, around.1);
        survive(&text);
        let compilation = compile(Input::Text { name: "input", text: &text }, &CompileOptions::default());
        assert!(compilation.program.is_none());
        assert!(start.elapsed().as_secs() < 60, "{last}");
    }
}

#[test]
fn long_chains_are_no_trouble() {
    for (start, link, end) in [
        ("int x = 1", " + 1", ";"),
        ("int x = a", ".b", ";"),
        ("int x = f", "(1)", ";"),
        ("int x = 1", ", 1", ";"),
        ("int x = \"a\"", " \"a\"", ";"),
        ("int x = {1", ", 1", "};"),
        ("int x", ", x", ";"),
        ("void f(int", ", int", ");"),
        ("void f() { x;", " x;", "}"),
        ("void f() { switch (x) { case 1:", " case 1:", "} }"),
        ("enum { A", ", A", "};"),
        ("struct S { int a;", " int a;", "};"),
        ("int ", "const ", "x;"),
        ("int x", "[1]", ";"),
        ("", "int x; ", ""),
        ("void f(int x) { f(1", ", 1", "); }"),
        ("void f() { if (x) ;", " else if (x) ;", "}"),
    ] {
        survive(&format!("{start}{}{end}", link.repeat(20_000)));
    }
}

/// Does something with so many bytes more on the stack, at least.
fn further_down(bytes: usize, work: &mut dyn FnMut()) {
    let room = std::hint::black_box([0u8; 1 << 16]);
    match bytes.checked_sub(room.len()) {
        Some(rest) => further_down(rest, work),
        None => work(),
    }
    std::hint::black_box(&room);
}

#[test]
fn work_that_compiles_starts_one_thread_while_the_stack_suffices() {
    let thread = || std::thread::current().id();
    let compile_deep = || {
        let deep = format!("export uniform float f(uniform float x) {{ return {}x; }}", "x + ".repeat(900));
        let compiled = compile(Input::Text { name: "deep.ispc", text: &deep }, &CompileOptions::default());
        assert!(compiled.program.is_some(), "{:?}", compiled.diagnostics);
    };
    let outside = thread();
    with_stack(|| {
        let inside = thread();
        assert_ne!(outside, inside);
        compile_deep();
        further_down(3 << 20, &mut || {
            assert_eq!(with_stack(thread), inside);
            compile_deep();
        });
        further_down(5 << 20, &mut || {
            assert_ne!(with_stack(thread), inside, "too little is left");
            compile_deep();
        });
    });
    assert_ne!(with_stack(thread), outside, "the stack of this thread is not known");
}
