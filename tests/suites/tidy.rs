//! Rules that all of the project's files obey.
//!
//! Each rule is a test that lists every offender. Exceptions stand in the tables of this file, each with its reason.

use spmdvm_tests::files::{below, root};
use std::path::{Path, PathBuf};

/// Files that may be longer than [`MAX_LINES`], and why.
const LONG_FILES: &[(&str, &str)] = &[];

/// How long a source file may be.
const MAX_LINES: usize = 900;

/// How long a line of source may be, in characters. The text of a literal counts as one: it is data.
const MAX_COLUMNS: usize = 140;

/// Files with longer lines than that, and why.
const WIDE_FILES: &[(&str, &str)] = &[("vm/tests/text_form.rs", "programs of the bytecode as they are printed")];

/// Which of the workspace's crates each crate may depend on.
const CRATE_EDGES: &[(&str, &[&str])] = &[
    ("vm", &["spmdvm-generate"]),
    ("vm/usimd", &[]),
    ("vm/generate", &["spmdvm-vm"]),
    ("frontend", &["spmdvm-vm"]),
    ("jit", &["spmdvm-vm", "spmdvm-generate"]),
    ("", &["spmdvm-vm", "spmdvm-usimd", "spmdvm-frontend", "spmdvm-jit"]),
    ("oracle", &["spmdvm"]),
    ("debug", &["spmdvm", "spmdvm-oracle"]),
    ("play", &["spmdvm", "spmdvm-debug", "spmdvm-oracle"]),
    ("repl", &["spmdvm", "spmdvm-debug", "spmdvm-oracle", "spmdvm-play"]),
    ("python", &["spmdvm", "spmdvm-cli", "spmdvm-debug"]),
    ("benches", &["spmdvm", "spmdvm-debug"]),
    ("tests", &["spmdvm", "spmdvm-oracle", "spmdvm-benches"]),
];

/// Every text file of the project with its path from the root.
fn text_files() -> Vec<(PathBuf, String)> {
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.strip_prefix(root()).ok()?.to_owned(), text))
    };
    below(root()).into_iter().filter_map(read).collect()
}

fn source_files() -> Vec<(PathBuf, String)> {
    let mut files = text_files();
    files.retain(|(path, _)| path.extension().is_some_and(|e| e == "rs"));
    assert!(files.len() > 30, "the project's sources were not found");
    files
}

/// Fails with all offenders.
#[track_caller]
fn none(offenders: Vec<String>, rule: &str) {
    assert!(offenders.is_empty(), "{rule}:\n  {}", offenders.join("\n  "));
}

#[test]
fn every_module_says_what_it_is() {
    let silent = source_files().into_iter().filter(|(_, text)| !text.trim_start().starts_with("//!"));
    none(silent.map(|(path, _)| path.display().to_string()).collect(), "modules without a `//!` line at their top");
}

#[test]
fn nothing_is_left_to_do() {
    let marks = ["todo", "dbg", "unimplemented"].map(|name| format!("{name}!("));
    let mut offenders = Vec::new();
    for (path, text) in source_files() {
        for (at, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            if let Some(mark) = marks.iter().find(|mark| code.contains(*mark)) {
                offenders.push(format!("{}:{}: {mark}…)", path.display(), at + 1));
            }
        }
    }
    none(offenders, "unfinished code");
}

#[test]
fn files_are_not_too_long() {
    let allowed = |path: &Path| LONG_FILES.iter().any(|(file, _)| Path::new(file) == path);
    let long = source_files().into_iter().filter_map(|(path, text)| {
        let lines = text.lines().count();
        (lines > MAX_LINES && !allowed(&path)).then(|| format!("{}: {lines} lines", path.display()))
    });
    none(long.collect(), "files that are too long: split them, or give a reason in `LONG_FILES`");
    let needless = LONG_FILES.iter().filter(|(file, _)| {
        std::fs::read_to_string(root().join(file)).map_or(0, |text| text.lines().count()) <= MAX_LINES
    });
    none(needless.map(|(file, _)| (*file).to_owned()).collect(), "exceptions that are no longer needed");
}

#[test]
fn lines_are_not_too_long() {
    let mut offenders = Vec::new();
    for (path, text) in source_files() {
        if WIDE_FILES.iter().any(|(file, _)| Path::new(file) == path) {
            continue;
        }
        for (at, line) in text.lines().enumerate() {
            let columns = if line.trim_start().starts_with("//") { line.chars().count() } else { columns(line) };
            if columns > MAX_COLUMNS {
                offenders.push(format!("{}:{}: {columns} characters", path.display(), at + 1));
            }
        }
    }
    none(offenders, "lines that are too long");
}

/// The characters of a line, a literal in quotes being one.
fn columns(line: &str) -> usize {
    let (mut columns, mut quoted, mut escaped) = (0, false, false);
    for c in line.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ => {}
        }
        columns += !quoted as usize;
    }
    columns
}

#[test]
fn documentation_does_not_ask() {
    let mut offenders = Vec::new();
    for (path, text) in source_files() {
        for (at, line) in text.lines().map(str::trim).enumerate() {
            let comment = ["///", "//!"].iter().find_map(|mark| line.strip_prefix(mark));
            // Of questions in mid-line those are found that a predicate would begin with; `? :` is an operator.
            let asks = comment.map(str::trim).is_some_and(|text| {
                let begins = QUESTIONS.iter().any(|word| text.starts_with(word) && text.contains("? "));
                text.ends_with('?') || begins && !text.contains("`?")
            });
            if asks {
                offenders.push(format!("{}:{}: {line}", path.display(), at + 1));
            }
        }
    }
    none(offenders, "doc comments that are questions: say \"Returns whether …\", or \"Whether …\" of a field");
}

/// How questions begin.
const QUESTIONS: &[&str] =
    &["Is ", "Are ", "Was ", "Were ", "Has ", "Have ", "Does ", "Do ", "Did ", "May ", "Can ", "Must ", "Should "];

#[test]
fn crates_depend_only_where_the_architecture_says() {
    let mut offenders = Vec::new();
    for (folder, allowed) in CRATE_EDGES {
        let manifest = root().join(folder).join("Cargo.toml");
        let Ok(text) = std::fs::read_to_string(manifest) else { continue };
        for dependency in dependencies(&text) {
            if dependency.starts_with("spmdvm") && !allowed.contains(&dependency.as_str()) {
                offenders.push(format!("{folder}/Cargo.toml depends on {dependency}"));
            }
        }
    }
    none(offenders, "forbidden dependencies");
}

#[test]
fn the_command_line_and_the_bindings_use_the_facade_only() {
    let crates = ["vm", "jit", "frontend"].map(|name| (format!("spmdvm::{name}::"), format!("spmdvm::{name};"), name));
    let mut offenders = Vec::new();
    for (path, text) in source_files() {
        if !["repl/src", "python/src", "capi/src"].iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        for (at, line) in text.lines().enumerate() {
            let grouped = line.contains("use spmdvm::{")
                && line.split([',', '{', '}', ';']).any(|part| {
                    let first = part.trim().split("::").next().unwrap_or_default();
                    crates.iter().any(|(.., name)| first == *name)
                });
            if grouped || crates.iter().any(|(path, whole, _)| line.contains(path) || line.contains(whole)) {
                offenders.push(format!("{}:{}: {}", path.display(), at + 1, line.trim()));
            }
        }
    }
    none(offenders, "uses of what is behind the facade: it re-exports deliberately what tools need (`src/tools.rs`)");
}

/// The names in the dependency tables of a manifest (tables of the workspace left out).
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]") && !line.contains("workspace");
        } else if let (true, Some((name, _))) = (inside, line.split_once(['=', '.'])) {
            names.push(name.trim().to_owned());
        }
    }
    names
}

#[test]
fn paths_in_documents_exist() {
    let mut offenders = Vec::new();
    for (path, text) in text_files() {
        if path.extension().is_none_or(|e| e != "md") {
            continue;
        }
        for quoted in text.split('`').skip(1).step_by(2).filter(|quoted| names_a_file(quoted)) {
            let beside = path.parent().map(|folder| root().join(folder).join(quoted));
            if !root().join(quoted).exists() && !beside.is_some_and(|file| file.exists()) {
                offenders.push(format!("{} names `{quoted}`", path.display()));
            }
        }
    }
    none(offenders, "documents name files that do not exist");
}

/// Returns whether it begins with one of the project's folders, and holds no pattern. (`docs/NAME.ispc` is one.)
fn names_a_file(quoted: &str) -> bool {
    let name = quoted.rsplit('/').next().unwrap_or_default();
    if name.starts_with(|c: char| c.is_ascii_uppercase()) && !name.ends_with(".md") {
        return false;
    }
    let folders = [
        "vm/",
        "frontend/",
        "jit/",
        "src/",
        "play/",
        "repl/",
        "python/",
        "capi/",
        "tests/",
        "benches/",
        "examples/",
        "docs/",
    ];
    folders.iter().any(|folder| quoted.starts_with(folder))
        && !quoted.contains(|c: char| c.is_whitespace() || "*{}<>…$()".contains(c))
        && (name.is_empty() || name.contains('.'))
}

#[test]
fn links_in_documents_lead_somewhere() {
    let mut offenders = Vec::new();
    for (path, text) in text_files() {
        if path.extension().is_none_or(|e| e != "md") {
            continue;
        }
        let links = text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
        for link in links.filter(|link| !link.contains("://")) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let folder = path.parent().unwrap_or(Path::new(""));
            let target = root().join(if file.is_empty() { path.clone() } else { folder.join(file) });
            let found = heading.is_empty() && target.exists()
                || std::fs::read_to_string(&target).is_ok_and(|text| headings(&text).any(|known| known == heading));
            if !found {
                offenders.push(format!("{} links to {link}", path.display()));
            }
        }
    }
    none(offenders, "documents link to what does not exist");
}

/// The anchors of a document's headings, as web pages of repositories name them.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|&c| c.is_alphanumeric() || c == '-' || c == '_' || c == ' ');
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    })
}

#[test]
fn no_file_knows_the_machine_it_was_written_on() {
    let roots = ["work", "root", "home", "tmp"].map(|folder| format!("/{folder}/"));
    let starts = ['"', '\'', '`', ' ', '(', '=', ':'];
    let mut offenders = Vec::new();
    for (path, text) in text_files() {
        for (at, line) in text.lines().enumerate() {
            let found = roots
                .iter()
                .any(|root| line.match_indices(root.as_str()).any(|(i, _)| i == 0 || line[..i].ends_with(starts)));
            if found {
                offenders.push(format!("{}:{}: {}", path.display(), at + 1, line.trim()));
            }
        }
    }
    none(offenders, "paths of one machine");
}

#[test]
fn packages_come_from_the_public_registry() {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("the lock file is part of the project");
    let public = "source = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let others = lock.lines().filter(|line| line.starts_with("source =") && *line != public);
    none(others.map(str::to_owned).collect(), "packages from elsewhere");
}

#[test]
fn case_files_say_what_they_are_about() {
    let folders = ["errors", "warnings"];
    let silent = spmdvm_tests::files::cases().into_iter().filter(|path| {
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default();
        let text = std::fs::read_to_string(path).unwrap_or_default();
        !(folders.iter().any(|f| folder == *f) || text.starts_with("// ") && text.contains(".\n"))
    });
    none(silent.map(|path| path.display().to_string()).collect(), "case files without a first sentence");
}
