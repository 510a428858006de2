//! `spmdvm compare`: the calls in programs on several back ends.

use crate::cli::{CompareArgs, Global};
use crate::{Failure, files, words};
use serde_json::json;
use spmdvm::{Engine, Fp, Limits, Options, Width};
use spmdvm_oracle::CaseError;
use spmdvm_oracle::compare::command::Command;
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::compare::files::{Comparison, Setup, compare as compare_file};
use spmdvm_oracle::compare::ispc::{self, Ispc};
use spmdvm_oracle::compare::{Backend, Rules, Verdict};
use std::path::Path;
use std::time::Duration;

/// How long a run may take, if that is not said.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A back end, or why there is none.
type Other = Result<Box<dyn Backend>, String>;

/// Compares; fails if something differs.
pub fn compare(global: &Global, args: &CompareArgs) -> Result<(), Failure> {
    let options = options(global);
    let timeout = options.limits.timeout.unwrap_or(TIMEOUT);
    let (rules, commands) = (rules(args)?, commands(args)?);
    if let Some(compiler) = &args.ispc {
        let why = |why| Failure::usage(format!("--ispc: {why} (give its path: --ispc=PATH)"));
        ispc::version(compiler).map_err(why)?;
    }
    let others = |width: Width| {
        let mut others = engines(global, args);
        others.extend(commands.iter().map(|words| boxed(Command { words: words.clone(), timeout })));
        others.extend(args.ispc.iter().flat_map(|compiler| with_ispc(args, compiler, width, timeout)));
        others
    };
    let reference = OwnEngine { engine: Engine::Interp };
    let (widths, calls) = (&global.width, &args.call);
    let (options, rules, bisect) = (&options, &rules, args.bisect);
    let setup = Setup { options, widths, reference: &reference, others: &others, rules, bisect, calls };
    let mut made = Vec::new();
    for file in &args.files {
        let text = files::text(file)?;
        let mut each = |comparison: Comparison| {
            if !global.json {
                println!("{comparison}");
            }
            made.push(comparison);
        };
        compare_file(file, &text, &setup, &mut each).map_err(|error| failure(error, file, global))?;
    }
    summary(global, &made)
}

fn options(global: &Global) -> Options {
    let given = global.options();
    let timeout = given.limits.timeout.or(Some(TIMEOUT));
    let fp = if global.fp_is_given { given.fp } else { Fp::Strict };
    let jit = if global.jit.is_empty() { spmdvm::JitSettings::eager() } else { given.jit.clone() };
    Options { fp, jit, limits: Limits { timeout, ..given.limits }, ..given }
}

fn rules(args: &CompareArgs) -> Result<Rules, Failure> {
    let mut rules = Rules { ignore_traps: args.ignore_traps, ignore_prints: args.ignore_prints, ..Rules::default() };
    for bound in &args.ulp {
        let (name, number) = bound.split_once('=').map_or((None, bound.as_str()), |(name, n)| (Some(name), n));
        let wrong = || Failure::usage(format!("--ulp takes N or NAME=N, such as 2 or x=2, not `{bound}`"));
        let number = number.parse().map_err(|_| wrong())?;
        match name {
            Some(name) => drop(rules.ulp_of.insert(name.to_owned(), number)),
            None => rules.ulp = number,
        }
    }
    Ok(rules)
}

fn commands(args: &CompareArgs) -> Result<Vec<Vec<String>>, Failure> {
    let command = |text: &String| match words::split(text) {
        words if words.is_empty() => {
            Err(Failure::usage("--cmd is empty: give a command, such as 'backend {source} {width}'"))
        }
        words => Ok(words),
    };
    args.cmd.iter().map(command).collect()
}

fn boxed(backend: impl Backend + 'static) -> Other {
    Ok(Box::new(backend))
}

/// Our own engines: those that are named; all that run here if there is no other back end.
fn engines(global: &Global, args: &CompareArgs) -> Vec<Other> {
    let is_alone = args.cmd.is_empty() && args.ispc.is_none();
    match (global.engine_is_given, is_alone) {
        (true, _) => global.engine.iter().map(|&engine| boxed(OwnEngine { engine })).collect(),
        (false, true) => OwnEngine::compiling().into_iter().map(boxed).collect(),
        (false, false) => Vec::new(),
    }
}

/// `ispc` for the targets of a width, at each level of optimisation.
fn with_ispc(args: &CompareArgs, compiler: &Path, width: Width, timeout: Duration) -> Vec<Other> {
    let targets = match args.ispc_target.as_slice() {
        [] => ispc::targets(width),
        given => given.iter().filter(|target| ispc::width_of(target) == Some(width)).cloned().collect(),
    };
    if targets.is_empty() {
        return vec![Err(format!("there is no target of ispc with gangs of {width} lanes"))];
    }
    let levels = |target: &String| {
        let target = target.clone();
        args.ispc_opt
            .iter()
            .map(move |&level| boxed(Ispc { compiler: compiler.to_owned(), target: target.clone(), level, timeout }))
    };
    targets.iter().flat_map(levels).collect()
}

fn failure(error: CaseError, file: &Path, global: &Global) -> Failure {
    match error {
        CaseError::Compile(error) => super::compile_failure(&error, file, global.color()),
        error => Failure::usage(error.to_string()),
    }
}

fn summary(global: &Global, made: &[Comparison]) -> Result<(), Failure> {
    let count = |is: fn(&Verdict) -> bool| made.iter().filter(|comparison| is(&comparison.verdict)).count();
    let equal = count(|verdict| matches!(verdict, Verdict::Equal));
    let different = count(|verdict| matches!(verdict, Verdict::Different(_)));
    let not_comparable = made.len() - equal - different;
    match global.json {
        true => {
            let comparisons: Vec<_> = made.iter().map(Comparison::to_json).collect();
            let all = json!({ "comparisons": comparisons, "equal": equal, "different": different, "not_comparable": not_comparable });
            println!("{all}");
        }
        false => println!("{equal} equal, {different} different, {not_comparable} not comparable"),
    }
    if different > 0 { Err(Failure::Program(String::new())) } else { Ok(()) }
}
