//! Macros: what they are, and how their uses are expanded.

use std::rc::Rc;

use super::{MAX_ARGUMENT_DEPTH, Preprocessor};
use crate::diag::{Code, Diagnostic};
use crate::lex::{FIRST_ON_LINE, FROM_MACRO, Lexer, NO_EXPAND, SPACE_BEFORE, Token, TokenKind};
use crate::source::Span;
use crate::symbol::{Symbol, SymbolMap};

/// A macro.
#[derive(Debug, PartialEq)]
pub(super) enum Macro {
    /// Its value is computed.
    Builtin(Builtin),
    /// `#define NAME body`
    Object(Object),
    /// `#define NAME(params) body`
    Function(Function),
}

/// A macro without parameters.
#[derive(Debug)]
pub(super) struct Object {
    pub(super) defined_at: Span,
    pub(super) body: Vec<Piece>,
}

/// A macro with parameters.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) defined_at: Span,
    pub(super) params: usize,
    /// Whether the last parameter takes all remaining arguments.
    pub(super) variadic: bool,
    pub(super) body: Vec<Piece>,
}

/// A part of a macro's body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) token: Token,
    pub(super) kind: PieceKind,
    /// Whether `##` joins it to the piece before it.
    pub(super) pasted: bool,
}

/// What a part of a macro's body stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PieceKind {
    /// Itself.
    Token,
    /// The argument of this number.
    Param(usize),
    /// `#parameter`: the argument's text as a string.
    Stringified(usize),
}

/// Macros whose value is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    File,
    Line,
    Date,
    Time,
    Counter,
}

impl Builtin {
    const NAMES: [(&'static str, Builtin); 5] = [
        ("__FILE__", Builtin::File),
        ("__LINE__", Builtin::Line),
        ("__DATE__", Builtin::Date),
        ("__TIME__", Builtin::Time),
        ("__COUNTER__", Builtin::Counter),
    ];
}

/// The macros defined at the place being read.
pub(super) struct MacroTable {
    macros: SymbolMap<Rc<Macro>>,
    /// One bit per symbol, set when it may be a macro: nearly all words are none, and asking must be quick.
    candidates: Vec<u64>,
}

impl MacroTable {
    /// The table at the start of a compilation.
    pub(super) fn new() -> MacroTable {
        let mut table = MacroTable { macros: SymbolMap::default(), candidates: Vec::new() };
        for (name, builtin) in Builtin::NAMES {
            table.insert(Symbol::intern(name), Macro::Builtin(builtin));
        }
        table
    }

    pub(super) fn get(&self, name: Symbol) -> Option<&Rc<Macro>> {
        let index = name.index();
        let bits = *self.candidates.get(index as usize / 64)?;
        if bits >> (index % 64) & 1 == 0 { None } else { self.macros.get(&name) }
    }

    pub(super) fn contains(&self, name: Symbol) -> bool {
        self.get(name).is_some()
    }

    pub(super) fn insert(&mut self, name: Symbol, definition: Macro) {
        let index = name.index();
        let word = index as usize / 64;
        if word >= self.candidates.len() {
            self.candidates.resize(word + 1, 0);
        }
        self.candidates[word] |= 1 << (index % 64);
        self.macros.insert(name, Rc::new(definition));
    }

    pub(super) fn remove(&mut self, name: Symbol) {
        self.macros.remove(&name);
    }
}

/// Two definitions are the same when they have the same form and spelling; spans do not matter. Literals of equal
/// spelling are told apart here, so the caller compares spellings.
impl PartialEq for Object {
    fn eq(&self, other: &Object) -> bool {
        same_body(&self.body, &other.body)
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.params == other.params && self.variadic == other.variadic && same_body(&self.body, &other.body)
    }
}

fn same_body(a: &[Piece], b: &[Piece]) -> bool {
    let same = |(a, b): (&Piece, &Piece)| {
        a.kind == b.kind
            && a.pasted == b.pasted
            && a.token.kind == b.token.kind
            && (a.token.kind.has_text() || a.token.symbol() == b.token.symbol())
    };
    a.len() == b.len() && a.iter().zip(b).all(same)
}

/// The tokens of a macro's expansion, being read.
pub(super) struct Frame {
    /// The macro, which is not expanded within its own frame. `None` for a mere list of tokens.
    name: Option<Symbol>,
    tokens: Vec<Token>,
    position: usize,
}

impl Frame {
    pub(super) fn new(name: Option<Symbol>, tokens: Vec<Token>) -> Frame {
        Frame { name, tokens, position: 0 }
    }

    pub(super) fn next(&mut self) -> Option<Token> {
        let token = self.tokens.get(self.position).copied();
        self.position += 1;
        token
    }
}

impl Preprocessor<'_, '_> {
    /// Expands a use of a macro: its tokens come next. Returns the word itself if it is not to be expanded.
    pub(super) fn expand_word(&mut self, mut token: Token, symbol: Symbol, found: &Macro) -> Option<Token> {
        if token.has(NO_EXPAND) || self.budget.exhausted {
            return Some(token);
        }
        if self.active.contains_key(&symbol) {
            token.flags |= NO_EXPAND;
            return Some(token);
        }
        match found {
            Macro::Builtin(builtin) => return Some(self.builtin_value(*builtin, &token)),
            Macro::Object(object) => {
                let tokens = self.substitute(&object.body, &[], &token);
                self.push_frame(symbol, tokens, token.span);
            }
            Macro::Function(function) => {
                if !self.next_is_paren() {
                    return Some(token);
                }
                let arguments = self.read_arguments(symbol, function, token.span)?;
                let tokens = self.substitute(&function.body, &arguments, &token);
                self.push_frame(symbol, tokens, token.span);
            }
        }
        None
    }

    fn push_frame(&mut self, name: Symbol, tokens: Vec<Token>, span: Span) {
        if self.spend(tokens.len() + 1, span) {
            self.active.insert(name, ());
            self.frames.push(Frame::new(Some(name), tokens));
        }
    }

    pub(super) fn pop_frame(&mut self) {
        if let Some(name) = self.frames.pop().and_then(|frame| frame.name) {
            self.active.remove(&name);
        }
    }

    /// Counts what macros produce; whether it is still allowed.
    fn spend(&mut self, tokens: usize, span: Span) -> bool {
        self.budget.macro_tokens += tokens;
        let limit = self.diagnostics.limits().macro_tokens;
        if self.budget.macro_tokens > limit && !self.budget.exhausted {
            self.budget.exhausted = true;
            let message = format!("macros expand to more than {limit} tokens");
            self.give_up(Diagnostic::new(Code::MacroLimit, span, message));
        }
        self.budget.exhausted |= self.diagnostics.poll();
        !self.budget.exhausted
    }

    fn builtin_value(&mut self, builtin: Builtin, token: &Token) -> Token {
        let (kind, text) = match builtin {
            Builtin::File => (TokenKind::String, quote(&self.file_name())),
            Builtin::Line => (TokenKind::Number, self.line_number(token.span).to_string()),
            // Compilation is deterministic, so these are constants.
            Builtin::Date => (TokenKind::String, "\"Jan  1 1970\"".to_string()),
            Builtin::Time => (TokenKind::String, "\"00:00:00\"".to_string()),
            Builtin::Counter => {
                self.counter += 1;
                (TokenKind::Number, (self.counter - 1).to_string())
            }
        };
        let text = self.arena.alloc_str(&text);
        let mut value = self.texts.token(kind, text, token.span);
        value.flags = token.flags;
        value
    }

    fn file_name(&self) -> String {
        let Some(file) = self.files.last() else {
            return String::new();
        };
        match &file.name {
            Some(name) => name.clone(),
            None => self.sources.get(file.id).map(|source| source.name.clone()).unwrap_or_default(),
        }
    }

    fn line_number(&self, span: Span) -> i64 {
        i64::from(self.sources.line(span)) + self.files.last().map_or(0, |file| file.line_offset)
    }

    /// Whether the next token is `(`, so that the name before it is a use of a macro with parameters.
    fn next_is_paren(&mut self) -> bool {
        while self.frames.len() > self.frame_floor {
            let Some(frame) = self.frames.last() else {
                break;
            };
            if let Some(token) = frame.tokens.get(frame.position) {
                return token.kind == TokenKind::LParen;
            }
            self.pop_frame();
        }
        !self.isolated && self.peek_raw().kind == TokenKind::LParen
    }

    /// Reads the arguments of a use, `(` included. `None` when they are malformed, which is reported.
    fn read_arguments(&mut self, name: Symbol, function: &Function, span: Span) -> Option<Vec<Vec<Token>>> {
        let opening = self.next_unexpanded();
        let mut arguments = vec![Vec::new()];
        let mut depth = 0usize;
        loop {
            let token = self.next_unexpanded();
            let in_last = function.variadic && arguments.len() == function.params;
            match token.kind {
                TokenKind::Eof => {
                    let message = format!("the arguments of macro `{name}` are never closed");
                    self.diagnostics.emit(Diagnostic::new(Code::BadMacroUse, opening.span, message).help("add `)`"));
                    return None;
                }
                TokenKind::RParen if depth == 0 => break,
                TokenKind::Comma if depth == 0 && !in_last => {
                    arguments.push(Vec::new());
                    continue;
                }
                TokenKind::LParen => depth += 1,
                TokenKind::RParen => depth -= 1,
                _ => {}
            }
            if let Some(argument) = arguments.last_mut() {
                argument.push(token);
            }
        }
        self.check_argument_count(name, function, span, arguments)
    }

    fn check_argument_count(
        &mut self,
        name: Symbol,
        function: &Function,
        span: Span,
        mut arguments: Vec<Vec<Token>>,
    ) -> Option<Vec<Vec<Token>>> {
        if function.params == 0 && arguments.len() == 1 && arguments[0].is_empty() {
            arguments.clear();
        }
        if function.variadic && arguments.len() + 1 == function.params {
            arguments.push(Vec::new());
        }
        if arguments.len() == function.params {
            return Some(arguments);
        }
        let message = format!("macro `{name}` takes {}, not {}", count(function.params, "argument"), arguments.len());
        let diagnostic = Diagnostic::new(Code::BadMacroUse, span, message);
        self.diagnostics.emit(diagnostic.label(function.defined_at, "defined here"));
        None
    }

    /// A macro's body with its parameters replaced. Tokens of the body get the span of the use; those of arguments keep
    /// their own.
    fn substitute(&mut self, body: &[Piece], arguments: &[Vec<Token>], at: &Token) -> Vec<Token> {
        let mut expanded: Vec<Option<Vec<Token>>> = vec![None; arguments.len()];
        let mut result: Vec<Token> = Vec::with_capacity(body.len());
        // Where what `##` joins begins, and how that is set off.
        let (mut joined_from, mut joined_flags) = (0, 0);
        for (index, piece) in body.iter().enumerate() {
            let next_pasted = body.get(index + 1).is_some_and(|next| next.pasted);
            let start = result.len();
            if !piece.pasted {
                (joined_from, joined_flags) = (start, piece.token.flags);
            }
            match piece.kind {
                PieceKind::Token => result.push(piece.token.from_macro(at.span)),
                PieceKind::Stringified(param) => {
                    let string = self.stringify(&arguments[param], at.span);
                    result.push(string);
                }
                PieceKind::Param(param) if piece.pasted || next_pasted => {
                    result.extend_from_slice(&arguments[param]);
                }
                PieceKind::Param(param) => {
                    if expanded[param].is_none() {
                        expanded[param] = Some(self.expand_alone(arguments[param].clone()));
                    }
                    result.extend(expanded[param].iter().flatten());
                }
            }
            if let Some(first) = result.get_mut(start) {
                let flags = match start {
                    0 => at.flags,
                    _ if start == joined_from => joined_flags,
                    _ => piece.token.flags,
                };
                first.flags = first.flags & (NO_EXPAND | FROM_MACRO) | flags & (SPACE_BEFORE | FIRST_ON_LINE);
            }
            if piece.pasted {
                self.paste_at(&mut result, joined_from, start, body, index, at.span);
            }
            if !self.spend(result.len() - start.min(result.len()), at.span) {
                break;
            }
        }
        result
    }

    /// Obeys the `##` between `result[start - 1]` and `result[start]`; either may be missing because an argument is
    /// empty: what is to be joined begins at `joined_from`.
    fn paste_at(
        &mut self,
        result: &mut Vec<Token>,
        joined_from: usize,
        start: usize,
        body: &[Piece],
        index: usize,
        span: Span,
    ) {
        let before = &body[index - 1];
        let comma_before = before.kind == PieceKind::Token && before.token.kind == TokenKind::Comma;
        if comma_before && matches!(body[index].kind, PieceKind::Param(_)) {
            // `, ## __VA_ARGS__`: the comma goes when there are no arguments, else nothing is joined.
            if start == result.len() {
                result.pop();
            }
            return;
        }
        if start == joined_from || start >= result.len() {
            return;
        }
        let joined = self.paste(&result[start - 1], &result[start], span);
        if let Some(token) = joined {
            result[start - 1] = token;
            result.remove(start);
        }
    }

    /// The token that two tokens make when written without a space.
    fn paste(&mut self, left: &Token, right: &Token, span: Span) -> Option<Token> {
        let text = [self.texts.spelling(left), self.texts.spelling(right)].concat();
        if text.is_empty() || !self.spend(text.len() / 8, span) {
            return None;
        }
        let text = self.arena.alloc_str(&text);
        let mut lexer = Lexer::new(span.file, text);
        let mut token = lexer.next(&mut self.texts, &mut self.words);
        let end = lexer.next(&mut self.texts, &mut self.words);
        if end.kind != TokenKind::Eof || matches!(token.kind, TokenKind::Eof | TokenKind::Unknown) {
            self.error(Code::BadPaste, span, format!("`##` joins tokens to `{text}`, which is no token"));
            return None;
        }
        token.span = span;
        token.flags = left.flags & (SPACE_BEFORE | FIRST_ON_LINE);
        Some(token)
    }

    /// The text of an argument as a string.
    fn stringify(&mut self, tokens: &[Token], span: Span) -> Token {
        // Quotes and backslashes are escaped, so that the text may be twice as long.
        let length: usize = tokens.iter().map(|token| self.texts.spelling(token).len() + 1).sum();
        if !self.spend(length / 4, span) {
            return self.texts.token(TokenKind::String, "\"\"", span);
        }
        let mut text = String::new();
        for token in tokens {
            if !text.is_empty() && token.flags & (SPACE_BEFORE | FIRST_ON_LINE) != 0 {
                text.push(' ');
            }
            text.push_str(self.texts.spelling(token));
        }
        let text = self.arena.alloc_str(&quote_literals(tokens, &text));
        self.texts.token(TokenKind::String, text, span)
    }

    /// Expands tokens as if nothing came after them.
    pub(super) fn expand_alone(&mut self, tokens: Vec<Token>) -> Vec<Token> {
        let expandable = |token: &Token| token.symbol().is_some_and(|symbol| self.macros.contains(symbol));
        if self.budget.exhausted || !tokens.iter().any(expandable) {
            return tokens;
        }
        if self.budget.argument_depth >= MAX_ARGUMENT_DEPTH {
            self.budget.exhausted = true;
            let message = "macro uses are nested too deeply in the arguments of others";
            self.give_up(Diagnostic::new(Code::MacroLimit, tokens[0].span, message));
            return tokens;
        }
        self.budget.argument_depth += 1;
        let floor = std::mem::replace(&mut self.frame_floor, self.frames.len());
        let isolated = std::mem::replace(&mut self.isolated, true);
        self.frames.push(Frame::new(None, tokens));
        let mut expanded = Vec::new();
        loop {
            let token = self.next_expanded();
            if token.kind == TokenKind::Eof {
                break;
            }
            expanded.push(token);
        }
        while self.frames.len() > self.frame_floor {
            self.pop_frame();
        }
        self.frame_floor = floor;
        self.isolated = isolated;
        self.budget.argument_depth -= 1;
        expanded
    }
}

/// `3 arguments`, `1 argument`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A text in quotes, with what needs it escaped.
fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// The text of tokens in quotes: within their string and character literals quotes and backslashes are escaped.
fn quote_literals(tokens: &[Token], text: &str) -> String {
    let literal = |token: &Token| {
        use TokenKind::{Char, String, UnterminatedChar, UnterminatedString};
        matches!(token.kind, String | Char | UnterminatedChar | UnterminatedString)
    };
    // Backslashes and quotes occur in no other tokens, stray backslashes aside: these would escape the closing quote.
    if tokens.iter().any(literal) || text.contains('\\') { quote(text) } else { format!("\"{text}\"") }
}
