//! What is known of the code of a program: which line of the source each instruction belongs to, where lines begin, and where
//! variables hold something.

use crate::assigned::Assigned;
use spmdvm::vm::{FuncId, Function, Program, Reg, Span, View};
use std::cell::OnceCell;

/// The lines of a program.
pub struct Lines {
    functions: Vec<FunctionLines>,
    /// By file: where its lines begin.
    starts: Vec<Vec<u32>>,
    /// By file: whether it is the standard library's.
    is_library: Vec<bool>,
}

/// By instruction: its place, and whether a line of the user's begins there.
struct FunctionLines {
    places: Vec<Option<LinePlace>>,
    begins: Vec<bool>,
    /// Found out when first asked for.
    assigned: OnceCell<Assigned>,
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinePlace {
    /// Index of the file among the program's.
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
}

impl Lines {
    /// Those of a program.
    pub fn new(program: &Program) -> Lines {
        let begins = |text: &str| {
            let breaks = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at as u32 + 1);
            std::iter::once(0).chain(breaks).collect()
        };
        let names = spmdvm::frontend::prelude::FILES;
        let mut lines = Lines {
            functions: Vec::new(),
            starts: program.sources.iter().map(|source| begins(&source.text)).collect(),
            is_library: program.sources.iter().map(|s| names.iter().any(|(name, _)| *name == s.name)).collect(),
        };
        lines.functions = program.functions.iter().map(|function| lines.of_function(function)).collect();
        lines
    }

    /// The line where a span begins.
    fn of_span(&self, span: Span) -> Option<LinePlace> {
        let starts = self.starts.get(span.file as usize).filter(|_| span.hi > 0)?;
        let line = starts.partition_point(|&start| start <= span.lo) as u32;
        Some(LinePlace { file: span.file, line })
    }

    /// An instruction without a place belongs to the line of the one before. A line begins where the one before belongs
    /// to another.
    fn of_function(&self, function: &Function) -> FunctionLines {
        let mut known = None;
        let (mut places, mut begins) = (Vec::new(), Vec::new());
        for &span in &function.spans {
            let own = self.of_span(span);
            let is_users = own.is_some_and(|place| !self.is_library[place.file as usize]);
            begins.push(is_users && own != known);
            known = own.or(known);
            places.push(known);
        }
        FunctionLines { places, begins, assigned: OnceCell::new() }
    }

    /// Whether a register of the executing function holds its variable where a view is.
    pub fn is_assigned(&self, view: &View<'_>, reg: Reg) -> bool {
        let own = &self.functions[view.function_id().0 as usize];
        own.assigned.get_or_init(|| Assigned::new(view.function())).is_assigned(reg, view.pc())
    }

    /// The line of an instruction.
    pub fn place(&self, function: FuncId, pc: u32) -> Option<LinePlace> {
        *self.functions[function.0 as usize].places.get(pc as usize)?
    }

    /// Whether a line begins at an instruction that is not of the standard library.
    pub fn begins(&self, function: FuncId, pc: u32) -> bool {
        self.functions[function.0 as usize].begins.get(pc as usize).copied().unwrap_or(false)
    }

    /// Whether a file is the standard library's.
    pub fn is_library(&self, file: u32) -> bool {
        self.is_library.get(file as usize).copied().unwrap_or(true)
    }

    /// The first line with code from this one on, in the functions of a file.
    pub fn with_code(&self, from: LinePlace) -> Option<LinePlace> {
        let begins = self.functions.iter().flat_map(|of| of.places.iter().zip(&of.begins));
        let lines = begins.filter(|&(_, &begins)| begins).filter_map(|(place, _)| *place);
        lines.filter(|place| place.file == from.file && place.line >= from.line).min()
    }
}
