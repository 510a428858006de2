//! The campaign: random programs on all engines, for as long as one likes.
//!
//! Each round takes a program, new from the [generator](crate::generate) or a [mutant](mutate) of one that reached something
//! new, and runs it on the interpreter, which says what is expected, and on the other engines ([`agree`]). [`coverage`] keeps what
//! has been reached; a program that adds to it is kept as a source of mutants. What differs is a [`Finding`]; it is written to a
//! [`folder`], from which a campaign also goes on after an interruption. All choices follow from the number of the round and the
//! programs kept so far. How much of what is wrong it finds, a [`score`] tells, by faults that are planted.

pub mod agree;
pub mod constructs;
pub mod coverage;
pub mod folder;
pub mod mutate;
mod report;
pub mod score;

pub use agree::{Checked, Finding, Plan, Subject, Suspect, What};
pub use coverage::Coverage;

use crate::TestCase;
use crate::generate::{self, Config};
use crate::random::Rng;
use spmdvm::{Engine, Options, Width};

/// Programs that are kept as sources of mutants; beyond, an arbitrary one goes.
const MAX_KEPT: usize = 500;

/// What a campaign runs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What programs may contain, and their size at most. Half of them have all of that, the others what a seed chooses of it.
    pub config: Config,
    /// The widths, of which each round draws one.
    pub widths: Vec<Width>,
    /// The engines that are compared with the interpreter.
    pub engines: Vec<Engine>,
    /// How programs are compiled: floating-point mode.
    pub options: Options,
    /// Whether programs that reached something new are changed at random too. What comes out may do what other back ends leave open.
    pub mutants: bool,
    /// The first seed.
    pub seed: u64,
}

/// A campaign so far.
pub struct Campaign {
    settings: Settings,
    /// Rounds begun.
    pub rounds: u64,
    /// Programs that were run on all engines.
    pub programs: u64,
    /// Mutants that were no programs.
    pub invalid: u64,
    /// Programs on which another back end had no word to say.
    pub not_comparable: u64,
    /// Findings so far.
    pub findings: u64,
    /// What has been reached.
    pub coverage: Coverage,
    kept: Vec<TestCase>,
    /// How many were ever kept.
    kept_ever: u64,
}

/// What a round did.
pub enum Round {
    /// The engines agree. With a program that reached something new.
    Agree(Option<TestCase>),
    /// The mutant was no program.
    Invalid,
    /// They do not.
    Found(Box<Finding>),
    /// A back end, with this name, had no word to say, for this reason.
    NotComparable(String, String),
}

impl Campaign {
    /// A campaign that begins.
    pub fn new(settings: Settings) -> Campaign {
        Campaign {
            settings,
            rounds: 0,
            programs: 0,
            invalid: 0,
            not_comparable: 0,
            findings: 0,
            coverage: Coverage::default(),
            kept: Vec::new(),
            kept_ever: 0,
        }
    }

    /// What it runs.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The programs that are sources of mutants.
    pub fn kept(&self) -> &[TestCase] {
        &self.kept
    }

    /// Adds a program as a source of mutants.
    pub fn keep(&mut self, case: TestCase) {
        self.kept_ever += 1;
        if self.kept.len() >= MAX_KEPT {
            let at = Rng::new(self.kept_ever).draw(MAX_KEPT as u64) as usize;
            self.kept.swap_remove(at);
        }
        self.kept.push(case);
    }

    /// The program of the next round, and how it is run.
    pub fn begin(&mut self) -> (TestCase, Plan) {
        let seed = self.settings.seed.wrapping_add(self.rounds);
        self.rounds += 1;
        let mut rng = Rng::new(seed);
        let plan = Plan::draw(&mut rng, &self.settings.widths, &self.settings.engines);
        let mutant = match !self.settings.mutants || self.kept.is_empty() || rng.one_in(2) {
            true => None,
            false => mutate::mutate(&rng.pick(&self.kept), &mut rng, &self.settings.options),
        };
        (mutant.unwrap_or_else(|| generate::generate(seed, &self.config(&mut rng))), plan)
    }

    fn config(&self, rng: &mut Rng) -> Config {
        let config = self.settings.config;
        // Small programs run faster than they are fewer, and what they show is easier to see.
        let size = 1 + rng.draw(config.size.into()) as u32;
        let features = if rng.one_in(2) { config.features } else { config.features.some(rng.bits()) };
        Config { size, features, ..config }
    }

    /// Counts what came of a program.
    pub fn count(&mut self, case: TestCase, checked: Checked, seen: &Coverage) -> Round {
        match checked {
            Checked::Invalid => {
                self.invalid += 1;
                Round::Invalid
            }
            Checked::Agrees => {
                self.programs += 1;
                let is_new = self.coverage.add(seen);
                if is_new {
                    self.keep(case.clone());
                }
                Round::Agree(is_new.then_some(case))
            }
            Checked::NotComparable(backend, why) => {
                self.programs += 1;
                self.not_comparable += 1;
                Round::NotComparable(backend, why)
            }
            Checked::Differs(finding) => {
                self.programs += 1;
                self.findings += 1;
                Round::Found(finding)
            }
        }
    }
}
