//! What a candidate may do: what the original does, and no more.

use super::NotReducible;
use crate::outcome::End;
use crate::run::run;
use crate::testcase::{CaseError, TestCase};
use spmdvm::{Checks, Code, Engine, FindingKind, Limits, Module, Options, TrapKind};
use std::time::Duration;

/// The fuel that the first run of the original gets.
const FIRST_FUEL: u64 = 1 << 12;
/// The fuel with which it ends at the latest, or is taken not to end.
const LAST_FUEL: u64 = 1 << 26;
/// How long a run in check mode may take.
const LONGEST: Duration = Duration::from_secs(10);

/// A limit to what programs may do, taken from one of them.
pub struct Defined {
    options: Options,
    warnings: Vec<Code>,
    /// What may happen in its calls; nothing was run if there are none.
    behaviour: Behaviour,
    has_calls: bool,
}

/// What happens in the calls of a program.
#[derive(Default)]
struct Behaviour {
    findings: Vec<FindingKind>,
    traps: Vec<TrapKind>,
    /// Whether a call is stopped by a limit.
    stops: bool,
}

impl Defined {
    /// The limit that a program sets. It must compile, and its calls must be right; a program without calls is only compiled.
    pub fn like(text: &str, options: &Options) -> Result<Defined, NotReducible> {
        let options = Options {
            engine: Engine::Interp,
            check: Checks::by_default(),
            threads: Some(1),
            limits: Limits { fuel: Some(FIRST_FUEL), timeout: Some(LONGEST), ..options.limits },
            ..options.clone()
        };
        let empty = Behaviour::default();
        let mut defined = Defined { options, warnings: Vec::new(), behaviour: empty, has_calls: false };
        let cases = defined.cases(text);
        defined.has_calls = !matches!(cases, Err(CaseError::Call { line: None, .. }));
        defined.warnings = defined.compile(text)?.warnings().iter().map(|warning| warning.code).collect();
        if defined.has_calls {
            let cases = cases.map_err(|error| NotReducible::Invalid(error.to_string()))?;
            defined.behaviour = defined.with_fuel_for(text, &cases)?;
        }
        Ok(defined)
    }

    /// Runs the calls with more and more fuel until they end; candidates get a little more.
    fn with_fuel_for(&mut self, text: &str, cases: &[TestCase]) -> Result<Behaviour, NotReducible> {
        loop {
            let behaviour = self.behaviour(&self.compile(text)?, cases);
            let fuel = self.options.limits.fuel.unwrap_or(LAST_FUEL);
            self.options.limits.fuel = Some(fuel * 4);
            if !behaviour.stops || fuel >= LAST_FUEL {
                return Ok(behaviour);
            }
        }
    }

    /// How programs are compiled.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// What programs are called.
    pub fn name(&self) -> &'static str {
        "reduced.ispc"
    }

    /// The test cases in the comments of a program.
    pub fn cases(&self, text: &str) -> Result<Vec<TestCase>, CaseError> {
        TestCase::from_source(self.name(), text, &self.options)
    }

    fn compile(&self, text: &str) -> Result<Module, NotReducible> {
        Module::compile(self.name(), text, &self.options).map_err(|error| NotReducible::Invalid(error.render(false)))
    }

    /// Whether a program compiles without new warnings and does nothing that the original does not do.
    pub fn allows(&self, text: &str) -> bool {
        let Ok(module) = self.compile(text) else { return false };
        if module.warnings().iter().any(|warning| !self.warnings.contains(&warning.code)) {
            return false;
        }
        if !self.has_calls {
            return true;
        }
        let Ok(cases) = TestCase::of_module(self.name(), text, &module) else { return false };
        let Behaviour { findings, traps, stops } = self.behaviour(&module, &cases);
        findings.iter().all(|kind| self.behaviour.findings.contains(kind))
            && traps.iter().all(|kind| self.behaviour.traps.contains(kind))
            && (!stops || self.behaviour.stops)
    }

    fn behaviour(&self, module: &Module, cases: &[TestCase]) -> Behaviour {
        let mut behaviour = Behaviour::default();
        for case in cases {
            match run(case, module).end {
                End::Returned => {}
                End::Trapped { kind, .. } => behaviour.traps.push(kind),
                End::Stopped(_) => behaviour.stops = true,
            }
        }
        behaviour.findings.extend(module.report().findings().iter().map(|finding| finding.kind()));
        behaviour
    }
}
