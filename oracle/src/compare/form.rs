//! How other back ends write outcomes: as JSON, or as plain lines.
//!
//! ```text
//! a: 1 2 3
//! x: 0.5 nan 0x7fc00001
//! result: 7
//! trap: out_of_bounds 5
//! > a line that the program printed
//! ```
//!
//! Lines stand in any order; numbers are the [words](crate::words) of arguments, with blanks or commas between them.

use super::Job;
use crate::outcome::{End, Outcome};
use crate::testcase::Argument;
use crate::words;
use spmdvm::{TrapKind, Ty};

/// Reads an outcome; which of the forms it has shows at the first character.
pub fn read(text: &str, job: &Job<'_>) -> Result<Outcome, String> {
    let text = text.trim_start();
    if text.starts_with('{') {
        let json = serde_json::from_str(text).map_err(|error| format!("it wrote no valid JSON: {error}"))?;
        return Outcome::read(&json, |name| type_of(job, name));
    }
    let mut outcome = Outcome::default();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        read_line(line, job, &mut outcome)?;
    }
    Ok(outcome)
}

fn read_line(line: &str, job: &Job<'_>, outcome: &mut Outcome) -> Result<(), String> {
    if let Some(printed) = line.strip_prefix('>') {
        outcome.printed += printed.strip_prefix(' ').unwrap_or(printed);
        outcome.printed.push('\n');
        return Ok(());
    }
    let form = || format!("it wrote a line that is no `NAME: NUMBER …`, `trap: KIND [LANE]` or `> TEXT`: `{line}`");
    let (name, rest) = line.split_once(':').ok_or_else(form)?;
    let (name, rest) = (name.trim(), rest.trim());
    if name == "trap" && type_of(job, name).is_none() {
        let (kind, lane) = rest.split_once(' ').unwrap_or((rest, ""));
        let kind = TrapKind::from_name(kind).ok_or_else(|| format!("there is no trap `{kind}`"))?;
        let lane = if lane.is_empty() { None } else { Some(lane.trim().parse().map_err(|_| form())?) };
        outcome.end = End::Trapped { kind, lane };
        return Ok(());
    }
    let ty = type_of(job, name).ok_or_else(|| format!("the call has no array `{name}`, which it wrote"))?;
    let numbers = rest.split([' ', ',', '\t']).filter(|word| !word.is_empty());
    let words = numbers.map(|word| words::parse_number(name, ty, word)).collect::<Result<Vec<u64>, String>>()?;
    match name {
        "result" => outcome.result = Some((ty, words)),
        name => outcome.arrays.push((name.to_owned(), ty, words)),
    }
    Ok(())
}

/// The type of an array argument, or of the result.
fn type_of(job: &Job<'_>, name: &str) -> Option<Ty> {
    match job.case.call.argument(name) {
        Some(Argument::Array(ty, _)) => Some(*ty),
        _ if name == "result" => words::result_type(job.export),
        _ => None,
    }
}
