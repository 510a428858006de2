//! Where the results of a call over arrays go.

use super::operands::{Kept, Operand};
use super::{Extras, overlap};
use crate::array;
use crate::dtype;
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use spmdvm::{Export, Ty};

/// Where results go.
pub struct Target<'py> {
    /// What the program writes: `out`, a new array, or a stand-in for an `out` that shares memory with what it reads.
    pub memory: Bound<'py, PyUntypedArray>,
    pub ty: Ty,
    is_stand_in: bool,
}

impl<'py> Target<'py> {
    /// The target for results of type `ty`. The mask is copied if it must outlast `out`.
    pub fn new(
        py: Python<'py>,
        (export, extras, supplied): (&Export, &Extras<'py>, &[(overlap::Span, bool)]),
        shape: &[usize],
        ty: Ty,
        kept: &mut Kept<'py>,
        inputs: &[Operand],
        mask: Option<&mut Operand>,
    ) -> PyResult<Target<'py>> {
        let Some(out) = &extras.out else {
            return Ok(Target { memory: new_array(py, shape, ty, mask.is_some())?, ty, is_stand_in: false });
        };
        check_out(export, out, ty)?;
        if !overlap::must_wait(out, ty, inputs.iter().chain(mask.as_deref()), supplied) {
            return Ok(Target { memory: out.clone(), ty, is_stand_in: false });
        }
        if let Some(mask) = mask.filter(|mask| overlap::touches(mask, out, ty)) {
            kept.copy(py, mask)?;
        }
        Ok(Target { memory: new_array(py, shape, ty, true)?, ty, is_stand_in: true })
    }

    /// The result of the call, where `mask` is true.
    pub fn finish(
        self,
        py: Python<'py>,
        is_scalar: bool,
        out: Option<Bound<'py, PyUntypedArray>>,
        mask: Option<&Bound<'py, PyUntypedArray>>,
    ) -> PyResult<Py<PyAny>> {
        let Some(out) = out else {
            return Ok(if is_scalar {
                self.memory.call_method0("item")?.unbind()
            } else {
                self.memory.into_any().unbind()
            });
        };
        if self.is_stand_in {
            let options = PyDict::new(py);
            if let Some(mask) = mask {
                options.set_item("where", mask)?;
            }
            py.import("numpy")?.call_method("copyto", (&out, &self.memory), Some(&options))?;
        }
        Ok(out.into_any().unbind())
    }
}

fn new_array<'py>(py: Python<'py>, shape: &[usize], ty: Ty, zeroed: bool) -> PyResult<Bound<'py, PyUntypedArray>> {
    static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    static ZEROS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let (cell, make) = if zeroed { (&ZEROS, "zeros") } else { (&EMPTY, "empty") };
    let shape = PyTuple::new(py, shape)?;
    Ok(cell.import(py, "numpy", make)?.call1((shape, dtype::of(py, ty)?))?.cast_into()?)
}

fn check_out(export: &Export, out: &Bound<'_, PyUntypedArray>, ty: Ty) -> PyResult<()> {
    let given: Bound<'_, PyArrayDescr> = out.dtype();
    if dtype::element(&given) != Some(ty) {
        let (name, wanted) = (&export.name, dtype::name(ty));
        let message = format!("{name}(): `out` must be an array of {wanted}, but was given an array of {given}");
        return Err(PyTypeError::new_err(message));
    }
    if !array::is_writable(out) {
        return Err(PyValueError::new_err(format!("{}(): `out` is read-only; pass a writable array", export.name)));
    }
    Ok(())
}
