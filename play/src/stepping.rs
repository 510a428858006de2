//! Calls that the page steps through. Each is recorded by a thread of its own, which answers until the next one takes its place.

use crate::check;
use crate::numbers::mask;
use crate::runs::{Call, Printed, trap};
use crate::server::Settings;
use crate::timeline::Timeline;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use spmdvm::vm::View;
use spmdvm::vm::trap::TrapFrame;
use spmdvm::{CallError, Shape};
use spmdvm_debug::masks::Strip;
use spmdvm_debug::recording::Probe;
use spmdvm_debug::session::Seen;
use spmdvm_debug::variables::Lanes;
use spmdvm_debug::writes::{Write, Writes};
use spmdvm_debug::{Console, Limits, Session, Signals, State};
use spmdvm_oracle::trace::in_source;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Most recorded calls that are kept, for as many pages.
const MAX_SESSIONS: usize = 3;

/// How long recording, or going somewhere, may take if there is no limit on time.
const PATIENCE: Duration = Duration::from_secs(60);

/// Most writes to memory that are told.
const MAX_WRITES: usize = 64;

/// Where to go.
#[derive(Deserialize)]
pub struct Wanted {
    session: u64,
    /// The stop or, if `instructions` is true, the position.
    at: u64,
    #[serde(default)]
    instructions: bool,
}

/// A value whose origin is asked for.
#[derive(Deserialize)]
pub struct Question {
    session: u64,
    /// Where it has that value.
    position: u64,
    /// What the stepper's `:why` takes: `x[3]`.
    what: String,
}

/// The calls that are recorded.
#[derive(Default)]
pub struct Steppers {
    next: AtomicU64,
    open: Mutex<VecDeque<Arc<Stepper>>>,
}

/// A recorded call.
struct Stepper {
    id: u64,
    /// The page's name for it, by which its recording is stopped.
    name: String,
    orders: Mutex<Sender<Order>>,
    interrupt: Arc<AtomicBool>,
}

/// What a thread that holds a session is to do, and where the answer goes.
struct Order(Task, Sender<Json>);

enum Task {
    Show { at: u64, instructions: bool },
    Why { position: u64, what: String },
}

impl Drop for Stepper {
    fn drop(&mut self) {
        // Its thread sees that there are no orders any more when it has ended what it does.
        self.interrupt.store(true, Ordering::Relaxed);
    }
}

impl Steppers {
    /// Compiles a program and records a call, within the limits.
    pub fn open(&self, name: &str, call: Call, settings: &Settings) -> Result<Json, String> {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let interrupt = Arc::new(AtomicBool::new(false));
        let (orders, inbox) = channel();
        let stepper =
            Arc::new(Stepper { id, name: name.to_owned(), orders: Mutex::new(orders), interrupt: interrupt.clone() });
        {
            let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.push_back(stepper);
            while open.len() > MAX_SESSIONS {
                open.pop_front();
            }
        }
        let (answer, answered) = channel();
        let settings = settings.clone();
        let limit = settings.options.limits.timeout.unwrap_or(PATIENCE);
        let flag = Arc::clone(&interrupt);
        let work = move || record(id, &call, &settings, &flag, &answer, &inbox);
        let begun = thread::Builder::new().name("spmdvm playground stepper".into()).spawn(work);
        begun.map_err(|error| format!("there can be no thread: {error}"))?;
        let answer = wait(&answered, limit, &interrupt);
        if !answer.as_ref().is_ok_and(|answer| answer["session"].is_number()) {
            self.close(id);
        }
        let mut answer = answer?;
        match answer.get_mut("error").map(Json::take) {
            Some(Json::String(error)) => Err(error),
            _ => Ok(answer),
        }
    }

    /// Shows a recorded call somewhere.
    pub fn show(&self, wanted: &Wanted, settings: &Settings) -> Result<Json, String> {
        let task = Task::Show { at: wanted.at, instructions: wanted.instructions };
        self.order(wanted.session, task, settings)
    }

    /// Tells where a value comes from.
    pub fn why(&self, question: &Question, settings: &Settings) -> Result<Json, String> {
        let task = Task::Why { position: question.position, what: question.what.clone() };
        self.order(question.session, task, settings)
    }

    /// Ends the recording of this name, or the motion that is made in it. Returns whether there is one.
    pub fn stop(&self, name: &str) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let own = open.iter().filter(|stepper| stepper.name == name);
        own.map(|stepper| stepper.interrupt.store(true, Ordering::Relaxed)).count() > 0
    }

    /// Forgets a recorded call.
    pub fn close(&self, id: u64) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).retain(|stepper| stepper.id != id);
    }

    fn order(&self, id: u64, task: Task, settings: &Settings) -> Result<Json, String> {
        const GONE: &str = "this call is not recorded any more: step again";
        let found = {
            let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
            open.iter().find(|stepper| stepper.id == id).cloned()
        };
        let stepper = found.ok_or(GONE)?;
        let (answer, answered) = channel();
        let sent = stepper.orders.lock().unwrap_or_else(PoisonError::into_inner).send(Order(task, answer));
        sent.map_err(|_| GONE)?;
        wait(&answered, settings.options.limits.timeout.unwrap_or(PATIENCE), &stepper.interrupt)
    }
}

/// Waits for an answer; when the time is over, for the one of an interrupted motion.
fn wait(answered: &Receiver<Json>, limit: Duration, interrupt: &AtomicBool) -> Result<Json, String> {
    const FAILED: &str = "the stepper failed at this; please report it";
    match answered.recv_timeout(limit) {
        Ok(answer) => Ok(answer),
        Err(RecvTimeoutError::Timeout) => {
            interrupt.store(true, Ordering::Relaxed);
            answered.recv().map_err(|_| FAILED.into())
        }
        Err(RecvTimeoutError::Disconnected) => Err(FAILED.into()),
    }
}

/// Compiles, records, answers, and goes on answering as long as there may be orders.
fn record(
    id: u64,
    call: &Call,
    settings: &Settings,
    interrupt: &Arc<AtomicBool>,
    answer: &Sender<Json>,
    orders: &Receiver<Order>,
) {
    // Whoever waits for an answer may have gone.
    let say = |json: Json| drop(answer.send(json));
    let error = |why: String| json!({ "error": why });
    let module = match call.program.compile(settings, interrupt) {
        Ok(Ok(module)) => module,
        Ok(Err(failed)) => return say(check::failed(&failed)),
        Err(why) => return say(error(why)),
    };
    let (export, mut arguments) = match call.resolve(&module, settings) {
        Ok(resolved) => resolved,
        Err(why) => return say(error(why)),
    };
    let signals = Signals { interrupt: Arc::clone(interrupt), ..Signals::default() };
    let debug = spmdvm_debug::Settings {
        limits: Limits { bytes: settings.keep, ..Limits::default() },
        signals,
        ..Default::default()
    };
    let printed = Printed::default();
    let values = arguments.values();
    let opened = spmdvm_debug::open((&module, export, &values), debug, printed.sink(), |session| {
        let recorded = Timeline::record(session, settings.steps);
        let timeline = match recorded {
            Ok(timeline) => timeline,
            Err(failure) => return say(error(failure.to_string())),
        };
        let end = end_text(session, &timeline, interrupt.swap(false, Ordering::Relaxed));
        let stopped = session.trap().map(|stopped| trap(stopped, session.recording.program()));
        say(json!({
            "session": id, "stops": timeline.len(), "last": timeline.last, "lanes": module.lanes(),
            "overview": timeline.overview(), "printed": printed.text(), "ended": end,
            "trap": stopped,
            "diagnostics": check::warnings(&module),
        }));
        for Order(task, reply) in orders {
            let mut done = carry_out(session, &timeline, task);
            // What has come to the last instruction again has not tried it again.
            if let (Ok(shown), Some(trap)) = (&mut done, &stopped)
                && shown["position"] == timeline.last
            {
                shown["trap"] = trap.clone();
            }
            interrupt.store(false, Ordering::Relaxed);
            drop(reply.send(done.unwrap_or_else(error)));
        }
    });
    match opened {
        Ok(()) => {}
        Err(CallError::Compile(failed)) => say(check::failed(&failed)),
        Err(CallError::Trap(failed)) => say(json!({ "trap": trap(failed.trap(), failed.program()) })),
        Err(other) => say(error(other.to_string())),
    }
}

/// How the recording ended.
fn end_text(session: &Session<'_>, timeline: &Timeline, interrupted: bool) -> String {
    let last = timeline.last;
    match session.recording.end() {
        Some(Ok(())) => format!("the function returns after {last} instructions"),
        Some(Err(_)) => format!("the program stops after {last} instructions"),
        None if interrupted => format!("stopped: the first {last} instructions are recorded"),
        None => format!("the run goes on: the first {last} instructions are recorded (--steps)"),
    }
}

fn carry_out(session: &mut Session<'_>, timeline: &Timeline, task: Task) -> Result<Json, String> {
    match task {
        Task::Show { at, instructions } => {
            let to = match instructions {
                true => at.min(timeline.last),
                false => timeline.position(usize::try_from(at).unwrap_or(usize::MAX)),
            };
            let from = match (instructions, at) {
                (_, 0) => 0,
                (true, _) => to.saturating_sub(1),
                (false, _) => timeline.position(timeline.at(to).saturating_sub(1)),
            };
            show(session, timeline, from, to)
        }
        Task::Why { position, what } => {
            session.go_to(position.min(timeline.last)).map_err(|failure| failure.to_string())?;
            let answer = Console::new(session, false).execute(&format!(":why {what}"));
            match answer.failed {
                true => Err(answer.text),
                false => Ok(json!({ "text": answer.text })),
            }
        }
    }
}

/// Stops nowhere but where it is told to.
struct Onwards;

impl Probe for Onwards {
    fn arrived(&mut self, _: &View<'_>, _: u64) -> bool {
        false
    }
}

/// What can be seen at a position, and what the way there from an earlier one has changed.
fn show(session: &mut Session<'_>, timeline: &Timeline, from: u64, to: u64) -> Result<Json, String> {
    session.go_to(from).map_err(|failure| failure.to_string())?;
    let before = session.state();
    let mut writes = Writes::new(Onwards);
    if to > from {
        session.recording.forward(to, &mut writes).map_err(|failure| failure.to_string())?;
    }
    let written: Vec<Json> = writes.told.iter().take(MAX_WRITES).map(write).collect();
    let more = writes.more + writes.told.len().saturating_sub(MAX_WRITES) as u64;
    let position = session.recording.position();
    let mut shown = json!({
        "position": position, "stop": timeline.at(position), "written": written, "written_more": more,
    });
    match session.state() {
        Some(state) => here(&mut shown, session, &state, before.filter(|_| to > from)),
        None => shown["returned"] = results(session),
    }
    Ok(shown)
}

fn here(shown: &mut Json, session: &Session<'_>, state: &State, before: Option<State>) {
    let known = before.filter(|before| before.function == state.function && before.depth == state.depth);
    let old = |name: &str| known.as_ref().map(|before| before.variables.iter().find(|seen| seen.name == name));
    shown["function"] = state.function.as_str().into();
    shown["file"] = state.file.as_deref().into();
    shown["line"] = state.line.into();
    shown["pc"] = state.pc.into();
    shown["instruction"] = state.instruction.as_str().into();
    shown["mask"] = mask(state.mask);
    shown["strips"] = state.strips.iter().map(|strip| strip_json(session, strip)).collect();
    let locals = state.variables.iter().map(|seen| variable(seen, old(&seen.name), state.lanes));
    let globals = session.globals();
    shown["variables"] = locals.chain(globals.iter().map(|seen| variable(seen, None, state.lanes))).collect();
    shown["calls"] = calls(session);
}

/// The mask and the line of the construct that it belongs to.
fn strip_json(session: &Session<'_>, strip: &Strip) -> Json {
    let line = strip.pushed_at.and_then(|pc| {
        let view = session.view()?;
        session.lines.place(view.function_id(), pc)
    });
    json!({
        "name": strip.name, "mask": mask(strip.lanes), "meaning": strip.meaning, "level": strip.level,
        "line": line.map(|place| place.line),
    })
}

/// A variable; of one that was there before, with the lanes that have changed. (`None`: it was not looked for.)
fn variable(seen: &Seen, before: Option<Option<&Seen>>, n: usize) -> Json {
    let values = |lanes: &Lanes| -> Vec<String> {
        let shown = if lanes.is_uniform { 1 } else { n };
        (0..shown).map(|lane| lanes.text(lane)).collect()
    };
    let all = u64::MAX >> (64 - n);
    let changed = match (before, &seen.lanes) {
        (None, _) => 0,
        (Some(None), _) => all,
        (Some(Some(old)), Some(lanes)) => match &old.lanes {
            Some(old) if old.ty == lanes.ty && old.is_uniform == lanes.is_uniform => old.differing(lanes, n),
            _ => all,
        },
        (Some(Some(old)), None) => u64::from(old.text != seen.text) * all,
    };
    json!({
        "name": seen.name, "origin": seen.origin, "type": seen.ty, "text": seen.text,
        "uniform": seen.lanes.as_ref().is_none_or(|lanes| lanes.is_uniform),
        "values": seen.lanes.as_ref().map(values), "changed": mask(changed),
    })
}

fn write(write: &Write) -> Json {
    json!({ "place": write.place, "lane": write.lane, "values": write.values, "bytes": write.bytes })
}

/// The calls around the one that executes, the innermost first.
fn calls(session: &Session<'_>) -> Json {
    let Some(view) = session.view() else { return Json::Null };
    let program = view.program();
    let call = |frame: &TrapFrame| {
        let line = program.line_col(frame.span).map(|(_, line, _)| line);
        json!({ "function": in_source(&frame.name), "line": line, "task": frame.task })
    };
    view.stack().iter().map(call).collect()
}

/// What the function has returned.
fn results(session: &Session<'_>) -> Json {
    let results = session.recording.stepping().results();
    let all = results.iter().flat_map(|results| results.to_vec());
    let lanes = all.map(|result| {
        let is_uniform = result.shape == Shape::Uniform;
        let n = if is_uniform { 1 } else { result.words.len() };
        let lanes = Lanes { ty: result.ty, is_uniform, words: result.words };
        (0..n).map(|lane| lanes.text(lane)).collect::<Vec<String>>()
    });
    lanes.collect()
}
