//! The directives: lines that begin with `#`.

use super::include::{IncludeError, IncludeRequest, Included};
use super::macros::{Function, Macro, Object, Piece, PieceKind};
use super::{Conditional, Preprocessor};
use crate::diag::{Code, Diagnostic, Quiet, closest};
use crate::lex::{FIRST_ON_LINE, Lexer, SPACE_BEFORE, Token, TokenKind};
use crate::parse::foreign::is_standard_header;
use crate::source::Span;
use crate::symbol::{Symbol, SymbolMap};

const DIRECTIVES: [&str; 14] = [
    "define", "undef", "include", "if", "ifdef", "ifndef", "elif", "elifdef", "elifndef", "else", "endif", "error",
    "warning", "pragma",
];

impl Preprocessor<'_, '_> {
    /// Obeys the directive after a `#`. Some pragmas become a token.
    pub(super) fn directive(&mut self, hash: Token) -> Option<Token> {
        let name = self.peek_raw();
        if name.has(FIRST_ON_LINE) {
            return None;
        }
        let name = self.next_raw();
        match self.texts.spelling(&name) {
            "define" => self.define(),
            "undef" => self.undef(name.span),
            "include" => self.include(name.span),
            "if" => {
                let holds = self.condition(name.span);
                self.open_conditional(name.span, holds);
            }
            directive @ ("ifdef" | "ifndef") => {
                let defined = self.is_line_defined(name.span);
                self.open_conditional(name.span, defined == (directive == "ifdef"));
            }
            "elif" | "elifdef" | "elifndef" | "else" => self.alternative(&name),
            "endif" => self.close_conditional(name.span),
            "error" => self.user_message(Code::ErrorDirective, hash.span.to(name.span), name.span.hi),
            "warning" => self.user_message(Code::WarningDirective, hash.span.to(name.span), name.span.hi),
            "pragma" => return self.pragma(hash.span.to(name.span)),
            "line" => self.line_directive(name.span, None),
            _ if name.kind == TokenKind::Number => self.line_directive(name.span, Some(name)),
            other => {
                let mut diagnostic =
                    Diagnostic::new(Code::BadDirective, name.span, format!("unknown directive `#{other}`"));
                diagnostic = match closest(other, DIRECTIVES) {
                    Some(similar) => diagnostic.help(format!("did you mean `#{similar}`?")),
                    None => diagnostic.help("a comment begins with `//`"),
                };
                self.diagnostics.emit(diagnostic);
                self.rest_of_line();
            }
        }
        None
    }

    /// Warns of what stands after a complete directive.
    fn expect_end(&mut self, rest: &[Token]) {
        if let Some(first) = rest.first() {
            let message = "extra text after the directive is ignored";
            self.error(Code::ExtraTokens, first.span, message);
        }
    }

    fn user_message(&mut self, code: Code, span: Span, from: u32) {
        let text = self.files.last().map_or("", |file| file.lexer.rest_of_line(from)).trim();
        let text = if text.is_empty() { "no reason given" } else { text };
        self.rest_of_line();
        self.error(code, span, text);
    }

    // Macros

    fn define(&mut self) {
        let line = self.rest_of_line();
        let Some((name, body)) = line.split_first() else {
            let span = self.peek_raw().span;
            return self.error(Code::BadMacroDefinition, Span { hi: span.lo, ..span }, "`#define` needs a name");
        };
        let Some(symbol) = name.symbol().filter(|symbol| symbol.as_str() != "defined") else {
            return self.error(Code::BadMacroDefinition, name.span, "a macro's name must be an identifier");
        };
        let has_params = body.first().is_some_and(|next| next.kind == TokenKind::LParen && !next.has(SPACE_BEFORE));
        let new = if has_params { self.function_macro(name.span, body) } else { self.object_macro(name.span, body) };
        let Some(new) = new else { return };
        self.warn_if_redefined(symbol, name.span, &new);
        self.macros.insert(symbol, new);
    }

    fn warn_if_redefined(&mut self, symbol: Symbol, span: Span, new: &Macro) {
        let Some(old) = self.macros.get(symbol) else {
            return;
        };
        if **old == *new && self.same_spelling(old, new) {
            return;
        }
        let message = format!("macro `{symbol}` is defined again with another meaning");
        let mut diagnostic = Diagnostic::new(Code::MacroRedefined, span, message);
        if let Macro::Object(Object { defined_at, .. }) | Macro::Function(Function { defined_at, .. }) = **old {
            diagnostic = diagnostic.label(defined_at, "first defined here");
        }
        self.diagnostics.emit(diagnostic.help(format!("write `#undef {symbol}` first if this is intended")));
    }

    fn same_spelling(&self, old: &Macro, new: &Macro) -> bool {
        let body = |of: &Macro| match of {
            Macro::Builtin(_) => Vec::new(),
            Macro::Object(Object { body, .. }) | Macro::Function(Function { body, .. }) => {
                body.iter().map(|piece| self.texts.literal(&piece.token)).collect::<Vec<_>>()
            }
        };
        body(old) == body(new)
    }

    fn object_macro(&mut self, defined_at: Span, body: &[Token]) -> Option<Macro> {
        let body = self.pieces(body, &SymbolMap::default(), false)?;
        Some(Macro::Object(Object { defined_at, body }))
    }

    fn function_macro(&mut self, defined_at: Span, line: &[Token]) -> Option<Macro> {
        let mut params: SymbolMap<usize> = SymbolMap::default();
        let mut variadic = false;
        let mut at = 1;
        let malformed = loop {
            let Some(token) = line.get(at) else {
                break true;
            };
            at += 1;
            match token.kind {
                TokenKind::RParen if params.is_empty() || variadic => break false,
                TokenKind::Ellipsis if !variadic => {
                    params.insert(Symbol::intern("__VA_ARGS__"), params.len());
                    variadic = true;
                }
                _ if variadic => break true,
                _ => match token.symbol() {
                    Some(param) if !params.contains_key(&param) => {
                        params.insert(param, params.len());
                    }
                    _ => break true,
                },
            }
            match line.get(at).map(|next| next.kind) {
                Some(TokenKind::RParen) => {
                    at += 1;
                    break false;
                }
                Some(TokenKind::Comma) if !variadic => at += 1,
                // `args...` names the remaining arguments.
                Some(TokenKind::Ellipsis) if !variadic => {
                    variadic = true;
                    at += 1;
                    if line.get(at).map(|next| next.kind) != Some(TokenKind::RParen) {
                        break true;
                    }
                    at += 1;
                    break false;
                }
                _ => break true,
            }
        };
        if malformed {
            let span = line.get(at - 1).or(line.last()).map_or(defined_at, |token| token.span);
            let message = "malformed parameter list of a macro";
            let help = "write different names separated by commas, perhaps `...` at the end, then `)`";
            self.diagnostics.emit(Diagnostic::new(Code::BadMacroDefinition, span, message).help(help));
            return None;
        }
        let body = self.pieces(&line[at..], &params, true)?;
        Some(Macro::Function(Function { defined_at, params: params.len(), variadic, body }))
    }

    /// A macro's body with its parameters and operators found.
    fn pieces(&mut self, body: &[Token], params: &SymbolMap<usize>, has_params: bool) -> Option<Vec<Piece>> {
        let param_of = |token: &Token| params.get(&token.symbol()?).copied();
        let mut pieces: Vec<Piece> = Vec::with_capacity(body.len());
        let mut pasted = false;
        let mut at = 0;
        while let Some(&token) = body.get(at) {
            at += 1;
            if token.kind == TokenKind::HashHash {
                if pieces.is_empty() || at == body.len() {
                    let message = "`##` must stand between two tokens";
                    self.error(Code::BadMacroDefinition, token.span, message);
                    return None;
                }
                pasted = true;
                continue;
            }
            let mut kind = param_of(&token).map_or(PieceKind::Token, PieceKind::Param);
            if token.kind == TokenKind::Hash && has_params {
                let Some(param) = body.get(at).and_then(param_of) else {
                    let message = "`#` must be followed by a parameter of the macro";
                    self.error(Code::BadMacroDefinition, token.span, message);
                    return None;
                };
                at += 1;
                kind = PieceKind::Stringified(param);
            }
            pieces.push(Piece { token, kind, pasted });
            pasted = false;
        }
        Some(pieces)
    }

    fn undef(&mut self, at: Span) {
        let line = self.rest_of_line();
        match line.first().and_then(Token::symbol) {
            Some(symbol) => {
                self.macros.remove(symbol);
                self.expect_end(&line[1..]);
            }
            None => self.error(Code::BadDirective, at, "`#undef` needs the name of a macro"),
        }
    }

    // Conditionals

    /// The condition of an `#if` or `#elif`; false when malformed.
    fn condition(&mut self, at: Span) -> bool {
        let line = self.rest_of_line();
        let Some(end) = line.last().map(|token| token.span) else {
            self.error(Code::BadConditionalExpression, at, "the condition is missing");
            return false;
        };
        let line = self.replace_defined(&line);
        let line = self.expand_alone(line);
        self.evaluate(&line, end.after())
    }

    /// The condition of an `#ifdef` or `#ifndef`.
    fn is_line_defined(&mut self, at: Span) -> bool {
        let line = self.rest_of_line();
        match line.first().and_then(Token::symbol) {
            Some(symbol) => {
                self.expect_end(&line[1..]);
                self.macros.contains(symbol)
            }
            None => {
                self.error(Code::BadDirective, at, "the name of a macro is missing");
                false
            }
        }
    }

    fn open_conditional(&mut self, span: Span, holds: bool) {
        if let Some(file) = self.files.last_mut() {
            file.conditionals.push(Conditional { span, taken: holds, in_else: false });
        }
        if !holds {
            self.skip_group();
        }
    }

    /// `#else` or `#elif` after a part that was taken: everything to `#endif` is skipped.
    fn alternative(&mut self, name: &Token) {
        let spelling = self.texts.spelling(name);
        self.rest_of_line();
        if self.check_alternative(name.span, spelling) {
            self.skip_group();
        }
    }

    /// Whether `#else` or `#elif` may stand here. An unbalanced one is reported.
    fn check_alternative(&mut self, span: Span, spelling: &str) -> bool {
        let open = self.files.last_mut().and_then(|file| file.conditionals.last_mut());
        let Some(open) = open else {
            self.error(Code::UnbalancedConditional, span, format!("`#{spelling}` without `#if`"));
            return false;
        };
        if open.in_else {
            let first = open.span;
            let message = format!("`#{spelling}` after `#else`");
            let diagnostic = Diagnostic::new(Code::UnbalancedConditional, span, message);
            self.diagnostics.emit(diagnostic.label(first, "of this conditional"));
            return true;
        }
        open.in_else = spelling == "else";
        true
    }

    fn close_conditional(&mut self, span: Span) {
        let line = self.rest_of_line();
        self.expect_end(&line);
        let open = self.files.last_mut().and_then(|file| file.conditionals.pop());
        if open.is_none() {
            self.error(Code::UnbalancedConditional, span, "`#endif` without `#if`");
        }
    }

    /// Skips to the part of the innermost conditional that is taken, or to its `#endif`.
    fn skip_group(&mut self) {
        let mut depth = 0usize;
        loop {
            let token = self.peek_raw();
            if token.kind == TokenKind::Eof {
                return;
            }
            self.next_raw();
            if token.kind != TokenKind::Hash || !token.has(FIRST_ON_LINE) || self.peek_raw().has(FIRST_ON_LINE) {
                continue;
            }
            let name = self.next_raw();
            match self.texts.spelling(&name) {
                "if" | "ifdef" | "ifndef" => depth += 1,
                "endif" if depth == 0 => return self.close_conditional(name.span),
                "endif" => depth -= 1,
                spelling @ ("else" | "elif" | "elifdef" | "elifndef")
                    if depth == 0 && self.takes_alternative(&name, spelling) =>
                {
                    return;
                }
                _ => {}
            }
        }
    }

    /// Whether the part after an `#else` or `#elif` that ends a skipped part is to be read.
    fn takes_alternative(&mut self, name: &Token, spelling: &str) -> bool {
        let already_taken = self.files.last().and_then(|file| file.conditionals.last()).is_some_and(|open| open.taken);
        if !self.check_alternative(name.span, spelling) || already_taken {
            self.rest_of_line();
            return false;
        }
        let holds = match spelling {
            "elif" => self.condition(name.span),
            "elifdef" => self.is_line_defined(name.span),
            "elifndef" => !self.is_line_defined(name.span),
            _ => {
                let line = self.rest_of_line();
                self.expect_end(&line);
                true
            }
        };
        if let Some(open) = self.files.last_mut().and_then(|file| file.conditionals.last_mut()) {
            open.taken = holds;
        }
        holds
    }

    // Files

    fn include(&mut self, at: Span) {
        let line = self.rest_of_line();
        let Some((name, quoted, span)) = self.include_name(line) else {
            let help = "write `#include \"file\"` or `#include <file>`";
            return self
                .diagnostics
                .emit(Diagnostic::new(Code::BadDirective, at, "`#include` needs the name of a file").help(help));
        };
        let limits = *self.diagnostics.limits();
        if self.files.len() > limits.include_depth || self.budget.includes >= limits.includes {
            let message = "too many files are included, or too deeply";
            let help = "does a file include itself? `#pragma once` at its top prevents that";
            return self.give_up(Diagnostic::new(Code::IncludeLimit, span, message).help(help));
        }
        self.budget.includes += 1;
        let includer = self.files.last().and_then(|file| file.path.clone());
        let request = IncludeRequest { name: &name, quoted, includer: includer.as_deref() };
        match self.options.loader.load(&request) {
            Ok(included) if self.budget.bytes.saturating_add(included.text.len()) > limits.bytes => {
                let message = format!("all files together have more than {} bytes", limits.bytes);
                self.give_up(Diagnostic::new(Code::SourceTooLarge, span, message));
            }
            Ok(included) => self.enter_include(included, span),
            Err(error) => self.report_include(&name, span, error),
        }
    }

    fn enter_include(&mut self, included: Included, span: Span) {
        if self.once.contains(&once_key(&included)) {
            return;
        }
        if let Some(path) = &included.path
            && !self.included.contains(path)
        {
            self.included.push(path.clone());
        }
        let id = match included.is_part {
            true => self.sources.add(included.name, included.text),
            false => self.sources.add_included(included.name, included.text, span),
        };
        self.enter_file(id, included.path);
    }

    fn report_include(&mut self, name: &str, span: Span, error: IncludeError) {
        let diagnostic = match error {
            IncludeError::NotFound | IncludeError::Forbidden(_) if is_standard_header(name) => {
                Diagnostic::new(Code::IncludeNotFound, span, format!("cannot find the file `{name}`"))
                    .help("remove it: the whole library is built in, and headers of C and C++ cannot be read")
            }
            IncludeError::NotFound => {
                Diagnostic::new(Code::IncludeNotFound, span, format!("cannot find the file `{name}`"))
                    .help("files are searched in the including file's folder and in the include paths")
            }
            IncludeError::Forbidden(why) => {
                Diagnostic::new(Code::IncludeForbidden, span, format!("may not include `{name}`"))
                    .note(why)
                    .help("give its folder as an include path")
            }
            IncludeError::Unreadable(why) => {
                Diagnostic::new(Code::IncludeNotFound, span, format!("cannot read the file `{name}`: {why}"))
            }
        };
        self.give_up(diagnostic);
    }

    /// The file name of an `#include`, whether it is in quotes, and where it stands.
    fn include_name(&mut self, mut line: Vec<Token>) -> Option<(String, bool, Span)> {
        let written = |first: &Token| matches!(first.kind, TokenKind::String | TokenKind::Lt);
        if !line.first().is_some_and(written) {
            line = self.expand_alone(line);
        }
        let first = *line.first()?;
        match first.kind {
            TokenKind::String => {
                self.expect_end(&line[1..]);
                let name = self.texts.literal(&first).trim_matches('"').to_string();
                Some((name, true, first.span))
            }
            TokenKind::Lt => {
                let end = line.iter().position(|token| token.kind == TokenKind::Gt)?;
                self.expect_end(&line[end + 1..]);
                let spell = |token: &Token| {
                    let blank = if token.has(SPACE_BEFORE) { " " } else { "" };
                    format!("{blank}{}", self.texts.spelling(token))
                };
                let name: String = line[1..end].iter().map(spell).collect();
                Some((name.trim().to_string(), false, first.span.to(line[end].span)))
            }
            _ => None,
        }
    }

    /// `#line number "name"`, or `# number "name"`: changes what `__LINE__` and `__FILE__` say.
    fn line_directive(&mut self, at: Span, number: Option<Token>) {
        let mut line = self.rest_of_line();
        if let Some(number) = number {
            line.insert(0, number);
        }
        let line = self.expand_alone(line);
        let number = line.first().filter(|token| token.kind == TokenKind::Number);
        let Some(number) = number.and_then(|token| self.texts.literal(token).parse::<u32>().ok()) else {
            return self.error(Code::BadDirective, at, "`#line` needs a line number");
        };
        let here = self.sources.line(at);
        let name = line.get(1).filter(|token| token.kind == TokenKind::String);
        let name = name.map(|token| self.texts.literal(token).trim_matches('"').to_string());
        if let Some(file) = self.files.last_mut() {
            file.line_offset = i64::from(number) - i64::from(here) - 1;
            if name.is_some() {
                file.name = name;
            }
        }
    }

    // Pragmas

    fn pragma(&mut self, at: Span) -> Option<Token> {
        let line = self.rest_of_line();
        let span = line.last().map_or(at, |last| at.to(last.span));
        self.obey_pragma(line, span, false)
    }

    /// `_Pragma("…")`, the form of C99: what `#pragma …` says, where a macro may say it. Its first token has been read.
    pub(super) fn pragma_operator(&mut self, at: Token) -> Option<Token> {
        let [open, text, close] = [(); 3].map(|()| self.next_unexpanded());
        if [open.kind, text.kind, close.kind] != [TokenKind::LParen, TokenKind::String, TokenKind::RParen] {
            let error = Diagnostic::new(Code::BadDirective, at.span, "`_Pragma` takes one string");
            self.diagnostics.emit(error.help("write `_Pragma(\"unroll\")` for `#pragma unroll`"));
            return None;
        }
        let quoted = self.texts.literal(&text);
        let said = quoted.strip_prefix('"').and_then(|said| said.strip_suffix('"')).unwrap_or_default();
        let said = self.arena.alloc_str(&said.replace("\\\"", "\"").replace("\\\\", "\\"));
        let mut lexer = Lexer::new(text.span.file, said);
        let mut line = Vec::new();
        loop {
            let mut token = lexer.next(&mut self.texts, &mut self.words);
            if token.kind == TokenKind::Eof {
                break;
            }
            token.span = text.span;
            line.push(token);
        }
        self.obey_pragma(line, at.span, true)
    }

    fn obey_pragma(&mut self, line: Vec<Token>, span: Span, is_operator: bool) -> Option<Token> {
        let word = |index: usize| line.get(index).map_or("", |token: &Token| self.texts.spelling(token));
        match (word(0), word(1)) {
            ("", _) => None,
            ("once", _) => {
                self.mark_once();
                None
            }
            ("ignore", "warning") => {
                self.ignore_warning(&line[2..], span, is_operator);
                None
            }
            ("unroll", _) => self.unroll(&line[1..], span),
            ("nounroll", _) => {
                self.expect_end(&line[1..]);
                Some(Token::plain(TokenKind::PragmaNoUnroll, span))
            }
            (name, _) => {
                let message = format!("`#pragma {name}` means nothing here");
                let known = ["once", "unroll", "nounroll", "ignore"];
                let mut diagnostic = Diagnostic::new(Code::UnknownPragma, span, message);
                if let Some(similar) = closest(name, known) {
                    diagnostic = diagnostic.help(format!("did you mean `#pragma {similar}`?"));
                }
                self.diagnostics.emit(diagnostic);
                None
            }
        }
    }

    fn mark_once(&mut self) {
        let Some(file) = self.files.last() else {
            return;
        };
        let name = self.sources.get(file.id).map(|source| source.name.clone()).unwrap_or_default();
        let included = Included { name, path: file.path.clone(), text: String::new(), is_part: false };
        self.once.insert(once_key(&included));
    }

    fn ignore_warning(&mut self, arguments: &[Token], span: Span, is_operator: bool) {
        let what: Vec<&str> = arguments.iter().map(|token| self.texts.spelling(token)).collect();
        let quiet = match what[..] {
            [] | ["(", "all", ")"] => Some(Quiet::All),
            ["(", "perf", ")"] => Some(Quiet::Performance),
            ["(", code, ")"] => Code::from_id(code).map(Quiet::Code),
            _ => None,
        };
        let quiet = match quiet {
            Some(quiet) => quiet,
            None => {
                let help =
                    "write `#pragma ignore warning`, `… warning(all)`, `… warning(perf)` or a code: `… warning(W0200)`";
                let message = "malformed `#pragma ignore warning`";
                return self.diagnostics.emit(Diagnostic::new(Code::BadDirective, span, message).help(help));
            }
        };
        let Some(file) = self.sources.get(span.file) else { return };
        let next = next_line(&file.text, span);
        // In a macro, what the operator is about can stand on its own line.
        let first = if is_operator { span.lo } else { next.lo };
        self.diagnostics.ignore_warnings(Some(Span { lo: first, ..next }), quiet);
    }

    fn unroll(&mut self, arguments: &[Token], span: Span) -> Option<Token> {
        let arguments = self.expand_alone(arguments.to_vec());
        let what: Vec<&str> = arguments.iter().map(|token| self.texts.spelling(token)).collect();
        let count = match what[..] {
            [] => return Some(Token::unroll(0, span)),
            ["(", count, ")"] | [count] => count.parse::<u32>().ok().filter(|&count| count > 0),
            _ => None,
        };
        if count.is_none() {
            let help = "write `#pragma unroll` or `#pragma unroll(4)`";
            let message = "malformed `#pragma unroll`: the count must be a positive number";
            self.diagnostics.emit(Diagnostic::new(Code::BadDirective, span, message).help(help));
        }
        count.map(|count| Token::unroll(count, span))
    }
}

/// What tells files apart for `#pragma once`.
fn once_key(included: &Included) -> String {
    match &included.path {
        // One file may be reached by several paths.
        Some(path) => format!("file:{}", path.canonicalize().as_ref().unwrap_or(path).display()),
        None => format!("header:{}", included.name),
    }
}

/// The line of a text behind the one where a span ends.
fn next_line(text: &str, span: Span) -> Span {
    let line_end = |from: usize| {
        let rest = text.as_bytes().get(from..).unwrap_or_default();
        rest.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| from + at + 1)
    };
    let start = line_end(span.hi as usize);
    Span { lo: start as u32, hi: line_end(start) as u32, ..span }
}
