//! The command line: run, check, inspect and explore SPMD programs. The binary `spmdvm` and `python -m spmdvm` are [`main`].
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

use std::ffi::OsString;

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

/// Has output that cannot be written (a full disk) end the process with a word. What prints panics then, wherever it stands.
fn end_if_output_fails() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let failed = panic.payload_as_str().and_then(|text| text.strip_prefix("failed printing to stdout: "));
        let Some(why) = failed else { return before(panic) };
        eprintln!("error: cannot write standard output: {why}");
        std::process::exit(2);
    }));
}

/// Does what a command line says, of which the first word is the command's name; gives the exit code. It prints, takes over Ctrl-C,
/// and ends the process where it is asked for help.
pub fn main(args: impl Iterator<Item = OsString>) -> u8 {
    end_with_the_pipe();
    end_if_output_fails();
    match cli::Cli::read(args).and_then(|cli| commands::dispatch(&cli)) {
        Ok(()) => 0,
        Err(Failure::Program(message)) => fail(1, &message),
        Err(Failure::Usage(message)) => fail(2, &format!("error: {message}\n")),
        Err(Failure::Trap(message)) => fail(3, &message),
    }
}

fn fail(code: u8, message: &str) -> u8 {
    eprint!("{message}");
    if !message.is_empty() && !message.ends_with('\n') {
        eprintln!();
    }
    code
}
