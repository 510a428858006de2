//! Pointers of programs as Python sees them, and memory of arrays that programs point to.

use crate::array;
use crate::dtype;
use crate::errors;
use crate::execute;
use crate::module::Compiled;
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spmdvm::{Binding, GlobalMemory, HostType};
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A pointer of a program: what an exported function gave, or `Module.bind` made.
///
/// It may be passed to functions of the same module, which check every access through it, and stored in pointer fields
/// of structs, as the number `int(pointer)`. It keeps the module's memory alive, and the array it was made of, until it
/// is forgotten; what the program frees (`delete`) is gone all the same. A null pointer is `None`.
#[pyclass(frozen, module = "spmdvm", weakref)]
pub struct Pointer {
    compiled: Arc<Compiled>,
    address: u64,
    /// What it points to, if the program says so.
    elem: Option<HostType>,
    /// The array that it points into.
    binding: Option<Arc<Binding>>,
}

impl Pointer {
    /// What a function gave; `None` for null.
    pub fn of_result(
        py: Python<'_>,
        compiled: &Arc<Compiled>,
        address: u64,
        elem: &HostType,
        argument: Option<(&Bound<'_, PyUntypedArray>, i64)>,
    ) -> PyResult<Py<PyAny>> {
        let compiled = Arc::clone(compiled);
        let elem = Some(elem.clone());
        let pointer = match argument {
            _ if address == 0 => return Ok(py.None()),
            Some((array, offset)) => {
                let binding = Pointer::binding(py, &compiled, array)?;
                let address = binding.pointer().address().wrapping_add_signed(offset);
                Pointer { compiled, address, elem, binding: Some(Arc::new(binding)) }
            }
            None => Pointer { compiled, address, elem, binding: None },
        };
        Ok(Py::new(py, pointer)?.into_any())
    }

    /// The pointer to an array, which keeps its address while the pointer lives.
    pub fn to_array(compiled: &Arc<Compiled>, array: &Bound<'_, PyUntypedArray>) -> PyResult<Pointer> {
        if array.dtype().has_object() {
            return Err(PyTypeError::new_err("bind(): the array holds Python objects, which programs cannot see"));
        }
        if !array.is_c_contiguous() {
            let message = "bind() takes C-contiguous arrays; pass np.ascontiguousarray(x)";
            return Err(PyValueError::new_err(message));
        }
        let binding = Pointer::binding(array.py(), compiled, array)?;
        let (compiled, address) = (Arc::clone(compiled), binding.pointer().address());
        Ok(Pointer { compiled, address, elem: None, binding: Some(Arc::new(binding)) })
    }

    fn binding(py: Python<'_>, compiled: &Arc<Compiled>, array: &Bound<'_, PyUntypedArray>) -> PyResult<Binding> {
        execute::refuse_reentry(&compiled.module)?;
        let memory = lend(array)?;
        let writable = array::is_writable(array);
        let module = &compiled.module;
        let bound = py.detach(|| if writable { module.bind(memory) } else { module.bind_read_only(memory) });
        bound.map_err(|error| errors::call_error(py, error))
    }

    /// The address for a parameter that points to such elements, if the pointer may be passed there.
    pub fn passed(&self, compiled: &Compiled, elem: &HostType, place: &dyn Fn() -> String) -> PyResult<u64> {
        if !std::ptr::eq(&*self.compiled, compiled) {
            let message = format!("{} was given a pointer of another module, which means nothing to this one", place());
            return Err(PyTypeError::new_err(message));
        }
        let is_untyped = |elem: &HostType| matches!(elem, HostType::Byte);
        match &self.elem {
            Some(own) if own != elem && !is_untyped(own) && !is_untyped(elem) => Err(PyTypeError::new_err(format!(
                "{} expects a pointer to {}, but was given {}",
                place(),
                target(elem),
                self.__repr__()
            ))),
            _ => Ok(self.address),
        }
    }
}

#[pymethods]
impl Pointer {
    /// The address in the program's memory: what a pointer field of a struct holds.
    #[getter]
    pub fn address(&self) -> u64 {
        self.address
    }

    fn __index__(&self) -> u64 {
        self.address
    }

    fn __int__(&self) -> u64 {
        self.address
    }

    fn __bool__(&self) -> bool {
        self.address != 0
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let other = other.cast::<Pointer>();
        other.is_ok_and(|o| self.address == o.get().address && Arc::ptr_eq(&self.compiled, &o.get().compiled))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.address, Arc::as_ptr(&self.compiled) as usize).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let to = match (&self.elem, &self.binding) {
            (Some(elem), _) => format!(" to {}", target(elem)),
            (None, Some(binding)) => format!(" to an array of {} bytes", binding.memory().bytes()),
            (None, None) => String::new(),
        };
        format!("<spmdvm pointer {:#x}{to}>", self.address)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(PyTypeError::new_err("a pointer means something to its module only, so it cannot be pickled"))
    }
}

fn target(elem: &HostType) -> String {
    match elem {
        HostType::Struct { name, .. } => format!("struct {name}"),
        HostType::Byte => "void".into(),
        elem => dtype::expected(elem),
    }
}

/// An array that a program shares with Python.
pub struct Lent {
    /// The array.
    pub array: Py<PyUntypedArray>,
    /// numpy does not move the memory of an array that somebody refers to weakly.
    _pin: Py<PyAny>,
}

/// The memory of an array, which is C-contiguous, for as long as somebody holds it. It may be written if the array may.
pub fn lend(array: &Bound<'_, PyUntypedArray>) -> PyResult<GlobalMemory> {
    let pin = array.py().import("weakref")?.getattr("ref")?.call1((array,))?.unbind();
    let bytes = array.len() * array.dtype().itemsize();
    let lent = Arc::new(Lent { array: array.clone().unbind(), _pin: pin });
    // SAFETY: `Lent` keeps the array, whose memory numpy neither frees nor moves then, and it is contiguous.
    Ok(unsafe { GlobalMemory::from_raw(array::data(array), bytes, lent) })
}

/// A struct or short vector that a function gave: a record, or an array of its components.
pub fn record<'py>(py: Python<'py>, elem: &HostType, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let (base, extents) = dtype::flattened(elem);
    let numpy = py.import("numpy")?;
    let elements = numpy.call_method1("frombuffer", (PyBytes::new(py, bytes), dtype::layout(py, base)?))?;
    let own = elements.call_method0("copy")?;
    if extents.is_empty() { own.get_item(0) } else { own.call_method1("reshape", (extents,)) }
}
