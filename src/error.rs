//! What can go wrong, as data and as text.

use ariadne::{Config, IndexType, Label, Report, ReportKind, Source};
use spmdvm_frontend::diag::{Diagnostic, LeftOut, render_list};
use spmdvm_frontend::prelude::FILES;
use spmdvm_frontend::sema::by_value;
use spmdvm_frontend::source::SourceMap;
use spmdvm_vm::Op;
use spmdvm_vm::program::{Program, Span};
use spmdvm_vm::stop::Stopped;
use spmdvm_vm::trap::{Trap, TrapFrame};
use std::fmt::{self, Write as _};
use std::ops::Range;
use std::sync::Arc;

/// The program does not compile, or its compilation was [stopped](Self::stopped).
#[derive(Clone, Debug)]
pub struct CompileError {
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) left_out: LeftOut,
    pub(crate) stopped: Option<Stopped>,
    pub(crate) sources: Arc<SourceMap>,
}

impl CompileError {
    /// What is wrong with a program that was compiled.
    pub(crate) fn of_program(diagnostics: Vec<Diagnostic>, sources: SourceMap) -> CompileError {
        CompileError { diagnostics, left_out: LeftOut::default(), stopped: None, sources: Arc::new(sources) }
    }

    /// A compilation that was called off.
    pub(crate) fn of_stop(stopped: Stopped, sources: Arc<SourceMap>) -> CompileError {
        CompileError { diagnostics: Vec::new(), left_out: LeftOut::default(), stopped: Some(stopped), sources }
    }

    /// Why the compilation ended before its time: it was interrupted or took too long. `None` if the program is wrong.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stopped
    }

    /// The errors (and warnings) in the order they were found.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The files the diagnostics point into.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Errors and warnings that were left out because there are so many.
    pub fn left_out(&self) -> LeftOut {
        self.left_out
    }

    /// All diagnostics as text with source snippets; of a compilation that was stopped, that it was.
    pub fn render(&self, color: bool) -> String {
        match self.stopped {
            Some(Stopped::Interrupted) => "the compilation was interrupted\n".to_owned(),
            Some(Stopped::TimedOut) => "the compilation took longer than the timeout allows\n".to_owned(),
            None => render_list(&self.diagnostics, self.left_out, &self.sources, color),
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for CompileError {}

/// Of a long chain of `crev` calls, so many are shown at either end.
const SHOWN_LINKS: usize = 8;

/// The program stopped.
#[derive(Clone)]
pub struct TrapError {
    trap: Box<Trap>,
    program: Arc<Program>,
    elements: Option<Range<usize>>,
}

impl TrapError {
    pub(crate) fn new(mut trap: Trap, program: &Arc<Program>) -> TrapError {
        as_in_source(&mut trap.stack);
        TrapError { trap: Box::new(trap), program: Arc::clone(program), elements: None }
    }

    /// The trap of a function that the front end made to map another over `n` elements, as one of that other function;
    /// `first` is the number of the gang's first element.
    pub(crate) fn of_elements(mut self, first: Option<u64>, lanes: usize, n: usize) -> TrapError {
        self.elements = first.map(|first| match (self.trap.outermost_lane(), first as usize) {
            (Some(lane), first) => first + lane as usize..first + lane as usize + 1,
            (None, first) => first..(first + lanes).min(n),
        });
        self.elements = self.elements.filter(|elements| elements.end <= n && !elements.is_empty());
        // The function that maps is none of the user's, unless there is nothing else to show.
        if self.trap.stack.len() > 1 {
            self.trap.stack.pop();
        }
        self
    }

    /// Of a call over arrays ([`Run::map`](crate::Run::map)): the element that failed, or, where that is not known,
    /// those that were computed at once.
    pub fn elements(&self) -> Option<Range<usize>> {
        self.elements.clone()
    }

    /// The trap as data.
    pub fn trap(&self) -> &Trap {
        &self.trap
    }

    /// The program, for the sources that spans point into.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The place where it happened, in the innermost function that is not of the standard library: file name, line and
    /// column from 1.
    pub fn place(&self) -> Option<(&str, usize, usize)> {
        let (source, line, col) = self.program.line_col(self.span()?)?;
        Some((source.name.as_str(), line, col))
    }

    /// The span of [`place`](Self::place).
    fn span(&self) -> Option<Span> {
        place_of(&self.program, &self.trap.stack)
    }

    /// The `crev` calls it happened in, innermost first: `lane 3 of crev bar ← lane 0 of crev foo`. `None` if in none.
    pub fn crev_chain(&self) -> Option<String> {
        let calls = self.trap.stack.iter().zip(self.trap.stack.iter().skip(1));
        let links = calls.filter_map(|(callee, caller)| {
            let lane = caller.each_lanes.last().filter(|_| self.is_crev_call(caller))?;
            Some(format!("lane {lane} of crev {}", callee.name))
        });
        let links: Vec<String> = links.collect();
        match links.len() {
            0 => None,
            n if n <= 2 * SHOWN_LINKS => Some(links.join(" ← ")),
            n => {
                let (inner, outer) = (links[..SHOWN_LINKS].join(" ← "), links[n - SHOWN_LINKS..].join(" ← "));
                Some(format!("{inner} ← … {} more … ← {outer}", n - 2 * SHOWN_LINKS))
            }
        }
    }

    /// Returns whether the call a frame stopped at is a `crev` call. Its loop over the lanes has the call's own place in the source.
    fn is_crev_call(&self, frame: &TrapFrame) -> bool {
        let function = &self.program.functions[frame.function.0 as usize];
        let code = function.code.iter().zip(&function.spans).take(frame.pc as usize);
        code.rev().find(|(inst, _)| inst.op == Op::EachAll).is_some_and(|(_, span)| *span == frame.span)
    }

    /// The message with a source snippet and the call stack.
    pub fn render(&self, color: bool) -> String {
        let mut text = self.snippet(color).unwrap_or_else(|| format!("Trap: {}\n", self.trap));
        if let Some(chain) = self.crev_chain() {
            let _ = writeln!(text, "  in {chain}");
        }
        text += &callers(&self.program, &self.trap.stack);
        text
    }

    fn snippet(&self, color: bool) -> Option<String> {
        let (code, message) = (self.trap.kind.name(), self.trap.to_string());
        let labels = [(self.span()?, self.trap.kind.info().message)];
        snippet(&self.program, ("Trap", ariadne::Color::Red), code, &message, &labels, color)
    }
}

/// Calls as the source knows them.
pub(crate) fn as_in_source(stack: &mut Vec<TrapFrame>) {
    // The functions that hosts call instead of those that take structs by value are none of the user's.
    stack.retain(|frame| !frame.name.contains(by_value::SUFFIX));
    for frame in stack {
        // Overloads and instances have their types behind the name that the source has, and wrappers what they are for.
        let end = frame.name.find(['.', '$']).filter(|&end| end > 0).unwrap_or(frame.name.len());
        frame.name.truncate(end);
    }
}

/// The place of the innermost call that is not of the standard library. If all are, the innermost one's.
pub(crate) fn place_of(program: &Program, stack: &[TrapFrame]) -> Option<Span> {
    let is_library = |file: u32| {
        let source = program.sources.get(file as usize);
        source.is_some_and(|source| FILES.iter().any(|(name, _)| *name == source.name))
    };
    let spans = || stack.iter().map(|frame| frame.span).filter(|span| span.hi > 0);
    spans().find(|span| !is_library(span.file)).or_else(|| spans().next())
}

/// The calls around the innermost one, a line for each.
pub(crate) fn callers(program: &Program, stack: &[TrapFrame]) -> String {
    let mut text = String::new();
    let mut task = stack.first().and_then(|frame| frame.task);
    for frame in stack.iter().skip(1).take(16) {
        let lanes: String = frame.each_lanes.iter().map(|l| format!(" (lane {l})")).collect();
        let place = program.line_col(frame.span);
        let place = place.map_or(String::new(), |(s, line, col)| format!(" at {}:{line}:{col}", s.name));
        let how = if task.is_some() { "launched" } else { "called" };
        let in_task = frame.task.map_or(String::new(), |index| format!(" (task {index})"));
        let _ = writeln!(text, "  {how} from {}{in_task}{lanes}{place}", frame.name);
        task = frame.task;
    }
    if stack.len() > 17 {
        let _ = writeln!(text, "  … and {} more calls", stack.len() - 17);
    }
    text
}

/// A message with the source of its labels, the first of which is where it is; `None` if there is no such source. Labels in other
/// files are left out.
pub(crate) fn snippet(
    program: &Program,
    (title, hue): (&str, ariadne::Color),
    code: &str,
    message: &str,
    labels: &[(Span, &str)],
    color: bool,
) -> Option<String> {
    let (main, _) = labels.first()?;
    let source = program.sources.get(main.file as usize)?;
    let range = |span: &Span| (span.file == main.file).then_some(span.lo as usize..span.hi as usize);
    let place =
        |span: &Span| range(span).filter(|r| source.text.get(r.clone()).is_some()).map(|r| (source.name.as_str(), r));
    let config = Config::default().with_color(color).with_index_type(IndexType::Byte);
    let mut report = Report::build(ReportKind::Custom(title, hue), place(main)?)
        .with_config(config)
        .with_code(code)
        .with_message(message);
    for (span, text) in labels {
        if let Some(place) = place(span) {
            report = report.with_label(Label::new(place).with_message(text));
        }
    }
    let mut bytes = Vec::new();
    report.finish().write((source.name.as_str(), Source::from(&*source.text)), &mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let text = if color { text.into_owned() } else { without_colors(&text) };
    Some(text.lines().map(|line| line.trim_end().to_owned() + "\n").collect())
}

/// Removes colour codes (ariadne colours the title of a custom kind even where colours are off).
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |clean, part| clean + part.split_once('m').map_or("", |(_, rest)| rest))
}

impl fmt::Display for TrapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.trap)?;
        if let Some(chain) = self.crev_chain() {
            write!(f, "; {chain}")?;
        }
        match self.place() {
            Some((file, line, col)) => write!(f, " ({file}:{line}:{col})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for TrapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.trap, f)
    }
}

impl std::error::Error for TrapError {}

/// An argument does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// The parameter's name; empty if the call as a whole is wrong.
    pub parameter: String,
    /// What is wrong and what was expected.
    pub message: String,
    /// Whether it is the argument's type (rather than its value, or the number of arguments).
    pub is_type: bool,
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ArgumentError {}

/// Why a call gave no result.
#[derive(Clone, Debug)]
pub enum CallError {
    /// There is no such exported function, or its arguments do not fit.
    Argument(ArgumentError),
    /// The program stopped.
    Trap(TrapError),
    /// The chosen engine cannot run it; why.
    Engine(String),
    /// An instance of a polymorphic function, compiled at its first call, is wrong for the types of the arguments; or the
    /// function needs another that is declared but defined nowhere.
    Compile(CompileError),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallError::Argument(e) => e.fmt(f),
            CallError::Trap(e) => e.fmt(f),
            CallError::Engine(e) => f.write_str(e),
            CallError::Compile(e) => e.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}
