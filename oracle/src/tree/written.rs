//! Which tokens of a program stand in its own text, and what text a node covers.
//!
//! What a macro expands to has the span of the macro's use, and an argument may be put in several places: replacing such a
//! text would replace more, or other things, than the node. So only a node whose first and last tokens stand in the text
//! themselves, once, has a range.

use spmdvm::frontend::lex::{FROM_MACRO, Lexer, Texts, Token, TokenKind, WordCache};
use spmdvm::frontend::source::{FileId, Span};
use spmdvm::frontend::symbol::Symbol;
use std::ops::Range;

/// A token of a program's text before preprocessing.
#[derive(Clone, Copy, Debug)]
pub struct WrittenToken {
    /// What it is.
    pub kind: TokenKind,
    /// The name, of a word.
    pub name: Option<Symbol>,
    /// Whether it goes into the program as it stands, once: it is not of a directive, a macro's use, or what a conditional leaves out.
    pub is_own: bool,
    lo: u32,
    hi: u32,
}

impl WrittenToken {
    /// The bytes that it takes.
    pub fn range(&self) -> Range<usize> {
        self.lo as usize..self.hi as usize
    }
}

/// The tokens of a program's text before preprocessing, in order.
#[derive(Debug, Default)]
pub struct Written {
    tokens: Vec<WrittenToken>,
    /// By token: the innermost opening bracket around it.
    around: Vec<Option<usize>>,
    /// By token: for an opening bracket, the one that closes it.
    closing: Vec<Option<usize>>,
    /// Conditionals and other directives.
    directives: Vec<(usize, Directive)>,
}

/// What a directive does to a text that is cut out around it.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Directive {
    Opens,
    Divides,
    Closes,
    Other,
}

impl Written {
    /// Those of a preprocessed program.
    pub fn new(tokens: &[Token], main: FileId, text: &str) -> Written {
        let own = own_tokens(tokens, main);
        let mut written = raw_tokens(main, text);
        written.iter_mut().for_each(|token| token.is_own = own.binary_search(&token.lo).is_ok());
        let (around, closing) = brackets(&written);
        Written { tokens: written, around, closing, directives: directives(text) }
    }

    /// The tokens.
    pub fn tokens(&self) -> &[WrittenToken] {
        &self.tokens
    }

    /// The token that closes the bracket that the token of this index opens.
    pub fn closing(&self, opening: usize) -> Option<usize> {
        self.closing.get(opening).copied().flatten()
    }

    /// The first token at or behind an offset.
    pub fn first_from(&self, offset: usize) -> Option<&WrittenToken> {
        self.tokens.get(self.tokens.partition_point(|token| (token.lo as usize) < offset))
    }

    /// The last token that ends at or before an offset.
    pub fn last_before(&self, offset: usize) -> Option<&WrittenToken> {
        let behind = self.tokens.partition_point(|token| (token.hi as usize) <= offset);
        self.tokens.get(behind.checked_sub(1)?)
    }

    /// The text that a span covers, if it may be edited. Spans of expressions leave out the parentheses around their first
    /// and last operands; the range has them.
    pub fn range(&self, span: Span) -> Option<Range<usize>> {
        let mut first = self.tokens.binary_search_by_key(&span.lo, |token| token.lo).ok()?;
        let mut last =
            self.tokens.binary_search_by_key(&span.hi, |token| token.hi).ok().filter(|&last| last >= first)?;
        loop {
            let opening = self.around[first].filter(|&at| self.closing(at).is_some_and(|close| close <= last));
            let closing = self.around[last].filter(|&at| at >= first).and_then(|at| self.closing(at));
            match (opening, closing) {
                (None, None) => break,
                (opening, closing) => (first, last) = (opening.unwrap_or(first), closing.unwrap_or(last)),
            }
        }
        let (first, last) = (&self.tokens[first], &self.tokens[last]);
        let range = first.lo as usize..last.hi as usize;
        (first.is_own && last.is_own && self.is_whole(&range)).then_some(range)
    }

    /// Whether the text can be cut out without tearing a conditional apart or losing the definition of a macro.
    fn is_whole(&self, range: &Range<usize>) -> bool {
        let from = self.directives.partition_point(|(at, _)| *at < range.start);
        let within = self.directives[from..].iter().take_while(|(at, _)| *at < range.end);
        let depth = within.into_iter().try_fold(0u32, |depth, (_, directive)| match directive {
            Directive::Opens => Some(depth + 1),
            Directive::Divides => (depth > 0).then_some(depth),
            Directive::Closes => depth.checked_sub(1),
            Directive::Other => None,
        });
        depth == Some(0)
    }
}

/// All tokens of a text.
fn raw_tokens(main: FileId, text: &str) -> Vec<WrittenToken> {
    let (mut texts, mut words, mut lexer) = (Texts::default(), WordCache::default(), Lexer::new(main, text));
    let next = || {
        let token = lexer.next(&mut texts, &mut words);
        let Span { lo, hi, .. } = token.span;
        let written = WrittenToken { kind: token.kind, name: token.symbol(), is_own: false, lo, hi };
        (token.kind != TokenKind::Eof).then_some(written)
    };
    std::iter::from_fn(next).collect()
}

/// Where the tokens begin that come from the file, in no use of a macro, and only once.
fn own_tokens(tokens: &[Token], main: FileId) -> Vec<u32> {
    let in_main = |token: &&Token| token.span.file == main && token.span.lo < token.span.hi;
    let from_macro = tokens.iter().filter(in_main).filter(|token| token.has(FROM_MACRO));
    let mut uses: Vec<Span> = from_macro.map(|token| token.span).collect();
    uses.sort_by_key(|span| span.lo);
    uses.dedup();
    let is_used = |token: &Token| {
        let before = uses.partition_point(|span| span.lo <= token.span.lo);
        before.checked_sub(1).is_some_and(|at| uses[at].hi > token.span.lo)
    };
    let mut starts: Vec<u32> =
        tokens.iter().filter(in_main).filter(|token| !is_used(token)).map(|token| token.span.lo).collect();
    starts.sort_unstable();
    let is_single = |&at: &usize| starts.get(at + 1) != Some(&starts[at]) && (at == 0 || starts[at - 1] != starts[at]);
    (0..starts.len()).filter(is_single).map(|at| starts[at]).collect()
}

/// By token, the innermost bracket around it; by opening bracket, the closing one.
fn brackets(tokens: &[WrittenToken]) -> (Vec<Option<usize>>, Vec<Option<usize>>) {
    use TokenKind::{LBrace, LBracket, LParen, RBrace, RBracket, RParen};
    let (mut around, mut closing) = (Vec::with_capacity(tokens.len()), vec![None; tokens.len()]);
    let mut open: Vec<usize> = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        let partner = match token.kind {
            RParen => Some(LParen),
            RBracket => Some(LBracket),
            RBrace => Some(LBrace),
            _ => None,
        };
        if let Some(opening) = partner.and_then(|kind| open.iter().rposition(|&at| tokens[at].kind == kind)) {
            closing[open[opening]] = Some(index);
            open.truncate(opening);
        }
        around.push(open.last().copied());
        if matches!(token.kind, LParen | LBracket | LBrace) {
            open.push(index);
        }
    }
    (around, closing)
}

/// The directives of a text: lines that begin with `#`. A comment that looks like one makes the text around it uneditable, no more.
fn directives(text: &str) -> Vec<(usize, Directive)> {
    let mut found = Vec::new();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let start = offset + (line.len() - line.trim_start().len());
        offset += line.len();
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let word: String = directive.trim_start().chars().take_while(char::is_ascii_alphabetic).collect();
        match word.as_str() {
            "pragma" => {}
            "if" | "ifdef" | "ifndef" => found.push((start, Directive::Opens)),
            "else" | "elif" => found.push((start, Directive::Divides)),
            "endif" => found.push((start, Directive::Closes)),
            _ => found.push((start, Directive::Other)),
        }
    }
    found
}
