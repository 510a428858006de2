//! A trace as a table of instructions × lanes.

use super::event::{Event, Header, Reason, Step, Values};
use super::sink::Sink;
use crate::number::{Number, shown};
use spmdvm::vm::Op;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;

/// Widest column of a lane.
const MAX_COLUMN: usize = 12;

/// What a table shows.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    /// At most so many rows.
    pub rows: usize,
    /// Whether instructions of all files are shown, those of the standard library too, or of the program's file alone.
    pub all_files: bool,
    /// Whether those of files that the program includes are shown, if not all are.
    pub included: bool,
}

/// Writes a trace as a table.
#[derive(Debug)]
pub struct Table<W> {
    to: W,
    shown: Shown,
    program: String,
    included: Vec<String>,
    lanes: Vec<u32>,
    rows: usize,
    left_out: usize,
}

impl<W: Write> Table<W> {
    /// Writes there.
    pub fn new(shown: Shown, to: W) -> Table<W> {
        Table { to, shown, program: String::new(), included: Vec::new(), lanes: Vec::new(), rows: 0, left_out: 0 }
    }

    /// What has been written to.
    pub fn into_inner(self) -> W {
        self.to
    }

    fn step(&mut self, step: &Step) -> io::Result<()> {
        let in_file =
            step.site.span.as_ref().is_none_or(|span| {
                *span.file == *self.program || self.included.iter().any(|name| *span.file == **name)
            });
        let Some(row) = row(step, &self.lanes).filter(|_| in_file || self.shown.all_files) else { return Ok(()) };
        self.rows += 1;
        if self.rows > self.shown.rows {
            self.left_out += 1;
            return Ok(());
        }
        writeln!(self.to, "{row}")
    }
}

impl<W: Write> Sink for Table<W> {
    fn begin(&mut self, header: &Header) -> io::Result<()> {
        (self.program, self.lanes) = (header.program.clone(), header.lanes.clone());
        if self.shown.included {
            self.included = header.sources.iter().map(|source| source.name.clone()).collect();
        }
        Ok(())
    }

    fn event(&mut self, event: &Event) -> io::Result<ControlFlow<()>> {
        match event {
            Event::Step(step) => self.step(step)?,
            Event::Print(print) => self.to.write_all(print.text.as_bytes())?,
            Event::End(end) if end.reason == Reason::Until => {
                writeln!(self.to, "… --until is reached after {} instructions", end.steps)?;
            }
            Event::Enter(_) | Event::Return(_) | Event::Trap(_) | Event::End(_) => {}
        }
        Ok(ControlFlow::Continue(()))
    }

    fn finish(&mut self) -> io::Result<()> {
        if self.left_out > 0 {
            writeln!(self.to, "… and {} more rows (--rows shows more)", self.left_out)?;
        }
        self.to.flush()
    }
}

/// The row of an instruction. One that was to give a value and trapped has none.
pub fn row(step: &Step, lanes: &[u32]) -> Option<String> {
    let line = step.site.span.as_ref().map_or(String::new(), |span| span.line.to_string());
    let text = "  ".repeat(step.depth as usize) + &step.site.text;
    let mut row = format!("{line:>5}  {text:<44.44} ");
    let has_value = Op::from_name(&step.site.op).is_some_and(|op| op.info().sig.dst.is_some());
    let mask = step.mask_after.unwrap_or(step.mask);
    match (step.writes.first(), has_value) {
        (None, true) => return None,
        (Some(register), true) if register.values.is_uniform => row += &texts(&register.values)[0],
        (Some(register), true) => columns(&mut row, mask, lanes, &texts(&register.values)),
        (_, false) => columns(&mut row, step.mask, lanes, &vec![String::new(); lanes.len()]),
    }
    Some(row.trim_end().to_owned())
}

fn texts(values: &Values) -> Vec<String> {
    values.words.iter().map(|&bits| shown(Number(values.ty, bits))).collect()
}

/// One column per lane: `✓` or the value where active, `•` or the value in brackets where not.
fn columns(row: &mut String, mask: u64, lanes: &[u32], shown: &[String]) {
    let width = shown.iter().map(|s| s.len().min(MAX_COLUMN)).max().unwrap_or(0) + 2;
    for (&lane, text) in lanes.iter().zip(shown) {
        let active = mask >> lane & 1 == 1;
        let short: String = text.chars().take(MAX_COLUMN).collect();
        let cell = match (active, short.is_empty()) {
            (true, true) => "✓".to_owned(),
            (false, true) => "•".to_owned(),
            (true, false) => short,
            (false, false) => format!("({short})"),
        };
        let _ = write!(row, "{cell:>width$} ");
    }
}
