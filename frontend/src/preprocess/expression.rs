//! The expressions of `#if` and `#elif`.
//!
//! Arithmetic is that of 64-bit integers, signed or unsigned as in C. Names that are no macros are 0.

use super::Preprocessor;
use crate::ast::IntLiteral;
use crate::diag::{Code, Diagnostic};
use crate::lex::{Token, TokenKind};
use crate::parse::literal;
use crate::source::Span;

/// How deep parentheses and operators may be nested.
const MAX_DEPTH: usize = 200;

/// A value: 64 bits, and whether they are unsigned.
#[derive(Clone, Copy)]
struct Value {
    bits: u64,
    unsigned: bool,
}

impl Value {
    fn truth(holds: bool) -> Value {
        Value { bits: u64::from(holds), unsigned: false }
    }

    fn is_true(self) -> bool {
        self.bits != 0
    }
}

impl Preprocessor<'_, '_> {
    /// The line of an `#if` with `defined NAME` and `defined(NAME)` replaced, which must happen before expansion.
    pub(super) fn replace_defined(&mut self, line: &[Token]) -> Vec<Token> {
        let mut result = Vec::with_capacity(line.len());
        let mut at = 0;
        while let Some(&token) = line.get(at) {
            at += 1;
            if self.texts.spelling(&token) != "defined" {
                result.push(token);
                continue;
            }
            let kind = |index: usize| line.get(index).map(|token| token.kind);
            let in_parens = kind(at) == Some(TokenKind::LParen) && kind(at + 2) == Some(TokenKind::RParen);
            let name = line.get(at + usize::from(in_parens)).and_then(Token::symbol);
            let Some(name) = name else {
                result.push(token);
                continue;
            };
            at += if in_parens { 3 } else { 1 };
            let text = if self.macros.contains(name) { "1" } else { "0" };
            result.push(self.texts.token(TokenKind::Number, text, token.span));
        }
        result
    }

    /// Whether an expanded condition holds. A malformed one is reported and does not.
    pub(super) fn evaluate(&mut self, line: &[Token], end: Span) -> bool {
        let mut evaluator = Evaluator { preprocessor: self, line, at: 0, end, depth: 0 };
        let result = evaluator.conditional(true).and_then(|value| match evaluator.line.get(evaluator.at) {
            None => Ok(value),
            Some(extra) => Err((extra.span, "an operator is missing before this".to_string())),
        });
        match result {
            Ok(value) => value.is_true(),
            Err((span, message)) => {
                self.diagnostics.emit(Diagnostic::new(Code::BadConditionalExpression, span, message));
                false
            }
        }
    }
}

/// Where and what is wrong.
type Malformed = (Span, String);

struct Evaluator<'e, 'a, 'c> {
    preprocessor: &'e mut Preprocessor<'a, 'c>,
    line: &'e [Token],
    at: usize,
    end: Span,
    depth: usize,
}

impl Evaluator<'_, '_, '_> {
    fn peek(&self) -> TokenKind {
        self.line.get(self.at).map_or(TokenKind::Eof, |token| token.kind)
    }

    fn span(&self) -> Span {
        self.line.get(self.at).map_or(self.end, |token| token.span)
    }

    fn deeper(&mut self) -> Result<(), Malformed> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err((self.span(), "the condition is nested too deeply".into()));
        }
        Ok(())
    }

    /// `live` says whether the value is used: what is not evaluated may divide by zero.
    fn conditional(&mut self, live: bool) -> Result<Value, Malformed> {
        self.deeper()?;
        let condition = self.binary(0, live)?;
        if self.peek() != TokenKind::Question {
            self.depth -= 1;
            return Ok(condition);
        }
        self.at += 1;
        let then = self.conditional(live && condition.is_true())?;
        if self.peek() != TokenKind::Colon {
            return Err((self.span(), "expected `:`".into()));
        }
        self.at += 1;
        let otherwise = self.conditional(live && !condition.is_true())?;
        self.depth -= 1;
        let unsigned = then.unsigned || otherwise.unsigned;
        let bits = if condition.is_true() { then.bits } else { otherwise.bits };
        Ok(Value { bits, unsigned })
    }

    fn binary(&mut self, minimum: u8, live: bool) -> Result<Value, Malformed> {
        self.deeper()?;
        let mut lhs = self.unary(live)?;
        loop {
            let op = self.peek();
            let Some(level) = level(op).filter(|&level| level >= minimum) else {
                break;
            };
            let op_span = self.span();
            self.at += 1;
            let rhs_live = match op {
                TokenKind::AmpAmp => live && lhs.is_true(),
                TokenKind::PipePipe => live && !lhs.is_true(),
                _ => live,
            };
            let rhs = self.binary(level + 1, rhs_live)?;
            lhs = match apply(op, lhs, rhs) {
                Some(value) => value,
                None if live => return Err((op_span, "division by zero".into())),
                None => Value::truth(false),
            };
        }
        self.depth -= 1;
        Ok(lhs)
    }

    fn unary(&mut self, live: bool) -> Result<Value, Malformed> {
        self.deeper()?;
        let op = self.peek();
        let value = match op {
            TokenKind::Minus | TokenKind::Plus | TokenKind::Tilde | TokenKind::Bang => {
                self.at += 1;
                let operand = self.unary(live)?;
                match op {
                    TokenKind::Minus => Value { bits: operand.bits.wrapping_neg(), ..operand },
                    TokenKind::Tilde => Value { bits: !operand.bits, ..operand },
                    TokenKind::Bang => Value::truth(!operand.is_true()),
                    _ => operand,
                }
            }
            _ => self.primary(live)?,
        };
        self.depth -= 1;
        Ok(value)
    }

    fn primary(&mut self, live: bool) -> Result<Value, Malformed> {
        let Some(&token) = self.line.get(self.at) else {
            return Err((self.end, "a value is missing here".into()));
        };
        self.at += 1;
        let text = self.preprocessor.texts.spelling(&token);
        match token.kind {
            TokenKind::LParen => {
                let value = self.conditional(live)?;
                if self.peek() != TokenKind::RParen {
                    return Err((self.span(), "expected `)`".into()));
                }
                self.at += 1;
                Ok(value)
            }
            TokenKind::Number => match literal::number(text) {
                Ok(literal::Number::Int { value, ty, .. }) => {
                    let unsigned = ty == IntLiteral::UInt64 || text.contains(['u', 'U']);
                    Ok(Value { bits: value, unsigned })
                }
                Ok(literal::Number::Float { .. }) => Err((token.span, "a condition may hold only integers".into())),
                Err(message) => Err((token.span, message)),
            },
            TokenKind::Char => match literal::character(text) {
                Ok(value) => Ok(Value { bits: value as u64, unsigned: false }),
                Err(message) => Err((token.span, message)),
            },
            TokenKind::True => Ok(Value::truth(true)),
            kind if kind.is_word() => Ok(Value::truth(false)),
            _ => Err((token.span, format!("`{text}` cannot stand here"))),
        }
    }
}

/// How strongly an operator binds.
fn level(op: TokenKind) -> Option<u8> {
    use TokenKind::*;
    Some(match op {
        PipePipe => 1,
        AmpAmp => 2,
        Pipe => 3,
        Caret => 4,
        Amp => 5,
        EqEq | Ne => 6,
        Lt | Gt | Le | Ge => 7,
        Shl | Shr => 8,
        Plus | Minus => 9,
        Star | Slash | Percent => 10,
        _ => return None,
    })
}

/// The value of an operation; `None` for a division by zero.
fn apply(op: TokenKind, lhs: Value, rhs: Value) -> Option<Value> {
    use TokenKind::*;
    let unsigned = lhs.unsigned || rhs.unsigned;
    let (a, b) = (lhs.bits, rhs.bits);
    let (signed_a, signed_b) = (a as i64, b as i64);
    let less = if unsigned { a < b } else { signed_a < signed_b };
    let bits = match op {
        PipePipe => return Some(Value::truth(lhs.is_true() || rhs.is_true())),
        AmpAmp => return Some(Value::truth(lhs.is_true() && rhs.is_true())),
        EqEq => return Some(Value::truth(a == b)),
        Ne => return Some(Value::truth(a != b)),
        Lt => return Some(Value::truth(less)),
        Ge => return Some(Value::truth(!less)),
        Gt => return Some(Value::truth(!less && a != b)),
        Le => return Some(Value::truth(less || a == b)),
        Slash | Percent if b == 0 => return None,
        Slash if unsigned => a / b,
        Slash => signed_a.wrapping_div(signed_b) as u64,
        Percent if unsigned => a % b,
        Percent => signed_a.wrapping_rem(signed_b) as u64,
        Pipe => a | b,
        Caret => a ^ b,
        Amp => a & b,
        Plus => a.wrapping_add(b),
        Minus => a.wrapping_sub(b),
        Star => a.wrapping_mul(b),
        Shl => {
            return Some(Value { bits: a.wrapping_shl(b as u32), ..lhs });
        }
        Shr if lhs.unsigned => {
            return Some(Value { bits: a.wrapping_shr(b as u32), ..lhs });
        }
        Shr => {
            return Some(Value { bits: signed_a.wrapping_shr(b as u32) as u64, ..lhs });
        }
        _ => return None,
    };
    Some(Value { bits, unsigned })
}
