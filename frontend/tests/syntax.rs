//! The parser on whole programs: the tree of each file of `good/`, and what is said about each file of `bad/`.

use std::fs;
use std::path::{Path, PathBuf};

use bumpalo::Bump;
use spmdvm_frontend::ast;
use spmdvm_frontend::diag::{Code, Diagnostics, render_all};
use spmdvm_frontend::parse::{ParseOptions, parse};
use spmdvm_frontend::preprocess::{FileLoader, PreprocessOptions};
use spmdvm_frontend::source::SourceMap;

/// The tree of a program and the messages about it as text, and the codes of the messages.
fn tree_and_messages(folder: &str, name: &str, text: &str) -> (String, String, Vec<Code>) {
    let mut sources = SourceMap::new();
    let main = sources.add(name, text);
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::new();
    let path = root().join(folder).join(name);
    let loader = FileLoader::new(Some(&path), &[], &[]);
    let preprocess = PreprocessOptions { defines: &[], loader: &loader, main_path: Some(path.clone()) };
    let options = ParseOptions { preprocess, type_names: &[], template_names: &[], prompt: None };
    let unit = parse(&mut sources, main, &options, &arena, &mut diagnostics);
    // Included files are named by their whole path.
    let messages = render_all(&diagnostics, &sources, false).replace(&root().display().to_string(), "tests");
    (ast::dump(unit), messages, diagnostics.iter().map(|diagnostic| diagnostic.code).collect())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").canonicalize().unwrap()
}

/// Name and text of the programs in a folder, in the order of their names.
fn programs(folder: &str) -> Vec<(String, String)> {
    let folder = root().join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty());
    let read = |path: PathBuf| (path.file_stem().unwrap().to_string_lossy().into(), fs::read_to_string(&path).unwrap());
    paths.into_iter().map(read).collect()
}

#[test]
fn well_formed_programs() {
    for (name, text) in programs("good") {
        let (tree, messages, _) = tree_and_messages("good", &name, &text);
        assert!(messages.is_empty(), "{messages}");
        insta::assert_snapshot!(format!("good_{name}"), tree);
    }
}

#[test]
fn malformed_programs() {
    let mut found = Vec::new();
    for (name, text) in programs("bad") {
        let (_, messages, codes) = tree_and_messages("bad", &name, &text);
        found.extend(codes);
        assert!(!messages.is_empty(), "{name} has no messages");
        insta::assert_snapshot!(format!("bad_{name}"), messages);
    }
    // The facade, which opens the program's file, reports when it cannot be read.
    found.push(Code::UnreadableFile);
    // `limits.rs` has programs that are too large.
    found.push(Code::SourceTooLarge);
    let of_syntax = |code: &&Code| code.id() < "E0200" || ("W".."W0200").contains(&code.id());
    let missing: Vec<_> = Code::ALL.iter().filter(of_syntax).filter(|code| !found.contains(code)).collect();
    assert!(missing.is_empty(), "no program of `bad/` shows {missing:?}");
}
