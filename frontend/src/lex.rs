//! The lexer: from text to tokens, by logos.
//!
//! It knows nothing of lines and directives except that each [`Token`] says whether it is the first on its line; the
//! preprocessor does the rest. Malformed pieces become tokens too (such as [`TokenKind::UnterminatedString`]), so that
//! they are reported only where the text is used, not within `#if 0`.

use std::sync::LazyLock;

use logos::Logos;

use crate::source::{FileId, Span};
use crate::symbol::{Symbol, SymbolMap, hash_name};

macro_rules! token_kinds {
    (
        punctuation { $($text:literal $(| $digraph:literal)? $punctuation:ident,)* }
        keywords { $($word:literal $keyword:ident,)* }
    ) => {
        /// The kinds of tokens.
        #[derive(Logos, Clone, Copy, PartialEq, Eq, Hash, Debug)]
        #[logos(skip r"[ \t\r\x0b\x0c\u{feff}]+")]
        #[logos(skip r"\\[ \t]*\r?\n")]
        #[allow(missing_docs)]
        pub enum TokenKind {
            /// The end of the text.
            Eof,
            /// A line break; never leaves the lexer.
            #[token("\n")]
            Newline,
            /// A comment; never leaves the lexer.
            #[regex(r"//([^\\\n]|\\\r?\n|\\[^\n])*", allow_greedy = true)]
            #[token("/*", skip_block_comment)]
            Comment,
            /// `/*` without `*/`.
            UnterminatedComment,
            /// A name that is no keyword. The data is its symbol.
            #[regex("[a-zA-Z_][a-zA-Z_0-9]*")]
            Word,
            /// Anything that begins as a number. The data is its text.
            #[regex(r"\.?[0-9]", extend_number)]
            Number,
            /// A string with its quotes. The data is its text.
            #[regex(r#"L?"([^"\\\n]|\\\r\n|\\[^\r]|\\\r)*""#)]
            String,
            /// A string without the closing quote.
            #[regex(r#"L?"([^"\\\n]|\\[^\n])*"#, priority = 2)]
            UnterminatedString,
            /// A character with its quotes. The data is its text.
            #[regex(r"'([^'\\\n]|\\[^\n])*'")]
            Char,
            /// A quote without its partner.
            #[regex(r"'([^'\\\n]|\\[^\n])*", priority = 2)]
            UnterminatedChar,
            /// `@llvm.name`. The data is its text.
            #[regex(r"@llvm\.[.a-zA-Z_0-9]*")]
            Intrinsic,
            /// `$k`, the quantifier of a polymorphic type. The data is its text.
            #[regex(r"\$[0-9]+")]
            Quantifier,
            /// Text that is no token. The data is its text.
            Unknown,
            /// `#pragma unroll`; the data is the count, 0 for none.
            PragmaUnroll,
            /// `#pragma nounroll`.
            PragmaNoUnroll,
            $(#[doc = concat!("`", $text, "`")] #[token($text)] $(#[token($digraph)])? $punctuation,)*
            $(#[doc = concat!("`", $word, "`")] $keyword,)*
        }

        impl TokenKind {
            /// The spelling of punctuation and keywords; empty for the others.
            pub fn text(self) -> &'static str {
                match self {
                    $(TokenKind::$punctuation => $text,)*
                    $(TokenKind::$keyword => $word,)*
                    _ => "",
                }
            }

            /// Whether it is a name or keyword: what a macro can be named. The data is the symbol.
            pub fn is_word(self) -> bool {
                matches!(self, TokenKind::Word $(| TokenKind::$keyword)*)
            }
        }

        /// The keywords and their kinds.
        pub const KEYWORDS: &[(&str, TokenKind)] = &[
            $(($word, TokenKind::$keyword),)*
            ("int32", TokenKind::Int),
            ("uint32", TokenKind::UInt),
        ];
    };
}

token_kinds! {
    punctuation {
        "{" | "<%" LBrace,
        "}" | "%>" RBrace,
        "(" LParen,
        ")" RParen,
        "[" | "<:" LBracket,
        "]" | ":>" RBracket,
        ";" Semi,
        "," Comma,
        ":" Colon,
        "?" Question,
        "." Dot,
        "..." Ellipsis,
        "->" Arrow,
        "::" ColonColon,
        "+" Plus,
        "-" Minus,
        "*" Star,
        "/" Slash,
        "%" Percent,
        "<<" Shl,
        ">>" Shr,
        "<" Lt,
        ">" Gt,
        "<=" Le,
        ">=" Ge,
        "==" EqEq,
        "!=" Ne,
        "&" Amp,
        "^" Caret,
        "|" Pipe,
        "&&" AmpAmp,
        "||" PipePipe,
        "!" Bang,
        "~" Tilde,
        "++" PlusPlus,
        "--" MinusMinus,
        "=" Eq,
        "*=" StarEq,
        "/=" SlashEq,
        "%=" PercentEq,
        "+=" PlusEq,
        "-=" MinusEq,
        "<<=" ShlEq,
        ">>=" ShrEq,
        "&=" AmpEq,
        "^=" CaretEq,
        "|=" PipeEq,
        "#" Hash,
        "##" HashHash,
    }
    keywords {
        "__attribute__" Attribute,
        "__declspec" Declspec,
        "__regcall" Regcall,
        "__vectorcall" Vectorcall,
        "bool" Bool,
        "break" Break,
        "case" Case,
        "cbreak" CBreak,
        "ccontinue" CContinue,
        "cdo" CDo,
        "cfor" CFor,
        "cif" CIf,
        "const" Const,
        "continue" Continue,
        "creturn" CReturn,
        "cwhile" CWhile,
        "default" Default,
        "delete" Delete,
        "do" Do,
        "double" Double,
        "else" Else,
        "enum" Enum,
        "export" Export,
        "extern" Extern,
        "false" False,
        "float" Float,
        "float16" Float16,
        "for" For,
        "foreach" Foreach,
        "foreach_active" ForeachActive,
        "foreach_tiled" ForeachTiled,
        "foreach_unique" ForeachUnique,
        "goto" Goto,
        "if" If,
        "inline" Inline,
        "int" Int,
        "int16" Int16,
        "int64" Int64,
        "int8" Int8,
        "launch" Launch,
        "new" New,
        "noinline" Noinline,
        "NULL" Null,
        "operator" Operator,
        "print" Print,
        "return" Return,
        "signed" Signed,
        "sizeof" Sizeof,
        "soa" Soa,
        "static" Static,
        "struct" Struct,
        "switch" Switch,
        "sync" Sync,
        "task" Task,
        "template" Template,
        "true" True,
        "typedef" Typedef,
        "typename" Typename,
        "uint" UInt,
        "uint16" UInt16,
        "uint64" UInt64,
        "uint8" UInt8,
        "uniform" Uniform,
        "unmasked" Unmasked,
        "unsigned" Unsigned,
        "varying" Varying,
        "void" Void,
        "while" While,
    }
}

impl TokenKind {
    /// Whether the data is the index of a text.
    pub fn has_text(self) -> bool {
        use TokenKind::{Char, Intrinsic, Number, Quantifier, String, Unknown};
        use TokenKind::{UnterminatedChar, UnterminatedComment, UnterminatedString};
        matches!(
            self,
            Number
                | String
                | Char
                | Intrinsic
                | Quantifier
                | Unknown
                | UnterminatedString
                | UnterminatedChar
                | UnterminatedComment
        )
    }
}

/// Consumes a block comment after its `/*`.
fn skip_block_comment(lexer: &mut logos::Lexer<'_, TokenKind>) -> TokenKind {
    match lexer.remainder().find("*/") {
        Some(end) => {
            lexer.bump(end + 2);
            TokenKind::Comment
        }
        None => {
            lexer.bump(lexer.remainder().len());
            TokenKind::UnterminatedComment
        }
    }
}

/// Consumes the rest of what begins as a number: letters, digits and points, and signs after an exponent's letter. The
/// three points of a range (`0...n`) are not part of it.
fn extend_number(lexer: &mut logos::Lexer<'_, TokenKind>) {
    let rest = lexer.remainder().as_bytes();
    let hex = lexer.slice() == "0" && matches!(rest.first(), Some(b'x' | b'X'));
    let mut len = 0;
    while let Some(&byte) = rest.get(len) {
        let sign = matches!(rest.get(len + 1), Some(b'+' | b'-'));
        // `1.5d-3` is a double with an exponent, `1.5d - 3` and `1.5d-x` are subtractions.
        let digit = rest.get(len + 2).is_some_and(u8::is_ascii_digit);
        let exponent = match byte {
            b'e' | b'E' => !hex,
            b'p' | b'P' => hex,
            b'd' | b'D' => !hex && digit,
            _ => false,
        };
        if exponent && sign {
            len += 2;
        } else if byte.is_ascii_alphanumeric() || byte == b'_' || (byte == b'.' && rest.get(len + 1) != Some(&b'.')) {
            len += 1;
        } else {
            break;
        }
    }
    lexer.bump(len);
}

/// A token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// [`FIRST_ON_LINE`], [`SPACE_BEFORE`], [`NO_EXPAND`], [`FROM_MACRO`].
    pub flags: u8,
    /// For words the symbol, for literals the index of the text in [`Texts`].
    data: u32,
    /// Where it stands.
    pub span: Span,
}

/// Flag: nothing but blanks and comments stands before it on its line.
pub const FIRST_ON_LINE: u8 = 1;
/// Flag: a blank or comment stands before it.
pub const SPACE_BEFORE: u8 = 2;
/// Flag: a word that is not to be expanded as a macro any more.
pub const NO_EXPAND: u8 = 4;
/// Flag: a token of a macro's body, whose span is that of the macro's use.
pub const FROM_MACRO: u8 = 8;

impl Token {
    /// A token of punctuation, or another one without data.
    pub fn plain(kind: TokenKind, span: Span) -> Token {
        Token { kind, flags: 0, data: 0, span }
    }

    /// A `#pragma unroll` with a count (0 for none).
    pub fn unroll(count: u32, span: Span) -> Token {
        Token { kind: TokenKind::PragmaUnroll, flags: 0, data: count, span }
    }

    /// The count of a [`TokenKind::PragmaUnroll`].
    pub fn unroll_count(&self) -> Option<u32> {
        (self.kind == TokenKind::PragmaUnroll && self.data > 0).then_some(self.data)
    }

    /// The symbol of a word or keyword.
    pub fn symbol(&self) -> Option<Symbol> {
        self.kind.is_word().then(|| Symbol::from_index(self.data))
    }

    /// The token of a macro's body as part of its expansion at `span`.
    #[must_use]
    pub fn from_macro(self, span: Span) -> Token {
        Token { span, flags: self.flags | FROM_MACRO, ..self }
    }

    /// Whether the flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The texts of the literals of one compilation.
#[derive(Default)]
pub struct Texts<'a> {
    list: Vec<&'a str>,
}

impl<'a> Texts<'a> {
    /// A literal token with this text.
    pub fn token(&mut self, kind: TokenKind, text: &'a str, span: Span) -> Token {
        let data = self.list.len() as u32;
        self.list.push(text);
        Token { kind, flags: 0, data, span }
    }

    /// The text of a literal; empty for other tokens.
    pub fn literal(&self, token: &Token) -> &'a str {
        if !token.kind.has_text() {
            return "";
        }
        self.list.get(token.data as usize).copied().unwrap_or_default()
    }

    /// The spelling of any token.
    pub fn spelling(&self, token: &Token) -> &'a str {
        match token.symbol() {
            Some(symbol) => symbol.as_str(),
            None if token.kind.has_text() => self.literal(token),
            None => token.kind.text(),
        }
    }
}

/// The kinds of the words that are keywords.
static KEYWORD_KINDS: LazyLock<SymbolMap<TokenKind>> =
    LazyLock::new(|| KEYWORDS.iter().map(|&(word, kind)| (Symbol::intern(word), kind)).collect());

/// A small cache of words that were seen lately, in front of the shared table of symbols. It is direct-mapped.
pub struct WordCache {
    entries: Vec<Option<(&'static str, Symbol, TokenKind)>>,
}

const CACHE_BITS: u32 = 10;

impl Default for WordCache {
    fn default() -> WordCache {
        WordCache { entries: vec![None; 1 << CACHE_BITS] }
    }
}

impl WordCache {
    /// The symbol of a word, and [`TokenKind::Word`] or the keyword it is.
    pub fn get(&mut self, word: &str) -> (Symbol, TokenKind) {
        let slot = &mut self.entries[(hash_name(word) >> (64 - CACHE_BITS)) as usize];
        if let Some((cached, symbol, kind)) = slot
            && *cached == word
        {
            return (*symbol, *kind);
        }
        let symbol = Symbol::intern(word);
        let kind = KEYWORD_KINDS.get(&symbol).copied().unwrap_or(TokenKind::Word);
        *slot = Some((symbol.as_str(), symbol, kind));
        (symbol, kind)
    }
}

/// Yields the tokens of one text.
pub struct Lexer<'a> {
    raw: logos::Lexer<'a, TokenKind>,
    file: FileId,
    /// Where the previous token ended.
    last_end: usize,
    at_line_start: bool,
}

impl<'a> Lexer<'a> {
    /// Over a whole file.
    pub fn new(file: FileId, text: &'a str) -> Lexer<'a> {
        Lexer { raw: TokenKind::lexer(text), file, last_end: 0, at_line_start: true }
    }

    /// The next token; at the end [`TokenKind::Eof`], for ever.
    pub fn next(&mut self, texts: &mut Texts<'a>, words: &mut WordCache) -> Token {
        loop {
            let kind = match self.raw.next() {
                None => TokenKind::Eof,
                Some(Ok(TokenKind::Newline)) => {
                    self.at_line_start = true;
                    continue;
                }
                Some(Ok(TokenKind::Comment)) => continue,
                Some(Ok(kind)) => kind,
                Some(Err(())) => TokenKind::Unknown,
            };
            let range = self.raw.span();
            let span = Span::new(self.file, range.start as u32, range.end as u32);
            let mut token = match kind {
                TokenKind::Word => {
                    let (symbol, kind) = words.get(self.raw.slice());
                    Token { kind, flags: 0, data: symbol.index(), span }
                }
                kind if kind.has_text() => texts.token(kind, self.raw.slice(), span),
                kind => Token::plain(kind, span),
            };
            if self.at_line_start || kind == TokenKind::Eof {
                token.flags |= FIRST_ON_LINE;
            }
            if range.start > self.last_end {
                token.flags |= SPACE_BEFORE;
            }
            self.at_line_start = false;
            self.last_end = range.end;
            return token;
        }
    }

    /// The text from an offset to the end of its (logical) line.
    pub fn rest_of_line(&self, from: u32) -> &'a str {
        let rest = self.raw.source().get(from as usize..).unwrap_or_default();
        let mut end = 0;
        for line in rest.split_inclusive('\n') {
            end += line.len();
            let content = line.trim_end_matches(['\n', '\r']);
            if !content.ends_with('\\') {
                break;
            }
        }
        rest[..end].trim_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex(text: &str) -> Vec<(TokenKind, String)> {
        let (mut texts, mut words) = (Texts::default(), WordCache::default());
        let mut lexer = Lexer::new(FileId(0), text);
        let mut tokens = Vec::new();
        loop {
            let token = lexer.next(&mut texts, &mut words);
            if token.kind == TokenKind::Eof {
                return tokens;
            }
            tokens.push((token.kind, texts.spelling(&token).to_string()));
        }
    }

    fn spellings(text: &str) -> Vec<String> {
        lex(text).into_iter().map(|(_, spelling)| spelling).collect()
    }

    #[test]
    fn words_and_keywords() {
        use TokenKind::{Foreach, ForeachTiled, Int, Word};
        let kinds: Vec<_> = lex("foreach foreach_tiled forEach int int32 x").iter().map(|t| t.0).collect();
        assert_eq!(kinds, [Foreach, ForeachTiled, Word, Int, Int, Word]);
    }

    #[test]
    fn numbers_and_ranges() {
        assert_eq!(spellings("0...n"), ["0", "...", "n"]);
        assert_eq!(
            spellings("0x1p-3f 1e+5 0xe+1 .5f 1.f 4k"),
            ["0x1p-3f", "1e+5", "0xe", "+", "1", ".5f", "1.f", "4k"]
        );
        assert_eq!(spellings("1d-15 1.5d+3 0xd+1 1.5d-x"), ["1d-15", "1.5d+3", "0xd", "+", "1", "1.5d", "-", "x"]);
        assert_eq!(spellings("1....5"), ["1", "...", ".5"]);
        assert_eq!(spellings("a.x .5"), ["a", ".", "x", ".5"]);
    }

    #[test]
    fn comments_and_splices() {
        assert_eq!(spellings("a /* b \n c */ d // e \\\n f\ng \\\n h"), ["a", "d", "g", "h"]);
        assert_eq!(lex("x /* y")[1].0, TokenKind::UnterminatedComment);
        assert_eq!(spellings("a/**/b/***/c"), ["a", "b", "c"]);
    }

    #[test]
    fn literals() {
        assert_eq!(spellings(r#""a\"b" 'x' '\'' L"w""#), [r#""a\"b""#, "'x'", r"'\''", "L\"w\""]);
        assert_eq!(lex("\"abc\nx")[0].0, TokenKind::UnterminatedString);
        assert_eq!(lex("don't")[1].0, TokenKind::UnterminatedChar);
        assert_eq!(lex("floating$12")[1], (TokenKind::Quantifier, "$12".into()));
        assert_eq!(lex("§")[0].0, TokenKind::Unknown);
    }

    #[test]
    fn longest_punctuation() {
        assert_eq!(spellings("a>>=b<<c->d...e<%%>"), ["a", ">>=", "b", "<<", "c", "->", "d", "...", "e", "{", "}"]);
    }

    #[test]
    fn flags() {
        let (mut texts, mut words) = (Texts::default(), WordCache::default());
        let mut lexer = Lexer::new(FileId(0), "a(b) /* \n */ c\n  d");
        let flags: Vec<u8> = (0..6).map(|_| lexer.next(&mut texts, &mut words).flags).collect();
        assert_eq!(flags, [1, 0, 0, 0, 2, 3]);
    }
}
