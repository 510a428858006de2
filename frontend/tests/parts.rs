//! What is known of the library's files without reading them (`prelude/parts.rs`) is what they say.
//!
//! `UPDATE_DOCS=1 cargo test -p spmdvm-frontend --test parts` writes it.

use bumpalo::Bump;
use spmdvm_frontend::ast::{Item, ItemKind};
use spmdvm_frontend::compile::{library_needed, read_library};
use spmdvm_frontend::diag::{Diagnostics, render_all};
use spmdvm_frontend::lower::{FpMode, LowerOptions, lower};
use spmdvm_frontend::parse::{ParseOptions, parse_tokens};
use spmdvm_frontend::predefined::defines;
use spmdvm_frontend::prelude::{FILES, Parts, ROOT, root_text, type_and_template_names};
use spmdvm_frontend::preprocess::{FileLoader, PreprocessOptions, preprocess};
use spmdvm_frontend::sema;
use spmdvm_frontend::source::{FileId, SourceMap};
use spmdvm_frontend::symbol::Symbol;
use spmdvm_vm::Width;
use spmdvm_vm::asm::{Style, disassemble};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// Files that hold what others are read with: macros, types of parameters, and lists of files.
const ALWAYS: &[&str] = &[
    "double_kernel.ispc",
    "float_kernel.ispc",
    "kernel_undef.ispc",
    "polynomial.ispc",
    "prelude.ispc",
    "real.ispc",
    "shapes.ispc",
    "two_over_pi.ispc",
    "types.ispc",
];

/// Texts on a line of a list.
const PER_LINE: usize = 6;

/// The width that programs are compiled for.
const WIDTH: Width = Width::DEFAULT;

/// What the library's files say: the files that declare each name and the names that it is made of, and those of types and templates.
#[derive(Default)]
struct Said {
    names: BTreeMap<String, [BTreeSet<String>; 2]>,
    types: Vec<String>,
    templates: Vec<String>,
}

/// Names that an item declares.
fn declared(item: &Item<'_>) -> Vec<Symbol> {
    match item.kind {
        ItemKind::Function(function) => vec![function.name.name],
        ItemKind::Template(template) => vec![template.function.name.name],
        ItemKind::Variables(variables) => variables.iter().map(|variable| variable.name.name).collect(),
        ItemKind::Typedefs(typedefs) => typedefs.iter().map(|typedef| typedef.name.name).collect(),
        ItemKind::Struct(found) => vec![found.name.name],
        _ => panic!("an item of a kind that this does not know"),
    }
}

fn said() -> Said {
    let mut said = Said::default();
    for defines in [&[][..], &[("__FP_FAST".to_string(), String::new())]] {
        let mut sources = SourceMap::new();
        let main = sources.add(ROOT, root_text());
        let loader = FileLoader::new(None, &[], FILES);
        let preprocess_options = PreprocessOptions { defines, loader: &loader, main_path: None };
        let (arena, mut diagnostics) = (Bump::new(), Diagnostics::new());
        let preprocessed = preprocess(&mut sources, main, &preprocess_options, &arena, &mut diagnostics);
        let mut words: BTreeMap<(FileId, u32), BTreeSet<Symbol>> = BTreeMap::new();
        for token in &preprocessed.tokens {
            words.entry((token.span.file, token.span.lo)).or_default().extend(token.symbol());
        }
        let options =
            ParseOptions { preprocess: preprocess_options, type_names: &[], template_names: &[], prompt: None };
        let unit = parse_tokens(&sources, preprocessed, &options, &arena, &mut diagnostics);
        for item in unit.items {
            // What a macro makes stands where that is used, with all that it makes.
            let span = item.span;
            let within = words.range((span.file, span.lo)..(span.file, span.hi)).flat_map(|(_, words)| words);
            let within: BTreeSet<String> = within.map(|word| word.as_str().to_owned()).collect();
            for name in declared(item) {
                let [files, uses] = said.names.entry(name.as_str().to_owned()).or_default();
                files.insert(sources.get(span.file).unwrap().name.clone());
                uses.extend(within.iter().cloned());
            }
        }
        let sorted = |names: &[Symbol]| {
            let names: BTreeSet<String> = names.iter().map(|name| name.as_str().to_owned()).collect();
            names.into_iter().collect()
        };
        (said.types, said.templates) = (sorted(unit.type_names), sorted(unit.template_names));
    }
    said
}

/// The words of a text, those of its comments too.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// A list of texts, as it is written in a program, several to a line.
fn list<'t>(texts: impl IntoIterator<Item = &'t String>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| format!("{text:?}")).collect();
    let lines: Vec<String> = texts.chunks(PER_LINE).map(|line| line.join(", ")).collect();
    format!("&[{}]", lines.join(",\n    "))
}

#[test]
fn the_parts_are_what_the_files_say() {
    let said = said();
    let mut text = String::from(
        "//! What the files of the library declare: written by `tests/parts.rs`.\n\n\
         use super::Name;\n\n\
         /// Every name that the library declares.\n\
         #[rustfmt::skip]\n\
         pub(super) const NAMES: &[Name] = &[\n",
    );
    for (name, [files, uses]) in &said.names {
        let uses = uses.iter().filter(|other| *other != name && said.names.contains_key(*other));
        let files = files.iter().filter(|file| !ALWAYS.contains(&file.as_str()));
        writeln!(text, "    Name {{ name: {name:?}, files: {}, uses: {} }},", list(files), list(uses)).unwrap();
    }
    text += "];\n\n/// The files with macros that others use, by the file that uses them.\n#[rustfmt::skip]\n";
    text += "pub(super) const MACROS: &[(&str, &[&str])] = &[\n";
    let defined = |text: &str| -> BTreeSet<String> {
        let names = text.lines().filter_map(|line| line.strip_prefix("#define "));
        names.filter_map(|rest| words_of(rest).next().map(str::to_owned)).collect()
    };
    for (file, code) in FILES.iter().filter(|(file, _)| !ALWAYS.contains(file)) {
        let (own, words): (_, BTreeSet<&str>) = (defined(code), words_of(code).collect());
        let used = |macros: BTreeSet<String>| macros.difference(&own).any(|name| words.contains(name.as_str()));
        let others = FILES.iter().filter(|(other, _)| other != file && !ALWAYS.contains(other));
        let needs: Vec<String> =
            others.filter(|(_, code)| used(defined(code))).map(|(file, _)| (*file).to_owned()).collect();
        if !needs.is_empty() {
            writeln!(text, "    ({file:?}, {}),", list(&needs)).unwrap();
        }
    }
    text += "];\n\n/// The types of all files.\n#[rustfmt::skip]\n";
    writeln!(text, "pub(super) const TYPES: &[&str] = {};\n", list(&said.types)).unwrap();
    text += "/// The templates of all files.\n#[rustfmt::skip]\n";
    writeln!(text, "pub(super) const TEMPLATES: &[&str] = {};", list(&said.templates)).unwrap();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/prelude/parts.rs");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap();
    assert!(written == text, "it is not current: UPDATE_DOCS=1 cargo test -p spmdvm-frontend --test parts");
}

/// Of each set of parts that some names need, the functions of these names are checked: nothing is missing, and nothing wrong with what
/// is read.
#[test]
fn names_need_no_more_than_their_parts() {
    let mut sets: Vec<(Parts, BTreeSet<Symbol>)> = Vec::new();
    for name in said().names.keys().map(|name| Symbol::intern(name)) {
        let parts = Parts::of_names([name]);
        match sets.iter_mut().find(|(known, _)| *known == parts) {
            Some((_, names)) => _ = names.insert(name),
            None => sets.push((parts, BTreeSet::from([name]))),
        }
    }
    assert!(sets.len() > 10);
    let whole = read_library(FpMode::Contract, Parts::ALL);
    for fp in [FpMode::Contract, FpMode::Fast] {
        for (parts, names) in &sets {
            let library = read_library(fp, *parts);
            assert_eq!(sema::check_library(&library, |name| names.contains(&name)), "", "{names:?}");
            let files = |library: &sema::Prelude| -> Vec<_> {
                library.sources().files().map(|(_, file)| (file.name.clone(), file.text.clone())).collect()
            };
            // The text of the macros that are given is the mode's.
            let without_macros = |mut files: Vec<(String, _)>| {
                files.retain(|file| file.0 != "<macros>");
                files
            };
            assert_eq!(files(&library).len(), files(&whole).len());
            assert_eq!(without_macros(files(&library)), without_macros(files(&whole)), "{names:?}");
        }
    }
}

/// The files below a folder.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => walk(&path, files),
            false => files.push(path),
        }
    }
}

/// Programs are compiled to the same with the parts that they need as with the whole library, and the same is said of them.
#[test]
fn programs_are_the_same_with_all_parts() {
    let mut files = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases"), &mut files);
    files.retain(|path| path.extension().is_some_and(|extension| extension == "ispc"));
    assert!(files.len() > 500);
    let [type_names, template_names] = type_and_template_names();
    for fp in [FpMode::Contract, FpMode::Fast] {
        let whole = read_library(fp, Parts::ALL);
        let mut made: Vec<(Parts, sema::Prelude)> = Vec::new();
        for path in &files {
            let compile = |library: Option<&sema::Prelude>| {
                let (arena, mut diagnostics, mut sources) = (Bump::new(), Diagnostics::new(), whole.sources().clone());
                let main = sources.add("program", String::from_utf8_lossy(&fs::read(path).unwrap()));
                let (loader, defines) = (FileLoader::new(Some(path), &[], &[]), defines(WIDTH));
                let preprocess_options =
                    PreprocessOptions { defines: &defines, loader: &loader, main_path: Some(path.clone()) };
                let preprocessed = preprocess(&mut sources, main, &preprocess_options, &arena, &mut diagnostics);
                let parts = library_needed(&preprocessed.tokens, fp);
                let Some(library) = library else { return (parts, String::new()) };
                let options = ParseOptions { preprocess: preprocess_options, type_names, template_names, prompt: None };
                let unit = parse_tokens(&sources, preprocessed, &options, &arena, &mut diagnostics);
                let options = sema::Options { width: WIDTH, fast: fp == FpMode::Fast, ..Default::default() };
                let module = sema::analyse(unit, library, &options, &sources, &mut diagnostics);
                let program = module.filter(|_| !diagnostics.has_errors()).map(|module| {
                    let options = LowerOptions { fp, ..LowerOptions::default() };
                    disassemble(&lower(&module, &sources, &options, &mut diagnostics), Style::Full)
                });
                diagnostics.sort();
                (parts, render_all(&diagnostics, &sources, false) + &program.unwrap_or_default())
            };
            let parts = compile(None).0;
            if !made.iter().any(|(known, _)| *known == parts) {
                made.push((parts, read_library(fp, parts)));
            }
            let library = made.iter().find(|(known, _)| *known == parts).map(|(_, library)| library);
            assert_eq!(compile(library).1, compile(Some(&whole)).1, "{path:?}");
        }
        assert!(made.len() > 20);
    }
}
