//! Definitions that were typed, and the program that is made of those that an input needs.
//!
//! A unit is a piece of text that defines something: a function, types, a constant, a preprocessor directive. Each is a
//! header of its own, with the text around it blanked out, so that messages name it and have its lines. Of all that was
//! defined a program includes what the input mentions, directly or not: so an answer takes as long after a thousand
//! definitions as after one.

use super::variables::Variables;
use spmdvm::tools::FileId;
use spmdvm::tools::{Lexer, Texts, TokenKind, WordCache};
use spmdvm::{Part, PartKind};
use std::collections::HashSet;
use std::ops::Range;

/// What a unit defines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitKind {
    /// A line that begins with `#`.
    Directive,
    /// Types, or constants.
    Type,
    /// A function or template.
    Function,
}

/// A piece of text that defines something.
#[derive(Clone, Debug)]
pub struct Unit {
    /// What it defines.
    pub kind: UnitKind,
    /// Names that it defines.
    pub names: Vec<String>,
    /// The parameters of a function, without their names.
    pub parameters: String,
    /// The text, blank up to where it begins.
    pub text: String,
    /// The name of its header.
    pub label: String,
    words: HashSet<String>,
}

impl Unit {
    /// A unit with this text.
    pub fn new(kind: UnitKind, names: Vec<String>, parameters: String, text: String) -> Unit {
        let words = words(&text);
        Unit { kind, names, parameters, text, label: String::new(), words }
    }

    /// Its text as it was typed.
    pub fn source(&self) -> &str {
        self.text.trim()
    }

    /// Returns whether it is a function or template.
    pub fn is_function(&self) -> bool {
        self.kind == UnitKind::Function
    }

    /// Returns whether a new unit takes the place of this one.
    fn is_replaced_by(&self, new: &Unit) -> bool {
        let shares_name = self.names.iter().any(|name| new.names.contains(name));
        match (self.kind, new.kind) {
            (UnitKind::Function, UnitKind::Function) => shares_name && self.parameters == new.parameters,
            (UnitKind::Directive, UnitKind::Directive) => shares_name || self.source() == new.source(),
            (UnitKind::Directive, _) | (_, UnitKind::Directive) => false,
            _ => shares_name,
        }
    }
}

/// All that was defined.
#[derive(Clone, Debug, Default)]
pub struct Units {
    units: Vec<Unit>,
}

/// A program and the headers that it includes.
#[derive(Debug, Default)]
pub struct Composition {
    /// The text.
    pub text: String,
    /// Name and text of its headers.
    pub headers: Vec<(String, String)>,
    /// The variables that it declares.
    pub variables: Vec<String>,
    /// Whether there are functions in it.
    pub has_functions: bool,
    late: String,
    /// Names of units that were taken in.
    names: HashSet<String>,
    taken: HashSet<String>,
}

impl Units {
    /// Adds a unit in place of those that it replaces.
    pub fn add(&mut self, mut unit: Unit, origin: &str) {
        self.units.retain(|old| !old.is_replaced_by(&unit));
        let name = unit.names.first().map_or("directive", String::as_str);
        let plain = if origin.is_empty() { format!("<{name}>") } else { origin.replace('"', "'") };
        let mut label = plain.clone();
        let mut number = 1;
        while self.units.iter().any(|other| other.label == label) {
            number += 1;
            label = format!("{plain}#{number}");
        }
        unit.label = label;
        self.units.push(unit);
    }

    /// Forgets what defines a name: a variable of that name has come.
    pub fn remove(&mut self, name: &str) {
        self.units.retain(|unit| unit.kind == UnitKind::Directive || !unit.names.iter().any(|n| n == name));
    }

    /// Forgets the function of a name with these parameters, and types and constants of that name.
    pub fn remove_overload(&mut self, name: &str, parameters: &str) {
        let is_it = |unit: &Unit| match unit.kind {
            UnitKind::Directive => false,
            UnitKind::Type => true,
            UnitKind::Function => unit.parameters == parameters,
        };
        self.units.retain(|unit| !(unit.names.iter().any(|n| n == name) && is_it(unit)));
    }

    /// Forgets all functions of the name of a function that was typed.
    pub fn remove_functions(&mut self, part: &Part) {
        if let PartKind::Function(name, _) = &part.kind {
            self.units.retain(|unit| unit.kind != UnitKind::Function || !unit.names.contains(name));
        }
    }

    /// Forgets the directives about these macros.
    pub fn remove_directive(&mut self, names: &[String]) {
        self.units.retain(|unit| unit.kind != UnitKind::Directive || !unit.names.iter().any(|n| names.contains(n)));
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Unit> {
        self.units.iter()
    }

    /// The units that define a name.
    pub fn of_name<'u>(&'u self, name: &'u str) -> impl Iterator<Item = &'u Unit> {
        self.units.iter().filter(move |unit| unit.names.iter().any(|n| n == name))
    }

    /// The program that has all that these words mention.
    pub fn compose(&self, variables: &Variables, mentioned: &HashSet<String>) -> Composition {
        let mut made = Composition::default();
        let directives = self.units.iter().filter(|unit| unit.kind == UnitKind::Directive);
        let mut words: Vec<&str> = mentioned.iter().map(String::as_str).collect();
        for directive in directives {
            made.include(directive);
            words.extend(directive.words.iter().map(String::as_str));
        }
        words.sort_unstable();
        let mut functions = Vec::new();
        words.iter().for_each(|word| self.take(word, variables, &mut made, &mut functions));
        made.has_functions = !functions.is_empty();
        // Where they stand among one another makes no difference.
        functions.sort_unstable();
        functions.into_iter().for_each(|index| made.include(&self.units[index]));
        made.text += &std::mem::take(&mut made.late);
        made
    }

    /// The program that has everything.
    pub fn compose_all(&self, variables: &Variables) -> Composition {
        let mut all: HashSet<String> = self.units.iter().flat_map(|unit| unit.names.iter().cloned()).collect();
        all.extend(variables.names().map(str::to_owned));
        self.compose(variables, &all)
    }

    /// Takes in what a word means, behind all that this needs.
    fn take(&self, word: &str, variables: &Variables, made: &mut Composition, functions: &mut Vec<usize>) {
        if !made.names.insert(word.to_owned()) {
            return;
        }
        if let Some(variable) = variables.get(word) {
            variable.words().for_each(|word| self.take(word, variables, made, functions));
            // What points to functions stands behind them.
            let place = if variable.points_to_function() { &mut made.late } else { &mut made.text };
            *place += &format!("{};\n", variable.declared());
            made.variables.push(word.to_owned());
        }
        for (index, unit) in self.units.iter().enumerate() {
            if unit.kind == UnitKind::Directive || !unit.names.iter().any(|name| name == word) {
                continue;
            }
            if unit.kind == UnitKind::Function {
                functions.push(index);
            }
            let mut words: Vec<&String> = unit.words.iter().collect();
            words.sort_unstable();
            words.into_iter().for_each(|word| self.take(word, variables, made, functions));
            if unit.kind == UnitKind::Type {
                made.include(unit);
            }
        }
    }
}

impl Composition {
    fn include(&mut self, unit: &Unit) {
        if self.taken.insert(unit.label.clone()) {
            self.text += &format!("#include \"{}\"\n", unit.label);
            self.headers.push((unit.label.clone(), format!("{}\n", unit.text)));
        }
    }

    /// Includes what was typed, at the end.
    pub fn include_prompt(&mut self, label: &str, text: &str) {
        self.text += &format!("#include \"{label}\"\n");
        self.headers.push((label.to_owned(), format!("{text}\n")));
    }
}

/// The tokens of a text, each with its place.
pub fn tokens(text: &str) -> Vec<(TokenKind, Range<usize>)> {
    let (mut texts, mut cache) = (Texts::default(), WordCache::default());
    let mut lexer = Lexer::new(FileId::default(), text);
    std::iter::from_fn(|| {
        let token = lexer.next(&mut texts, &mut cache);
        (token.kind != TokenKind::Eof).then(|| (token.kind, token.span.range()))
    })
    .collect()
}

/// The names that occur in a text.
pub fn words(text: &str) -> HashSet<String> {
    let names = tokens(text).into_iter().filter(|(kind, _)| *kind == TokenKind::Word);
    names.filter_map(|(_, range)| text.get(range).map(str::to_owned)).collect()
}

/// Returns whether a text has anything in it that runs more than once.
pub fn has_loops(text: &str) -> bool {
    use TokenKind::{
        CDo, CFor, CWhile, Do, For, Foreach, ForeachActive, ForeachTiled, ForeachUnique, Goto, Launch, While,
    };
    let is_loop = |kind| {
        matches!(
            kind,
            CDo | CFor
                | CWhile
                | Do
                | For
                | Foreach
                | ForeachActive
                | ForeachTiled
                | ForeachUnique
                | Goto
                | Launch
                | While
        )
    };
    tokens(text).into_iter().any(|(kind, _)| is_loop(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(text: &str, name: &str) -> Unit {
        Unit::new(UnitKind::Function, vec![name.into()], String::new(), text.into())
    }

    #[test]
    fn a_program_has_what_is_mentioned() {
        let mut units = Units::default();
        units.add(function("int f() { return g(); }", "f"), "");
        units.add(function("int g() { return 1; }", "g"), "");
        units.add(function("int h() { return 2; }", "h"), "");
        let made = units.compose(&Variables::default(), &words("f() + 1"));
        assert_eq!(made.text, "#include \"<f>\"\n#include \"<g>\"\n");
        assert!(units.compose(&Variables::default(), &words("1")).text.is_empty());
    }

    #[test]
    fn what_is_defined_again_takes_the_place() {
        let mut units = Units::default();
        units.add(function("int f() { return 1; }", "f"), "");
        units.add(function("int f() { return 2; }", "f"), "");
        assert_eq!(units.iter().map(Unit::source).collect::<Vec<_>>(), ["int f() { return 2; }"]);
    }

    #[test]
    fn words_of_comments_and_strings_do_not_count() {
        assert_eq!(words("a /* b */ \"c\" // d"), HashSet::from(["a".to_owned()]));
    }
}
