//! From several sources to one program, and what is said when that fails.

use crate::error::CompileError;
use crate::host::Hosts;
use crate::objects;
use spmdvm_frontend::compile::{CompileOptions, Input, prelude};
use spmdvm_frontend::diag::{Code, Diagnostic, LeftOut};
use spmdvm_frontend::source::{SourceMap, Span};
use spmdvm_vm::link::{LinkError, Object, ObjectSpan, link, needed};
use spmdvm_vm::program::Import;
use spmdvm_vm::{FuncId, Program, VerifiedProgram};
use std::sync::Arc;

/// A program of several sources.
pub(crate) struct Linked {
    pub program: VerifiedProgram,
    pub warnings: Vec<Diagnostic>,
    pub sources: SourceMap,
}

/// Compiles what is not compiled yet, and links it.
pub(crate) fn compile_and_link(inputs: &[Input<'_>], options: &CompileOptions) -> Result<Linked, CompileError> {
    let compiled = objects::compile_all(inputs, options);
    let library = prelude().sources().files().count();
    let mut sources = prelude().sources().clone();
    let (mut diagnostics, mut left_out) = (Vec::new(), LeftOut::default());
    for one in &compiled {
        let by = sources.append(&one.sources, library);
        diagnostics.extend(one.diagnostics.iter().map(|d| d.clone().renumbered(library, by)));
        left_out.errors += one.left_out.errors;
        left_out.warnings += one.left_out.warnings;
        left_out.gave_up |= one.left_out.gave_up;
    }
    if let Some(stopped) = compiled.iter().find_map(|one| one.stopped) {
        return Err(CompileError::of_stop(stopped, Arc::new(sources)));
    }
    let objects: Option<Vec<Arc<Object>>> = compiled.iter().map(|one| one.object.clone()).collect();
    let Some(objects) = objects else {
        return Err(CompileError { diagnostics, left_out, stopped: None, sources: Arc::new(sources) });
    };
    match link(&objects) {
        Ok(program) => Ok(Linked { program, warnings: diagnostics, sources }),
        Err(errors) => {
            let mut files = Files::default();
            let diagnostics = errors.iter().map(|error| describe(error, &objects, &mut files)).collect();
            Err(CompileError::of_program(diagnostics, files.0))
        }
    }
}

/// Fails if one of these functions needs another that is declared but defined nowhere, and that the host does not provide.
pub(crate) fn check(
    program: &Program,
    functions: impl Iterator<Item = FuncId>,
    hosts: &Hosts,
) -> Result<(), CompileError> {
    let mut missing: Vec<&Import> = Vec::new();
    for function in functions {
        for import in needed(program, function) {
            if !missing.iter().any(|known| known.symbol.item == import.symbol.item) {
                missing.push(import);
            }
        }
    }
    if missing.is_empty() {
        return Ok(());
    }
    let mut files = Files::default();
    let diagnostics = missing.into_iter().map(|import| undefined(import, program, hosts, &mut files)).collect();
    Err(CompileError::of_program(diagnostics, files.0))
}

/// The files that places of programs are in.
#[derive(Default)]
pub(crate) struct Files(SourceMap);

impl Files {
    pub fn into_map(self) -> SourceMap {
        self.0
    }

    pub fn span(&mut self, program: &Program, span: spmdvm_vm::Span) -> Span {
        match program.sources.get(span.file as usize).filter(|_| span.hi > 0) {
            Some(source) => Span::new(self.0.add_shared(&source.name, &source.text), span.lo, span.hi),
            None => Span::default(),
        }
    }

    fn place(&mut self, objects: &[Arc<Object>], place: ObjectSpan) -> Span {
        objects.get(place.object).map_or_else(Span::default, |object| self.span(object.program(), place.span))
    }
}

/// The name that the source has.
fn source_name(link_name: &str) -> &str {
    link_name.split('(').next().unwrap_or(link_name)
}

fn undefined(import: &Import, program: &Program, hosts: &Hosts, files: &mut Files) -> Diagnostic {
    let name = source_name(&import.symbol.name);
    let (used, declared) = (files.span(program, import.used), files.span(program, import.symbol.span));
    let message = format!("`{name}` is declared but defined nowhere");
    let mut error = Diagnostic::new(Code::UndefinedFunction, used, message).at("needed here");
    if declared != Span::default() && declared != used {
        error = error.label(declared, "declared here");
    }
    match &import.near {
        Some((near, span)) if span.hi > 0 => {
            error = error.label(files.span(program, *span), format!("this one is `{near}`"));
        }
        Some((near, _)) => error = error.note(format!("there is `{near}`, which is another function")),
        None => {}
    }
    if import.host.is_some()
        && let Some(given) = hosts.mistaken_for(name, program)
    {
        error = error.note(format!("the host provides `{given}`, which is not called; did you mean `{name}`?"));
    }
    let link = format!("link the file that defines `{name}` (Python: `sources=[…]`; command line: `--with FILE`)");
    error.help(match import.host {
        Some(_) => format!("{link}, or provide it from the host (Python: `host={{\"{name}\": function}}`)"),
        None if import.symbol.name.contains('(') => link,
        None => format!("{link}; a host cannot provide it, as it takes or gives what hosts do not have"),
    })
}

fn describe(error: &LinkError, objects: &[Arc<Object>], files: &mut Files) -> Diagnostic {
    match error {
        LinkError::Twice { name, places: [first, second] } => {
            let (first, second) = (files.place(objects, *first), files.place(objects, *second));
            let message = format!("`{}` is defined in two files", source_name(name));
            let error = Diagnostic::new(Code::DefinedTwice, second, message).at("defined again here");
            error.label(first, "first defined here").help(
                "declare it `static` if each file is to have its own; else define it in one file, and declare it in the others",
            )
        }
        LinkError::Differs { name, places: [declared, other], types: [ty, other_ty], structure, is_defined } => {
            let (declared, other) = (files.place(objects, *declared), files.place(objects, *other));
            let name = source_name(name);
            let what = if *is_defined { "defined" } else { "declared" };
            match structure {
                Some(structure) => {
                    let message = format!("`{structure}`, which `{name}` uses, is not the same type in two files");
                    let error = Diagnostic::new(Code::DeclaredDifferently, declared, message).at("declared here");
                    error.label(other, format!("{what} here")).help(format!("have one header define `{structure}`"))
                }
                None => {
                    let message = format!("`{name}` is declared as `{ty}`, but {what} as `{other_ty}`");
                    let error = Diagnostic::new(Code::DeclaredDifferently, declared, message).at("declared here");
                    error
                        .label(other, format!("{what} here"))
                        .help("give both the same type; one header for both files does")
                }
            }
        }
        LinkError::Widths(a, b) => {
            let message = format!("files compiled for gangs of {a} and of {b} lanes cannot be one program");
            Diagnostic::new(Code::CannotLink, Span::default(), message)
        }
        LinkError::Program(errors) => {
            let list: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
            let message = format!("the files cannot be one program: {}", list.join("; "));
            Diagnostic::new(Code::CannotLink, Span::default(), message)
        }
    }
}
