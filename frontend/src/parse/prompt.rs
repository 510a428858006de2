//! What was typed at a prompt: definitions, statements and perhaps an expression, in any order.
//!
//! Definitions become items of the file. The rest becomes the body of one exported function; the variables that it declares
//! outside of all blocks become global variables too, so that functions and later inputs see them, and the statement that
//! stays in the body gives them their initial values. What ends with the text needs no `;`: an expression there is
//! one whose value is to be shown.

use super::item::Declared;
use super::{Parser, begins_statement};
use crate::ast::*;
use crate::lex::TokenKind;
use crate::source::Span;
use crate::symbol::Symbol;

impl<'a> Parser<'a, '_> {
    /// Returns whether what was typed begins here.
    pub(super) fn at_prompt(&self) -> bool {
        self.prompt_at.is_some_and(|at| self.at >= at)
    }

    /// Has the end of the file be where what was typed ends, so that what is missing there is shown there.
    pub(super) fn end_with_prompt(&mut self) {
        let n = self.tokens.len();
        if let ([.., last, end], Some(at)) = (&mut self.tokens[..], self.prompt_at)
            && at + 1 < n
        {
            end.span = last.span.after();
        }
    }

    /// Reads all of it.
    pub(super) fn prompt(&mut self, items: &mut Vec<Item<'a>>) -> &'a Prompt<'a> {
        self.in_prompt = true;
        let start = self.span();
        let (mut parts, mut stmts) = (Vec::new(), Vec::new());
        while self.kind() != TokenKind::Eof {
            self.prompt_part(items, &mut stmts, &mut parts);
        }
        if !stmts.is_empty() {
            let body = Block { stmts: self.alloc_slice(&stmts), span: self.since(start) };
            items.push(self.prompt_function(body));
        }
        let prompt = Prompt { parts: self.alloc_slice(&parts), is_unfinished: self.ran_out };
        self.alloc(prompt)
    }

    fn prompt_part(&mut self, items: &mut Vec<Item<'a>>, stmts: &mut Vec<Stmt<'a>>, parts: &mut Vec<PromptPart<'a>>) {
        let (before, start) = (self.at, self.span());
        let (n_items, n_stmts) = (items.len(), stmts.len());
        self.unclosed_at = None;
        let result = match self.kind() {
            TokenKind::Template | TokenKind::Operator => self.item(items),
            TokenKind::Export | TokenKind::Task => self.item(items),
            TokenKind::Extern if self.nth_kind(1) == TokenKind::String => self.item(items),
            _ if self.is_declaration() => self.prompt_declaration(items, stmts),
            _ if self.is_shown() => self.prompt_expression(stmts),
            _ => self.block_statement(stmts),
        };
        items.append(&mut self.hoisted);
        if result.is_err() {
            self.skip_statement(before);
            if self.at == before {
                self.bump();
            }
        }
        let span = self.since(start);
        for item in &items[n_items..] {
            if !matches!(item.kind, ItemKind::Variables(_)) {
                parts.push(PromptPart { kind: PromptPartKind::Item(item.kind), span });
            }
        }
        parts.extend(stmts[n_stmts..].iter().map(|stmt| PromptPart { kind: part_of(stmt), span }));
    }

    /// A declaration of functions, types or variables.
    fn prompt_declaration(&mut self, items: &mut Vec<Item<'a>>, stmts: &mut Vec<Stmt<'a>>) -> super::Parsed<()> {
        let start = self.span();
        let declared = self.declaration(true)?;
        items.append(&mut self.hoisted);
        let span = self.since(start);
        for part in declared {
            let kind = match part {
                Declared::Function(function) => ItemKind::Function(function),
                Declared::Typedefs(typedefs) => ItemKind::Typedefs(typedefs),
                Declared::Variables(variables) => {
                    let kept: Vec<_> = variables.iter().map(at_prompt).collect();
                    let kept = self.alloc_slice(&kept);
                    stmts.push(Stmt { kind: StmtKind::Variables(kept), span });
                    ItemKind::Variables(kept)
                }
            };
            items.push(Item { kind, span });
        }
        Ok(())
    }

    /// Returns whether an expression begins here, rather than a statement of another kind.
    fn is_shown(&self) -> bool {
        use TokenKind::{Case, Default, Delete, LBrace, PragmaNoUnroll, PragmaUnroll, Print, Semi, Word};
        let is_statement = |kind| {
            begins_statement(kind)
                || matches!(kind, LBrace | Semi | Case | Default | Delete | Print | PragmaUnroll | PragmaNoUnroll)
        };
        match self.kind() {
            Word if self.nth_kind(1) == TokenKind::Colon => false,
            Word => {
                const STATEMENTS: [&str; 5] = ["assert", "__assert", "assume", "static_assert", "everywhere"];
                !STATEMENTS.iter().any(|word| self.at_word(word))
            }
            kind => !is_statement(kind),
        }
    }

    /// An expression: at the end of the text one to be shown.
    fn prompt_expression(&mut self, stmts: &mut Vec<Stmt<'a>>) -> super::Parsed<()> {
        let start = self.span();
        self.check_statement_start()?;
        if begins_statement(self.kind()) {
            // A misspelled keyword has been corrected.
            return self.block_statement(stmts);
        }
        let expr = self.expression()?;
        let is_last = self.kind() == TokenKind::Eof;
        if !is_last {
            self.expect_semi("after the expression")?;
        }
        let kind = if is_last { StmtKind::Show(expr) } else { StmtKind::Expr(expr) };
        stmts.push(Stmt { kind, span: self.since(start) });
        Ok(())
    }

    fn prompt_function(&self, body: Block<'a>) -> Item<'a> {
        let here = Span { hi: body.span.lo, ..body.span };
        let result = TypeExpr { kind: TypeKind::Basic(Basic::Void), quals: Quals::default(), span: here };
        let function = Function {
            name: Ident { name: Symbol::intern(PROMPT_FUNCTION), span: here },
            operator: None,
            result: self.alloc(result),
            params: &[],
            flags: FunctionFlags { export: true, ..FunctionFlags::default() },
            attributes: &[],
            body: Some(self.alloc(body)),
            head_span: here,
            span: body.span,
        };
        Item { kind: ItemKind::Function(self.alloc(function)), span: body.span }
    }
}

fn at_prompt<'a>(variable: &Variable<'a>) -> Variable<'a> {
    Variable { flags: FunctionFlags { at_prompt: true, ..variable.flags }, ..*variable }
}

fn part_of<'a>(stmt: &Stmt<'a>) -> PromptPartKind<'a> {
    match stmt.kind {
        StmtKind::Variables(variables) => PromptPartKind::Variables(variables),
        StmtKind::Show(expr) => PromptPartKind::Expression(expr),
        _ => PromptPartKind::Statement,
    }
}
