//! `spmdvm header`: the declarations of a program's exports for C and C++.

use super::compile_failure;
use crate::cli::Global;
use crate::{Failure, files};
use spmdvm::Module;
use std::path::Path;

/// Writes the header of a program to a file, or prints it.
pub fn header(global: &Global, file: &Path, output: Option<&Path>) -> Result<(), Failure> {
    files::check(file)?;
    let named = output.unwrap_or(file).with_extension("h");
    let name = named.file_name().unwrap_or_default().to_string_lossy();
    let text = Module::header(file, &global.options(), &name)
        .map_err(|error| compile_failure(&error, file, global.color()))?;
    match output {
        Some(output) => files::write(output, text.as_bytes()),
        None => {
            print!("{text}");
            Ok(())
        }
    }
}
