//! µ-SIMD programs: the machine of [`spmdvm_usimd`], and its errors as text with source snippets.

use ariadne::{Color, Config, IndexType, Label, Report, ReportKind, Source};
pub use spmdvm_usimd::*;

/// An error in a program as text with a snippet of its source; `name` is what the program is called.
pub fn render_error(error: &Error, name: &str, text: &str, color: bool) -> String {
    if error.span.is_empty() && error.places.is_empty() {
        let notes: String = error.notes.iter().map(|note| format!("  note: {note}\n")).collect();
        return format!("error[{}]: {}\n{notes}", error.kind.name(), error.message);
    }
    let place = (name, error.span.clone());
    let config = Config::default().with_color(color).with_index_type(IndexType::Byte);
    let mut report = Report::build(ReportKind::Error, place.clone())
        .with_config(config)
        .with_code(error.kind.name())
        .with_message(&error.message)
        .with_label(Label::new(place).with_message(&error.label).with_color(Color::Red));
    for (span, label) in &error.places {
        report = report.with_label(Label::new((name, span.clone())).with_message(label).with_color(Color::Yellow));
    }
    for note in &error.notes {
        report = report.with_note(note);
    }
    let mut bytes = Vec::new();
    let written = report.finish().write((name, Source::from(text)), &mut bytes);
    match written {
        Ok(()) => {
            let lines = String::from_utf8_lossy(&bytes).into_owned();
            lines.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
        }
        Err(_) => format!("error[{}]: {}\n", error.kind.name(), error.message),
    }
}
