//! `progress=` of calls: how far a call is, told to Python now and then.
//!
//! The thread of the call tells it, when it polls and between two parts of a call over arrays. What Python raises then stops the
//! program as what a signal handler raises does.

use crate::array;
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyType};
use spmdvm::Activity;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How far a call is, and who is told.
pub struct Progress {
    callback: Py<PyAny>,
    /// Whether it is the bar of the package, which is told the unit too.
    is_bar: bool,
    work: Work,
    told: Mutex<Told>,
}

/// What is counted.
enum Work {
    /// Elements of a call over arrays: those that are done, and all.
    Elements(AtomicU64, u64),
    /// Elements that the program counts itself, in memory; what it counts in the end, and how many elements that is.
    Counted(Counter, u64, u64),
    /// Tasks if there are any; else rounds of loops, of which nobody knows how many there will be.
    Activity(Arc<Activity>),
}

/// An array of one number of 64 bits, to which the program adds atomically.
struct Counter {
    start: *mut u8,
    _array: Py<PyAny>,
}

// SAFETY: the array is kept, its memory is read by atomic operations only, and it is not resized: nobody else has it.
unsafe impl Send for Counter {}
// SAFETY: as above.
unsafe impl Sync for Counter {}

impl Counter {
    fn of(array: &Bound<'_, PyAny>) -> PyResult<Counter> {
        let numbers = array.cast::<PyArray1<i64>>()?;
        let start = array::data(numbers.as_untyped()).cast::<u8>();
        assert!(numbers.len() == 1 && start.cast::<u64>().is_aligned(), "a counter is one number");
        Ok(Counter { start, _array: array.clone().unbind() })
    }

    fn now(&self) -> u64 {
        // SAFETY: it is aligned, was checked to have eight bytes, and lives as long as the array.
        unsafe { AtomicU64::from_ptr(self.start.cast()) }.load(Ordering::Relaxed)
    }
}

#[derive(Default)]
struct Told {
    next: Option<Instant>,
    last: Option<(u64, Option<u64>)>,
}

impl Progress {
    /// Time between two reports.
    const EVERY: Duration = Duration::from_millis(50);

    /// What `progress=` stands for: `True` for the bar, or a callable.
    pub fn of(given: &Bound<'_, PyAny>, function: &str) -> PyResult<Option<Progress>> {
        static BAR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        let py = given.py();
        let asks_for_bar = given.is(PyBool::new(py, true));
        if given.is_none() || given.is(PyBool::new(py, false)) {
            return Ok(None);
        }
        let bar = BAR.import(py, "spmdvm._progress", "Bar")?;
        // A kernel's bar has the name it has in Python.
        let is_bar = asks_for_bar || given.is_exact_instance(bar);
        static COUNTED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        if given.is_exact_instance(COUNTED.import(py, "spmdvm._progress", "Counted")?) {
            return Progress::counted(given).map(Some);
        }
        if !is_bar && !given.is_callable() {
            let shown = crate::options::show(given);
            let message =
                format!("{function}(): `progress` must be True (a bar), or a function f(done, total), not {shown}");
            return Err(PyTypeError::new_err(message));
        }
        let callback = match asks_for_bar {
            true => bar.call1((function,))?,
            false => given.clone(),
        };
        let work = Work::Activity(Arc::new(Activity::new(false)));
        Ok(Some(Progress { callback: callback.unbind(), is_bar, work, told: Mutex::default() }))
    }

    /// What a program counts itself.
    fn counted(given: &Bound<'_, PyAny>) -> PyResult<Progress> {
        let counter = Counter::of(&given.getattr("counter")?)?;
        let work = Work::Counted(counter, given.getattr("all")?.extract()?, given.getattr("total")?.extract()?);
        let callback = given.getattr("callback")?.unbind();
        Ok(Progress { callback, is_bar: given.getattr("is_bar")?.extract()?, work, told: Mutex::default() })
    }

    /// The same for a call over so many elements.
    #[must_use]
    pub fn over(self, elements: u64) -> Progress {
        Progress { work: Work::Elements(AtomicU64::new(0), elements), ..self }
    }

    /// What the machine is to count in.
    pub fn activity(&self) -> Option<&Arc<Activity>> {
        match &self.work {
            Work::Activity(activity) => Some(activity),
            Work::Elements(..) | Work::Counted(..) => None,
        }
    }

    /// So many more elements are done.
    pub fn add(&self, elements: u64) {
        if let Work::Elements(done, _) = &self.work {
            done.fetch_add(elements, Ordering::Relaxed);
        }
    }

    /// How much is done, of how much if that is known, and of what.
    fn state(&self) -> (u64, Option<u64>, &'static str) {
        match &self.work {
            Work::Elements(done, all) => (done.load(Ordering::Relaxed), Some(*all), "elements"),
            Work::Counted(counter, all, total) => {
                let done = counter.now().min(*all) as u128 * *total as u128 / (*all).max(1) as u128;
                (done as u64, Some(*total), "elements")
            }
            Work::Activity(activity) => match activity.tasks() {
                (0, _) => (activity.rounds(), None, "rounds"),
                (launched, ended) => (ended, Some(launched), "tasks"),
            },
        }
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether it is time for the next report.
    pub fn is_due(&self, now: Instant) -> bool {
        self.told().next.is_none_or(|next| now >= next)
    }

    /// Tells how far the call is.
    pub fn tell(&self, py: Python<'_>) -> PyResult<()> {
        let state = self.state();
        let result = self.report(py, state);
        // After the report: one that takes long is not followed by the next at once.
        self.told().next = Some(Instant::now() + Progress::EVERY);
        result
    }

    /// The call has ended: the last report, if all is done, unless it was made already.
    pub fn end(&self, py: Python<'_>, succeeded: bool) -> PyResult<()> {
        let (done, total, unit) = self.state();
        // Of elements some are missing where a part of the call has failed.
        let succeeded = succeeded && (!matches!(self.work, Work::Elements(..)) || total == Some(done));
        let total = total.unwrap_or(done);
        let all = if succeeded { self.report(py, (total, Some(total), unit)) } else { Ok(()) };
        let closed = if self.is_bar { self.callback.call_method1(py, "close", (succeeded,)).map(drop) } else { Ok(()) };
        all.and(closed)
    }

    fn report(&self, py: Python<'_>, (done, total, unit): (u64, Option<u64>, &str)) -> PyResult<()> {
        if self.told().last.replace((done, total)) == Some((done, total)) && !self.is_bar {
            return Ok(());
        }
        match self.is_bar {
            true => self.callback.call1(py, (done, total, unit)).map(drop),
            false => self.callback.call1(py, (done, total)).map(drop),
        }
    }
}
