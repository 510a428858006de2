//! Exported functions as Python callables.

use crate::attached::Attached;
use crate::bind::{self, Bindings};
use crate::containers;
use crate::execute::execute;
use crate::host;
use crate::map;
use crate::memmap;
use crate::module::{Compiled, Module};
use crate::pointer::{self, Pointer};
use crate::scalar;
use crate::signature;
use numpy::PyUntypedArray;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spmdvm::{Export, HostValue, Value};
use std::sync::Arc;

// Without a documentation comment of its own: it would hide the property `__doc__`, which describes the function at hand.
#[pyclass(frozen, module = "spmdvm", weakref)]
pub struct Function {
    pub compiled: Arc<Compiled>,
    pub name: String,
    /// Positions in the list of exports; several for overloads.
    overloads: Vec<usize>,
}

impl Function {
    /// The function of this name, if the module exports it.
    pub fn find(compiled: &Arc<Compiled>, name: &str) -> Option<Function> {
        let exports = compiled.module.exports();
        let overloads: Vec<_> = (0..exports.len()).filter(|&i| exports[i].name == name).collect();
        (!overloads.is_empty()).then(|| Function { compiled: Arc::clone(compiled), name: name.into(), overloads })
    }

    /// The exports of this name.
    pub fn exports(&self) -> impl Iterator<Item = &Export> {
        self.overloads.iter().map(|&i| &self.compiled.module.exports()[i])
    }
}

/// Returns whether the export has varying parameters or a varying result, so that it is called like a ufunc.
pub fn is_mapped(export: &Export) -> bool {
    let varying = |value: &HostValue| matches!(value, HostValue::Varying(_));
    export.params.iter().any(|p| varying(&p.value)) || export.result.as_ref().is_some_and(varying)
}

#[pymethods]
impl Function {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        slf: &Bound<'_, Self>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        if let Some(lazy) = containers::lazily(slf.as_any(), args, kwargs)? {
            return Ok(lazy.unbind());
        }
        let function = slf.get();
        let mapped = memmap::watch(&function.name, args, kwargs)?;
        let result = function.call(slf.py(), args, kwargs, Attached::default());
        mapped.check().and(result)
    }

    /// What notebooks show.
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("spmdvm._html")?.getattr("function")?.call1((slf,))
    }

    #[getter]
    fn __name__(&self) -> &str {
        &self.name
    }

    #[getter]
    fn __qualname__(&self) -> &str {
        &self.name
    }

    #[getter]
    fn __doc__(&self) -> String {
        self.exports().map(signature::document).collect::<Vec<_>>().join("\n\n")
    }

    #[getter]
    fn __signature__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let exports: Vec<&Export> = self.exports().collect();
        signature::signature(py, &exports)
    }

    fn __repr__(&self) -> String {
        let mut declarations: Vec<_> = self.exports().map(signature::declaration).collect();
        declarations.dedup();
        format!("<spmdvm function {}>", declarations.join("; "))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Module, &str))> {
        let getattr = py.import("builtins")?.getattr("getattr")?;
        Ok((getattr, (Module::of(Arc::clone(&self.compiled)), &self.name)))
    }
}

impl Function {
    /// Calls it; `attached` goes along.
    pub fn call(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
        mut attached: Attached,
    ) -> PyResult<Py<PyAny>> {
        let kwargs = attached.take_progress(self, kwargs)?;
        let kwargs = kwargs.as_ref();
        let exports: Vec<&Export> = self.exports().collect();
        match exports[..] {
            [export] if !is_mapped(export) => {
                let mut bound = bind::bind(export, args, kwargs)?;
                let (values, _) = bind::values(&self.compiled, export, &mut bound)?;
                self.run(py, export, values, &bound, attached)
            }
            _ if exports.iter().any(|e| is_mapped(e)) => map::call(py, self, args, kwargs, attached),
            _ => {
                let (export, values, bound) = choose(&self.compiled, &exports, args, kwargs)?;
                self.run(py, export, values, &bound, attached)
            }
        }
    }

    fn run(
        &self,
        py: Python<'_>,
        export: &Export,
        values: Vec<Value<'static>>,
        bound: &Bindings<'_>,
        mut attached: Attached,
    ) -> PyResult<Py<PyAny>> {
        let lending = host::lend(&self.compiled.module, bound.iter().flatten());
        let module = &self.compiled.module;
        let result = match attached.stepper.take() {
            Some(stepper) => stepper.call(py, module, export, values),
            None => execute(py, module, attached, move |context| context.run().call_export(export, &values)),
        };
        lending.end(bound.iter().flatten());
        let result = result?;
        match (result, &export.result) {
            (None, _) => Ok(py.None()),
            (Some(Value::Scalar { ty, bits }), _) => scalar::to_python(py, ty, bits),
            (Some(Value::Record(bytes)), Some(HostValue::Array { elem, .. })) => {
                Ok(pointer::record(py, elem, &bytes)?.unbind())
            }
            (Some(Value::Pointer(result)), Some(HostValue::Array { elem, .. })) => {
                let argument = result.argument().and_then(|(index, offset)| {
                    let given = bound.get(index)?.as_ref()?.cast::<PyUntypedArray>().ok()?;
                    Some((given, offset))
                });
                Pointer::of_result(py, &self.compiled, result.address(), elem, argument)
            }
            _ => Err(PyTypeError::new_err(format!("{}() gave a result that has no Python form", self.name))),
        }
    }
}

/// The overload whose parameters are nearest to the arguments; among equals the first. Its values lead to memory of the
/// arguments.
fn choose<'e, 'py>(
    compiled: &Compiled,
    exports: &[&'e Export],
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<(&'e Export, Vec<Value<'static>>, Bindings<'py>)> {
    let mut best = None;
    let mut reasons = Vec::new();
    for &export in exports {
        let fit = bind::bind(export, args, kwargs).and_then(|mut bound| {
            let (values, distance) = bind::values(compiled, export, &mut bound)?;
            Ok((distance, (export, values, bound)))
        });
        match fit {
            Ok((distance, chosen)) if best.as_ref().is_none_or(|(least, _)| distance < *least) => {
                best = Some((distance, chosen));
            }
            Ok(_) => {}
            Err(error) => reasons.push((export, error)),
        }
    }
    best.map(|(_, chosen)| chosen).ok_or_else(|| no_overload(args.py(), reasons))
}

/// The error when no overload fits: why each of them does not.
pub fn no_overload(py: Python<'_>, mut reasons: Vec<(&Export, PyErr)>) -> PyErr {
    if reasons.len() == 1 {
        return reasons.remove(0).1;
    }
    let name = reasons.first().map_or("", |(export, _)| &export.name);
    let mut text = format!("no overload of {name}() takes these arguments");
    for (export, error) in &reasons {
        text += &format!("\n  {}: {}", signature::declaration(export), error.value(py));
    }
    PyTypeError::new_err(text)
}
