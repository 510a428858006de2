//! `spmdvm disasm` and `spmdvm asm`.

use super::{assemble, load};
use crate::cli::Global;
use crate::{Failure, files};
use spmdvm::tools;
use std::path::Path;

/// Shows or writes a program's bytecode.
pub fn disasm(global: &Global, file: &Path, output: Option<&Path>) -> Result<(), Failure> {
    let module = load(file, &global.options(), global.color())?;
    let Some(path) = output else {
        print!("{}", module.disassemble());
        return Ok(());
    };
    let text = path.extension().is_some_and(|e| e == "txt" || e == "spmdasm");
    match text {
        true => files::write(path, tools::asm::disassemble(module.program(), tools::asm::Style::Full).as_bytes()),
        false => files::write(path, &tools::binary::encode(module.program())),
    }
}

/// Assembles a text, verifies it and writes the binary form.
pub fn asm(file: &Path, output: Option<&Path>) -> Result<(), Failure> {
    let text = files::text(file)?;
    let program = assemble(file, &text)?;
    let path = output.map_or_else(|| file.with_extension("spmdb"), Path::to_path_buf);
    files::write(&path, &tools::binary::encode(&program))?;
    let n = program.functions.len();
    eprintln!("{}: {n} function{}", path.display(), if n == 1 { "" } else { "s" });
    Ok(())
}
