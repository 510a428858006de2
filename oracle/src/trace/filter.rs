//! What of a trace is wanted: some lines, functions or lanes, or the part before something happens.

use super::event::{Effect, End, Event, Header, Reason, Register, Step};
use super::sink::Sink;
use std::io;
use std::ops::ControlFlow;
use std::str::FromStr;

/// Which events are wanted. What is printed, the trap and the end always are.
#[derive(Clone, Debug, Default)]
pub struct Wanted {
    /// Of this line of the program's file alone.
    pub line: Option<u32>,
    /// Of this function alone, by its name in the source or in the bytecode.
    pub function: Option<String>,
    /// Where one of these lanes is active, and with the values of these lanes alone.
    pub lanes: Option<Vec<u32>>,
}

/// Hands on the events that are wanted.
#[derive(Debug)]
pub struct Filter<S> {
    to: S,
    wanted: Wanted,
    program: String,
    /// The places of the wanted lanes among those that come.
    places: Vec<usize>,
}

impl<S: Sink> Filter<S> {
    /// Hands on what is wanted.
    pub fn new(wanted: Wanted, to: S) -> Filter<S> {
        Filter { to, wanted, program: String::new(), places: Vec::new() }
    }

    /// What the events have been handed to.
    pub fn into_inner(self) -> S {
        self.to
    }

    fn wants(&self, event: &Event) -> bool {
        match event {
            Event::Enter(enter) => self.wanted.line.is_none() && self.wants_in(&enter.function, enter.mask),
            Event::Return(left) => self.wanted.line.is_none() && self.wants_in(&left.function, left.mask),
            Event::Step(step) => {
                let mask = step.mask | step.mask_after.unwrap_or(0);
                self.wants_in(&step.site.function, mask) && self.wants_line(step)
            }
            Event::Print(_) | Event::Trap(_) | Event::End(_) => true,
        }
    }

    fn wants_line(&self, step: &Step) -> bool {
        let span = step.site.span.as_ref();
        self.wanted.line.is_none_or(|line| span.is_some_and(|span| *span.file == *self.program && span.line == line))
    }

    fn wants_in(&self, function: &str, mask: u64) -> bool {
        let is_active = |lanes: &Vec<u32>| lanes.iter().any(|l| mask >> l & 1 == 1);
        self.wanted.function.as_ref().is_none_or(|name| is_named(function, name))
            && self.wanted.lanes.as_ref().is_none_or(is_active)
    }

    /// The event with the wanted lanes alone.
    fn narrowed(&self, event: &Event) -> Event {
        let mut event = event.clone();
        let registers: &mut [Register] = match &mut event {
            Event::Enter(enter) => &mut enter.parameters,
            Event::Return(left) => &mut left.results,
            Event::Step(step) => {
                step.memory.iter_mut().for_each(|effect| self.narrow_effect(effect));
                step.memory.retain(|effect| !effect.at.is_empty());
                &mut step.writes
            }
            Event::Print(_) | Event::Trap(_) | Event::End(_) => &mut [],
        };
        for register in registers.iter_mut().filter(|register| !register.values.is_uniform) {
            let words = &register.values.words;
            register.values.words = self.places.iter().filter_map(|&at| words.get(at).copied()).collect();
        }
        event
    }

    fn narrow_effect(&self, effect: &mut Effect) {
        let lanes = self.wanted.lanes.as_deref().unwrap_or_default();
        effect.at.retain(|at| at.lane.is_none_or(|lane| lanes.contains(&lane)));
    }
}

/// Returns whether a function of the bytecode has this name there or in the source. Overloads and instances have their types
/// behind the name that the source has.
pub fn is_named(function: &str, name: &str) -> bool {
    function == name || in_source(function) == name
}

/// The name that the source has for a function of the bytecode.
pub fn in_source(function: &str) -> &str {
    let end = function.find(['.', '$']).filter(|&end| end > 0);
    &function[..end.unwrap_or(function.len())]
}

impl<S: Sink> Sink for Filter<S> {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.program = header.program.clone();
        let Some(lanes) = &self.wanted.lanes else { return self.to.begin(header) };
        let place = |lane: &u32| {
            let place = header.lanes.iter().position(|known| known == lane);
            place.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, format!("the trace has no lane {lane}")))
        };
        self.places = lanes.iter().map(place).collect::<io::Result<_>>()?;
        self.to.begin(&Header { lanes: lanes.clone(), ..header.clone() })
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        match (self.wants(event), &self.wanted.lanes) {
            (false, _) => Ok(ControlFlow::Continue(())),
            (true, None) => self.to.event(event),
            (true, Some(_)) => self.to.event(&self.narrowed(event)),
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.finish()
    }
}

/// Where a trace ends before the run does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// Before the first instruction of a line of the program's file.
    Line(u32),
    /// After so many instructions.
    Steps(u64),
    /// At the trap: only what leads to it is shown.
    Trap,
}

impl FromStr for Until {
    type Err = String;

    fn from_str(text: &str) -> Result<Until, String> {
        let wrong = || "this is line=N, steps=N or trap".to_owned();
        match text.split_once('=') {
            None if text == "trap" => Ok(Until::Trap),
            Some(("line", n)) => n.parse().ok().filter(|&n| n > 0).map(Until::Line).ok_or_else(wrong),
            Some(("steps", n)) => n.parse().map(Until::Steps).map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }
}

/// Hands on the events until something happens.
#[derive(Debug)]
pub struct UpTo<S> {
    to: S,
    until: Until,
    program: String,
    steps: u64,
}

impl<S: Sink> UpTo<S> {
    /// Hands on what comes before.
    pub fn new(until: Until, to: S) -> UpTo<S> {
        UpTo { to, until, program: String::new(), steps: 0 }
    }

    /// What the events have been handed to.
    pub fn into_inner(self) -> S {
        self.to
    }

    fn is_reached(&self, event: &Event) -> bool {
        let Event::Step(step) = event else { return false };
        match self.until {
            Until::Line(line) => {
                step.site.span.as_ref().is_some_and(|span| *span.file == *self.program && span.line == line)
            }
            Until::Steps(steps) => self.steps >= steps,
            Until::Trap => false,
        }
    }
}

impl<S: Sink> Sink for UpTo<S> {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.program = header.program.clone();
        self.to.begin(header)
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        if self.is_reached(event) {
            let end = Event::End(End { reason: Reason::Until, steps: self.steps });
            return self.to.event(&end).map(|_| ControlFlow::Break(()));
        }
        self.steps += matches!(event, Event::Step(_)) as u64;
        self.to.event(event)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.finish()
    }
}
