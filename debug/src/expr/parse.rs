//! Texts to trees.

use super::{BINARY, Binary, Expr, Unary};

/// How deep expressions may be nested.
const MAX_DEPTH: u32 = 64;

/// The tree of a text, or what is wrong with it.
pub fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser { rest: text.trim(), depth: 0 };
    if parser.rest.is_empty() {
        return Err("an expression is missing".into());
    }
    let expr = parser.binary(0)?;
    match parser.rest {
        "" => Ok(expr),
        rest => Err(format!("`{rest}` makes no sense here, behind an expression")),
    }
}

struct Parser<'t> {
    /// Begins with no blank.
    rest: &'t str,
    depth: u32,
}

impl<'t> Parser<'t> {
    fn accept(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.accept(token) { Ok(()) } else { Err(format!("`{token}` is missing before {}", self.here())) }
    }

    fn here(&self) -> String {
        if self.rest.is_empty() { "the end".into() } else { format!("`{}`", self.rest) }
    }

    /// As long as characters are of a kind.
    fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        taken
    }

    fn operator(&self) -> Option<(&'static str, u8, Binary)> {
        BINARY.iter().find(|(text, ..)| self.rest.starts_with(text)).copied()
    }

    fn binary(&mut self, least: u8) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("the expression is nested too deeply".into());
        }
        let mut left = self.unary()?;
        while let Some((text, precedence, op)) = self.operator().filter(|&(_, precedence, _)| precedence > least) {
            self.accept(text);
            let right = self.binary(precedence)?;
            left = Expr::Binary(op, Box::new(left), Box::new(right));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        let mut operators = Vec::new();
        while let Some(c) = self.rest.chars().next().filter(|c| "-!~*+".contains(*c)) {
            self.accept(&c.to_string());
            operators.push(c);
            if operators.len() > MAX_DEPTH as usize {
                return Err("the expression is nested too deeply".into());
            }
        }
        let mut expr = self.postfix()?;
        for operator in operators.into_iter().rev() {
            let of = Box::new(expr);
            expr = match operator {
                '-' => Expr::Unary(Unary::Neg, of),
                '!' => Expr::Unary(Unary::Not, of),
                '~' => Expr::Unary(Unary::Complement, of),
                '*' => Expr::Deref(of),
                _ => *of,
            };
        }
        Ok(expr)
    }

    fn postfix(&mut self) -> Result<Expr, String> {
        let mut expr = self.primary()?;
        loop {
            if self.accept("[") {
                let index = self.binary(0)?;
                self.expect("]")?;
                expr = Expr::Index(Box::new(expr), Box::new(index));
            } else if self.accept("->") || self.accept(".") {
                let name = self.take(is_word);
                if name.is_empty() {
                    return Err(format!("the name of a member is missing before {}", self.here()));
                }
                expr = Expr::Field(Box::new(expr), name.to_owned());
            } else {
                return Ok(expr);
            }
        }
    }

    fn primary(&mut self) -> Result<Expr, String> {
        if self.accept("(") {
            let expr = self.binary(0)?;
            self.expect(")")?;
            return Ok(expr);
        }
        match self.rest.chars().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if is_word(c) => Ok(match self.take(is_word) {
                "true" => Expr::Bool(true),
                "false" => Expr::Bool(false),
                name => Expr::Name(name.to_owned()),
            }),
            _ => Err(format!("a value is missing before {}", self.here())),
        }
    }

    fn number(&mut self) -> Result<Expr, String> {
        let text = self.rest;
        let mut end = 0;
        // The sign of an exponent belongs to it.
        for (at, c) in text.char_indices() {
            let is_sign = matches!(c, '+' | '-') && text[..at].ends_with(['e', 'E']) && !text.starts_with("0x");
            if !(c.is_ascii_alphanumeric() || c == '.' || is_sign) {
                break;
            }
            end = at + 1;
        }
        let (number, rest) = text.split_at(end);
        self.rest = rest.trim_start();
        let wrong = || format!("`{number}` is no number");
        if let Some(hex) = number.strip_prefix("0x").or_else(|| number.strip_prefix("0X")) {
            return u64::from_str_radix(hex, 16).map(Expr::Int).map_err(|_| wrong());
        }
        if number.contains(['.', 'e', 'E']) || number.ends_with(['f', 'F']) {
            let digits = number.trim_end_matches(['f', 'F', 'd', 'D']);
            return digits.parse().map(Expr::Float).map_err(|_| wrong());
        }
        number.trim_end_matches(['u', 'U', 'l', 'L']).parse().map(Expr::Int).map_err(|_| wrong())
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use spmdvm::vm::Op;

    fn name(text: &str) -> Box<Expr> {
        Box::new(Expr::Name(text.into()))
    }

    #[test]
    fn operators_bind_as_in_the_language() {
        let number = |op, a, b| Expr::Binary(Binary::Number(op), a, b);
        let product = number(Op::Mul, name("b"), name("c"));
        assert_eq!(parse("a + b*c"), Ok(number(Op::Add, name("a"), Box::new(product))));
        let difference = number(Op::Sub, name("a"), name("b"));
        assert_eq!(parse("a-b - c"), Ok(number(Op::Sub, Box::new(difference), name("c"))));
        let index = Expr::Index(name("a"), Box::new(Expr::Int(16)));
        assert_eq!(parse("-a[0x10]"), Ok(Expr::Unary(Unary::Neg, Box::new(index))));
        assert_eq!(parse("1e-3f"), Ok(Expr::Float(1e-3)));
        let compare = Expr::Binary(Binary::Compare(Op::Ge), name("a"), Box::new(Expr::Int(1)));
        assert_eq!(parse("a>=1 && b"), Ok(Expr::Binary(Binary::AndAlso, Box::new(compare), name("b"))));
    }

    #[test]
    fn mistakes_are_told() {
        let told = ["", "a +", "a b", "(a", "a[1", "12x", "a.", &"(".repeat(999), &"-".repeat(999)];
        let expected = [
            "an expression is missing",
            "a value is missing before the end",
            "`b` makes no sense here, behind an expression",
            "`)` is missing before the end",
            "`]` is missing before the end",
            "`12x` is no number",
            "the name of a member is missing before the end",
            "the expression is nested too deeply",
            "the expression is nested too deeply",
        ];
        for (text, expected) in told.into_iter().zip(expected) {
            assert_eq!(parse(text), Err(expected.into()), "{text}");
        }
    }
}
