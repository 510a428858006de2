//! What the JIT did, as Python data.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use spmdvm::{LoopInfo, Module, Totals, VersionInfo};

/// Adds what is known of loops to the statistics of a module.
pub fn add_loops(module: &Module, stats: &Bound<'_, PyDict>) -> PyResult<()> {
    let (loops, executed) = stats.py().detach(|| (module.loops(), module.instructions()));
    let sum = Totals::of(&loops);
    stats.set_item("traces", sum.traces)?;
    stats.set_item("code_bytes", sum.code_bytes)?;
    stats.set_item("code_limit", module.options().jit.code_limit)?;
    stats.set_item("compile_seconds", sum.compile_time.as_secs_f64())?;
    stats.set_item("first_seconds", sum.first_time.as_secs_f64())?;
    stats.set_item("native_seconds", sum.run_time.as_secs_f64())?;
    stats.set_item("native_instructions", executed.native)?;
    stats.set_item("interpreted_instructions", executed.interpreted)?;
    stats.set_item("native_share", executed.native_share())?;
    let list = PyList::empty(stats.py());
    for info in &loops {
        list.append(loop_data(info, stats.py())?)?;
    }
    stats.set_item("loops", list)
}

fn loop_data<'py>(info: &LoopInfo, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let data = PyDict::new(py);
    data.set_item("file", &info.place.file)?;
    data.set_item("function", &info.place.function)?;
    data.set_item("line", info.place.line)?;
    data.set_item("begins", info.begins.name())?;
    data.set_item("aborted", info.aborted.as_ref().map(ToString::to_string))?;
    data.set_item("aborted_line", info.aborted_at.as_ref().and_then(|place| place.line))?;
    data.set_item("refused", info.refused.as_ref().map(ToString::to_string))?;
    data.set_item("recompiles", info.recompiles)?;
    let measured = PyList::empty(py);
    for found in &info.measured {
        for place in &found.places {
            let variant = PyDict::new(py);
            variant.set_item("variant", found.measured.variant.name())?;
            variant.set_item("function", &place.function)?;
            variant.set_item("line", place.line)?;
            variant.set_item("with", found.measured.with * 1e-9)?;
            variant.set_item("without", found.measured.without * 1e-9)?;
            variant.set_item("dropped", found.measured.dropped)?;
            measured.append(variant)?;
        }
    }
    data.set_item("measured", measured)?;
    data.set_item("looks", info.looks)?;
    data.set_item("look_seconds", info.look_time.as_secs_f64())?;
    let versions = PyList::empty(py);
    for version in &info.versions {
        versions.append(version_data(version, py)?)?;
    }
    data.set_item("versions", versions)?;
    Ok(data)
}

fn version_data<'py>(version: &VersionInfo, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
    let data = PyDict::new(py);
    let report = &version.report;
    data.set_item("seconds", report.time.as_secs_f64())?;
    data.set_item("first_seconds", report.first_time.as_secs_f64())?;
    data.set_item("baseline", report.is_baseline)?;
    data.set_item("native_seconds", report.run_time.as_secs_f64())?;
    data.set_item("code_bytes", report.code_bytes)?;
    data.set_item("entries", report.entries)?;
    let (exits, guards) = (PyDict::new(py), PyList::empty(py));
    for exit in &version.exits {
        let reason = exit.reason.to_string();
        let before = exits.get_item(&reason)?.map_or(Ok(0), |v| v.extract::<u64>())?;
        exits.set_item(&reason, before + exit.times)?;
        let guard = PyDict::new(py);
        guard.set_item("why", &reason)?;
        guard.set_item("function", &exit.place.function)?;
        guard.set_item("line", exit.place.line)?;
        guard.set_item("times", exit.times)?;
        guards.append(guard)?;
    }
    data.set_item("exits", exits)?;
    data.set_item("guards", guards)?;
    let variants = PyList::empty(py);
    for info in &version.variants {
        let variant = PyDict::new(py);
        variant.set_item("variant", info.variant.name())?;
        variant.set_item("function", &info.place.function)?;
        variant.set_item("line", info.place.line)?;
        variant.set_item("hit", info.hit)?;
        variant.set_item("missed", info.missed)?;
        variants.append(variant)?;
    }
    data.set_item("variants", variants)?;
    Ok(data)
}
