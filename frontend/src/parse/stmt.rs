//! Statements.

use super::item::Declared;
use super::scope::NameKind;
use super::{Parsed, Parser, begins_item};
use crate::ast::*;
use crate::diag::{Code, Diagnostic};
use crate::lex::{FIRST_ON_LINE, TokenKind};
use crate::source::Span;

impl<'a> Parser<'a, '_> {
    /// `{ … }`, a scope of its own.
    pub(super) fn block(&mut self) -> Parsed<Block<'a>> {
        self.scopes.open();
        let block = self.unscoped_block();
        self.scopes.close();
        block
    }

    /// `{ … }` whose declarations are seen after it too, as those of an `unmasked` block are.
    fn unscoped_block(&mut self) -> Parsed<Block<'a>> {
        let opening = self.expect(TokenKind::LBrace, "to open a block")?;
        let stmts = self.nested(|parser| {
            let mut stmts = Vec::new();
            while !matches!(parser.kind(), TokenKind::RBrace | TokenKind::Eof) && !parser.is_item_within() {
                parser.statement_or_skip(&mut stmts);
            }
            Ok(parser.alloc_slice(&stmts))
        })?;
        self.close_brace(opening);
        Ok(Block { stmts, span: self.since(opening) })
    }

    /// Whether something stands here that can only stand outside of functions, so that a `}` must be missing.
    fn is_item_within(&self) -> bool {
        let token = self.token();
        token.has(FIRST_ON_LINE) && begins_item(token.kind, 1)
    }

    /// Consumes a `}`. A missing one is reported at the `{`; parsing goes on as if it were there.
    pub(super) fn close_brace(&mut self, opening: Span) {
        if self.eat(TokenKind::RBrace) || self.unclosed_at == Some(self.at) {
            return;
        }
        self.unclosed_at = Some(self.at);
        self.unbalanced = true;
        if self.is_swallowed() {
            return;
        }
        let message = "this `{` is never closed";
        let mut diagnostic = Diagnostic::new(Code::UnclosedDelimiter, opening, message);
        if self.kind() != TokenKind::Eof {
            diagnostic = diagnostic.label(self.span(), "this cannot stand within a function");
        }
        self.mention(diagnostic.help("add `}`"));
    }

    /// Whether a comment or string that never ends may have swallowed what is missing; it is reported.
    fn is_swallowed(&self) -> bool {
        use TokenKind::{UnterminatedChar, UnterminatedComment, UnterminatedString};
        let is_open = |kind| matches!(kind, UnterminatedComment | UnterminatedString | UnterminatedChar);
        self.tokens.iter().any(|token| is_open(token.kind))
    }

    /// Skips `{ … }`.
    pub(super) fn skip_braces(&mut self) {
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::LBrace => depth += 1,
                TokenKind::RBrace => depth = depth.saturating_sub(1),
                TokenKind::Eof => return,
                _ => {}
            }
            self.bump();
            if depth == 0 {
                return;
            }
        }
    }

    /// Reads a statement into a block, after the definitions hoisted from it; a malformed one is skipped.
    fn statement_or_skip(&mut self, stmts: &mut Vec<Stmt<'a>>) {
        let before = self.at;
        let outer = std::mem::take(&mut self.hoisted);
        let result = self.block_statement(stmts);
        if result.is_err() {
            self.flush_hoisted(stmts);
            let span = self.span();
            self.skip_statement(before);
            stmts.push(Stmt { kind: StmtKind::Error, span });
            if self.at == before {
                self.bump();
            }
        }
        self.hoisted = outer;
    }

    pub(super) fn block_statement(&mut self, stmts: &mut Vec<Stmt<'a>>) -> Parsed<()> {
        let start = self.span();
        self.check_statement_start()?;
        if !self.is_declaration() {
            let stmt = self.statement(true)?;
            self.flush_hoisted(stmts);
            stmts.push(stmt);
            return Ok(());
        }
        let declared = self.declaration(false)?;
        self.flush_hoisted(stmts);
        for part in declared {
            let kind = declared_stmt(part);
            stmts.push(Stmt { kind, span: self.since(start) });
        }
        Ok(())
    }

    /// Moves hoisted definitions into the statements.
    fn flush_hoisted(&mut self, stmts: &mut Vec<Stmt<'a>>) {
        for item in self.hoisted.drain(..) {
            let kind = match item.kind {
                ItemKind::Struct(definition) => StmtKind::Struct(definition),
                ItemKind::Enum(definition) => StmtKind::Enum(definition),
                _ => continue,
            };
            stmts.push(Stmt { kind, span: item.span });
        }
    }

    /// Whether a declaration begins here.
    pub(super) fn is_declaration(&self) -> bool {
        let label = self.nth_kind(1) == TokenKind::Colon;
        (self.is_type_start(0) && !label) || (self.kind() == TokenKind::Word && self.is_unknown_type())
    }

    /// Reads a statement that is the body of another one.
    fn body(&mut self) -> Parsed<&'a Stmt<'a>> {
        self.scopes.open();
        let stmt = self.nested(|parser| {
            let start = parser.span();
            parser.check_statement_start()?;
            if !parser.is_declaration() {
                return parser.statement(false);
            }
            // Declares something that nothing can see, but is allowed.
            let declared = parser.declaration(false)?;
            let mut stmts = Vec::new();
            parser.flush_hoisted(&mut stmts);
            for part in declared {
                stmts.push(Stmt { kind: declared_stmt(part), span: parser.since(start) });
            }
            let span = parser.since(start);
            let block = parser.alloc(Block { stmts: parser.alloc_slice(&stmts), span });
            Ok(Stmt { kind: StmtKind::Block(block), span })
        });
        self.scopes.close();
        Ok(self.alloc(stmt?))
    }

    /// Reads a statement other than a declaration. Within a block, a label or `case` directly before another one stands
    /// by itself, so that long lists of cases are not nested.
    pub(super) fn statement(&mut self, in_block: bool) -> Parsed<Stmt<'a>> {
        let start = self.span();
        let kind = self.statement_kind(in_block)?;
        Ok(Stmt { kind, span: self.since(start) })
    }

    fn statement_kind(&mut self, in_block: bool) -> Parsed<StmtKind<'a>> {
        use TokenKind::*;
        let kind = self.kind();
        Ok(match kind {
            LBrace => StmtKind::Block(self.alloc_block()?),
            Semi => {
                self.bump();
                StmtKind::Empty
            }
            If | CIf => self.if_statement(kind == CIf)?,
            For | CFor => self.for_statement(kind == CFor)?,
            While | CWhile => self.while_statement(kind == CWhile)?,
            Do | CDo => self.do_statement(kind == CDo)?,
            Foreach | ForeachTiled => self.foreach_statement(kind == ForeachTiled)?,
            ForeachActive => self.foreach_active()?,
            ForeachUnique => self.foreach_unique()?,
            Switch => {
                self.bump();
                let value = self.condition("switch")?;
                StmtKind::Switch { value, body: self.body()? }
            }
            Case => {
                self.bump();
                let value = self.constant_expression()?;
                self.expect(Colon, "after the value of `case`")?;
                StmtKind::Case { value, stmt: self.labelled(in_block)? }
            }
            Default => {
                self.bump();
                self.expect(Colon, "after `default`")?;
                StmtKind::Default(self.labelled(in_block)?)
            }
            Break | CBreak | Continue | CContinue | Return | CReturn | Goto => self.jump()?,
            Sync => {
                self.bump();
                self.optional_parens()?;
                self.semi(StmtKind::Sync, "after `sync`")?
            }
            Delete => self.delete()?,
            Print => self.print()?,
            Unmasked => self.unmasked()?,
            PragmaUnroll | PragmaNoUnroll => self.hinted()?,
            Word => return self.word_statement(in_block),
            _ => self.expression_statement()?,
        })
    }

    fn alloc_block(&mut self) -> Parsed<&'a Block<'a>> {
        let block = self.block()?;
        Ok(self.alloc(block))
    }

    /// `unmasked { … }`, also spelled `everywhere`.
    fn unmasked(&mut self) -> Parsed<StmtKind<'a>> {
        self.bump();
        let block = self.unscoped_block()?;
        Ok(StmtKind::Unmasked(self.alloc(block)))
    }

    fn semi(&mut self, kind: StmtKind<'a>, after: &str) -> Parsed<StmtKind<'a>> {
        self.expect_semi(after)?;
        Ok(kind)
    }

    fn expression_statement(&mut self) -> Parsed<StmtKind<'a>> {
        let expr = self.expression()?;
        self.semi(StmtKind::Expr(expr), "after the expression")
    }

    /// A statement that begins with a name: perhaps a label or one of the words that are special only here.
    fn word_statement(&mut self, in_block: bool) -> Parsed<StmtKind<'a>> {
        let next = self.nth_kind(1);
        if next == TokenKind::Colon {
            let name = self.ident("a label")?;
            self.bump();
            return Ok(StmtKind::Label { name, stmt: self.labelled(in_block)? });
        }
        let special = self.word().and_then(|name| self.scopes.special(name));
        match (special.unwrap_or_default(), next) {
            ("assert", TokenKind::LParen) => self.assert(),
            ("__assert", TokenKind::LParen) => self.assert_with_text(),
            ("assume", TokenKind::LParen) => self.assume(),
            ("static_assert", TokenKind::LParen) => {
                let (condition, message) = self.static_assert()?;
                Ok(StmtKind::StaticAssert { condition, message })
            }
            ("everywhere", TokenKind::LBrace) => self.unmasked(),
            _ => self.expression_statement(),
        }
    }

    /// The statement after a label.
    fn labelled(&mut self, in_block: bool) -> Parsed<&'a Stmt<'a>> {
        let alone = match self.kind() {
            TokenKind::Case | TokenKind::Default => in_block,
            TokenKind::RBrace => true,
            _ => in_block && self.is_declaration(),
        };
        if alone {
            return Ok(self.alloc(Stmt { kind: StmtKind::Empty, span: self.last_span().after() }));
        }
        self.nested(|parser| {
            parser.check_statement_start()?;
            let stmt = if parser.is_declaration() { *parser.body()? } else { parser.statement(false)? };
            Ok(parser.alloc(stmt))
        })
    }

    /// `(condition)` after a keyword.
    fn condition(&mut self, keyword: &str) -> Parsed<&'a Expr<'a>> {
        let opening = self.expect(TokenKind::LParen, &format!("after `{keyword}`"))?;
        if self.is_type_start(0) {
            let message = format!("`{keyword}` cannot declare a variable in its condition");
            let diagnostic = Diagnostic::new(Code::UnsupportedSyntax, self.span(), message);
            return self.report(diagnostic.help("declare it in front"));
        }
        let condition = self.expression()?;
        self.expect_close(TokenKind::RParen, opening)?;
        Ok(condition)
    }

    fn if_statement(&mut self, coherent: bool) -> Parsed<StmtKind<'a>> {
        let keyword = self.bump().kind.text();
        let condition = self.condition(keyword)?;
        let then = self.body()?;
        self.check_else();
        let otherwise = if self.eat(TokenKind::Else) { Some(self.body()?) } else { None };
        Ok(StmtKind::If { coherent, condition, then, otherwise })
    }

    fn while_statement(&mut self, coherent: bool) -> Parsed<StmtKind<'a>> {
        let keyword = self.bump().kind.text();
        let condition = self.condition(keyword)?;
        Ok(StmtKind::While { coherent, condition, body: self.body()? })
    }

    fn do_statement(&mut self, coherent: bool) -> Parsed<StmtKind<'a>> {
        let keyword = self.bump().kind.text();
        let body = self.body()?;
        if !matches!(self.kind(), TokenKind::While | TokenKind::CWhile) {
            let message = format!("expected `while` after the body of `{keyword}`, found {}", self.describe());
            return self.fail(Code::ExpectedToken, self.span(), message);
        }
        self.bump();
        let condition = self.condition("while")?;
        self.semi(StmtKind::DoWhile { coherent, body, condition }, "after `do … while (…)`")
    }

    fn for_statement(&mut self, coherent: bool) -> Parsed<StmtKind<'a>> {
        let keyword = self.bump().kind.text();
        if self.kind() == TokenKind::Word {
            let message = format!("expected `(` after `{keyword}`, found {}", self.describe());
            let help = "write `foreach (i = 0 ... n)`, or `for (uniform int i = 0; i < n; ++i)`";
            return self.report(Diagnostic::new(Code::ExpectedToken, self.span(), message).help(help));
        }
        let opening = self.expect(TokenKind::LParen, &format!("after `{keyword}`"))?;
        self.scopes.open();
        let result = self.for_rest(coherent, opening);
        self.scopes.close();
        result
    }

    fn for_rest(&mut self, coherent: bool, opening: Span) -> Parsed<StmtKind<'a>> {
        let init = self.for_init()?;
        let condition = if self.kind() == TokenKind::Semi { None } else { Some(self.expression()?) };
        self.for_semi("after the condition of `for`")?;
        let step = if self.kind() == TokenKind::RParen { None } else { Some(self.expression()?) };
        self.expect_close(TokenKind::RParen, opening)?;
        Ok(StmtKind::For { coherent, init, condition, step, body: self.body()? })
    }

    fn for_init(&mut self) -> Parsed<Option<&'a Stmt<'a>>> {
        let start = self.span();
        if self.eat(TokenKind::Semi) {
            return Ok(None);
        }
        self.check_statement_start()?;
        let kind = if self.is_declaration() {
            match self.declaration(false)?.into_iter().next() {
                Some(part) => declared_stmt(part),
                None => return Ok(None),
            }
        } else {
            let expr = self.expression()?;
            self.for_semi("after the first part of `for`")?;
            StmtKind::Expr(expr)
        };
        Ok(Some(self.alloc(Stmt { kind, span: self.since(start) })))
    }

    fn for_semi(&mut self, after: &str) -> Parsed<()> {
        if self.kind() == TokenKind::Ellipsis {
            let message = "`for` takes no range";
            let diagnostic = Diagnostic::new(Code::BadForeach, self.span(), message);
            return self.report(diagnostic.help("write `foreach (i = start ... end)` to run over a range in parallel"));
        }
        self.expect(TokenKind::Semi, after).map(|_| ())
    }

    // The foreach family

    fn foreach_statement(&mut self, tiled: bool) -> Parsed<StmtKind<'a>> {
        let keyword = self.bump().kind.text();
        let opening = self.expect(TokenKind::LParen, &format!("after `{keyword}`"))?;
        let mut dims = Vec::new();
        loop {
            dims.push(self.foreach_dim()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::RParen, opening)?;
        self.scopes.open();
        for dim in &dims {
            self.scopes.declare(dim.var.name, NameKind::Value);
        }
        let body = self.body();
        self.scopes.close();
        Ok(StmtKind::Foreach { tiled, dims: self.alloc_slice(&dims), body: body? })
    }

    fn foreach_dim(&mut self) -> Parsed<ForeachDim<'a>> {
        let var = self.foreach_var()?;
        if self.at_word("in") {
            let help = format!("write `{} = start ... end`", var.name);
            let message = "the range of `foreach` is given with `=`";
            return self.report(Diagnostic::new(Code::BadForeach, self.span(), message).help(help));
        }
        self.expect(TokenKind::Eq, "after the variable of `foreach`")?;
        let start = self.assignment()?;
        if self.kind() != TokenKind::Ellipsis {
            let message = format!("expected `...` and the end of the range, found {}", self.describe());
            let help = format!("write `foreach ({} = start ... end)`", var.name);
            return self.report(Diagnostic::new(Code::BadForeach, self.span(), message).help(help));
        }
        self.bump();
        let end = self.assignment()?;
        Ok(ForeachDim { var, start, end })
    }

    /// The variable of a `foreach`, which has no written type.
    fn foreach_var(&mut self) -> Parsed<Ident> {
        if self.is_type_start(0) && self.nth_kind(1) != TokenKind::Eq {
            let specifiers = self.specifiers()?;
            let message = "the variable of `foreach` is declared without a type";
            let diagnostic = Diagnostic::new(Code::BadForeach, specifiers.span, message);
            self.mention(diagnostic.help("remove the type; the variable is a varying `int`"));
        }
        self.ident("the variable of `foreach`")
    }

    fn foreach_active(&mut self) -> Parsed<StmtKind<'a>> {
        self.bump();
        let opening = self.expect(TokenKind::LParen, "after `foreach_active`")?;
        let var = self.foreach_var()?;
        self.expect_close(TokenKind::RParen, opening)?;
        let body = self.body_with(var)?;
        Ok(StmtKind::ForeachActive { var, body })
    }

    fn foreach_unique(&mut self) -> Parsed<StmtKind<'a>> {
        self.bump();
        let opening = self.expect(TokenKind::LParen, "after `foreach_unique`")?;
        let var = self.foreach_var()?;
        if self.word().is_none_or(|word| word.as_str() != "in") {
            let message = format!("expected `in` and a varying value, found {}", self.describe());
            let help = format!("write `foreach_unique ({} in value)`", var.name);
            return self.report(Diagnostic::new(Code::BadForeach, self.span(), message).help(help));
        }
        self.bump();
        let value = self.expression()?;
        self.expect_close(TokenKind::RParen, opening)?;
        let body = self.body_with(var)?;
        Ok(StmtKind::ForeachUnique { var, value, body })
    }

    /// A body in which `var` is declared.
    fn body_with(&mut self, var: Ident) -> Parsed<&'a Stmt<'a>> {
        self.scopes.open();
        self.scopes.declare(var.name, NameKind::Value);
        let body = self.body();
        self.scopes.close();
        body
    }

    // Simple statements

    fn jump(&mut self) -> Parsed<StmtKind<'a>> {
        let token = self.bump();
        let old_form = matches!(token.kind, TokenKind::CBreak | TokenKind::CContinue | TokenKind::CReturn);
        if old_form {
            let (old, new) = (token.kind.text(), &token.kind.text()[1..]);
            let message = format!("`{old}` is an old form");
            self.mention(Diagnostic::new(Code::Deprecated, token.span, message).help(format!("write `{new}`")));
        }
        match token.kind {
            TokenKind::Break | TokenKind::CBreak => self.semi(StmtKind::Break, "after `break`"),
            TokenKind::Continue | TokenKind::CContinue => self.semi(StmtKind::Continue, "after `continue`"),
            TokenKind::Goto => {
                let label = self.ident("a label after `goto`")?;
                self.semi(StmtKind::Goto(label), "after `goto`")
            }
            _ => {
                let ends = matches!(self.kind(), TokenKind::Semi | TokenKind::RBrace);
                let value = if ends { None } else { Some(self.expression()?) };
                self.semi(StmtKind::Return(value), "after `return`")
            }
        }
    }

    /// `sync()` is accepted for `sync`.
    fn optional_parens(&mut self) -> Parsed<()> {
        let opening = self.span();
        if self.eat(TokenKind::LParen) {
            self.expect_close(TokenKind::RParen, opening)?;
        }
        Ok(())
    }

    fn delete(&mut self) -> Parsed<StmtKind<'a>> {
        self.bump();
        if self.kind() == TokenKind::LBracket && self.nth_kind(1) == TokenKind::RBracket {
            self.bump();
            self.bump();
        }
        let pointer = self.expression()?;
        self.semi(StmtKind::Delete(pointer), "after `delete`")
    }

    fn print(&mut self) -> Parsed<StmtKind<'a>> {
        self.bump();
        let opening = self.expect(TokenKind::LParen, "after `print`")?;
        let format = self.assignment()?;
        let mut args = Vec::new();
        while self.eat(TokenKind::Comma) {
            args.push(self.assignment()?);
        }
        self.expect_close(TokenKind::RParen, opening)?;
        let args = self.alloc_slice(&args);
        self.semi(StmtKind::Print { format, args }, "after `print(…)`")
    }

    fn assert(&mut self) -> Parsed<StmtKind<'a>> {
        self.bump();
        let opening = self.bump().span;
        let condition = self.assignment()?;
        let message = if self.eat(TokenKind::Comma) { Some(self.assignment()?) } else { None };
        self.expect_close(TokenKind::RParen, opening)?;
        self.semi(StmtKind::Assert { condition, message }, "after `assert(…)`")
    }

    /// `__assert("text", condition);`
    fn assert_with_text(&mut self) -> Parsed<StmtKind<'a>> {
        self.bump();
        let opening = self.bump().span;
        let message = self.assignment()?;
        self.expect(TokenKind::Comma, "after the message of `__assert`")?;
        let condition = self.expression()?;
        self.expect_close(TokenKind::RParen, opening)?;
        let message = Some(message);
        self.semi(StmtKind::Assert { condition, message }, "after `__assert(…)`")
    }

    fn assume(&mut self) -> Parsed<StmtKind<'a>> {
        self.bump();
        let opening = self.bump().span;
        let condition = self.expression()?;
        self.expect_close(TokenKind::RParen, opening)?;
        self.semi(StmtKind::Assume(condition), "after `assume(…)`")
    }

    fn hinted(&mut self) -> Parsed<StmtKind<'a>> {
        let token = self.bump();
        let hint = match token.kind {
            TokenKind::PragmaUnroll => LoopHint::Unroll(token.unroll_count()),
            _ => LoopHint::NoUnroll,
        };
        Ok(StmtKind::Hinted { hint, stmt: self.body()? })
    }
}

fn declared_stmt(part: Declared<'_>) -> StmtKind<'_> {
    match part {
        Declared::Function(function) => StmtKind::Function(function),
        Declared::Variables(variables) => StmtKind::Variables(variables),
        Declared::Typedefs(typedefs) => StmtKind::Typedefs(typedefs),
    }
}
