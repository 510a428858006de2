//! Arguments of a call over arrays as memory.

use crate::array::{self, Wanted};
use crate::bind;
use crate::dtype;
use crate::scalar::{self, shape_text};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use spmdvm::{Export, MapArg, Ty};

/// One argument.
pub struct Operand {
    pub start: *mut u8,
    /// Its own shape, and a stride for each axis.
    pub shape: Vec<usize>,
    pub strides: Vec<isize>,
    pub ty: Ty,
    /// For a uniform parameter, what is passed instead of elements.
    pub uniform: Option<MapArg>,
    /// Which of the kept arrays it is.
    source: Option<usize>,
}

impl Operand {
    /// A scalar that all elements see.
    pub fn word(bits: u64) -> Operand {
        Operand::uniform(MapArg::Uniform(bits))
    }

    fn uniform(arg: MapArg) -> Operand {
        let start = std::ptr::null_mut();
        Operand { start, shape: vec![], strides: vec![], ty: Ty::U64, uniform: Some(arg), source: None }
    }

    /// The strides over the axes of `shape`, to which this operand broadcasts.
    pub fn broadcast_strides(&self, shape: &[usize]) -> Vec<isize> {
        let missing = shape.len() - self.shape.len();
        let own = self.shape.iter().zip(&self.strides).map(|(&n, &stride)| if n == 1 { 0 } else { stride });
        std::iter::repeat_n(0, missing).chain(own).collect()
    }

    /// The bits of the element at an address.
    pub fn read(&self, at: *const u8) -> u64 {
        let mut bytes = [0; 8];
        let size = self.ty.size();
        let low = if cfg!(target_endian = "big") { 8 - size } else { 0 };
        // SAFETY: the address is that of an element, of this size, and the array is kept.
        unsafe { std::ptr::copy_nonoverlapping(at, bytes[low..].as_mut_ptr(), size) };
        u64::from_ne_bytes(bytes)
    }
}

/// Arrays and constants that must live as long as the run.
#[derive(Default)]
pub struct Kept<'py> {
    arrays: Vec<Bound<'py, PyUntypedArray>>,
    // Boxed, because pointers lead to them.
    #[allow(clippy::vec_box)]
    constants: Vec<Box<[u8; 8]>>,
}

impl<'py> Kept<'py> {
    /// An argument for a varying parameter: a number, or an array.
    pub fn operand(&mut self, given: &Bound<'py, PyAny>, ty: Ty, place: &dyn Fn() -> String) -> PyResult<Operand> {
        let Ok(array) = given.cast::<PyUntypedArray>() else {
            return Ok(self.constant(scalar::to_bits(given, ty, place)?.0, ty));
        };
        if dtype::element(&array.dtype()) == Some(ty) {
            return Ok(self.array(array, ty));
        }
        let cast = array.call_method1("astype", (dtype::of(given.py(), ty)?,))?;
        Ok(self.array(cast.cast::<PyUntypedArray>()?, ty))
    }

    /// The elements of an array.
    pub fn array(&mut self, array: &Bound<'py, PyUntypedArray>, ty: Ty) -> Operand {
        let (shape, strides) = (array.shape().to_vec(), array.strides().to_vec());
        let source = Some(self.keep(array));
        Operand { start: array::data(array), shape, strides, ty, uniform: None, source }
    }

    fn keep(&mut self, array: &Bound<'py, PyUntypedArray>) -> usize {
        self.arrays.push(array.clone());
        self.arrays.len() - 1
    }

    /// All arrays.
    pub fn arrays(&self) -> impl Iterator<Item = &Bound<'py, PyAny>> {
        self.arrays.iter().map(|array| array.as_any())
    }

    /// The array that an operand is.
    pub fn source(&self, operand: &Operand) -> Option<&Bound<'py, PyUntypedArray>> {
        operand.source.map(|i| &self.arrays[i])
    }

    /// Moves an operand to memory of its own.
    pub fn copy(&mut self, py: Python<'py>, operand: &mut Operand) -> PyResult<()> {
        let Some(array) = self.source(operand) else { return Ok(()) };
        let copy = py.import("numpy")?.call_method1("array", (array,))?.cast_into::<PyUntypedArray>()?;
        match &mut operand.uniform {
            Some(MapArg::Array { start, .. }) => *start = array::data(&copy),
            _ => {
                *operand = self.array(&copy, operand.ty);
                return Ok(());
            }
        }
        operand.source = Some(self.keep(&copy));
        Ok(())
    }

    /// Copies the elements of a varying parameter to memory where they lie one behind the other, all that there are in a shape.
    pub fn spread(&mut self, py: Python<'py>, operand: &mut Operand, shape: &[usize]) -> PyResult<()> {
        let Some(array) = self.source(operand).filter(|_| operand.uniform.is_none()) else { return Ok(()) };
        let numpy = py.import("numpy")?;
        let all = numpy.call_method1("broadcast_to", (array, PyTuple::new(py, shape)?))?;
        let copy = numpy.call_method1("ascontiguousarray", (all,))?.cast_into::<PyUntypedArray>()?;
        if !shape.is_empty() {
            *operand = self.array(&copy, operand.ty);
        }
        Ok(())
    }

    /// An array that all elements see.
    pub fn memory(
        &mut self,
        given: &Bound<'py, PyUntypedArray>,
        wanted: Wanted<'_>,
        place: &dyn Fn() -> String,
    ) -> PyResult<Operand> {
        let array = array::to_array(given, given.as_any(), wanted, place)?;
        let source = Some(self.keep(given));
        let (start, bytes) = (array.start(), array.bytes());
        Ok(Operand { source, ..Operand::uniform(MapArg::Array { start, bytes, writable: wanted.writable }) })
    }

    /// One value for all elements.
    pub fn constant(&mut self, bits: u64, ty: Ty) -> Operand {
        // The element's bytes first, whatever the byte order.
        let aligned = if cfg!(target_endian = "big") { bits << (64 - 8 * ty.size()) } else { bits };
        let mut bytes = Box::new(aligned.to_ne_bytes());
        let start = bytes.as_mut_ptr();
        self.constants.push(bytes);
        Operand { start, shape: vec![], strides: vec![], ty, uniform: None, source: None }
    }
}

/// The common shape of all operands, which is that of `out`, if given.
pub fn broadcast(
    export: &Export,
    inputs: &[Operand],
    mask: Option<&Operand>,
    out: Option<&Bound<'_, PyUntypedArray>>,
) -> PyResult<Vec<usize>> {
    let varying = inputs.iter().enumerate().filter(|(_, o)| o.uniform.is_none());
    let operands =
        varying.map(|(i, o)| (bind::label(&export.params[i], i), o)).chain(mask.map(|o| ("where".into(), o)));
    let operands: Vec<(String, &Operand)> = operands.collect();
    let name = &export.name;
    let mut shape: Vec<usize> = Vec::new();
    for (_, operand) in &operands {
        shape = broadcast_two(&shape, &operand.shape).ok_or_else(|| {
            let arrays = operands.iter().filter(|(_, o)| !o.shape.is_empty());
            let shapes: Vec<_> = arrays.map(|(label, o)| format!("{} of `{label}`", shape_text(&o.shape))).collect();
            PyValueError::new_err(format!("{name}(): the shapes {} do not broadcast together", shapes.join(", ")))
        })?;
    }
    let Some(out) = out.map(|out| out.shape()) else { return Ok(shape) };
    // As numpy's ufuncs, `out` may have more elements than the arguments.
    let fits = broadcast_two(&shape, out).is_some_and(|both| both == out);
    if !fits {
        let (given, needed) = (shape_text(out), shape_text(&shape));
        let message = format!("{name}(): `out` has shape {given}, but the result has shape {needed}");
        return Err(PyValueError::new_err(message));
    }
    Ok(out.to_vec())
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
