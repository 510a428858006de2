//! Runs a program without the GIL.

use crate::attached::Attached;
use crate::errors;
use crate::interrupt::Watch;
use crate::output::{self, Output};
use crate::progress::Progress;
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
    attached: Attached,
    progress: Option<Arc<Progress>>,
}

impl<'m> Context<'m> {
    /// A run of the module's program, with prints and signals wired up. All runs of a call share its time limit.
    pub fn run(&self) -> Run<'m> {
        let look = self.watch.look();
        let mut run = Run::new(self.module)
            .output(self.output.sink(identity(self.module), self.watch.flag()))
            .interrupt(self.watch.flag())
            .watch(move || look.now())
            .timeout(self.deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())));
        if let Some(profiler) = &self.attached.profiler {
            run = run.profile(Arc::clone(profiler));
        }
        let counted = self.progress.as_ref().and_then(|progress| progress.activity());
        match self.attached.activity.as_ref().or(counted) {
            Some(activity) => run.activity(Arc::clone(activity)),
            None => run,
        }
    }

    /// Fuel that one run may use.
    pub fn fuel_limit(&self) -> Option<u64> {
        self.module.options().limits.fuel
    }

    /// Who is told how far the call is.
    pub fn progress(&self) -> Option<&Progress> {
        self.progress.as_deref()
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
    mut attached: Attached,
    body: impl FnOnce(&Context<'m>) -> Result<T, CallError> + Send,
) -> PyResult<T> {
    let program = identity(module);
    output::refuse_reentry(program)?;
    let progress = attached.progress.take().map(Arc::new);
    let watch = Watch::start(py, module.is_stateful().then_some(program), progress.clone())?;
    let deadline = module.options().limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let context = Context { module, output: Output::default(), watch, deadline, attached, progress };
    let result = py.detach(|| body(&context));
    let Context { output, watch, progress, .. } = context;
    let failure = watch.end().or_else(|| output.failure());
    let told = progress.map_or(Ok(()), |progress| progress.end(py, failure.is_none() && result.is_ok()));
    if let Some(error) = failure {
        return Err(error);
    }
    told?;
    result.map_err(|error| errors::call_error(py, error))
}

/// Refuses what would wait for a call of the module that waits for this very thread.
pub fn refuse_reentry(module: &Module) -> PyResult<()> {
    output::refuse_reentry(identity(module))
}

fn identity(module: &Module) -> usize {
    Arc::as_ptr(module.program()) as usize
}
