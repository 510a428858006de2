//! Arrays of one call that share memory.
//!
//! The rule: a call over arrays gives what it would give if everything that is only read had been copied before, and
//! `out` been written after all else. So results depend neither on the gang's width nor on the number of threads.
//! Copies are made only where memory may be shared, which is told by the bytes that arrays span.
//!
//! | | a varying argument or `where` | an array that is only read | an array that may be written |
//! |---|---|---|---|
//! | `out` | `out` is written at the end, unless both are the same elements | `out` is written at the end | likewise |
//! | an array that may be written | the argument is copied | it is copied | an error |
//!
//! Arrays that the program has as `extern` variables count as arrays that it may write, or (if `const`) only reads.

use super::operands::{Kept, Operand};
use crate::bind;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spmdvm::{Export, HostAccess, MapArg, Module, Ty};

/// The first byte of something and the one past its last.
pub type Span = (isize, isize);

/// The memory of a module's `extern` variables, and whether the program may write to it.
pub fn supplied(module: &Module) -> Vec<(Span, bool)> {
    let externs = module.globals().filter(|global| global.access() == HostAccess::Supply);
    let memory = externs.filter_map(|global| Some((global.memory().ok()?, !global.is_constant())));
    let span = |start: isize, bytes: usize| (start, start + bytes as isize);
    memory.map(|(memory, writable)| (span(memory.start() as isize, memory.bytes()), writable)).collect()
}

/// Copies what the program only reads and might change by what it writes. Two arrays that it may write to must lie
/// apart.
pub fn separate<'py>(
    py: Python<'py>,
    export: &Export,
    kept: &mut Kept<'py>,
    inputs: &mut [Operand],
    mask: Option<&mut Operand>,
    supplied: &[(Span, bool)],
) -> PyResult<()> {
    let written: Vec<(usize, Span)> =
        inputs.iter().enumerate().filter(|(_, o)| is_written(o)).map(|(i, o)| (i, span(o))).collect();
    for (at, &(i, span)) in written.iter().enumerate() {
        if let Some((j, _)) = written[..at].iter().find(|(_, other)| meet(*other, span)) {
            let label = |i: usize| bind::label(&export.params[i], i);
            let message = format!(
                "{}(): `{}` and `{}` share memory, and the program may write to both; pass a copy of one of them, or \
                 declare a parameter `const` that is only read",
                export.name,
                label(*j),
                label(i)
            );
            return Err(PyValueError::new_err(message));
        }
    }
    let others = supplied.iter().filter(|(_, writable)| *writable).map(|(span, _)| *span);
    let written: Vec<Span> = written.into_iter().map(|(_, span)| span).chain(others).collect();
    let read = inputs.iter_mut().filter(|o| !is_written(o)).chain(mask);
    for operand in read.filter(|o| written.iter().any(|written| meet(*written, span(o)))) {
        kept.copy(py, operand)?;
    }
    Ok(())
}

/// Returns whether the program may write to it.
pub fn is_written(operand: &Operand) -> bool {
    matches!(operand.uniform, Some(MapArg::Array { writable: true, .. }))
}

/// Returns whether results must wait until everything has been read before they go to `out` (of elements `ty`).
pub fn must_wait<'o>(
    out: &Bound<'_, PyUntypedArray>,
    ty: Ty,
    mut operands: impl Iterator<Item = &'o Operand>,
    supplied: &[(Span, bool)],
) -> bool {
    let (start, shape, strides) = (crate::array::data(out), out.shape(), out.strides());
    let bytes = span_of(start as isize, shape, strides, ty.size());
    // Elements that are read before they are written, one by one.
    let same = |o: &Operand| {
        o.uniform.is_none() && (o.start, &o.shape[..], &o.strides[..], o.ty) == (start, shape, strides, ty)
    };
    let meets_supplied = supplied.iter().any(|(span, _)| meet(*span, bytes));
    meets_supplied || meets_itself(shape, strides, ty.size()) || operands.any(|o| meet(span(o), bytes) && !same(o))
}

/// Returns whether an operand and an array share memory.
pub fn touches(operand: &Operand, array: &Bound<'_, PyUntypedArray>, ty: Ty) -> bool {
    meet(span(operand), span_of(crate::array::data(array) as isize, array.shape(), array.strides(), ty.size()))
}

fn meet(a: Span, b: Span) -> bool {
    a.0 < b.1 && b.0 < a.1
}

fn span(operand: &Operand) -> Span {
    match operand.uniform {
        Some(MapArg::Array { start, bytes, .. }) => (start as isize, start as isize + bytes as isize),
        Some(_) => (0, 0),
        None => span_of(operand.start as isize, &operand.shape, &operand.strides, operand.ty.size()),
    }
}

fn span_of(start: isize, shape: &[usize], strides: &[isize], size: usize) -> Span {
    if shape.contains(&0) {
        return (0, 0);
    }
    let ends = shape.iter().zip(strides).map(|(&n, &stride)| (n as isize - 1) * stride);
    let low: isize = ends.clone().map(|e| e.min(0)).sum();
    let high: isize = ends.map(|e| e.max(0)).sum();
    (start + low, start + high + size as isize)
}

/// Returns whether two elements of one array may share memory. Not if each axis steps over all that the axes with smaller steps span.
fn meets_itself(shape: &[usize], strides: &[isize], size: usize) -> bool {
    if shape.contains(&0) {
        return false;
    }
    let mut axes: Vec<_> =
        shape.iter().zip(strides).filter(|(n, _)| **n > 1).map(|(n, s)| (s.unsigned_abs(), *n)).collect();
    axes.sort_unstable();
    let mut inner = size;
    axes.into_iter().any(|(stride, n)| {
        let meets = stride < inner;
        inner += stride * (n - 1);
        meets
    })
}
