//! Runs every case file, and every example of the language's documentation, as a test of its own; see `README.md`.

use libtest_mimic::{Arguments, Failed, Trial};
use spmdvm_tests::{case, files, run};
use std::path::Path;

fn main() {
    let arguments = Arguments::from_args();
    let folder = files::root().join("tests/cases");
    let trial = |path: std::path::PathBuf| {
        let name = path.strip_prefix(&folder).unwrap_or(&path).with_extension("").display().to_string();
        Trial::test(name, move || check(&path).map_err(Failed::from))
    };
    let mut trials: Vec<Trial> = files::cases().into_iter().map(trial).collect();
    let pages = language_pages();
    assert!(pages.len() > 5, "the pages of the language reference are missing");
    trials.extend(pages.iter().flat_map(|page| examples(page)));
    libtest_mimic::run(&arguments, trials).exit();
}

/// The pages of the language reference, from the root.
fn language_pages() -> Vec<String> {
    let parts = files::below(&files::root().join("docs/language"));
    let parts = parts.iter().filter_map(|path| path.strip_prefix(files::root()).ok());
    std::iter::once("docs/language.md".to_owned()).chain(parts.map(|path| path.display().to_string())).collect()
}

/// The code blocks of a page that say what language they are in, by the line they begin at.
fn examples(page: &str) -> Vec<Trial> {
    let text = std::fs::read_to_string(files::root().join(page)).unwrap_or_default();
    let mut trials = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line != "```ispc" {
            continue;
        }
        let block: Vec<&str> = lines.by_ref().map(|(_, line)| line).take_while(|line| *line != "```").collect();
        let source = block.join("\n") + "\n";
        let name = format!("{page}:{}", number + 1);
        trials.push(Trial::test(name.clone(), move || check_text(&source, &name).map_err(Failed::from)));
    }
    trials
}

fn check(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    check_text(&source, &name)
}

fn check_text(source: &str, name: &str) -> Result<(), String> {
    run::run_case(&case::read(source)?, name)
}
