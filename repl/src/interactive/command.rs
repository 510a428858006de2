//! Lines that begin with a colon.

use super::session::{Answer, Session};
use spmdvm::Width;

/// What `:help` shows.
const HELP: &str = "\
Type an expression to see its value in every lane, a statement to run it, or a definition to keep it.
Each input runs on a gang with all lanes on; variables keep their values.

  :width [N]     show or set the number of lanes (1, 2, 4, 8, 16, 32, 64); values of variables are lost
  :type EXPR     the type of an expression
  :vars          the variables
  :load FILE     read definitions from a file
  :disasm [F]    the bytecode of the function F, or of everything defined
  :reset         forget all definitions and variables
  :help          this text
  :quit          leave (Ctrl-D does too)

Ctrl-C stops what runs, or drops the line being typed.
Examples:   programIndex * programIndex     float x = sin((float)programIndex);     x > 0 ? x : -x
";

/// Carries out a command; `None` means: leave.
pub fn command(session: &mut Session, line: &str) -> Option<Answer> {
    let (name, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let answer = match name {
        ":quit" | ":q" | ":exit" => return None,
        ":help" | ":h" | ":?" => Ok(HELP.to_owned()),
        ":width" => width(session, rest),
        ":type" | ":t" if !rest.is_empty() => session.type_of(rest).map(|t| t + "\n"),
        ":type" | ":t" => Err("`:type` takes an expression, for instance `:type programIndex / 2`\n".into()),
        ":vars" => Ok(session.variables().map(|v| format!("{v}\n")).collect()),
        ":load" => load(session, rest),
        ":disasm" => disasm(session, rest),
        ":reset" => {
            session.reset();
            Ok(String::new())
        }
        _ => Err(format!("there is no command `{name}`; `:help` lists them\n")),
    };
    Some(answer)
}

fn width(session: &mut Session, text: &str) -> Answer {
    if text.is_empty() {
        return Ok(format!("{} lanes\n", session.options.width));
    }
    let Some(width) = text.parse().ok().and_then(Width::new) else {
        return Err("the width is one of 1, 2, 4, 8, 16, 32, 64\n".into());
    };
    session.options.width = width;
    session.forget_values();
    Ok(format!("{width} lanes\n"))
}

fn load(session: &mut Session, path: &str) -> Answer {
    if path.is_empty() {
        return Err("`:load` takes the name of a file\n".into());
    }
    let text = crate::files::text(path.as_ref()).map_err(|failure| failure.message() + "\n")?;
    session.load(&text).map(|warnings| warnings + "loaded\n")
}

fn disasm(session: &Session, name: &str) -> Answer {
    let text = session.module()?.disassemble();
    if name.is_empty() {
        return Ok(text);
    }
    let functions: Vec<&str> = text.split("\n\n").filter(|part| part.contains(&format!("func {name}"))).collect();
    match functions.is_empty() {
        true => {
            Err(format!("there is no function `{name}` (only exported functions and what they call are compiled)\n"))
        }
        false => Ok(functions.join("\n\n") + "\n"),
    }
}
