//! The folder of a campaign: what it found, the programs it keeps, and where it stands.
//!
//! | file | what |
//! |---|---|
//! | `state.json` | the settings, counts and coverage; written every few seconds, and at the end |
//! | `current-N.ispc` | the program that worker N runs; still there if the process died of it |
//! | `kept/N.ispc` | programs that reached something new, the sources of mutants |
//! | `findings/N.ispc`, `N.json`, `N.reduced.ispc` | what differs: the program, where, and a small program that shows it |

use super::{Campaign, Coverage, Finding, Plan, Settings};
use crate::TestCase;
use serde_json::{Value as Json, json};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

/// The version of `state.json`.
const VERSION: u64 = 1;

/// Most workers of a campaign.
pub const MAX_WORKERS: usize = 64;

/// A folder.
pub struct Folder {
    path: PathBuf,
}

/// Why a campaign cannot go on in a folder.
#[derive(Debug)]
pub enum FolderError {
    /// A file cannot be read or written.
    Io(PathBuf, io::Error),
    /// A file is not what a campaign wrote: the text says what is wrong.
    Malformed(PathBuf, String),
    /// The campaign there has other settings.
    OtherSettings(PathBuf),
}

impl std::fmt::Display for FolderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FolderError::Io(path, error) => write!(f, "{}: {error}", path.display()),
            FolderError::Malformed(path, why) => write!(f, "{} is not the state of a campaign: {why}", path.display()),
            FolderError::OtherSettings(path) => {
                let path = path.display();
                write!(f, "{path} holds a campaign with other settings: repeat those, or give another folder")
            }
        }
    }
}

impl std::error::Error for FolderError {}

impl Folder {
    /// A folder, made if it is not there.
    pub fn open(path: &Path) -> Result<Folder, FolderError> {
        for folder in [path.to_owned(), path.join("kept"), path.join("findings")] {
            fs::create_dir_all(&folder).map_err(|error| FolderError::Io(folder, error))?;
        }
        Ok(Folder { path: path.to_owned() })
    }

    /// The campaign that stands here, or a new one; and the programs that one before died of.
    pub fn campaign(&self, settings: Settings) -> Result<(Campaign, Vec<PathBuf>), FolderError> {
        let mut campaign = Campaign::new(settings);
        let file = self.path.join("state.json");
        if let Ok(text) = fs::read_to_string(&file) {
            let state: Json =
                serde_json::from_str(&text).map_err(|error| FolderError::Malformed(file.clone(), error.to_string()))?;
            if state["settings"] != digest(campaign.settings()) {
                return Err(FolderError::OtherSettings(self.path.clone()));
            }
            restore(&mut campaign, &state)
                .ok_or_else(|| FolderError::Malformed(file, "a number or the coverage is missing".into()))?;
            self.read_kept(&mut campaign)?;
        }
        let died = (0..MAX_WORKERS).filter_map(|worker| self.after_death(worker, &mut campaign).transpose());
        let died = died.collect::<Result<_, _>>()?;
        Ok((campaign, died))
    }

    fn read_kept(&self, campaign: &mut Campaign) -> Result<(), FolderError> {
        let folder = self.path.join("kept");
        let list = fs::read_dir(&folder).map_err(|error| FolderError::Io(folder, error))?;
        let mut paths: Vec<PathBuf> = list.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        paths.sort();
        for path in paths {
            let text = fs::read_to_string(&path).map_err(|error| FolderError::Io(path.clone(), error))?;
            let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            // One that the language has outgrown is no loss.
            let cases = TestCase::from_source(&name, &text, &campaign.settings.options).unwrap_or_default();
            cases.into_iter().for_each(|case| campaign.keep(case));
        }
        Ok(())
    }

    /// If a run did not end, its program is a finding.
    fn after_death(&self, worker: usize, campaign: &mut Campaign) -> Result<Option<PathBuf>, FolderError> {
        let path = self.path_of(worker);
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        fs::remove_file(&path).map_err(|error| FolderError::Io(path, error))?;
        if text.is_empty() {
            return Ok(None);
        }
        campaign.findings += 1;
        campaign.rounds += 1;
        let name = format!("findings/{}.ispc", campaign.findings);
        self.write(&name, &text)?;
        Ok(Some(self.path.join(name)))
    }

    fn path_of(&self, worker: usize) -> PathBuf {
        self.path.join(format!("current-{worker}.ispc"))
    }

    /// Where a worker notes what it runs.
    pub fn current(&self, worker: usize) -> Result<Current, FolderError> {
        let path = self.path_of(worker);
        let file = File::create(&path).map_err(|error| FolderError::Io(path.clone(), error))?;
        Ok(Current { path, file, len: 0 })
    }

    /// Writes where the campaign stands.
    pub fn save(&self, campaign: &Campaign) -> Result<(), FolderError> {
        let state = json!({
            "version": VERSION, "settings": digest(campaign.settings()), "rounds": campaign.rounds,
            "programs": campaign.programs, "invalid": campaign.invalid, "not_comparable": campaign.not_comparable,
            "findings": campaign.findings, "coverage": campaign.coverage.to_json(),
        });
        // Beside it first, so that a process that dies meanwhile leaves a whole file.
        self.write("state.json.new", &state.to_string())?;
        let (new, old) = (self.path.join("state.json.new"), self.path.join("state.json"));
        fs::rename(&new, &old).map_err(|error| FolderError::Io(old, error))
    }

    /// Keeps a program.
    pub fn keep(&self, campaign: &Campaign, case: &TestCase) -> Result<(), FolderError> {
        self.write(&format!("kept/{:08}.ispc", campaign.rounds), &case.text)
    }

    /// Writes a finding, and the small program if there is one. Gives the path of the program.
    pub fn found(&self, number: u64, finding: &Finding, reduced: Option<&str>) -> Result<PathBuf, FolderError> {
        let name = format!("findings/{number}");
        self.write(&format!("{name}.ispc"), &finding.case.text)?;
        self.write(&format!("{name}.json"), &finding.to_json().to_string())?;
        if let Some(reduced) = reduced {
            self.write(&format!("{name}.reduced.ispc"), reduced)?;
        }
        Ok(self.path.join(format!("{name}.{}", if reduced.is_some() { "reduced.ispc" } else { "ispc" })))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), FolderError> {
        let path = self.path.join(name);
        fs::write(&path, text).map_err(|error| FolderError::Io(path, error))
    }
}

/// The program that a worker runs: a file that stays open, as it is written hundreds of times a second.
pub struct Current {
    path: PathBuf,
    file: File,
    /// Bytes in the file.
    len: u64,
}

impl Current {
    /// Notes which program is about to be run.
    pub fn write(&mut self, case: &TestCase, plan: &Plan) -> Result<(), FolderError> {
        let subjects: Vec<String> = plan.subjects.iter().map(ToString::to_string).collect();
        let text = format!("// width {}; {}\n{}", plan.width, subjects.join(", "), case.text);
        let written = self.file.rewind().and_then(|()| self.file.write_all(text.as_bytes()));
        let len = text.len() as u64;
        let is_shorter = std::mem::replace(&mut self.len, len) > len;
        let written = written.and_then(|()| if is_shorter { self.file.set_len(len) } else { Ok(()) });
        written.map_err(|error| FolderError::Io(self.path.clone(), error))
    }

    /// Notes that nothing is run any more.
    pub fn done(self) -> Result<(), FolderError> {
        fs::remove_file(&self.path).map_err(|error| FolderError::Io(self.path, error))
    }
}

/// What has to be the same for a campaign to go on.
fn digest(settings: &Settings) -> Json {
    let engines: Vec<&str> = settings.engines.iter().map(|engine| engine.name()).collect();
    let widths: Vec<usize> = settings.widths.iter().map(|width| width.lanes()).collect();
    let config = &settings.config;
    json!({
        "seed": settings.seed, "engines": engines, "widths": widths, "size": config.size, "dialect": config.dialect.name(),
        "features": config.features.names().collect::<Vec<_>>(), "fp": settings.options.fp.to_string(),
    })
}

fn restore(campaign: &mut Campaign, state: &Json) -> Option<()> {
    let number = |name: &str| state.get(name)?.as_u64();
    (number("version")? == VERSION).then_some(())?;
    campaign.rounds = number("rounds")?;
    campaign.programs = number("programs")?;
    campaign.invalid = number("invalid")?;
    campaign.not_comparable = number("not_comparable")?;
    campaign.findings = number("findings")?;
    campaign.coverage = Coverage::from_json(state.get("coverage")?)?;
    Some(())
}
