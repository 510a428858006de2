//! Help while typing: completion, colours, hints, and whether more lines must come.

use super::commands::{self, Completes};
use super::script::is_ended_by;
use super::shell::Shell;
use super::units::tokens;
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::SearchDirection;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Context, Helper};
use spmdvm::tools::docs;
use spmdvm::tools::{KEYWORDS, TokenKind};
use spmdvm::{InfoKind, TypeInfo};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// Names that programs know and the documentation of the library has not.
const BUILTINS: [&str; 6] = ["programIndex", "programCount", "taskIndex", "taskCount", "threadIndex", "threadCount"];

/// What helps with an input.
pub struct Assistant {
    shell: Rc<RefCell<Shell>>,
    color: bool,
    files: FilenameCompleter,
}

impl Assistant {
    /// Help for a shell.
    pub fn new(shell: Rc<RefCell<Shell>>, color: bool) -> Assistant {
        Assistant { shell, color, files: FilenameCompleter::new() }
    }
}

impl Helper for Assistant {}

impl Validator for Assistant {
    fn validate(&self, ctx: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        let input = ctx.input();
        let ends = is_ended_by(input, input.ends_with('\n')) || input.ends_with("\n\n\n");
        let more = !ends && self.shell.borrow().is_unfinished(input);
        Ok(if more { ValidationResult::Incomplete } else { ValidationResult::Valid(None) })
    }
}

impl Completer for Assistant {
    type Candidate = Pair;

    fn complete(&self, line: &str, pos: usize, ctx: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..pos];
        match self.wanted(before) {
            Wanted::Commands(start) => Ok((start, command_names(&before[start..]))),
            Wanted::File => self.files.complete(line, pos, ctx),
            Wanted::Words(start, words) => {
                let typed = &before[start..];
                let fitting = words.iter().filter(|word| word.starts_with(typed));
                Ok((start, fitting.map(|word| pair(word, word)).collect()))
            }
            Wanted::Member(start, members) => {
                let typed = &before[start..];
                let fitting = members.into_iter().filter(|(name, _)| name.starts_with(typed));
                Ok((start, fitting.map(|(name, ty)| pair(&format!("{name}: {ty}"), &name)).collect()))
            }
            Wanted::Name(start) => Ok((start, self.names(&before[start..]))),
        }
    }
}

/// What can stand where the cursor is, and where that begins.
enum Wanted {
    Commands(usize),
    File,
    Words(usize, &'static [&'static str]),
    Member(usize, Vec<(String, String)>),
    Name(usize),
}

impl Assistant {
    fn wanted(&self, before: &str) -> Wanted {
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        if let Some(command) = before.strip_prefix(':') {
            let (name, rest) = commands::split(before);
            let has_arguments = command.contains(char::is_whitespace);
            if !has_arguments {
                return Wanted::Commands(1);
            }
            match commands::find(name).map(|command| command.completes) {
                Ok(Completes::Commands) => return Wanted::Commands(start),
                Ok(Completes::File) => return Wanted::File,
                Ok(Completes::VariableAndFile)
                    if rest.contains(char::is_whitespace) || before.ends_with(' ') && !rest.is_empty() =>
                {
                    return Wanted::File;
                }
                Ok(Completes::Words(words)) => return Wanted::Words(start, words),
                _ if before.matches('"').count() % 2 == 1 => return Wanted::File,
                _ => {}
            }
        }
        match before[..start].strip_suffix('.').or(before[..start].strip_suffix("->")) {
            Some(object) => Wanted::Member(start, self.members(object)),
            None => Wanted::Name(start),
        }
    }

    /// The members of a variable, or of a member of one, as it stands before a point.
    fn members(&self, object: &str) -> Vec<(String, String)> {
        let start = object.rfind(|c: char| !c.is_ascii_alphanumeric() && !"_.[]".contains(c)).map_or(0, |at| at + 1);
        let shell = self.shell.borrow();
        let mut parts = object[start..].split('.');
        let plain = |part: &str| part.split('[').next().unwrap_or("").to_owned();
        let Some(variable) = parts.next().and_then(|name| shell.session.variables().get(&plain(name))) else {
            return Vec::new();
        };
        let mut ty = element(&variable.ty);
        for part in parts {
            let Some(member) = ty.member(&plain(part)) else { return Vec::new() };
            ty = element(member);
        }
        match &ty.kind {
            InfoKind::Struct(members) => members.iter().map(|(name, _, ty)| (name.clone(), ty.name.clone())).collect(),
            InfoKind::Vector(elem, n) => {
                let names = ["x", "y", "z", "w"].into_iter().take(*n as usize);
                names.map(|name| (name.to_owned(), elem.name.clone())).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Names that begin with a text: variables, functions, keywords, what the library has.
    fn names(&self, typed: &str) -> Vec<Pair> {
        if typed.is_empty() {
            return Vec::new();
        }
        let shell = self.shell.borrow();
        let session = &shell.session;
        let mut found: Vec<Pair> = Vec::new();
        let mut add = |name: &str, display: String| {
            if name.starts_with(typed) && !found.iter().any(|pair| pair.replacement == name) {
                found.push(Pair { display, replacement: name.to_owned() });
            }
        };
        for name in session.variables().names() {
            add(name, session.variables().get(name).map_or(name.to_owned(), |v| format!("{name}: {}", v.ty.name)));
        }
        for unit in session.units().iter() {
            let head = unit.source().split('{').next().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
            unit.names.iter().for_each(|name| add(name, if unit.is_function() { head.clone() } else { name.clone() }));
        }
        for entry in docs::all() {
            entry.names().for_each(|name| add(name, entry.signature.to_owned()));
        }
        BUILTINS.iter().for_each(|name| add(name, (*name).to_owned()));
        KEYWORDS.iter().filter(|(word, _)| !word.starts_with('_')).for_each(|(word, _)| add(word, (*word).to_owned()));
        found.sort_by(|a, b| a.replacement.cmp(&b.replacement));
        found
    }

    /// What a function takes, whose arguments are being typed.
    fn signature(&self, line: &str) -> Option<String> {
        let mut calls: Vec<Option<&str>> = Vec::new();
        let mut last = None;
        for (kind, range) in tokens(line) {
            match kind {
                TokenKind::LParen => calls.push(last.take()),
                TokenKind::RParen => drop(calls.pop()),
                _ => {}
            }
            last = (kind == TokenKind::Word).then(|| &line[range]);
        }
        let name = calls.last().copied().flatten()?;
        let shell = self.shell.borrow();
        let own = shell.session.units().of_name(name).find(|unit| unit.is_function());
        if let Some(unit) = own {
            return unit.source().split('{').next().map(|head| head.split_whitespace().collect::<Vec<_>>().join(" "));
        }
        docs::all()
            .iter()
            .find(|entry| entry.names().any(|known| known == name))
            .map(|entry| entry.signature.to_owned())
    }
}

/// The type of the elements of arrays.
fn element(mut ty: &TypeInfo) -> &TypeInfo {
    while let InfoKind::Array(elem, _) = &ty.kind {
        ty = elem;
    }
    ty
}

fn pair(display: &str, replacement: &str) -> Pair {
    Pair { display: display.to_owned(), replacement: replacement.to_owned() }
}

fn command_names(typed: &str) -> Vec<Pair> {
    let fitting = commands::all().filter(|command| command.name.starts_with(typed));
    fitting.map(|command| pair(&format!(":{}  {}", command.name, command.summary), command.name)).collect()
}

/// A hint behind the cursor: the rest of an earlier input, or what a function takes.
pub struct Help {
    shown: String,
    completion: Option<String>,
}

impl Hint for Help {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        self.completion.as_deref()
    }
}

impl Hinter for Assistant {
    type Hint = Help;

    fn hint(&self, line: &str, pos: usize, ctx: &Context<'_>) -> Option<Help> {
        if pos < line.len() || line.trim().is_empty() {
            return None;
        }
        if let Some(signature) = self.signature(line) {
            return Some(Help { shown: format!("    {signature}"), completion: None });
        }
        if line.starts_with(':')
            && line.ends_with(' ')
            && let (name, "") = commands::split(line)
            && let Ok(command) = commands::find(name)
        {
            return Some(Help { shown: command.arguments.to_owned(), completion: None });
        }
        let start = ctx.history().len().checked_sub(1)?;
        let found = ctx.history().starts_with(line, start, SearchDirection::Reverse).ok()??;
        let rest = found.entry.get(pos..).filter(|rest| !rest.is_empty() && !rest.contains('\n'))?.to_owned();
        Some(Help { shown: rest.clone(), completion: Some(rest) })
    }
}

impl Highlighter for Assistant {
    fn highlight<'l>(&self, line: &'l str, _pos: usize) -> Cow<'l, str> {
        if !self.color {
            return Cow::Borrowed(line);
        }
        Cow::Owned(highlighted(line))
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _default: bool) -> Cow<'b, str> {
        match self.color {
            true => Cow::Owned(format!("\x1b[1;34m{prompt}\x1b[0m")),
            false => Cow::Borrowed(prompt),
        }
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        match self.color {
            true => Cow::Owned(format!("\x1b[2m{hint}\x1b[0m")),
            false => Cow::Borrowed(hint),
        }
    }

    fn highlight_char(&self, _line: &str, _pos: usize, _kind: CmdKind) -> bool {
        self.color
    }
}

/// A text with its keywords, numbers, strings and comments in colours.
fn highlighted(line: &str) -> String {
    let (mut text, mut at) = (String::new(), 0);
    let code = if line.starts_with(':') { line.find(char::is_whitespace).unwrap_or(line.len()) } else { 0 };
    if code > 0 {
        text += &format!("\x1b[35m{}\x1b[0m", &line[..code]);
        at = code;
    }
    for (kind, range) in tokens(&line[code..]) {
        let range = range.start + code..range.end + code;
        text += &between(&line[at..range.start]);
        at = range.end;
        let part = &line[range];
        match color_of(kind) {
            Some(color) => text += &format!("\x1b[{color}m{part}\x1b[0m"),
            None => text += part,
        }
    }
    text + &between(&line[at..])
}

/// Blanks and comments.
fn between(text: &str) -> String {
    if text.trim().is_empty() { text.to_owned() } else { format!("\x1b[2m{text}\x1b[0m") }
}

fn color_of(kind: TokenKind) -> Option<&'static str> {
    use TokenKind::{
        Char, Number, String, Uniform, Unknown, UnterminatedChar, UnterminatedComment, UnterminatedString,
    };
    use TokenKind::{Varying, Word};
    match kind {
        Number => Some("36"),
        String | Char => Some("32"),
        UnterminatedComment => Some("2"),
        UnterminatedString | UnterminatedChar | Unknown => Some("31"),
        Uniform | Varying => Some("35"),
        Word => None,
        kind if kind.is_word() => Some("34"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_change_no_text() {
        let line = "uniform float x = 1.5f; /* a */ print(\"%\\n\", x); // b";
        let colored = highlighted(line);
        assert!(colored.contains("\x1b[35muniform\x1b[0m") && colored.contains("\x1b[2m"));
        let mut plain = String::new();
        for part in colored.split('\x1b') {
            plain += part.split_once('m').filter(|_| part.starts_with('[')).map_or(part, |(_, rest)| rest);
        }
        assert_eq!(plain, line);
    }
}
