//! Runs a case on every engine at every width and collects what is wrong.
//!
//! [`call`] makes the calls, [`check`] compares what came of them with the expectations, [`print`] builds expected output.
//! What an engine did is kept as an [`Outcome`], so that engines, repetitions and widths can be compared.

mod call;
mod check;
mod print;

pub use call::{Outcome, Returned};

use crate::case::Case;
use crate::subject::{self, Subject, engines};
use call::{check_warnings, execute};
use check::{check_diagnostics, check_outcome, difference, parallel_difference};
use spmdvm::{Checks, FindingKind, JitSettings, Options};

const REFERENCE: &str = "interp";

/// The gang widths.
pub const WIDTHS: [u32; 7] = [1, 2, 4, 8, 16, 32, 64];

/// Threads that run tasks, besides the runs with one.
const THREADS: usize = 3;

/// Something that is wrong.
#[derive(Debug)]
pub struct Failure {
    /// On which engine; the reference for what concerns all.
    pub engine: &'static str,
    /// At which width; 0 for what concerns all.
    pub width: u32,
    /// What.
    pub text: String,
}

/// Runs a case; the error is the whole report.
pub fn run_case(case: &Case, name: &str) -> Result<(), String> {
    let failures = if case.runs.is_empty() { without_runs(case, name) } else { all_widths(case, name) };
    judge(case, failures)
}

/// How a JIT compiles in [`compare_case`].
pub struct Mode {
    /// Its name, for messages.
    pub name: &'static str,
    /// The settings, by something that differs from case to case.
    pub settings: fn(u64) -> JitSettings,
    /// How often all calls are made on one module.
    pub repeat: usize,
}

/// Compares every JIT in a mode with the reference engine, at some of the widths: each is the turn of every third case or so.
pub fn compare_case(case: &Case, name: &str, mode: &Mode) -> Result<(), String> {
    let mut failures = Vec::new();
    for (i, width) in case_widths(case).into_iter().enumerate() {
        if !case.runs.is_empty() && is_turn(name, i) {
            let came = compare_width(case, name, width, mode, salt(name));
            failures.extend(came.unwrap_or_else(|text| vec![Failure { engine: REFERENCE, width, text }]));
        }
    }
    // Cases that are said to fail do so in the main run.
    failures.retain(|_| case.known_fails.is_empty());
    let report = grouped(&failures);
    if report.is_empty() { Ok(()) } else { Err(report.join("\n")) }
}

/// Compares check mode with the reference engine, at some of the widths: whatever it finds, the same must come of all calls. Gives
/// the kinds that it finds and that are no traps.
pub fn check_mode_agrees(case: &Case, name: &str) -> Result<Vec<FindingKind>, String> {
    let mut kinds = Vec::new();
    for (i, width) in case_widths(case).into_iter().enumerate() {
        if case.runs.is_empty() || !case.known_fails.is_empty() || !is_turn(name, i) {
            continue;
        }
        let options = subject::options(case, width)?;
        let expected = execute(case, &Subject::compile(name, &case.source, &options)?, width)?;
        let checked = Subject::compile(name, &case.source, &Options { check: Checks::all(), ..options })?;
        let came = execute(case, &checked, width)?;
        let mut wrong = Vec::new();
        report_differences(&format!("in check mode at width {width}"), &expected, &came, |text| wrong.push(text));
        for finding in checked.report().findings() {
            let trap = match finding.kind() {
                FindingKind::OutOfBounds => Some("out_of_bounds"),
                FindingKind::NullPointer => Some("null_pointer"),
                FindingKind::UseAfterFree => Some("bad_"),
                kind => {
                    kinds.push(kind);
                    None
                }
            };
            let traps = |trap| came.iter().any(|o| o.trap.as_ref().is_some_and(|t| t.kind.starts_with(trap)));
            if trap.is_some_and(|trap| !traps(trap)) {
                wrong.push(format!("at width {width}: found without a trap: {finding}"));
            }
        }
        if !wrong.is_empty() {
            return Err(wrong.join("\n"));
        }
    }
    kinds.sort();
    kinds.dedup();
    Ok(kinds)
}

/// Something that differs from case to case.
fn salt(name: &str) -> u64 {
    name.bytes().fold(7u64, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte as u64))
}

/// Returns whether it is the turn of the width of this number, for what is done at every third width of a case.
fn is_turn(name: &str, width: usize) -> bool {
    (salt(name) as usize + width).is_multiple_of(3)
}

fn compare_width(case: &Case, name: &str, width: u32, mode: &Mode, salt: u64) -> Result<Vec<Failure>, String> {
    let reference = Subject::compile(name, &case.source, &subject::options(case, width)?)?;
    let execute_all = |subject: &Subject| -> Result<Vec<Outcome>, String> {
        let all: Result<Vec<_>, _> = (0..mode.repeat).map(|_| execute(case, subject, width)).collect();
        Ok(all?.into_iter().flatten().collect())
    };
    let expected = execute_all(&reference)?;
    let mut failures = Vec::new();
    for engine in engines().iter().filter(|engine| engine.name() != REFERENCE) {
        let compiled = reference.compiled(*engine, (mode.settings)(salt));
        let mut fail = |text| failures.push(Failure { engine: engine.name(), width, text });
        report_differences(mode.name, &expected, &execute_all(&compiled)?, &mut fail);
        compiled.defect().into_iter().for_each(fail);
    }
    Ok(failures)
}

/// A case that is about diagnostics only is compiled once.
fn without_runs(case: &Case, name: &str) -> Vec<Failure> {
    let wrong = match subject::options(case, 16) {
        Ok(options) => check_diagnostics(case, &subject::diagnostics(name, &case.source, &options)),
        Err(text) => vec![text],
    };
    wrong.into_iter().map(|text| Failure { engine: REFERENCE, width: 0, text }).collect()
}

fn case_widths(case: &Case) -> Vec<u32> {
    if case.widths.is_empty() { WIDTHS.to_vec() } else { case.widths.clone() }
}

fn all_widths(case: &Case, name: &str) -> Vec<Failure> {
    let widths = case_widths(case);
    let mut failures = Vec::new();
    let mut first: Option<(u32, Vec<Outcome>)> = None;
    for (i, width) in widths.into_iter().enumerate() {
        let reference = one_width(case, name, width, is_turn(name, i), &mut failures);
        let Some(reference) = reference.filter(|_| case.same_bits_at_every_width) else { continue };
        match &first {
            None => first = Some((width, reference)),
            Some((other, outcomes)) => {
                let fail = |text| failures.push(Failure { engine: REFERENCE, width, text });
                report_differences(&format!("against width {other}"), outcomes, &reference, fail);
            }
        }
    }
    failures
}

/// All engines at one width; gives what the reference did. It is run twice, and so are, if asked for, the JITs, which compile
/// everything anew for it.
fn one_width<'c>(
    case: &'c Case,
    name: &str,
    width: u32,
    jits_twice: bool,
    failures: &mut Vec<Failure>,
) -> Option<Vec<Outcome<'c>>> {
    let compile = |options| Subject::compile(name, &case.source, &options);
    let subject = match subject::options(case, width).and_then(compile) {
        Ok(subject) => subject,
        Err(text) => {
            failures.push(Failure { engine: REFERENCE, width, text });
            return None;
        }
    };
    let wrong = check_warnings(case, &subject);
    failures.extend(wrong.into_iter().map(|text| Failure { engine: REFERENCE, width, text }));
    let mut reference: Option<Vec<Outcome>> = None;
    for engine in engines() {
        let (module, engine) = (subject.on(*engine), engine.name());
        let mut fail = |text: String| failures.push(Failure { engine, width, text });
        let outcomes = match execute(case, &module, width) {
            Ok(outcomes) => outcomes,
            Err(text) => {
                fail(text);
                continue;
            }
        };
        for outcome in &outcomes {
            check_outcome(outcome, width).into_iter().for_each(&mut fail);
        }
        module.defect().into_iter().for_each(&mut fail);
        if jits_twice || engine == REFERENCE {
            match execute(case, &module.on(module.engine()), width) {
                Err(text) => fail(format!("the second time: {text}")),
                Ok(again) => report_differences("the second time", &outcomes, &again, &mut fail),
            }
        }
        if module.launches() && !case.tasks_in_order {
            match execute(case, &module.with_threads(THREADS), width) {
                Err(text) => fail(format!("with {THREADS} threads: {text}")),
                Ok(parallel) => {
                    let wrong = outcomes.iter().zip(&parallel).filter_map(|(a, b)| {
                        let text = parallel_difference(a, b)?;
                        Some(format!("line {}: with {THREADS} threads: {text}", a.run.line))
                    });
                    wrong.for_each(&mut fail);
                }
            }
        }
        match &reference {
            None => reference = Some(outcomes),
            Some(reference) => report_differences(&format!("against {REFERENCE}"), reference, &outcomes, fail),
        }
    }
    reference
}

fn report_differences(what: &str, a: &[Outcome], b: &[Outcome], mut fail: impl FnMut(String)) {
    if a.len() != b.len() {
        fail(format!("{what}: another number of calls"));
    }
    for (a, b) in a.iter().zip(b) {
        if let Some(text) = difference(a, b) {
            fail(format!("line {}: {what}: {text}", a.run.line));
        }
    }
}

/// Failures that were announced are none; announced failures that do not come are.
fn judge(case: &Case, mut failures: Vec<Failure>) -> Result<(), String> {
    let mut report = Vec::new();
    for (engine, reason) in &case.known_fails {
        let announced = |failure: &Failure| engine.as_deref().is_none_or(|engine| engine == failure.engine);
        let runs_here = engine.as_deref().is_none_or(|name| engines().iter().any(|e| e.name() == name));
        if runs_here && !failures.iter().any(announced) {
            report.push(format!("passes, although it is said to fail: {reason}"));
        }
        failures.retain(|failure| !announced(failure));
    }
    report.extend(grouped(&failures));
    if report.is_empty() { Ok(()) } else { Err(report.join("\n")) }
}

/// The failures as text, those that differ only in their width or engine together.
fn grouped(failures: &[Failure]) -> Vec<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for Failure { engine, width, text } in failures {
        let place = if *width == 0 { "everywhere".to_owned() } else { format!("{engine}/{width}") };
        match groups.iter_mut().find(|(other, _)| other == text) {
            Some((_, places)) => places.push(place),
            None => groups.push((text, vec![place])),
        }
    }
    const SHOWN: usize = 6;
    let more = groups.len().saturating_sub(SHOWN);
    let mut lines: Vec<String> =
        groups.iter().take(SHOWN).map(|(text, places)| format!("{text}\n    ({})", places.join(", "))).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}
