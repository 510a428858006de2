//! A C compiler as a back end, for the part of the language that has a meaning lane by lane.
//!
//! The typed program ([`spmdvm::frontend::hir`]) is translated to scalar C, past lowering, bytecode and engines: a function in the
//! form for one lane computes with that lane's values alone, knows no masks, and branches where the lane's conditions say so. One
//! iteration of a `foreach` after the other runs so, and likewise what the gang does outside of it; only uniform control, reductions
//! and what else looks at all lanes is the gang's (`gang`). That comes to the same as lanes in step if in no turn of the gang one lane
//! touches what another one writes: the program watches that as it runs, and gives no opinion otherwise.
//!
//! `unit` is the program that comes about, `body` one function of it, `stmt`, `expr`, `place` and `operation` its parts,
//! `layout` its types; `runtime.c` spells out the arithmetic of the language.

mod body;
mod expr;
mod gang;
mod layout;
mod operation;
mod place;
mod stmt;
mod unit;

use super::process::{self, Ended};
use super::{Backend, Job, driver, form};
use crate::outcome::{End, Outcome};
use body::Mode;
use spmdvm::frontend::compile::{Input, with_typed};
use spmdvm::frontend::hir::{FuncId, Module, TypeKind};
use spmdvm::frontend::source::SourceMap;
use spmdvm::{Export, Fp, HostValue, TrapKind, Ty};
use std::path::{Path, PathBuf};
use std::time::Duration;
use unit::{Refusal, Unit};

/// How long a compilation may take.
const COMPILE_TIMEOUT: Duration = Duration::from_secs(120);

/// The stack for translation: programs may be deep.
const STACK: usize = 64 << 20;

/// The name that the driver calls.
const ENTRY: &str = "spmdvm_entry";

/// With what exit codes programs end that trapped, and that cannot say what comes out.
const TRAPPED: i32 = 76;
const UNDECIDED: i32 = 77;

/// A compiler of C.
pub struct C {
    /// Its path, or its name on PATH.
    pub compiler: PathBuf,
    /// How long a run may take.
    pub timeout: Duration,
}

/// The first line of what a compiler says of itself; the error says why it cannot be run.
pub fn version(compiler: &Path) -> Result<String, String> {
    let words = [compiler.display().to_string(), "--version".to_owned()];
    let ended = process::run(&words, None, COMPILE_TIMEOUT)?;
    Ok(ended.stdout.lines().next().unwrap_or_default().to_owned())
}

/// The C program for a job. The error says what of it has no meaning lane by lane, and where.
pub fn source(job: &Job<'_>) -> Result<String, String> {
    if job.options.fp != Fp::Strict {
        return Err(format!("a C compiler does not fuse as `--fp {}` asks for: use `--fp strict`", job.options.fp));
    }
    let export = Export { name: ENTRY.to_owned(), ..job.export.clone() };
    let driver = driver::source(&Job { export: &export, ..*job })?;
    let translated = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        let started = thread.spawn_scoped(scope, || translation(job));
        let thread = started.map_err(|error| format!("there is no thread to translate it: {error}"))?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    Ok(driver + "\n" + &translated)
}

fn translation(job: &Job<'_>) -> Result<String, String> {
    let options = job.options.to_compile_options();
    let input = match job.path {
        Some(path) => Input::File(path),
        None => Input::Text { name: &job.case.name, text: &job.case.text },
    };
    let translated = with_typed(input, &options, |module, sources| {
        let id = exported(module, job.export).ok_or("the program does not export the function")?;
        text(module, sources, id, job.export).map_err(|refusal| told(&refusal, sources))
    });
    translated.map_err(|_| "it does not compile".to_owned())?
}

/// The function behind an export.
fn exported(module: &Module, export: &Export) -> Option<FuncId> {
    let is_it = |known: &&spmdvm::frontend::hir::Export| {
        known.name == export.name && known.params == export.params && known.declaration == export.declaration
    };
    module.exports.iter().find(is_it).map(|known| known.function)
}

fn told(refusal: &Refusal, sources: &SourceMap) -> String {
    format!("line {}: no translation lane by lane: {}", sources.line(refusal.span), refusal.what)
}

/// The translation of a program, with a function that the driver calls.
fn text(module: &Module, sources: &SourceMap, id: FuncId, export: &Export) -> Result<String, Refusal> {
    let mut unit = Unit::new(module, sources);
    let function = module.function(id);
    for &param in &function.params {
        let ty = function.locals[param.0 as usize].ty;
        let (TypeKind::Pointer { pointee: to, .. } | TypeKind::Reference(to)) = *module.types.kind(ty) else {
            continue;
        };
        if module.types.is_varying(to) {
            return unit::refuse("a parameter that points to varying values", function.head_span);
        }
    }
    let name = unit.function(id, Mode::Gang, function.head_span)?;
    unit.text(&entry(&name, export))
}

/// The function that the driver calls.
fn entry(name: &str, export: &Export) -> String {
    let (mut params, mut given) = (Vec::new(), Vec::new());
    for (i, param) in export.params.iter().enumerate() {
        match &param.value {
            HostValue::Uniform(ty) => {
                params.push(format!("{} p{i}", driver::c_type(*ty)));
                given.push(if *ty == Ty::F16 { format!("half_bits(p{i})") } else { format!("p{i}") });
            }
            _ => {
                params.push(format!("void *p{i}"));
                given.push(format!("(u64)p{i}"));
            }
        }
    }
    let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
    let call = format!("{name}({})", given.join(", "));
    let (result, call) = match &export.result {
        Some(HostValue::Uniform(Ty::F16)) => ("_Float16", format!("return half_of({call})")),
        Some(HostValue::Uniform(ty)) => (driver::c_type(*ty), format!("return {call}")),
        _ => ("void", call),
    };
    let halves = if driver::uses_halves(export) {
        "static f16 half_bits(_Float16 x) { f16 bits; memcpy(&bits, &x, sizeof bits); return bits; }\n"
    } else {
        ""
    };
    format!(
        "{halves}{result} {ENTRY}({params}) {{\n    const char here = 0;\n    stack_start = &here;\n    set_globals();\n    {call};\n}}\n"
    )
}

impl C {
    /// Compiles a program.
    fn build(&self, text: &str, folder: &Path) -> Result<PathBuf, String> {
        let (source, program) = (folder.join("case.c"), folder.join("case"));
        std::fs::write(&source, text).map_err(|error| format!("cannot write {}: {error}", source.display()))?;
        let path = |path: &Path| path.display().to_string();
        let options = ["-std=gnu11", "-O1", "-w", "-ffp-contract=off", "-fno-strict-aliasing"].map(str::to_owned);
        let mut words = vec![path(&self.compiler)];
        words.extend(options);
        words.extend([path(&source), "-o".to_owned(), path(&program), "-lm".to_owned()]);
        match process::run(&words, None, COMPILE_TIMEOUT)?.failure(COMPILE_TIMEOUT) {
            Some(why) => Err(format!("{} does not compile the translation: {why}", self.name())),
            None => Ok(program),
        }
    }

    /// What comes of a program in C.
    pub fn run_text(&self, text: &str, job: &Job<'_>) -> Result<Outcome, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let program = self.build(text, folder.path())?;
        let results = folder.path().join("results");
        let words = [program.display().to_string(), results.display().to_string()];
        let ended = process::run(&words, None, self.timeout)?;
        if let Some(early) = early_end(&ended) {
            return early;
        }
        if let Some(why) = ended.failure(self.timeout) {
            return Ok(Outcome::stopped(why));
        }
        let lines = std::fs::read_to_string(&results).map_err(|error| format!("it left no results: {error}"))?;
        let outcome = form::read(&lines, job)?;
        Ok(Outcome { printed: ended.stdout, ..outcome })
    }
}

/// What a program says that ended before its time by itself.
fn early_end(ended: &Ended) -> Option<Result<Outcome, String>> {
    let said = ended.stderr.trim();
    match ended.status?.code()? {
        UNDECIDED => Some(Err(said.to_owned())),
        TRAPPED => {
            let kind = TrapKind::from_name(said)?;
            Some(Ok(Outcome { end: End::Trapped { kind, lane: None }, ..Outcome::default() }))
        }
        _ => None,
    }
}

impl Backend for C {
    fn name(&self) -> String {
        let name = self.compiler.file_name().unwrap_or(self.compiler.as_os_str());
        name.to_string_lossy().into_owned()
    }

    fn run(&self, job: &Job<'_>) -> Result<Outcome, String> {
        self.run_text(&source(job)?, job)
    }

    fn is_undefined_after_traps(&self) -> bool {
        true
    }
}
