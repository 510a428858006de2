//! Likely mistakes, recognised to say something better than "unexpected token": misspelled keywords, unknown types,
//! what C and C++ have and this language has not.

use super::foreign;
use super::scope::NameKind;
use super::{Parsed, Parser, Reported};
use crate::ast::*;
use crate::diag::{Code, Diagnostic, closest};
use crate::lex::{FIRST_ON_LINE, KEYWORDS, TokenKind};
use crate::source::Span;
use crate::symbol::Symbol;

/// How far a parenthesis is looked for its partner.
const MAX_LOOKAHEAD: usize = 256;

impl<'a> Parser<'a, '_> {
    /// "Expected a value", with what stands there instead.
    pub(super) fn expected_expression(&self) -> Diagnostic {
        let token = self.token();
        let message = format!("expected a value, found {}", self.describe());
        let diagnostic = Diagnostic::new(Code::ExpectedExpression, token.span, message);
        let is_type = self.is_type_start(0);
        match token.kind {
            TokenKind::Struct | TokenKind::Enum => diagnostic,
            TokenKind::Word if is_type && self.nth_kind(1) == TokenKind::LParen => {
                let name = self.texts.spelling(&token);
                diagnostic.help(format!("a struct is initialised in its declaration: `{name} value = {{ … }};`"))
            }
            _ if is_type && self.nth_kind(1) == TokenKind::LParen => {
                diagnostic.help(format!("a conversion is written `({})value`", self.texts.spelling(&token)))
            }
            _ if is_type => diagnostic.at("this is a type"),
            TokenKind::Print => diagnostic.help("`print` is a statement and has no value"),
            TokenKind::LBrace => diagnostic.help("a list in braces can only initialise a variable"),
            TokenKind::Else => diagnostic.help("`else` needs an `if` directly before it"),
            TokenKind::ColonColon => diagnostic.help("there are no namespaces; remove `::`"),
            TokenKind::LBracket => diagnostic.help("there are no lambdas; write a function"),
            TokenKind::Lt if self.last_token_kind() == Some(TokenKind::Shl) => {
                diagnostic.help("tasks are started by `launch[count] f(…)`, with `foreach` inside of them")
            }
            _ => match self.mistaken_operator() {
                Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
                None => diagnostic,
            },
        }
    }

    /// The operator meant by the last token and this one, as `<=` by `=<`.
    fn mistaken_operator(&self) -> Option<&'static str> {
        Some(match (self.last_token_kind()?, self.kind()) {
            (TokenKind::Eq, TokenKind::Lt) => "<=",
            (TokenKind::Eq, TokenKind::Gt) => ">=",
            (TokenKind::EqEq, TokenKind::Eq) => "==",
            (TokenKind::Ne, TokenKind::Eq) | (TokenKind::Lt, TokenKind::Gt) => "!=",
            _ => return None,
        })
    }

    /// "Expected a name" in a declaration.
    pub(super) fn expected_declared_name(&self) -> Diagnostic {
        let token = self.token();
        if token.kind.is_word() {
            let word = token.kind.text();
            let message = format!("expected a name, found the keyword `{word}`");
            let diagnostic = Diagnostic::new(Code::ExpectedName, token.span, message);
            return diagnostic.help("keywords cannot be names; choose another one");
        }
        let message = format!("expected a name in the declaration, found {}", self.describe());
        let diagnostic = Diagnostic::new(Code::ExpectedName, token.span, message);
        match self.last_token_kind() {
            Some(kind) if kind.is_word() && kind != TokenKind::Word => {
                diagnostic.help(format!("`{}` is a keyword and cannot be a name", kind.text()))
            }
            _ => diagnostic,
        }
    }

    /// Help for a token where a statement should have ended.
    pub(super) fn suggest_for_unexpected(&self) -> Option<String> {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at))?;
        if let Some(advice) = self.word().and_then(|word| foreign::after_value(word.as_str())) {
            return Some(advice.to_owned());
        }
        match (before.kind, self.kind()) {
            (_, TokenKind::Colon) if self.is_in_for_header() => {
                Some("to go over elements, write `for (uniform int i = 0; i < n; ++i)`".to_owned())
            }
            (TokenKind::Word, TokenKind::Word | TokenKind::LBrace) => {
                let word = before.symbol()?.as_str();
                let keyword = closest(word, KEYWORDS.iter().map(|&(keyword, _)| keyword))?;
                Some(format!("did you mean `{keyword}` instead of `{word}`?"))
            }
            _ => None,
        }
    }

    /// Whether the last few tokens opened the header of a `for`.
    fn is_in_for_header(&self) -> bool {
        const FAR: usize = 8;
        self.tokens[self.at.saturating_sub(FAR)..self.at].iter().any(|token| token.kind == TokenKind::For)
    }

    /// Whether the word begins a declaration with a type that is not declared: a name or pointer declarator follows.
    pub(super) fn is_unknown_type(&self) -> bool {
        let Some(name) = self.word() else {
            return false;
        };
        if self.scopes.get(name).is_some() || self.is_special_word(name) {
            return false;
        }
        use TokenKind::*;
        let after_name = |kind| matches!(kind, Eq | Semi | Comma | LBracket);
        match self.nth_kind(1) {
            Word => true,
            Star | Amp => self.nth_kind(2) == Word && after_name(self.nth_kind(3)) && !self.is_known(2),
            Uniform | Varying | Const | Unsigned | Signed => true,
            // A misspelled qualifier before a type: `unifrom float x`.
            kind => super::specifiers::basic_type(kind).is_some() && !self.nth(1).has(FIRST_ON_LINE),
        }
    }

    fn is_known(&self, ahead: usize) -> bool {
        self.nth_word(ahead).is_some_and(|name| self.scopes.get(name).is_some())
    }

    /// Words that are special before another name.
    fn is_special_word(&self, name: Symbol) -> bool {
        self.scopes.special(name) == Some("crev")
    }

    /// Reports a word that stands where a type must and is none. A misspelled keyword is corrected in place and
    /// `Some(true)` returned; `None` means that the word is to be taken as a type all the same.
    pub(super) fn unknown_type(&mut self, name: Symbol) -> Option<bool> {
        let span = self.span();
        if !self.diagnostics.is_silent_at(span)
            && foreign::type_name(name.as_str()).is_none()
            && let Some((keyword, kind)) = misspelled(name, begins_declaration)
        {
            let message = format!("unknown type or keyword `{name}`");
            let diagnostic = Diagnostic::new(Code::UnknownType, span, message);
            self.mention(diagnostic.help(format!("did you mean `{keyword}`?")));
            let at = self.at;
            self.tokens[at].kind = kind;
            return Some(true);
        }
        // What stands alone on its line, or before a type, is none itself.
        let is_macro = self.nth(1).has(FIRST_ON_LINE) || self.is_type_start(1);
        self.report_unknown_type(Ident { name, span }, is_macro);
        None
    }

    /// Reports a name that is no type, and perhaps was to be a macro.
    pub(super) fn report_unknown_type(&mut self, name: Ident, is_macro: bool) {
        let message = format!("unknown type `{}`", name.name);
        let mut diagnostic = Diagnostic::new(Code::UnknownType, name.span, message);
        if self.diagnostics.is_silent_at(name.span) {
            // It will not be shown, and looking for similar names takes time.
            return;
        }
        if let Some(advice) = foreign::type_name(name.name.as_str()) {
            return self.mention(diagnostic.help(advice));
        }
        let types = self.scopes.all(NameKind::Type);
        let keywords = KEYWORDS.iter().filter(|&&(_, kind)| begins_declaration(kind)).map(|&(word, _)| word);
        let known = types.iter().map(|name| name.as_str()).chain(keywords);
        if let Some(similar) = closest(name.name.as_str(), known) {
            diagnostic = diagnostic.help(format!("did you mean `{similar}`?"));
        } else if is_macro {
            diagnostic =
                diagnostic.help(format!("if it is a macro, define it: `#define {0}`, or `-D {0}=`", name.name));
        }
        self.mention(diagnostic);
    }

    /// Specifiers of C that mean nothing here: reported, skipped. Whether there was one.
    pub(super) fn foreign_specifier(&mut self, name: Symbol) -> Parsed<bool> {
        let Some(help) = foreign::specifier(name.as_str()) else { return Ok(false) };
        if self.scopes.get(name).is_some() || self.is_declared_end() {
            return Ok(false);
        }
        let span = self.bump().span;
        let message = format!("`{name}` is not part of the language");
        self.mention(Diagnostic::new(Code::UnsupportedSyntax, span, message).help(help));
        Ok(true)
    }

    fn is_declared_end(&self) -> bool {
        use TokenKind::*;
        matches!(self.nth_kind(1), Semi | Comma | Eq | LBracket | RParen)
    }

    /// The types of C with other names, such as `unsigned long long`: reported, and read as what they mean.
    pub(super) fn foreign_type(&mut self, name: Symbol, sign: Option<Sign>) -> Option<(TypeKind<'a>, Span)> {
        let first = self.scopes.special(name)?;
        if !is_foreign_type(first) || self.nth_kind(1) == TokenKind::LParen {
            return None;
        }
        let start = self.bump().span;
        let mut longs = usize::from(first == "long");
        while let Some(word) = self.word().map(|name| name.as_str()) {
            if !matches!(word, "long" | "short") {
                break;
            }
            longs += 1;
            self.bump();
        }
        let mut double = false;
        while matches!(self.kind(), TokenKind::Int | TokenKind::Double | TokenKind::Unsigned) {
            double |= self.bump().kind == TokenKind::Double;
        }
        let (basic, text) = match first {
            "char" => (Basic::Int8, "int8"),
            "short" => (Basic::Int16, "int16"),
            "half" => (Basic::Float16, "float16"),
            _ if double => (Basic::Double, "double"),
            _ if longs > 0 => (Basic::Int64, "int64"),
            _ => (Basic::Int32, "int"),
        };
        let span = self.since(start);
        let written = if longs > 1 { "long long" } else { first };
        let message = format!("there is no type `{written}`");
        let diagnostic = Diagnostic::new(Code::UnsupportedSyntax, span, message);
        let prefix = if sign == Some(Sign::Unsigned) { "u" } else { "" };
        let help = match first {
            "auto" => "write the type of the variable".to_string(),
            _ => format!("write `{prefix}{text}`"),
        };
        self.mention(diagnostic.help(help));
        let kind = if first == "auto" { TypeKind::Error } else { TypeKind::Basic(basic) };
        Some((kind, span))
    }

    /// Looks at the start of a statement for what cannot begin one. A misspelled keyword is corrected in place.
    pub(super) fn check_statement_start(&mut self) -> Parsed<()> {
        let token = self.token();
        match token.kind {
            TokenKind::Word => self.correct_statement_keyword(),
            TokenKind::Else => {
                let message = "`else` without an `if` before it";
                let help = "after `if (…)` stands one statement; put several into `{ }`";
                self.mention(Diagnostic::new(Code::MisplacedStatement, token.span, message).help(help));
                self.bump();
                Ok(())
            }
            TokenKind::Export | TokenKind::Task | TokenKind::Template => {
                let message = format!("`{}` cannot stand within a function", token.kind.text());
                self.fail(Code::MisplacedStatement, token.span, message)
            }
            _ => Ok(()),
        }
    }

    /// A word before a name, a brace or parentheses with a brace behind that is nearly a keyword is taken for it.
    fn correct_statement_keyword(&mut self) -> Parsed<()> {
        let token = self.token();
        let Some(name) = self.word() else { return Ok(()) };
        let is_known = self.scopes.get(name).is_some() || foreign::type_name(name.as_str()).is_some();
        if is_known || self.is_special_word(name) {
            return Ok(());
        }
        let next = self.nth(1);
        let is_block = next.kind == TokenKind::LBrace || self.is_block_after_parens();
        if let Some(advice) = foreign::statement(name.as_str()).filter(|_| is_block) {
            let message = format!("`{name}` is not part of the language");
            return self.report(Diagnostic::new(Code::UnsupportedSyntax, token.span, message).help(advice));
        }
        let same_line = !next.has(FIRST_ON_LINE);
        let fits: fn(TokenKind) -> bool = match next.kind {
            TokenKind::LParen if self.is_block_after_parens() => takes_condition,
            TokenKind::Word | TokenKind::Number if same_line => takes_value,
            TokenKind::Semi => stands_alone,
            TokenKind::LBrace => takes_block,
            _ => return Ok(()),
        };
        if self.diagnostics.is_silent_at(token.span) {
            return Ok(());
        }
        let Some((keyword, kind)) = misspelled(name, fits) else {
            return Ok(());
        };
        let message = format!("unknown keyword `{name}`");
        let diagnostic = Diagnostic::new(Code::UnexpectedToken, token.span, message);
        self.mention(diagnostic.help(format!("did you mean `{keyword}`?")));
        let at = self.at;
        self.tokens[at].kind = kind;
        Ok(())
    }

    /// After the body of an `if`: a misspelled `else` is corrected.
    pub(super) fn check_else(&mut self) {
        let Some(name) = self.word().filter(|&name| self.scopes.get(name).is_none()) else {
            return;
        };
        let follows = matches!(self.nth_kind(1), TokenKind::LBrace | TokenKind::If | TokenKind::CIf);
        if follows && misspelled(name, |kind| kind == TokenKind::Else).is_some() {
            let _ = self.correct_statement_keyword();
            let at = self.at;
            self.tokens[at].kind = TokenKind::Else;
        }
    }

    /// Whether after the parentheses that follow the word a `{` stands.
    fn is_block_after_parens(&self) -> bool {
        let mut depth = 0usize;
        for ahead in 1..MAX_LOOKAHEAD {
            match self.nth_kind(ahead) {
                TokenKind::LParen => depth += 1,
                TokenKind::RParen if depth <= 1 => {
                    return self.nth_kind(ahead + 1) == TokenKind::LBrace;
                }
                TokenKind::RParen => depth -= 1,
                TokenKind::LBrace | TokenKind::RBrace | TokenKind::Eof => return false,
                _ => {}
            }
        }
        false
    }

    /// Looks at the start of an item for what cannot begin one.
    pub(super) fn check_item_start(&mut self) -> Parsed<()> {
        let token = self.token();
        let span = token.span;
        match token.kind {
            TokenKind::RBrace if self.unbalanced || self.astray => Err(Reported),
            TokenKind::RBrace => {
                let message = "this `}` closes nothing";
                self.fail(Code::UnexpectedToken, span, message)
            }
            TokenKind::Word => self.check_item_word(),
            kind if self.is_type_start(0) || kind == TokenKind::Operator => Ok(()),
            kind if super::begins_statement(kind) || matches!(kind, TokenKind::LBrace | TokenKind::Else) => {
                let message = format!("{} cannot stand outside of a function", self.describe());
                let before = (self.at >= 2).then(|| (self.tokens[self.at - 2].kind, self.tokens[self.at - 1].kind));
                if kind == TokenKind::LBrace && before == Some((TokenKind::RParen, TokenKind::Semi)) {
                    let diagnostic = Diagnostic::new(Code::MisplacedStatement, span, message);
                    self.astray = true;
                    return self.report(
                        diagnostic.label(self.last_span(), "this `;` ends the declaration").help("remove the `;`"),
                    );
                }
                self.go_astray(Diagnostic::new(Code::MisplacedStatement, span, message))
            }
            _ => {
                let message = format!("expected a declaration, found {}", self.describe());
                self.fail(Code::UnexpectedToken, span, message)
            }
        }
    }

    /// Reports a statement outside of functions, unless that was just said of the one before it.
    fn go_astray(&mut self, diagnostic: Diagnostic) -> Parsed<()> {
        if std::mem::replace(&mut self.astray, true) {
            return Err(Reported);
        }
        self.report(diagnostic.help("is there a `}` too many above?"))
    }

    fn check_item_word(&mut self) -> Parsed<()> {
        let span = self.span();
        let Some(name) = self.word() else {
            return Ok(());
        };
        if self.is_type_start(0) {
            return Ok(());
        }
        let foreign = match self.scopes.special(name).unwrap_or_default() {
            "namespace" => "there are no namespaces",
            "using" => "there are no namespaces; new names for types are made with `typedef`",
            "class" => "there are no classes; write `struct` and functions",
            "union" => "there are no unions; use `intbits` and its relatives to reinterpret bits",
            "import" => "there are no modules; use `#include`",
            _ => "",
        };
        if !foreign.is_empty() {
            let message = format!("`{name}` is not part of the language");
            return self.report(Diagnostic::new(Code::UnsupportedSyntax, span, message).help(foreign));
        }
        use TokenKind::*;
        match self.nth_kind(1) {
            Eq | Dot | Arrow | LBracket | PlusPlus | MinusMinus | PlusEq | MinusEq | StarEq | SlashEq => {
                let message = "statements cannot stand outside of a function";
                let note = "to declare a variable, write its type in front";
                self.go_astray(Diagnostic::new(Code::MisplacedStatement, span, message).note(note))
            }
            LParen if !self.is_block_after_parens() => {
                let message = "a call cannot stand outside of a function";
                let note = "to declare a function, write the type of its result in front";
                self.go_astray(Diagnostic::new(Code::MisplacedStatement, span, message).note(note))
            }
            LParen => Ok(()),
            _ if self.scopes.get(name).is_none() && self.may_follow_type() => Ok(()),
            _ => {
                let message = format!("expected a declaration, found `{name}`");
                self.fail(Code::UnexpectedToken, span, message)
            }
        }
    }

    /// Whether what follows the word fits a type, so that it is best called an unknown type.
    pub(super) fn may_follow_type(&self) -> bool {
        use TokenKind::*;
        matches!(self.nth_kind(1), Word | Star | Amp | Lt) || self.is_type_start(1)
    }

    /// A function with a body where none may be.
    pub(super) fn misplaced_function<T>(&mut self, name: Ident) -> Parsed<T> {
        let message = format!("the function `{}` cannot be defined here", name.name);
        let help = "functions are defined outside of other functions; is there a `}` missing above?";
        let result = self.report(Diagnostic::new(Code::MisplacedStatement, name.span, message).help(help));
        self.skip_braces();
        result
    }

    /// Looks at what follows a variable for other ways to initialise it.
    pub(super) fn check_after_variable(&mut self, initialised: bool) -> Parsed<()> {
        match self.kind() {
            TokenKind::EqEq if !initialised => {
                let diagnostic = Diagnostic::new(Code::ExpectedToken, self.span(), "expected `=`, found `==`");
                self.report(diagnostic.help("`==` compares; a variable is initialised with `=`"))
            }
            TokenKind::LBrace if !initialised => {
                let diagnostic = Diagnostic::new(Code::UnsupportedSyntax, self.span(), "expected `=` before `{`");
                self.report(diagnostic.help("a variable is initialised with `= { … }`"))
            }
            _ => Ok(()),
        }
    }
}

/// The keyword among those that fit which a word nearly is.
fn misspelled(name: Symbol, fits: impl Fn(TokenKind) -> bool) -> Option<(&'static str, TokenKind)> {
    let candidates = KEYWORDS.iter().filter(|&&(_, kind)| fits(kind));
    let keyword = closest(name.as_str(), candidates.map(|&(word, _)| word))?;
    KEYWORDS.iter().copied().find(|&(word, _)| word == keyword)
}

/// Keywords in front of declarations, except those with a syntax of their own.
fn begins_declaration(kind: TokenKind) -> bool {
    use TokenKind::*;
    let specifier = matches!(
        kind,
        Uniform
            | Varying
            | Const
            | Static
            | Export
            | Extern
            | Inline
            | Noinline
            | Task
            | Typedef
            | Unsigned
            | Signed
            | Struct
            | Enum
    );
    specifier || super::specifiers::basic_type(kind).is_some()
}

/// Keywords followed by parentheses and a statement.
fn takes_condition(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        kind,
        If | CIf | For | CFor | While | CWhile | Foreach | ForeachActive | ForeachTiled | ForeachUnique | Switch
    )
}

/// Keywords followed by a value or name.
fn takes_value(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(kind, Return | Goto | Delete | Case) || begins_declaration(kind)
}

/// Keywords followed by `;`.
fn stands_alone(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(kind, Break | Continue | Return | Sync)
}

/// Keywords followed by `{`.
fn takes_block(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(kind, Do | Else | Unmasked | CDo)
}

/// Words of C that name types.
fn is_foreign_type(word: &str) -> bool {
    matches!(word, "long" | "short" | "char" | "auto" | "half")
}
