//! Tokens of listings.

use logos::Logos;
use std::fmt;

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
#[logos(skip r"[ \t\r]+")]
#[logos(skip(r";[^\n]*", allow_greedy = true))]
pub(super) enum Token {
    #[token("\n")]
    Newline,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*")]
    Name,
    #[regex(r"\.[a-z]+")]
    Directive,
    #[regex(r"[0-9]+")]
    Number,
    #[token("↓")]
    Down,
    #[token("↑")]
    Up,
    #[token("(")]
    Open,
    #[token(")")]
    Close,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("=")]
    Equals,
    #[regex(r"==|!=|<=|>=|[-+*/%<>&|^]")]
    Operator,
    /// A character that begins no token.
    Unknown,
    /// The end of the text.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Token::Newline => "the end of the line",
            Token::Name => "a name",
            Token::Directive => "a directive",
            Token::Number => "a number",
            Token::Down => "`↓`",
            Token::Up => "`↑`",
            Token::Open => "`(`",
            Token::Close => "`)`",
            Token::OpenBracket => "`[`",
            Token::CloseBracket => "`]`",
            Token::Comma => "`,`",
            Token::Colon => "`:`",
            Token::Equals => "`=`",
            Token::Operator => "an operator",
            Token::Unknown => "a stray character",
            Token::End => "the end of the text",
        })
    }
}

/// A token with the bytes it covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spanned {
    pub token: Token,
    pub start: usize,
    pub end: usize,
}

pub(super) fn tokenize(text: &str) -> Vec<Spanned> {
    let tokens = Token::lexer(text).spanned();
    let mut list: Vec<Spanned> = tokens
        .map(|(token, range)| Spanned { token: token.unwrap_or(Token::Unknown), start: range.start, end: range.end })
        .collect();
    list.push(Spanned { token: Token::End, start: text.len(), end: text.len() });
    list
}
