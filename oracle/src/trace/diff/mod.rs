//! Where two traces first differ.
//!
//! Both are read side by side. Two events are *alike* if they are of one kind, function, operation and place in the source: the same
//! span if the programs are the same, else lines that correspond ([`LineMap`]). Alike events are aligned, so that the *n*-th time
//! an instruction executes in one trace is compared with the *n*-th time in the other. Where two events are not alike, one of
//! the traces has instructions that the other has not, as two versions of a compiler make them: the shortest way is sought on which
//! events are alike again, [`IN_STEP`] of them in a row. What is passed over on the way must have the same visible
//! effects on both sides (memory that others see, prints, traps); what differs inside shows in the values that are used later.
//! If there is no way within [`WINDOW`] events, the runs part here.

mod compare;
mod render;

use super::event::{Event, Header};
use super::filter::in_source;
use super::lines::LineMap;
use super::reader::{ReadError, Reader};
pub use compare::What;
use std::collections::VecDeque;
use std::fmt;
use std::io::BufRead;

/// How many events are looked at on each side for a way on.
pub const WINDOW: usize = 256;

/// How many events in a row are alike where traces run in step again.
pub const IN_STEP: usize = 4;

/// What a comparison found.
#[derive(Debug, serde::Serialize)]
pub struct Compared {
    /// The first difference.
    pub difference: Option<Difference>,
    /// How many events were aligned before it.
    pub aligned: u64,
    /// How many events of each trace the other has no counterpart of.
    pub extra: [u64; 2],
    /// The headers.
    pub headers: [Header; 2],
}

/// A place where two traces differ.
#[derive(Debug, serde::Serialize)]
pub struct Difference {
    /// The events that differ; `None` where a trace has nothing like the other's.
    pub events: [Option<Event>; 2],
    /// In what.
    pub what: What,
    /// What both did before it, as the first trace has it.
    pub before: Vec<Event>,
}

/// Why two traces cannot be compared.
#[derive(Debug)]
pub enum DiffError {
    /// One of them (0 or 1) cannot be read.
    Read(usize, ReadError),
    /// They are of different runs.
    Unlike(String),
}

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DiffError::Read(at, error) => write!(f, "{} trace: {error}", ["first", "second"][*at]),
            DiffError::Unlike(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for DiffError {}

/// Compares two traces up to their first difference, and keeps so many steps before it.
pub fn diff<A: BufRead, B: BufRead>(a: Reader<A>, b: Reader<B>, context: usize) -> Result<Compared, DiffError> {
    let headers = [a.header().clone(), b.header().clone()];
    check(&headers[0], &headers[1])?;
    let same_program = headers[0].digest == headers[1].digest;
    let lines = LineMap::new(&headers[0], &headers[1]);
    let mut aligner = Aligner {
        a: Side::new(a, 0),
        b: Side::new(b, 1),
        places: if same_program { Places::Spans } else { Places::Lines(lines) },
        lanes: headers[0].lanes.clone(),
        before: VecDeque::new(),
        context,
        aligned: 0,
        extra: [0; 2],
    };
    let difference = aligner.run()?;
    Ok(Compared { difference, aligned: aligner.aligned, extra: aligner.extra, headers })
}

fn check(a: &Header, b: &Header) -> Result<(), DiffError> {
    let unlike = |what: &str, a: &dyn fmt::Display, b: &dyn fmt::Display| {
        Err(DiffError::Unlike(format!("the traces cannot be compared: {what} {a} in the first and {b} in the second")))
    };
    if a.width != b.width {
        return unlike("the gang has", &format!("{} lanes", a.width), &format!("{} lanes", b.width));
    }
    if a.lanes != b.lanes {
        let list = |lanes: &[u32]| lanes.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        return unlike("the recorded lanes are", &list(&a.lanes), &list(&b.lanes));
    }
    if a.entry != b.entry {
        return unlike("the function called is", &format!("`{}`", a.entry), &format!("`{}`", b.entry));
    }
    Ok(())
}

/// A trace, with the events that have been read ahead.
struct Side<R> {
    from: Reader<R>,
    held: VecDeque<Event>,
    number: usize,
}

impl<R: BufRead> Side<R> {
    fn new(from: Reader<R>, number: usize) -> Side<R> {
        Side { from, held: VecDeque::new(), number }
    }

    /// Reads ahead, to so many events.
    fn fill(&mut self, n: usize) -> Result<(), DiffError> {
        while self.held.len() < n {
            match self.from.next() {
                Some(event) => self.held.push_back(event.map_err(|e| DiffError::Read(self.number, e))?),
                None => break,
            }
        }
        Ok(())
    }
}

/// How places in the source are compared.
enum Places {
    /// The programs are the same.
    Spans,
    /// One was made from the other.
    Lines(LineMap),
}

impl Places {
    fn are_alike(&self, a: &Event, b: &Event) -> bool {
        match (a, b) {
            (Event::Step(a), Event::Step(b)) => {
                let (a, b) = (&*a.site, &*b.site);
                in_source(&a.function) == in_source(&b.function)
                    && a.op == b.op
                    && match (&a.span, &b.span, self) {
                        (Some(a), Some(b), Places::Spans) => a == b,
                        (Some(a), Some(b), Places::Lines(map)) => map.line(a) == Some(b.line),
                        (a, b, _) => a.is_none() && b.is_none(),
                    }
            }
            (Event::Enter(a), Event::Enter(b)) => {
                in_source(&a.function) == in_source(&b.function) && a.how == b.how && a.task == b.task
            }
            (Event::Return(a), Event::Return(b)) => in_source(&a.function) == in_source(&b.function),
            (Event::Print(_), Event::Print(_)) => true,
            (Event::Trap(_) | Event::End(_), Event::Trap(_) | Event::End(_)) => true,
            _ => false,
        }
    }
}

struct Aligner<A, B> {
    a: Side<A>,
    b: Side<B>,
    places: Places,
    lanes: Vec<u32>,
    before: VecDeque<Event>,
    context: usize,
    aligned: u64,
    extra: [u64; 2],
}

impl<A: BufRead, B: BufRead> Aligner<A, B> {
    fn run(&mut self) -> Result<Option<Difference>, DiffError> {
        loop {
            self.a.fill(1)?;
            self.b.fill(1)?;
            let (Some(a), Some(b)) = (self.a.held.front(), self.b.held.front()) else { return Ok(None) };
            if self.places.are_alike(a, b) {
                if let Some(what) = compare::events(a, b, &self.lanes) {
                    return Ok(Some(self.difference([Some(0), Some(0)], what)));
                }
                self.align();
            } else if let Some(difference) = self.pass_over()? {
                return Ok(Some(difference));
            }
        }
    }

    /// Both go on by an event.
    fn align(&mut self) {
        self.aligned += 1;
        self.b.held.pop_front();
        if let Some(event) = self.a.held.pop_front().filter(|event| matches!(event, Event::Step(_))) {
            self.before.push_back(event);
        }
        while self.before.len() > self.context {
            self.before.pop_front();
        }
    }

    /// Passes over what one side has and the other has not.
    fn pass_over(&mut self) -> Result<Option<Difference>, DiffError> {
        self.a.fill(WINDOW + IN_STEP)?;
        self.b.fill(WINDOW + IN_STEP)?;
        let Some((i, j)) = self.way_on() else {
            return Ok(Some(self.difference([Some(0), Some(0)], What::Parted)));
        };
        let a: Vec<&Event> = self.a.held.iter().take(i).collect();
        let b: Vec<&Event> = self.b.held.iter().take(j).collect();
        if let Some((at, what)) = compare::passed_over(&a, &b, &self.lanes) {
            return Ok(Some(self.difference(at, what)));
        }
        self.extra[0] += i as u64;
        self.extra[1] += j as u64;
        self.a.held.drain(..i);
        self.b.held.drain(..j);
        Ok(None)
    }

    /// How many events of each side to pass over, as few as possible, so that those behind are alike.
    fn way_on(&self) -> Option<(usize, usize)> {
        let (a, b) = (&self.a.held, &self.b.held);
        let (n, m) = (a.len().min(WINDOW), b.len().min(WINDOW));
        let in_step = |i: usize, j: usize| {
            let run = IN_STEP.min(a.len() - i).min(b.len() - j);
            run > 0 && (0..run).all(|k| self.places.are_alike(&a[i + k], &b[j + k]))
        };
        (1..n + m).find_map(|total| {
            let splits = (0..=total).map(|i| (i, total - i)).filter(|&(i, j)| i < n && j < m);
            // As much of one side as of the other, if there is a choice.
            splits.filter(|&(i, j)| in_step(i, j)).min_by_key(|&(i, j)| i.abs_diff(j))
        })
    }

    fn difference(&self, at: [Option<usize>; 2], what: What) -> Difference {
        let events = [at[0].and_then(|i| self.a.held.get(i)).cloned(), at[1].and_then(|j| self.b.held.get(j)).cloned()];
        let mut before: VecDeque<Event> = self.before.clone();
        let passed = self.a.held.iter().take(at[0].unwrap_or(0)).filter(|event| matches!(event, Event::Step(_)));
        before.extend(passed.cloned());
        while before.len() > self.context {
            before.pop_front();
        }
        Difference { events, what, before: before.into() }
    }
}
