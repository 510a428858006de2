//! Commands that show what becomes of code: bytecode, the JIT's, the trace of a run.

use super::{fail, needs};
use crate::commands::{call_failure_text, interrupt_flag};
use crate::interactive::session::{Answer, INPUT, Prepared, Problem, Sink};
use crate::interactive::shell::Shell;
use spmdvm::tools::PROMPT_FUNCTION;
use spmdvm::tools::asm::{Style, disassemble};
use spmdvm::{Checks, Engine, JitSettings, Module, Options, Run, Show};
use spmdvm_oracle::trace::{self, Shown, Table};

/// Rows of a trace that are shown.
const ROWS: usize = 200;

pub fn disasm(shell: &mut Shell, rest: &str) -> Answer {
    let session = &shell.session;
    let is_function = session.units().of_name(rest).any(|unit| unit.is_function());
    if rest.is_empty() || is_function {
        let module = session.definitions().map_err(Problem::Failed)?;
        let text = disassemble(module.program(), Style::Human);
        let wanted = |part: &&str| rest.is_empty() || is_named(part, rest);
        let functions: Vec<&str> = text.split("\n\n").filter(wanted).collect();
        return Ok(functions.join("\n\n").trim_end().to_owned() + "\n");
    }
    let is_name = rest.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name && session.variables().get(rest).is_none() {
        return Err(fail(format!("there is no function `{rest}`; `:funcs` lists them")));
    }
    let prepared = session.prepare(rest, INPUT)?;
    let text = disassemble(prepared.module.program(), Style::Human);
    let own: Vec<&str> = text.split("\n\n").filter(|part| is_named(part, PROMPT_FUNCTION)).collect();
    Ok(own.join("\n\n").trim_end().to_owned() + "\n")
}

/// Returns whether a part of a disassembly is a function of this name, whatever its parameters.
fn is_named(part: &str, name: &str) -> bool {
    let head = part.lines().find_map(|line| line.trim_start().strip_prefix("func "));
    let own = head.and_then(|head| head.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next());
    own == Some(name)
}

pub fn ir(shell: &mut Shell, rest: &str) -> Answer {
    jit_text(shell, "ir", rest, Show { ir: true, ..Show::default() })
}

pub fn asm(shell: &mut Shell, rest: &str) -> Answer {
    jit_text(shell, "asm", rest, Show { asm: true, ..Show::default() })
}

/// Runs an input, or the last one again, with every loop compiled at once, and shows what was compiled.
fn jit_text(shell: &mut Shell, command: &str, rest: &str, show: Show) -> Answer {
    let code = match rest {
        "" => shell.session.last_loop().ok_or_else(|| {
            fail(format!("`:{command}` takes code with a loop, for instance `:{command} for (uniform int i = 0; i < 100; ++i) x += i;`"))
        })?,
        code => code.to_owned(),
    };
    let prepared = run_compiled(shell, &code)?;
    let text = prepared.module.jit_text(show);
    if text.is_empty() {
        return Err(fail("there is no loop in it, so nothing is compiled"));
    }
    Ok(text)
}

/// Runs code with every loop compiled in its first rounds. What it changes is forgotten.
fn run_compiled(shell: &Shell, code: &str) -> Result<Prepared, Problem> {
    let session = &shell.session;
    let engine = if session.options.engine == Engine::Interp { Engine::Auto } else { session.options.engine };
    let jit = JitSettings { hot: 2, ..JitSettings::eager() };
    let options = Options { engine, jit, ..session.options.clone() };
    let mut prepared = session.prepare_with(code, INPUT, &options)?;
    session.run(&mut prepared, &Sink::Nowhere).map_err(Problem::Failed)?;
    Ok(prepared)
}

pub fn trace(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("trace", "programIndex / 2", rest)?;
    let session = &shell.session;
    let options = Options { engine: Engine::Interp, ..session.options.clone() };
    let prepared = session.prepare_with(rest, INPUT, &options)?;
    let Some(export) = prepared.module.exports().iter().find(|export| export.name == PROMPT_FUNCTION) else {
        return Err(fail("there is nothing in it that runs"));
    };
    prepared.write_values();
    let shown = Shown { rows: ROWS, all_files: false, included: true };
    let mut table = Table::new(shown, Vec::new());
    let run = Run::new(&prepared.module).mask(session.mask);
    let recorded = trace::record(&prepared.module, run, (export, &[], session.mask), interrupt_flag(), &mut table);
    let text = String::from_utf8_lossy(&table.into_inner()).into_owned();
    match recorded.result {
        Some(Err(error)) => Err(Problem::Failed(text + &call_failure_text(error, session.painter.color))),
        _ => Ok(text),
    }
}

pub fn explain(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("explain", "foreach (i = 0 ... 1000) x[i] *= 2;", rest)?;
    if let Some(text) = crate::commands::explanation(rest) {
        return Ok(text);
    }
    let prepared = run_compiled(shell, rest)?;
    let lines: Vec<String> =
        (1..=rest.lines().count()).filter_map(|line| prepared.module.explain_line(line).ok()).collect();
    Ok(lines.concat() + &stats_text(&prepared.module))
}

/// What the JIT did, in a few words.
pub fn stats_text(module: &Module) -> String {
    let loops = module.loops();
    match loops.len() {
        0 => "no loop was hot enough to be compiled\n".into(),
        _ => module.jit_text(Show::default()),
    }
}

pub fn check(shell: &mut Shell, rest: &str) -> Answer {
    let rest = needs("check", "x + 1", rest)?;
    let session = &shell.session;
    let options = Options { engine: Engine::Interp, check: Checks::default(), ..session.options.clone() };
    let mut prepared = session.prepare_with(rest, INPUT, &options)?;
    let result = session.run(&mut prepared, &Sink::Stdout);
    let found = prepared.module.report().render(session.painter.color);
    let shown = result.map_err(|text| Problem::Failed(found.clone() + &text))?;
    let value = shown.map_or(String::new(), |shown| session.show(&shown));
    let verdict = if found.is_empty() { "nothing found\n" } else { "" };
    Ok(value + &found + verdict)
}
