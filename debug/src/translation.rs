//! Where a program's text comes from, if a translator wrote it: with that, runs are seen as runs of what it was written from.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the first source of a program was made from. Whatever is not named here was added by the translator, and is hidden.
#[derive(Clone, Debug, Default)]
pub struct Translation {
    /// The files: their names and texts.
    pub files: Vec<(String, String)>,
    /// By line of the first source: the index of a file, and the line in it, from 1.
    pub lines: Vec<Option<(u32, u32)>>,
    /// The functions there, by their names in the program.
    pub functions: HashMap<String, String>,
    /// The variables there, by their names in the program.
    pub variables: HashMap<String, String>,
    /// The lines of the first source that only declare: variables have no values by them.
    pub declarations: HashSet<u32>,
}

impl Translation {
    /// A variable's name, with the members behind it; `None`: hidden.
    pub fn variable(&self, name: &str) -> Option<Arc<str>> {
        let end = name.find(['.', '[']).unwrap_or(name.len());
        let (stem, members) = name.split_at(end);
        Some(format!("{}{members}", self.variables.get(stem)?).into())
    }
}
