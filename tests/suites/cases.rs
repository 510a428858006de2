//! Runs every case file as a test of its own; see `README.md`.

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
    libtest_mimic::run(&arguments, files::cases().into_iter().map(trial).collect()).exit();
}

fn check(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let case = case::read(&source)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    run::run_case(&case, &name)
}
