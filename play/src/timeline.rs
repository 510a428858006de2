//! A recorded call as the page's slider sees it: the positions at which lines begin, with their masks.

use crate::numbers::mask;
use serde_json::{Value as Json, json};
use spmdvm::vm::View;
use spmdvm_debug::lines::Lines;
use spmdvm_debug::recording::{Failure, Probe};
use spmdvm_debug::{Recording, Session};

/// Most lines that are noted.
const MAX_STOPS: usize = 1 << 20;

/// Most columns of the overview.
const MAX_COLUMNS: usize = 720;

/// Where the slider can stand.
pub struct Timeline {
    stops: Vec<Stop>,
    /// The last position that was recorded.
    pub last: u64,
}

/// The beginning of a line.
#[derive(Clone, Copy)]
struct Stop {
    position: u64,
    line: u32,
    mask: u64,
}

/// Notes where lines begin.
struct Notes<'l> {
    lines: &'l Lines,
    stops: Vec<Stop>,
}

impl Probe for Notes<'_> {
    fn arrived(&mut self, _: &View<'_>, _: u64) -> bool {
        self.stops.len() >= MAX_STOPS
    }

    fn leaving(&mut self, view: &View<'_>, position: u64) {
        if self.lines.begins(view.function_id(), view.pc()) {
            self.stops.extend(stop(self.lines, view, position));
        }
    }
}

fn stop(lines: &Lines, view: &View<'_>, position: u64) -> Option<Stop> {
    let line = lines.place(view.function_id(), view.pc())?.line;
    Some(Stop { position, line, mask: view.mask() })
}

impl Timeline {
    /// Records a run up to its end, or to so many instructions, or until it is interrupted.
    pub fn record(session: &mut Session<'_>, most: u64) -> Result<Timeline, Failure> {
        let (recording, lines): (&mut Recording<'_>, &Lines) = (&mut session.recording, &session.lines);
        let mut notes = Notes { lines, stops: Vec::new() };
        match recording.forward(most, &mut notes) {
            // What has been recorded by then can be looked at.
            Ok(_) | Err(Failure::Interrupted) => {}
            Err(failure) => return Err(failure),
        }
        let last = recording.position();
        let mut stops = notes.stops;
        // The end is a stop too: behind the last line, at the instruction that traps, or where the recording was cut.
        if stops.last().is_none_or(|stop| stop.position < last) {
            let before = stops.last().copied();
            let own = recording.view().and_then(|view| stop(lines, &view, last));
            let end = own.or(before.map(|before| Stop { position: last, mask: 0, ..before }));
            stops.push(end.unwrap_or(Stop { position: last, line: 1, mask: 0 }));
        }
        Ok(Timeline { stops, last })
    }

    /// Number of stops.
    pub fn len(&self) -> usize {
        self.stops.len()
    }

    /// The position of a stop; of the last one if there are fewer.
    pub fn position(&self, at: usize) -> u64 {
        self.stops.get(at).or(self.stops.last()).map_or(0, |stop| stop.position)
    }

    /// The stop at a position, or the last one before it.
    pub fn at(&self, position: u64) -> usize {
        self.stops.partition_point(|stop| stop.position <= position).saturating_sub(1)
    }

    /// The masks of all stops, or of evenly many among them: `[stop, line, mask]`.
    pub fn overview(&self) -> Json {
        let n = self.stops.len();
        let columns = n.min(MAX_COLUMNS);
        let chosen = (0..columns).map(|column| column * n / columns);
        chosen.map(|at| json!([at, self.stops[at].line, mask(self.stops[at].mask)])).collect()
    }
}
