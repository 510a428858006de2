//! What names mean, as far as parsing depends on it.

use crate::symbol::Symbol;

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

/// What the table holds for a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entry {
    Unknown,
    /// Not declared, but a word with a meaning of its own in some places.
    Special,
    Declared(NameKind),
}

/// Words that mean something in certain places, unless they are declared as something else.
const SPECIAL_WORDS: [&str; 28] = [
    "__alloca",
    "__assert",
    "__restrict__",
    "alloca",
    "assert",
    "assume",
    "auto",
    "char",
    "class",
    "constexpr",
    "crev",
    "everywhere",
    "floating",
    "half",
    "import",
    "in",
    "integer",
    "long",
    "mutable",
    "namespace",
    "number",
    "register",
    "restrict",
    "short",
    "static_assert",
    "union",
    "using",
    "volatile",
];

/// The names visible at the place being parsed. Looking one up must be quick: it happens for every word.
pub(super) struct Scopes {
    /// By the number of the symbol.
    entries: Vec<Entry>,
    /// What to restore when scopes end.
    hidden: Vec<(Symbol, Entry)>,
    /// The length of `hidden` when each open scope began.
    marks: Vec<usize>,
    /// What was declared at the outermost level, perhaps several times.
    outermost: Vec<Symbol>,
}

impl Scopes {
    pub(super) fn new(types: &[Symbol], templates: &[Symbol]) -> Scopes {
        let mut scopes = Scopes { entries: Vec::new(), hidden: Vec::new(), marks: Vec::new(), outermost: Vec::new() };
        for word in SPECIAL_WORDS {
            scopes.set(Symbol::intern(word), Entry::Special);
        }
        for &name in types {
            scopes.declare(name, NameKind::Type);
        }
        for &name in templates {
            scopes.declare(name, NameKind::Template);
        }
        scopes
    }

    fn entry(&self, name: Symbol) -> Entry {
        self.entries.get(name.index() as usize).copied().unwrap_or(Entry::Unknown)
    }

    /// Sets an entry; the one before.
    fn set(&mut self, name: Symbol, entry: Entry) -> Entry {
        let index = name.index() as usize;
        if index >= self.entries.len() {
            self.entries.resize((index + 1).next_power_of_two(), Entry::Unknown);
        }
        std::mem::replace(&mut self.entries[index], entry)
    }

    pub(super) fn get(&self, name: Symbol) -> Option<NameKind> {
        match self.entry(name) {
            Entry::Declared(kind) => Some(kind),
            Entry::Unknown | Entry::Special => None,
        }
    }

    /// The spelling of a special word that is not declared as something else.
    pub(super) fn special(&self, name: Symbol) -> Option<&'static str> {
        (self.entry(name) == Entry::Special).then(|| name.as_str())
    }

    pub(super) fn declare(&mut self, name: Symbol, kind: NameKind) {
        let old = self.set(name, Entry::Declared(kind));
        if !self.marks.is_empty() {
            self.hidden.push((name, old));
            return;
        }
        self.outermost.push(name);
        if old == Entry::Declared(NameKind::Template) && kind == NameKind::Value {
            // An ordinary overload of a function template.
            self.set(name, old);
        }
    }

    /// Declares a name at the outermost level, while inner scopes are open.
    pub(super) fn declare_outermost(&mut self, name: Symbol, kind: NameKind) {
        self.set(name, Entry::Declared(kind));
        self.outermost.push(name);
    }

    pub(super) fn open(&mut self) {
        self.marks.push(self.hidden.len());
    }

    pub(super) fn close(&mut self) {
        let mark = self.marks.pop().unwrap_or(0);
        while self.hidden.len() > mark {
            if let Some((name, old)) = self.hidden.pop() {
                self.set(name, old);
            }
        }
    }

    /// All names of a kind, in the order of interning.
    pub(super) fn all(&self, kind: NameKind) -> Vec<Symbol> {
        let inner = self.hidden.iter().map(|&(name, _)| name);
        let names = self.outermost.iter().copied().chain(inner);
        let mut names: Vec<Symbol> = names.filter(|&name| self.get(name) == Some(kind)).collect();
        names.sort_unstable();
        names.dedup();
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
        assert_eq!(scopes.all(NameKind::Type), [name]);
    }

    #[test]
    fn special_words_can_be_declared() {
        let name = Symbol::intern("number");
        let mut scopes = Scopes::new(&[], &[]);
        assert_eq!(scopes.special(name), Some("number"));
        scopes.open();
        scopes.declare(name, NameKind::Value);
        assert_eq!(scopes.special(name), None);
        scopes.close();
        assert_eq!(scopes.special(name), Some("number"));
        assert_eq!(scopes.get(name), None);
    }
}
