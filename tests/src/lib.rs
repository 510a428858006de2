//! The machinery of the test matrix: what case files say, and how it is checked.
//!
//! In the order data passes them: [`case`] reads the expectations in a case file's comments, [`data`] builds the
//! arguments they describe, and [`expr`] evaluates what they say about the results; [`run`] makes the
//! calls on what is tested ([`subject`]) and compares; [`files`] finds files. `suites/cases.rs` runs every file of
//! `cases/` on every engine at every width; `suites/tidy.rs` checks the rules all of the project's files obey.
//! `README.md` documents the format. The random programs of `suites/random_source.rs` are those of `spmdvm gen`; [`crev`] writes those for
//! `suites/usimd.rs`; [`agree`] compares engines on one program, [`compiled`] looks at what was compiled.

pub mod agree;
pub mod case;
pub mod compiled;
pub mod crev;
pub mod data;
pub mod expr;
pub mod files;
pub mod planted;
pub mod run;
pub mod subject;

/// A number that an environment variable may give.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}
