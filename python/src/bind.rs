//! Positional and keyword arguments meet parameters.

use crate::array::{self, Wanted};
use crate::containers::is_numpy_scalar;
use crate::function::is_mapped;
use crate::module::Compiled;
use crate::pointer::Pointer;
use crate::scalar;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spmdvm::{Export, ExportParam, HostType, HostValue, Ty, Value};

/// One entry per parameter; `None` where the default holds.
pub type Bindings<'py> = Vec<Option<Bound<'py, PyAny>>>;

/// Which argument goes to which parameter.
pub fn bind<'py>(
    export: &Export,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bindings<'py>> {
    let n = export.params.len();
    if args.len() > n {
        let plural = if n == 1 { "" } else { "s" };
        let message = format!("{}() takes {n} argument{plural}, but {} were given", export.name, args.len());
        return Err(PyTypeError::new_err(message));
    }
    let mut bound: Bindings<'py> = args.iter().map(Some).collect();
    bound.resize(n, None);
    if let Some(kwargs) = kwargs {
        for (key, value) in kwargs.iter() {
            bind_keyword(export, args.len(), &mut bound, &key, value)?;
        }
    }
    let missing: Vec<_> = (0..n)
        .filter(|&i| bound[i].is_none() && export.params[i].default.is_none())
        .map(|i| format!("`{}`", label(&export.params[i], i)))
        .collect();
    if missing.is_empty() {
        return Ok(bound);
    }
    let plural = if missing.len() == 1 { "" } else { "s" };
    Err(PyTypeError::new_err(format!("{}() misses its argument{plural} {}", export.name, missing.join(", "))))
}

fn bind_keyword<'py>(
    export: &Export,
    n_positional: usize,
    bound: &mut Bindings<'py>,
    key: &Bound<'py, PyAny>,
    value: Bound<'py, PyAny>,
) -> PyResult<()> {
    let key: String = key.extract()?;
    let Some(i) = export.params.iter().position(|p| p.name == key) else {
        let names: Vec<_> = export.params.iter().map(|p| p.name.as_str()).collect();
        let others = if is_mapped(export) { &["out", "where", "threads"][..] } else { &[] };
        let hint = match spmdvm::tools::closest(&key, names.iter().chain(others).copied()) {
            Some(close) => format!("; did you mean `{close}`?"),
            None => format!("; its parameters are {}", names.join(", ")),
        };
        return Err(PyTypeError::new_err(format!(
            "{}() got an unexpected keyword argument '{key}'{hint}",
            export.name
        )));
    };
    if i < n_positional {
        return Err(PyTypeError::new_err(format!("{}() got two values for `{key}`", export.name)));
    }
    bound[i] = Some(value);
    Ok(())
}

/// What a parameter is called in messages.
pub fn label(param: &ExportParam, i: usize) -> String {
    if param.name.is_empty() { format!("argument {}", i + 1) } else { param.name.clone() }
}

/// All arguments as values of the program, and how far they are from the parameters' types. The arrays stay in `bound`,
/// where the caller keeps them while the program runs.
pub fn values(compiled: &Compiled, export: &Export, bound: &mut Bindings<'_>) -> PyResult<(Vec<Value<'static>>, u32)> {
    let mut values = Vec::with_capacity(bound.len());
    let mut distance = 0;
    for (i, (param, given)) in export.params.iter().zip(bound).enumerate() {
        let (value, far) = match given {
            Some(given) => convert(compiled, export, i, param, given)?,
            None => (Value::scalar(scalar_type(param), param.default.unwrap_or_default()), 0),
        };
        values.push(value);
        distance += far;
    }
    Ok((values, distance))
}

fn convert(
    compiled: &Compiled,
    export: &Export,
    i: usize,
    param: &ExportParam,
    given: &mut Bound<'_, PyAny>,
) -> PyResult<(Value<'static>, u32)> {
    let place = || format!("{}(): `{}`", export.name, label(param, i));
    match &param.value {
        HostValue::Uniform(ty) | HostValue::Varying(ty) => {
            let (bits, distance) = scalar::to_bits(given, *ty, &place)?;
            Ok((Value::scalar(*ty, bits), distance))
        }
        HostValue::Array { elem, reference, .. } if is_pointer(given, elem, *reference) => {
            Ok((Value::Pointer(spmdvm::Pointer::from_address(address(compiled, given, elem, &place)?)), 0))
        }
        HostValue::Array { elem, writable, reference } => {
            let wanted = Wanted { elem, writable: *writable, reference: *reference };
            let (array, memory) = array::adopt(given, wanted, &place)?;
            let distance = array::distance(given);
            *given = array.into_any();
            Ok((Value::Array(memory), distance))
        }
    }
}

/// Returns whether it is an address rather than memory: a pointer, `None` for null, or an address that stood in a struct
/// or array. No reference can be null or such an address.
pub fn is_pointer(given: &Bound<'_, PyAny>, elem: &HostType, reference: bool) -> bool {
    given.is_instance_of::<Pointer>() || !reference && (given.is_none() || stored_address(given, elem).is_some())
}

/// What a pointer in memory holds, as numpy reads it. For a parameter that points to numbers it would rather be a mistake.
fn stored_address(given: &Bound<'_, PyAny>, elem: &HostType) -> Option<u64> {
    let is_number = matches!(elem, HostType::Scalar(_) | HostType::Enum(_));
    let is_address = !is_number && is_numpy_scalar(given) && given.get_type().name().is_ok_and(|name| name == "uint64");
    is_address.then(|| given.extract().ok()).flatten()
}

/// The address that a parameter with such elements gets.
pub fn address(
    compiled: &Compiled,
    given: &Bound<'_, PyAny>,
    elem: &HostType,
    place: &dyn Fn() -> String,
) -> PyResult<u64> {
    match given.cast::<Pointer>() {
        Ok(pointer) => pointer.get().passed(compiled, elem, place),
        Err(_) => Ok(stored_address(given, elem).unwrap_or(0)),
    }
}

/// The type of a parameter that has a default: those are scalars.
fn scalar_type(param: &ExportParam) -> Ty {
    match param.value {
        HostValue::Uniform(ty) | HostValue::Varying(ty) => ty,
        HostValue::Array { .. } => Ty::U64,
    }
}
