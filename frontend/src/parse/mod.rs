//! The parser: from tokens to the syntax tree, by recursive descent.
//!
//! - Whether a word is a type is decided by scopes of names ([`scope`]), fed by the declarations parsed so far.
//! - A syntax error is reported where it is met and travels up as [`Reported`] to the nearest statement or item, which
//!   skips to a place where parsing can go on. So each mistake gives one message, and a file gives all of its own.
//! - Recursion is bounded by [`MAX_DEPTH`], the height of expressions (whose left spines grow without recursion) by
//!   [`MAX_HEIGHT`]. Later stages may recurse over the tree without fear for the stack.

mod declarator;
mod expr;
pub(crate) mod foreign;
mod item;
pub(crate) mod literal;
mod mistakes;
mod prompt;
mod scope;
mod specifiers;
mod stmt;
mod template;

use bumpalo::Bump;

use crate::ast::{Ident, Item, TranslationUnit};
use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::lex::{FIRST_ON_LINE, FROM_MACRO, Texts, Token, TokenKind};
use crate::preprocess::{PreprocessOptions, Preprocessed, preprocess};
use crate::source::{FileId, SourceMap, Span};
use crate::symbol::Symbol;
use scope::Scopes;

/// How deep statements, expressions and types may be nested, all together.
pub const MAX_DEPTH: usize = 256;
/// How high the tree of one expression may be.
pub const MAX_HEIGHT: u32 = 1000;

/// What the parser is told by its caller.
pub struct ParseOptions<'o> {
    /// For the preprocessor.
    pub preprocess: PreprocessOptions<'o>,
    /// Names that denote types from the start: those of the prelude's tree.
    pub type_names: &'o [Symbol],
    /// Names that denote function templates from the start.
    pub template_names: &'o [Symbol],
    /// The included file that is what was typed at a prompt: with its first token the [`Prompt`](crate::ast::Prompt) begins.
    pub prompt: Option<&'o str>,
}

/// Parses the file `main` of `sources`, to which included files are added. All that is wrong is reported; the tree is
/// whole in any case.
pub fn parse<'a>(
    sources: &mut SourceMap,
    main: FileId,
    options: &ParseOptions<'_>,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> &'a TranslationUnit<'a> {
    let preprocessed = preprocess(sources, main, &options.preprocess, arena, diagnostics);
    parse_tokens(sources, preprocessed, options, arena, diagnostics)
}

/// Parses what preprocessing gave.
pub fn parse_tokens<'a>(
    sources: &SourceMap,
    preprocessed: Preprocessed<'a>,
    options: &ParseOptions<'_>,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> &'a TranslationUnit<'a> {
    let scopes = Scopes::new(options.type_names, options.template_names);
    let prompt = options.prompt.and_then(|name| sources.files().find(|(_, file)| file.name == name));
    let mut parser = Parser::new(preprocessed.tokens, &preprocessed.texts, arena, diagnostics, scopes);
    parser.prompt_at = prompt.and_then(|(id, _)| parser.tokens.iter().position(|token| token.span.file == id));
    parser.end_with_prompt();
    let unit = parser.translation_unit();
    diagnostics.sort();
    unit
}

/// Says that an error was reported and the construct could not be parsed.
#[derive(Clone, Copy, Debug)]
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'a, 'p> {
    tokens: Vec<Token>,
    at: usize,
    texts: &'p Texts<'a>,
    arena: &'a Bump,
    diagnostics: &'p mut Diagnostics,
    scopes: Scopes,
    /// How deep the construct being parsed is nested.
    depth: usize,
    /// The height of the expression parsed last.
    height: u32,
    /// Definitions of structs and enums that go in front of the item or statement being parsed.
    hoisted: Vec<Item<'a>>,
    /// Where a missing `}` was reported, so that the blocks around stay silent.
    unclosed_at: Option<usize>,
    /// Whether the next specifiers stand where no name can follow, so that an unknown word must be a type.
    type_only: bool,
    /// Whether braces are known not to match, so that a `}` too many is no news.
    unbalanced: bool,
    /// Whether what stands outside of functions was reported, and nothing sensible has come since.
    astray: bool,
    /// The token with which what was typed at a prompt begins.
    prompt_at: Option<usize>,
    /// Whether that was reached.
    in_prompt: bool,
    /// Whether something was missed at the end of the text, before anything else was wrong.
    ran_out: bool,
}

impl<'a, 'p> Parser<'a, 'p> {
    fn new(
        tokens: Vec<Token>,
        texts: &'p Texts<'a>,
        arena: &'a Bump,
        diagnostics: &'p mut Diagnostics,
        scopes: Scopes,
    ) -> Parser<'a, 'p> {
        Parser {
            tokens,
            at: 0,
            texts,
            arena,
            diagnostics,
            scopes,
            depth: 0,
            height: 0,
            hoisted: Vec::new(),
            unclosed_at: None,
            type_only: false,
            unbalanced: false,
            astray: false,
            prompt_at: None,
            in_prompt: false,
            ran_out: false,
        }
    }

    // Tokens

    /// The token `ahead` of the current one; past the end the last one, which is the end of file.
    #[inline]
    fn nth(&self, ahead: usize) -> Token {
        match self.tokens.get(self.at + ahead) {
            Some(token) => *token,
            None => self.tokens.last().copied().unwrap_or(Token::plain(TokenKind::Eof, Span::default())),
        }
    }

    #[inline]
    fn token(&self) -> Token {
        self.nth(0)
    }

    #[inline]
    fn kind(&self) -> TokenKind {
        self.token().kind
    }

    #[inline]
    fn nth_kind(&self, ahead: usize) -> TokenKind {
        self.nth(ahead).kind
    }

    #[inline]
    fn span(&self) -> Span {
        self.token().span
    }

    /// The span of the token before the current one.
    fn last_span(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map_or(self.span(), |token| token.span)
    }

    /// From `start` to the token before the current one.
    fn since(&self, start: Span) -> Span {
        start.to(self.last_span())
    }

    #[inline]
    fn bump(&mut self) -> Token {
        let token = self.token();
        if self.diagnostics.poll() {
            self.at = self.tokens.len().saturating_sub(1);
        } else if token.kind != TokenKind::Eof {
            self.at += 1;
        }
        token
    }

    /// Consumes the token if it is of this kind.
    #[inline]
    fn eat(&mut self, kind: TokenKind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.bump();
        }
        found
    }

    /// The symbol of the current token, if it is a word and no keyword.
    #[inline]
    fn word(&self) -> Option<Symbol> {
        self.nth_word(0)
    }

    #[inline]
    fn nth_word(&self, ahead: usize) -> Option<Symbol> {
        let token = self.nth(ahead);
        if token.kind == TokenKind::Word { token.symbol() } else { None }
    }

    /// Whether the current token is this word, and the word is not declared as something else.
    fn at_word(&self, word: &str) -> bool {
        self.word().is_some_and(|name| self.scopes.special(name) == Some(word))
    }

    /// Consumes a name.
    fn ident(&mut self, what: &str) -> Parsed<Ident> {
        let token = self.token();
        match self.word() {
            Some(name) => {
                self.bump();
                Ok(Ident { name, span: token.span })
            }
            None if token.kind.is_word() => {
                let text = token.kind.text();
                let message = format!("expected {what}, found the keyword `{text}`");
                self.report(Diagnostic::new(Code::ExpectedName, token.span, message).help("choose another name"))
            }
            None => {
                let message = format!("expected {what}, found {}", self.describe());
                self.fail(Code::ExpectedName, token.span, message)
            }
        }
    }

    /// Consumes a token of this kind, or reports that it is missing.
    fn expect(&mut self, kind: TokenKind, after: &str) -> Parsed<Span> {
        let span = self.span();
        if self.eat(kind) {
            return Ok(span);
        }
        let message = format!("expected `{}` {after}, found {}", kind.text(), self.describe());
        self.fail(Code::ExpectedToken, span, message)
    }

    /// Consumes the delimiter that closes one opened at `opening`.
    fn expect_close(&mut self, kind: TokenKind, opening: Span) -> Parsed<()> {
        if self.eat(kind) {
            return Ok(());
        }
        let message = format!("expected `{}`, found {}", kind.text(), self.describe());
        let mut diagnostic = Diagnostic::new(Code::ExpectedToken, self.span(), message).label(opening, "opened here");
        if self.kind().is_word() && self.kind() != TokenKind::Word && !self.is_type_start(0) {
            diagnostic = diagnostic.help(format!("`{}` is a keyword and cannot be a name", self.kind().text()));
        } else if let Some(help) = self.suggest_for_unexpected() {
            diagnostic = diagnostic.help(help);
        } else if self.kind() == TokenKind::Semi {
            diagnostic = diagnostic.help(format!("add `{}`", kind.text()));
        }
        self.report(diagnostic)
    }

    /// Consumes a `;`. When it is merely missing at the end of a line, that is reported and parsing goes on.
    fn expect_semi(&mut self, after: &str) -> Parsed<()> {
        if self.eat(TokenKind::Semi) {
            return Ok(());
        }
        let next = self.token();
        if self.in_prompt && next.kind == TokenKind::Eof {
            // What ends with the line needs nothing else to end it.
            return Ok(());
        }
        let ends_line = next.has(FIRST_ON_LINE) || matches!(next.kind, TokenKind::RBrace | TokenKind::Eof);
        if ends_line {
            let place = self.last_span().after();
            let message = format!("expected `;` {after}");
            self.diagnostics.emit(Diagnostic::new(Code::ExpectedToken, place, message).at("add `;` here"));
            return Ok(());
        }
        let message = format!("expected `;` {after}, found {}", self.describe());
        let mut diagnostic = Diagnostic::new(Code::ExpectedToken, next.span, message);
        if let Some(help) = self.suggest_for_unexpected() {
            diagnostic = diagnostic.help(help);
        }
        self.report(diagnostic)
    }

    /// The current token for messages.
    fn describe(&self) -> String {
        let token = self.token();
        match token.kind {
            TokenKind::Eof if self.in_prompt => "the end of the input".into(),
            TokenKind::Eof => "the end of the file".into(),
            TokenKind::Number => format!("the number `{}`", self.texts.literal(&token)),
            TokenKind::String => "a string".into(),
            TokenKind::PragmaUnroll | TokenKind::PragmaNoUnroll => "a `#pragma`".into(),
            _ => format!("`{}`", self.texts.spelling(&token)),
        }
    }

    // Errors

    fn fail<T>(&mut self, code: Code, span: Span, message: impl Into<String>) -> Parsed<T> {
        self.report(Diagnostic::new(code, span, message))
    }

    fn report<T>(&mut self, mut diagnostic: Diagnostic) -> Parsed<T> {
        if self.token().has(FROM_MACRO) && diagnostic.span() == self.span() {
            diagnostic = diagnostic.note("it comes from the expansion of this macro");
        }
        // What the lexer could not make a token of is reported already.
        let broken = matches!(
            self.kind(),
            TokenKind::Unknown
                | TokenKind::UnterminatedChar
                | TokenKind::UnterminatedComment
                | TokenKind::UnterminatedString
        );
        if !broken || diagnostic.span() != self.span() {
            self.note_end();
            self.diagnostics.emit(diagnostic);
        }
        Err(Reported)
    }

    /// Reports something after which parsing goes on.
    fn mention(&mut self, diagnostic: Diagnostic) {
        self.note_end();
        self.diagnostics.emit(diagnostic);
    }

    /// Notes whether something is missed at the end, before it is reported.
    fn note_end(&mut self) {
        let is_unfinished = matches!(self.kind(), TokenKind::Eof | TokenKind::UnterminatedComment);
        self.ran_out |= is_unfinished && !self.diagnostics.has_errors();
    }

    /// Parses with `parse` one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.too_deep();
        }
        self.depth += 1;
        let result = parse(self);
        self.depth -= 1;
        result
    }

    fn too_deep<T>(&mut self) -> Parsed<T> {
        let message = "this is nested too deeply";
        let diagnostic = Diagnostic::new(Code::NestingTooDeep, self.span(), message);
        let result = self.report(diagnostic.help("split it into several statements or functions"));
        // Everything deeper would only repeat it.
        self.at = self.tokens.len().saturating_sub(1);
        self.unclosed_at = Some(self.at);
        result
    }

    // Arena

    fn alloc<T: Copy>(&self, value: T) -> &'a T {
        self.arena.alloc(value)
    }

    fn alloc_slice<T: Copy>(&self, values: &[T]) -> &'a [T] {
        if values.is_empty() { &[] } else { self.arena.alloc_slice_copy(values) }
    }

    // Recovery

    /// Skips the rest of a malformed statement that begins at the token `start`: to its `;`, which is consumed, to its
    /// body in braces after parentheses, or to something that surely begins another statement or ends the block.
    fn skip_statement(&mut self, start: usize) {
        let (mut parens, mut braces) = self.open_delimiters(start);
        loop {
            let token = self.token();
            match token.kind {
                TokenKind::Eof => return,
                TokenKind::Semi if braces == 0 && (parens == 0 || self.nth(1).has(FIRST_ON_LINE)) => {
                    self.bump();
                    return;
                }
                TokenKind::RBrace if braces == 0 => return,
                TokenKind::RBrace => {
                    braces -= 1;
                    self.bump();
                    if braces == 0 && parens == 0 && self.kind() != TokenKind::Semi {
                        return;
                    }
                    continue;
                }
                TokenKind::LBrace if braces == 0 && self.follows_paren() => return,
                TokenKind::LBrace => braces += 1,
                TokenKind::LParen => parens += 1,
                TokenKind::RParen => parens = parens.saturating_sub(1),
                kind if braces == 0 && token.has(FIRST_ON_LINE) && begins_statement(kind) => return,
                _ => {}
            }
            self.bump();
        }
    }

    /// How many parentheses and braces were opened since the token `start` and are not closed.
    fn open_delimiters(&self, start: usize) -> (usize, usize) {
        let (mut parens, mut braces) = (0usize, 0usize);
        for token in self.tokens.get(start..self.at).unwrap_or_default() {
            match token.kind {
                TokenKind::LParen => parens += 1,
                TokenKind::RParen => parens = parens.saturating_sub(1),
                TokenKind::LBrace => braces += 1,
                TokenKind::RBrace => braces = braces.saturating_sub(1),
                _ => {}
            }
        }
        (parens, braces)
    }

    /// The kind of the token before the current one.
    fn last_token_kind(&self) -> Option<TokenKind> {
        self.at.checked_sub(1).and_then(|at| self.tokens.get(at)).map(|token| token.kind)
    }

    fn follows_paren(&self) -> bool {
        self.last_token_kind() == Some(TokenKind::RParen)
    }

    /// Skips the rest of a malformed item that begins at the token `start`.
    fn skip_item(&mut self, start: usize) {
        let (mut parens, mut braces) = self.open_delimiters(start);
        loop {
            let token = self.token();
            match token.kind {
                TokenKind::Eof => return,
                TokenKind::Semi if braces == 0 && (parens == 0 || self.nth(1).has(FIRST_ON_LINE)) => {
                    self.bump();
                    return;
                }
                TokenKind::LBrace => braces += 1,
                TokenKind::RBrace => {
                    braces = braces.saturating_sub(1);
                    if braces == 0 {
                        self.bump();
                        self.eat(TokenKind::Semi);
                        return;
                    }
                }
                TokenKind::LParen => parens += 1,
                TokenKind::RParen => parens = parens.saturating_sub(1),
                kind if token.has(FIRST_ON_LINE) && begins_item(kind, braces) => return,
                _ => {}
            }
            self.bump();
        }
    }
}

/// Keywords that begin a statement and nothing else.
fn begins_statement(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        kind,
        If | CIf
            | For
            | CFor
            | While
            | CWhile
            | Do
            | CDo
            | Foreach
            | ForeachActive
            | ForeachTiled
            | ForeachUnique
            | Switch
            | Case
            | Default
            | Return
            | Break
            | Continue
            | Goto
            | Print
            | Sync
            | Delete
    ) || begins_item(kind, 1)
}

/// Keywords that begin an item; within braces only those that nothing else begins with.
fn begins_item(kind: TokenKind, depth: usize) -> bool {
    use TokenKind::*;
    matches!(kind, Export | Task | Template)
        || (depth == 0 && matches!(kind, Static | Extern | Inline | Noinline | Typedef | Struct | Enum))
}
