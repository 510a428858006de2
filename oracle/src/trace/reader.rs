//! Reads traces back, and says precisely what is wrong with one that cannot be read.

use super::event::{Event, Header, Register, SCHEMA, VERSION};
use super::sink::Sink;
use spmdvm::Width;
use std::fmt;
use std::io::{self, BufRead};

/// The deepest nesting of calls that is believed.
const MAX_DEPTH: u32 = 1 << 20;

/// The events of a trace, one after another.
pub struct Reader<R> {
    from: R,
    header: Header,
    /// The number of the last line that was read.
    line: u64,
    is_over: bool,
    has_ended: bool,
}

/// Why a trace cannot be read, or not further.
#[derive(Debug)]
pub struct ReadError {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong.
    pub kind: ReadErrorKind,
}

/// What is wrong with a trace.
#[derive(Debug)]
pub enum ReadErrorKind {
    /// It is something else.
    NoTrace,
    /// It has a version that is not known here.
    Version(u64),
    /// It ends before the run does, maybe in the middle of the line.
    CutOff,
    /// There is something behind its end.
    Behind,
    /// A line is not what the schema says.
    Malformed(String),
    /// The file cannot be read.
    Io(io::Error),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ReadErrorKind::NoTrace => write!(f, "this is no trace: its first line is not the header of one"),
            ReadErrorKind::Version(n) => {
                write!(f, "the trace has version {n} of the schema, and this program reads version {VERSION}")
            }
            ReadErrorKind::CutOff => {
                write!(f, "line {}: the trace is cut off here: its last event should be `end` or `trap`", self.line)
            }
            ReadErrorKind::Behind => write!(f, "line {}: there is more behind the end of the trace", self.line),
            ReadErrorKind::Malformed(what) => write!(f, "line {}: {what}", self.line),
            ReadErrorKind::Io(error) => write!(f, "line {}: {error}", self.line),
        }
    }
}

impl std::error::Error for ReadError {}

impl<R: BufRead> Reader<R> {
    /// Reads the header.
    pub fn new(mut from: R) -> Result<Reader<R>, ReadError> {
        let fail = |kind| ReadError { line: 1, kind };
        let line = match read_line(&mut from) {
            Ok(Some(line)) => line,
            Ok(None) => return Err(fail(ReadErrorKind::NoTrace)),
            Err(error) => return Err(fail(of_io(error))),
        };
        let json: serde_json::Value = serde_json::from_slice(&line).map_err(|_| fail(ReadErrorKind::NoTrace))?;
        if json["schema"] != SCHEMA {
            return Err(fail(ReadErrorKind::NoTrace));
        }
        match json["version"].as_u64() {
            Some(version) if version == VERSION as u64 => {}
            Some(version) => return Err(fail(ReadErrorKind::Version(version))),
            None => return Err(fail(ReadErrorKind::Malformed("the header has no version".into()))),
        }
        let malformed = |what: String| fail(ReadErrorKind::Malformed(what));
        let header: Header = serde_json::from_value(json).map_err(|e| malformed(e.to_string()))?;
        check_header(&header).map_err(malformed)?;
        Ok(Reader { from, header, line: 1, is_over: false, has_ended: false })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Hands everything to a sink, until it has enough.
    pub fn play(mut self, sink: &mut dyn Sink) -> Result<(), PlayError> {
        sink.begin(&self.header).map_err(PlayError::Write)?;
        for event in &mut self {
            if sink.event(&event.map_err(PlayError::Read)?).map_err(PlayError::Write)?.is_break() {
                break;
            }
        }
        sink.finish().map_err(PlayError::Write)
    }

    fn read(&mut self) -> Result<Option<Event>, ReadErrorKind> {
        let Some(line) = read_line(&mut self.from).map_err(of_io)? else {
            return if self.has_ended { Ok(None) } else { Err(ReadErrorKind::CutOff) };
        };
        self.line += 1;
        if self.has_ended {
            return Err(ReadErrorKind::Behind);
        }
        let event: Event = serde_json::from_slice(&line).map_err(|e| match line.ends_with(b"\n") {
            true => ReadErrorKind::Malformed(format!("{} (column {})", without_place(&e), e.column())),
            false => ReadErrorKind::CutOff,
        })?;
        check_event(&self.header, &event).map_err(ReadErrorKind::Malformed)?;
        self.has_ended = matches!(event, Event::End(_) | Event::Trap(_));
        Ok(Some(event))
    }
}

/// Why a trace could not be handed to a sink.
#[derive(Debug)]
pub enum PlayError {
    /// It cannot be read.
    Read(ReadError),
    /// The sink has failed.
    Write(io::Error),
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<Event, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let read = self.read();
        self.is_over = !matches!(read, Ok(Some(_)));
        read.map_err(|kind| ReadError { line: self.line, kind }).transpose()
    }
}

/// The next line with its end; `None` at the end of the file.
fn read_line(from: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    from.read_until(b'\n', &mut line)?;
    Ok((!line.is_empty()).then_some(line))
}

/// A compressed file that ends too early is cut off like any other.
fn of_io(error: io::Error) -> ReadErrorKind {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => ReadErrorKind::CutOff,
        _ => ReadErrorKind::Io(error),
    }
}

/// What is wrong with a line; its number in the file is told elsewhere.
fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    text.split_once(" at line ").map_or(text.clone(), |(what, _)| what.to_owned())
}

fn check_header(header: &Header) -> Result<(), String> {
    if Width::new(header.width).is_none() {
        return Err(format!("{} is no width of a gang", header.width));
    }
    let ascend = header.lanes.windows(2).all(|pair| pair[0] < pair[1]);
    if header.lanes.is_empty() || !ascend || header.lanes.last().is_some_and(|&lane| lane >= header.width) {
        return Err(format!("`lanes` are some of the {} lanes, in ascending order", header.width));
    }
    Ok(())
}

fn check_event(header: &Header, event: &Event) -> Result<(), String> {
    let (depth, registers): (u32, &[Register]) = match event {
        Event::Enter(enter) => (enter.depth, &enter.parameters),
        Event::Step(step) => (step.depth, &step.writes),
        Event::Return(left) => (left.depth, &left.results),
        Event::Print(_) | Event::Trap(_) | Event::End(_) => (0, &[]),
    };
    if depth > MAX_DEPTH {
        return Err(format!("a depth of {depth} cannot be"));
    }
    let is_odd =
        |register: &&Register| !register.values.is_uniform && register.values.words.len() != header.lanes.len();
    match registers.iter().find(is_odd) {
        None => Ok(()),
        Some(odd) => {
            let (name, n, lanes) = (&odd.register, odd.values.words.len(), header.lanes.len());
            Err(format!("register {name} has {n} values, and the trace has {lanes} lanes"))
        }
    }
}
