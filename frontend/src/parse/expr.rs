//! Expressions, by precedence climbing.

use super::foreign;
use super::literal;
use super::scope::NameKind;
use super::{MAX_HEIGHT, Parsed, Parser, Reported};
use crate::ast::*;
use crate::diag::{Code, Diagnostic};
use crate::lex::{FROM_MACRO, Token, TokenKind};
use crate::source::Span;
use crate::symbol::Symbol;

/// Binds weaker than every binary operator.
const WEAKEST: u8 = 1;
/// Binds stronger than shifts and comparisons, so that `>` and `>>` end the expression.
const WITHIN_ANGLES: u8 = 9;
/// How much of the program a help line repeats, in bytes.
const MAX_QUOTED: usize = 60;

impl<'a> Parser<'a, '_> {
    /// An expression, commas included.
    pub(super) fn expression(&mut self) -> Parsed<&'a Expr<'a>> {
        let mut lhs = self.assignment()?;
        while self.kind() == TokenKind::Comma {
            let op_span = self.bump().span;
            let height = self.height;
            let rhs = self.assignment()?;
            lhs = self.binary_node(BinaryOp::Comma, op_span, lhs, rhs, height)?;
        }
        Ok(lhs)
    }

    /// An expression without commas outside of parentheses.
    pub(super) fn assignment(&mut self) -> Parsed<&'a Expr<'a>> {
        self.nested(|parser| {
            if parser.at_new() {
                return parser.new_expression();
            }
            let target = parser.conditional()?;
            let Some(op) = assignment_op(parser.kind()) else {
                return Ok(target);
            };
            let op_span = parser.bump().span;
            let height = parser.height;
            let value = parser.assignment()?;
            let kind = ExprKind::Assign { op, op_span, target, value };
            parser.node(kind, target.span.to(value.span), height.max(parser.height))
        })
    }

    /// A constant expression: no assignments.
    pub(super) fn constant_expression(&mut self) -> Parsed<&'a Expr<'a>> {
        self.nested(Self::conditional)
    }

    /// A constant between `<` and `>`.
    pub(super) fn constant_in_angles(&mut self) -> Parsed<&'a Expr<'a>> {
        self.nested(|parser| parser.binary(WITHIN_ANGLES))
    }

    /// An initialiser: an expression or `{…}`.
    pub(super) fn initializer(&mut self) -> Parsed<&'a Expr<'a>> {
        if self.kind() != TokenKind::LBrace {
            return self.assignment();
        }
        self.nested(|parser| {
            let start = parser.bump().span;
            let mut items = Vec::new();
            let mut height = 0;
            while parser.kind() != TokenKind::RBrace {
                if parser.kind() == TokenKind::Dot {
                    return parser.designator();
                }
                items.push(parser.initializer()?);
                height = height.max(parser.height);
                if !parser.eat(TokenKind::Comma) {
                    break;
                }
            }
            parser.expect_close(TokenKind::RBrace, start)?;
            let items = parser.alloc_slice(&items);
            parser.node(ExprKind::Aggregate(items), parser.since(start), height)
        })
    }

    fn designator(&mut self) -> Parsed<&'a Expr<'a>> {
        let message = "initialisers cannot name members";
        let diagnostic = Diagnostic::new(Code::UnsupportedSyntax, self.span(), message);
        self.report(diagnostic.help("give the values in the order of the members"))
    }

    fn conditional(&mut self) -> Parsed<&'a Expr<'a>> {
        let condition = self.binary(WEAKEST)?;
        if self.kind() != TokenKind::Question {
            return Ok(condition);
        }
        let mut height = self.height;
        self.bump();
        let then = self.nested(Self::expression)?;
        height = height.max(self.height);
        self.expect(TokenKind::Colon, "between the two values of `?:`")?;
        let otherwise =
            self.nested(|parser| if parser.at_new() { parser.new_expression() } else { parser.conditional() })?;
        height = height.max(self.height);
        let kind = ExprKind::Conditional { condition, then, otherwise };
        self.node(kind, condition.span.to(otherwise.span), height)
    }

    fn binary(&mut self, minimum: u8) -> Parsed<&'a Expr<'a>> {
        let mut lhs = self.unary()?;
        while let Some((op, level)) = binary_op(self.kind()).filter(|&(_, level)| level >= minimum) {
            let op_span = self.bump().span;
            let height = self.height;
            let rhs = self.binary(level + 1)?;
            lhs = self.binary_node(op, op_span, lhs, rhs, height)?;
        }
        Ok(lhs)
    }

    fn binary_node(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        lhs: &'a Expr<'a>,
        rhs: &'a Expr<'a>,
        lhs_height: u32,
    ) -> Parsed<&'a Expr<'a>> {
        let kind = ExprKind::Binary { op, op_span, lhs, rhs };
        self.node(kind, lhs.span.to(rhs.span), lhs_height.max(self.height))
    }

    /// A node above others of at most this height.
    fn node(&mut self, kind: ExprKind<'a>, span: Span, height: u32) -> Parsed<&'a Expr<'a>> {
        self.height = height + 1;
        if self.height > MAX_HEIGHT {
            return self.too_deep();
        }
        Ok(self.alloc(Expr { kind, span }))
    }

    fn leaf(&mut self, kind: ExprKind<'a>, span: Span) -> Parsed<&'a Expr<'a>> {
        self.height = 1;
        Ok(self.alloc(Expr { kind, span }))
    }

    fn unary(&mut self) -> Parsed<&'a Expr<'a>> {
        let token = self.token();
        let op = match token.kind {
            TokenKind::PlusPlus => UnaryOp::PreInc,
            TokenKind::MinusMinus => UnaryOp::PreDec,
            TokenKind::Amp => UnaryOp::AddressOf,
            TokenKind::Star => UnaryOp::Deref,
            TokenKind::Plus => UnaryOp::Plus,
            TokenKind::Minus => UnaryOp::Neg,
            TokenKind::Tilde => UnaryOp::BitNot,
            TokenKind::Bang => UnaryOp::Not,
            TokenKind::Sizeof => return self.nested(Self::sizeof),
            TokenKind::LParen if self.is_cast() => return self.nested(Self::cast),
            _ => return self.postfix(true),
        };
        self.nested(|parser| {
            parser.bump();
            let operand = parser.unary()?;
            parser.node(ExprKind::Unary { op, operand }, token.span.to(operand.span), parser.height)
        })
    }

    /// Whether a `(` opens a cast: what follows is a type, or an unknown name in parentheses followed by an operand.
    fn is_cast(&self) -> bool {
        if self.is_type_start(1) {
            return true;
        }
        let Some(name) = self.nth_word(1) else {
            return false;
        };
        let operand = matches!(self.nth_kind(3), TokenKind::Word | TokenKind::Number | TokenKind::String);
        self.nth_kind(2) == TokenKind::RParen && operand && self.scopes.get(name).is_none()
    }

    fn cast(&mut self) -> Parsed<&'a Expr<'a>> {
        let start = self.bump().span;
        let ty = if self.is_type_start(0) {
            self.type_name()?
        } else {
            let name = self.ident("a type")?;
            self.report_unknown_type(name, false);
            self.alloc(TypeExpr { kind: TypeKind::Error, quals: Quals::default(), span: name.span })
        };
        self.expect_close(TokenKind::RParen, start)?;
        if self.kind() == TokenKind::LBrace {
            let message = "a list in braces is only an initialiser, no value";
            let help = "declare a variable and initialise it with the list";
            let result = self.report(Diagnostic::new(Code::UnsupportedSyntax, self.span(), message).help(help));
            self.skip_braces();
            return result;
        }
        let operand = if self.at_new() { self.new_expression()? } else { self.unary()? };
        self.node(ExprKind::Cast { ty, operand }, start.to(operand.span), self.height)
    }

    fn sizeof(&mut self) -> Parsed<&'a Expr<'a>> {
        let start = self.bump().span;
        if self.kind() == TokenKind::LParen && self.is_type_start(1) {
            let opening = self.bump().span;
            let ty = self.type_name()?;
            self.expect_close(TokenKind::RParen, opening)?;
            return self.leaf(ExprKind::SizeofType(ty), self.since(start));
        }
        let operand = self.unary()?;
        self.node(ExprKind::SizeofExpr(operand), start.to(operand.span), self.height)
    }

    fn at_new(&self) -> bool {
        match self.kind() {
            TokenKind::New => true,
            TokenKind::Uniform | TokenKind::Varying => self.nth_kind(1) == TokenKind::New,
            _ => false,
        }
    }

    fn new_expression(&mut self) -> Parsed<&'a Expr<'a>> {
        let start = self.span();
        let variability = match self.kind() {
            TokenKind::Uniform => Some(Variability::Uniform),
            TokenKind::Varying => Some(Variability::Varying),
            _ => None,
        };
        if variability.is_some() {
            self.bump();
        }
        self.bump();
        let base = self.specifiers()?.base;
        let ty = self.pointers_to(base);
        let (mut count, mut init) = (None, None);
        let opening = self.span();
        let mut height = 0;
        if self.eat(TokenKind::LBracket) {
            count = self.indices(None)?.first().copied();
            height = self.height;
            self.expect_close(TokenKind::RBracket, opening)?;
        } else if self.kind() == TokenKind::LParen {
            let (args, args_height) = self.arguments(Self::initializer)?;
            height = args_height;
            init = Some(args);
        }
        self.node(ExprKind::New { variability, ty, count, init }, self.since(start), height)
    }

    /// The `*`s after the type of a `new`.
    fn pointers_to(&mut self, base: &'a TypeExpr<'a>) -> &'a TypeExpr<'a> {
        let mut ty = base;
        while self.kind() == TokenKind::Star {
            let span = self.bump().span;
            let mut quals = Quals::default();
            while matches!(self.kind(), TokenKind::Uniform | TokenKind::Varying) {
                self.variability(&mut quals);
            }
            ty = self.alloc(TypeExpr { kind: TypeKind::Pointer(ty), quals, span: base.span.to(span) });
        }
        ty
    }

    /// A primary expression and what follows it. Without `calls` a `(` ends it: the callee of `launch` and `crev`.
    fn postfix(&mut self, calls: bool) -> Parsed<&'a Expr<'a>> {
        let start = self.at;
        let mut base = self.primary()?;
        loop {
            let height = self.height;
            let token = self.token();
            base = match token.kind {
                TokenKind::LBracket => {
                    self.bump();
                    let indices = self.nested(|parser| parser.indices(Some(start)))?;
                    self.expect_close(TokenKind::RBracket, token.span)?;
                    let (span, mut height) = (self.since(base.span), height.max(self.height));
                    for index in indices {
                        base = self.node(ExprKind::Index { base, index }, span, height)?;
                        height = self.height;
                    }
                    base
                }
                TokenKind::LParen if calls => {
                    let call = self.call_of(base)?;
                    let span = self.since(base.span);
                    self.node(ExprKind::Call(call), span, height.max(self.height))?
                }
                TokenKind::Dot | TokenKind::Arrow => {
                    self.bump();
                    let member = self.member_name()?;
                    let arrow = token.kind == TokenKind::Arrow;
                    self.node(ExprKind::Member { base, member, arrow }, base.span.to(member.span), height)?
                }
                TokenKind::PlusPlus | TokenKind::MinusMinus => {
                    self.bump();
                    let op = if token.kind == TokenKind::PlusPlus { UnaryOp::PostInc } else { UnaryOp::PostDec };
                    self.node(ExprKind::Unary { op, operand: base }, base.span.to(token.span), height)?
                }
                TokenKind::ColonColon => {
                    let message = "there are no namespaces or scopes of names";
                    let diagnostic = Diagnostic::new(Code::UnsupportedSyntax, base.span.to(token.span), message);
                    return match self.nth_word(1) {
                        Some(name) => self.report(diagnostic.help(foreign::scoped_name(name.as_str()))),
                        None => self.report(diagnostic),
                    };
                }
                _ => return Ok(base),
            };
        }
    }

    /// What stands in brackets: behind what begins at the token `indexed`, or the count of a `new`. A comma there separates
    /// dimensions in other languages; here it would silently choose the last value, so it is an error outside of parentheses,
    /// and all values are given.
    fn indices(&mut self, indexed: Option<usize>) -> Parsed<Vec<&'a Expr<'a>>> {
        let mut starts = vec![self.at];
        let mut indices = vec![self.assignment()?];
        let (comma, mut height) = (self.span(), self.height);
        while self.eat(TokenKind::Comma) {
            starts.push(self.at);
            indices.push(self.assignment()?);
            height = height.max(self.height);
        }
        self.height = height;
        if starts.len() > 1 {
            let ends = starts[1..].iter().map(|next| next - 1).chain([self.at]);
            let texts = starts.iter().zip(ends).map(|(&from, to)| self.text(from, to));
            let fixed = match indexed {
                Some(from) => texts.fold(self.text(from, starts[0] - 1), |text, index| text + "[" + &index + "]"),
                None => format!("new T[{}]", texts.map(|count| format!("({count})")).collect::<Vec<_>>().join(" * ")),
            };
            let fixed = if fixed.len() <= MAX_QUOTED { fixed } else { "x[i][j]".into() };
            let error = Diagnostic::new(Code::CommaInBrackets, comma, "a comma does not separate indices");
            let help = format!("write `{fixed}`; if the comma operator is meant, put it in parentheses");
            self.mention(error.help(help));
        }
        Ok(indices)
    }

    /// The tokens from one to before another as text.
    fn text(&self, from: usize, to: usize) -> String {
        let (mut text, mut end) = (String::new(), None);
        for token in &self.tokens[from..to] {
            if end.is_some_and(|end| token.span.lo > end) {
                text.push(' ');
            }
            text += self.texts.spelling(token);
            end = Some(token.span.hi);
        }
        text
    }

    fn member_name(&mut self) -> Parsed<Ident> {
        if self.kind() == TokenKind::Dot {
            let help = "a range is written with three dots: `start ... end`";
            let diagnostic =
                Diagnostic::new(Code::UnexpectedToken, self.last_span().to(self.span()), "unexpected `..`");
            return self.report(diagnostic.help(help));
        }
        self.ident("the name of a member")
    }

    /// Reads the arguments of a call of `callee`. The height is that of the highest argument.
    fn call_of(&mut self, callee: &'a Expr<'a>) -> Parsed<&'a Call<'a>> {
        let start = self.span();
        let (args, height) = self.arguments(Self::assignment)?;
        self.height = height;
        Ok(self.alloc(Call { callee, args, args_span: self.since(start) }))
    }

    /// Reads `(a, b, …)`, each by `argument`, and the height of the highest.
    fn arguments(&mut self, argument: fn(&mut Self) -> Parsed<&'a Expr<'a>>) -> Parsed<(&'a [&'a Expr<'a>], u32)> {
        let opening = self.expect(TokenKind::LParen, "before the arguments")?;
        let mut args = Vec::new();
        let mut height = 0;
        while self.kind() != TokenKind::RParen {
            args.push(argument(self)?);
            height = height.max(self.height);
            if !self.eat(TokenKind::Comma) {
                break;
            }
            if self.kind() == TokenKind::RParen {
                let message = "expected another argument after `,`";
                return self.fail(Code::ExpectedExpression, self.span(), message);
            }
        }
        if self.kind() != TokenKind::RParen && self.is_type_start(0) {
            let message = format!("expected `,` or `)`, found {}", self.describe());
            return self.fail(Code::ExpectedToken, self.span(), message);
        }
        self.expect_close(TokenKind::RParen, opening)?;
        Ok((self.alloc_slice(&args), height))
    }

    fn primary(&mut self) -> Parsed<&'a Expr<'a>> {
        let token = self.token();
        match token.kind {
            TokenKind::Word => self.name(),
            TokenKind::Number | TokenKind::Char => self.number_literal(),
            TokenKind::String => {
                let string = self.string_constant()?;
                self.leaf(ExprKind::String(string), self.since(token.span))
            }
            TokenKind::True | TokenKind::False => {
                self.bump();
                self.leaf(ExprKind::Bool(token.kind == TokenKind::True), token.span)
            }
            TokenKind::Null => {
                self.bump();
                self.leaf(ExprKind::Null, token.span)
            }
            TokenKind::LParen => {
                self.bump();
                let inner = self.nested(Self::expression)?;
                self.expect_close(TokenKind::RParen, token.span)?;
                Ok(inner)
            }
            TokenKind::Launch => self.launch(),
            TokenKind::Operator => self.operator_as_value(),
            TokenKind::Intrinsic => {
                self.bump();
                let name = self.texts.literal(&token);
                let (args, height) = self.arguments(Self::assignment)?;
                self.node(ExprKind::Intrinsic { name, args }, self.since(token.span), height)
            }
            _ => self.no_expression(),
        }
    }

    fn no_expression(&mut self) -> Parsed<&'a Expr<'a>> {
        let diagnostic = self.expected_expression();
        self.report(diagnostic)
    }

    fn name(&mut self) -> Parsed<&'a Expr<'a>> {
        let token = self.token();
        let Some(name) = self.word() else {
            return self.no_expression();
        };
        let kind = self.scopes.get(name);
        if let Some(special) = self.scopes.special(name) {
            match special {
                "alloca" | "__alloca" if self.nth_kind(1) == TokenKind::LParen => {
                    return self.alloca();
                }
                "crev" if matches!(self.nth_kind(1), TokenKind::Word) => return self.crev(),
                _ => {}
            }
        }
        if kind == Some(NameKind::Type) || (kind.is_none() && self.is_type_start(0)) {
            let diagnostic = self.expected_expression();
            return self.report(diagnostic);
        }
        self.bump();
        let ident = Ident { name, span: token.span };
        let has_args = self.kind() == TokenKind::Lt && self.is_template_use(kind);
        let template_args = if has_args { Some(self.template_args()?) } else { None };
        self.leaf(ExprKind::Name { name: ident, template_args }, self.since(token.span))
    }

    /// Whether a `<` after a name opens template arguments.
    fn is_template_use(&self, kind: Option<NameKind>) -> bool {
        match kind {
            Some(NameKind::Template) => true,
            Some(_) => false,
            None => self.looks_like_template_args(),
        }
    }

    fn alloca(&mut self) -> Parsed<&'a Expr<'a>> {
        let start = self.bump().span;
        let opening = self.bump().span;
        let size = self.assignment()?;
        self.expect_close(TokenKind::RParen, opening)?;
        self.node(ExprKind::Alloca(size), self.since(start), self.height)
    }

    fn crev(&mut self) -> Parsed<&'a Expr<'a>> {
        let start = self.bump().span;
        let callee = self.postfix(false)?;
        let height = self.height;
        let call = self.call_of(callee)?;
        self.node(ExprKind::Crev(call), self.since(start), height.max(self.height))
    }

    /// `operator+` as the name of a function.
    fn operator_as_value(&mut self) -> Parsed<&'a Expr<'a>> {
        let start = self.bump().span;
        let op = self.bump();
        let name = Symbol::intern(&format!("operator{}", op.kind.text()));
        let name = Ident { name, span: start.to(op.span) };
        self.leaf(ExprKind::Name { name, template_args: None }, name.span)
    }

    fn launch(&mut self) -> Parsed<&'a Expr<'a>> {
        let start = self.bump().span;
        let mut counts = Vec::new();
        let mut height = 0;
        let mut brackets = 0;
        while self.kind() == TokenKind::LBracket {
            brackets += 1;
            let opening = self.bump().span;
            loop {
                counts.push(self.assignment()?);
                height = height.max(self.height);
                if !self.eat(TokenKind::Comma) {
                    break;
                }
            }
            self.expect_close(TokenKind::RBracket, opening)?;
        }
        // As for the indices of an array, the last of several brackets is that of the fastest dimension.
        if brackets > 1 {
            counts.reverse();
        }
        if counts.len() > 3 {
            let message = format!("`launch` takes at most three counts, not {}", counts.len());
            self.mention(Diagnostic::new(Code::BadLaunch, self.since(start), message));
            counts.truncate(3);
        }
        let call = self.launched_call()?;
        let counts = self.alloc_slice(&counts);
        self.node(ExprKind::Launch { counts, call }, self.since(start), height.max(self.height))
    }

    fn launched_call(&mut self) -> Parsed<&'a Call<'a>> {
        let opening = self.span();
        let old_form = self.eat(TokenKind::Lt);
        if !matches!(self.kind(), TokenKind::Word | TokenKind::LParen) {
            let message = format!("expected a task function after `launch`, found {}", self.describe());
            let help = "write `launch f(…)` or `launch[n] f(…)`";
            return self.report(Diagnostic::new(Code::BadLaunch, self.span(), message).help(help));
        }
        let callee = self.postfix(false)?;
        let height = self.height;
        if self.kind() != TokenKind::LParen {
            let message = format!("expected the arguments of the launched function, found {}", self.describe());
            return self.fail(Code::BadLaunch, self.span(), message);
        }
        let call = self.call_of(callee)?;
        self.height = self.height.max(height);
        if old_form {
            let message = "`launch<…>` is an old form";
            self.mention(Diagnostic::new(Code::Deprecated, opening, message).help("write `launch f(…)`"));
            self.expect_angle_close(opening)?;
        }
        Ok(call)
    }

    // Literals

    fn number_literal(&mut self) -> Parsed<&'a Expr<'a>> {
        let token = self.bump();
        let kind = self.literal_value(&token);
        self.leaf(kind, token.span)
    }

    /// The value of a number or character; a malformed one is reported and is `Error`.
    fn literal_value(&mut self, token: &Token) -> ExprKind<'a> {
        let text = self.texts.literal(token);
        if token.kind == TokenKind::Char {
            return match literal::character(text) {
                Ok(value) => ExprKind::Int { value: value as u64, ty: IntLiteral::Int8 },
                Err(message) => self.bad_literal(Code::BadEscape, token.span, message),
            };
        }
        match literal::number(text) {
            Ok(literal::Number::Int { value, ty, truncated }) => {
                if truncated {
                    let message = format!("`{text}` does not fit into the 32 bits that its suffix demands");
                    let help = "write `ll` for 64 bits";
                    self.mention(Diagnostic::new(Code::LiteralTruncated, token.span, message).help(help));
                }
                ExprKind::Int { value, ty }
            }
            Ok(literal::Number::Float { value, ty, without_point, written }) => {
                if without_point {
                    let message = format!("the `float` literal `{text}` has no point");
                    let help = format!("write `{}.f`", text.trim_end_matches(['f', 'F']));
                    self.mention(Diagnostic::new(Code::FloatWithoutPoint, token.span, message).help(help));
                }
                let loses = written.is_some_and(|written| literal::loses_digits(text, value, written));
                if loses && !token.has(FROM_MACRO) {
                    let message = format!("`{text}` is a `float`, which keeps fewer digits: {}", value as f32);
                    let warning = Diagnostic::new(Code::DigitsLost, token.span, message);
                    let help = format!("write `{text}d` for a `double`; if the `float` is meant, `{text}f`");
                    self.mention(warning.help(help));
                }
                ExprKind::Float { value, ty, rounded: written.is_some() }
            }
            Err(message) => self.bad_literal(Code::BadNumber, token.span, message),
        }
    }

    fn bad_literal(&mut self, code: Code, span: Span, message: String) -> ExprKind<'a> {
        // It is read: nothing is missed behind it.
        self.diagnostics.emit(Diagnostic::new(code, span, message));
        ExprKind::Error
    }

    /// Reads an integer literal.
    pub(super) fn int_constant(&mut self) -> Parsed<u64> {
        let token = self.bump();
        match self.literal_value(&token) {
            ExprKind::Int { value, .. } => Ok(value),
            ExprKind::Error => Err(Reported),
            _ => self.fail(Code::BadNumber, token.span, "expected an integer"),
        }
    }

    /// Reads string literals, one after another, as one string.
    pub(super) fn string_constant(&mut self) -> Parsed<&'a str> {
        let mut joined = String::new();
        let first = self.token();
        while self.kind() == TokenKind::String {
            let token = self.bump();
            match literal::string(self.texts.literal(&token)) {
                Ok(text) => joined.push_str(&text),
                Err(message) => self.mention(Diagnostic::new(Code::BadEscape, token.span, message)),
            }
        }
        if first.kind != TokenKind::String {
            let message = format!("expected a string, found {}", self.describe());
            return self.fail(Code::UnexpectedToken, first.span, message);
        }
        Ok(self.arena.alloc_str(&joined))
    }
}

/// The operator of an assignment: `None` for no assignment, `Some(None)` for `=`.
fn assignment_op(kind: TokenKind) -> Option<Option<BinaryOp>> {
    Some(match kind {
        TokenKind::Eq => None,
        TokenKind::StarEq => Some(BinaryOp::Mul),
        TokenKind::SlashEq => Some(BinaryOp::Div),
        TokenKind::PercentEq => Some(BinaryOp::Rem),
        TokenKind::PlusEq => Some(BinaryOp::Add),
        TokenKind::MinusEq => Some(BinaryOp::Sub),
        TokenKind::ShlEq => Some(BinaryOp::Shl),
        TokenKind::ShrEq => Some(BinaryOp::Shr),
        TokenKind::AmpEq => Some(BinaryOp::BitAnd),
        TokenKind::CaretEq => Some(BinaryOp::BitXor),
        TokenKind::PipeEq => Some(BinaryOp::BitOr),
        _ => return None,
    })
}

/// A binary operator and how strongly it binds.
fn binary_op(kind: TokenKind) -> Option<(BinaryOp, u8)> {
    use BinaryOp::*;
    Some(match kind {
        TokenKind::PipePipe => (Or, WEAKEST),
        TokenKind::AmpAmp => (And, 2),
        TokenKind::Pipe => (BitOr, 3),
        TokenKind::Caret => (BitXor, 4),
        TokenKind::Amp => (BitAnd, 5),
        TokenKind::EqEq => (Eq, 6),
        TokenKind::Ne => (Ne, 6),
        TokenKind::Lt => (Lt, 7),
        TokenKind::Gt => (Gt, 7),
        TokenKind::Le => (Le, 7),
        TokenKind::Ge => (Ge, 7),
        TokenKind::Shl => (Shl, 8),
        TokenKind::Shr => (Shr, 8),
        TokenKind::Plus => (Add, WITHIN_ANGLES),
        TokenKind::Minus => (Sub, WITHIN_ANGLES),
        TokenKind::Star => (Mul, 10),
        TokenKind::Slash => (Div, 10),
        TokenKind::Percent => (Rem, 10),
        _ => return None,
    })
}
