//! What is known of the code of a program: which line of the source each instruction belongs to, where lines begin, and where
//! variables hold something.

use crate::assigned::Assigned;
use crate::translation::Translation;
use spmdvm::vm::{FuncId, Function, Program, Reg, Span, View};
use spmdvm_oracle::trace::in_source;
use std::cell::OnceCell;
use std::sync::Arc;

/// The lines of a program. If a translator wrote its first source, they are those of the translation, whose files stand behind the
/// program's.
pub struct Lines {
    functions: Vec<FunctionLines>,
    /// By file: its name and its text.
    files: Vec<(String, Arc<str>)>,
    translation: Option<(Arc<Translation>, u32)>,
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

/// Whether a function calls another one over arrays: the front end made it, and it is nobody's code.
pub fn is_map(name: &str) -> bool {
    name.ends_with(spmdvm::frontend::lower::map_wrapper::SUFFIX)
}

/// A line of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LinePlace {
    /// Index of the file among the program's, and those of its translation.
    pub file: u32,
    /// The line, from 1.
    pub line: u32,
}

impl Lines {
    /// Those of a program, which may have been translated.
    pub fn new(program: &Program, translation: Option<Translation>) -> Lines {
        let begins = |text: &str| {
            let breaks = text.bytes().enumerate().filter(|&(_, b)| b == b'\n').map(|(at, _)| at as u32 + 1);
            std::iter::once(0).chain(breaks).collect()
        };
        let names = spmdvm::frontend::prelude::FILES;
        let mut files: Vec<(String, Arc<str>)> =
            program.sources.iter().map(|source| (source.name.clone(), (&*source.text).into())).collect();
        let mut is_library: Vec<bool> =
            files.iter().map(|(own, _)| names.iter().any(|(name, _)| name == own)).collect();
        let translation = translation.map(|translation| (Arc::new(translation), files.len() as u32));
        if let Some((translation, _)) = &translation {
            files.extend(translation.files.iter().map(|(name, text)| (name.clone(), text.as_str().into())));
            // What is left of the first source is the translator's.
            is_library.iter_mut().take(1).for_each(|first| *first = true);
            is_library.resize(files.len(), false);
        }
        let mut lines = Lines {
            functions: Vec::new(),
            files,
            translation,
            starts: program.sources.iter().map(|source| begins(&source.text)).collect(),
            is_library,
        };
        lines.functions = program.functions.iter().map(|function| lines.of_function(function)).collect();
        lines
    }

    /// The line where a span begins.
    fn of_span(&self, span: Span) -> Option<LinePlace> {
        let starts = self.starts.get(span.file as usize).filter(|_| span.hi > 0)?;
        let line = starts.partition_point(|&start| start <= span.lo) as u32;
        let written = self.translation.as_ref().filter(|_| span.file == 0).and_then(|(translation, first)| {
            let (file, line) = (*translation.lines.get(line as usize - 1)?)?;
            Some(LinePlace { file: first + file, line })
        });
        Some(written.unwrap_or(LinePlace { file: span.file, line }))
    }

    /// The line that a user wrote where a span begins.
    pub fn of_call(&self, span: Span) -> Option<LinePlace> {
        self.of_span(span).filter(|place| self.translation.is_none() || !self.is_library(place.file))
    }

    /// The name of a file.
    pub fn file_name(&self, file: u32) -> Option<&str> {
        self.files.get(file as usize).map(|(name, _)| name.as_str())
    }

    /// The names of all files.
    pub fn file_names(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(name, _)| name.as_str())
    }

    /// The text of a line.
    pub fn text(&self, place: LinePlace) -> Option<&str> {
        self.files.get(place.file as usize)?.1.lines().nth(place.line as usize - 1)
    }

    /// What the user calls a function of the program.
    pub fn function_name<'n>(&'n self, name: &'n str) -> &'n str {
        let own = in_source(name);
        let written = self.translation.as_ref().and_then(|(translation, _)| translation.functions.get(own));
        written.map_or(own, String::as_str)
    }

    /// What the user calls a variable of the program; `None` for one that a translator has added.
    pub fn variable_name(&self, name: &Arc<str>) -> Option<Arc<str>> {
        self.translation.as_ref().map_or_else(|| Some(Arc::clone(name)), |(translation, _)| translation.variable(name))
    }

    /// What the program was translated from, if it was.
    pub fn translation(&self) -> Option<&Arc<Translation>> {
        self.translation.as_ref().map(|(translation, _)| translation)
    }

    /// An instruction without a place belongs to the line of the one before. A line begins where the one before belongs
    /// to another.
    fn of_function(&self, function: &Function) -> FunctionLines {
        let mut known = None;
        let (mut places, mut begins) = (Vec::new(), Vec::new());
        if is_map(&function.name) {
            let n = function.spans.len();
            return FunctionLines { places: vec![None; n], begins: vec![false; n], assigned: OnceCell::new() };
        }
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
        own.assigned
            .get_or_init(|| Assigned::new(view.function(), |pc| self.declares(view.function(), pc)))
            .is_assigned(reg, view.pc())
    }

    /// Whether an instruction belongs to a declaration that a translator added.
    fn declares(&self, function: &Function, pc: usize) -> bool {
        let Some((translation, _)) = &self.translation else { return false };
        let (span, starts) = (function.spans[pc], &self.starts[0]);
        let line = starts.partition_point(|&start| start <= span.lo) as u32;
        span.file == 0 && span.hi > 0 && translation.declarations.contains(&line)
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
