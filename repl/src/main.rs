//! The command `spmdvm`.

use mimalloc::MiMalloc;
use std::process::ExitCode;

/// Compilers allocate much that is small, in many threads.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(spmdvm_cli::main(std::env::args_os()))
}
