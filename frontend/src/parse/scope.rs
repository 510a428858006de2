//! What names mean, as far as parsing depends on it.

use crate::symbol::{Symbol, SymbolMap};

/// What a name denotes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NameKind {
    /// A variable, function or enumerator.
    Value,
    /// A type.
    Type,
    /// A function template, perhaps also functions.
    Template,
}

/// The names visible at the place being parsed.
pub(super) struct Scopes {
    names: SymbolMap<NameKind>,
    /// What to restore when scopes end.
    hidden: Vec<(Symbol, Option<NameKind>)>,
    /// The length of `hidden` when each open scope began.
    marks: Vec<usize>,
}

impl Scopes {
    pub(super) fn new(types: &[Symbol], templates: &[Symbol]) -> Scopes {
        let types = types.iter().map(|&name| (name, NameKind::Type));
        let templates = templates.iter().map(|&name| (name, NameKind::Template));
        Scopes { names: types.chain(templates).collect(), hidden: Vec::new(), marks: Vec::new() }
    }

    pub(super) fn get(&self, name: Symbol) -> Option<NameKind> {
        self.names.get(&name).copied()
    }

    pub(super) fn declare(&mut self, name: Symbol, kind: NameKind) {
        let old = self.names.insert(name, kind);
        if old == Some(NameKind::Template) && kind == NameKind::Value && self.marks.is_empty() {
            // An ordinary overload of a function template.
            self.names.insert(name, NameKind::Template);
        } else if !self.marks.is_empty() {
            self.hidden.push((name, old));
        }
    }

    /// Declares a name at the outermost level, while inner scopes are open.
    pub(super) fn declare_outermost(&mut self, name: Symbol, kind: NameKind) {
        self.names.insert(name, kind);
    }

    pub(super) fn open(&mut self) {
        self.marks.push(self.hidden.len());
    }

    pub(super) fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        for (name, old) in self.hidden.drain(mark..).rev() {
            match old {
                Some(kind) => self.names.insert(name, kind),
                None => self.names.remove(&name),
            };
        }
    }

    /// All names of a kind, in the order of interning.
    pub(super) fn all(&self, kind: NameKind) -> Vec<Symbol> {
        let of_kind = self.names.iter().filter(|&(_, &other)| other == kind);
        let mut names: Vec<Symbol> = of_kind.map(|(&name, _)| name).collect();
        names.sort_unstable();
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_restore_what_they_hid() {
        let name = Symbol::intern("n");
        let mut scopes = Scopes::new(&[name], &[]);
        scopes.open();
        scopes.declare(name, NameKind::Value);
        scopes.open();
        scopes.declare(name, NameKind::Type);
        scopes.declare(name, NameKind::Value);
        scopes.close();
        assert_eq!(scopes.get(name), Some(NameKind::Value));
        scopes.close();
        assert_eq!(scopes.get(name), Some(NameKind::Type));
    }
}
