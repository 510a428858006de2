//! `spmdvm conform`: runs programs written in the convention of ISPC's functional tests.
//!
//! `convention` reads what a file asks for (which entry, on which systems), `trial` compiles and runs one file at one
//! width on one engine, `report` prints. This module finds the files and spreads them over the cores; a file is the unit
//! of work, and outcomes are reported in the order of the files, whichever thread is first.

mod convention;
mod report;
mod trial;

use crate::cli::{ConformArgs, Global};
use crate::{Failure, files};
use report::Report;
use spmdvm::{Engine, Module, Options, Width};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;
use trial::Outcome;

/// How long one call may take unless `--timeout` says otherwise: a runaway program is a failure, not a hang.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);

/// Stack of a worker. The front end bounds how deeply programs nest; this leaves room for that bound in debug builds.
const STACK_BYTES: usize = 64 << 20;

/// One file at one width on one engine.
struct Trial {
    width: Width,
    engine: Engine,
    outcome: Outcome,
}

/// Runs every file at every width on every engine; fails if one fails.
pub fn conform(global: &Global, args: &ConformArgs) -> Result<(), Failure> {
    let options = Options { check: args.check.unwrap_or_default(), ..base_options(global) };
    for &engine in &global.engine {
        check_engine(engine, &options)?;
    }
    let programs = find_files(&args.paths)?;
    warn_of_unmatched(&args.skip, &programs);
    let mut report = Report::new(global.json);
    in_order(&programs, |file| trials(file, global, &args.skip, &options), |file, trials| report.add(file, trials));
    match report.finish() {
        0 => Ok(()),
        _ => Err(Failure::Program(String::new())),
    }
}

fn base_options(global: &Global) -> Options {
    let mut options = global.options();
    options.limits.timeout = options.limits.timeout.or(Some(DEFAULT_TIMEOUT));
    // Tasks run in the order of their indices.
    options.threads = options.threads.or(Some(1));
    options
}

/// An engine that does not run here is an error of the command line, not of every file.
fn check_engine(engine: Engine, options: &Options) -> Result<(), Failure> {
    let options = Options { engine, include_paths: Vec::new(), defines: Vec::new(), ..options.clone() };
    let empty = Module::compile("engine", "", &options).map_err(|e| Failure::Program(e.to_string()))?;
    empty.check_engine().map_err(|e| Failure::usage(e.to_string()))
}

/// The programs that the paths name: files as they are, folders with all `.ispc` files below them.
fn find_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut found = Vec::new();
    for path in paths {
        let unreadable = |e| files::unreadable(path, &e);
        if !std::fs::metadata(path).map_err(unreadable)?.is_dir() {
            found.push(path.clone());
            continue;
        }
        let before = found.len();
        walk(path, &mut found).map_err(unreadable)?;
        if found.len() == before {
            return Err(Failure::usage(format!("there is no .ispc file below {}", path.display())));
        }
    }
    Ok(found)
}

/// Adds the programs below a folder, sorted by name.
fn walk(folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(|entry| entry.file_name());
    for entry in entries {
        let path = entry.path();
        // Links to folders are not followed: they could lead back here.
        if entry.file_type()?.is_dir() {
            walk(&path, files)?;
        } else if path.extension().is_some_and(|e| e == "ispc") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns whether a name of `--skip` means this file. It is the file's name, with or without its ending.
fn is_named(file: &Path, name: &str) -> bool {
    [file.file_name(), file.file_stem()].into_iter().flatten().any(|n| n == name)
}

fn warn_of_unmatched(skip: &[String], files: &[PathBuf]) {
    for name in skip.iter().filter(|name| !files.iter().any(|file| is_named(file, name))) {
        eprintln!("warning: --skip {name} names none of the files");
    }
}

fn trials(file: &Path, global: &Global, skip: &[String], options: &Options) -> Vec<Trial> {
    let text = std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let left_out = skip.iter().any(|name| is_named(file, name));
    let outcome = |width, engine| match &text {
        _ if left_out => Outcome::Skipped("left out with --skip".into()),
        Err(e) => Outcome::unreadable(e),
        Ok(text) => trial::run(file, text, &Options { width, engine, ..options.clone() }),
    };
    let one = |width, engine| Trial { width, engine, outcome: outcome(width, engine) };
    global.width.iter().flat_map(|&width| global.engine.iter().map(move |&engine| one(width, engine))).collect()
}

/// Does `work` on all items, on all cores, and hands on the results in the order of the items.
fn in_order<R: Send>(items: &[PathBuf], work: impl Fn(&Path) -> R + Sync, mut then: impl FnMut(&Path, R)) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(items.len());
    let (sender, results) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, next, work) = (sender.clone(), &next, &work);
            let worker = move || {
                while let Some((i, item)) = take(items, next) {
                    if sender.send((i, work(item))).is_err() {
                        break;
                    }
                }
            };
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            builder.spawn_scoped(scope, worker).expect("the system starts a thread");
        }
        drop(sender);
        let (mut early, mut due) = (BTreeMap::new(), 0);
        for (i, result) in results {
            early.insert(i, result);
            while let Some(result) = early.remove(&due) {
                then(&items[due], result);
                due += 1;
            }
        }
    });
}

fn take<'i>(items: &'i [PathBuf], next: &AtomicUsize) -> Option<(usize, &'i Path)> {
    let i = next.fetch_add(1, Ordering::Relaxed);
    items.get(i).map(|item| (i, item.as_path()))
}
