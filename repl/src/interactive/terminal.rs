//! Reading lines and showing answers.

use super::command::command;
use super::input::is_incomplete;
use super::session::Session;
use crate::cli::Global;
use crate::{Failure, files};
use rustyline::error::ReadlineError;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Completer, Config, Editor, Helper, Highlighter, Hinter};
use std::path::PathBuf;

/// Asks for more lines while a bracket is open.
#[derive(Helper, Completer, Highlighter, Hinter)]
struct Brackets;

impl Validator for Brackets {
    fn validate(&self, ctx: &mut ValidationContext) -> rustyline::Result<ValidationResult> {
        let line = ctx.input();
        let open = !line.starts_with(':') && is_incomplete(line);
        Ok(if open { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

/// The shell, until `:quit` or the end of the input.
pub fn repl(global: &Global, programs: &[PathBuf]) -> Result<(), Failure> {
    let mut session = Session::new(global.options(), global.color());
    for file in programs {
        let text = files::text(file)?;
        session.load(&text).map_err(Failure::Program)?;
    }
    let config = Config::builder().auto_add_history(true).build();
    let trouble = |e: ReadlineError| Failure::usage(format!("the terminal does not answer: {e}"));
    let mut editor: Editor<Brackets, _> = Editor::with_config(config).map_err(trouble)?;
    editor.set_helper(Some(Brackets));
    let history = history_file();
    if let Some(path) = &history {
        // A missing history is an empty one.
        let _ = editor.load_history(path);
    }
    println!("spmdvm {} · {} lanes · :help for help", env!("CARGO_PKG_VERSION"), session.options.width);
    loop {
        match editor.readline("» ") {
            Ok(line) if !respond(&mut session, &line) => break,
            Ok(_) => {}
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(e) => return Err(trouble(e)),
        }
    }
    if let Some(path) = &history {
        // Not being able to keep the history is no reason to fail.
        let _ = editor.save_history(path);
    }
    Ok(())
}

/// Answers one input; `false` means: leave.
fn respond(session: &mut Session, line: &str) -> bool {
    let answer = match line.trim_start().starts_with(':') {
        true => command(session, line.trim()),
        false => Some(session.eval(line)),
    };
    match answer {
        Some(Ok(text)) => print!("{text}"),
        Some(Err(text)) => eprint!("{text}"),
        None => return false,
    }
    true
}

fn history_file() -> Option<PathBuf> {
    let home = std::env::var_os("HOME")?;
    Some(PathBuf::from(home).join(".spmdvm_history"))
}
