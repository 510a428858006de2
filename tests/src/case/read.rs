//! Finds the directives of a case file.

use super::run::{parse_print, parse_run, parse_trap};
use super::{Case, Run};
use crate::expr::parse;
use std::collections::HashMap;

/// Reads a case file; errors name the line.
pub fn read(source: &str) -> Result<Case, String> {
    let mut case = Case { source: source.to_owned(), ..Case::default() };
    let marks = line_marks(source);
    for (at, line) in source.lines().enumerate() {
        let Some((before, directive)) = line.split_once("//~") else { continue };
        let carets = directive.len() - directive.trim_start_matches('^').len();
        let directive = directive.trim_start_matches('^').trim();
        let place = Position { line: at + 1 - carets, alone: before.trim().is_empty(), marks: &marks };
        for directive in split_directives(directive) {
            apply(&mut case, directive, &place).map_err(|e| format!("line {}: {e}", at + 1))?;
        }
    }
    check(&case)?;
    Ok(case)
}

/// Where a directive stands.
struct Position<'a> {
    line: usize,
    alone: bool,
    marks: &'a HashMap<String, usize>,
}

/// Several diagnostics on one line are separated by `;`.
fn split_directives(text: &str) -> Vec<&str> {
    if text.starts_with("error:") || text.starts_with("warning:") {
        text.split(';').map(str::trim).collect()
    } else {
        vec![text]
    }
}

/// Lines named by `//~ line: NAME`.
fn line_marks(source: &str) -> HashMap<String, usize> {
    let mark = |(at, line): (usize, &str)| Some((line.split_once("//~ line:")?.1.trim().to_owned(), at + 1));
    source.lines().enumerate().filter_map(mark).collect()
}

fn apply(case: &mut Case, directive: &str, place: &Position) -> Result<(), String> {
    let (key, value) = directive.split_once(':').map_or((directive, ""), |(k, v)| (k.trim(), v.trim()));
    // A selector may contain a colon of `?:`; it ends at `]:`.
    let (key, selector, value) = match directive.split_once('[') {
        Some((name, rest)) if name.len() < key.len() => {
            let (selector, value) = rest.split_once("]:").ok_or("expected `]:`")?;
            (name.trim(), Some(selector), value.trim())
        }
        _ => (key, None, value),
    };
    let when = || selector.map(parse).transpose();
    match key {
        "run" => case.runs.push(parse_run(value, place.line, when()?)?),
        "also" => last_run(case)?.expects.extend(super::run::parse_expects(value)?),
        "mask" => last_run(case)?.mask = Some(parse(value)?),
        "trap" => {
            let trap = parse_trap(value, place.marks)?;
            let when = when()?;
            last_run(case)?.traps.push((when, trap));
        }
        "print" => {
            let value = directive.split_once(if selector.is_some() { "]:" } else { ":" }).map_or("", |(_, v)| v);
            let line = parse_print(value.strip_prefix(' ').unwrap_or(value))?;
            let when = when()?;
            last_run(case)?.prints.push((when, line));
        }
        "error" | "warning" => case.diagnostics.push((place.line, value.to_owned())),
        "line" if !place.alone => {}
        "known-fail" => case.known_fails.push((selector.map(str::to_owned), value.to_owned())),
        "widths" => case.widths = numbers(value)?,
        "same-bits-at-every-width" => case.same_bits_at_every_width = true,
        "tasks-in-order" => case.tasks_in_order = true,
        "fp" => case.fp = Some(value.to_owned()),
        "fuel" => case.fuel = Some(value.parse().map_err(|_| "fuel is a number")?),
        "memory" => case.memory = Some(value.parse().map_err(|_| "memory is a number")?),
        "define" => {
            let (name, value) = value.split_once('=').unwrap_or((value, "1"));
            case.defines.push((name.trim().to_owned(), value.trim().to_owned()));
        }
        other => return Err(format!("unknown directive `{other}`")),
    }
    Ok(())
}

fn last_run(case: &mut Case) -> Result<&mut Run, String> {
    case.runs.last_mut().ok_or_else(|| "this must follow a `run`".to_owned())
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    text.split(',').map(|n| n.trim().parse().map_err(|_| format!("`{n}` is no width"))).collect()
}

/// A case that expects nothing proves nothing.
fn check(case: &Case) -> Result<(), String> {
    if case.runs.is_empty() && case.diagnostics.is_empty() {
        return Err("the case expects nothing".to_owned());
    }
    if let Some((_, code)) = case.diagnostics.iter().find(|(_, code)| !is_code(code)) {
        return Err(format!("`{code}` is no diagnostic code"));
    }
    match case.runs.iter().find(|run| run.expects.is_empty() && run.traps.is_empty() && run.prints.is_empty()) {
        Some(run) => Err(format!("line {}: the run expects nothing", run.line)),
        None => Ok(()),
    }
}

fn is_code(code: &str) -> bool {
    code.len() == 5 && code.starts_with(['E', 'W']) && code[1..].bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::super::{Arg, Fill, PrintPart};
    use super::*;

    #[test]
    fn reads_every_directive() {
        let case = read(
            "//~ same-bits-at-every-width\n\
             //~ widths: 4, 8\n\
             //~ known-fail[x86]: not yet\n\
             //~ define: N=3\n\
             //~ run: f(a=iota, n=3, b=fill(i*2):(n+1), c=[1, 2, 3], d=rand:7:W) out[i] == i < n ? a[i] : 0; result == n\n\
             //~   mask: lane != 2\n\
             //~   also: b[2].pos.x == 4\n\
             //~   trap[W>4]: out_of_bounds lane=W-1 line=here\n\
             //~   print: x = {[lane * 2 | lane < 3]} and {n}\n\
             export void f() { boom(); } //~ line: here\n",
        )
        .unwrap();
        assert!(case.same_bits_at_every_width);
        assert_eq!(case.widths, [4, 8]);
        assert_eq!(case.known_fails, [(Some("x86".to_owned()), "not yet".to_owned())]);
        let run = &case.runs[0];
        assert_eq!((run.function.as_str(), run.args.len(), run.expects.len(), run.line), ("f", 5, 3, 5));
        assert_eq!(run.expects[2].path, "pos.x");
        assert!(run.mask.is_some());
        let trap = &run.traps[0].1;
        assert_eq!((trap.kind.as_str(), trap.line), ("out_of_bounds", Some(10)));
        assert!(matches!(run.args[3].1, Arg::Array { fill: Fill::List(ref l), len: None, .. } if l.len() == 3));
        assert!(matches!(run.prints[0].1[1], PrintPart::Lanes(_, Some(_))));
    }

    #[test]
    fn diagnostics_know_their_line() {
        let case = read("int x = y; //~ error: E0201; warning: W0901\n\"abc\n//~^ error: E0003\n").unwrap();
        let expected = [(1, "E0201"), (1, "W0901"), (2, "E0003")].map(|(line, code)| (line, code.to_owned()));
        assert_eq!(case.diagnostics, expected);
    }

    #[test]
    fn every_case_file_can_be_read() {
        let files = crate::files::cases();
        let unreadable = files.iter().filter_map(|path| {
            let error = read(&std::fs::read_to_string(path).unwrap()).err()?;
            Some(format!("{}: {error}", path.display()))
        });
        let unreadable: Vec<String> = unreadable.collect();
        assert!(unreadable.is_empty(), "{}", unreadable.join("\n"));
        assert!(files.len() > 200, "only {} case files found", files.len());
    }

    #[test]
    fn mistakes_are_errors() {
        for (text, part) in [
            ("int x;", "expects nothing"),
            ("//~ run: f()", "expects nothing"),
            ("//~ also: a[i] == 1", "must follow"),
            ("//~ rnu: f()", "unknown directive"),
            ("//~ run: f(a=) a[i] == 1", "line 1"),
            ("//~ error: E12", "no diagnostic code"),
        ] {
            let error = read(text).map(|_| ()).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
