//! Prints of programs go to Python's `sys.stdout`, whatever it is at that moment.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// The programs whose prints this thread is writing, by address.
    static PRINTING: RefCell<Vec<usize>> = const { RefCell::new(Vec::new()) };
}

/// Where the prints of one call go. Remembers the first error of `sys.stdout`; after it, prints are dropped.
#[derive(Clone, Default)]
pub struct Output {
    failure: Arc<Mutex<Option<PyErr>>>,
}

impl Output {
    /// A sink for the prints of the program that lives at `program`.
    pub fn sink(&self, program: usize) -> impl FnMut(&str) + Send + 'static {
        let failure = Arc::clone(&self.failure);
        let mut failed = false;
        move |text| {
            if failed {
                return;
            }
            PRINTING.with_borrow_mut(|list| list.push(program));
            // While the interpreter shuts down there is nobody to print for.
            let written = Python::try_attach(|py| write(py, text)).unwrap_or(Ok(()));
            PRINTING.with_borrow_mut(|list| list.pop());
            if let Err(error) = written {
                failed = true;
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        }
    }

    /// The error of `sys.stdout`, if there was one.
    pub fn failure(&self) -> Option<PyErr> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn write(py: Python<'_>, text: &str) -> PyResult<()> {
    let stdout = py.import("sys")?.getattr("stdout")?;
    if !stdout.is_none() {
        stdout.call_method1("write", (text,))?;
    }
    Ok(())
}

/// Refuses to call a program from within one of its own prints (by a `sys.stdout` that does so): it may hold a lock.
pub fn refuse_reentry(program: usize) -> PyResult<()> {
    if PRINTING.with_borrow(|list| list.contains(&program)) {
        return Err(PyRuntimeError::new_err(
            "a program cannot be called while it prints, from within sys.stdout.write",
        ));
    }
    Ok(())
}
