//! Functions that the host provides to programs: Python callables, functions in C, shared libraries.
//!
//! A callable sees pointers as numpy arrays. Memory that Python owns (arrays that the call was given) or that outlives calls (globals)
//! it sees as it is, and the array may be kept. Variables of functions and allocations of the program end before Python's
//! arrays need to: of these it gets a copy, and what it has changed in that is written back when it returns. Varying values
//! are copies ([`gang`]).

use crate::array;
use crate::dtype;
use crate::gang::{self, PerLane};
use crate::globals::array_over;
use crate::options::show;
use crate::pointer::Pointer;
use crate::scalar;
use numpy::{PyArray1, PyArrayDescrMethods, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use spmdvm::tools::Pointee;
use spmdvm::{HostCall, HostError, HostType, HostValue, Module, Options, Ty, Value};
use std::any::Any;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// What the option `host` provides: a dictionary of functions by name, the path of a shared library, or a list of these.
pub fn provide(options: &mut Options, given: &Bound<'_, PyAny>) -> PyResult<()> {
    if given.is_none() {
        return Ok(());
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        return given.try_iter()?.try_for_each(|one| provide(options, &one?));
    }
    if given.is_instance_of::<PyString>() || given.hasattr("__fspath__")? {
        return library(options, given);
    }
    let functions = match given.cast::<PyDict>() {
        // A copy: while it is gone through, others may change it.
        Ok(functions) => functions.copy()?,
        Err(_) => {
            let wrong = |_| {
                let message = format!(
                    "host must be a dictionary of functions by name, the path of a shared library, or a list of these, not {}",
                    show(given)
                );
                PyTypeError::new_err(message)
            };
            given.py().get_type::<PyDict>().call1((given,)).map_err(wrong)?.cast_into::<PyDict>()?
        }
    };
    for (name, function) in functions.iter() {
        let name: String = name
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("host: names must be strings, not {}", show(&name))))?;
        one(options, name, &function)?;
    }
    Ok(())
}

fn library(options: &mut Options, path: &Bound<'_, PyAny>) -> PyResult<()> {
    let path: PathBuf = path.extract()?;
    let taken = std::mem::take(options);
    // SAFETY: who names a library here has been told that this ends memory safety.
    *options = unsafe { taken.with_host_library(&path.to_string_lossy()) }
        .map_err(|why| PyOSError::new_err(format!("host: {why}")))?;
    Ok(())
}

/// Provides a function under a name.
fn one(options: &mut Options, name: String, function: &Bound<'_, PyAny>) -> PyResult<()> {
    let taken = std::mem::take(options);
    if let Some(address) = address(function)? {
        if address == 0 {
            *options = taken;
            return Err(PyValueError::new_err(format!("host: the function pointer `{name}` is null")));
        }
        let owner = Owner { _object: function.clone().unbind() };
        // SAFETY: who gives a function pointer has been told that this ends memory safety. The object that owns it is kept.
        *options = unsafe { taken.with_host_address(name, address) }.keeping(Arc::new(owner));
        return Ok(());
    }
    if let Ok(each) = function.cast::<PerLane>() {
        let function = each.get().function.bind(function.py());
        if address(function)?.is_some() {
            // Functions in C are called for each lane as it is.
            *options = taken;
            return one(options, name, function);
        }
        *options = taken.with_host_per_lane(name, closure(function));
        return Ok(());
    }
    if !function.is_callable() {
        *options = taken;
        let message = format!("host: `{name}` must be a callable or a function pointer, not {}", show(function));
        return Err(PyTypeError::new_err(message));
    }
    *options = taken.with_host(name, closure(function));
    Ok(())
}

/// What calls a callable for a program.
fn closure(
    function: &Bound<'_, PyAny>,
) -> impl Fn(&HostCall<'_>) -> Result<Option<Value<'static>>, HostError> + Send + Sync + use<> {
    let function = function.clone().unbind();
    move |call| {
        let result = Python::try_attach(|py| called(py, &function, call).map_err(|error| host_error(py, error)));
        result.unwrap_or_else(|| Err(HostError::new("Python is shutting down")))
    }
}

/// What owns a function in C.
struct Owner {
    _object: Py<PyAny>,
}

/// The address that a function pointer of `ctypes` or `cffi` holds; `None` for other objects.
fn address(function: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    let py = function.py();
    let module: String = function.get_type().getattr("__module__")?.extract().unwrap_or_default();
    if module == "_cffi_backend" {
        let ffi = py.import("cffi")?.getattr("FFI")?.call0()?;
        let number = ffi.call_method1("cast", ("uintptr_t", function))?;
        return py.get_type::<pyo3::types::PyInt>().call1((number,))?.extract().map(Some);
    }
    let ctypes = py.import("ctypes")?;
    if !function.is_instance(&ctypes.getattr("_CFuncPtr")?)? {
        return Ok(None);
    }
    let pointer = ctypes.call_method1("cast", (function, ctypes.getattr("c_void_p")?))?.getattr("value")?;
    Ok(Some(pointer.extract::<Option<usize>>()?.unwrap_or(0)))
}

/// An exception on its way through the program, which it leaves as it is.
fn host_error(py: Python<'_>, error: PyErr) -> HostError {
    let message = error.value(py).to_string();
    let class = error.get_type(py).name().map_or_else(|_| "exception".into(), |name| name.to_string());
    HostError::with_payload(format!("{class}: {message}"), error)
}

/// The exception that a function of Python raised, as it was.
pub fn raised(py: Python<'_>, payload: &(dyn Any + Send + Sync)) -> Option<PyErr> {
    payload.downcast_ref::<PyErr>().map(|error| error.clone_ref(py))
}

/// An array that is a copy of the program's memory.
struct Copied<'py> {
    index: usize,
    pointee: Pointee,
    bytes: Bound<'py, PyArray1<u8>>,
    before: Vec<u8>,
}

/// Calls a Python callable.
fn called(py: Python<'_>, function: &Py<PyAny>, call: &HostCall<'_>) -> PyResult<Option<Value<'static>>> {
    let mut copies = Vec::new();
    let mut args = Vec::with_capacity(call.signature().params.len());
    for (i, param) in call.signature().params.iter().enumerate() {
        args.push(match &param.value {
            HostValue::Uniform(ty) => scalar::to_python(py, *ty, call.word(i))?.into_bound(py),
            HostValue::Varying(ty) => gang::argument(py, call, i, *ty)?,
            HostValue::Array { .. } if call.word(i) == 0 => py.None().into_bound(py),
            HostValue::Array { elem, writable, reference } => {
                seen(py, call, i, elem, *writable, *reference, &mut copies)?
            }
        });
    }
    let result = function.bind(py).call1(PyTuple::new(py, args)?);
    // Also what a function did that failed then has happened.
    for copy in &copies {
        copy.write_back(call);
    }
    let result = result?;
    match &call.signature().result {
        None => Ok(None),
        Some(HostValue::Varying(ty)) => Ok(Some(gang::result(call, &result, *ty)?)),
        Some(HostValue::Uniform(ty)) => {
            let place = || format!("the result of the host's `{}`", call.name());
            Ok(Some(Value::scalar(*ty, scalar::to_bits(&result, *ty, &place)?.0)))
        }
        Some(HostValue::Array { .. }) => match result.cast::<Pointer>() {
            Ok(pointer) => Ok(Some(Value::scalar(Ty::U64, pointer.get().address()))),
            Err(_) if result.is_none() => Ok(Some(Value::scalar(Ty::U64, 0))),
            Err(_) => {
                let message = format!(
                    "the host's `{}` gives a pointer: None, or a spmdvm.Pointer that the program gave or `Module.bind` made, not {}",
                    call.name(),
                    show(&result)
                );
                Err(PyTypeError::new_err(message))
            }
        },
    }
}

/// The memory that an argument points to as an array: from there to the end of its region, or the one value that a reference is
/// bound to.
fn seen<'py>(
    py: Python<'py>,
    call: &HostCall<'_>,
    i: usize,
    elem: &HostType,
    writable: bool,
    reference: bool,
    copies: &mut Vec<Copied<'py>>,
) -> PyResult<Bound<'py, PyAny>> {
    let (base, mut extents) = dtype::flattened(elem);
    let size = elem.size().max(1);
    let found = call.pointee(i).filter(|found| !reference || found.bytes >= size);
    let not_there = || {
        PyValueError::new_err(format!(
            "the program calls the host's `{}` with a pointer to memory that is not there (argument {i})",
            call.name()
        ))
    };
    let found = found.ok_or_else(not_there)?;
    let n = if reference { 1 } else { found.bytes / size };
    if !reference {
        extents.insert(0, n);
    }
    let (dtype, writable) = (dtype::layout(py, base)?, writable && found.writable);
    let kept = match lent(py, &found) {
        Some(array) => Some(array),
        None => call.keeper(i).map(|owner| Bound::new(py, Kept { _owner: owner }).map(Bound::into_any)).transpose()?,
    };
    if let Some(keeper) = kept {
        // SAFETY: so many elements lie there, which the keeper keeps, and they may be written if the region may be.
        return unsafe { array_over(dtype, &extents, found.start, writable, keeper) };
    }
    let mut before = vec![0; (n * size) as usize];
    if !call.copy_out(i, &mut before) {
        // Another task has freed it meanwhile.
        return Err(not_there());
    }
    let bytes = PyArray1::from_slice(py, &before);
    let start = array::data(bytes.as_untyped());
    // SAFETY: the array of bytes is as long, and new.
    let view = unsafe { array_over(dtype, &extents, start, writable, bytes.clone().into_any()) }?;
    if writable {
        copies.push(Copied { index: i, pointee: found, bytes, before });
    }
    Ok(view)
}

impl Copied<'_> {
    /// Writes what has been changed to where it was copied from, unless the program has freed that meanwhile.
    fn write_back(&self, call: &HostCall<'_>) {
        let mut after = vec![0; self.bytes.as_untyped().len()];
        // SAFETY: the array has so many bytes, and is held. Whoever kept a view of it may write to it meanwhile, so there
        // is no reference to the bytes: what is copied then is what that thread makes of it.
        unsafe { std::ptr::copy_nonoverlapping(array::data(self.bytes.as_untyped()), after.as_mut_ptr(), after.len()) };
        let is_there = call.pointee(self.index).is_some_and(|now| now.start == self.pointee.start);
        if is_there && after != self.before {
            call.copy_in(self.index, &after);
        }
    }
}

/// What keeps memory that an array shows.
#[pyclass(frozen)]
struct Kept {
    _owner: Arc<dyn Any + Send + Sync>,
}

/// Arrays that calls which are running now were given: where they lie, and the arrays.
static LENT: Mutex<Vec<(usize, usize, Py<PyAny>)>> = Mutex::new(Vec::new());

/// Arrays of one call among the lent ones, until dropped.
pub struct Lending(usize);

/// Lets functions of the host see the arrays of a call as what they are, while it lasts.
pub fn lend<'py>(module: &Module, given: impl Iterator<Item = &'py Bound<'py, PyAny>>) -> Lending {
    if module.imports().next().is_none() {
        return Lending(0);
    }
    let arrays = given.filter_map(|given| {
        let array = given.cast::<PyUntypedArray>().ok().filter(|array| array.is_c_contiguous())?;
        let bytes = array.len() * array.dtype().itemsize();
        Some((array::data(array) as usize, bytes, given.clone().unbind()))
    });
    // Asked for before the lock is taken, so that nothing of Python happens under it.
    let arrays: Vec<_> = arrays.collect();
    let n = arrays.len();
    LENT.lock().unwrap_or_else(PoisonError::into_inner).extend(arrays);
    Lending(n)
}

impl Lending {
    /// Takes the arrays back.
    pub fn end<'py>(self, given: impl Iterator<Item = &'py Bound<'py, PyAny>>) {
        if self.0 == 0 {
            return;
        }
        let mut gone = Vec::new();
        let mut lent = LENT.lock().unwrap_or_else(PoisonError::into_inner);
        for given in given {
            if let Some(i) = lent.iter().rposition(|(.., array)| array.is(given)) {
                gone.push(lent.remove(i));
            }
        }
        // What their ends bring about must not find the lock taken.
        drop(lent);
        drop(gone);
    }
}

/// The array that memory is part of, if a call that is running was given one.
fn lent<'py>(py: Python<'py>, found: &Pointee) -> Option<Bound<'py, PyAny>> {
    let (start, bytes) = (found.start as usize, found.bytes as usize);
    let lent = LENT.lock().unwrap_or_else(PoisonError::into_inner);
    let holds = |&&(at, len, _): &&(usize, usize, Py<PyAny>)| at <= start && start - at + bytes <= len;
    lent.iter().rev().find(holds).map(|(.., array)| array.bind(py).clone())
}
