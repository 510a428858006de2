//! The preprocessor: from files to one stream of tokens, with directives obeyed and macros expanded.
//!
//! It works on tokens, not on text. Tokens come from a stack of *frames* (the bodies of macros being expanded) and, below
//! it, a stack of *files*. While a macro's frame is on the stack its name is not expanded again; a name met then is
//! marked so that it never is.
//!
//! Whatever the input, work is bounded: files, bytes and depth of inclusion, tokens from macros and in all
//! ([`Limits`](crate::limits::Limits)), depth of nesting.

mod directive;
mod expression;
mod include;
mod macros;

pub use include::{FileLoader, IncludeError, IncludeLoader, IncludeRequest, Included};

use std::collections::HashSet;
use std::path::PathBuf;
use std::rc::Rc;

use bumpalo::Bump;

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::lex::{FIRST_ON_LINE, Lexer, Texts, Token, TokenKind, WordCache};
use crate::source::{FileId, SourceMap, Span};
use crate::symbol::{Symbol, SymbolMap};
use macros::{Frame, MacroTable};

/// How many bytes of source make a token, roughly.
const BYTES_PER_TOKEN: usize = 4;
/// How deep macro uses may be nested in the arguments of others.
const MAX_ARGUMENT_DEPTH: usize = 100;

/// What the preprocessor is told by its caller.
pub struct PreprocessOptions<'o> {
    /// Macros: a name, or a name with parameters such as `F(x)`, and the replacement.
    pub defines: &'o [(String, String)],
    /// Finds included files.
    pub loader: &'o dyn IncludeLoader,
    /// The path of the main file; `None` for a program given as a string.
    pub main_path: Option<PathBuf>,
}

/// A whole program as tokens, the last one [`TokenKind::Eof`].
pub struct Preprocessed<'a> {
    /// The tokens.
    pub tokens: Vec<Token>,
    /// The texts of literals.
    pub texts: Texts<'a>,
    /// The paths of the files that were included, each once, in the order in which they are first met.
    pub included: Vec<PathBuf>,
}

/// Preprocesses the file `main` of `sources`, to which included files are added.
pub fn preprocess<'a>(
    sources: &mut SourceMap,
    main: FileId,
    options: &PreprocessOptions<'_>,
    arena: &'a Bump,
    diagnostics: &mut Diagnostics,
) -> Preprocessed<'a> {
    let mut preprocessor = Preprocessor::new(sources, options, arena, diagnostics);
    preprocessor.define_from_outside(options.defines);
    preprocessor.enter_file(main, options.main_path.clone());
    preprocessor.output.reserve(preprocessor.budget.bytes / BYTES_PER_TOKEN);
    preprocessor.run();
    Preprocessed { tokens: preprocessor.output, texts: preprocessor.texts, included: preprocessor.included }
}

struct Preprocessor<'a, 'c> {
    sources: &'c mut SourceMap,
    options: &'c PreprocessOptions<'c>,
    arena: &'a Bump,
    diagnostics: &'c mut Diagnostics,
    texts: Texts<'a>,
    words: WordCache,
    files: Vec<OpenFile<'a>>,
    frames: Vec<Frame>,
    /// The macros whose frames are on the stack.
    active: SymbolMap<()>,
    /// Frames below this index are out of reach: an argument is being expanded on its own.
    frame_floor: usize,
    /// Whether only frames may be read: an argument or the line of a directive is being expanded on its own.
    isolated: bool,
    macros: MacroTable,
    once: HashSet<String>,
    included: Vec<PathBuf>,
    budget: Budget,
    counter: u32,
    /// Whether something was reported after which the rest of the program would make no sense.
    abandoned: bool,
    /// `_Pragma`.
    pragma_operator: Symbol,
    output: Vec<Token>,
}

/// What was used of the limits.
#[derive(Default)]
struct Budget {
    includes: usize,
    bytes: usize,
    macro_tokens: usize,
    argument_depth: usize,
    /// Whether a limit was reached; then nothing is expanded any more.
    exhausted: bool,
}

/// A file that is being read.
struct OpenFile<'a> {
    id: FileId,
    path: Option<PathBuf>,
    lexer: Lexer<'a>,
    peeked: Option<Token>,
    conditionals: Vec<Conditional>,
    /// What `#line` adds to line numbers.
    line_offset: i64,
    /// The name that `#line` gives.
    name: Option<String>,
}

/// An `#if` whose `#endif` has not come.
struct Conditional {
    span: Span,
    /// Whether one of its parts was taken already.
    taken: bool,
    /// Whether `#else` has come.
    in_else: bool,
}

impl<'a, 'c> Preprocessor<'a, 'c> {
    fn new(
        sources: &'c mut SourceMap,
        options: &'c PreprocessOptions<'c>,
        arena: &'a Bump,
        diagnostics: &'c mut Diagnostics,
    ) -> Preprocessor<'a, 'c> {
        Preprocessor {
            sources,
            options,
            arena,
            diagnostics,
            texts: Texts::default(),
            words: WordCache::default(),
            files: Vec::new(),
            frames: Vec::new(),
            active: SymbolMap::default(),
            frame_floor: 0,
            isolated: false,
            macros: MacroTable::new(),
            once: HashSet::new(),
            included: Vec::new(),
            budget: Budget::default(),
            counter: 0,
            pragma_operator: Symbol::intern("_Pragma"),
            abandoned: false,
            output: Vec::new(),
        }
    }

    /// Reads the macros the caller gives as if they were a file of `#define`s.
    fn define_from_outside(&mut self, defines: &[(String, String)]) {
        if defines.is_empty() {
            return;
        }
        let mut text = String::new();
        for (name, value) in defines {
            for part in ["#define ", name, " ", value] {
                // One definition is one line.
                part.split(['\n', '\r']).enumerate().for_each(|(at, piece)| {
                    text.push_str(if at > 0 { " " } else { "" });
                    text.push_str(piece);
                });
            }
            text.push('\n');
        }
        let file = self.sources.add("<macros>", text);
        self.enter_file(file, None);
        self.run();
        self.output.clear();
        // The program ends where its own file does.
        self.files.clear();
    }

    fn enter_file(&mut self, id: FileId, path: Option<PathBuf>) {
        let text: &'a str = self.sources.get(id).map_or("", |file| self.arena.alloc_str(&file.text));
        self.budget.bytes += text.len();
        self.files.push(OpenFile {
            id,
            path,
            lexer: Lexer::new(id, text),
            peeked: None,
            conditionals: Vec::new(),
            line_offset: 0,
            name: None,
        });
    }

    /// Reads everything to the output.
    fn run(&mut self) {
        loop {
            let token = self.next_expanded();
            self.output.push(token);
            if self.output.len() > self.diagnostics.limits().tokens {
                self.too_many_tokens(token.span);
            }
            if self.abandoned {
                self.output.clear();
                self.output.push(end_token(token.span));
            }
            if self.abandoned || token.kind == TokenKind::Eof {
                return;
            }
        }
    }

    fn too_many_tokens(&mut self, at: Span) {
        let message = format!("the program has more than {} tokens", self.diagnostics.limits().tokens);
        let error = Diagnostic::new(Code::SourceTooLarge, at, message).at("this is one too many");
        self.give_up(error.help("split it, or read tables from arrays that are passed"));
    }

    /// Reports something after which nothing is read any more: what would be said about the rest would only follow from it.
    fn give_up(&mut self, error: Diagnostic) {
        if !std::mem::replace(&mut self.abandoned, true) {
            self.diagnostics.emit(error);
        }
    }

    /// The next token of the program, with macros expanded.
    fn next_expanded(&mut self) -> Token {
        loop {
            if self.abandoned || self.diagnostics.poll() {
                return end_token(Span::default());
            }
            let token = self.next_unexpanded();
            let Some(symbol) = token.symbol() else {
                self.check_token(&token);
                return token;
            };
            match self.macros.get(symbol) {
                None if symbol == self.pragma_operator && !self.isolated => {
                    if let Some(token) = self.pragma_operator(token) {
                        return token;
                    }
                }
                None => return token,
                Some(found) => {
                    let found = Rc::clone(found);
                    if let Some(token) = self.expand_word(token, symbol, &found) {
                        return token;
                    }
                }
            }
        }
    }

    /// The next token before expansion: from the innermost macro, or from the file with directives obeyed.
    fn next_unexpanded(&mut self) -> Token {
        while self.frames.len() > self.frame_floor {
            let Some(frame) = self.frames.last_mut() else {
                break;
            };
            if let Some(token) = frame.next() {
                return token;
            }
            self.pop_frame();
        }
        if self.isolated {
            return end_token(Span::default());
        }
        self.next_of_files()
    }

    /// The next token of the files that is not part of a directive.
    fn next_of_files(&mut self) -> Token {
        loop {
            let token = self.next_raw();
            match token.kind {
                TokenKind::Hash if token.has(FIRST_ON_LINE) => {
                    if let Some(token) = self.directive(token) {
                        return token;
                    }
                }
                TokenKind::Eof => {
                    if self.leave_file() {
                        return token;
                    }
                }
                _ => return token,
            }
        }
    }

    /// Closes the innermost file; whether it was the last one.
    fn leave_file(&mut self) -> bool {
        let Some(file) = self.files.last_mut() else {
            return true;
        };
        if self.abandoned {
            return true;
        }
        for open in std::mem::take(&mut file.conditionals).into_iter().rev() {
            let message = "this conditional is never closed";
            let diagnostic = Diagnostic::new(Code::UnbalancedConditional, open.span, message);
            self.diagnostics.emit(diagnostic.help("add `#endif`"));
        }
        if self.files.len() == 1 {
            // The last file stays, so that its end can be read again and again.
            return true;
        }
        self.files.pop();
        false
    }

    /// The next token of the innermost file, directives included.
    fn next_raw(&mut self) -> Token {
        let over = self.abandoned || self.diagnostics.poll();
        let Some(file) = self.files.last_mut().filter(|_| !over) else {
            return end_token(Span::default());
        };
        match file.peeked.take() {
            Some(token) => token,
            None => file.lexer.next(&mut self.texts, &mut self.words),
        }
    }

    /// The token that [`Self::next_raw`] will return.
    fn peek_raw(&mut self) -> Token {
        let token = self.next_raw();
        if let Some(file) = self.files.last_mut() {
            file.peeked = Some(token);
        }
        token
    }

    /// The rest of the line of a directive.
    fn rest_of_line(&mut self) -> Vec<Token> {
        let mut line = Vec::new();
        while !self.peek_raw().has(FIRST_ON_LINE) {
            line.push(self.next_raw());
        }
        line
    }

    /// Reports what the lexer could not make a token of.
    fn check_token(&mut self, token: &Token) {
        let diagnostic = match token.kind {
            TokenKind::Unknown => self.unknown_character(token),
            TokenKind::UnterminatedComment => {
                Diagnostic::new(Code::UnterminatedComment, start_of(token.span, 2), "this comment is never closed")
                    .help("add `*/`; comments do not nest")
            }
            TokenKind::UnterminatedString => {
                Diagnostic::new(Code::UnterminatedLiteral, token.span, "this string is never closed")
                    .help("add the closing `\"` on the same line")
            }
            TokenKind::UnterminatedChar => {
                Diagnostic::new(Code::UnterminatedLiteral, token.span, "this character literal is never closed")
                    .help("add the closing `'`, or write strings with `\"`")
            }
            _ => return,
        };
        self.diagnostics.emit(diagnostic);
    }

    fn unknown_character(&self, token: &Token) -> Diagnostic {
        let text = self.texts.literal(token);
        let found = text.chars().next().unwrap_or('?');
        let diagnostic = Diagnostic::new(
            Code::UnexpectedCharacter,
            token.span,
            format!("unexpected character `{}`", found.escape_debug()),
        );
        match found {
            '“' | '”' | '„' => diagnostic.help("write strings with the plain quote `\"`"),
            '’' | '‘' => diagnostic.help("write characters with the plain quote `'`"),
            '–' | '—' | '−' => diagnostic.help("write the plain minus sign `-`"),
            '×' => diagnostic.help("write `*`"),
            '\u{a0}' | '\u{3000}' | '\u{200b}' => {
                diagnostic.help("this looks like a blank but is not; replace it with one")
            }
            _ => diagnostic,
        }
    }

    /// An error about a place.
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.diagnostics.emit(Diagnostic::new(code, span, message));
    }
}

/// The end of all tokens, which ends lines too.
fn end_token(at: Span) -> Token {
    let mut end = Token::plain(TokenKind::Eof, at);
    end.flags = FIRST_ON_LINE;
    end
}

/// The first `len` bytes of a span.
fn start_of(span: Span, len: u32) -> Span {
    Span { hi: span.hi.min(span.lo + len), ..span }
}

#[cfg(test)]
mod tests;
