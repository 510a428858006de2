//! Every case file again, as a test of its own for each way to use a JIT that `cases.rs` does not try: with exits taken at
//! random, with every dynamic variant, and with loops compiled when they are hot. `cases.rs` compiles every loop in its first round.
//!
//! `SPMDVM_SEED=S` takes other exits.

use libtest_mimic::{Arguments, Failed, Trial};
use spmdvm::JitSettings;
use spmdvm_tests::run::{Mode, compare_case};
use spmdvm_tests::{case, files, number};
use std::path::Path;

const STRESS: Mode = Mode { name: "under stress", settings: stress, repeat: 1 };

/// Calls are made again and again, so that loops get hot. On this thread, so that it is the same in each run.
const HOT: Mode = Mode { name: "when hot", settings: hot, repeat: 4 };

/// Every dynamic variant of every place, whether or not it pays.
const VARIANTS: Mode = Mode { name: "in every variant", settings: variants, repeat: 1 };

fn variants(_: u64) -> JitSettings {
    JitSettings::eager_in_every_variant()
}

fn stress(salt: u64) -> JitSettings {
    JitSettings { stress: Some(salt ^ number("SPMDVM_SEED", 1)), ..JitSettings::eager() }
}

fn hot(_: u64) -> JitSettings {
    JitSettings { background: false, ..JitSettings::default() }
}

fn main() {
    let arguments = Arguments::from_args();
    let folder = files::root().join("tests/cases");
    let mut trials = Vec::new();
    for path in files::cases() {
        let name = path.strip_prefix(&folder).unwrap_or(&path).with_extension("").display().to_string();
        for (prefix, mode) in [("stress", &STRESS), ("hot", &HOT), ("variants", &VARIANTS)] {
            let path = path.clone();
            trials.push(Trial::test(format!("{prefix}/{name}"), move || check(&path, mode).map_err(Failed::from)));
        }
    }
    libtest_mimic::run(&arguments, trials).exit();
}

fn check(path: &Path, mode: &Mode) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    compare_case(&case::read(&source)?, &name, mode)
}
