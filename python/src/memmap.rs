//! Arrays in mapped files that are cut off while a program runs: an `OSError`, not a crash.

use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple};
use spmdvm::shrunk::{self, Watch};

/// The mapped files among the arguments of one call.
#[derive(Default)]
pub struct Mapped<'py> {
    function: String,
    files: Vec<(Bound<'py, PyAny>, Watch)>,
}

/// Watches the mapped files that arguments lie in. Raises `OSError` for one that is too short already.
pub fn watch<'py>(
    function: &str,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Mapped<'py>> {
    let mut mapped = Mapped::default();
    for value in args.iter() {
        mapped.add(function, &value)?;
    }
    for (_, value) in kwargs.into_iter().flatten() {
        mapped.add(function, &value)?;
    }
    Ok(mapped)
}

impl<'py> Mapped<'py> {
    fn add(&mut self, function: &str, value: &Bound<'py, PyAny>) -> PyResult<()> {
        let Ok(array) = value.cast::<PyUntypedArray>() else { return Ok(()) };
        // SAFETY: the pointer is to a live array object.
        if unsafe { (*array.as_array_ptr()).fields.base.is_null() } {
            return Ok(());
        }
        static FIND: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
        let found = FIND.import(value.py(), "spmdvm._memmap", "find")?.call1((function, array))?;
        if found.is_none() {
            return Ok(());
        }
        let (file, start, len): (Bound<'py, PyAny>, usize, usize) = found.extract()?;
        self.function = function.into();
        self.files.push((file, shrunk::watch(std::ptr::with_exposed_provenance(start), len)));
        Ok(())
    }

    /// Raises `OSError` if one was cut off meanwhile.
    pub fn check(&self) -> PyResult<()> {
        match self.files.iter().find(|(_, watch)| watch.has_shrunk()) {
            Some((file, _)) => Err(PyOSError::new_err(format!(
                "{}(): the mapped file {} was cut off while the program ran; results are not valid, and the array must \
                 be mapped anew",
                self.function,
                crate::options::show(file)
            ))),
            None => Ok(()),
        }
    }
}
