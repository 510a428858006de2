//! Reading what is typed, and showing answers.

use super::assist::Assistant;
use super::session::Problem;
use super::shell::Shell;
use crate::Failure;
use crate::commands::interrupt_flag;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{ColorMode, CompletionType, Config, Editor};
use std::cell::RefCell;
use std::io::Write as _;
use std::path::PathBuf;
use std::rc::Rc;

/// Inputs that the history keeps.
const HISTORY: usize = 5000;

/// The shell at a terminal.
pub fn run(shell: Shell) -> Result<(), Failure> {
    let (color, width) = (shell.session.painter.color, shell.session.options.width);
    let shell = Rc::new(RefCell::new(shell));
    // Before the editor, which brings back what was there when a line is done.
    drop(interrupt_flag());
    let mut editor = editor(&shell, color).map_err(trouble)?;
    let history = history_file();
    if let Some(path) = &history {
        // A missing history is an empty one.
        let _ = editor.load_history(path).or_else(|_| match old_history_file() {
            Some(old) => editor.load_history(&old),
            None => Ok(()),
        });
    }
    println!("spmdvm {} · {width} lanes · :help for help", env!("CARGO_PKG_VERSION"));
    loop {
        if let Some((columns, _)) = editor.dimensions() {
            shell.borrow_mut().session.painter.columns = usize::from(columns).max(20);
        }
        match editor.readline("» ") {
            Ok(line) => {
                remember(&mut editor, &line, history.as_ref());
                respond(&mut shell.borrow_mut(), &line);
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(e) => return Err(trouble(e)),
        }
        if shell.borrow().leaving {
            break;
        }
    }
    Ok(())
}

fn editor(shell: &Rc<RefCell<Shell>>, color: bool) -> rustyline::Result<Editor<Assistant, FileHistory>> {
    let config = Config::builder()
        .max_history_size(HISTORY)?
        .history_ignore_dups(true)?
        .completion_type(CompletionType::List)
        .color_mode(if color { ColorMode::Enabled } else { ColorMode::Disabled })
        .bracketed_paste(true)
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(Assistant::new(Rc::clone(shell), color)));
    Ok(editor)
}

fn trouble(error: ReadlineError) -> Failure {
    Failure::usage(format!("the terminal does not answer: {error}"))
}

fn respond(shell: &mut Shell, line: &str) {
    match shell.respond(line) {
        Ok(text) => print!("{text}"),
        Err(problem) => eprint!("{}", Problem::into_text(problem)),
    }
    let _ = std::io::stdout().flush();
}

/// Adds an input to the history, and to its file at once: nothing is lost however the process ends.
fn remember(editor: &mut Editor<Assistant, FileHistory>, line: &str, history: Option<&PathBuf>) {
    let is_new = !line.trim().is_empty() && editor.add_history_entry(line.trim_end()).unwrap_or(false);
    let Some(path) = history.filter(|_| is_new) else { return };
    // Not being able to keep the history is no reason to fail.
    let _ = path.parent().map(std::fs::create_dir_all);
    let _ = editor.append_history(path);
}

/// The history, where programs keep such things.
fn history_file() -> Option<PathBuf> {
    let absolute = |path: PathBuf| path.is_absolute().then_some(path);
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).and_then(absolute);
    let state = state.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state")))?;
    Some(state.join("spmdvm").join("history"))
}

/// Where earlier versions kept it.
fn old_history_file() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("HOME")?).join(".spmdvm_history")).filter(|path| path.is_file())
}
