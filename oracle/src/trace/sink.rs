//! Where the events of a trace go.

use super::event::{Event, Header, Step};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Takes the events of a trace, one after another.
pub trait Sink {
    /// The trace begins.
    fn begin(&mut self, header: &Header) -> io::Result<()>;

    /// Something happened. `Break` asks for no more: the sink has what it wants.
    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>>;

    /// There is no more to come.
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<S: Sink + ?Sized> Sink for Box<S> {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        (**self).begin(header)
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        (**self).event(event)
    }

    fn finish(&mut self) -> io::Result<()> {
        (**self).finish()
    }
}

/// Keeps a trace in memory.
#[derive(Debug, Default)]
pub struct Kept {
    /// The header, once it has begun.
    pub header: Option<Header>,
    /// The events so far.
    pub events: Vec<Event>,
}

impl Sink for Kept {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.header = Some(header.clone());
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        self.events.push(event.clone());
        Ok(ControlFlow::Continue(()))
    }
}

/// Writes a trace as lines of JSON.
#[derive(Debug)]
pub struct JsonLines<W> {
    to: W,
}

impl<W: Write> JsonLines<W> {
    /// Writes there; give it a buffered writer.
    pub fn new(to: W) -> JsonLines<W> {
        JsonLines { to }
    }

    /// What has been written to.
    pub fn into_inner(self) -> W {
        self.to
    }

    fn line(&mut self, value: &impl serde::Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.to, value)?;
        self.to.write_all(b"\n")
    }
}

impl<W: Write> Sink for JsonLines<W> {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.line(header)
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        self.line(event).map(ControlFlow::Continue)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// Hands on the last steps before the end alone, with what happened from the first of them on.
#[derive(Debug)]
pub struct Last<S> {
    to: S,
    steps: usize,
    held: VecDeque<Event>,
    held_steps: usize,
}

impl<S: Sink> Last<S> {
    /// Hands on so many steps.
    pub fn new(steps: usize, to: S) -> Last<S> {
        Last { to, steps, held: VecDeque::new(), held_steps: 0 }
    }

    /// What the events have been handed to.
    pub fn into_inner(self) -> S {
        self.to
    }
}

impl<S: Sink> Sink for Last<S> {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        self.to.begin(header)
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        self.held_steps += is_step(event) as usize;
        self.held.push_back(event.clone());
        while self.held_steps > self.steps {
            self.held_steps -= self.held.pop_front().as_ref().is_some_and(is_step) as usize;
            // What happened between the dropped step and the next belongs to the former.
            let next = self.held.iter().position(is_step).unwrap_or(0);
            self.held.drain(..next);
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(&mut self) -> io::Result<()> {
        for event in self.held.drain(..) {
            if self.to.event(&event)?.is_break() {
                break;
            }
        }
        self.to.finish()
    }
}

fn is_step(event: &Event) -> bool {
    matches!(event, Event::Step(Step { .. }))
}
