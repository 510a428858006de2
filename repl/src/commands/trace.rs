//! `spmdvm trace`: a table of instructions × lanes.

use super::globals::Globals;
use super::run::start;
use super::{call_failure, entry, load_with, with_libraries};
use crate::Failure;
use crate::cli::{Global, TraceArgs};
use crate::data::{CallData, show_element};
use spmdvm::Shape;
use spmdvm::vm::asm::format_inst;
use spmdvm::vm::observe::{Observer, View};
use std::fmt::Write as _;
use std::io::Write as _;

/// Widest column of a lane.
const MAX_COLUMN: usize = 12;

/// Calls a function and prints the table.
pub fn trace(global: &Global, args: &TraceArgs) -> Result<(), Failure> {
    let options = with_libraries(global.options(), &args.run.host)?;
    let module = load_with(&args.run.file, &args.run.with, &options, global.color())?;
    let export = entry(&module, args.run.entry.as_deref())?;
    let mut data = CallData::parse(export, &args.run.args, module.lanes())?;
    let globals = Globals::set(&module, &args.run.globals)?;
    let mut table = Table { args, main_file: main_file(&module, export), rows: 0, left_out: 0 };
    let result = start(&module, &args.run).call_observed(export, &data.values(), &mut table);
    if table.left_out > 0 {
        // A closed pipe ends the table, not the program.
        let _ = writeln!(std::io::stdout(), "… and {} more rows (--rows shows more)", table.left_out);
    }
    data.check()?;
    globals.check()?;
    result.map(drop).map_err(|e| call_failure(e, global))
}

/// The file the traced function stands in; the standard library's functions stand in others.
fn main_file(module: &spmdvm::Module, export: &spmdvm::Export) -> Option<u32> {
    let function = &module.program().functions[export.function.0 as usize];
    function.spans.iter().find(|s| s.hi > 0).map(|s| s.file)
}

struct Table<'a> {
    args: &'a TraceArgs,
    main_file: Option<u32>,
    rows: usize,
    left_out: usize,
}

impl Table<'_> {
    fn wants(&self, view: &View<'_>) -> bool {
        let span = view.span();
        let in_file = self.args.all || span.hi == 0 || Some(span.file) == self.main_file;
        let line_fits = self.args.line.is_none_or(|line| view.line() == Some(line));
        in_file && line_fits
    }

    fn print(&mut self, view: &View<'_>, with_values: bool) {
        if !self.wants(view) {
            return;
        }
        self.rows += 1;
        if self.rows > self.args.rows {
            self.left_out += 1;
            return;
        }
        let line = view.line().map_or(String::new(), |l| l.to_string());
        let text = format!(
            "{}{}",
            "  ".repeat(view.depth()),
            format_inst(view.program(), view.function(), view.pc() as usize)
        );
        let mut row = format!("{line:>5}  {text:<44.44} ");
        let dst = view.inst().dst;
        if with_values && !dst.is_none() {
            let value = view.register(dst);
            let shown: Vec<String> = value.words.iter().map(|&w| show_element(value.ty, w)).collect();
            match value.shape {
                Shape::Uniform => row += &shown[0],
                Shape::Varying => lanes(&mut row, view, &shown),
            }
        } else {
            let dots = vec![String::new(); view.lanes()];
            lanes(&mut row, view, &dots);
        }
        // A closed pipe ends the table, not the program.
        let _ = writeln!(std::io::stdout(), "{}", row.trim_end());
    }
}

/// One column per lane: `✓` or the value where active, `•` or the value in brackets where not.
fn lanes(row: &mut String, view: &View<'_>, shown: &[String]) {
    let width = shown.iter().map(|s| s.len().min(MAX_COLUMN)).max().unwrap_or(0) + 2;
    for (lane, text) in shown.iter().enumerate() {
        let active = view.mask() >> lane & 1 == 1;
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

impl Observer for Table<'_> {
    fn before(&mut self, view: &View<'_>) {
        if view.inst().op.info().sig.dst.is_none() {
            self.print(view, false);
        }
    }

    fn after(&mut self, view: &View<'_>) {
        if view.inst().op.info().sig.dst.is_some() {
            self.print(view, true);
        }
    }
}
