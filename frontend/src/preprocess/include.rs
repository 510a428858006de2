//! Where `#include` finds its text.
//!
//! Programs may be untrusted, so a loader never reads outside the folders it was given, follows no link that leaves
//! them, and reads only regular files of bounded size. Who compiles a file of his own may lift the first two.

use std::fs;
use std::path::{Path, PathBuf};

use crate::source::MAX_FILE_LEN;

/// One `#include` as written.
#[derive(Clone, Copy, Debug)]
pub struct IncludeRequest<'r> {
    /// The name between the quotes or angle brackets.
    pub name: &'r str,
    /// Whether quotes were written: then the includer's folder is searched first.
    pub quoted: bool,
    /// The path of the including file; `None` for a program given as a string.
    pub includer: Option<&'r Path>,
}

/// An included file.
#[derive(Clone, Debug)]
pub struct Included {
    /// The name for messages.
    pub name: String,
    /// The path, which tells files apart for `#pragma once`; `None` for a header that is no file.
    pub path: Option<PathBuf>,
    /// The text.
    pub text: String,
    /// Whether it is a part of the program that the host keeps apart, rather than a header.
    pub is_part: bool,
}

/// Why there is no text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum IncludeError {
    /// Nothing by that name in the folders searched.
    NotFound,
    /// It may be there, but the program may not read it. The text says why.
    Forbidden(String),
    /// It is there but cannot be read. The text says why.
    Unreadable(String),
}

/// Finds the text for `#include`.
pub trait IncludeLoader {
    /// The text of the requested file.
    ///
    /// # Errors
    /// When there is no such file, or the program may not read it.
    fn load(&self, request: &IncludeRequest<'_>) -> Result<Included, IncludeError>;
}

/// Headers that are part of the program: name and text. By themselves they serve programs given as strings, and tests.
impl IncludeLoader for [(&str, &str)] {
    fn load(&self, request: &IncludeRequest<'_>) -> Result<Included, IncludeError> {
        let found = self.iter().find(|(name, _)| *name == request.name);
        let &(name, text) = found.ok_or(IncludeError::NotFound)?;
        Ok(Included { name: name.into(), path: None, text: text.into(), is_part: false })
    }
}

/// Reads files below the main file's folder and the include paths, and falls back to built-in headers.
pub struct FileLoader<'h> {
    main_folder: Option<PathBuf>,
    include_paths: Vec<PathBuf>,
    headers: &'h [(&'h str, &'h str)],
    is_confined: bool,
}

impl<'h> FileLoader<'h> {
    /// A loader for the program in the file `main` (`None` for a program given as a string, which then may read only
    /// from the include paths), with folders to search and built-in headers.
    pub fn new(main: Option<&Path>, include_paths: &[PathBuf], headers: &'h [(&'h str, &'h str)]) -> FileLoader<'h> {
        let main_folder = main.and_then(|path| folder_of(path).canonicalize().ok());
        let include_paths = include_paths.iter().filter_map(|path| path.canonicalize().ok()).collect();
        FileLoader { main_folder, include_paths, headers, is_confined: true }
    }

    /// Lets it read whatever the process may: for programs that are trusted.
    #[must_use]
    pub fn unconfined(self) -> FileLoader<'h> {
        FileLoader { is_confined: false, ..self }
    }

    fn may_read(&self, path: &Path) -> bool {
        !self.is_confined || self.main_folder.iter().chain(&self.include_paths).any(|root| path.starts_with(root))
    }
}

/// The folder in which a file lies; the current one for a bare name.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

impl IncludeLoader for FileLoader<'_> {
    fn load(&self, request: &IncludeRequest<'_>) -> Result<Included, IncludeError> {
        let own_folder = if request.quoted { request.includer.map(folder_of) } else { None };
        let main_folder = self.main_folder.as_deref().filter(|_| !request.quoted);
        let folders = own_folder.into_iter().chain(self.include_paths.iter().map(PathBuf::as_path)).chain(main_folder);
        let mut forbidden = false;
        for folder in folders {
            let name = folder.join(request.name);
            let Ok(path) = name.canonicalize() else {
                continue;
            };
            if path.is_dir() {
                continue;
            }
            if !self.may_read(&path) {
                forbidden = true;
                continue;
            }
            return read(name.strip_prefix(".").unwrap_or(&name), &path);
        }
        match self.headers.load(request) {
            Err(IncludeError::NotFound) if forbidden => {
                let roots = "it lies outside the including file's folder and the include paths";
                Err(IncludeError::Forbidden(roots.into()))
            }
            Err(IncludeError::NotFound)
                if self.is_confined && self.main_folder.is_none() && self.include_paths.is_empty() =>
            {
                Err(IncludeError::Forbidden("a program given as a string may include only built-in headers".into()))
            }
            found => found,
        }
    }
}

/// Reads `file`, which was made sure of. Its path stays `path`, made of what is written, so that what a linked file includes
/// is searched where the link lies.
fn read(path: &Path, file: &Path) -> Result<Included, IncludeError> {
    let unreadable = |error: std::io::Error| IncludeError::Unreadable(error.to_string());
    let metadata = fs::metadata(file).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(IncludeError::Unreadable("it is not a regular file".into()));
    }
    if metadata.len() > MAX_FILE_LEN as u64 {
        return Err(IncludeError::Unreadable("it is too large".into()));
    }
    let bytes = fs::read(file).map_err(unreadable)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Ok(Included { name: path.display().to_string(), path: Some(path.to_path_buf()), text, is_part: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'r>(name: &'r str, includer: Option<&'r Path>) -> IncludeRequest<'r> {
        IncludeRequest { name, quoted: true, includer }
    }

    #[test]
    fn stays_in_its_folders() {
        let root = std::env::temp_dir().join(format!("spmdvm-include-{}", std::process::id()));
        fs::create_dir_all(root.join("main/sub")).unwrap();
        fs::create_dir_all(root.join("lib")).unwrap();
        for (path, text) in [("secret", "s"), ("main/sub/a.h", "a"), ("main/b.h", "b"), ("lib/c.h", "c")] {
            fs::write(root.join(path), text).unwrap();
        }
        let main = root.join("main/m.ispc");
        let loader = FileLoader::new(Some(&main), &[root.join("lib")], &[("builtin.isph", "x")]);
        let load = |name: &str, from: &Path| loader.load(&request(name, Some(from))).map(|found| found.text);
        assert_eq!(load("sub/a.h", &main).unwrap(), "a");
        assert_eq!(load("../b.h", &root.join("main/sub/a.h")).unwrap(), "b");
        assert_eq!(load("c.h", &main).unwrap(), "c");
        assert_eq!(load("builtin.isph", &main).unwrap(), "x");
        assert!(matches!(load("../secret", &main), Err(IncludeError::Forbidden(_))));
        let absolute = root.join("secret").display().to_string();
        assert!(matches!(load(&absolute, &main), Err(IncludeError::Forbidden(_))));
        assert_eq!(load("none.h", &main), Err(IncludeError::NotFound));
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(root.join("secret"), root.join("main/link.h")).unwrap();
            assert!(matches!(load("link.h", &main), Err(IncludeError::Forbidden(_))));
        }
        let free = FileLoader::new(Some(&main), &[root.join("lib")], &[]).unconfined();
        let load = |name: &str, from: &Path| free.load(&request(name, Some(from))).map(|found| found.text);
        assert_eq!(load("../secret", &main).unwrap(), "s");
        assert_eq!(load("../../secret", &root.join("main/sub/a.h")).unwrap(), "s");
        assert_eq!(load(&absolute, &main).unwrap(), "s");
        assert_eq!(load("sub", &main), Err(IncludeError::NotFound));
        #[cfg(unix)]
        {
            // A linked header and what lies beside the link.
            std::os::unix::fs::symlink(root.join("lib/c.h"), root.join("main/sub/linked.h")).unwrap();
            assert_eq!(load("link.h", &main).unwrap(), "s");
            let linked = free.load(&request("sub/linked.h", Some(&main))).unwrap();
            assert_eq!(load("a.h", linked.path.as_deref().unwrap()).unwrap(), "a");
        }
        fs::remove_dir_all(&root).unwrap();
    }

    #[test]
    fn strings_read_no_files() {
        let loader = FileLoader::new(None, &[], &[("h", "x")]);
        assert!(loader.load(&request("h", None)).is_ok());
        let error = loader.load(&request("/etc/hostname", None)).unwrap_err();
        assert!(matches!(error, IncludeError::Forbidden(_)));
    }
}
