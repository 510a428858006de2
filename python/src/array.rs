//! numpy arrays as memory of the program.

use crate::dtype;
use crate::scalar::describe;
use numpy::npyffi::flags;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use spmdvm::{Array, HostType};

/// What an array parameter asks for.
#[derive(Clone, Copy)]
pub struct Wanted<'e> {
    /// The element.
    pub elem: &'e HostType,
    /// Will the program write?
    pub writable: bool,
    /// Is it a reference to one element?
    pub reference: bool,
}

/// The memory of a numpy array, for the time of a call that keeps the array alive. `place` names the parameter.
pub fn to_array(value: &Bound<'_, PyAny>, wanted: Wanted<'_>, place: &dyn Fn() -> String) -> PyResult<Array<'static>> {
    let Ok(array) = value.cast::<PyUntypedArray>() else {
        return Err(not_an_array(value, wanted, place));
    };
    check_dtype(array, wanted, place)?;
    if !array.is_c_contiguous() {
        let message = format!(
            "{} must be C-contiguous, but the array of shape {} has strides {:?}; pass a contiguous copy \
             (np.ascontiguousarray(x)){}",
            place(),
            crate::scalar::shape_text(array.shape()),
            array.strides(),
            if wanted.writable { ", and copy the result back" } else { "" }
        );
        return Err(PyValueError::new_err(message));
    }
    if wanted.writable && !is_writable(array) {
        let message = format!(
            "{} is written by the program, but the array is read-only; pass a writable array (x.copy()), or declare the \
             parameter `const`",
            place()
        );
        return Err(PyValueError::new_err(message));
    }
    let bytes = array.len() * array.dtype().itemsize();
    check_size(bytes, array, wanted, place)?;
    let start = data(array);
    // SAFETY: numpy owns `bytes` bytes from `start` (the array is contiguous); the caller keeps the array alive while the
    // call lasts, and it is writable if that is asked for.
    Ok(unsafe { Array::from_raw(start, bytes, None, wanted.writable) })
}

/// The first element.
pub fn data(array: &Bound<'_, PyUntypedArray>) -> *mut u8 {
    // SAFETY: the pointer is to a live array object.
    unsafe { (*array.as_array_ptr()).fields.data.cast() }
}

/// May the array be written to?
pub fn is_writable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: the pointer is to a live array object.
    unsafe { (*array.as_array_ptr()).fields.flags & flags::NPY_ARRAY_WRITEABLE != 0 }
}

fn not_an_array(value: &Bound<'_, PyAny>, wanted: Wanted<'_>, place: &dyn Fn() -> String) -> PyErr {
    let dtype = dtype::expression(wanted.elem);
    let what = if wanted.reference { "an array of one element" } else { "a numpy array" };
    // An element of a structured array; it knows its dtype, but not whose memory it is.
    let is_element = value.getattr("dtype").is_ok();
    let fix = if is_element { "a[i:i+1] instead of a[i]".into() } else { format!("np.asarray(x, dtype={dtype})") };
    let message = format!(
        "{} expects {what} of {}, but was given {}; pass {fix}",
        place(),
        dtype::expected(wanted.elem),
        describe(value)
    );
    PyTypeError::new_err(message)
}

fn check_dtype(array: &Bound<'_, PyUntypedArray>, wanted: Wanted<'_>, place: &dyn Fn() -> String) -> PyResult<()> {
    let given = array.dtype();
    let Err(why) = dtype::check(wanted.elem, &given) else { return Ok(()) };
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    let fix = match wanted.elem {
        HostType::Byte => String::new(),
        HostType::Struct { .. } if given.has_fields() => "; create the array with that dtype".into(),
        elem => format!("; convert it with x.astype({})", dtype::expression(elem)),
    };
    let expected = dtype::expected(wanted.elem);
    let message = format!("{} expects an array of {expected}, but was given an array of {given}{why}{fix}", place());
    Err(PyTypeError::new_err(message))
}

/// A reference needs one element; elements of several numbers need whole numbers of them.
fn check_size(
    bytes: usize,
    array: &Bound<'_, PyUntypedArray>,
    wanted: Wanted<'_>,
    place: &dyn Fn() -> String,
) -> PyResult<()> {
    let size = wanted.elem.size() as usize;
    let shape = || crate::scalar::shape_text(array.shape());
    if wanted.reference && bytes != size {
        let message = format!("{} is a reference to one element, but was given an array of shape {}", place(), shape());
        return Err(PyValueError::new_err(message));
    }
    if size > 1 && !bytes.is_multiple_of(size) {
        let message = format!(
            "{} expects elements of {size} bytes each, but the array of shape {} has {bytes} bytes",
            place(),
            shape()
        );
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}
