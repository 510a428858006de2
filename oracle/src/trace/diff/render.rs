//! A difference as text.

use super::compare::{What, place};
use super::{Compared, Difference};
use crate::trace::event::{Event, Header, Step};
use crate::trace::table::row;
use std::fmt::{self, Write as _};

impl fmt::Display for Compared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [more_a, more_b] = self.extra;
        let extra = match (more_a, more_b) {
            (0, 0) => String::new(),
            _ => format!("; without counterpart: {more_a} in A, {more_b} in B"),
        };
        match &self.difference {
            None => writeln!(f, "no difference in {} aligned events{extra}", self.aligned),
            Some(difference) => {
                writeln!(f, "the traces differ after {} aligned events{extra}", self.aligned)?;
                f.write_str(&render(difference, &self.headers))
            }
        }
    }
}

fn render(difference: &Difference, headers: &[Header; 2]) -> String {
    let mut text = String::new();
    let [a, b] = &difference.events;
    if let Some(place) = headline(a.as_ref().or(b.as_ref())) {
        let _ = writeln!(text, "{place}");
    }
    source(&mut text, &difference.events, headers);
    let _ = writeln!(text);
    for (name, event) in [("A", a), ("B", b)] {
        let _ = writeln!(text, "  {name}: {}", event.as_ref().map_or("nothing like it".into(), describe));
    }
    what(&mut text, &difference.what);
    if !difference.before.is_empty() {
        let _ = writeln!(text, "\nbefore that, in both (values of A):");
        let steps =
            difference.before.iter().filter_map(|event| if let Event::Step(step) = event { Some(step) } else { None });
        for row in steps.filter_map(|step| row(step, &headers[0].lanes)) {
            let _ = writeln!(text, "{row}");
        }
    }
    text
}

/// Where it is.
fn headline(event: Option<&Event>) -> Option<String> {
    match event? {
        Event::Step(step) => {
            let span = step.site.span.as_ref();
            let place = span.map_or(String::new(), |s| format!(" at {}:{}:{}", s.file, s.line, s.column));
            Some(format!("in `{}`{place}", step.site.function))
        }
        Event::Enter(enter) => Some(format!("where `{}` is entered", enter.function)),
        Event::Return(left) => Some(format!("where `{}` returns", left.function)),
        Event::Print(_) => Some("in what is printed".into()),
        Event::Trap(_) | Event::End(_) => Some("at the end".into()),
    }
}

/// The lines of the source: one if both have the same.
fn source(text: &mut String, events: &[Option<Event>; 2], headers: &[Header; 2]) {
    let line = |at: usize| {
        let Some(Event::Step(Step { site, .. })) = &events[at] else { return None };
        let span = site.span.as_ref()?;
        Some((span.line, headers[at].source_line(&span.file, span.line)?.trim_end()))
    };
    match (line(0), line(1)) {
        (Some(a), Some(b)) if a != b => {
            let _ = writeln!(text, "  A {:>4} | {}\n  B {:>4} | {}", a.0, a.1, b.0, b.1);
        }
        (Some((n, line)), _) | (None, Some((n, line))) => {
            let _ = writeln!(text, "  {n:>4} | {line}");
        }
        (None, None) => {}
    }
}

/// An event in a line.
fn describe(event: &Event) -> String {
    match event {
        Event::Step(step) => {
            let stored = step.memory.iter().flat_map(|effect| &effect.at).map(place);
            let mut places: Vec<String> = stored.collect();
            places.dedup();
            let n = places.len();
            places.truncate(4);
            let more = if n > 4 { ", …" } else { "" };
            let memory = if n == 0 { String::new() } else { format!("   ({}{more})", places.join(", ")) };
            format!("{}{memory}", step.site.text)
        }
        Event::Enter(enter) => format!("`{}` is entered", enter.function),
        Event::Return(left) => format!("`{}` returns", left.function),
        Event::Print(print) => format!("prints {:?}", print.text),
        Event::Trap(trap) => format!("traps: {}", trap.message),
        Event::End(end) => format!("ends after {} instructions", end.steps),
    }
}

fn what(text: &mut String, what: &What) {
    let _ = match what {
        What::Masks(a, b) => writeln!(text, "  the active lanes differ: A {}, B {}", lanes(*a), lanes(*b)),
        What::Values(name, differing) => {
            let _ = writeln!(text, "  {name}:");
            let width = differing.iter().map(|(_, a, _)| a.chars().count()).max().unwrap_or(0).max(1);
            let _ = writeln!(text, "    {:>6}  {:>width$}  B", "lane", "A");
            for (lane, a, b) in differing {
                let lane = lane.map_or("all".into(), |lane| lane.to_string());
                let _ = writeln!(text, "    {lane:>6}  {a:>width$}  {b}");
            }
            Ok(())
        }
        What::Printed(a, b) => writeln!(text, "  A prints {a:?}\n  B prints {b:?}"),
        What::Ends(a, b) => writeln!(text, "  A {a}\n  B {b}"),
        What::Alone => writeln!(text, "  the other does not do this"),
        What::Parted => writeln!(text, "  from here on the runs have nothing in common for {} events", super::WINDOW),
    };
}

/// A mask as a list of lanes.
fn lanes(mask: u64) -> String {
    let lanes: Vec<String> = (0..64).filter(|l| mask >> l & 1 == 1).map(|l| l.to_string()).collect();
    if lanes.is_empty() { "none".into() } else { lanes.join(",") }
}
