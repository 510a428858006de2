//! Functions that name what is not defined yet: they are kept until it is.

use super::parts::unit_of;
use super::session::{Answer, INPUT, Problem, Session, with_headers};
use super::units::{Unit, UnitKind, words};
use spmdvm::{Code, CompileError, Diagnostic, Module, Severity};
use std::collections::HashSet;

/// A function that names what is not there yet.
#[derive(Clone)]
pub struct Waiting {
    /// It.
    pub unit: Unit,
    /// The names that it lacks.
    pub missing: Vec<String>,
}

impl Session {
    /// Functions that only lack what is not defined yet are kept until it is.
    pub fn keep_waiting(&mut self, text: &str, label: &str, problem: Problem) -> Answer {
        if !matches!(problem, Problem::Failed(_)) || label != INPUT {
            return Err(problem);
        }
        let Some((functions, missing)) = self.missing(text) else { return Err(problem) };
        let names: Vec<String> = functions.iter().flat_map(|unit| unit.names.clone()).collect();
        for unit in functions {
            self.waiting.retain(|waiting| waiting.unit.names != unit.names);
            self.units.remove_overload(&unit.names[0], &unit.parameters);
            self.waiting.push(Waiting { unit, missing: missing.clone() });
        }
        let (names, missing) = (names.join("`, `"), missing.join("`, `"));
        Ok(format!("`{names}` waits for `{missing}` to be defined\n"))
    }

    /// The functions that a text consists of, and the names that they lack, if nothing else is wrong with it.
    fn missing(&self, text: &str) -> Option<(Vec<Unit>, Vec<String>)> {
        let mentioned = words(text);
        let mut composed = self.units.compose(&self.variables, &mentioned);
        composed.include_prompt(INPUT, text);
        let reading = self.read(&composed, INPUT, &self.options).ok()?;
        let functions: Option<Vec<Unit>> = reading.parts.iter().map(|part| unit_of(part, text)).collect();
        let functions = functions.filter(|list| {
            !list.is_empty() && list.iter().all(|unit| unit.kind == UnitKind::Function) && reading.directives.is_empty()
        })?;
        let (units, variables) = self.without_replaced(&reading, text);
        let mut composed = units.compose(&variables, &mentioned);
        composed.include_prompt(INPUT, text);
        let options = with_headers(&self.options, &composed);
        let error = Module::compile_prompt(&composed.text, INPUT, &options).err()?;
        let errors = error.diagnostics().iter().filter(|d| d.severity == Severity::Error);
        let name = |d: &Diagnostic| {
            let is_call = followed_by_parenthesis(&error, d);
            let name = error.sources().text(d.span()).to_owned();
            (d.code == Code::UndefinedName && is_call).then_some(name)
        };
        let missing: Option<HashSet<String>> = errors.map(name).collect();
        let mut missing: Vec<String> = missing?.into_iter().collect();
        missing.sort_unstable();
        Some((functions, missing))
    }

    /// Takes in functions that waited, if all is there now.
    pub fn wake(&mut self) -> String {
        let mut said = String::new();
        loop {
            let is_ready = |waiting: &Waiting| {
                waiting.missing.iter().all(|name| {
                    self.units.of_name(name).next().is_some()
                        || self.variables.get(name).is_some()
                        || self.waiting.iter().any(|other| other.unit.names.contains(name))
                })
            };
            let ready: Vec<Waiting> = self.waiting.iter().filter(|waiting| is_ready(waiting)).cloned().collect();
            let mut with = self.units.clone();
            ready.iter().for_each(|waiting| with.add(waiting.unit.clone(), ""));
            let mentioned: HashSet<String> = ready.iter().flat_map(|waiting| waiting.unit.names.clone()).collect();
            let composed = with.compose(&self.variables, &mentioned);
            let options = with_headers(&self.options, &composed);
            if ready.is_empty() || Module::compile_prompt(&composed.text, INPUT, &options).is_err() {
                return said;
            }
            self.units = with;
            self.waiting.retain(|waiting| !mentioned.contains(&waiting.unit.names[0]));
            for waiting in ready {
                said += &format!("`{}` has all that it needs now\n", waiting.unit.names[0]);
            }
        }
    }

    /// The functions that wait for others, in words.
    pub fn waiting(&self) -> String {
        let line =
            |waiting: &Waiting| format!("{}    // waits for {}\n", waiting.unit.source(), waiting.missing.join(", "));
        self.waiting.iter().map(line).collect()
    }
}

fn followed_by_parenthesis(error: &CompileError, diagnostic: &Diagnostic) -> bool {
    let span = diagnostic.span();
    let file = error.sources().get(span.file);
    file.and_then(|file| file.text.get(span.hi as usize..)).is_some_and(|rest| rest.trim_start().starts_with('('))
}
