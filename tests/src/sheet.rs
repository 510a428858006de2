//! What random programs are written on: a text, and the choices that a seed makes.

use crate::data::random;
use std::fmt::Write as _;

/// A program being written.
pub struct Sheet {
    seed: u64,
    drawn: u64,
    /// The text so far.
    pub text: String,
}

impl Sheet {
    /// An empty one, for the program of a seed.
    pub fn new(seed: u64) -> Sheet {
        Sheet { seed, drawn: 0, text: String::new() }
    }

    /// The next choice: a number below `n`.
    pub fn draw(&mut self, n: u64) -> u64 {
        self.drawn += 1;
        random(self.seed, self.drawn) % n
    }

    /// One of some texts.
    pub fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.draw(choices.len() as u64) as usize]
    }

    /// Writes a line.
    pub fn line(&mut self, depth: u32, text: &str) {
        let _ = writeln!(self.text, "{}{text}", "    ".repeat(depth as usize + 1));
    }
}
