//! What check mode has found, as Python data. The class is in `spmdvm/_errors.py`.

use crate::scalar;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyList, PyTuple};
use spmdvm::tools::TrapFrame;
use spmdvm::{Finding, Report};

/// The findings of a report.
pub fn findings<'py>(py: Python<'py>, report: &Report) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    report.findings().iter().try_for_each(|found| list.append(finding(py, found)?))?;
    Ok(list)
}

fn finding<'py>(py: Python<'py>, found: &Finding) -> PyResult<Bound<'py, PyAny>> {
    static MAKE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let data = found.data();
    let values = data.values.iter().map(|&bits| scalar::to_python(py, data.ty, bits)).collect::<PyResult<Vec<_>>>()?;
    let related = data.related.as_ref().map(|related| (related.message.as_str(), calls(found, &related.stack)));
    MAKE.import(py, "spmdvm._errors", "_finding")?.call1((
        data.kind.name(),
        data.message.as_str(),
        found.place(),
        PyTuple::new(py, &data.lanes)?,
        PyTuple::new(py, values)?,
        calls(found, &data.stack),
        related.map(|(message, stack)| (message, found.related_place(), stack)),
        data.times,
        found.render(false).trim_end(),
    ))
}

type Call<'f> = (&'f str, Option<&'f str>, Option<usize>, Option<usize>, Vec<u32>, Option<u64>);

/// Calls as `TrapFrame` takes them.
fn calls<'f>(found: &'f Finding, stack: &'f [TrapFrame]) -> Vec<Call<'f>> {
    let call = |frame: &'f TrapFrame| {
        let place = found.program().line_col(frame.span);
        let (file, line, column) = match place {
            Some((source, line, column)) => (Some(source.name.as_str()), Some(line), Some(column)),
            None => (None, None, None),
        };
        (frame.name.as_str(), file, line, column, frame.each_lanes.clone(), frame.task)
    };
    stack.iter().map(call).collect()
}
