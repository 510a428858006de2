//! A session: a recorded call with everything that front ends ask of it, as plain data.

use crate::lines::{LinePlace, Lines, is_map};
use crate::masks::{Strip, strips};
use crate::motion::{Motion, Unit};
use crate::recording::{Failure, Found, Recording, Signals};
use crate::stops::{Hit, Kind, Stop, Stops};
use crate::translation::Translation;
use crate::variables::{Lanes, Origin, Storage, Variable, register, visible};
use crate::writes::{Write, Writes};
use crate::{Limits, layout, variables};
use serde::Serialize;
use spmdvm::vm::memory::offset_of;
use spmdvm::vm::trap::{Access, TrapFrame};
use spmdvm::vm::{Accessed, LaneValues, Stepping, View, asm};
use spmdvm::{CallError, Export, Module, Run, Trap, Ty, Value};

/// A call that is being looked at.
pub struct Session<'s> {
    /// The run.
    pub recording: Recording<'s>,
    /// The lines of its program.
    pub lines: Lines,
    /// What the host called.
    pub export: Export,
    mask: u64,
    signals: Signals,
    stops: Vec<Stop>,
    next_id: u32,
}

/// How a session is to be.
#[derive(Clone, Default)]
pub struct Settings {
    /// The lanes that are active at the start; `None`: all.
    pub mask: Option<u64>,
    /// How much is kept of the run.
    pub limits: Limits,
    /// The flag that ends motions while it is true; the session clears it.
    pub signals: Signals,
    /// What the program was translated from, if it was.
    pub translation: Option<Translation>,
}

/// What has come of a motion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Where it was to lead.
    There,
    /// At a stop, on the way.
    Stopped(Hit),
    /// At the end of the run.
    End,
    /// At its start.
    Start,
}

/// What can be seen at a position.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct State {
    /// Number of instructions executed so far.
    pub position: u64,
    /// The last position, if it is known.
    pub last: Option<u64>,
    /// The function, as the source calls it.
    pub function: String,
    /// The file, and the line in it, from 1.
    pub file: Option<String>,
    /// See `file`.
    pub line: Option<u32>,
    /// Index of the instruction in its function, and its text.
    pub pc: u32,
    /// See `pc`.
    pub instruction: String,
    /// Number of calls (and launches) around this one.
    pub depth: usize,
    /// Number of lanes.
    pub lanes: usize,
    /// The active lanes; bit *i* is lane *i*.
    pub mask: u64,
    /// All masks.
    pub strips: Vec<Strip>,
    /// The variables of the function.
    pub variables: Vec<Seen>,
    /// How the run has ended, if it has here.
    pub end: Option<String>,
}

/// A call on the way to an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function, as the source calls it.
    pub function: String,
    /// If it is a task, its number.
    pub task: Option<u64>,
    /// The file, and the line in it, from 1.
    pub file: Option<String>,
    /// See `file`.
    pub line: Option<u32>,
}

/// A variable with its value.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// Its name.
    pub name: String,
    /// What it is.
    pub origin: Origin,
    /// Its type, as the bytecode has it.
    pub ty: String,
    /// Its value, if it is a number per lane, or one for all.
    pub lanes: Option<Lanes>,
    /// Its value as text, if it is something else.
    pub text: Option<String>,
}

/// Opens a session on a call of an export and hands it to `work`. `output` gets what the program prints, once. A call that has
/// not returned when `work` is done leaves no traces in memory.
pub fn open<R>(
    (module, export, args): (&Module, &Export, &[Value<'_>]),
    settings: Settings,
    mut output: impl FnMut(&str) + Send + 'static,
    work: impl FnOnce(&mut Session<'_>) -> R,
) -> Result<R, CallError> {
    let mask = settings.mask.unwrap_or(u64::MAX);
    let repeats = settings.signals.repeats.clone();
    let run = Run::new(module).mask(mask).output(move |text: &str| {
        if !repeats.load(std::sync::atomic::Ordering::Relaxed) {
            output(text);
        }
    });
    let mask = mask & module.options().width.full_mask();
    run.call_stepped(export, args, |stepping| work(&mut Session::new(stepping, export.clone(), mask, settings)))
}

impl<'s> Session<'s> {
    /// A session on a call that has begun; `mask` are the lanes that it began with.
    pub fn new(stepping: Stepping<'s>, export: Export, mask: u64, settings: Settings) -> Session<'s> {
        let Settings { limits, signals, translation, .. } = settings;
        let lines = Lines::new(stepping.machine().program(), translation);
        let recording = Recording::new(stepping, signals.clone(), limits);
        // An instance of a function that was compiled for this call stands elsewhere in its program.
        let own = recording
            .program()
            .exports
            .iter()
            .find(|own| own.declaration == export.declaration && own.name == export.name);
        let export = own.cloned().unwrap_or(export);
        Session { recording, lines, export, mask, signals, stops: Vec::new(), next_id: 1 }
    }

    /// The instruction that is executed next; `None` behind the last one.
    pub fn view(&self) -> Option<View<'_>> {
        self.recording.view()
    }

    /// The line of the source where the run is.
    pub fn place(&self) -> Option<LinePlace> {
        let view = self.view()?;
        self.lines.place(view.function_id(), view.pc())
    }

    /// The file that lines without a file belong to: the one of the function that executes, or that was called.
    pub fn file(&self) -> u32 {
        let users = |place: &LinePlace| !self.lines.is_library(place.file);
        let called = || self.lines.place(self.export.function, 0);
        self.place().filter(users).or_else(called).map_or(0, |place| place.file)
    }

    /// The text of a line.
    pub fn line_text(&self, place: LinePlace) -> Option<&str> {
        self.lines.text(place)
    }

    /// The text of the line where the run is.
    pub fn line_now(&self) -> Option<String> {
        self.place().and_then(|place| self.line_text(place)).map(str::to_owned)
    }

    /// The flag that ends a motion, down again.
    fn clear_interrupt(&self) {
        self.signals.interrupt.store(false, std::sync::atomic::Ordering::Relaxed);
    }

    /// Moves forwards by one unit, or up to a stop. Gives what it wrote to memory, and how many writes more there were.
    pub fn forward(&mut self, unit: Unit) -> Result<(Arrival, Vec<Write>, u64), Failure> {
        let Some(view) = self.view() else { return Ok((Arrival::End, Vec::new(), 0)) };
        let depth = view.depth();
        let motion = Motion::new(&self.lines, unit, depth, false);
        let stops = Stops::new(&self.lines, &self.export, &self.stops);
        let mut writes = Writes::new(Either(motion, stops));
        let found = self.recording.forward(u64::MAX, &mut writes);
        let Writes { inner: Either(_, stops), told, more, .. } = writes;
        let hit = stops.hit;
        self.arrived(found, hit, Arrival::End).map(|arrival| (arrival, told, more))
    }

    /// Moves backwards by one unit. Stops do not count: what lies before has been seen.
    pub fn backward(&mut self, unit: Unit) -> Result<Arrival, Failure> {
        // Behind the end there is no call any more: any line is before it.
        let depth = self.view().map_or(usize::MAX, |view| view.depth());
        let unit = if depth == usize::MAX && unit == Unit::Out { Unit::Instruction } else { unit };
        let mut motion = Motion::new(&self.lines, unit, depth, true);
        let found = self.recording.backward(&mut motion);
        self.arrived(found, None, Arrival::Start)
    }

    /// Goes on to the next stop.
    pub fn resume(&mut self) -> Result<Arrival, Failure> {
        let mut stops = Stops::new(&self.lines, &self.export, &self.stops);
        let found = self.recording.forward(u64::MAX, &mut stops);
        let hit = stops.hit;
        self.arrived(found, hit, Arrival::End)
    }

    /// Goes back to the last stop before here.
    pub fn resume_backward(&mut self) -> Result<Arrival, Failure> {
        let mut stops = Stops::new(&self.lines, &self.export, &self.stops);
        let found = self.recording.backward(&mut stops);
        let hit = stops.hit;
        self.arrived(found, hit, Arrival::Start)
    }

    /// Goes to a position; to the end if there are fewer.
    pub fn go_to(&mut self, position: u64) -> Result<Arrival, Failure> {
        let reached = self.recording.go_to(position);
        self.clear_interrupt();
        reached.map(|()| if self.recording.position() < position { Arrival::End } else { Arrival::There })
    }

    fn arrived(
        &mut self,
        found: Result<Found, Failure>,
        hit: Option<Hit>,
        otherwise: Arrival,
    ) -> Result<Arrival, Failure> {
        self.clear_interrupt();
        Ok(match (found?, hit) {
            (Found::No, _) => otherwise,
            (Found::Yes, None) => Arrival::There,
            (Found::Yes, Some(hit)) => Arrival::Stopped(hit),
        })
    }

    /// Adds a stop; gives its number.
    pub fn add_stop(&mut self, kind: Kind) -> u32 {
        self.next_id += 1;
        self.stops.push(Stop { id: self.next_id - 1, kind });
        self.next_id - 1
    }

    /// The stops.
    pub fn stops(&self) -> &[Stop] {
        &self.stops
    }

    /// Deletes a stop, or all. Returns whether there was any.
    pub fn delete_stops(&mut self, id: Option<u32>) -> bool {
        let before = self.stops.len();
        self.stops.retain(|stop| id.is_some_and(|id| stop.id != id));
        self.stops.len() < before
    }

    /// The trap that the run has come to, if it has.
    pub fn trap(&self) -> Option<&Trap> {
        self.recording.end()?.as_ref().err()
    }

    /// The lanes that were active at the start.
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// The mask that the executing call began with.
    pub fn entry_mask(&self, view: &View<'_>) -> u64 {
        let full = u64::MAX >> (64 - view.lanes());
        view.entry_mask().unwrap_or(if view.task().is_some() { full } else { self.mask })
    }

    /// Goes to the end, past all stops; gives what the call returns, or the trap that ends it.
    pub fn finish(&mut self) -> Result<Result<Option<LaneValues>, Trap>, Failure> {
        self.go_to(u64::MAX)?;
        Ok(match self.trap() {
            Some(trap) => Err(trap.clone()),
            None => Ok(self.recording.stepping().results().and_then(|results| results.to_vec().into_iter().next())),
        })
    }

    /// What can be seen here; `None` behind the last instruction.
    pub fn state(&self) -> Option<State> {
        let view = self.view()?;
        let place = self.place();
        Some(State {
            position: self.recording.position(),
            last: self.recording.last(),
            function: self.lines.function_name(&view.function().name).to_owned(),
            file: place.and_then(|place| self.lines.file_name(place.file)).map(str::to_owned),
            line: place.map(|place| place.line),
            pc: view.pc(),
            instruction: asm::format_inst(view.program(), view.function(), view.pc() as usize),
            depth: view.depth() - view.stack().iter().filter(|frame| is_map(&frame.name)).count().min(view.depth()),
            lanes: view.lanes(),
            mask: view.mask(),
            strips: strips(&view, self.entry_mask(&view)),
            variables: visible(&view, &self.export, &self.lines, false)
                .iter()
                .map(|variable| seen(&view, variable))
                .collect(),
            end: self.trap().map(Trap::to_string),
        })
    }

    /// The calls around the instruction, and tasks' launches, the innermost first: functions, the numbers of tasks, and lines.
    pub fn calls(&self) -> Vec<Call> {
        let Some(view) = self.view() else { return Vec::new() };
        let call = |frame: &TrapFrame| {
            let place = self.lines.of_call(frame.span);
            Call {
                function: self.lines.function_name(&frame.name).to_owned(),
                task: frame.task,
                file: place.and_then(|place| self.lines.file_name(place.file)).map(str::to_owned),
                line: place.map(|place| place.line),
            }
        };
        let mut calls: Vec<Call> = view.stack().iter().filter(|frame| !is_map(&frame.name)).map(call).collect();
        // An instruction of a library function, or one without a place, belongs to the line that it is shown at.
        if let (Some(first), Some(place)) =
            (calls.first_mut(), self.place().filter(|_| self.lines.translation().is_some()))
        {
            (first.file, first.line) = (self.lines.file_name(place.file).map(str::to_owned), Some(place.line));
        }
        calls
    }

    /// The global variables of the source.
    pub fn globals(&self) -> Vec<Seen> {
        let Some(view) = self.view() else { return Vec::new() };
        let globals =
            visible(&view, &self.export, &self.lines, true).into_iter().filter(|v| v.origin == Origin::Global);
        globals.map(|variable| seen(&view, &variable)).collect()
    }
}

/// A variable with its value.
fn seen(view: &View<'_>, variable: &Variable) -> Seen {
    let (name, origin) = (variable.name.to_string(), variable.origin);
    let new = |ty: String, lanes, text| Seen { name, origin, ty, lanes, text };
    match &variable.place {
        Storage::Register(reg) => {
            let lanes = register(view, *reg);
            match pointee(view, &lanes) {
                Some(place) => new("pointer".into(), None, Some(format!("→ {place}"))),
                None => new(lanes.ty.name().into(), Some(lanes), None),
            }
        }
        Storage::Pointer { reg, elem } => {
            let address = register(view, *reg).word(0);
            let n = variables::extent(view, address, elem.size());
            let text = match n {
                Some(n) => elements(view, address, elem, n),
                None => layout::address(address),
            };
            new(format!("{}[]", layout::type_text(elem)), None, Some(text))
        }
        Storage::Memory { address, layout: None, .. } => new(String::new(), None, Some(layout::address(*address))),
        Storage::Memory { address, layout: Some(of), varying } => {
            let name = layout::type_text(of);
            let known = variables::bytes(view, *address, layout::looked_at(of) as usize);
            let Some(bytes) = known else { return new(name, None, Some("(no memory)".into())) };
            let word = |l: usize, size: usize| variables::word(&bytes[l * size..][..size]);
            match (layout::scalar(of), layout::per_lane(of, view.lanes()).filter(|_| *varying)) {
                (Some(ty), _) => {
                    let lanes = Lanes { ty, is_uniform: true, words: vec![word(0, ty.size())] };
                    new(name, Some(lanes), None)
                }
                (None, Some(ty)) => {
                    let all = variables::bytes(view, *address, of.size() as usize).unwrap_or_default();
                    let words = all.chunks(ty.size()).map(variables::word).collect();
                    new(ty.name().into(), Some(Lanes { ty, is_uniform: false, words }), None)
                }
                _ => new(name, None, Some(layout::text(of, &bytes))),
            }
        }
    }
}

/// What a number points to, if it is an address: those of memory are far above what else is kept in 64 bits.
fn pointee(view: &View<'_>, lanes: &Lanes) -> Option<String> {
    let address = lanes.word(0);
    let is_address = lanes.is_uniform && lanes.ty == Ty::U64 && view.memory().pointee(address).is_some();
    let accessed = Accessed { lane: None, access: Access::Read, base: address, offset: offset_of(address), bytes: 1 };
    is_address.then(|| crate::writes::place(view, &accessed))
}

/// An array of so many elements as text.
fn elements(view: &View<'_>, address: u64, elem: &spmdvm::HostType, n: u64) -> String {
    let whole = spmdvm::HostType::Array(Box::new(elem.clone()), n);
    let bytes = variables::bytes(view, address, layout::looked_at(&whole) as usize).unwrap_or_default();
    let plural = if n == 1 { "element" } else { "elements" };
    format!("{} ({n} {plural})", layout::text(&whole, &bytes))
}

/// Stops where one of two does.
struct Either<A, B>(A, B);

impl<A: crate::recording::Probe, B: crate::recording::Probe> crate::recording::Probe for Either<A, B> {
    fn arrived(&mut self, view: &View<'_>, position: u64) -> bool {
        let (a, b) = (self.0.arrived(view, position), self.1.arrived(view, position));
        a || b
    }

    fn leaving(&mut self, view: &View<'_>, position: u64) {
        self.0.leaving(view, position);
        self.1.leaving(view, position);
    }
}
