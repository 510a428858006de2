//! What kind of thing was typed.

use spmdvm::frontend::ast::{ExprKind, ItemKind, TranslationUnit, Variable};
use spmdvm::frontend::bumpalo::Bump;
use spmdvm::frontend::diag::Diagnostics;
use spmdvm::frontend::parse_text;
use spmdvm::frontend::source::SourceMap;
use std::ops::Range;

/// Something typed, sorted.
#[derive(Debug, PartialEq, Eq)]
pub enum Input {
    /// Nothing but blanks and comments.
    Nothing,
    /// Functions, types, constants, macros: kept for all later inputs. The names it defines.
    Definition(Vec<String>),
    /// Variables, which live on as globals.
    Variables {
        /// The declaration without the initialisers that are assigned afterwards.
        declaration: String,
        /// The names.
        names: Vec<String>,
        /// Variables with the place of their initialiser in the text.
        initialisers: Vec<(String, Range<usize>)>,
    },
    /// Statements, run once.
    Statements,
    /// An expression, whose value is shown.
    Expression,
}

/// Sorts a text; `before` are the definitions so far, which say which names are types.
pub fn classify(before: &str, text: &str) -> Input {
    let trimmed = text.trim_end();
    if trimmed.trim().is_empty() {
        return Input::Nothing;
    }
    if trimmed.trim_start().starts_with('#') {
        return Input::Definition(Vec::new());
    }
    as_items(before, text).unwrap_or_else(|| match trimmed.ends_with([';', '}']) {
        true => Input::Statements,
        false => Input::Expression,
    })
}

/// The text as top-level items, if it is such.
fn as_items(before: &str, text: &str) -> Option<Input> {
    let arena = Bump::new();
    let whole = format!("{before}\n{text}\n");
    let start = before.len() + 1;
    let mut sources = SourceMap::new();
    let mut diagnostics = Diagnostics::new();
    let unit = parse_text("<input>", &whole, &mut sources, &arena, &mut diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    sort_items(unit, text, start)
}

fn sort_items(unit: &TranslationUnit<'_>, text: &str, start: usize) -> Option<Input> {
    let mut names = Vec::new();
    let mut variables: Vec<Variable<'_>> = Vec::new();
    let mut definitions = false;
    for item in unit.items.iter().filter(|item| item.span.lo as usize >= start) {
        match &item.kind {
            ItemKind::Variables(group) => variables.extend_from_slice(group),
            other => {
                definitions = true;
                names.extend(item_name(other));
            }
        }
    }
    match (definitions, variables.is_empty()) {
        (false, true) => None,
        (true, _) => Some(Input::Definition(names)),
        (false, false) if variables.iter().any(|v| v.ty.quals.is_const) => {
            Some(Input::Definition(variables.iter().map(|v| v.name.name.to_string()).collect()))
        }
        (false, false) => Some(split_variables(&variables, text, start)),
    }
}

/// Takes apart `float x = a, y[2] = {1, 2};`: what must be assigned is cut out of the declaration.
fn split_variables(variables: &[Variable<'_>], text: &str, start: usize) -> Input {
    let mut declaration = text.to_owned();
    let mut initialisers = Vec::new();
    for variable in variables.iter().rev() {
        let Some(init) = variable.init.filter(|init| !matches!(init.kind, ExprKind::Aggregate(_))) else { continue };
        let range = (init.span.lo as usize - start)..(init.span.hi as usize - start);
        if let Some(equals) = text[..range.start].rfind('=') {
            // A parenthesised initialiser's span may leave out the parentheses: cut to the comma or semicolon.
            let end = end_of_initialiser(text, range.end);
            declaration.replace_range(equals..end, "");
            initialisers.push((variable.name.name.to_string(), equals + 1..end));
        }
    }
    initialisers.reverse();
    let names = variables.iter().map(|v| v.name.name.to_string()).collect();
    Input::Variables { declaration, names, initialisers }
}

fn end_of_initialiser(text: &str, from: usize) -> usize {
    text[from..].find([',', ';']).map_or(text.len(), |i| from + i)
}

fn item_name(item: &ItemKind<'_>) -> Option<String> {
    match item {
        ItemKind::Function(f) => Some(f.name.name.to_string()),
        ItemKind::Struct(s) => Some(s.name.name.to_string()),
        ItemKind::Template(t) => Some(t.function.name.name.to_string()),
        _ => None,
    }
}

/// Does a text end in the middle of something: an open bracket, comment or string, or a backslash?
pub fn is_incomplete(text: &str) -> bool {
    let mut depth = 0i64;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '"' => loop {
                match chars.next() {
                    Some('\\') => drop(chars.next()),
                    Some('"') => break,
                    Some('\n') | None => break,
                    Some(_) => {}
                }
            },
            '/' if chars.peek() == Some(&'/') => while chars.next_if(|&c| c != '\n').is_some() {},
            '/' if chars.peek() == Some(&'*') => {
                let mut last = ' ';
                loop {
                    match chars.next() {
                        Some('/') if last == '*' => break,
                        Some(c) => last = c,
                        None => return true,
                    }
                }
            }
            _ => {}
        }
    }
    depth > 0 || text.trim_end().ends_with('\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        assert_eq!(classify("", "  "), Input::Nothing);
        assert_eq!(classify("", "1 + 2"), Input::Expression);
        assert_eq!(classify("", "x = 3;"), Input::Statements);
        assert_eq!(classify("", "for (;;) { }"), Input::Statements);
        assert_eq!(classify("", "float f(float x) { return x; }"), Input::Definition(vec!["f".into()]));
        assert_eq!(classify("", "struct S { float x; };"), Input::Definition(vec!["S".into()]));
    }

    #[test]
    fn variables_lose_their_initialisers() {
        let Input::Variables { declaration, names, initialisers } = classify("", "float x = (1 + 2), y;") else {
            panic!("variables")
        };
        assert_eq!(declaration, "float x , y;");
        assert_eq!(names, ["x", "y"]);
        assert_eq!(initialisers, [("x".to_owned(), 9..17)]);
    }

    #[test]
    fn types_defined_before_are_known() {
        let typed = classify("struct S { float x; };", "S s;");
        assert!(matches!(typed, Input::Variables { .. }), "{typed:?}");
    }

    #[test]
    fn open_brackets_ask_for_more() {
        assert!(is_incomplete("void f() {"));
        assert!(is_incomplete("f(1,"));
        assert!(is_incomplete("/* a"));
        assert!(!is_incomplete("x // ("));
        assert!(!is_incomplete("print(\"(\");"));
        assert!(!is_incomplete(")"));
    }
}
