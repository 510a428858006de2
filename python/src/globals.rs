//! A program's globals as a mapping of numpy views.

use crate::array;
use crate::containers;
use crate::convert;
use crate::dtype;
use crate::module::Compiled;
use crate::options::show;
use crate::pointer::{Lent, lend};
use crate::scalar;
use numpy::npyffi::{self, NPY_ARRAY_WRITEABLE, PY_ARRAY_API, npy_intp};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyNameError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};
use spmdvm::{ArgumentError, Global, GlobalMemory, HostAccess, HostType};
use std::sync::Arc;

/// The global variables of a program, by name: a mapping.
///
/// `module.globals["x"]` is a numpy view of the variable (0-d for a scalar, with a structured dtype for a struct), not
/// a copy: it shows what calls write, and what is written to it is what they read. It is read-only for `const` and
/// `static` variables. Varying variables have an axis more, the last, with an entry for each lane. A view keeps the
/// module alive.
///
/// `module.globals["x"] = value` sets the variable. An `extern` one is supplied: with the array itself, or the memory of a
/// tensor or buffer, without a copy, if it has the dtype and shape of the declaration and is C-contiguous (and writable,
/// unless the variable is `const`), else with a copy of the value. `del module.globals["x"]` takes it away again.
///
/// While a call runs on another thread it reads and writes the same memory, without any order between the two.
#[pyclass(frozen, mapping, module = "spmdvm", weakref)]
pub struct Globals {
    compiled: Arc<Compiled>,
}

impl Globals {
    /// The globals of a module.
    pub fn of(compiled: &Arc<Compiled>) -> Globals {
        Globals { compiled: Arc::clone(compiled) }
    }

    fn find(&self, name: &str) -> PyResult<Global<'_>> {
        self.compiled.module.global(name).map_err(|error| PyKeyError::new_err(error.message))
    }

    fn names(&self) -> Vec<&str> {
        self.compiled.module.globals().map(|global| global.name()).collect()
    }

    /// The variable as an array: the one that it was supplied with, or a view of its memory.
    fn get_array<'py>(&self, py: Python<'py>, global: &Global<'_>) -> PyResult<Bound<'py, PyAny>> {
        let memory = global.memory().map_err(|error| PyNameError::new_err(error.message))?;
        match memory.owner().downcast_ref::<Lent>() {
            Some(lent) => Ok(lent.array.bind(py).clone().into_any()),
            None => self.view(py, global, memory),
        }
    }

    fn view<'py>(&self, py: Python<'py>, global: &Global<'_>, memory: GlobalMemory) -> PyResult<Bound<'py, PyAny>> {
        let (base, mut extents) = dtype::flattened(global.layout());
        if global.is_open() {
            let rest: u64 = extents[1..].iter().product::<u64>() * base.size();
            extents[0] = memory.bytes() as u64 / rest.max(1);
        }
        let writable = global.access() != HostAccess::Read;
        let start = memory.start();
        let keeper = Bound::new(py, Keeper { _memory: memory, _module: Arc::clone(&self.compiled) })?;
        // SAFETY: the memory is as long as the layout (an open array: as its extents were made) says; the keeper keeps
        // it, and it may be written unless it is the memory of a `const` or `static` variable.
        unsafe { array_over(dtype::layout(py, base)?, &extents, start, writable, keeper.into_any()) }
    }

    /// Sets a variable that has memory of its own.
    fn write(&self, py: Python<'_>, global: &Global<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(bytes) = scalar_bytes(global, value)? {
            return global.write_bytes(&bytes).map_err(value_error);
        }
        let (base, extents) = dtype::flattened(global.layout());
        let converted = converted(base, value, &place(global))?;
        let view = self.get_array(py, global)?;
        let (given, own) = (converted.cast::<PyUntypedArray>()?, view.cast::<PyUntypedArray>()?);
        if !broadcasts(given.shape(), own.shape()) {
            return Err(wrong_shape(global, &extents, given.shape()));
        }
        py.import("numpy")?.call_method1("copyto", (&view, &converted)).map(drop)
    }

    /// Supplies an `extern` variable.
    fn supply(&self, global: &Global<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let (base, extents) = dtype::flattened(global.layout());
        if let Some(array) = memory_of(value, global)?
            && can_share(&array, base, global.is_constant())
        {
            return share(global, &array, &extents);
        }
        if let Some(bytes) = scalar_bytes(global, value)? {
            return global.write_bytes(&bytes).map_err(value_error);
        }
        let copy = converted(base, value, &place(global))?.call_method1("copy", ("C",))?;
        share(global, copy.cast::<PyUntypedArray>()?, &extents)
    }
}

#[pymethods]
impl Globals {
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.get_array(py, &self.find(name)?)
    }

    fn __setitem__(&self, py: Python<'_>, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let global = self.find(name)?;
        refuse_masked(value, &global)?;
        containers::refuse_device(value, &|| place(&global))?;
        match global.access() {
            HostAccess::Read => Err(value_error(global.read_only())),
            HostAccess::Write => self.write(py, &global, value),
            HostAccess::Supply => self.supply(&global, value),
        }
    }

    fn __delitem__(&self, name: &str) -> PyResult<()> {
        self.find(name)?.withdraw().map_err(value_error)
    }

    fn __contains__(&self, name: &Bound<'_, PyAny>) -> bool {
        name.extract::<String>().is_ok_and(|name| self.names().contains(&&*name))
    }

    fn __len__(&self) -> usize {
        self.names().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyList::new(py, self.names())?.try_iter()?.into_any())
    }

    fn __repr__(&self) -> String {
        let all: Vec<_> = self.compiled.module.globals().map(|global| describe(&global)).collect();
        format!("<spmdvm globals: {}>", if all.is_empty() { "none".into() } else { all.join("; ") })
    }

    /// The names of the variables, in the order of their declarations.
    #[pyo3(text_signature = "($self)")]
    fn keys<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        mapping_view(slf, "KeysView")
    }

    /// Views of all variables.
    #[pyo3(text_signature = "($self)")]
    fn values<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        mapping_view(slf, "ValuesView")
    }

    /// Names and views of all variables.
    #[pyo3(text_signature = "($self)")]
    fn items<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        mapping_view(slf, "ItemsView")
    }

    /// The view of a variable, or `default` if there is none, or it is `extern` and has no value.
    #[pyo3(signature = (name, default=None))]
    fn get<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        default: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match self.find(name) {
            Ok(global) if global.is_set() => self.get_array(py, &global).map(Some),
            _ => Ok(default),
        }
    }

    /// Sets several variables: of a mapping, or given by name.
    #[pyo3(signature = (values=None, /, **more), text_signature = "($self, values=(), /, **more)")]
    fn update(
        &self,
        py: Python<'_>,
        values: Option<&Bound<'_, PyAny>>,
        more: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let all = PyDict::new(py);
        if let Some(values) = values {
            all.call_method1("update", (values,))?;
        }
        if let Some(more) = more {
            all.update(more.as_mapping())?;
        }
        all.iter().try_for_each(|(name, value)| self.__setitem__(py, name.extract::<String>()?.as_str(), &value))
    }
}

fn mapping_view<'py>(globals: &Bound<'py, Globals>, class: &str) -> PyResult<Bound<'py, PyAny>> {
    globals.py().import("collections.abc")?.getattr(class)?.call1((globals,))
}

/// The base of a view.
#[pyclass(frozen)]
struct Keeper {
    _memory: GlobalMemory,
    _module: Arc<Compiled>,
}

/// A new array over memory.
///
/// # Safety
/// `start` is that of an array of these extents of that dtype, readable (and writable, if `writable`) while `keeper`
/// lives.
pub unsafe fn array_over<'py>(
    dtype: Bound<'py, PyArrayDescr>,
    extents: &[u64],
    start: *mut u8,
    writable: bool,
    keeper: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = dtype.py();
    let mut dims: Vec<npy_intp> = extents.iter().map(|&n| n as npy_intp).collect();
    let mut strides = vec![dtype.itemsize() as npy_intp; dims.len()];
    for i in (1..dims.len()).rev() {
        strides[i - 1] = strides[i] * dims[i];
    }
    let flags = if writable { NPY_ARRAY_WRITEABLE } else { 0 };
    // SAFETY: `dims` and `strides` are as many as is said, and the call takes the reference to the dtype. The array is
    // the only owner of what it gives, and takes the reference to the keeper.
    unsafe {
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            npyffi::get_type_object(py, npyffi::NpyTypes::PyArray_Type),
            dtype.into_dtype_ptr(),
            dims.len() as i32,
            dims.as_mut_ptr(),
            strides.as_mut_ptr(),
            start.cast(),
            flags,
            std::ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        if PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), keeper.into_ptr()) < 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}

/// A mask would be lost.
fn refuse_masked(value: &Bound<'_, PyAny>, global: &Global<'_>) -> PyResult<()> {
    let masked = value.py().import("numpy.ma")?.getattr("MaskedArray")?;
    if !value.is_instance(&masked)? {
        return Ok(());
    }
    let message = format!("{} cannot take a masked array; pass its data, or what filled() gives", place(global));
    Err(PyTypeError::new_err(message))
}

/// The array that is given, or one over the memory that an object shows.
fn memory_of<'py>(value: &Bound<'py, PyAny>, global: &Global<'_>) -> PyResult<Option<Bound<'py, PyUntypedArray>>> {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(Some(array.clone()));
    }
    if containers::is_plain(value) {
        return Ok(None);
    }
    match containers::shared(value, &place(global)) {
        // What gives no view may still give a copy.
        Err(error) if error.is_instance_of::<PyTypeError>(value.py()) => Ok(None),
        found => found,
    }
}

/// Returns whether an array can be the memory of a variable, but for its shape.
fn can_share(array: &Bound<'_, PyUntypedArray>, base: &HostType, is_constant: bool) -> bool {
    let dtype = array.dtype();
    let fits = dtype::check(base, &dtype).is_ok() && dtype.itemsize() as u64 == base.size();
    fits && array.is_c_contiguous() && (is_constant || array::is_writable(array))
}

/// Supplies an array that is right but for its shape, which is checked.
fn share(global: &Global<'_>, array: &Bound<'_, PyUntypedArray>, extents: &[u64]) -> PyResult<()> {
    let fixed = usize::from(global.is_open());
    let shape = array.shape();
    let rest = |given: &[usize]| given.iter().map(|&n| n as u64).eq(extents[fixed..].iter().copied());
    if shape.len() != extents.len() || !rest(&shape[fixed..]) {
        return Err(wrong_shape(global, extents, shape));
    }
    // SAFETY: the array may be written if the program may write.
    unsafe { global.supply_memory(lend(array)?) }.map_err(value_error)
}

fn wrong_shape(global: &Global<'_>, extents: &[u64], given: &[usize]) -> PyErr {
    PyValueError::new_err(format!(
        "{} has the shape {}, but was given an array of shape {}",
        place(global),
        extents_text(global, extents),
        scalar::shape_text(given)
    ))
}

/// Returns whether numpy copies an array of one shape to one of another: lengths of 1 stand for any, and those at the front may
/// be too many.
fn broadcasts(given: &[usize], to: &[usize]) -> bool {
    let (more, rest) = given.split_at(given.len().saturating_sub(to.len()));
    let last = &to[to.len() - rest.len()..];
    more.iter().all(|&n| n == 1) && rest.iter().zip(last).all(|(&n, &m)| n == m || n == 1)
}

/// The bytes of a value for a scalar; `None` if the variable is none.
fn scalar_bytes(global: &Global<'_>, value: &Bound<'_, PyAny>) -> PyResult<Option<Vec<u8>>> {
    let ty = match global.layout() {
        HostType::Scalar(ty) => *ty,
        HostType::Enum(_) => spmdvm::Ty::U32,
        HostType::Pointer => spmdvm::Ty::U64,
        _ => return Ok(None),
    };
    let (bits, _) = scalar::to_bits(value, ty, &|| place(global))?;
    Ok(Some(bits.to_le_bytes()[..ty.size()].to_vec()))
}

/// The value as an array of the elements of a variable, if nothing is lost but digits of floating-point numbers.
fn converted<'py>(base: &HostType, value: &Bound<'py, PyAny>, place: &str) -> PyResult<Bound<'py, PyAny>> {
    let py = value.py();
    let numpy = py.import("numpy")?;
    let wanted = dtype::layout(py, base)?;
    let wrong = |given: &Bound<'_, PyUntypedArray>| {
        let expected = dtype::expected(base);
        PyTypeError::new_err(format!("{place} expects {expected}, but {}", what_was_given(value, given)))
    };
    // numpy does not know where it goes.
    let named = |error: PyErr| match () {
        () if error.is_instance_of::<PyValueError>(py) => {
            PyValueError::new_err(format!("{place}: {}", error.value(py)))
        }
        () if error.is_instance_of::<PyTypeError>(py) => PyTypeError::new_err(format!("{place}: {}", error.value(py))),
        () => error,
    };
    let given = match (value.cast::<PyUntypedArray>(), base) {
        (Ok(array), HostType::Struct { .. }) if dtype::check(base, &array.dtype()).is_err() => {
            return Err(wrong(array));
        }
        (Err(_), HostType::Struct { .. }) => numpy.call_method1("array", (value, &wanted)).map_err(named)?,
        _ => numpy.call_method1("asarray", (value,)).map_err(named)?,
    };
    let array = given.cast::<PyUntypedArray>()?;
    let dtype = array.dtype();
    let same_kind = || numpy.call_method1("can_cast", (&dtype, &wanted, "same_kind"))?.is_truthy();
    if dtype.has_object() || !(array.is_empty() || dtype.has_fields() || same_kind()?) {
        return Err(wrong(array));
    }
    if b"iu".contains(&dtype.kind()) && b"iu".contains(&wanted.kind()) && !array.is_empty() {
        let range = numpy.call_method1("iinfo", (&wanted,))?;
        let (least, most) = (given.call_method0("min")?, given.call_method0("max")?);
        if least.lt(range.getattr("min")?)? || most.gt(range.getattr("max")?)? {
            let message = format!("{place}: the values {least} to {most} do not all fit {wanted}");
            return Err(PyOverflowError::new_err(message));
        }
    }
    given.call_method1("astype", (wanted,))
}

/// Says what cannot become numbers of a variable. `array` is what numpy makes of it.
fn what_was_given(value: &Bound<'_, PyAny>, array: &Bound<'_, PyUntypedArray>) -> String {
    let dtype = array.dtype();
    match () {
        () if value.is_instance_of::<PyString>() => format!("was given the text {}", show(value)),
        () if convert::is_sequence(value) => {
            format!("the list holds {}", convert::kind_of_elements(dtype.kind(), &dtype.to_string()))
        }
        () if value.is_instance_of::<PyUntypedArray>() || dtype.has_object() || array.ndim() == 0 => {
            format!("was given {}", scalar::describe(value))
        }
        () => format!("was given {} of {dtype}", scalar::describe(value)),
    }
}

fn place(global: &Global<'_>) -> String {
    format!("globals[\"{}\"]", global.name())
}

/// The shape of a variable as Python writes it; an open length is `…`.
fn extents_text(global: &Global<'_>, extents: &[u64]) -> String {
    let one = |(i, n): (usize, &u64)| if i == 0 && global.is_open() { "…".into() } else { n.to_string() };
    let all: Vec<String> = extents.iter().enumerate().map(one).collect();
    format!("({}{})", all.join(", "), if all.len() == 1 { "," } else { "" })
}

/// A variable in the text of the mapping.
fn describe(global: &Global<'_>) -> String {
    let (base, extents) = dtype::flattened(global.layout());
    let dtype = match base {
        HostType::Struct { name, .. } => format!("struct {name}"),
        base => dtype::expected(base),
    };
    let shape = if extents.is_empty() { String::new() } else { format!(" {}", extents_text(global, &extents)) };
    let note = match global.access() {
        HostAccess::Read => ", read-only",
        HostAccess::Write => "",
        HostAccess::Supply if global.is_set() => ", extern",
        HostAccess::Supply => ", extern, not set",
    };
    format!("{}: {dtype}{shape}{note}", global.name())
}

fn value_error(error: ArgumentError) -> PyErr {
    if error.is_type { PyTypeError::new_err(error.message) } else { PyValueError::new_err(error.message) }
}
