//! One input after another: expressions, statements, definitions, and commands.

use super::commands;
use super::session::{Answer, Session};

/// What answers inputs.
pub struct Shell {
    /// What is remembered.
    pub session: Session,
    /// Whether `:quit` has been said.
    pub leaving: bool,
    /// Gives the next line of the script that is read, to commands that ask on; none at a terminal.
    pub script: Option<Box<dyn FnMut() -> Option<String>>>,
}

impl Shell {
    /// A shell for a session.
    pub fn new(session: Session) -> Shell {
        Shell { session, leaving: false, script: None }
    }

    /// Answers an input.
    pub fn respond(&mut self, input: &str) -> Answer {
        let trimmed = input.trim();
        let answer = match trimmed.starts_with(':') {
            true => commands::run(self, trimmed),
            false => match self.about_name(trimmed) {
                Some(text) => Ok(text),
                None => self.session.eval(input.trim_end()),
            },
        };
        if answer.is_ok() && !trimmed.is_empty() && !commands::is_question(trimmed) {
            self.session.log.push(trimmed.to_owned());
        }
        answer
    }

    /// Returns whether an input ends in the middle of something.
    pub fn is_unfinished(&self, input: &str) -> bool {
        let trimmed = input.trim();
        !trimmed.starts_with(':')
            && !trimmed.is_empty()
            && (trimmed.ends_with('\\') || self.session.is_unfinished(input))
    }

    /// What there is to say of a function's name alone, which has no value.
    fn about_name(&self, name: &str) -> Option<String> {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name || self.session.variables().get(name).is_some() {
            return None;
        }
        let own = commands::definitions_of(&self.session, name);
        if own.is_empty() { commands::documentation(name) } else { Some(own) }
    }
}
