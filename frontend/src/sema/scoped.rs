//! Names in scope.

use crate::symbol::{Symbol, SymbolMap};

/// What names mean in the scopes that are open; in inner scopes they may mean something else. Looking one up takes the same
/// time however many there are.
#[derive(Debug)]
pub(super) struct Scoped<T> {
    entries: Vec<Entry<T>>,
    /// The innermost entry of each name.
    innermost: SymbolMap<usize>,
}

#[derive(Debug)]
struct Entry<T> {
    name: Symbol,
    meaning: T,
    /// The entry of the same name that this one hides.
    hidden: Option<usize>,
}

impl<T> Default for Scoped<T> {
    fn default() -> Scoped<T> {
        Scoped { entries: Vec::new(), innermost: SymbolMap::default() }
    }
}

impl<T> Scoped<T> {
    /// How many names there are, hidden ones too.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a name to the innermost scope.
    pub fn push(&mut self, name: Symbol, meaning: T) {
        let hidden = self.innermost.insert(name, self.entries.len());
        self.entries.push(Entry { name, meaning, hidden });
    }

    /// Leaves scopes: only the first `len` names stay.
    pub fn truncate(&mut self, len: usize) {
        while self.entries.len() > len
            && let Some(Entry { name, hidden, .. }) = self.entries.pop()
        {
            match hidden {
                Some(outer) => self.innermost.insert(name, outer),
                None => self.innermost.remove(&name),
            };
        }
    }

    /// Leaves scopes as [`Scoped::truncate`] does, and gives the names that were in them, in the order of their declarations.
    pub fn split_off(&mut self, len: usize) -> Vec<(Symbol, T)>
    where
        T: Clone,
    {
        let left = self.entries[len..].iter().map(|entry| (entry.name, entry.meaning.clone())).collect();
        self.truncate(len);
        left
    }

    /// What a name means.
    pub fn get(&self, name: Symbol) -> Option<&T> {
        self.innermost.get(&name).map(|&at| &self.entries[at].meaning)
    }

    /// What a name means, if it is one of those after the first `start`.
    pub fn get_since(&self, name: Symbol, start: usize) -> Option<&T> {
        let &at = self.innermost.get(&name)?;
        (at >= start).then(|| &self.entries[at].meaning)
    }

    /// All names, the outermost first.
    pub fn names(&self) -> impl Iterator<Item = Symbol> + '_ {
        self.entries.iter().map(|entry| entry.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_names_hide_outer_ones() {
        let (x, y) = (Symbol::intern("x"), Symbol::intern("y"));
        let mut names = Scoped::default();
        names.push(x, 1);
        let inner = names.len();
        names.push(x, 2);
        names.push(y, 3);
        assert_eq!((names.get(x), names.get_since(x, inner), names.get(y)), (Some(&2), Some(&2), Some(&3)));
        assert!(names.names().eq([x, x, y]));
        assert_eq!(names.split_off(inner), [(x, 2), (y, 3)]);
        assert_eq!((names.get(x), names.get_since(x, inner), names.get(y)), (Some(&1), None, None));
    }
}
