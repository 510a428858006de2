//! Calls that are executed step by step: the native half of `spmdvm.Stepper` (`spmdvm/_step.py`).
//!
//! A call that is stepped through is a call like any other, on a thread of its own. Where it would run the program, that thread opens
//! a session of the stepper instead and waits for orders: lines for the console, which it answers with text and with what can be
//! seen. At the end of the session the call goes on with what the program gave. While it waits it does not hold the GIL.

use crate::errors;
use crate::map::{Failure, Plan};
use crate::output;
use crate::scalar;
use crate::{dtype, seeing};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spmdvm::tools::{LaneValues, Stepping as Steps};
use spmdvm::{Export, Module, Run, Trap, Value};
use spmdvm_debug::motion::Unit;
use spmdvm_debug::session::{Call, Seen};
use spmdvm_debug::variables::Origin;
use spmdvm_debug::{Arrival, Console, Limits, Session, Settings, Signals, State, Translation};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long whoever waits for an answer does not look whether a signal has come.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What the thread of the call is to do.
enum Order {
    /// What a line for the console says.
    Do(String),
    /// To go to the end, and to end the session there.
    Finish,
}

/// What has come of an order.
struct Answer {
    text: String,
    failed: bool,
    /// What the program has printed on the way.
    printed: String,
    arrival: Option<Arrival>,
    position: u64,
    lanes: usize,
    /// What can be seen, the text of the line, and the calls.
    state: Option<(State, Option<String>, Vec<Call>)>,
}

/// The two ends of a session.
#[pyclass(frozen, name = "_Stepping", module = "spmdvm._spmdvm")]
pub struct Stepping {
    orders: Mutex<Option<Sender<Order>>>,
    answers: Mutex<Receiver<Answer>>,
    interrupt: Arc<AtomicBool>,
    serving: Mutex<Option<Serving>>,
    /// Held as long as there may be answers.
    answering: Mutex<Option<Sender<Answer>>>,
}

/// The end of the thread that makes the call.
pub struct Serving {
    inbox: Mutex<Receiver<Order>>,
    answers: Sender<Answer>,
    settings: Settings,
    /// What has been printed since the last answer.
    printed: Arc<Mutex<String>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Files, lines, functions, variables and lines that declare, as Python gives them.
type Written = (Vec<(String, String)>, Vec<Option<(u32, u32)>>, Pairs, Pairs, Vec<u32>);
type Pairs = std::collections::HashMap<String, String>;

#[pymethods]
impl Stepping {
    /// `keep`: MiB of the run's past that are kept.
    #[new]
    fn new(keep: usize) -> Stepping {
        let (orders, inbox) = channel();
        let (answers, answered) = channel();
        let signals = Signals::default();
        let interrupt = Arc::clone(&signals.interrupt);
        let limits = Limits { bytes: keep.saturating_mul(1 << 20), ..Limits::default() };
        let settings = Settings { limits, signals, ..Settings::default() };
        Stepping {
            orders: Mutex::new(Some(orders)),
            answers: Mutex::new(answered),
            interrupt,
            serving: Mutex::new(Some(Serving {
                inbox: Mutex::new(inbox),
                answers: answers.clone(),
                settings,
                printed: Arc::default(),
            })),
            answering: Mutex::new(Some(answers)),
        }
    }

    /// Makes the call, on the thread of the caller, which serves the session meanwhile. `translation`: what the program was written
    /// from.
    #[pyo3(signature = (module, function, args, kwargs, translation=None))]
    fn serve<'py>(
        &self,
        module: &Bound<'py, crate::module::Module>,
        function: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        translation: Option<Written>,
    ) -> PyResult<Py<PyAny>> {
        let serving = locked(&self.serving).take();
        let mut serving: Serving = serving.ok_or_else(|| PyRuntimeError::new_err("a session serves one call"))?;
        serving.settings.translation = translation.map(|(files, lines, functions, variables, declarations)| {
            let declarations = declarations.into_iter().collect();
            Translation { files, lines, functions, variables, declarations }
        });
        seeing::step(module, function, args, kwargs, serving)
    }

    /// The call has ended: there are no more answers.
    fn ended(&self) {
        locked(&self.answering).take();
        locked(&self.serving).take();
    }

    /// Ends the session where it is.
    fn close(&self) {
        locked(&self.orders).take();
        self.interrupt.store(true, Ordering::Relaxed);
    }

    /// Has a line carried out (`None`: goes to the end); gives the answer, or `None` if the call has ended instead.
    #[pyo3(signature = (line))]
    fn ask<'py>(&self, py: Python<'py>, line: Option<String>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let order = line.map_or(Order::Finish, Order::Do);
        if locked(&self.orders).as_ref().is_none_or(|orders| orders.send(order).is_err()) {
            return Ok(None);
        }
        self.answer(py)
    }

    /// Waits for an answer. Signals are handled meanwhile; what a handler raises ends the motion.
    fn answer<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        loop {
            match py.detach(|| locked(&self.answers).recv_timeout(BETWEEN_LOOKS)) {
                Ok(answer) => return answer.into_python(py).map(Some),
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(raised) = py.check_signals() {
                self.interrupt.store(true, Ordering::Relaxed);
                drop(py.detach(|| locked(&self.answers).recv()));
                return Err(raised);
            }
        }
    }
}

impl Serving {
    /// A call of an export.
    pub fn call(
        self,
        py: Python<'_>,
        module: &Module,
        export: &Export,
        values: Vec<Value<'static>>,
    ) -> PyResult<Option<Value<'static>>> {
        let done = self.run(py, module, move |run, serving| {
            run.call_by_steps(export, &values, |steps| serving.session(steps, export))
        })?;
        done.map_err(|error| errors::call_error(py, error))
    }

    /// A call over arrays; gives the elements that failed.
    pub fn map(self, py: Python<'_>, module: &Module, export: &Export, plan: &Plan) -> PyResult<Result<(), Failure>> {
        let done = self
            .run(py, module, |run, serving| plan.step(run, export, |steps| serving.session(steps, export).map(drop)))?;
        done.ok_or_else(|| {
            PyValueError::new_err("stepper(): `out` must lie in memory as one piece, in the order of its elements")
        })
    }

    /// Runs the program without the GIL, on a session.
    fn run<T: Send>(
        self,
        py: Python<'_>,
        module: &Module,
        body: impl FnOnce(Run<'_>, Serving) -> T + Send,
    ) -> PyResult<T> {
        let _stepped = output::begin_steps(module)?;
        let (printed, repeats) = (Arc::clone(&self.printed), Arc::clone(&self.settings.signals.repeats));
        let run = Run::new(module).output(move |text| {
            if !repeats.load(Ordering::Relaxed) {
                locked(&printed).push_str(text);
            }
        });
        Ok(py.detach(|| body(run, self)))
    }

    /// Answers orders until the session is to end, and gives what the call comes to.
    fn session(self, steps: Steps<'_>, export: &Export) -> Result<Option<LaneValues>, Trap> {
        let Serving { inbox, answers, settings, printed } = self;
        let mask = u64::MAX >> (64 - steps.machine().program().width.lanes());
        let is_translated = settings.translation.is_some();
        let mut session = Session::new(steps, export.clone(), mask, settings);
        if session.place().is_none() || is_translated {
            // What calls a function over arrays has no lines; translators have lines of their own.
            let starts = session.view().is_some_and(|view| session.lines.begins(view.function_id(), view.pc()));
            if !starts {
                drop(session.forward(Unit::LineInto));
            }
        }
        let mut console = Console::new(&mut session, false);
        let (mut text, mut failed) = (console.place(), false);
        loop {
            let arrival = console.arrival().cloned();
            let session = console.session();
            let answer = Answer {
                text,
                failed,
                printed: std::mem::take(&mut *locked(&printed)),
                arrival,
                position: session.recording.position(),
                lanes: session.recording.program().width.lanes(),
                state: session.state().map(|state| (state, session.line_now(), session.calls())),
            };
            if answers.send(answer).is_err() {
                return Ok(None);
            }
            match locked(&inbox).recv() {
                Err(_) => return Ok(None),
                Ok(Order::Do(line)) => {
                    let done = console.execute(&line);
                    if done.quits {
                        return Ok(None);
                    }
                    (text, failed) = (done.text, done.failed);
                }
                Ok(Order::Finish) => match console.session().finish() {
                    Ok(ended) => {
                        let rest = std::mem::take(&mut *locked(&printed));
                        drop(answers.send(Answer::last(rest)));
                        return ended;
                    }
                    Err(failure) => (text, failed) = (format!("error: {failure}\n"), true),
                },
            }
        }
    }
}

impl Answer {
    /// What is printed on the way to the end.
    fn last(printed: String) -> Answer {
        Answer { text: String::new(), failed: false, printed, arrival: None, position: 0, lanes: 0, state: None }
    }

    /// `(text, failed, printed, arrival, position, lanes, state)`, the latter as `spmdvm/_step.py` takes it.
    fn into_python(self, py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
        let arrival = match self.arrival {
            Some(Arrival::Stopped(_)) => "stop",
            Some(Arrival::End) => "end",
            Some(Arrival::Start) => "start",
            Some(Arrival::There) | None => "line",
        };
        let state = self.state.map(|(state, line, calls)| {
            let given = PyDict::new(py);
            given.set_item("file", state.file)?;
            given.set_item("line", state.line)?;
            given.set_item("source", line)?;
            given.set_item("function", state.function)?;
            given.set_item("mask", state.mask)?;
            given.set_item("trap", state.end)?;
            let variables = state.variables.iter().map(|seen| variable(py, seen)).collect::<PyResult<Vec<_>>>()?;
            given.set_item("variables", variables)?;
            let calls = calls.into_iter().map(|call| (call.function, call.file, call.line, call.task));
            given.set_item("calls", calls.collect::<Vec<_>>())?;
            PyResult::Ok(given)
        });
        let state = state.transpose()?;
        (self.text, self.failed, self.printed, arrival, self.position, self.lanes, state).into_pyobject(py)
    }
}

/// Name, what it is, type, whether it is uniform, numbers, text.
fn variable<'py>(py: Python<'py>, seen: &Seen) -> PyResult<Bound<'py, PyTuple>> {
    let origin = match seen.origin {
        Origin::Parameter => "parameter",
        Origin::Local => "local",
        Origin::Global => "global",
    };
    let numbers = match &seen.lanes {
        None => None,
        Some(lanes) => {
            let of = |&bits: &u64| scalar::to_python(py, lanes.ty, bits);
            Some(lanes.words.iter().map(of).collect::<PyResult<Vec<_>>>()?)
        }
    };
    let ty = seen.lanes.as_ref().map_or(seen.ty.as_str(), |lanes| dtype::name(lanes.ty));
    let is_uniform = seen.lanes.as_ref().is_none_or(|lanes| lanes.is_uniform);
    (&*seen.name, origin, ty, is_uniform, numbers, seen.text.as_deref()).into_pyobject(py)
}
