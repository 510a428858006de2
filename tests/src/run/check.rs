//! Compares what a call did with what was expected of it, and with what another engine did.

use super::call::{Names, Outcome, Returned, holds};
use super::print::expected_output;
use crate::case::{Case, Expect, TrapExpect};
use crate::data::{Array, first_difference, from_bits, same, to_bits};
use crate::expr::{Expr, eval};
use crate::subject::{Diagnosed, Trapped};

/// All that is wrong with the outcome of a call.
pub fn check_outcome(outcome: &Outcome, width: u32) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Err(text) = check_trap(outcome, width) {
        wrong.push(text);
    }
    if let Err(text) = check_print(outcome, width) {
        wrong.push(text);
    }
    for expect in &outcome.run.expects {
        // A trap leaves no result.
        if expect.name == "result" && outcome.trap.is_some() {
            continue;
        }
        if let Err(text) = check_expect(outcome, expect, width) {
            wrong.push(format!("{}: {text}", expect.text));
        }
    }
    wrong.into_iter().map(|text| format!("line {}: {text}", outcome.run.line)).collect()
}

fn check_trap(outcome: &Outcome, width: u32) -> Result<(), String> {
    let mut expected = None;
    for (when, trap) in &outcome.run.traps {
        if holds(when, width)? {
            expected = Some(trap);
        }
    }
    match (expected, &outcome.trap) {
        (None, None) => Ok(()),
        (None, Some(trap)) => Err(format!("trapped: {trap}")),
        (Some(expected), None) => Err(format!("did not trap {}", expected.kind)),
        (Some(expected), Some(trap)) => same_trap(outcome, expected, trap),
    }
}

fn same_trap(outcome: &Outcome, expected: &TrapExpect, trap: &Trapped) -> Result<(), String> {
    let lane = match &expected.lane {
        Some(lane) => Some(eval(lane, &Names { passed: &outcome.passed, i: None, lane: None })?.as_int()?),
        None => None,
    };
    let wrong_lane = lane.is_some_and(|lane| trap.lane.map(i128::from) != Some(lane));
    let wrong_line = expected.line.is_some_and(|line| trap.line != Some(line));
    let wrong_text = expected.message.as_ref().is_some_and(|text| !trap.message.contains(text.as_str()));
    if expected.kind == trap.kind && !wrong_lane && !wrong_line && !wrong_text {
        return Ok(());
    }
    let mut wanted = expected.kind.clone();
    lane.iter().for_each(|lane| wanted += &format!(" in lane {lane}"));
    expected.line.iter().for_each(|line| wanted += &format!(" in line {line}"));
    expected.message.iter().for_each(|text| wanted += &format!(" with the text {text:?}"));
    Err(format!("expected {wanted}; trapped: {trap}"))
}

fn check_print(outcome: &Outcome, width: u32) -> Result<(), String> {
    let mut expected = Vec::new();
    for (when, line) in &outcome.run.prints {
        if holds(when, width)? {
            expected.push(expected_output(line, &outcome.passed, width)?);
        }
    }
    let printed: Vec<&str> = outcome.printed.lines().collect();
    if outcome.run.prints.is_empty() || printed == expected {
        return Ok(());
    }
    let at = (0..).find(|at| printed.get(*at) != expected.get(*at).map(String::as_str).as_ref()).unwrap_or(0);
    Err(format!("line {} of the output is {:?}, expected {:?}", at + 1, printed.get(at), expected.get(at)))
}

fn check_expect(outcome: &Outcome, expect: &Expect, width: u32) -> Result<(), String> {
    if expect.name == "result" {
        let result = outcome.result.as_ref().ok_or("the function returned nothing")?;
        return check_result(outcome, result, &expect.value, width);
    }
    let found = outcome.after.iter().find(|(name, _)| *name == expect.name);
    let (_, array) = found.ok_or_else(|| format!("there is no array `{}`", expect.name))?;
    match &expect.index {
        None => Err("an array is compared by element: name[i]".to_owned()),
        Some(Expr::Name(i)) if i == "i" => {
            (0..array.len()).try_for_each(|at| check_element(outcome, array, expect, at as i128))
        }
        Some(index) => {
            let at = eval(index, &Names { passed: &outcome.passed, i: None, lane: None })?.as_int()?;
            check_element(outcome, array, expect, at)
        }
    }
}

fn check_element(outcome: &Outcome, array: &Array, expect: &Expect, at: i128) -> Result<(), String> {
    let names = Names { passed: &outcome.passed, i: Some(at), lane: None };
    let expected = eval(&expect.value, &names)?;
    let leaf = array.leaf(&expect.path)?.clone();
    let got = array.value(at, &expect.path)?;
    let want = to_bits(&expected, leaf.ty)?;
    if same(array.bits(at as usize, &leaf), want, leaf.ty) {
        return Ok(());
    }
    Err(format!("element {at} is {got}, expected {}", from_bits(want, leaf.ty)))
}

fn check_result(outcome: &Outcome, result: &Returned, expected: &Expr, width: u32) -> Result<(), String> {
    for (lane, bits) in result.bits.iter().enumerate().take(width as usize) {
        // What lanes that are off return says nothing.
        if result.varying && outcome.passed.mask >> lane & 1 == 0 {
            continue;
        }
        let lane = result.varying.then_some(lane as i128);
        let names = Names { passed: &outcome.passed, i: None, lane };
        let want = to_bits(&eval(expected, &names)?, result.ty)?;
        if !same(*bits, want, result.ty) {
            let place = lane.map_or(String::new(), |lane| format!(" in lane {lane}"));
            return Err(format!("is {}{place}, expected {}", from_bits(*bits, result.ty), from_bits(want, result.ty)));
        }
    }
    Ok(())
}

/// In what two outcomes of the same call differ.
pub fn difference(a: &Outcome, b: &Outcome) -> Option<String> {
    if a.trap != b.trap {
        let show = |trap: &Option<Trapped>| trap.as_ref().map_or("no trap".to_owned(), Trapped::to_string);
        return Some(format!("{} against {}", show(&a.trap), show(&b.trap)));
    }
    if a.printed != b.printed {
        return Some(format!("printed {:?} against {:?}", a.printed, b.printed));
    }
    if let (Some(a), Some(b)) = (&a.result, &b.result) {
        let lanes = if a.varying { a.bits.len().min(b.bits.len()) } else { 1 };
        if (0..lanes).any(|lane| !same(a.bits[lane], b.bits[lane], a.ty)) {
            return Some(format!("returned {:x?} against {:x?}", a.bits, b.bits));
        }
    }
    a.after.iter().zip(&b.after).find_map(|((name, a), (_, b))| Some(format!("{name}{}", first_difference(a, b)?)))
}

/// In what a call with tasks on several threads differs from the same call on one. Prints come in any order, a trap leaves
/// behind what other tasks had done by then, and which task meets a limit that all share depends on the run.
pub fn parallel_difference(one: &Outcome, several: &Outcome) -> Option<String> {
    let sorted = |outcome: &Outcome| {
        let mut lines: Vec<String> = outcome.printed.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    match (&one.trap, &several.trap) {
        (Some(a), Some(b)) if matches!(a.kind, "out_of_fuel" | "out_of_memory") && b.kind == a.kind => None,
        (Some(a), Some(b)) if a == b => None,
        (None, None) if sorted(one) != sorted(several) => Some(format!("printed {:?}", several.printed)),
        (None, None) => {
            let arrays = one.after.iter().zip(&several.after);
            let mut differing =
                arrays.filter_map(|((name, a), (_, b))| Some(format!("{name}{}", first_difference(a, b)?)));
            let returned = [one, several].map(|outcome| outcome.result.as_ref().map(|r| &r.bits));
            differing.next().or_else(|| (returned[0] != returned[1]).then(|| format!("returned {returned:x?}")))
        }
        (a, b) => {
            let show = |trap: &Option<Trapped>| trap.as_ref().map_or("no trap".to_owned(), Trapped::to_string);
            Some(format!("{} against {}", show(a), show(b)))
        }
    }
}

/// What is wrong with the diagnostics of a case that is about nothing else.
pub fn check_diagnostics(case: &Case, came: &[Diagnosed]) -> Vec<String> {
    let mut missing = case.diagnostics.clone();
    let mut wrong = Vec::new();
    for diagnosed in came {
        match missing.iter().position(|(line, code)| *line == diagnosed.line && *code == diagnosed.code) {
            Some(at) => drop(missing.remove(at)),
            // Warnings are listed only where they matter.
            None if diagnosed.code.starts_with('W') => {}
            None => wrong.push(format!("line {}: unexpected {} {}", diagnosed.line, diagnosed.code, diagnosed.text)),
        }
    }
    wrong.extend(missing.iter().map(|(line, code)| format!("line {line}: {code} did not come")));
    wrong
}
