//! What the JIT did with the loops of a program: as data with places in the source, and as text.

mod line;

pub use line::explain_line;

use crate::abort::Abort;
use crate::engine::{Begins, Instructions, Jit, LoopReport, Measured, VersionReport};
use crate::ir::{Counter, ExitReason, Outcome};
use crate::settings::Variant;
use spmdvm_vm::Program;
use spmdvm_vm::program::FuncId;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

/// What [`text`] shows besides the table of loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Show {
    /// The trace IR as recorded, before the passes; only with
    /// [`keep_recorded`](crate::Settings::keep_recorded).
    pub trace: bool,
    /// The optimised trace IR.
    pub ir: bool,
    /// Machine code.
    pub asm: bool,
}

/// An instruction's place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file.
    pub file: String,
    /// Its function.
    pub function: String,
    /// Its line; `None` for programs without source.
    pub line: Option<usize>,
}

impl SourceLocation {
    fn of(program: &Program, (function, pc): (FuncId, u32)) -> SourceLocation {
        let f = &program.functions[function.0 as usize];
        let span = f.spans.get(pc as usize).copied().unwrap_or_default();
        let found = program.line_col(span);
        let file = found.as_ref().map_or_else(String::new, |(source, ..)| source.name.to_string());
        SourceLocation { file, function: f.name.to_string(), line: found.map(|(_, line, _)| line) }
    }
}

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => write!(f, "`{}`", self.function),
        }
    }
}

/// A loop that was hot.
#[derive(Clone, Debug)]
pub struct LoopInfo {
    /// Where it is.
    pub place: SourceLocation,
    /// What begins there, for it need not be a loop.
    pub begins: Begins,
    /// Why it is interpreted, if it is.
    pub aborted: Option<Abort>,
    /// The instruction that is the reason, if it is one.
    pub aborted_at: Option<SourceLocation>,
    /// Why no more versions of it are made, if that is so.
    pub refused: Option<Abort>,
    /// Whether a version is being compiled.
    pub pending: bool,
    /// How often a version was recompiled.
    pub recompiles: u32,
    /// What its variants have been found to cost.
    pub measured: Vec<MeasuredInfo>,
    /// How often somebody has looked whether its versions still suit what the program does.
    pub looks: u32,
    /// How long that took, about.
    pub look_time: Duration,
    /// Its compiled versions.
    pub versions: Vec<VersionInfo>,
}

/// A compiled version of a loop.
#[derive(Clone, Debug)]
pub struct VersionInfo {
    /// What the JIT tells of it.
    pub report: VersionReport,
    /// How it is left: only the ways that were taken.
    pub exits: Vec<ExitInfo>,
    /// How the variants did that were chosen in it: all of them, also those that nothing has come to.
    pub variants: Vec<VariantInfo>,
}

/// How a variant did at a place.
#[derive(Clone, Debug)]
pub struct VariantInfo {
    /// The variant.
    pub variant: Variant,
    /// The instruction that it was chosen for.
    pub place: SourceLocation,
    /// How often it suited.
    pub hit: u64,
    /// How often its test failed.
    pub missed: u64,
}

impl VariantInfo {
    /// All of a version, in the order of their places.
    fn all(program: &Program, report: &VersionReport) -> Vec<VariantInfo> {
        let mut found: BTreeMap<_, [u64; 2]> = BTreeMap::new();
        for counted in &report.counters {
            if let Counter::Variant { variant, place, outcome } = counted.counter {
                let times = found.entry((place, variant)).or_default();
                times[(outcome == Outcome::Missed) as usize] += counted.times;
            }
        }
        let place = |at| SourceLocation::of(program, at);
        let infos = found.into_iter();
        infos.map(|((at, variant), [hit, missed])| VariantInfo { variant, place: place(at), hit, missed }).collect()
    }
}

/// What a variant of a loop has been found to cost.
#[derive(Clone, Debug)]
pub struct MeasuredInfo {
    /// The figures.
    pub measured: Measured,
    /// The instructions that it was chosen for.
    pub places: Vec<SourceLocation>,
}

impl MeasuredInfo {
    fn new(program: &Program, measured: Measured) -> MeasuredInfo {
        let places = measured.places.iter().map(|&at| SourceLocation::of(program, at)).collect();
        MeasuredInfo { measured, places }
    }
}

/// The same as text.
impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Measured { variant, with, without, dropped, .. } = self;
        let came = if *dropped { "dropped" } else { "kept" };
        write!(f, "variant `{variant}`: {with:.1} ns a round with it, {without:.1} without: {came}")
    }
}

/// A side exit of compiled code that was taken.
#[derive(Clone, Debug)]
pub struct ExitInfo {
    /// Why.
    pub reason: ExitReason,
    /// The instruction that the interpreter does then.
    pub place: SourceLocation,
    /// How often.
    pub times: u64,
}

impl LoopInfo {
    fn new(program: &Program, report: LoopReport) -> LoopInfo {
        let versions = report.versions.into_iter().map(|v| VersionInfo::new(program, v)).collect();
        let place = SourceLocation::of(program, report.at);
        let aborted_at = report.aborted_at.map(|at| SourceLocation::of(program, at));
        LoopInfo {
            place,
            begins: report.begins,
            aborted: report.aborted,
            aborted_at,
            refused: report.refused,
            pending: report.pending,
            recompiles: report.recompiles,
            looks: report.looks,
            look_time: report.look_time,
            measured: report.measured.into_iter().map(|m| MeasuredInfo::new(program, m)).collect(),
            versions,
        }
    }
}

impl VersionInfo {
    fn new(program: &Program, report: VersionReport) -> VersionInfo {
        let taken = report.exits.iter().filter(|(_, times)| *times != 0);
        let exits = taken.filter_map(|&(exit, times)| {
            let exit = &report.region.exits[exit.index()];
            let frame = exit.frames.last()?;
            Some(ExitInfo {
                reason: exit.reason,
                place: SourceLocation::of(program, (frame.function, frame.pc)),
                times,
            })
        });
        let exits = exits.collect();
        let variants = VariantInfo::all(program, &report);
        VersionInfo { report, exits, variants }
    }
}

/// Sums over all loops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    /// Compiled versions of loops.
    pub traces: usize,
    /// Bytes of their machine code.
    pub code_bytes: usize,
    /// Time of compiling them.
    pub compile_time: Duration,
    /// Of that, the time until they could be entered.
    pub first_time: Duration,
    /// Time spent in them, about.
    pub run_time: Duration,
}

impl Totals {
    /// Sums over these loops.
    pub fn of(loops: &[LoopInfo]) -> Totals {
        loops.iter().flat_map(|l| &l.versions).fold(Totals::default(), |sum, version| Totals {
            traces: sum.traces + 1,
            code_bytes: sum.code_bytes + version.report.code_bytes,
            compile_time: sum.compile_time + version.report.time,
            first_time: sum.first_time + version.report.first_time,
            run_time: sum.run_time + version.report.run_time,
        })
    }
}

impl LoopInfo {
    /// What a JIT did with every loop of its program that was hot so far.
    pub fn all(program: &Program, jit: &Jit) -> Vec<LoopInfo> {
        jit.report().into_iter().map(|report| LoopInfo::new(program, report)).collect()
    }

    /// Why it is interpreted, if that is because the compiler failed on it and not for a limit that it has.
    pub fn defect(&self) -> Option<String> {
        match self.aborted.as_ref()? {
            Abort::Defect(defect) => Some(defect.to_string()),
            Abort::Backend(why) if why.is_defect() => Some(why.to_string()),
            _ => None,
        }
    }
}

/// The same as text: where each loop is, its compiled versions (time, bytes, entries, how they were left), or why it is
/// interpreted; then the sums. Empty without loops.
pub fn text(loops: &[LoopInfo], executed: Instructions, show: Show) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = loops.iter().try_for_each(|info| loop_text(&mut text, info, show));
    let sum = Totals::of(loops);
    if !loops.is_empty() {
        let _ = writeln!(
            text,
            "{} traces compiled in {:.2} ms (to be entered after {:.2} ms), {} bytes; about {:.2} ms spent in them",
            sum.traces,
            sum.compile_time.as_secs_f64() * 1e3,
            sum.first_time.as_secs_f64() * 1e3,
            sum.code_bytes,
            sum.run_time.as_secs_f64() * 1e3
        );
        let _ = writeln!(
            text,
            "about {:.1} % of the instructions executed in them: {}, and {} by the interpreter",
            executed.native_share() * 100.0,
            executed.native,
            executed.interpreted
        );
    }
    text
}

fn loop_text(text: &mut String, info: &LoopInfo, show: Show) -> std::fmt::Result {
    match info.place.line {
        Some(_) => writeln!(text, "{}: {} `{}`", info.place, begins_text(info.begins), info.place.function)?,
        None => writeln!(text, "{} `{}`", begins_text(info.begins), info.place.function)?,
    }
    if let Some(why) = &info.aborted {
        let at = info.aborted_at.as_ref().map_or_else(String::new, |place| format!(" (at {place})"));
        writeln!(text, "  interpreted: {why}{at}")?;
    }
    if let Some(why) = &info.refused {
        writeln!(text, "  not compiled in other ways: {why}")?;
    }
    for found in &info.measured {
        let at = found.places.first().map_or_else(String::new, |place| format!(" at {place}"));
        let more = found.places.len().saturating_sub(1);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        writeln!(text, "  {}{at}{more}", found.measured)?;
    }
    if info.pending {
        writeln!(text, "  being compiled")?;
    }
    info.versions.iter().try_for_each(|version| version_text(text, version, show))
}

/// What begins where something was compiled.
fn begins_text(begins: Begins) -> &'static str {
    match begins {
        Begins::Loop => "loop in",
        Begins::Function => "function",
        Begins::Rest => "rest of",
    }
}

/// How long it took until there was baseline code, if it began with that.
fn tiers_text(report: &VersionReport) -> String {
    let first = report.first_time.as_secs_f64() * 1e3;
    match (report.is_baseline, report.first_time < report.time) {
        (true, _) => " as baseline code".into(),
        (false, true) => format!(" (baseline code in {first:.2} ms)"),
        (false, false) => String::new(),
    }
}

fn version_text(text: &mut String, version: &VersionInfo, show: Show) -> std::fmt::Result {
    let report = &version.report;
    let region = &report.region;
    let insts: usize = region.blocks.iter().map(|b| b.insts.len()).sum();
    writeln!(
        text,
        "  compiled in {:.2} ms{}: {} blocks, {insts} instructions, {} bytes; entered {} times, for about {:.2} ms",
        report.time.as_secs_f64() * 1e3,
        tiers_text(report),
        region.blocks.len(),
        report.code_bytes,
        report.entries,
        report.run_time.as_secs_f64() * 1e3
    )?;
    for exit in &version.exits {
        writeln!(text, "    left {} times at {}: {}", exit.times, exit.place, exit.reason)?;
    }
    for VariantInfo { variant, place, hit, missed } in &version.variants {
        writeln!(text, "    variant `{variant}` at {place}: hit {hit} times, missed {missed} times")?;
    }
    if show.trace {
        writeln!(text, "{}", report.recorded.as_deref().unwrap_or("the region as recorded was not kept"))?;
    }
    if show.ir {
        writeln!(text, "{region}")?;
    }
    if show.asm {
        writeln!(text, "{}", report.listing().as_deref().unwrap_or("no machine code to show"))?;
    }
    Ok(())
}
