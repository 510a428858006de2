//! `spmdvm check`: errors and warnings, as text or JSON.

use super::{compile_failure, database, depends};
use crate::Failure;
use crate::cli::{CheckArgs, Global};
use serde_json::{Value as Json, json};
use spmdvm::tools::SourceMap;
use spmdvm::tools::Stage;
use spmdvm::{Diagnostic, Module, Options, Severity, Source};
use std::path::{Path, PathBuf};

/// Checks every file, with hints about performance if they are wanted; fails if one has an error.
pub fn check(global: &Global, args: &CheckArgs) -> Result<(), Failure> {
    let options = Options { hints: !args.no_hints, ..global.options() };
    let mut programs: Vec<(PathBuf, Options)> = args.files.iter().map(|file| (file.clone(), options.clone())).collect();
    if let Some(list) = &args.all {
        programs.extend(database::read(list, global, &options)?);
    }
    let mut wrong = 0;
    let mut reports = Vec::new();
    programs.iter().try_for_each(|(file, _)| crate::files::check(file))?;
    if args.depends {
        return depends::depends(&programs, global.json, global.color());
    }
    for (file, options) in &programs {
        if let Some(stage) = &global.dump {
            dump(global, file, stage)?;
            continue;
        }
        match Module::compile_file(file, options) {
            Ok(module) if global.json => reports.extend(data(module.warnings(), module.sources())),
            Ok(module) => eprint!("{}", module.render_warnings(global.color())),
            Err(error) if error.stopped().is_some() => return Err(compile_failure(&error, file, global.color())),
            Err(error) => {
                wrong += 1;
                match global.json {
                    true => reports.extend(data(error.diagnostics(), error.sources())),
                    false => eprint!("{}{}", error.render(global.color()), crate::files::note(file)),
                }
            }
        }
    }
    if global.json {
        println!("{}", Json::Array(reports));
    }
    match wrong {
        0 => Ok(()),
        _ if global.json => Err(Failure::Program(String::new())),
        1 => Err(Failure::Program("1 file does not compile\n".into())),
        n => Err(Failure::Program(format!("{n} files do not compile\n"))),
    }
}

/// Checks that files are one program, of which every export can be called.
pub fn check_linked(global: &Global, args: &CheckArgs) -> Result<(), Failure> {
    if global.dump.is_some() {
        return Err(Failure::usage("--dump shows files one by one: leave out --link"));
    }
    let (files, options) = (&args.files, Options { hints: !args.no_hints, ..global.options() });
    files.iter().try_for_each(|file| crate::files::check(file))?;
    let sources: Vec<Source<'_>> = files.iter().map(|file| Source::File(file)).collect();
    let module = Module::compile_all(&sources, &options);
    let mut reports = Vec::new();
    if let Ok(module) = &module {
        match global.json {
            true => reports.extend(data(module.warnings(), module.sources())),
            false => eprint!("{}", module.render_warnings(global.color())),
        }
    }
    let error = match module.and_then(|module| module.check_linked()) {
        Ok(()) => None,
        Err(error) if error.stopped().is_some() => return Err(Failure::Trap(error.render(global.color()))),
        Err(error) => Some(error),
    };
    if let Some(error) = &error {
        let notes = files.iter().map(|file| crate::files::note(file)).collect::<String>();
        match global.json {
            true => reports.extend(data(error.diagnostics(), error.sources())),
            false => eprint!("{}{notes}", error.render(global.color())),
        }
    }
    if global.json {
        println!("{}", Json::Array(reports));
    }
    match error {
        None => Ok(()),
        Some(_) if global.json => Err(Failure::Program(String::new())),
        Some(_) => Err(Failure::Program("the files cannot be linked\n".into())),
    }
}

/// Prints a stage of the compilation of a file.
pub fn dump(global: &Global, file: &Path, stage: &str) -> Result<(), Failure> {
    if Stage::from_name(stage).is_none() {
        let names: Vec<&str> = Stage::NAMES.iter().map(|s| s.0).collect();
        let message = format!("--dump: there is no stage `{stage}`; choose one of {}", names.join(", "));
        return Err(Failure::usage(message));
    }
    crate::files::check(file)?;
    let text = Module::dump_stage(file, &global.options(), stage).map_err(Failure::Program)?;
    print!("{text}");
    Ok(())
}

fn data(diagnostics: &[Diagnostic], sources: &SourceMap) -> Vec<Json> {
    diagnostics.iter().map(|d| one(d, sources)).collect()
}

fn one(d: &Diagnostic, sources: &SourceMap) -> Json {
    let labels: Vec<Json> = d
        .labels
        .iter()
        .map(|label| {
            let (file, line, column) = sources.locate(label.span);
            let (_, end_line, end_column) = sources.locate(label.span.after());
            json!({ "file": file, "line": line, "column": column,
                    "end_line": end_line, "end_column": end_column, "text": label.text })
        })
        .collect();
    let inclusions = sources.inclusions(d.span().file).map(|at| {
        let (file, line, _) = sources.locate(at);
        json!({ "file": file, "line": line })
    });
    let included_at: Vec<Json> = inclusions.collect();
    let severity = if d.severity == Severity::Error { "error" } else { "warning" };
    json!({ "code": d.code.id(), "severity": severity, "message": d.message, "labels": labels, "help": d.help, "notes": d.notes,
            "included_at": included_at })
}
