//! Python numbers as scalars of the program, and back.

use crate::dtype;
use half::f16;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt};
use spmdvm::Ty;

/// Bits of a scalar, and how far the given number was from the parameter's type (0: the same), to choose overloads.
pub type Converted = (u64, u32);

/// The bits of `value` as a `ty`. `place` names the parameter in messages.
pub fn to_bits(value: &Bound<'_, PyAny>, ty: Ty, place: &dyn Fn() -> String) -> PyResult<Converted> {
    if value.is_instance_of::<PyBool>() {
        return from_bool(value.is_truthy()?, ty, place);
    }
    if value.is_instance_of::<PyFloat>() {
        let distance = if ty == Ty::F64 { 0 } else { 8 - ty.size() as u32 };
        return Ok((from_f64(value.extract()?, ty, place)?, distance));
    }
    if value.is_instance_of::<PyInt>() {
        let distance = if ty.is_float() { 20 } else { u32::from(ty != Ty::I32) };
        return Ok((from_int(value, ty, place)?, distance));
    }
    from_other(value, ty, place)
}

/// numpy scalars, 0-d arrays, and objects that say which number they are.
fn from_other(value: &Bound<'_, PyAny>, ty: Ty, place: &dyn Fn() -> String) -> PyResult<Converted> {
    if let Ok(array) = value.cast::<PyUntypedArray>()
        && array.ndim() > 0
    {
        let message =
            format!("{} expects a scalar of type {}, but was given {}", place(), dtype::name(ty), describe(value));
        return Err(PyTypeError::new_err(message));
    }
    if let Ok(given) = value.getattr("dtype") {
        let item = value.call_method0("item")?;
        let plain = item.is_instance_of::<PyInt>() || item.is_instance_of::<PyFloat>();
        if plain {
            let (bits, _) = to_bits(&item, ty, place)?;
            let same = given.cast::<numpy::PyArrayDescr>().ok().and_then(dtype::element) == Some(ty);
            return Ok((bits, if same { 0 } else { 10 }));
        }
    } else if ty.is_float()
        && let Ok(number) = value.call_method0("__float__").and_then(|x| x.extract::<f64>())
    {
        return Ok((from_f64(number, ty, place)?, 30));
    } else if let Ok(index) = value.call_method0("__index__") {
        return Ok((from_int(&index, ty, place)?, 30));
    }
    Err(wrong_type(value, ty, place))
}

fn from_bool(value: bool, ty: Ty, place: &dyn Fn() -> String) -> PyResult<Converted> {
    match ty {
        Ty::Bool => Ok((value.into(), 0)),
        ty => Ok((from_f64_or_int(f64::from(u8::from(value)), ty, place)?, 40)),
    }
}

fn from_f64_or_int(value: f64, ty: Ty, place: &dyn Fn() -> String) -> PyResult<u64> {
    if ty.is_float() { from_f64(value, ty, place) } else { Ok(value as u64) }
}

fn from_f64(value: f64, ty: Ty, place: &dyn Fn() -> String) -> PyResult<u64> {
    let (bits, finite) = match ty {
        Ty::F64 => (value.to_bits(), true),
        Ty::F32 => ((value as f32).to_bits().into(), (value as f32).is_finite()),
        Ty::F16 => (f16::from_f64(value).to_bits().into(), f16::from_f64(value).is_finite()),
        _ => {
            let message = format!(
                "{} expects {}, but was given the float {value}; convert it with int(), round() or a comparison",
                place(),
                article(ty)
            );
            return Err(PyTypeError::new_err(message));
        }
    };
    if value.is_finite() && !finite {
        return Err(PyOverflowError::new_err(format!("{}: {value:e} is too large for {}", place(), dtype::name(ty))));
    }
    Ok(bits)
}

fn from_int(value: &Bound<'_, PyAny>, ty: Ty, place: &dyn Fn() -> String) -> PyResult<u64> {
    if ty.is_float() {
        let too_large =
            || PyOverflowError::new_err(format!("{}: the int is too large for {}", place(), dtype::name(ty)));
        return from_f64(value.extract().map_err(|_| too_large())?, ty, place);
    }
    if ty == Ty::Bool {
        let message = format!("{} expects a bool, but was given an int; use bool(x)", place());
        return Err(PyTypeError::new_err(message));
    }
    let (low, high) = range(ty);
    let fits = |n: i128| (low..=high).contains(&n).then_some(n as u64);
    let word = match value.extract::<i64>() {
        Ok(n) => fits(n.into()),
        Err(_) => value.extract::<u64>().ok().and_then(|n| fits(n.into())),
    };
    word.map(|word| word & (u64::MAX >> (64 - 8 * ty.size()))).ok_or_else(|| {
        let shown = value.str().map_or_else(|_| "the int".into(), |s| s.to_string());
        let shown = if shown.len() > 40 { "the int".into() } else { shown };
        let message = format!("{}: {shown} does not fit {} ({low} to {high})", place(), dtype::name(ty));
        PyOverflowError::new_err(message)
    })
}

/// Smallest and largest value of an integer type.
fn range(ty: Ty) -> (i128, i128) {
    let bits = 8 * ty.size() as u32;
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

fn article(ty: Ty) -> String {
    match ty {
        Ty::Bool => "a bool".into(),
        ty if ty.is_float() => format!("a number ({})", dtype::name(ty)),
        ty => format!("an integer ({})", dtype::name(ty)),
    }
}

fn wrong_type(value: &Bound<'_, PyAny>, ty: Ty, place: &dyn Fn() -> String) -> PyErr {
    PyTypeError::new_err(format!("{} expects {}, but was given {}", place(), article(ty), describe(value)))
}

/// A value as messages name it.
pub fn describe(value: &Bound<'_, PyAny>) -> String {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return format!("an array of {} with shape {}", array.dtype(), shape_text(array.shape()));
    }
    if value.is_none() {
        return "None".into();
    }
    let name = value.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
    format!("{} `{name}`", if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}

/// A shape as Python writes it.
pub fn shape_text(shape: &[usize]) -> String {
    match shape {
        [n] => format!("({n},)"),
        shape => format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")),
    }
}

/// A scalar as Python would write it, with as many digits as its type has.
pub fn text(ty: Ty, bits: u64) -> String {
    match ty {
        Ty::Bool => if bits & 1 != 0 { "True" } else { "False" }.into(),
        Ty::F16 => format!("{:?}", f16::from_bits(bits as u16).to_f32()),
        Ty::F32 => format!("{:?}", f32::from_bits(bits as u32)).to_lowercase(),
        Ty::F64 => format!("{:?}", f64::from_bits(bits)).to_lowercase(),
        ty if ty.is_signed() => (((bits << (64 - 8 * ty.size())) as i64) >> (64 - 8 * ty.size())).to_string(),
        _ => bits.to_string(),
    }
}

/// A scalar as a Python number.
pub fn to_python(py: Python<'_>, ty: Ty, bits: u64) -> PyResult<Py<PyAny>> {
    match ty {
        Ty::Bool => (bits & 1 != 0).into_py_any(py),
        Ty::I8 => (bits as i8).into_py_any(py),
        Ty::I16 => (bits as i16).into_py_any(py),
        Ty::I32 => (bits as i32).into_py_any(py),
        Ty::I64 => (bits as i64).into_py_any(py),
        Ty::U8 => (bits as u8).into_py_any(py),
        Ty::U16 => (bits as u16).into_py_any(py),
        Ty::U32 => (bits as u32).into_py_any(py),
        Ty::U64 => bits.into_py_any(py),
        Ty::F16 => f16::from_bits(bits as u16).to_f64().into_py_any(py),
        Ty::F32 => f64::from(f32::from_bits(bits as u32)).into_py_any(py),
        Ty::F64 => f64::from_bits(bits).into_py_any(py),
    }
}
