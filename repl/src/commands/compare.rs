//! `spmdvm compare`: the calls in programs on several back ends.

use super::backends::{Foreign, Other, TIMEOUT, boxed};
use crate::cli::{CompareArgs, Global};
use crate::{Failure, files};
use serde_json::json;
use spmdvm::{Engine, Fp, Limits, Options, Width};
use spmdvm_oracle::CaseError;
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::compare::files::{Comparison, Setup, compare as compare_file};
use spmdvm_oracle::compare::{Rules, Verdict};
use std::path::Path;

/// Compares; fails if something differs.
pub fn compare(global: &Global, args: &CompareArgs) -> Result<(), Failure> {
    let options = options(global);
    let timeout = options.limits.timeout.unwrap_or(TIMEOUT);
    let (rules, foreign) = (rules(args)?, Foreign::new(&args.backends, timeout)?);
    let others = |width: Width| {
        let mut others = engines(global, &foreign);
        others.extend(foreign.at(width));
        others
    };
    let reference = OwnEngine { engine: Engine::Interp };
    let (widths, calls) = (&global.width, &args.call);
    let setup = Setup { options: &options, widths, reference: &reference, others: &others, rules: &rules, calls };
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

/// Our own engines: those that are named; all that run here if there is no other back end.
fn engines(global: &Global, foreign: &Foreign<'_>) -> Vec<Other> {
    let is_alone = foreign.is_empty();
    match (global.engine_is_given, is_alone) {
        (true, _) => global.engine.iter().map(|&engine| boxed(OwnEngine { engine })).collect(),
        (false, true) => OwnEngine::compiling().into_iter().map(boxed).collect(),
        (false, false) => Vec::new(),
    }
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
