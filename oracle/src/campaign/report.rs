//! What a campaign tells: a line while it runs, and all it has reached at the end.

use super::Campaign;
use super::constructs;
use super::coverage::{Coverage, Lanes};
use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::time::Duration;

/// Names that a line takes before the rest is only counted.
const MAX_NAMES: usize = 40;

impl Campaign {
    /// How far it is: one line.
    pub fn progress(&self, ran: Duration, programs: u64) -> String {
        let rate = programs as f64 / ran.as_secs_f64().max(1e-3);
        let digits = if rate < 10.0 { 1 } else { 0 };
        let not_comparable = match self.not_comparable {
            0 => String::new(),
            n => format!("{n} not comparable, "),
        };
        format!(
            "{} programs, {rate:.digits$}/s, {not_comparable}{} things reached, {} kept, {} findings, next seed {}",
            self.programs,
            self.coverage.len(),
            self.kept().len(),
            self.findings,
            self.settings().seed.wrapping_add(self.rounds),
        )
    }

    /// What has been reached, and what not.
    pub fn coverage_text(&self) -> String {
        let mut text = self.constructs_text();
        let (all, seen) = (Coverage::all_operations(), self.coverage.operations());
        let names = |set: &std::collections::BTreeSet<(&'static str, _)>| {
            set.iter().map(|(name, _)| *name).collect::<std::collections::BTreeSet<_>>()
        };
        let (all_names, seen_names) = (names(&all), names(&seen));
        let (n, of) = (seen_names.intersection(&all_names).count(), all_names.len());
        let _ = writeln!(
            text,
            "operations: {n} of {of}; with their types: {} of {}",
            all.intersection(&seen).count(),
            all.len()
        );
        let lanes = self.coverage.by_lanes().into_iter().map(|(lanes, n)| match lanes {
            Lanes::All => format!("{n} by all lanes"),
            Lanes::One => format!("{n} by one lane"),
            Lanes::Some => format!("{n} by some"),
        });
        let widths = self.coverage.by_width().into_iter().map(|(width, n)| format!("{n} at width {width}"));
        let _ = writeln!(text, "  {}", lanes.chain(widths).collect::<Vec<_>>().join(", "));
        let missing = all.difference(&seen).map(|(name, ty)| format!("{name}.{ty}"));
        line(&mut text, "  not reached", missing.collect());
        for (engine, what) in self.coverage.jit() {
            let _ = writeln!(text, "{engine}:");
            for kind in ["variant", "exit", "interpreted"] {
                let of_kind = what.iter().filter_map(|what| what.strip_prefix(kind)?.strip_prefix(": "));
                line(&mut text, &format!("  {kind}"), of_kind.map(str::to_owned).collect());
            }
        }
        text
    }

    fn constructs_text(&self) -> String {
        let (seen, missing) = self.constructs();
        let with = |prefix: &str| self.coverage.constructs().iter().filter(|name| name.starts_with(prefix)).count();
        let mut text = format!(
            "constructs: {seen} of {}, {} operators, {} functions of the library\n",
            constructs::ALL.len(),
            with("operator "),
            with("library ")
        );
        line(&mut text, "  not reached", missing.into_iter().map(str::to_owned).collect());
        text
    }

    /// How many constructs have been reached, and which have not.
    fn constructs(&self) -> (usize, Vec<&'static str>) {
        let missing: Vec<_> =
            constructs::ALL.into_iter().filter(|name| !self.coverage.constructs().contains(*name)).collect();
        (constructs::ALL.len() - missing.len(), missing)
    }

    /// Counts and coverage as JSON.
    pub fn to_json(&self) -> Json {
        let (all, seen) = (Coverage::all_operations(), self.coverage.operations());
        let missing: Vec<String> = all.difference(&seen).map(|(name, ty)| format!("{name}.{ty}")).collect();
        let constructs = json!({
            "of": constructs::ALL.len(), "not_reached": self.constructs().1, "reached": self.coverage.constructs(),
        });
        json!({
            "constructs": constructs,
            "programs": self.programs, "rounds": self.rounds, "invalid_mutants": self.invalid,
            "not_comparable": self.not_comparable, "findings": self.findings,
            "kept": self.kept().len(), "reached": self.coverage.len(),
            "operations": { "reached": all.intersection(&seen).count(), "of": all.len(), "not_reached": missing },
            "by_width": self.coverage.by_width(), "jit": self.coverage.jit(),
        })
    }
}

fn line(text: &mut String, title: &str, names: Vec<String>) {
    if names.is_empty() {
        return;
    }
    let more = names.len().saturating_sub(MAX_NAMES);
    let shown = names[..names.len() - more].join(", ");
    let _ = match more {
        0 => writeln!(text, "{title} ({}): {shown}", names.len()),
        _ => writeln!(text, "{title} ({}): {shown}, and {more} more", names.len()),
    };
}
