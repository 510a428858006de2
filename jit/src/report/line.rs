//! What became of a line of the source: for people who ask why it is slow.

use crate::analysis::Analysis;
use crate::engine::{Begins, Jit, LoopReport, Measured, VersionReport};
use crate::ir::{Counter, Exit, Kind, Outcome, Region, Value};
use crate::record::is_taken_apart;
use spmdvm_vm::Program;
use spmdvm_vm::isa::{Form, Op};
use spmdvm_vm::program::{FuncId, Function, Inst, MAP_SUFFIX, Reg};
use spmdvm_vm::types::{Shape, Ty};
use std::fmt::Write;
use std::ops::Range;

/// A line of a program's own text.
struct Line<'a> {
    program: &'a Program,
    file: u32,
    /// Its bytes in the text, with the end of the line.
    bytes: Range<usize>,
}

/// What happened to the loops and instructions of a line in these programs, each with its JIT if it has one: compiled or
/// why not, with which masks, how compiled code was left there and how often, and what takes time. The first program has
/// the line's text. The error says that there is no code on this line.
pub fn explain_line<'p>(
    programs: impl IntoIterator<Item = (&'p Program, Option<&'p Jit>)>,
    number: usize,
) -> Result<String, String> {
    let (mut text, mut shown) = (String::new(), None);
    for (program, jit) in programs {
        let own = own_file(program);
        let source = program.sources.get(own.unwrap_or(0) as usize).map_or("", |source| &source.text);
        let bytes = bytes_of(source, number);
        shown.get_or_insert_with(|| source[bytes.clone()].trim());
        let Some(file) = own else { continue };
        let line = Line { program, file, bytes };
        if line.instructions().next().is_some() {
            let loops = jit.map(Jit::report);
            line.explain(&mut text, loops.as_deref());
        }
    }
    if text.is_empty() {
        return Err(format!("line {number} has no code (or only in functions that have not been called yet)"));
    }
    Ok(format!("line {number}: {}\n{text}", shown.unwrap_or("")))
}

/// The file of the exported functions, rather than the library or what is included.
fn own_file(program: &Program) -> Option<u32> {
    let functions = program.exports.iter().map(|e| &program.functions[e.function.0 as usize]);
    functions.flat_map(|f| &f.spans).find(|span| span.hi != 0).map(|span| span.file)
}

/// The bytes of a line of a text, counted from 1; none if it has no such line.
fn bytes_of(text: &str, number: usize) -> Range<usize> {
    let mut start = 0;
    for (i, line) in text.split_inclusive('\n').enumerate() {
        if i + 1 == number {
            return start..start + line.len();
        }
        start += line.len();
    }
    start..start
}

impl Line<'_> {
    fn has(&self, function: FuncId, pc: u32) -> bool {
        let span = self.program.functions[function.0 as usize].spans.get(pc as usize).copied().unwrap_or_default();
        span.file == self.file && span.hi != 0 && self.bytes.contains(&(span.lo as usize))
    }

    /// The bytecode of the line.
    fn instructions(&self) -> impl Iterator<Item = (&Function, &Inst)> {
        let functions = self.program.functions.iter().enumerate();
        let all = functions.flat_map(|(id, f)| f.code.iter().enumerate().map(move |(pc, inst)| (id, f, pc, inst)));
        all.filter(|&(id, _, pc, _)| self.has(FuncId(id as u32), pc as u32)).map(|(_, f, _, inst)| (f, inst))
    }

    fn explain(&self, text: &mut String, loops: Option<&[LoopReport]>) {
        match loops {
            None => _ = writeln!(text, "  interpreted: the engine has no JIT"),
            Some(loops) => self.explain_loops(text, loops),
        }
        for (what, n) in self.costs() {
            let _ = writeln!(text, "  {n} × {what}");
        }
    }

    fn explain_loops(&self, text: &mut String, loops: &[LoopReport]) {
        let mut found = false;
        for report in loops {
            let what = match report.begins {
                Begins::Loop => "the loop at",
                Begins::Function => "the function at",
                Begins::Rest => "the rest of a function from",
            };
            let head = super::SourceLocation::of(self.program, report.at);
            let inside = report.begins == Begins::Loop && self.is_in_loop(report.at);
            if let Some(why) = report.aborted.as_ref().filter(|_| inside) {
                let at = report.aborted_at.map(|at| format!(" (at {})", super::SourceLocation::of(self.program, at)));
                let _ = writeln!(text, "  interpreted in {what} {head}: {why}{}", at.unwrap_or_default());
                found = true;
            }
            if report.pending && inside {
                let _ = writeln!(text, "  in {what} {head}, which is being compiled");
                found = true;
            }
            let here = |measured: &&Measured| measured.places.iter().any(|&(f, pc)| self.has(f, pc));
            for measured in report.measured.iter().filter(here) {
                let _ = writeln!(text, "  in {what} {head}, {measured}");
            }
            for version in report.versions.iter().filter(|v| inside || self.exits(&v.region).next().is_some()) {
                let _ = writeln!(text, "  compiled in {what} {head}, which was entered {} times", version.entries);
                self.explain_version(text, version);
                found = true;
            }
        }
        if !found {
            let _ = writeln!(text, "  interpreted: no loop around it has been hot");
        }
    }

    /// Returns whether the line is in a loop of its own function.
    fn is_in_loop(&self, (function, head): (FuncId, u32)) -> bool {
        let body = Analysis::new(&self.program.functions[function.0 as usize]).loop_body(head);
        body.iter().enumerate().any(|(pc, &inside)| inside && self.has(function, pc as u32))
    }

    /// The exits of a region that belong to the line.
    fn exits<'r>(&'r self, region: &'r Region) -> impl Iterator<Item = (usize, &'r Exit)> {
        let here = |exit: &Exit| exit.frames.last().is_some_and(|f| self.has(f.function, f.pc));
        region.exits.iter().enumerate().filter(move |(_, exit)| here(exit))
    }

    fn explain_version(&self, text: &mut String, version: &VersionReport) {
        let region = &version.region;
        let masks: Vec<bool> =
            self.exits(region).filter_map(|(_, e)| Some(is_full(region, e.frames.last()?.mask))).collect();
        let how = match (masks.contains(&true), masks.contains(&false)) {
            (true, true) => "with code for all lanes, which masks nothing, and code under a mask",
            (true, false) => "with code for all lanes only, which masks nothing",
            (false, true) => "under a mask",
            (false, false) => "without checks",
        };
        let _ = writeln!(text, "    {how}");
        for (at, exit) in self.exits(region) {
            let times = version.exits[at].1;
            if times != 0 {
                let _ = writeln!(text, "    left here {times} times: {}", exit.reason);
            }
        }
        for counted in version.counters.iter().filter(|c| c.times != 0) {
            if let Counter::Variant { variant, place, outcome } = counted.counter
                && self.has(place.0, place.1)
            {
                let came = if outcome == Outcome::Hit { "its code ran" } else { "it did not hold, other code ran" };
                let _ = writeln!(text, "    variant `{variant}`: {came} {} times", counted.times);
            }
        }
    }

    /// What takes time, and how many instructions of the line do it. The loop of a call over arrays, which loads elements and
    /// stores results, counts for a line of the function, where no change mends it: it is left out.
    fn costs(&self) -> Vec<(&'static str, usize)> {
        let mut costs: Vec<(&str, usize)> = Vec::new();
        let own = self.instructions().filter(|(f, _)| !f.name.ends_with(MAP_SUFFIX));
        for what in own.filter_map(|(f, inst)| cost(f, inst)) {
            match costs.iter_mut().find(|(other, _)| *other == what) {
                Some((_, n)) => *n += 1,
                None => costs.push((what, 1)),
            }
        }
        costs
    }
}

/// Returns whether a mask is known to have all lanes.
fn is_full(region: &Region, mask: Value) -> bool {
    let insts = || region.blocks[0].insts.iter();
    let definition = |v: Value| insts().find(|inst| inst.result == Some(v));
    definition(mask).is_some_and(|inst| {
        inst.kind == Kind::Splat && definition(inst.args[0]).is_some_and(|inst| inst.kind == Kind::Const(1))
    })
}

/// What is slow about an instruction.
fn cost(f: &Function, inst: &Inst) -> Option<&'static str> {
    let varies = |r: Reg| !r.is_none() && f.reg(r).shape == Shape::Varying;
    let far = varies(inst.src[0]) || varies(inst.src[1]);
    let varying = varies(inst.dst);
    Some(match inst.op {
        Op::Load if far => "gather: every lane reads an address of its own",
        Op::Store if far => "scatter: every lane writes to an address of its own",
        Op::LoadLane | Op::StoreLane if far => "array of varying values at an index of each lane: a gather or scatter",
        Op::MemCopy | Op::MemSet if is_taken_apart(f, inst) => return None,
        Op::Print
        | Op::Alloc
        | Op::Free
        | Op::MemCopy
        | Op::MemSet
        | Op::Clock
        | Op::Fence
        | Op::ThreadIndex
        | Op::ThreadCount => "done by the interpreter's handler, which compiled code calls",
        Op::Launch | Op::LaunchInd | Op::Sync => {
            "done by the interpreter's handler, which compiled code calls; where it waits, compiled code ends"
        }
        Op::HostCall => "left to the interpreter: compiled code ends here each time",
        op if Kind::has_atomic(op, inst.ty) && !inst.src.into_iter().any(varies) => return None,
        Op::AtomicAdd
        | Op::AtomicSub
        | Op::AtomicMin
        | Op::AtomicMax
        | Op::AtomicAnd
        | Op::AtomicOr
        | Op::AtomicXor
        | Op::AtomicSwap
        | Op::AtomicCas => "atomic operation: by the interpreter's handler, lane after lane",
        op if op.info().form == Form::Checked && varying => "division of integers: lane after lane",
        Op::Shuffle => "shuffle: every lane reads another one of its choice",
        Op::EachLane | Op::EachUnique | Op::EachAll => "one turn after another for lanes or values",
        Op::FRem => "remainder of floats: a call for every lane",
        _ if inst.ty == Ty::F16 && varying && op_computes(inst) => "half precision: a call, no instruction",
        _ => return None,
    })
}

fn op_computes(inst: &Inst) -> bool {
    matches!(inst.op.info().form, Form::Unary | Form::Binary | Form::Ternary | Form::Compare)
}
