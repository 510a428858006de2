//! The commands: one table, from which completion and `:help` come too.

use super::{Console, Reply};

/// A command.
pub struct Command {
    /// Its name, without the colon.
    pub name: &'static str,
    /// Other names.
    pub aliases: &'static [&'static str],
    /// What it takes, as `:help` shows it.
    pub takes: &'static str,
    /// What it does, in a sentence.
    pub help: &'static str,
    /// Whether an empty line does it again.
    pub repeats: bool,
    /// Whether it looks at what the function that executes has: behind the end, at its last instruction.
    pub looks: bool,
    pub(super) run: fn(&mut Console<'_, '_>, &str) -> Reply,
}

/// A heading of `:help`, with its commands.
pub struct Section {
    /// What they are about.
    pub title: &'static str,
    /// The commands.
    pub commands: &'static [Command],
}

macro_rules! commands {
    ($( $title:literal { $( $name:literal [ $($alias:literal)* ] $takes:literal $help:literal $($kind:ident)? => $run:ident; )* } )*) => {
        /// All commands.
        pub const SECTIONS: &[Section] = &[ $( Section {
            title: $title,
            commands: &[ $( Command {
                name: $name,
                aliases: &[ $($alias),* ],
                takes: $takes,
                help: $help,
                repeats: commands!(@repeats $($kind)?),
                looks: commands!(@looks $($kind)?),
                run: |console, words| console.$run(words),
            } ),* ],
        } ),* ];
    };
    (@repeats) => { false };
    (@repeats again) => { true };
    (@repeats looks) => { false };
    (@looks) => { false };
    (@looks again) => { false };
    (@looks looks) => { true };
}

commands! {
    "Forwards" {
        "next" ["n"] "[N]" "Goes to the next line of this function; calls are done on the way." again => next;
        "in" ["s" "step"] "[N]" "Goes to the next line, into functions that are called." again => step_in;
        "out" ["finish" "fin"] "" "Goes on until this function has returned." again => out;
        "instr" ["si" "stepi"] "[N]" "Executes one instruction." again => instruction;
        "over" ["ni" "nexti"] "[N]" "Executes one instruction; a call is done as a whole." again => over;
        "continue" ["c"] "" "Goes on to the next stop (`:break`, `:watch`), or to the end." again => resume;
    }
    "Backwards" {
        "back" ["b" "rn" "prev" "reverse-next"] "[N]" "Goes back to the line before; calls are undone on the way." again => back;
        "back-in" ["rs" "reverse-step"] "[N]" "Goes back to the line before, into functions that were called." again => back_in;
        "back-out" ["rfin" "reverse-finish"] "" "Goes back to the call of this function." again => back_out;
        "back-instr" ["rsi" "reverse-stepi"] "[N]" "Undoes one instruction." again => back_instruction;
        "back-over" ["rni" "reverse-nexti"] "[N]" "Undoes one instruction; a call is undone as a whole." again => back_over;
        "back-continue" ["rc" "reverse-continue"] "" "Goes back to the last stop before, or to the start." again => resume_backward;
    }
    "Anywhere" {
        "goto" ["g"] "N|start|end|+N|-N" "Goes to a step: where N instructions have been executed." => go_to;
        "run" [] "" "Goes to the end, past all stops." => run_to_end;
    }
    "Stops" {
        "break" ["br"] "[[FILE:]LINE|FUNCTION [if COND]]" "Stops where a line begins (if COND is true in some active lane); alone, lists all stops." => set_break;
        "watch" ["w"] "VAR[LANE]|PLACE" "Stops where a variable, or an element in memory, changes." => set_watch;
        "delete" ["d"] "[N]" "Deletes a stop, or all." => delete;
    }
    "Looking" {
        "where" ["bt" "backtrace"] "" "Shows the calls." looks => calls;
        "list" ["l"] "[LINE]" "Shows the source around here, or around a line." => list;
        "code" ["disasm"] "" "Shows the instructions around here." looks => code;
        "masks" ["m"] "" "Shows all masks, and what they mean." looks => masks;
        "vars" ["v"] "[all]" "Shows the variables; with `all` the global ones too." looks => vars;
        "print" ["p"] "EXPR" "Shows the value of an expression over the variables." looks => print;
        "why" [] "VAR[[LANE]] [N]" "Tells which instructions, under which masks, gave a lane its value: at most N of them." looks => why;
        "lanes" [] "[L,L…|all]" "Shows only these lanes from now on." => set_lanes;
        "state" ["info"] "" "Shows where the run is, how far it is known, and what is kept of it." => info;
    }
    "Other" {
        "help" ["h" "?"] "[COMMAND]" "Lists the commands, or explains one." => help;
        "quit" ["q" "exit"] "" "Ends the session. A run that has not come to its end leaves no traces in memory." => quit;
    }
}

/// All commands, in their order.
pub fn all() -> impl Iterator<Item = &'static Command> {
    SECTIONS.iter().flat_map(|section| section.commands)
}

/// The command that a word means: its name, another name, or the beginning of just one name.
pub fn find(word: &str) -> Result<&'static Command, String> {
    if let Some(command) = all().find(|command| command.name == word || command.aliases.contains(&word)) {
        return Ok(command);
    }
    let begun: Vec<&Command> = all().filter(|command| command.name.starts_with(word) && !word.is_empty()).collect();
    match begun[..] {
        [command] => Ok(command),
        [] => {
            let names = all().flat_map(|command| std::iter::once(command.name).chain(command.aliases.iter().copied()));
            let close = spmdvm::frontend::diag::closest(word, names);
            let hint = close.map_or("`:help` lists all".into(), |close| format!("did you mean `:{close}`?"));
            Err(format!("there is no command `:{word}`; {hint}"))
        }
        _ => {
            let names: Vec<String> = begun.iter().map(|command| format!("`:{}`", command.name)).collect();
            Err(format!("`:{word}` may be {}", names.join(" or ")))
        }
    }
}

/// The list of all commands, or what one does.
pub fn help(word: &str) -> Result<String, String> {
    if !word.is_empty() {
        let command = find(word.trim_start_matches(':'))?;
        let mut text = format!(":{} {}", command.name, command.takes).trim_end().to_owned();
        text += &format!("\n  {}\n", command.help);
        if !command.aliases.is_empty() {
            let names: Vec<String> = command.aliases.iter().map(|alias| format!(":{alias}")).collect();
            text += &format!("  Also {}.\n", names.join(", "));
        }
        return Ok(text);
    }
    let mut text = String::new();
    for section in SECTIONS {
        text += &format!("{}\n", section.title);
        for command in section.commands {
            let usage = format!(":{} {}", command.name, command.takes);
            text += &format!("  {usage:<24} {}\n", command.help);
        }
    }
    text += "Commands may be shortened, and the colon may be left out. An empty line repeats the last motion.\n";
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_mean_one_command_each() {
        let mut seen = HashSet::new();
        for command in all() {
            for name in std::iter::once(&command.name).chain(command.aliases) {
                assert!(seen.insert(*name), "{name} stands twice");
            }
            assert!(command.help.ends_with('.'), "{}", command.name);
            assert!(std::ptr::eq(find(command.name).expect("its name"), command));
        }
        assert!(find("cont").is_ok_and(|command| command.name == "continue"));
        assert!(find("").is_err());
    }
}
