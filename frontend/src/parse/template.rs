//! Function templates: definitions, specialisations, instantiations, and their arguments.

use super::scope::NameKind;
use super::{Parsed, Parser};
use crate::ast::*;
use crate::diag::{Code, Diagnostic};
use crate::lex::TokenKind;

/// How many tokens are looked at to tell template arguments from comparisons.
const MAX_LOOKAHEAD: usize = 64;

impl<'a> Parser<'a, '_> {
    /// Reads an item that begins with `template`.
    pub(super) fn template(&mut self, items: &mut Vec<Item<'a>>) -> Parsed<()> {
        let start = self.bump().span;
        if self.kind() != TokenKind::Lt {
            let instance = self.template_instance(false)?;
            let kind = ItemKind::Instantiation(self.alloc(instance));
            items.push(Item { kind, span: self.since(start) });
            return Ok(());
        }
        let opening = self.bump().span;
        if self.eat(TokenKind::Gt) {
            let instance = self.template_instance(true)?;
            let kind = ItemKind::Specialization(self.alloc(instance));
            items.push(Item { kind, span: self.since(start) });
            return Ok(());
        }
        self.scopes.open();
        let result = self.template_params().and_then(|params| {
            self.expect_angle_close(opening)?;
            let (function, _) = self.templated_function(true)?;
            Ok(Template { params, function })
        });
        self.scopes.close();
        items.append(&mut self.hoisted);
        let kind = ItemKind::Template(self.alloc(result?));
        items.push(Item { kind, span: self.since(start) });
        Ok(())
    }

    fn template_params(&mut self) -> Parsed<&'a [TemplateParam<'a>]> {
        let mut params = Vec::new();
        loop {
            params.push(self.template_param()?);
            if !self.eat(TokenKind::Comma) {
                return Ok(self.alloc_slice(&params));
            }
        }
    }

    fn template_param(&mut self) -> Parsed<TemplateParam<'a>> {
        let start = self.span();
        if self.at_word("class") {
            let message = "a type parameter is written `typename T`";
            self.mention(
                Diagnostic::new(Code::UnsupportedSyntax, start, message).help("replace `class` by `typename`"),
            );
        }
        if self.kind() == TokenKind::Typename || self.at_word("class") {
            self.bump();
            let name = self.ident("the name of a type parameter")?;
            self.scopes.declare(name.name, NameKind::Type);
            let default = if self.eat(TokenKind::Eq) { Some(self.type_argument()?) } else { None };
            return Ok(TemplateParam { name, kind: TemplateParamKind::Type { default }, span: self.since(start) });
        }
        let ty = self.specifiers()?.base;
        let name = self.ident("the name of a template parameter")?;
        self.scopes.declare(name.name, NameKind::Value);
        let default = if self.eat(TokenKind::Eq) { Some(self.constant_in_angles()?) } else { None };
        Ok(TemplateParam { name, kind: TemplateParamKind::Value { ty, default }, span: self.since(start) })
    }

    fn template_instance(&mut self, body: bool) -> Parsed<TemplateInstance<'a>> {
        let (function, args) = self.templated_function(body)?;
        Ok(TemplateInstance { args, function })
    }

    /// Reads the function after `template …`, and the arguments after its name.
    fn templated_function(&mut self, body: bool) -> Parsed<(&'a Function<'a>, Option<&'a [TemplateArg<'a>]>)> {
        let start = self.span();
        if self.kind() == TokenKind::Struct && self.nth_kind(2) == TokenKind::LBrace {
            let message = "only functions can be templates, not structs";
            return self.fail(Code::BadTemplate, start, message);
        }
        let specifiers = self.specifiers()?;
        let declarator = self.declarator(specifiers.base, specifiers.flags)?;
        let mut attributes = specifiers.attributes.clone();
        attributes.extend(self.attributes()?);
        let (Some(name), TypeKind::Function(ty)) = (declarator.name, declarator.ty.kind) else {
            let message = "only functions can be templates";
            return self.fail(Code::BadTemplate, self.since(start), message);
        };
        self.scopes.declare_outermost(name.name, NameKind::Template);
        if !body && self.kind() == TokenKind::LBrace {
            let message = "the instantiation of a template has no body";
            let help = "end it with `;`, or write `template <>` to specialise the template";
            return self.report(Diagnostic::new(Code::BadTemplate, self.span(), message).help(help));
        }
        let attributes = self.alloc_slice(&attributes);
        let function = self.function(&specifiers, &declarator, name, ty, attributes, start, body)?;
        if function.body.is_none() {
            self.expect_semi("after the template")?;
        }
        Ok((self.alloc(function), declarator.template_args))
    }

    /// Reads `<type or constant, …>`.
    pub(super) fn template_args(&mut self) -> Parsed<&'a [TemplateArg<'a>]> {
        let opening = self.bump().span;
        let mut args = Vec::new();
        while !matches!(self.kind(), TokenKind::Gt | TokenKind::Shr) {
            args.push(self.template_arg()?);
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_angle_close(opening)?;
        Ok(self.alloc_slice(&args))
    }

    fn template_arg(&mut self) -> Parsed<TemplateArg<'a>> {
        if self.is_type_start(0) {
            return Ok(TemplateArg::Type(self.type_argument()?));
        }
        Ok(TemplateArg::Value(self.constant_in_angles()?))
    }

    fn type_argument(&mut self) -> Parsed<&'a TypeExpr<'a>> {
        self.nested(Self::type_name)
    }

    /// Whether `<` at the current place opens template arguments: a `>` and then `(` follow, with nothing in between
    /// that could not stand in arguments.
    pub(super) fn looks_like_template_args(&self) -> bool {
        use TokenKind::*;
        let mut depth = 0usize;
        for ahead in 0..MAX_LOOKAHEAD {
            match self.nth_kind(ahead) {
                Lt => depth += 1,
                Gt if depth == 1 => return self.nth_kind(ahead + 1) == LParen,
                Gt => depth -= 1,
                Shr if depth == 2 => return self.nth_kind(ahead + 1) == LParen,
                Shr if depth > 2 => depth -= 2,
                Word | Number | True | False | Comma | Star | Amp | Minus | LBracket | RBracket => {}
                _ if self.is_type_start(ahead) => {}
                _ => return false,
            }
        }
        false
    }
}
