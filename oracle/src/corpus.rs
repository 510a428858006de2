//! A frozen corpus: programs with the outcomes and traces they must have, as files. `tests/corpus/README.md` tells its form.

use crate::compare::{Backend, Job};
use crate::outcome::{End, Outcome};
use crate::run::{record_call, run};
use crate::testcase::TestCase;
use crate::trace::{self, JsonLines, Reader, diff};
use serde::{Deserialize, Serialize};
use spmdvm::{Engine, Fp, JitSettings, Limits, Module, Options, Width};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the file that makes a folder a corpus.
const MANIFEST: &str = "corpus.json";

/// The version of the form of these files.
const VERSION: u32 = 1;

/// How long a call may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// How many instructions are shown before a difference of traces.
const CONTEXT: usize = 4;

/// A folder of programs.
pub struct Corpus {
    folder: PathBuf,
    manifest: Manifest,
}

/// What holds for all programs of a corpus.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Manifest {
    /// `spmdvm-corpus`.
    schema: String,
    version: u32,
    fp: String,
    widths: Vec<u32>,
    /// The programs whose first call has a frozen trace, and the width of all those.
    traced: Vec<String>,
    trace_width: u32,
}

/// A program of a corpus.
pub struct Program {
    /// Its file.
    pub path: PathBuf,
    /// Its name, without the ending.
    pub name: String,
    /// Its source.
    pub text: String,
}

/// The outcomes that a program must have.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Frozen {
    /// A digest of the source that they are of: FNV-1a of 64 bits, in hexadecimal.
    digest: String,
    runs: Vec<FrozenRun>,
}

/// The outcome of a call at a width.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct FrozenRun {
    call: String,
    width: u32,
    outcome: Outcome,
}

impl Corpus {
    /// Opens a corpus; the error says what is wrong with it.
    pub fn open(folder: &Path) -> Result<Corpus, String> {
        let path = folder.join(MANIFEST);
        let text = read(&path)?;
        let manifest: Manifest = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let wrong = |what: String| Err(format!("{}: {what}", path.display()));
        if manifest.schema != "spmdvm-corpus" {
            return wrong("this is no corpus".into());
        }
        if manifest.version != VERSION {
            return wrong(format!(
                "the corpus has version {}, and this program reads version {VERSION}",
                manifest.version
            ));
        }
        if let Some(odd) = manifest.widths.iter().chain([&manifest.trace_width]).find(|&&w| Width::new(w).is_none()) {
            return wrong(format!("{odd} is no width of a gang"));
        }
        manifest.fp.parse::<Fp>().map_err(|why| format!("{}: {why}", path.display()))?;
        Ok(Corpus { folder: folder.to_owned(), manifest })
    }

    /// The widths that outcomes are frozen for.
    pub fn widths(&self) -> Vec<Width> {
        self.manifest.widths.iter().filter_map(|&width| Width::new(width)).collect()
    }

    /// How programs are compiled and run; every loop and function is compiled by engines that compile.
    pub fn options(&self) -> Options {
        let limits = Limits { timeout: Some(TIMEOUT), ..Limits::default() };
        let fp = self.manifest.fp.parse().unwrap_or_default();
        Options { fp, jit: JitSettings::eager(), limits, ..Options::default() }
    }

    /// The programs, by name.
    pub fn programs(&self) -> Result<Vec<Program>, String> {
        let failed = |error: std::io::Error| format!("cannot read {}: {error}", self.folder.display());
        let mut programs = Vec::new();
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if let (Some("ispc"), Some(name)) = (ending(&path), path.file_stem().and_then(|name| name.to_str())) {
                programs.push(Program { name: name.to_owned(), text: read(&path)?, path });
            }
        }
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(programs)
    }

    fn outcomes_file(&self, program: &Program) -> PathBuf {
        self.folder.join("outcomes").join(format!("{}.json", program.name))
    }

    fn trace_file(&self, program: &Program) -> PathBuf {
        self.folder.join("traces").join(format!("{}.jsonl", program.name))
    }

    /// The outcomes that a program must have.
    pub fn frozen(&self, program: &Program) -> Result<Frozen, String> {
        let path = self.outcomes_file(program);
        if !path.exists() {
            let (file, path) = (program.path.display(), path.display());
            return Err(format!("{file} has no frozen outcomes: `spmdvm corpus freeze` writes {path}"));
        }
        let frozen: Frozen =
            serde_json::from_str(&read(&path)?).map_err(|error| format!("{}: {error}", path.display()))?;
        if frozen.digest != digest(&program.text) {
            let (path, file) = (path.display(), program.path.display());
            return Err(format!("{path} was frozen for another text of {file}: programs of a corpus do not change"));
        }
        Ok(frozen)
    }

    /// Freezes the outcomes that a program has now on the interpreter, and its trace if it is to have one. Returns whether it did: what
    /// is frozen stays as it is.
    pub fn freeze(&self, program: &Program) -> Result<bool, String> {
        let path = self.outcomes_file(program);
        if path.exists() {
            self.frozen(program)?;
            return Ok(false);
        }
        let mut runs = Vec::new();
        for width in self.widths() {
            for case in self.cases(program, width)?.1 {
                let outcome = self.outcome(program, width, &case)?;
                runs.push(FrozenRun { call: case.call.to_string(), width: width.lanes() as u32, outcome });
            }
        }
        write(&path, &Frozen { digest: digest(&program.text), runs }.to_text())?;
        if self.is_traced(program) {
            write(&self.trace_file(program), &self.trace(program)?)?;
        }
        Ok(true)
    }

    /// Compiles a program for the interpreter, and reads its calls.
    fn cases(&self, program: &Program, width: Width) -> Result<(Module, Vec<TestCase>), String> {
        let options = Options { engine: Engine::Interp, ..self.options() }.with_width(width);
        // Messages and traces name the file as it is called in its folder, wherever that is.
        let name = format!("{}.ispc", program.name);
        let module = Module::compile(&name, &program.text, &options).map_err(|error| error.to_string())?;
        let cases = TestCase::of_module(&name, &program.text, &module).map_err(|error| error.to_string())?;
        Ok((module, cases))
    }

    /// What a call does on the interpreter; each is made on a module of its own, whose globals are as they were.
    fn outcome(&self, program: &Program, width: Width, case: &TestCase) -> Result<Outcome, String> {
        let outcome = run(case, &self.cases(program, width)?.0);
        match &outcome.end {
            End::Stopped(why) => Err(format!("{}: {} stopped: {why}", program.path.display(), case.call)),
            _ => Ok(outcome),
        }
    }

    /// Returns whether a program has a frozen trace.
    pub fn is_traced(&self, program: &Program) -> bool {
        self.manifest.traced.contains(&program.name)
    }

    /// The trace of a program's first call.
    fn trace(&self, program: &Program) -> Result<String, String> {
        let width = Width::new(self.manifest.trace_width).unwrap_or_default();
        let (module, cases) = self.cases(program, width)?;
        let mut sink = JsonLines::new(Vec::new());
        let first = cases.first().ok_or("there is no call")?;
        record_call(&first.call, &module, &mut sink).map_err(|error| error.to_string())?;
        Ok(String::from_utf8_lossy(&sink.into_inner()).into_owned())
    }

    /// Compares the trace that a program has now with the frozen one; a text says where they first differ.
    pub fn check_trace(&self, program: &Program) -> Result<Option<String>, String> {
        let path = self.trace_file(program);
        let failed = |error: String| format!("{}: {error}", path.display());
        let frozen = trace::open(&path).map_err(|error| failed(error.to_string()))?;
        let frozen = Reader::new(frozen).map_err(|error| failed(error.to_string()))?;
        let now = self.trace(program)?;
        let now = Reader::new(now.as_bytes()).map_err(|error| failed(error.to_string()))?;
        let compared = diff(frozen, now, CONTEXT).map_err(|error| failed(error.to_string()))?;
        Ok(compared.difference.is_some().then(|| compared.to_string()))
    }
}

impl Frozen {
    /// A line for each run, so that differences of versions can be read.
    fn to_text(&self) -> String {
        let mut text = format!("{{\"digest\": \"{}\", \"runs\": [\n", self.digest);
        for (i, run) in self.runs.iter().enumerate() {
            let comma = if i + 1 < self.runs.len() { "," } else { "" };
            let _ = writeln!(text, "{}{comma}", serde_json::to_string(run).unwrap_or_default());
        }
        text + "]}\n"
    }

    /// The number of outcomes.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// Returns whether there is none.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }
}

/// The frozen outcomes say what is expected.
impl Backend for Frozen {
    fn name(&self) -> String {
        "corpus".into()
    }

    fn run(&self, job: &Job<'_>) -> Result<Outcome, String> {
        let (call, width) = (job.case.call.to_string(), job.options.width.lanes() as u32);
        let found = self.runs.iter().find(|run| run.width == width && run.call == call);
        found.map(|run| run.outcome.clone()).ok_or_else(|| format!("no outcome of {call} is frozen for width {width}"))
    }
}

fn ending(path: &Path) -> Option<&str> {
    path.extension().and_then(|ending| ending.to_str())
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder
        .and_then(|()| std::fs::write(path, text))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// FNV-1a (Fowler, Noll, Vo).
fn digest(text: &str) -> String {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ byte as u64).wrapping_mul(0x100_0000_01b3));
    format!("{hash:016x}")
}
