//! Commands that run code several times: to measure it, and at several widths.

use super::inside::stats_text;
use super::state::set_width;
use super::{fail, needs};
use crate::interactive::session::{Answer, INPUT, Prepared, Problem, Session, Shown, Sink};
use crate::interactive::shell::Shell;
use crate::interactive::show::innermost;
use crate::interactive::units::words;
use spmdvm::{CallError, Engine, InfoKind, Options, TypeShape, Width};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// For how long code is measured.
const BUDGET: Duration = Duration::from_millis(300);
/// How often at most, and at least.
const RUNS: std::ops::RangeInclusive<usize> = 3..=1000;

pub fn time(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("time", "foreach (i = 0 ... 1000) x[i] *= 2;", rest)?;
    let session = &shell.session;
    let (engine, times) = measured(session, rest, session.options.engine)?;
    let (_, interpreted) = measured(session, rest, Engine::Interp)?;
    let (best, median, worst) = (times[0], times[times.len() / 2], times[times.len() - 1]);
    let (n, what) = elements(session, rest);
    let per_element = best.as_secs_f64() * 1e9 / n as f64;
    let mut text = format!(
        "{}: best {} of {} runs, median {}, worst {}\n  {per_element:.3} ns per element ({n} {what})\n",
        engine,
        show(best),
        times.len(),
        show(median),
        show(worst)
    );
    if engine != Engine::Interp.name() {
        let factor = interpreted[0].as_secs_f64() / best.as_secs_f64().max(1e-9);
        text += &format!("  interpreter: best {} ({factor:.1} × as long)\n", show(interpreted[0]));
    }
    Ok(text)
}

/// The times that code takes on an engine, ascending, and the engine's name.
fn measured(session: &Session, code: &str, engine: Engine) -> Result<(&'static str, Vec<Duration>), Problem> {
    let options = Options { engine, ..session.options.clone() };
    let prepared = session.prepare_with(code, INPUT, &options)?;
    let once = |prepared: &Prepared| -> Result<Duration, Problem> {
        prepared.write_values();
        let start = Instant::now();
        let result = session.call(&prepared.module, &Sink::Nowhere);
        let taken = start.elapsed();
        result.map(|_| taken).map_err(|error| failed(error, session))
    };
    // Compilers and caches warm up.
    let start = Instant::now();
    while start.elapsed() < BUDGET / 4 {
        once(&prepared)?;
    }
    let mut times = Vec::new();
    let start = Instant::now();
    while times.len() < *RUNS.start() || (times.len() < *RUNS.end() && start.elapsed() < BUDGET) {
        times.push(once(&prepared)?);
    }
    times.sort_unstable();
    Ok((prepared.module.engine_name(), times))
}

fn failed(error: CallError, session: &Session) -> Problem {
    match error {
        CallError::Argument(_) => fail("there is nothing in it that runs"),
        error => Problem::Failed(crate::commands::call_failure_text(error, session.painter.color)),
    }
}

/// How many elements code works on: those of the largest array that it names, else a gang.
fn elements(session: &Session, code: &str) -> (usize, String) {
    let length = |name: &String| {
        let variable = session.variables().get(name)?;
        let (_, lengths) = innermost(&variable.ty);
        (!lengths.is_empty()).then(|| (lengths.iter().product::<usize>(), format!("of `{name}`")))
    };
    let lanes = session.options.width.lanes();
    words(code)
        .iter()
        .filter_map(length)
        .max()
        .unwrap_or((lanes, if lanes == 1 { "lane".into() } else { "lanes".into() }))
}

fn show(time: Duration) -> String {
    match time.as_secs_f64() {
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

pub fn stats(shell: &mut Shell, _: &str) -> Answer {
    match &shell.session.last_module {
        Some(module) => Ok(format!("engine: {}\n{}", module.engine_name(), stats_text(module))),
        None => Err(fail("nothing has run yet")),
    }
}

/// What code gives at one width.
struct At {
    width: Width,
    shown: Option<Shown>,
    printed: String,
    text: String,
}

pub fn compare(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("compare", "4,8,16", rest)?;
    let (widths, code) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let width = |text: &str| {
        text.trim()
            .parse()
            .ok()
            .and_then(Width::new)
            .ok_or_else(|| fail("the widths are some of 1, 2, 4, 8, 16, 32, 64, such as 4,8,16"))
    };
    let widths = widths.split(',').map(width).collect::<Result<Vec<Width>, _>>()?;
    let code = match (code.trim(), &shell.session.last_expression) {
        ("", Some(last)) => last.clone(),
        ("", None) => return Err(fail("there is no expression yet: type one, or give one behind the widths")),
        (code, _) => code.to_owned(),
    };
    let all = widths.iter().map(|&width| at(&shell.session, width, &code)).collect::<Result<Vec<At>, _>>()?;
    let lines: String = all.iter().map(|at| format!("width {:<3}{}{}", at.width, at.printed, at.text)).collect();
    Ok(format!("{code}\n{lines}{}\n", verdict(&all)))
}

fn at(session: &Session, width: Width, code: &str) -> Result<At, Problem> {
    let mut session = session.clone();
    set_width(&mut session, width)?;
    let mut prepared = session.prepare(code, INPUT)?;
    let printed = Arc::new(Mutex::new(String::new()));
    let shown = session.run(&mut prepared, &Sink::Text(Arc::clone(&printed))).map_err(Problem::Failed)?;
    let text = shown.as_ref().map_or(String::new(), |shown| session.show(shown));
    let printed = std::mem::take(&mut *printed.lock().unwrap_or_else(PoisonError::into_inner));
    Ok(At { width, shown, printed, text })
}

/// What depends on the width.
fn verdict(all: &[At]) -> String {
    let Some((first, others)) = all.split_first() else { return String::new() };
    let mut different = Vec::new();
    let mut is_varying = false;
    for other in others {
        if other.printed != first.printed {
            different.push(format!("what is printed (widths {} and {})", first.width, other.width));
        }
        let (Some(a), Some(b)) = (&first.shown, &other.shown) else { continue };
        match lane_size(a) {
            Some(size) => {
                is_varying = true;
                let lanes = first.width.lanes().min(other.width.lanes());
                let lane =
                    |shown: &Shown, i: usize| shown.value.bytes.get(i * size..(i + 1) * size).map(<[u8]>::to_vec);
                let unequal: Vec<String> =
                    (0..lanes).filter(|&i| lane(a, i) != lane(b, i)).map(|i| i.to_string()).collect();
                if !unequal.is_empty() {
                    let list = unequal.join(", ");
                    different.push(format!("lane {list} (widths {} and {})", first.width, other.width));
                }
            }
            None if a.ty.size != b.ty.size => {
                different.push(format!("its size (widths {} and {})", first.width, other.width))
            }
            None if a.value != b.value => {
                different.push(format!("the value (widths {} and {})", first.width, other.width))
            }
            None => {}
        }
    }
    match (different.is_empty(), is_varying) {
        (true, true) => "no lane depends on the width".into(),
        (true, false) => "nothing depends on the width".into(),
        (false, _) => format!("depends on the width: {}", different.join("; ")),
    }
}

/// The size of a lane, of a value that has one number per lane.
fn lane_size(shown: &Shown) -> Option<usize> {
    match &shown.ty.kind {
        InfoKind::Scalar(ty, TypeShape::Varying) => Some(ty.size()),
        InfoKind::Enum(_, TypeShape::Varying) => Some(4),
        _ => None,
    }
}
