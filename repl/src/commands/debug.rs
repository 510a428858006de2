//! `spmdvm debug`: steps through a call, with commands from a terminal or a script.

use super::globals::Globals;
use super::{call_failure, check_lanes, entry, interrupt_flag, load_with, with_libraries};
use crate::Failure;
use crate::cli::{DebugArgs, Global};
use crate::data::CallData;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use spmdvm::Module;
use spmdvm_debug::{Answer, Console, Limits, Settings, Signals};
use std::io::{self, BufRead, IsTerminal, Write};

/// Calls a function and asks what to do.
pub fn debug(global: &Global, args: &DebugArgs) -> Result<(), Failure> {
    let options = with_libraries(global.options(), &args.call.host)?;
    let module = load_with(&args.file, &args.call.with, &options, global.color())?;
    check_lanes(global, &args.call, &module)?;
    let (name, words) = function_and_words(&module, args);
    let export = entry(&module, name)?;
    let mut data = CallData::parse(export, words, module.lanes())?;
    let globals = Globals::set(&module, &args.call.globals)?;
    let settings = Settings {
        mask: args.call.mask,
        limits: Limits { bytes: args.keep << 20, ..Limits::default() },
        signals: Signals { interrupt: interrupt_flag(), ..Signals::default() },
        ..Settings::default()
    };
    let print = |text: &str| {
        print!("{text}");
        // What the program prints stands before what the console says.
        let _ = io::stdout().flush();
    };
    let color = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let ended = spmdvm_debug::open((&module, export, &data.values()), settings, print, |session| {
        let mut console = Console::new(session, color);
        print(&console.greeting());
        match io::stdin().is_terminal() {
            true => ask(&mut console),
            false => follow(&mut console, args.batch),
        }
    });
    data.check()?;
    globals.check()?;
    ended.map_err(|error| call_failure(error, global))?
}

/// The function that is named before the arguments, or by `--entry`, and the words of the arguments.
fn function_and_words<'a>(module: &Module, args: &'a DebugArgs) -> (Option<&'a str>, &'a [String]) {
    match (&args.call.entry, args.call.args.split_first()) {
        (Some(name), _) => (Some(name), &args.call.args),
        (None, Some((first, rest))) if module.exports().iter().any(|export| export.name == *first) => {
            (Some(first), rest)
        }
        (None, _) => (None, &args.call.args),
    }
}

/// Asks for commands at a terminal.
fn ask(console: &mut Console<'_, '_>) -> Result<(), Failure> {
    let trouble = |e: ReadlineError| Failure::usage(format!("the terminal does not answer: {e}"));
    let mut editor = DefaultEditor::new().map_err(trouble)?;
    loop {
        match editor.readline(&console.prompt()) {
            Ok(line) => {
                // Nothing depends on the history.
                let _ = editor.add_history_entry(&line);
                if show(&console.execute(&line)).quits {
                    return Ok(());
                }
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => return Ok(()),
            Err(e) => return Err(trouble(e)),
        }
    }
}

/// Does what a script says. Its lines are shown too, so that the whole reads like a session at a terminal.
fn follow(console: &mut Console<'_, '_>, batch: bool) -> Result<(), Failure> {
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|e| Failure::usage(format!("cannot read the script: {e}")))?;
        println!("{}{line}", console.prompt());
        let answer = console.execute(&line);
        show(&answer);
        if answer.quits {
            break;
        }
        if answer.failed && batch {
            return Err(Failure::Program(String::new()));
        }
    }
    Ok(())
}

fn show(answer: &Answer) -> &Answer {
    print!("{}", answer.text);
    let _ = io::stdout().flush();
    answer
}
