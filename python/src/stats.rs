//! What the JIT did, as Python data.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use spmdvm::Module;
use spmdvm::jit::engine::{LoopReport, VersionReport};

/// Adds what is known of loops to the statistics of a module.
pub fn add_loops(module: &Module, stats: &Bound<'_, PyDict>) -> PyResult<()> {
    let loops = module.jit().map(|jit| jit.report()).unwrap_or_default();
    let versions = || loops.iter().flat_map(|l| &l.versions);
    stats.set_item("traces", versions().count())?;
    stats.set_item("code_bytes", versions().map(|v| v.code_bytes).sum::<usize>())?;
    stats.set_item("compile_seconds", versions().map(|v| v.time.as_secs_f64()).sum::<f64>())?;
    let list = PyList::empty(stats.py());
    for report in &loops {
        list.append(loop_data(module, report, stats.py())?)?;
    }
    stats.set_item("loops", list)
}

fn loop_data<'py>(module: &Module, report: &LoopReport, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let program = module.program();
    let function = &program.functions[report.at.0.0 as usize];
    let span = function.spans.get(report.at.1 as usize).copied().unwrap_or_default();
    let data = PyDict::new(py);
    data.set_item("function", &function.name)?;
    data.set_item("line", program.line_col(span).map(|(_, line, _)| line))?;
    data.set_item("aborted", report.aborted.as_ref().map(ToString::to_string))?;
    let versions = PyList::empty(py);
    for version in &report.versions {
        versions.append(version_data(version, py)?)?;
    }
    data.set_item("versions", versions)?;
    Ok(data)
}

fn version_data<'py>(version: &VersionReport, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let data = PyDict::new(py);
    data.set_item("seconds", version.time.as_secs_f64())?;
    data.set_item("code_bytes", version.code_bytes)?;
    data.set_item("entries", version.entries)?;
    let exits = PyDict::new(py);
    for &(exit, n) in version.exits.iter().filter(|(_, n)| *n != 0) {
        let why = version.region.exits[exit.index()].why;
        let before = exits.get_item(why)?.map_or(Ok(0), |v| v.extract::<u64>())?;
        exits.set_item(why, before + n)?;
    }
    data.set_item("exits", exits)?;
    Ok(data)
}
