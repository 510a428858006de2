//! Semantic analysis on whole programs: those of `good_sema/` are accepted, and what is said about those of `bad_sema/` is
//! kept as snapshots.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use bumpalo::Bump;
use proptest::prelude::*;
use spmdvm_frontend::compile::read_library;
use spmdvm_frontend::diag::{Diagnostics, Severity, render_all};
use spmdvm_frontend::hir::Module;
use spmdvm_frontend::lower::FpMode;
use spmdvm_frontend::parse::{ParseOptions, parse};
use spmdvm_frontend::prelude::Parts;
use spmdvm_frontend::preprocess::{FileLoader, PreprocessOptions};
use spmdvm_frontend::sema;

/// The whole library.
fn prelude() -> &'static sema::Prelude {
    static WHOLE: OnceLock<sema::Prelude> = OnceLock::new();
    WHOLE.get_or_init(|| read_library(FpMode::Contract, Parts::ALL))
}

/// The module of a program, and what is said about it.
fn check(name: &str, text: &str) -> (Option<Module>, Diagnostics, String) {
    check_with(name, text, &[])
}

/// Likewise, with headers: name and text.
fn check_with(name: &str, text: &str, headers: &[(&str, &str)]) -> (Option<Module>, Diagnostics, String) {
    let library = prelude();
    let mut sources = library.sources().clone();
    let main = sources.add(name, text);
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::new();
    let loader = FileLoader::new(None, &[], headers);
    let preprocess = PreprocessOptions { defines: &[], loader: &loader, main_path: None };
    let unit = library.unit();
    let options =
        ParseOptions { preprocess, type_names: unit.type_names, template_names: unit.template_names, prompt: None };
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

/// An error in a header tells how the header comes in; what is superfluous in one is no concern.
#[test]
fn headers() {
    let headers = [
        ("inner.isph", "static void inner() {\n    uniform int superfluous;\n    uniform int x = missing;\n}\n"),
        ("outer.isph", "#pragma once\n#include \"inner.isph\"\n"),
        ("quiet.isph", "static int quiet() {\n    int superfluous;\n    return 1;\n    int z = 1;\n}\n"),
    ];
    let main = "\n#include \"outer.isph\"\nexport void f() {\n    uniform int x = wrong;\n}\n";
    insta::assert_snapshot!("headers", check_with("main.ispc", main, &headers).2);
    let main = "#include \"quiet.isph\"\nexport void f() {\n    int mine;\n}\n";
    insta::assert_snapshot!("quiet_headers", check_with("main.ispc", main, &headers).2);
}

#[test]
fn wrong_programs() {
    for (name, text) in programs("bad_sema") {
        let (_, _, messages) = check(&name, &text);
        assert!(!messages.is_empty(), "{name} has no messages");
        insta::assert_snapshot!(format!("bad_sema_{name}"), messages);
    }
}

/// The whole library is right, not only the functions that some program reaches.
#[test]
fn the_library_is_right() {
    let text = sema::check_library(prelude(), |_| true);
    assert!(text.is_empty(), "{text}");
}

/// Words, numbers and signs of a text, so that mangled programs still parse often.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut in_word = false;
    for c in text.chars() {
        let is_word = c.is_alphanumeric() || c == '_' || c == '.';
        match tokens.last_mut() {
            Some(last) if is_word && in_word => last.push(c),
            _ => tokens.push(c.to_string()),
        }
        in_word = is_word;
    }
    tokens
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// No program, however wrong, makes the analysis panic.
    #[test]
    fn mangled_programs(
        program in any::<prop::sample::Index>(),
        edits in prop::collection::vec((0..4u8, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..6),
    ) {
        let mut all = programs("bad_sema");
        all.extend(programs("good_sema"));
        let mut words = tokens(&program.get(&all).1);
        for (kind, a, b) in edits {
            let (a, b) = (a.index(words.len()), b.index(words.len()));
            match kind {
                0 => drop(words.remove(a)),
                1 => words.swap(a, b),
                2 => words[a] = words[b].clone(),
                _ => words.insert(a, words[b].clone()),
            }
        }
        check("mangled", &words.concat());
    }
}

/// Deep and long constructs are accepted or reported; the stack suffices.
#[test]
fn deep_programs() {
    let nested = |open: &str, close: &str, n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    let bodies = [
        format!("float x = {};", nested("(", ")", 200)),
        format!("float x = {};", nested("-", "", 200)),
        format!("float x = 0; x = {}1;", "x + ".repeat(900)),
        format!("float x = 0; x = {}1;", "x < 0 ? 1 : ".repeat(150)),
        format!("float x = {};", nested("sin(", ")", 100)),
        format!("{}{}", "if (programIndex > 3) {".repeat(120), "}".repeat(120)),
        format!("int a{} = {};", "[1]".repeat(90), nested("{", "}", 90)),
    ];
    for body in bodies {
        check("deep", &format!("export void f() {{ {body} }}"));
    }
    let doubled: String = (1..60).map(|n| format!("struct S{n} {{ S{} a, b; }};\n", n - 1)).collect();
    check(
        "doubled",
        &format!("struct S0 {{ int x; }};\n{doubled}\nexport void f(uniform S59 * uniform p) {{ p->a.a.b.x = 1; }}"),
    );
    let pointers: String = (1..3000).map(|n| format!("typedef P{} * P{n};\n", n - 1)).collect();
    check("pointers", &format!("typedef int P0;\n{pointers}\nP2999 p;"));
}
