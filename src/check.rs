//! What check mode has found in the calls of a module: as data with places in the source, and as text.

use crate::error::{as_in_source, callers, place_of, snippet};
use spmdvm_frontend::lower::map_wrapper;
use spmdvm_vm::Program;
use spmdvm_vm::check::{self, Checker, FindingKind};
use spmdvm_vm::program::Span;
use spmdvm_vm::trap::TrapFrame;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// Something wrong at a place of the source.
#[derive(Clone)]
pub struct Finding {
    data: check::Finding,
    program: Arc<Program>,
}

impl Finding {
    fn new(mut data: check::Finding, program: &Arc<Program>) -> Finding {
        tidy(&mut data.stack);
        if let Some(related) = &mut data.related {
            tidy(&mut related.stack);
        }
        Finding { data, program: Arc::clone(program) }
    }

    /// What it is, with lanes, values and calls.
    pub fn data(&self) -> &check::Finding {
        &self.data
    }

    /// Its kind.
    pub fn kind(&self) -> FindingKind {
        self.data.kind
    }

    /// The program, for the sources that spans point into.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The place where it is, in the innermost function that is not of the standard library: file name, line and column from 1.
    pub fn place(&self) -> Option<(&str, usize, usize)> {
        self.line_col(&self.data.stack)
    }

    /// Likewise the other place that it has to do with.
    pub fn related_place(&self) -> Option<(&str, usize, usize)> {
        self.line_col(&self.data.related.as_ref()?.stack)
    }

    fn line_col(&self, stack: &[TrapFrame]) -> Option<(&str, usize, usize)> {
        let (source, line, col) = self.program.line_col(place_of(&self.program, stack)?)?;
        Some((source.name.as_str(), line, col))
    }

    fn span(&self) -> Option<Span> {
        place_of(&self.program, &self.data.stack)
    }

    /// Returns whether it is the same at the same place of the source.
    fn is_same(&self, other: &Finding) -> bool {
        let place = |finding: &Finding| match finding.span() {
            Some(span) => (Some(span), None),
            None => (None, finding.data.stack.first().map(|frame| (frame.function, frame.pc))),
        };
        self.kind() == other.kind()
            && Arc::ptr_eq(&self.program, &other.program)
            && place(self) == place(other)
            && self.data.related.is_some() == other.data.related.is_some()
            && self.data.stack.len() == other.data.stack.len()
            && self.data.stack.iter().zip(&other.data.stack).all(|(a, b)| a.span == b.span && a.function == b.function)
    }

    /// The message with a source snippet, the calls, and how often it was found.
    pub fn render(&self, color: bool) -> String {
        let data = &self.data;
        let (code, what) = (data.kind.name(), data.kind.info().message);
        let related = data.related.as_ref().map(|related| (related, place_of(&self.program, &related.stack)));
        let mut labels: Vec<_> = self.span().map(|span| (span, what)).into_iter().collect();
        let main = self.span();
        if let Some((related, Some(span))) = &related
            && main.is_some_and(|main| main.file == span.file && main != *span)
        {
            labels.push((*span, &related.message));
        }
        let shown = labels.len() > 1;
        let text = snippet(&self.program, ("Check", ariadne::Color::Yellow), code, &data.message, &labels, color);
        let mut text = text.unwrap_or_else(|| format!("Check: {}\n", data.message));
        if let Some((related, Some(_))) = related.filter(|_| !shown)
            && let Some((file, line, col)) = self.related_place()
        {
            let _ = writeln!(text, "  {} at {file}:{line}:{col}", related.message);
        }
        text += &callers(&self.program, &data.stack);
        if data.times > 1 {
            let _ = writeln!(text, "  {} times at this place", data.times);
        }
        text
    }
}

/// The calls as the source knows them, without the function that maps another over arrays.
fn tidy(stack: &mut Vec<TrapFrame>) {
    if stack.len() > 1 && stack.last().is_some_and(|frame| frame.name.ends_with(map_wrapper::SUFFIX)) {
        stack.pop();
    }
    as_in_source(stack);
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind().name(), self.data.message)?;
        match self.place() {
            Some((file, line, col)) => write!(f, " ({file}:{line}:{col})"),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.data, f)
    }
}

/// Most findings that a report lists.
const MAX_FINDINGS: usize = 1000;

/// What check mode has found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    findings: Vec<Finding>,
    left_out: u64,
}

impl Report {
    /// The findings, each place once, in the order they were found.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The number of those that are not listed, because there are too many places.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// All findings as text with source snippets; empty if there are none.
    pub fn render(&self, color: bool) -> String {
        let mut text: String = self.findings.iter().map(|finding| finding.render(color)).collect();
        if self.left_out > 0 {
            let _ = writeln!(text, "and {} more findings at other places", self.left_out);
        }
        text
    }

    /// Takes in the findings of another.
    pub(crate) fn add(&mut self, other: Report) {
        self.left_out += other.left_out;
        for finding in other.findings {
            match self.findings.iter().position(|known| known.is_same(&finding)) {
                Some(at) => self.findings[at].data.times += finding.data.times,
                None if self.findings.len() >= MAX_FINDINGS => self.left_out += finding.data.times,
                None => self.findings.push(finding),
            }
        }
    }
}

/// The findings of a module, which calls in several threads add to.
#[derive(Default)]
pub(crate) struct Reports(Mutex<Report>);

impl Reports {
    /// Takes in what was found in a call.
    pub fn keep(&self, program: &Arc<Program>, checker: Checker) {
        let (findings, left_out) = checker.findings();
        let findings = findings.into_iter().map(|finding| Finding::new(finding, program)).collect();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(Report { findings, left_out });
    }

    pub fn get(&self) -> Report {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
