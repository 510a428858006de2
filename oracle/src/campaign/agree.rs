//! One program on several engines, in this process.

use super::constructs;
use super::coverage::Coverage;
use crate::compare::engine::OwnEngine;
use crate::compare::{Backend, Difference, Expected, Job, Rules, Verdict, difference};
use crate::random::Rng;
use crate::run::{run_call, run_call_observed};
use crate::{Outcome, TestCase};
use serde_json::{Value as Json, json};
use spmdvm::frontend::ast::TranslationUnit;
/// For who checks many programs: where they are compiled on the same thread.
pub use spmdvm::frontend::compile::with_stack;
use spmdvm::{CompileError, Engine, JitSettings, Limits, LoopInfo, Module, Options, Width};
use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Mutex, PoisonError};

/// Loop iterations and calls that a run may take: the same on all engines, so that programs that do not end can be compared too.
pub const FUEL: u64 = 1 << 17;

/// How a program is run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The lanes.
    pub width: Width,
    /// The engines that are compared with the interpreter, each with its settings.
    pub subjects: Vec<Subject>,
}

/// An engine as a program is run on it.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The engine.
    pub engine: Engine,
    /// When and how it compiles.
    pub jit: JitSettings,
    /// What the settings are called.
    pub mode: &'static str,
}

impl Plan {
    /// One of the widths, and one of the engines in one of the modes: over many programs everything meets everything, and what
    /// takes long the more seldom.
    pub fn draw(rng: &mut Rng, widths: &[Width], engines: &[Engine]) -> Plan {
        // Compiling takes the longer the wider.
        let weights = widths.iter().map(|width| 1 + 16 / width.lanes().max(4) as u32);
        let width = widths[rng.weighted(weights)];
        // Cranelift takes as long as all the rest together.
        let weights = engines.iter().map(|&engine| if engine == Engine::Clif { 1 } else { 4 });
        let engine = (!engines.is_empty()).then(|| engines[rng.weighted(weights)]);
        Plan { width, subjects: engine.into_iter().map(|engine| Subject::draw(rng, engine)).collect() }
    }
}

impl Subject {
    fn draw(rng: &mut Rng, engine: Engine) -> Subject {
        let (seed, small) = (rng.bits(), rng.draw(9) as u32);
        let (mode, jit) = match rng.draw(8) {
            0 => ("eager", JitSettings::eager()),
            1 => ("every-variant", JitSettings::eager_in_every_variant()),
            2 => ("stress", JitSettings { stress: Some(seed), ..JitSettings::eager() }),
            3 => ("stress-every-variant", JitSettings { stress: Some(seed), ..JitSettings::eager_in_every_variant() }),
            4 => ("usual", JitSettings { background: false, ..JitSettings::default() }),
            5 => ("links", JitSettings::eager_with_links(seed)),
            6 => {
                let variants = JitSettings::eager_in_every_variant();
                ("stress-links", JitSettings { calls: 0, links: Some(seed), stress: Some(seed), ..variants })
            }
            // Everything that takes time to happen, soon.
            _ => {
                let soon = JitSettings {
                    hot: small,
                    calls: small,
                    observe: 40 * small,
                    trial: 3,
                    hot_exit: 1,
                    ..JitSettings::default()
                };
                ("soon", JitSettings { same_arguments: 2, background: false, ..soon })
            }
        };
        // What a program runs at first, where the back end has two kinds of code.
        let jit = JitSettings { only_baseline: rng.draw(4) != 0, ..jit };
        Subject { engine, jit, mode }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.engine, self.mode)
    }
}

/// A program on which an engine does not do what the interpreter does.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The program.
    pub case: TestCase,
    /// The lanes.
    pub width: Width,
    /// Where something is wrong.
    pub place: Suspect,
    /// What is wrong.
    pub what: What,
}

/// Where something is wrong.
#[derive(Clone, Debug)]
pub enum Suspect {
    /// On one of our engines.
    Engine(Subject),
    /// On another back end, of this name.
    Foreign(String),
}

impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Suspect::Engine(subject) => subject.fmt(f),
            Suspect::Foreign(name) => f.write_str(name),
        }
    }
}

/// What is wrong.
#[derive(Clone, Debug)]
pub enum What {
    /// The outcomes differ.
    Differs(Difference),
    /// It panicked, with this message.
    Panicked(String),
    /// The outcome is right, but its compiler found that its own work is not, and left a loop to the interpreter.
    Defect(String),
}

impl What {
    /// Whether it is the same kind of thing, as reduction is to keep it.
    pub fn is_like(&self, other: &What) -> bool {
        use std::mem::discriminant;
        match (self, other) {
            (What::Differs(a), What::Differs(b)) => discriminant(a) == discriminant(b),
            (What::Panicked(_), What::Panicked(_)) | (What::Defect(_), What::Defect(_)) => true,
            _ => false,
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            What::Differs(difference) => difference.fmt(f),
            What::Panicked(message) => write!(f, "it panicked: {message}"),
            What::Defect(message) => write!(f, "its compiler failed: {message}"),
        }
    }
}

impl Finding {
    /// It as JSON, without the program.
    pub fn to_json(&self) -> Json {
        let what = match &self.what {
            What::Differs(difference) => difference.to_json(),
            What::Panicked(message) => json!({ "what": "panic", "message": message }),
            What::Defect(message) => json!({ "what": "defect", "message": message }),
        };
        let place = match &self.place {
            Suspect::Engine(Subject { engine, mode, jit }) => {
                json!({ "engine": engine.name(), "mode": mode, "settings": format!("{jit:?}") })
            }
            Suspect::Foreign(name) => json!({ "backend": name }),
        };
        json!({ "program": self.case.name, "width": self.width.lanes(), "place": place, "difference": what })
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, width {}, {}: {}", self.case.name, self.width, self.place, self.what)
    }
}

/// What came of a program.
pub enum Checked {
    /// All engines do the same.
    Agrees,
    /// It is no program.
    Invalid,
    /// One of them does not.
    Differs(Box<Finding>),
    /// Another back end, with this name, has no word to say on it, for this reason. The others agree.
    NotComparable(String, String),
}

/// Runs a program as a plan says, and notes what it reaches.
pub fn check(case: &TestCase, plan: &Plan, options: &Options, seen: &mut Coverage) -> Checked {
    let options = options_of(plan, options);
    // What the program is made of is asked while its tree is there.
    let constructs = Mutex::new(BTreeSet::new());
    let look = |unit: &TranslationUnit<'_>| {
        *constructs.lock().unwrap_or_else(PoisonError::into_inner) = constructs::of(unit);
    };
    let module = Module::compile_and_look(&case.name, &case.text, &options, &look);
    let checked = check_engines(case, plan, module, &options, seen);
    if matches!(checked, Checked::Agrees) {
        seen.add_constructs(constructs.into_inner().unwrap_or_else(PoisonError::into_inner));
    }
    checked
}

/// Runs a compiled program as a plan says; the options are those of its compilation.
fn check_engines(
    case: &TestCase,
    plan: &Plan,
    module: Result<Module, CompileError>,
    options: &Options,
    seen: &mut Coverage,
) -> Checked {
    let Some(module) = module.ok().filter(|module| case.call.export(module).is_some()) else { return Checked::Invalid };
    let expected = run_call_observed(&case.call, &module, &mut seen.observer());
    for subject in &plan.subjects {
        let found = wrong_on(subject, case, &module, options, &expected, seen);
        if let Some(what) = found {
            return found_at(Suspect::Engine(subject.clone()), case, plan.width, what);
        }
    }
    Checked::Agrees
}

fn found_at(place: Suspect, case: &TestCase, width: Width, what: What) -> Checked {
    Checked::Differs(Box::new(Finding { case: case.clone(), width, place, what }))
}

/// What an engine does wrong on a program; `None` if nothing, or if it is no program.
pub fn disagreement(case: &TestCase, width: Width, subject: &Subject, options: &Options) -> Option<What> {
    let plan = Plan { width, subjects: vec![subject.clone()] };
    let options = options_of(&plan, options);
    let module = Module::compile(&case.name, &case.text, &options);
    match check_engines(case, &plan, module, &options, &mut Coverage::default()) {
        Checked::Differs(finding) => Some(finding.what),
        _ => None,
    }
}

/// What another back end does otherwise; `None` if nothing, or if there is nothing to compare.
pub fn differs_on(case: &TestCase, width: Width, backend: &dyn Backend, options: &Options) -> Option<What> {
    match check_foreign(case, width, &[backend], options) {
        Checked::Differs(finding) => Some(finding.what),
        _ => None,
    }
}

/// Runs a program on other back ends.
pub fn check_foreign(case: &TestCase, width: Width, backends: &[&dyn Backend], options: &Options) -> Checked {
    let options = Options { engine: Engine::Interp, threads: Some(1), ..options.clone() }.with_width(width);
    let module = Module::compile(&case.name, &case.text, &options).ok();
    let Some(export) = module.as_ref().and_then(|module| case.call.export(module)) else { return Checked::Invalid };
    let job = Job { case, path: None, options: &options, export };
    let reference = OwnEngine { engine: Engine::Interp };
    let expected = match Expected::of(&reference, &job) {
        Ok(expected) => expected,
        Err(why) => return Checked::NotComparable(reference.name(), why),
    };
    let mut checked = Checked::Agrees;
    for backend in backends {
        match expected.compare(*backend, &job, &Rules::default()) {
            Verdict::Equal => {}
            Verdict::NotComparable(why) => checked = Checked::NotComparable(backend.name(), why),
            Verdict::Different(difference) => {
                return found_at(Suspect::Foreign(backend.name()), case, width, What::Differs(*difference));
            }
        }
    }
    checked
}

fn options_of(plan: &Plan, options: &Options) -> Options {
    let limits = Limits { fuel: Some(FUEL), ..options.limits };
    // Tasks run in the order of their indices.
    Options { engine: Engine::Interp, limits, threads: Some(1), ..options.clone() }.with_width(plan.width)
}

fn wrong_on(
    subject: &Subject,
    case: &TestCase,
    module: &Module,
    options: &Options,
    expected: &Outcome,
    seen: &mut Coverage,
) -> Option<What> {
    let options = Options { engine: subject.engine, jit: subject.jit.clone(), ..options.clone() };
    let run = || {
        let compiled = Module::from_program(module.verified().clone(), &options);
        let got = run_call(&case.call, &compiled);
        (got, compiled.loops())
    };
    match catch_unwind(AssertUnwindSafe(run)) {
        Err(panic) => {
            let text = panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
            Some(What::Panicked(text.unwrap_or_default().to_owned()))
        }
        Ok((got, loops)) => {
            seen.add_loops(subject.engine, &loops);
            let differs = difference(&case.call, options.width.lanes(), expected, &got, &Rules::default());
            differs.map(What::Differs).or_else(|| loops.iter().find_map(LoopInfo::defect).map(What::Defect))
        }
    }
}
