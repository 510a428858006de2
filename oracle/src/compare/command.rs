//! An outside command as a back end.

use super::process;
use super::{Backend, Job, form};
use crate::outcome::Outcome;
use std::path::Path;
use std::time::Duration;

/// A command that is run for each job. It writes an outcome ([`form`]) to standard output.
pub struct Command {
    /// Its words, with `{source}`, `{width}`, `{entry}` and `{input}` in them.
    pub words: Vec<String>,
    /// How long it may take.
    pub timeout: Duration,
}

impl Command {
    /// The placeholders, with what stands for them.
    pub const PLACEHOLDERS: [(&'static str, &'static str); 4] = [
        ("{source}", "the path of the program"),
        ("{width}", "the number of lanes"),
        ("{entry}", "the name of the function"),
        ("{input}", "the path of a JSON file with the call"),
    ];

    /// Fails if there is no such program: nothing would ever be compared with it.
    ///
    /// # Errors
    ///
    /// The text says which program there is not.
    pub fn check(words: &[String]) -> Result<(), String> {
        match words.first().filter(|program| !process::is_there(program)) {
            Some(program) => Err(format!("there is no program {program}, or it is not executable")),
            None => Ok(()),
        }
    }
}

impl Backend for Command {
    fn name(&self) -> String {
        self.words.first().map_or("command", |word| word.rsplit('/').next().unwrap_or(word)).to_owned()
    }

    fn run(&self, job: &Job<'_>) -> Result<Outcome, String> {
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let source = match job.path {
            Some(path) => path.to_owned(),
            None => written(&folder.path().join("case.ispc"), &job.case.text)?,
        };
        let mut input = job.case.call.to_json();
        input["width"] = job.options.width.lanes().into();
        let input = written(&folder.path().join("input.json"), &input.to_string())?;
        let (source, input) = (source.display().to_string(), input.display().to_string());
        let width = job.options.width.to_string();
        let values = [source.as_str(), &width, &job.case.call.entry, &input];
        let words = self.words.iter().map(|word| {
            let pairs = Command::PLACEHOLDERS.iter().zip(values);
            pairs.fold(word.clone(), |word, ((placeholder, _), value)| word.replace(placeholder, value))
        });
        let ended = process::run(&words.collect::<Vec<_>>(), None, self.timeout)?;
        Ok(match ended.failure(self.timeout) {
            Some(why) => Outcome::stopped(why),
            None => form::read(&ended.stdout, job).unwrap_or_else(Outcome::stopped),
        })
    }
}

fn written(path: &Path, text: &str) -> Result<std::path::PathBuf, String> {
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path.to_owned())
}
