//! Compilation databases (`compile_commands.json`): which files a project has, and the options each is compiled with.

use crate::cli::{Global, parse_define};
use crate::{Failure, files, words};
use serde_json::Value as Json;
use spmdvm::{Options, Width};
use std::path::{Path, PathBuf};

/// The SPMD programs of a database, each with the options of its entry.
///
/// Of an entry's command `-I`, `-D` and the gang width of `--target` (such as `avx2-i32x8`) are heeded; a width on our own
/// command line comes first. Entries for other languages are passed over, and of several for one file all but the first.
pub fn read(path: &Path, global: &Global, options: &Options) -> Result<Vec<(PathBuf, Options)>, Failure> {
    let malformed = |what: &str| Failure::Usage(format!("{}: {what}", path.display()));
    let text = files::text(path)?;
    let json: Json = serde_json::from_str(&text).map_err(|e| malformed(&format!("this is no JSON: {e}")))?;
    let Some(entries) = json.as_array() else {
        return Err(malformed("this is no list of entries with `directory`, `file` and `command` or `arguments`"));
    };
    let mut programs: Vec<(PathBuf, Options)> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let Some(file) = entry["file"].as_str() else {
            return Err(malformed(&format!("entry {index} has no `file`")));
        };
        let folder = path.parent().unwrap_or(Path::new("")).join(entry["directory"].as_str().unwrap_or(""));
        let file = folder.join(file);
        let is_program = file.extension().is_some_and(|extension| extension == "ispc" || extension == "spmd");
        if !is_program || programs.iter().any(|(known, _)| *known == file) {
            continue;
        }
        let of_entry = |what: String| malformed(&format!("entry {index} ({}): {what}", file.display()));
        let command = match (&entry["arguments"], &entry["command"]) {
            (Json::Array(list), _) => list.iter().filter_map(Json::as_str).map(str::to_owned).collect(),
            (_, Json::String(command)) => words::split(command).map_err(of_entry)?,
            _ => Vec::new(),
        };
        let own = own_options(&command, &folder, global, options).map_err(of_entry)?;
        programs.push((file, own));
    }
    match programs.is_empty() {
        true => Err(malformed("none of its entries is for an `.ispc` file")),
        false => Ok(programs),
    }
}

fn own_options(command: &[String], folder: &Path, global: &Global, options: &Options) -> Result<Options, String> {
    let mut own = options.clone();
    let mut rest = command.iter();
    while let Some(word) = rest.next() {
        if let Some(include) = word.strip_prefix("-I") {
            let include =
                if include.is_empty() { rest.next().ok_or("`-I` is not followed by a folder")? } else { include };
            own.include_paths.push(folder.join(include));
        } else if let Some(define) = word.strip_prefix("-D") {
            let define = if define.is_empty() { rest.next().ok_or("`-D` is not followed by a macro")? } else { define };
            own.defines.push(parse_define(define)?);
        } else if let Some(target) = word.strip_prefix("--target=")
            && !global.width_is_given
        {
            // Of several targets the first one's.
            let first = target.split(',').next().unwrap_or_default();
            let lanes = first.rsplit_once('x').and_then(|(_, lanes)| lanes.parse().ok());
            own.width = lanes.and_then(Width::new).unwrap_or(own.width);
        }
    }
    Ok(own)
}
