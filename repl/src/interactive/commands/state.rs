//! Commands about what is remembered.

use super::{definitions_of, documentation, fail, find, needs};
use crate::files;
use crate::interactive::session::{Answer, Problem};
use crate::interactive::shell::Shell;
use crate::interactive::variables::change_width;
use spmdvm::tools::closest;
use spmdvm::tools::docs;
use spmdvm::{Engine, Width};
use std::path::Path;

pub fn type_of(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("type", "programIndex / 2", rest)?;
    Ok(shell.session.type_of(rest)?.name + "\n")
}

pub fn vars(shell: &mut Shell, _: &str) -> Answer {
    let session = &shell.session;
    let names: Vec<String> = session.variables().names().map(str::to_owned).collect();
    Ok(names.iter().map(|name| session.show_variable(name)).collect())
}

pub fn funcs(shell: &mut Shell, _: &str) -> Answer {
    let info = shell.session.whole_info();
    let own = info.functions.iter().filter(|(name, _)| !name.starts_with("__"));
    let mut text: String = own.map(|(_, head)| format!("{head}\n")).collect();
    for unit in shell.session.units().iter().filter(|unit| !unit.is_function()) {
        text += &format!("{}\n", unit.source());
    }
    text += &shell.session.waiting();
    Ok(text)
}

pub fn width(shell: &mut Shell, rest: &str) -> Answer {
    let session = &mut shell.session;
    if rest.is_empty() {
        return Ok(format!("{} lanes\n", session.options.width));
    }
    let Some(width) = rest.parse().ok().and_then(Width::new) else {
        return Err(fail("the width is one of 1, 2, 4, 8, 16, 32, 64"));
    };
    let before = session.options.width;
    let lost = set_width(session, width)?;
    let note = match lost.as_slice() {
        [] => String::new(),
        names if width < before => format!("; lanes from {width} on are gone from {}", names.join(", ")),
        names => format!("; new lanes are 0 in {}", names.join(", ")),
    };
    Ok(format!("{width} lanes{note}\n"))
}

/// Changes the width; gives the variables whose lanes are not all what they were.
pub fn set_width(session: &mut crate::interactive::session::Session, width: Width) -> Result<Vec<String>, Problem> {
    let mut changed = session.clone();
    changed.options.width = width;
    changed.mask = u64::MAX;
    let lanes = (session.options.width.lanes(), width.lanes());
    let info = changed.whole_info_checked().map_err(Problem::Failed)?;
    let mut lost = Vec::new();
    for variable in &info.variables {
        let Some(old) = session.variables().get(&variable.name) else { continue };
        let moved = old.value.as_ref().map(|value| change_width(value, (&old.ty, lanes.0), (&variable.ty, lanes.1)));
        changed.variables_mut().set_type(&variable.name, &variable.ty);
        if let Some((value, is_whole)) = moved {
            changed.variables_mut().set(&variable.name, value);
            if !is_whole {
                lost.push(variable.name.clone());
            }
        }
    }
    changed.variables_mut().forget_all_statics();
    *session = changed;
    Ok(lost)
}

pub fn mask(shell: &mut Shell, rest: &str) -> Answer {
    let session = &mut shell.session;
    let lanes = session.options.width.lanes();
    let all = u64::MAX >> (64 - lanes);
    match rest {
        "" => {}
        "all" => session.mask = u64::MAX,
        _ => {
            let mask = match crate::cli::parse_mask(rest) {
                Ok(mask) => mask,
                Err(_) => session.mask_of(rest)?,
            };
            if mask & all == 0 {
                return Err(fail("no lane would be active, so nothing would run"));
            }
            session.mask = if mask & all == all { u64::MAX } else { mask };
        }
    }
    let active: Vec<bool> = (0..lanes).map(|lane| session.gang().is_active(lane)).collect();
    let gang = crate::interactive::show::Gang { lanes, mask: u64::MAX };
    Ok(format!("{}\n", session.painter.strip(&active, gang)))
}

pub fn engine(shell: &mut Shell, rest: &str) -> Answer {
    let session = &mut shell.session;
    if !rest.is_empty() {
        let engine: Engine = rest.parse().map_err(fail)?;
        if !matches!(engine, Engine::Auto | Engine::Interp) {
            spmdvm::tools::available(engine.name()).map_err(|why| fail(why.to_string()))?;
        }
        session.options.engine = engine;
    }
    let name = session.options.engine.name();
    let means = match session.options.engine {
        Engine::Auto => " (the interpreter for what has no loops, else the fastest that runs here)",
        _ => "",
    };
    Ok(format!("{name}{means}\n"))
}

pub fn doc(shell: &mut Shell, rest: &str) -> Answer {
    let name = needs("doc", "reduce_add", rest)?.trim_end_matches("()");
    if let Some(text) = documentation(name) {
        return Ok(text);
    }
    let own = definitions_of(&shell.session, name);
    if !own.is_empty() {
        return Ok(own);
    }
    if name.starts_with(':')
        && let Ok(command) = find(&name[1..])
    {
        return Ok(format!(":{} {}\n    {}\n", command.name, command.arguments, command.summary));
    }
    let names: Vec<&str> = docs::all().iter().flat_map(|entry| entry.names()).collect();
    let hint = closest(name, names.iter().copied()).map_or(String::new(), |close| format!("; did you mean `{close}`?"));
    Err(fail(format!("the library has no function `{name}`{hint}")))
}

/// Things to try: a title, and the lines.
pub const EXAMPLES: &[(&str, &[&str])] = &[
    ("lanes: each has its own number", &["programIndex", "programIndex * programIndex"]),
    ("divergence: lanes go different ways", &["int a = 0;", "if (programIndex % 2 == 0) a = 10; else a = 20;", "a"]),
    (
        "loops: each lane goes round as often as it must",
        &[
            "int steps = 0;",
            "int n = programIndex + 1; while (n != 1) { n = (n % 2 == 0) ? n / 2 : 3 * n + 1; ++steps; }",
            "steps",
        ],
    ),
    ("across lanes", &["reduce_add(programIndex)", "broadcast(programIndex, 3)", "rotate(programIndex, 1)"]),
    (
        "an array, and a loop over it",
        &[":let t = linspace(0, 6.28, 200)", ":let s = zeros(200)", "foreach (i = 0 ... 200) s[i] = sin(t[i]);", "s"],
    ),
    (
        "a picture",
        &[
            ":let m = zeros(24, 60)",
            "foreach (y = 0 ... 24, x = 0 ... 60) { float r = (x - 30) * 0.05f, s = (y - 12) * 0.1f, a = 0, b = 0; int k = 0; while (k < 50 && a * a + b * b < 4) { float t = a * a - b * b + r; b = 2 * a * b + s; a = t; ++k; } m[y][x] = k; }",
            ":image m",
        ],
    ),
    ("what an access costs", &[":let g = arange(64)", ":trace g[(programIndex * 7) % 64]"]),
];

pub fn examples(shell: &mut Shell, rest: &str) -> Answer {
    if rest.is_empty() {
        let lines = EXAMPLES.iter().enumerate().map(|(i, (title, _))| format!("{:>3}  {title}\n", i + 1));
        return Ok(lines.collect::<String>() + "`:examples 1` runs the first\n");
    }
    let number = rest.parse::<usize>().ok().filter(|n| (1..=EXAMPLES.len()).contains(n));
    let Some(number) = number else {
        return Err(fail(format!("the examples have the numbers 1 to {}", EXAMPLES.len())));
    };
    let mut text = String::new();
    for line in EXAMPLES[number - 1].1 {
        text += &format!("{} {line}\n", shell.session.painter.bold("»"));
        text += &shell.respond(line)?;
    }
    Ok(text)
}

pub fn load(shell: &mut Shell, rest: &str) -> Answer {
    if rest.is_empty() {
        return Err(fail("`:load` takes the name of a file"));
    }
    let path = Path::new(rest.trim_matches('"'));
    let text = files::text(path).map_err(|failure| fail(failure.message()))?;
    if !text.lines().any(|line| line.trim_start().starts_with(':')) {
        return Ok(shell.session.load(path, &text)? + "loaded\n");
    }
    // All or nothing.
    let before = shell.session.clone();
    let (mut said, mut pending) = (String::new(), String::new());
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        pending += line;
        pending.push('\n');
        if lines.peek().is_some() && shell.is_unfinished(&pending) {
            continue;
        }
        match shell.respond(&std::mem::take(&mut pending)) {
            Ok(text) => said += &text,
            Err(problem) => {
                shell.session = before;
                return Err(problem);
            }
        }
    }
    shell.session.log = before.log;
    Ok(said + "loaded\n")
}

pub fn reset(shell: &mut Shell, _: &str) -> Answer {
    shell.session.reset();
    Ok(String::new())
}
