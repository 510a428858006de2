//! `:step`: the stepper on an input. It asks for its own commands until it is left; what the input changes is forgotten.

use super::{fail, needs};
use crate::commands::{call_failure_text, interrupt_flag};
use crate::interactive::session::{Answer, INPUT, Problem};
use crate::interactive::shell::Shell;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use spmdvm::tools::PROMPT_FUNCTION;
use spmdvm::{Engine, Options};
use spmdvm_debug::{Console, Settings, Signals};
use std::io::Write as _;

pub fn step(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("step", "programIndex / 2", rest)?;
    let options = Options { engine: Engine::Interp, ..shell.session.options.clone() };
    let prepared = shell.session.prepare_with(rest, INPUT, &options)?;
    let Some(export) = prepared.module.exports().iter().find(|export| export.name == PROMPT_FUNCTION) else {
        return Err(fail("there is nothing in it that runs"));
    };
    prepared.write_values();
    let signals = Signals { interrupt: interrupt_flag(), ..Signals::default() };
    let settings = Settings { mask: Some(shell.session.mask), signals, ..Settings::default() };
    let color = shell.session.painter.color;
    let mut lines = Lines::of(shell)?;
    let ended = spmdvm_debug::open((&prepared.module, export, &[]), settings, say, |session| {
        let mut console = Console::new(session, color);
        say(&console.greeting());
        while let Some(line) = lines.next(&console.prompt()) {
            let answer = console.execute(&line);
            say(&answer.text);
            if answer.quits {
                break;
            }
        }
    });
    ended.map_err(|error| Problem::Failed(call_failure_text(error, color)))?;
    Ok(String::new())
}

/// Prints at once: what the program prints stands before what the console says.
fn say(text: &str) {
    print!("{text}");
    let _ = std::io::stdout().flush();
}

/// Where the stepper's commands come from.
enum Lines<'s> {
    /// The script that the shell reads too.
    Script(&'s mut dyn FnMut() -> Option<String>),
    /// The terminal, with a history of its own.
    Terminal(Box<DefaultEditor>),
}

impl<'s> Lines<'s> {
    fn of(shell: &'s mut Shell) -> Result<Lines<'s>, Problem> {
        match &mut shell.script {
            Some(script) => Ok(Lines::Script(script)),
            None => {
                let editor = DefaultEditor::new().map_err(|e| fail(format!("the terminal does not answer: {e}")))?;
                Ok(Lines::Terminal(Box::new(editor)))
            }
        }
    }

    /// The next line; `None` at the end of the input.
    fn next(&mut self, prompt: &str) -> Option<String> {
        match self {
            Lines::Script(script) => {
                let line = script()?;
                println!("{prompt}{line}");
                Some(line)
            }
            Lines::Terminal(editor) => loop {
                match editor.readline(prompt) {
                    Ok(line) => {
                        // Nothing depends on the history.
                        let _ = editor.add_history_entry(&line);
                        return Some(line);
                    }
                    Err(ReadlineError::Interrupted) => {}
                    Err(_) => return None,
                }
            },
        }
    }
}
