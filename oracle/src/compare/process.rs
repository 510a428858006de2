//! Outside programs: started, given a time, and ended when it is over.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// So much of what a program writes is read.
const MAX_OUTPUT: u64 = 256 << 20;

/// How many of the last lines on standard error a message has.
const LAST_LINES: usize = 5;

/// Returns whether there is a program to run: a path, or a name that is looked for on the `PATH`.
pub fn is_there(program: &str) -> bool {
    if program.contains(std::path::MAIN_SEPARATOR) {
        return is_executable(Path::new(program));
    }
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| is_executable(&dir.join(program))))
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_: &Path) -> bool {
    true
}

/// What has become of a program.
pub struct Ended {
    /// Its exit status; `None` if its time was over.
    pub status: Option<ExitStatus>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

/// Runs a program. The error is that it cannot be started.
pub fn run(words: &[String], folder: Option<&Path>, timeout: Duration) -> Result<Ended, String> {
    let (program, arguments) = words.split_first().ok_or("there is no command to run")?;
    let failed = |error: io::Error| format!("cannot run {program}: {error}");
    // Files rather than pipes: nobody must read while the program writes, and what it may have started cannot hold us up.
    let (mut stdout, mut stderr) = (tempfile::tempfile().map_err(failed)?, tempfile::tempfile().map_err(failed)?);
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(stdout.try_clone().map_err(failed)?).stderr(stderr.try_clone().map_err(failed)?);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let mut child = command.spawn().map_err(failed)?;
    let (start, mut pause) = (Instant::now(), Duration::from_micros(200));
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break Some(status),
            None if start.elapsed() < timeout => std::thread::sleep(pause),
            None => {
                // It may have ended by itself meanwhile.
                let _ = child.kill();
                let _ = child.wait();
                break None;
            }
        }
        pause = (pause * 2).min(Duration::from_millis(10));
    };
    Ok(Ended { status, stdout: text(&mut stdout).map_err(failed)?, stderr: text(&mut stderr).map_err(failed)? })
}

fn text(file: &mut File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(MAX_OUTPUT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

impl Ended {
    /// Why it did not end well, if it did not: its status, with the last lines on standard error.
    pub fn failure(&self, timeout: Duration) -> Option<String> {
        let how = match self.status {
            Some(status) if status.success() => return None,
            Some(status) => status.to_string(),
            None => format!("it took more than {} seconds", timeout.as_secs_f64()),
        };
        let lines: Vec<&str> = self.stderr.trim_end().lines().collect();
        let last = &lines[lines.len().saturating_sub(LAST_LINES)..];
        Some(std::iter::once(how.as_str()).chain(last.iter().copied()).collect::<Vec<_>>().join("\n    "))
    }
}
