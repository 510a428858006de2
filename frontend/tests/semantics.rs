//! Semantic analysis on whole programs: those of `good_sema/` are accepted, and what is said about those of `bad_sema/` is
//! kept as snapshots.

use std::fs;
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use spmdvm_frontend::diag::{Diagnostics, Severity, render_all};
use spmdvm_frontend::hir::Module;
use spmdvm_frontend::parse::{ParseOptions, parse};
use spmdvm_frontend::preprocess::{FileLoader, PreprocessOptions};
use spmdvm_frontend::sema;

/// The module of a program, and what is said about it.
fn check(name: &str, text: &str) -> (Option<Module>, Diagnostics, String) {
    let library = sema::library();
    let mut sources = library.sources().clone();
    let main = sources.add(name, text);
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::new();
    let loader = FileLoader::new(None, &[], &[]);
    let preprocess = PreprocessOptions { defines: &[], loader: &loader, main_path: None };
    let unit = library.unit();
    let options = ParseOptions { preprocess, type_names: unit.type_names, template_names: unit.template_names };
    let unit = parse(&mut sources, main, &options, &arena, &mut diagnostics);
    let module = sema::analyse(unit, library, &sema::Options::default(), &sources, &mut diagnostics);
    diagnostics.sort();
    let text = render_all(&diagnostics, &sources, false);
    (module, diagnostics, text)
}

/// Name and text of the programs in a folder, in the order of their names.
fn programs(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let read = |path: PathBuf| (path.file_stem().unwrap().to_string_lossy().into(), fs::read_to_string(&path).unwrap());
    paths.into_iter().map(read).collect()
}

#[test]
fn right_programs() {
    for (name, text) in programs("good_sema") {
        let (module, diagnostics, messages) = check(&name, &text);
        assert!(module.is_some(), "{messages}");
        let errors = diagnostics.iter().filter(|message| message.severity == Severity::Error).count();
        assert_eq!(errors, 0, "{messages}");
    }
}

/// The whole library is right, not only the functions that some program reaches.
#[test]
fn the_library_is_right() {
    let text = sema::check_library();
    assert!(text.is_empty(), "{text}");
}
