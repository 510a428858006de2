//! Items: functions, global variables, types.

use super::declarator::Declarator;
use super::scope::NameKind;
use super::specifiers::Specifiers;
use super::{Parsed, Parser};
use crate::ast::*;
use crate::diag::{Code, Diagnostic};
use crate::lex::TokenKind;
use crate::source::Span;

/// What one declaration declares, in order.
pub(super) enum Declared<'a> {
    Function(&'a Function<'a>),
    Variables(&'a [Variable<'a>]),
    Typedefs(&'a [Typedef<'a>]),
}

impl<'a> Parser<'a, '_> {
    pub(super) fn translation_unit(&mut self) -> &'a TranslationUnit<'a> {
        let mut items = Vec::new();
        while self.kind() != TokenKind::Eof && !self.at_prompt() {
            self.item_or_skip(&mut items);
        }
        let prompt = self.at_prompt().then(|| self.prompt(&mut items));
        let unit = TranslationUnit {
            items: self.alloc_slice(&items),
            type_names: self.alloc_slice(&self.scopes.all(NameKind::Type)),
            template_names: self.alloc_slice(&self.scopes.all(NameKind::Template)),
            prompt,
        };
        self.alloc(unit)
    }

    /// Reads an item; a malformed one is skipped.
    fn item_or_skip(&mut self, items: &mut Vec<Item<'a>>) {
        let before = self.at;
        self.unclosed_at = None;
        let result = self.item(items);
        items.append(&mut self.hoisted);
        match result {
            Ok(()) => self.astray = false,
            Err(_) => self.skip_item(before),
        }
        if self.at == before {
            self.bump();
        }
    }

    pub(super) fn item(&mut self, items: &mut Vec<Item<'a>>) -> Parsed<()> {
        let start = self.span();
        match self.kind() {
            TokenKind::Semi => {
                self.bump();
                return Ok(());
            }
            TokenKind::PragmaUnroll | TokenKind::PragmaNoUnroll => {
                self.bump();
                let message = "this `#pragma` belongs before a loop and is ignored";
                self.mention(Diagnostic::new(Code::UnknownPragma, start, message));
                return Ok(());
            }
            TokenKind::Template => return self.template(items),
            TokenKind::Extern if self.nth_kind(1) == TokenKind::String && self.nth_kind(2) == TokenKind::LBrace => {
                return self.extern_block(items);
            }
            TokenKind::Export if self.nth_kind(1) == TokenKind::LBrace => {
                return self.export_types(items);
            }
            TokenKind::Word if self.at_word("static_assert") => {
                let (condition, message) = self.static_assert()?;
                let kind = ItemKind::StaticAssert { condition, message };
                items.push(Item { kind, span: self.since(start) });
                return Ok(());
            }
            _ => {}
        }
        self.check_item_start()?;
        let declared = self.declaration(true)?;
        items.append(&mut self.hoisted);
        self.push_declared(items, declared, start);
        Ok(())
    }

    fn push_declared(&mut self, items: &mut Vec<Item<'a>>, declared: Vec<Declared<'a>>, start: Span) {
        for part in declared {
            let (kind, span) = match part {
                Declared::Function(function) => (ItemKind::Function(function), function.span),
                Declared::Variables(variables) => (ItemKind::Variables(variables), self.since(start)),
                Declared::Typedefs(typedefs) => (ItemKind::Typedefs(typedefs), self.since(start)),
            };
            items.push(Item { kind, span });
        }
    }

    /// `extern "C" { declarations }`: as if each had `extern "C"` in front.
    fn extern_block(&mut self, items: &mut Vec<Item<'a>>) -> Parsed<()> {
        self.bump();
        self.bump();
        let opening = self.bump().span;
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) {
            let first = items.len();
            self.nested(|parser| {
                parser.item_or_skip(items);
                Ok(())
            })?;
            for item in &mut items[first..] {
                item.kind = self.as_extern_c(item.kind);
            }
        }
        self.close_brace(opening);
        Ok(())
    }

    fn as_extern_c(&self, kind: ItemKind<'a>) -> ItemKind<'a> {
        match kind {
            ItemKind::Function(function) => {
                let flags = FunctionFlags { is_extern: true, extern_c: true, ..function.flags };
                ItemKind::Function(self.alloc(Function { flags, ..*function }))
            }
            ItemKind::Variables(variables) => {
                let as_extern = |variable: &Variable<'a>| Variable { storage: Storage::ExternC, ..*variable };
                let variables: Vec<_> = variables.iter().map(as_extern).collect();
                ItemKind::Variables(self.alloc_slice(&variables))
            }
            other => other,
        }
    }

    /// `export { type, … };`
    fn export_types(&mut self, items: &mut Vec<Item<'a>>) -> Parsed<()> {
        let start = self.bump().span;
        let opening = self.bump().span;
        let mut types = Vec::new();
        while self.kind() != TokenKind::RBrace {
            types.push(*self.specifiers()?.base);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::RBrace, opening)?;
        self.expect_semi("after the exported types")?;
        let kind = ItemKind::ExportTypes(self.alloc_slice(&types));
        items.push(Item { kind, span: self.since(start) });
        Ok(())
    }

    /// Reads `static_assert(condition, "message");`.
    pub(super) fn static_assert(&mut self) -> Parsed<(&'a Expr<'a>, Option<&'a str>)> {
        self.bump();
        let opening = self.expect(TokenKind::LParen, "after `static_assert`")?;
        let condition = self.assignment()?;
        let message = if self.eat(TokenKind::Comma) { Some(self.string_constant()?) } else { None };
        self.expect_close(TokenKind::RParen, opening)?;
        self.expect_semi("after `static_assert(…)`")?;
        Ok((condition, message))
    }

    /// Reads a declaration. With `bodies` a function may be defined.
    pub(super) fn declaration(&mut self, bodies: bool) -> Parsed<Vec<Declared<'a>>> {
        let start = self.span();
        let specifiers =
            if bodies && self.is_untyped_function() { self.missing_result_type() } else { self.specifiers()? };
        if specifiers.is_complete || self.eat(TokenKind::Semi) || self.ends_with_type(&specifiers) {
            self.check_declares_something(&specifiers);
            return Ok(Vec::new());
        }
        let mut parts = DeclarationParts::default();
        loop {
            let first = parts.is_empty();
            let declarator_start = if first { start } else { self.span() };
            let declarator = self.declarator(specifiers.base, specifiers.flags)?;
            let done = self.init_declarator(&specifiers, declarator, declarator_start, bodies && first, &mut parts)?;
            if done {
                return Ok(self.finish_parts(parts));
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        let after = if specifiers.is_typedef { "after the `typedef`" } else { "after the declaration" };
        self.expect_semi(after)?;
        Ok(self.finish_parts(parts))
    }

    /// Returns whether what was typed at a prompt ends with the definition of a type, so that it needs no `;`.
    fn ends_with_type(&self, specifiers: &Specifiers<'a>) -> bool {
        let ends = self.in_prompt && self.kind() == TokenKind::Eof;
        ends && specifiers.declares_type && !self.hoisted.is_empty()
    }

    /// A name directly followed by parameters: a function whose result type is missing.
    fn is_untyped_function(&self) -> bool {
        let named = self.kind() == TokenKind::Word && self.nth_kind(1) == TokenKind::LParen;
        (named && !self.is_type_start(0)) || self.kind() == TokenKind::Operator
    }

    fn missing_result_type(&mut self) -> Specifiers<'a> {
        let span = self.span();
        let message = "the type of the function's result is missing; `int` is assumed";
        self.mention(Diagnostic::new(Code::ImplicitInt, span, message).help("write `void` if it returns nothing"));
        let kind = TypeKind::Basic(Basic::Int32);
        Specifiers {
            base: self.alloc(TypeExpr { kind, quals: Quals::default(), span }),
            is_typedef: false,
            storage: Storage::None,
            flags: FunctionFlags::default(),
            attributes: Vec::new(),
            declares_type: false,
            is_complete: false,
            span,
        }
    }

    fn check_declares_something(&mut self, specifiers: &Specifiers<'a>) {
        if !specifiers.declares_type && !matches!(specifiers.base.kind, TypeKind::Error) {
            let message = "this declaration declares nothing";
            self.mention(
                Diagnostic::new(Code::EmptyDeclaration, specifiers.span, message).help("write a name after the type"),
            );
        }
    }

    /// Reads what follows a declarator and adds what is declared. Returns whether it was a function with its body.
    fn init_declarator(
        &mut self,
        specifiers: &Specifiers<'a>,
        declarator: Declarator<'a>,
        start: Span,
        body: bool,
        parts: &mut DeclarationParts<'a>,
    ) -> Parsed<bool> {
        let mut attributes = specifiers.attributes.clone();
        attributes.extend(self.attributes()?);
        let Some(name) = declarator.name else {
            let diagnostic = self.expected_declared_name();
            return self.report(diagnostic);
        };
        if specifiers.is_typedef {
            self.scopes.declare(name.name, NameKind::Type);
            parts.typedefs.push(Typedef { name, ty: declarator.ty, span: self.since(start) });
            return Ok(false);
        }
        let attributes = self.alloc_slice(&attributes);
        if let TypeKind::Function(ty) = declarator.ty.kind {
            self.scopes.declare(name.name, NameKind::Value);
            let function = self.function(specifiers, &declarator, name, ty, attributes, start, body)?;
            parts.functions.push(self.alloc(function));
            return Ok(function.body.is_some());
        }
        self.scopes.declare(name.name, NameKind::Value);
        let init = if self.eat(TokenKind::Eq) { Some(self.initializer()?) } else { None };
        self.check_after_variable(init.is_some())?;
        parts.variables.push(Variable {
            name,
            ty: declarator.ty,
            init,
            storage: specifiers.storage,
            flags: specifiers.flags,
            attributes,
            span: self.since(start),
        });
        Ok(false)
    }

    /// A function from its declarator, with the body if one follows and may.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn function(
        &mut self,
        specifiers: &Specifiers<'a>,
        declarator: &Declarator<'a>,
        name: Ident,
        ty: &FunctionType<'a>,
        attributes: &'a [Attribute<'a>],
        start: Span,
        body: bool,
    ) -> Parsed<Function<'a>> {
        let head_span = self.since(start);
        let has_body = self.kind() == TokenKind::LBrace;
        if has_body && !body {
            return self.misplaced_function(name);
        }
        let body = if has_body {
            self.scopes.open();
            self.declare_params(ty.params);
            let block = self.block();
            self.scopes.close();
            Some(self.alloc(block?))
        } else {
            None
        };
        Ok(Function {
            name,
            operator: declarator.operator,
            result: ty.result,
            params: ty.params,
            flags: specifiers.flags,
            attributes,
            body,
            head_span,
            span: self.since(start),
        })
    }

    fn finish_parts(&mut self, parts: DeclarationParts<'a>) -> Vec<Declared<'a>> {
        let mut declared: Vec<Declared<'a>> = parts.functions.into_iter().map(Declared::Function).collect();
        if !parts.variables.is_empty() {
            declared.push(Declared::Variables(self.alloc_slice(&parts.variables)));
        }
        if !parts.typedefs.is_empty() {
            declared.push(Declared::Typedefs(self.alloc_slice(&parts.typedefs)));
        }
        declared
    }
}

/// What a declaration has declared so far.
#[derive(Default)]
struct DeclarationParts<'a> {
    functions: Vec<&'a Function<'a>>,
    variables: Vec<Variable<'a>>,
    typedefs: Vec<Typedef<'a>>,
}

impl DeclarationParts<'_> {
    fn is_empty(&self) -> bool {
        self.functions.is_empty() && self.variables.is_empty() && self.typedefs.is_empty()
    }
}
