//! The command `spmdvm`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(spmdvm_cli::main(std::env::args_os()))
}
