//! Traces follow `docs/trace.schema.json`, and come back as they were.

use super::{JsonLines, Kept, Run, UpTo, record};
use boon::{Compiler, SchemaIndex, Schemas};
use spmdvm::{Array, Export, HostValue, Module, Options, Ty, Value, Width};
use spmdvm_oracle::trace::event::Event;
use spmdvm_oracle::trace::{Reader, Until};
use std::path::{Path, PathBuf};

/// How many instructions of a run are looked at.
const STEPS: u64 = 150;

/// Memory for an array argument.
const BYTES: usize = 4096;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the root of the project")
}

/// The schema, compiled.
struct Schema {
    all: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn read() -> Schema {
        let text = std::fs::read_to_string(root().join("docs/trace.schema.json")).expect("the schema");
        let (mut compiler, mut all) = (Compiler::new(), Schemas::new());
        compiler.add_resource("trace.schema.json", serde_json::from_str(&text).expect("JSON")).expect("a resource");
        let index = compiler.compile("trace.schema.json", &mut all).expect("the schema is a schema");
        Schema { all, index }
    }

    /// What does not fit, if something does not.
    fn mistake(&self, json: &serde_json::Value) -> Option<String> {
        self.all.validate(json, self.index).err().map(|error| error.to_string())
    }
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "ispc") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Arguments of which most functions make something: arrays of ones, and small numbers.
fn arguments<'m>(export: &Export, memory: &'m mut [Vec<u32>]) -> Vec<Value<'m>> {
    let number = |ty: Ty| match ty {
        Ty::F16 => 0x4000,
        Ty::F32 => 2.0f32.to_bits() as u64,
        Ty::F64 => 2.0f64.to_bits(),
        Ty::Bool => 1,
        _ => 4,
    };
    let value = |(param, memory): (&spmdvm::ExportParam, &'m mut Vec<u32>)| match &param.value {
        HostValue::Uniform(ty) | HostValue::Varying(ty) => Value::scalar(*ty, number(*ty)),
        HostValue::Array { elem, reference, .. } => {
            let bytes = if *reference { elem.size() as usize } else { BYTES - BYTES % (elem.size().max(1) as usize) };
            assert!(bytes <= BYTES);
            // SAFETY: the memory outlives the value and holds as many bytes.
            Value::Array(unsafe { Array::from_raw(memory.as_mut_ptr().cast(), bytes, None, true) })
        }
    };
    export.params.iter().zip(memory).map(value).collect()
}

/// Checks the trace of a function; returns whether it has steps.
fn check(module: &Module, export: &Export, schema: &Schema, name: &str) -> bool {
    let record_to = |sink: &mut dyn super::Sink| {
        let mut memory: Vec<Vec<u32>> = export.params.iter().map(|_| vec![1; BYTES / 4]).collect();
        let run = Run::new(module).timeout(Some(std::time::Duration::from_secs(20)));
        let args = arguments(export, &mut memory);
        let _ = record(module, run, (export, &args, u64::MAX), Default::default(), sink);
    };
    let mut written = UpTo::new(Until::Steps(STEPS), JsonLines::new(Vec::new()));
    record_to(&mut written);
    let lines = written.into_inner().into_inner();
    if lines.is_empty() {
        // The arguments do not fit.
        return false;
    }
    for line in lines.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        let json = serde_json::from_slice(line).expect("JSON");
        let wrong = schema.mistake(&json);
        assert!(wrong.is_none(), "{name}: {}: {wrong:?}", String::from_utf8_lossy(line));
    }
    let events: Vec<Event> = Reader::new(&lines[..]).expect("a trace").map(|e| e.expect("an event")).collect();
    let mut again = JsonLines::new(Vec::new());
    let header = Reader::new(&lines[..]).expect("a trace").header().clone();
    super::Sink::begin(&mut again, &header).expect("it can be written");
    events.iter().for_each(|event| assert!(super::Sink::event(&mut again, event).is_ok()));
    assert!(again.into_inner() == lines, "{name}: what is read and written again is the same");
    events.iter().any(|event| matches!(event, Event::Step(_)))
}

fn check_all(files: &[PathBuf], width: u32) -> usize {
    let schema = Schema::read();
    let options = Options { width: Width::new(width).expect("a width"), ..Options::default() };
    let mut checked = 0;
    for file in files {
        // Some of the cases are about errors.
        let Ok(module) = Module::compile_file(file, &options) else { continue };
        for export in module.exports().iter().take(3) {
            checked += check(&module, export, &schema, &file.display().to_string()) as usize;
        }
    }
    checked
}

#[test]
fn traces_of_examples_fit() {
    assert!(check_all(&programs("examples"), 8) >= 10);
}

#[test]
fn traces_of_cases_fit() {
    let files: Vec<PathBuf> = programs("tests/cases").into_iter().step_by(9).collect();
    assert!(files.len() > 20, "{}", files.len());
    assert!(check_all(&files, 4) >= 20);
}

#[test]
fn the_schema_refuses_what_is_wrong() {
    let schema = Schema::read();
    for line in [
        r#"{"event":"print"}"#,
        r#"{"event":"nothing"}"#,
        r#"{"event":"end","reason":"bored","steps":1}"#,
        r#"{"event":"enter","function":"f","how":"task","depth":0,"mask":1,"parameters":[]}"#,
        r#"{"event":"return","function":"f","depth":0,"mask":1,"results":[{"register":"u1","type":"f33","value":1}]}"#,
        r#"{"schema":"spmdvm-trace","version":2}"#,
    ] {
        let json: serde_json::Value = serde_json::from_str(line).expect("JSON");
        assert!(schema.mistake(&json).is_some(), "{line}");
    }
}

#[test]
fn values_come_back_bit_by_bit() {
    let text = "export void f(uniform float a[], uniform double b[], uniform int64 c[], uniform unsigned int64 d[]) {
        a[programIndex] = a[programIndex] * 3;
        b[programIndex] = b[programIndex] / 3;
        c[programIndex] = c[programIndex] - 1;
        d[programIndex] = ~d[programIndex];
    }";
    let record = |sink: &mut dyn super::Sink| {
        let mut a = [0.1f32, f32::NAN, f32::NEG_INFINITY, -0.0];
        let mut b = [1e-310f64, 1.0 / 3.0, f64::MAX, f64::NAN];
        let (mut c, mut d) = ([i64::MIN, i64::MAX, 0, -1], [0u64, 1, 2, 1 << 63]);
        let [a, b] = [Value::slice_mut(&mut a), Value::slice_mut(&mut b)];
        let args = [a, b, Value::slice_mut(&mut c), Value::slice_mut(&mut d)];
        super::record_to(&super::module(text, 4), &args, sink);
    };
    let (mut lines, mut kept) = (JsonLines::new(Vec::new()), Kept::default());
    record(&mut lines);
    record(&mut kept);
    let lines = lines.into_inner();
    let read: Vec<Event> = super::reader(&lines).map(|event| event.expect("an event")).collect();
    assert_eq!(read, kept.events);
    assert!(read.len() > 15);
}
