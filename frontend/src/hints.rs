//! Hints about performance: what goes lane by lane in the loops of a program.
//!
//! They come from the static properties of the finished bytecode ([`spmdvm_vm::properties`]), so they are about what is executed,
//! after all that the front end has simplified. Who asks for them ([`CompileOptions::hints`](crate::compile::CompileOptions)) gets few:
//! about loops only, one for a line (what costs most there), and none about the library. `#pragma ignore warning(perf)` silences
//! them.
//!
//! | code | what |
//! |---|---|
//! | W0900 | a load for which each lane has an address of its own |
//! | W0901 | such a store |
//! | W0902 | accesses to elements at a constant distance |
//! | W0903 | a division of integers by divisors that differ between lanes |
//!
//! Parameters may hold anything, those of functions that are not exported too: a function's loops are judged by themselves. Nothing is said
//! of accesses whose lanes are in a row if a step is a multiple of the gang's width, or an index not negative: compiled code tests that.

use crate::diag::{Code, Diagnostic};
use crate::lower::map_wrapper;
use crate::source::{FileId, SourceMap, Span};
use spmdvm_vm::Width;
use spmdvm_vm::isa::Op;
use spmdvm_vm::program::{Function, Program};
use spmdvm_vm::properties::{Access, Mask, Properties};
use spmdvm_vm::types::Shape;
use std::collections::BTreeMap;

/// What is slow about an instruction, the worst first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Slow {
    Scatter,
    Gather,
    Division,
    /// Bytes from lane to lane.
    Strided(i64),
}

/// The hints about a program, in the order of their places. The first files of the map are the `library`'s.
pub fn hints(program: &Program, sources: &SourceMap, library: usize) -> Vec<Diagnostic> {
    if program.width.lanes() == 1 {
        return Vec::new();
    }
    let users = |name: &str, text: &str| {
        let mut files = sources.files().skip(library);
        files.find(|(_, file)| file.name == name && *file.text == *text).map(|(id, _)| id)
    };
    let files: Vec<Option<FileId>> = program.sources.iter().map(|source| users(&source.name, &source.text)).collect();
    let mut worst: BTreeMap<(FileId, u32), (Slow, Span)> = BTreeMap::new();
    // Whole-array calls go by arrays of any layout; that is not the program's doing.
    let own = program.functions.iter().filter(|f| !f.name.ends_with(map_wrapper::SUFFIX));
    for (slow, at) in own.flat_map(|f| slow_in_loops(f, program.width)) {
        let Some(Some(file)) = files.get(at.file as usize) else { continue };
        let span = Span::new(*file, at.lo, at.hi);
        let known = worst.entry((*file, sources.locate(span).1)).or_insert((slow, span));
        if (slow, span.lo) < (known.0, known.1.lo) {
            *known = (slow, span);
        }
    }
    worst.into_values().map(|(slow, span)| slow.hint(span)).collect()
}

/// What is slow in the loops of a function, and where.
fn slow_in_loops(f: &Function, width: Width) -> Vec<(Slow, spmdvm_vm::Span)> {
    let properties = Properties::new(f, width);
    let in_loop = |at: &u32| properties.loops().iter().any(|l| (l.head..=l.back).contains(at));
    let found = (0..f.code.len() as u32).filter(in_loop).filter_map(|at| {
        let slow = slow(f, width, &properties, at)?;
        Some((slow, at, *f.spans.get(at as usize)?))
    });
    let found: Vec<_> = found.collect();
    let accesses = |(slow, ..): &(Slow, u32, spmdvm_vm::Span)| *slow != Slow::Division;
    let assuming = found.iter().any(accesses).then(|| Properties::assuming(f, width)).flatten();
    let is_row = |at: u32| match assuming.as_ref().and_then(|assuming| assuming.access(at)) {
        Some(Access::Uniform | Access::Consecutive { .. }) => true,
        Some(Access::Strided(_) | Access::Varying) | None => false,
    };
    found.into_iter().filter(|found| !accesses(found) || !is_row(found.1)).map(|(slow, _, span)| (slow, span)).collect()
}

fn slow(f: &Function, width: Width, properties: &Properties, at: u32) -> Option<Slow> {
    // Under `foreach_active` and the like there is one lane at a time anyway.
    if properties.mask(at)? == Mask::Sequential {
        return None;
    }
    let inst = &f.code[at as usize];
    let is_store = matches!(inst.op, Op::Store | Op::StoreLane);
    match inst.op {
        Op::Load | Op::LoadLane | Op::Store | Op::StoreLane => match properties.access(at)? {
            Access::Varying if is_store => Some(Slow::Scatter),
            Access::Varying => Some(Slow::Gather),
            Access::Strided(bytes) => Some(Slow::Strided(bytes)),
            Access::Uniform | Access::Consecutive { .. } => None,
        },
        Op::IDiv | Op::IRem if f.reg(inst.dst).shape == Shape::Varying => {
            let divisor = properties.lanes(f, width, inst.src[1], at)?;
            (!divisor.is_uniform()).then_some(Slow::Division)
        }
        _ => None,
    }
}

impl Slow {
    fn hint(self, span: Span) -> Diagnostic {
        let (code, message, here, help) = match self {
            Slow::Gather => (
                Code::Gather,
                "a gather is needed: every lane loads from an address of its own".to_owned(),
                "no order of these addresses is known",
                "lanes that load elements in a row, as `a[i]` in a `foreach` over `i`, load one vector",
            ),
            Slow::Scatter => (
                Code::Scatter,
                "a scatter is needed: every lane stores to an address of its own".to_owned(),
                "no order of these addresses is known",
                "lanes that store elements in a row, as `a[i]` in a `foreach` over `i`, store one vector",
            ),
            Slow::Strided(bytes) => (
                Code::StridedAccess,
                format!("lanes access elements that lie {} bytes apart", bytes.unsigned_abs()),
                "not elements in a row",
                "keep what lanes access together in a row: members of structs in arrays of their own, or `soa<n>` structs",
            ),
            Slow::Division => (
                Code::LaneDivision,
                "a division of integers for every lane: divisors differ".to_owned(),
                "machines have no vector instruction for this",
                "a `uniform` divisor is divided by once for all lanes; powers of two are shifts; `float` divisions are vectors",
            ),
        };
        Diagnostic::new(code, span, message).at(here).help(help)
    }
}
