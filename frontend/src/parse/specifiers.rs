//! Declaration specifiers: everything in front of the declared names, and the definitions of structs and enums.

use super::scope::NameKind;
use super::{Parsed, Parser};
use crate::ast::*;
use crate::diag::{Code, Diagnostic};
use crate::lex::{FIRST_ON_LINE, TokenKind};
use crate::source::Span;
use crate::symbol::Symbol;

/// What stands in front of declared names.
pub(super) struct Specifiers<'a> {
    /// The type without what declarators add.
    pub(super) base: &'a TypeExpr<'a>,
    pub(super) is_typedef: bool,
    pub(super) storage: Storage,
    pub(super) flags: FunctionFlags,
    pub(super) attributes: Vec<Attribute<'a>>,
    /// Whether a struct or enum was defined or named, so that no declarator need follow.
    pub(super) declares_type: bool,
    /// Whether the declaration ends here because its `;` is missing, which is reported.
    pub(super) is_complete: bool,
    pub(super) span: Span,
}

/// Specifiers while they are read.
#[derive(Default)]
struct Reader<'a> {
    base: Option<(TypeKind<'a>, Span)>,
    len: Option<(&'a Expr<'a>, Span)>,
    quals: Quals<'a>,
    sign_span: Span,
    is_typedef: bool,
    storage: Storage,
    flags: FunctionFlags,
    attributes: Vec<Attribute<'a>>,
    declares_type: bool,
    /// Whether no name can follow.
    type_only: bool,
    /// Whether anything was read.
    any: bool,
}

impl Reader<'_> {
    /// Returns whether a type may come: there is none yet, or only an unknown word, which may have been a macro.
    fn awaits_type(&self) -> bool {
        matches!(self.base, None | Some((TypeKind::Error, _)))
    }
}

impl<'a> Parser<'a, '_> {
    /// Whether the token `ahead` begins specifiers: a type, a qualifier or a storage class.
    pub(super) fn is_type_start(&self, ahead: usize) -> bool {
        use TokenKind::*;
        match self.nth_kind(ahead) {
            Word => self.nth_word(ahead).is_some_and(|name| self.is_type_name(name)),
            Uniform | Varying => self.nth_kind(ahead + 1) != New,
            Unmasked => self.nth_kind(ahead + 1) != LBrace,
            Attribute | Declspec | Regcall | Vectorcall | Const | Enum | Export | Extern | Inline | Noinline
            | Signed | Unsigned | Soa | Static | Struct | Task | Typedef | Typename => true,
            kind => basic_type(kind).is_some(),
        }
    }

    fn is_type_name(&self, name: Symbol) -> bool {
        match self.scopes.get(name) {
            Some(kind) => kind == NameKind::Type,
            None => self.scopes.special(name).and_then(type_class).is_some(),
        }
    }

    /// Reads specifiers. At least one must be there.
    pub(super) fn specifiers(&mut self) -> Parsed<Specifiers<'a>> {
        let start = self.span();
        let type_only = std::mem::take(&mut self.type_only);
        let mut reader = Reader { type_only, ..Reader::default() };
        let mut is_complete = false;
        while self.specifier(&mut reader)? {
            reader.any = true;
            is_complete = self.is_semi_missing(&reader);
            if is_complete {
                self.expect_semi("after the definition")?;
                break;
            }
        }
        if !reader.any {
            let message = format!("expected a type, found {}", self.describe());
            return self.fail(Code::ExpectedType, start, message);
        }
        let span = self.since(start);
        let base = self.finish_type(&mut reader, span);
        Ok(Specifiers {
            base,
            is_typedef: reader.is_typedef,
            storage: reader.storage,
            flags: reader.flags,
            attributes: reader.attributes,
            declares_type: reader.declares_type,
            is_complete,
            span,
        })
    }

    /// Whether the definition of a struct or enum was read and another declaration begins on the next line.
    fn is_semi_missing(&self, reader: &Reader<'a>) -> bool {
        let next = self.token();
        let closed = self.last_token_kind() == Some(TokenKind::RBrace);
        reader.declares_type
            && closed
            && next.has(FIRST_ON_LINE)
            && self.is_type_start(0)
            && !(next.kind == TokenKind::Word && self.is_declared_name())
    }

    /// Reads one specifier; whether there was one.
    fn specifier(&mut self, reader: &mut Reader<'a>) -> Parsed<bool> {
        let token = self.token();
        if let Some(basic) = basic_type(token.kind) {
            return self.basic_specifier(reader, basic);
        }
        if self.flag_specifier(reader) {
            return Ok(true);
        }
        match token.kind {
            TokenKind::Word => return self.named_specifier(reader),
            TokenKind::Uniform | TokenKind::Varying => {
                if self.nth_kind(1) == TokenKind::New {
                    return Ok(false);
                }
                self.variability(&mut reader.quals);
            }
            TokenKind::Unsigned | TokenKind::Signed => self.sign(reader),
            TokenKind::Soa => {
                self.bump();
                let (width, _) = self.angle_constant()?;
                reader.quals.soa = Some(width);
            }
            TokenKind::Struct if reader.awaits_type() => self.struct_specifier(reader)?,
            TokenKind::Enum if reader.awaits_type() => self.enum_specifier(reader)?,
            TokenKind::Typename => {
                self.bump();
                let help = "`typename` is written only before a template's parameters";
                let diagnostic = Diagnostic::new(Code::UnsupportedSyntax, token.span, "`typename` cannot stand here");
                self.mention(diagnostic.help(help));
            }
            TokenKind::Attribute | TokenKind::Declspec => {
                let attributes = self.attributes()?;
                reader.attributes.extend(attributes);
            }
            TokenKind::Extern => self.extern_specifier(reader),
            // The suffix of a short vector after a named or basic type.
            TokenKind::Lt if reader.base.is_some() && reader.len.is_none() => {
                reader.len = Some(self.angle_constant()?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Reads a specifier that is one keyword; whether there was one.
    fn flag_specifier(&mut self, reader: &mut Reader<'a>) -> bool {
        let flags = &mut reader.flags;
        match self.kind() {
            TokenKind::Const => reader.quals.is_const = true,
            TokenKind::Typedef => reader.is_typedef = true,
            TokenKind::Static => {
                reader.storage = Storage::Static;
                flags.is_static = true;
            }
            TokenKind::Export => flags.export = true,
            TokenKind::Task => flags.task = true,
            TokenKind::Inline => flags.inline = true,
            TokenKind::Noinline => flags.noinline = true,
            TokenKind::Unmasked if self.nth_kind(1) != TokenKind::LBrace => flags.unmasked = true,
            TokenKind::Vectorcall | TokenKind::Regcall => flags.calling_convention = true,
            _ => return false,
        }
        self.bump();
        true
    }

    fn extern_specifier(&mut self, reader: &mut Reader<'a>) {
        self.bump();
        reader.flags.is_extern = true;
        reader.storage = Storage::Extern;
        if self.kind() == TokenKind::String {
            let language = self.bump();
            reader.flags.extern_c = true;
            reader.storage = Storage::ExternC;
            if !matches!(self.texts.literal(&language), "\"C\"" | "\"SYCL\"") {
                let message = "unknown language after `extern`";
                self.mention(Diagnostic::new(Code::BadSpecifiers, language.span, message).help("write `extern \"C\"`"));
            }
        }
    }

    /// Reads `uniform` or `varying`.
    pub(super) fn variability(&mut self, quals: &mut Quals<'a>) {
        let token = self.bump();
        let uniform = token.kind == TokenKind::Uniform;
        let new = if uniform { Variability::Uniform } else { Variability::Varying };
        if quals.variability.is_some_and(|old| old != new) {
            let message = "a type is either `uniform` or `varying`, not both";
            let diagnostic = Diagnostic::new(Code::BadSpecifiers, token.span, message);
            let first = quals.variability_span.unwrap_or(token.span);
            self.mention(diagnostic.label(first, "the other one is here"));
            return;
        }
        quals.variability = Some(new);
        quals.variability_span = Some(token.span);
    }

    fn sign(&mut self, reader: &mut Reader<'a>) {
        let token = self.bump();
        let new = if token.kind == TokenKind::Signed { Sign::Signed } else { Sign::Unsigned };
        if reader.quals.sign.is_some_and(|old| old != new) {
            let message = "a type is either `signed` or `unsigned`, not both";
            self.mention(Diagnostic::new(Code::BadSpecifiers, token.span, message));
        }
        reader.quals.sign = Some(new);
        reader.sign_span = token.span;
    }

    fn basic_specifier(&mut self, reader: &mut Reader<'a>, basic: Basic) -> Parsed<bool> {
        let token = self.bump();
        if let Some((_, first)) = reader.base.filter(|_| !reader.awaits_type()) {
            let message = format!("a second type, `{}`, in one declaration", token.kind.text());
            let mut diagnostic = Diagnostic::new(Code::BadSpecifiers, token.span, message);
            if reader.is_typedef {
                diagnostic = diagnostic.help(format!("`{}` is built in; remove the `typedef`", token.kind.text()));
            }
            self.mention(diagnostic.label(first, "the first type is here"));
            // Whatever follows, nothing more is to be said.
            reader.declares_type = true;
            return Ok(true);
        }
        reader.base = Some((TypeKind::Basic(basic), token.span));
        Ok(true)
    }

    /// Reads a type's name, unless the word is the declared name.
    fn named_specifier(&mut self, reader: &mut Reader<'a>) -> Parsed<bool> {
        let Some(name) = self.word() else {
            return Ok(false);
        };
        if !reader.awaits_type() || (reader.base.is_some() && self.is_declared_name()) {
            return self.foreign_specifier(name);
        }
        let is_declared = reader.quals.sign.is_some() && !reader.type_only && self.is_declared_name();
        if self.is_type_name(name) && !is_declared {
            let span = self.bump().span;
            let class = self.scopes.special(name).and_then(type_class);
            let kind = match class {
                Some(class) => TypeKind::Polymorphic { class, quantifier: self.quantifier() },
                None => TypeKind::Named { name: Ident { name, span }, tag: None },
            };
            reader.base = Some((kind, self.since(span)));
            return Ok(true);
        }
        if self.foreign_specifier(name)? {
            return Ok(true);
        }
        if let Some(basic) = self.foreign_type(name, reader.quals.sign) {
            reader.base = Some(basic);
            return Ok(true);
        }
        if !reader.type_only && (self.is_declared_name() || !self.may_follow_type()) {
            return Ok(false);
        }
        if reader.base.is_some() {
            // What followed from an unknown word is not reported.
            self.bump();
            return Ok(true);
        }
        if let Some(kind) = self.unknown_type(name) {
            // A misspelled keyword; the token was corrected and is read again.
            return if kind { self.specifier(reader) } else { Ok(false) };
        }
        let span = self.bump().span;
        reader.base = Some((TypeKind::Error, span));
        Ok(true)
    }

    /// Whether the word is followed by what follows a declared name, not by a declarator.
    fn is_declared_name(&self) -> bool {
        use TokenKind::*;
        matches!(self.nth_kind(1), Semi | Comma | Eq | LBracket | LParen | RParen | Colon | Eof | RBrace)
    }

    fn quantifier(&mut self) -> Option<u32> {
        if self.kind() != TokenKind::Quantifier {
            return None;
        }
        let token = self.bump();
        let digits = self.texts.literal(&token).trim_start_matches('$');
        let number = digits.parse().ok();
        if number.is_none() {
            let message = "the number of a quantifier is too large";
            self.mention(Diagnostic::new(Code::BadNumber, token.span, message));
        }
        number
    }

    /// Reads `<constant>` after `soa` or the element type of a short vector.
    fn angle_constant(&mut self) -> Parsed<(&'a Expr<'a>, Span)> {
        let start = self.expect(TokenKind::Lt, "after `soa`")?;
        let constant = self.constant_in_angles()?;
        self.expect_angle_close(start)?;
        Ok((constant, self.since(start)))
    }

    /// Consumes a `>`; of `>>` and the like, its first part.
    pub(super) fn expect_angle_close(&mut self, opening: Span) -> Parsed<()> {
        let rest = match self.kind() {
            TokenKind::Shr => TokenKind::Gt,
            TokenKind::Ge => TokenKind::Eq,
            TokenKind::ShrEq => TokenKind::Ge,
            _ => return self.expect_close(TokenKind::Gt, opening),
        };
        let at = self.at;
        self.tokens[at].kind = rest;
        self.tokens[at].span.lo += 1;
        Ok(())
    }

    /// The type that specifiers make.
    fn finish_type(&mut self, reader: &mut Reader<'a>, span: Span) -> &'a TypeExpr<'a> {
        let mut quals = reader.quals;
        let kind = match reader.base {
            Some((kind, at)) => self.apply_sign(kind, at, reader, &mut quals),
            None if reader.quals.sign == Some(Sign::Unsigned) => TypeKind::Basic(Basic::UInt32),
            None => {
                if reader.quals.sign.is_none() && !reader.declares_type {
                    let message = "the type is missing; `int` is assumed";
                    self.mention(Diagnostic::new(Code::ImplicitInt, span, message).help("write the type"));
                }
                TypeKind::Basic(Basic::Int32)
            }
        };
        if reader.base.is_none() {
            quals.sign = None;
        }
        let Some((len, _)) = reader.len else {
            return self.alloc(TypeExpr { kind, quals, span });
        };
        let element = self.alloc(TypeExpr { kind, quals: Quals { soa: None, ..quals }, span });
        self.alloc(TypeExpr { kind: TypeKind::Vector { element, len }, quals: Quals { sign: None, ..quals }, span })
    }

    fn apply_sign(&mut self, kind: TypeKind<'a>, at: Span, reader: &Reader<'a>, quals: &mut Quals<'a>) -> TypeKind<'a> {
        let (TypeKind::Basic(basic), Some(sign)) = (kind, reader.quals.sign) else {
            return kind;
        };
        quals.sign = None;
        match with_sign(basic, sign) {
            Some(basic) => TypeKind::Basic(basic),
            None => {
                let message = "only integer types can be `signed` or `unsigned`";
                let diagnostic = Diagnostic::new(Code::BadSpecifiers, reader.sign_span, message);
                self.mention(diagnostic.label(at, "not an integer type"));
                kind
            }
        }
    }

    // Attributes

    /// Reads all attributes that stand here.
    pub(super) fn attributes(&mut self) -> Parsed<Vec<Attribute<'a>>> {
        let mut attributes = Vec::new();
        loop {
            let doubled = match self.kind() {
                TokenKind::Attribute => true,
                TokenKind::Declspec => false,
                _ => return Ok(attributes),
            };
            self.bump();
            let opening = self.expect(TokenKind::LParen, "after `__attribute__`")?;
            if doubled {
                self.expect(TokenKind::LParen, "after `__attribute__(`")?;
            }
            while self.kind() != TokenKind::RParen {
                attributes.push(self.attribute()?);
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.expect_close(TokenKind::RParen, opening)?;
            if doubled {
                self.expect_close(TokenKind::RParen, opening)?;
            }
        }
    }

    fn attribute(&mut self) -> Parsed<Attribute<'a>> {
        let token = self.token();
        let Some(symbol) = token.symbol() else {
            let message = format!("expected an attribute's name, found {}", self.describe());
            return self.fail(Code::BadAttribute, token.span, message);
        };
        self.bump();
        let name = Ident { name: symbol, span: token.span };
        let opening = self.span();
        if !self.eat(TokenKind::LParen) {
            return Ok(Attribute { name, argument: None, span: token.span });
        }
        let argument = match self.kind() {
            TokenKind::Number => AttributeArgument::Int(self.int_constant()?),
            TokenKind::String => AttributeArgument::Str(self.string_constant()?),
            _ => {
                let message = format!("an attribute's argument is a number or a string, not {}", self.describe());
                return self.fail(Code::BadAttribute, self.span(), message);
            }
        };
        self.expect_close(TokenKind::RParen, opening)?;
        Ok(Attribute { name, argument: Some(argument), span: self.since(token.span) })
    }

    // Structs and enums

    fn struct_specifier(&mut self, reader: &mut Reader<'a>) -> Parsed<()> {
        let start = self.bump().span;
        let mut attributes = self.attributes()?;
        let name = self.tag_name(start, "struct")?;
        reader.declares_type = true;
        reader.base = Some((TypeKind::Named { name, tag: Some(Tag::Struct) }, self.since(start)));
        if self.kind() == TokenKind::LBrace {
            let members = self.nested(Self::struct_members)?;
            attributes.extend(self.attributes()?);
            let attributes = self.alloc_slice(&attributes);
            let span = self.since(start);
            let definition = StructDef { name, members: Some(members), attributes, span };
            self.hoisted.push(Item { kind: ItemKind::Struct(self.alloc(definition)), span });
        } else if self.kind() == TokenKind::Semi && !reader.any {
            let span = self.since(start);
            let declaration = StructDef { name, members: None, attributes: &[], span };
            self.hoisted.push(Item { kind: ItemKind::Struct(self.alloc(declaration)), span });
        }
        Ok(())
    }

    /// The name after `struct` or `enum`, declared as a type; for a definition without one, a made-up name.
    fn tag_name(&mut self, start: Span, tag: &str) -> Parsed<Ident> {
        if self.kind() == TokenKind::LBrace {
            let name = Symbol::intern(&format!("<{tag} {}:{}>", start.file.0, start.lo));
            return Ok(Ident { name, span: start });
        }
        let name = self.ident(&format!("a name or `{{` after `{tag}`"))?;
        if self.scopes.get(name.name).is_none() || self.kind() == TokenKind::LBrace {
            self.scopes.declare(name.name, NameKind::Type);
        }
        Ok(name)
    }

    fn struct_members(&mut self) -> Parsed<&'a [Member<'a>]> {
        let opening = self.bump().span;
        let mut members = Vec::new();
        while !matches!(self.kind(), TokenKind::RBrace | TokenKind::Eof) {
            let before = self.at;
            if self.member_declaration(&mut members).is_err() {
                self.skip_statement(before);
                if self.at == before {
                    self.bump();
                }
            }
        }
        self.close_brace(opening);
        Ok(self.alloc_slice(&members))
    }

    fn member_declaration(&mut self, members: &mut Vec<Member<'a>>) -> Parsed<()> {
        if self.eat(TokenKind::Semi) {
            return Ok(());
        }
        let specifiers = self.specifiers()?;
        let mut start = specifiers.span;
        loop {
            let declarator = self.declarator(specifiers.base, specifiers.flags)?;
            let bits = if self.eat(TokenKind::Colon) { Some(self.constant_expression()?) } else { None };
            let Some(name) = declarator.name else {
                let diagnostic = self.expected_declared_name();
                return self.report(diagnostic);
            };
            if self.kind() == TokenKind::LBrace {
                return self.member_function(name.span);
            }
            let member = Member { name, ty: declarator.ty, bits, span: self.since(start) };
            members.push(member);
            if self.kind() == TokenKind::Eq {
                let message = "members of a struct cannot have initialisers";
                return self.fail(Code::UnsupportedSyntax, self.span(), message);
            }
            if !self.eat(TokenKind::Comma) {
                break;
            }
            start = self.span();
        }
        self.expect_semi("after a member of a struct")
    }

    fn member_function(&mut self, span: Span) -> Parsed<()> {
        let help = "write a function that takes the struct as a parameter";
        let message = "structs have no functions";
        let result = self.report(Diagnostic::new(Code::UnsupportedSyntax, span, message).help(help));
        self.skip_braces();
        // The body is gone, so there is nothing left for the caller to skip.
        result.or(Ok(()))
    }

    fn enum_specifier(&mut self, reader: &mut Reader<'a>) -> Parsed<()> {
        let start = self.bump().span;
        if self.kind() == TokenKind::Struct || self.at_word("class") {
            let message = "enumerations have no scope of their own";
            self.mention(Diagnostic::new(Code::UnsupportedSyntax, self.span(), message).help("write just `enum`"));
            self.bump();
        }
        let name = self.tag_name(start, "enum")?;
        reader.declares_type = true;
        reader.base = Some((TypeKind::Named { name, tag: Some(Tag::Enum) }, self.since(start)));
        if self.kind() == TokenKind::LBrace {
            let enumerators = self.enumerators()?;
            let span = self.since(start);
            let definition = EnumDef { name, enumerators: Some(enumerators), span };
            self.hoisted.push(Item { kind: ItemKind::Enum(self.alloc(definition)), span });
        } else if self.kind() == TokenKind::Semi && !reader.any {
            let span = self.since(start);
            let declaration = EnumDef { name, enumerators: None, span };
            self.hoisted.push(Item { kind: ItemKind::Enum(self.alloc(declaration)), span });
        }
        Ok(())
    }

    fn enumerators(&mut self) -> Parsed<&'a [Enumerator<'a>]> {
        let opening = self.bump().span;
        let mut enumerators = Vec::new();
        while self.kind() != TokenKind::RBrace {
            let name = self.ident("the name of an enumerator")?;
            let value = if self.eat(TokenKind::Eq) { Some(self.constant_expression()?) } else { None };
            self.scopes.declare(name.name, NameKind::Value);
            enumerators.push(Enumerator { name, value });
            if !self.eat(TokenKind::Comma) {
                break;
            }
        }
        self.expect_close(TokenKind::RBrace, opening)?;
        Ok(self.alloc_slice(&enumerators))
    }

    /// A type and perhaps an abstract declarator, as in casts and `sizeof`.
    pub(super) fn type_name(&mut self) -> Parsed<&'a TypeExpr<'a>> {
        self.type_only = true;
        let specifiers = self.specifiers()?;
        self.reject_storage(&specifiers);
        let declarator = self.nested(|parser| parser.declarator(specifiers.base, FunctionFlags::default()))?;
        if let Some(name) = declarator.name {
            let message = format!("only a type can stand here, not the name `{}`", name.name);
            return self.fail(Code::UnexpectedToken, name.span, message);
        }
        Ok(declarator.ty)
    }

    fn reject_storage(&mut self, specifiers: &Specifiers<'a>) {
        let storage = specifiers.is_typedef || specifiers.storage != Storage::None;
        if storage || specifiers.flags.export || specifiers.flags.inline {
            let message = "only a type can stand here, no storage class";
            self.mention(Diagnostic::new(Code::BadSpecifiers, specifiers.span, message));
        }
    }
}

/// The type that a keyword names.
pub(super) fn basic_type(kind: TokenKind) -> Option<Basic> {
    Some(match kind {
        TokenKind::Void => Basic::Void,
        TokenKind::Bool => Basic::Bool,
        TokenKind::Int8 => Basic::Int8,
        TokenKind::Int16 => Basic::Int16,
        TokenKind::Int => Basic::Int32,
        TokenKind::Int64 => Basic::Int64,
        TokenKind::UInt8 => Basic::UInt8,
        TokenKind::UInt16 => Basic::UInt16,
        TokenKind::UInt => Basic::UInt32,
        TokenKind::UInt64 => Basic::UInt64,
        TokenKind::Float16 => Basic::Float16,
        TokenKind::Float => Basic::Float,
        TokenKind::Double => Basic::Double,
        _ => return None,
    })
}

/// The class of types that a word names, unless it is declared as something else.
fn type_class(word: &str) -> Option<TypeClass> {
    match word {
        "integer" => Some(TypeClass::Integer),
        "floating" => Some(TypeClass::Floating),
        "number" => Some(TypeClass::Number),
        _ => None,
    }
}

fn with_sign(basic: Basic, sign: Sign) -> Option<Basic> {
    use Basic::*;
    let signed = match basic {
        Int8 | UInt8 => Int8,
        Int16 | UInt16 => Int16,
        Int32 | UInt32 => Int32,
        Int64 | UInt64 => Int64,
        _ => return None,
    };
    Some(match (signed, sign) {
        (_, Sign::Signed) => signed,
        (Int8, Sign::Unsigned) => UInt8,
        (Int16, Sign::Unsigned) => UInt16,
        (Int32, Sign::Unsigned) => UInt32,
        (_, Sign::Unsigned) => UInt64,
    })
}
