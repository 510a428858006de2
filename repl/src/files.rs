//! Files that the command line names: what is wrong with one is said in one way.

use crate::Failure;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;

/// Fails if there is no file to be read at a path.
pub fn check(path: &Path) -> Result<(), Failure> {
    let about = fs::metadata(path).map_err(|e| unreadable(path, &e))?;
    if about.is_dir() {
        return Err(unreadable(path, &ErrorKind::IsADirectory.into()));
    }
    // A pipe is opened once, by who reads it.
    if about.is_file() {
        File::open(path).map_err(|e| unreadable(path, &e))?;
    }
    Ok(())
}

/// The bytes of a file.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    check(path)?;
    fs::read(path).map_err(|e| unreadable(path, &e))
}

/// The text of a file, which must be in UTF-8.
pub fn text(path: &Path) -> Result<String, Failure> {
    let bytes = bytes(path)?;
    match not_text(&bytes) {
        Some(why) => Err(Failure::usage(format!("cannot read {}: {why}", path.display()))),
        None => Ok(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

/// What to add to the messages about a program that does not compile: that it is no text. (The library takes other bytes in
/// comments and strings.)
pub fn note(path: &Path) -> String {
    let why = fs::read(path).ok().and_then(|bytes| not_text(&bytes));
    why.map_or(String::new(), |why| format!("note: {}: {why}\n", path.display()))
}

/// Why bytes are not text in UTF-8, if they are not.
fn not_text(bytes: &[u8]) -> Option<String> {
    let zero = bytes.iter().position(|&b| b == 0);
    let at = zero.or_else(|| std::str::from_utf8(bytes).err().map(|e| e.valid_up_to()))?;
    let line = bytes[..at].iter().filter(|&&b| b == b'\n').count() + 1;
    Some(format!("it is not text in UTF-8 (line {line} has the byte {:#04x})", bytes[at]))
}

/// Writes a file.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|e| unwritable(path, &e))
}

/// The failure to read a file.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot read {}: {}", path.display(), reason(error)))
}

/// The failure to write a file.
pub fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("cannot write {}: {}", path.display(), reason(error)))
}

fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".into(),
        ErrorKind::PermissionDenied => "permission denied".into(),
        ErrorKind::IsADirectory => "it is a folder".into(),
        ErrorKind::NotADirectory => "a part of the path is a file, not a folder".into(),
        _ => error.to_string(),
    }
}
