//! Every function of the library is called by a case file, which runs on every engine at every width, or measured by the
//! accuracy test.

use spmdvm_frontend::ast::{Item, ItemKind};
use spmdvm_frontend::compile::read_library;
use spmdvm_frontend::lower::FpMode;
use spmdvm_frontend::prelude::Parts;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Functions that cannot be called there, and why.
const EXCEPTIONS: &[(&str, &str)] = &[];

/// The names of the functions and templates that programs may call.
fn library_functions() -> BTreeSet<String> {
    let name = |item: &Item<'_>| match item.kind {
        ItemKind::Function(function) => Some(function.name.name),
        ItemKind::Template(template) => Some(template.function.name.name),
        _ => None,
    };
    let library = read_library(FpMode::Contract, Parts::ALL);
    let names = library.unit().items.iter().filter_map(name).map(|name| name.as_str().to_owned());
    names.filter(|name| !name.starts_with("__")).collect()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The case files that run something, without their comments.
fn called_in_cases() -> BTreeSet<String> {
    let (mut folders, mut words) = (vec![root().join("tests/cases")], BTreeSet::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let text = fs::read_to_string(entry).unwrap();
            if text.contains("//~ run:") {
                let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
                code.for_each(|line| words.extend(called_names(line)));
            }
        }
    }
    words
}

/// The names in front of a `(`.
fn called_names(line: &str) -> impl Iterator<Item = String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.match_indices('(').map(move |(at, _)| {
        let before = &line[..at];
        before.rsplit(|c| !is_name(c)).next().unwrap_or_default().to_owned()
    })
}

/// The functions whose errors are measured.
fn measured() -> BTreeSet<String> {
    let folder = root().join("tests/suites/math_accuracy");
    let text: String =
        ["functions.rs", "special.rs", "main.rs"].map(|f| fs::read_to_string(folder.join(f)).unwrap()).concat();
    text.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[test]
fn every_function_is_tested() {
    let (library, cases, measured) = (library_functions(), called_in_cases(), measured());
    assert!(library.len() > 150 && library.contains("reduce_add"), "the library was not found");
    let excepted = |name: &String| EXCEPTIONS.iter().any(|(known, _)| known == name);
    let missing = library.iter().filter(|name| !cases.contains(*name) && !measured.contains(*name) && !excepted(name));
    let missing: Vec<&String> = missing.collect();
    assert!(missing.is_empty(), "no case file that runs calls {missing:?}");
}
