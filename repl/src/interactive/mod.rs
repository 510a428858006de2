//! The interactive shell.
//!
//! `terminal` reads what is typed, with `assist` (completion, colours, hints, and whether more lines must come), and `script`
//! what is not typed. `shell` answers each input: `commands` (one table) carries out lines that begin with a colon, `session`
//! everything else (`parts` what becomes of its parts, `waiting` functions that lack others). What a session remembers are
//! `units` (definitions) and `variables`; `arrays` makes arrays, `show` lays out values.

mod arrays;
mod assist;
mod commands;
mod parts;
mod script;
mod session;
mod shell;
mod show;
mod terminal;
mod units;
mod variables;
mod waiting;

use crate::cli::Global;
use crate::{Failure, files};
use session::{Problem, Session};
use shell::Shell;
use show::Painter;
use std::io::IsTerminal;
use std::path::PathBuf;

/// Columns where there is no terminal.
const COLUMNS: usize = 100;

/// The shell, until `:quit` or the end of the input.
pub fn repl(global: &Global, programs: &[PathBuf], batch: bool) -> Result<(), Failure> {
    let options = session_options(global);
    let prepared = options.clone();
    // The first input shall not wait for the library. (The thread ends by itself.)
    std::thread::spawn(move || prepared.prepare_library());
    let is_typed = std::io::stdin().is_terminal() && !batch;
    let mut shell = Shell::new(Session::new(options, painter()));
    for file in programs {
        let text = files::text(file)?;
        shell.session.load(file, &text).map_err(|problem| Failure::Program(Problem::into_text(problem)))?;
    }
    if is_typed { terminal::run(shell) } else { script::run(&mut shell, batch) }
}

/// Files are found from here on, as from programs that are files.
fn session_options(global: &Global) -> spmdvm::Options {
    let mut options = global.options();
    options.include_paths.insert(0, PathBuf::from("."));
    options.sandbox_includes = Some(options.sandbox_includes.unwrap_or(false));
    options
}

fn painter() -> Painter {
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let color = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() && !is_dumb;
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|&n| n >= 20);
    Painter { color, columns: columns.unwrap_or(COLUMNS) }
}
