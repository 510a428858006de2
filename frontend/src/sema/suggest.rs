//! "Did you mean …?"

use super::table::Checker;
use crate::prelude;
use crate::symbol::Symbol;

impl Checker<'_, '_> {
    /// The name of a value in sight most like `name`, if one is like it.
    pub(super) fn nearest_value(&self, name: Symbol) -> Option<Symbol> {
        let locals = self.body.names.names();
        let own = self.table.names.keys().copied();
        let library = self.base.iter().flat_map(|_| prelude::names_of_values());
        let builtins = ["programIndex", "programCount", "taskIndex", "taskCount", "threadIndex", "threadCount"];
        nearest(name, locals.chain(own).chain(library).chain(builtins.map(Symbol::intern)))
    }

    /// The type name in sight most like `name`.
    pub(super) fn nearest_type(&self, name: Symbol) -> Option<Symbol> {
        let locals = self.body.types.names();
        let own = self.table.type_names.keys().copied();
        let library = self.base.iter().flat_map(|_| prelude::type_and_template_names()[0].iter().copied());
        nearest(name, locals.chain(own).chain(library))
    }
}

/// The candidate with the least edit distance, if that is small for the name's length. Names that begin with `__` are
/// the library's own matter and never suggested. Ties go to the alphabet, so that messages do not vary.
pub(super) fn nearest(name: Symbol, candidates: impl Iterator<Item = Symbol>) -> Option<Symbol> {
    let text = name.as_str();
    let limit = (text.chars().count() / 3).min(3);
    candidates
        .map(Symbol::as_str)
        .filter(|candidate| !candidate.starts_with("__") && *candidate != text)
        .filter_map(|candidate| Some((distance(text, candidate, limit)?, candidate)))
        .min()
        .map(|(_, candidate)| Symbol::intern(candidate))
}

/// The edit distance (a swap of neighbours is one edit), if at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    if a.eq_ignore_ascii_case(b) {
        return Some(0);
    }
    if limit == 0 {
        return None;
    }
    if a.len().abs_diff(b.len()) > limit || a.len() > 64 || b.len() > 64 {
        return None;
    }
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substitution.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    Some(above[b.len()]).filter(|&edits| edits <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_nearest() {
        let names = ["reduce_add", "reduce_and", "width", "height"].map(Symbol::intern);
        let near = |name: &str| nearest(Symbol::intern(name), names.into_iter()).map(Symbol::as_str);
        assert_eq!(near("widht"), Some("width"));
        assert_eq!(near("reduce_ad"), Some("reduce_add"));
        assert_eq!(near("Height"), Some("height"));
        assert_eq!(near("depth"), None);
    }
}
