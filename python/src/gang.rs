//! Varying arguments and results of functions of the host: arrays of the active lanes' values, or numbers, lane after lane.

use crate::convert;
use crate::dtype;
use crate::options::show;
use crate::scalar;
use numpy::{PyArray1, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spmdvm::{HostCall, Ty, Value};

/// Have a function of the host called once for each active lane, with numbers.
///
/// `host={"gamma": spmdvm.per_lane(math.gamma)}` provides a function of varying parameters (`extern "C" double gamma(double x);`)
/// that is called for each active lane, the lowest first, and gives that lane's result. Without `per_lane` it would be called once
/// for the gang, with arrays of the active lanes' values. It also decorates functions, which stay callable as they are.
#[pyclass(frozen, name = "per_lane", module = "spmdvm")]
pub struct PerLane {
    /// The function.
    #[pyo3(get, name = "__wrapped__")]
    pub function: Py<PyAny>,
}

#[pymethods]
impl PerLane {
    #[new]
    #[pyo3(signature = (function, /), text_signature = "(function, /)")]
    fn new(function: Bound<'_, PyAny>) -> PyResult<PerLane> {
        if !function.is_callable() {
            return Err(PyTypeError::new_err(format!(
                "per_lane: function must be a callable, not {}",
                show(&function)
            )));
        }
        Ok(PerLane { function: function.unbind() })
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        self.function.call(py, args, kwargs)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("spmdvm.per_lane({})", self.function.bind(py).repr()?))
    }
}

/// A varying argument: the number of the lane for which the function is called, or an array of those of all active lanes.
pub fn argument<'py>(py: Python<'py>, call: &HostCall<'_>, i: usize, ty: Ty) -> PyResult<Bound<'py, PyAny>> {
    if call.lane().is_some() {
        return Ok(scalar::to_python(py, ty, call.word(i))?.into_bound(py));
    }
    let size = ty.size();
    let mut bytes = Vec::with_capacity(call.mask().count_ones() as usize * size);
    for word in call.words(i) {
        let word = word.to_ne_bytes();
        let low = if cfg!(target_endian = "big") { 8 - size } else { 0 };
        bytes.extend_from_slice(&word[low..low + size]);
    }
    PyArray1::from_vec(py, bytes).call_method1("view", (dtype::of(py, ty)?,))
}

/// A varying result: a number, for the lane or for all, or numbers for all active lanes. They must fit as those of an argument do.
pub fn result(call: &HostCall<'_>, given: &Bound<'_, PyAny>, ty: Ty) -> PyResult<Value<'static>> {
    let place = || format!("the result of the host's `{}`", call.name());
    let array = match numbers_of(call, given, &place)? {
        None => return Ok(Value::scalar(ty, scalar::to_bits(given, ty, &place)?.0)),
        Some(array) => array,
    };
    let n = call.mask().count_ones() as usize;
    if array.shape() != [n] {
        let shape = scalar::shape_text(array.shape());
        let message = format!(
            "{} must be a number, or an array of shape ({n},), as {n} lanes are active; it has shape {shape}",
            place()
        );
        return Err(PyValueError::new_err(message));
    }
    let array = convert::numbers(array.as_any(), ty, &place)?.0;
    let bytes: Vec<u8> = array.call_method0("tobytes")?.extract()?;
    let word = |lane: &[u8]| {
        let mut word = [0; 8];
        let low = if cfg!(target_endian = "big") { 8 - lane.len() } else { 0 };
        word[low..low + lane.len()].copy_from_slice(lane);
        u64::from_ne_bytes(word)
    };
    Ok(Value::Lanes { ty, words: bytes.chunks_exact(ty.size()).map(word).collect() })
}

/// A result as an array; `None` for one number.
fn numbers_of<'py>(
    call: &HostCall<'_>,
    given: &Bound<'py, PyAny>,
    place: &dyn Fn() -> String,
) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if call.lane().is_some() || given.is_none() {
        return Ok(None);
    }
    let array = match convert::is_sequence(given) {
        true => given.py().import("numpy")?.call_method1("asarray", (given,))?.cast_into::<PyUntypedArray>()?,
        false if given.hasattr("__len__")? && given.hasattr("dtype")? => convert::as_array(given, place)?,
        false => return Ok(None),
    };
    // What has no length has one number.
    Ok(Some(array).filter(|array| array.ndim() > 0))
}
