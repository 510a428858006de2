//! The native half of the Python package `spmdvm`.
//!
//! A call passes through the modules in this order: [`module`] compiles source, as its [`options`] say, and hands out
//! functions; [`function`] is the callable object; [`memmap`] watches arrays in mapped files; [`bind`] matches
//! positional and keyword arguments with parameters; [`scalar`], [`array`] and [`dtype`] turn Python values into values
//! of the program without copying arrays; [`map`] does the same for functions of varying scalars, which are called like
//! numpy's ufuncs ([`convert`], [`containers`]); [`execute`] runs the program without the GIL, with [`interrupt`]
//! (signals) and [`output`] (prints) wired up, [`stepper`] step by step; [`globals`] shows the program's variables;
//! [`errors`] raises what went wrong. The exception classes and the records they carry are written in Python
//! (`spmdvm/_errors.py`).

mod array;
mod attached;
mod bind;
mod containers;
mod convert;
mod dtype;
mod errors;
mod execute;
mod function;
mod gang;
mod globals;
mod host;
mod interrupt;
mod map;
mod memmap;
mod module;
mod options;
mod output;
mod pointer;
mod progress;
mod report;
mod scalar;
mod seeing;
mod signature;
mod stats;
mod stepper;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use std::ffi::OsString;

/// The command line, without the GIL; gives the exit code.
#[pyfunction]
fn _main(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| spmdvm_cli::main(args.into_iter()))
}

/// Looks up numpy's C interface, which runs code of Python, in a thread of its own: handlers of signals run in the main
/// thread only. What they raised during a later look-up, in the middle of a call, would be a panic.
fn find_numpy(py: Python<'_>) -> PyResult<()> {
    let look_up = || {
        // Without a thread, at the first call.
        std::thread::Builder::new().spawn(|| Python::attach(numpy::npyffi::is_numpy_2)).ok().map(|thread| thread.join())
    };
    match py.detach(look_up) {
        Some(Err(_)) => Err(PyImportError::new_err("numpy's C interface is not one that spmdvm knows")),
        _ => Ok(()),
    }
}

/// Native half of `spmdvm`; use the names of the package instead.
#[pymodule(gil_used = false)]
fn _spmdvm(m: &Bound<'_, PyModule>) -> PyResult<()> {
    find_numpy(m.py())?;
    m.add_class::<module::Module>()?;
    m.add_class::<function::Function>()?;
    m.add_class::<globals::Globals>()?;
    m.add_class::<pointer::Pointer>()?;
    m.add_class::<gang::PerLane>()?;
    m.add_class::<stepper::Stepping>()?;
    m.add_function(wrap_pyfunction!(module::compile, m)?)?;
    m.add_function(wrap_pyfunction!(module::compile_file, m)?)?;
    m.add_function(wrap_pyfunction!(module::_compile_silently, m)?)?;
    m.add_function(wrap_pyfunction!(module::_rebuild, m)?)?;
    m.add_function(wrap_pyfunction!(_main, m)?)?;
    m.add("__version__", env!("CARGO_PKG_VERSION"))
}
