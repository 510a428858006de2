//! The compiler `ispc` as a back end: for a target and a level of optimisation.
//!
//! It compiles the program to an object, which a C program made for the call ([`driver`](super::driver)) is linked with by `cc`. Signed
//! integers wrap (`--wrap-signed-int`), and with `fp = strict` nothing is fused, as it is here.

use super::process;
use super::{Backend, Job, driver, form};
use crate::outcome::Outcome;
use spmdvm::{Fp, Width};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a compilation may take.
const COMPILE_TIMEOUT: Duration = Duration::from_secs(120);

/// `ispc`, with what it is asked for.
pub struct Ispc {
    /// The compiler's path, or its name on PATH.
    pub compiler: PathBuf,
    /// The target, such as `avx2-i32x8`.
    pub target: String,
    /// The level of optimisation, from 0 to 3.
    pub level: u32,
    /// How long a run may take.
    pub timeout: Duration,
}

/// The targets with gangs of this width that run on this machine, wide vectors first.
pub fn targets(width: Width) -> Vec<String> {
    let lanes = width.lanes();
    let families: &[(&str, bool, &[usize])] = &[
        ("avx512skx-x", has("avx512"), &[4, 8, 16, 32, 64]),
        ("avx2-i32x", has("avx2"), &[4, 8, 16]),
        ("sse4-i32x", has("sse4") && !has("avx2"), &[4, 8]),
        ("neon-i32x", cfg!(target_arch = "aarch64"), &[4, 8]),
    ];
    let fit = families.iter().filter(|(_, is_here, widths)| *is_here && widths.contains(&lanes));
    fit.map(|(name, ..)| format!("{name}{lanes}")).collect()
}

#[cfg(target_arch = "x86_64")]
fn has(family: &str) -> bool {
    match family {
        "avx512" => {
            is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512cd")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
        }
        "avx2" => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
        _ => is_x86_feature_detected!("sse4.1"),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn has(_family: &str) -> bool {
    false
}

/// The width of a target's gangs, by its name.
pub fn width_of(target: &str) -> Option<Width> {
    Width::new(target.rsplit('x').next()?.parse().ok()?)
}

/// The first line of what the compiler says of itself; the error says why it cannot be run.
pub fn version(compiler: &Path) -> Result<String, String> {
    let words = [compiler.display().to_string(), "--version".to_owned()];
    let ended = process::run(&words, None, COMPILE_TIMEOUT)?;
    Ok(ended.stdout.lines().next().unwrap_or_default().to_owned())
}

impl Ispc {
    fn command(&self, job: &Job<'_>, source: &Path, object: &Path) -> Vec<String> {
        let mut words = vec![self.compiler.display().to_string(), source.display().to_string()];
        words.extend(["-o".to_owned(), object.display().to_string()]);
        words.push(format!("--target={}", self.target));
        words.push(format!("-O{}", self.level));
        words.extend(["--pic", "--woff", "--wrap-signed-int"].map(str::to_owned));
        if job.options.fp == Fp::Strict {
            words.push("--opt=disable-fma".to_owned());
        }
        words.extend(job.options.include_paths.iter().flat_map(|path| ["-I".to_owned(), path.display().to_string()]));
        words.extend(job.options.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
        words
    }

    /// Compiles and links the program. The inner error is that the compiler broke down.
    fn build(&self, job: &Job<'_>, folder: &Path, main: &str) -> Result<Result<PathBuf, String>, String> {
        let written = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
            Ok::<_, String>(path)
        };
        let source = match job.path {
            Some(path) => path.to_owned(),
            None => written("case.ispc", &job.case.text)?,
        };
        let (object, program) = (folder.join("case.o"), folder.join("case"));
        let ended = process::run(&self.command(job, &source, &object), None, COMPILE_TIMEOUT)?;
        if let Some(why) = ended.failure(COMPILE_TIMEOUT) {
            return match error_in(&ended.stderr) {
                Some(error) if !ended.stderr.contains("FATAL ERROR") => {
                    Err(format!("ispc does not compile it: {error}"))
                }
                _ => Ok(Err(format!("ispc broke down: {why}"))),
            };
        }
        let main = written("main.c", main)?;
        let path = |path: &Path| path.display().to_string();
        let words =
            ["cc".to_owned(), "-O0".into(), path(&main), path(&object), "-o".into(), path(&program), "-lm".into()];
        match process::run(&words, None, COMPILE_TIMEOUT)?.failure(COMPILE_TIMEOUT) {
            Some(why) => Err(format!("it cannot be linked: {why}")),
            None => Ok(Ok(program)),
        }
    }
}

/// The first error that the compiler reports, in one line: it breaks its messages, which end with a blank line.
fn error_in(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().collect();
    let first = lines.iter().position(|line| line.contains("Error:"))?;
    let message = lines[first..].iter().map(|line| line.trim()).take_while(|line| !line.is_empty());
    Some(message.collect::<Vec<_>>().join(" "))
}

impl Backend for Ispc {
    fn name(&self) -> String {
        format!("ispc {} -O{}", self.target, self.level)
    }

    fn run(&self, job: &Job<'_>) -> Result<Outcome, String> {
        if width_of(&self.target) != Some(job.options.width) {
            return Err(format!("the target {} has another width than {}", self.target, job.options.width));
        }
        let main = driver::source(job)?;
        let folder = tempfile::tempdir().map_err(|error| format!("cannot make a temporary folder: {error}"))?;
        let program = match self.build(job, folder.path(), &main)? {
            Ok(program) => program,
            Err(broke) => return Ok(Outcome::stopped(broke)),
        };
        let results = folder.path().join("results");
        let words = [program.display().to_string(), results.display().to_string()];
        let ended = process::run(&words, None, self.timeout)?;
        if let Some(why) = ended.failure(self.timeout) {
            return Ok(Outcome::stopped(why));
        }
        let lines = std::fs::read_to_string(&results).map_err(|error| format!("it left no results: {error}"))?;
        let outcome = form::read(&lines, job)?;
        Ok(Outcome { printed: ended.stdout, ..outcome })
    }

    fn is_undefined_after_traps(&self) -> bool {
        true
    }
}
