//! The interactive shell: `terminal` reads lines and shows answers, `session` keeps definitions and variables and runs
//! what is typed, `input` tells what kind of thing was typed, `command` are the lines that begin with a colon.

mod command;
mod input;
mod session;
mod terminal;

pub use terminal::repl;
