//! Messages as text, drawn by ariadne.

use std::collections::HashMap;
use std::fmt::{self, Write as _};

use ariadne::{Cache, Color, Config, IndexType, Label as DrawnLabel, Report, ReportKind, Source};

use super::{Diagnostic, Diagnostics, LeftOut, Severity};
use crate::source::{FileId, SourceMap, Span};

/// The longest source line that is drawn; messages about longer lines only name the place.
const MAX_DRAWN_LINE: usize = 1000;

/// So many files that include one another are named besides the first one.
const MAX_INCLUSIONS: usize = 8;

/// One message as text, ending in a newline.
pub fn render(diagnostic: &Diagnostic, sources: &SourceMap, color: bool) -> String {
    Renderer { sources, drawn: HashMap::new(), color }.render(diagnostic)
}

/// All messages as text.
pub fn render_all(diagnostics: &Diagnostics, sources: &SourceMap, color: bool) -> String {
    render_list(diagnostics.iter(), diagnostics.left_out(), sources, color)
}

/// Several messages as text, and how many there are besides.
pub fn render_list<'d>(
    list: impl IntoIterator<Item = &'d Diagnostic>,
    left_out: LeftOut,
    sources: &SourceMap,
    color: bool,
) -> String {
    let mut renderer = Renderer { sources, drawn: HashMap::new(), color };
    let mut text: String = list.into_iter().map(|diagnostic| renderer.render(diagnostic)).collect();
    if left_out != LeftOut::default() {
        let _ = writeln!(text, "{left_out}");
    }
    text
}

/// Draws messages and keeps what ariadne needs to know of the files between them.
struct Renderer<'s> {
    sources: &'s SourceMap,
    drawn: HashMap<FileId, Source<&'s str>>,
    color: bool,
}

/// What ariadne takes for a span.
type FileRange = (FileId, std::ops::Range<usize>);

impl<'s> Renderer<'s> {
    fn render(&mut self, diagnostic: &Diagnostic) -> String {
        if diagnostic.labels.iter().any(|label| !self.is_drawable(label.span)) {
            return self.render_plain(diagnostic);
        }
        let mut bytes = Vec::new();
        match self.report(diagnostic).write(&mut *self, &mut bytes) {
            Ok(()) => trim_lines(&String::from_utf8_lossy(&bytes)),
            Err(_) => self.render_plain(diagnostic),
        }
    }

    fn report(&self, diagnostic: &Diagnostic) -> Report<'static, FileRange> {
        let (kind, color) = match diagnostic.severity {
            Severity::Error => (ReportKind::Error, Color::Red),
            Severity::Warning => (ReportKind::Warning, Color::Yellow),
        };
        let config = Config::default().with_color(self.color).with_index_type(IndexType::Byte);
        let mut report = Report::build(kind, self.place(diagnostic.span()))
            .with_config(config)
            .with_code(diagnostic.code.id())
            .with_message(&diagnostic.message);
        for (index, label) in diagnostic.labels.iter().enumerate() {
            let color = if index == 0 { color } else { Color::Blue };
            // A label without a message would not be underlined.
            let text = if label.text.is_empty() { "here" } else { &label.text };
            let drawn = DrawnLabel::new(self.place(label.span)).with_color(color).with_message(text);
            report = report.with_label(drawn);
        }
        if let Some(help) = &diagnostic.help {
            report = report.with_help(help);
        }
        for note in diagnostic.notes.iter().chain(&self.inclusions(diagnostic.span())) {
            report = report.with_note(note);
        }
        report.finish()
    }

    /// How the file of a place came to be included, if it was.
    fn inclusions(&self, span: Span) -> Option<String> {
        let mut places: Vec<String> = (self.sources.inclusions(span.file))
            .map(|at| {
                let (name, line, _) = self.sources.locate(at);
                format!("{name}:{line}")
            })
            .collect();
        // A file that includes itself does so once.
        places.dedup();
        let (first, others) = places.split_first()?;
        let shown: String = others.iter().take(MAX_INCLUSIONS).map(|place| format!(", by {place}")).collect();
        let more = others.len().saturating_sub(MAX_INCLUSIONS);
        let more = if more > 0 { format!(" … and {more} more") } else { String::new() };
        Some(format!("this file is included at {first}{shown}{more}"))
    }

    /// The place as ariadne wants it: within the text, at character boundaries, and not empty unless at the end.
    fn place(&self, span: Span) -> FileRange {
        let text = self.sources.get(span.file).map_or("", |file| &file.text);
        let floor = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let lo = floor(span.lo as usize);
        let hi = floor(span.hi as usize).max(lo);
        (span.file, lo..hi)
    }

    fn is_drawable(&self, span: Span) -> bool {
        let Some(file) = self.sources.get(span.file) else {
            return false;
        };
        let lines = file.line_column(span.lo).0..=file.line_column(span.hi).0;
        let ends = [*lines.start(), *lines.end()];
        ends.iter().all(|&line| file.line(line).len() <= MAX_DRAWN_LINE)
    }

    fn render_plain(&self, diagnostic: &Diagnostic) -> String {
        let kind = match diagnostic.severity {
            Severity::Error => "Error",
            Severity::Warning => "Warning",
        };
        let (name, line, column) = self.sources.locate(diagnostic.span());
        let mut text = format!("[{}] {kind}: {}\n", diagnostic.code.id(), diagnostic.message);
        let _ = writeln!(text, "   at {name}:{line}:{column}");
        for label in diagnostic.labels.iter().filter(|label| !label.text.is_empty()) {
            let (name, line, column) = self.sources.locate(label.span);
            let _ = writeln!(text, "   {name}:{line}:{column}: {}", label.text);
        }
        if let Some(help) = &diagnostic.help {
            let _ = writeln!(text, "   Help: {help}");
        }
        for note in diagnostic.notes.iter().chain(&self.inclusions(diagnostic.span())) {
            let _ = writeln!(text, "   Note: {note}");
        }
        text
    }
}

/// Without the blanks that ariadne leaves at line ends.
fn trim_lines(text: &str) -> String {
    let mut trimmed = String::with_capacity(text.len());
    for line in text.lines() {
        trimmed.push_str(line.trim_end());
        trimmed.push('\n');
    }
    trimmed
}

impl<'s> Cache<FileId> for &mut Renderer<'s> {
    type Storage = &'s str;

    fn fetch(&mut self, id: &FileId) -> Result<&Source<&'s str>, impl fmt::Debug> {
        let sources = self.sources;
        let text = sources.get(*id).map_or("", |file| &file.text);
        Ok::<_, fmt::Error>(self.drawn.entry(*id).or_insert_with(|| Source::from(text)))
    }

    fn display<'d>(&self, id: &'d FileId) -> Option<impl fmt::Display + 'd> {
        self.sources.get(*id).map(|file| file.name.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Code;

    #[test]
    fn draws_the_place() {
        let mut sources = SourceMap::new();
        let file = sources.add("a.ispc", "float x = ;\n");
        let diagnostic = Diagnostic::new(Code::ExpectedExpression, Span::new(file, 10, 11), "expected a value")
            .at("here")
            .help("write one");
        let text = render(&diagnostic, &sources, false);
        for part in ["E0102", "expected a value", "a.ispc:1:11", "float x = ;", "here", "write one"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(!text.contains('\u{1b}'));
        assert!(render(&diagnostic, &sources, true).contains('\u{1b}'));
    }

    #[test]
    fn survives_bad_spans_and_long_lines() {
        let mut sources = SourceMap::new();
        let file = sources.add("a", format!("µµ\n{}", "x".repeat(5000)));
        for (file, lo, hi) in [(file, 1, 3), (file, 900_000, 900_001), (file, 2000, 2001), (FileId(9), 0, 1)] {
            let diagnostic = Diagnostic::new(Code::BadNumber, Span::new(file, lo, hi), "m").at("l");
            assert!(render(&diagnostic, &sources, false).len() < 2000);
        }
    }
}
