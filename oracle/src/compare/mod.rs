//! The same test case on several back ends, and where their outcomes differ.
//!
//! A [`Backend`] runs a [`Job`]: one of our engines ([`engine`]), an outside [`command`], the compiler [`ispc`], a compiler
//! of [`c`]. The first, the
//! reference, says what is expected; [`difference`] holds the outcomes of the others against that, as [`Rules`] say; [`files`] does
//! so for all calls in a file, and [`bisect`] finds the first statement that differs. Outside programs are run by
//! [`process`], and write [`form`]s of outcomes; [`driver`] makes them of objects.

pub mod bisect;
pub mod c;
pub mod command;
pub mod difference;
pub mod driver;
pub mod engine;
pub mod files;
pub mod form;
pub mod ispc;
pub mod process;

pub use difference::{Difference, Rules, difference};

use crate::outcome::{End, Outcome};
use crate::testcase::TestCase;
use spmdvm::{Export, Options};
use std::path::Path;

/// What a back end is to run.
pub struct Job<'a> {
    /// The program and the call.
    pub case: &'a TestCase,
    /// The file of the program; `None` if there is only its text.
    pub path: Option<&'a Path>,
    /// How it is compiled: width, floating-point mode, include paths, macros, limits.
    pub options: &'a Options,
    /// The function that is called.
    pub export: &'a Export,
}

/// Something that runs programs.
pub trait Backend: Send + Sync {
    /// What reports call it.
    fn name(&self) -> String;

    /// What comes of a job, or why this back end has no word to say on it.
    fn run(&self, job: &Job<'_>) -> Result<Outcome, String>;

    /// Whether what it does after a trap of the reference is its own affair: it makes no promise for such programs.
    fn is_undefined_after_traps(&self) -> bool {
        false
    }
}

/// What a comparison says.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The outcomes are the same.
    Equal,
    /// They differ; the first place where they do.
    Different(Box<Difference>),
    /// There is nothing to compare; why.
    NotComparable(String),
}

/// What the reference gives, to be held against the others' outcomes.
pub struct Expected {
    outcome: Outcome,
}

impl Expected {
    /// Runs a job on the reference. The error says why nothing can be compared with it.
    pub fn of(reference: &dyn Backend, job: &Job<'_>) -> Result<Expected, String> {
        let outcome = reference.run(job)?;
        match &outcome.end {
            End::Stopped(why) => Err(format!("{} stopped: {why}", reference.name())),
            _ => Ok(Expected { outcome }),
        }
    }

    /// The outcome.
    pub fn outcome(&self) -> &Outcome {
        &self.outcome
    }

    /// Runs the job on a back end too, and compares.
    pub fn compare(&self, backend: &dyn Backend, job: &Job<'_>, rules: &Rules) -> Verdict {
        if let End::Trapped { kind, .. } = self.outcome.end
            && (rules.ignore_traps || backend.is_undefined_after_traps())
        {
            return Verdict::NotComparable(format!("the program traps ({})", kind.name()));
        }
        match backend.run(job) {
            Err(why) => Verdict::NotComparable(why),
            Ok(got) => match difference(&job.case.call, job.options.width.lanes(), &self.outcome, &got, rules) {
                None => Verdict::Equal,
                Some(difference) => Verdict::Different(Box::new(difference)),
            },
        }
    }
}
