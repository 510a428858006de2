//! `spmdvm check --depends`: what programs include.

use super::compile_failure;
use crate::Failure;
use serde_json::{Value as Json, json};
use spmdvm::{Module, Options};
use std::path::{Path, PathBuf};

/// Prints the files that each program includes, as a rule of `make` or as JSON.
pub fn depends(programs: &[(PathBuf, Options)], as_json: bool, color: bool) -> Result<(), Failure> {
    let mut reports = Vec::new();
    for (file, options) in programs {
        let included = Module::includes(file, options).map_err(|error| compile_failure(&error, file, color))?;
        match as_json {
            true => reports.push(json!({ "file": file, "includes": included })),
            false => print!("{}", rule(file, &included)),
        }
    }
    if as_json {
        println!("{}", Json::Array(reports));
    }
    Ok(())
}

fn rule(file: &Path, included: &[PathBuf]) -> String {
    let name = |path: &Path| path.display().to_string().replace('$', "$$").replace(' ', "\\ ").replace('#', "\\#");
    let included: String = included.iter().map(|path| format!(" \\\n  {}", name(path))).collect();
    format!("{}:{included}\n", name(file))
}
