//! Diagnostics: what is wrong with a program, said once and pointing at source.
//!
//! Each kind of message is one row of the table in [`codes`]. A [`Diagnostic`] is built fluently and given to
//! [`Diagnostics`], which drops repetitions and stops at a limit; [`render()`] turns it into text. As every stage has it at
//! hand, it also tells them when the compilation is called off.

pub mod codes;
mod render;

pub use codes::Code;
pub use render::{render, render_all, render_list};

use crate::limits::Limits;
use crate::source::{FileId, Span};
use spmdvm_vm::stop::Stop;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The program runs, perhaps not as meant.
    Warning,
    /// The program cannot run.
    Error,
}

/// A place in the source and what is to be said about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// What is said there; may be empty.
    pub text: String,
}

/// One message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The row of the table.
    pub code: Code,
    /// Follows from the code.
    pub severity: Severity,
    /// The message proper: one sentence without a full stop, lower case.
    pub message: String,
    /// Where; the first label is the primary one.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Option<String>,
    /// Further facts.
    pub notes: Vec<String>,
}

impl Diagnostic {
    /// A message whose primary place is `span`, labelled with nothing.
    pub fn new(code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: code.severity(),
            message: message.into(),
            labels: vec![Label { span, text: String::new() }],
            help: None,
            notes: Vec::new(),
        }
    }

    /// The primary place.
    pub fn span(&self) -> Span {
        self.labels.first().map(|label| label.span).unwrap_or_default()
    }

    /// Says `text` at the primary place.
    #[must_use]
    pub fn at(mut self, text: impl Into<String>) -> Diagnostic {
        if let Some(label) = self.labels.first_mut() {
            label.text = text.into();
        }
        self
    }

    /// Says `text` at another place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Says what to do. A second help replaces the first.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Diagnostic {
        self.help = Some(text.into());
        self
    }

    /// The same, where the files from the `first` on have numbers that are greater by `by`.
    #[must_use]
    pub fn renumbered(mut self, first: usize, by: u32) -> Diagnostic {
        for label in self.labels.iter_mut().filter(|label| label.span.file.0 as usize >= first) {
            label.span.file.0 += by;
        }
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }
}

/// How many errors are counted before the compilation gives up.
pub const MAX_COUNTED: usize = 1000;

/// Collects the messages of one compilation.
///
/// Against cascades: of several errors at the same place only the first is kept, since the later ones mostly follow from
/// it; and nothing is kept beyond the [`Limits`].
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    limits: Limits,
    stop: Rc<Stop>,
    /// What is not wanted anywhere.
    quiet: Vec<Quiet>,
    /// Where `#pragma ignore warning` holds: by file, in the order of the text.
    quiet_lines: HashMap<FileId, Vec<(Span, Quiet)>>,
}

/// Messages that were not kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LeftOut {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Whether the compilation gave up, so that there may be more errors.
    pub gave_up: bool,
}

/// `… and 12 more errors, 3 more warnings`; nothing if there are none.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |n: usize, what: &str| format!("{n} more {what}{}", if n == 1 { "" } else { "s" });
        let parts = [(self.errors, "error"), (self.warnings, "warning")].into_iter().filter(|(n, _)| *n > 0);
        let text = parts.map(|(n, what)| count(n, what)).collect::<Vec<_>>().join(", ");
        match text.as_str() {
            "" => Ok(()),
            _ if self.gave_up => write!(f, "… and at least {text}"),
            _ => write!(f, "… and {text}"),
        }
    }
}

/// Which warnings are not wanted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quiet {
    /// All.
    All,
    /// Those about performance.
    Performance,
    /// Those with this code.
    Code(Code),
}

impl Quiet {
    fn covers(self, code: Code) -> bool {
        match self {
            Quiet::All => true,
            Quiet::Performance => code.is_performance(),
            Quiet::Code(quiet) => quiet == code,
        }
    }
}

impl Diagnostics {
    /// No messages.
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// No messages yet of a compilation with these bounds, which goes on until it is stopped.
    pub fn within(limits: Limits, stop: Stop) -> Diagnostics {
        Diagnostics { limits, stop: Rc::new(stop), ..Diagnostics::default() }
    }

    /// No messages yet of a part of this compilation: for what is tried, and told only if it works out.
    #[must_use]
    pub fn fork(&self) -> Diagnostics {
        Diagnostics { limits: self.limits, stop: Rc::clone(&self.stop), ..Diagnostics::default() }
    }

    /// The bounds of the compilation.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What may call the compilation off.
    pub fn stop(&self) -> &Rc<Stop> {
        &self.stop
    }

    /// Whether the compilation was called off. Asked at every small step; then all stages come back with what they have,
    /// which nobody looks at.
    #[inline]
    pub fn poll(&self) -> bool {
        self.stop.poll()
    }

    /// Adds a message, unless it repeats one, is a warning that the program asked not to hear, or is one too many.
    pub fn emit(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity == Severity::Error;
        if self.is_repetition(&diagnostic) || (!is_error && self.is_quiet(&diagnostic)) {
            return;
        }
        let (count, limit) = match is_error {
            true => (&mut self.errors, self.limits.errors),
            false => (&mut self.warnings, self.limits.warnings),
        };
        *count += 1;
        if *count <= limit {
            self.list.push(diagnostic);
        }
    }

    fn is_repetition(&self, new: &Diagnostic) -> bool {
        let span = new.span();
        self.list.iter().any(|old| {
            let old_span = old.span();
            let same_start = old_span.file == span.file && old_span.lo == span.lo;
            old.severity == new.severity
                && same_start
                && (old.severity == Severity::Error || old.message == new.message)
        })
    }

    fn is_quiet(&self, warning: &Diagnostic) -> bool {
        let at = warning.span();
        if self.quiet.iter().any(|quiet| quiet.covers(warning.code)) {
            return true;
        }
        let Some(lines) = self.quiet_lines.get(&at.file) else { return false };
        // Of the lines that begin at or before the warning only the last can hold it; it is there once for each pragma.
        let before = &lines[..lines.partition_point(|(line, _)| line.lo <= at.lo)];
        let mut last = before.iter().rev().take_while(|(line, _)| at.lo < line.hi);
        last.any(|(_, quiet)| quiet.covers(warning.code))
    }

    /// Puts the messages in the order of their places.
    pub fn sort(&mut self) {
        self.list.sort_by_key(|diagnostic| (diagnostic.span().file, diagnostic.span().lo));
    }

    /// Leaves out these warnings from now on, those that start within `line` or (without one) all.
    pub fn ignore_warnings(&mut self, line: Option<Span>, quiet: Quiet) {
        let Some(line) = line else { return self.quiet.push(quiet) };
        let lines = self.quiet_lines.entry(line.file).or_default();
        // Pragmas in macros come where these are used.
        let at = lines.partition_point(|(known, _)| known.lo <= line.lo);
        let same = lines[..at].iter().rev().take_while(|(known, _)| *known == line);
        if !same.into_iter().any(|(_, known)| *known == quiet) {
            lines.insert(at, (line, quiet));
        }
    }

    /// Whether there was any error.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether so many errors were reported that going on is pointless.
    pub fn is_full(&self) -> bool {
        self.errors > MAX_COUNTED
    }

    /// Whether an error at this place would not be kept but only counted, so that no advice need be found for it.
    pub fn is_silent_at(&self, span: Span) -> bool {
        let known = |old: &Diagnostic| {
            let old_span = old.span();
            old.severity == Severity::Error && old_span.file == span.file && old_span.lo == span.lo
        };
        self.errors >= self.limits.errors || self.list.iter().any(known)
    }

    /// How many errors there were, those left out included.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// How many errors, and how many warnings, were left out because there were too many.
    pub fn left_out(&self) -> LeftOut {
        LeftOut {
            errors: self.errors.saturating_sub(self.limits.errors),
            warnings: self.warnings.saturating_sub(self.limits.warnings),
            gave_up: self.is_full(),
        }
    }

    /// The messages in the order they were found.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// The messages, taken out.
    pub fn into_vec(self) -> Vec<Diagnostic> {
        self.list
    }
}

/// The name among `candidates` that is most like `name`, if it is like enough to suggest: for "did you mean".
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let limit = match name.chars().count() {
        0..=1 => return None,
        2 => 1,
        3..=5 => 1,
        6..=10 => 2,
        _ => 3,
    };
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(name.len()) <= limit)
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|&(distance, _)| distance > 0 && distance <= limit)
        // Among words of two letters only swapped ones are alike.
        .filter(|&(_, candidate)| name.len() != 2 || candidate.chars().rev().eq(name.chars()))
        .min()
        .map(|(_, candidate)| candidate)
}

/// The number of insertions, deletions, replacements and swaps of neighbours that make `b` of `a`.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.chars().collect();
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn error_at(lo: u32) -> Diagnostic {
        Diagnostic::new(Code::ExpectedToken, Span::new(FileId(0), lo, lo + 1), "expected `;`")
    }

    #[test]
    fn one_error_per_place_and_a_limit() {
        let mut diagnostics = Diagnostics::new();
        diagnostics.emit(error_at(3));
        diagnostics.emit(error_at(3));
        assert_eq!(diagnostics.iter().count(), 1);
        for lo in 10..200 {
            diagnostics.emit(error_at(lo));
        }
        assert_eq!(diagnostics.iter().count(), Limits::default().errors);
        assert_eq!(diagnostics.left_out().to_string(), "… and 171 more errors");
        assert!(!diagnostics.is_full());
        (300..2000).for_each(|lo| diagnostics.emit(error_at(lo)));
        assert!(diagnostics.is_full());
        assert_eq!(diagnostics.left_out().to_string(), "… and at least 1871 more errors");
    }

    #[test]
    fn suggestions() {
        let words = ["foreach", "foreach_tiled", "uniform", "varying"];
        assert_eq!(closest("unifrom", words), Some("uniform"));
        assert_eq!(closest("forech", words), Some("foreach"));
        assert_eq!(closest("x", words), None);
        assert_eq!(closest("fi", ["if", "in"]), Some("if"));
        assert_eq!(closest("uniform", words), None);
    }
}
