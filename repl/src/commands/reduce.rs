//! `spmdvm reduce`: a program made small that shows something.

use super::backends::Foreign;
use super::compare::{self, Comparing};
use super::run;
use crate::cli::{Global, ReduceArgs};
use crate::{Failure, files, words};
use serde_json::json;
use spmdvm::Options;
use spmdvm_oracle::compare::{Difference, Verdict};
use spmdvm_oracle::reduce::command::{Command, Written};
use spmdvm_oracle::reduce::{
    Ended, Interesting, NotReducible, Progress, Reduced, Settings, lines, reduce as reduce_text,
};
use std::io::IsTerminal;
use std::mem::{Discriminant, discriminant};
use std::path::Path;
use std::time::{Duration, Instant};

/// How often the progress is shown.
const BETWEEN: Duration = Duration::from_millis(100);

/// Reduces a program, and writes the small one beside it.
pub fn reduce(global: &Global, args: &ReduceArgs) -> Result<(), Failure> {
    let text = files::text(&args.file)?;
    let options = options(global, &args.file);
    let settings = Settings {
        options: options.clone(),
        jobs: args.jobs.get(),
        time: args.seconds.map(Duration::from_secs),
        trials: args.trials,
        interrupt: Some(run::interrupt_flag()),
    };
    let reduced = match &args.cmd {
        Some(command) => by_command(global, command, &text, &settings)?,
        None => by_comparison(global, args, &text, &settings)?,
    };
    let output = args.output.clone().unwrap_or_else(|| args.file.with_extension("reduced.ispc"));
    std::fs::write(&output, &reduced.text)
        .map_err(|error| Failure::usage(format!("cannot write {}: {error}", output.display())))?;
    summary(global, &text, &reduced, &output);
    Ok(())
}

/// The options of comparisons; what stands beside the program can be included from where candidates are.
fn options(global: &Global, file: &Path) -> Options {
    let mut options = compare::options(global);
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    options.include_paths.insert(0, folder.to_path_buf());
    options
}

/// With a command that ends well if a program is interesting.
fn by_command(global: &Global, command: &str, text: &str, settings: &Settings) -> Result<Reduced, Failure> {
    let words = words::split(command).map_err(|why| Failure::usage(format!("--cmd: {why}: {command}")))?;
    if words.is_empty() {
        return Err(Failure::usage("--cmd is empty: give a command, such as './is-wrong.sh {source}'"));
    }
    if !words.iter().any(|word| word.contains("{source}")) {
        return Err(Failure::usage("--cmd has no {source}, which stands for the path of the program to look at"));
    }
    let timeout = compare::timeout(&settings.options);
    let command = Command { words, width: settings.options.width, timeout };
    command.is_interested(text).map_err(|why| Failure::usage(format!("--cmd: {why}")))?;
    let why = "the command does not end with exit code 0 for it (interesting programs are those for which it does)";
    search(global, text, &|text| command.is_interested(text).unwrap_or(false), settings, why)
}

/// With a comparison that shows a difference of the same kind.
fn by_comparison(global: &Global, args: &ReduceArgs, text: &str, settings: &Settings) -> Result<Reduced, Failure> {
    let foreign = Foreign::new(&args.compare, &args.compilers, compare::timeout(&settings.options))?;
    let comparing = Comparing { global, foreign, rules: compare::rules(&args.rules)?, bisect: false, calls: &[] };
    let kinds = |text: &str| kinds(&comparing, &settings.options, text);
    let sought = kinds(text)?;
    let still = |text: &str| kinds(text).is_ok_and(|kinds| kinds.iter().any(|kind| sought.contains(kind)));
    search(global, text, &still, settings, "the back ends give the same outcomes for it")
}

/// A kind of difference: of which back end, and in what.
type Kind = (String, Discriminant<Difference>);

/// The kinds of differences that the calls of a program show.
fn kinds(comparing: &Comparing<'_>, options: &Options, text: &str) -> Result<Vec<Kind>, Failure> {
    let written = Written::new(text).map_err(Failure::usage)?;
    let mut kinds = Vec::new();
    comparing.run(options, (written.path(), text), &mut |comparison| {
        if let Verdict::Different(difference) = &comparison.verdict {
            kinds.push((comparison.backend.clone(), discriminant(&**difference)));
        }
    })?;
    Ok(kinds)
}

fn search(
    global: &Global,
    text: &str,
    interesting: &Interesting<'_>,
    settings: &Settings,
    why_not: &str,
) -> Result<Reduced, Failure> {
    let is_shown = std::io::stderr().is_terminal() && !global.json;
    let mut shown = Instant::now();
    let mut show = |progress: &Progress| {
        if is_shown && shown.elapsed() >= BETWEEN {
            let Progress { pass, lines, trials, candidates, .. } = progress;
            eprint!("\r\x1b[K{lines} lines, {trials} trials of {candidates} candidates: {pass}");
            shown = Instant::now();
        }
    };
    let reduced = reduce_text(text, interesting, settings, &mut show);
    if is_shown {
        eprint!("\r\x1b[K");
    }
    reduced.map_err(|error| match error {
        NotReducible::Invalid(message) => Failure::Program(message),
        NotReducible::NotInteresting => Failure::usage(format!("the program cannot be reduced: {why_not}")),
    })
}

fn summary(global: &Global, text: &str, reduced: &Reduced, output: &Path) {
    let Reduced { trials, candidates, .. } = reduced;
    let (before, after) = (lines(text), lines(&reduced.text));
    let (bytes, fewer, seconds) = (text.len(), reduced.text.len(), reduced.elapsed.as_secs_f64());
    if global.json {
        let end = format!("{:?}", reduced.end).to_lowercase();
        let passes: Vec<_> = reduced
            .passes
            .iter()
            .map(|pass| json!({ "name": pass.name, "successes": pass.successes, "bytes": pass.bytes }))
            .collect();
        let all = json!({
            "output": output, "lines_before": before, "lines": after, "bytes_before": bytes, "bytes": fewer,
            "trials": trials, "candidates": candidates, "seconds": seconds, "end": end, "passes": passes,
        });
        println!("{all}");
        return;
    }
    let end = match reduced.end {
        Ended::Smallest => "nothing smaller was found",
        Ended::Time => "the time is over",
        Ended::Trials => "the trials are used up",
        Ended::Interrupted => "interrupted",
    };
    println!("{before} lines, {bytes} bytes -> {after} lines, {fewer} bytes, in {seconds:.1} s: {end}");
    println!("{trials} trials of {candidates} candidates; written to {}", output.display());
}
