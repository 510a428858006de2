//! Runs of the page's program, which the page can stop.

use crate::arguments::Arguments;
use crate::check::{self, NAME, Program};
use crate::numbers::Elements;
use crate::server::Settings;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use spmdvm::vm::Program as Bytecode;
use spmdvm::vm::program::Span;
use spmdvm::{CallError, Export, Global, HostType, HostValue, Module, Run, Trap, Ty, Value};
use spmdvm_debug::layout;
use spmdvm_oracle::number::{Number, shown};
use spmdvm_oracle::words::scalar_of;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Most programs that run at a time.
const MAX_RUNS: usize = 8;

/// How much of what a program prints is kept.
const MAX_PRINTED: usize = 256 << 10;

/// Memory that a program's arrays may have where there is no limit.
const ROOM: u64 = 1 << 30;

/// A call of a program.
#[derive(Deserialize)]
pub struct Call {
    /// The program.
    #[serde(flatten)]
    pub program: Program,
    /// The function.
    entry: String,
    /// `NAME=WORD`, as for `spmdvm run`.
    arguments: Vec<String>,
}

/// The programs that run: by the names that the page has given to the runs, the flags that end them.
#[derive(Default)]
pub struct Runs(Mutex<HashMap<String, Arc<AtomicBool>>>);

/// A run that is in the table.
struct Listed<'r> {
    runs: &'r Runs,
    name: &'r str,
    flag: Arc<AtomicBool>,
}

impl Runs {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<AtomicBool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn list<'r>(&'r self, name: &'r str) -> Result<Listed<'r>, String> {
        let mut runs = self.lock();
        if runs.len() >= MAX_RUNS {
            return Err(format!("{MAX_RUNS} programs are running: stop one first"));
        }
        let flag = Arc::new(AtomicBool::new(false));
        match runs.insert(name.to_owned(), Arc::clone(&flag)) {
            Some(other) => {
                runs.insert(name.to_owned(), other);
                Err("there is a run of this name".into())
            }
            None => Ok(Listed { runs: self, name, flag }),
        }
    }

    /// Ends a run. Returns whether there is one of this name.
    pub fn stop(&self, name: &str) -> bool {
        let runs = self.lock();
        let flag = runs.get(name);
        flag.inspect(|flag| flag.store(true, Ordering::Relaxed)).is_some()
    }

    /// Compiles a program and makes a call.
    pub fn run(&self, name: &str, call: &Call, settings: &Settings) -> Result<Json, String> {
        let listed = self.list(name)?;
        let began = Instant::now();
        let module = match call.program.compile(settings, &listed.flag)? {
            Ok(module) => module,
            Err(error) => return Ok(check::failed(&error)),
        };
        let compiled = began.elapsed();
        let (export, mut arguments) = call.resolve(&module, settings)?;
        let printed = Printed::default();
        let run = Run::new(&module).interrupt(Arc::clone(&listed.flag)).output(printed.sink());
        let began = Instant::now();
        let result = run.call_export(export, &arguments.values());
        let ran = began.elapsed();
        let mut answer = json!({
            "diagnostics": check::warnings(&module),
            "engine": module.engine_name(),
            "compile_ms": milliseconds(compiled),
            "run_ms": milliseconds(ran),
            "printed": printed.text(),
        });
        match result {
            Ok(result) => answer["result"] = result.map_or(Json::Null, |value| result_text(export, &value).into()),
            Err(CallError::Compile(error)) => answer["failed"] = check::failed(&error),
            Err(CallError::Trap(error)) => {
                answer["trap"] = trap(error.trap(), error.program());
                answer["trap"]["rendered"] = error.render(false).into();
            }
            Err(error) => return Err(error.to_string()),
        }
        answer["arrays"] = arguments.arrays().map(|(name, of, changed)| array(name, &of, changed)).collect();
        answer["globals"] = module.globals().filter_map(|variable| global(&variable)).collect();
        if call.program.explain {
            answer["explain"] = explain(&module, call.program.source());
        }
        Ok(answer)
    }
}

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.runs.lock().remove(self.name);
    }
}

impl Call {
    /// The export that takes the arguments, and these.
    pub fn resolve<'m>(&self, module: &'m Module, settings: &Settings) -> Result<(&'m Export, Arguments), String> {
        let room = settings.options.limits.memory.unwrap_or(ROOM);
        let mut candidates = module.overloads(&self.entry).map(|export| {
            let arguments = Arguments::parse(export, &self.arguments, module.lanes(), room)?;
            Ok((export, arguments))
        });
        let first = candidates.next().ok_or_else(|| module.no_such_export(&self.entry).message)?;
        // Of several of this name the first that takes the words.
        first.or_else(|wrong: String| candidates.find_map(Result::ok).ok_or(wrong))
    }
}

/// What a program has printed.
#[derive(Clone, Default)]
pub struct Printed(Arc<Mutex<(String, usize)>>);

impl Printed {
    /// Takes what is printed.
    pub fn sink(&self) -> impl FnMut(&str) + Send + 'static {
        let printed = Arc::clone(&self.0);
        move |text| {
            let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
            let (kept, left_out) = &mut *printed;
            match kept.len() + text.len() <= MAX_PRINTED && *left_out == 0 {
                true => kept.push_str(text),
                false => *left_out += text.len(),
            }
        }
    }

    /// All of it, or how it begins.
    pub fn text(&self) -> String {
        let printed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match &*printed {
            (kept, 0) => kept.clone(),
            (kept, left_out) => format!("{kept}\n… and {left_out} more bytes\n"),
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

/// Why a program stopped, and where, in the innermost function that is the page's.
pub fn trap(trap: &Trap, program: &Bytecode) -> Json {
    let own = |span: &Span| program.sources.get(span.file as usize).is_some_and(|source| source.name == NAME);
    let span = trap.stack.iter().map(|frame| frame.span).find(|span| span.hi > 0 && own(span));
    let range = span.and_then(|span| {
        let source = program.sources.get(span.file as usize)?;
        Some(check::range(&source.text, span.lo, span.hi))
    });
    let line = span.and_then(|span| program.line_col(span)).map(|(_, line, _)| line);
    let info = trap.kind.info();
    json!({
        "kind": trap.kind.name(), "message": trap.to_string(), "lane": trap.lane, "line": line, "range": range,
        "label": info.message, "explanation": info.explanation,
    })
}

fn result_text(export: &Export, value: &Value<'_>) -> String {
    let text = |ty: Ty, bits: u64| shown(Number(ty, bits));
    match value {
        Value::Scalar { ty, bits } => text(*ty, *bits),
        Value::Lanes { ty, words } => {
            let lanes: Vec<String> = words.iter().map(|&bits| text(*ty, bits)).collect();
            format!("[{}]", lanes.join(", "))
        }
        Value::Record(bytes) => match &export.result {
            Some(HostValue::Array { elem, .. }) => layout::text(elem, bytes),
            _ => String::new(),
        },
        Value::Pointer(pointer) => match pointer.argument() {
            Some((index, offset)) => {
                let name = export.params.get(index).map_or("", |param| param.name.as_str());
                format!("{name} + {offset} bytes")
            }
            None => layout::address(pointer.address()),
        },
        Value::Array(_) => String::new(),
    }
}

fn array(name: &str, of: &Elements<'_>, changed: bool) -> Json {
    let mut json = of.to_json();
    (json["name"], json["changed"]) = (name.into(), changed.into());
    json
}

/// What a global variable of numbers holds.
fn global(global: &Global<'_>) -> Option<Json> {
    let ty = scalar_of(global.layout())?;
    let bytes = global.read_bytes().ok()?;
    let mut shape = Vec::new();
    let mut of = global.layout();
    while let HostType::Array(elem, n) = of {
        shape.push(if *n == 0 { bytes.len() as u64 / elem.size().max(1) } else { *n });
        of = elem;
    }
    Some(array(global.name(), &Elements { ty, shape: &shape, bytes: &bytes }, !global.is_constant()))
}

/// What became of each line with code.
fn explain(module: &Module, source: &str) -> Json {
    let lines = (1..=source.lines().count()).filter_map(|line| {
        let text = module.explain_line(line).ok()?;
        // The first line repeats the source.
        let facts: Vec<&str> = text.lines().skip(1).collect();
        Some(json!({ "line": line, "facts": facts }))
    });
    lines.collect()
}
