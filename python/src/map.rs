//! Functions of varying scalars, called like numpy's ufuncs.
//!
//! A call chooses the overload by dtype, broadcasts the arguments, and then runs the program over one long axis after
//! another: axes that lie in memory one behind the other are merged first, so that for contiguous arrays there is one run.

use crate::array::{self, Wanted};
use crate::bind::{self, Bindings};
use crate::dtype;
use crate::execute::{Context, execute};
use crate::function::{Function, is_mapped, no_overload};
use crate::scalar::{self, describe, shape_text};
use numpy::{PyArrayDescr, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyTuple};
use spmdvm::{CallError, Export, HostValue, MapArg, Strided, Ty};

/// What stands beside the arguments.
struct Extras<'py> {
    out: Option<Bound<'py, PyUntypedArray>>,
    mask: Option<Bound<'py, PyUntypedArray>>,
    threads: usize,
}

/// Calls a function that has mapped overloads.
pub fn call(
    py: Python<'_>,
    function: &Function,
    args: &Bound<'_, PyTuple>,
    kwargs: Option<&Bound<'_, PyDict>>,
) -> PyResult<Py<PyAny>> {
    let (kwargs, extras) = split(py, function, kwargs)?;
    let (export, bound) = choose(function, args, kwargs.as_ref())?;
    let mut kept = Kept::default();
    let mut inputs = Vec::new();
    for (i, (param, given)) in export.params.iter().zip(&bound).enumerate() {
        let place = || format!("{}(): `{}`", export.name, bind::label(param, i));
        inputs.push(match (&param.value, given) {
            (HostValue::Varying(ty), Some(given)) => kept.operand(given, *ty, &place)?,
            (HostValue::Uniform(ty), Some(given)) => Operand::word(scalar::to_bits(given, *ty, &place)?.0),
            (HostValue::Varying(ty), None) => kept.constant(param.default.unwrap_or_default(), *ty),
            (HostValue::Uniform(_), None) => Operand::word(param.default.unwrap_or_default()),
            (HostValue::Array { elem, writable, reference }, Some(given)) => {
                let wanted = Wanted { elem, writable: *writable, reference: *reference };
                kept.memory(given, wanted, &place)?
            }
            // Only scalars have defaults.
            (HostValue::Array { .. }, None) => Operand::word(0),
        });
    }
    let mask = extras.mask.as_ref().map(|mask| kept.array(mask, Ty::Bool));
    let shape = broadcast(export, &inputs, mask.as_ref(), extras.out.as_ref())?;
    let result = match export.result {
        None if extras.out.is_some() => {
            return Err(PyTypeError::new_err(format!("{}() has no result, so it takes no `out`", export.name)));
        }
        None => None,
        Some(HostValue::Varying(ty)) => Some(Target::new(py, export, &extras, &shape, ty, &inputs, mask.as_ref())?),
        Some(_) => return Err(unsupported(export, "a uniform result of varying parameters")),
    };
    let plan = Plan::new(&shape, inputs, result.as_ref().map(|t| kept.array(&t.memory, t.ty)), mask);
    let width = function.compiled.module.options().width.lanes();
    execute(py, &function.compiled.module, move |context| plan.run(context, export, extras.threads, width))?;
    match result {
        None => Ok(py.None()),
        Some(target) => target.finish(py, shape.is_empty(), extras.out, extras.mask),
    }
}

fn unsupported(export: &Export, what: &str) -> PyErr {
    PyTypeError::new_err(format!("{}() cannot be called over arrays: it has {what}", export.name))
}

/// Takes `out`, `where` and `threads` out of the keyword arguments.
fn split<'py>(
    py: Python<'py>,
    function: &Function,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<(Option<Bound<'py, PyDict>>, Extras<'py>)> {
    let mut extras = Extras { out: None, mask: None, threads: 1 };
    let Some(kwargs) = kwargs else { return Ok((None, extras)) };
    let name = &function.name;
    let rest = kwargs.copy()?;
    let take = |key: &str| -> PyResult<Option<Bound<'py, PyAny>>> {
        let value = rest.get_item(key)?;
        let is_parameter = function.exports().any(|e| e.params.iter().any(|p| p.name == key));
        if value.is_none() || is_parameter {
            return Ok(None);
        }
        rest.del_item(key)?;
        Ok(value.filter(|v| !v.is_none()))
    };
    if let Some(out) = take("out")? {
        let message = || format!("{name}(): `out` expects a numpy array, but was given {}", describe(&out));
        extras.out = Some(out.cast::<PyUntypedArray>().map_err(|_| PyTypeError::new_err(message()))?.clone());
    }
    if let Some(mask) = take("where")?.filter(|mask| !mask.is(PyBool::new(py, true))) {
        let array = as_array(&mask)?;
        if dtype::element(&array.dtype()) != Some(Ty::Bool) {
            let message = format!("{name}(): `where` expects an array of bool, but was given {}", describe(&mask));
            return Err(PyTypeError::new_err(message));
        }
        extras.mask = Some(array);
    }
    if let Some(threads) = take("threads")? {
        let n: usize = threads
            .extract()
            .map_err(|_| PyValueError::new_err(format!("{name}(): `threads` expects a number from 0 up")))?;
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        extras.threads = if n == 0 { cores() } else { n.min(1024) };
    }
    Ok((Some(rest), extras))
}

fn as_array<'py>(value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyUntypedArray>> {
    if let Ok(array) = value.cast::<PyUntypedArray>() {
        return Ok(array.clone());
    }
    let array = value.py().import("numpy")?.call_method1("asarray", (value,))?;
    Ok(array.cast_into::<PyUntypedArray>()?)
}

/// Is it a plain Python number, which takes the type that the other arguments ask for?
fn is_weak(value: &Bound<'_, PyAny>) -> bool {
    let number = value.is_instance_of::<PyInt>() || value.is_instance_of::<PyFloat>();
    // numpy's float64 scalar is a Python float too, but has a dtype.
    number
        && (value.is_exact_instance_of::<PyInt>() || value.is_exact_instance_of::<PyFloat>() || {
            value.is_instance_of::<PyBool>()
        })
}

/// The overload for these arguments: that with the same dtypes, else the nearest that numpy casts to safely.
fn choose<'f, 'py>(
    function: &'f Function,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<(&'f Export, Bindings<'py>)> {
    let mut best: Option<(u32, &Export, Bindings)> = None;
    let mut reasons = Vec::new();
    for export in function.exports().filter(|e| is_mapped(e)) {
        let fit = bind::bind(export, args, kwargs).and_then(|mut bound| Ok((fit(export, &mut bound)?, bound)));
        match fit {
            Ok((distance, bound)) if best.as_ref().is_none_or(|(least, ..)| distance < *least) => {
                best = Some((distance, export, bound));
            }
            Ok(_) => {}
            Err(error) => reasons.push((export, error)),
        }
    }
    match best {
        Some((_, export, bound)) => Ok((export, bound)),
        None => Err(no_overload(args.py(), reasons)),
    }
}

/// How far the arguments are from the parameters. Sequences become arrays.
fn fit(export: &Export, bound: &mut Bindings<'_>) -> PyResult<u32> {
    let mut distance = 0;
    for (i, (param, slot)) in export.params.iter().zip(bound).enumerate() {
        let place = || format!("{}(): `{}`", export.name, bind::label(param, i));
        let Some(given) = slot else { continue };
        distance += match &param.value {
            HostValue::Varying(ty) if !is_weak(given) => {
                let array = as_array(given)?;
                let far = cast_distance(&array, *ty, &place)?;
                *slot = Some(array.into_any());
                far
            }
            HostValue::Varying(ty) | HostValue::Uniform(ty) => scalar::to_bits(given, *ty, &place)?.1,
            HostValue::Array { elem, writable, reference } => {
                let wanted = Wanted { elem, writable: *writable, reference: *reference };
                array::to_array(given, wanted, &place).map(|_| 0)?
            }
        };
    }
    Ok(distance)
}

/// 0 for the same type; more for one that numpy casts to safely.
fn cast_distance(array: &Bound<'_, PyUntypedArray>, ty: Ty, place: &dyn Fn() -> String) -> PyResult<u32> {
    let given = array.dtype();
    if dtype::element(&given) == Some(ty) {
        return Ok(0);
    }
    let py = array.py();
    if py.import("numpy")?.call_method1("can_cast", (&given, dtype::of(py, ty)?, "safe"))?.is_truthy()? {
        return Ok(100 + ty.size() as u32 + if ty.is_float() { 10 } else { 0 });
    }
    let wanted = dtype::name(ty);
    let spelled = if ty == Ty::Bool { "bool_" } else { wanted };
    let message = format!(
        "{} expects {wanted}, but was given an array of {given}, which does not cast to it safely; convert it with \
         x.astype(np.{spelled})",
        place()
    );
    Err(PyTypeError::new_err(message))
}

/// Arrays and constants that must live as long as the run.
#[derive(Default)]
struct Kept<'py> {
    arrays: Vec<Bound<'py, PyUntypedArray>>,
    // Boxed, because pointers lead to them.
    #[allow(clippy::vec_box)]
    constants: Vec<Box<[u8; 8]>>,
}

/// One argument.
struct Operand {
    start: *mut u8,
    /// Its own shape, and a stride for each axis.
    shape: Vec<usize>,
    strides: Vec<isize>,
    ty: Ty,
    /// For a uniform parameter, what is passed instead of elements.
    uniform: Option<MapArg>,
}

impl Operand {
    fn word(bits: u64) -> Operand {
        Operand::uniform(MapArg::Uniform(bits))
    }

    fn uniform(arg: MapArg) -> Operand {
        Operand { start: std::ptr::null_mut(), shape: vec![], strides: vec![], ty: Ty::U64, uniform: Some(arg) }
    }

    /// The strides over the axes of `shape`, to which this operand broadcasts.
    fn broadcast_strides(&self, shape: &[usize]) -> Vec<isize> {
        let missing = shape.len() - self.shape.len();
        let own = self.shape.iter().zip(&self.strides).map(|(&n, &stride)| if n == 1 { 0 } else { stride });
        std::iter::repeat_n(0, missing).chain(own).collect()
    }
}

impl<'py> Kept<'py> {
    fn operand(&mut self, given: &Bound<'py, PyAny>, ty: Ty, place: &dyn Fn() -> String) -> PyResult<Operand> {
        if is_weak(given) {
            return Ok(self.constant(scalar::to_bits(given, ty, place)?.0, ty));
        }
        let array = as_array(given)?;
        if dtype::element(&array.dtype()) == Some(ty) {
            return Ok(self.array(&array, ty));
        }
        let cast = array.call_method1("astype", (dtype::of(given.py(), ty)?,))?;
        Ok(self.array(cast.cast::<PyUntypedArray>()?, ty))
    }

    fn array(&mut self, array: &Bound<'py, PyUntypedArray>, ty: Ty) -> Operand {
        self.arrays.push(array.clone());
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        Operand { start: array::data(array), shape, strides, ty, uniform: None }
    }

    /// An array that all elements see.
    fn memory(
        &mut self,
        given: &Bound<'py, PyAny>,
        wanted: Wanted<'_>,
        place: &dyn Fn() -> String,
    ) -> PyResult<Operand> {
        let array = array::to_array(given, wanted, place)?;
        self.arrays.push(given.cast::<PyUntypedArray>()?.clone());
        let (start, bytes) = (array.start(), array.bytes());
        Ok(Operand::uniform(MapArg::Array { start, bytes, writable: wanted.writable }))
    }

    fn constant(&mut self, bits: u64, ty: Ty) -> Operand {
        // The element's bytes first, whatever the byte order.
        let aligned = if cfg!(target_endian = "big") { bits << (64 - 8 * ty.size()) } else { bits };
        let mut bytes = Box::new(aligned.to_ne_bytes());
        let start = bytes.as_mut_ptr();
        self.constants.push(bytes);
        Operand { start, shape: vec![], strides: vec![], ty, uniform: None }
    }
}

/// The common shape of all operands, which is that of `out`, if given.
fn broadcast(
    export: &Export,
    inputs: &[Operand],
    mask: Option<&Operand>,
    out: Option<&Bound<'_, PyUntypedArray>>,
) -> PyResult<Vec<usize>> {
    let mut shape: Vec<usize> = Vec::new();
    let fixed = out.map(|out| out.shape());
    let all = inputs.iter().filter(|o| o.uniform.is_none()).chain(mask).map(|o| &o.shape[..]).chain(fixed);
    for other in all {
        shape = broadcast_two(&shape, other).ok_or_else(|| {
            let operands = inputs.iter().filter(|o| o.uniform.is_none()).chain(mask);
            let shapes: Vec<_> = operands.map(|o| shape_text(&o.shape)).chain(fixed.map(shape_text)).collect();
            let message = format!("{}(): shapes {} do not broadcast together", export.name, shapes.join(", "));
            PyValueError::new_err(message)
        })?;
    }
    if let Some(fixed) = fixed.filter(|fixed| *fixed != shape) {
        let (given, needed) = (shape_text(fixed), shape_text(&shape));
        let message = format!("{}(): `out` has shape {given}, but the result has shape {needed}", export.name);
        return Err(PyValueError::new_err(message));
    }
    Ok(shape)
}

fn broadcast_two(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let n = a.len().max(b.len());
    let extent = |s: &[usize], i: usize| if i + s.len() < n { 1 } else { s[i + s.len() - n] };
    (0..n)
        .map(|i| match (extent(a, i), extent(b, i)) {
            (x, y) if x == y || y == 1 => Some(x),
            (1, y) => Some(y),
            _ => None,
        })
        .collect()
}

/// Where results go.
struct Target<'py> {
    /// What the program writes: `out`, a new array, or a stand-in for an `out` that overlaps an input.
    memory: Bound<'py, PyUntypedArray>,
    ty: Ty,
    is_stand_in: bool,
}

impl<'py> Target<'py> {
    fn new(
        py: Python<'py>,
        export: &Export,
        extras: &Extras<'py>,
        shape: &[usize],
        ty: Ty,
        inputs: &[Operand],
        mask: Option<&Operand>,
    ) -> PyResult<Target<'py>> {
        let new = |zeroed: bool| -> PyResult<Bound<'py, PyUntypedArray>> {
            static EMPTY: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            static ZEROS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
            let (cell, make) = if zeroed { (&ZEROS, "zeros") } else { (&EMPTY, "empty") };
            let shape = PyTuple::new(py, shape)?;
            Ok(cell.import(py, "numpy", make)?.call1((shape, dtype::of(py, ty)?))?.cast_into()?)
        };
        let Some(out) = &extras.out else {
            return Ok(Target { memory: new(extras.mask.is_some())?, ty, is_stand_in: false });
        };
        check_out(export, out, ty)?;
        let layout = (array::data(out), out.shape(), out.strides());
        let clashes = |o: &Operand| {
            let same = layout == (o.start, &o.shape[..], &o.strides[..]) && o.ty == ty;
            o.uniform.is_none() && !same && overlaps(o, layout)
        };
        if inputs.iter().chain(mask).any(clashes) {
            return Ok(Target { memory: new(true)?, ty, is_stand_in: true });
        }
        Ok(Target { memory: out.clone(), ty, is_stand_in: false })
    }

    fn finish(
        self,
        py: Python<'py>,
        is_scalar: bool,
        out: Option<Bound<'py, PyUntypedArray>>,
        mask: Option<Bound<'py, PyUntypedArray>>,
    ) -> PyResult<Py<PyAny>> {
        let Some(out) = out else {
            return Ok(if is_scalar {
                self.memory.call_method0("item")?.unbind()
            } else {
                self.memory.into_any().unbind()
            });
        };
        if self.is_stand_in {
            let options = PyDict::new(py);
            if let Some(mask) = mask {
                options.set_item("where", mask)?;
            }
            py.import("numpy")?.call_method("copyto", (&out, &self.memory), Some(&options))?;
        }
        Ok(out.into_any().unbind())
    }
}

fn check_out(export: &Export, out: &Bound<'_, PyUntypedArray>, ty: Ty) -> PyResult<()> {
    let given: Bound<'_, PyArrayDescr> = out.dtype();
    if dtype::element(&given) != Some(ty) {
        let (name, wanted) = (&export.name, dtype::name(ty));
        let message = format!("{name}(): `out` must be an array of {wanted}, but was given an array of {given}");
        return Err(PyTypeError::new_err(message));
    }
    if !array::is_writable(out) {
        return Err(PyValueError::new_err(format!("{}(): `out` is read-only", export.name)));
    }
    Ok(())
}

/// Do the bytes that an operand and `out` span overlap?
fn overlaps(o: &Operand, (start, shape, strides): (*mut u8, &[usize], &[isize])) -> bool {
    let (a, b) = (span(o.start, &o.shape, &o.strides, o.ty.size()), span(start, shape, strides, o.ty.size().max(8)));
    a.0 < b.1 && b.0 < a.1
}

/// The first byte and the one past the last.
fn span(start: *mut u8, shape: &[usize], strides: &[isize], size: usize) -> (isize, isize) {
    if shape.contains(&0) {
        return (0, 0);
    }
    let ends = shape.iter().zip(strides).map(|(&n, &stride)| (n as isize - 1) * stride);
    let low: isize = ends.clone().map(|e| e.min(0)).sum();
    let high: isize = ends.map(|e| e.max(0)).sum();
    let start = start as isize;
    (start + low, start + high + size as isize)
}

/// An axis: how many elements, and the stride of each operand.
#[derive(Clone)]
struct Axis {
    len: usize,
    strides: Vec<isize>,
}

/// Everything a run needs, without Python objects.
struct Plan {
    /// Axes besides the inner one.
    outer: Vec<Axis>,
    /// The axis that one run of the program goes along.
    inner: Axis,
    /// The operands: inputs, then the result, then the mask.
    operands: Vec<Operand>,
    n_inputs: usize,
    has_result: bool,
    has_mask: bool,
}

// SAFETY: the pointers lead to arrays that the caller of the plan keeps alive; the program accesses them as raw memory.
unsafe impl Send for Plan {}
// SAFETY: as above; a plan is only read.
unsafe impl Sync for Plan {}

/// An inner axis shorter than this gives way to a longer one.
const SHORT_AXIS: usize = 64;

impl Plan {
    fn new(shape: &[usize], inputs: Vec<Operand>, result: Option<Operand>, mask: Option<Operand>) -> Plan {
        let (n_inputs, has_result, has_mask) = (inputs.len(), result.is_some(), mask.is_some());
        let operands: Vec<Operand> = inputs.into_iter().chain(result).chain(mask).collect();
        let strides: Vec<Vec<isize>> = operands.iter().map(|o| o.broadcast_strides(shape)).collect();
        let axes = (0..shape.len()).map(|i| Axis { len: shape[i], strides: strides.iter().map(|s| s[i]).collect() });
        let mut outer = merge(axes.collect());
        if outer.last().is_some_and(|axis| axis.len < SHORT_AXIS) {
            let longest = (0..outer.len()).max_by_key(|&i| outer[i].len).unwrap_or(0);
            let axis = outer.remove(longest);
            outer.push(axis);
        }
        let inner = outer.pop().unwrap_or_else(|| Axis { len: 1, strides: vec![0; operands.len()] });
        Plan { outer, inner, operands, n_inputs, has_result, has_mask }
    }

    /// Runs over everything, on so many threads.
    fn run(&self, context: &Context<'_>, export: &Export, threads: usize, width: usize) -> Result<(), CallError> {
        let rows: usize = self.outer.iter().map(|axis| axis.len).product();
        if rows == 0 || self.inner.len == 0 {
            return Ok(());
        }
        // Parts begin where a gang begins, so that gangs are the same for every number of threads.
        let parts: Vec<_> = if rows >= threads {
            split_range(rows, threads, 1).map(|rows| (rows, 0..self.inner.len)).collect()
        } else {
            split_range(self.inner.len, threads, width).map(|range| (0..rows, range)).collect()
        };
        if let [(rows, range)] = &parts[..] {
            return self.run_part(context, export, rows.clone(), range.clone());
        }
        std::thread::scope(|scope| {
            let start = |(rows, range)| scope.spawn(move || self.run_part(context, export, rows, range));
            let handles: Vec<_> = parts.into_iter().map(start).collect();
            let results: Vec<_> = handles
                .into_iter()
                .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect();
            results.into_iter().collect()
        })
    }

    fn run_part(
        &self,
        context: &Context<'_>,
        export: &Export,
        rows: std::ops::Range<usize>,
        range: std::ops::Range<usize>,
    ) -> Result<(), CallError> {
        for row in rows {
            let elements: Vec<Strided> = (0..self.operands.len()).map(|k| self.elements(k, row, &range)).collect();
            let args: Vec<MapArg> = (0..self.n_inputs)
                .map(|k| match self.operands[k].uniform {
                    Some(arg) => arg,
                    None => MapArg::Varying(elements[k]),
                })
                .collect();
            let result = self.has_result.then(|| elements[self.n_inputs]);
            let mask = self.has_mask.then(|| elements[elements.len() - 1]);
            // SAFETY: the elements lie in arrays that broadcast to this shape and are kept alive; the result is writable.
            unsafe { context.run().map(export, &args, result, mask, range.len())? };
        }
        Ok(())
    }

    /// The elements of an operand in a row.
    fn elements(&self, operand: usize, mut row: usize, range: &std::ops::Range<usize>) -> Strided {
        let stride = self.inner.strides[operand];
        let mut offset = stride * range.start as isize;
        for axis in self.outer.iter().rev() {
            offset += axis.strides[operand] * (row % axis.len) as isize;
            row /= axis.len;
        }
        let Operand { start, ty, .. } = self.operands[operand];
        Strided { start: start.wrapping_offset(offset), stride, len: range.len(), ty }
    }
}

/// Leaves out axes of length 1, sorts the others by stride, and merges those that lie one behind the other.
fn merge(mut axes: Vec<Axis>) -> Vec<Axis> {
    axes.retain(|axis| axis.len != 1);
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.strides.iter().map(|s| s.unsigned_abs()).sum::<usize>()));
    let mut merged: Vec<Axis> = Vec::new();
    for axis in axes {
        match merged.last_mut() {
            Some(last) if last.strides.iter().zip(&axis.strides).all(|(&o, &i)| o == i * axis.len as isize) => {
                *last = Axis { len: last.len * axis.len, strides: axis.strides };
            }
            _ => merged.push(axis),
        }
    }
    merged
}

/// Cuts `0..n` into at most `parts` ranges whose borders are multiples of `grain`.
fn split_range(n: usize, parts: usize, grain: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    let grains = n.div_ceil(grain);
    let parts = parts.clamp(1, grains.max(1));
    (0..parts).map(move |i| {
        let border = |i: usize| (grains * i / parts * grain).min(n);
        border(i)..border(i + 1)
    })
}
