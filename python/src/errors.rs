//! Raising what went wrong. The classes are in `spmdvm/_errors.py`.

use crate::scalar::shape_text;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use spmdvm::tools::TrapDetail;
use spmdvm::tools::{SourceMap, Span};
use spmdvm::{ArgumentError, CallError, CompileError, Diagnostic, Severity, Stopped, TrapError, TrapKind};

/// The exception for a call that failed.
pub fn call_error(py: Python<'_>, error: CallError) -> PyErr {
    match error {
        CallError::Argument(error) => argument_error(error),
        CallError::Trap(error) => {
            // Ctrl-C raises what Python's handler raises. In threads other than the main one, that is nothing.
            if error.trap().kind == TrapKind::Interrupted
                && let Err(interrupt) = py.check_signals()
            {
                return interrupt;
            }
            if let TrapDetail::Host(inner) = &error.trap().detail
                && let Some(raised) = crate::host::raised(py, inner.payload())
            {
                return raised;
            }
            trap(py, &error, None).unwrap_or_else(|error| error)
        }
        CallError::Engine(message) => PyValueError::new_err(message),
        CallError::Compile(error) => compile_error(py, &error),
    }
}

/// The elements that a call over arrays failed for.
pub struct Element<'py> {
    /// The first and the last one's indices in the shape that the arguments broadcast to.
    pub first: Vec<usize>,
    pub last: Vec<usize>,
    /// If it is one: the arguments there, as numbers and as text.
    pub arguments: Bound<'py, PyDict>,
    pub texts: Vec<String>,
}

impl Element<'_> {
    /// Whether it is known which one.
    fn is_one(&self) -> bool {
        self.first == self.last
    }

    /// The line in the text of a trap.
    fn line(&self) -> String {
        let index = |index: &[usize]| match index {
            [i] => i.to_string(),
            index => shape_text(index),
        };
        let place = match (self.is_one(), &self.first[..]) {
            (true, []) => "with".into(),
            (true, first) => format!("in element {}, with", index(first)),
            (false, first) => format!("in one of the elements {} to {}", index(first), index(&self.last)),
        };
        let shown = self.texts.iter().take(SHOWN_ARGUMENTS).map(String::as_str).collect::<Vec<_>>().join(", ");
        let more = if self.texts.len() > SHOWN_ARGUMENTS { ", …" } else { "" };
        if shown.is_empty() { place.trim_end_matches(", with").into() } else { format!("{place} {shown}{more}") }
    }
}

/// So many arguments of an element are shown.
const SHOWN_ARGUMENTS: usize = 8;

/// The exception for a call over arrays that failed.
pub fn mapped_error(py: Python<'_>, error: CallError, element: Option<Element<'_>>) -> PyErr {
    match (&error, &element) {
        (CallError::Trap(error), Some(_))
            if !matches!(error.trap().kind, TrapKind::Interrupted | TrapKind::HostError) =>
        {
            trap(py, error, element.as_ref()).unwrap_or_else(|error| error)
        }
        _ => call_error(py, error),
    }
}

fn argument_error(error: ArgumentError) -> PyErr {
    if error.is_type { PyTypeError::new_err(error.message) } else { PyValueError::new_err(error.message) }
}

fn trap(py: Python<'_>, error: &TrapError, element: Option<&Element<'_>>) -> PyResult<PyErr> {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let trap = error.trap();
    let (index, length, array) = match &trap.detail {
        TrapDetail::Access { index, len, name, .. } => (Some(*index), Some(*len), name.as_deref()),
        _ => (None, None, None),
    };
    let stack: Vec<_> = trap
        .stack
        .iter()
        .map(|frame| {
            let place = error.program().line_col(frame.span);
            let (file, line, column) = match place {
                Some((source, line, column)) => (Some(source.name.as_str()), Some(line), Some(column)),
                None => (None, None, None),
            };
            (frame.name.as_str(), file, line, column, frame.each_lanes.clone(), frame.task)
        })
        .collect();
    let mut text = error.render(false).trim_end().to_owned();
    let mut place = None;
    if let Some(element) = element {
        text += &format!("\n  {}", element.line());
        if element.is_one() {
            place = Some((PyTuple::new(py, &element.first)?, &element.arguments));
        }
    }
    let value = MAKE.import(py, "spmdvm._errors", "_trap")?.call1((
        trap.kind.name(),
        text,
        trap.lane,
        index,
        length,
        array,
        stack,
        place,
    ))?;
    Ok(PyErr::from_value(value))
}

/// The exception for a program that does not compile, or whose compilation was stopped.
pub fn compile_error(py: Python<'_>, error: &CompileError) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if let Some(stopped) = error.stopped() {
        return compilation_stopped(py, stopped, error).unwrap_or_else(|error| error);
    }
    let make = || {
        let records = diagnostics(py, error.diagnostics(), error.sources())?;
        let text = error.render(false);
        MAKE.import(py, "spmdvm._errors", "_compile_error")?.call1((text.trim_end(), records))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// As for a run that is stopped: what Python's handler raises, or the trap's class.
fn compilation_stopped(py: Python<'_>, stopped: Stopped, error: &CompileError) -> PyResult<PyErr> {
    let kind = match stopped {
        Stopped::TimedOut => TrapKind::Timeout,
        Stopped::Interrupted => {
            // Ctrl-C raises what Python's handler raises.
            py.check_signals()?;
            TrapKind::Interrupted
        }
    };
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (nothing, no_stack) = (py.None(), PyTuple::empty(py));
    let make = MAKE.import(py, "spmdvm._errors", "_trap")?;
    let text = error.render(false);
    let value =
        make.call1((kind.name(), text.trim_end(), &nothing, &nothing, &nothing, &nothing, no_stack, &nothing))?;
    Ok(PyErr::from_value(value))
}

/// Shows warnings of the compiler as Python's warnings, each once per place. Raises them if that is what Python is told
/// to do.
pub fn warn(py: Python<'_>, list: &[Diagnostic], sources: &SourceMap) -> PyResult<()> {
    static WARN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if !list.is_empty() {
        WARN.import(py, "spmdvm._errors", "_warn")?.call1((diagnostics(py, list, sources)?,))?;
    }
    Ok(())
}

/// Diagnostics as records.
pub fn diagnostics<'py>(py: Python<'py>, list: &[Diagnostic], sources: &SourceMap) -> PyResult<Vec<Bound<'py, PyAny>>> {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = MAKE.import(py, "spmdvm._errors", "_diagnostic")?;
    list.iter().map(|d| diagnostic(d, sources, make)).collect()
}

fn diagnostic<'py>(d: &Diagnostic, sources: &SourceMap, make: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let severity = if d.severity == Severity::Error { "error" } else { "warning" };
    let labels: Vec<_> = d
        .labels
        .iter()
        .map(|label| (place(label.span, sources), label.text.as_str(), line(label.span, sources)))
        .collect();
    let notes = PyTuple::new(make.py(), &d.notes)?;
    make.call1((d.code.id(), d.code.name(), severity, &d.message, labels, d.help.as_deref(), notes))
}

/// The line on which a span begins; programs that are texts are in no file where it could be looked up. What is longer than
/// anybody reads is left out: each label would have a copy of it.
fn line(span: Span, sources: &SourceMap) -> &str {
    let found = sources.get(span.file).map_or("", |file| file.line(sources.line(span)));
    if found.len() <= LONGEST_LINE { found } else { "" }
}

/// So many bytes of a line are shown.
const LONGEST_LINE: usize = 10_000;

/// File, line and column where a span begins, and line and column where it ends.
fn place(span: Span, sources: &SourceMap) -> (&str, u32, u32, u32, u32) {
    let (file, line, column) = sources.locate(span);
    let (_, end_line, end_column) = sources.locate(span.after());
    (file, line, column, end_line, end_column)
}
