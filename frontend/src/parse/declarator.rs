//! Declarators: what stands around a declared name and changes its type.
//!
//! C writes types inside out; here they are turned. A declarator is read as a list of [`Modifier`]s, from the name
//! outwards, and applied to the base type in reverse.

use super::scope::NameKind;
use super::specifiers::Specifiers;
use super::{Parsed, Parser};
use crate::ast::*;
use crate::diag::{Code, Diagnostic};
use crate::lex::TokenKind;
use crate::source::Span;
use crate::symbol::Symbol;

/// How many pointers, arrays and functions one type may be made of.
const MAX_MODIFIERS: usize = 64;

/// A declared name with its type.
pub(super) struct Declarator<'a> {
    pub(super) name: Option<Ident>,
    pub(super) operator: Option<OperatorName>,
    /// `name<…>`, in specialisations and instantiations of templates.
    pub(super) template_args: Option<&'a [TemplateArg<'a>]>,
    pub(super) ty: &'a TypeExpr<'a>,
}

/// One level of a type.
enum Modifier<'a> {
    Pointer(Quals<'a>, Span),
    Reference(Quals<'a>, Span),
    Array(Option<&'a Expr<'a>>, Span),
    Function(&'a [Param<'a>], Span),
}

/// What a declarator says of the name.
#[derive(Default)]
struct Named<'a> {
    name: Option<Ident>,
    operator: Option<OperatorName>,
    template_args: Option<&'a [TemplateArg<'a>]>,
}

impl<'a> Parser<'a, '_> {
    /// Reads a declarator, which may be abstract (without a name). `flags` are those of the specifiers, for the
    /// functions that pointers in it point to.
    pub(super) fn declarator(&mut self, base: &'a TypeExpr<'a>, flags: FunctionFlags) -> Parsed<Declarator<'a>> {
        let start = self.span();
        let mut modifiers = Vec::new();
        let named = self.declarator_parts(&mut modifiers)?;
        if modifiers.len() > MAX_MODIFIERS {
            return self.fail(Code::NestingTooDeep, start, "this type is nested too deeply");
        }
        let ty = self.apply(base, modifiers, flags)?;
        let Named { name, operator, template_args } = named;
        Ok(Declarator { name, operator, template_args, ty })
    }

    /// Reads the parts of a declarator, those nearest the name first.
    fn declarator_parts(&mut self, modifiers: &mut Vec<Modifier<'a>>) -> Parsed<Named<'a>> {
        let mut prefixes = Vec::new();
        while let TokenKind::Star | TokenKind::Amp | TokenKind::AmpAmp = self.kind() {
            prefixes.push(self.prefix());
        }
        let mut named = if self.is_nested_declarator() {
            let opening = self.bump().span;
            let named = self.nested(|parser| parser.declarator_parts(modifiers))?;
            self.expect_close(TokenKind::RParen, opening)?;
            named
        } else {
            self.declared_name()?
        };
        let (first, brackets) = (modifiers.len(), self.span());
        self.suffixes(modifiers)?;
        if named.name.is_none() && brackets != self.span() && self.word().is_some() && !self.is_type_start(0) {
            self.report_early_brackets(self.since(brackets));
            named = self.declared_name()?;
            if self.kind() == TokenKind::LParen {
                modifiers.truncate(first);
            }
            self.suffixes(modifiers)?;
        }
        modifiers.extend(prefixes.into_iter().rev());
        Ok(named)
    }

    fn suffixes(&mut self, modifiers: &mut Vec<Modifier<'a>>) -> Parsed<()> {
        loop {
            match self.kind() {
                TokenKind::LBracket => modifiers.push(self.array_suffix()?),
                TokenKind::LParen => modifiers.push(self.function_suffix()?),
                _ => return Ok(()),
            }
        }
    }

    /// Says that the brackets stand in front of the name that comes.
    fn report_early_brackets(&mut self, brackets: Span) {
        let name = self.describe();
        let error = |message: String| Diagnostic::new(Code::BadDeclaration, brackets, message);
        self.mention(if self.nth_kind(1) == TokenKind::LParen {
            let help = "take an array as a parameter and write to it: `uniform float out[]`";
            error(format!("the function {name} cannot return an array")).help(help)
        } else {
            let help = format!("write them behind {name}, as in `float x[]`");
            error("the brackets of an array stand behind its name".into()).help(help)
        });
    }

    fn prefix(&mut self) -> Modifier<'a> {
        let token = self.bump();
        let mut quals = Quals::default();
        loop {
            match self.kind() {
                TokenKind::Const => {
                    self.bump();
                    quals.is_const = true;
                }
                TokenKind::Uniform | TokenKind::Varying => self.variability(&mut quals),
                TokenKind::Word if self.at_word("restrict") || self.at_word("__restrict__") => {
                    let message = "`restrict` is not part of the language";
                    let diagnostic = Diagnostic::new(Code::UnsupportedSyntax, self.span(), message);
                    self.mention(diagnostic.help("remove it"));
                    self.bump();
                }
                _ => break,
            }
        }
        match token.kind {
            TokenKind::Star => Modifier::Pointer(quals, self.since(token.span)),
            kind => {
                if kind == TokenKind::AmpAmp {
                    let message = "there are no references to references";
                    let diagnostic = Diagnostic::new(Code::UnsupportedSyntax, token.span, message);
                    self.mention(diagnostic.help("write a single `&`"));
                }
                Modifier::Reference(quals, token.span)
            }
        }
    }

    /// Whether a `(` opens a nested declarator, not parameters.
    fn is_nested_declarator(&self) -> bool {
        if self.kind() != TokenKind::LParen {
            return false;
        }
        match self.nth_kind(1) {
            TokenKind::Star | TokenKind::Amp | TokenKind::LParen | TokenKind::LBracket => true,
            TokenKind::Word => !self.is_type_start(1),
            _ => false,
        }
    }

    fn declared_name(&mut self) -> Parsed<Named<'a>> {
        if self.kind() == TokenKind::Operator {
            return self.operator_name();
        }
        let Some(name) = self.word() else {
            return Ok(Named::default());
        };
        let span = self.bump().span;
        let has_args = self.kind() == TokenKind::Lt && self.looks_like_template_args();
        let template_args = if has_args { Some(self.template_args()?) } else { None };
        Ok(Named { name: Some(Ident { name, span }), operator: None, template_args })
    }

    fn operator_name(&mut self) -> Parsed<Named<'a>> {
        let start = self.bump().span;
        let token = self.token();
        let text = token.kind.text();
        let operator = match operator_of(token.kind) {
            Some(operator) => operator,
            None => {
                let message = format!("{} is no operator that can be overloaded", self.describe());
                return self.fail(Code::BadOperatorName, token.span, message);
            }
        };
        self.bump();
        let name = Symbol::intern(&format!("operator{text}"));
        let name = Ident { name, span: start.to(token.span) };
        let has_args = self.kind() == TokenKind::Lt && self.looks_like_template_args();
        let template_args = if has_args { Some(self.template_args()?) } else { None };
        Ok(Named { name: Some(name), operator: Some(operator), template_args })
    }

    fn array_suffix(&mut self) -> Parsed<Modifier<'a>> {
        let opening = self.bump().span;
        let len = if self.kind() == TokenKind::RBracket { None } else { Some(self.constant_expression()?) };
        self.expect_close(TokenKind::RBracket, opening)?;
        Ok(Modifier::Array(len, self.since(opening)))
    }

    fn function_suffix(&mut self) -> Parsed<Modifier<'a>> {
        let opening = self.bump().span;
        let params = self.nested(|parser| parser.params(opening))?;
        Ok(Modifier::Function(params, self.since(opening)))
    }

    /// Reads parameters after `(`, up to and with the `)`.
    fn params(&mut self, opening: Span) -> Parsed<&'a [Param<'a>]> {
        let mut params = Vec::new();
        if self.kind() == TokenKind::Void && self.nth_kind(1) == TokenKind::RParen {
            self.bump();
        }
        while !matches!(self.kind(), TokenKind::RParen | TokenKind::Eof) {
            match self.param() {
                Ok(param) => params.push(param),
                Err(reported) => self.skip_param(reported)?,
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
            if self.kind() == TokenKind::RParen {
                let message = format!("expected another parameter after `,`, found {}", self.describe());
                return self.fail(Code::ExpectedType, self.span(), message);
            }
        }
        self.expect_close(TokenKind::RParen, opening)?;
        Ok(self.alloc_slice(&params))
    }

    /// After a malformed parameter: skips to the `,` or `)` after it, if there is one on the way.
    fn skip_param(&mut self, reported: super::Reported) -> Parsed<()> {
        let mut depth = 0usize;
        loop {
            match self.kind() {
                TokenKind::Comma | TokenKind::RParen if depth == 0 => return Ok(()),
                TokenKind::LParen | TokenKind::LBracket => depth += 1,
                TokenKind::RParen | TokenKind::RBracket => depth = depth.saturating_sub(1),
                TokenKind::Semi | TokenKind::LBrace | TokenKind::RBrace | TokenKind::Eof => {
                    return Err(reported);
                }
                _ => {}
            }
            self.bump();
        }
    }

    fn param(&mut self) -> Parsed<Param<'a>> {
        if self.kind() == TokenKind::Ellipsis {
            let message = "functions cannot take an open number of arguments";
            return self.fail(Code::UnsupportedSyntax, self.span(), message);
        }
        let specifiers = self.param_specifiers()?;
        let declarator = self.declarator(specifiers.base, specifiers.flags)?;
        let mut attributes = specifiers.attributes;
        attributes.extend(self.attributes()?);
        let default = if self.eat(TokenKind::Eq) { Some(self.initializer()?) } else { None };
        if specifiers.is_typedef || specifiers.storage != Storage::None {
            let message = "a parameter has no storage class";
            self.mention(Diagnostic::new(Code::BadSpecifiers, specifiers.span, message));
        }
        Ok(Param {
            name: declarator.name,
            ty: declarator.ty,
            default,
            attributes: self.alloc_slice(&attributes),
            span: self.since(specifiers.span),
        })
    }

    fn param_specifiers(&mut self) -> Parsed<Specifiers<'a>> {
        let lone = matches!(self.nth_kind(1), TokenKind::Comma | TokenKind::RParen);
        match self.word() {
            Some(name) if lone && !self.is_type_start(0) => {
                let message = format!("parameter `{name}` has no type, or `{name}` is no type");
                let help = format!("write a type and a name, such as `float {name}`");
                self.report(Diagnostic::new(Code::ExpectedType, self.span(), message).help(help))
            }
            _ => self.specifiers(),
        }
    }

    /// The base type with all modifiers applied, the last one first.
    fn apply(
        &mut self,
        base: &'a TypeExpr<'a>,
        modifiers: Vec<Modifier<'a>>,
        flags: FunctionFlags,
    ) -> Parsed<&'a TypeExpr<'a>> {
        let mut ty = base;
        for modifier in modifiers.into_iter().rev() {
            let is_array = matches!(ty.kind, TypeKind::Array { .. });
            let is_function = matches!(ty.kind, TypeKind::Function(_));
            let (kind, quals, span) = match modifier {
                Modifier::Pointer(quals, span) => (TypeKind::Pointer(ty), quals, span),
                Modifier::Reference(quals, span) => (TypeKind::Reference(ty), quals, span),
                Modifier::Array(_, span) if is_function => {
                    let message = "there are no arrays of functions";
                    let help = "write an array of pointers to functions";
                    return self.report(Diagnostic::new(Code::BadDeclaration, span, message).help(help));
                }
                Modifier::Array(len, span) => (TypeKind::Array { element: ty, len }, Quals::default(), span),
                Modifier::Function(_, span) if is_array || is_function => {
                    let what = if is_array { "an array" } else { "a function" };
                    let message = format!("a function cannot return {what}");
                    let help = "return a pointer or a struct";
                    return self.report(Diagnostic::new(Code::BadDeclaration, span, message).help(help));
                }
                Modifier::Function(params, span) => {
                    let function = self.alloc(FunctionType { result: ty, params, flags });
                    (TypeKind::Function(function), Quals::default(), span)
                }
            };
            ty = self.alloc(TypeExpr { kind, quals, span: base.span.to(span) });
        }
        Ok(ty)
    }

    /// Declares the parameters as values in the innermost scope.
    pub(super) fn declare_params(&mut self, params: &[Param<'a>]) {
        for name in params.iter().filter_map(|param| param.name) {
            self.scopes.declare(name.name, NameKind::Value);
        }
    }
}

/// The operator that can be overloaded which a token names.
fn operator_of(kind: TokenKind) -> Option<OperatorName> {
    use TokenKind::*;
    let text = kind.text();
    Some(match kind {
        PlusPlus => OperatorName::Inc,
        MinusMinus => OperatorName::Dec,
        Eq | StarEq | SlashEq | PercentEq | PlusEq | MinusEq | ShlEq | ShrEq | AmpEq | CaretEq | PipeEq => {
            OperatorName::Assign(text)
        }
        Plus | Minus | Star | Slash | Percent | Shl | Shr | Gt | Lt | Ge | Le | EqEq | Ne | Amp | Pipe | Caret
        | AmpAmp | PipePipe | Bang | Tilde => OperatorName::Plain(text),
        _ => return None,
    })
}
