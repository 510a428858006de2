//! `spmdvm trace`: a table of instructions × lanes, or the same as lines of JSON; traces read back and compared.

use super::globals::Globals;
use super::{call_failure, check_lanes, entry, interrupt_flag, load_with, with_libraries};
use crate::cli::{Global, TraceArgs};
use crate::data::CallData;
use crate::{Failure, files};
use spmdvm::Run;
use spmdvm_oracle::trace::event::{Event, Header};
use spmdvm_oracle::trace::{
    self, Filter, JsonLines, Last, PlayError, Reader, Shown, Sink, Table, TraceFile, Until, UpTo, Wanted,
};
use std::io::{self, BufRead, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::Path;

/// Calls a function and shows what happens, or shows what was written about an earlier call.
pub fn trace(global: &Global, args: &TraceArgs) -> Result<(), Failure> {
    match (args.diff.as_slice(), &args.read, &args.file) {
        ([a, b], ..) => compare(global, args, a, b),
        (_, Some(path), _) => replay(global, args, path),
        (_, None, Some(file)) => record(global, args, file),
        (_, None, None) => Err(Failure::usage("give a program, --read FILE or --diff A B")),
    }
}

fn record(global: &Global, args: &TraceArgs, file: &Path) -> Result<(), Failure> {
    let options = with_libraries(global.options(), &args.call.host)?;
    let module = load_with(file, &args.call.with, &options, global.color())?;
    check_lanes(global, &args.call, &module)?;
    let export = entry(&module, args.call.entry.as_deref())?;
    let mut data = CallData::parse(export, &args.call.words()?, module.lanes())?;
    let globals = Globals::set(&module, &args.call.globals)?;
    let all: Vec<u32> = (0..module.lanes() as u32).collect();
    let mut sink = sink(global, args, &all)?;
    let mask = args.call.mask.unwrap_or(u64::MAX);
    let call = (export, &data.values()[..], mask);
    let recorded = trace::record(&module, Run::new(&module).mask(mask), call, interrupt_flag(), &mut *sink);
    written(recorded.written, args)?;
    data.check()?;
    globals.check()?;
    match recorded.result {
        Some(result) => {
            result.map_err(|e| call_failure(e, global))?;
            if args.until == Some(Until::Trap) {
                eprintln!("note: the function returned, there was no trap");
            }
            Ok(())
        }
        None => Ok(()),
    }
}

/// Shows a trace that was written.
fn replay(global: &Global, args: &TraceArgs, path: &Path) -> Result<(), Failure> {
    let reader = open(path)?;
    let mut sink = sink(global, args, &reader.header().lanes.clone())?;
    match reader.play(&mut *sink) {
        Ok(()) => Ok(()),
        Err(PlayError::Read(error)) => {
            // What could be read is shown.
            written(sink.finish(), args)?;
            Err(Failure::usage(format!("{}: {error}", path.display())))
        }
        Err(PlayError::Write(error)) => written(Err(error), args),
    }
}

/// Shows where two traces first differ; then the command fails, as `diff` does.
fn compare(global: &Global, args: &TraceArgs, a: &Path, b: &Path) -> Result<(), Failure> {
    let compared = trace::diff(open(a)?, open(b)?, args.context).map_err(|e| Failure::usage(e.to_string()))?;
    match global.json {
        true => println!("{}", serde_json::to_string(&compared).map_err(|e| Failure::usage(e.to_string()))?),
        false => print!("A: {}\nB: {}\n{compared}", a.display(), b.display()),
    }
    match compared.difference {
        Some(_) => Err(Failure::Program(String::new())),
        None => Ok(()),
    }
}

fn open(path: &Path) -> Result<Reader<Box<dyn BufRead>>, Failure> {
    files::check(path)?;
    let file = trace::open(path).map_err(|e| files::unreadable(path, &e))?;
    Reader::new(file).map_err(|e| Failure::usage(format!("{}: {e}", path.display())))
}

/// Fails if a trace could not be written. A reader that has gone away does not want it.
fn written(result: io::Result<()>, args: &TraceArgs) -> Result<(), Failure> {
    let to = args.output.as_deref().map_or("the trace".into(), |path| path.display().to_string());
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other.map_err(|e| Failure::usage(format!("cannot write {to}: {e}"))),
    }
}

/// Where the events go, as the options say. The trace has these lanes.
fn sink(global: &Global, args: &TraceArgs, all: &[u32]) -> Result<Box<dyn Sink>, Failure> {
    let shown = Shown { rows: args.rows, all_files: args.all || args.function.is_some(), included: false };
    let mut sink: Box<dyn Sink> = match &args.output {
        Some(path) => {
            let file = TraceFile::create(path);
            Box::new(Echo(JsonLines::new(file.map_err(|e| files::unwritable(path, &e))?)))
        }
        None if global.json => Box::new(JsonLines::new(BufWriter::new(io::stdout()))),
        None => Box::new(Table::new(shown, io::stdout())),
    };
    if args.until == Some(Until::Trap) {
        sink = Box::new(Last::new(args.rows, sink));
    }
    let wanted = Wanted { line: args.line, function: args.function.clone(), lanes: lanes(args, all)? };
    if wanted.line.is_some() || wanted.function.is_some() || wanted.lanes.is_some() {
        let line = wanted.line.map(|line| format!("line {line}"));
        let function = wanted.function.as_ref().map(|name| format!("`{name}`"));
        let places: Vec<String> = line.into_iter().chain(function).collect();
        if !places.is_empty() {
            sink = Box::new(Noted { to: sink, is_empty: true, place: places.join(" of ") });
        }
        sink = Box::new(Filter::new(wanted, sink));
    }
    match args.until {
        Some(until) if until != Until::Trap => Ok(Box::new(UpTo::new(until, sink))),
        _ => Ok(sink),
    }
}

/// The lanes asked for, in order.
fn lanes(args: &TraceArgs, all: &[u32]) -> Result<Option<Vec<u32>>, Failure> {
    let Some(mut lanes) = args.lanes.clone() else { return Ok(None) };
    lanes.sort_unstable();
    lanes.dedup();
    match lanes.iter().find(|lane| !all.contains(lane)) {
        None => Ok(Some(lanes)),
        Some(lane) => {
            let all: Vec<String> = all.iter().map(u32::to_string).collect();
            Err(Failure::usage(format!("--lanes: there is no lane {lane}; there are {}", all.join(", "))))
        }
    }
}

/// Prints what the program prints while its trace goes elsewhere.
struct Echo<S>(S);

impl<S: Sink> Sink for Echo<S> {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.0.begin(header)
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        if let Event::Print(print) = event {
            io::stdout().write_all(print.text.as_bytes())?;
        }
        self.0.event(event)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.finish()
    }
}

/// Says so if there was nothing to show of a place: its name may be mistaken.
struct Noted<S> {
    to: S,
    is_empty: bool,
    place: String,
}

impl<S: Sink> Sink for Noted<S> {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.to.begin(header)
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        self.is_empty &= !matches!(event, Event::Enter(_) | Event::Step(_) | Event::Return(_));
        self.to.event(event)
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.is_empty {
            eprintln!("note: nothing of {} was executed", self.place);
        }
        self.to.finish()
    }
}
