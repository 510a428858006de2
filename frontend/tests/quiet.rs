//! No false alarms: the examples compile without a warning, and where a case is warned of surprising numbers it says so.

use spmdvm_frontend::compile::{CompileOptions, Input, compile};
use spmdvm_frontend::diag::{Code, Diagnostic, Severity, render};
use spmdvm_frontend::source::SourceMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Warnings about numbers that are not what they seem.
const SURPRISES: [Code; 5] =
    [Code::DigitsLost, Code::FloatAsDouble, Code::SignLost, Code::DecidedComparison, Code::FractionLost];

/// The programs below a folder of the repository.
fn programs(folder: &str) -> Vec<PathBuf> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder)];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension() {
                _ if path.is_dir() => folders.push(path),
                Some(extension) if extension == "ispc" => found.push(path),
                _ => {}
            }
        }
    }
    found.sort();
    assert!(!found.is_empty(), "no programs were found");
    found
}

/// The messages about a program of which `wanted` is true, as text.
fn messages(path: &Path, wanted: impl Fn(&Diagnostic, &SourceMap) -> bool) -> Vec<String> {
    let compiled = compile(Input::File(path), &CompileOptions::default());
    let wanted = compiled.diagnostics.iter().filter(|diagnostic| wanted(diagnostic, &compiled.sources));
    wanted.map(|diagnostic| render(diagnostic, &compiled.sources, false)).collect()
}

#[test]
fn examples_have_no_warnings() {
    let found: Vec<String> = programs("examples")
        .iter()
        .flat_map(|path| messages(path, |diagnostic, _| diagnostic.severity == Severity::Warning))
        .collect();
    assert!(found.is_empty(), "{}", found.concat());
}

#[test]
fn cases_announce_surprises() {
    let found: Vec<String> = programs("tests/cases")
        .iter()
        .flat_map(|path| {
            let text = fs::read_to_string(path).unwrap();
            let announced = move |diagnostic: &Diagnostic, sources: &SourceMap| {
                let (_, line, _) = sources.locate(diagnostic.span());
                let line = text.lines().nth(line as usize - 1).unwrap_or_default();
                line.contains(&format!("warning: {}", diagnostic.code.id()))
            };
            messages(path, |diagnostic, sources| {
                SURPRISES.contains(&diagnostic.code) && !announced(diagnostic, sources)
            })
        })
        .collect();
    assert!(found.is_empty(), "{}", found.concat());
}
