//! numpy arrays as memory of the program.

use crate::containers;
use crate::convert;
use crate::dtype;
use crate::scalar::{self, describe};
use numpy::npyffi::flags;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyFloat, PyInt, PyMemoryView, PyString};
use spmdvm::{Array, HostType};

/// What an array parameter asks for.
#[derive(Clone, Copy)]
pub struct Wanted<'e> {
    /// The element.
    pub elem: &'e HostType,
    /// Whether the program will write.
    pub writable: bool,
    /// Whether it is a reference to one element.
    pub reference: bool,
}

/// The array for an array parameter, and its memory: the one that was given, or one made of a list or another
/// container, if the program does not write to it.
pub fn adopt<'py>(
    value: &Bound<'py, PyAny>,
    wanted: Wanted<'_>,
    place: &dyn Fn() -> String,
) -> PyResult<(Bound<'py, PyUntypedArray>, Array<'static>)> {
    containers::refuse_device(value, place)?;
    if containers::is_foreign(value)? {
        let message = format!(
            "{} expects an array, but was given an object of the class `{}`, which may mean more than its numbers; \
             pass np.asarray(x) if they alone count",
            place(),
            value.get_type().name()?
        );
        return Err(PyTypeError::new_err(message));
    }
    if containers::has_masked(value)? {
        let message = format!(
            "{} was given an array with masked elements, which the program would not know of; pass x.filled(value), or \
             x.data if they do no harm",
            place()
        );
        return Err(PyTypeError::new_err(message));
    }
    let array = match value.cast::<PyUntypedArray>() {
        Ok(array) => array.clone(),
        Err(_) => from_other(value, wanted, place)?,
    };
    let memory = to_array(&array, value, wanted, place)?;
    Ok((array, memory))
}

/// How far an argument is from an array parameter: a list may rather be meant for a number.
pub fn distance(given: &Bound<'_, PyAny>) -> u32 {
    if given.is_instance_of::<PyUntypedArray>() { 0 } else { 50 }
}

/// An array of what a list or another container holds.
fn from_other<'py>(
    value: &Bound<'py, PyAny>,
    wanted: Wanted<'_>,
    place: &dyn Fn() -> String,
) -> PyResult<Bound<'py, PyUntypedArray>> {
    if wanted.reference && !wanted.writable && matches!(wanted.elem, HostType::Struct { .. }) {
        let py = value.py();
        let record = py.import("spmdvm._records")?.getattr("record")?;
        let (dtype, place) = (dtype::layout(py, wanted.elem)?, place());
        let expected = dtype::expected(wanted.elem);
        return Ok(record.call1((value, dtype, place, expected))?.cast_into::<PyUntypedArray>()?);
    }
    let is_container = convert::is_sequence(value) || is_array_like(value)?;
    let is_element = wanted.reference && is_number(value);
    if !(is_container || is_element && !(wanted.writable && containers::is_numpy_scalar(value))) {
        return Err(not_an_array(value, wanted, place));
    }
    if wanted.writable
        && let Some(memory) = containers::shared(value, &place())?
    {
        return Ok(memory);
    }
    if wanted.writable {
        return Err(written_elsewhere(value, wanted, place));
    }
    match dtype::uniform_leaf(wanted.elem) {
        Some(ty) if convert::is_sequence(value) => Ok(convert::numbers(value, ty, place)?.0),
        Some(ty) if is_element && matches!(wanted.elem, HostType::Scalar(_)) => {
            let number = scalar::to_python(value.py(), ty, scalar::to_bits(value, ty, place)?.0)?;
            let array = value.py().import("numpy")?.call_method1("array", (number, dtype::of(value.py(), ty)?))?;
            Ok(array.cast_into::<PyUntypedArray>()?)
        }
        None if convert::is_sequence(value) => Err(not_an_array(value, wanted, place)),
        _ => convert::as_array(value, place),
    }
}

/// Returns whether it gives its elements as an array, such as a pandas Series or a buffer.
fn is_array_like(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    if containers::is_numpy_scalar(value) {
        return Ok(false);
    }
    let shows = ["__array__", "__array_interface__", "__dlpack__"];
    Ok(shows.iter().try_fold(false, |any, name| Ok::<_, PyErr>(any || value.hasattr(*name)?))? || is_buffer(value))
}

/// Returns whether it is a buffer that numpy reads as an array: `bytearray`, `array.array`, arrays of ctypes, but not what holds
/// pointers of C. Bytes are rather a text.
fn is_buffer(value: &Bound<'_, PyAny>) -> bool {
    let as_array = || {
        let memory = PyMemoryView::from(value)?;
        value.py().import("numpy")?.call_method1("asarray", (memory,))
    };
    !value.is_instance_of::<PyBytes>() && as_array().is_ok()
}

fn is_number(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>() || containers::is_numpy_scalar(value)
}

/// What a program writes to a copy would be lost.
fn written_elsewhere(value: &Bound<'_, PyAny>, wanted: Wanted<'_>, place: &dyn Fn() -> String) -> PyErr {
    let message = format!(
        "{} is written by the program, which cannot write to {}; make an array, x = np.array(x, dtype={}), pass it, \
         and find the results there",
        place(),
        describe(value),
        dtype::expression(wanted.elem)
    );
    PyTypeError::new_err(message)
}

/// The memory of a numpy array, for the time of a call that keeps the array alive. `given` is the argument that it was made of,
/// and `place` names the parameter.
pub fn to_array(
    array: &Bound<'_, PyUntypedArray>,
    given: &Bound<'_, PyAny>,
    wanted: Wanted<'_>,
    place: &dyn Fn() -> String,
) -> PyResult<Array<'static>> {
    check_dtype(array, given, wanted, place)?;
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

/// Returns whether the array may be written to.
pub fn is_writable(array: &Bound<'_, PyUntypedArray>) -> bool {
    // SAFETY: the pointer is to a live array object.
    unsafe { (*array.as_array_ptr()).fields.flags & flags::NPY_ARRAY_WRITEABLE != 0 }
}

fn not_an_array(value: &Bound<'_, PyAny>, wanted: Wanted<'_>, place: &dyn Fn() -> String) -> PyErr {
    let dtype = dtype::expression(wanted.elem);
    let what = if wanted.reference { "an array of one element" } else { "a numpy array" };
    let is_text = value.is_instance_of::<PyString>() || value.is_instance_of::<PyBytes>();
    let has = |name: &str| value.hasattr(name).unwrap_or(false);
    let fix = match () {
        // An element of an array; it knows its dtype, but not whose memory it is.
        () if containers::is_numpy_scalar(value) => "; pass a[i:i+1] instead of a[i]".into(),
        () if is_number(value) => format!("; pass np.array([x], dtype={dtype})"),
        () if convert::is_sequence(value) => format!("; pass np.array(x, dtype={dtype})"),
        // A pointer of ctypes has elements without end.
        () if has("contents") && has("_type_") => {
            "; pass np.ctypeslib.as_array(x, (n,)), n being the number of elements".into()
        }
        () if !is_text && has("__iter__") => format!("; pass np.array(list(x), dtype={dtype})"),
        () => String::new(),
    };
    let message = format!(
        "{} expects {what} of {}, but was given {}{fix}",
        place(),
        dtype::expected(wanted.elem),
        describe(value)
    );
    PyTypeError::new_err(message)
}

fn check_dtype(
    array: &Bound<'_, PyUntypedArray>,
    argument: &Bound<'_, PyAny>,
    wanted: Wanted<'_>,
    place: &dyn Fn() -> String,
) -> PyResult<()> {
    let given = array.dtype();
    let Err(why) = dtype::check(wanted.elem, &given) else { return Ok(()) };
    let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
    let has_structs = dtype::expected(wanted.elem).starts_with("struct");
    let fix = match (wanted.elem, dtype::uniform_leaf(wanted.elem)) {
        (HostType::Byte, _) => String::new(),
        (elem, Some(ty)) if has_structs && !given.has_fields() => {
            let numbers: Vec<_> = dtype::inner_shape(elem, true).iter().map(u64::to_string).collect();
            let (spelled, numbers) = (dtype::spelled(ty), numbers.join(", "));
            format!("; create the array with that dtype, or pass one of np.{spelled} with shape (n, {numbers})")
        }
        _ if has_structs => "; create the array with that dtype, and fill its fields".into(),
        _ if !matches!(given.kind(), b'b' | b'i' | b'u' | b'f' | b'O') => String::new(),
        (elem, leaf) => {
            let dtype = leaf.map_or_else(|| dtype::expression(elem), |ty| format!("np.{}", dtype::spelled(ty)));
            format!("; convert it with x = {}", convert::cast(argument, &dtype))
        }
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
    let inner = dtype::inner_shape(wanted.elem, !array.dtype().has_fields());
    if size > 1 && !bytes.is_multiple_of(size) && (array.ndim() < 2 || inner.is_empty()) {
        let message = format!(
            "{} expects elements of {size} bytes each, but the array of shape {} has {bytes} bytes",
            place(),
            shape()
        );
        return Err(PyValueError::new_err(message));
    }
    let is_row_of_numbers = array.ndim() == 1 || inner.is_empty();
    let given: Vec<u64> = array.shape().iter().map(|&n| n as u64).collect();
    if !is_row_of_numbers && !given.ends_with(&inner) {
        let numbers: Vec<_> = inner.iter().map(u64::to_string).collect();
        let message = format!(
            "{} expects an array of shape (n, {numbers}), but was given one of shape {}; change its shape, or pass all \
             numbers in one row (x.ravel())",
            place(),
            shape(),
            numbers = numbers.join(", ")
        );
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}
