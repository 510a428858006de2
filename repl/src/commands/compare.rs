//! `spmdvm compare`: the calls in programs on several back ends.

use super::backends::{Foreign, Other, TIMEOUT, boxed};
use crate::cli::{CompareArgs, Global, RuleArgs};
use crate::{Failure, files};
use serde_json::json;
use spmdvm::{Engine, Fp, Limits, Options, Width};
use spmdvm_oracle::CaseError;
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::compare::files::{Comparison, Setup, compare as compare_file};
use spmdvm_oracle::compare::{Rules, Verdict};
use std::path::Path;
use std::time::Duration;

/// Compares; fails if something differs.
pub fn compare(global: &Global, args: &CompareArgs) -> Result<(), Failure> {
    let options = options(global);
    let foreign = Foreign::new(&args.backends.cmd, &args.backends.compilers, timeout(&options))?;
    let comparing = Comparing { global, foreign, rules: rules(&args.rules)?, bisect: args.bisect, calls: &args.call };
    let mut made = Vec::new();
    for file in &args.files {
        let text = files::text(file)?;
        let mut each = |comparison: Comparison| {
            if !global.json {
                println!("{comparison}");
            }
            made.push(comparison);
        };
        comparing.run(&options, (file, &text), &mut each)?;
    }
    summary(global, &made)
}

/// What is compared with what, and how.
pub struct Comparing<'a> {
    /// The widths, and our engines.
    pub global: &'a Global,
    /// The other back ends.
    pub foreign: Foreign<'a>,
    /// What counts as equal.
    pub rules: Rules,
    /// Whether the first statement that differs is looked for.
    pub bisect: bool,
    /// Calls in place of those in the files.
    pub calls: &'a [String],
}

impl Comparing<'_> {
    /// Compares what the calls in a file with this text do.
    pub fn run(
        &self,
        options: &Options,
        (file, text): (&Path, &str),
        each: &mut dyn FnMut(Comparison),
    ) -> Result<(), Failure> {
        let others = |width: Width| {
            let mut others = engines(self.global, &self.foreign);
            others.extend(self.foreign.at(width));
            others
        };
        let reference = OwnEngine { engine: Engine::Interp };
        let (widths, rules, calls) = (&self.global.width, &self.rules, self.calls);
        let bisect = self.bisect;
        let setup = Setup { options, widths, reference: &reference, others: &others, rules, bisect, calls };
        compare_file(file, text, &setup, each).map_err(|error| failure(error, file, self.global))
    }
}

/// How long a run may take.
pub fn timeout(options: &Options) -> Duration {
    options.limits.timeout.unwrap_or(TIMEOUT)
}

/// How programs are compiled and run: nothing is fused, and loops are compiled at once, if that is not said otherwise.
pub fn options(global: &Global) -> Options {
    let given = global.options();
    let timeout = given.limits.timeout.or(Some(TIMEOUT));
    let fp = if global.fp_is_given { given.fp } else { Fp::Strict };
    let jit = if global.jit.is_empty() { spmdvm::JitSettings::eager() } else { given.jit.clone() };
    Options { fp, jit, limits: Limits { timeout, ..given.limits }, ..given }
}

/// What counts as equal.
pub fn rules(args: &RuleArgs) -> Result<Rules, Failure> {
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
