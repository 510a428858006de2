//! The signatures of the library, result types included, are those that `signatures/table.txt` lists: what ISPC has too, what
//! only ISPC has, and what only we have.

use spmdvm_frontend::compile::read_library;
use spmdvm_frontend::compile::{CompileOptions, Input, compile};
use spmdvm_frontend::diag::{Severity, render};
use spmdvm_frontend::lower::FpMode;
use spmdvm_frontend::prelude::Parts;
use spmdvm_frontend::sema::library_signatures;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A section of the table and its signatures, with all that stands for several written out.
struct Section {
    title: String,
    signatures: BTreeSet<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()
}

/// Reads the table: `[title]` begins a section; a line is `name(parameters) -> result`, where `S` is both shapes and `T` each
/// of the types that follow behind `T:`. Lines that begin with `#` are comments.
fn table() -> Vec<Section> {
    let text = fs::read_to_string(root().join("tests/signatures/table.txt")).unwrap();
    let mut sections: Vec<Section> = Vec::new();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.push(Section { title: title.into(), signatures: BTreeSet::new() });
            continue;
        }
        let section = sections.last_mut().expect("a section comes first");
        for signature in written_out(line) {
            assert!(section.signatures.insert(signature.clone()), "{signature} stands twice in one section");
        }
    }
    sections
}

fn written_out(line: &str) -> Vec<String> {
    let (pattern, types) = line.split_once("T:").unwrap_or((line, "T"));
    let shapes: &[&str] = if has_word(pattern, "S") { &["uniform", "varying"] } else { &["S"] };
    let types = types.split_whitespace();
    types
        .flat_map(|ty| shapes.iter().map(move |shape| replaced(&replaced(pattern.trim(), "T", ty), "S", shape)))
        .collect()
}

/// Splits a text into words and what lies between them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest.find(|c| is_name(c) != is_name(first)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(piece)
    })
}

fn has_word(text: &str, word: &str) -> bool {
    pieces(text).any(|piece| piece == word)
}

fn replaced(text: &str, word: &str, by: &str) -> String {
    pieces(text).map(|piece| if piece == word { by } else { piece }).collect()
}

fn section<'s>(sections: &'s [Section], title: &str) -> &'s BTreeSet<String> {
    &sections.iter().find(|section| section.title == title).unwrap_or_else(|| panic!("no section {title}")).signatures
}

#[test]
fn the_library_is_what_the_table_says() {
    let sections = table();
    let wanted: BTreeSet<String> = section(&sections, "both").union(section(&sections, "only here")).cloned().collect();
    let found: BTreeSet<String> = library_signatures(&read_library(FpMode::Contract, Parts::ALL)).into_iter().collect();
    let missing: Vec<_> = wanted.difference(&found).collect();
    let unlisted: Vec<_> = found.difference(&wanted).collect();
    assert!(
        missing.is_empty() && unlisted.is_empty(),
        "not in the library: {missing:#?}\nnot in the table: {unlisted:#?}"
    );
}

/// A function's name where a pointer of its type is wanted: there is an instance of exactly that type.
#[test]
fn templates_have_the_signatures_of_the_table() {
    let sections = table();
    let mut program = String::new();
    for (index, signature) in section(&sections, "templates").iter().enumerate() {
        let (head, result) = signature.split_once(" -> ").unwrap();
        let (name, params) = head.trim_end_matches(')').split_once('(').unwrap();
        program +=
            &format!("static void use{index}() {{ {result} (*uniform f)({params}) = {name}; assert(f != NULL); }}\n");
    }
    let compiled = compile(Input::Text { name: "signatures", text: &program }, &CompileOptions::default());
    let errors = compiled.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
    let errors: Vec<String> = errors.map(|error| render(error, &compiled.sources, false)).collect();
    assert!(errors.is_empty(), "{}", errors.concat());
}

/// Where the library differs from ISPC's on purpose, the documentation says so.
#[test]
fn differences_are_documented() {
    let document = fs::read_to_string(root().join("../docs/conformance.md")).unwrap();
    let (_, known) = document.split_once("## Known differences").expect("there are known differences");
    let sections = table();
    for signature in section(&sections, "only in ISPC") {
        let (name, _) = signature.split_once('(').unwrap();
        assert!(has_word(known, name), "{signature} is missing from the known differences");
    }
}
