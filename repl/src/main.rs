//! The command `spmdvm`: run, check, inspect and explore SPMD programs.
//!
//! `cli` says what can be asked, `commands` has one module per subcommand, `data` turns words of the command line into
//! arguments of a program (`npy` for files of numbers), `files` reads all others, `words` files of arguments, `interactive` is the shell of
//! `spmdvm repl`.

mod cli;
mod commands;
mod data;
mod files;
mod image;
mod interactive;
mod npy;
mod npz;
mod record;
mod words;

use std::process::ExitCode;

/// How a command can fail; the exit code follows.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The program is wrong: the message is printed as it is. Exit code 1.
    Program(String),
    /// The command line, or a file it names, is wrong. Exit code 2.
    Usage(String),
    /// The program stopped. Exit code 3.
    Trap(String),
}

impl Failure {
    /// A failure of the command line.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::Usage(message.into())
    }

    /// What it says.
    pub fn message(self) -> String {
        match self {
            Failure::Program(message) | Failure::Usage(message) | Failure::Trap(message) => message,
        }
    }
}

/// Lets a reader that goes away (`spmdvm … | head`) end the process without a word, as is the custom. Rust has it otherwise.
fn end_with_the_pipe() {
    #[cfg(unix)]
    // SAFETY: sets the default action of a signal, before there are other threads.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

fn main() -> ExitCode {
    end_with_the_pipe();
    match cli::Cli::read().and_then(|cli| commands::dispatch(&cli)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Program(message)) => fail(1, &message),
        Err(Failure::Usage(message)) => fail(2, &format!("error: {message}\n")),
        Err(Failure::Trap(message)) => fail(3, &message),
    }
}

fn fail(code: u8, message: &str) -> ExitCode {
    eprint!("{message}");
    if !message.is_empty() && !message.ends_with('\n') {
        eprintln!();
    }
    ExitCode::from(code)
}
