//! Prints of programs go to Python's `sys.stdout`, whatever it is at that moment.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spmdvm::Module;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

thread_local! {
    /// The programs that wait while this thread runs Python code on their behalf, by address, and why.
    static WAITING: RefCell<Vec<(usize, &'static str)>> = const { RefCell::new(Vec::new()) };
}

/// Where the prints of one call go. Remembers the first error of `sys.stdout`, which stops the program: it may be what the handler
/// of a signal raised.
#[derive(Clone, Default)]
pub struct Output {
    failure: Arc<Mutex<Option<PyErr>>>,
}

impl Output {
    /// A sink for the prints of the program that lives at `program`, which the flag stops.
    pub fn sink(&self, program: usize, stop: Arc<AtomicBool>) -> impl FnMut(&str) + Send + 'static {
        let failure = Arc::clone(&self.failure);
        let mut failed = false;
        move |text| {
            if failed {
                return;
            }
            let why = "while it prints, from within sys.stdout.write";
            // While the interpreter shuts down there is nobody to print for.
            let written = while_waiting(program, why, || Python::try_attach(|py| write(py, text)).unwrap_or(Ok(())));
            if let Err(error) = written {
                failed = true;
                stop.store(true, Ordering::Relaxed);
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

/// Runs Python code that may not call the program that lives at `program`: its lock may be held. `why` ends a sentence.
pub fn while_waiting<R>(program: usize, why: &'static str, work: impl FnOnce() -> R) -> R {
    WAITING.with_borrow_mut(|list| list.push((program, why)));
    let result = work();
    WAITING.with_borrow_mut(|list| list.pop());
    result
}

/// The programs with variables of their own that are stepped through, by address: nobody else can have them meanwhile.
static STEPPED: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// A program is stepped through until this is dropped.
pub struct Stepped(Option<usize>);

/// Begins to step through a program.
pub fn begin_steps(module: &Module) -> PyResult<Stepped> {
    let program = Arc::as_ptr(module.program()) as usize;
    refuse_reentry(program)?;
    let taken = module.is_stateful().then_some(program);
    STEPPED.lock().unwrap_or_else(PoisonError::into_inner).extend(taken);
    Ok(Stepped(taken))
}

impl Drop for Stepped {
    fn drop(&mut self) {
        STEPPED.lock().unwrap_or_else(PoisonError::into_inner).retain(|program| Some(*program) != self.0);
    }
}

/// Refuses to call a program that waits for this very thread, or that is stepped through.
pub fn refuse_reentry(program: usize) -> PyResult<()> {
    if STEPPED.lock().unwrap_or_else(PoisonError::into_inner).contains(&program) {
        let message =
            "a program with global variables cannot be called while it is stepped through; close the stepper first";
        return Err(PyRuntimeError::new_err(message));
    }
    match WAITING.with_borrow(|list| list.iter().find(|(waiting, _)| *waiting == program).copied()) {
        Some((_, why)) => Err(PyRuntimeError::new_err(format!("a program cannot be called {why}"))),
        None => Ok(()),
    }
}
