//! Raising what went wrong. The classes are in `spmdvm/_errors.py`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use spmdvm::frontend::source::{SourceMap, Span};
use spmdvm::vm::trap::TrapDetail;
use spmdvm::{ArgumentError, CallError, CompileError, Diagnostic, Severity, TrapError, TrapKind};

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
            trap(py, &error).unwrap_or_else(|error| error)
        }
        CallError::Engine(message) => PyValueError::new_err(message),
        CallError::Compile(error) => compile_error(py, &error),
    }
}

fn argument_error(error: ArgumentError) -> PyErr {
    if error.is_type { PyTypeError::new_err(error.message) } else { PyValueError::new_err(error.message) }
}

fn trap(py: Python<'_>, error: &TrapError) -> PyResult<PyErr> {
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
    let text = error.render(false);
    let text = text.trim_end();
    let value = MAKE.import(py, "spmdvm._errors", "_trap")?.call1((
        trap.kind.name(),
        text,
        trap.lane,
        index,
        length,
        array,
        stack,
    ))?;
    Ok(PyErr::from_value(value))
}

/// The exception for a program that does not compile.
pub fn compile_error(py: Python<'_>, error: &CompileError) -> PyErr {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || {
        let records = diagnostics(py, error.diagnostics(), error.sources())?;
        let text = error.render(false);
        MAKE.import(py, "spmdvm._errors", "_compile_error")?.call1((text.trim_end(), records))
    };
    make().map_or_else(|error| error, PyErr::from_value)
}

/// Diagnostics as records.
pub fn diagnostics<'py>(py: Python<'py>, list: &[Diagnostic], sources: &SourceMap) -> PyResult<Vec<Bound<'py, PyAny>>> {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = MAKE.import(py, "spmdvm._errors", "_diagnostic")?;
    list.iter().map(|d| diagnostic(d, sources, make)).collect()
}

fn diagnostic<'py>(d: &Diagnostic, sources: &SourceMap, make: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let severity = if d.severity == Severity::Error { "error" } else { "warning" };
    let labels: Vec<_> = d.labels.iter().map(|label| (place(label.span, sources), label.text.as_str())).collect();
    let notes = PyTuple::new(make.py(), &d.notes)?;
    make.call1((d.code.id(), d.code.name(), severity, &d.message, labels, d.help.as_deref(), notes))
}

/// File, line and column where a span begins, and line and column where it ends.
fn place(span: Span, sources: &SourceMap) -> (&str, u32, u32, u32, u32) {
    let (file, line, column) = sources.locate(span);
    let (_, end_line, end_column) = sources.locate(span.after());
    (file, line, column, end_line, end_column)
}
