//! Runs a program without the GIL.

use crate::errors;
use crate::interrupt::{self, Watch};
use crate::output::{self, Output};
use pyo3::prelude::*;
use spmdvm::{CallError, Module, Run};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

/// What goes along with the runs of one call from Python.
pub struct Context<'m> {
    module: &'m Module,
    output: Output,
    interrupt: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl<'m> Context<'m> {
    /// A run of the module's program, with prints and Ctrl-C wired up. All runs of a call share its time limit.
    pub fn run(&self) -> Run<'m> {
        Run::new(self.module)
            .output(self.output.sink(identity(self.module)))
            .interrupt(Arc::clone(&self.interrupt))
            .watch(interrupt::watch)
            .timeout(self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())))
    }
}

/// Runs `body` without the GIL and turns what goes wrong into exceptions.
pub fn execute<'m, T: Send>(
    py: Python<'_>,
    module: &'m Module,
    body: impl FnOnce(&Context<'m>) -> Result<T, CallError> + Send,
) -> PyResult<T> {
    output::refuse_reentry(identity(module))?;
    let watch = Watch::start(py)?;
    let deadline = module.options().limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let context = Context { module, output: Output::default(), interrupt: watch.flag(), deadline };
    let result = py.detach(|| body(&context));
    drop(watch);
    if let Some(error) = context.output.failure() {
        return Err(error);
    }
    result.map_err(|error| errors::call_error(py, error))
}

fn identity(module: &Module) -> usize {
    Arc::as_ptr(module.program()) as usize
}
