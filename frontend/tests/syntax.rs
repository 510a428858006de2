//! The parser on whole programs: the tree of each file of `good/`, and what is said about each file of `bad/`.

use std::fs;
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use spmdvm_frontend::ast;
use spmdvm_frontend::diag::{Diagnostics, render_all};
use spmdvm_frontend::parse::{ParseOptions, parse};
use spmdvm_frontend::preprocess::{FileLoader, PreprocessOptions};
use spmdvm_frontend::source::SourceMap;

/// The tree of a program and the messages about it, as text.
fn tree_and_messages(name: &str, text: &str) -> (String, String) {
    let mut sources = SourceMap::new();
    let main = sources.add(name, text);
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::new();
    let loader = FileLoader::new(None, &[], &[]);
    let preprocess = PreprocessOptions { defines: &[], loader: &loader, main_path: None };
    let options = ParseOptions { preprocess, type_names: &[], template_names: &[] };
    let unit = parse(&mut sources, main, &options, &arena, &mut diagnostics);
    (ast::dump(unit), render_all(&diagnostics, &sources, false))
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
fn well_formed_programs() {
    for (name, text) in programs("good") {
        let (tree, messages) = tree_and_messages(&name, &text);
        assert!(messages.is_empty(), "{messages}");
        insta::assert_snapshot!(format!("good_{name}"), tree);
    }
}

#[test]
fn malformed_programs() {
    for (name, text) in programs("bad") {
        let (_, messages) = tree_and_messages(&name, &text);
        assert!(!messages.is_empty(), "{name} has no messages");
        insta::assert_snapshot!(format!("bad_{name}"), messages);
    }
}
