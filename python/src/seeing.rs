//! Calls that are looked at: `Module.profile` and `Module.timeline`. The classes of what they give are in `spmdvm/_profile.py`.

use crate::attached::Attached;
use crate::containers;
use crate::function::Function;
use crate::memmap;
use crate::module::Module;
use crate::options;
use crate::pointer::Pointer;
use crate::stepper::Serving;
use numpy::PyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use spmdvm::{Activity, LineCount, Profiler};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// The name of the Python module with the classes.
const MODULE: &str = "spmdvm._profile";

/// A call as `Module.profile` and the like are given it.
struct Call<'a, 'py> {
    module: &'a Bound<'py, Module>,
    /// What is to be done with it, for messages.
    what: &'a str,
    function: Bound<'py, Function>,
    args: &'a Bound<'py, PyTuple>,
    kwargs: Option<&'a Bound<'py, PyDict>>,
}

impl<'a, 'py> Call<'a, 'py> {
    fn new(
        module: &'a Bound<'py, Module>,
        what: &'a str,
        function: &Bound<'py, PyAny>,
        args: &'a Bound<'py, PyTuple>,
        kwargs: Option<&'a Bound<'py, PyDict>>,
    ) -> PyResult<Call<'a, 'py>> {
        let found = if let Ok(name) = function.extract::<String>() {
            module.getattr(name)?.cast_into::<Function>().map_err(|_| {
                let shown = options::show(function);
                PyValueError::new_err(format!("{what}(): {shown} is no exported function"))
            })?
        } else if let Ok(found) = function.cast::<Function>() {
            if !Arc::ptr_eq(&found.get().compiled, &module.get().compiled) {
                let name = &found.get().name;
                return Err(PyValueError::new_err(format!("{what}(): {name}() is a function of another module")));
            }
            found.clone()
        } else {
            let mut message = format!(
                "{what}() takes a function of the module, or its name, and then its arguments; not {}",
                options::show(function)
            );
            if function.get_type().hasattr("spmd_source")? {
                message += &format!(". A kernel has a method of its own: kernel.{what}(…)");
            }
            return Err(PyTypeError::new_err(message));
        };
        Ok(Call { module, what, function: found, args, kwargs })
    }

    /// Makes the call.
    fn run(&self, attached: Attached) -> PyResult<Py<PyAny>> {
        let function = self.function.get();
        if containers::lazily(self.function.as_any(), self.args, self.kwargs)?.is_some() {
            let (what, name) = (self.what, &function.name);
            let message = format!("{what}(): {name}() was given a lazy array; compute it first (x.compute())");
            return Err(PyTypeError::new_err(message));
        }
        let mapped = memmap::watch(&function.name, self.args, self.kwargs)?;
        let result = function.call(self.module.py(), self.args, self.kwargs, attached);
        mapped.check().and(result)
    }
}

/// `Module.profile`.
pub fn profile<'py>(
    module: &Bound<'py, Module>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = module.py();
    let call = Call::new(module, "profile", function, args, kwargs)?;
    let profiler = Arc::new(Mutex::new(Profiler::new().of_elements()));
    let began = Instant::now();
    let result = call.run(Attached { profiler: Some(Arc::clone(&profiler)), ..Attached::default() })?;
    let took = began.elapsed();
    let seen = py.detach(|| profiler.lock().unwrap_or_else(PoisonError::into_inner).profile());
    let total = seen.time().as_secs_f64();
    let lines = PyList::empty(py);
    for line in &seen.lines {
        lines.append(line_data(line, total))?;
    }
    let sources = PyDict::new(py);
    for source in &module.get().compiled.module.program().sources {
        if seen.lines.iter().any(|line| line.file == source.name) {
            sources.set_item(&source.name, &*source.text)?;
        }
    }
    let addresses = PyArray1::from_vec(py, seen.elements.iter().map(|e| e.address as u64).collect());
    let shares = PyArray1::from_vec(py, seen.elements.iter().map(|e| e.active as f64 / e.possible as f64).collect());
    let facts = PyDict::new(py);
    facts.set_item("function", &call.function.get().name)?;
    facts.set_item("width", module.get().compiled.module.options().width.lanes())?;
    facts.set_item("instructions", seen.instructions())?;
    facts.set_item("samples", seen.samples)?;
    facts.set_item("seconds", took.as_secs_f64())?;
    facts.set_item("result", result)?;
    facts.set_item("arguments", arguments(args, kwargs)?)?;
    py.import(MODULE)?.getattr("_profile")?.call((lines, sources, (addresses, shares)), Some(&facts))
}

type LineData<'l> = (&'l str, usize, &'l str, u64, u64, u64, f64, f64, u64, u64);

fn line_data(line: &LineCount, total: f64) -> LineData<'_> {
    let time = line.time.as_secs_f64();
    let share = if total > 0.0 { time / total } else { 0.0 };
    let LineCount { file, line, text, count, active, possible, instructions, in_library, .. } = line;
    (file, *line, text, *count, *active, *possible, time, share, *instructions, *in_library)
}

/// All arguments, by name or position.
fn arguments<'py>(args: &Bound<'py, PyTuple>, kwargs: Option<&Bound<'py, PyDict>>) -> PyResult<Bound<'py, PyList>> {
    let list = args.to_list();
    kwargs.map_or(Ok(()), |kwargs| kwargs.values().iter().try_for_each(|value| list.append(value)))?;
    Ok(list)
}

/// A call as it is stepped through, which a session serves.
pub fn step<'py>(
    module: &Bound<'py, Module>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
    stepper: Serving,
) -> PyResult<Py<PyAny>> {
    let mut call = Call::new(module, "stepper", function, args, kwargs)?;
    let py = module.py();
    // Addresses mean something in the program that they come from.
    let has_pointers = arguments(args, kwargs)?.iter().any(|given| given.is_instance_of::<Pointer>());
    if !has_pointers && let Some(found) = Function::find(&module.get().by_steps(py)?, &call.function.get().name) {
        call.function = Bound::new(py, found)?;
    }
    call.run(Attached { stepper: Some(stepper), ..Attached::default() })
}

/// `Module.timeline`.
pub fn timeline<'py>(
    module: &Bound<'py, Module>,
    function: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = module.py();
    let call = Call::new(module, "timeline", function, args, kwargs)?;
    let activity = Arc::new(Activity::new(true));
    let result = call.run(Attached { activity: Some(Arc::clone(&activity)), ..Attached::default() })?;
    let took = activity.now();
    let (mut stretches, left_out) = activity.stretches();
    stretches.sort_by_key(|stretch| (stretch.begin, stretch.end));
    let compiled = &module.get().compiled.module;
    let functions = &compiled.program().functions;
    let (mut order, caller) = (Vec::new(), thread::current().id());
    for stretch in &stretches {
        if !order.contains(&stretch.thread) {
            order.push(stretch.thread);
        }
    }
    let rows = PyList::empty(py);
    for stretch in &stretches {
        // An instance for other types was compiled apart, and has other numbers.
        let task = functions.get(stretch.function.0 as usize).filter(|function| function.is_task);
        let name = task.map_or("task", |function| function.name.as_str());
        let thread = order.iter().position(|thread| *thread == stretch.thread);
        let (begin, end) = (stretch.begin.as_secs_f64(), stretch.end.as_secs_f64());
        rows.append((name, stretch.launch, stretch.task, thread, begin, end, stretch.is_last))?;
    }
    let facts = PyDict::new(py);
    facts.set_item("function", &call.function.get().name)?;
    facts.set_item("seconds", took.as_secs_f64())?;
    facts.set_item("most_threads", compiled.options().task_threads())?;
    facts.set_item("callers", order.iter().map(|thread| *thread == caller).collect::<Vec<bool>>())?;
    facts.set_item("left_out", left_out)?;
    facts.set_item("result", result)?;
    py.import(MODULE)?.getattr("_timeline")?.call((rows,), Some(&facts))
}
