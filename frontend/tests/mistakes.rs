//! The mistakes that newcomers make, each a program of its own, with all that is said about it as it is drawn.
//!
//! The programs stand one after another in the files of `mistakes/`, each after a `//--- title` line.

use spmdvm_frontend::diag::{Diagnostics, render_all};
use spmdvm_frontend::{CompileOptions, Input, compile};
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Title and text of the programs of a file.
fn programs(file: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mistakes").join(file).with_extension("ispc");
    let text = fs::read_to_string(path).unwrap();
    let parts = text.split("//--- ").skip(1).filter_map(|part| part.split_once('\n'));
    parts.map(|(title, program)| (title.to_owned(), program.to_owned())).collect()
}

/// Compiles each program of a file and compares what is said.
fn check(file: &str) {
    let mut report = String::new();
    let programs = programs(file);
    assert!(programs.len() > 10);
    for (title, text) in programs {
        let compilation = compile(Input::Text { name: "program.ispc", text: &text }, &CompileOptions::default());
        let mut diagnostics = Diagnostics::new();
        compilation.diagnostics.into_iter().for_each(|diagnostic| diagnostics.emit(diagnostic));
        let rendered = render_all(&diagnostics, &compilation.sources, false);
        let _ = writeln!(report, "=== {title}\n{rendered}");
    }
    insta::assert_snapshot!(format!("mistakes_{file}"), report);
}

#[test]
fn of_gangs() {
    check("of_gangs");
}

#[test]
fn of_syntax() {
    check("of_syntax");
}

#[test]
fn of_calls_and_types() {
    check("of_calls_and_types");
}

#[test]
fn from_other_languages() {
    check("from_other_languages");
}
