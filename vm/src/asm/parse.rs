//! The assembler: its cursor over tokens, errors, and names that are resolved at the end.

use super::lex::{Spanned, Token, tokenize};
use super::literal::{parse_int, unquote};
use crate::isa::{OPS, Op};
use crate::program::{FuncId, GlobalId, Item, Program, Span, Target};
use crate::types::{Ty, Width};
use std::collections::HashMap;
use std::fmt;

/// The assembler gives up after so many errors.
const MAX_ERRORS: usize = 100;

/// Something the assembler could not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AsmError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong, and what was expected.
    pub message: String,
}

impl fmt::Display for AsmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for AsmError {}

/// Reads the text form. Several errors are reported in one run, in the order of the text. What it gives is not verified.
pub fn assemble(text: &str) -> Result<Program, Vec<AsmError>> {
    let mut parser = Parser::new(text);
    while parser.peek() != Token::End && parser.errors.len() < MAX_ERRORS {
        if parser.accept(Token::Newline) {
            continue;
        }
        if parser.item().is_none() {
            parser.skip_line();
        }
    }
    parser.resolve();
    if parser.errors.is_empty() { Ok(parser.program) } else { Err(locate(text, parser.errors)) }
}

/// Turns byte offsets into lines and columns.
fn locate(text: &str, mut errors: Vec<(usize, String)>) -> Vec<AsmError> {
    errors.sort_by_key(|e| e.0);
    errors
        .into_iter()
        .map(|(at, message)| {
            let before = text.get(..at).unwrap_or(text);
            let line_start = before.rfind('\n').map_or(0, |i| i + 1);
            let line = before.matches('\n').count() + 1;
            AsmError { line, column: before[line_start..].chars().count() + 1, message }
        })
        .collect()
}

/// A function or global named before it may be known: resolved when all have been read.
pub(super) struct NameRef {
    pub name: String,
    pub at: usize,
    pub fixup: Fixup,
}

/// Where the index of a resolved name goes.
pub(super) enum Fixup {
    /// `aux` of an instruction, a function.
    Callee(usize, usize),
    /// `aux` of an instruction, a global.
    Global(usize, usize),
    /// A relocation of a global, to a global or a function.
    Relocation(usize, usize),
    FunctionRelocation(usize, usize),
    /// The function of an export.
    Export(usize),
    /// The function or global of a symbol, or of an import.
    Symbol(Link, usize),
}

/// What a list of symbols holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    pub is_import: bool,
    pub is_global: bool,
}

impl Link {
    /// The item with this number.
    pub fn item(self, index: u32) -> Item {
        if self.is_global { Item::Global(GlobalId(index)) } else { Item::Function(FuncId(index)) }
    }
}

pub(super) struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Spanned>,
    pos: usize,
    pub errors: Vec<(usize, String)>,
    pub program: Program,
    pub refs: Vec<NameRef>,
    pub ops: HashMap<&'static str, Op>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        Parser {
            text,
            tokens: tokenize(text),
            pos: 0,
            errors: Vec::new(),
            program: Program::default(),
            refs: Vec::new(),
            ops: OPS.iter().map(|row| (row.name, row.op)).collect(),
        }
    }

    fn item(&mut self) -> Option<()> {
        let word = self.here();
        match (self.peek(), word) {
            (Token::Directive, ".width") => self.width(),
            (Token::Directive, ".source") => self.source(),
            (Token::Directive, ".message") => self.message(),
            (Token::Directive, ".format") => self.format(),
            (Token::Directive, ".global") => self.global(),
            (Token::Directive, ".export") => self.export(),
            (Token::Directive, ".variable") => self.variable(),
            (Token::Directive, ".import") => self.import(),
            (Token::Directive, ".symbol") => self.defined_symbol(),
            (Token::Ident, "func") => self.function(),
            _ => self.expected("a directive or `func`"),
        }
    }

    fn width(&mut self) -> Option<()> {
        self.advance();
        let at = self.start();
        let lanes: u32 = self.number("the number of lanes")?;
        match Width::new(lanes) {
            Some(width) => self.program.width = width,
            None => self.error_at(at, "the width is 1, 2, 4, 8, 16, 32 or 64"),
        }
        self.end_of_line()
    }

    fn resolve(&mut self) {
        let first = |names: &mut dyn Iterator<Item = String>| {
            let mut map = HashMap::new();
            names.enumerate().for_each(|(i, n)| {
                map.entry(n).or_insert(i as u32);
            });
            map
        };
        let functions = first(&mut self.program.functions.iter().map(|f| f.name.clone()));
        let globals = first(&mut self.program.globals.iter().map(|g| g.name.clone()));
        for NameRef { name, at, fixup } in std::mem::take(&mut self.refs) {
            let (what, table) = match fixup {
                Fixup::Symbol(link, _) if link.is_global => ("global", &globals),
                Fixup::Callee(..) | Fixup::Export(_) | Fixup::FunctionRelocation(..) | Fixup::Symbol(..) => {
                    ("function", &functions)
                }
                Fixup::Global(..) | Fixup::Relocation(..) => ("global", &globals),
            };
            let Some(&index) = table.get(&name) else {
                self.errors.push((at, format!("there is no {what} `{name}`")));
                continue;
            };
            match fixup {
                Fixup::Callee(f, i) | Fixup::Global(f, i) => {
                    // The instruction is missing if an error was found further on in its line.
                    self.program.functions[f].code.iter_mut().skip(i).take(1).for_each(|inst| inst.aux = index);
                }
                Fixup::Relocation(g, r) => {
                    if let Target::Global(global, _) = &mut self.program.globals[g].relocations[r].1 {
                        *global = GlobalId(index);
                    }
                }
                Fixup::FunctionRelocation(g, r) => {
                    self.program.globals[g].relocations[r].1 = Target::Function(FuncId(index));
                }
                Fixup::Symbol(link, i) => {
                    let item = link.item(index);
                    match link.is_import {
                        true => self.program.imports[i].symbol.item = item,
                        false => self.program.symbols[i].item = item,
                    }
                }
                Fixup::Export(e) => self.program.exports[e].function = FuncId(index),
            }
        }
    }

    // The cursor.

    pub fn peek(&self) -> Token {
        self.tokens[self.pos].token
    }

    /// The byte at which the current token starts.
    pub fn start(&self) -> usize {
        self.tokens[self.pos].start
    }

    /// The text of the current token.
    pub fn here(&self) -> &'a str {
        let t = self.tokens[self.pos];
        &self.text[t.start..t.end]
    }

    /// The token after the current one.
    pub fn peek_second(&self) -> Token {
        self.tokens.get(self.pos + 1).map_or(Token::End, |t| t.token)
    }

    /// Goes on by one token, never past the end, and gives the text passed.
    pub fn advance(&mut self) -> &'a str {
        let text = self.here();
        self.pos = (self.pos + 1).min(self.tokens.len() - 1);
        text
    }

    pub fn accept(&mut self, token: Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.advance();
        }
        found
    }

    pub fn accept_word(&mut self, word: &str) -> bool {
        let found = self.peek() == Token::Ident && self.here() == word;
        if found {
            self.advance();
        }
        found
    }

    pub fn skip_line(&mut self) {
        while !matches!(self.peek(), Token::Newline | Token::End) {
            self.advance();
        }
    }

    pub fn skip_newlines(&mut self) {
        while self.accept(Token::Newline) {}
    }

    // Errors. Those that give `Option` give `None`.

    pub fn error_at(&mut self, at: usize, message: impl Into<String>) {
        self.errors.push((at, message.into()));
    }

    pub fn expected<T>(&mut self, what: &str) -> Option<T> {
        let found = match self.peek() {
            t @ (Token::Newline | Token::End) => t.to_string(),
            _ => {
                let text: String = self.here().chars().take(40).collect();
                format!("`{text}`")
            }
        };
        self.error_at(self.start(), format!("expected {what}, found {found}"));
        None
    }

    pub fn too_many_errors(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    // Small pieces of the grammar.

    pub fn expect(&mut self, token: Token) -> Option<()> {
        if self.accept(token) { Some(()) } else { self.expected(&token.to_string()) }
    }

    pub fn end_of_line(&mut self) -> Option<()> {
        match self.peek() {
            Token::End => Some(()),
            _ => self.expect(Token::Newline),
        }
    }

    /// An integer that fits the type asked for.
    pub fn number<T: TryFrom<i128>>(&mut self, what: &str) -> Option<T> {
        if self.peek() != Token::Number {
            return self.expected(what);
        }
        let at = self.start();
        let text = self.advance();
        let value = parse_int(text).and_then(|n| T::try_from(n).ok());
        if value.is_none() {
            self.error_at(at, format!("`{text}` is out of range for {what}"));
        }
        value
    }

    pub fn string(&mut self) -> Option<String> {
        if self.peek() != Token::Str {
            return self.expected("a string");
        }
        let at = self.start();
        match unquote(self.advance()) {
            Ok(text) => Some(text),
            Err(message) => {
                self.error_at(at, message);
                None
            }
        }
    }

    /// A name, bare or quoted.
    pub fn name(&mut self, what: &str) -> Option<String> {
        match self.peek() {
            Token::Ident => Some(self.advance().into()),
            Token::Str => self.string(),
            _ => self.expected(what),
        }
    }

    pub fn ty(&mut self) -> Option<Ty> {
        match Ty::from_name(self.here()) {
            Some(ty) if self.peek() == Token::Ident => {
                self.advance();
                Some(ty)
            }
            _ => self.expected("an element type"),
        }
    }

    /// The index that a table's next row states.
    pub fn row_number(&mut self, rows: usize) -> Option<()> {
        let at = self.start();
        let n: usize = self.number("the row's number")?;
        if n != rows {
            self.error_at(at, format!("rows are numbered in order: this is {rows}"));
        }
        Some(())
    }

    /// A function or global: its number, or its name to be resolved at the end (then 0 for now).
    pub fn reference(&mut self, what: &str, fixup: Fixup) -> Option<u32> {
        if self.accept(Token::Hash) {
            return self.number("a number");
        }
        let at = self.start();
        let name = self.name(what)?;
        self.refs.push(NameRef { name, at, fixup });
        Some(0)
    }

    /// Nothing, `+ n` or `- n`.
    pub fn displacement(&mut self) -> Option<i64> {
        let negative = match self.peek() {
            Token::Plus => false,
            Token::Minus => true,
            _ => return Some(0),
        };
        self.advance();
        let at = self.start();
        let n: i128 = self.number("a displacement")?;
        let value = i64::try_from(if negative { -n } else { n }).ok();
        if value.is_none() {
            self.error_at(at, "the displacement is out of range");
        }
        value
    }

    /// Items separated by commas up to a closing token, which is passed.
    pub fn separated(&mut self, close: Token, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        if self.accept(close) {
            return Some(());
        }
        loop {
            item(self)?;
            if self.accept(close) {
                return Some(());
            }
            if !self.accept(Token::Comma) {
                return self.expected(&format!("`,` or {close}"));
            }
        }
    }

    /// A span, if one stands here.
    pub fn span(&mut self) -> Option<Span> {
        if self.peek() != Token::Span {
            return Some(Span::default());
        }
        let at = self.start();
        let numbers = self.advance()[1..].split([':', '-']).map(|n| n.parse::<u32>().ok());
        match numbers.collect::<Option<Vec<u32>>>().as_deref() {
            Some(&[file, lo, hi]) => Some(Span { file, lo, hi }),
            _ => {
                self.error_at(at, "a number of this span is out of range");
                None
            }
        }
    }
}
