//! `spmdvm run`.

use super::globals::{self, Elements, Globals};
use super::{call_failure, check, check_lanes, entry, load_with, with_libraries};
use crate::cli::{Global, RunArgs};
use crate::data::{CallData, as_floats, element_bits, scalar_of, show_element};
use crate::image::{Image, is_image};
use crate::{Failure, npy, npz, record};
use serde_json::{Value as Json, json};
use spmdvm::{Engine, Export, Finding, HostType, HostValue, Module, Pointer, Profiler, Report, Run, Show, Ty, Value};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How many elements of an array are shown.
const SHOWN: usize = 8;

/// Compiles, calls, writes and shows.
pub fn run(global: &Global, args: &RunArgs) -> Result<(), Failure> {
    let jit = global.dump.as_deref().and_then(jit_stages);
    if let (Some(stage), None) = (&global.dump, jit) {
        return check::dump(global, &args.file, stage);
    }
    let outputs = args.output.iter().map(|o| output(o)).collect::<Result<Vec<_>, _>>()?;
    let mut options = with_libraries(global.options(), &args.call.host)?;
    options.jit.keep_recorded = jit.is_some_and(|show| show.trace);
    options.check = args.check.unwrap_or_default();
    if args.profile {
        options.engine = Engine::Interp;
    }
    let began = Instant::now();
    let module = load_with(&args.file, &args.call.with, &options, global.color())?;
    let compiled = began.elapsed();
    check_lanes(global, &args.call, &module)?;
    let export = entry(&module, args.call.entry.as_deref())?;
    let mut data = CallData::parse(export, &args.call.words()?, module.lanes())?;
    let globals = Globals::set(&module, &args.call.globals)?;
    outputs.iter().try_for_each(|(name, _)| check_output(&module, export, &data, name))?;
    let profiler = args.profile.then(|| Arc::new(Mutex::new(Profiler::new())));
    let began = Instant::now();
    let mut call = start(&module, args);
    if let Some(profiler) = &profiler {
        call = call.profile(Arc::clone(profiler));
    }
    let result = call.call_export(export, &data.values());
    if args.progress {
        eprint!("\r\x1b[K");
    }
    if args.time {
        let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
        let (compiled, ran) = (milliseconds(compiled), milliseconds(began.elapsed()));
        eprintln!("compiled in {compiled:.2} ms, ran in {ran:.2} ms on the engine {}", module.engine_name());
    }
    if let Some(profiler) = &profiler {
        eprint!("{}", profiler.lock().unwrap_or_else(PoisonError::into_inner).profile().table());
    }
    data.check()?;
    globals.check()?;
    let report = module.report();
    let found = report.render(global.color());
    if result.is_err() {
        eprint!("{found}");
    }
    let result = result.map_err(|e| call_failure(e, global))?;
    let mut written = Vec::new();
    for (name, path) in &outputs {
        let elements = match (name.as_str(), &result, data.array(name)) {
            ("result", Some(value), _) => result_elements(export, value)?,
            (_, _, Some((ty, shape, bytes))) => (name.clone(), ty, shape.to_vec(), bytes.to_vec()),
            _ => globals::elements_of(&module, name)?,
        };
        written.push((path, elements));
    }
    write_all(&written)?;
    let set = globals.elements(&module);
    if global.json {
        println!("{}", as_json(export, result.as_ref(), &data, &set, args.check.map(|_| findings_json(&report))));
    } else if !args.quiet {
        show(export, result.as_ref(), &data, &set);
    }
    data.check()?;
    globals.check()?;
    if let Some(what) = jit {
        print!("{}", module.jit_text(what));
    }
    for &line in &args.explain {
        print!("{}", module.explain_line(line).map_err(|e| Failure::usage(format!("--explain: {e}")))?);
    }
    match report.findings().len() {
        0 => Ok(()),
        1 => Err(Failure::Program(found + "1 finding\n")),
        n => Err(Failure::Program(format!("{found}{n} findings\n"))),
    }
}

/// The stages of the JIT that `--dump` names (`stats`, `trace`, `ir`, `asm`, with commas between them), if it names nothing else.
fn jit_stages(names: &str) -> Option<Show> {
    names.split(',').try_fold(Show::default(), |show, name| match name {
        "stats" => Some(show),
        "trace" => Some(Show { trace: true, ..show }),
        "ir" => Some(Show { ir: true, ..show }),
        "asm" => Some(Show { asm: true, ..show }),
        _ => None,
    })
}

/// A call with the mask asked for, that Ctrl-C interrupts.
fn start<'m>(module: &'m Module, args: &RunArgs) -> Run<'m> {
    let mut run = Run::new(module).interrupt(interrupt_flag());
    if args.progress {
        run = run.watch(progress());
    }
    match args.call.mask {
        Some(mask) => run.mask(mask),
        None => run,
    }
}

/// What tells now and then how long it has been running.
fn progress() -> impl Fn() + Send + Sync + 'static {
    const EVERY: Duration = Duration::from_millis(250);
    let (began, told) = (Instant::now(), Mutex::new(Instant::now()));
    move || {
        let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() >= EVERY {
            *told = Instant::now();
            eprint!("\r\x1b[Krunning for {:.1} s", began.elapsed().as_secs_f64());
        }
    }
}

/// The flag that Ctrl-C sets while a program runs.
pub fn interrupt_flag() -> Arc<AtomicBool> {
    static FLAG: std::sync::OnceLock<Arc<AtomicBool>> = std::sync::OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let handler = Arc::clone(&flag);
        // Without a handler Ctrl-C ends the process, which is what one expects of a command anyway.
        let _ = ctrlc::set_handler(move || handler.store(true, Ordering::Relaxed));
        flag
    });
    flag.store(false, Ordering::Relaxed);
    Arc::clone(flag)
}

/// Fails if there is nothing of this name to write, before anything is run.
fn check_output(module: &Module, export: &Export, data: &CallData, name: &str) -> Result<(), Failure> {
    if (name == "result" && export.result.is_some()) || data.array(name).is_some() || module.global(name).is_ok() {
        return Ok(());
    }
    let mut names: Vec<&str> = data.arrays().map(|a| a.0).collect();
    names.extend(module.globals().map(|global| global.name()));
    names.extend(export.result.as_ref().map(|_| "result"));
    let names = if names.is_empty() { "there is none".into() } else { names.join(", ") };
    Err(Failure::usage(format!("--output: `{name}` is no array argument, global variable or result ({names})")))
}

fn output(text: &str) -> Result<(String, PathBuf), Failure> {
    let (name, path) = text
        .split_once('=')
        .ok_or_else(|| Failure::usage(format!("--output takes NAME=FILE, such as x=out.npy, not `{text}`")))?;
    let path = PathBuf::from(path);
    match path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase).as_deref() {
        // Files without an ending, such as `/dev/stdout`, get what `.npy` files hold.
        None | Some("npy" | "npz" | "png") => Ok((name.to_owned(), path)),
        Some(other) => {
            let message = format!("--output: arrays are written to files that end in .npy, .npz or .png, not .{other}");
            Err(Failure::usage(message))
        }
    }
}

fn result_elements(export: &Export, value: &Value<'_>) -> Result<Elements, Failure> {
    let name = "result".to_owned();
    let (ty, words) = match value {
        Value::Scalar { ty, bits } => (*ty, vec![*bits]),
        Value::Lanes { ty, words } => (*ty, words.clone()),
        Value::Record(bytes) => {
            let Some(ty) = result_layout(export).and_then(scalar_of) else {
                return Err(Failure::usage(
                    "the result is a struct of several types, which files of numbers cannot hold",
                ));
            };
            return Ok((name, ty, vec![(bytes.len() / ty.size()) as u64], bytes.clone()));
        }
        Value::Array(_) | Value::Pointer(_) => {
            return Err(Failure::usage("the result is an address, which cannot be written"));
        }
    };
    let bytes = words.iter().flat_map(|w| w.to_le_bytes()[..ty.size()].to_vec()).collect();
    Ok((name, ty, vec![words.len() as u64], bytes))
}

/// Writes each to its file, by the file's ending. What goes to one archive goes there together.
fn write_all(outputs: &[(&PathBuf, Elements)]) -> Result<(), Failure> {
    let mut archives: Vec<(&PathBuf, Vec<npz::Member<'_>>)> = Vec::new();
    for (path, (name, ty, shape, bytes)) in outputs {
        if is_image(path) {
            let numbers: Vec<f64> = as_floats(*ty, bytes).collect();
            let image =
                Image::of(*ty, shape, &numbers).map_err(|why| Failure::usage(format!("--output: `{name}`: {why}")))?;
            image.save(path)?;
        } else if path.extension().is_some_and(|extension| extension == "npz") {
            let member = (name.as_str(), *ty, &shape[..], &bytes[..]);
            match archives.iter_mut().find(|(known, _)| known == path) {
                Some((_, members)) => members.push(member),
                None => archives.push((path, vec![member])),
            }
        } else {
            npy::write(path, *ty, shape, bytes)?;
        }
    }
    archives.iter().try_for_each(|(path, members)| npz::write(path, members))
}

/// The layout of a result in memory.
fn result_layout(export: &Export) -> Option<&HostType> {
    match &export.result {
        Some(HostValue::Array { elem, reference: true, .. }) => Some(elem),
        _ => None,
    }
}

fn show(export: &Export, result: Option<&Value<'_>>, data: &CallData, globals: &[Elements]) {
    match result {
        Some(Value::Scalar { ty, bits }) => println!("result = {}", show_element(*ty, *bits)),
        Some(Value::Lanes { ty, words }) => {
            let lanes: Vec<String> = words.iter().map(|w| show_element(*ty, *w)).collect();
            println!("result = [{}]", lanes.join(", "));
        }
        Some(Value::Record(bytes)) => {
            if let Some(layout) = result_layout(export) {
                println!("result = {}", record::text(layout, bytes));
            }
        }
        Some(Value::Pointer(pointer)) => println!("result = {}", pointer_text(export, *pointer)),
        Some(Value::Array(_)) | None => {}
    }
    let globals = globals.iter().map(|(name, ty, shape, bytes)| (name.as_str(), *ty, &shape[..], &bytes[..]));
    for (name, ty, shape, bytes) in data.arrays().chain(globals) {
        let n = bytes.len() / ty.size();
        if shape.is_empty() {
            println!("{name} = {}", show_element(ty, element_bits(ty, bytes, 0)));
            continue;
        }
        let mut shown: Vec<String> = (0..n.min(SHOWN)).map(|i| show_element(ty, element_bits(ty, bytes, i))).collect();
        if n > SHOWN {
            shown.push("…".into());
        }
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        println!("{name}: {ty}[{}] = [{}]", shape.join(", "), shown.join(", "));
    }
}

/// Where a pointer leads: into an argument, by its name, or into memory of the program.
fn pointer_text(export: &Export, pointer: Pointer) -> String {
    match pointer.argument() {
        Some((index, offset)) => {
            let name = export.params.get(index).map_or("", |param| param.name.as_str());
            format!("{name} + {offset} bytes")
        }
        None => record::address(pointer.address()),
    }
}

fn as_json(
    export: &Export,
    result: Option<&Value<'_>>,
    data: &CallData,
    globals: &[Elements],
    findings: Option<Json>,
) -> Json {
    let result = match result {
        Some(Value::Scalar { ty, bits }) => number(*ty, *bits),
        Some(Value::Lanes { ty, words }) => words.iter().map(|w| number(*ty, *w)).collect(),
        Some(Value::Record(bytes)) => {
            result_layout(export).map_or(Json::Null, |layout| record::json(layout, bytes, &number))
        }
        Some(Value::Pointer(pointer)) => Json::String(pointer_text(export, *pointer)),
        Some(Value::Array(_)) | None => Json::Null,
    };
    let array = |name: &str, ty: Ty, shape: &[u64], bytes: &[u8]| {
        let elements = (0..bytes.len() / ty.size()).map(|i| number(ty, element_bits(ty, bytes, i)));
        (name.to_owned(), json!({ "type": ty.name(), "shape": shape, "data": elements.collect::<Vec<Json>>() }))
    };
    let arrays: Json = data.arrays().map(|(name, ty, shape, bytes)| array(name, ty, shape, bytes)).collect();
    let globals: Json = globals.iter().map(|(name, ty, shape, bytes)| array(name, *ty, shape, bytes)).collect();
    let mut shown = json!({ "result": result, "arrays": arrays, "globals": globals });
    if let Some(findings) = findings {
        shown["findings"] = findings;
    }
    shown
}

/// What check mode has found.
fn findings_json(report: &Report) -> Json {
    let place = |place: Option<(&str, usize, usize)>| match place {
        Some((file, line, column)) => json!({ "file": file, "line": line, "column": column }),
        None => Json::Null,
    };
    let finding = |finding: &Finding| {
        let data = finding.data();
        let values: Json = data.values.iter().map(|&bits| number(data.ty, bits)).collect();
        let program = finding.program();
        let calls = data.stack.iter().map(|frame| {
            let line = program.line_col(frame.span).map(|(_, line, _)| line);
            json!({ "function": frame.name, "line": line, "task": frame.task })
        });
        json!({
            "kind": data.kind.name(), "message": data.message, "place": place(finding.place()), "lanes": data.lanes,
            "values": values, "related": place(finding.related_place()), "calls": calls.collect::<Vec<Json>>(),
            "times": data.times,
        })
    };
    report.findings().iter().map(finding).collect()
}

/// A JSON number, or a string for what JSON cannot say (infinities, NaN).
fn number(ty: Ty, bits: u64) -> Json {
    let text = show_element(ty, bits);
    serde_json::from_str(&text).unwrap_or(Json::String(text))
}
