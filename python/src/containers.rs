//! Arguments that carry more than numbers: masked arrays, pandas objects. The rules are in `spmdvm/_containers.py`.

use numpy::PyUntypedArray;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyNotImplemented, PyRange, PyTuple};

const MODULE: &str = "spmdvm._containers";

/// Returns whether it is a number, or an array or sequence of them, and nothing more. (Some that are not are found out later.)
pub fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_exact_instance_of::<PyUntypedArray>()
        || value.is_exact_instance_of::<PyFloat>()
        || value.is_exact_instance_of::<PyInt>()
        || value.is_instance_of::<PyBool>()
        || value.is_exact_instance_of::<PyList>()
        || value.is_exact_instance_of::<PyTuple>()
        || value.is_exact_instance_of::<PyRange>()
        || is_numpy_scalar(value)
}

/// Returns whether it is a scalar of numpy's own, which knows its dtype.
pub fn is_numpy_scalar(value: &Bound<'_, PyAny>) -> bool {
    static GENERIC: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let class = GENERIC.import(value.py(), "numpy", "generic");
    class.is_ok_and(|class| value.is_instance(class).unwrap_or(false))
}

/// Returns whether the class of the object gives arrays a meaning that is not known here.
pub fn is_foreign(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static IS_FOREIGN: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(!is_plain(value) && IS_FOREIGN.import(value.py(), MODULE, "is_foreign")?.call1((value,))?.is_truthy()?)
}

/// Fails if the object's numbers lie in the memory of a GPU.
pub fn refuse_device(value: &Bound<'_, PyAny>, place: &dyn Fn() -> String) -> PyResult<()> {
    static REFUSE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    if !is_plain(value) {
        REFUSE.import(value.py(), MODULE, "refuse_device")?.call1((value, place()))?;
    }
    Ok(())
}

/// An object as an array: a view of its memory where it shows that.
pub fn as_array<'py>(value: &Bound<'py, PyAny>, place: &str) -> PyResult<Bound<'py, PyUntypedArray>> {
    static AS_ARRAY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let array = AS_ARRAY.import(value.py(), MODULE, "as_array")?.call1((value, place))?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// The memory of an object that shows it (DLPack, `__array_interface__`, writable buffers), so that what is written there is not
/// lost.
pub fn shared<'py>(value: &Bound<'py, PyAny>, place: &str) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    static SHARED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let array = SHARED.import(value.py(), MODULE, "shared")?.call1((value, place))?;
    Ok(if array.is_none() { None } else { Some(array.cast_into::<PyUntypedArray>()?) })
}

/// The lazy result of a call with lazy arrays; `None` if there are none among the arguments.
pub fn lazily<'py>(
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let mut all = args.iter().chain(kwargs.into_iter().flatten().map(|(_, value)| value));
    if all.all(|value| is_plain(&value)) {
        return Ok(None);
    }
    static LAZILY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let result = LAZILY.import(function.py(), MODULE, "lazily")?.call1((function, args, kwargs))?;
    Ok(Some(result).filter(|result| !result.is(PyNotImplemented::get(function.py()).to_owned())))
}

/// Returns whether it is a masked array with masked elements.
pub fn has_masked(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    static HAS_MASKED: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    Ok(!is_plain(value) && HAS_MASKED.import(value.py(), MODULE, "has_masked")?.call1((value,))?.is_truthy()?)
}

/// What the varying arguments of one call carry, `out` and `where` included.
pub struct Containers<'py>(Bound<'py, PyAny>);

impl<'py> Containers<'py> {
    /// `None` if all are plain.
    pub fn find(
        py: Python<'py>,
        function: &str,
        inputs: &[(String, Bound<'py, PyAny>)],
        out: Option<&Bound<'py, PyAny>>,
        mask: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Containers<'py>>> {
        let mut all = inputs.iter().map(|(_, value)| value).chain(out).chain(mask);
        if all.all(|value| is_plain(value)) {
            return Ok(None);
        }
        static CLASS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let class = CLASS.import(py, MODULE, "Containers")?;
        Ok(Some(Containers(class.call1((function, inputs.to_vec(), out, mask))?)))
    }

    /// The plain array that results go to, and where to compute.
    pub fn extras(&self) -> PyResult<[Option<Bound<'py, PyAny>>; 2]> {
        let given = |name: &str| Ok::<_, PyErr>(Some(self.0.getattr(name)?).filter(|value| !value.is_none()));
        Ok([given("out")?, given("where")?])
    }

    /// The result with what the arguments carry.
    pub fn wrap(&self, result: Py<PyAny>) -> PyResult<Py<PyAny>> {
        Ok(self.0.call_method1("wrap", (result,))?.unbind())
    }
}
