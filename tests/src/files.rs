//! The project's files.

use std::path::{Path, PathBuf};

/// The root of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new(""))
}

/// All case files, sorted.
pub fn cases() -> Vec<PathBuf> {
    let mut files = below(&root().join("tests/cases"));
    files.retain(|path| path.extension().is_some_and(|e| e == "ispc"));
    files
}

/// All files below a folder, sorted; build output, hidden folders and virtual environments left out.
pub fn below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name == ".git" {
                continue;
            }
            if !path.is_dir() {
                found.push(path);
            } else if !name.starts_with('.') && !["target", "__pycache__", "out", "node_modules"].contains(&&*name) {
                folders.push(path);
            }
        }
    }
    found.sort();
    found
}
