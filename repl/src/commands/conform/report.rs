//! What the command says: a line per failure, sums, or JSON.

use super::Trial;
use super::trial::Outcome;
use serde_json::{Value as Json, json};
use std::fmt;
use std::path::Path;

/// Counts of outcomes.
#[derive(Clone, Copy, Default)]
struct Sum {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Sum {
    fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed { .. } => self.failed += 1,
            Outcome::Skipped(_) => self.skipped += 1,
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

/// The report as it grows.
pub struct Report {
    as_json: bool,
    total: Sum,
    /// Sums by "width W, engine E", in the order asked for.
    parts: Vec<(String, Sum)>,
    results: Vec<Json>,
}

impl Report {
    /// An empty report.
    pub fn new(as_json: bool) -> Report {
        Report { as_json, total: Sum::default(), parts: Vec::new(), results: Vec::new() }
    }

    /// Adds the outcomes of one file, and shows the failures among them.
    pub fn add(&mut self, file: &Path, trials: Vec<Trial>) {
        for trial in &trials {
            let part = format!("width {}, {}", trial.width.lanes(), trial.engine);
            match &trial.outcome {
                _ if self.as_json => self.results.push(as_json(file, trial)),
                Outcome::Failed { reason, .. } => println!("{} ({part}): {reason}", file.display()),
                _ => {}
            }
            self.total.count(&trial.outcome);
            let at = self.parts.iter().position(|(name, _)| *name == part).unwrap_or_else(|| {
                self.parts.push((part, Sum::default()));
                self.parts.len() - 1
            });
            self.parts[at].1.count(&trial.outcome);
        }
    }

    /// Shows the sums; gives the number of failures. With JSON, standard output holds one object and nothing else.
    pub fn finish(self) -> usize {
        let Sum { passed, failed, skipped } = self.total;
        if self.as_json {
            println!("{}", json!({ "results": self.results, "passed": passed, "failed": failed, "skipped": skipped }));
            eprintln!("{}", self.total);
            return failed;
        }
        if self.parts.len() > 1 {
            self.parts.iter().for_each(|(name, sum)| println!("{name}: {sum}"));
        }
        println!("{}", self.total);
        failed
    }
}

fn as_json(file: &Path, trial: &Trial) -> Json {
    let (status, stage, reason) = match &trial.outcome {
        Outcome::Passed => ("passed", None, None),
        Outcome::Failed { stage, reason } => ("failed", Some(*stage), Some(reason)),
        Outcome::Skipped(reason) => ("skipped", None, Some(reason)),
    };
    json!({ "file": file.display().to_string(), "width": trial.width.lanes(), "engine": trial.engine.name(),
            "status": status, "stage": stage, "reason": reason })
}
