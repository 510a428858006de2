//! Lines that begin with a colon: one table, of which `:help`, completion and dispatch are made.

mod data;
mod inside;
mod measure;
mod state;
mod step;

use super::session::{Answer, Problem, Session};
use super::shell::Shell;
use spmdvm::tools::docs;

/// A command.
pub struct Command {
    /// Its name, without the colon.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What it takes, as `:help` writes it.
    pub arguments: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What completes its arguments.
    pub completes: Completes,
    /// Whether it changes what is remembered, so that a saved session has it.
    pub changes: bool,
    run: fn(&mut Shell, &str) -> Answer,
}

/// What the arguments of a command are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Completes {
    /// Nothing that could be completed.
    Nothing,
    /// Code.
    Code,
    /// The names of commands.
    Commands,
    /// A variable, then a file.
    VariableAndFile,
    /// A file.
    File,
    /// One of these.
    Words(&'static [&'static str]),
}

const WIDTHS: &[&str] = &["1", "2", "4", "8", "16", "32", "64"];
const ENGINES: &[&str] = &["auto", "interp", "ir", "clif", "x86"];

/// All commands, as `:help` groups them.
pub const GROUPS: &[(&str, &[Command])] = &[
    (
        "Values",
        &[
            Command {
                name: "type",
                aliases: &["t"],
                arguments: "EXPR",
                summary: "the type of an expression, which is not run",
                completes: Completes::Code,
                changes: false,
                run: state::type_of,
            },
            Command {
                name: "vars",
                aliases: &[],
                arguments: "",
                summary: "the variables",
                completes: Completes::Nothing,
                changes: false,
                run: state::vars,
            },
            Command {
                name: "funcs",
                aliases: &[],
                arguments: "",
                summary: "the functions and types that were defined",
                completes: Completes::Nothing,
                changes: false,
                run: state::funcs,
            },
            Command {
                name: "let",
                aliases: &[],
                arguments: "NAME = ARRAY",
                summary: "an array: load(\"x.npy\"), linspace(0, 1, 1000), arange, zeros, random …",
                completes: Completes::Code,
                changes: true,
                run: data::let_array,
            },
            Command {
                name: "image",
                aliases: &[],
                arguments: "NAME [FILE.png | braille]",
                summary: "draw an array of rows here (in dots: `braille`, also a curve), or write it as a picture",
                completes: Completes::VariableAndFile,
                changes: false,
                run: data::image,
            },
            Command {
                name: "save",
                aliases: &[],
                arguments: "[NAME] FILE",
                summary: "write an array to a .npy file; without NAME, the session",
                completes: Completes::VariableAndFile,
                changes: false,
                run: data::save,
            },
        ],
    ),
    (
        "Lanes",
        &[
            Command {
                name: "width",
                aliases: &[],
                arguments: "[N]",
                summary: "show or set the number of lanes; variables keep the lanes that there are",
                completes: Completes::Words(WIDTHS),
                changes: true,
                run: state::width,
            },
            Command {
                name: "mask",
                aliases: &[],
                arguments: "[EXPR | all]",
                summary: "show or set the lanes that are active when an input begins",
                completes: Completes::Code,
                changes: true,
                run: state::mask,
            },
            Command {
                name: "compare",
                aliases: &[],
                arguments: "WIDTHS [EXPR]",
                summary: "the last expression at several widths, such as 4,8,16, and what depends on the width",
                completes: Completes::Code,
                changes: false,
                run: measure::compare,
            },
        ],
    ),
    (
        "Looking inside",
        &[
            Command {
                name: "disasm",
                aliases: &[],
                arguments: "[F | CODE]",
                summary: "the bytecode of a function or an input",
                completes: Completes::Code,
                changes: false,
                run: inside::disasm,
            },
            Command {
                name: "ir",
                aliases: &[],
                arguments: "[CODE]",
                summary: "what the JIT makes of the loops of an input, optimised",
                completes: Completes::Code,
                changes: false,
                run: inside::ir,
            },
            Command {
                name: "asm",
                aliases: &[],
                arguments: "[CODE]",
                summary: "the machine code of the loops of an input",
                completes: Completes::Code,
                changes: false,
                run: inside::asm,
            },
            Command {
                name: "trace",
                aliases: &[],
                arguments: "CODE",
                summary: "every instruction with the value of every lane",
                completes: Completes::Code,
                changes: false,
                run: inside::trace,
            },
            Command {
                name: "step",
                aliases: &["debug"],
                arguments: "CODE",
                summary: "step through it, forwards and backwards, with masks; `:help` there lists the commands",
                completes: Completes::Code,
                changes: false,
                run: step::step,
            },
            Command {
                name: "explain",
                aliases: &[],
                arguments: "CODE | E0001",
                summary: "what became of each line: compiled or why not, what takes time; or what an error means",
                completes: Completes::Code,
                changes: false,
                run: inside::explain,
            },
            Command {
                name: "check",
                aliases: &[],
                arguments: "CODE",
                summary: "run in check mode: unset values, reads of inactive lanes, races and more",
                completes: Completes::Code,
                changes: false,
                run: inside::check,
            },
        ],
    ),
    (
        "Measuring",
        &[
            Command {
                name: "time",
                aliases: &[],
                arguments: "CODE",
                summary: "how long it takes: best, spread, per element, and against the interpreter",
                completes: Completes::Code,
                changes: false,
                run: measure::time,
            },
            Command {
                name: "stats",
                aliases: &[],
                arguments: "",
                summary: "what the JIT did in the last input",
                completes: Completes::Nothing,
                changes: false,
                run: measure::stats,
            },
            Command {
                name: "engine",
                aliases: &[],
                arguments: "[NAME]",
                summary: "show or choose the engine",
                completes: Completes::Words(ENGINES),
                changes: true,
                run: state::engine,
            },
        ],
    ),
    (
        "Session",
        &[
            Command {
                name: "doc",
                aliases: &[],
                arguments: "NAME",
                summary: "the documentation of a library function",
                completes: Completes::Code,
                changes: false,
                run: state::doc,
            },
            Command {
                name: "examples",
                aliases: &[],
                arguments: "[N]",
                summary: "things to try; with a number, run one",
                completes: Completes::Nothing,
                changes: false,
                run: state::examples,
            },
            Command {
                name: "load",
                aliases: &["l"],
                arguments: "FILE",
                summary: "run a program's definitions, or a session that was saved",
                completes: Completes::File,
                changes: true,
                run: state::load,
            },
            Command {
                name: "reset",
                aliases: &[],
                arguments: "",
                summary: "forget all definitions and variables",
                completes: Completes::Nothing,
                changes: true,
                run: state::reset,
            },
            Command {
                name: "help",
                aliases: &["h", "?"],
                arguments: "[COMMAND]",
                summary: "this text",
                completes: Completes::Commands,
                changes: false,
                run: help,
            },
            Command {
                name: "quit",
                aliases: &["q", "exit"],
                arguments: "",
                summary: "leave (Ctrl-D does too)",
                completes: Completes::Nothing,
                changes: false,
                run: quit,
            },
        ],
    ),
];

/// What `:help` says before and behind the commands.
const INTRODUCTION: &str = "\
Type an expression to see its type and its value in every lane, a statement to run it, a definition to keep it.
An input that fails changes nothing. Tab completes, Ctrl-R searches, an empty line ends what is unfinished.
Ctrl-C stops what runs, or drops the line being typed.
";
const CLOSING: &str =
    "\nExamples:   programIndex * programIndex     float x = sin((float)programIndex);     x > 0 ? x : -x\n";

/// All commands.
pub fn all() -> impl Iterator<Item = &'static Command> {
    GROUPS.iter().flat_map(|(_, commands)| commands.iter())
}

/// The command of this name, which may be cut short where that leaves no doubt.
pub fn find(name: &str) -> Result<&'static Command, String> {
    if let Some(command) = all().find(|command| command.name == name || command.aliases.contains(&name)) {
        return Ok(command);
    }
    let starting: Vec<&Command> = all().filter(|command| !name.is_empty() && command.name.starts_with(name)).collect();
    match starting.as_slice() {
        [command] => Ok(command),
        [] => {
            let close = spmdvm::tools::closest(name, all().map(|command| command.name));
            let hint = close.map_or("`:help` lists them".into(), |close| format!("did you mean `:{close}`?"));
            Err(format!("there is no command `:{name}`; {hint}\n"))
        }
        several => {
            let names: Vec<String> = several.iter().map(|command| format!("`:{}`", command.name)).collect();
            Err(format!("`:{name}` may be {}\n", names.join(" or ")))
        }
    }
}

/// Carries out a command.
pub fn run(shell: &mut Shell, line: &str) -> Answer {
    let (name, rest) = split(line);
    let command = find(name).map_err(Problem::Failed)?;
    (command.run)(shell, rest)
}

/// Returns whether an input is a command that leaves what is remembered as it is.
pub fn is_question(line: &str) -> bool {
    line.starts_with(':') && find(split(line).0).is_ok_and(|command| !command.changes)
}

/// The name and the arguments of a command.
pub fn split(line: &str) -> (&str, &str) {
    let line = line.trim_start_matches(':').trim_start();
    let end = line.find(|c: char| c.is_whitespace()).unwrap_or(line.len());
    (&line[..end], line[end..].trim())
}

/// A failure of a command.
fn fail(text: impl Into<String>) -> Problem {
    let mut text = text.into();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Problem::Failed(text)
}

/// The arguments, which must be there.
fn needs<'t>(command: &str, example: &str, rest: &'t str) -> Result<&'t str, Problem> {
    match rest {
        "" => Err(fail(format!(
            "`:{command}` takes {}, for instance `:{command} {example}`",
            find(command).map_or("", |c| c.arguments)
        ))),
        rest => Ok(rest),
    }
}

fn help(shell: &mut Shell, rest: &str) -> Answer {
    if !rest.is_empty() {
        let command = find(rest.trim_start_matches(':')).map_err(Problem::Failed)?;
        let also: Vec<String> = command.aliases.iter().map(|alias| format!(":{alias}")).collect();
        let also = if also.is_empty() { String::new() } else { format!(" (also {})", also.join(", ")) };
        return Ok(format!(":{} {}{also}\n    {}\n", command.name, command.arguments, command.summary));
    }
    let mut text = INTRODUCTION.to_owned();
    for (title, commands) in GROUPS {
        text += &format!("\n{}\n", shell.session.painter.bold(title));
        for command in *commands {
            let head = format!(":{} {}", command.name, command.arguments);
            text += &format!("  {head:<24} {}\n", command.summary);
        }
    }
    Ok(text + CLOSING)
}

fn quit(shell: &mut Shell, _: &str) -> Answer {
    shell.leaving = true;
    Ok(String::new())
}

/// The functions and types of a name, as they were typed.
pub fn definitions_of(session: &Session, name: &str) -> String {
    session.units().of_name(name).filter(|unit| unit.is_function()).map(|unit| format!("{}\n", unit.source())).collect()
}

/// What the library's documentation says of a function.
pub fn documentation(name: &str) -> Option<String> {
    let found = docs::all().iter().filter(|entry| entry.names().any(|known| known == name));
    let text = |entry: &docs::Entry<'_>| {
        let types = if entry.types.is_empty() { String::new() } else { format!("    {}\n", entry.types) };
        let lines: String = entry.text.iter().map(|line| format!("    {line}\n")).collect();
        format!("{}\n{types}{lines}", entry.signature)
    };
    let all: Vec<String> = found.map(text).collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unambiguous() {
        let mut names: Vec<&str> = all().flat_map(|c| c.aliases.iter().copied().chain([c.name])).collect();
        let n = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n);
        assert_eq!(find("comp").unwrap().name, "compare");
        assert_eq!(find("ex").err().unwrap(), "`:ex` may be `:explain` or `:examples`\n");
        assert!(find("widht").err().unwrap().contains(":width"));
    }

    #[test]
    fn library_functions_have_documentation() {
        assert!(documentation("sin").unwrap().contains("sin("));
        assert!(documentation("reduce_add").is_some());
        assert!(documentation("nothing").is_none());
    }
}
