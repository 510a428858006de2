//! What goes along with a call from Python to watch it: a profiler, a record of its tasks, a display of its progress.

use crate::function::Function;
use crate::progress::Progress;
use crate::stepper::Serving;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spmdvm::{Activity, Profiler};
use std::sync::{Arc, Mutex};

/// What watches a call; by default nothing.
#[derive(Default)]
pub struct Attached {
    /// Has the interpreter run the call, and counts what it does.
    pub profiler: Option<Arc<Mutex<Profiler>>>,
    /// Records the tasks.
    pub activity: Option<Arc<Activity>>,
    /// Is told how far the call is.
    pub progress: Option<Progress>,
    /// Executes the call step by step.
    pub stepper: Option<Serving>,
}

impl Attached {
    /// Takes `progress` out of the keyword arguments, unless the function has a parameter of that name.
    pub fn take_progress<'py>(
        &mut self,
        function: &Function,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(kwargs) = kwargs else { return Ok(None) };
        let is_parameter = || function.exports().any(|e| e.params.iter().any(|p| p.name == "progress"));
        let Some(given) = kwargs.get_item("progress")?.filter(|_| !is_parameter()) else {
            return Ok(Some(kwargs.clone()));
        };
        let rest = kwargs.copy()?;
        rest.del_item("progress")?;
        self.progress = Progress::of(&given, &function.name)?;
        Ok(Some(rest))
    }

    /// Returns whether all of the call is to run on one thread, as one piece.
    pub fn is_profiled(&self) -> bool {
        self.profiler.is_some()
    }
}
