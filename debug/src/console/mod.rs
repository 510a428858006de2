//! The console: commands in, text out. It reads from nowhere and writes nowhere, so it serves terminals, scripts and other
//! front ends alike.

mod command;
mod look;
mod moves;
mod table;

pub use command::{Command, SECTIONS, Section, all as commands};

use crate::session::{Arrival, Seen, Session};
use std::fmt::Write;

/// What a line led to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// To be shown.
    pub text: String,
    /// Whether the line was wrong, or what it asked for could not be done.
    pub failed: bool,
    /// Whether the session is over.
    pub quits: bool,
}

/// What a command led to: its text, or why it could not be done.
type Reply = Result<String, String>;

/// The text front end of a session.
pub struct Console<'c, 's> {
    session: &'c mut Session<'s>,
    color: bool,
    /// The lanes that are shown.
    lanes: Vec<usize>,
    /// What an empty line does again.
    last: Option<String>,
    /// What the variables were when they were last shown, and the call they are of.
    shown: Option<Shown>,
    /// Where the last motion led.
    arrival: Option<Arrival>,
    quits: bool,
}

/// The variables of a call as they were shown.
struct Shown {
    function: String,
    depth: usize,
    variables: Vec<Seen>,
}

impl<'c, 's> Console<'c, 's> {
    /// A console for a session. `color` dims inactive lanes.
    pub fn new(session: &'c mut Session<'s>, color: bool) -> Console<'c, 's> {
        let lanes = (0..session.recording.program().width.lanes()).collect();
        Console { session, color, lanes, last: None, shown: None, arrival: None, quits: false }
    }

    /// What is shown before the first command.
    pub fn greeting(&mut self) -> String {
        let call = self.session.export.declaration.clone();
        let mut text = format!("{call}\n`:help` lists the commands.\n");
        text += &self.here();
        text
    }

    /// What to ask for a line with.
    pub fn prompt(&self) -> String {
        format!("({}) ", self.session.recording.position())
    }

    /// Where the run is, as motions show it.
    pub fn place(&mut self) -> String {
        self.here()
    }

    /// Where the last line led, if it was a motion.
    pub fn arrival(&self) -> Option<&Arrival> {
        self.arrival.as_ref()
    }

    /// The session.
    pub fn session(&mut self) -> &mut Session<'s> {
        self.session
    }

    /// Does what a line says. An empty one repeats the last motion; `#` begins a remark.
    pub fn execute(&mut self, line: &str) -> Answer {
        let line = line.trim();
        let reply = match line {
            "" => match self.last.clone() {
                Some(last) => self.command(&last),
                None => Ok(String::new()),
            },
            _ if line.starts_with('#') => Ok(String::new()),
            _ => self.command(line),
        };
        let (text, failed) = match reply {
            Ok(text) => (text, false),
            Err(why) => (format!("error: {why}\n"), true),
        };
        Answer { text, failed, quits: self.quits }
    }

    fn command(&mut self, line: &str) -> Reply {
        let line = line.strip_prefix(':').unwrap_or(line).trim_start();
        let end = line.find(char::is_whitespace).unwrap_or(line.len());
        let (word, rest) = line.split_at(end);
        let command = command::find(word)?;
        self.arrival = None;
        self.last = command.repeats.then(|| line.to_owned());
        let position = self.session.recording.position();
        if !command.looks || self.session.view().is_some() || position == 0 {
            return (command.run)(self, rest.trim());
        }
        let to = |console: &mut Self, position| console.session.go_to(position).map_err(|failure| failure.to_string());
        to(self, position - 1)?;
        let reply = (command.run)(self, rest.trim());
        to(self, position)?;
        reply
    }

    fn help(&mut self, words: &str) -> Reply {
        command::help(words)
    }

    fn quit(&mut self, words: &str) -> Reply {
        nothing_more(words)?;
        self.quits = true;
        Ok(String::new())
    }
}

/// A count of steps: a number from 1, or nothing for 1.
fn count(words: &str) -> Result<u64, String> {
    if words.is_empty() {
        return Ok(1);
    }
    words.parse().ok().filter(|&n| n > 0).ok_or_else(|| format!("`{words}` is no number of steps, such as 3"))
}

fn nothing_more(words: &str) -> Result<(), String> {
    if words.is_empty() { Ok(()) } else { Err(format!("this command takes nothing, and `{words}` was given")) }
}

/// Numbers of lanes as text: `lane 3`, `lanes 0, 2`.
fn lane_list(mask: u64) -> String {
    let numbers: Vec<String> = (0..64).filter(|l| mask >> l & 1 == 1).map(|l| l.to_string()).collect();
    let mut text = if numbers.len() == 1 { "lane ".to_owned() } else { "lanes ".to_owned() };
    let _ = write!(text, "{}", numbers.join(", "));
    text
}
