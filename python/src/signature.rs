//! What functions say about themselves: declaration, documentation, `inspect.signature`.

use crate::dtype;
use crate::function::is_mapped;
use crate::scalar::to_python;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use spmdvm::{Export, ExportParam, HostValue};

/// The declaration in one line.
pub fn declaration(export: &Export) -> String {
    export.declaration.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of `__doc__`.
pub fn document(export: &Export) -> String {
    let mut text = declaration(export);
    if !export.doc.is_empty() {
        text += &format!("\n\n{}", export.doc.trim_end());
    }
    let mapped = is_mapped(export);
    if !export.params.is_empty() || mapped {
        text += "\n\nParameters\n----------";
    }
    for (i, param) in export.params.iter().enumerate() {
        text += &format!("\n{} : {}", crate::bind::label(param, i), describe(&param.value));
        if let Some(default) = default_text(param) {
            text += &format!(", default {default}");
        }
    }
    if mapped {
        text += "\nout : array for the result, of the shape that the arguments broadcast to, optional\
                 \nwhere : array of bool, optional: where to compute; elsewhere `out` keeps its values\
                 \nthreads : int, default 1: over how many threads to split the work; 0: all cores\
                 \nprogress : True (a bar on standard error), or a function f(done, total) of elements";
    }
    if let Some(result) = &export.result {
        text += &format!("\n\nReturns\n-------\n{}", describe(result));
    }
    text + "\n\nRaises\n------\nTypeError, ValueError, OverflowError : an argument does not fit\
            \nTrap : the program failed (see the subclasses of `spmdvm.Trap`)"
}

fn describe(value: &HostValue) -> String {
    match value {
        HostValue::Uniform(ty) => format!("{}, a number", dtype::name(*ty)),
        HostValue::Varying(ty) => format!("{}, a number or an array of any shape", dtype::name(*ty)),
        HostValue::Array { elem, writable, reference } => {
            let shape = if *reference { "array of one element" } else { "C-contiguous array" };
            let access = if *writable { "read and written" } else { "only read" };
            format!("{shape} of {}; {access}", dtype::expected(elem))
        }
    }
}

fn default_text(param: &ExportParam) -> Option<String> {
    let bits = param.default?;
    let (HostValue::Uniform(ty) | HostValue::Varying(ty)) = param.value else { return None };
    Python::attach(|py| Some(to_python(py, ty, bits).ok()?.bind(py).repr().ok()?.to_string()))
}

/// An `inspect.Signature`.
pub fn signature<'py>(py: Python<'py>, exports: &[&Export]) -> PyResult<Bound<'py, PyAny>> {
    let inspect = py.import("inspect")?;
    let class = inspect.getattr("Parameter")?;
    let mut list = Vec::new();
    if let [export] = exports {
        let (names, can_be_keywords) = python_names(py, export)?;
        let kind = class.getattr(if can_be_keywords { "POSITIONAL_OR_KEYWORD" } else { "POSITIONAL_ONLY" })?;
        // Python has no parameters without default behind one that has it.
        let first_default = export.params.iter().rposition(|p| p.default.is_none()).map_or(0, |i| i + 1);
        for (i, (param, name)) in export.params.iter().zip(names).enumerate() {
            let options = PyDict::new(py);
            options.set_item("annotation", annotation(&param.value))?;
            if let (Some(bits), HostValue::Uniform(ty) | HostValue::Varying(ty)) = (param.default, &param.value)
                && i >= first_default
            {
                options.set_item("default", to_python(py, *ty, bits)?)?;
            }
            list.push(class.call((name, &kind), Some(&options))?);
        }
    } else {
        list.push(class.call1(("args", class.getattr("VAR_POSITIONAL")?))?);
    }
    if exports.iter().any(|e| is_mapped(e)) {
        let is_parameter = |name: &str| exports.iter().any(|e| e.params.iter().any(|p| p.name == name));
        list.extend(ufunc_parameters(py, &class, is_parameter)?);
    }
    let options = PyDict::new(py);
    if let [Export { result: Some(result), .. }] = exports {
        options.set_item("return_annotation", annotation(result))?;
    }
    inspect.getattr("Signature")?.call((list,), Some(&options))
}

/// The keyword-only parameters of functions that are called like ufuncs; a parameter of the function's own comes first.
fn ufunc_parameters<'py>(
    py: Python<'py>,
    class: &Bound<'py, PyAny>,
    is_parameter: impl Fn(&str) -> bool,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let kind = class.getattr("KEYWORD_ONLY")?;
    let one = 1_i32.into_pyobject(py)?.into_any().unbind();
    let off = PyBool::new(py, false).to_owned().into_any().unbind();
    let all = [("out", py.None()), ("where", py.None()), ("threads", one), ("progress", off)];
    let parameter = |(name, default): (&str, Py<PyAny>)| {
        let options = PyDict::new(py);
        options.set_item("default", default)?;
        class.call((name, &kind), Some(&options))
    };
    all.into_iter().filter(|(name, _)| !is_parameter(name)).map(parameter).collect()
}

/// Names for the parameters that Python takes, each once, and whether they are the parameters' own.
fn python_names(py: Python<'_>, export: &Export) -> PyResult<(Vec<String>, bool)> {
    let is_keyword = py.import("keyword")?.getattr("iskeyword")?;
    let mut names: Vec<String> = Vec::new();
    let mut are_own = true;
    for (i, param) in export.params.iter().enumerate() {
        let mut name = if param.name.is_empty() { format!("arg{i}") } else { param.name.clone() };
        while names.contains(&name) || is_keyword.call1((&name,))?.is_truthy()? {
            name.push('_');
        }
        are_own &= name == param.name;
        names.push(name);
    }
    Ok((names, are_own))
}

fn annotation(value: &HostValue) -> String {
    match value {
        HostValue::Uniform(ty) => dtype::name(*ty).into(),
        HostValue::Varying(ty) => format!("{} | ndarray[{0}]", dtype::name(*ty)),
        HostValue::Array { elem, .. } => format!("ndarray[{}]", dtype::expression(elem)),
    }
}
