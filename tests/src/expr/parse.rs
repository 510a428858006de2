//! Text to expressions: tokens, then precedence climbing.

use super::{Binary, Expr, Unary, Value};

/// The names that bind a variable: `sum(k, lo, hi, e)`.
const FOLDS: [&str; 7] = ["sum", "product", "count", "anyof", "allof", "minof", "maxof"];

/// Operators by how tightly they bind; longer ones first where one begins with another.
const OPERATORS: [(&str, Binary, u8); 18] = [
    ("||", Binary::Or, 1),
    ("&&", Binary::And, 2),
    ("<<", Binary::Shl, 8),
    (">>", Binary::Shr, 8),
    ("==", Binary::Eq, 6),
    ("!=", Binary::Ne, 6),
    ("<=", Binary::Le, 7),
    (">=", Binary::Ge, 7),
    ("|", Binary::BitOr, 3),
    ("^", Binary::BitXor, 4),
    ("&", Binary::BitAnd, 5),
    ("<", Binary::Lt, 7),
    (">", Binary::Gt, 7),
    ("+", Binary::Add, 9),
    ("-", Binary::Sub, 9),
    ("*", Binary::Mul, 10),
    ("/", Binary::Div, 10),
    ("%", Binary::Rem, 10),
];

/// Parses the whole of a text as one expression.
pub fn parse(text: &str) -> Result<Expr, String> {
    let mut parser = Parser::new(text);
    let expr = parser.expr()?;
    match parser.rest() {
        "" => Ok(expr),
        rest => Err(format!("cannot read `{rest}` in `{text}`")),
    }
}

/// A position in a text; the case-file reader uses it too, for what surrounds expressions.
pub struct Parser<'a> {
    text: &'a str,
}

impl<'a> Parser<'a> {
    /// Begins to read a text.
    pub fn new(text: &'a str) -> Parser<'a> {
        Parser { text: text.trim() }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a str {
        self.text
    }

    fn advance(&mut self, bytes: usize) {
        self.text = self.text[bytes..].trim_start();
    }

    /// Takes `token` if it comes next.
    pub fn take(&mut self, token: &str) -> bool {
        let found = self.text.starts_with(token);
        if found {
            self.advance(token.len());
        }
        found
    }

    /// Takes `token`, which must come next.
    pub fn expect(&mut self, token: &str) -> Result<(), String> {
        if self.take(token) { Ok(()) } else { Err(format!("expected `{token}` before `{}`", self.text)) }
    }

    /// Takes a name if one comes next.
    pub fn name(&mut self) -> Option<&'a str> {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        if !self.text.starts_with(|c: char| is_name(c) && !c.is_ascii_digit()) {
            return None;
        }
        let end = self.text.find(|c| !is_name(c)).unwrap_or(self.text.len());
        let name = &self.text[..end];
        self.advance(end);
        Some(name)
    }

    /// Reads an expression of any kind.
    pub fn expr(&mut self) -> Result<Expr, String> {
        let cond = self.binary(0)?;
        if !self.take("?") {
            return Ok(cond);
        }
        let yes = self.expr()?;
        self.expect(":")?;
        let no = self.expr()?;
        Ok(Expr::Choose(Box::new(cond), Box::new(yes), Box::new(no)))
    }

    fn binary(&mut self, level: u8) -> Result<Expr, String> {
        let mut left = self.unary()?;
        while let Some((token, op, binds)) = OPERATORS.iter().find(|(t, ..)| self.text.starts_with(t)) {
            if *binds < level {
                break;
            }
            self.advance(token.len());
            let right = self.binary(binds + 1)?;
            left = Expr::Binary(*op, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        for (token, op) in [("-", Unary::Neg), ("!", Unary::Not), ("~", Unary::Complement)] {
            if self.take(token) {
                return Ok(Expr::Unary(op, Box::new(self.unary()?)));
            }
        }
        self.primary()
    }

    /// Reads a number, text, name, call, element or parenthesised expression.
    pub fn primary(&mut self) -> Result<Expr, String> {
        if self.take("(") {
            let inner = self.expr()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.text.starts_with('"') {
            return self.text_literal();
        }
        if self.text.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            return self.number();
        }
        let Some(name) = self.name() else {
            return Err(format!("expected a value before `{}`", self.text));
        };
        if self.take("(") {
            return self.call(name);
        }
        if self.take("[") {
            let index = self.expr()?;
            self.expect("]")?;
            return Ok(Expr::Element(name.to_owned(), Box::new(index), self.path()));
        }
        Ok(match name {
            "nan" => Expr::Literal(Value::Float(f64::NAN)),
            "inf" => Expr::Literal(Value::Float(f64::INFINITY)),
            "pi" => Expr::Literal(Value::Float(std::f64::consts::PI)),
            "true" => Expr::Literal(Value::Int(1)),
            "false" => Expr::Literal(Value::Int(0)),
            _ => Expr::Name(name.to_owned()),
        })
    }

    /// Reads `.field`, `.field[2].other`, …: the way to a scalar within an element.
    pub fn path(&mut self) -> String {
        let mut path = String::new();
        while self.text.starts_with('.') || (self.text.starts_with('[') && !path.is_empty()) {
            let end =
                self.text[1..].find(|c: char| !c.is_alphanumeric() && c != '_').map_or(self.text.len(), |e| e + 1);
            let end = if self.text.starts_with('[') { end + 1 } else { end };
            path.push_str(&self.text[..end.min(self.text.len())]);
            self.advance(end.min(self.text.len()));
        }
        path.strip_prefix('.').unwrap_or(&path).to_owned()
    }

    fn call(&mut self, name: &str) -> Result<Expr, String> {
        let mut args = Vec::new();
        while !self.take(")") {
            args.push(self.expr()?);
            if !self.take(",") {
                self.expect(")")?;
                break;
            }
        }
        if !FOLDS.contains(&name) {
            return Ok(Expr::Call(name.to_owned(), args));
        }
        match <[Expr; 4]>::try_from(args) {
            Ok([Expr::Name(var), lo, hi, body]) => Ok(Expr::Fold(name.to_owned(), var, Box::new([lo, hi, body]))),
            _ => Err(format!("`{name}` is written {name}(k, lo, hi, expression of k)")),
        }
    }

    fn text_literal(&mut self) -> Result<Expr, String> {
        let end = self.text[1..].find('"').ok_or("a text that does not end")?;
        let text = self.text[1..=end].to_owned();
        self.advance(end + 2);
        Ok(Expr::Literal(Value::Text(text)))
    }

    fn number(&mut self) -> Result<Expr, String> {
        let text = self.text;
        let bad = |digits: &str| format!("`{digits}` is no number");
        for (prefix, radix) in [("0x", 16), ("0b", 2)] {
            if let Some(digits) = text.strip_prefix(prefix) {
                let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
                self.advance(2 + end);
                let value = i128::from_str_radix(&digits[..end], radix).map_err(|_| bad(&text[..2 + end]))?;
                return Ok(Expr::Literal(Value::Int(value)));
            }
        }
        let end = number_end(text);
        self.advance(end);
        let digits = &text[..end];
        let value = if digits.contains(['.', 'e']) {
            Value::Float(digits.parse().map_err(|_| bad(digits))?)
        } else {
            Value::Int(digits.parse().map_err(|_| bad(digits))?)
        };
        Ok(Expr::Literal(value))
    }
}

/// Where the decimal number at the start of `text` ends.
fn number_end(text: &str) -> usize {
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let sign_of_exponent = (c == '-' || c == '+') && previous == 'e';
        if !(c.is_ascii_digit() || c == '.' || c == 'e' || sign_of_exponent) {
            return at;
        }
        previous = c;
    }
    text.len()
}
