//! `spmdvm run --profile`: where a run spends its instructions, line by line.

use spmdvm::Module;
use spmdvm::tools::FILES;
use spmdvm::tools::{Observer, View};
use std::collections::HashMap;
use std::fmt::Write as _;

/// Lines that are shown at most.
const SHOWN: usize = 40;

/// What was counted on a line.
#[derive(Clone, Copy, Default, Debug)]
struct Count {
    instructions: u64,
    /// Of these, those in functions of the library.
    in_library: u64,
    /// Active lanes, summed up over the instructions.
    active: u64,
}

/// Counts the instructions of each line. Those of the library count for the line that calls it.
#[derive(Default)]
pub struct Profile {
    lines: HashMap<(u32, u32), Count>,
    /// For each function of the program that was met: the place of each instruction, and whether it is the library's.
    places: HashMap<u32, Vec<(u32, u32)>>,
    library: HashMap<u32, bool>,
    /// By depth of calls: the line of the program that executes there.
    callers: Vec<(u32, u32)>,
}

impl Observer for Profile {
    fn before(&mut self, view: &View<'_>) {
        let function = view.function_id().0;
        let is_library = *self.library.entry(function).or_insert_with(|| is_library(view));
        let depth = view.depth();
        self.callers.resize(depth + 1, (u32::MAX, 0));
        if is_library {
            self.callers[depth] = (u32::MAX, 0);
        } else {
            let places = self.places.entry(function).or_insert_with(|| places(view));
            self.callers[depth] = places.get(view.pc() as usize).copied().unwrap_or((u32::MAX, 0));
        }
        let Some(&line) = self.callers.iter().rev().find(|line| line.0 != u32::MAX) else { return };
        let lanes = u64::MAX >> (64 - view.lanes());
        let count = self.lines.entry(line).or_default();
        count.instructions += 1;
        count.in_library += u64::from(is_library);
        count.active += u64::from((view.mask() & lanes).count_ones());
    }
}

fn is_library(view: &View<'_>) -> bool {
    let place = view.program().line_col(view.span());
    place.is_some_and(|(source, _, _)| FILES.iter().any(|(name, _)| *name == source.name))
}

/// File and line of each instruction of a function.
fn places(view: &View<'_>) -> Vec<(u32, u32)> {
    let program = view.program();
    let place = |span: &spmdvm::tools::CodeSpan| {
        program.line_col(*span).map_or((u32::MAX, 0), |(_, line, _)| (span.file, line as u32))
    };
    view.function().spans.iter().map(place).collect()
}

impl Profile {
    /// The lines that execute most, as a table.
    pub fn table(&self, module: &Module) -> String {
        let total: u64 = self.lines.values().map(|count| count.instructions).sum();
        let mut lines: Vec<(&(u32, u32), &Count)> = self.lines.iter().collect();
        lines.sort_by_key(|(line, count)| (std::cmp::Reverse(count.instructions), **line));
        let mut text = String::from("  share  instructions  in library  active lanes  line\n");
        for ((file, line), count) in lines.iter().take(SHOWN) {
            let source = module.program().sources.get(*file as usize);
            let (name, code) = source.map_or(("", ""), |source| {
                (source.name.as_str(), source.text.lines().nth(*line as usize - 1).unwrap_or("").trim())
            });
            let n = count.instructions;
            let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
            let _ = writeln!(
                text,
                "{:>6.1}%  {n:>12}  {:>9.1}%  {:>11.1}%  {name}:{line}  {code}",
                percent(n, total),
                percent(count.in_library, n),
                percent(count.active, n * module.lanes() as u64),
            );
        }
        if lines.len() > SHOWN {
            let _ = writeln!(text, "  … {} more lines", lines.len() - SHOWN);
        }
        let _ = writeln!(text, "{total} instructions of the interpreter, which ran all of it");
        text
    }
}
