//! `spmdvm corpus`: a frozen corpus, on our engines and on other back ends.

use super::backends::{Foreign, Other, TIMEOUT, boxed};
use super::compare;
use crate::Failure;
use crate::cli::{CorpusCommand, Global};
use spmdvm::{Engine, Width};
use spmdvm_oracle::CaseError;
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::compare::files::{Comparison, Setup, compare as compare_file};
use spmdvm_oracle::compare::{Rules, Verdict};
use spmdvm_oracle::corpus::{Corpus, Program};
use std::path::Path;

/// Carries out a command on a corpus.
pub fn corpus(global: &Global, command: &CorpusCommand) -> Result<(), Failure> {
    match command {
        CorpusCommand::Check { folder } => check(global, folder),
        CorpusCommand::Run { folder, backends, rules } => {
            let timeout = global.options().limits.timeout.unwrap_or(TIMEOUT);
            let foreign = Foreign::new(&backends.cmd, &backends.compilers, timeout)?;
            if foreign.is_empty() {
                return Err(Failure::usage(
                    "name the back end: --cmd 'BACKEND {source} {width} {entry} {input}' or --ispc",
                ));
            }
            let rules = compare::rules(rules)?;
            let corpus = open(folder)?;
            let mut count = Count::default();
            for program in programs(&corpus)? {
                outcomes(global, &corpus, &program, &|width| foreign.at(width), &rules, &mut count)?;
            }
            count.end()
        }
        CorpusCommand::Freeze { folder } => freeze(folder),
    }
}

fn open(folder: &Path) -> Result<Corpus, Failure> {
    Corpus::open(folder).map_err(Failure::usage)
}

fn programs(corpus: &Corpus) -> Result<Vec<Program>, Failure> {
    corpus.programs().map_err(Failure::usage)
}

/// What has come of the comparisons.
#[derive(Default)]
struct Count {
    equal: usize,
    different: usize,
    not_comparable: usize,
    traces: usize,
}

impl Count {
    fn end(self) -> Result<(), Failure> {
        let traces = if self.traces > 0 { format!(", traces as they were: {}", self.traces) } else { String::new() };
        println!("{} equal, {} different, {} not comparable{traces}", self.equal, self.different, self.not_comparable);
        if self.different > 0 { Err(Failure::Program(String::new())) } else { Ok(()) }
    }
}

/// Holds all engines that run here against the corpus.
fn check(global: &Global, folder: &Path) -> Result<(), Failure> {
    let corpus = open(folder)?;
    let engines = |_: Width| -> Vec<Other> {
        let interpreter = OwnEngine { engine: Engine::Interp };
        std::iter::once(interpreter).chain(OwnEngine::compiling()).map(boxed).collect()
    };
    let mut count = Count::default();
    for program in programs(&corpus)? {
        outcomes(global, &corpus, &program, &engines, &Rules::default(), &mut count)?;
        if corpus.is_traced(&program) {
            match corpus.check_trace(&program).map_err(Failure::usage)? {
                None => count.traces += 1,
                Some(difference) => {
                    count.different += 1;
                    println!("{}: the trace differs (A: frozen, B: now)\n{difference}", program.path.display());
                }
            }
        }
    }
    count.end()
}

/// Compares the calls of a program; what is not equal is shown.
fn outcomes(
    global: &Global,
    corpus: &Corpus,
    program: &Program,
    others: &dyn Fn(Width) -> Vec<Other>,
    rules: &Rules,
    count: &mut Count,
) -> Result<(), Failure> {
    let frozen = corpus.frozen(program).map_err(Failure::usage)?;
    let (options, widths) = (corpus.options(), corpus.widths());
    let setup =
        Setup { options: &options, widths: &widths, reference: &frozen, others, rules, bisect: false, calls: &[] };
    let mut each = |comparison: Comparison| {
        match comparison.verdict {
            Verdict::Equal => count.equal += 1,
            Verdict::Different(_) => count.different += 1,
            Verdict::NotComparable(_) => count.not_comparable += 1,
        }
        match (global.json, &comparison.verdict) {
            (true, _) => println!("{}", comparison.to_json()),
            (false, Verdict::Equal) => {}
            (false, _) => println!("{comparison}"),
        }
    };
    compare_file(&program.path, &program.text, &setup, &mut each).map_err(|error| match error {
        CaseError::Compile(error) => super::compile_failure(&error, &program.path, global.color()),
        error => Failure::usage(error.to_string()),
    })
}

/// Freezes what has no outcomes yet.
fn freeze(folder: &Path) -> Result<(), Failure> {
    let corpus = open(folder)?;
    let (mut new, mut known) = (0, 0);
    for program in programs(&corpus)? {
        match corpus.freeze(&program).map_err(Failure::usage)? {
            true => new += 1,
            false => known += 1,
        }
    }
    println!("frozen: {new} new, {known} as before");
    Ok(())
}
