//! An outside command that says whether a program is interesting.

use crate::compare::process;
use spmdvm::Width;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A command that ends with exit code 0 if a program is interesting.
pub struct Command {
    /// Its words, with `{source}` and `{width}` in them.
    pub words: Vec<String>,
    /// What `{width}` stands for.
    pub width: Width,
    /// How long it may take; a program that takes it longer is not interesting.
    pub timeout: Duration,
}

impl Command {
    /// The placeholders, with what stands for them.
    pub const PLACEHOLDERS: [(&'static str, &'static str); 2] =
        [("{source}", "the path of the program"), ("{width}", "the number of lanes")];

    /// Whether it ends well for a program. The error is that it cannot be run at all.
    pub fn is_interested(&self, text: &str) -> Result<bool, String> {
        let written = Written::new(text)?;
        let (source, width) = (written.path().display().to_string(), self.width.to_string());
        let fill = |word: &String| {
            let pairs = Command::PLACEHOLDERS.iter().zip([&source, &width]);
            pairs.fold(word.clone(), |word, ((placeholder, _), value)| word.replace(placeholder, value))
        };
        let words: Vec<String> = self.words.iter().map(fill).collect();
        let ended = process::run(&words, None, self.timeout)?;
        Ok(ended.failure(self.timeout).is_none())
    }
}

/// A program in a file that goes away with it.
pub struct Written {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl Written {
    /// Writes a program to a file of its own.
    pub fn new(text: &str) -> Result<Written, String> {
        let failed = |error: std::io::Error| format!("cannot write a temporary file: {error}");
        let folder = tempfile::tempdir().map_err(failed)?;
        let path = folder.path().join("case.ispc");
        std::fs::write(&path, text).map_err(failed)?;
        Ok(Written { path, _folder: folder })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
