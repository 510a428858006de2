//! Runs each fuzzing function of the front end for a second on changed copies of good programs.
//!
//! A longer run: `SPMDVM_FUZZ_SECONDS=600 cargo test -p spmdvm-frontend --test fuzz grammar`.

#[path = "../../fuzz/shared/driver.rs"]
mod driver;
#[path = "../../fuzz/shared/grammar.rs"]
mod grammar;
#[path = "../../fuzz/shared/frontend.rs"]
mod shared;

use driver::{for_a_second, fuzz};
use std::path::Path;

/// Programs of the case files.
fn programs() -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    collect(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/cases")), &mut files);
    files.sort();
    assert!(!files.is_empty());
    files.into_iter().map(|f| std::fs::read(f).unwrap()).filter(|text| text.len() < 3000).collect()
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "ispc") {
            files.push(path);
        }
    }
}

#[test]
fn parser() {
    for_a_second("parser", programs(), shared::fuzz_parser);
}

#[test]
fn compile() {
    for_a_second("compile", programs(), shared::fuzz_compile);
}

#[test]
fn grammar() {
    let programs: Vec<grammar::Program> = programs().iter().map(|text| grammar::Program::new(text)).collect();
    fuzz("grammar", &[], |random| grammar::make(random, &programs), shared::fuzz_compile);
}
