//! Arguments for varying parameters: numbers, arrays, and what can become an array without loss.

use crate::containers::{self, is_numpy_scalar};
use crate::dtype;
use crate::scalar::{self, describe};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyList, PyRange, PyTuple};
use spmdvm::Ty;

/// A converted argument, and how far it was from the parameter's type.
pub type Converted<'py> = (Bound<'py, PyAny>, u32);

/// An argument of a varying parameter as a number or an array; the array may still have to be cast, which is safe then.
pub fn elements<'py>(given: &Bound<'py, PyAny>, ty: Ty, place: &dyn Fn() -> String) -> PyResult<Converted<'py>> {
    if is_weak(given) {
        return Ok((given.clone(), scalar::to_bits(given, ty, place)?.1));
    }
    if is_sequence(given) {
        let (array, distance) = numbers(given, ty, place)?;
        return Ok((array.into_any(), distance));
    }
    let array = as_array(given, place)?;
    if array.ndim() == 0 && !is_numpy_scalar(given) && !given.is_instance_of::<PyUntypedArray>() {
        // No array, but perhaps an object that says which number it is.
        return Ok((given.clone(), scalar::to_bits(given, ty, place)?.1));
    }
    if array.ndim() == 0 {
        return Ok((array.clone().into_any(), scalar_distance(&array, ty, place)?));
    }
    let distance = cast_distance(given, &array, ty, place)?;
    Ok((array.into_any(), distance))
}

/// Any object as an array without a class of its own.
pub fn as_array<'py>(value: &Bound<'py, PyAny>, place: &dyn Fn() -> String) -> PyResult<Bound<'py, PyUntypedArray>> {
    if value.is_exact_instance_of::<PyUntypedArray>() {
        return Ok(value.cast::<PyUntypedArray>()?.clone());
    }
    containers::as_array(value, &place())
}

/// Returns whether it is a list, tuple or range, whose numbers take the type that is asked for.
pub fn is_sequence(value: &Bound<'_, PyAny>) -> bool {
    value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyRange>()
}

/// Returns whether it is a plain Python number, which takes the type that the other arguments ask for.
fn is_weak(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyFloat>() || value.is_instance_of::<PyBool>()
}

/// 0 for the same type; more for one that numpy casts to safely.
fn cast_distance(
    given: &Bound<'_, PyAny>,
    array: &Bound<'_, PyUntypedArray>,
    ty: Ty,
    place: &dyn Fn() -> String,
) -> PyResult<u32> {
    if let Some(distance) = safe_distance(array, ty)? {
        return Ok(distance);
    }
    let (from, wanted, spelled) = (array.dtype(), dtype::name(ty), dtype::spelled(ty));
    let what = match from.num() {
        _ if given.is_instance_of::<PyUntypedArray>() => format!("an array of {from}"),
        _ => format!("{} of {}", describe(given), given.getattr("dtype").map_or(from.to_string(), |d| d.to_string())),
    };
    let why = if from.has_object() { "holds Python objects" } else { "does not cast to it safely" };
    let fix = match from.kind() {
        b'b' | b'i' | b'u' | b'f' | b'O' => format!("; convert it with {}", cast(given, &format!("np.{spelled}"))),
        b'c' => "; take x.real or x.imag".into(),
        _ => String::new(),
    };
    Err(PyTypeError::new_err(format!("{} expects {wanted}, but was given {what}, which {why}{fix}", place())))
}

/// The expression that converts an argument `x`, for messages: tensors and Series of polars have no `astype`, which keeps
/// what objects of pandas carry.
pub fn cast(given: &Bound<'_, PyAny>, dtype: &str) -> String {
    let has_astype = given.hasattr("astype").unwrap_or(false);
    if has_astype { format!("x.astype({dtype})") } else { format!("np.asarray(x, {dtype})") }
}

/// The distance from the array's dtype, if numpy casts from it safely.
fn safe_distance(array: &Bound<'_, PyUntypedArray>, ty: Ty) -> PyResult<Option<u32>> {
    let given = array.dtype();
    if dtype::element(&given) == Some(ty) {
        return Ok(Some(0));
    }
    let py = array.py();
    let safe = py.import("numpy")?.call_method1("can_cast", (&given, dtype::of(py, ty)?, "safe"))?.is_truthy()?;
    Ok(safe.then(|| 100 + ty.size() as u32 + if ty.is_float() { 10 } else { 0 }))
}

/// As [`cast_distance`] for a scalar that knows its type: it may also become what holds its value exactly.
fn scalar_distance(array: &Bound<'_, PyUntypedArray>, ty: Ty, place: &dyn Fn() -> String) -> PyResult<u32> {
    if let Some(distance) = safe_distance(array, ty)? {
        return Ok(distance);
    }
    let item = array.call_method0("item")?;
    let bits = scalar::to_bits(&item, ty, place)?.0;
    let back = scalar::to_python(array.py(), ty, bits)?;
    let is_nan = item.ne(&item)?;
    if is_nan || item.eq(back)? {
        return Ok(300);
    }
    let wanted = dtype::name(ty);
    let message = format!(
        "{} expects {wanted}, which cannot hold the {} {} exactly; pass float(x) to have it rounded",
        place(),
        array.dtype(),
        item.repr()?
    );
    Err(PyTypeError::new_err(message))
}

/// The numbers of a list, or lists of lists, as an array. Each must fit as a number alone would have to.
pub fn numbers<'py>(
    list: &Bound<'py, PyAny>,
    ty: Ty,
    place: &dyn Fn() -> String,
) -> PyResult<(Bound<'py, PyUntypedArray>, u32)> {
    let py = list.py();
    let uneven = |_| PyValueError::new_err(format!("{}: the list has no shape; its rows differ in length", place()));
    let array = py.import("numpy")?.call_method1("asarray", (list,)).map_err(uneven)?.cast_into::<PyUntypedArray>()?;
    let given = array.dtype();
    let distance = match given.kind() {
        _ if array.len() == 0 => 0,
        b'b' if ty == Ty::Bool => 0,
        b'b' => 40,
        b'i' | b'u' if ty.is_float() => 20,
        b'i' | b'u' if ty != Ty::Bool => {
            for extreme in ["min", "max"] {
                scalar::to_bits(&array.call_method0(extreme)?.call_method0("item")?, ty, place)?;
            }
            u32::from(ty != Ty::I32)
        }
        b'f' if ty.is_float() => 8 - ty.size() as u32,
        kind => return Err(wrong_numbers(kind_of_elements(kind, &given.to_string()), ty, place)),
    };
    let numpy = py.import("numpy")?;
    let cast = silently(py, || array.call_method1("astype", (dtype::of(py, ty)?,)))?;
    let finite = |a: &Bound<'py, PyAny>| numpy.call_method1("isfinite", (a,))?.call_method0("all")?.is_truthy();
    if given.kind() == b'f' && !finite(&cast)? && finite(array.as_any())? {
        return Err(PyOverflowError::new_err(format!("{}: a number is too large for {}", place(), dtype::name(ty))));
    }
    Ok((cast.cast_into::<PyUntypedArray>()?, distance))
}

/// Without numpy's warnings about overflow, which is looked for.
fn silently<'py>(py: Python<'py>, work: impl FnOnce() -> PyResult<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    let options = pyo3::types::PyDict::new(py);
    options.set_item("over", "ignore")?;
    let state = py.import("numpy")?.call_method("errstate", (), Some(&options))?;
    state.call_method0("__enter__")?;
    let result = work();
    state.call_method1("__exit__", (py.None(), py.None(), py.None()))?;
    result
}

/// What a list holds of which numpy makes an array of such a dtype.
pub fn kind_of_elements(kind: u8, dtype: &str) -> &str {
    match kind {
        b'f' => "floats",
        b'c' => "complex numbers",
        b'i' | b'u' => "integers",
        b'U' | b'S' => "text",
        b'O' => "what is no number of at most 64 bits",
        _ => dtype,
    }
}

fn wrong_numbers(what: &str, ty: Ty, place: &dyn Fn() -> String) -> PyErr {
    let wanted = if ty == Ty::Bool {
        "bools"
    } else if ty.is_float() {
        "numbers"
    } else {
        "integers"
    };
    PyTypeError::new_err(format!("{} expects {wanted} ({}), but the list holds {what}", place(), dtype::name(ty)))
}
