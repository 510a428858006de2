//! Words of command lines that stand in files: `@FILE` among the arguments, and the commands of compilation databases.

use crate::{Failure, files};
use std::path::Path;

/// How deep files of arguments may name one another.
const MAX_DEPTH: u32 = 10;

/// The subcommands that take `@FILE`. (To `run`, it is an array in a file.)
const TAKES_FILES: [&str; 2] = ["check", "header"];

/// The words of a text, as a shell separates them: at blanks and line ends, which quotes and backslashes hide. Fails if a quote
/// is not closed.
pub fn split(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            (c, Some(end)) if c == end => quote = None,
            ('\\', None | Some('"')) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    match quote {
        Some(quote) => Err(format!("a quote ({quote}) is not closed")),
        None => {
            words.extend(word);
            Ok(words)
        }
    }
}

/// Arguments with the words of the file in place of each `@FILE`, if they are of a subcommand that takes these.
pub fn with_files(args: Vec<String>) -> Result<Vec<String>, Failure> {
    match args.iter().any(|arg| TAKES_FILES.contains(&arg.as_str())) {
        true => expand(args, 0),
        false => Ok(args),
    }
}

fn expand(args: Vec<String>, depth: u32) -> Result<Vec<String>, Failure> {
    let mut expanded = Vec::with_capacity(args.len());
    for arg in args {
        match arg.strip_prefix('@') {
            Some(_) if depth == MAX_DEPTH => {
                let message = format!("{arg}: files of arguments name one another more than {MAX_DEPTH} deep");
                return Err(Failure::Usage(message));
            }
            Some(path) => {
                let words = split(&files::text(Path::new(path))?);
                let words = words.map_err(|why| Failure::Usage(format!("{arg}: {why}")))?;
                expanded.extend(expand(words, depth + 1)?);
            }
            None => expanded.push(arg),
        }
    }
    Ok(expanded)
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_of_a_shell() {
        assert_eq!(
            split(" a  b\n-DX=\"1 2\" 'c d'e \\\" \"\" \"\\\"\" ").unwrap(),
            ["a", "b", "-DX=1 2", "c de", "\"", "", "\""]
        );
        assert!(split(" \n").unwrap().is_empty());
        assert_eq!(split("a 'open"), Err("a quote (') is not closed".into()));
    }
}
