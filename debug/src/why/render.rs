//! A slice as a tree of text.

use super::{Cause, Role, Slice};
use crate::lines::LinePlace;
use crate::session::Session;
use std::collections::HashSet;
use std::fmt::Write;

/// The tree under a heading. Lines of the source stand with the first cause of each.
pub fn render(session: &Session<'_>, slice: &Slice, heading: &str) -> String {
    let lanes = session.recording.program().width.lanes();
    let mut tree =
        Tree { session, slice, lanes, shown: HashSet::new(), quoted: HashSet::new(), text: format!("{heading}\n") };
    tree.branches(&slice.roots, "");
    if slice.causes.is_empty() {
        tree.text += "  nothing was stored there: it is as it was at the start\n";
    }
    if slice.is_cut {
        tree.text += "  … and so on (a number behind the variable asks for more)\n";
    }
    tree.text
}

struct Tree<'t, 's> {
    session: &'t Session<'s>,
    slice: &'t Slice,
    lanes: usize,
    shown: HashSet<usize>,
    /// The lines that have been quoted.
    quoted: HashSet<LinePlace>,
    text: String,
}

impl Tree<'_, '_> {
    fn branches(&mut self, causes: &[usize], indent: &str) {
        // What made the value comes before what decided.
        let mut ordered: Vec<usize> = causes.to_vec();
        ordered.sort_by_key(|&at| self.slice.causes[at].role == Role::Decided);
        for (i, &at) in ordered.iter().enumerate() {
            let is_last = i + 1 == ordered.len();
            let _ = write!(self.text, "{indent}{} ", if is_last { "└" } else { "├" });
            let below = format!("{indent}{}", if is_last { "  " } else { "│ " });
            self.cause(at, &below);
        }
    }

    fn cause(&mut self, at: usize, below: &str) {
        let cause = &self.slice.causes[at];
        if !self.shown.insert(at) {
            let _ = writeln!(self.text, "step {}, see above", cause.position);
            return;
        }
        let mut causes = cause.causes.clone();
        let text = self.copied(at, &mut causes);
        self.line(cause, &text);
        self.branches(&causes, below);
    }

    /// The text of a cause; of one that copies a temporary value, or decides by one, with what made that.
    fn copied(&mut self, at: usize, causes: &mut Vec<usize>) -> String {
        let cause = &self.slice.causes[at];
        let made: Vec<usize> = causes.iter().copied().filter(|&of| self.slice.causes[of].role == Role::Made).collect();
        let [maker] = made[..] else { return cause.text.clone() };
        let made = &self.slice.causes[maker];
        let is_temporary =
            made.text.starts_with(['u', 'v']) && made.text[1..].starts_with(|c: char| c.is_ascii_digit());
        let takes_over = cause.copies || cause.role == Role::Decided;
        if !takes_over || !is_temporary || made.place != cause.place || self.shown.contains(&maker) {
            return cause.text.clone();
        }
        let Some((_, right)) = made.text.split_once(" = ") else { return cause.text.clone() };
        self.shown.insert(maker);
        let at = causes.iter().position(|&of| of == maker).unwrap_or(0);
        causes.splice(at..=at, made.causes.iter().copied());
        match (cause.role, cause.text.split_once(" = ")) {
            (Role::Decided, _) => right.to_owned(),
            (_, Some((left, _))) => format!("{left} = {right}"),
            (_, None) => format!("{} with {} = {right}", cause.text, made.text.split(' ').next().unwrap_or_default()),
        }
    }

    fn line(&mut self, cause: &Cause, text: &str) {
        let lane = cause.lane.map_or(String::new(), |lane| format!(" in lane {lane}"));
        let (place, mask, step) = (self.place(cause), self.mask(cause), cause.position);
        let _ = match cause.role {
            Role::Given => writeln!(self.text, "{text}: {}", cause.value),
            Role::Made => writeln!(self.text, "{place}: {text} → {}{lane} ({mask}, step {step})", cause.value),
            Role::Decided if cause.value.is_empty() => {
                writeln!(self.text, "because of {place}: {text} ({mask}, step {step})")
            }
            Role::Decided => {
                writeln!(self.text, "because of {place}: {text} was {}{lane} ({mask}, step {step})", cause.value)
            }
        };
        if let Some(at) = cause.place.filter(|_| cause.role != Role::Given) {
            self.quoted.insert(at);
        }
    }

    /// The line of a cause, which is quoted where it is first named.
    fn place(&self, cause: &Cause) -> String {
        let Some(place) = cause.place else { return "no line".into() };
        if self.quoted.contains(&place) {
            return format!("line {}", place.line);
        }
        let text = self.session.line_text(place).unwrap_or_default().trim();
        let text: String = text.chars().take(60).collect();
        format!("line {} `{text}`", place.line)
    }

    fn mask(&self, cause: &Cause) -> String {
        (0..self.lanes).map(|l| if cause.mask >> l & 1 == 1 { '■' } else { '·' }).collect()
    }
}
