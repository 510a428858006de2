//! Runs a program without the GIL.

use crate::errors;
use crate::interrupt::Watch;
use crate::output::{self, Output};
use pyo3::prelude::*;
use spmdvm::{CallError, Module, Run};
use std::sync::Arc;
use std::time::Instant;

/// What goes along with the runs of one call from Python.
pub struct Context<'m> {
    module: &'m Module,
    output: Output,
    watch: Watch,
    deadline: Option<Instant>,
}

impl<'m> Context<'m> {
    /// A run of the module's program, with prints and signals wired up. All runs of a call share its time limit.
    pub fn run(&self) -> Run<'m> {
        let look = self.watch.look();
        Run::new(self.module)
            .output(self.output.sink(identity(self.module)))
            .interrupt(self.watch.flag())
            .watch(move || look.now())
            .timeout(self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())))
    }

    /// What to watch for while other threads run parts of the call.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }
}

/// Runs `body` without the GIL and turns what goes wrong into exceptions. What a signal handler raised comes first.
pub fn execute<'m, T: Send>(
    py: Python<'_>,
    module: &'m Module,
    body: impl FnOnce(&Context<'m>) -> Result<T, CallError> + Send,
) -> PyResult<T> {
    let program = identity(module);
    output::refuse_reentry(program)?;
    let watch = Watch::start(py, module.is_stateful().then_some(program))?;
    let deadline = module.options().limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let context = Context { module, output: Output::default(), watch, deadline };
    let result = py.detach(|| body(&context));
    let Context { output, watch, .. } = context;
    if let Some(error) = watch.end().or_else(|| output.failure()) {
        return Err(error);
    }
    result.map_err(|error| errors::call_error(py, error))
}

/// Refuses what would wait for a call of the module that waits for this very thread.
pub fn refuse_reentry(module: &Module) -> PyResult<()> {
    output::refuse_reentry(identity(module))
}

fn identity(module: &Module) -> usize {
    Arc::as_ptr(module.program()) as usize
}
