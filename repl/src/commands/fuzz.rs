//! `spmdvm fuzz`: random programs on all engines, for as long as one likes.

use super::backends::{Foreign, TIMEOUT};
use super::interrupt_flag;
use crate::Failure;
use crate::cli::{FuzzArgs, Global};
use spmdvm::{Engine, Fp, Options, Width};
use spmdvm_oracle::campaign::folder::{Folder, FolderError, MAX_WORKERS};
use spmdvm_oracle::campaign::{Campaign, Checked, Coverage, Finding, Plan, Round, Settings, Suspect, agree};
use spmdvm_oracle::compare::Backend;
use spmdvm_oracle::compare::engine::OwnEngine;
use spmdvm_oracle::generate::{Config, Dialect, Features};
use spmdvm_oracle::{TestCase, reduce};
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How often the state is written, and a progress line where standard error is no terminal.
const SAVE: Duration = Duration::from_secs(10);
/// How long the reduction of a finding may take.
const REDUCTION: Duration = Duration::from_secs(60);

/// Widths for which there are usual targets.
const USUAL_WIDTHS: [u32; 3] = [4, 8, 16];

/// Other back ends by width.
type ByWidth = BTreeMap<Width, Vec<Box<dyn Backend>>>;

/// Runs programs until the time is over, Ctrl-C, or (if asked) a finding. Fails if there was one.
pub fn fuzz(global: &Global, args: &FuzzArgs) -> Result<(), Failure> {
    let timeout = global.options().limits.timeout.unwrap_or(TIMEOUT);
    let foreign = Foreign::new(&args.backends.cmd, &args.backends.compilers, timeout)?;
    let settings = settings(global, args, !foreign.is_empty())?;
    let foreign = by_width(&foreign, &settings.widths)?;
    let folder = Folder::open(&args.output).map_err(failure)?;
    let (campaign, died) = folder.campaign(settings).map_err(failure)?;
    for path in died {
        eprintln!("the process died of {} last time", path.display());
    }
    let work = Work::new(global, args, folder, campaign, foreign);
    work.run(jobs(args))?;
    work.finish(global)
}

fn settings(global: &Global, args: &FuzzArgs, is_foreign: bool) -> Result<Settings, Failure> {
    let mut config = super::generate::config(&args.programs)?;
    if args.programs.dialect.is_none() && args.programs.features.is_none() && !is_foreign {
        // All that the engines agree on: nothing is left open.
        config = Config { dialect: Dialect::Spmdvm, features: Features::all(), ..config };
    }
    if args.programs.size.is_none() {
        config.size = if is_foreign { config.size } else { Config::SMALL };
    }
    let own = match (global.engine_is_given, is_foreign) {
        (true, _) => global.engine.clone(),
        (false, true) => Vec::new(),
        (false, false) => OwnEngine::compiling().iter().map(|own| own.engine).collect(),
    };
    if let Some(unknown) = own.iter().find(|engine| **engine == Engine::Auto) {
        return Err(Failure::usage(format!("--engine {unknown}: name the engines to compare, such as clif,x86")));
    }
    let given = global.options();
    let fp = if global.fp_is_given { given.fp } else { Fp::Strict };
    let widths = match (global.width_is_given, is_foreign) {
        (true, _) => global.width.clone(),
        (false, true) => USUAL_WIDTHS.into_iter().filter_map(Width::new).collect(),
        (false, false) => Width::ALL.to_vec(),
    };
    let options = Options { fp, ..given };
    let engines = own.into_iter().filter(|engine| *engine != Engine::Interp).collect();
    Ok(Settings { config, widths, engines, options, mutants: !is_foreign, seed: args.programs.seed })
}

fn by_width(foreign: &Foreign<'_>, widths: &[Width]) -> Result<ByWidth, Failure> {
    if foreign.is_empty() {
        return Ok(ByWidth::new());
    }
    let of = |&width: &Width| Ok((width, foreign.at(width).into_iter().collect::<Result<_, _>>()?));
    widths.iter().map(of).collect::<Result<_, String>>().map_err(Failure::usage)
}

fn jobs(args: &FuzzArgs) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or_else(cores, usize::from).min(MAX_WORKERS)
}

fn failure(error: FolderError) -> Failure {
    Failure::usage(error.to_string())
}

/// A campaign at work.
struct Work {
    folder: Folder,
    campaign: Mutex<Campaign>,
    foreign: ByWidth,
    options: Options,
    /// Programs of earlier runs of the campaign.
    earlier: u64,
    start: Instant,
    end: Option<Instant>,
    /// After how many programs it ends.
    programs: Option<u64>,
    shown: Mutex<Instant>,
    stop: Arc<AtomicBool>,
    stop_at_first: bool,
    reduces: bool,
    is_quiet: bool,
    /// Whether standard error is one.
    is_terminal: bool,
}

impl Work {
    fn new(global: &Global, args: &FuzzArgs, folder: Folder, campaign: Campaign, foreign: ByWidth) -> Work {
        let start = Instant::now();
        Work {
            folder,
            foreign,
            options: campaign.settings().options.clone(),
            earlier: campaign.programs,
            campaign: Mutex::new(campaign),
            start,
            end: args.seconds.and_then(|seconds| start.checked_add(Duration::from_secs_f64(seconds))),
            programs: args.rounds,
            shown: Mutex::new(start),
            stop: interrupt_flag(),
            stop_at_first: args.stop,
            reduces: !args.no_reduce,
            is_quiet: global.json,
            is_terminal: std::io::stderr().is_terminal(),
        }
    }

    fn campaign(&self) -> std::sync::MutexGuard<'_, Campaign> {
        self.campaign.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self, jobs: usize) -> Result<(), Failure> {
        let results: Vec<Result<(), FolderError>> = std::thread::scope(|scope| {
            let workers: Vec<_> =
                (0..jobs).map(|worker| scope.spawn(move || agree::with_stack(|| self.work(worker)))).collect();
            workers.into_iter().map(|worker| worker.join().unwrap_or(Ok(()))).collect()
        });
        self.folder.save(&self.campaign()).map_err(failure)?;
        results.into_iter().collect::<Result<(), _>>().map_err(failure)
    }

    fn is_over(&self) -> bool {
        let ran = || self.campaign().programs - self.earlier;
        self.stop.load(Ordering::Relaxed)
            || self.end.is_some_and(|end| Instant::now() >= end)
            || self.programs.is_some_and(|programs| ran() >= programs)
    }

    fn work(&self, worker: usize) -> Result<(), FolderError> {
        let mut current = self.folder.current(worker)?;
        while !self.is_over() {
            let (case, plan) = self.campaign().begin();
            current.write(&case, &plan)?;
            let (name, mut seen) = (case.name.clone(), Coverage::default());
            let checked = self.check(&case, &plan, &mut seen);
            let round = {
                let mut campaign = self.campaign();
                let round = campaign.count(case, checked, &seen);
                if let Round::Agree(Some(case)) = &round {
                    self.folder.keep(&campaign, case)?;
                }
                round
            };
            match round {
                Round::Found(finding) => self.found(&finding)?,
                Round::NotComparable(backend, why) => {
                    self.clear_line();
                    eprintln!("{name} on {backend} is not comparable: {why}");
                }
                Round::Agree(_) | Round::Invalid => {}
            }
            self.show()?;
        }
        current.done()
    }

    fn check(&self, case: &TestCase, plan: &Plan, seen: &mut Coverage) -> Checked {
        match agree::check(case, plan, &self.options, seen) {
            Checked::Agrees if !self.foreign.is_empty() => {
                agree::check_foreign(case, plan.width, &self.backends(plan.width), &self.options)
            }
            checked => checked,
        }
    }

    /// The other back ends for a width.
    fn backends(&self, width: Width) -> Vec<&dyn Backend> {
        self.foreign.get(&width).into_iter().flatten().map(|backend| &**backend).collect()
    }

    fn found(&self, finding: &Finding) -> Result<(), FolderError> {
        let number = self.campaign().findings;
        self.clear_line();
        println!("finding {number}: {finding}");
        let reduced = self.reduces.then(|| self.reduce(finding)).flatten();
        let path = self.folder.found(number, finding, reduced.as_deref())?;
        println!("  {}", path.display());
        if self.stop_at_first {
            self.stop.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// A small program that shows the same.
    fn reduce(&self, finding: &Finding) -> Option<String> {
        let options = self.options.clone().with_width(finding.width);
        let settings = reduce::Settings {
            options: Options { engine: Engine::Interp, ..options },
            time: Some(REDUCTION),
            interrupt: Some(Arc::clone(&self.stop)),
            ..reduce::Settings::default()
        };
        let interesting = |text: &str| {
            let cases = TestCase::from_source(&finding.case.name, text, &settings.options).unwrap_or_default();
            cases.first().is_some_and(|case| self.shows(finding, case))
        };
        let reduced = reduce::reduce(&finding.case.text, &interesting, &settings, &mut |_| {}).ok()?;
        println!("  reduced to {} lines", reduce::lines(&reduced.text));
        Some(reduced.text)
    }

    fn shows(&self, finding: &Finding, case: &TestCase) -> bool {
        let what = match &finding.place {
            Suspect::Engine(subject) => agree::disagreement(case, finding.width, subject, &self.options),
            Suspect::Foreign(name) => {
                let found = self.backends(finding.width).into_iter().find(|backend| backend.name() == *name);
                found.and_then(|backend| agree::differs_on(case, finding.width, backend, &self.options))
            }
        };
        what.is_some_and(|what| what.is_like(&finding.what))
    }

    /// A progress line now and then, and the state.
    fn show(&self) -> Result<(), FolderError> {
        let is_terminal = self.is_terminal;
        let every = if is_terminal { Duration::from_millis(500) } else { SAVE };
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.elapsed() < every {
            return Ok(());
        }
        let campaign = self.campaign();
        *shown = Instant::now();
        if !self.is_quiet {
            let line = campaign.progress(self.start.elapsed(), campaign.programs - self.earlier);
            match is_terminal {
                true => eprint!("\r\x1b[K{line}"),
                false => eprintln!("{line}"),
            }
        }
        self.folder.save(&campaign)
    }

    fn clear_line(&self) {
        if self.is_terminal && !self.is_quiet {
            eprint!("\r\x1b[K");
            let _ = std::io::stderr().flush();
        }
    }

    fn finish(&self, global: &Global) -> Result<(), Failure> {
        self.clear_line();
        let campaign = self.campaign();
        match global.json {
            true => println!("{}", campaign.to_json()),
            false => {
                println!("{}", campaign.progress(self.start.elapsed(), campaign.programs - self.earlier));
                print!("{}", campaign.coverage_text());
            }
        }
        if campaign.findings > 0 { Err(Failure::Program(String::new())) } else { Ok(()) }
    }
}
