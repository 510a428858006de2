//! Reduction: makes a program that shows something small, and keeps it valid, defined, and showing it.
//!
//! The [passes] list simplifications of a program as edits of its text, found by its syntax tree; the [search]
//! tries them, many at once, then fewer (delta debugging), again and again until none of them helps. A candidate has to
//! compile and to be [`defined`](self::defined): check mode finds nothing in its calls that it did not find in the
//! original's. Only then is the caller asked whether it is still interesting, which may be expensive. All is done in one order,
//! so a reduction with more jobs gives the same program.

mod calls;
pub mod command;
mod defined;
mod passes;
mod search;

pub use defined::Defined;

use search::Search;
use spmdvm::Options;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Says whether a program still shows what is sought.
pub type Interesting<'p> = dyn Fn(&str) -> bool + Sync + 'p;

/// How to reduce.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How programs are compiled and run to see whether they are defined.
    pub options: Options,
    /// How many candidates are tried at the same time.
    pub jobs: usize,
    /// After how long the reduction ends.
    pub time: Option<Duration>,
    /// After how many questions whether a candidate is interesting it ends.
    pub trials: Option<usize>,
    /// While this is true, it ends as soon as it sees it.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { options: Options::default(), jobs: 1, time: None, trials: None, interrupt: None }
    }
}

/// How far a reduction is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The pass that is at work.
    pub pass: &'static str,
    /// Lines of the smallest program so far, empty ones aside.
    pub lines: usize,
    /// Its bytes.
    pub bytes: usize,
    /// How often it was asked whether a candidate is interesting.
    pub trials: usize,
    /// Candidates in all, those that were not valid or not defined included.
    pub candidates: usize,
}

/// What a reduction gives.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The smallest program found.
    pub text: String,
    /// How often it was asked whether a candidate is interesting.
    pub trials: usize,
    /// Candidates in all.
    pub candidates: usize,
    /// What the passes did, in their order; those that did nothing are left out.
    pub passes: Vec<PassCount>,
    /// Why it ended.
    pub end: Ended,
    /// How long it took.
    pub elapsed: Duration,
}

/// What a pass did.
#[derive(Clone, Copy, Debug)]
pub struct PassCount {
    /// Its name.
    pub name: &'static str,
    /// Candidates that became the program.
    pub successes: usize,
    /// Bytes by which the program shrank; negative if it grew.
    pub bytes: isize,
}

/// Why a reduction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// No simplification helps any more.
    Smallest,
    /// The time was over.
    Time,
    /// It had asked often enough.
    Trials,
    /// It was interrupted.
    Interrupted,
}

/// Why a program cannot be reduced.
#[derive(Clone, Debug)]
pub enum NotReducible {
    /// It does not compile, or its calls are wrong: a rendered message.
    Invalid(String),
    /// It is not interesting itself.
    NotInteresting,
}

impl fmt::Display for NotReducible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotReducible::Invalid(message) => f.write_str(message),
            NotReducible::NotInteresting => {
                f.write_str("the program itself is not interesting: there is nothing to keep")
            }
        }
    }
}

impl std::error::Error for NotReducible {}

/// Reduces a program to a small one that is interesting too.
pub fn reduce(
    text: &str,
    interesting: &Interesting<'_>,
    settings: &Settings,
    progress: &mut dyn FnMut(&Progress),
) -> Result<Reduced, NotReducible> {
    let start = Instant::now();
    let defined = Defined::like(text, &settings.options)?;
    if !interesting(text) {
        return Err(NotReducible::NotInteresting);
    }
    let mut search = Search::new(text, interesting, &defined, settings, start, progress);
    let end = search.run();
    Ok(search.finish(end))
}

/// The lines of a program, empty ones aside.
pub fn lines(text: &str) -> usize {
    text.lines().filter(|line| !line.trim().is_empty()).count()
}
