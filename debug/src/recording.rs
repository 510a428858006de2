//! A run that can be set to any of its positions. Position *n* is where *n* instructions have been executed.
//!
//! What has been executed once is repeated from the nearest snapshot before, silently, and comes out the same: on one thread
//! a run depends on nothing but its state. Behind what it takes in from outside (the clock, functions of the host) there is
//! a snapshot always, which takes the place of repeating it.

use crate::checkpoints::{Checkpoints, Limits};
use spmdvm::Trap;
use spmdvm::vm::{Program, Stepping, View};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Instructions between two looks at the flag that interrupts.
const SLICE: u64 = 1 << 13;

/// What a session and the run share.
#[derive(Clone, Default)]
pub struct Signals {
    /// Whether the run repeats what it has done before: what it prints then has been printed.
    pub repeats: Arc<AtomicBool>,
    /// Ends the motion that is being made while it is true. Who sets it clears it.
    pub interrupt: Arc<AtomicBool>,
}

/// Why a run is not where it was to be.
#[derive(Clone, Debug)]
pub enum Failure {
    /// The flag was raised on the way.
    Interrupted,
    /// The position was forgotten, because there were too many calls of the host to remember what all of them did.
    Forgotten(u64),
    /// The host has no memory to go back.
    NoMemory(Box<Trap>),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Interrupted => write!(f, "interrupted"),
            Failure::Forgotten(position) => write!(
                f,
                "step {position} has been forgotten: it lies between calls of host functions (or of `clock`), which are not made \
                 again, and there were too many of them to remember"
            ),
            Failure::NoMemory(trap) => write!(f, "there is no memory to go back: {trap}"),
        }
    }
}

impl std::error::Error for Failure {}

/// How a search for a position ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// It is one that was searched for.
    Yes,
    /// There is none: it is the end of the run, or the start.
    No,
}

/// Says which positions a search is for. It is shown every position that it passes, in order.
pub trait Probe {
    /// The run has come to this position, which is not the first that is shown. Returns whether it is one.
    fn arrived(&mut self, view: &View<'_>, position: u64) -> bool;

    /// The run is about to leave this position.
    fn leaving(&mut self, view: &View<'_>, position: u64) {
        let _ = (view, position);
    }
}

/// Is asked at positions whether to go on.
type GoesOn<'a> = &'a mut dyn FnMut(&View<'_>, u64) -> bool;

/// A run, at a position.
pub struct Recording<'s> {
    stepping: Stepping<'s>,
    /// `None` if the run ended where it began.
    checkpoints: Option<Checkpoints>,
    /// The position that has been reached.
    frontier: u64,
    /// Where the run ends, once it is known.
    last: Option<u64>,
    signals: Signals,
}

impl<'s> Recording<'s> {
    /// Records a run that begins.
    pub fn new(mut stepping: Stepping<'s>, signals: Signals, limits: Limits) -> Recording<'s> {
        let checkpoints = stepping.snapshot(None).map(|start| Checkpoints::new(start, limits));
        let last = stepping.end().map(|_| stepping.position());
        Recording { stepping, checkpoints, frontier: 0, last, signals }
    }

    /// Number of instructions that have been executed.
    pub fn position(&self) -> u64 {
        self.stepping.position()
    }

    /// How far the run has been recorded.
    pub fn frontier(&self) -> u64 {
        self.frontier
    }

    /// The last position, if it has been reached.
    pub fn last(&self) -> Option<u64> {
        self.last
    }

    /// The instruction that is executed next; `None` behind the last one.
    pub fn view(&self) -> Option<View<'_>> {
        self.stepping.view()
    }

    /// How the run has ended, if it has.
    pub fn end(&self) -> Option<&Result<(), Trap>> {
        self.stepping.end()
    }

    /// The run itself.
    pub fn stepping(&self) -> &Stepping<'s> {
        &self.stepping
    }

    /// The program.
    pub fn program(&self) -> &Program {
        self.stepping.machine().program()
    }

    /// Number of snapshots that are held, and about how many bytes.
    pub fn size(&self) -> (usize, usize) {
        self.checkpoints.as_ref().map_or((0, 0), Checkpoints::size)
    }

    /// Goes to a position; to the end if there are fewer.
    pub fn go_to(&mut self, position: u64) -> Result<(), Failure> {
        let here = self.position();
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        if position == here {
            return Ok(());
        }
        if checkpoints.is_lost(position) {
            return Err(Failure::Forgotten(position));
        }
        let from = checkpoints.at_or_before(position).position();
        if position < here || from > here {
            self.restore(from)?;
        }
        self.advance(position, None)
    }

    /// Goes on to the next position that a probe is for, at most up to a limit.
    pub fn forward(&mut self, limit: u64, probe: &mut dyn Probe) -> Result<Found, Failure> {
        let start = self.position();
        let mut found = Found::No;
        let mut goes_on = |view: &View<'_>, position: u64| {
            if position > start && probe.arrived(view, position) {
                found = Found::Yes;
                return false;
            }
            probe.leaving(view, position);
            true
        };
        self.advance(limit, Some(&mut goes_on))?;
        // At the limit nobody has been asked.
        if found == Found::No && self.position() == limit && limit > start && self.end().is_none() {
            let arrived = self.stepping.view().is_some_and(|view| probe.arrived(&view, limit));
            found = if arrived { Found::Yes } else { Found::No };
        }
        Ok(found)
    }

    /// Goes back to the last position before this one that a probe is for; to the start if there is none.
    pub fn backward(&mut self, probe: &mut dyn Probe) -> Result<Found, Failure> {
        let here = self.position();
        let mut upper = here;
        while upper > 0 {
            let Some(checkpoints) = &self.checkpoints else { return Ok(Found::No) };
            let from = checkpoints.at_or_before(upper - 1).position();
            match self.last_in(from, upper, upper < here, probe) {
                Ok(None) => upper = from,
                Ok(Some(position)) => return self.go_to(position).map(|()| Found::Yes),
                Err(failure) => {
                    // As if nothing had been asked.
                    self.signals.interrupt.store(false, Ordering::Relaxed);
                    let _ = self.go_to(here);
                    return Err(failure);
                }
            }
        }
        self.go_to(0).map(|()| Found::No)
    }

    /// The last position that a probe is for, from a snapshot on, up to a position, which may be one or not.
    fn last_in(&mut self, from: u64, to: u64, or_to: bool, probe: &mut dyn Probe) -> Result<Option<u64>, Failure> {
        self.restore(from)?;
        let mut last = None;
        let mut look = |view: &View<'_>, position: u64| {
            if (position > from || position == 0) && probe.arrived(view, position) {
                last = Some(position);
            }
            probe.leaving(view, position);
            true
        };
        self.advance(to, Some(&mut look))?;
        // Where some positions are forgotten, this is not the position.
        if or_to && self.position() == to && self.stepping.view().is_some_and(|view| probe.arrived(&view, to)) {
            last = Some(to);
        }
        Ok(last)
    }

    fn restore(&mut self, position: u64) -> Result<(), Failure> {
        let Some(checkpoints) = &self.checkpoints else { return Ok(()) };
        let snapshot = checkpoints.at_or_before(position);
        self.stepping.restore(snapshot).map_err(|trap| Failure::NoMemory(Box::new(trap)))
    }

    /// Executes instructions up to a position, or the end, or where it is told not to go on; if there is somebody to ask, that
    /// is at each position but the last.
    fn advance(&mut self, to: u64, mut goes_on: Option<GoesOn<'_>>) -> Result<(), Failure> {
        while self.position() < to && self.end().is_none() {
            let here = self.position();
            let Some(checkpoints) = &self.checkpoints else { break };
            let barrier = checkpoints.barrier(here);
            if let Some((at, behind)) = barrier
                && at == here + 1
            {
                // Not to be repeated.
                if let (Some(goes_on), Some(view)) = (&mut goes_on, self.stepping.view())
                    && !goes_on(&view, here)
                {
                    break;
                }
                self.restore(behind)?;
                continue;
            }
            let until = to.min(here + SLICE).min(checkpoints.due(here)).min(barrier.map_or(u64::MAX, |(at, _)| at - 1));
            let repeats = here < self.frontier;
            let until = if repeats { until.min(self.frontier) } else { until };
            self.signals.repeats.store(repeats, Ordering::Relaxed);
            let mut told = false;
            let instructions = until.saturating_sub(here).max(1);
            let took_in = match &mut goes_on {
                None => self.stepping.run(instructions),
                Some(goes_on) => self.stepping.run_while(instructions, |view, position| {
                    told = !goes_on(view, position);
                    !told
                }),
            };
            self.signals.repeats.store(true, Ordering::Relaxed);
            self.arrived(took_in);
            if told {
                break;
            }
            if self.signals.interrupt.load(Ordering::Relaxed) {
                return Err(Failure::Interrupted);
            }
        }
        Ok(())
    }

    /// Takes note of how far the run has come, and keeps a snapshot if one is due.
    fn arrived(&mut self, took_in: bool) {
        let here = self.position();
        self.frontier = self.frontier.max(here);
        if self.end().is_some() {
            self.last = Some(here);
            return;
        }
        let Some(checkpoints) = &mut self.checkpoints else { return };
        if (took_in || here >= checkpoints.due(here))
            && let Some(snapshot) = self.stepping.snapshot(Some(checkpoints.at_or_before(here)))
        {
            checkpoints.add(snapshot, took_in);
        }
    }
}

impl Drop for Recording<'_> {
    /// A run that has not come to its end leaves no traces in memory: all is as before it.
    fn drop(&mut self) {
        if !matches!(self.end(), Some(Ok(()))) {
            let _ = self.restore(0);
        }
    }
}
